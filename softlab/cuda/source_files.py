"""Source files: their text, and where the headers are that they include."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

#: Where a project keeps its headers, and how many folders up they are looked for.
_HEADER_FOLDERS = ("include", "inc", "common", "Common", "includes", "headers", "src", "utils", ".")
_LEVELS_UP = 5
_HEADERS = (".h", ".cuh", ".hpp", ".hxx", ".hh", ".inl", ".inc", ".cu", ".def")
#: A checkout with more files is not searched, and one that was searched is searched again after this time.
_MOST_FILES = 50_000
_INDEX_SECONDS = 10


def decode(content: bytes) -> str:
    """The text of a source file: UTF-8 or, where it is none, Latin-1; without a byte-order mark, lines end with \\n."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def beside(path: Path | None, name: str, folders: Sequence[Path] = ()) -> Path | None:
    """The file that an ``#include`` names.

    It is beside the file, in one of these ``folders``, in a folder for headers there or further up, or the only one
    with that name in the checkout of a repository: the nearest of several, where no other is as near.
    """
    if path is None or not name:
        return None
    parents = list(path.resolve().parents)[:_LEVELS_UP]
    places = [parents[0], *folders, *(parent / folder for parent in parents for folder in _HEADER_FOLDERS)]
    found = next((place / name for place in places if (place / name).is_file()), None)
    return found or _elsewhere(path.resolve(), name)


def _elsewhere(path: Path, name: str) -> Path | None:
    """The header of that name in the checkout that the file belongs to."""
    root = next((parent for parent in path.parents if (parent / ".git").exists()), None)
    parts = tuple(part for part in name.split("/") if part not in (".", ".."))
    if root is None or not parts:
        return None
    headers = _headers_of(root, int(time.monotonic() // _INDEX_SECONDS)).get(parts[-1], ())
    found = [header for header in headers if header.parts[-len(parts) :] == parts]
    shared = [len(os.path.commonpath([header, path])) for header in found]
    nearest = [header for header, length in zip(found, shared, strict=True) if length == max(shared)]
    return nearest[0] if len(nearest) == 1 else None


@lru_cache(maxsize=4)
def _headers_of(root: Path, now: int) -> dict[str, list[Path]]:
    """The headers in a checkout by their names; nothing of a larger one. ``now`` is for the cache, which gets old."""
    found: dict[str, list[Path]] = {}
    files = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [one for one in folders if not one.startswith(".")]
        files += len(names)
        if files > _MOST_FILES:
            return {}
        for name in names:
            if name.endswith(_HEADERS):
                found.setdefault(name, []).append(Path(folder, name))
    return found
