"""Finds loops that repeat themselves: lanes that only others, or the time, can let go on, and loops that never end."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.machine.loop_facts import LoopFacts
from softlab.emulator.machine.schedule import Schedule

#: Steps before the first state is kept: loops that end soon cost one comparison of integers per step.
_FIRST_LOOK = 1024
#: The same after a loop was found: a lane that waits for a lock waits again.
_NEXT_LOOK = 16
#: Steps after which the addresses of a loop may change: before, a fault may come first.
_LATE = 3000


class Repetition(Enum):
    """Whether lanes do again what they did before."""

    #: Not as far as is known.
    NONE = 0
    #: What decides their course is as it was, but they write what they also read: others may run first.
    UNCERTAIN = 1
    #: The same, and that for very many steps.
    UNCHANGED_FOR_LONG = 3
    #: They do the same for ever, if no other lane and no clock changes it.
    CERTAIN = 2


class LoopDetector:
    """Compares the state of lanes with an earlier one.

    In loops that poll, the state at the loop's first block is compared with that of the turn before. So lanes that wait
    for a word execute two turns and not thousands. A GPU polls as often as the time allows, and counts each poll as
    instructions and requests. Here only those polls run and count that may find a change.

    For all other loops there is Brent's algorithm for finding a cycle: keep one state, compare each later state with
    it, and keep a new one each time the number of steps doubles.

    A state is the block to run next with its lanes, the registers that decide where they go and what they access, and
    that nothing in memory has changed since, or that the loop reads nothing from memory to decide. In a long loop the
    addresses may differ, too. A loop that writes what it may read to decide is never certain: it is told of after
    ``patience`` steps in which nothing has changed that decides.

    R. P. Brent, An improved Monte Carlo factorization algorithm, BIT 20 (1980).
    """

    def __init__(self, registers: list[Value], facts: LoopFacts, patience: int) -> None:
        self._registers = registers
        self._facts = facts
        self._polls = facts.polls
        self._turns: dict[int, tuple[Lanes, int, list[Value]]] = {}
        self._step = 0
        self._span = _FIRST_LOOK
        self._look = _FIRST_LOOK
        self._index = -1
        self._lanes: Lanes | None = None
        self._others: tuple = ()
        self._writes = 0
        self._state: list[Value] = []
        self._late = self._reads = False
        self._changes = 0
        self._patience = patience
        #: Since when a loop that writes what it may read has not changed what decides: (step, block, lanes, registers).
        self._held: tuple[int, int, Lanes, list[Value]] | None = None

    def repeats(self, index: int, lanes: Lanes, schedule: Schedule, writes: int) -> Repetition:
        """Call it before each step: whether these lanes are at the same block as before, and nothing else has changed.

        ``writes`` is a number that grows with every change in memory.
        """
        self._step += 1
        if index in self._polls and self._repeats_turn(index, lanes, writes):
            return Repetition.CERTAIN
        if index == self._index and (found := self._repeats_state(lanes, schedule, writes)) is not Repetition.NONE:
            self._index = -1
            self._span = _NEXT_LOOK
            self._look = self._step + _NEXT_LOOK
            return found
        if self._step >= self._look:
            self._span *= 2
            self._look = self._step + self._span
            self._index, self._lanes, self._others, self._writes = index, lanes, schedule.others(), writes
            self._state = list(self._registers)
            self._late, self._reads = self._step > _LATE, False
        if self._index >= 0 and not self._reads:
            self._reads = self._facts.reads[index]
        return Repetition.NONE

    def skip(self, steps: int) -> None:
        """That many more steps were run, at the same block and by the same lanes."""
        self._step += steps

    def _repeats_turn(self, index: int, lanes: Lanes, writes: int) -> bool:
        before = self._turns.pop(index, None)  # after a match the lanes run a turn before they are asked again
        if (
            before is not None
            and before[1] == writes
            and _same_lanes(lanes, before[0])
            and self._unchanged(self._facts.control_and_addresses, before[2], lanes)
        ):
            return True
        self._turns[index] = lanes, writes, list(self._registers)
        return False

    def _repeats_state(self, lanes: Lanes, schedule: Schedule, writes: int) -> Repetition:
        assert self._lanes is not None
        read_and_written = self._reads and writes != self._writes
        if (read_and_written and not self._late) or not _same_lanes(lanes, self._lanes):
            return Repetition.NONE
        others = schedule.others()
        if len(others) != len(self._others) or any(a is not b for a, b in zip(others, self._others, strict=True)):
            return Repetition.NONE
        registers = self._facts.control if self._late else self._facts.control_and_addresses
        if not self._unchanged(registers, self._state, lanes):
            return Repetition.NONE
        return self._uncertain(lanes) if read_and_written else Repetition.CERTAIN

    def _uncertain(self, lanes: Lanes) -> Repetition:
        held = self._held
        same = held is not None and held[1] == self._index and _same_lanes(lanes, held[2])
        if held is None or not same or not self._unchanged(self._facts.control, held[3], lanes):
            self._held = self._step, self._index, lanes, list(self._registers)
            return Repetition.UNCERTAIN
        return Repetition.UNCHANGED_FOR_LONG if self._step - held[0] > self._patience else Repetition.UNCERTAIN

    def _unchanged(self, registers: Sequence[int], state: list[Value], lanes: Lanes) -> bool:
        """Whether these registers of the lanes hold what they held in that state."""
        # A loop's counter has changed each time: ask for the register that told the last loops apart first.
        if self._changes in registers and not self._holds(self._changes, state, lanes):
            return False
        for number in registers:
            if not self._holds(number, state, lanes):
                self._changes = number
                return False
        return True

    def _holds(self, number: int, state: list[Value], lanes: Lanes) -> bool:
        now, then = self._registers[number], state[number]
        return now is then or bool(np.all(_equal(lanes.take(now), lanes.take(then))))


def _equal(a: Value, b: Value) -> Value:
    """Where values are equal; NaN is equal to NaN."""
    return (a == b) | ((a != a) & (b != b)) if a.dtype.kind in "fc" else a == b


def _same_lanes(a: Lanes, b: Lanes) -> bool:
    return a is b or (a.count == b.count and bool((a.mask == b.mask).all()))
