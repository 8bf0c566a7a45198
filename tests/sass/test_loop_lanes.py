"""Compiled loops of machine code do atomics and exchanges of a warp as the machine does, run by run."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest

import softlab.sass.interpret  # noqa: F401 - looked up below: the package has a function of this name
from softlab.cuda.disassembly import find_nvdisasm
from softlab.emulator.machine.native import available, compiling
from softlab.kernel import Kernel
from softlab.sass import interpret, loops, native_loops, native_warps
from softlab.sass.first_lanes import by_numpy
from softlab.sass.lanes import pack

needs_machine_code = pytest.mark.skipif(
    not available() or not find_nvdisasm(), reason="needs llvmlite and nvdisasm (nvidia-cuda-nvdisasm)"
)
_SOURCE = """
extern "C" __global__ void atomics(const unsigned* a, unsigned* words, unsigned long long* longs, double* sums,
                                   float* floats, unsigned* out) {
  __shared__ unsigned cells[32];
  __shared__ int signs[32];
  __shared__ unsigned long long pairs[16];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t < 32) { cells[t] = a[t]; signs[t] = a[t + 9]; pairs[t & 15] = a[t]; }
  __syncthreads();
  unsigned v = a[i], w = 0;
  #pragma unroll 1
  for (int turn = 0; turn < 14 + (int)(v % 4); ++turn) {
    v = v * 1664525u + 1013904223u;
    unsigned at = v >> 27;
    w ^= atomicAdd(cells + at, v);
    w += atomicExch(cells + (at ^ 3), w);
    w ^= atomicCAS(cells + (at ^ 5), w, v);
    w += atomicMin(signs + at, (int)v) + atomicMax(signs + (at ^ 1), (int)w);
    w ^= atomicInc(cells + (at ^ 9), v >> 20) + atomicDec(cells + (at ^ 7), v >> 19);
    w += (unsigned)atomicAdd(pairs + (at & 15), (unsigned long long)v << 7);
    w ^= (unsigned)atomicExch(pairs + (at >> 1), (unsigned long long)w << 31 | v);
    if (v & 64) w ^= atomicAnd(words + at, ~v) + atomicOr(words + at, v & 15) + atomicXor(words + at, w);
    if (v & 128) { atomicAdd(words + 32 + at, v); atomicMax(words + 64 + at, v); atomicMin((int*)words + 96 + at, v); }
    w += (unsigned)(atomicCAS(longs + at, longs[at], (unsigned long long)w << 3) >> 5);
    w ^= (unsigned)atomicMax(longs + (at ^ 1), (unsigned long long)v << 20);
    atomicAdd(sums + at, (double)v * 0.37);
    atomicAdd(floats + at, (float)v * 1e-3f);
    w ^= __float_as_uint(atomicAdd(floats + (at ^ 2), __uint_as_float(v & 0xBFFFFFFF)));
  }
  out[i] = w;
  __syncthreads();
  if (t < 32) atomicAdd(out + t, cells[t] ^ (unsigned)signs[t] ^ (unsigned)pairs[t & 15]);
}
extern "C" __global__ void shared_sums(const unsigned* a, float* out) {
  __shared__ float bins[40];
  int t = threadIdx.x;
  if (t < 40) bins[t] = 0.0f;
  __syncthreads();
  unsigned v = a[blockIdx.x * blockDim.x + t];
  #pragma unroll 1
  for (int turn = 0; turn < 9 + (int)(v % 5); ++turn) {
    v = v * 1664525u + 1013904223u;
    atomicAdd(bins + (v >> 16) % 40, (float)(v & 255) * 0.3f);
  }
  __syncthreads();
  if (t < 40) out[blockIdx.x * 40 + t] = bins[t];
}
extern "C" __global__ void exchanges(const unsigned* a, unsigned* out, double* wide) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  unsigned v = a[i], w = 0;
  double d = v * 0.5;
  #pragma unroll 1
  for (int turn = 0; turn < 16; ++turn) {
    v = v * 1664525u + 1013904223u;
    w += __shfl_sync(~0u, v, turn) ^ __shfl_up_sync(~0u, v, turn & 7, 16);
    w ^= __shfl_down_sync(~0u, v, v & 15, 8) + __shfl_xor_sync(~0u, v, turn);
    w += __ballot_sync(~0u, v & 1) ^ (__any_sync(~0u, v % 40 == 0) ? 5 : 9) ^ (__all_sync(~0u, v > 9) ? 64 : 32);
    w ^= __reduce_add_sync(~0u, v) + __reduce_min_sync(~0u, (int)v) + __reduce_max_sync(~0u, v);
    w += __reduce_and_sync(~0u, v | 7) ^ __reduce_or_sync(~0u, v & 9) ^ __reduce_xor_sync(~0u, v);
    if (v & 8) {
      unsigned below;
      asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
      w += __popc(v & below) * 77 + blockIdx.x;
    }
    d = fmin(fma(d, 1.0000001, (double)(w & 255)), d * 1.5 - 3.0) + (d > 1e3 ? (float)d * 0.25 : 1.0 / (d + 2.0));
  }
  out[i] = w;
  wide[i] = d;
}"""
_THREADS, _BLOCKS = 96, 3


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """A loop is compiled soon."""
    monkeypatch.setattr(loops, "_LOOK", 4)


def _compiled(kernel: Kernel) -> tuple[set[str], set[str], bool]:
    """What compiled loops of a kernel do: operations of atomics, exchanges, and whether warps go alone."""
    found = set(sys.modules["softlab.sass.interpret"]._compiled(kernel.program).idle[-1]._loops.at.values())
    sections = [section for loop in found for block in loop.blocks for section in block.sections]
    operations = {section.access.operation for section in sections if section.access is not None}
    exchanges = {section.exchange.function for section in sections if section.exchange is not None}
    return operations, exchanges, any(block.alone for loop in found for block in loop.blocks)


def _both(name: str, arguments, outputs) -> tuple[set[str], set[str], bool]:
    """Interpret with compiled loops and without, and run the PTX: all outputs and streams are the same."""
    kernel, found = Kernel(_SOURCE, name), []
    for choice in ("none", "all"):
        with compiling(choice):
            found.append(interpret(kernel, _BLOCKS, _THREADS, arguments()))
    one, other = found
    given = arguments()
    kernel.run(_BLOCKS, _THREADS, given, check=False)
    for number in outputs:
        assert one.output(number).tobytes() == other.output(number).tobytes(), number
        np.testing.assert_array_equal(given[number], other.output(number))
    for field in dataclasses.fields(one.streams):
        if field.name != "barriers":
            ours, theirs = (getattr(each.streams, field.name) for each in found)
            assert (ours is None) == (theirs is None), field.name
            if ours is None:
                continue
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs, err_msg=field.name)
    return _compiled(kernel)


def _words() -> np.ndarray:
    return np.random.default_rng(4).integers(0, 1 << 32, _THREADS * _BLOCKS, dtype=np.uint64).astype(np.uint32)


@needs_machine_code
def test_atomics_are_the_same():
    def arguments():
        a = _words()
        longs = a[:32].astype(np.uint64) << np.uint64(9)
        return a, a[:128].copy(), longs, np.zeros(32), np.zeros(32, np.float32), np.zeros_like(a)

    operations, _, _ = _both("atomics", arguments, range(1, 6))
    names = ("add", "exch", "cas", "min", "max", "inc", "dec", "and", "or", "xor")
    assert {one.partition(".")[0] for one in operations} >= set(names)
    assert operations >= {"add.f32", "add.f64", "add.u32", "min.s32", "max.s32", "max.u64", "cas.u64"}


@needs_machine_code
def test_sums_of_floats_in_shared_memory_are_the_same():
    """A loop of compare-and-swap: one warp of a block goes at a time."""
    operations, _, alone = _both("shared_sums", lambda: (_words(), np.zeros(40 * _BLOCKS, np.float32)), [1])
    assert "cas.u32" in operations
    assert alone


@needs_machine_code
def test_exchanges_are_the_same():
    def arguments():
        a = _words()
        return a, np.zeros_like(a), np.zeros(len(a))

    _, exchanges, _ = _both("exchanges", arguments, [1, 2])
    assert exchanges == {"shuffle", "vote", "reduce"}


# The functions, in Python


def test_a_swap_serves_the_first_lane_of_each_bank():
    random = np.random.default_rng(2)
    for shift in (2, 3):
        address = random.integers(0, 64, (50, 32)) << shift
        active = random.random((50, 32)) < 0.7
        wanted = pack(by_numpy(address, active, 1 << shift))
        found = [native_warps.served(int(m), a, shift) for m, a in zip(pack(active), address, strict=True)]
        assert found == wanted.tolist()


def test_votes_and_reductions_of_some_lanes():
    given = np.arange(32) % 3
    held = 0b1011010
    lanes = [k for k in range(32) if held >> k & 1]
    yes = native_warps.vote(held, given)
    assert yes == sum(1 << k for k in lanes if given[k])
    assert [native_warps.agreed(mode, yes, held) for mode in range(3)] == [1, 0, 0]
    assert [native_warps.agreed(mode, 0, held) for mode in range(3)] == [0, 0, 1]
    assert [native_warps.agreed(mode, held, held) for mode in range(3)] == [1, 1, 1]
    signed = np.array([-(k % 3) - 1 if k % 2 else k for k in range(32)])
    values = signed & 0xFFFFFFFF
    assert native_warps.reduce(native_warps.SUM, held, values) == sum(int(values[k]) for k in lanes) & 0xFFFFFFFF
    assert native_warps.reduce(native_warps.MIN_SIGNED, held, values) == min(signed[lanes]) & 0xFFFFFFFF
    assert native_warps.reduce(native_warps.MAX_SIGNED, held, values) == max(signed[lanes])
    assert native_warps.reduce(native_warps.MAX, held, values) == max(values[lanes])
    assert native_warps.reduce(native_warps.AND, held, values) == np.bitwise_and.reduce(values[lanes])


def test_a_shuffle_reads_old_values_and_zeros_of_lanes_that_are_elsewhere():
    value, control = np.arange(32) + 100, 0x1F
    for mode, by, wanted in (
        (native_warps.DOWN, 1, [101, 102, 0, 0]), (native_warps.UP, 1, [100, 100, 101, 102]),
        (native_warps.BFLY, 2, [102, 0, 100, 101]), (native_warps.IDX, 1, [101] * 4),
    ):  # fmt: skip
        clamp = 0 if mode == native_warps.UP else control
        given = value | by << native_warps.BY | clamp << native_warps.CONTROL
        out, inside = np.zeros(32, np.uint32), np.zeros(32, np.uint8)
        native_warps.shuffle(mode, 0b111, 0b1111, given, np.zeros(32, np.int64), out, inside)
        assert out[:4].tolist() == wanted
        assert inside[:5].tolist() == [int(mode != native_warps.UP), 1, 1, 1, 0]


def test_one_warp_of_a_block_goes_at_a_time():
    """Warps 0 and 1 are of one block, and 2 and 3 of the next: 1 and 3 stay."""
    state, ends, paths = np.zeros(native_loops.STATE, np.int64), np.full((1, 2), -1), np.zeros((9, 3), np.int64)
    paths[:, 0] = np.arange(1, 10)
    state[native_loops.BLOCK_WARPS] = 2
    chosen = np.array([3, 3, 0, 15, 1, 7])
    flat = ends.reshape(-1), paths.reshape(-1)
    assert native_loops.one_of_each_block(0, 3, 4, chosen, np.zeros(4, np.int64), *flat, state) == 2
    assert chosen[:4].tolist() == [0, 15, 3, 3]
    assert native_loops.standing(ends[0, 0], flat[1]) == 1
    assert paths[ends[0, 0], 1:].tolist() == [1, 7]
