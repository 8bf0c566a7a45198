"""The tool that measures what an estimate costs."""

from __future__ import annotations

import pytest

from tests.hardware import sixth_cases
from tests.tools import estimate_cost


@pytest.mark.further
def test_each_part_of_an_estimate_takes_some_time_and_a_small_one_is_quick():
    case = next(case for case in sixth_cases.cases() if case.kernel == "send_by")
    parts = estimate_cost.cost(sixth_cases, case)
    assert all(part > 0 for part in parts)
    assert sum(parts[:2]) < estimate_cost.MOST


def test_the_emulators_grid_fills_the_rows_and_planes_of_the_launch():
    alone = (1, 1, 1)
    assert estimate_cost.grid_of(8, (60, 135), alone) == (8, 1, 1)
    assert estimate_cost.grid_of(61, (60, 135), alone) == (60, 2, 1)
    assert estimate_cost.grid_of(8100, (60, 135), alone) == (60, 135, 1)
    assert estimate_cost.grid_of(9000, (60, 135, 2), alone) == (60, 135, 2)
    assert estimate_cost.grid_of(12, (4, 4), (2, 2, 1)) == (4, 4, 1)
