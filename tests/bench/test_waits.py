"""The kernels that wait and publish: none has a race, with blocks of two batches, in both ways of running."""

from __future__ import annotations

import re

import pytest

from softlab.bench import waits
from softlab.emulator.machine.native import available
from tests.sampled import turns

WAYS = ["none", pytest.param("all", marks=pytest.mark.skipif(not available(), reason="llvmlite is not installed"))]


@pytest.mark.parametrize(("name", "compiled"), turns(2, waits.KERNELS, WAYS))
def test_no_kernel_has_a_finding(name: str, compiled: str) -> None:
    blocks = 4 if waits.KERNELS[name].cooperative else 70
    run = waits.KERNELS[name].launch(name, blocks)
    assert run(check="collect", compiled=compiled).findings == ()


def test_a_row_says_how_many_times_as_long_as_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "_REPEATS", 1)
    assert re.fullmatch(r"\| look_back \| 2 \| [\d.]+ \| [\d.]+ \| [\d.]+ \|", waits.row("look_back", 2))


def test_the_ways_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has the least of its runs: as many as are asked for, or fewer long ones, and at least one."""
    clock, ran = [0.0], []
    monkeypatch.setattr(waits.time, "process_time", lambda: clock[0])

    def run(way: str) -> None:
        ran.append(way)
        clock[0] += {"a": 1.0, "b": 2.0}[way] + len(ran) / 8

    ways = [{"way": "a"}, {"way": "b"}]
    for repeats, after, rounds in ((3, 100.0, 3), (20, 8.0, 3), (20, 0.5, 1), (1, 100.0, 1)):
        ran.clear()
        monkeypatch.setattr(waits, "_REPEATS", repeats)
        monkeypatch.setattr(waits, "_FEWER_AFTER", after)
        assert waits.least_seconds(run, ways) == [1.125, 2.25]
        assert ran == ["a", "b"] * rounds
