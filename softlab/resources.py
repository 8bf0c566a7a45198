"""Registers and shared memory of the shipped kernels: from a table that ships with softlab, else from the compiler.

The table names the compiler (NVRTC's and CUB's versions) and the sources (a digest for each kernel file with the
headers that it includes) that it was made with, and is used for no other: a figure that does not belong to the kernel
on this machine would be a wrong occupancy. ``python -m softlab.resources`` brings it up to date: it compiles what has
changed, which for all kernels takes a quarter of an hour.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any

from softlab import compile as compiler
from softlab.errors import CompileError

#: The architectures in the table: those of ``softlab.devices`` that NVRTC 12.9 compiles for.
ARCHITECTURES = (
    "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90",
    "sm_100", "sm_101", "sm_103", "sm_120", "sm_121",
)  # fmt: skip
_FIELDS = ("registers", "static_smem_bytes", "local_bytes", "spill_bytes")
# Kernels in one NVRTC program: enough that parsing CUB is shared, few enough that the log stays quick to search.
_BATCH = 64


@dataclass(frozen=True)
class Resources:
    """What one compiled kernel takes: ``registers`` a thread, the rest in bytes.

    ``static_smem_bytes`` a block; ``local_bytes`` the stack of a thread, ``spill_bytes`` the registers' overflow into
    it (stores and loads together); ``nvrtc`` the version of the compiler that says so.
    """

    registers: int
    static_smem_bytes: int
    local_bytes: int
    spill_bytes: int
    nvrtc: str


@dataclass(frozen=True)
class _Table:
    nvrtc: str
    cub: str
    sources: Mapping[str, str]
    architectures: Mapping[str, int]
    kernels: Mapping[str, Sequence[Any]]

    def belongs_to(self, file: str) -> bool:
        """Whether the figures of that kernel file were made from the sources that are here."""
        return file in compiler.kernel_sources() and self.sources.get(file) == compiler.file_digest(file)

    def find(self, name: str, arch: str) -> Resources | None:
        column = self.architectures.get(arch)
        rows = self.kernels.get(name)
        if column is None or rows is None:
            return None
        # A figure that is the same for all architectures stands in the table once.
        registers, static, local, spill = (row if isinstance(row, int) else row[column] for row in rows)
        return Resources(registers, static, local, spill, self.nvrtc)


def table_path() -> Path:
    """The shipped table."""
    return Path(__file__).resolve().parent / "data" / "resources.json"


def resources(file: str, name: str, arch: str, options: Sequence[str] = ()) -> Resources:
    """What the kernel ``name`` (NVRTC's name expression) of ``kernels/<file>`` takes on ``arch`` ("sm_90").

    From the shipped table (microseconds) where that belongs to these sources and this compiler and there are no
    ``options``; otherwise the kernel is compiled once (about a second) and kept in the disk cache. Without NVRTC, or
    for an architecture that this NVRTC no longer compiles for, the table serves if it belongs to these sources; the
    answer's ``nvrtc`` tells.

    Raises:
        CompileError: not in the table, and it cannot be compiled here.
    """
    found = _shipped().find(name, arch) if _shipped().belongs_to(file) and not options else None
    if found is not None and _exact():
        return found
    try:
        return _compiled(file, name, arch, tuple(options))
    except CompileError:
        if found is not None and not _can_compile(arch):
            return found
        raise


@lru_cache(maxsize=4096)
def _compiled(file: str, name: str, arch: str, options: tuple[str, ...]) -> Resources:
    source = compiler.kernel_sources().get(file)
    if source is None:
        raise CompileError(f"softlab ships no kernel file {file!r}; it has {', '.join(compiler.kernel_sources())}.")
    program = compiler.compile_program(source, name, arch=arch, options=options, file=file)
    return Resources(**{field: getattr(program, field) for field in _FIELDS}, nvrtc=program.nvrtc)


@lru_cache(maxsize=1)
def _shipped() -> _Table:
    try:
        return read_table(table_path())
    except FileNotFoundError:
        return _Table("", "", {}, {}, {})


@lru_cache(maxsize=1)
def _exact() -> bool:
    """Whether the compiler on this machine is the one that made the table."""
    try:
        return (_shipped().nvrtc, _shipped().cub) == (nvrtc_version(), cub_version())
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
    """The version of the CUB headers that kernels are compiled with, as its macro has it ("300102"), or ""."""
    spec = importlib.util.find_spec("cupy")
    for folder in spec.submodule_search_locations or () if spec else ():
        header = Path(folder) / "_core/include/cupy/_cccl/cub/cub/version.cuh"
        if header.is_file() and (found := re.search(r"#define CUB_VERSION (\d+)", header.read_text())):
            return found.group(1)
    return ""


def read_table(path: Path) -> _Table:
    """The table of a file that :func:`write_table` made."""
    record = json.loads(path.read_text())
    return _Table(**{**record, "architectures": {arch: k for k, arch in enumerate(record["architectures"])}})


def write_table(path: Path, figures: Mapping[str, Mapping[str, Mapping[str, int]]]) -> None:
    """Write name -> architecture -> figures as the table of this machine's compiler and sources."""
    files = sorted({_file(name) for name in figures})
    architectures = list(dict.fromkeys(arch for by_arch in figures.values() for arch in by_arch))
    kernels = {}
    for name, by_arch in figures.items():
        rows = [[by_arch[arch][field] for arch in architectures] for field in _FIELDS]
        kernels[name] = [row[0] if len(set(row)) == 1 else row for row in rows]
    head = {
        "nvrtc": compiler.nvrtc_version(),
        "cub": cub_version(),
        "sources": {file: compiler.file_digest(file) for file in files},
        "architectures": architectures,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**head, "kernels": kernels}, separators=(",", ":")) + "\n")


