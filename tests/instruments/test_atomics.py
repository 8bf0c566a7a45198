"""Turns and sectors of atomics, for addresses from 0 on."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.instruments.atomics import atomic_sectors, turns


@pytest.mark.parametrize(
    ("addresses", "sectors"),
    [
        ([0], 1), ([0] * 32, 32), ([0, 32, 64], 3), ([0, 4, 8, 28], 1), ([0, 4, 28, 32], 2), ([0, 1024, 2048], 3),
        ([0, 1024, 4], 2), ([0, 0, 4, 4], 2), ([0, 0, 4], 2), ([], 0), (list(range(0, 128, 4)), 4),
    ],
)  # fmt: skip
def test_a_sector_counts_once_per_turn(addresses: list[int], sectors: int) -> None:
    """Lanes at one address, or a multiple of 1024 bytes apart, take turns; lanes that do not access do not count."""
    for base in (0, 1 << 20):
        address, active = np.zeros((2, 32), np.uint64), np.zeros((2, 32), bool)
        address[1, : len(addresses)] = base + np.array(addresses, np.uint64)
        active[1, : len(addresses)] = True
        assert atomic_sectors(address, active).tolist() == [0, sectors]


def test_lanes_at_one_address_go_one_after_the_other() -> None:
    address = np.array([[8, 0, 8, 4, 0, 8] + [0] * 26, [0] * 32])
    active = np.arange(32)[None] < np.array([[6], [3]])
    assert turns(address, active).tolist() == [[0, 0, 1, 0, 1, 2] + [-1] * 26, [0, 1, 2] + [-1] * 29]
