"""Integer arithmetic against Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

from softlab.emulator.ptx.syntax import DTYPES
from softlab.errors import UnsupportedInstruction
from softlab.kernel import Kernel
from tests.emulator.opcodes.cases import as_type, evaluate, lower, sampled


def wrap(value: int, name: str) -> int:
    """A Python integer as the bits of this type, read as the type."""
    width = int(name[1:])
    value &= (1 << width) - 1
    return value - (1 << width) if name[0] == "s" and value >> width - 1 else value


def clamp(value: int, name: str) -> int:
    limits = np.iinfo(DTYPES[name])
    return min(max(value, limits.min), limits.max)


def cut(a: int, b: int) -> int:
    """Division towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def check(text: str, source_types: tuple[str, ...], result_type: str, oracle: Callable[..., int]) -> None:
    """Hold an instruction to ``oracle``, which takes Python integers of the types the instruction means."""
    sources, (result,) = sampled(text)
    columns = [as_type(source, name) for source, name in zip(sources, source_types, strict=True)]
    got = as_type(result, result_type)
    for lane, values in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        wanted = wrap(oracle(*values), result_type)
        assert int(got[lane]) == wanted, f"{text} of {values} is {wanted}, not {got[lane]}"


ALL = ("s16", "u16", "s32", "u32", "s64", "u64")
SIGNED = ("s16", "s32", "s64")
WIDE = {"s16": "s32", "u16": "u32", "s32": "s64", "u32": "u64"}


@pytest.mark.parametrize("name", ALL)
def test_two_sources(name: str) -> None:
    width = int(name[1:])
    check(f"add.{name} d, a, b", (name, name), name, lambda a, b: a + b)
    check(f"sub.{name} d, a, b", (name, name), name, lambda a, b: a - b)
    check(f"mul.lo.{name} d, a, b", (name, name), name, lambda a, b: a * b)
    check(f"mul.hi.{name} d, a, b", (name, name), name, lambda a, b: a * b >> width)
    check(f"min.{name} d, a, b", (name, name), name, min)
    check(f"max.{name} d, a, b", (name, name), name, max)
    check(f"div.{name} d, a, b", (name, name), name, lambda a, b: cut(a, b) if b else -1)
    check(f"rem.{name} d, a, b", (name, name), name, lambda a, b: a - cut(a, b) * b if b else -1)


@pytest.mark.parametrize("name", ALL)
def test_three_sources(name: str) -> None:
    width = int(name[1:])
    check(f"mad.lo.{name} d, a, b, c", (name,) * 3, name, lambda a, b, c: a * b + c)
    check(f"mad.hi.{name} d, a, b, c", (name,) * 3, name, lambda a, b, c: (a * b >> width) + c)
    check(f"sad.{name} d, a, b, c", (name,) * 3, name, lambda a, b, c: c + abs(a - b))


@pytest.mark.parametrize("name", WIDE)
def test_wide(name: str) -> None:
    wide = WIDE[name]
    check(f"mul.wide.{name} d, a, b", (name, name), wide, lambda a, b: a * b)
    check(f"mad.wide.{name} d, a, b, c", (name, name, wide), wide, lambda a, b, c: a * b + c)


@pytest.mark.parametrize("name", SIGNED)
def test_one_source(name: str) -> None:
    check(f"abs.{name} d, a", (name,), name, abs)
    check(f"neg.{name} d, a", (name,), name, lambda a: -a)


def test_saturation_and_relu() -> None:
    check("add.sat.s32 d, a, b", ("s32", "s32"), "s32", lambda a, b: clamp(a + b, "s32"))
    check("sub.sat.s32 d, a, b", ("s32", "s32"), "s32", lambda a, b: clamp(a - b, "s32"))
    check("mad.hi.sat.s32 d, a, b, c", ("s32",) * 3, "s32", lambda a, b, c: clamp((a * b >> 32) + c, "s32"))
    check("min.relu.s32 d, a, b", ("s32", "s32"), "s32", lambda a, b: max(min(a, b), 0))
    check("max.relu.s32 d, a, b", ("s32", "s32"), "s32", lambda a, b: max(a, b, 0))


@pytest.mark.parametrize("name", ["s32", "u32"])
def test_24_bits(name: str) -> None:
    def low(value: int) -> int:
        return wrap(value, f"{name[0]}24")

    check(f"mul24.lo.{name} d, a, b", (name, name), name, lambda a, b: low(a) * low(b))
    check(f"mul24.hi.{name} d, a, b", (name, name), name, lambda a, b: low(a) * low(b) >> 16)
    check(f"mad24.lo.{name} d, a, b, c", (name,) * 3, name, lambda a, b, c: low(a) * low(b) + c)
    if name == "s32":
        text = "mad24.hi.sat.s32 d, a, b, c"
        check(text, (name,) * 3, name, lambda a, b, c: clamp((low(a) * low(b) >> 16) + c, "s32"))


