"""Bits: counting, finding, fields, reversal, bytes.

Source: PTX ISA, "Integer Arithmetic Instructions" (popc, clz, bfind, fns, brev, bfe, bfi, bmsk, szext) and
"Data Movement and Conversion Instructions" (prmt).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.forms import Form, dtype_of, pure, unary, width
from softlab.emulator.opcodes.registry import Semantics

_NONE = np.uint32(0xFFFFFFFF)
_BYTE = np.uint32(0xFF)


def bit_length(a):
    """Bits needed for an unsigned value, u32: 0 for 0, 32 for 2**31."""
    if a.dtype.itemsize < 8:
        # The exponent of the value as a float64, which is exact.
        return np.frexp(a.astype(np.float64))[1].astype(np.uint32)
    high = (a >> np.uint64(32)).astype(np.uint32)
    low = a.astype(np.uint32)
    return np.where(high != 0, bit_length(high) + np.uint32(32), bit_length(low))[()]


@pure("popc", types=("b32", "b64"))
def _popc(form: Form) -> Semantics:
    return unary(lambda a: np.bitwise_count(a).astype(np.uint32), form.one_type(), "u32")


@pure("clz", types=("b32", "b64"))
def _clz(form: Form) -> Semantics:
    name = form.one_type()
    bits = np.uint32(width(name))
    return unary(lambda a: bits - bit_length(a), name, "u32")


@pure("bfind", types=("s32", "u32", "s64", "u64"))
def _bfind(form: Form) -> Semantics:
    name = form.one_type()
    unsigned = np.dtype(f"u{width(name) // 8}")
    signed = name[0] == "s"
    last = np.uint32(width(name) - 1)
    shift_amount = form.flag("shiftamt")

    def find(a):
        # Of a negative value, the highest bit that is not the sign's.
        bits = (a ^ (a >> dtype_of(name)(last)) if signed else a).view(unsigned)
        position = bit_length(bits) - np.uint32(1)  # of 0: wraps to _NONE
        if not shift_amount:
            return position
        return np.where(position == _NONE, _NONE, last - position)[()]

    return unary(find, name, "u32")


@pure("fns", types=("b32",))
def _fns(form: Form) -> Semantics:
    """The position of the n-th set bit from ``base``, down for n < 0; n = 0 asks for ``base``.

    PTX defines a base of 0 to 31. Hardware (H200) gives 0 for n = -2**31, this all ones: no such bit.
    """
    form.one_type()

    def find(mask, base, offset):
        mask, base, offset = np.broadcast_arrays(mask, base, offset)
        found = np.full(mask.shape, _NONE)
        upwards = offset >= 0
        # n = 0 counts as the first set bit, taken only where it is at ``base`` itself.
        wanted = np.maximum(np.abs(offset.astype(np.int64)), 1)
        seen = np.zeros(mask.shape, np.int64)
        for step in range(32):
            position = np.where(upwards, base.astype(np.int64) + step, base.astype(np.int64) - step)
            inside = (position >= 0) & (position < 32) & ((offset != 0) | (step == 0))
            here = inside & ((mask >> np.clip(position, 0, 31).astype(np.uint32)) & np.uint32(1)).astype(bool)
            seen += here
            found = np.where(here & (seen == wanted), position.astype(np.uint32), found)
        return found[()]

    return Semantics(find, ("b32", "u32", "s32"), ("b32",))


_SWAPS = {
    32: tuple((np.uint32(mask), np.uint32(by)) for mask, by in ((0x55555555, 1), (0x33333333, 2), (0x0F0F0F0F, 4))),
    64: tuple(
        (np.uint64(mask), np.uint64(by))
        for mask, by in ((0x5555555555555555, 1), (0x3333333333333333, 2), (0x0F0F0F0F0F0F0F0F, 4))
    ),
}


@pure("brev", types=("b32", "b64"))
def _brev(form: Form) -> Semantics:
    name = form.one_type()
    swaps = _SWAPS[width(name)]

    def reverse(a):
        for mask, by in swaps:
            a = ((a >> by) & mask) | ((a & mask) << by)
        return a.byteswap()

    return unary(reverse, name)


def _field(a, position, length, wide):
    """``length`` bits of ``a`` (of 64-bit type ``wide``) from ``position``, extended by their highest bit if signed."""
    limit = np.uint32(64)
    down = limit - np.minimum(length, limit)
    shifted = a >> np.minimum(position, limit).astype(wide)
    down = down.astype(wide)
    return (shifted << down) >> down


@pure("bfe", types=("s32", "u32", "s64", "u64"))
def _bfe(form: Form) -> Semantics:
    name = form.one_type()
    dtype = dtype_of(name)
    wide = np.int64 if name[0] == "s" else np.uint64
    read = _field_operand(name)

    def extract(a, b, c):
        return _field(a.astype(wide), read(b), read(c), wide).astype(dtype)

    return Semantics(extract, (name, "u32", "u32"), (name,))


def _field_operand(name: str) -> Callable:
    """A position or a length. PTX defines 0 to 255; beyond, hardware (H200) reads 8 bits, and all for 64-bit fields."""
    return (lambda b: b & _BYTE) if width(name) == 32 else (lambda b: b)


def _ones(length):
    """``length`` low bits set, of 64."""
    return ~(np.uint64(0xFFFFFFFFFFFFFFFF) << length.astype(np.uint64))


@pure("bfi", types=("b32", "b64"))
def _bfi(form: Form) -> Semantics:
    name = form.one_type()
    dtype = dtype_of(name)
    read = _field_operand(name)

    def insert(a, b, c, d):
        position = read(c).astype(np.uint64)
        mask = (_ones(read(d)) << position).astype(dtype)
        field = (a.astype(np.uint64) << position).astype(dtype)
        return b ^ ((b ^ field) & mask)

    return Semantics(insert, (name, name, "u32", "u32"), (name,))


def _count(form: Form) -> Callable:
    """How a bit count of 32 or more is read: modulo 32, or as 32."""
    if form.one_of("wrap", "clamp") == "wrap":
        return lambda b: b & np.uint32(31)
    return lambda b: np.minimum(b, np.uint32(32))


@pure("bmsk", types=("b32",))
def _bmsk(form: Form) -> Semantics:
    form.one_type()
    count = _count(form)

    def mask(a, b):
        return (_ones(count(b)) << count(a).astype(np.uint64)).astype(np.uint32)

    return Semantics(mask, ("u32", "u32"), ("b32",))


@pure("szext", types=("s32", "u32"))
def _szext(form: Form) -> Semantics:
    name = form.one_type()
    count = _count(form)
    dtype = dtype_of(name)
    wide = np.int64 if name[0] == "s" else np.uint64
    return Semantics(
        lambda a, b: _field(a.astype(wide), np.uint32(0), count(b), wide).astype(dtype), (name, "u32"), (name,)
    )


# Which bytes of {b, a} (0-3 are a's) the named modes of prmt take, lowest result byte first, by the low bits of c.
_PERMUTES = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}


def permute_bytes(selectors: tuple[int, ...]) -> Callable:
    """The function of (a, b) that takes these bytes of {b, a}; a selector of 8 or more repeats its byte's sign."""
    runs: list[tuple[bool, int, int, int]] = []  # from b?, first byte there, first byte of the result, bytes
    signs = [(index, selector & 7) for index, selector in enumerate(selectors) if selector & 8]
    for index, selector in enumerate(selectors):
        if selector & 8:
            continue
        from_b, byte = selector > 3, selector & 3
        if runs and runs[-1][0] == from_b and runs[-1][1] + runs[-1][3] == byte and runs[-1][2] + runs[-1][3] == index:
            runs[-1] = (*runs[-1][:3], runs[-1][3] + 1)
        else:
            runs.append((from_b, byte, index, 1))
    moves = [
        (from_b, np.uint32(((1 << 8 * count) - 1) << 8 * byte), 8 * (index - byte))
        for from_b, byte, index, count in runs
    ]

    def permute(a, b):
        result = np.uint32(0)
        for from_b, mask, up in moves:
            part = (b if from_b else a) & mask
            result = result | (part << np.uint32(up) if up >= 0 else part >> np.uint32(-up))
        for index, byte in signs:
            sign = ((b if byte > 3 else a) >> np.uint32(8 * (byte & 3) + 7)) & np.uint32(1)
            result = result | sign * np.uint32(0xFF << 8 * index)
        return result

    return permute


