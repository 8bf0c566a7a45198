"""Every exercise of the course: its reference solutions are taken, its plausible wrong answers get the right hint."""

from __future__ import annotations

import pytest

from softlab import course
from tests.course.answers import all_answers
from tests.sampled import sampled

IDS = [exercise.id for lesson in course.lessons() for exercise in (*lesson.exercises, *lesson.further)]
#: `.ci/run` takes each fifth bug of the clinic.
CLINIC = [exercise.id for exercise in (*course.lesson("18").exercises, *course.lesson("18").further)]
KERNELS = [name for name in IDS if hasattr(course.exercise(name), "launches")]
#: Of the other exercises with kernels it takes the right answers, a wrong one or none, in turns. `make test` takes all.
TURNS = {name: number for number, name in enumerate(name for name in KERNELS if name not in CLINIC)}


def taken(name: str, turn: int) -> bool:
    return CLINIC.index(name) % 5 == 0 if name in CLINIC else TURNS.get(name, turn) % 3 == turn


def test_every_exercise_has_answers_and_every_answer_an_exercise():
    assert sorted(all_answers()) == sorted(IDS)
    assert [name for name, answers in all_answers().items() if not answers.right or len(answers.wrong) < 2] == []


@pytest.mark.parametrize("name", sampled(IDS, lambda name: taken(name, 0)))
def test_right_answers_are_taken(name):
    for answer in all_answers()[name].right:
        verdict = course.exercise(name).judge(answer)
        assert verdict.right, f"{answer}\n{verdict.message}"


@pytest.mark.parametrize("name", sampled(IDS, lambda name: taken(name, 1)))
@pytest.mark.parametrize("quarter", sampled(range(4), lambda quarter: quarter == 0))
def test_wrong_answers_get_a_hint_that_helps(name, quarter):
    """`.ci/run` takes every fourth wrong answer of an exercise, `make test` all."""
    for answer, words in all_answers()[name].wrong[quarter::4]:
        verdict = course.exercise(name).judge(answer)
        assert verdict.state == "wrong", f"{answer}\nis taken"
        assert words in verdict.message, f"{answer}\n{verdict.message}"


@pytest.mark.parametrize("name", IDS)
def test_no_answer_is_no_wrong_answer(name):
    assert course.exercise(name).judge(None).state == "unanswered"
