"""The outline of a C++ source: what stands at namespace level and in classes, without the bodies of functions.

The grammar of tree-sitter has no preprocessor. A conditional inside an expression, a macro call or an ``asm`` is an
error to it, and such an error can swallow the declarations that follow. The bodies of functions are where these stand,
and nobody needs the tree of a body. So the grammar sees the outline.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

_TOKEN = re.compile(
    rb"(?P<comment>/\*.*?\*/|//(?:\\\n|[^\n])*)"
    rb"|(?P<raw>\bR\"(?P<mark>[^()\s\\\"]{0,16})\(.*?\)(?P=mark)\")"
    rb"|(?P<text>\"(?:\\.|[^\"\\\n])*\"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')"
    rb"|(?P<directive>^[ \t]*#[ \t]*(?P<word>\w*)(?:\\\n|/\*.*?\*/|(?!//)[^\n])*)"
    rb"|(?P<mark_of_code>[{}()\[\];])",
    re.MULTILINE | re.DOTALL,
)
#: A text, or (group 1) a comment in a directive.
#: The call of a macro that makes enumerators, after (group 1) what stands before one.
_ENUMERATORS = re.compile(rb"(^|[{,)])([ \t]*[A-Za-z_]\w*[ \t]*\([^()\n]*\))", re.MULTILINE)
_IN_DIRECTIVE = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|(/\*.*?\*/)", re.DOTALL)
_TEMPLATE = re.compile(rb"\btemplate\s*<")
_CLASS = re.compile(rb"\b(?:struct|class|union)\b")
#: Attributes, and a macro with arguments between ``struct`` and a name.
_ATTRIBUTES = re.compile(
    rb"(?<=struct)\s+\w+\s*\(\)|(?<=class)\s+\w+\s*\(\)|(?:\b\w*align\w*\s*|\b__attribute__\s*|\[\[[^\]]*\]\]|\b__declspec\s*)(?:\(\))?"
)
#: What comes before the braces of a value: ``=``, or a member in the list of a constructor.
_INITIALIZED = re.compile(rb"=\s*$|\(\)\s*(?:noexcept\s*)?:(?!:).*\w\s*$", re.DOTALL)
#: The end of a body with a semicolon, which no function needs.
_CLOSED = re.compile(rb"\}\s*;")
_BASES = re.compile(rb"<[^<>]*>")
#: Between two declarations: nothing, the call of a macro, or what opens the members of a class.
_NOTHING = re.compile(rb"(?:\s|\b\w+\s*\(\)|\b[A-Z][A-Z0-9_]*\b|\b(?:public|private|protected)\s*:)*")
#: Comments, directives of the preprocessor, and attributes of a function: a conditional that has nothing else belongs
#: to the declaration after it.
_BESIDE = re.compile(rb"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE | re.DOTALL)
_OF_FUNCTION = re.compile(
    rb'(?:\s|\b__\w+__\b(?:\s*\([^()]*\))?|\b(?:inline|static|extern|constexpr|virtual|explicit|friend)\b|"C")*'
)


@dataclass(frozen=True)
class _State:
    """Where the reader is: the braces around it, the depth of parentheses, and the declaration up to here."""

    braces: tuple[_Braces, ...] = ()
    parentheses: int = 0
    head: bytes = b""
    in_body: bool = False

    @property
    def inside(self) -> str:
        """The kind of the innermost braces."""
        return self.braces[-1].kind if self.braces else "namespace"


@dataclass
class _Braces:
    """What stands in braces, and what the reader knows before them.

    ``kind``: "namespace", "class" and "enum" hold declarations, "body" the statements of a function, "list" the rest.
    """

    kind: str
    start: int
    before: _State
    end: int = -1


@dataclass
class _Group:
    """A conditional: the state before it, that after its first branch, and its directives."""

    before: _State
    after: _State | None = None
    directives: list[tuple[int, int]] = field(default_factory=list)
    dead: bool = False


@dataclass(frozen=True)
class Outline:
    """``text``: the source with blanks for what the grammar cannot read, each other byte in its place.

    ``bodies`` are the indices between the braces of functions, ``parts`` those between parentheses and between the
    braces of all but namespaces. ``alternatives`` are further branches of conditionals inside a declaration, which are
    blank: where the conditional starts, and where these branches end. ``directives`` are those of the preprocessor's
    lines, with the lines that continue them. ``attributes`` are conditionals that choose attributes of the function
    after them. ``namespaces`` are the indices between the braces of namespaces and of ``extern "C"``.
    """

    text: bytes
    bodies: tuple[tuple[int, int], ...]
    parts: tuple[tuple[int, int], ...]
    alternatives: tuple[tuple[int, int], ...]
    directives: tuple[tuple[int, int], ...]
    attributes: tuple[tuple[int, int], ...]
    namespaces: tuple[tuple[int, int], ...]

    def in_body(self, at: int) -> bool:
        """Whether an index is in the body of a function."""
        return _inside(self._bodies, at)

    def in_part(self, at: int) -> bool:
        """Whether what stands at an index is a part of a declaration, and none of its own."""
        return _inside(self._parts, at)

    def in_directive(self, at: int) -> bool:
        """Whether an index is in a directive of the preprocessor, such as the body of a macro."""
        return _inside(self._directives, at)

    @cached_property
    def _bodies(self) -> list[tuple[int, int]]:
        return _merged(self.bodies)

    @cached_property
    def _parts(self) -> list[tuple[int, int]]:
        return _merged(self.parts)

    @cached_property
    def _directives(self) -> list[tuple[int, int]]:
        return _merged(self.directives)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, without those that stand inside of others."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not found or end > found[-1][1]:
            found.append((start, end))
    return found


def _inside(spans: Sequence[tuple[int, int]], at: int) -> bool:
    """Whether an index is in one of these spans, as :func:`_merged` orders them."""
    place = bisect_right(spans, at, key=lambda span: span[0]) - 1
    return place >= 0 and at < spans[place][1]


def outline(source: bytes) -> Outline:
    """The outline of a source."""
    reader = _Reader(source)
    reader.read()
    text = bytearray(source)
    for start, end in (*reader.bodies(), *reader.hidden()):
        text[start:end] = re.sub(rb"[^\n]", b" ", bytes(text[start:end]))
    for start, end in reader.bodies():
        # Without a statement in it the grammar takes ``int f() { };`` for a variable with its value.
        if _CLOSED.match(source, end) and (at := text.find(b" ", start, end)) >= 0:
            text[at : at + 1] = b";"
    for start, end in reader.directives:
        text[start:end] = _IN_DIRECTIVE.sub(_without_comment, bytes(text[start:end]))
    for braces in (one for one in reader.closed if one.kind == "enum"):
        text[braces.start : braces.end] = _ENUMERATORS.sub(_without_call, bytes(text[braces.start : braces.end]))
    alternatives = tuple((group.directives[0][0], group.directives[-1][1]) for group in reader.midway)
    parts, directives = tuple(reader.parts()), tuple(reader.directives)
    spaces = tuple((braces.start + 1, braces.end) for braces in reader.closed if braces.kind == "namespace")
    attributes = tuple(reader.attributes)
    return Outline(bytes(text), tuple(reader.bodies()), parts, alternatives, directives, attributes, spaces)


def _without_call(match: re.Match[bytes]) -> bytes:
    return match[1] + re.sub(rb"[^\n]", b" ", match[2])


def _without_comment(match: re.Match[bytes]) -> bytes:
    """Blanks for a comment. What joins its lines stays."""
    return match[0] if match[1] is None else re.sub(rb"[^\n\\]|\\(?!\n)", b" ", match[0])


def open_braces(source: bytes) -> int:
    """How many braces are open at the end of a source."""
    reader = _Reader(source)
    reader.read()
    return len(reader.state.braces)


class _Reader:
    def __init__(self, source: bytes) -> None:
        self.source = source
        self.state = _State()
        self.open: list[_Group] = []
        self.groups: list[_Group] = []
        self.closed: list[_Braces] = []
        self.dead: list[tuple[int, int]] = []
        self.directives: list[tuple[int, int]] = []
        self.midway: list[_Group] = []
        self.attributes: list[tuple[int, int]] = []
        self.parenthesized: list[tuple[int, int]] = []
        self.parenthesis = 0

    def read(self) -> None:
        at = 0
        for token in _TOKEN.finditer(self.source):
            self._code(self.source[at : token.start()])
            at = token.end()
            if token["directive"] is not None:
                self._directive(token)
            elif token["mark_of_code"] is not None:
                self._mark(token["mark_of_code"], token.start())
            elif token["text"] is not None or token["raw"] is not None:
                self._code(b'""')

    def bodies(self) -> list[tuple[int, int]]:
        """Where the bodies of functions stand, the braces left out."""
        return [(braces.start + 1, braces.end) for braces in self.closed if braces.kind == "body"]

    def parts(self) -> Iterator[tuple[int, int]]:
        """What stands in parentheses outside of functions, and in braces of other kinds than namespaces."""
        yield from self.parenthesized
        yield from ((braces.start + 1, braces.end) for braces in self.closed if braces.kind != "namespace")

    def hidden(self) -> Iterator[tuple[int, int]]:
        """What else the grammar cannot read: code that is switched off, conditionals that part a declaration."""
        yield from self.dead
        yield from self.attributes
        bodies = _merged(self.bodies())
        for group in self.groups:
            inside = [_inside(bodies, start) for start, _ in group.directives]
            if group in self.midway:
                yield group.directives[0]
                yield group.directives[1][0], group.directives[-1][1]
            elif any(inside) and not all(inside):
                yield from group.directives

    def _code(self, text: bytes) -> None:
        if not self.state.in_body and self.state.parentheses == 0 and text.strip():
            self.state = replace(self.state, head=self.state.head + text)

    def _mark(self, mark: bytes, at: int) -> None:
        state = self.state
        if mark == b"{":
            kind = self._kind()
            self.state = _State((*state.braces, _Braces(kind, at, state)), in_body=state.in_body or kind == "body")
        elif mark == b"}" and state.braces:
            last = state.braces[-1]
            if last.end < 0:
                self.closed.append(last)
            last.end = at
            ends = last.kind == "namespace" or (last.kind == "body" and last.before.inside in ("namespace", "class"))
            self.state = replace(last.before, head=b"" if ends else last.before.head + b"{}")
        elif state.in_body:
            return
        elif mark in b"([":
            self.parenthesis = at if state.parentheses == 0 else self.parenthesis
            self.state = replace(state, parentheses=state.parentheses + 1)
        elif mark in b")]":
            self.state = replace(state, parentheses=max(0, state.parentheses - 1))
            if self.state.parentheses == 0:
                self.parenthesized.append((self.parenthesis + 1, at))
                self._code(b"()" if mark == b")" else b"[]")
        elif mark == b";" and state.parentheses == 0:
            self.state = replace(state, head=b"")

    def _kind(self) -> str:
        """What the braces hold that open after ``state.head``."""
        state = self.state
        if state.in_body or state.parentheses or state.inside not in ("namespace", "class"):
            return "list"
        head = _without_templates(state.head)
        if re.search(rb"\bnamespace\b[^()]*$", head) or re.search(rb'\bextern\s*""\s*$', head):
            return "namespace"
        plain = _BASES.sub(b"", _BASES.sub(b"", _ATTRIBUTES.sub(b" ", head)))
        after_calls = plain.rpartition(b"()")[2]  # a macro call without a semicolon may stand before a class
        if b"()" in plain and not (_CLASS.search(after_calls) and b"=" not in after_calls):
            return "list" if _INITIALIZED.search(plain) else "body"
        if re.search(rb"\benum\b", plain):
            return "enum"
        return "class" if b"=" not in after_calls and _CLASS.search(after_calls) else "list"

    def _directive(self, token: re.Match[bytes]) -> None:
        word, span = token["word"], token.span("directive")
        self.directives.append(span)
        if word in (b"include", b"define", b"undef") and self.state.inside in ("enum", "list"):
            self.dead.append(span)  # a list of values that another file has, and the macro for it
        if word in (b"if", b"ifdef", b"ifndef"):
            group = _Group(self.state, directives=[span])
            group.dead = bool(
                re.fullmatch(rb"\s*#\s*if\s+0\s*", _IN_DIRECTIVE.sub(_without_comment, token["directive"]))
            )
            self.open.append(group)
        elif word in (b"elif", b"else", b"elifdef", b"elifndef", b"endif") and self.open:
            group = self.open[-1]
            if group.dead:
                self.dead.append((group.directives[-1][1], span[0]))
            if group.after is None and not group.dead:
                group.after = self.state
            last = word == b"endif"
            self.state = (group.after or group.before) if last else group.before
            group.dead = False
            group.directives.append(span)
            if last:
                self.open.pop()
                self.groups.append(group)
                before = group.before
                parted = before.parentheses or not _NOTHING.fullmatch(before.head)
                if parted and not before.in_body and before.inside != "enum":
                    self.midway.append(group)
                elif not before.in_body and self._has_attributes_alone(group):
                    line = self.source.find(b"\n", span[1])
                    end = len(self.source[: line if line >= 0 else None].rstrip())
                    self.attributes.append((group.directives[0][0], end))
                elif self._ends_in_a_declaration(group):
                    self.midway.append(group)

    def _ends_in_a_declaration(self, group: _Group) -> bool:
        """Whether the first branch has the beginning of a declaration, such as the name of a function, and others do.

        What follows the conditional is the declaration's rest.
        """
        before, after = group.before, group.after
        if after is None or before.in_body or before.inside == "enum" or len(group.directives) < 3:
            return False
        unfinished = len(after.braces) == len(before.braces) and not after.parentheses
        return unfinished and not _NOTHING.fullmatch(after.head)

    def _has_attributes_alone(self, group: _Group) -> bool:
        left = _BESIDE.sub(b"", self.source[group.directives[0][1] : group.directives[-1][0]])
        return b"__" in left and _OF_FUNCTION.fullmatch(left) is not None


def _without_templates(head: bytes) -> bytes:
    """A declaration without its ``template <...>``."""
    while match := _TEMPLATE.search(head):
        depth, end = 1, match.end()
        while depth and end < len(head):
            depth += {0x3C: 1, 0x3E: -1}.get(head[end], 0)
            end += 1
        head = head[: match.start()] + head[end:]
    return head
