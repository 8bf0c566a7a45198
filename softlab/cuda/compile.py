"""CUDA source -> :class:`Program`: the only caller of NVRTC. Needs no driver and no GPU.

Where NVRTC is missing, softlab takes the programs that it brings (:mod:`softlab.cuda.shipped_programs`), and clang
(:mod:`softlab.cuda.clang`) for the others if that is installed.

Compiled programs are kept in the user's cache folder, keyed by everything that can change them, with a digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from softlab.cuda import clang
from softlab.cuda.cache import read_record, write_record
from softlab.cuda.found_headers import found_headers
from softlab.cuda.logs import assembler_report, kernels_of, lacks_functions, rejection, with_unresolved
from softlab.cuda.precompiled import stored_headers, were_no_use
from softlab.cuda.program import Program
from softlab.cuda.shims import driver_headers, shim_headers
from softlab.cuda.shipped_programs import ADVICE, program_key, shipped_program
from softlab.cuda.toolkit import include_options, toolkit_identity
from softlab.cuda.unknown_types import may_be_unknown
from softlab.errors import CompileError
from softlab.shipped import shipped

#: Raise when the meaning of a cached entry changes.
_CACHE_FORMAT = 4
_ARCHITECTURE = re.compile(r"sm_\d+[af]?")
#: Instructions of inline PTX that sm_90a has and sm_90 has not.
_ONLY_SM_90A = re.compile(r"\bwgmma\s*\.|\bsetmaxnreg\s*\.")
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
#: The environment variable that says which compiler makes programs, and its values.
CHOICE = "SOFTLAB_COMPILER"
COMPILERS = ("nvrtc", "clang")
_INCLUDE = re.compile(r'^[ \t]*#\s*include\s*"([^"]+)"', re.MULTILINE)
#: Headers of CUTLASS. They have constexpr functions without ``__device__``, and take what only sm_90a has if they may.
CUTLASS = re.compile(r'^[ \t]*#\s*include\s*[<"](?:cute|cutlass)/', re.MULTILINE)
_DEFAULT_SPACE = "--device-as-default-execution-space"


def kernel_folder() -> Path:
    """The folder of the CUDA sources, of a checkout or of the installed softlab."""
    return shipped("kernels")


@lru_cache(maxsize=1)
def kernel_sources() -> Mapping[str, str]:
    """File name -> text of every CUDA source that softlab ships."""
    return {path.name: path.read_text() for path in sorted(kernel_folder().glob("*.cuh"))}


@lru_cache(maxsize=1)
def sources_digest() -> str:
    """A digest of all shipped CUDA sources: recorded figures name it, so that a stale one is found."""
    return _digest(kernel_sources())


def included(source: str) -> tuple[str, ...]:
    """The shipped headers that a CUDA source includes by name, and those that they include, sorted."""
    found: set[str] = set()
    pending = [source]
    while pending:
        new = set(_INCLUDE.findall(pending.pop())) & set(kernel_sources()) - found
        found |= new
        pending += [kernel_sources()[name] for name in new]
    return tuple(sorted(found))


@lru_cache(maxsize=1)
def _shims_digest() -> str:
    return hashlib.sha256(json.dumps(dict(shim_headers()), sort_keys=True).encode()).hexdigest()[:16]


def _digest(names: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\0{kernel_sources()[name]}\0".encode())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled programs are kept: ``softlab`` in ``$XDG_CACHE_HOME`` or the platform's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("softlab")


@lru_cache(maxsize=1)
def _found_nvrtc() -> tuple[Any, str]:
    """NVRTC, or None and why it cannot be loaded."""
    try:
        from cupy.cuda import nvrtc

        nvrtc.getVersion()
    except Exception as error:  # CuPy raises RuntimeError, ImportError or its own, as the library is found or not
        return None, str(error)
    return nvrtc, ""


def has_nvrtc() -> bool:
    """Whether NVRTC can be loaded."""
    return _found_nvrtc()[0] is not None


def compiler_in_use() -> str:
    """What compiles new sources: "nvrtc", "clang", or "" for nothing.

    The environment variable ``SOFTLAB_COMPILER`` says it. Without it NVRTC does, or clang where NVRTC is missing.

    Raises:
        CompileError: the variable has another value.
    """
    if chosen := os.environ.get(CHOICE, ""):
        if chosen not in COMPILERS:
            raise CompileError(f"{CHOICE} is {chosen!r}: give one of {', '.join(COMPILERS)}, or leave it out.")
        return chosen
    if has_nvrtc():
        return "nvrtc"
    return "clang" if clang.has_clang() else ""


#: The option to read a program and make no code, which can take minutes.
_READ_ONLY = "--fdevice-syntax-only"


def _nvrtc() -> Any:
    nvrtc, _ = _found_nvrtc()
    if nvrtc is None:
        raise _no_nvrtc()
    return nvrtc


def _no_nvrtc(advice: str = "") -> CompileError:
    return CompileError(
        f"NVRTC, NVIDIA's run-time compiler, cannot be loaded: {_found_nvrtc()[1]}. "
        "Install it with: pip install 'softlab[cuda12]' (Linux or Windows; it needs no GPU and no driver). "
        "On a Mac, pip install 'softlab[clang]' brings another compiler."
        f"{advice}"
    )


def nvrtc_version() -> str:
    """NVRTC's version, "12.9".

    Raises:
        CompileError: NVRTC cannot be loaded; the message says how to install it.
    """
    major, minor = _nvrtc().getVersion()
    return f"{major}.{minor}"


def supported_architectures() -> tuple[str, ...]:
    """The architectures that NVRTC compiles for, "sm_75" and so on."""
    return tuple(f"sm_{number}" for number in sorted(_nvrtc().getSupportedArchs()))


def has_header(name: str) -> bool:
    """Whether the compiler finds this name in an ``#include``: softlab's own headers, CUDA's and CUB's.

    Where there is no compiler, the answer is yes: the source stays as it is, as in the programs that softlab brings.
    """
    compiler = compiler_in_use()
    if not compiler or name in shim_headers() or name in kernel_sources():
        return True
    if compiler == "clang":
        return clang.own_header(name)
    with suppress(OSError):  # a name that is too long for a path
        return any((Path(option.removeprefix("-I")) / name).is_file() for option in include_options())
    return False


def _architecture(arch: str) -> str:
    if not isinstance(arch, str) or not _ARCHITECTURE.fullmatch(arch):
        raise ValueError(f"arch {arch!r} is not an architecture: give a name such as 'sm_90'")
    return arch


def _with_accelerated(arch: str, *texts: str) -> str:
    """sm_90a for a source of sm_90 that has inline PTX which only that has, or CUTLASS, which may have it: for sm_90 it
    could not be compiled."""
    only = any(_ONLY_SM_90A.search(text) or CUTLASS.search(text) for text in texts)
    return "sm_90a" if arch == "sm_90" and only else arch


def _with_default_space(options: tuple[str, ...], *texts: str) -> tuple[str, ...]:
    """The options, and for CUTLASS the one that makes its functions without ``__device__`` the device's."""
    wanted = _DEFAULT_SPACE not in options and any(CUTLASS.search(text) for text in texts)
    return (*options, _DEFAULT_SPACE) if wanted else options


