"""A kernel of a .cu file as it is: the host's part is left out, and the standard headers are there as with nvcc."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from softlab.cuda.compile import Program, compile_program, has_header
from softlab.cuda.definitions import Definitions, definitions, unresolved
from softlab.cuda.device_code import DeviceCode, KernelDeclaration, read
from softlab.cuda.launches import LaunchSuggestion, arguments_of, deduced
from softlab.cuda.program_parts import BEFORE, contexts
from softlab.cuda.shims import NVCC, STANDARD
from softlab.cuda.source_files import decode
from softlab.errors import CompileError
from softlab.kernel.build_settings import Settings

#: Headers that come with packages of their own.
_PACKAGES = {
    "curand_kernel.h": "the package nvidia-curand-cu12 (pip install 'softlab[curand]'; for CUDA 13 nvidia-curand)",
    "mma.h": "the package nvidia-cuda-nvcc-cu12 (pip install 'softlab[ptx]'; for CUDA 13 nvidia-cuda-crt)",
}
#: A kernel's name, its template arguments and its parameters.
_NAME = re.compile(r"([^<(]*)(<.*>|<[^>]*)?(\(.*\))?", re.DOTALL)
#: The last word of a type that has no name after it.
_TYPE_WORDS = ("int", "unsigned", "long", "short", "char", "float", "double", "bool", "const")
#: The first words of types of integers.
_NUMBERS = ("int", "unsigned", "long", "short", "char", "size_t", "std::size_t", "auto", "uint", "int32_t", "uint32_t",
            "int64_t", "uint64_t", "uint8_t", "uint16_t")  # fmt: skip
#: How often a source is compiled again with what the log of the last attempt asks for.
_ATTEMPTS = 3


def read_file(
    path: str | os.PathLike[str],
    name: str | None = None,
    alone: bool = False,
    options: Sequence[str] = (),
    files: Sequence[str | os.PathLike[str]] = (),
) -> DeviceCode:
    """The device part of a .cu file, its kernels, and the launches in its host code.

    ``name``: the wanted kernel. What its template arguments name is kept, too. ``alone``: without the other kernels.
    ``options``: those of the compiler; headers in the folders of ``-I`` are read like those beside the file. ``files``:
    further files of the program, which define what this one declares.

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
        folders=_folders(options),
        files=[Path(file) for file in files],
    )


def _folders(options: Sequence[str]) -> tuple[Path, ...]:
    """The folders of headers that the options name."""
    found = [re.fullmatch(r"(?:-I|--include-path=)(.+)", option.strip()) for option in options]
    return tuple(Path(one[1].strip()) for one in found if one)


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
    path = Path(path)
    try:
        return _whole(partial(read_file, path, options=options), name, path, arch, options, files)
    except (CompileError, ValueError) as error:
        by_itself = error
    inside = None
    for read_code in contexts(path, known=has_header, folders=_folders(options)):
        try:
            return _whole(read_code, name, path, arch, options, files)
        except (CompileError, ValueError) as error:
            inside = inside or error
    if isinstance(by_itself, CompileError) and isinstance(inside, CompileError):
        message = (
            f"{by_itself}\nAnother file includes this one. What stands before it there does not help:\n{inside.log}"
        )
        raise CompileError(message, log=by_itself.log)
    raise by_itself


