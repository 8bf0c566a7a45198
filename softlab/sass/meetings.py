"""BSYNC in one compiled loop over the warps, where each warp has one team that waits.

Other cases are left to NumPy (:class:`softlab.sass.barriers.Convergence`): lanes that left with BREAK, and several
teams of a warp.
"""

from __future__ import annotations

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import CompiledFunction, Int64s, UInt32s
from softlab.sass.lanes import Lanes

#: What :func:`meet` returns else: all lanes have come together, or it leaves the case to NumPy.
EVERYONE, UNKNOWN = -1, -2
#: What NumPy takes for a BSYNC, in units of 100 microseconds.
_MEETING = 0.5


def _lowest(mask: int) -> int:
    lane = 0
    while (mask >> lane & 1) == 0:
        lane += 1
    return lane


def _is_plain(mask: int, waiting: int, live: int, expected: UInt32s, at: int) -> int:
    """Whether a warp has one team that waits, with ``mask`` and those who wait already. at: of the warp's lanes."""
    if mask == 0 or (expected[at + _lowest(mask)] & mask) == 0:
        return 0
    lane = _lowest(waiting)
    team = expected[at + lane]
    here = waiting & team
    if here == 0:
        return 0
    if here == team & live:
        return waiting == here
    return (waiting & ~team & ~(1 << lane)) == 0


def _all_have_come(warps: Int64s, masks: UInt32s, count: int, expected: UInt32s, live: UInt32s) -> int:
    for k in range(count):
        at = 32 * warps[k]
        if masks[k] == 0 or masks[k] != expected[at + _lowest(masks[k])] & live[warps[k]]:
            return 0
    return 1


def meet(
    warps: Int64s, masks: UInt32s, count: int, expected: UInt32s, blocked: UInt32s, live: UInt32s, waiting_at: Int64s,
    pc: int, released: UInt32s, sites: Int64s,
) -> int:  # fmt: skip
    """Lanes arrive at the BSYNC ``pc``. How many warps have lanes that go on, or EVERYONE, or UNKNOWN; in both of these
    cases nothing is changed.

    Arguments:
        expected: (warps of the machine, 32), the lanes that each lane will meet. blocked: (warps,), those that wait.
            waiting_at: (warps, 32), where. released: gets of each warp the lanes that go on, and sites from where.
    """
    if _all_have_come(warps, masks, count, expected, live):
        return EVERYONE
    for k in range(count):
        w = warps[k]
        if _is_plain(masks[k], blocked[w] | masks[k], live[w], expected, 32 * w) == 0:
            return UNKNOWN
    gone, site = 0, pc
    for k in range(count):
        w = warps[k]
        for lane in range(32):
            if masks[k] >> lane & 1:
                waiting_at[32 * w + lane] = pc
        waiting = blocked[w] | masks[k]
        team = expected[32 * w + _lowest(waiting)]
        released[k] = 0
        blocked[w] = waiting
        if waiting & team == team & live[w]:
            released[k] = waiting
            blocked[w] = 0
            site = waiting_at[32 * w + _lowest(waiting)]
            gone += 1
        sites[k] = site
    for k in range(count):
        if released[k] == 0:
            sites[k] = site
    return gone


_MEET = CompiledFunction(meet)


def met(
    lanes: Lanes, pc: int, expected: np.ndarray, blocked: np.ndarray, live: np.ndarray, waiting_at: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """(what :func:`meet` returns, of each warp the lanes that go on, from where)."""
    released, sites = np.empty(lanes.count, np.uint32), np.empty(lanes.count, np.int64)
    if not _MEET.ready(compiled_blocks(), _MEETING):
        return UNKNOWN, released, sites
    masks = np.ascontiguousarray(lanes.masks)
    given = id(lanes.warps), id(masks), lanes.count, id(expected), id(blocked), id(live), id(waiting_at)
    return _MEET.call(*given, pc, id(released), id(sites)), released, sites
