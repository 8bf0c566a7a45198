"""The oracle of row softmax: NumPy in extended precision, with a tolerance that follows from rounding alone.

Nothing here knows how a kernel works but for the bound on how many additions a value goes through. For each element of
the result the tolerance adds up what the arithmetic is allowed to lose (first order, each bound from the CUDA C++
Programming Guide, "Mathematical Functions"):

| step | float, fast | accurate |
|---|---|---|
| d = x - max | u relative, so \\|d\\| u in the exponent | the same |
| exp(d) | 2 + 1.173 \\|d\\| ulp (``__expf``) | 1 ulp float (2 before CUDA 12), 1 ulp double |
| S = sum of exp(d) | the weighted mean of the terms' errors, and u for each addition on the longest path | the same |
| e / S | 2 ulp (``__fdividef``) | half an ulp |
| log(S) | 2^-21.41 absolute between 0.5 and 2, else 3 ulp (``__logf``) | 1 ulp |
| d - log(S) | u relative | the same |
| conversion to the element type | half an ulp of that type, and half its smallest subnormal | the same |

u is half an ulp of 1: 2^-24 in float, 2^-53 in double. One ulp is at most 2u relative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Reference:
    """What softmax of an input must be: ``value`` and the ``tolerance`` of each element, in extended precision."""

    value: np.ndarray
    tolerance: np.ndarray


def longest_path(cols: int) -> int:
    """The most additions between an element and its row's sum.

    A lane of the warp kernel adds up to cols / 32 elements, then come 5 shuffles; it takes up to 1024 columns. A thread
    of a block of 128 or more adds up to cols / 128 elements, then come 5 shuffles and up to 32 warps.
    """
    block = -(-cols // 128) + 5 + 32
    return max(block, -(-cols // 32) + 5) if cols <= 1024 else block


def reference(x: np.ndarray, op: str = "softmax", *, accurate: bool = False, wanted: Any = None) -> Reference:
    """The oracle along the last axis of x; ``wanted`` is the result's dtype where it is not x's."""
    compute = np.finfo(np.float64 if x.dtype == np.float64 else np.float32)
    fast = compute.dtype == np.float32 and not accurate
    unit = float(compute.eps) / 2
    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        wide = x.astype(np.longdouble)
        difference = wide - wide.max(axis=-1, keepdims=True)
        exponential = np.exp(difference)
        total = exponential.sum(axis=-1, keepdims=True)

        # Terms of 0 (-inf among them) are exact: no relative error, and no inf * 0.
        size = np.where(exponential > 0, np.abs(difference), 0)
        ulps = 2 + 1.173 * size if fast else np.full_like(size, 2)
        of_exponential = size * unit + ulps * 2 * unit
        of_total = (of_exponential * exponential).sum(axis=-1, keepdims=True) / total + longest_path(x.shape[-1]) * unit

        if op == "softmax":
            value = exponential / total
            of_quotient = 4 * unit if fast else unit
            # The smallest normal number: an exponential beneath it may lose bits, or be flushed.
            error = value * (of_exponential + of_total + of_quotient) + compute.smallest_normal
        else:
            logarithm = np.log(total)
            value = difference - logarithm
            of_logarithm = np.maximum(2.0**-21.41 if fast else unit, (6 if fast else 2) * unit * np.abs(logarithm))
            error = np.where(np.isfinite(difference), np.abs(difference), 0) * unit + of_total + of_logarithm
            error = error + _finite_size(value) * unit
    return _converted(value, error, wanted or x.dtype, compute)


def gradient_reference(
    dy: np.ndarray, y: np.ndarray, op: str = "softmax_backward", *, accurate: bool = False, wanted: Any = None
) -> Reference:
    """The oracle of a gradient along the last axis: of the dy and y that the kernel is given, whatever they are.

    Rounding, step by step, with u and the ulps of the table above: a product y * dy is off by u relative, the sum of
    the products by u of the sum of their sizes for each addition on the longest path; a difference and a product by u.
    """
    result, compute = wanted or dy.dtype, np.finfo(np.float64 if dy.dtype == np.float64 else np.float32)
    fast = compute.dtype == np.float32 and not accurate
    unit, smallest = float(compute.eps) / 2, float(compute.smallest_normal)
    additions = longest_path(dy.shape[-1])
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        dy, y = dy.astype(np.longdouble), y.astype(np.longdouble)
        if op == "softmax_backward":
            terms = y * dy
            total = terms.sum(axis=-1, keepdims=True)
            of_total = (additions + 1) * unit * _finite_size(terms).sum(axis=-1, keepdims=True) + smallest
            difference = dy - total
            value = difference * y
            error = (_finite_size(difference) * unit + of_total) * _finite_size(y) + _finite_size(value) * unit
        else:
            total = dy.sum(axis=-1, keepdims=True)
            of_total = additions * unit * _finite_size(dy).sum(axis=-1, keepdims=True)
            exponential = np.exp(y)
            ulps = 2 + 1.173 * _finite_size(y) if fast else 2
            of_exponential = exponential * ulps * 2 * unit + smallest
            product = exponential * total
            value = dy - product
            error = of_exponential * _finite_size(total) + exponential * of_total
            error = error + (_finite_size(product) + _finite_size(value)) * unit
    return _converted(value, error + smallest, result, compute)


def _finite_size(values: np.ndarray) -> np.ndarray:
    """The size of what is finite; 0 for NaN and infinities, which are exact or wrong."""
    return np.where(np.isfinite(values), np.abs(values), 0)


def _converted(value: np.ndarray, error: np.ndarray, dtype: Any, compute: Any) -> Reference:
    """The value with the error that its arithmetic may have, rounded to the result's dtype."""
    result = ml_dtypes.finfo(dtype)
    # What is more than half an ulp beyond the largest number of the type is rounded to infinity.
    with np.errstate(invalid="ignore", over="ignore"):
        overflows = np.abs(value) > float(result.max) * (1 + float(result.eps) / 4)
        value = np.where(overflows, np.copysign(np.inf, value), value)
        conversion = _finite_size(value) * float(result.eps) / 2 + float(result.smallest_subnormal) / 2
        # Where long double is no wider than double the oracle itself errs, as the accurate kernel does.
        oracle = error if np.finfo(np.longdouble).eps >= compute.eps else 0
        tolerance = 1.01 * (error + oracle) + conversion  # 1 %: the products of errors that the first order leaves out
    return Reference(value, tolerance)


