"""Good kernels, in which no fault must be found and in which faults are planted.

They are the kernels of ``kernels/``, its gallery, and ``tests/faults/kernels``, written as learners write them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from softlab.cuda.compile import Program, compile_program, kernel_folder, kernel_sources

ARCH = "sm_90"
_HERE = Path(__file__).parent / "kernels"


@dataclass(frozen=True)
class Good:
    """A kernel and how it is launched; ``arguments`` gives fresh arrays and scalars, always the same."""

    file: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: Callable[[], list]
    smem: int = 0

    @property
    def source(self) -> str:
        """The CUDA source."""
        if self.file in kernel_sources():
            return kernel_sources()[self.file]
        own = _HERE / self.file
        return (own if own.exists() else kernel_folder() / "gallery" / self.file).read_text()

    def compile(self, source: str | None = None) -> Program:
        """The program of this source, or of one with a fault in it."""
        return _compiled(source or self.source, self.kernel, self.file)


@lru_cache(maxsize=256)
def _compiled(source: str, kernel: str, file: str) -> Program:
    return compile_program(source, kernel, arch=ARCH, file=file)


def _floats(n: int, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(n).standard_normal(n).astype(dtype)


def _integers(n: int, high: int, dtype: type = np.int32) -> np.ndarray:
    return np.random.default_rng(n).integers(0, high, n).astype(dtype)


def _copy(read: int, written: int, *scalars: int, dtype: type = np.float32) -> Callable[[], list]:
    return lambda: [_floats(read, dtype), np.zeros(written, dtype), *(np.int32(s) for s in scalars)]


def _counts(read: int, written: int, high: int, *scalars: int, dtype: type = np.int32) -> Callable[[], list]:
    return lambda: [
        _integers(read, high, dtype),
        np.zeros(written, np.int32),
        *(np.int32(s) for s in scalars),
    ]


def _rows(rows: int, cols: int, dtype: type = np.float32) -> Callable[[], list]:
    return lambda: [_floats(rows * cols, dtype), np.zeros(rows * cols, dtype), np.int64(rows), np.int64(cols)]


def _product(right: int, result: int) -> Callable[[], list]:
    return lambda: [_floats(256, np.float16), _floats(right, np.float16), np.zeros(result, np.float32)]


def _structures(n: int) -> list:
    body = np.dtype([("xyz mass", "f4", 4), ("charge", "f8")])
    bodies = np.zeros(n, body)
    bodies["charge"] = np.arange(n)
    return [bodies, np.zeros_like(bodies)]


GOOD: dict[str, Good] = {
    "scale and add": Good(
        "global.cu",
        "scale_and_add",
        (4,),
        (128,),
        lambda: [_floats(1000), _floats(1000), np.float32(2), np.int32(1000)],
    ),
    "add matrices": Good(
        "global.cu",
        "add_matrices",
        (3, 3),
        (16, 8),
        lambda: [_floats(700, np.float64), _floats(700, np.float64), np.zeros(700), np.int32(20), np.int32(35)],
    ),
    "smooth": Good("global.cu", "smooth", (3,), (100,), _copy(277, 277, 277)),
    "copy by four": Good("global.cu", "copy_by_four", (2,), (48,), _copy(251, 251, 251)),
    "values of even keys": Good(
        "global.cu",
        "values_of_even_keys",
        (4,),
        (32,),
        lambda: [np.arange(256, dtype=np.int32).view(np.uint8), np.zeros(128, np.int32)],
    ),
    "reverse tuples": Good(
        "global.cu",
        "reverse_tuples<double, 3>",
        (2,),
        (40,),
        lambda: [_floats(219, np.float64), np.zeros(219), np.int32(73)],
    ),
    "search": Good(
        "global.cu",
        "search",
        (2,),
        (64,),
        lambda: [np.arange(0, 300, 3, dtype=np.int32), np.int32(100), _integers(128, 310), np.zeros(128, np.int32)],
    ),
    "sum of any block": Good("shared.cu", "sum_of_any_block", (4,), (100,), _copy(390, 4, 390), 512),
    "subtract row mean": Good("shared.cu", "subtract_row_mean", (3,), (32, 4), _copy(1536, 1536)),
    "two buffers": Good("shared.cu", "sums_with_two_buffers<5>", (1,), (64,), _copy(320, 64)),
    "two types": Good(
        "shared.cu",
        "two_types",
        (4,),
        (72,),
        lambda: [_floats(288, np.float64), _integers(72, 70, np.int16), np.zeros(288), np.int32(72)],
        720,
    ),
    "swap bytes": Good(
        "shared.cu", "swap_bytes", (2,), (96,), lambda: [_integers(192, 2**32, np.uint32), np.zeros(192, np.uint32)]
    ),
    "pass structures": Good("shared.cu", "pass_structures", (2,), (48,), lambda: _structures(96)),
    "pairs of a tile": Good("shared.cu", "pairs_of_a_tile", (2,), (64,), _copy(256, 256)),
    "sum under a lock": Good(
        "shared.cu",
        "sum_under_a_lock",
        (6,),
        (64,),
        lambda: [_floats(384), np.zeros(1, np.float32), np.zeros(1, np.int32)],
    ),
    "classes": Good(
        "shared.cu",
        "classes",
        (1,),
        (96,),
        lambda: [_integers(1000, 500), np.zeros(10, np.int32), np.zeros(2, np.int32), np.int32(1000)],
    ),
    "flag in shared memory": Good("order.cu", "flag_in_shared_memory", (1,), (64,), lambda: [np.zeros(32, np.int32)]),
    "lock in shared memory": Good("order.cu", "lock_in_shared_memory", (1,), (128,), _counts(128, 128, 100)),
    "acquire and release": Good("order.cu", "acquire_and_release", (1,), (64,), _counts(32, 32, 100)),
    "sum with a mask": Good("warps.cu", "sum_with_a_mask", (4,), (80,), _copy(310, 4, 310)),
    "maximum of rows": Good("warps.cu", "maximum_of_rows", (3,), (32, 4), _copy(600, 12, 50)),
    "sums of groups": Good("warps.cu", "sums_of_groups", (2,), (8, 12), _copy(192, 192)),
    "reverse halves": Good("warps.cu", "reverse_halves", (2,), (96,), _counts(192, 192, 1000)),
    "count odd": Good("warps.cu", "count_odd", (2,), (64,), _counts(128, 128, 20)),
    "turn in warps": Good("warps.cu", "turn_in_warps", (2,), (96,), _copy(192, 192, 5)),
    "producer and consumer": Good("warps.cu", "producer_and_consumer", (1,), (64,), _copy(160, 160, 5)),
    "prefix sum": Good("barriers.cu", "prefix_sum", (5,), (64,), _counts(320, 320, 100)),
    "reverse tiles": Good(
        "barriers.cu",
        "reverse_tiles",
        (2,),
        (96,),
        lambda: [_floats(500), np.zeros(500, np.float32), np.zeros(192, np.int32), np.int32(500)],
    ),
    "column sums": Good("barriers.cu", "column_sums", (3,), (16, 6), _copy(288, 288)),
    "bubble sort": Good("barriers.cu", "bubble_sort", (2,), (64,), lambda: [_integers(128, 1000)]),
    "difference of the rest": Good("barriers.cu", "difference_of_the_rest", (2,), (64,), _copy(100, 100, 50)),
    "two halves": Good("barriers.cu", "two_halves", (1,), (128,), lambda: [np.abs(_floats(128)), np.zeros(128, "f4")]),
    "transpose": Good("transpose.cu", "transpose<Tile::padded>", (2, 3), (32, 8), _copy(6144, 6144, 96, 64)),
    "gather": Good(
        "global_access.cu",
        "gather",
        (8,),
        (128,),
        lambda: [_integers(1024, 1024), _floats(1024), np.zeros(1024, np.float32)],
    ),
    "sequential reduction": Good("reduction.cu", "block_sum<Order::sequential>", (4,), (256,), _copy(1024, 4)),
    "shuffle reduction": Good("reduction.cu", "block_sum<Order::shuffle>", (4,), (256,), _copy(1024, 4)),
    "Hillis-Steele scan": Good("scan.cu", "scan_hillis_steele", (4,), (256,), _copy(1024, 1024)),
    "Blelloch scan": Good("scan.cu", "scan_blelloch", (4,), (256,), _copy(2048, 2048)),
    "histogram": Good(
        "histogram.cu", "histogram_shared_atomics", (4,), (256,), _counts(5000, 256, 256, 5000, dtype=np.uint8)
    ),
    "matrix product": Good(
        "matrix_product.cu",
        "matrix_product<16>",
        (2, 2),
        (16, 16),
        lambda: [_floats(1024), _floats(1025)[1:].copy(), np.zeros(1024, np.float32), np.int32(32)],
    ),
    "stencil": Good("stencil.cu", "stencil", (6,), (128,), _copy(768, 768, 768)),
    "bitonic sort": Good("bitonic_sort.cu", "bitonic_sort", (3,), (256,), _copy(768, 768)),
    "shared vectors": Good("shared_access.cu", "shared_vector<float2>", (4,), (128,), _copy(1024, 1024, 3)),
    "warp softmax": Good(
        "softmax_warp.cuh", "softmax_warp<float, Algorithm::softmax, 2, 4, 32, 1, true>", (3,), (32, 4), _rows(11, 90)
    ),
    "narrow softmax": Good(
        "softmax_warp.cuh",
        "softmax_warp<__half, Algorithm::softmax, 2, 2, 8, 2, true>",
        (1,),
        (8, 16),
        _rows(22, 14, np.float16),
    ),
    "shared softmax": Good(
        "softmax_block_smem.cuh",
        "softmax_block_smem<float, Algorithm::softmax, 2, 128, Layout::column>",
        (4,),
        (128,),
        _rows(6, 1100),
        4400,
    ),
    "uncached softmax": Good(
        "softmax_block_uncached.cuh",
        "softmax_block_uncached<double, Algorithm::softmax, 2, 1024>",
        (2,),
        (1024,),
        _rows(3, 300, np.float64),
    ),
    "CUB's block primitives": Good("cub.cu", "block_primitives<96, 3>", (2,), (96,), _counts(576, 576, 1000)),
    "CUB's warp primitives": Good("cub.cu", "warp_primitives<16>", (2,), (96,), _copy(192, 192)),
    "product of fragments": Good("matrices.cu", "product_of_fragments", (1,), (32,), _product(128, 128)),
    "product by wmma": Good("matrices.cu", "product_by_wmma", (1,), (32,), _product(256, 256)),
    "through eight bits": Good("matrices.cu", "through_eight_bits", (2,), (40,), _copy(160, 160)),
}
