"""Checks for CI: files of checks, their problems, SARIF, the command and the pytest plugin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from softlab import cli
from softlab.workbench.checks import read_checks, run_check
from softlab.workbench.requirements import Requirement
from softlab.workbench.sarif import sarif
from tests.workbench.kernels import TRANSPOSE
from tests.workbench.test_advice import transposed

pytest_plugins = ["pytester"]

LAUNCH = """
grid = [4, 4]
block = [32, 8]
args = "x=random((128, 128)), y=zeros((128, {columns})), n=128"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "padded.cu").write_text(TRANSPOSE.format(width=33))
    (tmp_path / "plain.cu").write_text(TRANSPOSE.format(width=32))
    (tmp_path / "broken.cu").write_text(TRANSPOSE.format(width=33).replace("int col", "int cool"))
    return tmp_path


def write(folder: Path, *checks: str) -> Path:
    path = folder / "some.softlab.toml"
    path.write_text("\n".join(f"[[check]]\n{one}{LAUNCH.format(columns=128)}" for one in checks))
    return path


def test_what_passes_and_what_does_not(folder: Path) -> None:
    path = write(
        folder,
        'file = "padded.cu"\nrequire = ["bank_conflicts == 0", "global_load_sectors <= 1.02 * ideal"]',
        'file = "plain.cu"\nrequire = ["bank_conflicts == 0"]',
        'file = "broken.cu"',
    )
    padded, plain, broken = (run_check(check) for check in read_checks(path))
    assert padded.passed
    assert not padded.problems
    (problem,) = plain.problems
    assert (problem.rule, problem.line, plain.passed) == ("requirement", 8, False)
    assert "bank_conflicts is 15872" in problem.message
    (problem,) = broken.problems
    assert (problem.rule, problem.line, broken.passed) == ("compile", 5, False)
    assert "col" in str(problem)
    assert "broken.cu:5: error: " in str(problem)
    report = sarif([padded, plain, broken])
    (run,) = report["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["compile", "requirement"]
    assert {r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in run["results"]} == {5, 8}
    assert all(run["tool"]["driver"]["rules"][r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"])


def test_a_fault_fails_a_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(folder / "padded.cu")
    options = ["--grid", "4,4", "--block", "32,8", "--args", "x=random((128,128)), y=zeros((128,64)), n=128"]
    out = folder / "out.sarif"
    assert cli.main(["check", file, *options, "--sarif", str(out)]) == 1
    printed = capsys.readouterr().out
    assert f"{file}:8: error: global-out-of-bounds:" in printed
    assert "[global-out-of-bounds]" in printed
    assert json.loads(out.read_text())["runs"][0]["results"][0]["level"] == "error"


def test_the_command_takes_requirements(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(folder / "plain.cu")
    options = ["--grid", "1", "--block", "32,8", "--args", "x=random((32,32)), y=zeros((32,32)), n=32"]
    assert cli.main(["check", file, *options, "--require", "bank_conflicts == 992", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert record["passed"]
    assert record["counters"]["bank_conflicts"] == 992
    assert cli.main(["check", file, *options, "--require", "bank_conflict == 0"]) == 2
    assert "bank_conflict is no counter" in capsys.readouterr().err
    assert cli.main(["check", str(folder / "none.cu"), *options]) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", r"write one \[\[check\]\]"),
        ("[[check]]\ngrid = 1", "the key file is missing"),
        ("[[check]]\nfile = 3", "file = 3 is of the wrong type"),
        ("[[check]]\nfiles = 'a.cu'", "files is no key"),
        ("[[check]]\nfile = 'a.cu'\nrequire = ['1 +']", "write a comparison"),
        ("[[check]]\nfile = 'a.cu'\nwarnings = 'no'", '"allow" or "fail"'),
        ("[[check]]\nfile = 'a.cu'\nname = 'a'\n[[check]]\nfile = 'a.cu'\nname = 'a'", "two checks have the name"),
        ("[[check]", "Expected"),
    ],
)
def test_a_wrong_file_of_checks(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "a.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_checks(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ideal > 1", "ideal belongs to one of"),
        ("bank_conflicts", "write a comparison"),
        ("bank_conflicts == __import__('os')", "__import__ is no counter"),
        ("bank_conflicts == 1 / 0", "division by 0"),
        ("instructions in 3", "write a comparison"),
        ("instructions == True", "write numbers"),
        ("conflicts == 0", "conflicts is no counter"),
    ],
)
def test_a_wrong_requirement(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Requirement.parse(text)


def test_requirements_of_a_run() -> None:
    run = transposed(32)
    for text, holds in {
        "bank_conflicts == 15872": True,
        "shared_load_wavefronts <= 1.5 * ideal": False,
        "shared_store_wavefronts == ideal": True,
        "0 < registers < 64": True,
        "spill_bytes + smem_bytes == 4096": True,
        "occupancy >= 0.9": True,
        "-1 * instructions > 0": False,
    }.items():
        assert (Requirement.parse(text).unmet(run) == "") is holds, text
    with pytest.raises(ValueError, match="has no estimate"):
        Requirement.parse("microseconds < 2").unmet(run)


def test_the_pytest_plugin(folder: Path, pytester: Any) -> None:
    # An installed softlab is a plugin already: its entry point is named softlab.
    path = write(folder, 'file = "padded.cu"', 'file = "plain.cu"\nname = "plain"\nrequire = ["bank_conflicts == 0"]')
    result = pytester.runpytest("-p", "no:softlab", "-p", "softlab.workbench.pytest_plugin", str(path))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*plain.cu:8: error: bank_conflicts == 0 does not hold*", "*FAILED*plain*"])


def test_compare_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--grid", "1", "--block", "32,8", "--args", "x=random((32,32)), y=zeros((32,32)), n=32"]
    page = folder / "out.html"
    files = [str(folder / name) for name in ("plain.cu", "padded.cu")]
    assert cli.main(["compare", *files, *options, "--picture", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "equal, bit for bit" in printed
    assert "992, then 0" in printed
    assert "http" not in page.read_text().replace("http-equiv", "")
    (folder / "wrong.cu").write_text(TRANSPOSE.format(width=33).replace("= tile[", "= 2 * tile["))
    assert cli.main(["compare", files[0], str(folder / "wrong.cu"), *options, "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["same_results"] is False
    assert record["totals"]["bank_conflicts"] == [992, 0]
