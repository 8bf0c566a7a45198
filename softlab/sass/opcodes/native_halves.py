"""Compiled forms of arithmetic of two numbers of 16 bits in a register (:mod:`.halves`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.floats import native_extreme
from softlab.emulator.opcodes.halves import NATIVE_ARITHMETIC
from softlab.emulator.opcodes.native_formats import (
    NATIVE_NARROW,
    NATIVE_WIDEN,
    native_flush_f16,
    native_join,
    native_relu,
)
from softlab.sass.opcodes.floats import compare_native

#: A function of two or three float32 that gives one.
_OfFloats = Callable[..., Native]


@dataclass(frozen=True)
class Half:
    """Half of an operand: where it begins in the register, in bits, its format, whether a subnormal counts as zero,
    and its signs."""

    shift: int
    kind: str
    flushes: bool
    absolute: bool
    negated: bool

    def read(self, e: Emitter, operand: Native) -> Native:
        """It as float32, of a float with the register's bits."""
        bits = e.bits(operand)
        bits = e.trunc(e.lshr(bits, bits.type(self.shift)) if self.shift else bits, e.integer(16))
        value = NATIVE_WIDEN[self.kind](e, native_flush_f16(e, bits) if self.flushes else bits)
        value = e.magnitude(value) if self.absolute else value
        return e.as_float(e.xor(e.bits(value), e.integer(32)(1 << 31))) if self.negated else value


@dataclass(frozen=True)
class Finish:
    """What becomes of a float32 result: its format, and whether it is clamped, flushed, and no less than 0."""

    kind: str
    saturates: bool
    flushes: bool
    relu: bool

    def apply(self, e: Emitter, value: Native) -> Native:
        """It in 16 bits."""
        bits = NATIVE_NARROW[self.kind](e, e.saturate(value) if self.saturates else value)
        bits = native_flush_f16(e, bits) if self.flushes else bits
        return native_relu(e, bits) if self.relu else bits


_ARITHMETIC = {"HADD2": NATIVE_ARITHMETIC["add"], "HMUL2": NATIVE_ARITHMETIC["mul"], "HFMA2": NATIVE_ARITHMETIC["fma"]}


@lru_cache(maxsize=512)
def native_arithmetic(opcode: str, halves: tuple[tuple[Half, Half], ...], finish: Finish) -> NativeForm:
    """HADD2, HMUL2 or HFMA2. halves: the lower and the upper one of each operand."""
    return _of_both(_ARITHMETIC[opcode], halves, finish)


@lru_cache(maxsize=256)
def native_sum(halves: tuple[Half, ...]) -> NativeForm:
    """HADD2.F32: the sum of a half of each of two operands, in float32."""

    def apply(e: Emitter, *operands: Native) -> Native:
        return e.canonical(e.fadd(*(half.read(e, one) for half, one in zip(halves, operands, strict=True))))

    return apply


@lru_cache(maxsize=256)
def native_extremes(name: str, propagate: bool, halves: tuple[tuple[Half, Half], ...], finish: Finish) -> NativeForm:
    """HMNMX2: the "min" or "max" of two or three operands."""
    choose = native_extreme(name, propagate)

    def several(e: Emitter, first: Native, *others: Native) -> Native:
        for other in others:
            first = choose(e, first, other)
        return first

    return _of_both(several, halves, finish)


@lru_cache(maxsize=256)
def native_comparison(name: str, halves: tuple[Half, ...]) -> NativeForm:
    """A comparison of a half of each of two operands, by its name in the machine code."""
    compare = compare_native(name, False)
    return lambda e, *operands: compare(e, *(half.read(e, one) for half, one in zip(halves, operands, strict=True)))


def _of_both(function: _OfFloats, halves: tuple[tuple[Half, Half], ...], finish: Finish) -> NativeForm:
    """A function of both halves of the operands, put into one register."""

    def apply(e: Emitter, *operands: Native) -> Native:
        low, high = (
            finish.apply(e, function(e, *(of[k].read(e, one) for of, one in zip(halves, operands, strict=True))))
            for k in (0, 1)
        )
        return e.as_float(native_join(e, low, high))

    return apply


@lru_cache(maxsize=16)
def native_pack(finish: Finish) -> NativeForm:
    """F2FP.PACK_AB: two float32, the first one in the upper half."""
    return lambda e, high, low: e.as_float(native_join(e, finish.apply(e, low), finish.apply(e, high)))
