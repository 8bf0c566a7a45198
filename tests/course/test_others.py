"""Answers of others, who know the notebooks alone: right ones in unusual form are taken, wrong ones get a hint."""

from __future__ import annotations

import pytest

from softlab import course
from softlab.course import functions
from softlab.course.functions import Call, WriteFunction
from tests.course.others import all_others
from tests.course.others.graded import graded
from tests.sampled import one_of

ALL = {(others.exercise, others.wrong[0][1] if others.wrong else "right ones"): others for others in all_others()}


def kind(name: tuple[str, str]) -> str:
    """Which exercises one sample stands for: numbers and functions are cheap, kernels are not."""
    answers = [*(answer for answer, _, _ in ALL[name].wrong), *ALL[name].right]
    return "kernel" if "\n" in str(answers[0]) else "other"


@pytest.mark.parametrize("name", one_of(48, ALL, kind))
def test_answers_of_others(name):
    """`.ci/run` takes every 48th exercise, `make test` all."""
    for reply in graded(ALL[name]):
        if reply.cause:
            assert reply.state in ("wrong", "unanswered"), reply
            assert reply.named or not reply.asked, reply
        else:
            assert reply.state == "right", reply


def double_all(calls=3):
    return WriteFunction(id="99-f", calls=lambda: [Call((k,), 2 * k) for k in range(1, calls)], hint="twice")


def test_a_function_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(functions, "PATIENCE", 0.2)

    def endless(number):
        while number:
            pass

    verdict = double_all().judge(endless)
    assert verdict.state == "wrong"
    assert "endless(1) does not end within 0.2 seconds" in verdict.message


def test_the_stack_of_a_function_does_not_lead_to_what_is_expected():
    import sys

    def looks_around(number):
        frame, found = sys._getframe(1), None
        while frame:
            found = frame.f_locals.get("call", found)
            frame = frame.f_back
        return found.expected if isinstance(found, Call) else -1

    assert double_all().judge(looks_around).state == "wrong"


def test_values_drawn_at_random_find_a_function_that_knows_the_fixed_ones():
    known = {1: 2, 2: 4}
    exercise = WriteFunction(
        id="99-f",
        calls=double_all().calls,
        drawn=lambda rng: [Call((int(k),), 2 * int(k)) for k in rng.integers(3, 10**9, 5)],
        hint="twice",
    )
    assert exercise.judge(lambda number: 2 * number).right
    assert exercise.judge(lambda number: known.get(number, 0)).state == "wrong"


def test_a_function_may_stop_with_any_exception():
    assert "raises SystemExit" in double_all().judge(lambda number: exit(0)).message


class Chameleon(float):
    """A number and a word that would equal whatever it is compared with."""

    def __eq__(self, other):
        return True

    __hash__ = float.__hash__

    def __float__(self):
        import sys

        return sys._getframe(2).f_locals.get("right", 0.0)


@pytest.mark.parametrize("exercise", ["0-which-number", "05-which-barrier-may-go", "08-another-gpu"])
def test_an_answer_that_equals_everything_is_none(exercise):
    assert course.exercise(exercise).judge(Chameleon(1)).state == "wrong"
