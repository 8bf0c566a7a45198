"""Notebooks that were handed in: which files are read, and what is said of those that cannot be."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from softlab.course import submissions
from softlab.course.submissions import HandedIn, notebooks, read


def hand_in(folder: Path, content: bytes | str | dict[str, Any], name: str = "sub/a.ipynb") -> HandedIn:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content) if isinstance(content, dict) else content
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path, folder)


def cell(source: Any, kind: Any = "code", key: str = "source") -> dict[str, Any]:
    return {"cell_type": kind, key: source}


def test_notebooks_of_a_folder_and_those_below(tmp_path: Path) -> None:
    for name in ("b.ipynb", "a/z.ipynb", "a/notes.txt", "a/.ipynb_checkpoints/z-checkpoint.ipynb"):
        hand_in(tmp_path, "{}", name)
    assert [path.relative_to(tmp_path).as_posix() for path in notebooks(tmp_path)] == ["a/z.ipynb", "b.ipynb"]
    with pytest.raises(ValueError, match=r"^no folder .*nowhere$"):
        notebooks(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"^no notebook \(\.ipynb\) in .*empty$"):
        notebooks(tmp_path / "empty")


def test_code_cells_in_their_order(tmp_path: Path) -> None:
    cells = [cell("a = 1"), cell("# words", "markdown"), cell(["b = 2\n", "c = 3"]), cell("", "raw"), cell("")]
    assert hand_in(tmp_path, {"cells": cells}) == HandedIn("sub/a.ipynb", ("a = 1", "b = 2\nc = 3", ""))
    assert hand_in(tmp_path, {"cells": []}) == HandedIn("sub/a.ipynb")
    with_mark = "\ufeff" + json.dumps({"cells": [cell("a")]})
    assert hand_in(tmp_path, with_mark).cells == ("a",)
    assert hand_in(tmp_path, {"cells": [cell("x = '\ud800'")]}).cells == ("x = '?'",), "half of a surrogate pair"


def test_the_format_before_4(tmp_path: Path) -> None:
    sheets = [
        {"cells": [cell("a", key="input")]},
        "no sheet",
        {"cells": "none"},
        {"cells": [cell("b"), cell("c", "markdown")]},
    ]
    assert hand_in(tmp_path, {"worksheets": sheets}).cells == ("a", "b")


@pytest.mark.parametrize("source", [None, 7, ["a", 7], {"a": 1}])
def test_a_cell_without_text_is_named_and_left_out(tmp_path: Path, source: Any) -> None:
    cells = [cell("a"), cell("x", "markdown"), cell(source), cell(None), cell("b")]
    found = hand_in(tmp_path, {"cells": cells})
    assert found == HandedIn("sub/a.ipynb", ("a", "b"), "cell 3 of the file has no text")
    for odd in ("no cell", {"source": "a"}, {"cell_type": 3, "source": "a"}):
        assert hand_in(tmp_path, {"cells": [cell("a"), odd]}).problem == "cell 2 of the file has no text"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "it is empty"), (" \n", "it is empty"), (b"\xff\xfe{}", "it is not UTF-8 text"),
        ('{"cells":\n [}', "it is not JSON (line 2)"), ("[1]", "it has no list of cells"),
        ("{}", "it has no list of cells"), ('{"cells": 3}', "it has no list of cells"),
        ('{"worksheets": {}}', "it has no list of cells"), ("[" * 200_000, "it is nested too deeply or too large"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_notebook(tmp_path: Path, content: bytes | str, why: str) -> None:
    assert hand_in(tmp_path, content) == HandedIn("sub/a.ipynb", problem=f"no notebook: {why}")


def test_files_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.ipynb").mkdir()
    assert read(tmp_path / "folder.ipynb", tmp_path).problem == "no notebook: it is a folder"
    os.mkfifo(tmp_path / "pipe.ipynb")
    assert read(tmp_path / "pipe.ipynb", tmp_path).problem == "no notebook: it is no regular file"
    text = json.dumps({"cells": []})
    monkeypatch.setattr(submissions, "_MOST_BYTES", len(text))
    assert hand_in(tmp_path, text).problem == ""
    assert hand_in(tmp_path, text + " ").problem == "no notebook: it has more than 0 MiB"
    monkeypatch.undo()
    assert submissions._MOST_BYTES == 32 * 1024**2


def test_what_became_of_the_notebooks_of_a_folder(tmp_path: Path) -> None:
    for name in ("same", "changed", "removed"):
        (tmp_path / f"{name}.ipynb").write_text(name)
    (tmp_path / "folder.ipynb").mkdir()
    before = submissions.digests(tmp_path)
    assert set(before) == {"same.ipynb", "changed.ipynb", "removed.ipynb", "folder.ipynb"}
    assert submissions.changes(before, submissions.digests(tmp_path)) == ""
    (tmp_path / "changed.ipynb").write_text("other")
    (tmp_path / "removed.ipynb").unlink()
    (tmp_path / "folder.ipynb" / "new.ipynb").write_text("new")
    said = submissions.changes(before, submissions.digests(tmp_path))
    assert "(added: folder.ipynb/new.ipynb; removed: removed.ipynb; changed: changed.ipynb)" in said
