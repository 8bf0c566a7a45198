"""Submitted notebooks, run in a kernel of their own and graded: for a teacher. No GPU is needed.

A submission is a program of somebody else: it runs with the rights of whoever grades it. And it is graded by what its
own kernel says, so a submission that sets out to deceive can.
"""

from __future__ import annotations

import csv
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from softlab.course.catalogue import lessons
from softlab.course.learners import Progress, Record

RIGHT, WRONG, NOT_ANSWERED, MISSING = "right", "wrong", "not answered", "missing"
_GRADED = re.compile(r"^%%exercise[ \t]+(\S+)|\bexercise\(\s*[\"']([^\"']+)[\"']\s*\)\.grade\(", re.MULTILINE)
#: What a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t")


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


def notebooks(folder: Path) -> tuple[Path, ...]:
    """The notebooks in a folder and those below it, without JupyterLab's checkpoints.

    Raises:
        ValueError: there is no such folder, or no notebook in it.
    """
    if not folder.is_dir():
        raise ValueError(f"no folder {folder}")
    found = tuple(sorted(p for p in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts))
    if not found:
        raise ValueError(f"no notebook (.ipynb) in {folder}")
    return found


def asked(source: str) -> tuple[str, ...]:
    """The ids of the exercises that a cell grades."""
    return tuple(first or second for first, second in _GRADED.findall(source))


def graded(path: Path, folder: Path, *, shipped: Path | None = None, seconds: int = 120) -> Submission:
    """Run a submission from top to bottom, whatever its cells raise, and grade it.

    Arguments:
        path: the notebook, below ``folder``.
        shipped: the folder of the course's notebooks: a kernel that is still as it was found there is not answered.
        seconds: the most that one cell may take.
    """
    import nbformat

    file = path.relative_to(folder).as_posix()
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as error:  # whatever is in a file that somebody handed in
        return Submission(file, {}, f"no notebook: {type(error).__name__}")
    cells = {name: source for source in _code(notebook) for name in asked(source)}
    wanted = [name for lesson in lessons() if set(lesson.ids) & set(cells) for name in lesson.ids]
    if not wanted:
        return Submission(file, {}, "no exercise of the course is in it")
    progress, problem = _run(notebook, path.parent, seconds)
    untouched = _shipped_cells(shipped, wanted)
    states = {}
    for name in wanted:
        record = progress.records.get(name, Record())
        if name not in cells:
            states[name] = MISSING
        elif record.solved:
            states[name] = RIGHT
        elif not record.attempts or cells[name].strip() == untouched.get(name):
            states[name] = NOT_ANSWERED
        else:
            states[name] = WRONG
    return Submission(file, states, problem)


def write_csv(submissions: Sequence[Submission], stream: TextIO) -> None:
    """A line for each notebook: file, right, of, problem, then a column for each exercise that any of them has."""
    names = sorted({name for submission in submissions for name in submission.states})
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["file", "right", "of", "problem", *names])
    for submission in submissions:
        head = [_safe(submission.file), submission.right, len(submission.states), _safe(submission.problem)]
        writer.writerow([*head, *(submission.states.get(name, "") for name in names)])


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _code(notebook: Any) -> Iterable[str]:
    return (cell.source for cell in notebook.cells if cell.cell_type == "code")


def _run(notebook: Any, folder: Path, seconds: int) -> tuple[Progress, str]:
    """What the notebook's kernel stored as its progress, and the first problem."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from traitlets.config import Config

    problem = ""
    with tempfile.TemporaryDirectory() as state:
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=seconds,
            allow_errors=True,
            store_widget_state=False,
            resources={"metadata": {"path": str(folder)}},
            config=Config(KernelManager={"transport_encryption": "auto"}),
        )
        # The kernel's own place for progress: empty, and not the grader's.
        try:
            client.execute(env={**os.environ, "XDG_STATE_HOME": state})
        except CellTimeoutError:
            problem = f"a cell took more than {seconds} s"
        except DeadKernelError:
            problem = "its kernel died"
        progress = Progress.load(Path(state) / "softlab" / "progress.json")
    return progress, problem or _first_error(notebook)


def _first_error(notebook: Any) -> str:
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                return f"cell {cell.get('id', '?')}: {output.ename}: {output.evalue}".splitlines()[0]
    return ""


def _shipped_cells(folder: Path | None, names: Iterable[str]) -> dict[str, str]:
    """Exercise id -> the source of its cell as the course has it, for exercises that are answered in the cell."""
    import nbformat

    if folder is None:
        return {}
    numbers = {name.partition("-")[0] for name in names}
    paths = [folder / lesson.notebook for lesson in lessons() if lesson.number in numbers]
    sources = [source for path in paths if path.is_file() for source in _code(nbformat.read(path, as_version=4))]
    return {name: source.strip() for source in sources for name in asked(source)}
