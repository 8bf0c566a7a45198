"""Blocks that stand for others, which were not interpreted.

An SM may have more blocks than were interpreted. A block then stands for others that do the same with data of their
own: what it loads is not in L1 or L2 because the block that it stands for was there before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from softlab.sass.streams import Space
from softlab.timing.sharing import Region, Sharing
from softlab.timing.work import BlockWork

_GLOBAL = int(Space.GLOBAL)
#: Sectors of 256 bytes: neighbours stay together.
_PIECE = 8
#: Blocks from all over the grid that share a sector, from which on a block finds it where others had it.
_SHARED = 2.0


def with_own_data(order: Sequence[BlockWork], sharing: Sharing, blocks: int) -> Iterator[BlockWork]:
    """The blocks of an SM, each with sectors of its own in the arrays that blocks do not share.

    Arguments:
        order: the blocks as they start; one that stands for others comes several times.
        blocks: of the grid. A block that comes again has the part of an array behind the one that it had before.
    """
    seen: Counter[int] = Counter()
    for work in order:
        again = seen[work.block]
        seen[work.block] += 1
        yield _moved(work, sharing, again / blocks) if again else work


def _moved(work: BlockWork, sharing: Sharing, part: float) -> BlockWork:
    requests = work.requests
    sectors, counts = requests.sectors.copy(), requests.counts
    begins = np.cumsum(counts) - counts
    own = np.flatnonzero((requests.numbers[:, 1] == _GLOBAL) & (counts > 0))
    first, last = sectors[begins[own]], sectors[begins[own] + counts[own] - 1]
    at = np.searchsorted([region.first for region in sharing.regions], first, "right") - 1
    for number, region in enumerate(sharing.regions):
        if region.spread >= _SHARED or region.first == region.last:
            continue
        inside = (at == number) & (first <= region.last)
        by, chosen = np.zeros(len(counts), np.int64), np.zeros(len(counts), bool)
        by[own[inside]], chosen[own[inside]] = _further(last[inside], region, part), True
        chosen = np.repeat(chosen, counts)
        sectors[chosen] = np.maximum(region.first, sectors[chosen] + np.repeat(by, counts)[chosen])
    return replace(work, requests=replace(requests, sectors=sectors))


def _further(last: np.ndarray, region: Region, part: float) -> np.ndarray:
    """By how many sectors requests, each with its last sector, lie further on: a part of the array; behind its end
    comes its beginning."""
    size = region.last - region.first + 1
    by = -(-int(region.unique * part + 1) // _PIECE) * _PIECE
    by = by % size // _PIECE * _PIECE
    return np.where(last + by > region.last, by - size // _PIECE * _PIECE, by)
