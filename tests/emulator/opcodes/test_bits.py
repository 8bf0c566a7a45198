"""Logic, shifts and bits against Python's integers, bit by bit."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from softlab.emulator.opcodes.bits import permute_bytes
from softlab.errors import UnsupportedInstruction
from tests.emulator.opcodes.cases import as_type, bits, evaluate, lower, sampled

ONES = 0xFFFFFFFF


def check(text: str, oracle: Callable[..., int], types: tuple[str, ...] = ()) -> None:
    """Hold an instruction to ``oracle`` of Python integers; ``types`` where they are not the semantics' own."""
    sources, (result,) = sampled(text)
    if types:
        sources = tuple(as_type(source, name) for source, name in zip(sources, types, strict=True))
    width = 8 * result.dtype.itemsize
    for lane, values in enumerate(zip(*(source.tolist() for source in sources), strict=True)):
        wanted = oracle(*values) & ((1 << width) - 1)
        assert int(bits(result)[lane]) == wanted, f"{text} of {values} is {wanted:#x}, not {bits(result)[lane]:#x}"


@pytest.mark.parametrize("width", [16, 32, 64])
def test_logic(width: int) -> None:
    check(f"and.b{width} d, a, b", lambda a, b: a & b)
    check(f"or.b{width} d, a, b", lambda a, b: a | b)
    check(f"xor.b{width} d, a, b", lambda a, b: a ^ b)
    check(f"not.b{width} d, a", lambda a: ~a)
    check(f"cnot.b{width} d, a", lambda a: int(a == 0))


def test_logic_of_predicates() -> None:
    for opcode, oracle in {"and": np.logical_and, "or": np.logical_or, "xor": np.not_equal}.items():
        (a, b), (result,) = sampled(f"{opcode}.pred p, q, r")
        np.testing.assert_array_equal(result, oracle(a, b))
    (a,), (result,) = sampled("not.pred p, q")
    np.testing.assert_array_equal(result, [not value for value in a])


@pytest.mark.parametrize("width", [16, 32, 64])
def test_shifts_clamp(width: int) -> None:
    check(f"shl.b{width} d, a, b", lambda a, b: a << b if b < width else 0)
    for name in (f"b{width}", f"u{width}"):
        check(f"shr.{name} d, a, b", lambda a, b: a >> b)
    check(f"shr.s{width} d, a, b", lambda a, b: a >> min(b, width))
    for amount in (0, 1, 5, width - 1, width, width + 1, 255, 0xFFFFFFFF, -1):
        by = amount & ONES
        check(f"shl.b{width} d, a, {amount}", lambda a, _, by=by: a << by if by < width else 0)
        check(f"shr.u{width} d, a, {amount}", lambda a, _, by=by: a >> by)
        check(f"shr.s{width} d, a, {amount}", lambda a, _, by=by: a >> min(by, width))


@pytest.mark.parametrize("mode", ["wrap", "clamp"])
def test_funnel_shift(mode: str) -> None:
    def amount(c: int) -> int:
        return c % 32 if mode == "wrap" else min(c, 32)

    check(f"shf.l.{mode}.b32 d, a, b, c", lambda a, b, c: ((b << 32 | a) << amount(c)) >> 32)
    check(f"shf.r.{mode}.b32 d, a, b, c", lambda a, b, c: (b << 32 | a) >> amount(c))


@pytest.mark.parametrize("table", range(256))
def test_lop3(table: int) -> None:
    # Every combination of three bits appears in these.
    a, b, c = (np.array([value], np.uint32) for value in (0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA))
    with np.errstate(all="ignore"):
        result = lower(f"lop3.b32 d, a, b, c, {table}").function(a, b, c, np.uint32(table))
    assert result[0] == table * 0x01010101


