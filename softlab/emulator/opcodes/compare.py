"""Comparison and selection.

Source: PTX ISA, "Comparison and Selection Instructions" and "Half Precision Comparison Instructions".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.floats import FLOATS, flush
from softlab.emulator.opcodes.formats import WIDEN
from softlab.emulator.opcodes.forms import BITS, INTEGERS, Form, bits_type, dtype_of, pure, select
from softlab.emulator.opcodes.halves import flush_f16
from softlab.emulator.opcodes.native_formats import NATIVE_WIDEN, native_flush_f16
from softlab.emulator.opcodes.registry import Semantics

_COMPARED = (*BITS, *INTEGERS, *FLOATS, "f16", "bf16")
_PAIRS = ("f16x2", "bf16x2")
_ORDERS: dict[str, Callable] = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
_EQUALITIES: dict[str, Callable] = {"eq": np.equal, "ne": np.not_equal}
_INTEGER: dict[str, Callable] = {
    **_EQUALITIES,
    **_ORDERS,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}
#: Comparison -> function of two floats that gives a bool. The names that end in u are true for NaN.
_FLOAT: dict[str, Callable] = {
    **_ORDERS,
    "eq": np.equal,
    "ne": lambda a, b: (a < b) | (a > b),
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": np.not_equal,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: (a == a) & (b == b),
    "nan": lambda a, b: (a != a) | (b != b),
}
#: The same in LLVM's terms: its operator, and whether it is true for NaN.
_NATIVE_FLOAT: dict[str, tuple[str, bool]] = {
    **{name: (sign, False) for name, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))},
    **{f"{name}u": (sign, True) for name, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))},
    "eq": ("==", False),
    "ne": ("!=", False),
    "equ": ("==", True),
    "neu": ("!=", True),
    "num": ("ord", False),
    "nan": ("uno", True),
}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_JOIN: dict[str, Callable] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
_FLUSH: dict[str, Callable] = {"f32": flush, "f16": flush_f16}
_NATIVE_FLUSH: dict[str, NativeForm] = {"f32": lambda e, a: e.flush(a), "f16": native_flush_f16}


_NATIVE_JOIN: dict[str, NativeForm] = {
    "and": lambda e, a, b: e.and_(a, b),
    "or": lambda e, a, b: e.or_(a, b),
    "xor": lambda e, a, b: e.xor(a, b),
}


def _native_comparison(form: Form) -> NativeForm | None:
    """The compiled form of a comparison, joined with a predicate where asked; it gives one predicate.

    It reads the modifiers and takes none.
    """
    name, modifiers = form.type, form.instruction.modifiers
    join = next((m for m in modifiers if m in _JOIN), "")
    if name in (*FLOATS, *NATIVE_WIDEN):
        found = _native_float_comparison(form, name)
        if found is None:
            return None
        compare = found

    elif name in (*BITS, *INTEGERS):
        order = next(m for m in modifiers if m in _INTEGER)

        def compare(e: Emitter, a: Native, b: Native) -> Native:
            return e.compare(_UNSIGNED.get(order, order), a, b, name[0] == "s")

    else:
        return None
    if not join:
        return compare
    return lambda e, a, b, c: _NATIVE_JOIN[join](e, compare(e, a, b), c)


def _native_float_comparison(form: Form, element: str) -> NativeForm | None:
    """The compiled form of a comparison of floats, without what joins it with a predicate."""
    modifiers = form.instruction.modifiers
    sign, unordered = _NATIVE_FLOAT[next(m for m in modifiers if m in _NATIVE_FLOAT)]
    flush_native = _NATIVE_FLUSH.get(element) if "ftz" in modifiers else None
    widen = NATIVE_WIDEN.get(element)
    if "ftz" in modifiers and element == "f64":
        return None

    def read(e: Emitter, value: Native) -> Native:
        value = value if flush_native is None else flush_native(e, value)
        return value if widen is None else widen(e, value)

    def compare(e: Emitter, a: Native, b: Native) -> Native:
        return (e.fcmp_unordered if unordered else e.fcmp_ordered)(sign, read(e, a), read(e, b))

    return compare


def _native_halves(form: Form, finish: Callable[[Emitter, Native, Native], Native]) -> NativeForm:
    """The compiled form of a comparison of packed pairs: what becomes of the results for the lower and upper halves."""
    compare = _native_float_comparison(form, form.type.removesuffix("x2"))
    join = next((m for m in form.instruction.modifiers if m in _JOIN), "")
    assert compare is not None

    def apply(e: Emitter, *sources: Native) -> Native:
        half, up = e.integer(16), e.integer(32)(16)
        low = compare(e, *(e.trunc(source, half) for source in sources[:2]))
        high = compare(e, *(e.trunc(e.lshr(source, up), half) for source in sources[:2]))
        if join:
            low, high = (_NATIVE_JOIN[join](e, one, sources[2]) for one in (low, high))
        return finish(e, low, high)

    return apply


def _native_pair(form: Form, compare: NativeForm | None) -> NativeForm | None:
    """The compiled form of ``p|q``; with a join, only Python has it."""
    if compare is None or any(m in _JOIN for m in form.instruction.modifiers):
        return None

    def both(e: Emitter, a: Native, b: Native) -> tuple[Native, Native]:
        p = compare(e, a, b)
        return p, e.not_(p)

    return both


def _compare_floats(form: Form, element: str) -> Callable:
    compare = _FLOAT[form.one_of(*_FLOAT)]
    flushed = _FLUSH.get(element) if form.flag("ftz") else None
    widen = WIDEN.get(element)
    if flushed and widen:
        return lambda a, b: compare(widen(flushed(a)), widen(flushed(b)))
    read = flushed or widen
    return compare if read is None else lambda a, b: compare(read(a), read(b))


def _comparison(form: Form) -> tuple[Callable, str]:
    """The comparison that an instruction asks for, and the type it reads its sources in."""
    name = form.type
    if name in ("f16", "bf16", *FLOATS):
        return _compare_floats(form, name), name
    if name in BITS:
        return _EQUALITIES[form.one_of(*_EQUALITIES)], name
    compare = _INTEGER[form.one_of(*_INTEGER)]
    return compare, bits_type(name) if compare in _EQUALITIES.values() else name


def _compare_halves(form: Form) -> Callable:
    """A comparison of packed pairs: the results for the lower halves and for the upper."""
    element = form.type.removesuffix("x2")
    compare = _compare_floats(form, element)
    half = np.dtype(dtype_of(element))
    up = np.uint32(16)

    def split(a):
        return a.astype(np.uint16).view(half), (a >> up).astype(np.uint16).view(half)

    def both(a, b):
        (a_low, a_high), (b_low, b_high) = split(a), split(b)
        return compare(a_low, b_low), compare(a_high, b_high)

    return both


def _joined(form: Form, compare: Callable, name: str) -> tuple[Callable, tuple[str, ...]]:
    """``compare`` and its sources; its results joined with a predicate where .and, .or or .xor asks for it."""
    join = form.one_of(*_JOIN, default="")
    if not join:
        return compare, (name, name)
    combine = _JOIN[join]

    def with_predicate(a, b, c):
        result = compare(a, b)
        return tuple(combine(p, c) for p in result) if isinstance(result, tuple) else combine(result, c)

    return with_predicate, (name, name, "pred")


@pure("setp", types=_COMPARED)
def _setp(form: Form) -> Semantics:
    """One predicate, or ``p|q`` where q is of the opposite comparison; each joined with c if asked."""
    form.one_type()
    compare, name = _comparison(form)
    native = _native_comparison(form)
    if not form.paired:
        function, sources = _joined(form, compare, name)
        return Semantics(function, sources, ("pred",), native=native)

    def both(a, b):
        p = compare(a, b)
        return p, ~p

    function, sources = _joined(form, both, name)
    return Semantics(function, sources, ("pred", "pred"), native=_native_pair(form, native))


@pure("setp", types=_PAIRS)
def _setp_pairs(form: Form) -> Semantics:
    """``p|q``: p of the lower halves, q of the upper."""
    form.one_type()
    native = _native_halves(form, (lambda e, p, q: (p, q)) if form.paired else (lambda e, p, q: p))
    function, sources = _joined(form, _compare_halves(form), "b32")
    if form.paired:
        return Semantics(function, sources, ("pred", "pred"), native=native)
    return Semantics(lambda *values: function(*values)[0], sources, ("pred",), native=native)


_TRUE: dict[str, tuple[str, np.generic]] = {
    "u32": ("b32", np.uint32(0xFFFFFFFF)),
    "s32": ("b32", np.uint32(0xFFFFFFFF)),
    "u16": ("b16", np.uint16(0xFFFF)),
    "s16": ("b16", np.uint16(0xFFFF)),
    "f32": ("f32", np.float32(1)),
    "f16": ("f16", np.float16(1)),
    "bf16": ("bf16", np.uint16(0x3F80)),
}
#: What a true half of a packed result is, as 16 bits.
_TRUE_HALF = {"f16x2": 0x3C00, "bf16x2": 0x3F80, "u32": 0xFFFF, "s32": 0xFFFF}


@pure("set", types=_COMPARED)
def _set(form: Form) -> Semantics:
    if len(form.types) != 2 or form.types[0] not in _TRUE:
        raise NotImplementedError("set needs a result and a source type")
    result, true = _TRUE[form.types[0]]
    compared = _native_comparison(form)
    native = None if compared is None else _native_set(compared, true)
    function, sources = _joined(form, *_comparison(form))
    dtype = dtype_of(result)
    return Semantics(
        lambda *values: np.multiply(function(*values), true, dtype=dtype), sources, (result,), native=native
    )


def _native_set(compare: NativeForm, true: np.generic) -> NativeForm:
    """The compiled form of a comparison whose result is a number."""
    number = int(true.view(f"u{true.itemsize}"))

    def apply(e: Emitter, *sources: Native) -> Native:
        kind = e.integer(8 * true.itemsize)
        bits = e.select(compare(e, *sources), kind(number), kind(0))
        return e.as_float(bits) if isinstance(true, np.float32) else bits

    return apply


@pure("set", types=_PAIRS)
def _set_pairs(form: Form) -> Semantics:
    if len(form.types) != 2 or form.types[0] not in _TRUE_HALF:
        raise NotImplementedError("set of pairs gives a pair or 32 bits")
    low_true = np.uint32(_TRUE_HALF[form.types[0]])
    high_true = np.uint32(int(low_true) << 16)
    native = _native_halves(form, lambda e, low, high: e.or_(_number(e, low, low_true), _number(e, high, high_true)))
    function, sources = _joined(form, _compare_halves(form), "b32")

    def both(*values):
        low, high = function(*values)
        return np.multiply(low, low_true, dtype=np.uint32) | np.multiply(high, high_true, dtype=np.uint32)

    return Semantics(both, sources, ("b32",), native=native)


def _number(e: Emitter, holds: Native, true: np.uint32) -> Native:
    """32 bits where it holds, else 0."""
    word = e.integer(32)
    return e.select(holds, word(int(true)), word(0))


@pure("selp", types=(*BITS, *INTEGERS, *FLOATS))
def _selp(form: Form) -> Semantics:
    name = form.one_type()
    name = name if name in FLOATS else bits_type(name)
    return Semantics(
        lambda a, b, p: select(p, a, b),
        (name, name, "pred"),
        (name,),
        native=lambda e, a, b, p: e.select(p, a, b),
    )


@pure("slct", types=("s32", "f32"))
def _slct(form: Form) -> Semantics:
    if len(form.types) != 2:
        raise NotImplementedError("slct needs two types")
    name, test = form.types
    name = name if name in FLOATS else bits_type(name)
    zero = dtype_of(test)(0)
    if form.flag("ftz") and test == "f32":
        return Semantics(lambda a, b, c: select(flush(c) >= zero, a, b), (name, name, test), (name,))
    return Semantics(lambda a, b, c: select(c >= zero, a, b), (name, name, test), (name,))
