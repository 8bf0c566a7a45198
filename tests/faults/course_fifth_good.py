"""The kernels of the fifth set as they should be, and others that look suspicious and are correct."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros


def _good(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file="good_fifth.cu", kernel=kernel, **fields)


def _words(read: int, *written: int, then: tuple = ()) -> Any:
    return lambda: [integers(read), *map(zeros, written), *then]


def _floats(read: int, written: int, *scalars: float) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def _reversed(n: int, factor: int = 1) -> Any:
    return lambda a: {1: factor * a[0].reshape(-1, n)[:, ::-1].ravel()}


def _boxes(a: list) -> dict[int, Any]:
    low, high = [a[0] - np.float32(0.5)], [a[0] + np.float32(0.5)]
    while low[0].size > 1:
        low.insert(0, low[0].reshape(-1, 2).min(axis=1))
        high.insert(0, high[0].reshape(-1, 2).max(axis=1))
    return {1: np.stack([np.concatenate(low), np.concatenate(high)], axis=1).ravel()}


def _rounds(a: list) -> dict[int, Any]:
    return {0: np.roll(a[0].reshape(3, 32), -3, axis=0).ravel() + 3}


def _table(a: list) -> dict[int, Any]:
    """The hash is one to one, since the room is a power of two that exceeds all keys."""
    table = a[2].copy()
    for k in np.unique(a[0]).tolist():
        table[k * 2654435761 % a[4]] = k << 32 | int(a[1][a[0] == k].max())
    return {2: table}


def _embedded(a: list) -> dict[int, Any]:
    table = np.zeros((5, a[4]), np.float32)
    np.add.at(table, a[0], a[1].reshape(a[3], a[4]))
    return {2: table.ravel()}


def _halves(a: list) -> dict[int, Any]:
    even = a[0] % 2 == 0
    sums, lasts = ([f(a[0][m]) for m in (~even, even)] for f in (np.sum, lambda v: v[-1]))
    return {1: np.where(even, sums[1] - lasts[1], sums[0] - lasts[0])}


def _relaxed(a: list) -> dict[int, Any]:
    n = a[2]
    u, f = a[0].reshape(n, n).copy(), a[1].reshape(n, n)
    row, col = np.indices((n, n))
    inside = (row > 0) & (row < n - 1) & (col > 0) & (col < n - 1)
    for colour in range(2):
        new = 0.25 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - f)
        u = np.where(inside & ((row + col) % 2 == colour), new, u).astype(np.float32)
    return {0: u.ravel()}


def _turns(a: list) -> dict[int, Any]:
    return {1: np.pad(a[0], (0, -a[0].size % 32)).reshape(-1, 32).sum(axis=1)}


def _least_of_heaps(a: list) -> dict[int, Any]:
    return {1: np.full(32, np.sort(a[0].reshape(-1, 32), axis=0)[-8].max())}


def _bit_reversed(a: list) -> dict[int, Any]:
    order = [int(f"{i:07b}"[::-1], 2) for i in range(128)]
    return {0: a[0].reshape(-1, 2)[order].ravel()}


def _packed(a: list) -> dict[int, Any]:
    q = np.clip(np.rint(a[0] / np.float32(a[3])) + 8, 0, 15).astype(np.uint8)
    return {1: q[::2] | q[1::2] << 4}


def _fields(a: list) -> dict[int, Any]:
    bits = np.unpackbits(a[0].view(np.uint8), bitorder="little")[: a[2] * a[3]].reshape(a[2], a[3])
    return {1: bits @ (1 << np.arange(a[3]))}


def _sorted_by_counts(a: list) -> dict[int, Any]:
    x = a[0][127:63:-1]
    below = (x[None] < x[:, None]).sum(axis=1)
    return {1: [*np.sort(x), *below[::-1]]}


def _short_rows(a: list) -> dict[int, Any]:
    y = np.zeros((32, 8), np.float32)
    for row, length in enumerate(a[1]):
        best = np.sort(a[0].reshape(32, a[3])[row, :length])[::-1][:8]
        y[row, : best.size] = best
    return {2: y.ravel()}


def _laplace(a: list) -> dict[int, Any]:
    nx, ny, nz = a[2:]
    u = a[0].reshape(nz, ny, nx)
    v = np.zeros_like(u)
    v[1:-1, 1:-1, 1:-1] = (
        u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
        + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] - 6 * u[1:-1, 1:-1, 1:-1]
    )  # fmt: skip
    return {1: v.ravel()}


def _roles(a: list) -> dict[int, Any]:
    x = a[0].reshape(-1, 64)
    y = x[:, np.arange(64) ^ 1] + 2
    y[1::2] = x[1::2, ::-1]
    return {1: y.ravel()}


def _ring(a: list) -> dict[int, Any]:
    x = a[0].reshape(4, 32)
    total = x
    for s in range(1, a[2] + 1):
        total = 3 * total + np.roll(x, s, axis=0)
    return {1: total.ravel()}


def _sorted_tokens(n: int) -> np.ndarray:
    return np.sort(integers(n, 5))


GOOD_FIFTH = (
    _good("half_arrives_and_half_waits", arguments=_words(32, 32), expected=lambda a: {1: 3 * a[0][::-1] + 1}),
    _good("elected_lanes_arrive_for_their_warps", block=96, arguments=_words(480, 480, then=(5,)),
          expected=_reversed(96)),
    _good("ready_and_filled_of_the_guide", arguments=_floats(160, 160, 5), expected=_reversed(32, 2)),
    _good("pipeline_of_two_roles", arguments=_floats(160, 160, 5), expected=_reversed(32)),
    _good("two_tiles_on_one_barrier", block=128, arguments=lambda: [floats(128), floats(128) + 1, zeros(128, "f4")],
          expected=lambda a: {2: a[0] * a[1][::-1]}),
    _good("parity_flipped_at_the_wrap", arguments=_floats(448, 448, 7), expected=_reversed(64)),
    _good("treiber_push_released", grid=4, block=32,
          arguments=lambda: [zeros(8), np.array([-1], "i4"), integers(4), zeros(1)],
          expected=lambda a: {3: [a[2].sum()]}),
    _good("lock_guard_of_a_ref", grid=4, block=32,
          arguments=lambda: [zeros(1), floats(4), np.array([-9], "f4"), zeros(1)],
          expected=lambda a: {0: [0], 2: [a[1].max()], 3: [a[1].argmax()]}),
    _good("sequence_lock_of_relaxed_words", grid=2, block=32,
          arguments=lambda: [zeros(1, "u4"), zeros(2), zeros(2), 3], expected=lambda a: {0: [6], 2: [0, 3]}),
    _good("second_child_merges_behind_a_fence", grid=8, block=32,
          arguments=lambda: [floats(8), zeros(30, "f4"), zeros(7), 8], expected=_boxes),
    _good("grid_barrier_by_generation", grid=3, block=32, cooperative=True,
          arguments=lambda: [integers(96), zeros(2, "u4")], expected=_rounds),
    _good("key_and_value_in_one_word", grid=2,
          arguments=lambda: [integers(100, 20), integers(101)[:100], np.full(64, 2**64 - 1, "u8"), 100, 64],
          expected=_table),
    _good("gradient_of_sorted_tokens", grid=3, block=(32, 4),
          arguments=lambda: [_sorted_tokens(12), floats(480), zeros(200, "f4"), 12, 40], expected=_embedded),
    _good("distributed_bins", grid=2, smem=128, arguments=_words(300, 64, then=(300,)),
          expected=lambda a: {1: np.bincount(a[0] % 64, minlength=64)}),
    _good("halves_reduce_by_themselves", block=32, arguments=_words(32, 32), expected=_halves),
    _good("red_black_by_both", grid=(2, 2), block=(8, 8), cooperative=True,
          arguments=lambda: [floats(324), floats(325)[1:], 18], expected=_relaxed),
    _good("mask_of_each_turn", block=32, arguments=_words(80, 3, then=(80,)), expected=_turns),
    _good("bitonic_with_warp_barriers", arguments=_words(128), expected=lambda a: {0: np.sort(a[0])}),
    _good("heap_of_each_thread", block=32, arguments=_floats(640, 32, 640), expected=_least_of_heaps),
    _good("blelloch_with_padding", arguments=_words(128, 128), expected=lambda a: {1: np.cumsum(a[0]) - a[0]}),
    _good("carry_between_two_barriers", arguments=_words(180, 180, then=(180,)),
          expected=lambda a: {1: np.cumsum(a[0])}),
    _good("transposed_in_place_by_pairs_of_tiles", grid=(3, 3), block=(16, 4), arguments=lambda: [floats(2304), 48],
          expected=lambda a: {0: a[0].reshape(48, 48).T.ravel()}),
    _good("bit_reversal_by_the_smaller_index", grid=2, arguments=lambda: [floats(256), 7], expected=_bit_reversed),
    _good("nibbles_of_one_thread", arguments=lambda: [floats(100), zeros(50, "u1"), 100, 0.25], expected=_packed),
    _good("bit_window_of_two_words", grid=2, block=32,
          arguments=lambda: [integers(10, 2**31, np.uint32), zeros(64), 64, 5], expected=_fields),
    _good("matrix_counted_from_one", arguments=lambda: [floats(900), floats(30), zeros(30, "f4"), 30],
          expected=lambda a: {2: a[0].reshape(30, 30) @ a[1]}),
    _good("storage_of_floats_then_of_counts", arguments=_floats(128, 128), expected=_sorted_by_counts),
    _good("short_row_with_a_count", block=32,
          arguments=lambda: [floats(32 * 12), integers(32, 12), zeros(256, "f4"), 12], expected=_short_rows),
    _good("volatile_tree_with_syncwarps", grid=2, arguments=_words(128, 2),
          expected=lambda a: {1: a[0].reshape(2, 64).sum(axis=1)}),
    _good("planes_that_turn_in_registers", grid=(2, 2), block=(8, 8),
          arguments=lambda: [floats(15 * 13 * 6), zeros(15 * 13 * 6, "f4"), 15, 13, 6], expected=_laplace),
    _good("last_block_by_an_acq_rel_count", grid=5, block=32,
          arguments=lambda: [floats(160), zeros(5, "f4"), zeros(1, "u4"), zeros(1, "f4")],
          expected=lambda a: {3: [a[0].sum()]}),
    _good("blocks_with_other_roles_have_their_own_barriers", grid=4, arguments=_words(256, 256), expected=_roles),
    _good("ring_of_the_cluster_in_two_places", grid=4, block=32, arguments=_words(128, 128, then=(6,)),
          expected=_ring),
)  # fmt: skip
