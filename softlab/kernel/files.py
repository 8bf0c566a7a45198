"""A kernel of a .cu file as it is: the host's part is left out, and the standard headers are there as with nvcc."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from softlab.cuda.compile import Program, check_text, compile_program, has_header
from softlab.cuda.device_code import DeviceCode, read
from softlab.cuda.found_headers import folders_of
from softlab.cuda.given_options import macros_in
from softlab.cuda.program_parts import contexts
from softlab.cuda.shims import shim_headers, standard_words
from softlab.cuda.source_files import decode
from softlab.errors import CompileError
from softlab.kernel.build_settings import not_as_nvcc, said_of_macros
from softlab.kernel.file_build import SECONDS_OF_GUESSES, FileBuild, blames_arguments
from softlab.kernel.gnu_forms import conditionals
from softlab.kernel.kernel_names import ONLY_FORM

#: What NVRTC says of functions and variables of the host.
_HOST = re.compile(r"is considered a host (?:function|variable)|calling a __host__ function")
#: Names and headers that NVRTC, or clang, does not find.
_MISSING = re.compile(
    r"identifier \"(\w+)\" is undefined|namespace \"std\" has no member \"(\w+)\"|undeclared identifier '(\w+)'"
    r"|unknown type name '(\w+)'|cannot open source file \"([^\"]+)\"|no member named '(\w+)' in namespace 'std'"
)


def read_file(
    path: str | os.PathLike[str],
    name: str | None = None,
    alone: bool = False,
    options: Sequence[str] = (),
    files: Sequence[str | os.PathLike[str]] = (),
    faults: Collection[tuple[str, int]] = (),
    programs: dict[tuple[object, ...], Any] | None = None,
) -> DeviceCode:
    """The device part of a .cu file, its kernels, and the launches in its host code.

    ``name``: the wanted kernel. What its template arguments name is kept, too. ``alone``: without the other kernels.
    ``options``: those of the compiler; headers in the folders of ``-I`` are read like those beside the file. ``files``:
    further files of the program, which define what this one declares. ``faults``, ``programs``: see
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
        programs=programs,
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
    programs: dict[tuple[object, ...], Any] = {}
    alone = partial(read_file, path, options=options, programs=programs)
    build = FileBuild(alone, path, path.name, arch, options, until)
    try:
        return build.program(name, files)
    except (CompileError, ValueError) as error:
        by_itself = error
    inside, hopeless = None, isinstance(by_itself, CompileError) and blames_arguments(by_itself.log)
    parts = contexts(path, has_header, folders_of(options), macros_in(options), programs)
    for read_code in parts if not hopeless else ():
        if inside and time.process_time() > until:
            break
        try:
            return replace(build, read_code=read_code, refused={}).program(name, files)
        except (CompileError, ValueError) as error:
            if inside is None or (ONLY_FORM in str(inside) and ONLY_FORM not in str(error)):
                inside = error
    raise _of_both(by_itself, inside)


def _of_both(by_itself: Exception, inside: Exception | None) -> Exception:
    """The error of a file, given that of the same file inside the one that includes it."""
    if isinstance(by_itself, CompileError) and isinstance(inside, CompileError):
        said = f"{by_itself}\nAnother file includes this one. What stands before it there does not help:\n{inside.log}"
        return CompileError(said, log=by_itself.log)
    if isinstance(inside, ValueError) and ONLY_FORM in str(by_itself) and ONLY_FORM not in str(inside):
        return inside  # the other file has template arguments
    return by_itself


def _checked_source(text: str) -> str:
    if isinstance(text, os.PathLike):
        raise TypeError(f"the source is the path {os.fspath(text)!r}: give its text, or call Kernel.from_file")
    check_text("source", text)
    return text


def compile_text(
    text: str,
    name: str,
    *,
    arch: str = "sm_90",
    options: Sequence[str] = (),
    file: str = "kernel.cu",
) -> Program:
    """Compile a kernel of a text, as the compiler takes it; where it refuses that, as nvcc would read it.

    NVRTC knows neither the host's code nor what nvcc includes by itself (``INFINITY``, ``INT_MAX``, ``uint``, ...). A
    text that has these is compiled like a file: the host's part is left out, and the standard headers are there. So is
    one whose ``#if`` asks for macros that NVRTC and nvcc define differently, or for none where it does not compile so.

    Raises:
        CompileError: the kernel does not compile either way.
        TypeError, ValueError: as :func:`softlab.cuda.compile.compile_program`.
    """
    read_code = partial(_read_text, decode(_checked_source(text).encode()), options := tuple(options))
    until = time.process_time() + SECONDS_OF_GUESSES
    build = FileBuild(read_code, None, file, arch, options, until)
    asked = conditionals(_texts(text, read_code, options))
    if not_as_nvcc(asked):
        with suppress(CompileError, ValueError):
            return build.program(name, ())
    try:
        program = compile_program(text, name, arch=arch, options=options, file=file)
        return replace(program, remarks=(*program.remarks, *said_of_macros(asked)))
    except CompileError as error:
        if not (has_host_code := bool(_HOST.search(error.log))) and not _needs_standard_headers(error.log):
            raise
        as_it_is = error
    try:
        return build.program(name, ())
    except ValueError as error:
        raise CompileError(str(error), log=as_it_is.log) from None
    except CompileError as error:
        # Without the host's code the log speaks of the kernels alone.
        raise (error if has_host_code else as_it_is) from None


def _read_text(
    text: str,
    options: Sequence[str],
    name: str | None = None,
    alone: bool = False,
    files: Sequence[Path] = (),
    faults: Collection[tuple[str, int]] = (),
) -> DeviceCode:
    """:func:`read_file` of a text that is in no file."""
    return read(
        text,
        known=has_header,
        needed=name or "",
        alone=alone,
        folders=folders_of(options),
        files=files,
        faults=faults,
        given=macros_in(options),
    )


def _texts(text: str, read_code: Callable[..., DeviceCode], options: Sequence[str]) -> tuple[str, ...]:
    """A text, and the headers that it has in folders which the options name."""
    if not folders_of(options):
        return (text,)
    code = read_code()
    return (text, *code.headers.values())


def _needs_standard_headers(log: str) -> bool:
    """Whether a name or a header is missing that the standard headers give."""
    missing = {one for found in _MISSING.finditer(log) for one in found.groups() if one}
    return not missing.isdisjoint(standard_words()) or any(has_header(one) or one in shim_headers() for one in missing)


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
