"""Sets of threads that run the same code together, and how values are cut to them and put back.

A batch is (blocks, threads) with threads padded to whole warps. A value has shape (), (1, threads), (blocks, 1) or
(blocks, threads): 1 where all blocks, or all threads of a block, share it, so that address arithmetic costs a row
instead of a grid. Inside a set the same shapes hold with the set's own extent, or (lanes,) where the set is scattered.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from typing_extensions import override

WARP = 32
ALL = slice(None)
#: A NumPy array, or a NumPy scalar that all lanes share.
Value = Any
Selector = slice | np.ndarray


def _selector(mask: np.ndarray | None) -> Selector:
    """A slice where the set positions are neighbours (then cutting copies nothing), else their indices."""
    if mask is None:
        return ALL
    index = np.flatnonzero(mask)
    first, last = int(index[0]), int(index[-1])
    return slice(first, last + 1) if last - first + 1 == len(index) else index


def _cross(rows: Selector, columns: Selector) -> tuple:
    """The index of rows x columns."""
    if isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray):
        return rows[:, None], columns
    return rows, columns


class Positions:
    """Row and column of each lane of a set, (lanes,) int64 each, without gaps."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray) -> None:
        self.rows, self.columns = (np.ascontiguousarray(array, np.int64) for array in (rows, columns))


class Lanes:
    """A set of threads of one batch. Use :func:`lanes_of`; each subclass has a layout of its own."""

    def __init__(self, blocks: int, threads: int, count: int) -> None:
        self.blocks = blocks
        self.threads = threads
        self.count = count
        self.full = count == blocks * threads

    #: (rows, columns) of the set's own values, or (lanes,).
    extent: tuple[int, ...]

    def take(self, value: Value) -> Value:
        """A value of the batch, cut to this set."""
        raise NotImplementedError

    def put(self, old: Value, value: Value, whole: bool) -> Value:
        """The batch's ``old`` value with this set's ``value`` put in.

        ``whole``: the other lanes are never read again.
        """
        raise NotImplementedError

    def split(self, predicate: Value) -> tuple[Lanes | None, Lanes | None]:
        """The lanes where ``predicate`` (of this set) holds, and the others; None for an empty set."""
        raise NotImplementedError

    def spread(self, value: Value) -> np.ndarray:
        """This set's value at its positions in whole warps: (rows, threads // 32, 32); other lanes hold zero.

        ``rows`` is 1 where all blocks share the value.
        """
        raise NotImplementedError

    def collect(self, value: np.ndarray) -> Value:
        """The inverse of :meth:`spread`; ``value`` may have 1 row for all blocks."""
        raise NotImplementedError

    @property
    def spread_rows(self) -> np.ndarray:
        """The row of :meth:`spread` that belongs to each block of the batch, (blocks,) int64; the last is the last."""
        return np.arange(self.blocks)

    @property
    def warp_mask(self) -> np.ndarray:
        """(rows or 1, threads // 32, 32) bool: the positions of :meth:`spread` that are in the set."""
        raise NotImplementedError

    @property
    def mask(self) -> np.ndarray:
        """(blocks, threads) bool; it must not be changed."""
        raise NotImplementedError

    @property
    def row_index(self) -> np.ndarray:
        """Row in the batch: (rows, 1) or (lanes,) int64."""
        raise NotImplementedError

    @property
    def column_index(self) -> np.ndarray:
        """Thread in the block: (1, columns) or (lanes,) int64."""
        raise NotImplementedError

    @property
    def warps(self) -> int:
        """How many warps have a lane in the set."""
        raise NotImplementedError

    @cached_property
    def positions(self) -> Positions:
        """Row and column of each lane."""
        return Positions(self.full_extent(self.row_index), self.full_extent(self.column_index))

    @cached_property
    def numbers(self) -> np.ndarray:
        """``row * threads + column`` of each lane, (lanes,) int64 without gaps."""
        return np.ascontiguousarray(self.full_extent(self.row_index * self.threads + self.column_index), np.int64)

    def full_extent(self, value: Value) -> np.ndarray:
        """The value broadcast to one element per lane, flattened in the order of the lanes."""
        if isinstance(value, np.ndarray):
            if value.shape == self.extent:
                return value.reshape(-1)
            whole = np.empty(self.extent, value.dtype)
            whole[...] = value
            return whole.reshape(-1)
        return np.full(self.extent, value).reshape(-1)

    def unite(self, other: Lanes) -> Lanes:
        """The lanes in either set."""
        return lanes_of(self.mask | other.mask)

    def without(self, other: Lanes) -> Lanes | None:
        """The lanes not in the other set."""
        rest = self.mask & ~other.mask
        return lanes_of(rest) if rest.any() else None


