"""The approximate functions: within the PTX manual's bounds of the truth, and its tables of special values."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tests.emulator.opcodes.cases import bits, evaluate, samples

LEAST_NORMAL = 2.0**-126
INF, NAN = math.inf, math.nan


def ordinary(count: int = 3000) -> np.ndarray:
    generator = np.random.default_rng(11)
    values = generator.normal(size=count) * 2.0 ** generator.integers(-30, 30, count)
    return np.concatenate([values, samples("f32", 500, 4).astype(np.float64)]).astype(np.float32)


def ulp(value: float) -> float:
    """The distance between float32 neighbours near a value."""
    return 2.0 ** max(math.frexp(value)[1] - 24, -149)


def check(form: str, oracle: Callable[[float], float], bound: Callable[[float], float], x: np.ndarray) -> None:
    """``bound`` of the true value is the largest error allowed; results beyond float32's range are infinite."""
    (got,) = evaluate(f"{form} d, a", x)
    for value, result in zip(x.tolist(), got.tolist(), strict=True):
        if not math.isfinite(value):
            continue
        try:
            wanted = oracle(value)
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        if abs(wanted) >= 2.0**128 * (1 - 2.0**-25):
            assert result == math.copysign(INF, wanted), (form, value)
        else:
            assert abs(result - wanted) <= bound(wanted), (form, value, result, wanted)


def test_within_the_documented_error() -> None:
    x = ordinary()
    subnormal = np.linspace(-151, -125, 209, dtype=np.float32)  # results that get subnormal, then zero
    check("ex2.approx.f32", math.exp2, lambda y: 2 * ulp(y), np.concatenate([np.clip(x, -200, 127.9), subnormal]))
    check("lg2.approx.f32", math.log2, lambda y: 2.0**-22 * max(abs(y), 1), np.abs(x))
    check("rcp.approx.f32", lambda a: 1 / a, ulp, x)
    check("sqrt.approx.f32", math.sqrt, lambda y: 2.0**-23 * y, np.abs(x))
    check("rsqrt.approx.f32", lambda a: 1 / math.sqrt(a), lambda y: 2.0**-22.9 * y, np.abs(x))
    check("sin.approx.f32", math.sin, lambda y: 2.0**-20.5, np.clip(x, -math.pi, math.pi))
    check("cos.approx.f32", math.cos, lambda y: 2.0**-20.5, np.clip(x, -math.pi, math.pi))
    check("tanh.approx.f32", math.tanh, lambda y: 2.0**-11 * abs(y), x)


# PTX manual: the tables of special values, as "source result" pairs.
SPECIAL = {
    "ex2.approx": "-inf 0, -1e-40 1, -0 1, 0 1, 1e-40 1, inf inf, nan nan, 128 inf, -150 0",
    "lg2.approx": "-inf nan, -1 nan, -0 -inf, 0 -inf, inf inf, nan nan, 1 0, 8 3",
    "rcp.approx": "-inf -0, -0 -inf, 0 inf, inf 0, nan nan, 4 0.25",
    "sqrt.approx": "-inf nan, -1 nan, -0 -0, 0 0, inf inf, nan nan, 4 2",
    "rsqrt.approx": "-inf nan, -1 nan, -0 -inf, 0 inf, inf 0, nan nan, 4 0.5",
    "sin.approx": "-inf nan, -0 -0, 0 0, inf nan, nan nan",
    "cos.approx": "-inf nan, -0 1, 0 1, inf nan, nan nan",
}


@pytest.mark.parametrize("form", [*SPECIAL, *(f"{form}.ftz" for form in SPECIAL)])
def test_special_values(form: str) -> None:
    pairs = [pair.split() for pair in SPECIAL[form.removesuffix(".ftz")].split(",")]
    (got,) = evaluate(f"{form}.f32 d, a", np.array([float(source) for source, _ in pairs], np.float32))
    assert [f"{value:g}" for value in got] == [result for _, result in pairs]


def test_special_values_of_tanh() -> None:
    (got,) = evaluate("tanh.approx.f32 d, a", np.array([-INF, -0.0, 0.0, INF, NAN], np.float32))
    assert [f"{value:g}" for value in got] == ["-1", "-0", "0", "1", "nan"]


def test_subnormal_sources_and_results() -> None:
    tiny = np.array([1e-40, -1e-40], np.float32)
    assert evaluate("rcp.approx.ftz.f32 d, a", tiny)[0].tolist() == [INF, -INF]
    assert evaluate("rsqrt.approx.ftz.f32 d, a", tiny)[0].tolist() == [INF, -INF]
    assert evaluate("lg2.approx.ftz.f32 d, a", tiny)[0].tolist() == [-INF, -INF]
    assert abs(evaluate("lg2.approx.f32 d, a", tiny)[0][0] - math.log2(float(tiny[0]))) < 1e-4
    low = np.array([-126.0, -126.5, -149.0], np.float32)
    assert evaluate("ex2.approx.ftz.f32 d, a", low)[0].tolist() == [LEAST_NORMAL, 0.0, 0.0]
    assert evaluate("ex2.approx.f32 d, a", low)[0].tolist()[2] == 2.0**-149
    large = np.array([2.0**127, -(2.0**127)], np.float32)
    assert [f"{v:g}" for v in evaluate("rcp.approx.ftz.f32 d, a", large)[0]] == ["0", "-0"]


