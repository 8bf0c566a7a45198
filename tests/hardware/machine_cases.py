"""Launches for the counters of atomics and of executed machine instructions, unlike those of the gallery."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from softlab.dtypes import element_type
from softlab.plans import Plan, forced, plan
from tests.hardware.cases import CounterCase, _launched, _softmax

THREADS = 384
_GRID, _BLOCK = (3,), (128,)
_DTYPES = {
    "int": np.int32,
    "float": np.float32,
    "double": np.float64,
    "unsigned long long": np.uint64,
    "__half2": np.dtype("2f2"),
}


def _patterns() -> dict[str, np.ndarray]:
    """Name -> the element that each thread accesses."""
    thread = np.arange(THREADS)
    lane = thread % 32
    return {
        "one address": np.zeros(THREADS),
        "an address per warp": thread // 32,
        "neighbours": lane,
        "pairs": lane // 2,
        "fours": lane % 8,
        "stride 8": 8 * lane,
        "one bank": 32 * lane % 1024,
        "two in a bank": lane % 16 + 32 * (lane // 16),
        "random of 7": np.random.default_rng(3).integers(0, 7, THREADS),
        "random of 500": np.random.default_rng(4).integers(0, 500, THREADS),
    }


PATTERNS = {name: pattern.astype(np.int32) for name, pattern in _patterns().items()}


def _values(kind: str) -> np.ndarray:
    values = np.random.default_rng(9).integers(1, 1000, THREADS)
    if kind == "__half2":
        return (np.stack([values, values], axis=1) / 64).astype(np.float16)
    return values.astype(_DTYPES[kind])


def _atomic_arguments(pattern: str, kind: str, *arrays: int) -> Callable[[], list]:
    """Arguments (where, values, arrays of so many elements)."""
    shape = (2,) if kind == "__half2" else ()
    dtype = np.float16 if kind == "__half2" else _DTYPES[kind]
    return lambda: [PATTERNS[pattern], _values(kind), *(np.zeros((n, *shape), dtype) for n in arrays)]


@dataclass(frozen=True)
class _Atomic:
    """Kernels ``name`` with an operation and a type, and the patterns that they run with."""

    name: str
    operation: str
    kind: str
    patterns: tuple[str, ...]
    arrays: tuple[int, ...]

    @property
    def kernel(self) -> str:
        return f"{self.name}<Op::{self.operation}, {self.kind}>"

    def cases(self) -> list[CounterCase]:
        """A launch per pattern."""
        return [
            _launched(
                f"{self.name.replace('_', ' ')} {self.operation} {self.kind} {pattern}",
                "atomics.cu",
                self.kernel,
                _GRID,
                _BLOCK,
                _atomic_arguments(pattern, self.kind, *self.arrays),
                together=tuple(atomic.kernel for atomic in _ATOMICS),
            )
            for pattern in self.patterns
        ]


_ALL = tuple(PATTERNS)
_FEW = ("one address", "neighbours", "one bank", "random of 7", "random of 500")
_SHARED = (THREADS,)
_ATOMICS = (
    _Atomic("shared_atomic", "add_one", "int", _ALL, _SHARED),
    _Atomic("shared_atomic", "add", "int", _ALL, _SHARED),
    _Atomic("shared_atomic", "max", "int", _FEW, _SHARED),
    _Atomic("shared_atomic", "exchange", "int", _FEW, _SHARED),
    _Atomic("shared_atomic", "compare_and_swap", "int", _FEW, _SHARED),
    _Atomic("shared_atomic_result", "add_one", "int", _FEW, _SHARED),
    _Atomic("shared_atomic_result", "add", "int", _FEW, _SHARED),
    _Atomic("shared_atomic", "add", "float", (*_FEW, "pairs", "fours"), _SHARED),
    _Atomic("shared_atomic", "add", "double", _FEW, _SHARED),
    _Atomic("shared_atomic", "add", "unsigned long long", _FEW, _SHARED),
    _Atomic("shared_atomic", "exchange", "unsigned long long", _FEW, _SHARED),
    _Atomic("global_atomic", "add", "int", _ALL, (1024,)),
    _Atomic("global_atomic", "add", "float", _FEW, (1024,)),
    _Atomic("global_atomic", "add", "double", _FEW, (1024,)),
    _Atomic("global_atomic", "add", "__half2", _FEW, (1024,)),
    _Atomic("global_atomic", "max", "unsigned long long", _FEW, (1024,)),
    _Atomic("global_atomic", "exchange", "int", _FEW, (1024,)),
    _Atomic("global_atomic", "compare_and_swap", "int", _FEW, (1024,)),
    _Atomic("global_atomic_result", "add", "int", _ALL, (1024, THREADS)),
    _Atomic("global_atomic_result", "add", "float", _FEW, (1024, THREADS)),
    _Atomic("global_atomic_result", "exchange", "unsigned long long", _FEW, (1024, THREADS)),
)


def _integers(*sizes: int, scalars: tuple[int, ...] = ()) -> list:
    values = np.random.default_rng(12).integers(0, 1000, THREADS).astype(np.int32)
    return [values, *(np.zeros(n, np.int32) for n in sizes), *(np.int32(s) for s in scalars)]


def _floats(n: int, *sizes: int, scalars: tuple[int, ...] = ()) -> list:
    values = np.random.default_rng(13).standard_normal(n).astype(np.float32)
    return [values, *(np.zeros(size, np.float32) for size in sizes), *(np.int32(s) for s in scalars)]


def _lone_atomics() -> list[CounterCase]:
    def case(kernel: str, arguments: Callable[[], list], name: str = "") -> CounterCase:
        return _launched(name or kernel.replace("_", " "), "atomics.cu", kernel, _GRID, _BLOCK, arguments)

    def float_max() -> list:
        return [PATTERNS["neighbours"], np.arange(THREADS, dtype=np.float32), np.zeros(1024, np.float32)]

    def last() -> list:
        return [_floats(THREADS)[0], np.zeros(3, np.float32), np.zeros(1, np.uint32), np.zeros(1, np.float32)]

    def generic(flag: int) -> list:
        return [PATTERNS["neighbours"], np.zeros(1024 + THREADS, np.int32), np.int32(flag)]

    return [
        case("count_all", lambda: [np.zeros(1, np.int32)]),
        case("sum_all", partial(_integers, 1)),
        case("sum_all_floats", partial(_floats, THREADS, 1)),
        case("take_tickets", lambda: [np.zeros(1, np.int32), np.zeros(THREADS, np.int32)]),
        case("largest", partial(_integers, 1)),
        case("count_in_block", partial(_integers, 1)),
        case("aggregated_by_hand", partial(_integers, 1)),
        case("in_branches", partial(_integers, 32)),
        case("largest_float", float_max),
        case("histogram_global", partial(_integers, 64, scalars=(THREADS - 50,))),
        case("histogram_two_levels", partial(_integers, 64, scalars=(THREADS - 50,))),
        case("last_block", last),
        case("generic_atomic", partial(generic, 0), "generic atomic to global"),
        case("generic_atomic", partial(generic, 1), "generic atomic to shared"),
    ]


def _instructions() -> list[CounterCase]:
    def case(kernel: str, arguments: Callable[[], list], name: str = "", grid=_GRID, block=_BLOCK) -> CounterCase:
        return _launched(name or kernel.replace("_", " "), "instructions.cu", kernel, grid, block, arguments)

    def ints(kernel: str, *scalars: int) -> CounterCase:
        name = " ".join([kernel.replace("_", " "), *map(str, scalars)])
        return case(kernel, partial(_integers, THREADS, scalars=scalars), name)

    def product(n: int) -> CounterCase:
        def arguments() -> list:
            return [*(_floats(n * n)[0] for _ in range(2)), np.zeros(n * n, np.float32), np.int32(n)]

        return case("product_with_edges", arguments, f"product with edges {n}", (-(-n // 16),) * 2, (16, 16))

    def rows(kernel: str, columns: int) -> CounterCase:
        name = f"{kernel.replace('_', ' ')} {columns}"
        arguments = partial(_floats, THREADS * columns, THREADS * columns, scalars=(columns,))
        return case(kernel, arguments, name)

    return [
        ints("collatz"),
        *(ints("power_by_squaring", n) for n in (0, 1, 10, 1000)),
        *(case("polynomial", partial(_floats, THREADS, THREADS, scalars=(n,)), f"polynomial {n}") for n in (0, 3, 10)),
        *(ints("continue_and_break", n) for n in (0, 5, 40)),
        *(ints("nested_loops", *shape) for shape in ((0, 5), (3, 2), (4, 9), (2, 30))),
        *(
            case("grid_stride", partial(_floats, n, n, scalars=(n,)), f"grid stride {n}")
            for n in (100, 384, 1000, 5000)
        ),
        ints("odd_and_even_lanes"),
        ints("warps_apart"),
        ints("seven_cases"),
        *(
            case("guarded_edges", partial(_floats, THREADS, THREADS, scalars=(n,)), f"guarded edges {n}")
            for n in (100, 383)
        ),
        *(product(n) for n in (16, 40, 50)),
        *(
            case("sum_of_rows", partial(_floats, 3 * n, 3, scalars=(n,)), f"sum of rows {n}")
            for n in (7, 128, 1000)
        ),
        *(rows("softmax_plain", n) for n in (1, 5, 12)),
        *(rows("online_softmax", n) for n in (1, 6, 13)),
        ints("divisions", 6),
        case("functions", partial(_floats, THREADS, THREADS)),
        *(ints("calls", n) for n in (0, 7)),
        *(
            case(f"unrolled_by<{u}>", partial(_integers, THREADS, scalars=(n,)), f"unrolled by {u} {n}")
            for u in (1, 2, 8)
            for n in (0, 3, 21)
        ),
    ]  # fmt: skip


def _recorded_plan(rows: int, cols: int, dtype: str) -> Plan:
    """The block of many rows on few: what the plan took for them when the counters were recorded."""
    many = plan(5120, cols, dtype, policy="fast", device="H200")
    return replace(many, rows=rows, grid=math.ceil(rows * many.grid / many.rows))


def _recorded_cluster(rows: int, cols: int, dtype: str) -> Plan:
    """Clusters of 8 blocks of 256 threads, which the plan took when the counters were recorded."""
    name = f"fast_cluster<{element_type(dtype).cuda}, Algorithm::softmax, 4, 3, 256, 8, false>"
    return replace(plan(rows, cols, dtype, policy="fast", device="H200"), name=name, grid=rows * 8, block=(256, 1))


def _fast() -> list[CounterCase]:
    def case(make: Callable[..., Plan], rows: int, cols: int, dtype: str) -> CounterCase:
        return _softmax(f"fast softmax {dtype} {rows}x{cols}", partial(make, rows, cols, dtype), rows, cols, dtype)

    cases = [
        case(_recorded_plan, 33, 5, "float32"),
        case(_recorded_plan, 64, 100, "float16"),
        case(_recorded_plan, 40, 1024, "float32"),
        case(_recorded_plan, 16, 4096, "bfloat16"),
        case(_recorded_cluster, 4, 20000, "float32"),
    ]
    again = [
        _softmax(f"oneflow softmax {dtype} 9x2048", partial(plan, 9, 2048, dtype, device="H200"), 9, 2048, dtype)
        for dtype in ("float16", "float32")
    ]
    layout = partial(
        forced, 7, 1500, "float16",
        kernel="block_smem", pack_size=2, block_size=128, layout="column", device="H200",
    )  # fmt: skip
    return [*cases, *again, _softmax("oneflow softmax float16 7x1500 column", layout, 7, 1500, "float16")]


def machine_cases() -> list[CounterCase]:
    """Every case; names are unique."""
    atomics = [case for kernels in _ATOMICS for case in kernels.cases()]
    return [*atomics, *_lone_atomics(), *_instructions(), *_fast()]
