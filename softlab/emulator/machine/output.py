"""What the threads of a launch print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Size of the buffer for what a kernel prints on a GPU (CUDA C++ Programming Guide, "Formatted Output").
PRINT_BYTES = 1 << 20


def _write(text: str) -> None:
    print(text, end="")


class PrintBuffer:
    """Writes what a launch prints, up to ``limit`` bytes of UTF-8. Then one line says that the rest is dropped."""

    def __init__(self, limit: int = PRINT_BYTES, write: Callable[[str], Any] = _write) -> None:
        self._limit, self._free, self._write = limit, limit, write
        self._line_open = False
        self._full = False

    def __call__(self, text: str) -> None:
        """The text of one call of ``printf``: all of it is written, or nothing."""
        if self._full:
            return
        self._free -= len(text.encode("utf-8", "replace"))
        self._full = self._free < 0
        if self._full:
            text = f"[softlab: the launch prints more than {self._limit} bytes; the rest is dropped]\n"
            text = "\n" + text if self._line_open else text
        self._write(text)
        self._line_open = not text.endswith("\n") if text else self._line_open
