"""cvt against Python's integers and exact fractions; half formats exhaustively."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from softlab.emulator.ptx.syntax import DTYPES
from softlab.errors import UnsupportedInstruction
from tests.emulator.opcodes.cases import as_type, bits, evaluate, lower, same, sampled, samples
from tests.emulator.opcodes.test_floats import FORMATS, MODES, rounded
from tests.emulator.opcodes.test_integer import clamp, wrap

INTEGERS = tuple(f"{sign}{width}" for sign in "su" for width in (8, 16, 32, 64))
FLOATS = ("f16", "bf16", "f32", "f64")


def sources_of(text: str, count: int = 300) -> tuple[np.ndarray, ...]:
    return tuple(samples(name, count, 5 + index) for index, name in enumerate(lower(text).sources))


def low_bits(array: np.ndarray, name: str) -> list[int]:
    return [wrap(int(value), name) for value in bits(array)]


@pytest.mark.parametrize(("result", "source"), list(itertools.product(INTEGERS, INTEGERS)))
def test_integer_to_integer(result: str, source: str) -> None:
    for sat in ("", ".sat"):
        text = f"cvt{sat}.{result}.{source} d, a"
        array = sources_of(text)[0]
        (got,) = evaluate(text, array)
        wanted = [clamp(v, result) if sat else wrap(v, result) for v in low_bits(array, source)]
        # A result of 8 bits is in a register of 16, extended by its own sign or by zeros.
        width = 8 * got.dtype.itemsize
        assert [wrap(int(v), f"{result[0]}{width}") for v in bits(got)] == wanted


def test_registers_wider_than_the_type() -> None:
    array = samples("b32", 300, 3)
    (got,) = evaluate("cvt.s64.s8 d, a:b32", array)
    assert got.tolist() == [wrap(int(v), "s8") for v in array]
    (got,) = evaluate("cvt.f32.u16 d, a:b32".replace("cvt.", "cvt.rn."), array)
    assert got.tolist() == [float(int(v) & 0xFFFF) for v in array]
    (got,) = evaluate("cvt.s8.s32 d:b32, a", array.view(np.int32))
    assert got.dtype == np.uint32
    assert [wrap(int(v), "s32") for v in got] == [wrap(int(v), "s8") for v in array]
    (got,) = evaluate("cvt.rzi.u8.f32 d:b32, a", np.array([-1.0, 3.7, 254.9, 300.0, np.nan], np.float32))
    assert got.tolist() == [0, 3, 254, 255, 0]


ROUND_TO_INTEGER = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


def as_fractions(array: np.ndarray, name: str) -> list[float]:
    return (array.view(ml_dtypes.bfloat16) if name == "bf16" else array).astype(np.float64).tolist()


@pytest.mark.parametrize(("result", "source"), list(itertools.product(INTEGERS, FLOATS)))
def test_float_to_integer(result: str, source: str) -> None:
    limits = np.iinfo(DTYPES[result])
    invalid = 0 if source != "f64" and result[1:] != "64" else wrap(1 << int(result[1:]) - 1, result)
    for rounding, oracle in ROUND_TO_INTEGER.items():
        text = f"cvt.{rounding}.{result}.{source} d, a"
        array = sources_of(text)[0]
        (got,) = evaluate(text, array)
        for value, lane in zip(as_fractions(array, source), bits(got), strict=True):
            if math.isnan(value):
                wanted = invalid
            elif math.isinf(value):
                wanted = limits.max if value > 0 else limits.min
            else:
                wanted = clamp(oracle(Fraction(value)), result)
            assert wrap(int(lane), result) == wanted, (text, value)


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("result", ["f16", "f32", "f64"])
@pytest.mark.parametrize("mode", MODES)
def test_integer_to_float(source: str, result: str, mode: str) -> None:
    text = f"cvt.{mode}.{result}.{source} d, a"
    array = sources_of(text)[0]
    (got,) = evaluate(text, array)
    wanted = [rounded(Fraction(v), result, mode) for v in low_bits(array, source)]
    np.testing.assert_array_equal(bits(got), bits(np.array(wanted)))


def bf16_neighbours(value: Fraction) -> int:
    """The bf16 bits nearest to a positive fraction, ties to even; found by halving the range of all bf16."""
    low, high = 0, 0x7F80
    while high - low > 1:
        middle = (low + high) // 2
        below = Fraction(float(np.uint16(middle).view(ml_dtypes.bfloat16))) <= value
        low, high = (middle, high) if below else (low, middle)
    at_low = Fraction(float(np.uint16(low).view(ml_dtypes.bfloat16)))
    # One past the largest is where rounding begins to give infinity.
    at_high = Fraction(2) ** 128 if high == 0x7F80 else Fraction(float(np.uint16(high).view(ml_dtypes.bfloat16)))
    if value - at_low != at_high - value:
        return low if value - at_low < at_high - value else high
    return low if low % 2 == 0 else high


def bf16_bits(value: float | Fraction) -> int:
    sign = 0x8000 if value < 0 or (value == 0 and math.copysign(1, value) < 0) else 0
    if isinstance(value, float) and math.isnan(value):
        return 0x7FFF
    if isinstance(value, float) and math.isinf(value):
        return sign | 0x7F80
    return sign | bf16_neighbours(abs(Fraction(value)))


@pytest.mark.parametrize("source", ["f32", "f64", "f16", "s32", "u64", "s64"])
def test_to_bf16(source: str) -> None:
    text = f"cvt.rn.bf16.{source} d, a"
    array = sources_of(text, 300)[0]
    (got,) = evaluate(text, array)
    values = array.tolist()
    wanted = [bf16_bits(value if source[0] == "f" else Fraction(value)) for value in values]
    if source == "f64":
        # A NaN keeps its sign and its highest bits, and is quiet.
        payload = [int(value) >> 48 & 0x8000 | int(value) >> 45 & 0x7F | 0x7FC0 for value in bits(array)]
        wanted = [payload[lane] if math.isnan(values[lane]) else value for lane, value in enumerate(wanted)]
    assert bits(got).tolist() == wanted


def test_to_bf16_rounds_a_float64_once() -> None:
    """Just off halfway between two bf16, by less than float32 can hold."""
    middle = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 257 * 2.0**-134])
    array = np.concatenate([middle, middle * (1 + 2.0**-50), middle * (1 - 2.0**-50)])
    (got,) = evaluate("cvt.rn.bf16.f64 d, a", np.concatenate([array, -array]))
    assert got.tolist() == [bf16_bits(value) for value in (*array.tolist(), *(-array).tolist())]


def test_cut_to_bf16() -> None:
    array = sources_of("cvt.rz.bf16.f32 d, a")[0]
    (got,) = evaluate("cvt.rz.bf16.f32 d, a", array)
    wanted = [0x7FFF if math.isnan(value) else int(value.view(np.uint32)) >> 16 for value in array]
    assert got.tolist() == wanted


@pytest.mark.parametrize(
    ("result", "source"), list(itertools.product(["f16", "f32", "f64"], ["f16", "bf16", "f32", "f64"]))
)
def test_float_to_float(result: str, source: str) -> None:
    if result == source:
        return
    narrowing = DTYPES[result].itemsize < DTYPES[source].itemsize or (result, source) == ("f16", "bf16")
    for mode in MODES if narrowing else ("",):
        text = f"cvt{'.' + mode if mode else ''}.{result}.{source} d, a"
        array = sources_of(text)[0]
        (got,) = evaluate(text, array)
        for value, lane in zip(as_fractions(array, source), got, strict=True):
            if not math.isfinite(value) or value == 0:
                wanted = FORMATS[result][0](value)
            else:
                zero = math.copysign(0.0, value)
                wanted = rounded(Fraction(value), result, mode or "rn", zero)
            assert same(lane, wanted, result), (text, value, lane, wanted)


def test_every_f16_and_every_midpoint_between_two() -> None:
    every = np.arange(0x7C00, dtype=np.uint16).view(np.float16)
    (wide,) = evaluate("cvt.f32.f16 d, a", every)
    assert wide.tolist() == [
        ((k >> 10 and 1024 + (k & 1023)) or k & 1023) * 2.0 ** (max(k >> 10, 1) - 25) for k in range(0x7C00)
    ]
    (back,) = evaluate("cvt.rn.f16.f32 d, a", wide)
    np.testing.assert_array_equal(bits(back), bits(every))
    middle = (wide[:-1] + wide[1:]) / 2
    steps = np.arange(len(middle))
    for values, wanted in (
        (middle, steps + steps % 2),
        (np.nextafter(middle, np.float32(0)), steps),
        (np.nextafter(middle, np.float32(np.inf)), steps + 1),
    ):
        (narrow,) = evaluate("cvt.rn.f16.f32 d, a", values)
        np.testing.assert_array_equal(bits(narrow), wanted)


def test_every_bf16_and_every_midpoint_between_two() -> None:
    every = np.arange(0x7F80, dtype=np.uint16)
    (wide,) = evaluate("cvt.f32.bf16 d, a", every)
    np.testing.assert_array_equal(wide, every.view(ml_dtypes.bfloat16).astype(np.float32))
    steps = np.arange(0x7F7F)
    middle = ((wide[:-1].astype(np.float64) + wide[1:]) / 2).astype(np.float32)
    for values, wanted in (
        (middle, steps + steps % 2),
        (np.nextafter(middle, np.float32(0)), steps),
        (np.nextafter(middle, np.float32(np.inf)), steps + 1),
    ):
        (narrow,) = evaluate("cvt.rn.bf16.f32 d, a", values)
        np.testing.assert_array_equal(narrow, wanted)


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_two_floats_into_a_pair(element: str) -> None:
    """The first source becomes the upper half."""
    text = f"cvt.rn.{element}x2.f32 d, a, b"
    (a, b), (got,) = sampled(text)
    for source, half in ((a, got >> np.uint32(16)), (b, got & np.uint32(0xFFFF))):
        (alone,) = evaluate(f"cvt.rn.{element}.f32 d, a", source)
        np.testing.assert_array_equal(half, bits(alone))
    (clamped,) = evaluate(f"cvt.rn.relu.{element}x2.f32 d, a, b", a, b)
    for half, before in ((clamped >> np.uint32(16), got >> np.uint32(16)), (clamped & 0xFFFF, got & 0xFFFF)):
        np.testing.assert_array_equal(half, np.where(before & 0x8000, 0, before))


def test_nan_in_16_bits_has_the_bits_of_hardware() -> None:
    nan = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
    for element in ("f16", "bf16"):
        assert bits(evaluate(f"cvt.rn.{element}.f32 d, a", nan)[0]).tolist() == [0x7FFF] * 4


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_float_to_whole_float(name: str) -> None:
    for rounding, oracle in ROUND_TO_INTEGER.items():
        (source,), (got,) = sampled(f"cvt.{rounding}.{name}.{name} d, a")
        for value, lane in zip(source.tolist(), got, strict=True):
            whole = math.copysign(oracle(Fraction(value)), value) if math.isfinite(value) else value
            assert same(lane, FORMATS[name][0](whole), name), (rounding, value, lane)


def test_saturated_and_flushed() -> None:
    edges = np.array([-1, -0.0, 0.0, 0.25, 1.0, 2.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40], np.float32)
    (got,) = evaluate("cvt.sat.f32.f32 d, a", edges)
    assert [f"{v:g}" for v in got] == ["0", "0", "0", "0.25", "1", "1", "1", "0", "0", "9.99995e-41", "0"]
    (got,) = evaluate("cvt.ftz.f32.f32 d, a", edges)
    assert [f"{v:g}" for v in got[-2:]] == ["0", "-0"]
    (got,) = evaluate("cvt.rpi.ftz.s32.f32 d, a", edges[-2:])
    assert got.tolist() == [0, 0]
    (got,) = evaluate("cvt.rpi.s32.f32 d, a", edges[-2:])
    assert got.tolist() == [1, 0]
    (got,) = evaluate("cvt.rn.ftz.f32.f64 d, a", np.array([1e-40, -1e-40, 1.0]))
    assert [f"{v:g}" for v in got] == ["0", "-0", "1"]


def test_tf32_rounds_ties_away_from_zero() -> None:
    unit = 2.0**-10
    values = np.array([1, 1 + unit / 2, 1 + 1.5 * unit, 1 + 0.49 * unit, 2 - unit / 4, -1 - unit / 2], np.float32)
    (got,) = evaluate("cvt.rna.tf32.f32 d, a", values)
    wanted = np.array([1, 1 + unit, 1 + 2 * unit, 1, 2, -1 - unit], np.float32)
    np.testing.assert_array_equal(got.view(np.float32), wanted)
    (got,) = evaluate("cvt.rn.tf32.f32 d, a", values)
    np.testing.assert_array_equal(got.view(np.float32), np.array([1, 1, 1 + 2 * unit, 1, 2, -1], np.float32))
    infinite = np.array([np.inf, -np.inf], np.float32)
    np.testing.assert_array_equal(evaluate("cvt.rna.tf32.f32 d, a", infinite)[0].view(np.float32), infinite)


@pytest.mark.parametrize("element", ["s8", "u8", "s16", "u16"])
def test_pack(element: str) -> None:
    width = int(element[1:])
    mask = (1 << width) - 1
    a, b, above = (samples(name, 300, 9) for name in ("s32", "s32", "b32"))
    b = b[::-1].copy()
    if width == 16:
        above = np.zeros_like(above)
        (got,) = evaluate(f"cvt.pack.sat.{element}.s32 d, a, b", a, b)
    else:
        (got,) = evaluate(f"cvt.pack.sat.{element}.s32.b32 d, a, b, c", a, b, above)
    for x, y, z, lane in zip(a.tolist(), b.tolist(), above.tolist(), got.tolist(), strict=True):
        wanted = z << 2 * width | (clamp(x, element) & mask) << width | clamp(y, element) & mask
        assert lane == wanted & 0xFFFFFFFF


@pytest.mark.parametrize(
    "text", ["cvt.f32.s32 d, a", "cvt.s32.f32 d, a", "cvt.rn.s32.f32 d, a", "cvt.rni.f32.f64 d, a"]
)
def test_a_missing_rounding_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedInstruction):
        lower(text)


def test_types_of_one_width_are_the_same_bits() -> None:
    array = samples("b32", 50, 2)
    (got,) = evaluate("cvt.s32.u32 d, a", array)
    np.testing.assert_array_equal(as_type(got, "u32"), array)


#: Eight bits of NVIDIA's formats -> NumPy's type; the greatest number.
EIGHT_BITS = {"e4m3x2": (ml_dtypes.float8_e4m3fn, 448.0), "e5m2x2": (ml_dtypes.float8_e5m2, 57344.0)}
RELU = pytest.mark.parametrize("relu", ["", ".relu"])


def clamped(values: np.ndarray, name: str, relu: str) -> list[int]:
    """The bytes of numbers that are rounded to 8 bits, none beyond the greatest one."""
    dtype, most = EIGHT_BITS[name]
    least = 0.0 if relu else -most
    kept = np.where((values > 0) | (not relu), values, 0.0) if relu else values
    found = np.clip(kept, least, most).astype(np.float32).astype(dtype).view(np.uint8)
    return np.where(np.isnan(values), 0x7F, found).tolist()


def pairs_of_bytes(got: np.ndarray) -> tuple[list[int], list[int]]:
    return (got >> 8).tolist(), (got & 0xFF).tolist()


@RELU
@pytest.mark.parametrize("name", EIGHT_BITS)
def test_two_numbers_to_eight_bits_each(name: str, relu: str) -> None:
    dtype, most = EIGHT_BITS[name]
    every = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    finite = np.sort(every[np.isfinite(every)])
    ties = (finite[1:] + finite[:-1]) / 2
    edges = np.array([most * 1.04, -most * 1.1, np.inf, -np.inf, np.nan, -np.nan, 1e-9, -1e-9], np.float32)
    near = [np.nextafter(ties, side, dtype=np.float32) for side in (np.float32(-np.inf), np.float32(np.inf))]
    first = np.concatenate([every, ties, *near, edges])
    second = first[::-1].copy()
    (got,) = evaluate(f"cvt.rn.satfinite{relu}.{name}.f32 d, a, b", first, second)
    assert pairs_of_bytes(got) == (clamped(first, name, relu), clamped(second, name, relu))
    halves = first.astype(np.float16)
    packed = halves.view(np.uint16).astype(np.uint32) << 16 | halves[::-1].view(np.uint16)
    (got,) = evaluate(f"cvt.rn.satfinite{relu}.{name}.f16x2 d, a", packed)
    wide = halves.astype(np.float32)
    assert pairs_of_bytes(got) == (clamped(wide, name, relu), clamped(wide[::-1], name, relu))


@RELU
@pytest.mark.parametrize("name", EIGHT_BITS)
def test_eight_bits_to_two_halves(name: str, relu: str) -> None:
    low = np.arange(256, dtype=np.uint16)
    high = low[::-1]
    (got,) = evaluate(f"cvt.rn.f16x2{relu}.{name} d, a", high << 8 | low)
    for part, given in ((got >> 16, high), (got & 0xFFFF, low)):
        found = part.astype(np.uint16).view(np.float16)
        wanted = given.astype(np.uint8).view(EIGHT_BITS[name][0]).astype(np.float16)
        none = np.isnan(wanted)
        assert part[none].tolist() == [0x7FFF] * int(none.sum())
        negative = np.signbit(wanted) & ~none
        right = np.where(negative, np.float16(0), wanted) if relu else wanted
        assert found[~none].view(np.uint16).tolist() == right[~none].view(np.uint16).tolist()
