"""2**x and 1/x against an H200: bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

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
