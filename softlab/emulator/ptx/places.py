"""The place of an instruction in the source, as errors name it: the user's line first, then that of a header."""

from __future__ import annotations

from dataclasses import dataclass

from softlab.emulator.ptx.syntax import Frame


@dataclass(frozen=True)
class Place:
    """``line`` of ``file``, None and "" where it is not known; ``header``: "line 5 of tile.cuh" if that line calls a
    function of a header, and the instruction is there, else None.
    """

    line: int | None = None
    file: str = ""
    header: str | None = None

    def __str__(self) -> str:
        """Such as "line 4 of kernel.cu, in line 5 of tile.cuh"."""
        if self.line is None:
            return ""
        return f"line {self.line} of {self.file}{f', in {self.header}' if self.header else ''}"


def place_of(frames: tuple[Frame, ...], file: str | None) -> Place:
    """The place of an instruction with these frames; ``file`` is the kernel's own source file.

    That is the innermost frame in this file, as ``by_line`` counts it; without one, the innermost frame of all.
    """
    if not frames:
        return Place()
    inner = frames[0]
    own = next((frame for frame in frames if frame.file == file), None)
    if own is None or own is inner:
        return Place(inner.line, inner.file)
    return Place(own.line, own.file, f"line {inner.line} of {inner.file}")
