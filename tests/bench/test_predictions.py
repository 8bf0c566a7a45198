"""Predicted and measured launches: the shipped ones, and errors by hand."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from softlab.bench import predictions
from softlab.bench.predictions import PredictedLaunch, Source
from tests.hardware.record_timing import DATA, SETS, SMALL_SETS


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


def test_only_launches_that_are_far_off_need_an_explanation(monkeypatch):
    monkeypatch.setattr(predictions, "launches", lambda *gpu: tuple(BY_HAND))
    assert [one.name for one in predictions.unexplained()] == ["d", "b"]


def test_a_set_explains_its_launches_first():
    with pytest.MonkeyPatch.context() as patch:
        kernels = {"now": {"b, 5": "Of these blocks.", "b": "Of this kernel."}}
        categories = {"barrier": {"about": "waits", "why": "Barriers."}}
        patch.setattr(predictions, "_misses", lambda: {"categories": categories, "kernels": kernels})
        launches = [PredictedLaunch(name, "barrier", "barrier", 1, 2, 1, "now") for name in ("b, 5", "b<7>, 6", "c")]
        assert [one.why for one in launches] == ["Of these blocks.", "Of this kernel.", "Barriers."]
        assert launches[1].kernel == "b"
        assert PredictedLaunch("b, 5", "tiny", "barrier", 1, 2, 1, "then").why == predictions.NOT_EXPLAINED
        assert predictions.about("barrier") == "waits"


DEVICES = ("H200", "H100")


def newest(device: str) -> str:
    """The newest set that a GPU has measured, but for small ones."""
    measured = [name for name in SETS if (DATA / f"{name}_{device.lower()}.json").is_file()]
    return [name for name in measured if name not in SMALL_SETS][-1]


@pytest.mark.parametrize("cache", ["cold", "warm"])
@pytest.mark.parametrize("device", DEVICES)
def test_the_shipped_launches_are_those_of_the_newest_set_that_the_gpu_measured(device, cache):
    """If not: ``python -m tests.hardware.record_timing collect SET``, and then as CONTRIBUTING.md says."""
    found = predictions.source(device, cache)
    name = newest(device)
    assert found.set == name.replace("_", "-")
    measured = json.loads((DATA / f"{name}_{device.lower()}.json").read_text())
    made = json.loads((DATA / f"{name}_predicted.json").read_text())
    assert (found.date, found.model) == (measured["date"], made["model"])
    launches = predictions.launches(device, cache)
    assert len(launches) + len({*found.refused, *found.unsettled}) == len(made["cases"])
    for one in launches:
        assert one.predicted == made["cases"][one.name][f"{device}.{cache}"]
        assert one.measured == pytest.approx(max(measured["cases"][one.name][cache], 0.05), abs=1e-4)
    last, errors = predictions.sets(device, cache)[-1], predictions.errors(launches)
    assert (last.set, last.model, last.launches) == (found.set, found.model, len(launches))
    assert (last.median, last.tenth) == pytest.approx((errors.median, errors.tenth), abs=1e-3)
    assert last.rank == pytest.approx(predictions.rank_correlation(launches), abs=1e-3)


@pytest.mark.parametrize("device", DEVICES)
def test_the_worst_launches_have_explanations_of_their_own_and_categories_say_what_they_are_about(device):
    """``softlab/timing/data/misses.json`` has them; where no cause is known it says so."""
    assert [one.name for one in predictions.unexplained(device)] == []
    for cache in ("cold", "warm"):
        for one in predictions.launches(device, cache):
            assert 5 < len(predictions.about(one.category)) < 60


def test_explanations_are_of_the_shipped_sets():
    """Each fits a launch that is missed; those of other sets go when a new set comes."""
    every = [one for device in DEVICES for cache in ("cold", "warm") for one in predictions.launches(device, cache)]
    written = json.loads(predictions.MISSES.read_text())["kernels"]
    assert written.keys() == {one.set for one in every}
    used = {(one.set, one.why) for one in every}
    assert {(name, text) for name, texts in written.items() for text in texts.values()} <= used


def test_the_lessons_set_has_what_its_exercises_ask_for():
    """Some atomics, a median that two categories do not share, and a launch that is far off."""
    launches = predictions.launches()
    groups = predictions.by_category(launches)
    assert {one.what: one.launches for one in groups}["atomics"] >= 5
    assert groups[-1].median > groups[-2].median
    assert any(one.error > 0.2 for one in launches)


def test_a_source_names_what_is_missing():
    source = Source("H200", "cold", "last", 7, "2026-01-02", 4, ("a, 1 of 32", "a, 2 of 32", "b<3>, 1 of 64"), ())
    assert str(source) == (
        "4 launches of the last set, predicted by version 7 of the model, measured on an H200 with a cold L2, "
        "2026-01-02"
    )
    assert source.missing == "without a prediction: 2 of a, 1 of b<3>; without a time that repeats: none"


def test_docs_list_every_set_with_its_errors():
    page = (Path(__file__).parents[2] / "docs" / "estimates.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.count("|") == 7]
    listed = {row[1].partition(",")[0]: row for row in rows}
    for number, (device, cache) in enumerate(product(DEVICES, ("cold", "warm")), 2):
        for one in predictions.sets(device, cache):
            assert listed[one.set][0] == str(one.model)
            assert listed[one.set][number] == f"{one.median:.1%}, {one.tenth:.1%}, {one.rank:.3f}".replace("%", " %")


def test_another_gpu_has_none():
    with pytest.raises(ValueError, match=r"no launches of 'A100.cold': there are H100.cold"):
        predictions.launches("A100")
