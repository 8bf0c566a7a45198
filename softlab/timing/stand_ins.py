"""Blocks that stand for others, which were not interpreted.

An SM may have more blocks than were interpreted. A block then stands for others that do the same with data of their
own: what it loads is not in L1 or L2 because the block that it stands for was there before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from softlab.sass.streams import Space
from softlab.timing.sharing import Region, Sharing
from softlab.timing.work import BlockWork, MemoryRequest, WarpWork

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
    return replace(work, warps=tuple(_warp(warp, sharing, part) for warp in work.warps))


def _warp(warp: WarpWork, sharing: Sharing, part: float) -> WarpWork:
    return replace(warp, requests=[_request(one, sharing, part) for one in warp.requests])


def _request(one: MemoryRequest, sharing: Sharing, part: float) -> MemoryRequest:
    sectors = one[4]
    if one[1] != _GLOBAL or not sectors:
        return one
    region = sharing.place(sectors[0])
    if region.spread >= _SHARED or region.first == region.last:
        return one
    return (*one[:4], _behind(sectors, region, part), *one[5:])


def _behind(sectors: tuple[int, ...], region: Region, part: float) -> tuple[int, ...]:
    """Sectors that lie a part of the array further on; behind its end comes its beginning."""
    size = region.last - region.first + 1
    by = -(-int(region.unique * part + 1) // _PIECE) * _PIECE
    first, last = region.first, sectors[-1]
    by = by % size // _PIECE * _PIECE
    if last + by > region.last:
        by -= size // _PIECE * _PIECE
    return tuple(max(first, sector + by) for sector in sectors)
