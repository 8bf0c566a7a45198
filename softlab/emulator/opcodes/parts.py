"""Integers in parts: halves and bytes of a register, the upper half of a product."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.forms import dtype_of, width

#: The type of the full product of two integers.
WIDE = {"s16": "s32", "u16": "u32", "s32": "s64", "u32": "u64"}


def packed(function: Callable, element: str) -> Callable:
    """``function`` of 16-bit lanes, made to take and give 32-bit registers that hold two of them each."""
    half = np.dtype(dtype_of(element))

    def apply(*sources):
        shape = np.broadcast_shapes(*(np.shape(source) for source in sources))
        whole = [np.ascontiguousarray(np.broadcast_to(source, shape or (1,))).view(half) for source in sources]
        result = function(*whole).view(np.uint32)
        return result if shape else result[0]

    return apply


def high_product(name: str) -> Callable:
    """The upper half of the product of two integers of this type."""
    dtype, bits = dtype_of(name), width(name)
    if bits < 64:
        wide = dtype_of(WIDE[name])
        return lambda a, b: (np.multiply(a, b, dtype=wide) >> wide(bits)).astype(dtype)
    low_mask, half = dtype(0xFFFFFFFF), dtype(32)

    def high(a, b):
        # Schoolbook in halves of 32 bits; the upper halves keep the sign (their shift is arithmetic if signed).
        a_low, a_high, b_low, b_high = a & low_mask, a >> half, b & low_mask, b >> half
        bottom = (a_low.astype(np.uint64) * b_low.astype(np.uint64) >> np.uint64(32)).astype(dtype)
        middle = a_high * b_low + bottom
        other = a_low * b_high + (middle & low_mask)
        return a_high * b_high + (middle >> half) + (other >> half)

    return high


def parts(name: str, count: int) -> Callable:
    """The ``count`` equal parts of a 32-bit register, lowest first, extended to s64 by the sign of ``name``."""
    bits = 32 // count
    up, down = np.int64(64 - bits), np.int64(64 - bits)

    def split(a):
        whole = a.astype(np.int64)
        if name == "u32":
            mask = np.int64((1 << bits) - 1)
            return [(whole >> np.int64(bits * index)) & mask for index in range(count)]
        return [(whole << (up - np.int64(bits * index))) >> down for index in range(count)]

    return split
