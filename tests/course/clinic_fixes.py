"""Fixes of the clinic's bugs by another author than that of the bugs: wrong ones and right ones in unusual form.

``python -m tests.course.clinic_fixes first`` judges them and prints each verdict.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from softlab import course

FOLDER = Path(__file__).parent / "fixes"
BATCHES = ("first", "second", "third")


@dataclass(frozen=True)
class Fix:
    """One answer: the name of its bug, its place among those of the bug, the source; why it is wrong or right.

    hint: words that the verdict must have, "" for a right one.
    """

    bug: str
    place: int
    source: str
    right: bool
    why: str
    hint: str = ""

    @property
    def name(self) -> str:
        return f"{self.bug}-{'right' if self.right else 'wrong'}-{self.place}"


@cache
def fixes(batch: str) -> tuple[Fix, ...]:
    """The fixes of ``fixes/<batch>.toml``."""
    written = tomllib.loads((FOLDER / f"{batch}.toml").read_text())
    return tuple(
        Fix(bug, place, _source(bug, fix), kind == "right", fix.get("why") or fix["cause"], fix.get("hint", ""))
        for bug, kinds in written.items()
        for kind in ("wrong", "right")
        for place, fix in enumerate(kinds.get(kind, ()))
    )


def _source(bug: str, fix: dict[str, str]) -> str:
    if "source" in fix:
        return fix["source"]
    lines = course.bug(bug).source.splitlines()
    for number, text in fix.items():
        if number.isdecimal():
            lines[int(number) - 1] = text
    return "\n".join(lines)


def main(batch: str) -> None:
    for fix in fixes(batch):
        verdict = course.bug(fix.bug).exercise.judge(fix.source)
        print(f"## {fix.name}: {verdict.state}\nis: {fix.why}\nsays: {verdict.message}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
