"""The machine code as the simulated SM takes it: one row of plain numbers per instruction.

What an instruction waits for stands in its control code. What it takes follows from its pipe. The pipes of an SM
sub-partition and the opcodes that go there are those of Nsight Compute's documentation ("Pipelines") and of NVIDIA's
CUDA C++ Programming Guide ("Arithmetic Instructions"). Register banks: a sub-partition has two, with one read port
each (R. Huerta et al., arXiv 2503.20481, section 5.3, and the rows ``FFMA.banks.*`` of the atlas).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np

from softlab.cuda.machine_instructions import MachineFunction, MachineInstruction
from softlab.errors import EstimateError
from softlab.sass.products import SHAPES, registers_of_operands
from softlab.timing.parameters import Parameters


class Pipe(IntEnum):
    """Where an instruction goes. Each scheduler has its own, and all share the load and store unit."""

    NONE = 0
    FMA = 1  # the heavy or the lite half, whichever is free; both, where it takes a warp more than a cycle
    FMA_HEAVY = 2
    ALU = 3
    FP64 = 4
    TENSOR = 5
    XU = 6
    UNIFORM = 7
    MIO = 8
    LG = 9
    CONSTANT = 10
    BRANCH = 11


#: Those up to this one read their registers by the ports of the register banks.
LAST_WITH_BANKS = Pipe.TENSOR


class Action(IntEnum):
    """What the SM does with an instruction besides taking its pipe."""

    FIXED = 0  # the stall counts cover its latency
    VARIABLE = 1  # its result sets a scoreboard after a known time
    MEMORY = 2
    BARRIER = 3
    EXIT = 4
    FENCE = 5
    DEPBAR = 6
    COMMIT = 7  # LDGDEPBAR: a scoreboard for the asynchronous copies so far
    MBARRIER = 8
    ARRIVE = 9  # a barrier that the warp does not wait for
    BULK = 10  # its read barrier waits until bulk stores have been read from shared memory


#: What the simulated SM knows of an instruction, see :class:`TimedProgram`.
Row = tuple[int, int, float, int, tuple[int, ...], int, int, float, float, float, float, float, int, float]


class UnknownInstruction(EstimateError):
    """The timing model has no pipe for an instruction; the message names it and its line."""


def _names(names: str) -> tuple[str, ...]:
    return tuple(names.split())


_PIPES: dict[str, Pipe] = {
    **dict.fromkeys(_names("FFMA FADD FMUL HFMA2 HADD2 HMUL2 FSWZADD"), Pipe.FMA),
    **dict.fromkeys(_names("IMAD IDP VIADD"), Pipe.FMA_HEAVY),
    **dict.fromkeys(
        _names(
            "IADD3 IADD LOP3 SHF LEA ISETP SEL PRMT VIMNMX VIMNMX3 VIADDMNMX IABS FMNMX FMNMX3 FSETP FSEL FSET "
            "HMNMX2 HSETP2 HSET2 VHMNMX PLOP3 P2R R2P MOV F2FP I2FP I2IP SGXT BMSK IMNMX LOP SHL SHR ISCADD VABSDIFF "
            "VABSDIFF4 CS2R I2I LEPC BMOV"
        ),
        Pipe.ALU,
    ),
    # DMMA takes turns with DFMA: the rows ``mixed.DMMA.8x8x4.of.N.DFMA`` are the sum of both.
    **dict.fromkeys(_names("DADD DMUL DFMA DSETP DMNMX DMMA"), Pipe.FP64),
    **dict.fromkeys(_names("MUFU POPC FLO BREV F2F F2I I2F FRND FCHK"), Pipe.XU),
    **dict.fromkeys(
        _names(
            "UIADD3 UIMAD ULEA ULOP3 USHF UMOV USEL UISETP UPLOP3 UPRMT UP2UR UFLO UPOPC UBREV USGXT UBMSK R2UR VOTEU "
            "ULOP UISCADD UIABS UVIADD UIMNMX UVIMNMX ULDC LDCU"
        ),
        Pipe.UNIFORM,
    ),
    **dict.fromkeys(_names("VOTE"), Pipe.ALU),
    **dict.fromkeys(_names("HMMA IMMA"), Pipe.TENSOR),
    **dict.fromkeys(
        _names(
            "LDS STS ATOMS LDSM STSM SHFL MOVM S2R S2UR REDUX CREDUX MATCH SYNCS ARRIVES BAR B2R STAS REDAS QSPC "
            "GETLMEMBASE UBLKCP UBLKPF UBLKRED UCGABAR_ARV UCGABAR_WAIT LDGDEPBAR UTMACMDFLUSH ELECT FENCE"
        ),
        Pipe.MIO,
    ),
    **dict.fromkeys(_names("LDG STG LDL STL LD ST ATOM ATOMG RED REDG LDGSTS CCTL CCTLL MEMBAR"), Pipe.LG),
    **dict.fromkeys(_names("LDC"), Pipe.CONSTANT),
    **dict.fromkeys(
        _names(
            "BRA BRX BRXU JMP JMX JMXU CALL RET EXIT KILL BREAK BSSY BSYNC WARPSYNC ENDCOLLECTIVE YIELD NANOSLEEP BPT"
        ),
        Pipe.BRANCH,
    ),
    **dict.fromkeys(_names("NOP DEPBAR ERRBAR CGAERRBAR PREEXIT ACQBULK"), Pipe.NONE),
}
_ACTIONS: dict[str, Action] = {
    **dict.fromkeys(
        _names("LDS STS ATOMS LDSM STSM LDG STG LDL STL LD ST ATOM ATOMG RED REDG LDGSTS STAS REDAS UBLKCP UBLKRED"),
        Action.MEMORY,
    ),
    "EXIT": Action.EXIT,
    "MEMBAR": Action.FENCE,
    "DEPBAR": Action.DEPBAR,
    "LDGDEPBAR": Action.COMMIT,
    "SYNCS": Action.MBARRIER,
    "UTMACMDFLUSH": Action.BULK,
    "UCGABAR_ARV": Action.ARRIVE,
    "UCGABAR_WAIT": Action.BARRIER,
}
#: Opcodes without a row of their own in the parameters -> the class that is like them. VIADD takes turns with LOP3,
#: SHF and PRMT as IMAD does: the rows ``mixed.VIADD+X`` of the atlas are 2 cycles per pair, and two of the integer pipe
#: would take 4.
_LIKE = {
    **dict.fromkeys(_names("FADD FMUL FSWZADD"), "FFMA"),
    **dict.fromkeys(_names("HADD2 HMUL2"), "HFMA2"),
    **dict.fromkeys(_names("DADD DMUL DSETP DMNMX"), "DFMA"),
    **dict.fromkeys(_names("FLO BREV F2I I2F FRND F2F FCHK"), "POPC"),
    "IDP": "IMAD",
    "VIADD": "IMAD",
    "S2UR": "S2R",
    "B2R": "S2R",
    "CREDUX": "REDUX",
    "ATOM": "ATOMG",
    "ATOMS": "ATOMS.ADD",
    "ATOMG": "ATOMG.ADD",
}
_DEFAULTS = {
    Pipe.NONE: 1.0, Pipe.FMA: 1.0, Pipe.FMA_HEAVY: 2.0, Pipe.ALU: 2.0, Pipe.FP64: 2.0, Pipe.XU: 8.0,
    Pipe.UNIFORM: 2.0, Pipe.MIO: 2.0, Pipe.LG: 2.0, Pipe.CONSTANT: 8.0, Pipe.BRANCH: 2.0,
}  # fmt: skip
#: Cycles on the pipe's own side for instructions of the load and store unit that pass without an access.
_UNIT = {"SHFL": 1.0, "S2R": 2.0, "S2UR": 2.0, "BAR": 1.0, "REDUX": 2.0, "MATCH": 2.0, "SYNCS": 1.0}
_SOURCE = re.compile(r"[-~|!]*\|?R(\d+)((?:\.\w+)*)\|?")
_CONSTANT_OPERAND = re.compile(r"c\[(0x[0-9a-f]+)\]\[(0x[0-9a-f]+)\]")
_COUNT = re.compile(r"0x[0-9a-f]+|\d+")
_PREDICATE = re.compile(r"!?U?P(T|\d)")
#: In place of the number of a barrier: a register has it, and the streams know what it was.
IN_REGISTER = -1
#: The number of the barrier of a cluster, behind the 16 of a block.
CLUSTER = 16
#: In place of the row of an instruction that is not known.
_NO_ROW: Row = (int(Action.FIXED), int(Pipe.NONE), 1.0, 1, (), -1, -1, 0.0, 0.0, 0.0, 0.0, 0.0, -1, 0.0)


@dataclass(frozen=True)
class TimedProgram:
    """The instructions of one function as rows, in order of address.

    A row has: the action; the pipe; cycles on the pipe; stall count; the scoreboards that it waits for; its write and
    its read barrier (-1: none); cycles from issue to result; cycles of the even and of the odd register bank, without
    and with the reuse cache (four numbers); the constant line that an operand reads (-1: none); cycles on the integer
    pipe besides those on its own. ``details`` are numbers that only some actions need: index -> (barrier, warps) for
    barriers, count for DEPBAR. ``lines`` are source lines, 0 where they are not known. ``unknown``: what the model does
    not know, index -> why. Their rows say nothing: no warp may have executed them.
    """

    instructions: tuple[MachineInstruction, ...]
    rows: tuple[Row, ...]
    details: dict[int, tuple[int, int]]
    lines: tuple[int, ...]
    unknown: dict[int, str] = field(default_factory=dict)

    @cached_property
    def constant_lines(self) -> dict[int, int]:
        """Line of constant memory that an operand reads -> its number."""
        lines = sorted({row[12] for row in self.rows if row[12] >= 0})
        return {line: number for number, line in enumerate(lines)}

    @cached_property
    def actions(self) -> frozenset[int]:
        """The actions that any of them has."""
        return frozenset(row[0] for row in self.rows)

    def check(self, executed: np.ndarray) -> None:
        """Whether the model knows what the warps executed: indices of instructions.

        Raises:
            UnknownInstruction: one that no pipe is known for, or without a control code.
        """
        if not self.unknown:
            return
        for index in np.unique(executed[np.isin(executed, list(self.unknown))]).tolist():
            text, line = self.instructions[index].text, f" (line {self.lines[index]})" if self.lines[index] else ""
            raise UnknownInstruction(
                f"the timing model does not know {text!r}{line}: {self.unknown[index]}. It has no estimate. The "
                "counters and checks of a run do not need it"
            )

    @cached_property
    def whole(self) -> array[int]:
        """What :data:`softlab.timing.issue.ROW` says of each instruction."""
        found = array("q")
        for index, row in enumerate(self.rows):
            details = self.details.get(index)
            waits, constant = sum(1 << number for number in row[4]), self.constant_lines.get(row[12], -1)
            found.extend((row[0], row[1], row[3], waits, row[5], row[6], constant))
            found.extend((*(details or (0, 0)), int(details is not None)))
        return found

    @cached_property
    def figures(self) -> array[float]:
        """What :data:`softlab.timing.issue.FIGURE` says of each instruction."""
        return array("d", [value for row in self.rows for value in (row[2], row[7], *row[8:12], row[13])])


def timed_program(function: MachineFunction, parameters: Parameters, file: str = "") -> TimedProgram:
    """The rows of a function."""
    code = function.instructions
    unknown = {index: why for index, one in enumerate(code) if (why := _why_unknown(one, parameters))}
    rows = tuple(_NO_ROW if index in unknown else _row(code, index, parameters) for index in range(len(code)))
    details = {index: found for index, one in enumerate(code) if (found := _detail(one)) is not None}
    return TimedProgram(code, rows, details, tuple(_line(one, file) for one in code), unknown)


def _line(one: MachineInstruction, file: str) -> int:
    return next((line for name, line in one.frames if name == file), one.frames[-1][1] if one.frames else 0)


def _why_unknown(one: MachineInstruction, parameters: Parameters) -> str:
    """Why the model does not know an instruction; "" where it does."""
    if one.opcode in SHAPES and not _is_measured(one, parameters):
        return "the atlas has no row of it"
    if _pipe(one) is None:
        return "no pipe is known for it"
    return "its control code is not known" if one.control is None else ""


def _row(code: tuple[MachineInstruction, ...], index: int, parameters: Parameters) -> Row:
    one = code[index]
    pipe, control = _pipe(one), one.control
    assert pipe is not None  # it is known
    assert control is not None
    even, odd, even_reuse, odd_reuse = (_port(n, parameters.bank_reads) for n in _banks(code, index, pipe))
    return (
        int(_action(one, control.write_barrier)),
        int(pipe),
        _interval(one, pipe, parameters),
        _stall(one, control.stall_cycles, parameters),
        control.waits,
        -1 if control.write_barrier is None else control.write_barrier,
        -1 if control.read_barrier is None else control.read_barrier,
        _latency(one, pipe, parameters),
        even,
        odd,
        even_reuse,
        odd_reuse,
        _constant_line(one),
        parameters.wide_integer if one.opcode == "IMAD" and "WIDE" in one.modifiers else 0.0,
    )


def _pipe(one: MachineInstruction) -> Pipe | None:
    # HFMA2.MMA runs beside HADD2: the two in turn take 2 cycles per pair (``interval.mixed.HFMA2.MMA+HADD2``).
    if one.opcode == "HFMA2" and "MMA" in one.modifiers:
        return Pipe.TENSOR
    return _PIPES.get(one.opcode)


def _is_measured(product: MachineInstruction, parameters: Parameters) -> bool:
    """Whether a row of the atlas is about a product of matrices."""
    try:
        registers_of_operands(product.opcode, product.modifiers)
    except NotImplementedError:
        return False
    return any(name in parameters.interval for name in _classes(product))


def _stall(one: MachineInstruction, cycles: int, parameters: Parameters) -> int:
    """Cycles until the warp may issue its next instruction. Behind products of 64 bits they are more than the control
    code says."""
    wide = one.opcode == "IMAD" and ("WIDE" in one.modifiers or "HI" in one.modifiers)
    return max(1, cycles + round(parameters.wide_wait) if wide else cycles)


def _action(one: MachineInstruction, write_barrier: int | None) -> Action:
    if one.opcode == "BAR":
        return Action.ARRIVE if "ARV" in one.modifiers else Action.BARRIER
    if one.opcode in _ACTIONS:
        return _ACTIONS[one.opcode]
    # Of shuffles one behind the other the last ones alone set scoreboards, and the unit takes all of them.
    asks = write_barrier is not None or _has_read_barrier(one) or _pipe(one) == Pipe.MIO
    return Action.VARIABLE if asks else Action.FIXED


def _has_read_barrier(one: MachineInstruction) -> bool:
    return one.control is not None and one.control.read_barrier is not None


def _classes(one: MachineInstruction) -> Iterator[str]:
    """The names of an instruction's class in the parameters, most exact first."""
    if one.opcode == "I2F" and one.control is not None and one.control.write_barrier is not None:
        yield "POPC"  # the row I2F is about a conversion with a fixed latency
        return
    parts = [one.opcode, *(m for m in one.modifiers if m not in ("E", "FTZ", "U32", "AND", "OR"))]
    for count in range(len(parts), 0, -1):
        yield ".".join(parts[:count])
    yield from (f"{one.opcode}.{modifier}" for modifier in one.modifiers)
    like: str | None = one.opcode
    while like := _LIKE.get(like or ""):
        yield like


