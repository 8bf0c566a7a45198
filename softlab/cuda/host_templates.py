"""The template arguments that a host's function has in the calls of it: what its launches depend on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product
from typing import TYPE_CHECKING

from softlab.cuda.constant_expressions import Constants, has_size
from softlab.cuda.host_values import host_values, written_out
from softlab.cuda.syntax import CLASSES, function_of, listed, parser, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

#: Templates of the host that call each other, from the one with known arguments to the launch.
_DEPTH = 4
#: Instances of a function that are listed. Templates that call each other multiply them.
_MOST = 64
#: A constant and a type that a block declares.
_CONSTANT = re.compile(r"\bconstexpr\s[^;={}()]*?\b(\w+)\s*(?:=|(?=\{))\s*([^;{}]+|\{[^;{}]*\});")
_TYPE = re.compile(r"\busing\s+(\w+)\s*=\s*((?:[^;{}]|\{[^;{}]*\})+);|\btypedef\s+([^;{}]+?)\s+(\w+)\s*;")
_TRUTHS = ("true", "false")
#: A word in the name of PyTorch's macros, and types that it stands for.
_DISPATCHED = (
    ("", ()), ("FLOATING", ("float", "double")), ("ALL", ("float", "double", "int", "long")), ("HALF", ("__half",)),
    ("BFLOAT16", ("__nv_bfloat16",)), ("INTEGRAL", ("int", "long")), ("INDEX", ("int", "long")),
)  # fmt: skip
#: An expression that needs parentheses inside another one; no type, such as ``float*``.
_COMPOUND = re.compile(r"[-+/%?|^!=]|[*&]\s*\w")


@dataclass(frozen=True, eq=False)
class HostCode:
    """A file's text, which may call templates and use constants of the ``others`` of its program."""

    text: bytes
    others: tuple[bytes, ...] = ()
    #: What templates of this file get, each found once: by node, by name, and by how many may call each other.
    given: dict[tuple[int, str, int], list[dict[str, str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> tuple[HostCode, ...]:
        """The files of a program."""
        return tuple(cls(text, (*texts[:k], *texts[k + 1 :])) for k, text in enumerate(texts))

    @cached_property
    def root(self) -> Node:
        """The syntax tree."""
        return parser().parse(self.text).root_node

    @cached_property
    def constants(self) -> Constants:
        """The constants of the whole file, and those of the others that it does not have itself."""
        return Constants.of(self.text.decode(errors="replace"), [text.decode(errors="replace") for text in self.others])

    @cached_property
    def named(self) -> Mapping[str, Sequence[tuple[Node, Node]]]:
        """Function -> the places with template arguments for it, ``launch<64>(x)``, and the list of these arguments."""
        found: dict[str, list[tuple[Node, Node]]] = {}
        for node in walk(self.root, ("call_expression", "template_instantiation")):
            kept = node.child_by_field_name("function" if node.type == "call_expression" else "declarator")
            if kept is not None and kept.type == "function_declarator":
                kept = kept.child_by_field_name("declarator")
            while kept is not None and kept.type == "qualified_identifier":
                kept = kept.child_by_field_name("name")
            arguments = kept.child_by_field_name("arguments") if kept is not None else None
            if kept is not None and arguments is not None and kept.type == "template_function":
                found.setdefault(text_of(kept.child_by_field_name("name")), []).append((node, arguments))
        return found

    @cached_property
    def typed(self) -> Mapping[str, Sequence[tuple[Node, Node]]]:
        """Class template -> the places that name it with template arguments, ``Runner<64> r;``, and this list."""
        found: dict[str, list[tuple[Node, Node]]] = {}
        for node in walk(self.root, ("template_type",)):
            arguments = node.child_by_field_name("arguments")
            if arguments is not None:
                found.setdefault(text_of(node.child_by_field_name("name")), []).append((node, arguments))
        return found


@dataclass(frozen=True)
class Scope:
    """What is known where some code of the host stands: the constants, the arguments of the template that it is in as
    ``bound``, names whose meaning is not known, as ``unknown``, and expressions that have the types of variables."""

    constants: Constants
    bound: Mapping[str, str]
    unknown: frozenset[str]
    values: Mapping[str, str] = field(default_factory=dict)

    def argument(self, text: str) -> str | None:
        """A template argument as the device can take it; None where it has an unknown name."""
        value = self.constants.number(written_out(text, self.values))
        if isinstance(value, str):
            value = re.sub(r"(?<![\w.])(?<!::)[A-Za-z_]\w*", lambda word: self._word(word[0]), value)
            if self.unknown & set(re.findall(r"\w+", value)):
                return None
        return str(value)

    def _word(self, word: str) -> str:
        if word in self.bound:
            value = self.bound[word]
            return f"({value})" if _COMPOUND.search(value) else value
        text = self.constants.values.get(word, "")
        return text if text in ("true", "false") else str(self.constants.number(word))


def enclosing_function(node: Node) -> Node | None:
    """The function whose body a node stands in."""
    parent: Node | None = node
    while parent is not None and parent.type != "function_definition":
        parent = parent.parent
    return parent


def scopes(node: Node, code: HostCode, program: Sequence[HostCode], depth: int = _DEPTH) -> Iterator[Scope]:
    """The scopes that a node stands in: one for each known instance of the function template around it, else one.

    Arguments:
        node: in a file of the host.
        code: that file. program: all files.
        depth: how many templates may call each other.
    """
    function = enclosing_function(node)
    unknown = _template_names(node)
    instances = _instances(node, code, program, depth) if depth else [{}]
    text, before = text_of(function), text_before(node)
    for bound in ({**one, **dispatched} for one in instances for dispatched in _dispatched(node)):
        local = code.constants.inside(text, bound) if function is not None or bound else code.constants
        written = {name: " ".join(value.strip("{}").split()) for name, value in _CONSTANT.findall(before)}
        aliases = {name or other: kind or type_ for name, kind, type_, other in _TYPE.findall(before)}
        of_sizes = {name: kind.strip() for name, kind in aliases.items() if has_size(kind.strip())}
        local = replace(local, values={**local.values, **of_sizes, **written})
        vague = {name for name in written if isinstance(local.number(name), str) and written[name] not in _TRUTHS}
        names = frozenset((unknown | Constants.declared(text) | vague) - set(bound))
        scope = _with_types(Scope(local, bound, names), before)
        values, without = host_values(before, _parameters(function), scope.argument)
        yield replace(scope, values=values, unknown=scope.unknown | without)


def _with_types(scope: Scope, before: str) -> Scope:
    """The scope after the names of types that the text before a place declares: each may name those before it."""
    for name, kind, type_, other in _TYPE.findall(before):
        declared, known = name or other, scope.argument(kind or type_)
        bound = {one: text for one, text in scope.bound.items() if one != declared}
        if known is None:
            scope = replace(scope, bound=bound, unknown=scope.unknown | {declared})
        else:
            scope = replace(scope, bound={**bound, declared: known}, unknown=scope.unknown - {declared})
    return scope


def _parameters(function: Node | None) -> tuple[str, ...]:
    called = function_of(function) if function is not None else None
    return listed(called.child_by_field_name("parameters")) if called is not None else ()


def text_before(node: Node) -> str:
    """What stands before a node in the blocks around it, up to its function, the innermost block last."""
    parts: list[str] = []
    while node.parent is not None and node.type != "function_definition":
        if node.parent.type == "compound_statement":
            parts[:0] = [text_of(one) for one in node.parent.named_children if one.end_byte <= node.start_byte]
        node = node.parent
    return "\n".join(parts)


def _dispatched(node: Node) -> list[dict[str, str]]:
    """What PyTorch's macros give the name ``scalar_t`` around a node: one for each type, or nothing elsewhere."""
    parent: Node | None = node
    while parent is not None and parent.type != "function_definition":
        called = text_of(parent.child_by_field_name("function")) if parent.type == "call_expression" else ""
        if called.startswith("AT_DISPATCH_"):
            kinds = [kinds for word, kinds in _DISPATCHED if word in called]
            return [{"scalar_t": kind} for kind in dict.fromkeys(kind for some in kinds for kind in some)]
        parent = parent.parent
    return [{}]


def _instances(node: Node, code: HostCode, program: Sequence[HostCode], depth: int) -> list[dict[str, str]]:
    """The arguments of the function template and of the class template around a node, by their parameters' names, as
    the program's calls and types give them: each once, and one that is empty where nothing gives any.

    ``code``: the node's file.
    """
    function = enclosing_function(node)
    of_class = ((one, one.typed) for one in program)
    found = [_given(*_class_of(function or node), of_class, code, program, depth)]
    if function is not None:
        of_function = ((one, one.named) for one in program)
        found.append(_given(_template_of(function), _name(function), of_function, code, program, depth))
    return [{name: one[name] for one in some for name in one} for some in islice(product(*found), _MOST)]


def _template_of(node: Node) -> Node | None:
    """The template that a function or a class is; None for any other."""
    parent = node.parent
    return parent if parent is not None and parent.type == "template_declaration" else None


def _class_of(node: Node) -> tuple[Node | None, str]:
    """The class template around a function or another node, and its name; of ``Runner<T>::run``, which stands outside,
    the template is the function's own."""
    owner = node.parent
    while owner is not None and owner.type not in CLASSES:
        owner = owner.parent
    if owner is not None:
        return _template_of(owner), text_of(owner.child_by_field_name("name"))
    declarator = function_of(node) if node.type == "function_definition" else None
    name = text_of(declarator.child_by_field_name("declarator")) if declarator is not None else ""
    found = re.fullmatch(r"(?:\w+\s*::\s*)*(\w+)\s*<[^<>]*>\s*::[^:]*", name)
    return (_template_of(node), found[1]) if found else (None, "")


def _given(
    declaration: Node | None,
    name: str,
    named: Iterable[tuple[HostCode, Mapping[str, Sequence[tuple[Node, Node]]]]],
    code: HostCode,
    program: Sequence[HostCode],
    depth: int,
) -> list[dict[str, str]]:
    """What a template's parameters get where the program names it, each once; one that is empty for what is none.

    ``named``: the files, each with the places of all names. ``code``: the template's file.
    """
    if declaration is None or not name:
        return [{}]
    key = (declaration.id, name, depth)
    if key not in code.given:
        code.given[key] = [{}]  # while it is looked for
        code.given[key] = list(_found(declaration, name, named, program, depth)) or [{}]
    return code.given[key]


def _found(
    declaration: Node,
    name: str,
    named: Iterable[tuple[HostCode, Mapping[str, Sequence[tuple[Node, Node]]]]],
    program: Sequence[HostCode],
    depth: int,
) -> Iterator[dict[str, str]]:
    parts = [one.partition("=")[::2] for one in listed(declaration.child_by_field_name("parameters"))]
    names = [re.findall(r"\w+", declared)[-1] for declared, _ in parts if re.search(r"\w", declared)]
    if not names or len(names) < len(parts) or any("..." in declared for declared, _ in parts):
        return
    defaults = dict(zip(names, (default for _, default in parts), strict=True))
    found = (
        bound
        for code, places in named
        if name.encode() in code.text
        for place, arguments in places.get(name, ())
        for scope in scopes(place, code, program, depth - 1)
        if len(bound := _bound(defaults, listed(arguments), scope, code)) == len(names)
    )
    seen: list[dict[str, str]] = []
    for bound in islice(found, _MOST):
        if bound not in seen:
            seen.append(bound)
            yield bound


def _bound(defaults: Mapping[str, str], arguments: Sequence[str], scope: Scope, code: HostCode) -> dict[str, str]:
    """What some parameters get from these arguments and from their defaults, as far as it is known."""
    given = [scope.argument(text) for text in arguments]
    bound = {name: value for name, value in zip(defaults, given, strict=False) if value is not None}
    for name, default in [*defaults.items()][len(given) :]:
        inner = Scope(code.constants.inside("", bound), bound, frozenset(defaults) - set(bound))
        if default.strip() and (value := inner.argument(default)) is not None:
            bound[name] = value
    return bound


def _name(function: Node) -> str:
    """A function's name without its class and its namespaces."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and (inner := declarator.child_by_field_name("declarator")) is not None:
        declarator = inner
    return text_of(declarator).split("::")[-1].strip()


def _template_names(node: Node) -> set[str]:
    """The parameters of all templates around a node."""
    names: set[str] = set()
    parent: Node | None = node
    while parent is not None:
        if parent.type == "template_declaration":
            for parameter in listed(parent.child_by_field_name("parameters")):
                names |= set(re.findall(r"\w+", parameter.partition("=")[0])[-1:])
        parent = parent.parent
    return names
