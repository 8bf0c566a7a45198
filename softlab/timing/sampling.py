"""Which blocks are simulated, and how the whole launch follows from them.

The busiest SM runs ``ceil(blocks / SMs)`` blocks. If these are up to four waves, all of them are simulated. Of more,
four waves are, and the rest follows from the time between the second wave and the third one. The blocks of the first
wave start together and end together, those of the last one have less and less company.

The blocks come from all over the grid: one from each of as many equal ranges, at a random place of the range. Every
132nd block would not do: data often repeats with a period that goes into 132.

Where blocks differ, the slowest SM decides. Then more blocks are interpreted, all blocks of the grid are dealt out to
the SMs as the GPU does it, and the SM with the most instructions is simulated. A block that was not interpreted counts
as its nearest neighbour that was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import log, prod
from operator import index
from random import Random
from typing import Any

import numpy as np

from softlab.errors import EstimateError
from softlab.timing.dealing import dealt
from softlab.timing.sm import SmRun

Index3 = tuple[int, int, int]

#: Blocks differ if one has this much more instructions than the mean, or than the mean of the sample. More of them are
#: interpreted if the standard deviation of those that are no edges is above this share of their mean, or that of their
#: longest warps.
MORE, _SPREAD = 1.02, 0.02
#: Instructions of warps that are interpreted at most to see how blocks differ, and blocks of a grid that are dealt out.
INTERPRETED, _DEALT = 4_000_000, 1 << 16
#: The share of their mean by which blocks have to differ from it, so that shorter ones are taken to end first.
_UNKNOWN = 0.1
#: Blocks that say how blocks differ where the sample has fewer. A block or two of a sample say nothing of the others.
_PROBES = 8
#: Blocks that say how the longest warps of blocks are spread.
_ENOUGH = 3
#: Waves that are simulated at most. The first one starts empty and the last one ends alone: two more give the rate.
WAVES = 4
#: By blocks of a cluster: the SMs of an H200 that get none. A cluster stays within a processing cluster of 16 or 18 SMs
#: or fewer. And how many blocks of clusters an SM holds at most: an H200 (2026-11-29) has room for 66, 31 and 15.5
#: clusters of 2, 4 and 8 blocks times the blocks that an SM holds, up to 8 (cuOccupancyMaxActiveClusters), and so it
#: places them. It has room for 7 of 16 blocks with one block per SM.
_LEFT, _OF_CLUSTERS = ((2, 0), (8, 8), (16, 20)), 8
_SCHEDULERS = 4
#: The shared memory that an SM of compute capability 9.0 can take from L1, in KiB (CUDA C++ Programming Guide,
#: "Compute Capability 9.x").
_CARVE_OUTS = (0, 8, 16, 32, 64, 100, 132, 164, 196, 228)


@dataclass(frozen=True)
class Sample:
    """``blocks``: the indices of those to simulate, ascending; ``per_sm``: blocks of the busiest SM; ``resident``:
    those at once; ``active``: SMs with work; ``longest``: the blocks of the SM that has the longest warp of all, where
    that is another SM: it may be the last one to end."""

    blocks: tuple[int, ...]
    per_sm: int
    resident: int
    active: int
    longest: tuple[int, ...] = ()


def choose(
    grid: Index3, sms: int, resident: int, sample: int | Sequence[int] | None = None, cluster: Index3 = (1, 1, 1)
) -> Sample:
    """The sample of a grid on ``sms`` SMs that hold ``resident`` blocks each; whole clusters.

    Arguments:
        sample: how many blocks, or which ones, instead of four waves.

    Raises:
        TypeError: a sample that is neither a whole number nor a list of such.
        ValueError: a block that the grid does not have, or fewer than one.
    """
    blocks, per_cluster = prod(grid), prod(cluster)
    sample = _checked(sample)
    if per_cluster > 1:
        sms, resident = _for_clusters(sms, resident, per_cluster)
    active = min(sms, blocks)
    per_sm = -(-blocks // active)
    resident = min(resident, per_sm)
    if sample is not None and not isinstance(sample, int):
        chosen = tuple(sorted(set(sample)))
        if not chosen or chosen[0] < 0 or chosen[-1] >= blocks:
            raise ValueError(f"sample = {sample!r}: name blocks from 0 to {blocks - 1}, one or more")
        return Sample(chosen, per_sm, resident, active)
    count = min(per_sm, WAVES * resident) if sample is None else min(per_sm, sample)
    if count < 1:
        raise ValueError(f"sample = {sample!r}: at least one block is simulated")
    drawn = _drawn(blocks // per_cluster, -(-count // per_cluster))
    return Sample(tuple(sorted(b for one in drawn for b in _blocks_of(one, grid, cluster))), per_sm, resident, active)


def _for_clusters(sms: int, resident: int, per_cluster: int) -> tuple[int, int]:
    """The SMs that get blocks of clusters, and how many each."""
    left = next((left for size, left in _LEFT if per_cluster <= size), _LEFT[-1][1])
    return max(1, sms - left), min(resident, _OF_CLUSTERS)


def _checked(sample: Any) -> int | tuple[int, ...] | None:
    """A sample as whole numbers."""
    if sample is None:
        return None
    try:
        return index(sample)
    except TypeError:
        pass
    try:
        if isinstance(sample, str | bytes):
            raise TypeError
        return tuple(map(index, sample))
    except TypeError:
        raise TypeError(f"sample = {sample!r}: give the number of blocks to simulate, or a list of blocks") from None


@lru_cache(maxsize=16)
def _drawn(blocks: int, count: int) -> tuple[int, ...]:
    """A block at a random place of each of ``count`` equal ranges, the same ones each time."""
    random = Random(blocks)
    limits = [blocks * k // count for k in range(count + 1)] if count else []
    return tuple(random.randrange(low, high) for low, high in pairwise(limits))


def first_wave(sample: Sample) -> tuple[int, ...]:
    """As many blocks of a sample as an SM holds at once, from all of it."""
    count = len(sample.blocks)
    some = min(sample.resident, count)
    return tuple(sample.blocks[count * k // some] for k in range(some))


def edges(sample: Sample, blocks: int, per_cluster: int = 1) -> tuple[int, ...]:
    """Blocks that are interpreted, too: the first one and the last one, which often have more to do, or less, and where
    the sample is small some that show whether the others differ."""
    if per_cluster > 1:
        return ()
    probes = _drawn(blocks, min(blocks, _PROBES)) if len(sample.blocks) < _PROBES else ()
    return tuple(b for b in dict.fromkeys((0, blocks - 1, *probes)) if b not in sample.blocks)


def more_blocks(
    sample: Sample, counts: Mapping[int, int], blocks: int, longest: Mapping[int, float] | None = None,
    most: int | None = None,
) -> tuple[int, ...]:  # fmt: skip
    """Further blocks to interpret, since those of the sample differ in their instructions.

    Arguments: as of :func:`slowest`. most: no more blocks than these; None: as many as have not too many instructions.
    """
    inner = tuple(b for b in counts if b not in (0, blocks - 1)) if len(counts) > 4 else tuple(counts)
    of_blocks: tuple[Mapping[int, float], ...] = (counts, longest or {})
    if not any(_differ([known[b] for b in inner]) for known in of_blocks if known):
        return ()
    mean = sum(counts[b] for b in inner) / len(inner)
    wanted = min(blocks, int(INTERPRETED / max(1.0, mean)), blocks if most is None else most)
    return tuple(sorted(set(_drawn(blocks, wanted)) - set(counts)))


def _differ(values: Sequence[float]) -> bool:
    return differ(values, _SPREAD)


def differ(values: Sequence[float], share: float) -> bool:
    """Whether the standard deviation of some values, at least one, is above this share of their mean."""
    mean = sum(values) / len(values)
    # It is at most half of what lies between the least and the largest. Rounding is far below a thousandth.
    if max(values) - min(values) < 1.999 * share * mean:
        return False
    return bool(np.std(values) > share * np.mean(values))


def slowest(
    sample: Sample, counts: Mapping[int, int], blocks: int, sms: int, longest: Mapping[int, float] | None = None,
    interval: float = 0.0,
) -> Sample:  # fmt: skip
    """The blocks of the SM that has the most to do, in the order in which they start.

    Arguments:
        counts: block -> its instructions, of those that were interpreted.
        blocks, sms: of the grid and of the GPU.
        longest: block -> cycles of its longest warp by itself, likewise (:mod:`softlab.timing.lengths`).
        interval: cycles of the whole GPU between the starts of two blocks.

    The first ``resident`` rounds of blocks go to the SMs in turn (:func:`softlab.timing.dealing.places`). Each later
    one takes the place of the block that ends first, if blocks take as long as an SM needs to issue the instructions of
    as many as it holds. Those that differ from the mean by less than a tenth take as long as it: which of them is first
    is not known.
    """
    sampled = sum(counts[b] for b in sample.blocks) / len(sample.blocks)
    # One block of a short end does not stand for all.
    even = max(counts.values()) <= MORE * min(sum(counts.values()) / len(counts), sampled)
    at_once = sample.per_sm <= sample.resident
    if len(counts) < 2 or blocks > _DEALT or (even and not (at_once and _has_longer(sample, longest or {}))):
        return sample
    known = np.array(sorted(counts))
    work = np.array([counts[b] for b in known.tolist()], float)
    inner = known if len(known) > 4 else np.array(sample.blocks)
    middle = known[1:-1] if len(known) > 4 else inner
    stand = middle[np.searchsorted((middle[1:] + middle[:-1]) / 2, np.arange(blocks))]
    stand[known[0]], stand[known[-1]] = known[0], known[-1]
    load = work[np.searchsorted(known, stand)]
    takes = np.where(np.abs(load / load.mean() - 1) < _UNKNOWN, load.mean(), load)
    sm = dealt(takes * sample.resident / _SCHEDULERS, sms, sample.resident, interval)
    if even:
        return replace(sample, longest=_longest(sample, sm, stand, longest or {}))
    work_of_sm = np.bincount(sm, load)  # whole numbers
    busiest = stand[sm == sm[(work_of_sm[sm] == work_of_sm.max()).argmax()]]  # of several the one that begins first
    found = replace(sample, blocks=tuple(busiest.tolist()), per_sm=len(busiest))
    return replace(found, longest=_longest(found, sm, stand, longest)) if longest else found


def _longest(sample: Sample, sm: np.ndarray, stand: np.ndarray, longest: Mapping[int, float]) -> tuple[int, ...]:
    """The blocks of the SM with the longest warp, if no warp of the sample is nearly as long.

    Arguments:
        sm, stand: of each block its SM, and the interpreted block that it counts as.
    """
    if not _has_longer(sample, longest):
        return ()
    last = max(longest, key=longest.__getitem__)
    has_it = np.bincount(sm, stand == last) > 0
    if not has_it.any():
        return ()
    return tuple(stand[sm == sm[has_it[sm].argmax()]].tolist())  # of several the one that begins first


def _has_longer(sample: Sample, longest: Mapping[int, float]) -> bool:
    """Whether the longest warp of all is longer than those of the sample. longest: as of :func:`slowest`."""
    return bool(longest) and max(longest.values()) > MORE * max(longest[block] for block in sample.blocks)


def unseen(longest: Mapping[int, float], blocks: int) -> float:
    """The share by which the longest warp of a grid takes longer than the longest one that was interpreted.

    The largest of n values grows with the logarithm of n, by the scale of the tail (E. J. Gumbel's distribution, its
    scale from the second L-moment).

    Arguments:
        longest: block -> cycles of its longest warp by itself, of those that were interpreted. blocks: of the grid.
    """
    inner = [count for block, count in longest.items() if block not in (0, blocks - 1)]
    least = min(inner, default=0)  # the first block and the last one often have less to do
    known = np.sort(np.array([count for count in longest.values() if count >= least], float))
    n = len(known)
    if not _ENOUGH <= n < blocks:
        return 0.0
    spread = 2 * float(known @ np.arange(n)) / (n * (n - 1)) - known.mean()
    return float(spread / log(2) * log(blocks / n) / known[-1])


def _blocks_of(number: int, grid: Index3, cluster: Index3) -> list[int]:
    """The linear indices of the blocks of a cluster."""
    if prod(cluster) == 1:
        return [number]
    wide, high = grid[0] // cluster[0], grid[1] // cluster[1]
    x, y, z = number % wide * cluster[0], number // wide % high * cluster[1], number // (wide * high) * cluster[2]
    return [
        (x + dx) + grid[0] * ((y + dy) + grid[1] * (z + dz))
        for dz in range(cluster[2])
        for dy in range(cluster[1])
        for dx in range(cluster[0])
    ]


def extrapolate(run: SmRun, sample: Sample, instructions: float, served: float = 0.0) -> float:
    """Cycles of the busiest SM, from those of the sample.

    Arguments:
        instructions: of all blocks of the sample. served: the cycles for which the busiest of DRAM, L2 and the load and
            store unit worked for the sample. What waits in front of them at the end is not seen in the rate of the
            blocks, but the whole launch takes no less than their work.
    """
    count = len(sample.blocks)
    done = run.issued / max(1.0, instructions)
    return max(_extrapolated(run, sample, instructions), served / max(done, 1e-9) * sample.per_sm / count)


def _extrapolated(run: SmRun, sample: Sample, instructions: float) -> float:
    count = len(sample.blocks)
    if not run.complete:
        if not run.progress:
            raise EstimateError(
                f"the timing model stands still after {run.issued} of {instructions:.0f} instructions: warps wait for "
                "a barrier that no other warp reaches in it. It has no estimate for this launch"
            )
        # Of one or two places there is no middle: the begin.
        known = len(run.progress)
        t0, n0 = run.progress[known // 2] if known > 2 else (0.0, 0)
        t1, n1 = run.progress[-1]
        rate = (n1 - n0) / max(1.0, t1 - t0)
        return t1 + (instructions * sample.per_sm / count - n1) / max(rate, 1e-9)
    if sample.per_sm <= count:
        return run.drained
    ended, resident = sorted(run.finished), sample.resident
    each = ended[-1] / count
    waves = min(3, count // resident)
    if waves >= 2:
        last, before = (ended[(n - 1) * resident : n * resident] for n in (waves, waves - 1))
        each = (sum(last) - sum(before)) / resident**2
    return run.drained + (sample.per_sm - count) * each


def carve_out(shared_bytes: int) -> int:
    """Bytes of shared memory that the SM takes from L1 for blocks that need ``shared_bytes`` together."""
    return next((kib << 10 for kib in _CARVE_OUTS if kib << 10 >= shared_bytes), _CARVE_OUTS[-1] << 10)
