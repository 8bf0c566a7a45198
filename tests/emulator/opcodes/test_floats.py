"""f32 and f64 arithmetic against exact fractions, rounded by a rounder of the tests' own."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from softlab.emulator.opcodes.floats import extreme
from softlab.errors import UnsupportedInstruction
from tests.emulator.opcodes.cases import bits, evaluate, lower, same, sampled, samples

#: PTX type -> (NumPy type, bits of precision, least exponent of a unit in the last place).
FORMATS = {"f16": (np.float16, 11, -24), "f32": (np.float32, 24, -149), "f64": (np.float64, 53, -1074)}
MODES = ("rn", "rz", "rm", "rp")


def rounded(exact: Fraction, name: str, mode: str, zero: float = 0.0):
    """A fraction as a float of this format; ``zero`` is what 0 gives."""
    dtype, precision, least = FORMATS[name]
    if exact == 0:
        return dtype(zero)
    size = abs(exact)
    exponent = math.floor(math.log2(size.numerator) - math.log2(size.denominator))
    exponent += (size >= Fraction(2) ** (exponent + 1)) - (size < Fraction(2) ** exponent)
    unit = Fraction(2) ** max(exponent - precision + 1, least)
    scaled = exact / unit
    floor = scaled.numerator // scaled.denominator
    if mode == "rn":
        whole = round(scaled)  # Python rounds fractions to even
    else:
        whole = {"rm": floor, "rp": -(-scaled.numerator // scaled.denominator), "rz": int(scaled)}[mode]
    sign = -1.0 if exact < 0 else 1.0
    value = abs(whole) * unit
    if value > Fraction(float(np.finfo(dtype).max)):
        outwards = mode == "rn" or (mode == "rm" and sign < 0) or (mode == "rp" and sign > 0)
        return dtype(sign * (math.inf if outwards else float(np.finfo(dtype).max)))
    return dtype(sign * float(value))


def sum_zero(a: float, b: float, mode: str) -> float:
    """The zero that a + b gives where it is exactly 0."""
    if a == 0 and b == 0 and math.copysign(1, a) == math.copysign(1, b):
        return a
    return -0.0 if mode == "rm" else 0.0


def check(text: str, name: str, oracle: Callable, sources=None, any_zero: bool = False) -> None:
    """``oracle`` gives a result, or None where the operation on NumPy's float64 says it (infinities and NaN)."""
    if sources is None:
        sources, (result,) = sampled(text, 500)
    else:
        (result,) = evaluate(text, *sources)
    for lane, values in enumerate(zip(*(source.tolist() for source in sources), strict=True)):
        wanted = oracle(*values)
        ok = same(result[lane], wanted, name) or (any_zero and result[lane] == 0 == wanted)
        assert ok, f"{text} of {[v.hex() for v in values]} is {wanted!r}, not {result[lane]!r}"


def finite(*values: float) -> bool:
    return all(math.isfinite(value) for value in values)


def exact_sum(name: str, mode: str, sign: int = 1) -> Callable:
    def oracle(a: float, b: float):
        b = sign * b
        if not finite(a, b):
            return FORMATS[name][0](np.float64(a) + np.float64(b))
        return rounded(Fraction(a) + Fraction(b), name, mode, sum_zero(a, b, mode))

    return oracle


def exact_product(name: str, mode: str) -> Callable:
    def oracle(a: float, b: float):
        if not finite(a, b) or a == 0 or b == 0:
            return FORMATS[name][0](np.float64(a) * np.float64(b))
        exact = Fraction(a) * Fraction(b)
        return rounded(exact, name, mode)

    return oracle


