"""What special registers hold in the warps of a launch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.sass.lanes import WARP, Value
from softlab.sass.setup import Setup

#: Warps that an SM of compute capability 9.0 holds.
_MOST_WARPS = 64
#: Those that a warp has once, and those that its lanes have, in the order by which compiled code names them.
OF_WARPS = ("SR_CTAID.X", "SR_CTAID.Y", "SR_CTAID.Z", "SR_CgaCtaId")
OF_LANES = (
    *OF_WARPS, "SR_TID.X", "SR_TID.Y", "SR_TID.Z", "SR_LANEID", "SR_EQMASK", "SR_LTMASK", "SR_LEMASK", "SR_GTMASK",
    "SR_GEMASK", "SRZ",
)  # fmt: skip


def special(name: str, setup: Setup) -> Value | None:
    """The uint32 of a special register in all warps: a scalar, (warps, 1), (1, 32) or (warps, 32). None: not known."""
    if name in _OF_THREADS:
        return _per_thread(_OF_THREADS[name], setup)
    if name in _OF_BLOCKS:
        value = _OF_BLOCKS[name](setup).astype(np.uint32)
        return value[0] if (value == value[0]).all() else value[setup.row_of_block][:, None]
    if name in _OF_LAUNCHES:
        return np.uint32(_OF_LAUNCHES[name](setup))
    return np.arange(WARP, dtype=np.uint32)[None, :] if name == "SR_LANEID" else _lane_mask(name)


def _per_thread(of: Callable[[np.ndarray, Setup], np.ndarray], setup: Setup) -> Value:
    """What the threads of each block hold."""
    value = of(np.arange(setup.warps_per_block * WARP), setup).astype(np.uint32)
    if (value == value[0]).all():
        return value[0]
    every = np.empty((setup.blocks, len(value)), np.uint32)
    every[:] = value
    return every.reshape(-1, WARP)


#: By name what the threads of a block hold, from their numbers.
_OF_THREADS: dict[str, Callable[[np.ndarray, Setup], np.ndarray]] = {
    "SR_TID.X": lambda thread, setup: thread % setup.block[0],
    "SR_TID.Y": lambda thread, setup: thread // setup.block[0] % setup.block[1],
    "SR_TID.Z": lambda thread, setup: thread // (setup.block[0] * setup.block[1]),
    "SR_WARPID": lambda thread, setup: thread // WARP,
    "SR_VIRTID": lambda thread, setup: thread // WARP << 8,  # the code takes bits 8 to 14 of it
}
#: What each interpreted block holds.
_OF_BLOCKS: dict[str, Callable[[Setup], np.ndarray]] = {
    "SR_CTAID.X": lambda setup: setup.coordinates[0],
    "SR_CTAID.Y": lambda setup: setup.coordinates[1],
    "SR_CTAID.Z": lambda setup: setup.coordinates[2],
    "SR_CgaCtaId": lambda setup: setup.rank,
    "SR_CTAID_IN_CLUSTER.X": lambda setup: setup.coordinates[0] % setup.cluster[0],
    "SR_VIRTUALSMID": lambda setup: setup.interpreted % setup.sm_count,
}
#: What is the same for all.
_OF_LAUNCHES: dict[str, Callable[[Setup], int]] = {
    "SR_CgaSize": lambda setup: setup.blocks_per_cluster,
    "SR_SWINHI": lambda setup: 0x7000,
    "SR_SWINLO": lambda setup: 0,
    "SR_DYN_SMEM_SIZE": lambda setup: setup.dynamic_bytes,
    "SR_VIRTCFG": lambda setup: _MOST_WARPS << 8,  # the code takes bits 8 to 15 of it
    "SR_SMEMSZ": lambda setup: setup.shared_bytes,
    "SRZ": lambda setup: 0,
}


def _lane_mask(name: str) -> np.ndarray | None:
    """(1, 32): the lanes that are equal to, less or greater than each lane, for a name such as SR_LTMASK."""
    lane = np.arange(WARP)
    relations = {
        "SR_EQMASK": lane[None, :] == lane[:, None],
        "SR_LTMASK": lane[None, :] < lane[:, None],
        "SR_LEMASK": lane[None, :] <= lane[:, None],
        "SR_GTMASK": lane[None, :] > lane[:, None],
        "SR_GEMASK": lane[None, :] >= lane[:, None],
    }
    if name not in relations:
        return None
    return (relations[name] * (1 << lane)).sum(axis=1).astype(np.uint32)[None, :]
