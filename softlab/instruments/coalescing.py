"""Global-memory coalescing rule: how many 32-byte sectors one warp's request moves.

A sector is 32 aligned bytes, the unit in which the L1 cache asks the L2 cache and the memory. A request is one
warp-wide load or store instruction. It moves each sector that an active lane touches once, however many lanes share it
in whatever order. A request of 8 or 16 bytes per lane is one request, too.
"""

from __future__ import annotations

import numpy as np

from softlab.instruments.banks import WARP, WIDTHS

SECTOR_BYTES = 32


def sector_of(address: np.ndarray) -> np.ndarray:
    """The number of the sector of each byte address. Any shape; int64."""
    return np.asarray(address).astype(np.int64) // SECTOR_BYTES


def global_sectors(address: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
    """Distinct sectors that each warp-wide request touches.

    address: (n, 32) byte addresses, aligned to ``width`` where active, so that no lane spans two sectors; active:
    (n, 32) bool; width: bytes per lane, one of 1, 2, 4, 8, 16. Returns (n,) int64; 0 where no lane is active.
    """
    key = sectors_by_lane(address, active, width)
    key.sort(axis=1)
    different = key >= 0
    different[:, 1:] &= key[:, 1:] != key[:, :-1]
    return different.sum(axis=1)


def sectors_by_lane(address: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
    """The sector that each lane touches, -1 where inactive. Arguments as in :func:`global_sectors`; (n, 32) int64."""
    if width not in WIDTHS:
        raise ValueError(f"access width is {width} bytes per lane; it must be one of {WIDTHS}")
    address = np.asarray(address)
    active = np.asarray(active, bool)
    if address.ndim != 2 or address.shape[1] != WARP or active.shape != address.shape:
        raise ValueError(
            f"address and active are {address.shape} and {active.shape}; both must be (n, {WARP}): one row per warp"
        )
    if (active & (address.astype(np.int64) % width != 0)).any():
        raise ValueError(f"an active lane's address is not a multiple of the access width, {width} bytes")
    return np.where(active, sector_of(address), -1)


def ideal_sectors(active: np.ndarray, width: int) -> np.ndarray:
    """The least sectors that hold ``width`` bytes for each active lane. active: (n, 32) bool; returns (n,) int64."""
    wanted = np.asarray(active, bool).sum(axis=1) * width
    return -(-wanted // SECTOR_BYTES)