def compile_program(
    source: str,
    name: str,
    *,
    arch: str = "sm_90",
    options: Sequence[str] = (),
    file: str = "kernel.cu",
    cache: bool = True,
    headers: Mapping[str, str] | None = None,
) -> Program:
    """Compile one kernel of a CUDA C++ source.

    The compiler compiles all kernels of the source that are no templates. So the disk cache has the other ones, too,
    and only a further instantiation of a template is compiled. Where NVRTC is missing, softlab has the programs of
    :mod:`softlab.cuda.shipped_programs`, and clang compiles the others if it is installed.

    Arguments:
        source: CUDA C++. It may include the shipped headers by name (``#include "pack.cuh"``), CUB, and CUDA's own.
        name: an ``extern "C"`` kernel, or a name expression such as ``"copy<float, 4>"``.
        arch: "sm_90" and so on, one that this NVRTC knows. A source of sm_90 with instructions that only sm_90a has
            (``wgmma``, ``setmaxnreg``), or with CUTLASS's headers, is compiled for that.
        options: further NVRTC options ("-DNAME=1", "--use_fast_math").
        file: the name of the source in error messages and line tables.
        cache: read and write the disk cache.
        headers: texts of further headers, by the name in ``#include``.

    Raises:
        CompileError: the compiler rejects the source (the message has its log and the numbered lines), the kernel is
            not in it, the architecture is unknown to it, or there is no compiler and softlab does not bring this
            kernel.
        ValueError: a NUL character in the source, a name or an option; the compiler would stop reading there.
    """
    arch, options, headers = _completed(source, (name,), arch, options, file, headers or {})
    return _way(compiler_in_use(), cache)(source, name, arch, options, file, headers)


