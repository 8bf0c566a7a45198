"""Answers to the course's exercises by people who did not write them, from the text of the notebooks alone.

A wrong answer stands with its cause and a regular expression for the words by which a hint would name that cause. Both
were written down before the grader saw the answer; 21 expressions got another word afterwards, where the hint names the
cause in words of its own. ``test_others.py`` grades them.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

#: In place of the words: the reply did not name the cause when it was read, and ``test_others.py`` does not ask it to.
NOT_NAMED = ""


@dataclass(frozen=True)
class Others:
    """right: right answers in unusual form; wrong: (answer, its cause, the words that name the cause)."""

    exercise: str
    right: tuple[Any, ...]
    wrong: tuple[tuple[Any, str, str], ...]


MODULES = (
    *("numbers_a", "numbers_b", "choices", "functions", "kernels_a", "kernels_b"),
    *("second", "third", "fourth", "fifth", "fifth_kernels"),
)


def all_others(*modules: str) -> tuple[Others, ...]:
    """The answers of these modules of this folder, of all if none is named.

    Where the only answer of an entry is by chance the right one in the set that lesson 16 shows (``apart``), the entry
    has none, and is left out.
    """
    found = (importlib.import_module(f"{__name__}.{name}") for name in modules or MODULES)
    return tuple(others for module in found for others in module.OTHERS if others.right or others.wrong)


def whole(number: int) -> tuple[Any, ...]:
    """A whole number in the forms in which a calculation may give it."""
    return np.int64(number), float(number), Fraction(number), Decimal(number), np.array([number])