def _interval(one: MachineInstruction, pipe: Pipe, parameters: Parameters) -> float:
    if pipe in (Pipe.MIO, Pipe.LG):
        measured = (parameters.interval[name] for name in _classes(one) if name in parameters.interval)
        # The rows are about one scheduler, and all four share the unit.
        return next(measured, 4 * _UNIT.get(one.opcode, 0.0)) / 4
    wide = [f"{one.opcode}.{m}" for m in ("WIDE", "HI") if m in one.modifiers]
    for name in (*wide, *_classes(one)):
        if name in parameters.interval:
            return parameters.interval[name]
    return _DEFAULTS[pipe]


def _latency(one: MachineInstruction, pipe: Pipe, parameters: Parameters) -> float:
    if pipe == Pipe.BRANCH:
        known = {"BSYNC": parameters.bsync, "CALL": parameters.call, "RET": parameters.call}
        return known.get(one.opcode, parameters.branch_taken)
    for name in _classes(one):
        if name in parameters.latency:
            return parameters.latency[name]
    return parameters.latency["MUFU"] if pipe == Pipe.XU else 20.0


def _port(reads: int, cycles: tuple[float, ...]) -> float:
    """Cycles of a bank's port for this number of reads."""
    last = len(cycles) - 1
    return cycles[reads] if reads <= last else cycles[last] + (reads - last) * (cycles[last] - cycles[last - 1])


