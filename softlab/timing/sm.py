"""One SM of the GPU as an event queue: four schedulers, their warps, and what the warps wait for.

A scheduler issues one instruction per cycle: of the warp that issued last as long as that can go on, else of the oldest
block that can, and of its warps that which has not issued for the longest time. So it was measured on an H200: warps of
one block that share a pipe end together, and blocks end one after the other, in the order in which they began. (On GPUs
before Hopper, R. Huerta et al., arXiv 2503.20481, find the youngest warp.) A warp can issue when the stall count of its
last instruction has passed, the scoreboards that its next one waits for are zero, its code is there, and the pipe and
the register banks take the instruction. All this is known when an instruction is issued, except for barriers, so that
the loop has one event per instruction and none per cycle.

The schedulers are advanced in order of their clocks, at most ``_RUN_AHEAD`` cycles before the others, because they
share the load and store unit.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from heapq import heappop, heappush
from math import ceil, inf

from softlab.timing.blocks import BlockClock
from softlab.timing.code import PER_LINE
from softlab.timing.journal import Journal
from softlab.timing.memory import Memory
from softlab.timing.parameters import Parameters
from softlab.timing.program import Action, Pipe, TimedProgram
from softlab.timing.residents import CYCLE_BITS, Residents, SmRun, Warp
from softlab.timing.stalls import (
    BRANCH,
    DISPATCH,
    LG,
    LONG,
    MATH,
    MEMBAR,
    MIO,
    NOT_SELECTED,
    SELECTED,
    SHORT,
    WAIT,
)  # fmt: skip
from softlab.timing.work import BlockWork

_RUN_AHEAD = 4
_NO_PIPE, _FMA, _HEAVY, _ALU, _FP64, _XU = (
    int(p) for p in (Pipe.NONE, Pipe.FMA, Pipe.FMA_HEAVY, Pipe.ALU, Pipe.FP64, Pipe.XU)
)
_MIO_PIPE, _LG_PIPE, _CONSTANT, _BRANCH_PIPE = (int(p) for p in (Pipe.MIO, Pipe.LG, Pipe.CONSTANT, Pipe.BRANCH))
_FIXED, _VARIABLE, _MEMORY, _BARRIER, _EXIT, _FENCE, _DEPBAR, _COMMIT, _MBARRIER, _ARRIVE = (int(a) for a in Action)
_PLAIN, _LATE = (_FIXED, _EXIT), (_MEMORY, _VARIABLE, _MBARRIER)
#: Cycles in which an instruction reads its registers (arXiv 2503.20481, section 5.3).
_READ_WINDOW = 3


def simulate(
    program: TimedProgram,
    blocks: Sequence[BlockWork],
    parameters: Parameters,
    memory: Memory,
    clock: BlockClock,
    *,
    budget: int = 800_000,
    journal: Journal | None = None,
) -> SmRun:
    """Run blocks on one SM, in their order.

    Arguments:
        clock: when blocks start. memory: the memory system, new.
        budget: instructions after which the run stops; ``SmRun.complete`` is then False.
        journal: gets what each warp did when, as far as it takes entries.
    """
    return _Sm(program, blocks, parameters, memory, clock, journal).run(budget)


class _Sm(Residents):
    """The loop."""

    def run(self, budget: int) -> SmRun:
        """Issue until all blocks are done, or the budget is spent."""
        result, now, heaps, p = self.result, self.now, self.heaps, self.p
        rows, states, busy, waits_for = self.program.rows, self.result.states, self.result.busy, self.result.waits
        selected, waited = states[SELECTED], states[WAIT]
        journal, details = self.journal, self.program.details
        eligible: list[list[tuple[int, Warp]]] = [[] for _ in range(4)]
        greedy: list[Warp | None] = [None] * 4
        free = [[0.0] * len(Pipe) for _ in range(4)]
        banks = [[0.0, 0.0] for _ in range(4)]
        last: list[Warp | None] = [None] * 4
        queues = [[[0.0] * p.mio_queue for _ in range(4)], [[0.0] * p.lg_queue for _ in range(4)]]
        turns = [[0] * 4, [0] * 4]
        issued = 0
        for at in self.clock.first(len(self.blocks)):
            self.start(at)
        while True:
            t = min(now)
            if t == inf or issued > budget:
                break
            s = now.index(t)
            heap, pool, pipes, bank = heaps[s], eligible[s], free[s], banks[s]
            g = greedy[s]
            now[s] = inf
            limit = min(now) + _RUN_AHEAD
            while t <= limit:
                while heap and heap[0][0] <= t:
                    warp = heappop(heap)[2]
                    insort(pool, (warp.turn, warp))
                # Whose turn it is: the last one's, else the oldest block's.
                chosen, later = None, inf
                place = -1
                candidates = pool
                if g is not None:
                    if g.ready <= t:
                        candidates = [(-1, g), *pool] if pool else [(-1, g)]
                        place = -2
                    else:
                        later = g.ready
                for _, warp in candidates:
                    place += 1
                    row = warp.row
                    pipe = row[1]
                    if pipe == _NO_PIPE:
                        chosen = warp
                        break
                    reason = MATH
                    if pipe <= _FP64:
                        if pipe == _FMA:
                            at = pipes[_FMA] if pipes[_FMA] < pipes[_HEAVY] else pipes[_HEAVY]
                        else:
                            at = pipes[pipe]
                        if warp is last[s]:
                            even, odd = row[10], row[11]
                        else:
                            even, odd = row[8], row[9]
                        if even and bank[0] + even - _READ_WINDOW > at:
                            at, reason = bank[0] + even - _READ_WINDOW, DISPATCH
                        if odd and bank[1] + odd - _READ_WINDOW > at:
                            at, reason = bank[1] + odd - _READ_WINDOW, DISPATCH
                    elif _MIO_PIPE <= pipe <= _LG_PIPE:
                        at, reason = pipes[_MIO_PIPE], MIO if pipe == _MIO_PIPE else LG
                        kind = pipe - _MIO_PIPE
                        entry = queues[kind][s][turns[kind][s]]
                        if entry > at:
                            at = entry
                    else:
                        at = pipes[pipe]
                    if at <= t:
                        chosen = warp
                        break
                    warp.blocked = reason
                    if at < later:
                        later = at
                if chosen is None:
                    if heap and heap[0][0] < later:
                        later = heap[0][0]
                    t = later if later == inf else float(ceil(later))
                    if later == inf:
                        break
                    continue
                warp = chosen
                if warp is not g:
                    del pool[place]
                    if g is not None:
                        if g.ready <= t:
                            insort(pool, (g.turn, g))
                        else:
                            heappush(heap, (g.ready, g.index, g))
                    g = warp
                # Issue.
                index = warp.next
                action, pipe, interval, stall, _, write, read, latency, _, _, _, _, _ = row = warp.row
                selected[index] += 1
                issued += 1
                warp.turn = warp.first + (int(t) << CYCLE_BITS)
                if t > warp.ready:
                    states[warp.blocked or NOT_SELECTED][index] += t - warp.ready
                    if journal is not None:
                        journal.append((warp.index, warp.blocked or NOT_SELECTED, index, warp.ready, t))
                if journal is not None:
                    journal.append((warp.index, SELECTED, index, t, t + 1))
                warp.blocked = 0
                if pipe <= _FP64:
                    if pipe == _FMA:
                        half = _FMA if pipes[_FMA] <= pipes[_HEAVY] else _HEAVY
                        pipes[half] = (t if t > pipes[half] else pipes[half]) + 2 * interval
                        busy[_FMA] += interval
                    elif pipe:
                        pipes[pipe] = (t if t - pipes[pipe] > 1 else max(pipes[pipe], t - 1)) + interval
                        busy[pipe] += interval
                    if warp is last[s]:
                        even, odd = row[10], row[11]
                    else:
                        even, odd = row[8], row[9]
                    if even:
                        bank[0] = (t if t > bank[0] else bank[0]) + even
                    if odd:
                        bank[1] = (t if t > bank[1] else bank[1]) + odd
                last[s] = warp
                position = warp.position
                following = t + stall
                hold, held = 0.0, 0
                if action in _PLAIN:
                    if pipe > _FP64:
                        pipes[pipe] = t + interval
                        busy[pipe] += interval
                elif action in _LATE:
                    if _MIO_PIPE <= pipe <= _LG_PIPE:
                        pipes[_MIO_PIPE] = t + p.mio_interval
                        begin, drained, done = self.request(warp, t, index, position, latency, interval, action)
                        kind = pipe - _MIO_PIPE
                        queues[kind][s][turns[kind][s]] = begin
                        turns[kind][s] = (turns[kind][s] + 1) % len(queues[kind][s])
                    else:
                        pipes[pipe] = t + interval
                        busy[pipe] += interval
                        drained, done = t + interval + 2, t + latency
                        if pipe == _CONSTANT:
                            done = self.constants_of(warp, position, t) + latency
                    if write >= 0 and done > warp.release[write]:
                        warp.release[write] = done
                        warp.setters[write] = index
                    if read >= 0 and drained > warp.release[read]:
                        warp.release[read] = drained
                        warp.setters[read] = index
                elif action == _FENCE:
                    pipes[_MIO_PIPE] = t + p.mio_interval
                    device = details.get(index, (1, 0))[0]
                    hold = self.fenced(warp, t) if device else t + p.membar_cta
                    held = MEMBAR
                    if read >= 0:
                        warp.release[read], warp.setters[read] = hold, index
                    if write >= 0:
                        warp.release[write], warp.setters[write] = hold, index
                elif action == _COMMIT:
                    warp.groups.append(warp.copies)
                    if write >= 0 and warp.copies > warp.release[write]:
                        warp.release[write], warp.setters[write] = warp.copies, index
                # The next instruction: when it is ready, and what it waits for until then.
                position += 1
                warp.position = position
                if position == len(warp.code):
                    g = None
                    last[s] = None
                    now[s] = t + 1
                    greedy[s] = None
                    if action == _ARRIVE:
                        self.arrive(warp, t, index, False)
                    result.warp_cycles += t + 1
                    self.end(warp, t + 1)
                    limit = min(limit, min(now) + _RUN_AHEAD)
                    t += 1
                    continue
                coming = warp.next = warp.code[position]
                row = warp.row = rows[coming]
                ready = following
                waited[coming] += stall - 1
                if pipe == _BRANCH_PIPE or coming != index + 1:
                    at = ready
                    if coming != index + 1 or index in details:
                        at = t + (latency if pipe == _BRANCH_PIPE else p.branch_taken)
                    if position - 1 in warp.splits:
                        at = max(at, ready) + p.divergence
                    if at > ready:
                        at = float(ceil(at))
                        states[BRANCH][coming] += at - ready
                        if journal is not None:
                            journal.append((warp.index, BRANCH, coming, ready, at))
                        ready = at
                if hold > ready:
                    states[held][coming] += hold - ready
                    if journal is not None:
                        journal.append((warp.index, held, coming, ready, hold))
                    ready = hold
                worst, setter = ready, -1
                for number in row[4]:
                    at = warp.release[number]
                    if at > worst:
                        worst, setter = at, warp.setters[number]
                if row[0] == _DEPBAR:
                    number, count = details[coming]
                    if count and len(warp.groups) > count:
                        at = warp.groups[-1 - count]
                    else:
                        at = warp.release[number] if not count else 0.0
                    if at > worst:
                        worst, setter = at, warp.setters[number]
                if setter >= 0:
                    worst = float(ceil(worst))
                    reason = LONG if rows[setter][1] == _LG_PIPE else SHORT
                    states[reason][coming] += worst - ready
                    if journal is not None:
                        journal.append((warp.index, reason, coming, ready, worst))
                    key = (coming, setter)
                    waits_for[key] = waits_for.get(key, 0.0) + worst - ready
                    ready = worst
                if coming >> PER_LINE != index >> PER_LINE or row[12] >= 0:
                    ready = self.fetched(warp, index, t, ready)
                warp.ready = ready = float(ceil(ready))
                if action == _BARRIER:
                    g = None
                    self.arrive(warp, t, index, True)
                    limit = min(limit, min(now) + _RUN_AHEAD)
                elif action == _ARRIVE:
                    self.arrive(warp, t, index, False)
                    limit = min(limit, min(now) + _RUN_AHEAD)
                t += 1.0
            if t < now[s]:
                now[s] = t
            if now[s] == inf and g is not None:
                now[s] = max(t, g.ready) if t != inf else g.ready
            greedy[s] = g
            if issued // 4096 > len(result.progress):
                result.progress.append((t, issued))
                if journal is not None and journal.full:
                    journal = self.journal = None
        result.issued = issued
        result.complete = issued <= budget
        result.cycles = max(result.finished, default=0.0) if result.complete else min(now)
        # A kernel has ended when its stores and reductions have arrived.
        result.drained = max(result.cycles, self.memory.last_store)
        return result
