"""Submitted notebooks, run and graded: for a teacher. No GPU is needed.

A submission is a program of somebody else: it runs with the rights of whoever grades it, unless it is confined. What
its kernel says is right counts only once this process has judged it. Kernels in CUDA and answers of numbers and words
are judged without the other cells. An answer that needs them, such as a Python function, comes from a second run, whose
process keeps answers and lacks the right ones: it gets arguments and hands over what the function returns.
"""

from __future__ import annotations

import ast
import csv
import logging
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TextIO

from softlab.course.catalogue import Lesson, exercise, lessons
from softlab.course.confinement import Confinement
from softlab.course.exercises import Exercise
from softlab.course.functions import Answered, Asked, WriteFunction
from softlab.course.learners import Progress, Record
from softlab.course.submissions import HandedIn, notebooks, read

if TYPE_CHECKING:
    from softlab.course.execution import Execution

RIGHT, WRONG, NOT_ANSWERED, MISSING = "right", "wrong", "not answered", "missing"
_GRADED = re.compile(
    r"^%%exercise[ \t]+(\S+)|\bexercise\(\s*[\"']([^\"']+)[\"']\s*(?:,[^()]*)?\)\.grade\(", re.MULTILINE
)
_STUDENT = re.compile(r"""\bexercise\(\s*["'][^"']+["']\s*,\s*("[^"\n\\]*"|'[^'\n\\]*')\s*\)""")
_KERNEL = re.compile(r"%%exercise[ \t]+\S+[ \t]*\n")
#: What a cell may have whose answer is plain: names, numbers, words, arithmetic, and the call that grades them.
_PLAIN = (
    ast.Module, ast.Assign, ast.Expr, ast.Name, ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp, ast.Call,
    ast.Attribute, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip
_IMPORTS = "from softlab import course\nfrom softlab.course import exercise\n%load_ext softlab"
_ONLY_ANSWERS = "import softlab.course.answering as _answering\n_answering.only_answers()"
_LONGEST_MESSAGE = 2000
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
    it was not run to its end; "" for none; messages: exercise id -> the last reply to an answer.
    """

    file: str
    states: Mapping[str, str]
    problem: str = ""
    messages: Mapping[str, str] = field(default_factory=dict)

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


def graded(
    notebook: HandedIn,
    *,
    shipped: Path | None = None,
    seconds: int = 120,
    confinement: Confinement | None = None,
    variants: bool = False,
) -> Submission:
    """Run a submission from top to bottom, whatever its cells raise, and grade it.

    Arguments:
        shipped: the folder of the course's notebooks: a kernel that is still as it was found there is not answered.
        seconds: the most that one cell may take, 1 or more.
        confinement: what the submission may use; None: as much as the grader.
        variants: whether each exercise with numbers per student must have those of this student.

    Raises:
        ValueError: ``seconds`` is less than 1. Whatever is wrong with the notebook is the submission's problem.
    """
    if seconds < 1:
        raise ValueError(f"seconds = {seconds}: a cell needs at least 1")
    names = wanted(notebook)
    if not names:
        return Submission(notebook.file, {}, notebook.problem or "no exercise of the course is in it")
    cells = {name: source for source in notebook.cells for name in asked(source) if name in names}
    try:
        execution = _executed(notebook.cells, seconds, confinement)
        progress, problem = execution.progress, notebook.problem or execution.problem
        solved = {name: cells[name] for name in names if name in cells and progress.solved([name])}
        doubtful = _doubtful(notebook.cells, solved, seconds, confinement)
        untouched = _shipped_cells(shipped, names)
    except Exception as error:  # one notebook must not lose the marks of the others
        progress, untouched, doubtful = Progress(), {}, ()
        problem = f"it could not be graded: {type(error).__name__}: {error}"
    foreign = [name for name, source in cells.items() if not _own_numbers(name, source, notebook.file, variants)]
    refused = {"right only by its own record": doubtful, "not this student's numbers": foreign}
    unchanged = {name for name in cells if cells[name].strip() == untouched.get(name)}
    states = {name: _state(progress.records.get(name, Record()), name in cells, name in unchanged) for name in names}
    states |= dict.fromkeys((*doubtful, *foreign), WRONG)
    return Submission(notebook.file, states, _with_remarks(problem, refused), _messages(progress, names))


def _with_remarks(problem: str, refused: Mapping[str, Sequence[str]]) -> str:
    """The problem, and what is said of the exercises that are refused."""
    return "; ".join(filter(None, (problem, *(f"{remark}: {', '.join(of)}" for remark, of in refused.items() if of))))


def _messages(progress: Progress, names: Sequence[str]) -> dict[str, str]:
    return {name: progress.records[name].message[:_LONGEST_MESSAGE] for name in names if name in progress.records}


def student_of(file: str) -> str:
    """Whose file it is: the first folder of its path, or the name of a file that lies in none."""
    path = PurePosixPath(file)
    return path.parts[0] if len(path.parts) > 1 else path.stem


def _own_numbers(name: str, source: str, file: str, variants: bool) -> bool:
    """Whether a cell grades the numbers of the student whose file it is, or those that all have where they may."""
    given = student_in(source)
    varied = any(name in lesson.varied for lesson in lessons())
    return given == student_of(file) if given or (variants and varied) else True


def student_in(source: str) -> str:
    """The student whose numbers a cell grades; "" for those that all have."""
    found = _STUDENT.search(source)
    return str(ast.literal_eval(found[1])) if found else ""


def _executed(cells: Sequence[str], seconds: int, confinement: Confinement | None) -> Execution:
    from softlab.course.execution import execute

    return execute(cells, seconds, confinement)


def _doubtful(
    all_cells: Sequence[str], solved: Mapping[str, str], seconds: int, confinement: Confinement | None
) -> tuple[str, ...]:
    """The exercises, of these that are right by the submission's record, that are not right by this process."""
    alone = _only_by_its_record(solved, seconds, confinement)
    return (*alone, *_only_there(all_cells, solved, seconds, confinement))


def _only_by_its_record(cells: Mapping[str, str], seconds: int, confinement: Confinement | None) -> tuple[str, ...]:
    """The exercises, of these with their cells, that are not right where their cell alone runs."""
    alone = {name: source for name, source in cells.items() if judged_alone(source)}
    values = {name: plain_answer(source) for name, source in alone.items()}
    wrong = [
        name for name, value in values.items() if value is not None and not _judged_right(name, alone[name], value)
    ]
    rest = {name: source for name, source in alone.items() if values[name] is None}
    if rest:
        second = _executed([_IMPORTS, *dict.fromkeys(rest.values())], seconds, confinement).progress
        wrong += [name for name in rest if not second.solved([name])]
    return tuple(wrong)


def _only_there(
    all_cells: Sequence[str], cells: Mapping[str, str], seconds: int, confinement: Confinement | None
) -> tuple[str, ...]:
    """The exercises, of these with their cells, that need other cells and are not right where this process judges."""
    from softlab.course import answering, syllabus

    judges = {name: exercise(name, student_in(source)) for name, source in cells.items() if not judged_alone(source)}
    if not judges:
        return ()
    asked = {name: judge.asked() for name, judge in judges.items() if isinstance(judge, WriteFunction)}
    hidden = tuple(str(Path(folder)) for folder in syllabus.__path__)
    closed = replace(confinement or Confinement(), hidden=hidden)
    run = [_ONLY_ANSWERS, *(source for source in all_cells if not _KERNEL.match(source))]
    question = answering.question_cell({name: calls.arguments for name, calls in asked.items()})
    kept = answering.handed_over(_executed([*run, question], seconds, closed).answers)
    return tuple(
        name
        for name, judge in judges.items()
        if not any(_right_here(judge, asked.get(name), answer) for answer in kept.get(name, ()))
    )


def _right_here(judge: Exercise, asked: Asked | None, answer: Any) -> bool:
    if isinstance(judge, WriteFunction):
        return asked is not None and isinstance(answer, Answered) and judge.judged(asked, answer).right
    return not isinstance(answer, Answered) and judge.judge(answer).right


def _judged_right(name: str, source: str, value: Any) -> bool:
    return exercise(name, student_in(source)).judge(value).right


def plain_answer(source: str) -> Any:
    """The answer of a cell that :func:`judged_alone` takes, where it is cheap to compute; None where it is not."""
    if _KERNEL.match(source):
        return None
    operators = (ast.Pow, ast.LShift, ast.Mult)  # a few signs of these can take all memory
    if any(isinstance(node, operators) for node in ast.walk(ast.parse(source))):
        return None
    given: list[Any] = []
    judge = SimpleNamespace(grade=given.append)
    names = {"exercise": lambda *asked: judge, "course": SimpleNamespace(exercise=lambda *asked: judge)}
    try:
        exec(compile(source, "cell", "exec"), {"__builtins__": {}, **names})
    except (ArithmeticError, TypeError, ValueError, NameError):
        return None
    return given[-1] if given else None


def judged_alone(source: str) -> bool:
    """Whether an exercise's cell says the whole answer: a kernel, or numbers and words, and no other code."""
    if _KERNEL.match(source):
        return True
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    nodes = list(ast.walk(tree))
    functions = [node.func for node in nodes if isinstance(node, ast.Call)]
    reached = [node for node in nodes if isinstance(node, ast.Attribute)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    set_here = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return (
        all(isinstance(node, _PLAIN) for node in nodes)
        and {ast.unparse(node) for node in (*functions, *reached)} <= _called(source)
        and {node.id for node in names if isinstance(node.ctx, ast.Load)} <= set_here | {"course", "exercise"}
        and set_here.isdisjoint(("course", "exercise"))
    )


def _called(source: str) -> set[str]:
    """The functions that a cell calls which grades an answer."""
    makers = {"course.exercise", "exercise"}
    student = student_in(source)
    more = f", {student!r}" if student else ""
    return makers | {f"{maker}({name!r}{more}).grade" for maker in makers for name in asked(source)}


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
        head = [safe_text(submission.file), submission.right, len(submission.states), safe_text(submission.problem)]
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


def safe_text(text: str) -> str:
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


def _quiet() -> None:
    """No word of asyncio about the channels of a kernel that was killed."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)


def graded_by(
    jobs: int,
    notebooks: Sequence[HandedIn],
    shipped: Path,
    seconds: int,
    confinement: Confinement,
    variants: bool = False,
) -> Iterator[Submission]:
    """The submissions in their order, ``jobs`` of them at a time. One job runs in this process.

    Raises:
        ValueError: fewer than one job.
    """
    if jobs < 1:
        raise ValueError(f"jobs = {jobs}: at least 1 is needed")
    grade = partial(graded, shipped=shipped, seconds=seconds, confinement=confinement, variants=variants)
    if jobs == 1:
        yield from map(grade, notebooks)
        return
    # A process each: the warnings filter and the event loop are a process's own.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_quiet) as pool:
        try:
            yield from pool.map(grade, notebooks)
        except BaseException:
            pool.shutdown(wait=False)  # map() itself cancels the notebooks that nobody began
            raise
