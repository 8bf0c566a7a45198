"""Faults planted in barriers and warp-wide instructions: some threads or lanes do not come to them."""

from __future__ import annotations

from tests.faults.planted.record import Planted

DIVERGENCE: tuple[Planted, ...] = (
    # Barriers in divergent code
    Planted(
        kind="barrier-divergence",
        name="in a branch of the loop",
        kernel="sequential reduction",
        old="if (thread < stride) partial[thread] += partial[thread + stride];\n      __syncthreads();",
        new="if (thread < stride) {\n        partial[thread] += partial[thread + stride];\n        __syncthreads();\n"
        "      }\n      //",
        line="        __syncthreads();",
    ),
    Planted(
        kind="barrier-divergence",
        name="a loop of each thread's own length",
        kernel="reverse tiles",
        old="int start = blockIdx.x * 96; start < n;",
        new="int start = blockIdx.x * 96; start + threadIdx.x < n;",
        line="__syncthreads();  // all have written",
    ),
    Planted(
        kind="barrier-divergence",
        name="in the first row of threads",
        kernel="column sums",
        old="    sum[threadIdx.x] = total;\n  }\n  __syncthreads();",
        new="    sum[threadIdx.x] = total;\n    __syncthreads();  // here\n  }",
        line="__syncthreads();  // here",
    ),
    Planted(
        kind="barrier-divergence",
        name="one barrier for each half",
        kernel="two halves",
        old="  if (thread < 64) {\n    squares[thread] = x[thread] * x[thread];\n  } else {",
        new="  if (thread < 64) {\n    squares[thread] = x[thread] * x[thread];\n"
        "    __syncthreads();  // here\n    __threadfence_block();\n    y[thread] = 0;\n  } else {",
        line="__syncthreads();  // here",
    ),
    Planted(
        kind="barrier-divergence",
        name="a reduction in a branch, in a header",
        kernel="shared softmax",
        old="const Compute row_max = block_all_reduce<Max, block_size>(thread_max);",
        new="Compute row_max = 0;\n"
        "    if (threadIdx.x < 100) { row_max = block_all_reduce<Max, block_size>(thread_max); }",
        line="row_max = block_all_reduce<Max, block_size>(thread_max); }",
    ),
    Planted(
        kind="barrier-divergence",
        name="threads leave between two barriers",
        kernel="prefix sum",
        old="    __syncthreads();\n    sums[thread] += value;",
        new="    if (thread == 40 && distance == 4) {\n      y[0] = 1;\n      break;\n    }\n"
        "    __syncthreads();  // here\n"
        "    sums[thread] += value;",
        line="__syncthreads();  // here",
    ),
    # Warp-wide instructions without all their lanes
    Planted(
        kind="inactive-lane",
        name="in a branch, all lanes named",
        kernel="shuffle reduction",
        old="    if (thread < 32) {",
        new="    if (thread < 16) {",
        line="__shfl_xor_sync(0xffffffffu",
    ),
    Planted(
        kind="inactive-lane",
        name="lanes that have left",
        kernel="sum with a mask",
        old="unsigned int left = mask",
        new="unsigned int left = ~0u",
        line="__shfl_sync(mask, x[i]",
        thread=(64, 0, 0),
        block=(3, 0, 0),
    ),
    Planted(
        kind="inactive-lane",
        name="the other half's mask",
        kernel="reverse halves",
        old="-__shfl_xor_sync(0xffff0000, value, 15)",
        new="-__shfl_xor_sync(0x0000ffff, value, 15)",
        line="-__shfl_xor_sync(0x0000ffff",
    ),
    Planted(
        kind="inactive-lane",
        name="a distance into the other half",
        kernel="reverse halves",
        old="value = __shfl_xor_sync(0x0000ffff, value, 15)",
        new="value = __shfl_xor_sync(0x0000ffff, value, 16)",
        line="value = __shfl_xor_sync(0x0000ffff, value, 16)",
    ),
    Planted(
        kind="inactive-lane",
        name="a group that is not all there, in a header",
        kernel="sums of groups",
        old="group_all_reduce<Sum, 8>(value, lanes)",
        new="group_all_reduce<Sum, 16>(value, lanes)",
        line="group_all_reduce<Sum, 16>",
    ),
    Planted(
        kind="inactive-lane",
        name="a vote in a branch",
        kernel="count odd",
        old="__popc(__ballot_sync(mask, true))",
        new="__popc(__ballot_sync(0xffffffff, true))",
        line="__ballot_sync(0xffffffff, true)",
    ),
    Planted(
        kind="inactive-lane",
        name="turns of each lane's own number",
        kernel="maximum of rows",
        old="    most = fmaxf(most, x[(blockIdx.x * blockDim.y + threadIdx.y) * columns + column]);\n  }",
        new="    most = fmaxf(most, x[(blockIdx.x * blockDim.y + threadIdx.y) * columns + column]);\n"
        "    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));\n  }",
        line="__shfl_xor_sync(0xffffffff, most, 1)",
    ),
)
