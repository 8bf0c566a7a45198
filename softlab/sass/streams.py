"""What the warps of interpreted blocks executed: the records that a timing model takes.

A request is one execution of a memory instruction by one warp. It touches the memory in 32-byte sectors, and passes
through the data stage of shared memory or of the L1 cache in wavefronts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from typing import Any, overload

import numpy as np


class Space(IntEnum):
    """The memory that a request touches. VALUES is none: what the lanes of a MATCH.ANY compare in their registers."""

    GLOBAL = 0
    SHARED = 1
    LOCAL = 2
    CONSTANT = 3
    DISTRIBUTED_SHARED = 4
    VALUES = 5


class Kind(IntEnum):
    """What a request does. An atomic brings the old value back, a reduction does not."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    REDUCTION = 3
    ASYNC_COPY = 4


@dataclass(frozen=True)
class Accesses:
    """The m requests of one warp, in the order in which it issued them.

    ``position`` int32 (m,): index into ``WarpStream.instructions``. An instruction with two sides, such as an
    asynchronous copy from global to shared memory, has two requests with the same position.
    ``space`` uint8 (m,): codes of :class:`Space`. ``kind`` uint8 (m,): codes of :class:`Kind`.
    ``wavefronts`` int32 (m,): passes through the data stage of shared memory or of L1. For shared memory the bank rule
    (:mod:`softlab.instruments.banks`) gives them exactly. For loads and stores of other spaces they follow the same
    rule, as if the addresses were in shared memory: the passes that move the lanes' data through the banks of L1. The
    lines that a request touches, which L1 looks up one per cycle, are not in them: they follow from ``sectors``.
    Constants take a pass per address, MATCH.ANY per value. An atomic of shared memory takes a pass per lane of its
    busiest bank (one that counts lanes, which is a REDUCTION, follows the bank rule). For an atomic of global memory
    they are the passes in L2: a sector takes as many as there are lanes at its busiest word, and the sectors' passes
    are summed.
    ``offsets`` int64 (m + 1,): request k touches ``sectors[offsets[k]:offsets[k + 1]]``.
    ``sectors`` int64: the distinct 32-byte sectors of each request, ascending. An atomic of global memory has each of
    them once per pass. A sector of global memory is its address // 32. That of shared memory is the offset in the
    block's memory // 32 (an atomic has its words instead, offset // 4), of local memory the offset in the thread's
    memory * 32 lanes // 32 (lanes are interleaved by 4-byte words), of constant memory the offset in its bank // 32.
    """

    position: np.ndarray
    space: np.ndarray
    kind: np.ndarray
    wavefronts: np.ndarray
    offsets: np.ndarray
    sectors: np.ndarray

    def __len__(self) -> int:
        return len(self.position)

    @classmethod
    def empty(cls) -> Accesses:
        """No requests."""
        return cls(
            np.zeros(0, np.int32),
            np.zeros(0, np.uint8),
            np.zeros(0, np.uint8),
            np.zeros(0, np.int32),
            np.zeros(1, np.int64),
            np.zeros(0, np.int64),
        )


NO_BARRIERS = np.zeros(0, np.int64)
_OF_INSTRUCTIONS = ("instructions", "active", "came")
_OF_REQUESTS = ("position", "space", "kind", "wavefronts")


@dataclass(frozen=True)
class WarpStream:
    """What one warp executed, in the order of issue.

    ``block``: linear index of the block in the grid; ``warp``: of the warp in its block. ``instructions`` int32 (n,):
    the index of each machine instruction in its code (address // 16). ``active`` uint32 (n,): bit k is set if lane k
    executed it. An instruction that the guard turned off for all lanes is in the stream, with 0: it was issued. The
    order is that of a GPU, which goes on with some lanes until they wait for others (:mod:`softlab.sass.order`).
    ``came`` uint32 (n,): the lanes that came to it, also those that its guard held back; None: as ``active``.
    ``accesses``: the requests of the memory instructions. ``barriers`` int64: of each BAR whose number is in a register
    what the register has, or -1 if the guard turned it off. ``further``: how many instructions it executed behind
    these.
    """

    block: int
    warp: int
    instructions: np.ndarray
    active: np.ndarray
    accesses: Accesses
    barriers: np.ndarray = field(default_factory=lambda: NO_BARRIERS)
    came: np.ndarray | None = None
    further: int = 0

    def __len__(self) -> int:
        return len(self.instructions)


