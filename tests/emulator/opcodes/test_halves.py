"""f16 and bf16 arithmetic against exact fractions; the packed forms against the single ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from softlab.errors import UnsupportedInstruction
from tests.emulator.opcodes.cases import bits, evaluate, lower, samples
from tests.emulator.opcodes.test_convert import bf16_bits
from tests.emulator.opcodes.test_floats import rounded

HALVES = ("f16", "bf16")


def values(array: np.ndarray, name: str) -> list[float]:
    return (array.view(ml_dtypes.bfloat16) if name == "bf16" else array).astype(np.float64).tolist()


def encode(exact: float | Fraction, name: str, zero: float = 0.0) -> int:
    """The bits of a number rounded once to nearest even; any NaN is hardware's."""
    if isinstance(exact, float) and math.isnan(exact):
        return 0x7FFF
    if exact == 0:
        return 0x8000 if math.copysign(1, zero) < 0 else 0
    if name == "bf16":
        return bf16_bits(exact)
    if isinstance(exact, float) and math.isinf(exact):
        return 0x7C00 if exact > 0 else 0xFC00
    return int(rounded(Fraction(exact), "f16", "rn").view(np.uint16))


def exactly(operation: Callable, *operands: float) -> tuple[float | Fraction, float]:
    """The exact result, and what float64 gives, whose sign a zero has; float64 alone where an operand is not finite."""
    wide = float(operation(*(np.float64(value) for value in operands)))
    if all(math.isfinite(value) for value in operands):
        return operation(*(Fraction(value) for value in operands)), wide
    return wide, wide


ARITHMETIC: dict[str, Callable] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fma.rn": lambda a, b, c: a * b + c,
}


def operands(name: str, count: int, number: int) -> list[np.ndarray]:
    """Samples, and beside them numbers close to each other, whose sums and products are ties."""
    result = []
    for index in range(number):
        generator = np.random.default_rng([index, number, len(name)])
        near = generator.integers(0x3A00, 0x4400, count).astype(np.uint16) | generator.choice([0, 0x8000], count)
        near = near.astype(np.uint16).view(np.float16 if name == "f16" else np.uint16)
        result.append(np.concatenate([samples(name, count, 3 + index), near]))
    return result


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("opcode", ARITHMETIC)
def test_arithmetic_rounds_once(name: str, opcode: str) -> None:
    operation = ARITHMETIC[opcode]
    sources = operands(name, 1500, 3 if opcode == "fma.rn" else 2)
    arguments = ", ".join("abc"[: len(sources)])
    (got,) = evaluate(f"{opcode}.{name} d, {arguments}", *sources)
    (positive,) = evaluate("fma.rn.relu.%s d, a, b, c" % name, *sources) if len(sources) == 3 else (None,)  # noqa: UP031
    for lane, row in enumerate(zip(*(values(source, name) for source in sources), strict=True)):
        exact, wide = exactly(operation, *row)
        wanted = encode(exact, name, wide)
        assert int(bits(got)[lane]) == wanted, (opcode, row, hex(wanted), hex(bits(got)[lane]))
        if positive is not None:
            assert int(bits(positive)[lane]) == (0 if wanted & 0x8000 else wanted)


def test_bf16_fma_meets_ties_that_float64_cannot_see() -> None:
    """A product halfway between two bf16, and a c some 2**100 times smaller."""
    generator = np.random.default_rng(4)
    # Odd products of nine bits: one more than bf16 holds.
    a, b = (values_bf16(generator.integers(8, 11, 500) * 2 + 1) for _ in range(2))
    c = values_bf16(generator.choice([-1.0, 0.0, 1.0], 500) * 2.0**-90)
    (got,) = evaluate("fma.rn.bf16 d, a, b, c", a, b, c)
    rows = list(zip(*(values(source, "bf16") for source in (a, b, c)), strict=True))
    exact = [Fraction(x) * Fraction(y) + Fraction(z) for x, y, z in rows]
    assert got.tolist() == [bf16_bits(value) for value in exact]
    assert got.tolist() != [bf16_bits(Fraction(x) * Fraction(y)) for x, y, _ in rows]


