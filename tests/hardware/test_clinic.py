"""The bug clinic under compute-sanitizer: how its answers are read, without a GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from softlab import course
from tests.hardware import clinic, sanitize

ROOT = Path(__file__).parents[2]
RACE = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at scale_rows(const float *)+0xc0 in cell.cu:4
=========     and Read access at scale_rows(const float *)+0x150 in /tmp/cell.cu:6 [4092 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
{"launches": 2, "wrong": ["with 3 rows, y[1] is 2.0"]}
"""


def answer(errors: int | None = 0, lines: tuple[int, ...] = (), **more: Any) -> dict[str, Any]:
    return {
        "errors": errors,
        "says": "Error: Race" if errors else "",
        "lines": lines,
        "ended": True,
        "wrong": [],
        **more,
    }


@pytest.mark.parametrize("tool", ["", "racecheck"])
def test_the_lines_of_a_report_are_read(monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    asked = []

    def process(command: list[str], limit: int) -> dict[str, Any]:
        asked.append(command)
        return sanitize.process([sys.executable, "-c", f"print({RACE!r})"], limit)

    monkeypatch.setattr(clinic, "process", process)
    read = clinic.under(tool, "one-slot", fixed=True)
    assert read["ended"]
    assert read["wrong"] == ["with 3 rows, y[1] is 2.0"]
    assert asked[0][-3:] == ["--one", "one-slot", "--fixed"]
    if tool:
        assert asked[0][:3] == ["compute-sanitizer", "--tool", "racecheck"]
        assert (read["errors"], read["lines"]) == (1, [4, 6])


def test_a_process_that_is_killed_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    never = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(clinic, "process", lambda command, limit: sanitize.process(never, 1))
    read = clinic.under("memcheck", "one-slot", fixed=False)
    assert (read["errors"], read["ended"]) == (None, False)
    assert clinic.cell(read, (4, 6)) == "did not end"


def test_a_fix_is_another_kernel_than_its_bug() -> None:
    assert clinic.source("one-slot", fixed=False) == course.bug("one-slot").source
    assert clinic.source("one-slot", fixed=True) != course.bug("one-slot").source


def test_the_table_and_the_alarms() -> None:
    silent = {"without a tool": {"ended": True, "wrong": []}, **dict.fromkeys(clinic.TOOLS, answer())}
    bug = {**silent, "racecheck": answer(1, (4, 6)), "memcheck": answer(2, (6,)), "initcheck": answer(None)}
    record = {"bugs": {"one-slot": {"bug": bug, "fix": {**silent, "synccheck": answer(3)}}}}
    row = clinic.table(record).splitlines()[-1]
    assert row == "| one-slot | race, line 4 and 6 | right | line 6 | all its lines | did not end | - |"
    assert clinic.alarms(record) == ["one-slot, synccheck: Error: Race"]
    assert clinic.found_by(record)["racecheck"] == ["one-slot"]


def test_the_document_has_the_recorded_answers() -> None:
    """All of the table but softlab's column, which tests/course/test_clinic.py holds."""
    record = json.loads((ROOT / "tests/data/clinic_sanitizer_h200.json").read_text())
    text = (ROOT / "docs/teaching.md").read_text()
    rows = dict(line.removeprefix("| ").split(" | ", 1) for line in text.splitlines() if line.count(" | ") == 6)
    for bug in course.bugs():
        answers = record["bugs"][bug.name]["bug"]
        cells = [clinic.result(answers), *(clinic.cell(answers[tool], bug.lines) for tool in clinic.TOOLS)]
        assert rows[bug.name].endswith(f"| {' | '.join(cells)} |"), bug.name
    found = {name for names in clinic.found_by(record).values() for name in names}
    assert clinic.alarms(record) == []
    assert f"The tools report {len(found)} of the 25 bugs and none of the 25 fixes" in " ".join(text.split())
