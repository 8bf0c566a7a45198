"""Atomic operations: lanes that meet at one address take turns, in the order of their numbers.

A GPU has no such order: there a result that depends on it is arbitrary, here it is always the same.

A sum of float32 in global memory takes subnormal numbers and results for zeros of their sign, one in shared memory
keeps them (PTX ISA, "atom"; an H100 does so). Its operation is "add.ftz.f32" here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.memory.elements import Memory, Reach
from softlab.emulator.memory.turns import (
    Table,
    accumulated,
    compared_and_swapped,
    decremented,
    exchanged,
    incremented,
    take_turns,
)
from softlab.emulator.sites import Site

_Array = np.ndarray
_LEAST_NORMAL = np.float32(2.0**-126)
_FLUSHED = "add.ftz.f32"


def _compare_and_swap(old: _Array, compare: _Array, value: _Array) -> _Array:
    return np.where(old == compare, value, old)


def _increment(old: _Array, limit: _Array) -> _Array:
    return np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1))


def _decrement(old: _Array, limit: _Array) -> _Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def _bfloat16_add(old: _Array, value: _Array) -> _Array:
    import ml_dtypes

    kind = ml_dtypes.bfloat16
    return (old.view(kind).astype(np.float32) + value.view(kind).astype(np.float32)).astype(kind).view(np.uint16)


def _flushed(a: _Array) -> _Array:
    """A float32 with subnormals as zeros of their sign."""
    return np.where(np.abs(a) < _LEAST_NORMAL, np.copysign(np.float32(0), a), a)


def _flushed_add(old: _Array, value: _Array) -> _Array:
    return _flushed(_flushed(old) + _flushed(value))


def _flushed_sums(before: _Array, operands: list[_Array], size: _Array) -> _Array | None:
    """The table of sums; None where a number is subnormal."""
    sums = np.add.accumulate(np.concatenate([before[:, None], operands[0]], axis=1), axis=1)
    tiny = any(((np.abs(a) < _LEAST_NORMAL) & (a != 0)).any() for a in (before, operands[0], sums))
    return None if tiny else sums


def _halves(function: Callable, inner: str) -> Callable:
    """The operation on each 16-bit half."""
    return lambda old, value: function(old[:, None].view(inner), value[:, None].view(inner)).view(np.uint32)[:, 0]


#: Operation -> what is stored, of the old value and the operands.
_FUNCTIONS: dict[str, Callable[..., _Array]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": lambda old, value: value,
    "cas": _compare_and_swap,
    "add": np.add,
    "inc": _increment,
    "dec": _decrement,
    "min": np.minimum,
    "max": np.maximum,
}
_OTHER_ADD = {
    "add.f16x2": _halves(np.add, "f2"),
    "add.bf16": _bfloat16_add,
    "add.bf16x2": _halves(_bfloat16_add, "u2"),
    _FLUSHED: _flushed_add,
}
#: The same operations, many turns at a time.
_TABLES: dict[str, Table] = {
    "and": accumulated(np.bitwise_and),
    "or": accumulated(np.bitwise_or),
    "xor": accumulated(np.bitwise_xor),
    "exch": exchanged,
    "cas": compared_and_swapped,
    "add": accumulated(np.add),
    "inc": incremented,
    "dec": decremented,
    "min": accumulated(np.minimum),
    "max": accumulated(np.maximum),
}
_OTHER_TABLES = {"add.f16x2": accumulated(np.add, np.dtype("f2")), _FLUSHED: _flushed_sums}
#: Operations whose order does not matter or is kept by NumPy's unbuffered ``at``.
_UNBUFFERED = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or}


def check_operation(operation: str) -> None:
    """Raise NotImplementedError for an operation ("add.u32") that is not known."""
    name, kind = operation.split(".")
    if kind in ("f16x2", "bf16", "bf16x2") and operation not in _OTHER_ADD:
        raise NotImplementedError(operation)
    if name not in _FUNCTIONS:
        raise NotImplementedError(operation)


def atomic_function(operation: str) -> Callable[..., _Array]:
    """What an operation ("add.u32") stores, of the old value and the operands."""
    return _OTHER_ADD.get(operation) or _FUNCTIONS[operation.partition(".")[0]]


def atomic_table(operation: str) -> Table | None:
    """The same for many turns at a time; None where there is no such way."""
    return _OTHER_TABLES.get(operation) if operation in _OTHER_ADD else _TABLES[operation.partition(".")[0]]


class CompiledTurns(Protocol):
    """The compiled form of :func:`take_turns` for one operation.

    Both methods give each lane's old value and whether any lane's cell holds another one at the end; None where NumPy
    has to do it.
    """

    def at(self, reach: Reach, extent: tuple[int, ...], values: tuple[Value, ...]) -> tuple[_Array, bool] | None:
        """Of lanes that reach somewhere; None also where an address is not allowed."""

    def take(self, memory: _Array, index: _Array, values: list[_Array]) -> tuple[_Array, bool] | None:
        """Of items of an array."""


#: Finds it for an operation, its dtype, and the bytes of an address; None as long as NumPy does it.
FindTurns = Callable[[str, np.dtype, int], CompiledTurns | None]


class Atomics:
    """The atomic instructions of one batch; ``spaces`` maps "global", "shared" and "generic" to the memories.

    ``find_turns``: the compiled forms, where there are any.
    """

    def __init__(self, spaces: Mapping[str, Memory], find_turns: FindTurns | None = None) -> None:
        self._spaces = spaces
        self._find_turns = find_turns
        self._found: dict[tuple[str, int], CompiledTurns] = {}
        self.writes = 0

    def fetch(self, lanes: Lanes, site: Site, address: Value, *values: Value) -> Value:
        """``atom``: do it and give the value that was there before."""
        done = self._done(lanes, site, address, values)
        if done is not None:
            self.writes += done[1]
            return done[0]
        old = None
        for memory, index, which in self._spaces[site.space].cells(lanes, site, address):
            operation = self._operation(lanes, site, address, which)
            turns = self._turns(operation, site, address)
            before, changed = self._take(turns, operation, memory.view(site.dtype), lanes, index, which, values)
            self.writes += changed
            if isinstance(which, slice):
                old = before
                break
            if old is None:
                old = np.zeros(lanes.count, site.dtype)
            old[which] = before
        return (np.zeros(lanes.count, site.dtype) if old is None else old).reshape(lanes.extent)

    def _operation(self, lanes: Lanes, site: Site, address: Value, which: _Array | slice | None = None) -> str:
        """What ``which`` lanes do, all in one memory; without them, all lanes do it in the memory of the first."""
        if site.operation != "add.f32" or site.space == "shared":
            return site.operation
        if site.space == "generic":
            space: Any = self._spaces["generic"]
            target = address + np.uint64(site.offset & (1 << 64) - 1) if site.offset else address
            shared = space.space_of(target, "shared")
            of_first = np.ravel(shared)[0] if which is None else lanes.full_extent(shared)[which][0]
            return site.operation if of_first else _FLUSHED
        return _FLUSHED

    def _turns(self, operation: str, site: Site, address: Value) -> CompiledTurns | None:
        """The compiled form, once there is one."""
        if self._find_turns is None:
            return None
        key = operation, address.itemsize
        found = self._found.get(key)
        if found is None:
            found = self._find_turns(operation, site.dtype, address.itemsize)
            if found is not None:
                self._found[key] = found
        return found

    def _done(self, lanes: Lanes, site: Site, address: Value, values: tuple[Value, ...]) -> tuple[_Array, bool] | None:
        """Each lane's old value and whether a cell holds another one; None, and nothing done, where that is not easy.

        Compiled code does it where all lanes reach into one memory and none is at fault.
        """
        if self._find_turns is None:
            return None
        turns = self._turns(self._operation(lanes, site, address), site, address)
        reach = self._spaces[site.space].reach(lanes, site, address) if turns is not None else None
        return turns.at(reach, lanes.extent, values) if turns is not None and reach is not None else None

    def _take(
        self,
        turns: CompiledTurns | None,
        operation: str,
        memory: _Array,
        lanes: Lanes,
        index: _Array,
        which: _Array | slice,
        values: tuple[Value, ...],
    ) -> tuple[_Array, bool]:
        """Each lane's old value, and whether a cell holds another one at the end; ``which`` lanes of the set."""
        operands = [lanes.full_extent(v)[which] for v in values]
        found = turns.take(memory, index, operands) if turns is not None and memory.flags.c_contiguous else None
        if found is not None:
            return found
        before = take_turns(memory, index, operands, atomic_function(operation), atomic_table(operation))
        return before, bool((memory[index] != before).any())

    def fetch_wide(self, lanes: Lanes, site: Site, address: Value, *values: Value) -> tuple[Value, Value]:
        """``atom.exch.b128`` and ``atom.cas.b128`` of halves: the lower and the upper half that were there before."""
        old = np.zeros((lanes.count, 2), np.uint64)
        given = np.stack([lanes.full_extent(value).view(np.uint64) for value in values], axis=1)
        numbers = np.arange(lanes.count)
        for memory, index, which in self._spaces[site.space].cells(lanes, site, address):
            words = memory.view(np.uint64).reshape(-1, 2)
            for lane, cell in zip(numbers[which].tolist(), index.tolist(), strict=True):
                old[lane] = words[cell]
                if site.operation == "exch.b128" or (old[lane] == given[lane, :2]).all():
                    self.writes += bool((words[cell] != given[lane, -2:]).any())
                    words[cell] = given[lane, -2:]
        return old[:, 0].reshape(lanes.extent), old[:, 1].reshape(lanes.extent)

    def reduce(self, lanes: Lanes, site: Site, address: Value, *values: Value) -> None:
        """``red``: do it."""
        if self._done(lanes, site, address, values) is not None:
            self.writes += 1
            return
        flat = [lanes.full_extent(v) for v in values]
        for memory, index, which in self._spaces[site.space].cells(lanes, site, address):
            self.writes += 1
            operands, cells = [v[which] for v in flat], memory.view(site.dtype)
            operation = self._operation(lanes, site, address, which)
            name = operation.partition(".")[0]
            if name in _UNBUFFERED and operation not in _OTHER_ADD:
                _UNBUFFERED[name].at(cells, index, operands[0])
            else:
                take_turns(cells, index, operands, atomic_function(operation), atomic_table(operation))
