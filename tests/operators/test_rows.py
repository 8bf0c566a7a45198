"""The plan for a problem: the one of softlab.plan, or one with packs of a single element."""

from __future__ import annotations

from dataclasses import replace

import pytest

import softlab
from softlab.hardware.devices import resolve
from softlab.operators.row_view import RowView
from softlab.operators.rows import PlanKey, planned
from softlab.plans import POLICIES


@pytest.mark.parametrize("policy", POLICIES)
def test_a_problem_that_names_no_stride_has_elements_side_by_side(policy: str) -> None:
    problem = PlanKey(40, 70, "float32", "softmax", policy, resolve("H200"))
    assert planned(problem) == planned(replace(problem, stride=1)) == softlab.plan(40, 70, policy=policy, device="H200")


@pytest.mark.parametrize("policy", POLICIES)
def test_packs_of_one_element_are_the_first_step(policy: str) -> None:
    problem = PlanKey(40, 64, "float32", "softmax", policy, resolve("H200"))
    plan, single = planned(problem), planned(problem, True)
    assert plan.pack_size > single.pack_size == 1
    first, *others = single.steps
    assert (first.question, first.answer) == ("Do the arrays start at a multiple of a pack?", False)
    assert tuple(others) == softlab.forced(40, 64, policy=policy, pack_size=1, device="H200").steps


@pytest.mark.parametrize(
    ("shape", "axis", "last"), [((4, 6), 1, True), ((4, 6), 0, False), ((5,), 0, True), ((), 0, True)]
)
def test_rows_of_the_last_axis_lie_as_the_array_does(shape: tuple[int, ...], axis: int, last: bool) -> None:
    view = RowView(shape, axis)
    assert view.axis_is_last == view.keeps_order == last