@dataclass(frozen=True, eq=False)
class Streams(Sequence[WarpStream]):
    """The streams of many warps. Their arrays lie one behind the other, and the record of a warp is made when it is
    asked for: a launch may have ten thousand warps.

    ``block`` and ``warp`` int64 (warps,): of each warp its block and its number in the block. ``instructions``,
    ``active``, ``came``, ``position``, ``space``, ``kind``, ``wavefronts``, ``offsets`` and ``sectors``: those of all
    warps, as :class:`WarpStream` and :class:`Accesses` have them. ``limits``, ``requests`` and ``begins`` int64
    (warps + 1,): where the instructions, the requests and the sectors of each warp begin. ``barriers``: index of a warp
    -> what its barriers have in registers, where it has such. ``further`` int64 (warps,): how many instructions
    each executed behind these; None: none did.
    """

    block: np.ndarray
    warp: np.ndarray
    instructions: np.ndarray
    active: np.ndarray
    came: np.ndarray
    limits: np.ndarray
    position: np.ndarray
    space: np.ndarray
    kind: np.ndarray
    wavefronts: np.ndarray
    offsets: np.ndarray
    sectors: np.ndarray
    requests: np.ndarray
    begins: np.ndarray
    barriers: Mapping[int, np.ndarray]
    further: np.ndarray | None = None

    @classmethod
    def joined(cls, parts: Sequence[Streams]) -> Streams:
        """The streams of all parts, at least one, in their order."""
        if len(parts) == 1:
            return parts[0]
        barriers, first = {}, 0
        for part in parts:
            barriers.update({first + k: found for k, found in part.barriers.items()})
            first += len(part)
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("block", "warp", *_OF_INSTRUCTIONS, *_OF_REQUESTS, "offsets", "sectors")
        }
        for name in ("limits", "requests", "begins"):
            arrays[name] = _limits([getattr(part, name) for part in parts])
        further = None
        if any(part.further is not None for part in parts):
            further = np.concatenate([part.beyond for part in parts])
        return cls(**arrays, barriers=barriers, further=further)

    @property
    def beyond(self) -> np.ndarray:
        """How many instructions each warp executed behind those that are here: int64 (warps,)."""
        return np.zeros(len(self), np.int64) if self.further is None else self.further

    def __len__(self) -> int:
        return len(self.block)

    @overload
    def __getitem__(self, k: int) -> WarpStream: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[WarpStream]: ...
    def __getitem__(self, k: int | slice) -> WarpStream | Sequence[WarpStream]:
        if isinstance(k, slice):
            return [self[one] for one in range(len(self))[k]]
        k = range(len(self))[k]
        (low, high), (a, b), (first, last) = (
            one[k : k + 2].tolist() for one in (self.limits, self.requests, self.begins)
        )
        accesses = Accesses(
            self.position[a:b],
            self.space[a:b],
            self.kind[a:b],
            self.wavefronts[a:b],
            self.offsets[a + k : b + k + 1],
            self.sectors[first:last],
        )
        barriers = self.barriers.get(k, NO_BARRIERS)
        return WarpStream(
            int(self.block[k]),
            int(self.warp[k]),
            self.instructions[low:high],
            self.active[low:high],
            accesses,
            barriers,
            self.came[low:high],
            0 if self.further is None else int(self.further[k]),
        )

    def warps_of(self, blocks: Iterable[int]) -> np.ndarray:
        """The places of the warps of some blocks, by block: int64."""
        chosen = _places_of(np.array(sorted(set(blocks)), np.int64), self.block)
        own = self.block[chosen]
        return chosen[own.argsort(kind="stable")] if np.count_nonzero(own[1:] < own[:-1]) else chosen

    def of_blocks(self, blocks: Iterable[int]) -> Streams:
        """Those of the warps of some blocks, by block."""
        chosen = self.warps_of(blocks)
        if len(chosen) == len(self) and not np.count_nonzero(chosen[1:] < chosen[:-1]):
            return self
        # Warps that follow each other are copied together.
        begins = [0, *((chosen[1:] - chosen[:-1] != 1).nonzero()[0] + 1).tolist(), len(chosen)]
        warps = chosen.tolist()
        ranges = [(warps[begin], warps[end - 1] + 1) for begin, end in pairwise(begins) if end > begin]
        low, high = (np.array(one, np.int64) for one in (zip(*ranges, strict=True) if ranges else ((), ())))
        limits = {
            ("block", "warp"): (low, high),
            _OF_INSTRUCTIONS: (self.limits[low], self.limits[high]),
            _OF_REQUESTS: (self.requests[low], self.requests[high]),
            ("offsets",): (self.requests[low] + low, self.requests[high] + high),
            ("sectors",): (self.begins[low], self.begins[high]),
        }
        parts = {names: list(map(slice, *(one.tolist() for one in ends))) for names, ends in limits.items()}
        arrays: dict[str, Any] = {
            name: _taken(getattr(self, name), where) for names, where in parts.items() for name in names
        }
        for name in ("limits", "requests", "begins"):
            arrays[name] = _ends(getattr(self, name), chosen)
        barriers = {new: self.barriers[old] for new, old in enumerate(chosen.tolist()) if old in self.barriers}
        return Streams(**arrays, barriers=barriers, further=None if self.further is None else self.further[chosen])


def _places_of(wanted: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The places of the values that are wanted. wanted: int64, ascending."""
    if not len(wanted):
        return np.zeros(0, np.int64)
    near = np.minimum(wanted.searchsorted(values), len(wanted) - 1)
    return (wanted[near] == values).nonzero()[0]


def _taken(array: np.ndarray, parts: Sequence[slice]) -> np.ndarray:
    """Parts of an array, one behind the other."""
    return np.concatenate([array[:0], *(array[part] for part in parts)])


def _ends(limits: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Where what some warps have begins, one behind the other."""
    return np.concatenate(([0], np.cumsum(limits[chosen + 1] - limits[chosen])))


def _limits(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Where what several arrays of limits are of begins, one behind the other."""
    ends = np.cumsum([0, *(part[-1] for part in parts)])
    return np.concatenate([[0], *(part[1:] + before for part, before in zip(parts, ends, strict=False))])
