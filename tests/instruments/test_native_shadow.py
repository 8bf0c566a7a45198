"""Compiled code records an access as NumPy does, and exactly where NumPy finds nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Box, lanes_of
from softlab.emulator.machine.native import available
from softlab.instruments.cluster_shadow import ClusterShadow
from softlab.instruments.global_shadow import IN_BLOCK, ONE_CELL, STRONG, VOLATILE, GlobalShadow, Stamps
from softlab.instruments.happens_before import HappensBefore
from softlab.instruments.mbarrier_words import MbarrierWords
from softlab.instruments.native_access import ALL_DONE, LOOK, LOST, Accessed, Does, NativeAccess
from softlab.instruments.native_shadow import READS, SHARED_WORDS, STORES, UNKNOWN, NativeShadow
from softlab.instruments.native_shadow import STRONG as STRONG_ACCESS
from softlab.instruments.shadow import MANY_WARPS, WHO_MASK
from softlab.instruments.strong_access import StrongAccess
from tests.sampled import each

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not installed")
BLOCKS, THREADS, WORDS = 3, 96, 109


def _words(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Words of each lane: its own, one for all, or any."""
    kind, first = random.integers(0, 4), random.integers(0, 8)
    if kind == 0:
        return np.broadcast_to(first + np.arange(shape[-1]) % THREADS, shape)
    if kind == 1:
        return np.full(shape, first)
    return first + random.integers(0, 4 if kind == 2 else THREADS, shape)


def _compare(one: ClusterShadow, other: ClusterShadow) -> None:
    for a, b in zip(one.tables(), other.tables(), strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a, b)


def _finds(shadow: ClusterShadow, row: np.ndarray, word: np.ndarray, thread: np.ndarray, kind: int) -> bool:
    """Whether NumPy finds anything in an access."""
    strong = bool(kind & STRONG_ACCESS)
    found = bool(kind & READS) and shadow.never_written(row, word).any()
    found |= shadow.written_by_another(row, word, thread, strong).any()
    found |= bool(kind & STORES) and shadow.read_by_another(row, word, thread).any()
    if shadow.remote is not None:
        acquired = shadow.acquired(row, thread)
        stamps = [shadow.remote.written, *([shadow.remote.read] if kind & STORES else [])]
        found |= any(shadow.remote.unordered(s, row, word, acquired, False).any() for s in stamps)
    return bool(found)


def _of_many_warps(shadow: ClusterShadow, row: np.ndarray, word: np.ndarray, kind: int) -> bool:
    """Whether a stamp stands for threads of several warps: where flags order some of them, only NumPy looks closer."""
    stamps = [shadow.stamps(True), *([shadow.stamps(False)] if kind & STORES else [])]
    return any(bool((of[row[:, None], word] & WHO_MASK == MANY_WARPS).any()) for of in stamps)


def _record(shadow: ClusterShadow, row: np.ndarray, word: np.ndarray, thread: np.ndarray, kind: int) -> None:
    if kind & STORES:
        (shadow.write_strong if kind & STRONG_ACCESS else shadow.write)(row, word, thread)
    elif not kind & STRONG_ACCESS:
        shadow.read(row, word, thread)


def _pass_flag(random: np.random.Generator, shadows: tuple[ClusterShadow, ...]) -> None:
    """A thread sets a flag behind a fence, and a warp of its block, or a lane of it, sees it."""
    row, word = int(random.integers(0, BLOCKS)), int(random.integers(0, WORDS))
    one, other = (int(thread) for thread in random.integers(0, THREADS, 2))
    readers = np.arange(32) + other // 32 * 32 if random.random() < 0.8 else np.array([other])
    for shadow in shadows:
        shadow.tell_apart()
        shadow.fence(np.array([row]), np.array([one]))
        shadow.release(np.array([row]), np.array([[word]]), np.array([one]))
        shadow.acquire(np.full(len(readers), row), np.full((len(readers), 1), word), readers)


