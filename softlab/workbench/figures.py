"""What the accesses of each line cost, beside the least that the same bytes could cost.

The counters hold all blocks. The bytes and the pattern come from the recorded blocks (``Run.global_``, ``Run.shared``),
as ``recorded_requests`` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from softlab.hardware.devices import Device
from softlab.hardware.occupancies import Occupancy, occupancy
from softlab.instruments.banks import wavefronts_and_conflicts
from softlab.instruments.coalescing import SECTOR_BYTES, global_sectors
from softlab.traces import Accesses, Run

_WARP = 32
#: Sectors or wavefronts per least one from which an access costs too much.
_RATIO = 1.2


@dataclass(frozen=True)
class AccessFigures:
    """The loads or the stores of one line to one memory.

    line: of the kernel's own file; space: "global" or "shared"; store: bool; requests: warp-wide accesses of all
    blocks; moved: the 32-byte sectors (global) or wavefronts (shared) that all blocks took; least: how many would do,
    as the recorded requests show it; bytes_used: different bytes that the recorded requests wanted; bytes_moved: bytes
    of the sectors that they touched (global; 0 for shared memory); lanes: active lanes per recorded request; width:
    the most bytes per lane; stride: bytes from one lane's address to the next lane's, where most neighbours have the
    same (None: they differ); unaligned: whether the lanes' bytes are contiguous but begin within a sector;
    same_sectors: how often a recorded block touches each of its sectors (1: once); recorded_requests: how many
    requests these figures come from.
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
    unaligned: bool
    same_sectors: float
    recorded_requests: int

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
        return 0 < self.least <= self.moved / _RATIO

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
        for line, store in sorted({(int(n), bool(s)) for n, s in zip(log.line, log.store, strict=True)}):
            rows = log.select((log.line == line) & (log.store == store))
            counters = by_line.get(line, {})
            kind = "store" if store else "load"
            requests = counters.get(f"{space}_{kind}_{'requests' if space == 'global' else 'instructions'}", 0)
            moved = counters.get(f"{space}_{kind}_{'sectors' if space == 'global' else 'wavefronts'}", 0)
            if requests:
                yield _of_rows(line, space, store, requests, moved, rows)


def _of_rows(line: int, space: str, store: bool, requests: int, moved: int, rows: Accesses) -> AccessFigures:
    used, taken, least, unaligned = 0, 0, 0, False
    for width in np.unique(rows.width):
        same = rows.select(rows.width == width)
        wanted = _distinct_bytes(same.address, same.active, int(width))
        used += int(wanted.sum())
        if space == "global":
            sectors = global_sectors(same.address, same.active, int(width))
            fewest = -(-wanted // SECTOR_BYTES)
            taken += int(sectors.sum())
            unaligned |= bool(((sectors == fewest + 1) & _contiguous(same, int(width))).mean() > 0.5)
        else:
            wavefronts, conflicts = wavefronts_and_conflicts(same.address, same.active, int(width), store)
            fewest = wavefronts - conflicts
            taken += int(wavefronts.sum())
        least += int(fewest.sum())
    share = least / taken if taken else 1.0
    return AccessFigures(
        line=line,
        space=space,
        store=store,
        requests=requests,
        moved=moved,
        least=moved * share,
        bytes_used=used,
        bytes_moved=taken * SECTOR_BYTES if space == "global" else 0,
        lanes=float(rows.active.sum(axis=1).mean()),
        width=int(rows.width.max()),
        stride=_stride(rows),
        unaligned=unaligned,
        same_sectors=_repetition(rows) if space == "global" else 1.0,
        recorded_requests=len(rows),
    )


def _distinct_bytes(address: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
    """Different bytes that each request wants, (n,) int64. The lanes' addresses are multiples of ``width``."""
    key = np.where(active, address.astype(np.int64), -1)
    key.sort(axis=1)
    different = key >= 0
    different[:, 1:] &= key[:, 1:] != key[:, :-1]
    return different.sum(axis=1) * width


def _contiguous(rows: Accesses, width: int) -> np.ndarray:
    """Whether the active lanes of each request want one run of bytes, (n,) bool."""
    address = rows.address.astype(np.int64)
    low = np.where(rows.active, address, np.iinfo(np.int64).max).min(axis=1)
    high = np.where(rows.active, address, -1).max(axis=1)
    return high - low + width == _distinct_bytes(rows.address, rows.active, width)


def _stride(rows: Accesses) -> int | None:
    """The bytes from a lane's address to its neighbour's, where three quarters of the neighbours have the same."""
    both = rows.active[:, 1:] & rows.active[:, :-1]
    apart = np.diff(rows.address.astype(np.int64), axis=1)[both]
    if not len(apart):
        return None
    values, counts = np.unique(apart, return_counts=True)
    return int(values[counts.argmax()]) if counts.max() * 4 >= 3 * len(apart) else None


def _repetition(rows: Accesses) -> float:
    """How often a block touches each of its sectors, over all recorded blocks."""
    lanes = rows.active
    sector = rows.address.astype(np.int64) // SECTOR_BYTES
    request = np.repeat(np.arange(len(rows)), _WARP).reshape(lanes.shape)
    touched = np.unique(np.stack([request[lanes], sector[lanes]]), axis=1)
    different = np.unique(np.stack([rows.block[touched[0]], touched[1]]), axis=1)
    return touched.shape[1] / max(1, different.shape[1])
