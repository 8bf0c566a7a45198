"""Comparison and selection. Source: PTX ISA, "Comparison and Selection Instructions"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.floats import FLOATS, flush
from softlab.emulator.opcodes.forms import BITS, INTEGERS, Form, bits_type, dtype_of, pure, select
from softlab.emulator.registry import Semantics

_ORDERS: dict[str, Callable] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_INTEGER: dict[str, Callable] = {
    "eq": np.equal,
    "ne": np.not_equal,
    **_ORDERS,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}
#: Comparison -> function of two floats that gives a bool. The names that end in u are true for NaN.
FLOAT_COMPARISONS: dict[str, Callable] = {
    "eq": np.equal,
    "ne": lambda a, b: (a < b) | (a > b),
    **_ORDERS,
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": np.not_equal,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: (a == a) & (b == b),
    "nan": lambda a, b: (a != a) | (b != b),
}
_JOIN = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def comparison(form: Form) -> tuple[Callable, str]:
    """The comparison that an integer or a float instruction asks for, and the type it reads its sources in."""
    name = form.type
    if name not in FLOATS:
        compare = _INTEGER[form.one_of(*_INTEGER)]
        equality = compare in (np.equal, np.not_equal)
        if name in BITS and not equality:
            raise NotImplementedError(f"{name} has no order")
        return compare, bits_type(name) if equality else name
    compare = FLOAT_COMPARISONS[form.one_of(*FLOAT_COMPARISONS)]
    if form.flag("ftz"):
        return (lambda a, b: compare(flush(a), flush(b))), name
    return compare, name


def joined(form: Form, compare: Callable) -> tuple[Callable, bool]:
    """``compare``, its result joined with a predicate where .and, .or or .xor asks for it, and whether it does."""
    join = form.one_of(*_JOIN, default="")
    if not join:
        return compare, False
    combine = _JOIN[join]
    return (lambda a, b, c: combine(compare(a, b), c)), True


def set_predicate(form: Form, compare: Callable, name: str) -> Semantics:
    """setp: one predicate, or ``p|q`` where q is of the opposite comparison, each joined with c if asked."""
    if form.paired:
        join = form.one_of(*_JOIN, default="")
        if not join:

            def both(a, b):
                p = compare(a, b)
                return p, ~p

            return Semantics(both, (name, name), ("pred", "pred"))
        combine = _JOIN[join]

        def both_joined(a, b, c):
            p = compare(a, b)
            return combine(p, c), combine(~p, c)

        return Semantics(both_joined, (name, name, "pred"), ("pred", "pred"))
    function, takes_predicate = joined(form, compare)
    return Semantics(function, (name, name, "pred") if takes_predicate else (name, name), ("pred",))


@pure("setp", types=(*BITS, *INTEGERS, *FLOATS))
def _setp(form: Form) -> Semantics:
    form.one_type()
    return set_predicate(form, *comparison(form))


@pure("set", types=(*BITS, *INTEGERS, *FLOATS))
def _set(form: Form) -> Semantics:
    if len(form.types) != 2:
        raise NotImplementedError("set needs two types")
    result = form.types[0]
    if result not in ("u32", "s32", "f32"):
        raise NotImplementedError(f"set has no result of type {result}")
    compare, name = comparison(form)
    function, takes_predicate = joined(form, compare)
    sources = (name, name, "pred") if takes_predicate else (name, name)
    if result == "f32":
        return Semantics(lambda *values: function(*values).astype(np.float32), sources, ("f32",))
    return Semantics(lambda *values: np.negative(function(*values).astype(np.uint32)), sources, ("b32",))


@pure("selp", types=(*BITS, *INTEGERS, *FLOATS))
def _selp(form: Form) -> Semantics:
    name = form.one_type()
    name = name if name in FLOATS else bits_type(name)
    return Semantics(lambda a, b, p: select(p, a, b), (name, name, "pred"), (name,))


@pure("slct", types=("s32", "f32"))
def _slct(form: Form) -> Semantics:
    if len(form.types) != 2:
        raise NotImplementedError("slct needs two types")
    name, test = form.types
    name = name if name in FLOATS else bits_type(name)
    zero = dtype_of(test)(0)
    # Flushed or not, a subnormal below 0 is told from -0, which counts as 0, only without .ftz.
    read = flush if form.flag("ftz") else lambda c: c
    return Semantics(lambda a, b, c: select(read(c) >= zero, a, b), (name, name, test), (name,))
