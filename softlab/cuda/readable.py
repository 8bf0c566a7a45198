"""The text of a file as the grammar can read it: without bodies of functions, attributes and calls of macros.

What such a call stands for, the host's or the device's, is found here, too, since the tree does not have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from softlab.cuda.file_items import SPACES, File, Inclusion, Item, declarations
from softlab.cuda.macro_calls import MacrosAsCalled, expanded
from softlab.cuda.macros import attribute_macros, passed_attributes
from softlab.cuda.outlines import Outline, outline
from softlab.cuda.syntax import TYPES, WORD, declared_in, is_prototype, is_type, names_of, parser, text_of

#: Attributes that the grammar does not know, or not between ``struct`` and a name.
_ATTRIBUTES = re.compile(
    rb"\b(?:__align__|__builtin_align__|alignas|__cluster_dims__|__maxnreg__|__block_size__)\s*"
    rb"\((?:[^()]|\([^()]*\))*\)"
)
#: The template arguments in the name of a destructor.
_OF_DESTRUCTOR = re.compile(rb"(?<=~)(\s*\w+\s*)(<[^<>(){};]*>)(?=\s*\()")
#: A word alone in its line.
_ALONE = re.compile(rb"^[ \t]*([A-Z_]\w*)[ \t]*$", re.MULTILINE)
#: A name and its parenthesis at the start of a line, or (group 1) after attributes: a macro call, where no function has
#: such a name.
_MACRO_CALL = re.compile(rb"^[ \t]*((?:(?:__\w+__|inline|static)[ \t]+)*)(?P<name>[A-Za-z_]\w*)[ \t]*\(", re.MULTILINE)
#: What a macro for a test has after its call: parameters or none, and a body.
_BODY = re.compile(rb"\s*(?:\([^(){}]*\)\s*)?\{")
#: A function in :func:`_parts`: a type, a name, parentheses and braces.
_FUNCTION = re.compile(
    rb"[\w\s*&:<>,#]*[\w*&>]\s[*&\s]*(?!(?:if|for|while|switch|catch)\b)[\w#:~]+\s*@\s*(?:const\s*)?%", re.DOTALL
)
#: A text, or (group 1) a comment.
_COMMENT = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|(/\*.*?\*/|//[^\n]*)", re.DOTALL)
#: What a part of an expression has before it, and in how many bytes that is looked for.
_BEFORE_OPERAND, _NEAR = b"=,(+-*/%&|^<?!~", 1000
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
#: What may stay in a class as it is: it names types or asserts something.
_DECLARES_ONLY = re.compile(rb"\s*(?:(?:typedef|using|static_assert)\b[^;{}]*(?:;\s*|\Z))+\Z")
#: What a text has that declares a type or a constant, which device code may name.
_DECLARES = re.compile(rb"\b(?:struct|class|union|enum|typedef|using|constexpr|const)\b")


def readable(file: File) -> bytes:
    """The text without what the grammar does not know, each byte in its place.

    A macro call at namespace level has no form of its own. It is the host's where its expansion has nothing for the
    device, as with ``TEST(name)`` or bindings for Python.
    """
    without = outline(file.text)
    file.plain, file.alternatives, file.directives = without.text, without.alternatives, without.directives
    file.in_spaces += without.namespaces
    inner = (Inclusion.of(file.text, *span) for span in without.directives if _is_inner(without, span[0]))
    file.inner_includes = [inclusion for inclusion in inner if inclusion]
    text = bytearray(_ATTRIBUTES.sub(_blanks, _OF_DESTRUCTOR.sub(lambda m: m[1] + _blank(m[2]), without.text)))
    attributes = (*without.attributes, *(match.span() for match in _ATTRIBUTES.finditer(without.text)))
    file.attributes = {end: start for start, end in attributes}
    calls, last = _Calls(file, without), 0
    for match in _between_declarations(file, without):
        if match.start() >= last and (end := calls.end_of(match)):
            text[match.start() : end] = _blank(file.text[match.start() : end])
            last = end
    return _without_macros(file, bytes(text))


class _Calls:
    """The calls of macros in a file between declarations: what each stands for becomes a part of the file's items."""

    def __init__(self, file: File, without: Outline) -> None:
        self._file, self._without = file, without
        self._spaces = re.compile(file.standing_for(SPACES).pattern.encode())
        self._bodies = {name: body for name, (parameters, body) in file.macros.items() if parameters}
        self._macros = MacrosAsCalled(file.macros)
        self._closes = dict(without.bodies)

    def end_of(self, match: re.Match[bytes]) -> int:
        """Where the call ends that starts here; 0 for what is none, such as a constructor or a part of an
        expression."""
        file, name = self._file, match["name"]
        end = _closing(file.text, match.end() - 1)
        body = match[1] + self._bodies.get(name, b"")
        if match[1] and b"{" not in body:
            return 0  # an attribute that a macro makes, of the function after it
        file.attributed |= {name} if match[1] else set()
        after = file.text[end : end + 200]
        if closes := self._end_of_test(match, body, end):
            file.blank.append((match.start(), closes))
            return closes
        if match.start(1) > match.start() and (name not in self._bodies or self._without.in_part(match.start("name"))):
            if name not in self._bodies or not re.match(rb"[ \t]*;?[ \t]*(?://[^\n]*)?\n", after):
                return 0
            # It makes members of a class.
            made = b"" if self._spaces.search(body) else self._stands_for(match.start(), end)
            if made and _is_placeless(made) and not _DECLARES_ONLY.match(made):
                file.blank.append((match.start("name"), end))
            return end
        if end < 0 or _continues(after) or not (name in self._bodies or name.isupper()):
            return 0
        end = _end_of_macros(file, self._bodies, body, end)
        self._declare(match.start(), end, body)
        return end

    def _end_of_test(self, match: re.Match[bytes], body: bytes, end: int) -> int:
        """Where the braces close of what is no function, since it has no type: ``TEST_CASE("name") { ... }``. Such
        macros of libraries are the host's. 0 for others.

        ``body``: the macro's, as far as it is known. ``end``: where the call's parenthesis closes.
        """
        text, name = self._file.text, match["name"]
        before = match.string[: match.start()].rstrip()[-1:]
        opens = _BODY.match(text, end) if end >= 0 else None
        alone = before in (b"", b";", b"}", b"{") and not match[1] and not self._without.in_part(match.start("name"))
        if not (opens and alone and (name.isupper() or b'"' in text[match.end() : end])) or self._spaces.search(body):
            return 0
        return self._closes.get(opens.end(), -1) + 1

    def _declare(self, start: int, end: int, body: bytes) -> None:
        """Make an item of a call at namespace level, or mark it as the host's."""
        call = self._file.text[start:end]
        if self._spaces.search(body):
            self._file.items.append(Item((start, end), None, set(), set(WORD.findall(call + body)), root=True))
        elif names := _declared(made := self._stands_for(start, end)):
            self._file.items.append(Item((start, end), None, names, set(WORD.findall(call + made))))
        else:
            self._file.blank.append((start, end))

    def _stands_for(self, start: int, end: int) -> bytes:
        return expanded(self._file.text[start:end].decode(errors="replace"), self._macros).encode()


