"""An eighth set of kernels with a fault: types, intrinsics, library calls, edges of rows.

It was written and committed as the seventh one was. Empty masks and numbers that are none, bytes and bit fields, wide
tiles of groups, CUB's storage, copies that are multicast or arrive at an mbarrier, sums sent to a peer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_BOUNDS, _SHARED, _LOCAL = "global-out-of-bounds", "shared-out-of-bounds", "local-out-of-bounds"
_LANE, _BARRIER, _LOOP, _ALIGNMENT = "inactive-lane", "barrier-divergence", "infinite-loop", "misaligned"


def _bad(kernel: str, kind: str = "race", **fields: Any) -> CourseCase:
    return CourseCase(file="bad_eighth.cu", kernel=kernel, kind=kind, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: float) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def _with_one(values: np.ndarray, at: int, value: float) -> np.ndarray:
    values[at] = value
    return values


BAD_EIGHTH = (
    _bad("highest_bit_of_zero", _SHARED, arguments=lambda: [integers(64, 1000, np.uint32) % 40, zeros(32), 64]),
    _bad("first_set_bit_of_an_empty_mask", _BOUNDS,
         arguments=lambda: [_with_one(integers(64, 1 << 30, np.uint32), 5, 0), floats(64), zeros(64, "f4")]),
    _bad("bin_of_a_number_that_is_none", _BOUNDS,
         arguments=lambda: [_with_one(floats(64), 40, np.nan), zeros(40), -4.0, 0.25, 40]),
    _bad("last_of_an_empty_row", _BOUNDS, block=32,
         arguments=lambda: [integers(32, 4, np.uint32), floats(256), zeros(32, "f4"), 8]),
    _bad("clamped_to_the_length", _BOUNDS, grid=2, arguments=_floats(100, 100, 100, 3)),
    _bad("dimensions_of_the_volume_exchanged", _BOUNDS, block=(4, 6, 2), arguments=_floats(48, 48, 4, 6, 2)),
    _bad("structure_copied_past_the_last", _BOUNDS, arguments=_floats(400, 400, 50)),
    _bad("odd_values_kept_in_eight_places", _LOCAL, block=32, arguments=lambda: [2 * integers(640) + 1, zeros(32), 20]),
    _bad("digits_counted_with_signed_bytes", _SHARED,
         arguments=lambda: [_with_one(integers(128, 100, np.int8), 77, -5), zeros(128), 128]),
    _bad("function_of_a_code_beyond_the_table", _LOCAL, block=32,
         arguments=lambda: [integers(32, 4), floats(32), zeros(32, "f4")]),
    _bad("bytes_of_a_word_at_odd_places", _ALIGNMENT, block=32,
         arguments=lambda: [integers(224, 256, np.uint8), zeros(32, "u4"), 7]),
    _bad("brain_floats_in_pairs_from_the_second", _ALIGNMENT, block=32,
         arguments=lambda: [integers(64, 1 << 14, np.uint16), zeros(32, "f4"), 64]),
    _bad("words_cleared_through_a_wider_pointer", _SHARED, arguments=_words(64, 36, then=(36,))),
    _bad("warp_sums_in_one_storage", arguments=_words(64, 64)),
    _bad("sorted_keys_written_over_the_storage", arguments=_words(64, 64)),
    _bad("wide_tile_reads_before_it_meets", block=128, arguments=_words(128, 128)),
    _bad("odd_warps_go_around_a_barrier", _BARRIER, block=128, arguments=_words(128, 128)),
    _bad("lane_elected_twice", arguments=_words(64, 1)),
    _bad("tile_multicast_and_awaited_by_one", grid=2, arguments=_floats(64, 128)),
    _bad("relaxed_arrival_at_the_cluster", grid=2, block=32, arguments=_words(64, 64)),
    _bad("sums_sent_to_the_peer_and_read_at_once", grid=2, block=32,
         arguments=lambda: [integers(64, 99, np.uint32), zeros(64, "u4")]),
    _bad("copies_bound_to_the_barrier_after_the_arrival", arguments=_floats(64, 64)),
    _bad("copies_that_arrive_once_more", _LOOP, hangs=True, arguments=_floats(64, 64)),
    _bad("grid_told_and_not_awaited", grid=2, cooperative=True, arguments=_words(128, 128, 128)),
    _bad("word_awaited_and_the_others_read", grid=2, block=32, arguments=_words(32, 1, 32, 32)),
    _bad("sums_of_doubles_in_a_plain_loop", grid=2, block=32,
         arguments=lambda: [floats(100, "f8"), integers(100, 8), zeros(8, "f8"), 100]),
    _bad("pair_of_halves_added_by_two_threads", grid=2, block=32,
         arguments=lambda: [floats(60, "f2"), zeros(60, "f2"), 60]),
    _bad("short_words_claimed_beside_plain_ones", grid=2,
         arguments=lambda: [integers(128), zeros(16, "u2"), zeros(128), 128]),
    _bad("bits_cleared_by_an_assignment", arguments=_words(64, 32, then=(32,))),
    _bad("object_made_by_every_thread", arguments=_words(64, 2)),
    _bad("any_thread_of_the_block_in_a_loop_of_its_own", _BARRIER, hangs=True,
         arguments=lambda: [integers(64, 8), zeros(64)]),
    _bad("second_barrier_for_those_in_the_image", _BARRIER, block=(8, 8), arguments=_floats(36, 36, 6, 6)),
    _bad("warps_of_a_block_of_three_dimensions", block=(8, 4, 2), arguments=_words(64, 4)),
    _bad("lower_lanes_by_a_mask_without_them", _LANE, block=32, arguments=_words(32, 32)),
    _bad("value_of_the_lane_that_won", _LANE, block=32, arguments=_words(32, 32)),
    _bad("published_by_the_lane_that_has_not_written", grid=2, arguments=_words(32, 32, 1, 32)),
    _bad("tail_moved_by_a_store_to_take_work", grid=2, block=32,
         arguments=lambda: [zeros(1), integers(6), zeros(6), 6]),
    _bad("reset_for_the_next_launch_by_each_block", grid=3, block=32, arguments=_words(96, 1, 1, 1)),
    _bad("cells_moved_left_in_place", grid=2, block=32, arguments=lambda: [integers(100), 100, 5]),
    _bad("strings_joined_at_a_counted_place", _BOUNDS, block=32,
         arguments=lambda: [integers(32, 9) + 1, zeros(60, "i1"), zeros(1), 60]),
    _bad("triangle_of_pairs_with_its_diagonal_counted", _BOUNDS, arguments=_floats(10, 55, 10, 55)),
    _bad("coefficients_of_two_orders", _LOCAL, block=32, arguments=_floats(32, 32, 32)),
    _bad("arena_of_the_block_handed_out_twice", smem=512, arguments=_words(64, 64)),
    _bad("retried_until_the_lock_is_seen_free", grid=2, block=32, arguments=lambda: [zeros(1), integers(2), zeros(1)]),
    _bad("pointers_to_rows_one_too_many", _SHARED, block=32, arguments=_floats(400, 100, 100)),
    _bad("barrier_ended_while_it_is_used", "mbarrier-misuse", arguments=_floats(64, 64)),
)  # fmt: skip
