"""Sectors of ``cp.async.cg``, which bypasses the first-level cache and fetches a warp's data in several passes.

A pass fetches for eight lanes, 16 bytes each. It repeats for each wavefront that the destinations of these lanes need
in shared memory. Evidence: four launches that Nsight Compute counted on an H200 (``tests/hardware/cluster_cases.py``).
Two of them tell this rule from others: one has a source that is off by 16 bytes, one has conflicts in shared memory.
"""

from __future__ import annotations

import numpy as np

_LANES_PER_PASS = 8
_SECTOR = 32
#: Bytes of a copy, and of all banks together.
_COPY, _BANKS = 16, 128


def cp_async_sectors(source: np.ndarray, destination: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Sectors of each warp: (n,) int64.

    Arguments:
        source, destination: (n, 32) byte addresses: each lane's source in global memory, its destination in shared.
        active: (n, 32) bool.
    """
    passes = (len(source), -1, _LANES_PER_PASS)
    active = active.reshape(passes)
    sectors = _count_distinct(source.reshape(passes) // _SECTOR, active)
    chunk = destination.reshape(passes) // _COPY
    wavefronts = np.zeros_like(sectors)
    for bank in range(_BANKS // _COPY):
        wavefronts = np.maximum(wavefronts, _count_distinct(chunk, active & (chunk % (_BANKS // _COPY) == bank)))
    return np.asarray((sectors * wavefronts).sum(axis=1))


def _count_distinct(values: np.ndarray, active: np.ndarray) -> np.ndarray:
    """How many distinct values the active lanes have, over the last axis."""
    ordered = np.sort(np.where(active, values.astype(np.int64), -1), axis=-1)
    fresh = (ordered[..., 1:] != ordered[..., :-1]) & (ordered[..., 1:] >= 0)
    return fresh.sum(axis=-1) + (ordered[..., 0] >= 0)
