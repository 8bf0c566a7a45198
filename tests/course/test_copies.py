"""A learner's copies: nothing is spoiled in them, and an update never touches what the learner changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from softlab.course import copies
from softlab.errors import Error
from tests.tools.notebooks import NOTEBOOKS

NAME = "00-first.ipynb"


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("learner") / copies.FOLDER
    changes = copies.update(folder, NOTEBOOKS)
    assert {change.kind for change in changes} == {"new"}
    return folder


def test_no_verdict_and_no_output_is_in_a_working_copy(course):
    lessons = sorted(course.glob("*.ipynb"))
    assert [path.name for path in lessons] == [path.name for path in sorted(NOTEBOOKS.glob("*.ipynb"))]
    for path in lessons:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        for cell in notebook.cells:
            assert not cell.get("outputs"), (path.name, cell.id)
            assert cell.get("execution_count") is None, (path.name, cell.id)
        text = path.read_text()
        for verdict in ("The experiment shows", "You predicted", "softlab-verdict", "Not answered yet."):
            assert verdict not in text, path.name


def test_the_sources_of_the_cells_are_those_of_the_course(course):
    for path in NOTEBOOKS.glob("*.ipynb"):
        mine, theirs = (nbformat.read(found, as_version=4).cells for found in (course / path.name, path))
        assert [c.source for c in mine if c.cell_type == "code"] == [c.source for c in theirs if c.cell_type == "code"]


def test_links_lead_to_files_of_the_learners_folder(course):
    for path in [*course.glob("*.ipynb"), *course.glob("kernels/*.md")]:
        for target in copies_links(path):
            found = (path.parent / target).resolve()
            # One lesson links to a folder of recordings, which stays in the checkout.
            assert found.exists() or target == "sources/softlab/bench/data", (path.name, target)
            assert found.is_relative_to(course.resolve()), (path.name, target)


def copies_links(path: Path) -> list[str]:
    import re

    text = path.read_text()
    if path.suffix == ".ipynb":
        text = "\n".join(c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown")
    return [target for target in re.findall(r"(?:\]\(|href=\")([^)#\s\"]+)", text) if "://" not in target]


def test_the_folder_has_no_solution_test_or_git_file(course):
    assert {path.name for path in course.iterdir()} - {path.name for path in course.glob("*.ipynb")} == {
        copies.MANIFEST, copies.KERNELS, copies.SOURCES,
    }  # fmt: skip
    assert not [path for path in course.rglob("*") if "test" in path.name or "solution" in path.name]


def test_a_second_update_changes_nothing(course):
    before = {path: path.stat().st_mtime_ns for path in course.rglob("*") if path.name != copies.MANIFEST}
    assert copies.update(course, NOTEBOOKS) == ()
    after = {path: path.stat().st_mtime_ns for path in course.rglob("*") if path.name != copies.MANIFEST}
    assert {path for path in before if path.is_file() and before[path] != after[path]} == set()


def test_a_learners_folder_is_found_from_inside(course, tmp_path):
    assert copies.learners_folder(course) == course
    assert copies.learners_folder(tmp_path) == tmp_path / "softlab-course"


class Small:
    """A course of one lesson with cells a, b, c; ``ship`` changes it, ``learn`` changes the learner's copy."""

    def __init__(self, folder: Path) -> None:
        self.lessons, self.mine = folder / "shipped" / "notebooks", folder / "mine"
        self.lessons.mkdir(parents=True)
        self.ship(a="# A", b="1 + 1", c="answer = None")
        self.update()

    def ship(self, **cells: str) -> None:
        made = [
            new_markdown_cell(text, id=name) if text.startswith("#") else
            new_code_cell(text, id=name, execution_count=1, outputs=[new_output("stream", text="spoiled")])
            for name, text in cells.items()
        ]  # fmt: skip
        nbformat.write(new_notebook(cells=made), self.lessons / NAME)

    def learn(self, change) -> None:
        notebook = nbformat.read(self.mine / NAME, as_version=4)
        change(notebook.cells)
        nbformat.write(notebook, self.mine / NAME)

    def update(self) -> list[str]:
        return [str(change) for change in copies.update(self.mine, self.lessons) if not change.file.startswith("kern")]

    def cells(self) -> list[tuple[str, str]]:
        return [(cell.id, cell.source) for cell in nbformat.read(self.mine / NAME, as_version=4).cells]


@pytest.fixture
def small(tmp_path) -> Small:
    return Small(tmp_path)


def test_changed_cells_stay_and_the_others_follow_softlab(small):
    small.learn(lambda cells: cells[2].update(source="answer = 2"))
    small.ship(a="# Better", b="1 + 1", new="# New", c="answer = None")
    assert small.update() == [f"{NAME}: updated"]
    assert small.cells() == [("a", "# Better"), ("b", "1 + 1"), ("new", "# New"), ("c", "answer = 2")]


def test_where_both_changed_a_cell_the_learners_stays_and_it_is_said(small):
    small.learn(lambda cells: cells[2].update(source="answer = 2"))
    small.ship(a="# A", b="1 + 1", c="answer = ...")
    assert small.update() == [f"{NAME}: softlab changed c, and so did you: yours is kept"]
    assert small.cells()[2] == ("c", "answer = 2")
    assert small.update() == [], "said once"


