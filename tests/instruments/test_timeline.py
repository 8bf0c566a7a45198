"""The timeline against the counters, and against what small kernels do by construction."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from softlab import Kernel
from softlab.instruments.timeline import KINDS, Timeline, timeline

#: Warp w loads w + 1 numbers, then all meet; warp 0 adds up.
STAIRS = """
extern "C" __global__ void stairs(const float* x, float* y) {
  __shared__ float part[4];
  int warp = threadIdx.x / 32;
  float s = 0;
  #pragma unroll 1
  for (int i = 0; i <= warp; ++i) s += x[i * 32 + threadIdx.x % 32];
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[warp] = s;
  __syncthreads();
  if (threadIdx.x < 4) y[threadIdx.x] = part[threadIdx.x] + y[threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def stairs():
    kernel = Kernel(STAIRS, "stairs")
    arrays = np.ones(128, np.float32), np.zeros(4, np.float32)
    return kernel, timeline(kernel, 2, 128, arrays, of=1), arrays


def of_kind(counts: np.ndarray, kind: str) -> list:
    return counts[..., KINDS.index(kind)].tolist()


def test_what_each_warp_did_between_barriers(stairs):
    _, line, _ = stairs
    counts = line.counts()
    assert counts.shape == (4, 2, len(KINDS))
    assert of_kind(counts, "global load") == [[1, 1], [2, 0], [3, 0], [4, 0]]
    assert of_kind(counts, "shuffle") == [[5, 0]] * 4
    assert of_kind(counts, "shared store") == [[1, 0]] * 4
    assert of_kind(counts, "shared load") == [[0, 1], [0, 0], [0, 0], [0, 0]]
    assert of_kind(counts, "global store") == [[0, 1], [0, 0], [0, 0], [0, 0]]
    assert of_kind(counts, "barrier") == [[1, 0]] * 4


def test_the_same_instructions_as_the_counters(stairs):
    kernel, line, _ = stairs
    counters = kernel.run(1, 128, (np.ones(128, np.float32), np.zeros(4, np.float32))).counters
    counts = line.counts()
    assert counts.sum() == counters["ptx_instructions"]
    for kind, counter in [
        ("global load", "global_load_requests"),
        ("global store", "global_store_requests"),
        ("shared load", "shared_load_instructions"),
        ("shared store", "shared_store_instructions"),
        ("shuffle", "shuffle_instructions"),
        ("barrier", "barriers"),
    ]:
        assert np.sum(of_kind(counts, kind)) == counters[counter], kind


def test_who_waits_for_whom(stairs):
    _, line, _ = stairs
    (barrier,) = line.passes
    issued = line.counts()[:, 0].sum(axis=1)
    assert (barrier.line, barrier.warps, barrier.number) == (10, (0, 1, 2, 3), 0)
    assert barrier.at == issued.max() == issued[3]
    assert list(barrier.waited) == (issued[3] - issued).tolist()
    step = issued[1] - issued[0]
    assert step > 0
    assert list(barrier.waited) == [3 * step, 2 * step, step, 0]  # each warp has one turn of the loop more


def test_pieces_are_all_of_it_in_order(stairs):
    _, line, _ = stairs
    for warp in range(4):
        pieces = line.segments(warp)
        assert sum(piece.count for piece in pieces) == line.counts()[warp].sum()
        ends = [piece.start + piece.count for piece in pieces]
        assert all(start >= end for start, end in zip([p.start for p in pieces[1:]], ends, strict=False))
        joined = [a.kind != b.kind or a.start + a.count < b.start for a, b in pairwise(pieces)]
        assert all(joined), "neighbours of one kind are one piece"
    assert max(piece.start + piece.count for piece in line.segments()) == line.length
    kinds = [piece.kind for piece in line.segments(3) if piece.kind != "other"]
    assert kinds == ["global load"] * 4 + ["shuffle"] * 5 + ["shared store", "barrier"]
    (store,) = (piece for piece in line.segments(2) if piece.kind == "shared store")
    assert (store.lines, store.lanes) == ((9,), (1, 1))


def test_the_callers_arrays_stay_as_they_are(stairs):
    _, _, (x, y) = stairs
    assert x.tolist() == [1.0] * 128
    assert y.tolist() == [0.0] * 4


def test_both_sides_of_a_branch_are_issued():
    source = """
extern "C" __global__ void halves(float* y) {
  if (threadIdx.x % 2) y[threadIdx.x] = sinf(y[threadIdx.x]);
  else y[threadIdx.x + 64] = 2;
}
"""
    line = timeline(Kernel(source, "halves"), 1, 64, (np.zeros(128, np.float32),))
    stores = [piece for piece in line.segments(1) if piece.kind == "global store"]
    assert sorted(piece.lines for piece in stores) == [(3,), (4,)]
    assert {piece.lanes for piece in stores} == {(16, 16)}
    assert line.passes == ()
    assert line.counts().shape[1] == 1


def test_accesses_by_generic_address():
    source = """
__device__ __noinline__ void put(float* where, float what) { *where = what; }
extern "C" __global__ void both(float* y) {
  __shared__ float part[32];
  put(part + threadIdx.x, 1);
  put(y + threadIdx.x, part[threadIdx.x ^ 1]);
}
"""
    y = np.zeros(32, np.float32)
    line = timeline(Kernel(source, "both"), 1, 32, (y,))
    totals = dict(zip(KINDS, line.counts().sum(axis=(0, 1)).tolist(), strict=True))
    assert (totals["shared store"], totals["shared load"], totals["global store"]) == (1, 1, 1)


def test_an_array_given_twice_is_one():
    source = """
extern "C" __global__ void shift(const volatile float* x, volatile float* y) {
  y[threadIdx.x] = 5;
  if (x[threadIdx.x] == 5) y[threadIdx.x] = 6;
}
"""
    x = np.zeros(32, np.float32)
    line = timeline(Kernel(source, "shift"), 1, 32, (x, x))
    assert np.sum(of_kind(line.counts(), "global store")) == 2  # the second one runs only if x and y are the same


def test_a_block_that_is_not_there(stairs):
    kernel, _, arrays = stairs
    with pytest.raises(ValueError, match="blocks 0 to 1"):
        timeline(kernel, 2, 128, arrays, of=2)


def test_a_block_of_a_grid_with_three_dimensions():
    kernel = Kernel(
        'extern "C" __global__ void k(int* y) { y[(blockIdx.z * 3 + blockIdx.y) * 4 + blockIdx.x] = 1; }', "k"
    )
    arrays = (np.zeros(24, np.int32),)
    assert timeline(kernel, (4, 3, 2), 32, arrays, of=23).warps
    for of in (-1, 24, 25):
        with pytest.raises(ValueError, match=rf"of={of}: the grid \(4, 3, 2\) has the blocks 0 to 23"):
            timeline(kernel, (4, 3, 2), 32, arrays, of=of)


@pytest.mark.parametrize("seed", range(4))
def test_counts_beside_a_loop_by_hand(seed):
    """An instruction that the emulator inserted has no text, and counts nowhere."""
    random = np.random.default_rng(seed)
    size, rows, warps = 19, 30, 3
    kinds = tuple(random.choice(list(KINDS), size))
    text = tuple(f"instruction {k}" if random.random() < 0.7 else "" for k in range(size))
    first = random.integers(0, size, rows)
    last = first + random.integers(0, size - first + 1)
    warp, interval = random.integers(0, warps, rows), random.integers(0, 4, rows)
    columns = (np.int32(warp), 10 * np.arange(rows), first, last, np.full(rows, 32), np.int32(interval))
    line = Timeline(0, warps, "k.cu", text, tuple(range(size)), kinds, *columns, ())
    wanted = np.zeros((warps, int(interval.max()) + 1, len(KINDS)), int)
    issued = [0] * rows
    for row in range(rows):
        for one in range(first[row], last[row]):
            if text[one]:
                wanted[warp[row], interval[row], KINDS.index(kinds[one])] += 1
                issued[row] += 1
    assert "" in text
    assert line.counts().dtype == np.int64
    np.testing.assert_array_equal(line.counts(), wanted)
    assert line.length == max(10 * row + issued[row] for row in range(rows))
    assert sum(piece.count for piece in line.segments()) == wanted.sum()
