"""The requests of many warps as columns: one pass of NumPy counts for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int32s, Int64s
from softlab.sass.streams import Accesses, Kind, Space, Streams, WarpStream
from softlab.timing.distinct import distinct
from softlab.timing.first_loads import first_loads
from softlab.timing.touched import ANY, ATOMICS, LOADS, STORES, BlockSectors, Touched

#: Whether a request of each kind loads, and does nothing else.
BRINGS = np.array([kind in (Kind.LOAD, Kind.ASYNC_COPY) for kind in Kind])
#: Numbers, which NumPy compares faster than members.
_GLOBAL, _LOCAL = int(Space.GLOBAL), int(Space.LOCAL)
_LOAD, _STORE = int(Kind.LOAD), int(Kind.STORE)
_ATOMICS = np.array([kind in (Kind.ATOMIC, Kind.REDUCTION) for kind in Kind])
#: What NumPy takes for an instruction, in units of 100 microseconds.
_INSTRUCTION = 0.00005


@dataclass(frozen=True)
class Columns:
    """The m requests of all ``streams``, one warp after the other, and what the warps executed.

    ``lengths`` int64 (warps,): instructions of each warp, and ``requests`` likewise. ``position``, ``space``, ``kind``
    and ``wavefronts`` (m,) as in :class:`softlab.sass.streams.Accesses`; ``counts`` int64 (m,): sectors of each
    request; ``sectors`` int64: of all requests. ``further`` int64 (warps,): how many instructions each warp executed
    behind those; None: none did. ``lengths_known``: what :mod:`softlab.timing.lengths` has found.
    ``known``: what :mod:`softlab.timing.model` has found, the same for all GPUs and caches.
    """

    streams: Sequence[WarpStream]
    lengths: np.ndarray
    requests: np.ndarray
    position: np.ndarray
    space: np.ndarray
    kind: np.ndarray
    wavefronts: np.ndarray
    counts: np.ndarray
    sectors: np.ndarray
    further: np.ndarray | None = None
    lengths_known: dict[tuple[int, float, float], dict[int, float]] = field(default_factory=dict, repr=False)
    known: dict[tuple[Any, ...], Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, streams: Sequence[WarpStream]) -> Columns:
        """Of these warps."""
        if isinstance(streams, Streams):
            requests = streams.requests[1:] - streams.requests[:-1]
            # A warp has a place more than requests.
            at = np.arange(len(streams)).repeat(requests) + np.arange(len(streams.position))
            counts = streams.offsets[at + 1] - streams.offsets[at]
            return cls(
                *(streams, streams.limits[1:] - streams.limits[:-1], requests),
                *(streams.position, streams.space, streams.kind, streams.wavefronts, counts, streams.sectors),
                streams.further,
            )
        accesses = [stream.accesses for stream in streams]
        lengths = np.array([len(stream.instructions) for stream in streams], np.int64)
        requests = np.array([len(one.position) for one in accesses], np.int64)
        offsets = _joined(accesses, lambda one: one.offsets, np.int64)
        counts = np.diff(offsets)
        further = np.array([stream.further for stream in streams], np.int64)
        if len(streams) > 1:  # what lies between the offsets of two warps is no request
            counts = np.delete(counts, np.cumsum(requests + 1)[:-1] - 1)
        return cls(
            tuple(streams),
            lengths,
            requests,
            _joined(accesses, lambda one: one.position, np.int32),
            _joined(accesses, lambda one: one.space, np.uint8),
            _joined(accesses, lambda one: one.kind, np.uint8),
            _joined(accesses, lambda one: one.wavefronts, np.int32),
            counts,
            _joined(accesses, lambda one: one.sectors, np.int64),
            further if further.any() else None,
        )

    @cached_property
    def instructions(self) -> np.ndarray:
        """The instructions of all warps, one warp after the other: int32."""
        if isinstance(self.streams, Streams):
            return self.streams.instructions
        return np.concatenate([*(stream.instructions for stream in self.streams), np.zeros(0, np.int32)])

    def execute(self, chosen: np.ndarray) -> bool:
        """Whether any warp executed one of the chosen instructions. chosen: bool, by instruction."""
        return bool(chosen.any() and chosen[self.instructions].any())

    @cached_property
    def active(self) -> np.ndarray:
        """The lanes that executed each of them: uint32."""
        if isinstance(self.streams, Streams):
            return self.streams.active
        return np.concatenate([*(stream.active for stream in self.streams), np.zeros(0, np.uint32)])

    @cached_property
    def came(self) -> np.ndarray:
        """The lanes that came to each of them, also those that its guard held back: uint32."""
        if isinstance(self.streams, Streams):
            return self.streams.came
        each = (stream.active if stream.came is None else stream.came for stream in self.streams)
        return np.concatenate([*each, np.zeros(0, np.uint32)])

    @cached_property
    def owner(self) -> np.ndarray:
        """(m,) int64: the warp of each request."""
        return np.repeat(np.arange(len(self.streams)), self.requests)

    @cached_property
    def places(self) -> np.ndarray:
        """(m,) int64: where the instruction of each request stands in :attr:`instructions`."""
        return np.repeat(np.cumsum(self.lengths) - self.lengths, self.requests) + self.position

    @cached_property
    def numbers(self) -> np.ndarray:
        """(m,) int64: how many requests its warp has before each."""
        return np.arange(len(self.position)) - np.repeat(np.cumsum(self.requests) - self.requests, self.requests)

    @cached_property
    def instruction(self) -> np.ndarray:
        """(m,) int32: the instruction of each request."""
        return self.instructions[self.places]

    @cached_property
    def lanes(self) -> np.ndarray:
        """(m,) uint8: how many lanes executed it."""
        return np.bitwise_count(self.active[self.places])

    @cached_property
    def first_loads(self) -> np.ndarray:
        """The loads of global memory that have a sector which their warp loads for the first time, ascending: int64."""
        return first_loads(self.sectors, self.counts, self.owner, (self.space == _GLOBAL) & (self.kind == _LOAD))

    @cached_property
    def blocks(self) -> np.ndarray:
        """The blocks of the streams, ascending: int64."""
        return distinct(self.block_of_stream)

    @cached_property
    def block_of_stream(self) -> np.ndarray:
        """The block of each warp: int64 (warps,)."""
        if isinstance(self.streams, Streams):
            return self.streams.block
        return np.array([stream.block for stream in self.streams], np.int64)

    def streams_of(self, blocks: Iterable[int]) -> Sequence[WarpStream]:
        """The streams of the warps of some blocks, in order."""
        if isinstance(self.streams, Streams):
            return self.streams.of_blocks(blocks)
        wanted = set(blocks)
        return [stream for stream in self.streams if stream.block in wanted]

    @cached_property
    def instructions_of_blocks(self) -> dict[int, int]:
        """Block -> the instructions that its warps executed, in the order of the streams."""
        return self.by_block(self.executed, np.add)

    @property
    def executed(self) -> np.ndarray:
        """How many instructions each warp executed, those that are not here among them: int64 (warps,)."""
        return self.lengths if self.further is None else self.lengths + self.further

    @property
    def part(self) -> float:
        """The share of what the warps executed that is here."""
        return 1.0 if self.further is None else float(self.lengths.sum() / self.executed.sum())

    @property
    def least(self) -> float:
        """Of the warps that executed more than what is here, the least that one has here, as a share of their mean."""
        here = self.lengths if self.further is None else self.lengths[self.further > 0]
        return float(here.min() / max(1.0, here.mean())) if len(here) else 1.0

    def by_block(self, values: np.ndarray, of: np.ufunc) -> dict[int, Any]:
        """Block -> the sum or the largest of its warps' values (warps,), in the order of the streams."""
        found: dict[int, Any] = {}
        blocks, first = self._begins_of_blocks
        if blocks:
            for block, value in zip(blocks, of.reduceat(values, first).tolist(), strict=True):
                found[block] = of(found[block], value).item() if block in found else value
        return found

    @cached_property
    def _begins_of_blocks(self) -> tuple[list[int], np.ndarray]:
        """The block of each warp that follows one of another block, or none, and the places of these warps: int64."""
        blocks = self.block_of_stream
        first = np.ones(len(blocks), bool)
        np.not_equal(blocks[1:], blocks[:-1], out=first[1:])
        places = first.nonzero()[0]
        return blocks[places].tolist(), places

    @cached_property
    def _what_is_touched(self) -> Touched:
        return Touched(self.sectors, self.counts, self.row, self.space, self.kind, len(self.blocks))

    def touched_together(self, owner: np.ndarray | None = None) -> Touched:
        """What blocks touch, those of one owner together: int64 (blocks,); None: each by itself."""
        if owner is None:
            return self._what_is_touched
        owners, row = np.unique(owner, return_inverse=True)
        row = row.reshape(-1)[self.row]
        return Touched(self.sectors, self.counts, row, self.space, self.kind, len(owners))

    def touched(self, stored: bool = False) -> BlockSectors:
        """The distinct sectors of global memory that each block touches, or stores."""
        return self._what_is_touched.by_block(STORES if stored else ANY)

    @property
    def added(self) -> BlockSectors:
        """The distinct sectors of global memory that each block has atomics on."""
        return self._what_is_touched.by_block(ATOMICS)

    @property
    def loads_of_blocks(self) -> BlockSectors:
        """The distinct sectors of global memory whose values each block asks for."""
        return self._what_is_touched.by_block(LOADS)

    @cached_property
    def lanes_adding(self) -> np.ndarray:
        """How many lanes of each block have atomics on global memory, once per instruction: int64 (blocks,)."""
        wanted = self._global(_ATOMICS)
        if not wanted.any():
            return np.zeros(len(self.blocks), np.int64)
        return np.bincount(self.row[wanted], self.lanes[wanted], len(self.blocks)).astype(np.int64)

    def loads_of(self, blocks: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of all loads of global memory by the blocks, int64 (k,) each: the place of the block in ``blocks``, the
        sector, and the number of its request among those of the warp. blocks: some of :attr:`blocks`."""
        turns = np.full(len(self.blocks), -1)
        turns[self.blocks.searchsorted(blocks)] = np.arange(len(blocks))
        turn = turns[self.row]
        chosen = ((turn >= 0) & self._global(BRINGS)).nonzero()[0]
        counts = self.counts[chosen]
        before = self.counts.cumsum()[chosen] - counts.cumsum()
        sectors = self.sectors[before.repeat(counts) + np.arange(counts.sum())]
        return turn[chosen].repeat(counts), sectors, self.numbers[chosen].repeat(counts)

    def passes_adding(self, blocks: Iterable[int]) -> np.ndarray:
        """The sectors of all passes of the blocks' atomics on global memory: int64 (k,)."""
        adding = self._global(_ATOMICS)
        if not adding.any():
            return np.zeros(0, np.int64)
        own = np.isin(self.block_of_stream, np.array(sorted(set(blocks)), np.int64))[self.owner]
        return self.sectors[np.repeat(own & adding, self.counts)]

    @cached_property
    def row(self) -> np.ndarray:
        """(m,) int64: the place of each request's block in :attr:`blocks`."""
        return self.row_of_stream[self.owner]

    @cached_property
    def row_of_stream(self) -> np.ndarray:
        """The place of each warp's block in :attr:`blocks`: int64 (warps,)."""
        return self.blocks.searchsorted(self.block_of_stream)

    def _global(self, kinds: np.ndarray) -> np.ndarray:
        return self._in_global & kinds[self.kind]

    @cached_property
    def _in_global(self) -> np.ndarray:
        """(m,) bool: the requests to global memory."""
        return self.space == _GLOBAL

    @property
    def loaded(self) -> np.ndarray:
        """The distinct sectors of global memory whose values any block asks for, ascending: int64."""
        return self.loads_of_blocks.every

    def stored(self) -> np.ndarray:
        """Those that any block stores or changes, likewise."""
        return self.touched(stored=True).every

    def most_lanes(self, chosen: np.ndarray) -> int:
        """How many lanes of one block execute the chosen instructions at most. chosen: bool, by instruction."""
        if not chosen.any():
            return 0
        places = np.flatnonzero(chosen[self.instructions])
        warps = np.searchsorted(np.cumsum(self.lengths), places, "right")
        masks = np.zeros(len(self.lengths), np.uint32)
        np.bitwise_or.at(masks, warps, self.active[places])
        return max(self.by_block(np.bitwise_count(masks).astype(np.int64), np.add).values(), default=0)

    @cached_property
    def local_bytes(self) -> float:
        """Bytes of local memory that a warp uses, in the mean."""
        local = self.space == _LOCAL
        if not local.any():
            return 0.0
        sectors = self.sectors[np.repeat(local, self.counts)]
        owner = np.repeat(self.owner[local], self.counts[local])
        return 32 * len(distinct(owner * (int(sectors.max()) + 1) + sectors)) / max(1, len(self.streams))

    def stored_bytes(self, widths: np.ndarray) -> int:
        """The bytes that all stores write to global memory. ``widths``: bytes per lane of each instruction."""
        stores = self._in_global & (self.kind == _STORE)
        lanes, counts = self.lanes[stores].astype(np.int64), self.counts[stores]
        # A bulk copy has more sectors than its lane has bytes for.
        return int(np.where(counts > lanes, 32 * counts, lanes * widths[self.instruction[stores]]).sum())

    def lane_operations(self, weights: np.ndarray) -> int:
        """The weights of all executed instructions, int64, once per lane that executed them."""
        return weighed(self.instructions, np.bitwise_count(self.active), weights) if weights.any() else 0


def weigh(instructions: Int32s, lanes: Bytes, weights: Int64s, count: int) -> int:
    """The sum of ``lanes`` times the weights of ``instructions``."""
    total = 0
    for k in range(count):
        total += lanes[k] * weights[instructions[k]]
    return total


_WEIGH = CompiledFunction(weigh)


def weighed(instructions: np.ndarray, lanes: np.ndarray, weights: np.ndarray) -> int:
    """The sum of the instructions' weights, each times its lanes. int32 (n,), uint8 (n,), and int64 by instruction."""
    if not _WEIGH.ready(compiled_blocks(), _INSTRUCTION * len(instructions)):
        return int(lanes @ weights[instructions])
    given = tuple(map(np.ascontiguousarray, (instructions, lanes, weights)))
    return _WEIGH.call(*map(id, given), len(instructions))


def _joined(accesses: Sequence[Accesses], of: Callable[[Accesses], np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([*map(of, accesses), np.zeros(0, dtype)])