def values_bf16(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32).astype(ml_dtypes.bfloat16).view(np.uint16)


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("opcode", ["max", "min", "max.NaN", "min.NaN"])
def test_extremes(name: str, opcode: str) -> None:
    a, b = operands(name, 600, 2)
    (got,) = evaluate(f"{opcode}.{name} d, a, b", a, b)
    choose = max if "max" in opcode else min
    for lane, (x, y) in enumerate(zip(values(a, name), values(b, name), strict=True)):
        if math.isnan(x) or math.isnan(y):
            other = y if math.isnan(x) else x
            wanted = math.nan if "NaN" in opcode else other
        else:
            wanted = choose(x, y, key=lambda value: (value, math.copysign(1, value)))
        assert int(bits(got)[lane]) == encode(wanted, name, wanted), (x, y)


@pytest.mark.parametrize("name", HALVES)
def test_signs_of_every_value(name: str) -> None:
    every = np.arange(0x10000, dtype=np.uint16).view(np.float16 if name == "f16" else np.uint16)
    nan = np.isnan(values(every, name))
    negated, positive = np.arange(0x10000) ^ 0x8000, np.arange(0x10000) & 0x7FFF
    np.testing.assert_array_equal(bits(evaluate(f"neg.{name} d, a", every)[0]), np.where(nan, 0x7FFF, negated))
    np.testing.assert_array_equal(bits(evaluate(f"abs.{name} d, a", every)[0]), np.where(nan, 0x7FFF, positive))


# The bounds of the PTX manual: a relative error for ex2, an absolute one for tanh.
APPROXIMATE = {
    "ex2": (math.exp2, {"f16": 2**-9.9, "bf16": 2**-7}),
    "tanh": (math.tanh, {"f16": 2**-10.987, "bf16": 2**-8}),
}


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("opcode", APPROXIMATE)
def test_approximate_functions_of_every_value(name: str, opcode: str) -> None:
    oracle, bounds = APPROXIMATE[opcode]
    every = np.arange(0x10000, dtype=np.uint16).view(np.float16 if name == "f16" else np.uint16)
    ftz = ".ftz" if (opcode, name) == ("ex2", "bf16") else ""
    (got,) = evaluate(f"{opcode}.approx{ftz}.{name} d, a", every)
    tiny, largest = {"f16": (2.0**-24, 65504.0), "bf16": (2.0**-126, 3.3895e38)}[name]
    for x, y in zip(values(every, name), values(got, name), strict=True):
        if math.isnan(x):
            assert math.isnan(y)
            continue
        wanted = oracle(x) if x < 1000 else (math.inf if opcode == "ex2" else 1.0)
        if math.isinf(y):
            assert wanted > largest
        else:
            scale = abs(wanted) if opcode == "ex2" else 1.0
            assert abs(y - wanted) <= bounds[name] * scale + tiny, (x, y)


@pytest.mark.parametrize("name", HALVES)
def test_packed_is_each_half(name: str) -> None:
    for form, number in (("add", 2), ("mul", 2), ("fma.rn", 3), ("fma.rn.relu", 3), ("max", 2), ("neg", 1), ("abs", 1)):
        sources = operands(name, 200, number)
        arguments = ", ".join("abc"[:number])
        (single,) = evaluate(f"{form}.{name} d, {arguments}", *sources)
        (pairs,) = evaluate(f"{form}.{name}x2 d, {arguments}", *(source.view(np.uint32) for source in sources))
        np.testing.assert_array_equal(pairs.view(np.uint16), bits(single))


def test_saturated_and_flushed_f16() -> None:
    a = np.array([-1, 0.25, 2, np.nan, 6e-8, -6e-8, 1], np.float16)
    zero = np.zeros_like(a)
    assert evaluate("add.sat.f16 d, a, b", a, zero)[0].tolist()[:4] == [0.0, 0.25, 1.0, 0.0]
    (got,) = evaluate("add.ftz.f16 d, a, b", a, -zero)
    assert [f"{value:g}" for value in got] == ["-1", "0.25", "2", "nan", "0", "-0", "1"]
    with pytest.raises(UnsupportedInstruction):
        lower("add.sat.bf16 d, a, b")
