"""Numbers of tensor cores and of small formats, each beside a slow answer: fractions, tables of all values, loops."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from softlab.emulator.opcodes import formats, fragments, parts, special_functions, tensor_numbers
from softlab.emulator.opcodes.approximate import _rounded_reciprocal
from softlab.emulator.opcodes.descriptors import Descriptors
from softlab.emulator.opcodes.fp8 import narrow_fp8, widen_fp8
from softlab.emulator.opcodes.fragments import Fragment

# Fragments: PTX ISA, "Matrix Fragments for mma.m8n8k4" and the sections behind it. i is the element of a lane.

#: (fragment, (lane, i) -> (row, column)), as the sections have it.
FRAGMENTS: dict[str, tuple[Fragment, Callable[[int, int], tuple[int, int]]]] = {
    "A, m16n8k16, f16": (fragments.left(16, 16, 2), lambda t, i: (
        t // 4 + (0 if i in (0, 1, 4, 5) else 8), t % 4 * 2 + (i & 1) + (8 if i >= 4 else 0))),
    "A, m16n8k8, f16": (fragments.left(16, 8, 2), lambda t, i: (t // 4 + (0 if i < 2 else 8), t % 4 * 2 + (i & 1))),
    "A, m16n8k32, s8": (fragments.left(16, 32, 4), lambda t, i: (
        t // 4 + (0 if i in (0, 1, 2, 3, 8, 9, 10, 11) else 8), t % 4 * 4 + (i & 3) + (16 if i >= 8 else 0))),
    "A, m16n8k4, tf32": (fragments.left(16, 4, 1), lambda t, i: (t // 4 + 8 * i, t % 4)),
    "A, m16n8k8, tf32": (fragments.left(16, 8, 1), lambda t, i: (
        t // 4 + (0 if i in (0, 2) else 8), t % 4 + (4 if i >= 2 else 0))),
    "A, m8n8k4, f64": (fragments.left(8, 4, 1), lambda t, i: (t // 4, t % 4)),
    "A, m8n8k16, s8": (fragments.left(8, 16, 4), lambda t, i: (t // 4, t % 4 * 4 + i)),
    "B, m16n8k16, f16": (fragments.right(16, 8, 2), lambda t, i: (t % 4 * 2 + (i & 1) + (8 if i >= 2 else 0), t // 4)),
    "B, m16n8k32, s8": (fragments.right(32, 8, 4), lambda t, i: (t % 4 * 4 + (i & 3) + (16 if i >= 4 else 0), t // 4)),
    "B, m16n8k8, tf32": (fragments.right(8, 8, 1), lambda t, i: (t % 4 + 4 * i, t // 4)),
    "B, m8n8k4, f64": (fragments.right(4, 8, 1), lambda t, i: (t % 4, t // 4)),
    "C, m16n8, f32": (fragments.result(16, 8, 1), lambda t, i: (t // 4 + (0 if i < 2 else 8), t % 4 * 2 + (i & 1))),
    "C, m16n8, f16": (fragments.result(16, 8, 2), lambda t, i: (t // 4 + (0 if i < 2 else 8), t % 4 * 2 + (i & 1))),
    "C, m8n8, f64": (fragments.result(8, 8, 1), lambda t, i: (t // 4, t % 4 * 2 + i)),
    "D of wgmma, n24": (fragments.result(16, 24, 1), lambda t, i: (
        t // 4 + (8 if i & 2 else 0), t % 4 * 2 + (i & 1) + 8 * (i // 4))),
    "A by row, m8n8k4, f16": (fragments.quad_left(True), lambda t, i: (
        t % 16 // 4 * 8 + t % 4 + (4 if t >= 16 else 0), i)),
    "A by column, m8n8k4, f16": (fragments.quad_left(False), lambda t, i: (
        t % 16 // 4 * 8 + i + (4 if t >= 16 else 0), t % 4)),
    "B by row, m8n8k4, f16": (fragments.quad_right(True), lambda t, i: (
        t % 16 // 4 * 4 + t % 4, i + (4 if t >= 16 else 0))),
    "B by column, m8n8k4, f16": (fragments.quad_right(False), lambda t, i: (
        t % 16 // 4 * 4 + i, t % 4 + (4 if t >= 16 else 0))),
    "C, m8n8k4, f16": (fragments.quad_result(2), lambda t, i: (t % 16 // 4 * 8 + t % 4 + (4 if t >= 16 else 0), i)),
    "C, m8n8k4, f32": (fragments.quad_result(1), lambda t, i: (
        t % 16 // 4 * 8 + (t & 1) + (i & 2) + (4 if t >= 16 else 0), (i & 4) + (t & 2) + (i & 1))),
}  # fmt: skip


@pytest.mark.parametrize("name", list(FRAGMENTS))
def test_where_each_element_of_a_matrix_is(name: str) -> None:
    found, place = FRAGMENTS[name]
    count = found.registers * found.elements
    assert count * 32 == found.rows * found.columns
    values, matrix = np.zeros((2, 32, count), int), np.arange(2 * found.rows * found.columns)
    matrix = matrix.reshape(2, found.rows, found.columns)
    for which, lane, i in product(range(2), range(32), range(count)):
        values[which, lane, i] = matrix[(which, *place(lane, i))]
    assert np.array_equal(found.matrix(values), matrix)
    assert np.array_equal(found.spread(matrix), values)
    assert np.array_equal(found.matrix(values[0]), matrix[0])


# Tensor cores: the rules that tensor_numbers.py states, in fractions

#: Of each format: unsigned type, NumPy's type, least exponent.
NUMBERS: dict[str, tuple[Any, Any, int]] = {
    "f16": (np.uint16, np.float16, -14), "bf16": (np.uint16, ml_dtypes.bfloat16, -126),
    "e4m3": (np.uint8, ml_dtypes.float8_e4m3fn, -6), "e5m2": (np.uint8, ml_dtypes.float8_e5m2, -14),
}  # fmt: skip


@pytest.mark.parametrize("kind", list(NUMBERS))
def test_every_number_of_a_small_format(kind: str) -> None:
    unsigned, numpy, least = NUMBERS[kind]
    bits = np.arange(1 << 8 * unsigned().itemsize).astype(unsigned)
    with np.errstate(all="ignore"):
        got, expected = tensor_numbers.number(kind, bits), bits.view(numpy).astype(np.float32)
        assert got.dtype == np.float32
        assert np.array_equal(got, expected, equal_nan=True)
        assert np.array_equal(np.signbit(got)[~np.isnan(got)], np.signbit(expected)[~np.isnan(got)])
        finite = got[np.isfinite(got)]
        found = tensor_numbers.exponent(kind, finite)
    for value, one in zip(finite[::7].tolist(), found[::7].tolist(), strict=True):
        assert one == (max(math.frexp(value)[1] - 1, least) if value else -600)


def test_wide_numbers() -> None:
    bits = np.array([0x3F801FFF, 0xC0490FDB, 0x00002001, 0x80001FFF], np.uint32)
    assert np.array_equal(tensor_numbers.number("f32", bits), bits.view(np.float32))
    cut = np.array([0x3F800000, 0xC0490000, 0x00002000, 0x80000000], np.uint32)
    assert np.array_equal(tensor_numbers.number("tf32", bits).view(np.uint32), cut)
    values = np.array([1.0, -(2.0**-126), 2.0**-149, 3.0e38, 0.0], np.float32)
    for kind in ("f32", "tf32", "bf16"):
        assert tensor_numbers.exponent(kind, values).tolist() == [0, -126, -126, 127, -600]
    assert tensor_numbers.exponent("f16", values).tolist() == [0, -14, -14, 127, -600]
    powers = np.array([-1022, -149, -1, 0, 1, 1023])
    assert tensor_numbers.power_of_two(powers).tolist() == [2.0 ** int(power) for power in powers]


def slow_sum(a: list[float], b: list[float], c: float, kinds: tuple[str, str, str], bits: int) -> Fraction:
    """All products and c, each cut to a multiple of the unit that the largest exponent decides."""
    least = {"f16": -14, "bf16": -126, "tf32": -126, "f32": -126, "e4m3": -6, "e5m2": -14}

    def exponent(kind: str, value: float) -> int:
        return max(math.frexp(value)[1] - 1, least[kind]) if value else -600

    tops = [exponent(kinds[0], x) + exponent(kinds[1], y) for x, y in zip(a, b, strict=True)]
    top = max(*tops, exponent(kinds[2], c), least[kinds[2]] - 7)
    unit = Fraction(2) ** (top - bits)
    terms = [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)] + [Fraction(c)]
    return sum((math.trunc(term / unit) * unit for term in terms), Fraction(0))


@pytest.mark.parametrize("kinds", [("f16", "f16", "f32"), ("f16", "f16", "f16"), ("bf16", "bf16", "f32"),
                                   ("e4m3", "e5m2", "f32"), ("e5m2", "e4m3", "f16")])  # fmt: skip
@pytest.mark.parametrize("bits", [tensor_numbers.UNIT_BITS, 13])
def test_a_sum_of_products(kinds: tuple[str, str, str], bits: int) -> None:
    random = np.random.default_rng(3)

    def drawn(kind: str, *shape: int) -> np.ndarray:
        spread = {"f16": 12, "bf16": 40, "f32": 60, "e4m3": 7, "e5m2": 13}[kind]
        values = random.standard_normal(shape) * 2.0 ** random.integers(-spread, spread, shape)
        values[random.random(shape) < 0.15] = 0
        if kind == "f32":
            return values.astype(np.float32)
        with np.errstate(all="ignore"):
            small = np.nan_to_num(values.astype(NUMBERS[kind][1]).astype(np.float32), posinf=1, neginf=-1)
        return small.astype(np.float32)

    for scale in (1, 0):
        a, b, c = drawn(kinds[0], 2, 3, 5), drawn(kinds[1], 2, 4, 5), drawn(kinds[2], 2, 3, 4) * np.float32(scale)
        a[1, 1], b[0, 2] = 0, 0
        got = tensor_numbers.fused_sum(a, b, c, kinds, bits)
        for k, m, n in product(range(2), range(3), range(4)):
            wanted = slow_sum(a[k, m].tolist(), b[k, n].tolist(), float(c[k, m, n]), kinds, bits)
            assert Fraction(float(got[k, m, n])) == wanted
    assert tensor_numbers.UNIT_BITS == 25


def test_sums_below_every_number_of_the_accumulator() -> None:
    """The largest exponent is at least 7 less than that of subnormals: what is below its unit is lost."""
    tiny = np.full((1, 1), 2.0**-10, np.float32)
    c = np.zeros((1, 1), np.float32)
    for kind, kept in (("f16", -21 - 25), ("f32", -133 - 25)):
        for power in (kept - 1, kept, kept + 1):
            other = np.full((1, 1), 2.0 ** (power + 10), np.float32)
            total = tensor_numbers.fused_sum(tiny, other, c, ("bf16", "bf16", kind))
            assert total[0, 0] == (2.0**power if power >= kept or power + 25 > 0 else 0), (kind, power)


def totals() -> np.ndarray:
    random = np.random.default_rng(6)
    drawn = random.standard_normal(400) * 2.0 ** random.integers(-155, 129, 400)
    small = random.standard_normal(400) * 2.0 ** random.integers(-27, 17, 400)
    edges = [0.0, -0.0, 2.0**-149, -(2.0**-150), 2.0**-126, 2.0**-126 * (1 - 2.0**-24), 65504.0, 65519.99, 65520.0,
    -65520.0,
             2.0**-24, 2.0**-25, -(2.0**-25), 1.5 * 2.0**-25, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 2.0**128, np.inf, -np.inf,
             (2 - 2.0**-30) * 2.0**127, -(2 - 2.0**-30) * 2.0**127, np.nan, -1 - 2.0**-24, 1e300]  # fmt: skip
    return np.array([*drawn, *small, *edges])


def test_totals_cut_to_f32() -> None:
    """From 2**128 on they are infinite."""
    values = totals()
    with np.errstate(all="ignore"):
        got = tensor_numbers.cut_to_f32(values)
        near = values.astype(np.float32)
        cut = np.where(np.abs(near.astype(np.float64)) > np.abs(values), np.nextafter(near, np.float32(0)), near)
        cut = np.where(np.abs(values) >= 2.0**128, near, cut)
    expected = np.where(np.isnan(values), np.uint32(0x7FFFFFFF), np.where(cut == 0, np.float32(0), cut).view(np.uint32))
    assert got.tolist() == expected.tolist()


def test_totals_rounded_to_f16() -> None:
    values = totals()
    with np.errstate(all="ignore"):
        got, near = tensor_numbers.round_to_f16(values), values.astype(np.float16)
    expected = np.where(np.isnan(values), np.uint16(0x7FFF), np.where(near == 0, np.float16(0), near).view(np.uint16))
    assert got.tolist() == expected.tolist()


def nearest_f32(exact: Fraction) -> np.float32:
    """Rounded once, to nearest and even."""
    near = np.float32(float(exact))
    around = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    return min(around, key=lambda one: (abs(Fraction(float(one)) - exact), int(one.view(np.uint32)) & 1))


@pytest.mark.parametrize("in_pairs", [False, True])
def test_products_of_ordinary_instructions(in_pairs: bool) -> None:
    random = np.random.default_rng(8)
    a, b = (random.standard_normal((2, 3, 4)).astype(np.float16).astype(np.float32) for _ in range(2))
    c = random.standard_normal((2, 3, 3)).astype(np.float32)
    got = tensor_numbers.chain_f32(a, b, c, in_pairs)
    for which, m, n in product(range(2), range(3), range(3)):
        products = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[which, m], b[which, n], strict=True)]
        start = Fraction(float(c[which, m, n]))
        if in_pairs:
            first, second = (nearest_f32(products[k] + products[k + 1]) for k in (0, 2))
            total = nearest_f32(Fraction(float(nearest_f32(start + Fraction(float(first))))) + Fraction(float(second)))
        else:
            total = np.float32(0)
            for one in products:
                total = nearest_f32(Fraction(float(total)) + one)
            total = nearest_f32(Fraction(float(total)) + start)
        assert got[which, m, n] == total


def test_a_chain_of_doubles() -> None:
    random = np.random.default_rng(9)
    a, b, c = random.standard_normal((3, 4)), random.standard_normal((2, 4)), random.standard_normal((3, 2))
    got = tensor_numbers.chain_f64(a, b, c, "rn")
    for m, n in product(range(3), range(2)):
        total = float(c[m, n])
        for k in range(4):
            total = float(Fraction(float(a[m, k])) * Fraction(float(b[n, k])) + Fraction(total))
        assert got[m, n] == total


def test_which_nan_of_doubles_goes_on() -> None:
    """That of B, then the accumulator's, then A's; quiet."""
    signalling = [np.uint64(0x7FF0000000000000 + n).view(np.float64) for n in (1, 2, 3)]
    for here in product((False, True), repeat=3):
        a, b, c = (np.full((1, 1), nan if one else 1.0) for nan, one in zip(signalling, here, strict=True))
        with np.errstate(all="ignore"):
            got = int(tensor_numbers.chain_f64(a, b, c, "rn").view(np.uint64)[0, 0])
        order = [2] * here[1] + [3] * here[2] + [1] * here[0]
        assert got == (0x7FF8000000000000 + order[0] if order else np.float64(2).view(np.uint64))


@pytest.mark.parametrize("saturate", [False, True])
def test_whole_sums(saturate: bool) -> None:
    random = np.random.default_rng(2)
    a, b = random.integers(-128, 128, (2, 3, 64)), random.integers(0, 256, (2, 4, 64))
    c = random.choice([0, 1, -1, 2**31 - 1, -(2**31), 2**31 - 2**20], (2, 3, 4)).astype(np.int32)
    got = tensor_numbers.whole_sum(a.astype(np.int8), b.astype(np.uint8), c, saturate)
    assert got.dtype == np.int32
    for which, m, n in product(range(2), range(3), range(4)):
        total = sum(int(x) * int(y) for x, y in zip(a[which, m], b[which, n], strict=True)) + int(c[which, m, n])
        wrapped = (total + 2**31) % 2**32 - 2**31
        assert got[which, m, n] == (min(max(total, -(2**31)), 2**31 - 1) if saturate else wrapped)


@pytest.mark.parametrize("operation", ["xor", "and"])
def test_sums_of_bits(operation: str) -> None:
    random = np.random.default_rng(2)
    a, b = random.integers(0, 2**32, (2, 3, 4), np.uint32), random.integers(0, 2**32, (2, 5, 4), np.uint32)
    c = random.integers(-100, 100, (2, 3, 5), np.int32)
    got = tensor_numbers.bit_sum(a, b, c, operation)
    for which, m, n in product(range(2), range(3), range(5)):
        pairs = zip(a[which, m].tolist(), b[which, n].tolist(), strict=True)
        ones = sum((x ^ y if operation == "xor" else x & y).bit_count() for x, y in pairs)
        assert got[which, m, n] == ones + c[which, m, n]


# Descriptors of wgmma: PTX ISA, "Matrix Descriptor Format"

WIDTHS = {0: 16, 1: 128, 2: 64, 3: 32}


def slow_piece(address: int, base: int, width: int) -> int:
    """The bits from 4 on that number the piece, each combined with those from 7 on, which number the row."""
    bits = {16: 0, 32: 1, 64: 2, 128: 3}[width]
    row = ((address >> 7) - base) % 8
    for bit in range(bits):
        if row >> bit & 1:
            address ^= 16 << bit
    return address


@pytest.mark.parametrize("along_k", [True, False])
def test_the_pieces_of_a_matrix(along_k: bool) -> None:
    random = np.random.default_rng(11)
    count, k = 24, 16
    fields = [tuple(map(int, (random.integers(0, 2000), random.integers(0, 600), random.integers(0, 600),
                              random.integers(0, 8), swizzle))) for swizzle in (0, 1, 2, 3) * 3]  # fmt: skip
    fields.append((0x3FFF, 0x3FFF, 0x3FFF, 7, 3))
    bits = [start | lead << 16 | stride << 32 | base << 49 | mode << 62 for start, lead, stride, base, mode in fields]
    first = np.array([8 * int(one) for one in random.integers(0, 5, len(fields))])
    made = Descriptors.of(np.array(bits, np.uint64))
    assert [made.start.tolist(), made.leading.tolist(), made.stride.tolist()] == [
        [16 * field[part] for field in fields] for part in range(3)
    ]
    assert made.base.tolist() == [field[3] for field in fields]
    got = made.pieces(first, count, k, along_k)
    assert got.shape == (len(fields), *((count, 2) if along_k else (count // 8, k)))
    for number, (start, lead, stride, base, mode) in enumerate(fields):
        width = WIDTHS[mode]
        for at, other in product(range(got.shape[1]), range(got.shape[2])):
            if along_k:
                line = int(first[number]) + at
                beside = other * (16 * lead if width == 16 else 16)
                offset = line % 8 * width + line // 8 * 16 * stride + beside
            else:
                unit = int(first[number]) // 8 + at
                wide, deep = (stride, lead) if width == 16 else (lead, stride)
                offset = unit % (width // 16) * 16 + unit // (width // 16) * 16 * wide
                offset += other % 8 * width + other // 8 * 16 * deep
            assert got[number, at, other] == slow_piece(16 * start + offset, base, width)


# Integers in parts


@pytest.mark.parametrize("kind", ["s16", "u16", "s32", "u32", "s64", "u64"])
def test_the_upper_half_of_a_product(kind: str) -> None:
    bits, signed = int(kind[1:]), kind[0] == "s"
    low = -(1 << bits - 1) if signed else 0
    high = low + (1 << bits) - 1
    edges = [low, low + 1, high, high - 1, 0, 1, 1 << bits // 2, (1 << bits // 2) - 1, high // 3, low // 3]
    drawn = [int.from_bytes(np.random.default_rng(n).bytes(bits // 8), "little", signed=signed) for n in range(20)]
    pairs = list(product([*edges, *drawn], repeat=2))
    a, b = (np.array([pair[side] for pair in pairs], f"{'i' if signed else 'u'}{bits // 8}") for side in (0, 1))
    with np.errstate(all="ignore"):
        assert parts.high_product(kind)(a, b).tolist() == [(x * y) >> bits for x, y in pairs]


@pytest.mark.parametrize(("kind", "count"), [(kind, count) for kind in ("u32", "s32") for count in (1, 2, 4)])
def test_the_parts_of_a_register(kind: str, count: int) -> None:
    words = np.array([0, 1, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x01FF8000, 0xFF00807F, 0x12345678], np.uint32)
    given = words if kind == "u32" else words.view(np.int32)
    bits = 32 // count
    for index, found in enumerate(parts.parts(kind, count)(given)):
        expected = [int(word) >> bits * index & (1 << bits) - 1 for word in words]
        if kind == "s32":
            expected = [one - (1 << bits) if one >> bits - 1 else one for one in expected]
        assert found.tolist() == expected


def test_lanes_of_16_bits_in_registers() -> None:
    swap = parts.packed(lambda a, b: b - a, "s16")
    a, b = np.array([0x00010002, 0x80007FFF], np.uint32), np.uint32(0x00030001)
    assert swap(a, b).tolist() == [0x0002FFFF, 0x80038002]
    one = swap(np.uint32(0x00010002), b)
    assert (one, np.ndim(one), one.dtype) == (0x0002FFFF, 0, np.uint32)


# Conversions, each beside the list of all numbers of the format


class Numbers:
    """All finite numbers of a format, as fractions, with their bits; the greatest is followed by infinity."""

    def __init__(self, numpy: Any, width: int) -> None:
        bits = np.arange(1 << width - 1).astype(f"u{width // 8}")
        with np.errstate(all="ignore"):
            values = bits.view(numpy).astype(np.float64)
        self.values = [Fraction(value) for value in values.tolist() if math.isfinite(value)]
        self.infinity, self.sign = len(self.values), 1 << width - 1
        self.step = self.values[-1] - self.values[-2]

    def rounded(self, exact: Fraction, mode: str, negative: bool) -> int:
        """The bits."""
        size = abs(exact)
        below = bisect_right(self.values, size) - 1
        at = self.values[below]
        above = self.values[below + 1] if below + 1 < len(self.values) else at + self.step
        if size == at or mode == "rz":
            up = False
        elif mode == "rn":
            up = size - at > above - size or (size - at == above - size and below % 2 == 1)
        else:
            up = (mode == "rp") != negative
        return below + up | (self.sign if negative else 0)


F16, BF16 = Numbers(np.float16, 16), Numbers(ml_dtypes.bfloat16, 16)


def doubles() -> list[tuple[float, float]]:
    """(total, its error): numbers of the formats, halves between them, and what is close to either; and large ones."""
    random, found = np.random.default_rng(12), []
    for numbers in (F16, BF16):
        for index in random.integers(0, len(numbers.values) - 1, 60).tolist():
            low, high = numbers.values[index], numbers.values[index + 1]
            for value in (low, (low + high) / 2, (3 * low + high) / 4):
                total = float(value)
                sign = float(random.choice([-1, 1]))
                for error in (0.0, total * 2.0**-60, -total * 2.0**-60):
                    found.append((sign * total, sign * error))
                near = math.nextafter(total, math.inf)
                found += [(sign * near, 0.0), (sign * math.nextafter(total, 0.0), 0.0)]
    for total in (65504.0, 65519.999, 65520.0, 65535.9, 65536.0, 1e30, 3.38e38, 3.3895e38, 3.4e38, 1e39, 5e-324, 0.0):
        found += [(total, 0.0), (-total, 0.0)]
    return found


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_doubles_rounded_once(kind: str, mode: str) -> None:
    """Beyond 2**128 bf16's f32 overflows first, and the answer there is that of the rounding to f32."""
    numbers, rounding = {"f16": (F16, formats.round_f16), "bf16": (BF16, formats.round_bf16)}[kind]
    given = [pair for pair in doubles() if mode != "rn" or kind == "bf16" or not pair[1]]
    total, error = (np.array([pair[side] for pair in given]) for side in (0, 1))
    with np.errstate(all="ignore"):
        got = rounding(total, error, mode).view(np.uint16).tolist()
        alone = [rounding(np.float64(t), np.float64(e), mode) for t, e in given[:40]]
    expected = [numbers.rounded(Fraction(t) + Fraction(e), mode, math.copysign(1, t) < 0) for t, e in given]
    wrong = [(pair, hex(a), hex(b)) for pair, a, b in zip(given, got, expected, strict=True) if a != b]
    assert wrong == []
    assert [int(np.asarray(one).view(np.uint16)) for one in alone] == expected[:40]


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_floats_narrowed_and_widened(kind: str) -> None:
    numbers = {"f16": F16, "bf16": BF16}[kind]
    values = np.array(sorted({float(np.float32(pair[0])) for pair in doubles()}), np.float32)
    values = values[np.isfinite(values)]
    with np.errstate(all="ignore"):
        got = formats.NARROW[kind](values).view(np.uint16).tolist()
    assert got == [numbers.rounded(Fraction(float(one)), "rn", bool(np.signbit(one))) for one in values]
    special = np.array([np.inf, -np.inf, np.nan, -np.nan], np.float32)
    infinity = numbers.infinity
    assert formats.NARROW[kind](special).view(np.uint16).tolist() == [infinity, infinity | 0x8000, 0x7FFF, 0x7FFF]
    bits = np.arange(1 << 16).astype(np.uint16)
    numpy = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}[kind]
    for some in (bits, bits[:0x400]):
        with np.errstate(all="ignore"):
            wide, expected = formats.WIDEN[kind](some.view(np.float16) if kind == "f16" else some), some.view(numpy)
        assert np.array_equal(wide, expected.astype(np.float32), equal_nan=True)
        assert np.array_equal(np.signbit(wide), np.signbit(expected)) or kind == "f16"


