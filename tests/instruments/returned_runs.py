"""What each function of the emulator and the instruments returns while kernels run: see :mod:`tests.returned`.

The kernels: planted faults and good kernels with all checks, random programs of PTX and
random loops in both ways of execution, and launches with all counters. The digests hold for one compiler: another one
makes other PTX.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from softlab.kernel import Kernel
from tests.faults.registry import BUDGET, Case, good_cases, planted_cases
from tests.fuzz import loops, programs
from tests.hardware.cases import CounterCase, all_cases
from tests.returned import Recorded, text

#: The functions here, too: they give all that a run says.
FOLDERS = ("softlab/emulator", "softlab/instruments", "softlab/findings.py", "tests/instruments/returned_runs.py")
#: The compiler that made the PTX of the recorded runs.
COMPILER = "12.9"
#: Parts of the faults and of the good kernels, and how many cases lie between two of one part.
PARTS, APART = 8, 170
#: Launches of which all counters are taken, one in so many, and those of one part.
EVERY, TOGETHER = 16, 3
#: More threads than that take too long here.
THREADS = 384
#: Random loops, and the random programs of one part.
LOOPS, PROGRAMS = 6, 20


def _said(run: Any) -> str:
    """All that a run says."""
    return "\n".join([*(text(one) for one in run.findings), text(dict(run.counters)) if run.instructions else ""])


def _faults(cases: list[Case]) -> list[str]:
    said = []
    for case in cases:
        kernel = Kernel.from_program(case.compile())
        said.append(_said(kernel.run(
            case.grid, case.block, case.arguments(), case.smem, check="collect", cooperative=case.cooperative,
            record=False, budget=BUDGET,
        )))  # fmt: skip
    return said


def _counted(cases: list[CounterCase]) -> list[str]:
    said = []
    for case in cases:
        launch = case.launch()
        kernel = Kernel.from_program(launch.compile())
        run = kernel.run(launch.grid, launch.block, case.arguments(), smem=launch.smem, check=False)
        records = (text(getattr(run.global_, field.name)) for field in fields(run.global_))
        said.append(f"{_said(run)} {', '.join(records)}")
    return said


def _programs(first: int) -> list[str]:
    drawn = [programs.ptx_program(number) for number in range(first, first + PROGRAMS)]
    module = programs.together(drawn)
    return [text(programs.emulated(program, module)) for program in drawn]


def _loops(number: int, how: str) -> list[str]:
    words, floats, turns, blocks, threads = loops.launch(number)
    y = words.repeat(8)[: blocks * threads].copy()
    run = loops.kernel(number).run(
        blocks, threads, (words, floats, y, turns), compiled=how, check="collect", budget=60_000
    )  # fmt: skip
    return [text(y), _said(run)]


def _cases() -> list[Case]:
    cases = (case for case in planted_cases() + good_cases() if case.refusal is None)
    return [case for case in cases if prod(case.grid) * prod(case.block) <= THREADS]


def _work() -> dict[str, Callable[[], object]]:
    cases, counted = _cases(), all_cases()[::EVERY]
    found: dict[str, Callable[[], object]] = {}
    for part in range(PARTS):
        found[f"faults {part}"] = partial(_faults, cases[part * (APART // PARTS) :: APART])
    for start in range(0, len(counted), TOGETHER):
        found[f"counters {start // TOGETHER}"] = partial(_counted, counted[start : start + TOGETHER])
    for number in range(LOOPS):
        how = ("none", "all")[number % 2]
        found[f"loops {number}, compiled: {how}"] = partial(_loops, number, how)
    return found | {f"programs {first}": partial(_programs, first) for first in (1000, 2000)}


RECORDED = Recorded(FOLDERS, _work(), Path(__file__).parents[1] / "data" / "returned_runs.json")
