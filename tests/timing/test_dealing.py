"""Blocks are dealt out to SMs in the same way by the compiled loop, by Python's heap and by looking at all places."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import Choice, available, compiling
from softlab.timing.dealing import dealt, places

_CHOICES: tuple[Choice, ...] = ("none", "all") if available() else ("none",)


def _looked_at(takes: list[float], sms: int, resident: int, interval: float) -> list[list[int]]:
    """Each further block takes the place that comes free first; of several the earlier turn, then the lower SM."""
    found: list[list[int]] = [[] for _ in range(sms)]
    first = min(len(takes), sms * resident)
    for block, sm in enumerate(places(first, sms, resident)):
        found[sm].append(block)
    free = {
        (sm, turn): interval * sms * turn + takes[block]
        for sm, own in enumerate(found) for turn, block in enumerate(own)
    }  # fmt: skip
    for block in range(first, len(takes)):
        sm, turn = min(free, key=lambda place: (free[place], place[1], place[0]))
        free[sm, turn] += takes[block]
        found[sm].append(block)
    return sorted(filter(None, found))


@pytest.mark.parametrize("choice", _CHOICES)
@pytest.mark.parametrize(
    ("blocks", "sms", "resident", "kinds"),
    [(5, 8, 2, 3), (40, 7, 2, 1), (500, 17, 3, 2), (700, 132, 4, 50), (1, 1, 1, 1)], ids=str,
)  # fmt: skip
def test_each_block_goes_where_a_place_is_free(
    blocks: int, sms: int, resident: int, kinds: int, choice: Choice
) -> None:
    """Of few kinds of blocks many places come free at the same time."""
    takes = np.random.default_rng(blocks).choice(np.linspace(10.0, 99.0, kinds), blocks)
    for interval in (0.0, 1.25):
        with compiling(choice):
            sm = dealt(takes, sms, resident, interval)
        found = [np.flatnonzero(sm == one).tolist() for one in range(sms)]
        assert sorted(filter(None, found)) == _looked_at(takes.tolist(), sms, resident, interval)