@pytest.mark.parametrize("form", ["div.approx", "div.full"])
def test_division(form: str) -> None:
    generator = np.random.default_rng(12)
    a, b = (generator.normal(size=2000) * 2.0 ** generator.integers(-40, 40, 2000) for _ in range(2))
    a, b = a.astype(np.float32), b.astype(np.float32)
    (got,) = evaluate(f"{form}.f32 d, a, b", a, b)
    for x, y, result in zip(a.tolist(), b.tolist(), got.tolist(), strict=True):
        assert abs(result - x / y) <= 2 * ulp(x / y)


def test_division_by_the_largest_numbers() -> None:
    """Beyond 2**126 the reciprocal that div.approx takes is flushed to 0."""
    a = np.array([1.0, -1.0, INF, 1e38, 2.0**126, 3.0], np.float32)
    b = np.array([2.0**127, 2.0**127, 2.0**127, -3e38, 2.0**126, INF], np.float32)
    assert [f"{v:g}" for v in evaluate("div.approx.f32 d, a, b", a, b)[0]] == ["0", "-0", "nan", "-0", "1", "0"]
    assert evaluate("div.full.f32 d, a, b", a, b)[0].tolist()[4] == 1.0


@pytest.mark.parametrize(("form", "oracle"), [("rcp", lambda a: 1 / a), ("rsqrt", lambda a: a**-0.5)])
def test_double_precision_starts(form: str, oracle: Callable[[float], float]) -> None:
    """20 bits of the result, from the upper word of the source."""
    x = np.abs(np.random.default_rng(13).normal(size=500)) * 2.0 ** np.arange(-250, 250)
    (got,) = evaluate(f"{form}.approx.ftz.f64 d, a", x)
    wanted = np.array([oracle(value) for value in x.tolist()])
    assert np.all(np.abs(got - wanted) <= 2.0**-19 * wanted)
    assert not (bits(got) & np.uint64(0xFFFFFFFF)).any()
    (got,) = evaluate(f"{form}.approx.ftz.f64 d, a", np.array([0.0, -0.0, INF, NAN, 5e-324]))
    assert [f"{value:g}" for value in got] == ["inf", "-inf", "0", "nan", "inf"]
    assert int(bits(got)[3]) == 0x7FFFFFFF00000000


def test_full_double_precision_reciprocal_root() -> None:
    x = np.abs(np.random.default_rng(14).normal(size=500))
    (got,) = evaluate("rsqrt.approx.f64 d, a", x)
    np.testing.assert_allclose(got, x**-0.5, rtol=1e-15)


def test_the_sine_of_a_large_angle_is_the_hardwares() -> None:
    """The angle is cut to float32 as revolutions, 1 / 2 pi is rounded: 1000 radians lose what that loses, no more."""
    x = np.linspace(100, 1000, 300).astype(np.float32)
    (got,) = evaluate("sin.approx.f32 d, a", x)
    truth = np.array([math.sin(value) for value in x.tolist()])
    worst = float(np.abs(got - truth).max())
    assert 2.0**-20.5 < worst <= 1000 * (2.0**-23 + 2.0**-24)


def test_a_subnormal_divisor_is_scaled() -> None:
    """As an H200 gave it: the correctly rounded quotient is one unit lower."""
    a, b = (np.array([bits], np.uint32).view(np.float32) for bits in (0x06F8DB06, 0x007C9B52))
    assert evaluate("div.approx.f32 d, a, b", a, b)[0].view(np.uint32) == [0x45FFA1E4]


def test_sines_of_tiny_angles_and_logarithms_of_subnormals() -> None:
    """As an H100 had them (2026-11-28, kernels k2597 and k2886 of ``tests.fuzz.differential``)."""
    x = np.array([1e-45, -2.5461606e-09, 1.7532962e-07, -0.0, 5.856354e-07, 8.8748936e-07], np.float32)
    (got,) = evaluate("sin.approx.f32 d, a", x)
    assert got[:4].tolist() == [0, 0, 0, 0]
    assert np.signbit(got[:4]).tolist() == [False, True, False, True]
    assert np.abs(got[4:] - np.array([5.6178396e-07, 7.490453e-07], np.float32)).max() < 1e-10
    (got,) = evaluate("lg2.approx.f32 d, a", np.array([1e-45, 4.5e-44], np.float32))
    assert got.tolist() == [-149, -144]
    (got,) = evaluate("lg2.approx.ftz.f32 d, a", np.array([1e-45], np.float32))
    assert got.tolist() == [-np.inf]
