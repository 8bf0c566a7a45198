"""A kernel of ``tests/faults/courses``, written as in a course or a blog post, with its launch and what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from softlab.cuda.compile import Program, compile_program

_HERE = Path(__file__).parent / "courses"
_SECTION, MARK, _ASM = "// == ", "// BUG", '#include "asm.cuh"\n'
_LARGE = re.compile(r"^#include <(?:cooperative_groups|cub/|cuda/).*\n", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class CourseCase:
    """A kernel and its launch.

    ``file`` and ``kernel``: the source, a section of a file, compiled with the head of the file and with ``asm.cuh``
    where the head names it, and with its large headers first. ``arguments`` gives fresh arrays. ``expected``: what some
    arguments hold afterwards.

    A kernel with a fault has its ``kind``, and the lines to blame end with "// BUG" in the source. ``severity``: of the
    finding. ``hangs``: it does not end on a GPU. ``missed``: why softlab does not find it, or finds too much; such a
    case is a known miss.
    """

    file: str
    kernel: str
    arguments: Callable[[], list]
    grid: int | tuple[int, ...] = 1
    block: int | tuple[int, ...] = 64
    smem: int = 0
    cooperative: bool = False
    expected: Callable[[list], dict[int, Any]] | None = None
    kind: str | None = None
    severity: str = "error"
    hangs: bool = False
    missed: str | None = None

    @property
    def source(self) -> str:
        """The head of the file and the kernel's section."""
        head, sections = _parts(self.file)
        return _with_shared_headers(head, sections[self.kernel])

    @property
    def lines(self) -> set[int]:
        """The numbers of the lines to blame."""
        return {number for number, line in enumerate(self.source.splitlines(), 1) if line.endswith(MARK)}

    def compile(self) -> Program:
        """The program."""
        return _compiled(self.source, self.kernel, self.file)


@lru_cache(maxsize=32)
def _parts(file: str) -> tuple[str, dict[str, str]]:
    """The head of a file, and its sections by the kernel's name."""
    head, *sections = (_HERE / file).read_text().split("\n" + _SECTION)
    named = (section.partition("\n") for section in sections)
    return f"{head}\n".replace(_ASM, (_HERE / "asm.cuh").read_text()), {name: text for name, _, text in named}


def _with_shared_headers(head: str, section: str) -> str:
    """The head and the section, with the large headers before both: what NVRTC stores of the first one serves all cases
    that begin with it.

    A pragma stands in the place of the head's first line, a comment, so that all lines keep their numbers.
    """
    if not (large := sorted(_LARGE.findall(section))):
        return head + section
    comment, _, rest = head.partition("\n")
    if not comment.startswith("//"):
        raise ValueError(f"the first line is no comment: {comment}")
    first, *others = large
    return "".join([first, "#pragma nv_hdrstop\n", *others, rest, _LARGE.sub("", section)])


@lru_cache(maxsize=512)
def _compiled(source: str, kernel: str, file: str) -> Program:
    return compile_program(source, kernel, arch="sm_90", file=file)


def floats(n: int, dtype: Any = np.float32) -> np.ndarray:
    """Normally distributed numbers, always the same."""
    return np.random.default_rng(n).standard_normal(n).astype(dtype)


def integers(n: int, high: int = 100, dtype: Any = np.int32) -> np.ndarray:
    """Integers from 0 to ``high``, always the same."""
    return np.random.default_rng(n).integers(0, high, n).astype(dtype)


def zeros(n: int, dtype: Any = np.int32) -> np.ndarray:
    """An array of zeros."""
    return np.zeros(n, dtype)
