"""Threads that bypass an instruction at which other threads wait for them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from softlab.emulator.lanes import WARP, Lanes
from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.machine.flow import Block

#: Sets of lanes that are remembered per instruction.
_MOST_KNOWN = 16


@dataclass
class _Waiting:
    """One instruction at which threads wait.

    ``reachable``: blocks of the program that can run after it; ``group``: how many threads wait for each other (those
    of a warp or of a block). The masks are (blocks, threads) bool. ``waiting``: threads that wait. ``past``: threads
    that ran code behind the instruction meanwhile. ``beyond``: those of them that ran code further down in the
    program, so that they did not go to the instruction. ``barriers``: the numbers of those at which threads wait there.
    ``ran``: the lanes that ran code before the instruction, or behind it, since anything else changed: lanes that poll
    a flag run the same code again and again.
    """

    reachable: frozenset[int]
    group: int
    waiting: np.ndarray
    past: np.ndarray
    beyond: np.ndarray
    barriers: set[int] = field(default_factory=set)
    ran: dict[tuple[int, bool], Lanes] = field(default_factory=dict)

    def note(self, lanes: Lanes, behind: bool) -> bool:
        """Whether these lanes have not run such code yet; from now on they have."""
        key = id(lanes), behind
        if self.ran.get(key) is lanes:
            return False
        if len(self.ran) >= _MOST_KNOWN:
            self.ran.clear()
        self.ran[key] = lanes
        return True


class BarrierBypasses:
    """Follows the threads of one batch. An instruction is named by its index in the program.

    A thread that exits before it comes to the instruction does not bypass it: exited threads count as arrived. Nor does
    one that has arrived at the same barrier elsewhere and gone on (``bar.arrive``). A thread bypasses the instruction
    if it runs code behind it while others wait there, and exits without coming back.

    Where warps take turns in any order (``in_turns``), a thread may still be behind a barrier in a loop that it has
    passed when others wait there again. It bypasses the barrier only when it has run code before it since.
    """

    def __init__(self, program: EmulatedProgram, *, in_turns: bool = False) -> None:
        self._program = program
        self._in_turns = in_turns
        #: For each instruction the threads that have passed it and run no code before it since, (blocks, threads) bool.
        self._passed: dict[int, np.ndarray] = {}
        self._waiting: dict[int, _Waiting] = {}
        self._reachable: dict[int, frozenset[int]] = {}
        #: For each barrier the threads that have arrived and gone on, (blocks, threads) bool.
        self._ahead: dict[int, np.ndarray] = {}
        #: The same for threads that ever have.
        self._arriving: dict[int, np.ndarray] = {}

    @property
    def waiting(self) -> bool:
        """Whether threads wait anywhere, or the blocks that they run matter for other reasons."""
        return bool(self._waiting) or bool(self._passed)

    def wait(self, instruction: int, after: int, lanes: Lanes, group: int, barrier: int | None = None) -> None:
        """Lanes wait at an instruction. The block ``after`` follows it. ``barrier``: the number of theirs."""
        mask = lanes.mask
        found = self._waiting.get(instruction)
        if found is None:
            nobody = np.zeros_like(mask)
            found = self._waiting[instruction] = _Waiting(self._reachable_from(after), group, nobody, nobody, nobody)
        if barrier is not None:
            found.barriers.add(barrier)
        found.ran.clear()
        found.waiting = found.waiting | mask
        found.past, found.beyond = found.past & ~mask, found.beyond & ~mask

    def arrive_ahead(self, barrier: int, lanes: Lanes, complete: bool) -> None:
        """Lanes arrive at a barrier and go on; ``complete``: others pass it, and it begins anew."""
        mask = lanes.mask
        before = self._ahead.get(barrier, np.zeros_like(mask))
        self._ahead[barrier] = before & ~mask if complete else before | mask
        self._arriving[barrier] = self._arriving.get(barrier, False) | mask
        for found in self._waiting.values():
            found.ran.clear()
            if barrier in found.barriers:
                found.past, found.beyond = found.past & ~mask, found.beyond & ~mask

    def resume(self, lanes: Lanes, *instructions: int) -> None:
        """Lanes continue from these instructions, together with all lanes that they waited for."""
        for instruction in instructions:
            if self._in_turns:
                self._passed[instruction] = self._passed.get(instruction, False) | lanes.mask
            found = self._waiting.get(instruction)
            if found is not None:
                mask = lanes.mask
                found.ran.clear()
                found.waiting, found.past = found.waiting & ~mask, found.past & ~mask
                found.beyond = found.beyond & ~mask
                if not found.waiting.any():
                    del self._waiting[instruction]

    def run(self, block: Block, lanes: Lanes) -> None:
        """Lanes run a block of the program."""
        for instruction, passed in self._passed.items():
            if block.start <= instruction:
                self._passed[instruction] = passed & ~lanes.mask
        if not self._waiting or (block.end == "exit" and block.stop - block.start == 1):
            return
        for instruction, found in self._waiting.items():
            behind = block.start > instruction
            if block.index in found.reachable and (self._passed or found.note(lanes, behind)):
                shape = (lanes.blocks, -1, found.group)
                waited_for = found.waiting.reshape(shape).any(axis=2, keepdims=True)
                passing = lanes.mask.reshape(shape) & waited_for & ~found.waiting.reshape(shape)
                for barrier in found.barriers & self._ahead.keys():
                    passing &= ~self._ahead[barrier].reshape(shape)
                found.past = found.past | passing.reshape(found.past.shape)
                if behind:
                    if instruction in self._passed:
                        passing &= ~self._passed[instruction].reshape(shape)
                    found.beyond = found.beyond | passing.reshape(found.past.shape)

    def by_exiting(self, lanes: Lanes) -> tuple[int, np.ndarray] | None:
        """Of lanes that exit: (instruction, mask of the lanes that bypassed it); None if no lane did."""
        for instruction, found in self._waiting.items():
            mask = found.past & lanes.mask
            if mask.any():
                return instruction, mask
        return None

    def within_warps(self, instruction: int) -> bool:
        """Whether the threads that wait at an instruction wait for others of their warps only."""
        found = self._waiting.get(instruction)
        return found is not None and found.group == WARP

    def by_thread(self, row: int, column: int, group: int) -> tuple[int, np.ndarray] | None:
        """(instruction, mask) of a bypass by this thread so far; ``group``: how many threads wait for each other.

        A thread that arrives at the same barrier elsewhere (``bar.arrive``) is on its way there, and bypasses nothing.
        """
        for instruction, found in self._waiting.items():
            comes = any(self._arriving[barrier][row, column] for barrier in found.barriers & self._arriving.keys())
            if found.group == group and found.beyond[row, column] and not comes:
                return instruction, found.beyond
        return None

    def _reachable_from(self, start: int) -> frozenset[int]:
        """The blocks that can run after that one, and itself."""
        if start not in self._reachable:
            blocks, instructions = self._program.blocks, self._program.image.instructions
            found: set[int] = set()
            pending = [start]
            while pending:
                index = pending.pop()
                if index in found or index >= len(blocks):
                    continue
                found.add(index)
                block = blocks[index]
                pending += block.targets
                if block.end in ("fall", "barrier") or instructions[block.stop - 1].guard is not None:
                    pending.append(index + 1)
            self._reachable[start] = frozenset(found)
        return self._reachable[start]
