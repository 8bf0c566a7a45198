"""The shuffle trace against what the CUDA C++ Programming Guide says that each shuffle reads, lane by lane."""

from __future__ import annotations

import numpy as np
import pytest

from softlab import Kernel
from softlab.instruments.shuffles import _distance, held_values, reductions, shuffle_steps, value_type

SOURCE = """
extern "C" __global__ void exchange(float* y, int* z) {
  float v = 100 + threadIdx.x;
  float a = __shfl_xor_sync(~0u, v, 5);
  float b = __shfl_down_sync(~0u, v, 3, 8);
  float c = __shfl_up_sync(~0u, v, 2);
  float d = __shfl_sync(~0u, v, 7);
  y[threadIdx.x] = a + b + c + d;
  int k = -(int)threadIdx.x;
  if (threadIdx.x % 32 < 16) z[threadIdx.x] = __shfl_xor_sync(0xffffu, k, 1) * 3;
}
"""


@pytest.fixture(scope="module")
def run():
    arrays = np.zeros(64, np.float32), np.zeros(64, np.int32)
    return Kernel(SOURCE, "exchange").run(grid=1, block=64, args=arrays)


def given(warp: int) -> list[float]:
    return [100.0 + 32 * warp + lane for lane in range(32)]


@pytest.mark.parametrize("warp", [0, 1])
@pytest.mark.parametrize(
    ("number", "mode", "distance", "source"),
    [
        (0, "bfly", 5, [lane ^ 5 for lane in range(32)]),
        (1, "down", 3, [lane + 3 if lane % 8 + 3 < 8 else lane for lane in range(32)]),
        (2, "up", 2, [lane - 2 if lane >= 2 else lane for lane in range(32)]),
        (3, "idx", 7, [7] * 32),
    ],
)
def test_who_gives_what_to_whom(run, warp, number, mode, distance, source):
    step = shuffle_steps(run, warp=warp)[number]
    assert (step.mode, step.distance, step.dtype, step.warp) == (mode, distance, "float32", warp)
    assert step.line == 4 + number
    assert step.exchanges() == tuple((source[lane], lane, given(warp)[source[lane]]) for lane in range(32))


def test_only_the_lanes_of_the_branch_take_part(run):
    step = shuffle_steps(run)[4]
    assert step.dtype == "int32"
    assert [(giver, taker) for giver, taker, _ in step.exchanges()] == [(lane ^ 1, lane) for lane in range(16)]
    assert [value for _, _, value in step.exchanges()] == [-(lane ^ 1) for lane in range(16)]
    assert not step.given[16:].any()


def test_the_bits_can_be_read_as_another_type(run):
    step = shuffle_steps(run, dtype="uint32")[0]
    assert step.given[0] == 0x42C80000  # 100.0f


def test_lanes_that_read_at_different_distances():
    source = """
extern "C" __global__ void gather(int* y, const int* from) {
  y[threadIdx.x] = __shfl_sync(~0u, (int)threadIdx.x * 10, from[threadIdx.x]);
}
"""
    order = np.random.default_rng(3).permutation(32).astype(np.int32)
    run = Kernel(source, "gather").run(1, 32, (np.zeros(32, np.int32), order))
    (step,) = shuffle_steps(run)
    assert step.distance is None
    assert step.title == "from lane that differs"
    assert step.exchanges() == tuple((int(order[lane]), lane, 10 * int(order[lane])) for lane in range(32))


def test_warps_and_blocks_without_shuffles_have_none(run):
    assert shuffle_steps(run, warp=2) == ()
    assert shuffle_steps(run, block=1) == ()


@pytest.mark.parametrize(
    ("after", "dtype"),
    [
        ("mov.b32 %f3, %r2;", "float32"),
        ("add.f32 %r5, %r4, %r2;", "float32"),
        ("max.s32 %r5, %r2, %r4;", "int32"),
        ("add.s32 %r2, %r1, 4;", "float32"),  # written again, never read
        ("@%p2 xor.b32 %r5, %r4, %r2;", "uint32"),
        ("add.s32 %r5, %r20, %r4;", "float32"),  # another register
    ],
)
def test_what_the_result_is(after, dtype):
    assert value_type(("mov.u32 %r1, 0;", "shfl.sync.bfly.b32 %r2|%p1, %r1, 1, 31, -1;", after), 1) == dtype


def test_another_dtype_is_refused(run):
    with pytest.raises(ValueError, match="float32, int32, uint32"):
        shuffle_steps(run, dtype="float64")


TWO_SUMS = """
extern "C" __global__ void two_sums(const float* x, float* y) {
  float a = x[threadIdx.x], b = x[threadIdx.x + 32];
  for (int mask = 16; mask; mask /= 2) {
    a += __shfl_xor_sync(0xffffffff, a, mask);
    b += __shfl_xor_sync(0xffffffff, b, mask);
  }
  y[threadIdx.x] = a;
  y[threadIdx.x + 32] = b;
}
"""


def test_reductions_that_run_by_turns_are_told_apart():
    x = np.random.default_rng(0).integers(0, 99, 64).astype(np.float32)
    y = np.zeros_like(x)
    run = Kernel(TWO_SUMS, "two_sums").run(1, 32, (x, y))
    found = {}
    for chain in reductions(shuffle_steps(run), np.add):
        assert [step.distance for step in chain] == [16, 8, 4, 2, 1]
        held = held_values(chain, np.add)
        assert held.shape == (6, 32)
        found[tuple(held[0])] = held[-1]
    for half in (x[:32], x[32:]):
        assert (found[tuple(half)] == half.sum()).all()
    # What does not go on by the rule is another reduction each.
    assert len(reductions(shuffle_steps(run), np.maximum)) == 10


LANE = np.arange(32)
HALF = LANE < 16


@pytest.mark.parametrize(
    ("mode", "source", "active", "distance"),
    [
        ("bfly", LANE ^ 4, LANE >= 0, 4), ("bfly", LANE ^ np.where(HALF, 4, 8), LANE >= 0, None),
        ("bfly", np.where(HALF, LANE, LANE ^ 8), LANE >= 0, 8), ("bfly", LANE, LANE >= 0, 0),
        ("down", np.where(LANE < 29, LANE + 3, LANE), LANE >= 0, 3), ("down", LANE + np.where(HALF, 3, 4), HALF, 3),
        ("up", np.where(LANE > 1, LANE - 2, LANE), LANE >= 0, 2), ("up", LANE - np.where(HALF, 2, 1), ~HALF, 1),
        ("up", LANE - np.where(HALF, 2, 1), LANE >= 0, None), ("idx", np.full(32, 5), LANE >= 0, 5),
        ("idx", np.full(32, 5), LANE == 5, 5), ("idx", LANE, LANE >= 0, None), ("idx", LANE, LANE == 7, 7),
        ("idx", np.where(HALF, 1, 2), HALF, 1), ("idx", np.where(LANE == 9, 9, 3), LANE >= 0, None),
        ("down", LANE, np.zeros(32, bool), 0), ("idx", LANE, np.zeros(32, bool), 0),
    ],
)  # fmt: skip
def test_the_distance_that_lanes_share(mode: str, source: np.ndarray, active: np.ndarray, distance: int | None) -> None:
    """Of those that read another lane's value; by index the lane that all read, be it their own."""
    assert _distance("".join(mode), source, active) == distance
