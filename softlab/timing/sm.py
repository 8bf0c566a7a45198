"""One SM of the GPU as an event queue: four schedulers, their warps, and what the warps wait for.

A scheduler issues one instruction per cycle: of the warp that issued last as long as that can go on, else of one of the
warps of the oldest block that can. So it was measured on an H100: warps of one block that share a pipe end together,
and blocks end one after the other, in the order in which they began. (On GPUs before Hopper, R. Huerta et al.,
arXiv 2503.20481, find the youngest warp.) Which warp of a block it is, is known in part. It is not always the one that
has waited longest: warps that use two pipes in turn would then lose nothing, and they lose a third (the rows
``interval.mixed.FFMA+LOP3.banks.PATTERN.stall.2.warps.8`` of the atlas). Nor is there a fixed order, since warps of a
block end together. In the model a lot decides between those that have waited about as long.

A warp can issue when the stall count of its last instruction has passed, the scoreboards that its next one waits for
are zero, its code is there, and the pipe and the register banks take the instruction. All this is known when an
instruction is issued, except for barriers, so that the loop has one event per instruction and none per cycle.

The schedulers are advanced in order of their clocks, at most ``RUN_AHEAD`` cycles before the others, because they share
the load and store unit. The loop stands in :mod:`softlab.timing.issue`. Here is what it asks for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from softlab.timing import issue as loop
from softlab.timing.blocks import BlockClock
from softlab.timing.journal import Journal
from softlab.timing.memory import Memory
from softlab.timing.parameters import Parameters
from softlab.timing.program import Pipe, TimedProgram
from softlab.timing.residents import Residents, SmRun
from softlab.timing.stalls import MEMBAR, REASONS
from softlab.timing.work import BlockWork

_CONSTANT = int(Pipe.CONSTANT)
#: What a run spends at most, in instructions of the compiled loop. So a run takes about a second at most in Python, and
#: it is 0.8 million instructions of which every fifth asks for something (``loop.ANSWER``).
BUDGET = 4_000_000


def simulate(
    program: TimedProgram,
    blocks: Sequence[BlockWork],
    parameters: Parameters,
    memory: Memory,
    clock: BlockClock,
    *,
    budget: int = BUDGET,
    journal: Journal | None = None,
) -> SmRun:
    """Run blocks on one SM, in their order.

    Arguments:
        clock: when blocks start. memory: the memory system, new.
        budget: instructions after which the run stops, fewer where many touch memory; ``SmRun.complete`` is then False.
        journal: gets what each warp did when, as far as it takes entries.
    """
    return _Sm(program, blocks, parameters, memory, clock, journal).run(budget)


class _Sm(Residents):
    """What the loop asks for."""

    def run(self, budget: int) -> SmRun:
        """Issue until all blocks are done, or the budget is spent."""
        result, state = self.result, self.state
        ints, floats = state.ints, state.floats
        ints[loop.BUDGET] = budget
        answers = {
            loop.REQUEST: self._request, loop.FENCE: self._fence, loop.COMMIT: self._commit,
        }  # fmt: skip
        while (wanted := state.go_on()) != loop.FINISHED:
            if self.journal is not None or wanted in (loop.FLUSH, loop.PROGRESS):
                self._keep(wanted == loop.PROGRESS)
            if wanted in answers:
                ints[loop.BUDGET] -= loop.ANSWER
                answers[wanted](ints[loop.WARP], ints[loop.INDEX], floats[loop.T])
        self._keep(False)
        self._keep_waits()
        memory = self.memory
        memory.lsu_free, memory.lsu_busy, memory.shared_busy = floats[loop.LSU_FREE : loop.LSU_FREE + 3]
        if self.arrays is not None:
            self.arrays.write_back()
        result.states = np.array(state.states).reshape(len(REASONS), len(self.program.rows))
        result.busy = floats[loop.BUSY : loop.BUSY + len(Pipe)].tolist()
        result.issued, result.warp_cycles = ints[loop.ISSUED], floats[loop.WARP_CYCLES]
        result.finished = state.table(loop.FINISHES)[: ints[loop.ENDED]].tolist()
        result.complete = len(result.finished) == len(self.blocks)
        result.cycles = max(result.finished, default=0.0) if result.complete else min(state.now)
        # A kernel has ended when its stores and reductions have arrived.
        result.drained = max(result.cycles, memory.last_store)
        return result

    def _keep(self, progress: bool) -> None:
        """What the loop has recorded; of waits only where there is no room for more of them."""
        state = self.state
        if state.ints[loop.LOGGED] > loop.MOST_WAITS - loop.MARGIN:
            self._keep_waits()
        if self.journal is not None:
            self.journal.extend(state.notes())
        if progress:
            self.result.progress.append((state.floats[loop.T], state.ints[loop.ISSUED]))
            state.ints[loop.MARK] += 1
            if self.journal is not None and self.journal.full:
                self.journal = None
                state.ints[loop.JOURNAL] = 0

    def _keep_waits(self) -> None:
        waits = self.result.waits
        for waiting, setter, cycles in self.state.waits():
            waits[waiting, setter] = waits.get((waiting, setter), 0.0) + cycles

    def _request(self, w: int, index: int, t: float) -> None:
        floats, row = self.state.floats, self.program.rows[index]
        if row[1] == _CONSTANT:
            floats[loop.DRAINED], floats[loop.DONE] = t + row[2] + 2, self.constants_of(w, row[12], t, row[2]) + row[7]
            return
        floats[loop.BEGIN], floats[loop.DRAINED], floats[loop.DONE] = self.request(w, t, row[7], row[2], row[0])

    def _fence(self, w: int, index: int, t: float) -> None:
        floats, p = self.state.floats, self.p
        scheduler = self.state.schedulers[w]
        floats[loop.FREE + loop.PIPES * scheduler + Pipe.MIO] = t + p.mio_interval
        device = self.program.details.get(index, (1, 0))[0]
        hold = self.fenced(w, t) if device else t + p.membar_cta
        floats[loop.HOLD], self.state.ints[loop.HELD] = hold, MEMBAR
        for number in self.program.rows[index][5:7]:
            if number >= 0:
                self.state.release[6 * w + number], self.state.setters[6 * w + number] = hold, index

    def _commit(self, w: int, index: int, t: float) -> None:
        state, warp, depth = self.state, self.warps[w], self.state.ints[loop.DEPTH]
        state.groups[depth * w + warp.groups % depth] = warp.copies
        warp.groups += 1
        state.commits[w] = warp.groups
        write = self.program.rows[index][5]
        if write >= 0 and warp.copies > state.release[6 * w + write]:
            state.release[6 * w + write], state.setters[6 * w + write] = warp.copies, index
