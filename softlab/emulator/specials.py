"""The special registers of PTX (PTX ISA, "Special Registers")."""

from __future__ import annotations

import numpy as np

from softlab.emulator.faults import Index3
from softlab.emulator.lanes import WARP, Value

#: Registers that tell the time: they grow while a batch runs.
CLOCKS = ("clock", "clock64", "clock_hi", "globaltimer", "globaltimer_lo", "globaltimer_hi")


def special_registers(
    grid: Index3, block: Index3, first: int, blocks: int, threads: int, *, sm_count: int, dynamic: int, shared: int
) -> dict[str, Value]:
    """Name -> value of the special registers that do not change while a batch runs.

    ``first`` is the linear index of the batch's first block, ``threads`` a block's padded to whole warps, ``dynamic``
    and ``shared`` the bytes of a block's dynamic and of all its shared memory.
    """
    column = np.arange(threads)
    row = first + np.arange(blocks)
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
        "is_explicit_cluster": np.bool_(False),
        "cluster_ctarank": np.uint32(0),
        "cluster_nctarank": np.uint32(1),
        "current_graph_exec": np.uint32(0),
    }
    x, y, _ = block
    gx, gy, _ = grid
    for axis, tid, ctaid in zip(
        "xyz",
        (column % x, column // x % y, column // (x * y)),
        (row % gx, row // gx % gy, row // (gx * gy)),
        strict=True,
    ):
        number = "xyz".index(axis)
        values[f"tid.{axis}"] = tid.astype(np.uint32)[None]
        values[f"ntid.{axis}"] = np.uint32(block[number])
        values[f"ctaid.{axis}"] = values[f"clusterid.{axis}"] = ctaid.astype(np.uint32)[:, None]
        values[f"nctaid.{axis}"] = values[f"nclusterid.{axis}"] = np.uint32(grid[number])
        values[f"cluster_ctaid.{axis}"] = np.uint32(0)
        values[f"cluster_nctaid.{axis}"] = np.uint32(1)
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
