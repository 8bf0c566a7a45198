"""Arithmetic of two numbers of 16 bits in a register: float16, or bfloat16 with .BF16_V2."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.floats import extreme, saturate
from softlab.emulator.opcodes.formats import NARROW, WIDEN, nudged, relu
from softlab.emulator.opcodes.halves import flush_f16
from softlab.sass.form import F32, F64, U32, Form
from softlab.sass.lanes import Value
from softlab.sass.opcodes.comparisons import combined
from softlab.sass.opcodes.floats import COMPARE, choose
from softlab.sass.registry import Action, pure

_U16 = np.uint16
_ALLOWED = ("MMA", "BF16_V2", "F32", "FTZ", "SAT", "RELU")
#: A function of (registers) that gives the lower and the upper half as float32.
Halves = Callable[[list], tuple[Value, Value]]


def _kind(form: Form) -> str:
    return "bf16" if form.has("BF16_V2", "BF16") else "f16"


def _halves(form: Form, number: int) -> tuple[Halves, int]:
    """(the two halves of an operand with its signs, the number of the next operand)."""
    kind = _kind(form)
    operand = form.operands[number]
    widen = WIDEN[kind]
    dtype = np.float16 if kind == "f16" else np.uint16
    flushes = form.has("FTZ") and kind == "f16"

    def value(bits: Value) -> Value:
        half = bits.astype(_U16).view(dtype)
        return widen(flush_f16(half) if flushes else half)

    def signed(found: Value) -> Value:
        found = np.abs(found) if operand.absolute else found
        return np.negative(found) if operand.negated else found

    if operand.kind in ("float", "integer") and number + 1 < len(form.operands):
        following = form.operands[number + 1]
        if following.kind in ("float", "integer"):  # two immediates, the upper half first: the encoding has both
            packed = operand.value if operand.kind == "float" else following.value
            low, high = value(U32(packed & 0xFFFF)), value(U32(packed >> 16))
            return (lambda r: (low, high)), number + 2
    read = form.bits(number)
    if "F32" in operand.suffixes:
        raise NotImplementedError("an operand of 32 bits")
    for suffix, shift in (("H0_H0", U32(0)), ("H1_H1", U32(16))):
        if suffix in operand.suffixes:

            def twice(r: list, shift: np.uint32 = shift) -> tuple[Value, Value]:
                found = signed(value(read(r) >> shift & U32(0xFFFF)))
                return found, found

            return twice, number + 1

    def both(r: list) -> tuple[Value, Value]:
        bits = read(r)
        return signed(value(bits & U32(0xFFFF))), signed(value(bits >> U32(16)))

    return both, number + 1


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
    function = _FUNCTIONS[form.instruction.opcode]
    destination = form.destination(0)
    sources: list[Halves] = []
    number = 1
    while number < len(form.operands):
        found, number = _halves(form, number)
        sources.append(found)
    if len(sources) != (3 if form.instruction.opcode == "HFMA2" else 2):
        raise NotImplementedError(f"{form.instruction.opcode} of this form")
    if form.has("F32"):  # one sum, in float32

        def wide(r: list) -> None:
            value = function(*(source(r)[0] for source in sources))
            r[destination] = np.asarray(value, F32).view(U32)[()]

        return wide
    if all(o.kind in ("float", "integer") or o.index == 255 for o in form.operands[1:]):
        constants = [source([]) for source in sources]
        with np.errstate(all="ignore"):
            fixed = _pack(form)(*(function(*halves) for halves in zip(*constants, strict=True)))

        def move(r: list) -> None:
            r[destination] = fixed

        return move
    pack = _pack(form)

    def step(r: list) -> None:
        halves = [source(r) for source in sources]
        r[destination] = pack(function(*(h[0] for h in halves)), function(*(h[1] for h in halves)))

    return step


@pure("HMNMX2", "VHMNMX")
def _extreme(form: Form) -> Action:
    """The smaller or larger of two, or of three."""
    form.only("BF16_V2", "NAN", "FTZ", "XORSIGN")
    if form.has("XORSIGN"):
        raise NotImplementedError(".XORSIGN")
    nan = form.has("NAN")
    destination, pack = form.destination(0), _pack(form)
    sources = [_halves(form, k)[0] for k in range(1, len(form.operands) - 1)]
    chosen = choose(form.predicate(len(form.operands) - 1), extreme("min", "f32", nan), extreme("max", "f32", nan))

    def step(r: list) -> None:
        low, high = sources[0](r)
        for source in sources[1:]:
            other = source(r)
            low, high = chosen(r, low, other[0]), chosen(r, high, other[1])
        r[destination] = pack(low, high)

    return step


@pure("HSETP2")
def _compare(form: Form) -> Action:
    """The comparison of the lower halves and of the upper ones; .H_AND: both must hold."""
    form.only(*COMPARE, "BF16_V2", "FTZ", "AND", "OR", "XOR", "H_AND")
    compare = COMPARE[form.one_of(*COMPARE)]
    low_place, high_place = form.destination(0), form.destination(1)
    join = combined(form, len(form.operands) - 1)
    a, number = _halves(form, 2)
    b, _ = _halves(form, number)
    both = form.has("H_AND")

    def step(r: list) -> None:
        (a_low, a_high), (b_low, b_high) = a(r), b(r)
        low, high = compare(a_low, b_low), compare(a_high, b_high)
        if both:
            low, high = low & high, ~(low & high)
        first, second = join(r, low), join(r, high)
        r[low_place], r[high_place] = first, second

    return step


@pure("HSET2")
def _compare_to_register(form: Form) -> Action:
    form.only(*COMPARE, "BF16_V2", "FTZ", "AND", "OR", "XOR", "BF")
    compare = COMPARE[form.one_of(*COMPARE)]
    destination, join = form.destination(0), combined(form, len(form.operands) - 1)
    a, number = _halves(form, 1)
    b, _ = _halves(form, number)
    one = {"f16": 0x3C00, "bf16": 0x3F80}[_kind(form)] if form.has("BF") else 0xFFFF

    def step(r: list) -> None:
        (a_low, a_high), (b_low, b_high) = a(r), b(r)
        low, high = join(r, compare(a_low, b_low)), join(r, compare(a_high, b_high))
        r[destination] = np.multiply(low, U32(one)) | np.multiply(high, U32(one << 16))

    return step
