"""Exercises with other numbers per student: the text, the answer and the marks go together."""

from __future__ import annotations

import json

import pytest

from softlab import course
from softlab.course import grading
from softlab.course.grading import HandedIn, graded, judged_alone
from softlab.course.learners import Progress, Record
from softlab.course.variants import for_student
from tests.sampled import each
from tests.tools.notebooks import NOTEBOOKS

VARIED = {name: lesson for lesson in course.lessons() for name in lesson.varied}
NAME = "17-two-columns-more"


def shipped(lesson):
    return json.loads((NOTEBOOKS / lesson.notebook).read_text("utf-8"))


def test_how_many_there_are():
    assert len(VARIED) >= 17


@pytest.mark.parametrize("name", VARIED)
def test_the_text_has_the_number_of_the_answer(name):
    lesson = VARIED[name]
    one = lesson.varied[name]
    plain = "\n".join("".join(cell["source"]) for cell in shipped(lesson)["cells"])
    assert plain.count(one.text[0]) == 1
    numbers = {student: one.number(name, student) for student in map(str, range(60))}
    assert set(numbers.values()) == set(one.choices)
    text = "\n".join("".join(cell["source"]) for cell in for_student(shipped(lesson), lesson.varied, "7")["cells"])
    assert one.text[1].replace("{n}", str(numbers["7"])) in text
    assert f"exercise(\"{name}\", '7').grade(answer)" in text


@pytest.mark.parametrize("name", each(2, VARIED))
def test_each_number_has_its_own_answer_and_no_slip_is_right(name):
    one = VARIED[name].varied[name]
    answers = set()
    for number in one.choices:
        made = one.make(number)
        right = made.answer()
        answers.add(right)
        assert made.id == name
        assert made.judge(right).right
        assert not any(made._near(slip, right) for slip, _ in made.typical()), number
    assert len(answers) > 2


@pytest.mark.parametrize("name", VARIED)
def test_the_notebook_of_all_has_one_of_the_numbers(name):
    one = VARIED[name].varied[name]
    numbers = [number for number in one.choices if one.make(number).answer() == course.exercise(name).answer()]
    assert numbers[:1] == [one.choices[0]]


def test_without_a_name_the_exercise_is_as_the_notebook_has_it():
    assert course.exercise(NAME).judge(2).right
    assert course.exercise("17-neighbours-together", "ada") is course.exercise("17-neighbours-together")


@pytest.mark.parametrize(
    ("student", "variants", "state"),
    [
        ("ada", False, "right"),
        ("bob", False, "wrong"),
        ("", False, "right"),
        ("", True, "wrong"),
        ("ada", True, "right"),
    ],
)
def test_the_numbers_of_another_student_do_not_count(monkeypatch, student, variants, state):
    asked = course.exercise(NAME, student)
    call = f'exercise("{NAME}", {student!r})' if student else f'exercise("{NAME}")'
    source = f"answer = {int(asked.answer())}\ncourse.{call}.grade(answer)"
    assert judged_alone(source)
    run = type("", (), {"progress": Progress({NAME: Record(1, "2026-01-01", "right")}), "problem": ""})
    monkeypatch.setattr(grading, "_executed", lambda *arguments: run)
    found = graded(HandedIn("ada/a.ipynb", (source,)), variants=variants)
    assert found.states[NAME] == state
    assert ("not this student's numbers" in found.problem) == (state == "wrong")
