"""The tool that measures what an estimate costs."""

from __future__ import annotations

from tests.hardware import sixth_cases
from tests.tools import estimate_cost


def test_each_part_of_an_estimate_takes_some_time_and_a_small_one_is_quick():
    case = next(case for case in sixth_cases.cases() if case.kernel == "send_by")
    parts = estimate_cost.cost(sixth_cases, case)
    assert all(part > 0 for part in parts)
    assert sum(parts[:2]) < estimate_cost.MOST
