"""A thirteenth set of kernels with a fault: promises, peers, phases, groups, masks, indices, vectors, buffers, scopes.

It was written and committed before its first run, by somebody who had read how races in global memory are found, and of
the other sets only the names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros
from tests.faults.course_twelfth import ints, reals, unsigned

_BOUNDS, _SHARED, _ALIAS = "global-out-of-bounds", "shared-out-of-bounds", "restrict-alias"
_LANE, _BARRIER, _LOOP, _ALIGNMENT = "inactive-lane", "barrier-divergence", "infinite-loop", "misaligned"


def _bad(kernel: str, kind: str = "race", **fields: Any) -> CourseCase:
    return CourseCase(file="bad_thirteenth.cu", kernel=kernel, kind=kind, **fields)


def both(n: int, *then: int) -> Any:
    """One array of floats for two arguments, and then these numbers."""
    return lambda: [x := floats(n), x, *then]


def shifted(n: int, by: int) -> Any:
    """The first ``n`` numbers of an array, and ``n`` of it from element ``by`` on."""
    return lambda: [(x := integers(n + by))[:n], x[by:]]


BAD_THIRTEENTH = (
    _bad("output_raised_twice_by_a_promised_input", _ALIAS, severity="warning", grid=2, arguments=both(128)),
    _bad("smoothed_over_a_promised_input", _ALIAS, arguments=both(64, 64)),
    _bad("weights_of_the_module_read_as_fixed", _ALIAS, arguments=ints(64, 64)),
    _bad("promised_rows_normalised_onto_themselves", _ALIAS, grid=3, block=48, arguments=both(180, 60)),
    _bad("overlapping_windows_with_a_promise", arguments=shifted(64, 16)),
    _bad("peers_counter_reset_by_its_reader", grid=4, arguments=ints(256, 4)),
    _bad("ring_of_a_cluster_with_one_meeting_per_turn", grid=2, arguments=ints(128, 128, then=(3,))),
    _bad("peer_tile_read_at_the_index_of_the_cluster", _SHARED, grid=2, block=32, arguments=ints(64, 64)),
    _bad("one_group_may_stay_when_there_is_one", arguments=ints(64, 64)),
    _bad("barrier_ahead_of_the_wait_for_the_copy", block=96, arguments=ints(96, 96)),
    _bad("sixteen_bytes_copied_from_the_second_element", _ALIGNMENT, block=32, arguments=reals(132, 128)),
    _bad("parity_of_the_turn_where_stages_are_two", arguments=reals(256, 64, then=(4,))),
    _bad("arrivals_of_a_warp_where_the_block_is_expected", _LOOP, hangs=True, arguments=ints(64, 64)),
    _bad("mbarrier_set_up_again_for_each_tile", "mbarrier-misuse", arguments=ints(192, 64, then=(3,))),
    _bad("tile_of_a_branch_that_half_of_it_takes", _LANE, arguments=ints(64, 64)),
    _bad("two_of_three_blocks_meet_as_a_grid", _LOOP, hangs=True, grid=3, block=32, cooperative=True,
         arguments=ints(96, 96)),
    _bad("leaders_of_tiles_meet_as_a_block", _BARRIER, arguments=ints(64, 64)),
    _bad("mask_that_does_not_name_its_own_lane", _LANE, block=32, arguments=lambda: [unsigned(32), zeros(32, "u4")]),
    _bad("source_lane_of_the_other_half", _LANE, block=32, arguments=ints(32, 32)),
    _bad("active_lanes_of_before_the_branch", _LANE, block=32, arguments=ints(32, 32)),
    _bad("nonzero_keys_matched_by_all", _LANE, block=32, arguments=ints(32, 32)),
    _bad("columns_turned_to_rows_by_one_warp", arguments=ints(64, 64)),
    _bad("prefix_of_a_warp_in_shared_words", arguments=ints(64, 64)),
    _bad("sum_of_a_warp_spread_by_its_first_lane", block=128, arguments=lambda: [unsigned(128) + 1, zeros(128, "u4")]),
    _bad("heap_that_has_no_room", _BOUNDS, block=1, arguments=ints(1, 1, then=(64,))),
    _bad("asserted_that_rows_are_sorted", "assert", arguments=ints(41, 40, then=(40,))),
    _bad("memory_of_the_block_handed_out_too_soon", arguments=ints(64, 64)),
    _bad("plane_times_pitch_in_an_int", _BOUNDS, arguments=reals(64, 64, then=(3, 40000, 20000))),
    _bad("rounded_down_by_a_mask_of_32_bits", _BOUNDS, arguments=reals(64, 64)),
    _bad("back_by_one_with_an_unsigned_minus_one", _BOUNDS, arguments=ints(64, 64)),
    _bad("four_columns_at_once_of_thirty", _ALIGNMENT, block=(8, 4), arguments=reals(120, 32, then=(30,))),
    _bad("length_of_a_message_behind_one_byte", _ALIGNMENT, block=16,
         arguments=lambda: [np.arange(1, 129, dtype="u1"), zeros(16)]),
    _bad("next_tile_stored_into_the_present_half", arguments=reals(192, 64, then=(3,))),
    _bad("buffers_swapped_by_one_thread", arguments=ints(64, 64, then=(3,))),
    _bad("count_of_all_blocks_by_atomics_of_one", grid=3, arguments=ints(192, 1)),
    _bad("volatile_total_raised_by_all", arguments=ints(64, 1)),
    _bad("ready_told_in_the_scope_of_the_own_block", grid=2, block=32, arguments=ints(1, 1, 1, 2)),
    _bad("exchanged_flag_and_no_fence_before", grid=2, arguments=ints(64, 64, 1, 64)),
    _bad("third_warp_at_another_barrier", _BARRIER, hangs=True, block=96, arguments=ints(96, 96)),
    _bad("second_array_begins_in_the_middle_of_the_first", smem=512,
         arguments=lambda: [floats(64), integers(64), zeros(64, "f4"), 64]),
    _bad("memory_asked_for_the_first_array_alone", _SHARED, smem=256, arguments=reals(64, 64, then=(64,))),
    _bad("records_with_gaps_copied_as_words", "uninitialized-shared", block=32, arguments=ints(32, 64)),
    # The second part, after the first one's run.
    _bad("cluster_arrives_relaxed_and_reads_its_peer", grid=2, arguments=ints(128, 128)),
    _bad("copies_told_to_an_mbarrier_before_they_are_made", arguments=ints(64, 64)),
    _bad("totals_of_lanes_in_a_union_of_two_types", "uninitialized-shared",
         arguments=lambda: [integers(64), zeros(64, "f8")]),
    _bad("product_of_two_shorts_as_an_index", _SHARED,
         arguments=lambda: [np.full(64, 300, "i2"), np.full(64, 150, "i2"), zeros(64)]),
    _bad("tile_of_eight_meets_in_one_branch_of_sixteen", arguments=ints(64, 64)),
    _bad("counted_by_a_volatile_shared_word", arguments=ints(64, 1)),
    _bad("promise_of_a_lookup_table_that_is_sorted_meanwhile", _ALIAS,
         arguments=lambda: [x := np.random.default_rng(1).permutation(64).astype("i4"), x, 64]),
    _bad("printed_array_beyond_its_length", _BOUNDS, block=32, arguments=lambda: [integers(8), 8]),
    _bad("halves_added_by_pairs_at_an_odd_half", _ALIGNMENT, block=16,
         arguments=lambda: [zeros(64, "f2"), floats(16)]),
    _bad("scratch_of_the_heap_returned_ahead_of_its_last_use", _BOUNDS, arguments=ints(64, 64)),
)  # fmt: skip
