"""Kinds of exercises: a number, a choice, anything that a function can judge. (See also functions.py and kernels.py.)

An exercise is a record. :meth:`Exercise.judge` has no side effect; :meth:`Exercise.grade` also stores the answer. A
right answer that a plan or a run gives is computed when it is needed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from softlab.course.formulas import Formula
from softlab.course.learners import Progress, Record
from softlab.course.standings import standing
from softlab.course.values import as_float, in_other_units, is_number, is_power_of_ten, key, plain, shown
from softlab.course.verdicts import Verdict
from softlab.errors import Error

NOT_ANSWERED = "Not answered yet."
DOES_NOT_COMPILE = "it does not compile."
#: The relative error that the rounding of a calculation in double precision may leave.
_ROUNDING = 1e-9
#: Right answers from here on may be told from their neighbours without being given away.
_LONG = 8
#: Kinds of NumPy dtypes that are compared as numbers ("V": bfloat16).
_NUMBERS = "biufcV"
#: A typical wrong answer (or a function that computes it), and its hint.
Slip = tuple[Any, str]


@dataclass(frozen=True, kw_only=True)
class Exercise(ABC):
    """Base of the kinds.

    id: the number of its notebook and a name, "03-write-the-butterfly"; hint: the reply to a wrong answer that is not
    a typical one; because: the explanation that follows a right answer; further: what further wrong answers get
    besides, one after the other: an explanation, a worked step, a similar exercise with its solution.
    """

    id: str
    hint: str
    because: str = ""
    further: tuple[str, ...] = ()

    @abstractmethod
    def judge(self, answer: Any) -> Verdict:
        """The verdict on an answer. Nothing is stored."""

    def grade(self, answer: Any = None) -> Verdict:
        """The verdict on an answer, with the learner's standing. The progress stores it."""
        verdict = self.judge(answer)
        if verdict.state == "unanswered":
            # No standing: the text of a question must not depend on other answers.
            solved = Progress.load().solved([self.id])
            return replace(verdict, message=f"{verdict.message} (You have solved it before.)") if solved else verdict
        if verdict.state == "wrong":
            verdict = replace(verdict, message=f"{verdict.message} {self._further(verdict)}".strip())
        progress = Progress.answered(self.id, right=verdict.right, message=verdict.message)
        # No standing before the first solved exercise: the notebooks store the verdict of an unchanged kernel.
        return replace(verdict, standing=standing(progress, self.id)) if progress.any_solved else verdict

    def _further(self, verdict: Verdict) -> str:
        """What a wrong answer after other wrong answers gets besides its hint; "" for the first one."""
        record = Progress.load().records.get(self.id, Record())
        # The compiler has said what is wrong; once solved, a learner tries other things.
        if record.solved or not record.attempts or not self.further or DOES_NOT_COMPILE in verdict.message:
            return ""
        return self.further[min(record.attempts, len(self.further)) - 1]

    def unanswered(self, detail: str = "") -> Verdict:
        """The verdict where there is no answer yet."""
        return Verdict(self.id, "unanswered", f"{NOT_ANSWERED} {detail}".strip())

    def verdict(self, problem: str) -> Verdict:
        """The verdict. problem: what is wrong with the answer, "" if nothing is."""
        if problem:
            return Verdict(self.id, "wrong", f"Not yet: {problem}")
        return Verdict(self.id, "right", f"Right. {self.because}".strip())


def _value(given: Any) -> Any:
    return given() if callable(given) else given


@dataclass(frozen=True, kw_only=True)
class Number(Exercise):
    """A number to predict.

    answer: computes the right number; relative, absolute: the tolerance; slips: typical wrong answers (numbers, or
    functions that compute them), each with a hint; unit: a key of ``values.OTHER_UNITS``, for hints to the right
    number in another unit; formula: how the answer follows from the numbers of the exercise, for hints to slips on
    that way; means: what a number above 0 would mean here, "9 blocks have 1152 threads.", "" for nothing.
    """

    answer: Callable[[], float]
    relative: float = 0.0
    absolute: float = 0.0
    slips: tuple[Slip, ...] = ()
    unit: str = ""
    formula: Formula | None = None
    means: Callable[[float], str] | None = None

    def judge(self, answer: Any) -> Verdict:
        """Judge a real number in any form that ``values.plain`` knows. None means not answered."""
        if answer is None:
            return self.unanswered()
        given, right = plain(answer), self.answer()
        if isinstance(given, str):
            return self.verdict(f"the answer must be a number, not {given!r}, which is a text. Leave out the quotes.")
        if not is_number(given):
            return self.verdict(f"the answer must be a number, not {answer!r}.")
        if self._near(given, right):
            return self.verdict("")
        number = f"{given:,}".replace(",", " ") if as_float(given) >= 10_000 else f"{as_float(given):g}"
        hint = next((hint for slip, hint in self.typical() if self._like(given, slip)), "")
        return self.verdict(f"it is not {number}. {hint or self._general(as_float(given), as_float(right))}")

    def typical(self) -> Iterator[tuple[Any, str]]:
        """Each typical wrong answer with its hint, and at last the right one in other units."""
        yield from ((_value(slip), hint) for slip, hint in self.slips)
        yield from in_other_units(as_float(self.answer()), self.unit)

    def _general(self, given: float, right: float) -> str:
        """The hint to a number that is not a typical one: to its kind, where this is not that of the right one."""
        if math.isnan(given):
            return f"NaN is not a number. {self.hint}"
        if given < 0 < right:
            return f"The answer is above 0. {self.hint}"
        exact = not (self.relative or self.absolute) and right.is_integer()
        one_off = exact and abs(given - right) == 1 and right >= _LONG
        # What a part of a thing would mean is no question where the answer is a count.
        in_part = exact and not given.is_integer()
        means = self.means(given) if self.means and 0 < given < math.inf and not in_part else ""
        slips = self.formula.slips if self.formula is not None else None
        if given and not exact and is_power_of_ten(given / right):
            slip = "The digits are right, and the power of ten is not."
        else:
            slip = slips(given, self._like, one_off=one_off, likely=bool(means)) if slips else ""
        if in_part and 0 < given < 1:
            kind = "That looks like a share, and the answer is a whole number: how many."
        elif in_part:
            kind = "The answer is a whole number."
        elif one_off and not (slip or means):
            kind = "Off by one: where does the count begin, and is the last one in it?"
        else:
            kind = ""
        return " ".join(filter(None, (kind, means, slip, self.hint)))

    def _like(self, answer: Any, slip: Any) -> bool:
        """Whether the answer is that wrong number, by the tolerance of the right one or a quarter of a smaller one."""
        wrong = as_float(slip)
        most = min(self.absolute, abs(wrong) / 4)
        return math.isclose(as_float(answer), wrong, rel_tol=max(self.relative, _ROUNDING), abs_tol=most)

    def _near(self, answer: Any, right: Any) -> bool:
        relative = max(self.relative, _ROUNDING)
        return math.isclose(as_float(answer), as_float(right), rel_tol=relative, abs_tol=self.absolute)