@pytest.mark.parametrize(("result", "infinity", "fraction"), [("f16", 0x7C00, 10), ("bf16", 0x7F80, 7)])
def test_a_nan_of_doubles_keeps_its_highest_bits(result: str, infinity: int, fraction: int) -> None:
    """It becomes quiet; its sign stays."""
    convert = formats.float_conversion(result, "f64", "rn")
    for sign, payload in product((0, 1), (1, 1 << 51, 0x5A5A5A5A5A5A5, (1 << 52) - 1, 1 << 52 - fraction)):
        nan = np.array([1.0, np.uint64(sign << 63 | 0x7FF << 52 | payload).view(np.float64)])
        with np.errstate(all="ignore"):
            got = convert(nan).view(np.uint16).tolist()
        high = payload >> 52 - fraction
        assert got[1] == sign << 15 | infinity | 1 << fraction - 1 | high
        assert got[0] == {"f16": 0x3C00, "bf16": 0x3F80}[result]


@pytest.mark.parametrize(("mode", "half", "just"), [("rn", (0, 2), 0), ("rna", (1, 2), 0), ("rz", (0, 1), 0)])
def test_floats_with_ten_bits_behind_the_point(mode: str, half: tuple[int, int], just: int) -> None:
    """tf32: 13 bits go. ``half``: what a half gives behind an even and an odd last bit."""
    base = np.array([0x3F800000, 0x3F802000, 0xBF800000, 0x00002000], np.uint32)
    for low, expected in ((0x0000, just), (0x0FFF, 0), (0x1000, None), (0x1001, mode != "rz"), (0x1FFF, mode != "rz")):
        got = formats.narrow_tf32((base | np.uint32(low)).view(np.float32), mode)
        for one, found in zip(base.tolist(), got.tolist(), strict=True):
            odd = one >> 13 & 1
            steps = half[odd] - odd if expected is None else int(expected)
            assert found == one + (steps << 13), (hex(one), hex(low))
    special = np.array([0x7F800000, 0xFF800000, 0x7FC01234, 0xFF801FFF], np.uint32).view(np.float32)
    nan = [0x7FC00000, 0xFF800000] if mode == "rna" else [0x7FFFE000] * 2
    assert formats.narrow_tf32(special, mode).tolist() == [0x7F800000, 0xFF800000, *nan]


