"""The programs that softlab brings compiled, for machines without NVRTC: ``softlab/cuda/data/programs.zip``.

    python -m tests.tools.programs write            compile them and write the archive  (make programs)
    python -m tests.tools.programs hidden [paths]   run notebooks without NVRTC and nvdisasm, and compare their outputs

``write`` runs the lessons, the gallery and the explorers with an empty cache, and takes what the cache has then.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from softlab.cuda.clang import library
from softlab.cuda.compile import Program, cached_programs, compiled_functions, kernel_folder, shipped_identity
from softlab.cuda.disassembly import printed
from softlab.cuda.shipped_programs import ARCHIVE, ShippedProgram, program_key, write_shipped
from softlab.cuda.toolkit import include_options
from softlab.kernel import Kernel
from softlab.kernel.files import read_file

ROOT = Path(__file__).resolve().parents[2]
BARE = Path(__file__).parent / "without_compiler"
#: Values that each control of an explorer gets.
MOVES = 8
#: What the caller of ``compile_program`` gives again, so that the archive need not have it.
_GIVEN = ("source", "name", "file", "arch", "options", "headers")


def without_compiler() -> dict[str, str]:
    """The environment of a process that finds neither NVRTC nor nvdisasm, as on a Mac.

    Raises:
        RuntimeError: nvdisasm stands beside the system's own programs, so that it cannot be hidden.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    if found := shutil.which("nvdisasm", path=path):
        raise RuntimeError(f"{found} cannot be hidden")
    others = os.environ.get("PYTHONPATH", "")
    folders = os.pathsep.join([str(BARE), str(ROOT), *([others] if others else [])])
    return {**os.environ, "PATH": path, "PYTHONPATH": folders}


def entry(program: Program) -> tuple[str, ShippedProgram]:
    """A program as the archive has it, with its key."""
    record = {name: value for name, value in asdict(program).items() if name not in _GIVEN}
    record["cubin"] = program.cubin.hex()
    identity = shipped_identity(program.source, program.arch, program.options, program.file, program.headers)
    return program_key(program.source, program.name, identity), ShippedProgram(record, printed(program))


def write(archive: Path = ARCHIVE) -> int:
    """Compile everything and write the archive. Returns its number of programs."""
    from tests.tools import notebooks  # not above: the tests of the archive run where nbformat is missing

    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        for path in sorted(notebooks.NOTEBOOKS.glob("*.ipynb")):
            print(path.name, flush=True)
            notebooks.executed(notebooks.read(path.read_text("utf-8")), path.parent)
        move_explorers()
        compile_gallery()
        library.write_library(compiled_functions(library.source(), (*library.OPTIONS, *include_options())))
        return pack(archive)


def move_explorers() -> None:
    """Give each control of each explorer some of its values, over its whole range, while the others stay."""
    from softlab.explorers.gallery import catalogue
    from softlab.site.stores import grid_of
    from softlab.site.sweeps import values_at

    for explorer in (offered.example() for offered in catalogue().values()):
        grid = grid_of(explorer)
        for trait in grid.traits:
            before = getattr(explorer, trait)
            values = list(values_at(explorer, trait, grid.every[trait]))
            for value in [*values[:: max(1, len(values) // MOVES)], before]:
                setattr(explorer, trait, value)


def compile_gallery() -> None:
    """Compile the kernels of the gallery that are no templates. Instantiations come from the lessons."""
    for path in sorted((kernel_folder() / "gallery").glob("*.cu")):
        for kernel in read_file(path).kernels:
            if not kernel.template:
                Kernel.from_file(path, kernel.name)


def pack(archive: Path) -> int:
    """Write the archive from what the disk cache has."""
    programs = dict(entry(program) for program in cached_programs())
    write_shipped(programs, archive)
    print(f"{archive}: {len(programs)} programs, {archive.stat().st_size} bytes")
    return len(programs)


def hidden(paths: Sequence[Path]) -> Mapping[str, list[str]]:
    """Run notebooks without a compiler. Returns how the outputs of each differ from the stored ones."""
    from tests.tools import notebooks

    found = {}
    with tempfile.TemporaryDirectory() as cache:
        os.environ.update(without_compiler() | {"XDG_CACHE_HOME": cache})
        for path in paths:
            try:
                found[path.name] = notebooks.check(path)
            except Exception as error:
                found[path.name] = [str(error)]
            print(path.name, *(found[path.name] or ["ok"]), sep="\n  ", flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; 1 when a notebook has other outputs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("command", choices=("write", "pack", "hidden"))
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks (default: all of the course)")
    options = parser.parse_args(arguments)
    if options.command == "write":
        return 0 * write()
    if options.command == "pack":
        return 0 * pack(ARCHIVE)
    return int(any(hidden(options.paths or sorted((ROOT / "notebooks").glob("*.ipynb"))).values()))


if __name__ == "__main__":
    sys.exit(main())
