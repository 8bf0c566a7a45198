"""Asynchronous copies past L1: how many requests L2 answers, from the code that the compiler makes."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.cuda.disassembly import find_nvdisasm
from softlab.kernel.estimation import sample_launch
from softlab.sass.streams import Kind, Space
from softlab.timing.model import machine_function
from softlab.timing.traits import CodeTraits
from softlab.timing.work import block_work

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")
SOURCE = """
extern "C" __global__ void kernel(const char* in, float* out, int pitch, int rounds) {
  extern __shared__ char places[];
  const unsigned to = (unsigned)__cvta_generic_to_shared(places) + threadIdx.x * pitch;
  for (int r = 0; r < rounds; r++) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(in + 16 * threadIdx.x) : "memory");
    asm volatile("cp.async.commit_group;\\ncp.async.wait_group 0;" ::: "memory");
  }
  out[threadIdx.x] = *(float*)(places + threadIdx.x * pitch);
}"""


def sampled(pitch: int, threads: int = 32, rounds: int = 1):
    arguments = np.zeros(16 << 20, np.uint8), np.zeros(threads, np.float32), np.int32(pitch), np.int32(rounds)
    return sample_launch(softlab.Kernel(SOURCE, "kernel"), (1,), (threads,), arguments, threads * pitch, "H200")


@pytest.mark.parametrize(("pitch", "lines"), [(16, 4), (32, 32), (64, 32), (144, 32)])
def test_each_lane_is_a_request_where_the_places_do_not_lie_together(pitch, lines):
    launch = sampled(pitch)
    traits = CodeTraits.of(machine_function(launch.launch.program).instructions)
    (warp,) = block_work(launch.streams, traits)[0].warps
    found = [(one[7], one[8]) for one in warp.requests if one[1:3] == (Space.GLOBAL, Kind.ASYNC_COPY)]
    assert found == [(1, lines)]


def test_an_sm_gets_one_of_these_requests_per_cycle():
    # An H200 took 32 cycles per copy of each warp to places 32 bytes apart, with 8 warps and with 32.
    short, long = (sampled(32, 1024, rounds).estimate("H200", "warm").cycles for rounds in (8, 24))
    assert (long - short) / 16 == pytest.approx(32 * 32, rel=0.25)
    together = (sampled(16, 1024, rounds).estimate("H200", "warm").cycles for rounds in (8, 24))
    assert abs(np.diff(list(together))[0]) / 16 < 600