def _is_inner(without: Outline, at: int) -> bool:
    return without.in_body(at) or without.in_part(at)


def _declared(made: bytes) -> set[bytes]:
    """The names of the types and the constants that a text declares at namespace level."""
    found: set[bytes] = set()
    for node in declarations(parser().parse(made).root_node) if _DECLARES.search(made) else ():
        inner = declared_in(node)
        constant = inner.type == "declaration" and re.search(r"\b(?:const|constexpr)\b", text_of(inner))
        if inner.type in TYPES or is_type(inner) or (constant and not is_prototype(inner)):
            found |= names_of(inner)
    return found


def _between_declarations(file: File, without: Outline) -> Iterator[re.Match[bytes]]:
    """Where lines start like macro calls, but for those in bodies of functions, in macros and in expressions."""
    code = _DIRECTIVE.sub(_blanks, _without_comments(file.text))
    for match in _MACRO_CALL.finditer(code):
        at = match.start()
        if not (without.in_body(at) or without.in_directive(at) or _is_operand(code[max(0, at - _NEAR) : at])):
            yield match


def _without_comments(text: bytes) -> bytes:
    return _COMMENT.sub(lambda match: _blanks(match) if match[1] else match[0], text)


def _is_operand(before: bytes) -> bool:
    """Whether what follows this text is a part of an expression, such as the value of a variable."""
    last = before.rstrip()[-1:]
    return last != b"" and last in _BEFORE_OPERAND


