"""Blocks that start and end and warps that wait at barriers: the compiled loop does what it does in Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.timing.blocks import BlockClock
from softlab.timing.journal import Journal
from softlab.timing.memory import Memory
from softlab.timing.parameters import Parameters
from softlab.timing.program import CLUSTER, IN_REGISTER, Action, Pipe, Row, TimedProgram
from softlab.timing.sharing import Sharing
from softlab.timing.sm import SmRun, simulate
from softlab.timing.stalls import BARRIER
from softlab.timing.work import BlockWork, WarpWork
from tests.sampled import each
from tests.timing.hand_made import BARE, END, row

_WARPS, _BLOCKS, _ROUNDS = 4, 7, 5
#: Instructions: a sum, then barriers. All warps of a block wait at the first one, two at the second one. One arrives at
#: the third one, where another one waits. The fourth one is in a register. The last two are of the cluster.
_SUM, _ALL, _PAIR, _GIVES, _TAKES, _REGISTER, _CAME, _WAITS, _EXIT = range(9)
_DETAILS = {
    _ALL: (0, 0), _PAIR: (1, 2), _GIVES: (2, 2), _TAKES: (2, 2), _REGISTER: (IN_REGISTER, 0), _CAME: (CLUSTER, 0),
    _WAITS: (CLUSTER, 0),
}  # fmt: skip
#: Barrier 5 of 128 threads, and a guard that is off.
_OPERAND, _OFF = 5 | 128 << 16, -1


def _rows() -> list[Row]:
    waits, arrives = (row(Pipe.MIO, action=action, stall=2) for action in (Action.BARRIER, Action.ARRIVE))
    summed = row(Pipe.FMA, stall=4, interval=2)
    return [summed, waits, waits, arrives, waits, waits, arrives, waits, END]


def _warp(random: np.random.Generator, warp: int) -> WarpWork:
    """Each round has all barriers; the last warp ends some barriers of all before the others."""
    code, operands = [], []
    for _ in range(_ROUNDS):
        for barrier in (_ALL, (_PAIR, _PAIR, _GIVES, _TAKES)[warp], _CAME, _WAITS, _REGISTER):
            code += [_SUM] * int(random.integers(0, 40)) + [barrier]
        operands.append(_OPERAND)
        if random.random() < 0.5:
            code.append(_REGISTER)
            operands.append(_OFF)
    code += [_SUM] * int(random.integers(0, 40))
    code += [_ALL, _SUM] * (0 if warp == _WARPS - 1 else 3)
    return WarpWork([*code, _EXIT], [], {}, tuple(operands))


def _launch(seed: int, figures: Parameters, journal: Journal | None = None, resident: int = 3) -> SmRun:
    random = np.random.default_rng(seed)
    program = TimedProgram((), tuple(_rows()), _DETAILS, tuple(range(1, _EXIT + 2)))
    blocks = [BlockWork.of(b, [_warp(random, warp) for warp in range(_WARPS)]) for b in range(_BLOCKS)]
    memory, clock = Memory(figures, Sharing.none(), 132, 0.0, 0, True), BlockClock(figures, resident, 132)
    return simulate(program, blocks, figures, memory, clock, journal=journal)


_FIGURES = {
    "as it is": replace(BARE, block_turnarounds=((1.0, 300.0),), second_wave=240.0, cluster_barrier=190.0),
    "code that the caches do not keep": replace(BARE, icache_bytes=128, icache_second_bytes=128, icache_miss=40.0),
}


@pytest.mark.skipif(not available(), reason="without a compiler Python has the loop")
@pytest.mark.parametrize("figures", _FIGURES.values(), ids=_FIGURES)
@pytest.mark.parametrize("seed", each(3, range(3)))
def test_compiled_and_python_give_the_same(seed: int, figures: Parameters) -> None:
    found = []
    for choice in ("none", "all"):
        with compiling(choice):
            journal = Journal()
            found.append((_launch(seed, figures, journal), journal))
    (run, journal), (other, others) = found
    assert np.array_equal(run.states, other.states)
    assert replace(run, states=other.states) == other
    assert journal == others
    assert any(state == BARRIER for _, state, *_ in journal)


def test_every_block_ends_and_all_instructions_are_issued() -> None:
    run = _launch(1, _FIGURES["as it is"])
    random = np.random.default_rng(1)
    issued = sum(len(_warp(random, warp).code) for _ in range(_BLOCKS) for warp in range(_WARPS))
    assert (run.complete, run.issued, len(run.finished)) == (True, issued, _BLOCKS)


def test_all_cycles_of_a_warp_have_a_state() -> None:
    """From the start of its block, in turn with the other warps, to its end."""
    run = _launch(2, BARE, resident=_BLOCKS)
    starts = sum(range(_WARPS)) * _BLOCKS
    assert run.states.sum() == pytest.approx(run.warp_cycles - starts, rel=0.01)
