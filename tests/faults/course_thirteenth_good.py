"""The kernels of the thirteenth set as they should be, and others that look suspicious and are correct."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros
from tests.faults.course_thirteenth import both
from tests.faults.course_twelfth import ints, reals


def _good(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file="good_thirteenth.cu", kernel=kernel, **fields)


def _parts() -> list:
    return [(x := floats(129))[:65], x[65:]]


def _ring(a: list) -> dict[int, Any]:
    x = a[0].reshape(2, 64)
    return {1: (x[::-1] + 3).ravel()}


def _tiles(a: list) -> dict[int, Any]:
    return {1: a[0].reshape(-1, 64)[:, ::-1].sum(0)}


def _branches(a: list) -> dict[int, Any]:
    x = a[0]
    return {1: np.where(x % 2 == 1, x[x % 2 == 1].max(), -x[x % 2 == 0].min())}


def _turned(a: list) -> dict[int, Any]:
    return {1: a[0].reshape(2, 4, 8).transpose(0, 2, 1).ravel()}


def _own(a: list) -> dict[int, Any]:
    own = a[0].astype("i8")
    for _ in range(a[2]):
        own = own * 3 + own.reshape(-1, 2)[:, ::-1].ravel()
    return {1: own}


def _warps(a: list) -> dict[int, Any]:
    return {1: np.repeat(a[0].reshape(4, 32).sum(1).cumsum(), 32)}


def _records(a: list) -> dict[int, Any]:
    return {1: np.repeat(a[0], 2)}


def _blocks(a: list) -> dict[int, Any]:
    return {1: (a[0].reshape(3, 64) > 50).sum(1)}


def _steps(rows: int) -> Any:
    return lambda: [np.arange(rows + 1, dtype="i4") ** 2, zeros(rows), rows]


GOOD_THIRTEENTH = (
    _good("two_halves_of_one_array_with_a_promise", arguments=_parts),
    _good("one_array_smoothed_in_place_without_a_promise", arguments=both(64, 64)),
    _good("weights_of_the_module_read_as_they_are", arguments=ints(64, 64), expected=lambda a: {1: 3 * a[0][::-1]}),
    _good("even_elements_fixed_and_odd_ones_written", arguments=lambda: [integers(128)]),
    _good("two_counters_of_a_cluster_added_by_each", grid=2, arguments=ints(128, 2),
          expected=lambda a: {1: np.full(2, a[0].sum())}),
    _good("ring_of_a_cluster_in_two_buffers", grid=2, arguments=ints(128, 128, then=(3,)), expected=_ring),
    _good("newest_of_two_groups_may_stay", arguments=ints(128, 64), expected=_tiles),
    _good("empty_groups_count_as_groups", arguments=ints(192, 64, then=(3,)), expected=_tiles),
    _good("parity_of_each_stage_turned_with_it", arguments=reals(320, 64, then=(5,)),
          expected=lambda a: {1: a[0].reshape(5, 64).sum(0)}),
    _good("producer_waits_for_the_phase_before_the_first", arguments=ints(128, 32, then=(4,)),
          expected=lambda a: {1: a[0].reshape(4, 32)[:, ::-1].sum(0)}),
    _good("group_of_those_that_are_here", arguments=ints(64, 64, 1),
          expected=lambda a: {2: [(a[0] % 3 == 0).sum()]}),
    _good("tiles_of_four_in_a_branch_of_four", arguments=ints(64, 64)),
    _good("both_branches_meet_by_their_own_masks", block=32, arguments=ints(32, 32), expected=_branches),
    _good("source_lane_taken_modulo_its_width", block=32, arguments=ints(32, 32),
          expected=lambda a: {1: np.concatenate((np.roll(a[0][:16], -3), a[0][16:]))}),
    _good("tile_turned_by_one_warp_that_meets", arguments=ints(64, 64), expected=_turned),
    _good("each_lane_reads_the_word_it_wrote", arguments=ints(64, 64, then=(4,)), expected=_own),
    _good("heap_that_may_have_no_room", block=1, arguments=ints(1, 1, then=(64,)), expected=lambda a: {1: [-1]}),
    _good("asserted_and_printed_by_one_thread", arguments=_steps(40), expected=lambda a: {1: np.diff(a[0])}),
    _good("memory_of_the_block_freed_by_another_thread", arguments=ints(64, 64), expected=lambda a: {1: a[0][::-1]}),
    _good("index_that_wraps_and_comes_back", arguments=ints(64, 64, then=(64,)),
          expected=lambda a: {1: np.concatenate((a[0][:5], a[0][:59]))}),
    _good("pointer_rounded_down_by_a_wide_mask", arguments=reals(64, 64),
          expected=lambda a: {1: np.repeat(a[0][::4], 4)}),
    _good("four_columns_at_once_where_rows_allow_it", block=(8, 4), arguments=reals(120, 32, then=(30,))),
    _good("next_tile_stored_into_the_other_half", arguments=reals(192, 64, then=(3,)), expected=_tiles),
    _good("buffers_swapped_by_everybody_for_itself", arguments=ints(64, 64, then=(3,)),
          expected=lambda a: {1: np.roll(a[0], -3) + 3}),
    _good("counts_of_each_block_in_its_own_scope", grid=3, arguments=ints(192, 3), expected=_blocks),
    _good("ready_told_in_the_scope_of_the_device", grid=2, block=32, arguments=ints(32, 32, 1, 32),
          expected=lambda a: {3: a[0][::-1] + 1}),
    _good("exchanged_flag_behind_a_fence", grid=2, arguments=ints(64, 64, 1, 64), expected=lambda a: {3: a[0][::-1]}),
    _good("warps_arrive_at_the_barrier_of_the_next", block=128, arguments=lambda: [integers(128), zeros(128)],
          expected=_warps),
    _good("second_array_begins_where_the_first_is_no_more_used", smem=512,
          arguments=lambda: [floats(64), integers(64), zeros(64, "f4"), 64],
          expected=lambda a: {2: a[0][::-1] + a[1][::-1]}),
    _good("records_with_gaps_cleared_as_words", block=32, arguments=ints(32, 64), expected=_records),
    _good("table_of_the_module_indexed_within_its_end", arguments=ints(64, 64)),
)  # fmt: skip
