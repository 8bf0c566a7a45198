"""The bounds hold for what IEEE arithmetic and the documented errors can make of operands, and are no wider than that.

The oracle here is brute force: operands anywhere within their bounds, NumPy's correctly rounded float32, and functions
that are off by as many units in the last place as NVIDIA allows.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.random_cases.bounds import ORACLE, Approx, Arithmetic, compare

FAST = Arithmetic("float32", fast=True)
SIZE = 20_000

NUMBERS = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-45, -1e-38]
PAIRS = np.array([(a, b) for a in NUMBERS for b in NUMBERS], np.float32)


def operand(random: np.random.Generator, spread: float) -> tuple[np.ndarray, Approx]:
    """Float32 numbers, and a value with a bound that holds them: most of them at an end of it."""
    value = (
        (random.choice([-1, 1], SIZE) * np.exp2(random.uniform(-20, 20, SIZE))).astype(np.float32).astype(np.float64)
    )
    error = np.abs(value) * spread * random.random(SIZE)
    inside = value + error * random.choice([-1, 1, 0.3], SIZE)
    held = inside.astype(np.float32)
    held = np.where(np.abs(held - value) <= error, held, np.nextafter(held, value.astype(np.float32)))
    error = np.maximum(error, np.abs(held.astype(np.float64) - value))
    return held, Approx(value, error)


@pytest.mark.parametrize("spread", [0.0, 1e-6, 0.5])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_operations_hold_what_float_makes_of_operands(name: str, spread: float) -> None:
    random = np.random.default_rng(1)
    (a, wide_a), (b, wide_b) = operand(random, spread), operand(random, spread)
    ufunc = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}[name]
    bound = getattr(FAST, name)(wide_a, wide_b)
    off = np.abs(ufunc(a, b).astype(np.float64) - bound.value)
    assert (off <= bound.error).all()
    used = (off / bound.error).max()
    assert used > (0.2 if name == "divide" else 0.8), f"the bound is {1 / used:.1f} times as wide as what happens"


def test_functions_hold_what_is_documented() -> None:
    """exp, log and the quotient off by all that the guide allows, at either end of the operand's bound."""
    random = np.random.default_rng(2)
    value = -random.uniform(0, 80, SIZE)
    error = np.abs(value) * 2.0**-24
    for sign in (-1, 1):
        exact = np.exp(value + sign * error)
        one = np.spacing(exact.astype(np.float32))
        off = np.abs(exact + sign * (2 + np.floor(1.173 * np.abs(value))) * one - np.exp(value))
        bound = FAST.exp(Approx(value, error))
        assert (off <= bound.error * ORACLE).all()
        assert (off / bound.error).max() > 0.9
    total = random.uniform(1, 4000, SIZE)
    error = total * 1e-6
    for sign in (-1, 1):
        exact = np.log(total + sign * error)
        allowed = np.where(total <= 2, 2.0**-21.41, 3 * np.spacing(exact.astype(np.float32)))
        off = np.abs(exact + sign * allowed - np.log(total))
        bound = FAST.log(Approx(total, error))
        assert (off <= bound.error * ORACLE).all()
        assert (off / bound.error).max() > 0.9


@pytest.mark.parametrize("factors", [2, 5])
@pytest.mark.parametrize("flushed", [False, True])
def test_exponentials_in_factors(factors: int, flushed: bool) -> None:
    """Products of float32 exponentials that are off by all that the guide allows; beneath the normal numbers 0."""
    random = np.random.default_rng(5)
    parts = -random.uniform(0, 120 / factors, (factors, SIZE)).astype(np.float32).astype(np.float64)
    whole = parts.sum(axis=0)
    bound = FAST.exp(Approx(whole, np.zeros(SIZE)), factors, flushed)
    normal = np.finfo(np.float32).smallest_normal
    worst = 0.0
    for sign in (-1, 1):
        product = np.ones(SIZE, np.float32)
        for part in parts:
            one = np.spacing(np.exp(part).astype(np.float32)).astype(np.float64)
            factor = (np.exp(part) + sign * (1.5 + 1.173 * np.abs(part)) * one).astype(np.float32)
            product = product * (np.where(factor < normal, 0, factor) if flushed else factor)
            product = np.where(product < normal, 0, product) if flushed else product
        off = np.abs(product - np.exp(whole))
        assert (off <= bound.error * ORACLE).all()
        worst = max(worst, (off / bound.error)[np.exp(whole) > 1e-30].max())
    assert worst > 0.4


@pytest.mark.parametrize("compute", ["float32", "float64"])
def test_the_parts_of_an_exponent_round_by_their_own_size(compute: str) -> None:
    """x - m in two steps, by the largest of a part of the row: the roundings may be 1.5 times that of one step."""
    arithmetic, random = Arithmetic(compute, fast=compute == "float32"), np.random.default_rng(8)
    first = np.asarray(-random.uniform(0, 256, SIZE), compute).astype(arithmetic.wide)
    second = np.asarray(-random.uniform(0, 256, SIZE), compute).astype(arithmetic.wide)
    parts = [np.asarray(part * 1.01, compute) for part in (first, second)]
    whole = (first + second) * arithmetic.wide(1.01)
    difference = arithmetic.add(Approx(whole, np.zeros(SIZE)), arithmetic.constant(0))
    bound = arithmetic.exp(difference, 2)
    off = np.abs(np.exp(parts[0].astype(arithmetic.wide)) * np.exp(parts[1].astype(arithmetic.wide)) - bound.value)
    normal = bound.value > np.finfo(compute).smallest_normal * 1e3
    assert (off <= bound.error * ORACLE)[normal].all()
    once = off / (bound.value * np.expm1(difference.error))
    assert once[normal].max() > 1.2, "half an ulp of the whole exponent would have been too little"


