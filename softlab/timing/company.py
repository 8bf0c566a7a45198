"""How many SMs share L2 with the simulated one, while it works.

L2 serves SMs in turn, so that all get the same. Where blocks do not go evenly into SMs, those with fewer end first, and
the others have L2 for themselves from then on, as fast as an SM can store or load. Of 155 blocks that store 12 warps'
rows, 23 SMs have two: 5.3 us on an H200 (2026-11-29), where 372 smaller blocks with as many bytes take 4.1 us.

Loads of an SM with more warps get more than that, as long as L1 has places for what comes. Of 198 blocks of 18 warps
that walk through 1 MiB in L2, each warp with one load on its way, SMs with two blocks take 88 094 cycles in the mean
and 102 610 at most, and those with one 82 758. So two blocks get 1.8 times what one gets, and the slowest two 1.5
times. Of 149 blocks it is 1.5 and 1.2, of warps that fill L1 with four loads each 1.2 (H200, 2026-11-29). The model has
the root of how many times as much work an SM has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softlab.sass.streams import Space
from softlab.timing.work import BlockWork, Requests

#: Whether requests to each space go to L1.
_BY_L1 = np.array([space not in (Space.SHARED, Space.DISTRIBUTED_SHARED, Space.VALUES) for space in Space])


@dataclass(frozen=True)
class Company:
    """``all``: the SMs at work at first. After ``requests`` of the simulated one ``rest`` are left; 0: never.
    ``loading`` and ``loads``: the same of loads for which L1 has places; 0: as of all."""

    all: float
    requests: int = 0
    rest: float = 1.0
    loading: float = 0.0
    loads: int = 0


def company(active: int, blocks: int, per_sm: int, alike: float, order: Sequence[BlockWork]) -> Company:
    """The company of the busiest SM.

    Arguments:
        active: SMs with work. blocks: of the grid. per_sm: of the busiest SM. order: its blocks that are simulated.
        alike: of how many SMs like it all work of the launch is.
    """
    # The others have ended when it has done this share of its work, if they have a block less.
    shorter = blocks // active / per_sm
    left = (1 - shorter) * per_sm / max(1, len(order))
    if not 0 < left < 1:
        return Company(alike)
    # Blocks that have less to do than its own ask for less all the time.
    each = alike * per_sm / blocks
    requests = _counted([work.requests for work in order])
    rest = max(1.0, (blocks - active * (blocks // active)) * each)
    # Of an SM that has done this share of its work others are done when loads go by the root of it.
    ended = 1 - left
    return Company(
        active * each, round(requests * ended), rest, (active * each * alike) ** 0.5, round(requests * ended**0.5)
    )


def _counted(requests: Sequence[Requests]) -> int:
    """Those to local and global memory."""
    counts, spaces = (
        np.concatenate([*parts, np.zeros(0, np.int64)])
        for parts in ([one.counts for one in requests], [one.numbers[:, 1] for one in requests])
    )
    return int(np.count_nonzero(counts[_BY_L1[spaces]]))
