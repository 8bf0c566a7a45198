"""Calls of macros that launch kernels, written out: ``LAUNCH(k<float>, x)`` becomes ``k<float><<<grid, block>>>(x)``.

The grammar of tree-sitter has no preprocessor. Only calls that bring a launch are written out, in the body of the macro
or in its arguments: everything else of the host's code stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

#: The parameters of a macro with their parentheses, b"" without, and its body, by its name.
Macros = Mapping[bytes, tuple[bytes, bytes]]
#: Macros that call each other.
_DEPTH = 8
#: A larger text is no launch.
_MOST_CHARACTERS = 1 << 20
_DEFINITION = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^)\n]*)\)((?:.*\\\n)*.*)$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TEXT = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LAUNCH = "<<<"
#: Characters of a word that may be a part of a macro's name.
_LEAST_OF_NAME = 3


@dataclass(frozen=True)
class Macro:
    """A macro with parameters. The last one of a variadic macro takes all further arguments."""

    parameters: tuple[str, ...]
    variadic: bool
    body: str

    @classmethod
    def of(cls, parameters: str, body: str) -> Macro:
        """A macro as ``#define`` has it."""
        names = [name.strip() for name in parameters.split(",") if name.strip()]
        variadic = bool(names) and names[-1].endswith("...")
        if variadic:
            names[-1] = names[-1].removesuffix("...").strip() or "__VA_ARGS__"
        return cls(tuple(names), variadic, _COMMENT.sub(" ", body.replace("\\\n", " ")).strip())

    def text(self, arguments: Sequence[str]) -> str | None:
        """The body with these arguments; None where their number is wrong."""
        given = list(arguments)
        fixed = len(self.parameters) - self.variadic
        if self.variadic:
            given = [*given[:fixed], ", ".join(given[fixed:])]
        if self.parameters and len(given) != len(self.parameters):
            return None
        bound = dict(zip(self.parameters, given, strict=False))
        comma = ", " if given and given[-1] else ""
        text = re.sub(r",\s*##\s*(?=__VA_ARGS__\b)", comma, self.body)
        text = re.sub(r"(?<!#)#\s*([A-Za-z_]\w*)", lambda m: _quoted(bound[m[1]]) if m[1] in bound else m[0], text)
        parts = re.split(_TEXT, text)
        quoted = [*_TEXT.findall(text), ""]
        plain = [re.sub(r"[A-Za-z_]\w*", lambda word: bound.get(word[0], word[0]), part) for part in parts]
        return "".join(part + one for part, one in zip(plain, quoted, strict=True)).replace("##", "")


def _quoted(argument: str) -> str:
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class MacrosAsCalled(Mapping[str, Macro]):
    """The macros with parameters among the ``macros`` of a file, each read when something asks for it."""

    def __init__(self, macros: Macros) -> None:
        self._macros = macros
        self._read: dict[str, Macro] = {}

    def __getitem__(self, name: str) -> Macro:
        if name not in self._read:
            parameters, body = self._macros[name.encode()]
            if not parameters:
                raise KeyError(name)
            self._read[name] = Macro.of(parameters.decode()[1:-1], body.decode(errors="replace"))
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return (name.decode() for name, (parameters, _) in self._macros.items() if parameters)

    def __len__(self) -> int:
        return sum(bool(parameters) for parameters, _ in self._macros.values())


def macros_with_parameters(texts: Sequence[str]) -> dict[str, Macro]:
    """The macros with parameters of some texts, by name; of several definitions the first one that launches a kernel,
    or the first one."""
    found: dict[str, Macro] = {}
    for name, parameters, body in (match for text in texts for match in _DEFINITION.findall(text)):
        if name not in found or (_LAUNCH in body and _LAUNCH not in found[name].body):
            found[name] = Macro.of(parameters, body)
    return found


class Bringing:
    """Which of some macros may bring a word: in their own text, or by the macros that they call.

    A part of the name of such a macro counts, too: ``##`` may make the name of it.
    """

    def __init__(self, macros: Mapping[str, Macro], wanted: str) -> None:
        self._wanted = wanted
        self._names: set[str] = set()
        self._known: dict[str, bool] = {}
        words = {name: {*_WORD.findall(macro.body)} for name, macro in macros.items()}
        new = {name for name, macro in macros.items() if wanted in macro.body}
        while new:
            self._names |= new
            self._known.clear()
            new = {name for name, found in words.items() if name not in self._names and self._any(found)}

    def may(self, text: str) -> bool:
        """Whether the text may have the word once its macros are written out."""
        return self._wanted in text or (bool(self._names) and self._any(_WORD.findall(text)))

    def _any(self, words: Iterable[str]) -> bool:
        return any(self._is_part(word) for word in words)

    def _is_part(self, word: str) -> bool:
        if word not in self._known:
            long = len(word) >= _LEAST_OF_NAME
            self._known[word] = word in self._names or (
                long and any(name.startswith(word) or name.endswith(word) for name in self._names)
            )
        return self._known[word]