def _continues(after: bytes) -> bool:
    """Whether a declaration goes on after the parenthesis of what looks like a macro call."""
    match = re.match(rb"\s*([;{=(,)\w*&]?)", after)
    next_one = match[1] if match else b""
    return next_one == b"{" or (match is not None and next_one not in (b"", b";") and b"\n" not in match[0])


def _is_placeless(body: bytes) -> bool:
    """Whether what a text declares in a class takes no place in its objects: functions, types, static members."""
    placeless = re.compile(rb"(?:static|typedef|using|friend)\b|[^@]*@|(?:struct|class|union|enum)\b.*%$", re.DOTALL)
    return all(placeless.match(part) for part in _parts(body))


def makes_functions(body: bytes) -> bool:
    """Whether the body of a macro has functions with their bodies, and nothing else."""
    return all(_FUNCTION.fullmatch(part) for part in _parts(body)) and b"{" in body


def _parts(body: bytes) -> list[bytes]:
    """What semicolons and braces part in the body of a macro: "@" stands for parentheses, "%" for braces at its end."""
    left, count = body.replace(b"\\\n", b" "), 1
    while count:
        left, count = re.subn(rb"\{[^{}()]*\}", b"%;", left)
        left, more = re.subn(rb"\([^(){}]*\)", b"@", left)
        count += more
    parts = [re.sub(rb"\b\w+\s*:(?!:)", b"", part).strip() for part in left.split(b";")]
    return [part for part in parts if part]


def _end_of_macros(file: File, bodies: Mapping[bytes, bytes], body: bytes, end: int) -> int:
    """Where a macro call ends, with its semicolon: where it opens a brace, after the call of the macro that closes
    it."""
    for match in _MACRO_CALL.finditer(file.text, end) if body.count(b"{") > body.count(b"}") else ():
        closing = bodies.get(match["name"], b"")
        if closing.count(b"}") > closing.count(b"{"):
            end = max(end, _closing(file.text, match.end() - 1))
            break
    semicolon = re.compile(rb"[ \t]*;").match(file.text, end)
    return semicolon.end() if semicolon else end


def _blank(text: bytes) -> bytes:
    return re.sub(rb"[^\n]", b" ", text)


def _blanks(match: re.Match[bytes]) -> bytes:
    return _blank(match.group())


def _without_macros(file: File, text: bytes) -> bytes:
    """Blanks for macros that stand for attributes of functions, and for those alone in a line that have braces."""
    hidden = [match for match in _ALONE.finditer(text) if re.search(rb"[{}]", file.macros.get(match[1], (b"", b""))[1])]
    attributes = {name for name in attribute_macros(file.named_macros) if not file.kernel_word.search(name.decode())}
    if attributes:
        names = b"|".join(sorted(attributes))
        pattern = rb"(^[ \t]*#(?:\\\n|[^\n])*)|\b(?:%s)\b(?:[ \t]*\([^()\n]*\)(?=\s*\w))?" % names
        found = [match for match in re.finditer(pattern, text, re.MULTILINE) if match[1] is None]
        file.attributes |= {match.end(): match.start() for match in found}
        hidden += found
    if passed := passed_attributes(file.named_macros):
        found = list(passed.finditer(text))
        file.attributes |= {match.end(): match.start() for match in found}
        hidden += found
    braces: list[tuple[int, int]] = []
    for match in hidden:
        _, body = file.macros.get(match[0].strip(), (b"", b""))
        if inside := re.search(rb"\bnamespace\b\s*([\w:]*)\s*\{|(\})", body):
            file.namespaces.append((match.start(), inside[1].decode() if inside[2] is None else None))
            deeper = body.count(b"{") - body.count(b"}")
            braces += [(match.start(), deeper)] if deeper else []
            file.kept += [match.span()] if deeper else []
    depth = 0
    for (start, deeper), (end, _) in pairwise([*sorted(braces), (len(text), 0)]):
        depth += deeper
        file.in_spaces += [(start, end)] if depth > 0 else []
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
