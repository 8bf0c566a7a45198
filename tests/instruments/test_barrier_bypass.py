"""Which threads bypass a barrier, told by the blocks that they run while others wait there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Lanes, lanes_of
from softlab.emulator.machine.flow import blocks_of
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse
from softlab.instruments.barrier_bypass import BarrierBypasses

HEADER = ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n"
REGISTERS = ".reg .b32 %r<9>; .reg .b64 %rd<2>; .reg .pred %p<9>;"
#: Blocks: 0 before, 1 the barrier, 2 a store behind it, 3 a loop back to the barrier, 4 the end, 5 nobody comes here.
BODY = """AGAIN:
@%p1 bra PAST;
bar.sync 0;
PAST:
st.global.u32 [%rd1], %r1;
@%p2 bra DONE;
@%p3 bra AGAIN;
DONE:
ret;
bra DONE;"""
ROWS, THREADS = 3, 96


def lanes(row: int | None, *threads: int) -> Lanes:
    mask = np.zeros((ROWS, THREADS), bool)
    mask[slice(None) if row is None else row, list(threads)] = True
    return lanes_of(mask)


def followed(*, in_turns: bool = False) -> tuple[BarrierBypasses, Any, int]:
    """What follows the threads, the blocks, and the index of the barrier, at which threads 0 to 3 of row 0 wait."""
    image = link(parse(f"{HEADER}{{ {REGISTERS}\n{BODY}\n}}\n"), "k")
    blocks = blocks_of(image)
    program: Any = SimpleNamespace(image=image, blocks=blocks)
    return BarrierBypasses(program, in_turns=in_turns), blocks, blocks[1].start


def found(bypass: tuple[int, np.ndarray] | None) -> tuple[int, list[tuple[int, int]]] | None:
    return None if bypass is None else (bypass[0], [(int(row), int(lane)) for row, lane in np.argwhere(bypass[1])])


def test_threads_that_run_what_comes_behind_bypass_the_barrier():
    bypasses, blocks, barrier = followed()
    assert not bypasses.waiting
    bypasses.run(blocks[2], lanes(0, 40))
    bypasses.wait(barrier, 2, lanes(0, 0, 1, 2, 3), THREADS)
    assert bypasses.waiting
    assert bypasses.by_thread(0, 40, THREADS) is None, "nobody waited then"
    bypasses.run(blocks[2], lanes(0, 40, 41))
    bypasses.run(blocks[2], lanes(1, 40))
    assert found(bypasses.by_thread(0, 41, THREADS)) == (barrier, [(0, 40), (0, 41)])
    assert bypasses.by_thread(0, 42, THREADS) is None
    assert bypasses.by_thread(1, 40, THREADS) is None, "in that block nobody waits"
    assert bypasses.by_thread(0, 41, 32) is None, "they wait for the whole block"
    assert found(bypasses.by_exiting(lanes(None, 41, 42))) == (barrier, [(0, 41)])
    assert bypasses.by_exiting(lanes(1, 40)) is None


def test_threads_that_arrive_at_the_barrier_elsewhere_go_around_nothing_on_their_way():
    """Whoever waits again meets them at their next arrival; only their end shows that none comes."""
    bypasses, blocks, barrier = followed()
    bypasses.arrive_ahead(1, lanes(0, 40, 41), complete=False)
    bypasses.arrive_ahead(1, lanes(0, 40, 41), complete=True)
    bypasses.wait(barrier, 2, lanes(0, 0), THREADS, 1)
    bypasses.run(blocks[2], lanes(0, 40, 50))
    assert bypasses.by_thread(0, 40, THREADS) is None
    assert found(bypasses.by_thread(0, 50, THREADS)) == (barrier, [(0, 40), (0, 50)])
    assert found(bypasses.by_exiting(lanes(0, 40))) == (barrier, [(0, 40)])


def test_threads_that_arrive_at_another_barrier_go_around_this_one():
    bypasses, blocks, barrier = followed()
    bypasses.arrive_ahead(2, lanes(0, 40), complete=False)
    bypasses.wait(barrier, 2, lanes(0, 0), THREADS, 1)
    bypasses.run(blocks[2], lanes(0, 40))
    assert found(bypasses.by_thread(0, 40, THREADS)) == (barrier, [(0, 40)])


def test_threads_that_come_back_bypass_nothing():
    bypasses, blocks, barrier = followed()
    bypasses.wait(barrier, 2, lanes(0, 0), THREADS)
    bypasses.run(blocks[2], lanes(0, 40, 41))
    bypasses.wait(barrier, 2, lanes(0, 40), THREADS)
    assert found(bypasses.by_exiting(lanes(None, 40, 41))) == (barrier, [(0, 41)])
    assert bypasses.by_thread(0, 40, THREADS) is None
    bypasses.run(blocks[2], lanes(0, 0, 40))
    assert bypasses.by_exiting(lanes(0, 0, 40)) is None, "who waits does not run"


def test_the_barrier_itself_and_what_comes_before_is_not_beyond():
    """By the loop the first blocks come behind the barrier, too; they do not lie further down."""
    bypasses, blocks, barrier = followed()
    bypasses.wait(barrier, 2, lanes(0, 0), THREADS)
    bypasses.run(blocks[0], lanes(0, 40))
    assert bypasses.by_thread(0, 40, THREADS) is None
    assert found(bypasses.by_exiting(lanes(0, 40))) == (barrier, [(0, 40)])
    bypasses, blocks, barrier = followed()
    bypasses.wait(barrier, 2, lanes(0, 0), THREADS)
    bypasses.run(blocks[4], lanes(0, 40))
    bypasses.run(blocks[5], lanes(0, 41))
    assert bypasses.by_exiting(lanes(0, 40, 41)) is None, "an end alone, and what nobody reaches from the barrier"


def test_a_barrier_that_opens_is_no_longer_waited_at():
    bypasses, blocks, barrier = followed()
    bypasses.wait(barrier, 2, lanes(0, 0, 1), THREADS)
    bypasses.run(blocks[2], lanes(0, 40, 41, 42))
    bypasses.resume(lanes(0, 0, 40), barrier, barrier + 1)
    assert bypasses.waiting
    assert bypasses.by_thread(0, 40, THREADS) is None
    assert found(bypasses.by_exiting(lanes(None, 0, 40, 41))) == (barrier, [(0, 41)])
    assert found(bypasses.by_thread(0, 42, THREADS)) == (barrier, [(0, 41), (0, 42)])
    bypasses.resume(lanes(0, 1), barrier)
    assert not bypasses.waiting
    assert bypasses.by_exiting(lanes(0, 41)) is None


def test_lanes_that_run_the_same_code_again_are_followed_again_once_others_wait():
    bypasses, blocks, barrier = followed()
    bypasses.wait(barrier, 2, lanes(0, 0), THREADS)
    polling = lanes(1, 40)
    for _ in range(2):
        bypasses.run(blocks[2], polling)
    assert bypasses.by_exiting(polling) is None, "nobody of their block waits"
    bypasses.wait(barrier, 2, lanes(1, 0), THREADS)
    bypasses.run(blocks[2], polling)
    assert found(bypasses.by_exiting(polling)) == (barrier, [(1, 40)])
    bypasses.resume(polling, barrier)
    assert bypasses.by_exiting(polling) is None
    bypasses.run(blocks[2], polling)
    assert found(bypasses.by_exiting(polling)) == (barrier, [(1, 40)])


def test_threads_that_arrive_at_the_same_barrier_and_go_on_bypass_nothing():
    """So they do before and after the others come, until all have passed; at another barrier they do."""
    bypasses, blocks, barrier = followed()
    bypasses.arrive_ahead(3, lanes(0, 40), False)
    bypasses.wait(barrier, 2, lanes(0, 0), THREADS, 3)
    bypasses.run(blocks[2], lanes(0, 40, 41, 42))
    bypasses.arrive_ahead(3, lanes(0, 41), False)
    bypasses.arrive_ahead(4, lanes(0, 42), False)
    assert found(bypasses.by_exiting(lanes(0, 40, 41, 42))) == (barrier, [(0, 42)])
    bypasses.arrive_ahead(3, lanes(0, 40, 41), True)
    bypasses.run(blocks[2], lanes(0, 40))
    assert found(bypasses.by_exiting(lanes(0, 40, 41))) == (barrier, [(0, 40)])


@pytest.mark.parametrize("group", [32, THREADS])
def test_threads_wait_for_others_of_their_warp_or_of_their_block(group: int):
    bypasses, blocks, barrier = followed()
    bypasses.wait(barrier, 2, lanes(0, 0, 1), group)
    assert bypasses.within_warps(barrier) == (group == 32)
    assert not bypasses.within_warps(barrier + 1)
    bypasses.run(blocks[2], lanes(0, 5, 40))
    others = [(0, 5)] if group == 32 else [(0, 5), (0, 40)]
    assert found(bypasses.by_exiting(lanes(0, 5, 40))) == (barrier, others)
    assert found(bypasses.by_thread(0, 5, group)) == (barrier, others)


def test_in_turns_a_thread_still_behind_the_barrier_does_not_bypass_it():
    bypasses, blocks, barrier = followed(in_turns=True)
    bypasses.wait(barrier, 2, lanes(0, 0, 40), THREADS)
    bypasses.resume(lanes(0, 0, 40), barrier)
    assert bypasses.waiting, "blocks matter"
    bypasses.wait(barrier, 2, lanes(0, 0), THREADS)
    bypasses.run(blocks[2], lanes(0, 40))
    assert bypasses.by_thread(0, 40, THREADS) is None, "it has come from there"
    bypasses.run(blocks[0], lanes(0, 40))
    bypasses.run(blocks[2], lanes(0, 40))
    assert found(bypasses.by_thread(0, 40, THREADS)) == (barrier, [(0, 40)])


def test_in_turns_a_thread_that_never_passed_the_barrier_bypasses_it():
    bypasses, blocks, barrier = followed(in_turns=True)
    bypasses.wait(barrier, 2, lanes(0, 0), THREADS)
    bypasses.run(blocks[2], lanes(0, 40))
    assert found(bypasses.by_thread(0, 40, THREADS)) == (barrier, [(0, 40)])


@pytest.mark.parametrize("seed", range(8))
def test_which_blocks_can_run_after_one(seed: int) -> None:
    """Its targets, and the next one where the last instruction is no jump, or one with a guard; again and again."""
    random, count = np.random.default_rng(seed), 9
    blocks, instructions, follow = [], [], {}
    for index in range(count):
        targets = random.integers(0, count, random.integers(0, 2)).tolist()
        end = str(random.choice(["fall", "barrier", "branch", "exit"]))
        guard = "p" if random.random() < 0.4 else None
        blocks.append(SimpleNamespace(targets=targets, end=end, stop=index + 1))
        instructions.append(SimpleNamespace(guard=guard))
        goes_on = end in ("fall", "barrier") or guard is not None
        follow[index] = {*targets, *([index + 1] if goes_on and index + 1 < count else [])}
    bypass: Any = BarrierBypasses.__new__(BarrierBypasses)
    bypass._program = SimpleNamespace(blocks=blocks, image=SimpleNamespace(instructions=instructions))
    bypass._reachable = {}
    for start in range(count):
        wanted, more = {start}, {start}
        while more:
            more = set().union(*(follow[one] for one in more)) - wanted
            wanted |= more
        assert bypass._reachable_from(start) == wanted
        assert bypass._reachable_from(start) is bypass._reachable_from(start)
