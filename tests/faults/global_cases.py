"""Good kernels whose threads share global memory. No race must be found in them, and races are planted in them."""

from __future__ import annotations

import numpy as np

from tests.faults.global_case import GlobalCase


def _zeros(*sizes: int, dtype: type = np.int32) -> list:
    return [np.zeros(n, dtype) for n in sizes]


def _numbers(n: int, high: int = 50, dtype: type = np.int32) -> np.ndarray:
    return np.random.default_rng(n).integers(0, high, n).astype(dtype)


def _floats(n: int, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(n).standard_normal(n).astype(dtype)


def _words(n: int) -> np.ndarray:
    return np.zeros(n, np.uint32)


_BODY = np.dtype([("x", "f4"), ("y", "f4"), ("count", "i4")])


_ELEMENTS, _BLOCKS, _GRID, _LIBRARY = (f"global_{part}.cu" for part in ("elements", "blocks", "grid", "library"))
#: More blocks than a batch of the emulator has.
_MANY = 300

_CASES = (
    GlobalCase(
        file=_ELEMENTS,
        kernel="add_vectors",
        arguments=lambda: [_floats(250), _floats(250), np.zeros(250, "f4"), 250],
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="scale_in_place",
        arguments=lambda: [_floats(700), 700],
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="stencil_of_two_arrays",
        arguments=lambda: [_floats(256), np.zeros(256, "f4"), 256],
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="neighbouring_bytes",
        arguments=lambda: [_numbers(250, 250, np.uint8), np.zeros(250, np.uint8), 250],
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="neighbouring_halves",
        arguments=lambda: [_floats(250, np.float16), 250],
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="vectors_of_four",
        arguments=lambda: [_floats(1000), np.zeros(1000, "f4"), 250],
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="parts_of_vectors",
        arguments=lambda: [_floats(512)],
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="doubles_of_rows",
        arguments=lambda: [_floats(256 * 5, np.float64), np.zeros(256), 5],
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="integers_of_64_bits",
        arguments=lambda: [np.zeros(256, np.uint64), np.random.default_rng(1).permutation(256).astype("i4")],
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="one_thread_writes",
        arguments=lambda: [_numbers(20), *_zeros(1), 20],
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="structures",
        arguments=lambda: [np.zeros(256, _BODY)],
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="triangle",
        arguments=lambda: [_floats(1024), np.zeros(1024, "f4"), 32],
        grid=32,
        block=32,
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="turn_on_flags",
        arguments=lambda: [_numbers(256) - 25, *_zeros(256, 1)],
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="device_variables",
        arguments=lambda: [_numbers(64)],
        grid=2,
        block=32,
    ),
    GlobalCase(
        file=_ELEMENTS,
        kernel="pointer_from_memory",
        arguments=lambda: [_floats(256), _floats(256)],
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="reverse_in_place",
        arguments=lambda: [_floats(256)],
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="stencil_in_place",
        arguments=lambda: [_floats(256), 3],
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="two_buffers",
        arguments=lambda: [_floats(256), np.zeros(256, "f4"), 4],
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="tree_sum",
        arguments=lambda: [_numbers(256)],
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="scan_of_bytes",
        arguments=lambda: [_numbers(256, 9, np.uint8)],
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="first_thread_writes",
        arguments=lambda: [_numbers(4), *_zeros(4, 256)],
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="named_barriers",
        arguments=lambda: [_floats(256), *_zeros(256, 256, dtype=np.float32)],
        grid=2,
        block=128,
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="producer_of_a_block",
        arguments=lambda: [_floats(160), *_zeros(32, 160, dtype=np.float32), 5],
        grid=1,
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="lanes_of_a_warp",
        arguments=lambda: [_floats(256)],
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="groups_of_lanes",
        arguments=lambda: _zeros(64, 64),
        grid=1,
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="groups_that_grow",
        arguments=lambda: _zeros(64, 64),
        grid=1,
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="shuffles_order",
        arguments=lambda: _zeros(256, 256),
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="volatile_warp",
        arguments=lambda: [_numbers(32)],
        grid=1,
        block=32,
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="vote_before_write",
        arguments=lambda: [_numbers(32)],
        grid=1,
        block=32,
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="cluster_of_blocks",
        arguments=lambda: [_numbers(256), *_zeros(256, 256)],
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="mbarrier_of_a_block",
        arguments=lambda: [_numbers(32), *_zeros(32, 32)],
        grid=1,
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="asynchronous_pipeline",
        arguments=lambda: [_floats(2 * 64 * 5), np.zeros(2 * 64 * 5, "f4"), 5],
        grid=2,
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="bulk_copy_out",
        arguments=lambda: [_numbers(256), *_zeros(256)],
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="shared_tile",
        arguments=lambda: [_floats(256), np.zeros(256, "f4")],
    ),
    GlobalCase(
        file=_BLOCKS,
        kernel="flag_of_a_block",
        arguments=lambda: [_numbers(1), *_zeros(1, 1)],
        grid=1,
    ),
    GlobalCase(
        file=_GRID,
        kernel="histogram",
        arguments=lambda: [_numbers(1000), *_zeros(16), 1000],
        grid=16,
    ),
    GlobalCase(
        file=_GRID,
        kernel="sum_of_floats",
        arguments=lambda: [_floats(256), np.zeros(1, "f4")],
    ),
    GlobalCase(
        file=_GRID,
        kernel="maximum_by_cas",
        arguments=lambda: [np.abs(_floats(256)), _words(1)],
    ),
    GlobalCase(
        file=_GRID,
        kernel="maximum_from_a_guess",
        arguments=lambda: [np.abs(_floats(256)), _words(1)],
    ),
    GlobalCase(
        file=_GRID,
        kernel="tickets",
        arguments=lambda: [_numbers(256), *_zeros(256, 1)],
    ),
    GlobalCase(
        file=_GRID,
        kernel="work_queue",
        arguments=lambda: [*_zeros(640, 1), 10],
    ),
    GlobalCase(
        file=_GRID,
        kernel="sum_with_fence",
        arguments=lambda: [_floats(999), np.zeros(8, "f4"), np.zeros(1, "f4"), 999],
        grid=8,
        block=32,
    ),
    GlobalCase(
        file=_GRID,
        kernel="last_block_done",
        arguments=lambda: [_numbers(_MANY * 64), *_zeros(_MANY * 64, 64), _words(1)],
        grid=_MANY,
    ),
    GlobalCase(
        file=_GRID,
        kernel="look_back",
        arguments=lambda: [_numbers(_MANY), *_zeros(_MANY, _MANY, _MANY * 64)],
        grid=_MANY,
    ),
    GlobalCase(
        file=_GRID,
        kernel="look_back_of_words",
        arguments=lambda: [_numbers(40), np.zeros(40, np.uint64), *_zeros(40)],
        grid=40,
        block=1,
    ),
    GlobalCase(
        file=_GRID,
        kernel="look_back_by_release",
        arguments=lambda: [_numbers(40, 9, np.uint32), _words(40), _words(40)],
        grid=40,
        block=1,
    ),
    GlobalCase(
        file=_GRID,
        kernel="spin_lock",
        arguments=lambda: [_numbers(_MANY), *_zeros(1, 1)],
        grid=_MANY,
    ),
    GlobalCase(
        file=_GRID,
        kernel="lock_by_volatile",
        arguments=lambda: _zeros(1, 1),
        grid=6,
        block=32,
    ),
    GlobalCase(
        file=_GRID,
        kernel="ticket_lock",
        arguments=lambda: [*_zeros(1), _words(1), _words(1)],
        grid=6,
        block=32,
    ),
    GlobalCase(
        file=_GRID,
        kernel="locks_of_rows",
        arguments=lambda: [*_zeros(128, 2), 2],
        grid=6,
    ),
    GlobalCase(
        file=_GRID,
        kernel="grid_barrier",
        arguments=lambda: [_numbers(256), _words(1), 3],
        cooperative=True,
    ),
    GlobalCase(
        file=_GRID,
        kernel="grid_barrier_by_sense",
        arguments=lambda: [_numbers(256), *_zeros(256, 256)],
        cooperative=True,
    ),
    GlobalCase(
        file=_GRID,
        kernel="message",
        arguments=lambda: [_numbers(64), *_zeros(64, 192, 1)],
    ),
    GlobalCase(
        file=_GRID,
        kernel="message_by_atomics",
        arguments=lambda: [_numbers(1), *_zeros(1, 5, 1)],
        grid=5,
        block=32,
    ),
    GlobalCase(
        file=_GRID,
        kernel="chain_of_messages",
        arguments=lambda: [_numbers(1, 9, np.uint32), _words(2), _words(5)],
        grid=5,
        block=1,
    ),
    GlobalCase(
        file=_GRID,
        kernel="reset_at_the_end",
        arguments=lambda: [*_zeros(5), _words(1)],
        grid=5,
        block=32,
    ),
    GlobalCase(
        file=_GRID,
        kernel="sum_by_warps",
        arguments=lambda: [*_zeros(4), _numbers(512) - 25],
        grid=8,
    ),
    GlobalCase(
        file=_GRID,
        kernel="scope_of_a_block",
        arguments=lambda: [_numbers(256), *_zeros(4)],
    ),
    GlobalCase(
        file=_GRID,
        kernel="bits",
        arguments=lambda: [_words(8), _numbers(256)],
    ),
    GlobalCase(
        file=_LIBRARY,
        kernel="atomic_reference",
        arguments=lambda: [_numbers(256), *_zeros(1)],
    ),
    GlobalCase(
        file=_LIBRARY,
        kernel="message_by_reference",
        arguments=lambda: [_numbers(1), *_zeros(1, 5, 1)],
        grid=5,
        block=32,
    ),
    GlobalCase(
        file=_LIBRARY,
        kernel="barrier_of_a_block",
        arguments=lambda: [_numbers(256), *_zeros(256, 256)],
    ),
    GlobalCase(
        file=_LIBRARY,
        kernel="semaphore",
        arguments=lambda: _zeros(1, 1),
        grid=6,
        block=32,
    ),
)
GLOBAL_CASES: dict[str, GlobalCase] = {case.kernel: case for case in _CASES}