@pytest.mark.parametrize(("name", "numpy", "greatest"), [("e4m3x2", ml_dtypes.float8_e4m3fn, 448.0),
                                                         ("e5m2x2", ml_dtypes.float8_e5m2, 57344.0)])  # fmt: skip
def test_eight_bits(name: str, numpy: Any, greatest: float) -> None:
    bits = np.arange(256).astype(np.uint16)
    with np.errstate(all="ignore"):
        wide = widen_fp8(bits, name).view(np.float16)
        expected = bits.astype(np.uint8).view(numpy).astype(np.float16)
    assert np.array_equal(wide, expected, equal_nan=True)
    assert set(wide[np.isnan(wide)].view(np.uint16).tolist()) == {0x7FFF}
    assert np.array_equal(np.signbit(wide)[~np.isnan(wide)], np.signbit(expected)[~np.isnan(wide)])
    finite = sorted({Fraction(float(one)) for one in expected[:128] if math.isfinite(float(one))})
    assert finite[-1] == greatest
    random = np.random.default_rng(14)
    halves = [(low + high) / 2 for low, high in pairwise(finite)]
    given = [float(value) * sign for value in (*finite, *halves) for sign in (1, -1)]
    given += [*(random.standard_normal(80) * 2.0 ** random.integers(-20, 18, 80)), 1e9, -1e9, np.inf, -np.inf]
    values = np.array(given, np.float32)
    for value, found in zip(values.tolist(), narrow_fp8(values, name).tolist(), strict=True):
        size = min(Fraction(abs(value)) if math.isfinite(value) else Fraction(10**6), finite[-1])
        near = min(range(len(finite)), key=lambda k, size=size: (abs(finite[k] - size), k % 2))
        assert found == near | (0x80 if math.copysign(1, value) < 0 else 0), value
    assert narrow_fp8(np.array([np.nan, -np.nan], np.float32), name).tolist() == [0x7F, 0x7F]


