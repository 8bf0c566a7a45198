"""The bug clinic under compute-sanitizer: 25 kernels with a bug, and a fix of each, on the GPU that is present.

    python -m tests.hardware.clinic --json tests/data/clinic_sanitizer_h200.json
    python -m tests.hardware.clinic --table tests/data/clinic_sanitizer_h200.json

Each kernel runs in a process of its own, first without a tool and then under memcheck, racecheck, initcheck and
synccheck, with the launches of its exercise. So a kernel that never ends, or whose fault ends the process, changes no
other answer. Each array is an allocation of its own. Memory that a kernel has to write first stays uninitialised, so
that initcheck may see a read of it. ``--table`` prints what the file says, in Markdown, and needs no GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from softlab import course
from softlab.course.exercises import first_difference
from softlab.course.kernels import FILE
from softlab.course.launch_cases import LaunchCase
from softlab.cuda import gpu
from softlab.hardware.devices import Device
from softlab.kernel import Kernel
from tests.course.answers import all_answers
from tests.hardware.random_cases import about
from tests.hardware.sanitize import CONTROLS, process, read, said

TOOLS = tuple(CONTROLS)
#: Seconds that a process may take. A kernel that never ends takes them all.
LIMIT = 40
#: Families of bugs that no tool of compute-sanitizer is for: the program is a valid one.
NOT_ITS_BUSINESS = ("numbers", "performance")
_PLACE = re.compile(rf"\bin \S*{re.escape(FILE)}:(\d+)")


def source(name: str, fixed: bool) -> str:
    """The kernel with its bug, or the first of its fixes."""
    return all_answers()[f"18-{name}"].right[0] if fixed else course.bug(name).source


def launched(name: str, fixed: bool) -> dict[str, Any]:
    """Run a kernel's launches on the GPU, without softlab's memory pool: how many, and which results are wrong."""
    import cupy

    cupy.cuda.set_allocator(None)
    exercise = course.bug(name).exercise
    kernel = Kernel(source(name, fixed), exercise.kernel, arch=Device.present().arch, file=FILE)
    wrong = [problem for launch in exercise.launches() if (problem := _wrong(kernel, launch))]
    return {"launches": len(list(exercise.launches())), "wrong": wrong}


def _wrong(kernel: Kernel, launch: LaunchCase) -> str:
    """What is wrong with the results of a launch; "" for nothing."""
    import cupy

    copies: dict[int, Any] = {}  # an array that is two arguments is one copy
    for array in launch.args.values():
        if isinstance(array, np.ndarray) and id(array) not in copies:
            copies[id(array)] = _on_gpu(array)
    args = {name: copies.get(id(value), value) for name, value in launch.args.items()}
    grid, block = (size if isinstance(size, tuple) else (size,) for size in (launch.grid, launch.block))
    given = [value if isinstance(value, cupy.ndarray) else np.int32(value) for value in args.values()]
    gpu.launch(kernel.program, grid, block, given, launch.smem)
    cupy.cuda.Device().synchronize()
    left = {name: args[name].get() for name in launch.expected}
    found = (first_difference(name, left[name], right, launch.relative) for name, right in launch.expected.items())
    return next((f"with {launch.about}, {problem}" for problem in found if problem), "")


def _on_gpu(array: np.ndarray) -> Any:
    """A copy, or memory without contents where the launch leaves it to the kernel to write all of it."""
    import cupy

    empty = array.dtype.kind == "f" and np.isnan(array).all()
    return cupy.empty(array.shape, array.dtype) if empty else cupy.asarray(array)


def under(tool: str, name: str, fixed: bool) -> dict[str, Any]:
    """One kernel under a tool; without one where it is ""."""
    watch = ["compute-sanitizer", "--tool", tool, "--print-limit", "20", "--show-backtrace", "device"] if tool else []
    command = [*watch, sys.executable, "-m", "tests.hardware.clinic", "--one", name, *(["--fixed"] if fixed else [])]
    done = read(process(command, LIMIT))
    ended = {"ended": "launches" in done, "wrong": done.get("wrong", [])[:1]}
    if not tool:
        return ended if ended["ended"] else {**ended, "output": done["output"][-300:]}
    lines = sorted({int(line) for line in _PLACE.findall(done["output"])})
    kept = {"errors": done["errors"], "says": next(iter(done["reports"]), ""), "lines": lines}
    return {**kept, **ended} if done["errors"] is not None else {**kept, **ended, "output": done["output"][-300:]}


def recorded(names: Sequence[str], jobs: int) -> dict[str, Any]:
    """All kernels without a tool and under each of them, ``jobs`` processes at a time."""
    asked = [(tool, name, fixed) for tool in ("", *TOOLS) for name in names for fixed in (False, True)]
    with ThreadPoolExecutor(jobs) as pool:
        answers = dict(zip(asked, pool.map(lambda one: under(*one), asked), strict=True))
    return {
        "command": "python -m tests.hardware.clinic",
        **about(),
        "sanitizer": re.findall(r"Version (\S+)", said(["compute-sanitizer", "--version"])),
        "bugs": {
            name: {
                kind: {tool or "without a tool": answers[tool, name, fixed] for tool in ("", *TOOLS)}
                for kind, fixed in (("bug", False), ("fix", True))
            }
            for name in names
        },
    }


def cell(answer: Mapping[str, Any], lines: Sequence[int]) -> str:
    """A tool's answer in the table: "both lines", "line 5", "no line", "-" for no report."""
    if answer["errors"] is None:
        return "did not end"
    if not answer["errors"]:
        return "-"
    named = [line for line in lines if line in answer["lines"]]
    if not named:
        return "no line"
    return "all its lines" if len(named) == len(lines) else f"line {' and '.join(map(str, named))}"