def _whole(
    read_code: Callable[..., DeviceCode],
    name: str | None,
    path: Path,
    arch: str,
    options: Sequence[str],
    files: Sequence[str | os.PathLike[str]],
) -> Program:
    """The kernel with the files that define what it needs: ``files``, and those that the search finds.

    ``read_code``: as :func:`read_file`, of this file.
    """
    taken = [Path(file).resolve() for file in files]
    code = read_code(name=name, files=taken)
    wanted, asked = set(code.undefined_variables), set[str]()
    said: list[str] = []
    failed: CompileError | None = None
    while True:
        found = definitions(path, wanted - asked, _folders(options))
        asked |= wanted
        new = [file for file in found.files if file not in taken]
        if failed and not new:
            raise _with_questions(failed, found)
        said += [*found.remarks, *(() if failed else found.open_questions)]
        if new:
            taken += new
            code = read_code(name=name, files=taken)
            if wanted := set(code.undefined_variables) - asked:
                failed = None
                continue
        code = replace(code, remarks=tuple(dict.fromkeys([*said, *code.remarks])))
        try:
            return _by_itself(code, partial(read_code, files=taken), name, path, arch, options)
        except CompileError as error:
            if not (missing := unresolved(error.log)):
                raise
            failed, wanted = error, {*missing, *code.undefined_functions}


def _with_questions(error: CompileError, found: Definitions) -> CompileError:
    """An error that also says what no file, or more than one, defines."""
    return CompileError("\n".join([str(error), *(f"{said}." for said in found.open_questions)]), log=error.log)


def _by_itself(
    code: DeviceCode,
    read_code: Callable[..., DeviceCode],
    name: str | None,
    path: Path,
    arch: str,
    options: Sequence[str],
) -> Program:
    """The kernel of a file that was read, with the file's other ones or without them."""
    chosen = kernel_name(code, name, path.name)
    try:
        return _compiled(code, chosen, path, arch, options)
    except CompileError as error:
        found = error
    # Another kernel of the file may be at fault.
    alone = replace(read_code(name=chosen, alone=True), remarks=code.remarks)
    if (alone.source, alone.headers) != (code.source, code.headers):
        try:
            return _compiled(alone, chosen, path, arch, options)
        except CompileError as error:
            found = error
    if "cannot determine which instance of overloaded function" in found.log and (said := _overloads(code, chosen)):
        raise ValueError(said)
    places = "".join(f"\n{remark}." for remark in code.remarks)
    further = f"{_switched_off(code, chosen, found.log)}{places}{_left_out(code.missing)}"
    raise CompileError(f"{found}{further}", log=found.log)


def _switched_off(code: DeviceCode, name: str, log: str) -> str:
    """What to say of a kernel that the preprocessor drops: the conditionals around it."""
    line = next((kernel.line for kernel in code.kernels if kernel.name == name.partition("<")[0]), 0)
    open_conditions: list[tuple[int, str]] = []
    for number, text in enumerate(code.source.splitlines()[:line], 1):
        directive = re.match(r"\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b", text)
        if directive and directive[1] == "endif":
            del open_conditions[-1:]
        elif directive and directive[1] in ("elif", "else"):
            open_conditions[-1:] = [(number, text.strip())]
        elif directive:
            open_conditions.append((number, text.strip()))
    if "__nv_name_map" not in log or not open_conditions:
        return ""
    listed = ", ".join(f"{text} (line {number})" for number, text in open_conditions)
    return f"\nThe kernel stands inside {listed}. options=['-DNAME=value'] defines what that asks for."


def _left_out(includes: Sequence[str]) -> str:
    """What to say of includes that were not found."""
    if not includes:
        return ""
    packages = "".join(f"\n{name} comes with {_PACKAGES[name]}." for name in includes if name in _PACKAGES)
    return (
        f"\nThese includes were not found and are left out: {', '.join(includes)}. "
        f"options=['-I/folder'] names a folder of headers.{packages}"
    )


def _compiled(code: DeviceCode, name: str, path: Path, arch: str, options: Sequence[str]) -> Program:
    settings = Settings.of([code.source, *code.headers.values()], code.missing)
    for _ in range(_ATTEMPTS):
        try:
            return _compiled_with(settings, code, name, path, arch, options)
        except CompileError as error:
            found, further = error, settings.after(error.log, path)
        if further == settings:
            break
        settings = further
    raise found