def test_reciprocals_of_numbers_are_those_of_scaled_ones() -> None:
    """The scale is a power of two; with it the reciprocal is rounded to nearest, for one number and for many."""
    random = np.random.default_rng(6)
    sizes = [0, 1, 7, (1 << 23) - 1, 1 << 23, (1 << 23) + 9, 0x3F800000, 0x40400000, 0x7DFFFFFF, 0x7E000000, 0x7E800001,
             0x7F000000, 0x7F7FFFFF, *random.integers(0, 0x7F800000, 60).tolist()]  # fmt: skip
    both = np.array([bits | sign << 31 for bits in sizes for sign in (0, 1)], np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        many, scales = _rounded_reciprocal(both), special_functions.scale_of(both)
        assert scales is not None
        for number, found, scale in zip(both, many, scales, strict=True):
            small, large = abs(number) < 2.0**-126, abs(number) >= 2.0**126
            assert scale in ((2.0**24,) if small else (0.25, 1.0) if large else (1.0,))
            wanted = np.float32(1) / (number * scale)
            if number:
                exact = 1 / (Fraction(float(number)) * Fraction(float(scale)))
                below = np.nextafter(wanted, np.float32(-np.inf))
                above = np.nextafter(wanted, np.float32(np.inf))
                error = abs(Fraction(float(wanted)) - exact)
                assert all(error <= abs(Fraction(float(near)) - exact) for near in (below, above))
            assert found.tobytes() == wanted.tobytes()
            assert _rounded_reciprocal(number).tobytes() == wanted.tobytes()


def places_of(fragment: Fragment) -> dict[tuple[int, int], tuple[int, int]]:
    """(lane, number among its elements) -> (row, column)."""
    whole = fragment.element.reshape(32, -1)
    return {
        (lane, i): divmod(int(whole[lane, i]), fragment.columns) for lane in range(32) for i in range(whole.shape[1])
    }


@pytest.mark.parametrize("by_row", [False, True])
def test_the_elements_of_four_products_at_once(by_row: bool) -> None:
    """PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16": lanes 4p to 4p + 3, and 16 more, have product p."""
    a, b = places_of(fragments.quad_left(by_row)), places_of(fragments.quad_right(by_row))
    for lane, i in product(range(32), range(4)):
        p, upper, low = lane % 16 // 4, 4 * (lane >= 16), lane % 4
        row, column = (low + upper, i) if by_row else (i + upper, low)
        assert a[lane, i] == (8 * p + row, column)
        row, column = (low, i + upper) if by_row else (i, low + upper)
        assert b[lane, i] == (4 * p + row, column)
    assert len(set(a.values())) == len(set(b.values())) == 128
    halves, floats = places_of(fragments.quad_result(2)), places_of(fragments.quad_result(1))
    for lane, i in product(range(32), range(8)):
        p, upper = lane % 16 // 4, 4 * (lane >= 16)
        assert halves[lane, i] == (8 * p + lane % 4 + upper, i)
        assert floats[lane, i] == (8 * p + (lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1))
    assert len(set(halves.values())) == len(set(floats.values())) == 256


@pytest.mark.parametrize(("rows", "columns", "elements"), [(16, 8, 1), (16, 8, 2), (8, 8, 1), (64, 24, 1), (16, 16, 2)])
def test_the_elements_of_a_result(rows: int, columns: int, elements: int) -> None:
    """PTX ISA, "Matrix Fragments for mma.m16n8k16": pairs of columns, rows of 8 one behind the other."""
    found = places_of(fragments.result(rows, columns, elements))
    halves = rows // 8
    for (lane, i), place in found.items():
        pair, of_pair = divmod(i, 2)
        block, half = divmod(pair, halves)
        assert place == (lane // 4 + 8 * half, 8 * block + lane % 4 * 2 + of_pair)
    assert len(set(found.values())) == rows * columns
