"""A tenth set of kernels with a fault: pages and batches, work lists, carved memory, tickets and fix-ups.

It was written and committed as the seventh one was, in two parts. Rows of a batch, experts, key caches, stream-K, tiles
of several steps, votes and permits that do not come, scopes that are too narrow, launches of a wrong size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_BOUNDS, _SHARED, _LOCAL = "global-out-of-bounds", "shared-out-of-bounds", "local-out-of-bounds"
_LANE, _BARRIER, _LOOP, _ALIGNMENT = "inactive-lane", "barrier-divergence", "infinite-loop", "misaligned"
_UNSET_SHARED, _UNSET = "uninitialized-shared", "uninitialized-local"


def _bad(kernel: str, kind: str = "race", **fields: Any) -> CourseCase:
    return CourseCase(file="bad_tenth.cu", kernel=kernel, kind=kind, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: float) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def words(*values: int) -> np.ndarray:
    """These numbers as an array of ints."""
    return np.array(values, "i4")


def letters(text: str) -> np.ndarray:
    """A text of one byte per letter."""
    return np.frombuffer(text.encode(), "i1").copy()


def shared_weights() -> list:
    """Weights, steps, the same weights again, and an array of zeros."""
    weights = floats(64)
    return [weights, floats(64) + 1, weights, zeros(64, "f4")]


BAD_TENTH = (
    _bad("entry_of_the_page_after_the_last", _BOUNDS, grid=3, block=8,
         arguments=lambda: [words(5, 9, 16), np.arange(12, dtype="i4")[::-1].copy(), floats(384), zeros(24, "f4")]),
    _bad("nearest_pixel_rounded_up", _BOUNDS, block=32, arguments=_floats(10, 30, 10, 30)),
    _bad("ties_beyond_the_k_largest", _BOUNDS, block=32,
         arguments=lambda: [np.where(np.arange(64) % 6, 3, 9 - np.arange(64) % 4).astype("i4"), zeros(1), zeros(8), 7,
                            64]),
    _bad("padding_columns_of_an_ell_row", _BOUNDS, block=32,
         arguments=lambda: [words(0, 4, 2, 8, 1, -1, 7, 3, -1, -1, 5, -1), floats(12), floats(9), zeros(4, "f4"), 4,
                            3]),
    _bad("rows_to_the_longest_of_the_batch", _BOUNDS, grid=3, block=4,
         arguments=lambda: [words(0, 3, 8), floats(40), zeros(12, "f4"), 5]),
    _bad("sample_above_the_last_sum", _BOUNDS, block=20,
         arguments=lambda: [np.full(40, 0.0249, "f4"), np.linspace(0, 1, 20).astype("f4"), integers(40), zeros(20),
                            40]),
    _bad("tile_after_the_last_of_the_queue", _BOUNDS, grid=2, block=32,
         arguments=lambda: [floats(160), zeros(160, "f4"), zeros(1), 5]),
    _bad("pattern_compared_at_the_last_letters", _BOUNDS, block=40,
         arguments=lambda: [letters("ab" * 20), letters("aba"), zeros(40), 40, 3]),
    _bad("window_of_stride_two_at_the_right_edge", _BOUNDS, block=32,
         arguments=lambda: [floats(63), floats(3), zeros(32, "f4"), 63]),
    _bad("last_page_copied_whole", _BOUNDS, grid=3, arguments=_floats(160, 160, 160)),
    _bad("iterations_of_the_last_worker", _BOUNDS, grid=2, block=32, arguments=_floats(288, 96, 3, 3)),
    _bad("grid_for_blocks_of_half_the_size", _BOUNDS, grid=3, arguments=_floats(96, 96)),
    _bad("router_counts_a_shared_expert", _BOUNDS, block=32, arguments=lambda: [integers(30, 8), zeros(8), 30, 8]),
    _bad("matrix_rows_of_twenty_halves", _ALIGNMENT, block=32,
         arguments=lambda: [integers(160, 9999, np.uint16), zeros(32, "u4")]),
    _bad("head_of_twelve_halves_in_vectors", _ALIGNMENT, block=4,
         arguments=lambda: [integers(48, 9999, np.uint16), zeros(4, "u4")]),
    _bad("bytes_of_two_arrays_for_three", _SHARED, block=32, smem=192, arguments=_words(32, 32)),
    _bad("dilated_taps_with_the_halo_of_the_radius", _SHARED, grid=2, block=32, arguments=_floats(72, 64, 2)),
    _bad("swizzle_of_a_row_of_twelve", _SHARED, grid=6, block=12, arguments=_words(72, 72)),
    _bad("columns_of_a_lane_counted_down", _LOCAL, block=32, arguments=_floats(72, 96, 72)),
    _bad("start_of_the_first_row_left_out", _UNSET_SHARED, block=32,
         arguments=lambda: [integers(32, 4), integers(128), zeros(32)]),
    _bad("slots_reserved_for_those_that_do_not_come", _UNSET_SHARED, block=32, arguments=_words(32, 32)),
    _bad("peer_that_filled_fewer_slots", _UNSET_SHARED, grid=2, block=32,
         arguments=lambda: [words(32, 20), integers(64), zeros(64)]),
    _bad("second_step_with_a_halo_of_one", _UNSET_SHARED, grid=2, block=32, arguments=_floats(66, 64)),
    _bad("prefix_of_the_bins_of_one_warp", _UNSET_SHARED, arguments=_words(64, 64)),
    _bad("accumulators_set_at_the_first_page", _UNSET, block=32,
         arguments=lambda: [floats(64), integers(8), zeros(32, "f4"), 8]),
    _bad("bitonic_steps_of_a_warp_taken_twice_as_wide", arguments=_words(128, 128)),
    _bad("columns_follow_rows_without_a_barrier", block=(8, 8), arguments=_words(64, 64)),
    _bad("private_bins_cleared_by_all_and_used_by_one", arguments=_words(64, 16)),
    _bad("warp_barrier_ahead_of_the_store", block=96, arguments=_words(96, 96)),
    _bad("search_stopped_by_a_plain_flag", arguments=lambda: [np.arange(256, dtype="i4"), zeros(64), 70, 256]),
    _bad("maxima_of_the_warps_with_one_barrier", arguments=_words(256, 64, then=(4,))),
    _bad("dropped_threads_arrive_again", arguments=_words(64, 64)),
    _bad("cluster_count_in_the_scope_of_a_block", grid=2, block=32, arguments=_words(64, 1)),
    _bad("halves_of_a_tile_meet_alone", arguments=_words(64, 64)),
    _bad("tallies_by_lane_alone", arguments=lambda: [floats(256), zeros(32), 128]),
    _bad("flags_cleared_as_words_while_bytes_are_set", block=96, arguments=lambda: [integers(96), zeros(96, "u1")]),
    _bad("warp_that_returns_before_the_cuda_barrier", _LOOP, hangs=True, arguments=_words(64, 64, then=(40,))),
    _bad("producer_begins_with_parity_zero", _LOOP, hangs=True, arguments=_words(128, 32, then=(4,))),
    _bad("ping_pong_without_the_first_arrival", _BARRIER, hangs=True, arguments=_words(8, 1, then=(4,))),
    _bad("steps_of_a_tenth_until_exactly_one", _LOOP, hangs=True, block=20, arguments=_floats(20, 20)),
    _bad("permits_taken_by_all_and_given_back_by_one", _LOOP, hangs=True, arguments=_words(64, 64)),
    _bad("status_and_sum_stored_by_halves", grid=3, block=32, arguments=lambda: [integers(96), zeros(6, "u4"),
                                                                                 zeros(3)]),
    _bad("ticket_of_another_tile", grid=(2, 2), block=32, arguments=_words(128, 128, 2, 64)),
    _bad("fence_ahead_of_the_partial", grid=3, block=32,
         arguments=lambda: [integers(96), zeros(3), zeros(1, "u4"), zeros(1)]),
    _bad("slot_counted_when_it_is_reserved", grid=2, block=32, arguments=_words(32, 32, 1, 32)),
    _bad("written_after_the_lock_is_freed", grid=3, block=32, arguments=_words(3, 1, 1)),
    _bad("grid_barrier_of_relaxed_counts", grid=3, block=40, cooperative=True, arguments=_words(120, 120, 1, 120)),
    _bad("token_slots_that_repeat", grid=5, block=16,
         arguments=lambda: [words(3, 7, -1, 3, 0), floats(80), zeros(128, "f4")]),
    _bad("key_head_rotated_by_each_query_head", grid=4, block=8, arguments=lambda: [floats(64), floats(32), 2]),
    _bad("expert_outputs_added_plainly", grid=4, block=16,
         arguments=lambda: [words(0, 2, 1, 2), floats(4), floats(64), zeros(48, "f4")]),
    _bad("scale_read_while_others_raise_it", grid=2, arguments=lambda: [floats(128), zeros(1), zeros(128, "i1")]),
    _bad("offsets_made_while_tokens_are_counted", grid=3, block=40, arguments=_words(120, 8, 8, then=(8,))),
    _bad("one_generator_for_two_threads", block=32,
         arguments=lambda: [integers(16, 1 << 30, np.uint32), zeros(32), 10]),
    _bad("helper_adds_before_the_owner_stores", grid=2, block=32, arguments=_floats(256, 32, 8)),
    _bad("partial_of_one_helper_and_flag_of_the_other", grid=3, block=32, arguments=_words(96, 96, 3, 32)),
    _bad("occurrences_counted_plainly_in_a_claimed_slot", grid=2, block=40,
         arguments=lambda: [integers(80, 20), zeros(64), zeros(64)]),
    _bad("parent_stored_by_all_that_find_it", grid=2, block=4,
         arguments=lambda: [words(0, 1, 2, 0, 3, 1, 2, 4), words(3, 4, 4, 5, 6, 6, 3, 7),
                            words(1, 1, 1, 2, 2, 2, 2, 3), zeros(8), 1]),
    _bad("failure_table_used_while_it_is_built", arguments=lambda: [letters("abacabab"), zeros(8), zeros(64), 8]),
    _bad("fence_object_in_the_scope_of_the_block", grid=3, block=32, arguments=_words(96, 3, 1, 1)),
    _bad("stride_of_one_dimension_in_a_grid_of_two", grid=(2, 2), block=32, arguments=_floats(100, 100, 100)),
    _bad("bulk_sum_read_after_its_source_was", arguments=lambda: [floats(64), zeros(64, "f4"), zeros(64, "f4")]),
    _bad("last_of_the_active_by_its_lane", _LANE, block=32,
         arguments=lambda: [(np.where(np.arange(32) < 20, 4, 3) + np.arange(32) % 2 * 3).astype("i4"),
                            zeros(32)]),
    _bad("rows_reduced_by_lanes_of_the_next_row", _LANE, block=32, arguments=_words(32, 32)),
    _bad("block_vote_while_a_row_is_left", _BARRIER, block=40,
         arguments=lambda: [integers(40, 5), integers(160), zeros(40)]),
    _bad("producer_waits_for_what_it_fills", arguments=_floats(256, 32, 8)),
    _bad("first_lane_releases_what_its_warp_still_reads", arguments=_floats(128, 32, 4)),
    _bad("result_put_where_a_copy_is_still_to_come", arguments=_floats(192, 64, 3)),
    _bad("leaders_of_a_label_in_two_warps", arguments=lambda: [integers(64), integers(64, 50), zeros(4)]),
    _bad("window_longer_than_the_sequence", _BOUNDS, block=3,
         arguments=lambda: [words(0, 9, 11, 17), floats(51), zeros(3, "f4"), 3]),
    _bad("arrival_by_one_lane_of_the_warp", _BARRIER, arguments=_words(64, 64)),
    _bad("group_of_a_key_after_some_have_left", _LANE, block=32,
         arguments=lambda: [integers(32)[::-1].copy(), integers(32), zeros(32)]),
    _bad("last_stage_expects_a_whole_tile", _LOOP, hangs=True, block=32, arguments=_floats(80, 32, 80)),
    _bad("parity_from_the_number_of_the_tile", grid=3, block=32, arguments=_floats(224, 224, 7)),
    _bad("flags_of_the_first_round_still_set", grid=2, block=32, arguments=_words(128, 64, 1, 64),
         missed="the order of this run counts: the flag is set a second time when the owner looks again"),
    _bad("lanes_read_before_the_first_has_waited", grid=2, block=32, arguments=_words(32, 32, 1, 32)),
    _bad("matrices_of_a_ragged_tile", _UNSET_SHARED, block=32,
         arguments=lambda: [integers(48, 1 << 20, np.uint32), zeros(32, "u4"), 12]),
    _bad("queue_of_the_block_reset_while_warps_pop", block=96, arguments=_words(224, 7, then=(7,))),
    _bad("bits_of_the_next_level_tested_while_they_are_set", grid=2, block=40,
         arguments=lambda: [integers(80, 32), integers(80, 31), np.full(1, 0x5555_5555, "u4"), zeros(1, "u4")]),
    _bad("weights_changed_under_a_name_that_promises_not_to", "restrict-alias", arguments=shared_weights),
    _bad("heads_read_while_the_first_lane_advances", block=32,
         arguments=lambda: [np.sort(integers(32).reshape(4, 8)).reshape(-1), zeros(6), 6]),
    _bad("matrix_stored_and_read_by_another_lane_at_once", block=32,
         arguments=lambda: [integers(32, 1 << 20, np.uint32), zeros(32, "u4")]),
    _bad("row_pointer_of_a_row_that_its_owner_builds", grid=2, block=20,
         arguments=lambda: [integers(36, 4), zeros(36), zeros(144), 36]),
    _bad("accumulator_of_the_tile_kept_for_the_next", _UNSET, block=32,
         arguments=lambda: [floats(128), words(2, 4, 1, 3), zeros(32, "f4"), 4]),
    _bad("total_of_a_column_kept_by_the_first_row_alone", block=(16, 8), arguments=_words(128, 16)),
)  # fmt: skip
