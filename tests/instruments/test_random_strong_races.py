"""Random volatile, relaxed and atomic accesses and fences, held against vector clocks.

Each store has a value of its own. So what a load got in the run tells which store it read from, and with it what the
definition orders. A reported race must be one by this exact order. The emulator's checks may order more: whoever reads
a word by a strong access comes after all that was done until then. What is a race even so must be reported.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from softlab.kernel import Kernel
from tests.instruments.test_random_races import Model as Barriers
from tests.instruments.test_random_races import pair
from tests.sampled import each

THREADS, WARP, STEPS, CELLS, BLOCKS = 64, 32, 8, 8, 2
ALL = BLOCKS * THREADS
NOTHING, READ, WRITE, ATOMIC, BARRIER, WARP_SYNC, WHOLE_WARP = range(7)
VOLATILE_READ, VOLATILE_WRITE, RELAXED_READ, RELAXED_WRITE, BLOCK_READ, BLOCK_WRITE, BLOCK_ATOMIC = range(7, 14)
FENCE, BLOCK_FENCE = 14, 15
READS = (READ, VOLATILE_READ, RELAXED_READ, BLOCK_READ)
WRITES = (WRITE, VOLATILE_WRITE, RELAXED_WRITE, BLOCK_WRITE, ATOMIC, BLOCK_ATOMIC)
STRONG_READS = (VOLATILE_READ, RELAXED_READ, BLOCK_READ, ATOMIC, BLOCK_ATOMIC)
PLAIN, OF_BLOCK = {READ, WRITE}, {BLOCK_READ, BLOCK_WRITE, BLOCK_ATOMIC}
SOURCE = """
#define LOAD(how) asm volatile("ld." how "s32 %0, [%1];" : "=r"(value) : "l"(cells + cell) : "memory")
#define STORE(how) asm volatile("st." how "s32 [%0], %1;" :: "l"(cells + cell), "r"(at) : "memory")
#define STEPS                                                                         \\
  _Pragma("unroll")                                                                   \\
  for (int step = 0; step < 8; ++step) {                                              \\
    int at = (step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x, value = -1;  \\
    int kind = kinds[at], cell = places[at];                                          \\
    if (kind == 4) __syncthreads();                                                   \\
    else if (kind == 5) __syncwarp(cell);                                             \\
    else if (kind == 6) __syncwarp();                                                 \\
    else if (cell >= 0) {                                                             \\
      if (kind == 1) LOAD("");                                                        \\
      else if (kind == 2) STORE("");                                                  \\
      else if (kind == 3) value = atomicExch(&cells[cell], at);                       \\
      else if (kind == 7) LOAD("volatile.");                                          \\
      else if (kind == 8) STORE("volatile.");                                         \\
      else if (kind == 9) LOAD("relaxed.gpu.");                                       \\
      else if (kind == 10) STORE("relaxed.gpu.");                                     \\
      else if (kind == 11) LOAD("relaxed.cta.");                                      \\
      else if (kind == 12) STORE("relaxed.cta.");                                     \\
      else if (kind == 13) value = atomicExch_block(&cells[cell], at);                \\
      else if (kind == 14) __threadfence();                                           \\
      else if (kind == 15) __threadfence_block();                                     \\
    }                                                                                 \\
    seen[at] = value;                                                                 \\
  }
extern "C" __global__ void in_global(const int* kinds, const int* places, int* seen, int* cells) { STEPS }
extern "C" __global__ void in_shared(const int* kinds, const int* places, int* seen) {
  __shared__ int cells[8];
  if (threadIdx.x < 8) cells[threadIdx.x] = -1;
  __syncthreads();
  STEPS
}
"""


@dataclass
class Case:
    """The steps of each thread and what they are for, (STEPS, ALL) each."""

    kinds: np.ndarray = field(default_factory=lambda: np.zeros((STEPS, ALL), np.int32))
    places: np.ndarray = field(default_factory=lambda: np.full((STEPS, ALL), -1, np.int32))


def drawn(random: np.random.Generator, scope: int, messages: bool) -> Case:
    """Random steps. With ``messages`` threads pass on what they wrote by a fence and a flag, and sometimes do it wrong.

    ``scope``: messages go between the first ``scope`` threads.
    """
    case = Case()
    density = 0.004 if messages else 0.012
    for step in range(STEPS):
        for first in range(0, ALL, WARP):
            if first % THREADS == 0 and random.random() < 0.15:
                case.kinds[step, first : first + THREADS] = BARRIER
            if case.kinds[step, first] == BARRIER:
                continue
            lanes = slice(first, first + WARP)
            kind = random.choice([WARP_SYNC, WHOLE_WARP, *READS, *WRITES], p=[0.1, 0.1, *[0.08] * 10])
            case.kinds[step, lanes] = kind
            if kind == WARP_SYNC:
                masks = np.repeat(np.array([0xFFFF, 0xFFFF0000], np.uint32), WARP // 2)
                case.places[step, lanes] = masks.view(np.int32)
            elif kind != WHOLE_WARP:
                active = random.random(WARP) < density
                case.places[step, lanes] = np.where(active, random.integers(0, CELLS, WARP), -1)
    if messages:
        _message(random, case, random.choice(scope, 3, replace=False).tolist())
    return case


def _message(random: np.random.Generator, case: Case, threads: list[int]) -> None:
    """One thread writes, makes a fence and stores to a flag. The next reads the flag and may pass it on."""
    cell, flag = random.choice(CELLS, 2, replace=False).tolist()
    fence = random.choice([FENCE, BLOCK_FENCE, NOTHING], p=[0.6, 0.2, 0.2])
    store = random.choice([RELAXED_WRITE, VOLATILE_WRITE, ATOMIC, BLOCK_WRITE], p=[0.4, 0.2, 0.3, 0.1])
    load = random.choice([RELAXED_READ, VOLATILE_READ, ATOMIC, NOTHING])
    sent = [(threads[0], WRITE, cell), (threads[0], fence, 0), (threads[0], store, flag), (threads[1], load, flag),
            (threads[1], FENCE, 0), (threads[1], random.choice([NOTHING, RELAXED_WRITE]), flag),
            (threads[2], RELAXED_READ, flag), (threads[2], random.choice([READ, WRITE]), cell)]  # fmt: skip
    for step, (thread, kind, place) in enumerate(sent):
        if case.kinds[step, thread] not in (BARRIER, WARP_SYNC, WHOLE_WARP):
            case.kinds[step, thread], case.places[step, thread] = kind, place


class Model:
    """Happens-before by vector clocks: ``knows[t, u]`` is the last step of thread u that thread t comes after.

    ``seen``: what each step read. ``generous``: the order that the checks may take at most.
    """

    def __init__(self, case: Case, seen: np.ndarray, shared: bool, generous: bool) -> None:
        self._case, self._seen, self._shared, self._generous = case, seen.reshape(STEPS, ALL), shared, generous
        self._knows = np.full((ALL, ALL), -1)
        #: What a thread's last fence publishes to all and to its own block; the same for the store of each value.
        self._fenced = np.full((ALL, 1 + BLOCKS, ALL), -1)
        self._published: dict[int, np.ndarray] = {}
        self._stored: dict[int, int] = {}

    def races(self) -> set[tuple[int, int, int]]:
        """(cell, thread, other thread), both ways round."""
        earlier: list[tuple[int, int, int, int]] = []
        found = set()
        for step, (kinds, places) in enumerate(zip(self._case.kinds, self._case.places, strict=True)):
            for group in Barriers._groups(kinds, places):
                self._knows[np.ix_(group, group)] = step
                self._knows[group] = self._knows[group].max(axis=0)
            active = np.flatnonzero(((kinds < BARRIER) | (kinds > WHOLE_WARP)) & (kinds != NOTHING) & (places >= 0))
            new = [(int(places[t]), int(t), int(kinds[t]), step) for t in active if kinds[t] < FENCE]
            if self._generous:  # what other threads do in this step may come before
                self._synchronise(step, active, kinds, places)
            for number, one in enumerate(new):
                for other in [*earlier, *new[:number], *new[number + 1 :]]:
                    if self._clash(other, one):
                        found |= {(one[0], one[1], other[1]), (one[0], other[1], one[1])}
            earlier += new
            if not self._generous:
                self._synchronise(step, active, kinds, places)
        return found

    def _clash(self, other: tuple[int, int, int, int], one: tuple[int, int, int, int]) -> bool:
        (cell, before, kind, when), (here, thread, how, step) = other, one
        if cell != here or thread == before or self._knows[thread, before] >= when:
            return False
        same_block = thread // THREADS == before // THREADS
        if (kind in READS and how in READS) or (self._shared and not same_block):
            return False
        strong = not {kind, how} & PLAIN and (same_block or not {kind, how} & OF_BLOCK)
        volatile = kind == how == VOLATILE_WRITE and not self._shared
        if strong and not (volatile and not self._read_since(cell, thread, when, step)):
            return False
        return not self._generous or self._kept(cell, kind, when, how, step)

    def _read_since(self, cell: int, thread: int, when: int, step: int) -> bool:
        """Whether the thread's warp has seen by a strong read what it overwrites. Steps at one time may be in order."""
        between = slice(when, step + 1) if self._generous else slice(when + 1, step)
        lanes = slice(thread // WARP * WARP, (thread // WARP + 1) * WARP)
        reads = np.isin(self._case.kinds[between, lanes], STRONG_READS)
        return bool((reads & (self._case.places[between, lanes] == cell)).any())

    def _kept(self, cell: int, kind: int, when: int, how: int, step: int) -> bool:
        """Whether the checks still know an earlier access: of writes the last, of reads of shared memory plain ones."""
        steps = slice(when, step + 1)
        if kind in READS:
            return kind == READ or not self._shared
        return int((np.isin(self._case.kinds[steps], WRITES) & (self._case.places[steps] == cell)).sum()) <= 1 + (
            how in WRITES
        )

    def _synchronise(self, step: int, active: np.ndarray, kinds: np.ndarray, places: np.ndarray) -> None:
        for thread in active.tolist():
            self._of_thread(step, thread, kinds[thread], int(places[thread]))

    def _of_thread(self, step: int, thread: int, kind: int, cell: int) -> None:
        knows, block = self._knows, thread // THREADS
        if kind in (FENCE, BLOCK_FENCE):
            mine = knows[thread].copy()
            mine[thread] = step
            self._fenced[thread, [0, 1 + block] if kind == FENCE else [1 + block]] = mine
            return
        if kind in PLAIN:
            return
        word = (block if self._shared else 0, cell)
        before = self._published.get(int(self._seen[step, thread]))
        if kind in STRONG_READS and self._generous:
            warp = slice(thread // WARP * WARP, (thread // WARP + 1) * WARP)
            knows[warp] = np.maximum(knows[warp], self._stored.get(word, -1))
        elif kind in STRONG_READS and before is not None:
            to = [1 + block] if kind in OF_BLOCK else [0, 1 + block]
            knows[thread] = np.maximum(knows[thread], before[to].max(axis=0))
        if kind in WRITES:
            self._stored[word] = step
            published = self._fenced[thread].copy()
            if kind in OF_BLOCK:
                published[0] = -1
            if kind in (ATOMIC, BLOCK_ATOMIC) and before is not None:
                published = np.maximum(published, before)
            self._published[step * ALL + thread] = published


@pytest.mark.parametrize(
    ("name", "messages"), each(2, [("in_global", False), ("in_global", True), ("in_shared", True)])
)
def test_races_of_strong_accesses_are_those_of_the_definition(name: str, messages: bool) -> None:
    kernel, random = Kernel(SOURCE, name), np.random.default_rng(len(name) + messages)
    racy = quiet = 0
    shared = name == "in_shared"
    for number in range(40):
        case = drawn(random, THREADS if shared else ALL, messages)
        seen = np.zeros((STEPS, ALL), np.int32)
        args = (case.kinds, case.places, seen) + (() if shared else (np.full(CELLS, -1, np.int32),))
        found = kernel.run(BLOCKS, THREADS, args, check="collect", record=False).findings
        exact, certain = (Model(case, seen, shared, generous).races() for generous in (False, True))
        assert {finding.kind for finding in found} <= {"race"}, (number, found)
        for finding in found:
            assert pair(finding) in exact, (number, finding, sorted(exact))
        assert found or not certain, (number, sorted(certain))
        racy, quiet = racy + bool(found), quiet + (not exact)
    assert racy > 5, (racy, quiet)
    assert quiet > 5, (racy, quiet)