def test_a_record_of_another_format_is_as_none(small):
    """Then nobody knows which cells the learner has changed, and the notebook is moved aside, not overwritten."""
    record = small.mine / copies.MANIFEST
    written = json.loads(record.read_text())
    small.ship(a="# A", b="2 + 2", c="answer = None")
    for other in (written["format"] - 1, written["format"] + 1):
        record.write_text(json.dumps({**written, "format": other}))
        assert small.update() != [f"{NAME}: updated"]


def test_own_cells_stay_in_their_place(small):
    small.learn(lambda cells: cells.insert(2, new_code_cell("mine", id="own")))
    small.learn(lambda cells: cells.insert(3, new_code_cell("mine, too", id="own-2")))
    small.ship(z="# Before", a="# A", b="2 + 2", c="answer = None")
    small.update()
    assert [name for name, _ in small.cells()] == ["z", "a", "b", "own", "own-2", "c"]


def test_deleted_cells_stay_deleted_and_dropped_ones_go(small):
    small.learn(lambda cells: cells.pop(0))
    small.ship(a="# Other", c="answer = None")
    small.update()
    assert small.cells() == [("c", "answer = None")]


def test_a_changed_cell_that_softlab_dropped_stays(small):
    small.learn(lambda cells: cells[1].update(source="1 + 2"))
    small.ship(a="# A", c="answer = None")
    small.update()
    assert small.cells() == [("a", "# A"), ("b", "1 + 2"), ("c", "answer = None")]


def test_outputs_of_the_learner_stay_where_the_cell_stays(small):
    def run(cells):
        cells[1].update(execution_count=7, outputs=[new_output("stream", text="2")])

    small.learn(run)
    small.ship(a="# Better", b="1 + 1", c="answer = None")
    small.update()
    cell = nbformat.read(small.mine / NAME, as_version=4).cells[1]
    assert (cell.execution_count, cell.outputs[0].text) == (7, "2")


def test_a_deleted_file_comes_again_and_a_renamed_lesson_takes_the_answers_along(small):
    (small.mine / NAME).unlink()
    assert small.update() == [f"{NAME}: new"]
    small.learn(lambda cells: cells[2].update(source="answer = 2"))
    (small.lessons / NAME).rename(small.lessons / "00-start.ipynb")
    small.update()
    assert [path.name for path in small.mine.glob("*.ipynb")] == ["00-start.ipynb"]
    assert "answer = 2" in (small.mine / "00-start.ipynb").read_text()


def test_a_lesson_that_is_gone_is_removed_only_untouched(small, tmp_path):
    other = small.lessons / "01-other.ipynb"
    shutil.copy(small.lessons / NAME, other)
    small.update()
    (small.lessons / NAME).unlink()
    small.learn(lambda cells: cells[2].update(source="answer = 2"))
    other.unlink()
    assert small.update() == ["01-other.ipynb: removed"]
    assert (small.mine / NAME).exists()


def test_a_kernel_that_is_as_softlab_has_it_is_no_change(small):
    """Though the record has another one."""
    manifest = small.mine / copies.MANIFEST
    record = json.loads(manifest.read_text())
    record["files"]["kernels/naive_row.cuh"]["digest"] = "that of an earlier version"
    manifest.write_text(json.dumps(record))
    assert copies.update(small.mine, small.lessons) == ()


def test_a_kernel_that_the_learner_changed_is_kept(small):
    kernel = small.mine / "kernels" / "naive_row.cuh"
    manifest = small.mine / copies.MANIFEST
    kernel.write_text("// mine\n")
    record = json.loads(manifest.read_text())
    record["files"]["kernels/naive_row.cuh"]["digest"] = "that of an earlier version"
    manifest.write_text(json.dumps(record))
    changes = copies.update(small.mine, small.lessons)
    assert [(change.file, change.kind) for change in changes] == [("kernels/naive_row.cuh", "kept")]
    assert kernel.read_text() == "// mine\n"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1, "files": 3}', '{"format": 99, "files": {}}'])
def test_without_a_readable_manifest_nothing_of_the_learner_is_lost(small, text):
    small.learn(lambda cells: cells[2].update(source="answer = 2"))
    (small.mine / copies.MANIFEST).write_text(text)
    small.ship(a="# Better", b="1 + 1", c="answer = None", d="# D")
    small.update()
    assert ("c", "answer = 2") in small.cells()
    assert ("d", "# D") in small.cells()


@pytest.mark.parametrize("text", ["", "no notebook", '{"cells": 5}', '{"cells": [3]}'])
def test_a_damaged_notebook_stays_as_it_is(small, text):
    (small.mine / NAME).write_text(text)
    small.ship(a="# Better", b="1 + 1", c="answer = None")
    assert small.update() == [f"{NAME}: softlab changed it, and so did you: yours is kept"]
    assert (small.mine / NAME).read_text() == text


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Error, match="cannot be copied to"):
        copies.update(tmp_path / "file", NOTEBOOKS)


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        copies._write(tmp_path / "taken", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    copies._write(tmp_path / "new" / "file", "text")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["file"]
    assert (tmp_path / "new" / "file").read_text() == "text"
    assert (tmp_path / "new" / "file").stat().st_mode & 0o777 == 0o644
