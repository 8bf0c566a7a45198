"""Whether what atomics of global memory bring decides what warps do next.

Blocks share work by such atomics: a ticket says which piece is next, and whether there is one. Where the old value only
says where something is written, or what, each block does the same whoever else takes part.

The values are followed from the atomics on, instruction by instruction and along all branches: through registers and
predicates, and through memory, where one place that has such a value stands for its whole space. What is not known
counts as decided.
"""

from __future__ import annotations

from collections.abc import Sequence

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.cuda.registers import Registers, registers

_ATOMICS = frozenset(("ATOM", "ATOMG"))
#: What goes on somewhere that this module does not follow.
_ELSEWHERE = frozenset(("CALL", "RET", "JMP", "JMX", "JMXU", "BRX", "BRXU", "LDSM", "LDGSTS", "UBLKCP"))
_JUMPS = frozenset(("BRA", "EXIT", "KILL", "BREAK", "BSYNC", "WARPSYNC", "BAR", "NANOSLEEP"))
#: What a guard lets a lane do besides writing registers: the number of requests or of stores follows from it.
_DEEDS = frozenset(("LD", "LDG", "LDS", "LDL", "ST", "STG", "STS", "STL", "STAS", "RED", "REDG", "REDAS", "ATOMS"))
#: The space in which an instruction writes, what may write in any, and the space from which an instruction reads. A
#: generic address may be of any.
_WRITES = {"STG": "global", "RED": "global", "REDG": "global", "STS": "shared", "STAS": "shared", "STL": "local"}
_ANYWHERE = frozenset(("ST", "ATOM", "ATOMG", "ATOMS", "REDAS"))
_READS = {"LDG": "global", "LDS": "shared", "LDL": "local"}
_SPACES = frozenset(("global", "shared", "local"))
#: Registers with such values, or spaces.
_Tainted = frozenset[str]


def atomics_decide(code: Sequence[MachineInstruction]) -> bool:
    """Whether a branch, a barrier or a request of a kernel may depend on what an atomic of global memory brought.

    Arguments:
        code: the instructions of the kernel, in order.
    """
    used = [registers(one) for one in code]
    if any(one.opcode in _ELSEWHERE for one in code) or None in used:
        return True
    known = [one for one in used if one is not None]
    places = {one.address: n for n, one in enumerate(code)}
    spaces: set[str] = set()
    while True:  # until no further space has such a value
        before = len(spaces)
        if _decided(code, known, places, spaces):
            return True
        if len(spaces) == before:
            return False


def _decided(
    code: Sequence[MachineInstruction], used: Sequence[Registers], places: dict[int, int], spaces: set[str]
) -> bool:
    """As :func:`atomics_decide`, where ``spaces`` have such values from the beginning; adds others to them."""
    held: list[_Tainted | None] = [None] * len(code)
    held[0] = frozenset()
    pending = [0]
    while pending:
        n = pending.pop()
        one, now = code[n], held[n]
        assert now is not None
        depends = not now.isdisjoint(used[n].reads)
        if depends and (one.opcode in _JUMPS or (one.guard in now and one.opcode in _ATOMICS | _DEEDS)):
            return True
        if depends:
            spaces |= _written(one)
        after = _after(one, used[n], now, depends or _brings(one, spaces))
        for following in _following(code, n, places):
            before = held[following]
            if before is None or not after <= before:
                held[following] = after | (before or frozenset())
                pending.append(following)
    return False


def _written(one: MachineInstruction) -> _Tainted:
    """The spaces in which an instruction leaves what it has."""
    space = _WRITES.get(one.opcode)
    if space:
        return frozenset((space,))
    return _SPACES if one.opcode in _ANYWHERE else frozenset()


def _brings(one: MachineInstruction, spaces: set[str]) -> bool:
    """Whether an instruction brings such a value: an atomic, or a load from a space that has some."""
    if one.opcode in _ATOMICS:
        return True
    if one.opcode in ("LD", "ATOMS"):
        return bool(spaces)
    return _READS.get(one.opcode) in spaces and "CONSTANT" not in one.modifiers


def _after(one: MachineInstruction, used: Registers, now: _Tainted, tainted: bool) -> _Tainted:
    """The registers with such values behind an instruction."""
    if tainted:
        return now | used.writes
    return now if one.guard or one.idle else now - used.writes


def _following(code: Sequence[MachineInstruction], n: int, places: dict[int, int]) -> list[int]:
    """Where a warp may go on behind an instruction."""
    one = code[n]
    found = [places[target] for target in one.targets if target in places] if one.opcode == "BRA" else []
    ends = one.opcode in ("BRA", "EXIT", "KILL") and not one.guard and not one.idle and len(one.operands) < 2
    if not ends and n + 1 < len(code):
        found.append(n + 1)
    return found