@pure("prmt", types=("b32",))
def _prmt(form: Form) -> Semantics:
    form.one_type()
    mode = form.one_of(*_PERMUTES, default="index")
    constant = form.constant(3)
    types = ("b32", "b32", "b32"), ("b32",)
    if mode == "index":
        if constant is None:
            return Semantics(_permute_by_index, *types)
        permute = permute_bytes(tuple(constant >> 4 * index & 15 for index in range(4)))
        return Semantics(lambda a, b, _: permute(a, b), *types)
    functions = [permute_bytes(selectors) for selectors in _PERMUTES[mode]]
    if constant is not None:
        chosen = functions[constant & 3]
        return Semantics(lambda a, b, _: chosen(a, b), *types)

    def by_low_bits(a, b, c):
        which = c & np.uint32(3)
        return np.select([which == index for index in range(4)], [f(a, b) for f in functions]).astype(np.uint32)[()]

    return Semantics(by_low_bits, *types)


def _permute_by_index(a, b, c):
    whole = b.astype(np.uint64) << np.uint64(32) | a
    result = np.uint32(0)
    for index in range(4):
        selector = c >> np.uint32(4 * index)
        byte = (whole >> ((selector & np.uint32(7)) << np.uint32(3)).astype(np.uint64)).astype(np.uint32) & _BYTE
        sign = (byte >> np.uint32(7)) * _BYTE
        byte = byte ^ ((byte ^ sign) & np.negative((selector >> np.uint32(3)) & np.uint32(1)))
        result = result | (byte << np.uint32(8 * index))
    return result
