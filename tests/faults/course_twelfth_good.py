"""The kernels of the twelfth set as they should be, and others that look suspicious and are correct."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros
from tests.faults.course_twelfth import filled, ints, reals, unsigned


def _good(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file="good_twelfth.cu", kernel=kernel, **fields)


def _softmax(a: list) -> dict[int, Any]:
    e = np.exp(a[0] - a[0].max())
    return {1: e / e.sum()}


def _counts(a: list) -> dict[int, Any]:
    return {1: np.repeat((a[0].reshape(3, 96) > 50).sum(1), 96)}


def _tiles(a: list) -> dict[int, Any]:
    return {1: a[0].reshape(a[2], -1)[:, ::-1]}


def _sums_of_labels(a: list) -> dict[int, Any]:
    return {2: np.bincount(a[0], a[1], 5)}


def _staying(a: list) -> dict[int, Any]:
    left, sums = a[0] % 7, np.zeros(32, "i4")
    while (left > 0).any():
        sums[left > 0] += left[left > 0].sum()
        left = np.maximum(left - 1, 0)
    return {1: sums}


def _votes(a: list) -> dict[int, Any]:
    x = a[0].reshape(-1, 8)
    votes = ((x > 40) << np.arange(8)).sum(1)
    return {1: (votes[:, None] ^ x[:, np.arange(8) ^ 5] << 8).astype("u4")}


def _pairs(a: list) -> dict[int, Any]:
    x = a[0].reshape(3, 64)[:, ::-1]
    return {1: np.concatenate([sum(x[p] + r for r in range(a[2] + p)) for p in range(3)])}


def _map(a: list) -> dict[int, Any]:
    bits = np.zeros(256, bool)
    bits[a[0]] = True
    return {1: np.packbits(bits, bitorder="little").view("u4")}


def _best(a: list) -> dict[int, Any]:
    return {1: [sum([v for v in a[0][t::32] if v > 60][:8]) for t in range(32)]}


def _smooth(a: list) -> dict[int, Any]:
    wide = np.pad(a[0], 1)
    return {1: wide[:-2] + wide[1:-1] + wide[2:]}


def _rounds(a: list) -> dict[int, Any]:
    v = a[0]
    for r in range(1, a[3] + 1):
        v = np.roll(v, -45) + r
    return {2: v}


def _before(a: list) -> dict[int, Any]:
    sums = a[0].reshape(-1, 32).sum(1)
    return {2: np.cumsum(sums) - sums}


def _walk(a: list) -> dict[int, Any]:
    def below(node: int) -> int:
        return 0 if node < 0 else node + below(a[0][node]) + below(a[1][node])

    return {2: [below(t % 3) for t in range(32)]}


def _slices(a: list) -> dict[int, Any]:
    v = a[0].reshape(-1, 32)
    for r in range(a[2]):
        v = np.roll(v, -1, 1) * np.float32(1 + r)
    return {1: v}


def _wave(a: list) -> dict[int, Any]:
    n = a[2]
    x, best = a[0].reshape(n, n), np.zeros((n + 1, n + 1), int)
    for r in range(n):
        for c in range(n):
            best[r + 1, c + 1] = max(best[r, c + 1], best[r + 1, c]) + x[r, c]
    return {1: best[1:, 1:]}


def _drawn(a: list) -> dict[int, Any]:
    x = a[0].reshape(-1, 32)[:, np.arange(32) ^ 21]
    return {1: x - np.arange(len(x))[:, None]}


def _around(a: list) -> dict[int, Any]:
    x = a[0]
    return {1: x - x[::-1]}


GOOD_TWELFTH = (
    _good("template_scan_with_two_barriers", block=96, arguments=ints(96, 96), expected=lambda a: {1: a[0].cumsum()}),
    _good("reducer_struct_with_a_tail_of_warp_barriers", block=128, arguments=reals(128, 128),
          expected=lambda a: {1: np.full(128, a[0].max())}),
    _good("two_reductions_with_a_barrier_at_the_door", block=192, arguments=reals(192, 192), expected=_softmax),
    _good("ping_pong_with_both_hands", block=160, arguments=ints(160, 160, then=(4,)),
          expected=lambda a: {1: np.roll(a[0], -132) + 4}),
    _good("three_counts_in_turn_and_one_barrier", block=96, arguments=ints(288, 288, then=(3,)), expected=_counts),
    _good("message_by_references_that_release_and_acquire", grid=2, block=87, arguments=ints(87, 87, 1, 87),
          expected=lambda a: {3: np.roll(a[0], -1) + 7}),
    _good("relaxed_flag_between_two_fences", grid=2, block=1,
          arguments=lambda: [integers(1), zeros(1), zeros(1, "u4"), zeros(1)], expected=lambda a: {3: a[0] * 3}),
    _good("last_block_by_one_atomic_of_both_orders", grid=5, block=32, arguments=ints(160, 5, 1, 1),
          expected=lambda a: {3: [a[0].sum()]}),
    _good("lease_that_a_destructor_returns", grid=4, block=32, arguments=lambda: [zeros(1), zeros(1), zeros(1)],
          expected=lambda a: {0: [0], 1: [10], 2: [4]}),
    _good("all_lanes_take_one_lock_in_turn", grid=2, block=30, arguments=ints(60, 1, 1),
          expected=lambda a: {2: [a[0].sum()]}),
    _good("key_and_value_claimed_in_one_word", grid=3, block=32,
          arguments=lambda: [unsigned(96, 50), np.full(131, -1, "i8").view("u8"), zeros(1), 131],
          expected=lambda a: {2: [len(np.unique(a[0]))]}),
    _good("nodes_pushed_and_then_walked_behind_the_grid", grid=2, block=30, cooperative=True,
          arguments=lambda: [integers(60), zeros(60), filled(1), zeros(1)], expected=lambda a: {3: [a[0].sum()]}),
    _good("ring_whose_reader_gives_slots_back", grid=2, block=1, arguments=ints(13, 3, 2, 13, then=(13,)),
          expected=lambda a: {3: a[0]}),
    _good("pipeline_that_commits_an_empty_stage_at_the_end", arguments=reals(256, 256, then=(4,)), expected=_tiles),
    _good("tiles_in_bulk_with_a_parity_that_turns", block=32, arguments=reals(120, 120, then=(3,)), expected=_tiles),
    _good("token_of_a_barrier_kept_for_later", block=128, arguments=ints(128, 128),
          expected=lambda a: {1: a[0] ** 2 + a[0][::-1]}),
    _good("peers_read_in_a_ring_and_met_before_the_end", grid=3, block=32, arguments=ints(96, 96),
          expected=lambda a: {1: np.roll(a[0].reshape(3, 32), -1, 0)[:, ::-1]}),
    _good("bins_of_a_cluster_raised_by_atomics", grid=3, arguments=ints(192, 21),
          expected=lambda a: {1: np.bincount(a[0] % 21, minlength=21)}),
    _good("named_barriers_there_and_back", arguments=ints(128, 128, then=(4,)),
          expected=lambda a: {1: a[0].reshape(4, 32)[:, ::-1]}),
    _good("pairs_of_warps_each_with_a_barrier", block=192, arguments=ints(192, 192, then=(2,)), expected=_pairs),
    _good("one_atomic_for_the_active_lanes", grid=3, arguments=ints(165, 165, 1, then=(165,)),
          expected=lambda a: {2: [(a[0] % 3 == 0).sum()]}),
    _good("labels_of_a_warp_summed_apart", grid=2, arguments=lambda: [integers(128, 5), integers(128), zeros(5)],
          expected=_sums_of_labels),
    _good("lanes_leave_a_loop_with_the_mask_of_those_that_stay", block=32, arguments=ints(32, 32), expected=_staying),
    _good("four_masks_of_eight_lanes", grid=2, arguments=lambda: [integers(128), zeros(128, "u4")], expected=_votes),
    _good("threads_in_range_go_on_to_a_barrier", block=128, arguments=ints(69, 69, then=(69,)),
          expected=lambda a: {1: a[0][::-1]}),
    _good("loop_that_a_vote_of_the_block_ends", block=87, arguments=ints(87, 87),
          expected=lambda a: {1: np.maximum.accumulate(a[0])}),
    _good("bytes_of_a_word_by_four_threads", block=160, arguments=lambda: [integers(160), zeros(40, "u4")],
          expected=lambda a: {1: a[0].astype("u1").view("u4")}),
    _good("bits_of_a_map_by_atomics", block=128, arguments=lambda: [integers(232, 256), zeros(8, "u4"), 232],
          expected=_map),
    _good("reversed_in_place_by_half_as_many", grid=2, arguments=ints(147, then=(147,)),
          expected=lambda a: {0: a[0][::-1]}),
    _good("windows_of_one_array_that_only_touch", grid=2,
          arguments=lambda: [(a := integers(225))[:117], a[117:], 108], expected=lambda a: {1: a[0][:108] + 1}),
    _good("array_given_twice_and_used_by_element", grid=2, arguments=lambda: [a := floats(217), a, a, 217],
          expected=lambda a: {2: a[0] * a[1]}),
    _good("pointer_to_the_middle_with_negative_offsets", arguments=reals(57, 57, then=(28,)), expected=_around),
    _good("list_of_the_best_as_long_as_it_is", block=32, arguments=ints(147, 32, then=(147,)), expected=_best),
    _good("tile_with_zeros_behind_its_tail", grid=2, arguments=reals(109, 109, then=(109,)), expected=_smooth),
    _good("three_phases_of_a_grid", grid=4, block=32, cooperative=True,
          arguments=ints(117, 117, 117, 117, then=(117,)), expected=lambda a: {3: a[0] * 2}),
    _good("barrier_of_the_grid_by_a_sense", grid=3, block=40, cooperative=True,
          arguments=ints(120, 120, 120, then=(3,)), expected=_rounds),
    _good("look_back_at_words_that_have_both", grid=4, block=32,
          arguments=lambda: [integers(128), zeros(4, "u8"), zeros(4)], expected=_before),
    _good("volatile_flag_with_fences_on_both_sides", grid=2, block=95, arguments=ints(95, 95, 1, 95),
          expected=lambda a: {3: a[0][::-1] - 4}),
    _good("stacks_in_stripes_of_shared_memory", block=32,
          arguments=lambda: [np.array([1, 3, -1, -1, 6, -1, -1], "i4"), np.array([2, 4, 5, -1, -1, -1, -1], "i4"),
                             zeros(32)], expected=_walk),
    _good("slice_of_a_warp_with_warp_barriers", block=96, smem=3 * 33 * 4, arguments=reals(96, 96, then=(3,)),
          expected=_slices),
    _good("maximum_looked_at_by_a_relaxed_load_first", grid=3, arguments=ints(250, 1, then=(250,)),
          expected=lambda a: {1: [a[0].max()]}),
    _good("four_at_once_where_the_address_allows", arguments=lambda: [floats(151)[1:], zeros(150, "f4"), 150],
          expected=lambda a: {1: -a[0]}),
    _good("steps_chosen_from_a_table_of_functions", grid=2, arguments=ints(117, 117, then=(117,)),
          expected=lambda a: {1: np.choose(a[0] % 3, [2 * a[0], a[0] ** 2, a[0] + 1])}),
    _good("shapes_with_virtual_areas", block=36, arguments=reals(36, 36),
          expected=lambda a: {1: a[0] ** 2 * np.where(np.arange(36) % 3, 3, 1)}),
    _good("null_bias_that_is_asked_for", block=32, arguments=lambda: [floats(82), zeros(82, "f4"), None, 82],
          expected=lambda a: {1: np.where(a[0] > 0, a[0], a[0] / 2)}),
    _good("permits_of_two_stages_to_their_own", arguments=ints(224, 224, then=(7,)),
          expected=lambda a: {1: a[0].reshape(7, 32)[:, ::-1]}),
    _good("stored_in_bulk_behind_a_fence_between_proxies", block=96, arguments=reals(96, 96),
          expected=lambda a: {1: a[0] * 2}),
    _good("moved_under_a_predicate_over_a_start", block=42, arguments=ints(42, 42),
          expected=lambda a: {1: np.where(a[0] > 50, a[0], -1)}),
    _good("bins_of_each_warp_joined_at_the_end", grid=2, block=128,
          arguments=lambda: [unsigned(292), zeros(13, "u4"), 292],
          expected=lambda a: {1: np.bincount(a[0] % 13, minlength=13)}),
    _good("order_of_cells_that_a_wave_crosses", block=32, arguments=ints(441, 441, then=(21,)), expected=_wave),
    _good("warps_draw_their_work_until_it_is_gone", grid=2, arguments=ints(352, 352, then=(11,)), expected=_drawn),
    _good("value_of_one_lane_behind_a_warp_barrier", block=160, arguments=ints(160, 160),
          expected=lambda a: {1: a[0] - np.repeat(a[0][:5], 32)}),
)  # fmt: skip
