"""Arithmetic that knows how far off it may be: a running error analysis, in numbers wider than the kernels'.

An :class:`Approx` is a real number and a bound: a kernel's value for it is within ``error`` of ``value``.
Each operation of an :class:`Arithmetic` gives the exact result of the two values and a bound for what a GPU may make of
any operands within their bounds (Higham, "Accuracy and Stability of Numerical Algorithms", 3.3): first what the
operands' errors do to the exact result, then what the operation itself may lose, from NVIDIA's CUDA C++ Programming
Guide, "Mathematical Functions":

| operation | float, fast | float, accurate | double |
|---|---|---|---|
| a + b, a - b, a * b, conversion | half an ulp | the same | the same |
| sum of n terms | u times the sum of the magnitudes for each addition on the longest path | the same | the same |
| exp(a) | 2 + floor(1.173 \\|a\\|) ulp (``__expf``) | 2 ulp (1 since CUDA 12) | 1 ulp |
| a / b | 2 ulp (``__fdividef``) | half an ulp | half an ulp |
| log(a) | 2^-21.41 absolute for a in [0.5, 2], else 3 ulp (``__logf``) | 1 ulp | 1 ulp |

A multiplication and an addition that the compiler makes one (FMA) lose less. No operation may be reordered but for
sums, whose bound holds for every order of that many additions.

Special values. Infinities and NaN are exact, with the error 0: every operation treats them as IEEE 754 does. The error
is infinite where the kernel's value is not determined: an operand's bound reaches over the largest number of the type
(the kernel may or may not have an infinity there), or an infinity meets a number that may be 0. Such elements are
counted, not compared.

The oracle itself rounds. Float is computed in double and double in long double (64 bits of mantissa), so each operation
errs by at most 2^-10 of what it allows the kernel, and :data:`ORACLE` widens the final bound by twice that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import ml_dtypes
import numpy as np

ORACLE = 1 + 2.0**-9


@dataclass(frozen=True)
class Approx:
    """Real numbers and how far off a kernel's may be: arrays of one shape; an infinite error means "anything"."""

    value: np.ndarray
    error: np.ndarray

    @property
    def undetermined(self) -> np.ndarray:
        """Where the kernel's value may be anything."""
        return np.isinf(self.error)


