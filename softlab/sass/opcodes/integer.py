"""Integer arithmetic, of lanes and of the uniform datapath.

Sources: NVIDIA, *CUDA Binary Utilities*, for the names; what each computes is read off the PTX that the assembler made
it from, and held to the PTX emulator's results (``tests/sass``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.sass.form import S32, S64, U32, U64, Form, Reader
from softlab.sass.lanes import Value
from softlab.sass.registry import Action, pure

_HALF = U64(32)
_LOW = U64(0xFFFFFFFF)


def _sum(readers: list[Reader]) -> Reader:
    if not readers:
        zero = U32(0)
        return lambda r: zero
    if len(readers) == 1:
        return readers[0]
    if len(readers) == 2:
        a, b = readers
        return lambda r: a(r) + b(r)
    a, b, c = readers
    return lambda r: a(r) + b(r) + c(r)


@pure("IADD3", "UIADD3")
def _add3(form: Form) -> Action:
    """a + b + c, with carries in (.X) and out.

    Without .X a negated operand is its complement plus one, so that the carry of a - b says that nothing is borrowed.
    """
    operands = form.operands
    if form.has("64"):
        return _add3_of_pairs(form)
    carries = 0
    while operands[1 + carries].kind in ("P", "UP"):
        carries += 1
    extended = form.has("X")
    form.only("X")
    numbers = [1 + carries + k for k in range(3)]
    out = [form.destination(1 + k) for k in range(carries)]
    destination = form.destination(0)
    taken = [k for k in numbers if not form.is_zero(k)]
    into = [form.predicate(k) for k in range(numbers[-1] + 1, len(operands))] if extended else []
    if not carries:
        return _sum_without_carry_out(destination, _sum([form.u32(k) for k in taken]), into)
    ones = U64(sum(operands[k].negated for k in taken)) if not extended else U64(0)
    parts = [_complement(form, k) for k in taken]

    def step(r: list) -> None:
        total = ones
        for part in parts:
            total = part(r) + total
        for carry in into:
            total = total + np.multiply(carry(r), U64(1))
        r[destination] = total.astype(U32)
        high = total >> _HALF
        for k, where in enumerate(out):
            r[where] = high > U64(k)

    return step


def _add3_of_pairs(form: Form) -> Action:
    form.only("64")
    if any(o.kind in ("P", "UP") for o in form.operands):
        raise NotImplementedError("a carry of 64 bits")
    put = form.destination64(0)
    a, b, c = (_signed_pair(form, k) for k in (1, 2, 3))
    return lambda r: put(r, a(r) + b(r) + c(r))


def _complement(form: Form, number: int) -> Reader:
    """The operand as a 33-bit sum takes it: the complement where it is negated."""
    operand, read = form.operands[number], form.bits(number)
    if operand.negated or operand.inverted:
        return lambda r: ~read(r)
    return read


def _sum_without_carry_out(destination: int, add: Reader, into: list[Reader]) -> Action:
    if not into:

        def simple(r: list) -> None:
            r[destination] = add(r)

        return simple

    def with_carry(r: list) -> None:
        value = add(r)
        for carry in into:
            value = value + np.multiply(carry(r), U32(1))
        r[destination] = value

    return with_carry


@pure("VIADD", "UVIADD")
def _add(form: Form) -> Action:
    form.only()
    destination, a, b = form.destination(0), form.u32(1), form.u32(2)

    def step(r: list) -> None:
        r[destination] = a(r) + b(r)

    return step


def _widen(form: Form, number: int, signed: bool) -> Reader:
    """A factor as int64 or uint64."""
    read = form.s32(number) if signed else form.u32(number)
    kind = S64 if signed else U64
    return lambda r: read(r).astype(kind)


def _product(form: Form, first: int, signed: bool) -> Reader:
    """The 64-bit product of two operands, as uint64."""
    if form.is_zero(first) or form.is_zero(first + 1):
        zero = U64(0)
        return lambda r: zero
    a, b = _widen(form, first, signed), _widen(form, first + 1, signed)
    if form.constant(first + 1) == 1:
        return lambda r: a(r).view(U64)
    return lambda r: (a(r) * b(r)).view(U64)


def _signed_pair(form: Form, number: int) -> Reader:
    operand, read = form.operands[number], form.u64(number)
    if operand.negated:
        return lambda r: np.negative(read(r))
    return (lambda r: ~read(r)) if operand.inverted else read


@pure("IMAD", "UIMAD")
def _multiply_add(form: Form) -> Action:
    form.only("WIDE", "HI", "X", "MOV", "SHL", "IADD", "U32")
    carries = 1 if form.operands[1].kind in ("P", "UP") else 0
    out = form.destination(1) if carries else None
    first = 1 + carries
    carry = form.predicate(first + 3) if form.has("X") else None
    if form.has("WIDE", "HI"):
        return _wide(form, first, out, carry)
    if out is not None:
        raise NotImplementedError("a carry out of 32 bits")
    destination = form.destination(0)
    terms: list[Reader] = []
    if not form.is_zero(first) and not form.is_zero(first + 1):
        a, b = form.u32(first), form.u32(first + 1)
        factor = form.constant(first + 1)
        if factor == 1:
            terms.append(a)
        else:
            terms.append(lambda r: a(r) * b(r))
    if not form.is_zero(first + 2):
        terms.append(form.u32(first + 2))
    add = _sum(terms)
    if carry is not None:

        def extended(r: list) -> None:
            r[destination] = add(r) + np.multiply(carry(r), U32(1))

        return extended

    def step(r: list) -> None:
        r[destination] = add(r)

    return step


def _put_high(destination: int) -> Callable[[list, Value], None]:
    """A function of (registers, uint64) that writes the upper half."""

    def put(r: list, value: Value) -> None:
        r[destination] = (value >> _HALF).astype(U32)

    return put


def _wide(form: Form, first: int, out: int | None, carry: Reader | None) -> Action:
    product = _product(form, first, not form.has("U32"))
    addend = None if form.is_zero(first + 2) else _signed_pair(form, first + 2)

    put = _put_high(form.destination(0)) if form.has("HI") else form.destination64(0)

    def step(r: list) -> None:
        one = product(r)
        value = one if addend is None else one + addend(r)
        over = value < one
        if carry is not None:
            more = value + np.multiply(carry(r), U64(1))
            over = over | (more < value)
            value = more
        put(r, value)
        if out is not None:
            r[out] = over

    def plain(r: list) -> None:
        value = product(r)
        put(r, value if addend is None else value + addend(r))

    return plain if out is None and carry is None else step


@pure("LEA", "ULEA")
def _shift_add(form: Form) -> Action:
    """(a << s) + b; with .HI the upper half of the shifted pair (or of a with its sign: .SX32) + b."""
    form.only("HI", "X", "SX32")
    carries = 1 if form.operands[1].kind in ("P", "UP") else 0
    out = form.destination(1) if carries else None
    destination = form.destination(0)
    a = 1 + carries
    high, sign = form.has("HI"), form.has("SX32")
    amount_at = a + (3 if high and not sign else 2)
    amount = form.constant(amount_at)
    carry = form.predicate(amount_at + 1) if form.has("X") else None
    if amount is None:
        raise NotImplementedError("a shift by a register")
    shifted = _shifted(form, a, amount, high, sign)
    if out is None:
        add = _sum([shifted] + ([] if form.is_zero(a + 1) else [form.u32(a + 1)]))
        return _sum_without_carry_out(destination, add, [] if carry is None else [carry])
    b = _complement(form, a + 1)
    one = U64(1 if form.operands[a + 1].negated else 0)
    if form.operands[a].negated and not high:  # the complement and one: so zero gives a carry
        shifted = _complement_of(form.bits(a), amount)
        one += U64(1)

    def step(r: list) -> None:
        total = shifted(r) + one + b(r)
        if carry is not None:
            total = total + np.multiply(carry(r), U64(1))
        r[destination] = total.astype(U32)
        r[out] = (total >> _HALF) != 0

    return step


def _complement_of(read: Reader, amount: int) -> Reader:
    left = U32(amount)
    return lambda r: ~(read(r) << left)


def _shifted(form: Form, a: int, amount: int, high: bool, sign: bool) -> Reader:
    read = form.u32(a)
    if not high:
        left = U32(amount)
        return (lambda r: read(r) << left) if amount else read
    if sign:
        right = S32(min(32 - amount, 31))
        return lambda r: (read(r).view(S32) >> right).view(U32)
    left, back = U32(amount), U32(32 - amount)
    if form.is_zero(a + 2):
        return lambda r: read(r) >> back
    upper = form.u32(a + 2)
    return lambda r: (upper(r) << left) | (read(r) >> back)


@pure("IABS", "UIABS")
def _absolute(form: Form) -> Action:
    form.only()
    destination, a = form.destination(0), form.s32(1)

    def step(r: list) -> None:
        r[destination] = np.abs(a(r)).view(U32)

    return step


@pure("IDP")
def _dot_product(form: Form) -> Action:
    """Four products of bytes (.4A), or two of 16 bits with bytes (.2A), and a sum."""
    form.only("4A", "2A", "U8", "S8", "LO", "HI", "U16", "S16")
    destination = form.destination(0)
    types = [m for m in form.modifiers if m in ("U8", "S8", "U16", "S16")]
    a, b, c = form.u32(1), form.u32(2), form.u32(3)
    if form.has("4A"):
        kinds = [np.int8 if t == "S8" else np.uint8 for t in (*types, "S8", "S8")[:2]]

        def step(r: list) -> None:
            x, y = a(r), b(r)
            total = c(r).view(S32)
            for k in range(4):
                shift = U32(8 * k)
                parts = [(v >> shift).astype(kind).astype(S32) for v, kind in zip((x, y), kinds, strict=True)]
                total = total + parts[0] * parts[1]
            r[destination] = total.view(U32)

        return step
    wide = np.int16 if "S16" in types else np.uint16
    narrow = np.int8 if "S8" in types else np.uint8
    first = 2 if form.has("HI") else 0

    def two(r: list) -> None:
        x, y = a(r), b(r)
        total = c(r).view(S32)
        for k in range(2):
            byte = (y >> U32(8 * (first + k))).astype(narrow).astype(S32)
            total = total + (x >> U32(16 * k)).astype(wide).astype(S32) * byte
        r[destination] = total.view(U32)

    return two


@pure("VABSDIFF")
def _difference(form: Form) -> Action:
    """The size of a difference, and a sum."""
    form.only("U32", "S32")
    destination, c = form.destination(0), form.u32(3)
    a, b = (form.u32(1), form.u32(2)) if form.has("U32") else (form.s32(1), form.s32(2))

    def step(r: list) -> None:
        apart = np.abs(a(r).astype(S64) - b(r).astype(S64)).astype(U32)
        r[destination] = apart + c(r)

    return step


@pure("VABSDIFF4")
def _differences_of_bytes(form: Form) -> Action:
    """The sizes of the differences of four bytes: each in its place, or with .ACC their sum and what is added to it."""
    form.only("U8", "S8", "ACC")
    if not form.has("ACC") and not form.is_zero(3):
        raise NotImplementedError("VABSDIFF4 with a third source")
    destination, a, b, c = form.destination(0), form.u32(1), form.u32(2), form.u32(3)
    kind = np.int8 if form.has("S8") else np.uint8
    places = [U32(0 if form.has("ACC") else 8 * k) for k in range(4)]

    def step(r: list) -> None:
        x, y, total = a(r), b(r), c(r)
        for k, place in enumerate(places):
            bytes_ = [(v >> U32(8 * k)).astype(kind).astype(S32) for v in (x, y)]
            total = total + (np.abs(bytes_[0] - bytes_[1]).astype(U32) << place)
        r[destination] = total

    return step
