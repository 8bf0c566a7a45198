"""Solutions and planted wrong answers of the exercises, for a teacher. They are in a checkout alone, in its tests."""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from softlab.course.catalogue import Lesson
from softlab.course.exercises import Exercise
from softlab.course.grading import asked
from softlab.errors import Error

_MODULE = "tests.course.answers"
_NOT_ANSWERED = re.compile(r"^(\w+(?:, \w+)*) = None(?:, None)*$", re.MULTILINE)
_FUNCTION = re.compile(r"^def (\w+)\(")
_MAGIC = "%%exercise "


def answers(checkout: Path) -> Mapping[str, Any]:
    """Exercise id -> its right and wrong answers, as ``tests/course/answers.py`` of the checkout has them.

    Raises:
        Error: the folder is no checkout with its tests.
    """
    if not (checkout / "tests" / "course" / "answers.py").is_file():
        raise Error(f"the solutions are in a checkout of softlab, in tests/course, and {checkout} has none")
    sys.path.insert(0, str(checkout))
    try:
        found: Mapping[str, Any] = importlib.import_module(_MODULE).all_answers()
    finally:
        sys.path.remove(str(checkout))
    return found


def solved_cell(source: str, known: Mapping[str, Any]) -> str:
    """The code cell with the solution of the exercise that it grades; as it is where it grades none."""
    names = asked(source)
    if not names or names[0] not in known:
        return source
    right = known[names[0]].right[0]
    if source.startswith(_MAGIC):
        return f"{_MAGIC}{names[0]}\n{right.strip()}"
    if callable(right):
        _, _, last = source.rpartition("\n")
        given = _FUNCTION.search(source)
        wanted = given[1] if given else right.__name__
        code = "\n\n\n".join(_code_of(right))
        if right.__name__ != wanted:
            code += f"\n\n\n{wanted} = {right.__name__}"
        return f"{code}\n\n\n{last}"
    shown = ", ".join(map(repr, right)) if isinstance(right, tuple) else repr(right)
    return _NOT_ANSWERED.sub(lambda found: f"{found[1]} = {shown}", source, count=1)


def _code_of(function: Callable[..., Any]) -> Iterator[str]:
    """The source of a function, after that of what it takes from its module."""
    module = function.__globals__  # type: ignore[attr-defined]
    used = [name for name in function.__code__.co_names if name in module]  # type: ignore[attr-defined]
    imports = [name for name in used if isinstance(module[name], ModuleType)]
    if imports:
        yield "\n".join(_import(name, module[name]) for name in imports)
    for name in used:
        if inspect.isfunction(module[name]) and module[name] is not function:
            yield from _code_of(module[name])
    yield inspect.getsource(function).strip()


def _import(name: str, module: ModuleType) -> str:
    return f"import {module.__name__}" if module.__name__ == name else f"import {module.__name__} as {name}"


def misconceptions(lesson: Lesson, known: Mapping[str, Any]) -> str:
    """The wrong answers that are planted in the tests, with the hint that each gets, as Markdown."""
    parts = [f"# {lesson.number} {lesson.title}: common misconceptions", ""]
    parts += ["Each wrong answer stands with what softlab replies to it. Ask the class what led there.", ""]
    for exercise in (*lesson.exercises, *lesson.further):
        parts += [f"## {exercise.id}", "", exercise.hint, ""]
        found = known[exercise.id]
        for wrong, _ in found.wrong:
            parts += [*_shown(wrong, found.right[0]), "", f"> {_reply(exercise, wrong)}", ""]
    return "\n".join(parts)


def _reply(exercise: Exercise, answer: Any) -> str:
    return " ".join(exercise.judge(answer).message.split())


def _shown(wrong: Any, right: Any) -> list[str]:
    """A wrong answer: a kernel as what differs from the solution, a function as its source, else as a value."""
    if isinstance(wrong, str) and isinstance(right, str) and "\n" in wrong:
        lines = difflib.unified_diff(right.strip().splitlines(), wrong.strip().splitlines(), lineterm="", n=0)
        changes = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
        return ["```diff", *changes[:20], "```"]
    if inspect.isfunction(wrong):
        return ["```python", inspect.getsource(wrong).strip().rstrip(","), "```"]
    return [f"`{' '.join(repr(wrong).split()):.300}`"]
