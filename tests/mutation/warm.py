"""A process that has imported what the tests need, and forks for each mutant.

To import pytest, NumPy and LLVM costs more than most tests. Nothing of softlab is imported before the fork, so a
mutant's tests import the changed module. One JSON line per request, {"tests": {test: CPU seconds that it may take},
"seconds": those that the imports may take}; one per answer: [pytest's exit status, or less than 0 where something took
too long, and the test that failed or took too long, or ""].
"""

from __future__ import annotations

import importlib
import json
import math
import os
import resource
import signal
import sys
import tempfile
import time
from contextlib import suppress
from typing import Any

#: What softlab and its tests import.
PACKAGES = ("numpy", "ml_dtypes", "llvmlite.binding", "llvmlite.ir", "hypothesis", "pytest", "tree_sitter",
            "tree_sitter_cuda", "tqdm", "rich.console", "filelock", "platformdirs", "nbformat", "joblib")  # fmt: skip


#: Exit statuses that show nothing about a mutant: pytest itself raised, or it found none of the tests.
RAISED, NOT_FOUND = 70, 71
#: Of pytest: wrong arguments, such as a file that does not exist; no test was there.
_USAGE, _NONE = 4, 5


#: Seconds that a busy machine may leave a process waiting.
_PAUSE = 10


class _Asked:
    """A plugin of pytest: keeps of the collected tests those that are asked for, and writes how far it came.

    A line is + and the id of a test that starts, or ! and that of one that fails. A test that is asked for and is not
    there says nothing, so the others run.
    """

    def __init__(self, tests: dict[str, float], told: int) -> None:
        self._tests, self._told = tests, told
        #: Whether pytest got as far as looking for tests.
        self.started = False

    def pytest_collection(self) -> None:
        self.started = True

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        there = {item.nodeid: item for item in items}
        items[:] = [there[test] for test in self._tests if test in there]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        os.write(self._told, f"+{nodeid}\n".encode())
        _allow(self._tests[nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            os.write(self._told, f"!{report.nodeid}\n".encode())  # a test may fail twice: itself, and in its fixtures


def _allow(seconds: float) -> None:
    """End this process after that much more CPU time. A process that waits takes none: it has four times as long."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), most))
    signal.alarm(math.ceil(4 * seconds) + _PAUSE)


def _child(tests: dict[str, float], seconds: float, told: int) -> int:
    """Run the tests in this process; the exit status.

    Where the mutant breaks what pytest imports first, pytest says "usage" before it looks for tests: that is a kill.
    """
    import pytest

    os.setsid()
    _allow(seconds)
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(quiet, stream)
    # hypothesis is imported already, and pytest would warn that it cannot rewrite its assertions.
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "-W", "ignore:Module already"]
    asked = _Asked(tests, told)
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    status = int(pytest.main([*options, *files], plugins=[asked]))
    return NOT_FOUND if status == _NONE or (status == _USAGE and asked.started) else status


def _answer(tests: dict[str, float], seconds: float) -> tuple[int, str]:
    with tempfile.TemporaryFile() as told:
        child = os.fork()
        if not child:
            try:
                os._exit(_child(tests, seconds, told.fileno()))
            except BaseException:
                os._exit(RAISED)
        _, status = os.waitpid(child, 0)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what a test left behind
        told.seek(0)
        said = told.read().decode().splitlines()
    code = os.waitstatus_to_exitcode(status)
    failed = [line[1:] for line in said if line[0] == "!"] or [line[1:] for line in said[-1:] if code < 0]
    return code, failed[0] if failed else ""


def main() -> None:
    """Answer requests until the input ends."""
    for name in PACKAGES:
        importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(_answer(request["tests"], request["seconds"])), file=answers, flush=True)


if __name__ == "__main__":
    main()
