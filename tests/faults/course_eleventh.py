"""An eleventh set of kernels with a fault: leaders that speak for their warps, copies, rings, tails, carved memory.

It was written and committed as the tenth one was, in one part: before its first run, and without a look at the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_BOUNDS, _SHARED, _LOCAL = "global-out-of-bounds", "shared-out-of-bounds", "local-out-of-bounds"
_LANE, _BARRIER, _LOOP, _ALIGNMENT = "inactive-lane", "barrier-divergence", "infinite-loop", "misaligned"
_UNSET_SHARED, _UNSET = "uninitialized-shared", "uninitialized-local"


def _bad(kernel: str, kind: str = "race", **fields: Any) -> CourseCase:
    return CourseCase(file="bad_eleventh.cu", kernel=kernel, kind=kind, **fields)


def ints(read: int, *written: int, then: tuple = ()) -> Any:
    """Arguments: random ints, arrays of zeros of these lengths, and then these numbers."""
    return lambda: [integers(read), *map(zeros, written), *then]


def reals(read: int, *written: int, then: tuple = ()) -> Any:
    """The same of floats."""
    return lambda: [floats(read), *(zeros(n, "f4") for n in written), *then]


def children(*nodes: int) -> np.ndarray:
    """The children of nodes of a tree."""
    return np.array(nodes, "i4")


BAD_ELEVENTH = (
    _bad("leader_raises_the_flag_of_its_row", grid=2, block=32, arguments=ints(32, 32, 1, 32)),
    _bad("leader_frees_a_slot_that_is_being_read", grid=2, block=32, arguments=ints(96, 32, 1, 96, then=(3,))),
    _bad("head_of_a_tile_tells_before_its_tile_is_done", grid=2, block=32,
         arguments=lambda: [integers(64), zeros(64), zeros(1, "u4"), zeros(16)]),
    _bad("leader_passes_the_baton_too_soon", arguments=ints(32, 32)),
    _bad("shuffles_in_place_of_a_warp_barrier", grid=2, block=32,
         arguments=lambda: [floats(32), zeros(32, "f4"), zeros(1, "f4"), zeros(1), zeros(32, "f4")]),
    _bad("maximum_read_while_sums_are_stored", arguments=reals(64, 64)),
    _bad("square_turned_over_its_diagonal_by_both_halves", grid=(2, 2), block=(8, 8), arguments=ints(256, then=(16,))),
    _bad("smoothed_where_the_neighbours_still_look", grid=2, block=32, arguments=reals(64, then=(64,))),
    _bad("votes_counted_with_plus_plus", arguments=ints(200, 8, then=(200,))),
    _bad("best_value_by_an_atomic_and_its_place_by_a_store", grid=2, arguments=ints(128, 1, 1, then=(128,))),
    _bad("message_posted_without_a_fence", grid=2, block=32, arguments=ints(1, 1, 1, 1)),
    _bad("message_posted_for_the_block_alone", grid=2, block=32, arguments=ints(32, 32, 32, 32)),
    _bad("counted_as_done_ahead_of_the_barrier", grid=3,
         arguments=lambda: [integers(192), zeros(192), zeros(1, "u4"), zeros(1)]),
    _bad("last_block_trusts_the_count_alone", grid=3,
         arguments=lambda: [floats(192), zeros(3, "f4"), zeros(1, "u4"), zeros(3, "f4")]),
    _bad("account_locked_and_not_fenced", grid=3, block=32, arguments=ints(3, 1, 1)),
    _bad("lock_opened_by_a_plain_store", grid=3, block=32, arguments=ints(3, 1, 1)),
    _bad("table_made_by_whoever_comes_first", grid=2, block=32, arguments=ints(64, 8, 1, 1, 64)),
    _bad("total_of_the_grid_in_the_scope_of_a_block", grid=2, arguments=ints(128, 1)),
    _bad("partials_added_by_the_first_block_at_once", grid=3, block=32, arguments=ints(96, 3, 1)),
    _bad("heat_of_one_array_with_one_grid_barrier", grid=2, block=32, cooperative=True,
         arguments=reals(64, then=(64, 2))),
    _bad("running_sum_in_one_buffer", arguments=ints(64, 64)),
    _bad("next_tile_loaded_over_the_one_in_use", grid=(2, 2), block=(8, 8),
         arguments=lambda: [floats(256), floats(256) + 1, zeros(256, "f4"), 16]),
    _bad("exchanges_of_a_sort_without_a_barrier_between", block=128, arguments=ints(128, 128)),
    _bad("copy_used_as_soon_as_it_is_committed", arguments=reals(64, 64)),
    _bad("each_thread_waits_for_its_own_copy_alone", arguments=reals(64, 64)),
    _bad("last_stage_not_drained", arguments=reals(256, 64, then=(4,))),
    _bad("rounds_of_an_mbarrier_all_asked_for_phase_zero", _LOOP, hangs=True, arguments=ints(96, 96, then=(3,))),
    _bad("mbarrier_for_more_than_arrive", _LOOP, hangs=True, arguments=ints(64, 64)),
    _bad("mbarrier_used_before_the_others_know_of_it", arguments=ints(64, 64)),
    _bad("bulk_copy_to_the_middle_of_sixteen_bytes", _ALIGNMENT, arguments=reals(64, 64)),
    _bad("buffer_filled_anew_while_it_is_sent", arguments=reals(192, 192, then=(3,))),
    _bad("neighbour_of_the_cluster_read_at_once", grid=2, block=32, arguments=ints(64, 64)),
    _bad("halo_sent_into_a_peer_that_has_not_met_it", grid=2, block=32, arguments=ints(64, 64)),
    _bad("tile_synchronised_where_the_block_wrote", arguments=ints(64, 64)),
    _bad("group_copy_that_nobody_waits_for", arguments=ints(64, 64)),
    _bad("heads_of_labels_add_plainly", arguments=lambda: [integers(64, 5), zeros(5)]),
    _bad("halves_of_a_word_one_by_cas_one_by_store", arguments=lambda: [zeros(1, "u4")]),
    _bad("smallest_set_to_infinity_by_the_first_thread",
         arguments=lambda: [integers(64, 1 << 20, np.uint32), zeros(1, "u4")]),
    _bad("read_only_view_of_what_others_write", "restrict-alias", arguments=lambda: [a := zeros(128), a, 64]),
    _bad("reversed_from_one_behind_the_end", _BOUNDS, grid=2, arguments=ints(100, 100, then=(100,))),
    _bad("vectors_of_four_rounded_up", _BOUNDS, block=32, arguments=reals(101, 101, then=(101,))),
    _bad("height_taken_for_the_pitch", _BOUNDS, grid=(2, 1), block=(16, 8), arguments=ints(192, 192, then=(24, 8))),
    _bad("tile_with_a_halo_on_one_side", _SHARED, grid=2, block=32, arguments=reals(64, 64, then=(64,))),
    _bad("keys_and_values_in_memory_for_keys", _SHARED, smem=256,
         arguments=lambda: [integers(64), integers(64, 50), zeros(64)]),
    _bad("stack_of_a_thread_deeper_than_its_array", _LOCAL, block=32,
         arguments=lambda: [children(1, -1, 5, -1, -1, -1, 7, -1, -1), children(2, -1, 6, -1, -1, -1, 8, -1, -1),
                            zeros(32)]),
    _bad("rows_of_a_graph_up_to_and_with_the_last", _BOUNDS, block=32,
         arguments=lambda: [np.arange(0, 42, 2, dtype="i4"), integers(40), zeros(21), 20]),
    _bad("value_of_one_has_a_bin_of_its_own", _BOUNDS, arguments=lambda: [np.linspace(0, 1, 64).astype("f4"),
                                                                          zeros(16), 64]),
    _bad("shift_to_the_left_modulo_a_signed_number", _BOUNDS, arguments=ints(64, 64, then=(3, 64))),
    _bad("offset_of_a_plane_in_thirty_two_bits", _BOUNDS, block=32, arguments=ints(7, 32, then=(1 << 29, 7))),
    _bad("printed_with_the_next_value", _BOUNDS, block=32, arguments=reals(20, then=(20,))),
    _bad("four_floats_from_the_second_on", _ALIGNMENT, block=16, arguments=reals(68, 16)),
    _bad("doubles_behind_an_odd_number_of_ints", _ALIGNMENT, block=32, smem=12 + 256,
         arguments=lambda: [integers(3), zeros(32, "f8"), 3]),
    _bad("pairs_of_halves_from_an_odd_column", _ALIGNMENT, block=8,
         arguments=lambda: [floats(42, "f2"), zeros(8, "f4"), 5]),
    _bad("sums_of_thirty_two_warps_where_three_are", _UNSET_SHARED, block=96, arguments=ints(96, 1)),
    _bad("bins_of_shared_memory_that_begin_with_anything", _UNSET_SHARED, smem=64, arguments=ints(64, 16)),
    _bad("digits_of_a_short_number", _UNSET, block=32, arguments=lambda: [integers(32, 99), zeros(32)]),
    _bad("barrier_for_those_in_range", _BARRIER, arguments=ints(64, 128, then=(40,))),
    _bad("steps_of_each_row_with_a_barrier_inside", _BARRIER,
         arguments=lambda: [integers(64, 4), integers(256), zeros(64)]),
    _bad("sum_of_a_warp_under_a_condition", _LANE, block=32, arguments=ints(32, 32, then=(20,))),
    _bad("mask_of_the_lower_half_for_everybody", _LANE, block=32, arguments=ints(32, 32)),
    _bad("value_from_a_lane_that_was_voted_out", _LANE, block=32,
         arguments=lambda: [np.arange(32, dtype="i4"), zeros(32)]),
    _bad("ticket_that_is_never_called", _LOOP, hangs=True, grid=2, block=32,
         arguments=lambda: [zeros(1), zeros(1), zeros(1)]),
    _bad("grid_barrier_that_one_block_leaves_out", _LOOP, hangs=True, grid=3, block=32, cooperative=True,
         arguments=ints(96, 96, 96, then=(64,))),
    _bad("flag_of_a_block_that_comes_later_in_a_full_queue", _LOOP, hangs=True, grid=3, block=32,
         arguments=lambda: [np.array([4, 0, 5], "i4"), zeros(3), zeros(96)]),
    _bad("bits_of_one_byte_set_by_two_threads", block=32, arguments=lambda: [zeros(16, "u1")]),
    _bad("planes_of_a_block_that_forget_their_depth", block=(8, 8, 2), arguments=ints(128, 64, then=(8,))),
    _bad("strides_of_a_block_in_a_grid_of_three", grid=3, arguments=ints(128, then=(128,))),
    _bad("node_of_the_heap_freed_and_then_read", _BOUNDS, block=32, arguments=lambda: [zeros(32)]),
    _bad("array_of_the_heap_one_too_short", _BOUNDS, block=32, arguments=ints(6, 32, then=(6,))),
    _bad("copied_by_memcpy_beyond_its_end", _BOUNDS, block=16, arguments=ints(62, 64)),
    _bad("atomic_of_the_block_seen_by_the_grid", grid=2, block=32, arguments=ints(1, 1, 1, 1)),
    _bad("relaxed_flag_in_front_of_plain_data", grid=2, block=32, arguments=ints(1, 1, 1, 1)),
    _bad("elected_lane_tells_for_its_warp", grid=2, block=32,
         arguments=lambda: [integers(32), zeros(32), zeros(1, "u4"), zeros(32)]),
    _bad("leader_of_the_active_lanes_tells_for_them", grid=2, block=32, arguments=ints(32, 32, 1, 32)),
    _bad("asked_once_whether_the_phase_is_over", arguments=ints(64, 64)),
    _bad("sum_of_a_bulk_reduction_read_without_a_wait", arguments=ints(64, 64, 64)),
    _bad("triple_of_ints_by_a_vector_of_four", _ALIGNMENT, block=8, arguments=ints(28, 8)),
    _bad("aligned_by_promise_alone", _ALIGNMENT, block=8, arguments=reals(36, 8, then=(3,))),
    _bad("recursion_into_a_shared_stack", _SHARED, block=32,
         arguments=lambda: [np.array([-1, 0, 1, 2, 3, 4], "i4"), zeros(1)]),
    _bad("fields_of_a_record_of_which_one_is_left_out", _UNSET_SHARED, block=32,
         arguments=lambda: [integers(32), zeros(32, "f4")]),
    _bad("shuffled_among_active_lanes_of_two_branches", _LANE, block=32, arguments=ints(32, 32)),
    _bad("barrier_passed_by_a_pointer_to_a_function", _BARRIER, arguments=ints(64, 64)),
    _bad("tail_of_a_sum_in_the_first_warp_without_volatile", arguments=ints(64, 1)),
    _bad("barrier_of_a_grid_that_counts_warps", grid=2, cooperative=True,
         arguments=lambda: [integers(128), zeros(128), zeros(1, "u4"), zeros(128)]),
    _bad("value_of_the_last_iteration_kept_in_shared_memory", arguments=ints(192, 192, then=(3,))),
    _bad("semaphore_of_relaxed_orders", grid=3, block=32, arguments=ints(3, 1, 1)),
    _bad("constant_table_read_behind_its_end", _BOUNDS, block=32, arguments=ints(40, 32, then=(5,))),
    _bad("counter_of_the_module_raised_plainly", grid=2, block=32, arguments=lambda: [zeros(64)]),
)  # fmt: skip
