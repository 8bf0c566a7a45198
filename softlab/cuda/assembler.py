"""ptxas, NVIDIA's assembler: PTX to a cubin, with no GPU. It is optional: the emulator runs PTX without it."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from softlab.cuda.disassembly import find_tool

_SECONDS = 120
_VERSION = re.compile(r"^(\s*\.version\s+)(\d+\.\d+)", re.MULTILINE)
_ADVICE = "Install it with: pip install 'softlab[ptx]' (Linux or Windows; it needs no GPU and no driver)"


@dataclass(frozen=True)
class Assembled:
    """A cubin with the assembler's report, or an empty one and the reason in ``log``."""

    cubin: bytes
    log: str


@lru_cache(maxsize=16)
def assemble(ptx: str, arch: str) -> Assembled:
    """The cubin of a PTX file.

    A file of a newer version of PTX than the assembler's is tried as one of the assembler's version: most such files
    use nothing that is new.
    """
    tool = find_tool("ptxas")
    if tool is None:
        return Assembled(b"", f"ptxas, NVIDIA's assembler, is not found. {_ADVICE}")
    found = _run(tool, ptx, arch)
    newest = re.search(r"\bversion is '?(\d+\.\d+)'?", found.log)
    if not found.cubin and newest:
        found = _run(tool, _VERSION.sub(rf"\g<1>{newest[1]}", ptx, count=1), arch)
    return found


def _run(tool: Path, ptx: str, arch: str) -> Assembled:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="softlab") as folder:
        source, cubin = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx)
        command = [str(tool), f"-arch={arch}", "-v", "-lineinfo", str(source), "-o", str(cubin)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            return Assembled(b"", f"ptxas ({tool}) cannot be run: {error}")
        log = (done.stdout + done.stderr).replace(folder, "").strip()
        return Assembled(cubin.read_bytes() if not done.returncode and cubin.is_file() else b"", log)


def assembler_found() -> bool:
    """Whether :func:`assemble` has what it needs."""
    return find_tool("ptxas") is not None


__all__ = ["Assembled", "assemble", "assembler_found"]
