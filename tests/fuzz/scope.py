"""Variables of random kernels, and random expressions of them, for :mod:`tests.fuzz.statements`."""

from __future__ import annotations

import random
import re

from tests.fuzz.inline import inline_expressions
from tests.fuzz.vocabulary import EXPRESSIONS, TYPES, is_approximate_when_fast

_PLACE = re.compile(r"([$@])(.)")
#: Letters of the types that every arithmetic has.
NUMBERS = "iulw"
#: Whole numbers at which a division by a constant, a mask or a comparison may go another way.
_CONSTANTS = (2, 3, 5, 6, 7, 9, 10, 11, 13, 16, 25, 60, 64, 100, 127, 128, 255, 256, 641, 1000, 4095, 32767, 65535,
              65536, 1000003, 2**31 - 1, 2**31, 2**32 - 1, 0x55555555, 0xFF00FF00)  # fmt: skip


class Scope:
    """Variables of each type, and a source of random choices."""

    def __init__(self, draw: random.Random, fast: bool) -> None:
        self.draw, self.fast = draw, fast
        self.variables: dict[str, list[str]] = {letter: [] for letter in TYPES}
        self.names = 0
        #: The share of expressions that are one PTX instruction.
        self.inline = 0.0

    def name(self, letter: str = "x") -> str:
        """A new name."""
        self.names += 1
        return f"{letter}{self.names}"

    def filled(self, template: str) -> str:
        """A template with variables in the places of ``$x``."""
        text = _PLACE.sub(lambda found: self.pick(found[2]) if found[1] == "$" else self.constant(found[2]), template)
        return text.replace("(long)", "(long long)")

    def constant(self, letter: str) -> str:
        """A number of the type; a whole one is neither 0 nor -1."""
        if letter == "s":
            return str(self.draw.randint(1, 31))
        if letter in "fd":
            near = self.draw.uniform(-9, 9)
            number = self.draw.choice([near, near * 10.0 ** self.draw.randint(-6, 6), self.draw.randint(1, 20) / 4])
            return f"({float(f'{number:.6g}')!r}{'f' * (letter == 'f')})"
        number = self.draw.choice([*_CONSTANTS, self.draw.randint(2, 300), self.draw.randint(2, 2**32 - 1)])
        if letter == "l" and self.draw.random() < 0.5:
            number = self.draw.randint(2, 2**63 - 1) >> self.draw.randint(0, 50) | 2
        sign = "-" if letter in "il" and number < 2**31 and self.draw.random() < 0.3 else ""
        return f"({TYPES[letter]})({sign}{number}{'u' if number < 2**32 else 'll'})"

    def pick(self, letter: str) -> str:
        """A variable of the type, mostly the last, so that long chains grow."""
        names = self.variables[letter]
        return names[-1] if self.draw.random() < 0.35 else self.draw.choice(names)

    def expression(self, letter: str) -> str:
        """A random exact expression of the type."""
        while True:
            table = inline_expressions() if self.inline and self.draw.random() < self.inline else EXPRESSIONS
            template = self.draw.choice(table[letter] or EXPRESSIONS[letter])
            if not (self.fast and is_approximate_when_fast(template)):
                return self.filled(template)

    def condition(self) -> str:
        """A condition, also with && and ||."""
        text = self.filled(self.draw.choice(["$u&1", "$u%3==1", "$i<0", self.draw.choice(EXPRESSIONS["p"])]))
        if self.draw.random() < 0.35:
            other = self.filled(self.draw.choice(["$w&2", "$c>0", "$f>=0.5f", "$l<$i", "!$p"]))
            return f"({text}) {self.draw.choice(['&&', '||', '!=', '&'])} ({other})"
        return text

    def new(self, letter: str = "", text: str = "") -> list[str]:
        """A new variable."""
        letter = letter or self.draw.choice("cCsSiiuullwwpfffdddhhgHGqQ")
        text = text or self.expression(letter)
        name = self.name(letter)
        self.variables[letter].append(name)
        return [f"{TYPES[letter]} {name} = {text};"]


def as_word(letter: str, name: str) -> str:
    """A variable as a word, any NaN as 0."""
    return f"(word){name}" if letter in "cCsSiulwp" else f"(word)bits({name})"


def from_word(scope: Scope, word: str) -> list[str]:
    """A variable of each type that has none, made of a word."""
    made = {
        "c": "(tiny){0}", "C": "(byte)({0} >> 8)", "s": "(short)({0} >> 16)", "S": "(ushort)({0} >> 24)",
        "i": "(int){0}",
        "u": "(unsigned)({0} >> 32)", "l": "(long long){0}", "w": "{0}", "p": "({0} & 4) != 0",
        "f": "__uint_as_float((unsigned){0})", "d": "__longlong_as_double({0})", "h": "__ushort_as_half((ushort){0})",
        "g": "__ushort_as_bfloat16((ushort)({0} >> 48))", "H": "pair((unsigned)({0} >> 32))",
        "G": "brain_pair((unsigned){0})", "q": "(wide)(long long){0} * (long long)({0} * 0x9E3779B97F4A7C15ull)",
        "Q": "(uwide){0} * ({0} ^ 0xD1B54A32D192ED03ull)",
    }  # fmt: skip
    lines = []
    for letter, text in made.items():
        if not scope.variables[letter]:
            name = scope.name(letter)
            lines.append(f"{TYPES[letter]} {name} = {text.format(word)};")
            scope.variables[letter].append(name)
    return lines
