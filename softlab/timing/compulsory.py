"""What a launch has to bring from DRAM when L2 holds nothing of it: each sector that it loads, once.

The simulated SM shares what it loads with other SMs in the mean. What follows for the whole launch can be fewer bytes
than these, most of all where neighbouring blocks load the same sectors, which a sample from all over the grid does not
see. It can be more, too, where blocks share a part of an array.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from softlab.timing.columns import Columns
from softlab.timing.distinct import counted, distinct_neighbours
from softlab.timing.sharing import blocks_per_sector
from softlab.timing.touched import ANY

_SECTOR = 32
#: By what share, and by how many bytes, they have to be fewer than the least, or more than the most, so that it is
#: said: of random places the bytes are known to some 20 % from a dozen blocks.
_FEWER, _MORE, _MANY = 0.1, 0.25, 4096
Index3 = tuple[int, int, int]


def bytes_off(
    nbytes: float, columns: Columns, grid: Index3, cluster: Index3, extents: Sequence[tuple[int, int]], *, fits: bool
) -> str:
    """One sentence if ``nbytes`` that a launch reads from DRAM are fewer, or more, than what it has to; else "".

    Sectors that an interpreted block stores do not count to what has to be loaded: they may be stored before.

    Arguments:
        columns: of the interpreted blocks. grid, cluster: blocks of the grid, and of one cluster.
        extents: the first and the last sector of each array.
        fits: whether L2 holds all that the launch touches, so that nothing is loaded twice.
    """
    total = prod(grid) // prod(cluster)
    touched = columns.touched_together(_clusters(columns.blocks, grid, cluster) if prod(cluster) > 1 else None)
    least = _SECTOR * _of_grid(*touched.never_stored, touched.blocks, total, extents)
    if nbytes < (1 - _FEWER) * least and least - nbytes > _MANY:
        return f"dram_bytes is too little: {_mb(nbytes)} of loads, while about {_mb(least)} have to be loaded"
    if not (fits and least and nbytes > (1 + _MORE) * least):
        return ""
    # DRAM gives two neighbouring sectors at once. What one block stores, others do not share, while it shares the rest.
    parts = touched.by_block(ANY)
    pairs, times = counted(distinct_neighbours(parts.together, 1, parts.limits[1:]))
    own = np.zeros(len(pairs), bool)
    own[pairs.searchsorted(_others(parts.every, touched.never_stored[0]) >> 1)] = True
    of_pairs = [(first >> 1, last >> 1) for first, last in extents]
    most = sum(_of_grid(pairs[some], times[some], touched.blocks, total, of_pairs) for some in (own, ~own))
    most *= 2 * _SECTOR
    if nbytes > (1 + _MORE) * most and nbytes - most > _MANY:
        return f"dram_bytes is too much: {_mb(nbytes)} of loads, while about {_mb(most)} have to be loaded"
    return ""


def _others(every: np.ndarray, some: np.ndarray) -> np.ndarray:
    """The sectors that are not among ``some`` of them. Both are ascending, each once."""
    others = np.ones(len(every), bool)
    others[every.searchsorted(some)] = False
    return every[others]


def _mb(nbytes: float) -> str:
    return f"{nbytes / 1e6:.2f} MB" if nbytes >= 1e5 else f"{nbytes / 1e3:.1f} kB"


def _of_grid(every: np.ndarray, times: np.ndarray, known: int, total: int, extents: Sequence[tuple[int, int]]) -> float:
    """How many distinct sectors all blocks have, about.

    A sector of an array is shared by as many blocks as the interpreted ones say, and an array has no more sectors than
    its size. Outside of all arrays those count that are known.

    Arguments:
        every, times: int64, the distinct sectors, ascending, and how many of the ``known`` blocks have each.
        total: blocks of the grid.
    """
    rest, found = len(every), 0.0
    for first, last in extents:
        low, high = every.searchsorted(first), every.searchsorted(last, "right")
        met, all_of_them = int(high - low), int(times[low:high].sum())
        if met:
            share = max(1.0, blocks_per_sector(met / all_of_them, known / total, total, 1.0))
            found += max(met, min(last - first + 1, all_of_them * total / (known * share)))
            rest -= met
    return found + rest


def _clusters(blocks: np.ndarray, grid: Index3, cluster: Index3) -> np.ndarray:
    """The cluster of each block, int64: blocks of one are neighbours and load the same."""
    x, y, z = blocks % grid[0], blocks // grid[0] % grid[1], blocks // (grid[0] * grid[1])
    wide, high = grid[0] // cluster[0], grid[1] // cluster[1]
    return x // cluster[0] + wide * (y // cluster[1] + high * (z // cluster[2]))