def compile_programs(
    source: str, names: Sequence[str], *, arch: str = "sm_90", options: Sequence[str] = (), file: str = "kernel.cu"
) -> list[Program]:
    """Compile many kernels of a source at once: NVRTC and nvdisasm then take much less time than for one by one.

    Each name gives a program, in this order. They share PTX and machine code, and the disk cache keeps each of them.
    Where NVRTC is not in use, each kernel is compiled alone.

    Arguments and errors are those of :func:`compile_program`.
    """
    if compiler_in_use() != "nvrtc":
        return [compile_program(source, name, arch=arch, options=options, file=file) for name in names]
    arch, options, headers = _completed(source, names, arch, options, file, {})
    shared = _identity(source, arch, options, file, headers)
    if shared is None:
        return _compile_all(source, names, arch, options, file, nvrtc_version(), headers)
    kept = [program for name in names if (program := _cached(source, name, shared))]
    if len(kept) == len(names):
        return kept
    programs = _compile_all(source, names, arch, options, file, nvrtc_version(), headers)
    for program in programs:
        _write_cache(_cache_entry(source, program.name, shared), program)
    return programs


def _completed(
    source: str, names: Sequence[str], arch: str, options: Sequence[str], file: str, headers: Mapping[str, str]
) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """Architecture, options and headers, with what the source asks for."""
    options, headers = tuple(options), dict(headers)
    _check_texts(source, names, file, options)
    headers |= driver_headers(source, *headers.values())
    arch = _with_accelerated(_architecture(arch), source, *headers.values())
    return arch, _with_default_space(options, source, *headers.values()), headers


def _way(compiler: str, cache: bool) -> Callable[[str, str, str, tuple[str, ...], str, Mapping[str, str]], Program]:
    """What compiles with this compiler, or finds the compiled program where there is none."""
    if compiler == "clang":
        return partial(_by_clang, cache=cache)
    if not cache:
        return _compiled_now
    return _kept if compiler else _shipped


def _compiled_now(
    source: str, name: str, arch: str, options: tuple[str, ...], file: str, headers: Mapping[str, str]
) -> Program:
    return _compile(source, name, arch, options, file, nvrtc_version(), headers)


def _kept(
    source: str, name: str, arch: str, options: tuple[str, ...], file: str, headers: Mapping[str, str]
) -> Program:
    """The kernel from the disk cache, or compiled and put there."""
    shared = _identity(source, arch, options, file, headers)
    if shared is None:
        return _compile(source, name, arch, options, file, nvrtc_version(), headers)
    if (program := _cached(source, name, shared)) is None:
        program = _compile(source, name, arch, options, file, nvrtc_version(), headers)
        _write_cache(_cache_entry(source, name, shared), program)
    return program


def _identity(
    source: str, arch: str, options: tuple[str, ...], file: str, headers: Mapping[str, str]
) -> list[Any] | None:
    """What decides NVRTC's result besides the source and the kernel; None: it may not be cached."""
    found = _found_in_folders(source, file, options, headers)
    if found is None:
        return None
    return [arch, options, file, nvrtc_version(), toolkit_identity(), *_headers_identity(source, headers), *found]


