"""Which registers a machine instruction reads and writes, from the text that nvdisasm prints.

NVIDIA's *CUDA Binary Utilities* names the opcodes; what each operand is follows from the order in which nvdisasm prints
them: first the destinations, then the sources. The width of an operand follows from the modifiers (``.64``, ``.128``,
``.WIDE``), from the opcode (``DFMA``) or from the suffix of an address (``R2.64``).

Opcodes that are not in the tables below are not guessed: :func:`registers` returns None for them. Among these are
matrix instructions and textures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile

from softlab.cuda.machine_instructions import MachineInstruction


def opcodes(names: str) -> tuple[str, ...]:
    """Opcodes from one string, with spaces between them."""
    return tuple(names.split())


#: R, UR: registers of a lane and of a warp; P, UP: their predicates. RZ, URZ, PT and UPT hold no value.
_REGISTER = re.compile(r"(?<![\w.$])(UR|UP|R|P)(\d+)((?:\.\w+)*)")
_ADDRESS = re.compile(r"\[([^\[\]]*)\]")
_PREDICATE = re.compile(r"!?U?P(?:\d+|T)")
_PLAIN = re.compile(r"[-~|]*U?R(?:\d+|Z)(?:\.\w+)*\|?")

#: Opcodes without a destination register. All their operands are sources.
_NO_DESTINATION = frozenset(
    opcodes(
        "STG STS STL ST STAS STSM RED REDG REDAS LDGSTS BAR BRA BRX BRXU JMP JMX JMXU CALL RET EXIT KILL BREAK NOP "
        "BSSY BSYNC WARPSYNC ENDCOLLECTIVE YIELD NANOSLEEP DEPBAR LDGDEPBAR ARRIVES MEMBAR FENCE ERRBAR CCTL CCTLL "
        "BPT PREEXIT ACQBULK UCGABAR_ARV UCGABAR_WAIT UBLKCP UBLKRED UBLKPF UTMACMDFLUSH"
    )
)
#: Opcode -> number of its first operands that are predicates. It writes these, and nothing else.
_PREDICATE_DESTINATIONS = {
    **dict.fromkeys(opcodes("ISETP FSETP DSETP HSETP2 UISETP UFSETP PLOP3 UPLOP3"), 2),
    **dict.fromkeys(opcodes("FCHK QSPC"), 1),
}
#: Opcodes with one destination register: predicates may stand in front of it and behind it.
_ONE_DESTINATION = frozenset(
    opcodes(
        "LDG LDS LDL LD LDC LDCU ULDC LDSM ATOM ATOMG ATOMS MUFU SHFL S2R S2UR CS2R B2R MATCH REDUX CREDUX F2F F2I "
        "I2F FRND I2I POPC FLO BREV UPOPC UFLO UBREV R2UR SYNCS BMOV LEPC GETLMEMBASE DADD DMUL DFMA DMNMX FADD "
        "FMUL FFMA FMNMX FMNMX3 FSEL FSET FSWZADD FADD2 FMUL2 FFMA2 HADD2 HMUL2 HFMA2 HMNMX2 HSET2 VHMNMX F2FP "
        "I2FP I2IP IADD IADD3 IMAD IABS IDP IMNMX ISCADD LEA LOP LOP3 MOV PRMT SEL SGXT SHF SHL SHR BMSK VABSDIFF "
        "VABSDIFF4 VIADD VIADDMNMX VIMNMX VIMNMX3 P2R VOTE VOTEU UMOV UIADD3 UIMAD UISCADD ULEA ULOP ULOP3 UPRMT "
        "USEL USGXT USHF UBMSK UP2UR R2P UIABS UVIADD UIMNMX UVIMNMX UF2FP UFADD UFMUL UFFMA"
    )
)
_GLOBAL = frozenset(opcodes("LDG STG LD ST ATOM ATOMG RED REDG LDGSTS CCTL"))
_MEMORY = _GLOBAL | frozenset(opcodes("LDS STS LDL STL LDC LDCU ULDC ATOMS STAS REDAS SYNCS"))
_DOUBLE = frozenset(opcodes("DADD DMUL DFMA DMNMX DSETP FADD2 FMUL2 FFMA2"))
_CONVERSIONS = frozenset(opcodes("F2F F2I I2F FRND I2I"))
_WIDTHS = {"64": 2, "128": 4, "256": 8, "TRANS64": 2, "F64": 2, "F32x2": 2, "F32x4": 4}
_TYPES = re.compile(r"[FSU](?:8|16|32|64)")


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers that an instruction ``reads`` and ``writes``, one name per 32 bits: "R4", "UR5", "P0", "UP1"."""

    reads: frozenset[str]
    writes: frozenset[str]


