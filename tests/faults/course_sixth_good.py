"""The kernels of the sixth set as they should be, and others that look suspicious and are correct."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros
from tests.faults.course_sixth import halves, triangle


def _good(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file="good_sixth.cu", kernel=kernel, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: float) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def _reversed(n: int, factor: int = 1, result: int = 1) -> Any:
    return lambda a: {result: factor * a[0].reshape(-1, n)[:, ::-1].ravel()}


def _sum(source: int, result: int) -> Any:
    return lambda a: {result: [a[source].sum()]}


def search(nodes: int, degree: int) -> list:
    """A graph, and the search from node 0 as it begins: what is seen, two queues, their three sizes."""
    seen, size = zeros(nodes), zeros(3)
    seen[0] = size[0] = 1
    return [integers(nodes * degree, nodes), seen, zeros(2 * nodes), size, nodes, degree]


def _reached(a: list) -> dict[int, Any]:
    edges, seen = a[0].reshape(a[4], a[5]), a[1].astype(bool)
    for _ in range(a[4]):
        seen[edges[seen].ravel()] = True
    return {1: seen}


def _three_warps(a: list) -> dict[int, Any]:
    rows = a[0].reshape(-1, 1, 32)[:, :, ::-1] + np.arange(1, 4).reshape(3, 1)
    return {1: rows.ravel()}


def _token(a: list) -> dict[int, Any]:
    sums = [0]
    for v in a[0].astype(np.uint32):
        sums.append((2 * sums[-1] + int(v)) % 2**32)
    return {1: np.array(sums[1:], np.uint32).view(np.int32)}


def _of_a_warp(a: list) -> dict[int, Any]:
    x, lane = a[0].reshape(-1, 32), np.arange(32)
    v = x[:, lane ^ 1] + x[:, lane ^ 31]
    return {2: v[:, lane ^ 2].ravel()}


def _two_consumers(a: list) -> dict[int, Any]:
    x, lane = a[0].reshape(-1, 32), np.arange(32)
    return {1: np.stack([x[:, lane ^ 31], x[:, lane ^ 1]], axis=1).ravel()}


def _bins(a: list) -> dict[int, Any]:
    bins = np.bincount(a[0] % 64, minlength=64)
    return {1: bins, 2: bins + np.roll(bins, 32)}


def _relay(a: list) -> dict[int, Any]:
    x = a[0].reshape(-1, 32)
    second = 3 * (3 * x)[:, ::-1] + 1
    return {1: (3 * second[:, ::-1] + 2).ravel()}


def _tree(a: list) -> dict[int, Any]:
    """The sum in the first block's words, and in the others' what each had when it ended."""
    rows, count = a[0].reshape(-1, 32).copy(), a[0].size // 32
    for step in (2**k for k in range(count.bit_length() - 1)):
        for b in range(0, count, 2 * step):
            rows[b] += rows[b + step][::-1]
    return {1: rows.ravel()}


def _payloads(a: list) -> dict[int, Any]:
    return {0: zeros(4), 1: [a[2][a[2] % 4 == b].sum() for b in range(4)]}


def _balances(a: list) -> dict[int, Any]:
    balance = a[1].copy()
    np.add.at(balance, a[3], a[4])
    np.subtract.at(balance, a[2], a[4])
    return {0: zeros(4), 1: balance}


def _smooth(a: list) -> dict[int, Any]:
    x = a[0].reshape(-1, 64)
    for _ in range(a[1]):
        padded = np.pad(x, ((0, 0), (1, 1)), mode="edge")
        x = 0.25 * padded[:, :-2] + 0.5 * x + 0.25 * padded[:, 2:]
    return {0: x.ravel()}


def _ranks(a: list) -> dict[int, Any]:
    keys = a[0] % 4
    return {1: np.bincount(keys, minlength=4), 2: [(keys[:i] == k).sum() for i, k in enumerate(keys)]}


def _scans(a: list) -> dict[int, Any]:
    y = a[0].reshape(-1, 8).cumsum(axis=1)
    y[1::2] = 0
    return {1: y.ravel()}


def _ragged(a: list) -> dict[int, Any]:
    return {1: np.concatenate([part[::-1] for part in np.split(a[0], range(64, a[2], 64))])}


def _at_any_byte(a: list) -> dict[int, Any]:
    return {1: [int.from_bytes(a[0][1 + i * a[2] :][:4].tobytes(), "little") for i in range(32)]}


def _tails(a: list) -> dict[int, Any]:
    x = a[0].reshape(32, a[2])
    y, tail = np.zeros_like(x), np.zeros(32, np.float32)
    for i in reversed(range(a[2])):
        y[:, i] = tail = np.float32(0.5) * tail + x[:, i]
    return {1: y.ravel()}


def _tiles(a: list) -> dict[int, Any]:
    words = a[0].view(np.uint32).reshape(2, 8, 2, 4)
    return {1: np.concatenate([words[r, :, c].ravel() for c in (0, 1) for r in (0, 1)])}


def _before(a: list) -> dict[int, Any]:
    digits = [a[0] >> 2 * k & 3 for k in range(3)]
    return {1: np.concatenate([(d[None] < d[:, None]).sum(axis=1) for d in digits])}


def _met(a: list) -> dict[int, Any]:
    return {1: a[0].reshape(3, 64)[:, ::-1].ravel()}


GOOD_SIXTH = (
    _good("argmax_tree_that_ends_in_a_warp", block=128, arguments=lambda: [floats(128), zeros(1)],
          expected=lambda a: {1: [a[0].argmax()]}),
    _good("changed_flag_in_three_places", arguments=_words(64, 64), expected=lambda a: {1: np.full(64, a[0].max())}),
    _good("one_producer_and_three_warps_that_consume", block=128, arguments=_words(160, 480, then=(5,)),
          expected=_three_warps),
    _good("two_readers_release_a_word_by_two_names", block=96, arguments=_words(32, 96),
          expected=lambda a: {1: [*a[0][::-1], *a[0][::-1], *a[0][::-1] + 1]}),
    _good("told_through_a_third_warp", block=96, arguments=_words(32, 32), expected=_reversed(32)),
    _good("told_by_an_mbarrier_and_then_by_a_name", block=96, arguments=_words(32, 64),
          expected=lambda a: {1: [*a[0][::-1], *2 * a[0][np.arange(32) ^ 1]]}),
    _good("scratch_told_by_a_name", arguments=_words(128, 32, 128, then=(4,)), expected=_reversed(32, 3, 2)),
    _good("scratch_told_by_an_mbarrier", arguments=_words(128, 32, 128, then=(4,)), expected=_reversed(32, 3, 2)),
    _good("scratch_of_a_warp", grid=2, arguments=_words(128, 128, 128), expected=_of_a_warp),
    _good("scratch_told_by_a_flag_of_the_block", arguments=_words(32, 32, 32), expected=_reversed(32, 7, 2)),
    _good("lanes_pass_a_token", block=32, arguments=_words(32, 32), expected=_token),
    _good("peterson_of_two_blocks", grid=2, block=32, arguments=lambda: [zeros(2), zeros(1), integers(6), zeros(1), 3],
          expected=_sum(2, 3)),
    _good("bakery_of_four_blocks", grid=4, block=32, arguments=lambda: [zeros(4), zeros(4), integers(4), zeros(1)],
          expected=_sum(2, 3)),
    _good("queue_lock_of_nodes", grid=4, block=32,
          arguments=lambda: [np.array([-1], "i4"), zeros(4), zeros(4), integers(4), zeros(1)], expected=_sum(3, 4)),
    _good("many_readers_or_one_writer", grid=3, block=32, arguments=lambda: [zeros(1), zeros(2), zeros(3), 2],
          expected=lambda a: {0: [0], 1: [2, -2], 2: zeros(3)}),
    _good("sequence_lock_of_volatile_words", grid=2, block=32,
          arguments=lambda: [zeros(2), zeros(1), zeros(2), 3], expected=lambda a: {1: [6], 2: [0, 3]}),
    _good("words_counted_in_a_table", grid=2,
          arguments=lambda: [integers(200, 40), np.full(64, -1, "i4"), zeros(64), 200, 64],
          expected=lambda a: {2: np.bincount(a[0], minlength=64)}),
    _good("slots_with_sequence_numbers", grid=3, block=32,
          arguments=lambda: [np.arange(4, dtype="i4"), zeros(4), zeros(1), integers(12), zeros(1), 6],
          expected=_sum(3, 4)),
    _good("ring_of_two_warps_with_two_ends", arguments=_words(11, 11, then=(11,)), expected=lambda a: {1: 2 * a[0]}),
    _good("ring_of_two_blocks_with_volatile_ends", grid=2,
          arguments=lambda: [integers(320), zeros(128), zeros(2), zeros(320), 5], expected=_reversed(64, 1, 3)),
    _good("look_back_with_two_values", grid=5, block=32,
          arguments=lambda: [integers(5), zeros(5), zeros(5), zeros(5), zeros(5)],
          expected=lambda a: {4: a[0].cumsum() - a[0]}),
    _good("last_block_by_a_count_that_wraps", grid=3, block=32,
          arguments=lambda: [integers(96), zeros(96), zeros(1, "u4"), zeros(32)],
          expected=lambda a: {2: [0], 3: 3 * a[0].reshape(3, 32).sum(axis=0)[::-1]}),
    _good("triangular_solve_with_fences", grid=6, block=32,
          arguments=lambda: [triangle(6), floats(6), zeros(6, "f4"), zeros(6), 6],
          expected=lambda a: {2: np.linalg.solve(a[0].reshape(6, 6), a[1])}),
    _good("two_frontiers_and_three_sizes", grid=2, block=32, cooperative=True, arguments=lambda: search(64, 3),
          expected=_reached),
    _good("every_turn_commits_a_group", arguments=_floats(384, 384, 6), expected=_reversed(64)),
    _good("copy_bound_to_a_cuda_barrier", arguments=_floats(192, 192, 3), expected=_reversed(64)),
    _good("pipeline_of_one_warp_for_two", block=96, arguments=_floats(160, 320, 5), expected=_two_consumers),
    _good("words_sent_to_the_peer", grid=2, arguments=_words(128, 128), expected=_reversed(128)),
    _good("stage_released_to_the_peer", grid=2, block=32, arguments=_words(160, 160, then=(5,)),
          expected=_reversed(32)),
    _good("peers_wait_before_they_leave", grid=2, block=32, arguments=_words(64, 64, 64), expected=_bins),
    _good("next_tile_filled_while_one_is_stored", arguments=_floats(320, 320, 5), expected=_reversed(64, 2)),
    _good("bulk_sums_read_behind_a_grid_barrier", grid=3, block=32, cooperative=True,
          arguments=lambda: [integers(96).astype("f4"), zeros(32, "f4"), zeros(96, "f4")],
          expected=lambda a: {2: (a[0].reshape(3, 32) - a[0].reshape(3, 32).sum(axis=0)[::-1]).ravel()}),
    _good("producer_lane_and_two_warps_of_consumers", block=96, arguments=_floats(320, 320, 5),
          expected=_reversed(64)),
    _good("copies_arrive_at_an_mbarrier", arguments=_words(64, 64), expected=_reversed(64)),
    _good("relay_of_three_warps", block=96, arguments=_words(160, 160, then=(5,)), expected=_relay),
    _good("flags_of_a_dissemination_barrier", grid=4, block=32, arguments=lambda: [integers(128), zeros(8)],
          expected=lambda a: {0: np.roll(a[0].reshape(4, 32), -3, axis=0).ravel() + 3}),
    _good("sums_up_a_tree_of_blocks", grid=8, block=32, arguments=_words(256, 256, 8), expected=_tree),
    _good("versions_published_by_an_index", grid=3, block=32, arguments=lambda: [zeros(10), zeros(1), zeros(3), 4],
          expected=lambda a: {2: [0, 16, 16]}),
    _good("counts_become_cursors", arguments=lambda: [integers(64, 16), zeros(64)],
          expected=lambda a: {1: np.sort(a[0])}),
    _good("lock_in_the_lowest_bit", grid=4, block=32, arguments=lambda: [zeros(4), zeros(4), integers(12), 4],
          expected=_payloads),
    _good("accounts_locked_in_order", grid=6, block=32,
          arguments=lambda: [zeros(4), integers(4), integers(6, 4), integers(7, 4)[:6], integers(6)],
          expected=_balances),
    _good("lock_with_a_pause", grid=2,
          arguments=lambda: [zeros(1), np.array([-9], "f4"), zeros(1), floats(128)],
          expected=lambda a: {1: [a[3][::32].max()], 2: [32 * a[3][::32].argmax()]}),
    _good("set_once_by_whoever_comes_first", grid=4, block=32, arguments=lambda: [zeros(1), zeros(8), zeros(4)],
          expected=lambda a: {2: 140 + np.arange(4)}),
    _good("smoothed_in_place_through_registers", grid=2, arguments=lambda: [floats(128), 3], expected=_smooth),
    _good("leaders_of_equal_keys_reserve", block=32, arguments=_words(32, 4, 32), expected=_ranks),
    _good("scans_of_tiles_of_eight", grid=2, arguments=_words(128, 128), expected=_scans),
    _good("tile_whose_ragged_end_is_not_read", grid=3, arguments=_floats(150, 150, 150), expected=_ragged),
    _good("bytes_then_words", arguments=lambda: [integers(64), zeros(16, "u4")],
          expected=lambda a: {1: a[0].astype(np.uint8).view(np.uint32)}),
    _good("words_at_any_byte", block=32, arguments=lambda: [integers(180, 256, np.uint8), zeros(32, "u4"), 5],
          expected=_at_any_byte),
    _good("counted_down_without_a_sign", block=32, arguments=_floats(320, 320, 10), expected=_tails),
    _good("matrix_rows_of_48_bytes", block=32, arguments=lambda: [halves(256), zeros(128, "u4")], expected=_tiles),
    _good("matrix_tile_stored_by_two_warps", arguments=lambda: [halves(256), zeros(256, "u4")]),
    _good("pending_bits_exchanged", grid=2, block=32, arguments=lambda: [integers(32), zeros(1, "u4"), zeros(1)],
          expected=_sum(0, 2)),
    _good("buffer_flushed_between_barriers", arguments=_words(320, 320, 1, then=(320,)),
          expected=lambda a: {2: [(a[0] > 50).sum()]}),
    _good("counters_of_each_pass", arguments=_words(64, 192), expected=_before),
    _good("count_of_a_block_over_a_ragged_row", arguments=_words(100, 1, then=(100,)),
          expected=lambda a: {1: [(a[0] > 50).sum()]}),
    _good("difference_of_an_alias_behind_a_grid_barrier", grid=2, cooperative=True,
          arguments=lambda: [(x := floats(128)), x], expected=lambda a: {1: np.diff(a[0], prepend=np.float32(0))}),
    _good("one_warp_leaves_and_two_meet", block=96, arguments=_words(192, 192), expected=_met),
    _good("runs_merged_between_two_arrays", arguments=_words(64), expected=lambda a: {0: np.sort(a[0])}),
)  # fmt: skip
