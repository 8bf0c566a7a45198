"""A mock course: students who answer rightly or wrongly, crash, loop, cheat or hand in broken files, and their marks.

    python -m tests.course.mock run FOLDER --jobs 2      write the submissions, grade them, compare the marks
    python -m tests.course.mock write FOLDER             write the submissions only

Each student's marks are known beforehand: no mark may be lost, or changed by another student. ``--sandbox`` and
``--memory`` are those of ``softlab grade``.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softlab import course
from softlab.cli import main as softlab
from softlab.course.copies import working_copy
from softlab.course.grading import asked
from softlab.course.marks import ROSTER_COLUMNS
from softlab.course.solutions import solved_cell
from tests.course import importers
from tests.course.answers import all_answers
from tests.tools.notebooks import NOTEBOOKS

R, W, N, M = "right", "wrong", "not answered", "missing"
Notebook = dict[str, Any]
FORGED = """from softlab.course.learners import Progress
for name in {ids!r}:
    Progress.answered(name, right=True)"""
#: From now on every verdict of this kernel is right.
BRIBED = """from softlab.course.exercises import Exercise
from softlab.course.verdicts import Verdict
Exercise.verdict = lambda self, problem: Verdict(self.id, "right", "Right.")
from softlab.course import kernels
kernels.WriteKernel.judge = lambda self, answer: Verdict(self.id, "right", "Right.")"""
MEDDLES = """import os, pathlib
for folder in (".", "..", "../..", os.path.expanduser("~")):
    for path in pathlib.Path(folder).glob("*/*.ipynb"):
        path.write_text("gone")
    (pathlib.Path(folder) / "softlab.py").write_text("raise SystemExit")"""
STUBBORN = """while True:
    try:
        while True: pass
    except BaseException: pass"""


@dataclass(frozen=True)
class Mock:
    """A student: the folder's name, what the file has, and the marks that softlab must give, in order."""

    name: str
    content: str | bytes
    states: tuple[str, ...]


def blank(number: str) -> Notebook:
    """The lesson as a student gets it."""
    text = (NOTEBOOKS / course.lesson(number).notebook).read_text("utf-8")
    return working_copy(json.loads(text))


def answered(number: str, states: Sequence[str], variant: int = 0) -> Notebook:
    """The lesson with an answer of each state: right and wrong ones in turn from the planted answers."""
    notebook = blank(number)
    wanted = dict(zip(course.lesson(number).ids, states, strict=True))
    cells = []
    for cell in notebook["cells"]:
        names = asked(cell["source"]) if cell["cell_type"] == "code" else ()
        state = wanted[names[0]] if names else N
        if state != M:
            cells.append(cell if state == N else {**cell, "source": answer(cell["source"], names[0], state, variant)})
    return {**notebook, "cells": cells}


def answer(source: str, name: str, state: str, variant: int) -> str:
    """The cell with the planted answer number ``variant`` of this state."""
    known = all_answers()[name]
    # The kernel as it was found is no answer.
    plain = [given for given, _ in known.wrong if not callable(given) and str(given).strip() not in source]
    options = known.right if state == R else plain
    taken = type(known)(name, (options[variant % len(options)],), ())
    return solved_cell(source, {name: taken})


