"""What blocks touch: the compiled loops and NumPy give the same, and it is what sets give."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from softlab.emulator.machine.native import Choice, available, compiling
from softlab.sass.streams import Kind, Space
from softlab.timing.touched import ANY, ATOMICS, LOADS, STORES, BlockSectors, Touched

_CHOICES: tuple[Choice, ...] = ("none", "all") if available() else ("none",)
_LOADS = (Kind.LOAD, Kind.ATOMIC, Kind.ASYNC_COPY)
_STORES = (Kind.STORE, Kind.ATOMIC, Kind.REDUCTION)
_ATOMICS = (Kind.ATOMIC, Kind.REDUCTION)


@pytest.mark.parametrize("choice", _CHOICES)
@pytest.mark.parametrize(
    ("requests", "places"), [(60, 40), (60, 1 << 22), (4000, 3000), (4000, 1 << 30)], ids=str
)  # fmt: skip
def test_sectors_of_blocks_are_those_of_sets(requests: int, places: int, choice: Choice) -> None:
    """Of near and far sectors; block 3 has no request, and the blocks come again behind others."""
    random, blocks = np.random.default_rng(requests + places), 5
    row = random.choice([0, 1, 2, 4], requests)
    space = random.choice([int(Space.GLOBAL), int(Space.GLOBAL), int(Space.SHARED)], requests).astype(np.uint8)
    kind = random.integers(0, len(Kind), requests).astype(np.uint8)
    counts = random.integers(0, 5, requests)
    sectors = random.integers(1 << 40, (1 << 40) + places, int(counts.sum()))
    with compiling(choice):
        found = Touched(sectors, counts, row, space, kind, blocks)
        stored = {sector for part in found.by_block(STORES) for sector in part.tolist()}
        loads = Counter(sector for part in found.by_block(LOADS) for sector in part.tolist() if sector not in stored)
        assert dict(zip(*(one.tolist() for one in found.never_stored), strict=True)) == loads
        for bits, kinds in ((ANY, tuple(Kind)), (LOADS, _LOADS), (STORES, _STORES), (ATOMICS, _ATOMICS)):
            wanted: list[set[int]] = [set() for _ in range(blocks)]
            for part, *of in zip(np.split(sectors, np.cumsum(counts)[:-1]), row, space, kind, strict=True):
                if of[1] == Space.GLOBAL and of[2] in kinds:
                    wanted[of[0]].update(part.tolist())
            one, times = found.by_block(bits), Counter(sector for own in wanted for sector in own)
            assert [part.tolist() for part in one] == [sorted(own) for own in wanted]
            assert one.together.dtype == one.every.dtype == one.times.dtype == np.int64
            assert one.every.tolist() == sorted(times)
            assert one.times.tolist() == [times[sector] for sector in sorted(times)]


@pytest.mark.parametrize("choice", _CHOICES)
def test_blocks_without_requests_touch_nothing(choice: Choice) -> None:
    nothing = np.zeros(0, np.int64)
    with compiling(choice):
        found = Touched(nothing, nothing, nothing, nothing.astype(np.uint8), nothing.astype(np.uint8), 2)
        for kinds in (ANY, LOADS, STORES, ATOMICS):
            one = found.by_block(kinds)
            assert [part.tolist() for part in one] == [[], []]
            assert not len(one.every)
            assert not len(one.times)


def test_sectors_of_parts() -> None:
    parts = [np.array([3, 9]), np.zeros(0, np.int64), np.array([9])]
    found = BlockSectors.of(parts)
    assert [part.tolist() for part in found] == [[3, 9], [], [9]]
    assert (found.every.tolist(), found.times.tolist()) == ([3, 9], [1, 2])
    assert BlockSectors.of(found) is found
