"""The control code of a machine instruction in words: what it waits for, what it sets, how long the warp stalls."""

from __future__ import annotations

from collections.abc import Sequence

from softlab.instruments.listing import Listing

#: Opcode -> what the instruction is called in a sentence; a store and others are found by their opcode's beginning.
_NAMES = {
    "LDS": "shared load",
    "LDL": "local load",
    "LDC": "constant load",
    "LDCU": "constant load",
    "LD": "load",
    "LDGSTS": "copy to shared memory",
    "LDGDEPBAR": "copies to shared memory",
    "MUFU": "special function",
    "SHFL": "shuffle",
    "S2R": "special register",
    "S2UR": "special register",
    "B2R": "barrier's result",
    "MATCH": "match",
    "REDUX": "reduction of the warp",
    "SYNCS": "mbarrier",
    **dict.fromkeys(("F2F", "F2I", "I2F", "FRND"), "conversion"),
    **dict.fromkeys(("POPC", "FLO", "BREV"), "bit count"),
    **dict.fromkeys(("DADD", "DMUL", "DFMA", "DSETP"), "float64 arithmetic"),
}
_BEGINNINGS = (("LDG", "load"), ("ST", "store"), ("ATOM", "atomic"), ("RED", "atomic"))
#: Lines that a sentence names; of more it gives the number.
_MOST_LINES = 3


def control_words(listing: Listing, position: int) -> str:
    """The control code of ``listing.machine[position]`` as words; "" where it is not known.

    Waits come first: "waits for the load of line 12", or, before it overwrites registers of a store, "waits until the
    store of line 9 has read".
    A stall of one cycle, the shortest, is not mentioned. The yield bit and the reuse bits are not, either.
    """
    line = listing.machine[position]
    code = line.instruction.control
    if code is None:
        return ""
    words = list(dict.fromkeys(_wait(listing, scoreboard, setters) for scoreboard, setters in line.waits))
    if code.write_barrier is not None:
        words.append(f"sets scoreboard {code.write_barrier}")
    if code.read_barrier is not None:
        words.append(f"sets scoreboard {code.read_barrier} until its registers are read")
    if code.stall_cycles > 1:
        words.append(f"stalls {code.stall_cycles} cycles")
    return ", ".join(words)


def _wait(listing: Listing, scoreboard: int, setters: Sequence[int]) -> str:
    results: dict[str, set[int]] = {}
    sources: dict[str, set[int]] = {}
    for setter in setters:
        instruction, line = listing.machine[setter].instruction, listing.machine[setter].source
        by_result = instruction.control is not None and instruction.control.write_barrier == scoreboard
        (results if by_result else sources).setdefault(_name(instruction.opcode), set()).add(line)
    if not results and not sources:
        return f"waits for scoreboard {scoreboard}"
    parts = []
    if results:
        parts.append(f"waits for {' and '.join(_of_lines(name, lines) for name, lines in results.items())}")
    if sources:
        named = " and ".join(_of_lines(name, lines) for name, lines in sources.items())
        parts.append(f"waits until {named} {'has' if _one(sources) else 'have'} read")
    return ", ".join(parts)


def _one(named: dict[str, set[int]]) -> bool:
    return len(named) == 1 and len(next(iter(named.values()))) == 1


def _of_lines(name: str, lines: set[int]) -> str:
    known = sorted(lines - {0})
    if not known:
        return f"the {name}"
    if len(known) == 1:
        return f"the {name} of line {known[0]}"
    if len(known) > _MOST_LINES:
        return f"the {name} of {len(known)} lines"
    return f"the {name} of lines {', '.join(map(str, known[:-1]))} and {known[-1]}"


def _name(opcode: str) -> str:
    if opcode in _NAMES:
        return _NAMES[opcode]
    return next((name for beginning, name in _BEGINNINGS if opcode.startswith(beginning)), opcode)