def measure(
    kernels: Iterable[tuple[str, str]],
    architectures: Sequence[str] = ARCHITECTURES,
    progress: Callable[[Iterable[Any], int], Iterable[Any]] = lambda batches, total: batches,
) -> dict[str, dict[str, dict[str, int]]]:
    """Compile kernels given as (file, name): name -> architecture -> figures."""
    batches = [
        (file, [name for _, name in group][start : start + _BATCH])
        for file, members in groupby(sorted(kernels), key=lambda kernel: kernel[0])
        for group in [list(members)]
        for start in range(0, len(group), _BATCH)
    ]
    figures: dict[str, dict[str, dict[str, int]]] = {}
    jobs = [(file, names, arch) for file, names in batches for arch in architectures]
    for file, names, arch in progress(jobs, len(jobs)):
        source = compiler.kernel_sources()[file]
        reports = compiler.compile_reports(source, names, arch=arch, file=file)
        for name, report in reports.items():
            figures.setdefault(name, {})[arch] = report
    return figures


def _file(name: str) -> str:
    """The kernel file of a name expression: each kernel lives in the file of its name."""
    return name.partition("<")[0] + ".cuh"


def current() -> dict[str, dict[str, dict[str, int]]]:
    """What of the shipped table belongs to this compiler and these sources, as :func:`measure` has it."""
    table = _shipped()
    if not _exact() or set(table.architectures) != set(ARCHITECTURES):
        return {}
    return {
        name: {arch: _figures(table.find(name, arch)) for arch in ARCHITECTURES}
        for name in table.kernels
        if table.belongs_to(_file(name))
    }


def _figures(found: Resources | None) -> dict[str, int]:
    return {field: getattr(found, field) for field in _FIELDS}


def main() -> None:
    """Bring the shipped table up to date."""
    from tqdm import tqdm

    from softlab.instantiations import tabulated

    known = current()
    wanted = [(kernel.file, kernel.name) for kernel in tabulated()]
    missing = [(file, name) for file, name in wanted if name not in known]
    made = measure(missing, progress=lambda jobs, total: tqdm(jobs, total=total, unit="program"))
    figures = {**known, **made}
    write_table(table_path(), {name: figures[name] for _, name in wanted})
    print(f"{len(wanted)} kernels x {len(ARCHITECTURES)} architectures, {len(made)} compiled: {table_path()}")


if __name__ == "__main__":
    main()
