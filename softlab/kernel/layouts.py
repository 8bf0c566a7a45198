"""How the compiler lays out the types of variables and parameters: sizes, fields and their offsets.

The compiler is asked: for ``decltype(x)`` it makes a template's name that holds the type. Macros, constants and aliases
are then no question. The names of a struct's fields come from the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np

from softlab.cuda.compile import Program, lowered_names
from softlab.cuda.syntax import CLASSES, WORD, parser, text_of, walk
from softlab.errors import CompileError
from softlab.kernel.mangled_names import template_types

if TYPE_CHECKING:
    from tree_sitter import Node

_PROBE = """
template <class T> __global__ void softlab_type_of() {}
template <class T, unsigned long size, unsigned long align> __global__ void softlab_size_of() {}
"""
_SCALARS: dict[str, np.dtype] = {
    "bool": np.dtype(bool), "char": np.dtype("i1"), "signed char": np.dtype("i1"), "unsigned char": np.dtype("u1"),
    "short": np.dtype("i2"), "unsigned short": np.dtype("u2"), "int": np.dtype("i4"), "unsigned int": np.dtype("u4"),
    "long": np.dtype("i8"), "unsigned long": np.dtype("u8"), "long long": np.dtype("i8"),
    "unsigned long long": np.dtype("u8"), "float": np.dtype("f4"), "double": np.dtype("f8"), "wchar_t": np.dtype("i4"),
    "__half": np.dtype("f2"), "__nv_bfloat16": np.dtype(ml_dtypes.bfloat16),
    "c10::Half": np.dtype("f2"), "c10::BFloat16": np.dtype(ml_dtypes.bfloat16),
}  # fmt: skip
_VECTOR = re.compile(r"(u?)(char|short|int|longlong|long|float|double)([1-4])")
_VECTORS = {"dim3": ("unsigned int", 3), "__half2": ("__half", 2), "__nv_bfloat162": ("__nv_bfloat16", 2)}
#: The largest alignment of CUDA's vector types (CUDA C++ Programming Guide, "Built-in Vector Types").
_VECTOR_ALIGN = 16
_POINTER = np.dtype("u8")


@dataclass(frozen=True)
class Layout:
    """A C++ type: ``text`` as C++ writes it, ``size`` and ``align`` in bytes, and one of the kinds

    - "scalar" and "pointer", of that ``dtype``;
    - "vector", such as ``float4``: ``count`` values of the dtype;
    - "array": ``count`` of ``element``;
    - "struct" with its ``fields``: name, offset in bytes, layout;
    - "bytes": what it holds is not known.
    """

    text: str
    size: int
    align: int
    kind: str
    scalar: np.dtype | None = None
    count: int = 0
    element: Layout | None = None
    fields: tuple[tuple[str, int, Layout], ...] = ()

    @cached_property
    def dtype(self) -> np.dtype:
        """As a NumPy dtype: arrays and vectors have a shape, pointers are addresses (uint64)."""
        if self.kind == "array" and self.element is not None:
            return np.dtype((self.element.dtype, (self.count,)))
        if self.kind == "struct":
            names, offsets, layouts = zip(*self.fields, strict=True)
            formats = [layout.dtype for layout in layouts]
            return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": self.size})
        if self.scalar is None:
            return np.dtype((np.uint8, (self.size,)))
        return np.dtype((self.scalar, (self.count,))) if self.kind == "vector" else self.scalar

    @property
    def has_pointers(self) -> bool:
        """Whether it is or holds a pointer."""
        inner = [self.element] if self.element is not None else [layout for _, _, layout in self.fields]
        return self.kind == "pointer" or any(layout.has_pointers for layout in inner)

    def named(self, text: str) -> Layout:
        """A field of a struct by its name."""
        return next(layout for name, _, layout in self.fields if name == text)


def unknown(text: str, size: int) -> Layout:
    """A type of which the size alone is known."""
    return Layout(text, size, 1, "bytes")


class Layouts:
    """The types of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._structs: dict[str, Layout | None] = {}

    def of_expressions(self, expressions: Sequence[str]) -> dict[str, Layout | None]:
        """The layouts of variables by their qualified names; None where the compiler does not say it."""
        names = [f"softlab_type_of<decltype({expression})>" for expression in expressions]
        texts = self._types(names)
        return {name: self.of_type(text) for name, text in zip(expressions, texts, strict=True)}

    def of_type(self, text: str) -> Layout | None:
        """The layout of a type as :mod:`softlab.kernel.mangled_names` writes it; None where it is not known."""
        plain = " ".join(re.sub(r"\b(?:const|volatile|struct|__restrict__)\b", " ", text).split())
        array = re.fullmatch(r"([^\[]*)\[(\d+)\](.*)", plain)
        if array:
            element = self.of_type(array[1] + array[3])
            count = int(array[2])
            if element is None:
                return None
            return Layout(plain, count * element.size, element.align, "array", count=count, element=element)
        plain = plain.removeprefix("std::")
        if plain.endswith(("*", "&")):
            return Layout(plain, _POINTER.itemsize, _POINTER.itemsize, "pointer", _POINTER)
        if plain in _SCALARS:
            dtype = _SCALARS[plain]
            return Layout(plain, dtype.itemsize, dtype.itemsize, "scalar", dtype)
        return _vector(plain) or self._struct(plain)

    def _types(self, names: Sequence[str]) -> list[str]:
        """The first template argument of each; "" where the compiler does not say it."""
        try:
            return [template_types(name)[0] for name in lowered_names(self._program, _PROBE, names)]
        except CompileError:
            if len(names) == 1:
                return [""]
            return [self._types([name])[0] for name in names]

    def _struct(self, text: str) -> Layout | None:
        if text and text not in self._structs:
            self._structs[text] = None  # a type is no part of itself
            self._structs[text] = self._asked(text)
        return self._structs.get(text)

    def _asked(self, text: str) -> Layout | None:
        try:
            size_of = f"softlab_size_of<{text}, sizeof({text}), alignof({text})>"
            (found,) = lowered_names(self._program, _PROBE, [size_of])
            size, align = (int(number) for number in template_types(found)[1:3])
        except (CompileError, ValueError):
            return None
        node = self._declarations.get(re.sub(r"<.*", "", text, flags=re.DOTALL).split("::")[-1])
        if node is not None and node.type == "enum_specifier" and size in (1, 2, 4, 8):
            return Layout(text, size, align, "scalar", np.dtype(f"i{size}"))
        names = None if node is None else _field_names(node)
        if not names:
            return Layout(text, size, align, "bytes")
        types = self._types([f"softlab_type_of<decltype({text}::{name})>" for name in names])
        layouts = [self.of_type(kind) for kind in types]
        fields, end = [], 0
        for name, layout in zip(names, layouts, strict=True):
            if layout is None:
                return Layout(text, size, align, "bytes")
            start = -(-end // layout.align) * layout.align
            fields.append((name, start, layout))
            end = start + layout.size
        if -(-end // align) * align != size:  # it has more than these fields
            return Layout(text, size, align, "bytes")
        return Layout(text, size, align, "struct", fields=tuple(fields))

    @cached_property
    def _declarations(self) -> dict[str, Node]:
        """The classes and enums that the source and its headers declare, by their last name."""
        found: dict[str, Node] = {}
        for text in (self._program.source, *self._program.headers.values()):
            tree = parser().parse(re.sub(r"__(?:builtin_)?align__\s*\([^()]*\)", " ", text).encode())
            for node in walk(tree.root_node, (*CLASSES, "enum_specifier", "type_definition")):
                kind = node.child_by_field_name("type") if node.type == "type_definition" else node
                name = node.child_by_field_name("declarator" if kind is not node else "name")
                if kind is not None and name is not None and kind.child_by_field_name("body") is not None:
                    found[text_of(name)] = kind
        return found


def _vector(text: str) -> Layout | None:
    found = _VECTOR.fullmatch(text)
    if found:
        base = {"longlong": "long long", "char": "signed char"}.get(found[2], found[2])
        base = base.replace("signed ", "") if found[1] else base
        scalar, count = f"unsigned {base}" if found[1] else base, int(found[3])
    elif text in _VECTORS:
        scalar, count = _VECTORS[text]
    else:
        return None
    dtype = _SCALARS[scalar]
    align = dtype.itemsize if count in (1, 3) else min(_VECTOR_ALIGN, dtype.itemsize * count)
    return Layout(text, dtype.itemsize * count, align, "vector", dtype, count)


def _field_names(node: Node) -> list[str] | None:
    """The fields of a class in their order; None for one with a base, with bit-fields or with anonymous members."""
    body = node.child_by_field_name("body")
    if body is None or any(child.type == "base_class_clause" for child in node.children):
        return None
    names: list[str] = []
    for member in _members(body):
        text = text_of(member)
        if any(child.type == "bitfield_clause" for child in member.children):
            return None
        if re.match(r"\s*(?:static|using|typedef|friend)\b", text):
            continue
        declarators = member.children_by_field_name("declarator")
        if not declarators and (kind := member.child_by_field_name("type")) is not None and kind.type in CLASSES:
            if kind.child_by_field_name("name") is None:
                return None
            continue
        for declarator in declarators:
            if next(walk(declarator, ("function_declarator",)), None) is None:
                name = next(walk(declarator, ("field_identifier",)), None)
                names += [text_of(name)] if name is not None and WORD.fullmatch(name.text or b"") else []
            elif next(walk(declarator, ("pointer_declarator",)), None) is not None and "(*" in text:
                return None
    return names


def _members(body: Node) -> Iterator[Node]:
    for child in body.children:
        if child.type == "field_declaration":
            yield child
        elif child.type.startswith("preproc_if"):
            yield from _members(child)
