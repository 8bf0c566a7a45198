"""Submitted notebooks, run and graded: for a teacher. No GPU is needed.

A submission is a program of somebody else: it runs with the rights of whoever grades it. And it is graded by what its
own kernel says, so a submission that sets out to deceive can.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from softlab.course.catalogue import Lesson, lessons
from softlab.course.learners import Progress, Record
from softlab.course.submissions import HandedIn, notebooks, read

RIGHT, WRONG, NOT_ANSWERED, MISSING = "right", "wrong", "not answered", "missing"
_GRADED = re.compile(r"^%%exercise[ \t]+(\S+)|\bexercise\(\s*[\"']([^\"']+)[\"']\s*\)\.grade\(", re.MULTILINE)
#: What a spreadsheet takes for the start of a formula.
_FORMULA = ("=", "+", "-", "@")
#: Unicode's categories of what a terminal or spreadsheet acts upon (control, format, surrogate, private, unassigned,
#: line and paragraph separator).
_UNPRINTABLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


@dataclass(frozen=True)
class Submission:
    """One graded notebook.

    file: its path below the folder of submissions; states: exercise id -> "right", "wrong", "not answered" or "missing"
    (its cell is gone), for every exercise of the notebook's lesson; problem: the first error that a cell raised, or why
    it was not run to its end; "" for none.
    """

    file: str
    states: Mapping[str, str]
    problem: str = ""

    @property
    def right(self) -> int:
        """How many exercises are right."""
        return sum(state == RIGHT for state in self.states.values())

    @property
    def sentence(self) -> str:
        """ "2 of 3 right", and the problem."""
        return f"{self.right} of {len(self.states)} right" + (f" ({self.problem})" if self.problem else "")


def handed_in(folder: Path) -> tuple[HandedIn, ...]:
    """Every notebook below a folder, read before any of them runs: what one writes does not change another.

    Raises:
        ValueError: there is no such folder, or no notebook in it.
    """
    return tuple(read(path, folder) for path in notebooks(folder))


def asked(source: str) -> tuple[str, ...]:
    """The ids of the exercises that a cell grades."""
    return tuple(first or second for first, second in _GRADED.findall(source))


def wanted(notebook: HandedIn) -> tuple[str, ...]:
    """The ids of the exercises of the lessons that a notebook has any exercise of, and of further ones that it has."""
    ids = {name for source in notebook.cells for name in asked(source)}
    return tuple(name for lesson in lessons() for name in _wanted_of(lesson, ids))


def _wanted_of(lesson: Lesson, ids: Collection[str]) -> Iterator[str]:
    further = [one.id for one in lesson.further if one.id in ids]
    if further or not set(lesson.ids).isdisjoint(ids):
        yield from (*lesson.ids, *further)


def graded(notebook: HandedIn, *, shipped: Path | None = None, seconds: int = 120) -> Submission:
    """Run a submission from top to bottom, whatever its cells raise, and grade it.

    Arguments:
        shipped: the folder of the course's notebooks: a kernel that is still as it was found there is not answered.
        seconds: the most that one cell may take, 1 or more.

    Raises:
        ValueError: ``seconds`` is less than 1. Whatever is wrong with the notebook is the submission's problem.
    """
    if seconds < 1:
        raise ValueError(f"seconds = {seconds}: a cell needs at least 1")
    names = wanted(notebook)
    if not names:
        return Submission(notebook.file, {}, notebook.problem or "no exercise of the course is in it")
    from softlab.course.execution import execute

    try:
        execution = execute(notebook.cells, seconds)
        progress, problem = execution.progress, notebook.problem or execution.problem
        untouched = _shipped_cells(shipped, names)
    except Exception as error:  # one notebook must not lose the marks of the others
        progress, untouched = Progress(), {}
        problem = f"it could not be graded: {type(error).__name__}: {error}"
    cells = {name: source for source in notebook.cells for name in asked(source)}
    states = {}
    for name in names:
        unchanged = name in cells and cells[name].strip() == untouched.get(name)
        states[name] = _state(progress.records.get(name, Record()), name in cells, unchanged)
    return Submission(notebook.file, states, problem)


def _state(record: Record, present: bool, unchanged: bool) -> str:
    if not present:
        return MISSING
    if record.solved:
        return RIGHT
    return NOT_ANSWERED if unchanged or not record.attempts else WRONG


class CsvRows:
    """One line per notebook, each written when it is graded: file, right, of, problem, and a column per exercise."""

    def __init__(self, stream: TextIO, ids: Iterable[str]) -> None:
        self._stream, self._ids = stream, sorted(set(ids))
        self._writer = csv.writer(stream, lineterminator="\n")
        self._row(["file", "right", "of", "problem", *self._ids])

    def write(self, submission: Submission) -> None:
        """Write the row, and hand it to the system at once."""
        head = [_cell(submission.file), submission.right, len(submission.states), _cell(submission.problem)]
        self._row([*head, *(submission.states.get(name, "") for name in self._ids)])

    def _row(self, row: Sequence[object]) -> None:
        self._writer.writerow(row)
        self._stream.flush()


def printable(text: str) -> str:
    """The text with what a terminal acts upon written as an escape: "\\x1b", "\\n"."""
    return "".join(
        character.encode("unicode_escape").decode() if unicodedata.category(character) in _UNPRINTABLE else character
        for character in text
    )


def _cell(text: str) -> str:
    """The text as a spreadsheet takes it for text: with an apostrophe where it would take a formula."""
    start = next((c for c in text if not c.isspace() and unicodedata.category(c) not in _UNPRINTABLE), "")
    # A spreadsheet takes the wide forms of the signs as well.
    formula = unicodedata.normalize("NFKC", start).startswith(_FORMULA)
    return f"'{printable(text)}" if formula else printable(text)


def _shipped_cells(folder: Path | None, names: Iterable[str]) -> dict[str, str]:
    """Exercise id -> the source of its cell as the course has it, for exercises that are answered in the cell."""
    if folder is None:
        return {}
    numbers = {name.partition("-")[0] for name in names}
    paths = [folder / lesson.notebook for lesson in lessons() if lesson.number in numbers]
    sources = [source for path in paths if path.is_file() for source in read(path, folder).cells]
    return {name: source.strip() for source in sources for name in asked(source)}
