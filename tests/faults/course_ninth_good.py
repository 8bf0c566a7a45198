"""The kernels of the ninth set as they should be, and others that look suspicious and are correct."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros
from tests.faults.course_ninth import halves, tiles


def _good(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file="good_ninth.cu", kernel=kernel, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: float) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def _reversed(n: int, result: int = 1, factor: int = 1) -> Any:
    return lambda a: {result: factor * a[0].reshape(-1, n)[:, ::-1].ravel()}


def _bounds(a: list) -> dict[int, Any]:
    at = np.searchsorted(a[0], a[1], side="right")
    return {2: np.append(a[0], -1)[at]}


def _product(a: list) -> dict[int, Any]:
    left, right = a[0].view("f2").astype("f4"), a[1].view("f2").astype("f4")
    columns = right.size // 16
    return {2: left.reshape(-1, columns) @ right.reshape(16, columns).T}


def _product_crossed(a: list) -> dict[int, Any]:
    return {2: _product(a)[2].T}


def _shares(a: list) -> dict[int, Any]:
    return {1: [a[0][:34].max(), a[0][34:68].max(), a[0][68:].max()]}


def _chains(a: list) -> dict[int, Any]:
    return {2: [sum(a[1][node:40:2]) for node in range(40)]}


def _powers_of_three(a: list) -> dict[int, Any]:
    rows = a[1].reshape(12, 5)[:, ::-1]
    return {2: rows @ 3 ** np.arange(4, -1, -1)}


def _transposed_in_blocks(a: list) -> dict[int, Any]:
    tile = a[0].view("u2").reshape(2, 8, 2, 8)
    return {1: np.ascontiguousarray(tile.transpose(0, 3, 2, 1)).view("u4")}


def _rings(a: list) -> dict[int, Any]:
    last = [a[0][24 + i if i < 6 else 12 + i] for i in range(12)]
    return {1: np.concatenate([np.array(last) + warp for warp in range(3)])}


def _four_sums(a: list) -> dict[int, Any]:
    return {1: a[0].reshape(-1, 5, 4).sum(axis=0)}


def _values(a: list) -> dict[int, Any]:
    def put(v: int) -> int:
        return sum(k if v >> k & 1 else 10 * k for k in range(v % 3, 6))

    return {1: [put(int(v)) for v in a[0]]}


def _digits(a: list) -> dict[int, Any]:
    def number(v: int) -> int:
        sum_ = 0
        for digit in str(v):
            sum_ = 3 * sum_ + int(digit)
        return sum_

    return {1: [number(int(v)) for v in a[0]]}


def _matrix_words(a: list) -> dict[int, Any]:
    return {1: np.tile(a[0].reshape(3, 32).sum(axis=0, dtype=np.uint32), 2)}


def _window(a: list) -> dict[int, Any]:
    return {1: np.roll(a[0], -16)}


def _kept(a: list) -> dict[int, Any]:
    kept = a[0][a[0] % 3 > 0]
    return {1: np.append(kept, zeros(250 - kept.size))}


def _nearest(a: list) -> dict[int, Any]:
    return {3: [np.abs(a[0]).argmin()]}


def _pages(a: list) -> dict[int, Any]:
    versions = np.arange(1, 6)[:, None]
    return {3: np.tile(10 * versions + 39 - np.arange(40), (2, 1))}


def _differences(a: list) -> dict[int, Any]:
    rows = np.pad(a[0].reshape(6, 30), ((0, 0), (0, 1)))
    return {1: rows[:, :-1] - rows[:, 1:]}


def _jumped(a: list) -> dict[int, Any]:
    return {1: np.maximum(np.arange(70) - 8, 0)}


def _cluster_turns(a: list) -> dict[int, Any]:
    v = a[0].reshape(2, 24).astype(np.int64)
    for _ in range(3):
        v = 3 * v + v[::-1, ::-1]
    return {1: v}


def _rows_of_warps(a: list) -> dict[int, Any]:
    y = np.zeros((3, 32), np.int32)
    for warp, length in enumerate(a[0]):
        row = a[1][32 * warp :][:length]
        y[warp, :length] = row - row[-1:]
    return {2: y}


def _matches(a: list) -> dict[int, Any]:
    y = zeros(32)
    for turn in (a[0][:32], a[0][32:64], a[0][64:80]):
        y[: turn.size] += [(turn % 8 == v % 8).sum() for v in turn]
    return {1: y}


def _multicast(a: list) -> dict[int, Any]:
    rows = a[0].reshape(3, 64)
    windows = [[sum(np.roll(row, -j) for j in range(n)) for row in rows] for n in (4, 60)]
    return {1: windows}


def _three_blocks(a: list) -> dict[int, Any]:
    rows = a[0].reshape(4, 24)
    return {1: np.concatenate([rows[[1, 2, 0], ::-1].ravel(), zeros(24)])}


GOOD_NINTH = (
    _good("upper_bound_with_a_test",
          arguments=lambda: [3 * np.arange(50, dtype="i4"), integers(64, 200), zeros(64), 50], expected=_bounds),
    _good("left_neighbour_that_wraps_unused", grid=2, arguments=_words(100, 100, then=(100,)),
          expected=lambda a: {1: np.diff(a[0], prepend=0)}),
    _good("merge_path_with_both_limits", grid=2, block=48,
          arguments=lambda: [3 * np.arange(60, dtype="i4"), 7 * np.arange(20, dtype="i4"), zeros(80), 60, 20],
          expected=lambda a: {2: np.sort(np.concatenate([a[0], a[1]]))}),
    _good("vectors_rounded_up_where_there_is_room", block=12, arguments=_words(64, 1, then=(62,)),
          expected=lambda a: {1: [a[0][:62].sum()]}),
    _good("fragments_of_a_matrix_of_32_rows", grid=2, block=32,
          arguments=lambda: [halves(1024), halves(512), zeros(512, "f4")], expected=_product),
    _good("fragment_by_one_of_three_warps", block=96,
          arguments=lambda: [halves(256), halves(256), zeros(256, "f4")], expected=_product_crossed),
    _good("share_of_each_warp_cut_at_the_end", block=96, arguments=_words(100, 3, then=(100,)), expected=_shares),
    _good("end_mark_of_a_byte_that_is_compared_as_one", block=40,
          arguments=lambda: [np.append(np.arange(2, 40), [255, 255]).astype("u1"), integers(40), zeros(40)],
          expected=_chains),
    _good("next_tile_prefetched_while_there_is_one", block=48, arguments=_words(144, 48, then=(144,)),
          expected=lambda a: {1: a[0].reshape(3, 48)[:, ::-1].sum(axis=0)}),
    _good("last_element_by_a_decrement_first", block=12,
          arguments=lambda: [np.arange(0, 65, 5, dtype="i4"), integers(60), zeros(12)], expected=_powers_of_three),
    _good("address_of_shared_memory_made_again", block=80, arguments=_words(80, 80), expected=_reversed(80)),
    _good("matrices_of_sixteen_rows_of_sixteen", block=32,
          arguments=lambda: [integers(128, 1 << 30, np.uint32), zeros(128, "u4")], expected=_transposed_in_blocks),
    _good("ring_that_wraps_at_its_room", block=96, arguments=_words(30, 36, then=(30,)), expected=_rings),
    _good("place_for_a_vote_of_all", block=80, arguments=_words(80, 80),
          expected=lambda a: {1: np.append(a[0][1:], -1)}),
    _good("four_floats_added_by_three_blocks", grid=3, block=20, arguments=_floats(240, 20), expected=_four_sums),
    _good("marked_pointer_without_its_mark", block=40, arguments=lambda: [zeros(80, "i8"), integers(40), zeros(40), 40],
          expected=lambda a: {2: np.append(np.arange(1, 40), -1)}),
    _good("tensor_tile_awaited_by_all", arguments=lambda: [tiles(16), zeros(256, "f4")],
          expected=lambda a: {1: floats(256).reshape(16, 16)[:, ::-1]}),
    _good("clipped_box_counts_as_a_whole_one", grid=2, block=40, arguments=lambda: [tiles(12), zeros(32, "f4"), 12],
          expected=lambda a: {1: np.stack([rows.sum(axis=0) for rows in np.split(floats(192).reshape(12, 16), [8])])}),
    _good("tensor_tiles_stored_in_turn", arguments=lambda: [tiles(24), floats(384), 3]),
    _good("total_of_the_last_lane_that_is_there", block=80, arguments=_words(80, 80),
          expected=lambda a: {1: np.cumsum(a[0])}),
    _good("members_copied_without_the_padding", block=50, arguments=_words(50, 50),
          expected=lambda a: {1: (10 * a[0] + a[0] % 7)[::-1]}),
    _good("padding_copied_and_not_looked_at", block=40, arguments=lambda: [integers(40), zeros(40, "f8")],
          expected=lambda a: {1: (a[0] + 0.5 * np.arange(40))[::-1]}),
    _good("halves_of_packed_words_by_two_warps", arguments=lambda: [integers(64, 99, np.int16), zeros(64)],
          expected=lambda a: {1: np.tile((a[0][:32] + (a[0][32:].astype("i4") << 16))[::-1], 2)}),
    _good("value_read_as_what_was_put", block=32, arguments=lambda: [integers(32), zeros(32, "f8")], expected=_values),
    _good("digits_as_many_as_there_are", block=32, arguments=lambda: [integers(32, 9999, np.uint32), zeros(32)],
          expected=_digits),
    _good("warp_meets_after_the_loads_and_after_the_stores", block=128, arguments=_words(128, 4),
          expected=lambda a: {1: a[0].reshape(4, 32).sum(axis=1)}),
    _good("rows_of_24_threads_meet_as_a_block", block=(24, 6), arguments=_floats(144, 144), expected=_reversed(24)),
    _good("warp_barrier_for_a_block_of_one_warp", block=20, arguments=_words(20, 20),
          expected=lambda a: {1: -a[0][::-1]}),
    _good("matrix_loaded_between_two_barriers",
          arguments=lambda: [integers(96, 1 << 30, np.uint32), zeros(64, "u4"), 3], expected=_matrix_words),
    _good("record_copied_whole_by_its_writer", block=66, arguments=lambda: [integers(66), zeros(132)],
          expected=lambda a: {1: np.stack([a[0] + 3, np.roll(a[0] % 2, 1)], axis=1)}),
    _good("vote_and_then_a_warp_barrier", arguments=_words(64, 64),
          expected=lambda a: {1: np.repeat(a[0][7::32], 32)}),
    _good("window_slid_through_registers", block=48, arguments=_words(144, 144), expected=_window),
    _good("rest_counted_by_each_for_itself", block=96, arguments=_words(288, 96, then=(288,)),
          expected=lambda a: {1: a[0].reshape(3, 96).sum(axis=0)}),
    _good("base_read_before_the_barrier_and_moved_behind_it", block=96, arguments=_words(250, 250, then=(250,)),
          expected=_kept),
    _good("two_halves_added_and_read_whole_behind_a_barrier", block=48, arguments=lambda: [integers(48),
                                                                                          zeros(3, "u8")],
          expected=lambda a: {1: [sum(v << 32 * (v % 2) for v in a[0][k::3].tolist()) for k in range(3)]}),
    _good("nearest_in_one_word_read_by_the_last_block", grid=3, block=40, expected=_nearest,
          arguments=lambda: [floats(100), np.full(1, 2**64 - 1, "u8"), zeros(1, "u4"), zeros(1), 100]),
    _good("cached_load_behind_a_grid_barrier", grid=3, block=40, cooperative=True, arguments=_words(120, 120, 120),
          expected=lambda a: {2: 2 * a[0][::-1] + a[0]}),
    _good("barrier_of_a_block_of_48_orders_global_memory", grid=2, block=48, arguments=_words(96, 96, 96),
          expected=_reversed(48, 2)),
    _good("own_data_loaded_before_the_flag_is_seen", grid=2, block=40, arguments=_words(40, 80, 1, 40),
          expected=_reversed(40, 3, 5)),
    _good("pop_with_an_acquire", grid=4, block=1, arguments=lambda: [zeros(1), zeros(5), zeros(5), zeros(4)]),
    _good("atomics_of_a_thread_on_its_own_words", grid=2, block=40, arguments=_words(240, 80, then=(3,)),
          expected=lambda a: {1: a[0].reshape(80, 3).sum(axis=1)}),
    _good("volatile_load_spins_on_an_atomic_word", grid=2, block=32, arguments=_words(32, 1, 32, 32),
          expected=_reversed(32, 3, 3)),
    _good("published_by_a_releasing_builtin", grid=2, block=32, arguments=_words(32, 1, 32, 32),
          expected=_reversed(32, 3, 3)),
    _good("old_page_rewritten_when_its_readers_left", grid=3, block=40,
          arguments=lambda: [zeros(1), zeros(2), zeros(80), zeros(400), 5], expected=_pages),
    _good("slots_taken_by_a_bit_and_given_back", grid=4, block=32,
          arguments=lambda: [zeros(1, "u4"), zeros(4), zeros(16)],
          expected=lambda a: {0: [0], 2: 8 * np.arange(16) + 1}),
    _good("chain_through_a_relaxed_addition", grid=3, block=24, arguments=_words(24, 1, 24, 24),
          expected=lambda a: {3: a[0][::-1] + 1}),
    _good("each_tile_without_its_right_column", grid=(3, 2), block=(11, 3), arguments=_floats(180, 180, 30)),
    _good("total_begun_by_the_host_and_added_to", grid=3, block=40,
          arguments=lambda: [integers(120), zeros(1, "u4"), zeros(1)], expected=lambda a: {2: [2 * a[0].sum()]}),
    _good("parents_jump_into_a_second_array", grid=2, block=24, cooperative=True,
          arguments=lambda: [np.maximum(np.arange(-1, 69), 0).astype("i4"), zeros(70), 70, 3], expected=_jumped),
    _good("grid_barrier_by_all_and_a_report_by_one", grid=3, block=40, cooperative=True,
          arguments=_words(120, 3, 3), expected=lambda a: {2: a[0].reshape(3, 40).sum(axis=1)}),
    _good("names_for_pairs_of_four_warps", block=128, arguments=_words(128, 128), expected=lambda a: {1: 2 * a[0]}),
    _good("cluster_arrives_and_waits_in_each_turn", grid=2, block=24, arguments=_words(48, 48, then=(3,)),
          expected=_cluster_turns),
    _good("vote_of_the_block_before_the_test", block=80, arguments=_words(70, 80, then=(70,)),
          expected=lambda a: {1: np.repeat([70, -1], [70, 10])}),
    _good("mask_of_a_row_or_of_one_lane", block=96,
          arguments=lambda: [np.array([5, 0, 9], "i4"), integers(96), zeros(96)], expected=_rows_of_warps),
    _good("partner_in_the_other_half_under_a_full_mask", block=32, arguments=_words(32, 32),
          expected=lambda a: {1: np.repeat([a[0][:16].max() - a[0][16:].max(),
                                            a[0][16:].max() - a[0][:16].max()], 16)}),
    _good("elected_among_the_lanes_that_come", block=32, arguments=_words(32, 32),
          expected=lambda a: {1: 1 + (a[0] % 4 != 1)}),
    _good("keys_matched_under_the_mask_of_the_next_turn", block=32, arguments=_words(80, 32, then=(80,)),
          expected=_matches),
    _good("each_block_tells_before_it_waits", grid=2, block=40, arguments=_words(80, 2, 80, 80),
          expected=lambda a: {3: a[0][::-1]}),
    _good("sum_by_bits_with_a_number_that_is_none", block=20,
          arguments=lambda: [np.append(floats(19), np.nan).astype("f4"), zeros(2, "f4")],
          expected=lambda a: {1: [a[0][::2].sum(), np.nan]}),
    _good("root_by_an_open_interval", block=20, arguments=lambda: [integers(20) - 10, zeros(20)],
          expected=lambda a: {1: np.floor(np.sqrt(np.maximum(a[0], 0)))}),
    _good("store_that_has_read_before_its_block_ends", grid=2, block=96, arguments=_floats(192, 192),
          expected=lambda a: {1: 2 * a[0]}),
    _good("test_wait_between_other_work", block=96, arguments=_words(96, 96), expected=lambda a: {1: a[0][::-1] + 1}),
    _good("barrier_for_the_warps_rounded_up", block=52, arguments=_words(52, 52), expected=_reversed(52)),
    _good("multicast_into_a_stage_that_both_have_left", grid=2, arguments=_floats(192, 384, 3), expected=_multicast),
    _good("tile_sent_to_the_peer_and_then_changed", grid=2, arguments=_floats(128, 128),
          expected=lambda a: {1: -np.roll(a[0], 64)}),
    _good("peer_data_awaited_in_the_scope_of_the_cluster", grid=2, block=32, arguments=_words(64, 64),
          expected=lambda a: {1: a[0][::-1]}),
    _good("one_block_of_the_cluster_ends_early", grid=4, block=24, arguments=_words(96, 96), expected=_three_blocks),
    _good("product_of_tiles_behind_a_proxy_fence", block=128,
          arguments=lambda: [halves(1280).view("u4"), zeros(1024, "f4")]),
    _good("two_flags_in_one_total_order", grid=2, block=1, arguments=lambda: [zeros(2), zeros(1)]),
    _good("pairs_claimed_by_compare_and_swap", grid=2, block=40, arguments=lambda: [zeros(70), zeros(70), 70]),
    _good("block_of_three_dimensions_in_its_order", block=(5, 4, 3), arguments=_floats(60, 60),
          expected=_reversed(60)),
    _good("maximum_by_a_function_that_calls_itself", block=20, arguments=_words(220, 20, then=(11,)),
          expected=lambda a: {1: a[0].reshape(20, 11).max(axis=1)}),
    _good("block_told_by_a_count_of_bits", block=96, arguments=_words(96, 96),
          expected=lambda a: {1: a[0][::-1] + 1000 * (a[0] > 50).sum()}),
)  # fmt: skip
