"""What softlab says of wrong kernels and functions, as digests: no hint changes unseen.

    python -m tests.course.sentences             # record them as they are now, after a change that is meant
    python -m tests.course.sentences show NAME   # print those of one look, to read them

Python functions stand for the kernels, and arrays of elements for what threads come to. What is right is tested in
``test_behaviour_parts.py``, ``test_places.py`` and ``test_differences.py``, example by example. Here are many more.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.course import behaviour, causes, diagnosis, differences, exponentials, places, probes, relations
from softlab.course.functions import Call
from softlab.course.launch_cases import LaunchCase
from softlab.course.places import Visits
from softlab.course.probes import Seen
from softlab.errors import FaultSite, KernelFault

RECORD = Path(__file__).parents[1] / "data" / "sentences.json"
#: Sentences that share a digest.
GROUP = 4

Work = Callable[[np.ndarray], Any]


def softmax(x: np.ndarray) -> np.ndarray:
    """Along the rows, in float64."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _of_first(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x[:, :1])
    return powers / powers.sum(-1, keepdims=True)


def _seldom(x: np.ndarray, right: np.ndarray, every: int) -> np.ndarray:
    out = right.copy()
    out.reshape(-1)[::every] = x.reshape(-1)[: out.size : every] if out.size <= x.size else 7
    return out


#: What is right of an input, and what wrong kernels make of it.
RIGHT: dict[str, Work] = {
    "twice": lambda x: 2 * x, "square": lambda x: x * x, "reversed": lambda x: x[..., ::-1], "total": lambda x: x.sum(),
    "row sums": lambda x: x.sum(-1), "column sums": lambda x: x.sum(0), "most": lambda x: x.max(),
    "row most": lambda x: x.max(-1), "softmax": softmax, "log sums": lambda x: np.log(np.exp(x).sum(-1)),
    "next": lambda x: np.roll(x, 1, -1),
}  # fmt: skip
WRONG: dict[str, Work] = {
    "as it is": lambda x: x, "plus one": lambda x: x + 1, "square": lambda x: x * x, "cube": lambda x: x**3,
    "half": lambda x: x / 2, "negative": lambda x: -x, "root": lambda x: np.sqrt(abs(x)), "zeros": np.zeros_like,
    "power": np.exp, "inverse": lambda x: 1 / x, "less the mean": lambda x: x - x.mean(-1, keepdims=True),
    "less the first": lambda x: x - x[..., :1], "over the sum": lambda x: x / x.sum(-1, keepdims=True),
    "softmax": softmax, "of the first": _of_first, "softmax of twice": lambda x: softmax(2 * x),
    "rolled": lambda x: np.roll(x, -1, -1), "rolled far": lambda x: np.roll(x, 32), "reversed": lambda x: x[..., ::-1],
    "total": lambda x: x.sum(), "total from 5": lambda x: 5 + x.sum(), "half of it": lambda x: x[..., ::2].sum(),
    "twice the end": lambda x: x.sum() + x.reshape(-1)[-1], "row sums": lambda x: x.sum(-1),
    "short row sums": lambda x: x[..., :-1].sum(-1), "row sums less the first": lambda x: x[..., 1:].sum(-1),
    "column sums": lambda x: x.sum(0), "most": lambda x: x.max(), "least": lambda x: x.min(),
    "row least": lambda x: x.min(-1),
    "most or 50": lambda x: max(50.0, x.max()), "row most": lambda x: x.max(-1), "row most of some": lambda x: x[...,
    :-1].max(-1),
    "size": lambda x: x.size, "sum of two": lambda x: x.reshape(-1)[0] + x.reshape(-1)[1],
    "products": lambda x: x * np.roll(x, 1, -1), "log sums of some": lambda x: np.log(np.exp(x[..., 1:]).sum(-1)),
    "log sums, one twice": lambda x: np.log(np.exp(x).sum(-1) + np.exp(x[..., 0])),
}  # fmt: skip
SHAPES = ((40,), (64,), (4, 24), (6, 6), (3, 40))
LOOKS: dict[str, Callable[[Seen], str]] = {
    look.__name__: look
    for look in (
        behaviour.held_before, behaviour._not_stored, behaviour._stored_too, exponentials.subtracted,
        exponentials.counts,
        behaviour._times_too_much, behaviour._as_it_is, behaviour._said_twice, behaviour._moved,
        behaviour._of_relations,
        behaviour._of_sums, behaviour._of_maxima, behaviour._of_rows, behaviour._of_inputs, behaviour._of_zeros,
    )
}  # fmt: skip


