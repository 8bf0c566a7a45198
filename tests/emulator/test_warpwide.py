"""Warp-wide instructions against lane-by-lane restatements of the PTX manual, run through compiled kernels."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel
from tests.sampled import turns

THREADS = 96
MODES = ("up", "down", "xor", "idx")


def shuffled(values: list[int], lane: int, mode: str, operand: int, width: int) -> int:
    """CUDA C++ Programming Guide, "Warp Shuffle Functions", for one lane of a warp."""
    start = lane // width * width
    if mode == "idx":
        return values[start + operand % width]
    if mode == "up":
        return values[lane - operand] if lane - operand >= start else values[lane]
    if mode == "down":
        return values[lane + operand] if lane + operand < start + width else values[lane]
    # A butterfly that leaves its segment for a later one keeps the own value; an earlier one may be read.
    source = lane ^ operand
    return values[source] if source < start + width else values[lane]


@pytest.mark.parametrize(("width", "mode"), turns(2, [32, 16, 8, 2], MODES))
def test_shuffle_with_one_operand_for_all(mode, width):
    function = {"idx": "__shfl_sync"}.get(mode, f"__shfl_{mode}_sync")
    kernel = Kernel(
        f"""extern "C" __global__ void k(const int* in, int* out, int operand) {{
          out[threadIdx.x] = {function}(0xffffffff, in[threadIdx.x], operand, {width}); }}""",
        "k",
    )
    values = np.random.default_rng(width).integers(0, 1000, THREADS).astype(np.int32)
    for operand in (0, 1, 3, 5, 7, 16, 31):
        out = np.zeros(THREADS, np.int32)
        kernel.run(1, THREADS, (values, out, operand), check=False)
        for thread in range(THREADS):
            warp = values[thread // 32 * 32 :][:32].tolist()
            assert out[thread] == shuffled(warp, thread % 32, mode, operand, width), (operand, thread)


@pytest.mark.parametrize("mode", MODES)
def test_shuffle_with_an_operand_a_lane(mode):
    function = {"idx": "__shfl_sync"}.get(mode, f"__shfl_{mode}_sync")
    kernel = Kernel(
        f"""extern "C" __global__ void k(const int* in, const int* operand, int* out) {{
          int t = threadIdx.x + blockIdx.x * {THREADS};
          out[t] = {function}(0xffffffff, in[t], operand[t], 8); }}""",
        "k",
    )
    random = np.random.default_rng(1)
    values, operands = (random.integers(0, 32, 2 * THREADS).astype(np.int32) for _ in range(2))
    out = np.zeros(2 * THREADS, np.int32)
    kernel.run(2, THREADS, (values, operands, out), check=False)
    for thread in range(2 * THREADS):
        warp = values[thread // 32 * 32 :][:32].tolist()
        assert out[thread] == shuffled(warp, thread % 32, mode, int(operands[thread]), 8)


def test_shuffle_tells_whether_the_source_was_in_range():
    kernel = Kernel(
        """extern "C" __global__ void k(int* out) {
          int value; asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %1, 3, 31, -1; @!p mov.b32 %0, -1; }"
            : "=r"(value) : "r"(threadIdx.x)); out[threadIdx.x] = value; }""",
        "k",
    )
    out = np.zeros(32, np.int32)
    kernel.run(1, 32, (out,))
    assert out.tolist() == [*range(3, 32), -1, -1, -1]


def test_votes():
    kernel = Kernel(
        """extern "C" __global__ void k(const int* in, unsigned* out) {
          int t = threadIdx.x; bool p = in[t] > 2;
          out[4 * t] = __ballot_sync(0xffffffff, p);
          out[4 * t + 1] = __all_sync(0xffffffff, p);
          out[4 * t + 2] = __any_sync(0xffffffff, p);
          out[4 * t + 3] = __activemask(); }""",
        "k",
    )
    values = np.random.default_rng(0).integers(0, 5, THREADS).astype(np.int32)
    values[32:64] = 4
    values[64:] = 1
    out = np.zeros((THREADS, 4), np.uint32)
    kernel.run(1, THREADS, (values, out))
    for warp in range(3):
        holds = [value > 2 for value in values[warp * 32 :][:32]]
        ballot = sum(1 << lane for lane in range(32) if holds[lane])
        assert out[warp * 32 :][:32].tolist() == [[ballot, all(holds), any(holds), 0xFFFFFFFF]] * 32


def test_vote_in_a_branch_sees_the_lanes_of_its_mask():
    kernel = Kernel(
        """extern "C" __global__ void k(unsigned* out) {
          int t = threadIdx.x;
          if (t % 3 == 0) out[t] = __ballot_sync(0x49249249, t > 10);
          else out[t] = __activemask(); }""",
        "k",
    )
    out = np.zeros(32, np.uint32)
    kernel.run(1, 32, (out,))
    thirds = sum(1 << t for t in range(0, 32, 3))
    ballot = sum(1 << t for t in range(0, 32, 3) if t > 10)
    assert out.tolist() == [ballot if t % 3 == 0 else 0xFFFFFFFF ^ thirds for t in range(32)]


def test_match():
    kernel = Kernel(
        """extern "C" __global__ void k(const int* in, unsigned* out) {
          int t = threadIdx.x, all;
          out[3 * t] = __match_any_sync(0xffffffff, in[t]);
          out[3 * t + 1] = __match_all_sync(0xffffffff, in[t], &all);
          out[3 * t + 2] = all; }""",
        "k",
    )
    values = np.random.default_rng(3).integers(0, 6, 64).astype(np.int32)
    values[32:] = 9
    out = np.zeros((64, 3), np.uint32)
    kernel.run(1, 64, (values, out))
    for thread in range(64):
        warp = values[thread // 32 * 32 :][:32]
        same = sum(1 << lane for lane in range(32) if warp[lane] == values[thread])
        every = same == 0xFFFFFFFF
        assert out[thread].tolist() == [same, 0xFFFFFFFF if every else 0, every]


@pytest.mark.parametrize(
    ("function", "kind", "oracle"),
    [
        ("__reduce_add_sync", "unsigned", lambda v: sum(v) & 0xFFFFFFFF),
        ("__reduce_min_sync", "int", min),
        ("__reduce_max_sync", "int", max),
        ("__reduce_min_sync", "unsigned", min),
        ("__reduce_and_sync", "unsigned", lambda v: int(np.bitwise_and.reduce(np.array(v, np.uint32)))),
        ("__reduce_or_sync", "unsigned", lambda v: int(np.bitwise_or.reduce(np.array(v, np.uint32)))),
        ("__reduce_xor_sync", "unsigned", lambda v: int(np.bitwise_xor.reduce(np.array(v, np.uint32)))),
    ],
)
def test_reduce(function, kind, oracle):
    kernel = Kernel(
        f"""extern "C" __global__ void k(const {kind}* in, {kind}* out) {{
          int t = threadIdx.x;
          if (t % 2) out[t] = {function}(0xaaaaaaaa, in[t]); else out[t] = 7; }}""",
        "k",
    )
    dtype = np.int32 if kind == "int" else np.uint32
    values = np.random.default_rng(5).integers(0, 2**32, 64, np.uint32).view(dtype)
    out = np.zeros(64, dtype)
    kernel.run(1, 64, (values, out))
    for thread in range(64):
        odd = values[thread // 32 * 32 :][1:32:2].tolist()
        assert out[thread] == (oracle(odd) if thread % 2 else 7)


def test_block_wide_votes():
    kernel = Kernel(
        """extern "C" __global__ void k(const int* in, int* out) {
          int t = threadIdx.x, i = blockIdx.x * 80 + t;
          out[3 * i] = __syncthreads_count(in[i]);
          out[3 * i + 1] = __syncthreads_and(in[i] || t > 5);
          out[3 * i + 2] = __syncthreads_or(in[i] > 1); }""",
        "k",
    )
    values = np.random.default_rng(2).integers(0, 2, (2, 80)).astype(np.int32)
    values[1, :7] = 1
    values[1, 79] = 2
    out = np.zeros((2, 80, 3), np.int32)
    kernel.run(2, 80, (values, out))
    for block in range(2):
        expected = [np.count_nonzero(values[block]), values[block][:6].all(), (values[block] > 1).any()]
        assert (out[block] != 0)[:, 1:].all(axis=0).tolist() == [bool(e) for e in expected[1:]]
        assert (out[block][:, 0] == expected[0]).all()


def test_elected_lane_is_the_lowest_member():
    kernel = Kernel(
        """extern "C" __global__ void k(unsigned* out) {
          unsigned leader, mine;
          asm volatile("{ .reg .pred p; elect.sync %0|p, 0xfffffff0; selp.b32 %1, 1, 0, p; }"
            : "=r"(leader), "=r"(mine)); out[2 * threadIdx.x] = leader; out[2 * threadIdx.x + 1] = mine; }""",
        "k",
    )
    out = np.zeros((32, 2), np.uint32)
    kernel.run(1, 32, (out,), check=False)
    assert out.tolist() == [[4, lane == 4] for lane in range(32)]


def test_lanes_come_to_a_shuffle_by_two_paths():
    kernel = Kernel(
        """extern "C" __global__ void k(const int* in, int* out) {
          int t = threadIdx.x, v = in[t];
          for (int i = 0; i < v; ++i) v = v * 3 % 17 + (v > 9);
          out[t] = __shfl_xor_sync(0xffffffff, v, 1); }""",
        "k",
    )
    values = np.random.default_rng(4).integers(0, 9, 64).astype(np.int32)
    out = np.zeros(64, np.int32)
    kernel.run(1, 64, (values, out))

    def walk(v: int) -> int:
        i = 0
        while i < v:
            v = v * 3 % 17 + (v > 9)
            i += 1
        return v

    assert out.tolist() == [walk(int(values[t ^ 1])) for t in range(64)]
