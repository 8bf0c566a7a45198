"""The ``softlab`` command: its JSON against the public API, its tables, and how wrong arguments end."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import softlab
from softlab import cli, course, plans
from softlab.cli import course as course_commands
from softlab.cli import registry
from softlab.cli import trace as trace_command
from softlab.course import grading
from softlab.hardware.devices import Device, names


def run(capsys, *arguments):
    """(exit status, standard output, standard error) of the command."""
    try:
        status = cli.main([str(argument) for argument in arguments])
    except SystemExit as stopped:  # argparse's own errors, --help, --version
        status = stopped.code
    return status, *capsys.readouterr()


def test_plan_as_json(capsys):
    status, out, _ = run(capsys, "plan", 64, 100, "--dtype", "float16", "--device", "a100", "--json")
    plan = softlab.plan(64, 100, "float16", device="A100")
    record = json.loads(out)
    assert status == 0
    assert record == json.loads(json.dumps(plan.record() | {"occupancy": plan.occupancy.record()}))
    assert (record["kernel"], record["device"]) == ("warp", "A100")


def test_plan_as_tables(capsys):
    status, out, _ = run(capsys, "plan", 64, 100, "--op", "log_softmax", "--device", "H200", "--alternatives")
    plan = softlab.plan(64, 100, op="log_softmax", device="H200")
    assert status == 0
    assert "log_softmax of 64 x 100 float32 on H200 (sm_90)" in out
    assert plan.name in out
    for step in plan.steps:
        assert step.question in out
    assert out.count("block_uncached") == 4
    assert out.count(" * ") == 1


def test_plan_as_a_tree(capsys):
    _, out, _ = run(capsys, "plan", 64, 2048, "--device", "H200", "--tree")
    lines = [line.strip("│├└─ ") for line in out.splitlines()]
    assert "* Which kernel?" in lines
    assert "* block_smem" in lines
    assert {"warp", "block_uncached"} <= set(lines)


def test_forced_plan(capsys):
    _, out, _ = run(
        capsys, "plan", 64, 2048, "--kernel", "block_smem", "--block-size", 512, "--pack-size", 1, "--layout", "row",
        "--device", "H200", "--json",
    )  # fmt: skip
    expected = plans.forced(64, 2048, kernel="block_smem", block_size=512, pack_size=1, layout="row", device="H200")
    assert (
        json.loads(out)["name"] == expected.name == "softmax_block_smem<float, Algorithm::softmax, 1, 512, Layout::row>"
    )


def test_accurate_plan_is_compiled_with_the_option(capsys):
    _, out, _ = run(capsys, "plan", 64, 100, "--accurate", "--device", "H200", "--json")
    assert json.loads(out)["options"] == ["-DSOFTLAB_ACCURATE"]


def test_plan_of_nothing(capsys):
    status, out, _ = run(capsys, "plan", 0, 100, "--alternatives")
    assert status == 0
    assert "Is there anything to do?" in out
    assert json.loads(run(capsys, "plan", 0, 100, "--json")[1])["occupancy"] is None


def test_occupancy(capsys):
    arguments = ("occupancy", "--threads", 128, 1024, "--registers", 32, 80, "--smem", 9000, "--device", "T4")
    status, out, _ = run(capsys, *arguments, "--json")
    found = json.loads(out)
    assert status == 0
    assert [(f["threads"], f["registers"]) for f in found] == [(128, 32), (128, 80), (1024, 32), (1024, 80)]
    for one in found:
        held = softlab.occupancy("T4", threads=one["threads"], registers=one["registers"], smem=9000)
        assert one == json.loads(json.dumps(held.record()))
    _, table, _ = run(capsys, *arguments)
    assert "Occupancy on T4 (sm_75)" in table
    assert "81920 of a block's 65536" in " ".join(table.split())
    every = json.loads(run(capsys, "occupancy", "--registers", 40, "--json")[1])
    assert [f["threads"] for f in every] == list(range(32, 1025, 32))


def test_occupancy_of_the_most_that_a_block_takes(capsys):
    arguments = ("occupancy", "--threads", 32, "--registers", 255, "--smem", 65536, "--device", "T4", "--json")
    status, out, _ = run(capsys, *arguments)
    assert (status, json.loads(out)[0]["blocks_per_sm"]) == (0, 1)


def test_occupancy_without_opt_in(capsys):
    _, out, _ = run(capsys, "occupancy", "--threads", 32, "--registers", 8, "--smem", 50_000, "--no-opt-in", "--json")
    assert json.loads(out)[0]["blocks_per_sm"] == 0


def test_devices(capsys):
    _, out, _ = run(capsys, "devices", "--json")
    record = json.loads(out)
    assert [device["name"] for device in record["devices"]] == list(names())
    _, out, _ = run(capsys, "devices", "--device", "sm_90")
    assert "H200" in out
    assert "V100" not in out


def test_trace(capsys):
    pytest.importorskip("softlab.kernel")
    status, out, _ = run(capsys, "trace", 4, 64, "--device", "H200", "--json", "--by-line")
    record = json.loads(out)
    assert status == 0
    assert record["plan"]["kernel"] == "warp"
    # 4 rows of 64 floats are 1 KiB: 32 sectors of 32 bytes, read once and written once.
    assert (record["counters"]["global_load_sectors"], record["counters"]["global_store_sectors"]) == (32, 32)
    sectors = sum(counts["global_load_sectors"] for counts in record["by_line"].values())
    assert sectors == 32
    _, table, _ = run(capsys, "trace", 4, 64, "--device", "H200", "--by-line")
    assert "global_load_sectors" in table
    assert "softmax_warp.cuh" in table


def test_a_long_trace_is_announced_with_a_measured_time(capsys, monkeypatch):
    """A clock by hand: 3 s for the sample. It runs before the whole, and once more before that, to compile."""
    monkeypatch.setattr(trace_command, "SHORT", 4000)
    monkeypatch.setattr(trace_command, "_SAMPLE", 2000)
    ticks = iter([100, 103])
    monkeypatch.setattr(trace_command.time, "perf_counter", lambda: next(ticks))
    ran = []
    traced = trace_command._traced
    monkeypatch.setattr(trace_command, "_traced", lambda options, rows: ran.append(rows) or traced(options, rows))
    status, out, err = run(capsys, "trace", 80, 100, "--device", "H200", "--json")
    assert (status, ran) == (0, [20, 20, 80])
    # 20 rows took 3 s, so 80 rows take 12 s.
    assert "about 12 s for 80 rows (measured just now: 20 rows in 3.00 s)" in err
    assert "softlab trace 20 100" in err
    assert json.loads(out)["plan"]["rows"] == 80


def test_a_short_trace_is_not_announced(capsys):
    assert run(capsys, "trace", 4, 64, "--device", "H200")[2] == ""


def test_no_time_is_estimated_from_another_kernel(capsys, monkeypatch):
    """Policy "fast" takes another kernel for few rows than for many: its time says nothing."""
    monkeypatch.setattr(trace_command, "SHORT", 1000)
    monkeypatch.setattr(trace_command, "_SAMPLE", 2000)
    plan = softlab.plan(80, 100, device="H200")
    other = dataclasses.replace(plan, kernel="another")
    monkeypatch.setattr(softlab, "plan", lambda *arguments, **options: other)
    _, _, err = run(capsys, "trace", 80, 100, "--device", "H200", "--json")
    assert err.startswith("No estimate of the time: 80 rows take the kernel another, 20 rows warp")


@pytest.mark.parametrize(("seconds", "words"), [(7.4, "7 s"), (150, "2 min"), (9000, "2.5 h")])
def test_durations(seconds, words):
    assert trace_command.duration(seconds) == words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", 4, 4, "--device", "h300"), "softlab plan: unknown device 'h300'. Did you mean"),
        (("plan", 4, 4, "--dtype", "int32"), "softlab plan: dtype int32 is not supported"),
        (("plan", -4, 4), "softlab plan: rows = -4"),
        (("plan", 4, 4, "--op", "softmin"), "op 'softmin' is not one of softmax"),
        (("plan", 4, 4, "--policy", "fastest"), "policy 'fastest' is not one of oneflow, fast"),
        (("plan", 4, 4000, "--kernel", "warp"), "4000 are 2976 too many"),
        (("occupancy", "--threads", 2000, "--registers", 32), "threads = 2000: a block of"),
        (("occupancy", "--threads", 32, "--registers", 32, "--smem", -1), "smem = -1"),
        (("occupancy", "--registers", 999, "--device", "H200"), "registers = 999: a thread on H200 has at most 255"),
        (("occupancy", "--registers", 32, 256, "--device", "T4"), "registers = 256: a thread on T4 has at most 255"),
        (
            ("occupancy", "--registers", 32, "--smem", 0, 99999999, "--device", "H200"),
            "smem = 99999999: a block on H200 has at most 232448 bytes of shared memory. Give fewer.",
        ),
        (("occupancy", "--registers", 32, "--smem", 65537, "--no-opt-in", "--device", "T4"), "at most 65536 bytes of"),
        (("trace", 4, -1), "softlab trace: cols = -1: a shape has no negative size"),
        (("trace", 1, 10**14), "softlab trace: Unable to allocate 364. TiB for an array with shape"),
        (("devices", "--device", "sm_61"), "unknown architecture 'sm_61'"),
        (("lab", "--notebook", "15.ipynb"), "There are 0-first-kernel.ipynb, 00-start-here.ipynb, 01-numerics"),
    ],
)
def test_wrong_values_are_one_line_and_status_2(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize("arguments", [("plan", 4), ("plan", "four", 4), ("fly",), ("occupancy",)])
def test_wrong_usage_is_status_2(capsys, arguments):
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert "usage: softlab" in err


def test_help_and_version(capsys):
    assert run(capsys, "--version")[:2] == (0, f"softlab {softlab.__version__}\n")
    status, out, _ = run(capsys, "--help")
    assert status == 0
    for name in ("plan", "occupancy", "trace", "devices", "doctor", "lab", "explore", "progress", "grade", "bench"):
        assert f"\n    {name}" in out
        assert run(capsys, name, "--help")[0] == 0


def test_without_a_command_it_prints_its_help(capsys):
    assert run(capsys) == run(capsys, "--help")


def test_ctrl_c_ends_without_a_traceback(capsys, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(softlab, "trace", interrupted)
    assert run(capsys, "trace", 4, 64) == (130, "", "softlab trace: interrupted\n")


def test_the_operators_of_the_help_are_those_of_the_plans():
    from softlab.plans.planner import OPERATORS

    assert tuple(OPERATORS) == registry.OPERATORS


def test_doctor(capsys, monkeypatch):
    from softlab.cli import doctor

    findings = (doctor.Diagnosis("Python", True, "3.11"), doctor.Diagnosis("NVRTC", False, "no", "all", "pip", True))
    monkeypatch.setattr(doctor, "examine", lambda: findings)
    status, out, _ = run(capsys, "doctor", "--json")
    assert (status, [f["name"] for f in json.loads(out)]) == (1, ["Python", "NVRTC"])
    assert "Essential and missing: NVRTC" in run(capsys, "doctor")[1]


@pytest.fixture
def one_lesson(monkeypatch, tmp_path):
    """A folder with a course of one lesson; the commands that would have been served."""
    called = []
    monkeypatch.setattr(course_commands, "served", lambda command: called.append(command) or 0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(course_commands, "shipped", tmp_path.joinpath)
    (tmp_path / "notebooks").mkdir()
    lesson = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "notebooks" / "01-one.ipynb").write_text(json.dumps(lesson))
    return called


# The last name is one that the lesson may have had before.
@pytest.mark.parametrize("name", ["01-one.ipynb", "1", "01", "01-numerics.ipynb"])
def test_lab_opens_a_copy_in_the_learners_folder(capsys, one_lesson, tmp_path, name):
    assert run(capsys, "lab", "--notebook", name, "--", "--no-browser")[0] == 0
    (command,) = one_lesson
    assert command[:4] == [sys.executable, "-m", "jupyterlab", str(tmp_path / "softlab-course")]
    assert "--ServerApp.ip=127.0.0.1" in command
    assert "--LabApp.default_url=/lab/tree/01-one.ipynb" in command
    assert command[-1] == "--no-browser"
    assert (tmp_path / "softlab-course" / "01-one.ipynb").is_file()


def test_lab_takes_a_folder_and_can_only_copy(capsys, one_lesson, tmp_path):
    status, out, _ = run(capsys, "lab", "--notebook", "1", "--folder", tmp_path / "mine", "--copy-only")
    assert (status, one_lesson) == (0, [])
    assert f"Your copies of the lessons are in {tmp_path / 'mine'}" in out
    assert (tmp_path / "mine" / "01-one.ipynb").is_file()


def test_explore(capsys, monkeypatch):
    called = []
    monkeypatch.setattr(course_commands, "served", lambda command, env: called.append((command, env)) or 0)
    monkeypatch.setenv("JUPYTER_PATH", "elsewhere")
    assert run(capsys, "explore", "--", "--no-browser", "--port=8899")[0] == 0
    ((command, env),) = called
    assert command[1:3] == ["-m", "voila"]
    assert Path(command[3]).is_file()
    assert {"--Voila.ip=127.0.0.1", "--token"} <= set(command)
    assert command[-2:] == ["--no-browser", "--port=8899"]
    template, *others = env["JUPYTER_PATH"].split(os.pathsep)
    assert (Path(template) / "voila" / "templates" / "softlab" / "index.html.j2").is_file()
    assert others == ["elsewhere"]
    assert run(capsys, "explore", "--", "--token=mine")[0] == 0
    assert "--token" not in called[1][0]


def test_explore_without_voila(capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    status, _, err = run(capsys, "explore")
    assert (status, "pip install 'softlab[lab]'" in err) == (2, True)


def test_progress(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert course.exercise("00-half-the-bytes").grade(16_777_216).right
    status, out, _ = run(capsys, "progress")
    assert status == 0
    assert [line.split("│")[2].strip() for line in out.splitlines() if "│ 00 " in line or "The course" in line] == [
        "1",
        "1",
    ]
    assert run(capsys, "progress", "--export", tmp_path / "out.json")[0] == 0
    record = json.loads((tmp_path / "out.json").read_text())
    assert (record["right"], list(record["exercises"])) == (1, ["00-half-the-bytes"])
    assert json.loads(run(capsys, "progress", "--export", "-")[1]) == record
    status, _, err = run(capsys, "progress", "--export", tmp_path / "no" / "such" / "folder.json")
    assert (status, "cannot be written" in err) == (2, True)


@pytest.mark.parametrize(
    ("options", "answer", "status", "right"),
    [
        ((), "n", 1, 1),
        ((), "", 1, 1),
        ((), "y", 0, 0),
        (("--yes",), None, 0, 0),
        ((), None, 2, 1),
    ],
    ids=["no", "return", "yes", "--yes", "no terminal"],
)
def test_reset_asks_first(capsys, monkeypatch, tmp_path, options, answer, status, right):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert course.exercise("00-half-the-bytes").grade(16_777_216).right
    asked = []

    def input_(question):
        asked.append(question)
        if answer is None:
            raise EOFError
        return answer

    monkeypatch.setattr("builtins.input", input_)
    assert run(capsys, "progress", "--reset", *options)[0] == status
    assert bool(asked) is ("--yes" not in options)
    assert json.loads(run(capsys, "progress", "--export", "-")[1])["right"] == right


@pytest.fixture
def class_of_two(monkeypatch):
    """Two notebooks that are graded at once."""
    states = {"00-half-the-bytes": "right", "00-copy": "wrong"}
    seen = []
    handed_in = tuple(grading.HandedIn(name, ("%%exercise 00-copy",)) for name in ("ada.ipynb", "\x1b[2J\r=1+1.ipynb"))
    monkeypatch.setattr(grading, "handed_in", lambda folder: handed_in)
    monkeypatch.setattr(grading, "wanted", lambda notebook: tuple(states))

    def graded(notebook, **more):
        seen.append(more)
        return grading.Submission(notebook.file, states)

    monkeypatch.setattr(grading, "graded", graded)
    return states, seen


def test_grade(capsys, tmp_path, class_of_two):
    states, seen = class_of_two
    status, out, err = run(capsys, "grade", tmp_path)
    assert (status, err) == (0, "ada.ipynb: 1 of 2 right\n\\x1b[2J\\r=1+1.ipynb: 1 of 2 right\n")
    assert out.splitlines()[:2] == ["file,right,of,problem,00-copy,00-half-the-bytes", "ada.ipynb,1,2,,wrong,right"]
    assert seen[0]["shipped"].name == "notebooks"
    assert json.loads(run(capsys, "grade", tmp_path, "--json")[1])[0]["states"] == states
    assert run(capsys, "grade", tmp_path, "--csv", tmp_path / "class.csv")[1] == ""
    assert (tmp_path / "class.csv").read_text() == out
    status, _, err = run(capsys, "grade", tmp_path, "--csv", tmp_path / "no" / "class.csv")
    assert (status, "class.csv cannot be written" in err) == (2, True)


@pytest.mark.parametrize("options", [(), ("--csv", "class.csv"), ("--json",)])
def test_ctrl_c_keeps_the_marks(capsys, monkeypatch, tmp_path, class_of_two, options):
    graded = grading.graded

    def interrupted(notebook, **more):
        if notebook.file != "ada.ipynb":
            raise KeyboardInterrupt
        return graded(notebook, **more)

    monkeypatch.setattr(grading, "graded", interrupted)
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "grade", tmp_path, *options)
    assert status == 130
    assert "1 of 2 notebooks are graded" in err
    if "--json" in options:
        assert [row["file"] for row in json.loads(out)] == ["ada.ipynb"]
    else:
        text = (tmp_path / "class.csv").read_text() if options else out
        assert text.splitlines()[1:] == ["ada.ipynb,1,2,,wrong,right"]


def test_grade_says_which_files_a_submission_changed(capsys, monkeypatch, tmp_path, class_of_two):
    """Marks are those of the files as they were read; whose files they are stays the teacher's question."""

    def meddles(notebook, **options):
        (tmp_path / "ada.ipynb").write_text("broken")
        (tmp_path / "=1.ipynb").write_text("{}")
        return grading.Submission(notebook.file, {})

    (tmp_path / "ada.ipynb").write_text("as handed in")
    monkeypatch.setattr(grading, "graded", meddles)
    status, _, err = run(capsys, "grade", tmp_path)
    assert status == 0
    assert (
        "has changed while they ran (added: =1.ipynb; changed: ada.ipynb). The marks are those of the files as" in err
    )


@pytest.mark.parametrize("name", ["nothing", ""])
def test_grade_without_notebooks(capsys, tmp_path, name):
    status, _, err = run(capsys, "grade", tmp_path / name)
    assert (status, "no " in err) == (2, True)


def test_as_a_module_into_a_pipe_that_closes():
    command = f"{sys.executable} -m softlab plan 64 100 --device {Device.named('H200').name} | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=Path(softlab.__file__).parents[1])
    assert done.returncode == 0
    assert done.stdout.startswith("softmax of 64 x 100 float32 on H200")
    assert done.stderr == ""
