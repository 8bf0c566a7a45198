"""Threads that others wait for in vain, told by events of a small program: who is named, with which words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Lanes, lanes_of
from softlab.emulator.machine.flow import blocks_of
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse
from softlab.emulator.sites import InstructionSite
from softlab.instruments.wait_hazards import WaitHazards

HEADER = ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n"
REGISTERS = ".reg .b32 %r<9>; .reg .b64 %rd<2>; .reg .pred %p<9>;"
#: Each of these ends a block, except the vote, which begins one. A store follows each.
BODY = """bar.sync 0;
st.global.u32 [%rd1], %r1;
bar.sync 1, 64;
st.global.u32 [%rd1], %r2;
barrier.sync 2, 64;
st.global.u32 [%rd1], %r3;
bar.arrive 3, 64;
st.global.u32 [%rd1], %r4;
vote.sync.ballot.b32 %r5, %p1, -1;
st.global.u32 [%rd1], %r5;
bar.sync 0;
st.global.u32 [%rd1], %r6;
ret;"""
SYNCTHREADS, PART, LOOSE, ARRIVAL, VOTE, OTHER_SYNCTHREADS = range(6)
ROWS, THREADS, ONES = 2, 96, 0xFFFFFFFF


class Faults:
    """Keeps what is reported: the fault's parts as given, its severity, how often."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def fault(self, kind: str, sentence: str, instruction: Any, lanes: Lanes, bad: Any, address: Any = None,
              other: Any = None) -> Any:  # fmt: skip
        mask = np.zeros((ROWS, THREADS), bool)
        mask[lanes.positions.rows, lanes.positions.columns] = np.broadcast_to(bad, lanes.extent).reshape(-1)
        return SimpleNamespace(kind=kind, sentence=sentence, instruction=instruction, mask=mask, address=address)

    def report(self, fault: Any, *, severity: str = "error", count: int = 1) -> None:
        self.kept.append(SimpleNamespace(**vars(fault), severity=severity, count=count))


class Watched:
    """An observer of a batch in which the threads ``live``."""

    def __init__(self, live: np.ndarray | None = None) -> None:
        image = link(parse(f"{HEADER}{{ {REGISTERS}\n{BODY}\n}}\n"), "k")
        self.blocks = blocks_of(image)
        self.faults, self.live = Faults(), np.ones((ROWS, THREADS), bool) if live is None else live
        self.observer = WaitHazards()
        self.observer.batch(SimpleNamespace(
            program=SimpleNamespace(image=image, blocks=self.blocks), faults=self.faults, threads=THREADS,
            in_turns=False,
            live_mask=lambda: self.live,
        ))  # fmt: skip

    def place(self, number: int) -> tuple[Any, Any]:
        """(the block that ends with that barrier or begins with the vote, the block with the store behind it)."""
        image = self.observer.watched.program.image
        starts = [i for i, one in enumerate(image.instructions) if one.opcode in ("bar", "barrier", "vote")]
        at = starts[number]
        (block,) = (b for b in self.blocks if b.start <= at < b.stop)
        return block, block if number == VOTE else self.blocks[block.index + 1]

    def site(self, number: int) -> InstructionSite:
        at = self.place(number)[0].start
        return InstructionSite(at, self.observer.watched.program.image.instructions[at])

    def leave(self, number: int, lanes: Lanes) -> list[Any]:
        """Lanes run what follows a place, and exit; the faults since."""
        before = len(self.faults.kept)
        self.observer.block(self.place(number)[1], lanes)
        self.observer.exit(lanes)
        return self.faults.kept[before:]


def some(row: int | None, threads: Any) -> Lanes:
    mask = np.zeros((ROWS, THREADS), bool)
    mask[slice(None) if row is None else row, list(threads)] = True
    return lanes_of(mask)


def who(fault: Any) -> list[tuple[int, int]]:
    return [(int(row), int(column)) for row, column in np.argwhere(fault.mask)]


def any_lanes(random: np.random.Generator) -> Lanes:
    """Rows x columns, or any lanes; one in five times all."""
    mask = np.broadcast_to(random.random(THREADS) < 0.7, (ROWS, THREADS)) & (random.random((ROWS, 1)) < 0.8)
    if random.random() < 0.4:
        mask = mask & (random.random((ROWS, THREADS)) < 0.7)
    if random.random() < 0.2 or not mask.any():
        mask = np.ones((ROWS, THREADS), bool)
    return lanes_of(mask)


