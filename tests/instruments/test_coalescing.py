"""The coalescing rule against the hardware's recording and against sets of bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from softlab.instruments.coalescing import global_sectors, ideal_sectors, sectors_by_lane
from softlab.instruments.native_sectors import sectors_of_lanes

RECORDING = Path(__file__).parent.parent / "data" / "lane_patterns_h200.npz"


def oracle(address: list[int], active: list[bool], width: int) -> int:
    """Put every byte that the warp touches in a set; count its 32-byte sectors."""
    touched = {a + k for a, flag in zip(address, active, strict=True) if flag for k in range(width)}
    return len({byte // 32 for byte in touched})


def test_the_hardware_agrees():
    with np.load(RECORDING) as file:
        kind, index, mask, sectors, requests = (
            file[name] for name in ("kind", "index", "active", "sectors", "requests")
        )
    rows = np.flatnonzero(np.char.startswith(kind, "g"))
    assert len(rows) == 1026
    for row in rows:
        width = int(kind[row][3:]) // 8
        active = (mask[row] >> np.arange(32) & 1).astype(bool)
        address = index[row].astype(np.int64) * width
        assert global_sectors(address[None], active[None], width)[0] == sectors[row], (kind[row], address, active)
        assert oracle(address.tolist(), active.tolist(), width) == sectors[row]
        assert requests[row] == active.any()


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_random_accesses(width):
    rng = np.random.default_rng(width)
    base = 0x7F00_0000_0000
    address = base + rng.integers(0, 400, (100, 32)) * width
    active = rng.random((100, 32)) < 0.7
    expected = [oracle(a.tolist(), m.tolist(), width) for a, m in zip(address, active, strict=True)]
    assert global_sectors(address.astype(np.uint64), active, width).tolist() == expected


def test_sector_of_each_lane():
    address = np.arange(32)[None] * 8
    active = np.ones((1, 32), bool)
    active[0, 5] = False
    lanes = sectors_by_lane(address, active, 8)[0].tolist()
    assert lanes == [-1 if lane == 5 else lane * 8 // 32 for lane in range(32)]


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_neighbours_from_an_aligned_base_reach_the_least(width):
    for count in (1, 7, 8, 32):
        active = (np.arange(32) < count)[None]
        assert ideal_sectors(active, width) == global_sectors(np.arange(32)[None] * width, active, width)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="must be one of"):
        global_sectors(np.zeros((1, 32)), np.ones((1, 32), bool), 5)
    with pytest.raises(ValueError, match="multiple of the access width"):
        global_sectors(np.ones((1, 32)), np.ones((1, 32), bool), 4)


@pytest.mark.parametrize("width", [1, 4, 8, 16])
def test_compiled_code_counts_the_sectors_of_lanes(width: int) -> None:
    """Whole warps and parts of them; in a row, mixed, at few places and far apart. The loop runs as Python here."""
    found = np.zeros(32, np.int64)
    for seed in range(40):
        random = np.random.default_rng(seed)
        active = np.repeat(random.random((6, 1)) < 0.6, 32, axis=1) | (random.random((6, 32)) < 0.4)
        most = int(random.choice([8, 40, 5000]))
        address = np.where(
            random.random((6, 1)) < 0.4, np.arange(32) + most, random.integers(0, most, (6, 32))
        ) * width  # fmt: skip
        lanes = np.flatnonzero(active)
        flat = address.reshape(-1)[lanes]
        assert sectors_of_lanes(flat, lanes, len(lanes), width, found) == global_sectors(address, active, width).sum()
