"""Recorded results: what was measured on a GPU once, with all that is needed to measure it again.

A recording is one JSON file in ``data/``. Its tables hold series: rows of numbers that share a key (kernel, block size,
...), which keeps a file of a thousand measurements small enough to be read in a diff.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

#: Name -> column (n,).
Table = dict[str, np.ndarray]


@dataclass(frozen=True)
class Recording:
    """Measurements on one GPU.

    ``device`` is the GPU as its driver names it, ``versions`` name -> version of driver, compiler and libraries,
    ``sources`` the digest of the kernels (:func:`softlab.cuda.compile.sources_digest`), ``method`` how it was measured,
    ``tables`` name -> columns.
    """

    name: str
    about: str
    device: str
    date: str
    command: str
    method: str
    versions: Mapping[str, str]
    sources: str
    tables: Mapping[str, Table]

    @property
    def stamp(self) -> str:
        """The words that mark a picture as recorded: where, when, and with what."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"recorded on {self.device}, {self.date} ({versions})"

    @property
    def warning(self) -> str:
        """What a table or picture of it must say when the kernels are others today; "" when they are the same."""
        from softlab.cuda.compile import sources_digest

        if self.sources == sources_digest():
            return ""
        return "The kernels have changed since then: these figures are those of the kernels that were measured."


def folder() -> Path:
    """Where the recordings are."""
    return Path(__file__).resolve().parent / "data"


def opened(named: str) -> Recording:
    """A recording that ships with softlab, by name, or one in a file, by a path that ends in .json.

    Raises:
        ValueError: no recording has that name, the file cannot be read, or it is no recording.
    """
    path = Path(named)
    if path.suffix != ".json":
        return load(named)
    try:
        return read(path)
    except OSError as error:
        raise ValueError(f"{named} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise ValueError(f"{named} is no recording: softlab bench --json writes one") from None


def names() -> tuple[str, ...]:
    """The recordings that ship with softlab."""
    return tuple(sorted(path.stem for path in folder().glob("*.json")))


@lru_cache(maxsize=8)
def load(name: str = "claims_h200") -> Recording:
    """A recording by name.

    Raises:
        ValueError: no recording has that name; the message lists those that exist.
    """
    path = folder() / f"{name}.json"
    if name not in names():
        raise ValueError(f"no recording {name!r}; there are: {', '.join(names()) or 'none'}")
    return read(path)


def read(path: Path) -> Recording:
    """The recording in a file."""
    record = json.loads(path.read_text())
    tables = {name: _columns(table) for name, table in record.pop("tables").items()}
    return Recording(name=path.stem, tables=tables, **record)


def write(path: Path, recording: Recording, keys: Mapping[str, Sequence[str]]) -> None:
    """Write a recording; ``keys``: for each table the columns that are a series' key."""
    path.write_text(text_of(recording, keys))


def text_of(recording: Recording, keys: Mapping[str, Sequence[str]]) -> str:
    """What :func:`write` writes."""
    head = {
        name: getattr(recording, name)
        for name in ("about", "device", "date", "command", "method", "versions", "sources")
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
    tables = [_table_text(name, table, keys[name]) for name, table in recording.tables.items()]
    return "\n".join(["{", *lines, '"tables": {', ",\n".join(tables), "}}"]) + "\n"


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Records with the same names as columns."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}


def select(table: Table, **wanted: Any) -> Table:
    """The rows where each named column has the wanted value, or one of several given as a list or a tuple."""
    keep = np.ones(len(next(iter(table.values()))), dtype=bool)
    for name, value in wanted.items():
        keep &= np.isin(table[name], value) if isinstance(value, list | tuple) else table[name] == value
    return {name: column[keep] for name, column in table.items()}


def _columns(table: Mapping[str, Any]) -> Table:
    keys, fields = table["key"], table["fields"]
    rows = [(*series["of"], *row) for series in table["series"] for row in series["rows"]]
    return {name: np.array([row[k] for row in rows]) for k, name in enumerate([*keys, *fields])}


def _table_text(name: str, table: Table, key: Sequence[str]) -> str:
    fields = [column for column in table if column not in key]
    # NumPy's own numbers are not JSON's.
    lists = {column: values.tolist() for column, values in table.items()}
    rows = [
        (tuple(lists[k][n] for k in key), [lists[f][n] for f in fields]) for n in range(len(next(iter(lists.values()))))
    ]
    series = []
    for of, members in groupby(sorted(rows, key=lambda row: (repr(row[0]), row[1][0])), key=lambda row: row[0]):
        series.append(_compact({"of": list(of), "rows": [values for _, values in members]}))
    head = f'{json.dumps(name)}: {{"key": {json.dumps(list(key))}, "fields": {json.dumps(fields)}, "series": [\n'
    return head + ",\n".join(series) + "\n]}"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
