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
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from softlab.cuda.host_templates import HostCode
from softlab.cuda.launches import KernelDeclaration, LaunchSuggestion, kernels_of, launches_of
from softlab.cuda.macro_calls import macros_with_parameters, written_out
from softlab.cuda.macros import NO_MACROS, Macros, attribute_macros, macros_of, standing_for
from softlab.cuda.outlines import outline
from softlab.cuda.source_files import Located, decode, located
from softlab.cuda.syntax import (
    CLASSES,
    TYPES,
    WORD,
    const_of_number,
    declared_in,
    head_of,
    is_method,
    is_prototype,
    is_type,
    listed,
    names_of,
    parser,
    scope_of,
    text_of,
    walk,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_SPACES = r"__(?:global|device|constant|managed|shared)__"
#: Those of what another file of the program can define.
_SHARED_SPACES = r"__(?:device|constant|managed)__"
_CONTAINERS = ("translation_unit", "declaration_list", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif",
               "preproc_elifdef")  # fmt: skip
#: Headers for host code that NVRTC finds and cannot compile.
_HOST_HEADERS = re.compile(
    r"thrust/(?!(?:complex|pair|tuple)\.h)|cuda_runtime_api\.h|cuda_profiler|cuda_gl|cub/device/"
)
#: Attributes that the grammar does not know, or not between ``struct`` and a name.
_ATTRIBUTES = re.compile(
    rb"\b(?:__align__|__builtin_align__|alignas|__cluster_dims__|__maxnreg__|__block_size__)\s*"
    rb"\((?:[^()]|\([^()]*\))*\)"
)
#: A word alone in its line.
_ALONE = re.compile(rb"^[ \t]*([A-Z_]\w*)[ \t]*$", re.MULTILINE)
#: What keeps a header from standing in a source twice: the first directive asks for a macro.
_GUARD = re.compile(
    rb"\A[^#]*#[ \t]*(?:pragma[ \t]+once|ifndef|if[ \t]+!)|^[ \t]*#[ \t]*pragma[ \t]+once", re.MULTILINE
)
#: A name and its parenthesis at the start of a line: a macro call, where no function has such a name.
_MACRO_CALL = re.compile(rb"^[ \t]*([A-Za-z_]\w*)[ \t]*\(", re.MULTILINE)
#: Comments and strings, and (group 1) what stands in a conditional of the preprocessor up to a comment.
_CONDITIONAL = re.compile(
    rb"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\""
    rb"|^([ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b(?:\\\n|(?!//|/\*)[^\n])*)",
    re.MULTILINE | re.DOTALL,
)
#: A variable of the host that device code fetches from, up to CUDA 11.
_REFERENCE = re.compile(r"\s*(?:static\s+)?(?:texture|surface)\s*<")
#: What a macro has that declares a type or a constant, which device code may name.
_DECLARES = re.compile(rb"^(?:\s|\\\n)*(?:enum|typedef|using|constexpr|static\s+const)\b")
#: A variable whose value the host alone can make.
_HOST_VALUE = re.compile(
    r"\bstd::(?:string|vector|map|set|list|deque|unordered_\w+|function|mutex|\w*stream)\b[^*&(]*$|=.*\bnew\b"
)
#: What keeps the pointer to the table of virtual functions in a class that has none for the device.
_VIRTUAL = b"__host__ __device__ virtual void softlab_virtual() {}"
#: Of these namespaces, ``using namespace`` stays.
_DEVICE_NAMESPACES = re.compile(r"cooperative_groups|nvcuda|cuda\b|cub\b|wmma|experimental")


@dataclass(frozen=True)
class DeviceCode:
    """The device part of a file.

    ``source`` has the file's lines, with the host's part blank. ``headers`` are files beside it that it includes, read
    the same way. ``missing`` are includes that were found nowhere and are blank. ``host_lines`` counts blank lines that
    were not blank. ``remarks`` say which headers were taken from a guessed place. ``undefined_variables`` and
    ``undefined_functions`` are names of the device that these texts use and declare, and that another file defines.
    ``function_objects`` are classes of the files with an ``operator()`` for the device, such as "op::Add<float>", and
    ``mentions`` the kernels with template arguments as the files write them anywhere, such as "copy<N>".
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


@dataclass
class _Item:
    """What stands at namespace level: what it declares, which words it uses, and whether the device always has it.

    ``node`` is None for the call of a macro.
    """

    span: tuple[int, int]
    node: Node | None
    names: set[bytes]
    words: set[bytes]
    root: bool = False
    kept: bool = False
    kernel: bool = False
    #: Where the ``const`` of a number stands whose value names no function.
    const_at: int | None = None
    #: Where a texture reference starts, which becomes a constant variable.
    reference_at: int | None = None


@dataclass
class _File:
    """One file while it is read."""

    text: bytes
    path: Path | None
    folders: tuple[Path, ...] = ()
    items: list[_Item] = field(default_factory=list)
    blank: list[tuple[int, int]] = field(default_factory=list)
    includes: list[Node] = field(default_factory=list)
    usings: list[Node] = field(default_factory=list)
    kernel_word: re.Pattern[str] = re.compile("__global__")
    #: Those of this file and of the files that it includes.
    macros: Macros = field(default_factory=dict)
    #: Where attributes end that the grammar does not see -> where they start.
    attributes: dict[int, int] = field(default_factory=dict)
    #: Where an ``#include`` has another name than the header that it means, and that header's.
    renamed: list[tuple[tuple[int, int], str]] = field(default_factory=list)
    #: Where a class lost its last virtual function, whose pointer its objects still have.
    virtual_at: list[int] = field(default_factory=list)
    #: Where macros open a namespace, with its name, or close one (None).
    namespaces: list[tuple[int, str | None]] = field(default_factory=list)
    #: Names of the host's functions and variables.
    host_names: set[bytes] = field(default_factory=set)
    #: What to say of the places of the headers that it includes.
    remarks: list[str] = field(default_factory=list)
    #: Headers that stand before this file, and that cannot stand in a source twice.
    once: frozenset[str] = frozenset()
    _patterns: dict[str, re.Pattern[str]] = field(default_factory=dict)

    def standing_for(self, words: str) -> re.Pattern[str]:
        """A pattern of these words and of the macros that stand for them; for when ``macros`` are known."""
        if words not in self._patterns:
            self._patterns[words] = re.compile(standing_for(words, self.macros))
        return self._patterns[words]


def read(
    text: str,
    path: Path | None = None,
    known: Callable[[str], bool] = lambda name: False,
    needed: str = "",
    alone: bool = False,
    folders: Sequence[Path] = (),
    files: Sequence[Path] = (),
    faults: Collection[tuple[str, int]] = (),
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
    """
    main = _File(_joined(text).encode(), path, tuple(folders))
    all_files = {"": main}
    missing: list[str] = []
    _gather(main, all_files, known, missing)
    own = tuple(all_files.values())
    further = _gather_further(files, all_files, known, missing)
    for name, file in all_files.items():
        _drop(file, {line - 1 for where, line in faults if where == name})
    launches = tuple(_launches(all_files.values()))
    items = [item for file in all_files.values() for item in file.items]
    kernels = tuple(
        kernel for file in own for kernel in kernels_of(_nodes(file), file.kernel_word, partial(_macro_scope, file))
    )
    words = needed
    if alone:
        _without_kernels(items, kernels)
    else:
        words = " ".join([needed, *(launch.kernel for launch in launches)])
    _keep_needed(items, set(WORD.findall(words.encode())))
    _without_host_usings(items, {name for file in all_files.values() for name in file.host_names})
    spaces = _namespaces(all_files.values())
    headers = {name: _device_text(file, alone, spaces) for name, file in all_files.items() if name}
    source = _device_text(main, alone, spaces)
    before, after = text.splitlines(), source.splitlines()
    blanked = sum(bool(a.strip()) and not b.strip() for a, b in zip(before, after, strict=True))
    return DeviceCode(
        source + "".join(f'\n#include "{name}"' for name in further),
        headers,
        kernels,
        launches,
        tuple(missing),
        blanked,
        _remarks(all_files.values()),
        *_undefined(all_files.values()),
        tuple(_function_objects(own)),
        tuple(_mentions(own, kernels)),
    )


def _drop(file: _File, lines: set[int]) -> None:
    """Take away the host's types, constants and members in these lines, which count from 0."""
    spaces = file.standing_for(_SPACES) if lines else None
    for item in list(file.items) if spaces else ():
        node = item.node
        if (
            node is None
            or node.type.startswith("preproc")
            or not lines & set(range(node.start_point.row, node.end_point.row + 1))
        ):
            continue
        parts = [
            member for member in _movable(node) if lines & set(range(member.start_point.row, member.end_point.row + 1))
        ]
        text = file.text[node.start_byte : node.end_byte].decode(errors="replace")
        inner = declared_in(node)
        specialised = "template_type" in {child.type for child in inner.children} or re.match(r"template\s*<\s*>", text)
        if parts:
            file.blank += [_span(file, part) for part in parts if not spaces.search(text_of(part))]
        elif not (spaces.search(text) or specialised or inner.type == "function_definition"):
            file.items.remove(item)
            file.blank.append(item.span)


def _movable(node: Node) -> Iterator[Node]:
    """The members of a class, and of those in it, that take no place in an object: types, friends, static members."""
    for body in walk(node, ("field_declaration_list",)):
        for member in _members(body):
            static = any(text_of(child) == "static" for child in member.children)
            if static or (
                member.type in ("friend_declaration", "using_declaration", *TYPES) and member.type not in CLASSES
            ):
                yield member


def defined(path: Path, folders: Sequence[Path] = ()) -> set[str]:
    """The words in the names of the functions and variables that a file itself defines for the device.

    Raises:
        OSError: the file cannot be read.
    """
    file = _File(_joined(decode(path.read_bytes())).encode(), path, tuple(folders))
    file.macros = macros_of(file.text, path, set(), file.folders)
    spaces = file.standing_for(_SHARED_SPACES)
    found = (_declared(file, node, spaces) for node in _declarations(parser().parse(_readable(file)).root_node))
    return {word.decode() for names, is_defined in found if is_defined for word in names}


def _undefined(files: Collection[_File]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of variables, and those of functions, that what is kept declares for the device and does not define."""
    declared: dict[str, dict[bytes, None]] = {"variable": {}, "function": {}}
    defined: set[bytes] = set()
    for file in files:
        spaces = file.standing_for(_SHARED_SPACES)
        for node in (item.node for item in file.items if item.kept and item.node is not None):
            names, is_defined = _declared(file, node, spaces)
            if is_defined:
                defined |= names
            else:
                kind = "function" if is_prototype(declared_in(node)) else "variable"
                declared[kind] |= dict.fromkeys(sorted(names))
    left = {kind: [name.decode() for name in names if name not in defined] for kind, names in declared.items()}
    return tuple(left["variable"]), tuple(left["function"])


def _declared(file: _File, node: Node, spaces: re.Pattern[str]) -> tuple[set[bytes], bool]:
    """The names of a function or a variable of the device, and whether it is defined here; no names for others."""
    inner = declared_in(node)
    head = _head(file, node, inner)
    if node.type == "ERROR" or inner.type not in ("function_definition", "declaration") or not spaces.search(head):
        return set(), False
    is_extern = re.search(r"\bextern\b(?!\s*\")", head) and not re.search(r"=|\{", head)
    return names_of(inner), inner.type == "function_definition" or not (is_prototype(inner) or is_extern)


def _gather_further(
    paths: Sequence[Path], files: dict[str, _File], known: Callable[[str], bool], missing: list[str]
) -> list[str]:
    """Read further files of the program, as headers; the names of those that the others do not include."""
    own = {id(file) for file in files.values()}
    names = []
    for path in paths:
        name = _name_of(path, path.name, files)
        if name not in files:
            once = frozenset(header for header, file in files.items() if not _GUARD.search(file.text))
            files[name] = _File(_joined(decode(path.read_bytes())).encode(), path, files[""].folders, once=once)
            _gather(files[name], files, known, missing)
            names.append(name)
    for item in (item for file in files.values() if id(file) not in own for item in file.items):
        item.root = False
        item.names = set() if item.kernel else item.names | (item.words if item.node is None else set())
    return names


def _launches(files: Iterable[_File]) -> Iterator[LaunchSuggestion]:
    texts = [file.text.decode(errors="replace") for file in files]
    macros = macros_with_parameters(texts)
    program = HostCode.of([written_out(text, macros).encode() for text in texts])
    return (launch for code in program for launch in launches_of(code, program))


def _mentions(files: Iterable[_File], kernels: Iterable[KernelDeclaration]) -> Iterator[str]:
    """The templates among the kernels wherever a file names one with arguments, each text once."""
    names = {kernel.name.split("::")[-1].encode() for kernel in kernels if kernel.template and "<" not in kernel.name}
    if not names:
        return
    named = re.compile(rb"\b(?:%s)\s*<(?!<)[^;{}<>]*(?:<[^;{}<>]*>[^;{}<>]*)*>" % b"|".join(sorted(names)))
    yield from dict.fromkeys(match[0].decode(errors="replace") for file in files for match in named.finditer(file.text))


def _function_objects(files: Iterable[_File]) -> Iterator[str]:
    """The classes with an ``operator()`` for the device, with ``float`` for a type that they take."""
    for file in files:
        spaces = file.standing_for("__device__")
        for node in _nodes(file):
            inner = declared_in(node)
            name = text_of(inner.child_by_field_name("name"))
            parameters = listed(node.child_by_field_name("parameters"))
            plain = name.isidentifier() and len(parameters) < 2 and all("=" not in one for one in parameters)
            if inner.type in CLASSES and plain and re.search(r"\boperator\s*\(\s*\)", text := text_of(node)):
                if spaces.search(text) and (not parameters or re.match(r"typename|class", parameters[0])):
                    yield "::".join([*scope_of(inner), name]) + ("<float>" if parameters else "")


def _remarks(files: Iterable[_File]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(remark for file in files for remark in file.remarks))


def _without_kernels(items: Iterable[_Item], kernels: Iterable[KernelDeclaration]) -> None:
    """No kernel is a root any more, and no macro that may instantiate one."""
    names = {kernel.name.split("::")[-1].encode() for kernel in kernels}
    for item in items:
        item.root &= not (item.kernel or (item.node is None and item.words & names))


def _macro_scope(file: _File, node: Node) -> list[str]:
    """The namespaces around a declaration that macros open, the outermost first."""
    found: list[str] = []
    for at, name in sorted(file.namespaces, key=lambda one: one[0]):
        if at < node.start_byte:
            found = found[:-1] if name is None else [*found, name]
    return [name for name in found if name]


def _nodes(file: _File) -> Iterator[Node]:
    return (item.node for item in file.items if item.node is not None)


def _gather(
    file: _File, files: dict[str, _File], known: Callable[[str], bool], missing: list[str], outer: Macros = NO_MACROS
) -> None:
    """Split a file into items, and read the files beside it that it includes. ``outer``: macros of the including file,
    which may stand in a header that another one defines them for."""
    file.macros = {**outer, **macros_of(file.text, file.path, set(), file.folders)}
    file.kernel_word = file.standing_for("__global__")
    tree = parser().parse(_readable(file))
    spaces = file.standing_for(_SPACES)
    for node in _declarations(tree.root_node):
        _classify(file, node, spaces)
    for include in file.includes:
        path = include.child_by_field_name("path")
        written = text_of(path).replace("\\", "/")
        wanted = written.strip('<>"')
        compilers = known(wanted) and not _HOST_HEADERS.match(wanted)
        header = Located(None) if compilers and written.startswith("<") else located(file.path, wanted, file.folders)
        if header.remark and (header.path or not compilers):
            file.remarks.append(header.remark)
        if local := header.path:
            name = _name_of(local, wanted, files)
            if name in file.once or _is_main(local, file, files):
                file.blank.append((include.start_byte, include.end_byte))
                continue
            if path is not None and name != text_of(path).strip('<>"'):
                file.renamed.append(((path.start_byte, path.end_byte), name))
            if name not in files:
                files[name] = _File(_joined(decode(local.read_bytes())).encode(), local, file.folders, once=file.once)
                _gather(files[name], files, known, missing, file.macros)
            continue
        if compilers:
            continue
        file.blank.append((include.start_byte, include.end_byte))
        if wanted not in missing:
            missing.append(wanted)


def _is_main(path: Path, file: _File, files: Mapping[str, _File]) -> bool:
    """Whether a further file includes the source itself."""
    main = files[""]
    return file is not main and main.path is not None and path.resolve() == main.path.resolve()


def _name_of(path: Path, wanted: str, files: Mapping[str, _File]) -> str:
    """The name of a header for the compiler, one per file: as it is written first, with a folder if two have it."""
    path = path.resolve()
    for name, file in files.items():
        if name and file.path is not None and file.path.resolve() == path:
            return name
    main = files[""].path
    taken = {*files, main.name if main is not None else ""}
    parts = list(path.parts[1:-1])
    while wanted in taken:
        wanted = f"{parts.pop()}/{wanted}" if parts else f"_{wanted}"
    return wanted


def _joined(text: str) -> str:
    """The text as the compiler reads it, with lines of the same length.

    Compilers join lines also where spaces follow the backslash. ``extern "C"`` needs a space after it: without one,
    a name there is a part of the string.
    """
    text = re.sub(r"\\([ \t]+)$", r"\1\\", text, flags=re.MULTILINE)
    return re.sub(r'\bextern[ \t]"C"(?=\w)', 'extern"C" ', text)


def _readable(file: _File) -> bytes:
    """The text without what the grammar does not know, each byte in its place.

    A macro call at namespace level has no form of its own. It is the host's where its expansion has nothing for the
    device, as with ``TEST(name)`` or bindings for Python.
    """
    without = outline(file.text)
    text = bytearray(_ATTRIBUTES.sub(_blanks, without.text))
    file.attributes = {match.end(): match.start() for match in _ATTRIBUTES.finditer(without.text)}
    spaces = re.compile(file.standing_for(_SPACES).pattern.encode())
    with_parameters = {name: body for name, (parameters, body) in file.macros.items() if parameters}
    last = 0
    for match in _MACRO_CALL.finditer(file.text):
        indented = match.start(1) > match.start()
        if without.in_body(match.start()) or match.start() < last:
            continue
        end = _closing(file.text, match.end() - 1)
        if indented and (match[1] not in with_parameters or without.in_part(match.start(1))):
            if match[1] in with_parameters and re.match(rb"[ \t]*(?://[^\n]*)?\n", file.text[end : end + 200]):
                last = end  # it makes members of a class
                if _only_functions(with_parameters[match[1]]) and not spaces.search(with_parameters[match[1]]):
                    file.blank.append((match.start(1), end))
                text[match.start() : end] = re.sub(rb"[^\n]", b" ", file.text[match.start() : end])
            continue  # else an expression, or a constructor
        after = re.match(rb"\s*([;{=(,)\w*&]?)", file.text[end : end + 200])
        continues = after is not None and after.group(1) not in (b"", b";") and b"\n" not in after.group(0)
        brace = after is not None and after.group(1) == b"{"
        name = match.group(1)
        if end < 0 or continues or brace or not (name in with_parameters or name.isupper()):
            continue
        body = with_parameters.get(name, b"")
        last = end = _end_of_macros(file, with_parameters, body, end)
        text[match.start() : end] = re.sub(rb"[^\n]", b" ", file.text[match.start() : end])
        if spaces.search(body):
            words = set(WORD.findall(file.text[match.start() : end] + body))
            file.items.append(_Item((match.start(), end), None, set(), words, root=True))
        elif _DECLARES.search(body):
            words = set(WORD.findall(file.text[match.end(1) : end]))
            file.items.append(_Item((match.start(), end), None, words, words | set(WORD.findall(body))))
        else:
            file.blank.append((match.start(), end))
    return _without_macros(file, bytes(text))


def _only_functions(body: bytes) -> bool:
    """Whether what a text declares in a class takes no place in its objects: functions, types, static members."""
    left, count = body, 1
    while count:
        left, count = re.subn(rb"\{[^{}()]*\}", b"%;", left)
        left, more = re.subn(rb"\([^(){}]*\)", b"@", left)
        count += more
    parts = [re.sub(rb"\\\n|\b\w+\s*:(?!:)", b"", part).strip() for part in left.split(b";")]
    placeless = re.compile(rb"(?:static|typedef|using|friend)\b|[^@]*@|(?:struct|class|union|enum)\b.*%$", re.DOTALL)
    return all(not part or placeless.match(part) for part in parts)


def _end_of_macros(file: _File, bodies: Mapping[bytes, bytes], body: bytes, end: int) -> int:
    """Where a macro call ends: where it opens a brace, after the call of the macro that closes it."""
    if body.count(b"{") <= body.count(b"}"):
        return end
    for match in _MACRO_CALL.finditer(file.text, end):
        closing = bodies.get(match[1], b"")
        if closing.count(b"}") > closing.count(b"{"):
            return max(end, _closing(file.text, match.end() - 1))
    return end


def _blanks(match: re.Match[bytes]) -> bytes:
    return re.sub(rb"[^\n]", b" ", match.group())


def _without_macros(file: _File, text: bytes) -> bytes:
    """Blanks for macros that stand for attributes of functions, and for those alone in a line that have braces."""
    hidden = [match for match in _ALONE.finditer(text) if re.search(rb"[{}]", file.macros.get(match[1], (b"", b""))[1])]
    attributes = {name for name in attribute_macros(file.macros) if not file.kernel_word.search(name.decode())}
    if attributes:
        names = b"|".join(sorted(attributes))
        pattern = rb"(^[ \t]*#(?:\\\n|[^\n])*)|\b(?:%s)\b(?:[ \t]*\([^()\n]*\)(?=\s*\w))?" % names
        found = [match for match in re.finditer(pattern, text, re.MULTILINE) if match[1] is None]
        file.attributes |= {match.end(): match.start() for match in found}
        hidden += found
    for match in hidden:
        if inside := re.search(
            rb"\bnamespace\b\s*([\w:]*)\s*\{|(\})", file.macros.get(match[0].strip(), (b"", b""))[1]
        ):
            file.namespaces.append((match.start(), inside[1].decode() if inside[2] is None else None))
    changed = bytearray(text)
    for match in hidden:
        changed[match.start() : match.end()] = _blanks(match)
    return bytes(changed)


def _closing(text: bytes, start: int) -> int:
    """The index after the parenthesis that closes the one at ``start``; -1 where none does."""
    depth = 0
    for match in re.finditer(rb"[()]", text[start:]):
        depth += 1 if match.group() == b"(" else -1
        if depth == 0:
            return start + match.end()
    return -1


def _declarations(node: Node) -> Iterator[Node]:
    """The declarations at namespace level, inside namespaces, ``extern "C"`` and conditionals too."""
    condition = [node.child_by_field_name(name) for name in ("condition", "name")]
    for child in node.children:
        if child in condition:
            continue
        if child.type in _CONTAINERS:
            yield from _declarations(child)
        elif child.type in ("namespace_definition", "linkage_specification"):
            body = child.child_by_field_name("body")
            if body is not None and body.type == "declaration_list":
                yield from _declarations(body)
            else:
                yield child
        elif child.is_named and child.type not in ("identifier", "namespace_identifier", "comment", "preproc_arg"):
            yield child


def _span(file: _File, node: Node) -> tuple[int, int]:
    """Where a declaration stands, with the macros before it that the grammar does not see."""
    start = node.start_byte
    while (before := len(file.text[:start].rstrip())) in file.attributes:
        start = file.attributes[before]
    return start, node.end_byte


def _classify(file: _File, node: Node, spaces: re.Pattern[str]) -> None:
    """Make an item of what stands at namespace level, or mark it as the host's."""
    kind = node.type
    if kind in ("preproc_def", "preproc_function_def"):
        name = node.child_by_field_name("name")
        words = set(WORD.findall(file.text[node.start_byte : node.end_byte]))
        file.items.append(
            _Item(_span(file, node), node, {name.text or b""} if name is not None else set(), words, kept=True)
        )
    elif kind == "preproc_include":
        file.includes.append(node)
    elif kind == "preproc_call" and "error" in text_of(node.child_by_field_name("directive")):
        file.blank.append((node.start_byte, node.end_byte))  # what the compiler lacks, it will say by itself
    elif kind == "using_declaration":
        _classify_using(file, node)
    elif not kind.startswith("preproc") and kind not in ("string_literal", ";", "number_literal"):
        _classify_declaration(file, node, spaces)


def _classify_declaration(file: _File, node: Node, spaces: re.Pattern[str]) -> None:
    """The same for a declaration: functions, variables, types."""
    inner = declared_in(node)
    head = _head(file, node, inner)
    function = inner.type == "function_definition"
    item = _Item(
        _span(file, node), node, names_of(inner), set(WORD.findall(file.text[node.start_byte : node.end_byte]))
    )
    constant = re.search(r"\bconstexpr\b" if function else r"\b(?:const|constexpr)\b", head)
    whole = node.type not in ("ERROR", "template_instantiation")
    if spaces.search(head if whole else file.text[node.start_byte : node.end_byte].decode(errors="replace")):
        kernel = bool(file.kernel_word.search(head))
        item.kernel = kernel
        item.root = kernel or not (function or is_prototype(inner)) or b"operator" in item.words or node.type == "ERROR"
        file.items.append(item)
    elif whole and (inner.type in TYPES or is_type(inner)):
        members = list(_host_members(file, inner, spaces))
        file.blank += [_span(file, member) for member in members]
        file.virtual_at += _lost_virtual(members)
        file.items.append(item)
    elif inner.type == "declaration" and _REFERENCE.match(head):
        item.reference_at = item.span[0]
        file.items.append(item)
    elif whole and constant and not is_prototype(inner) and not _HOST_VALUE.search(head):
        item.const_at = None if function else const_of_number(inner)
        file.items.append(item)
    elif not re.fullmatch(r"[\s{}]*", text_of(node)):  # braces alone have their partners elsewhere
        file.host_names |= names_of(inner)
        file.blank.append(_span(file, node))


def _head(file: _File, node: Node, inner: Node) -> str:
    """What stands before a declaration's body, as the file has it: the grammar sees no macros. ``inner``: see
    :func:`~softlab.cuda.syntax.declared_in`."""
    end = inner.start_byte + len(head_of(inner).encode())
    return file.text[_span(file, node)[0] : end].decode(errors="replace")


def _classify_using(file: _File, node: Node) -> None:
    text = text_of(node)
    if "namespace" in text:
        file.usings.append(node)
    else:
        name = re.findall(r"\w+", text)[-1].encode()
        file.items.append(_Item(_span(file, node), node, {name}, set(WORD.findall(text.encode())) - {b"std"}))


def _keep_needed(items: list[_Item], words: set[bytes]) -> None:
    """Mark what the roots and these words need, directly or not."""
    named: dict[bytes, list[_Item]] = {}
    for item in items:
        for name in item.names:
            named.setdefault(name, []).append(item)
    pending = [item for item in items if item.root or item.names & words]
    seen: set[int] = set()
    while pending:
        item = pending.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        item.kept = True
        for word in item.words:
            pending += named.get(word, [])


def _without_host_usings(items: Iterable[_Item], host_names: set[bytes]) -> None:
    """Drop ``using`` of a name that is the host's alone."""
    usings = [item for item in items if item.node is not None and item.node.type == "using_declaration"]
    device = {name for item in items if item not in usings for name in item.names}
    for item in usings:
        item.kept &= not item.names <= host_names - device


def _namespaces(files: Collection[_File]) -> set[str]:
    """The names that these files declare for namespaces, and all names of declarations."""
    found = {name.decode() for file in files for item in file.items for name in item.names}
    for file in files:
        for name in re.findall(rb"\bnamespace\s+([\w:]+)\s*(?:=|\{)", file.text):
            found |= set(name.decode().split("::"))
    return found


def _device_text(file: _File, constexpr: bool, spaces: set[str]) -> str:
    """The file's text with the host's part blank.

    ``constexpr``: numbers that are const are that. ``spaces``: the namespaces of all files.
    """
    text = bytearray(file.text)
    dropped = [item.span for item in file.items if not item.kept]
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
    for start, end in _conditionals(file.text):
        text[start:end] = file.text[start:end]
    edits = [(span, f'"{name}"'.encode()) for span, name in file.renamed]
    if constexpr:
        consts = (item.const_at for item in file.items if item.kept and item.const_at is not None)
        edits += [((at, at + len(b"const")), b"constexpr") for at in consts]
    references = (item.reference_at for item in file.items if item.kept and item.reference_at is not None)
    edits += [((at, at), b"__constant__ ") for at in references]
    kept = [item.span for item in file.items if item.kept]
    edits += [((at, at), _VIRTUAL) for at in file.virtual_at if any(start <= at < end for start, end in kept)]
    for (start, end), new in sorted(edits, reverse=True):
        if start == end or text[start:end].strip():  # an include in a part that is blank stays so
            text[start:end] = new
    return text.decode()


def _conditionals(text: bytes) -> Iterator[tuple[int, int]]:
    """The indices of ``#if``, ``#else``, ``#endif`` and the like. All of them stay: then none lacks its partner."""
    for match in _CONDITIONAL.finditer(text):
        if match.group(1) is not None:
            yield match.span(1)


def _lost_virtual(members: Sequence[Node]) -> Iterator[int]:
    """Where the first of these members starts of each class that has no other virtual function.

    ``members``: the host's functions, which go.
    """
    gone = {member.id for member in members}
    for body in {member.parent.id: member.parent for member in members if member.parent is not None}.values():
        virtual = [member for member in _members(body) if next(walk(member, ("virtual",)), None) is not None]
        own = [member for member in virtual if member.type not in (*CLASSES, "access_specifier")]
        if own and all(member.id in gone for member in own):
            yield own[0].start_byte


def _members(body: Node) -> Iterator[Node]:
    """What stands in the braces of a class, in conditionals too."""
    for member in body.children:
        if member.type in _CONTAINERS:
            yield from _members(member)
        else:
            yield member


def _host_members(file: _File, node: Node, spaces: re.Pattern[str]) -> Iterator[Node]:
    """Member functions that the device cannot call: those with a body, and those that are declared alone."""
    kind = node if node.type in CLASSES else node.child_by_field_name("type")
    body = kind.child_by_field_name("body") if kind is not None and kind.type in CLASSES else None
    for member in _members(body) if body is not None else ():
        inner = member.children[-1] if member.type in ("template_declaration", "friend_declaration") else member
        if inner.type in CLASSES or (inner.type == "field_declaration" and not is_method(inner)):
            yield from _host_members(file, inner, spaces)
        whole = inner.type == "function_definition" and inner.child_by_field_name("body") is not None
        declared = inner.type in ("field_declaration", "declaration") and is_method(inner)
        if whole or declared:
            head = _head(file, member, inner)
            if not spaces.search(head) and "constexpr" not in head:
                yield member
