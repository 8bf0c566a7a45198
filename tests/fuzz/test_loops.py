"""Some of the random loops; ``python -m tests.fuzz loops`` runs more."""

from __future__ import annotations

import pytest

from softlab.emulator.machine.native import available
from softlab.emulator.machine.native_region import RegionFunction
from tests.fuzz import loops
from tests.sampled import sampled

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not installed")


@pytest.mark.parametrize("third", sampled(range(3), lambda third: third == 0))
def test_random_loops_are_the_same_both_ways(third, monkeypatch):
    calls, run = [], RegionFunction.run

    def noted(self, *arguments):
        calls.append(run(self, *arguments))
        return calls[-1]

    monkeypatch.setattr(RegionFunction, "run", noted)
    for number in range(third, 12, 3):
        assert not loops.differences(number)
    assert calls
    assert third > 0 or len(set(calls)) > 1  # some of the first third are left to the machine
