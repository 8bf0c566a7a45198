"""The lab as a class gets it: the students' folder without solutions, the teacher's with them, and one for nbgrader."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from softlab.course import copies
from softlab.course.catalogue import Lesson, lesson, lessons
from softlab.course.exercises import Exercise, MultipleChoice, Number
from softlab.course.grading import asked
from softlab.course.kernels import WriteKernel
from softlab.course.slides import slides
from softlab.course.solutions import answers, misconceptions, solved_cell
from softlab.course.variants import for_student
from softlab.errors import Error

#: A class, in minutes; those at its beginning and its end, and those of a prediction.
CLASS_MINUTES, OPENING, CLOSING, PREDICTION = 90, 5, 10, 3
#: The share of the other minutes that goes to the lesson itself; the rest goes to exercises.
_TOGETHER = 0.5
_NBGRADER = 3
_AFRESH = """# The answers of this run alone count. This cell stays as it is.
import os, tempfile
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()"""


def chosen(numbers: Sequence[str]) -> tuple[Lesson, ...]:
    """The lessons of these numbers; all of them where there is none.

    Raises:
        ValueError: no lesson has such a number.
    """
    return tuple(map(lesson, numbers)) if numbers else lessons()


def student_edition(folder: Path, shipped: Path, student: str = "") -> None:
    """The lab without solutions and outputs, as ``softlab lab --copy-only`` writes it.

    student: a name, whose exercises get numbers of their own (``softlab.course.variants``); "" for those of all.

    Raises:
        Error: a file cannot be written.
    """
    copies.update(folder, shipped)
    for one in lessons() if student else ():
        if one.varied:
            path = folder / one.notebook
            _write(path, _text(for_student(_read(path), one.varied, student)))


def teacher_edition(folder: Path, shipped: Path, wanted: Sequence[Lesson]) -> Iterator[Path]:
    """Per lesson a folder with the notebook and its solutions, misconceptions.md, plan.md and slides.html.

    Yields each folder once it is written.

    Raises:
        Error: a file cannot be written, or the solutions are not there.
    """
    known = answers(shipped.parent)
    for one in wanted:
        notebook = _read(shipped / one.notebook)
        place = folder / one.number
        _write(place / one.notebook, _text(with_solutions(notebook, known)))
        _write(place / "misconceptions.md", misconceptions(one, known))
        _write(place / "plan.md", plan(one, notebook))
        _write(place / "slides.html", slides(notebook, one.title))
        yield place


def with_solutions(notebook: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """The notebook without outputs, whose exercises are solved. known: exercise id -> its answers."""
    copy = copies.working_copy(notebook)
    cells = [
        {**cell, "source": solved_cell(cell["source"], known)} if cell["cell_type"] == "code" else cell
        for cell in copy["cells"]
    ]
    return {**copy, "cells": cells}


def nbgrader_edition(folder: Path, shipped: Path, wanted: Sequence[Lesson], points: Mapping[str, float]) -> list[Path]:
    """A course folder for nbgrader: an assignment per lesson below ``source``, and a configuration.

    Behind each exercise stands a locked cell with a test, worth ``points[id]``, 1 where there is no such id.

    Raises:
        Error: a file cannot be written.
    """
    made = []
    for one in wanted:
        place = folder / "source" / f"lesson_{one.number}" / one.notebook
        _write(place, _text(for_nbgrader(_read(shipped / one.notebook), points)))
        made.append(place)
    config = 'c = get_config()\nc.CourseDirectory.course_id = "softlab"\n'
    _write(folder / "nbgrader_config.py", config)
    return made


def for_nbgrader(notebook: Mapping[str, Any], points: Mapping[str, float]) -> dict[str, Any]:
    """The notebook with nbgrader's metadata: students change the exercises, and locked cells hold the tests."""
    copy = copies.working_copy(notebook)
    cells = [_test_cell("softlab-afresh", _AFRESH, None)]
    for cell in copy["cells"]:
        cells.append(cell)
        for name in asked(cell["source"]) if cell["cell_type"] == "code" else ():
            test = f'from softlab import course\nassert course.Progress.load().solved(["{name}"]), "not solved: {name}"'
            cells.append(_test_cell(f"test-{name}", test, points.get(name, 1)))
    return {**copy, "cells": cells}


def _test_cell(name: str, source: str, points: float | None) -> dict[str, Any]:
    graded = points is not None
    marks = {"grade": graded, "grade_id": name, "locked": True, "schema_version": _NBGRADER, "solution": False}
    return {
        "cell_type": "code",
        "id": name[:64],
        "metadata": {"nbgrader": {**marks, "task": False, **({"points": points} if graded else {})}},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def plan(one: Lesson, notebook: Mapping[str, Any]) -> str:
    """A class of 90 minutes with this lesson, as a Markdown table."""
    rows, clock = [], 0
    for minutes, what in _steps(one, _headings(notebook)):
        rows.append(f"| {clock} to {clock + minutes} | {what} |")
        clock += minutes
    goals = "\n".join(f"- {objective}" for objective in one.objectives)
    left = [f"- `{exercise.id}`" for exercise in one.further]
    home = ["", "## For at home", "", *left] if left else []
    head = f"# {one.number} {one.title}: {CLASS_MINUTES} minutes\n\nAfterwards the class can\n\n{goals}\n"
    return "\n".join([head, "| minutes | what |", "|---|---|", *rows, *home]) + "\n"


def _steps(one: Lesson, headings: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(whole minutes, what) of each step; the minutes add up to ``CLASS_MINUTES``."""
    asked_first = len(one.predictions) * PREDICTION
    rest = CLASS_MINUTES - OPENING - CLOSING - asked_first
    together = _shares(round(rest * _TOGETHER), [1.0] * len(headings))
    alone = _shares(rest - sum(together), [_weight(exercise) for exercise in one.exercises])
    yield OPENING, f"The question of the lesson (slide 1): {one.title}"
    for question in one.predictions:
        yield PREDICTION, f"Each learner predicts: {question.question}"
    for minutes, heading in zip(together, headings, strict=True):
        yield minutes, f"Together, on the slides: {heading}"
    for minutes, exercise in zip(alone, one.exercises, strict=True):
        yield minutes, f"Alone or in pairs: exercise `{exercise.id}`"
    yield CLOSING, "Two wrong answers from misconceptions.md: what led there, and what softlab replied"


def _weight(exercise: Exercise) -> float:
    """How long an exercise takes beside others."""
    if isinstance(exercise, WriteKernel):
        return 3
    return 1 if isinstance(exercise, Number | MultipleChoice) else 2


def _shares(minutes: int, weights: Sequence[float]) -> list[int]:
    """Whole minutes in proportion to the weights, which add up to ``minutes``."""
    ends = [round(minutes * sum(weights[: k + 1]) / sum(weights)) for k in range(len(weights))]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _headings(notebook: Mapping[str, Any]) -> list[str]:
    texts = ("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    lines = [line[3:] for text in texts for line in text.splitlines() if line.startswith("## ")]
    return [line for line in lines if line != "What to read next"] or ["the notebook"]


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise Error(f"{path} cannot be read: {error.strerror or error}") from None
    return found


def _text(notebook: Mapping[str, Any]) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Error(f"{path} cannot be written: {error.strerror or error}") from None
