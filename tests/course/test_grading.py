"""Submissions of a class: graded by what their own run says, whatever is wrong with them."""

from __future__ import annotations

import io

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from softlab import course
from softlab.course import grading
from tests.course.answers import kernel
from tests.tools.notebooks import NOTEBOOKS

IMPORTS = "from softlab import course\n\n%load_ext softlab"
HALF = 'answer = {}\ncourse.exercise("00-half-the-bytes").grade(answer)'
ENDS = 'answer = {}\ncourse.exercise("00-where-shared-memory-ends").grade(answer)'
AS_FOUND = next(
    cell.source
    for cell in nbformat.read(NOTEBOOKS / "00-start-here.ipynb", as_version=4).cells
    if cell.source.startswith("%%exercise 00-copy")
)


def hand_in(folder, name, *sources):
    folder.mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in (IMPORTS, *sources)]), folder / name)


@pytest.fixture(scope="module")
def submissions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    solved = f"%%exercise 00-copy\n{kernel('00-copy')}"
    hand_in(folder, "ada.ipynb", HALF.format(16_777_216), ENDS.format(12_272), solved)
    hand_in(folder, "bob.ipynb", HALF.format(5), "1 / 0", ENDS.format(None), AS_FOUND)
    hand_in(folder / "late", "cyd.ipynb", HALF.format("answr"), ENDS.format(12_272))
    hand_in(folder, "dan.ipynb", HALF.format(16_777_216), "while True: pass", ENDS.format(12_272))
    hand_in(folder, "eve.ipynb", "print('nothing of the course')")
    (folder / "=fay.ipynb").write_text("not a notebook")
    found = [grading.graded(p, folder, shipped=NOTEBOOKS, seconds=6) for p in grading.notebooks(folder)]
    return {submission.file: submission for submission in found}


def states(submission):
    return tuple(submission.states[name] for name in course.lesson("00").ids)


def test_a_submission_that_is_right(submissions):
    assert states(submissions["ada.ipynb"]) == ("right", "right", "right")
    assert submissions["ada.ipynb"].sentence == "3 of 3 right"


def test_wrong_unanswered_and_untouched(submissions):
    """What comes after an error is graded, too; a kernel as it was found is no answer."""
    assert states(submissions["bob.ipynb"]) == ("wrong", "not answered", "not answered")
    assert "ZeroDivisionError: division by zero" in submissions["bob.ipynb"].problem


def test_a_cell_that_is_gone_and_one_that_raises(submissions):
    assert states(submissions["late/cyd.ipynb"]) == ("not answered", "right", "missing")
    assert "NameError: name 'answr' is not defined" in submissions["late/cyd.ipynb"].problem


def test_an_endless_cell(submissions):
    assert states(submissions["dan.ipynb"]) == ("right", "not answered", "missing")
    assert submissions["dan.ipynb"].problem == "a cell took more than 6 s"


def test_what_is_no_submission(submissions):
    assert submissions["eve.ipynb"].sentence == "0 of 0 right (no exercise of the course is in it)"
    assert submissions["=fay.ipynb"].problem.startswith("no notebook: ")


def test_the_graders_own_progress_is_left_alone(submissions):
    assert not course.progress_file().exists()


def test_as_csv(submissions):
    stream = io.StringIO()
    grading.write_csv([submissions["ada.ipynb"], submissions["=fay.ipynb"]], stream)
    head, ada, fay = stream.getvalue().splitlines()
    assert head == "file,right,of,problem,00-copy,00-half-the-bytes,00-where-shared-memory-ends"
    assert ada == "ada.ipynb,3,3,,right,right,right"
    assert fay.startswith("'=fay.ipynb,0,0,no notebook")


@pytest.mark.parametrize(
    ("source", "ids"),
    [
        ("%%exercise 00-copy\n__global__ ...", ("00-copy",)),
        ("x = course.exercise('00-a').grade(1)\nexercise( \"00-b\" ).grade(f)", ("00-a", "00-b")),
        ("course.exercise('00-a')", ()),
        ("print('%%exercise 00-a')", ()),
    ],
)
def test_which_exercises_a_cell_asks(source, ids):
    assert grading.asked(source) == ids


def test_checkpoints_are_no_submissions(tmp_path):
    hand_in(tmp_path, "a.ipynb")
    hand_in(tmp_path / ".ipynb_checkpoints", "a-checkpoint.ipynb")
    assert [path.name for path in grading.notebooks(tmp_path)] == ["a.ipynb"]
