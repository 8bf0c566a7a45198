from __future__ import annotations

from tests.course.answers import Answers, kernel

STARTED = """
extern "C" __global__ void copy(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i];
}
"""
#: Each thread its own four numbers, one by one.
FOUR_NEIGHBOURS = """
extern "C" __global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 4; ++k) if (4 * i + k < n) y[4 * i + k] = x[4 * i + k];
}
"""
SCALAR_STORES = (
    "reinterpret_cast<float4*>(y)[i] = reinterpret_cast<const float4*>(x)[i];",
    "float4 v = reinterpret_cast<const float4*>(x)[i];\n"
    "    y[4 * i] = v.x; y[4 * i + 1] = v.y; y[4 * i + 2] = v.z; y[4 * i + 3] = v.w;",
)
STARTED_HALVES = """
#include <cuda_fp16.h>
extern "C" __global__ void add(const __half* a, const __half* b, __half* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}
"""
PAIRS = """
#include <cuda_fp16.h>
extern "C" __global__ void add(const __half* a, const __half* b, __half* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += gridDim.x * blockDim.x)
    reinterpret_cast<__half2*>(c)[i] =
        __hadd2(reinterpret_cast<const __half2*>(a)[i], reinterpret_cast<const __half2*>(b)[i]);
}
"""


def copy(*edits: tuple[str, str]) -> str:
    return kernel("02-copy-in-packs", *edits)


def add(*edits: tuple[str, str]) -> str:
    return kernel("02-add-halves", *edits)


LOAD = "reinterpret_cast<const float4*>(x)[i]"

ANSWERS = (
    Answers(
        "02-how-many-loads",
        right=(8,),
        wrong=((250, "32 lanes load a pack each"), (7, "896"), (32, "packs of 1"), (63, "sectors"), (9, "32 packs")),
    ),
    Answers(
        "02-one-sector-more",
        right=(17,),
        wrong=(
            (16, "16 bytes later"),
            (18, "between them"),
            (32, "Two lanes"),
            (9, "packs of 8"),
            (5, "4 bytes per lane"),
        ),
    ),
    Answers(
        "02-rows-that-begin-right",
        right=(1008,),
        wrong=((1000, "no multiple of 32"), (1024, "smaller"), (1004, "2008"), (1016, "16 halves")),
    ),
    Answers(
        "02-copy-in-packs",
        right=(
            copy(),
            copy(("if (i < n / 4) {", "if (i >= n / 4) return;\n  {")),
            copy((LOAD, "*(const float4*)(x + 4 * i)")),
        ),
        wrong=(
            (STARTED, "with n = 1024, 32 global load requests, 8 possible, most on line 3"),
            (FOUR_NEIGHBOURS, "32 global load requests, 8 possible"),
            (copy(SCALAR_STORES), "32 global store requests, 8 possible"),
            (copy(("i < n / 4", "i < n")), "4000 elements are 1000 packs"),
            (copy((LOAD, "*(const float4*)(x + i)")), "misaligned on line 4"),
            (copy(("i < n / 4", "i < n / 4 - 1")), "y[1020] is nan (not written?)"),
            (copy(("blockIdx.x * blockDim.x + ", "")), "with n = 4000, y[1024] is nan (not written?)"),
            (copy(("float4*>(y)", "float2*>(y)")), "does not compile. Line 4"),
        ),
    ),
    Answers(
        "02-add-halves",
        right=(add(), add(("for (int k", "#pragma unroll\n    for (int k"))),
        wrong=(
            (STARTED_HALVES, "global load requests, 16 possible"),
            (PAIRS, "64 global load requests, 16 possible"),
            (add(("i < n / 8", "i < n / 4")), "global-out-of-bounds on line 8"),
            (add(("k < 8; ++k", "k < 4; ++k")), "c[4] is"),
            (add(("reinterpret_cast<const uint4*>(b)", "reinterpret_cast<const uint4*>(a)")), "c[0] is"),
            (
                add(
                    ("    reinterpret_cast<uint4*>(c)[i] = sum.word;\n", ""),
                    ("sum.elem[k] = ", "c[8 * i + k] = "),
                ),
                "64 global store requests, 8 possible",
            ),
        ),
    ),
)
