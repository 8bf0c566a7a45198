"""Atomics of integers as compiled loops: the lanes that meet take their turns one after the other.

NumPy has to sort the lanes by their cells first (:mod:`softlab.emulator.memory.turns`); a compiled loop needs not.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from softlab.emulator.machine.native import compiled_function, started
from softlab.emulator.machine.native_python import DATA_OFFSET, arrays_are_as_known
from softlab.emulator.machine.native_region_parts import Turns

_BITS = {"and": "and_", "or": "or_", "xor": "xor", "add": "add"}
_OPERATIONS = (*_BITS, "min", "max", "exch", "cas")
#: Calls after which an operation is compiled: what NumPy took for them, about 50 microseconds each, is what LLVM takes.
_CALLS, _START_CALLS = 300, 2000


#: ``take(memory, index, values)``: each lane's old value, and whether any lane's cell holds another one at the end.
#: ``memory`` is an array of items without gaps, ``index`` (lanes,) the item of each lane, ``values`` the operands,
#: (lanes,) each or (1,) where all lanes share it.
CompiledTurns = Callable[[np.ndarray, np.ndarray, list[np.ndarray]], tuple[np.ndarray, bool]]


class NativeTurns:
    """The atomics of one batch. ``hot_only``: compile an operation when it has run often."""

    def __init__(self, *, hot_only: bool) -> None:
        self._calls: dict[str, int] = {}
        self._hot_only = hot_only

    def find(self, operation: str, dtype: np.dtype) -> CompiledTurns | None:
        """The compiled form of an operation ("add.u32"); None where NumPy does it."""
        name = operation.partition(".")[0]
        if name not in _OPERATIONS or dtype.kind not in "iu" or operation.partition(".")[2] in ("f16x2", "bf16x2"):
            return None
        if self._hot_only:
            calls = self._calls[operation] = self._calls.get(operation, 0) + 1
            if calls < _CALLS + (0 if started() else _START_CALLS):
                return None
        return _function(name, dtype.itemsize * 8, dtype.kind == "i") if arrays_are_as_known() else None


@cache
def _function(name: str, bits: int, signed: bool) -> CompiledTurns:
    address = compiled_function(_text(name, bits, signed))
    number = ctypes.c_int64
    call = ctypes.PYFUNCTYPE(number, *[number] * 8)(address)

    def take(memory: np.ndarray, index: np.ndarray, values: list[np.ndarray]) -> tuple[np.ndarray, bool]:
        places = np.ascontiguousarray(index, np.int64)
        operands = [np.ascontiguousarray(value) for value in values]
        first, last = operands[0], operands[-1]
        old = np.empty(len(places), memory.dtype)
        steps = int(first.size > 1), int(last.size > 1)
        changed = call(id(memory), id(places), id(first), id(last), id(old), *steps, len(places))
        return old, changed != 0

    return take


def _text(name: str, bits: int, signed: bool) -> str:
    """``loop(memory, places, first, last, old, step of first, step of last, lanes)``; arrays come as their objects."""
    from llvmlite import ir

    module, size, item = ir.Module("turns"), ir.IntType(64), ir.IntType(bits)
    function = ir.Function(module, ir.FunctionType(size, [size] * 8), "loop")
    b = ir.IRBuilder(function.append_basic_block("entry"))

    def items(array: Any, kind: Any) -> Any:
        pointer = b.inttoptr(b.add(array, size(DATA_OFFSET)), kind.as_pointer().as_pointer())
        return b.load(pointer)

    memory, first, last, old = (items(function.args[i], item) for i in (0, 2, 3, 4))
    index = items(function.args[1], size)
    first_step, last_step, count = function.args[5:]
    changed = b.alloca(size)
    b.store(size(0), changed)
    with Turns(b, size, "lanes", count) as lane:
        cell = b.gep(memory, [b.load(b.gep(index, [lane]))])
        before, value = b.load(cell), b.load(b.gep(last, [b.mul(lane, last_step)]))
        b.store(before, b.gep(old, [lane]))
        b.store(_stored(b, name, signed, before, value, b.load(b.gep(first, [b.mul(lane, first_step)]))), cell)
    with Turns(b, size, "again", count) as lane:
        now = b.load(b.gep(memory, [b.load(b.gep(index, [lane]))]))
        differs = b.zext(b.icmp_unsigned("!=", now, b.load(b.gep(old, [lane]))), size)
        b.store(b.or_(b.load(changed), differs), changed)
    b.ret(b.load(changed))
    return str(module)


def _stored(b: Any, name: str, signed: bool, before: Any, value: Any, compare: Any) -> Any:
    """What the cell holds after a turn; ``compare`` is the first operand of ``cas``."""
    if name in _BITS:
        return getattr(b, _BITS[name])(before, value)
    if name == "exch":
        return value
    if name == "cas":
        return b.select(b.icmp_unsigned("==", before, compare), value, before)
    less = (b.icmp_signed if signed else b.icmp_unsigned)("<", value, before)
    return b.select(less, value, before) if name == "min" else b.select(less, before, value)
