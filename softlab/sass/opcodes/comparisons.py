"""Comparisons of integers: predicates, minima and maxima."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.sass.form import S32, U32, Form, Reader
from softlab.sass.lanes import Value
from softlab.sass.registry import Action, pure

_COMPARE: dict[str, Callable] = {
    "LT": np.less,
    "EQ": np.equal,
    "LE": np.less_equal,
    "GT": np.greater,
    "NE": np.not_equal,
    "GE": np.greater_equal,
}
COMBINE: dict[str, Callable] = {"AND": np.logical_and, "OR": np.logical_or, "XOR": np.logical_xor}


def combined(form: Form, number: int) -> Callable[[list, Value], Value]:
    """The result of a comparison with the predicate at ``number``, as .AND, .OR or .XOR say."""
    name = form.one_of(*COMBINE)
    operand = form.operands[number]
    if (
        operand.kind in ("P", "UP")
        and operand.index == 7
        and (name, operand.inverted) in (("AND", False), ("OR", True))
    ):
        return lambda r, found: found
    join, other = COMBINE[name], form.predicate(number)
    return lambda r, found: join(found, other(r))


@pure("ISETP", "UISETP")
def _compare(form: Form) -> Action:
    name = form.one_of(*_COMPARE, "T", "F")
    form.only(*_COMPARE, "U32", "EX", "AND", "OR", "XOR")
    yes, no = form.destination(0), form.destination(1)
    join = combined(form, 4)
    signed = not form.has("U32")
    a, b = (form.s32(2), form.s32(3)) if signed else (form.u32(2), form.u32(3))
    compare = _COMPARE[name]
    if form.has("EX"):  # the upper halves, behind a comparison of the lower ones
        lower = form.predicate(5)
        if name in ("EQ", "NE"):
            both = np.logical_and if name == "EQ" else np.logical_or

            def found(r: list) -> Value:
                return both(compare(a(r), b(r)), lower(r))

        else:
            strict = np.less if name[0] == "L" else np.greater

            def found(r: list) -> Value:
                x, y = a(r), b(r)
                return strict(x, y) | ((x == y) & lower(r))

    else:

        def found(r: list) -> Value:
            return compare(a(r), b(r))

    return set_predicates(yes, no, found, join)


def set_predicates(yes: int, no: int, found: Reader, join: Callable[[list, Value], Value]) -> Action:
    """Write a comparison's result and, where it is wanted, that of its opposite."""
    from softlab.sass.form import SINK

    if no == SINK:

        def step(r: list) -> None:
            r[yes] = join(r, found(r))

        return step

    def two(r: list) -> None:
        value = found(r)
        positive, negative = join(r, value), join(r, ~value)
        r[yes] = positive
        r[no] = negative

    return two


def _choose(smaller: Reader, low: Callable, high: Callable) -> Callable[[list, Value, Value], Value]:
    def choose(r: list, a: Value, b: Value) -> Value:
        p = smaller(r)
        if isinstance(p, np.ndarray):
            return np.where(p, low(a, b), high(a, b))
        return low(a, b) if p else high(a, b)

    return choose


@pure("IMNMX", "VIMNMX", "UIMNMX", "UVIMNMX")
def _extreme(form: Form) -> Action:
    form.only("U32", "RELU", "S32", "U16x2", "S16x2")
    relu = form.has("RELU")
    if form.has("U16x2", "S16x2"):
        return _extremes_of_halves(form, np.dtype(np.uint16 if form.has("U16x2") else np.int16))
    destination = form.destination(0)
    a, b = (form.u32(1), form.u32(2)) if form.has("U32") else (form.s32(1), form.s32(2))
    choose = _choose(form.predicate(3), np.minimum, np.maximum)

    def step(r: list) -> None:
        value = choose(r, a(r), b(r))
        r[destination] = (np.maximum(value, S32(0)) if relu else value).view(U32)

    return step


def _extremes_of_halves(form: Form, kind: np.dtype) -> Action:
    """The smaller or larger ones of two pairs of 16-bit integers."""
    relu = form.has("RELU")
    destination, a, b = form.destination(0), form.u32(1), form.u32(2)
    choose = _choose(form.predicate(3), np.minimum, np.maximum)

    def step(r: list) -> None:
        x, y = a(r), b(r)
        low, high = (choose(r, (x >> shift).astype(kind), (y >> shift).astype(kind)) for shift in (U32(0), U32(16)))
        if relu:
            low, high = np.maximum(low, kind.type(0)), np.maximum(high, kind.type(0))
        low, high = (half.view(np.uint16).astype(U32) for half in (low, high))
        r[destination] = high << U32(16) | low

    return step


@pure("VIADDMNMX")
def _add_extreme(form: Form) -> Action:
    form.only("U32", "RELU", "S32")
    relu = form.has("RELU")
    destination, a, b = form.destination(0), form.u32(1), form.u32(2)
    kind = U32 if form.has("U32") else S32
    c = form.u32(3)
    choose = _choose(form.predicate(4), np.minimum, np.maximum)

    def step(r: list) -> None:
        value = choose(r, (a(r) + b(r)).view(kind), c(r).view(kind))
        r[destination] = (np.maximum(value, kind(0)) if relu else value).view(U32)

    return step


@pure("VIMNMX3")
def _extreme_of_three(form: Form) -> Action:
    form.only("U32", "S32")
    destination = form.destination(0)
    kind = U32 if form.has("U32") else S32
    a, b, c = (form.u32(k) for k in (1, 2, 3))
    choose = _choose(form.predicate(4), np.minimum, np.maximum)

    def step(r: list) -> None:
        r[destination] = choose(r, choose(r, a(r).view(kind), b(r).view(kind)), c(r).view(kind)).view(U32)

    return step
