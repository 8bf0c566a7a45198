"""Which set of L1 a line lies in."""

import numpy as np
import pytest

from softlab.timing.places import SETS, Places

#: Places of lines in the set of line 71, found on an H200 from a base whose number ends in 18 zeros.
TOGETHER = (71, 566, 2353, 2880, 3370, 3931, 4366, 5397, 5988, 6264, 7267, 7698, 8318, 8719, 9317, 9748, 10504, 11129)


def lost(places: Places, lines: list[int]) -> int:
    """Lines that a walk over all of them in turn loses: those of sets of more than four."""
    counts = np.bincount([places[line] for line in lines], minlength=SETS)
    return int(counts[counts > 4].sum())


def test_lines_that_a_gpu_has_in_one_set():
    places = Places(0, 1)
    assert len({places[line] for line in TOGETHER}) == 1
    assert sum(places[line] == places[71] for line in range(1 << 14)) == 32


@pytest.mark.parametrize("places", [Places(0, 1), Places(60, 8), Places(60, 16)], ids=["no", "few", "many"])
def test_many_lines_at_once_lie_where_each_does(places: Places):
    random = np.random.default_rng(3)
    of_warps = (random.integers(0, 64, 500) << 22) + random.integers(0, 60, 500)
    lines = np.concatenate([random.integers(0, 1 << 45, 500), ~of_warps])
    assert places.of(lines).tolist() == [places[line] for line in lines.tolist()]


def test_the_set_of_a_line_is_the_exclusive_or_of_those_of_its_bits():
    found = Places(0, 1)
    for line in np.random.default_rng(1).integers(1 << 40, size=500).tolist():
        wanted = 0
        for bit in range(22):  # of higher ones nothing is known
            wanted ^= found[line & 1 << bit]
        assert found[line] == wanted


@pytest.mark.parametrize(
    ("stride", "count", "found"), [(31, 384, 5), (5, 448, 5), (5, 512, 10), (5, 1024, 77), (71, 448, 5), (7, 512, 0)]
)
def test_walks_lose_what_an_h200_loses(stride, count, found):
    assert abs(lost(Places(0, 1), [stride * k for k in range(count)]) - found) <= 1


@pytest.mark.parametrize("shift", range(12))
def test_walks_by_powers_of_two_lose_nothing(shift):
    assert lost(Places(0, 1), [k << shift for k in range(1024)]) == 0


def test_local_memory_of_eight_warps_loses_nothing_and_of_more_as_by_chance():
    lines = [~(warp << 22 | line) for warp in range(12) for line in range(72)]
    assert lost(Places(72, 8), lines[: 8 * 72]) == 0
    assert 0.05 < lost(Places(72, 12), lines) / len(lines) < 0.14


@pytest.mark.parametrize(("warps", "own", "loses"), [(16, 16, False), (16, 20, False), (32, 16, True)])
def test_few_lines_of_local_memory_lose_nothing(warps, own, loses):
    """As on 132 SMs of an H200."""
    lines = [~(warp << 22 | line) for warp in range(warps) for line in range(own)]
    assert (lost(Places(own, warps), lines) > 0) is loses
