"""How far a learner is: kept on this machine in the user's state folder, never in a notebook."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import platformdirs
from filelock import FileLock, Timeout

from softlab.errors import Error

#: Raise when the file changes its meaning. A file of another version is put aside (``.old``), not guessed at.
FORMAT = 1
#: How long a process waits for another one that stores an answer.
_WAIT_SECONDS = 10
#: More than any course has: a file beyond these is damaged.
_MOST_BYTES, _MOST_ATTEMPTS = 1 << 24, 1 << 53
#: What goes wrong with a file or its lock (NotImplementedError: a file system without locks).
_FAILURES = (OSError, Timeout, NotImplementedError)


@dataclass(frozen=True)
class Record:
    """One exercise of one learner.

    attempts: answers that were judged; solved: when the first right one was, ISO 8601 in UTC, "" for never;
    state, message: the last verdict, "right" or "wrong".
    """

    attempts: int = 0
    solved: str = ""
    state: str = "wrong"
    message: str = ""


@dataclass(frozen=True)
class Bar:
    """``done`` of ``of`` things called ``name``."""

    name: str
    done: int
    of: int


@dataclass(frozen=True)
class Standing:
    """How many exercises are solved, in one notebook and in the course."""

    notebook: Bar
    course: Bar

    @property
    def bars(self) -> tuple[Bar, ...]:
        """Both, the notebook's first."""
        return (self.notebook, self.course)

    @property
    def sentence(self) -> str:
        """ "3 of 5 in this notebook, 17 of 45 in the course"."""
        return ", ".join(f"{bar.done} of {bar.of} {bar.name}" for bar in self.bars)


@dataclass(frozen=True)
class Progress:
    """Exercise id -> :class:`Record`. Frozen: :meth:`with_answer` gives another one."""

    records: Mapping[str, Record] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path | None = None) -> Progress:
        """What is stored; empty where nothing is. What cannot be read is left out, and a warning says so."""
        path = path or progress_file()
        progress, problem = _read(path)
        if problem:
            _say(f"{path} {problem}; the next answer moves it aside to {_backup(path).name} and starts from the rest")
        return progress

    @classmethod
    def answered(cls, exercise: str, *, right: bool, message: str = "", path: Path | None = None) -> Progress:
        """Add one answer to what is stored, and return the progress with it. Processes wait for each other.

        A warning says where it cannot be stored; the returned progress has the answer all the same.
        """
        path = path or progress_file()
        try:
            with _locked(path):
                after = cls.load(path).with_answer(exercise, right=right, message=message)
                after._write(path)
        except _FAILURES as error:
            _say(f"the answer is not stored: {_reason(path, error)}")
            after = cls.load(path).with_answer(exercise, right=right, message=message)
        return after

    @property
    def any_solved(self) -> bool:
        """Whether any exercise is."""
        return any(record.solved for record in self.records.values())

    def solved(self, ids: Collection[str]) -> int:
        """How many of these exercises are solved."""
        return sum(bool(self.records.get(name, Record()).solved) for name in ids)

    def with_answer(self, exercise: str, *, right: bool, message: str = "") -> Progress:
        """The progress after one more answer. What was solved once stays solved."""
        before = self.records.get(exercise, Record())
        now = datetime.now(UTC).isoformat(timespec="seconds")
        solved = before.solved or (now if right else "")
        after = Record(before.attempts + 1, solved, "right" if right else "wrong", message)
        return Progress({**self.records, exercise: after})

    def record(self) -> dict[str, Any]:
        """Plain data: what the file has, and what ``softlab progress --export`` writes."""
        return {"format": FORMAT, "exercises": {name: vars(self.records[name]) for name in sorted(self.records)}}

    def merged(self, other: Progress) -> Progress:
        """Both together. Of an exercise that both have, the record with more attempts counts.

        What one of them solved is solved, at the earlier time.
        """
        records = dict(other.records)
        for name, record in self.records.items():
            found = records.get(name, Record())
            latest = found if found.attempts > record.attempts else record
            solved = min(filter(None, (found.solved, record.solved)), default="")
            records[name] = replace(latest, solved=solved)
        return Progress(records)

    def save(self, path: Path | None = None) -> bool:
        """Store it together with what other processes stored since, whole or not at all.

        False, with a warning, where it cannot be stored: a disk that is full or read-only, or a lock that is held.
        """
        path = path or progress_file()
        try:
            with _locked(path):
                self.merged(_read(path)[0])._write(path)
        except _FAILURES as error:
            _say(f"the progress is not stored: {_reason(path, error)}")
            return False
        return True

    def _write(self, path: Path) -> None:
        """Replace the file. What it has and cannot be read is kept beside it."""
        if _read(path)[1]:
            path.replace(_backup(path))
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(self.record(), stream, indent=1)
            os.replace(scratch, path)
        except OSError:
            Path(scratch).unlink(missing_ok=True)
            raise