class _KnownBoxes:
    """The boxes that came last, at most ``most`` boxes of ``most_lanes`` threads in all: then all are forgotten."""

    def __init__(self, most: int, most_lanes: int) -> None:
        self._most, self._most_lanes = most, most_lanes
        self._boxes: dict[tuple[int, int, bytes | None, bytes | None], Box] = {}
        self._lanes = 0

    def __len__(self) -> int:
        return len(self._boxes)

    def find(self, key: tuple[int, int, bytes | None, bytes | None]) -> Box | None:
        """The box of that many blocks and threads, and of these rows and columns."""
        return self._boxes.get(key)

    def keep(self, key: tuple[int, int, bytes | None, bytes | None], box: Box) -> None:
        """Keep a box."""
        lanes = key[0] * key[1]
        if lanes > self._most_lanes:
            return
        if len(self._boxes) >= self._most or self._lanes + lanes > self._most_lanes:
            self._boxes.clear()
            self._lanes = 0
        self._boxes[key] = box
        self._lanes += lanes


_known_boxes = _KnownBoxes(256, 1 << 19)


class Box(Lanes):
    """Some rows (blocks) x some columns (threads), as uniform control flow and branches on the thread index make it.

    Loops whose lanes part come to the same sets in each turn. A set never changes, so equal ones are one object, which
    has all that is known of them, also what is found out later.
    """

    def __new__(cls, blocks: int, threads: int, rows: np.ndarray | None, columns: np.ndarray | None) -> Box:
        """The box that came before, or a new one."""
        row_key, column_key = (part if part is None else part.tobytes() for part in (rows, columns))
        key = blocks, threads, row_key, column_key
        found = _known_boxes.find(key)
        if found is None:
            found = super().__new__(cls)
            found._find(blocks, threads, rows, columns)
            _known_boxes.keep(key, found)
        return found

    def __init__(self, blocks: int, threads: int, rows: np.ndarray | None, columns: np.ndarray | None) -> None:
        """``rows`` and ``columns``: those of the set, (blocks,) and (threads,) bool; None for all."""

    def _find(self, blocks: int, threads: int, rows: np.ndarray | None, columns: np.ndarray | None) -> None:
        self.rows = None if rows is None or rows.all() else rows
        self.columns = None if columns is None or columns.all() else columns
        height = blocks if self.rows is None else int(np.count_nonzero(self.rows))
        width = threads if self.columns is None else int(np.count_nonzero(self.columns))
        super().__init__(blocks, threads, height * width)
        self.extent = (height, width)
        self.row_selector = _selector(self.rows)
        self.column_selector = _selector(self.columns)

    @override
    def take(self, value: Value) -> Value:
        # Cut it row by row and column by column; a dimension that is 1 stays.
        if self.full or not isinstance(value, np.ndarray):
            return value
        if self.rows is not None and value.shape[0] != 1:
            value = value[self.row_selector]
        if self.columns is not None and value.shape[1] != 1:
            value = value[:, self.column_selector]
        return value

    @override
    def put(self, old: Value, value: Value, whole: bool) -> Value:
        # Keep a dimension 1 where the set is all of it.
        if self.full:
            return value
        height, width = value.shape if isinstance(value, np.ndarray) else (1, 1)
        rows_cut, columns_cut = self.rows is not None, self.columns is not None
        if whole:
            if not (rows_cut and height > 1) and not (columns_cut and width > 1):
                return value
            shape = (self.blocks if height > 1 else 1, self.threads if width > 1 else 1)
            out = np.zeros(shape, value.dtype)
        else:
            old_height, old_width = old.shape if isinstance(old, np.ndarray) else (1, 1)
            shape = (
                self.blocks if rows_cut or height > 1 or old_height > 1 else 1,
                self.threads if columns_cut or width > 1 or old_width > 1 else 1,
            )
            out = np.empty(shape, value.dtype)
            out[...] = old
        rows = self.row_selector if shape[0] > 1 else ALL
        columns = self.column_selector if shape[1] > 1 else ALL
        out[_cross(rows, columns)] = value
        return out

    @override
    def split(self, predicate: Value) -> tuple[Lanes | None, Lanes | None]:
        # Boxes again where the predicate depends on the thread or the block alone.
        if not isinstance(predicate, np.ndarray):
            return (self, None) if predicate else (None, self)
        count = np.count_nonzero(predicate)
        if count == predicate.size:
            return self, None
        if not count:
            return None, self
        height, width = predicate.shape
        if height > 1 and width > 1:
            if (predicate == predicate[0]).all():
                predicate, height = predicate[:1], 1
            elif (predicate == predicate[:, :1]).all():
                predicate, width = predicate[:, :1], 1
        if height == 1:
            return self._columns_where(predicate[0]), self._columns_where(~predicate[0])
        if width == 1:
            return self._rows_where(predicate[:, 0]), self._rows_where(~predicate[:, 0])
        inside = np.zeros((self.blocks, self.threads), bool)
        index = _cross(self.row_selector, self.column_selector)
        inside[index] = predicate
        outside = np.zeros((self.blocks, self.threads), bool)
        outside[index] = ~predicate
        return Scattered(inside), Scattered(outside)

    def _columns_where(self, predicate: np.ndarray) -> Box:
        columns = predicate
        if self.columns is not None:
            columns = np.zeros(self.threads, bool)
            columns[self.column_selector] = predicate
        return Box(self.blocks, self.threads, self.rows, columns)

    def _rows_where(self, predicate: np.ndarray) -> Box:
        rows = predicate
        if self.rows is not None:
            rows = np.zeros(self.blocks, bool)
            rows[self.row_selector] = predicate
        return Box(self.blocks, self.threads, rows, self.columns)

    @override
    def spread(self, value: Value) -> np.ndarray:
        if not isinstance(value, np.ndarray):
            value = np.full((1, 1), value)
        if self.columns is None:
            whole = value.shape[0], self.threads
            out = value if value.shape == whole else np.broadcast_to(value, whole)
        else:
            out = np.zeros((value.shape[0], self.threads), value.dtype)
            out[:, self.column_selector] = value
        return out.reshape(value.shape[0], -1, WARP)

    @override
    def collect(self, value: np.ndarray) -> Value:
        value = value.reshape(value.shape[0], self.threads)
        return value if self.columns is None else value[:, self.column_selector]

    @property
    @override
    def spread_rows(self) -> np.ndarray:
        return super().spread_rows if self.rows is None else np.cumsum(self.rows) - 1

    @cached_property
    @override
    def warp_mask(self) -> np.ndarray:  # type: ignore[override]
        columns = np.ones(self.threads, bool) if self.columns is None else self.columns
        return columns.reshape(1, -1, WARP)

    @cached_property
    def index(self) -> tuple:
        """What cuts an array of (blocks, threads) to this set's extent, and assigns to it."""
        return _cross(self.row_selector, self.column_selector)

    @cached_property
    def column_key(self) -> bytes:
        """The columns as a dictionary key."""
        return b"" if self.columns is None else self.columns.tobytes()

    @cached_property
    @override
    def mask(self) -> np.ndarray:  # type: ignore[override]
        out = np.zeros((self.blocks, self.threads), bool)
        out[_cross(self.row_selector, self.column_selector)] = True
        out.flags.writeable = False
        return out

    @cached_property
    @override
    def row_index(self) -> np.ndarray:  # type: ignore[override]
        return np.arange(self.blocks)[self.row_selector][:, None]

    @cached_property
    @override
    def column_index(self) -> np.ndarray:  # type: ignore[override]
        return np.arange(self.threads)[self.column_selector][None, :]

    @cached_property
    @override
    def warps(self) -> int:  # type: ignore[override]
        return self.extent[0] * int(np.count_nonzero(self.warp_mask.any(axis=2)))

    @override
    def unite(self, other: Lanes) -> Lanes:
        # A box where both have the same rows or the same columns.
        if isinstance(other, Box):
            if _same(self.rows, other.rows) and self.columns is not None and other.columns is not None:
                return Box(self.blocks, self.threads, self.rows, self.columns | other.columns)
            if _same(self.columns, other.columns) and self.rows is not None and other.rows is not None:
                return Box(self.blocks, self.threads, self.rows | other.rows, self.columns)
        return super().unite(other)


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    return a is b or (a is not None and b is not None and bool((a == b).all()))


