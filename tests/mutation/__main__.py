"""Do the tests bite? Changes of softlab, one at a time, each with the tests that run the changed line.

    python -m tests.mutation cover               # once: which test runs which line, and how long each test takes
    python -m tests.mutation run --count 200     # 200 mutants, drawn at random; a mutant takes some seconds

cosmic-ray makes the mutants (``pip install "softlab[mutation]"``). A mutant is killed when a test fails. Each survivor
is printed with its change. Two kinds are left out, since they change no behaviour: changes of annotations, by rule, and
those in ``equivalent.json``, each with a reason. The exit status is 1 where fewer than 95 % are killed.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutation.mutants import AREAS, ROOT, Mutant, difference, sample
from tests.mutation.trees import checkout, passes

#: What ``cover`` leaves for ``run``; git ignores it.
RECORD = ROOT / ".mutation"
#: The share of mutants that the tests must kill.
GOAL = 0.95
#: Of the tests that run a line: that many at most, the quickest first, and no more than these seconds of them.
TESTS, SECONDS = 80, 60.0


def cover(options: Sequence[str]) -> int:
    """Run the tests and keep which lines each of them runs; pytest's exit status."""
    RECORD.mkdir(exist_ok=True)
    (RECORD / "times.json").unlink(missing_ok=True)
    report = RECORD / "junit.xml"
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not browser and not gpu",
        "--cov=softlab", "--cov-context=test", "--cov-report=", f"--junitxml={report}", "-o", "junit_family=xunit1",
        *(options or ["-n", str(os.cpu_count()), "tests"]),
    ]  # fmt: skip
    environment = {**os.environ, "COVERAGE_FILE": str(RECORD / "coverage"), "PYTHONPATH": str(ROOT)}
    status = subprocess.run(command, cwd=ROOT, env=environment).returncode
    if status == 0:
        cases = ElementTree.parse(report).getroot().iter("testcase")
        times = {f"{case.get('file')}::{_test_name(case)}": float(case.get("time", 0)) for case in cases}
        (RECORD / "times.json").write_text(json.dumps(times))
    return status


def _test_name(case: ElementTree.Element) -> str:
    """The part of a test's id after its file: ``TestClass::test_name[case]``."""
    module = (case.get("file") or "").removesuffix(".py").replace("/", ".")
    classes = (case.get("classname") or "").removeprefix(module).strip(".")
    return "::".join(filter(None, [*classes.split("."), case.get("name")]))


class Selection:
    """Which tests run which line, as ``cover`` recorded it."""

    def __init__(self) -> None:
        from coverage import CoverageData

        if not (RECORD / "times.json").exists():
            raise SystemExit("No record of what the tests run. First: python -m tests.mutation cover")
        self.data = CoverageData(str(RECORD / "coverage"))
        self.data.read()
        self.times: dict[str, float] = json.loads((RECORD / "times.json").read_text())

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests for a mutant, the quickest first: those that run its lines, else those that run its module."""
        contexts = self.data.contexts_by_lineno(str(ROOT / mutant.path))
        lines = range(mutant.start[0], mutant.end[0] + 1)
        found = {_test_of(context) for line in lines for context in contexts.get(line, ())} - {""}
        found = found or {_test_of(context) for listed in contexts.values() for context in listed} - {""}
        chosen: list[str] = []
        total = 0.0
        for test in sorted(found & set(self.times), key=lambda test: (self.times[test], test)):
            total += self.times[test]
            if len(chosen) >= TESTS or (chosen and total > SECONDS):
                break
            chosen.append(test)
        return chosen


def _test_of(context: str) -> str:
    """The test's id of a coverage context such as ``tests/test_a.py::test_b|run``."""
    return context.rpartition("|")[0]


def run(asked: argparse.Namespace) -> int:
    """Judge a sample of mutants and print the survivors; the exit status."""
    start, score = time.perf_counter(), Counter[tuple[str, bool]]()
    selection = Selection()
    drawn = sample(asked.area or sorted(AREAS), asked.count, asked.seed, asked.only)
    with tempfile.TemporaryDirectory(prefix="softlab-mutation-") as parent:
        folders: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(asked.processes):
            folders.put(checkout(ROOT, Path(parent) / str(number)))

        def judge(pair: tuple[Mutant, str]) -> bool:
            """Whether the mutant survives."""
            (mutant, code), folder = pair, folders.get()
            target = folder / mutant.path
            before = target.read_text()
            try:
                target.write_text(code)
                tests = selection.tests(mutant)
                return not tests or passes(folder, tests, asked.seconds)
            finally:
                target.write_text(before)
                folders.put(folder)

        with ThreadPoolExecutor(asked.processes) as pool:
            for (mutant, code), alive in zip(drawn, pool.map(judge, drawn), strict=True):
                score[mutant.area, not alive] += 1
                if alive:
                    before, after = difference((ROOT / mutant.path).read_text(), code)
                    tests = len(selection.tests(mutant))
                    where = f"{mutant.path}:{mutant.start[0]}"
                    print(f"SURVIVED {tests} tests: {where} {mutant.operator}\n  - {before}\n  + {after}", flush=True)
    for area in sorted({area for area, _ in score}):
        print(f"{area:12} {score[area, True]:4} of {score[area, True] + score[area, False]:4} killed")
    killed = sum(times for (_, dead), times in score.items() if dead)
    print(f"{killed} of {len(drawn)} killed, seed {asked.seed}, {time.perf_counter() - start:.0f} s")
    return int(killed < GOAL * len(drawn))


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    covering = commands.add_parser("cover", help="run the tests and record which lines each runs")
    covering.add_argument("options", nargs="*", help="for pytest, after --: default all tests, on all cores")
    running = commands.add_parser("run", help="judge a sample of mutants")
    running.add_argument("--count", type=int, default=100, help="mutants, drawn evenly from the areas")
    running.add_argument("--seed", type=int, default=0)
    running.add_argument("--area", choices=sorted(AREAS), action="append", help="default: all")
    running.add_argument("--only", default="", help="only modules whose path contains this")
    running.add_argument("--processes", type=int, default=os.cpu_count())
    running.add_argument("--seconds", type=float, default=300, help="limit per mutant; one that exceeds it is killed")
    asked = parser.parse_args(arguments)
    return cover(asked.options) if asked.command == "cover" else run(asked)


if __name__ == "__main__":
    sys.exit(main())
