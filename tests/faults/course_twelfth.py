"""A twelfth set of kernels with a fault: templates, references, leases, drains, packed words, lists, rings of messages.

It was written and committed as the eleventh one was, in one part: before its first run, and without a look at the
others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_BOUNDS, _SHARED, _LOCAL = "global-out-of-bounds", "shared-out-of-bounds", "local-out-of-bounds"
_LANE, _BARRIER, _LOOP, _ALIGNMENT = "inactive-lane", "barrier-divergence", "infinite-loop", "misaligned"
_UNSET_SHARED, _UNSET = "uninitialized-shared", "uninitialized-local"


def _bad(kernel: str, kind: str = "race", **fields: Any) -> CourseCase:
    return CourseCase(file="bad_twelfth.cu", kernel=kernel, kind=kind, **fields)


def ints(read: int, *written: int, then: tuple = ()) -> Any:
    """Arguments: random ints, arrays of zeros of these lengths, and then these numbers."""
    return lambda: [integers(read), *map(zeros, written), *then]


def reals(read: int, *written: int, then: tuple = ()) -> Any:
    """The same of floats."""
    return lambda: [floats(read), *(zeros(n, "f4") for n in written), *then]


def unsigned(n: int, high: int = 100) -> np.ndarray:
    """Random numbers without a sign."""
    return integers(n, high, np.uint32)


def filled(n: int, value: int = -1) -> np.ndarray:
    """An array with this number everywhere."""
    return np.full(n, value, "i4")


def permuted(n: int) -> np.ndarray:
    """The numbers from 0, in a random order."""
    return np.random.default_rng(n).permutation(n).astype("i4")


BAD_TWELFTH = (
    _bad("template_scan_adds_where_it_still_reads", block=96, arguments=ints(96, 96)),
    _bad("reducer_struct_without_its_inner_barrier", block=128, arguments=reals(128, 128)),
    _bad("two_reductions_through_one_scratch", block=192, arguments=reals(192, 192)),
    _bad("ping_pong_with_one_hand", block=160, arguments=ints(160, 160, then=(4,))),
    _bad("count_of_a_round_cleared_while_it_is_read", block=96, arguments=ints(288, 288, then=(3,))),
    _bad("slot_for_a_broadcast_written_in_the_next_turn", arguments=lambda: [np.array([0, 81, 130, 248], "i4"),
                                                                             zeros(248), 3]),
    _bad("bins_read_before_all_have_voted", block=128, arguments=lambda: [unsigned(217), zeros(13, "u4"), 217]),
    _bad("bytes_of_words_that_others_write", block=160, arguments=lambda: [unsigned(40, 1 << 30), zeros(160, "u4")]),
    _bad("marks_of_a_bitmap_without_atomics", block=128, arguments=lambda: [integers(232, 256), zeros(8, "u4"), 232]),
    _bad("group_of_eight_meets_and_reads_sixteen", arguments=ints(64, 64)),
    _bad("active_threads_meet_and_read_the_other_branch", block=32, arguments=ints(32, 32)),
    _bad("neighbours_of_a_warp_by_volatile_alone", block=192, arguments=reals(192, 192)),
    _bad("warp_tells_another_by_a_volatile_word", arguments=ints(32, 64)),
    _bad("last_warp_in_the_block_adds_without_a_fence", block=192, arguments=ints(192, 1)),
    _bad("rolled_by_a_block_in_place", grid=4, arguments=ints(247, then=(247, 37))),
    _bad("columns_summed_by_bands_of_rows", grid=(1, 4), block=32,
         arguments=lambda: [floats(21 * 28), zeros(28, "f4"), 21, 28, 6]),
    _bad("windows_of_one_array_that_overlap", grid=4,
         arguments=lambda: [(a := integers(217))[:-5], a[5:], 212]),
    _bad("best_so_far_checked_and_then_stored", grid=3, arguments=ints(250, 1, then=(250,))),
    _bad("next_row_from_a_variable_of_the_module", grid=3, block=32, arguments=ints(352, 352, then=(11,))),
    _bad("rows_then_columns_with_a_barrier_of_the_block", grid=2, block=16, cooperative=True,
         arguments=lambda: [floats(29 * 29), zeros(29, "f4"), 29]),
    _bad("third_phase_begins_without_the_grid", grid=4, block=32, cooperative=True,
         arguments=ints(117, 117, 117, 117, then=(117,))),
    _bad("queue_is_emptied_while_others_pop", grid=2, block=32, arguments=ints(77, 1, 77, then=(77,))),
    _bad("packed_elements_counted_by_whoever_is_first", grid=3, arguments=ints(165, 165, 1, 3, then=(165,))),
    _bad("flag_released_ahead_of_the_message", grid=2, block=1, arguments=ints(1, 1, 1, 1)),
    _bad("writer_of_the_ring_ignores_the_reader", grid=2, block=1, arguments=ints(8, 3, 1, 8, then=(8,))),
    _bad("node_linked_after_the_head_has_moved", grid=2, block=32,
         arguments=lambda: [filled(27), filled(1), zeros(1), 27]),
    _bad("key_claimed_and_its_value_stored_later", grid=2, block=16,
         arguments=lambda: [permuted(32), filled(37), zeros(37), zeros(32)]),
    _bad("status_of_a_tile_ahead_of_its_sum", grid=4, block=32, arguments=ints(128, 4, 4, 4)),
    _bad("elements_packed_to_the_front_in_place", grid=3, arguments=ints(184, 1, then=(184,))),
    _bad("pairs_of_a_sort_that_share_an_element", block=52, arguments=ints(52, then=(52,))),
    _bad("reversed_in_place_by_twice_as_many", grid=3, arguments=ints(146, then=(146,))),
    _bad("warp_leader_adds_with_a_plus", grid=2, block=96, arguments=ints(170, 1, then=(170,))),
    _bad("reference_beside_a_plain_look", grid=3, arguments=ints(192, 1, 3)),
    _bad("each_writes_its_place_and_the_next", grid=2,
         arguments=lambda: [integers(91, dtype=np.int16), zeros(91, "i2"), 91]),
    _bad("both_corners_of_a_matrix_by_both_threads", block=(9, 9), arguments=lambda: [zeros(81, "f8"), 9]),
    _bad("everybody_who_finds_it_says_yes", severity="warning", grid=4, block=32,
         arguments=ints(126, 1, then=(2, 126))),
    _bad("every_warp_writes_the_same_scale", severity="warning", block=160, arguments=reals(160, 1, 160)),
    _bad("place_of_a_match_by_whoever_is_last", grid=4, block=32, arguments=ints(126, 1, then=(3, 126))),
    _bad("last_thread_out_adds_what_the_others_left", grid=2, block=27,
         arguments=lambda: [integers(54), zeros(54), filled(1, 54), zeros(1), 54]),
    _bad("lease_returned_before_the_last_write", grid=4, block=32, arguments=lambda: [zeros(1), zeros(1), zeros(1)]),
    _bad("lanes_leave_a_loop_that_shuffles", _LANE, block=32, arguments=ints(32, 32)),
    _bad("equal_keys_of_a_tail_with_a_full_mask", _LANE, grid=3, block=32,
         arguments=lambda: [integers(77, 9), zeros(96), 77]),
    _bad("halves_with_each_others_masks", _LANE, arguments=lambda: [unsigned(64), zeros(64, "u4")]),
    _bad("source_lane_behind_the_mask", _LANE, block=32, arguments=ints(32, 32)),
    _bad("any_lane_asked_in_a_short_circuit", _LANE, arguments=ints(64, 64)),
    _bad("barrier_behind_a_break_of_some_threads", _BARRIER, block=73, arguments=ints(73, 73, then=(5,))),
    _bad("vote_of_the_block_in_a_short_circuit", _BARRIER, block=96, arguments=ints(96, 96)),
    _bad("named_barrier_for_a_warp_and_a_half", _BARRIER, arguments=ints(64, 64)),
    _bad("named_barrier_that_waits_for_a_third_warp", _BARRIER, hangs=True, arguments=ints(32, 32)),
    # The warp that fills may arrive twice in one phase; then the other one waits for ever.
    _bad("named_barriers_without_the_way_back", hangs=True, arguments=ints(128, 128, then=(4,))),
    _bad("pipeline_waits_for_all_but_the_newest", arguments=reals(256, 256, then=(4,))),
    _bad("bytes_of_one_row_too_many_expected", _LOOP, hangs=True, arguments=reals(96, 96, then=(4,))),
    _bad("bulk_copy_of_thirteen_floats", _ALIGNMENT, arguments=reals(16, 13)),
    _bad("barrier_wiped_with_the_scratch_in_front_of_it", "mbarrier-misuse", arguments=reals(28, 28)),
    _bad("parity_of_the_first_tile_for_the_second", block=32, arguments=reals(120, 120, then=(3,))),
    _bad("source_changed_while_a_bulk_copy_reads_it", arguments=reals(64, 64)),
    _bad("stored_in_bulk_without_a_fence_between_proxies", block=96, arguments=reals(96, 96)),
    _bad("token_of_a_barrier_thrown_away", block=128, arguments=ints(128, 128)),
    _bad("peer_of_a_cluster_beyond_its_end", _SHARED, grid=4, block=32, arguments=ints(128, 128)),
    _bad("bins_of_the_first_block_raised_by_all", grid=3, arguments=ints(192, 7)),
    _bad("block_leaves_while_its_peer_reads", grid=2, arguments=ints(128, 64)),
    _bad("periodic_border_with_a_negative_remainder", _BOUNDS, grid=2, arguments=reals(106, 106, then=(106,))),
    _bad("index_in_sixteen_bits", _BOUNDS, block=32, arguments=lambda: [zeros(48000, "u1"), zeros(32), 1500]),
    _bad("countdown_of_an_unsigned_below_zero", _BOUNDS, block=32,
         arguments=lambda: [integers(148), zeros(32), np.uint32(148)]),
    _bad("tile_of_rows_read_one_row_lower", _SHARED, arguments=ints(54, 54)),
    _bad("digit_of_a_system_with_twelve", _LOCAL, block=29, arguments=ints(203, 290, then=(203,))),
    _bad("optional_bias_that_was_not_given", _BOUNDS, block=32, arguments=lambda: [floats(82), zeros(82, "f4"), None,
                                                                                   82]),
    _bad("missing_neighbour_marked_by_minus_one", _BOUNDS, grid=2, block=32,
         arguments=lambda: [floats(81), np.where(integers(243) < 90, integers(243, 81), -1).astype("i4"),
                            zeros(81, "f4"), 81, 3]),
    _bad("bin_of_the_greatest_value", _BOUNDS,
         arguments=lambda: [np.linspace(0, 7, 152).astype("f4"), zeros(19, "u4"), 152, 19, 7.0]),
    _bad("field_of_a_struct_that_has_three", _BOUNDS, grid=2, arguments=reals(3 * 91, then=(91,))),
    _bad("halves_in_pairs_of_an_odd_row", _ALIGNMENT, block=32,
         arguments=lambda: [floats(11 * 37, "f2"), zeros(11, "f4"), 11, 37]),
    _bad("double_behind_a_header_of_four_bytes", _ALIGNMENT, block=7, arguments=lambda: [zeros(64, "u1"),
                                                                                        zeros(7, "f8")]),
    _bad("wide_swap_at_an_odd_word", _ALIGNMENT, block=20, arguments=lambda: [zeros(62, "u4")]),
    _bad("smallest_of_the_block_without_a_start", _UNSET_SHARED, block=96, arguments=ints(223, 1, then=(223,))),
    _bad("tail_of_a_tile_that_nobody_fills", _UNSET_SHARED, grid=2, arguments=reals(109, 128, then=(109,))),
    _bad("column_of_padding_added_to_the_row", _UNSET_SHARED, block=32, arguments=ints(1024, 32)),
    _bad("list_of_the_best_shorter_than_asked", _UNSET, block=32, arguments=ints(147, 32, then=(147, 8))),
    _bad("moved_under_a_predicate_alone", _UNSET, block=42, arguments=ints(42, 42)),
    _bad("steps_to_one_from_nothing", _LOOP, hangs=True, block=36, arguments=lambda: [np.arange(36, dtype="u4"),
                                                                                      zeros(36)]),
    _bad("count_of_warps_of_which_one_has_gone", _LOOP, hangs=True, block=96, arguments=ints(96, 96, then=(57,))),
    _bad("two_accounts_locked_in_both_orders", _LOOP, hangs=True, grid=2, block=1,
         arguments=lambda: [zeros(2), zeros(1), zeros(2)]),
    _bad("permit_given_to_the_wrong_stage", _LOOP, hangs=True, arguments=ints(224, 224, then=(7,))),
    _bad("drain_of_a_buffer_that_is_filled_again", grid=2, block=48, arguments=ints(222, 16, 1, 1, then=(222,))),
    _bad("value_computed_by_one_lane_and_its_copy_stored", block=160, arguments=ints(160, 160)),
)  # fmt: skip
