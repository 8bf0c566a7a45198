"""A class: the lab to hand out, and the marks."""

from __future__ import annotations

import argparse
from pathlib import Path

from softlab.cli.registry import command
from softlab.shipped import shipped


def _course_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("export",), help="export: write the lab for a class")
    parser.add_argument("--student", type=Path, metavar="DIR", help="the lessons without solutions and outputs")
    parser.add_argument(
        "--teacher", type=Path, metavar="DIR", help="per lesson: solutions, misconceptions, a 90-minute plan, slides"
    )
    parser.add_argument("--nbgrader", type=Path, metavar="DIR", help="a course folder for nbgrader")
    parser.add_argument("--lesson", action="append", default=[], metavar="NN", help="of --teacher and --nbgrader: only")


@command("course", "Write the lab for a class: for students, for the teacher, for nbgrader.", _course_arguments)
def _course(options: argparse.Namespace) -> int:
    from softlab.course import editions

    if not (options.student or options.teacher or options.nbgrader):
        raise ValueError("softlab course export writes nothing yet: add --student DIR, --teacher DIR or --nbgrader DIR")
    lessons, wanted = shipped("notebooks"), editions.chosen(options.lesson)
    if options.student:
        editions.student_edition(options.student, lessons)
        print(f"{options.student}: {len(editions.chosen(()))} lessons without solutions")
    if options.teacher:
        for place in editions.teacher_edition(options.teacher, lessons, wanted):
            print(f"{place}: solutions, misconceptions, plan, slides", flush=True)
    if options.nbgrader:
        for path in editions.nbgrader_edition(options.nbgrader, lessons, wanted, {}):
            print(path)
    return 0