@dataclass(frozen=True)
class Arithmetic:
    """The operations of one compute type, "float32" or "float64"; ``fast``: the intrinsics (float alone has them)."""

    compute: str
    fast: bool

    @cached_property
    def type(self) -> np.finfo:
        """The limits of the compute type."""
        return np.finfo(self.compute)

    @cached_property
    def wide(self) -> type[np.floating]:
        """What the oracle computes in."""
        if self.compute == "float64" and np.finfo(np.longdouble).nmant < 63:
            raise NotImplementedError("float64 needs a long double of 64 bits of mantissa as its oracle")
        return np.float64 if self.compute == "float32" else np.longdouble

    def exact(self, x: np.ndarray) -> Approx:
        """Numbers of the element type, which the compute type holds exactly."""
        return Approx(x.astype(self.wide), np.zeros(x.shape, self.wide))

    def constant(self, number: float) -> Approx:
        """A number that is converted to the compute type before it is used."""
        return self.exact(np.array(number, self.compute))

    def add(self, a: Approx, b: Approx) -> Approx:
        """a + b."""
        with np.errstate(all="ignore"):
            value = a.value + b.value
            return self._rounded(value, a.error + b.error, 0.5, _either_nan(a, b), saturates=True)

    def subtract(self, a: Approx, b: Approx) -> Approx:
        """a - b."""
        return self.add(a, Approx(-b.value, b.error))

    def multiply(self, a: Approx, b: Approx) -> Approx:
        """a * b."""
        with np.errstate(all="ignore"):
            value = a.value * b.value
            error = _size(a.value) * b.error + _size(b.value) * a.error + a.error * b.error
            # An infinity times a number whose sign is not known, or that may be 0.
            unknown = (np.isinf(a.value) | np.isinf(b.value)) & ~(_sign_known(a) & _sign_known(b))
            return self._rounded(value, np.where(unknown, np.inf, error), 0.5, _either_nan(a, b))

    def divide(self, a: Approx, b: Approx) -> Approx:
        """a / b with b away from 0; both finite or NaN."""
        with np.errstate(all="ignore"):
            value = a.value / b.value
            nearest = np.abs(b.value) - b.error
            error = np.where(nearest > 0, (a.error + np.abs(value) * b.error) / nearest, np.inf)
            return self._rounded(value, error, 2 if self.fast else 0.5, _either_nan(a, b))

    def from_largest(self, x: Approx) -> tuple[Approx, np.ndarray]:
        """x - m along the last axis, m the largest of what is no NaN; -inf where all are.

        Where x itself is off, the kernel's m is the largest of other numbers, and so off by at most the largest of
        their errors: the second result. That error is the same for a whole row, and cancels in what softmax makes of
        the differences, so it is not in their bounds. But the differences round, and exponentials err, by their size.
        """
        with np.errstate(all="ignore"):
            value = x.value - np.fmax.reduce(x.value, axis=-1, keepdims=True, initial=-np.inf)
            away = x.error.max(axis=-1, keepdims=True, initial=0)
            nan = np.isnan(x.value) & ~x.undetermined
            rounded = self._rounded(value, x.error + away, 0.5, nan, saturates=True)
            error = np.where(np.isinf(rounded.error), np.inf, rounded.error - np.where(rounded.error > 0, away, 0))
            return Approx(rounded.value, error), away

    def exp(self, a: Approx, factors: int = 1, flushed: bool = False, away: np.ndarray | float = 0) -> Approx:
        """exp(a); the kernel's a may be larger or smaller by ``away`` throughout, see :meth:`from_largest`.

        With several ``factors`` the kernel takes it as exp(a1) exp(a2)..., each a of it 0 or less, their sum a. Then a
        is the difference of two numbers, and its bound has half an ulp of a. Each part is rounded instead, by half an
        ulp of its own: together up to half of eps times a, which is less than an ulp of a (2^k - 1 in parts of 2^(k-1)
        and a little less has 1.5 of its half ulps). Each factor has the error of an exponential, each product of two
        half an ulp more. ``flushed``: a factor beneath the smallest normal number may be 0.
        """
        with np.errstate(all="ignore"):
            value = np.exp(a.value)
            size = _size(a.value) + a.error + away
            units = self._units_of_exp(size, factors)
            relative = a.error
            if factors > 1:
                eps = float(self.type.eps)
                relative = (
                    relative + (units + (factors - 1) / 2) * eps + np.maximum(0, size * eps - self._ulp(size)) / 2
                )
            # Of -inf it is 0, exactly; of a finite number an infinitesimal at best.
            error = np.where(np.isneginf(a.value) & (a.error == 0), 0, value * np.expm1(relative))
            vanishing = ((value == 0) | (factors > 1)) & np.isfinite(a.value)
            error = error + np.where(vanishing, units * float(self.type.smallest_subnormal), 0)
            if flushed:
                error = error + np.where(np.isfinite(a.value), factors * float(self.type.smallest_normal), 0)
            nan = np.isnan(a.value) & ~a.undetermined
            return self._rounded(value, error, units if factors == 1 else 0, nan, saturates=True)

    def _units_of_exp(self, size: np.ndarray, factors: int) -> np.ndarray | int:
        if self.fast:
            return 2 + np.floor(1.173 * size) if factors == 1 else 2 * factors + 1.173 * size
        return (2 if self.compute == "float32" else 1) * factors

    def log(self, a: Approx, away: np.ndarray | float = 0) -> Approx:
        """log(a) of a positive a; the kernel's a may be exp(``away``) times larger or smaller."""
        with np.errstate(all="ignore"):
            value = np.log(a.value)
            error = np.where(a.value > a.error, -np.log1p(-a.error / a.value), np.inf)
            nan = np.isnan(a.value) & ~a.undetermined
            near_one = ((a.value + a.error) * np.exp(away) >= 0.5) & ((a.value - a.error) * np.exp(-away) <= 2)
            error = error + np.where(near_one & ~nan & self.fast, 2.0**-21.41, 0)
            # Rounded by the size of what the kernel has there.
            units = np.where(near_one, 0, 3) if self.fast else 1
            rounded = self._rounded(value, error + away, units, nan)
            known = np.isfinite(rounded.error) & (rounded.error > 0)
            return Approx(rounded.value, np.where(known, rounded.error - away, rounded.error))

    def sum(self, a: Approx, additions: int) -> Approx:
        """The sum along the last axis, kept as 1; each term goes through at most ``additions`` additions.

        With k additions on a term's path the sum is off by at most ((1 + u)^k - 1) of the magnitudes (Higham, 4.2).
        """
        with np.errstate(all="ignore"):
            value = a.value.sum(axis=-1, keepdims=True)
            magnitude = (_size(a.value) + a.error).sum(axis=-1, keepdims=True)
            unit = float(self.type.eps) / 2
            error = a.error.sum(axis=-1, keepdims=True) + magnitude * np.expm1(additions * unit)
            # A partial sum may leave the type's range although the whole stays in it.
            error = np.where(magnitude > float(self.type.max), np.inf, error)
            nan = (np.isnan(a.value) & ~a.undetermined).any(axis=-1, keepdims=True)
            return self._rounded(value, error, 0, nan)

    def where(self, condition: np.ndarray, a: Approx, b: Approx) -> Approx:
        """a where the condition holds, else b."""
        return Approx(np.where(condition, a.value, b.value), np.where(condition, a.error, b.error))

    def _rounded(
        self, value: np.ndarray, error: np.ndarray, units: np.ndarray | float, nan: np.ndarray, saturates: bool = False
    ) -> Approx:
        """With ``units`` ulp for the operation itself. ``nan``: where an operand is NaN for certain.

        ``saturates``: a value beyond the largest number by more than its bound is certainly an infinity. Not so a
        product: fused with the addition that follows it never becomes a number of its own.
        """
        most = float(self.type.max)
        finite = np.isfinite(value)
        reach = _size(value) + error
        error = error + np.where(reach > 0, units * self._ulp(reach), 0)
        if saturates:
            beyond = finite & (np.abs(value) - error > most * (1 + float(self.type.eps)))
            value, error = np.where(beyond, np.copysign(np.inf, value), value), np.where(beyond, 0, error)
            finite = finite & ~beyond
        error = np.where(np.isnan(error) | (finite & (_size(value) + error > most)), np.inf, error)
        # NaN is certain where an operand is; and every infinity or NaN that comes of determined operands.
        error = np.where(nan | (~finite & ~np.isinf(error)), 0, error)
        return Approx(np.where(nan, np.nan, value), error)

    def _ulp(self, size: np.ndarray) -> np.ndarray:
        """The distance from a number of the compute type to the next, or more: rounding may come to a higher one."""
        below_most = np.nextafter(self.type.max, self.type.dtype.type(0))
        return np.spacing(np.minimum(size, below_most).astype(self.compute)).astype(self.wide)


