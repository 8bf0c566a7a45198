"""The table of the emulator's speed: its cases run, and compute what they say."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.bench import emulator_speed
from softlab.bench.emulator_cases import MODES, cases
from softlab.emulator.machine.native import available


@pytest.mark.further
def test_the_cases_have_no_findings_and_the_products_are_right() -> None:
    for case in cases():
        if case.name.startswith("256^3"):
            continue
        assert case.run(check="collect").findings == ()
        if not case.name.startswith("64^3"):
            continue
        a, b, c, _ = case.run.args[2]  # type: ignore[attr-defined]
        np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


def test_a_row_has_both_ways_beside_an_addition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulator_speed, "_REPEATS", 1)
    case = next(c for c in cases() if c.name == "one warp, divergent loop")
    rows = emulator_speed.measure_case(case)
    assert [row["mode"] for row in rows] == list(MODES)
    for row in rows:
        assert 0.5 < row["addition_microseconds"] < 1000
        for way in ("none", "all") if available() else ("none",):
            found = row[way]
            expected = found["milliseconds"] * 1e3 / row["addition_microseconds"]
            assert found["additions"] == pytest.approx(expected, rel=0.02, abs=2)
    text = emulator_speed.table(rows)
    assert text.count("\n") == 4
    assert "| one warp, divergent loop | plain |" in text


def test_ratios_are_beside_a_plain_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulator_speed, "_REPEATS", 1)
    monkeypatch.setattr(emulator_speed, "_FIRST_RUNS", 1)
    case = next(c for c in cases() if c.name == "one warp, divergent loop")
    ratios = emulator_speed.ratios_of(case, "none")
    assert ratios["plain"] == 1
    assert min(ratios["counters"], ratios["all checks"]) > 0
    text = emulator_speed.ratio_table([case])
    assert text.startswith("| launch | NumPy |")
    assert text.count("\n") == 2
