"""The mutation run notices what tests miss."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.mutation import covering
from tests.mutation.covering import GROUPS, Selection, imports, lines_then, runners
from tests.mutation.cpu_times import Times
from tests.mutation.mutants import EQUIVALENT, ROOT, Mutant, behaviour, difference
from tests.mutation.trees import Tree, checkout

MODULE = "def double(x: int) -> int:\n    return x * 2\n"


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
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
    copy = Tree(checkout(root, tmp_path / "copy"))
    yield copy
    copy.close()


def failure(tree: Tree, *tests: str, seconds: float = 60) -> str | None:
    """The first of these tests that fails or takes too long."""
    return tree.failure(dict.fromkeys(tests, seconds), seconds)


@pytest.mark.further
def test_a_test_that_bites_kills(tree: Tree) -> None:
    bites, sleeps = "test_module.py::test_bites", "test_module.py::test_sleeps"
    assert failure(tree, bites, sleeps) is None
    (tree.folder / "module.py").write_text(MODULE.replace("*", "+"))  # the same size: only the contents tell
    assert failure(tree, bites) == bites
    (tree.folder / "module.py").write_text(MODULE.replace("2", "5"))
    assert failure(tree, sleeps) is None
    assert failure(tree, sleeps, bites) == bites
    (tree.folder / "module.py").write_text("no module\n")
    assert failure(tree, sleeps) not in (None, bites), "a mutant that cannot be imported is killed"
    (tree.folder / "module.py").write_text("while True:\n    pass\n")
    assert failure(tree, sleeps, seconds=1) == "too long", "a mutant that hangs is killed"
    (tree.folder / "module.py").write_text("def double(x):\n    while x:\n        pass\n    return x\n")
    assert failure(tree, sleeps, bites, seconds=1) == bites, "so is one that hangs in a test"
    (tree.folder / "module.py").write_text(MODULE)
    assert failure(tree, bites) is None, "the process goes on after a mutant that hangs"


@pytest.mark.further
def test_a_test_that_fails_twice_is_named_once(tree: Tree) -> None:
    (tree.folder / "test_twice.py").write_text(
        "import pytest\n\n@pytest.fixture\ndef broken():\n    yield\n    raise OSError\n\n"
        "def test_twice(broken):\n    raise OSError\n"
    )
    assert failure(tree, "test_twice.py::test_twice") == "test_twice.py::test_twice"


@pytest.mark.further
def test_a_test_that_is_no_more_kills_nothing(tree: Tree) -> None:
    bites, gone = "test_module.py::test_bites", "test_module.py::test_gone"
    assert failure(tree, gone, bites) is None
    (tree.folder / "module.py").write_text(MODULE.replace("2", "5"))
    assert failure(tree, gone, bites) == bites
    for nowhere in (gone, "test_nothing.py::test_gone"):
        with pytest.raises(RuntimeError, match="test_gone"):
            failure(tree, nowhere)


def test_a_record_outlives_changes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys) -> None:
    assert lines_then(["a", "b", "c"], ["new", "a", "c"]) == {2: 1, 3: 3}
    (tmp_path / "dispatch.json").write_text(json.dumps({"tests": {"t.py::kept": 1.0, "t.py::gone": 2.0}}))
    monkeypatch.setattr(covering, "RECORD", tmp_path)
    monkeypatch.setattr(covering, "collected", lambda groups: {"t.py::kept", "t.py::new"})
    assert Selection().times == {"t.py::kept": 1.0}
    said = capsys.readouterr().out
    assert "1 recorded tests are no more" in said
    assert "1 tests are newer" in said


def test_a_changed_annotation_is_no_mutant() -> None:
    assert behaviour(MODULE) == behaviour(MODULE.replace("-> int", "-> float"))
    assert behaviour(MODULE) != behaviour(MODULE.replace("*", "+"))
    assert behaviour("zip(a, b, strict=True)") == behaviour("zip(a, b, strict=False)") != behaviour("zip(a)")


def test_a_negative_size_is_the_one_that_follows_from_the_others() -> None:
    assert behaviour("a.reshape(-1, 4)") == behaviour("a.reshape(- 2, 4)") != behaviour("a.reshape(0, 4)")
    assert behaviour("a.reshape(-1, 4)") == behaviour("a.reshape(~1, 4)") == behaviour("a.reshape(~0, 4)")
    assert behaviour("a.reshape(-0, 4)") != behaviour("a.reshape(-1, 4)") != behaviour("a.reshape(not 1, 4)")
    assert behaviour("a.reshape(-1)") != behaviour("a.reshape(+1)")
    assert behaviour("a.sum(-1)") != behaviour("a.sum(-2)")
    assert {np.zeros(24).reshape(size, 4).shape for size in (-1, -2, ~0, ~1)} == {(6, 4)}


def test_the_changed_line_is_shown() -> None:
    assert difference(MODULE, MODULE.replace("*", "+")) == ("return x * 2", "return x + 2")


def test_what_counts_as_equivalent_is_in_the_code() -> None:
    entries = json.loads(EQUIVALENT.read_text())
    for entry in entries:
        lines = [line.strip() for line in (ROOT / entry["path"]).read_text().splitlines()]
        assert entry["before"] in lines, f"{entry['path']} has no such line any more: {entry['before']}"
        assert entry["after"] not in lines
        assert len(entry["reason"]) > 20, entry
    assert len({(entry["path"], entry["after"]) for entry in entries}) == len(entries)


def test_the_folders_of_tests_exist() -> None:
    paths = [path for group in GROUPS.values() for path in group]
    assert all((ROOT / path.removeprefix("--ignore=")).exists() for path in paths)


def selection_of(times: Times) -> Selection:
    """A selection from a record of times alone."""
    selection = Selection.__new__(Selection)
    selection._recorded, selection.times = times, {test: times.of([test]) for test in times.tests}
    return selection


def test_tests_that_run_the_line_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"line": "tests/views/test_b.py::line", "own": "tests/plans/test_fast.py::own",
             "module": "tests/views/test_b.py::module", "folder": "tests/plans/test_c.py::folder",
             "other": "tests/views/test_c.py::other"}  # fmt: skip
    selection = selection_of(Times(dict.fromkeys(names.values(), 1.0)))
    lines = {3: {"", names["line"], names["own"]}, 9: {names["module"]}}
    monkeypatch.setattr(covering, "imports", lambda file, module: False)
    monkeypatch.setattr(Selection, "_tests_by_line", lambda self, path: lines)
    mutant = Mutant("dispatch", "softlab/plans/fast.py", "operator", 0, (3, 0), (3, 4))
    assert selection.tests(mutant) == [names[name] for name in ("own", "line", "module", "folder")]
    selection = selection_of(Times({test: 30.0 if test == names["line"] else 1.0 for test in names.values()}))
    assert selection.tests(mutant) == [names[name] for name in ("own", "module", "folder", "line")]
    selection = selection_of(Times({test: 100.0 if test == names["line"] else 1.0 for test in names.values()}))
    assert selection.tests(mutant) == [names[name] for name in ("own", "module", "folder")]
    selection = selection_of(Times(dict.fromkeys(names.values(), 100.0)))
    assert selection.tests(mutant) == [names["own"]], "one test runs, however slow it is"


def test_of_the_tests_of_a_line_those_in_its_folder_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of an opcode runs in most kernels: the tests of the opcodes say the most about it."""
    far, near = "tests/emulator/test_atomics.py::far", "tests/emulator/opcodes/test_compiled.py::near"
    selection = selection_of(Times({far: 0.1, near: 1.0}))
    monkeypatch.setattr(covering, "imports", lambda file, module: False)
    monkeypatch.setattr(Selection, "_tests_by_line", lambda self, path: {3: {far, near}})
    mutant = Mutant("emulator", "softlab/emulator/opcodes/integer.py", "operator", 0, (3, 0), (3, 4))
    assert selection.tests(mutant) == [near, far]