@pytest.mark.parametrize("count", [1, 2, 100, 3000])
def test_sums_hold_every_order(count: int) -> None:
    """One after the other is the longest path; in float32 its error comes to some of the bound, in any order."""
    random = np.random.default_rng(3)
    terms = random.standard_normal((200, count)).astype(np.float32)
    bound = FAST.sum(FAST.exact(terms), count - 1)
    for order in (slice(None), slice(None, None, -1), np.argsort(np.abs(terms[0]))):
        got = np.cumsum(terms[:, order], axis=1, dtype=np.float32)[:, -1:]
        assert (np.abs(got - bound.value) <= bound.error).all()
    assert count > 1 or not bound.error.any()


@pytest.mark.parametrize("name", ["add", "subtract", "multiply"])
def test_special_values_are_exact(name: str) -> None:
    """What is determined is what IEEE 754 says; nothing else is undetermined but products that overflow."""
    a, b = PAIRS.T
    ufunc = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}[name]
    with np.errstate(all="ignore"):
        expected = ufunc(a, b)
        product_overflows = np.isinf(expected) & np.isfinite(a) & np.isfinite(b) & (name == "multiply")
    bound = getattr(FAST, name)(FAST.exact(a), FAST.exact(b))
    assert np.array_equal(bound.undetermined, product_overflows)
    special = ~np.isfinite(expected) & ~product_overflows
    assert np.array_equal(bound.value[special], expected[special], equal_nan=True)
    assert not bound.error[special].any()


def test_what_an_operand_that_may_be_anything_leaves_open() -> None:
    anything = Approx(np.array([1.0]), np.array([np.inf]))
    nan, zero, infinity = (FAST.exact(np.float32([x])) for x in (np.nan, 0, np.inf))
    assert FAST.multiply(anything, zero).undetermined.all()
    assert FAST.add(anything, infinity).undetermined.all()
    for operation in (FAST.add, FAST.multiply, FAST.divide):
        assert np.isnan(operation(anything, nan).value).all()
        assert not operation(anything, nan).undetermined.any()
    may_be_zero = Approx(np.array([1e-8]), np.array([1e-7]))
    assert FAST.multiply(may_be_zero, infinity).undetermined.all()
    total = FAST.sum(Approx(np.array([[1.0, np.nan]]), np.array([[np.inf, 0.0]])), 1)
    assert np.isnan(total.value).all()
    assert not total.undetermined.any()


def test_sums_that_may_overflow_before_the_end_are_left_open() -> None:
    assert FAST.sum(FAST.exact(np.float32([[3e38, 3e38, -3e38]])), 2).undetermined.all()
    assert not FAST.sum(FAST.exact(np.float32([[3e38, -1e37]])), 1).undetermined.any()


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_conversions_round_to_the_nearest(dtype: type) -> None:
    """A number between two of the type may become the nearer one alone; over the largest one, infinity."""
    limits = ml_dtypes.finfo(dtype)
    numbers = np.random.default_rng(4).standard_normal(2000) * 0.01
    exact = Approx(numbers, np.zeros_like(numbers))
    nearest = numbers.astype(dtype)
    verdict = compare(nearest, exact, "float32")
    assert not verdict.wrong.any()
    assert verdict.ratio > 0.99
    other_side = np.where(nearest > numbers, np.nextafter(nearest, dtype(-9)), np.nextafter(nearest, dtype(9)))
    assert compare(other_side.astype(dtype), exact, "float32").wrong.mean() > 0.99
    most = float(limits.max)
    half_ulp = most - float(np.nextafter(limits.max, dtype(0)))
    over = Approx(np.array([most + half_ulp * 0.51]), np.zeros(1))
    under = Approx(np.array([most + half_ulp * 0.49]), np.zeros(1))
    assert not compare(np.array([np.inf], dtype), over, "float32").wrong.any()
    assert compare(np.array([-np.inf], dtype), over, "float32").wrong.all()
    assert compare(np.array([most], dtype), over, "float32").wrong.all()
    assert not compare(np.array([most], dtype), under, "float32").wrong.any()
    assert compare(np.array([np.inf], dtype), under, "float32").wrong.all()


@pytest.mark.parametrize("value", [0.0, 100.0, -100.0])
def test_a_bound_over_the_largest_number_takes_its_infinity(value: float) -> None:
    """A difference of two large numbers may be 0 or beyond the largest number of the type, on either side."""
    wide = Approx(np.full(2, value), np.full(2, 1e10))
    assert not compare(np.float16([np.inf, -np.inf]), wide, "float32").wrong.any()
    one_side = Approx(np.full(2, value + 40_000), np.full(2, 70_000.0))
    assert compare(np.float16([np.inf, -np.inf]), one_side, "float32").wrong.tolist() == [False, True]


def test_what_is_wrong() -> None:
    value = np.array([1.0, 0.0, np.nan, np.inf, 1.0, 2.0])
    error = np.array([1e-7, 0.0, 0.0, 0.0, np.inf, 1e-7])
    expected = Approx(value, error)
    right = np.float32([1, 0, np.nan, np.inf, -7, 2])
    assert not compare(right, expected, "float32").wrong.any()
    for index, wrong in ((0, 1 + 3e-7), (0, np.nan), (1, 1e-45), (2, 0), (3, -np.inf), (3, 3e38), (5, np.inf)):
        got = right.copy()
        got[index] = wrong
        assert np.flatnonzero(compare(got, expected, "float32").wrong).tolist() == [index]
    assert compare(right, expected, "float32").undetermined == 1
