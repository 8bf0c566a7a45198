"""Well-known patterns of kernels with a fault, and as they should be, with their launches.

The expectations, lines and kinds, were written and committed before softlab saw the kernels. Afterwards one severity
changed, from warning to error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_RACE = "race"


def _bad(kernel: str, kind: str = _RACE, **fields: Any) -> CourseCase:
    return CourseCase(file="bad_patterns.cu", kernel=kernel, kind=kind, **fields)


def _good(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file="good_patterns.cu", kernel=kernel, **fields)


def _words(read: int, *written: int) -> Any:
    return lambda: [integers(read), *map(zeros, written)]


def _floats(read: int, written: int, *scalars: int) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


BAD_PATTERNS = (
    _bad("tile_exchange_without_sync", arguments=_words(64, 64)),
    _bad("tile_sums_in_one_slot_per_warp", arguments=_words(64, 2)),
    _bad("aggregated_base_in_shared_without_sync", grid=2, arguments=_words(128, 128, 1)),
    _bad("aggregated_by_a_plain_counter", grid=2, arguments=_words(128, 16512, 1)),
    _bad("look_back_aggregate_of_another_lane", grid=3, block=32, arguments=_words(96, 3, 3, 96)),
    _bad("look_back_waits_for_itself", "infinite-loop", hangs=True, grid=2, block=32, arguments=_words(64, 2, 2, 2)),
    _bad("prefetch_two_ahead_into_two_buffers", arguments=_floats(320, 64, 5)),
    _bad("double_buffer_index_not_wrapped", "shared-out-of-bounds", arguments=_floats(320, 64, 5)),
    _bad("double_buffer_without_prologue", "uninitialized-shared", arguments=_floats(320, 64, 5)),
    _bad(
        "tile_reused_for_the_result",
        block=(8, 8),
        arguments=lambda: [floats(64), floats(64) + 1, zeros(64, "f4")],
    ),
    _bad("private_histograms_merged_too_soon", arguments=lambda: [integers(200), zeros(16), 200]),
    _bad("histogram_columns_of_two_warps", arguments=lambda: [integers(200), zeros(8), 200]),
    _bad("vector_store_then_scalar_reads", block=32, arguments=_floats(128, 32)),
    _bad("vector_and_scalar_write_one_element", block=32, arguments=_floats(128, 128)),
    _bad(
        "dynamic_partitions_overlap",
        smem=512,
        arguments=lambda: [floats(64), integers(64), zeros(64, "f4"), 64],
    ),
    _bad("dynamic_partition_offset_in_elements", smem=512, arguments=_floats(64, 64, 64)),
    _bad("warp_scan_without_syncwarp", arguments=_words(64, 64)),
    _bad("segmented_scan_with_one_syncwarp", block=32, arguments=lambda: [integers(32), integers(32), zeros(32)]),
    _bad("syncwarp_of_all_but_one", block=32, arguments=_words(32, 32)),
    _bad("cluster_counts_read_without_cluster_sync", grid=2, block=32, arguments=_words(64, 4)),
    _bad("cluster_push_before_the_peer_clears", grid=2, block=32, arguments=_words(64, 64)),
    _bad("finer_locks_than_buckets", grid=8, block=32, arguments=lambda: [4 * integers(8, 7), zeros(16), zeros(4)]),
    _bad("winner_stores_its_index_plainly", grid=2, arguments=_words(128, 1, 1)),
    _bad("box_refilled_before_the_answer", arguments=lambda: [integers(8), zeros(8), 5]),
    _bad("named_barriers_of_the_wrong_pairs", block=128, arguments=_words(128, 128)),
    _bad("grid_tree_synchronised_every_second_step", grid=8, block=32, cooperative=True, arguments=_words(8)),
    _bad("cp_async_into_the_stage_being_read", block=32, arguments=_floats(640, 32, 5)),
    _bad("bulk_ring_without_empty_barriers", arguments=_floats(320, 64, 5)),
    _bad("store_after_the_mbarrier_arrival", arguments=_words(64, 64)),
    _bad("maximum_shared_by_one_warp", arguments=_floats(64, 64)),
    _bad("transposed_under_a_warp_barrier", block=(32, 4), arguments=_floats(1024, 1024)),
    _bad("wavefront_waits_for_the_left_only", grid=(3, 3), block=32, arguments=lambda: [zeros(9), zeros(9), 3]),
    _bad("offsets_read_before_the_scan_ends", block=128, arguments=_words(128, 128)),
    _bad("queue_read_before_it_is_filled", arguments=_words(64, 64)),
    _bad(
        "rows_that_skip_the_barrier",
        "barrier-divergence",
        block=(32, 2),
        arguments=_floats(96, 128, 3),
    ),
    _bad("vote_of_lanes_that_left_the_loop", "inactive-lane", block=32, arguments=_words(32, 32)),
)


def _over_50(a: list) -> np.ndarray:
    return np.asarray([(a[0] > 50).sum()])


def _sum_of_tiles(a: list) -> np.ndarray:
    return a[0].reshape(-1, 64)[:, ::-1].sum(axis=0)


def _sum_of_wide_tiles(a: list) -> np.ndarray:
    tiles = a[0].reshape(-1, 128).sum(axis=0)
    return tiles[127 - np.arange(32)] + tiles[63 - np.arange(32)]


def _turns(a: list) -> list[int]:
    halvings = [0] * len(a[0])
    for i, v in enumerate(a[0].tolist()):
        while v > 10:
            v, halvings[i] = v // 2, halvings[i] + 1
    return halvings


_TILES = {"arguments": _floats(320, 64, 5), "expected": lambda a: {1: _sum_of_tiles(a)}}
_SCAN = {"grid": 5, "block": 32, "expected": lambda a: {len(a) - 1: np.cumsum(a[0])}}

GOOD_PATTERNS = (
    _good(
        "tile_exchange",
        arguments=_words(64, 192),
        expected=lambda a: {1: (a[0].reshape(1, 8, 8)[..., ::-1] + np.arange(3).reshape(3, 1, 1)).ravel()},
    ),
    _good("tile_sums_in_divergent_code", arguments=_words(64, 8)),
    _good("labeled_groups_of_a_key", arguments=_words(64, 195)),
    _good("aggregated_base_in_shared", grid=2, arguments=_words(128, 128, 1), expected=lambda a: {2: _over_50(a)}),
    _good("aggregated_by_the_active_lanes", grid=2, arguments=_words(128, 128, 1), expected=lambda a: {2: _over_50(a)}),
    _good("look_back_of_warps", arguments=lambda: [integers(160), zeros(5, "u8"), zeros(160)], **_SCAN),
    _good("look_back_with_fences", arguments=_words(160, 5, 5, 160), **_SCAN),
    _good(
        "look_back_published_by_another_lane",
        grid=4,
        block=32,
        arguments=_words(4, 4, 4, 4),
        expected=lambda a: {3: np.cumsum(a[0]) - a[0]},
    ),
    _good("prefetch_in_registers", **_TILES),
    _good("double_buffer_one_barrier", **_TILES),
    _good("three_buffers_two_ahead", **_TILES),
    _good(
        "tile_reused_after_a_barrier",
        block=(8, 8),
        arguments=lambda: [floats(64), floats(64) + 1, zeros(64, "f4")],
        expected=lambda a: {2: (a[0].reshape(8, 8) @ a[1].reshape(8, 8)).T.ravel()},
    ),
    _good("own_element_reused", arguments=_floats(64, 64), expected=lambda a: {1: 2 * a[0][::-1] + 1}),
    _good(
        "private_histograms_per_warp",
        grid=1,
        arguments=lambda: [integers(200), zeros(16), 200],
        expected=lambda a: {1: np.bincount(a[0] % 16, minlength=16)},
    ),
    _good(
        "private_columns_per_thread",
        arguments=lambda: [integers(200), zeros(8), 200],
        expected=lambda a: {1: np.bincount(a[0] % 8, minlength=8)},
    ),
    _good(
        "matched_lanes_add_once",
        arguments=_words(64, 8),
        expected=lambda a: {1: np.bincount(a[0] % 8, minlength=8)},
    ),
    _good(
        "vector_store_scalar_reads",
        block=32,
        arguments=_floats(128, 32),
        expected=lambda a: {1: a[0].reshape(4, 32).sum(axis=0)},
    ),
    _good(
        "vector_body_and_scalar_tail",
        grid=2,
        block=32,
        arguments=_floats(203, 203, 203),
        expected=lambda a: {1: 2 * a[0]},
    ),
    _good(
        "bytes_of_one_word_by_four_threads",
        arguments=lambda: [integers(64, 200, np.uint8), zeros(64, "u1")],
        expected=lambda a: {1: a[0] + 1},
    ),
    _good(
        "dynamic_partitions",
        smem=512,
        arguments=lambda: [floats(64), integers(64), zeros(64, "f4"), 64],
        expected=lambda a: {2: a[0][a[1] % 64]},
    ),
    _good(
        "dynamic_partitions_that_take_turns",
        smem=512,
        arguments=_floats(64, 64),
        expected=lambda a: {1: a[0][::-1][np.arange(64) ^ 1]},
    ),
    _good(
        "warp_scan_in_shared",
        arguments=_words(64, 64),
        expected=lambda a: {1: np.cumsum(a[0].reshape(2, 32), axis=1).ravel()},
    ),
    _good("segmented_scan_of_a_warp", block=32, arguments=lambda: [integers(32), integers(32), zeros(32)]),
    _good("syncwarp_of_half_a_warp", block=32, arguments=_words(32, 32)),
    _good(
        "cluster_counts",
        grid=2,
        block=32,
        arguments=_words(64, 4),
        expected=lambda a: {1: np.bincount(a[0] % 4, minlength=4)},
    ),
    _good(
        "cluster_inbox",
        grid=4,
        block=32,
        arguments=_words(128, 128),
        expected=lambda a: {1: np.roll(a[0], 96)},
    ),
    _good(
        "a_lock_per_bucket",
        grid=8,
        block=32,
        arguments=lambda: [integers(8), zeros(4), zeros(4)],
        expected=lambda a: {2: np.bincount(a[0] % 4, minlength=4)},
    ),
    _good("winner_in_one_word", grid=2, arguments=lambda: [integers(128), zeros(1, "u8")]),
    _good(
        "box_refilled_after_the_answer",
        arguments=lambda: [integers(8), zeros(8), 5],
        expected=lambda a: {1: np.where((np.arange(8) > 0) & (np.arange(8) < 6), a[0], 0)},
    ),
    _good("named_barriers_of_pairs", block=128, arguments=_words(128, 128)),
    _good(
        "grid_tree",
        grid=8,
        block=32,
        cooperative=True,
        arguments=_words(8),
    ),
    _good(
        "cp_async_three_stages",
        block=32,
        arguments=_floats(640, 32, 5),
        expected=lambda a: {1: _sum_of_wide_tiles(a)},
    ),
    _good(
        "cp_async_that_fills_with_zeros",
        block=32,
        arguments=_floats(90, 128, 90),
        expected=lambda a: {1: np.pad(a[0], (0, 38))[::-1]},
    ),
    _good("bulk_ring_with_empty_barriers", block=96, **_TILES),
    _good("store_before_the_mbarrier_arrival", arguments=_words(64, 64), expected=lambda a: {1: a[0][::-1]}),
    _good(
        "wavefront_waits_for_both",
        grid=(3, 3),
        block=32,
        arguments=lambda: [zeros(9), zeros(9), 3],
        expected=lambda a: {0: [2, 3, 4, 3, 6, 10, 4, 10, 20]},
    ),
    _good("offsets_read_after_the_scan", block=128, arguments=_words(128, 128)),
    _good("queue_of_a_block", arguments=_words(64, 64, 1), expected=lambda a: {2: [(a[0] % 2).sum()]}),
    _good(
        "ragged_rows_with_all_at_the_barrier",
        block=(32, 2),
        arguments=_floats(96, 96, 3),
        expected=lambda a: {1: a[0].reshape(3, 32)[:, ::-1].ravel()},
    ),
    _good("vote_of_all_lanes_of_a_loop", block=32, arguments=_words(32, 32), expected=lambda a: {1: _turns(a)}),
)
