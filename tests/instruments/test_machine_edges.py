"""Which edge of the machine code is which edge of the PTX, where nothing but the instructions behind them tells."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from softlab.instruments.executions import _Solver


def solver(*parts: dict[int, int]) -> Any:
    """A solver whose block 0 jumps to block 1 or falls to block 2; ``parts``: PTX block -> copies behind each."""
    made: Any = _Solver.__new__(_Solver)
    made.graph = SimpleNamespace(dominated=lambda block, _: [block], dominates=lambda *_: False)
    made._parts = [Counter(), *map(Counter, parts)]
    made._branches = SimpleNamespace(
        taken=lambda branch: branch + 10,
        is_back=lambda *_: False,
        only_through=lambda branch, target: {7} if target == branch + 10 else {8},
    )
    return made


@pytest.mark.parametrize(
    ("taken", "fall", "same"),
    [
        ({7: 1}, {8: 1}, True), ({8: 1}, {7: 1}, False),
        ({7: 1}, {}, True), ({}, {7: 1}, False), ({8: 1}, {}, False), ({}, {8: 1}, True),
        ({}, {}, None), ({3: 5}, {4: 1}, None), ({7: 2}, {7: 2}, None), ({7: 1, 8: 1}, {}, None),
        ({7: 3, 8: 2}, {}, True), ({7: 2}, {7: 3}, False),
    ],
)  # fmt: skip
def test_the_side_with_more_of_its_own_instructions_decides(taken: dict, fall: dict, same: bool | None) -> None:
    block = SimpleNamespace(index=0, leaves=False, taken=1, fall=2)
    assert solver(taken, fall)._same_sense(block, 4) is same
