"""Blocks that share work: a queue is divided among all blocks of the grid, a ticket of each block changes nothing."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import softlab
from softlab import KernelFault
from softlab.kernel.estimation import sample_launch
from softlab.sass.streams import Kind
from softlab.timing import queues
from softlab.timing.columns import Columns
from softlab.timing.sampling import Sample

SOURCE = r"""
__device__ void fill(const float* in, float* out, int strip) {
  const int at = strip * 32 + threadIdx.x % 32;
  float v = in[at];
  for (int k = 0; k < 60; k++) v = v * 0.75f + 1.0f;
  out[at] = v;
}
extern "C" __global__ void by_rule(const float* in, float* out, int strips) {
  const int step = gridDim.x * blockDim.x / 32;
  for (int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32; s < strips; s += step) fill(in, out, s);
}
extern "C" __global__ void by_counter(const float* in, float* out, int strips, int* taken) {
  while (true) {
    int s = 0;
    if (threadIdx.x % 32 == 0) s = atomicAdd(taken, 1);
    s = __shfl_sync(0xffffffffu, s, 0);
    if (s >= strips) return;
    fill(in, out, s);
  }
}
extern "C" __global__ void by_turn(const float* in, float* out, int strips, unsigned* taken) {
  while (true) {
    int s = 0;
    if (threadIdx.x % 32 == 0) s = atomicInc(taken, 1u << 30);
    s = __shfl_sync(0xffffffffu, s, 0);
    if (s >= strips) return;
    fill(in, out, s);
  }
}
extern "C" __global__ void grows(const float* in, float* out, int strips, int* taken) {
  while (true) {
    int s = 0;
    if (threadIdx.x % 32 == 0) s = atomicAdd(taken, 1);
    s = __shfl_sync(0xffffffffu, s, 0);
    if (s >= strips) return;
    for (int k = 0; k <= s; ++k) fill(in, out, s);
  }
}
extern "C" __global__ void grows_by_turn(const float* in, float* out, int strips, unsigned* taken) {
  while (true) {
    int s = 0;
    if (threadIdx.x % 32 == 0) s = atomicInc(taken, 1u << 30);
    s = __shfl_sync(0xffffffffu, s, 0);
    if (s >= strips) return;
    for (int k = 0; k <= s; ++k) fill(in, out, s);
  }
}
extern "C" __global__ void by_lock(const float* in, float* out, int strips, volatile int* taken, int* lock) {
  __shared__ int mine;
  do {
    if (threadIdx.x == 0) {
      while (atomicCAS(lock, 0, 1)) {}
      mine = *taken;
      *taken = mine + 1;
      __threadfence();
      atomicExch(lock, 0);
    }
    __syncthreads();
    if (mine < strips) fill(in, out, mine);
    __syncthreads();
  } while (mine < strips);
}
extern "C" __global__ void last_block(const float* in, float* sums, unsigned* arrived, float* total) {
  __shared__ bool last;
  float v = in[blockIdx.x * 32 + threadIdx.x];
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = v;
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  v = 0;
  for (int k = threadIdx.x; k < gridDim.x; k += 32) v += sums[k];
  atomicAdd(total, v);
}
extern "C" __global__ void look_back(const float* in, float* out, volatile int* states, int* tickets) {
  __shared__ int block;
  if (threadIdx.x == 0) block = atomicAdd(tickets, 1);
  __syncwarp();
  int sum = 1;
  if (threadIdx.x == 0) {
    states[block] = block ? 1 : 2;
    for (int k = block - 1; k >= 0; k--) {
      int state;
      do state = states[k];
      while (state == 0);
      sum += state;
      if (state == 2) break;
    }
    states[block] = 2;
  }
  out[block * 32 + threadIdx.x] = sum;
}
extern "C" __global__ void insert(const float* in, float* out, int* table, int mask) {
  const int key = blockIdx.x * blockDim.x + threadIdx.x + 1;
  unsigned place = key * 0x9E3779B1u >> 16 & mask;
  while (atomicCAS(table + place, 0, key) != 0) place = place + 1 & mask;
}
extern "C" __global__ void places(const float* in, float* out, int turns, int* next) {
  for (int k = 0; k < turns; k++) {
    int at = 0;
    if (threadIdx.x == 0) at = atomicAdd(next, 32);
    at = __shfl_sync(0xffffffffu, at, 0);
    out[at + threadIdx.x] = blockIdx.x;
  }
}
"""
GRID, STRIPS = 264, 1500


def launched(name: str, *more, grid: int = GRID, block: int = 32, sample=None):
    given = np.ones(32 * STRIPS, np.float32), np.zeros(32 * STRIPS, np.float32)
    return sample_launch(softlab.Kernel(SOURCE, name), grid, block, (*given, *more), 0, "H100", sample)


def counter() -> np.ndarray:
    return np.zeros(1, np.int32)


def blocks_of(launch) -> int:
    return len({stream.block for stream in launch.streams})


def stores_of_grid(launch) -> float:
    """As many as the blocks of the grid would have if all were like the interpreted ones."""
    return sum(queues.stores_of_blocks(launch.columns).values()) * GRID / blocks_of(launch)


def test_of_a_counter_a_few_blocks_take_their_part():
    """Each block has as much to do as where all of the grid are interpreted together."""
    rule, queue = launched("by_rule", STRIPS), launched("by_counter", STRIPS, counter())
    fixed, shared = rule.estimate(), queue.estimate()
    assert shared.instructions == pytest.approx(fixed.instructions, rel=0.4)
    assert fixed.cycles < shared.cycles < 3 * fixed.cycles  # each strip waits for the counter
    assert "not validated: blocks share work by atomics, and each takes" in shared.validated
    assert blocks_of(queue) < 30
    assert f"{blocks_of(queue)} of {GRID} blocks were interpreted with their part of it" in " ".join(shared.notes)
    assert "share" not in f"{fixed.validated} {fixed.notes}"
    together = launched("by_turn", STRIPS, counter().view(np.uint32))
    assert blocks_of(together) == GRID
    assert stores_of_grid(queue) == pytest.approx(STRIPS, rel=0.05)
    assert shared.cycles == pytest.approx(together.estimate().cycles, rel=0.1)


@pytest.mark.further
def test_a_queue_that_is_too_long_for_a_few_blocks_has_an_estimate(monkeypatch):
    """Alone the blocks of the sample would do the work of the whole grid, and that is beyond the limit."""
    monkeypatch.setattr(sys.modules["softlab.sass.interpret"], "BUDGET", 20_000_000)
    found = launched("grows", 900, counter())
    assert found.launch.dealt
    assert stores_of_grid(found) == pytest.approx(900 * 901 // 2, rel=0.1)
    with pytest.raises(KernelFault, match="have not ended"):
        launched("grows_by_turn", 900, counter().view(np.uint32))


def test_a_queue_of_a_few_pieces_is_interpreted_with_all_blocks_if_these_are_few_enough(monkeypatch):
    found = launched("by_counter", 100, counter())
    assert not found.launch.dealt
    assert blocks_of(found) == GRID
    monkeypatch.setattr(queues, "_TOGETHER", 1000)
    found = launched("by_counter", 100, counter())
    assert found.launch.dealt
    assert blocks_of(found) < 30


def test_a_queue_by_another_atomic_is_divided_among_all_blocks_of_the_grid():
    rule, queue = launched("by_rule", STRIPS), launched("by_turn", STRIPS, counter().view(np.uint32))
    fixed, shared = rule.estimate(), queue.estimate()
    assert shared.instructions == pytest.approx(fixed.instructions, rel=0.4)
    assert fixed.cycles < shared.cycles < 3 * fixed.cycles  # each strip waits for the counter
    assert "not validated: blocks share work by atomics, and each takes" in shared.validated
    assert f"blocks share work by atomics: {GRID} of {GRID} blocks were interpreted together" in shared.notes
    assert "share" not in f"{fixed.validated} {fixed.notes}"
    executed = sum(len(stream) for stream in queue.streams)
    assert shared.instructions == executed
    assert len({stream.block for stream in queue.streams}) == GRID


def test_the_blocks_of_a_sample_that_is_chosen_have_their_share_too():
    for name, least in (("by_counter", 0.15), ("by_turn", 0)):
        taken = np.zeros(1, np.uint32 if name == "by_turn" else np.int32)
        one = launched(name, STRIPS, taken, sample=[7]).estimate()
        assert one.blocks == 1
        assert one.instructions == pytest.approx(launched(name, STRIPS, taken).estimate().instructions, rel=least)


def test_a_queue_behind_a_lock_is_named():
    found = launched("by_lock", 40, counter(), counter(), grid=20).estimate()
    assert re.search(r"not validated: blocks share work by atomics, and (each|the \d+ of 20 blocks)", found.validated)


def test_a_grid_that_is_too_large_is_named(monkeypatch):
    monkeypatch.setattr(queues, "_TOGETHER", 1000)
    found = launched("by_turn", STRIPS, counter().view(np.uint32))
    interpreted = len({stream.block for stream in found.streams})
    assert interpreted < GRID
    assert (
        f"the {interpreted} of {GRID} blocks that were interpreted did the others' part" in found.estimate().validated
    )


@pytest.mark.parametrize(
    ("name", "more"), [("last_block", (np.zeros(1, np.uint32), np.zeros(1, np.float32))), ("places", (3, counter()))]
)
def test_tickets_that_do_not_decide_how_much_a_block_does_change_nothing(monkeypatch, name, more):
    found = launched(name, *more, grid=500)
    monkeypatch.setattr(queues, "may_share", lambda columns: False)
    assert launched(name, *more, grid=500).estimate() == found.estimate()
    assert len({stream.block for stream in found.streams}) < 20
    assert "share" not in found.estimate().validated


def test_blocks_that_take_one_ticket_are_not_interpreted_again():
    one = launched("last_block", np.zeros(1, np.uint32), np.zeros(1, np.float32), grid=500)
    assert not queues.may_share(one.columns)
    assert queues.may_share(launched("places", 3, counter(), grid=500).columns)
    assert not queues.may_share(Columns.of([]))


def test_the_trial_has_the_same_blocks_and_as_many_others():
    found = queues.among([0, 3, 99], 100)
    assert {0, 3, 99} < found
    assert len(found) == 6
    assert queues.among([0, 1, 2], 4) == {0, 1, 2, 3}


def test_what_blocks_share_stays_and_what_each_does_alone_is_added(monkeypatch):
    monkeypatch.setattr(queues, "_TOGETHER", 2000)
    counts, more = {0: 510, 1: 510}, {0: 260, 1: 260, 2: 260, 3: 260}  # 1000 shared, 10 by each alone
    assert queues.have_less(counts, more)
    assert queues.few_enough(counts, more, 100, 100)
    assert not queues.few_enough(counts, more, 101, 101)
    assert not queues.few_enough(counts, more, 100, 12)
    assert not queues.have_less(counts, {**counts, 2: 5, 3: 5})


def test_blocks_that_end_together_are_those_around_the_mean():
    counts = dict(enumerate((100, 10, 90, 20, 80, 30, 70, 40)))
    found = queues.usual(Sample((0, 1), per_sm=2, resident=2, active=4), counts, dict.fromkeys(counts, 10), counts)
    assert found.blocks == (2, 5)  # the third of 10, 20, 30, 40 and of 70, 80, 90, 100
    assert found.per_sm == 2
    assert not found.longest


def test_where_some_sms_have_a_block_fewer_all_end_together():
    sample = Sample((3, 40), per_sm=2, resident=2, active=100)
    assert queues.is_uneven(sample, 150)
    assert queues.evened(50.0, 50.0, sample, 150) == pytest.approx(50.0)  # warps that do not slow each other down
    # An SM with one block does as much as one with two: 150 parts of 25 cycles each are done by 100 SMs.
    assert queues.evened(50.0, 25.0, sample, 150) == pytest.approx(37.5)
    assert queues.evened(50.0, 25.0, sample, 101) == pytest.approx(25.25)
    assert not queues.is_uneven(sample, 200)
    assert not queues.is_uneven(replace(sample, per_sm=1, blocks=(3,)), 50)
    assert not queues.is_uneven(replace(sample, per_sm=4), 350)  # the later ones find nothing to do
    assert not queues.is_uneven(replace(sample, blocks=(3,)), 150)


def test_a_piece_of_shared_work_is_done_by_one_warp():
    counts = {0: 100, 1: 0, 2: 0, 3: 0, 4: 0, 5: 200}  # two pieces for six blocks
    longest = {block: float(count) for block, count in counts.items()}
    sample = Sample((0,), per_sm=1, resident=1, active=6)
    found = queues.usual(sample, counts, longest, dict.fromkeys(counts, 1))
    assert counts[found.blocks[0]] == 0
    assert found.longest == (5,)
    many = dict.fromkeys(counts, 10.0)  # whoever takes many pieces could have taken fewer
    assert not queues.usual(sample, counts, many | {5: 20.0}, dict.fromkeys(counts, 3)).longest


def test_blocks_that_look_back_find_what_the_ones_before_have_written_meanwhile():
    found = launched("look_back", np.zeros(GRID, np.int32), counter())
    assert found.launch.blocks_wait
    assert len({stream.block for stream in found.streams}) == GRID
    # A block that looks back t blocks finds one that had done so t loads ago: about the root of twice its number.
    looks = [np.count_nonzero(stream.accesses.kind == Kind.LOAD) for stream in found.streams]
    assert 1 <= np.median(looks) < (2 * GRID) ** 0.5
    assert "how often they look is known roughly" in found.estimate().validated


def test_blocks_that_swap_meet_what_all_others_have_swapped():
    table = np.zeros(1 << 14, np.int32)
    found = launched("insert", table, len(table) - 1)
    assert len({stream.block for stream in found.streams}) == GRID
    swaps = sum(np.count_nonzero(stream.accesses.kind == Kind.ATOMIC) for stream in found.streams)
    assert swaps > 1.2 * GRID  # half of the table is taken at the end


def test_a_grid_that_swaps_and_is_large_keeps_its_sample(monkeypatch):
    monkeypatch.setattr(queues, "INTERPRETED", 1000)
    found = launched("insert", np.zeros(1 << 14, np.int32), (1 << 14) - 1)
    assert len({stream.block for stream in found.streams}) < GRID
