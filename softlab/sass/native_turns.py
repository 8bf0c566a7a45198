"""Lanes that meet at one cell take turns, in a compiled loop over the lanes.

Whole numbers are added, exchanged, or compared and swapped here.

NumPy sorts the lanes by their cells for that (:mod:`softlab.emulator.memory.turns`). It does so where the loop is not
compiled, and for all other operations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from softlab.emulator.machine.native import compiled_blocks
from softlab.emulator.machine.native_python import CompiledFunction, Int64s, UInt32s
from softlab.emulator.memory import turns
from softlab.emulator.memory.atomics import atomic_function, atomic_table

#: What NumPy takes for an access and for a lane of it, in units of 100 microseconds.
_ACCESS, _LANE = 0.3, 0.001


def add_words(memory: UInt32s, index: Int64s, value: UInt32s, other: UInt32s, count: int, old: UInt32s) -> int:
    """Each lane's old value of its cell, to which it adds its value."""
    for k in range(count):
        old[k] = memory[index[k]]
        memory[index[k]] = old[k] + value[k]
    return 0


def add_pairs(memory: Int64s, index: Int64s, value: Int64s, other: Int64s, count: int, old: Int64s) -> int:
    """As :func:`add_words`, of 64 bits."""
    for k in range(count):
        old[k] = memory[index[k]]
        memory[index[k]] = old[k] + value[k]
    return 0


def exchange_words(memory: UInt32s, index: Int64s, value: UInt32s, other: UInt32s, count: int, old: UInt32s) -> int:
    """Each lane's old value of its cell, which holds the lane's value then."""
    for k in range(count):
        old[k] = memory[index[k]]
        memory[index[k]] = value[k]
    return 0


def exchange_pairs(memory: Int64s, index: Int64s, value: Int64s, other: Int64s, count: int, old: Int64s) -> int:
    """As :func:`exchange_words`, of 64 bits."""
    for k in range(count):
        old[k] = memory[index[k]]
        memory[index[k]] = value[k]
    return 0


def swap_words(memory: UInt32s, index: Int64s, value: UInt32s, other: UInt32s, count: int, old: UInt32s) -> int:
    """Each lane's old value of its cell, which holds ``other`` then if it held ``value``."""
    for k in range(count):
        old[k] = memory[index[k]]
        if old[k] == value[k]:
            memory[index[k]] = other[k]
    return 0


def swap_pairs(memory: Int64s, index: Int64s, value: Int64s, other: Int64s, count: int, old: Int64s) -> int:
    """As :func:`swap_words`, of 64 bits."""
    for k in range(count):
        old[k] = memory[index[k]]
        if old[k] == value[k]:
            memory[index[k]] = other[k]
    return 0


#: Operation -> its loop for cells of 4 bytes and of 8.
_LOOPS = {
    name: {4: CompiledFunction(words), 8: CompiledFunction(pairs)}
    for name, words, pairs in (
        ("add", add_words, add_pairs), ("exch", exchange_words, exchange_pairs), ("cas", swap_words, swap_pairs),
    )
}  # fmt: skip


def take_turns(memory: np.ndarray, index: np.ndarray, values: Sequence[np.ndarray], operation: str) -> np.ndarray:
    """Each lane's old value, and the cells as they are after all turns.

    Arguments:
        memory: the cells. index: int64, the cell of each lane, in the order of their turns. values: the operands.
        operation: such as "add.u32".
    """
    loop = _loop_of(memory.dtype, operation)
    if loop is None or not loop.ready(compiled_blocks(), _ACCESS + _LANE * len(index)):
        return turns.take_turns(memory, index, list(values), atomic_function(operation), atomic_table(operation))
    old = np.empty(len(index), memory.dtype)
    given = [np.ascontiguousarray(one) for one in (index, values[0], values[-1])]
    loop.call(id(memory), *map(id, given), len(index), id(old))
    return old


def _loop_of(dtype: np.dtype, operation: str) -> CompiledFunction | None:
    name, _, kind = operation.partition(".")
    whole = dtype.kind in "iu" and kind not in ("f16x2", "bf16x2", "f32", "f64")
    return _LOOPS[name].get(dtype.itemsize) if whole and name in _LOOPS else None
