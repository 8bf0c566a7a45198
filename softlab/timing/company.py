"""How many SMs share L2 with the simulated one, while it works.

L2 serves SMs in turn, so that all get the same. Where blocks do not go evenly into SMs, those with fewer end first, and
the others have L2 for themselves from then on, as fast as an SM can store or load. Of 155 blocks that store 12 warps'
rows, 23 SMs have two: 5.3 us on an H200 (2026-11-29), where 372 smaller blocks with as many bytes take 4.1 us.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from softlab.sass.streams import Space
from softlab.timing.work import BlockWork

_PAST_L1 = (int(Space.SHARED), int(Space.DISTRIBUTED_SHARED), int(Space.VALUES))


@dataclass(frozen=True)
class Company:
    """``all``: the SMs at work at first. After ``requests`` of the simulated one ``rest`` are left; 0: never."""

    all: float
    requests: int = 0
    rest: float = 1.0


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
    requests = sum(_counted(work) for work in order)
    return Company(active * each, round(requests * (1 - left)), max(1.0, (blocks - active * (blocks // active)) * each))


def _counted(work: BlockWork) -> int:
    """Requests of a block to local and global memory."""
    return sum(request[1] not in _PAST_L1 and bool(request[4]) for warp in work.warps for request in warp.requests)
