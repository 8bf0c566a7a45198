"""The parts of the grading, without a kernel: a test says what a submission's kernel would have stored."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Sequence
from multiprocessing import active_children, get_context
from pathlib import Path

import numpy as np
import pytest
from nbclient.exceptions import CellExecutionComplete
from nbformat.v4 import new_notebook

from softlab.course import answering, grading
from softlab.course.catalogue import lesson, lessons
from softlab.course.confinement import Confinement
from softlab.course.execution import Execution, _Client, _environment, _text
from softlab.course.functions import Answered
from softlab.course.grading import HandedIn, Submission
from softlab.course.learners import Progress, Record

HALF = 'answer = {}\ncourse.exercise("00-half-the-bytes").grade(answer)'
ENDS = 'answer = {}\ncourse.exercise("00-where-shared-memory-ends").grade(answer)'
IDS = lesson("00").ids
VARIED = next(name for lesson in lessons() for name in lesson.varied)


def graded(monkeypatch: pytest.MonkeyPatch, notebook: HandedIn, *executions: Execution, **options: bool) -> Submission:
    """The submission, where its kernels leave these one after the other."""
    left = list(executions)

    def executed(cells: Sequence[str], seconds: int, confinement: Confinement | None) -> Execution:
        return left.pop(0)

    monkeypatch.setattr(grading, "_executed", executed)
    found = grading.graded(notebook, **options)
    assert not left
    return found


def solved(*names: str, message: str = "") -> Progress:
    return Progress({name: Record(1, "2026-01-01", "right", message) for name in names})


def test_a_submission_in_words():
    states = {"a": "right", "b": "wrong", "c": "missing", "d": "right", "e": "not answered"}
    assert Submission("x", states).right == 2
    assert Submission("x", states).sentence == "2 of 5 right"
    assert Submission("x", states, "its kernel died").sentence == "2 of 5 right (its kernel died)"


def test_an_answer_counts_that_this_process_calls_right_too(monkeypatch: pytest.MonkeyPatch):
    cells = (HALF.format(16_777_216), ENDS.format(5))
    found = graded(monkeypatch, HandedIn("a.ipynb", cells), Execution(solved(*IDS, message="x" * 3000), "cell 1: no"))
    assert found.states == {IDS[0]: "right", IDS[1]: "wrong", IDS[2]: "missing"}
    assert found.problem == f"cell 1: no; right only by its own record: {IDS[1]}"
    assert found.messages == dict.fromkeys(IDS, "x" * 2000)
    assert found.file == "a.ipynb"


def test_what_is_not_solved_is_not_asked_again(monkeypatch: pytest.MonkeyPatch):
    records = {IDS[0]: Record(2, "", "wrong", "no"), "99-x": Record(1, "2026-01-01", "right")}
    notebook = HandedIn("a.ipynb", (HALF.format(16_777_216), ENDS.format(5)), "cell 3 of the file has no text")
    found = graded(monkeypatch, notebook, Execution(Progress(records), "cell 1: no"))
    assert found.states == {IDS[0]: "wrong", IDS[1]: "not answered", IDS[2]: "missing"}
    assert (found.problem, found.messages) == ("cell 3 of the file has no text", {IDS[0]: "no"})


def test_a_costly_answer_is_run_again_alone(monkeypatch: pytest.MonkeyPatch):
    """Both answers have a power; of the second run only one is right."""
    cells = (HALF.format("2 ** 24"), ENDS.format("12_000 + 16 ** 2"))
    first, second = Execution(solved(*IDS[:2])), Execution(solved(IDS[0]), "its kernel died")
    found = graded(monkeypatch, HandedIn("a.ipynb", cells), first, second)
    assert found.states == {IDS[0]: "right", IDS[1]: "wrong", IDS[2]: "missing"}
    assert found.problem == f"right only by its own record: {IDS[1]}"


def test_a_cell_is_run_in_the_seconds_and_the_confinement_that_are_asked_for(monkeypatch: pytest.MonkeyPatch):
    seen = []

    def execute(*given: object) -> Execution:
        seen.append(given)
        return Execution(solved(IDS[0]))

    monkeypatch.setattr("softlab.course.execution.execute", execute)
    limits, cell = Confinement(memory=512), HALF.format("2 ** 24")
    grading.graded(HandedIn("a.ipynb", (cell,)), seconds=1, confinement=limits)
    assert [given[1:] for given in seen] == [(1, limits)] * 2
    assert seen[0][0] == (cell,)
    assert seen[1][0] == [grading._IMPORTS, cell]
    seen.clear()
    grading.graded(HandedIn("a.ipynb", (cell,)))
    assert seen[0][1:] == (120, None)


@pytest.mark.parametrize(
    ("file", "student"),
    [("ada.ipynb", "ada"), ("a.b.ipynb", "a.b"), ("ada/late/x.ipynb", "ada"), ("class/ada.ipynb", "class")],
)
def test_whose_file_it_is(file: str, student: str):
    assert grading.student_of(file) == student


@pytest.mark.parametrize(
    ("source", "student"),
    [
        ("exercise('00-a').grade(1)", ""), ("exercise('00-a', 'ada').grade(1)", "ada"), ("", ""),
        ('course.exercise( "00-a" , "it\'s" ).grade(1)', "it's"), ("exercise('00-a', ada).grade(1)", ""),
    ],
)  # fmt: skip
def test_whose_numbers_a_cell_grades(source: str, student: str):
    assert grading.student_in(source) == student


@pytest.mark.parametrize(
    ("name", "student", "variants", "own"),
    [
        (VARIED, "ada", False, True), (VARIED, "ada", True, True), (VARIED, "bob", False, False),
        (VARIED, "bob", True, False), (VARIED, "", False, True), (VARIED, "", True, False), (IDS[2], "", True, True),
        (IDS[2], "", False, True),
    ],
)  # fmt: skip
def test_a_student_has_numbers_of_their_own_where_variants_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, name: str, student: str, variants: bool, own: bool
):
    more = f', "{student}"' if student else ""
    notebook = HandedIn("ada.ipynb", (f'answer = 5\ncourse.exercise("{name}"{more}).grade(answer)',))
    found = graded(monkeypatch, notebook, Execution(Progress()), variants=variants)
    assert found.states[name] == ("not answered" if own else "wrong")
    assert found.problem == ("" if own else f"not this student's numbers: {name}")


def test_an_exercise_that_a_submission_lacks_has_an_empty_column():
    stream = io.StringIO()
    rows = grading.CsvRows(stream, ["b", "a", "b"])
    rows.write(Submission("x", {"b": "right"}))
    rows.write(Submission("y", {"a": "wrong", "b": "right"}, "odd"))
    assert stream.getvalue() == "file,right,of,problem,a,b\nx,1,1,,,right\ny,1,2,odd,wrong,right\n"


def test_one_job_grades_in_this_process(monkeypatch: pytest.MonkeyPatch):
    seen = []

    def grade(notebook: HandedIn, **options: object) -> Submission:
        seen.append(options)
        return Submission(notebook.file, {})

    monkeypatch.setattr(grading, "graded", grade)
    notebooks, limits = [HandedIn("b"), HandedIn("a")], Confinement(memory=512)
    found = list(grading.graded_by(1, notebooks, Path("shipped"), 7, limits))
    assert [one.file for one in found] == ["b", "a"]
    assert seen == [{"shipped": Path("shipped"), "seconds": 7, "confinement": limits, "variants": False}] * 2
    with pytest.raises(ValueError, match="jobs = 0: at least 1 is needed"):
        next(grading.graded_by(0, notebooks, Path("shipped"), 7, limits))


def graded_slowly(notebook: HandedIn, **options: object) -> Submission:
    """Of a notebook with a folder: begins, and ends when the folder has a file "go"."""
    if notebook.file == "broken":
        raise LookupError(notebook.file)
    for folder in map(Path, notebook.cells):
        (folder / f"begun {notebook.file}").touch()
        until = time.monotonic() + 20
        while not (folder / "go").exists() and time.monotonic() < until:
            time.sleep(0.01)
        (folder / f"over {notebook.file}").touch()
    return Submission(notebook.file, {})


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of fork(), in a process with threads
@pytest.mark.parametrize("second", ["broken", "left"])
def test_who_stops_does_not_wait_for_the_notebooks_that_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, second: str
):
    """Neither where the caller wants no more nor where one cannot be graded; those that nobody began never begin."""
    monkeypatch.setattr(grading, "graded", graded_slowly)
    monkeypatch.setattr(grading, "get_context", lambda method: get_context("fork"))
    before = active_children()  # of tests that ran earlier in this process: these go on
    notebooks = [HandedIn("first"), HandedIn("second"), *(HandedIn(str(n), (str(tmp_path),)) for n in range(12))]
    if second == "broken":
        notebooks[1] = HandedIn("broken")
    found = grading.graded_by(2, notebooks, Path("shipped"), 7, Confinement())
    assert next(found).file == "first"
    if second == "broken":
        with pytest.raises(LookupError, match="broken"):
            next(found)
    else:
        found.close()
    assert not list(tmp_path.glob("over *"))
    (tmp_path / "go").touch()
    for process in set(active_children()) - set(before):
        assert process.pid
        process.join(20)
        # The pool's own thread may have reaped it first: is_alive() would not know that it has ended.
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)
    begun = len(list(tmp_path.glob("begun *")))
    assert begun == len(list(tmp_path.glob("over *"))) < 12


# Answers without a verdict


def test_a_long_answer_is_none():
    kept = [[0] * 100_000, (0,) * 100_000, np.zeros(100_000, np.int8)]
    for value in kept:
        got = answering.decoded(answering.encoded(value))
        assert type(got) is type(value)
        assert len(got) == 100_000
    for kind, value in (("list", [0] * 100_001), ("tuple", (0,) * 100_001), ("ndarray", np.zeros(100_001, np.int8))):
        assert answering.encoded(value) == {"other": kind}
    assert answering.encoded(np.array([1j, 2])) == {"other": "ndarray"}
    named = type("N" * 100, (), {})
    assert answering.encoded(named()) == {"other": "N" * 80}
    assert repr(answering.decoded({})) == "<None>"


def test_the_last_three_answers_count():
    text = '{"a": [{"value": 1}, {"value": 2}, {"value": 3}, {"value": 4}], "b": []}'
    assert answering.handed_over(text) == {"a": [2, 3, 4], "b": []}
    blanks = (1 << 24) - len(text)
    assert answering.handed_over(text + " " * blanks) == {"a": [2, 3, 4], "b": []}
    assert answering.handed_over(text + " " * (blanks + 1)) == {}
    function = '{"a": [{"name": "f", "prints": true, "returned": {"list": [1, 2]}, "failure": "raises X"}]}'
    assert answering.handed_over(function) == {"a": [Answered("f", True, (1, 2), "raises X")]}


def test_what_a_submission_keeps_is_handed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(answering, "_answers", {})
    for answer in (1, "two", None, 2.5):
        answering._Kept("00-a").grade(answer)
    answering._Kept("00-f").grade(lambda a, b: a - b)
    cell = answering.question_cell({"00-f": [(5, 3), (1, 4)], "00-none": []})
    exec(cell, {})
    path = tmp_path / "softlab" / "answers.json"
    assert answering.handed_over(path.read_text()) == {
        "00-a": ["two", None, 2.5],
        "00-f": [Answered("<lambda>", False, (2, -3), None)],
    }


def test_what_a_cell_shows_does_nothing():
    quiet = answering._Quiet()
    assert quiet.whole.show(1, of=2) is quiet
    with pytest.raises(AttributeError, match="_repr_html_"):
        quiet._repr_html_()


# What a kernel leaves


def test_the_first_error_of_a_cell_in_one_line():
    client = _Client(new_notebook())

    def message(kind: str, **content: str) -> None:
        client.process_message({"msg_type": kind, "content": content}, None, 2)

    message("stream", text="x", execution_state="idle")
    message("status", execution_state="busy")
    assert client.errors == []
    message("error", ename="NameError", evalue="no\nnames")
    message("error", ename="KeyError", evalue="5")
    assert client.errors == ["cell 3: NameError: no"]
    client.errors.clear()
    message("error", ename="E", evalue="x" * 400)
    assert client.errors == [f"cell 3: E: {'x' * 289}"]
    assert len(client.errors[0]) == 300
    with pytest.raises(CellExecutionComplete):
        message("status", execution_state="idle")


def test_a_file_of_answers_that_is_odd_is_empty(tmp_path: Path):
    good = tmp_path / "good"
    good.write_text("x")
    (tmp_path / "link").symlink_to(good)
    (tmp_path / "bytes").write_bytes(b"\xff")
    (tmp_path / "large").write_bytes(b" " * (1 << 24))
    assert [_text(tmp_path / name) for name in ("good", "link", "bytes", "none", ".")] == ["x", "", "", "", ""]
    assert len(_text(tmp_path / "large")) == 1 << 24
    (tmp_path / "large").write_bytes(b" " * ((1 << 24) + 1))
    assert _text(tmp_path / "large") == ""


def test_a_submission_has_folders_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name in ("PYTHONSTARTUP", "IPYTHONSTARTUP", "SOFTLAB_KEPT"):
        monkeypatch.setenv(name, "x")
    found = _environment(tmp_path)
    assert found["SOFTLAB_KEPT"] == "x"
    assert not {"PYTHONSTARTUP", "IPYTHONSTARTUP"} & found.keys()
    for name in ("HOME", "TMPDIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "IPYTHONDIR"):
        assert found[name] == str(tmp_path / name)
        assert (tmp_path / name).is_dir()
