"""The kernels of the seventh set as they should be, and others that look suspicious and are correct."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros
from tests.faults.course_seventh import diagonally_dominant, ring_of_edges


def _good(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file="good_seventh.cu", kernel=kernel, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: float) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def _reversed(n: int, factor: int = 1, result: int = 1) -> Any:
    return lambda a: {result: factor * a[0].reshape(-1, n)[:, ::-1].ravel()}


def _sum(source: int, result: int) -> Any:
    return lambda a: {result: [a[source].sum()]}


def _ways(a: list) -> dict[int, Any]:
    d = a[0].reshape(8, 8) + 1
    np.fill_diagonal(d, 0)
    for k in range(8):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1])
    return {1: d}


def _filled(a: list) -> dict[int, Any]:
    return {1: np.concatenate([a[0], np.zeros(28, "f4")]).reshape(2, 64)[:, ::-1]}


def _list_sums(a: list) -> dict[int, Any]:
    sums = np.zeros(32, np.int64)
    for column in a[0].reshape(32, 4)[:, ::-1].T:
        sums = 3 * sums + column
    return {1: sums}


def _softmax(a: list) -> dict[int, Any]:
    e = np.exp(a[0].reshape(4, 4))
    return {2: e / e.sum(axis=1, keepdims=True)}


def _losses(a: list) -> dict[int, Any]:
    logits, targets = a[0].reshape(4, 40), a[1]
    losses = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(4), np.maximum(targets, 0)]
    return {2: np.where(targets < 0, 0, losses)}


def _turned_halves(a: list) -> dict[int, Any]:
    halves = a[0].reshape(2, 16)
    return {1: np.repeat([halves[0].sum(), halves[1].max()], 16)}


def ragged(lists: int) -> list:
    """Begins of lists of one to three items, and the items."""
    begins = np.concatenate([[0], np.cumsum(1 + np.arange(lists) % 3)]).astype(np.int32)
    return [begins, integers(int(begins[-1]))]


def _cross(a: list) -> dict[int, Any]:
    x = np.pad(a[0].reshape(16, 16), 1)
    return {1: x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]}


def _carved(a: list) -> dict[int, Any]:
    n = a[2]
    flags = np.append(a[0] % 2, 0)
    return {1: (a[0][::-1] * 0.5 + flags[1:])[:n][::-1]}


def _of_two_blocks(a: list) -> dict[int, Any]:
    tiles = a[0].reshape(5, 32)
    return {2: np.stack([tiles[i // 3 * 3][::-1] for i in range(5)])}


def _halos(a: list) -> dict[int, Any]:
    x = np.pad(a[0], 1)
    return {1: x[:-2] + x[2:]}


def _ring(a: list) -> dict[int, Any]:
    tiles = a[0].reshape(4, 32)
    return {1: sum((i + 1) * np.roll(tiles, -i, axis=0) for i in range(4))}


def tree_of_boxes(leaves: int) -> list:
    """The nodes of a whole tree in words (parent, left, right, low, high), inner ones first, and the leaves' values."""
    nodes = np.zeros((2 * leaves - 1, 5), np.int32)
    index = np.arange(2 * leaves - 1)
    nodes[:, 0] = (index - 1) // 2
    nodes[: leaves - 1, 1], nodes[: leaves - 1, 2] = 2 * index[: leaves - 1] + 1, 2 * index[: leaves - 1] + 2
    return [nodes.ravel(), zeros(leaves - 1), floats(leaves), leaves]


def _eliminated(a: list) -> dict[int, Any]:
    m = a[0].reshape(8, 8).astype(np.float64)
    for k in range(7):
        m[k + 1 :, k] /= m[k, k]
        m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], m[k, k + 1 :])
    return {0: m}


def _coloured(a: list) -> dict[int, Any]:
    colour = a[1]
    for _ in range(3):
        colour = np.maximum(colour, np.maximum(np.roll(colour, 1), np.roll(colour, -1)))
    return {2: colour}


def _buckets(a: list) -> dict[int, Any]:
    sample = np.sort(a[0][np.arange(32) * 8])
    return {1: np.searchsorted(sample[8::8], a[0], side="right")}


