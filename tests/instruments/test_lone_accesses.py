"""Accesses that are recorded alone, beside a shadow that is told each access without memory of earlier ones.

What is recorded must be what :meth:`Shadow.record_alone` and :meth:`Shadow.record_again` record of a pattern made anew;
and it is recorded just where the addresses are known, all blocks make the access, and nothing else forbids it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Box, Lanes, Value, lanes_of
from softlab.emulator.machine.native import available
from softlab.emulator.memory.known_addresses import KnownAddresses
from softlab.instruments import lone_accesses
from softlab.instruments.lone_accesses import LoneAccesses
from softlab.instruments.native_shadow import NativeShadow
from softlab.instruments.shadow import Shadow
from softlab.instruments.shadow_patterns import AccessPattern
from tests.sampled import turns

BLOCKS, THREADS, WORDS, GRANULE = 3, 96, 117, 4
BOXES = [(None, None), (None, (0, 64)), (None, (0, 32)), (None, (32, 64)), (None, (5, 6)), ((0, 2), None)]


def box(rows: tuple[int, int] | None, columns: tuple[int, int] | None) -> Box:
    mask = np.zeros((BLOCKS, THREADS), bool)
    mask[slice(*(rows or (0, BLOCKS))), slice(*(columns or (0, THREADS)))] = True
    found = lanes_of(mask)
    assert isinstance(found, Box)
    return found


class Both:
    """The accesses under test, on one shadow, and the same on another one."""

    def __init__(self, compiled: str, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
        monkeypatch.setattr(lone_accesses, "_MOST_FOUND", most)
        self.shadow, self.plain = (Shadow(WORDS * GRANULE, BLOCKS, THREADS, GRANULE) for _ in range(2))
        for shadow in self.shadows:
            shadow.written_before(slice(0, WORDS))
        self.known, self.most = KnownAddresses(), most
        native = None if compiled == "none" else NativeShadow(self.shadow)
        program = SimpleNamespace(fact=lambda kind: kind(None))
        batch: Any = SimpleNamespace(compiled=compiled, shared=SimpleNamespace(known=self.known), program=program)
        self.lone = LoneAccesses(batch, self.shadow, native)
        #: Accesses that have come before, as the object under test may remember them.
        self.seen: set[Any] = set()
        self.tables: Any = None
        self.asked: list[tuple[int, int]] = []

    @property
    def shadows(self) -> tuple[Shadow, Shadow]:
        return self.shadow, self.plain

    def words(self, lanes: Lanes, address: Value, per_lane: int) -> np.ndarray:
        flat = np.broadcast_to(address, (1, lanes.extent[-1]))[0].astype(np.int64)
        return flat[:, None] // GRANULE + np.arange(per_lane)

    def expected(self, lanes: Lanes, address: Value, per_lane: int, may: bool, store: bool, again: bool) -> bool:
        """Whether the access is recorded alone; and then the plain shadow records it."""
        is_known = not isinstance(address, np.ndarray) or address.shape[0] == 1
        shadow = self.plain
        if not shadow.alike or shadow.has_meetings or not isinstance(lanes, Box) or lanes.rows is not None:
            return False
        if not is_known or not may or (again and not shadow.has_only_barriers):
            return False
        if self.tables is not self.shadow.stamps(True):
            self.tables = self.shadow.stamps(True)
            self.seen.clear()
        key = store, again, per_lane, np.asarray(address).tobytes(), lanes.column_key
        if key not in self.seen:
            if len(self.seen) >= self.most:
                self.seen.clear()
            self.seen.add(key)
            if again:
                return False
        first = int(np.asarray(address).reshape(-1)[0]) // GRANULE
        pattern = shadow.pattern(self.words(lanes, address, per_lane), lanes.column_index[0], first)
        return shadow.record_again(pattern, first) if again else shadow.record_alone(pattern, first, store)

    def access(self, lanes: Lanes, address: Value, per_lane: int, may: bool, store: bool, again: bool) -> bool:
        for shadow in self.shadows:
            shadow.begin_access(5)
        site: Any = SimpleNamespace(store=store, width=per_lane * GRANULE)

        def may_be(first: int, end: int) -> bool:
            self.asked.append((first, end))
            return may

        def make(made: Any, of: Lanes, at: Value, first: int) -> AccessPattern:
            assert (made, of, at is address) == (site, lanes, True)
            return self.shadow.pattern(self.words(of, at, per_lane), of.column_index[0], first)

        shape = np.arange(per_lane).tobytes()
        found = self.lone.record(site, lanes, address, shape, may_be, make, again)
        assert found == self.expected(lanes, address, per_lane, may, store, again)
        assert len(self.lone._found) <= self.most
        if self.asked:
            flat = np.asarray(address)
            assert self.asked.pop() == (flat.min(), flat.max() + per_lane * GRANULE)
        if not found and self.plain.alike and lanes.extent[0] == BLOCKS and np.shape(address)[:1] != (BLOCKS,):
            row, thread = np.zeros(lanes.extent[1], np.int64), lanes.column_index[0]
            for shadow in self.shadows:
                does = shadow.write_strong if again else shadow.write if store else shadow.read
                does(row, self.words(lanes, address, per_lane), thread)
        for written in (False, True):
            np.testing.assert_array_equal(self.shadow.stamps(written), self.plain.stamps(written))
        a, b = self.shadow.known_threads, self.plain.known_threads
        np.testing.assert_array_equal(-1 if a is None else a, -1 if b is None else b)
        return found


def drawn(random: np.random.Generator, lanes: Box) -> tuple[Value, int]:
    """An address per lane, or one for all; and the words per lane."""
    count, first = lanes.extent[1], 4 * int(random.integers(0, 4))
    kind, per_lane = random.random(), int(random.choice([1, 2]))
    if kind < 0.2:
        return np.uint32(first), per_lane
    lane = np.arange(count, dtype=np.uint32)
    address = first + 4 * (lane % 32 if kind < 0.4 else lane // 8 if kind < 0.6 else per_lane * lane % 80)
    shape = (BLOCKS, 1) if kind > 0.95 and lanes.extent[0] == BLOCKS else (1, 1)
    return np.tile(address.astype(np.uint32)[None], shape), per_lane


@pytest.mark.parametrize(("compiled", "most"), turns(2, ["none", "all"], [3, 4096]))
def test_an_access_is_recorded_as_without_memory(compiled: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if compiled == "all" and not available():
        pytest.skip("llvmlite is not installed")
    taken = {(store, again): 0 for store in (False, True) for again in (False, True) if store >= again}
    for seed in range(4):
        random, both = np.random.default_rng(seed), Both(compiled, monkeypatch, most)
        before: list[tuple[Box, Value, int, bool, bool]] = []
        for _ in range(150):
            lanes = box(*BOXES[random.choice(len(BOXES), p=[0.3, 0.3, 0.15, 0.15, 0.05, 0.05])])
            address, per_lane = drawn(random, lanes)
            store, again = list(taken)[random.choice(3, p=[0.4, 0.3, 0.3])]
            if random.random() < 0.6 and before:
                lanes, address, per_lane, store, again = before[-1 - int(random.integers(min(4, len(before))))]
            before.append((lanes, address, per_lane, store, again))
            found = both.access(lanes, address, per_lane, bool(random.random() < 0.95), store, again)
            taken[store, again] += found
            if random.random() < 0.25:
                for shadow in both.shadows:
                    shadow.barrier(box(None, None), None)
    assert min(taken.values()) > 5, taken


@pytest.mark.parametrize("change", ["apart", "meetings", "fence"])
def test_what_orders_accesses_otherwise_forbids_it(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    both, lanes = Both("none", monkeypatch, 4096), box(None, None)
    address = np.arange(THREADS, dtype=np.uint32)[None] * GRANULE
    assert both.access(lanes, address, 1, True, True, False)
    for _ in range(2):
        both.access(lanes, np.uint32(320), 1, True, True, True)
    assert both.access(lanes, np.uint32(320), 1, True, True, True)
    for shadow in both.shadows:
        if change == "apart":
            shadow.tell_apart()
        elif change == "meetings":
            shadow.expect_meetings()
        else:
            shadow.fence(np.zeros(1, np.int64), np.zeros(1, np.int64))
    assert not both.access(lanes, np.uint32(320), 1, True, True, True)
    assert both.access(lanes, address[:, ::-1], 1, True, False, False) is False, "written since the last barrier"
    for shadow in both.shadows:
        shadow.barrier(lanes, None)
    assert both.access(lanes, address, 1, True, False, False) == (change == "fence")
