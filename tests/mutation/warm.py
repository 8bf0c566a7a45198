"""A process that has imported what the tests need, and forks for each mutant.

To import pytest, NumPy and LLVM costs more than most tests. Nothing of softlab is imported before the fork, so a
mutant's tests import the changed module. One JSON line per request, {"tests": [...], "seconds": ...}; one per answer:
[pytest's exit status, or less than 0 where the tests took too long, and the test that failed, or ""].
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import time
from typing import Any

#: What softlab and its tests import.
PACKAGES = ("numpy", "ml_dtypes", "llvmlite.binding", "llvmlite.ir", "hypothesis", "pytest", "tree_sitter",
            "tree_sitter_cuda", "tqdm", "rich.console", "filelock", "platformdirs", "nbformat", "joblib")  # fmt: skip


#: Exit statuses that show nothing about a mutant: pytest itself raised, or it found none of the tests.
RAISED, NOT_FOUND = 70, 71
#: Of pytest: wrong arguments, such as a file that does not exist; no test was there.
_USAGE, _NONE = 4, 5


class _Asked:
    """A plugin of pytest: keeps of the collected tests those that are asked for, and writes the id of one that fails.

    A test that is asked for and is not there says nothing, so the others run.
    """

    def __init__(self, tests: list[str], pipe: int) -> None:
        self._tests, self._pipe = tests, pipe
        #: Whether pytest got as far as looking for tests.
        self.started = False

    def pytest_collection(self) -> None:
        self.started = True

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        there = {item.nodeid: item for item in items}
        items[:] = [there[test] for test in self._tests if test in there]

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            os.write(self._pipe, f"{report.nodeid}\n".encode())  # a test may fail twice: itself, and in its fixtures


def _child(tests: list[str], seconds: int, pipe: int) -> int:
    """Run the tests in this process, which has at most that much CPU time; the exit status.

    Where the mutant breaks what pytest imports first, pytest says "usage" before it looks for tests: that is a kill.
    """
    import pytest

    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(quiet, stream)
    # hypothesis is imported already, and pytest would warn that it cannot rewrite its assertions.
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "-W", "ignore:Module already"]
    asked = _Asked(tests, pipe)
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    status = int(pytest.main([*options, *files], plugins=[asked]))
    return NOT_FOUND if status == _NONE or (status == _USAGE and asked.started) else status


def _answer(tests: list[str], seconds: int) -> tuple[int, str]:
    """A process that waits takes no CPU time, so the wall clock ends it after ten times as long."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os._exit(_child(tests, seconds, write))
        except BaseException:
            os._exit(RAISED)
    os.close(write)
    end = time.monotonic() + 10 * seconds
    done = 0
    while not done and time.monotonic() < end:
        time.sleep(0.02)
        done, status = os.waitpid(child, os.WNOHANG)
    if not done:
        os.killpg(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    with os.fdopen(read, "rb") as pipe:
        os.set_blocking(read, False)  # a process that a test left behind may hold the other end
        failed = pipe.read()
    return os.waitstatus_to_exitcode(status), (failed or b"").decode().partition("\n")[0]


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
