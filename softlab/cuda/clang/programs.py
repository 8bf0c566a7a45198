"""Programs that clang makes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from softlab.cuda.clang.front import NAMES, Compiled, clang_version, compile_ptx
from softlab.cuda.logs import no_kernel, rejection
from softlab.cuda.program import Program
from softlab.errors import CompileError

_SHARED = re.compile(r"\.shared\s+\.align\s+(\d+)\s+\.[a-z](\d+)\s+([\w$]+)(?:\[(\d+)\])?;")
_DEPOT = re.compile(r"\.local\s+\.align\s+\d+\s+\.b8\s+[\w$]+\[(\d+)\]")
_NOT_THERE = re.compile(rf"^{re.escape(NAMES)}\(", re.MULTILINE)


def compiled(
    source: str,
    name: str,
    *,
    arch: str,
    options: tuple[str, ...],
    file: str,
    headers: Mapping[str, str],
    further: Mapping[str, str],
) -> Program:
    """The program of one kernel. ``headers``: those beside the source; ``further``: texts of all that it may include.

    Raises:
        CompileError: clang rejects the source, or the kernel is not in it.
    """
    made, entries = _made(source, name, arch, options, file, further)
    (entry,) = made.symbols
    report: dict[str, Any] = {**resources(made.ptx, entry)}
    return Program(
        source=source,
        name=name,
        file=file,
        arch=arch,
        options=options,
        headers=dict(headers),
        nvrtc="",
        clang=clang_version(),
        entry=entry,
        ptx=made.ptx,
        cubin=b"",
        **report,
        reports={kernel: resources(made.ptx, kernel) for kernel in entries},
    )


def _made(
    source: str, name: str, arch: str, options: tuple[str, ...], file: str, further: Mapping[str, str]
) -> tuple[Compiled, list[str]]:
    """The PTX, and the kernels in it."""
    try:
        made = compile_ptx(source, (name,), arch=arch, options=options, file=file, headers=further)
    except CompileError as error:
        if not error.log:
            raise
        raise _rejected(error, name, file, {file: source, **further}) from None
    entries = re.findall(r"^\.visible \.entry ([\w$]+)", made.ptx, re.MULTILINE)
    if made.symbols[0] not in entries:
        raise no_kernel(name, file, source, "clang says that it is no __global__ function")
    return made, entries


def lowered(program: Program, source: str, names: Sequence[str], headers: Mapping[str, str]) -> list[str]:
    """What clang calls functions of a source that begins with a program's."""
    made = compile_ptx(source, names, arch=program.arch, options=program.options, file=program.file, headers=headers)
    return list(made.symbols)


def resources(ptx: str, entry: str) -> dict[str, int]:
    """What PTX says of a kernel: bytes of static shared and of local memory. It has no registers of the machine."""
    text = ptx.partition(f".visible .entry {entry}")[2].partition("\n}\n")[0]
    at = 0
    words = set(re.findall(r"[\w$]+", text))
    for align, bits, name, count in _SHARED.findall(ptx):
        if name not in words:
            continue
        at = -(-at // int(align)) * int(align) + int(bits) // 8 * int(count or 1)
    local = sum(int(size) for size in _DEPOT.findall(text))
    return {"registers": 0, "static_smem_bytes": at, "local_bytes": local, "spill_bytes": 0}


def _rejected(error: CompileError, name: str, file: str, sources: Mapping[str, str]) -> CompileError:
    """The error with the source's lines; one of its own where the source has no such kernel."""
    log = error.log
    errors = [line for line in log.splitlines() if re.search(r"\): error: ", line)]
    if errors and all(_NOT_THERE.match(line) for line in errors):
        return no_kernel(name, file, sources[file], log)
    return rejection(name, file, sources, log, error, compiler="clang")
