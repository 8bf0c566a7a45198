"""What the accesses of each line cost, beside the least that the same bytes could cost.

The counters hold all blocks. The bytes and the pattern come from the recorded blocks (``Run.global_``, ``Run.shared``),
as ``recorded_requests`` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from softlab.hardware.devices import Device
from softlab.hardware.occupancies import Occupancy, occupancy
from softlab.instruments.banks import wavefronts_and_conflicts
from softlab.instruments.coalescing import SECTOR_BYTES, global_sectors, ideal_sectors
from softlab.traces import Accesses, Run

#: What L1 looks up at once.
LINE_BYTES = 128
#: More warps than a block has, and more sectors than a memory.
_MOST_WARPS, _SECTORS_OF_MEMORY = 1 << 10, 1 << 44
#: More than the bytes of a lane, and than any address.
_WIDER, _NO_ADDRESS = 64, np.iinfo(np.int64).max
#: Sectors or wavefronts per least one from which an access costs too much.
RATIO = 1.2


@dataclass(frozen=True)
class AccessFigures:
    """The loads or the stores of one line to one memory.

    line: of the kernel's own file; space: "global" or "shared"; store: bool; requests: warp-wide accesses of all
    blocks; moved: the 32-byte sectors (global) or wavefronts (shared) that all blocks took; least: how many would do,
    as the recorded requests show it; bytes_used: different bytes that the recorded requests wanted; bytes_moved: bytes
    of the sectors that they touched (global; 0 for shared memory); lanes: active lanes per recorded request; width:
    the most bytes per lane; stride: bytes from one lane's address to the next lane's, where most neighbours have the
    same (None: they differ); recorded_requests: how many requests these figures come from. Of global memory alone:

    aligned: how many sectors would do if only each run of contiguous bytes began with a sector; plain: how many as many
    lanes take that access neighbouring elements; lines: of 128 bytes that the requests touch; same_sectors: how often a
    recorded block touches each of its sectors (1: once); per_warp: requests per warp of a recorded block; block_use:
    share of the bytes of its sectors that any loads, or stores, of the same block want; starts: how many different
    places in a sector the requests of a block begin at, on average over the sectors that they touch.
    """

    line: int
    space: str
    store: bool
    requests: int
    moved: int
    least: float
    bytes_used: int
    bytes_moved: int
    lanes: float
    width: int
    stride: int | None
    recorded_requests: int
    aligned: float = 0.0
    plain: float = 0.0
    lines: float = 0.0
    same_sectors: float = 1.0
    per_warp: float = 1.0
    block_use: float = 1.0
    starts: float = 1.0

    @property
    def kind(self) -> str:
        """Such as "global load"."""
        return f"{self.space} {'store' if self.store else 'load'}"

    @property
    def per_request(self) -> float:
        """Sectors or wavefronts per request."""
        return self.moved / self.requests if self.requests else 0.0

    @property
    def least_per_request(self) -> float:
        """The least of them."""
        return self.least / self.requests if self.requests else 0.0

    @property
    def wasteful(self) -> bool:
        """Whether it takes 1.2 times the least or more."""
        return 0 < self.least <= self.moved / RATIO

    @property
    def unaligned(self) -> bool:
        """Whether at least half of the excess is there because runs of contiguous bytes begin within a sector."""
        return self.space == "global" and self.excess > 0 and 2 * (self.moved - self.aligned) >= self.excess

    @property
    def loads_again(self) -> float:
        """How often a block loads each sector, without what it loads again because its lanes are far apart."""
        return self.same_sectors * self.least / self.moved if self.moved else 1.0

    @property
    def excess(self) -> float:
        """Sectors or wavefronts of all blocks beyond the least."""
        return max(0.0, self.moved - self.least)


def access_figures(run: Run) -> tuple[AccessFigures, ...]:
    """The accesses of a run of the emulator, by line: global ones first, loads before stores.

    A line whose accesses no recorded block makes is left out: :func:`unrecorded_lines` names it.
    """
    return tuple(sorted(_figures(run), key=lambda one: (one.line, one.space, one.store)))


def occupancy_of(run: Run) -> Occupancy | None:
    """How many blocks of a run's kernel an SM of its architecture holds; None where its registers are not known."""
    if run.registers is None:
        return None
    smem = run.static_smem_bytes + run.smem_bytes
    return occupancy(Device.named(run.arch), threads=prod(run.block), registers=run.registers, smem=smem)


