"""Atomics as compiled loops: the lanes that meet take their turns one after the other.

NumPy has to sort the lanes by their cells first (:mod:`softlab.emulator.memory.turns`); a compiled loop needs not. It
takes the lanes' addresses as they are, with their steps, so that what blocks or threads share is not copied for each
lane. It checks all addresses first. Where one is not allowed it does nothing, and NumPy says what is wrong.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any

import numpy as np

from softlab.emulator.lanes import Value
from softlab.emulator.machine.native import compiled_function, started
from softlab.emulator.machine.native_python import DATA_OFFSET, arrays_are_as_known
from softlab.emulator.machine.native_region_parts import Turns
from softlab.emulator.memory.elements import ONE_OWNER, Reach

_BITS = {"and": "and_", "or": "or_", "xor": "xor", "add": "add"}
_OPERATIONS = (*_BITS, "min", "max", "exch", "cas", "inc", "dec")
#: Calls after which an operation is compiled: what NumPy took for them, about 50 microseconds each, is what LLVM takes.
_CALLS, _START_CALLS = 300, 2000
#: Where an array's object has the number of its dimensions, their extents and its steps in bytes, from the place of
#: its items on (NumPy C API, "PyArrayObject").
_DIMENSIONS, _EXTENTS, _STEPS = 8, 16, 24
#: Bits of a float32.
_EXPONENT, _SIGN = 0x7F800000, 0x80000000
#: What a compiled loop does: only check, only the turns of what has been checked, or both.
_CHECK, _TURN, _BOTH = range(3)
#: What it gives where it has done nothing.
_UNDONE = -1


class CompiledTurns:
    """The turns of one operation ("add.u32") at addresses of so many bytes. It is compiled at the first call.

    A sum of floats with a NaN among the operands is left to NumPy: which NaN of two comes out is the processor's
    choice.
    """

    def __init__(self, operation: str, dtype: np.dtype, address_bytes: int) -> None:
        self._operation, self._dtype, self._address_bytes = operation, dtype, address_bytes
        self._asked = 0

    def ready(self, compiled: str) -> bool:
        """Whether to use it in a run that compiles "none", "hot" or "all" blocks; asked once for each atomic."""
        if compiled == "none" or not _arrays_are_as_known():
            return False
        self._asked += 1
        return compiled == "all" or self._asked >= _CALLS + (0 if started() else _START_CALLS)

    @cached_property
    def _call(self) -> Callable[..., int]:
        size = ctypes.c_int64
        address = compiled_function(_Text(self._operation, self._dtype, self._address_bytes).module())
        return ctypes.PYFUNCTYPE(size, *[size] * 10)(address)

    def at(self, reach: Reach, extent: tuple[int, ...], values: tuple[Value, ...]) -> tuple[np.ndarray, bool] | None:
        """Each lane's old value, and whether any lane's cell holds another one at the end.

        None, and nothing done, where an address is not allowed or NumPy has to add. ``extent`` is that of the lanes;
        an operand may have 1 where all lanes along a dimension share it.
        """
        memory, owner, address, offset, first, last, tell = reach
        at = address if isinstance(address, np.ndarray) else np.asarray(address)
        given = [value if isinstance(value, np.ndarray) else np.asarray(value) for value in values]
        old = np.empty(extent, self._dtype)
        places = id(memory), id(owner), id(at), id(given[0]), id(given[-1]), id(old), offset, first, last
        does = _BOTH
        if tell is not None:
            if self._call(*places, _CHECK) == _UNDONE:
                return None
            tell()
            does = _TURN
        changed = self._call(*places, does)
        return None if changed == _UNDONE else (old, changed != 0)

    def take(self, memory: np.ndarray, index: np.ndarray, values: list[np.ndarray]) -> tuple[np.ndarray, bool] | None:
        """The same of items of an array without gaps, ``index`` (lanes,) the item of each lane."""
        width = memory.itemsize
        place = (index * width).astype(f"u{self._address_bytes}")
        reach = Reach(memory, ONE_OWNER, place, 0, 0, memory.nbytes - width, None)
        return self.at(reach, index.shape, tuple(values))


def compiled_turns(compiled: str, operation: str, dtype: np.dtype, address_bytes: int) -> CompiledTurns | None:
    """The compiled form in a run that compiles "none", "hot" or "all" blocks; None where NumPy does it."""
    found = _turns(operation, dtype, address_bytes)
    return found if found is not None and found.ready(compiled) else None


@cache
def _turns(operation: str, dtype: np.dtype, address_bytes: int) -> CompiledTurns | None:
    name, _, kind = operation.partition(".")
    known = name in _OPERATIONS if dtype.kind in "iu" else name == "add" and dtype.itemsize >= 4
    return CompiledTurns(operation, dtype, address_bytes) if known and kind not in _PACKED else None


#: Types whose parts are added one by one, or rounded by other means.
_PACKED = ("f16", "bf16", "f16x2", "bf16x2")


@cache
def _arrays_are_as_known() -> bool:
    """Whether an array's object is laid out as compiled code reads it."""
    array = np.zeros((5, 7), np.int32)[1::2, 2:]
    at = id(array) + DATA_OFFSET
    extents, steps = (
        (ctypes.c_int64 * 2).from_address(ctypes.c_int64.from_address(at + place).value) for place in (_EXTENTS, _STEPS)
    )
    dimensions = ctypes.c_int32.from_address(at + _DIMENSIONS).value
    return arrays_are_as_known() and (dimensions, tuple(extents), tuple(steps)) == (2, array.shape, array.strides)


