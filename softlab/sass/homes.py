"""The registers of all warps, and how sets of lanes write there what they have changed.

An array of registers that nobody else has is changed in place. Whoever takes a register's value may keep the array, so
that references are counted.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import numpy as np

from softlab.emulator.machine.native_python import Bytes, CompiledFunction, Int64s, UInt32s
from softlab.sass.lanes import WARP, Lanes, Value

#: What NumPy takes to write a register of a set, in units of 100 microseconds.
_REGISTER = 0.1


def put_words(
    home: UInt32s, value: UInt32s, by_warp: int, by_lane: int, warps: Int64s, masks: UInt32s, count: int
) -> int:
    """Write the values of the lanes that ``masks`` name into ``home``. ``by_warp`` and ``by_lane``: places in ``value``
    from one warp or lane to the next."""
    for k in range(count):
        mask, at, source = masks[k], 32 * warps[k], k * by_warp
        for lane in range(32):
            if mask >> lane & 1:
                home[at + lane] = value[source + lane * by_lane]
    return 0


def put_truths(home: Bytes, value: Bytes, by_warp: int, by_lane: int, warps: Int64s, masks: UInt32s, count: int) -> int:
    """As :func:`put_words`, of predicates."""
    for k in range(count):
        mask, at, source = masks[k], 32 * warps[k], k * by_warp
        for lane in range(32):
            if mask >> lane & 1:
                home[at + lane] = value[source + lane * by_lane]
    return 0


#: By the bytes of a value.
_PUT = {4: CompiledFunction(put_words), 1: CompiledFunction(put_truths)}


def _references(values: list[Any], number: int) -> int:
    return getrefcount(values[number])


#: The references to an item that only a list has.
_ALONE = _references([object()], 0)


def is_held_alone(value: Any) -> bool:
    """Whether nobody has an item of a list but the list and the one variable of the caller."""
    return getrefcount(value) == _HELD_ALONE


def _held_alone(values: list[Any]) -> int:
    value = values[0]
    return _references_of(value)


def _references_of(value: Any) -> int:
    return getrefcount(value)


#: The references to an item that a list and a variable of the caller have.
_HELD_ALONE = _held_alone([object()])


def bring(now: Lanes, home: list[Value], number: int, value: Value, choice: str) -> None:
    """Put a set's ``value`` into the register ``home[number]`` of all warps.

    Arguments:
        now: not all lanes of all warps. choice: which code is compiled ("none", "hot" or "all").
    """
    if not isinstance(value, np.ndarray) and _is_same(home[number], value):
        return
    if now.whole and _width(value) == 1 == _width(home[number]):
        home[number] = _with_rows(now, home[number], value)
        return
    if not (_references(home, number) == _ALONE and _is_of(home[number], (now.total, WARP), value.dtype)):
        whole = np.empty((now.total, WARP), value.dtype)
        whole[...] = home[number]
        home[number] = whole
    fill(now, home[number], value, choice)


def bring_per_warp(now: Lanes, home: list[Value], number: int, value: Value) -> None:
    """As :func:`bring`, of a register that a warp has once."""
    if isinstance(value, np.ndarray):
        value = now.of_warps(value)
    elif _is_same(home[number], value):
        return
    home[number] = _with_rows(now, home[number], value)


def _is_same(old: Value, value: Value) -> bool:
    return not isinstance(old, np.ndarray) and bool(value == old)


def _width(value: Value) -> int:
    return value.shape[1] if isinstance(value, np.ndarray) else 1


def _is_of(array: Any, shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """Whether it is an array with memory of its own."""
    return (
        isinstance(array, np.ndarray) and array.shape == shape and array.dtype == dtype and array.base is None
        and array.flags.c_contiguous
    )  # fmt: skip


def _with_rows(now: Lanes, old: Value, value: Value) -> np.ndarray:
    """(warps of the machine, 1): ``old``, with ``value`` in the rows of the set."""
    out = np.empty((now.total, 1), value.dtype)
    out[...] = old
    out[now.warps] = value
    return out


def fill(now: Lanes, home: np.ndarray, value: Value, choice: str) -> None:
    """Write a set's value into ``home``, (warps of the machine, 32) without gaps, for the lanes of the set."""
    if not now.dense:
        home.reshape(-1)[now.places] = value
        return
    put = _PUT.get(home.itemsize)
    if put is not None and put.ready(choice, _REGISTER):
        given = np.ascontiguousarray(value)  # a scalar becomes (1,)
        rows, width = given.shape if given.ndim > 1 else (1, 1)
        by_warp, by_lane = width if rows > 1 else 0, int(width > 1)
        masks = np.ascontiguousarray(now.masks)
        put.call(id(home), id(given), by_warp, by_lane, id(now.warps), id(masks), now.count)
    elif now.count == now.total:
        np.copyto(home, value, where=now.active)
    else:
        home[now.warps] = np.where(now.active, value, home[now.warps])
