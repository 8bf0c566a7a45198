"""Launches that must be refused: arguments that do not fit the parameters, and shapes that no GPU takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from softlab.cuda.compile import Program, compile_program

_SCALE = 'extern "C" __global__ void scale(float* x, float a, int n) { if (threadIdx.x < n) x[threadIdx.x] *= a; }'
_COUNT = 'extern "C" __global__ void count(const int* x, long long limit, unsigned* y) { if (x[0] < limit) y[0] = 1; }'
_BOUNDED = 'extern "C" __global__ void __launch_bounds__(64) bounded(int* x) { x[threadIdx.x] = 1; }'
_STATIC = """extern "C" __global__ void shared(int* x) {
  __shared__ int s[10000];
  extern __shared__ int d[];
  s[threadIdx.x] = d[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[63 - threadIdx.x] + d[63 - threadIdx.x];
}"""
_CLUSTER = 'extern "C" __global__ void __cluster_dims__(4) cluster(int* x) { x[blockIdx.x] = 1; }'
_PLAIN = 'extern "C" __global__ void plain(int* x) { x[0] = 1; }'
#: More than 64 registers per thread: 128 values live at once.
_LARGE = """extern "C" __global__ void large(const float* x, float* y) {
  float v[128];
  #pragma unroll
  for (int i = 0; i < 128; ++i) v[i] = x[i * 1024 + threadIdx.x];
  __syncthreads();
  float sum = 0;
  #pragma unroll
  for (int i = 127; i >= 0; --i) sum = sum * v[i] + v[(i * 7) % 128];
  y[threadIdx.x] = sum;
}"""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A launch that must raise ``error`` with a message in which ``says`` (a regular expression) is found."""

    name: str
    family: str
    source: str
    kernel: str
    arguments: Callable[[], list]
    error: type[Exception]
    says: str
    grid: Any = 1
    block: Any = 64
    smem: int = 0
    cooperative: bool = False

    def compile(self) -> Program:
        """The program."""
        return _compiled(self.source, self.kernel)


@lru_cache(maxsize=16)
def _compiled(source: str, kernel: str) -> Program:
    return compile_program(source, kernel, arch="sm_90", file="refused.cu")


def _floats() -> np.ndarray:
    return np.ones(64, np.float32)


def _scale(name: str, error: type[Exception], says: str, arguments: Callable[[], list]) -> Refusal:
    return Refusal(
        name=name, family="arguments", source=_SCALE, kernel="scale", arguments=arguments, error=error, says=says
    )


def _count(name: str, error: type[Exception], says: str, arguments: Callable[[], list]) -> Refusal:
    return Refusal(
        name=name, family="arguments", source=_COUNT, kernel="count", arguments=arguments, error=error, says=says
    )


def _launch(name: str, source: str, kernel: str, says: str, **shape: Any) -> Refusal:
    fields: dict[str, Any] = {"arguments": lambda: [np.zeros(4096, np.int32)], "error": ValueError} | shape
    return Refusal(name=name, family="refused launches", source=source, kernel=kernel, says=says, **fields)


def _zeros(dtype: Any = np.int32, n: int = 64) -> np.ndarray:
    return np.zeros(n, dtype)


ARGUMENTS = (
    _scale("float64 for float*", TypeError, "float64", lambda: [np.ones(64), 2.0, 64]),
    _scale("float16 for float*", TypeError, "float16", lambda: [np.ones(64, np.float16), 2.0, 64]),
    _scale("int32 for float*", TypeError, "int32", lambda: [_zeros(), 2.0, 64]),
    _scale("a big-endian array", (TypeError, ValueError), "endian|byte order", lambda: [np.ones(64, ">f4"), 2.0, 64]),
    _scale("every second element", (TypeError, ValueError), "contiguous", lambda: [np.ones(128, "f4")[::2], 2.0, 64]),
    _scale("a list for an array", TypeError, "list", lambda: [[1.0, 2.0], 2.0, 2]),
    _scale("a string for a number", TypeError, "str", lambda: [_floats(), "2", 64]),
    _scale("one argument too few", TypeError, "takes 3", lambda: [_floats(), 2.0]),
    _scale("one argument too many", TypeError, "takes 3", lambda: [_floats(), 2.0, 64, 1]),
    _scale("arguments in the wrong order", TypeError, "argument", lambda: [2.0, _floats(), 64]),
    _scale("half a number for an int", TypeError, "2.5|float", lambda: [_floats(), 2.0, 2.5]),
    _scale("an integer that does not fit", ValueError, "1099511627776|range", lambda: [_floats(), 2.0, 2**40]),
    _scale("None for an int", TypeError, "None", lambda: [_floats(), 2.0, None]),
    _scale("an array for an int", TypeError, "array", lambda: [_floats(), 2.0, np.array([64])]),
    _scale("a double for a float", TypeError, "float64", lambda: [_floats(), np.float64(2), 64]),
    _count("int64 for int*", TypeError, "int64", lambda: [_zeros(np.int64), 5, _zeros(np.uint32)]),
    _count("bool for int*", TypeError, "bool", lambda: [_zeros(bool), 5, _zeros(np.uint32)]),
    _count("an array of one number for a long long", TypeError, "", lambda: [_zeros(), np.array(77), _zeros("u4")]),
    _count("complex numbers for int*", TypeError, "complex", lambda: [_zeros("c8"), 5, _zeros("u4")]),
    _count("a masked array", TypeError, "mask", lambda: [np.ma.masked_array(_zeros(), False), 5, _zeros("u4")]),
)
LAUNCHES = (
    _launch("a block of 1025 threads", _PLAIN, "plain", "1024", block=1025),
    _launch("32 x 33 threads", _PLAIN, "plain", "1024", block=(32, 33)),
    _launch("65 threads along z", _PLAIN, "plain", "64", block=(1, 1, 65)),
    _launch("a grid too high", _PLAIN, "plain", "65535|65,535", grid=(1, 65536)),
    _launch("no threads", _PLAIN, "plain", "block", block=0),
    _launch("a negative grid", _PLAIN, "plain", "grid", grid=-1),
    _launch("four dimensions", _PLAIN, "plain", "grid", grid=(1, 1, 1, 1)),
    _launch("half a block", _PLAIN, "plain", "grid", grid=2.5, error=(TypeError, ValueError)),
    _launch("more dynamic shared memory than there is", _PLAIN, "plain", "232448|227|shared", smem=232_449),
    _launch("static and dynamic shared memory together", _STATIC, "shared", "shared", smem=200_000),
    _launch("more threads than __launch_bounds__", _BOUNDED, "bounded", "64", block=65),
    _launch("a grid of no whole clusters", _CLUSTER, "cluster", "cluster", grid=6),
    _launch(
        "more registers than an SM has",
        _LARGE,
        "large",
        "register",
        block=1024,
        arguments=lambda: [np.zeros(131072, "f4"), np.zeros(1024, "f4")],
    ),
    _launch(
        "a cooperative grid that does not fit",
        _PLAIN,
        "plain",
        "cooperative|at once",
        grid=100_000,
        block=1024,
        cooperative=True,
        error=Exception,
    ),
)
REFUSALS = ARGUMENTS + LAUNCHES
