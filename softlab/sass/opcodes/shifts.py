"""Shifts, logic and bits, of lanes and of the uniform datapath."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.bits import bit_length, permute_bytes
from softlab.sass.form import S32, S64, SINK, U32, U64, Form, Reader, join
from softlab.sass.lanes import Value
from softlab.sass.registry import Action, pure
from softlab.sass.traces import Traced

_HALF = U64(32)
_NONE = U32(0xFFFFFFFF)


def _shift_right(destination: int, value: Reader, amount: Reader, signed: bool) -> Action:
    if signed:

        def arithmetic(r: list) -> None:
            r[destination] = (value(r).view(S32) >> np.minimum(amount(r), U32(31)).view(S32)).view(U32)

        return arithmetic

    def logical(r: list) -> None:
        r[destination] = value(r) >> amount(r)

    return logical


@pure("SHF", "USHF")
def _funnel_shift(form: Form) -> Action:
    """The pair (c:a) shifted by b, right (.R) or left (.L); its upper half with .HI, else its lower one.

    The type says how far it can be shifted (32 or 64, or modulo that with .W) and whether zeros or signs come in.
    """
    form.only("L", "R", "U32", "S32", "U64", "S64", "HI", "W")
    kind = form.one_of("U32", "S32", "U64", "S64")
    right, high, signed = form.has("R"), form.has("HI"), kind[0] == "S"
    most = 64 if kind.endswith("64") else 32
    destination, amount = form.destination(0), _amount(form, 2, most)
    low, upper = form.u32(1), form.u32(3)
    if kind.endswith("32") and form.is_zero(1) and right and high:
        return _shift_right(destination, upper, amount, signed)
    if kind.endswith("32") and not right and not high:

        def left(r: list) -> None:
            r[destination] = low(r) << amount(r)

        return left

    def step(r: list) -> None:
        both = join(low(r), upper(r))
        by = amount(r).astype(U64)
        if not right:
            both = both << by
        elif signed:
            both = (both.view(S64) >> np.minimum(by, U64(63)).view(S64)).view(U64)
        else:
            both = both >> by
        r[destination] = (both >> _HALF if high else both).astype(U32)

    return step


def _amount(form: Form, number: int, most: int) -> Reader:
    """The distance of a shift: at most ``most``, or modulo that."""
    constant = form.constant(number)
    wraps = form.has("W")
    if constant is not None:
        value = U32(constant % most if wraps else min(constant & 0xFFFFFFFF, most))
        return lambda r: value
    read = form.u32(number)
    if wraps:
        mask = U32(most - 1)
        return lambda r: read(r) & mask
    limit = U32(most)
    return lambda r: np.minimum(read(r), limit)


# Functions of two bits by their table: bit 2 b + c.
_TWO: tuple[Callable | None, ...] = (
    None,
    lambda b, c: ~(b | c),
    lambda b, c: ~b & c,
    lambda b, c: ~b,
    lambda b, c: b & ~c,
    lambda b, c: ~c,
    lambda b, c: b ^ c,
    lambda b, c: ~(b & c),
    lambda b, c: b & c,
    lambda b, c: ~(b ^ c),
    lambda b, c: c,
    lambda b, c: ~b | c,
    lambda b, c: b,
    lambda b, c: b | ~c,
    lambda b, c: b | c,
    None,
)


def logic(table: int, none: Value, all_: Value) -> Callable[[Value, Value, Value], Value]:
    """The function of three values that a table of 8 bits names; bit 4 a + 2 b + c of it is the result.

    ``none`` and ``all_``: a value without a bit, and one with all.
    """

    def two(part: int) -> Callable[[Value, Value], Value]:
        found = _TWO[part]
        if found is not None:
            return found
        constant = all_ if part else none
        return lambda b, c: constant

    with_a, without = table >> 4 & 15, table & 15
    yes, no = two(with_a), two(without)
    if with_a == without:
        return lambda a, b, c: yes(b, c)
    if without == 0:
        return (lambda a, b, c: a) if with_a == 15 else (lambda a, b, c: a & yes(b, c))
    if with_a == 0:
        return (lambda a, b, c: ~a) if without == 15 else (lambda a, b, c: ~a & no(b, c))
    if with_a == 15:
        return lambda a, b, c: a | no(b, c)
    if without == 15:
        return lambda a, b, c: ~a | yes(b, c)
    if with_a == ~without & 15:
        return lambda a, b, c: a ^ no(b, c)
    return lambda a, b, c: (a & yes(b, c)) | (~a & no(b, c))


@pure("LOP3", "ULOP3")
def _logic_of_three(form: Form) -> Action:
    form.only("LUT", "PAND")
    tests = form.operands[0].kind in ("P", "UP")
    out = form.destination(0) if tests else SINK
    first = 1 if tests else 0
    destination = form.destination(first)
    table = form.constant(first + 4)
    if table is None:
        raise NotImplementedError("a table in a register")
    a, b, c = (form.u32(first + k) for k in (1, 2, 3))
    for k, weight in ((1, 4), (2, 2), (3, 1)):  # an operand that is zero: its half of the table alone
        if form.is_zero(first + k):
            table = _without(table, weight)
    function = logic(table, U32(0), _NONE)
    if out == SINK:

        def step(r: list) -> None:
            r[destination] = function(a(r), b(r), c(r))

        return step
    other = form.predicate(first + 5)
    both = np.logical_and if form.has("PAND") else np.logical_or

    def test(r: list) -> None:
        value = function(a(r), b(r), c(r))
        more = other(r)
        r[destination] = value
        r[out] = both(value != 0, more)

    return test


def _without(table: int, weight: int) -> int:
    """The table for an operand that is zero: what it says there, said everywhere."""
    return sum((table >> (bits & ~weight) & 1) << bits for bits in range(8))


@pure("PLOP3", "UPLOP3")
def _predicate_logic(form: Form) -> Action:
    form.only("LUT")
    yes, no = form.destination(0), form.destination(1)
    a, b, c = (_truth(form, k) for k in (2, 3, 4))
    tables = [form.constant(5), form.constant(6)]
    if None in tables:
        raise NotImplementedError("a table in a register")
    first, second = (logic(table or 0, np.False_, np.True_) for table in tables)

    def step(r: list) -> None:
        x, y, z = a(r), b(r), c(r)
        r[yes], r[no] = first(x, y, z), second(x, y, z)

    return step


def _truth(form: Form, number: int) -> Reader:
    """A predicate, or whether a register is negative."""
    if "SIGN" not in form.operands[number].suffixes:
        return form.predicate(number)
    read = form.bits(number)
    return lambda r: read(r) >= U32(1 << 31)


@pure("PRMT", "UPRMT")
def _permute(form: Form) -> Action:
    form.only()
    destination, a, b = form.destination(0), form.u32(1), form.u32(3)
    selector = form.constant(2)
    if selector is not None:
        permute = permute_bytes(tuple(selector >> 4 * k & 15 for k in range(4)))

        def step(r: list) -> None:
            r[destination] = permute(a(r), b(r))

        return step
    chosen = form.u32(2)

    def by_register(r: list) -> None:
        both, c = join(a(r), b(r)), chosen(r)
        result = U32(0)
        for k in range(4):
            nibble = c >> U32(4 * k)
            byte = (both >> ((nibble & U32(7)) << U32(3)).astype(U64)).astype(U32) & U32(0xFF)
            sign = np.where(nibble & U32(8), (byte >> U32(7)) * U32(0xFF), byte)[()].astype(U32)
            result = result | (sign << U32(8 * k))
        r[destination] = result

    return by_register


@pure("BREV", "UBREV")
def _reverse(form: Form) -> Action:
    form.only()
    destination, a = form.destination(0), form.u32(1)

    def step(r: list) -> None:
        value = a(r)
        for mask, shift in ((0x55555555, 1), (0x33333333, 2), (0x0F0F0F0F, 4), (0x00FF00FF, 8)):
            value = (value >> U32(shift) & U32(mask)) | (value & U32(mask)) << U32(shift)
        r[destination] = value >> U32(16) | value << U32(16)

    return step


@pure("FLO", "UFLO")
def _find_leading_one(form: Form) -> Action:
    """The highest bit that is 1 (of a signed number: that is not its sign); with .SH its distance from the top."""
    form.only("U32", "S32", "SH")
    destination, a = form.destination(0), form.u32(1)
    signed, distance = not form.has("U32"), form.has("SH")

    def step(r: list) -> None:
        value = a(r)
        if signed:
            value = value ^ (value.view(S32) >> S32(31)).view(U32)
        position = (_traced_length(value) if isinstance(value, Traced) else bit_length(value)) - U32(1)
        r[destination] = np.where(value == 0, _NONE, U32(31) - position)[()] if distance else position

    return step


def _traced_length(value: Value) -> Value:
    """As :func:`bit_length`, without floats."""
    for shift in (1, 2, 4, 8, 16):
        value = value | value >> U32(shift)
    return np.bitwise_count(value).astype(U32)


@pure("POPC", "UPOPC")
def _count(form: Form) -> Action:
    form.only()
    destination, a = form.destination(0), form.u32(1)

    def step(r: list) -> None:
        r[destination] = np.bitwise_count(a(r)).astype(U32)

    return step


@pure("SGXT", "USGXT")
def _extend(form: Form) -> Action:
    """The lowest b bits, with their sign or (.U32) with zeros."""
    form.only("U32", "W")
    destination, a, b = form.destination(0), form.u32(1), form.u32(2)
    unsigned, wraps = form.has("U32"), form.has("W")

    def step(r: list) -> None:
        bits = b(r) & U32(31) if wraps else np.minimum(b(r), U32(32))
        up = U32(32) - bits
        value = a(r) << up
        down = np.minimum(up, U32(31))
        result = value >> up if unsigned else (value.view(S32) >> down.view(S32)).view(U32)
        r[destination] = np.where(bits == 0, U32(0), result)[()].astype(U32)

    return step


@pure("BMSK", "UBMSK")
def _mask(form: Form) -> Action:
    """b bits from bit a on."""
    form.only("C", "W")
    destination, a, b = form.destination(0), form.u32(1), form.u32(2)
    clamps = not form.has("W")

    def step(r: list) -> None:
        first, bits = a(r), b(r)
        if not clamps:
            first, bits = first & U32(31), bits & U32(31)
        r[destination] = ((U64(1) << np.minimum(bits, U32(32)).astype(U64)) - U64(1)).astype(U32) << np.minimum(
            first, U32(32)
        )

    return step
