"""float64 arithmetic."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.floats import NATIVE, extreme
from softlab.emulator.opcodes.rounding import add_f64, fma_f64, fused_f64, mul_f64
from softlab.sass.form import Form
from softlab.sass.native_floats import of_doubles
from softlab.sass.opcodes.comparisons import combined, set_predicates
from softlab.sass.opcodes.floats import COMPARE, MODES, choose, compare_native, mode_of
from softlab.sass.registry import Action, pure

#: The bit that makes a NaN quiet, and NaN as x86 makes it, of which NumPy's results are.
_QUIET, _NAN = 1 << 51, 0xFFF8 << 48


def _of_two(e: Emitter, total: Native, a: Native, b: Native) -> Native:
    """The result of two operands. A NaN is the first operand that is one, made quiet."""
    word = e.integer(64)
    nan = e.select(e.is_nan(b), e.or_(e.bits(b), word(_QUIET)), word(_NAN))
    nan = e.select(e.is_nan(a), e.or_(e.bits(a), word(_QUIET)), nan)
    return e.as_float(e.select(e.is_nan(total), nan, e.bits(total)))


def _native_sum(e: Emitter, a: Native, b: Native) -> Native:
    return _of_two(e, e.fadd(a, b), a, b)


def _native_product(e: Emitter, a: Native, b: Native) -> Native:
    return _of_two(e, e.fmul(a, b), a, b)


def _native_fused(e: Emitter, a: Native, b: Native, c: Native) -> Native:
    """As :func:`fma_f64`: of a NaN that c is, its bits; else those of a product and a sum."""
    total, infinity = e.intrinsic("fma", a, b, c), a.type(float("inf"))
    finite = e.and_(*(e.fcmp_ordered("<", e.magnitude(one), infinity) for one in (a, b)))
    nan = e.select(finite, e.bits(c), e.bits(_native_sum(e, _native_product(e, a, b), c)))
    return e.as_float(e.select(e.is_nan(total), nan, e.bits(total)))


@lru_cache(maxsize=2)
def _native_extreme(larger: bool) -> NativeForm:
    """The larger or smaller of two: of two zeros their signs decide, and of a NaN it is the other one."""

    def apply(e: Emitter, a: Native, b: Native) -> Native:
        x, y, zero = e.bits(a), e.bits(b), a.type(0.0)
        found = e.select(e.fcmp_ordered(">" if larger else "<", a, b), x, y)
        zeros = e.and_(e.fcmp_ordered("==", a, zero), e.fcmp_ordered("==", b, zero))
        found = e.select(zeros, e.and_(x, y) if larger else e.or_(x, y), found)
        found = e.select(e.is_nan(b), x, found)
        return e.as_float(e.select(e.is_nan(a), y, found))

    return apply


@pure("DADD", "DMUL")
def _add_or_multiply(form: Form) -> Action:
    form.only(*MODES)
    mode, adds = mode_of(form), form.instruction.opcode == "DADD"
    function = (add_f64 if adds else mul_f64)(mode)
    # DADD R0, R2, RZ, R4 is a form of older code: the operands are the first and the last.
    put, last = form.destination64(0), len(form.operands) - 1
    if mode == "rn":
        read = of_doubles(form, (1, last), function, _native_sum if adds else _native_product)
        return lambda r: put(r, read(r))
    a, b = form.f64(1), form.f64(last)
    return lambda r: put(r, function(a(r), b(r)))


@pure("DFMA")
def _fused(form: Form) -> Action:
    form.only(*MODES)
    mode = mode_of(form)
    if mode == "rn":
        read = of_doubles(form, (1, 2, 3), fma_f64, _native_fused, fast=NATIVE["fma"])
        put = form.destination64(0)
        return lambda r: put(r, read(r))
    function = fused_f64(mode)
    put, a, b, c = form.destination64(0), form.f64(1), form.f64(2), form.f64(3)
    return lambda r: put(r, function(a(r), b(r), c(r)))


@pure("DMNMX")
def _extreme(form: Form) -> Action:
    form.only()
    low, high = (
        of_doubles(form, (1, 2), extreme(name, "f64"), _native_extreme(name == "max")) for name in ("min", "max")
    )
    put, chosen = form.destination64(0), choose(form.predicate(3), lambda r, _: low(r), lambda r, _: high(r))
    return lambda r: put(r, chosen(r, r, r))


@pure("DSETP")
def _compare(form: Form) -> Action:
    yes, no = form.destination(0), form.destination(1)
    join = combined(form, 4)
    if form.has("MAX", "MIN"):
        return _extreme_flags(form, yes, no)
    form.only(*COMPARE, "AND", "OR", "XOR")
    name = form.one_of(*COMPARE)
    return set_predicates(
        yes, no, of_doubles(form, (2, 3), COMPARE[name], compare_native(name, False), tests=True), join
    )


def _extreme_flags(form: Form, yes: int, no: int) -> Action:
    """Whether the first of two is the maximum (or minimum), and whether both are NaN.

    The code behind it takes the second where the first predicate does not hold, and makes it a quiet NaN where the
    other one holds. A number is preferred to a NaN, and of two zeros +0 is the maximum.
    """
    form.only("MAX", "MIN", "AND")
    a, b = form.f64(2), form.f64(3)
    larger = form.has("MAX")

    def step(r: list) -> None:
        x, y = a(r), b(r)
        nan = np.isnan(y)
        ahead = (x > y) if larger else (x < y)
        ahead = ahead | ((x == y) & (np.signbit(x) != larger)) | (nan & ~np.isnan(x))
        both = nan & np.isnan(x)
        r[yes], r[no] = ahead, both

    return step
