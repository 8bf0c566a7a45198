"""Arithmetic of two numbers of 16 bits in a register: float16, or bfloat16 with .BF16_V2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from softlab.emulator.opcodes.floats import canonical, extreme, saturate
from softlab.emulator.opcodes.formats import NARROW, WIDEN, nudged, relu
from softlab.emulator.opcodes.halves import flush_f16
from softlab.sass.decode import TRUE, ZERO, Operand
from softlab.sass.form import F32, F64, U32, Form, Reader
from softlab.sass.lanes import Value
from softlab.sass.native_floats import of_words
from softlab.sass.opcodes.comparisons import combined
from softlab.sass.opcodes.floats import COMPARE, choose, stored
from softlab.sass.opcodes.native_halves import (
    Finish,
    Half,
    native_arithmetic,
    native_comparison,
    native_extremes,
    native_sum,
)
from softlab.sass.registry import Action, pure

_U16 = np.uint16
_ALLOWED = ("MMA", "BF16_V2", "F32", "FTZ", "SAT", "RELU")
#: Where a half begins in a register, by the operand's suffix.
_SHIFTS = {"H0_H0": 0, "H1_H1": 16}


def _kind(form: Form) -> str:
    return "bf16" if form.has("BF16_V2", "BF16") else "f16"


@dataclass(frozen=True)
class _Source:
    """An operand. ``low`` and ``high`` give its halves as float32 with their signs, ``halves`` says the same to the
    compiler. ``value``: the operand, of two immediates one with both of them."""

    value: Operand
    low: Reader
    high: Reader
    halves: tuple[Half, Half]


def _source(form: Form, number: int) -> tuple[_Source, int]:
    """(an operand, the number of the next one)."""
    operand = form.operands[number]
    if "F32" in operand.suffixes:
        raise NotImplementedError("an operand of 32 bits")
    shifts, following = (0, 16), number + 1
    if operand.kind in ("float", "integer") and following < len(form.operands):
        other = form.operands[following]
        if other.kind in ("float", "integer"):  # two immediates, the upper half first: the encoding has both
            operand = Operand("integer", value=operand.value if operand.kind == "float" else other.value)
            following += 1
    for suffix, shift in _SHIFTS.items():
        if suffix in operand.suffixes:
            shifts = shift, shift
    kind = _kind(form)
    flushes = form.has("FTZ") and kind == "f16"
    halves = [Half(shift, kind, flushes, operand.absolute, operand.negated) for shift in shifts]
    read = form.bits_of(operand)
    low, high = (_reader(read, half) for half in halves)
    return _Source(operand, low, low if halves[0] == halves[1] else high, (halves[0], halves[1])), following


def _reader(read: Reader, half: Half) -> Reader:
    """Half of a register as float32, with its signs."""
    widen = WIDEN[half.kind]
    dtype = np.float16 if half.kind == "f16" else np.uint16

    def value(r: list) -> Value:
        found = (read(r) >> U32(half.shift)).astype(_U16).view(dtype)
        found = widen(flush_f16(found) if half.flushes else found)
        found = np.abs(found) if half.absolute else found
        return np.negative(found) if half.negated else found

    return value


def _sources(form: Form, first: int, end: int) -> list[_Source]:
    """The operands from ``first`` to ``end``."""
    found: list[_Source] = []
    while first < end:
        source, first = _source(form, first)
        found.append(source)
    return found


def _halves(sources: Sequence[_Source]) -> tuple[tuple[Half, Half], ...]:
    return tuple(source.halves for source in sources)


def _finish(form: Form) -> Finish:
    kind = _kind(form)
    return Finish(kind, form.has("SAT"), form.has("FTZ") and kind == "f16", form.has("RELU"))


def _pack(form: Form) -> Callable[[Value, Value], Value]:
    """Two float32 to one register."""
    kind = _kind(form)
    narrow = NARROW[kind]
    if form.has("SAT"):
        unclamped = narrow
        narrow = lambda value: unclamped(saturate(value))  # noqa: E731
    if form.has("FTZ") and kind == "f16":
        unflushed = narrow
        narrow = lambda value: flush_f16(unflushed(value))  # noqa: E731
    if form.has("RELU"):
        narrow = relu(narrow)

    def pack(low: Value, high: Value) -> Value:
        lower, upper = (narrow(v).view(_U16).astype(U32) for v in (low, high))
        return lower | upper << U32(16)

    return pack


_FUNCTIONS: dict[str, Callable] = {
    # 24 bits are more than twice 11, or 8, and two: rounding twice is rounding once.
    "HADD2": np.add,
    "HMUL2": lambda a, b: nudged(np.multiply(a, b, dtype=F64)),
    "HFMA2": lambda a, b, c: nudged(np.multiply(a, b, dtype=F64), c),
}


@pure("HADD2", "HMUL2", "HFMA2")
def _arithmetic(form: Form) -> Action:
    form.only(*_ALLOWED)
    opcode = form.instruction.opcode
    function, destination = _FUNCTIONS[opcode], form.destination(0)
    sources = _sources(form, 1, len(form.operands))
    if len(sources) != (3 if opcode == "HFMA2" else 2):
        raise NotImplementedError(f"{opcode} of this form")
    values = [source.value for source in sources]
    if form.has("F32"):  # one sum, in float32

        def wide(r: list) -> Value:
            return canonical(np.asarray(function(*(source.low(r) for source in sources)), F32)).view(U32)[()]

        native = native_sum(tuple(source.halves[0] for source in sources)) if opcode == "HADD2" else None
        return stored(destination, of_words(form, values, wide, native))
    pack = _pack(form)
    if all(o.kind in ("float", "integer") or o.index == ZERO for o in values):
        with np.errstate(all="ignore"):
            halves = [(source.low([]), source.high([])) for source in sources]
            fixed = pack(*(function(*both) for both in zip(*halves, strict=True)))

        def move(r: list) -> None:
            r[destination] = fixed

        return move

    def by_numpy(r: list) -> Value:
        return pack(function(*(source.low(r) for source in sources)), function(*(source.high(r) for source in sources)))

    native = native_arithmetic(opcode, _halves(sources), _finish(form))
    return stored(destination, of_words(form, values, by_numpy, native))


@pure("HMNMX2", "VHMNMX")
def _extreme(form: Form) -> Action:
    """The smaller or larger of two, or of three."""
    form.only("BF16_V2", "NAN", "FTZ", "XORSIGN")
    if form.has("XORSIGN"):
        raise NotImplementedError(".XORSIGN")
    nan, last = form.has("NAN"), len(form.operands) - 1
    pack, which = _pack(form), form.operands[last]
    sources = _sources(form, 1, last)
    chosen = choose(form.predicate(last), extreme("min", "f32", nan), extreme("max", "f32", nan))

    def by_numpy(r: list) -> Value:
        low, high = sources[0].low(r), sources[0].high(r)
        for source in sources[1:]:
            low, high = chosen(r, low, source.low(r)), chosen(r, high, source.high(r))
        return pack(low, high)

    native = None
    if which.index == TRUE:
        native = native_extremes("max" if which.inverted else "min", nan, _halves(sources), _finish(form))
    return stored(form.destination(0), of_words(form, [source.value for source in sources], by_numpy, native))


def _compared(form: Form, first: int) -> tuple[Reader, Reader]:
    """Whether the comparison of the operands from ``first`` on holds for the lower and for the upper halves."""
    name = form.one_of(*COMPARE)
    compare = COMPARE[name]
    a, following = _source(form, first)
    b, _ = _source(form, following)
    values = [a.value, b.value]

    def of(number: int, x: Reader, y: Reader) -> Reader:
        native = native_comparison(name, (a.halves[number], b.halves[number]))
        return of_words(form, values, lambda r: compare(x(r), y(r)), native, tests=True)

    return of(0, a.low, b.low), of(1, a.high, b.high)


@pure("HSETP2")
def _compare(form: Form) -> Action:
    """The comparison of the lower halves and of the upper ones; .H_AND: both must hold."""
    form.only(*COMPARE, "BF16_V2", "FTZ", "AND", "OR", "XOR", "H_AND")
    low_place, high_place = form.destination(0), form.destination(1)
    join = combined(form, len(form.operands) - 1)
    of_low, of_high = _compared(form, 2)
    both = form.has("H_AND")

    def step(r: list) -> None:
        low, high = of_low(r), of_high(r)
        if both:
            low, high = low & high, ~(low & high)
        first, second = join(r, low), join(r, high)
        r[low_place], r[high_place] = first, second

    return step


@pure("HSET2")
def _compare_to_register(form: Form) -> Action:
    form.only(*COMPARE, "BF16_V2", "FTZ", "AND", "OR", "XOR", "BF")
    destination, join = form.destination(0), combined(form, len(form.operands) - 1)
    of_low, of_high = _compared(form, 1)
    one = {"f16": 0x3C00, "bf16": 0x3F80}[_kind(form)] if form.has("BF") else 0xFFFF

    def step(r: list) -> None:
        low, high = join(r, of_low(r)), join(r, of_high(r))
        r[destination] = np.multiply(low, U32(one)) | np.multiply(high, U32(one << 16))

    return step
