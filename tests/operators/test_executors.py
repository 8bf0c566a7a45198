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
