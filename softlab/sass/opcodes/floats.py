"""float32 arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from softlab.emulator.opcodes.contracted import SCALES
from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.floats import (
    NATIVE,
    canonical,
    extreme,
    finished_native,
    flush,
    flushing,
    native_extreme,
    saturate,
)  # fmt: skip
from softlab.emulator.opcodes.rounding import add_f32, fused_f32, mul_f32, scaled_mul_f32
from softlab.sass.decode import TRUE
from softlab.sass.form import F32, U32, Form, Reader
from softlab.sass.lanes import Value
from softlab.sass.native_floats import of_floats
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


def _wide_fused(e: Emitter, a: Native, b: Native, c: Native) -> Native:
    return e.fadd(e.fmul(a, b), c)


#: How the result is told in float64 that is subnormal before it is rounded, as :func:`finished` takes it.
_WIDE = {"mul": NATIVE["mul"], "fma": _wide_fused}


@lru_cache(maxsize=64)
def _native(name: str, ftz: bool, sat: bool, mode: str = "rn") -> NativeForm:
    """The compiled form of a finished operation in a rounding mode, one object for each."""
    operation = NATIVE[name] if mode == "rn" else _directed(name, mode)
    return finished_native(operation, _WIDE.get(name), ftz=ftz, sat=sat)


def _directed(name: str, mode: str) -> NativeForm:
    """The compiled form of a sum, a product or a fused operation that is rounded towards zero, down or up.

    float64 has each product as it is, and of a sum the rest that its rounding loses. So the sign of the exact value
    less the nearest float32 is known, which says whether a neighbour of that one is right.
    """

    def apply(e: Emitter, *sources: Native) -> Native:
        wide = [e.fpext(source, e.double()) for source in sources]
        if name == "mul":
            total = e.fmul(*wide)
        else:
            a, b = wide if name == "add" else (e.fmul(*wide[:2]), wide[2])
            total = e.fadd(a, b)
        if name == "mul":
            return rounded(e, total, None, mode)
        part = e.fsub(total, a)
        found = rounded(e, total, e.fadd(e.fsub(a, e.fsub(total, part)), e.fsub(b, part)), mode)
        if mode != "rm":
            return found
        # Downwards, an exact sum of 0 is -0 unless both parts are +0.
        signed = e.icmp_signed("<", e.or_(e.bits(a), e.bits(b)), e.integer(64)(0))
        lost = e.and_(e.fcmp_ordered("==", total, total.type(0.0)), signed)
        return e.select(lost, e.as_float(e.or_(e.bits(found), e.integer(32)(0x80000000))), found)

    return apply


def rounded(e: Emitter, total: Native, rest: Native | None, mode: str) -> Native:
    """A float64 ``total`` as float32, rounded in this mode (not "rn").

    Arguments:
        rest: what the exact value has beyond the total, much less than its last bit; None: nothing.
    """
    near = e.fptrunc(total, e.float())
    sign = e.fsub(total, e.fpext(near, e.double()))
    if rest is not None:
        sign = e.select(e.fcmp_unordered("!=", sign, sign.type(0.0)), sign, rest)
    up, down = (e.fcmp_ordered(order, sign, sign.type(0.0)) for order in (">", "<"))
    bits = e.bits(near)
    one, negative = bits.type(1), e.icmp_signed("<", bits, bits.type(0))
    inwards, outwards = e.sub(bits, one), e.add(bits, one)
    zero = e.fcmp_ordered("==", near, near.type(0.0))
    if mode == "rz":
        wrong, step = e.select(negative, up, down), inwards
    elif mode == "rp":
        wrong, step = up, e.select(zero, one, e.select(negative, inwards, outwards))
    else:
        wrong = down
        step = e.select(zero, bits.type(0x80000001), e.select(negative, outwards, inwards))
    return e.select(wrong, e.as_float(step), near)


def _finished_native(form: Form, name: str) -> NativeForm:
    """The compiled form of an operation."""
    return _native(name, form.has("FTZ"), form.has("SAT"), mode_of(form))


@pure("FADD")
def _add(form: Form) -> Action:
    form.only("FTZ", "SAT", *MODES)
    return _of_two(form, finished(form, add_f32(mode_of(form)), None), _finished_native(form, "add"))


@pure("FMUL")
def _multiply(form: Form) -> Action:
    """A scaled product is rounded once, as a fused operation: the compiler scales no product that says how to round.
    An H100 does so where the product alone is too large; where it is subnormal, no GPU has been asked."""
    form.only("FTZ", "SAT", *MODES, *SCALES)
    scale = next((SCALES[m] for m in form.modifiers if m in SCALES), 1.0)
    if scale == 1.0:
        return _of_two(form, finished(form, mul_f32(mode_of(form)), np.multiply), _finished_native(form, "mul"))
    return _of_two(form, finished(form, scaled_mul_f32(mode_of(form), scale), lambda a, b: a * b * scale), None)


def _of_two(form: Form, function: Callable, native: NativeForm | None) -> Action:
    return stored(form.destination(0), of_floats(form, (1, 2), function, native))


def stored(destination: int, read: Reader) -> Action:
    """The step that writes what ``read`` gives."""

    def step(r: list) -> None:
        r[destination] = read(r)

    return step


@pure("FFMA")
def _fused(form: Form) -> Action:
    form.only("FTZ", "SAT", *MODES)
    function = finished(form, fused_f32(mode_of(form)), lambda a, b, c: a * b + c)
    return stored(form.destination(0), of_floats(form, (1, 2, 3), function, _finished_native(form, "fma")))


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
    which = form.operands[3]
    ready = flush if form.has("FTZ") else (lambda value: value)
    if which.index == TRUE:
        name = "max" if which.inverted else "min"
        known = extreme(name, "f32", nan)
        function = lambda a, b: canonical(known(ready(a), ready(b)))  # noqa: E731
        return _of_two(form, function, _extreme_native(name, nan, form.has("FTZ")))
    chosen = choose(form.predicate(3), extreme("min", "f32", nan), extreme("max", "f32", nan))
    destination, a, b = form.destination(0), form.f32(1), form.f32(2)

    def step(r: list) -> None:
        r[destination] = canonical(chosen(r, ready(a(r)), ready(b(r)))).view(U32)

    return step


@lru_cache(maxsize=8)
def _extreme_native(name: str, propagate: bool, ftz: bool) -> NativeForm:
    return finished_native(native_extreme(name, propagate), None, ftz=ftz, sat=False)


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


_SIGNS = {"LT": "<", "EQ": "==", "LE": "<=", "GT": ">", "GE": ">=", "NE": "!=", "NUM": "ord", "NAN": "uno"}


@lru_cache(maxsize=64)
def compare_native(name: str, ftz: bool) -> NativeForm:
    """The compiled form of a comparison."""
    sign = _SIGNS[name if name in _SIGNS else name[:-1]]

    def compare(e: Emitter, a: Native, b: Native) -> Native:
        how = e.fcmp_ordered if name in _SIGNS and name != "NAN" else e.fcmp_unordered
        return how(sign, e.flush(a), e.flush(b)) if ftz else how(sign, a, b)

    return compare


@pure("FSETP")
def _compare(form: Form) -> Action:
    form.only(*COMPARE, "FTZ", "AND", "OR", "XOR")
    name, ftz = form.one_of(*COMPARE), form.has("FTZ")
    compare = COMPARE[name]
    yes, no = form.destination(0), form.destination(1)
    join = combined(form, 4)
    function = (lambda a, b: compare(flush(a), flush(b))) if ftz else compare
    return set_predicates(yes, no, of_floats(form, (2, 3), function, compare_native(name, ftz), tests=True), join)


@pure("FSET")
def _compare_to_register(form: Form) -> Action:
    form.only(*COMPARE, "FTZ", "AND", "OR", "XOR", "BF")
    name = form.one_of(*COMPARE)
    compare = COMPARE[name]
    destination, join = form.destination(0), combined(form, 3)
    true = U32(0x3F800000) if form.has("BF") else U32(0xFFFFFFFF)
    function = (lambda a, b: compare(flush(a), flush(b))) if form.has("FTZ") else compare
    found = of_floats(form, (1, 2), function, compare_native(name, form.has("FTZ")), tests=True)

    def step(r: list) -> None:
        r[destination] = np.multiply(join(r, found(r)), true)

    return step


@pure("FSWZADD")
def _swizzled(form: Form) -> Action:
    raise NotImplementedError("an addition across lanes of a quad")


__all__ = ["COMPARE", "F32", "MODES", "choose", "compare_native", "finished", "mode_of"]