class _Text:
    """Writes the function of an operation in LLVM's assembly.

    ``loop(memory, owner, address, first, last, old, offset, lowest, highest, does)``: arrays come as their objects. It
    gives whether a cell holds another value at the end, or -1 where it has done nothing.
    """

    def __init__(self, operation: str, dtype: np.dtype, address_bytes: int) -> None:
        from llvmlite import ir

        self._name, *modifiers, _ = operation.split(".")
        self._ir, self._signed, self._flushes = ir, dtype.kind == "i", "ftz" in modifiers
        self.size, self.byte, self._width = ir.IntType(64), ir.IntType(8), dtype.itemsize
        self._is_float = dtype.kind == "f"
        floats = {4: ir.FloatType(), 8: ir.DoubleType()}
        self._item = floats[dtype.itemsize] if self._is_float else ir.IntType(8 * dtype.itemsize)
        self._address = ir.IntType(8 * address_bytes)
        self._module = ir.Module("turns")
        self.extent, self.step = self._of_dimension("extent", _EXTENTS), self._of_dimension("step", _STEPS)
        function = ir.Function(self._module, ir.FunctionType(self.size, [self.size] * 10), "loop")
        self._function = function
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))

    def module(self) -> str:
        """The module's text."""
        b, size = self.builder, self.size
        memory, owner, address, first, last, old, self._offset, lowest, highest, does = self._function.args
        places, owners = _Items(self, address, self._address), _Items(self, owner, size)
        firsts, lasts, olds = (_Items(self, array, self._item) for array in (first, last, old))
        bytes_ = self.pointer_to(memory, self.byte)
        memory_step = self.builder.call(self.step, [memory, size(1)])
        room = b.sub(highest, lowest)
        with b.if_then(b.icmp_unsigned("!=", does, size(_TURN))):
            with places.each() as at:
                place = self._place(places.load(at))
                beyond = b.icmp_unsigned(">", b.sub(place, lowest), room)
                uneven = b.icmp_unsigned("!=", b.and_(place, size(self._width - 1)), size(0))
                self._leave_if(b.or_(beyond, uneven), _UNDONE)
            if self._is_float:
                with lasts.each() as at:
                    value = lasts.load(at)
                    self._leave_if(b.fcmp_unordered("uno", value, value), _UNDONE)
            self._leave_if(b.icmp_unsigned("==", does, size(_CHECK)), 0)

        def cell(at: tuple[Any, Any]) -> Any:
            inside = b.add(b.mul(owners.load(at), memory_step), self._place(places.load(at)))
            return b.bitcast(b.gep(bytes_, [inside]), self._item.as_pointer())

        with olds.each() as at:
            where = cell(at)
            before, value = b.load(where, align=1), lasts.load(at)
            b.store(before, olds.at(at))
            compare = firsts.load(at) if self._name == "cas" else value
            b.store(self._stored(before, value, compare), where, align=1)
        with olds.each() as at:
            now, before = b.load(cell(at), align=1), olds.load(at)
            differ = b.fcmp_unordered if self._is_float else b.icmp_unsigned
            self._leave_if(differ("!=", now, before), 1)
        b.ret(size(0))
        return str(self._module)

    def _leave_if(self, condition: Any, result: int) -> None:
        with self.builder.if_then(condition, likely=False):
            self.builder.ret(self.size(result))

    def _place(self, address: Any) -> Any:
        """The byte in its owner's memory; the sum wraps around as addresses of that size do."""
        b = self.builder
        whole = b.add(address, b.trunc(self._offset, self._address) if self._address != self.size else self._offset)
        return b.zext(whole, self.size) if self._address != self.size else whole

    def pointer_to(self, array: Any, kind: Any) -> Any:
        pointer = self.builder.inttoptr(self.builder.add(array, self.size(DATA_OFFSET)), kind.as_pointer().as_pointer())
        return self.builder.load(pointer)

    def _of_dimension(self, name: str, where: int) -> Any:
        """``extent(array, number)`` and ``step(array, number)`` of a dimension, number 0 the last.

        Of one that is missing or 1, the extent is 1 and the step 0.
        """
        ir, size = self._ir, self.size
        function = ir.Function(self._module, ir.FunctionType(size, [size, size]), name)
        function.linkage = "internal"
        array, number = function.args
        b = ir.IRBuilder(function.append_basic_block("entry"))

        def word(place: Any, kind: Any) -> Any:
            return b.load(b.inttoptr(place, kind.as_pointer()))

        head = b.add(array, size(DATA_OFFSET))
        dimensions = b.sext(word(b.add(head, size(_DIMENSIONS)), ir.IntType(32)), size)
        at = b.shl(b.sub(b.sub(dimensions, size(1)), number), size(3))
        missing = size(1 if where == _EXTENTS else 0)
        with b.if_then(b.icmp_signed("<", at, size(0))):
            b.ret(missing)
        extent = word(b.add(word(b.add(head, size(_EXTENTS)), size), at), size)
        with b.if_then(b.icmp_unsigned("==", extent, size(1))):
            b.ret(missing)
        b.ret(word(b.add(word(b.add(head, size(where)), size), at), size))
        return function

    def _stored(self, before: Any, value: Any, compare: Any) -> Any:
        """What the cell holds after a turn; ``compare`` is the first operand of ``cas``."""
        b, name = self.builder, self._name
        if self._flushes:
            return self._flushed(b.fadd(self._flushed(before), self._flushed(value)))
        if self._is_float:
            return b.fadd(before, value)
        if name in _BITS:
            return getattr(b, _BITS[name])(before, value)
        if name == "exch":
            return value
        if name == "cas":
            return b.select(b.icmp_unsigned("==", before, compare), value, before)
        zero, one = self._item(0), self._item(1)
        if name == "inc":
            return b.select(b.icmp_unsigned(">=", before, value), zero, b.add(before, one))
        if name == "dec":
            beyond = b.or_(b.icmp_unsigned("==", before, zero), b.icmp_unsigned(">", before, value))
            return b.select(beyond, value, b.sub(before, one))
        less = (b.icmp_signed if self._signed else b.icmp_unsigned)("<", value, before)
        return b.select(less, value, before) if name == "min" else b.select(less, before, value)

    def _flushed(self, value: Any) -> Any:
        """A float, a subnormal one as a zero of its sign."""
        b, word = self.builder, self._ir.IntType(32)
        bits = b.bitcast(value, word)
        tiny = b.icmp_unsigned("==", b.and_(bits, word(_EXPONENT)), word(0))
        return b.bitcast(b.select(tiny, b.and_(bits, word(_SIGN)), bits), self._item)


class _Items:
    """The items of an array of up to two dimensions, as the compiled loops read them."""

    def __init__(self, text: _Text, array: Any, kind: Any) -> None:
        self._text, self._b, self._kind = text, text.builder, kind
        self._data = text.pointer_to(array, text.byte)
        calls = [(of, number) for of in (text.extent, text.step) for number in (1, 0)]
        self._rows, self._columns, *self._steps = (self._b.call(of, [array, text.size(n)]) for of, n in calls)

    @contextmanager
    def each(self) -> Iterator[tuple[Any, Any]]:
        """A loop over the items, row by row; it gives the place of one."""
        size = self._text.size
        with Turns(self._b, size, "rows", self._rows) as row, Turns(self._b, size, "columns", self._columns) as column:
            yield row, column

    def at(self, place: tuple[Any, Any]) -> Any:
        """The pointer to an item."""
        b = self._b
        row, column = (b.mul(number, step) for number, step in zip(place, self._steps, strict=True))
        return b.bitcast(b.gep(self._data, [b.add(row, column)]), self._kind.as_pointer())

    def load(self, place: tuple[Any, Any]) -> Any:
        """An item."""
        return self._b.load(self.at(place), align=1)
