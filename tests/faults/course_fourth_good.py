"""The kernels of the fourth set as they should be, and others that look suspicious and are correct."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros
from tests.faults.course_fourth import diagonal, keys, same_twice


def _good(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file="good_fourth.cu", kernel=kernel, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: int) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def _reversed(n: int) -> Any:
    return lambda a: {1: a[0].reshape(-1, n)[:, ::-1].ravel()}


def _softmax(a: list) -> dict[int, Any]:
    e = np.exp(a[0].reshape(-1, a[2]))
    return {1: (e / e.sum(axis=1, keepdims=True)).ravel()}


def _attention(a: list) -> dict[int, Any]:
    products = (a[0] * a[1]).reshape(64, 4)[::-1]
    return {2: products[:, 0] + products[:, 3]}


def _neighbours(a: list) -> dict[int, Any]:
    x = np.pad(a[0].reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)), mode="edge")
    return {1: (x[:, :-2, 1:-1] + x[:, 2:, 1:-1] + x[:, 1:-1, :-2] + x[:, 1:-1, 2:]).ravel()}


def _block_sums(x: np.ndarray, block: int) -> np.ndarray:
    return x.reshape(-1, block).sum(axis=1)


def _split_k(a: list) -> dict[int, Any]:
    return {2: a[1] @ a[0].reshape(-1, 64), 3: [3]}


def _fixed_up(a: list) -> dict[int, Any]:
    x = a[0].reshape(3, 64)
    return {3: x[0] + x[1, ::-1] + x[2, ::-1]}


def _labels(a: list) -> dict[int, Any]:
    return {1: np.bincount(a[0] % 4, a[0], 4)[a[0] % 4]}


def _exchanged(a: list) -> dict[int, Any]:
    t, x = np.arange(32), a[0]
    return {1: np.where(t % 2, x + x[t ^ 2], x - x[t ^ 4])}


def _dropped(a: list) -> dict[int, Any]:
    v = a[0][:32] + a[0][32:]
    for _ in range(a[2]):
        v = v + v[::-1]
    return {1: [*v, *zeros(32)]}


def _eliminated(a: list) -> dict[int, Any]:
    m = a[0].reshape(a[1], a[1]).astype(np.float64)
    for k in range(a[1] - 1):
        m[k + 1 :] -= np.outer(m[k + 1 :, k] / m[k, k], m[k])
    return {0: m.ravel()}


def _rotated(a: list) -> dict[int, Any]:
    x = a[0].reshape(2, 2, a[2])
    angle = np.arange(2)[:, None] * np.float32(0.1) * np.arange(a[2])
    first = x[:, 0] * np.cos(angle) - x[:, 1] * np.sin(angle)
    return {1: np.stack([first, x[:, 1] * np.cos(angle) + x[:, 0] * np.sin(angle)], axis=1).ravel()}


def _ordered(a: list) -> dict[int, Any]:
    x, n = a[0], a[2]
    return {1: x[np.arange(n) * 7 % n] + (x[::-1] > 0)}


def _distance(a: list) -> dict[int, Any]:
    row = list(range(a[3] + 1))
    for i, letter in enumerate(a[0], 1):
        last, row = row, [i]
        for j, other in enumerate(a[1], 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + int(letter != other)))
    return {2: [row[-1]]}


def _collatz(a: list) -> dict[int, Any]:
    steps = []
    for v in a[0].tolist():
        v, count = v + 1, 0
        while v != 1:
            v, count = (3 * v + 1 if v % 2 else v // 2), count + 1
        steps.append(count)
    return {1: [*steps, sum(steps)]}


def _turned(a: list) -> np.ndarray:
    x = a[0].reshape(-1, 2, 32)
    return x[:, ::-1, ::-1].ravel()


GOOD_FOURTH = (
    _good("softmax_with_two_buffers", grid=2, arguments=_floats(200, 200, 100), expected=_softmax),
    _good("states_of_an_online_softmax_merged", grid=2, arguments=_floats(200, 2, 100),
          expected=lambda a: {1: np.log(np.exp(a[0].reshape(2, 100)).sum(axis=1))}),
    _good("keys_then_values_of_attention", arguments=lambda: [floats(256), floats(256) + 1, zeros(64, "f4")],
          expected=_attention),
    _good("counts_of_a_warp_by_match", arguments=_words(192, 8, then=(192,)),
          expected=lambda a: {1: np.bincount(a[0] % 8, minlength=8)}),
    _good("digits_sorted_with_two_barriers", arguments=lambda: [keys(64), 8], expected=lambda a: {0: np.sort(a[0])}),
    _good("bitonic_with_a_ragged_end", smem=256, arguments=lambda: [integers(50), 50],
          expected=lambda a: {0: np.sort(a[0])}),
    _good("planes_in_two_buffers_with_one_barrier", block=(8, 8), arguments=_floats(256, 256, 4), expected=_neighbours),
    _good("ring_of_tickets_between_blocks", grid=2, block=32,
          arguments=lambda: [integers(12), zeros(4), np.arange(4, dtype=np.int32), zeros(12), 12],
          expected=lambda a: {3: 2 * a[0]}),
    _good("look_back_at_words_of_64_bits", grid=4, block=32,
          arguments=lambda: [integers(128), zeros(4, "u8"), zeros(4)],
          expected=lambda a: {2: np.cumsum(_block_sums(a[0], 32)) - _block_sums(a[0], 32)}),
    _good("split_k_turns_with_fences", grid=3,
          arguments=lambda: [floats(64 * 24), floats(24), zeros(64, "f4"), zeros(1), 24], expected=_split_k),
    _good("fixup_flag_behind_the_whole_block", grid=3,
          arguments=lambda: [floats(192), zeros(128, "f4"), zeros(2), zeros(64, "f4")], expected=_fixed_up),
    _good("last_block_told_by_the_barrier", grid=3, block=32,
          arguments=lambda: [floats(96), zeros(3, "f4"), zeros(1, "u4"), zeros(1, "f4")],
          expected=lambda a: {2: [0], 3: [a[0].sum()]}),
    _good("work_item_in_two_places", grid=2, arguments=_words(320, 320, 1, then=(5,)),
          expected=lambda a: {1: 2 * a[0]}),
    _good("one_lane_releases_the_stage", arguments=_floats(192, 192, 6), expected=_reversed(32)),
    _good("bulk_ring_that_flips_its_parity", block=128, arguments=_floats(640, 640, 5), expected=_reversed(128)),
    _good("warps_take_turns_by_named_barriers", arguments=lambda: [zeros(10), 5],
          expected=lambda a: {0: np.arange(10)}),
    _good("cluster_sum_behind_its_barrier", grid=4, block=32, arguments=_words(128, 2),
          expected=lambda a: {1: _block_sums(a[0], 64)}),
    _good("group_of_a_branch_shares_a_slot", block=32, arguments=_words(32, 32, 1),
          expected=lambda a: {1: np.pad(a[0][a[0] > 50], (0, (a[0] <= 50).sum())), 2: [(a[0] > 50).sum()]}),
    _good("leader_of_a_label_then_all_of_it", block=32, arguments=_words(32, 32), expected=_labels),
    _good("patch_of_a_warp_with_two_syncwarps", arguments=_floats(192, 192, 6), expected=_reversed(32)),
    _good("branches_shuffle_under_their_own_masks", block=32, arguments=_words(32, 32), expected=_exchanged),
    _good("ref_released_and_acquired", grid=3, block=32, arguments=_words(1, 1, 1, 3),
          expected=lambda a: {3: [0, 3 * a[0][0], 3 * a[0][0]]}),
    _good("device_and_system_count_one_word", grid=2, block=32, arguments=_words(64, 1),
          expected=lambda a: {1: [a[0].sum()]}),
    _good("one_thread_acquires_then_a_barrier", grid=2, arguments=_words(64, 64, 1, 64),
          expected=lambda a: {3: 2 * a[0][::-1]}),
    _good("fences_around_relaxed_refs", grid=3, block=32, arguments=_words(1, 1, 1, 3),
          expected=lambda a: {3: [0, 5 * a[0][0], 5 * a[0][0]]}),
    _good("block_pipeline_of_two_stages", arguments=_floats(320, 320, 5), expected=_reversed(64)),
    _good("threads_drop_out_of_a_barrier", arguments=_words(64, 64, then=(3,)), expected=_dropped),
    _good("elimination_with_barriers", arguments=lambda: [diagonal(40), 40], expected=_eliminated),
    _good("rotary_pairs_in_place", grid=2, block=32, arguments=same_twice(128, 32), expected=_rotated),
    _good("head_then_vectors_then_tail", block=32, arguments=lambda: [floats(101)[1:], zeros(100, "f4"), 100],
          expected=lambda a: {1: 2 * a[0]}),
    _good("warps_return_before_a_named_barrier", block=96, arguments=_words(64, 64), expected=_reversed(64)),
    _good("both_branches_reduce", block=32, arguments=_words(32, 32),
          expected=lambda a: {1: np.where(a[0] > 50, a[0].max(), a[0].min())}),
    _good("match_all_of_those_that_stay", block=32, arguments=_words(32, 32, then=(20,)),
          expected=lambda a: {1: np.arange(32) < 20}),
    _good("doubles_then_words_then_bytes", smem=45 * 13, arguments=lambda: [floats(45, "f8"), zeros(45, "f8"), 45],
          expected=_ordered),
    _good("lanes_beyond_the_end_shuffle_too", block=32, arguments=_words(20, 20, then=(20,)),
          expected=lambda a: {1: np.diff(a[0], prepend=0)}),
    _good("absent_warps_count_as_zero", block=128, arguments=_floats(128, 1), expected=lambda a: {1: [a[0].sum()]}),
    _good("third_block_reads_through_a_chain", grid=3, block=32, arguments=_words(1, 1, 1, 1),
          expected=lambda a: {3: 7 * a[0]}),
    _good("mbarrier_invalidated_and_used_again", arguments=_words(192, 192, then=(3,)), expected=_reversed(64)),
    _good("word_of_a_ballot_by_one_lane", grid=2, block=64, arguments=lambda: [integers(128), zeros(4, "u4")],
          expected=lambda a: {1: np.packbits(a[0] > 50, bitorder="little").view("u4")}),
    _good("reductions_released_and_acquired", grid=4, block=32, arguments=_words(128, 4, 1, 4),
          expected=lambda a: {3: _block_sums(a[0], 32)[::-1]}),
    _good("words_sent_to_the_next_block", grid=4, block=32, arguments=_words(128, 128),
          expected=lambda a: {1: _turned(a)}),
    _good("result_of_a_bulk_store_after_the_whole_wait",
          arguments=lambda: [floats(64), zeros(64, "f4"), zeros(1, "f4")],
          expected=lambda a: {1: 2 * a[0], 2: [2 * a[0][63]]}),
    _good("source_cleared_after_the_copy", arguments=_floats(256, 256),
          expected=lambda a: {0: zeros(256, "f4"), 1: a[0]}),
    _good("reversed_by_half_of_the_threads", grid=2, block=32, arguments=lambda: [floats(101), 101],
          expected=lambda a: {0: a[0][::-1]}),
    _good("arguments_that_overlap_apart", arguments=same_twice(128, 64),
          expected=lambda a: {1: [*a[0][:64], *(a[0][:64] + a[0][63::-1])]}),
    _good("edit_distance_by_diagonals", arguments=lambda: [integers(30, 3), integers(31, 3)[:30], zeros(1), 30],
          expected=_distance),
    _good("lists_pushed_then_walked", grid=3, block=32, cooperative=True,
          arguments=lambda: [integers(96), np.full(8, -1, np.int32), zeros(96), zeros(8)],
          expected=lambda a: {3: np.bincount(a[0] % 8, a[0], 8)}),
    _good("until_no_thread_works", arguments=_words(64, 65), expected=_collatz),
)  # fmt: skip
