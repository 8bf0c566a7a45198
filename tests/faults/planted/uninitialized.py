"""Faults planted in kernels that use shared memory: reads of words that nobody wrote."""

from __future__ import annotations

from tests.faults.planted.record import Planted

UNINITIALIZED: tuple[Planted, ...] = (
    Planted(
        kind="uninitialized-shared",
        name="part of the halo",
        kernel="stencil",
        old="if (threadIdx.x < kRadius) {",
        new="if (threadIdx.x < kRadius - 1) {",
        line="sum += window",
        thread=(2, 0, 0),
        block=(0, 0, 0),
        address=8,
    ),
    Planted(
        kind="uninitialized-shared",
        name="counters",
        kernel="histogram",
        old="  bins[threadIdx.x] = 0;\n",
        new="",
        line="&bins[in[k]]",
    ),
    Planted(
        kind="uninitialized-shared",
        name="the block's rest",
        kernel="sum of any block",
        old="partial[blockDim.x + thread] = 0.0f;",
        new="",
        line="partial[thread] += partial[thread + stride]",
        thread=(36, 0, 0),
        block=(0, 0, 0),
        address=400,
    ),
    Planted(
        kind="uninitialized-shared",
        name="every second row",
        kernel="transpose",
        old="row += 8) {\n    tile",
        new="row += 16) {\n    tile",
        line="tile[at(threadIdx.x, row)]",
    ),
    Planted(
        kind="uninitialized-shared",
        name="the first buffer",
        kernel="two buffers",
        old="  buffer[0][thread] = x[thread];\n",
        new="",
        line="sum += buffer[now][63 - thread]",
    ),
    Planted(
        kind="uninitialized-shared",
        name="a quarter of the bytes",
        kernel="swap bytes",
        old="k < 4; ++k) {\n    bytes",
        new="k < 3; ++k) {\n    bytes",
        line="word = words[95 - thread]",
        thread=(0, 0, 0),
        block=(0, 0, 0),
    ),
    Planted(
        kind="uninitialized-shared",
        name="the last mean",
        kernel="subtract row mean",
        old="if (thread < 16) {",
        new="if (thread < 15) {",
        line="- mean[row]",
        thread=(0, 3, 0),
        block=(0, 0, 0),
    ),
    Planted(
        kind="uninitialized-shared",
        name="a member of a structure",
        kernel="pass structures",
        old="bodies[thread] = in[blockIdx.x * 48 + thread];",
        new="bodies[thread].mass = in[blockIdx.x * 48 + thread].mass;",
        line="Body body = bodies",
    ),
)
