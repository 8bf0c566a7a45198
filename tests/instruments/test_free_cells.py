"""Accesses of which nothing is to be asked, beside a model that looks at each cell of each lane."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.instruments.blind_atomics import record
from softlab.instruments.global_shadow import IN_BLOCK, LANE_MASK, ONE_CELL, STRONG, TIME_SHIFT, VOLATILE
from softlab.instruments.native_global import are_free, are_rows, record_apart
from softlab.instruments.node_layout import HEAD
from softlab.instruments.node_layout import THREADS as THREADS_OF_HEAD

WARPS, THREADS, ORIGIN, SHIFT, BEGIN = 5, 64, 4096, 2, 7
OWN = BEGIN << TIME_SHIFT
KINDS = [0, STRONG | ONE_CELL, STRONG | 2 * ONE_CELL, STRONG | ONE_CELL | VOLATILE, STRONG | ONE_CELL | IN_BLOCK]


def _may_meet(stamp: int, lane: int, flags: int) -> bool:
    """Whether an earlier access is the lane's own in this batch, or both are strong accesses of one width."""
    if stamp == 0 or (stamp >= OWN and stamp & LANE_MASK == lane):
        return True
    both_volatile = flags & stamp & VOLATILE
    same = (flags ^ stamp) & (31 * ONE_CELL) == 0
    return bool(flags & stamp & STRONG and same and not (flags | stamp) & IN_BLOCK and not both_volatile)


def _access(random: np.random.Generator, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Lanes, and the first cell of each: in rows, moved by a warp with a new begin, with gaps, or anywhere."""
    lanes = np.arange(32 * WARPS)
    kind = random.integers(0, 5)
    if kind == 1:
        lanes = lanes[random.random(len(lanes)) < 0.9]
    cells = lanes * width
    if kind == 2:
        cells = (lanes + 32 * int(random.integers(1, WARPS))) % len(lanes) * width
    if kind == 3:
        cells = (lanes + int(random.integers(1, 40))) % len(lanes) * width
    if kind == 4:
        cells = random.permutation(len(lanes)) * width if random.random() < 0.5 else np.sort(cells // 2)
    return lanes, cells


def _stamps(random: np.random.Generator, count: int, owner: np.ndarray, kind: int) -> np.ndarray:
    """Earlier accesses: mostly the owner's, or of one kind; a few of anybody."""
    time = np.where(random.random(count) < 0.9, BEGIN + random.integers(0, 5, count), random.integers(1, 9, count))
    odd = random.random(count) < 0.004
    lane = np.where(odd | (kind > 0), random.integers(0, 32 * WARPS, count), owner)
    flags = np.where(random.random(count) < 0.004, random.choice(KINDS, count), kind)
    found = time << TIME_SHIFT | flags | lane
    return np.where(random.random(count) < 0.2, 0, np.where((kind == 0) & (time < BEGIN), 0, found))


def _expected(
    tables: list[np.ndarray], lanes: np.ndarray, first: np.ndarray, width: int, flags: int, store: int
) -> bool:
    for lane, start in zip(lanes.tolist(), first.tolist(), strict=True):
        for cell in range(start, start + width):
            written, read, other = (int(table[cell]) for table in tables)
            if not _may_meet(written, lane, flags):
                return False
            if not _may_meet(read, lane, flags if store else 0) or (store and not _may_meet(other, lane, flags)):
                return False
    return True


def _no_order() -> list[np.ndarray]:
    """Of an order, twice: what warps know of their blocks, which is nothing, and the head of an arena."""
    head = np.zeros(HEAD, np.int64)
    head[THREADS_OF_HEAD] = THREADS
    return [np.zeros(4 * WARPS, np.int64), head, head] * 2


def _rises_with_one_new_begin(first: np.ndarray, width: int) -> bool:
    falls = np.flatnonzero(np.diff(first) < width)
    return not len(falls) or (len(falls) == 1 and bool(first[-1] + width <= first[0]))


@pytest.mark.parametrize("width", [1, 2])
def test_accesses_that_nothing_is_to_be_asked_of(width: int) -> None:
    answers, rows = [0, 0], 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        lanes, first = _access(random, width)
        count, flags = 32 * WARPS * width, int(random.choice(KINDS))
        owner = np.zeros(count, np.int64)
        owner[(first[:, None] + np.arange(width)).reshape(-1)] = np.repeat(lanes, width)
        kind = flags if random.random() < 0.5 else 0
        written, read, other = (_stamps(random, count, owner, kind) for _ in range(3))
        store = bool(random.random() < 0.6)
        if not store:
            read = _stamps(random, count, owner, 0)
        given = (ORIGIN + (first << SHIFT), len(lanes), width, ORIGIN, SHIFT)
        found = bool(are_free(written, read, other, *_no_order(), lanes, *given, OWN, flags, store, True, 0))
        in_rows = width == 1 and are_rows(lanes, given[0], len(lanes), 1 << SHIFT)
        rows += in_rows
        again = bool(are_free(written, read, other, *_no_order(), lanes, *given, OWN, flags, store, True, in_rows))
        assert found == again
        rises = _rises_with_one_new_begin(first, width)
        assert found == (rises and _expected([written, read, other], lanes, first, width, flags, store)), seed
        answers[found] += 1
        table, now = written.copy(), 99 << TIME_SHIFT | flags
        record_apart(table, lanes, *given, now, in_rows if seed % 2 else 0)
        for lane, start in zip(lanes.tolist(), first.tolist(), strict=True):
            written[start : start + width] = now | lane
        np.testing.assert_array_equal(table, written)
    assert min(answers) >= 20, answers
    assert rows >= 100 or width == 2


def test_blind_atomics_of_the_own_block_and_of_others() -> None:
    kept = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        lanes, first = _access(random, 1)
        count, flags, owner = 32 * WARPS, KINDS[1], np.zeros(32 * WARPS, np.int64)
        owner[first] = lanes
        last, other = _stamps(random, count, owner, int(random.choice([0, flags]))), np.zeros(count, np.int64)
        expected, others = last.copy(), other.copy()
        stamp = 99 << TIME_SHIFT | flags
        for lane, cell in zip(lanes.tolist(), first.tolist(), strict=True):
            before = int(expected[cell])
            if before and (before < OWN or (before & LANE_MASK) // THREADS != lane // THREADS):
                others[cell] = before
            expected[cell] = stamp | lane
        addresses = ORIGIN + (first << SHIFT)
        in_rows = are_rows(lanes, addresses, len(lanes), 1 << SHIFT) if seed % 3 else 0
        record(last, other, addresses, lanes, len(lanes), 1, ORIGIN, SHIFT, stamp, BEGIN, THREADS, in_rows)
        np.testing.assert_array_equal(last, expected)
        np.testing.assert_array_equal(other, others)
        kept += int((others != 0).sum())
    assert kept > 100
