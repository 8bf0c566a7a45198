"""Which tests run which line, and how much CPU time each takes. ``cover`` records it, ``Selection`` reads it.

A fixture that tests share counts for each of them: its CPU time, and the lines that it runs.

A record outlives changes: ``Selection`` finds the recorded lines again by their text, and leaves out the tests that
there are no more.
"""

from __future__ import annotations

import ast
import difflib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import PurePath

from tests.mutation.cpu_times import Times
from tests.mutation.mutants import AREAS, RECORD, ROOT, Mutant, modules

#: Of the tests for a mutant: that many at most, and no more than these CPU seconds of them. Slower tests that run the
#: line come behind them, as far as all together take no more than the second number of seconds.
TESTS, SECONDS, WITH_SLOW = 1000, 20.0, 70.0

#: The tests of the mutated modules. The record of a group stands in files of its own, so that one can be made again.
#: Left out: notebooks and solutions of exercises, which run whole lessons.
GROUPS: dict[str, tuple[str, ...]] = {
    "dispatch": ("tests/plans", "tests/operators", "tests/hardware/test_occupancies.py"),
    "instruments": ("tests/instruments", "tests/test_findings.py", "tests/hardware/test_counters.py"),
    "machine": ("tests/hardware/test_machine_counters.py", "tests/hardware/test_cluster_counters.py"),
    "operators": (
        "tests/test_fused.py",
        "tests/test_functional.py",
        "tests/random_cases",
        "tests/timing/test_estimates.py",
        "tests/timing/test_what_if.py",
        "tests/cuda/test_exchange.py",
        "tests/cuda/test_workspaces.py",
    ),
    "emulator": (
        "tests/emulator",
        "tests/test_kernel.py",
        "tests/test_kernel_arguments.py",
        "tests/test_kernel_ptx.py",
        "tests/test_kernel_variables.py",
        "tests/test_device_launches.py",
    ),
    "grading": ("tests/course", "--ignore=tests/course/test_notebooks.py", "--ignore=tests/course/test_solutions.py"),
    "faults": ("tests/faults",),
    "records": ("tests/test_records.py",),
    "returned": ("tests/plans/test_returned_plans.py",),
}

#: What `.ci/run` runs of these tests: `further` cases would take several times as long to record.
MARKS = "not browser and not gpu and not further"
#: The module that compiles functions of Python: of those no line is seen to run.
_COMPILED = "softlab/emulator/machine/native_python.py"
#: How files of tests begin that see what each function returns.
RETURNED = "test_returned"
#: The group of the tests that no other group's record has: those written since.
NEWER = "newer"


def cover(groups: Sequence[str]) -> int:
    """Run the tests of these groups and keep which lines each of them runs; pytest's worst exit status."""
    RECORD.mkdir(exist_ok=True)
    (RECORD / "coverage.ini").write_text("[run]\nrelative_files = true\n")
    return max((_cover(group, _newer() if group == NEWER else GROUPS[group]) for group in groups), default=0)


def _newer() -> list[str]:
    groups = _groups()
    return sorted(collected(groups) - {test for group in groups for test in _times(group).tests})


