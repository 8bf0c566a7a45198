"""The macros of several files in one source: each file has its own, as if it were compiled by itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from softlab.cuda.file_items import File
from softlab.cuda.macros import definitions_in, own_macros
from softlab.cuda.syntax import WORD

#: Macros that a header asks for, to define them where they are not there.
_ASKED = re.compile(rb"#[ \t]*ifndef[ \t]+(\w+)|![ \t]*defined[ \t]*\(?[ \t]*(\w+)")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Scope:
    """A file after the other ones of its program, which it does not include.

    ``outside``: files before it that it does not include, directly or not. ``shared``: those before it that it
    includes; the compiler reads them once. ``new``: the file itself, and what no file before it includes.
    """

    outside: tuple[File, ...]
    shared: tuple[File, ...]
    new: tuple[File, ...]

    @classmethod
    def of(cls, file: File, files: Collection[File], earlier: Collection[File]) -> Scope:
        """That of a file. ``files``: all that were read so far; ``earlier``: those of them before this one."""
        by_path = {one.real_path: one for one in files if one.real_path}
        reached = {one.real_path for one in _reached(file, by_path)}
        known = {one.real_path for one in earlier}
        return cls(
            tuple(one for one in earlier if one.real_path not in reached),
            tuple(one for one in earlier if one.real_path in reached),
            (file, *(one for one in _reached(file, by_path) if one.real_path not in known and one is not file)),
        )

    def hidden(self, given: Collection[str]) -> dict[str, str]:
        """The macros of the files before that are none in this one, and that it names.

        Each comes with what defines it again after this file, "" where there is more than one definition of it.
        ``given``: those of the compiler's options, which each file has.
        """
        words = {word for file in self.new for word in WORD.findall(file.text)}
        named = (_macros(self.outside) & words) - _macros(self.shared) - {name.encode() for name in given}
        found: dict[bytes, list[bytes]] = {name: [] for name in sorted(named)}
        for file in self.outside if named else ():
            for name, directive in definitions_in(file.text):
                if name in named:
                    found[name].append(directive)
        return {name.decode(): some[0].decode() if len(some) == 1 else "" for name, some in found.items()}

    def differences(self, given: Collection[str]) -> Iterator[str]:
        """What to say of headers that this file shares with others, where one names a macro that stands before it in
        both with another text, or in one of them alone. ``given``: those of the compiler's options.

        The compiler reads such a header once, after the files before.
        """
        by_path = {one.real_path: one for one in (*self.outside, *self.shared, *self.new) if one.real_path}
        for header in self.shared:
            first = next((found for one in self.outside if (found := _before(one, header, by_path))), None)
            own = _before(self.new[0], header, by_path)
            if first is None or own is None:
                continue
            words = set(WORD.findall(_COMMENT.sub(b" ", header.text))) - {name.encode() for name in given}
            words -= _certain([header, *_reached(header, by_path)])
            for name in sorted(words & (first.macros.keys() | own.macros.keys())):
                if said := first.unlike(own, name):
                    yield (
                        f"{_name(header)} names {name.decode()}, which {said}: it is compiled once, so that "
                        f"{_name(own.file)} may have another value there than by itself"
                    )


def _reached(file: File, by_path: Mapping[Path, File]) -> list[File]:
    """What a file includes, directly or not, by the paths."""
    found, left = dict[Path, File](), [file]
    while left:
        new = {path: by_path[path] for path in left.pop().headers if path in by_path and path not in found}
        found |= new
        left += new.values()
    return [found[path] for path in sorted(found)]


def _macros(files: Collection[File]) -> set[bytes]:
    """The macros that these files define themselves."""
    return {name for file in files for name in own_macros(file.text)}


def _certain(files: Collection[File]) -> set[bytes]:
    """The macros that these files define whatever stands before them."""
    return _macros(files) - {name for file in files for found in _ASKED.findall(file.text) for name in found if name}


class _Before:
    """The macros that stand before a header in a ``file``, each with its parameters and body, and where it stands."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.macros: dict[bytes, tuple[tuple[bytes, bytes], File]] = {}
        self.seen: set[Path | None] = set()

    def read(self, file: File, header: File, by_path: Mapping[Path, File]) -> bool:
        """Read a file, and what it includes, up to the header: whether it is there."""
        self.seen.add(file.real_path)
        at = 0
        for end, path in sorted(zip(file.local, file.headers, strict=True)):
            self._define(file, file.text[at:end])
            at = end
            if path == header.real_path:
                return True
            if path in by_path and path not in self.seen and self.read(by_path[path], header, by_path):
                return True
        self._define(file, file.text[at:])
        return False

    def _define(self, file: File, text: bytes) -> None:
        self.macros |= {name: ((one[0], one[1].strip()), file) for name, one in own_macros(text).items()}

    def unlike(self, other: _Before, name: bytes) -> str:
        """Who defines a macro, where it has another text, or none, in the other file; "" where it is the same."""
        one, two = self.macros.get(name), other.macros.get(name)
        if one and two:
            return "" if one[0] == two[0] else f"{_name(one[1])} and {_name(two[1])} define differently"
        if one:
            return f"{_name(one[1])} defines before it and {_name(other.file)} does not"
        return f"{_name(two[1])} defines before it and {_name(self.file)} does not" if two else ""


def _before(file: File, header: File, by_path: Mapping[Path, File]) -> _Before | None:
    """What stands before the header in a file; None where the file does not include it, directly or not."""
    found = _Before(file)
    return found if found.read(file, header, by_path) else None


def _name(file: File) -> str:
    return file.path.name if file.path else "the source"
