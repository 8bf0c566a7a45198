"""What the warps of the sampled blocks executed, as plain lists, which are quick in Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.sass.streams import Kind, Space, WarpStream
from softlab.timing.columns import Columns

#: (position, space, kind, wavefronts, sectors or the words of an atomic of shared memory, lanes, bytes per lane,
#: whether it passes L1 by; of an atomic: its code; lines of 128 bytes, and how many of them the busiest bank of L1's
#: tags looks up)
MemoryRequest = tuple[int, int, int, int, tuple[int, ...], int, int, int, int, int]
#: Atomics that take their unit of L2 for longer: 1 adds floats, which waits longer for the same word; 2 adds doubles or
#: compares; 0 are all others. 3: a compare-and-swap of shared memory that a loop repeats.
ATOMIC_CODES = (0, 1, 2, 3)
#: Loads that every reader has to see as L2 has it pass L1 by (PTX ISA: ld.relaxed, ld.acquire, ld.volatile).
_STRONG = frozenset(("STRONG", "GPU", "SYS", "MMIO"))

_BRANCHES = frozenset(("BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU"))
_ATOMICS = frozenset(("ATOM", "ATOMG", "ATOMS", "RED", "REDG"))
_FLOATS = frozenset(("F32", "F16", "F16x2", "BF16", "BF16_V2", "FTZ"))
_SLOW = frozenset(("CAS", "F64"))
#: The bank of L1's tags that a line lies in, by its last seven bits: the one hash of these bits by exclusive or that
#: gives all rows ``interval_sm.LDG.apart.N`` of the atlas, 19 distances between lanes.
_TAG_BANKS = np.array([(n & 0b0110101).bit_count() % 2 | (n & 0b1011010).bit_count() % 2 << 1 for n in range(128)])


@dataclass(frozen=True)
class WarpWork:
    """The instructions of one warp by index, and its requests in order; ``splits``: the positions of the branches at
    which its lanes part. ``barriers``: as :class:`softlab.sass.streams.WarpStream` has them."""

    code: list[int]
    requests: list[MemoryRequest]
    splits: frozenset[int] = frozenset()
    barriers: tuple[int, ...] = ()


@dataclass(frozen=True)
class BlockWork:
    """One block: its linear index in the grid and its warps."""

    block: int
    warps: tuple[WarpWork, ...]

    @property
    def instructions(self) -> int:
        """Instructions that its warps issue."""
        return sum(len(warp.code) for warp in self.warps)


def block_work(streams: Sequence[WarpStream], code: Sequence[MachineInstruction]) -> list[BlockWork]:
    """The blocks of the streams, in order of their index."""
    widths = np.array([access_width(one) for one in code])
    strong = np.array([_code(one) for one in code])
    branches = np.array([one.opcode in _BRANCHES for one in code], bool)
    columns = Columns.of(sorted(streams, key=lambda stream: (stream.block, stream.warp)))
    requests = _requests(columns, widths, strong)
    splits = _splits(columns, branches)
    blocks: dict[int, list[WarpWork]] = {}
    first = 0
    for stream, count, parts in zip(columns.streams, columns.requests.tolist(), splits, strict=True):
        barriers = tuple(stream.barriers.tolist())
        work = WarpWork(stream.instructions.tolist(), requests[first : first + count], parts, barriers)
        blocks.setdefault(stream.block, []).append(work)
        first += count
    return [BlockWork(block, tuple(works)) for block, works in blocks.items()]


def _requests(columns: Columns, widths: np.ndarray, strong: np.ndarray) -> list[MemoryRequest]:
    """The requests of all warps."""
    sectors, limits = columns.sectors.tolist(), np.concatenate(([0], np.cumsum(columns.counts))).tolist()
    shared = ((columns.space == Space.SHARED) & (columns.kind != Kind.ATOMIC)).tolist()
    pieces = [
        () if passed else tuple(sectors[low:high])
        for passed, low, high in zip(shared, limits, limits[1:], strict=False)
    ]
    lines, looked_up = lines_and_banks(columns.counts, columns.sectors)
    return list(
        zip(
            columns.position.tolist(), columns.space.tolist(), columns.kind.tolist(), columns.wavefronts.tolist(),
            pieces, columns.lanes.tolist(), widths[columns.instruction].tolist(), strong[columns.instruction].tolist(),
            lines.tolist(), looked_up.tolist(), strict=True,
        )
    )  # fmt: skip


def lines_and_banks(counts: np.ndarray, sectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lines of each request, and how many of them the busiest of L1's four banks of tags looks up: int64 (m,) each.

    Arguments:
        counts: int64 (m,), sectors of each request. sectors: of all requests, those of one request ascending.
    """
    request, line = np.repeat(np.arange(len(counts)), counts), sectors >> 2
    begins = np.ones(len(line), bool)
    begins[1:] = (line[1:] != line[:-1]) | (request[1:] != request[:-1])
    request, bank = request[begins], _TAG_BANKS[line[begins] & 127]
    banks = np.bincount(request << 2 | bank, minlength=4 * len(counts)).reshape(-1, 4)
    return banks.sum(axis=1), banks.max(axis=1)


def _splits(columns: Columns, branches: np.ndarray) -> list[frozenset[int]]:
    """The positions of the branches at which the lanes of each warp part."""
    active, count = columns.active, len(columns.streams)
    before, after = active[:-1], active[1:]
    ends = np.cumsum(columns.lengths)
    found = np.flatnonzero((before != after) & (after & ~before == 0) & branches[columns.instructions[:-1]])
    warp = np.searchsorted(ends, found, "right")
    inner = found + 1 < ends[warp]  # the next instruction is of the same warp
    found, warp = found[inner], warp[inner]
    limits = np.searchsorted(warp, np.arange(count + 1)).tolist()
    positions = (found - (ends - columns.lengths)[warp]).tolist()
    return [frozenset(positions[low:high]) for low, high in pairwise(limits)]


def access_width(one: MachineInstruction) -> int:
    """Bytes per lane that an instruction accesses."""
    if one.width:
        return one.width * matrices_of(one)
    return 8 if "64" in one.modifiers else 16 if "128" in one.modifiers else 4


def matrices_of(one: MachineInstruction) -> int:
    """How many matrices of 8 rows of 16 bytes an instruction moves, 4 bytes per lane and matrix; else 1."""
    if one.opcode not in ("LDSM", "STSM"):
        return 1
    return next((int(m) for m in one.modifiers if m in ("2", "4")), 1)


def _code(one: MachineInstruction) -> int:
    """Of an atomic one of ``ATOMIC_CODES``, else whether it passes L1 by."""
    modifiers = set(one.modifiers)
    if one.opcode not in _ATOMICS:
        return int(bool(_STRONG & modifiers))
    if "CAST" in modifiers:
        return 3
    return 2 if modifiers & _SLOW else int(bool(modifiers & _FLOATS))
