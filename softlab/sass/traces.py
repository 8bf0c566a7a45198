"""What steps of machine code compute, written down as LLVM's operations instead of being computed.

A step is a function of the list of registers. Given registers whose values are :class:`Traced`, it leaves there what
each result is made of. Only operations on integers and predicates are known, and the compiled forms of floats
(:mod:`softlab.sass.native_floats`): :class:`Untraced` says that a step has another one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from softlab.emulator.machine.operations import Operation
from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.sass.native_floats import LaneFunction

_WORD, _LONG = np.dtype(np.uint32), np.dtype(np.uint64)
_SIGNS = {
    np.less: "<", np.less_equal: "<=", np.greater: ">", np.greater_equal: ">=", np.equal: "==", np.not_equal: "!=",
}  # fmt: skip


class Untraced(Exception):
    """A step does what cannot be written down."""


class Traced(np.ndarray):
    """A value of a trace: an array of its dtype without elements. ``name``: in the trace, which is
    its ``record``."""

    record: Trace
    name: str

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **given: Any) -> Any:
        if method != "__call__" or set(given) - {"dtype"}:
            raise Untraced
        return self.record.operated(ufunc, inputs, given.get("dtype"))

    def __array_function__(self, function: Callable[..., Any], types: Any, inputs: Any, given: Any) -> Any:
        if function is not np.where or len(inputs) != 3 or given:
            raise Untraced
        return self.record.chosen(*inputs)

    def __getitem__(self, where: Any) -> Traced:
        if where != ():
            raise Untraced
        return self

    def __bool__(self) -> bool:
        raise Untraced

    def astype(self, dtype: Any, *other: Any, **given: Any) -> Traced:  # type: ignore[override]
        """The value as another integer."""
        return self.record.cast(self, np.dtype(dtype))

    def view(self, dtype: Any) -> Traced:  # type: ignore[override]
        """The bits as another dtype of the same size."""
        return self.record.seen_as(self, np.dtype(dtype))

    def halves(self) -> tuple[Traced, Traced]:
        """The lower and the upper word of 64 bits."""
        whole = self.record.seen_as(self, _LONG)
        return self.record.cast(whole, _WORD), self.record.cast(
            self.record.operated(np.right_shift, (whole, np.uint64(32)), None), _WORD
        )


class Trace:
    """``operations``: result -> what gives it, in the order in which they were asked for. ``constants``: name -> value.
    ``dtypes``: of each name."""

    def __init__(self) -> None:
        self.operations: dict[str, Operation] = {}
        self.constants: dict[str, np.generic] = {}
        self.dtypes: dict[str, np.dtype] = {}

    def source(self, name: str, dtype: np.dtype) -> Traced:
        """A value that comes from outside."""
        found = np.ndarray.__new__(Traced, (0,), dtype)
        found.record, found.name = self, name
        self.dtypes[name] = dtype
        return found

    def floats(self, function: LaneFunction, bits: Sequence[Any]) -> Traced:
        """A compiled form of floats, of bits."""
        dtype = np.dtype(np.bool_) if function.tests else function.dtype
        return self._made(function.apply, bits, dtype)

    def converted(self, native: NativeForm, value: Any, dtype: np.dtype) -> Traced:
        """A value that a compiled form makes of one value."""
        return self._made(native, (value,), dtype)

    def operated(self, ufunc: np.ufunc, inputs: Sequence[Any], dtype: Any) -> Traced:
        """What a function of NumPy gives."""
        function = LaneFunction.of_ufunc(ufunc)
        if function is not None:
            return self.floats(function, inputs)
        *taken, result = _loop(ufunc, tuple(map(_kind, inputs)), None if dtype is None else np.dtype(dtype))
        if any(one.kind not in "iub" for one in taken):
            raise Untraced
        sources = [self._as(value, one) for value, one in zip(inputs, taken, strict=True)]
        form = _form(ufunc, taken[0])
        return self._made(form, sources, result)

    def chosen(self, condition: Any, yes: Any, no: Any) -> Any:
        """``np.where``."""
        dtype = np.result_type(*(value.dtype if hasattr(value, "dtype") else value for value in (yes, no)))
        if dtype.kind not in "iub":
            raise Untraced
        mask = self._as(condition, np.dtype(np.bool_))
        return self._made(_select, (mask, self._as(yes, dtype), self._as(no, dtype)), dtype)

    def cast(self, value: Traced, dtype: np.dtype) -> Traced:
        """An integer or predicate as another one."""
        have = value.dtype
        if have == dtype:
            return value
        if have.kind not in "iub" or dtype.kind not in "iub":
            raise Untraced
        if dtype == np.bool_:
            return self._made(_is_not_zero, (value,), dtype)
        bits, signed = 8 * dtype.itemsize, have.kind == "i"
        return self._made(lambda e, one: e.resized(one, bits, signed), (value,), dtype)

    def seen_as(self, value: Traced, dtype: np.dtype) -> Traced:
        """The bits of a value as another dtype."""
        have = value.dtype
        if have == dtype:
            return value
        if have.itemsize != dtype.itemsize or np.bool_ in (have, dtype) or np.float16 in (have, dtype):
            raise Untraced
        if dtype.kind == "f":
            return self._made(lambda e, one: e.as_float(one), (value,), dtype)
        return self._made(lambda e, one: e.bits(one), (value,), dtype)

    def _as(self, value: Any, dtype: np.dtype) -> Any:
        """An operand as the dtype that an operation takes."""
        if isinstance(value, Traced):
            return self.cast(value, dtype)
        return np.asarray(value).astype(dtype)[()]

    def _made(self, form: Callable[..., Native], sources: Sequence[Any], dtype: np.dtype) -> Traced:
        name = f"n{len(self.dtypes)}"
        self.operations[name] = Operation((name,), "", tuple(map(self._name, sources)), form)
        return self.source(name, dtype)

    def _name(self, value: Any) -> str:
        if isinstance(value, Traced):
            return value.name
        if not isinstance(value, np.generic):
            raise Untraced
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def needed(self, results: Sequence[str]) -> list[Operation]:
        """The operations that give these results, in order."""
        wanted = set(results)
        found = []
        for name in reversed(self.operations):
            if name in wanted:
                found.append(self.operations[name])
                wanted.update(self.operations[name].sources)
        return found[::-1]


def _kind(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype
    return type(value)


@lru_cache(maxsize=4096)
def _loop(ufunc: np.ufunc, kinds: tuple[Any, ...], dtype: np.dtype | None) -> tuple[np.dtype, ...]:
    """The dtypes of operands and result with which NumPy computes."""
    if ufunc.nout != 1:
        raise Untraced
    if dtype is None:
        return ufunc.resolve_dtypes((*kinds, None))
    return ufunc.resolve_dtypes((*kinds, None), signature=(*[None] * ufunc.nin, dtype))


def _form(ufunc: np.ufunc, dtype: np.dtype) -> Callable[..., Native]:
    """The compiled form of a function of integers of this dtype."""
    signed = dtype.kind == "i"
    if ufunc in _SIGNS:
        sign = _SIGNS[ufunc]
        return lambda e, a, b: (e.icmp_signed if signed else e.icmp_unsigned)(sign, a, b)
    if ufunc in (np.minimum, np.maximum):
        order = "lt" if ufunc is np.minimum else "gt"
        return lambda e, a, b: e.select(e.compare(order, a, b, signed), a, b)
    if ufunc is np.right_shift:
        return _right_shift_signed if signed else _right_shift
    if ufunc is (np.bitwise_count if signed else np.absolute):  # NumPy counts the ones of the size
        raise Untraced
    if ufunc not in _FORMS or (ufunc in (_LOGICAL if dtype != np.bool_ else _NUMBERS)):
        raise Untraced
    return _FORMS[ufunc]


def _select(e: Emitter, mask: Native, yes: Native, no: Native) -> Native:
    return e.select(mask, yes, no)


def _is_not_zero(e: Emitter, value: Native) -> Native:
    return e.icmp_unsigned("!=", value, value.type(0))


def _size(e: Emitter, value: Native) -> Native:
    return e.select(e.icmp_signed("<", value, value.type(0)), e.neg(value), value)


def _in_range(e: Emitter, value: Native, amount: Native) -> tuple[Native, Native]:
    """Whether an amount is less than the bits of a value, and the amount, or 0 where it is not."""
    inside = e.icmp_unsigned("<", amount, amount.type(value.type.width))
    return inside, e.select(inside, amount, amount.type(0))


def _left_shift(e: Emitter, value: Native, amount: Native) -> Native:
    inside, by = _in_range(e, value, amount)
    return e.select(inside, e.shl(value, by), value.type(0))


def _right_shift(e: Emitter, value: Native, amount: Native) -> Native:
    inside, by = _in_range(e, value, amount)
    return e.select(inside, e.lshr(value, by), value.type(0))


def _right_shift_signed(e: Emitter, value: Native, amount: Native) -> Native:
    inside, by = _in_range(e, value, amount)
    return e.ashr(value, e.select(inside, by, amount.type(value.type.width - 1)))


def _ones(e: Emitter, value: Native) -> Native:
    return e.trunc(e.intrinsic("ctpop", value), e.integer(8))


#: Those that count, whose meaning is another one for predicates.
_NUMBERS = (np.add, np.subtract, np.multiply, np.negative, np.absolute, np.left_shift, np.bitwise_count)
_LOGICAL = (np.logical_and, np.logical_or, np.logical_xor)
_FORMS: dict[np.ufunc, Callable[..., Native]] = {
    np.add: lambda e, a, b: e.add(a, b),
    np.subtract: lambda e, a, b: e.sub(a, b),
    np.multiply: lambda e, a, b: e.mul(a, b),
    np.negative: lambda e, a: e.neg(a),
    np.absolute: _size,
    np.bitwise_and: lambda e, a, b: e.and_(a, b),
    np.bitwise_or: lambda e, a, b: e.or_(a, b),
    np.bitwise_xor: lambda e, a, b: e.xor(a, b),
    np.logical_and: lambda e, a, b: e.and_(a, b),
    np.logical_or: lambda e, a, b: e.or_(a, b),
    np.logical_xor: lambda e, a, b: e.xor(a, b),
    np.invert: lambda e, a: e.not_(a),
    np.left_shift: _left_shift,
    np.bitwise_count: _ones,
}
