"""The device part of a .cu file that also holds host code.

NVRTC compiles device code alone. :func:`read` blanks what belongs to the host: its functions, variables, launches and
includes. Every line keeps its number. What stays is what the kernels need: starting from the kernels, each declaration
that they name, and each that those name. The host's launches are read as suggestions.

tree-sitter parses the file. It needs no headers and no complete program, and it goes on after what it cannot read, such
as macros that stand for declarations. libclang would need the headers of every library that the host code includes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from softlab.cuda.declared import own_variables, undefined
from softlab.cuda.file_items import (
    SPACES,
    File,
    Inclusion,
    Item,
    declarations,
    has_content,
    joined,
    macro_scope,
    nodes_of,
)
from softlab.cuda.host_parts import classify, drop, keep_declared, without_host_members
from softlab.cuda.host_templates import HostCode
from softlab.cuda.launches import KernelDeclaration, LaunchSuggestion, instances_of, kernels_of, launches_of
from softlab.cuda.macro_calls import (
    Macro,
    Macros,
    header_names,
    kernels_written_out,
    macros_with_parameters,
    written_out,
)
from softlab.cuda.macro_scopes import Scope
from softlab.cuda.macros import NO_MACROS, macros_of
from softlab.cuda.outlines import outline
from softlab.cuda.readable import readable
from softlab.cuda.shims import COPIED
from softlab.cuda.source_files import Located, Places, decode
from softlab.cuda.syntax import CLASSES, WORD, declared_in, listed, parser, scope_of, text_of

#: Headers for host code that NVRTC finds and cannot compile.
_HOST_HEADERS = re.compile(
    r"thrust/(?!(?:complex|pair|tuple)\.h)|cuda_runtime_api\.h|cuda_profiler|cuda_gl|cub/(?:device/|util_allocator)"
)
#: Headers of CUDA with what NVRTC has built in, or with functions for the host alone. Their texts are for nvcc.
_BUILT_IN = re.compile(
    r"(?:channel_descriptor|common_functions|cudaEGL|cudaGL|cudaVDPAU|cuda_device_runtime_api|cuda_(?:egl|vdpau)_interop"
    r"|device_(?:double_)?functions|driver_functions|host_config|host_defines|math_functions)\.h"
)
#: What keeps a header from standing in a source twice: the first directive asks for a macro.
_GUARD = re.compile(
    rb"\A[^#]*#[ \t]*(?:pragma[ \t]+once|ifndef|if[ \t]+!)|^[ \t]*#[ \t]*pragma[ \t]+once", re.MULTILINE
)
#: Comments and strings, and (group 1) what stands in a conditional of the preprocessor up to a comment.
_CONDITIONAL = re.compile(
    rb"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\""
    rb"|^([ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b(?:\\\n|(?!//|/\*)[^\n])*)",
    re.MULTILINE | re.DOTALL,
)
#: What keeps the pointer to the table of virtual functions in a class that has none for the device.
_VIRTUAL = b"__host__ __device__ virtual void softlab_virtual() {}"
#: Attributes of functions that the compiler calls for constants: nvcc takes such calls on the device, too.
_BOTH_SIDES = b"__host__ __device__ "
#: A header of CUB, in a folder of its own or of a program's copy.
_CUB = re.compile(r"(?:.*/)?(cub/.+)")
_NAMES_CUB = re.compile(r"\bnamespace\s+cub\b|\bCUB_(?:NAMESPACE_BEGIN|NS_PREFIX)\b|#\s*include\s+\"(?:block|warp)/")
_NAMESPACE = re.compile(rb"\bnamespace\s+([\w:]+)\s*(?:=|\{)")
#: Of these namespaces, ``using namespace`` stays.
_DEVICE_NAMESPACES = re.compile(r"cooperative_groups|nvcuda|cuda\b|cub\b|cute\b|cutlass\b|wmma|experimental|glm\b")


@dataclass(frozen=True)
class DeviceCode:
    """The device part of a file.

    ``source`` has the file's lines, with the host's part blank. ``headers`` are files beside it that it includes, read
    the same way. ``missing`` are includes that were found nowhere and are blank. ``host_lines`` counts blank lines that
    were not blank. ``remarks`` say which headers were taken from a guessed place. ``undefined_variables`` and
    ``undefined_functions`` are names of the device that these texts use and declare, and that another file defines.
    ``function_objects`` are classes of the files with an ``operator()`` for the device, such as "op::Add<float>", and
    ``mentions`` the kernels with template arguments as the files write them anywhere, such as "copy<N>".
    ``host_names`` are functions and variables of the host.
    """

    source: str
    headers: Mapping[str, str]
    kernels: tuple[KernelDeclaration, ...]
    launches: tuple[LaunchSuggestion, ...]
    missing: tuple[str, ...]
    host_lines: int
    remarks: tuple[str, ...] = ()
    undefined_variables: tuple[str, ...] = ()
    undefined_functions: tuple[str, ...] = ()
    function_objects: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    host_names: frozenset[str] = frozenset()


def read(
    text: str,
    path: Path | None = None,
    known: Callable[[str], bool] = lambda name: False,
    needed: str = "",
    alone: bool = False,
    folders: Sequence[Path] = (),
    files: Sequence[Path] = (),
    faults: Collection[tuple[str, int]] = (),
    given: Collection[str] = (),
    programs: dict[tuple[object, ...], _Program] | None = None,
) -> DeviceCode:
    """The device part of a CUDA C++ source.

    Arguments:
        text: the source.
        path: where the file is. ``#include "x.h"`` is looked for beside it, and in folders such as ``include`` there
            and up to four folders further up; see :func:`softlab.cuda.source_files.located`.
        known: whether the compiler has a header, by the name in ``#include``.
        needed: text whose words are kept as well, such as the template arguments of the wanted kernel.
        alone: leave out kernels that ``needed`` does not name, directly or not, and make numbers that are ``const``
            ``constexpr``, as the host's compiler takes them.
        folders: further folders for headers.
        files: further files of the program. What the kernels need of them is included after the source.
        faults: names of files ("" for the source) and lines that the compiler refuses. What stands there goes, if it is
            a type, a constant or a member that has nothing for the device and no place in the memory of an object.
        given: macros that the compiler's options define. Each further file has these, and of the other macros its own.
        programs: those that were read before, from which the same sources are taken while their files stay as they are;
            this one is added.
    """
    known_programs = {} if programs is None else programs
    key = (text, path, tuple(folders), tuple(files), frozenset(given))
    if key not in known_programs:
        known_programs[key] = _Program.of(text, path, known, folders, files, given)
    program = known_programs[key].copy()
    for name, file in program.files.items():
        drop(file, {line - 1 for where, line in faults if where == name})
    words = needed if alone else " ".join([needed, *(one.kernel for one in program.launches)])
    _choose(program, words, alone)
    return _device_code(program, text, alone)


@dataclass(frozen=True)
class _Program:
    """The files of a program by the names that the compiler gets for them, "" for the source.

    ``own``: the source and its headers. ``further``: names of further files, each with the macros of the files before
    that are none there; see :meth:`softlab.cuda.macro_scopes.Scope.hidden`. ``missing``: includes that nobody has.
    ``kernels``, ``launches`` and ``mentions``: as :class:`DeviceCode` has them.
    """

    files: dict[str, File]
    own: tuple[File, ...]
    further: Mapping[str, Mapping[str, str]]
    missing: tuple[str, ...]
    kernels: tuple[KernelDeclaration, ...]
    launches: tuple[LaunchSuggestion, ...]
    mentions: tuple[str, ...]

    @classmethod
    def of(
        cls,
        text: str,
        path: Path | None,
        known: Callable[[str], bool],
        folders: Sequence[Path],
        files: Sequence[Path],
        given: Collection[str],
    ) -> _Program:
        main = File(joined(text).encode(), path, Places(folders))
        all_files = {"": main}
        missing: list[str] = []
        _gather(main, all_files, known, missing)
        own = tuple(all_files.values())
        further = _gather_further(files, all_files, known, missing, given)
        _without_makers(all_files.values())
        without_host_members(all_files.values())
        keep_declared(all_files.values())
        kernels, host = tuple(_kernels(own)), _host_code(all_files.values())
        launches = tuple(launch for code in host for launch in launches_of(code, host))
        own_host = host if len(own) == len(all_files) else _host_code(own)
        mentions = tuple(_mentions(own, kernels, own_host))
        return cls(all_files, own, further, tuple(missing), kernels, launches, mentions)

    def copy(self) -> _Program:
        """The same program, of which other items may be chosen."""
        files = {name: file.copy() for name, file in self.files.items()}
        names = {id(file): name for name, file in self.files.items()}
        return replace(self, files=files, own=tuple(files[names[id(file)]] for file in self.own))


def _kernels(files: Collection[File]) -> Iterator[KernelDeclaration]:
    """Those of the source and its headers, also those that macros make."""
    macros = macros_with_parameters([file.text.decode(errors="replace") for file in files])
    for file in files:
        yield from _made_by_macros(file, macros)
        for kernel in kernels_of(nodes_of(file), file.kernel_word, partial(macro_scope, file)):
            spaces = [_expanded(part, file.macros) for part in kernel.name.split("::")[:-1]]
            yield replace(kernel, name="::".join([*spaces, kernel.name.split("::")[-1]])) if spaces else kernel


def _made_by_macros(file: File, macros: Mapping[str, Macro]) -> Iterator[KernelDeclaration]:
    for start, end in (item.span for item in file.items if item.node is None):
        text = kernels_written_out(file.text[start:end].decode(errors="replace"), macros)
        if "__global__" in text:
            line = file.text.count(b"\n", 0, start) + 1
            made = kernels_of(declarations(parser().parse(text.encode()).root_node), file.kernel_word)
            yield from (replace(kernel, line=line) for kernel in made)


def _expanded(name: str, macros: Macros) -> str:
    """The name that a macro without parameters stands for; any other name itself."""
    parameters, body = macros.get(name.encode(), (b"", b""))
    return body.decode().strip() if not parameters and re.fullmatch(rb"\s*\w+\s*", body) else name


def _device_code(program: _Program, text: str, alone: bool) -> DeviceCode:
    """What stays of a program whose items are chosen. ``text``: the source as it was."""
    files = program.files.values()
    spaces = _namespaces(files)
    source = _device_text(program.files[""], alone, spaces)
    before, after = text.splitlines(), source.splitlines()
    return DeviceCode(
        source + "".join(_included(name, hidden) for name, hidden in program.further.items()),
        {name: _device_text(file, alone, spaces) for name, file in program.files.items() if name},
        program.kernels,
        program.launches,
        program.missing,
        sum(bool(a.strip()) and not b.strip() for a, b in zip(before, after, strict=True)),
        _remarks(files),
        *undefined(files),
        tuple(_function_objects(program.own)),
        program.mentions,
        frozenset(name.decode(errors="replace") for file in program.own for name in file.host_names),
    )


def _included(name: str, hidden: Mapping[str, str]) -> str:
    """The directives that include a further file, in which these macros are none; after it they are defined again, as
    the name of an instance may have them. NVRTC 12.9 knows no ``#pragma push_macro``."""
    without = "".join(f"\n#undef {macro}" for macro in hidden)
    again = "".join(f"\n{definition}" for definition in hidden.values() if definition)
    return f'{without}\n#include "{name}"{without}{again}'