def _values(random: Random, shape: tuple[int, ...]) -> np.ndarray:
    """Eighths from -4 to 4, so that sums are exact in any order."""
    count = math.prod(shape)
    return np.array([int(65 * random.random()) / 8 - 4 or 0.125 for _ in range(count)], np.float32).reshape(shape)


def _seen(work: Work, right: Work, x: np.ndarray, kept: Any, start: float, adds: bool = False) -> Seen | None:
    with np.errstate(all="ignore"):
        wanted = np.atleast_1d(np.asarray(right(x.astype(np.float64)), np.float32))

    def store(x: np.ndarray, y: np.ndarray) -> None:
        with np.errstate(all="ignore"):
            made = np.asarray(work(x.astype(np.float64)), np.float32)
        before = y.reshape(-1)[kept] if adds else np.float32(0)
        flat = made.reshape(-1) if made.size == y.size else made.reshape(-1)[:1]
        y.reshape(-1)[kept] = before + np.broadcast_to(flat, (y.size,))[kept]

    def run(grid: Any, block: Any, given: tuple, smem: int, **how: Any) -> None:
        store(*given)

    y = np.full(wanted.shape, start, np.float32)
    got = y.copy()
    store(x, got)
    launch = LaunchCase(2, 32, {"x": x, "y": y}, {"y": wanted}, 0, 1e-5)
    kernel: Any = SimpleNamespace(run=run, program=SimpleNamespace(source="y[i] = exp(x[i]);"))
    found = Seen(kernel, launch, "y", got)
    return found if found.wrong.any() else None


