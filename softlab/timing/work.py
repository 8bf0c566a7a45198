"""What the warps of the sampled blocks executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from softlab.sass.streams import NO_BARRIERS, Kind, Space, Streams, WarpStream
from softlab.timing.columns import Columns
from softlab.timing.traits import CodeTraits

#: (position, space, kind, wavefronts, sectors or the words of an atomic of shared memory, lanes, bytes per lane,
#: whether it passes L1 by; of an atomic: its code; lines of 128 bytes, and how many of them the busiest bank of L1's
#: tags looks up)
MemoryRequest = tuple[int, int, int, int, tuple[int, ...], int, int, int, int, int]
_NUMBERS, _SECTORS = itemgetter(0, 1, 2, 3, 5, 6, 7, 8, 9), itemgetter(4)
#: The bank of L1's tags that a line lies in, by its last seven bits: the one hash of these bits by exclusive or that
#: gives all rows ``interval_sm.LDG.apart.N`` of the atlas, 19 distances between lanes.
_TAG_BANKS = np.array([(n & 0b0110101).bit_count() % 2 | (n & 0b1011010).bit_count() % 2 << 1 for n in range(128)])


class Split(IntEnum):
    """What a warp waits for behind an instruction, since its lanes are at different places of the code.

    PARTED: of the lanes that jump, some go on first. AHEAD: some lanes jump, and the others go on. FURTHER: other
    lanes than before go on, and those before had followed others, too. APART: lanes that WARPSYNC.EXCLUSIVE keeps
    apart, behind others. YIELDED: YIELD. GIVEN_WAY: YIELD while other lanes wait.
    """

    PARTED = 1
    AHEAD = 2
    FURTHER = 3
    APART = 4
    YIELDED = 5
    GIVEN_WAY = 6


@dataclass(frozen=True, eq=False)
class Requests(Sequence[MemoryRequest]):
    """Requests as arrays, for compiled loops, and as tuples, which are quick in Python.

    ``numbers`` (m, 9): all of a request but its sectors; ``counts`` (m,): how many sectors it has; ``sectors``: of all
    requests. All are int64.
    """

    numbers: np.ndarray
    counts: np.ndarray
    sectors: np.ndarray

    @classmethod
    def of(cls, requests: Sequence[MemoryRequest]) -> Requests:
        """These requests."""
        if isinstance(requests, Requests):
            return requests
        numbers = np.fromiter(chain.from_iterable(map(_NUMBERS, requests)), np.int64, 9 * len(requests))
        counts = np.fromiter(map(len, map(_SECTORS, requests)), np.int64, len(requests))
        sectors = np.fromiter(chain.from_iterable(map(_SECTORS, requests)), np.int64, int(counts.sum()))
        return cls(numbers.reshape(-1, 9), counts, sectors)

    @classmethod
    def joined(cls, parts: Sequence[Sequence[MemoryRequest]]) -> Requests:
        """All of them, one part after the other."""
        found = [cls.of(part) for part in parts] or [cls.of(())]
        return cls(
            *(np.concatenate(one) for one in zip(*((r.numbers, r.counts, r.sectors) for r in found), strict=True))
        )

    @cached_property
    def tuples(self) -> list[MemoryRequest]:
        """The requests, each as a tuple."""
        ends, sectors = np.cumsum(self.counts), self.sectors.tolist()
        pieces = [
            tuple(sectors[low:high]) for low, high in zip((ends - self.counts).tolist(), ends.tolist(), strict=True)
        ]
        columns = self.numbers.T.tolist()
        return list(zip(*columns[:4], pieces, *columns[4:], strict=True))

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, number: Any) -> Any:
        return self.tuples[number]

    def __iter__(self) -> Iterator[MemoryRequest]:
        return iter(self.tuples)


@dataclass(frozen=True)
class WarpWork:
    """The instructions of one warp by index, and its requests in order; ``splits``: position -> what the warp waits for
    behind it, of :class:`Split`. ``barriers``: as :class:`softlab.sass.streams.WarpStream` has them."""

    code: Sequence[int] | np.ndarray
    requests: Sequence[MemoryRequest]
    splits: Mapping[int, int] = field(default_factory=dict)
    barriers: tuple[int, ...] = ()


@dataclass(frozen=True)
class BlockWork:
    """One block: its linear index in the grid and its warps."""

    block: int
    warps: tuple[WarpWork, ...]

    @cached_property
    def requests(self) -> Requests:
        """Those of all its warps, one warp after the other."""
        return Requests.joined([warp.requests for warp in self.warps])

    @cached_property
    def instructions(self) -> int:
        """Instructions that its warps issue."""
        return sum(len(warp.code) for warp in self.warps)


def block_work(streams: Sequence[WarpStream], code: CodeTraits) -> list[BlockWork]:
    """The blocks of the streams, in order of their index."""
    if not (isinstance(streams, Streams) and (np.diff(streams.block) >= 0).all()):
        streams = sorted(streams, key=lambda stream: (stream.block, stream.warp))
    columns = Columns.of(streams)
    asked, limits = _requests(columns, code), np.concatenate(([0], np.cumsum(columns.requests))).tolist()
    ends = np.concatenate(([0], np.cumsum(asked.counts)))[limits].tolist()
    requests = [
        Requests(asked.numbers[first:last], asked.counts[first:last], asked.sectors[begin:end])
        for (first, last), (begin, end) in zip(pairwise(limits), pairwise(ends), strict=True)
    ]
    splits = _splits(columns, code)
    blocks: dict[int, list[WarpWork]] = {}
    at = 0
    numbers = zip(columns.block_of_stream.tolist(), columns.lengths.tolist(), requests, strict=True)
    for (block, length, own), barriers, parts in zip(numbers, _barriers(streams), splits, strict=True):
        instructions = columns.instructions[at : at + length]
        blocks.setdefault(block, []).append(WarpWork(instructions, own, parts, barriers))
        at += length
    return [BlockWork(block, tuple(works)) for block, works in blocks.items()]


def _barriers(streams: Sequence[WarpStream]) -> list[tuple[int, ...]]:
    """What the barriers of each warp have in registers."""
    if isinstance(streams, Streams):
        return [tuple(streams.barriers.get(k, NO_BARRIERS).tolist()) for k in range(len(streams))]
    return [tuple(stream.barriers.tolist()) for stream in streams]


def _requests(columns: Columns, code: CodeTraits) -> Requests:
    """The requests of all warps."""
    passed = (columns.space == Space.SHARED) & (columns.kind != Kind.ATOMIC)
    lines, looked_up = lines_and_banks(columns.counts, columns.sectors)
    lines = np.maximum(lines, _pieces(columns, code))
    numbers = (
        columns.position, columns.space, columns.kind, columns.wavefronts, columns.lanes,
        code.widths[columns.instruction], code.codes[columns.instruction], lines, looked_up,
    )  # fmt: skip
    made = np.empty((len(passed), len(numbers)), np.int64)
    for number, values in enumerate(numbers):
        made[:, number] = values
    counts = np.where(passed, 0, columns.counts)
    return Requests(
        made, counts, columns.sectors[np.repeat(~passed, columns.counts)] if passed.any() else columns.sectors
    )


def _pieces(columns: Columns, code: CodeTraits) -> np.ndarray:
    """Of each asynchronous copy past L1 the sectors of shared memory that it fills in part, 0 of others: int64 (m,).

    L2 sends a sector at a time. Where what it holds does not lie together in shared memory, each lane is a request by
    itself. Of 32 lanes that copied 512 neighbouring bytes to places 32, 64, 96 or 144 bytes apart, an H200 took 32
    cycles per copy on one SM, and 57 on all (2026-11-28): as of 32 sectors in 32 lines.
    """
    pieces = np.zeros(len(columns.counts), np.int64)
    past = (columns.kind == Kind.ASYNC_COPY) & (code.codes[columns.instruction] == 1)
    source = np.flatnonzero(past[:-1] & (columns.space[:-1] == Space.GLOBAL) & (columns.space[1:] == Space.SHARED))
    filled, nbytes = columns.counts[source + 1], columns.lanes[source] * code.widths[columns.instruction[source]]
    pieces[source] = np.where(32 * filled > nbytes + 32, filled, 0)
    return pieces


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


def _splits(columns: Columns, code: CodeTraits) -> list[dict[int, int]]:
    """Position -> :class:`Split`, of each warp."""
    active, instructions = columns.active, columns.instructions
    ends = np.cumsum(columns.lengths)
    before, after, index, coming = active[:-1], active[1:], instructions[:-1], instructions[1:]
    inner = np.ones(len(before), bool)
    inner[ends[:-1] - 1] = False  # the next instruction is of another warp
    jumps = code.jumps[index]
    found = np.zeros(len(before), np.uint8)
    found[(before != after) & (after & ~before == 0) & jumps] = Split.PARTED
    path = columns.came
    found[jumps & (coming == index + 1) & (path[:-1] != path[1:]) & (path[1:] & ~path[:-1] == 0)] = Split.AHEAD
    others = (path[:-1] & path[1:] == 0) & ~code.ends[index] & ~code.meets[coming]
    places = np.flatnonzero(others)
    found[places[1:][path[places[:-1] + 1] == path[places[1:]]]] = Split.FURTHER
    found[others & code.parts[np.maximum(coming - 1, 0)]] = Split.APART
    yields = np.flatnonzero(code.yields[index])
    if len(yields):
        found[yields] = np.where(_waiting(path, columns, ends)[yields], Split.GIVEN_WAY, Split.YIELDED)
    return _by_warp(np.where(inner, found, 0), ends, columns.lengths)


def _waiting(path: np.ndarray, columns: Columns, ends: np.ndarray) -> np.ndarray:
    """bool of each instruction: whether lanes that have no part in it execute something later."""
    later = np.zeros(len(path), np.uint32)
    for begin, end in zip((ends - columns.lengths).tolist(), ends.tolist(), strict=True):
        later[begin:end] = np.bitwise_or.accumulate(path[begin:end][::-1])[::-1]
    return (later & ~path) != 0


def _by_warp(found: np.ndarray, ends: np.ndarray, lengths: np.ndarray) -> list[dict[int, int]]:
    places = np.flatnonzero(found)
    warp = np.searchsorted(ends, places, "right")
    limits = np.searchsorted(warp, np.arange(len(ends) + 1)).tolist()
    positions, kinds = (places - (ends - lengths)[warp]).tolist(), found[places].tolist()
    return [dict(zip(positions[low:high], kinds[low:high], strict=True)) for low, high in pairwise(limits)]
