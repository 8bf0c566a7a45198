"""When a block of code counts as hot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from softlab.emulator.machine import fusing
from softlab.emulator.machine.fusing import Heat, heat_of
from softlab.emulator.machine.operations import Operation

ADD = Operation(("d",), "a + b", ("a", "b"), native=lambda emitter, a, b: a)
FMA = replace(ADD, weight=6)
EFFECT = Operation((), "effect()", ())


def test_heat_grows_with_runs_and_with_lanes() -> None:
    heat = Heat(run=0.25, lane=0.001, start=3.0)
    assert [heat.of(lanes) for lanes in (0, 32, 1000)] == pytest.approx([0.25, 0.282, 1.25])


@pytest.mark.parametrize(("started", "limit"), [(True, 1.0), (False, 4.0)])
def test_the_first_block_also_pays_for_the_start(started: bool, limit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusing, "started", lambda: started)
    assert Heat(run=0.25, lane=0.001, start=3.0).compiles_from() == limit


def test_three_opcodes_are_worth_it_and_two_are_not() -> None:
    assert heat_of([ADD, ADD, EFFECT]) is None
    assert heat_of([ADD, EFFECT, ADD, ADD]) is not None


def test_heat_is_the_time_of_a_run_divided_by_that_of_compiling() -> None:
    """More work per run heats faster; more pieces to compile, slower."""
    together, apart = heat_of([ADD, ADD, ADD, ADD]), heat_of([ADD, ADD, EFFECT, ADD, ADD])
    heavy = heat_of([FMA, FMA, FMA, FMA])
    assert together is not None
    assert apart is not None
    assert heavy is not None
    assert together.run > apart.run > 0
    assert heavy.run > together.run
    assert together.start > apart.start
    for heat in (together, apart, heavy):
        assert heat.run / heat.lane == pytest.approx(2000)  # a call is worth as much as 2000 lanes
