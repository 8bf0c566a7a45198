"""PTX text as tokens: each literal's value and bytes, where a token stands, what an error shows."""

from __future__ import annotations

import math
import re
import struct
from itertools import pairwise

import numpy as np
import pytest

from softlab.emulator.ptx.syntax import DTYPES
from softlab.emulator.ptx.tokens import Tokens, number, pack_literal
from softlab.errors import Error


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0), ("7", 7), ("10U", 10), ("4294967295U", 2**32 - 1), ("010", 8), ("0777U", 511), ("00", 0),
        ("0x10", 16), ("0XfFU", 255), ("0b101", 5), ("0B11U", 3), ("0x0f", 15), ("0xDEADBEEF", 0xDEADBEEF),
        ("0f3F800000", 1.0), ("0FBF000000", -0.5), ("0d3FF0000000000000", 1.0), ("0DC000000000000000", -2.0),
        ("1.5", 1.5), ("2.", 2.0), ("1.25e3", 1250.0), ("5.0E-1", 0.5),
    ],
)  # fmt: skip
def test_a_literal_has_a_value(text: str, value: float) -> None:
    found = number(text)
    assert found == value
    assert type(found) is type(value)
    (token, end) = Tokens(text).tokens
    assert (token.kind, token.text, end.kind) == ("number", text, "end")


def test_literals_of_float_bits() -> None:
    assert math.isnan(number("0f7FC00000"))
    assert number("0f7F800000") == number("0d7FF0000000000000") == math.inf


@pytest.mark.parametrize("kind", list(DTYPES))
def test_a_literal_as_bytes(kind: str) -> None:
    """Integers are cut to the type's bytes; a float is one of that size."""
    size = DTYPES[kind].itemsize
    assert len(pack_literal(0, kind)) == size
    for value in (0, 1, 127, 128, 255, 256, 0x1234, 0x89ABCDEF, 0x0123456789ABCDEF, 2**64 - 1, 2**64, -1, -2, -255):
        expected = bytes(value >> 8 * byte & 255 for byte in range(size))
        assert pack_literal(value, kind) == expected, value
    floats = {2: np.float16, 4: np.float32, 8: np.float64}
    for value in (0.0, 1.0, -2.5, math.inf, 2.0**-14):
        if size in floats:
            assert pack_literal(value, kind) == floats[size](value).tobytes()
    if size == 4:
        assert pack_literal(0.1, kind) == struct.pack("<f", 0.1)


TEXT = """.version 8.8
.target sm_90
// a comment with words
.visible .entry k()
{ /* two
lines */ @!%p1 mov.b32 %r1, -5;
  .section .debug_str
  {
    .b8 1, 2
  }
L1: ld.f32 %f1, [%rd1+0x10]; }
"""


def test_each_token_stands_where_the_text_has_it() -> None:
    tokens = Tokens(TEXT)
    for token in tokens.tokens[:-1]:
        assert TEXT[token.start : token.end] == token.text
        assert tokens.line(token.start) == TEXT[: token.start].count("\n") + 1
    assert all(before.end <= after.start for before, after in pairwise(tokens.tokens))
    found = [(token.kind, token.text) for token in tokens.tokens]
    assert found == [
        ("word", ".visible"), ("word", ".entry"), ("word", "k"), ("mark", "("), ("mark", ")"), ("mark", "{"),
        ("mark", "@"), ("mark", "!"), ("word", "%p1"), ("word", "mov.b32"), ("word", "%r1"), ("mark", ","),
        ("mark", "-"), ("number", "5"), ("mark", ";"), ("word", "L1"), ("mark", ":"), ("word", "ld.f32"),
        ("word", "%f1"), ("mark", ","), ("mark", "["), ("word", "%rd1"), ("mark", "+"), ("number", "0x10"),
        ("mark", "]"), ("mark", ";"), ("mark", "}"), ("end", ""),
    ]  # fmt: skip
    assert tokens.tokens[-1].start == tokens.tokens[-1].end == len(TEXT)


def test_the_line_of_every_position() -> None:
    text = "a\n\nbc;\n d"
    tokens = Tokens(text)
    assert [tokens.line(position) for position in range(len(text) + 1)] == [1, 1, 2, 3, 3, 3, 3, 4, 4, 4]


def test_taken_one_by_one() -> None:
    tokens = Tokens("mov -7, 3; 1.5 skip { .a { } this ; end")
    assert (tokens.here, tokens.next.text) == ("mov", "mov")
    assert not tokens.took("add", ",")
    assert tokens.took("add", "mov")
    assert tokens.integer() == -7
    assert tokens.take(",") == ","
    assert tokens.integer() == 3
    assert tokens.at == 5, "mov, -, 7, the comma and 3"
    tokens.skip_statement()
    with pytest.raises(Error, match="PTX line 1: an integer is needed here"):
        tokens.integer()
    assert tokens.here == "skip", "the literal is taken"
    tokens.skip_section()
    assert tokens.here == "this"
    tokens.skip_past("this")
    tokens.skip_statement()
    assert tokens.take() == "end"
    with pytest.raises(Error, match="expected None, found 'the end'"):
        tokens.take()
    with pytest.raises(Error, match="expected 'a', found 'the end'"):
        tokens.take("a")


@pytest.mark.parametrize(
    ("text", "taken", "said"),
    [
        ("a b\n  c d\n", 2, "PTX line 2: expected ';', found 'c'\n  c d"),
        ("a b\n  c d\n", 0, "PTX line 1: expected ';', found 'a'\n  a b"),
        ("a\n\n", 1, "PTX line 3: expected ';', found 'the end'\n  (end of the text)"),
        ("a", 1, "PTX line 1: expected ';', found 'the end'\n  a"),
    ],
)
def test_an_error_shows_the_line(text: str, taken: int, said: str) -> None:
    tokens = Tokens(text)
    tokens.at = taken
    with pytest.raises(Error, match=f"^{re.escape(said)}$"):
        tokens.take(";")


def test_a_character_that_is_none_of_ptx() -> None:
    for text, line in (("`", 1), ("a\nb\n c §", 3), ("\n\n  12abc", 3), ("0f12 ", 1)):
        with pytest.raises(Error, match=f"^PTX line {line}: unexpected character"):
            Tokens(text)
