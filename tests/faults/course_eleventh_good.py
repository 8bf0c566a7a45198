"""The kernels of the eleventh set as they should be, and others that look suspicious and are correct."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros
from tests.faults.course_eleventh import ints, reals


def _good(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file="good_eleventh.cu", kernel=kernel, **fields)


def _heat(a: list) -> dict[int, Any]:
    x = a[0]
    for _ in range(3):
        wide = np.pad(x, 1)
        x = np.float32(0.5) * (wide[:-2] + wide[2:])
    return {1: x}


def _best(a: list) -> dict[int, Any]:
    i = int(a[0].argmax())
    return {1: [int(a[0][i]) << 32 | 128 - i]}


def _halves(a: list) -> dict[int, Any]:
    return {0: [sum(range(0, 64, 2)) | sum(range(1, 64, 2)) << 16]}


GOOD_ELEVENTH = (
    _good("leader_raises_the_flag_behind_a_warp_barrier", grid=2, block=32, arguments=ints(32, 32, 1, 32),
          expected=lambda a: {3: 2 * a[0]}),
    _good("leader_raises_the_flag_behind_the_block_barrier", grid=2, arguments=ints(64, 64, 1, 64),
          expected=lambda a: {3: 2 * a[0][::-1]}),
    _good("every_lane_fences_and_the_first_one_tells", grid=2, block=32, arguments=ints(32, 32, 1, 32),
          expected=lambda a: {3: a[0][::-1] + 5}),
    _good("leader_frees_a_slot_behind_a_warp_barrier", grid=2, block=32, arguments=ints(96, 32, 1, 96, then=(3,)),
          expected=lambda a: {3: a[0].reshape(3, 32)[:, ::-1].reshape(-1)}),
    _good("slot_freed_when_its_sum_is_known", grid=2, block=32, arguments=ints(96, 32, 1, 3, then=(3,)),
          expected=lambda a: {3: a[0].reshape(3, 32).sum(axis=1)}),
    _good("head_of_a_tile_tells_when_its_tile_is_done", grid=2, block=32,
          arguments=lambda: [integers(64), zeros(64), zeros(1, "u4"), zeros(16)],
          expected=lambda a: {3: a[0].reshape(4, 16).sum(axis=0) + 6}),
    _good("baton_of_the_warps_passed_behind_warp_barriers", block=96, arguments=ints(96, 96)),
    _good("first_lane_writes_all_that_it_tells", grid=2, block=32,
          arguments=lambda: [floats(32), zeros(2, "f4"), zeros(1), zeros(32, "f4")]),
    _good("a_flag_for_every_thread", grid=2, arguments=ints(64, 64, 64, 64), expected=lambda a: {3: a[0]}),
    _good("lanes_of_one_warp_lock_in_turn", grid=2, block=8, arguments=ints(16, 1, 1),
          expected=lambda a: {1: [a[0].sum()]}),
    _good("warp_locks_once_for_all_its_lanes", grid=2, arguments=ints(128, 32, 1),
          expected=lambda a: {1: a[0].reshape(4, 32).sum(axis=0)}),
    _good("status_and_value_in_one_word", grid=4, block=32,
          arguments=lambda: [integers(128), zeros(4, "u8"), zeros(128)]),
    _good("maximum_kept_by_each_thread", arguments=reals(64, 64)),
    _good("square_turned_by_the_upper_half", grid=(2, 2), block=(8, 8), arguments=ints(256, then=(16,)),
          expected=lambda a: {0: a[0].reshape(16, 16).T.reshape(-1)}),
    _good("best_value_and_its_place_in_one_word", grid=2, arguments=lambda: [integers(128), zeros(1, "u8"), 128],
          expected=_best),
    _good("last_block_behind_a_fence", grid=3,
          arguments=lambda: [floats(192), zeros(3, "f4"), zeros(1, "u4"), zeros(3, "f4")]),
    _good("each_block_has_a_total_of_its_own", grid=2, arguments=ints(128, 2, 128),
          expected=lambda a: {2: a[0].reshape(2, 64).sum(axis=1).repeat(64)}),
    _good("table_made_once_and_awaited_by_the_rest", grid=3, block=32, arguments=ints(96, 8, 1, 96),
          expected=lambda a: {3: (a[0] & 7) ** 2}),
    _good("heat_in_two_arrays_with_a_grid_barrier", grid=2, block=32, cooperative=True,
          arguments=reals(64, 64, then=(64, 3)), expected=_heat),
    _good("running_sum_in_two_buffers", arguments=ints(64, 64), expected=lambda a: {1: a[0].cumsum()}),
    _good("tiles_of_a_product_between_two_barriers", grid=(2, 2), block=(8, 8),
          arguments=lambda: [floats(256), floats(256) + 1, zeros(256, "f4"), 16]),
    _good("every_second_barrier_of_a_sort_within_the_warp", block=128, arguments=ints(128, 128),
          expected=lambda a: {1: np.sort(a[0])}),
    _good("stages_drained_at_the_end", arguments=reals(256, 64, then=(4,))),
    _good("rounds_of_an_mbarrier_by_their_parity", arguments=ints(96, 96, then=(3,)),
          expected=lambda a: {1: a[0].reshape(3, 32)[:, ::-1].reshape(-1)}),
    _good("consumer_warps_release_a_stage_by_their_first_lanes", block=96, arguments=ints(384, 384, then=(6,)),
          expected=lambda a: {1: a[0].reshape(6, 64)[:, ::-1].reshape(-1)}),
    _good("bulk_copy_in_and_bulk_copy_out", arguments=reals(192, 192, then=(3,)),
          expected=lambda a: {1: 2 * a[0].reshape(3, 64)[:, ::-1].reshape(-1)}),
    _good("neighbour_of_the_cluster_read_between_two_barriers", grid=2, block=32, arguments=ints(64, 64),
          expected=lambda a: {1: np.roll(a[0], 32)}),
    _good("halo_sent_into_a_peer_that_has_begun", grid=2, block=32, arguments=ints(64, 64)),
    _good("group_copy_awaited_by_the_group", arguments=ints(64, 64), expected=lambda a: {1: a[0][::-1]}),
    _good("heads_of_labels_add_for_their_groups", arguments=lambda: [integers(64, 5), zeros(5)],
          expected=lambda a: {1: np.bincount(a[0], minlength=5)}),
    _good("halves_of_a_word_both_by_cas", arguments=lambda: [zeros(1, "u4")], expected=_halves),
    _good("smallest_set_to_infinity_before_a_barrier",
          arguments=lambda: [integers(64, 1 << 20, np.uint32), zeros(1, "u4")],
          expected=lambda a: {1: [a[0].min()]}),
    _good("vectors_of_four_and_a_rest_of_single_floats", block=32, arguments=reals(101, 101, then=(101,)),
          expected=lambda a: {1: a[0] + 1}),
    _good("doubles_ahead_of_an_odd_number_of_ints", block=32, smem=12 + 256,
          arguments=lambda: [integers(3), zeros(32, "f8"), 3]),
    _good("sums_of_as_many_warps_as_there_are", block=96, arguments=ints(96, 1),
          expected=lambda a: {1: [a[0].sum()]}),
    _good("threads_beyond_the_end_leave_first", arguments=ints(64, 64, then=(40,))),
    _good("sum_of_those_that_a_vote_names", block=32, arguments=ints(32, 32)),
    _good("matched_lanes_send_one_of_them", grid=2, block=32, arguments=lambda: [integers(64, 6), zeros(6)],
          expected=lambda a: {1: np.bincount(a[0], minlength=6)}),
    _good("tickets_called_in_their_order", grid=3, block=32, arguments=lambda: [zeros(1), zeros(1), zeros(1)],
          expected=lambda a: {2: [4]}),
    _good("blocks_without_rows_come_to_the_grid_barrier_too", grid=3, block=32, cooperative=True,
          arguments=ints(96, 96, 96, then=(64,))),
    _good("printed_by_one_thread_of_those_that_count", arguments=ints(40, then=(40,))),
    _good("two_halves_of_a_block_at_barriers_of_their_own", block=128, arguments=ints(128, 128)),
    _good("work_taken_by_the_first_thread_for_its_block", grid=3, block=32, arguments=ints(224, 1, 224, then=(7,)),
          expected=lambda a: {2: 3 * a[0]}),
    _good("places_reserved_by_one_lane_for_those_that_keep", grid=2, arguments=ints(128, 1, 128)),
    _good("half_of_the_lanes_write_what_the_first_tells", grid=2, block=32, arguments=ints(32, 32, 1, 32),
          expected=lambda a: {3: np.tile(a[0][:16] + a[0][16:], 2)}),
    _good("bytes_of_one_word_set_by_four_threads", arguments=lambda: [integers(64), zeros(64, "u1")],
          expected=lambda a: {1: a[0] + 1}),
    _good("node_of_the_heap_read_and_then_freed", block=32, arguments=lambda: [zeros(32)],
          expected=lambda a: {0: np.arange(32)}),
    _good("flag_released_and_acquired_by_references", grid=2, block=32, arguments=ints(1, 1, 1, 1),
          expected=lambda a: {3: a[0]}),
    _good("elected_lane_tells_behind_a_warp_barrier", grid=2, block=32,
          arguments=lambda: [integers(32), zeros(32), zeros(1, "u4"), zeros(32)], expected=lambda a: {3: a[0]}),
    _good("asked_until_the_phase_is_over", arguments=ints(64, 64)),
    _good("sum_of_a_bulk_reduction_awaited_by_its_thread", arguments=ints(64, 64, 64), expected=lambda a: {2: a[0]}),
    _good("tail_of_a_sum_with_warp_barriers", arguments=ints(64, 1), expected=lambda a: {1: [a[0].sum()]}),
    _good("barrier_of_a_grid_that_counts_warps_behind_their_barriers", grid=2, cooperative=True,
          arguments=lambda: [integers(128), zeros(128), zeros(1, "u4"), zeros(128)],
          expected=lambda a: {3: a[0][::-1] + 1}),
    _good("carry_of_the_last_iteration_between_two_barriers", arguments=ints(192, 192, then=(3,))),
    _good("semaphore_of_acquire_and_release", grid=3, block=32, arguments=ints(3, 1, 1),
          expected=lambda a: {1: [a[0].sum()]}),
    _good("leader_of_a_coalesced_group_tells_behind_its_barrier", grid=2, block=32, arguments=ints(32, 32, 1, 32),
          expected=lambda a: {3: np.where(a[0] > 20, a[0], 0)}),
)  # fmt: skip