def _locked(path: Path) -> AbstractContextManager[Any]:
    """The lock of the file, for as long as the context lasts. It makes the folder, too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(f"{path}.lock", timeout=_WAIT_SECONDS)


def _read(path: Path) -> tuple[Progress, str]:
    """What can be read in the file, and what is wrong with the file: "" for nothing."""
    try:
        if not path.exists():
            return Progress(), ""
        if not path.is_file():
            return Progress(), "is no file"
        if path.stat().st_size > _MOST_BYTES:
            return Progress(), f"has more than {_MOST_BYTES} bytes"
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        return Progress(), f"cannot be read ({type(error).__name__})"
    if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("exercises"), dict):
        return Progress(), f"is no progress of the format {FORMAT}"
    records = {name: record for name, entry in found["exercises"].items() if (record := _record(entry))}
    odd = sorted(found["exercises"].keys() - records.keys())
    return Progress(records), f"has odd entries: {', '.join(map(repr, odd)):.100}" if odd else ""


def _record(entry: Any) -> Record | None:
    """The record, or None where a field is missing, unknown or of a wrong type."""
    if not isinstance(entry, dict) or not entry.keys() <= Record.__dataclass_fields__.keys():
        return None
    record = Record(**entry)
    texts = all(isinstance(text, str) for text in (record.solved, record.state, record.message))
    counted = type(record.attempts) is int and 0 <= record.attempts < _MOST_ATTEMPTS
    return record if texts and counted and record.state in ("right", "wrong") else None


def _backup(path: Path) -> Path:
    """A free name beside the file: ".old", or ".old2" and so on where earlier ones are kept."""
    names = (path.with_suffix(f".old{number if number > 1 else ''}") for number in count(1))
    return next(name for name in names if not name.exists())


def _say(problem: str) -> None:
    warnings.warn(f"softlab: {problem}", stacklevel=3)


def _reason(path: Path, error: Exception) -> str:
    if isinstance(error, Timeout):
        return f"another process held {path}.lock for {_WAIT_SECONDS} s"
    return f"{path} cannot be written ({getattr(error, 'strerror', None) or error})"


def progress_file() -> Path:
    """Where it is stored: ``softlab/progress.json`` in the user's state folder (``$XDG_STATE_HOME`` on Linux)."""
    return platformdirs.user_state_path("softlab", appauthor=False) / "progress.json"


def reset(path: Path | None = None) -> None:
    """Forget all answers. What cannot be read is kept beside the file.

    Raises:
        Error: the file cannot be removed; the message says why.
    """
    path = path or progress_file()
    if not path.exists():
        return
    try:
        with _locked(path):
            if _read(path)[1]:
                path.replace(_backup(path))
            path.unlink(missing_ok=True)
    except _FAILURES as error:
        raise Error(f"the progress is not forgotten: {_reason(path, error)}") from None
