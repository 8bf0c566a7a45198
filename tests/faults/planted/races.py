"""Races planted in kernels that use shared memory."""

from __future__ import annotations

from tests.faults.planted.record import Planted

RACES: tuple[Planted, ...] = (
    Planted(
        kind="race",
        name="no barrier in the loop",
        kernel="sequential reduction",
        old="partial[thread + stride];\n      __syncthreads();",
        new="partial[thread + stride];",
        line="if (thread < stride) partial[thread] +=",
    ),
    Planted(
        kind="race",
        name="no barrier after loading",
        kernel="bitonic sort",
        old="threadIdx.x;\n  keys[thread] = in[blockIdx.x * 256 + thread];\n  __syncthreads();",
        new="threadIdx.x;\n  keys[thread] = in[blockIdx.x * 256 + thread];",
        line="const float other = keys[partner]",
    ),
    Planted(
        kind="race",
        name="the next tile too soon",
        kernel="matrix product",
        old="tile_b[k][threadIdx.x];\n    __syncthreads();",
        new="tile_b[k][threadIdx.x];",
        line="tile_a[threadIdx.y][threadIdx.x] = a",
    ),
    Planted(
        kind="race",
        name="no __syncwarp",
        kernel="turn in warps",
        old="    mine[lane] = value;\n    __syncwarp();",
        new="    mine[lane] = value;",
        line="value = mine[(lane + 1) % 32]",
    ),
    Planted(
        kind="race",
        name="__syncwarp for __syncthreads",
        kernel="subtract row mean",
        old="mean[thread] = sum / 32;\n  }\n  __syncthreads();",
        new="mean[thread] = sum / 32;\n  }\n  __syncwarp();",
        line="- mean[row]",
    ),
    Planted(
        kind="race",
        name="a tree without a barrier",
        kernel="Blelloch scan",
        old="    __syncthreads();\n    if (thread < pairs) tree",
        new="    if (thread < pairs) tree",
        line="if (thread < pairs) tree",
    ),
    Planted(
        kind="race",
        name="counting without atomics",
        kernel="histogram",
        old="atomicAdd(&bins[in[k]], 1u)",
        new="++bins[in[k]]",
        line="++bins[in[k]]",
    ),
    Planted(
        kind="race",
        name="an atomic against a plain write",
        kernel="classes",
        old="atomicMin(&least, x[i]);",
        new="if (x[i] < least) least = x[i];",
        line="x[i] < least",
    ),
    Planted(
        kind="race",
        name="one buffer for two",
        kernel="two buffers",
        old="buffer[1 - now][thread] = x",
        new="buffer[now][thread] = x",
        line="sum += buffer[now][63 - thread]",
    ),
    Planted(
        kind="race",
        name="a reduction without its barriers",
        kernel="shared softmax",
        old="block_all_reduce<Sum, block_size>(thread_sum)",
        new="thread_sum",
        line="shared.read(pack, values);",
    ),
    Planted(
        kind="race",
        name="bytes over words",
        kernel="swap bytes",
        old="words[95 - thread];\n  __syncthreads();",
        new="words[95 - thread];",
        line="words[thread] = __byte_perm",
    ),
    Planted(
        kind="race",
        name="in place, reads not over",
        kernel="prefix sum",
        old="    }\n    __syncthreads();\n    sums[thread] += value;",
        new="    }\n    sums[thread] += value;",
        line="sums[thread] += value",
    ),
)
