"""Kernels of PTX that any compiler has made."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from softlab.cuda.assembler import assemble
from softlab.cuda.compile import Program
from softlab.cuda.logs import assembler_report
from softlab.errors import CompileError, Error
from softlab.kernel.mangled_names import qualified_name

_LOC = re.compile(r"^[ \t]*\.loc\b[^\n]*", re.MULTILINE)
_TARGET = re.compile(r"^\s*\.target\s+(sm_\d+[af]?)", re.MULTILINE)
_FILE = re.compile(r'^\s*\.file\s+\d+\s+"([^"]*)"', re.MULTILINE)


def ptx_program(text: str, name: str | None, *, arch: str | None, source: str | None, file: str) -> Program:
    """The program of a kernel in PTX. The arguments and errors are those of :meth:`softlab.Kernel.from_ptx`."""
    from softlab.emulator.ptx.linker import link
    from softlab.emulator.ptx.parser import parse

    if not isinstance(text, str):
        raise TypeError(f"the PTX must be a string, not {type(text).__name__}: pass text.decode() for bytes")
    text = text.rstrip("\0")
    target = _TARGET.search(text)
    if target is None and arch is None:
        raise ValueError('the PTX has no line ".target sm_90": give arch="sm_90"')
    if source is None:
        text = _LOC.sub(lambda found: " " * len(found[0]), text)
    else:
        paths = [PurePath(path).name for path in _FILE.findall(text)]
        file = paths[0] if paths and file not in paths else file
    module = parse(text, file=file)
    entry = _entry(name, [f.name for f in module.functions.values() if f.entry])
    image = link(module, entry)
    chosen = arch or (target[1] if target else "")
    found = assemble(text, chosen)
    sizes = {"static_smem_bytes": image.static_shared_bytes, "local_bytes": image.local_bytes}
    report: dict[str, Any] = {"registers": 0, "spill_bytes": 0, **sizes}
    if found.cubin:
        try:
            report = assembler_report(found.log, entry)
        except CompileError as error:
            raise Error(f"ptxas has made a cubin without kernel {entry}: {error}") from error
    return Program(
        source=text if source is None else source,
        name=entry,
        file=file,
        arch=chosen,
        options=(),
        nvrtc="",
        entry=entry,
        ptx=text,
        cubin=found.cubin,
        **report,
    )


def _entry(name: str | None, kernels: list[str]) -> str:
    """The symbol of the kernel that is meant."""
    listed = ", ".join(kernels) or "no kernel"
    if name is None:
        if len(kernels) != 1:
            raise ValueError(f"the PTX has {len(kernels)} kernels, say which: {listed}")
        return kernels[0]
    if name in kernels:
        return name
    named = {kernel: qualified_name(kernel) for kernel in kernels}
    found = [kernel for kernel, full in named.items() if name in (full, full.partition("<")[0])]
    if len(found) != 1:
        what = "several kernels" if found else "no kernel"
        raise ValueError(f"the PTX has {what} {name!r}; it has {listed}")
    return found[0]
