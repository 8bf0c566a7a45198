"""Source files: their text, and where the headers are that they include."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from softlab.cuda.shims import shim_headers

#: Where a project keeps its headers, and how many folders up they are looked for.
_HEADER_FOLDERS = ("include", "inc", "common", "Common", "includes", "headers", "src", "utils", ".")
_LEVELS_UP = 5
#: How many folders up the top of a copy of a repository without ``.git`` is looked for, and the folders (their parts,
#: with the root) that are the machine's.
_LEVELS_TO_TOP, _PARTS_OF_MACHINE = 12, 2
_HEADERS = (".h", ".cuh", ".hpp", ".hxx", ".hh", ".inl", ".inc", ".cu", ".def")
#: What stands at the top of a repository.
_AT_THE_TOP = (".gitignore", ".gitattributes", "LICENSE", "LICENSE.md", "LICENSE.txt", "README.md", "README.txt")
#: Where a program defines functions.
_SOURCES = (".cu", ".cuh", ".inl", ".cpp", ".cc", ".cxx")
#: A checkout with more folders or files is not searched: to list a folder takes about 0.1 ms, and all of them a second.
#: One that was searched is searched again after some seconds.
_MOST_FOLDERS = 10_000
_MOST_FILES = 50_000
_INDEX_SECONDS = 10


def decode(content: bytes) -> str:
    """The text of a source file: UTF-8 or, where it is none, Latin-1; without a byte-order mark, lines end with \\n."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True)
class Located:
    """A header: its ``path``, None where it is not found, and a ``remark`` on a place that was guessed.

    ``anywhere``: the place is any of the checkout, so that a header of the compiler goes before it.
    """

    path: Path | None
    remark: str = ""
    anywhere: bool = False


def beside(path: Path | None, name: str, folders: Sequence[Path] = ()) -> Path | None:
    """The file that an ``#include`` names, as :func:`located` finds it."""
    return located(path, name, folders).path


def located(path: Path | None, name: str, folders: Sequence[Path] = ()) -> Located:
    """The file that an ``#include`` names.

    It is beside the file or in one of these ``folders``, where a compiler looks, too. Else its place is guessed: in a
    folder for headers there or further up, or the only one with that name in the checkout of a repository: the nearest
    of several, where no other is as near. Last, it may be spelt with other capitals, which Windows takes. A guess stays
    in the checkout, the nearest folder with ``.git``, also where links lead out of it. Without a checkout it is only in
    a folder for headers. A text has no ``path``: its headers are in ``folders``.
    """
    if not name:
        return Located(None)
    if path is None:
        return Located(next((place / name for place in folders if (place / name).is_file()), None))
    path, name = path.resolve(), name.replace("\\", "/")
    if found := next((place / name for place in (path.parent, *folders) if (place / name).is_file()), None):
        return Located(found)
    root = checkout_of(path)
    parents = [parent for parent in path.parents[:_LEVELS_UP] if root is None or parent.is_relative_to(root)]
    limit = root or parents[-1]
    for place in (parent / folder / name for parent in parents for folder in _HEADER_FOLDERS):
        if place.is_file() and place.resolve().is_relative_to(limit):
            return Located(place, _taken(path, name, place))
    guessed = _elsewhere(path, name, root) if root is not None else Located(None)
    if guessed.path or name in shim_headers():
        return guessed
    found = next(filter(None, (_otherwise_spelt(place, name) for place in (path.parent, *folders))), None)
    return Located(found, _taken(path, name, found)) if found else guessed


class Places:
    """Where the headers of one program are. Each is looked for once per folder that includes it.

    ``folders``: see :func:`located`. ``macros``: those that each header brings, once it was read.
    """

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self.macros: dict[Path, Mapping[bytes, tuple[bytes, bytes]]] = {}
        self._folders = tuple(folders)
        self._known: dict[tuple[Path | None, str], Located] = {}

    def located(self, path: Path | None, name: str) -> Located:
        """As :func:`located` finds it."""
        found = self._found(path, name)
        if path is None or found.path is None or not found.remark:
            return found
        return replace(found, remark=_taken(path.resolve(), name, found.path))

    def beside(self, path: Path | None, name: str) -> Path | None:
        """The file alone."""
        return self._found(path, name).path

    def _found(self, path: Path | None, name: str) -> Located:
        key = (path.parent if path else None, name)
        if key not in self._known:
            self._known[key] = located(path, name, self._folders)
        return self._known[key]


