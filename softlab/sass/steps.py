"""The steps of a code's pure opcodes, which are made once for all launches."""

from __future__ import annotations

from collections.abc import Sequence

from softlab.sass import registry
from softlab.sass.decode import Instruction
from softlab.sass.form import Form, Slots
from softlab.sass.segments import PureStep, Segment
from softlab.sass.widths import constant_load

#: Opcodes whose steps are traced, where their operands and modifiers allow it.
TRACED = frozenset((
    "IADD3", "UIADD3", "VIADD", "UVIADD", "IMAD", "UIMAD", "LEA", "ULEA", "IABS", "UIABS", "IDP", "ISETP", "UISETP",
    "IMNMX", "VIMNMX", "UIMNMX", "UVIMNMX", "VIADDMNMX", "VIMNMX3", "MOV", "UMOV", "SEL", "USEL", "FSEL", "P2R",
    "R2P", "SHF", "USHF", "LOP3", "ULOP3", "PLOP3", "UPLOP3", "PRMT", "UPRMT", "BREV", "UBREV", "POPC", "UPOPC",
    "SGXT", "USGXT", "BMSK", "UBMSK", "FADD", "FMUL", "FFMA", "FMNMX", "FSETP", "MUFU", "FCHK", "ULDC", "NOP",
    "I2F", "I2FP", "F2I", "F2F", "FSET", "FLO", "UFLO", "DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "MEMBAR",
    "ERRBAR", "CCTL", "HADD2", "HMUL2", "HFMA2", "HMNMX2", "VHMNMX", "HSETP2", "HSET2", "F2FP", "FRND", "YIELD",
    "NANOSLEEP", "DEPBAR", "LDGDEPBAR", "FENCE",
))  # fmt: skip


class Steps:
    """What of a code is the same for all its launches. ``slots``: where its constants stand."""

    def __init__(self) -> None:
        self.slots = Slots()
        self._pure: dict[tuple[int, str], PureStep] = {}
        self._segments: dict[tuple[int, int, str], Segment] = {}
        self._untraced: set[int] = set()

    def pure(self, opcode: registry.Opcode, instruction: Instruction, choice: str) -> PureStep:
        """The step of an instruction whose opcode is pure.

        Arguments:
            choice: which code is compiled ("none", "hot" or "all"): some steps are others then.

        Raises:
            NotImplementedError: a form that is not known.
        """
        key = (instruction.index, choice)
        if key not in self._pure:
            form = Form(instruction, self.slots)
            action, guard = opcode.function(form), form.guard
            reads, writes = frozenset(form.reads), frozenset(form.writes)
            code = instruction.machine.encoding
            self._pure[key] = PureStep(
                instruction.index, action, guard, reads, writes, tuple(form.constants), f"{code:x}" if code else ""
            )
        return self._pure[key]

    def constant_load(self, instruction: Instruction) -> PureStep:
        """The step of an LDC whose address is in the code.

        Raises:
            NotImplementedError: a form that is not known.
        """
        form = Form(instruction, self.slots)
        action, guard = constant_load(form), form.guard
        return PureStep(
            instruction.index, action, guard, frozenset(form.reads), frozenset(form.writes), tuple(form.constants)
        )

    def segment(self, steps: Sequence[PureStep], choice: str) -> Segment:
        """Neighbouring steps that are compiled together."""
        key = (steps[0].index, steps[-1].index, choice)
        if key not in self._segments:
            self._segments[key] = Segment(steps, self.slots, self._untraced.add)
        return self._segments[key]

    @property
    def untraced(self) -> int:
        """How many instructions' steps were found not to be traced although their opcodes are."""
        return len(self._untraced)

    def traced(self, instruction: Instruction) -> bool:
        """Whether an instruction's step may be compiled together with others."""
        return instruction.opcode in TRACED and instruction.index not in self._untraced
