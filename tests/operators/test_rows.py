"""The plan for a problem, how arrays of any shape become rows, and what a kernel is told of dropout."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from math import prod
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.dtypes import element_type
from softlab.hardware.devices import resolve
from softlab.operators import arrays, estimates, executors, functors, fused_arguments, prepared, row_view, rows
from softlab.operators.functors import Dropout
from softlab.operators.row_view import RowView, StridedView
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
    assert (first.question, first.answer) == ("Do the arrays start at a multiple of a pack, and lie apart?", False)
    assert tuple(others) == softlab.forced(40, 64, policy=policy, pack_size=1, device="H200").steps


@pytest.mark.parametrize(
    ("shape", "axis", "last"), [((4, 6), 1, True), ((4, 6), 0, False), ((5,), 0, True), ((), 0, True)]
)
def test_rows_of_the_last_axis_lie_as_the_array_does(shape: tuple[int, ...], axis: int, last: bool) -> None:
    view = RowView(shape, axis)
    assert view.axis_is_last == view.keeps_order == last


SHAPES = [((4, 6), 1), ((4, 6), 0), ((5,), 0), ((), 0), ((2, 3, 4), 0), ((2, 3, 4), 1), ((2, 3, 4), 2), ((1, 5, 1), 0)]


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_rows_of_an_array_and_back(shape: tuple[int, ...], axis: int) -> None:
    x = np.arange(prod(shape), dtype=np.float32).reshape(shape)
    view, element = RowView(shape, axis), element_type("float32")
    found = view.rows_of(np, x, element)
    assert found.flags.c_contiguous
    turned = np.atleast_1d(x).swapaxes(axis, -1)
    np.testing.assert_array_equal(found, turned.reshape(-1, turned.shape[-1]))
    assert (view.rows, view.cols, view.stride, view.swapped_shape) == (*found.shape, 1, turned.shape)
    np.testing.assert_array_equal(view.restored(np, found), x)
    assert view.restored(np, found).shape == shape
    made = view.empty(np, element)
    assert (made.shape, made.dtype) == (found.shape, found.dtype)


@pytest.mark.parametrize(("shape", "axis"), [pair for pair in SHAPES if pair[0]])
def test_rows_that_stay_where_they_lie(shape: tuple[int, ...], axis: int) -> None:
    x = np.arange(prod(shape), dtype=np.float32).reshape(shape)
    view = StridedView(shape, axis)
    found = view.rows_of(np, x, element_type("float32"))
    assert found.shape == (prod(shape) // shape[axis], shape[axis])
    assert np.shares_memory(found, x)
    assert view.keeps_order is True
    assert view.stride == x.strides[axis] // x.itemsize
    np.testing.assert_array_equal(view.restored(np, found), x)
    assert view.rows_of(np, x, element_type("float16")).dtype == np.float16


@pytest.mark.parametrize(
    ("order", "axis", "strided", "kind"),
    [
        ("C", 0, True, StridedView), ("C", 0, False, RowView), ("C", 2, True, RowView), ("C", 1, True, StridedView),
        ("exchanged", 0, True, RowView), ("exchanged", 1, True, StridedView), ("F", 0, True, RowView),
        ("F", 1, True, StridedView),
    ],
)  # fmt: skip
def test_which_rows_are_taken_where_they_lie(order: str, axis: int, strided: bool, kind: type) -> None:
    """Those of an axis that is not the last, unless they lie side by side once both are exchanged."""
    x = np.zeros((4, 3, 2), np.float32) if order == "exchanged" else np.zeros((2, 3, 4), np.float32, order=order)
    x = x.swapaxes(0, 2) if order == "exchanged" else x
    assert type(rows._view([x], axis, strided)) is kind
    both = [x, np.zeros(x.shape, np.float32)]
    assert type(rows._view(both, axis, strided)) is (StridedView if strided and axis < 2 else RowView)


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_operands_lie_as_the_rows_do(shape: tuple[int, ...], axis: int) -> None:
    view = RowView(shape, axis)
    for first in range(len(shape) + 1):
        given = tuple(1 if k % 2 == first % 2 else size for k, size in enumerate(shape))[first:]
        operand = np.arange(prod(given), dtype=np.float32).reshape(given)
        found = view.operand(operand)
        assert found.flags.c_contiguous
        expected = np.broadcast_to(operand, shape)
        np.testing.assert_array_equal(
            np.broadcast_to(found, view.swapped_shape), np.atleast_1d(expected).swapaxes(axis, -1)
        )
        assert view.swapped(given) == (found.shape or (1,))


@pytest.mark.parametrize(
    ("probability", "threshold"),
    [(0.0, 0), (2.0**-32, 1), (0.25, 2**30), (0.5, 2**31), (1 - 2.0**-32, 2**32 - 1), (1 - 2.0**-34, 2**32 - 1)],
)
def test_a_threshold_is_a_word(probability: float, threshold: int) -> None:
    dropout = Dropout(probability, 77)
    assert dropout.threshold == threshold
    assert isinstance(dropout.threshold, int)


def test_what_a_call_was_is_not_changed_later() -> None:
    modules = (arrays, estimates, executors, functors, fused_arguments, prepared, row_view, rows)
    named = [(module.__name__, one) for module in modules for one in vars(module).values()]
    records: list[Any] = [one for name, one in named if is_dataclass(one) and one.__module__ == name]
    assert len(records) > 10
    assert [record.__name__ for record in records if not record.__dataclass_params__.frozen] == []


class Partly:
    """Numbers with a shape, without the rest of an array."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("attributes", "itself"),
    [({"shape": (2,), "ndim": 1}, True), ({"shape": (2,)}, False), ({"ndim": 1}, False), ({}, False)],
)
def test_what_is_an_array_by_itself(attributes: dict[str, Any], itself: bool) -> None:
    given = Partly(**attributes)
    found = fused_arguments.as_array(given)
    assert (found is given) == itself
    assert itself or found.tolist() == [1, 2]
    assert fused_arguments.as_array([3, 4]).tolist() == [3, 4]
