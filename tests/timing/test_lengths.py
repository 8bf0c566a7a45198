"""How long warps take by themselves, and what their lanes do: compiled loops, their sources in Python, and NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.timing.columns import weigh, weighed
from softlab.timing.lengths import by_numpy, walk, walked


def _warps(seed: int) -> tuple[np.ndarray, ...]:
    """Instructions of all warps, their lengths, cycles and waits of each instruction of the code, and some places."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 60, 20)
    instructions = random.integers(0, 30, lengths.sum()).astype(np.int32)
    places = np.sort(random.integers(0, len(instructions), 50))
    return instructions, lengths, random.random(30) * 100, random.random(30) < 0.4, places


@pytest.mark.parametrize("seed", range(3))
def test_all_forms_find_the_same_lengths(seed):
    instructions, lengths, cycles, waits, places = given = _warps(seed)
    wanted = by_numpy(*given)
    each, waited = np.empty(20), np.empty(50, np.int64)
    walk(instructions, lengths, 20, cycles, waits.astype(np.int64), places, 50, each, waited)
    found = [(each, waited)]
    for choice in ("none", "all") if available() else ("none",):
        with compiling(choice):
            found.append(walked(*given))
    for one in found:
        assert one[0].tobytes() == wanted[0].tobytes()  # the last bit, too
        assert one[1].tolist() == wanted[1].tolist()


def test_all_forms_weigh_the_same():
    instructions, *_ = _warps(5)
    random = np.random.default_rng(6)
    lanes, weights = random.integers(0, 33, len(instructions)).astype(np.uint8), random.integers(0, 3, 30)
    wanted = sum(int(one) * int(weights[k]) for one, k in zip(lanes, instructions, strict=True))
    assert weigh(instructions, lanes.astype(np.int64), weights, len(instructions)) == wanted
    for choice in ("none", "all") if available() else ("none",):
        with compiling(choice):
            assert weighed(instructions, lanes, weights) == wanted
