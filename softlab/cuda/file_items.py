"""One file of a program while its device part is read: its text, its macros, and what stands at namespace level."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from softlab.cuda.macro_calls import Macros
from softlab.cuda.macros import reachable, standing_for
from softlab.cuda.source_files import Places
from softlab.cuda.syntax import head_of, scope_of

if TYPE_CHECKING:
    from tree_sitter import Node

SPACES = r"__(?:global|device|constant|managed|shared)__"
#: Those of what another file of the program can define.
SHARED_SPACES = r"__(?:device|constant|managed)__"
#: A macro without a body, and the spaces and joined lines after it.
_WITHOUT_BODY = re.compile(r"^([ \t]*#[ \t]*define[ \t]+\w+(?:\([^()\n]*\))?)((?:[ \t]|\\\n)+)$", re.MULTILINE)
#: A macro that stands for a pragma: nvcc reads it as one, since another program expands the macros before it.
_PRAGMA = re.compile(
    r"^([ \t]*#[ \t]*define[ \t]+\w+(?:\([^()\n]*\))?[ \t]+)#[ \t]*pragma[ \t]+([^\"\\\n]*?)[ \t]*$", re.MULTILINE
)
_INCLUDE = re.compile(rb"[ \t]*#[ \t]*include\b[ \t]*(\"[^\"\n]*\"|<[^>\n]*>|[A-Za-z_](?:(?!//|/\*)[^\n])*)")
CONTAINERS = ("translation_unit", "declaration_list", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif",
               "preproc_elifdef")  # fmt: skip


@dataclass(frozen=True)
class Inclusion:
    """An ``#include``: where it stands, where the name stands in it with its quotes, and the name as it is written."""

    span: tuple[int, int]
    name_span: tuple[int, int]
    written: str

    @classmethod
    def of(cls, text: bytes, start: int, end: int) -> Inclusion | None:
        """The directive of the preprocessor between these indices, if it is one."""
        found = _INCLUDE.match(text, start, end)
        if found is None:
            return None
        return cls((start, end), found.span(1), found[1].decode(errors="replace").strip())


@dataclass
class Item:
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
    #: The outermost namespace around it; None for none, and where a macro makes its name.
    space: bytes | None = None
    #: Where the ``const`` of a number stands whose value names no function.
    const_at: int | None = None
    #: Where a texture reference starts, which becomes a constant variable.
    reference_at: int | None = None


@dataclass
class File:
    """One file while it is read."""

    text: bytes
    path: Path | None
    places: Places = field(default_factory=Places)
    items: list[Item] = field(default_factory=list)
    blank: list[tuple[int, int]] = field(default_factory=list)
    includes: list[Inclusion] = field(default_factory=list)
    #: Where those of files of the program stand.
    local: list[int] = field(default_factory=list)
    #: Those files.
    headers: list[Path] = field(default_factory=list)
    #: Those in bodies of functions and in classes: what they bring is a part of a declaration.
    inner_includes: list[Inclusion] = field(default_factory=list)
    usings: list[Node] = field(default_factory=list)
    kernel_word: re.Pattern[str] = re.compile("__global__")
    #: Those of this file and of the files that it includes.
    macros: Macros = field(default_factory=dict)
    #: Where attributes end that the grammar does not see -> where they start.
    attributes: dict[int, int] = field(default_factory=dict)
    #: Where an ``#include`` has another name than the header that it means, and that header's.
    renamed: list[tuple[tuple[int, int], str]] = field(default_factory=list)
    #: Where ``constexpr`` or ``consteval`` stands in functions without an attribute.
    constexpr_at: list[tuple[int, int]] = field(default_factory=list)
    #: Where methods without an attribute are declared whose definitions have one.
    declared_at: list[int] = field(default_factory=list)
    #: The text without the bodies of functions.
    plain: bytes = b""
    #: Per class, the methods without an attribute, each with the names of its class and its own.
    host_members: list[list[tuple[Node, tuple[bytes, bytes]]]] = field(default_factory=list)
    #: The methods that classes declare with an attribute: the class, the name and the types of the parameters.
    device_methods: set[tuple[object, ...]] = field(default_factory=set)
    #: Where a class lost its last virtual function, whose pointer its objects still have.
    virtual_at: list[int] = field(default_factory=list)
    #: Where the head of a class stands that becomes a namespace, and its name.
    as_namespaces: list[tuple[tuple[int, int], bytes]] = field(default_factory=list)
    #: Bodies of functions and statements in place of which the device stops, as the host alone can run them.
    stops: list[tuple[int, int]] = field(default_factory=list)
    #: Macros without an attribute that make functions, and where their bodies stand.
    makers: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    #: Macros whose calls have attributes before them, ``__device__ MAKE(float)``.
    attributed: set[bytes] = field(default_factory=set)
    #: Where macros open a namespace, with its name, or close one (None).
    namespaces: list[tuple[int, str | None]] = field(default_factory=list)
    #: Where these macros stand: they stay, as none lacks its partner then.
    kept: list[tuple[int, int]] = field(default_factory=list)
    #: What stands in namespaces, whether their braces or macros open them.
    in_spaces: list[tuple[int, int]] = field(default_factory=list)
    #: Where conditionals inside declarations start, and where their further branches end.
    alternatives: tuple[tuple[int, int], ...] = ()
    #: Where directives of the preprocessor stand, with the lines that continue them; None: they were not looked for.
    directives: tuple[tuple[int, int], ...] | None = None
    #: Functions without an attribute: the host's, unless a declaration has one.
    unmarked: list[Item] = field(default_factory=list)
    #: Names of the host's functions and variables.
    host_names: set[bytes] = field(default_factory=set)
    #: For a file that stands inside of declarations: its words, and those of what it includes.
    words: set[bytes] = field(default_factory=set)
    #: What to say of the places of the headers that it includes.
    remarks: list[str] = field(default_factory=list)
    #: Headers that stand before this file, and that cannot stand in a source twice.
    once: frozenset[str] = frozenset()
    _patterns: dict[str, re.Pattern[str]] = field(default_factory=dict)

    def copy(self) -> File:
        """The same file, of which other items may be chosen and dropped."""
        lists = ("blank", "remarks", "stops", "virtual_at", "as_namespaces")
        again = copy(self)
        again.items = [copy(item) for item in self.items]
        for name in lists:
            setattr(again, name, [*getattr(self, name)])
        return again

    @cached_property
    def real_path(self) -> Path | None:
        """Its path without links."""
        return self.path.resolve() if self.path is not None else None

    @cached_property
    def named_macros(self) -> Macros:
        """Those of ``macros`` that the text names, directly or not; for when these are known."""
        return reachable(self.text, self.macros)

    def standing_for(self, words: str) -> re.Pattern[str]:
        """A pattern of these words and of the named macros that stand for them; for when ``macros`` are known."""
        if words not in self._patterns:
            self._patterns[words] = re.compile(standing_for(words, self.named_macros))
        return self._patterns[words]


