"""The special registers of PTX (PTX ISA, "Special Registers")."""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import WARP, Value
from softlab.emulator.machine.faults import Geometry
from softlab.emulator.machine.launch import Launch


def special_registers(launch: Launch, geometry: Geometry, blocks: int) -> dict[str, Value]:
    """Name -> value of the special registers that do not change while a batch of ``blocks`` blocks runs."""
    column = np.arange(launch.lanes)
    row = geometry.first + np.arange(blocks)
    values = {**_of_lanes(column), **_of_sizes(launch), **_of_indices(geometry, column, blocks)}
    values["smid"] = (row % launch.sm_count).astype(np.uint32)[:, None]
    values["cluster_ctarank"] = (row % geometry.blocks_per_cluster).astype(np.uint32)[:, None]
    # A value that all lanes share is a scalar: a loop over it then needs no array.
    return {
        name: value.reshape(-1)[0] if isinstance(value, np.ndarray) and (value == value.flat[0]).all() else value
        for name, value in values.items()
    }


def _of_lanes(column: np.ndarray) -> dict[str, Value]:
    """The registers that depend on the lane in its warp, and on the warp."""
    lane = (column % WARP).astype(np.uint32)
    bit = np.uint32(1) << lane
    return {
        "laneid": lane[None],
        "warpid": (column // WARP).astype(np.uint32)[None],
        "lanemask_eq": bit[None],
        "lanemask_lt": (bit - np.uint32(1))[None],
        "lanemask_le": (bit | (bit - np.uint32(1)))[None],
        "lanemask_gt": ~(bit | (bit - np.uint32(1)))[None],
        "lanemask_ge": ~(bit - np.uint32(1))[None],
    }


def _of_sizes(launch: Launch) -> dict[str, Value]:
    """The registers that are the same for all threads of a launch."""
    shared = np.uint32(launch.shared_bytes - len(launch.program.image.reserved_shared))
    return {
        "nwarpid": np.uint32(64),
        "nsmid": np.uint32(launch.sm_count),
        "gridid": np.uint64(0),
        "dynamic_smem_size": np.uint32(launch.dynamic_shared),
        "total_smem_size": shared,
        "aggr_smem_size": shared,
        "is_explicit_cluster": np.bool_(launch.program.image.cluster is not None),
        "cluster_nctarank": np.uint32(launch.blocks_per_cluster),
        "current_graph_exec": np.uint32(0),
        "envreg1": np.uint32(launch.grid_workspace >> 32),
        "envreg2": np.uint32(launch.grid_workspace & 0xFFFFFFFF),
    }


def _of_indices(geometry: Geometry, column: np.ndarray, blocks: int) -> dict[str, Value]:
    """The registers with a component along each of x, y and z."""
    x, y, _ = geometry.block
    thread_indices = (column % x, column // x % y, column // (x * y))
    block_indices = geometry.block_indices(np.arange(blocks))
    values: dict[str, Value] = {}
    for number, (axis, tid, ctaid) in enumerate(zip("xyz", thread_indices, block_indices, strict=True)):
        size = geometry.cluster[number]
        values[f"tid.{axis}"] = tid.astype(np.uint32)[None]
        values[f"ntid.{axis}"] = np.uint32(geometry.block[number])
        values[f"ctaid.{axis}"] = ctaid.astype(np.uint32)[:, None]
        values[f"nctaid.{axis}"] = np.uint32(geometry.grid[number])
        values[f"clusterid.{axis}"] = (ctaid // size).astype(np.uint32)[:, None]
        values[f"nclusterid.{axis}"] = np.uint32(geometry.clusters[number])
        values[f"cluster_ctaid.{axis}"] = (ctaid % size).astype(np.uint32)[:, None]
        values[f"cluster_nctaid.{axis}"] = np.uint32(size)
    return values
