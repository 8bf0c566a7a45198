"""All cases of the registry: softlab beside compute-sanitizer's four tools on a GPU, as tables.

python -m tests.faults.table [--markdown] [--cases]

``--cases`` prints each case with what each tool says, too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.faults.outcome import Outcome, outcome
from tests.faults.registry import Case, good_cases, planted_cases

RECORD = Path(__file__).parents[1] / "data" / "sanitizer_h200.json"
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")


@lru_cache(maxsize=1)
def recorded() -> dict[str, Any]:
    """What compute-sanitizer said, with versions and date."""
    return json.loads(RECORD.read_text())


@dataclass(frozen=True)
class Row:
    """One case: what softlab says, and what each tool said ("" for nothing) where it was recorded."""

    case: Case
    softlab: Outcome
    sanitizer: dict[str, str]

    @property
    def reported(self) -> bool:
        """Whether compute-sanitizer reports something."""
        return any(self.sanitizer.values())

    @property
    def at_the_line(self) -> bool:
        """Whether compute-sanitizer names a line to blame."""
        return any("at the line" in words for words in self.sanitizer.values())


def row(case: Case) -> Row:
    """Run the case here, and look up what compute-sanitizer said."""
    record = recorded()["cases"].get(case.name, {})
    return Row(case, outcome(case), {tool: _words(record[tool], case) for tool in TOOLS if tool in record})


def _words(answer: dict[str, Any], case: Case) -> str:
    """What one tool said: the beginning of its first report, and whether it names a line to blame."""
    if answer["says"] is None:
        return ""
    named = any(f"{case.file}:{line}" in answer.get("places", ()) for line in case.lines)
    return answer["says"].split(" at ")[0].split(" of size")[0] + (", at the line" if named else "")


def _lines(head: list[str], body: Iterable[list[Any]], markdown: bool) -> Iterator[str]:
    rows = [head, *([str(cell) for cell in cells] for cells in body)]
    if markdown:
        yield from (f"| {' | '.join(cells)} |" for cells in rows[:1])
        yield "|---" * len(head) + "|"
        yield from (f"| {' | '.join(cells)} |" for cells in rows[1:])
        return
    widths = [max(len(cells[column]) for cells in rows) for column in range(len(head))]
    for cells in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _grouped(rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    for family in dict.fromkeys(row.case.family for row in rows):
        yield family, [row for row in rows if row.case.family == family]
    yield "all", rows


def planted_table(rows: list[Row], markdown: bool = False) -> Iterator[str]:
    """By family: planted, found and at its line; of those that the GPU ran, what compute-sanitizer reports."""
    head = ["planted faults", "planted", "found", "at its line", "run on the GPU", "any tool reports", "at its line"]
    body = []
    for family, group in _grouped(rows):
        counts = [len(group), sum(r.softlab.found for r in group), sum(r.softlab.in_place for r in group)]
        counts += [sum(bool(r.sanitizer) for r in group), sum(r.reported for r in group)]
        counts += [sum(r.at_the_line for r in group), *_by_tool(group)]
        body.append([family, *counts])
    return _lines([*head, *TOOLS], body, markdown)


def good_table(rows: list[Row], markdown: bool = False) -> Iterator[str]:
    """By family: good kernels, how many are accused here, and by which tool."""
    head = ["good kernels", "kernels", "accused", "run on the GPU", "any tool reports"]
    body = []
    for family, group in _grouped(rows):
        counts = [len(group), sum(bool(r.softlab.findings) for r in group)]
        counts += [sum(bool(r.sanitizer) for r in group), sum(r.reported for r in group), *_by_tool(group)]
        body.append([family, *counts])
    return _lines([*head, *TOOLS], body, markdown)


def _by_tool(group: list[Row]) -> list[int]:
    return [sum(bool(row.sanitizer.get(tool)) for row in group) for tool in TOOLS]


def misses(cases: Iterable[Case]) -> Iterator[str]:
    """The known misses, by name and with the reason."""
    return (f"- {case.name.removeprefix('course/')}: {case.missed}" for case in cases if case.missed)


def _each(row: Row) -> str:
    said = "; ".join(f"{tool}: {words}" for tool, words in row.sanitizer.items() if words) or "-"
    wrong = "" if row.softlab.in_place or row.case.kind is None else " (not as planted)"
    return f"{row.case.family} | {row.case.name} | {row.softlab.said or '-'}{wrong} | {said}"


def _rows(cases: Sequence[Case], what: str) -> Iterator[Row]:
    """The rows of these cases; how many are done goes to the standard error output."""
    for number, case in enumerate(cases):
        if number % 25 == 0:
            print(f"{what}: {number} of {len(cases)}", file=sys.stderr, flush=True)
        yield row(case)


def main(markdown: bool, every: bool) -> None:
    """Print the tables and the known misses."""
    about = recorded()["about"]
    print(f"compute-sanitizer: {about['sanitizer'].splitlines()[-1]}; {about['gpu']}; {about['date']}")
    left_out = sum("left out" in answer for answer in recorded()["cases"].values())
    print(f"Not run on the GPU: {left_out} cases that do not end there or are refused.\n")
    planted, good = list(_rows(planted_cases(), "planted faults")), list(_rows(good_cases(), "good kernels"))
    if every:
        print(*map(_each, planted + good), "", sep="\n")
    print(*planted_table(planted, markdown), "", *good_table(good, markdown), "", sep="\n")
    print("Known misses:", *misses(planted_cases() + good_cases()), sep="\n")
    unexpected = [r.case.name for r in planted if not r.softlab.in_place and not r.case.missed]
    unexpected += [r.case.name for r in good if r.softlab.findings and not r.case.missed]
    if unexpected:
        print("\nNot as expected:", *unexpected, sep="\n")
        sys.exit(1)


if __name__ == "__main__":
    main("--markdown" in sys.argv[1:], "--cases" in sys.argv[1:])
