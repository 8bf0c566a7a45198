"""Launches whose blocks share work: who asks first takes it, so that a block has less to do where more take part.

A work queue is a counter in global memory: blocks take what comes next until nothing is left. A few sampled blocks
would take the work of the whole grid. Where a rule about the code finds the atomic that takes work
(:mod:`softlab.sass.taking`), a few blocks are interpreted with their part of it. A second run with twice the part
confirms that.

Else a trial tells whether blocks share work: the same blocks are interpreted again among twice as many. If they have
less to do, all blocks of the grid are interpreted together. It finds queues by any atomic, and tickets of which each
block takes one stay as they are. Where no branch and no request depends on what an atomic brings, nothing is shared,
and there is no trial (:mod:`softlab.sass.decided`).

Less to do means fewer instructions, or fewer stores: where blocks wait for a lock, more of them look at it more often.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from softlab.sass.streams import Kind, Space, WarpStream
from softlab.timing.columns import Columns
from softlab.timing.sampling import INTERPRETED, MORE, Sample
from softlab.timing.traits import CodeTraits

_GLOBAL, _ATOMIC, _STORE = int(Space.GLOBAL), int(Kind.ATOMIC), int(Kind.STORE)
#: Blocks share work if the instructions or the stores of some, interpreted among twice as many, fall below this share.
_LESS = 0.95
#: Instructions of warps of a whole grid that are interpreted at most where blocks share work, and how many times as
#: many blocks as the GPU holds at once: their registers and shared memory are all there together.
_TOGETHER, _WAVES = 20_000_000, 8


def may_share(columns: Columns) -> bool:
    """Whether a block comes back to a sector of global memory with atomics that bring a value.

    Where each block takes a single ticket, none does, and the work of a block is its own.
    """
    chosen = columns.kind == _ATOMIC
    if not chosen.any():
        return False
    chosen &= columns.space == _GLOBAL
    sectors = columns.sectors[chosen.repeat(columns.counts)]
    if not len(sectors):
        return False
    least = int(sectors.min())
    span = int(sectors.max()) - least + 1  # sectors have 43 bits, and a sample some thousand blocks
    both = np.sort((columns.row[chosen] * span).repeat(columns.counts[chosen]) + (sectors - least))
    return bool((both[1:] == both[:-1]).any())


def most_together(counts: Mapping[int, int], at_once: int, *, grow: bool) -> int:
    """How many blocks that wait for others are few enough to be interpreted together.

    Arguments:
        counts: block -> its instructions, of some. at_once: as for :func:`few_enough`. grow: whether a block has the
            more to do the more blocks there are, as where they stand in a queue.
    """
    known = max(1, len(counts))
    each = max(1.0, sum(counts.values()) / known)
    return min(_WAVES * at_once, int((_TOGETHER * known / each) ** 0.5 if grow else _TOGETHER / each))


def compare(columns: Columns, code: CodeTraits) -> bool:
    """Whether warps have compare-and-swap on global memory: how often they try depends on what all blocks swap."""
    return bool(code.swaps.any()) and bool(code.swaps[columns.instructions].any())


def cheap(counts: Mapping[int, int], blocks: int) -> bool:
    """Whether a whole grid has no more instructions than are interpreted to see how blocks differ.

    Arguments:
        counts: block -> its instructions, of some. blocks: of the grid.
    """
    return sum(counts.values()) / max(1, len(counts)) * blocks <= INTERPRETED


def among(known: Iterable[int], blocks: int) -> set[int]:
    """The known blocks of a grid, and as many others from all over it."""
    own = set(known)
    others = [block for block in range(blocks) if block not in own]
    count = min(len(own), len(others))
    return own | {others[len(others) * k // count] for k in range(count)}


def have_less(counts: Mapping[int, int], more: Mapping[int, int]) -> bool:
    """Whether blocks have less to do where more take part.

    Arguments:
        counts, more: block -> its instructions or stores, of some blocks and of these among others.
    """
    return sum(more[block] for block in counts) < _LESS * sum(counts.values())


def stores_of_blocks(columns: Columns) -> dict[int, int]:
    """Block -> the stores to global memory that its warps executed."""
    stores = (columns.space == _GLOBAL) & (columns.kind == _STORE)
    block = np.searchsorted(columns.blocks, columns.block_of_stream)[columns.owner[stores]]
    counts = np.bincount(block, minlength=len(columns.blocks))
    return dict(zip(columns.blocks.tolist(), counts.tolist(), strict=True))


def few_enough(counts: Mapping[int, int], more: Mapping[int, int], blocks: int, at_once: int) -> bool:
    """Whether all blocks of the grid can be interpreted together: what they share stays, and each adds its own.

    Arguments:
        counts, more: instructions, as for :func:`have_less`.
        blocks, at_once: of the grid, and those that the GPU holds at once.
    """
    total, larger = sum(counts.values()), sum(more.values())
    own = max(0.0, (larger - total) / max(1, len(more) - len(counts)))
    return blocks <= _WAVES * at_once and larger + own * (blocks - len(more)) <= _TOGETHER


def is_too_much(counts: Mapping[int, int], blocks: int, at_once: int) -> bool:
    """Whether all blocks of a grid are too many to be interpreted together.

    Arguments:
        counts: block -> its instructions, of some, each with its part of the work. blocks, at_once: of the grid, and
            those that the GPU holds at once.
    """
    return blocks > _WAVES * at_once or sum(counts.values()) / len(counts) * blocks > _TOGETHER


def take_several(streams: Iterable[WarpStream]) -> bool:
    """Whether at least half of the blocks have a warp that took two pieces of the shared work or more.

    Else some blocks have a piece and others have none, and a few blocks say little of the others.
    """
    return bool(np.median(list(pieces(streams).values())) >= 2)


def pieces(streams: Iterable[WarpStream]) -> dict[int, int]:
    """Block -> how many pieces of the shared work one of its warps took at most, but at least one.

    A warp asks once more than it gets pieces, by one instruction that brings a value.
    """
    most: dict[int, int] = {}
    for stream in streams:
        found = stream.accesses
        chosen = (found.space == Space.GLOBAL) & (found.kind == Kind.ATOMIC)
        asked = np.bincount(stream.instructions[found.position[chosen]], minlength=1)
        most[stream.block] = max(most.get(stream.block, 1), int(asked.max()) - 1)
    return most


def is_uneven(sample: Sample, blocks: int) -> bool:
    """Whether some SMs have a block fewer than the simulated one, and all blocks are there at once."""
    known = len(sample.blocks) == sample.per_sm <= sample.resident
    return known and sample.per_sm > 1 and blocks < sample.per_sm * sample.active


def evened(full: float, other: float, sample: Sample, blocks: int) -> float:
    """Cycles of a launch whose blocks share work, where some SMs have a block fewer than the others.

    All SMs end together: whose warps are faster, since there are fewer of them, does more of the work.

    Arguments:
        full, other: cycles of an SM with ``sample.per_sm`` blocks and with one fewer, each with its part of the work.
    """
    fewer = sample.per_sm * sample.active - blocks
    rate = (sample.active - fewer) * sample.per_sm / full + fewer * (sample.per_sm - 1) / other
    return blocks / rate


def usual(sample: Sample, counts: Mapping[int, int], longest: Mapping[int, float], pieces: Mapping[int, int]) -> Sample:
    """The sample with other blocks: one from each of as many equal ranges of all blocks, by their instructions.

    Blocks that are on the GPU together and share work end together: who has taken much takes less often. Interpreted
    blocks take turns instead. So what an SM does is the mean, not what the SM of the largest blocks would do. But a
    piece of work is done by one warp: an SM that has the longest one may be the last to end.

    Arguments:
        longest: block -> cycles of its longest warp by itself. pieces: those of the work that one of its warps took.
    """
    ranked, count = sorted(counts, key=lambda block: (counts[block], block)), len(sample.blocks)
    middles = (len(ranked) * (2 * k + 1) // (2 * count) for k in range(count))
    blocks = tuple(sorted(ranked[middle] for middle in middles))
    each = {block: cycles / pieces[block] for block, cycles in longest.items()}
    last = max(each, key=lambda block: (each[block], block))
    if each[last] <= MORE * max(longest[block] for block in blocks):
        return replace(sample, blocks=blocks)
    return replace(sample, blocks=blocks, longest=tuple(sorted((last, *blocks[1:]))))
