"""What of a file is the host's: declarations at namespace level, members of classes, and what the compiler refuses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from softlab.cuda.file_items import CONTAINERS, SPACES, File, Inclusion, Item, head_in, outer_space, span_of
from softlab.cuda.outlines import outline
from softlab.cuda.readable import makes_functions
from softlab.cuda.syntax import (
    CLASSES,
    TYPES,
    WORD,
    const_of_number,
    declared_in,
    function_of,
    in_list,
    is_method,
    is_prototype,
    is_type,
    method_of,
    names_of,
    text_of,
    walk,
)

if TYPE_CHECKING:
    from tree_sitter import Node

#: A variable of the host that device code fetches from, up to CUDA 11.
_REFERENCE = re.compile(r"\s*(?:static\s+)?(?:texture|surface)\s*<")
#: A function that the compiler itself may call, for either side.
_CONSTANT_FUNCTION = re.compile(rb"\bconst(?:expr|eval)\b")
#: A variable whose value the host alone can make.
_HOST_VALUE = re.compile(
    r"\bstd::(?:string|vector|map|set|list|deque|unordered_\w+|function|mutex|\w*stream)\b[^*&(]*$|=.*\bnew\b"
)

#: What the body of a function for both sides names of the host: nvcc leaves such calls out, with a warning.
_OF_HOST = re.compile(rb"\bstd::(?:string|vector|map|set|list|deque|unordered_\w+|function|mutex|\w*stream)\b")
#: Enumerators that a macro or an included list makes.
_MADE_ENUMERATORS = re.compile(rb"^[ \t]*#[ \t]*include\b|[{,\n][ \t]*[A-Za-z_]\w*[ \t]*\(", re.MULTILINE)
_THROW = re.compile(rb"(?:(?<=[{};)])|\belse)\s*(throw\b[^;]*;)")


#: After the attributes of a function, the class of the method that it is, and the method's name.
_METHOD = rb"(?:%s)[^;{}()]*?\b(\w+)\s*(?:<[^<>;{}()]*>)?\s*::\s*(~?\w+|operator\s*[^\s\w(]+)\s*\("


def without_host_members(files: Collection[File]) -> None:
    """Mark the methods that are the host's.

    A method's declaration in its class may have no attribute where the definition outside has one: nvcc takes that.
    """
    methods: set[tuple[bytes, bytes]] = set()
    for file in files:
        pattern = _METHOD % file.standing_for(SPACES).pattern.encode()
        found = re.findall(pattern, file.plain)
        methods |= {(owner, re.sub(rb"\s+", b"", name)) for owner, name in found}
    for file in files:
        for members in file.host_members:
            gone = [member for member, names in members if names not in methods]
            file.blank += [span_of(file, member) for member in gone]
            file.virtual_at += _lost_virtual(gone)
            file.declared_at += [_inside_template(member).start_byte for member, names in members if names in methods]


def keep_declared(files: Collection[File]) -> None:
    """Keep the functions without an attribute that have one elsewhere, in a declaration or where they are defined: nvcc
    takes them for the device, too. A declaration without an attribute that stays gets one."""
    names = {name for file in files for item in file.unmarked for name in item.names}
    likely = (item for file in files for item in file.items if item.node is not None and item.names & names)
    marked = {_signature(item) for item in likely if _is_function(item)} - {()}
    methods = {method for file in files for method in file.device_methods}
    for file in files:
        for item in file.unmarked:
            inner = declared_in(item.node) if item.node is not None else None
            if _signature(item) not in marked and (inner is None or _defined_method(inner) not in methods):
                file.host_names |= item.names
                file.blank.append(item.span)
                continue
            file.items.append(item)
            if inner is not None and is_prototype(inner):
                file.declared_at.append(inner.start_byte)


def _is_function(item: Item) -> bool:
    inner = declared_in(item.node) if item.node is not None else None
    return inner is not None and (inner.type == "function_definition" or is_prototype(inner))


def _signature(item: Item) -> tuple[object, ...]:
    """The namespace of a function, its name and the types of its parameters, without blanks; () for methods."""
    called = function_of(declared_in(item.node)) if item.node is not None else None
    name = text_of(called.child_by_field_name("declarator")) if called is not None else ""
    if called is None or not re.fullmatch(r"\w+", name):
        return ()
    return item.space, name, *_types_of(called)


def _types_of(called: Node) -> list[str]:
    """The types of a function's parameters, without their names and without blanks."""
    types = []
    for parameter in in_list(called.child_by_field_name("parameters")):
        default = parameter.child_by_field_name("default_value")
        text = text_of(parameter).removesuffix(text_of(default)) if default is not None else text_of(parameter)
        own = [text_of(one) for one in walk(parameter, ("identifier",))]
        words = re.sub(rf"\b{own[0]}\b", "", text) if own else text
        types.append(re.sub(r"\s+|=\s*$", "", words))
    return types


