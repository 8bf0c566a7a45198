"""The marks of a class: points per student and exercise, and the files that Moodle and Canvas import."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from softlab.course.catalogue import Lesson, exercise, lessons
from softlab.course.grading import MISSING, NOT_ANSWERED, RIGHT, WRONG, Submission, printable, safe_text, student_of
from softlab.errors import Error

#: The better state of an exercise that a student hands in twice counts.
_ORDER = (MISSING, NOT_ANSWERED, WRONG, RIGHT)
#: What a roster may say of a student, besides the folder.
ROSTER_COLUMNS = ("name", "email", "id_number", "login", "section", "canvas_id")
#: Those that two students cannot share.
_ONE_EACH = ("email", "id_number", "login", "canvas_id")
#: Moodle's name of the column that says who a student is, by the roster's column.
_MOODLE_COLUMNS = {"email": "Email address", "id_number": "ID number"}
#: Moodle refuses a whole file in which one grade of a new item is greater.
_MOODLE_MOST = 100
_POSSIBLE = "Points Possible"


@dataclass(frozen=True)
class Mark:
    """One exercise of one student: its state, the points of ``of`` that it is worth, and the last reply."""

    exercise: str
    state: str
    points: float
    of: float
    message: str = ""


@dataclass(frozen=True)
class Student:
    """name: the student's folder, or the name of the only file; marks: one per exercise of the lessons that the class
    hands in, and of the further ones that the student did; problems: of the student's files, with their names.
    """

    name: str
    marks: tuple[Mark, ...]
    problems: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """All points."""
        return sum(mark.points for mark in self.marks)

    @property
    def of(self) -> float:
        """The points that all exercises are worth; further ones count on top of them."""
        return sum(mark.of for mark in self.marks if mark.exercise not in _further())

    def of_lesson(self, lesson: Lesson) -> float:
        """The points of one lesson, with its further exercises."""
        ids = {*lesson.ids, *(one.id for one in lesson.further)}
        return sum(mark.points for mark in self.marks if mark.exercise in ids)


def read_points(path: Path | None) -> dict[str, float]:
    """Exercise id -> points, of a TOML file with lines such as ``"13-let-all-lanes-help" = 3``.

    Raises:
        Error: the file cannot be read.
        ValueError: an id that is no exercise, or points that are no number of at least 0.
    """
    if path is None:
        return {}
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise Error(f"--points {path} cannot be read: {error.strerror or error}") from None
    for name, points in found.items():
        exercise(name)
        if isinstance(points, bool) or not isinstance(points, int | float) or not 0 <= points < float("inf"):
            raise ValueError(f"--points {path}: {name} = {points!r} is no number of points")
    return {name: float(points) for name, points in found.items()}


def read_roster(path: Path | None) -> dict[str, dict[str, str]]:
    """Folder -> what the roster says of the student. A CSV file with the column ``folder`` and some of the others.

    Raises:
        Error: the file cannot be read.
        ValueError: it has no column ``folder``; two students have the same folder, email or number.
    """
    if path is None:
        return {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, csv.Error) as error:
        raise Error(f"--roster {path} cannot be read: {error}") from None
    if not rows or "folder" not in rows[0]:
        raise ValueError(f"--roster {path}: it needs a column folder, and some of {', '.join(ROSTER_COLUMNS)}")
    for key in ("folder", *_ONE_EACH):
        taken = [row[key].strip() for row in rows if (row.get(key) or "").strip()]
        twice = sorted({value for value in taken if taken.count(value) > 1})
        if twice:
            raise ValueError(f"--roster {path}: two students have the {key} {', '.join(map(printable, twice))}")
    return {row["folder"]: {key: (row.get(key) or "").strip() for key in ROSTER_COLUMNS} for row in rows}


def students(submissions: Sequence[Submission], points: Mapping[str, float]) -> tuple[Student, ...]:
    """The students, by name. Whoever hands in one lesson of two has the other one's exercises as missing."""
    by_name: dict[str, list[Submission]] = {}
    for submission in submissions:
        by_name.setdefault(student_of(submission.file), []).append(submission)
    asked = {name for submission in submissions for name in submission.states} - _further()
    order = [one.id for lesson in lessons() for one in (*lesson.exercises, *lesson.further)]
    return tuple(_student(name, own, asked, order, points) for name, own in sorted(by_name.items()))


def _student(
    name: str, own: Sequence[Submission], asked: set[str], order: Sequence[str], points: Mapping[str, float]
) -> Student:
    best: dict[str, tuple[int, str]] = dict.fromkeys(asked, (0, ""))
    for submission in own:
        for id, state in submission.states.items():
            found = (_ORDER.index(state), submission.messages.get(id, ""))
            best[id] = max(best.get(id, (0, "")), found, key=lambda pair: pair[0])
    marks = []
    for id in sorted(best, key=order.index):
        rank, message = best[id]
        worth = points.get(id, 1.0)
        marks.append(Mark(id, _ORDER[rank], worth if _ORDER[rank] == RIGHT else 0.0, worth, message))
    return Student(name, tuple(marks), tuple(f"{one.file}: {one.problem}" for one in own if one.problem))


def _further() -> set[str]:
    return {one.id for lesson in lessons() for one in lesson.further}


