"""The compiled search for cells finds what NumPy finds, and leaves faults to it."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.sass.lanes import Lanes
from softlab.sass.memory import BlockMemory, interleaved
from softlab.sass.native_cells import cells

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")
_ROW = 256


def _lanes(random: np.random.Generator, whole: bool) -> Lanes:
    live = np.full(5, 0xFFFFFFFF, np.uint32)
    warps = np.array([0, 2, 3])
    masks = live[warps] if whole else random.integers(1, 1 << 32, 3, dtype=np.uint64).astype(np.uint32)
    return Lanes(warps, masks, live)


def _value(random: np.random.Generator, now: Lanes, shape: tuple[int, ...], width: int) -> np.ndarray:
    return random.integers(0, (_ROW - 16) // width, shape).astype(np.uint64) * np.uint64(width)


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("shape", ["lanes", "warps", "one row", "some lanes", "scattered", "shared"])
def test_cells_and_places_are_those_of_numpy(shape, local, width, every):
    random = np.random.default_rng(width)
    now = _lanes(random, shape not in ("some lanes", "scattered"))
    now.dense = shape != "scattered"
    shapes = {"lanes": (3, 32), "warps": (3, 1), "one row": (1, 32), "some lanes": (3, 32),
              "scattered": (np.count_nonzero(now.active),), "shared": ()}  # fmt: skip
    value = _value(random, now, shapes[shape], width)
    active = now.active & (every | (random.random((3, 32)) < 0.8))
    memory = BlockMemory(5 * 32 if local else 5, _ROW, "fault")
    rows = now.warps * 32 if local else now.warps.copy()
    with compiling("all"):
        found = cells(now, value, active, rows, memory, 16, width, local=local)
    assert found is not None
    address = now.spread(value).astype(np.int64) + 16
    row = rows[:, None] + np.arange(32) * local
    np.testing.assert_array_equal(found[1], memory.item_index(row[active], address[active], width))
    logged = interleaved(address) if local else address
    np.testing.assert_array_equal(found[0][active], logged[active])


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize(("offset", "width"), [(_ROW, 4), (_ROW - 4, 8), (2, 4), (-4, 4)])
def test_faults_are_left_to_numpy(offset, width, every):
    now = _lanes(np.random.default_rng(0), True)
    memory, active = BlockMemory(5, _ROW, "fault"), now.active.copy()
    active[1, 3] = every
    with compiling("all"):
        found = cells(now, np.uint64(0), active, now.warps.copy(), memory, offset, width, local=False)
    assert found is None


def test_a_fault_of_one_lane_is_left_to_numpy():
    now = _lanes(np.random.default_rng(0), True)
    value = np.zeros((3, 32), np.uint64)
    value[2, 31] = _ROW
    with compiling("all"):
        found = cells(now, value, now.active, now.warps.copy(), BlockMemory(5, _ROW, "fault"), 0, 4, local=False)
    assert found is None


def test_without_a_compiler_numpy_looks():
    now = _lanes(np.random.default_rng(0), True)
    with compiling("none"):
        found = cells(now, np.uint64(0), now.active, now.warps, BlockMemory(5, _ROW, "fault"), 0, 4, local=False)
    assert found is None