def registers(instruction: MachineInstruction) -> Registers | None:
    """What an instruction reads, its guard included, and writes; None if its opcode is not in the tables."""
    operands = instruction.operands
    count = _destinations(instruction)
    if count is None:
        return None
    reads: set[str] = {instruction.guard} if instruction.guard else set()
    writes: set[str] = set()
    for position, operand in enumerate(operands):
        found = _named(instruction, operand, position, count)
        (writes if position < count else reads).update(found)
    if "PR" in operands:  # the predicates of R2P and P2R that the mask names
        mask = int(operands[-1], 0) if operands[-1].startswith("0x") else 0x7F
        (writes if instruction.opcode == "R2P" else reads).update(f"P{k}" for k in range(7) if mask >> k & 1)
    return Registers(frozenset(reads), frozenset(writes))


def _destinations(instruction: MachineInstruction) -> int | None:
    """How many of the first operands are destinations."""
    opcode, operands = instruction.opcode, instruction.operands
    if opcode in _NO_DESTINATION:
        return 0
    if opcode in _PREDICATE_DESTINATIONS:
        return _PREDICATE_DESTINATIONS[opcode]
    if opcode not in _ONE_DESTINATION:
        return None
    if opcode in ("VOTE", "VOTEU"):
        return 2 if _PLAIN.fullmatch(operands[0]) else 1
    leading = len(list(takewhile(_PREDICATE.fullmatch, operands)))
    if leading == len(operands) or not _PLAIN.fullmatch(operands[leading]):
        return leading
    behind = list(takewhile(_PREDICATE.fullmatch, operands[leading + 1 :]))
    carries = len(behind) if len(behind) < len(operands) - leading - 1 else 0
    wide = sum(m == "ENL2" for m in instruction.modifiers)  # a load into two destinations
    return leading + 1 + carries + wide


def _named(instruction: MachineInstruction, operand: str, position: int, destinations: int) -> set[str]:
    """The registers that one operand names."""
    inside = [(found.start(), found.end()) for found in _ADDRESS.finditer(operand)]
    descriptor = operand.startswith(("desc[", "cx[", "gdesc["))
    names: set[str] = set()
    for found in _REGISTER.finditer(operand):
        kind, number, suffixes = found[1], int(found[2]), found[3].split(".")
        within = next((n for n, (a, b) in enumerate(inside) if a <= found.start() < b), None)
        if kind in ("P", "UP"):
            width = 1
        elif within is not None:
            width = _address_width(instruction, kind, suffixes, descriptor and within == 0, operand)
        else:
            width = _width(instruction, position, destinations)
        names.update(f"{kind}{number + k}" for k in range(width))
    return names


def _address_width(
    instruction: MachineInstruction, kind: str, suffixes: list[str], descriptor: bool, operand: str
) -> int:
    """Registers of an address: a global one has 64 bits, in one register pair or as a sum of a pair and an offset."""
    if descriptor or "64" in suffixes:
        return 2
    if instruction.opcode not in _GLOBAL or "E" not in instruction.modifiers or "U32" in suffixes:
        return 1
    # LDGSTS has the shared address first: it has no 64-bit part.
    if instruction.opcode == "LDGSTS" and operand == instruction.operands[0]:
        return 1
    if operand.startswith("desc["):  # with a descriptor the pair is marked
        return 1
    return 2 if kind == "UR" or "UR" not in operand else 1


def _width(instruction: MachineInstruction, position: int, destinations: int) -> int:
    """Registers of an operand that is no address."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    source = position - destinations
    if opcode in _CONVERSIONS:
        return _converted(instruction, source < 0)
    if opcode in ("LDSM", "STSM"):
        return next((int(m) for m in modifiers if m in ("2", "4")), 1)
    if opcode == "SYNCS" and source >= 0 and "TRANS64" in modifiers:
        return 1
    if opcode in _MEMORY:
        return next((_WIDTHS[m] for m in modifiers if m in _WIDTHS), 1)
    if opcode in _DOUBLE or (opcode == "CS2R" and "32" not in modifiers):
        return 2
    if opcode in ("LEPC", "RET", "BRX", "JMX") or "64" in modifiers:
        return 2
    if opcode in ("IMAD", "UIMAD"):
        if "WIDE" in modifiers:
            return 2 if source < 0 or source == 2 else 1
        return 2 if "HI" in modifiers and source == 2 else 1
    return 1


def _converted(instruction: MachineInstruction, destination: bool) -> int:
    """A conversion names the type of its result first (F2F.F32.F64), or that of the side that is not 32 bits wide."""
    types = [m for m in instruction.modifiers if _TYPES.fullmatch(m)]
    if len(types) > 1:
        return 2 if types[0 if destination else 1].endswith("64") else 1
    if not types or not types[0].endswith("64"):
        return 1
    own = {"F2I": "SU", "I2F": "F", "F2F": "F", "FRND": "F", "I2I": "SU"}[instruction.opcode]
    if instruction.opcode == "FRND":
        return 2
    return 2 if (types[0][0] in own) == destination else 1
