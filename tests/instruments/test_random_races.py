"""Random accesses, barriers and warp synchronisations: races are reported where the definition says so, else not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

from softlab.findings import Finding
from softlab.kernel import Kernel
from tests.sampled import each

THREADS, WARP, STEPS, CELLS = 64, 32, 6, 6
NOTHING, READ, WRITE, ATOMIC, BARRIER, WARP_SYNC, WHOLE_WARP = range(7)
#: Each thread carries out its own list of steps. What a warp does in a step is of one kind.
SOURCE = """
__device__ int loaded(const int* from) {  // in this place, and no more than a load
  int value; asm volatile("ld.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory"); return value;
}
#define STEPS(cells)                                                                  \\
  for (int step = 0; step < 6; ++step) {                                              \\
    int at = (step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;              \\
    int kind = kinds[at], cell = cells_of[at];                                        \\
    if (kind == 4) __syncthreads();                                                   \\
    else if (kind == 5) __syncwarp(cell);                                             \\
    else if (kind == 6) __syncwarp();                                                 \\
    else if (cell >= 0) {                                                             \\
      if (kind == 1) seen += loaded(&cells[cell]);                                    \\
      else if (kind == 2) cells[cell] = at;                                           \\
      else if (kind == 3) atomicAdd(&cells[cell], 1);                                 \\
    }                                                                                 \\
  }
extern "C" __global__ void in_global(const int* kinds, const int* cells_of, int* y, int* cells) {
  int seen = 0;
  STEPS(cells)
  y[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}
extern "C" __global__ void in_shared(const int* kinds, const int* cells_of, int* y) {
  __shared__ int cells[6];
  int seen = 0;
  if (threadIdx.x < 6) cells[threadIdx.x] = 0;
  __syncthreads();
  STEPS(cells)
  y[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}
"""


def drawn(random: np.random.Generator, blocks: int, density: float) -> tuple[np.ndarray, np.ndarray]:
    """(kinds, cells or masks), each (steps, blocks, threads)."""
    kinds = np.zeros((STEPS, blocks, THREADS), np.int32)
    cells = np.full(kinds.shape, -1, np.int32)
    for step in range(STEPS):
        for block in range(blocks):
            if random.random() < 0.4:
                kinds[step, block] = random.choice([BARRIER, WHOLE_WARP])
                continue
            for first in range(0, THREADS, WARP):
                lanes = slice(first, first + WARP)
                kind = random.choice(
                    [READ, WRITE, ATOMIC, WARP_SYNC, WHOLE_WARP, NOTHING], p=[0.3, 0.2, 0.1, 0.2, 0.1, 0.1]
                )
                kinds[step, block, lanes] = kind
                if kind == WHOLE_WARP:
                    continue
                if kind == WARP_SYNC:
                    halves = [0xFFFF, 0xFFFF0000] if random.random() < 0.5 else [0xFFFFFFFF] * 2
                    cells[step, block, lanes] = np.repeat(np.array(halves, np.uint32), WARP // 2).view(np.int32)
                else:
                    active = random.random(WARP) < density
                    cells[step, block, lanes] = np.where(active, random.integers(0, CELLS, WARP), -1)
    return kinds, cells


@dataclass
class Model:
    """Happens-before by vector clocks: ``knows[t, u]`` is the last step of thread u that thread t comes after."""

    blocks: int
    shared: bool
    earlier: list[tuple[int, int, int, int]] = field(default_factory=list)
    races: set[tuple[int, int, int]] = field(default_factory=set)

    def run(self, kinds: np.ndarray, cells: np.ndarray) -> set[tuple[int, int, int]]:
        """(cell, thread, the thread before it) of each race; threads are numbered through all blocks."""
        count = self.blocks * THREADS
        knows = np.full((count, count), -1)
        for step, (kind, cell) in enumerate(zip(kinds.reshape(STEPS, -1), cells.reshape(STEPS, -1), strict=True)):
            for group in self._groups(kind, cell):
                knows[np.ix_(group, group)] = step
                knows[group] = knows[group].max(axis=0)
            new = [(int(cell[t]), int(t), int(kind[t]), step)
                   for t in np.flatnonzero((kind >= READ) & (kind <= ATOMIC) & (cell >= 0))]  # fmt: skip
            for place, (where, thread, how, _) in enumerate(new):
                for other_where, other, other_how, when in [*self.earlier, *new[:place], *new[place + 1 :]]:
                    harmless = (how == other_how and how != WRITE) or (self.shared and thread // 64 != other // 64)
                    if where == other_where and thread != other and not harmless and knows[thread, other] < when:
                        self.races.add((where, thread, other))
            self.earlier += new
        return self.races

    @staticmethod
    def _groups(kind: np.ndarray, cell: np.ndarray) -> Iterator[np.ndarray]:
        for first in range(0, len(kind), WARP):
            lanes = np.arange(first, first + WARP)
            if kind[first] == BARRIER and first % THREADS == 0:
                yield np.arange(first, first + THREADS)
            elif kind[first] == WHOLE_WARP or (kind[first] == WARP_SYNC and cell[first] == -1):
                yield lanes
            elif kind[first] == WARP_SYNC:
                yield from (lanes[:16], lanes[16:])


def pair(finding: Finding) -> tuple[int, int, int]:
    assert finding.symbol is not None
    assert finding.thread is not None
    assert finding.block is not None
    assert finding.other_thread is not None
    assert finding.other_block is not None
    cell = int(finding.symbol.removeprefix("cells[").removesuffix("]"))
    here, there = finding.block[0] * THREADS, finding.other_block[0] * THREADS
    return cell, here + finding.thread[0], there + finding.other_thread[0]


@pytest.mark.parametrize(("name", "blocks"), each(2, [("in_global", 2), ("in_shared", 2)]))
def test_races_are_those_of_the_definition(name: str, blocks: int) -> None:
    kernel, random = Kernel(SOURCE, name), np.random.default_rng(blocks + len(name))
    racy = 0
    for _ in range(40):
        kinds, cells = drawn(random, blocks, 0.015 if name == "in_global" else 0.03)
        args = [kinds, cells, np.zeros(blocks * THREADS, np.int32)]
        args += [np.zeros(CELLS, np.int32)] if name == "in_global" else []
        found = kernel.run(blocks, THREADS, tuple(args), check="collect", record=False).findings
        races = Model(blocks, name == "in_shared").run(kinds, cells)
        assert {finding.kind for finding in found} == ({"race"} if races else set()), (kinds, cells, found)
        racy += bool(races)
        for finding in found:
            cell, thread, other = pair(finding)
            assert {(cell, thread, other), (cell, other, thread)} & races, (finding, sorted(races))
    assert 10 < racy < 30, racy


ONE_BLOCK = """
extern "C" __global__ void in_global(int* x, int* y) {
  int t = threadIdx.x, first = blockIdx.x * 32;
  x[first + t] = t;
  if (blockIdx.x == 0) __syncwarp();
  y[first + t] = x[first + (t ^ 1)];
}
extern "C" __global__ void in_shared(int* x, int* y) {
  __shared__ int s[32];
  int t = threadIdx.x, first = blockIdx.x * 32;
  s[t] = x[first + t];
  if (blockIdx.x == 0) __syncwarp();
  y[first + t] = s[t ^ 1];
}
"""


@pytest.mark.parametrize("name", ["in_global", "in_shared"])
def test_a_warp_of_one_block_synchronises_that_block_alone(name: str) -> None:
    arrays = np.zeros(64, np.int32), np.zeros(64, np.int32)
    (found,) = Kernel(ONE_BLOCK, name).run(2, 32, arrays, check="collect").findings
    assert (found.kind, found.block, found.other_block, found.count) == ("race", (1, 0, 0), (1, 0, 0), 32)


WIDE = """
#define ACCESS(cells)                                                                              \\
  int seen = 0, warp = threadIdx.x / 32, at = firsts[warp], value = warp + 1;                      \\
  if (threadIdx.x % 32 == 0) {                                                                     \\
    int4 four = make_int4(value, value, value, value);                                             \\
    if (widths[warp] == 1) { if (stores[warp]) cells[at] = value; else seen = cells[at]; }         \\
    else if (widths[warp] == 2) {                                                                  \\
      if (stores[warp]) *(int2*)&cells[at] = make_int2(value, value);                              \\
      else { int2 two = *(int2*)&cells[at]; seen = two.x + two.y; }                                \\
    } else if (stores[warp]) *(int4*)&cells[at] = four;                                            \\
    else { four = *(int4*)&cells[at]; seen = four.x + four.y + four.z + four.w; }                  \\
  }                                                                                                \\
  y[threadIdx.x] = seen;
extern "C" __global__ void in_global(const int* widths, const int* firsts, const int* stores, int* y, int* cells) {
  ACCESS(cells)
}
extern "C" __global__ void in_shared(const int* widths, const int* firsts, const int* stores, int* y) {
  __shared__ __align__(16) int cells[16];
  if (threadIdx.x < 16) cells[threadIdx.x] = 0;
  __syncthreads();
  ACCESS(cells)
}
"""


@pytest.mark.parametrize("name", each(2, ["in_global", "in_shared"]))
def test_accesses_of_several_words_race_where_they_overlap(name: str) -> None:
    kernel, random, racy = Kernel(WIDE, name), np.random.default_rng(0), 0
    for _ in range(50):
        widths = random.choice([1, 2, 4], 4).astype(np.int32)
        firsts = (random.integers(0, 16 // widths) * widths).astype(np.int32)
        stores = random.integers(0, 2, 4).astype(np.int32)
        args = (widths, firsts, stores, np.zeros(128, np.int32)) + (
            (np.zeros(16, np.int32),) if name == "in_global" else ()
        )
        found = kernel.run(1, 128, args, check="collect", record=False).findings
        words = [
            set(range(first, first + width)) for first, width in zip(firsts.tolist(), widths.tolist(), strict=True)
        ]
        races = {(a, b) for a in range(4) for b in range(4)
                 if a != b and words[a] & words[b] and (stores[a] or stores[b])}  # fmt: skip
        assert bool(found) == bool(races), (widths, firsts, stores)
        for finding in found:
            assert finding.kind == "race"
            assert finding.thread is not None
            assert finding.other_thread is not None
            assert (finding.thread[0] // 32, finding.other_thread[0] // 32) in races
        racy += bool(races)
    assert 10 < racy < 40, racy


#: Half warps with 6 cells each.
GROUPS = (
    SOURCE
    + """
extern "C" __global__ void groups_in_global(const int* kinds, const int* cells_of, int* y, int* cells) {
  int seen = 0;
  STEPS(cells)
  y[threadIdx.x] = seen;
}
extern "C" __global__ void groups_in_shared(const int* kinds, const int* cells_of, int* y, int*) {
  __shared__ int cells[24];
  int seen = 0;
  if (threadIdx.x < 24) cells[threadIdx.x] = 0;
  __syncthreads();
  STEPS(cells)
  y[threadIdx.x] = seen;
}
"""
)


def drawn_in_order(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Half warps that meet after each step and keep to their own cells: one lane writes a cell, or many read it."""
    kinds, cells = np.zeros((2, STEPS, THREADS), np.int32)
    cells[:] = -1
    for step in range(0, STEPS, 2):
        for first in range(0, THREADS, WARP):
            kinds[step, first : first + WARP] = kind = random.choice([READ, WRITE])
            for group in (first, first + WARP // 2):
                own = group // 16 * CELLS + random.permutation(CELLS)
                if kind == WRITE:
                    cells[step, group + random.permutation(16)[:3]] = own[:3]
                else:
                    cells[step, group : group + 16] = np.where(random.random(16) < 0.3, random.choice(own, 16), -1)
        kinds[step + 1] = WARP_SYNC
        cells[step + 1] = np.tile(np.repeat(np.array([0xFFFF, 0xFFFF0000], np.uint32), 16), 2).view(np.int32)
    return kinds, cells


@pytest.mark.parametrize("name", ["groups_in_global", "groups_in_shared"])
def test_groups_of_lanes_that_keep_to_their_own_cells_are_not_accused(name: str) -> None:
    kernel, random = Kernel(GROUPS, name), np.random.default_rng(6)
    for _ in range(20):
        kinds, cells = drawn_in_order(random)
        args = kinds, cells, np.zeros(THREADS, np.int32), np.zeros(24, np.int32)
        found = kernel.run(1, THREADS, args, check="collect", record=False).findings
        assert not found, (kinds, cells, found)
