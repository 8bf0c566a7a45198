"""What if: a change takes away the wait that it is about, and no other."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.cuda.compile import kernel_folder
from softlab.timing.what_if import CHANGES, WhatIf

CHASE = """extern "C" __global__ void chase(const int* next, int* out, int steps) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < steps; ++k) at = next[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
extern "C" __global__ void bare(int* out) {
  for (int k = 0; k < 64; ++k) __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
extern "C" __global__ void conflicts(float* out, int by) {
  extern __shared__ float tile[];
  float sum = 0;
  for (int k = 0; k < 64; ++k) {
    tile[threadIdx.x * by] = sum;
    sum += tile[(threadIdx.x * by + k * 32) & 4095];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


def chase(blocks: int, elements: int):
    table = np.random.default_rng(0).permutation(elements).astype(np.int32)
    return softlab.Kernel(CHASE, "chase"), (blocks, 64, (table, np.zeros(blocks * 64, np.int32), 16))


def test_every_change_is_estimated_beside_the_launch_as_it_is():
    kernel, launch = chase(264, 1 << 20)
    found = kernel.what_if(*launch)
    assert isinstance(found, WhatIf)
    assert found.base == kernel.estimate(*launch)
    assert list(found.changed) == list(CHANGES)
    for name, one in found.changed.items():
        assert one.what_if == name
        assert name in repr(found)
        assert "not validated" in one.validated
        assert one == kernel.estimate(*launch, what_if=name)
    assert found._repr_html_().startswith("<table>")


def test_an_infinite_l2_takes_dram_away():
    kernel, launch = chase(264, 1 << 24)
    found = kernel.what_if(*launch)
    assert found.base.dram_bytes > 0
    assert found.changed["infinite L2"].dram_bytes == 0
    assert found.speedup("infinite L2") > 1.5
    gone = found.removed("infinite L2")
    assert next(iter(gone)) == "long_scoreboard"
    assert found.speedup("no bank conflicts") == 1
    with pytest.raises(ValueError, match=r"change = 'infinite L3': there are 'no bank conflicts', .*'infinite L2'"):
        found.speedup("infinite L3")


def test_no_bank_conflicts_is_the_kernel_without_conflicts():
    """The transpose of the gallery: without its conflicts the plain tile takes the time of the padded one."""
    source = (kernel_folder() / "gallery" / "transpose.cu").read_text()
    x = np.zeros((1024, 1024), np.float32)
    launch = ((32, 32), (32, 8), (x, np.zeros_like(x), 1024, 1024))
    plain, padded = (softlab.Kernel(source, f"transpose<Tile::{t}>", file="transpose.cu") for t in ("plain", "padded"))
    found = plain.estimate(*launch, what_if="no bank conflicts")
    assert plain.estimate(*launch).microseconds > 1.3 * found.microseconds
    assert found.microseconds == pytest.approx(padded.estimate(*launch).microseconds, rel=0.1)


def test_a_broadcast_and_an_atomic_are_no_conflicts():
    kernel = softlab.Kernel(CHASE, "conflicts")
    launch = (132, 256, (np.zeros(132 * 256, np.float32), 0))
    as_it_is, changed = (kernel.estimate(*launch, smem=16384, what_if=w) for w in ("", "no bank conflicts"))
    assert changed.microseconds == pytest.approx(as_it_is.microseconds, rel=0.02)
    launch = (132, 256, (np.zeros(132 * 256, np.float32), 16))
    as_it_is, changed = (kernel.estimate(*launch, smem=16384, what_if=w) for w in ("", "no bank conflicts"))
    assert as_it_is.cycles > 2 * changed.cycles


def test_twice_the_occupancy_doubles_the_blocks_of_an_sm():
    kernel = softlab.Kernel(CHASE, "conflicts")
    launch = (132 * 16, 256, (np.zeros(132 * 16 * 256, np.float32), 1))
    as_it_is = kernel.estimate(*launch, smem=100 << 10)
    doubled = kernel.estimate(*launch, smem=100 << 10, what_if="twice the occupancy")
    assert as_it_is.occupancy == pytest.approx(0.25)
    assert doubled.occupancy == pytest.approx(0.5)
    assert doubled.microseconds < 0.9 * as_it_is.microseconds
    alone = kernel.estimate(132, 256, launch[2], smem=100 << 10, what_if="twice the occupancy")
    assert any("no more blocks" in note for note in alone.notes)


def test_free_barriers():
    kernel = softlab.Kernel(CHASE, "bare")
    launch = (132, 512, (np.zeros(132 * 512, np.int32),))
    found = kernel.what_if(*launch)
    assert found.speedup("free barriers") > 1.2
    assert next(iter(found.removed("free barriers"))) == "barrier"


def test_plans_traces_and_runs_and_an_unknown_change():
    made = softlab.plan(64, 256)
    assert softlab.what_if(made).base == softlab.estimate(made)
    assert softlab.estimate(made, what_if="infinite L2").what_if == "infinite L2"
    with pytest.raises(ValueError, match="'infinite L2', 'free barriers'"):
        softlab.estimate(made, what_if="more money")