def halves(value: int, name: str) -> list[int]:
    return [wrap(value >> shift, name) for shift in (0, 16)]


@pytest.mark.parametrize("name", ["s16", "u16"])
@pytest.mark.parametrize("operation", ["add", "min", "max", "max.relu"])
def test_pairs(name: str, operation: str) -> None:
    if operation == "max.relu" and name == "u16":
        with pytest.raises(UnsupportedInstruction):
            lower("max.u16x2.relu d, a, b")
        return
    functions = {"add": lambda a, b: a + b, "min": min, "max": max, "max.relu": lambda a, b: max(a, b, 0)}

    def oracle(a: int, b: int) -> int:
        low, high = (functions[operation](x, y) for x, y in zip(halves(a, name), halves(b, name), strict=True))
        return (high & 0xFFFF) << 16 | low & 0xFFFF

    opcode, *relu = operation.split(".")
    check(".".join([opcode, f"{name}x2", *relu]) + " d, a, b", ("u32", "u32"), "u32", oracle)


def parts(value: int, count: int, signed: bool) -> list[int]:
    bits = 32 // count
    return [wrap(value >> bits * index, f"{'s' if signed else 'u'}{bits}") for index in range(count)]


@pytest.mark.parametrize("a_type", ["s32", "u32"])
@pytest.mark.parametrize("b_type", ["s32", "u32"])
def test_dot_products(a_type: str, b_type: str) -> None:
    result = "u32" if a_type == b_type == "u32" else "s32"
    types = (a_type, b_type, result)

    def dot4(a: int, b: int, c: int) -> int:
        return c + sum(x * y for x, y in zip(parts(a, 4, a_type == "s32"), parts(b, 4, b_type == "s32"), strict=True))

    def dot2(a: int, b: int, c: int, start: int) -> int:
        chosen = parts(b, 4, b_type == "s32")[start : start + 2]
        return c + sum(x * y for x, y in zip(parts(a, 2, a_type == "s32"), chosen, strict=True))

    check(f"dp4a.{a_type}.{b_type} d, a, b, c", types, result, dot4)
    check(f"dp2a.lo.{a_type}.{b_type} d, a, b, c", types, result, lambda a, b, c: dot2(a, b, c, 0))
    check(f"dp2a.hi.{a_type}.{b_type} d, a, b, c", types, result, lambda a, b, c: dot2(a, b, c, 2))


