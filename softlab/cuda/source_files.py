"""Source files: their text, and where the headers are that they include."""

from __future__ import annotations

from pathlib import Path

#: Where a project keeps its headers, and how many folders up they are looked for.
_HEADER_FOLDERS = ("include", "inc", "common", "Common", "includes", "headers", "src", "utils", ".")
_LEVELS_UP = 5


def decode(content: bytes) -> str:
    """The text of a source file: UTF-8 or, where it is none, Latin-1; without a byte-order mark, lines end with \\n."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def beside(path: Path | None, name: str) -> Path | None:
    """The file that an ``#include`` names: beside the file, or in a folder for headers there or further up."""
    if path is None or not name:
        return None
    parents = list(path.resolve().parents)[:_LEVELS_UP]
    folders = [parents[0], *(parent / folder for parent in parents for folder in _HEADER_FOLDERS)]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)
