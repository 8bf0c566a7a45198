"""The compiled forms of :mod:`softlab.emulator.opcodes.formats`: between float32 and the formats of 16 bits.

A float16 or bfloat16 is an integer of 16 bits. LLVM's own type of float16 is not used: without instructions of the
processor for it, its conversions are calls of a library.
"""

from __future__ import annotations

from collections.abc import Callable

from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm

#: A NaN of 16 bits, as hardware gives it.
_NAN_16 = 0x7FFF
_SIGN_16, _EXPONENT_F16 = 0x8000, 0x7C00
_MAGNITUDE, _INFINITY, _NAN = 0x7FFFFFFF, 0x7F800000, 0x7FFFFFFF


def native_widen_bf16(e: Emitter, value: Native) -> Native:
    """The compiled form of :func:`formats.widen_bf16`: 16 bits as float32."""
    word = e.integer(32)
    return e.as_float(e.shl(e.zext(value, word), word(16)))


def native_narrow_bf16(e: Emitter, value: Native) -> Native:
    """The compiled form of :func:`formats.narrow_bf16`: float32 to 16 bits, to nearest even."""
    word, half = e.integer(32), e.integer(16)
    bits = e.bits(value)
    last = e.and_(e.lshr(bits, word(16)), word(1))
    rounded = e.lshr(e.add(bits, e.add(last, word(0x7FFF))), word(16))
    return e.select(e.is_nan(value), half(_NAN_16), e.trunc(rounded, half))


def native_widen_f16(e: Emitter, value: Native) -> Native:
    """The compiled form of :func:`formats.widen_f16`: a float16 as float32."""
    word = e.integer(32)
    bits = e.and_(e.shl(e.sext(value, word), word(13)), word(0x8FFFE000))
    result = e.as_float(bits)
    result = e.fmul(result, result.type(2.0**112))
    beyond = e.fcmp_ordered(">=", e.magnitude(result), result.type(65536.0))
    # An infinity, or a NaN with the bits that the hardware gives.
    special = e.or_(bits, word(_INFINITY))
    is_nan = e.icmp_unsigned(">", e.and_(special, word(_MAGNITUDE)), word(_INFINITY))
    return e.select(beyond, e.as_float(e.select(is_nan, word(_NAN), special)), result)


def native_narrow_f16(e: Emitter, value: Native) -> Native:
    """The compiled form of :func:`formats.narrow_f16`: float32 to a float16, to nearest even."""
    word, half = e.integer(32), e.integer(16)
    bits = e.bits(value)
    size = e.and_(bits, word(_MAGNITUDE))
    last = e.and_(e.lshr(size, word(13)), word(1))
    # As there: what is below the least normal wraps to the far end.
    normal = e.lshr(e.add(size, e.add(last, word((0xFFF - (113 << 23)) & 0xFFFFFFFF))), word(13))
    normal = e.add(_least(e, normal, word(_EXPONENT_F16 - 0x400)), word(0x400))
    small = e.as_float(size)
    small = e.fadd(small, small.type(0.5))
    result = _least(e, normal, e.sub(e.bits(small), word(0x3F000000)))
    result = e.or_(result, e.and_(e.lshr(bits, word(16)), word(_SIGN_16)))
    return e.select(e.is_nan(value), half(_NAN_16), e.trunc(result, half))


def _least(e: Emitter, a: Native, b: Native) -> Native:
    return e.select(e.icmp_unsigned("<", a, b), a, b)


def native_flush_f16(e: Emitter, value: Native) -> Native:
    """The compiled form of :func:`softlab.emulator.opcodes.halves.flush_f16`: a subnormal as a zero of its sign."""
    kind = e.integer(16)
    none = e.icmp_unsigned("==", e.and_(value, kind(_EXPONENT_F16)), kind(0))
    return e.select(none, e.and_(value, kind(_SIGN_16)), value)


def native_nudged(e: Emitter, a: Native, b: Native | None = None) -> Native:
    """The compiled form of :func:`formats.nudged`, of float64: ``a`` or ``a + b`` as a float32 that rounds to 16 bits
    as the exact value does."""
    word = e.integer(32)
    total = a if b is None else e.fadd(a, b)
    near = e.fptrunc(total, e.float())
    rest = e.fsub(total, e.fpext(near, e.double()))
    if b is not None:
        part = e.fsub(total, a)
        error = e.fadd(e.fsub(a, e.fsub(total, part)), e.fsub(b, part))
        rest = e.select(e.fcmp_unordered("!=", rest, rest.type(0.0)), rest, error)
    bits = e.bits(near)
    # One unit away from zero where the rest has the sign of the number, towards zero where it has the other one.
    up, down = (
        e.or_(
            e.and_(e.fcmp_ordered(order, rest, rest.type(0.0)), e.fcmp_ordered(">", near, near.type(0.0))),
            e.and_(e.fcmp_ordered(other, rest, rest.type(0.0)), e.fcmp_ordered("<", near, near.type(0.0))),
        )
        for order, other in ((">", "<"), ("<", ">"))
    )
    step = e.select(up, word(1), e.select(down, word(0xFFFFFFFF), word(0)))
    suspect = e.icmp_unsigned("==", e.and_(bits, word(0xFFF)), word(0))
    return e.as_float(e.select(suspect, e.add(bits, step), bits))


def native_relu(e: Emitter, value: Native) -> Native:
    """The compiled form of what :func:`formats.relu` does to a result of 16 bits: a negative one becomes +0."""
    return e.select(e.icmp_signed("<", value, value.type(0)), value.type(0), value)


def native_join(e: Emitter, low: Native, high: Native) -> Native:
    """Two halves as 32 bits."""
    word = e.integer(32)
    return e.or_(e.zext(low, word), e.shl(e.zext(high, word), word(16)))


def native_pair(native: NativeForm) -> NativeForm:
    """The compiled form of a function of 16 bits, made to take and give 32-bit registers that hold two."""

    def apply(e: Emitter, *sources: Native) -> Native:
        half, up = e.integer(16), e.integer(32)(16)
        low = native(e, *(e.trunc(source, half) for source in sources))
        high = native(e, *(e.trunc(e.lshr(source, up), half) for source in sources))
        return native_join(e, low, high)

    return apply


#: Format of 16 bits -> the compiled form that gives the value as float32.
NATIVE_WIDEN: dict[str, Callable[[Emitter, Native], Native]] = {"f16": native_widen_f16, "bf16": native_widen_bf16}
#: Format of 16 bits -> the compiled form that rounds a float32 to it, to nearest even.
NATIVE_NARROW: dict[str, Callable[[Emitter, Native], Native]] = {"f16": native_narrow_f16, "bf16": native_narrow_bf16}
