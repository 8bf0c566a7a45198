"""Registers and shared memory of the shipped kernels: from a table that ships with softlab, else from the compiler.

The table names the compiler (NVRTC's and CUB's versions) and the sources (a digest per kernel file of its code and its
headers' code) that it was made with. It is used for no other: a figure of another kernel would give a wrong occupancy.
What is stale or missing is compiled when it is asked for, with a :class:`StaleTableWarning`.
``python -m softlab.plans.resources`` brings the table up to date (:mod:`softlab.plans.resources.refresh`).
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from softlab.cuda import compile as compiler
from softlab.cuda import digests
from softlab.errors import CompileError
from softlab.plans.instantiations import tabulated

#: The architectures in the table: those of ``softlab.hardware.devices`` that NVRTC 12.9 compiles for.
ARCHITECTURES = (
    "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90",
    "sm_100", "sm_101", "sm_103", "sm_120", "sm_121",
)  # fmt: skip
#: The figures of a kernel in the table.
FIELDS = ("registers", "static_smem_bytes", "local_bytes", "spill_bytes")
#: What brings the table up to date.
REFRESH = "python -m softlab.plans.resources"


class StaleTableWarning(UserWarning):
    """The shipped table lacks kernels that it ought to have, so that they are compiled when they are needed."""


@dataclass(frozen=True)
class Resources:
    """What one compiled kernel takes.

    ``registers`` are registers per thread. ``static_smem_bytes`` are bytes of shared memory per block, ``local_bytes``
    bytes of stack per thread, ``spill_bytes`` bytes that a thread stores in the stack and loads from it because it
    lacks registers. ``nvrtc`` is the version of the compiler that reported them.
    """

    registers: int
    static_smem_bytes: int
    local_bytes: int
    spill_bytes: int
    nvrtc: str


@dataclass(frozen=True)
class Table:
    """The table as read.

    ``sources`` is kernel file -> digest, ``architectures`` name -> column. ``kernels`` is a kernel's name -> its
    figures in the order of ``FIELDS``: one number for all architectures, or a list with a number for each.
    """

    nvrtc: str
    cub: str
    sources: Mapping[str, str]
    architectures: Mapping[str, int]
    kernels: Mapping[str, Sequence[Any]]

    def belongs_to(self, file: str) -> bool:
        """Whether the figures of that kernel file were made from the sources that are here."""
        return file in compiler.kernel_sources() and self.sources.get(file) == digests.file_digest(file)

    def find(self, name: str, arch: str) -> Resources | None:
        """The figures of a kernel, or None if the table has none for that name and architecture."""
        column = self.architectures.get(arch)
        rows = self.kernels.get(name)
        if column is None or rows is None:
            return None
        # A figure that is the same for all architectures is in the table once.
        registers, static, local, spill = (row if isinstance(row, int) else row[column] for row in rows)
        return Resources(registers, static, local, spill, self.nvrtc)


def table_path() -> Path:
    """The shipped table."""
    return Path(__file__).resolve().parent.parent / "data" / "resources.json"


def resources(file: str, name: str, arch: str, options: Sequence[str] = ()) -> Resources:
    """What the kernel ``name`` (NVRTC's name expression) of ``kernels/<file>`` takes on ``arch`` ("sm_90").

    The answer comes from the shipped table, in microseconds, if the table belongs to these sources and this compiler
    and there are no ``options``. Otherwise the kernel is compiled once, in about a second, and kept in the disk cache.
    Without NVRTC, or for an architecture that this NVRTC no longer compiles for, the answer comes from a table of
    another compiler if that belongs to these sources; ``nvrtc`` in the answer says which.

    Warns:
        StaleTableWarning: the table ought to have the kernel, but it was made from other sources or is incomplete.

    Raises:
        CompileError: not in the table, and it cannot be compiled here.
    """
    found = None if options else _from_table(file, name, arch)
    if found is not None and made_here():
        return found
    try:
        return _compiled(file, name, arch, tuple(options))
    except CompileError:
        if found is not None and not _can_compile(arch):
            return found
        raise


def _from_table(file: str, name: str, arch: str) -> Resources | None:
    """The shipped table's figures; None, with a warning where the table ought to have them."""
    table = shipped()
    found = table.find(name, arch) if table.belongs_to(file) else None
    if found is None and arch in ARCHITECTURES and name in _names():
        warnings.warn(
            "The table of registers is stale or incomplete: a kernel that it lacks is compiled when a plan needs it, "
            f"which takes about a second. Bring the table up to date with: {REFRESH}",
            StaleTableWarning,
            stacklevel=3,
        )
    return found


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(kernel.name for kernel in tabulated())


@lru_cache(maxsize=4096)
def _compiled(file: str, name: str, arch: str, options: tuple[str, ...]) -> Resources:
    source = compiler.kernel_sources().get(file)
    if source is None:
        raise CompileError(f"softlab ships no kernel file {file!r}; it has {', '.join(compiler.kernel_sources())}.")
    program = compiler.compile_program(source, name, arch=arch, options=options, file=file)
    return Resources(**{field: getattr(program, field) for field in FIELDS}, nvrtc=program.nvrtc)


@lru_cache(maxsize=1)
def shipped() -> Table:
    """The table that ships with softlab; an empty one if it is missing."""
    try:
        return read_table(table_path())
    except FileNotFoundError:
        return Table("", "", {}, {}, {})


@lru_cache(maxsize=1)
def made_here() -> bool:
    """Whether the compiler on this machine is the one that made the table."""
    try:
        return (shipped().nvrtc, shipped().cub) == (nvrtc_version(), cub_version())
    except CompileError:
        return False


def _can_compile(arch: str) -> bool:
    try:
        return arch in compiler.supported_architectures()
    except CompileError:
        return False


def nvrtc_version() -> str:
    """NVRTC's version, from the installed wheel if there is one: CuPy loads that one first, and to import CuPy only to
    ask would make the first plan a hundred times slower.

    Raises:
        CompileError: there is none.
    """
    wheels = []
    for name in ("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc"):
        with suppress(PackageNotFoundError):
            wheels.append(".".join(version(name).split(".")[:2]))
    return wheels[0] if len(wheels) == 1 else compiler.nvrtc_version()


def cub_version() -> str:
    """The version of the CUB headers that kernels are compiled with, as its macro has it ("300102"), or "".

    They lie in CuPy's folder. To ask where that is neither imports CuPy nor depends on what was imported.
    """
    spec = PathFinder.find_spec("cupy")
    for folder in spec.submodule_search_locations or () if spec else ():
        header = Path(folder) / "_core/include/cupy/_cccl/cub/cub/version.cuh"
        if header.is_file() and (found := re.search(r"#define CUB_VERSION (\d+)", header.read_text())):
            return found.group(1)
    return ""


def read_table(path: Path) -> Table:
    """The table of a file that :func:`softlab.plans.resources.refresh.write_table` made."""
    record = json.loads(path.read_text())
    return Table(**{**record, "architectures": {arch: k for k, arch in enumerate(record["architectures"])}})
