"""The macros of several files in one source: each file has its own, as if it were compiled by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from softlab.cuda.file_items import File
from softlab.cuda.macros import definitions_in, own_macros
from softlab.cuda.syntax import WORD


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
        reached, left = set[Path](), [file]
        while left:
            paths = {header for header in left.pop().headers if header in by_path} - reached
            reached |= paths
            left += [by_path[path] for path in paths]
        known = {one.real_path for one in earlier}
        return cls(
            tuple(one for one in earlier if one.real_path not in reached),
            tuple(one for one in earlier if one.real_path in reached),
            (file, *(by_path[path] for path in sorted(reached - known) if by_path[path] is not file)),
        )

    def hidden(self, given: Collection[str]) -> dict[str, str]:
        """The macros of the files before that are none in this one, and that it names.

        Each comes with what defines it again after this file, "" where there is more than one definition of it.
        ``given``: those of the compiler's options, which each file has.
        """
        words = {word for file in self.new for word in WORD.findall(file.text)}
        named = _macros(self.outside).keys() & words - _macros(self.shared).keys() - {name.encode() for name in given}
        found: dict[bytes, list[bytes]] = {name: [] for name in sorted(named)}
        for file in self.outside if named else ():
            for name, directive in definitions_in(file.text):
                if name in named:
                    found[name].append(directive)
        return {name.decode(): some[0].decode() if len(some) == 1 else "" for name, some in found.items()}

    def differences(self) -> Iterator[str]:
        """What to say of headers that this file shares with others and that name a macro of which it has another one.

        The compiler reads such a header once, after the files before.
        """
        before, own = _macros(self.outside), _macros((*self.shared, *self.new))
        different = {name for name in before.keys() & own.keys() if before[name][0] != own[name][0]}
        for file in self.shared:
            for name in sorted(different & set(WORD.findall(file.text))):
                yield (
                    f"{_name(file)} names {name.decode()}, which {_name(before[name][1])} and {_name(own[name][1])} "
                    f"define differently: it is compiled once, so that {_name(self.new[0])} may have another value "
                    "there than by itself"
                )


def _macros(files: Collection[File]) -> dict[bytes, tuple[tuple[bytes, bytes], File]]:
    """The macros that these files define themselves, each with its parameters and body, and the last such file."""
    return {name: ((one[0], one[1].strip()), file) for file in files for name, one in own_macros(file.text).items()}


def _name(file: File) -> str:
    return file.path.name if file.path else "the source"
