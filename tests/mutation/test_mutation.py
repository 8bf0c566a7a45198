"""The mutation run notices what tests miss."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.mutation.mutants import behaviour, difference
from tests.mutation.trees import checkout, passes

MODULE = "def double(x: int) -> int:\n    return x * 2\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout with one module and two tests: one bites, one does not."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "module.py").write_text(MODULE)
    (root / "test_module.py").write_text(
        "from module import double\n\n"
        "def test_bites():\n    assert double(3) == 6\n\n"
        "def test_sleeps():\n    assert double(0) == 0\n"
    )
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    return checkout(root, tmp_path / "copy")


def test_a_test_that_bites_kills(tree: Path) -> None:
    bites, sleeps = "test_module.py::test_bites", "test_module.py::test_sleeps"
    assert passes(tree, [bites, sleeps], 60)
    (tree / "module.py").write_text(MODULE.replace("*", "+"))  # the same size: only the contents tell
    assert not passes(tree, [bites], 60)
    (tree / "module.py").write_text(MODULE.replace("2", "5"))
    assert passes(tree, [sleeps], 60)
    assert not passes(tree, [sleeps, bites], 60)
    assert not passes(tree, [sleeps], 0.01), "a mutant that hangs is killed"


def test_a_changed_annotation_is_no_mutant() -> None:
    assert behaviour(MODULE) == behaviour(MODULE.replace("-> int", "-> float"))
    assert behaviour(MODULE) != behaviour(MODULE.replace("*", "+"))


def test_the_changed_line_is_shown() -> None:
    assert difference(MODULE, MODULE.replace("*", "+")) == ("return x * 2", "return x + 2")