def _taken(path: Path, name: str, header: Path) -> str:
    """What to say of a header whose place was guessed."""
    from_file = Path(os.path.relpath(header.resolve(), path.parent)).as_posix()
    return f'{path.name} includes "{name}", which is not beside it: {from_file} is taken'


def _otherwise_spelt(place: Path, name: str) -> Path | None:
    """The only file of that name in a folder, where capitals do not count."""
    for part in name.split("/"):
        if part in (".", ".."):
            place /= part
            continue
        found = [one for one in place.iterdir() if one.name.lower() == part.lower()] if place.is_dir() else []
        if len(found) != 1:
            return None
        place = found[0]
    return place if place.is_file() else None


def _elsewhere(path: Path, name: str, root: Path) -> Located:
    """The header of that name in the checkout that the file belongs to."""
    parts = tuple(part for part in name.split("/") if part not in (".", ".."))
    if not parts or not name.endswith(_HEADERS):
        return Located(None)
    headers = _listed_in(root, int(time.monotonic() // _INDEX_SECONDS))
    if headers is None:
        limits = f"{_MOST_FOLDERS} folders or {_MOST_FILES} files"
        return Located(None, f'"{name}" is not looked for in the whole checkout, which has more than {limits}')
    found = [header for header in headers.get(parts[-1], ()) if header.parts[-len(parts) :] == parts]
    shared = [len(os.path.commonpath([header, path])) for header in found]
    nearest = [header for header, length in zip(found, shared, strict=True) if length == max(shared)]
    if len(nearest) != 1 or not nearest[0].resolve().is_relative_to(root):
        return Located(None)
    return Located(nearest[0], _taken(path, name, nearest[0]), anywhere=True)


def sources_near(path: Path) -> list[Path]:
    """The other source files of the checkout that a file belongs to, the nearest ones first.

    Without a checkout, or in one that is too large, those of its folder.
    """
    path = path.resolve()
    root = checkout_of(path)
    listed = _listed_in(root, int(time.monotonic() // _INDEX_SECONDS)) if root is not None else None
    if listed is None:
        found = [file for file in path.parent.iterdir() if file.is_file()]
    else:
        found = [file for files in listed.values() for file in files]
    sources = [file for file in found if file.suffix in _SOURCES and file.resolve() != path]
    return sorted(sources, key=lambda file: (-nearness(file, path), file))


def checkout_of(path: Path) -> Path | None:
    """The folder of the repository that a file belongs to: the nearest one with ``.git``. A copy without that, such as
    an unpacked archive, is the outermost of the folders up to here with what stands at the top of a repository. None
    without either."""
    if root := next((parent for parent in path.parents if (parent / ".git").exists()), None):
        return root
    own = {Path.home(), *Path.home().parents}
    near = [one for one in path.parents if one not in own and len(one.parts) > _PARTS_OF_MACHINE][:_LEVELS_TO_TOP]
    return next((parent for parent in reversed(near) if any((parent / name).is_file() for name in _AT_THE_TOP)), None)


def nearness(one: Path, other: Path) -> int:
    """How many folders two files have in common, from the root."""
    return len(Path(os.path.commonpath([one.resolve(), other.resolve()])).parts)


@lru_cache(maxsize=4)
def _listed_in(root: Path, now: int) -> dict[str, list[Path]] | None:
    """The headers and sources in a checkout by their names; None for a larger one. ``now``: for the cache, which ages.

    Folders that are links are not entered.
    """
    found: dict[str, list[Path]] = {}
    files = 0
    for listed, (folder, folders, names) in enumerate(os.walk(root), 1):
        folders[:] = [one for one in folders if not one.startswith(".")]
        files += len(names)
        if listed > _MOST_FOLDERS or files > _MOST_FILES:
            return None
        for name in names:
            if name.endswith((*_HEADERS, *_SOURCES)):
                found.setdefault(name, []).append(Path(folder, name))
    return found