def _defined_method(inner: Node) -> tuple[object, ...]:
    """The class, the name and the types of the parameters of a method that is defined outside of its class; () for what
    is none."""
    called, owner_and_name = function_of(inner), method_of(inner)
    return (*owner_and_name, *_types_of(called)) if called is not None and owner_and_name else ()


def classify(file: File, node: Node, spaces: re.Pattern[str]) -> None:
    """Make an item of what stands at namespace level, or mark it as the host's."""
    kind = node.type
    if kind in ("preproc_def", "preproc_function_def"):
        name = node.child_by_field_name("name")
        words = set(WORD.findall(file.text[node.start_byte : node.end_byte]))
        file.items.append(
            Item(span_of(file, node), node, {name.text or b""} if name is not None else set(), words, kept=True)
        )
        body = node.child_by_field_name("value")
        if body is not None:
            text = file.text[body.start_byte : body.end_byte]
            if not spaces.search(text.decode(errors="replace")):
                if makes_functions(text) and name is not None:
                    file.makers[name.text or b""] = (body.start_byte, body.end_byte)
            else:
                file.blank += _host_functions(text, spaces, body.start_byte)
    elif kind == "preproc_include":
        if inclusion := Inclusion.of(file.text, node.start_byte, node.end_byte):
            file.includes.append(inclusion)
    elif kind == "preproc_call" and "error" in text_of(node.child_by_field_name("directive")):
        file.blank.append((node.start_byte, node.end_byte))  # what the compiler lacks, it will say by itself
    elif kind == "using_declaration":
        _classify_using(file, node)
    elif not kind.startswith("preproc") and kind not in ("string_literal", ";", "number_literal"):
        _classify_declaration(file, node, spaces)


def _host_functions(body: bytes, spaces: re.Pattern[str], at: int) -> Iterator[tuple[int, int]]:
    """Where the host's functions stand in the body of a macro that also makes functions for the device, line by line.

    ``at``: where the body starts. The backslashes that join its lines stay.
    """
    text = body.replace(b"\\\n", b" \n")
    start = 0
    for opens, closes in sorted(outline(text).bodies):
        head = text[start : opens - 1]
        start += max(head.rfind(b";"), head.rfind(b"}")) + 1
        if not spaces.search(text[start : opens - 1].decode(errors="replace")):
            for line in re.finditer(rb"[^\n\\]+", body[start : closes + 1]):
                yield at + start + line.start(), at + start + line.end()
        start = closes + 1


def _classify_declaration(file: File, node: Node, spaces: re.Pattern[str]) -> None:
    """The same for a declaration: functions, variables, types."""
    inner = declared_in(node)
    head = head_in(file, node, inner)
    function = inner.type == "function_definition"
    span = span_of(file, node)
    words = set(WORD.findall(file.text[span[0] : span[1]]))
    names, unclear = _names_with_macros(file, inner)
    item = Item(span, node, names, words, root=unclear, space=outer_space(file, node))
    constant = re.search(
        _CONSTANT_FUNCTION.pattern.decode() if function else r"\b(?:const|constexpr|constinit)\b", head
    )
    whole = node.type not in ("ERROR", "template_instantiation")
    if spaces.search(head if whole else file.text[node.start_byte : node.end_byte].decode(errors="replace")):
        kernel = bool(file.kernel_word.search(head))
        item.kernel = kernel
        item.root |= (
            kernel or not (function or is_prototype(inner)) or b"operator" in item.words or node.type == "ERROR"
        )
        file.items.append(item)
    elif whole and (inner.type in TYPES or is_type(inner)):
        file.host_members.append(list(_host_members(file, inner, spaces)))
        file.items.append(item)
    elif inner.type == "declaration" and _REFERENCE.match(head):
        item.reference_at = item.span[0]
        file.items.append(item)
    elif whole and constant and not is_prototype(inner) and not _HOST_VALUE.search(head):
        item.const_at = None if function else const_of_number(inner)
        file.constexpr_at += _constexpr_in(file, node, inner) if function else []
        file.items.append(item)
    elif whole and (function or is_prototype(inner)):
        file.unmarked.append(item)
    elif not re.fullmatch(r"[\s{};]*", text_of(node)):  # braces alone have their partners elsewhere
        file.host_names |= names_of(inner)
        file.blank.append(span_of(file, node))