def _order(random: np.random.Generator, shadows: tuple[ClusterShadow, ...], objects: MbarrierWords) -> None:
    """Barriers, warp barriers, fences with flags, copies and mbarriers between the accesses."""
    kind, row, thread = random.integers(0, 9), int(random.integers(0, BLOCKS)), int(random.integers(0, THREADS))
    mask = np.zeros((BLOCKS, THREADS), bool)
    mask[row if random.random() < 0.5 else slice(None)] = True
    at = [np.array([n]) for n in (row, thread)]
    word = np.array([[int(random.integers(0, WORDS))]])
    for shadow in shadows:
        if kind < 4:
            shadow.barrier(lanes_of(mask))
        elif kind == 4:
            shadow.warp_sync(lanes_of(mask), np.uint32(0xFFFFFFFF))
        elif kind == 5:
            shadow.tell_apart()
            shadow.fence(*at)
            shadow.release(at[0], word, at[1])
        elif kind == 6:
            shadow.tell_apart()
            shadow.acquire(at[0], word, at[1])
        elif kind == 7:
            remote = shadow.track_remote()
            (remote.written if thread % 2 else remote.read)[row, word[0]] = remote.copy_stamp(shadow.advance_time())
    if kind == 8 and shadows[0].remote is not None:
        objects.begin(at[0], at[1] // 32 * 8 + 4 * WORDS - 16)


def test_shared_memory_is_recorded_as_numpy_does() -> None:
    answers = dict.fromkeys((UNKNOWN, SHARED_WORDS, 0), 0)
    for seed in range(8):
        _shared_accesses(np.random.default_rng(seed), answers)
    assert min(answers.values()) >= 20, answers


@pytest.mark.parametrize("flags", each(2, [0.5, 0.9]))
def test_what_flags_order_is_recorded_as_numpy_does(flags: float) -> None:
    answers = dict.fromkeys((UNKNOWN, SHARED_WORDS, 0), 0)
    for seed in range(4):
        _shared_accesses(np.random.default_rng(seed), answers, flags)
    assert min(answers.values()) >= 5, answers


def _shared_accesses(random: np.random.Generator, answers: dict[int | str, int], flags: float = 0.0) -> None:
    """``flags``: how many of the events are flags."""
    compiled, plain = (ClusterShadow(4 * WORDS + 32, BLOCKS, THREADS, 4) for _ in range(2))
    native = NativeShadow(compiled)
    native.objects = MbarrierWords(BLOCKS, compiled.words, 4)
    for shadow in (compiled, plain):
        shadow.write(np.zeros(WORDS // 2, np.int64), np.arange(WORDS // 2)[:, None], np.zeros(WORDS // 2, np.int64))
        shadow.barrier(Box(BLOCKS, THREADS, None, None))
    for number in range(120):
        mask = random.random((BLOCKS, THREADS)) < 0.5
        lanes: Any = Box(BLOCKS, THREADS, None, None) if number < 40 or random.random() < 0.5 else lanes_of(mask)
        extent = (1, THREADS) if number < 40 else lanes.extent
        address = _words(random, extent).astype(np.uint64) * np.uint64(4)
        kind = int(random.choice([READS, READS, STORES, READS | STORES | STRONG_ACCESS, STORES | STRONG_ACCESS,
                                  READS | STRONG_ACCESS]))  # fmt: skip
        offsets = random.integers(0, 3) + np.arange(1 + random.integers(0, 3))
        answers[_access(native, compiled, plain, lanes, address, offsets, kind, flags > 0)] += 1
        for _ in range(3 if random.random() < 0.6 else 0):
            if flags and random.random() < flags:
                _pass_flag(random, (compiled, plain))
            else:
                _order(random, (compiled, plain), native.objects)


def _access(
    native: NativeShadow, compiled: ClusterShadow, plain: ClusterShadow, lanes: Any, address: np.ndarray,
    offsets: np.ndarray, kind: int, has_flags: bool,
) -> int:  # fmt: skip
    """One access by compiled code and by NumPy; the compiled code's answer."""
    for shadow in (compiled, plain):
        shadow.begin_access(compiled.time % 5)
    found = native.record(lanes, address, offsets, kind)
    if not compiled.alike:
        plain.tell_apart()
    alike = plain.alike
    rows, threads = (np.zeros(THREADS, np.int64), np.arange(THREADS)) if alike else (
        lanes.positions.rows, lanes.positions.columns)  # fmt: skip
    flat = np.broadcast_to(address, (1, THREADS) if alike else lanes.extent).reshape(-1)
    word = flat.astype(np.int64)[:, None] // 4 + offsets
    hit = bool(native.objects) and native.objects.hit(rows, word).any()
    finds = _finds(plain, rows, word, threads, kind) or hit
    assert (found == UNKNOWN) == finds or (found == UNKNOWN and has_flags and _of_many_warps(plain, rows, word, kind))
    if found == UNKNOWN:
        _compare(compiled, plain)
        _record(compiled, rows, word, threads, kind)
    else:
        twice = plain.write(rows, word, threads).any() if kind & (STORES | STRONG_ACCESS) == STORES else False
        assert (found == SHARED_WORDS) == twice
    _record(plain, rows, word, threads, kind)
    _compare(compiled, plain)
    return found


@pytest.mark.parametrize("seed", each(4, range(12)))
def test_words_of_a_warp_or_a_block_that_are_accessed_again(seed: int) -> None:
    """Blocks, warps and words are in many states at once: only the times of the stamps change, or more does."""
    random, answers = np.random.default_rng(seed), {0: 0, UNKNOWN: 0}
    compiled, plain = (ClusterShadow(4 * WORDS, BLOCKS, THREADS, 4) for _ in range(2))
    native, every = NativeShadow(compiled), Box(BLOCKS, THREADS, None, None)
    native.objects = MbarrierWords(BLOCKS, compiled.words, 4)
    rows, warps = np.repeat(np.arange(BLOCKS), THREADS), np.tile(np.arange(THREADS) // 32, BLOCKS)
    for shadow in (compiled, plain):
        shadow.tell_apart()
        shadow.write(rows, np.tile(np.arange(THREADS), BLOCKS)[:, None], np.tile(np.arange(THREADS), BLOCKS))
        shadow.barrier(every)
    kind = READS
    for number in range(60):
        shared = random.random((BLOCKS, 1)) < 0.5
        word = np.where(shared, 40, 3 + 7 * warps.reshape(BLOCKS, -1)) + random.integers(0, 2)
        mask = np.repeat(random.random((BLOCKS, THREADS // 32)) < 0.7, 32, axis=1) & (random.random(THREADS) < 0.8)
        if not mask.any():
            continue
        lanes = every if random.random() < 0.3 else lanes_of(mask)
        given = word[mask] if lanes is not every else word
        offset = int(random.integers(0, 3))
        if number % 8 == 0:
            kind = int(random.choice([READS, READS | STORES | STRONG_ACCESS, STORES | STRONG_ACCESS]))
        each = READS | STRONG_ACCESS if random.random() < 0.1 else kind
        address = np.ascontiguousarray(4 * given).astype(np.uint64).reshape(lanes.extent)
        answers[_access(native, compiled, plain, lanes, address, np.array([offset]), each, seed % 3 == 0)] += 1
        some = np.zeros((BLOCKS, THREADS), bool)
        some[random.integers(0, BLOCKS), random.integers(0, 2) * 32 :][:32] = True
        if random.random() < 0.2:
            for shadow in (compiled, plain):
                shadow.warp_sync(lanes_of(some), np.uint32(0xFFFFFFFF))
        if number % 8 == 7:
            row = np.zeros((BLOCKS, THREADS), bool)
            row[random.random(BLOCKS) < 0.7] = True
            for shadow in (compiled, plain):
                shadow.barrier(lanes_of(row) if row.any() else every)
        if seed % 3 == 0 and random.random() < 0.3:
            _pass_flag(random, (compiled, plain))
        if seed % 3 == 1 and random.random() < 0.05:
            native.objects.begin(np.array([1]), np.array([4 * 40]))
    assert answers[0] >= 1, answers


@pytest.mark.parametrize("kind", [READS, READS | STORES | STRONG_ACCESS, STORES | STRONG_ACCESS])
@pytest.mark.parametrize("across", ["the warp", "the block"])
def test_words_that_pass_from_lane_to_lane(kind: int, across: str) -> None:
    """Each lane has one word, and takes another lane's in the next access; now and then its own or one for all."""
    random, found = np.random.default_rng(kind), set()
    compiled, plain = (ClusterShadow(4 * WORDS, BLOCKS, THREADS, 4) for _ in range(2))
    native, lanes = NativeShadow(compiled), Box(BLOCKS, THREADS, None, None)
    rows, threads = np.zeros(THREADS, np.int64), np.arange(THREADS)
    for shadow in (compiled, plain):
        shadow.write(rows, threads[:, None], threads)
        shadow.barrier(lanes)
    for number in range(60):
        word = threads.copy()
        if number % 3:
            first = word.reshape(-1, 32) if across == "the warp" else word.reshape(1, -1)
            word = random.permuted(first, axis=1).reshape(-1)
        if number % 10 == 9:
            word = word // 32 * 32
        for shadow in (compiled, plain):
            shadow.begin_access(number)
        answer = native.record(lanes, (4 * word).astype(np.uint64)[None], np.arange(1), kind)
        found.add(answer)
        assert (answer == UNKNOWN) == _finds(plain, rows, word[:, None], threads, kind)
        for shadow in (plain, *([compiled] if answer == UNKNOWN else [])):
            _record(shadow, rows, word[:, None], threads, kind)
        _compare(compiled, plain)
        if number % 7 == 6:
            for shadow in (compiled, plain):
                shadow.warp_sync(lanes, np.uint32(0xFFFFFFFF)) if number % 2 else shadow.barrier(lanes)
    assert 0 in found


@pytest.mark.parametrize("written_by", [STORES | STRONG_ACCESS, READS])
@pytest.mark.parametrize("kind", [READS | STRONG_ACCESS, STORES | STRONG_ACCESS, READS])
def test_words_of_many_lanes_that_are_accessed_again(written_by: int, kind: int) -> None:
    """Reads by atomics leave everything as it is; all others change the times, and the last thread."""
    compiled, plain = (ClusterShadow(4 * WORDS, 1, THREADS, 4) for _ in range(2))
    native, lanes = NativeShadow(compiled), Box(1, THREADS, None, None)
    rows, threads = np.zeros(THREADS, np.int64), np.arange(THREADS)
    for shadow in (compiled, plain):
        shadow.write(rows, threads[:, None], threads)
        shadow.barrier(lanes)
    word = threads // 64 * 64
    for number, value in enumerate((written_by, written_by, kind, kind)):
        for shadow in (compiled, plain):
            shadow.begin_access(number)
        answer = native.record(lanes, (4 * word).astype(np.uint64)[None], np.arange(1), value)
        assert (answer == UNKNOWN) == _finds(plain, rows, word[:, None], threads, value)
        for shadow in (plain, *([compiled] if answer == UNKNOWN else [])):
            _record(shadow, rows, word[:, None], threads, value)
        _compare(compiled, plain)


def test_groups_of_lanes_are_left_to_numpy() -> None:
    shadow = ClusterShadow(64, 1, 32, 4)
    native, lanes = NativeShadow(shadow), Box(1, 32, None, None)
    shadow.begin_access(0)
    assert native.record(lanes, np.uint64(0), np.arange(1), STORES) == SHARED_WORDS
    shadow.warp_sync(lanes, np.where(np.arange(32) < 8, np.uint32(0xFF), np.uint32(0xFFFFFF00))[None])
    assert native.record(lanes, np.uint64(0), np.arange(1), STORES) == UNKNOWN


def test_global_memory_is_recorded_as_numpy_does() -> None:
    answers = {ALL_DONE: 0, LOOK: 0, LOST: 0, "other reads": 0}
    for seed in range(8):
        _global_accesses(seed, answers)
    assert min(answers.values()) >= 15, answers


def _global_accesses(seed: int, answers: dict[int | str, int]) -> None:
    random = np.random.default_rng(seed)
    orders = [HappensBefore(BLOCKS, THREADS, {}), HappensBefore(BLOCKS, THREADS, {}, of_reads=True)][: 1 + seed % 2]
    compiled, plain = (GlobalShadow(BLOCKS * THREADS + 2, THREADS) for _ in range(2))
    native, begin = NativeAccess(remembers=False), 1
    native.begin(orders, begin, keyed=False)
    every = np.arange(BLOCKS * THREADS)
    for now in range(1, 200):
        lane = every if random.random() < 0.5 else np.flatnonzero(random.random(len(every)) < 0.4)
        kind = random.integers(0, 9)
        spread = lane if kind < 4 else lane ^ 1 if kind < 6 else lane ^ 32 if kind < 8 else lane // 32 * 32
        spread = random.integers(0, len(every), len(lane)) if now % 30 == 0 else spread
        spread = np.where(spread < len(every), spread, lane)
        width, store = int(random.integers(1, 4)), bool(random.random() < 0.4)
        strong = (ONE_CELL, 2 * ONE_CELL, 4 * ONE_CELL, 4 * ONE_CELL | IN_BLOCK)
        flags = int(random.choice([0, 0, *(STRONG | of for of in strong)]))
        flags |= VOLATILE if store and flags & STRONG and random.random() < 0.4 else 0
        addresses = 1000 + 4 * spread
        does = Does(store, False, False, bool(flags & STRONG), True)
        frame = native.frame(compiled, Accessed(width, width, 2, flags), does, 1000, 0, 1000)
        had_other_reads = compiled.tables()[2].copy()
        found = native.record(frame, lane, addresses, now)
        cells = ((addresses - 1000 >> 2)[:, None] + np.arange(width)).reshape(-1)
        stamps = Stamps(cells, np.repeat(lane, width), now, flags)
        clash = len(plain.clashing_writes(stamps, begin, orders[0].ordered))
        clash += store and len(plain.clashing_reads(stamps, begin, orders[-1].ordered))
        clash += flags & VOLATILE and len(plain.volatile_writes(stamps, begin, orders[0].ordered))
        left_to_numpy = found == LOOK
        apart = any(order.tells_lanes_apart for order in orders)
        assert left_to_numpy == bool(clash or apart), "groups and parts of warps are left to NumPy"
        answers[found] += 1
        answers["other reads"] += not left_to_numpy and (had_other_reads != compiled.tables()[2]).any()
        for shadow in (plain, compiled) if left_to_numpy else (plain,):
            lost = shadow.write(stamps) if store else shadow.read(stamps, begin, orders[0].ordered)
        assert left_to_numpy or not store or (found == LOST) == (lost is not None)
        for a, b in zip(compiled.tables(), plain.tables(), strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(compiled.has, plain.has)
        for order in orders:
            _synchronise(np.random.default_rng(seed * 1000 + now), order, now + 1)
        if now % 50 == 0:  # all cells are as new
            compiled, plain = (GlobalShadow(BLOCKS * THREADS + 2, THREADS) for _ in range(2))
        if random.random() < 0.02:
            begin = now + 1
            native.begin(orders, begin, keyed=False)


def _synchronise(random: np.random.Generator, order: HappensBefore, now: int) -> None:
    mask = np.zeros((BLOCKS, THREADS), bool)
    mask[int(random.integers(0, BLOCKS)) if random.random() < 0.5 else slice(None)] = True
    lane = random.integers(0, BLOCKS * THREADS, 3)
    kind = random.integers(0, 6)
    if kind < 3:
        order.barrier(lanes_of(np.ones_like(mask) if kind else mask), None, now)
    elif kind == 3:
        order.warp_sync(lanes_of(mask), np.uint32(0xFFFFFFFF), now)
    elif kind == 4:
        order.fence(lane, now, "gpu")
        order.exchange(StrongAccess([1, 2, 1], lane), "gpu", now)
    elif kind == 5:
        order.exchange(StrongAccess([1, 1, 2], lane), "gpu", now)


def test_threads_of_one_warp_are_in_order() -> None:
    """Others come after what happened before the last barrier of their block alone."""
    shadow = ClusterShadow(64, 2, 96, 4)
    early = shadow.advance_time()
    mask = np.zeros((2, 96), bool)
    mask[0] = True
    shadow.barrier(lanes_of(mask))
    late = shadow.advance_time()
    cases = [(0, 5, 0, 31), (0, 40, 0, 33), (0, 5, 0, 32), (0, 70, 0, 2), (1, 70, 1, 95), (1, 70, 1, 2), (0, 5, 1, 6)]
    row, thread, other, its_thread = np.array(cases).T
    for time, known in ((early, [1, 1, 1, 1, 1, 0, 0]), (late, [1, 1, 0, 0, 1, 0, 0])):
        found = shadow.knows(row, thread, other, its_thread, np.full(len(cases), time))
        assert found.astype(int).tolist() == known
