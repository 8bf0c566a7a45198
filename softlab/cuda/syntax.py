"""The syntax tree of CUDA C++ by tree-sitter, and what declarations declare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

WORD = re.compile(rb"[A-Za-z_]\w*")
CLASSES = ("struct_specifier", "class_specifier", "union_specifier")
#: Declarations of a name for a type.
TYPES = (*CLASSES, "enum_specifier", "type_definition", "alias_declaration", "namespace_alias_definition",
         "concept_definition")  # fmt: skip
#: The last two parts of a method's name.
_METHOD_NAME = re.compile(r"(\w+)\s*(?:<[^<>]*>)?\s*::\s*(~?\w+|operator\b.+)\Z", re.DOTALL)


@lru_cache(maxsize=1)
def parser() -> Parser:
    """The parser of CUDA C++."""
    import tree_sitter
    import tree_sitter_cuda

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))


def walk(node: Node, kinds: tuple[str, ...]) -> Iterator[Node]:
    """The nodes of these kinds in a tree, in the order of the text."""
    pending = [node]
    while pending:
        node = pending.pop()
        if node.type in kinds:
            yield node
        pending += reversed(node.children)


def text_of(node: Any) -> str:
    """The text of a node; "" of None."""
    return (node.text or b"").decode(errors="replace") if node is not None else ""


def head_of(node: Node) -> str:
    """What stands before the body of a function or the members of a class; a declaration's whole text."""
    body = node.child_by_field_name("body")
    text = node.text or b""
    return (text[: body.start_byte - node.start_byte] if body is not None else text).decode(errors="replace")


def function_of(node: Node) -> Node | None:
    """The function declarator of a definition or a prototype."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type == "reference_declarator":  # whose declarator is no field of it
            inner = next(iter(declarator.named_children), None)
        declarator = inner
    return declarator


def is_prototype(node: Node) -> bool:
    """Whether a declaration is a function's, without a body."""
    return node.type == "declaration" and function_of(node) is not None


def method_of(node: Node) -> tuple[bytes, bytes] | tuple[()]:
    """The class and the name of a method that is defined outside of its class, without template arguments; () for what
    is none."""
    called = function_of(node) if node.type == "function_definition" else None
    name = called.child_by_field_name("declarator") if called is not None else None
    found = _METHOD_NAME.search(text_of(name)) if name is not None and name.type == "qualified_identifier" else None
    return (found[1].encode(), re.sub(r"\s+", "", found[2]).encode()) if found else ()


def is_type(node: Node) -> bool:
    """Whether a declaration declares a class or an enum: ``struct A { int x; } a;``, not ``struct A* f();``."""
    kind = node.child_by_field_name("type")
    if node.type != "declaration" or kind is None or kind.type not in TYPES:
        return False
    return kind.child_by_field_name("body") is not None or node.child_by_field_name("declarator") is None


def names_of(node: Node) -> set[bytes]:
    """What a declaration declares: the words of its name, its declarators and its enumerators.

    Without the template arguments of a specialisation.
    """
    found: set[bytes] = set()
    if (name := node.child_by_field_name("name")) is not None:
        found |= _own_words(name)
    for declarator in node.children_by_field_name("declarator"):
        inner: Node | None = declarator
        while inner is not None and inner.child_by_field_name("declarator") is not None:
            inner = inner.child_by_field_name("declarator")
        if inner is not None:
            found |= _own_words(inner)
    kind = node.child_by_field_name("type")
    if kind is not None and kind.type in TYPES:
        found |= names_of(kind)
    body = node.child_by_field_name("body")
    if node.type == "enum_specifier" and body is not None:
        for enumerator in walk(body, ("enumerator",)):
            found |= set(WORD.findall(text_of(enumerator.child_by_field_name("name")).encode()))
    return found


def _own_words(name: Node) -> set[bytes]:
    text, count = name.text or b"", 1
    while count and b"operator" not in text:
        text, count = re.subn(rb"<[^<>]*>", b"", text)
    return set(WORD.findall(text))


def const_of_number(declaration: Node) -> int | None:
    """Where ``const`` stands in ``const real x = 2 * y;``. None for other declarations, and if the value has a call."""
    kinds = ("primitive_type", "type_identifier", "sized_type_specifier")
    variables = [child for child in declaration.children if child.type == "init_declarator"]
    of_type = (child.type for child in declaration.children if child.type in kinds)
    plain = all(child.children[0].type == "identifier" for child in variables) and next(of_type, None)
    qualifiers = [c for c in declaration.children if c.type == "type_qualifier"]
    consts = [c for c in qualifiers if text_of(c) == "const"]
    is_one = len(consts) == 1 and "constexpr" not in map(text_of, qualifiers)
    if not (variables and plain and is_one) or next(walk(declaration, ("call_expression",)), None):
        return None
    return consts[0].start_byte


def declared_in(node: Node) -> Node:
    """What a template or an ``extern "C"`` declares; any other declaration itself."""
    while node.type in ("template_declaration", "linkage_specification"):
        parts = [child for child in node.children if child.is_named and child.type != "template_parameter_list"]
        if not parts:
            break
        node = parts[-1]
    return node


def is_method(node: Node) -> bool:
    """Whether a member is a function that is declared alone, and no pointer to one."""
    declarator = function_of(node)
    inner = declarator.child_by_field_name("declarator") if declarator is not None else None
    return inner is not None and inner.type != "parenthesized_declarator"


def listed(node: Node | None) -> tuple[str, ...]:
    """The texts of what stands in a list of parameters or arguments, without its comments."""
    return tuple(" ".join(text_of(child).split()) for child in in_list(node))


def in_list(node: Node | None) -> list[Node]:
    """The nodes in a list of parameters or arguments, without its comments."""
    return [child for child in node.named_children if child.type != "comment"] if node is not None else []


def scope_of(node: Node, inline: bool = True) -> list[str]:
    """The namespaces around a node, the outermost first; anonymous ones have no name. ``inline``: with those that need
    not be named."""
    found: list[str] = []
    parent = node.parent
    while parent is not None:
        if parent.type == "namespace_definition":
            name = parent.child_by_field_name("name")
            if name is not None and (inline or parent.children[0].type != "inline"):
                found.insert(0, text_of(name))
        parent = parent.parent
    return found
