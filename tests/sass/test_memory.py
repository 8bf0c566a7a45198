"""What a kernel writes goes to pages of its own, and the caller's bytes stay."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.memory.allocations import Allocations
from softlab.sass.memory import GlobalMemory

_PAGE = 4096


@pytest.fixture(autouse=True)
def used_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """New memory holds what others have left there."""
    monkeypatch.setattr(np, "empty", lambda *size: np.full(*(size[:1]), 0xA5, *size[1:]))


@pytest.mark.parametrize("lead", [0, 4])
@pytest.mark.parametrize("nbytes", [40, _PAGE, 3 * _PAGE, 3 * _PAGE + 100])
def test_stores_keep_all_other_bytes(nbytes, lead):
    """Also in the last page, which is not a whole one, and behind other stores to the same page."""
    random = np.random.default_rng(nbytes)
    mine = random.integers(0, 256, nbytes + lead, dtype=np.uint8)
    before, expected = mine.copy(), mine[lead:].copy()
    memory = Allocations()
    base = memory.add(mine[lead:], name="x", index=0, offset=lead)
    found = GlobalMemory(memory)
    for _ in range(3):
        words = np.unique(np.concatenate(([nbytes // 4 - 1], random.integers(0, nbytes // 4, 2))))
        items = random.integers(0, 1 << 32, len(words), dtype=np.uint64).astype(np.uint32)
        found.store(base + 4 * words, 4, items)
        expected.view(np.uint32)[words] = items
        assert found.load(base + 4 * np.arange(nbytes // 4), 4).tobytes() == expected.tobytes()
    assert found.content(0).tobytes() == expected.tobytes()
    assert mine.tobytes() == before.tobytes()
