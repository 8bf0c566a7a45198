"""What the operators must give: each formula once, in the arithmetic of :mod:`tests.random_cases.bounds`.

Two things are taken from the kernels: the formula, and how many additions and exponentials they take for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from softlab.plans import Plan
from tests.random_cases.bounds import Approx, Arithmetic
from tests.random_cases.fusions import CaseFusion


@dataclass(frozen=True)
class Evaluation:
    """How a kernel comes to a row's result.

    ``additions``: at most this many are between a term and its row's sum (the first adds to 0). ``factors``: an
    exponential of a row whose parts have maxima of their own is a product of so many; see :meth:`Arithmetic.exp`, for
    ``flushed``, too. ``reciprocal``: the row's result is a product with 1 / sum, not a quotient. ``drops_stored``:
    dropout scales results that have been converted to the element type.
    """

    additions: int
    factors: int = 1
    flushed: bool = False
    reciprocal: bool = False
    drops_stored: bool = False

    def __or__(self, other: Evaluation) -> Evaluation:
        """An evaluation no more exact than either."""
        return Evaluation(
            max(self.additions, other.additions),
            max(self.factors, other.factors),
            self.flushed or other.flushed,
            self.reciprocal or other.reciprocal,
            self.drops_stored or other.drops_stored,
        )


def softmax(arithmetic: Arithmetic, x: Approx, evaluation: Evaluation) -> Approx:
    """exp(x - m) / sum(exp(x - m)) along the last axis.

    The result is the same whatever m is, and the kernel subtracts one and the same number from the whole row: that its
    m is only near the largest x adds no more to the bound than :meth:`Arithmetic.from_largest` says. So it is for
    log_softmax.
    """
    difference, away = arithmetic.from_largest(x)
    exponential = arithmetic.exp(difference, evaluation.factors, evaluation.flushed, away)
    total = arithmetic.sum(exponential, evaluation.additions)
    if evaluation.reciprocal:
        return arithmetic.multiply(exponential, arithmetic.divide(arithmetic.constant(1), total))
    return arithmetic.divide(exponential, total)


def log_softmax(arithmetic: Arithmetic, x: Approx, evaluation: Evaluation) -> Approx:
    """(x - m) - log(sum(exp(x - m))) along the last axis."""
    difference, away = arithmetic.from_largest(x)
    total = arithmetic.sum(
        arithmetic.exp(difference, evaluation.factors, evaluation.flushed, away), evaluation.additions
    )
    return arithmetic.subtract(difference, arithmetic.log(total, away))


def softmax_backward(arithmetic: Arithmetic, dy: Approx, y: Approx, evaluation: Evaluation) -> Approx:
    """(dy - sum(y * dy)) * y along the last axis."""
    total = arithmetic.sum(arithmetic.multiply(y, dy), evaluation.additions)
    return arithmetic.multiply(arithmetic.subtract(dy, total), y)


def log_softmax_backward(arithmetic: Arithmetic, dy: Approx, y: Approx, evaluation: Evaluation) -> Approx:
    """dy - exp(y) * sum(dy) along the last axis."""
    total = arithmetic.sum(dy, evaluation.additions)
    return arithmetic.subtract(dy, arithmetic.multiply(arithmetic.exp(y, 1, evaluation.flushed), total))


FORWARD: Mapping[str, Callable[[Arithmetic, Approx, Evaluation], Approx]] = MappingProxyType(
    {"softmax": softmax, "log_softmax": log_softmax}
)
BACKWARD: Mapping[str, Callable[[Arithmetic, Approx, Approx, Evaluation], Approx]] = MappingProxyType(
    {"softmax_backward": softmax_backward, "log_softmax_backward": log_softmax_backward}
)


def fused_input(arithmetic: Arithmetic, x: Approx, fusion: CaseFusion, bias: Approx | None, kept: np.ndarray) -> Approx:
    """What the softmax is taken of: scale * x + bias, and ``fill`` where it is not ``kept``."""
    if fusion.scale is not None:
        x = arithmetic.multiply(x, arithmetic.constant(fusion.scale))
    if bias is not None:
        x = arithmetic.add(x, bias)
    return arithmetic.where(kept, x, arithmetic.constant(fusion.fill))


def dropped(arithmetic: Arithmetic, y: Approx, fusion: CaseFusion, stays: np.ndarray) -> Approx:
    """y / (1 - probability) where an element ``stays``, else 0: behind a softmax, and before its gradient."""
    scaled = arithmetic.multiply(y, arithmetic.constant(1 / (1 - fusion.dropout)))
    return arithmetic.where(stays, scaled, arithmetic.constant(0))


def fused_gradient(arithmetic: Arithmetic, dx: Approx, fusion: CaseFusion, kept: np.ndarray) -> Approx:
    """The gradient with respect to x, of that with respect to what the softmax is taken of."""
    dx = arithmetic.where(kept, dx, arithmetic.constant(0))
    return dx if fusion.scale is None else arithmetic.multiply(dx, arithmetic.constant(fusion.scale))


def evaluation(plan: Plan) -> Evaluation:
    """How the plan's kernel evaluates the formula."""
    return _EVALUATIONS[plan.kernel](plan)


