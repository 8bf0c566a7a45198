"""Lanes of a warp that access a word by one atomic instruction do so one after the other: the later ones follow."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel

_SOURCE = """
extern "C" __global__ void second_reads_both(const int* x, int* s, int* visits, int* y) {
  int t = threadIdx.x;
  s[t] = x[t];
  FENCE;
  if (atomicAdd(&visits[t / 2], 1) == 1) {
    FENCE;
    y[t / 2] = s[t] + s[t ^ 1];
  }
}
extern "C" __global__ void both_read_both(const int* x, int* s, int* visits, int* y) {
  int t = threadIdx.x;
  s[t] = x[t];
  FENCE;
  atomicAdd(&visits[t / 2], 1);
  FENCE;
  y[t / 2] = s[t] + s[t ^ 1];
}
extern "C" __global__ void second_writes_what_the_first_read(int* s, int* visits, int* y) {
  int t = threadIdx.x;
  y[t] = s[t ^ 1];
  FENCE;
  if (atomicAdd(&visits[t / 2], 1) == 1) {
    FENCE;
    s[t] = s[t ^ 1] = 0;
  }
}
extern "C" __global__ void others_visit_another_word(const int* x, int* s, int* visits, int* y) {
  int t = threadIdx.x;
  s[t] = x[t];
  FENCE;
  if (atomicAdd(&visits[t / 2], 1) == 1) {
    FENCE;
    y[t / 2] = s[t] + s[(t + 2) % 64];
  }
}
"""


def _races(kernel: str, arrays: int, fence: str = "__threadfence()") -> set[tuple[int | None, int | None]]:
    arguments = [np.arange(64, dtype=np.int32) if n == 0 else np.zeros(64, np.int32) for n in range(arrays)]
    run = Kernel(_SOURCE.replace("FENCE", fence), kernel).run(1, 64, arguments, check="collect", record=False)
    return {(f.line, f.other_line) for f in run.findings}


@pytest.mark.parametrize("fence", ["__threadfence()", "__threadfence_block()"])
def test_the_second_follows_the_first(fence: str) -> None:
    assert _races("second_reads_both", 4, fence) == set()
    assert _races("second_writes_what_the_first_read", 3, fence) == set()


def test_without_a_fence_it_does_not() -> None:
    assert _races("second_reads_both", 4, "") == {(8, 4)}


def test_the_first_does_not_follow_the_second() -> None:
    assert (17, 13) in _races("both_read_both", 4)


def test_lanes_that_access_other_words_do_not_follow() -> None:
    assert (34, 30) in _races("others_visit_another_word", 4)
