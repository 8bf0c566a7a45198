"""Barriers whose number is in a register: the interpreter notes it, and the simulated SM takes it."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.errors import Error
from softlab.kernel.estimation import sample_launch
from softlab.timing.residents import SmRun
from softlab.timing.sampling import extrapolate

#: Warp 0 fills two buffers in turn and warp 1 adds them up. NUMBER(k) is the barrier of a buffer.
HANDS_OVER = """
extern "C" __global__ void hands_over(const float* in, float* out, int rounds) {
  __shared__ float buffers[2][32];
  const int lane = threadIdx.x % 32;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) {
    const int full = 1 + (k & 1), empty = 3 + (k & 1);
    if (threadIdx.x < 32) {
      if (k >= 2) asm volatile("bar.sync %0, 64;" ::"r"(empty) : "memory");
      buffers[k & 1][lane] = in[k * 32 + lane];
      asm volatile("bar.arrive %0, 64;" ::"r"(full) : "memory");
    } else {
      asm volatile("bar.sync %0, 64;" ::"r"(full) : "memory");
      sum += buffers[k & 1][lane];
      if (k + 2 < rounds) asm volatile("bar.arrive %0, 64;" ::"r"(empty) : "memory");
    }
  }
  if (threadIdx.x >= 32) out[lane] = sum;
}
"""


def test_the_streams_have_the_numbers() -> None:
    kernel = softlab.Kernel(HANDS_OVER, "hands_over")
    x, out, rounds = np.ones(32 * 7, np.float32), np.zeros(32, np.float32), np.int32(7)
    sampled = sample_launch(kernel, 1, 64, (x, out, rounds), 0, "H200")
    first, second = sampled.streams
    named = [stream.barriers[stream.barriers >= 0].tolist() for stream in (first, second)]
    if not first.barriers.size:
        pytest.fail("the compiler put no number into a register")
    assert sorted(named[0]) == sorted([1, 2, 1, 2, 1, 2, 1, *(3 + k % 2 for k in range(2, 7))])
    assert sorted(named[1]) == sorted([1, 2, 1, 2, 1, 2, 1, *(3 + k % 2 for k in range(5))])


def test_a_longer_hand_over_takes_longer() -> None:
    kernel = softlab.Kernel(HANDS_OVER, "hands_over")
    spent = []
    for rounds in (8, 64):
        arguments = (np.ones(32 * rounds, np.float32), np.zeros(32, np.float32), np.int32(rounds))
        spent.append(kernel.estimate(1, 64, arguments, cache="warm").microseconds)
    assert spent[0] < spent[1] < 20 * spent[0]


def test_a_model_that_stands_still_says_so() -> None:
    run = SmRun.__new__(SmRun)
    run.complete, run.progress, run.issued = False, [], 5

    class Sample:
        blocks, per_sm, resident = (0,), 1, 1

    with pytest.raises(Error, match="stands still after 5 of 100 instructions"):
        extrapolate(run, Sample(), 100.0)
