"""Every exercise of the course: its reference solutions are taken, its plausible wrong answers get the right hint."""

from __future__ import annotations

import pytest

from softlab import course
from tests.course.answers import all_answers
from tests.sampled import sampled

IDS = [exercise.id for lesson in course.lessons() for exercise in (*lesson.exercises, *lesson.further)]
#: `.ci/run` takes each fifth bug of the clinic, and all other exercises.
CLINIC = [exercise.id for exercise in (*course.lesson("18").exercises, *course.lesson("18").further)]
SAMPLE = sampled(IDS, lambda name: name not in CLINIC or CLINIC.index(name) % 5 == 0)


def test_every_exercise_has_answers_and_every_answer_an_exercise():
    assert sorted(all_answers()) == sorted(IDS)
    assert [name for name, answers in all_answers().items() if not answers.right or len(answers.wrong) < 2] == []


@pytest.mark.parametrize("name", SAMPLE)
def test_right_answers_are_taken(name):
    for answer in all_answers()[name].right:
        verdict = course.exercise(name).judge(answer)
        assert verdict.right, f"{answer}\n{verdict.message}"


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.parametrize("half", sampled((0, 1), lambda half: half == 0))
def test_wrong_answers_get_a_hint_that_helps(name, half):
    """`.ci/run` takes every second wrong answer of an exercise, `make test` all."""
    for answer, words in all_answers()[name].wrong[half::2]:
        verdict = course.exercise(name).judge(answer)
        assert verdict.state == "wrong", f"{answer}\nis taken"
        assert words in verdict.message, f"{answer}\n{verdict.message}"


@pytest.mark.parametrize("name", IDS)
def test_no_answer_is_no_wrong_answer(name):
    assert course.exercise(name).judge(None).state == "unanswered"