def kernels() -> Iterator[tuple[str, str]]:
    """Wrong kernels, by all looks."""
    random = Random(1)
    stores = (slice(None), slice(0, None, 2), slice(1, -1))
    for number, (shape, right, wrong) in enumerate(product(SHAPES, RIGHT, WRONG)):
        if len(shape) == 1 and right in ("softmax", "row sums", "column sums", "row most", "log sums"):
            continue
        if number % 3 or (len(shape) == 1 and wrong == "of the first"):
            continue
        kept, start = stores[0 if number % 5 else number // 5 % 3], (math.nan, math.nan, 0.0, 2.0)[number // 3 % 4]
        seen = _seen(WRONG[wrong], RIGHT[right], _values(random, shape), kept, start)
        yield from _looks(seen)
    for shape, right, part, start in product(SHAPES, RIGHT, range(4), (math.nan, 0.0, 2.0)):
        if len(shape) > 1 or right in ("twice", "square", "reversed", "total", "most", "next"):
            x = _values(random, shape)
            yield from _looks(_seen(RIGHT[right], RIGHT[right], x, (*stores, slice(0, 5))[part], start, adds=part == 0))
    for shape, which in product(((4, 24), (3, 40)), range(6)):
        yield from _looks(_seen(_powers(which), RIGHT[("softmax", "log sums")[which % 2]], _values(random, shape),
                                slice(None), math.nan))  # fmt: skip
    # Numbers that are far apart: what is not taken off the exponents shows.
    for shape, which in product(((4, 24), (3, 40)), range(12)):
        x = _values(random, shape) * np.float32((30, 60)[which % 2])
        yield from _looks(_seen(_powers(which // 2), softmax, x, slice(None), math.nan))


def _powers(which: int) -> Work:
    """Softmax or the logarithm of a sum of powers, wrong in one way."""

    def work(x: np.ndarray) -> np.ndarray:
        level = (x[:, :1], x[:, -1:], x.min(-1, keepdims=True), x[:, :8].max(-1, keepdims=True),
                 x.mean(-1, keepdims=True), np.zeros((len(x), 1)))[which]  # fmt: skip
        powers = np.exp(x - level).astype(np.float32)  # rounded, so that no machine's exp shows
        total = powers[:, which % 3 :].sum(-1) + (powers[:, 0] if which > 3 else 0)
        return powers / total[:, None] if which % 2 == 0 else np.log(total) + level[:, 0]

    return work


def _looks(seen: Seen | None) -> Iterator[tuple[str, str]]:
    for name, look in LOOKS.items() if seen else ():
        with np.errstate(all="ignore"):
            yield name, look(seen)


def moved() -> Iterator[tuple[str, str]]:
    """Right numbers in other places, and results that are off in a few of them."""
    random = Random(2)
    for number, shape in enumerate(SHAPES * 20):
        size = math.prod(shape)
        wanted = np.array(random.sample(range(1000), size), np.float32).reshape(shape)
        got = wanted.copy().reshape(-1)
        step, first, last = 1 + number % 4, int(size * random.random() / 2), size - int(size * random.random() / 3)
        part = slice(first, last, step)
        change = number % 7
        flat = wanted.reshape(-1)
        got[part] = {0: flat[::-1], 1: np.roll(flat, 1), 2: np.roll(flat, -2), 3: 3 * flat, 4: flat + 5,
                     5: np.roll(flat, 8), 6: flat[flat.argsort()]}[change][part]  # fmt: skip
        x = _values(random, shape)
        seen = Seen(SimpleNamespace(), LaunchCase(2, 32, {"x": x, "y": np.zeros_like(wanted)}, {"y": wanted}), "y",
                    got.reshape(shape))  # fmt: skip
        if seen.wrong.any():
            for look in (behaviour._moved, behaviour._said_twice, behaviour._not_stored, behaviour._stored_too,
                         behaviour._times_too_much):  # fmt: skip
                yield f"moved, {look.__name__}", look(seen)
            indices = np.flatnonzero(seen.wrong)
            for threads in (8, 32):
                yield "pattern", diagnosis.pattern(seen.got, wanted, threads)
            scaled = diagnosis.pattern(wanted * (number % 5 - 1), wanted, 8)
            yield "pattern of all", f"{scaled} {diagnosis.pattern(wanted + number - 50, wanted, 8)}"
            yield "elements", probes.elements("y", indices, size)
            yield "listed", probes.listed("y", wanted, indices.tolist())
            yield "places_to_change", str(probes.places_to_change(x, seen.wrong))
            place = int(size * random.random())
            changed = (probes.with_change(x, place, 3) - x, probes.raised_to_most(x, place) - x)
            yield "with_change", str([(one.reshape(-1).nonzero()[0].tolist(), float(one.sum())) for one in changed])


def rows() -> Iterator[tuple[str, str]]:
    """Rows that are off in one way or another."""
    random = Random(3)
    for number in range(160):
        cols = (8, 24, 64, 96)[number % 4]
        given = _values(random, (6, cols)).astype(np.float64)
        wanted = softmax(given) if number % 3 else given * 2 + 1
        factor, off = 1 + int(4 * random.random()), int(5 * random.random()) - 2
        got = {
            0: wanted * factor, 1: wanted + off, 2: wanted * factor + off, 3: softmax(given * factor),
            4: given - given.max(),
            5: wanted * (1 + np.arange(cols) % 32 / 8), 6: wanted * (1 + np.arange(cols) // 32), 7: given,
            8: wanted / wanted.sum() * (1 + 1e-3 * off), 9: wanted + given * 1e-3, 10: np.exp(given),
            11: given - given.sum(),
        }[number % 12]  # fmt: skip
        for row in range(2):
            yield "of_row", relations.of_row(row, got[row], wanted[row], (32, 64)[number % 2])
            yield "scaled_and_shifted", relations.scaled_and_shifted(row, got[row], wanted[row])
            yield "taken_off", relations.taken_off("y", "x", row, got[row], wanted[row], given[row])
            level = (given[row].min(), given[row, 0], given[row, -1], given[row].mean(), off, given[row].max() + off)[
                number % 6
            ]
            less = given[row] - given[row].max()
            yield "taken_off", relations.taken_off("y", "x", row, given[row] - level, less, given[row])
        right = given.sum(1) if number % 2 else given.max(1)
        of_row = (given.max(1), given.min(1), given[:, 0], given[:, -1], given.mean(1))[number % 5]
        with np.errstate(all="ignore"):
            single = (right + of_row, right - of_row, right * of_row, right / of_row, right - 1, of_row - right)[
                number % 6
            ]
        inputs = {"x": given.astype(np.float32)}
        yield "of_rows", relations.of_rows("y", single.astype(np.float32), right.astype(np.float32), inputs)
        both = {"a": given.astype(np.float32), "b": _values(random, given.shape)}
        a, b = both["a"].astype(np.float64), both["b"].astype(np.float64)
        with np.errstate(all="ignore"):
            made = (a + b, a - b, a * b, a / b, b - a, b, a * a, a + 1, np.exp(a), np.maximum(a, b), 2 * a, a * b + 1)[
                number % 12
            ]
        wrong = np.ones(given.shape, bool)
        wrong.reshape(-1)[:: 2 + number % 3] = number % 2
        yield "of_elements", relations.of_elements("y", made.astype(np.float32), wrong, both)


def _visits(random: Random) -> Visits:
    block, grid, width = random.choice((4, 8)), random.choice((1, 2, 4)), random.choice((1, 1, 1, 2, 4))
    turns, shape = random.choice((1, 1, 2, 3)), random.choice(((32,), (64,), (60,), (4, 16), (16, 4), (8, 8)))
    number = np.arange(block * grid)
    apart, row = random.choice((1, 1, 1, 2, 4)) * width, random.choice((block, block, block // 2, block + 2, grid))
    step = random.choice((0, block, block * grid, block * grid, block + 1, block - 1, 2 * block)) * width
    element = np.array([number // block * row * apart + number % block * apart + turn * step for turn in range(turns)])
    kind = random.randrange(6)
    if kind == 0 and turns == 1:
        element = element % max(1, shape[0])
    elif kind == 1 and len(shape) == 2 and turns == 1:
        element = (number // shape[0] * shape[1] + number % shape[0])[None]
    elif kind == 2 and len(shape) == 2 and turns == 1:
        element = (number % shape[1] * shape[1] + number // shape[1])[None]
    elif kind == 3:
        element[:, :: random.choice((2, 3, 5))] = -1
    size = int(np.prod(shape))
    element = np.where(element + width > size + random.choice((0, 0, 8)), -1, element)
    return Visits("y", 3, random.random() < 0.5, element, width, block, shape)


def lines() -> Iterator[tuple[str, str]]:
    """What the threads of a line come to."""
    random = Random(4)
    for _ in range(700):
        line = _visits(random)
        if not (line.element >= 0).any():
            continue
        yield (
            "Visits",
            str([line.times().tolist(), line.step(), line.apart(), line.who(3), line.thread(5), line.at(7), line.verb]),
        )
        for look in (places._covered, places._columns, places._blocks, places._again, places._few, places._beyond,
                     places._of_rows):  # fmt: skip
            yield look.__name__, look(line)
        if not line.times().all():
            yield "_gaps", places._gaps(line)
        yield "_linear", str([places._linear(line, factor) for factor in (1, 2, 4)])


def _functions() -> dict[str, Callable[[float, float], Any]]:
    return {
        "sum": lambda a, b: a + b, "product": lambda a, b: a * b, "a": lambda a, b: a, "quotient": lambda a, b: a / b,
        "square": lambda a, b: a * a, "rounded": lambda a, b: round(a / b), "up": lambda a, b: math.ceil(a / b),
        "down": lambda a, b: a // b, "less": lambda a, b: a - b, "most": max, "constant": lambda a, b: 3,
        "ten": lambda a, b: 10 * (a + b), "one more": lambda a, b: a * b + 1, "power": lambda a, b: a**2 + b,
        "greater": lambda a, b: a > b, "word": lambda a, b: "wide" if a > b else "narrow", "pair": lambda a, b: (a, b),
        "turned": lambda a, b: (b, a), "list": lambda a, b: [a + k for k in range(int(b))], "half": lambda a,
        b: a * b / 2,
        "some": lambda a, b: a * b if a > 3 else 0, "few": lambda a, b: a + b if b != 7 else 1, "none": lambda a,
        b: None,
        "array": lambda a, b: np.array([a, b, a + b]), "scaled": lambda a, b: np.array([a, b, a + b]) * 2,
        "negative": lambda a, b: -(a + b), "inverse": lambda a, b: 1 / (a * b), "words": lambda a, b: "narrow",
    }  # fmt: skip


def calls() -> Iterator[tuple[str, str]]:
    """Wrong functions of two numbers, and of rows."""
    pairs = [(float(a), float(b)) for a in (1, 3, 4, 6) for b in (2, 5, 7)]
    known = _functions()
    for right, wrong in product(known, known):
        if right != wrong:
            of = [Call(pair, known[right](*pair)) for pair in pairs]
            given = [known[wrong](*pair) for pair in pairs]
            yield "difference", differences.difference(("a", "b"), of, given, 1e-6)
            yield "rule_of_values", differences.rule_of_values(("a", "b"), of, given, 1e-6)
            yield "alike", str([differences.alike(one, call.expected) for one, call in zip(given, of, strict=True)])
    random = Random(5)
    arrays = [(_values(random, (3, 4 + k)), 1 + k) for k in range(6)]
    rights: tuple[Work, ...] = (lambda x: x.sum(-1), softmax, lambda x: x.max(-1))
    for right_of, wrong in product(rights, WRONG):
        with np.errstate(all="ignore"):
            of = [Call(one, right_of(one[0].astype(np.float64))) for one in arrays]
            given = [WRONG[wrong](one[0].astype(np.float64)) for one in arrays]
            yield "difference of rows", differences.difference(("x", "n"), of, given, 1e-6)


#: Kernels with two accesses and what may stand around and between them.
BODIES = (
    "s[i] = x[i];\n  {0}\n  y[i] = s[63 - i];",
    "for (int k = 0; k < n; ++k) {{\n    s[i] = x[k];\n    {0}\n    y[i] += s[(i + k) % 64];\n  }}",
    "for (int k = 0; k < n; ++k) {{\n    y[i] += s[(i + k) % 64];\n    s[i] = x[k];\n    {0}\n  }}",
    "if (i < 32) {{\n    s[i] = x[i];\n    {0}\n  }}\n  y[i] = s[i ^ 1];",
    "if (i > n)\n    return;\n  s[i] = x[i];\n  {0}\n  y[i] = s[n - i];",
    "while (n > 0) {{\n    s[i] += s[i + n];\n    {0}\n    n /= 2;\n  }}",
    "if (i == 0) s[0] = x[0];\n  {0}\n  atomicAdd(&s[i % 2], x[i]);\n  s[1]++;",
    "float* other = cluster.map_shared_rank(s, 1);\n  other[i] = x[i];\n  {0}\n  y[i] = s[i];",
)
BETWEEN = ("", "__syncthreads();", "__syncwarp();", "__threadfence_block();", "if (i < n) __syncthreads();",
           "v = __shfl_down_sync(~0u, i, 1);", "cluster.sync();")  # fmt: skip
MESSAGES = ("a thread writes s[3], which another one reads", "two threads write s[3] in the same instruction",
            "a thread writes s[3] of shared memory", "a thread reads x[100], which has 64 bytes",
            "the mask does not name it")  # fmt: skip
KINDS = ("race", "race", "race", "barrier-divergence", "inactive-lane", "uninitialized-shared", "shared-out-of-bounds",
         "global-out-of-bounds")  # fmt: skip


def faults() -> Iterator[tuple[str, str]]:
    """Faults on any lines of kernels."""
    random = Random(6)
    launch = LaunchCase(4, 64, {"x": np.zeros(100, np.float32), "y": np.zeros(100, np.float32), "n": 5}, {})
    for number, (body, between) in enumerate(product(BODIES, BETWEEN)):
        head = f"__global__ void k(const float* x, {'volatile ' * (number % 2)}float* y, int n) {{"
        source = f"{head}\n  __shared__ float s[{('64', '2][32')[number % 3 == 0]}];\n  int i = threadIdx.x, v;\n  "
        source += body.format(between) + "\n}"
        count = source.count("\n")
        yield "barrier_conditions", str(causes.barrier_conditions(source))
        yield "only_buffers", str(causes.only_buffers(source))
        yield "with_barrier_at_the_end", causes.with_barrier_at_the_end(source, "k")
        for turn in range(14):
            thread, other = (int(64 * random.random()) for _ in range(2))
            line, second = (4 + int((count - 3) * random.random()) for _ in range(2))
            blocks = ((1, 0, 0), ((1, 0, 0), (2, 0, 0))[turn % 5 == 0])
            site = FaultSite(line=line, other_line=second, thread=(thread, 0, 0), other_thread=(other, 0, 0),
                             block=blocks[0], other_block=blocks[1], symbol=("s[3]", "s[1][3]", "y[70]")[turn % 3],
                             address=(12, 4 * thread, 4 * (64 + thread), 8 * (64 + thread))[turn % 4],
                             argument=turn % 2)  # fmt: skip
            fault = KernelFault(KINDS[turn % len(KINDS)], MESSAGES[(turn + number) % len(MESSAGES)], site)
            yield "fault_cause", causes.fault_cause(fault, source, launch)


MAKERS = {make.__name__: make for make in (kernels, moved, rows, lines, calls, faults)}


def said(*makers: str) -> Iterator[tuple[str, str]]:
    """The sentences of some makers, or all. What only a run with accesses tells is left out."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("read", "stored", "stands_still"):
            patch.setattr(behaviour, name, lambda *given: "")
        for maker in makers or MAKERS:
            yield from MAKERS[maker]()


def digests(*makers: str) -> dict[str, str]:
    """Look -> the digests of groups of its sentences."""
    lists: dict[str, list[str]] = {}
    for name, words in said(*makers):
        lists.setdefault(name, []).append(words)
    return {
        name: " ".join(
            hashlib.sha256("\n".join(found[at : at + GROUP]).encode()).hexdigest()[:4]
            for at in range(0, len(found), GROUP)
        )
        for name, found in lists.items()
    }


def main(arguments: list[str]) -> None:
    """Record all, or show those of one look."""
    if arguments:
        print(*(words for name, words in said() if name == arguments[1]), sep="\n")
    else:
        RECORD.write_text(json.dumps(digests(), indent=0) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
