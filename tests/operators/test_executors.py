"""Runs of a plan that are ready to be called."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.operators import executors
from tests.reference import assert_softmax


def test_nothing_runs_before_the_call() -> None:
    plan = softlab.plan(3, 64, device="H200")
    x, y = np.random.default_rng(0).standard_normal((3, 64)).astype(np.float32), np.zeros((3, 64), np.float32)
    ready = executors.emulation(plan, executors.arguments(plan, (x,), y))
    assert not y.any()
    ready()
    assert_softmax(y, x)


def test_a_gpu_records_nothing() -> None:
    plan = softlab.plan(3, 64, device="H200")
    with pytest.raises(ValueError, match="a launch on a GPU records nothing: run NumPy arrays in the emulator"):
        executors.gpu_launch(plan, (), record=True)


def test_a_launch_on_a_gpu_is_the_plans() -> None:
    """It runs where a GPU is; what it is made of needs none."""
    plan = softlab.plan(3, 64, device="H200")
    ready = executors.gpu_launch(plan, (1, 2))
    assert ready.func is executors.gpu.launch
    assert ready.args == (executors.program_of(plan), (plan.grid, 1, 1), (*plan.block, 1), (1, 2), plan.smem_bytes)
    assert ready.keywords == {"cooperative": plan.cooperative, "workspace_bytes": plan.workspace_bytes}


def test_a_workspace_has_the_bytes_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """It follows the output, and it is zero."""
    taken: dict[str, tuple] = {}

    class Kernel:
        def run(self, grid: int, block: tuple[int, int], args: tuple, **how: object) -> None:
            taken.update(args=args, launch=(grid, block, how["smem"], how["cooperative"], how["check"], how["record"]))

    plan = softlab.plan(2, 3_000_000, "float32", policy="fast", device="H200")
    monkeypatch.setattr(executors, "_kernel", lambda program: Kernel())
    monkeypatch.setattr(executors, "program_of", lambda plan: None)
    x, y = np.zeros(1, np.float32), np.zeros(1, np.float32)
    executors.emulate(plan, executors.arguments(plan, (x,), y))
    first, second, workspace, rows, cols = taken["args"]
    assert (first is x, second is y, int(rows), int(cols)) == (True, True, 2, 3_000_000)
    assert 0 < workspace.nbytes == plan.workspace_bytes
    assert not workspace.any()
    assert taken["launch"] == (plan.grid, plan.block, plan.smem_bytes, True, False, False)
