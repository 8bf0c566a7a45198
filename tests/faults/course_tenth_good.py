"""The kernels of the tenth set as they should be, and others that look suspicious and are correct."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros
from tests.faults.course_tenth import letters, shared_weights, words


def _good(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file="good_tenth.cu", kernel=kernel, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: float) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def _pages(a: list) -> dict[int, Any]:
    cache = a[2].reshape(12, 4, 8)
    rows = [cache[a[1][4 * s : 4 * s + 4]].reshape(16, 8)[:length] for s, length in enumerate(a[0])]
    return {3: [row.sum(axis=0) for row in rows]}


def _ell(a: list) -> dict[int, Any]:
    columns, values = a[0].reshape(3, 4), a[1].reshape(3, 4)
    return {3: np.where(columns < 0, 0, values * a[2][columns]).sum(axis=0)}


def _sampled(a: list) -> dict[int, Any]:
    sums = np.cumsum(a[0], dtype="f4")
    return {3: [a[2][min(np.searchsorted(sums, draw), 39)] for draw in a[1]]}


def _rows(a: list) -> dict[int, Any]:
    return {2: [a[1][begin:end].sum() for begin, end in zip(a[0], a[0][1:], strict=False)]}


def _row_lengths(a: list) -> dict[int, Any]:
    ends = np.cumsum(a[0])
    return {2: [a[1][end - length : end].sum() for end, length in zip(ends, a[0], strict=True)]}


def _found(a: list) -> dict[int, Any]:
    text, pattern = a[0].tobytes(), a[1].tobytes()
    return {2: [text.startswith(pattern, i) for i in range(40)]}


def _carved(a: list) -> dict[int, Any]:
    return {1: (1000 * a[0] + a[0] % 2)[::-1]}


def _centred(a: list) -> dict[int, Any]:
    return {1: np.append(a[0] - a[0].mean(), zeros(24))}


def _kept(a: list) -> dict[int, Any]:
    kept = a[0][(a[0] > 20) & (a[0] % 3 > 0)]
    return {1: np.append(kept, zeros(32 - kept.size))}


def _peer(a: list) -> dict[int, Any]:
    x = a[1].reshape(2, 32)[::-1]
    return {2: np.where(np.arange(32) < a[0][::-1, None], x, -1)}


def _smoothed(a: list) -> dict[int, Any]:
    once = np.convolve(a[0], np.ones(3) / 3, "valid")
    return {1: np.convolve(once, np.ones(3) / 3, "valid")}


def _bin_starts(a: list) -> dict[int, Any]:
    return {1: [(a[0] % 40 < v % 40).sum() for v in a[0]]}


def _parts(a: list) -> dict[int, Any]:
    y = np.zeros((4, 8))
    for page, x in enumerate(a[0].reshape(8, 8)):
        y[page % 4] += (a[1][page] % 4 + 1) * x
    return {2: y}


def _dilated(a: list) -> dict[int, Any]:
    v = a[0].reshape(8, 8)
    for axis in (1, 0, 1, 0):
        wide = np.pad(v, 1, mode="edge")
        near = [np.roll(wide, shift, axis=axis)[1:-1, 1:-1] for shift in (-1, 0, 1)]
        v = np.max(near, axis=0)
    return {1: v}


def _tops(a: list) -> dict[int, Any]:
    x = a[0].reshape(4, 64)
    return {1: (x.max(axis=1)[:, None] - x).sum(axis=0)}


def _running_tops(a: list) -> dict[int, Any]:
    x = a[0].reshape(4, 64)
    return {1: (np.maximum.accumulate(x.max(axis=1))[:, None] - x).sum(axis=0)}


def _tile_sums(a: list) -> dict[int, Any]:
    v = a[0].copy()
    odd = np.arange(64) // 8 % 2 == 1
    for _ in range(2):
        v = np.where(odd, v + v[np.arange(64) ^ 5], v)
    return {1: v}


def _weighted_tiles(a: list) -> dict[int, Any]:
    x = a[0].reshape(4, -1)
    return {1: (np.arange(1, 5)[:, None] * x[:, ::-1]).sum(axis=0)}


def _in_turn(a: list) -> dict[int, Any]:
    shared = 0
    for v in a[0]:
        shared = 3 * shared + int(v)
    return {1: [shared]}


def _sums_before(a: list) -> dict[int, Any]:
    sums = a[0].reshape(-1, 32).sum(axis=1)
    return {2: np.cumsum(sums) - sums}


def _ticketed(a: list) -> dict[int, Any]:
    x = 3 * a[0].reshape(2, 2, 32)
    return {3: x[:, 0] + x[:, 1, ::-1]}


def _rotated(x: np.ndarray) -> np.ndarray:
    x, angle = x.reshape(-1, 2, 8), 0.1 * np.arange(8)
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([x[:, 0] * c - x[:, 1] * s, x[:, 0] * s + x[:, 1] * c], axis=1)


def _dots(a: list) -> dict[int, Any]:
    keys = a[2].reshape(2, 8, 32)
    keys[:, 5] = a[1].reshape(2, 32)
    dots = np.einsum("hd,htd->ht", a[0].reshape(4, 32), keys.repeat(2, axis=0))
    return {3: np.where(np.arange(8) <= 5, dots, 0), 2: keys}


def _experts(a: list) -> dict[int, Any]:
    y = np.zeros((3, 16))
    np.add.at(y, a[0], a[1][:, None] * a[2].reshape(4, 16))
    return {3: y}


def _quantised(a: list) -> dict[int, Any]:
    return {2: np.rint(a[0] / np.abs(a[0]).max() * np.float32(127))}


def _expert_offsets(a: list) -> dict[int, Any]:
    loads = np.bincount(a[0] % 8, minlength=8)
    return {1: loads, 2: np.cumsum(loads) - loads}


def _generators(a: list) -> dict[int, Any]:
    state = a[0].repeat(2) + np.arange(32, dtype="u4") % 2
    for _ in range(10):
        state = state * np.uint32(1664525) + np.uint32(1013904223)
    return {0: state[1::2]}


def _failures(a: list) -> dict[int, Any]:
    text = a[0].tobytes()
    longest = [max(k for k in range(i + 1) if text[: i + 1].endswith(text[:k])) for i in range(8)]
    return {2: longest * 8}


def _last_of_the_active(a: list) -> dict[int, Any]:
    active = a[0] % 3 != 1
    return {1: (active & (a[0] == a[0][active][-1])) + 2 * (a[0] > 9).sum()}


def _even_rows(a: list) -> dict[int, Any]:
    rows = a[0].reshape(4, 8)
    return {1: np.where(np.arange(4) % 2, -rows[:, 0], rows.sum(axis=1))}


def _ragged_rows(a: list) -> dict[int, Any]:
    return {2: [a[1][4 * r : 4 * r + n].sum() for r, n in enumerate(a[0])]}


def _packed(a: list) -> dict[int, Any]:
    bits = (a[0] > 30).reshape(2, 2, 32)
    own = np.concatenate([bits[:, 0, :16], bits[:, 1, 16:]], axis=1)
    return {1: (own * (np.uint64(1) << np.arange(32, dtype="u8"))).sum(axis=1)}


def _log_sum(a: list) -> dict[int, Any]:
    return {2: [np.log(np.exp(a[0].reshape(8, 32)[a[1]]).sum())]}


def _seen(a: list) -> dict[int, Any]:
    return {3: [np.unique(a[0]).size]}


def _permuted(a: list) -> dict[int, Any]:
    return {2: a[0].reshape(2, 64)[:, np.argsort(a[1])]}


def _stride_two(a: list) -> dict[int, Any]:
    x = np.pad(a[0], 1)
    return {2: [(a[1] * x[2 * i : 2 * i + 3]).sum() for i in range(32)]}


def _fixed_up(a: list) -> dict[int, Any]:
    return {1: a[0].reshape(3, 5, 32).sum(axis=1)}


def _groups(a: list) -> dict[int, Any]:
    stay, keys = a[1] > 30, a[0] % 3
    return {2: [a[1][stay & (keys == key)].sum() if here else -1 for key, here in zip(keys, stay, strict=True)]}


def _next_level(a: list) -> dict[int, Any]:
    return {3: [sum({1 << int(v) for u, v in zip(a[0], a[1], strict=True) if u % 2 == 0 and v % 2})]}


def _changed(a: list) -> dict[int, Any]:
    changed = a[0] - np.float32(0.1) * a[1]
    return {3: changed[::-1] + changed[np.arange(64) ^ 1]}


GOOD_TENTH = (
    _good("pages_of_a_sequence_rounded_up", grid=3, block=8, expected=_pages,
          arguments=lambda: [words(5, 9, 16), np.arange(12, dtype="i4")[::-1].copy(), floats(384), zeros(24, "f4")]),
    _good("nearest_pixel_rounded_down", block=32, arguments=_floats(10, 30, 10, 30),
          expected=lambda a: {1: a[0].repeat(3)}),
    _good("ties_counted_and_not_stored", block=32,
          arguments=lambda: [np.where(np.arange(64) % 6, 3, 9 - np.arange(64) % 4).astype("i4"), zeros(1), zeros(8), 7,
                             64], expected=lambda a: {1: [(a[0] >= 7).sum()]}),
    _good("padding_of_an_ell_row_is_skipped", block=32, expected=_ell,
          arguments=lambda: [words(0, 4, 2, 8, 1, -1, 7, 3, -1, -1, 5, -1), floats(12), floats(9), zeros(4, "f4"), 4,
                             3]),
    _good("sample_that_falls_back_to_the_last_word", block=20, expected=_sampled,
          arguments=lambda: [np.full(40, 0.0249, "f4"), np.linspace(0, 1, 20).astype("f4"), integers(40), zeros(20),
                             40]),
    _good("queue_whose_counter_ends_beyond_the_tiles", grid=2, block=32, expected=lambda a: {1: 2 * a[0], 2: [7]},
          arguments=lambda: [floats(160), zeros(160, "f4"), zeros(1), 5]),
    _good("rows_taken_by_warps_from_one_counter", grid=2, expected=_rows,
          arguments=lambda: [words(0, 3, 3, 40, 100, 101), integers(101), zeros(5), zeros(1), 5]),
    _good("pattern_compared_until_it_differs_at_the_end_mark", block=40, expected=_found,
          arguments=lambda: [letters("ab" * 20 + "\0"), letters("aba"), zeros(40), 3]),
    _good("last_page_copied_as_far_as_it_goes", grid=3, arguments=_floats(160, 160, 160),
          expected=lambda a: {1: 0.5 * a[0]}),
    _good("tiles_of_a_worker_with_a_fix_up", grid=4, block=32, expected=_fixed_up,
          arguments=lambda: [floats(480), zeros(96, "f4"), zeros(128, "f4"), zeros(4), 3, 5]),
    _good("matrix_rows_of_twenty_four_halves", block=32,
          arguments=lambda: [integers(64, 9999, np.uint16), zeros(32, "u4")], expected=lambda a: {1: a[0].view("u4")}),
    _good("addresses_of_lanes_that_ldmatrix_ignores", block=32,
          arguments=lambda: [integers(64, 9999, np.uint16), zeros(32, "u4")], expected=lambda a: {1: a[0].view("u4")}),
    _good("carved_with_offsets_rounded_up", block=33, smem=369, arguments=lambda: [integers(33), zeros(33, "i8")],
          expected=_carved),
    _good("swizzle_of_a_row_of_sixteen", block=(16, 8), arguments=_words(128, 128),
          expected=lambda a: {1: a[0].reshape(8, 16).T}),
    _good("columns_of_a_lane_counted_up", block=32, arguments=_floats(72, 96, 72), expected=_centred),
    _good("start_of_the_first_row_by_the_first_lane", block=32, expected=_row_lengths,
          arguments=lambda: [integers(32, 4), integers(128), zeros(32)]),
    _good("slots_reserved_for_those_that_come", block=32, arguments=_words(32, 32), expected=_kept),
    _good("slots_of_the_peer_as_far_as_they_are_filled", grid=2, block=32, expected=_peer,
          arguments=lambda: [words(32, 20), integers(64), zeros(64)]),
    _good("two_steps_with_a_halo_of_two", grid=2, block=32, arguments=_floats(68, 64), expected=_smoothed),
    _good("prefix_of_forty_bins_by_one_warp", arguments=_words(64, 64), expected=_bin_starts),
    _good("accumulators_of_every_part_begin_at_zero", block=32, expected=_parts,
          arguments=lambda: [floats(64), integers(8), zeros(32, "f4"), 8]),
    _good("bitonic_barriers_by_the_distance", arguments=_words(128, 128), expected=lambda a: {1: np.sort(a[0])}),
    _good("rows_then_columns_in_two_tiles", block=(8, 8), arguments=_words(64, 64), expected=_dilated),
    _good("private_bins_cleared_by_their_warp", arguments=_words(64, 16),
          expected=lambda a: {1: np.bincount(a[0] % 16, minlength=16)}),
    _good("search_stopped_by_a_minimum_of_the_block",
          arguments=lambda: [np.arange(250, dtype="i4") % 90, zeros(64), 70, 250],
          expected=lambda a: {1: np.full(64, 70)}),
    _good("flag_of_a_search_by_relaxed_loads", arguments=lambda: [np.arange(256, dtype="i4"), zeros(64), 70, 256],
          expected=lambda a: {1: np.full(64, 70)}),
    _good("maxima_of_the_warps_in_two_buffers", arguments=_words(256, 64, then=(4,)), expected=_tops),
    _good("maximum_of_a_tile_between_two_barriers", arguments=_words(256, 64, then=(4,)), expected=_running_tops),
    _good("dropped_threads_stay_away", arguments=_words(64, 64),
          expected=lambda a: {1: np.append((a[0][:32] + a[0][:31:-1])[::-1], zeros(32))}),
    _good("cluster_count_in_the_scope_of_the_device", grid=2, block=32, arguments=_words(64, 1),
          expected=lambda a: {1: [(a[0] > 50).sum()]}),
    _good("tile_of_eight_exchanges_within_itself", arguments=_words(64, 64), expected=_tile_sums),
    _good("flags_set_in_bytes_behind_a_barrier_and_read_as_words", block=96,
          arguments=lambda: [integers(96), zeros(24, "u4")],
          expected=lambda a: {1: (a[0] > 30).astype("u1").view("u4")}),
    _good("threads_beyond_the_row_return_before_the_barriers", block=96, arguments=_words(96, 70, then=(70,)),
          expected=lambda a: {1: np.cumsum(a[0][:70])}),
    _good("barrier_expects_the_threads_that_stay", arguments=_words(64, 40, then=(40,)),
          expected=lambda a: {1: a[0][39::-1]}),
    _good("empty_barriers_waited_for_with_the_other_parity", arguments=_words(128, 32, then=(4,)),
          expected=_weighted_tiles),
    _good("ping_pong_with_a_first_arrival", arguments=_words(8, 1, then=(4,)), expected=_in_turn),
    _good("steps_of_a_quarter_until_exactly_one", block=20, arguments=_floats(20, 20),
          expected=lambda a: {1: 1.5 * a[0]}),
    _good("permits_of_a_block_given_back_by_all", arguments=_words(64, 64), expected=lambda a: {1: 2 * a[0]}),
    _good("status_and_sum_in_one_word", grid=4, block=32, expected=_sums_before,
          arguments=lambda: [integers(128), zeros(4, "u8"), zeros(4)]),
    _good("ticket_of_its_own_tile", grid=(2, 2), block=32, arguments=_words(128, 128, 2, 64), expected=_ticketed),
    _good("fence_behind_the_partial", grid=3, block=32,
          arguments=lambda: [integers(96), zeros(3), zeros(1, "u4"), zeros(1)],
          expected=lambda a: {3: [a[0].sum()], 2: [0]}),
    _good("slot_that_is_full_when_it_is_not_zero", grid=2, block=32, arguments=_words(32, 32, 1, 1),
          expected=lambda a: {3: [(2 * a[0] + 1).sum()]}),
    _good("lock_freed_after_the_store", grid=3, block=32, arguments=_words(3, 1, 1),
          expected=lambda a: {2: [a[0].sum()]}),
    _good("grid_barrier_of_relaxed_counts_between_fences", grid=3, block=40, cooperative=True,
          arguments=_words(120, 120, 1, 120), expected=lambda a: {3: a[0][::-1] ** 2}),
    _good("key_head_rotated_by_the_first_of_its_group", grid=4, block=8, arguments=lambda: [floats(64), floats(32), 2],
          expected=lambda a: {0: _rotated(a[0]), 1: _rotated(a[1])}),
    _good("newest_key_kept_in_registers", grid=4, block=32, expected=_dots,
          arguments=lambda: [floats(128), floats(64), floats(512), zeros(32, "f4"), 5, 2]),
    _good("expert_outputs_added_by_atomics", grid=4, block=16, expected=_experts,
          arguments=lambda: [words(0, 2, 1, 2), floats(4), floats(64), zeros(48, "f4")]),
    _good("scale_read_behind_a_grid_barrier", grid=2, cooperative=True, expected=_quantised,
          arguments=lambda: [floats(128), zeros(1), zeros(128, "i1")]),
    _good("offsets_made_by_the_last_block_that_counted", grid=3, block=40, expected=_expert_offsets,
          arguments=lambda: [integers(120), zeros(8), zeros(8), zeros(1, "u4"), 8]),
    _good("generator_of_a_pair_written_by_one", block=32, expected=_generators,
          arguments=lambda: [integers(16, 1 << 30, np.uint32), zeros(32), 10]),
    _good("helper_and_owner_both_add", grid=2, block=32, arguments=_floats(256, 32, 8),
          expected=lambda a: {1: a[0].reshape(8, 32).sum(axis=0)}),
    _good("occurrences_counted_in_a_claimed_slot", grid=2, block=40,
          arguments=lambda: [integers(80, 20), zeros(64), zeros(64), zeros(20)],
          expected=lambda a: {3: np.bincount(a[0], minlength=20)}),
    _good("parent_kept_by_the_first_that_finds_it", grid=2, block=4, expected=lambda a: {4: [5]},
          arguments=lambda: [words(0, 1, 2, 0, 3, 1, 2, 4), words(3, 4, 4, 5, 6, 6, 3, 7), np.full(8, -1, "i4"),
                             zeros(8), zeros(1)]),
    _good("failure_table_behind_a_barrier", arguments=lambda: [letters("abacabab"), zeros(8), zeros(64), 8],
          expected=_failures),
    _good("stride_of_all_threads_of_a_grid_of_two_dimensions", grid=(2, 2), block=32, arguments=_floats(300, 300, 300),
          expected=lambda a: {1: 2 * a[0]}),
    _good("bulk_sum_read_when_it_is_complete", arguments=lambda: [floats(64), zeros(64, "f4"), zeros(64, "f4")],
          expected=lambda a: {2: a[0][::-1]}),
    _good("last_of_the_active_by_its_bit", block=32, arguments=_words(32, 32), expected=_last_of_the_active),
    _good("rows_reduced_within_a_width_of_eight", block=32, arguments=_words(32, 4), expected=_even_rows),
    _good("block_vote_as_often_as_the_longest_row", block=40, expected=_ragged_rows,
          arguments=lambda: [integers(40, 5), integers(160), zeros(40)]),
    _good("ring_of_four_copies_with_one_barrier", arguments=_floats(512, 64, 8),
          expected=lambda a: {1: (np.arange(1, 9)[:, None] * a[0].reshape(8, 64)[:, ::-1]).sum(axis=0)}),
    _good("radix_select_in_four_passes", arguments=lambda: [integers(150, 65536, np.uint32), zeros(1, "u4"), 150, 20],
          expected=lambda a: {1: [np.sort(a[0])[-20]]}),
    _good("bits_packed_by_ballots_of_two_blocks", grid=2, arguments=lambda: [integers(128), zeros(2, "u4")],
          expected=_packed),
    _good("online_softmax_over_pages_by_two_warps", expected=_log_sum,
          arguments=lambda: [floats(256), words(3, 0, 7, 2, 5), zeros(1, "f4"), 5]),
    _good("frontier_appended_by_the_leader_of_a_warp", grid=2, expected=_seen,
          arguments=lambda: [integers(128), zeros(4), zeros(128), zeros(1)]),
    _good("stage_of_one_union_between_barriers", expected=_permuted,
          arguments=lambda: [floats(128), np.random.default_rng(7).permutation(64).astype("i4"), zeros(128, "f4")]),
    _good("first_element_read_by_all_and_written_by_its_owner", block=96, arguments=_words(96, 96),
          expected=lambda a: {0: a[0] - a[0][0], 1: a[0]}),
    _good("release_by_a_reduction_and_acquire_by_a_load", grid=3, block=32, arguments=_words(64, 64, 1, 32),
          expected=lambda a: {3: 5 * (a[0][31::-1] + a[0][:31:-1])}),
    _good("conv_row_with_both_edges_tested", block=32, arguments=lambda: [floats(63), floats(3), zeros(32, "f4"), 63],
          expected=_stride_two),
    _good("producer_waits_for_what_was_emptied", arguments=_floats(128, 32, 4), expected=_weighted_tiles),
    _good("result_put_where_the_last_copy_has_come", arguments=_floats(192, 64, 3),
          expected=lambda a: {1: 2 * a[0].reshape(3, 64).sum(axis=0)}),
    _good("leaders_of_a_label_add_by_atomics", arguments=lambda: [integers(64), integers(64, 50), zeros(4)],
          expected=lambda a: {2: np.bincount(a[0] % 4, weights=a[1], minlength=4)}),
    _good("window_tested_with_a_sum", block=3, arguments=lambda: [words(0, 9, 11, 17), floats(17), zeros(3, "f4"), 3],
          expected=lambda a: {2: np.maximum([a[1][:9].max(), 0, a[1][11:].max()], 0)}),
    _good("arrival_by_all_lanes_behind_a_branch", arguments=_words(64, 64),
          expected=lambda a: {1: np.append((a[0][:32] * (2 * (np.arange(32) % 2) - 1))[::-1], a[0][32:])}),
    _good("group_of_a_key_among_those_that_stay", block=32, expected=_groups,
          arguments=lambda: [integers(32)[::-1].copy(), integers(32), zeros(32)]),
    _good("last_stage_expects_what_comes", block=32, arguments=_floats(80, 32, 80),
          expected=lambda a: {1: np.append(a[0], zeros(16)).reshape(3, 32).sum(axis=0)}),
    _good("parity_from_the_turn_of_the_block", grid=3, block=32, arguments=_floats(224, 224, 7),
          expected=lambda a: {1: a[0].reshape(7, 32)[:, ::-1]}),
    _good("flag_that_counts_the_rounds", grid=2, block=32, arguments=_words(128, 64, 1, 64),
          expected=lambda a: {3: 3 * (a[0].reshape(2, 2, 32)[:, 0] + a[0].reshape(2, 2, 32)[:, 1, ::-1])}),
    _good("first_lane_waits_and_then_its_warp_meets", grid=2, block=32, arguments=_words(32, 32, 1, 32),
          expected=lambda a: {3: 3 * a[0][::-1]}),
    _good("matrices_of_a_tile_filled_up_with_zeros", block=32,
          arguments=lambda: [integers(48, 1 << 20, np.uint32), zeros(32, "u4"), 12],
          expected=lambda a: {1: a[0][:32] + np.append(a[0][32:], zeros(16, "u4"))}),
    _good("queue_of_the_block_reset_between_barriers", block=96, arguments=_words(224, 7, then=(7,)),
          expected=lambda a: {1: 2 * a[0].reshape(7, 32).sum(axis=1) + 32}),
    _good("bits_of_this_level_tested_while_the_next_are_set", grid=2, block=40, expected=_next_level,
          arguments=lambda: [integers(80, 32), integers(80, 31), np.full(1, 0x5555_5555, "u4"), zeros(1, "u4")]),
    _good("weights_changed_under_two_plain_names", arguments=shared_weights, expected=_changed),
    _good("heads_read_between_two_warp_barriers", block=32,
          arguments=lambda: [np.sort(integers(32).reshape(4, 8)).reshape(-1), zeros(6), 6],
          expected=lambda a: {1: np.sort(a[0])[:6]}),
    _good("matrix_stored_and_read_behind_a_warp_barrier", block=32,
          arguments=lambda: [integers(32, 1 << 20, np.uint32), zeros(32, "u4")],
          expected=lambda a: {1: a[0].reshape(8, 4).T}),
    _good("total_of_a_column_behind_a_barrier", block=(16, 8), arguments=_words(128, 16),
          expected=lambda a: {1: a[0].reshape(8, 16).sum(axis=0)}),
)  # fmt: skip
