"""Kernels with a fault in how their threads work together, with their launches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_FILE = "bad_order.cu"
_RACE, _BARRIER, _LANE, _LOOP = "race", "barrier-divergence", "inactive-lane", "infinite-loop"
_MBARRIER, _ALIGNED = "mbarrier-misuse", "misaligned"

_NO_FENCE = "a reader needs no fence here: much correct code has none, and orders its reads by a dependency"


def _case(kernel: str, kind: str, **fields: Any) -> CourseCase:
    return CourseCase(file=_FILE, kernel=kernel, kind=kind, **fields)


def _overlapping(n: int, by: int) -> list:
    whole = floats(n + by)
    return [whole[:n], whole[by:]]


def _frontier() -> np.ndarray:
    level = np.full(64, -1, np.int32)
    level[::9] = 0
    return level


GLOBAL = (
    _case("counter_without_atomics", _RACE, grid=2, arguments=lambda: [integers(128), zeros(1)]),
    _case("histogram_without_atomics", _RACE, grid=2, arguments=lambda: [integers(100), zeros(8), 100]),
    _case("maximum_read_then_write", _RACE, grid=2, arguments=lambda: [floats(128), zeros(1, "f4")]),
    _case("blur_in_place", _RACE, grid=(2, 2), block=(8, 8), arguments=lambda: [floats(256), 16, 16]),
    _case("transpose_in_place_without_tiles", _RACE, grid=(2, 2), block=(8, 8), arguments=lambda: [floats(256), 16]),
    _case("odd_even_sort_over_blocks", _RACE, grid=2, block=32, arguments=lambda: [integers(128)[::-1].copy(), 128]),
    _case(
        "matrix_vector_by_columns", _RACE, block=32, arguments=lambda: [floats(1024), floats(32), zeros(32, "f4"), 32]
    ),
    _case(
        "two_phases_of_one_launch", _RACE, grid=3, arguments=lambda: [floats(192), zeros(192, "f4"), zeros(192, "f4")]
    ),
    _case(
        "partial_sums_read_too_early", _RACE, grid=3, arguments=lambda: [floats(192), zeros(3, "f4"), zeros(1, "f4")]
    ),
    _case("overlapping_rows", _RACE, grid=3, block=32, arguments=lambda: [zeros(96, "f4"), 32]),
    _case("zero_then_accumulate", _RACE, grid=2, arguments=lambda: [integers(128), zeros(16)]),
    _case("saxpy_aliased", _RACE, grid=2, arguments=lambda: [*_overlapping(100, 3), 100]),
    _case("scan_in_place_aliased", _RACE, arguments=lambda: [(a := floats(64)), a]),
    _case("double_buffer_not_swapped", _RACE, arguments=lambda: [floats(64), floats(64), 64, 3]),
    _case("bfs_levels_in_one_array", _RACE, arguments=lambda: [integers(128, 64), _frontier(), 0]),
    _case("same_value_by_all", _RACE, grid=2, severity="warning", arguments=lambda: [integers(128), zeros(1)]),
)
SHARED = (
    _case("reduce_no_barrier_after_load", _RACE, block=128, arguments=lambda: [floats(128), zeros(1, "f4")]),
    _case("reduce_barrier_outside_the_loop", _RACE, block=128, arguments=lambda: [floats(128), zeros(1, "f4")]),
    _case("result_read_by_thread_zero_too_soon", _RACE, arguments=lambda: [integers(64), zeros(1)]),
    _case(
        "tiled_gemm_one_barrier", _RACE, block=(8, 8), arguments=lambda: [floats(128), floats(128), zeros(64, "f4"), 16]
    ),
    _case("hillis_steele_in_place", _RACE, arguments=lambda: [integers(64), zeros(64)]),
    _case("block_reduce_buffer_reused_at_once", _RACE, arguments=lambda: [floats(64), zeros(64, "f4")]),
    _case("broadcast_overwritten", _RACE, arguments=lambda: [integers(4), zeros(256), 4]),
    _case("shared_counter_plain", _RACE, arguments=lambda: [integers(64), zeros(1)]),
    _case("union_reused_too_soon", _RACE, arguments=lambda: [floats(64), zeros(64, "f4"), integers(64)]),
    _case("ring_of_two_with_one_barrier", _RACE, arguments=lambda: [floats(320), zeros(64, "f4"), 4]),
)
VOLATILE = (
    _case("volatile_last_warp", _RACE, block=32, arguments=lambda: [floats(64), zeros(1, "f4")]),
    _case("warp_reduce_of_the_old_samples", _RACE, arguments=lambda: [integers(64), zeros(1)]),
    _case("volatile_neighbour_in_a_warp", _RACE, block=32, arguments=lambda: [integers(32), zeros(32)]),
    _case("warp_exchange_in_global_memory", _RACE, block=32, arguments=lambda: [integers(32), zeros(32), zeros(32)]),
)
PUBLICATION = (
    _case(
        "last_block_without_a_fence",
        _RACE,
        grid=4,
        block=32,
        arguments=lambda: [floats(128), zeros(4, "f4"), zeros(1, "f4")],
    ),
    _case(
        "fence_of_one_thread_only", _RACE, grid=3, arguments=lambda: [floats(192), zeros(192, "f4"), zeros(64, "f4")]
    ),
    _case("flag_plain_store", _RACE, grid=2, arguments=lambda: [integers(1), zeros(1), zeros(1), zeros(1)]),
    _case("flag_fence_of_the_block_only", _RACE, grid=2, arguments=lambda: [integers(1), zeros(1), zeros(1), zeros(1)]),
    _case(
        "reader_without_a_fence",
        _RACE,
        missed=_NO_FENCE,
        grid=2,
        arguments=lambda: [integers(1), zeros(1), zeros(1), zeros(1)],
    ),
    _case("lock_released_by_a_plain_store", _RACE, grid=3, block=32, arguments=lambda: [zeros(1), zeros(1)]),
    _case("lock_without_fences", _RACE, grid=3, block=32, arguments=lambda: [zeros(1), zeros(1)]),
    _case("read_outside_the_lock", _RACE, grid=3, block=32, arguments=lambda: [zeros(1), zeros(1), zeros(3)]),
    _case("two_locks_for_one_value", _RACE, grid=4, block=32, arguments=lambda: [zeros(2), zeros(1)]),
    _case("double_checked_start", _RACE, grid=3, block=32, arguments=lambda: [zeros(1), zeros(1), zeros(1), zeros(3)]),
    _case("atomic_of_a_block_between_blocks", _RACE, grid=2, block=32, arguments=lambda: [zeros(1)]),
    _case("atomic_and_plain_read", _RACE, grid=2, arguments=lambda: [integers(128), zeros(1), zeros(128)]),
    _case(
        "look_back_value_after_flag",
        _RACE,
        grid=3,
        block=32,
        arguments=lambda: [integers(3), zeros(3), zeros(3), zeros(3)],
    ),
    _case("append_reads_others", _RACE, grid=2, arguments=lambda: [integers(128), zeros(128), zeros(1), zeros(128)]),
)
BARRIERS = (
    _case("syncthreads_in_a_branch", _BARRIER, arguments=lambda: [floats(64), zeros(64, "f4")]),
    _case("syncthreads_after_a_return", _BARRIER, arguments=lambda: [floats(64), zeros(64, "f4"), 64]),
    _case("syncthreads_in_a_loop_by_data", _BARRIER, block=32, arguments=lambda: [integers(32, 5), zeros(32)]),
    _case("syncthreads_in_both_branches", _BARRIER, block=32, arguments=lambda: [integers(32), zeros(32)]),
    _case("named_barrier_wrong_count", _BARRIER, hangs=True, arguments=lambda: [integers(32), zeros(32)]),
    _case("named_barrier_wrong_number", _BARRIER, hangs=True, arguments=lambda: [integers(32), zeros(32)]),
    _case("named_barrier_odd_count", _BARRIER, hangs=True, arguments=lambda: [integers(64), zeros(64), 48]),
    _case("store_after_arrive", _RACE, arguments=lambda: [integers(32), zeros(32)]),
    _case("ring_without_empty_barrier", _RACE, arguments=lambda: [floats(128), zeros(128, "f4"), 4]),
    _case("groups_share_one_barrier_name", _RACE, block=128, arguments=lambda: [integers(128), zeros(128)]),
)
LANES = (
    _case("shuffle_in_a_branch", _LANE, block=32, arguments=lambda: [integers(32), zeros(32)]),
    _case("shuffle_reads_a_lane_that_left", _LANE, block=32, arguments=lambda: [integers(32), zeros(32), 21]),
    _case("mask_without_the_caller", _LANE, block=32, arguments=lambda: [integers(32), zeros(32)]),
    _case("activemask_before_the_branch", _LANE, block=32, arguments=lambda: [integers(32), zeros(32)]),
    _case("ballot_of_the_first_lanes", _LANE, block=32, arguments=lambda: [integers(32), zeros(32)]),
    _case("mask_names_a_lane_elsewhere", _LANE, block=32, arguments=lambda: [integers(32), zeros(32)]),
    _case("partial_warp_full_mask", _LANE, block=40, arguments=lambda: [integers(40), zeros(40)]),
    _case(
        "reduce_with_a_mask_too_small", _LANE, block=32, arguments=lambda: [integers(32, 9, np.uint32), zeros(32, "u4")]
    ),
    _case("match_in_divergent_code", _LANE, block=32, arguments=lambda: [integers(32), zeros(32, "u4")]),
    _case("tile_of_eight_in_a_branch", _LANE, block=32, arguments=lambda: [integers(32), zeros(32)]),
)
HANGS = (
    _case(
        "loop_never_ends", _LOOP, hangs=True, block=32, arguments=lambda: [2 * np.arange(16, dtype=np.int32), zeros(32)]
    ),
    _case(
        "list_with_a_cycle",
        _LOOP,
        hangs=True,
        block=32,
        arguments=lambda: [np.array([1, 2, 3, 1], np.int32), zeros(32)],
    ),
    _case("wait_for_a_flag_nobody_sets", _LOOP, hangs=True, block=32, arguments=lambda: [zeros(1), zeros(32)]),
    _case("flag_kept_in_a_register", _RACE, hangs=True, grid=2, block=32, arguments=lambda: [zeros(1), zeros(32)]),
    _case("lock_taken_twice", _LOOP, hangs=True, block=32, arguments=lambda: [zeros(1), zeros(1)]),
    _case("lock_not_released", _LOOP, hangs=True, grid=2, block=32, arguments=lambda: [zeros(1), zeros(1)]),
    _case("locks_in_opposite_order", _LOOP, hangs=True, grid=2, block=32, arguments=lambda: [zeros(2), zeros(1)]),
    _case(
        "grid_barrier_counts_too_many",
        _LOOP,
        hangs=True,
        grid=2,
        cooperative=True,
        arguments=lambda: [zeros(1, "u4"), zeros(128)],
    ),
    _case("mbarrier_one_arrival_short", _LOOP, hangs=True, arguments=lambda: [zeros(64)]),
    _case("mbarrier_bytes_never_come", _LOOP, hangs=True, arguments=lambda: [floats(64), zeros(64, "f4")]),
    _case("cuda_barrier_expects_too_many", _LOOP, hangs=True, arguments=lambda: [zeros(64)]),
    _case("assertion_fails", "assert", block=32, arguments=lambda: [integers(32)]),
    _case("trap_by_hand", "trap", block=32, arguments=lambda: [integers(32)]),
)
COPIES = (
    _case("mbarrier_wrong_parity", _LOOP, hangs=True, arguments=lambda: [integers(64), zeros(64)]),
    _case("mbarrier_not_initialised", _MBARRIER, block=32, arguments=lambda: [zeros(32)]),
    _case("mbarrier_used_before_the_block_sees_it", _RACE, arguments=lambda: [zeros(64)]),
    _case("mbarrier_overwritten", _MBARRIER, arguments=lambda: [zeros(64)]),
    _case("cp_async_without_wait", _RACE, arguments=lambda: [floats(64), zeros(64, "f4")]),
    _case("cp_async_waits_for_too_few", _RACE, arguments=lambda: [floats(256), zeros(256, "f4"), 4]),
    _case("cp_async_wait_without_barrier", _RACE, arguments=lambda: [floats(64), zeros(64, "f4")]),
    _case("cp_async_buffer_overwritten", _RACE, arguments=lambda: [floats(64), zeros(64, "f4")]),
    _case("cp_async_misaligned", _ALIGNED, arguments=lambda: [floats(72), zeros(64, "f4")]),
    _case(
        "cp_async_beyond_the_input",
        "global-out-of-bounds",
        block=32,
        arguments=lambda: [floats(80), zeros(80, "f4"), 20],
    ),
    _case("pipeline_one_stage_too_few", _RACE, arguments=lambda: [floats(256), zeros(256, "f4"), 4]),
    _case("bulk_copy_read_without_waiting", _RACE, arguments=lambda: [floats(64), zeros(64, "f4")]),
    _case("bulk_copy_size_not_of_16", _ALIGNED, arguments=lambda: [floats(64), zeros(64, "f4"), 100]),
    _case("bulk_store_without_a_proxy_fence", _RACE, arguments=lambda: [floats(64), zeros(64, "f4")]),
    _case("bulk_store_source_reused", _RACE, arguments=lambda: [floats(128), zeros(128, "f4")]),
)
CLUSTERS = (
    _case("cluster_read_before_sync", _RACE, grid=2, block=32, arguments=lambda: [integers(64), zeros(64)]),
    _case("cluster_leaves_too_early", _RACE, grid=2, block=32, arguments=lambda: [integers(64), zeros(64)]),
    _case("cluster_writes_collide", _RACE, grid=4, block=32, arguments=lambda: [integers(128), zeros(32)]),
    _case(
        "cluster_rank_too_large", "shared-out-of-bounds", grid=2, block=32, arguments=lambda: [integers(64), zeros(64)]
    ),
    _case("cluster_block_skips_the_barrier", _BARRIER, hangs=True, grid=2, block=32, arguments=lambda: [zeros(64)]),
    _case("cluster_slot_reused", _RACE, grid=2, block=32, arguments=lambda: [floats(8), zeros(64, "f4"), 4]),
)
COOPERATIVE = (
    _case(
        "grid_without_sync",
        _RACE,
        grid=3,
        cooperative=True,
        arguments=lambda: [floats(192), zeros(192, "f4"), zeros(192, "f4")],
    ),
    _case("grid_sync_by_some_blocks", _LOOP, hangs=True, grid=3, cooperative=True, arguments=lambda: [zeros(192)]),
    _case(
        "jacobi_with_one_array",
        _RACE,
        grid=2,
        cooperative=True,
        arguments=lambda: [floats(200), np.int32(200), np.int32(3)],
    ),
    _case(
        "grid_barrier_without_syncthreads",
        _RACE,
        grid=3,
        cooperative=True,
        arguments=lambda: [zeros(192), zeros(192), zeros(1, "u4")],
    ),
    _case("block_barrier_of_cub_missing", _RACE, arguments=lambda: [integers(64), zeros(2)]),
)
BAD_ORDER = GLOBAL + SHARED + VOLATILE + PUBLICATION + BARRIERS + LANES + HANGS + COPIES + CLUSTERS + COOPERATIVE