class Scattered(Lanes):
    """Any set of lanes, as branches on data make it."""

    def __init__(self, mask: np.ndarray) -> None:
        self._mask = mask
        self._row_index, self._column_index = np.nonzero(mask)
        super().__init__(mask.shape[0], mask.shape[1], len(self._row_index))
        self.extent = (self.count,)
        self.flat = self._row_index * self.threads + self._column_index

    @property
    @override
    def mask(self) -> np.ndarray:
        return self._mask

    @property
    @override
    def row_index(self) -> np.ndarray:
        return self._row_index

    @property
    @override
    def column_index(self) -> np.ndarray:
        return self._column_index

    @override
    def take(self, value: Value) -> Value:
        if not isinstance(value, np.ndarray):
            return value
        height, width = value.shape
        if width == 1:
            return value[0, 0] if height == 1 else value[self.row_index, 0]
        if height == 1:
            return value[0, self.column_index]
        return value.reshape(-1)[self.flat] if value.flags.c_contiguous else value[self.row_index, self.column_index]

    @override
    def put(self, old: Value, value: Value, whole: bool) -> Value:
        if whole:
            if not isinstance(value, np.ndarray):
                return value
            out = np.zeros((self.blocks, self.threads), value.dtype)
        else:
            out = np.empty((self.blocks, self.threads), value.dtype)
            out[...] = old
        out.reshape(-1)[self.flat] = value
        return out

    @override
    def split(self, predicate: Value) -> tuple[Lanes | None, Lanes | None]:
        if not isinstance(predicate, np.ndarray):
            return (self, None) if predicate else (None, self)
        if predicate.all():
            return self, None
        if not predicate.any():
            return None, self
        inside = np.zeros((self.blocks, self.threads), bool)
        inside.reshape(-1)[self.flat[predicate]] = True
        return lanes_of(inside), lanes_of(self._mask & ~inside)

    @override
    def spread(self, value: Value) -> np.ndarray:
        out = np.zeros((self.blocks, self.threads), value.dtype)
        out.reshape(-1)[self.flat] = value
        return out.reshape(self.blocks, -1, WARP)

    @override
    def collect(self, value: np.ndarray) -> Value:
        value = value.reshape(value.shape[0], self.threads)
        return value[self.row_index if value.shape[0] > 1 else 0, self.column_index]

    @property
    @override
    def warp_mask(self) -> np.ndarray:
        return self._mask.reshape(self.blocks, -1, WARP)

    @cached_property
    @override
    def warps(self) -> int:  # type: ignore[override]
        return int(np.count_nonzero(self.warp_mask.any(axis=2)))


