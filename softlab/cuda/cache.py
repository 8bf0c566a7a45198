"""Entries of the disk cache: each has a digest of its name and content, so that a changed entry is found.

The digest finds accidents and edits. It does not stop somebody who writes a digest, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write a record of plain data as JSON with its digest. A folder that cannot be written is no error."""
    _write(path, json.dumps({**record, "digest": _digest(path, json.dumps(record, sort_keys=True))}))


def read_record(path: Path) -> dict[str, Any] | None:
    """The record of :func:`write_record` at that path; None where it is not there, damaged or changed."""
    try:
        record = json.loads(path.read_text("utf-8"))
        digest = record.pop("digest")
        return record if digest == _digest(path, json.dumps(record, sort_keys=True)) else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def write_text(path: Path, text: str) -> None:
    """Write a text below a line with its digest. A folder that cannot be written is no error."""
    _write(path, f"{_digest(path, text)}\n{text}")


def read_text(path: Path) -> str | None:
    """The text of :func:`write_text` at that path; None where it is not there, damaged or changed."""
    try:
        digest, _, text = path.read_bytes().decode("utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return text if digest == _digest(path, text) else None


def _digest(path: Path, content: str) -> str:
    """A digest of the entry's name, too: the content of another entry is a change."""
    return hashlib.sha256(f"{path.name}\0{content}".encode()).hexdigest()


def _write(path: Path, text: str) -> None:
    """Write beside the entry and rename: another process sees all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(text.encode())
            os.replace(temporary, path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError:
        return
