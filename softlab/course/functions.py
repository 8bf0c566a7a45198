"""Exercises that ask for a Python function: it is called with values that it knows and with values drawn at random.

The function runs in a thread of its own. So one that does not end is stopped, and its stack does not lead to the
values that are expected.
"""

from __future__ import annotations

import copy
import ctypes
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softlab.course.differences import alike, difference, rule_of_values
from softlab.course.exercises import Exercise, first_difference
from softlab.course.mutants import one_slip, two_slips
from softlab.course.values import plain
from softlab.course.verdicts import Verdict

#: Seconds after which the calls of one function are stopped.
PATIENCE = 20.0
#: Results before a function fails, of which a slip can be told.
_ENOUGH = 2
#: Characters of arguments by which two calls are equally easy to follow.
_ALIKE = 40


@dataclass(frozen=True)
class Call:
    """One call of a learner's function: its arguments and what it must return."""

    args: tuple[Any, ...]
    expected: Any


@dataclass(frozen=True)
class Asked:
    """The calls that test a function; the first ``known`` are the same each time."""

    calls: tuple[Call, ...]
    known: int

    @property
    def arguments(self) -> list[tuple[Any, ...]]:
        """The arguments of each call."""
        return [call.args for call in self.calls]


@dataclass(frozen=True)
class Answered:
    """What a function returned, call by call, up to the first that fails.

    name: the function's; prints: whether it calls ``print``; failure: how it fails, "raises KeyError: 64", or None.
    """

    name: str
    prints: bool
    returned: tuple[Any, ...]
    failure: str | None = None