@pytest.mark.parametrize("width", [32, 64])
def test_carry(width: int) -> None:
    """A carry is what does not fit in the result. A subtraction adds the complement: without a borrow it is 1."""
    name = f"u{width}"
    full = 1 << width

    def check_carry(text: str, oracle: Callable[..., int]) -> None:
        semantics = lower(text)
        sources, results = sampled(text)
        assert semantics.carry_in == (len(sources) > text.count(","))
        assert semantics.carry_out == (len(results) == 2)
        for lane, values in enumerate(zip(*(source.tolist() for source in sources), strict=True)):
            total = oracle(*values)
            assert int(results[0][lane]) == total % full, (text, values)
            if semantics.carry_out:
                assert bool(results[1][lane]) == (total // full != 0), (text, values)

    check_carry(f"add.cc.{name} d, a, b", lambda a, b: a + b)
    check_carry(f"addc.{name} d, a, b", lambda a, b, carry: a + b + carry)
    check_carry(f"addc.cc.{name} d, a, b", lambda a, b, carry: a + b + carry)
    check_carry(f"sub.cc.{name} d, a, b", lambda a, b: a + (full - 1 - b) + 1)
    check_carry(f"subc.{name} d, a, b", lambda a, b, carry: a + (full - 1 - b) + carry)
    check_carry(f"subc.cc.{name} d, a, b", lambda a, b, carry: a + (full - 1 - b) + carry)
    for part, take in (("lo", lambda product: product % full), ("hi", lambda product: product // full)):
        check_carry(f"mad.{part}.cc.{name} d, a, b, c", lambda a, b, c, take=take: take(a * b) + c)
        check_carry(f"madc.{part}.{name} d, a, b, c", lambda a, b, c, carry, take=take: take(a * b) + c + carry)
        check_carry(f"madc.{part}.cc.{name} d, a, b, c", lambda a, b, c, carry, take=take: take(a * b) + c + carry)


@pytest.mark.parametrize("compiled", ["none", "all"])
def test_a_128_bit_quotient(compiled: Literal["none", "all"]) -> None:
    """The compiler's division reads the carry of a subtraction with ``addc``."""
    kernel = Kernel(
        """extern "C" __global__ void divide(const ulonglong2* a, const ulonglong2* b, ulonglong2* q) {
          int t = threadIdx.x;
          unsigned __int128 x = (unsigned __int128)a[t].y << 64 | a[t].x, y = (unsigned __int128)b[t].y << 64 | b[t].x;
          x /= y; q[t] = make_ulonglong2(x, x >> 64); }""",
        "divide",
        options=["--device-int128"],
    )
    draw = np.random.default_rng(5)
    a, b = draw.integers(0, 2**64, (2, 64, 2), np.uint64)
    b[:, 1] >>= draw.integers(0, 64, 64, np.uint64)
    b[::8, 1] = 0
    q = np.zeros_like(a)
    kernel.run(1, 64, (a, b, q), compiled=compiled)
    whole = [[int(low) + (int(high) << 64) for low, high in side] for side in (a, b, q)]
    assert [x // y for x, y in zip(*whole[:2], strict=True)] == whole[2]


def test_a_128_bit_product_by_parts() -> None:
    """The chain that a compiler makes of a 128-bit product of two 64-bit integers, held to Python's product."""
    a, b = (np.random.default_rng(seed).integers(0, 2**64, 200, dtype=np.uint64) for seed in (1, 2))
    a_low, a_high, b_low, b_high = (part.astype(np.uint32) for v in (a, b) for part in (v, v >> np.uint64(32)))
    zero = np.zeros_like(a_low)
    (r0,) = evaluate("mul.lo.u32 d, a, b", a_low, b_low)
    (r1,) = evaluate("mul.hi.u32 d, a, b", a_low, b_low)
    r1, carry = evaluate("mad.lo.cc.u32 d, a, b, c", a_high, b_low, r1)
    (r2,) = evaluate("madc.hi.u32 d, a, b, c", a_high, b_low, zero, carry)
    r1, carry = evaluate("mad.lo.cc.u32 d, a, b, c", a_low, b_high, r1)
    r2, carry = evaluate("madc.hi.cc.u32 d, a, b, c", a_low, b_high, r2, carry)
    (r3,) = evaluate("addc.u32 d, a, b", zero, zero, carry)
    r2, carry = evaluate("mad.lo.cc.u32 d, a, b, c", a_high, b_high, r2)
    (r3,) = evaluate("madc.hi.u32 d, a, b, c", a_high, b_high, r3, carry)
    for lane in range(len(a)):
        got = sum(int(part[lane]) << 32 * index for index, part in enumerate((r0, r1, r2, r3)))
        assert got == int(a[lane]) * int(b[lane])


@pytest.mark.parametrize(
    "text", ["add.sat.u32 d, a, b", "mul.s32 d, a, b", "mul.wide.s64 d, a, b", "abs.u32 d, a", "add.rn.s32 d, a, b"]
)
def test_what_ptx_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedInstruction):
        lower(text)


VIDEO = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
}


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("opcode", VIDEO)
@pytest.mark.parametrize("types", ["u32.u32.u32", "s32.s32.s32", "u32.s32.u32"])
def test_video(opcode: str, count: int, types: str) -> None:
    result, a_type, b_type = types.split(".")
    bits = 32 // count
    narrow = np.iinfo(f"{'i' if result == 's32' else 'u'}{bits // 8}")

    def lanes(a: int, b: int) -> list[int]:
        pairs = zip(parts(a, count, a_type == "s32"), parts(b, count, b_type == "s32"), strict=True)
        return [VIDEO[opcode](x, y) for x, y in pairs]

    def side_by_side(values: list[int]) -> int:
        return sum((value & ((1 << bits) - 1)) << bits * index for index, value in enumerate(values))

    def clamped(a: int, b: int, _: int) -> int:
        return side_by_side([min(max(value, int(narrow.min)), int(narrow.max)) for value in lanes(a, b)])

    meant = (a_type, b_type, result)
    check(f"{opcode}{count}.{types} d, a, b, c", meant, result, lambda a, b, _: side_by_side(lanes(a, b)))
    check(f"{opcode}{count}.{types}.sat d, a, b, c", meant, result, clamped)
    check(f"{opcode}{count}.{types}.add d, a, b, c", meant, result, lambda a, b, c: c + sum(lanes(a, b)))
