"""The course's own grader on answers of others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from softlab import course
from tests.course.others import NOT_NAMED, Others


@dataclass(frozen=True)
class Reply:
    """What the grader says of one answer.

    cause: "" for a right answer; named: whether the reply has words of it; asked: whether it has to have some.
    """

    exercise: str
    answer: Any
    cause: str
    state: str
    message: str
    named: bool
    asked: bool

    def __str__(self) -> str:
        good = self.state == "right" if not self.cause else self.state != "right" and self.named
        shown = self.answer if isinstance(self.answer, str) and "\n" not in self.answer else repr(self.answer)[:60]
        return f"{'  ' if good else '!!'} {self.exercise} | {self.cause or shown} | {self.state} | {self.message}"


def graded(others: Others) -> Iterator[Reply]:
    """The reply to each answer, right ones first. A grader that raises has no verdict: its state is "raised"."""
    exercise = course.exercise(others.exercise)
    for answer, cause, words in (*((answer, "", "") for answer in others.right), *others.wrong):
        try:
            verdict = exercise.judge(answer)
            state, message = verdict.state, " ".join(verdict.message.split())
        except Exception as error:  # the grader must take whatever a student hands in
            state, message = "raised", f"{type(error).__name__}: {error}"
        asked = words != NOT_NAMED
        named = asked and bool(re.search(words, message, re.IGNORECASE))
        yield Reply(others.exercise, answer, cause, state, message, named, asked)
