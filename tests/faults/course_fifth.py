"""A fifth set of kernels with a fault, as an outsider has them, with their launches.

Kinds, lines and launches were written and committed before softlab saw the kernels. ``docs/faults.md`` says what was
found then, and which kernels were wrong and have been changed. Sorts, heaps, queues, trees, hash tables, rings of
bulk copies, distributed shared memory, groups, orders of atomics, packed data, in-place work, wrong launches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_BOUNDS, _SHARED, _LOCAL = "global-out-of-bounds", "shared-out-of-bounds", "local-out-of-bounds"
_UNSET, _UNSET_SHARED = "uninitialized-local", "uninitialized-shared"
_LANE, _BARRIER, _LOOP, _ALIGNMENT = "inactive-lane", "barrier-divergence", "infinite-loop", "misaligned"


def _bad(kernel: str, kind: str = "race", **fields: Any) -> CourseCase:
    return CourseCase(file="bad_fifth.cu", kernel=kernel, kind=kind, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: float) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def bodies(n: int) -> np.ndarray:
    """Records of eight floats."""
    return floats(8 * n)


def points(n: int) -> np.ndarray:
    """Points of the unit square, most of them in its upper corner."""
    return np.minimum(np.abs(floats(2 * n)) + 0.3, 1)


def graph(nodes: int, degree: int) -> np.ndarray:
    """The nodes that each node leads to."""
    return integers(nodes * degree, nodes)


def generators(n: int) -> np.ndarray:
    """States of generators of random numbers."""
    return integers(2 * n, 2**31, np.uint32) | np.uint32(1)


def in_place(n: int) -> list:
    """An array, an order of its elements, and the array again as the result."""
    return [(x := floats(n)), np.random.default_rng(3).permutation(n).astype(np.int32), x, n]


BAD_FIFTH = (
    _bad("layer_norm_rows_share_one_mean", grid=2, block=(32, 4), arguments=_floats(320, 320, 8, 40, 1e-5)),
    _bad("welford_tree_with_its_barrier_in_the_if", _BARRIER, hangs=True, arguments=_floats(64, 64)),
    _bad("heap_child_of_the_next_thread", block=32, arguments=_floats(640, 256, 640)),
    _bad("bitonic_without_warp_barriers", arguments=_words(128)),
    _bad("work_popped_from_an_empty_queue", _BOUNDS, block=32,
         arguments=lambda: [np.arange(20, dtype="i4"), np.array([20], "i4"), floats(20), zeros(20, "f4")]),
    _bad("spin_lock_unlocks_relaxed", grid=4, block=32,
         arguments=lambda: [zeros(1), floats(4), np.array([-9], "f4"), zeros(1)]),
    _bad("bytes_expected_for_one_of_two_tiles", block=128,
         arguments=lambda: [floats(128), floats(128) + 1, zeros(128, "f4")]),
    _bad("zero_fill_beside_a_copy_in_flight", arguments=_floats(200, 200, 200)),
    _bad("consumers_never_release", _LOOP, hangs=True, arguments=_floats(256, 256, 4)),
    _bad("full_barrier_counts_one_of_a_warp", "mbarrier-misuse", hangs=True, arguments=_words(32, 32)),
    _bad("distributed_bins_by_the_whole_index", _SHARED, grid=2, smem=128, arguments=_words(300, 64, then=(300,))),
    _bad("binary_partition_shuffles_past_its_size", _LANE, block=32, arguments=_words(32, 32)),
    _bad("copied_back_before_the_next_sweep", grid=3, block=32, cooperative=True, arguments=_floats(96, 96, 96, 4)),
    _bad("ready_count_added_relaxed", grid=4, block=32, arguments=_words(4, 4, 1, 1)),
    _bad("treiber_push_relaxed", grid=4, block=32,
         arguments=lambda: [zeros(8), np.array([-1], "i4"), integers(4), zeros(1)]),
    _bad("mask_of_the_first_turn", _LANE, block=32, arguments=_words(80, 3, then=(80,))),
    _bad("leader_broadcast_under_a_full_mask", _LANE, grid=2, arguments=_words(256, 256, 1, then=(256,))),
    _bad("unrolled_last_warp_of_a_block_of_32", _SHARED, grid=2, block=32, smem=128, arguments=_words(128, 2)),
    _bad("room_for_one_buffer_of_two", _SHARED, smem=256, arguments=_floats(64, 64, 64, 3)),
    _bad("record_offset_counted_twice", _BOUNDS, grid=2, block=32, arguments=lambda: [bodies(64), 0.1, 64]),
    _bad("history_before_the_first_sample", _LOCAL, block=32, arguments=_floats(320, 32, 10, 0)),
    _bad("nibbles_of_two_threads", grid=2, arguments=lambda: [floats(100), zeros(50, "u1"), 100, 0.25]),
    _bad("bit_window_reads_the_next_word", _BOUNDS, grid=2, block=32,
         arguments=lambda: [integers(10, 2**31, np.uint32), zeros(64), 64, 5]),
    _bad("histogram_of_signed_characters", _BOUNDS, grid=2,
         arguments=lambda: [integers(300, 256, np.uint8).view(np.int8), zeros(256), 300]),
    _bad("permuted_in_place", grid=2, arguments=lambda: in_place(200)),
    _bad("right_halo_one_radius_short", _UNSET_SHARED, grid=3, arguments=_floats(180, 180, 180)),
    _bad("rows_return_before_they_load_the_tile", _UNSET_SHARED, grid=(2, 2), block=(8, 8),
         arguments=lambda: [floats(144), floats(144) + 1, zeros(144, "f4"), 12]),
    _bad("lanes_leave_a_loop_of_shuffles", _LANE, block=32, arguments=_words(32, 32)),
    _bad("unsigned_countdown", _BOUNDS, block=32, arguments=_floats(320, 32, 10)),
    _bad("vectors_from_a_ragged_start", _ALIGNMENT, grid=3, block=32,
         arguments=lambda: [np.array([0, 41, 90, 160], "i4"), integers(160), zeros(3)]),
    _bad("k_best_of_a_short_row", _UNSET, block=32,
         arguments=lambda: [floats(32 * 12), integers(32, 12), zeros(256, "f4"), 12]),
    _bad("visited_flags_not_cleared", _UNSET_SHARED, arguments=lambda: [graph(64, 4), zeros(64), zeros(1), 4]),
    _bad("reversal_with_three_quarters_of_a_block", _UNSET_SHARED, grid=2, block=48, arguments=_floats(128, 128)),
    _bad("floats_counted_as_bytes", _BOUNDS, arguments=lambda: [integers(60, 256, np.uint8), zeros(60, "f4"), 60]),
    _bad("blelloch_padding_without_room", _SHARED, arguments=_words(128, 1)),
    _bad("blelloch_writes_out_too_soon", smem=512, arguments=_words(128, 128)),
    _bad("transposed_in_place_by_every_tile", grid=(3, 3), block=(16, 4), arguments=lambda: [floats(48 * 48), 48]),
    _bad("carry_read_while_it_moves", arguments=_words(192, 192, then=(192,))),
    _bad("weight_gradient_of_all_rows", grid=4,
         arguments=lambda: [floats(400), floats(400) + 1, floats(4), zeros(100, "f4"), 100]),
    _bad("embedding_gradient_of_equal_tokens", grid=3, block=(32, 4),
         arguments=lambda: [integers(12, 5), floats(12 * 40), zeros(200, "f4"), 12, 40]),
    _bad("vote_of_the_block_in_a_branch", _BARRIER, hangs=True, grid=2, arguments=_words(100, 100, then=(100,))),
    _bad("shared_ticket_without_a_barrier", arguments=_words(64, 64, 1)),
    _bad("value_of_a_hash_slot", grid=2,
         arguments=lambda: [integers(100, 20), integers(101)[:100], np.full(64, -1, "i4"), zeros(64), 100, 64]),
    _bad("lane_taken_from_x_alone", block=(32, 4), arguments=_floats(128, 1)),
    _bad("cell_filled_beyond_its_room", _BOUNDS, grid=2,
         arguments=lambda: [points(100), zeros(16), zeros(128), 100, 4]),
    _bad("bit_reversal_swapped_twice", grid=2, arguments=lambda: [floats(256), 7]),
    _bad("red_black_by_columns_alone", grid=(2, 2), block=(8, 8), cooperative=True,
         arguments=lambda: [floats(324), floats(325)[1:], 18]),
    _bad("second_child_merges_without_a_fence", grid=8, block=32,
         arguments=lambda: [floats(8), floats(30), zeros(7), 8]),
    _bad("generator_states_of_one_block", grid=2, arguments=lambda: [generators(64), zeros(200, "f4"), 200]),
    _bad("every_lane_reserves_for_the_warp", _BOUNDS, grid=2, arguments=_words(128, 128, 1)),
    _bad("pitch_counted_in_elements", _BOUNDS, block=32,
         arguments=lambda: [floats(32 * 20), np.uint64(128), zeros(20, "f4"), 30, 20]),
    _bad("linear_index_with_the_wrong_dimension", block=(8, 4, 2), arguments=_words(64, 64)),
    _bad("output_tile_rescaled_while_others_add", block=(16, 4),
         arguments=lambda: [floats(40), floats(160), zeros(64, "f4"), 10]),
    _bad("parity_flipped_at_every_stage", arguments=_floats(384, 384, 6)),
    _bad("grid_barrier_that_opens_once", grid=3, block=32, arguments=lambda: [integers(96), zeros(1, "u4")],
         missed="the order of this run counts: all blocks have added to the count when the first one looks at it; "
                "`random_order` finds it"),
    _bad("triangular_factor_read_above_the_diagonal", _UNSET_SHARED, block=16,
         arguments=lambda: [floats(256), floats(16), zeros(16, "f4")]),
    _bad("hits_without_an_identity", _UNSET, block=32, arguments=lambda: [floats(20), floats(32), zeros(32), 20]),
)  # fmt: skip
