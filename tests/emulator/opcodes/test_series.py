"""Functions by plain arithmetic: near the true values, the same bits compiled, with coefficients worked out again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from softlab.emulator.machine.native import NativeFunction, available
from softlab.emulator.machine.operations import Operation
from softlab.emulator.opcodes import series
from softlab.emulator.opcodes.series import LANES

NAN, INF = math.nan, math.inf
_PI = Fraction(314159265358979323846264338327950288419716939937510582097494459, 10**62)
_LOG2_OF_E = 1 / sum(2 * Fraction(1, 3) ** (2 * k + 1) / (2 * k + 1) for k in range(60))


def _sine(square: Fraction) -> Fraction:
    """sin(2 pi t) / t of t**2."""
    total, term = Fraction(0), 2 * _PI
    for k in range(20):
        total += term
        term *= -((2 * _PI) ** 2) * square / ((2 * k + 2) * (2 * k + 3))
    return total


def _logarithm(square: Fraction) -> Fraction:
    """log2((1 + s) / (1 - s)) / s of s**2."""
    return 2 * _LOG2_OF_E * sum(square**k / (2 * k + 1) for k in range(24))


def _tangent(square: Fraction) -> Fraction:
    """tanh(u) / u of u**2."""
    sine = cosine = Fraction(0)
    term = Fraction(1)
    for k in range(14):
        cosine += term
        sine += term / (2 * k + 1)
        term *= square / ((2 * k + 1) * (2 * k + 2))
    return sine / cosine


def _interpolated(function: Callable[[Fraction], Fraction], top: float, count: int) -> list[float]:
    """The coefficients of the polynomial that meets a function at the Chebyshev nodes of 0 to ``top``."""
    angles = [(2 * k + 1) * math.pi / (2 * count) for k in range(count)]
    nodes = [Fraction(top) * Fraction((1 + math.cos(angle)) / 2) for angle in angles]
    differences = [function(node) for node in nodes]
    for order in range(1, count):
        for k in range(count - 1, order - 1, -1):
            differences[k] = (differences[k] - differences[k - 1]) / (nodes[k] - nodes[k - order])
    found = [Fraction(0)] * count
    for node, difference in zip(reversed(nodes), reversed(differences), strict=True):
        found = [below - node * this for below, this in zip([Fraction(0), *found[:-1]], found, strict=True)]
        found[0] += difference
    return [float(coefficient) for coefficient in found]


@pytest.mark.parametrize(
    ("function", "top", "coefficients"),
    [
        (_sine, 1 / 16, series.SINE),
        (_logarithm, (3 - 2 * math.sqrt(2)) ** 2, series.LOGARITHM),
        (_tangent, 1.0001 * (math.log(2) / 4) ** 2, series.TANGENT),
    ],
)
def test_coefficients(function: Callable, top: float, coefficients: Sequence[float]) -> None:
    assert _interpolated(function, top, len(coefficients)) == list(coefficients)


def _numbers(count: int = 20_000) -> np.ndarray:
    random = np.random.default_rng(8)
    return random.uniform(0.5, 2, count) * 2.0 ** random.integers(-40, 6, count) * random.choice([-1, 1], count)


def _check(function: Callable, oracle: Callable[[float], float], x: np.ndarray) -> None:
    """Within five units in the last place or less, the C library's own error included."""
    for got, value in zip(function(LANES, x).tolist(), x.tolist(), strict=True):
        wanted = oracle(value)
        assert abs(got - wanted) <= 1e-15 * abs(wanted), (function, value, got, wanted)


def _sine_of_turns(turns: float) -> float:
    part = math.remainder(turns, 1.0)
    quarter = math.copysign(min(abs(part), 0.5 - abs(part)), part)
    return math.sin(2 * math.pi * quarter)


def _cosine_of_turns(turns: float) -> float:
    return math.sin(2 * math.pi * (0.25 - abs(math.remainder(turns, 1.0))))


def test_results_are_near_the_true_values() -> None:
    x = _numbers()
    _check(series.sine, _sine_of_turns, x)
    _check(series.cosine, _cosine_of_turns, x)
    _check(series.tanh, math.tanh, x)
    near = 1 + np.ldexp(np.sign(x), -3 - np.arange(len(x)) % 50)
    _check(series.log2, math.log2, np.concatenate([np.abs(x), near, np.ldexp(1.0, np.arange(-1022, 1024))]))


def test_values_that_are_exact() -> None:
    def of(function: Callable, *values: float) -> list[str]:
        with np.errstate(all="ignore"):
            return [f"{value:g}" for value in function(LANES, np.array(values))]

    assert of(series.sine, 0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.0**60, INF, -INF, NAN) == (
        ["0", "-0", "0", "-0", "0", "-0", "0", "0", "nan", "nan", "nan"]
    )
    assert of(series.cosine, 0.0, -0.0, 0.25, -0.25, 0.75, 1.0, 2.0**60, INF, -INF, NAN) == (
        ["1", "1", "0", "0", "0", "1", "1", "nan", "nan", "nan"]
    )
    assert of(series.log2, 1.0, 2.0, 0.25, 2.0**-1022, 2.0**1023) == ["0", "1", "-2", "-1022", "1023"]
    assert of(series.tanh, 0.0, -0.0, 1e-300, 30.0, -1e9, INF, -INF, NAN) == (
        ["0", "-0", "1e-300", "1", "-1", "1", "-1", "nan"]
    )


@pytest.mark.parametrize("function", [series.sine, series.cosine, series.log2, series.tanh])
def test_sources_stay_and_scalars_give_scalars(function: Callable) -> None:
    x = np.abs(_numbers(50))
    kept = x.copy()
    found = function(LANES, x)
    assert np.array_equal(x, kept)
    for value, want in zip(x, found, strict=True):
        got = function(LANES, value)
        assert isinstance(got, np.float64)
        assert got == want


@pytest.mark.skipif(not available(), reason="llvmlite is not installed")
@pytest.mark.parametrize("function", [series.sine, series.cosine, series.log2, series.tanh])
def test_the_compiled_form_gives_the_same_bits(function: Callable) -> None:
    operation = Operation(("d",), "", ("s",), lambda e, a: series.native(function, e, a))
    double = np.dtype(np.float64)
    compiled = NativeFunction([operation], ("s",), ("d",), {"s": double, "d": double}, {}, ["s"]).ufunc
    eighths = np.concatenate([np.arange(-40, 41) / 8, 2.0 ** np.arange(-60, 70), [-0.0]])
    any_bits = np.random.default_rng(9).integers(0, 1 << 64, 40_000, dtype=np.uint64).view(np.float64)
    x = np.concatenate([eighths, np.nextafter(eighths, INF), _numbers(), any_bits, [INF, -INF, NAN]])
    x = np.abs(x[np.isfinite(x) & (np.abs(x) >= 2.0**-1022)]) if function is series.log2 else x
    with np.errstate(all="ignore"):
        got, want = compiled(x), function(LANES, x)
    number = ~np.isnan(want)
    assert np.array_equal(np.isnan(got), ~number)
    assert np.array_equal(got[number].view(np.uint64), want[number].view(np.uint64))
