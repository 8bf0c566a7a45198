"""Where PTX instructions come from: the ``.file`` and ``.loc`` directives."""

from __future__ import annotations

import re

from softlab.emulator.ptx.syntax import Frame
from softlab.emulator.ptx.tokens import Tokens

_INCLUDE_FOLDER = re.compile(r".*/(?:include|_cccl/\w+)/")


_LOC = re.compile(r"^\s*\.loc\b", re.MULTILINE)
#: Records hold lines as 32-bit integers.
_LAST_LINE = 2**31 - 1


class SourceLocations:
    """Follows the ``.loc`` directives; ``frames`` is the location of the next instruction, innermost call first.

    ``main`` is the name that the kernel's own file gets (``parse`` says how). In PTX without any ``.loc`` the lines are
    those of the PTX. ``line_is_known``: whether the next instruction has a line; where it has none, ``frames`` is the
    location of the instruction before.
    """

    def __init__(self, text: str, main: str | None) -> None:
        self.frames: tuple[Frame, ...] = ()
        self.line_is_known = True
        self._files = _file_names(text, main)
        self._known: dict[tuple[str, str, str], tuple[Frame, ...]] = {}
        self._own_lines = None if main is None or _LOC.search(text) else main

    def at(self, line: int) -> tuple[Frame, ...]:
        """The location of an instruction in this line of the PTX. PTX without ``.loc`` is its own source."""
        return self.frames if self._own_lines is None else (Frame(self._own_lines, line),)

    def take(self, tokens: Tokens) -> None:
        """``.loc file line column [, function_name label[+n], inlined_at file line column]``.

        The parent is named by its position alone, which recursion makes ambiguous: the newest location at that position
        is meant. The same holds for a location that is repeated without its parent. Line 0 (no line) leaves the frames
        as they are.
        """
        tokens.take(".loc")
        key = (tokens.take(), tokens.take(), tokens.take())
        parents: tuple[Frame, ...] = ()
        while tokens.took(","):
            what = tokens.take()
            if what == "inlined_at":
                parent = (tokens.take(), tokens.take(), tokens.take())
                parents = self._known.get(parent) or self._frame(parent)
            else:
                tokens.take()
                if tokens.took("+"):
                    tokens.take()
        self.line_is_known = int(key[1]) != 0
        if not self.line_is_known:
            return
        if parents or key not in self._known:
            self._known[key] = self._frame(key) + parents
        self.frames = self._known[key]

    def _frame(self, key: tuple[str, str, str]) -> tuple[Frame, ...]:
        return (Frame(self._files.get(int(key[0]), f"file {key[0]}"), min(int(key[1]), _LAST_LINE)),)


def _file_names(text: str, main: str | None) -> dict[int, str]:
    """Number -> short name of each ``.file``: as one includes it, else relative to the main file's folder."""
    paths = {int(number): path for number, path in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.MULTILINE)}
    folder = next(
        (path[: -len(main)] for path in paths.values() if main and (path == main or path.endswith(f"/{main}"))), None
    )

    def short(path: str) -> str:
        if (found := _INCLUDE_FOLDER.match(path)) is not None:
            return path[found.end() :]
        return path[len(folder) :] if folder is not None and path.startswith(folder) else path

    return {number: short(path) for number, path in paths.items()}
