"""The place of an instruction in the source, as errors name it: the user's line first, then that of a header."""

from __future__ import annotations

from dataclasses import dataclass

from softlab.emulator.ptx.syntax import Frame


@dataclass(frozen=True)
class Place:
    """``line`` of ``file``, None and "" where it is not known; ``header``: "line 5 of tile.cuh" if that line calls a
    function of a header, and the instruction is there, else None. ``callers``: the lines of ``file`` from which the
    function of that line is called, if the compiler has written it into its callers: the innermost call first.
    """

    line: int | None = None
    file: str = ""
    header: str | None = None
    callers: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Such as "line 4 of kernel.cu, in line 5 of tile.cuh", or "line 4 of kernel.cu, called from line 9"."""
        if self.line is None:
            return ""
        called = "".join(f", called from line {line}" for line in self.callers)
        return f"line {self.line} of {self.file}{f', in {self.header}' if self.header else ''}{called}"


def place_of(frames: tuple[Frame, ...], file: str | None) -> Place:
    """The place of an instruction with these frames; ``file`` is the kernel's own source file.

    That is the innermost frame in this file, as ``by_line`` counts it; without one, the innermost frame of all.
    """
    if not frames:
        return Place()
    inner = frames[0]
    own = [frame for frame in frames if frame.file == file]
    if not own:
        return Place(inner.line, inner.file)
    header = None if own[0] is inner else f"line {inner.line} of {inner.file}"
    return Place(own[0].line, own[0].file, header, tuple(frame.line for frame in own[1:]))
