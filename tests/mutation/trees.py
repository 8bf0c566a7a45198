"""Copies of the checkout in which mutants live, and the tests in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


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


def passes(folder: Path, tests: Sequence[str], seconds: float) -> bool:
    """Whether these tests pass in that copy, within this CPU time.

    A process that waits takes none, so the wall clock ends it after ten times as long.
    """
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    limit = max(1, round(seconds))
    command = ["sh", "-c", f'ulimit -t {limit}; exec "$@"', "sh", *command]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        return subprocess.run(command, cwd=folder, env=environment, timeout=10 * seconds, **quiet).returncode == 0
    except subprocess.TimeoutExpired:
        return False
