"""Precompiled headers: the next kernel with the same large headers compiles in a fraction of the time.

CUB, libcu++ and cooperative groups take NVRTC about a second to read, whatever the kernel. From version 12.8 on NVRTC
can store what it has read, and start from there the next time. The file serves only the process that wrote it. It has
100 to 200 MB, and it loses its name at once, so the system frees it when the process ends, however it ends.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

#: NVRTC's version that brought precompiled headers, as (major, minor).
_SINCE = (12, 8)
#: Headers that are worth it: each brings most of libcu++. cuda_fp16.h takes 0.01 s and is not.
_LARGE = re.compile(r"cub/|cuda/(?!std/)|thrust/|cute/|cutlass/|cooperative_groups")
_INCLUDE = re.compile(r'^[ \t]*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
_STOP = re.compile(r"#\s*pragma\s+nv_hdrstop\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
#: How many stored headers a process keeps.
_KEPT = 4
#: Nothing is stored on a disk that has less room than this, in bytes.
_LEAST_FREE = 2 * 1024**3
#: Where an open file has a name although its own was deleted. Only Linux has this folder.
_OPEN_FILES = Path("/proc/self/fd")


def first_directives(source: str) -> str:
    """The lines of a source for the preprocessor before any other line: NVRTC stores what they give.

    ``#pragma nv_hdrstop`` is such another line.
    """
    lines = []
    for line in _COMMENT.sub(" ", source).replace("\\\n", " ").splitlines():
        if stripped := line.strip():
            if not stripped.startswith("#") or _STOP.match(stripped):
                break
            lines.append(stripped)
    return "\n".join(lines)


def begins_with_large_headers(source: str, headers: Mapping[str, str]) -> bool:
    """Whether a source, or a header that it begins with, begins with large headers. ``headers``: text by name."""
    pending, seen = [source], set()
    while pending:
        for name in _INCLUDE.findall(first_directives(pending.pop())):
            if _LARGE.match(name):
                return True
            if name in headers and name not in seen:
                seen.add(name)
                pending.append(headers[name])
    return False


@contextmanager
def stored_headers(
    source: str, file: str, headers: Mapping[str, str], flags: Sequence[str], version: tuple[int, int]
) -> Iterator[list[str]]:
    """Further options for NVRTC: to use what is stored of the source's headers, or to store it. [] where it is no use.

    Sources of other names share what is stored, since NVRTC gives the same code (seen in 12.9, with ``-G`` and ``-rdc``
    too). They do so only in one folder, where NVRTC looks for headers first, and without ``#pragma once``, which NVRTC
    remembers by the source's name.

    Arguments:
        source, file: CUDA C++, and the name that it is compiled under.
        headers: name -> text of the headers that are no files.
        flags: all other options.
        version: NVRTC's, as (major, minor).
    """
    if not (version >= _SINCE and _OPEN_FILES.is_dir() and begins_with_large_headers(source, headers)):
        yield []
        return
    directives = first_directives(source)
    place = file if "pragma" in directives else os.path.dirname(file)
    parts = [directives, place, dict(headers), list(flags)]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    kept = _kept(os.getpid())
    if key in kept:
        kept.move_to_end(key)
        stored = kept[key]
        yield [] if stored is None else ["--pch-messages=false", f"--use-pch={_OPEN_FILES}/{stored}"]
        return
    with tempfile.TemporaryDirectory(prefix="softlab-headers-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "headers"
        try:
            enough = shutil.disk_usage(folder).free >= _LEAST_FREE
            yield ["--pch-messages=false", f"--create-pch={path}"] if enough else []
        finally:
            # A source with an error after its headers has stored them, too.
            kept[key] = os.open(path, os.O_RDONLY | os.O_CLOEXEC) if path.is_file() else None
            while len(kept) > _KEPT:
                _, oldest = kept.popitem(last=False)
                if oldest is not None:
                    os.close(oldest)


def were_no_use(log: str) -> bool:
    """Whether NVRTC gave up because of stored headers, by its log: then it compiles without them."""
    return "precompiled header file" in log


@lru_cache(maxsize=1)
def _kept(process: int) -> OrderedDict[str, int | None]:
    """Open files of stored headers of a process, the least recently used first; None: NVRTC did not store them."""
    return OrderedDict()
