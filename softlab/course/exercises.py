"""Kinds of exercises: a number, a choice, a Python function, anything that a function can judge. (Kernels: kernels.py.)

An exercise is a record. :meth:`Exercise.judge` has no side effect; :meth:`Exercise.grade` also stores the answer. A
right answer that a plan or a run gives is computed when it is needed.
"""

from __future__ import annotations

import copy
import math
import numbers
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from softlab.course.learners import Progress, Record
from softlab.course.standings import standing
from softlab.course.verdicts import Verdict
from softlab.errors import Error

NOT_ANSWERED = "Not answered yet."
DOES_NOT_COMPILE = "it does not compile."
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


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _value(given: Any) -> Any:
    return given() if callable(given) else given


@dataclass(frozen=True, kw_only=True)
class Number(Exercise):
    """A number to predict.

    answer: computes the right number; relative, absolute: the tolerance; slips: typical wrong answers (numbers, or
    functions that compute them), each with a hint.
    """

    answer: Callable[[], float]
    relative: float = 0.0
    absolute: float = 0.0
    slips: tuple[Slip, ...] = ()

    def judge(self, answer: Any) -> Verdict:
        """Judge a real number of Python or NumPy. None means not answered."""
        if answer is None:
            return self.unanswered()
        if isinstance(answer, np.ndarray) and answer.ndim == 0:
            answer = answer[()]
        if isinstance(answer, bool | np.bool_) or not isinstance(answer, numbers.Real):
            return self.verdict(f"the answer must be a number, not {answer!r}.")
        if self._near(answer, self.answer()):
            return self.verdict("")
        shown = f"{answer:,}".replace(",", " ") if _float(answer) >= 10_000 else f"{answer:g}"
        hint = next((hint for slip, hint in self.slips if self._near(answer, _value(slip))), self.hint)
        return self.verdict(f"it is not {shown}. {hint}")

    def _near(self, answer: Any, right: Any) -> bool:
        return math.isclose(_float(answer), _float(right), rel_tol=self.relative, abs_tol=self.absolute)


@dataclass(frozen=True, kw_only=True)
class MultipleChoice(Exercise):
    """One of a few answers. right: the right one, or a function that computes it; slips: wrong answer -> hint."""

    answers: tuple[Any, ...]
    right: Any
    slips: Mapping[Any, str] = field(default_factory=dict)

    def judge(self, answer: Any) -> Verdict:
        """Judge one of ``answers``. None means not answered."""
        offered = ", ".join(map(repr, self.answers))
        if answer is None:
            return self.unanswered(f"It is one of {offered}.")
        if answer not in self.answers:
            return self.verdict(f"{answer!r} is none of the answers: {offered}.")
        if answer == _value(self.right):
            return self.verdict("")
        return self.verdict(f"it is not {answer!r}. {self.slips.get(answer, self.hint)}")


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


@dataclass(frozen=True)
class Call:
    """One call of a learner's function: its arguments and what it must return."""

    args: tuple[Any, ...]
    expected: Any


@dataclass(frozen=True, kw_only=True)
class WriteFunction(Exercise):
    """A Python function to write.

    calls: the calls that test it; relative: the tolerance of a number; slips: wrong functions that a learner might
    write, each with a hint for a function that returns the same in every call.
    """

    calls: Callable[[], Iterable[Call]]
    relative: float = 0.0
    slips: tuple[tuple[Callable[..., Any], str], ...] = ()

    def judge(self, answer: Any) -> Verdict:
        """Judge a function. None, or a function whose first call returns None, means not answered."""
        if answer is None:
            return self.unanswered()
        if not callable(answer):
            return self.verdict(f"the answer must be a function, not {answer!r}.")
        calls = list(self.calls())
        returned: list[Any] = []
        name = getattr(answer, "__name__", "the function")
        for call in calls:
            try:
                returned.append(answer(*copy.deepcopy(call.args)))
            except Exception as error:  # a learner's code may raise anything
                return self.verdict(f"{_shown_call(name, call)} raises {type(error).__name__}{_where(error)}: {error}.")
        if returned[0] is None and calls[0].expected is not None:
            return self.unanswered("The function returns None.")
        for call, value in zip(calls, returned, strict=True):
            if difference := first_difference(_shown_call(name, call), value, call.expected, self.relative):
                return self.verdict(f"{difference}. {self._hint(calls, returned)}")
        return self.verdict("")

    def _hint(self, calls: list[Call], returned: list[Any]) -> str:
        for slip, hint in self.slips:
            made = [slip(*copy.deepcopy(call.args)) for call in calls]
            if not any(first_difference("", *pair, self.relative) for pair in zip(returned, made, strict=True)):
                return hint
        return self.hint


def _shown_call(name: str, call: Call) -> str:
    shown = ", ".join(np.array2string(a, threshold=8) if isinstance(a, np.ndarray) else repr(a) for a in call.args)
    return f"{name}({shown if len(shown) <= 120 else shown[:117] + '...'})"


def _where(error: Exception) -> str:
    """ " on line 3": the last frame of the traceback, which is in the learner's code."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    return f" on line {frames[-1].lineno}" if frames else ""


def first_difference(name: str, value: Any, expected: Any, relative: float = 0.0) -> str:
    """ "y[3] is 5.0 and should be 7.0", at the first index that differs; "" for no difference.

    name: the value's name in the sentence; relative: the tolerance of a number.
    """
    if not isinstance(expected, np.ndarray | list | tuple):
        return "" if _same(value, expected, relative) else f"{name} is {value!r} and should be {expected!r}"
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
    if isinstance(expected, numbers.Real) and not isinstance(expected, bool):
        number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return number and math.isclose(value, expected, rel_tol=relative)
    return type(value) is type(expected) and value == expected