def student_rows(found: Sequence[Student]) -> Iterator[list[object]]:
    """One row per student: the points in all, those of each exercise, and the problems."""
    ids = list(dict.fromkeys(mark.exercise for student in found for mark in student.marks))
    yield ["student", "points", "of", "right", *ids, "problems"]
    for student in found:
        own = {mark.exercise: _plain(mark.points) for mark in student.marks}
        right = sum(mark.state == RIGHT for mark in student.marks)
        head = [safe_text(student.name), _plain(student.points), _plain(student.of), right]
        yield [*head, *(own.get(id, "") for id in ids), safe_text("; ".join(student.problems))]


def exercise_rows(found: Sequence[Student]) -> Iterator[list[object]]:
    """One row per student and exercise."""
    yield ["student", "exercise", "state", "points", "of", "reply"]
    for student in found:
        for mark in student.marks:
            points = (_plain(mark.points), _plain(mark.of))
            yield [safe_text(student.name), mark.exercise, mark.state, *points, safe_text(mark.message)]


def moodle_rows(found: Sequence[Student], roster: Mapping[str, Mapping[str, str]]) -> Iterator[list[object]]:
    """What Moodle's grade import reads: a column that says who it is, then a grade and a feedback per lesson.

    Without a roster the folder stands for the user name. Students ``left_out`` have no row. (MoodleDocs, "Grade
    import": the columns are mapped by hand.)
    """
    taken = _lessons(found)
    key = _moodle_key(roster)
    names = [f"softlab {lesson.number} {lesson.title}" for lesson in taken]
    yield [_MOODLE_COLUMNS.get(key, "Username"), *(part for name in names for part in (name, f"{name} feedback"))]
    nobody = left_out(found, roster)
    for student in found:
        if student.name in nobody:
            continue
        row: list[object] = [safe_text(roster[student.name][key] if key else student.name)]
        for lesson in taken:
            row += [_plain(student.of_lesson(lesson)), safe_text(_feedback(student, lesson))]
        yield row


def left_out(found: Sequence[Student], roster: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Names of students of whom the roster does not have what the others have for Moodle.

    Moodle gives the marks of a row without a user to the user of the row before (its source,
    grade/import/csv/classes/load_data.php, commit 0289d8c7).
    """
    key = _moodle_key(roster)
    return [student.name for student in found if key and not roster.get(student.name, {}).get(key)]


def left_out_sentence(found: Sequence[Student], roster: Mapping[str, Mapping[str, str]]) -> str:
    """Whom Moodle's file lacks, and why; empty if it has everybody."""
    names = left_out(found, roster)
    if not names:
        return ""
    column = _moodle_key(roster)
    return f"Moodle's file leaves out {printable(', '.join(names))}: the roster has no {column} of them"


def check_moodle(points: Mapping[str, float]) -> None:
    """Whether Moodle takes these points.

    Raises:
        ValueError: a lesson is worth more points than Moodle allows.
    """
    for lesson in lessons():
        worth = sum(points.get(one.id, 1.0) for one in (*lesson.exercises, *lesson.further))
        if worth > _MOODLE_MOST:
            raise ValueError(f"--points: lesson {lesson.number} is worth {_plain(worth)}; Moodle takes {_MOODLE_MOST}")


def _moodle_key(roster: Mapping[str, Mapping[str, str]]) -> str:
    """The roster's column that tells Moodle who a student is: the one that most students have; "" without a roster."""
    have = {key: sum(bool(row[key]) for row in roster.values()) for key in _MOODLE_COLUMNS}
    best = max(have, key=have.__getitem__)
    return best if have[best] else ""


def canvas_rows(found: Sequence[Student], roster: Mapping[str, Mapping[str, str]]) -> Iterator[list[object]]:
    """What Canvas's gradebook imports: five columns that say who it is, then an assignment per lesson.

    The second row has the points that are possible. Canvas knows this row by its words, so a student with this name
    gets another case. (Canvas Instructor Guide, "How do I import grades"; lib/gradebook_importer.rb.)
    """
    taken = _lessons(found)
    names = [f"softlab {lesson.number} {lesson.title}" for lesson in taken]
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *names]
    possible = {mark.exercise: mark.of for student in found for mark in student.marks}
    yield [f"    {_POSSIBLE}", "", "", "", "", *(_plain(sum(possible[id] for id in one.ids)) for one in taken)]
    for student in found:
        row = roster.get(student.name, {})
        name = (row.get("name") or student.name).replace(_POSSIBLE, _POSSIBLE.lower())
        who = (name, row.get("canvas_id", ""), row.get("id_number", ""))
        login = (row.get("login") or ("" if roster else student.name), row.get("section", ""))
        yield [*map(safe_text, (*who, *login)), *(_plain(student.of_lesson(lesson)) for lesson in taken)]


def _lessons(found: Sequence[Student]) -> list[Lesson]:
    ids = {mark.exercise for student in found for mark in student.marks}
    return [lesson for lesson in lessons() if ids & set(lesson.ids)]


def _feedback(student: Student, lesson: Lesson) -> str:
    states = {mark.exercise: mark.state for mark in student.marks}
    return "; ".join(f"{id}: {states[id]}" for id in lesson.ids if id in states)


def _plain(points: float) -> float | int:
    return int(points) if points == int(points) else points


def write_rows(path: Path, rows: Iterable[Sequence[object]]) -> None:
    """A CSV file in UTF-8.

    Raises:
        Error: it cannot be written.
    """
    try:
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
    except OSError as error:
        raise Error(f"{path} cannot be written: {error.strerror or error}") from None
