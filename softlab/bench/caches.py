"""What the L2 cache of an H200 made of the kernel that reads each row three times: the recording ``cache_h200``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from softlab.bench.consequences import copy_gb_per_second
from softlab.bench.record.cache import DTYPE
from softlab.bench.recordings import Recording
from softlab.plans import Plan, forced

ITEM_BYTES = 4


@dataclass(frozen=True)
class Flight:
    """What a GPU works on at once: ``rows`` (one block each), ``bytes`` of the input in them."""

    rows: int
    bytes: int

    @property
    def mib(self) -> float:
        """The same in MiB."""
        return self.bytes / 2**20


@dataclass(frozen=True)
class Reread:
    """A recorded launch of the uncached kernel on float32.

    block_size, cols, rows, grid; by_hand: the grid is smaller than the dispatcher would make it; flight: what it works
    on at once; dram_read, dram_written: bytes from and to DRAM in multiples of the input; microseconds; of_copy:
    its speed, counting each element once in and once out, as a share of a device copy's.
    """

    block_size: int
    cols: int
    rows: int
    grid: int
    by_hand: bool
    flight: Flight
    dram_read: float
    dram_written: float
    microseconds: float
    of_copy: float

    @property
    def dram_gb_per_second(self) -> float:
        """10^9 bytes per second that DRAM moved, read and written."""
        moved = (self.dram_read + self.dram_written) * self.rows * self.cols * ITEM_BYTES
        return moved / self.microseconds / 1e3


def flight(made: Plan, grid: int | None = None) -> Flight:
    """What the GPU works on at once under a plan of a block kernel, with its own grid or another one."""
    resident = made.occupancy.blocks_per_sm * made.device.sm_count
    rows = min(resident, made.grid if grid is None else grid, made.rows)
    return Flight(rows, rows * made.cols * ITEM_BYTES)


@lru_cache(maxsize=4)
def _rereads(name: str) -> tuple[Reread, ...]:
    from softlab.bench import recordings

    return rereads(recordings.load(name))


def recorded(name: str = "cache_h200") -> tuple[Reread, ...]:
    """The launches of a recording that ships with softlab."""
    return _rereads(name)


def rereads(recording: Recording) -> tuple[Reread, ...]:
    """The launches of a recording of ``record.cache``, in its order."""
    table = recording.tables["cache"]
    copied = copy_gb_per_second(recording)
    device = recording.device.removeprefix("NVIDIA ")
    found = []
    for k in range(len(table["cols"])):
        rows, cols, grid, size = (int(table[name][k]) for name in ("rows", "cols", "grid", "block_size"))
        made = forced(rows, cols, DTYPE, kernel="block_uncached", block_size=size, device=device)
        nbytes = rows * cols * ITEM_BYTES
        microseconds = float(table["microseconds"][k] + table["again"][k]) / 2
        found.append(
            Reread(
                size, cols, rows, grid, bool(table["fewer"][k]), flight(made, grid),
                float(table["dram_read_bytes"][k]) / nbytes, float(table["dram_write_bytes"][k]) / nbytes,
                microseconds, 2 * nbytes / microseconds / 1e3 / copied,
            )
        )  # fmt: skip
    return tuple(found)
