"""Predicted and measured launches: the shipped ones, and errors by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from softlab.bench import predictions
from softlab.bench.predictions import PredictedLaunch
from softlab.timing import validation


def made(name: str, predicted: float, measured: float, category: str = "latency") -> PredictedLaunch:
    return PredictedLaunch(name, category, "latency", predicted, measured, measured / 2)


BY_HAND = [made("a", 1.1, 1.0), made("b", 1.0, 2.0, "barrier"), made("c", 3.0, 3.0), made("d", 9.0, 4.0, "unheard of")]


def test_errors_by_hand():
    found = predictions.errors(BY_HAND)
    assert (found.launches, found.roofline) == (4, 0.5)
    assert found.median == pytest.approx(0.3)
    assert [one.what for one in predictions.by_category(BY_HAND)] == ["latency", "barrier", "unheard of"]
    assert [one.name for one in predictions.worst(BY_HAND, 2)] == ["d", "b"]


def test_rank_correlation():
    assert predictions.rank_correlation(BY_HAND) == pytest.approx(0.8)
    assert predictions.rank_correlation([made("x", k, 10 - k) for k in range(1, 9)]) == pytest.approx(-1)


def test_only_large_errors_are_explained_and_what_is_not_known_is_said():
    assert [bool(one.why) for one in BY_HAND] == [False, True, False, True]
    assert "barrier" in BY_HAND[1].why
    assert BY_HAND[3].why == "Not explained yet."


@pytest.mark.parametrize("key", ["H200.cold", "H200.warm", "H100.cold", "H100.warm"])
def test_the_shipped_launches_are_those_of_the_record_that_estimates_name(key):
    device, cache = key.split(".")
    record = json.loads(validation.RECORD.read_text())[key]
    launches = predictions.launches(device, cache)
    assert predictions.measured_on(device, cache) == record["date"]
    by_bound: dict[str, list[float]] = {}
    for one in launches:
        by_bound.setdefault(one.bound, []).append(one.error)
    assert {bound: len(errors) for bound, errors in by_bound.items()} == {
        bound: len(errors) for bound, errors in record["errors"].items()
    }
    for bound, errors in record["errors"].items():
        assert np.allclose(by_bound[bound], errors, atol=2e-3, rtol=2e-3)


def test_another_gpu_has_none():
    with pytest.raises(ValueError, match=r"no launches of 'A100.cold': there are H100.cold"):
        predictions.launches("A100")
