"""What an estimate says about the model's error."""

from __future__ import annotations

import json

from softlab.bench import predictions
from softlab.hardware.devices import resolve
from softlab.timing import validation
from softlab.timing.parameters import Parameters
from tests.hardware import timing_cases
from tests.hardware.record_timing import collect


def test_the_sentence_is_about_launches_with_the_same_bound():
    errors = {"dram": [0.01, -0.02, 0.03, -0.04, 0.05], "barrier": [0.5]}
    found = {"date": "2026-11-22", "errors": errors}
    text = validation.sentence(found, "H200", "dram", "cold")
    assert "off by 3% in the median and by 5%" in text
    assert "5 launches bound by dram" in text
    assert "6 launches of all kinds" in validation.sentence(found, "H200", "barrier", "cold")


def test_collected_errors_are_what_an_estimate_says(tmp_path, monkeypatch):
    monkeypatch.setattr(validation, "RECORD", tmp_path / "data" / "validated.json")
    monkeypatch.setattr(predictions, "FILE", tmp_path / "data" / "launches.json")
    predicted = {f"launch {n}": {"category": "tiny", "bound": "launch", "roofline": 1.0} for n in range(1, 8)}
    for n, case in enumerate(predicted.values(), 1):
        case |= {f"H200.{cache}": 1.2 * n for cache in ("cold", "warm")}
    (tmp_path / "predicted.json").write_text(json.dumps({"model": validation.MODEL, "cases": predicted}))
    measured = {f"launch {n}": {"cold": n, "warm": n} for n in range(1, 8)}
    (tmp_path / "timing_h200.json").write_text(json.dumps({"date": "2026-11-22", "cases": measured}))
    earlier = {"H100.cold": {"date": "2026-11-21", "model": 0, "errors": {"launch": [0.5] * 7}}}
    (tmp_path / "data").mkdir()
    validation.RECORD.write_text(json.dumps(earlier))
    collect(timing_cases, tmp_path / "predicted.json", tmp_path)
    validation._record.cache_clear()
    text = validation.validated(resolve("H200"), "launch", "warm", Parameters("H200"))
    h100 = validation.validated(resolve("H100"), "launch", "warm", Parameters("H100"))
    validation._record.cache_clear()
    assert "off by 20% in the median" in text
    assert "earlier version" not in text
    older = validation.sentence({"date": "", "model": 0, "errors": {"launch": [0.2] * 7}}, "H200", "launch", "warm")
    assert "by an earlier version of the model" in older
    assert h100.startswith("not validated")
    assert json.loads(validation.RECORD.read_text())["H100.cold"] == earlier["H100.cold"]
