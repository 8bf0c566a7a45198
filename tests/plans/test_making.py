"""What ``plan`` and ``forced`` take and refuse, each argument by a rule in one line of Python."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from softlab import plans
from softlab.errors import PlanError
from softlab.plans.planner import Step
from softlab.plans.records import POLICIES
from softlab.plans.resources import Resources


def taken(*_: Any) -> Resources:
    """What every kernel takes here, so that nothing is compiled."""
    return Resources(32, 0, 0, 0, "")


def outcome(rows: Any, cols: Any, **more: Any) -> str:
    """ "" for a plan, else the kind of error with the first words of its message."""
    try:
        plan = plans.forced(rows, cols, device="H100", lookup=taken, **more)
    except (PlanError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    assert (plan.rows, plan.cols) == (rows, cols)
    return ""


@pytest.mark.parametrize("policy", POLICIES)
def test_a_stride_divides_the_rows_and_needs_the_policy_fast(policy: str) -> None:
    for rows, stride in product((0, 1, 2, 6, 12, 35), (-6, -1, 0, 1, 2, 3, 5, 6, 12)):
        may = stride == 1 or (policy == "fast" and stride > 0 and rows % stride == 0)
        found = outcome(rows, 64, policy=policy, stride=stride)
        if may:
            assert not found, (rows, stride, found)
        elif policy == "fast" and stride < 0:
            assert found == f"ValueError: stride = {stride}: a shape has no negative size"
        else:
            assert found.startswith(f"PlanError: stride {stride}: policy='fast' takes one that divides the {rows} rows")


def test_packs_divide_the_row_or_its_stride() -> None:
    """A pack is at most 16 bytes; of rows along another axis it divides the stride, and no kernel may be named."""
    for dtype, size, cols, stride in product(("float16", "float64"), (1, 2, 4, 8), (4, 6, 7, 64), (1, 2, 8)):
        found = outcome(16, cols, dtype=dtype, pack_size=size, stride=stride, policy="fast")
        nbytes = size * np.dtype(dtype).itemsize
        if stride > 1 and stride % size:
            assert found == f"PlanError: rows of stride {stride} take no kernel= and a pack that divides the stride"
        elif stride == 1 and cols % size:
            assert found == f"PlanError: packs of {size} do not divide a row of {cols} columns; use a pack of 1"
        elif nbytes > 16:
            assert found == f"PlanError: a pack of {size} {dtype} is {nbytes} bytes; a thread moves at most 16 at once"
        else:
            assert not found, (dtype, size, cols, stride, found)
    assert outcome(16, 64, kernel="fast_warp", stride=2, policy="fast").startswith(
        "PlanError: rows of stride 2 take no"
    )


def test_kernels_of_the_policy_fast_belong_to_it() -> None:
    for policy, kernel in product(POLICIES, ("fast_warp", "fast_tile")):
        found = outcome(1000, 64, policy=policy, kernel=kernel)
        wrong = f"PlanError: kernel '{kernel}' belongs to policy='fast', not to policy='{policy}'"
        assert found == ("" if policy == "fast" else wrong)


@pytest.mark.parametrize("name", ["rows", "cols", "stride"])
def test_counts_are_integers_that_a_kernel_can_take(name: str) -> None:
    for value, error in (
        (True, "TypeError: {} must be an integer, not True"),
        (2.0, "TypeError: {} must be an integer, not 2.0"),
        ("2", "TypeError: {} must be an integer, not '2'"),
        (-1, "ValueError: {} = -1: a shape has no negative size"),
        (2**63, "ValueError: {} is an integer of 64 bits, and a kernel takes at most 63 (long long)"),
        (2**63 - 1, ""),
        (np.int64(2), ""),
    ):
        given = {"rows": 4, "cols": 64, "stride": 1} | {name: value}
        if name == "stride":
            given["rows"] = 0
            error = "" if value is True else error  # which is 1
        found = outcome(given.pop("rows"), given.pop("cols"), policy="fast", **given)
        assert found == error.format(name) or (not error and not found.startswith(("TypeError", "ValueError")))


def test_names_are_known_ones() -> None:
    for name, values, wrong in (
        ("op", ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward"), "softmin"),
        ("policy", ("oneflow", "fast", "invariant"), "best"),
        ("kernel", ("warp", "block_smem", "block_uncached"), "block"),
        ("pack_size", (1, 2, 4), 3),
        ("layout", ("column", "row", "row_scalar"), "col"),
    ):
        for value in values:
            assert not outcome(8, 64, **{name: value}), (name, value)
        assert outcome(8, 64, **{name: wrong}).startswith(f"ValueError: {name} {wrong!r} is not one of {values[0]}, ")
    for size in (128, 256, 512, 1024):
        assert not outcome(8, 64, kernel="block_smem", block_size=size)
        assert plans.forced(8, 64, kernel="block_smem", block_size=size, device="H100", lookup=taken).block[0] == size
    assert outcome(8, 64, block_size=64) == "ValueError: block_size 64 is not one of 128, 256, 512, 1024"


def test_without_a_layout_rows_lie_by_columns() -> None:
    for layout in (None, "column", "row", "row_scalar"):
        plan = plans.forced(8, 2048, kernel="block_smem", layout=layout, device="H100", lookup=taken)
        assert plan.layout == (layout or "column")
    assert plans.plan(8, 2048, device="H100", lookup=taken).layout == "column"


@pytest.mark.parametrize(
    ("values", "answer", "text"),
    [
        ({}, 10, "How many? 10"),
        ({"rows": 3}, True, "How many? yes  (rows 3)"),
        ({"rows": 3, "fits": False, "of": {"a": 1, "b": 2}}, ("x", "y"),
         "How many? x and y  (rows 3, fits no, of {a: 1, b: 2})"),
    ],
)  # fmt: skip
def test_a_step_as_text(values: dict[str, Any], answer: Any, text: str) -> None:
    assert str(Step("How many?", values, answer)) == text
