"""float32 arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.contracted import SCALES
from softlab.emulator.opcodes.floats import canonical, extreme, flush, flushing, saturate
from softlab.emulator.opcodes.rounding import add_f32, fused_f32, mul_f32, scaled_mul_f32
from softlab.sass.form import F32, U32, Form, Reader
from softlab.sass.lanes import Value
from softlab.sass.opcodes.comparisons import combined, set_predicates
from softlab.sass.registry import Action, pure

#: Rounding modes, as the machine code has them, and as the emulator names them.
MODES = {"RM": "rm", "RP": "rp", "RZ": "rz"}


def mode_of(form: Form) -> str:
    """The rounding mode."""
    return next((MODES[m] for m in form.modifiers if m in MODES), "rn")


def finished(form: Form, function: Callable, wide: Callable | None) -> Callable:
    """``function`` with what .FTZ and .SAT ask for; a NaN has hardware's bits."""
    if form.has("FTZ"):
        function = flushing(function, wide)
    if form.has("SAT"):
        return lambda *sources: saturate(function(*sources))
    return lambda *sources: canonical(function(*sources))


@pure("FADD")
def _add(form: Form) -> Action:
    form.only("FTZ", "SAT", *MODES)
    return _of_two(form, finished(form, add_f32(mode_of(form)), None))


@pure("FMUL")
def _multiply(form: Form) -> Action:
    """A scaled product is rounded once, as a fused operation: the compiler scales no product that says how to round.
    An H100 does so where the product alone is too large; where it is subnormal, no GPU has been asked."""
    form.only("FTZ", "SAT", *MODES, *SCALES)
    scale = next((SCALES[m] for m in form.modifiers if m in SCALES), 1.0)
    if scale == 1.0:
        return _of_two(form, finished(form, mul_f32(mode_of(form)), np.multiply))
    return _of_two(form, finished(form, scaled_mul_f32(mode_of(form), scale), lambda a, b: a * b * scale))


def _of_two(form: Form, function: Callable) -> Action:
    destination, a, b = form.destination(0), form.f32(1), form.f32(2)

    def step(r: list) -> None:
        r[destination] = function(a(r), b(r)).view(U32)

    return step


@pure("FFMA")
def _fused(form: Form) -> Action:
    form.only("FTZ", "SAT", *MODES)
    function = finished(form, fused_f32(mode_of(form)), lambda a, b, c: a * b + c)
    destination, a, b, c = form.destination(0), form.f32(1), form.f32(2), form.f32(3)

    def step(r: list) -> None:
        r[destination] = function(a(r), b(r), c(r)).view(U32)

    return step


def choose(predicate: Reader, low: Callable, high: Callable) -> Callable[..., Value]:
    """The smaller of two where the predicate holds, else the larger."""

    def chosen(r: list, a: Value, b: Value) -> Value:
        p = predicate(r)
        if isinstance(p, np.ndarray):
            return np.where(p, low(a, b), high(a, b))
        return low(a, b) if p else high(a, b)

    return chosen


@pure("FMNMX")
def _extreme(form: Form) -> Action:
    form.only("FTZ", "NAN")
    nan = form.has("NAN")
    chosen = choose(form.predicate(3), extreme("min", "f32", nan), extreme("max", "f32", nan))
    destination, a, b = form.destination(0), form.f32(1), form.f32(2)
    ready = flush if form.has("FTZ") else (lambda value: value)

    def step(r: list) -> None:
        r[destination] = canonical(chosen(r, ready(a(r)), ready(b(r)))).view(U32)

    return step


#: Comparisons of floats: false of NaN, and with a U behind the name true of NaN.
COMPARE: dict[str, Callable] = {
    "LT": np.less,
    "EQ": np.equal,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
    "NE": lambda a, b: (a < b) | (a > b),
    "NUM": lambda a, b: (a == a) & (b == b),
    "NAN": lambda a, b: (a != a) | (b != b),
    "LTU": lambda a, b: ~np.greater_equal(a, b),
    "EQU": lambda a, b: ~((a < b) | (a > b)),
    "LEU": lambda a, b: ~np.greater(a, b),
    "GTU": lambda a, b: ~np.less_equal(a, b),
    "NEU": np.not_equal,
    "GEU": lambda a, b: ~np.less(a, b),
}


@pure("FSETP")
def _compare(form: Form) -> Action:
    form.only(*COMPARE, "FTZ", "AND", "OR", "XOR")
    compare = COMPARE[form.one_of(*COMPARE)]
    yes, no = form.destination(0), form.destination(1)
    join = combined(form, 4)
    a, b = form.f32(2), form.f32(3)
    if form.has("FTZ"):
        return set_predicates(yes, no, lambda r: compare(flush(a(r)), flush(b(r))), join)
    return set_predicates(yes, no, lambda r: compare(a(r), b(r)), join)


@pure("FSET")
def _compare_to_register(form: Form) -> Action:
    form.only(*COMPARE, "FTZ", "AND", "OR", "XOR", "BF")
    compare = COMPARE[form.one_of(*COMPARE)]
    destination, join = form.destination(0), combined(form, 3)
    a, b = form.f32(1), form.f32(2)
    true = U32(0x3F800000) if form.has("BF") else U32(0xFFFFFFFF)
    ready = flush if form.has("FTZ") else (lambda value: value)

    def step(r: list) -> None:
        r[destination] = np.multiply(join(r, compare(ready(a(r)), ready(b(r)))), true)

    return step


@pure("FSWZADD")
def _swizzled(form: Form) -> Action:
    raise NotImplementedError("an addition across lanes of a quad")


__all__ = ["COMPARE", "F32", "MODES", "choose", "finished", "mode_of"]