def _shipped(
    source: str, name: str, arch: str, options: tuple[str, ...], file: str, headers: Mapping[str, str]
) -> Program:
    """The kernel as softlab brings it compiled: its own program, or one that was compiled with it.

    Raises:
        CompileError: softlab does not bring it.
    """
    identity = shipped_identity(source, arch, options, file, headers)
    for one in (name, *(kernels_of(source) if name.isidentifier() else ())):
        found = shipped_program(program_key(source, one, identity))
        if found is None:
            continue
        given = {"source": source, "name": one, "file": file, "arch": arch, "options": options, "headers": headers}
        program = Program(**given, **{**found.record, "cubin": bytes.fromhex(found.record["cubin"])})
        if one == name:
            return program
        if sibling := program.sibling(name):
            return sibling
    raise _no_nvrtc(f"\n{ADVICE}")


def _by_clang(
    source: str,
    name: str,
    arch: str,
    options: tuple[str, ...],
    file: str,
    headers: Mapping[str, str],
    *,
    cache: bool = True,
) -> Program:
    """A program that softlab brings, else one of the disk cache, else what clang makes. Only clang's where it is asked
    for by ``SOFTLAB_COMPILER``."""
    if cache and not os.environ.get(CHOICE):
        with suppress(CompileError):
            return _shipped(source, name, arch, options, file, headers)
    version = clang.clang_version()
    found = _found_in_folders(source, file, options, headers)
    cache = cache and found is not None
    identity = [*_headers_identity(source, headers), *(found or [])]
    shared = [arch, options, file, "clang", version, clang.headers_digest(), *identity]
    program = _cached(source, name, shared) if cache else None
    if program is None:
        given: dict[str, Any] = {"arch": arch, "options": options, "file": file, "headers": headers}
        program = clang.compiled(source, name, **given, further=_by_name(file, headers))
        if cache:
            _write_cache(_cache_entry(source, name, shared), program)
    return program


def _by_name(file: str, further: Mapping[str, str]) -> dict[str, str]:
    """The texts of all headers that a source may include."""
    headers = {**shim_headers(), **kernel_sources(), **further}
    headers.pop(file, None)
    return headers


def shipped_identity(
    source: str, arch: str, options: tuple[str, ...], file: str, headers: Mapping[str, str]
) -> list[Any]:
    """What decides a shipped program besides its source and its name."""
    return [arch, options, file, *_headers_identity(source, headers)]


def _cache_entry(source: str, kernel: str, shared: Sequence[Any]) -> Path:
    """The cache's file for a kernel. ``shared``: what decides the result besides the source and the kernel."""
    key = hashlib.sha256(json.dumps([_CACHE_FORMAT, source, kernel, *shared]).encode()).hexdigest()
    return cache_folder() / "programs" / f"{key}.json"


def _cached(source: str, name: str, shared: Sequence[Any]) -> Program | None:
    """The kernel from the cache: its own entry, or that of another kernel that was compiled with it."""
    if program := _read_cache(_cache_entry(source, name, shared)):
        return program
    for other in kernels_of(source) if name.isidentifier() else ():
        compiled = _read_cache(_cache_entry(source, other, shared)) if other != name else None
        if compiled is not None and (program := compiled.sibling(name)):
            return program
    return None


def _headers_identity(source: str, headers: Mapping[str, str]) -> list[Any]:
    """What the source includes: softlab's headers and shims as digests, further headers as they are."""
    return [_digest(included("\n".join([source, *headers.values()]))), _shims_digest(), headers]


def _found_in_folders(source: str, file: str, options: tuple[str, ...], headers: Mapping[str, str]) -> list[str] | None:
    """What the source includes from the user's folders; None if that is not known, so that nothing may be cached."""
    known = {*shim_headers(), *kernel_sources(), *headers}
    return found_headers([source, *headers.values()], file, options, known)