def exact_fma(name: str, mode: str) -> Callable:
    def oracle(a: float, b: float, c: float):
        if not finite(a, b):
            return FORMATS[name][0](np.float64(a) * np.float64(b) + np.float64(c))
        if not finite(c):
            return FORMATS[name][0](c)
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        product_sign = math.copysign(1, a) * math.copysign(1, b)
        # Where the product is 0 or cancels c, the signs of both parts decide.
        part = math.copysign(0.0, product_sign)
        zero = sum_zero(part, math.copysign(0.0, c), mode)
        return rounded(exact, name, mode, zero)

    return oracle


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("mode", MODES)
def test_sums_and_products(name: str, mode: str) -> None:
    check(f"add.{mode}.{name} d, a, b", name, exact_sum(name, mode))
    check(f"sub.{mode}.{name} d, a, b", name, exact_sum(name, mode, -1))
    check(f"mul.{mode}.{name} d, a, b", name, exact_product(name, mode))
    check(f"fma.{mode}.{name} d, a, b, c", name, exact_fma(name, mode))


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_the_default_rounding_is_to_nearest(name: str) -> None:
    for opcode in ("add", "sub", "mul"):
        sources, (result,) = sampled(f"{opcode}.{name} d, a, b")
        np.testing.assert_array_equal(bits(result), bits(evaluate(f"{opcode}.rn.{name} d, a, b", *sources)[0]))


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("mode", MODES)
def test_quotients_and_roots(name: str, mode: str) -> None:
    dtype = FORMATS[name][0]

    def quotient(a: float, b: float):
        if not finite(a, b) or b == 0 or a == 0:
            return dtype(np.float64(a) / np.float64(b))
        return rounded(Fraction(a) / Fraction(b), name, mode)

    check(f"div.{mode}.{name} d, a, b", name, quotient)
    check(f"rcp.{mode}.{name} d, a", name, lambda a: quotient(1.0, a))

    def root(a: float):
        if not finite(a) or a <= 0:
            return dtype(np.sqrt(np.float64(a)))
        exact = Fraction(a)
        # An integer root of the value scaled by 2**2000 is far closer than a rounding can tell, unless it is exact.
        scaled = exact * 2**4400
        whole = math.isqrt(scaled.numerator // scaled.denominator)
        remains = Fraction(whole) ** 2 != scaled
        return rounded(Fraction(2 * whole + remains, 2 * 2**2200), name, mode)

    check(f"sqrt.{mode}.{name} d, a", name, root)


def ties_f32(generator: np.random.Generator, count: int) -> tuple[np.ndarray, ...]:
    """Products halfway between two float32 (25 bits wide), plus a c too small for float64 to see, or none."""
    a = (generator.integers(2**12, 2**13, count) * 2 + 1).astype(np.float32)
    b = (generator.integers(2**10, 2**11, count) * 2 + 1).astype(np.float32)
    tiny = 2.0 ** generator.integers(-149, -40, count) * generator.choice([-1.0, 0.0, 1.0], count)
    scale = np.float32(2.0) ** generator.integers(-60, 60, count).astype(np.float32)
    return a * scale, b, tiny.astype(np.float32)


def test_fma_f32_rounds_once_at_ties() -> None:
    a, b, c = ties_f32(np.random.default_rng(5), 4000)
    twice = (a.astype(np.float64) * b + c).astype(np.float32)
    (once,) = evaluate("fma.rn.f32 d, a, b, c", a, b, c)
    assert (twice != once).sum() > 100  # the samples do meet the trap
    check("fma.rn.f32 d, a, b, c", "f32", exact_fma("f32", "rn"), (a, b, c))


def test_fma_f32_rounds_once_below_the_least_normal() -> None:
    """Halfway between two subnormals, give or take less than float64 can see."""
    generator = np.random.default_rng(6)
    half = (generator.integers(0, 2**12, 3000) * 2 + 1) * 2.0**-150
    a = np.full(3000, 2.0**-75, np.float32)
    b = (half / 2.0**-75).astype(np.float32)
    c = np.zeros(3000, np.float32)
    check("fma.rn.f32 d, a, b, c", "f32", exact_fma("f32", "rn"), (a, b, c))
    # c larger, and the product just off the tie
    b = np.nextafter(b, np.float32(0))
    c = (generator.integers(0, 2**10, 3000) * 2.0**-149).astype(np.float32)
    check("fma.rn.f32 d, a, b, c", "f32", exact_fma("f32", "rn"), (a, b, c))


def test_fma_f32_rounds_once_at_ties_of_subnormals() -> None:
    """c halfway short of the next subnormal, less a part in 2**46 that float64 cannot hold beside c."""
    generator = np.random.default_rng(9)
    c = ((generator.integers(2**20, 2**22, 1000) * 2 + 1) * 2.0**-149).astype(np.float32)
    a = np.full(1000, 8388609 * 2.0**-110, np.float32) * generator.choice([-1, 1], 1000).astype(np.float32)
    b = np.full(1000, 16777214 * 2.0**-87, np.float32)  # a * b is 2**-150 * (1 - 2**-46)
    (once,) = evaluate("fma.rn.f32 d, a, b, c", a, b, c)
    assert ((a.astype(np.float64) * b + c).astype(np.float32) != once).any()
    check("fma.rn.f32 d, a, b, c", "f32", exact_fma("f32", "rn"), (a, b, c))


def test_fma_f64_on_all_kinds_of_exponents() -> None:
    generator = np.random.default_rng(7)

    def values(low: int, high: int) -> np.ndarray:
        return generator.normal(size=1500) * 2.0 ** generator.integers(low, high, 1500)

    for ranges in ((-3, 3), (-300, 300), (-540, -500), (500, 512), (-60, 60)):
        a, b = values(*ranges), values(*ranges)
        c = -(a * b) * (1 + 2.0**-52 * generator.integers(-2, 3, 1500))  # leaves a few bits
        check("fma.rn.f64 d, a, b, c", "f64", exact_fma("f64", "rn"), (a, b, c))
        check("fma.rn.f64 d, a, b, c", "f64", exact_fma("f64", "rn"), (a, b, values(-1000, 1000)))


def test_fma_f64_rounds_once_at_ties() -> None:
    generator = np.random.default_rng(8)
    a = (generator.integers(2**26, 2**27, 2000) * 2 + 1).astype(np.float64)
    b = (generator.integers(2**25, 2**26, 2000) * 2 + 1).astype(np.float64)
    c = 2.0 ** generator.integers(-200, -60, 2000) * generator.choice([-1.0, 0.0, 1.0], 2000)
    check("fma.rn.f64 d, a, b, c", "f64", exact_fma("f64", "rn"), (a, b, c))


def flushed(value: float) -> float:
    return math.copysign(0.0, value) if abs(value) < 2.0**-126 else value


def test_ftz_flushes_sources_and_results() -> None:
    def through(oracle: Callable) -> Callable:
        return lambda *values: np.float32(flushed(float(oracle(*(flushed(value) for value in values)))))

    check("add.ftz.f32 d, a, b", "f32", through(exact_sum("f32", "rn")))
    check("mul.ftz.f32 d, a, b", "f32", through(exact_product("f32", "rn")))
    check("fma.rn.ftz.f32 d, a, b, c", "f32", through(exact_fma("f32", "rn")))
    check("max.ftz.f32 d, a, b", "f32", through(ptx_max))
    check("neg.ftz.f32 d, a", "f32", through(lambda a: np.float32(-a)))
    check("abs.ftz.f32 d, a", "f32", through(lambda a: np.float32(abs(a))))


def test_flush_of_every_edge() -> None:
    edges = np.array([0, 1, 0x007FFFFF, 0x00800000, 0x3F800000, 0x7F800000, 0x7FC00000], np.uint32)
    edges = np.concatenate([edges, edges | np.uint32(0x80000000)]).view(np.float32)
    (result,) = evaluate("add.ftz.f32 d, a, b", edges, np.full_like(edges, -0.0))
    wanted = [np.float32(flushed(float(value))) for value in edges]
    assert np.all(same(result, np.array(wanted), "f32"))


def test_ftz_flushes_what_is_subnormal_before_rounding() -> None:
    """As an H200 does: a product a little below 2**-126 is 0, though it rounds to 2**-126."""
    least, below_one = np.float32(2.0**-126), np.float32(1 - 2.0**-24)
    a = np.array([least, below_one, -least, least], np.float32)
    b = np.array([below_one, least, below_one, 1.0], np.float32)
    zero = np.zeros_like(a)
    wanted = ["0", "0", "-0", "1.17549e-38"]
    assert [f"{value:g}" for value in evaluate("mul.ftz.f32 d, a, b", a, b)[0]] == wanted
    assert [f"{value:g}" for value in evaluate("fma.rn.ftz.f32 d, a, b, c", a, b, -zero)[0]] == wanted
    divisor = np.full_like(a, 2.0**126)
    dividend = np.array([below_one, -below_one, 1.0, 0.5], np.float32)
    quotient = evaluate("div.rn.ftz.f32 d, a, b", dividend, divisor)[0]
    assert [f"{value:g}" for value in quotient] == ["0", "-0", "1.17549e-38", "0"]
    assert evaluate("mul.f32 d, a, b", a, b)[0][0] == least


def test_saturation() -> None:
    def clamped(oracle: Callable) -> Callable:
        def function(*values: float):
            value = float(oracle(*values))
            return np.float32(0.0 if math.isnan(value) or value <= 0 else min(value, 1.0))

        return function

    check("add.sat.f32 d, a, b", "f32", clamped(exact_sum("f32", "rn")))
    check("mul.sat.f32 d, a, b", "f32", clamped(exact_product("f32", "rn")))
    check("fma.rn.sat.f32 d, a, b, c", "f32", clamped(exact_fma("f32", "rn")))


def _ordered(value: float) -> tuple[float, float]:
    return value, math.copysign(1.0, value)


def ptx_max(a: float, b: float):
    """Of a NaN and a number the number; -0 is below +0."""
    if math.isnan(a) or math.isnan(b):
        return np.float32(b if math.isnan(a) else a)
    return np.float32(max(a, b, key=_ordered))


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_extremes(name: str) -> None:
    dtype = FORMATS[name][0]

    def oracle(choose: Callable, propagate: bool = False) -> Callable:
        def function(a: float, b: float):
            if math.isnan(a) or math.isnan(b):
                return dtype(math.nan if propagate else (b if math.isnan(a) else a))
            return dtype(choose(a, b, key=_ordered))

        return function

    check(f"max.{name} d, a, b", name, oracle(max))
    check(f"min.{name} d, a, b", name, oracle(min))
    if name == "f32":
        check("max.NaN.f32 d, a, b", name, oracle(max, True))
        check("min.NaN.f32 d, a, b", name, oracle(min, True))

        def xorsign(a: float, b: float):
            size = float(oracle(max)(abs(a), abs(b)))
            return dtype(math.copysign(size, math.copysign(1, a) * math.copysign(1, b)))

        check("max.xorsign.abs.f32 d, a, b", name, xorsign)
        check("max.f32 d, a, b, c", name, lambda a, b, c: oracle(max)(float(oracle(max)(a, b)), c))


def test_extremes_of_zeros_and_nan() -> None:
    a = np.array([0.0, -0.0, 0.0, -0.0, np.nan, -0.0, np.nan, -1.0, 3.0], np.float32)
    b = np.array([-0.0, 0.0, 0.0, -0.0, -0.0, np.nan, np.nan, -0.0, np.nan], np.float32)
    (largest,), (least,) = evaluate("max.f32 d, a, b", a, b), evaluate("min.f32 d, a, b", a, b)
    assert [f"{value:g}" for value in largest] == ["0", "0", "0", "-0", "-0", "-0", "nan", "-0", "3"]
    assert [f"{value:g}" for value in least] == ["-0", "-0", "0", "-0", "-0", "-0", "nan", "-1", "3"]
    assert bits(largest)[6] == bits(least)[6] == 0x7FFFFFFF


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_signs(name: str) -> None:
    dtype = FORMATS[name][0]
    check(f"neg.{name} d, a", name, lambda a: dtype(-a))
    check(f"abs.{name} d, a", name, lambda a: dtype(abs(a)))
    check(f"copysign.{name} d, a, b", name, lambda a, b: dtype(math.copysign(b, a)))


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_testp(name: str) -> None:
    least = float(np.finfo(FORMATS[name][0]).smallest_normal)
    oracles = {
        "finite": math.isfinite,
        "infinite": math.isinf,
        "notanumber": math.isnan,
        "number": lambda a: not math.isnan(a),
        "normal": lambda a: math.isfinite(a) and (abs(a) >= least or a == 0),
        "subnormal": lambda a: 0 < abs(a) < least,
    }
    for what, oracle in oracles.items():
        (source,), (result,) = sampled(f"testp.{what}.{name} p, a")
        assert result.tolist() == [oracle(value) for value in source.tolist()], what


@pytest.mark.parametrize(
    "text",
    [
        "add.ftz.f64 d, a, b",
        "add.sat.f64 d, a, b",
        "sqrt.f32 d, a",
        "div.approx.f64 d, a, b",
        "fma.rn.oob.f32 d, a, b, c",
    ],
)
def test_what_ptx_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedInstruction):
        lower(text)


def test_samples_hold_the_hard_cases() -> None:
    values = samples("f32", 500, 1)
    size = np.abs(values)
    assert np.isnan(values).any()
    assert np.isinf(values).any()
    assert ((size > 0) & (size < 2.0**-126)).any()
    assert (np.signbit(values) & (values == 0)).any()


@pytest.mark.parametrize("opcode", ["min", "max"])
@pytest.mark.parametrize("lanes", [1, 3, 40])
def test_a_signalling_nan_beside_a_number(opcode: str, lanes: int) -> None:
    """The number is the result, as an H100 has it; fmin of a C library may give NaN there."""
    choose = extreme(opcode, "f32")
    signalling, number = (np.full(lanes, bits, np.uint32).view(np.float32) for bits in (0x7FBE0000, 0xDE7D2E01))
    for got in (choose(signalling, number), choose(number, signalling)):
        np.testing.assert_array_equal(got, number)
    assert np.isnan(choose(signalling, signalling)).all()
