"""BSSY, BSYNC and BREAK of random lanes: the compiled loop lets the same lanes go on as NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.sass.barriers import Convergence
from softlab.sass.lanes import Lanes, pack, unpack
from softlab.sass.meetings import EVERYONE, met
from tests.sampled import each

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")

_WARPS = 5
_ALL = 0xFFFFFFFF


class _Host:
    """What the barriers ask of the machine: it notes who goes on where."""

    def __init__(self) -> None:
        self.live = np.full(_WARPS, _ALL, np.uint32)
        self.setup: Any = None
        self.pushed: list[tuple[int, list[int], list[int]]] = []

    def push(self, pc: int, lanes: Lanes) -> None:
        self.pushed.append((pc, lanes.warps.tolist(), lanes.masks.tolist()))

    def lanes(self, warps: np.ndarray, masks: np.ndarray) -> Lanes:
        some = masks != 0
        return Lanes(warps[some], masks[some], self.live)

    def met(self, blocks: np.ndarray) -> None:
        raise AssertionError("no barrier of a block")


def _some(random: np.random.Generator, free: np.ndarray, host: _Host) -> Lanes | None:
    """Free lanes of some warps: often all of them, or halves."""
    every = random.choice([_ALL, _ALL, 0xFFFF, 0xFFFF0000, int(random.integers(1, 1 << 32))], _WARPS)
    masks = (every.astype(np.uint64).astype(np.uint32) & free & host.live) * (random.random(_WARPS) < 0.4)
    warps = np.flatnonzero(masks)
    return host.lanes(warps, masks[warps].astype(np.uint32)) if len(warps) else None


def _of_one_team(lanes: Lanes, expected: np.ndarray, host: _Host) -> Lanes:
    """The lanes that have the team of the lowest lane of their warp, and are in it if that is: as those of a path."""
    teams = expected[lanes.warps]
    row, lowest = np.arange(lanes.count), lanes.active.argmax(axis=1)
    inside = unpack(teams.reshape(-1)).reshape(-1, 32, 32)[:, np.arange(32), np.arange(32)]
    same = (teams == teams[row, lowest][:, None]) & (inside == inside[row, lowest][:, None])
    return host.lanes(lanes.warps, pack(same) & lanes.masks)


def _told(seed: int, choice: str) -> tuple[list[Any], list[Any]]:
    """Who goes on where, and who waits, after each of many random steps."""
    random, host = np.random.default_rng(seed), _Host()
    barrier, free = Convergence(host), np.full(_WARPS, _ALL, np.uint32)
    seen: list[Any] = []
    with compiling(choice):  # type: ignore[arg-type]
        for step in range(120):
            what, lanes = random.random(), _some(random, free, host)
            if lanes is None:
                continue
            before = len(host.pushed)
            if what >= 0.5:
                lanes = _of_one_team(lanes, barrier._of(0), host)
            if what < 0.5:
                barrier.begin(0, lanes)
            elif what < 0.96:
                free[lanes.warps] &= ~lanes.masks
                barrier.arrive(0, 10 + step % 3, lanes)
            elif what < 0.98:
                barrier.leave(0, lanes)
            elif step > 90:
                host.live[lanes.warps] &= ~lanes.masks
                barrier.check(lanes.warps)
            for _, warps, masks in host.pushed[before:]:
                free[warps] |= np.array(masks, np.uint32)
            seen.append((barrier._blocked[0].tolist(), barrier._expected[0].tolist()))
    return host.pushed, seen


@pytest.mark.parametrize("seed", each(4, range(40)))
def test_the_same_lanes_go_on(seed: int) -> None:
    assert _told(seed, "all") == _told(seed, "none")


def test_what_the_loop_does_itself() -> None:
    """All lanes at once, the half that waits, and the other half that brings it along, wherever each waited."""
    live = np.full(_WARPS, _ALL, np.uint32)
    expected, blocked = np.full((_WARPS, 32), _ALL, np.uint32), np.zeros(_WARPS, np.uint32)
    waiting_at = np.zeros((_WARPS, 32), np.int64)
    state = expected, blocked, live, waiting_at

    def arrive(warps: list[int], masks: list[int], pc: int) -> tuple[int, list[int], list[int]]:
        lanes = Lanes(np.array(warps), np.array(masks, np.uint32), live)
        with compiling("all"):
            found, released, sites = met(lanes, pc, *state)
        return found, released.tolist(), sites.tolist()

    assert arrive([1, 3], [_ALL, _ALL], 7)[0] == EVERYONE
    assert arrive([1, 3], [0xFFFF, _ALL], 7) == (1, [0, _ALL], [7, 7])
    assert blocked.tolist() == [0, 0xFFFF, 0, 0, 0]
    assert arrive([0, 1], [0xFF, 0xFFFF0000], 9) == (1, [0, _ALL], [7, 7])
    assert arrive([0, 2], [_ALL ^ 0xFF, 1], 11) == (1, [_ALL, 0], [9, 9])
    assert blocked.tolist() == [0, 0, 1, 0, 0]
