"""The processes that run random cases: together they run all of them, and one that is lost is a failure."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path

import pytest

from tests.hardware import fake_portions, random_cases
from tests.hardware.random_cases import Drawing, outcomes
from tests.random_cases.families import aims

DRAWING = Drawing(7, ("fast",), most=200)


@pytest.mark.further
def test_the_cases_are_the_same_for_any_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_cases, "_portion", fake_portions.right)
    asked = sorted(str(DRAWING.case(number)) for number in range(40))
    for processes in (1, 2):
        pids: set[str] = set()
        assert sorted(str(one.case) for one in outcomes(DRAWING, 40, processes, kernels=pids)) == asked
        assert len(pids) <= processes


def test_a_lost_process_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys) -> None:
    """The command ends, and its record says so."""
    monkeypatch.setattr(random_cases, "_portion", fake_portions.deadly)
    monkeypatch.setattr(random_cases, "about", dict)
    path = tmp_path / "record.json"
    options = ["--count", "40", "--seed", "7", "--processes", "2", "--policies", "fast", "--json", str(path)]
    assert random_cases.main(options) == 1
    record = json.loads(path.read_text())
    assert record["failed"] == 1
    assert record["cases"] < 40
    assert "a process is lost" in record["failures"][0]["problem"]
    assert "a process is lost" in capsys.readouterr().out


@pytest.mark.further
def test_a_family_that_did_not_run_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The kernels that processes loaded are compared with those that were asked for."""
    monkeypatch.setattr(random_cases, "_portion", fake_portions.right)
    monkeypatch.setattr(random_cases, "about", dict)
    monkeypatch.setattr(random_cases, "aims", partial(aims, tried=500))
    path = tmp_path / "record.json"
    options = ["--count", "8", "--processes", "1", "--most", "5000", "--policies", "fast", "--json", str(path)]
    assert random_cases.main([*options, "--families", "fast_warp", "fast_block"]) == 1
    record = json.loads(path.read_text())
    assert record["failed"] == 0
    assert record["missing"] == ["fast_block", "fast_warp"]
    assert record["command"].endswith("--most 5000 --families fast_warp fast_block")
    assert random_cases.main(options) == 0


def test_at_the_end_of_the_time_no_process_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_cases, "_portion", fake_portions.endless)
    started = time.monotonic()
    done = list(outcomes(DRAWING, 40, 2, seconds=0))
    assert 0 < len(done) <= 4
    assert time.monotonic() - started < 45