def _read_cache(path: Path) -> Program | None:
    """The program at the path, or None: an entry that is damaged or changed is compiled and written again."""
    record = read_record(path)
    if record is None:
        return None
    try:
        return Program(
            **{**record, "cubin": bytes.fromhex(record["cubin"]), "options": tuple(record["options"])},
        )
    except (ValueError, TypeError, KeyError):
        return None


def cached_programs() -> Iterator[Program]:
    """All programs of the disk cache, in no order."""
    for path in (cache_folder() / "programs").glob("*.json"):
        if program := _read_cache(path):
            yield program


def _write_cache(path: Path, program: Program) -> None:
    record = {**asdict(program), "cubin": program.cubin.hex()}
    del record["remarks"]  # they depend on where the source's file is
    write_record(path, record)


def _check_texts(source: str, names: Sequence[str], file: str, options: Sequence[str]) -> None:
    check_text("source", source)
    check_text("file", file)
    for what, texts in (("name", names), ("option", options)):
        for text in texts:
            check_text(what, text)


def check_text(what: str, text: object) -> None:
    """Refuse what is no text, or one that NVRTC would not read to its end."""
    if not isinstance(text, str):
        raise TypeError(f"the {what} must be a string, not {type(text).__name__}")
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ValueError(f"the {what} has a NUL character in line {line}, where the compiler would stop reading")


def _compile(
    source: str, name: str, arch: str, options: tuple[str, ...], file: str, version: str, headers: Mapping[str, str]
) -> Program:
    (program,) = _compile_all(source, (name,), arch, options, file, version, headers)
    return program


def _compile_all(
    source: str,
    names: Sequence[str],
    arch: str,
    options: tuple[str, ...],
    file: str,
    version: str,
    headers: Mapping[str, str],
) -> list[Program]:
    nvrtc = _nvrtc()
    with _compiled(source, names, arch, options, file, headers) as (handle, log):
        found = {name: nvrtc.getLoweredName(handle, name) for name in names}
        entries = dict.fromkeys([*found.values(), *_ENTRY.findall(log)])
        reports: dict[str, dict[str, Any]] = {kernel: assembler_report(log, kernel) for kernel in entries}
        ptx, cubin = nvrtc.getPTX(handle).decode(), _whole_elf(bytes(nvrtc.getCUBIN(handle)))
        return [
            Program(
                source=source,
                name=name,
                file=file,
                arch=arch,
                options=options,
                nvrtc=version,
                entry=entry,
                ptx=ptx,
                cubin=cubin,
                **reports[entry],
                reports=reports,
                headers=dict(headers),
            )
            for name, entry in found.items()
        ]


def compile_reports(
    source: str, names: Sequence[str], *, arch: str, options: Sequence[str] = (), file: str = "kernel.cu"
) -> dict[str, dict[str, int]]:
    """Name -> registers, static_smem_bytes, local_bytes and spill_bytes of many kernels of one source.

    They are compiled as one program, which is much faster than one by one. Arguments and errors are those of
    :func:`compile_program`; nothing is cached.
    """
    nvrtc = _nvrtc()
    with _compiled(source, names, _architecture(arch), tuple(options), file) as (handle, log):
        return {name: assembler_report(log, nvrtc.getLoweredName(handle, name)) for name in names}


def lowered_names(program: Program, further: str, names: Sequence[str]) -> list[str]:
    """What the compiler calls these functions (name expressions) of a program's source with ``further`` after it.

    Raises:
        CompileError: the compiler rejects the text or one of the names.
    """
    source = f"{program.source}\n{further}"
    if compiler_in_use() == "clang":
        return clang.lowered(program, source, names, _by_name(program.file, program.headers))
    nvrtc = _nvrtc()
    options = (*program.options, _READ_ONLY)
    with _compiled(source, names, program.arch, options, program.file, program.headers) as (handle, _):
        return [nvrtc.getLoweredName(handle, name) for name in names]


