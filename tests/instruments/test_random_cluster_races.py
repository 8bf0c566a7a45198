"""Random accesses within a cluster, held against vector clocks: distributed shared memory, its barriers, mbarriers.

The emulator's checks keep one time for what a thread has acquired from other blocks. So they may take accesses for
ordered that are not: those of any thread before the event that was waited for. They never accuse ordered ones. The
tests hold both: a reported race is one by the exact order, and whatever is a race by the generous one is reported.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from softlab.findings import Finding
from softlab.kernel import Kernel
from tests.sampled import each

CLUSTER, THREADS, WARP, STEPS, CELLS = 2, 64, 32, 9, 3
ALL, WARPS = CLUSTER * THREADS, CLUSTER * THREADS // WARP
NOTHING, READ, WRITE, ATOMIC, BARRIER, WARP_SYNC, CLUSTER_ARRIVE, CLUSTER_RELAXED, CLUSTER_WAIT, ARRIVE, WAIT = range(
    11
)
#: Each thread carries out its own list of steps. ``place`` is rank * CELLS + cell of an access, the mask of a warp's
#: synchronisation, or rank of an mbarrier.
SOURCE = """
typedef unsigned int u32;
__device__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ u32 map(const void* p, u32 rank) {
  u32 a; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(at(p)), "r"(rank)); return a; }