def any_members(random: np.random.Generator, lanes: Lanes) -> Any:
    """The mask that each lane names: one for all, or one each; mostly the whole warp."""
    if random.random() < 0.5:
        return np.uint32(random.choice([ONES, ONES, 0x7FFFFFFF, 0xFFFF0000, 1]))
    return random.choice(np.array([ONES, ONES, ONES, 0xFFFFFFFE, 0x0000FFFF], np.uint32), lanes.extent)


def named(members: Any, lanes: Lanes) -> dict[tuple[int, int], int]:
    """Thread -> the mask that it names."""
    flat = np.broadcast_to(members, lanes.extent).reshape(-1).tolist()
    return {(int(row), int(column)): mask for (row, column), mask in zip(np.argwhere(lanes.mask), flat, strict=True)}


@pytest.mark.parametrize("seed", range(30))
def test_masks_name_who_comes_and_whom_a_shuffle_reads(seed: int) -> None:
    """The shuffle's faults beside a model: a lane reads one that is not there, or that its own mask does not name."""
    random, watched = np.random.default_rng(seed), Watched()
    site, lanes = watched.site(VOTE), any_lanes(random)
    members = any_members(random, lanes)
    masks = named(members, lanes)
    watched.observer.warp_sync(site, lanes, members)
    unnamed = [(row, column) for (row, column), mask in masks.items() if not mask >> column % 32 & 1]
    assert [who(fault) for fault in watched.faults.kept] == ([unnamed] if unnamed else [])
    for fault in watched.faults.kept:
        assert (fault.kind, fault.severity, fault.count) == ("inactive-lane", "error", len(unnamed))
        assert fault.sentence.startswith("the thread executes a warp-synchronous instruction whose mask does not name")
        assert fault.instruction is site.instruction
    watched.faults.kept.clear()
    rows = 1 if lanes.warp_mask.shape[0] == 1 and random.random() < 0.5 else len(lanes.spread(np.ones(lanes.extent)))
    source = random.integers(0, 32, (rows, THREADS // 32, 32)) if random.random() < 0.7 else np.broadcast_to(
        np.arange(32) ^ 1, (rows, THREADS // 32, 32))  # fmt: skip
    watched.observer.shuffle(site, lanes, source, source, source)
    number = {int(row): place for place, row in enumerate(sorted({row for row, _ in masks}))}
    missing = []
    for (row, column), mask in masks.items():
        spread_row = number[row] if len(lanes.extent) == 2 else int(lanes.spread_rows[row])
        reads = int(source[spread_row if rows > 1 else 0, column // 32, column % 32])
        if (row, column // 32 * 32 + reads) not in masks or not mask >> reads & 1:
            missing.append((row, column))
    assert [who(fault) for fault in watched.faults.kept] == ([missing] if missing else [])
    for fault in watched.faults.kept:
        assert (fault.kind, fault.severity, fault.count) == ("inactive-lane", "error", len(missing))
        assert fault.instruction is site.instruction
        assert fault.sentence.startswith("the thread reads the register of a lane that does not take part")


def test_a_thread_that_goes_around_a_barrier_of_its_block() -> None:
    watched = Watched()
    block, _ = watched.place(SYNCTHREADS)
    assert watched.observer.takes_loop(None)
    watched.observer.arrive(0, block, some(0, range(32)), None)
    assert not watched.observer.takes_loop(None), "blocks matter while threads wait"
    assert watched.leave(SYNCTHREADS, some(1, [40, 41])) == [], "nobody of that block waits"
    (fault,) = watched.leave(SYNCTHREADS, some(None, [40, 41]))
    assert (fault.kind, fault.severity, fault.count) == ("barrier-divergence", "error", 1)
    assert fault.sentence.startswith("the thread goes around a barrier at which others of its block wait")
    assert fault.instruction.text == "bar.sync 0;"
    assert who(fault) == [(0, 40), (0, 41)]
    watched.observer.barrier(some(0, range(32)), [block.stop - 1])
    assert watched.observer.takes_loop(None)
    assert watched.leave(SYNCTHREADS, some(0, [50])) == []


@pytest.mark.parametrize("count", [None, 96, 128])
def test_a_barrier_for_all_threads_is_one_of_the_block(count: int | None) -> None:
    watched = Watched()
    watched.observer.arrive(0, watched.place(SYNCTHREADS)[0], some(0, range(32)), count)
    assert [who(fault) for fault in watched.leave(SYNCTHREADS, some(0, [95]))] == [[(0, 95)]]


@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize("number", [PART, LOOSE])
def test_a_barrier_for_a_part_of_the_block(number: int, torn: bool) -> None:
    """Others of the block need not come. Those of a torn warp must, where the barrier is aligned."""
    watched = Watched()
    watched.observer.arrive(1, watched.place(number)[0], some(0, range(31 if torn else 32)), 64)
    assert watched.leave(number, some(0, [32, 70])) == []
    found = watched.leave(number, some(0, [31])) if torn else []
    assert len(found) == (torn and number == PART)
    for fault in found:
        assert (fault.kind, who(fault)) == ("barrier-divergence", [(0, 31)])
        assert fault.sentence.startswith("the thread goes around a barrier at which other threads of its warp wait")
        assert fault.instruction.text == "bar.sync 1, 64;"


def test_a_warp_whose_other_threads_have_ended_is_whole() -> None:
    live = np.ones((ROWS, THREADS), bool)
    live[0, 30:32] = False
    watched = Watched(live)
    watched.observer.arrive(1, watched.place(PART)[0], some(0, range(30)), 64)
    assert watched.observer.takes_loop(None), "nobody waits for anybody"
    watched.observer.arrive(1, watched.place(PART)[0], some(0, range(29)), 64)
    assert not watched.observer.takes_loop(None)
    watched = Watched()
    watched.live = None
    watched.observer.arrive(1, watched.place(PART)[0], some(0, range(29)), 64)
    assert watched.observer.takes_loop(None), "all have ended"


def test_threads_that_arrive_and_go_on() -> None:
    """They do not bypass what they arrived at. The rest of their warp must come, too, until others pass the barrier."""
    watched = Watched()
    block, _ = watched.place(ARRIVAL)
    watched.observer.ahead(3, some(0, range(32, 64)), block)
    assert watched.observer.takes_loop(None), "a whole warp"
    watched.observer.ahead(3, some(0, range(20)), block)
    assert not watched.observer.takes_loop(None)
    (fault,) = watched.leave(ARRIVAL, some(0, [25, 80]))
    assert (fault.kind, who(fault)) == ("barrier-divergence", [(0, 25)])
    assert fault.sentence.startswith(
        "the thread goes around a barrier at which other threads of its warp have arrived. A warp"
    )
    assert fault.instruction.text == "bar.arrive 3, 64;"
    watched.observer.ahead(3, some(0, range(20)), None)
    assert watched.observer.takes_loop(None)
    assert watched.leave(ARRIVAL, some(0, [25])) == []


def test_another_warp_that_is_torn_stays_so_when_one_passes() -> None:
    watched = Watched()
    block, _ = watched.place(ARRIVAL)
    watched.observer.ahead(3, some(0, range(20)), block)
    watched.observer.ahead(3, some(1, range(20)), block)
    watched.observer.ahead(3, some(0, range(20)), None)
    (fault,) = watched.leave(ARRIVAL, some(None, [25]))
    assert who(fault) == [(1, 25)]
    assert "have arrived" in fault.sentence


def test_who_waits_at_the_same_barrier_is_not_bypassed_by_who_arrived() -> None:
    """A barrier for all: others wait, a warp arrives at it elsewhere and goes on."""
    watched = Watched()
    watched.observer.arrive(3, watched.place(SYNCTHREADS)[0], some(0, range(32)), None)
    watched.observer.ahead(3, some(0, range(32, 64)), watched.place(ARRIVAL)[0])
    assert watched.leave(SYNCTHREADS, some(0, range(32, 64))) == []
    assert len(watched.leave(SYNCTHREADS, some(0, [70]))) == 1


def test_a_lane_that_goes_around_a_vote() -> None:
    watched = Watched()
    block, _ = watched.place(VOTE)
    site = watched.site(VOTE)
    watched.observer.stall(block, some(0, range(30)))
    assert watched.leave(VOTE, some(0, [32, 95])) == [], "other warps"
    (fault,) = watched.leave(VOTE, some(0, [31]))
    assert (fault.kind, who(fault), fault.instruction) == ("inactive-lane", [(0, 31)], site.instruction)
    assert fault.sentence.startswith(
        "the thread goes around a warp-synchronous instruction whose mask names it, and at which other lanes wait"
    )
    watched.observer.warp_sync(site, some(0, range(30)), np.uint32(ONES))
    assert watched.leave(VOTE, some(0, [31])) == [], "they have gone on"
    watched.observer.stall(block, some(0, range(30)))
    watched.observer.resume(some(0, range(30)), site.index)
    assert watched.observer.takes_loop(None)


def test_a_second_arrival() -> None:
    watched = Watched()
    block, _ = watched.place(PART)
    watched.observer.twice(1, block, some(1, [3, 4]))
    (fault,) = watched.faults.kept
    assert (fault.kind, fault.severity, fault.count) == ("barrier-divergence", "error", 1)
    assert fault.sentence.startswith("the thread arrives at barrier 1 twice before the barrier is complete")
    assert fault.instruction.text == "bar.sync 1, 64;"
    assert who(fault) == [(1, 3), (1, 4)]


def meet_at_two(watched: Watched) -> None:
    """Warp 0 of both blocks and the others pass barrier 0 from two places; the first waits again."""
    places = [watched.place(number)[0].stop - 1 for number in (SYNCTHREADS, OTHER_SYNCTHREADS)]
    first, others = some(None, range(32)), some(None, range(32, 96))
    watched.observer.meet(0, [(places[0], None, first), (places[1], None, others)])


def test_threads_that_met_at_two_barriers_and_came_to_fewer() -> None:
    """The meeting alone is a warning. Where those of the first place then go around a barrier, it says why."""
    watched = Watched()
    meet_at_two(watched)
    (warning,) = watched.faults.kept
    assert (warning.severity, warning.count) == ("warning", ROWS)
    watched.observer.arrive(0, watched.place(OTHER_SYNCTHREADS)[0], some(0, range(32)), None)
    (fault,) = watched.leave(OTHER_SYNCTHREADS, some(0, [40]))
    assert fault.sentence.startswith("threads of the block met here and at another __syncthreads(), and some")
    assert who(fault) == [(row, lane) for row in range(ROWS) for lane in range(32)], "of the first place"
    assert fault.severity == "error"


def test_a_meeting_of_other_threads_says_nothing_of_a_bypass() -> None:
    watched = Watched()
    places = [watched.place(number)[0].stop - 1 for number in (SYNCTHREADS, OTHER_SYNCTHREADS)]
    watched.observer.meet(0, [(places[0], None, some(1, range(32))), (places[1], None, some(1, range(32, 96)))])
    watched.observer.arrive(0, watched.place(OTHER_SYNCTHREADS)[0], some(0, range(32)), None)
    (fault,) = watched.leave(OTHER_SYNCTHREADS, some(0, [40]))
    assert fault.sentence.startswith("the thread goes around a barrier")
    watched = Watched()
    meet_at_two(watched)
    watched.observer.batch(watched.observer.watched)
    watched.observer.arrive(0, watched.place(OTHER_SYNCTHREADS)[0], some(0, range(32)), None)
    (fault,) = watched.leave(OTHER_SYNCTHREADS, some(0, [40]))
    assert fault.sentence.startswith("the thread goes around a barrier"), "a new batch begins with nothing"


def test_an_error_of_a_meeting_is_no_warning() -> None:
    """Different thread counts: the fault is reported, and a later bypass is told as such."""
    watched = Watched()
    places = [watched.place(number)[0].stop - 1 for number in (PART, LOOSE)]
    watched.observer.meet(1, [(places[0], 64, some(0, range(32))), (places[1], 96, some(0, range(32, 64)))])
    (fault,) = watched.faults.kept
    assert fault.severity == "error"
    assert "64 and 96" in fault.sentence
    watched.observer.arrive(0, watched.place(OTHER_SYNCTHREADS)[0], some(0, range(32)), None)
    (fault,) = watched.leave(OTHER_SYNCTHREADS, some(0, [40]))
    assert fault.sentence.startswith("the thread goes around a barrier")