def unrecorded_lines(run: Run) -> tuple[int, ...]:
    """Lines with accesses of which no recorded block makes any: their patterns are not known."""
    known = {(one.line, one.space, one.store) for one in access_figures(run)}
    missing = set()
    for line, counters in run.by_line().items():
        for space, requests in (("global", "requests"), ("shared", "instructions")):
            for store in (False, True):
                name = f"{space}_{'store' if store else 'load'}_{requests}"
                if counters[name] and (line, space, store) not in known:
                    missing.add(line)
    return tuple(sorted(missing))


def _figures(run: Run) -> Iterator[AccessFigures]:
    by_line = run.by_line()
    for space, log in (("global", run.global_), ("shared", run.shared)):
        kinds = sorted({(bool(s), int(n)) for n, s in zip(log.line, log.store, strict=True)})
        sectors = {store: BlockSectors.of(log.select(log.store == store)) for store, _ in kinds if space == "global"}
        for store, line in kinds:
            rows = log.select((log.line == line) & (log.store == store))
            counters = by_line.get(line, {})
            kind = "store" if store else "load"
            requests = counters.get(f"{space}_{kind}_{'requests' if space == 'global' else 'instructions'}", 0)
            moved = counters.get(f"{space}_{kind}_{'sectors' if space == 'global' else 'wavefronts'}", 0)
            if requests and space == "global":
                yield _global(line, store, requests, moved, rows, sectors[store])
            elif requests:
                yield _shared(line, store, requests, moved, rows)


