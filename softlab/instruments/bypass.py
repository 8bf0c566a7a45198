"""Sectors of ``cp.async.cg``, which goes around the first-level cache: its requests take several goes.

Eight lanes, of sixteen bytes each, are fetched at a time, and again for each wavefront that their places in shared
memory take. Evidence: four launches that Nsight Compute counted on an H200 (``tests/hardware/cluster_cases.py``), of
which one with its source off by sixteen bytes and one with conflicts in shared memory tell this rule from others.
"""

from __future__ import annotations

import numpy as np

_AT_A_TIME = 8
_SECTOR = 32
#: Bytes of a copy, and of all banks together.
_COPY, _BANKS = 16, 128


def bypass_sectors(source: np.ndarray, place: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Sectors of each warp: (n,) int64.

    Arguments:
        source, place: (n, 32) byte addresses of each lane's source, and of its place in shared memory.
        active: (n, 32) bool.
    """
    groups = (len(source), -1, _AT_A_TIME)
    active = active.reshape(groups)
    sectors = _different(source.reshape(groups) // _SECTOR, active)
    chunk = place.reshape(groups) // _COPY
    wavefronts = np.zeros_like(sectors)
    for bank in range(_BANKS // _COPY):
        wavefronts = np.maximum(wavefronts, _different(chunk, active & (chunk % (_BANKS // _COPY) == bank)))
    return np.asarray((sectors * wavefronts).sum(axis=1))


def _different(values: np.ndarray, active: np.ndarray) -> np.ndarray:
    """How many different values the active lanes have, over the last axis."""
    ordered = np.sort(np.where(active, values.astype(np.int64), -1), axis=-1)
    fresh = (ordered[..., 1:] != ordered[..., :-1]) & (ordered[..., 1:] >= 0)
    return fresh.sum(axis=-1) + (ordered[..., 0] >= 0)
