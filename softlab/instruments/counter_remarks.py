"""What the counters of a run leave out, or cannot know: sentences that its text and its card show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from softlab.emulator.lanes import Lanes
from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.ptx.blocks import Block
from softlab.emulator.ptx.places import place_of
from softlab.emulator.sites import Site

_REMOTE = "atomics on distributed shared memory are not counted"
_SWAPS = (
    "compare-and-swaps in a loop are counted in the emulator's order of threads; on a GPU the number of turns depends "
    "on timing"
)
#: What a GPU does beyond the count depends on the operands: such a division takes two to ten times the instructions.
_RARE = (
    "executions of {name} by warps are counted in `instructions` without the code that a GPU runs for rare operands: "
    "zero, subnormal, not finite or very large"
)
_ESTIMATED = "of `instructions` are estimated: they belong to machine code about whose paths the PTX does not tell all"


class CounterRemarks:
    """Collects them for one run. An atomic counts once per warp."""

    def __init__(self) -> None:
        self._program: EmulatedProgram | None = None
        self._found: Counter[tuple[str, int]] = Counter()
        self._estimated = 0

    def begin(self, program: EmulatedProgram) -> None:
        """The next atomics are of this program."""
        self._program = program

    def remote_atomic(self, site: Site, lanes: Lanes) -> None:
        """These lanes execute an atomic through a cluster's address. Arrivals at an mbarrier are none."""
        if site.instruction.opcode in ("atom", "red"):
            self._found[_REMOTE, site.index] += lanes.warps

    def atomic(self, site: Site, lanes: Lanes) -> None:
        """These lanes execute an atomic that is counted."""
        if site.operation.startswith("cas"):
            self._found[_SWAPS, site.index] += lanes.warps

    def machine_code(self, rare: Iterable[int], issued: np.ndarray, estimated: int) -> None:
        """What the count of machine instructions cannot know.

        Arguments:
            rare: indices of the instructions whose code for rare operands is not counted.
            issued: how often warps ran each instruction of the PTX.
            estimated: how many of the counted instructions are not certain.
        """
        for index in rare:
            if issued[index] and self._program is not None:
                instruction = self._program.image.instructions[index]
                name = ".".join((instruction.opcode, *instruction.modifiers))
                self._found[_RARE.format(name=name), index] = int(issued[index])
        self._estimated = estimated

    def sentences(self, file: str) -> tuple[str, ...]:
        """One sentence per line of the source and remark, in the order of the code; ``file`` is the kernel's own."""
        if self._program is None:
            return ()
        instructions, blocks = self._program.image.instructions, self._program.blocks
        by_place: dict[tuple[str, str], int] = {}
        for (words, index), count in sorted(self._found.items(), key=lambda found: found[0][1]):
            if words is not _SWAPS or _in_a_loop(blocks, index):
                place = replace(place_of(instructions[index].frames, file), callers=())
                key = str(place).removesuffix(f" of {file}"), words
                by_place[key] = by_place.get(key, 0) + count
        found = [f"{f'{place}: ' if place else ''}{count} {words}" for (place, words), count in by_place.items()]
        return (*found, f"{self._estimated} {_ESTIMATED}") if self._estimated else tuple(found)


def _in_a_loop(blocks: Sequence[Block], index: int) -> bool:
    """Whether the block of an instruction can run again after it."""
    start = next(block for block in blocks if block.start <= index < block.stop)
    pending, seen = list(_after(start)), set[int]()
    while pending:
        number = pending.pop()
        if number == start.index:
            return True
        if number not in seen and number < len(blocks):
            seen.add(number)
            pending += _after(blocks[number])
    return False


def _after(block: Block) -> tuple[int, ...]:
    """The blocks that may run next."""
    guarded = block.terminator is not None and block.terminator.guard is not None
    goes_on = block.end in ("fall", "barrier", "assert") or guarded
    return (*block.targets, block.index + 1) if goes_on else block.targets