@dataclass(frozen=True, kw_only=True)
class WriteFunction(Exercise):
    """A Python function to write.

    calls: the calls that test it; drawn: further calls, drawn at random, other ones each time; relative: the tolerance
    of a number; slips: wrong functions that a learner might write, each with a hint for a function that returns the
    same in every call; returns: what the function returns, for the hint to a value of another type: "a text";
    parameters: the names of its arguments; models: functions of which ``mutants`` makes wrong ones: "" or blanks -> a
    right one, and the words for a slip -> one that has it.
    """

    calls: Callable[[], Iterable[Call]]
    drawn: Callable[[np.random.Generator], Iterable[Call]] | None = None
    relative: float = 0.0
    slips: tuple[tuple[Callable[..., Any], str], ...] = ()
    returns: str = ""
    parameters: tuple[str, ...] = ()
    models: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def judge(self, answer: Any) -> Verdict:
        """Judge a function. None, or a function that always returns None, means not answered."""
        if answer is None:
            return self.unanswered()
        if not callable(answer):
            return self.verdict(f"the answer must be a function, not {answer!r}. Give its name, without a call.")
        asked = self.asked()
        return self.judged(asked, answered(answer, asked.arguments))

    def asked(self) -> Asked:
        """The calls that test a function: the known ones, then others that are drawn."""
        known = list(self.calls())
        drawn = list(self.drawn(np.random.default_rng())) if self.drawn else []
        return Asked((*known, *drawn), len(known))

    def judged(self, asked: Asked, answer: Answered) -> Verdict:
        """The verdict on what a function returned in these calls."""
        calls, known, name, returned = list(asked.calls), asked.known, answer.name, list(answer.returned)
        if answer.failure is not None and len(returned) < len(calls):
            said = f"{_shown_call(name, calls[len(returned)])} {answer.failure}."
            slip = self._slip_before(calls, returned) or self._mutant(calls, returned, answer.failure)
            return self.verdict(" ".join(filter(None, (said, slip, self.hint))))
        if len(returned) != len(calls):
            return self.verdict(f"{name} was to be called {len(calls)} times, and there are {len(returned)} results.")
        if all(value is None for value in returned) and not all(call.expected is None for call in calls):
            only = " `print` only shows a result: `return` hands it over." if answer.prints else ""
            return self.unanswered(f"The function returns None.{only}")
        wrong = [
            (call, said)
            for call, value in zip(calls, returned, strict=True)
            if (said := first_difference(_shown_call(name, call), value, call.expected, self.relative))
        ]
        if not wrong:
            return self.verdict("")
        # The call that is easiest to follow, of those that are the same each time; of calls that are alike, the first.
        always = [one for one in wrong if any(one[0] is call for call in calls[:known])]
        failed, said = min(always or wrong, key=lambda one: len(repr(one[0].args)) // _ALIKE)
        hint = self._slip(calls, returned) if any(failed is call for call in calls[:known]) else ""
        return self.verdict(f"{said}. {hint or self._difference(calls, returned)}")

    def _slip(self, calls: list[Call], returned: list[Any]) -> str:
        """The hint to a slip that returns this in all calls; "" for none."""
        for slip, hint in self.slips:
            try:
                with np.errstate(all="ignore"):
                    made = [slip(*copy.deepcopy(call.args)) for call in calls]
            except (ArithmeticError, ValueError):  # a slip need not be able to take every argument
                continue
            if not any(first_difference("", *pair, self.relative) for pair in zip(returned, made, strict=True)):
                return hint
        return ""

    def _slip_before(self, calls: list[Call], returned: list[Any]) -> str:
        """The hint to a slip that returns this in the calls before the one that fails, where some of it is wrong."""
        pairs = list(zip(calls, returned, strict=False))
        wrong = [call for call, value in pairs if first_difference("", value, call.expected, self.relative)]
        return self._slip(calls[: len(pairs)], returned) if len(pairs) >= _ENOUGH and wrong else ""

    def _difference(self, calls: list[Call], returned: list[Any]) -> str:
        """What tells the wrong results from the right ones, and the exercise's hint."""
        wanted = type(plain(calls[0].expected))
        if self.returns and any(not _alike(type(plain(value)), wanted) for value in returned):
            return f"It returns {self.returns}. {self.hint}"
        parameters = self.parameters or tuple(f"argument {place + 1}" for place in range(len(calls[0].args)))
        seen = (parameters, calls, returned, self.relative)
        found = self._mutant(calls, returned)
        if not found and not rule_of_values(*seen):
            found = self._mutant(calls, returned, slips=2)
        return f"{found or difference(*seen)} {self.hint}".strip()

    def _mutant(self, calls: list[Call], returned: list[Any], failure: str = "", slips: int = 1) -> str:
        """Which change of a model returns the same in all calls, and fails alike in the next one; "" for none."""

        def same(mutant: Callable[..., Any]) -> bool:
            off = False
            try:
                with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                    for call, value in zip(calls, returned, strict=False):
                        made = mutant(*copy.deepcopy(call.args))
                        if not alike(value, made):
                            return False
                        off = off or not alike(made, call.expected)
            except Exception:  # a mutant may fail in any way
                return False
            try:
                if failure:
                    mutant(*copy.deepcopy(calls[len(returned)].args))
            except Exception as error:
                return f"raises {type(error).__name__}" in failure
            return off and not failure

        if not self.models or (len(returned) < len(calls) and len(returned) < _ENOUGH):
            return ""
        return one_slip(self.models, same) if slips == 1 else two_slips(self.models[""], same)


def answered(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> Answered:
    """Call a function. It gets copies, and 20 seconds for all calls."""
    returned, failure = _returned(function, arguments)
    prints = "print" in getattr(getattr(function, "__code__", None), "co_names", ())
    return Answered(str(getattr(function, "__name__", "the function")), prints, tuple(returned), failure)


def _alike(one: type, other: type) -> bool:
    numbers = (int, float)
    return one is other or (one in numbers and other in numbers)


class _Stopped(BaseException):
    """Raised in the thread of a function that does not end."""


def _returned(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> tuple[list[Any], str | None]:
    """What the calls return, up to the first that fails, and how it fails: "raises KeyError: 64"."""
    returned: list[Any] = []
    failures: list[str] = []

    def run() -> None:
        try:
            with np.errstate(all="ignore"):  # infinity is a result, whatever the filter of warnings says
                for args in arguments:
                    returned.append(function(*copy.deepcopy(args)))
        except _Stopped:
            return
        except BaseException as error:  # a learner's code may raise anything, SystemExit as well
            failures.append(f"raises {type(error).__name__}{_where(error)}: {error}")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        thread.join(PATIENCE)
    finally:  # also where the learner interrupts
        alive = thread.is_alive()
        if alive:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Stopped))
    if alive:
        return returned, f"does not end within {PATIENCE:g} seconds: does its loop come nearer to its end each time"
    return returned, failures[0] if failures else None


def _shown_call(name: str, call: Call) -> str:
    shown = ", ".join(np.array2string(a, threshold=8) if isinstance(a, np.ndarray) else repr(a) for a in call.args)
    return f"{name}({shown if len(shown) <= 120 else shown[:117] + '...'})"


def _where(error: BaseException) -> str:
    """ " on line 3": the last frame of the traceback that is in the learner's code, and not in a library's."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    return f" on line {own[-1].lineno}" if own else ""
