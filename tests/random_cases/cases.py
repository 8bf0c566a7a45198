"""A random case of the operator: what is called, on what arrays, and their layout in memory.

A case is plain data, drawn from (seed, number) alone, so two numbers name it for ever. What it does not spell out (the
values, the strides) is drawn from its ``draw``, a seed of its own, by the names of its kinds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from tests.random_cases import fusions, layouts, values
from tests.random_cases.fusions import CaseFusion

Generator = np.random.Generator

DTYPES = ("float16", "bfloat16", "float32", "float64")
#: What ``dtype=`` may cast from, beside the four.
INTEGERS = ("bool", "int8", "int32", "uint8")
FORWARD = ("softmax", "log_softmax")
BACKWARD = ("softmax_backward", "log_softmax_backward")

#: Lengths of the axis, around everything that the dispatch and the kernels decide by: lanes of a warp, columns per lane
#: holds, 1024 columns, what 48 KiB of shared memory keep (12 272 in float; 6136 of a gradient's two rows), the threads
#: of a block, clusters and what they keep.
COLS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "empty": (0,),
        "few": (1, 2, 3, 4, 5, 6, 7, 8, 9),
        "lanes": (15, 16, 17, 30, 31, 32, 33, 34, 48, 63, 64, 65, 66),
        "warp": (96, 97, 127, 128, 129, 200, 255, 256, 257, 511, 512, 768, 1000),
        "1024": (1022, 1023, 1024, 1025, 1026),
        "block": (1500, 2047, 2048, 3001, 4096),
        "smem": (6135, 6136, 6137, 6138, 12271, 12272, 12273, 12274),
        "long": (16385, 20000),
        "cluster": (40_001, 70_000, 200_003, 1_100_000),
    }
)
_COLS_SHARES = (0.02, 0.2, 0.23, 0.2, 0.15, 0.1, 0.08, 0.018, 0.002)
#: The longest row where nothing else is said.
LONGEST = 20_000
#: How many of the cases are fused ones.
FUSED = 0.25
ROWS = (1, 2, 3, 4, 5, 6, 8, 16, 31, 33, 64, 100, 129, 257)
#: How ``out`` relates to the inputs: not given, memory of its own, an input itself, an input's memory but shifted.
OUTS = ("none", "own", "own with any layout", "input", "input shifted")


@dataclass(frozen=True)
class Case:
    """One call of an operator.

    ``kinds`` names the values of each input, ``memory`` the layouts of each input and of ``out`` where it has memory of
    its own. ``cast`` is ``dtype=``. ``lender``: the library whose arrays they are on a GPU. ``fusion``: of
    ``softlab.fused``.
    """

    op: str
    shape: tuple[int, ...]
    axis: int
    dtype: str
    draw: int
    kinds: tuple[str, ...]
    memory: tuple[str, ...]
    cast: str | None = None
    out: str = "none"
    policy: str = "oneflow"
    lender: str = "cupy"
    fusion: CaseFusion | None = None

    @property
    def backward(self) -> bool:
        """Whether it takes dy and y."""
        return self.op in BACKWARD

    @property
    def result(self) -> str:
        """The dtype of the result."""
        return self.cast or self.dtype

    @property
    def cols(self) -> int:
        """The length of the axis."""
        return self.shape[self.axis] if self.shape else 1

    @property
    def rows(self) -> int:
        """How many rows there are along the axis."""
        return prod(self.shape) // self.cols if self.cols else 0

    @property
    def stride(self) -> int:
        """How many elements of a C-contiguous array are from one element of a row to the next."""
        return prod(self.shape[self.axis % len(self.shape) + 1 :]) if self.shape else 1

    def random(self, what: str) -> Generator:
        """The random numbers of a part of it, which stay the same while other parts change."""
        return np.random.default_rng([self.draw, *what.encode()])

    def __str__(self) -> str:
        return json.dumps(asdict(self))


def parsed(text: str) -> Case:
    """The case that :meth:`Case.__str__` wrote."""
    plain = json.loads(text)
    fusion = plain.pop("fusion", None)
    return Case(**_tupled(plain), fusion=fusion and CaseFusion(**_tupled(fusion)))


def _tupled(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}


def drawn(
    seed: int,
    number: int,
    *,
    most: int,
    least: int = 0,
    longest: int = LONGEST,
    policies: Sequence[str] = ("oneflow", "fast"),
    fused: float = FUSED,
    rows: Sequence[int] = ROWS,
) -> Case:
    """The case of that seed and number.

    Arguments:
        most: elements of an array at most (a single row may have more).
        least: a row at least. 0: rows of ``COLS``; else any, log-uniform from ``least`` to ``longest``.
        longest: a row at most.
        policies: what to choose from.
        fused: the share of fused cases.
        rows: what to choose the number of rows from.
    """
    random = np.random.default_rng([seed, number])
    op = _one(random, FORWARD + BACKWARD)
    is_fused = random.random() < fused
    if least:
        cols = round(least * (longest / least) ** random.random())
    elif is_fused:
        cols = fusions.drawn_cols(random)
    else:
        cols = _one(random, COLS[_one(random, tuple(COLS), _COLS_SHARES)])
    shape, axis = _shape(random, cols if cols <= longest else longest, most, rows)
    dtype, cast = _one(random, DTYPES), None
    if random.random() < 0.2:
        dtype, cast = _one(random, DTYPES + INTEGERS), _one(random, DTYPES)
    return completed(random, op, shape, axis, dtype, cast, policies=policies, fused=is_fused)


def completed(
    random: Generator,
    op: str,
    shape: tuple[int, ...],
    axis: int,
    dtype: str,
    cast: str | None,
    *,
    policies: Sequence[str],
    fused: bool,
    layout: str | None = None,
) -> Case:
    """A case of that operator and shape: all else is drawn. ``layout``: of the inputs; None: any."""
    inputs = 2 if op in BACKWARD else 1
    kinds = tuple(_value_kind(random) for _ in range(inputs))
    memory = tuple(layout or _layout(random, tuple(layouts.KINDS)) for _ in range(inputs))
    out = _one(random, OUTS, (0.4, 0.15, 0.15, 0.15, 0.15))
    if out.startswith("input") and ((cast or dtype) != dtype or "broadcast" in memory):
        out = "own"
    fusion = None
    if fused:
        last = axis in (-1, len(shape) - 1)
        fusion = fusions.drawn_fusion(random, op, len(shape), last, tuple(layouts.KINDS))
    return Case(
        op=op,
        shape=shape,
        axis=axis,
        dtype=dtype,
        draw=int(random.integers(2**31)),
        kinds=kinds,
        memory=(*memory, _layout(random, layouts.DISTINCT) if out == "own with any layout" else "plain"),
        cast=cast,
        out=out,
        policy=_one(random, policies if fusion is None else [p for p in policies if p != "invariant"] or ["oneflow"]),
        lender=_one(random, ("cupy", "torch"), (0.8, 0.2)),
        fusion=fusion,
    )


def _shape(random: Generator, cols: int, most: int, numbers: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """0 to 5 dimensions around an axis of that length."""
    rows = _one(random, numbers)
    while rows > 1 and rows * cols > most:
        rows = _one(random, [r for r in numbers if r < rows])
    if cols == 1 and random.random() < 0.3:
        return (), int(random.integers(-1, 1))
    others = factors(random, 0 if random.random() < 0.02 else rows, int(random.integers(0, 5)))
    position = len(others) if random.random() < 0.6 else int(random.integers(0, len(others) + 1))
    shape = (*others[:position], cols, *others[position:])
    return shape, position - len(shape) if random.random() < 0.5 else position


def factors(random: Generator, rows: int, count: int) -> tuple[int, ...]:
    """``count`` sizes whose product is ``rows``, in any order; none means one row."""
    sizes = [1] * count
    if count:
        sizes[0] = rows
        for k in range(1, count):
            divisors = [d for d in range(1, sizes[0] + 1) if sizes[0] % d == 0] or [1]
            sizes[k] = _one(random, divisors)
            sizes[0] //= sizes[k]
    return tuple(int(size) for size in random.permutation(sizes)) if count else ()


def _value_kind(random: Generator) -> str:
    return "normal" if random.random() < 0.3 else _one(random, tuple(values.KINDS))


def _layout(random: Generator, kinds: Sequence[str]) -> str:
    return "plain" if random.random() < 0.3 else "shifted" if random.random() < 0.3 else _one(random, kinds)


def _one(random: Generator, choices: Sequence[Any], shares: Sequence[float] | None = None) -> Any:
    return choices[int(random.choice(len(choices), p=shares))]


def simpler(case: Case) -> list[Case]:
    """Cases with one thing made plainer, the largest steps first."""
    plain = replace(case, memory=("plain",) * len(case.memory))
    found = [
        replace(case, out="none"),
        plain,
        replace(case, kinds=("normal",) * len(case.kinds)),
        replace(case, cast=None) if case.dtype in DTYPES else replace(case, dtype=case.result),
        replace(case, lender="cupy"),
        *(_with_part(case, "memory", k, "plain") for k in range(len(case.memory))),
        *(_with_part(case, "kinds", k, "normal") for k in range(len(case.kinds))),
        *(replace(case, fusion=fusion) for fusion in (fusions.simpler(case.fusion) if case.fusion else ())),
        *(smaller for step in _SMALLER for smaller in step(case)),
    ]
    return [other for other in dict.fromkeys(found) if other != case]


def _with_part(case: Case, field: str, k: int, value: str) -> Case:
    parts = list(getattr(case, field))
    parts[k] = value
    return replace(case, **{field: tuple(parts)})


def _fewer_dimensions(case: Case) -> list[Case]:
    """The axis alone, or as the last of two."""
    if len(case.shape) <= 1:
        return []
    alone = [] if case.fusion and case.fusion.causal else [replace(case, shape=(case.cols,), axis=-1)]
    return [*alone, replace(case, shape=(case.rows, case.cols), axis=-1)]


def _smaller_sizes(case: Case) -> list[Case]:
    """Each size as 1, half of it, one less, and two less, of the same parity."""
    found = []
    for k, size in enumerate(case.shape):
        found += [
            replace(case, shape=(*case.shape[:k], less, *case.shape[k + 1 :]))
            for less in (1, size // 2, size - 1, size - 2)
            if 0 < less < size
        ]
    return found


_SMALLER: tuple[Callable[[Case], list[Case]], ...] = (_fewer_dimensions, _smaller_sizes)


def shrunk(case: Case, fails: Callable[[Case], bool], tries: int = 200) -> Case:
    """The plainest case that still fails: each step from the failing case makes it plainer."""
    for _ in range(tries):
        smaller = next((other for other in simpler(case) if fails(other)), None)
        if smaller is None:
            break
        case = smaller
    return case
