"""The special function unit, and the check in front of a division."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from softlab.emulator.opcodes import series
from softlab.emulator.opcodes.approximate import (
    log2,
    native_log2,
    native_reciprocal_root,
    native_root,
    native_upper_word,
    upper_word,
)
from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.floats import canonical, flush
from softlab.emulator.opcodes.special_functions import (
    exp2_flushed,
    native_exp2_flushed,
    native_scaled_reciprocal,
    ordinary_reciprocal,
)  # fmt: skip
from softlab.emulator.ptx.linker import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from softlab.sass.form import F32, F64, S32, U32, U64, Form
from softlab.sass.lanes import Value
from softlab.sass.native_floats import of_floats
from softlab.sass.opcodes.floats import stored
from softlab.sass.registry import Action, pure

_EXPONENT = np.int32(0x7F800000)
_LARGE = np.int32(253 << 23)


def _reciprocal(a: Value) -> Value:
    """1 / a: subnormal sources and results are zeros."""
    a = np.asarray(a)
    exponent = a.view(np.int32) & _EXPONENT
    result = ordinary_reciprocal(a, exponent)
    if exponent.min() > 0 and exponent.max() < _LARGE:
        return result[()]
    result = np.where(exponent >= _LARGE, np.copysign(F32(0), a), result)
    result = np.where(exponent == 0, np.copysign(F32(np.inf), a), result)
    # A power of two as large as 2**126 has a reciprocal that is normal.
    least = (a.view(np.int32) & np.int32(0x7FFFFFFF)) == _LARGE
    result = np.where(least, np.copysign(F32(2.0**-126), a), result)
    return np.where(np.isnan(a), a, result)[()]


def _native_reciprocal(e: Emitter, a: Native) -> Native:
    """The compiled form of :func:`_reciprocal`."""
    word = e.integer(32)
    bits = e.bits(a)
    exponent, sign = e.and_(bits, word(int(_EXPONENT))), e.and_(bits, word(0x80000000))
    result = e.bits(native_scaled_reciprocal(e, a))
    result = e.select(e.icmp_signed(">=", exponent, word(int(_LARGE))), sign, result)
    result = e.select(e.icmp_signed("==", exponent, word(0)), e.or_(sign, word(int(_EXPONENT))), result)
    least = e.icmp_signed("==", e.xor(bits, sign), word(int(_LARGE)))
    result = e.select(least, e.or_(sign, word(1 << 23)), result)  # 2**-126
    return e.canonical(e.as_float(e.select(e.is_nan(a), bits, result)))


def _native_power(e: Emitter, a: Native) -> Native:
    return e.canonical(native_exp2_flushed(e, a))


def _root(a: Value) -> Value:
    return np.sqrt(flush(a))


def _native_root(e: Emitter, a: Native) -> Native:
    return e.canonical(native_root(e, e.flush(a)))


def _reciprocal_root(a: Value) -> Value:
    return (1.0 / np.sqrt(flush(a), dtype=F64)).astype(F32)


def _native_reciprocal_root(e: Emitter, a: Native) -> Native:
    return e.canonical(native_reciprocal_root(e, e.flush(a)))


def _native_log2(e: Emitter, a: Native) -> Native:
    return e.canonical(native_log2(e, e.flush(a)))


def _finished(native: NativeForm) -> NativeForm:
    """A compiled form whose NaN has hardware's bits."""
    return lambda e, a: e.canonical(native(e, a))


#: Sines are of a number of turns, not of an angle.
_SERIES = {"SIN": series.sine, "COS": series.cosine, "TANH": series.tanh}
_FUNCTIONS: dict[str, Callable[[Value], Value]] = {
    "EX2": exp2_flushed,
    "LG2": lambda a: log2(flush(a)),
    "RCP": _reciprocal,
    "RSQ": _reciprocal_root,
    "SQRT": _root,
    **{name: series.rounded(function) for name, function in _SERIES.items()},
}
_NATIVE: dict[str, NativeForm] = {
    "EX2": _native_power, "LG2": _native_log2, "RCP": _native_reciprocal, "RSQ": _native_reciprocal_root,
    "SQRT": _native_root, **{name: _finished(series.native_rounded(function)) for name, function in _SERIES.items()},
}  # fmt: skip
_UPPER: dict[str, Callable[[Value], Value]] = {
    "RCP64H": upper_word(np.reciprocal),
    "RSQ64H": upper_word(lambda a: 1.0 / np.sqrt(a)),
}


@lru_cache(maxsize=2)
def _native_upper(root: bool) -> NativeForm:
    """The compiled form of what :func:`upper_word` gives, of the bits of the upper word: 1 / a, or that of the root."""
    native = native_upper_word(root=root)

    def apply(e: Emitter, upper: Native) -> Native:
        word, half = e.integer(64), e.integer(64)(32)
        found = native(e, e.as_float(e.shl(e.zext(e.bits(upper), word), half)))
        return e.as_float(e.trunc(e.lshr(e.bits(found), half), e.integer(32)))

    return apply


@pure("MUFU")
def _special_function(form: Form) -> Action:
    form.only(*_FUNCTIONS, *_UPPER)
    name = form.one_of(*_FUNCTIONS, *_UPPER)
    destination = form.destination(0)
    if name in _UPPER:
        function = _UPPER[name]

        def upper(a: Value) -> Value:
            both = a.view(U32).astype(U64) << U64(32)
            return (function(both.view(F64)).view(U64) >> U64(32)).astype(U32).view(F32)

        return stored(destination, of_floats(form, (1,), upper, _native_upper(name == "RSQ64H")))
    plain = _FUNCTIONS[name]
    return stored(destination, of_floats(form, (1,), lambda a: canonical(plain(a)), _NATIVE[name]))


@pure("QSPC")
def _query_space(form: Form) -> Action:
    """Whether a generic address is one of shared, local or global memory."""
    form.only("E", "S", "L", "G")
    space = form.one_of("S", "L", "G")
    destination = form.destination(0)
    address, offset = form.address(2)

    def step(r: list) -> None:
        at = address(r) + U64(offset)
        shared, local = ((at >= U64(base)) & (at < U64(base + WINDOW_BYTES)) for base in (SHARED_WINDOW, LOCAL_WINDOW))
        r[destination] = shared if space == "S" else local if space == "L" else ~(shared | local)

    return step


@pure("FCHK")
def _division_check(form: Form) -> Action:
    """Whether the plain steps of a / b may go wrong: zeros, subnormals, infinities, NaN, far exponents."""
    form.only("DIVIDE")
    return stored(form.destination(0), of_floats(form, (1, 2), _may_go_wrong, _native_may_go_wrong, tests=True))


def _may_go_wrong(a: Value, b: Value) -> Value:
    x, y = (((value.view(U32) >> U32(23)) & U32(0xFF)).astype(S32) for value in (a, b))
    difference = x - y
    return (y < 1) | (y >= 253) | (x < 1 + 23) | (x >= 255) | (difference >= 126) | (difference <= -126)


def _native_may_go_wrong(e: Emitter, a: Native, b: Native) -> Native:
    """The compiled form of :func:`_may_go_wrong`."""
    word = e.integer(32)
    x, y = (e.and_(e.lshr(e.bits(value), word(23)), word(0xFF)) for value in (a, b))
    difference = e.sub(x, y)
    found = e.icmp_signed("<", y, word(1))
    for sign, value, limit in ((">=", y, 253), ("<", x, 24), (">=", x, 255), (">=", difference, 126)):
        found = e.or_(found, e.icmp_signed(sign, value, word(limit)))
    return e.or_(found, e.icmp_signed("<=", difference, word(-126)))
