"""Planted faults: softlab beside compute-sanitizer on an H200, as a table.

python -m tests.faults.table [--markdown]
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from softlab.errors import KernelFault
from softlab.kernel import Kernel
from tests.faults.planted import PLANTED, Planted

RECORD = Path(__file__).parents[1] / "data" / "sanitizer_h200.json"
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")


@lru_cache(maxsize=1)
def recorded() -> dict[str, Any]:
    """What compute-sanitizer said, with versions and date."""
    return json.loads(RECORD.read_text())


@dataclass(frozen=True)
class Row:
    """One planted fault: what softlab says ("" where it says nothing), and each tool that says something."""

    planted: Planted
    softlab: str
    sanitizer: dict[str, str]

    @property
    def at_the_line(self) -> bool:
        """Whether compute-sanitizer names the line to blame."""
        return any("at the line" in words for words in self.sanitizer.values())


def row(planted: Planted) -> Row:
    """Run the planted fault here and look up what compute-sanitizer said."""
    good = planted.good
    said = ""
    try:
        Kernel.from_program(planted.compile()).run(
            good.grid, good.block, good.arguments(), good.smem, record=False, budget=20_000
        )
    except KernelFault as fault:
        right = fault.kind == planted.kind and fault.line in planted.lines
        said = f"{fault.kind}, line {fault.line}" + ("" if right else " (not as planted)")
    of = (planted.kind, planted.name)
    record = next(r for r in recorded()["planted"] if (r["kind"], r["name"]) == of)
    words = {tool: _words(record[tool], planted) for tool in TOOLS if tool in record}
    return Row(planted, said, {tool: text for tool, text in words.items() if text})


def _words(answer: dict[str, Any], planted: Planted) -> str:
    """What one tool said: the beginning of its first report, and whether it names the line; "" for nothing."""
    if answer["says"] is None:
        return "hangs" if answer.get("killed") else ""
    file = planted.good.file
    named = any(f"{file}:{line}" in answer["places"] for line in planted.lines)
    return answer["says"].split(" at ")[0].split(" of size")[0] + (", at the line" if named else "")


def main(markdown: bool) -> None:
    """Print the table, and the sums by kind."""
    about = recorded()["about"]
    print(f"compute-sanitizer: {about['sanitizer'].splitlines()[-1]}; {about['gpu']}; {about['date']}\n")
    head, edge = ("| fault | softlab | compute-sanitizer |\n|---|---|---|", "| ") if markdown else ("", "")
    print(head)
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for planted in PLANTED:
        found = row(planted)
        beside = "; ".join(f"{tool}: {words}" for tool, words in found.sanitizer.items()) or "-"
        cells = (f"{planted.kind}: {planted.name}", found.softlab or "-", beside)
        if markdown:
            print(f"{edge}{' | '.join(cells)} |")
        else:
            print(f"{cells[0]:66} {cells[1]:36} {cells[2]}")
        reports = any(words != "hangs" for words in found.sanitizer.values())
        right = "not as planted" not in found.softlab and bool(found.softlab)
        for column, counted in enumerate((True, right, reports, found.at_the_line)):
            sums[planted.kind][column] += counted
    print(f"\n{'kind':24} planted, softlab right, sanitizer reports something, at the line")
    for kind, counts in sums.items():
        print(f"{kind:24} {counts}")
    print("\ngood kernels under each tool:")
    for tool, answer in recorded()["good"].items():
        print(f"{tool:24} {answer['ran']} of {answer['of']} ran; {answer['says'] or 'no report'} {answer['places']}")


if __name__ == "__main__":
    main("--markdown" in sys.argv[1:])