def test_tests_of_what_functions_return_come_before_the_others_of_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    near, sees = "tests/emulator/opcodes/test_compiled.py::near", "tests/plans/test_returned_plans.py::sees"
    own = "tests/emulator/opcodes/test_integer.py::own"
    selection = selection_of(Times({near: 0.1, sees: 2.0, own: 3.0}))
    monkeypatch.setattr(covering, "imports", lambda file, module: False)
    monkeypatch.setattr(Selection, "_tests_by_line", lambda self, path: {3: {near, sees, own}})
    mutant = Mutant("emulator", "softlab/emulator/opcodes/integer.py", "operator", 0, (3, 0), (3, 4))
    assert selection.tests(mutant) == [own, sees, near]


SHARING = """import time

import pytest


@pytest.fixture(scope="module")
def shared():
    start = time.process_time()
    while time.process_time() < start + 0.3:
        pass


def test_first(shared):
    pass


def test_second(shared):
    pass


def test_alone():
    pass
"""


def test_a_fixture_that_tests_share_counts_for_each_of_them(tmp_path: Path) -> None:
    (tmp_path / "test_sharing.py").write_text(SHARING)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.mutation.cpu_times"]
    command += [f"--cpu-times={tmp_path / 'times.json'}", "--rootdir", str(tmp_path), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    times = Times(**json.loads((tmp_path / "times.json").read_text()))
    first, second, alone = (f"test_sharing.py::test_{name}" for name in ("first", "second", "alone"))
    assert max(times.tests.values()) < 0.2 < 0.3 <= times.of([first]) < times.of([first, second]) < 0.5
    assert times.of([second]) >= 0.3 > 0.2 > times.of([alone])
    assert times.uses[first] == times.uses[second] == times.makes[first]
    selection = selection_of(times)
    assert selection._sharing(first) == {first, second}
    assert selection._sharing(second) == selection._sharing(alone) == frozenset()


def test_which_files_import_a_module() -> None:
    here = "tests/mutation/test_mutation.py"
    assert [imports(here, f"tests/mutation/{name}.py") for name in ("covering", "trees", "warm")] == [True, True, False]


def test_a_compiled_module_is_run_by_those_that_import_it() -> None:
    """No test is seen to run its lines, so the tests of what calls it count as its own."""
    nodes, order = (f"softlab/instruments/{name}.py" for name in ("known_nodes", "native_order"))
    assert runners(nodes)[0] == nodes
    assert order in runners(nodes)
    plain = "softlab/instruments/happens_before.py"
    assert imports(order, plain)
    assert runners(plain) == (plain,)
