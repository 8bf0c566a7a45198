"""cvt: between integers, between floats, and between both.

Source: PTX ISA, "Data Movement and Conversion Instructions: cvt, cvt.pack". A source register wider than the type is
read in its low bits; a result narrower than its register is extended by its own sign or by zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.floats import canonical, flush, saturate
from softlab.emulator.opcodes.formats import NARROW, ROUND, WIDEN, float_conversion, narrow_tf32, relu
from softlab.emulator.opcodes.forms import Form, dtype_of, pure, width
from softlab.emulator.opcodes.fp8 import to_fp8
from softlab.emulator.opcodes.native_formats import (
    NATIVE_NARROW,
    NATIVE_WIDEN,
    native_join,
    native_keeping_nan,
    native_narrow_tf32,
    native_nudged,
    native_relu,
    native_round,
    native_saturate,
)
from softlab.emulator.opcodes.registry import Semantics
from softlab.emulator.opcodes.rounding import MODES, add_to_odd, two_sum
from softlab.emulator.ptx.syntax import Register

INTEGER_TYPES = tuple(f"{sign}{bits}" for sign in "su" for bits in (8, 16, 32, 64))
FLOAT_TYPES = ("f16", "bf16", "f32", "f64")
_TO_INTEGER: dict[str, Callable] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def _register_type(form: Form, index: int, name: str) -> str:
    """The type of the register at this operand: ``name``, or untyped bits where the register is wider."""
    operand = form.operand(index)
    if isinstance(operand, Register) and width(operand.type) > width(name):
        return f"b{width(operand.type)}"
    # No register is narrower than 16 bits.
    return name if width(name) >= 16 else "b16"


def _reader(name: str, register: str) -> Callable | None:
    """The low bits of a wider register as this type; None where the register has the type."""
    if name == register:
        return None
    dtype = dtype_of(name)
    return lambda a: a.astype(dtype)


def _writer(name: str, register: str) -> Callable | None:
    """A result of this type extended to its register; None where it fits."""
    if name == register:
        return None
    extended = np.dtype(f"{'i' if name[0] == 's' else 'u'}{width(register) // 8}")
    unsigned = dtype_of(register)
    return lambda a: a.astype(extended).view(unsigned)


def _compose(*steps: Callable | None) -> Callable:
    taken = [step for step in steps if step is not None]
    if not taken:
        return lambda a: a
    if len(taken) == 1:
        return taken[0]
    if len(taken) == 2:
        first, second = taken
        return lambda a: second(first(a))

    def apply(a):
        for step in taken:
            a = step(a)
        return a

    return apply


def _integer_conversion(result: str, source: str, sat: bool) -> Callable | None:
    dtype = dtype_of(result)
    if not sat:
        return None if result == source else lambda a: a.astype(dtype)
    to, origin = np.iinfo(np.dtype(dtype)), np.iinfo(np.dtype(dtype_of(source)))
    low, high = (dtype_of(source)(bound) for bound in (max(to.min, origin.min), min(to.max, origin.max)))
    return lambda a: np.minimum(np.maximum(a, low), high).astype(dtype)


def float_to_integer(result: str, source: str, rounding: str) -> Callable:
    """A float rounded to an integer and clamped to the type's range.

    NaN gives 0; where the source is f64 or the result has 64 bits, it gives 1 in the highest bit alone.
    """
    dtype = dtype_of(result)
    limits = np.iinfo(np.dtype(dtype))
    whole = _TO_INTEGER[rounding]
    bits = width(result)
    nan_value = dtype(0)
    if source == "f64" or bits == 64:
        nan_value = np.array([1 << bits - 1], np.uint64).astype(dtype)[0]
    through = np.int64 if bits < 64 else dtype
    low, beyond = float(limits.min), float(limits.max + 1)
    direct = dtype if result in ("s32", "s64") else through
    safe_low = -(2.0**31) if result == "s32" else low
    read = WIDEN.get(source)

    def convert(a):
        a = whole(a if read is None else read(a))
        if a.min() >= safe_low and a.max() < beyond:  # NaN fails both
            return a.astype(direct).astype(dtype, copy=False)
        nan, under, over = np.isnan(a), a < low, a >= beyond
        inside = np.where(nan | under | over, a.dtype.type(0), a).astype(through).astype(dtype)
        return np.where(
            nan, nan_value, np.where(under, dtype(limits.min), np.where(over, dtype(limits.max), inside))
        ).astype(dtype)[()]

    return convert


def integer_to_float(result: str, source: str, mode: str) -> Callable:
    """An integer rounded once to a float format in this mode."""
    if mode == "rn" and result in ("f32", "f64"):
        dtype = dtype_of(result)
        return lambda a: a.astype(dtype)
    narrow = ROUND[result]
    zero = np.float64(0)
    if width(source) < 64:
        return lambda a: narrow(a.astype(np.float64), zero, mode)
    low_bits, half = dtype_of(source)(0xFFFFFFFF), dtype_of(source)(32)

    def convert(a):
        # Both halves are exact in float64, and so is their sum with its error.
        high = (a >> half).astype(np.float64) * 2.0**32
        low = (a & low_bits).astype(np.float64)
        if mode == "rn":
            return narrow(add_to_odd(high, low), zero, mode)
        return narrow(*two_sum(high, low), mode)

    return convert


@pure("cvt", types=INTEGER_TYPES)
def _cvt_from_integer(form: Form) -> Semantics:
    if form.flag("pack"):
        return _cvt_pack(form)
    result, source = _two_types(form)
    registers = _register_type(form, 1, source), _register_type(form, 0, result)
    read = _reader(source, registers[0])
    if result in INTEGER_TYPES:
        sat = form.flag("sat")
        convert = _integer_conversion(result, source, sat)
        resizing = None if sat else _native_resizing(result, source, registers[1])
        return Semantics(
            _compose(read, convert, _writer(result, registers[1])), (registers[0],), (registers[1],), native=resizing
        )
    if result not in FLOAT_TYPES:
        raise NotImplementedError(f"cvt to {result} from an integer")
    mode = form.one_of(*MODES)
    convert = integer_to_float(result, source, mode)
    form.flag("ftz")  # no integer is subnormal
    native = native_from_integer(result, source, mode)
    if form.flag("sat"):
        convert = _saturated(convert, result)
        native = None if native is None else _native_saturated(native, result)
    return Semantics(_compose(read, convert), (registers[0],), (result,), native=native)


def _native_resizing(result: str, source: str, register: str) -> NativeForm:
    """The compiled form of a conversion between integers: cut to the source, then to the result, then extended."""

    def convert(e: Emitter, a: Native) -> Native:
        a = e.resized(e.resized(a, width(source), False), width(result), source[0] == "s")
        return e.resized(a, width(register), result[0] == "s")

    return convert


def native_from_integer(result: str, source: str, mode: str = "rn") -> NativeForm | None:
    """The compiled form of :func:`integer_to_float`; of 64 bits rounded to nearest alone."""
    bits, signed = width(source), source[0] == "s"
    exact = (mode == "rn" and result == "f32") or (result == "f64" and (mode == "rn" or bits < 64))
    if not exact and mode != "rn" and bits == 64:
        return None

    def as_float(e: Emitter, a: Native, kind: Any) -> Native:
        return e.sitofp(a, kind) if signed else e.uitofp(a, kind)

    def convert(e: Emitter, a: Native) -> Native:
        a = e.resized(a, bits, False)
        if exact:
            return as_float(e, a, e.float() if result == "f32" else e.double())
        if bits < 64:
            return native_round(e, as_float(e, a, e.double()), result, mode)
        # Both halves are exact in float64.
        up = a.type(32)
        high = as_float(e, e.ashr(a, up) if signed else e.lshr(a, up), e.double())
        low = e.uitofp(e.and_(a, a.type(0xFFFFFFFF)), e.double())
        return NATIVE_NARROW[result](e, native_nudged(e, e.fmul(high, high.type(2.0**32)), low))

    return convert


def _native_saturated(native: NativeForm, result: str) -> NativeForm:
    return lambda e, a: native_saturate(e, native(e, a), result)


_NATIVE_WHOLE = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


def native_to_integer(result: str, source: str, rounding: str, register: str, ftz: bool) -> NativeForm:
    """The compiled form of :func:`float_to_integer`."""
    bits, signed = width(result), result[0] == "s"
    nan = 1 << bits - 1 if source == "f64" or bits == 64 else 0

    def convert(e: Emitter, a: Native) -> Native:
        a = NATIVE_WIDEN[source](e, a) if source in NATIVE_WIDEN else a
        whole = e.intrinsic(_NATIVE_WHOLE[rounding], e.flush(a) if ftz and source == "f32" else a)
        found = e.clamped_integer(whole, bits, signed)
        if nan:
            found = e.select(e.is_nan(a), found.type(nan), found)
        return e.resized(found, width(register), signed)

    return convert


def _two_types(form: Form) -> tuple[str, str]:
    if len(form.types) != 2:
        raise NotImplementedError(f"cvt needs two types, not {form.types}")
    return form.types[0], form.types[1]


def _saturated(convert: Callable, result: str) -> Callable:
    if result == "bf16":
        raise NotImplementedError(".sat to bf16")
    return lambda *a: saturate(convert(*a))


@pure("cvt", types=FLOAT_TYPES)
def _cvt_from_float(form: Form) -> Semantics:
    result = form.types[0]
    if result in ("f16x2", "bf16x2"):
        return _cvt_two_floats(form)
    if result in ("e4m3x2", "e5m2x2"):
        return to_fp8(form)
    if result == "tf32":
        mode = form.one_of("rna", "rn", "rz")
        form.flag("satfinite")
        positive = form.flag("relu")
        return Semantics(
            lambda a: narrow_tf32(np.maximum(a, np.float32(0)) if positive else a, mode),
            ("f32",),
            ("b32",),
            native=None if positive else lambda e, a: native_narrow_tf32(e, a, mode),
        )
    result, source = _two_types(form)
    if result in INTEGER_TYPES:
        register = _register_type(form, 0, result)
        rounding, ftz = form.one_of(*_TO_INTEGER), form.flag("ftz")
        convert = float_to_integer(result, source, rounding)
        flushed = flush if ftz and source == "f32" else None
        form.flag("sat")  # clamped anyway
        native = native_to_integer(result, source, rounding, register, ftz)
        return Semantics(_compose(flushed, convert, _writer(result, register)), (source,), (register,), native=native)
    compiled = _native_float_to_float(form, result, source)
    return Semantics(_float_to_float(form, result, source), (source,), (result,), native=compiled)


def _float_to_float(form: Form, result: str, source: str) -> Callable:
    whole = form.one_of(*_TO_INTEGER, default="")
    if whole and result != source:
        raise NotImplementedError("rounding to an integer keeps the format")
    if whole:
        convert = _TO_INTEGER[whole]
        if source in WIDEN:
            convert = _compose(WIDEN[source], convert, NARROW[source])
    else:
        convert = float_conversion(result, source, form.one_of(*MODES, default="rn"))
    if form.flag("ftz"):
        convert = _compose(flush if source == "f32" else None, convert, flush if result == "f32" else None)
    if result == source == "f32":
        convert = _compose(convert, canonical)
    if form.flag("relu"):
        if result not in NARROW:
            raise NotImplementedError(f".relu with a result of type {result}")
        convert = relu(convert)
    return _saturated(convert, result) if form.flag("sat") else convert


def native_whole(rounding: str, ftz: bool) -> NativeForm:
    """The compiled form of a float32 or float64 rounded to a whole number of its format."""

    def apply(e: Emitter, a: Native) -> Native:
        found = e.intrinsic(_NATIVE_WHOLE[rounding], e.flush(a) if ftz else a)
        return e.canonical(found) if found.type == e.float() else found

    return apply


def _native_float_to_float(form: Form, result: str, source: str) -> NativeForm:
    """The compiled form of what :func:`_float_to_float` gives; it reads the modifiers and takes none."""
    modifiers = form.instruction.modifiers
    whole = next((m for m in modifiers if m in _TO_INTEGER), "")
    mode = next((m for m in modifiers if m in MODES), "rn")
    ftz, positive, sat = (name in modifiers for name in ("ftz", "relu", "sat"))

    def convert(e: Emitter, a: Native) -> Native:
        a = e.flush(a) if ftz and source == "f32" else a
        found = _native_whole(e, a, source, whole) if whole else _native_format(e, a, result, source, mode)
        found = e.flush(found) if ftz and result == "f32" else found
        found = e.canonical(found) if result == source == "f32" else found
        found = native_relu(e, found) if positive else found
        return native_saturate(e, found, result) if sat else found

    return convert


def _native_whole(e: Emitter, value: Native, name: str, rounding: str) -> Native:
    """A float rounded to an integer, in its own format."""
    rounded = native_whole(rounding, ftz=False)
    if name not in NATIVE_WIDEN:
        return rounded(e, value)
    return NATIVE_NARROW[name](e, rounded(e, NATIVE_WIDEN[name](e, value)))


def _native_format(e: Emitter, value: Native, result: str, source: str, mode: str) -> Native:
    """The compiled form of :func:`formats.float_conversion`."""
    if result == source:
        return value
    wide = NATIVE_WIDEN[source](e, value) if source in NATIVE_WIDEN else value
    if result == "f64":
        return e.fpext(wide, e.double())
    found = wide if result == "f32" and source != "f64" else native_round(e, wide, result, mode)
    return native_keeping_nan(e, value, found, result) if source == "f64" and result in NATIVE_NARROW else found


def _cvt_two_floats(form: Form) -> Semantics:
    """``cvt.rn.f16x2.f32 d, a, b``: a becomes the upper half."""
    result, source = _two_types(form)
    if source != "f32":
        raise NotImplementedError(f"cvt to {result} from {source}")
    element, mode, positive = result.removesuffix("x2"), form.one_of("rn", "rz"), form.flag("relu")
    convert = float_conversion(element, "f32", mode)
    if positive:
        convert = relu(convert)
    up = np.uint32(16)

    def native(e: Emitter, *sources: Native) -> Native:
        high, low = (native_round(e, source, element, mode) for source in sources)
        return native_join(e, *((native_relu(e, half) if positive else half) for half in (low, high)))

    def both(a, b):
        high, low = convert(a).view(np.uint16), convert(b).view(np.uint16)
        return (high.astype(np.uint32) << up) | low

    return Semantics(both, ("f32", "f32"), ("b32",), native=native)


@pure("cvt", types=("b32",))
def _cvt_pack_above(form: Form) -> Semantics:
    if not form.flag("pack"):
        raise NotImplementedError("cvt from untyped bits")
    return _cvt_pack(form)


def _cvt_pack(form: Form) -> Semantics:
    """``cvt.pack.sat.u8.s32.b32 d, a, b, c``: a and b clamped, b lowest, and c's low part moved above both."""
    form.one_of("sat")
    element, source = form.types[:2]
    if source != "s32":
        raise NotImplementedError("cvt.pack is from s32")
    clamp = _integer_conversion(element, source, sat=True)
    bits = width(element)
    unsigned = np.dtype(f"u{bits // 8}")
    one, two = np.uint32(bits), np.uint32(2 * bits)

    def pack(a, b):
        high, low = clamp(a).view(unsigned).astype(np.uint32), clamp(b).view(unsigned)
        return (high << one) | low

    if len(form.types) == 2:
        return Semantics(pack, ("s32", "s32"), ("b32",))
    return Semantics(lambda a, b, c: (c << two) | pack(a, b), ("s32", "s32", "b32"), ("b32",))