#define ASM(text, ...) asm volatile(text __VA_ARGS__ : "memory")
extern "C" __global__ void __cluster_dims__(2) k(const int* kinds, const int* places, const int* counts, int* y) {
  __shared__ int cells[3];
  __shared__ unsigned long long bar;
  u32 rank, seen = 0, value;
  ASM("mov.u32 %0, %%cluster_ctarank;", : "=r"(rank) :);
  if (threadIdx.x < 3) cells[threadIdx.x] = 0;
  if (threadIdx.x == 0) ASM("mbarrier.init.shared.b64 [%0], %1;", :: "r"(at(&bar)), "r"(counts[rank]));
  ASM("barrier.cluster.arrive.release;", ::); ASM("barrier.cluster.wait.acquire;", ::);
  #pragma unroll
  for (int step = 0; step < 9; ++step) {
    int t = (step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x, kind = kinds[t], place = places[t];
    if (kind == 4) __syncthreads();
    else if (kind == 5) __syncwarp(place);
    else if (kind == 6) ASM("barrier.cluster.arrive.release;", ::);
    else if (kind == 7) ASM("barrier.cluster.arrive.relaxed;", ::);
    else if (kind == 8) ASM("barrier.cluster.wait.acquire;", ::);
    else if (kind == 9) ASM("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];", :: "r"(map(&bar, place)));
    else if (kind == 10) {
      u32 done = 0;
      while (!done) ASM("{ .reg .pred p; mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; "
                        "selp.u32 %0, 1, 0, p; }", : "=r"(done) : "r"(at(&bar)));
    } else if (place >= 0) {
      u32 cell = map(&cells[place % 3], place / 3);
      if (kind == 1) { ASM("ld.shared::cluster.u32 %0, [%1];", : "=r"(value) : "r"(cell)); seen += value; }
      else if (kind == 2) ASM("st.shared::cluster.u32 [%0], %1;", :: "r"(cell), "r"(t));
      else if (kind == 3) ASM("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;", :: "r"(cell));
    }
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = seen;
  ASM("barrier.cluster.arrive.release;", ::); ASM("barrier.cluster.wait.acquire;", ::);
}
"""


@dataclass
class Case:
    """The steps of each thread, (STEPS, ALL) each, and how many threads arrive at the mbarrier of each block."""

    kinds: np.ndarray = field(default_factory=lambda: np.zeros((STEPS, ALL), np.int32))
    places: np.ndarray = field(default_factory=lambda: np.full((STEPS, ALL), -1, np.int32))
    counts: np.ndarray = field(default_factory=lambda: np.ones(CLUSTER, np.int32))

    def free(self, step: int, first: int, count: int = WARP) -> bool:
        return not self.kinds[step, first : first + count].any()

    def put(self, random: np.random.Generator, steps: range, warp: int, kind: int, place: int = -1) -> None:
        """A step of a warp in one of these steps."""
        lanes = slice(warp * WARP, (warp + 1) * WARP)
        step = random.choice([step for step in steps if self.free(step, warp * WARP)])
        self.kinds[step, lanes], self.places[step, lanes] = kind, place


def drawn(random: np.random.Generator, mbarriers: bool) -> Case:
    """Arrivals come in steps before those of the waits, so that no thread waits for ever.

    An arrival at an mbarrier counts as a fence, and an atomic behind a fence publishes: so no atomics beside mbarriers.
    """
    case = Case()
    middle = int(random.integers(4, 7))
    if random.random() < 0.6:
        arrive = CLUSTER_ARRIVE if mbarriers or random.random() < 0.8 else CLUSTER_RELAXED
        for warp in range(WARPS):
            case.put(random, range(middle - 2, middle), warp, arrive)
            case.put(random, range(middle, middle + 2), warp, CLUSTER_WAIT)
    if mbarriers:
        for rank in range(CLUSTER):
            arriving = [warp for warp in range(WARPS) if random.random() < 0.5]
            for warp in arriving:
                case.put(random, range(1, 4), warp, ARRIVE, rank)
            case.counts[rank] = max(1, WARP * len(arriving))
            for warp in range(rank * THREADS // WARP, (rank + 1) * THREADS // WARP):
                if arriving and random.random() < 0.7:
                    case.put(random, range(5, STEPS), warp, WAIT, rank)
    for step in range(STEPS):
        for rank in range(CLUSTER):
            if case.free(step, rank * THREADS, THREADS) and random.random() < 0.4:
                case.kinds[step, rank * THREADS : (rank + 1) * THREADS] = BARRIER
        for warp in range(WARPS):
            if case.free(step, warp * WARP):
                _access(random, case, step, warp, 0 if mbarriers else 0.1)
    return case


def _access(random: np.random.Generator, case: Case, step: int, warp: int, atomics: float) -> None:
    lanes = slice(warp * WARP, (warp + 1) * WARP)
    kind = random.choice([READ, WRITE, ATOMIC, WARP_SYNC, NOTHING], p=[0.35, 0.2, atomics, 0.25, 0.2 - atomics])
    case.kinds[step, lanes] = kind
    if kind == WARP_SYNC:
        masks = [0xFFFF, 0xFFFF0000] if random.random() < 0.5 else [0xFFFFFFFF] * 2
        case.places[step, lanes] = np.repeat(np.array(masks, np.uint32), WARP // 2).view(np.int32)
    elif kind != NOTHING:
        active = (random.random(WARP) < 0.1) & (np.arange(WARP) % 16 < 2)
        if random.random() < 0.05:  # a whole warp at one word
            case.places[step, lanes] = random.integers(CLUSTER * CELLS) if kind != WRITE else -1
        else:
            case.places[step, lanes] = np.where(active, random.integers(0, CLUSTER * CELLS, WARP), -1)


class Model:
    """Happens-before by vector clocks: ``knows[t, u]`` is the last step of thread u that thread t comes after.

    ``generous``: whoever waits for an event of the cluster also comes after what all threads did until then.
    """

    def __init__(self, case: Case, generous: bool) -> None:
        self._case = case
        self._generous = generous
        self._knows = np.full((ALL, ALL), -1)
        self._arrived: dict[int, np.ndarray] = {}

    def races(self) -> set[tuple[int, int, int]]:
        """(place, thread, other thread), both ways round."""
        earlier: list[tuple[int, int, int, int]] = []
        found = set()
        for step, (kinds, places) in enumerate(zip(self._case.kinds, self._case.places, strict=True)):
            self._synchronise(step, kinds, places)
            new = [(int(places[t]), int(t), int(kinds[t]), step)
                   for t in np.flatnonzero((kinds >= READ) & (kinds <= ATOMIC) & (places >= 0))]  # fmt: skip
            for number, (place, thread, kind, _) in enumerate(new):
                for at, other, other_kind, when in [*earlier, *new[:number], *new[number + 1 :]]:
                    harmless = kind == other_kind and kind != WRITE
                    if at == place and thread != other and not harmless and self._knows[thread, other] < when:
                        found |= {(place, thread, other), (place, other, thread)}
            earlier += new
        return found

    def _synchronise(self, step: int, kinds: np.ndarray, places: np.ndarray) -> None:
        knows = self._knows
        for first in range(0, ALL, WARP):
            lanes, kind = np.arange(first, first + WARP), kinds[first]
            if kind == BARRIER and first % THREADS == 0:
                self._meet(np.arange(first, first + THREADS), step)
            elif kind == WARP_SYNC:
                for group in [lanes] if places[first] == -1 else [lanes[:16], lanes[16:]]:
                    self._meet(group, step)
            elif kind in (CLUSTER_ARRIVE, ARRIVE):
                published = knows[lanes].max(axis=0)
                published[lanes] = step
                if self._generous:
                    published[:] = step
                event = -1 if kind == CLUSTER_ARRIVE else int(places[first])
                self._arrived[event] = np.maximum(self._arrived.get(event, -1), published)
            elif kind in (CLUSTER_WAIT, WAIT):
                event = -1 if kind == CLUSTER_WAIT else int(places[first])
                knows[lanes] = np.maximum(knows[lanes], self._arrived.get(event, -1))

    def _meet(self, group: np.ndarray, step: int) -> None:
        self._knows[np.ix_(group, group)] = step
        self._knows[group] = self._knows[group].max(axis=0)


def holds(finding: Finding, races: set[tuple[int, int, int]]) -> bool:
    """Whether a finding is one of these races. It names the cell, and not the block that the cell is in."""
    assert finding.symbol is not None
    assert finding.thread is not None
    assert finding.block is not None
    cell = int(finding.symbol.removeprefix("cells[").removesuffix("]"))
    thread = finding.block[0] * THREADS + finding.thread[0]
    others = {other for place, one, other in races if place % CELLS == cell and one == thread}
    if finding.other_thread is None or finding.other_block is None:
        return bool(others)
    return finding.other_block[0] * THREADS + finding.other_thread[0] in others


@pytest.mark.parametrize("mbarriers", each(2, [False, True]))
def test_races_in_a_cluster_are_those_of_the_definition(mbarriers: bool) -> None:
    kernel, random = Kernel(SOURCE, "k"), np.random.default_rng(int(mbarriers))
    racy = quiet = 0
    for number in range(60):
        case = drawn(random, mbarriers)
        args = (case.kinds, case.places, case.counts, np.zeros(ALL, np.int32))
        found = kernel.run(CLUSTER, THREADS, args, check="collect", record=False).findings
        exact, certain = Model(case, False).races(), Model(case, True).races()
        assert certain <= exact
        assert {finding.kind for finding in found} <= {"race"}, (number, found)
        for finding in found:
            assert holds(finding, exact), (number, finding, sorted(exact))
        assert found or not certain, (number, sorted(certain))
        racy, quiet = racy + bool(found), quiet + (not exact)
    assert racy > 10, (racy, quiet)
    assert quiet > 10, (racy, quiet)
