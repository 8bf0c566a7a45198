"""Products that are one with what follows them, beside plain arithmetic, and compiled beside NumPy."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.emulator.opcodes.contracted import SCALES
from softlab.emulator.opcodes.registry import PURE, Semantics
from softlab.emulator.ptx.syntax import DTYPES, Instruction, Register
from tests.emulator.opcodes.hardware import sources_for
from tests.emulator.opcodes.test_compiled import compiled

#: Kind -> the signs of the product and of what is added to it.
SIGNS = {"sum": (1, 1), "minuend": (1, -1), "subtrahend": (-1, 1), "negative": (-1, -1)}
NUMBERS = (-3.0, 0.5, 2.0, 7.0)
#: Types -> how many numbers a register holds, and their NumPy type.
HELD = {"f32": (1, np.float32), "f64": (1, np.float64), "f16": (1, np.float16), "f16x2": (2, np.float16),
        "bf16": (1, ml_dtypes.bfloat16), "bf16x2": (2, ml_dtypes.bfloat16)}  # fmt: skip


def lowered(opcode: str, *modifiers: str) -> Semantics:
    operands = tuple(Register(f"%{number}", modifiers[-1]) for number in range(4))
    return PURE.lower(Instruction(opcode, modifiers, operands))


def held(kind: str, *numbers: float) -> Any:
    """A register with these numbers, the lowest first."""
    return np.array(numbers, HELD[kind][1]).view(DTYPES[kind])[0]


def run(semantics: Semantics, *values: Any) -> Any:
    with np.errstate(all="ignore"):
        return semantics.function(*values)


@pytest.mark.parametrize("type_", HELD)
@pytest.mark.parametrize("kind", SIGNS)
def test_the_signs_of_product_and_addend(kind: str, type_: str) -> None:
    semantics, (of_product, of_sum) = lowered("contracted", kind, type_), SIGNS[kind]
    count = HELD[type_][0]
    for a, b, c in product(NUMBERS, repeat=3):
        others = (1.0, -2.0, 4.0)
        wanted = [of_product * a * b + of_sum * c, of_product * others[0] * others[1] + of_sum * others[2]][:count]
        got = run(semantics, *(held(type_, *pair[:count]) for pair in zip((a, b, c), others, strict=True)))
        assert np.array([got]).view(HELD[type_][1]).astype(float).tolist() == wanted


@pytest.mark.parametrize("kind", SIGNS)
def test_both_are_rounded_together(kind: str) -> None:
    random, (of_product, of_sum) = np.random.default_rng(3), SIGNS[kind]
    semantics = lowered("contracted", kind, "f64")
    for _ in range(60):
        a, b = random.standard_normal(2)
        c = -a * b * of_product * of_sum * (1 + random.integers(-2, 3) * 2.0**-52)
        exact = of_product * Fraction(a) * Fraction(b) + of_sum * Fraction(c)
        assert run(semantics, np.float64(a), np.float64(b), np.float64(c)) == float(exact)


@pytest.mark.parametrize("division", ["approx", "full"])
@pytest.mark.parametrize("kind", SIGNS)
def test_a_quotient_in_place_of_the_product(kind: str, division: str) -> None:
    """Its second factor is a reciprocal; subnormal numbers are zeros where they are flushed."""
    of_product, of_sum = SIGNS[kind]
    plain, flushed = (lowered("contracted", kind, division, *ftz, "f32") for ftz in ((), ("ftz",)))
    for a, b, c in product((-3.0, 1.0, 10.0), (-7.0, 3.0, 2.0**60), (0.25, -5.0)):
        for semantics in (plain, flushed):
            got = float(run(semantics, *(np.float32(value) for value in (a, b, c))))
            assert got == pytest.approx(of_product * a / b + of_sum * c, rel=3e-7, abs=3e-7)
    tiny, large = np.float32(2.0**-130), np.float32(2.0**-120)
    for semantics, kept in ((plain, 1), (flushed, 0)):
        assert run(semantics, tiny, large, np.float32(0)) == of_product * kept * 2.0**-10
        assert np.isfinite(run(semantics, large, tiny, np.float32(0))) == kept
    assert plain.weight == flushed.weight > lowered("contracted", kind, "f32").weight


@pytest.mark.parametrize("name", SCALES)
def test_a_product_times_a_power_of_two(name: str) -> None:
    """D2 halves it and M8 takes it eight times; all is rounded once."""
    factor = 2.0 ** ({"D": -1, "M": 1}[name[0]] * {"2": 1, "4": 2, "8": 3}[name[1]])
    assert SCALES[name] == factor
    semantics = lowered("scaled", name, "f32")
    a, b = sources_for(semantics, 500, seed=4)
    with np.errstate(all="ignore"):
        wanted = (a.astype(np.float64) * b.astype(np.float64) * factor).astype(np.float32)
    np.testing.assert_array_equal(run(semantics, a, b), wanted)
    small = np.float32(2.0**-70), np.float32(2.0**-64 / factor)
    assert run(semantics, *small) == np.float32(2.0**-134)
    assert run(lowered("scaled", name, "ftz", "f32"), *small) == 0
    assert run(lowered("scaled", name, "sat", "f32"), np.float32(3), np.float32(7)) == 1


@pytest.mark.skipif(not available(), reason="needs llvmlite")
@pytest.mark.parametrize(
    "modifiers",
    [*((kind, *more, "f32") for kind in SIGNS for more in ((), ("ftz",), ("approx",), ("full", "ftz"))),
     ("sum", "f64"), ("negative", "f64")],
)  # fmt: skip
def test_the_compiled_form_gives_the_same_bits(modifiers: tuple[str, ...]) -> None:
    semantics = lowered("contracted", *modifiers)
    if semantics.native is None:
        return
    sources = sources_for(semantics, 400, seed=6)
    with np.errstate(all="ignore"):
        (got,), want = compiled(semantics)(*sources), semantics.function(*sources)
    unsigned = np.dtype(f"u{want.dtype.itemsize}")
    same = (got.view(unsigned) == want.view(unsigned)) | (np.isnan(got) & np.isnan(want))
    assert same.all()


@pytest.mark.skipif(not available(), reason="needs llvmlite")
@pytest.mark.parametrize("name", SCALES)
def test_a_compiled_scaled_product_gives_the_same_bits(name: str) -> None:
    semantics = lowered("scaled", name, "f32")
    assert semantics.native is not None
    assert lowered("scaled", name, "ftz", "f32").native is None
    sources = sources_for(semantics, 400, seed=7)
    with np.errstate(all="ignore"):
        (got,), want = compiled(semantics)(*sources), semantics.function(*sources)
    same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
    assert same.all()
