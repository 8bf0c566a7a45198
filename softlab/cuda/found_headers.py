"""The headers that the compiler finds in the user's folders: beside the source, and where ``-I`` points.

A program of the cache holds only while these have the same text. The compiler does not say which files it read, so
they are looked for here, and rather too many than too few: an ``#include`` that is left out by an ``#if`` counts, too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from softlab.cuda.given_options import values_of

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|(\w))', re.MULTILINE)
_FOLDER = ("-I", "--include-path")
_READ_FIRST = ("-include", "--pre-include")


def folders_of(options: Sequence[str]) -> tuple[Path, ...]:
    """The folders of headers that the options name."""
    return tuple(Path(value) for value in values_of(options, _FOLDER))


def found_headers(texts: Sequence[str], file: str, options: Sequence[str], known: Collection[str]) -> list[str] | None:
    """The path and a digest of each header that ``texts`` include and the compiler finds in the user's folders.

    Arguments:
        texts: the source, and the texts of headers that the compiler gets by name.
        file: the name of the source. Its folder is looked at first.
        options: those of the compiler; ``-I`` and ``-include`` count.
        known: names of headers that the compiler gets by name, so that it looks for no file.

    Returns:
        None where an ``#include`` names a macro or a header cannot be read: then nobody knows what the compiler reads.
    """
    folders = [Path(file).parent, *folders_of(options)]
    pending = [path for name in values_of(options, _READ_FIRST) for path in _places(name, folders)]
    found: dict[Path, str] = {}
    for text in texts:
        names = _names(text)
        if names is None:
            return None
        pending += [path for name in names - set(known) for path in _places(name, folders)]
    while pending:
        path = pending.pop()
        if path in found:
            continue
        try:
            content = path.read_bytes()
        except OSError:
            return None
        found[path] = hashlib.sha256(content).hexdigest()[:16]
        names = _names(content.decode(errors="replace"))
        if names is None:
            return None
        pending += [there for name in names for there in _places(name, [path.parent, *folders])]
    return [f"{path}: {digest}" for path, digest in sorted(found.items())]


def _names(text: str) -> set[str] | None:
    """What the text includes. None: a macro is among it."""
    found = _INCLUDED.findall(text)
    return None if any(macro for *_, macro in found) else {quoted or angular for quoted, angular, _ in found}


def _places(name: str, folders: Sequence[Path]) -> Iterator[Path]:
    """The files of that name: the compiler takes one of them."""
    for folder in folders:
        path = folder / name
        try:
            if path.is_file():
                yield path.resolve()
        except (OSError, ValueError):
            continue
