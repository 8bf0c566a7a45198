"""The functions that compiled loops of several blocks call, each beside the same in Python."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import WARP
from softlab.emulator.machine.native import available, compiled_function
from softlab.emulator.machine.native_region_parts import ALLOCATION_WORDS, ROW_WORDS, Parts, Turns, Word

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not installed")


class Part(Parts):
    """One of the functions, called with integers: numbers, and the addresses of arrays."""

    def __init__(self, name: str) -> None:
        super().__init__()
        part = getattr(self, name)
        function, b = self._function("loop", self._size, [self._size.as_pointer()], internal=False)
        given = [self._word_at(b, function.args[0], self._size(k)) for k in range(len(part.args))]
        values = [b.inttoptr(value, to.type) if to.type.is_pointer else value
                  for value, to in zip(given, part.args, strict=True)]  # fmt: skip
        b.ret(b.call(part, values))
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
        self._called = kind(compiled_function(str(self._module)))

    def __call__(self, *given: int | np.ndarray) -> int:
        values = np.array([one.ctypes.data if isinstance(one, np.ndarray) else one for one in given], np.int64)
        return int(self._called(values.ctypes.data))


def words(**given: int) -> np.ndarray:
    """The words that a function is given: 7 wherever nothing else is asked for."""
    found = np.full(len(Word), 7, np.int64)
    for name, value in given.items():
        found[Word[name]] = value
    return found


def test_bytes_are_found_in_the_allocation_that_has_all_of_them() -> None:
    """Whichever was found last; only aligned ones; it says which one has them."""
    find = Part("_find")
    table = np.array([[4096, 64, 10_000], [8192, 4, 20_000], [1 << 40, 16, 1 << 41], [4160, 0, 30_000]], np.int64)
    for count in range(len(table) + 1):
        for last in range(max(1, count)):
            for width in (1, 2, 4, 8, 16):
                for base, nbytes, _ in table.tolist():
                    for address in (*range(base - 2, base + 3), *range(base + nbytes - 17, base + nbytes + 2)):
                        here = words(TABLE=table.ctypes.data, ALLOCATIONS=count, LAST=last)
                        aligned, end = address % width == 0, address + width
                        has = [k for k, (first, size, _) in enumerate(table[:count].tolist())
                               if aligned and first <= address and end <= first + size]  # fmt: skip
                        found = find(address, width, here)
                        assert found == (table[has[0], 2] + address - table[has[0], 0] if has else 0)
                        expected = words(TABLE=table.ctypes.data, ALLOCATIONS=count, LAST=has[0] if has else last)
                        assert here.tolist() == expected.tolist()
    assert table.shape[1] == ALLOCATION_WORDS


def test_different_values_are_counted() -> None:
    distinct, random = Part("_distinct"), np.random.default_rng(0)
    for count in (0, 1, 2, 3, 5, 8, WARP):
        for most in (1, 2, 4, 50):
            for _ in range(5):
                values = random.integers(0, most, WARP)
                before = values.copy()
                assert distinct(values, count) == len(set(values[:count].tolist()))
                assert values.tolist() == before.tolist()


def test_words_are_copied_and_compared() -> None:
    copy, same = Part("_copy"), Part("_same")
    for count in (0, 1, 2, 5):
        to, taken = np.full(6, -1, np.int64), np.arange(10, 16)
        assert copy(to, taken, count) == 1
        assert to.tolist() == [*range(10, 10 + count), *[-1] * (6 - count)]
        assert taken.tolist() == list(range(10, 16))
        for place in range(6):
            other = taken.copy()
            other[place] -= 100
            assert same(taken, other, count) == (place >= count)


def test_warps_are_counted_by_where_their_lanes_go() -> None:
    """Of a warp: whether any lane is here, any goes, any stays. It says how many go."""
    count = Part("_count")
    counts = np.array([5, 6, 7, 8])
    expected = counts.tolist()
    for here, taken in ((0, 0), (1, 0), (1, 1), (0b1101, 0b101), (0xFFFFFFFF, 0xFFFFFFFF), (1 << 31, 0), (6, 2)):
        assert count(counts, here, taken) == taken.bit_count()
        for place, mask in enumerate((here, taken, here & ~taken)):
            expected[place] += mask != 0
        assert counts.tolist() == expected


class Note:
    """A load of a warp that is told of, by the function and by a loop over its lanes."""

    def __init__(self) -> None:
        self.note = Part("_note")
        self.log = np.full((4, ROW_WORDS), -9, np.int64)
        self.recorded = np.array([1, 0, 1], np.uint8)

    def __call__(self, told: Sequence[int], warp: int, bits: int, rows: int, records: int) -> None:
        lanes = [lane for lane in range(WARP) if bits >> lane & 1]
        of_lanes = np.random.default_rng(bits).integers(0, 300, WARP) + (1 << 33)
        given = {"LOG": self.log.ctypes.data, "ROWS": rows, "RECORDS": records, "RECORDED": self.recorded.ctypes.data}
        here, count, addresses = words(**given), np.array([11]), of_lanes.copy()
        expected = self.log.copy()
        is_told, mask = told
        wanted = bool(is_told and records and self.recorded[warp])
        if wanted:
            expected[rows, :4] = 70, 60, warp, bits
            for lane, address in zip(lanes, of_lanes.tolist(), strict=False):
                expected[rows, 4 + lane] = address & mask
        assert self.note(here, count, np.array(told), addresses, warp, bits, len(lanes), 60, 70) == 0
        assert self.log.tolist() == expected.tolist()
        assert here.tolist() == words(**given | {"ROWS": rows + wanted}).tolist()
        sectors = {address >> 5 for address in of_lanes[: len(lanes)].tolist()} if is_told else set()
        assert count.tolist() == [11 + len(sectors)]


def test_loads_are_noted() -> None:
    note = Note()
    for told in ((0, -1), (1, -1), (1, ~3)):
        for warp in range(3):
            for bits in (0, 1, 0b1011, 1 << 31, 0xFFFF0000, 0xFFFFFFFF):
                for rows, records in ((0, 1), (2, 1), (3, 0)):
                    note(told, warp, bits, rows, records)


def test_loops_within_loops() -> None:
    """None runs for a count of 0 or less; the number of the turn goes from 0 on."""

    class Nested(Parts):
        def text(self) -> str:
            function, b = self._function("loop", self._size, [self._size, self._size.as_pointer()], internal=False)
            outer, sums = function.args
            with Turns(b, self._size, "outer", outer) as i, Turns(b, self._size, "inner", i) as j:
                self._add(b, sums, 0, b.add(b.mul(i, self._size(100)), j))
                self._add(b, sums, 1, self._size(1))
            b.ret(self._size(0))
            return str(self._module)

    kind: Any = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
    run = kind(compiled_function(Nested().text()))
    for count in (-3, 0, 1, 2, 5):
        sums = np.zeros(2, np.int64)
        run(count, sums.ctypes.data)
        pairs = [(i, j) for i in range(count) for j in range(i)]
        assert sums.tolist() == [sum(100 * i + j for i, j in pairs), len(pairs)]