def _choose(program: _Program, needed: str, alone: bool) -> None:
    """Mark the items that stay: what the kernels need and ``needed`` names, directly or not.

    ``alone``: the kernels stay only where they are needed.
    """
    items = [item for file in program.files.values() for item in file.items]
    if alone:
        _without_kernels(items, program.kernels)
    directives = (using.text or b"" for file in program.files.values() for using in file.usings)
    opened = {b"std", *(word for directive in directives for word in WORD.findall(directive))}
    _keep_needed(items, set(WORD.findall(needed.encode())), opened)
    _without_host_usings(items, {name for file in program.files.values() for name in file.host_names})


def _gather_further(
    paths: Sequence[Path],
    files: dict[str, File],
    known: Callable[[str], bool],
    missing: list[str],
    given: Collection[str],
) -> dict[str, Mapping[str, str]]:
    """Read further files of the program, as headers; as :class:`_Program` has them."""
    own = {id(file) for file in files.values()}
    names: dict[str, Mapping[str, str]] = {}
    for path in paths:
        name = _name_of(path, path.name, files)
        if name not in files:
            earlier = tuple(files.values())
            once = frozenset(header for header, file in files.items() if not _GUARD.search(file.text))
            items = [item for file in files.values() for item in file.items if b"extern" not in item.words]
            others = {one for item in items for one in item.names}
            text = joined(decode(path.read_bytes())).encode()
            files[name] = file = File(text, path, files[""].places, once=once)
            _gather(file, files, known, missing)
            if clashing := own_variables(file) & others:
                files[name] = File(_renamed(text, clashing, path.stem), path, files[""].places, once=once)
                _gather(files[name], files, known, missing)
            scope = Scope.of(files[name], files.values(), earlier)
            names[name] = scope.hidden(given)
            files[name].remarks += scope.differences(given)
    for item in (item for file in files.values() if id(file) not in own for item in file.items):
        item.root = b"operator" in item.names  # nothing names it where it is used
        item.names = set() if item.kernel else item.names | (item.words if item.node is None else set())
    return names


