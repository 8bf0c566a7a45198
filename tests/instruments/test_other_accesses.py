"""Races of clusters, copies and early arrivals name the other access; an mbarrier is accessed by its instructions."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel
from tests.faults.planted.clusters import CLUSTERS
from tests.faults.planted.copies import COPIES
from tests.faults.planted.record import Planted
from tests.sampled import each


def _line(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


def _fault(planted: Planted) -> KernelFault:
    good = planted.good
    with pytest.raises(KernelFault) as caught:
        Kernel.from_program(planted.compile()).run(good.grid, good.block, good.arguments(), good.smem, record=False)
    return caught.value


@pytest.mark.parametrize(
    ("name", "other", "thread", "block", "symbol"),
    each(
        2,
        [
            (
                "a barrier of the block where the cluster must wait",
                "STORE(there, mine + 1);",
                63,
                (3, 0, 0),
                "part[127]",
            ),
            ("a message that is told before it is sent", "STORE(there, value);", 63, (1, 0, 0), "received[63]"),
            ("a row that is not waited for", "COPY_16(&row_of[0]", 63, (0, 0, 0), "row_of[255]"),
            ("copies of other threads behind no barrier", "COPY_16(&row_of[0]", 63, (0, 0, 0), "row_of[255]"),
            ("a bulk copy that is not waited for", "BULK_LOAD(row_of[0]", 0, (0, 0, 0), "row_of[255]"),
            ("results that change while they are copied", "BULK_STORE(y + row", 0, (0, 0, 0), "results[255]"),
            ("only the copying thread knows that all is read", "BULK_STORE(y + row", 0, (0, 0, 0), "results[254]"),
            ("results of other threads behind no barrier", "results[255 - col] = 2", 63, (0, 0, 0), "results[0]"),
        ],
    ),
)
def test_a_race_names_both_places(name, other, thread, block, symbol):
    planted = next(p for p in CLUSTERS + COPIES if p.name == name)
    fault = _fault(planted)
    assert fault.line in planted.lines
    assert fault.other_line == _line(planted.source, other)
    assert (fault.other_thread, fault.other_block, fault.symbol) == ((thread, 0, 0), block, symbol)


def test_two_lanes_of_one_instruction_name_each_other():
    source = """extern "C" __global__ void k(int* y) {
  __shared__ int all[8];
  all[threadIdx.x % 8] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = all[threadIdx.x % 8];
}"""
    with pytest.raises(KernelFault) as caught:
        Kernel(source, "k").run(1, 16, (np.zeros(16, np.int32),))
    fault = caught.value
    assert (fault.line, fault.other_line) == (3, 3)
    assert (fault.thread, fault.other_thread, fault.other_block) == ((0, 0, 0), (8, 0, 0), (0, 0, 0))
    assert fault.symbol == "all[0]"


_ARRIVE = """extern "C" __global__ void k(const int* x, int* y, int late) {
  __shared__ int box[32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    if (!late) box[lane] = x[lane];
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    if (late) box[lane] = x[lane];
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    y[lane] = box[31 - lane];
  }
}"""


@pytest.mark.parametrize("order", [(0, 1), (1, 0), None])
def test_a_store_after_an_arrival_is_a_race(order):
    kernel, x, y = Kernel(_ARRIVE, "k"), np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    kernel.run(2, 64, (x, y, 0), warp_order=order)
    with pytest.raises(KernelFault) as caught:
        kernel.run(1, 64, (x, y, 1), warp_order=order)
    fault = caught.value
    if order == (1, 0):  # the load comes first, and reads what nobody wrote
        assert fault.kind in ("race", "uninitialized-shared")
        return
    assert (fault.kind, {fault.line, fault.other_line}) == ("race", {7, 10})
    assert fault.symbol is not None


@pytest.mark.parametrize("first", [0, 32])
@pytest.mark.parametrize("order", [(0, 1), (1, 0), None])
def test_one_thread_of_either_warp_stores_after_its_arrival(order, first):
    source = _ARRIVE.replace("threadIdx.x < 32", f"threadIdx.x / 32 == {first // 32}")
    source = source.replace("(late)", "(late && lane == 5)").replace("(!late) box", "(0) box")
    source = source.replace("x % 32;", "x % 32; if (threadIdx.x < 32) box[lane] = x[lane]; __syncthreads();")
    with pytest.raises(KernelFault) as caught:
        Kernel(source, "k").run(1, 64, (np.arange(32, dtype=np.int32), np.zeros(32, np.int32), 1), warp_order=order)
    fault = caught.value
    assert (fault.kind, {fault.line, fault.other_line}) == ("race", {7, 10})
    assert {fault.thread[0], fault.other_thread[0]} == {first + 5, 32 - first + 26}


def test_accesses_between_an_arrival_and_the_next_barrier_of_all_are_ordered_by_that_one():
    source = _ARRIVE.replace(
        "    y[lane] = box[31 - lane];\n  }", "  }\n  __syncthreads();\n  y[lane] = box[31 - lane];"
    )
    run = Kernel(source, "k").run(2, 64, (np.arange(32, dtype=np.int32), np.zeros(32, np.int32), 1), check="collect")
    assert [f for f in run.findings if f.severity == "error"] == []


_MBARRIER = """__device__ unsigned at(const void* p) { return __cvta_generic_to_shared(p); }
extern "C" __global__ void k(unsigned long long* y, int what) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(at(&bar)) : "memory");
  __syncthreads();
  if (what == 1 && threadIdx.x == 3) bar = 0;
  if (what == 2 && threadIdx.x == 4) y[0] = bar;
  if (what == 3 && threadIdx.x == 5) atomicAdd(&bar, 1ull);
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(at(&bar)) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(at(&bar)) : "memory");
    bar = 5;
    y[1] = bar;
  }
}"""


def test_an_mbarrier_in_use_is_not_accessed_by_other_instructions():
    kernel, y = Kernel(_MBARRIER, "k"), np.zeros(2, np.uint64)
    assert kernel.run(1, 32, (y, 0), check="collect").findings == ()
    assert y[1] == 5
    for what, line, thread, verb in ((1, 6, 3, "overwrites"), (2, 7, 4, "reads"), (3, 8, 5, "changes")):
        with pytest.raises(KernelFault, match=f"{verb} an mbarrier that is in use") as caught:
            kernel.run(1, 32, (y, what))
        fault = caught.value
        assert (fault.kind, fault.line, fault.thread) == ("mbarrier-misuse", line, (thread, 0, 0))
        assert fault.symbol == "bar"