def _of_lanes(plan: Plan) -> Evaluation:
    """A lane's own columns, then a butterfly over the group."""
    assert plan.cols_per_thread
    assert plan.thread_group_width
    return Evaluation(plan.cols_per_thread - 1 + (plan.thread_group_width.bit_length() - 1))


def _of_block(plan: Plan) -> Evaluation:
    """A thread's own columns, 5 shuffles in its warp, and the warps one after the other (``cub::BlockReduce``)."""
    packs = -(-plan.cols // plan.pack_size)
    own = -(-packs // plan.block_size) * plan.pack_size
    return Evaluation(own - 1 + 5 + plan.block_size // 32 - 1)


def _of_fast_lanes(plan: Plan) -> Evaluation:
    """A lane's own packs, and its part of the row's head and tail; then a butterfly over the group."""
    assert plan.cols_per_thread
    assert plan.thread_group_width
    width = plan.thread_group_width
    return _fast(plan.cols_per_thread + _edges(plan, width) - 1 + (width.bit_length() - 1), 1)


def _of_fast_tile(plan: Plan) -> Evaluation:
    """A lane's own vectors and, in a row of an odd number of 16-bit elements, one more; then a butterfly."""
    _, vector_size, vectors, width, *_ = map(int, re.findall(r"(?<=, )\d+", plan.name))
    return replace(_fast(vectors * vector_size + 1 - 1 + (width.bit_length() - 1), 1), drops_stored=True)


def _of_fast_blocks(plan: Plan) -> Evaluation:
    """As a lane, then 5 shuffles in the warp; the warps of all blocks of the cluster are parts with own maxima."""
    return _fast(_of_parts(plan), 2)


def _of_fast_grid(plan: Plan) -> Evaluation:
    """As blocks, but then the statistics of all blocks that share the row, and its head's and tail's, are parts again:
    32 lanes of a warp take them one after the other, and a butterfly merges the lanes'."""
    *_, packs, _, _, block_size, shares = map(int, re.findall(r"(?<=, )\d+", plan.name))
    of_block = packs * plan.pack_size - 1 + 5 + (block_size // 32).bit_length() - 1
    return _fast(of_block + -(-(shares + 1) // 32) - 1 + 5, 3)


def _of_fast_ring(plan: Plan) -> Evaluation:
    """As the grid kernel, but a thread takes its packs one after the other: each may scale the sum so far down."""
    _, packs, *_, kept, block_size, shares = map(int, re.findall(r"(?<=, )\d+", plan.name))
    packs += kept
    of_block = packs * plan.pack_size + 5 + (block_size // 32).bit_length() - 1
    return _fast(of_block + -(-(shares + 1) // 32) - 1 + 5, packs + 3)


def _of_fast_stream(plan: Plan) -> Evaluation:
    """A thread's own sum is scaled down whenever a pass brings a larger element: at most once for each pass."""
    _, packs, *_ = map(int, re.findall(r"(?<=, )\d+", plan.name))
    passes = -(-_packs_per_thread(plan) // packs)
    return _fast(_of_parts(plan), passes + 3)


def _of_fast_columns(plan: Plan) -> Evaluation:
    """A thread has the row."""
    return _fast(plan.cols, 1)


def _of_fast_strided(plan: Plan) -> Evaluation:
    """A thread takes its elements of a row chunk by chunk. Then its warp's lanes of the same row, the block's warps and
    the cluster's blocks are parts with own maxima."""
    _, packs, lanes, block_size, cluster, _ = map(int, re.findall(r"(?<=, )\d+", plan.name))
    depth = block_size // lanes
    share = -(-plan.cols // cluster)
    chunks = max(1, -(-share // (packs * depth)))
    merged = depth + cluster  # lanes merge by shuffles; warps and blocks may be merged one after the other
    return _fast(chunks * packs + merged, chunks + 4)


def _of_fast_strip_grid(plan: Plan) -> Evaluation:
    """A thread takes its elements of a row in chunks of 4. Then the threads below each other, the blocks that share the
    strip, as lanes of a warp, and the parts that a lane has are parts with own maxima."""
    pack_size, width, _, block_size, blocks = map(int, re.findall(r"(?<=, )\d+", plan.name))
    depth = block_size // (width // pack_size)
    share = -(-plan.cols // blocks)
    own = -(-share // depth)
    each = -(-blocks // 32)
    return _fast(own + depth + each + 5, -(-own // 4) + depth + 2)


def _of_integers(plan: Plan) -> Evaluation:
    """Each term is rounded to a multiple of 2^-36 (double: 2^-75) of the largest one, the integers are added without an
    error, and their sum is rounded twice on its way to a float: as so many additions."""
    per_addition = 2 ** (76 - 53) if plan.dtype == "float64" else 2 ** (37 - 24)
    return _fast(2 + -(-plan.cols // per_addition), 1)


def _fast(additions: int, factors: int) -> Evaluation:
    return Evaluation(additions, factors, flushed=True, reciprocal=True)


def _of_parts(plan: Plan) -> int:
    parts = (plan.cluster or 1) * plan.block_size // 32
    merged = max(parts // 32, 1) - 1 + (min(parts, 32).bit_length() - 1)
    return _packs_per_thread(plan) * plan.pack_size + _edges(plan, plan.block_size) - 1 + 5 + merged


def _packs_per_thread(plan: Plan) -> int:
    """Each block of a cluster has a share of the row in multiples of 8 packs."""
    packs, cluster = -(-plan.cols // plan.pack_size), plan.cluster or 1
    share = -(-packs // cluster)
    if cluster > 1:
        share += -share % 8
    return -(-share // plan.block_size)


def _edges(plan: Plan, threads: int) -> int:
    """Elements of head and tail, less than a pack each, that a thread has."""
    return -(-2 * (plan.pack_size - 1) // threads)


_EVALUATIONS: Mapping[str, Callable[[Plan], Evaluation]] = MappingProxyType(
    {
        "warp": _of_lanes,
        "block_smem": _of_block,
        "block_uncached": _of_block,
        "fast_tile": _of_fast_tile,
        "fast_warp": _of_fast_lanes,
        "fast_block": _of_fast_blocks,
        "fast_cluster": _of_fast_blocks,
        "fast_grid": _of_fast_grid,
        "fast_ring": _of_fast_ring,
        "fast_pipeline": _of_fast_blocks,
        "fast_stream": _of_fast_stream,
        "fast_columns": _of_fast_columns,
        "fast_strided": _of_fast_strided,
        "fast_strided_stream": _of_fast_strided,
        "fast_shifted": _of_fast_strided,
        "fast_shifted_stream": _of_fast_strided,
        "fast_strip_grid": _of_fast_strip_grid,
        "invariant_tile": _of_integers,
        "invariant_warp": _of_integers,
        "invariant_block": _of_integers,
        "invariant_cluster": _of_integers,
        "invariant_stream": _of_integers,
    }
)
