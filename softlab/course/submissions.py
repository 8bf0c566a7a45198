"""Notebooks that somebody handed in: found in a folder and read, whatever is in the files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: A larger file is not read: JSON takes up to 20 times its size in memory.
_MOST_BYTES = 1 << 25


@dataclass(frozen=True)
class HandedIn:
    """A notebook before it runs.

    file: its path below the folder of submissions; cells: the sources of its code cells, in order; problem: why it
    cannot be read, or the first cell that cannot; "" for none.
    """

    file: str
    cells: tuple[str, ...] = ()
    problem: str = ""


def notebooks(folder: Path) -> tuple[Path, ...]:
    """The notebooks in a folder and those below it, without JupyterLab's checkpoints.

    Raises:
        ValueError: there is no such folder, or no notebook in it.
    """
    if not folder.is_dir():
        raise ValueError(f"no folder {folder}")
    found = tuple(sorted(p for p in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts))
    if not found:
        raise ValueError(f"no notebook (.ipynb) in {folder}")
    return found


def digests(folder: Path) -> dict[str, str]:
    """The digest of each notebook below a folder, by its path there; "" for one that cannot be read."""
    found: dict[str, str] = {}
    for path in folder.rglob("*.ipynb"):
        try:
            raw = path.read_bytes() if path.is_file() and path.stat().st_size <= _MOST_BYTES else b""
        except OSError:
            raw = b""
        found[path.relative_to(folder).as_posix()] = hashlib.sha256(raw).hexdigest() if raw else ""
    return found


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """What became of the notebooks of a folder between two of its :func:`digests`: a sentence, or "" for nothing."""
    kinds = {
        "added": after.keys() - before.keys(),
        "removed": before.keys() - after.keys(),
        "changed": {name for name in before.keys() & after.keys() if before[name] != after[name]},
    }
    said = [f"{kind}: {', '.join(sorted(names))}" for kind, names in kinds.items() if names]
    if not said:
        return ""
    return (
        f"the folder of submissions has changed while they ran ({'; '.join(said)}). The marks are those of the files "
        "as they were before. Run them with --sandbox, where they cannot reach each other's files"
    )


def read(path: Path, folder: Path) -> HandedIn:
    """Read the notebook at ``path`` below ``folder``. A file that is no notebook is one with a problem."""
    file = path.relative_to(folder).as_posix()
    try:
        cells = list(_cells(json.loads(_text(path))))
    except (ValueError, OSError, RecursionError, MemoryError) as error:
        return HandedIn(file, problem=f"no notebook: {_reason(error)}")
    odd = [f"cell {number} of the file has no text" for number, source in cells if source is None]
    return HandedIn(file, tuple(source for _, source in cells if source is not None), odd[0] if odd else "")


def _text(path: Path) -> str:
    if path.is_dir():
        raise ValueError("it is a folder")
    if not path.is_file():
        raise ValueError("it is no regular file")
    with path.open("rb") as stream:
        raw = stream.read(_MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES >> 20} MiB")
    if not raw.strip():
        raise ValueError("it is empty")
    return raw.decode("utf-8-sig")


def _reason(error: BaseException) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON (line {error.lineno})"
    if isinstance(error, RecursionError | MemoryError):
        return "it is nested too deeply or too large"
    return getattr(error, "strerror", None) or str(error)


def _cells(notebook: Any) -> Iterator[tuple[int, str | None]]:
    """(number in the file from 1, source) of each code cell; None for a source that is no text."""
    cells = notebook.get("cells", notebook.get("worksheets")) if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ValueError("it has no list of cells")
    if "cells" not in notebook:  # the format before 4
        lists = [sheet.get("cells") for sheet in cells if isinstance(sheet, dict)]
        cells = [cell for listed in lists if isinstance(listed, list) for cell in listed]
    for number, cell in enumerate(cells, 1):
        kind = cell.get("cell_type") if isinstance(cell, dict) else None
        if kind == "code":
            yield number, _source(cell.get("source", cell.get("input")))
        elif not isinstance(kind, str):
            yield number, None


def _source(source: Any) -> str | None:
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    # A lone surrogate, which JSON can have, cannot be sent to a kernel.
    return source.encode("utf-8", "replace").decode()
