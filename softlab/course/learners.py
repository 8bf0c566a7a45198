"""How far a learner is: kept on this machine in the user's state folder, never in a notebook."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import platformdirs

#: Raise when the file changes its meaning. A file of another version is put aside (``.old``), not guessed at.
FORMAT = 1


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
        """What is stored; empty where nothing is, or nothing that can be read."""
        return _read(path or progress_file()) or cls()

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

    def save(self, path: Path | None = None) -> bool:
        """Store it whole or not at all; False where it cannot be stored (a disk that is full or read-only)."""
        path = path or progress_file()
        scratch = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and _read(path) is None:
                path.replace(path.with_suffix(".old"))
            handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=path.name)
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(self.record(), stream, indent=1)
            os.replace(scratch, path)
        except OSError:
            if scratch is not None:
                Path(scratch).unlink(missing_ok=True)
            return False
        return True


def _read(path: Path) -> Progress | None:
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        found = json.loads(path.read_text("utf-8"))
        if found["format"] == FORMAT:
            return Progress({name: Record(**entry) for name, entry in found["exercises"].items()})
    return None


def progress_file() -> Path:
    """Where it is stored: ``softlab/progress.json`` in the user's state folder (``$XDG_STATE_HOME`` on Linux)."""
    return platformdirs.user_state_path("softlab", appauthor=False) / "progress.json"


def reset(path: Path | None = None) -> None:
    """Forget all answers."""
    (path or progress_file()).unlink(missing_ok=True)