def _renamed(text: bytes, names: Collection[bytes], stem: str) -> bytes:
    """A text in which these variables have names that no other file has. ``stem``: the name of its file."""
    pattern = rb"(?<![\w.])(?<!->)(?<!::)(%s)\b(?!\s*::)" % b"|".join(sorted(names))
    return re.sub(pattern, rb"\1_of_" + re.sub(r"\W", "_", stem).encode(), text)


def _without_makers(files: Collection[File]) -> None:
    """Blank the macros that make functions for the host: another macro, which makes a type, may call them."""
    attributed = {name for file in files for name in file.attributed}
    for file in files:
        file.blank += [span for name, span in file.makers.items() if name not in attributed]


def _host_code(files: Iterable[File]) -> tuple[HostCode, ...]:
    texts = [file.text.decode(errors="replace") for file in files]
    macros = macros_with_parameters(texts)
    return HostCode.of([text.encode() for text in written_out(texts, macros)])


def _mentions(files: Iterable[File], kernels: Collection[KernelDeclaration], host: Sequence[HostCode]) -> Iterator[str]:
    """The templates among the kernels wherever a file names one with arguments, each text once: first those whose
    arguments are known, with their values. ``host``: the host's code of these files."""
    yield from instances_of(kernels, host)
    names = {kernel.name.split("::")[-1].encode() for kernel in kernels if kernel.template and "<" not in kernel.name}
    if not names:
        return
    named = re.compile(rb"\b(?:%s)\s*<(?!<)[^;{}<>]*(?:<[^;{}<>]*>[^;{}<>]*)*>" % b"|".join(sorted(names)))
    yield from dict.fromkeys(match[0].decode(errors="replace") for file in files for match in named.finditer(file.text))


