"""The compiled loops over the lanes of a set give what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.sass import native_lanes
from softlab.sass.lanes import Lanes, pack

needs_llvm = pytest.mark.skipif(not available(), reason="needs llvmlite")
LIVE = np.full(12, 0xFFFFFFFF, np.uint32)


def _set(random: np.random.Generator, count: int) -> Lanes:
    warps = np.sort(random.choice(12, count, replace=False))
    masks = random.integers(1, 1 << 32, count, dtype=np.uint32)
    return Lanes(warps, masks, LIVE)


@needs_llvm
@pytest.mark.parametrize("count", [1, 2, 12])
def test_the_lanes_where_a_predicate_holds(count):
    random = np.random.default_rng(count)
    for shape in {(count, 32), (count, 1), (1, 32), (1, 1)}:
        for _ in range(20):
            lanes, predicate = _set(random, count), random.random(shape) < 0.5
            wanted = pack(np.broadcast_to(predicate, (count, 32))) & lanes.masks
            with compiling("all"):
                np.testing.assert_array_equal(lanes.truth(predicate), wanted)
                turned = np.asfortranarray(predicate)  # its rows do not lie without gaps
                np.testing.assert_array_equal(lanes.truth(turned), wanted)
            with compiling("none"):
                assert native_lanes.held(predicate, lanes.masks) is None
                np.testing.assert_array_equal(lanes.truth(predicate), wanted)


@needs_llvm
def test_masks_that_hold_everywhere_are_the_masks_themselves():
    lanes = _set(np.random.default_rng(1), 5)
    with compiling("all"):
        assert lanes.truth(lanes.active) is lanes.masks
        some = lanes.truth(np.zeros((5, 32), bool))
    assert some is not lanes.masks
    assert not some.any()


@needs_llvm
def test_the_two_sides_of_a_branch():
    random = np.random.default_rng(2)
    for count in (1, 2, 7, 12):
        for share in (0.0, 0.5, 1.0):
            lanes = _set(random, count)
            held = lanes.masks & np.where(random.random(count) < share, random.integers(1 << 32, size=count), 0)
            held = held.astype(np.uint32)
            with compiling("all"):
                inside, inside_masks, outside, outside_masks = native_lanes.parted(lanes.warps, lanes.masks, held)
            for warps, masks, wanted in (
                (inside, inside_masks, held), (outside, outside_masks, lanes.masks & ~held),
            ):  # fmt: skip
                np.testing.assert_array_equal(warps, lanes.warps[wanted != 0])
                np.testing.assert_array_equal(masks, wanted[wanted != 0])
                assert masks.dtype == np.uint32
            with compiling("none"):
                assert native_lanes.parted(lanes.warps, lanes.masks, held) is None


def test_the_sources_in_python_are_what_is_compiled():
    predicate, masks = np.array([[True] * 31 + [False], [False] + [True] * 31]), np.array([0xFFFFFFFF, 0xF0], np.uint32)
    words = predicate.astype(np.int64).reshape(-1)
    held = np.zeros(2, np.uint32)
    assert native_lanes.hold(words, 32, 1, masks.astype(np.int64), 2, held) == 0
    assert held.tolist() == [0x7FFFFFFF, 0xF0]
    warps, made = np.array([3, 8]), [np.zeros(3, np.int64) for _ in range(4)]
    assert native_lanes.part(warps, masks.astype(np.int64), held.astype(np.int64), 2, *made) == 2
    assert [one.tolist() for one in made] == [[3, 8, 0], [0x7FFFFFFF, 0xF0, 0], [3, 0, 1], [1 << 31, 0, 0]]
