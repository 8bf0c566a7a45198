"""2**x and 1/x against an H200: bit for bit."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest

from softlab.emulator.opcodes import special_functions
from softlab.emulator.opcodes.special_functions import exp2, exp2_flushed, reciprocal
from tests.hardware.special_functions import DATA


@pytest.fixture(scope="module")
def recorded() -> dict[str, np.ndarray]:
    with np.load(DATA) as file:
        return dict(file)


@pytest.mark.parametrize(("name", "function"), [("ex2", exp2_flushed), ("rcp", reciprocal)])
def test_equal_to_the_hardware(name: str, function, recorded: dict[str, np.ndarray]) -> None:
    source, wanted = recorded[f"{name} source"], recorded[f"{name} result"]
    with np.errstate(all="ignore"):
        got = function(source)
    wrong = got.view(np.uint32) != wanted.view(np.uint32)
    first = f"{source[wrong][:1]} gives {wanted[wrong][:1]}, not {got[wrong][:1]}"
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size}: {first}"


def test_exp2_is_low_for_negative_powers_only() -> None:
    """A negative power is negated by inverting its bits: too low by 2**-23, which a fair rounding would not be."""
    steps = np.random.default_rng(0).integers(1, 2**23, 200_000)
    fixed = (steps / 2.0**23).astype(np.float32)  # exact in the unit's fixed point, on both sides of zero
    mean = {}
    for sign in (1, -1):
        truth = np.exp2(sign * fixed.astype(np.float64))
        mean[sign] = ((exp2(sign * fixed) - truth) / truth).mean() * 2**23
    assert abs(mean[-1] - mean[1] + np.log(2)) < 0.05
    assert abs(mean[1]) < 0.5


def test_whole_powers_are_exact() -> None:
    whole = np.arange(-126, 128).astype(np.float32)
    assert np.array_equal(exp2_flushed(whole), np.ldexp(np.float32(1), whole.astype(int)))


def test_scalars_give_scalars() -> None:
    for function in (exp2, exp2_flushed, reciprocal):
        result = function(np.float32(-2.5))
        assert isinstance(result, np.float32)
        assert result == function(np.full(3, -2.5, np.float32))[1]


# The unit itself, beside slow loops


def slow_square(distance: int) -> int:
    """A distance of 15 bits times itself, without the products of two bits that weigh less than 2**-15."""
    bits = [i for i in range(1, 16) if distance >> (15 - i) & 1]  # bit i weighs 2**-i
    return sum(1 << (15 - i - j) for i in bits for j in bits if i == j and 2 * i <= 15) + sum(
        1 << (16 - i - j) for i in bits for j in bits if i < j and i + j <= 16
    )


def test_the_units_square() -> None:
    """In units of 2**-17: bits i < j meet twice, so that their product weighs 2**(1 - i - j)."""
    square = special_functions._square()
    assert square.shape == (1 << 15,)
    sample = [*range(300), *range((1 << 15) - 300, 1 << 15), *np.random.default_rng(1).integers(0, 1 << 15, 500)]
    assert [int(square[k]) for k in sample] == [4 * slow_square(int(k)) for k in sample]


@pytest.mark.parametrize(("name", "count"), [("ex2", 64), ("rcp", 128)])
def test_the_units_interpolation(name: str, count: int) -> None:
    """c0 counts quarters of a result's last bit; c1 and c2 are those of 2**-17 of it."""
    path = files("softlab.emulator.opcodes").joinpath("data/special_functions.json")
    table = json.loads(path.read_text())[name]
    assert len(table["rows"]) == count
    length, random = (1 << 23) // count, np.random.default_rng(2)
    edges = [k * length + step for k in (0, 1, count // 2, count - 1) for step in (0, 1, 2, length // 2, length - 1)]
    mantissas = np.array([*edges, *random.integers(0, 1 << 23, 400)])
    wanted = []
    for mantissa in mantissas.tolist():
        c0, c1, c2 = table["rows"][mantissa // length]
        distance = mantissa % length * ((1 << 17) // length)
        wanted.append(((c0 << 15) + table["bias"] + c1 * distance + c2 * 4 * slow_square(distance // 4)) // (1 << 17))
    before = mantissas.copy()
    assert special_functions._interpolation(name)(mantissas).tolist() == wanted
    assert (mantissas == before).all()


POWERS = [2.0**-149, 2.0**-130, 2.0**-127, 2.0**-126, 2.0**-125, 0.5, 1.0, 2.0, 2.0**125, 2.0**126, 2.0**127]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("power", POWERS)
def test_a_power_of_two_has_an_exact_reciprocal(power: float, sign: int) -> None:
    """Subnormal divisors are scaled up, those with a subnormal reciprocal down."""
    x = np.float32(sign * power)
    scale = 2.0**24 if power < 2.0**-126 else 0.25 if power >= 2.0**126 else None
    with np.errstate(all="ignore"):
        got, expected = reciprocal(x), np.float32(1) / x
        assert got == expected
        assert np.signbit(got) == (sign < 0)
        found = special_functions.scale_of(x)
        assert found is None if scale is None else float(found) == scale
        assert special_functions.scaled_reciprocal(x) == (expected if scale is None else np.float32(1 / (x * scale)))
        # Among others each keeps its own scale.
        among = np.array([x, 3, 2.0**-140], np.float32)
        assert reciprocal(among)[0] == expected
        assert special_functions.scale_of(among).tolist() == [scale or 1, 1, 2.0**24]


def test_reciprocals_of_zeros_infinities_and_nan() -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 3.0], np.float32)
    with np.errstate(all="ignore"):
        for function in (reciprocal, special_functions.scaled_reciprocal):
            got = function(x)
            assert got[:4].tolist() == [np.inf, -np.inf, 0.0, 0.0]
            assert np.signbit(got[:4]).tolist() == [False, True, False, True]
            assert np.isnan(got[4])
            assert abs(got[5] - 1 / 3) < 2.0**-24


@pytest.mark.parametrize(
    ("x", "flushed", "kept"),
    [
        (-np.inf, 0, 0), (np.inf, np.inf, np.inf), (128, np.inf, np.inf), (127, 2.0**127, 2.0**127),
        (249, np.inf, np.inf),
        (250, np.inf, np.inf), (1e30, np.inf, np.inf), (-126, 2.0**-126, 2.0**-126), (-128, 0, 2.0**-128),
        (-148, 0, 2.0**-148), (-152, 0, 0), (-1e30, 0, 0), (0, 1, 1), (-0.0, 1, 1),
        (2.0**-149, 1, 1), (-(2.0**-149), 1, 1),
        (-(2.0**-24), 1, 1), (-1, 0.5, 0.5), (-3, 0.125, 0.125),
    ],
)  # fmt: skip
def test_powers_at_the_edges(x: float, flushed: float, kept: float) -> None:
    with np.errstate(all="ignore"):
        for among in ([x], [x, 1.5], [x, -126.5, 200, np.nan]):
            given = np.array(among, np.float32)
            for function, expected in ((exp2_flushed, flushed), (exp2, kept)):
                got = function(given)
                assert got[0] == np.float32(expected)
                assert got.dtype == np.float32
                if len(among) == 4:
                    assert np.isnan(got[3])
                    assert got[2] == np.inf
                    assert (got[1] == 0) == (function is exp2_flushed)


def test_just_below_the_least_normal_power() -> None:
    """2**x of an x below -126 is subnormal: 0 where it is flushed."""
    x = np.nextafter(np.float32(-126), np.float32(-200))
    assert exp2_flushed(x) == 0
    assert 0 < 1 - float(exp2(x)) / 2.0**-126 < 2.0**-16
    assert exp2_flushed(np.float32(-125.99999)) > 2.0**-126