def added(notebook: Notebook, source: str, *, at_end: bool = False) -> Notebook:
    """With a code cell more, behind the imports or at the end."""
    cell = {"cell_type": "code", "id": "own", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
    cells = notebook["cells"]
    place = len(cells) if at_end else 1 + next(k for k, one in enumerate(cells) if one["cell_type"] == "code")
    return {**notebook, "cells": [*cells[:place], cell, *cells[place:]]}


def text(notebook: Notebook) -> str:
    return json.dumps(notebook)


def odd_students(number: str) -> list[tuple[str, Callable[[], str | bytes], tuple[str, ...]]]:
    """(name, what the file has, the states) of those who do something else than answer."""
    ids = course.lesson(number).ids
    every = len(ids)
    right, wrong, none = (R,) * every, (W,) * every, (N,) * every
    solved, failed = answered(number, right), answered(number, wrong)
    return [
        ("crash-in-the-middle", lambda: text(added(solved, "1 / 0")), right),
        ("kernel-that-ends", lambda: text(added(solved, "import os\nos._exit(1)")), right),
        ("loop", lambda: text(added(solved, "while True: pass")), right),
        ("loop-that-stays", lambda: text(added(solved, STUBBORN)), right),
        ("all-memory", lambda: text(added(solved, "x = bytearray(1 << 36)")), right),
        ("prints-without-end", lambda: text(added(failed, "while True: print('x' * 1000)", at_end=True)), wrong),
        ("cheat-forged-record", lambda: text(added(failed, FORGED.format(ids=ids), at_end=True)), wrong),
        ("cheat-bribed-judge", lambda: text(added(failed, BRIBED)), wrong),
        ("cheat-meddles", lambda: text(added(solved, MEDDLES)), right),
        ("=1+1", lambda: text(solved), right),
        ("José 王", lambda: text(solved), right),
        ("as-found", lambda: text(blank(number)), none),
        ("cells-gone", lambda: text(answered(number, (R, *(M,) * (every - 1)))), (R, *(M,) * (every - 1))),
        ("broken-empty", lambda: "", (M,) * every),
        ("broken-half", lambda: text(solved)[:3000], (M,) * every),
        ("broken-bytes", lambda: b"\xff\xfe\x00" * 50, (M,) * every),
        ("broken-other", lambda: '{"cells": 5}', (M,) * every),
    ]


def students(number: str, many: int = 30) -> list[Mock]:
    """The class: the odd ones first, then those who answer rightly, wrongly, and some of both."""
    every = len(course.lesson(number).ids)
    found = [Mock(name, make(), states) for name, make, states in odd_students(number)[:many]]
    for k in range(many - len(found)):
        states = tuple((R, W)[(k >> bit) & 1] for bit in range(every))
        found.append(Mock(f"student-{k:02}", text(answered(number, states, k)), states))
    return found


def write(folder: Path, mocks: Sequence[Mock], number: str) -> None:
    """A folder per student, with the notebook."""
    for mock in mocks:
        path = folder / mock.name / course.lesson(number).notebook
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(mock.content if isinstance(mock.content, bytes) else mock.content.encode())


def graded(folder: Path, out: Path, options: Sequence[str] = ()) -> dict[str, dict[str, str]]:
    """Grade by the command. Student -> exercise -> state, as the file of exercises has them."""
    out.mkdir(parents=True, exist_ok=True)
    files = [f"--{name}={out / name}.csv" for name in ("csv", "students", "exercises", "moodle", "canvas")]
    with (out / "roster.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.DictWriter(stream, ("folder", *ROSTER_COLUMNS))
        rows.writeheader()
        rows.writerows(roster(sorted(path.name for path in folder.iterdir())))
    files.append(f"--roster={out / 'roster.csv'}")
    status = softlab(["grade", str(folder), *files, f"--feedback={out / 'feedback'}", *options])
    assert status == 0
    found: dict[str, dict[str, str]] = {}
    with (out / "exercises.csv").open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            found.setdefault(row["student"].removeprefix("'"), {})[row["exercise"]] = row["state"]
    return found


def differences(mocks: Sequence[Mock], found: dict[str, dict[str, str]], number: str) -> list[str]:
    """Each mark that is not as it must be."""
    ids = course.lesson(number).ids
    wanted = {(mock.name, id): state for mock in mocks for id, state in zip(ids, mock.states, strict=True)}
    given = {(name, id): state for name, states in found.items() for id, state in states.items()}
    keys = sorted(wanted.keys() | given.keys())
    return [f"{key}: {given.get(key)} and not {wanted.get(key)}" for key in keys if wanted.get(key) != given.get(key)]


def roster(names: Sequence[str]) -> list[dict[str, str]]:
    """What the school knows of each student."""
    return [
        {"folder": name, "name": name, "email": f"s{k}@school.example", "id_number": f"{k:04}", "login": f"s{k}",
         "section": "A", "canvas_id": f"{k + 100}"}
        for k, name in enumerate(names)
    ]  # fmt: skip


def lost_imports(mocks: Sequence[Mock], out: Path, number: str) -> list[str]:
    """Each student whose points are not those that Moodle's and Canvas's rules read out of their files."""
    people = roster(sorted(mock.name for mock in mocks))
    texts = {name: (out / f"{name}.csv").read_text("utf-8") for name in ("moodle", "canvas")}
    moodle = importers.moodle(texts["moodle"], {one["email"]: one["folder"] for one in people})
    possible, by_id = importers.canvas(texts["canvas"], people)
    canvas = {one["folder"]: by_id[one["canvas_id"]] for one in people}
    title = f"softlab {number} {course.lesson(number).title}"
    wanted = {mock.name: {title: float(mock.states.count(R))} for mock in mocks}
    lost = [
        f"{program}: {name} has {found.get(name)} and not {points}"
        for program, found in (("Moodle", moodle), ("Canvas", canvas))
        for name, points in wanted.items()
        if found.get(name) != points
    ]
    every = float(len(course.lesson(number).ids))
    return lost if possible == {title: every} else [*lost, f"Canvas: {possible} points are possible, not {every}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("write", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--lesson", default="13")
    given, options = parser.parse_known_args()
    mocks = students(given.lesson, given.students)
    write(given.folder / "handed-in", mocks, given.lesson)
    if given.action == "write":
        return 0
    start = time.perf_counter()
    found = graded(given.folder / "handed-in", given.folder / "marks", options)
    seconds = time.perf_counter() - start
    wrong = differences(mocks, found, given.lesson)
    lost = lost_imports(mocks, given.folder / "marks", given.lesson)
    marks = sum(len(mock.states) for mock in mocks)
    print(f"{len(mocks)} students, {marks} marks, {len(wrong)} of them not as they must be; {seconds:.0f} s")
    print(f"{len(lost)} points that Moodle's or Canvas's rules read otherwise")
    print(*wrong, *lost, sep="\n")
    return bool(wrong or lost)


if __name__ == "__main__":
    sys.exit(main())
