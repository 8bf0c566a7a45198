"""The special registers of PTX (PTX ISA, "Special Registers")."""

from __future__ import annotations

import numpy as np

from softlab.emulator.faults import Geometry
from softlab.emulator.lanes import WARP, Value

#: Registers that tell the time: they grow while a batch runs.
CLOCKS = ("clock", "clock64", "clock_hi", "globaltimer", "globaltimer_lo", "globaltimer_hi")


def special_registers(
    geometry: Geometry, blocks: int, threads: int, *, explicit: bool, sm_count: int, dynamic: int, shared: int
) -> dict[str, Value]:
    """Name -> value of the special registers that do not change while a batch runs.

    ``blocks`` is the number of rows of the batch, ``threads`` a block's padded to whole warps, ``explicit`` whether the
    kernel was launched in clusters, ``dynamic`` and ``shared`` the bytes of a block's dynamic and of all its shared
    memory.
    """
    column = np.arange(threads)
    row = geometry.first + np.arange(blocks)
    size = geometry.blocks_per_cluster
    lane = (column % WARP).astype(np.uint32)
    bit = np.uint32(1) << lane
    values: dict[str, Value] = {
        "laneid": lane[None],
        "warpid": (column // WARP).astype(np.uint32)[None],
        "nwarpid": np.uint32(64),
        "smid": (row % sm_count).astype(np.uint32)[:, None],
        "nsmid": np.uint32(sm_count),
        "gridid": np.uint64(0),
        "lanemask_eq": bit[None],
        "lanemask_lt": (bit - np.uint32(1))[None],
        "lanemask_le": (bit | (bit - np.uint32(1)))[None],
        "lanemask_gt": ~(bit | (bit - np.uint32(1)))[None],
        "lanemask_ge": ~(bit - np.uint32(1))[None],
        "dynamic_smem_size": np.uint32(dynamic),
        "total_smem_size": np.uint32(shared),
        "aggr_smem_size": np.uint32(shared),
        "is_explicit_cluster": np.bool_(explicit),
        "cluster_ctarank": (row % size).astype(np.uint32)[:, None],
        "cluster_nctarank": np.uint32(size),
        "current_graph_exec": np.uint32(0),
    }
    x, y, _ = geometry.block
    places = geometry.places(np.arange(blocks))
    for number, (axis, tid, ctaid) in enumerate(
        zip("xyz", (column % x, column // x % y, column // (x * y)), places, strict=True)
    ):
        values[f"tid.{axis}"] = tid.astype(np.uint32)[None]
        values[f"ntid.{axis}"] = np.uint32(geometry.block[number])
        values[f"ctaid.{axis}"] = ctaid.astype(np.uint32)[:, None]
        values[f"nctaid.{axis}"] = np.uint32(geometry.grid[number])
        values[f"clusterid.{axis}"] = (ctaid // geometry.cluster[number]).astype(np.uint32)[:, None]
        values[f"nclusterid.{axis}"] = np.uint32(geometry.clusters[number])
        values[f"cluster_ctaid.{axis}"] = (ctaid % geometry.cluster[number]).astype(np.uint32)[:, None]
        values[f"cluster_nctaid.{axis}"] = np.uint32(geometry.cluster[number])
    # A value that all share is a scalar: a loop over it then needs no array.
    return {
        name: value.reshape(-1)[0] if isinstance(value, np.ndarray) and (value == value.flat[0]).all() else value
        for name, value in values.items()
    }


def clock(name: str, steps: int) -> np.generic:
    """A clock: the instructions issued so far. It grows, which is all that a kernel may count on."""
    if name in ("clock64", "globaltimer"):
        return np.uint64(steps)
    return np.uint32(steps >> 32 if name.endswith("_hi") else steps & 0xFFFFFFFF)
