"""What the kernels of policy "fast" share: a row as they see it, their names, instantiations and grids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from softlab.errors import PlanError
from softlab.plans.fast_limits import LIMITS, MOST_BLOCKS, Limits
from softlab.plans.instantiations import WIDEST_PACK_BYTES, Instantiation
from softlab.plans.planner import PlanRequest, StepLog

TILE, WARP, BLOCK, CLUSTER, GRID, RING, PIPELINE, STREAM = KERNELS = (
    "fast_tile", "fast_warp", "fast_block", "fast_cluster", "fast_grid", "fast_ring", "fast_pipeline", "fast_stream",
)  # fmt: skip
#: The policy whose sums have the same bits in any order, its kernels, and their file.
INVARIANT, INVARIANT_FILE = "invariant", "invariant.cuh"
INVARIANT_KERNELS = tuple(k.replace("fast_", "invariant_") for k in (TILE, WARP, BLOCK, CLUSTER, STREAM))
#: What every policy asks.
WHICH = "Which kernel?"


@dataclass(frozen=True)
class Row:
    """A row as the kernels see it: ``packs`` whole packs of ``pack_size`` elements, ``unaligned`` if there is more."""

    pack_size: int
    packs: int
    unaligned: bool
    inputs: int
    limits: Limits


def row_of(request: PlanRequest, log: StepLog) -> Row:
    """The row of a request: its packs, as the caller or the width of an access decides."""
    inputs = request.operator.rows_kept
    limits = LIMITS[request.element.itemsize, inputs]
    widest = WIDEST_PACK_BYTES // request.element.itemsize
    question = "How many elements does a thread move at once?"
    if request.pack_size:
        pack_size = log.note(question, request.pack_size, "asked for")
        if request.cols % pack_size:
            raise PlanError(f"packs of {pack_size} do not divide a row of {request.cols} columns; use a pack of 1")
        return Row(pack_size, request.cols // pack_size, False, inputs, limits)
    pack_size = log.note(
        question, widest, "16 bytes, the most that one instruction moves", itemsize=request.element.itemsize
    )
    question = "Do rows begin and end at a multiple of 16 bytes?"
    whole = log.note(question, request.cols % pack_size == 0, "else each has a head and a tail", cols=request.cols)
    return Row(pack_size, max(1, request.cols // pack_size), not whole, inputs, limits)


def is_wide(request: PlanRequest, row: Row) -> bool:
    """Whether a pack is as wide as an access can be: only then it is known how many registers it takes."""
    return row.pack_size * request.element.itemsize == WIDEST_PACK_BYTES


def grid_of(request: PlanRequest, log: StepLog, blocks: int, rule: str) -> int:
    """The blocks for all rows, or the most that a grid can have. 16 divides that number."""
    return log.note("How many blocks?", min(blocks, MOST_BLOCKS), rule, rows=request.rows)


def whole_grid(request: PlanRequest, log: StepLog, blocks: int, rule: str, **values: Any) -> int:
    """The blocks for all rows, of a kernel that has no loop over rows. ``values``: what the rule counts, if not rows.

    Raises:
        PlanError: a grid cannot have this many blocks.
    """
    if blocks > MOST_BLOCKS:
        raise PlanError(f"a grid has at most {MOST_BLOCKS} blocks; {request.rows} rows take {blocks}")
    return log.note("How many blocks?", blocks, rule, **(values or {"rows": request.rows}))


def kernel_of(
    request: PlanRequest, kernel: str, numbers: Sequence[int | str], flag: bool | None, more: tuple[int, ...] = ()
) -> Instantiation:
    """The kernel with these template arguments: ``numbers``, ``flag`` if there is one, and ``more`` behind it."""
    operator = request.operator
    file = INVARIANT_FILE if request.policy == INVARIANT else f"{kernel}.cuh"
    kernel = name_of(request, kernel)
    template = f"{kernel}_backward" if operator.backward else kernel
    listed = ", ".join(
        (
            request.element.cuda,
            f"Algorithm::{operator.algorithm}",
            *map(str, numbers),
            *(() if flag is None else (str(flag).lower(),)),
            *map(str, more),
        )
    )
    return Instantiation(file, f"{template}<{listed}>")


def name_of(request: PlanRequest, kernel: str) -> str:
    """A kernel's name under the request's policy: "invariant_block" for "fast_block"."""
    return kernel.replace("fast_", "invariant_") if request.policy == INVARIANT else kernel


def take(request: PlanRequest, log: StepLog, kernel: str, rule: str, **values: Any) -> str:
    """Note which kernel is taken, and return its name."""
    kernels = KERNELS if request.policy != INVARIANT else INVARIANT_KERNELS
    name: str = log.note(WHICH, name_of(request, kernel), rule, kernels, **values)
    return name