def has_content(file: File) -> bool:
    """Whether something of a file stays that is no directive of the preprocessor.

    A namespace around another file of the program is such a thing.
    """
    if file.directives is None or any(start <= at < end for at in file.local for start, end in file.in_spaces):
        return True
    kept = (item for item in file.items if item.kept)
    return any(one.node is None or not one.node.type.startswith("preproc") for one in kept)


def joined(text: str) -> str:
    """The text as the compiler reads it. Each line keeps its number.

    Compilers join lines also where spaces follow the backslash; at the end of a file it joins nothing. ``extern "C"``
    needs a space after it: without one, a name there is a part of the string. For tree-sitter, a macro without a body
    ends with its name: after a space it takes the next line for the body. A macro for a pragma is ``_Pragma``.
    """
    text = re.sub(r"\\([ \t]+)$", r"\1\\", text, flags=re.MULTILINE)
    text = re.sub(r"\\(\n?)\Z", r" \1", text)
    text = _WITHOUT_BODY.sub(lambda match: match[1] + "\n" * match[2].count("\n"), text)
    text = _PRAGMA.sub(r'\1_Pragma("\2")', text)
    return re.sub(r'\bextern[ \t]"C"(?=\w)', 'extern"C" ', text)


def declarations(node: Node) -> Iterator[Node]:
    """The declarations at namespace level, inside namespaces, ``extern "C"`` and conditionals too."""
    condition = [node.child_by_field_name(name) for name in ("condition", "name")]
    for child in node.children:
        if child in condition:
            continue
        if child.type in CONTAINERS:
            yield from declarations(child)
        elif child.type in ("namespace_definition", "linkage_specification"):
            body = child.child_by_field_name("body")
            if body is not None and body.type == "declaration_list":
                yield from declarations(body)
            else:
                yield child
        elif child.is_named and child.type not in ("identifier", "namespace_identifier", "comment", "preproc_arg"):
            yield child


def nodes_of(file: File) -> Iterator[Node]:
    """The declarations of a file that the tree has."""
    return (item.node for item in file.items if item.node is not None)


def macro_scope(file: File, node: Node) -> list[str]:
    """The namespaces around a declaration that macros open, the outermost first."""
    found: list[str] = []
    for at, name in sorted(file.namespaces, key=lambda one: one[0]):
        if at < node.start_byte:
            found = found[:-1] if name is None else [*found, name]
    return [name for name in found if name]


def outer_space(file: File, node: Node) -> bytes | None:
    """The outermost namespace around a declaration; None for none, and where a macro makes its name."""
    names = [*macro_scope(file, node), *scope_of(node, inline=False)]
    name = names[0].split("::")[0].strip().encode() if names else b""
    return name if name and name not in file.macros else None


def span_of(file: File, node: Node) -> tuple[int, int]:
    """Where a declaration stands, with what the grammar does not see: macros before it, branches of conditionals."""
    start = node.start_byte
    while (before := _end_before(file.text, start)) in file.attributes:
        start = file.attributes[before]
    return start, max([node.end_byte, *(end for at, end in file.alternatives if start <= at < node.end_byte)])


def _end_before(text: bytes, at: int) -> int:
    """The index after the last byte before ``at`` that is no blank."""
    while at > 0 and text[at - 1 : at].isspace():
        at -= 1
    return at


def head_in(file: File, node: Node, inner: Node) -> str:
    """What stands before a declaration's body, as the file has it: the grammar sees no macros. ``inner``: see
    :func:`~softlab.cuda.syntax.declared_in`."""
    end = inner.start_byte + len(head_of(inner).encode())
    return file.text[span_of(file, node)[0] : end].decode(errors="replace")
