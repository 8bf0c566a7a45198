"""What the grade imports of Moodle and Canvas make of a file, by the rules in their sources.

Moodle: grade/import/csv/classes/load_data.php, commit 0289d8c7. Canvas: lib/gradebook_importer.rb, commit 00b222d7.
Neither program runs here; these are the rules that can lose a mark or give it to another student.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence


class RefusedError(Exception):
    """The importer takes nothing of the file."""


def moodle(text: str, users: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """User -> item -> grade. users: what the file's first column has of a user -> the user. Each column but the first
    and those of feedback is a new grade item.
    """
    head, *lines = csv.reader(io.StringIO(text))
    found: dict[str, dict[str, float]] = {}
    user = ""
    for line in lines:
        if len(line) <= 1:
            continue
        if line[0].strip():  # Otherwise the user of the line before stays.
            if line[0].strip() not in users:
                raise RefusedError(f"no user {line[0]}")
            user = users[line[0].strip()]
        if not user:
            raise RefusedError("no user in the first line")
        for title, value in zip(head[1:], line[1:], strict=True):
            if title.strip().endswith("feedback") or value.strip() == "-":
                continue
            if float(value) > 100:
                raise RefusedError(f"{value} is too much")
            found.setdefault(user, {})[title.strip()] = float(value)
    return found


def canvas(text: str, students: Sequence[Mapping[str, str]]) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Assignment -> points that are possible, and canvas_id -> assignment -> grade.

    students: canvas_id, id_number, login and name of each student of the course.
    """
    first = text.splitlines()[:3]
    counts = {sign: {len(next(csv.reader([line], delimiter=sign))) for line in first} for sign in ";,"}
    sign = max(",;", key=lambda sign: counts[sign].copy().pop() if len(counts[sign]) == 1 else 0)
    lines = [[_number(cell) for cell in line] for line in csv.reader(io.StringIO(text), delimiter=sign)]
    head = lines[0]
    if head[:5] != ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]:
        raise RefusedError("Invalid header row")
    # A number in parentheses at the end is taken for the number of an assignment that is there.
    if any(re.search(r"\(\d+\)$|Current |Final |Override ", title) for title in head[5:]):
        raise RefusedError("a column is no new assignment")
    possible: dict[str, float] = {}
    found: dict[str, dict[str, float]] = {}
    for line in lines[1:]:
        grades = {title: float(cell) for title, cell in zip(head[5:], line[5:], strict=True)}
        if "Points Possible" in line[0]:
            possible = grades
        elif any(not re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", cell, re.IGNORECASE) for cell in line):
            found[_known(line, students)] = grades
    return possible, found


def _known(line: Sequence[str], students: Sequence[Mapping[str, str]]) -> str:
    for key, value in (("canvas_id", line[1]), ("id_number", line[2]), ("login", line[3]), ("name", line[0])):
        same = [one["canvas_id"] for one in students if value and one[key] == value]
        if same:
            return same[0]
    raise RefusedError(f"Canvas asks who {line[0]} is")


def _number(cell: str) -> str:
    """Canvas reads a comma as a decimal point in a cell that is a number."""
    if not re.fullmatch(r"-?[0-9.,]+%?", cell):
        return cell
    *whole, last = re.split("[,.]", cell)
    return f"{''.join(whole)}.{last}" if whole else last
