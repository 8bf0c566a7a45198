"""Good kernels whose warps, blocks or clusters work together, with their launches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_FILE = "good_together.cu"


def _case(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file=_FILE, kernel=kernel, **fields)


def _with_one(n: int, at: int) -> np.ndarray:
    x = integers(n, 70)
    x[at] = 77
    return x


def _keys(n: int) -> np.ndarray:
    return integers(n, 40, np.uint32)


def _edges(n: int) -> np.ndarray:
    return integers(2 * n, 100)


TOGETHER = (
    _case(
        "block_reduce_then_last_block",
        grid=5,
        arguments=lambda: [integers(900), zeros(5), zeros(1), 900],
        expected=lambda a: {2: [a[0].sum()]},
    ),
    _case(
        "all_threads_store_then_last_block",
        grid=4,
        block=32,
        arguments=lambda: [floats(128), zeros(128, "f4"), zeros(32, "f4")],
        expected=lambda a: {2: (a[0] ** 2).reshape(4, 32).sum(axis=0)},
    ),
    _case(
        "lookback_scan_aggregates",
        grid=6,
        block=32,
        arguments=lambda: [integers(192), zeros(192), zeros(6, "u8"), zeros(1)],
        expected=lambda a: {1: np.cumsum(a[0])},
    ),
    _case(
        "chained_scan_with_fences",
        grid=4,
        arguments=lambda: [integers(256), zeros(256), zeros(4), zeros(4)],
        expected=lambda a: {1: np.cumsum(a[0])},
    ),
    _case(
        "mutex_of_a_book",
        grid=6,
        block=32,
        arguments=lambda: [floats(192), zeros(1, "f4"), zeros(1)],
        expected=lambda a: {1: [a[0].sum()]},
    ),
    _case(
        "lock_per_thread_done_flag",
        grid=2,
        block=40,
        arguments=lambda: [zeros(1), zeros(1)],
        expected=lambda a: {1: [80]},
    ),
    _case(
        "ticket_lock_for_blocks",
        grid=6,
        block=32,
        arguments=lambda: [zeros(1, "u4"), zeros(1, "u4"), zeros(6), zeros(1)],
        expected=lambda a: {3: [6]},
    ),
    _case("hash_table_insert", grid=2, arguments=lambda: [_keys(128), np.full(64, 2**32 - 1, "u4"), zeros(64), 64]),
    _case("linked_list_push", grid=2, block=32, arguments=lambda: [np.full(1, -1, np.int32), zeros(64)]),
    _case(
        "mailbox_between_blocks",
        grid=2,
        arguments=lambda: [integers(64), zeros(64), zeros(1), zeros(64)],
        expected=lambda a: {3: a[0][::-1] * 3},
    ),
    _case("release_acquire_ptx", grid=2, arguments=lambda: [integers(64), zeros(64), zeros(1), zeros(64)]),
    _case(
        "warp_aggregated_increment",
        grid=2,
        block=96,
        arguments=lambda: [integers(180, 9) - 4, zeros(180), zeros(1), 180],
        expected=lambda a: {2: [(a[0] > 0).sum()]},
    ),
    _case(
        "match_any_by_key",
        grid=2,
        arguments=lambda: [integers(128, 6), zeros(6)],
        expected=lambda a: {1: np.bincount(a[0], minlength=6)},
    ),
    _case("ballot_compaction", block=128, arguments=lambda: [integers(128), zeros(128), zeros(1)]),
    _case("half_warps_with_masks", arguments=lambda: [integers(64), zeros(64)]),
    _case("mask_from_ballot", block=96, arguments=lambda: [integers(75), zeros(75), 75]),
    _case(
        "producer_consumer_named",
        arguments=lambda: [floats(192), zeros(192, "f4"), 6],
        expected=lambda a: {1: 2 * a[0].reshape(6, 32)[:, ::-1].ravel()},
    ),
    _case("named_barrier_from_two_places", block=128, arguments=lambda: [integers(128), zeros(128)]),
    _case("warp_groups_of_their_own", block=128, arguments=lambda: [floats(128), zeros(2, "f4")]),
    _case("counted_barriers", arguments=lambda: [integers(64), zeros(64)]),
    _case("early_return_of_whole_warps", block=128, arguments=lambda: [integers(128), zeros(96), 96]),
    _case("barrier_in_a_uniform_branch", grid=3, arguments=lambda: [integers(192), zeros(192)]),
    _case("volatile_flag_in_a_block", arguments=lambda: [integers(32), zeros(32)], expected=lambda a: {1: a[0][::-1]}),
    _case("persistent_queue", grid=3, arguments=lambda: [integers(20, 60), zeros(20), zeros(1), 20]),
    _case("grid_stride_two_arrays", grid=2, arguments=lambda: [floats(300), floats(301)[1:].copy(), 2.0, 300]),
    _case(
        "float_max_by_integer_atomics",
        grid=2,
        arguments=lambda: [floats(300), np.full(1, -9, "f4"), 300],
        expected=lambda a: {1: [a[0].max()]},
    ),
    _case(
        "atomic_double_by_cas",
        grid=2,
        block=32,
        arguments=lambda: [floats(64, "f8"), zeros(1, "f8")],
        expected=lambda a: {1: [a[0].sum()]},
    ),
    _case("union_find_hook", grid=2, arguments=lambda: [_edges(80), np.arange(100, dtype=np.int32), 80]),
    _case(
        "cp_async_two_stages",
        arguments=lambda: [floats(320), zeros(320, "f4"), 5],
        expected=lambda a: {1: 2 * a[0].reshape(5, 64)[:, ::-1].ravel()},
    ),
    _case("cp_async_own_element", arguments=lambda: [floats(256), zeros(256, "f4")]),
    _case(
        "pipeline_primitives",
        block=32,
        arguments=lambda: [integers(256), zeros(32), 8],
        expected=lambda a: {1: np.roll(a[0].reshape(8, 32), -1, axis=1).sum(axis=0)},
    ),
    _case("mbarrier_phases", arguments=lambda: [integers(64), zeros(64), 5]),
    _case(
        "bulk_copy_in_and_out",
        grid=2,
        block=128,
        arguments=lambda: [floats(256), zeros(256, "f4")],
        expected=lambda a: {1: 3 * a[0].reshape(2, 128)[:, ::-1].ravel()},
    ),
    _case("full_and_empty_mbarriers", block=96, arguments=lambda: [floats(224), zeros(448, "f4"), 7]),
    _case(
        "cluster_histogram",
        grid=4,
        arguments=lambda: [integers(500, 64), zeros(64), 500],
        expected=lambda a: {1: np.bincount(a[0], minlength=64)},
    ),
    _case("cluster_halo", grid=8, block=32, arguments=lambda: [floats(256), zeros(256, "f4")]),
    _case("cluster_arrive_wait_split", grid=4, block=32, arguments=lambda: [integers(128), zeros(128)]),
    _case("tile_groups_of_eight", grid=2, arguments=lambda: [integers(128), zeros(16)]),
    _case(
        "coalesced_group_filter",
        grid=2,
        arguments=lambda: [integers(110), zeros(110), zeros(1), 110],
        expected=lambda a: {2: [(a[0] % 2 == 0).sum()]},
    ),
    _case(
        "grid_sync_two_phases",
        grid=3,
        cooperative=True,
        arguments=lambda: [floats(192), zeros(192, "f4"), zeros(192, "f4")],
    ),
    _case(
        "jacobi_persistent",
        grid=2,
        cooperative=True,
        arguments=lambda: [floats(200), floats(200), np.int32(200), np.int32(6)],
    ),
    _case(
        "grid_barrier_by_counter",
        grid=3,
        cooperative=True,
        arguments=lambda: [zeros(192), zeros(192), zeros(1, "u4")],
        expected=lambda a: {1: np.arange(191, -1, -1) ** 2},
    ),
    _case("block_scan_of_cub", arguments=lambda: [integers(64), zeros(64)]),
    _case(
        "block_sort_of_cub",
        block=32,
        arguments=lambda: [integers(128, 256), zeros(128)],
        expected=lambda a: {1: np.sort(a[0])},
    ),
    _case(
        "cuda_barrier_and_atomic",
        arguments=lambda: [integers(64), zeros(64), zeros(1)],
        expected=lambda a: {2: [a[0].sum()]},
    ),
    _case("private_arena_per_thread", grid=2, block=32, arguments=lambda: [zeros(200), zeros(1), zeros(64)]),
    _case(
        "relaxed_flag_stops_a_search",
        grid=2,
        arguments=lambda: [_with_one(400, 230), zeros(1), zeros(1), 400],
        expected=lambda a: {2: [230]},
    ),
    _case("a_long_loop", block=32, arguments=lambda: [zeros(32, "u4"), 250_000]),
    _case("vote_after_an_early_return", block=32, arguments=lambda: [integers(32), zeros(32), 21]),
    _case("collatz", grid=2, arguments=lambda: [zeros(128)]),
)
