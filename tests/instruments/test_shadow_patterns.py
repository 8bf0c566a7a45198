"""Accesses that are recorded by their pattern leave a shadow as it is without patterns."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.instruments.native_shadow import NativeShadow
from softlab.instruments.shadow import Shadow

_NEEDS_LLVM = pytest.mark.skipif(not available(), reason="llvmlite is not installed")
THREADS, WORDS = 64, 96


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
@pytest.mark.parametrize("seed", range(40))
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
        a, b = by_pattern._threads_of_word, by_access._threads_of_word
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
    assert record(pattern, 64 - THREADS + 10, store=True) is False
    same = shadow.pattern(np.zeros((THREADS, 1), np.int64), thread, 0)
    shadow._time += 1
    shadow._barrier[:] = shadow._time
    assert not record(same, 0, store=True)  # several lanes write one word
    assert record(same, 0, store=False)
    assert shadow.read_by_another(row[:1], np.array([[0]]), thread[5:6]).all()
