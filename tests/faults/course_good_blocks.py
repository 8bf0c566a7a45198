"""Good kernels of one block at a time, with their launches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_FILE = "good_blocks.cu"


def _case(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file=_FILE, kernel=kernel, **fields)


def _sums(of: int, block: int) -> dict[int, Any]:
    return {1: integers(of).reshape(-1, block).sum(axis=1)}


def _tree() -> list:
    left, right = np.full(15, -1, np.int32), np.full(15, -1, np.int32)
    left[:7], right[:7] = np.arange(1, 14, 2), np.arange(2, 15, 2)
    return [left, right, integers(15), zeros(32)]


def _graph() -> list:
    starts = np.arange(0, 129, 2, dtype=np.int32)
    level = np.full(64, -1, np.int32)
    level[:8] = 0
    return [starts, integers(128, 64), level, level.copy(), 0, 64]


def _sparse() -> list:
    pointers = np.cumsum([0, *integers(12, 70)]).astype(np.int32)
    entries = int(pointers[-1])
    return [pointers, integers(entries, 50), floats(entries), floats(50), zeros(12, "f4"), 12]


def _padded_windows(a: np.ndarray) -> np.ndarray:
    return np.convolve(a, np.ones(7, a.dtype), "same")


BLOCKS = (
    _case(
        "reduce_interleaved",
        grid=2,
        smem=256,
        arguments=lambda: [integers(128), zeros(2)],
        expected=lambda a: _sums(128, 64),
    ),
    _case(
        "reduce_strided_index",
        grid=2,
        smem=256,
        arguments=lambda: [integers(128), zeros(2)],
        expected=lambda a: _sums(128, 64),
    ),
    _case(
        "reduce_add_during_load",
        grid=2,
        smem=256,
        arguments=lambda: [floats(230), zeros(2, "f4"), 230],
        expected=lambda a: {1: [a[0][:128].sum(), a[0][128:].sum()]},
    ),
    _case(
        "reduce_last_warp_unrolled",
        grid=2,
        block=128,
        arguments=lambda: [floats(256), zeros(2, "f4")],
        expected=lambda a: {1: a[0].reshape(2, 128).sum(axis=1)},
    ),
    _case("warp_then_block_sum", grid=2, block=96, arguments=lambda: [floats(500), zeros(2, "f4"), 500]),
    _case("block_reduce_reused_buffer", grid=2, block=96, arguments=lambda: [floats(400), zeros(400, "f4"), 200]),
    _case(
        "layernorm_forward",
        grid=2,
        block=128,
        arguments=lambda: [
            zeros(350, "f4"),
            zeros(7, "f4"),
            zeros(7, "f4"),
            floats(350),
            floats(50),
            floats(51)[:50],
            7,
            50,
        ],
    ),
    _case(
        "scan_double_buffer",
        grid=2,
        smem=512,
        arguments=lambda: [integers(128), zeros(128)],
        expected=lambda a: {1: (np.cumsum(a[0].reshape(2, 64), axis=1) - a[0].reshape(2, 64)).ravel()},
    ),
    _case(
        "scan_work_efficient",
        block=64,
        smem=512,
        arguments=lambda: [integers(128), zeros(128), 128],
        expected=lambda a: {1: np.cumsum(a[0]) - a[0]},
    ),
    _case(
        "scan_by_shuffles",
        block=128,
        arguments=lambda: [integers(128), zeros(128)],
        expected=lambda a: {1: np.cumsum(a[0])},
    ),
    _case("bitonic_in_shared", grid=2, smem=256, arguments=lambda: [integers(128)]),
    _case("bitonic_pairs", block=64, arguments=lambda: [integers(128, 999, np.uint32), 128]),
    _case(
        "merge_ranks",
        arguments=lambda: [np.sort(integers(64)), np.sort(integers(65)[:64]), zeros(128)],
        expected=lambda a: {2: np.sort(np.concatenate(a[:2]))},
    ),
    _case(
        "tiled_gemm_ragged",
        grid=(3, 2),
        block=(8, 8),
        arguments=lambda: [floats(13 * 11), floats(11 * 21), zeros(13 * 21, "f4"), 13, 21, 11],
        expected=lambda a: {2: (a[0].reshape(13, 11) @ a[1].reshape(11, 21)).ravel()},
    ),
    _case(
        "gemm_register_tile",
        grid=(2, 2),
        block=64,
        arguments=lambda: [floats(1024), floats(1025)[1:].copy(), zeros(1024, "f4"), 32],
        expected=lambda a: {2: (a[0].reshape(32, 32) @ a[1].reshape(32, 32)).ravel()},
    ),
    _case(
        "gemm_double_buffered",
        grid=(3, 3),
        block=(8, 8),
        arguments=lambda: [floats(576), floats(577)[1:].copy(), zeros(576, "f4"), 24],
        expected=lambda a: {2: (a[0].reshape(24, 24) @ a[1].reshape(24, 24)).ravel()},
    ),
    _case(
        "transpose_padded",
        grid=(2, 3),
        block=(16, 8),
        arguments=lambda: [floats(30 * 40), zeros(1200, "f4"), 30, 40],
        expected=lambda a: {1: a[0].reshape(40, 30).T.ravel()},
    ),
    _case(
        "transpose_swizzled",
        block=(32, 4),
        arguments=lambda: [floats(1024), zeros(1024, "f4")],
        expected=lambda a: {1: a[0].reshape(32, 32).T.ravel()},
    ),
    _case("transpose_in_place", grid=(3, 3), block=(8, 8), arguments=lambda: [floats(576), 24]),
    _case(
        "stencil_with_halo",
        grid=4,
        arguments=lambda: [integers(230), zeros(230), 230],
        expected=lambda a: {1: _padded_windows(a[0])},
    ),
    _case("hotspot_pyramid", grid=(3, 3), block=(16, 16), arguments=lambda: [floats(30 * 30), zeros(900, "f4"), 30, 2]),
    _case("pathfinder_rows", arguments=lambda: [integers(64 * 6, 10), zeros(64), 64, 6]),
    _case("needleman_wavefront", block=16, arguments=lambda: [integers(256, 4), zeros(256), 16]),
    _case("lu_of_a_tile", block=16, arguments=lambda: [floats(256) + 8 * np.eye(16, dtype="f4").ravel()]),
    _case(
        "histogram_per_warp",
        grid=2,
        block=128,
        arguments=lambda: [integers(700, 256, np.uint8), zeros(64, "u4"), 700],
        expected=lambda a: {1: np.bincount(a[0] % 64, minlength=64)},
    ),
    _case(
        "histogram_bytes_of_a_thread",
        arguments=lambda: [integers(640, 256, np.uint8), zeros(16, "u4"), 10],
        expected=lambda a: {1: np.bincount(a[0] % 16, minlength=16)},
    ),
    _case("union_reused_storage", arguments=lambda: [floats(64), zeros(64, "f4"), integers(64)]),
    _case("carved_dynamic_shared", smem=64 * 13, arguments=lambda: [floats(64, "f8"), zeros(64, "f8"), 64]),
    _case("nbody_tiles", grid=2, block=32, arguments=lambda: [floats(256), zeros(192, "f4"), 64]),
    _case(
        "kmeans_assign",
        grid=3,
        arguments=lambda: [floats(300), floats(10), zeros(150), zeros(10, "f4"), zeros(5), 150, 5],
    ),
    _case("bfs_level", arguments=_graph),
    _case("spmv_vector_per_warp", grid=3, block=128, arguments=_sparse),
    _case(
        "fft_in_shared",
        block=32,
        arguments=lambda: [floats(128), zeros(128, "f4")],
        expected=lambda a: {1: np.fft.fft(a[0].view("c8")).astype("c8").view("f4")},
    ),
    _case("warps_own_rows", block=128, arguments=lambda: [floats(128), zeros(128, "f4")]),
    _case("ring_of_three", arguments=lambda: [floats(640), zeros(64, "f4"), 10]),
    _case(
        "dot_product_of_doubles",
        grid=2,
        arguments=lambda: [floats(300, "f8"), floats(300, "f8"), zeros(1, "f8"), 300],
        expected=lambda a: {2: [a[0] @ a[1]]},
    ),
    _case("stack_in_local_memory", block=32, arguments=_tree),
    _case(
        "local_histogram",
        arguments=lambda: [integers(500, 256, np.uint8), zeros(8), 500],
        expected=lambda a: {1: np.bincount(a[0] & 7, minlength=8)},
    ),
    _case("value_set_on_every_path", arguments=lambda: [integers(64), zeros(64)]),
    _case("set_in_the_first_turn", block=32, arguments=lambda: [integers(160), zeros(160), 5]),
    _case("partly_filled_local_array", block=32, arguments=lambda: [integers(256, 20), zeros(32)]),
    _case("null_when_absent", arguments=lambda: [floats(50), None, zeros(50, "f4"), 50], expected=lambda a: {2: a[0]}),
    _case("one_past_the_end", arguments=lambda: [integers(100), zeros(64), 100]),
    _case("in_place_map", grid=2, arguments=lambda: [(a := floats(100)), a, 100]),
)
