"""What the compiler made of a microbenchmark, read from the machine code: nothing is measured that is not there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from softlab.bench.record.atlas.templates import CHAIN_STEPS
from softlab.cuda.machine_instructions import MachineInstruction

#: Instructions besides the measured ones that a part may have: 3 % of it.
OTHERS = 4


class CheckError(Exception):
    """The machine code is not what the row wants to measure; the message has what is there."""


def full_name(instruction: MachineInstruction) -> str:
    """The opcode with its modifiers, "IMAD.WIDE.U32"."""
    return ".".join((instruction.opcode, *instruction.modifiers))


def counted(instructions: Sequence[MachineInstruction]) -> Counter[str]:
    """Name -> number; NOP, which pads, is left out."""
    return Counter(full_name(i) for i in instructions if i.opcode != "NOP")


def clocks(instructions: Sequence[MachineInstruction]) -> list[int]:
    """The positions of the instructions that read the clock."""
    return [k for k, i in enumerate(instructions) if "SR_CLOCK" in i.text]


def loops(instructions: Sequence[MachineInstruction]) -> list[Sequence[MachineInstruction]]:
    """The bodies of the loops, from the target of a backward branch to that branch, in order."""
    position = {i.address: k for k, i in enumerate(instructions)}
    found = []
    for k, i in enumerate(instructions):
        if i.opcode == "BRA" and i.targets and i.targets[0] < i.address:
            found.append(instructions[position[i.targets[0]] : k + 1])
    return found


def matching(names: Counter[str], pattern: str) -> int:
    """How many instructions have a name that the regular expression matches as a whole."""
    return sum(count for name, count in names.items() if re.fullmatch(pattern, name))


def _too_different(numbers: Sequence[int], more: Counter[str]) -> bool:
    """Whether the patterns do not have the same number of instructions, or too many others are among them."""
    others = sum(more.values()) - sum(numbers)
    return not numbers[0] or max(numbers) - min(numbers) > OTHERS or others > OTHERS


def chain_count(instructions: Sequence[MachineInstruction], wanted: Sequence[str]) -> tuple[int, Counter[str]]:
    """How many steps more the long part of a chain has, and the instructions that it has more.

    ``wanted``: patterns; all that is between the clocks must match one of them, and each the same number of times.

    Raises:
        CheckError: the parts are not as the source has them.
    """
    marks = clocks(instructions)
    if len(marks) != 3:
        raise CheckError(f"{len(marks)} reads of the clock, not 3")
    short, long = (counted(instructions[a + 1 : b]) for a, b in pairwise(marks))
    more = long - short
    numbers = [matching(more, pattern) for pattern in wanted]
    if _too_different(numbers, more):
        raise CheckError(f"between the clocks there are {dict(long)} less {dict(short)}, not {' and '.join(wanted)}")
    most = CHAIN_STEPS[2] - CHAIN_STEPS[1]
    if numbers[0] not in (most, most // 2) and numbers[0] % most:
        raise CheckError(f"{numbers[0]} instructions for {most} steps")
    return numbers[0], more


def stream_count(instructions: Sequence[MachineInstruction], wanted: Sequence[str]) -> tuple[int, Counter[str], int]:
    """How many steps more the long loop has, what it has more, and what else the loops have (instructions).

    Raises:
        CheckError: there are not two loops between two clocks, or they differ in anything but the wanted instructions.
    """
    marks = clocks(instructions)
    if len(marks) != 2:
        raise CheckError(f"{len(marks)} reads of the clock, not 2")
    bodies = [counted(body) for body in loops(instructions) if _between(body, instructions, marks)]
    if len(bodies) != 2:
        raise CheckError(f"{len(bodies)} loops between the clocks, not 2")
    short, long = sorted(bodies, key=lambda body: sum(body.values()))
    more = long - short
    numbers = [matching(more, pattern) for pattern in wanted]
    if _too_different(numbers, more) or sum((short - long).values()) > sum(short.values()) // 4:
        raise CheckError(f"the loops have {dict(long)} and {dict(short)}, not {' and '.join(wanted)}")
    others = sum(short.values()) - sum(matching(short, pattern) for pattern in wanted)
    return numbers[0], more, others


def _between(
    body: Sequence[MachineInstruction], instructions: Sequence[MachineInstruction], marks: Sequence[int]
) -> bool:
    return instructions[marks[0]].address < body[0].address


def in_flight(body: Sequence[MachineInstruction], pattern: str) -> None:
    """Check that nothing waits for one of the loads in a loop before the last of them is issued.

    Raises:
        CheckError: an instruction does.
    """
    loads = [k for k, i in enumerate(body) if re.fullmatch(pattern, full_name(i))]
    pending: set[int] = set()
    for i in body[loads[0] : loads[-1]]:
        if i.control is None:
            raise CheckError(f"no control code of {i.text}")
        if pending & set(i.control.waits):
            raise CheckError(f"{i.text} waits for a load before the last load is issued")
        if re.fullmatch(pattern, full_name(i)) and i.control.write_barrier is not None:
            pending.add(i.control.write_barrier)
