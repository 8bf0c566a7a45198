"""The coalescing trace: lanes, addresses and sectors of requests whose addresses can be written down."""

from __future__ import annotations

import numpy as np
import pytest

from softlab import Kernel
from softlab.instruments.requests import requests
from tests.sampled import turns

SOURCE = """
extern "C" __global__ void strided(const volatile float* x, double* y, int stride, int shift) {
  float v = x[threadIdx.x * stride + shift];
  if (threadIdx.x % 2) y[threadIdx.x] = v;
}
"""


def strided(stride: int, shift: int):
    x = np.arange(32 * 33 + 8, dtype=np.float32)
    return Kernel(SOURCE, "strided").run(1, 64, (x, np.zeros(64), stride, shift))


@pytest.mark.parametrize(("stride", "shift"), [(1, 0), (1, 1), (2, 0), (3, 5), (8, 0), (0, 4), (16, 3)])
@pytest.mark.parametrize("warp", [0, 1])
def test_lane_address_sector(stride, shift, warp):
    run = strided(stride, shift)
    (load,) = requests(run, warp=warp, line=3)
    offsets = [4 * ((32 * warp + lane) * stride + shift) for lane in range(32)]
    assert load.offset.tolist() == offsets
    assert (load.argument, load.width, load.store, load.line) == (0, 4, False, 3)
    base = run.buffers[0].base
    lanes: dict[int, list[int]] = {}
    for lane, offset in enumerate(offsets):
        lanes.setdefault((base + offset) // 32, []).append(lane)
    assert load.lanes_of_sectors() == {sector: tuple(who) for sector, who in lanes.items()}
    assert load.sectors == len(lanes)
    assert load.least == 4


def test_sectors_add_up_to_the_counters():
    run = strided(3, 5)
    found = [*requests(run, warp=0), *requests(run, warp=1)]
    assert sum(r.sectors for r in found if not r.store) == run.counters["global_load_sectors"]
    assert sum(r.sectors for r in found if r.store) == run.counters["global_store_sectors"]


def test_lanes_that_take_no_part():
    (store,) = requests(strided(1, 0), line=4)
    assert store.active.tolist() == [False, True] * 16
    assert (store.argument, store.width, store.store) == (1, 8, True)
    assert set(store.sector[::2].tolist()) == {-1}
    assert store.offset[1::2].tolist() == [8 * lane for lane in range(1, 32, 2)]
    assert (store.sectors, store.least) == (8, 4)


@pytest.mark.parametrize(("warp", "block"), turns(2, [0, 1], [0, 1, 2]))
def test_requests_are_those_of_one_warp_of_one_block(block: int, warp: int) -> None:
    source = """
extern "C" __global__ void own(const volatile float* x, float* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
}
"""
    x = np.arange(192, dtype=np.float32)
    run = Kernel(source, "own").run(3, 64, (x, 0 * x), blocks=(0, 1, 2))
    found = requests(run, block=block, warp=warp)
    assert [(one.block, one.warp, one.store) for one in found] == [(block, warp, False), (block, warp, True)]
    assert [one.offset[0] for one in found] == [4 * (64 * block + 32 * warp)] * 2


def test_memory_that_is_no_array_of_the_launch() -> None:
    """Its address stands for the offset, since there is no array from which to count."""
    source = """extern "C" __global__ void k(int* y) {
      int* own = (int*)malloc(4 * 32);
      if (threadIdx.x != 3) own[threadIdx.x] = 5;
      y[threadIdx.x] = own != nullptr;
      free(own); }"""
    run = Kernel(source, "k").run(1, 32, (np.zeros(32, np.int32),), check=False)
    (inside,), (outside,) = requests(run, line=4), requests(run, line=3)
    assert inside.argument == 0
    assert inside.offset.tolist() == [4 * lane for lane in range(32)]
    assert outside.argument is None
    assert outside.offset.tolist() == outside.address.tolist()
    assert (outside.address != 0).tolist() == outside.active.tolist() == [lane != 3 for lane in range(32)]
