"""Coalescing trace: for each request of a warp to global memory, lane -> address -> sector."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlab.instruments.coalescing import ideal_sectors, sectors_by_lane
from softlab.traces import Buffer, Run


@dataclass(frozen=True)
class Request:
    """One load or store of global memory by one warp.

    line: of the kernel's CUDA file (0: unknown); instruction: index into ``Run.instructions``; index: row of
    ``Run.global_``; width: bytes per lane; active (32,) bool; address (32,) int64: each lane's byte address; argument:
    number of the array argument that the first active lane accesses, None for other memory; offset (32,) int64:
    bytes from the start of that array (the address itself for other memory); sector (32,) int64: number of the 32-byte
    sector that each lane touches, -1 for a lane that takes no part; sectors: how many different ones; least: how many
    would hold as many bytes.
    """

    line: int
    instruction: int
    index: int
    store: bool
    width: int
    block: int
    warp: int
    active: np.ndarray
    address: np.ndarray
    argument: int | None
    offset: np.ndarray
    sector: np.ndarray
    sectors: int
    least: int

    def lanes_of_sectors(self) -> dict[int, tuple[int, ...]]:
        """Sector -> the lanes that touch it, ascending."""
        return {
            int(sector): tuple(np.flatnonzero(self.sector == sector).tolist())
            for sector in np.unique(self.sector[self.active])
        }


def requests(run: Run, *, block: int = 0, warp: int = 0, line: int | None = None) -> tuple[Request, ...]:
    """The requests of one warp to global memory in the order they ran; those of one source ``line`` if given.

    run: of the emulator; the block must be one of its recorded ones.
    """
    log = run.global_
    mine = (log.block == block) & (log.warp == warp)
    if line is not None:
        mine &= log.line == line
    return tuple(_request(run, int(index)) for index in np.flatnonzero(mine))


def _request(run: Run, index: int) -> Request:
    log = run.global_
    active, width = log.active[index], int(log.width[index])
    address = np.where(active, log.address[index], 0).astype(np.int64)
    buffer = _buffer_at(run.buffers, int(address[active][0]))
    sector = sectors_by_lane(address[None], active[None], width)[0]
    return Request(
        line=int(log.line[index]),
        instruction=int(log.instruction[index]),
        index=index,
        store=bool(log.store[index]),
        width=width,
        block=int(log.block[index]),
        warp=int(log.warp[index]),
        active=active,
        address=address,
        argument=buffer.index if buffer else None,
        offset=np.where(active, address - (buffer.base if buffer else 0), 0),
        sector=sector,
        sectors=len(np.unique(sector[active])),
        least=int(ideal_sectors(active[None], width)[0]),
    )


def _buffer_at(buffers: tuple[Buffer, ...], address: int) -> Buffer | None:
    return next((b for b in buffers if b.base <= address < b.base + b.nbytes), None)