def test_lop3_on_samples() -> None:
    def oracle(a: int, b: int, c: int, _: int, table: int = 0xE8) -> int:
        return sum((table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(32))

    check("lop3.b32 d, a, b, c, 0xe8", oracle)
    sources, (value, predicate) = sampled("lop3.or.b32 d|p, a, b, c, 0x80, q")
    np.testing.assert_array_equal(value, sources[0] & sources[1] & sources[2])
    np.testing.assert_array_equal(predicate, (value != 0) | sources[4])
    with pytest.raises(UnsupportedInstruction):
        lower("lop3.b32 d, a, b, c, table")


def test_zero_and_all_ones_of_lop3() -> None:
    for table, wanted in ((0, 0), (255, ONES)):
        check(f"lop3.b32 d, a, b, c, {table}", lambda *_, wanted=wanted: wanted)


@pytest.mark.parametrize("width", [32, 64])
def test_counting(width: int) -> None:
    check(f"popc.b{width} d, a", lambda a: a.bit_count())
    check(f"clz.b{width} d, a", lambda a: width - a.bit_length())
    check(f"brev.b{width} d, a", lambda a: int(f"{a:0{width}b}"[::-1], 2))


@pytest.mark.parametrize("name", ["s32", "u32", "s64", "u64"])
def test_bfind(name: str) -> None:
    def position(a: int) -> int:
        return (a if a >= 0 else ~a).bit_length() - 1

    check(f"bfind.{name} d, a", position)
    last = int(name[1:]) - 1
    check(f"bfind.shiftamt.{name} d, a", lambda a: last - position(a) if position(a) >= 0 else -1)


@pytest.mark.parametrize("width", [32, 64])
def test_bits_at_each_power_of_two(width: int) -> None:
    """Values next to a power of two, where a count through a rounded float would be one off."""
    values = sorted({min(max((1 << k) + d, 0), (1 << width) - 1) for k in range(width) for d in (-1, 0, 1)})
    array = np.array(values, f"u{width // 8}")
    (result,) = evaluate(f"clz.b{width} d, a", array)
    assert result.tolist() == [width - value.bit_length() for value in values]


def nth_set_bit(mask: int, base: int, offset: int) -> int:
    """The PTX manual's loop."""
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else ONES
    position, count, step = base, abs(offset), 1 if offset > 0 else -1
    while 0 <= position < 32:
        if mask >> position & 1:
            count -= 1
            if count == 0:
                return position
        position += step
    return ONES


def test_fns() -> None:
    generator = np.random.default_rng(3)
    mask = generator.integers(0, 2**32, 500, dtype=np.uint32)
    base = generator.integers(0, 32, 500, dtype=np.uint32)
    offset = generator.integers(-18, 19, 500).astype(np.int32)
    (result,) = evaluate("fns.b32 d, a, b, c", mask, base, offset)
    wanted = [nth_set_bit(*values) for values in zip(mask.tolist(), base.tolist(), offset.tolist(), strict=True)]
    assert result.tolist() == wanted


def extract(a: int, position: int, length: int, width: int, signed: bool) -> int:
    """The PTX manual's loop; ``a`` unsigned. Its 8 bits of position and length hold for 32 bits alone on hardware."""
    position, length = (position & 255, length & 255) if width == 32 else (position, length)
    last = width - 1
    sign = a >> min(position + length - 1, last) & 1 if signed and length else 0
    return sum((a >> position + i & 1 if i < length and position + i <= last else sign) << i for i in range(width))


@pytest.mark.parametrize("name", ["s32", "u32", "s64", "u64"])
def test_bfe(name: str) -> None:
    width = int(name[1:])
    full = (1 << width) - 1
    check(f"bfe.{name} d, a, b, c", lambda a, b, c: extract(a & full, b, c, width, name[0] == "s"))


@pytest.mark.parametrize("width", [32, 64])
def test_bfi(width: int) -> None:
    def insert(a: int, b: int, c: int, d: int) -> int:
        position, length = (c & 255, d & 255) if width == 32 else (c, d)
        for i in range(min(length, width - position)):
            b = b & ~(1 << position + i) | (a >> i & 1) << position + i
        return b

    check(f"bfi.b{width} d, a, b, c, e", insert)


@pytest.mark.parametrize("mode", ["wrap", "clamp"])
def test_masks_and_extension(mode: str) -> None:
    def count(value: int) -> int:
        return value % 32 if mode == "wrap" else min(value, 32)

    check(f"bmsk.{mode}.b32 d, a, b", lambda a, b: ((1 << count(b)) - 1) << count(a))
    check(f"szext.{mode}.u32 d, a, b", lambda a, b: extract(a, 0, count(b), 32, False))
    check(f"szext.{mode}.s32 d, a, b", lambda a, b: extract(a & ONES, 0, count(b), 32, True))


def permute(a: int, b: int, selectors: list[int]) -> int:
    parts = (b << 32 | a).to_bytes(8, "little")
    taken = [parts[s & 7] if not s & 8 else (255 if parts[s & 7] & 128 else 0) for s in selectors]
    return int.from_bytes(bytes(taken), "little")


def test_prmt_by_index() -> None:
    def oracle(a: int, b: int, c: int) -> int:
        return permute(a, b, [c >> 4 * index & 15 for index in range(4)])

    check("prmt.b32 d, a, b, c", oracle)
    for selector in (0x5410, 0x7632, 0x3210, 0x7654, 0x1032, 0x0123, 0x4567, 0x7531, 0x8888, 0xBA98, 0xF3F3, 0x4440, 0):
        check(f"prmt.b32 d, a, b, {selector:#x}", lambda a, b, _, selector=selector: oracle(a, b, selector))


# The manual's table, result byte 3 first.
PRMT_MODES = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}


@pytest.mark.parametrize("mode", PRMT_MODES)
def test_prmt_modes(mode: str) -> None:
    def oracle(a: int, b: int, c: int) -> int:
        return permute(a, b, [int(digit) for digit in reversed(PRMT_MODES[mode][c & 3])])

    check(f"prmt.b32.{mode} d, a, b, c", oracle)
    for constant in range(4):
        check(f"prmt.b32.{mode} d, a, b, {constant}", lambda a, b, _, constant=constant: oracle(a, b, constant))


def test_every_choice_of_bytes() -> None:
    """Neighbouring bytes move together; which ones do is seen for all 4096 choices, and for signs among them."""
    words = 0x83828180, 0x47462524
    a, b = (np.array([word, ~word & 0xFFFFFFFF], np.uint32) for word in words)
    both = [[*a.tobytes()[4 * k : 4 * k + 4], *b.tobytes()[4 * k : 4 * k + 4]] for k in range(2)]
    signs = [(8, 1, 2, 3), (0, 9, 2, 3), (0, 1, 15, 3), (12, 1, 2, 11), (15, 14, 13, 12), (0, 8, 1, 2), (3, 4, 12, 5)]
    for selectors in (*itertools.product(range(8), repeat=4), *signs):
        chosen = [[0xFF * (own[k & 7] >> 7) if k & 8 else own[k] for k in selectors] for own in both]
        found = permute_bytes(selectors)(a, b)
        assert found.tolist() == [int.from_bytes(one, "little") for one in chosen], selectors
