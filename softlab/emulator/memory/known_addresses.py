"""What is known of the addresses of accesses: found once for each array of addresses, and used while it comes again.

The array of a value never changes. An address that a loop leaves alone is the same array in each turn, and neighbouring
accesses have the same array and different constant offsets. So most of what the checks and counters ask of an access
follows from a pattern that they have seen before, and from one number.
"""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import Value

#: Arrays kept, and their bytes. Without a limit, memory would grow with the run.
_MOST_ARRAYS, _MOST_BYTES = 2048, 8 << 20


class AddressPattern:
    """Addresses that all blocks share, relative to that of the first lane: (1, lanes or 1).

    ``lowest`` and ``highest`` are the extreme ones. Equal patterns of a run are one object. ``content`` tells it from
    others of its type, also in other runs.
    """

    def __init__(self, relative: np.ndarray, content: bytes) -> None:
        self.relative = relative
        self.content = content
        self._signed = relative.view(f"i{relative.itemsize}")
        self.lowest, self.highest = int(self._signed.min()), int(self._signed.max())
        self._bits = int(np.bitwise_or.reduce(relative, axis=None))
        self._items: dict[int, tuple[np.ndarray, bool]] = {}

    def is_aligned(self, width: int) -> bool:
        """Whether all addresses are multiples of ``width`` if the first one is."""
        return not self._bits & (width - 1)

    def items(self, width: int) -> tuple[np.ndarray, bool]:
        """The relative addresses in items of ``width`` bytes, int64, and whether each is one more than the last."""
        found = self._items.get(width)
        if found is None:
            index = self._signed.astype(np.int64) // width
            found = self._items[width] = index, bool((np.diff(index[0]) == 1).all())
        return found


class Addresses:
    """The addresses of one access: ``first`` is that of the first lane. All of them lie in the range of their type.

    ``base`` is the array from which they were found. ``others``: (offset, width) -> what is known of the addresses
    ``offset`` bytes further on, or, with a ``width``, rounded down to a multiple of it.
    """

    __slots__ = ("_array", "_items", "_known", "base", "first", "highest", "lowest", "others", "pattern")

    def __init__(
        self,
        pattern: AddressPattern,
        first: int,
        array: np.ndarray | None,
        base: np.ndarray,
        known: dict[int, Addresses],
    ) -> None:
        self.pattern = pattern
        self.first = first
        self.lowest, self.highest = first + pattern.lowest, first + pattern.highest
        self.others: dict[tuple[int, int], Addresses | None] = {}
        self._array = array
        self.base = base
        self._known = known
        self._items: tuple[int, np.ndarray] = (0, base)

    @property
    def array(self) -> np.ndarray:
        """The addresses, (1, lanes or 1)."""
        if self._array is None:
            kind = self.base.dtype
            self._array = self.pattern.relative + kind.type(self.first)
            self._known[id(self._array)] = self
        return self._array

    def is_aligned(self, width: int) -> bool:
        """Whether all addresses are multiples of ``width``."""
        return not self.first & (width - 1) and self.pattern.is_aligned(width)

    def items(self, width: int) -> np.ndarray:
        """The aligned addresses in items of ``width`` bytes: (1, lanes or 1) int64."""
        if self._items[0] != width:
            self._items = width, self.pattern.items(width)[0] + self.first // width
        return self._items[1]

    def columns(self, width: int) -> slice | np.ndarray:
        """The same as a slice where they are neighbours in the order of the lanes, else as (lanes,) int64."""
        index, is_run = self.pattern.items(width)
        if is_run:
            first = self.first // width
            return slice(first, first + index.shape[1])
        return self.items(width)[0]


class KnownAddresses:
    """The addresses that one batch has met. They are found by the identity of their arrays, which are kept alive.

    Arrays with equal contents have one :class:`Addresses`, whose array stands for all of them.
    """

    def __init__(self) -> None:
        self._known: dict[int, Addresses] = {}
        self._patterns: dict[tuple[str, bytes], AddressPattern] = {}
        self._equal: dict[tuple[str, bytes], Addresses] = {}
        self._kept: list[np.ndarray] = []
        #: Bytes of all that is kept, and of the different contents among it.
        self._bytes = self._different_bytes = 0

    def of(self, address: Value) -> Addresses | None:
        """What is known of these addresses; None where blocks differ, or one address stands for all lanes."""
        found = self._known.get(id(address))
        if found is not None:
            return found
        if not isinstance(address, np.ndarray) or address.ndim != 2 or len(address) != 1:
            return None
        return self._learn(address)

    def at(self, address: Value, offset: int) -> Addresses | None:
        """The same of the addresses ``offset`` bytes further on."""
        known = self.of(address)
        if known is None or not offset:
            return known
        return self._move(known, offset)

    def aligned(self, known: Addresses, width: int) -> Addresses | None:
        """Each address rounded down to a multiple of ``width``; ``width`` is a power of two."""
        if known.is_aligned(width):
            return known
        if known.pattern.is_aligned(width):
            return self._move(known, -(known.first % width))
        key = 0, width
        if key not in known.others:
            known.others[key] = self._learn(known.array & ~known.array.dtype.type(width - 1))
        return known.others[key]

    def _learn(self, address: np.ndarray) -> Addresses | None:
        if len(self._known) >= _MOST_ARRAYS or self._bytes >= _MOST_BYTES:
            self._clear()
        content = address.dtype.char, address.tobytes()
        found = self._equal.get(content)
        if found is None:
            found = self._new(address)
            if found is None:
                return None
            self._equal[content] = found
            self._different_bytes += 2 * address.nbytes
        self._known[id(address)] = found
        self._kept.append(address)
        self._bytes += 2 * address.nbytes
        return found

    def _new(self, address: np.ndarray) -> Addresses | None:
        first = address[0, 0]
        relative = address - first
        content = address.dtype.char, relative.tobytes()
        pattern = self._patterns.get(content)
        if pattern is None:
            pattern = self._patterns[content] = AddressPattern(relative, content[1])
        if not _in_range(pattern, int(first), address.itemsize):
            return None
        return Addresses(pattern, int(first), address, address, self._known)

    def _clear(self) -> None:
        """Forget all arrays, and their contents, too, if most of them differ: else these come again in others."""
        self._known.clear()
        self._kept.clear()
        if 2 * len(self._equal) >= _MOST_ARRAYS or 2 * self._different_bytes >= _MOST_BYTES:
            self._equal.clear()
            self._patterns.clear()
            self._different_bytes = 0
        for one in self._equal.values():
            self._known[id(one.array)] = one
        self._bytes = self._different_bytes

    def _move(self, known: Addresses, offset: int) -> Addresses | None:
        key = offset, 0
        if key in known.others:
            return known.others[key]
        base = known.base
        first = known.first + offset & 256**base.itemsize - 1
        moved = None
        if _in_range(known.pattern, first, base.itemsize):
            moved = Addresses(known.pattern, first, None, base, self._known)
            self._bytes += 2 * base.nbytes
            self._different_bytes += 2 * base.nbytes
        known.others[key] = moved
        return moved


def _in_range(pattern: AddressPattern, first: int, itemsize: int) -> bool:
    """Whether the addresses are what the signed differences say, so that none has wrapped around."""
    return first + pattern.lowest >= 0 and first + pattern.highest < 256**itemsize