def _compiled_with(
    settings: Settings, code: DeviceCode, name: str, path: Path, arch: str, options: Sequence[str]
) -> Program:
    first = settings.first()
    first += f'#include "{BEFORE}"\n' if BEFORE in code.headers else ""
    plain = first == f"#include <{STANDARD}>\n"
    program = compile_program(
        code.source,
        name,
        arch=arch,
        options=(f"--pre-include={STANDARD if plain else NVCC}", *settings.options(options), *options),
        file=path.name,
        headers=code.headers if plain else {**code.headers, NVCC: first},
    )
    return replace(program, remarks=code.remarks)


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


def kernel_name(code: DeviceCode, name: str | None, file: str) -> str:
    """What NVRTC calls the kernel.

    Arguments:
        code: the file.
        name: a kernel of it, with template arguments where it has them, as ``"copy<float, 4>"``. Namespaces may be left
            out where one kernel has that name. Overloaded kernels need their parameters, as ``"k(float*, int)"``. The
            template arguments may be left out where the host launches one instantiation alone, where the types of its
            arguments say them, or where all of them have defaults. None: the only kernel.
        file: the file's name, for messages.

    Raises:
        ValueError: it is not clear which kernel is meant; the message lists them.
    """
    listed = "".join(f"\n  line {kernel.line}: {kernel}" for kernel in code.kernels) or "\n  none"
    launched = "".join(f"\n  {launch}" for launch in code.launches)
    listing = f"Kernels of {file}:{listed}" + (f"\nLaunches in its host code:{launched}" if launched else "")
    if name is None:
        names = {kernel.name for kernel in code.kernels}
        if len(names) != 1:
            what = f"{len(names)} kernels: say which" if names else "no kernel"
            raise ValueError(f"{file} has {what}.\n{listing}")
        (name,) = names
    base, arguments, parameters = _NAME.fullmatch(name.strip()).groups()  # type: ignore[union-attr]
    found = _named(code, base, file, listing)
    if not found:
        return name  # a kernel that a macro makes: the compiler knows
    arguments = arguments or ""
    if parameters:
        kernel = _overload(found, parameters, bool(arguments), listing)
        if not kernel.template:
            return f"(void (*)({', '.join(map(_type_of, kernel.parameters))})){kernel.name}"
    else:
        kernel = next((one for one in found if one.template or not arguments), found[0])
    if "<" in kernel.name:  # a specialisation, whose template stands elsewhere
        return kernel.name.partition("<")[0] + (arguments or f"<{kernel.name.partition('<')[2]}")
    return kernel.name + (arguments if arguments or not kernel.template else _instantiation(code, kernel, listing))


def _named(code: DeviceCode, base: str, file: str, listing: str) -> list[KernelDeclaration]:
    """The kernels of that name, overloads of one; none where a macro may make it."""
    found = [kernel for kernel in code.kernels if kernel.name.partition("<")[0] == base]
    found = found or [kernel for kernel in code.kernels if _last(kernel.name) == _last(base)]
    if not found and code.kernels and not re.search(rf"\b{re.escape(base)}\b", code.source):
        raise ValueError(f"{file} has no kernel {base!r}.\n{listing}")
    qualified = {kernel.name.partition("<")[0] for kernel in found}
    if len(qualified) > 1:
        raise ValueError(f"{file} has several kernels {base!r}: give the namespace.\n{listing}")
    return found


def _last(name: str) -> str:
    """A kernel's name without its namespaces and template arguments."""
    return name.partition("<")[0].split("::")[-1].strip()


def _overload(
    kernels: Sequence[KernelDeclaration], parameters: str, is_template: bool, listing: str
) -> KernelDeclaration:
    """The one of several kernels of a name that these parameters say, ``"(float* x, int n)"``, names left out or not.

    Raises:
        ValueError: no kernel has them.
    """
    wanted = [_type_of(one) for one in _split(parameters.strip()[1:-1])]
    for one in kernels:
        if (one.template or not is_template) and [_type_of(each) for each in one.parameters] == wanted:
            return one
    raise ValueError(f"No kernel {kernels[0].name} has the parameters {parameters}.\n{listing}")


