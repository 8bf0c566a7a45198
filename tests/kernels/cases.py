"""What the kernels are run on: the variants of each kernel, the shapes, the rows with special values.

The same cases run in the emulator and, marked ``gpu``, on a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from softlab import plans
from softlab.cuda.compile import Program, compile_program, kernel_sources
from softlab.dtypes import ELEMENT_TYPES, element_type
from softlab.errors import PlanError
from softlab.kernel import Kernel
from softlab.plans import Plan

DEVICE = "H200"
#: All short rows, both sides of each boundary between kernels, and a row beyond shared memory.
COLS = (*range(1, 71), 127, 128, 129, 1000, *range(1023, 1027), 2048, 4097, *range(12272, 12277), 20000)
ROWS = (1, 2, 3, 33)
DTYPES = ("float16", "bfloat16", "float32")
OPS = ("softmax", "log_softmax")


@dataclass(frozen=True)
class Variant:
    """One kernel as a plan may ask for it; ``layout`` for shared memory alone."""

    kernel: str
    dtype: str
    op: str
    layout: str | None = None
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        words = (self.kernel, self.layout, self.dtype, self.op, *self.options)
        return "-".join(word for word in words if word)

    def plan(self, rows: int, cols: int, **forced: Any) -> Plan | None:
        """The plan of this kernel for a shape, None where it cannot take it.

        The shared-memory kernel has the block sizes that dispatch finds in float alone: each costs a compilation.
        """
        if self.kernel == "block_smem" and self.dtype != "float32":
            forced.setdefault("block_size", 128)
        try:
            return plans.forced(
                rows, cols, self.dtype, kernel=self.kernel, layout=self.layout, op=self.op, device=DEVICE,
                options=self.options, **forced,
            )  # fmt: skip
        except PlanError:
            return None


def variants() -> list[Variant]:
    """Every kernel, dtype, operator and layout that dispatch or a lesson takes."""
    warp = [Variant("warp", dtype, op) for dtype in DTYPES for op in OPS]
    layouts = ("column", "row", "row_scalar")
    smem = [Variant("block_smem", dtype, op, layout) for dtype in DTYPES for op in OPS for layout in layouts]
    uncached = [Variant("block_uncached", dtype, op) for dtype in (*DTYPES, "float64") for op in OPS]
    accurate = [Variant("warp", "float32", op, options=("-DSOFTLAB_ACCURATE",)) for op in OPS]
    return [*warp, *smem, *uncached, *accurate]


def in_turns(variant: Variant) -> bool:
    """One operator for each kernel, type and layout: what `.ci/run` runs; `make test` runs both. The operators change
    with the type and the layout, so that both operators, and both halves of the lengths (``dealt``), meet each kernel.
    """
    layout = ("column", "row", "row_scalar").index(variant.layout or "column")
    turn = list(ELEMENT_TYPES).index(variant.dtype) // 2 + layout
    return turn % 2 == variant.op.startswith("log_") or bool(variant.options)


def dealt(lengths: Sequence[int], dtype: str, op: str, further: int = 0) -> tuple[int, ...]:
    """Half of the lengths: the first, the last, and every second pair of neighbours, an odd and an even number.

    Types and operators take turns, so that each length still meets every type and every operator.
    """
    turn = list(ELEMENT_TYPES).index(dtype) + op.startswith("log_") + further
    last = len(lengths) - 1
    return tuple(n for k, n in enumerate(lengths) if k in (0, last) or (k // 2 + turn) % 2 == 0)


def halved(lengths: Sequence[int], half: int) -> tuple[int, ...]:
    """Half of the lengths that were dealt to a type and an operator: every second pair."""
    return tuple(n for k, n in enumerate(lengths) if (k // 2 + half) % 2 == 0)


def half_in_turns(variant: Variant, half: int) -> bool:
    """What `.ci/run` runs of the variants' lengths: float16 both halves, bfloat16 the first, the wide types the second.

    So each length still meets each kernel and layout.
    """
    wide = variant.dtype in ("float32", "float64")
    return in_turns(variant) and (variant.dtype == "float16" or half == wide)


def rows_for(cols: int) -> int:
    """One of ``ROWS`` for a number of columns, so that odd and even meet odd and even; few where a row is long."""
    return ROWS[(cols + cols // 4) % 4] if cols < 2000 else ROWS[cols % 3]


def matrix(rows: int, cols: int, dtype: str, seed: int = 0) -> np.ndarray:
    """Random rows, each with a scale and an offset of its own."""
    random = np.random.default_rng([rows, cols, seed])
    values = random.standard_normal((rows, cols)) * random.choice([0.1, 1, 4], (rows, 1))
    return (values + random.choice([-8, 0, 8], (rows, 1))).astype(element_type(dtype).numpy)


def special_rows(cols: int, dtype: str) -> np.ndarray:
    """Rows with NaN, infinities and the largest numbers, first, last and throughout; ordinary rows between them."""
    element = element_type(dtype).numpy
    largest = {"float16": 65504.0, "bfloat16": 3.0e38, "float32": 3.0e38, "float64": 1.0e308}[dtype]
    x = matrix(13, cols, dtype, seed=1).astype(np.float64)
    x[0] = -np.inf
    x[1, 0] = np.inf
    x[2, -1] = np.inf
    x[3, 0] = np.nan
    x[4, -1] = np.nan
    x[5] = np.nan
    x[6, ::2] = -np.inf
    x[7, 1:] = -np.inf
    x[8] = largest
    x[9, :] = -largest
    x[10, cols // 2] = largest
    x[11, -1], x[11, 0] = np.nan, np.inf
    return x.astype(element)


@lru_cache(maxsize=1024)
def program(file: str, name: str, arch: str, options: tuple[str, ...]) -> Program:
    return compile_program(kernel_sources()[file], name, arch=arch, options=options, file=file)


@lru_cache(maxsize=1024)
def _kernel(program: Program) -> Kernel:
    return Kernel.from_program(program)


def kernel_of(plan: Plan) -> Kernel:
    """The kernel of a plan, parsed once."""
    return _kernel(program_of(plan))


def program_of(plan: Plan) -> Program:
    """The compiled kernel of a plan."""
    return program(plan.file, plan.name, plan.arch, plan.options)