def _halves(a: list) -> dict[int, Any]:
    return {1: a[0].astype(np.float16)}


def _labels(a: list) -> dict[int, Any]:
    label = np.arange(64)
    for _ in range(64):
        for u, v in a[0].reshape(-1, 2):
            label[u] = label[v] = min(label[u], label[v])
    return {1: label}


def _seen(a: list) -> dict[int, Any]:
    words = np.zeros(5, np.int64)
    for v in np.unique(a[0]):
        words[v // 32] |= 1 << v % 32
    words[4] = len(a[0]) - len(np.unique(a[0]))
    return {1: words.astype(np.uint32).view(np.int32)}


def _turns(a: list) -> dict[int, Any]:
    board, y = np.zeros(32, np.int64), []
    for row in a[0].reshape(-1, 32):
        total = board + row
        y.append(total)
        board = total[::-1]
    return {1: np.concatenate(y)}


def _powers(a: list) -> dict[int, Any]:
    return {1: [pow(int(v), i % 13, 1000003) for i, v in enumerate(a[0])]}


GOOD_SEVENTH = (
    _good("shortest_ways_in_one_matrix", block=(8, 8), arguments=_words(64, 64), expected=_ways),
    _good("bytes_expected_after_the_copy_is_issued", arguments=_floats(64, 64), expected=_reversed(64)),
    _good("producer_that_begins_with_parity_one", arguments=_floats(224, 224, 7), expected=_reversed(32)),
    _good("name_zero_is_the_barrier_of_the_block", arguments=_words(64, 64), expected=lambda a: {1: a[0] + 1}),
    _good("lanes_meet_at_two_lines", arguments=_words(64, 64), expected=_reversed(64)),
    _good("copy_of_nothing_from_beyond_the_end", grid=2, arguments=_floats(100, 128, 100), expected=_filled),
    _good("list_on_the_heap_that_is_freed_in_order", block=32, arguments=_words(128, 32, then=(4,)),
          expected=_list_sums),
    _good("scratch_of_the_heap_for_the_block", grid=2,
          arguments=lambda: [np.array([64, 1 << 28], "i4"), zeros(128, "f4")],
          expected=lambda a: {1: np.concatenate([np.arange(63, -1, -1) * 0.5, np.full(64, -1)])}),
    _good("mask_that_may_be_left_out", grid=4, block=32, arguments=lambda: [floats(16), None, zeros(16, "f4"), 4],
          expected=_softmax),
    _good("loss_without_the_tokens_to_ignore", grid=4, block=32,
          arguments=lambda: [floats(160), np.array([3, -100, 39, 0], "i4"), zeros(4, "f4"), 40], expected=_losses),
    _good("lanes_that_do_not_exist_are_not_read", block=48, arguments=_floats(120, 3, 40),
          expected=lambda a: {1: a[0].reshape(3, 40).sum(axis=1)}),
    _good("one_lane_locks_for_its_warp", grid=2, arguments=_words(128, 32, 1),
          expected=lambda a: {1: a[0].reshape(4, 32).sum(axis=0)}),
    _good("lanes_of_a_warp_lock_one_after_the_other", grid=2, block=32, arguments=_words(64, 1, 1),
          expected=_sum(0, 1)),
    _good("latch_of_the_block", arguments=_words(32, 32), expected=_reversed(32)),
    _good("semaphore_with_one_permit", grid=4, block=32,
          arguments=lambda: [np.ones(1, "i8"), integers(4), zeros(1)], expected=_sum(1, 2)),
    _good("two_may_enter_and_add_atomically", grid=4, block=32,
          arguments=lambda: [np.array([2], "i4"), integers(4), zeros(1), zeros(1)],
          expected=lambda a: {2: [a[1].sum()], 3: [a[1].max()]}),
    _good("own_elements_of_a_copy", arguments=_floats(256, 256, 4), expected=lambda a: {1: 2 * a[0]}),
    _good("totals_of_the_cluster_by_its_first_block", grid=8, block=32, arguments=_words(256, 8),
          expected=lambda a: {1: (s := a[0].reshape(2, 4, 32).sum(axis=2)).cumsum(axis=1) - s}),
    _good("list_ranked_in_two_copies",
          arguments=lambda: [np.minimum(np.arange(1, 65), 63).astype("i4"), zeros(64), 64],
          expected=lambda a: {1: np.arange(63, -1, -1)}),
    _good("deque_released_after_the_task", grid=2, block=32, arguments=lambda: [zeros(10), integers(6), zeros(6), 6],
          expected=lambda a: {2: a[1]}),
    _good("halves_of_a_warp_go_their_ways", block=32, arguments=_words(32, 32), expected=_turned_halves),
    _good("group_of_the_lanes_that_are_left", block=32, arguments=lambda: [*ragged(32), zeros(32), zeros(1)],
          expected=lambda a: {2: np.add.reduceat(a[1], a[0][:-1]), 3: [len(a[1])]}),
    _good("set_and_used_under_the_same_condition", arguments=_words(30, 64, then=(30,)),
          expected=lambda a: {1: np.arange(64)}),
    _good("corners_of_the_halo_that_a_cross_leaves_out", grid=(2, 2), block=(8, 8), arguments=_floats(256, 256, 16),
          expected=_cross),
    _good("sums_over_the_padding_with_a_zero", block=(16, 16), arguments=_floats(256, 16),
          expected=lambda a: {1: a[0].reshape(16, 16).sum(axis=1)}),
    _good("carved_by_a_cursor", smem=1024, arguments=lambda: [integers(45), zeros(45, "f8"), 45], expected=_carved),
    _good("scalars_written_then_vectors_read", arguments=_floats(64, 64),
          expected=lambda a: {1: a[0].reshape(16, 4).T}),
    _good("cuckoo_by_exchange",
          arguments=lambda: [np.arange(1, 25, dtype="u4") ** 2, zeros(64, "u4"), zeros(24, "u4"), 24],
          expected=lambda a: {2: np.ones(24)}),
    _good("grid_barrier_with_a_release", grid=3,
          arguments=lambda: [integers(192), zeros(192), zeros(192), zeros(1, "u4")],
          expected=lambda a: {2: 5 * a[0][::-1]}),
    _good("tile_announced_to_the_whole_gpu", grid=3, block=32, arguments=_words(96, 96, 3, 96),
          expected=lambda a: {3: np.concatenate([np.zeros(32), a[0][31::-1], a[0][63:31:-1]])}),
    _good("version_raised_after_the_page_is_written", grid=2, block=32, arguments=_words(32, 33, 32),
          expected=_reversed(32, 1, 2)),
    _good("guard_that_publishes_before_it_frees", grid=4, block=32, arguments=_words(128, 2, 1),
          expected=lambda a: {1: [a[0].sum(), a[0].reshape(4, 32).sum(axis=1).max()]}),
    _good("rows_under_a_guard_that_whole_warps_fail", block=(32, 4), arguments=_words(96, 3, then=(3,)),
          expected=lambda a: {1: a[0].reshape(3, 32).sum(axis=1)}),
    _good("lambda_that_all_threads_call_as_often", arguments=_words(64, 64, then=(4,)),
          expected=lambda a: {1: a[0] + 6}),
    _good("grid_meets_in_each_turn_of_the_longest", grid=3, block=32, cooperative=True,
          arguments=_words(160, 160, 160, then=(5,)), expected=_of_two_blocks),
    _good("token_of_each_phase", arguments=_words(64, 64), expected=_reversed(64, 2)),
    _good("leader_of_the_active_lanes_reserves", block=32,
          arguments=lambda: [np.arange(32, dtype="i4"), zeros(32), zeros(1)],
          expected=lambda a: {1: np.arange(32) < 11, 2: [11]}),
    _good("groups_committed_though_some_are_empty", arguments=_floats(320, 320, 5), expected=_reversed(64)),
    _good("bulk_stores_from_two_tiles", arguments=_floats(256, 256, 4), expected=lambda a: {1: 2 * a[0]}),
    _good("halo_sent_to_both_sides", grid=4, block=32, arguments=_words(128, 128), expected=_halos),
    _good("flag_in_the_peer_behind_fences", grid=2, block=32, arguments=_words(32, 32), expected=_reversed(32)),
    _good("ring_of_the_cluster_shifts_through_registers", grid=4, block=32, arguments=_words(128, 128),
          expected=_ring),
    _good("maximum_swapped_with_a_fresh_word", grid=2, block=32,
          arguments=lambda: [floats(100), np.full(1, -1e30, "f4"), 100], expected=lambda a: {1: [a[0].max()]}),
    _good("second_child_joins_the_boxes", grid=2, block=4, arguments=lambda: tree_of_boxes(8)),
    _good("colours_in_two_arrays", grid=2, block=32, cooperative=True,
          arguments=lambda: [ring_of_edges(64)[1], integers(64), zeros(64), 64, 3], expected=_coloured),
    _good("elimination_with_a_barrier_of_the_grid", grid=8, block=32, cooperative=True,
          arguments=lambda: [diagonally_dominant(8), 8], expected=_eliminated),
    _good("samples_sorted_before_splitters_are_taken", arguments=_words(256, 256, then=(256,)), expected=_buckets),
    _good("heads_linked_by_exchange", grid=2, block=32,
          arguments=lambda: [integers(100), np.full(16, -1, "i4"), zeros(100), 100, 16]),
    _good("beams_gathered_through_shared_memory", grid=4, block=(16, 4), smem=256,
          arguments=lambda: [floats(256), np.array([1, 0, 0, 2], "i4"), 4, 64],
          expected=lambda a: {0: a[0].reshape(4, 64)[a[1]]}),
    _good("key_that_its_own_block_appends", grid=2, block=32,
          arguments=lambda: [floats(176), floats(16), floats(17)[:16].copy(), zeros(22, "f4"), 10, 8]),
    _good("total_of_the_blocks_before", grid=4, block=32, arguments=_words(128, 4, 128, then=(128,)),
          expected=lambda a: {2: a[0].cumsum()}),
    _good("next_row_for_two_blocks", grid=2, arguments=_words(400, 400, 1, then=(4, 100)),
          expected=lambda a: {1: a[0] + 1}),
    _good("neighbours_in_halves_and_words", grid=2, arguments=lambda: [floats(128), zeros(128, "f2")],
          expected=_halves),
    _good("rotations_of_pairs_that_do_not_meet", block=(8, 4), arguments=lambda: [floats(64), floats(3), 3]),
    _good("roots_hooked_by_compare_and_swap", arguments=lambda: [integers(128, 64), zeros(64), 64, 64],
          expected=_labels),
    _good("quicksort_with_a_stack_of_its_own", block=32, arguments=_words(384, 384, then=(12,)),
          expected=lambda a: {1: np.sort(a[0].reshape(32, 12), axis=1)}),
    _good("tables_of_rows_in_shared_memory", arguments=_words(64, 64),
          expected=lambda a: {1: np.where(np.arange(64) % 2 == 0, a[0][::-1], 0)}),
    _good("sums_that_wrap_around_on_purpose", block=32,
          arguments=lambda: [integers(32, 99, np.uint32), zeros(32, "u4"), 32]),
    _good("words_of_zero_and_one_by_many", grid=2, arguments=lambda: [integers(200, 128), zeros(5), 200],
          expected=_seen),
    _good("warp_groups_alternate_by_names", block=128, arguments=_words(384, 384, then=(3,)), expected=_reversed(64)),
    _good("block_of_the_heap_freed_by_the_last_reader", grid=3, block=32,
          arguments=lambda: [integers(32), zeros(1, "u8"), zeros(96)], expected=lambda a: {2: np.tile(a[0][::-1], 3)}),
    _good("group_copy_counted_in_bytes", arguments=_floats(256, 256, 4), expected=_reversed(64)),
    _good("taps_of_both_tables", grid=2, arguments=_floats(100, 100, 100)),
    _good("turn_of_the_next_warp_in_a_word", block=128, arguments=_words(128, 128), expected=_turns),
    _good("powers_by_a_function_that_calls_itself", block=32, arguments=lambda: [integers(32), zeros(32, "i8")],
          expected=_powers),
    _good("scan_of_pairs_with_their_own_operator", block=128, arguments=_words(128, 128),
          expected=lambda a: {1: np.maximum.accumulate(a[0])}),
)  # fmt: skip