def _global(line: int, store: bool, requests: int, moved: int, rows: Accesses, sectors: BlockSectors) -> AccessFigures:
    used, taken, least, aligned, plain, lines = 0, 0, 0, 0, 0, 0
    for width in np.unique(rows.width):
        same = rows.select(rows.width == width)
        runs = Runs.of(same.address, same.active, int(width))
        used += int(runs.nbytes.sum())
        taken += int(global_sectors(same.address, same.active, int(width)).sum())
        least += int(_sectors_of(runs.nbytes).sum())
        aligned += int(runs.sectors.sum())
        plain += int(ideal_sectors(same.active, int(width)).sum())
        lines += int(_different(np.where(same.active, same.address.astype(np.int64) // LINE_BYTES, -1)).sum())
    scale = moved / taken if taken else 1.0
    own, touches = sectors.of_rows(rows)
    return AccessFigures(
        **_of_rows(line, "global", store, requests, moved, rows),
        least=least * scale,
        bytes_used=used,
        bytes_moved=taken * SECTOR_BYTES,
        aligned=aligned * scale,
        plain=plain * scale,
        lines=lines * scale,
        same_sectors=touches / max(1, len(own)),
        per_warp=len(rows) / len(np.unique(rows.block.astype(np.int64) * _MOST_WARPS + rows.warp)),
        block_use=float(sectors.nbytes[own].mean()) / SECTOR_BYTES,
        starts=float(sectors.starts[own].mean()),
    )


def _shared(line: int, store: bool, requests: int, moved: int, rows: Accesses) -> AccessFigures:
    used, taken, least = 0, 0, 0
    for width in np.unique(rows.width):
        same = rows.select(rows.width == width)
        wavefronts, conflicts = wavefronts_and_conflicts(same.address, same.active, int(width), store)
        used += int(Runs.of(same.address, same.active, int(width)).nbytes.sum())
        taken += int(wavefronts.sum())
        least += int((wavefronts - conflicts).sum())
    share = least / taken if taken else 1.0
    return AccessFigures(
        **_of_rows(line, "shared", store, requests, moved, rows),
        least=moved * share,
        bytes_used=used,
        bytes_moved=0,
    )


def _of_rows(line: int, space: str, store: bool, requests: int, moved: int, rows: Accesses) -> dict[str, Any]:
    """The figures that accesses to both memories have."""
    return {
        "line": line, "space": space, "store": store, "requests": requests, "moved": moved,
        "lanes": float(rows.active.sum(axis=1).mean()), "width": int(rows.width.max()), "stride": _stride(rows),
        "recorded_requests": len(rows),
    }  # fmt: skip


def _sectors_of(nbytes: np.ndarray) -> np.ndarray:
    return -(-nbytes // SECTOR_BYTES)


def _different(key: np.ndarray) -> np.ndarray:
    """Sort each row of (n, 32) in place; where a number from 0 on is another one than on its left: (n, 32) bool."""
    key.sort(axis=1)
    different = key >= 0
    different[:, 1:] &= key[:, 1:] != key[:, :-1]
    return different


@dataclass(frozen=True)
class Runs:
    """The runs of contiguous bytes that requests want. nbytes: different bytes per request; sectors: how many would
    hold them if each run began with a sector: (n,) int64 both.
    """

    nbytes: np.ndarray
    sectors: np.ndarray

    @classmethod
    def of(cls, address: np.ndarray, active: np.ndarray, width: int) -> Runs:
        """address, active: (n, 32). The lanes' addresses are multiples of ``width``."""
        key = np.where(active, address.astype(np.int64), -1)
        different = _different(key)
        begins = different.copy()
        begins[:, 1:] &= key[:, 1:] != key[:, :-1] + width
        begins[:, 1:] |= different[:, 1:] & (key[:, :-1] < 0)
        run = np.cumsum(begins.reshape(-1)).reshape(key.shape)[different] - 1
        nbytes = np.bincount(run, minlength=int(begins.sum())) * width
        row = np.nonzero(begins)[0]
        sectors = np.bincount(row, _sectors_of(nbytes), len(key)).astype(np.int64)
        return cls(different.sum(axis=1) * width, sectors)


@dataclass(frozen=True)
class BlockSectors:
    """The sectors that each recorded block touches by its loads, or by its stores, whatever their lines.

    blocks: the recorded ones, sorted; key: block and sector as one number, sorted; nbytes: different bytes that are
    wanted of it; starts: at how many different places in a sector the requests that touch it begin.
    """

    blocks: np.ndarray
    key: np.ndarray
    nbytes: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, rows: Accesses) -> BlockSectors:
        """rows: all loads, or all stores, of the recorded blocks."""
        blocks = np.unique(rows.block)
        keys, request, address = _touches(rows, blocks)
        key, index = np.unique(keys, return_inverse=True)
        word = np.unique((index * SECTOR_BYTES + address % SECTOR_BYTES) * _WIDER + rows.width[request])
        nbytes = np.bincount(word // (SECTOR_BYTES * _WIDER), word % _WIDER, len(key))
        first = np.where(rows.active, rows.address.astype(np.int64), _NO_ADDRESS).min(axis=1) % SECTOR_BYTES
        start = np.unique(index * SECTOR_BYTES + first[request])
        starts = np.bincount(start // SECTOR_BYTES, minlength=len(key))
        return cls(blocks, key, np.minimum(nbytes, SECTOR_BYTES), starts)

    def of_rows(self, rows: Accesses) -> tuple[np.ndarray, int]:
        """Which sectors some of the requests touch, and how many pairs of a request and a sector there are."""
        keys, request, _ = _touches(rows, self.blocks)
        touched = np.unique(request * len(self.key) + np.searchsorted(self.key, keys))
        return np.unique(touched % len(self.key)), len(touched)


def _touches(rows: Accesses, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each active lane: its block and sector as one number, its request's row, and its address."""
    request, lane = np.nonzero(rows.active)
    address = rows.address[request, lane].astype(np.int64)
    block = np.searchsorted(blocks, rows.block)[request]
    return block * _SECTORS_OF_MEMORY + address // SECTOR_BYTES, request, address


def _stride(rows: Accesses) -> int | None:
    """The bytes from a lane's address to its neighbour's, where three quarters of the neighbours have the same."""
    both = rows.active[:, 1:] & rows.active[:, :-1]
    apart = np.diff(rows.address.astype(np.int64), axis=1)[both]
    if not len(apart):
        return None
    values, counts = np.unique(apart, return_counts=True)
    return int(values[counts.argmax()]) if counts.max() * 4 >= 3 * len(apart) else None