def _function_objects(files: Iterable[File]) -> Iterator[str]:
    """The classes with an ``operator()`` for the device, with ``float`` for a type that they take."""
    for file in files:
        spaces = file.standing_for("__device__")
        for node in nodes_of(file):
            inner = declared_in(node)
            if inner.type not in CLASSES:
                continue
            name = text_of(inner.child_by_field_name("name"))
            parameters = listed(node.child_by_field_name("parameters"))
            text = text_of(node)
            plain = name.isidentifier() and len(parameters) < 2 and all("=" not in one for one in parameters)
            of_types = not parameters or re.match(r"typename|class", parameters[0]) is not None
            called = re.search(r"\boperator\s*\(\s*\)", text) is not None and spaces.search(text) is not None
            if plain and of_types and called:
                yield "::".join([*scope_of(inner), name]) + ("<float>" if parameters else "")


def _remarks(files: Iterable[File]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(remark for file in files for remark in file.remarks))


def _without_kernels(items: Iterable[Item], kernels: Iterable[KernelDeclaration]) -> None:
    """No kernel is a root any more, and no macro that may instantiate one."""
    names = {kernel.name.split("::")[-1].encode() for kernel in kernels}
    for item in items:
        item.root &= not (item.kernel or (item.node is None and item.words & names))


def _gather(
    file: File, files: dict[str, File], known: Callable[[str], bool], missing: list[str], outer: Macros = NO_MACROS
) -> None:
    """Split a file into items, and read the files beside it that it includes. ``outer``: macros of the including file,
    which may stand in a header that another one defines them for."""
    file.macros = {**outer, **macros_of(file.text, file.path, file.places)}
    file.kernel_word = file.standing_for("__global__")
    tree = parser().parse(readable(file))
    spaces = file.standing_for(SPACES)
    for node in declarations(tree.root_node):
        classify(file, node, spaces)
    for include in file.includes:
        wanted = _wanted(file, include)
        compilers = known(wanted) and not _HOST_HEADERS.match(wanted)
        header = _located(file, include, wanted, compilers)
        if of_cub := _of_cub(header.path, wanted, known):
            file.remarks.append(f'"{wanted}" is a copy of CUB: the CUB that is installed is taken')
            file.renamed.append((include.name_span, of_cub))
            continue
        if header.remark and (header.path or not compilers):
            file.remarks.append(header.remark)
        if local := header.path:
            name = _name_of(local, wanted, files)
            file.local.append(include.span[0])
            file.headers.append(local.resolve())
            if name in file.once or _is_main(local, file, files):
                file.blank.append(include.span)
                continue
            if name != include.written.strip('<>"'):
                file.renamed.append((include.name_span, name))
            if name not in files:
                files[name] = File(joined(decode(local.read_bytes())).encode(), local, file.places, once=file.once)
                _gather(files[name], files, known, missing, file.macros)
        elif not compilers or _BUILT_IN.fullmatch(wanted):
            file.blank.append(include.span)
            if not compilers and wanted not in missing:
                missing.append(wanted)
    _gather_inner(file, files)