def lanes_of(mask: np.ndarray) -> Lanes:
    """The set of a (blocks, threads) bool mask with at least one lane in it."""
    rows, columns = np.asarray(mask.any(axis=1)), np.asarray(mask.any(axis=0))
    if np.count_nonzero(rows) * np.count_nonzero(columns) == np.count_nonzero(mask):
        return Box(mask.shape[0], mask.shape[1], rows, columns)
    return Scattered(mask)


def pack_bits(bits: np.ndarray) -> np.ndarray:
    """(..., 32) bool -> (..., 1) uint32, lane 0 the lowest bit."""
    return np.packbits(np.ascontiguousarray(bits), axis=-1, bitorder="little").view("<u4")


def one_mask(members: Value) -> Value:
    """A scalar where all lanes of a set name the same lanes, else the masks as they are."""
    if isinstance(members, np.ndarray) and (members == (first := members.flat[0])).all():
        return first
    return members


def one_mask_per_warp(masks: np.ndarray, here: np.ndarray) -> np.ndarray:
    """(rows, warps, 32) masks of the lanes ``here``, 0 elsewhere -> (rows, warps, 1) where each warp has one mask."""
    one = masks.max(axis=2, keepdims=True)
    return one if ((masks == one) | ~here).all() else masks


def lanes_with_same(values: np.ndarray) -> np.ndarray:
    """(..., 32) of any dtype -> (..., 32) uint32: for each lane, the lanes of its warp that have the same value."""
    return pack_bits(values[..., :, None] == values[..., None, :])[..., 0]
