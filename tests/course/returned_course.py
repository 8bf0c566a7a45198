"""What each function returns while answers are judged and submissions are graded: see :mod:`tests.returned`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from softlab import course
from softlab.course import behaviour
from softlab.course.functions import WriteFunction
from softlab.course.kernels import WriteKernel
from tests.course import sentences
from tests.course.answers import all_answers
from tests.mutation.mutants import modules
from tests.returned import Recorded, of_tests

#: Quick tests.
_FILES = ("hints", "grading_parts", "formulas", "relations", "requirements", "mutants", "magic",
          "behaviour_parts", "differences", "causes", "kernels", "exponentials", "values", "learners", "slides",
          "diagnosis", "probes", "execution", "submissions")  # fmt: skip


def _sentences() -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("read", "stored", "stands_still"):
            patch.setattr(behaviour, name, lambda *given: "")
        for make in (sentences.moved, sentences.rows, sentences.lines, sentences.calls, sentences.faults):
            list(make())


def _judge(names: list[str]) -> None:
    for name in names:
        exercise, answers = course.exercise(name), all_answers()[name]
        for answer in (*answers.right, *(wrong for wrong, _ in answers.wrong), None):
            exercise.judge(answer)


_WORK: dict[str, Callable[[], None]] = {name: partial(of_tests, f"tests/course/test_{name}.py") for name in _FILES}
#: Functions are called with other arguments each time.
_OTHERS = [name for name in all_answers() if not isinstance(course.exercise(name), WriteKernel | WriteFunction)]
_WORK |= {"sentences": _sentences, "answers": partial(_judge, _OTHERS)}
RECORDED = Recorded(tuple(modules("grading")), _WORK, Path(__file__).parents[1] / "data" / "returned_course.json")
