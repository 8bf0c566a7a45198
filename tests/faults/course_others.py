"""Kernels of sorts that the other collections lack, with a fault and as they should be, with their launches.

The expectations, lines and kinds, were written and committed before softlab saw the kernels. One kernel changed then:
each of its threads read only the element of the halo that it had loaded, so that it had no race. Halos, split barriers,
stages of pipelines, structures, aliases, partial masks and threads that leave early.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.faults.course_case import CourseCase, floats, integers, zeros

_RACE, _LANE = "race", "inactive-lane"


def _bad(kernel: str, kind: str = _RACE, **fields: Any) -> CourseCase:
    return CourseCase(file="bad_others.cu", kernel=kernel, kind=kind, **fields)


def _good(kernel: str, **fields: Any) -> CourseCase:
    return CourseCase(file="good_others.cu", kernel=kernel, **fields)


def _words(read: int, *written: int) -> Any:
    return lambda: [integers(read), *map(zeros, written)]


def _floats(read: int, written: int, *scalars: int) -> Any:
    return lambda: [floats(read), zeros(written, "f4"), *scalars]


def _same_twice() -> list:
    x = floats(128)
    return [x, x, 128]


BAD_OTHERS = (
    _bad("halo_loaded_after_the_barrier", grid=2, arguments=_floats(128, 128, 128)),
    _bad("smoothing_steps_in_one_tile", arguments=lambda: [floats(64), 3]),
    _bad("nine_point_tile_without_corners", "uninitialized-shared", block=(8, 8), arguments=_floats(100, 64)),
    _bad("aggregated_base_stays_with_the_leader", "uninitialized-local", arguments=_words(64, 64, 1)),
    _bad("work_between_arrive_and_wait_reads_others", arguments=_words(64, 64)),
    _bad("consumers_arrive_and_producers_wait", arguments=_words(32, 32)),
    _bad("pipeline_drains_too_late", block=32, arguments=_floats(640, 32, 5)),
    _bad("copies_without_a_commit", arguments=_floats(256, 256)),
    _bad("norm_reset_while_others_add", grid=4, block=32, cooperative=True,
         arguments=lambda: [floats(128), zeros(1, "f4"), zeros(128, "f4")]),
    _bad("member_array_runs_into_the_next", block=32, arguments=_floats(64, 32)),
    _bad("last_particle_has_a_neighbour", "global-out-of-bounds", grid=2, arguments=_floats(400, 100, 100)),
    _bad("window_read_before_it_is_full", "uninitialized-local", block=32,
         arguments=lambda: [integers(64), zeros(32), 6]),
    _bad("reversed_through_a_const_alias", grid=2, arguments=_same_twice),
    _bad("ldg_of_what_the_block_wrote", "restrict-alias",
         arguments=lambda: [floats(64), zeros(64, "f4"), zeros(64, "f4")]),
    _bad("two_names_for_dynamic_memory", smem=256, arguments=lambda: [floats(64), integers(64), zeros(64, "f4")]),
    _bad("tile_sum_after_lanes_have_left", _LANE, arguments=_floats(64, 2, 50)),
    _bad("neighbour_by_shuffle_in_a_ragged_loop", _LANE, block=32, arguments=lambda: [integers(70), zeros(70), 70]),
    _bad("broadcast_from_a_lane_outside_the_mask", _LANE, block=32, arguments=_words(32, 32)),
    _bad("fence_behind_the_flag", grid=3, block=32, arguments=_words(1, 1, 1, 3)),
    _bad("cluster_arrives_and_leaves", grid=4, block=32, arguments=_words(128, 128)),
    _bad("reduction_whose_lanes_name_different_masks", _LANE, block=32,
         arguments=lambda: [integers(32, dtype=np.uint32), zeros(32, "u4")]),
    _bad("block_sum_called_twice", arguments=_floats(64, 64)),
    _bad("ragged_tile_is_not_zeroed", "uninitialized-shared", grid=(2, 2), block=(8, 8),
         arguments=lambda: [floats(144), floats(144) + 1, zeros(144, "f4"), 12]),
    _bad("pairs_of_a_row_of_odd_length", "misaligned", grid=3, block=16, arguments=_floats(99, 48, 33)),
    _bad("memcpy_of_a_group_without_wait", arguments=_floats(256, 256)),
)  # fmt: skip


def _smoothed(a: list) -> np.ndarray:
    padded = np.pad(a[0], 1)
    return 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]


def _steps(a: list) -> np.ndarray:
    x = a[0].copy()
    for _ in range(a[1]):
        padded = np.pad(x, 1)
        x = np.float32(0.5) * x + np.float32(0.25) * (padded[:-2] + padded[2:])
    return x


def _nine(a: list) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(a[0].reshape(10, 10), (3, 3))
    return windows.mean(axis=(2, 3)).ravel()


def _unit(a: list) -> np.ndarray:
    return a[0] / np.sqrt((a[0].astype(float) ** 2).sum())


def _records() -> list:
    kind = np.dtype([("tag", "i1"), ("value", "f8"), ("count", "i2")], align=True)
    records = np.zeros(32, kind)
    records["tag"], records["value"], records["count"] = np.arange(32), floats(32), integers(32)
    return [records, np.zeros(32, kind)]


def _windows(a: list) -> list[int]:
    return [max(a[0][t : t + 6 + t % 4][-8:]) for t in range(32)]


def _halves(a: list) -> np.ndarray:
    halves = a[0].reshape(2, 16)
    return np.repeat(halves.sum(axis=1) - halves.min(axis=1), 16)


def _signs(a: list) -> np.ndarray:
    return np.roll(np.abs(a[0]), -1)[::-1]


def _reversed_parts(a: list) -> np.ndarray:
    return np.concatenate([a[0][:64][::-1], a[0][64:100][::-1]])


def _neighbours(a: list) -> np.ndarray:
    left = np.roll(a[0], 1)
    left[::32] = 0
    return a[0] + left


def _ball(a: list) -> list[int]:
    ball = 0
    for turn in range(2 * a[2]):
        ball = 3 * ball + turn % 2
    return [ball]


def _least(a: list) -> list[int]:
    return [min(a[0])] * 64


_NORMED = {"expected": lambda a: {1: (a[0] - a[0].mean()) / a[0].std()}}

GOOD_OTHERS = (
    _good("halo_loaded_before_the_barrier", grid=2, arguments=_floats(128, 128, 128),
          expected=lambda a: {1: _smoothed(a)}),
    _good("smoothing_steps_with_two_barriers", arguments=lambda: [floats(64), 3], expected=lambda a: {0: _steps(a)}),
    _good("nine_point_tile", block=(8, 8), arguments=_floats(100, 64), expected=lambda a: {1: _nine(a)}),
    _good("aggregated_base_from_the_leader", arguments=_words(64, 64, 1),
          expected=lambda a: {2: [(a[0] > 50).sum()]}),
    _good("aggregated_by_key", grid=2, arguments=_words(128, 8),
          expected=lambda a: {1: np.bincount(a[0] % 8, minlength=8)}),
    _good("own_work_between_arrive_and_wait", arguments=_words(64, 64),
          expected=lambda a: {1: 3 * a[0] + 2 * a[0][::-1]}),
    _good("ring_with_full_and_empty_names", arguments=lambda: [integers(160), zeros(160), 5],
          expected=lambda a: {1: a[0].reshape(5, 32)[:, ::-1].ravel() + 1}),
    _good("pipeline_of_three_stages", block=32, arguments=_floats(640, 32, 5),
          expected=lambda a: {1: a[0].reshape(5, 32, 4)[:, ::-1, 0].sum(axis=0)}),
    _good("copies_with_a_commit", arguments=_floats(256, 256),
          expected=lambda a: {1: a[0].reshape(64, 4)[::-1].ravel()}),
    _good("norm_reset_before_a_grid_barrier", grid=4, block=32, cooperative=True,
          arguments=lambda: [floats(128), zeros(1, "f4") + 7, zeros(128, "f4")], expected=lambda a: {2: _unit(a)}),
    _good("padded_records_are_copied", block=32, arguments=_records),
    _good("window_read_as_far_as_it_is_full", block=32, arguments=lambda: [integers(64), zeros(32), 6],
          expected=lambda a: {1: _windows(a)}),
    _good("two_const_names_of_one_array", grid=2, arguments=lambda: [*_same_twice()[:2], zeros(128, "f4"), 128],
          expected=lambda a: {2: a[0] + a[0][::-1]}),
    _good("ldg_of_the_half_that_nobody_writes", arguments=lambda: [floats(128)],
          expected=lambda a: {0: np.concatenate([a[0][:64], 2 * a[0][63::-1]])}),
    _good("three_arrays_in_dynamic_memory", smem=64 * 13, arguments=_floats(64, 64, 64),
          expected=lambda a: {1: _signs(a)}),
    _good("threads_beyond_the_end_return", grid=2, arguments=_floats(100, 100, 100),
          expected=lambda a: {1: _reversed_parts(a)}),
    _good("neighbour_by_shuffle_among_the_active", block=32, arguments=lambda: [integers(70), zeros(70), 70],
          expected=lambda a: {1: _neighbours(a)}),
    _good("reductions_of_two_halves", block=32, arguments=lambda: [integers(32, dtype=np.uint32), zeros(32, "u4")],
          expected=lambda a: {1: _halves(a)}),
    _good("ping_pong_of_two_blocks", grid=2, block=32, arguments=lambda: [zeros(1), zeros(1), 5],
          expected=lambda a: {0: _ball(a)}),
    _good("cluster_ring_that_waits", grid=4, block=32, arguments=_words(128, 128),
          expected=lambda a: {1: 2 * np.roll(a[0].reshape(4, 32), -1, axis=0)[:, ::-1].ravel()}),
    _good("block_sum_twice_with_a_barrier", arguments=_floats(64, 64), **_NORMED),
    _good("ragged_tile_filled_with_zeros", grid=(2, 2), block=(8, 8),
          arguments=lambda: [floats(144), floats(144) + 1, zeros(144, "f4"), 12],
          expected=lambda a: {2: (a[0].reshape(12, 12) @ a[1].reshape(12, 12)).ravel()}),
    _good("bytes_of_a_word_belong_to_four_threads", grid=2,
          arguments=lambda: [integers(64), zeros(128, "u1"), zeros(128)],
          expected=lambda a: {2: [(a[0] > 50).sum()] * 128}),
    _good("until_nothing_changes", arguments=_words(64, 64), expected=lambda a: {1: _least(a)}),
    _good("memcpy_of_a_group_with_wait", arguments=_floats(256, 256),
          expected=lambda a: {1: a[0].reshape(64, 4)[::-1].ravel()}),
)  # fmt: skip
