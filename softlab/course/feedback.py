"""A page per student: what was right, what softlab replied to the rest, and the points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from softlab.course.grading import RIGHT, WRONG, printable
from softlab.course.marks import Student
from softlab.errors import Error
from softlab.views.progress import verdict_html

_STYLE = """:root { --jp-content-font-color1: #222; --jp-border-color2: #ccc }
body { max-width: 800px; margin: 24px auto; padding: 0 16px; font: 15px/1.5 sans-serif; color: #222; background: #fff }
h2 { font-size: 16px; margin: 24px 0 6px; display: flex; justify-content: space-between }
li { overflow-wrap: anywhere }"""


def page(student: Student) -> str:
    """The page as HTML, without scripts. What a student's run said is text there, whatever it has."""
    parts = [f"<h1>{escape(printable(student.name))}</h1>"]
    parts += [f"<p><b>{student.points:g} of {student.of:g} points.</b></p>"]
    for mark in student.marks:
        parts.append(f"<h2><span>{mark.exercise}</span><span>{mark.points:g} of {mark.of:g}</span></h2>")
        state = mark.state if mark.state in (RIGHT, WRONG) else "unanswered"
        reply = mark.message if state != "unanswered" else f"{mark.state.capitalize()}."
        if state == WRONG and reply.startswith("Right"):  # its own record said so
            reply = "Not yet: it is not right where the cell runs by itself."
        parts.append(verdict_html(state, printable(reply or mark.state)))
    if student.problems:
        lines = "".join(f"<li>{escape(printable(problem))}</li>" for problem in student.problems)
        parts.append(f"<h2>What went wrong in the run</h2><ul>{lines}</ul>")
    title = escape(printable(student.name))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
        f"<body>{''.join(parts)}</body></html>"
    )


def write_pages(folder: Path, students: Sequence[Student]) -> None:
    """One page per student, named after the student.

    Raises:
        Error: a file cannot be written.
    """
    taken: set[str] = set()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for student in students:
            stem = re.sub(r"[^\w. @+-]", "_", student.name).strip(". ") or "student"
            name = stem
            number = 1
            while name.casefold() in taken:
                number += 1
                name = f"{stem}-{number}"
            taken.add(name.casefold())
            (folder / f"{name}.html").write_text(page(student), encoding="utf-8")
    except OSError as error:
        raise Error(f"--feedback {folder} cannot be written: {error.strerror or error}") from None
