"""Accesses that are recorded by their pattern leave a shadow as it is without patterns."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.lanes import Box
from softlab.emulator.machine.native import available
from softlab.instruments.native_shadow import NativeShadow
from softlab.instruments.shadow import Shadow
from tests.sampled import each

_NEEDS_LLVM = pytest.mark.skipif(not available(), reason="llvmlite is not installed")
THREADS, WORDS = 96, 117


def _addresses(random: np.random.Generator, first: int) -> np.ndarray:
    """(threads, words per lane): own words, shared ones, those of a few lanes each, vectors."""
    thread = np.arange(THREADS)
    kind = random.integers(0, 5)
    if kind == 0:
        return (first + thread % 32)[:, None]
    if kind == 1:
        return np.full((THREADS, 1), first)
    if kind == 2:
        return (first + thread // 8)[:, None]
    if kind == 3:
        return first + (thread % 8)[:, None] * 2 + np.arange(2)
    return first + random.integers(0, 20, (THREADS, 1))


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=_NEEDS_LLVM)])
@pytest.mark.parametrize("seed", each(5, range(40)))
def test_the_state_is_the_same_with_and_without_patterns(seed: int, compiled: bool) -> None:
    random = np.random.default_rng(seed)
    by_pattern, by_access = (Shadow(WORDS * 4, 1, THREADS, 4) for _ in range(2))
    row, thread = np.zeros(THREADS, np.int64), np.arange(THREADS)
    record = NativeShadow(by_pattern).record_alone if compiled else by_pattern.record_alone
    taken = 0
    for shadow in (by_pattern, by_access):
        shadow.write(np.zeros(WORDS, np.int64), np.arange(WORDS)[:, None], np.zeros(WORDS, np.int64))
        shadow._barrier[:] = shadow._time = 2
    for _ in range(60):
        first, store = int(random.integers(0, 40)), bool(random.random() < 0.3)
        word = _addresses(random, first)
        for shadow in (by_pattern, by_access):
            shadow.begin_access(7)
        if not record(by_pattern.pattern(word, thread, first), first, store):
            (by_pattern.write if store else by_pattern.read)(row, word, thread)
        else:
            taken += 1
            if store:
                assert not by_access.read_by_another(row, word, thread).any()
            assert not by_access.written_by_another(row, word, thread, False).any()
        (by_access.write if store else by_access.read)(row, word, thread)
        np.testing.assert_array_equal(by_pattern._written, by_access._written)
        np.testing.assert_array_equal(by_pattern._read, by_access._read)
        a, b = by_pattern.known_threads, by_access.known_threads
        np.testing.assert_array_equal(-1 if a is None else a, -1 if b is None else b)
        if random.random() < 0.5:
            for shadow in (by_pattern, by_access):
                shadow._time += 1
                shadow._barrier[:] = shadow._time
    assert taken > 10


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=_NEEDS_LLVM)])
def test_words_that_nobody_has_written_and_recent_ones_are_left_to_the_full_check(compiled: bool) -> None:
    shadow = Shadow(WORDS * 4, 1, THREADS, 4)
    record = NativeShadow(shadow).record_alone if compiled else shadow.record_alone
    row, thread = np.zeros(THREADS, np.int64), np.arange(THREADS)
    pattern = shadow.pattern(thread[:, None], thread, 0)
    assert not record(pattern, 0, store=False)  # never written
    assert record(pattern, 0, store=True)
    assert not record(pattern, 0, store=False)  # written since the last barrier
    assert record(pattern, 10, store=True) is False
    same = shadow.pattern(np.zeros((THREADS, 1), np.int64), thread, 0)
    shadow._time += 1
    shadow._barrier[:] = shadow._time
    assert not record(same, 0, store=True)  # several lanes write one word
    assert record(same, 0, store=False)
    assert shadow.read_by_another(row[:1], np.array([[0]]), thread[5:6]).all()


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=_NEEDS_LLVM)])
@pytest.mark.parametrize("seed", each(5, range(20)))
def test_atomics_that_come_again_change_the_state_as_others_do(seed: int, compiled: bool) -> None:
    random = np.random.default_rng(seed)
    by_pattern, by_access, by_numpy = (Shadow(WORDS * 4, 1, THREADS, 4) for _ in range(3))
    record = NativeShadow(by_pattern).record_again if compiled else by_pattern.record_again
    taken = 0
    for shadow in (by_pattern, by_access, by_numpy):
        shadow.write(np.zeros(WORDS, np.int64), np.arange(WORDS)[:, None], np.zeros(WORDS, np.int64))
        shadow._barrier[:] = shadow._time = 2
    for _ in range(80):
        first, warps = int(random.integers(0, 3)), slice(*random.choice([(0, 64), (0, 32), (32, 64)]))
        thread = np.arange(THREADS)[warps]
        row, word = np.zeros(len(thread), np.int64), _addresses(random, first)[warps]
        for shadow in (by_pattern, by_access, by_numpy):
            shadow.begin_access(7)
        pattern = by_pattern.pattern(word, thread, first)
        known = record(pattern, first)
        assert known == by_numpy.record_again(pattern, first)
        if known:
            taken += 1
            assert not by_access.written_by_another(row, word, thread, True).any()
            assert not by_access.read_by_another(row, word, thread).any()
            assert not by_access.never_written(row, word).any()
        else:
            by_pattern.write_strong(row, word, thread)
            by_numpy.write_strong(row, word, thread)
        by_access.write_strong(row, word, thread)
        np.testing.assert_array_equal(by_pattern._written, by_access._written)
        a, b = by_pattern.known_threads, by_access.known_threads
        np.testing.assert_array_equal(-1 if a is None else a, -1 if b is None else b)
        event = random.random()
        for shadow in (by_pattern, by_access, by_numpy):
            if event < 0.1:
                shadow.read(row[:3], word[:3], thread[:3])
            elif event < 0.2:
                shadow._time += 1
                shadow._barrier[:] = shadow._time
            elif event < 0.3:
                shadow.warp_sync(Box(1, THREADS, None, None), np.uint32(0xFFFFFFFF))
    assert taken > 5


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=_NEEDS_LLVM)])
def test_a_word_of_several_warps_may_be_older_than_a_syncwarp_and_one_of_this_warp_not(compiled: bool) -> None:
    """__syncwarp() orders the atomics of the own warp, and nothing with those of others."""
    shadow = Shadow(WORDS * 4, 1, THREADS, 4)
    record = NativeShadow(shadow).record_again if compiled else shadow.record_again
    row, thread = np.zeros(THREADS, np.int64), np.arange(THREADS)
    of_all, own = np.where(thread[:32] < 16, 0, 1)[:, None], np.ones((16, 1), np.int64)
    shadow.write(row[:2], np.arange(2)[:, None], row[:2])
    shadow._barrier[:] = shadow._time = 2
    shadow.begin_access(7)
    shadow.write_strong(row, np.concatenate([of_all, np.zeros((THREADS - 32, 1), np.int64)]), thread)
    pattern = shadow.pattern(of_all, thread[:32], 0)
    assert record(pattern, 0)
    shadow.warp_sync(Box(1, THREADS, None, None), np.uint32(0xFFFFFFFF))
    shadow.begin_access(8)
    assert not record(pattern, 0), "word 1 has atomics of this warp from before"
    shadow.write_strong(row[:16], own, thread[16:32])
    shadow.begin_access(9)
    assert record(pattern, 0), "word 1 has none, and word 0 those of the other warp"


def test_with_fences_or_groups_of_lanes_atomics_get_the_full_check() -> None:
    row, thread, word = np.zeros(THREADS, np.int64), np.arange(THREADS), np.zeros((THREADS, 1), np.int64)
    for order in (False, True):
        shadow = Shadow(WORDS * 4, 1, THREADS, 4)
        pattern = shadow.pattern(word, thread, 0)
        shadow.begin_access(7)
        shadow.write_strong(row, word, thread)
        assert shadow.record_again(pattern, 0)
        if order:
            shadow.fence(row, thread)
        else:
            halves = np.where(thread % 32 < 16, np.uint32(0xFFFF), np.uint32(0xFFFF0000))
            shadow.warp_sync(Box(1, THREADS, None, None), halves[None])
        assert not shadow.record_again(pattern, 0)
