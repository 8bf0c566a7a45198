"""Random kernels of CUDA C++ with control flow, all types, memory and exchanges of a warp, always the same by number.

Each reads six random words per thread. Its results are the last variables of every type, so that a difference is near
its cause. A program has no race, and no result depends on an order, on the bits of a NaN or (but for leaves) on an
approximation. So the emulator must give what a GPU gives, bit by bit.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.fuzz.inline import inline_functions
from tests.fuzz.inputs import WORDS
from tests.fuzz.prelude import PRELUDE
from tests.fuzz.scope import as_word, from_word
from tests.fuzz.statements import Statements
from tests.fuzz.vocabulary import COMPARED, EXPRESSIONS, LEAVES, TYPES, is_approximate_when_fast, ulps_of

#: What kernels have besides expressions: a sweep has one expression after the other and no chains.
FAMILIES = ("sweep", "expressions", "control", "memory", "warp", "everything", "inline", "blocks")
#: What the kernels of one module are compiled with.
OPTIONS: tuple[tuple[str, ...], ...] = (
    (), ("-use_fast_math",), ("-fmad=false",), ("-ftz=true",), ("-G",), ("-prec-div=false", "-prec-sqrt=false"),
)  # fmt: skip
ALWAYS = ("--device-int128",)
#: Kernels compiled together.
TOGETHER = 12
#: Expressions in a kernel of a sweep.
SWEPT = 20
#: Family -> the share of its expressions that are inline PTX.
_INLINE = {"inline": 0.6, "everything": 0.15}
_FAST = ("-use_fast_math", "-prec-div=false")


@dataclass(frozen=True)
class RandomKernel:
    """One kernel. ``results``: PTX types of the rows of its output; ``ulps``: how far each may be off."""

    name: str
    family: str
    options: tuple[str, ...]
    blocks: int
    shape: tuple[int, ...]
    results: tuple[str, ...]
    ulps: tuple[int, ...]
    text: str

    @property
    def lanes(self) -> int:
        """Threads of the grid."""
        return self.blocks * self.threads

    @property
    def threads(self) -> int:
        """Threads per block."""
        return math.prod(self.shape)


def source(group: Sequence[RandomKernel]) -> str:
    """CUDA C++ of kernels that are compiled together."""
    text = "".join(kernel.text for kernel in group)
    return PRELUDE + inline_functions(text) + text


def group(number: int) -> list[RandomKernel]:
    """The kernels of the module of that number: one family and one list of options."""
    family = FAMILIES[number % len(FAMILIES)]
    options = OPTIONS[number // len(FAMILIES) % len(OPTIONS)]
    return [random_kernel(number * TOGETHER + index, family, options) for index in range(TOGETHER)]


def random_kernel(number: int, family: str, options: tuple[str, ...] = ()) -> RandomKernel:
    """The kernel of that number."""
    writer = _Kernel(number, family, any(option in _FAST for option in options))
    body, results, ulps = writer.body()
    name = f"k{number}"
    text = (
        f"{writer.functions}\n"
        f'extern "C" __global__ void {name}(const word* in, word* out, word* cells, unsigned three) {{\n{body}\n}}\n'
    )
    return RandomKernel(name, family, options, writer.blocks, writer.shape, results, ulps, text)


class _Kernel(Statements):
    """The body of a kernel."""

    def __init__(self, number: int, family: str, fast: bool) -> None:
        draw = random.Random(f"kernel {number}")
        self.blocks, threads = draw.choice([(1, 32), (1, 64), (2, 32), (1, 96), (2, 64)])
        if family == "sweep":
            self.blocks, threads = 2, 128
        super().__init__(draw, fast, family, threads)
        self._number = number
        self.inline = _INLINE.get(family, 0.0)
        self.shape = draw.choice([(threads,), (threads,), (threads // 2, 2), (8, threads // 8), (4, 2, threads // 8)])
        self.prefix = f"f{number}"

    @property
    def functions(self) -> str:
        """The functions that the kernel calls."""
        return "\n".join(self.helpers)

    def body(self) -> tuple[str, tuple[str, ...], tuple[int, ...]]:
        """(text, types of the results, how many ulps each may be off)."""
        if self.family == "sweep":
            return self._sweep()
        lines = [*self._start(), *self._variables()]
        count = {"expressions": self.draw.randint(16, 40)}.get(self.family, self.draw.randint(6, 14))
        for _ in range(count):
            lines += self.statement(3 if self.draw.random() < 0.2 else 2, True)
        stores, results = [], []
        for letter in TYPES:
            stores.append(self.variables[letter][-1])
            results.append(letter)
        for letter in "uwifd":
            stores.append(self.draw.choice(self.variables[letter]))
            results.append(letter)
        stores.append(self._everything())
        results.append("w")
        rows = [(COMPARED[letter], 0) for letter in results]
        for letter in self.draw.sample("ffddhgHG", 2):
            template = self.draw.choice(LEAVES[letter])
            stores.append(self.filled(template))
            results.append(letter)
            rows.append((COMPARED[letter], ulps_of(template, COMPARED[letter], self.fast)))
        ends = self.draw.randrange(2 * len(stores))  # in half of the kernels some lanes end between two results
        for row, (letter, text) in enumerate(zip(results, stores, strict=True)):
            lines += [f"if ({self.condition()}) return;"] * (row == ends)
            lines.append(f"out[{row} * n + g] = {_stored(letter, text)};")
        return "  " + "\n  ".join(lines), tuple(kind for kind, _ in rows), tuple(ulps for _, ulps in rows)

    def _everything(self) -> str:
        """All variables in one number, so that none is left out by the compiler."""
        every = [(letter, name) for letter, names in self.variables.items() for name in names]
        return " ^ ".join(f"{as_word(letter, name)} * {2 * index + 1}u" for index, (letter, name) in enumerate(every))

    def _start(self) -> list[str]:
        rest = "".join(f" + threadIdx.{axis} * {math.prod(self.shape[:at])}" for at, axis in ((1, "y"), (2, "z"))
                       if at < len(self.shape))  # fmt: skip
        words = ", ".join(f"in{word} = in[{word} * n + g]" for word in range(WORDS))
        return [
            f"const unsigned t = threadIdx.x{rest};",
            f"const unsigned g = blockIdx.x * {self.threads} + t, n = {self.lanes};",
            f"word {words};",
        ]

    @property
    def lanes(self) -> int:
        """Threads of the grid."""
        return self.blocks * self.threads

    def _variables(self) -> list[str]:
        lines = from_word(self, "in0")
        first = {letter: names[:] for letter, names in self.variables.items()}
        for word in ("in1", "in2", "in3", "in4", "in5"):
            self.variables = {letter: [] for letter in TYPES}
            lines += from_word(self, word)
            for letter, names in self.variables.items():
                first[letter] += names
        self.variables = first
        return lines

    def _sweep(self) -> tuple[str, tuple[str, ...], tuple[int, ...]]:
        """One expression after the other: each table's entry comes in one kernel of the sweep."""
        lines = [*self._start(), *self._variables()]
        rows = []
        for index, (letter, template, approximate) in enumerate(swept(self._number)):
            if self.fast and is_approximate_when_fast(template):
                approximate = True
            lines.append(f"out[{index} * n + g] = {_stored(letter, self.filled(template))};")
            rows.append((COMPARED[letter], ulps_of(template, COMPARED[letter], self.fast) if approximate else 0))
        return "  " + "\n  ".join(lines), tuple(kind for kind, _ in rows), tuple(ulps for _, ulps in rows)


def swept(number: int) -> list[tuple[str, str, bool]]:
    """(type, expression, whether it is a leaf) of each result of the kernel of a sweep; the next sweep goes on."""
    sweep = number // (TOGETHER * len(FAMILIES) * len(OPTIONS))
    first = (sweep * TOGETHER + number % TOGETHER) * SWEPT
    return [SWEEP[place % len(SWEEP)] for place in range(first, first + SWEPT)]


def _stored(letter: str, text: str) -> str:
    if letter in "qQ":
        return f"bits(({TYPES[letter]})({text}))"
    if letter in "fdhgHG":
        return f"raw(({TYPES[letter]})({text}))"
    return f"(word)({TYPES[letter]})({text})"


SWEEP = [
    (letter, template, table is LEAVES)
    for table in (EXPRESSIONS, LEAVES)
    for letter, templates in table.items()
    for template in templates
]
