"""A submission's answers without a verdict: its kernel computes them, and another process judges them.

:func:`only_answers` runs in the submission's kernel, before its cells. From then on an exercise's ``grade(answer)``
keeps the answer, and the modules with the right answers cannot be imported. :func:`hand_over` runs behind the last
cell: it calls the functions that were kept and writes what they return into a file. The grader reads that file by
:func:`handed_over`.
"""

from __future__ import annotations

import base64
import json
import pickle
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.abc import MetaPathFinder
from typing import Any

import numpy as np

from softlab.course.functions import Answered, answered
from softlab.course.learners import progress_file
from softlab.course.values import plain

#: The package with the right answers.
SYLLABUS = "softlab.course.syllabus"
#: Answers to one exercise that count, the last ones; numbers in one array; characters of the file.
_KEPT, _LARGEST, _MOST = 3, 100_000, 1 << 24
_answers: dict[str, list[Any]] = {}


class _Closed(MetaPathFinder):
    """Finds no module of the syllabus."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.startswith(SYLLABUS):
            raise ImportError(f"{name} has the right answers, and is not there while a submission is graded")


@dataclass(frozen=True)
class _Kept:
    """An exercise that keeps each answer."""

    id: str

    def grade(self, answer: Any = None) -> None:
        """Keep the answer."""
        _answers.setdefault(self.id, []).append(answer)


class _Quiet:
    """Stands for what a cell shows: each attribute of it, and each call, is it again."""

    def __getattr__(self, name: str) -> _Quiet:
        if name.startswith("_"):
            raise AttributeError(name)
        return self

    def __call__(self, *given: Any, **named: Any) -> _Quiet:
        return self


def only_answers() -> None:
    """From now on this process keeps answers and has no right ones."""
    from softlab import course
    from softlab.course import catalogue

    def exercise(id: str, student: str = "") -> Any:
        return _Kept(id)

    for module in (course, catalogue):
        vars(module).update(exercise=exercise, prediction=_Quiet())
    vars(course).update(progress=_Quiet())
    catalogue.lessons.cache_clear()
    for name in [name for name in sys.modules if name.startswith(SYLLABUS)]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Closed())


def question_cell(asked: Mapping[str, Sequence[tuple[Any, ...]]]) -> str:
    """The cell behind a submission's cells. asked: exercise id -> the arguments of each call of its function."""
    given = base64.b64encode(pickle.dumps({name: list(calls) for name, calls in asked.items()})).decode()
    return f'import softlab.course.answering as _answering\n_answering.hand_over("{given}")'


def hand_over(given: str) -> None:
    """Write what was kept. given: what :func:`question_cell` has, which is the grader's."""
    asked = pickle.loads(base64.b64decode(given))
    found = {name: [_said(answer, asked.get(name, ())) for answer in kept[-_KEPT:]] for name, kept in _answers.items()}
    path = progress_file().with_name("answers.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found))


def _said(answer: Any, calls: Sequence[tuple[Any, ...]]) -> Any:
    if not callable(answer):
        return {"value": encoded(answer)}
    got = answered(answer, calls)
    return {"name": got.name, "prints": got.prints, "returned": encoded(list(got.returned)), "failure": got.failure}


def handed_over(text: str) -> dict[str, list[Any]]:
    """Exercise id -> its answers: values, or :class:`softlab.course.functions.Answered` for functions.

    The text is a submission's: whatever is wrong with it, it has no answers then.
    """
    if not text or len(text) > _MOST:
        return {}
    try:
        return {name: [_read(one) for one in kept[-_KEPT:]] for name, kept in json.loads(text).items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return {}


def _read(one: Mapping[str, Any]) -> Any:
    if "value" in one:
        return decoded(one["value"])
    failure = one["failure"]
    return Answered(str(one["name"]), bool(one["prints"]), tuple(decoded(one["returned"])), failure and str(failure))


def encoded(value: Any) -> Any:
    """A value as JSON has it. What is no number, text, list, tuple or array becomes a description."""
    value = plain(value)
    kind = type(value)
    if value is None or kind in (bool, str, int):
        return value
    if kind is float:
        return {"float": value.hex()}
    if kind is Fraction:
        return {"fraction": [str(value.numerator), str(value.denominator)]}
    if kind in (list, tuple) and len(value) <= _LARGEST:
        return {kind.__name__: [encoded(part) for part in value]}
    if kind is np.ndarray and value.size <= _LARGEST and value.dtype.kind in "biuf":
        return {"array": value.dtype.str, "shape": list(value.shape), "bytes": value.tobytes().hex()}
    return {"other": f"{kind.__name__}"[:80]}


@dataclass(frozen=True)
class Other:
    """A value of a type that no answer has."""

    kind: str

    def __repr__(self) -> str:
        return f"<{self.kind}>"


def decoded(value: Any) -> Any:
    """The value that :func:`encoded` was given."""
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float.fromhex(value["float"])
    if "fraction" in value:
        return Fraction(*map(int, value["fraction"]))
    for kind in (list, tuple):
        if kind.__name__ in value:
            return kind(decoded(part) for part in value[kind.__name__])
    if "array" in value:
        raw = np.frombuffer(bytes.fromhex(value["bytes"]), np.dtype(value["array"]))
        return raw.reshape([int(size) for size in value["shape"]])
    return Other(str(value.get("other")))
