"""What a kernel writes goes to pages of its own, and the caller's bytes stay."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import Choice, available, compiling
from softlab.emulator.memory.allocations import Allocations
from softlab.sass import memory as memories
from softlab.sass.memory import GlobalMemory, Spare

_PAGE = 4096
_CHOICES: tuple[Choice, ...] = ("none", "all") if available() else ("none",)


@pytest.fixture(autouse=True)
def used_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """New memory holds what others have left there."""
    monkeypatch.setattr(np, "empty", lambda *size: np.full(*(size[:1]), 0xA5, *size[1:]))


@pytest.mark.parametrize("choice", _CHOICES)
@pytest.mark.parametrize("many", [1, 256])
@pytest.mark.parametrize("lead", [0, 4])
@pytest.mark.parametrize("nbytes", [40, _PAGE, 3 * _PAGE, 3 * _PAGE + 100, 40 * _PAGE])
def test_stores_keep_all_other_bytes(nbytes, lead, many, choice, monkeypatch):
    """Also in the last page, which is not a whole one, behind other stores to the same page, and where pages in a row
    are copied together."""
    monkeypatch.setattr(memories, "_MANY", many)
    random = np.random.default_rng(nbytes)
    mine = random.integers(0, 256, nbytes + lead, dtype=np.uint8)
    before, expected = mine.copy(), mine[lead:].copy()
    memory = Allocations()
    base = memory.add(mine[lead:], name="x", index=0, offset=lead)
    found = GlobalMemory(memory)
    for _ in range(3):
        words = np.unique(np.concatenate(([nbytes // 4 - 1], random.integers(0, nbytes // 4, 2 + nbytes // _PAGE))))
        items = random.integers(0, 1 << 32, len(words), dtype=np.uint64).astype(np.uint32)
        with compiling(choice):
            found.store(base + 4 * words, 4, items)
        expected.view(np.uint32)[words] = items
        assert found.load(base + 4 * np.arange(nbytes // 4), 4).tobytes() == expected.tobytes()
    assert found.content(0).tobytes() == expected.tobytes()
    assert mine.tobytes() == before.tobytes()


def test_memory_that_a_launch_lets_go_of_is_the_next_ones(monkeypatch):
    """What it has left there is not seen."""
    spare = Spare(2 * _PAGE, 1 << 20)
    monkeypatch.setattr(memories, "_SPARE", spare)
    mine = np.arange(3 * _PAGE // 4, dtype=np.uint32)
    whole = mine.view(np.uint8)
    arrays = Allocations()
    base = arrays.add(whole, name="x", index=0)
    first = GlobalMemory(arrays)
    first.store(base + 4 * np.arange(len(mine)), 4, np.full(len(mine), 7, np.uint32))
    place = first.places(stores=True)[0, 4]
    first.let_go()
    second = GlobalMemory(arrays)
    second.store(base + np.array([8]), 4, np.array([9], np.uint32))
    assert second.places(stores=True)[0, 4] == place
    expected = mine.copy()
    expected[2] = 9
    assert second.load(base + 4 * np.arange(len(mine)), 4).tolist() == expected.tolist()
    assert second.content(0).tobytes() == expected.tobytes()


def test_spare_memory_is_the_least_that_fits_and_not_too_much():
    spare = Spare(100, 1000)
    large, small, tiny = (np.zeros(n, np.uint8) for n in (500, 300, 99))
    for one in (large, small, tiny):
        spare.keep(one)
    assert spare.take(50) is not tiny
    assert spare.take(250) is small
    assert spare.take(250) is large
    assert len(spare.take(250)) == 250
    for one in (large, small, new := np.zeros(450, np.uint8)):
        spare.keep(one)  # 1250 bytes: what was kept first goes
    spare.keep(np.zeros(1001, np.uint8))  # more than all
    assert len(spare.take(1001)) == 1001
    assert spare.take(450) is new
    assert spare.take(300) is small
    assert len(spare.take(300)) == 300