def _sources(one: MachineInstruction) -> list[tuple[int, bool] | None]:
    """The registers of the source operands by slot, with whether they are kept for reuse."""
    found: list[tuple[int, bool] | None] = []
    for operand in one.operands[1:]:
        match = _SOURCE.fullmatch(operand)
        found.append((int(match[1]), ".reuse" in match[2]) if match else None)
    return found


def _banks(code: tuple[MachineInstruction, ...], index: int, pipe: Pipe) -> tuple[int, int, int, int]:
    one = code[index]
    if pipe == Pipe.NONE or pipe > LAST_WITH_BANKS:
        return 0, 0, 0, 0
    kept = _sources(code[index - 1]) if index else []
    plain: set[int] = set()  # a register that is read twice takes the port once
    cached: set[int] = set()
    # Registers of each source.
    counts = registers_of_operands(one.opcode, one.modifiers)[1:] if one.opcode in SHAPES else ()
    of_other = 2 if pipe == Pipe.FP64 else 1
    for slot, source in enumerate(_sources(one)):
        if source is None:
            continue
        before = kept[slot] if slot < len(kept) else None
        again = before is not None and before == (source[0], True)
        count = counts[slot] if slot < len(counts) else of_other
        for register in range(source[0], source[0] + count):
            plain.add(register)
            if not again:
                cached.add(register)
    odd, late = (sum(register % 2 for register in one) for one in (plain, cached))
    return len(plain) - odd, odd, len(cached) - late, late


def _constant_line(one: MachineInstruction) -> int:
    """The 64-byte line of constant memory that an operand reads."""
    for operand in one.operands:
        if match := _CONSTANT_OPERAND.search(operand):
            return int(match[1], 16) << 16 | int(match[2], 16) >> 6
    return -1


def _detail(one: MachineInstruction) -> tuple[int, int] | None:
    if one.opcode == "BAR":
        numbers = [int(o, 0) if _COUNT.fullmatch(o) else IN_REGISTER for o in one.operands if not _PREDICATE.match(o)]
        return (numbers[0] if numbers else 0, max(0, numbers[1] // 32) if len(numbers) > 1 else 0)
    if one.opcode.startswith("UCGABAR"):
        return (CLUSTER, 0)
    if one.opcode == "DEPBAR":
        numbers = [int(o, 0) for o in one.operands if _COUNT.fullmatch(o)]
        scoreboard = next((int(o[2:]) for o in one.operands if o.startswith("SB")), 0)
        return (scoreboard, numbers[0] if numbers else 0)
    if one.opcode == "BSYNC":  # it takes its time although the next instruction follows
        return (0, 0)
    if one.opcode == "MEMBAR":
        return (int("CTA" not in one.modifiers), 0)
    return None
