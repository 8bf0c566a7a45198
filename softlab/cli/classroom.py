"""A class: the lab to hand out, and the marks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from softlab.cli.output import print_json
from softlab.cli.registry import command, json_option
from softlab.errors import Error
from softlab.shipped import shipped

if TYPE_CHECKING:
    from softlab.course.grading import Submission


def _course_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("export",), help="export: write the lab for a class")
    parser.add_argument("--student", type=Path, metavar="DIR", help="the lessons without solutions and outputs")
    parser.add_argument(
        "--teacher", type=Path, metavar="DIR", help="per lesson: solutions, misconceptions, a 90-minute plan, slides"
    )
    parser.add_argument("--name", default="", help="of --student: the student, who gets numbers of their own")
    parser.add_argument("--nbgrader", type=Path, metavar="DIR", help="a course folder for nbgrader")
    parser.add_argument("--lesson", action="append", default=[], metavar="NN", help="of --teacher and --nbgrader: only")


@command("course", "Write the lab for a class: for students, for the teacher, for nbgrader.", _course_arguments)
def _course(options: argparse.Namespace) -> int:
    from softlab.course import editions

    if not (options.student or options.teacher or options.nbgrader):
        raise ValueError("softlab course export writes nothing yet: add --student DIR, --teacher DIR or --nbgrader DIR")
    lessons, wanted = shipped("notebooks"), editions.chosen(options.lesson)
    if options.student:
        editions.student_edition(options.student, lessons, options.name)
        print(f"{options.student}: {len(editions.chosen(()))} lessons without solutions")
    if options.teacher:
        for place in editions.teacher_edition(options.teacher, lessons, wanted):
            print(f"{place}: solutions, misconceptions, plan, slides", flush=True)
    if options.nbgrader:
        for path in editions.nbgrader_edition(options.nbgrader, lessons, wanted, {}):
            print(path)
    return 0


def _grade_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", type=Path, help="the folder of submitted notebooks, searched with all folders inside")
    add("--csv", metavar="FILE", help="write the result there, one line per notebook")
    add("--students", type=Path, metavar="FILE", help="write CSV with one row per student: points of each exercise")
    add("--exercises", type=Path, metavar="FILE", help="write CSV with one row per student and exercise")
    add("--moodle", type=Path, metavar="FILE", help="write CSV that Moodle's grade import reads")
    add("--canvas", type=Path, metavar="FILE", help="write CSV that Canvas's gradebook imports")
    add("--feedback", type=Path, metavar="DIR", help="write an HTML page per student there")
    add("--points", type=Path, metavar="FILE", help='TOML with lines such as "13-let-all-lanes-help" = 3 (default: 1)')
    add("--roster", type=Path, metavar="FILE", help="CSV with the column folder, and name, email, id_number, login, "
        "section or canvas_id, for --moodle and --canvas")  # fmt: skip
    add("--jobs", type=int, default=1, help="notebooks that run at a time (default: 1)")
    add("--seconds", type=int, default=120, help="time limit of one cell (default: 120)")
    add("--memory", type=int, default=0, metavar="MIB", help="memory of one notebook's kernel (default: no limit)")
    add("--sandbox", action="store_true", help="run each notebook in bubblewrap: no network, none of your files")
    add("--variants", action="store_true", help="an exercise with numbers per student must have the student's own")
    json_option(parser)


@command(
    "grade",
    "Run submitted notebooks, without a GPU, and report which exercises are right.",
    _grade_arguments,
)
def _grade(options: argparse.Namespace) -> int:
    from softlab.course import grading, marks, submissions
    from softlab.course.confinement import Confinement

    confinement = Confinement.of(options.memory, options.sandbox)
    points, roster = marks.read_points(options.points), marks.read_roster(options.roster)
    if options.moodle:
        marks.check_moodle(points)
    handed_in = grading.handed_in(options.folder)
    before = submissions.digests(options.folder)
    ids = [name for notebook in handed_in for name in grading.wanted(notebook)]
    found: list[Submission] = []
    try:
        with _rows_stream(options) as stream:
            rows = stream and grading.CsvRows(stream, ids)
            lessons = shipped("notebooks")
            for one in grading.graded_by(
                options.jobs, handed_in, lessons, options.seconds, confinement, options.variants
            ):
                found.append(one)
                print(grading.printable(f"{one.file}: {one.sentence}"), file=sys.stderr)
                if rows:
                    rows.write(one)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Error(f"{options.csv or 'the output'} cannot be written: {error.strerror}") from None
    except KeyboardInterrupt:
        print(f"{len(found)} of {len(handed_in)} notebooks are graded; their rows are written", file=sys.stderr)
        raise
    finally:
        if changed := submissions.changes(before, submissions.digests(options.folder)):
            print(grading.printable(changed), file=sys.stderr)
        if options.json:
            print_json([vars(submission) for submission in found])
        _write_marks(options, found, points, roster)
    return 0


def _write_marks(
    options: argparse.Namespace,
    found: Sequence[Submission],
    points: Mapping[str, float],
    roster: Mapping[str, Mapping[str, str]],
) -> None:
    """The files of marks that are asked for."""
    from softlab.course import marks
    from softlab.course.feedback import write_pages

    students = marks.students(found, points)
    rows = {
        options.students: marks.student_rows(students),
        options.exercises: marks.exercise_rows(students),
        options.moodle: marks.moodle_rows(students, roster),
        options.canvas: marks.canvas_rows(students, roster),
    }
    for path, content in rows.items():
        if path:
            marks.write_rows(path, content)
    missing = marks.left_out_sentence(students, roster) if options.moodle else ""
    if missing:
        print(missing, file=sys.stderr)
    if options.feedback:
        write_pages(options.feedback, students)


@contextmanager
def _rows_stream(options: argparse.Namespace) -> Iterator[TextIO | None]:
    """Where the rows go: a file, else standard output unless JSON goes there."""
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as stream:
            yield stream
    else:
        yield None if options.json else sys.stdout