def _created(source: str, names: Sequence[str], file: str, headers: Mapping[str, str]) -> Any:
    """NVRTC's handle of a program that is not compiled yet."""
    nvrtc = _nvrtc()
    texts = [text.encode() for text in headers.values()]
    made = nvrtc.createProgram(source, file, texts, [header.encode() for header in headers])
    for expression in names:
        nvrtc.addNameExpression(made, expression)
    return made


def _read_first(
    source: str,
    names: Sequence[str],
    file: str,
    headers: Mapping[str, str],
    flags: Sequence[str],
    further: Iterable[str],
) -> None:
    """Have NVRTC read a program without the names, where it might not survive one: :mod:`softlab.cuda.unknown_types`.

    Raises:
        CompileError: the program has errors.
    """
    if not may_be_unknown((source, *further), names):
        return
    nvrtc = _nvrtc()
    made = _created(source, (), file, headers)
    try:
        nvrtc.compileProgram(made, (*flags, _READ_ONLY))
    except nvrtc.NVRTCError as error:
        raise rejection(names[-1], file, {file: source, **kernel_sources()}, nvrtc.getProgramLog(made), error) from None
    finally:
        nvrtc.destroyProgram(made)


@contextmanager
def _compiled(
    source: str,
    names: Sequence[str],
    arch: str,
    options: tuple[str, ...],
    file: str,
    further: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[Any, str]]:
    """NVRTC's handle of the program, compiled, and its log."""
    nvrtc = _nvrtc()
    known = supported_architectures()
    if arch.rstrip("af") not in known:
        raise CompileError(f"NVRTC {nvrtc_version()} does not compile for {arch}; it knows {', '.join(known)}.")
    headers = _by_name(file, further)
    version = nvrtc.getVersion()
    # Beside a driver NVRTC takes machine code from the driver's cache, and then the assembler reports nothing.
    uncached = ("--no-cache",) if version >= (12, 9) else ()
    flags = (f"-arch={arch}", "-std=c++17", "-lineinfo", "--ptxas-options=-v", *include_options(), *uncached, *options)

    _read_first(source, names, file, headers, flags, further.values())
    handle, name = _created(source, names, file, headers), names[-1]
    try:
        try:
            with stored_headers(source, file, headers, flags, version) as stored:
                try:
                    nvrtc.compileProgram(handle, (*flags, *stored))
                except nvrtc.NVRTCError:
                    if not were_no_use(nvrtc.getProgramLog(handle)):
                        raise
                    nvrtc.destroyProgram(handle)
                    handle = _created(source, names, file, headers)
                    nvrtc.compileProgram(handle, flags)
            for name in names:
                nvrtc.getLoweredName(handle, name)
        except nvrtc.NVRTCError as error:
            sources, said = {file: source, **kernel_sources()}, _said(nvrtc, handle)
            raise rejection(name, file, sources, said, error) from None
        yield handle, nvrtc.getProgramLog(handle)
    finally:
        nvrtc.destroyProgram(handle)


def _said(nvrtc: Any, handle: Any) -> str:
    """The log of a program that does not compile, with every function that nothing defines."""
    log: str = nvrtc.getProgramLog(handle)
    return with_unresolved(log, nvrtc.getPTX(handle).decode()) if lacks_functions(log) else log


def compiled_functions(source: str, options: Sequence[str]) -> str:
    """The PTX of a source that has functions and no kernel.

    Raises:
        CompileError: NVRTC is missing.
    """
    nvrtc = _nvrtc()
    handle = nvrtc.createProgram(source, "functions.cu", [], [])
    try:
        nvrtc.compileProgram(handle, tuple(options))
        return str(nvrtc.getPTX(handle).decode())
    finally:
        nvrtc.destroyProgram(handle)


def _whole_elf(cubin: bytes) -> bytes:
    """The cubin with its last byte: CuPy's binding takes that for a string's end and drops it (seen in 14.2).

    An ELF file here ends with its program headers, so their offset and size tell how long it must be.
    """
    headers_at = int.from_bytes(cubin[32:40], "little")
    size, count = int.from_bytes(cubin[54:56], "little"), int.from_bytes(cubin[56:58], "little")
    return cubin.ljust(headers_at + size * count, b"\0")
