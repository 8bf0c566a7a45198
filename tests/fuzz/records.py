"""Random structs of the kernels, by value, by reference and in arrays; loops in loops; for the random statements."""

from __future__ import annotations

from tests.fuzz.scope import Scope, as_word, from_word
from tests.fuzz.vocabulary import TYPES


class RecordStatements(Scope):
    """Statements with structs and nested loops. ``helpers``: what stands before the kernel."""

    helpers: list[str]
    prefix: str

    def statements(self, count: int, depth: int, together: bool) -> list[str]:
        """See :class:`tests.fuzz.statements.Statements`."""
        raise NotImplementedError

    def _structure(self, depth: int, together: bool) -> list[str]:
        """A struct that a function takes and gives, and an array of such."""
        name = f"{self.prefix}_S{len(self.helpers)}"
        letters = [self.draw.choice("cCsSiulwpfdhgHGqQ") for _ in range(self.draw.randint(1, 6))]
        lengths = [self.draw.choice([0, 0, 0, 2, 3]) for _ in letters]
        self.helpers.append(self._struct_text(name, letters, lengths))
        one, two, many = self.name("one"), self.name("two"), self.name("many")
        values = [
            f"{{{', '.join(self.pick(letter) for _ in range(length))}}}" if length else self.pick(letter)
            for letter, length in zip(letters, lengths, strict=True)
        ]
        member = self.draw.randrange(len(letters))
        place = f"m{member}[{self.pick('u')} % {lengths[member]}]" if lengths[member] else f"m{member}"
        lines = [f"{name} {one} = {{{', '.join(values)}}}; {name} {two} = {name}_f({one}, {one}, {self.pick('w')});",
                 f"{name} {many}[3] = {{{one}, {two}, {name}_f({two}, {one}, 5)}};",
                 f"{many}[{self.pick('u')} % 3].{place} = {self.expression(letters[member])};",
                 f"{name}_g({many}[{self.pick('u')} % 3], &{one});",
                 f"{two} = {many}[{self.pick('u')} % 3];"]  # fmt: skip
        for index, (letter, length) in enumerate(zip(letters, lengths, strict=True)):
            part = f"m{index}[{self.pick('u')} % {length}]" if length else f"m{index}"
            lines += self.new(letter, f"{self.draw.choice([one, two])}.{part}")
        return lines

    def _struct_text(self, name: str, letters: list[str], lengths: list[int]) -> str:
        """The struct, a function of two of them and a word that gives one, and one that changes one."""
        fields = " ".join(
            f"{TYPES[letter]} m{index}{f'[{length}]' * bool(length)};"
            for index, (letter, length) in enumerate(zip(letters, lengths, strict=True))
        )
        inner = Scope(self.draw, self.fast)
        places = [
            (letter, f"m{index}[{self.draw.randrange(length)}]" if length else f"m{index}")
            for index, (letter, length) in enumerate(zip(letters, lengths, strict=True))
        ]
        lines = [f"word w0 = k ^ {' ^ '.join(as_word(letter, f'b.{place}') for letter, place in places)};"]
        inner.variables["w"].append("w0")
        lines += from_word(inner, "w0")
        for letter, place in places:
            inner.variables[letter].append(f"a.{place}")
        for letter, place in self.draw.sample(places, self.draw.randint(1, len(places))):
            how = "if (w0 & 1) " if self.draw.random() < 0.3 else ""
            lines.append(f"{how}a.{place} = {inner.expression(letter)};")
        how = self.draw.choice(["__noinline__", "__noinline__", "__forceinline__"])
        letter, place = self.draw.choice(places)
        body = "\n  ".join(lines)
        return (
            f"struct {name} {{ {fields} }};\n"
            f"__device__ {how} {name} {name}_f({name} a, {name} b, word k) {{\n  {body}\n  return a;\n}}\n"
            f"__device__ __noinline__ void {name}_g({name}& a, const {name}* b) {{\n"
            f"  a.{place} = b->{place}; if ({as_word(letter, f'a.{place}')} % 3 == 1) a = *b;\n}}"
        )

    def _nested(self, depth: int, together: bool) -> list[str]:
        """Loops in a loop, with ways out of one, of both, and to the next turn."""
        outer, inner, end = self.name("k"), self.name("k"), self.name("out")
        first, second, third = (self.statements(self.draw.randint(1, 2), 0, False) for _ in range(3))
        way = [f"if ({self.condition()}) {how};" for how in ("break", "continue", f"goto {end}")]
        self.draw.shuffle(way)
        head = self.draw.choice(
            [f"for (unsigned {inner} = 0; {inner} < {outer} + {self.pick('u')} % 3; ++{inner}) {{",
             f"for (int {inner} = 4; {inner} > (int){outer}; {inner} -= 2) {{"]
        )  # fmt: skip
        count = self.name("left")
        return [f"for (unsigned {outer} = 0; {outer} < 1 + {self.pick('u')} % 3; ++{outer}) {{", "{", *first, "}", head,
                way[0], "{", *second, "}", way[1], "}",
                f"unsigned {count} = {self.pick('u')} & 3; do {{ {self.pick('u')} += {count}; {{", *third,
                f"}} if ({self.condition()}) break; }} while ({count}-- > 1);", way[2], "}", f"{end}:;"]  # fmt: skip

    def _pointers(self, depth: int, together: bool) -> list[str]:
        """A pointer to one variable or another, and one to that pointer."""
        letter, name = self.draw.choice("CsiulwfdhHqQ"), self.name("to")
        a, b = self.pick(letter), self.pick(letter)
        kind, other = TYPES[letter], self.name(letter)
        return [f"{kind} {other} = {self.pick(letter)}; {kind}* {name} = {self.condition()} ? &{a} : &{other};",
                f"*{name} = {self.expression(letter)};",
                f"{kind}** {name}p = &{name}; if ({self.condition()}) *{name}p = &{b};",
                f"**{name}p = {self.expression(letter)};", *self.new(letter, f"*{name}"),
                *self.new(letter, other)]  # fmt: skip