def _overloads(code: DeviceCode, name: str) -> str:
    """What to say of a name that several kernels have."""
    found = [kernel for kernel in code.kernels if kernel.name == name.partition("<")[0]]
    shown = next((kernel for kernel in found if not kernel.template), found[0] if found else None)
    if shown is None:
        return ""
    example = f"{name}({', '.join(map(_type_of, shown.parameters))})"
    listed = "".join(f"\n  line {kernel.line}: {kernel}" for kernel in found)
    return f"{name} is overloaded: give the parameters as well, as in {example!r}.{listed}"


def _type_of(parameter: str) -> str:
    """The type of a parameter, without its name and its default: "const float *" of ``const float *x = 0``."""
    plain = re.sub(r"\b(?:__restrict__|__restrict|__grid_constant__)\b", " ", parameter.partition("=")[0]).strip()
    plain, array = re.subn(r"\s*\[[^\]]*\]", "", plain)
    named = re.fullmatch(r"(.*[\s*&>])([A-Za-z_]\w*)", plain, re.DOTALL)
    if named and named[2] not in _TYPE_WORDS and not re.fullmatch(r"(?:\s|const|volatile)*", named[1]):
        plain = named[1]
    return re.sub(r"\s*([*&])\s*", r"\1", " ".join(plain.split())) + "*" * bool(array)


def _split(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    return [part for part in re.split(r",(?![^<(]*[>)])", text) if part.strip()]


def _instantiation(code: DeviceCode, kernel: KernelDeclaration, listing: str) -> str:
    """The template arguments that the host's launches or the defaults give."""
    launches = [launch for launch in code.launches if _launches(launch.kernel, kernel.name)]
    types = {found for launch in launches if (found := deduced(kernel, launch))}
    if len(types) == 1:
        return types.pop()
    if all("=" in parameter for parameter in kernel.template):
        return "<>"
    parameters = ", ".join(kernel.template)
    raise ValueError(
        f"{kernel.name} is a template <{parameters}>: give its arguments, as in "
        f"{_example(code, kernel, launches)!r}.\n{listing}"
    )


def _launches(launched: str, kernel: str) -> bool:
    return _last(launched) == _last(kernel)


def _example(code: DeviceCode, kernel: KernelDeclaration, launches: Sequence[LaunchSuggestion]) -> str:
    """The kernel with template arguments that fit its parameters: those of the first launch that has all of them, or
    a type, a number, true and the first value of an enum."""
    needed = [parameter for parameter in kernel.template if "=" not in parameter]
    for launch in launches:
        written = arguments_of(launch.kernel)
        if len(needed) <= len(written) <= len(kernel.template) and not _names(kernel.template) & set(written):
            return f"{kernel.name}<{', '.join(written)}>"
    texts = [code.source, *code.headers.values()]
    return f"{kernel.name}<{', '.join(_value_of(parameter, texts) for parameter in needed)}>"


def _names(template: Sequence[str]) -> set[str]:
    """The names of template parameters."""
    return {word for parameter in template for word in re.findall(r"\w+", parameter.partition("=")[0])[-1:]}


def _value_of(parameter: str, texts: Sequence[str]) -> str:
    """Something that a template parameter takes; "..." where that is not clear."""
    kind = re.sub(r"\b(?:const|constexpr)\b", "", parameter).split()
    if not kind or kind[0] in ("typename", "class"):
        return "float"
    if kind[0] in ("bool",):
        return "true"
    if kind[0] in _NUMBERS:
        return "32"
    name = re.escape(kind[0].split("::")[-1])
    declared = re.compile(
        rf"\benum\s+(class\s+|struct\s+)?{name}\b[^{{;]*\{{\s*(?://[^\n]*\s*|/\*.*?\*/\s*)*(\w+)", re.DOTALL
    )
    found = next((match for text in texts if (match := declared.search(text))), None)
    if found is None:
        return "..."
    return f"{kind[0]}::{found[2]}" if found[1] else found[2]
