"""float64 arithmetic."""

from __future__ import annotations

import numpy as np

from softlab.emulator.opcodes.floats import NATIVE, extreme
from softlab.emulator.opcodes.rounding import add_f64, fma_f64, fused_f64, mul_f64
from softlab.sass.form import Form
from softlab.sass.native_floats import of_doubles
from softlab.sass.opcodes.comparisons import combined, set_predicates
from softlab.sass.opcodes.floats import COMPARE, MODES, choose, mode_of
from softlab.sass.registry import Action, pure


@pure("DADD", "DMUL")
def _add_or_multiply(form: Form) -> Action:
    form.only(*MODES)
    function = {"DADD": add_f64, "DMUL": mul_f64}[form.instruction.opcode](mode_of(form))
    # DADD R0, R2, RZ, R4 is a form of older code: the operands are the first and the last.
    put, a, b = form.destination64(0), form.f64(1), form.f64(len(form.operands) - 1)
    return lambda r: put(r, function(a(r), b(r)))


@pure("DFMA")
def _fused(form: Form) -> Action:
    form.only(*MODES)
    mode = mode_of(form)
    if mode == "rn":
        put, read = form.destination64(0), of_doubles(form, (1, 2, 3), fma_f64, NATIVE["fma"])
        return lambda r: put(r, read(r))
    function = fused_f64(mode)
    put, a, b, c = form.destination64(0), form.f64(1), form.f64(2), form.f64(3)
    return lambda r: put(r, function(a(r), b(r), c(r)))


@pure("DMNMX")
def _extreme(form: Form) -> Action:
    form.only()
    chosen = choose(form.predicate(3), extreme("min", "f64"), extreme("max", "f64"))
    put, a, b = form.destination64(0), form.f64(1), form.f64(2)
    return lambda r: put(r, chosen(r, a(r), b(r)))


@pure("DSETP")
def _compare(form: Form) -> Action:
    yes, no = form.destination(0), form.destination(1)
    join = combined(form, 4)
    a, b = form.f64(2), form.f64(3)
    if form.has("MAX", "MIN"):
        return _extreme_flags(form, yes, no)
    form.only(*COMPARE, "AND", "OR", "XOR")
    compare = COMPARE[form.one_of(*COMPARE)]
    return set_predicates(yes, no, lambda r: compare(a(r), b(r)), join)


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
