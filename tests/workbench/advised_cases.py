"""Kernels with a problem that a rule of the advice names, the same work after the advice was followed, and kernels
without the problem: ``advised/*.cu``, a file per rule.

A comment ``//! problem | KEY VALUE | ...`` says how the kernel below it is launched. A ``repaired`` kernel belongs to
the problem above it and takes the keys that it does not give from there. A ``clean`` kernel does not have the problem.

| key | value |
|---|---|
| ``grid``, ``block``, ``smem``, ``args`` | as on the command line |
| ``N`` | what N stands for in the others: in the tests, and where the time matters |
| ``layout other`` | the repaired form takes its data in another order, so the results are not compared |
| ``close`` | the results are equal within rounding, since the order of the additions differs |

``// <- RULE, RULE`` marks a line that these rules speak of: all rules, not only that of the file. On the line with the
kernel's name it marks the whole launch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from softlab.workbench.launches import FileLaunch, LaunchRequest, file_launch

FOLDER = Path(__file__).parent / "advised"
_COMMENT = re.compile(r"//! (problem|repaired|clean)\b(.*)")
_KERNEL = re.compile(r"\b(\w+)\(")
_MARK = re.compile(r"// <- ([\w, -]+)$")
#: The words N, / and names of constants that the files define.
_WORDS = {"EDGE": 16}


@dataclass(frozen=True, eq=False)
class Case:
    """A kernel of a file and its launch. ``said``: (rule, line) of all that the advice says, None for the launch."""

    rule: str
    kind: str
    name: str
    line: int
    keys: dict[str, str]
    said: frozenset[tuple[str, int | None]]

    @property
    def file(self) -> Path:
        """Where the kernel is."""
        return FOLDER / f"{self.rule}.cu"

    def request(self, large: bool = False) -> LaunchRequest:
        """The launch with the small or the large N."""
        n = self.keys["N"].split()[large]
        grid, block, args = (_with(self.keys[key], n) for key in ("grid", "block", "args"))
        grid = ",".join(str(_whole(one)) for one in grid.split(","))
        return LaunchRequest(str(self.file), self.name, grid, block, int(self.keys.get("smem", 0)), args)

    def launch(self, large: bool = False) -> FileLaunch:
        """The same, compiled for an H200."""
        return file_launch(self.request(large), "sm_90")


def _with(text: str, n: str) -> str:
    text = re.sub(r"\bN\b", n, text)
    for word, value in _WORDS.items():
        text = re.sub(rf"\b{word}\b", str(value), text)
    return text.replace("/", "//")


def _whole(text: str) -> int:
    """The value of a calculation with integers, such as "64//16-1"."""
    assert re.fullmatch(r"[0-9+*/-]+", text), text
    return int(eval(text))


@cache
def cases(rule: str) -> tuple[Case, ...]:
    """The cases of a file, in their order."""
    lines = (FOLDER / f"{rule}.cu").read_text().splitlines()
    found: list[Case] = []
    last: dict[str, str] = {}
    starts = [n for n, line in enumerate(lines) if _COMMENT.match(line)]
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        kind, rest = _COMMENT.match(lines[start]).groups()  # type: ignore[union-attr]
        own = dict((*one.strip().split(" ", 1), "")[:2] for one in rest.split("|") if one.strip())
        keys = {**last, **own} if kind == "repaired" else own
        last = own if kind == "problem" else last
        head = start + 1
        name = _KERNEL.search(re.sub(r"__launch_bounds__\([^)]*\)", "", lines[head]))[1]  # type: ignore[index]
        said = {
            (word, n + 1 if n != head else None)
            for n in range(start, stop)
            if (mark := _MARK.search(lines[n]))
            for word in re.split(r",\s*", mark[1])
        }
        found.append(Case(rule, kind, name, head + 1, keys, frozenset(said)))
    return tuple(found)


def pairs(rule: str) -> tuple[tuple[Case, Case], ...]:
    """(the problem, its repaired form) of a file."""
    all_of = cases(rule)
    return tuple((a, b) for a, b in pairwise(all_of) if (a.kind, b.kind) == ("problem", "repaired"))
