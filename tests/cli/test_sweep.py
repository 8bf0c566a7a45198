"""``softlab sweep``: its table and JSON against the plans themselves, and how wrong arguments end."""

from __future__ import annotations

import json

import pytest

import softlab
from softlab import cli
from softlab.cli.sweep import row_lengths

pytest.importorskip("joblib")


def run(capsys, *arguments):
    status = cli.main(["sweep", *map(str, arguments)])
    return status, *capsys.readouterr()


def test_the_table_has_a_line_where_a_choice_changes(capsys):
    status, out, _ = run(capsys, "1020:1030:2", "--device", "H200", "--columns", "kernel,block_size")
    assert status == 0
    assert out.startswith("softmax of 65536 rows of float32 on H200")
    rows = [[word.strip() for word in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
    block_size = softlab.plan(65_536, 1024, device="H200").block_size
    assert rows == [["1020", "1022", "warp", "128"], ["1024", "1030", "block_smem", str(block_size)]]


def test_as_json(capsys):
    problem = {"dtype": "float16", "op": "log_softmax", "device": "T4"}
    options = [word for name, value in problem.items() for word in (f"--{name}", value)]
    status, out, _ = run(capsys, "60,1000,5000", *options, "--rows", 77, "--json")
    found = json.loads(out)
    made = [softlab.plan(77, cols, **problem) for cols in (60, 1000, 5000)]
    assert status == 0
    assert found["device"] == "T4"
    for name in ("kernel", "block_size", "thread_group_width", "registers"):
        assert found["columns"][name] == [getattr(plan, name) for plan in made]
    assert found["columns"]["fraction"] == [plan.occupancy.fraction for plan in made]
    assert {"at": 5000, "column": "kernel", "before": "warp", "after": "block_smem"} in found["changes"]


def test_several_processes_give_the_same(capsys):
    arguments = ("1000:1400:5", "--device", "A100", "--json")
    assert run(capsys, *arguments, "--jobs", 2) == run(capsys, *arguments)


def test_row_lengths():
    assert row_lengths("128,7,4096") == [128, 7, 4096]
    assert row_lengths("12") == [12]
    assert row_lengths("3:5") == [3, 4, 5]
    assert row_lengths("10:15:2") == [10, 12, 14]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("many",), "row lengths 'many': give a list such as 128,1000,4096, first:last or first:last:step"),
        (("1:2:3:4",), "row lengths '1:2:3:4': give"),
        (("1:9:0",), "row lengths '1:9:0': there is none"),
        (("9:1",), "row lengths '9:1': there is none from 9 to 1 in steps of 1"),
        (("9", "--columns", "speed"), "--columns: no column 'speed'; there are cols, kernel"),
        (("9", "--device", "K80"), "unknown device 'K80'"),
        (("9,-9",), "cols = -9"),
    ],
)
def test_wrong_arguments(capsys, arguments, message):
    status, out, error = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert error.startswith("softlab sweep: ")
    assert message in error
