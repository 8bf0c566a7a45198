"""Predicted over measured, drawn: a point is where its factor is."""

from __future__ import annotations

import math

import pytest

from softlab.views.predictions import error_strips
from tests.views.drawn import marks, words

GROUPS = {"latency": [(1.0, "chain"), (2.0, "slow")], "atomics": [(0.01, "count")]}


def test_points_stand_at_their_factor_and_far_ones_at_the_end():
    picture = error_strips(GROUPS, title="Here", stamp="made up")
    at = {one["tip"].partition(":")[0]: float(one["x"]) for one in marks(picture, factor=None)}
    axis = error_strips({"x": [(0.25, "left"), (4.0, "right")]}, title="", stamp="")
    ends = [float(one["x"]) for one in marks(axis, factor=None)]
    middle = sum(ends) / 2
    assert at["chain"] == pytest.approx(middle)
    assert at["slow"] == pytest.approx(middle + (ends[1] - ends[0]) / 2 * math.log(2) / math.log(4), abs=0.1)
    assert at["count"] == pytest.approx(ends[0], abs=0.1)
    assert [one["marked"] for one in marks(picture, category="atomics")] == ["True"]


def test_each_row_says_its_median_error():
    shown = words(error_strips(GROUPS, title="Here", stamp="made up"))
    assert {"50% of 2", "99% of 1", "made up"} <= set(shown)
