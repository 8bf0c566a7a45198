"""Global, shared, local and generic memory beside plain bytes: random lanes, addresses and types, lane by lane."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import lanes_of
from softlab.emulator.memory.allocations import Allocations
from softlab.emulator.memory.block_memory import GenericMemory, LocalMemory, SharedMemory
from softlab.emulator.memory.elements import one_address
from softlab.emulator.memory.global_memory import GlobalMemory
from softlab.emulator.ptx.linker import LOCAL_WINDOW, PARAMETER_BASE, SHARED_WINDOW, WINDOW_BYTES
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site

BLOCKS, THREADS, NBYTES = 3, 96, 272
MOVE = Instruction("ld", ("b32",), ())


@pytest.fixture(autouse=True)
def wraps() -> Iterator[None]:
    """Addresses wrap around, as in a machine that runs."""
    with np.errstate(all="ignore"):
        yield


class Refused(Exception):
    """A fault: its kind, and which of the lanes are at fault."""


class Faults:
    """Instead of the reporter: the fault as it is."""

    def memory_fault(self, kind: str, lanes: Any, site: Site, bad: Any, address: Any) -> Exception:
        where = np.zeros((BLOCKS, THREADS), bool)
        where |= lanes.put(np.zeros((1, 1), bool), np.broadcast_to(np.asarray(bad), lanes.extent), False) & lanes.mask
        return Refused(kind, where)


@dataclass
class Told:
    """A listener: the addresses of each access, and what is stored."""

    accesses: list[tuple] = field(default_factory=list)

    def __call__(self, site: Site, lanes: Any, address: Any, values: tuple) -> None:
        whole = np.broadcast_to(lanes.put(np.zeros((1, 1), np.uint64), address, True), (BLOCKS, THREADS))
        self.accesses.append((site, whole[lanes.mask].tolist(), len(values)))


def masks(random: np.random.RandomState) -> np.ndarray:
    """All lanes, some rows, some columns, both, or any; at least one."""
    kind = random.randint(5)
    rows, columns = random.rand(BLOCKS, 1) < 0.6, random.rand(1, THREADS) < 0.6
    mask = [np.ones((BLOCKS, THREADS), bool), rows & np.ones((1, THREADS), bool), columns & np.ones((BLOCKS, 1), bool),
            rows & columns, random.rand(BLOCKS, THREADS) < 0.3][kind]  # fmt: skip
    mask = mask.copy()
    mask[random.randint(BLOCKS), random.randint(THREADS)] |= not mask.any()
    return mask


def addresses(random: np.random.RandomState, width: int, room: int) -> np.ndarray:
    """Multiples of the width: one for all, by thread, by block, side by side, or any; (1 or blocks, 1 or threads)."""
    most = room // width
    shape = [(1, 1), (1, THREADS), (BLOCKS, 1), (1, THREADS), (BLOCKS, THREADS)][kind := random.randint(5)]
    found = random.randint(0, most, shape)
    if kind == 3 and most >= THREADS:
        found = (np.arange(THREADS) + random.randint(0, most - THREADS + 1))[None]
    return (found * width).astype(np.uint64)


TYPES = [("u1", 1), ("u2", 1), ("f4", 1), ("u4", 2), ("u4", 4), ("f8", 1), ("u8", 2), ("u2", 4), ("u1", 4)]


class Owned:
    """Bytes of each owner, and which one a lane has."""

    def __init__(self, kind: str) -> None:
        self.told, self.kind = Told(), kind
        if kind == "shared":
            self.memory: Any = SharedMemory(BLOCKS, NBYTES, Faults(), self.told)
        else:
            self.memory = LocalMemory(BLOCKS, THREADS, NBYTES, Faults(), self.told)
        self.bytes = {owner: bytearray(NBYTES) for owner in range(len(self.memory.data))}

    def owner(self, row: int, column: int) -> int:
        return row if self.kind == "shared" else row * THREADS + column


@pytest.mark.parametrize("kind", ["shared", "local"])
def test_each_block_or_thread_has_memory_of_its_own(kind: str) -> None:
    random, owned = np.random.RandomState(3), Owned(kind)
    for turn in range(250):
        dtype, elements = TYPES[random.randint(len(TYPES))]
        offset, store = int(random.choice([0, 0, 16, 32])), bool(random.randint(2))
        site = Site(turn, MOVE, kind, np.dtype(dtype), elements, offset, store)
        mask, address = masks(random), addresses(random, site.width, NBYTES - 32)
        lanes = lanes_of(mask)
        whole = np.broadcast_to(address, (BLOCKS, THREADS))
        given = lanes.take(address) if address.size > 1 else address[0, 0]
        points = [(int(row), int(column)) for row, column in np.argwhere(mask)]
        before = owned.memory.writes
        if store:
            words = random.randint(0, 2**8, (elements, BLOCKS, THREADS)).astype(dtype)
            owned.memory.store(lanes, site, given, *(lanes.take(word) for word in words))
            for row, column in points:
                at = int(whole[row, column]) + offset
                data = b"".join(word[row, column].tobytes() for word in words)
                owned.bytes[owned.owner(row, column)][at : at + site.width] = data
        else:
            found = owned.memory.load(lanes, site, given)
            parts = [np.broadcast_to(lanes.put(np.zeros((1, 1), dtype), part, True), (BLOCKS, THREADS))
                     for part in (found if elements > 1 else (found,))]  # fmt: skip
            for row, column in points:
                at = int(whole[row, column]) + offset
                data = b"".join(part[row, column].tobytes() for part in parts)
                assert data == owned.bytes[owned.owner(row, column)][at : at + site.width], (turn, row, column)
        assert owned.memory.writes == before + store
        told, where, values = owned.told.accesses[-1]
        assert (told, values) == (site, elements if store else 0)
        assert where == [int(whole[point]) + offset for point in points]
    assert len(owned.told.accesses) == 250
    for owner, data in owned.bytes.items():
        assert owned.memory.data[owner, :NBYTES].tobytes() == bytes(data)
    owned.memory.clear()
    assert not owned.memory.data.any()


@pytest.mark.parametrize("kind", ["shared", "local"])
@pytest.mark.parametrize("alike", [True, False])
def test_accesses_beyond_or_between_items(kind: str, alike: bool) -> None:
    """The lanes at fault are those whose own bytes are beyond the end, or begin at no multiple of the width."""
    for width, base, offset in product((1, 2, 4, 8, 16), (236, 240, 241, 248, 252, 254, 255, 256, 300), (0, 4, 16)):
        owned = Owned(kind)
        dtype, elements = {1: ("u1", 1), 2: ("u2", 1), 4: ("u4", 1), 8: ("u4", 2), 16: ("u4", 4)}[width]
        site = Site(0, MOVE, kind, np.dtype(dtype), elements, offset)
        address = np.full((1, THREADS), 16, np.uint64) if not alike else np.full((1, 1), base, np.uint64)
        address[0, -1] = base
        mask = np.ones((BLOCKS, THREADS), bool)
        lanes = lanes_of(mask)
        given = address if address.size > 1 else address[0, 0]
        begin = np.broadcast_to(address.astype(int) + offset, mask.shape)
        beyond, between = begin + width > NBYTES, begin % width != 0
        if not beyond.any() and not between.any():
            owned.memory.load(lanes, site, given)
            continue
        with pytest.raises(Refused) as refused:
            owned.memory.load(lanes, site, given)
        name, bad = refused.value.args
        assert name == (f"{kind}-out-of-bounds" if beyond.any() else "misaligned"), (width, base, offset)
        assert np.array_equal(bad, beyond if beyond.any() else between)
        assert not owned.told.accesses


def test_items_of_atomics_are_those_of_the_lanes() -> None:
    random = np.random.RandomState(4)
    for kind in ("shared", "local"):
        owned = Owned(kind)
        owned.memory.data[...] = random.randint(0, 256, owned.memory.data.shape)
        for turn in range(40):
            site = Site(turn, MOVE, kind, np.dtype("u4"), 1, int(random.choice([0, 8])), True, "add")
            mask, address = masks(random), addresses(random, 4, NBYTES - 32)
            lanes, whole = lanes_of(mask), np.broadcast_to(address, (BLOCKS, THREADS))
            given = lanes.take(address) if address.size > 1 else address[0, 0]
            ((items, index, which),) = owned.memory.cells(lanes, site, given)
            wanted = [
                owned.memory.data[owned.owner(row, column), at : at + 4].view("u4")[0]
                for row, column in np.argwhere(mask).tolist() for at in [int(whole[row, column]) + site.offset]
            ]  # fmt: skip
            assert items[index][which].tolist() == wanted
            assert owned.memory.writes == 0, "the atomic itself counts"
            reach = owned.memory.reach(lanes, site, given)
            assert (reach.lowest, reach.highest, reach.offset) == (0, NBYTES - 4, site.offset)
            assert np.shares_memory(reach.memory, owned.memory.data)
            told = len(owned.told.accesses)
            reach.tell()
            assert owned.told.accesses[told] == owned.told.accesses[told - 1]
        tiny = SharedMemory(BLOCKS, 2, Faults())
        assert tiny.reach(lanes, site, given) is None


class Arrays:
    """Arrays in global memory, and their bytes by address."""

    def __init__(self) -> None:
        self.allocations, self.told = Allocations(), Told()
        random = np.random.RandomState(5)
        self.data = [random.randint(0, 256, size).astype(np.uint8) for size in (512, 96, 1024)]
        self.bases = [self.allocations.add(one, name=f"a{k}", index=k, itemsize=1) for k, one in enumerate(self.data)]
        self.bases = [getattr(base, "base", base) for base in self.bases]
        self.memory = GlobalMemory(self.allocations, Faults(), self.told)

    def at(self, address: int, width: int) -> np.ndarray | None:
        for base, data in zip(self.bases, self.data, strict=True):
            if base <= address and address + width <= base + len(data):
                return data[address - base : address - base + width]
        return None


@pytest.mark.parametrize("several", [False, True])
def test_global_memory_is_the_callers_arrays(several: bool) -> None:
    """All lanes in one array, or each in any."""
    random, arrays = np.random.RandomState(6), Arrays()
    for turn in range(200):
        dtype, elements = TYPES[random.randint(len(TYPES))]
        offset, store = int(random.choice([0, 0, 16, -16])), bool(random.randint(2))
        site = Site(turn, MOVE, "global", np.dtype(dtype), elements, offset, store)
        mask = masks(random)
        lanes, address = lanes_of(mask), addresses(random, site.width, 64)
        which = random.randint(0, 3, address.shape) if several else np.full(address.shape, random.randint(3))
        address = address + np.array(arrays.bases, np.uint64)[which] + np.uint64(16)
        whole = np.broadcast_to(address, (BLOCKS, THREADS))
        given = lanes.take(address) if address.size > 1 else address[0, 0]
        points, before = [(int(row), int(column)) for row, column in np.argwhere(mask)], arrays.memory.writes
        if store:
            words = random.randint(0, 2**8, (elements, BLOCKS, THREADS)).astype(dtype)
            before_them, writers = [data.copy() for data in arrays.data], {}
            arrays.memory.store(lanes, site, given, *(lanes.take(word) for word in words))
            for point in points:
                data = arrays.at(int(whole[point]) + offset, site.width)
                assert data is not None
                number = next(k for k, one in enumerate(arrays.data) if np.shares_memory(data, one))
                cell = number, int(whole[point]) + offset - arrays.bases[number]
                writers.setdefault(cell, []).append(b"".join(word[point].tobytes() for word in words))
            for (number, at), values in writers.items():  # of several lanes any may be the last
                stored = arrays.data[number][at : at + site.width]
                assert stored.tobytes() in values, turn
                before_them[number][at : at + site.width] = stored
            for data, right in zip(arrays.data, before_them, strict=True):
                assert np.array_equal(data, right), "what nobody stores to stays"
        else:
            found = arrays.memory.load(lanes, site, given)
            parts = [np.broadcast_to(lanes.put(np.zeros((1, 1), dtype), part, True), (BLOCKS, THREADS))
                     for part in (found if elements > 1 else (found,))]  # fmt: skip
            for row, column in points:
                data = arrays.at(int(whole[row, column]) + offset, site.width)
                assert data is not None
                assert b"".join(part[row, column].tobytes() for part in parts) == data.tobytes()
        assert arrays.memory.writes == before + store
        told, where, values = arrays.told.accesses[-1]
        assert (told, where) == (site, [int(whole[point]) + offset for point in points])
        assert values == (elements if store else 0)


@pytest.mark.parametrize("several", [False, True])
def test_global_accesses_outside_of_all_arrays(several: bool) -> None:
    mask = np.ones((BLOCKS, THREADS), bool)
    for width, end, offset in product((1, 4, 8, 16), (-17, -16, -8, -4, -1, 0, 4, 64), (0, 8)):
        arrays = Arrays()
        dtype, elements = {1: ("u1", 1), 4: ("u4", 1), 8: ("u4", 2), 16: ("u4", 4)}[width]
        site = Site(0, MOVE, "global", np.dtype(dtype), elements, offset)
        address = np.full((1, THREADS), arrays.bases[0], np.uint64)
        address[0, 1] = arrays.bases[1] if several else arrays.bases[0]
        address[0, 2] = arrays.bases[0] + len(arrays.data[0]) + end - offset
        begin = [int(one) + offset for one in address[0]]
        outside = np.array([arrays.at(one, width) is None for one in begin]) & mask
        between = np.array([one % width != 0 for one in begin]) & mask
        if not outside.any() and not between.any():
            arrays.memory.load(lanes_of(mask), site, address)
            continue
        with pytest.raises(Refused) as refused:
            arrays.memory.load(lanes_of(mask), site, address)
        name, bad = refused.value.args
        assert name == ("global-out-of-bounds" if outside.any() else "misaligned"), (width, end, offset)
        assert np.array_equal(bad, outside if outside.any() else between)


def test_bytes_of_arrays_in_one_piece() -> None:
    arrays = Arrays()
    for base, data in zip(arrays.bases, arrays.data, strict=True):
        for start, nbytes in product((-1, 0, 5, len(data) - 8, len(data) - 7, len(data)), (1, 8)):
            found = arrays.memory.span(base + start, nbytes, False)
            inside = start >= 0 and start + nbytes <= len(data)
            assert (found is not None) == inside
            if found is not None:
                assert np.array_equal(found, data[start : start + nbytes])
    assert arrays.memory.writes == 0
    assert arrays.memory.span(arrays.bases[0], 4, True) is not None
    assert arrays.memory.writes == 1
    assert arrays.memory.span(0, 4, False) is None


def test_generic_addresses_find_their_space() -> None:
    """Lane by lane: those in a window are shared or local, all others global."""
    random, arrays = np.random.RandomState(8), Arrays()
    shared, local = Owned("shared"), Owned("local")
    for owned in (shared, local):
        owned.memory.data[...] = random.randint(0, 256, owned.memory.data.shape)
    generic = GenericMemory(arrays.memory, shared.memory, local.memory)
    bases = np.array([SHARED_WINDOW, LOCAL_WINDOW, arrays.bases[0]], np.uint64)
    for turn in range(150):
        dtype, elements = TYPES[random.randint(len(TYPES))]
        offset, store = int(random.choice([0, 16])), bool(turn % 3 == 0)
        site = Site(turn, MOVE, "generic", np.dtype(dtype), elements, offset, store)
        mask, address = masks(random), addresses(random, site.width, 80)
        lanes = lanes_of(mask)
        kind = random.randint(0, 3, address.shape) if turn % 2 else np.full(address.shape, turn // 2 % 3)
        address = address + bases[kind]
        whole, kinds = (np.broadcast_to(one, (BLOCKS, THREADS)) for one in (address, kind))
        given = lanes.take(address) if address.size > 1 else address[0, 0]

        def there(row: int, column: int, whole: np.ndarray = whole, kinds: np.ndarray = kinds,
                  add: int = offset) -> tuple[np.ndarray, int]:  # fmt: skip
            number = int(kinds[row, column])
            at = int(whole[row, column]) + add - int(bases[number])
            owned = (shared, local)[number] if number < 2 else None
            return (owned.memory.data[owned.owner(row, column)] if owned else arrays.data[0]), at

        points = [(int(row), int(column)) for row, column in np.argwhere(mask)]
        if store:
            words = random.randint(0, 2**8, (elements, BLOCKS, THREADS)).astype(dtype)
            last: dict[tuple[int, int], bytes] = {}
            for point in points:
                data, at = there(*point)
                last[data.ctypes.data, at] = b"".join(word[point].tobytes() for word in words)
            generic.store(lanes, site, given, *(lanes.take(word) for word in words))
            for point in points:
                data, at = there(*point)
                assert data[at : at + site.width].tobytes() == last[data.ctypes.data, at], (turn, point)
            continue
        found = generic.load(lanes, site, given)
        parts = [np.broadcast_to(lanes.put(np.zeros((1, 1), dtype), part, True), (BLOCKS, THREADS))
                 for part in (found if elements > 1 else (found,))]  # fmt: skip
        for point in points:
            data, at = there(*point)
            assert b"".join(part[point].tobytes() for part in parts) == data[at : at + site.width].tobytes(), (
                turn,
                point,
            )
        for number, name in enumerate(("shared", "local", "global")):
            inside = np.broadcast_to(generic.space_of(whole, name), whole.shape)
            assert np.array_equal(inside, kinds == number)


def test_the_windows_of_generic_addresses() -> None:
    arrays = Arrays()
    generic = GenericMemory(arrays.memory, Owned("shared").memory, Owned("local").memory)
    for name, base in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW)):
        points = np.array([base - 1, base, base + (1 << 24) - 1, base + (1 << 24)], np.uint64)
        inside = generic.space_of(points, name)
        assert inside.tolist()[:3] == [False, True, True]
        assert not generic.space_of(points, "global")[1:3].any()


def test_where_atomics_at_generic_addresses_reach() -> None:
    """The first lane's address says where: in its window, in an array, or nowhere that compiled code may go."""
    arrays = Arrays()
    shared, local = Owned("shared"), Owned("local")
    generic = GenericMemory(arrays.memory, shared.memory, local.memory)
    lanes = lanes_of(np.ones((BLOCKS, THREADS), bool))
    ends = [(name, base, last) for name, base in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW),
                                                  ("const", PARAMETER_BASE), ("global", arrays.bases[0]))
            for last in (WINDOW_BYTES if name != "global" else len(arrays.data[0]),)]  # fmt: skip
    for (name, base, size), offset in product(ends, (0, 8, -8)):
        site = Site(0, MOVE, "generic", np.dtype("u4"), 1, offset, True, "add.u32")
        for at in (-4, 0, 4, size - 4, size):
            target, inside = base + at, 0 <= at < size
            found = generic.reach(lanes, site, np.uint64(target - offset))
            if inside and name in ("local", "const"):
                assert found is None
            elif inside and name == "shared":
                assert found is not None
                assert np.shares_memory(found.memory, shared.memory.data)
                assert (int(found.address) + found.offset) % 2**64 == at
            elif inside:
                assert found is not None
                assert np.shares_memory(found.memory, arrays.data[0])
                index = (int(found.address) + found.offset) % 2**64
                assert np.shares_memory(found.memory.reshape(-1)[index : index + 4], arrays.data[0][at : at + 4])
                assert (found.lowest, found.highest) == (index - at, index - at + size - 4)
            else:
                assert found is None or not np.shares_memory(found.memory, shared.memory.data)


def test_one_address_of_all_lanes_is_a_scalar() -> None:
    """Where all lanes of a table of addresses have one; else the table stays as it is."""
    for shape in ((1, 1), (2, 1), (1, 3), (2, 96)):
        alike = np.full(shape, 77, np.uint64)
        found = one_address(alike)
        assert not isinstance(found, np.ndarray)
        assert found == 77
        for at in (0, -1, alike.size // 2):
            for other in (76, 78):
                some = alike.copy()
                some.flat[at] = other
                assert (one_address(some) is some) == (alike.size > 1)
    scalar = np.uint64(5)
    assert one_address(scalar) is scalar
