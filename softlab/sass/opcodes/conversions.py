"""Conversions between number formats."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from softlab.emulator.opcodes.convert import (
    float_to_integer,
    integer_to_float,
    native_from_integer,
    native_to_integer,
    native_whole,
)
from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.floats import canonical, flush
from softlab.emulator.opcodes.formats import float_conversion, relu
from softlab.emulator.opcodes.fp8 import narrow_fp8, widen_fp8
from softlab.sass.form import F64, U32, U64, Form, Reader
from softlab.sass.lanes import Value
from softlab.sass.native_floats import TracedRegisters, of_floats, of_word
from softlab.sass.opcodes.floats import mode_of, rounded, stored
from softlab.sass.opcodes.native_halves import Finish, native_pack
from softlab.sass.registry import Action, pure

_ROUNDING = {"TRUNC": "rzi", "FLOOR": "rmi", "CEIL": "rpi"}
_WHOLE: dict[str, Callable] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
_INTEGERS = tuple(f"{sign}{bits}" for sign in "SU" for bits in (8, 16, 32, 64))
_FLOATS = ("F16", "BF16", "F32", "F64")
_DTYPES = {
    "F16": np.float16, "BF16": np.uint16, "F32": np.float32, "F64": np.float64,
    "S8": np.int8, "U8": np.uint8, "S16": np.int16, "U16": np.uint16,
    "S32": np.int32, "U32": np.uint32, "S64": np.int64, "U64": np.uint64,
}  # fmt: skip


def _types(form: Form, results: tuple[str, ...], sources: tuple[str, ...], default: tuple[str, str]) -> tuple[str, str]:
    """(type of the result, of the source): the machine code names those that are not the usual ones."""
    named = [m for m in form.modifiers if m in (*_INTEGERS, *_FLOATS)]
    result = next((m for m in named if m in results), default[0])
    rest = list(named)
    if result in rest:
        rest.remove(result)
    return result, next((m for m in rest if m in sources), default[1])


def _reader(form: Form, number: int, kind: str) -> Reader:
    """A source of this type; of a narrow one the part of the register that its suffix names."""
    if kind.endswith("64"):
        if kind == "F64":
            return form.f64(number)
        read64, dtype64 = form.u64(number), _DTYPES[kind]
        return lambda r: read64(r).view(dtype64)
    if kind == "F32":
        return form.f32(number)
    read, dtype = form.u32(number), _DTYPES[kind]
    if kind in ("S32", "U32"):
        return lambda r: read(r).view(dtype)
    suffixes = form.operands[number].suffixes
    shift = 16 if "H1" in suffixes or "H1_H1" in suffixes else 8 * next((int(s[1]) for s in suffixes if s[0] == "B"), 0)
    narrow = np.uint16 if np.dtype(dtype).itemsize == 2 else np.uint8
    return lambda r: (read(r) >> U32(shift)).astype(narrow).view(dtype)


def _writer(form: Form, kind: str) -> Callable[[list, Value], None]:
    if kind.endswith("64"):
        return form.destination64(0)
    destination = form.destination(0)
    if kind.endswith("32"):

        def whole(r: list, value: Value) -> None:
            r[destination] = value.view(U32)

        return whole
    signed = kind[0] == "S"

    def narrow(r: list, value: Value) -> None:
        if signed:
            r[destination] = value.astype(np.int32).view(U32)
        else:
            r[destination] = value.view(np.dtype(f"u{value.dtype.itemsize}")).astype(U32)

    return narrow


@pure("F2I", "UF2I")
def _to_integer(form: Form) -> Action:
    """Out of range it gives the nearest; of NaN what the PTX conversion gives."""
    form.only(*_INTEGERS, *_FLOATS, *_ROUNDING, "FTZ", "NTZ")
    result, source = _types(form, _INTEGERS, _FLOATS, ("S32", "F32"))
    rounding = next((_ROUNDING[m] for m in form.modifiers if m in _ROUNDING), "rni")
    convert = float_to_integer(result.lower(), source.lower(), rounding)
    read, write = _reader(form, 1, source), _writer(form, result)
    flushes = form.has("FTZ") and source == "F32"
    native = native_to_integer(result.lower(), source.lower(), rounding, result.lower(), flushes)
    by_numpy = (lambda a: convert(flush(a))) if flushes else convert
    return _converting(read, write, by_numpy, native, result)


def _converting(
    read: Reader, write: Callable[[list, Value], None], convert: Callable[[Value], Value], native: NativeForm | None,
    result: str,
) -> Action:  # fmt: skip
    """The step of a conversion by NumPy, and by LLVM where it is compiled together with others."""
    dtype = np.dtype(_DTYPES[result])

    def step(r: list) -> None:
        value = read(r)
        if native is not None and isinstance(r, TracedRegisters):
            write(r, r.trace.converted(native, value, dtype))
        else:
            write(r, convert(value))

    return step


@pure("I2F", "I2FP", "UI2F", "UI2FP")
def _to_float(form: Form) -> Action:
    form.only(*_INTEGERS, *_FLOATS, "RM", "RP", "RZ", "RN")
    result, source = _types(form, _FLOATS, _INTEGERS, ("F32", "S32"))
    mode = mode_of(form)
    convert = integer_to_float(result.lower(), source.lower(), mode)
    if result == "F32" and source in ("S32", "U32"):
        dtype = _DTYPES[source]
        native = _native_from_word(source == "S32", mode)
        return stored(form.destination(0), of_word(form, 1, lambda a: convert(a.view(dtype)), native))
    read, write = _reader(form, 1, source), _writer(form, result)
    return _converting(read, write, convert, _native_from(result.lower(), source.lower(), mode), result)


def _native_from(result: str, source: str, mode: str) -> NativeForm | None:
    """The compiled form of a conversion to float32 or float64, None where there is none."""
    if mode == "rn" and result in ("f32", "f64"):
        return native_from_integer(result, source)
    return _native_from_long(source == "s64", mode) if result == "f32" and source.endswith("64") else None


def _native_from_long(signed: bool, mode: str) -> NativeForm:
    """The compiled form of a conversion of 64 bits to float32, not to the nearest. float64 has both halves as they are,
    and their sum with what rounding it loses."""

    def apply(e: Emitter, a: Native) -> Native:
        half = a.type(32)
        upper, low = (e.ashr if signed else e.lshr)(a, half), e.and_(a, a.type(0xFFFFFFFF))
        high = (e.sitofp if signed else e.uitofp)(upper, e.double())
        high = e.fmul(high, high.type(2.0**32))
        low = e.uitofp(low, e.double())
        total = e.fadd(high, low)
        part = e.fsub(total, high)
        rest = e.fadd(e.fsub(high, e.fsub(total, part)), e.fsub(low, part))
        return rounded(e, total, rest, mode)

    return apply


@lru_cache(maxsize=8)
def _native_from_word(signed: bool, mode: str) -> NativeForm:
    """The compiled form of a conversion of 32 bits to float32. float64 has each of them as it is."""

    def apply(e: Emitter, a: Native) -> Native:
        total = (e.sitofp if signed else e.uitofp)(e.bits(a), e.double())
        return e.fptrunc(total, e.float()) if mode == "rn" else rounded(e, total, None, mode)

    return apply


@pure("F2F")
def _between_floats(form: Form) -> Action:
    form.only(*_FLOATS, "FTZ", "RM", "RP", "RZ")
    named = [m for m in form.modifiers if m in _FLOATS]
    if len(named) != 2:
        raise NotImplementedError("F2F of this form")
    result, source = named
    convert = float_conversion(result.lower(), source.lower(), mode_of(form))
    read, write, flushes = _reader(form, 1, source), _writer(form, result), form.has("FTZ")

    def by_numpy(value: Value) -> Value:
        value = convert(flush(value) if source == "F32" and flushes else value)
        return canonical(flush(value) if flushes else value) if result == "F32" else value

    known = {("F64", "F32"): _native_wider, ("F32", "F64"): _native_narrower}.get((result, source))
    native = known(flushes) if known is not None and mode_of(form) == "rn" else None
    return _converting(read, write, by_numpy, native, result)


@lru_cache(maxsize=2)
def _native_wider(flushes: bool) -> NativeForm:
    """The compiled form of a conversion of float32 to float64."""
    return lambda e, a: e.fpext(e.flush(a) if flushes else a, e.double())


@lru_cache(maxsize=2)
def _native_narrower(flushes: bool) -> NativeForm:
    """The compiled form of a conversion of float64 to float32, to the nearest."""

    def apply(e: Emitter, a: Native) -> Native:
        found = e.fptrunc(a, e.float())
        return e.canonical(e.flush(found) if flushes else found)

    return apply


@pure("FRND")
def _round(form: Form) -> Action:
    """To a whole number of the same format."""
    form.only(*_FLOATS, *_ROUNDING, "FTZ")
    kind = next((m for m in form.modifiers if m in _FLOATS), "F32")
    if kind == "BF16":
        raise NotImplementedError("rounding of bfloat16")
    rounding, flushes = next((_ROUNDING[m] for m in form.modifiers if m in _ROUNDING), "rni"), form.has("FTZ")
    function = _WHOLE[rounding]

    def by_numpy(value: Value) -> Value:
        return canonical(function(flush(value) if flushes else value)) if kind == "F32" else function(value)

    native = native_whole(rounding, kind == "F32" and flushes) if kind != "F16" else None
    return _converting(_reader(form, 1, kind), _writer(form, kind), by_numpy, native, kind)


@pure("F2FP")
def _pack(form: Form) -> Action:
    """Two float32 to two of 16 bits: the first one to the upper half. Or to 8 bits, or from there."""
    if form.has("E4M3", "E5M2"):
        return _eight_bits(form)
    form.only("BF16", "F16", "F32", "PACK_AB", "RELU", "RZ")
    if not form.has("PACK_AB"):
        raise NotImplementedError("F2FP of this form")
    kind = form.one_of("BF16", "F16").lower()
    convert = float_conversion(kind, "f32", mode_of(form))
    if form.has("RELU"):
        convert = relu(convert)

    def by_numpy(high: Value, low: Value) -> Value:
        upper, lower = (convert(value).view(np.uint16).astype(U32) for value in (high, low))
        return (upper << U32(16) | lower).view(np.float32)

    native = native_pack(Finish(kind, False, False, form.has("RELU"))) if mode_of(form) == "rn" else None
    return stored(form.destination(0), of_floats(form, (1, 2), by_numpy, native))


def _eight_bits(form: Form) -> Action:
    """Two float32 or a pair of float16 to two floats of 8 bits, or back. Beside them stand those of a third source."""
    form.only("E4M3", "E5M2", "F16", "F32", "SATFINITE", "UNPACK_B", "PACK_AB_MERGE_C", "UNPACK_B_MERGE_C")
    name = {"E4M3": "e4m3x2", "E5M2": "e5m2x2"}[form.one_of("E4M3", "E5M2")]
    destination = form.destination(0)
    if not form.has("SATFINITE"):
        both = form.bits(1)
        first = 2 if "H1" in form.operands[1].suffixes else 0

        def widen(r: list) -> None:
            low, high = (((both(r) >> U32(8 * k)) & U32(0xFF)).astype(np.uint16) for k in (first, first + 1))
            low, high = (np.asarray(widen_fp8(part, name)).astype(U32) for part in (low, high))
            r[destination] = (low | high << U32(16))[()]

        return widen
    upper = form.bits(3 if form.has("F32") else 2)
    parts = [form.f32(k) for k in (1, 2)] if form.has("F32") else [_half_of(form, k) for k in (1, 0)]

    def narrow(r: list) -> None:
        high, low = (np.asarray(narrow_fp8(part(r), name)).astype(U32) for part in parts)
        r[destination] = (upper(r) << U32(16) | high << U32(8) | low)[()]

    return narrow


def _half_of(form: Form, number: int) -> Reader:
    """The lower or upper float16 of the first source, as float32."""
    bits = form.bits(1)
    return lambda r: (bits(r) >> U32(16 * number)).astype(np.uint16).view(np.float16).astype(np.float32)


@pure("I2I", "I2IP")
def _between_integers(form: Form) -> Action:
    raise NotImplementedError("saturating conversions of integers")


__all__ = ["F64", "U64"]
