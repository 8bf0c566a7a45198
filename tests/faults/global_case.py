"""A good kernel whose threads share global memory: a section of ``tests/faults/kernels/global_*.cu``.

Each section is compiled with the head of its file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from softlab.cuda.compile import Program, compile_program

_HERE = Path(__file__).parent / "kernels"
_MARK = "// == "


@dataclass(frozen=True, kw_only=True)
class GlobalCase:
    """A kernel and its launch. ``arguments`` gives fresh arrays; ``expected`` what some of them hold afterwards."""

    file: str
    kernel: str
    grid: int = 4
    block: int = 64
    arguments: Callable[[], list]
    cooperative: bool = False
    expected: Callable[[list], dict[int, np.ndarray]] | None = None

    @property
    def source(self) -> str:
        """The head of the file and the kernel's section."""
        head, *sections = (_HERE / self.file).read_text().split(_MARK)
        return head + next(s for s in sections if s.partition("\n")[0] == self.kernel).partition("\n")[2]

    def compile(self, source: str | None = None) -> Program:
        """The program of this source, or of one with a fault in it."""
        return _compiled(source or self.source, self.kernel, self.file)


@lru_cache(maxsize=256)
def _compiled(source: str, kernel: str, file: str) -> Program:
    return compile_program(source, kernel, arch="sm_90", file=file)
