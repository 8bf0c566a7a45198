"""What is wrong where threads pass one barrier from two places: thread counts, votes, torn warps, __syncthreads()."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import lanes_of
from softlab.emulator.ptx.syntax import Instruction
from softlab.instruments.barrier_meetings import Meeting, is_aligned, meetings, second_arrival, uneven

ROWS, THREADS = 3, 96
ALL = np.ones((ROWS, THREADS), bool)
COLUMN = np.arange(THREADS)
KINDS = {
    "syncthreads": Instruction("bar", ("sync",), ()),
    "other syncthreads": Instruction("barrier", ("sync", "aligned"), ()),
    "named": Instruction("barrier", ("sync",), ()),
    "vote": Instruction("bar", ("red", "popc", "u32"), ()),
}


class Faults:
    """The words of a fault, and whom it names."""

    def fault(self, kind: str, sentence: str, instruction: Any, lanes: Any, bad: Any, other: Any = None) -> Any:
        there = None if other is None else (other[0], other[1].mask)
        return SimpleNamespace(
            kind=kind, sentence=sentence, instruction=instruction, mask=lanes.mask, bad=bad, other=there
        )


def batch(*kinds: str) -> Any:
    instructions = tuple(KINDS[kind] for kind in kinds)
    return SimpleNamespace(faults=Faults(), threads=THREADS,
                           program=SimpleNamespace(image=SimpleNamespace(instructions=instructions)))  # fmt: skip


def found(kinds: tuple[str, str], masks: tuple[np.ndarray, np.ndarray], counts: tuple[int | None, int | None] = (None,
None),
          barrier: int = 0) -> list[Meeting]:  # fmt: skip
    arrivals = [(index, counts[index], lanes_of(masks[index])) for index in range(2)]
    return list(meetings(batch(*kinds), barrier, arrivals))


LOW, HIGH, EVEN = ALL & (COLUMN < 32), ALL & (COLUMN >= 32), ALL & (COLUMN % 2 == 0)


def test_only_threads_of_one_block_meet() -> None:
    rows = np.arange(ROWS)[:, None]
    assert found(("syncthreads", "other syncthreads"), (LOW & (rows == 0), HIGH & (rows > 0))) == []
    (one,) = found(("syncthreads", "other syncthreads"), (LOW & (rows < 2), HIGH & (rows > 0)))
    assert one.count == 1
    assert np.array_equal(one.first[1], LOW & (rows == 1))
    assert np.array_equal(one.other[1], HIGH & (rows == 1))


@pytest.mark.parametrize("barrier", [0, 1])
def test_two_syncthreads_of_whole_warps(barrier: int) -> None:
    """A warning, for barrier 0 without a count: a GPU lets them pass."""
    for counts in ((None, None), (96, None), (None, 96), (96, 96)):
        all_of = found(("syncthreads", "other syncthreads"), (LOW, HIGH), counts, barrier)
        if barrier or counts != (None, None):
            assert all_of == []
            continue
        (one,) = all_of
        assert (one.severity, one.count, one.fault.kind) == ("warning", ROWS, "barrier-divergence")
        assert "meet here and at another __syncthreads()" in one.fault.sentence
        assert (one.fault.instruction, one.fault.other[0]) == (KINDS["syncthreads"], KINDS["other syncthreads"])
        assert np.array_equal(one.fault.mask, LOW)
        assert np.array_equal(one.fault.other[1], HIGH)
    assert found(("syncthreads", "named"), (LOW, HIGH)) == [], "not all need whole warps"


def test_a_warp_that_is_torn() -> None:
    """Lanes of one warp at two aligned barriers, or at one aligned and another one."""
    pairs = product(("syncthreads", "other syncthreads", "named"), repeat=2)
    for first, other in pairs:
        all_of = found((first, other), (EVEN, ALL & ~EVEN & (COLUMN < 64)), (64, 64), 2)
        aligned = {first, other} != {"named"}
        same = KINDS[first] is KINDS[other]
        assert len(all_of) == (aligned and not same), (first, other)
        for one in all_of:
            assert (one.severity, one.count) == ("error", ROWS * 2), "two warps of each block"
            assert "while other threads of its warp wait at another one" in one.fault.sentence
            assert np.array_equal(one.first[1], EVEN & (COLUMN < 64))
            assert np.array_equal(one.other[1], ALL & ~EVEN & (COLUMN < 64))


def test_different_thread_counts() -> None:
    for counts, said in (
        ((32, 64), "32 and 64"),
        ((None, 64), "96 and 64"),
        ((64, None), "64 and 96"),
        ((96, None), ""),
    ):
        all_of = found(("named", "named"), (LOW, HIGH), counts, 5)
        assert len(all_of) == bool(said)
        for one in all_of:
            assert one.fault.sentence.startswith(f"warps come to barrier 5 with the thread counts {said}. Give all")
            assert (one.severity, one.count) == ("error", ROWS)


@pytest.mark.parametrize("turned", [False, True])
def test_votes_meet_votes(turned: bool) -> None:
    kinds = ("named", "vote") if turned else ("vote", "named")
    (one,) = found(kinds, (LOW, HIGH), (96, 96), 1)
    assert one.fault.sentence.startswith("the thread votes at a barrier that others of its block reach without a vote")
    assert one.first[0] is KINDS["vote"]
    assert np.array_equal(one.first[1], HIGH if turned else LOW)
    assert np.array_equal(one.other[1], LOW if turned else HIGH)
    assert found(("vote", "vote"), (LOW, HIGH), (96, 96), 1) == []


def test_each_pair_of_three_places() -> None:
    arrivals = [(index, 32 * (index + 1), lanes_of(ALL & (np.arange(THREADS) // 32 == index))) for index in range(3)]
    all_of = list(meetings(batch("named", "named", "named"), 1, arrivals))
    counts = [one.fault.sentence.partition("counts ")[2].partition(".")[0] for one in all_of]
    assert counts == ["32 and 64", "32 and 96", "64 and 96"]


def test_faults_of_their_own() -> None:
    twice: Any = second_arrival(batch("named"), 3, 0, lanes_of(LOW))
    assert twice.sentence.startswith("the thread arrives at barrier 3 twice before the barrier is complete")
    assert (twice.instruction, twice.other) == (KINDS["named"], None)
    assert bool(twice.bad)
    (one,) = found(("syncthreads", "other syncthreads"), (LOW, HIGH))
    later: Any = uneven(batch("syncthreads"), one)
    assert later.sentence.startswith(
        "threads of the block met here and at another __syncthreads(), and some of them came"
    )
    assert np.array_equal(later.mask, LOW)
    assert np.array_equal(later.other[1], HIGH)
    assert [is_aligned(KINDS[kind]) for kind in KINDS] == [True, True, False, True]
