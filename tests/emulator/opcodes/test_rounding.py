"""Sums, products, quotients and roots of floats in all four modes, each beside its exact value as a fraction."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from softlab.emulator.opcodes import rounding

#: NumPy's type -> bits of a number, the exponent of the last bit of subnormals, the exponent beyond all numbers.
FORMATS = {np.float32: (24, -149, 128), np.float64: (53, -1074, 1024)}


def rounded(exact: Fraction, kind: Any, mode: str) -> float:
    """The number of the format that this mode takes for an exact value other than 0."""
    bits, least, beyond = FORMATS[kind]
    negative, size = exact < 0, abs(exact)
    exponent = math.frexp(float(size))[1] if 2.0**-1000 < size < 2.0**1000 else (
        size.numerator.bit_length() - size.denominator.bit_length() + 1
    )  # fmt: skip
    while size < Fraction(2) ** (exponent - 1):
        exponent -= 1
    while size >= Fraction(2) ** exponent:
        exponent += 1
    unit = Fraction(2) ** max(exponent - bits, least)
    below = math.floor(size / unit)
    rest = size / unit - below
    if mode == "rn":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below % 2 == 1)
    else:
        up = rest > 0 and mode == ("rm" if negative else "rp")
    found = (below + up) * unit
    if found >= Fraction(2) ** beyond:
        most = (Fraction(2) ** bits - 1) * Fraction(2) ** (beyond - bits)
        inside = mode == "rz" or mode == ("rp" if negative else "rm")
        found_float = float(most) if inside else math.inf
    else:
        found_float = float(found)
    return -found_float if negative else found_float


def numbers(kind: Any, seed: int, count: int) -> np.ndarray:
    """Numbers of all sizes, many of them near each other; zeros, subnormals, the greatest; some are not finite."""
    bits, least, beyond = FORMATS[kind]
    random = np.random.RandomState(seed)
    spread = np.where(random.rand(count) < 0.6, random.randint(-3, 4, count), random.randint(least, beyond, count))
    values = np.ldexp(random.standard_normal(count), spread)
    values[random.rand(count) < 0.2] = np.ldexp(1.0, random.randint(-2, 3)) * (1 + np.ldexp(1.0, 1 - bits))
    with np.errstate(all="ignore"):
        found = values.astype(kind)
    info = np.finfo(kind)
    edges = np.array([0.0, -0.0, info.smallest_subnormal, -info.smallest_subnormal, info.tiny, -info.tiny, info.max,
                      -info.max, 1.0, -1.0, 1 + info.eps, 1 - info.eps / 2, np.inf, -np.inf, np.nan])  # fmt: skip
    at = random.randint(0, count, count // 4)
    found[at] = edges.astype(kind)[random.randint(0, len(edges), count // 4)]
    return found


def of_sum(parts: list[tuple[Fraction, bool]], kind: Any, mode: str) -> float:
    """The rounded sum of finite parts, each with its sign; that of an exact 0 depends on the mode."""
    exact = sum((part for part, _ in parts), Fraction(0))
    if exact:
        return rounded(exact, kind, mode)
    signs = {negative for _, negative in parts} if not any(part for part, _ in parts) else {True, False}
    return -0.0 if signs == {True} or (len(signs) == 2 and mode == "rm") else 0.0


def check(function: Callable, expected: Callable, kind: Any, mode: str, *given: np.ndarray) -> None:
    """Compare bits; NaN is NaN. Arrays, then some of their elements as scalars."""
    with np.errstate(all="ignore"):
        got = np.asarray(function(*given))
        plain = [function(*(array[k] for array in given)) for k in range(0, len(given[0]), 29)]
    assert got.dtype == kind
    for k, values in enumerate(zip(*given, strict=True)):
        with np.errstate(all="ignore"):
            right = kind(expected(*values))
        same = got[k].tobytes() == right.tobytes() or (np.isnan(got[k]) and np.isnan(right))
        assert same, f"{mode} of {[value.hex() for value in map(float, values)]}: {got[k]!r}, not {right!r}"
    for one, k in zip(plain, range(0, len(given[0]), 29), strict=True):
        assert np.ndim(one) == 0
        assert one == got[k] or (np.isnan(one) and np.isnan(got[k]))


def finite(*values: Any) -> bool:
    return all(math.isfinite(float(value)) for value in values)


def part(*factors: Any) -> tuple[Fraction, bool]:
    """A product, and whether it has a minus sign."""
    negative = sum(bool(np.signbit(factor)) for factor in factors) % 2 == 1
    return math.prod((Fraction(float(factor)) for factor in factors), start=Fraction(1)), negative


@cache
def given(kind: Any, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = 320
    a, b, c = (numbers(kind, seed + k, count) for k in range(3))
    with np.errstate(all="ignore"):
        c[::3] = -(a[::3] * b[::3])  # sums that almost vanish
        c[1::6] = (a[1::6] * b[1::6]) * kind(2.0**-30 if kind is np.float32 else 2.0**-60)
    return a, b, c


MODES_OF = [*product((np.float32, np.float64), rounding.MODES)]


@pytest.mark.parametrize(("kind", "mode"), MODES_OF)
def test_sums(kind: Any, mode: str) -> None:
    a, b, c = given(kind, 1)
    with np.errstate(all="ignore"):
        b = np.where(np.arange(len(a)) % 5 == 0, -a, np.where(np.arange(len(a)) % 5 == 1, c, b)).astype(kind)
    function = {np.float32: rounding.add_f32, np.float64: rounding.add_f64}[kind](mode)
    check(function, lambda x, y: of_sum([part(x), part(y)], kind, mode) if finite(x, y) else x + y, kind, mode, a, b)


@pytest.mark.parametrize(("kind", "mode"), MODES_OF)
def test_products(kind: Any, mode: str) -> None:
    a, b, _ = given(kind, 2)

    def right(x: Any, y: Any) -> Any:
        if not finite(x, y) or x == 0 or y == 0:
            return x * y
        return rounded(part(x, y)[0], kind, mode)

    check({np.float32: rounding.mul_f32, np.float64: rounding.mul_f64}[kind](mode), right, kind, mode, a, b)


@pytest.mark.parametrize("mode", rounding.MODES)
@pytest.mark.parametrize("scale", [2.0, 4.0, 0.5])
def test_scaled_products(mode: str, scale: float) -> None:
    a, b, _ = given(np.float32, 3)

    def right(x: Any, y: Any) -> Any:
        if not finite(x, y) or x == 0 or y == 0:
            return x * y
        return rounded(part(x, y)[0] * Fraction(scale), np.float32, mode)

    check(rounding.scaled_mul_f32(mode, scale), right, np.float32, mode, a, b)


@pytest.mark.parametrize(("kind", "mode"), MODES_OF)
def test_fused_products_and_sums(kind: Any, mode: str) -> None:
    """The signs of zeros, infinities, and a product that overflows beside a finite number."""
    a, b, c = given(kind, 4)

    def right(x: Any, y: Any, z: Any) -> Any:
        if finite(x, y, z):
            return of_sum([part(x, y), part(z)], kind, mode)
        return z if finite(x, y) else x * y + z

    function = {np.float32: rounding.fused_f32, np.float64: rounding.fused_f64}[kind](mode)
    check(function, right, kind, mode, a, b, c)
    if kind is np.float64 and mode == "rn":
        check(rounding.fma_f64, right, kind, mode, a, b, c)


@pytest.mark.parametrize(("kind", "mode"), MODES_OF)
def test_quotients(kind: Any, mode: str) -> None:
    a, b, _ = given(kind, 5)

    def right(x: Any, y: Any) -> Any:
        if not finite(x, y) or x == 0 or y == 0:
            return x / y
        return rounded(Fraction(float(x)) / Fraction(float(y)), kind, mode)

    check({np.float32: rounding.div_f32, np.float64: rounding.div_f64}[kind](mode), right, kind, mode, a, b)


@pytest.mark.parametrize(("kind", "mode"), MODES_OF)
def test_roots(kind: Any, mode: str) -> None:
    a, _, _ = given(kind, 6)
    a = a.copy()
    a[::7] = np.square(np.arange(len(a[::7])) + 1)

    def right(x: Any) -> Any:
        if not finite(x) or x <= 0:
            return np.sqrt(x)
        # The floor of a scaled root, and a bit more where it is not exact: the root rounds as this number does.
        exact = Fraction(float(x))
        scaled = exact * Fraction(4) ** 700
        floor = math.isqrt(math.floor(scaled))
        inexact = Fraction(floor) ** 2 != scaled
        return rounded((floor + Fraction(inexact, 2)) / Fraction(2) ** 700, kind, mode)

    check({np.float32: rounding.sqrt_f32, np.float64: rounding.sqrt_f64}[kind](mode), right, kind, mode, a)


@pytest.mark.parametrize("mode", rounding.MODES)
def test_whole_numbers_times_a_power_of_two_as_doubles(mode: str) -> None:
    random = np.random.RandomState(7)
    for turn in range(300):
        bits = int(random.choice([1, 20, 53, 54, 55, 80]))
        whole = int.from_bytes(random.bytes(11), "little") % (1 << bits) | 1 << bits - 1
        power = int(random.choice([-1140, -1128, -1075, -1074, -1060, -20, 0, 30, 960, 969, 970, 971, 1000]))
        whole *= -1 if turn % 2 else 1
        exact = Fraction(whole) * Fraction(2) ** power
        got = rounding.round_scaled(whole, power, mode)
        assert got == rounded(exact, np.float64, mode)
        assert math.copysign(1, got) == (-1 if turn % 2 else 1)


def test_sums_and_what_they_lose() -> None:
    a, b, _ = given(np.float64, 8)
    sane = np.isfinite(a) & np.isfinite(b) & (abs(a) < 1e300) & (abs(b) < 1e300)
    a, b = a[sane], b[sane]
    total, error = rounding.two_sum(a, b)
    odd = rounding.add_to_odd(a, b)
    for x, y, t, e, o in zip(a, b, total, error, odd, strict=True):
        exact = Fraction(float(x)) + Fraction(float(y))
        assert Fraction(float(t)) + Fraction(float(e)) == exact
        if e == 0:
            assert o == t
            continue
        last = int(np.float64(o).view(np.uint64)) & 1
        assert last == 1, "an inexact sum has an odd last bit"
        low, high = (math.nextafter(float(o), -math.inf), math.nextafter(float(o), math.inf))
        assert Fraction(low) < exact < Fraction(high)
    assert rounding.add_to_odd(np.float64(1), np.float64(2.0**-60)) == 1 + 2.0**-52
    assert rounding.add_to_odd(np.float64(1), np.float64(-(2.0**-60))) == 1 - 2.0**-53


def test_doubles_cut_to_floats() -> None:
    a, _, _ = given(np.float64, 9)
    a = a[np.isfinite(a) & (abs(a) > 2.0**-120) & (abs(a) < 2.0**120)]
    for value, cut in zip(a, rounding.cut_f32(a), strict=True):
        assert float(cut) == rounded(Fraction(float(value)), np.float32, "rz")


def test_a_product_near_the_greatest_number_is_no_infinity() -> None:
    """The exact product and sum are less than half a unit beyond the greatest number. Splitting a factor overflows."""
    a, b = np.uint64(0x7C0FDB7BC1D211B0).view(np.float64), np.uint64(0x43D012570CD0191A).view(np.float64)
    expected = rounded(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(a)), np.float64, "rn")
    assert expected == np.finfo(np.float64).max
    with np.errstate(all="ignore"):
        for sign in (1, -1):
            got = rounding.fma_f64(np.array([sign * a, 2.0]), np.array([b, 3.0]), np.array([sign * a, 4.0]))
            assert got.tolist() == [sign * expected, 10.0]
