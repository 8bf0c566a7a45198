"""Which launch is estimated for a plan: its arguments, its device, and the plans that launch nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import softlab
from softlab.errors import PlanError
from softlab.hardware.devices import resolve
from softlab.kernel import Kernel, estimation
from softlab.operators.estimates import estimate, plan_arguments, what_if
from softlab.timing.what_if import CHANGES


@pytest.mark.parametrize(("op", "inputs"), [("softmax", 1), ("log_softmax_backward", 2)])
def test_a_plan_runs_on_zeros(op: str, inputs: int) -> None:
    *arrays, rows, cols = plan_arguments(softlab.plan(6, 64, "float16", op=op, device="H200"))
    assert (int(rows), int(cols)) == (6, 64)
    assert [(a.shape, a.dtype, a.any()) for a in arrays] == [((6, 64), np.float16, False)] * (inputs + 1)
    assert len({id(a) for a in arrays}) == inputs + 1


def test_a_plan_with_a_workspace_has_one_behind_its_output() -> None:
    plan = softlab.plan(2, 3_000_000, "float32", policy="fast", device="H200")
    x, y, workspace, rows, cols = plan_arguments(plan)
    assert x.shape == y.shape == (2, 3_000_000)
    assert workspace.nbytes == plan.workspace_bytes > 0
    assert not workspace.any()
    assert (int(rows), int(cols)) == (2, 3_000_000)


@pytest.mark.parametrize(
    ("planned", "asked", "taken"),
    [("H200", None, "H200"), ("H100", None, "H100"), ("A100", None, None), ("H100", "H200", "H200")],
)
def test_the_device_is_that_of_the_plan_where_it_can_be(
    monkeypatch: pytest.MonkeyPatch, planned: str, asked: str | None, taken: str | None
) -> None:
    launched: list[dict[str, Any]] = []

    class Sampled:
        def __init__(self, kernel: Kernel, **given: Any) -> None:
            launched.append(given)

        def estimate(self, *given: Any, **options: Any) -> tuple[Any, ...]:
            return "estimate", *given, options

        def what_if(self, *given: Any) -> tuple[Any, ...]:
            return "what_if", *given

    monkeypatch.setattr(estimation, "sample_launch", Sampled)
    plan = softlab.plan(6, 2000, device=planned)
    found: tuple[Any, Any] = (
        estimate(plan, device=asked, what_if="infinite L2"),
        what_if(plan, device=asked, cache="warm"),
    )
    launch = {"grid": plan.grid, "block": plan.block, "smem": plan.smem_bytes, "sample": None}
    for given, names, (method, device, *options) in zip(
        launched, [("infinite L2",), tuple(CHANGES)], found, strict=True
    ):
        assert given.pop("device") == device
        assert (device or None) in (taken, taken and resolve(taken))
        assert [a.shape for a in given.pop("args")[:2]] == [(6, 2000)] * 2
        assert given == {**launch, "names": names}
        wanted = ["cold", {"what_if": "infinite L2", "timeline": False}] if method == "estimate" else ["warm"]
        assert options == wanted
    assert [method for method, *_ in found] == ["estimate", "what_if"]


def test_a_plan_that_launches_nothing_has_no_estimate() -> None:
    with pytest.raises(PlanError, match="an input of 0 x 64 launches nothing"):
        estimate(softlab.plan(0, 64, device="H200"))
    with pytest.raises(TypeError, match="a plan, a trace or a run, got int"):
        estimate(3)
