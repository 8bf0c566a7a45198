"""What a submission's kernel may use: memory, and with bubblewrap no file and no network of the grader's machine."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import softlab
from softlab.cuda.compile import cache_folder
from softlab.errors import Error

#: Sets the limits that it is given, in bytes, and becomes the program that follows.
_LIMITED = """import os, resource, sys
for kind, most in ((resource.RLIMIT_DATA, int(sys.argv[1])), (resource.RLIMIT_FSIZE, int(sys.argv[2]))):
    resource.setrlimit(kind, (most, most))
os.execvp(sys.argv[3], sys.argv[3:])"""
#: The largest file that a confined submission may write.
_FILE_BYTES = 1 << 26
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts",
           "/etc/localtime", "/etc/passwd", "/etc/group")  # fmt: skip


@dataclass(frozen=True)
class Confinement:
    """memory: MiB of data that a kernel may have, 0 for no limit; sandbox: the path of bubblewrap, "" for none.

    hidden: folders that are empty in the sandbox.
    """

    memory: int = 0
    sandbox: str = ""
    hidden: tuple[str, ...] = ()

    @classmethod
    def of(cls, memory: int, sandbox: bool) -> Confinement:
        """The confinement that is asked for.

        Raises:
            Error: this machine does not offer it.
            ValueError: less than 0 MiB.
        """
        if memory < 0:
            raise ValueError(f"memory = {memory} MiB: 0 means no limit")
        if memory and os.name != "posix":
            raise Error("a memory limit needs Linux or macOS")
        found = shutil.which("bwrap") if sandbox else ""
        if found is None:
            raise Error("there is no sandbox here: bubblewrap (bwrap) is not installed. Install it, or grade in a "
                        "container or as a user who may do nothing else")  # fmt: skip
        return cls(memory, found)

    def command(self, root: Path) -> list[str]:
        """What stands before the kernel's command. root: the submission's folder, which it may write to."""
        limited: list[str] = []
        if self.memory:
            limited = [sys.executable, "-c", _LIMITED, str(self.memory << 20), str(_FILE_BYTES)]
        return [*self._bubble(root), *limited]

    def _bubble(self, root: Path) -> Iterator[str]:
        if not self.sandbox:
            return
        yield from (self.sandbox, "--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev")
        # bubblewrap is process 1 there. A kernel that watches its parent would take that for an orphan's.
        yield from ("--tmpfs", "/tmp", "--setenv", "JPY_PARENT_PID", "1")
        for path in dict.fromkeys((*_SYSTEM, *_own_paths())):
            yield from ("--ro-bind-try", path, path)
        for path in self.hidden:
            yield from ("--tmpfs", path)
        yield from ("--bind", str(root), str(root))


def _own_paths() -> Iterator[str]:
    """Python, its packages, softlab with its kernels, and the compiled kernels; not softlab's tests."""
    package = Path(softlab.__file__).parent
    paths = [Path(sys.prefix), Path(sys.base_prefix), package, cache_folder()]
    paths += [package.parent / name for name in ("kernels", "GLOSSARY.md", "notebooks")]
    for path in paths:
        yield str(path)
        yield str(path.resolve())