def _size(value: np.ndarray) -> np.ndarray:
    """Magnitudes; 0 for infinities and NaN, which carry no rounding error."""
    return np.where(np.isfinite(value), np.abs(value), 0)


def _either_nan(a: Approx, b: Approx) -> np.ndarray:
    return (np.isnan(a.value) & ~a.undetermined) | (np.isnan(b.value) & ~b.undetermined)


def _sign_known(a: Approx) -> np.ndarray:
    return (np.abs(a.value) > a.error) | ((a.value == 0) & (a.error == 0))


@dataclass(frozen=True)
class Judgement:
    """A result beside what it must be.

    ``wrong``: where it is off. ``ratio``: the largest error over its bound, where the bound is not 0. ``compared`` and
    ``undetermined`` elements.
    """

    wrong: np.ndarray
    ratio: float
    compared: int
    undetermined: int


def stored(a: Approx, dtype: np.dtype) -> Approx:
    """The numbers once they have been converted to an element type."""
    with np.errstate(all="ignore"):
        return replace(a, error=a.error + _half_ulp(_size(a.value) + a.error, dtype))


def _half_ulp(size: np.ndarray, dtype: np.dtype) -> np.ndarray:
    limits = ml_dtypes.finfo(dtype)
    most, eps, subnormal = float(limits.max), float(limits.eps), float(limits.smallest_subnormal)
    half = np.maximum(np.exp2(np.floor(np.log2(np.minimum(size, most)))) * eps, subnormal) / 2
    return np.where(size > 0, half, 0)


def compare(got: np.ndarray, expected: Approx, compute: str) -> Judgement:
    """Whether each element is the expected one, converted to ``got``'s dtype, to within its bound.

    The conversion rounds to the nearest: half an ulp of the element type (none where it is the compute type), and
    infinity beyond half an ulp over its largest number.
    """
    limits = ml_dtypes.finfo(got.dtype)
    most, eps = float(limits.max), float(limits.eps)
    with np.errstate(all="ignore"):
        error = expected.error * ORACLE
        wide = got.astype(expected.value.dtype)
        reach = _size(expected.value) + error
        tolerance = error + (_half_ulp(reach, got.dtype) if got.dtype != compute else 0)
        off = np.abs(wide - expected.value)
        equal = (wide == expected.value) | (np.isnan(wide) & np.isnan(expected.value))
        # The largest number is (2 - eps) 2^e: half an ulp of it is a little over eps / 4 times it.
        outermost = np.sign(wide) * expected.value + error  # on the infinity's side
        overflown = np.isinf(wide) & np.isfinite(expected.value) & (outermost > most * (1 + eps / 4))
        numbers = np.isfinite(expected.value) & np.isfinite(wide) & ~expected.undetermined
        wrong = ~(equal | overflown | (numbers & (off <= tolerance)) | expected.undetermined)
        counted = numbers & (tolerance > 0)
        ratio = float((off / tolerance)[counted].max(initial=0)) if counted.any() else 0.0
    undetermined = int(np.count_nonzero(expected.undetermined))
    return Judgement(wrong, ratio, got.size - undetermined, undetermined)