def written_out(texts: Iterable[str], macros: Mapping[str, Macro]) -> list[str]:
    """The texts with the calls of macros written out that bring a launch. Each line keeps its number."""
    launches = Bringing(macros, _LAUNCH)
    found = []
    for text in texts:
        parts = list(_between_definitions(text, macros))
        of_parts = [launches if len(parts) == 1 else Bringing(own, _LAUNCH) for _, own in parts]
        pairs = zip(parts, of_parts, strict=True)
        found.append("".join(_written_out(part, own, _DEPTH, _LAUNCH, may) for (part, own), may in pairs))
    return found


def _between_definitions(text: str, macros: Mapping[str, Macro]) -> Iterator[tuple[str, Mapping[str, Macro]]]:
    """The parts of a text, each with the macros there: it begins anew where a macro launches kernels in another way."""
    launching = [match for match in _DEFINITION.finditer(text) if _LAUNCH in match[3]]
    count, at = Counter(match[1] for match in launching), 0
    for match in launching:
        if count[match[1]] > 1:
            yield text[at : match.start()], macros
            macros, at = {**macros, match[1]: Macro.of(match[2], match[3])}, match.start()
    yield text[at:], macros


def kernels_written_out(call: str, macros: Mapping[str, Macro]) -> str:
    """The call of a macro that makes kernels, written out."""
    return _written_out(call, macros, _DEPTH, "__global__") if macros else call


def expanded(call: str, macros: Mapping[str, Macro]) -> str:
    """The call of a macro, with all macros that its text calls written out."""
    return _written_out(call, macros, _DEPTH, "")


def header_names(written: str, macros: Macros) -> list[str]:
    """The headers that ``#include`` may name where macros make the name, ``#include NAME``: one for each definition."""
    text = written
    for _ in range(_DEPTH):
        text = re.sub(r"[A-Za-z_]\w*", lambda word: _object(word[0], macros), text)
    return re.findall(r"[\"<]\s*([^\"<>]+?)\s*[\">]", expanded(text, MacrosAsCalled(macros)))


def _object(name: str, macros: Macros) -> str:
    """What a macro without parameters stands for; any other name itself."""
    parameters, body = macros.get(name.encode(), (b"", name.encode()))
    return name if parameters else body.decode(errors="replace").strip()


def _written_out(
    text: str, macros: Mapping[str, Macro], depth: int, wanted: str, bringing: Bringing | None = None
) -> str:
    """The text with the calls written out that bring the ``wanted`` word. ``bringing``: what can, None for anything."""
    if bringing and not bringing.may(text):
        return text
    hidden = [match.span() for match in _DIRECTIVE.finditer(text)]
    parts, at = [], 0
    for call in _CALL.finditer(text):
        if call.start() < at or call[1] not in macros or any(start <= call.start() < end for start, end in hidden):
            continue
        end, arguments = _arguments(text, call.end())
        if bringing and not bringing.may(text[call.start() : end]):
            continue
        new = macros[call[1]].text(arguments) if end > 0 else None
        if new is None:
            continue
        new = _written_out(new, macros, depth - 1, wanted, bringing) if depth and len(new) < _MOST_CHARACTERS else new
        if wanted in new:
            parts += [text[at : call.start()], new.replace("\n", " "), "\n" * text.count("\n", call.start(), end)]
            at = end
    return "".join([*parts, text[at:]])


def _arguments(text: str, start: int) -> tuple[int, list[str]]:
    """The index after the parenthesis that closes a call, -1 where none does, and the arguments between."""
    depth, at, last, found = 0, start, start, []
    while at < len(text):
        if skipped := _TEXT.match(text, at) or _COMMENT.match(text, at):
            at = skipped.end()
            continue
        character = text[at]
        if depth == 0 and character in ",)":
            found.append(_COMMENT.sub(" ", text[last:at]).strip())
            last = at + 1
            if character == ")":
                return at + 1, found
        depth += (character in "([{") - (character in ")]}")
        at += 1
    return -1, []
