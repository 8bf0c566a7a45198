"""What the clinic says of a wrong fix: of a softmax from its numbers, of faults from the code between two lines."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.course.clinic.seen import Seen
from softlab.course.clinic.softmaxes import of_softmax
from softlab.course.code_lines import Code
from softlab.course.launch_cases import LaunchCase
from softlab.kernel import Kernel

X = np.random.default_rng(3).standard_normal((2, 64)).astype(np.float32)
WIDE = X.astype(np.float64)
POWERS = np.exp(WIDE - WIDE.max(axis=1, keepdims=True))
RIGHT = POWERS / POWERS.sum(axis=1, keepdims=True)
HALVES = POWERS.reshape(2, 2, 32)
LAST = np.maximum.accumulate(WIDE[:, ::-1], axis=1)[:, ::-1]


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (np.full((2, 64), 1 / 64), "come out as 0.01562"),
        (POWERS / HALVES[:, :1].sum(axis=2), "which is the sum of warp 0 alone"),
        (RIGHT / 4, "which is 4 times the sum"),
        ((HALVES / HALVES.sum(axis=2, keepdims=True)).reshape(2, 64), "each warp divides by the sum of its own powers"),
        ((HALVES / HALVES.max(axis=2, keepdims=True)).reshape(2, 64) / 9, "each warp subtracts the maximum of its own"),
        (np.exp(WIDE - LAST) / 9, "only lane 0 has the maximum"),
        (np.exp2(WIDE) / 9, "the exponent is 0.6931 times"),
        (np.zeros((2, 64)), "Row 0 is nothing but 0"),
    ],
)
def test_what_is_wrong_with_a_softmax(got, words):
    kernel = Kernel("__global__ void k(const float* x, float* y) {}", "k")
    launch = LaunchCase(1, 64, {"x": X, "y": np.zeros_like(X)}, {"y": RIGHT.astype(np.float32)}, relative=1e-5)
    assert words in of_softmax(Seen(kernel, launch, "y", got.astype(np.float32)))


CODE = Code("""__global__ void k(const float* x, int n) {
  int t = threadIdx.x, warp = t / 32;
  for (int first = 0; first < n; first += 64) {
    int i = first + t;
    if (i >= n) continue;
    __syncthreads();
  }
  for (int far = 16; far; far /= 2) __syncwarp();
  if (warp == 0) __syncthreads();
}""")


def test_which_branches_part_threads():
    """A loop that all threads go round alike parts nobody; a test of a value made from the thread's number does."""
    assert [CODE.parting(line) for line in (6, 8, 9)] == ["", "", "if (warp == 0)"]
    assert CODE.left(6) == (5, "if (i >= n)")
    assert (CODE.barriers, CODE.warp_barriers) == ((6, 9), (8,))
