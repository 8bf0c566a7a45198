"""Random statements of CUDA C++ for :mod:`tests.fuzz.kernels`."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import ClassVar

from tests.fuzz.blocks import BlockStatements
from tests.fuzz.inputs import WORDS
from tests.fuzz.records import RecordStatements
from tests.fuzz.scope import NUMBERS, as_word, from_word
from tests.fuzz.vocabulary import TYPES


def copied_from(letter: str) -> list[int]:
    """The bytes of an array from which a variable is copied.

    64 bits at an odd multiple of 2 are left out: ptxas 12.9 and 13.0 put one of the four parts, ``bfi.b64`` of two
    ``ld.u16`` that it makes one load, into the wrong register.
    """
    return [at for at in range(17) if letter not in "lw" or at % 4 != 2]


#: Words of global memory for atomics.
CELLS = 16


class Statements(BlockStatements, RecordStatements):
    """Random statements. ``together``: whether all threads of the block come here."""

    #: Families -> kinds of statements that they have besides new variables.
    KINDS: ClassVar[dict[str, tuple[str, ...]]] = {
        "expressions": (),
        "control": ("branch", "loop", "loop", "switch", "call", "call", "recursion", "pointer", "array", "update",
                    "update", "into_loop", "back", "lambda", "generic", "nested", "structure", "pointers"),
        "memory": ("generic", "asynchronous", "shared", "atomic", "private_atomic", "array", "load", "constant", "copy",
                   "record", "bits", "pun", "loop", "branch", "vector", "global_atomic", "trade", "update", "structure",
                   "pointers", "ptx_atomic", "ptx_atomic", "wide_atomic"),
        "warp": ("shuffle", "shuffle", "vote", "reduction", "subset", "tile", "tile", "partition", "branch", "loop",
                 "update", "shrinking", "nested_masks", "aggregate"),
        "inline": ("branch", "loop", "update", "update"),
        "blocks": ("tree", "scan", "histogram", "square", "warp_memory", "named_barrier", "mbarrier", "group_copy",
                   "aggregate", "shrinking", "nested_masks", "branch", "loop", "nested", "update"),
    }  # fmt: skip
    KINDS["everything"] = tuple(kind for kinds in list(KINDS.values()) for kind in kinds)
    #: Kinds that only a whole block may run.
    TOGETHER = ("shared", "atomic", "global_atomic", "trade", "shuffle", "vote", "reduction", "subset", "tile",
                "partition", "asynchronous", "tree", "scan", "histogram", "square", "warp_memory", "named_barrier",
                "mbarrier", "group_copy", "aggregate", "shrinking", "nested_masks")  # fmt: skip

    def __init__(self, draw: random.Random, fast: bool, family: str, threads: int) -> None:
        super().__init__(draw, fast)
        self.family, self.threads = family, threads
        self.helpers: list[str] = []
        self.cells = 0
        self.recursive = False

    def statements(self, count: int, depth: int, together: bool) -> list[str]:
        """That many statements; variables that they declare end with them."""
        before = {letter: len(names) for letter, names in self.variables.items()}
        lines = [line for _ in range(count) for line in self.statement(depth, together)]
        for letter, length in before.items():
            del self.variables[letter][length:]
        return lines

    def statement(self, depth: int, together: bool) -> list[str]:
        """One statement, as lines."""
        kinds = [kind for kind in self.KINDS[self.family] if together or kind not in self.TOGETHER]
        if not depth:
            kinds = [kind for kind in kinds if kind not in ("branch", "loop", "switch", "into_loop", "back", "nested")]
        if not kinds or self.draw.random() < 0.35:
            return self.new()
        made: Callable[[int, bool], list[str]] = getattr(self, f"_{self.draw.choice(kinds)}")
        return made(depth, together)

    def _update(self, depth: int, together: bool) -> list[str]:
        letter = self.draw.choice("iiuuulwwffdhCs")
        operator = self.draw.choice(["=", "=", "+=", "*="] + (["^=", "|=", "-="] if letter in NUMBERS else []))
        return [f"{self.pick(letter)} {operator} {self.expression(letter)};"]

    # Control flow.
    def _branch(self, depth: int, together: bool) -> list[str]:
        lines = [f"if ({self.condition()}) {{", *self.statements(self.draw.randint(1, 3), depth - 1, False)]
        while self.draw.random() < 0.4:
            lines += [f"}} else if ({self.condition()}) {{", *self.statements(1, depth - 1, False)]
        if self.draw.random() < 0.5:
            lines += ["} else {", *self.statements(self.draw.randint(1, 2), depth - 1, False)]
        return [*lines, "}"]

    def _loop(self, depth: int, together: bool) -> list[str]:
        counter, most = self.name("k"), {3: 7, 2: 5, 1: 3}[depth]
        even = together and self.draw.random() < 0.6
        trips = (
            self.draw.choice(["three", "2"]) if even else f"({self.pick('u')} >> {self.draw.randint(0, 9)}) % {most}"
        )
        body = self.statements(self.draw.randint(1, 3), depth - 1, even)
        if not even and self.draw.random() < 0.5:
            jump = f"if ({self.condition()}) {self.draw.choice(['break', 'continue'])};"
            body.insert(self.draw.choice([0, len(body)]) if self._whole(body) else 0, jump)
        body.append(f"{self.pick('u')} += {counter};")
        unroll = self.draw.choice(["", "#pragma unroll 1", "#pragma unroll 2"])
        heads = [f"for (unsigned {counter} = 0, end = {trips}; {counter} < end; ++{counter}) {{"]
        if not even:
            heads.append(f"for (int {counter} = {trips}; {counter}-- > 0 && ({self.condition()});) {{")
        return [*filter(None, [unroll]), self.draw.choice(heads), *body, "}"]

    @staticmethod
    def _whole(lines: list[str]) -> bool:
        return sum(line.count("{") - line.count("}") for line in lines) == 0

    def _switch(self, depth: int, together: bool) -> list[str]:
        cases = self.draw.randint(2, 7)
        lines = [f"switch ({self.pick('u')} % {cases + 1}) {{"]
        for case in self.draw.sample(range(cases + 2), cases):
            lines += [f"case {case}: {{", *self.statements(self.draw.randint(1, 2), depth - 1, False)]
            lines += ["}", *(["break;"] if self.draw.random() < 0.7 else [])]
        if self.draw.random() < 0.5:
            lines += ["default: {", *self.statements(1, depth - 1, False), "}"]
        return [*lines, "}"]

    def _call(self, depth: int, together: bool) -> list[str]:
        letters = self.draw.sample("cCsSiulwpfdhgHGqQ", self.draw.choice([1, 2, 3, 3, 6, 9]))
        result = self.draw.choice("iuwfdhlgHqCsp")
        name = f"{self.prefix}_{len(self.helpers)}"
        inner = Function(self.draw, self.fast, name, letters, result)
        self.helpers.append(inner.text())
        return self.new(result, f"{name}({', '.join(self.pick(letter) for letter in letters)})")

    def _recursion(self, depth: int, together: bool) -> list[str]:
        # Its body is copied many times. Behind lanes that recurse deeper than others, ptxas 12.9 takes the warp for
        # whole: barriers and exchanges then go wrong on an H100.
        if self.recursive or self.family != "control":
            return self.new()
        self.recursive = True
        return self.new("i", f"depth_first({self.pick('u')} % 4, {self.pick('u')})")

    def _pointer(self, depth: int, together: bool) -> list[str]:
        a, b, c = (self.pick("u") for _ in range(3))
        way, shape = self.name("way"), self.name("shape")
        if self.draw.random() < 0.4:
            which = f"{self.pick('u')} % 3"
            return [f"Square {shape}s({a}); Ring {shape}r({b}); Shape {shape}p({c});",
                    f"Shape* {shape} = &{shape}p; if ({which} == 1) {shape} = &{shape}s;",
                    f"if ({which} == 2) {shape} = &{shape}r;",
                    *self.new("u", f"measure(*{shape}, {self.pick('u')})")]  # fmt: skip
        chosen = self.draw.choice([f"ways[{c} % 3]", f"{c} & 1 ? one_way : third_way"])
        return [f"Way {way} = {chosen};", *self.new("u", f"{way}({a}, {b})")]

    def _into_loop(self, depth: int, together: bool) -> list[str]:
        """A switch into the middle of a loop (Duff's device)."""
        turns, name = f"1 + {self.pick('u')} % 3", self.name("turns")
        lines = [f"int {name} = {turns};", f"switch ({self.pick('u')} % 4) {{", "case 0: do {"]
        for case in (3, 2, 1):
            letter = self.draw.choice("iuwfd")
            lines += [f"{self.pick(letter)} = {self.expression(letter)};", f"case {case}:"]
        return [*lines, f"{self.pick('u')} += {name};", f"}} while (--{name} > 0);", "}"]

    def _back(self, depth: int, together: bool) -> list[str]:
        """A loop of goto, with a second way in."""
        name, count = self.name("back"), self.name("count")
        first, second = (self.statements(self.draw.randint(1, 2), 0, False) for _ in range(2))
        return [f"int {count} = {self.pick('u')} % 4;",
                f"if ({self.condition()}) goto {name}b;", f"{name}a: {{", *first,
                "}", f"{name}b: {{", *second, f"{self.pick('u')} ^= {count};", "}",
                f"if (--{count} > 0 && ({self.condition()})) goto {name}a;",
                f"if ({count} > 1) {{ {count} -= 2; goto {name}b; }}"]  # fmt: skip

    def _lambda(self, depth: int, together: bool) -> list[str]:
        name, letter = self.name("lambda"), self.draw.choice("iuwfd")
        changed, inner = self.pick(letter), self.name(letter)
        self.variables[letter].append(inner)
        body = f"{changed} = {self.expression(letter)}; return {self.expression(letter)};"
        self.variables[letter].remove(inner)
        head = f"auto {name} = [&]({TYPES[letter]} {inner}) -> {TYPES[letter]} {{"
        return [f"{head} if ({self.condition()}) return {self.pick(letter)}; {body} }};",
                *self.new(letter, f"{name}({name}({self.pick(letter)}))")]  # fmt: skip

    # Memory.
    def _generic(self, depth: int, together: bool) -> list[str]:
        """A pointer that is to local, global or constant memory, lane by lane."""
        name, letter = self.name("where"), self.draw.choice("uuwC")
        kind, values = TYPES[letter], ", ".join(self.pick(letter) for _ in range(4))
        ways = [f"&{name}s[{self.pick('u')} & 3]", f"({kind} const*)in + {self.pick('u')} % n",
                f"({kind} const*)constant_words + {self.pick('u')} % 8"]  # fmt: skip
        one, two = self.draw.sample(ways, 2)
        return [
            f"{kind} {name}s[4] = {{{values}}}; const {kind}* {name} = {self.condition()} ? {one} : {two};",
            *self.new(letter, f"*{name}"),
            *self.new(letter, f"{name} == {name}s ? 5 : {name}[0] ^ {self.pick(letter)}"),
        ]

    def _asynchronous(self, depth: int, together: bool) -> list[str]:
        name, size = self.name("copied"), self.draw.choice([4, 8, 16])
        letter, per = {4: ("u", 1), 8: ("w", 1), 16: ("w", 2)}[size]
        index = f"{self.pick('u')} % (n * {WORDS * 8 // size})"
        less = f", {self.pick('u')} % {size + 1}" if self.draw.random() < 0.4 else ""
        return [f"__shared__ __align__(16) {TYPES[letter]} {name}[{self.threads * per}];",
                f"__pipeline_memcpy_async({name} + t * {per}, (const byte*)in + ({index}) * {size}, {size}{less});",
                "__pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();",
                *self.new(letter, f"{name}[{self.pick('u')} % {self.threads * per}]"), "__syncthreads();"]  # fmt: skip

    def _array(self, depth: int, together: bool) -> list[str]:
        letter, length, name = self.draw.choice("CsiulwfdH"), self.draw.randint(2, 9), self.name("array")
        values = ", ".join(self.pick(letter) for _ in range(length))
        index = [f"{self.pick('u')} % {length}" for _ in range(3)]
        change = "=" if letter == "H" else self.draw.choice(["=", "+=", "*="])
        counter = self.name("k")
        return [f"{TYPES[letter]} {name}[{length}] = {{{values}}};",
                f"{name}[{index[0]}] {change} {self.expression(letter)};",
                f"for (unsigned {counter} = {index[1]}; {counter} > 0; --{counter})",
                f"  {name}[{counter}] = {name}[{counter} - 1];",
                *self.new(letter, f"{name}[{index[2]}]")]  # fmt: skip

    def _load(self, depth: int, together: bool) -> list[str]:
        letter = self.draw.choice("cCsSiulwfdhgH")
        how = self.draw.choice(["", "", "__ldg", "__ldcg", "__ldcs", "__ldlu", "__ldcv", "__ldca", "volatile"])
        per_word = {"c": 8, "C": 8, "s": 4, "S": 4, "h": 4, "g": 4, "l": 1, "w": 1, "d": 1}.get(letter, 2)
        address = f"({self.pick('u')} % (n * {WORDS * per_word}))"
        if letter in "hgH" and how == "volatile":
            how = ""
        pointer = f"(const {'volatile ' * (how == 'volatile')}{TYPES[letter]}*)in"
        if how in ("", "volatile"):
            return self.new(letter, f"({pointer})[{address}]")
        return self.new(letter, f"{how}(({pointer}) + {address})")

    def _vector(self, depth: int, together: bool) -> list[str]:
        kind, letter, size = self.draw.choice(
            [("uchar4", "C", 4), ("char2", "c", 2), ("short4", "s", 8), ("ushort2", "S", 4), ("int4", "i", 16),
             ("uint2", "u", 8), ("longlong2", "l", 16), ("ulonglong2", "w", 16), ("float4", "f", 16),
             ("float2", "f", 8), ("double2", "d", 16), ("uint4", "u", 16), ("char4", "c", 4)]
        )  # fmt: skip
        name, parts = self.name("v"), "xyzw" if kind[-1] == "4" else "xy"
        index = f"{self.pick('u')} % (n * {WORDS * 8 // size})"
        how = self.draw.choice(["(({0})in)[{1}]", "__ldg(({0})in + {1})", "__ldcs(({0})in + {1})"])
        load = how.format(f"const {kind}*", f"({index})")
        change = f"{name}.{self.draw.choice(parts)} = {self.expression(letter)};"
        picked = self.draw.choice(parts)
        return [f"{kind} {name} = {load};", change, *self.new(letter, f"{name}.{picked}"),
                *self.new(letter, f"{name}.{parts[0]}")]  # fmt: skip

    def _constant(self, depth: int, together: bool) -> list[str]:
        letter, text = self.draw.choice(
            [("u", "constant_words[$u % 16]"), ("d", "constant_doubles[$u % 5]"), ("s", "constant_shorts[$u % 7]"),
             ("c", "device_bytes[$u % 9]"), ("w", "*(const word*)(constant_words + 2 * ($u % 8))"),
             ("C", "((const byte*)constant_words)[$u % 64]")]
        )  # fmt: skip
        return self.new(letter, self.filled(text))

    def _copy(self, depth: int, together: bool) -> list[str]:
        name, at, length = self.name("bytes"), self.draw.randint(0, 15), self.draw.randint(1, 8)
        count = self.draw.choice([str(length), f"{self.pick('u')} % 9", str(length)])
        letter = self.draw.choice("iulwsC")
        start = self.draw.choice([str(at), f"{self.pick('u')} % 16"])
        source = self.draw.choice(copied_from(letter))
        after = self.draw.choice([f"memset({name} + {at}, {self.pick('i')}, {count});",
                                  f"memcpy({name} + {at}, {name} + {(at + 12) % 24 // 2}, 3);", ""])  # fmt: skip
        to, value, fill = self.name(letter), self.pick("w"), self.pick("i")
        self.variables[letter].append(to)
        return [f"byte {name}[24]; memset({name}, {fill}, 24); word {name}w = {value};",
                f"memcpy({name} + {start}, &{name}w, {count});", after,
                f"{TYPES[letter]} {to}; memcpy(&{to}, {name} + {source}, sizeof {to});"]  # fmt: skip

    def _record(self, depth: int, together: bool) -> list[str]:
        name = self.name("record")
        p = self.pick
        if self.draw.random() < 0.5:
            return [f"Packed {name} = {{{p('c')}, {p('i')}, {p('C')}, {p('d')}, {p('s')}, {p('w')}, {p('f')}}};",
                    f"{name} = turned({name});", *self.new("w", f"{name}.f ^ {name}.b ^ {name}.e"),
                    *self.new("d", f"{name}.d"), *self.new("f", f"{name}.g"),
                    *self.new("c", f"{name}.a + {name}.c")]  # fmt: skip
        values = f"{p('c')}, {p('l')}, {p('s')}, {{{p('u')}, {p('u')}, {p('u')}}}, {p('p')}, {p('f')}"
        return [f"Mixed {name} = {{{values}}};", f"{name} = changed({name}, {p('i')});",
                *self.new("l", f"{name}.b + {name}.a"), *self.new("u", f"{name}.d[{p('u')} % 3] + {name}.e"),
                *self.new("f", f"{name}.f")]  # fmt: skip

    def _bits(self, depth: int, together: bool) -> list[str]:
        name, p = self.name("fields"), self.pick
        field = self.draw.choice("abcdef")
        change = self.draw.choice(["+=", "-=", "^=", "=", "*="])
        return [f"Bits {name}; memset(&{name}, 0, sizeof {name}); {name}.a = {p('u')}; {name}.b = {p('i')};",
                f"{name}.c = {p('u')}; {name}.d = {p('l')}; {name}.e = {p('w')};",
                f"{name}.f = {p('i')}; {name}.g = {p('p')};",
                f"{name}.{field} {change} {p('i')};", *self.new("l", f"{name}.d + {name}.b + {name}.f"),
                *self.new("w", f"{name}.e * {name}.c + {name}.a + {name}.g")]  # fmt: skip

    def _pun(self, depth: int, together: bool) -> list[str]:
        name, p = self.name("pun"), self.pick
        writes = self.draw.choice(
            [f"u[{p('u')} & 1] = {p('u')}", f"s[{p('u')} & 3] = {p('s')}", f"b[{p('u')} & 7] = {p('C')}"]
        )
        letter, read = self.draw.choice([("w", "w"), ("d", "d"), ("f", f"f[{p('u')} & 1]"), ("C", f"b[{p('u')} & 7]"),
                                         ("S", f"s[{p('u')} & 3]"), ("u", "u[1]")])  # fmt: skip
        return [f"Pun {name}; {name}.w = {p('w')}; {name}.{writes};", *self.new(letter, f"{name}.{read}")]

    def _shared(self, depth: int, together: bool) -> list[str]:
        letter, name = self.draw.choice("cCsSiulwfdhgH"), self.name("tile")
        odd, add = self.draw.choice([1, 3, 5, 7, 33]), self.draw.randint(0, 40)
        own = f"__shared__ {TYPES[letter]} {name}[{self.threads}];"
        if self.draw.random() < 0.3:
            own = f"{TYPES[letter]}* {name} = ({TYPES[letter]}*)dynamic;"
        index = self.draw.choice([f"(t * {odd} + {add}) % {self.threads}", f"{self.pick('u')} % {self.threads}"])
        lines = [
            own,
            f"{name}[t] = {self.expression(letter)};",
            "__syncthreads();",
            *self.new(letter, f"{name}[{index}]"),
        ]
        if letter in "iulwsSC" and self.draw.random() < 0.4:
            size = {"C": 1, "s": 2, "S": 2, "i": 4, "u": 4}.get(letter, 8) * self.threads
            lines += self.new("C", f"((const byte*){name})[{self.pick('u')} % {size}]")
        count = self.draw.choice(["or", "and", "count"])
        if self.draw.random() < 0.3:
            return [*lines, *self.new("i", f"__syncthreads_{count}({self.condition()})")]
        return [*lines, "__syncthreads();"]

    def _operation(self) -> tuple[str, str]:
        """(letter, call with {0} for the address) of an atomic on which no order of the lanes tells."""
        letter = self.draw.choice("iiuuuwwlfdHGh")
        value = self.pick(letter) if letter in "iuwl" else ""
        calls = {
            "i": [f"atomicAdd({{0}}, {value})", f"atomicSub({{0}}, {value})", f"atomicMin({{0}}, {value})",
                  f"atomicMax({{0}}, {value})", f"atomicAnd({{0}}, {value})", f"atomicOr_block({{0}}, {value})",
                  f"atomicXor({{0}}, {value})"],
            "u": [f"atomicAdd({{0}}, {value})", f"atomicMin_block({{0}}, {value})", f"atomicMax({{0}}, {value})",
                  "atomicInc({0}, 1000u)", "atomicInc({0}, 5u)", f"atomicXor_system({{0}}, {value})",
                  f"atomicAnd({{0}}, {value})", f"atomicOr({{0}}, {value})", "atomicDec({0}, 7u)"],
            "w": [f"atomicAdd({{0}}, {value})", f"atomicMin({{0}}, {value})", f"atomicMax({{0}}, {value})",
                  f"atomicAnd({{0}}, {value})", f"atomicOr({{0}}, {value})", f"atomicXor({{0}}, {value})"],
            "l": [f"atomicMin({{0}}, {value})", f"atomicMax_system({{0}}, {value})"],
            "f": [f"atomicAdd({{0}}, (float)({self.pick('u')} & 15))",
                  f"atomicAdd_block({{0}}, (float){self.pick('c')} * 0.5f)"],
            "d": [f"atomicAdd({{0}}, (double){self.pick('i')})"],
            "H": [f"atomicAdd({{0}}, __floats2half2_rn({self.pick('u')} & 3, {self.pick('u')} & 7))"],
            "G": [f"atomicAdd({{0}}, __floats2bfloat162_rn({self.pick('u')} & 1, -({self.pick('i')} & 1)))"],
            "h": [f"atomicAdd({{0}}, __float2half({self.pick('u')} & 7))"],
        }  # fmt: skip
        return letter, self.draw.choice(calls[letter])

    def _atomic(self, depth: int, together: bool) -> list[str]:
        letter, call = self._operation()
        name, cells = self.name("cell"), self.draw.randint(1, 5)
        at = f"&{name}[{self.pick('u')} % {cells}]"
        start = {
            "f": "0.0f",
            "d": "0.0",
            "H": "__float2half2_rn(0)",
            "G": "__float2bfloat162_rn(1)",
            "h": "__float2half(2)",
        }.get(letter, f"({TYPES[letter]})17")
        use = f"{call.format(at)};"
        if self.draw.random() < 0.4:
            use = f"if ({self.condition()}) {use}"
        return [f"__shared__ {TYPES[letter]} {name}[{cells}];", f"if (t < {cells}) {name}[t] = {start};",
                "__syncthreads();", use, "__syncthreads();",
                *self.new(letter, f"{name}[{self.pick('u')} % {cells}]"), "__syncthreads();"]  # fmt: skip

    def _private_atomic(self, depth: int, together: bool) -> list[str]:
        letter = self.draw.choice("iuwlS")
        name, a, b = self.name("own"), self.pick(letter), self.pick(letter)
        calls = {
            "i": ["atomicAdd", "atomicSub", "atomicMin", "atomicMax", "atomicAnd", "atomicOr", "atomicXor",
                  "atomicExch"],
            "u": ["atomicAdd", "atomicSub", "atomicMin", "atomicMax", "atomicInc", "atomicDec", "atomicExch",
                  "atomicXor"],
            "w": ["atomicAdd", "atomicMin", "atomicMax", "atomicExch", "atomicAnd", "atomicOr", "atomicXor"],
            "l": ["atomicMin", "atomicMax"], "S": [],
        }  # fmt: skip
        trades = [f"atomicCAS({{0}}, {a}, {b})"] if letter in "iuwS" else []
        call = self.draw.choice([f"{call}({{0}}, {b})" for call in calls[letter]] + trades)
        return [f"__shared__ {TYPES[letter]} {name}[{self.threads}];", f"{name}[t] = {a};",
                *self.new(letter, call.format(f"&{name}[t]")), *self.new(letter, f"{name}[t]")]  # fmt: skip

    def _global_atomic(self, depth: int, together: bool) -> list[str]:
        if self.cells == CELLS:
            return self.new()
        letter, call = self._operation()
        self.cells += 1
        if "Dec" in call:
            return self.new()
        return [f"{call.format(f'({TYPES[letter]}*)(cells + {self.cells - 1})')};"]

    def _trade(self, depth: int, together: bool) -> list[str]:
        letter, name = self.draw.choice("iuwS"), self.name("traded")
        use = f"by_trade(&{name}[{self.pick('u')} & 1], {self.pick(letter)});"
        if self.draw.random() < 0.5:
            use = f"if ({self.condition()}) {use}"
        return [f"__shared__ {TYPES[letter]} {name}[2];", f"if (t < 2) {name}[t] = 5;", "__syncthreads();", use,
                "__syncthreads();", *self.new(letter, f"{name}[{self.pick('u')} & 1]"), "__syncthreads();"]  # fmt: skip

    # Exchanges of a warp.
    def _shuffle(self, depth: int, together: bool) -> list[str]:
        letter = self.draw.choice("iulwfdhgHG")
        how = self.draw.choice(["", "_up", "_down", "_xor"])
        where = self.pick(self.draw.choice("ui")) if how == "" else f"{self.pick('u')} & {self.draw.choice([3, 7, 31])}"
        if how == "_xor" or (how and self.draw.random() < 0.5):
            where = str(self.draw.randint(0, 31))
        width = self.draw.choice(["", ", 2", ", 4", ", 8", ", 16", ", 32", ", 3", ", 12", ", 1", ", 20"])
        return self.new(letter, f"__shfl{how}_sync(~0u, {self.pick(letter)}, {where}{width})")

    def _vote(self, depth: int, together: bool) -> list[str]:
        condition = self.condition()
        text = self.draw.choice(
            [f"__ballot_sync(~0u, {condition})", f"(unsigned)__any_sync(~0u, {condition})",
             f"(unsigned)__all_sync(~0u, {condition})", f"__match_any_sync(~0u, {self.pick('u')} & 7)",
             f"__match_any_sync(~0u, {self.pick('w')} % 5)", f"__match_any_sync(~0u, {self.pick('i')} >> 29)",
             f"(unsigned)__uni_sync(~0u, {condition})"]
        )  # fmt: skip
        if self.draw.random() < 0.2:
            name = self.name("all")
            return [f"int {name}; unsigned {name}m = __match_all_sync(~0u, {self.pick('u')} >> 30, &{name});",
                    *self.new("u", f"{name}m + {name}")]  # fmt: skip
        return self.new("u", text)

    def _reduction(self, depth: int, together: bool) -> list[str]:
        letter = self.draw.choice("ui")
        names = ["add", "min", "max"] + (["and", "or", "xor"] if letter == "u" else [])
        return self.new(letter, f"__reduce_{self.draw.choice(names)}_sync(~0u, {self.pick(letter)})")

    def _subset(self, depth: int, together: bool) -> list[str]:
        mask, letter = self.name("mask"), self.draw.choice("uiwfd")
        wanted, value = self.name("wanted"), self.pick(letter)
        one, count = self.pick(letter), self.pick("u")
        other = self.pick("u")
        return [f"bool {wanted} = {self.condition()}; unsigned {mask} = __ballot_sync(~0u, {wanted});",
                f"if ({wanted}) {{ {one} = __shfl_sync({mask}, {value}, __ffs({mask}) - 1);",
                f"  __syncwarp({mask}); {count} = __reduce_add_sync({mask}, {count});",
                f"  {other} ^= __match_any_sync({mask}, {self.pick('u')} & 3);",
                f"  {other} += __ballot_sync({mask}, {self.condition()});",
                f"}} else {{ {count} += __popc({mask}); {other} += __reduce_max_sync(~{mask}, {self.pick('u')}); }}",
                "__syncwarp();"]  # fmt: skip

    def _tile(self, depth: int, together: bool) -> list[str]:
        size, name = self.draw.choice([1, 2, 4, 8, 16, 32]), self.name("tile")
        letter = self.draw.choice("iulwfd")
        p = self.pick
        anything = [f"{name}.shfl({p(letter)}, {p('u')} % {size})", f"{name}.shfl_xor({p(letter)}, {size // 2})",
                    f"{name}.shfl_down({p(letter)}, {p('u')} & 3)", f"{name}.shfl_up({p(letter)}, 1)"]  # fmt: skip
        numbers = [f"cg::{how}(tile, {p(letter)})" for how in ("inclusive_scan", "exclusive_scan")]
        numbers += [f"cg::reduce(tile, {p(letter)}, cg::{how}<{TYPES[letter]}>())"
                    for how in ("plus", "less", "greater", "bit_xor", "bit_and", "bit_or")]  # fmt: skip
        numbers += [f"cg::inclusive_scan(tile, {p(letter)}, cg::greater<{TYPES[letter]}>())"]
        text = self.draw.choice(anything + (numbers if letter in NUMBERS else [])).replace("(tile,", f"({name},")
        also = f"{name}.{self.draw.choice(['any', 'all', 'ballot'])}({self.condition()})"
        rank = f"{name}.thread_rank() + {name}.meta_group_rank()"
        if size > 1:  # behind a match of each lane by itself ptxas 12.9 takes the warp for whole
            rank += f" + {name}.match_any({p('u')} & 3)"
        return [f"auto {name} = cg::tiled_partition<{size}>(cg::this_thread_block());", *self.new(letter, text),
                *self.new("u", self.draw.choice([also, rank]))]  # fmt: skip

    def _partition(self, depth: int, together: bool) -> list[str]:
        name, letter = self.name("part"), self.draw.choice("iu")
        whole = f"cg::tiled_partition<{self.draw.choice([4, 8, 16, 32])}>(cg::this_thread_block())"
        label = self.draw.choice([f"cg::binary_partition({name}w, {self.condition()})",
                                  f"cg::labeled_partition({name}w, {self.pick('u')} & 3)"])  # fmt: skip
        how = self.draw.choice(["plus", "less", "greater", "bit_xor"])
        return [
            f"auto {name}w = {whole}; auto {name} = {label};",
            *self.new(letter, f"cg::reduce({name}, {self.pick(letter)}, cg::{how}<{TYPES[letter]}>())"),
            *self.new("u", f"{name}.thread_rank() * 32 + {name}.size() + {name}.shfl({self.pick('u')}, 0)"),
        ]

    prefix = "f"


class Function(Statements):
    """A function of the device that a kernel calls."""

    def __init__(self, draw: random.Random, fast: bool, name: str, letters: Sequence[str], result: str) -> None:
        super().__init__(draw, fast, "control", 32)
        self.prefix, self._result = name, result
        self._declared = ", ".join(f"{TYPES[letter]} {name}_{letter}" for letter in letters)
        for letter in letters:
            self.variables[letter].append(f"{name}_{letter}")

    def text(self) -> str:
        """Its definition, after those that it calls."""
        given = [(letter, names[0]) for letter, names in self.variables.items() if names]
        lines = [f"word w0 = {' ^ '.join(as_word(letter, name) for letter, name in given)};"]
        self.variables["w"].append("w0")
        lines += from_word(self, "w0")
        depth = self.draw.randint(0, 2)
        for _ in range(self.draw.randint(1, 5)):
            lines += self.statement(depth, False) if self.draw.random() < 0.8 else self._leave()
        lines.append(f"return {self.expression(self._result)};")
        how = self.draw.choice(["__noinline__", "__noinline__", "__forceinline__"])
        body = "\n  ".join(lines)
        return "\n".join(
            [*self.helpers, f"__device__ {how} {TYPES[self._result]} {self.prefix}({self._declared}) {{\n  {body}\n}}"]
        )

    def _generic(self, depth: int, together: bool) -> list[str]:
        return self.new()  # what the kernel reads is no argument

    def _leave(self) -> list[str]:
        return [f"if ({self.condition()}) return {self.expression(self._result)};"]

    def _call(self, depth: int, together: bool) -> list[str]:
        return super()._call(depth, together) if self.prefix.count("_") < 2 else self.new()