def _names_with_macros(file: File, node: Node) -> tuple[set[bytes], bool]:
    """What a declaration declares, with what macros stand for in its names: each of several definitions. And whether
    it may declare more: where a macro pastes a name, or makes enumerators."""
    names = names_of(node)
    macros = [file.macros[name] for name in names if name in file.macros]
    made = {word for parameters, body in macros if not parameters for word in WORD.findall(body)}
    kind = node if node.type == "enum_specifier" else node.child_by_field_name("type")
    body = kind.child_by_field_name("body") if kind is not None and kind.type == "enum_specifier" else None
    lists = body is not None and _MADE_ENUMERATORS.search(file.text, body.start_byte, body.end_byte) is not None
    return names | made, lists or any(parameters and b"##" in text for parameters, text in macros)


def _classify_using(file: File, node: Node) -> None:
    text = text_of(node)
    if "namespace" in text:
        file.usings.append(node)
    else:
        name = re.findall(r"\w+", text)[-1].encode()
        file.items.append(Item(span_of(file, node), node, {name}, set(WORD.findall(text.encode())) - {b"std"}))


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
        if member.type in CONTAINERS:
            yield from _members(member)
        else:
            yield member


def _host_members(file: File, node: Node, spaces: re.Pattern[str]) -> Iterator[tuple[Node, tuple[bytes, bytes]]]:
    """What the device cannot use: methods with a body, those that are declared alone, and static variables; with the
    names of a method's class and its own."""
    kind = node if node.type in CLASSES else node.child_by_field_name("type")
    body = kind.child_by_field_name("body") if kind is not None and kind.type in CLASSES else None
    for member in _members(body) if body is not None else ():
        inner = _inside_template(member)
        if inner.type in CLASSES or (inner.type == "field_declaration" and not is_method(inner)):
            yield from _host_members(file, inner, spaces)
        if inner.type == "field_declaration" and not is_method(inner) and _is_host_variable(inner, spaces):
            yield member, (b"", b"")
        whole = inner.type == "function_definition" and inner.child_by_field_name("body") is not None
        declared = inner.type in ("field_declaration", "declaration") and is_method(inner)
        if whole or declared:
            head = head_in(file, member, inner)
            names = _names_of_method(kind, inner)
            if declared and spaces.search(head) and (called := function_of(inner)) is not None:
                file.device_methods.add((*names, *_types_of(called)))
            if not spaces.search(head) and not _CONSTANT_FUNCTION.search(head.encode()):
                yield member, names
            elif whole and not spaces.search(head):
                file.constexpr_at += _constexpr_in(file, member, inner)


def _is_host_variable(member: Node, spaces: re.Pattern[str]) -> bool:
    """Whether a data member is static and no constant: a variable of the host, unless an attribute says otherwise."""
    words = {text_of(child) for child in member.children}
    return "static" in words and words.isdisjoint({"const", "constexpr"}) and not spaces.search(text_of(member))


def _inside_template(member: Node) -> Node:
    """A member of a class without ``template <...>`` and ``friend``."""
    while member.type in ("template_declaration", "friend_declaration"):
        member = member.children[-1]
    return member


def _names_of_method(kind: Node | None, method: Node) -> tuple[bytes, bytes]:
    """The name of a class, and that of a method in it."""
    name = text_of(kind.child_by_field_name("name")).encode() if kind is not None else b""
    called = next(walk(method, ("function_declarator",)), None)
    own = text_of(called.child_by_field_name("declarator")).encode() if called is not None else b""
    return name, re.sub(rb"\s+", b"", own)


def _constexpr_in(file: File, node: Node, inner: Node) -> Iterator[tuple[int, int]]:
    """Where the word stands that makes a function one for constants. ``inner``: as :func:`head_in` takes it."""
    start = span_of(file, node)[0]
    if found := _CONSTANT_FUNCTION.search(head_in(file, node, inner).encode()):
        yield start + found.start(), start + found.end()


