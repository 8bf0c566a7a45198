"""Shared-memory bank rule: how many wavefronts one warp's access takes, and which lanes each wavefront serves.

Shared memory has 32 banks of 4 bytes; word ``w`` (bytes ``4w`` to ``4w + 3``) lives in bank ``w % 32``. A wavefront is
one pass of the load-store unit through the banks: it touches each bank at one word at most, and any number of lanes may
use that word. So a group of lanes that is served together takes as many wavefronts as the largest number of different
words that it accesses in one bank.

The width decides which lanes are served together, because a wavefront moves at most 32 words:

======== ========================== ==============================
width    stores, and most loads     loads whose lanes are paired
======== ========================== ==============================
1, 2, 4  the whole warp             (the same)
8        half warps (16 lanes)      the whole warp
16       quarter warps (8 lanes)    half warps
======== ========================== ==============================

Lanes are *paired* when every two active lanes ``l`` and ``l ^ 1`` read the same address, or every two active lanes
``l`` and ``l ^ 2`` do. A lane with an inactive partner meets both conditions, and one of them must hold for the whole
warp. A group without an active lane takes no wavefront. Lanes that store different bytes of one word share it.

Source: the pairing is NVIDIA's for compute capability 7.x (developer forum, topic 77228, "Unexpected shared memory
bank conflict"). An H200 took the wavefronts and conflicts computed here in each of the 1206 patterns that were measured
with Nsight Compute: ``tests/data/bank_patterns_h200.json`` and ``lane_patterns_h200.npz`` (recorded by
``tests/hardware/lanes.py``: idle groups, both forms alone and mixed, 8- and 16-bit elements, random lanes and masks).
"""

from __future__ import annotations

import numpy as np

BANKS = 32
BANK_BYTES = 4
WARP = 32
WIDTHS = (1, 2, 4, 8, 16)

#: Lanes whose addresses are compared with each other's in the two forms of the pairing rule.
_PARTNERS = (np.arange(WARP) ^ 1, np.arange(WARP) ^ 2)


def words(address: np.ndarray, width: int) -> np.ndarray:
    """The 4-byte words that an access of ``width`` bytes at each byte offset touches.

    address: any shape. Returns int64 of shape ``address.shape + (max(1, width // 4),)``.
    """
    _check_width(width)
    first = np.asarray(address, np.int64) // BANK_BYTES
    return first[..., None] + np.arange(max(1, width // BANK_BYTES))


def wavefronts_and_conflicts(
    address: np.ndarray, active: np.ndarray, width: int, store: bool | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Wavefronts that each warp-wide shared-memory access takes, and those of them that are bank conflicts.

    address: (n, 32) byte offsets, aligned to ``width`` where active; active: (n, 32) bool; width: bytes per lane, one
    of 1, 2, 4, 8, 16; store: bool, or (n,) bool. Returns (n,) int64 twice; 0 where no lane is active. Bank conflicts
    are the wavefronts beyond the least possible, which is one for each group of lanes with an active lane. They equal
    Nsight Compute's ``l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{ld,st}``.
    """
    fullest = _fullest(*_units(address, active, width, store), width)
    return fullest.sum(axis=1), (fullest - (fullest > 0)).sum(axis=1)


def assign_wavefronts(address: np.ndarray, active: np.ndarray, width: int, store: bool | np.ndarray) -> np.ndarray:
    """One schedule of least length: which wavefront serves each lane.

    Arguments as in :func:`wavefronts_and_conflicts`. Returns (n, 32) int64, -1 for inactive lanes. Groups go in the
    order of their lanes. Different words of one bank go in the order of the lowest lane that accesses each. The
    hardware's own order is not known; the number of wavefronts is.
    """
    unit, group, active = _units(address, active, width, store)
    groups = max(1, width // BANK_BYTES)
    slots = BANKS // groups
    lanes = np.arange(WARP)
    both = active[:, :, None] & active[:, None, :] & (group[:, :, None] == group[:, None, :])
    same = both & (unit[:, :, None] == unit[:, None, :])
    leader = np.where(same, lanes, WARP).min(axis=2)
    leads = active & (leader == lanes)
    slot = unit % slots
    rival = both & (slot[:, :, None] == slot[:, None, :]) & leads[:, None, :] & (lanes < leader[:, :, None])
    rank = rival.sum(axis=2)
    length = np.zeros((len(unit), groups), np.int64)
    row, lane = np.nonzero(active)
    np.maximum.at(length, (row, group[row, lane]), rank[row, lane] + 1)
    start = np.cumsum(length, axis=1) - length
    return np.where(active, rank + np.take_along_axis(start, group, axis=1), -1)


def lane_groups(address: np.ndarray, active: np.ndarray, width: int, store: bool | np.ndarray) -> np.ndarray:
    """The group of each lane: lanes of one group are served together. Arguments as above; (n, 32) int64."""
    return _units(address, active, width, store)[1]


#: Group numbers sit above the unit in a sort key; shared memory is far smaller than 2**40 bytes.
_GROUP_SHIFT = 40


def _units(
    address: np.ndarray, active: np.ndarray, width: int, store: bool | np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(unit, group, active), each (n, 32). A unit is the aligned run of words that one lane's access covers.

    An aligned access of k words covers k neighbouring banks, and two units never overlap in part. So "different words
    of one bank" are "different units of one slot", with 32 / k slots of k banks.
    """
    _check_width(width)
    address = np.asarray(address, np.int64)
    active = np.asarray(active, bool)
    if address.ndim != 2 or address.shape[1] != WARP or active.shape != address.shape:
        raise ValueError(
            f"address and active are {address.shape} and {active.shape}; both must be (n, {WARP}): one row per warp"
        )
    if (active & (address % width != 0)).any():
        raise ValueError(f"an active lane's address is not a multiple of the access width, {width} bytes")
    unit = address // max(BANK_BYTES, width)
    together = np.full(len(address), WARP // max(1, width // BANK_BYTES))
    if width > BANK_BYTES:
        together = np.where(_paired(address, active) & ~np.asarray(store, bool), 2 * together, together)
    group = np.arange(WARP) // together[:, None]
    return unit, group, active


def _fullest(unit: np.ndarray, group: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
    """(n, groups) wavefronts of each group: the most different units that one slot holds, 0 where no lane is active."""
    groups = max(1, width // BANK_BYTES)
    slots = BANKS // groups
    # Equal units of one group become neighbours; the first of each run is one different unit. Inactive lanes sort last.
    last = np.iinfo(np.int64).max
    key = np.where(active, group << _GROUP_SHIFT | unit, last)
    key.sort(axis=1)
    first = key != last
    first[:, 1:] &= key[:, 1:] != key[:, :-1]
    row, column = np.nonzero(first)
    key = key[row, column]
    bin_index = (row * groups + (key >> _GROUP_SHIFT)) * slots + key % slots
    different = np.bincount(bin_index, minlength=len(unit) * groups * slots)
    return different.reshape(-1, groups, slots).max(axis=2)


def _paired(address: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n,) bool: every two active partner lanes read the same address, in either form of the pairing rule."""
    forms = [((address == address[:, partner]) | ~active | ~active[:, partner]).all(axis=1) for partner in _PARTNERS]
    return forms[0] | forms[1]


def _check_width(width: int) -> None:
    if width not in WIDTHS:
        raise ValueError(f"access width is {width} bytes per lane; it must be one of {WIDTHS}")
