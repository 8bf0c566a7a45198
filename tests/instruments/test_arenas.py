"""Arrays that launches use one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.instruments import arenas
from softlab.instruments.arenas import Arenas


def test_an_array_that_nobody_uses_is_given_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest that is large enough; of too many the largest ones are kept."""
    monkeypatch.setattr(arenas, "_MOST_BYTES", 8 * 60)
    pool = Arenas()
    small, large = pool.take(10), pool.take(40)
    for array in (small, large):
        pool.give(array)
    again = pool.take(8)
    assert (len(again), again.base is small) == (8, True)
    larger = pool.take(20)
    assert (len(larger), larger.base is large) == (20, True)
    assert pool.take(1).base is None, "both are in use"
    pool.give(larger)
    pool.give(again)
    pool.give(np.empty(15, np.int64))
    whole = [pool.take(1).base for _ in range(2)]
    assert [one is not None and len(one) for one in whole] == [15, 40], "one of 10 items was too many"
    assert pool.take(1).base is None
    pool.give(np.empty(61, np.int64))
    assert pool.take(1).base is None
