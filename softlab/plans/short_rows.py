"""Short rows: what a row costs in the warp kernel of the policy "fast" and in the reference's warp kernel.

Three things bound a kernel that keeps a row in a few lanes. :class:`Cost` has all three, and the largest is the cost:

- ``issue``: the instructions of a warp. A warp spends them for all 32 lanes, also for those that hold nothing. A row of
  any length costs ``fast_warp`` the most elements that a head and a tail can have, each moved on its own.
- ``sectors``: the parts of sectors that lanes touch one by one. In a head or tail each row has a sector of its own, and
  every instruction touches it again.
- ``memory``: the bytes that device memory moves in any case.

The unit is the time of one element that every lane of a warp moves on its own (one load, the arithmetic, one store):
7.5 cycles of an SM of an H200. The weights were fitted to the times of both kernels at 1 to 64 columns on an H200
(kernels/FAST.md, "Short rows").
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from softlab.plans.instantiations import WARP_SIZE, WarpShape

#: The least that memory moves, and a head of ``fast_row.cuh`` ends at a multiple of it.
SECTOR_BYTES = 32
#: What device memory moves for one SM in one unit of time: 4100 GB/s over 132 SMs, 7.5 cycles at 1.98 GHz.
MEMORY_BYTES = 118
#: Units of time for each part of a sector that an instruction touches. The L2 cache reads a word of 4 bytes before it
#: writes a part of it, so elements of 2 bytes cost more.
SECTOR_TIME = {2: 0.11, 4: 0.06, 8: 0.06}

#: How sharp the largest term bounds a kernel in :attr:`Cost.blended`.
BLEND = 6
#: How much of memory's time a kernel may cost, blended, whose instructions count as hidden: they take 0.95 of it.
HIDDEN = 1.1


@dataclass(frozen=True)
class Weights:
    """Units of time of a warp's instructions.

    ``row``, ``single`` and ``packed`` belong to ``fast_warp``: a row's own instructions, an element that a lane moves
    on its own, an element of a pack. ``reference_row`` and ``reference_element`` belong to the reference's kernel. It
    needs ``reference_iteration`` more where it takes one row at a time instead of two. ``step`` is one step of all
    butterflies between lanes, in both kernels.
    """

    row: float
    single: float
    packed: float
    step: float
    reference_row: float
    reference_element: float
    reference_iteration: float


#: Arithmetic in float; the gradient's has no maximum and fewer steps for each element.
_FORWARD = Weights(3.5, 1, 0.5, 0.1, 1, 1, 1.2)
_BACKWARD = Weights(3.5, 1, 0.5, 0.1, 1, 0.8, 1.2)
#: An exponential of a double takes the library, which the reference calls, about twice the instructions of
#: ``fast_operator.cuh``; the logarithm of a double, which each lane takes, costs as much as an element.
_DOUBLE = Weights(4.5, 2.9, 2.33, 0.35, 1.3, 4, 1)
_DOUBLE_LOG = Weights(4.5, 2.9, 2.33, 0.35, 4.8, 4, 1)


@dataclass(frozen=True)
class Problem:
    """Rows of ``cols`` elements of ``itemsize`` bytes, from ``inputs`` arrays into one more; ``op``: the operator."""

    cols: int
    itemsize: int
    inputs: int
    op: str

    @property
    def weights(self) -> Weights:
        """What instructions cost this operator."""
        if self.itemsize == 8 and self.op != "softmax_backward":
            return _DOUBLE_LOG if self.op.startswith("log_softmax") else _DOUBLE
        return _BACKWARD if self.inputs > 1 else _FORWARD

    @property
    def memory(self) -> float:
        """Units of time that device memory needs for 32 rows."""
        return WARP_SIZE * (self.inputs + 1) * self.cols * self.itemsize / MEMORY_BYTES


@dataclass(frozen=True)
class Cost:
    """What 32 rows cost an SM, in units of time: see the module."""

    issue: float
    sectors: float
    memory: float

    @property
    def most(self) -> float:
        """The largest of the three bounds the kernel."""
        return max(self.issue, self.sectors, self.memory)

    @property
    def blended(self) -> float:
        """As :attr:`most`, where the bounds hide one another only in part: 12 % more if two of them are equal."""
        return sum(term**BLEND for term in (self.issue, self.sectors, self.memory)) ** (1 / BLEND)


def most_head_tail(itemsize: int, pack_size: int) -> int:
    """The most elements that a head and a tail of ``fast_row.cuh`` can have."""
    return max(SECTOR_BYTES // itemsize, pack_size) - 1 + pack_size - 1


def of_fast(problem: Problem, shape: WarpShape, *, unaligned: bool) -> Cost:
    """What 32 rows cost in ``fast_warp``: ``shape`` holds the packs, a head and a tail come on top if ``unaligned``."""
    width = shape.thread_group_width
    packs = shape.cols_per_thread // shape.pack_size
    single = most_head_tail(problem.itemsize, shape.pack_size) if unaligned else 0
    # On average a head and a tail have half of the most elements. A group of lanes moves `width` of them at once.
    touches = ceil(min(problem.cols, single / 2) / width)
    touched = max(min(1.0, problem.cols * problem.itemsize / SECTOR_BYTES), width * problem.itemsize / SECTOR_BYTES)
    sectors = WARP_SIZE * (problem.inputs + 1) * touches * touched * SECTOR_TIME[problem.itemsize]
    return Cost(issue(problem, shape.pack_size, packs, width, unaligned=unaligned), sectors, problem.memory)


def issue(problem: Problem, pack_size: int, packs: int, threads: int, *, unaligned: bool) -> float:
    """Units of the instructions of 32 rows, each shared by ``threads`` threads with ``packs`` packs of each input."""
    weights = problem.weights
    single = most_head_tail(problem.itemsize, pack_size) if unaligned else 0
    held = packs * max(weights.single, weights.packed * pack_size) + ceil(single / threads) * weights.single
    return threads * (weights.row + held + weights.step * _steps(threads))


def of_reference(problem: Problem, shape: WarpShape) -> Cost:
    """What 32 rows cost in the reference's warp kernel. Neighbouring lanes always touch neighbouring packs."""
    weights, width = problem.weights, shape.thread_group_width
    row = weights.reference_row + (weights.reference_iteration if _alone(shape) else 0)
    held = shape.cols_per_thread * weights.reference_element
    return Cost(width * (row + held + weights.step * _steps(width)), 0.0, problem.memory)


def _alone(shape: WarpShape) -> bool:
    """Whether a warp takes one row at a time."""
    return shape.rows_per_access == 1


def _steps(width: int) -> int:
    return width.bit_length() - 1
