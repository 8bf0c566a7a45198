"""What an estimate says about the model's error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from softlab.bench import predictions
from softlab.hardware.devices import resolve
from softlab.timing import validation
from softlab.timing.parameters import Parameters
from tests.hardware import fourth_cases, third_cases
from tests.hardware.record_timing import collect


def rows(**errors: list[float]) -> list[list]:
    """Launches with these errors, by what bounds them, as the record has them."""
    return [["name", "tiny", bound, 1 + error, 1.0, 0.5] for bound, several in errors.items() for error in several]


def test_the_sentence_is_about_launches_with_the_same_bound_and_names_its_set():
    launches = rows(dram=[0.01, -0.02, 0.03, -0.04, 0.05], barrier=[0.5])
    found = {"set": "last", "date": "2026-11-22", "model": validation.MODEL, "launches": launches}
    text = validation.sentence(found, "H200", "dram", "cold")
    assert text == (
        f"on an H200 (cold cache) version {validation.MODEL} of the model was off by 3% in the median and by 5% at the "
        "90th percentile of 5 launches bound by dram, predicted before they were measured (last set, 6 launches, "
        "2026-11-22)"
    )
    assert "6 launches of all kinds" in validation.sentence(found, "H200", "barrier", "cold")


def test_a_sentence_about_another_version_says_which_one_is_used_now():
    found = {"set": "last", "date": "2026-11-22", "model": 0, "launches": rows(launch=[0.2] * 7)}
    text = validation.sentence(found, "H200", "launch", "warm")
    assert "version 0 of the model was off by 20%" in text
    assert text.endswith(f"; the model is version {validation.MODEL} now, whose error was not measured on this GPU")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where ``collect`` reads and writes."""
    monkeypatch.setattr(validation, "RECORD", tmp_path / "data" / "launches.json")
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """Let the record be read again."""
    validation.record.cache_clear()
    validation._sentence_of.cache_clear()


def measure(folder: Path, name: str, device: str, error: float, model: int) -> None:
    """A set of seven launches on a GPU, of which the last has no prediction and the one before no steady time."""
    predicted = {f"launch {n}": {"category": "tiny", "bound": "launch", "roofline": 1.0} for n in range(1, 10)}
    for n, case in enumerate(predicted.values(), 1):
        case |= {f"{device}.{cache}": (1 + error) * n for cache in ("cold", "warm")}
    predicted["launch 9"] = {"category": "tiny", "error": "too long"}
    (folder / f"{name}_predicted.json").write_text(json.dumps({"model": model, "cases": predicted}))
    measured = {f"launch {n}": {"cold": n, "warm": n} for n in range(1, 10) if n != 8}
    (folder / f"{name}_{device.lower()}.json").write_text(json.dumps({"date": "2026-11-22", "cases": measured}))


def test_collected_errors_are_what_an_estimate_says_and_other_gpus_keep_theirs(folder, capsys):
    measure(folder, "third", "H100", 0.5, 3)
    collect(third_cases, folder)
    measure(folder, "fourth", "H200", 0.25, validation.MODEL)
    collect(fourth_cases, folder)
    text = validation.validated(resolve("H200"), "launch", "warm", Parameters("H200"))
    assert "off by 25% in the median" in text
    assert "(fourth set, 7 launches" in text
    assert "now" not in text
    h100 = validation.validated(resolve("H100"), "launch", "warm", Parameters("H100"))
    assert "version 3 of the model was off by 50%" in h100
    assert "(third set" in h100
    found = predictions.source("H200", "cold")
    assert (found.refused, found.unsettled) == (("launch 9",), ("launch 8",))
    assert [(one.set, one.model, one.median) for one in predictions.sets("H200", "warm")] == [
        ("fourth", validation.MODEL, pytest.approx(0.25))
    ]
    assert "H200.cold: write in misses.json why launch 1 of the fourth set is missed" in capsys.readouterr().out


def test_without_a_record_nothing_is_validated(folder):
    text = validation.validated(resolve("H100"), "launch", "warm", Parameters("H100"))
    assert text.startswith("not validated: no launch has been measured")
