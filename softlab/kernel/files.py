"""A kernel of a .cu file as it is: the host's part is left out, and the standard headers are there as with nvcc."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from softlab.cuda.compile import Program, compile_program, has_header
from softlab.cuda.device_code import DeviceCode, read
from softlab.cuda.program_parts import contexts
from softlab.cuda.source_files import decode
from softlab.errors import CompileError
from softlab.kernel.file_build import SECONDS_OF_GUESSES, FileBuild, blames_arguments, folders_of, macros_in


def read_file(
    path: str | os.PathLike[str],
    name: str | None = None,
    alone: bool = False,
    options: Sequence[str] = (),
    files: Sequence[str | os.PathLike[str]] = (),
    faults: Collection[tuple[str, int]] = (),
) -> DeviceCode:
    """The device part of a .cu file, its kernels, and the launches in its host code.

    ``name``: the wanted kernel. What its template arguments name is kept, too. ``alone``: without the other kernels.
    ``options``: those of the compiler; headers in the folders of ``-I`` are read like those beside the file. ``files``:
    further files of the program, which define what this one declares. ``faults``: see
    :func:`softlab.cuda.device_code.read`.

    Raises:
        OSError: a file cannot be read.
    """
    path = Path(path)
    return read(
        decode(path.read_bytes()),
        path,
        known=has_header,
        needed=name or "",
        alone=alone,
        folders=folders_of(options),
        files=[Path(file) for file in files],
        faults=faults,
        given=macros_in(options),
    )


def compile_file(
    path: str | os.PathLike[str],
    name: str | None,
    *,
    arch: str = "sm_90",
    options: Sequence[str] = (),
    files: Sequence[str | os.PathLike[str]] = (),
) -> Program:
    """Compile a kernel of a .cu file. ``name``: see :func:`kernel_name`.

    A file may be a part of a program, which another file includes after other declarations. Where it does not compile
    by itself, it is compiled with what the other file has before it. What it declares and another file defines is taken
    from that file: one of ``files``, or the one that :func:`softlab.cuda.definitions.definitions` finds.

    Raises:
        CompileError: the kernel does not compile, with the file's other kernels and without them; the message also
            lists the includes that were not found.
        ValueError: no name, and the file has more than one kernel; or none of that name.
        OSError: the file cannot be read.
    """
    path, options, until = Path(path), tuple(options), time.process_time() + SECONDS_OF_GUESSES
    try:
        return FileBuild(partial(read_file, path, options=options), path, arch, options, until).program(name, files)
    except (CompileError, ValueError) as error:
        by_itself = error
    inside, hopeless = None, isinstance(by_itself, CompileError) and blames_arguments(by_itself.log)
    for read_code in contexts(path, has_header, folders_of(options), macros_in(options)) if not hopeless else ():
        if inside and time.process_time() > until:
            break
        try:
            return FileBuild(read_code, path, arch, options, until).program(name, files)
        except (CompileError, ValueError) as error:
            inside = inside or error
    if isinstance(by_itself, CompileError) and isinstance(inside, CompileError):
        message = (
            f"{by_itself}\nAnother file includes this one. What stands before it there does not help:\n{inside.log}"
        )
        raise CompileError(message, log=by_itself.log)
    raise by_itself


def sibling_of(program: Program, name: str) -> Program:
    """Another kernel of a program's source, or of its PTX where that is all there is."""
    if not program.is_compiled_here:
        from softlab.kernel.ptx import ptx_program

        own = program.source == program.ptx
        source = None if own else program.source
        return ptx_program(program.ptx, name, arch=program.arch, source=source, file=program.file)
    if sibling := program.sibling(name):
        return sibling
    made = compile_program(
        *(program.source, name),
        arch=program.arch,
        options=program.options,
        file=program.file,
        headers=program.headers,
    )
    return replace(made, remarks=program.remarks)