@dataclass(frozen=True, kw_only=True)
class MultipleChoice(Exercise):
    """One of a few answers.

    right: the right one, or a function that computes it; slips: wrong answer -> hint; others: what to say to one of the
    answers that ``slips`` lacks.
    """

    answers: tuple[Any, ...]
    right: Any
    slips: Mapping[Any, str] = field(default_factory=dict)
    others: Callable[[Any], str] | None = None

    def judge(self, answer: Any) -> Verdict:
        """Judge one of ``answers``; the case of its letters does not matter. None means not answered."""
        offered = ", ".join(map(repr, self.answers))
        if answer is None:
            return self.unanswered(f"It is one of {offered}.")
        given = key(answer)
        chosen = [one for one in self.answers if given is not None and key(one) == given]
        if not chosen:
            return self.verdict(f"{shown(answer)} is none of the answers: {offered}. {self.hint}")
        if chosen[0] == _value(self.right):
            return self.verdict("")
        hint = self.slips.get(chosen[0], "") or (self.others(chosen[0]) if self.others else self.hint)
        return self.verdict(f"it is not {chosen[0]!r}. {hint}")


@dataclass(frozen=True, kw_only=True)
class Judged(Exercise):
    """An answer that only a function can judge. problem: returns what is wrong with the answer, "" if nothing is.

    If ``problem`` raises a TypeError, a ValueError or softlab's own Error, the answer is wrong.
    """

    problem: Callable[[Any], str]

    def judge(self, answer: Any) -> Verdict:
        """Judge what ``problem`` takes. None or a tuple of None means not answered."""
        if answer is None or (isinstance(answer, tuple) and all(part is None for part in answer)):
            return self.unanswered()
        try:
            problem = self.problem(answer)
        except (Error, ValueError, TypeError) as error:
            problem = f"{str(error).rstrip('.')}. {self.hint}"
        return self.verdict(problem)


def first_difference(name: str, value: Any, expected: Any, relative: float = 0.0) -> str:
    """ "y[3] is 5.0 and should be 7.0", at the first index that differs; "" for no difference.

    name: the value's name in the sentence; relative: the tolerance of a number.
    """
    if not isinstance(expected, np.ndarray | list | tuple):
        return "" if _same(value, expected, relative) else f"{name} is {shown(value)} and should be {shown(expected)}"
    try:
        got, wanted = np.asarray(value), np.asarray(expected)
    except ValueError as error:
        return f"{name} is not an array: {error}"
    if got.shape != wanted.shape:
        return f"{name} has the shape {got.shape} and should have {wanted.shape}"
    comparable = got.dtype.kind in _NUMBERS and wanted.dtype.kind in _NUMBERS
    wrong = different(got, wanted, relative) if comparable else got != wanted
    if not np.any(wrong):
        return ""
    index = tuple(int(k) for k in np.argwhere(wrong)[0])
    where = f"{name}[{', '.join(map(str, index))}]" if index else name
    found = f"{got[index]!s}{' (not written?)' if _is_nan(got[index]) and not _is_nan(wanted[index]) else ''}"
    right = wanted[index].astype(got.dtype) if comparable else wanted[index]
    if f"{got[index]!s}" == f"{right!s}":
        right = f"{wanted[index]!s}: {got.dtype} has too few digits"
    many = f" ({int(wrong.sum())} of {wrong.size} are wrong)" if wrong.size > 1 else ""
    return f"{where} is {found} and should be {right!s}{many}"


def _is_nan(value: Any) -> bool:
    return bool(value != value)


def different(got: np.ndarray, wanted: np.ndarray, relative: float = 0.0) -> np.ndarray:
    """Where two arrays of numbers differ by more than ``relative``: bool, in their shape. NaN equals only NaN."""
    if not relative:
        return ~((got == wanted) | ((got != got) & (wanted != wanted)))
    return ~np.isclose(got.astype(np.float64), wanted.astype(np.float64), rtol=relative, atol=0, equal_nan=True)


def _same(value: Any, expected: Any, relative: float) -> bool:
    value, expected = plain(value), plain(expected)
    if is_number(expected):
        return is_number(value) and math.isclose(value, expected, rel_tol=relative)
    return type(value) is type(expected) and bool(value == expected)
