"""Predictions and exercises on the pages: the verdicts of Python, and no answer that can be read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from softlab.course.catalogue import exercise, lesson
from softlab.course.exercises import MultipleChoice, Number
from softlab.explorers import Prediction
from softlab.site.answers import (
    TYPED,
    digest,
    exercise_data,
    judged,
    locked,
    place,
    prediction_data,
    scale_of,
    unlocked,
)
from softlab.views.progress import verdict_html


def verdict(asked: Number, answer: float) -> str:
    """What Python says, as a page shows it: without what it computes from the number, which a page cannot."""
    found = replace(asked, means=None, formula=None).judge(answer)
    shown = f"{answer:,}".replace(",", " ") if answer >= 10_000 else f"{answer:g}"
    return verdict_html(found.state, found.message.replace(f"it is not {shown}.", f"it is not {TYPED}.", 1))


def test_a_number_gets_the_verdict_of_python():
    asked = exercise("07-blocks-of-768")
    assert isinstance(asked, Number)
    data = exercise_data(asked)
    for answer in (asked.answer(), 255, 64, 85, 84, 17):
        assert judged(data, answer) == verdict(asked, answer)
    assert "✓" in judged(data, asked.answer())
    assert "✗" in judged(data, 85)


def test_no_answer_stands_in_the_page():
    asked = exercise("14-bytes-of-a-block")
    text = json.dumps(exercise_data(asked), ensure_ascii=False)
    assert str(asked.answer()) not in text.replace(asked.id, "")
    assert not any(hint in text for _, hint in asked.slips)
    assert asked.because not in text


@pytest.mark.parametrize(
    ("value", "relative", "absolute", "inside", "outside"),
    [
        (96.0, 0.0, 0.0, [96], [95.999, 97]),
        (7.25, 0.0, 0.1, [7.16, 7.34], [7.1, 7.4]),
        (2500.0, 0.01, 0.0, [2476, 2524], [2470, 2530]),
        (-3.0, 0.01, 0.0, [-3.02], [3, -3.2]),
        (0.0, 0.01, 0.0, [0], [1e-9]),
    ],
)
def test_what_is_near_enough_has_the_same_digest(value, relative, absolute, inside, outside):
    scale = scale_of(value, relative, absolute)
    assert {place(number, scale) for number in inside} == {place(value, scale)}
    assert place(value, scale) not in {place(number, scale) for number in outside}


def test_a_prediction_gets_the_verdict_of_python(capsys):
    question = lesson("07").predictions[0]
    data = prediction_data(question.id, Prediction(question.question, question.answers), "6 blocks")
    for answer in data["answers"]:
        python = Prediction(question.question, question.answers)
        python.choice, python.measured = answer, "6 blocks"
        assert unlocked(question.id, answer, data["verdicts"][digest(question.id, answer)]) == python.answer.value
    assert not any(why in json.dumps(data) for why in question.answers.values())


def test_a_choice_is_judged():
    asked = MultipleChoice(id="07-one", answers=("a", "b"), right="b", slips={"a": "The other."}, hint="No.")
    data = exercise_data(asked)
    assert "✓" in unlocked("07-one", "b", data["verdicts"][digest("07-one", "b")])
    assert "The other." in unlocked("07-one", "a", data["verdicts"][digest("07-one", "a")])


def test_a_kernel_needs_python():
    assert exercise_data(exercise("07-give-registers-back")) is None


def test_the_wrong_answer_unlocks_nothing():
    text = locked("salt", "32", "Right." * 20)
    assert unlocked("salt", "32", text) == "Right." * 20
    with pytest.raises(UnicodeDecodeError):
        unlocked("salt", "33", text)