def _located(file: File, include: Inclusion, wanted: str, compilers: bool) -> Located:
    """The file of the program that an ``#include`` means. ``compilers``: the compiler has a header of that name, which
    goes before one from anywhere in the checkout, and in ``<>`` before every other one."""
    first = compilers and wanted not in COPIED
    if first and include.written.startswith("<"):
        return Located(None)
    header = file.places.located(file.path, wanted)
    return Located(None) if first and header.anywhere and not _CUB.fullmatch(wanted) else header


def _of_cub(path: Path | None, wanted: str, known: Callable[[str], bool]) -> str:
    """The installed header of CUB in place of a program's copy of it, "" for any other header. NVRTC cannot compile
    copies of old versions."""
    found = _CUB.fullmatch(wanted) if path is not None else None
    if path is None or found is None or _HOST_HEADERS.match(found[1]) or not known(found[1]):
        return ""
    return found[1] if _NAMES_CUB.search(decode(path.read_bytes())) else ""


def _wanted(file: File, include: Inclusion) -> str:
    """The header that an ``#include`` names. Where macros make its name, the first one that is there."""
    written = include.written.replace("\\", "/")
    if not written[:1].isidentifier():
        return written.strip('<>"')
    names = header_names(written, file.macros)
    found = next((name for name in names if file.places.beside(file.path, name)), next(iter(names), written))
    if found != written and file.path is not None:
        file.remarks.append(f'{file.path.name} includes {written}, which macros make: "{found}" is taken')
    return found


def _gather_inner(file: File, files: dict[str, File]) -> set[bytes]:
    """Read the files that stand inside of declarations, as they are: ``#include "body.inl"`` in a function.

    Returns their words, which the declarations around them use.
    """
    found: set[bytes] = set()
    for include in file.inner_includes:
        wanted = _wanted(file, include)
        local = file.places.located(file.path, wanted).path
        if local is None:
            continue
        name = _name_of(local, wanted, files)
        if name != include.written.strip('<>"'):
            file.renamed.append((include.name_span, name))
        if name not in files:
            files[name] = inner = File(joined(decode(local.read_bytes())).encode(), local, file.places)
            inner.macros = file.macros
            directives = (Inclusion.of(inner.text, *span) for span in outline(inner.text).directives)
            inner.inner_includes = [one for one in directives if one]
            inner.words = set(WORD.findall(inner.text)) | _gather_inner(inner, files)
        found |= files[name].words
        for item in file.items:
            if item.span[0] <= include.span[0] < item.span[1]:
                item.words |= files[name].words
    return found


def _is_main(path: Path, file: File, files: Mapping[str, File]) -> bool:
    """Whether a further file includes the source itself."""
    main = files[""]
    return file is not main and path.resolve() == main.real_path


def _name_of(path: Path, wanted: str, files: Mapping[str, File]) -> str:
    """The name of a header for the compiler, one per file: as it is written first, with a folder if two have it."""
    path = path.resolve()
    for name, file in files.items():
        if name and file.real_path == path:
            return name
    main = files[""].path
    taken = {*files, main.name if main is not None else ""}
    parts = list(path.parts[1:-1])
    while wanted in taken:
        wanted = f"{parts.pop()}/{wanted}" if parts else f"_{wanted}"
    return wanted


def _keep_needed(items: list[Item], words: set[bytes], opened: Iterable[bytes]) -> None:
    """Mark what the roots and these words need, directly or not.

    ``opened``: the outermost namespaces whose names count from the start. Those of any other namespace count when
    something that stays names it.
    """
    named: dict[bytes, list[Item]] = {}
    for item in items:
        for name in item.names:
            named.setdefault(name, []).append(item)
    closed = {item.space: list[Item]() for item in items if item.space is not None}
    pending = [item for item in items if item.root or item.names & words]
    opening = {*opened, *words, *(item.space for item in pending if item.root and item.space is not None)}
    reached = set[bytes]()
    done: set[int] = set()
    while pending or not opening.isdisjoint(closed):
        for space in opening & set(closed):
            pending += closed.pop(space)
        opening = set()
        if not pending or id(item := pending.pop()) in done:
            continue
        if item.space in closed:
            closed[item.space].append(item)
            continue
        done.add(id(item))
        item.kept = True
        opening = item.words
        for word in item.words - reached:
            pending += named.get(word, [])
        reached |= item.words


