"""What is kept of a learner's progress: what counts of two records, and what a file may have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from softlab.course.learners import Bar, Progress, Record, Standing, _backup, _read


@pytest.mark.parametrize(
    ("mine", "other", "both"),
    [
        (Record(2, "", "wrong", "a"), Record(3, "", "wrong", "b"), Record(3, "", "wrong", "b")),
        (Record(3, "", "wrong", "a"), Record(2, "", "wrong", "b"), Record(3, "", "wrong", "a")),
        (Record(2, "", "wrong", "a"), Record(2, "", "wrong", "b"), Record(2, "", "wrong", "a")),
        (Record(1, "2026-02", "right"), Record(4, "", "wrong"), Record(4, "2026-02", "wrong")),
        (Record(1, "2026-02", "right"), Record(1, "2026-01", "right"), Record(1, "2026-01", "right")),
    ],
)
def test_of_two_records_the_one_with_more_attempts_counts(mine: Record, other: Record, both: Record):
    """What is solved in one of them is solved, at the earlier time."""
    found = Progress({"a": mine, "b": mine}).merged(Progress({"a": other, "c": other}))
    assert found.records == {"a": both, "b": mine, "c": other}


def test_how_many_are_solved():
    progress = Progress({"a": Record(1, "2026-01", "right"), "b": Record(3), "c": Record(2, "2026-01", "wrong")})
    assert progress.solved(["a", "b", "c", "d"]) == 2
    assert progress.solved(["b"]) == 0
    assert progress.any_solved
    assert not Progress({"b": Record(3)}).any_solved
    standing = Standing(Bar("in this notebook", 3, 5), Bar("in the course", 17, 45))
    assert standing.sentence == "3 of 5 in this notebook, 17 of 45 in the course"


def test_each_answer_counts_and_the_first_right_one_is_kept():
    progress = Progress().with_answer("a", right=False, message="no")
    assert progress.records["a"] == Record(1, "", "wrong", "no")
    solved = progress.with_answer("a", right=True)
    time = solved.records["a"].solved
    assert solved.records["a"] == Record(2, time, "right", "")
    assert len(time) == len("2026-01-01T00:00:00+00:00")
    assert solved.with_answer("a", right=False, message="x").records["a"] == Record(3, time, "wrong", "x")
    assert progress.records["a"].attempts == 1, "the one before stays"


@pytest.mark.parametrize(
    ("entry", "record"),
    [
        ({}, Record()),
        ({"attempts": 3, "state": "right", "solved": "x", "message": "m"}, Record(3, "x", "right", "m")),
        ({"attempts": 2**53 - 1}, Record(2**53 - 1)), ({"attempts": 2**53}, None), ({"attempts": -1}, None),
        ({"attempts": 0}, Record(0)), ({"attempts": True}, None), ({"attempts": 1.0}, None), ({"state": "done"}, None),
        ({"solved": 5}, None), ({"message": None}, None), ({"colour": 1}, None), (5, None), ([], None),
    ],
)  # fmt: skip
def test_what_an_entry_of_a_file_may_have(tmp_path: Path, entry: Any, record: Record | None):
    path = tmp_path / "progress.json"
    path.write_text(json.dumps({"format": 1, "exercises": {"a": entry, "b": {}}}))
    progress, problem = _read(path)
    assert progress.records == ({"b": Record()} if record is None else {"a": record, "b": Record()})
    assert problem == ("has odd entries: 'a'" if record is None else "")


def test_what_is_wrong_with_a_file(tmp_path: Path):
    path = tmp_path / "progress.json"
    assert _read(path) == (Progress(), "")
    path.mkdir()
    assert _read(path) == (Progress(), "is no file")
    path.rmdir()
    good = json.dumps({"format": 1, "exercises": {"a": {}}})
    path.write_text(good + " " * ((1 << 24) - len(good)))
    assert _read(path) == (Progress({"a": Record()}), "")
    path.write_text(good + " " * ((1 << 24) - len(good) + 1))
    assert _read(path) == (Progress(), "has more than 16777216 bytes")
    path.write_text("{")
    assert _read(path) == (Progress(), "cannot be read (JSONDecodeError)")
    for other in ("[]", '{"format": 2, "exercises": {}}', '{"format": 1, "exercises": []}'):
        path.write_text(other)
        assert _read(path) == (Progress(), "is no progress of the format 1")
    names = {f"exercise-{number:02}": 5 for number in range(20)}
    path.write_text(json.dumps({"format": 1, "exercises": names}))
    listed = ", ".join(map(repr, sorted(names)))
    assert _read(path) == (Progress(), f"has odd entries: {listed[:100]}")


def test_a_backup_overwrites_no_earlier_one(tmp_path: Path):
    path = tmp_path / "progress.json"
    for name in ("progress.old", "progress.old2", "progress.old3"):
        assert _backup(path).name == name
        (tmp_path / name).touch()
