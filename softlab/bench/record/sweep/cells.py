"""What the sweep measures: lengths drawn at random, an operator and a type for each, and how a launch is written down.

A :class:`Job` is one launch as plain data, so that ``prepare`` can write it and ``measure`` can run it elsewhere.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from softlab.bench.record.fast_workloads import Workload
from softlab.dtypes import element_type
from softlab.plans import Plan

#: Bytes of each input. A row of the longest is at most half of it.
INPUT_BYTES = 1 << 28
LENGTHS, LONGEST = 440, 1 << 24
SEED = 18
DTYPES = ("float32", "float16", "bfloat16", "float64")
FORWARD, BACKWARD = ("softmax", "log_softmax"), ("softmax_backward", "log_softmax_backward")
#: PyTorch is measured, too, in one cell of this number.
TORCH_SHARE = 3


@dataclass(frozen=True)
class SweepCell:
    """A problem, the policy that plans it, and whether PyTorch is measured on it, too."""

    work: Workload
    policy: str = "fast"
    torch: bool = False


@dataclass(frozen=True)
class Job:
    """A launch that is timed: a cell (op, dtype, rows, cols), and the kernel that computes it.

    ``label`` is the policy, or the name of another candidate for the same cell. ``program`` is an index into the
    compiled kernels. ``torch``: PyTorch is measured on this cell, too.
    """

    op: str
    dtype: str
    rows: int
    cols: int
    label: str
    kernel: str
    program: int
    grid: int
    block: tuple[int, int]
    smem_bytes: int
    cooperative: bool
    workspace_bytes: int
    torch: bool = False

    @property
    def work(self) -> Workload:
        """The cell as the recorders of policy "fast" know it."""
        return Workload("sweep", self.op, self.dtype, self.rows, self.cols)


def job_of(plan: Plan, label: str, program: int, torch: bool) -> Job:
    """A plan as a job."""
    return Job(
        plan.op, plan.dtype, plan.rows, plan.cols, label, plan.kernel, program, plan.grid, plan.block, plan.smem_bytes,
        plan.cooperative, plan.workspace_bytes, torch,
    )  # fmt: skip


def lengths(seed: int = SEED) -> list[int]:
    """Row lengths, log-uniform from 1 to 2^24."""
    drawn = random.Random(seed)
    most = LONGEST.bit_length() - 1
    return [int(2 ** drawn.uniform(0, most)) for _ in range(LENGTHS)]


def workloads(seed: int = SEED) -> Iterator[tuple[Workload, bool]]:
    """The cells, and whether PyTorch is measured on them.

    Each length has an operator and a gradient, each with a type drawn at random. Cells with one type and one number
    of inputs follow one another.
    """
    drawn = random.Random(seed + 1)
    cells: dict[Workload, bool] = {}
    for cols in lengths(seed):
        for ops in (FORWARD, BACKWARD):
            op, dtype = drawn.choice(ops), drawn.choice(DTYPES)
            rows = INPUT_BYTES // (cols * element_type(dtype).itemsize)
            cells.setdefault(Workload("sweep", op, dtype, rows, cols), drawn.randrange(TORCH_SHARE) == 0)
    order = sorted(cells, key=lambda work: (DTYPES.index(work.dtype), work.inputs, work.cols, work.op))
    yield from ((work, cells[work]) for work in order)