def assert_softmax(
    got: np.ndarray, x: np.ndarray, op: str = "softmax", *, accurate: bool = False, what: str = ""
) -> None:
    """``got`` is the operator's result for x along the last axis, or the first element that is not says so."""
    expected = reference(x, op, accurate=accurate, wanted=got.dtype)
    assert got.shape == x.shape, f"{what}: shape {got.shape}, expected {x.shape}"
    assert_within(got, expected.value, expected.tolerance, what)


def assert_gradient(
    got: np.ndarray,
    dy: np.ndarray,
    y: np.ndarray,
    op: str = "softmax_backward",
    *,
    accurate: bool = False,
    what: str = "",
) -> None:
    """``got`` is the gradient operator's result for dy and y along the last axis."""
    expected = gradient_reference(dy, y, op, accurate=accurate, wanted=got.dtype)
    assert got.shape == dy.shape, f"{what}: shape {got.shape}, expected {dy.shape}"
    assert_within(got, expected.value, expected.tolerance, what)


def assert_within(got: np.ndarray, expected: np.ndarray, tolerance: np.ndarray, what: str = "") -> None:
    """Each element is within its tolerance; NaN and infinities must agree. The message shows the first that is not."""
    wide = np.asarray(got).astype(np.longdouble)
    with np.errstate(invalid="ignore"):
        same = (wide == expected) | (np.isnan(wide) & np.isnan(expected))
        wrong = ~(same | (np.abs(wide - expected) <= tolerance))
    if not wrong.any():
        return
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    allowed = float(np.broadcast_to(tolerance, wide.shape)[first])
    raise AssertionError(
        f"{what}: {np.count_nonzero(wrong)} of {wide.size} elements are off; the first at {first}: "
        f"got {wide[first]!s}, expected {expected[first]!s} +- {allowed:.3g}"
    )


def ulps_apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How many representable numbers are between a and b, element by element (NaN to NaN: 0; NaN to a number: huge)."""
    integers = {2: np.int16, 4: np.int32, 8: np.int64}[a.dtype.itemsize]
    assert a.dtype == b.dtype

    def ordered(values: np.ndarray) -> np.ndarray:
        bits = np.ascontiguousarray(values).view(integers).astype(np.int64)
        return np.where(bits < 0, np.iinfo(integers).min - bits, bits)

    apart = np.abs(ordered(a) - ordered(b))
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    return np.where(nan_a & nan_b, 0, np.where(nan_a | nan_b, np.iinfo(np.int64).max, apart))