def drop(file: File, lines: set[int]) -> None:
    """Take away the host's types, constants, members and statements in these lines, which count from 0."""
    spaces = file.standing_for(SPACES)
    for item in list(file.items) if lines else ():
        node = item.node
        if node is None or node.type.startswith("preproc") or not lines & _lines(node):
            continue
        if stops := list(_stops(file, node, lines, spaces)):
            file.stops += stops
            continue
        parts = [member for member in _movable(node) if lines & _lines(member)]
        text = file.text[node.start_byte : node.end_byte].decode(errors="replace")
        inner = declared_in(node)
        specialised = "template_type" in {child.type for child in inner.children} or re.match(r"template\s*<\s*>", text)
        file.blank += [span_of(file, part) for part in parts if not spaces.search(text_of(part))]
        if spaces.search(text) and inner.type == "declaration" and not is_prototype(inner):
            item.root = False  # a variable that no function names, of a type of the host
        further = lines & _lines(node) - set[int]().union(*map(_lines, parts))
        if not further or spaces.search(text) or specialised or inner.type == "function_definition":
            continue
        if not _becomes_a_namespace(file, item, inner, lines) and not parts:
            file.items.remove(item)
            file.blank.append(item.span)


def _lines(node: Node) -> set[int]:
    return set(range(node.start_point.row, node.end_point.row + 1))


def _becomes_a_namespace(file: File, item: Item, inner: Node, lines: set[int]) -> bool:
    """Whether a class of the host has constants of its own, in other lines than these: they stay, in a namespace with
    its name. No object of the class can be made then, whose members would be elsewhere than on the host."""
    name, body = inner.child_by_field_name("name"), inner.child_by_field_name("body")
    if inner.type not in CLASSES or inner.id != (item.node and item.node.id) or name is None or body is None:
        return False
    stays = [member for member in _members(body) if _is_constant(member) and not lines & _lines(member)]
    if not stays:
        return False
    ends = [body.start_byte + 1, *(member.end_byte for member in stays)]
    starts = [*(member.start_byte for member in stays), body.end_byte - 1]
    file.blank += zip(ends, starts, strict=True)
    file.as_namespaces.append(((inner.start_byte, body.start_byte), name.text or b""))
    item.words = {word for member in stays for word in WORD.findall(file.text[member.start_byte : member.end_byte])}
    return True


def _is_constant(member: Node) -> bool:
    """Whether a member of a class is a static constant with its value, or an enum."""
    words = {text_of(child) for child in member.children}
    constant = "static" in words and not words.isdisjoint({"const", "constexpr"})
    valued = member.child_by_field_name("default_value") is not None
    kinds = {child.type for child in member.children}
    return member.type == "field_declaration" and ((constant and valued) or kinds == {"enum_specifier", ";"})


def _stops(file: File, node: Node, lines: set[int], spaces: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Where the device stops: in the whole body of a function for both sides that works with the host's classes, and
    in these lines where a function for constants throws. nvcc takes both."""
    inner = declared_in(node)
    head, body = head_in(file, node, inner), inner.child_by_field_name("body")
    if inner.type == "function_definition" and spaces.search(head):
        of_host = body is not None and _OF_HOST.search(file.text, body.start_byte, body.end_byte)
        hosts = file.standing_for("__host__").search(head)
        if body is not None and of_host and hosts and not re.search(r"\b(?:const\w+|auto)\b", head):
            name = b" ".join(sorted(names_of(inner))).decode(errors="replace")
            file.remarks.append(f"{name} works with classes of the host: a kernel that calls it stops there")
            yield body.start_byte, body.end_byte
        return
    annotated = [one for one in walk(node, ("function_definition",)) if spaces.search(head_in(file, one, one))]
    for match in _THROW.finditer(file.text, *span_of(file, node)):
        at = match.start(1)
        inside = any(one.start_byte <= at < one.end_byte for one in annotated)
        if not inside and file.text.count(b"\n", 0, at) in lines:
            yield match.span(1)


def _movable(node: Node) -> Iterator[Node]:
    """The members of a class, and of those in it, that take no place in an object: types, friends, static members."""
    for body in walk(node, ("field_declaration_list",)):
        for member in _members(body):
            static = any(text_of(child) == "static" for child in member.children)
            if static or (
                member.type in ("friend_declaration", "using_declaration", *TYPES) and member.type not in CLASSES
            ):
                yield member
