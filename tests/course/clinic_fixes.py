"""Fixes of the clinic's bugs by another author than that of the bugs: wrong ones and right ones in unusual form.

``python -m tests.course.clinic_fixes --batch fourth`` judges those of a batch and prints each verdict.
"""

from __future__ import annotations

import argparse
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from softlab import course

FOLDER = Path(__file__).parent / "fixes"
BATCHES = ("first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True)
class Fix:
    """One answer: its batch and bug, its place among those of the bug, the source; why it is wrong or right.

    hint: words that the verdict must have, "" for a right one.
    """

    batch: str
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
        Fix(batch, bug, place, _source(bug, fix), kind == "right", fix.get("why") or fix["cause"], fix.get("hint", ""))
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


def main(arguments: list[str] | None = None) -> None:
    """Judge the fixes of one or more batches, and print each with what is wrong with it and what it is told."""
    options = argparse.ArgumentParser(prog="python -m tests.course.clinic_fixes", description=main.__doc__)
    options.add_argument("--batch", choices=BATCHES, action="append", help="all batches, if none is named")
    options.add_argument("--bug", help="those of one bug only, such as one-slot")
    options.add_argument("--right", action="store_true", help="the right fixes only")
    options.add_argument("--wrong", action="store_true", help="the wrong fixes only")
    options.add_argument("--source", action="store_true", help="the code, too")
    chosen = options.parse_args(arguments)
    kinds = {True, False} if chosen.right == chosen.wrong else {chosen.right}
    refused = Counter[tuple[bool, bool]]()
    for fix in (fix for batch in chosen.batch or BATCHES for fix in fixes(batch)):
        if fix.right not in kinds or chosen.bug not in (None, fix.bug):
            continue
        verdict = course.bug(fix.bug).exercise.judge(fix.source)
        refused[fix.right, verdict.state != "right"] += 1
        code = f"{fix.source}\n" if chosen.source else ""
        print(f"## {fix.batch} {fix.name}: {verdict.state}\n{code}is: {fix.why}\nsays: {verdict.message}\n", flush=True)
    wrong, right = (refused[kind, True] + refused[kind, False] for kind in (False, True))
    print(f"refused: {refused[False, True]} of {wrong} wrong fixes, {refused[True, True]} of {right} right ones")


if __name__ == "__main__":
    main()
