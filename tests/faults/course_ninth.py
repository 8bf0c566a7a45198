"""A ninth set of kernels with a fault: searches, fragments, tensor maps, tagged words, scopes, hand-overs.

It was written and committed as the seventh one was. Counters that are too short, pointers made of numbers, padding
bytes, atomics of two widths, blocks that are no multiple of a warp, tiles sent to a peer, products of warpgroups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import softlab
from tests.faults.course_case import CourseCase, floats, integers, zeros

_BOUNDS, _SHARED, _LOCAL = "global-out-of-bounds", "shared-out-of-bounds", "local-out-of-bounds"
_LANE, _BARRIER, _LOOP, _ALIGNMENT = "inactive-lane", "barrier-divergence", "infinite-loop", "misaligned"
_UNSET_SHARED, _UNSET = "uninitialized-shared", "uninitialized-local"


def _bad(kernel: str, kind: str = "race", **fields: Any) -> CourseCase:
    return CourseCase(file="bad_ninth.cu", kernel=kernel, kind=kind, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: float) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def halves(n: int) -> np.ndarray:
    """The bits of normally distributed numbers of 16 bits, always the same."""
    return floats(n, "f2").view("i2")


def tiles(rows: int, box: tuple[int, int] = (8, 16)) -> softlab.TensorMap:
    """A map of rows of 16 floats."""
    return softlab.TensorMap(floats(rows * 16).reshape(rows, 16), box=box)


def block_rows(columns: int) -> list:
    """Two rows of two blocks of 4 by 4 each: begins, columns and values. One block has the last columns."""
    begins, places = np.array([0, 2, 4], "i4"), np.array([0, columns // 4, 1, 2], "i4")
    return [begins, places, floats(64)]


BAD_NINTH = (
    _bad("upper_bound_of_the_largest", _BOUNDS,
         arguments=lambda: [3 * np.arange(50, dtype="i4"), integers(64, 200), zeros(64), 50]),
    _bad("short_counter_of_a_long_row", _BOUNDS, arguments=lambda: [zeros(32767, "i1"), zeros(64), 32767]),
    _bad("left_neighbour_without_a_sign", _BOUNDS, grid=2, arguments=_floats(100, 100, 100)),
    _bad("merge_path_without_its_lower_limit", _BOUNDS, grid=2, block=48,
         arguments=lambda: [3 * np.arange(60, dtype="i4"), 7 * np.arange(20, dtype="i4"), zeros(80), 60, 20]),
    _bad("alpha_of_three_channels", _BOUNDS, grid=3, block=30,
         arguments=lambda: [integers(255, 256, np.uint8), zeros(85, "u4"), 85]),
    _bad("rounded_up_to_the_next_sixteen", _BOUNDS, block=12, arguments=_floats(62, 1, 62)),
    _bad("fragments_of_a_matrix_of_24_rows", _BOUNDS, grid=2, block=32,
         arguments=lambda: [halves(384), halves(256), zeros(512, "f4"), 24]),
    _bad("last_block_column_of_a_sparse_row", _BOUNDS, block=(4, 2),
         arguments=lambda: [*block_rows(15), floats(15), zeros(8, "f4"), 2]),
    _bad("share_of_each_warp_rounded_up", _BOUNDS, block=96, arguments=_words(100, 3, then=(100,))),
    _bad("end_mark_of_an_unsigned_byte", _BOUNDS, block=40,
         arguments=lambda: [np.append(np.arange(2, 40), [255, 255]).astype("u1"), integers(40), zeros(40)]),
    _bad("next_tile_prefetched_beyond_the_end", _BOUNDS, block=48, arguments=_floats(144, 48, 144)),
    _bad("bound_tested_after_the_load", _BOUNDS, block=20, arguments=lambda: [integers(64), integers(20, 300),
                                                                              zeros(20), 64]),
    _bad("last_element_from_the_end_pointer", _BOUNDS, block=12,
         arguments=lambda: [np.arange(0, 65, 5, dtype="i4"), floats(60), zeros(12, "f4")]),
    _bad("scale_of_the_last_short_group", _BOUNDS, grid=3, block=40,
         arguments=lambda: [integers(30, 1 << 30, np.uint32), floats(6), zeros(240, "f4"), 80]),
    _bad("pointer_kept_in_a_word", _BOUNDS, arguments=_floats(64, 64)),
    _bad("shared_address_followed_as_a_pointer", _BOUNDS, block=96, arguments=_floats(96, 96)),
    _bad("second_next_without_a_test", _BOUNDS, block=20, arguments=lambda: [zeros(40, "i8"), zeros(20), 20]),
    _bad("sixteen_rows_of_eight_loaded_as_four_matrices", _SHARED, block=32,
         arguments=lambda: [integers(64, 1 << 30, np.uint32), zeros(32, "u4")]),
    _bad("tail_of_the_ring_wraps_too_late", _SHARED, block=32, arguments=_words(30, 12, then=(30,)),
         missed="the access stays in one variable, a structure that has both the array and what it runs into"),
    _bad("runs_merged_by_peeking_ahead", _SHARED, block=40,
         arguments=lambda: [np.arange(320, dtype="i4") ^ 4, zeros(320)]),
    _bad("slot_after_all_that_voted", _SHARED, block=80, arguments=_words(80, 80)),
    _bad("bits_of_a_hundred_flags_in_three_words", _SHARED, block=40, arguments=_words(100, 3, then=(100,))),
    _bad("base_six_digits_of_a_large_number", _LOCAL, block=32,
         arguments=lambda: [np.uint32(4_000_000_000) + integers(32, 99, np.uint32), zeros(32)]),
    _bad("neighbours_of_a_stencil_by_a_table", _UNSET, block=32, arguments=_words(32, 32)),
    _bad("four_floats_added_at_eight_bytes", _ALIGNMENT, grid=2, block=20, arguments=_floats(160, 24, 6)),
    _bad("marked_pointer_is_followed", _ALIGNMENT, block=40, arguments=lambda: [zeros(80, "i8"), integers(40),
                                                                                zeros(40), 40]),
    _bad("tensor_tile_behind_a_header", _ALIGNMENT, block=128, arguments=lambda: [tiles(8), zeros(128, "f4")]),
    _bad("records_of_six_words_read_as_four", _ALIGNMENT, block=20, arguments=_floats(122, 20)),
    _bad("totals_of_a_warp_of_sixteen_lanes", _UNSET_SHARED, block=80, arguments=_words(80, 81)),
    _bad("bins_cleared_by_the_size_of_a_pointer", _UNSET_SHARED, block=48, arguments=_words(48, 10)),
    _bad("box_half_as_high_as_the_tile", _UNSET_SHARED, arguments=lambda: [tiles(16), zeros(256, "f4")]),
    _bad("last_row_of_byte_counters", _UNSET_SHARED, block=32, arguments=lambda: [integers(256), zeros(32, "u1")]),
    _bad("imaginary_parts_are_not_cleared", _UNSET_SHARED, block=40, arguments=_floats(80, 16)),
    _bad("padding_bytes_are_hashed", _UNSET_SHARED, block=50, arguments=lambda: [integers(50), zeros(50, "u4")]),
    _bad("upper_halves_of_packed_words", _UNSET_SHARED, block=32,
         arguments=lambda: [integers(64, 99, np.int16), zeros(32), 64]),
    _bad("double_read_where_a_float_was_put", _UNSET, block=32, arguments=lambda: [integers(32), zeros(32, "f8")]),
    _bad("eight_digits_of_a_shorter_number", _UNSET, block=32,
         arguments=lambda: [integers(32, 9999, np.uint32), zeros(256, "u1")]),
    _bad("sum_of_fragments_without_a_start", _UNSET, block=32,
         arguments=lambda: [halves(512), halves(512), zeros(256, "f4"), 32]),
    _bad("warp_meets_between_the_steps_only", block=128, arguments=_words(128, 4)),
    _bad("rows_of_24_threads_meet_as_a_warp", block=(24, 6), arguments=_floats(144, 144)),
    _bad("barrier_left_out_for_a_small_block", arguments=_words(64, 64)),
    _bad("fragment_of_one_warp_reduced_by_the_next",
         arguments=lambda: [halves(512), halves(512), zeros(256, "f4")]),
    _bad("matrix_loaded_while_the_tile_is_refilled",
         arguments=lambda: [integers(96, 1 << 30, np.uint32), zeros(64, "u4"), 3]),
    _bad("record_copied_whole_while_a_field_counts", block=66, arguments=lambda: [integers(66), zeros(132)]),
    _bad("vote_taken_for_a_barrier", arguments=_words(64, 64)),
    _bad("shuffle_taken_for_a_barrier", block=32, arguments=_words(32, 32)),
    _bad("window_slid_by_itself", block=48, arguments=_words(144, 48, then=(3,))),
    _bad("rest_counted_down_while_others_test_it", block=96, arguments=_words(288, 96, then=(288,))),
    _bad("base_read_by_the_first_and_moved_by_the_last", block=96, arguments=_words(250, 250, then=(250,))),
    _bad("top_three_of_each_thread_merged_too_soon", block=40, arguments=_floats(200, 3, 200)),
    _bad("whole_word_added_beside_its_halves", grid=2, block=40,
         arguments=lambda: [integers(80), zeros(4, "u8"), 80]),
    _bad("half_of_an_atomic_word_read_plainly", grid=3, block=40,
         arguments=lambda: [floats(100), np.full(1, 2**64 - 1, "u8"), zeros(100), 100]),
    _bad("read_only_load_behind_a_grid_barrier", "restrict-alias", grid=3, block=40, cooperative=True,
         arguments=lambda: [floats(120), zeros(120, "f4"), zeros(120, "f4")]),
    _bad("fence_in_place_of_a_barrier", grid=2, block=48, arguments=_words(96, 96, 96)),
    _bad("data_loaded_before_the_flag_is_seen", grid=2, block=40, arguments=_words(40, 40, 1, 40)),
    _bad("pop_without_an_acquire", grid=3, block=1,
         arguments=lambda: [zeros(1), zeros(5), integers(5), zeros(3)],
         missed="a reader needs no fence here: much correct code has none, and orders its reads by a dependency"),
    _bad("flag_in_the_scope_of_its_thread", grid=3, block=40, arguments=_words(120, 1, 120)),
    _bad("cached_load_spins_on_a_flag", grid=2, block=32, arguments=_words(32, 1, 32, 32),
         missed="a load past the first-level cache (`.cg`) counts as a strong one: older code reads its flags so"),
    _bad("published_by_a_relaxed_builtin", grid=2, block=32, arguments=_words(32, 1, 32, 32)),
    _bad("old_page_rewritten_while_it_is_read", grid=4, block=32,
         arguments=lambda: [zeros(1), integers(64), zeros(128), 4]),
    _bad("ticket_of_the_row_without_its_release", grid=3, block=48,
         arguments=lambda: [floats(120), zeros(40, "f4"), zeros(1, "u4"), 40]),
    _bad("slots_given_back_before_they_are_read", grid=4, block=32,
         arguments=lambda: [zeros(1, "u4"), zeros(4), zeros(16)]),
    _bad("counts_of_blocks_in_short_words", grid=3, block=40, arguments=lambda: [integers(120), zeros(6, "u2")]),
    _bad("each_tile_and_its_right_column", grid=(3, 2), block=(11, 3), arguments=_floats(180, 180, 30)),
    _bad("total_kept_by_the_last_to_come", grid=3, block=40,
         arguments=lambda: [integers(120), zeros(1, "u4"), zeros(1)]),
    _bad("parents_jump_while_they_are_read", grid=2, block=40,
         arguments=lambda: [np.maximum(np.arange(-1, 69), 0).astype("i4"), zeros(70), 70]),
    _bad("grid_barrier_by_the_first_thread", _BARRIER, hangs=True, grid=2, block=40, cooperative=True,
         arguments=_words(80, 2, 80)),
    _bad("three_warps_at_a_name_for_two", _BARRIER, hangs=True, block=128, arguments=_words(128, 128)),
    _bad("cluster_arrives_twice_and_waits_once", _BARRIER, hangs=True, grid=2, block=32, arguments=_words(64, 64)),
    _bad("vote_of_the_block_behind_a_test", _BARRIER, block=80, arguments=_words(80, 80, then=(70,))),
    _bad("sum_of_the_rows_that_exist", _BARRIER, block=(16, 5), arguments=_words(80, 80, then=(3,))),
    _bad("mask_of_a_row_of_no_elements", _LANE, block=96,
         arguments=lambda: [np.array([5, 0, 9], "i4"), integers(96), zeros(96)]),
    _bad("partner_in_the_other_half", _LANE, block=32, arguments=_words(32, 32)),
    _bad("product_by_half_of_a_warp", _LANE, block=32,
         arguments=lambda: [halves(256), halves(256), zeros(256, "f4")]),
    _bad("elected_among_lanes_elsewhere", _LANE, block=32, arguments=_words(32, 32)),
    _bad("keys_matched_under_the_mask_of_the_last_turn", _LANE, block=32, arguments=_words(80, 32, then=(80,))),
    _bad("matrix_loaded_by_the_lanes_with_rows", _LANE, block=32,
         arguments=lambda: [integers(32, 1 << 30, np.uint32), zeros(32, "u4")]),
    _bad("each_block_waits_before_it_tells", _LOOP, hangs=True, grid=2, block=40, arguments=_words(40, 2, 80)),
    _bad("parameter_that_steps_over_one", _LOOP, hangs=True, block=20, arguments=_floats(40, 20)),
    _bad("sum_with_a_number_that_is_none", _LOOP, hangs=True, block=20,
         arguments=lambda: [np.append(floats(18), [np.nan, np.nan]).astype("f4"), zeros(1, "f4")]),
    _bad("ring_walked_to_a_start_beside_it", _LOOP, hangs=True, block=20,
         arguments=lambda: [np.append(np.arange(1, 19), [5, 0]).astype("i4"), zeros(20)]),
    _bad("root_of_a_negative_number", _LOOP, hangs=True, block=20, arguments=lambda: [integers(20) - 20, zeros(20)]),
    _bad("clipped_box_expected_as_it_is_seen", _LOOP, hangs=True, grid=2, block=40,
         arguments=lambda: [tiles(12), zeros(192, "f4"), 12]),
    _bad("tensor_tile_read_by_a_warp_that_did_not_wait", arguments=lambda: [tiles(8), zeros(128, "f4")]),
    _bad("tensor_tile_stored_without_a_proxy_fence", arguments=lambda: [tiles(8), floats(128)]),
    _bad("tensor_tile_changed_after_the_commit", arguments=lambda: [tiles(24), floats(384), 3]),
    _bad("block_ends_while_its_store_reads", grid=2, block=96, arguments=_floats(192, 192)),
    _bad("try_wait_asked_once", block=96, arguments=_floats(96, 96)),
    _bad("barrier_for_the_warps_of_half_a_warp", "mbarrier-misuse", hangs=True, block=20, arguments=_floats(20, 20)),
    _bad("multicast_into_a_stage_the_peer_still_reads", grid=2, arguments=_floats(192, 384, 3)),
    _bad("tile_changed_on_its_way_to_the_peer", grid=2, arguments=_floats(128, 128)),
    _bad("peer_data_awaited_in_the_scope_of_the_block", grid=2, block=32, arguments=_words(64, 64),
         missed="the scope of a wait at an mbarrier does not count: a wait learns what other blocks told, too"),
    _bad("neighbour_block_counts_after_the_owner_read", grid=4, block=24, arguments=_words(96, 4)),
    _bad("product_of_tiles_without_a_proxy_fence", block=128,
         arguments=lambda: [halves(1280).view("u4"), zeros(1024, "f4")]),
    _bad("product_stored_before_it_is_done", "wgmma-misuse", block=128,
         arguments=lambda: [halves(1280).view("u4"), zeros(1024, "f4")]),
    _bad("two_flags_without_a_total_order", grid=2, block=1, arguments=lambda: [zeros(2), zeros(1)],
         missed="only the weak memory of a GPU shows it: in every order of the instructions one block sees the flag of "
                "the other"),
    _bad("pairs_chosen_by_a_load_and_a_store", grid=2, block=40,
         arguments=lambda: [(7 * np.arange(70) + 3).astype("i4") % 70, zeros(70), zeros(70), 70]),
    _bad("dimensions_of_the_block_exchanged", block=(5, 4, 3), arguments=_floats(60, 60)),
)  # fmt: skip
