"""The compiled layouts of what warps executed and accessed, and NumPy's, give the same."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.sass.layout import arranged, arranged_by_numpy, by_numpy, lay_out, measured, place


def _entries(count: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(count)
    warp, length = random.integers(0, 6, count), random.integers(1, 9, count)
    mask = random.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32)
    limits = np.concatenate(([0], np.cumsum(np.bincount(warp, length, 6).astype(np.int64))))
    return warp, mask, random.integers(0, 900, count), length, limits


@pytest.mark.parametrize("count", [0, 1, 300])
def test_all_forms_give_the_same_layout(count):
    warp, mask, start, length, limits = _entries(count)
    total = int(limits[-1])
    wanted = by_numpy(warp, mask, start, length, total)
    made = np.zeros(total, np.int32), np.zeros(total, np.uint32), np.zeros(count, np.int64)
    place(warp, mask, start, length, np.arange(count), count, limits.copy(), made[2], made[0], made[1])
    forms = [made]
    for choice in ("none", "all") if available() else ("none",):
        with compiling(choice):
            forms.append(lay_out(warp, mask, start, length, limits))
    for found in forms:
        for one, other in zip(found, wanted, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("choice", ["none", "all"] if available() else ["none"])
def test_entries_may_be_in_another_order(choice):
    """The entries backwards, in the order that turns them round again."""
    warp, mask, start, length, limits = _entries(300)
    back = slice(None, None, -1)
    with compiling(choice):
        wanted = lay_out(warp, mask, start, length, limits)
        found = lay_out(warp[back], mask[back], start[back], length[back], limits, np.arange(300)[back])
    for one, other in zip(found, (*wanted[:2], wanted[2][back]), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("choice", ["none", "all"] if available() else ["none"])
def test_lanes_of_a_warp_part_where_its_runs_have_other_lanes(choice):
    warp, mask, _, length, limits = _entries(300)
    same, entry = np.array([7, 9, 7, 0, 1, 5], np.uint32)[warp], 40
    other = np.where(np.arange(300) == entry, same + np.uint32(1), same)
    with compiling(choice):
        found = [measured(warp, one, length, 6) for one in (mask, same, other)]
        empty = measured(warp[:0], mask[:0], length[:0], 6)
    for ends, _ in found:
        np.testing.assert_array_equal(ends, limits)
    assert [part for _, part in found] == [True, False, True]
    assert empty[0].tolist() == [0] * 7
    assert not empty[1]


def test_a_warp_has_its_runs_in_their_order():
    warp, mask = np.array([1, 0, 1]), np.array([3, 1, 2], np.uint32)
    instruction, active, begins = lay_out(warp, mask, np.array([0, 0, 7]), np.array([2, 2, 1]), np.array([0, 2, 5]))
    assert instruction.tolist() == [0, 1, 0, 1, 7]
    assert active.tolist() == [1, 1, 3, 3, 2]
    assert begins.tolist() == [2, 0, 4]


def _requests(count: int) -> tuple[np.ndarray, ...]:
    """Requests of six warps with 0 to 40 instructions each, some of them two of one instruction, out of order."""
    random = np.random.default_rng(count)
    limits = np.concatenate(([0], np.cumsum(random.integers(0, 40, 6))))
    limits[-1] += 1
    place = np.sort(random.integers(0, limits[-1], count))[np.argsort(random.integers(0, 3, count), kind="stable")]
    counts = random.integers(0, 5, count)
    space, kind = random.integers(0, 5, (2, count)).astype(np.uint8)
    return place, space, kind, random.integers(0, 40, count), counts, random.integers(0, 1 << 40, counts.sum()), limits


@pytest.mark.parametrize("count", [0, 1, 300])
def test_all_forms_give_the_same_requests(count):
    given = _requests(count)
    wanted = arranged_by_numpy(*given)
    for choice in ("none", "all") if available() else ("none",):
        with compiling(choice):
            for one, other in zip(arranged(*given), wanted, strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(one, other)


def test_a_warp_has_its_requests_in_the_order_of_its_instructions():
    place, kind = np.array([4, 0, 4]), np.array([1, 2, 3], np.uint8)
    found = arranged(
        place, kind, kind, np.arange(3), np.array([1, 2, 1]), np.array([9, 5, 6, 7]), np.array([0, 2, 3, 6])
    )
    position, _, kinds, passes, offsets, sectors, requests, begins = (one.tolist() for one in found)
    assert (position, kinds, passes) == ([0, 1, 1], [2, 1, 3], [1, 0, 2])
    assert (offsets, sectors) == ([0, 2, 0, 0, 1, 2], [5, 6, 9, 7])
    assert (requests, begins) == ([0, 1, 1, 3], [0, 2, 2, 4])
