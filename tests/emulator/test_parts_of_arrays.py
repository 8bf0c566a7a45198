"""A part of an array lies in memory where a GPU has it: as far from an aligned address as from the array's start."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.cuda.host_memory import offset_in_owner
from softlab.cuda.structs import Struct
from softlab.errors import KernelFault
from softlab.kernel import Kernel

COPY = """
extern "C" __global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void copy4(const float4* x, float4* y) { y[threadIdx.x] = x[threadIdx.x]; }
struct Source { const float* data; };
extern "C" __global__ void of_a_struct(Source x, float* y) { y[threadIdx.x] = x.data[threadIdx.x]; }
"""


@pytest.mark.parametrize(("start", "sectors"), [(0, 4), (1, 5), (7, 5), (8, 4), (129, 5)])
def test_sectors_of_a_part(start: int, sectors: int) -> None:
    x, y = np.arange(256, dtype=np.float32), np.zeros(32, np.float32)
    run = Kernel(COPY, "copy").run(1, 32, (x[start : start + 64], y))
    assert run.counters["global_load_sectors"] == sectors
    assert np.array_equal(y, x[start : start + 32])
    run = Kernel(COPY, "of_a_struct").run(1, 32, (Struct(x[start : start + 64]), y))
    assert run.counters["global_load_sectors"] == sectors


def test_a_pack_needs_an_aligned_part() -> None:
    x, y = np.zeros(256, np.float32), np.zeros(128, np.float32)
    kernel = Kernel(COPY, "copy4")
    with pytest.raises(KernelFault) as caught:
        kernel.run(1, 32, (x[1:129].view(np.float32), y))
    assert (caught.value.kind, caught.value.argument) == ("misaligned", 0)
    kernel.run(1, 32, (x[4:132], y))


def test_parts_that_overlap_keep_their_place() -> None:
    x = np.arange(256, dtype=np.float32)
    run = Kernel(COPY, "copy").run(1, 32, (x[1:65], x[33:97]))
    source, target = run.buffers
    assert target.base - source.base == 32 * 4
    assert source.base % 512 == 4
    assert run.counters["global_load_sectors"] == run.counters["global_store_sectors"] == 5
    assert np.array_equal(x[33:65], np.arange(1, 33))


@pytest.mark.parametrize("policy", ["oneflow", "fast"])
def test_operators_take_narrower_packs(policy: str) -> None:
    whole = np.random.default_rng(0).standard_normal(4 * 64 + 1).astype(np.float32)
    part, out = whole[1:].reshape(4, 64), np.empty(4 * 64 + 1, np.float32)[1:].reshape(4, 64)
    expected = softlab.softmax(part.copy(), policy=policy)
    np.testing.assert_allclose(softlab.softmax(part, policy=policy, out=out), expected, rtol=1e-6)
    packs = [softlab.trace(x, policy="oneflow").plan.pack_size for x in (part.copy(), part)]
    assert packs[1] == 1 < packs[0]


def test_the_owner_is_the_first_array_over_the_memory() -> None:
    x = np.zeros((8, 8), np.int16)
    assert offset_in_owner(x) == 0
    assert offset_in_owner(x[2:, 3:]) == 2 * 16 + 6
    assert offset_in_owner(x[2:][1:].reshape(-1)[1:]) == 3 * 16 + 2
    assert offset_in_owner(np.frombuffer(bytes(64), np.uint8, offset=8)) == 0


PAIRS = """
extern "C" __global__ void pairs(const float* x, float2* y) { y[threadIdx.x] = *(const float2*)(x + 1 + 2 * threadIdx.x); }
extern "C" __global__ void before(const float* x, float* y) { y[threadIdx.x] = x[(int)threadIdx.x - 1]; }
extern "C" __global__ void shift(float* x) { x[threadIdx.x] = x[threadIdx.x + 1]; }
extern "C" __global__ void add(int* x) { atomicAdd(&x[threadIdx.x % 4], 1); }
"""  # noqa: E501


def test_a_pack_of_a_part_may_be_aligned() -> None:
    """Element 1 of x[1:] is element 2 of x."""
    x, y = np.arange(128, dtype=np.float32), np.zeros(64, np.float32)
    Kernel(PAIRS, "pairs").run(1, 32, (x[1:], y))
    assert np.array_equal(y, x[2:66])
    with pytest.raises(KernelFault, match="misaligned"):
        Kernel(PAIRS, "pairs").run(1, 32, (x, y))


@pytest.mark.parametrize("block", [1, 32], ids=["one address", "many addresses"])
def test_what_lies_before_a_part_is_out_of_bounds(block: int) -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros(32, np.float32)
    with pytest.raises(KernelFault) as caught:
        Kernel(PAIRS, "before").run(1, block, (x[1:33], y))
    assert (caught.value.kind, caught.value.address, caught.value.thread) == ("global-out-of-bounds", -4, (0, 0, 0))
    run = Kernel(PAIRS, "before").run(1, 32, (x[1:33], y), check="collect")
    assert [(f.kind, f.count) for f in run.findings] == [("global-out-of-bounds", 1)]
    assert np.array_equal(y, [0, *x[1:32]])


def test_a_race_in_a_part_has_the_index_of_the_part() -> None:
    x = np.arange(65, dtype=np.float32)
    run = Kernel(PAIRS, "shift").run(2, 32, (x[3:36],), check="collect")
    found = next(f for f in run.findings if f.symbol == "x[0]")
    assert (found.kind, found.address, found.argument) == ("race", 0, 0)


def test_atomics_on_a_part() -> None:
    x = np.zeros(9, np.int32)
    Kernel(PAIRS, "add").run(2, 32, (x[3:],))
    assert x.tolist() == [0, 0, 0, 16, 16, 16, 16, 0, 0]
