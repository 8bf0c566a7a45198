"""The kernels of one warp that loops over memory: none has a race, and both ways of running count the same."""

from __future__ import annotations

import re

import pytest

from softlab.bench import lone_warps, waits
from softlab.emulator.machine.native import available
from tests.sampled import each


@pytest.mark.skipif(not available(), reason="llvmlite is not installed")
@pytest.mark.parametrize("name", each(2, lone_warps.KERNELS))
def test_both_ways_find_nothing_and_count_the_same(name: str) -> None:
    run = lone_warps.KERNELS[name].launch(name, 70)
    plain, compiled = (run(check="collect", compiled=how) for how in ("none", "all"))
    assert plain.findings == compiled.findings == ()
    assert plain.counters == compiled.counters


def test_a_row_says_how_many_times_as_long_as_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "_REPEATS", 1)
    assert re.fullmatch(r"\| poll \| 9 \| [\d.]+ \| [\d.]+ \| [\d.]+ \|", lone_warps.row("poll", 9))
