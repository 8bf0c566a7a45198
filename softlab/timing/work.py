"""What the warps of the sampled blocks executed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from softlab.sass.streams import Kind, Space, Streams, WarpStream
from softlab.timing import native_work
from softlab.timing.columns import Columns
from softlab.timing.traits import CodeTraits

#: (position, space, kind, wavefronts, sectors or the words of an atomic of shared memory, lanes, bytes per lane,
#: whether it passes L1 by; of an atomic: its code; lines of 128 bytes, and how many of them the busiest bank of L1's
#: tags looks up)
MemoryRequest = tuple[int, int, int, int, tuple[int, ...], int, int, int, int, int]
_NUMBERS, _SECTORS = itemgetter(0, 1, 2, 3, 5, 6, 7, 8, 9), itemgetter(4)
_GLOBAL, _SHARED = int(Space.GLOBAL), int(Space.SHARED)
_ATOMIC, _COPY = int(Kind.ATOMIC), int(Kind.ASYNC_COPY)
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
    def joined(cls, parts: Sequence[Requests]) -> Requests:
        """All of them, one part after the other."""
        if len(parts) == 1:
            return parts[0]
        found = parts or [cls.of(())]
        return cls(
            np.concatenate([one.numbers for one in found]), np.concatenate([one.counts for one in found]),
            np.concatenate([one.sectors for one in found]),
        )  # fmt: skip

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


@dataclass(frozen=True, eq=False)
class BlockWork:
    """One block: its linear index in the grid, and what its warps execute, one warp after the other.

    ``code`` int32 and ``splits`` uint8 (n,): the instructions by index, and what the warp waits for behind each
    (:class:`Split`, or 0). ``requests``: of all warps. ``lengths`` and ``asked`` int64 (warps,): instructions and
    requests of each warp. ``barriers``: what each has in registers for barriers. ``further`` int64 (warps,): how many
    instructions each executes behind these; None: none does.
    """

    block: int
    code: np.ndarray
    splits: np.ndarray
    requests: Requests
    lengths: np.ndarray
    asked: np.ndarray
    barriers: tuple[tuple[int, ...], ...]
    further: np.ndarray | None = None

    @classmethod
    def of(cls, block: int, warps: Sequence[WarpWork]) -> BlockWork:
        """A block of these warps."""
        codes = [np.asarray(warp.code, np.int32) for warp in warps]
        splits = [np.zeros(len(code), np.uint8) for code in codes]
        for found, warp in zip(splits, warps, strict=True):
            found[list(warp.splits)] = list(warp.splits.values())
        return cls(
            block,
            np.concatenate([*codes, np.zeros(0, np.int32)]),
            np.concatenate([*splits, np.zeros(0, np.uint8)]),
            Requests.joined([Requests.of(warp.requests) for warp in warps]),
            np.array([len(code) for code in codes], np.int64),
            np.array([len(warp.requests) for warp in warps], np.int64),
            tuple(tuple(warp.barriers) for warp in warps),
        )

    @property
    def warps(self) -> tuple[WarpWork, ...]:
        """Its warps, each by itself."""
        found = []
        at = asked = sector = 0
        for length, count, barriers in zip(self.lengths.tolist(), self.asked.tolist(), self.barriers, strict=True):
            splits, counts = self.splits[at : at + length], self.requests.counts[asked : asked + count]
            sectors = int(counts.sum())
            requests = Requests(
                self.requests.numbers[asked : asked + count], counts, self.requests.sectors[sector : sector + sectors]
            )
            places = np.flatnonzero(splits)
            parts = dict(zip(places.tolist(), splits[places].tolist(), strict=True))
            found.append(WarpWork(self.code[at : at + length], requests, parts, barriers))
            at, asked, sector = at + length, asked + count, sector + sectors
        return tuple(found)

    @property
    def instructions(self) -> int:
        """Instructions that its warps issue."""
        return len(self.code) + (0 if self.further is None else int(self.further.sum()))


def block_work(
    streams: Sequence[WarpStream], code: CodeTraits, blocks: Iterable[int] | None = None
) -> list[BlockWork]:  # fmt: skip
    """The blocks of the streams, or some of these, in order of their index."""
    if isinstance(streams, Streams) and native_work.ready(streams):
        return _compiled(streams, code, streams.warps_of(set(streams.block.tolist()) if blocks is None else blocks))
    if blocks is not None:
        streams = Columns.of(streams).streams_of(blocks)
    if not (isinstance(streams, Streams) and (np.diff(streams.block) >= 0).all()):
        streams = sorted(streams, key=lambda stream: (stream.block, stream.warp))
    columns = Columns.of(streams)
    requests, splits, barriers = _requests(columns, code), _splits(columns, code), _barriers(streams)
    # Where each block begins: its warps, instructions, requests and sectors.
    blocks = columns.block_of_stream
    first = np.flatnonzero(np.diff(blocks, prepend=-1))
    warps = [*first.tolist(), len(blocks)]
    places = (_ends(values)[warps].tolist() for values in (columns.lengths, columns.requests))
    at, asked = places
    sectors = _ends(requests.counts)[asked].tolist()
    return [
        BlockWork(
            block, columns.instructions[at[k] : at[k + 1]], splits[at[k] : at[k + 1]],
            Requests(
                requests.numbers[asked[k] : asked[k + 1]], requests.counts[asked[k] : asked[k + 1]],
                requests.sectors[sectors[k] : sectors[k + 1]],
            ),
            columns.lengths[warps[k] : warps[k + 1]], columns.requests[warps[k] : warps[k + 1]],
            tuple(barriers[warps[k] : warps[k + 1]]),
            None if columns.further is None else columns.further[warps[k] : warps[k + 1]],
        )
        for k, block in enumerate(blocks[first].tolist())
    ]  # fmt: skip


def _compiled(streams: Streams, code: CodeTraits, chosen: np.ndarray) -> list[BlockWork]:
    """The blocks of the chosen warps, which are sorted by block."""
    instructions, splits, numbers, counts, sectors, places = native_work.made(streams, chosen, code, _TAG_BANKS)
    blocks, limits = streams.block[chosen].tolist(), places.tolist()
    lengths, asked, _ = (places[1:] - places[:-1]).T.copy()
    held = streams.barriers
    further = None if streams.further is None else streams.further[chosen]
    barriers = [tuple(held[k].tolist()) if k in held else () for k in chosen.tolist()]
    first = [k for k, block in enumerate(blocks) if k == 0 or block != blocks[k - 1]]
    found = []
    for low, high in pairwise([*first, len(blocks)]):
        (at, request, sector), (end, last, behind) = limits[low], limits[high]
        requests = Requests(numbers[request:last], counts[request:last], sectors[sector:behind])
        found.append(
            BlockWork(
                blocks[low], instructions[at:end], splits[at:end], requests, lengths[low:high], asked[low:high],
                tuple(barriers[low:high]), None if further is None else further[low:high],
            )
        )  # fmt: skip
    return found


def _ends(counts: np.ndarray) -> np.ndarray:
    """Where each of some parts begins, and the end of the last one."""
    return np.concatenate(([0], np.cumsum(counts)))


def _barriers(streams: Sequence[WarpStream]) -> list[tuple[int, ...]]:
    """What the barriers of each warp have in registers."""
    if isinstance(streams, Streams):
        found: list[tuple[int, ...]] = [()] * len(streams)
        for k, values in streams.barriers.items():
            found[k] = tuple(values.tolist())
        return found
    return [tuple(stream.barriers.tolist()) for stream in streams]


def _requests(columns: Columns, code: CodeTraits) -> Requests:
    """The requests of all warps."""
    passed = (columns.space == _SHARED) & (columns.kind != _ATOMIC)
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
    copies = columns.kind == _COPY
    if not copies.any():
        return pieces
    past = copies & (code.codes[columns.instruction] == 1)
    source = np.flatnonzero(past[:-1] & (columns.space[:-1] == _GLOBAL) & (columns.space[1:] == _SHARED))
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


def _splits(columns: Columns, code: CodeTraits) -> np.ndarray:
    """Of each instruction a :class:`Split`, or 0: uint8."""
    active, path, instructions = columns.active, columns.came, columns.instructions
    ends = np.cumsum(columns.lengths)
    every = np.zeros(len(active), np.uint8)
    # Lanes that go on together wait for nothing.
    at = np.flatnonzero((active[1:] != active[:-1]) | (path[1:] != path[:-1]) | (path[1:] == 0))
    before, after, came, coming = active[at], active[at + 1], path[at], path[at + 1]
    index, following = instructions[at], instructions[at + 1]
    jumps = code.jumps[index]
    found = np.zeros(len(at), np.uint8)
    found[(before != after) & (after & ~before == 0) & jumps] = Split.PARTED
    found[jumps & (following == index + 1) & (came != coming) & (coming & ~came == 0)] = Split.AHEAD
    others = np.flatnonzero((came & coming == 0) & ~code.ends[index] & ~code.meets[following])
    found[others[1:][coming[others[:-1]] == came[others[1:]]]] = Split.FURTHER
    found[others[code.parts[np.maximum(following[others] - 1, 0)]]] = Split.APART
    every[at] = found
    if code.yields.any():
        yields = np.flatnonzero(code.yields[instructions])
        every[yields] = np.where(_waiting(path, columns, ends)[yields], Split.GIVEN_WAY, Split.YIELDED)
    every[ends - 1] = 0  # the next instruction is of another warp
    return every


def _waiting(path: np.ndarray, columns: Columns, ends: np.ndarray) -> np.ndarray:
    """bool of each instruction: whether lanes that have no part in it execute something later."""
    later = np.zeros(len(path), np.uint32)
    for begin, end in zip((ends - columns.lengths).tolist(), ends.tolist(), strict=True):
        later[begin:end] = np.bitwise_or.accumulate(path[begin:end][::-1])[::-1]
    return (later & ~path) != 0
