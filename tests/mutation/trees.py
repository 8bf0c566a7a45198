"""Copies of the checkout in which mutants live, and the tests in them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.mutation.warm import NOT_FOUND, RAISED


def checkout(root: Path, folder: Path) -> Path:
    """A copy of the tracked files. Compiled modules are found by their contents, so that no change goes unseen."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
    for name in filter(None, map(os.fsdecode, listed.split(b"\0"))):
        if (root / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target)
    command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "."]
    subprocess.run(command, cwd=folder, check=True)
    return folder


class Tree:
    """A copy of the checkout, with a process in it that runs tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        warm = Path(__file__).with_name("warm.py")
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self._process = subprocess.Popen([sys.executable, "-P", str(warm)], cwd=folder, env=environment, **pipes)

    def failure(self, tests: Mapping[str, float], seconds: float) -> str | None:
        """The first of these tests that fails in this copy, or takes more than its CPU seconds; None if all pass.

        Where the tests cannot be imported in ``seconds``, the answer says so in words. A test that is not there is
        passed over; where none is there, RuntimeError.
        """
        request = {"tests": dict(tests), "seconds": seconds}
        print(json.dumps(request), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process that runs the tests ended, status {self._process.wait()}")
        status, failed = json.loads(answer)
        if status == RAISED:
            raise RuntimeError(f"pytest cannot run {next(iter(tests))} and the others here")
        if status == NOT_FOUND:
            raise RuntimeError(f"pytest finds neither {next(iter(tests))} nor the others")
        if not status:
            return None
        return failed or ("too long" if status < 0 else f"status {status}")

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
