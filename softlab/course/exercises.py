"""Kinds of exercises: a number, a choice, a Python function, anything that a function can judge. (Kernels: kernels.py.)

An exercise is a record. :meth:`Exercise.judge` is pure; :meth:`Exercise.grade` also keeps what was answered. An answer
that can be computed is computed, from a plan or a run, when it is needed.
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

from softlab.course.verdicts import Verdict
from softlab.errors import Error

NOT_ANSWERED = "Not answered yet."
#: Kinds of NumPy's dtypes that can be compared as numbers ("V": bfloat16).
_NUMBERS = "biufcV"
#: A typical wrong answer (or what computes it), and the hint to it.
Slip = tuple[Any, str]


@dataclass(frozen=True, kw_only=True)
class Exercise(ABC):
    """Base of the kinds.

    id: the number of its notebook and a name, "03-write-the-butterfly"; hint: what to say to a wrong answer that is
    none of the typical ones; because: what to add to a right one.
    """

    id: str
    hint: str
    because: str = ""

    @abstractmethod
    def judge(self, answer: Any) -> Verdict:
        """The verdict on an answer; nothing is kept."""

    def grade(self, answer: Any = None) -> Verdict:
        """The verdict; on an answer with the learner's standing, and kept in the progress."""
        from softlab.course.catalogue import standing
        from softlab.course.learners import Progress

        verdict, progress = self.judge(answer), Progress.load()
        if verdict.state == "unanswered":
            # No standing: a question says the same whatever was answered elsewhere.
            solved = progress.records.get(self.id) and progress.records[self.id].solved
            return replace(verdict, message=f"{verdict.message} (You have solved it before.)") if solved else verdict
        progress = progress.with_answer(self.id, right=verdict.right, message=verdict.message)
        progress.save()
        # None before something is solved: what a kernel as it is found gets does not depend on the whole course.
        return replace(verdict, standing=standing(progress, self.id)) if progress.any_solved else verdict

    def unanswered(self, detail: str = "") -> Verdict:
        """The verdict where there is no answer yet."""
        return Verdict(self.id, "unanswered", f"{NOT_ANSWERED} {detail}".strip())

    def verdict(self, problem: str) -> Verdict:
        """The verdict by what is wrong, "" for nothing."""
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

    answer: computes it; relative, absolute: how far off an answer may be; slips: typical wrong answers (numbers, or
    what computes them) with a hint to each.
    """

    answer: Callable[[], float]
    relative: float = 0.0
    absolute: float = 0.0
    slips: tuple[Slip, ...] = ()

    def judge(self, answer: Any) -> Verdict:
        """A real number, of Python or NumPy; None: not answered."""
        if answer is None:
            return self.unanswered()
        if isinstance(answer, np.ndarray) and answer.ndim == 0:
            answer = answer[()]
        if isinstance(answer, bool | np.bool_) or not isinstance(answer, numbers.Real):
            return self.verdict(f"a number is asked for, and this is {answer!r}.")
        if self._near(answer, self.answer()):
            return self.verdict("")
        shown = f"{answer:,}".replace(",", " ") if _float(answer) >= 10_000 else f"{answer:g}"
        hint = next((hint for slip, hint in self.slips if self._near(answer, _value(slip))), self.hint)
        return self.verdict(f"it is not {shown}. {hint}")

    def _near(self, answer: Any, right: Any) -> bool:
        return math.isclose(_float(answer), _float(right), rel_tol=self.relative, abs_tol=self.absolute)


@dataclass(frozen=True, kw_only=True)
class Choice(Exercise):
    """One of a few answers. right: the right one, or what computes it; slips: wrong one -> hint."""

    answers: tuple[Any, ...]
    right: Any
    slips: Mapping[Any, str] = field(default_factory=dict)

    def judge(self, answer: Any) -> Verdict:
        """One of ``answers``; None: not answered."""
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
    """An answer that only a function can judge. problem: what is wrong with the answer, "" for nothing.

    An answer that ``problem`` cannot work with (it raises a TypeError, ValueError or softlab's own) is wrong, too.
    """

    problem: Callable[[Any], str]

    def judge(self, answer: Any) -> Verdict:
        """Whatever ``problem`` takes; None, or a tuple of None: not answered."""
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

    calls: what it is tried on; relative: how far off a number may be; slips: functions that a learner might write,
    each with the hint to it: it is given where the learner's function returns the same as the slip in every call.
    """

    calls: Callable[[], Iterable[Call]]
    relative: float = 0.0
    slips: tuple[tuple[Callable[..., Any], str], ...] = ()

    def judge(self, answer: Any) -> Verdict:
        """A function; None, or a function that returns None for the first call: not answered."""
        if answer is None:
            return self.unanswered()
        if not callable(answer):
            return self.verdict(f"a function is asked for, and this is {answer!r}.")
        calls = list(self.calls())
        returned: list[Any] = []
        name = getattr(answer, "__name__", "the function")
        for call in calls:
            try:
                returned.append(answer(*copy.deepcopy(call.args)))
            except Exception as error:  # whatever a learner's code raises
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
    """ " on line 3" of the learner's code: the last frame of the traceback that is not ours."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    return f" on line {frames[-1].lineno}" if frames else ""


def first_difference(name: str, value: Any, expected: Any, relative: float = 0.0) -> str:
    """ "y[3] is 5.0 and should be 7.0", at the first index that differs; "" for no difference.

    name: what the value is called in the sentence; relative: how far off a number may be.
    """
    if not isinstance(expected, np.ndarray | list | tuple):
        return "" if _same(value, expected, relative) else f"{name} is {value!r} and should be {expected!r}"
    try:
        got, wanted = np.asarray(value), np.asarray(expected)
    except ValueError as error:
        return f"{name} is no array: {error}"
    if got.shape != wanted.shape:
        return f"{name} has the shape {got.shape} and should have {wanted.shape}"
    comparable = got.dtype.kind in _NUMBERS and wanted.dtype.kind in _NUMBERS
    wrong = different(got, wanted, relative) if comparable else got != wanted
    if not np.any(wrong):
        return ""
    place = tuple(int(k) for k in np.argwhere(wrong)[0])
    where = f"{name}[{', '.join(map(str, place))}]" if place else name
    found = f"{got[place]!s}{' (not written?)' if _is_nan(got[place]) and not _is_nan(wanted[place]) else ''}"
    right = wanted[place].astype(got.dtype) if comparable else wanted[place]
    many = f" ({int(wrong.sum())} of {wrong.size} are wrong)" if wrong.size > 1 else ""
    return f"{where} is {found} and should be {right!s}{many}"


def _is_nan(value: Any) -> bool:
    return bool(value != value)


def different(got: np.ndarray, wanted: np.ndarray, relative: float = 0.0) -> np.ndarray:
    """Where two arrays of numbers differ by more than ``relative``; NaN is like NaN only. Shape of the arrays, bool."""
    if not relative:
        return ~((got == wanted) | ((got != got) & (wanted != wanted)))
    return ~np.isclose(got.astype(np.float64), wanted.astype(np.float64), rtol=relative, atol=0, equal_nan=True)


def _same(value: Any, expected: Any, relative: float) -> bool:
    if isinstance(expected, numbers.Real) and not isinstance(expected, bool):
        number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return number and math.isclose(value, expected, rel_tol=relative)
    return type(value) is type(expected) and value == expected
