"""What each machine instruction waits for, and whether the scoreboards cover every result of variable latency.

An instruction of variable latency (a load, a special function, a shuffle) leaves two things pending: its result, and
the registers that it reads late. Nobody may use or overwrite the result, and nobody may overwrite the sources, before
an instruction on the same path waits for the scoreboard that releases them (:mod:`softlab.cuda.control_codes`). The
check walks from each such instruction along every path. A register that is touched before a wait is a finding. A wait
ends the walk if it names

- the write barrier of the instruction, or for sources its read barrier;
- such a barrier of a later instruction of the same queue. A queue works in order, so the assembler often gives only the
  last of several loads a scoreboard.

Three more rules hold. An instruction may overwrite the sources of an earlier one of the same queue, because its result
comes later. Uniform registers and predicates are read when the instruction is issued. On sm_75 a block barrier ends the
reading of shared accesses in front of it. The evidence for the queues and for these rules is the assembler's own
output: without any one of them the shipped kernels have findings, with them none has, on seven architectures.

The check does not see everything, and ``Coverage.not_followed`` says what it left out: calls of functions outside the
section, opcodes whose registers are not known (matrix instructions, textures), and ``DEPBAR`` with a count above 0,
which is taken as no wait. A return leads behind every call of the same code, and a jump through a table to every block,
so more paths are walked than exist. A walk follows one side of a divergent branch. The other side has other lanes, and
so other registers, but shares the uniform registers, which are checked along the walked side alone. Fixed latencies,
which the stall counts cover, are not checked: NVIDIA publishes none.

Sources: arXiv 1804.06826, section 2.1; arXiv 2503.20481, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from softlab.cuda.control_codes import SCOREBOARDS, ControlCode
from softlab.cuda.machine_instructions import MachineFunction, MachineInstruction
from softlab.cuda.registers import Registers, opcodes, registers
from softlab.instruments.machine_paths import MachinePaths

_FP64 = ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX")
#: FP64 has a fixed latency on these alone: the assembler sets scoreboards for it on all others.
_FIXED_FP64 = ("sm_90", "sm_100")
#: Opcodes of variable latency. An instruction that sets a barrier has variable latency, too, whatever its opcode.
VARIABLE = frozenset(
    opcodes(
        "LDG LDS LDL LD LDSM LDC LDCU ATOM ATOMG ATOMS MUFU SHFL S2R S2UR B2R MATCH REDUX CREDUX F2F F2I I2F FRND POPC "
        "FLO BREV SYNCS FCHK QSPC STG STS STL ST STAS STSM RED REDG LDGSTS"
    )
)
#: The special function unit: one queue for results and for sources.
_SPECIAL = dict.fromkeys(opcodes("MUFU F2F F2I I2F FRND POPC FLO BREV"), "special")
#: Opcode -> queue. Results of one queue are written in the order of issue.
_RESULT_QUEUES = {
    **{opcode: opcode for opcode in ("SHFL", "S2UR")},
    **dict.fromkeys(("LDS", "LDSM", "ATOMS"), "shared"),
    **_SPECIAL,
    **dict.fromkeys(_FP64, "FP64"),
}
#: Opcode -> queue. Sources of one queue are read in the order of issue: that of memory is one for all spaces.
_SOURCE_QUEUES = {
    **dict.fromkeys(
        opcodes("LDG LDS LDL LD STG STS STL ST STAS SHFL SYNCS ATOM ATOMG ATOMS RED REDG LDGSTS"), "memory"
    ),
    **_SPECIAL,
    **dict.fromkeys(_FP64, "FP64"),
}


@dataclass(frozen=True, slots=True)
class Uncovered:
    """A register that is touched before a scoreboard says that it may be.

    ``producer`` has its result pending (``kind`` "result") or still reads its sources (``kind`` "source");
    ``instruction`` touches ``registers`` of these; ``scoreboard``: the one that it ought to wait for, None if the
    producer sets none.
    """

    kind: str
    producer: MachineInstruction
    instruction: MachineInstruction
    registers: tuple[str, ...]
    scoreboard: int | None

    @property
    def line(self) -> int:
        """The source line of the instruction, as its outermost caller has it; 0 if it is not known."""
        return self.instruction.frames[-1][1] if self.instruction.frames else 0

    def __str__(self) -> str:
        done = "uses" if self.kind == "result" else "overwrites"
        missing = (
            "sets no scoreboard"
            if self.scoreboard is None
            else f"sets scoreboard {self.scoreboard}, for which no instruction between them waits"
        )
        return (
            f"line {self.line}: {self.instruction.text} at {self.instruction.address:#x} {done} "
            f"{', '.join(self.registers)} too early: {self.producer.text} at {self.producer.address:#x} {missing}"
        )


@dataclass(frozen=True, slots=True)
class Wait:
    """One scoreboard that an instruction waits for, and the ``setters``: the instructions that may have set it last."""

    scoreboard: int
    setters: tuple[MachineInstruction, ...]


@dataclass(frozen=True)
class Coverage:
    """What the check of one function found.

    ``findings``: registers that are touched too early, by address; ``waits``: address -> the waits of that instruction;
    ``checked``: how many pending results and sources were walked; ``not_followed``: sentences about what was left out;
    ``known``: False where the control codes are not known, and then nothing was checked.
    """

    findings: tuple[Uncovered, ...]
    waits: Mapping[int, tuple[Wait, ...]]
    checked: int
    not_followed: tuple[str, ...]
    known: bool = True


@dataclass(frozen=True, slots=True)
class _Pending:
    """What instruction ``index`` leaves pending: the registers, and as a mask the scoreboards that release them."""

    index: int
    kind: str
    touch: frozenset[str]
    barriers: int
    scoreboard: int | None


def coverage(function: MachineFunction, arch: str, controls: Sequence[ControlCode | None] | None = None) -> Coverage:
    """Check the scoreboards of one function.

    Arguments:
        function: as :func:`softlab.cuda.disassembly.disassemble` gives it.
        arch: its architecture, "sm_90".
        controls: control codes instead of the instructions' own, in their order, for a question such as "is this wait
            needed?": it is redundant if the check finds nothing without it.
    """
    codes = [i.control for i in function.instructions] if controls is None else list(controls)
    known = [code for code in codes if code is not None]
    if len(known) < len(codes) or len(codes) != len(function.instructions):
        return Coverage((), {}, 0, (f"the control codes of {arch} are not known",), known=False)
    return _Check(function, arch, known).run()


def waits(function: MachineFunction, arch: str) -> Mapping[int, tuple[Wait, ...]]:
    """``Coverage.waits`` alone, which is quicker to find; empty where the control codes are not known."""
    codes = [i.control for i in function.instructions if i.control is not None]
    return {} if len(codes) < len(function.instructions) else _Check(function, arch, codes).all_waits()


class _Check:
    """The walks over one function, by positions of its instructions."""

    def __init__(self, function: MachineFunction, arch: str, codes: Sequence[ControlCode]) -> None:
        self.instructions = function.instructions
        self.arch = arch.rstrip("af")
        self.codes = codes
        self.paths = MachinePaths(function.instructions)
        self.registers = [registers(i) for i in self.instructions]
        self.waits = [code.wait_mask | _depbar(i) for i, code in zip(self.instructions, codes, strict=True)]

    def run(self) -> Coverage:
        pending = list(self._pending())
        found = {(one.index, f.instruction.address, one.kind): f for one in pending for f in self._walk(one)}
        findings = sorted(found.values(), key=lambda f: (f.instruction.address, f.producer.address))
        return Coverage(tuple(findings), self.all_waits(), len(pending), tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        yield from self.paths.not_followed
        unknown = {i.opcode for i, used in zip(self.instructions, self.registers, strict=True) if used is None}
        yield from (f"the registers of {opcode} are not known" for opcode in sorted(unknown))
        if any(i.opcode == "DEPBAR" and not _depbar(i) for i in self.instructions):
            yield "DEPBAR with a count above 0 is taken as no wait"

    def _pending(self) -> Iterator[_Pending]:
        for index, (instruction, code) in enumerate(zip(self.instructions, self.codes, strict=True)):
            used = self.registers[index]
            if used is None or not self._variable(instruction, code):
                continue
            result = _bit(code.write_barrier)
            if used.writes:
                yield _Pending(index, "result", used.writes, result, code.write_barrier)
            sources = frozenset(name for name in used.reads if name.startswith("R"))
            if sources:
                scoreboard = code.write_barrier if code.read_barrier is None else code.read_barrier
                yield _Pending(index, "source", sources, result | _bit(code.read_barrier), scoreboard)

    def _variable(self, instruction: MachineInstruction, code: ControlCode) -> bool:
        if code.write_barrier is not None or code.read_barrier is not None or instruction.opcode in VARIABLE:
            return True
        return instruction.opcode in _FP64 and self.arch not in _FIXED_FP64

    def _walk(self, one: _Pending) -> Iterator[Uncovered]:
        """From behind the producer along every path, until a wait; a path ends at a register that it touches."""
        queues = _RESULT_QUEUES if one.kind == "result" else _SOURCE_QUEUES
        queue = queues.get(self.instructions[one.index].opcode, "")
        waiting = [(follower, one.barriers) for follower in self.paths.follow[one.index]]
        seen: dict[int, int] = {}
        while waiting:
            index, barriers = waiting.pop()
            # Where paths meet, only the barriers that release it on all of them count.
            if index in seen and seen[index] & barriers == seen[index]:
                continue
            barriers &= seen.get(index, barriers)
            seen[index] = barriers
            instruction, used = self.instructions[index], self.registers[index]
            if self.waits[index] & barriers or self._drained(one, instruction):
                continue
            same = queues.get(instruction.opcode) == queue
            if used is not None and (touched := _touched(one, used)):
                if one.kind == "result" or not same:
                    yield Uncovered(one.kind, self.instructions[one.index], instruction, touched, one.scoreboard)
                continue
            if same:
                code = self.codes[index]
                barriers |= _bit(code.write_barrier) | (_bit(code.read_barrier) if one.kind == "source" else 0)
            waiting += [(follower, barriers) for follower in self.paths.follow[index]]

    def _drained(self, one: _Pending, instruction: MachineInstruction) -> bool:
        shared = self.instructions[one.index].opcode in ("LDS", "STS", "ATOMS")
        return self.arch == "sm_75" and instruction.opcode == "BAR" and one.kind == "source" and shared

    def all_waits(self) -> dict[int, tuple[Wait, ...]]:
        """Address -> the waits of that instruction, with who may have set each scoreboard."""
        setters: dict[tuple[int, int], list[MachineInstruction]] = {}
        for index, code in enumerate(self.codes):
            for barrier in dict.fromkeys((code.write_barrier, code.read_barrier)):
                if barrier is not None:
                    for waiter in self._waiters(index, barrier):
                        setters.setdefault((waiter, barrier), []).append(self.instructions[index])
        return {
            self.instructions[index].address: tuple(
                Wait(number, tuple(setters.get((index, number), ())))
                for number in range(SCOREBOARDS)
                if mask >> number & 1
            )
            for index, mask in enumerate(self.waits)
            if mask
        }

    def _waiters(self, setter: int, barrier: int) -> Iterator[int]:
        """The first instruction on each path behind a setter that waits for its scoreboard."""
        waiting = list(self.paths.follow[setter])
        seen: set[int] = set()
        while waiting:
            index = waiting.pop()
            if index in seen:
                continue
            seen.add(index)
            if self.waits[index] >> barrier & 1:
                yield index
            else:
                waiting += self.paths.follow[index]


def _touched(one: _Pending, used: Registers) -> tuple[str, ...]:
    touched = one.touch & (used.writes | used.reads if one.kind == "result" else used.writes)
    return tuple(sorted(touched))


def _depbar(instruction: MachineInstruction) -> int:
    """``DEPBAR.LE SB0, 0x0`` waits until scoreboard 0 is zero, as a wait mask does."""
    if instruction.opcode != "DEPBAR" or len(instruction.operands) < 2 or int(instruction.operands[1], 0):
        return 0
    return 1 << int(instruction.operands[0].removeprefix("SB"))


def _bit(barrier: int | None) -> int:
    return 0 if barrier is None else 1 << barrier
