"""Predictions and exercises for pages without Python: verdicts that only the answer itself unlocks.

A page must not show the answers to a reader who looks at its source by chance. So an answer is kept as a salted SHA-256
digest, and its verdict as bytes that are XORed with a key stream made of the salt and the answer. Who tries all answers
by a program finds them: this is a curtain, not a lock.
"""

from __future__ import annotations

import base64
import hashlib
import math
import struct
from typing import Any

from softlab.course.exercises import Exercise, MultipleChoice, Number
from softlab.explorers.questions import Prediction
from softlab.views.progress import verdict_html

#: What a page replaces by the answer that was typed.
TYPED = "\N{OBJECT REPLACEMENT CHARACTER}"


def digest(salt: str, answer: str) -> str:
    """The digest by which a page knows an answer: 16 hexadecimal digits."""
    return hashlib.sha256(f"{salt}|{answer}".encode()).hexdigest()[:16]


def locked(salt: str, answer: str, text: str) -> str:
    """A text in base 64 that :func:`unlocked` reads with the same answer."""
    return base64.b64encode(_mixed(salt, answer, text.encode())).decode()


def unlocked(salt: str, answer: str, text: str) -> str:
    """The text that was locked with this answer."""
    return _mixed(salt, answer, base64.b64decode(text)).decode()


def _mixed(salt: str, answer: str, data: bytes) -> bytes:
    blocks = -(-len(data) // 32)
    stream = b"".join(hashlib.sha256(f"{salt}|{answer}|{block}".encode()).digest() for block in range(blocks))
    return bytes(a ^ b for a, b in zip(data, stream, strict=False))


def prediction_data(id: str, prediction: Prediction, measured: str) -> dict[str, Any]:
    """A prediction: its question, its answers, and for each the verdict that the learner gets who chose it."""
    verdicts = {}
    for answer in prediction.answers:
        twin = Prediction(prediction.question, prediction._why)
        twin.choice, twin.measured = answer, measured
        verdicts[digest(id, answer)] = locked(id, answer, twin.answer.value)
    return {
        "kind": "prediction",
        "id": id,
        "question": prediction.question,
        "answers": list(prediction.answers),
        "verdicts": dict(sorted(verdicts.items())),
    }


def exercise_data(exercise: Exercise) -> dict[str, Any] | None:
    """An exercise that a page can judge: a number or a choice. None for the others: they need Python."""
    if isinstance(exercise, Number):
        return _number(exercise)
    if isinstance(exercise, MultipleChoice) and all(isinstance(answer, str | int) for answer in exercise.answers):
        return _choice(exercise)
    return None


def _choice(exercise: MultipleChoice) -> dict[str, Any]:
    verdicts = {}
    for answer in exercise.answers:
        found = exercise.judge(answer)
        verdicts[digest(exercise.id, str(answer))] = locked(
            exercise.id, str(answer), verdict_html(found.state, found.message)
        )
    return {
        "kind": "choice",
        "id": exercise.id,
        "answers": [str(answer) for answer in exercise.answers],
        "verdicts": dict(sorted(verdicts.items())),
        "further": _further(exercise),
    }


def _number(exercise: Number) -> dict[str, Any]:
    """Rules, each ``{"scale", "digest", "text"}``; the first that fits a number gives the verdict, else ``other``.

    The order says nothing about the answer: the right one comes first in Python, here a rule's text says what it is.
    """
    right = exercise.answer()
    rules = [_rule(exercise, right, verdict_html("right", exercise.judge(right).message))]
    for value, hint in exercise.typical():
        if not exercise.judge(value).right:
            message = verdict_html("wrong", f"Not yet: it is not {TYPED}. {hint}")
            rules.append(_rule(exercise, value, message))
    first = {rule["digest"]: rule for rule in reversed(rules)}
    order = sorted(first.values(), key=lambda rule: rule["digest"])
    other = verdict_html("wrong", f"Not yet: it is not {TYPED}. {exercise.hint}")
    return {
        "kind": "number",
        "id": exercise.id,
        "rules": order,
        "other": locked(exercise.id, "other", other),
        "further": _further(exercise),
    }


def _further(exercise: Exercise) -> list[str]:
    return [locked(exercise.id, f"further {number}", text) for number, text in enumerate(exercise.further)]


def _rule(exercise: Number, value: Any, text: str) -> dict[str, Any]:
    scale = scale_of(float(value), exercise.relative, exercise.absolute)
    answer = place(float(value), scale)
    return {"scale": scale, "digest": digest(exercise.id, answer), "text": locked(exercise.id, answer, text)}


def scale_of(value: float, relative: float, absolute: float) -> list[float]:
    """How a page rounds a number before it makes the digest, so that all that are near enough have the same.

    [] for exactly this number; [1, width, offset]: intervals of one width, one of which is all that is accepted;
    [2, width, offset]: the same of the logarithm, where the tolerance is a share of the number. The offset is less than
    a width, so it does not tell the number.
    """
    if relative and abs(value) * relative > absolute and value:
        # math.isclose: |a - b| <= relative * max(|a|, |b|)
        low, high = math.log(abs(value) * (1 - relative)), math.log(abs(value) / (1 - relative))
        return [2, high - low, low % (high - low)]
    if absolute:
        return [1, 2 * absolute, (value - absolute) % (2 * absolute)]
    return []


def place(value: float, scale: list[float]) -> str:
    """The text whose digest stands for a number: the number's bits, or its interval."""
    if not scale:
        return struct.pack(">d", value + 0.0).hex()
    kind, width, offset = scale
    if kind == 2:
        if value == 0:
            return "zero"
        return f"{'-' if value < 0 else ''}{math.floor((math.log(abs(value)) - offset) / width + 1e-9)}"
    return str(math.floor((value - offset) / width + 1e-9))


def judged(data: dict[str, Any], answer: float) -> str:
    """The verdict that a page gives on a number: what ``static/runtime.js`` does, for tests."""
    for rule in data["rules"]:
        where = place(answer, rule["scale"])
        if digest(data["id"], where) == rule["digest"]:
            return unlocked(data["id"], where, rule["text"])
    return unlocked(data["id"], "other", data["other"])
