"""PTX text as tokens."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from softlab.emulator.ptx.syntax import DTYPES
from softlab.errors import Error

_TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/
    | (?P<text>"(?:[^"\\]|\\.)*")
    | (?P<number>0[fF][0-9a-fA-F]{8} | 0[dD][0-9a-fA-F]{16} | 0[xX][0-9a-fA-F]+U? | 0[bB][01]+U?
                | \d+\.\d*(?:[eE][-+]?\d+)? | \d+U?)(?![\w$])
    | (?P<word>\.reg(?=\.)                      # cuda_fp16.h writes `.reg.b32` without a space
        | [.%$A-Za-z_](?:[\w$.]|::)*)
    | (?P<mark>[@!{}()\[\]<>,;:|+=*~&^/?-])""",
    re.VERBOSE | re.DOTALL,
)
#: Directives on a line of their own, ended by the line's end, that change nothing in what the program computes.
_LINE_DIRECTIVES = re.compile(r"^[ \t]*\.(?:version|target|address_size|file)\b[^\n]*", re.MULTILINE)

#: Names and types for debuggers: in a kernel with CUB most of the text. Its bytes are no tokens.
_DEBUG_SECTION = re.compile(r"^[ \t]*\.section[ \t]+\.debug_\w+\s*\{[^{}]*\}", re.MULTILINE)
_NO_LINE_END = re.compile(r"[^\n]+")


@dataclass(slots=True)
class Token:
    """A piece of the text: its kind ("text", "number", "word", "mark", "end") and its position."""

    kind: str
    text: str
    start: int
    end: int


class Tokens:
    """The tokens of a PTX file, taken one by one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokenize(text))
        self.at = 0
        self._line_starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def line(self, position: int) -> int:
        """The line of a position in the text, from 1."""
        return bisect_right(self._line_starts, position)

    def error(self, what: str) -> Error:
        """The error for what is wrong at the next token."""
        token = self.tokens[min(self.at, len(self.tokens) - 1)]
        line = self.line(token.start)
        shown = self.text.splitlines()[line - 1 : line]
        return Error(f"PTX line {line}: {what}\n  {shown[0].strip() if shown else '(end of the text)'}")

    @property
    def next(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    @property
    def here(self) -> str:
        """The text of the next token."""
        return self.tokens[self.at].text

    def take(self, expected: str | None = None) -> str:
        """Take the next token, which must be the expected one."""
        token = self.tokens[self.at]
        if token.kind == "end" or (expected is not None and token.text != expected):
            raise self.error(f"expected {expected!r}, found {token.text or 'the end'!r}")
        self.at += 1
        return token.text

    def took(self, *texts: str) -> bool:
        """Take the next token if it is one of these."""
        if self.tokens[self.at].text in texts:
            self.at += 1
            return True
        return False

    def integer(self) -> int:
        """Take an integer."""
        sign = -1 if self.took("-") else 1
        value = number(self.take())
        if not isinstance(value, int):
            raise self.error("an integer is needed here")
        return sign * value

    def skip_past(self, text: str) -> None:
        """Take tokens up to and with this one."""
        while self.take() != text:
            pass

    def skip_statement(self) -> None:
        """Take tokens up to and with the semicolon."""
        self.skip_past(";")

    def skip_section(self) -> None:
        """Take a debug section."""
        self.skip_past("{")
        self.skip_past("}")


def _tokenize(text: str) -> Iterator[Token]:
    text = _LINE_DIRECTIVES.sub(lambda found: " " * len(found.group()), text)
    text = _DEBUG_SECTION.sub(lambda found: _NO_LINE_END.sub(lambda line: " " * len(line.group()), found.group()), text)
    position, length = 0, len(text)
    match = _TOKEN.match
    while position < length:
        found = match(text, position)
        if found is None:
            line = text.count("\n", 0, position) + 1
            raise Error(f"PTX line {line}: unexpected character {text[position]!r}")
        if found.lastgroup:
            yield Token(found.lastgroup, found.group(), position, found.end())
        position = found.end()
    yield Token("end", "", length, length)


def number(text: str) -> int | float:
    """The value of a PTX literal."""
    if text[:2] in ("0f", "0F"):
        return struct.unpack(">f", bytes.fromhex(text[2:]))[0]
    if text[:2] in ("0d", "0D"):
        return struct.unpack(">d", bytes.fromhex(text[2:]))[0]
    if "." in text:
        return float(text)
    text = text.rstrip("U")
    if text[:2] in ("0x", "0X", "0b", "0B"):
        return int(text, 0)
    return int(text, 8) if len(text) > 1 and text[0] == "0" else int(text)


def pack_literal(value: int | float, kind: str) -> bytes:
    """A literal as the bytes of a PTX type."""
    size = DTYPES[kind].itemsize
    if isinstance(value, float):
        return struct.pack({2: "<e", 4: "<f", 8: "<d"}[size], value)
    return (value & (256**size - 1)).to_bytes(size, "little")
