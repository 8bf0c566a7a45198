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
from softlab.emulator.machine.native_region_parts import Turns

_BITS = {"and": "and_", "or": "or_", "xor": "xor", "add": "add"}
_OPERATIONS = (*_BITS, "min", "max", "exch", "cas")
#: Calls after which an operation is compiled: what NumPy took for them, about 50 microseconds each, is what LLVM takes.
_CALLS, _START_CALLS = 300, 2000


class NativeTurns:
    """The atomics of one batch. ``hot_only``: compile an operation when it has run often."""

    def __init__(self, *, hot_only: bool) -> None:
        self._calls: dict[str, int] = {}
        self._hot_only = hot_only

    def find(self, operation: str, dtype: np.dtype) -> Callable[..., np.ndarray] | None:
        """``take(memory, index, values)`` of an operation ("add.u32"): each lane's old value; None where NumPy does it.

        ``memory`` is an array of items without gaps, ``index`` (lanes,) the item of each lane, ``values`` the operands,
        (lanes,) each.
        """
        name = operation.partition(".")[0]
        if name not in _OPERATIONS or dtype.kind not in "iu" or operation.partition(".")[2] in ("f16x2", "bf16x2"):
            return None
        if self._hot_only:
            calls = self._calls[operation] = self._calls.get(operation, 0) + 1
            if calls < _CALLS + (0 if started() else _START_CALLS):
                return None
        return _function(name, dtype.itemsize * 8, dtype.kind == "i")


@cache
def _function(name: str, bits: int, signed: bool) -> Callable[..., np.ndarray]:
    address = compiled_function(_text(name, bits, signed))
    pointer = ctypes.c_void_p
    call = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, pointer, pointer, ctypes.c_int64)(address)

    def take(memory: np.ndarray, index: np.ndarray, values: list[np.ndarray]) -> np.ndarray:
        places = np.ascontiguousarray(index, np.int64)
        operands = [np.ascontiguousarray(value) for value in values]
        old = np.empty(len(places), memory.dtype)
        arrays = (memory, places, operands[0], operands[-1], old)
        call(*[array.ctypes.data for array in arrays], len(places))
        return old

    return take


def _text(name: str, bits: int, signed: bool) -> str:
    from llvmlite import ir

    module, size, item = ir.Module("turns"), ir.IntType(64), ir.IntType(bits)
    items = item.as_pointer()
    function = ir.Function(
        module, ir.FunctionType(ir.VoidType(), [items, size.as_pointer(), items, items, items, size]), "loop"
    )
    memory, index, first, last, old, count = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    with Turns(b, size, "lanes", count) as lane:
        cell = b.gep(memory, [b.load(b.gep(index, [lane]))])
        before, value = b.load(cell), b.load(b.gep(last, [lane]))
        b.store(before, b.gep(old, [lane]))
        b.store(_stored(b, name, signed, before, value, b.load(b.gep(first, [lane]))), cell)
    b.ret_void()
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
