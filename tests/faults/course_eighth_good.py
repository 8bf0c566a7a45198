"""The kernels of the eighth set as they should be, and others that look suspicious and are correct."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros


def _good(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file="good_eighth.cu", kernel=kernel, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: float) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def _reversed(n: int, result: int = 1, factor: int = 1) -> Any:
    return lambda a: {result: factor * a[0].reshape(-1, n)[:, ::-1].ravel()}


def _levels(a: list) -> dict[int, Any]:
    return {1: np.bincount([int(v).bit_length() for v in a[0]], minlength=33)}


def _both_sides(a: list) -> dict[int, Any]:
    x = np.pad(a[0], 1)
    return {1: x[:-2] + x[2:]}


def _odd_first(a: list) -> dict[int, Any]:
    return {1: np.concatenate([a[0][a[0] % 2 == 1], a[0][a[0] % 2 == 0]])}


def _wide_tiles(a: list) -> dict[int, Any]:
    first, second = a[0].reshape(2, 64)
    return {1: np.concatenate([first[::-1] + first.max(), second + 2 * second.max()])}


def _sent(a: list) -> dict[int, Any]:
    halves = a[0].reshape(2, 32)[::-1]
    return {1: [1 + h[h % 8 == b].sum() for h in halves for b in range(8)]}


def _claimed(a: list) -> dict[int, Any]:
    words = np.zeros(32)
    words[2 * np.unique(a[0] % 16)] = 7
    words[1::2] = 9
    return {1: words}


def _steps(a: list) -> dict[int, Any]:
    def steps(v: int) -> int:
        count = 0
        while v > 1:
            v, count = (3 * v + 1 if v % 2 else v // 2), count + 1
        return count

    return {1: [steps(int(v) + 2) for v in a[0]]}


def _maxima(a: list) -> dict[int, Any]:
    most = np.maximum.accumulate(a[0])
    return {1: most + [(most == m).sum() for m in most]}


def _pairs(a: list) -> dict[int, Any]:
    return {1: [a[0][row] - a[0][col] for row in range(10) for col in range(row)]}


def _medians(a: list) -> dict[int, Any]:
    return {1: [np.sort(np.roll(a[0], -t)[: a[2]])[a[2] // 2] for t in range(32)]}


GOOD_EIGHTH = (
    _good("highest_bit_with_a_place_for_zero", arguments=lambda: [integers(64, 1000, np.uint32) % 40, zeros(33), 64],
          expected=_levels),
    _good("pointer_before_the_first_that_is_never_read", block=32, arguments=_floats(100, 1, 100),
          expected=lambda a: {1: [a[0].sum()]}),
    _good("both_halves_of_a_select_are_loaded_inside", grid=2, arguments=_floats(128, 128, 128), expected=_both_sides),
    _good("function_by_a_table_of_pointers", block=32,
          arguments=lambda: [integers(32, 4), floats(32), zeros(32, "f4")],
          expected=lambda a: {2: np.where(a[0] % 2, a[1] / 2, a[1] * 2) * (a[0] + 0.5)}),
    _good("bytes_until_the_word_is_whole", block=32,
          arguments=lambda: [integers(416, 256, np.uint8), zeros(32, "u4"), 13],
          expected=lambda a: {1: a[0].reshape(32, 13).sum(axis=1)}),
    _good("storage_of_cub_behind_a_barrier", arguments=_words(64, 64), expected=_odd_first),
    _good("sums_of_half_warps_with_a_storage_each", arguments=_words(64, 4),
          expected=lambda a: {1: a[0].reshape(4, 16).sum(axis=1)}),
    _good("wide_tiles_meet_by_themselves", block=128, arguments=_words(128, 128), expected=_wide_tiles),
    _good("lane_elected_of_the_first_warp", arguments=_words(64, 1), expected=lambda a: {1: [a[0].sum()]}),
    _good("tile_multicast_and_awaited_by_both", grid=2, arguments=_floats(64, 128),
          expected=lambda a: {1: np.tile(a[0][::-1], 2)}),
    _good("relaxed_arrival_behind_a_fence", grid=2, block=32, arguments=_words(64, 64),
          expected=lambda a: {1: a[0][::-1]}),
    _good("sums_sent_to_the_peer_and_awaited", grid=2, block=32,
          arguments=lambda: [integers(64, 99, np.uint32), zeros(16, "u4")], expected=_sent),
    _good("copies_that_arrive_for_their_threads", arguments=_floats(160, 160, 5), expected=_reversed(32)),
    _good("grid_told_then_own_work_then_awaited", grid=2, cooperative=True, arguments=_words(128, 128, 128),
          expected=lambda a: {2: a[0][::-1] + 1 + 3 * a[0]}),
    _good("word_awaited_that_was_released", grid=2, block=32, arguments=_words(32, 1, 32, 32),
          expected=_reversed(32, 3, 7)),
    _good("pair_of_halves_added_by_one_thread", grid=2, block=16,
          arguments=lambda: [np.full(64, 0.5, "f2"), zeros(48, "f2"), 32],
          expected=lambda a: {1: np.concatenate([np.full(16, 2.0), np.full(32, 0.5)])}),
    _good("short_words_claimed_by_compare_and_swap", grid=2,
          arguments=lambda: [integers(100), zeros(32, "u2"), zeros(100), 100],
          expected=_claimed),
    _good("fields_of_a_byte_each", grid=2, arguments=lambda: [integers(128), zeros(128, "u1"), 32],
          expected=lambda a: {1: a[0]}),
    _good("object_made_by_one_thread", arguments=_words(64, 2),
          expected=lambda a: {1: [(a[0] > 50).sum(), (a[0] <= 50).sum()]}),
    _good("any_thread_of_the_block_decides_for_all", arguments=lambda: [integers(64, 8), zeros(64)], expected=_steps),
    _good("barrier_for_all_inside_and_outside", block=(8, 8), arguments=_floats(42, 42, 6, 7),
          expected=lambda a: {1: a[0][::-1]}),
    _good("lanes_up_to_the_caller", block=32, arguments=_words(32, 32), expected=_maxima),
    _good("told_by_the_warp_that_wrote", grid=2, arguments=_words(32, 32, 1, 32), expected=_reversed(32, 3, 5)),
    _good("tail_moved_by_compare_and_swap", grid=2, block=32, arguments=lambda: [zeros(1), integers(6), zeros(6), 6],
          expected=lambda a: {2: 2 * a[1]}),
    _good("reset_for_the_next_launch_by_the_last_block", grid=3, block=32, arguments=_words(96, 1, 1, 1),
          expected=lambda a: {1: [0], 2: [0], 3: [a[0].sum()]}),
    _good("cells_moved_left_by_one_block", block=32, arguments=lambda: [integers(100), 100, 5],
          expected=lambda a: {0: np.concatenate([a[0][5:], a[0][-5:]])}),
    _good("strings_joined_where_there_is_room", block=32,
          arguments=lambda: [integers(32, 9) + 1, zeros(64, "i1"), zeros(1), zeros(32), 64],
          expected=lambda a: {2: [a[0].sum()]}),
    _good("triangle_of_pairs_by_a_square_root", arguments=_floats(10, 45, 45), expected=_pairs),
    _good("pointers_to_rows_that_turn", block=32, arguments=_floats(400, 400, 100),
          expected=lambda a: {1: a[0].reshape(4, 100)[::-1]}),
    _good("barrier_ended_and_its_place_used_again", arguments=_floats(64, 64), expected=_reversed(64, 1, 3)),
    _good("one_lane_of_the_group_counts_for_all", grid=2, arguments=_words(128, 128, 1, 128),
          expected=lambda a: {2: [(a[0] % 4 == 1).sum()], 3: a[0] % 4 == 1}),
    _good("words_of_the_heap_per_thread", block=32, arguments=_words(32, 32, then=(7,)), expected=_medians),
)  # fmt: skip
