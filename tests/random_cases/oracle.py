"""What the operators must give: each formula once, in the arithmetic of :mod:`tests.random_cases.bounds`.

Only two things are taken from the kernels: the formula, and how many additions lie on the longest way from a term to
its row's sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from softlab.plans import Plan
from tests.random_cases.bounds import Approx, Arithmetic


def softmax(arithmetic: Arithmetic, x: Approx, additions: int) -> Approx:
    """exp(x - m) / sum(exp(x - m)) along the last axis.

    The result is the same whatever m is, and the kernel subtracts one and the same number from the whole row: that its
    m is only near the largest x adds nothing to the bound. So it is for log_softmax.
    """
    exponential = arithmetic.exp(arithmetic.subtract(x, arithmetic.largest(x)))
    return arithmetic.divide(exponential, arithmetic.sum(exponential, additions))


def log_softmax(arithmetic: Arithmetic, x: Approx, additions: int) -> Approx:
    """(x - m) - log(sum(exp(x - m))) along the last axis."""
    difference = arithmetic.subtract(x, arithmetic.largest(x))
    total = arithmetic.sum(arithmetic.exp(difference), additions)
    return arithmetic.subtract(difference, arithmetic.log(total))


def softmax_backward(arithmetic: Arithmetic, dy: Approx, y: Approx, additions: int) -> Approx:
    """(dy - sum(y * dy)) * y along the last axis."""
    total = arithmetic.sum(arithmetic.multiply(y, dy), additions)
    return arithmetic.multiply(arithmetic.subtract(dy, total), y)


def log_softmax_backward(arithmetic: Arithmetic, dy: Approx, y: Approx, additions: int) -> Approx:
    """dy - exp(y) * sum(dy) along the last axis."""
    total = arithmetic.sum(dy, additions)
    return arithmetic.subtract(dy, arithmetic.multiply(arithmetic.exp(y), total))


FORWARD: Mapping[str, Callable[[Arithmetic, Approx, int], Approx]] = MappingProxyType(
    {"softmax": softmax, "log_softmax": log_softmax}
)
BACKWARD: Mapping[str, Callable[[Arithmetic, Approx, Approx, int], Approx]] = MappingProxyType(
    {"softmax_backward": softmax_backward, "log_softmax_backward": log_softmax_backward}
)


def additions(plan: Plan) -> int:
    """At most so many additions of the plan's kernel lie between a term and its row's sum (the first adds to 0)."""
    return _ADDITIONS[plan.kernel](plan)


def _of_lanes(plan: Plan) -> int:
    """A lane's own columns, then a butterfly over the group."""
    assert plan.cols_per_thread
    assert plan.thread_group_width
    return plan.cols_per_thread - 1 + (plan.thread_group_width.bit_length() - 1)


def _of_block(plan: Plan) -> int:
    """A thread's own columns, 5 shuffles in its warp, and the warps one after the other (``cub::BlockReduce``)."""
    packs = -(-plan.cols // plan.pack_size)
    own = -(-packs // plan.block_size) * plan.pack_size
    return own - 1 + 5 + plan.block_size // 32 - 1


_ADDITIONS: Mapping[str, Callable[[Plan], int]] = MappingProxyType(
    {"warp": _of_lanes, "block_smem": _of_block, "block_uncached": _of_block}
)
