"""What special registers hold in the warps of a launch."""

from __future__ import annotations

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
    thread = (np.arange(setup.warps_per_block * WARP)).reshape(-1, WARP)
    x, y, _z = setup.block

    def per_thread(value: np.ndarray):
        value = value.astype(np.uint32)
        first = value.flat[0]
        return first if (value == first).all() else np.tile(value, (setup.blocks, 1))

    def per_block(value: np.ndarray):
        value = value.astype(np.uint32)
        return value[0] if (value == value[0]).all() else value[setup.row_of_block][:, None]

    inner = [c % n for c, n in zip(setup.coordinates, setup.cluster, strict=True)]
    named = {
        "SR_TID.X": lambda: per_thread(thread % x),
        "SR_TID.Y": lambda: per_thread(thread // x % y),
        "SR_TID.Z": lambda: per_thread(thread // (x * y)),
        "SR_CTAID.X": lambda: per_block(setup.coordinates[0]),
        "SR_CTAID.Y": lambda: per_block(setup.coordinates[1]),
        "SR_CTAID.Z": lambda: per_block(setup.coordinates[2]),
        "SR_LANEID": lambda: np.arange(WARP, dtype=np.uint32)[None, :],
        "SR_CgaCtaId": lambda: per_block(setup.rank),
        "SR_CTAID_IN_CLUSTER.X": lambda: per_block(inner[0]),
        "SR_CgaSize": lambda: np.uint32(setup.blocks_per_cluster),
        "SR_VIRTUALSMID": lambda: per_block(setup.interpreted % setup.sm_count),
        "SR_SWINHI": lambda: np.uint32(0x7000),
        "SR_SWINLO": lambda: np.uint32(0),
        "SR_DYN_SMEM_SIZE": lambda: np.uint32(setup.dynamic_bytes),
        "SR_WARPID": lambda: per_thread(thread // WARP),
        "SR_VIRTID": lambda: per_thread(thread // WARP << 8),  # the code takes bits 8 to 14 of it
        "SR_VIRTCFG": lambda: np.uint32(_MOST_WARPS << 8),  # and bits 8 to 15
        "SR_SMEMSZ": lambda: np.uint32(setup.shared_bytes),
        "SRZ": lambda: np.uint32(0),
    }
    return named[name]() if name in named else _lane_mask(name)


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
