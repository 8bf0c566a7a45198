"""Lanes that meet at one cell take turns: each lane's old value, and what the cell holds at the end.

The order is that of the lanes, and each value is the one that a loop over the lanes gives, bit for bit. Lanes at one
cell are a row of a table, so that one NumPy call does a turn of all cells, or all turns of a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

_Array = np.ndarray
#: Cells and their lanes as a table: the old values of the cells (cells,), the operands (cells, turns) of each, and how
#: many turns each cell has (cells,); -> the cell's value before each turn and after the last one, (cells, turns + 1).
#: What a row holds beyond its turns does not matter. None: not known for these values.
Table = Callable[[_Array, list[_Array], _Array], _Array | None]

#: Up to that many turns, a loop over the turns is as fast as a table.
_FEW_TURNS = 3
#: How many numbers 16 bits hold.
_SHORT = 1 << 16


def accumulated(function: np.ufunc, inner: np.dtype | None = None) -> Table:
    """The table of an operation that is a ufunc. ``inner``: the dtype of the parts of an item that it works on."""

    def table(before: _Array, operands: list[_Array], size: _Array) -> _Array:
        whole = _with_first(before, operands[0])
        if inner is None:
            return np.asarray(function.accumulate(whole, axis=1))
        parts = whole.view(inner).reshape(*whole.shape, -1)
        return function.accumulate(parts, axis=1).reshape(len(whole), -1).view(whole.dtype)

    return table


def exchanged(before: _Array, operands: list[_Array], size: _Array) -> _Array:
    """The table of ``exch``."""
    return _with_first(before, operands[0])


def compared_and_swapped(before: _Array, operands: list[_Array], size: _Array) -> _Array:
    """The table of ``cas``: one step for each swap that changes the cell, of which there are few."""
    compare, value = operands
    cells, turns = compare.shape
    out = np.empty((cells, turns + 1), before.dtype)
    out[...] = before[:, None]
    changes = (compare != value) & (np.arange(turns) < size[:, None])
    rows, now, begin = np.arange(cells), before, np.zeros(cells, np.int64)
    while len(rows):
        swaps = changes[rows] & (compare[rows] == now[:, None]) & (np.arange(turns) >= begin[:, None])
        at = swaps.argmax(axis=1)
        going = swaps[np.arange(len(rows)), at]
        rows, at = rows[going], at[going]
        now, begin = value[rows, at], at + 1
        if len(rows) == 1:
            out[rows[0], begin[0] :] = now[0]
        else:
            out[rows] = np.where(np.arange(turns + 1) >= begin[:, None], now[:, None], out[rows])
    return out


def incremented(before: _Array, operands: list[_Array], size: _Array) -> _Array | None:
    """The table of ``inc``, where all lanes at a cell have the same limit."""
    return _counted(before, operands[0], size, 1)


def decremented(before: _Array, operands: list[_Array], size: _Array) -> _Array | None:
    """The table of ``dec``, where all lanes at a cell have the same limit."""
    return _counted(before, operands[0], size, -1)


def _counted(before: _Array, limits: _Array, size: _Array, step: int) -> _Array | None:
    turns = limits.shape[1]
    if ((limits != limits[:, :1]) & (np.arange(turns) < size[:, None])).any():
        return None
    limit = limits[:, :1].astype(np.int64)
    start = before[:, None].astype(np.int64)
    turn = np.arange(turns + 1)
    # A value above the limit goes to one end in the first turn: as the value of the other end does.
    beyond = start > limit
    out = (np.where(beyond, limit if step > 0 else 0, start) + step * turn) % (limit + 1)
    out = np.where(beyond & (turn == 0), start, out)
    return out.astype(before.dtype)


def _with_first(before: _Array, operand: _Array) -> _Array:
    return np.concatenate([before[:, None], operand], axis=1)


def take_turns(
    memory: _Array, index: _Array, values: list[_Array], function: Callable[..., _Array], table: Table | None
) -> _Array:
    """Each lane's old value. Lanes at different cells go together; lanes at one cell go one after the other.

    ``index`` is the cell in ``memory`` of each lane, ``values`` the operands. ``function(old, *operands)`` does one
    turn, ``table`` many.
    """
    if len(index) == 1 or (len(index) and (index == index[0]).all()):
        order, first, size = np.arange(len(index)), np.zeros(1, np.int64), np.array([len(index)])
    else:
        order = np.argsort(_short(index), kind="stable")
        cells = index[order]
        first = np.flatnonzero(np.concatenate(([True], cells[1:] != cells[:-1])))
        size = np.diff(np.append(first, len(cells)))
    old = np.empty(len(index), memory.dtype)
    if function is np.add and memory.dtype.kind in "iu" and len(index):
        _added(memory, index, values[0], order, first, size, old)
        return old
    for group in _groups_of_like_size(size) if table is not None and size.max() > _FEW_TURNS else ():
        assert table is not None
        turns = int(size[group].max())
        position = first[group, None] + np.arange(turns)
        held = np.arange(turns) < size[group, None]
        lane = order[np.minimum(position, len(order) - 1)]
        where = index[order[first[group]]]
        found = table(memory[where], [v[lane] for v in values], size[group])
        if found is None:
            _one_after_the_other(memory, index, values, function, order, first[group], size[group], old)
            continue
        old[lane[held]] = found[:, :-1][held]
        memory[where] = found[np.arange(len(where)), size[group]]
    if table is None or size.max() <= _FEW_TURNS:
        _one_after_the_other(memory, index, values, function, order, first, size, old)
    return old


def _short(index: _Array) -> _Array:
    """Numbers in the same order, of 16 bits where that is enough: NumPy then sorts them by counting."""
    least = index.min()
    return (index - least).astype(np.uint16) if index.max() - least < _SHORT else index


def _added(
    memory: _Array, index: _Array, value: _Array, order: _Array, first: _Array, size: _Array, old: _Array
) -> None:
    """Integers that are added. Sums wrap around, so a sum over all cells less that before a cell is exact."""
    sorted_value = value[order].view(memory.dtype)
    total = np.cumsum(sorted_value, dtype=memory.dtype)
    before = total - sorted_value
    where = index[order[first]]
    start = memory[where] - before[first]
    old[order] = before + np.repeat(start, size)
    memory[where] = start + total[first + size - 1]


def _groups_of_like_size(size: _Array) -> Iterator[_Array]:
    """Indices of the cells, in groups in which no cell has more than twice the turns of another."""
    if size.max() <= 2 * size.min():
        yield np.arange(len(size))
        return
    power = np.frexp(size)[1]
    for one in np.unique(power):
        yield np.flatnonzero(power == one)


def _one_after_the_other(
    memory: _Array,
    index: _Array,
    values: list[_Array],
    function: Callable[..., _Array],
    order: _Array,
    first: _Array,
    size: _Array,
    old: _Array,
) -> None:
    for turn in range(int(size.max())):
        lane = order[first[size > turn] + turn]
        where = index[lane]
        before = memory[where]
        old[lane] = before
        memory[where] = function(before, *(v[lane] for v in values))
