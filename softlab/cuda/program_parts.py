"""Files that are parts of a program: another file includes them, after what they need.

A program in CUDA often has its kernels in a file of their own, ``#include "kernels.cu"``, and their types and constants
in the file that includes it. The part compiles with the device code that stands before it there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from softlab.cuda.device_code import DeviceCode, read
from softlab.cuda.host_templates import HostCode
from softlab.cuda.launches import launches_of
from softlab.cuda.outlines import open_braces
from softlab.cuda.source_files import beside, decode, sources_near

_SUFFIXES = (".cu", ".cpp", ".cc", ".c", ".cuh", ".h", ".hpp")
_HEADERS = (".cuh", ".h", ".hpp")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b", re.MULTILINE)
#: Folders in which the including file is looked for: the part's own, and those above it.
_LEVELS_UP = 3
#: Files that include each other from the program to its part.
_DEPTH = 3
#: A folder with more files belongs to no program. Of a checkout at most this number of files is read.
_MOST_FILES = 300
#: Files that are tried at most.
_TRIED = 4
#: The header of what stands before the part. The part is compiled after it.
BEFORE = "softlab_before.h"


def contexts(
    path: Path,
    known: Callable[[str], bool],
    folders: Sequence[Path] = (),
    given: Collection[str] = (),
    programs: dict[tuple[object, ...], Any] | None = None,
) -> Iterator[Callable[..., DeviceCode]]:
    """Ways to read a file as the part of a program, one for each file that includes it; ``.cu`` files first.

    Each takes ``name``, ``alone``, ``files`` and ``faults`` as :func:`softlab.cuda.device_code.read` takes ``needed``
    and those. ``folders``, ``given`` and ``programs``: as there.
    """
    path = path.resolve()
    for chain in islice(_chains(path, _DEPTH), _TRIED):
        yield partial(_inside, path, chain, known, folders, given, programs)


def _chains(path: Path, depth: int) -> Iterator[tuple[tuple[Path, int], ...]]:
    """The files on the way to this one, the outermost first, each with the index of its ``#include`` of the next.

    A header comes alone first: it brings what it needs itself, and an outer file may bring what does not compile.
    """
    for file, at in _including(path):
        longer = [(*chain, (file, at)) for chain in _chains(file, depth - 1)] if depth > 1 else []
        if file.suffix in _HEADERS or not longer:
            yield ((file, at),)
        yield from longer


def _including(path: Path) -> Iterator[tuple[Path, int]]:
    """The files that include this one, each with the index of its ``#include``: those of the folders further up, then
    the nearest source files of the checkout."""
    seen = {path}
    for file in (*_above(path), *sources_near(path)[:_MOST_FILES]):
        text = decode(file.read_bytes()) if file not in seen else ""
        seen.add(file)
        for match in _INCLUDE.finditer(text) if path.name in text else ():
            if Path(match[1]).name == path.name and (found := beside(file, match[1])) and found.resolve() == path:
                yield file, match.start()
                break


def _above(path: Path) -> Iterator[Path]:
    """The files of a file's folder and of those above it, ``.cu`` files first."""
    for folder in list(path.parents)[:_LEVELS_UP]:
        files = [file for file in folder.iterdir() if file.suffix in _SUFFIXES and file.is_file()]
        if len(files) <= _MOST_FILES:
            yield from sorted(files, key=lambda file: (_SUFFIXES.index(file.suffix), file.name))


def _inside(
    path: Path,
    chain: tuple[tuple[Path, int], ...],
    known: Callable[[str], bool],
    folders: Sequence[Path],
    given: Collection[str],
    programs: dict[tuple[object, ...], Any] | None,
    *,
    name: str | None,
    alone: bool = False,
    files: Sequence[str | os.PathLike[str]] = (),
    faults: Collection[tuple[str, int]] = (),
) -> DeviceCode:
    """The device code of the part, with the header of what stands before it."""
    whole = partial(read, decode(path.read_bytes()), path, known=known, needed=name or "", alone=alone)
    further = [Path(file) for file in files]
    code = whole(folders=folders, files=further, faults=faults, given=given, programs=programs)
    texts = [decode(file.read_bytes()) for file, _ in chain]
    ahead = [_closed(text[:at]) for text, (_, at) in zip(texts, chain, strict=True)]
    program = HostCode.of([text.encode() for text in texts])
    words = " ".join([name or "", code.source, *code.headers.values()])
    parts: list[DeviceCode] = []
    for text, (file, _) in zip(reversed(ahead), reversed(chain), strict=True):
        part = read(text, file, known=known, needed=words, alone=True, folders=folders, programs=programs)
        parts.insert(0, part)
        words = " ".join([words, parts[0].source, *parts[0].headers.values()])
    return replace(
        code,
        headers={
            **{header: text for part in parts for header, text in part.headers.items()},
            **code.headers,
            BEFORE: "\n".join(part.source for part in parts),
        },
        missing=tuple(dict.fromkeys([*code.missing, *(header for part in parts for header in part.missing)])),
        remarks=tuple(dict.fromkeys([*code.remarks, *(remark for part in parts for remark in part.remarks)])),
        launches=(*code.launches, *(launch for one in program for launch in launches_of(one, program))),
    )


def _closed(text: str) -> str:
    """A text that ends inside conditionals of the preprocessor, or inside ``extern "C"``, with the ends of those."""
    found = [match[1] for match in _DIRECTIVE.finditer(text)]
    whole = text + "#endif\n" * max(0, len(found) - 2 * found.count("endif"))
    return whole + "}\n" * open_braces(whole.encode())
