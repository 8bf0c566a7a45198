"""The lab for a class: right solutions, a plan of 90 minutes, slides without a network, nbgrader's metadata."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from softlab import course
from softlab.cli import main
from softlab.course import editions
from softlab.course.grading import asked
from softlab.course.slides import grouped, slides, with_mathml
from softlab.course.solutions import misconceptions, solved_cell
from tests.course.answers import all_answers
from tests.tools.notebooks import NOTEBOOKS

LESSONS = {lesson.number: lesson for lesson in course.lessons()}


def notebook(number):
    return json.loads((NOTEBOOKS / LESSONS[number].notebook).read_text("utf-8"))


def graded_cells(number):
    sources = ["".join(cell["source"]) for cell in notebook(number)["cells"] if cell["cell_type"] == "code"]
    return [source for source in sources if asked(source)]


@pytest.mark.parametrize("number", LESSONS)
def test_each_exercise_has_its_solution_in_its_cell(number):
    for source in graded_cells(number):
        solved = solved_cell(source, all_answers())
        assert solved != source
        assert asked(solved) == asked(source)
        assert "return None" not in solved


@pytest.mark.parametrize("name", ["01-log-softmax", "09-beat-the-plan", "09-write-the-dispatch", "10-write-the-summary",
                                  "11-write-the-judge", "16-within-a-fifth", "05-which-barrier-may-go"])  # fmt: skip
def test_a_solved_cell_is_right_when_it_runs_by_itself(name):
    (source,) = [source for source in graded_cells(name.partition("-")[0]) if name in asked(source)]
    given = []

    class Exercises:
        @staticmethod
        def exercise(asked):
            return type("", (), {"grade": staticmethod(given.append)})

    exec(compile(solved_cell(source, all_answers()), name, "exec"), {"course": Exercises})
    assert course.exercise(name).judge(given[0]).right


@pytest.mark.parametrize("number", LESSONS)
def test_a_plan_has_90_minutes(number):
    text = editions.plan(LESSONS[number], notebook(number))
    spans = [(int(a), int(b)) for a, b in re.findall(r"^\| (\d+) to (\d+) \|", text, re.MULTILINE)]
    assert [a for a, _ in spans] == [0, *(b for _, b in spans[:-1])]
    assert spans[-1][1] == 90
    assert all(name in text for name in LESSONS[number].ids)


def test_slides_ask_nothing_of_the_network():
    page = slides(notebook("0"), "<b>")
    assert "<title>&lt;b&gt;</title>" in page
    assert re.findall(r"""(?:src|srcset|action|data)\s*=\s*["']?https?:|<link|@import|url\(\s*["']?http""", page) == []
    assert page.count("<section>") > 10
    assert "widget-view" not in page


def test_a_slide_has_room_for_its_cells():
    text = {"cell_type": "markdown", "source": "a"}
    code = {"cell_type": "code", "source": "x\n" * 12, "outputs": []}
    assert [len(group) for group in grouped([text, code, code, text, code])] == [2, 1, 2]
    assert grouped([text, {**code, "source": ""}]) == [[text]]


def test_a_cell_with_several_pictures_is_several_slides():
    picture = {
        "data": {"image/svg+xml": '<svg width="880" viewBox="0 0 880 440"></svg>'},
        "output_type": "display_data",
    }
    cell = {"cell_type": "code", "source": "x\n" * 3, "outputs": [picture, picture]}
    (first,), (second,) = grouped([cell])
    assert (first["source"], len(first["outputs"])) == (cell["source"], 1)
    assert (second["source"], second["outputs"]) == ("", [picture])


def test_an_output_without_code_has_no_box_for_code():
    output = {"output_type": "stream", "name": "stdout", "text": "one\n"}
    cell = {"cell_type": "code", "source": "", "metadata": {}, "outputs": [output], "execution_count": 1, "id": "a"}
    page = slides({"cells": [cell]}, "t")
    assert "one" in page
    assert "highlight hl-" not in page
    assert "highlight hl-" in slides({"cells": [{**cell, "source": "1"}]}, "t")


def test_formulas_are_mathml_and_code_stays():
    assert with_mathml("cost `$x$` and $n^2$").startswith("cost `$x$` and <math")
    assert 'display="block"' in with_mathml("$$y_i$$")


def test_misconceptions_name_each_wrong_answer_and_the_reply():
    text = misconceptions(LESSONS["00"], all_answers())
    assert "`8388608`" in text
    assert "> Not yet: it is not 8 388 608." in text


def test_nbgrader_finds_a_locked_test_behind_each_exercise():
    found = nbformat.from_dict(editions.for_nbgrader(notebook("13"), {"13-let-all-lanes-help": 3}))
    nbformat.validate(found)
    marks = [cell.metadata["nbgrader"] for cell in found.cells if "nbgrader" in cell.metadata]
    assert [mark["grade_id"] for mark in marks] == ["softlab-afresh", *(f"test-{name}" for name in LESSONS["13"].ids)]
    assert [mark.get("points") for mark in marks] == [None, 1, 1, 3]
    assert all(mark["locked"] and not mark["solution"] for mark in marks)


def test_the_command_writes_all_three(tmp_path, capsys):
    options = [f"--{name}={tmp_path / name}" for name in ("student", "teacher", "nbgrader")]
    assert main(["course", "export", *options, "--lesson", "00"]) == 0
    teacher = tmp_path / "teacher" / "00"
    assert sorted(path.name for path in teacher.iterdir()) == [
        "00-start-here.ipynb", "misconceptions.md", "plan.md", "slides.html"
    ]  # fmt: skip
    student = (tmp_path / "student" / "00-start-here.ipynb").read_text()
    assert "16777216" not in student
    assert "16777216" in (teacher / "00-start-here.ipynb").read_text()
    assert (tmp_path / "nbgrader" / "source" / "lesson_00" / "00-start-here.ipynb").is_file()
    capsys.readouterr()
    assert main(["course", "export"]) == 2
    assert "add --student DIR" in capsys.readouterr().err
