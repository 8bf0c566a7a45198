"""What a kernel and a measurement of the atlas are."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Kernels that every plan has: the recorder uses them around the measured ones.
COMMON = ("frequency", "flush")


@dataclass(frozen=True)
class Source:
    """A kernel of the atlas.

    ``wanted``: patterns of machine instructions; ``form`` says where they must be: "chain", "stream", "loop" (each of
    ``counts`` in one loop), "flight" (and all loads of it before any is used), "any" (in the whole kernel; a count
    below 0 is a least one). ``other`` and ``model`` (the
    name of a kernel, and a pattern of an instruction in it): see :mod:`softlab.bench.record.atlas.patching`.
    """

    text: str
    entry: str = "k"
    form: str = "any"
    wanted: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    other: str = ""
    kind: str = "r"
    operand: str = "r"
    model: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Job:
    """One measurement. ``method`` is a function of :mod:`softlab.bench.record.atlas.methods`; ``keys`` its rows."""

    keys: tuple[str, ...]
    family: str
    unit: str
    method: str
    kernels: tuple[str, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    less: tuple[str, ...] = ()
    note: str = ""


def file_text(name: str) -> str:
    """The text of a source file of this package."""
    return (Path(__file__).parent / name).read_text()


def pieces(kernels: dict[str, tuple[str, tuple[str, ...], tuple[int, ...]]], file: str) -> dict[str, Source]:
    """Kernels of one file: name -> form, patterns and their counts."""
    text = file_text(file)
    return {name: Source(text, name, *how) for name, how in kernels.items()}
