"""What a launch reads as read-only data, nobody may write in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.instruments.global_shadow import TIME_SHIFT, Stamps
from softlab.instruments.promised_reads import PromisedReads
from softlab.kernel import Kernel

SOURCE = """extern "C" __global__ void again(const float* __restrict__ x, float* __restrict__ y) {
  int t = threadIdx.x;
  y[t] = 2 * x[t];
  y[t] += x[t];
}
extern "C" __global__ void shifted(const float* __restrict__ x, float* __restrict__ y) {
  float v = x[threadIdx.x + 1];
  __syncthreads();
  y[threadIdx.x] = v;
}
extern "C" __global__ void added(const float* __restrict__ x, float* y) {
  float v = x[threadIdx.x];
  __syncthreads();
  atomicAdd(y + threadIdx.x / 2, v);
}
extern "C" __global__ void halves(float* __restrict__ x, float* __restrict__ y) {
  double v = *(const double*)(x + 2 * threadIdx.x);
  __syncthreads();
  if (threadIdx.x < 4) *(short*)(y + 3 + threadIdx.x) = (short)v;
}
extern "C" __global__ void of_blocks(const float* __restrict__ x, float* y, unsigned* count) {
  float v = x[threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x) return;
  unsigned before = atomicAdd(count, 1);
  __threadfence();
  if (before == gridDim.x - 1) y[0] = v;
}"""


def found(kernel: str, arguments: list, grid: int = 1, *, compiled: str = "none") -> list[tuple]:
    """Severity, lines, name and count of what a launch finds."""
    options: Any = {"check": "collect", "record": False, "compiled": compiled}
    findings = Kernel(SOURCE, kernel).run(grid, 64, arguments, **options).findings
    assert {f.kind for f in findings} <= {"restrict-alias"}
    return [(f.severity, f.line, f.other_line, f.symbol, f.count) for f in findings]


def floats() -> np.ndarray:
    """Numbers from 0 on."""
    return np.arange(256, dtype=np.float32)


@pytest.mark.parametrize("compiled", ["none", "all"])
@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("again", [("warning", 4, 3, "x[0]", 64)]),
        ("shifted", [("error", 9, 7, "x[1]", 63)]),
        ("added", [("error", 14, 12, "x[0]", 63), ("warning", 14, 12, "x[0]", 1)]),
        ("halves", [("error", 19, 17, "x[3]", 2), ("warning", 19, 17, "x[5]", 2)]),
    ],
)
def test_one_array_for_a_read_only_parameter_and_a_written_one(kernel: str, expected: list, compiled: str) -> None:
    x = floats()
    assert found(kernel, [x, x], compiled=compiled) == expected


@pytest.mark.parametrize("kernel", ["again", "shifted", "added", "halves"])
def test_different_arrays_and_parts_of_one_are_free(kernel: str) -> None:
    x = floats()
    assert found(kernel, [x, floats()]) == []
    longer = np.concatenate((x, x))
    assert found(kernel, [longer[:256], longer[256:]]) == []


def test_a_warning_is_kept_where_errors_are_raised() -> None:
    """The kernel adds x once, not twice: without __restrict__ the last element would be 4 times 63."""
    x = floats()
    run = Kernel(SOURCE, "again").run(1, 64, [x, x], record=False)
    (finding,) = run.findings
    assert (finding.kind, finding.severity) == ("restrict-alias", "warning")
    assert "the thread writes x[0] (the same memory as y[0]), which it read as read-only data" in finding.message
    assert "leave __restrict__ and __ldg() out" in finding.message
    assert x[63] == 3 * 63


def test_what_another_block_read_is_not_written() -> None:
    x, count = floats(), np.zeros(1, np.uint32)
    kernel = Kernel(SOURCE, "of_blocks")
    with pytest.raises(KernelFault, match="which a thread of another block read as read-only data") as caught:
        kernel.run(3, 64, [x, x, count], record=False)
    fault = caught.value
    assert (fault.kind, fault.line, fault.other_line, fault.symbol) == ("restrict-alias", 28, 22, "x[0]")
    assert fault.block != fault.other_block
    assert kernel.run(3, 64, [x, floats(), count * 0], check="collect", record=False).findings == ()


def stamps(cells: list[int], lanes: list[int], time: int) -> Stamps:
    """An access of lanes to cells."""
    return Stamps(np.array(cells), np.array(lanes), time, 0)


def everything(time: np.ndarray, other: np.ndarray, mine: np.ndarray) -> np.ndarray:
    """All is ordered, but with lane 9 nothing."""
    return other != 9


def test_two_readers_of_a_cell_are_kept() -> None:
    reads = PromisedReads(8)
    reads.record(stamps([1, 2, 3, 3], [5, 6, 7, 8], 10), 10)
    reads.record(stamps([1, 1, 4], [5, 4, 9], 11), 10)
    own, others = reads.broken(stamps([1, 2, 3, 4, 5], [5, 6, 7, 7, 7], 12), 10, everything)
    assert own.position.tolist() == [1]
    assert (own.stamp >> TIME_SHIFT).tolist() == [10]
    assert others.position.tolist() == [0, 2]
    assert others.stamp.tolist() == [11 << TIME_SHIFT | 4, 10 << TIME_SHIFT | 8]


def test_the_lanes_of_an_earlier_batch_are_others() -> None:
    reads = PromisedReads(4)
    reads.record(stamps([0, 1], [0, 1], 3), 2)
    reads.record(stamps([1], [1], 6), 5)
    asked: list[int] = []

    def ordered(time: np.ndarray, other: np.ndarray, mine: np.ndarray) -> np.ndarray:
        asked.extend(other.tolist())
        return other < 0

    own, others = reads.broken(stamps([0, 1, 2], [0, 1, 2], 7), 5, ordered)
    assert (own.position.tolist(), others.position.tolist()) == ([], [0, 1])
    assert asked == [-1, -1]