def result(answers: Mapping[str, Any]) -> str:
    """What came of the kernel on the GPU without a tool."""
    plain = answers["without a tool"]
    return "an error" if not plain["ended"] else "wrong" if plain["wrong"] else "right"


def table(record: Mapping[str, Any]) -> str:
    """A Markdown table: per bug what softlab finds, the result on the GPU without a tool, and what each tool says."""
    rows = [f"| bug | softlab | result on the GPU | {' | '.join(TOOLS)} |", f"|{'---|' * (3 + len(TOOLS))}"]
    for name, found in record["bugs"].items():
        bug = course.bug(name)
        first = bug.report()[0]
        lines = " and ".join(map(str, bug.lines))
        cells = (cell(found["bug"][tool], bug.lines) for tool in TOOLS)
        rows.append(f"| {name} | {first.kind}, line {lines} | {result(found['bug'])} | {' | '.join(cells)} |")
    return "\n".join(rows)


def alarms(record: Mapping[str, Any]) -> list[str]:
    """The fixes that a tool reports, or that are not right without one."""
    return [
        f"{name}, {tool}: {answer.get('says') or answer['wrong'] or 'it did not end'}"
        for name, found in record["bugs"].items()
        for tool, answer in found["fix"].items()
        if answer.get("errors", 0) != 0 or answer["wrong"] or not answer["ended"]
    ]


def found_by(record: Mapping[str, Any]) -> dict[str, list[str]]:
    """Per tool the bugs that it reports."""
    return {tool: [name for name, found in record["bugs"].items() if found["bug"][tool]["errors"]] for tool in TOOLS}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardware.clinic", description=__doc__)
    parser.add_argument("--json", type=Path, help="write the answers there")
    parser.add_argument("--table", type=Path, help="only print the table of such a file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    names = [bug.name for bug in course.bugs()]
    parser.add_argument("--bugs", nargs="+", default=names, choices=names, metavar="BUG")
    parser.add_argument("--one", choices=names, metavar="BUG", help="only run that kernel, in this process")
    parser.add_argument("--fixed", action="store_true", help="its fix, for --one")
    given = parser.parse_args(arguments)
    if given.table:
        record = json.loads(given.table.read_text())
        print(table(record), *alarms(record), sep="\n")
        return 0
    if given.one:
        print(json.dumps(launched(given.one, given.fixed)))
        return 0
    record = recorded(given.bugs, given.jobs)
    print(json.dumps({"found": found_by(record), "alarms": alarms(record)}, indent=1))
    if given.json:
        given.json.write_text(json.dumps(record) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
