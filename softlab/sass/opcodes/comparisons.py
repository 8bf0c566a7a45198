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
#: Pairs of integers of 16 bits.
_HALVES = {"U16x2": np.uint16, "S16x2": np.int16}
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
    form.only("U32", "RELU", "S32", *_HALVES)
    if form.operands[1].kind == "P":
        return _extremes_and_which(form)
    choose = _choose(form.predicate(3), np.minimum, np.maximum)
    return _result(form, 2, choose)


@pure("VIADDMNMX")
def _add_extreme(form: Form) -> Action:
    form.only("U32", "RELU", "S32", *_HALVES)
    choose = _choose(form.predicate(4), np.minimum, np.maximum)
    return _result(form, 3, lambda r, a, b, c: choose(r, a + b, c))


@pure("VIMNMX3")
def _extreme_of_three(form: Form) -> Action:
    form.only("U32", "RELU", "S32", *_HALVES)
    choose = _choose(form.predicate(4), np.minimum, np.maximum)
    return _result(form, 3, lambda r, a, b, c: choose(r, choose(r, a, b), c))


def _result(form: Form, count: int, function: Callable[..., Value]) -> Action:
    """Put into the destination what a function gives for the next ``count`` operands, integers of 32 bits or pairs of
    16. RELU: no less than 0."""
    destination, readers = form.destination(0), [form.u32(number) for number in range(1, count + 1)]
    relu, halves = form.has("RELU"), form.has(*_HALVES)
    kind = np.dtype(_HALVES[form.one_of(*_HALVES)] if halves else U32 if form.has("U32") else S32)

    def limited(value: Value) -> Value:
        return np.maximum(value, kind.type(0)) if relu else value

    def whole(r: list) -> None:
        r[destination] = limited(function(r, *(read(r).view(kind) for read in readers))).view(U32)

    def pairs(r: list) -> None:
        values = [read(r) for read in readers]
        low, high = (limited(function(r, *(_half(value, k, kind) for value in values))) for k in (0, 1))
        r[destination] = _joined(low, high)

    return pairs if halves else whole


def _extremes_and_which(form: Form) -> Action:
    """Of two pairs of 16-bit integers, and whether the lower and the upper one are those of the first pair."""
    form.only(*_HALVES)
    kind = np.dtype(_HALVES[form.one_of(*_HALVES)])
    destination, of_low, of_high = (form.destination(number) for number in range(3))
    a, b = form.u32(3), form.u32(4)
    choose = _choose(form.predicate(5), np.minimum, np.maximum)

    def step(r: list) -> None:
        x, y = a(r), b(r)
        first = [_half(x, k, kind) for k in (0, 1)]
        low, high = (choose(r, first[k], _half(y, k, kind)) for k in (0, 1))
        r[of_low], r[of_high] = low == first[0], high == first[1]
        r[destination] = _joined(low, high)

    return step


def _half(value: Value, number: int, kind: np.dtype) -> Value:
    """The lower (0) or the upper half (1) of 32 bits, as an integer of 16."""
    return (value >> U32(16 * number)).astype(kind)


def _joined(low: Value, high: Value) -> Value:
    low, high = (one.view(np.uint16).astype(U32) for one in (low, high))
    return high << U32(16) | low
