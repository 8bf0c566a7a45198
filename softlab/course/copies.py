"""A learner's own copies of the lessons: without outputs, and updated without touching what the learner changed.

The folder has the lessons, the kernels that they link to, and under ``sources`` the other files of softlab that they
link to. A hidden file remembers what softlab wrote there. So an update knows which cells are still as they were.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from softlab.errors import Error
from softlab.shipped import shipped

#: The name of a learner's folder, and of the hidden file in it.
FOLDER = "softlab-course"
MANIFEST = ".softlab-course.json"
#: Raise when the manifest changes its meaning. One of another format is not read, and so all cells count as changed.
FORMAT = 1
KERNELS, SOURCES = "kernels", "sources"
#: A link of Markdown or of HTML to a file of the checkout: what stands before the file, and the file.
_LINK = re.compile(r"(\]\(|href=\")\.\./([^)#\s\"]+)")
_Cell = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """What an update did to a file of the learner's folder.

    kind: "new", "updated", "removed" (softlab has it no longer, and the learner had not changed it) or "kept" (softlab
    changed something that the learner changed, too: the learner's version stays); cells: the ids of those cells.
    """

    file: str
    kind: Literal["new", "updated", "removed", "kept"]
    cells: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind != "kept":
            return f"{self.file}: {self.kind}"
        return f"{self.file}: softlab changed {', '.join(self.cells) or 'it'}, and so did you: yours is kept"


def learners_folder(here: Path) -> Path:
    """The learner's folder: ``here`` if it is one, else the folder ``softlab-course`` in it."""
    return here if (here / MANIFEST).is_file() else here / FOLDER


def update(folder: Path, lessons: Path) -> tuple[Change, ...]:
    """Make the learner's folder, or bring it up to date. lessons: the folder of the shipped notebooks.

    Cells and files that the learner changed stay as they are, and so do cells and files that the learner added. A file
    that the learner deleted is written again.

    Raises:
        Error: a file cannot be written; the message says why.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tuple(_updated(folder, lessons))
    except OSError as error:
        raise Error(f"the course cannot be copied to {folder}: {error.strerror or error}") from None


def _updated(folder: Path, lessons: Path) -> Iterator[Change]:
    before = _manifest(folder / MANIFEST)
    now = dict(_shipped(lessons))
    _rename(folder, before, now)
    record = {}
    for name, text in now.items():
        path = folder / name
        record[name] = {"digest": _digest(text), "cells": _digests(text) if path.suffix == ".ipynb" else {}}
        if not path.exists():
            _write(path, text)
            yield Change(name, "new")
        elif before.get(name, {}).get("digest") != record[name]["digest"]:
            change = _change(path, name, text, before.get(name, {}))
            if change:
                yield change
    for name in before.keys() - now.keys():
        path = folder / name
        if path.is_file() and _untouched(path, before[name]):
            path.unlink()
            yield Change(name, "removed")
    _write(folder / MANIFEST, json.dumps({"format": FORMAT, "files": record}, indent=1) + "\n")


def _change(path: Path, name: str, text: str, before: Mapping[str, Any]) -> Change | None:
    """Bring one file up to date that exists and that softlab changed."""
    mine = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix != ".ipynb":
        if mine == text:
            return None
        if _digest(mine) != before.get("digest"):
            return Change(name, "kept")
        _write(path, text)
        return Change(name, "updated")
    try:
        notebook = json.loads(mine)
        cells, kept = merged(notebook["cells"], json.loads(text)["cells"], before.get("cells", {}))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Change(name, "kept")
    if cells != notebook["cells"]:
        _write(path, _text({**notebook, "cells": cells}))
    elif not kept:
        return None
    return Change(name, "kept", kept) if kept else Change(name, "updated")


def merged(mine: list[_Cell], theirs: list[_Cell], base: Mapping[str, str]) -> tuple[list[_Cell], tuple[str, ...]]:
    """The cells of a learner's notebook after an update, and the ids of those that both sides changed.

    Arguments:
        mine: the learner's cells; theirs: those of the lesson as softlab has it now.
        base: id -> digest of each cell that softlab wrote there before.
    """
    known = {cell["id"]: cell for cell in mine if "id" in cell}
    wanted = {cell["id"]: cell for cell in theirs}
    found: list[_Cell] = []
    kept = []
    for cell in theirs:
        own, before = known.get(cell["id"]), base.get(cell["id"])
        if own is None:
            if before is None:  # else the learner deleted it
                found.append(cell)
        elif digest(own) == digest(cell):
            found.append({**own, "metadata": cell["metadata"]})  # with its outputs
        elif digest(own) == before:
            found.append(cell)
        else:
            found.append(own)
            if digest(cell) != before:
                kept.append(cell["id"])
    # What softlab does not have stays behind the cells that it stands behind: the learner's own, and changed ones.
    for position, cell in enumerate(mine):
        name = cell.get("id", "")
        if name in wanted or (name in base and digest(cell) == base[name]):
            continue
        earlier = mine[:position]
        ids = {other["id"] for other in earlier if "id" in other}
        behind = [
            k for k, other in enumerate(found) if other.get("id") in ids or any(other is mine_ for mine_ in earlier)
        ]
        found.insert(behind[-1] + 1 if behind else 0, cell)
    return found, tuple(kept)


def digest(cell: _Cell) -> str:
    """What tells whether a cell was changed: its type and its text."""
    return _digest(f"{cell['cell_type']}\n{_joined(cell['source'])}")


def working_copy(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """A lesson as a learner gets it: no outputs, and links that lead to files of the learner's folder."""
    cells = []
    for cell in notebook["cells"]:
        fresh = {**cell, "source": _joined(cell["source"])}
        if cell["cell_type"] == "code":
            fresh |= {"outputs": [], "execution_count": None}
        elif cell["cell_type"] == "markdown":
            fresh["source"] = _LINK.sub(lambda found: f"{found[1]}{_place(found[2])}", fresh["source"])
        cells.append(fresh)
    return {**notebook, "cells": cells}


def _shipped(lessons: Path) -> Iterator[tuple[str, str]]:
    """Name in the learner's folder -> text, of everything that softlab puts there."""
    linked = set()
    for path in sorted(lessons.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        text = "\n".join(_joined(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown")
        linked |= {found[2] for found in _LINK.finditer(text)}
        yield path.name, _text(working_copy(notebook))
    from softlab.cuda.compile import kernel_folder

    kernels = kernel_folder()
    for path in sorted(kernels.rglob("*")):
        if path.suffix in (".cu", ".cuh", ".md"):
            text = path.read_text(encoding="utf-8").replace("](../notebooks/", "](../")
            yield f"{KERNELS}/{path.relative_to(kernels).as_posix()}", text
    for name in sorted(link for link in linked if not link.startswith(f"{KERNELS}/")):
        source = shipped(name)
        if source.is_file():
            yield _place(name), source.read_text(encoding="utf-8")


def _place(link: str) -> str:
    """Where a file of the checkout is in the learner's folder. A folder ``softlab`` there would hide the package."""
    return link if link.startswith(f"{KERNELS}/") else f"{SOURCES}/{link}"


def _rename(folder: Path, before: dict[str, Any], now: Mapping[str, str]) -> None:
    """A lesson that has another name now: the learner's file gets it, too. A lesson is known by its number."""
    new = {name.partition("-")[0]: name for name in now if name.endswith(".ipynb")}
    for name in [name for name in before if name.endswith(".ipynb") and name not in now]:
        other = new.get(name.partition("-")[0])
        if other and (folder / name).is_file() and not (folder / other).exists():
            (folder / name).rename(folder / other)
            before[other] = before.pop(name)


def _untouched(path: Path, before: Mapping[str, Any]) -> bool:
    text = path.read_text(encoding="utf-8", errors="replace")
    return _digests(text) == before.get("cells") if path.suffix == ".ipynb" else _digest(text) == before.get("digest")


def _digests(text: str) -> dict[str, str]:
    try:
        return {cell["id"]: digest(cell) for cell in json.loads(text)["cells"]}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _manifest(path: Path) -> dict[str, Any]:
    """What softlab wrote there before; nothing where the file is missing or damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        files = found["files"] if found["format"] == FORMAT else {}
        return {name: entry for name, entry in files.items() if isinstance(entry, dict)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _joined(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


def _text(notebook: Mapping[str, Any]) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _write(path: Path, text: str) -> None:
    """Write the file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".softlab-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(scratch, 0o644)
        os.replace(scratch, path)
    except OSError:
        Path(scratch).unlink(missing_ok=True)
        raise
