"""Loops that never end, planted in good kernels."""

from __future__ import annotations

from tests.faults.planted.record import Planted

INFINITE_LOOPS: tuple[Planted, ...] = (
    Planted(
        kind="infinite-loop",
        name="a step of zero",
        kernel="scale and add",
        old="i += gridDim.x * blockDim.x",
        new="i += gridDim.y - 1",
        line="i += gridDim.y - 1",
        last_line="y[i] += a * x[i]",
    ),
    Planted(
        kind="infinite-loop",
        name="the half that does not shrink",
        kernel="search",
        old="low = middle + 1",
        new="low = middle",
        line="while (low < high)",
        last_line="high = middle;",
    ),
    Planted(
        kind="infinite-loop",
        name="a lock that nobody opens",
        kernel="sum under a lock",
        old="    atomicExch(lock, 0);\n",
        new="",
        line="while (atomicCAS(lock, 0, 1) != 0)",
        last_line="while (atomicCAS(lock, 0, 1) != 0)",
    ),
    Planted(
        kind="infinite-loop",
        name="a flag that nobody raises",
        kernel="flag in shared memory",
        old="    ready = 1;\n",
        new="",
        line="while (ready == 0)",
        last_line="while (ready == 0)",
    ),
    Planted(
        kind="infinite-loop",
        name="the block never agrees",
        kernel="bubble sort",
        old="left > right",
        new="left >= right - 5000",
        line="while (moved)",
        last_line="moved = __syncthreads_or(moved)",
    ),
    Planted(
        kind="infinite-loop",
        name="rows that do not advance",
        kernel="uncached softmax",
        old="row += gridDim.x",
        new="row += 0",
        line="row += 0",
        last_line="output.template store",
    ),
)
