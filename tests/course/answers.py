"""Reference solutions and plausible wrong answers to the course's exercises, as data.

``solutions/lesson_NN.py`` has ``ANSWERS``, an :class:`Answers` for each exercise of that notebook; kernels are beside
it as ``solutions/<exercise>.cu``.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SOLUTIONS = Path(__file__).parent / "solutions"


@dataclass(frozen=True)
class Answers:
    """right: answers that are taken; wrong: (answer, words that the hint must have) of those that are not."""

    exercise: str
    right: tuple[Any, ...]
    wrong: tuple[tuple[Any, str], ...]


def kernel(exercise: str, *edits: tuple[str, str]) -> str:
    """The reference solution of a kernel exercise, changed."""
    return changed((SOLUTIONS / f"{exercise}.cu").read_text(), *edits)


def changed(source: str, *edits: tuple[str, str]) -> str:
    """A text with some parts, each there just once, replaced by others."""
    for old, new in edits:
        assert source.count(old) == 1, f"{old!r} occurs {source.count(old)} times in\n{source}"
        source = source.replace(old, new)
    return source


@cache
def all_answers() -> dict[str, Answers]:
    """Exercise id -> its answers, of every lesson that has some."""
    found = {}
    for path in sorted(SOLUTIONS.glob("lesson_*.py")):
        module = importlib.import_module(f"tests.course.solutions.{path.stem}")
        found.update({answers.exercise: answers for answers in module.ANSWERS})
    return found