def _without_host_usings(items: Iterable[Item], host_names: set[bytes]) -> None:
    """Drop ``using`` of a name that is the host's alone."""
    usings = [item for item in items if item.node is not None and item.node.type == "using_declaration"]
    those = {id(item) for item in usings}
    device = {name for item in items if id(item) not in those for name in item.names}
    for item in usings:
        item.kept &= not item.names <= host_names - device


def _namespaces(files: Collection[File]) -> set[str]:
    """The names that these files declare for namespaces, and all names of declarations."""
    found = {name.decode() for file in files for item in file.items for name in item.names}
    for file in files:
        stays = [(0, len(file.text))] if has_content(file) else file.directives or ()
        for name in (name for start, end in stays for name in _NAMESPACE.findall(file.text, start, end)):
            found |= set(name.decode().split("::"))
    return found


def _device_text(file: File, constexpr: bool, spaces: set[str]) -> str:
    """The file's text with the host's part blank.

    ``constexpr``: numbers that are const are that. ``spaces``: the namespaces of all files.
    """
    text = bytearray(file.text)
    dropped = [item.span for item in file.items if not item.kept]
    if file.directives is not None and not has_content(file):
        ends = [0, *(end for _, end in file.directives)]
        dropped += zip(ends, [*(start for start, _ in file.directives), len(text)], strict=True)
    for using in file.usings:
        name = re.sub(r".*\bnamespace\s+|;", "", text_of(using), flags=re.DOTALL).strip()
        if not (_DEVICE_NAMESPACES.search(name) or set(name.strip(": ").split("::")) <= spaces):
            dropped.append((using.start_byte, using.end_byte))
    for start, end in [*file.blank, *dropped]:
        # The semicolon after a class or a call that is gone goes with it.
        tail = re.match(rb"[ \t]*;", bytes(text[end : end + 80]))
        end += tail.end() if tail else 0
        for at in range(start, end):
            if text[at] != 0x0A:
                text[at] = 0x20
    for start, end in (*_conditionals(file.text), *(file.kept if has_content(file) else ())):
        text[start:end] = file.text[start:end]
    edits = [(span, f'"{name}"'.encode()) for span, name in file.renamed]
    if constexpr:
        consts = (item.const_at for item in file.items if item.kept and item.const_at is not None)
        edits += [((at, at + len(b"const")), b"constexpr") for at in consts]
    references = (item.reference_at for item in file.items if item.kept and item.reference_at is not None)
    edits += [((at, at), b"__constant__ ") for at in references]
    kept = [item.span for item in file.items if item.kept]
    edits += [((at, at), _VIRTUAL) for at in file.virtual_at if any(start <= at < end for start, end in kept)]
    edits += [((at, at), _BOTH_SIDES) for at in file.declared_at if any(start <= at < end for start, end in kept)]
    edits += [((start, end), _BOTH_SIDES + file.text[start:end]) for start, end in file.constexpr_at]
    edits += [(span, _namespace(file.text[slice(*span)], name)) for span, name in file.as_namespaces]
    edits += [((start, end), _stop(file.text[start:end])) for start, end in file.stops]
    for (start, end), new in sorted(edits, reverse=True):
        if start == end or text[start:end].strip():  # an include in a part that is blank stays so
            text[start:end] = new
    return text.decode()


def _namespace(head: bytes, name: bytes) -> bytes:
    """A namespace in place of the head of a class, with as many lines."""
    return b"namespace " + name + b" " + b"\n" * head.count(b"\n")


def _stop(text: bytes) -> bytes:
    """A stop of the device in place of a statement or of a function's body, with as many lines."""
    lines = b"\n" * text.count(b"\n")
    return b"{ __trap();%s }" % lines if text.startswith(b"{") else b"__trap();" + lines


def _conditionals(text: bytes) -> Iterator[tuple[int, int]]:
    """The indices of ``#if``, ``#else``, ``#endif`` and the like. All of them stay: then none lacks its partner."""
    for match in _CONDITIONAL.finditer(text):
        if match.group(1) is not None:
            yield match.span(1)