def _cover(group: str, tests: Sequence[str]) -> int:
    traced = sorted({f"--cov={PurePath(pattern).parts[0]}/{PurePath(pattern).parts[1]}"
                     for patterns in AREAS.values() for pattern in patterns})  # fmt: skip
    times = RECORD / f"{group}.json"
    times.unlink(missing_ok=True)
    sources = {path: (ROOT / path).read_text().splitlines() for area in AREAS for path in modules(area)}
    (RECORD / f"{group}.sources.json").write_text(json.dumps(sources))
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", MARKS,
        "-p", "tests.mutation.cpu_times", f"--cpu-times={times}",
        *traced, f"--cov-config={RECORD / 'coverage.ini'}", "--cov-context=test", "--cov-report=", *tests,
    ]  # fmt: skip
    environment = {**os.environ, "COVERAGE_FILE": str(RECORD / f"{group}.coverage"), "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def _groups() -> list[str]:
    """The groups that have a record."""
    return [group for group in GROUPS if (RECORD / f"{group}.json").exists()]


def _times(group: str) -> Times:
    return Times(**json.loads((RECORD / f"{group}.json").read_text()))


def collected(groups: Sequence[str]) -> set[str]:
    """The ids of the tests of these groups as they are now."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", MARKS]
    command += [argument for group in groups for argument in GROUPS[group]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if answer.returncode:
        raise SystemExit(f"pytest cannot collect the tests:\n{answer.stdout[-2000:]}")
    return {line for line in answer.stdout.splitlines() if "::" in line}


def lines_then(before: Sequence[str], now: Sequence[str]) -> dict[int, int]:
    """The number of a line now -> its number before, for the lines that are the same; the first line is 1."""
    blocks = difflib.SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks()
    return {block.b + step + 1: block.a + step + 1 for block in blocks for step in range(block.size)}


@cache
def _imports_of(file: str) -> tuple[ast.ImportFrom | ast.Import, ...]:
    nodes = ast.walk(ast.parse((ROOT / file).read_text()))
    return tuple(node for node in nodes if isinstance(node, ast.ImportFrom | ast.Import))


@cache
def imports(file: str, module: str) -> bool:
    """Whether a file imports a module of softlab."""
    package, _, name = module.removesuffix(".py").replace("/", ".").rpartition(".")
    for node in _imports_of(file):
        if isinstance(node, ast.ImportFrom):
            if node.module == f"{package}.{name}" or (
                node.module == package and any(alias.name == name for alias in node.names)
            ):
                return True
        elif any(alias.name == f"{package}.{name}" for alias in node.names):
            return True
    return False


@cache
def runners(module: str) -> tuple[str, ...]:
    """Of a module that is compiled, also those beside it that import it: nobody is seen to run a line of it.

    So it is with those of them that have only parts of what others compile.
    """
    if not imports(module, _COMPILED) or module == _COMPILED:
        return (module,)
    beside = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / module).parent.glob("*.py"))]
    found = [module]
    for part in found:  # it grows
        if part == module or "CompiledFunction(" not in (ROOT / part).read_text():
            found += [one for one in beside if one not in found and imports(one, part)]
    return (module, *sorted(found[1:]))


class Selection:
    """Which tests run which line, as ``cover`` recorded it."""

    def __init__(self) -> None:
        groups = _groups()
        if not groups:
            raise SystemExit("No record of what the tests run. First: python -m tests.mutation cover")
        self.groups = [*groups, *([NEWER] if (RECORD / f"{NEWER}.json").exists() else ())]
        recorded = Times()
        for group in self.groups:
            for mine, more in zip(vars(recorded).values(), vars(_times(group)).values(), strict=True):
                mine |= more
        there = collected(groups)
        self._recorded = recorded
        #: CPU seconds of each test, where it runs alone.
        self.times: dict[str, float] = {test: self.cost([test]) for test in recorded.tests if test in there}
        gone, new = len(recorded.tests) - len(self.times), len(there - set(recorded.tests))
        if gone or new:
            print(f"{gone} recorded tests are no more and are left out, {new} tests are newer than the record and do "
                  f"not run. To record them: python -m tests.mutation cover {NEWER}", flush=True)  # fmt: skip

    @cache  # noqa: B019 - there is one Selection per command
    def _tests_by_line(self, path: str) -> dict[int, set[str]]:
        from coverage import CoverageData

        now = (ROOT / path).read_text().splitlines()
        found: dict[int, set[str]] = {}
        for group in self.groups:
            data = CoverageData(str(RECORD / f"{group}.coverage"))
            data.read()
            contexts = data.contexts_by_lineno(path)
            before = json.loads((RECORD / f"{group}.sources.json").read_text()).get(path, [])
            for line, then in lines_then(before, now).items():
                # A context is such as tests/test_a.py::test_b|run; a line that runs at import has an empty one.
                for context in contexts.get(then, ()):
                    test, _, phase = context.rpartition("|")
                    tests = {test, *(self._sharing(test) if phase == "setup" else ())}
                    found.setdefault(line, set()).update(tests & self.times.keys())
        return found

    @cache  # noqa: B019 - as above
    def _sharing(self, test: str) -> frozenset[str]:
        """The tests that use a fixture that was set up in this one."""
        made = set(self._recorded.makes.get(test, ()))
        return frozenset(other for other, used in self._recorded.uses.items() if made.intersection(used))

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests for a mutant: those that run its lines, the ones of its module first, then the quick ones.

        Of its module are the files that have its name or import it (:func:`runners`). Behind them come those that see
        what each function returns (``tests/returned.py``), because of all tests they notice most. Of the others those
        in the folder of tests that stands for the module's own come first.
        Behind them come those that run anything of the module, then those of its package: nobody is seen to run a line
        that runs at import, in a process that a test starts, or once for all tests because its result is kept.
        """
        by_line = self._tests_by_line(mutant.path)
        lines = range(mutant.start[0], mutant.end[0] + 1)
        exact = set().union(*(by_line.get(line, ()) for line in lines))
        module = set().union(*by_line.values())
        parts = PurePath(mutant.path).parts[1:-1]
        folder, nearest = f"tests/{parts[0]}/", f"tests/{'/'.join(parts)}/"

        seen: Counter[str] = Counter()

        @cache
        def own(file: str) -> bool:
            named = PurePath(file).stem.startswith(f"test_{PurePath(mutant.path).stem}")
            return named or any(imports(file, module) for module in runners(mutant.path))

        def order(test: str) -> tuple[bool, bool, bool, bool, bool, int, float, str]:
            seen[function := test.partition("[")[0]] += 1
            return (
                test not in exact,
                not own(test.partition("::")[0]),
                not PurePath(test.partition("::")[0]).stem.startswith(RETURNED),
                test not in module,
                not test.startswith(nearest),
                seen[function],
                self.times[test],
                test,
            )

        chosen: list[str] = []
        slow: list[str] = []
        known = [test for test in self.times if test in module or test.startswith(folder)]
        # The first case of each test, then the second of each: tests that differ find more than cases of one.
        for test in sorted(sorted(known, key=self.times.__getitem__), key=order):
            if len(chosen) >= TESTS:
                break
            if self.cost([*chosen, test]) <= SECONDS:
                chosen.append(test)
            elif test in exact:
                slow.append(test)
        for test in slow:
            if not chosen or self.cost([*chosen, test]) <= WITH_SLOW:
                chosen.append(test)
        return chosen

    def cost(self, tests: Sequence[str]) -> float:
        """The CPU seconds that these tests take in one process."""
        return self._recorded.of(tests)
