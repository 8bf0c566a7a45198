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


def native_round(e: Emitter, value: Native, name: str, mode: str) -> Native:
    """The compiled form of the functions in :data:`formats.ROUND` of a value without an error: a float32 or float64
    to f16, bf16 (integers here) or f32, rounded once in this mode."""
    is_double = value.type == e.double()
    if name == "f32":
        near = e.bits(e.fptrunc(value, e.float()) if is_double else value)
    else:
        near = NATIVE_NARROW[name](e, native_nudged(e, value) if is_double else value)
    if mode != "rn":
        back = e.as_float(near) if name == "f32" else NATIVE_WIDEN[name](e, near)
        near = _directed(e, near, e.fpext(back, e.double()) if is_double else back, value, mode)
    return e.as_float(near) if name == "f32" else near


def _directed(e: Emitter, near: Native, back: Native, value: Native, mode: str) -> Native:
    """Bits rounded to nearest, put right for a directed mode; ``back`` is what they hold, ``value`` what they should.

    Neighbouring floats have neighbouring bits, and ``near`` has the sign of ``value``, zeros too.
    """
    one, rest = near.type(1), near.type(-1)
    below, above = e.fcmp_ordered("<", back, value), e.fcmp_ordered(">", back, value)
    negative = e.icmp_signed("<", near, near.type(0))
    wrong = {"rp": below, "rm": above, "rz": e.select(negative, below, above)}[mode]
    grows = {"rp": e.not_(negative), "rm": negative, "rz": e.integer(1)(0)}[mode]
    return e.select(wrong, e.add(near, e.select(grows, one, rest)), near)


def native_keeping_nan(e: Emitter, value: Native, found: Native, name: str) -> Native:
    """A float64's NaN in a format of 16 bits: its sign and its highest bits; else ``found``."""
    infinity, fraction = {"f16": (_EXPONENT_F16, 10), "bf16": (_INFINITY >> 16, 7)}[name]
    bits, half = e.bits(value), e.integer(16)
    sign = e.and_(e.trunc(e.lshr(bits, bits.type(48)), half), half(_SIGN_16))
    kept = e.and_(e.trunc(e.lshr(bits, bits.type(52 - fraction)), half), half((1 << fraction) - 1))
    nan = e.or_(e.or_(sign, kept), half(infinity | 1 << fraction - 1))
    return e.select(e.is_nan(value), nan, found)


def native_narrow_tf32(e: Emitter, value: Native, mode: str) -> Native:
    """The compiled form of :func:`formats.narrow_tf32`."""
    word, bits = e.integer(32), e.bits(value)
    kept = word(0xFFFFE000)
    rounded = bits
    if mode == "rna":
        rounded = e.add(bits, word(0x1000))
    elif mode == "rn":
        rounded = e.add(e.add(bits, word(0x0FFF)), e.and_(e.lshr(bits, word(13)), word(1)))
    special = e.icmp_unsigned("==", e.and_(bits, word(_INFINITY)), word(_INFINITY))
    nan = e.and_(bits if mode == "rna" else word(_MAGNITUDE), kept)
    return e.select(e.is_nan(value), nan, e.select(special, bits, e.and_(rounded, kept)))


def native_saturate(e: Emitter, value: Native, name: str) -> Native:
    """A value of this format clamped to [0, 1]; NaN and -0 give +0."""
    if name in NATIVE_WIDEN:
        return NATIVE_NARROW[name](e, e.saturate(NATIVE_WIDEN[name](e, value)))
    return e.saturate(value)
