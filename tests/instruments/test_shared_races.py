"""Races in shared memory name both accesses and the variable; groups of lanes are ordered by their own masks."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel

HEAD = (
    'extern "C" __global__ void k(int* out) { int t = threadIdx.x, g = t % 32 / 8 * 8; __shared__ int tile[64], one;\n'
)


def run(body: str, block: int) -> None:
    Kernel(f"{HEAD}{body}\n}}", "k").run(1, block, (np.zeros(64, np.int32),))


@pytest.mark.parametrize(
    ("block", "body", "line", "thread", "other_line", "other_thread", "symbol"),
    [
        (64, "tile[t] = t;\nout[t] = tile[63 - t];", 3, 0, 2, 63, "tile[63]"),
        (64, "tile[t] = t; __syncthreads();\nint v = tile[5];\nif (t == 40) tile[5] = 7;\nout[t] = v;",
         4, 40, 3, 63, "tile[5]"),
        (64, "if (t == 0) one = 0; __syncthreads();\natomicAdd(&one, t);\nout[t] = one;", 4, 0, 3, 63, "one"),
        (32, "tile[t] = t;\n__syncwarp(0xffu << g);\nout[t] = tile[31 - t];", 4, 0, 2, 31, "tile[31]"),
        (32, "tile[t] = t; __syncwarp();\nint v = tile[5];\n__syncwarp(0xffu << g);\nif (t == 3) tile[5] = 7;\n"
             "if (t > 3) out[t] = v;", 5, 3, 3, 31, "tile[5]"),
    ],
)  # fmt: skip
def test_both_accesses(
    block: int, body: str, line: int, thread: int, other_line: int, other_thread: int, symbol: str
) -> None:
    with pytest.raises(KernelFault) as caught:
        run(body, block)
    fault = caught.value
    assert fault.kind == "race"
    assert (fault.line, fault.thread, fault.block) == (line, (thread, 0, 0), (0, 0, 0))
    assert (fault.other_line, fault.other_block, fault.symbol) == (other_line, (0, 0, 0), symbol)
    assert fault.other_thread == (other_thread, 0, 0)


@pytest.mark.parametrize(
    "body",
    [
        "tile[t] = t;\n__syncwarp(0xffu << g);\nout[t] = tile[t ^ 7];",
        "tile[t] = t;\n__syncwarp(0xfu << (t / 4 * 4));\n__syncwarp(0xffu << g);\nout[t] = tile[t ^ 7];",
        "tile[t] = t;\n__syncwarp(0xffffu << (t / 16 * 16));\n__syncwarp();\nout[t] = tile[31 - t];",
        "tile[t] = t; __syncwarp(0xffu << g);\nint v = tile[g];\n__syncwarp(0xffu << g);\ntile[g + 7 - t % 8] = v;\n"
        "__syncwarp(0xffu << g);\nout[t] = tile[t];",
    ],
)
def test_groups_of_lanes_that_synchronise(body: str) -> None:
    run(body, 32)


_LOCK = """extern "C" __global__ void k(int* y) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) { lock = 0; sum = 0; }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicExch(&lock, 1)) { }
    __threadfence_block();
    sum += 1;
    FENCE
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) y[0] = sum;
}"""


def test_a_lock_that_is_taken_by_an_exchange_orders_its_holders():
    y = np.zeros(1, np.int32)
    good, bad = (Kernel(_LOCK.replace("FENCE", fence), "k") for fence in ("__threadfence_block();", ""))
    assert good.run(1, 128, (y,), check="collect").findings == ()
    assert y[0] == 4
    found = bad.run(1, 128, (y,), check="collect").findings
    assert {(finding.kind, finding.symbol) for finding in found} == {("race", "sum")}


_LAST_WARP = """extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int parts[4]; __shared__ unsigned arrived;
  int t = threadIdx.x, warp = t / 32;
  if (t == 0) arrived = 0;
  __syncthreads();
  if (t % 32) return;
  parts[warp] = x[warp];
  __threadfence_block();
  if (atomicAdd(&arrived, 1) == 3) {
    __threadfence_block();
    y[0] = parts[0] + parts[1] + parts[2] + parts[3];
  }
}"""


@pytest.mark.parametrize("order", [None, (3, 2, 1, 0), (2, 0, 3, 1)])
def test_the_last_warp_reads_what_the_others_wrote_before_the_same_atomic(order: tuple[int, ...] | None) -> None:
    x, y = np.arange(4, dtype=np.int32) + 7, np.zeros(1, np.int32)
    assert Kernel(_LAST_WARP, "k").run(1, 128, (x, y), warp_order=order).findings == ()
    assert y[0] == x.sum()


@pytest.mark.parametrize("changed", ["if (atomicAdd(&arrived, 1) == 0) {", "if (atomicAdd(&arrived, 1) < 4) {"])
def test_any_other_warp_may_not_read_it(changed: str) -> None:
    source = _LAST_WARP.replace("if (atomicAdd(&arrived, 1) == 3) {", changed)
    with pytest.raises(KernelFault) as caught:
        Kernel(source, "k").run(1, 128, (np.zeros(4, np.int32), np.zeros(1, np.int32)))
    assert (caught.value.kind, caught.value.line) == ("race", 11)


@pytest.mark.parametrize("warp_fences", [1200, 2500])
def test_many_fences_between_two_accesses(warp_fences: int) -> None:
    body = f"tile[t] = t;\nfor (int i = 0; i < {warp_fences}; ++i) {{ __syncwarp(); }}\nout[t] = tile[63 - t];"
    with pytest.raises(KernelFault) as caught:
        run(body, 64)
    assert (caught.value.kind, caught.value.other_line) == ("race", 2)
