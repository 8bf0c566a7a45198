"""Asynchronous copies beside plain bytes: what each lane has begun, and what has ended where it waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Lanes, lanes_of
from softlab.emulator.memory.allocations import Allocations
from softlab.emulator.memory.block_memory import SharedMemory
from softlab.emulator.memory.bulk_copies import BulkCopies, BulkSites
from softlab.emulator.memory.clusters import ClusterMemory, mapped_shared
from softlab.emulator.memory.copies import Copies, Copy, CopySites
from softlab.emulator.memory.global_memory import GlobalMemory
from softlab.emulator.memory.mbarriers import Mbarriers
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import InstructionSite, Site
from tests.sampled import turns

ROWS, THREADS, SIZE, NBYTES, LENGTH = 6, 96, 3, 1024, 2048
#: The last bytes of shared memory hold two mbarriers.
BARS = (NBYTES - 16, NBYTES - 8)
MOST = NBYTES - 16
COPY = Instruction("cp", ("async",), ())


@pytest.fixture(autouse=True)
def wraps() -> Iterator[None]:
    """Addresses wrap around, as in a machine that runs."""
    with np.errstate(all="ignore"):
        yield


class Fault(Exception):
    """Its kind, the words, the lanes at fault, the address."""


class Host:
    """A batch that runs, and its reporter."""

    def __init__(self, memory: Allocations) -> None:
        self.faults, self._memory = self, memory

    def ended_rows(self) -> None:
        return None

    def fault(self, kind: str, sentence: str, instruction: Any, lanes: Lanes, bad: Any, address: Any = None,
              argument: Any = None) -> Fault:  # fmt: skip
        return Fault(kind, sentence, np.broadcast_to(bad, lanes.extent), address)

    def located(self, address: int) -> tuple[int, int | None]:
        near = self._memory.nearest(address)
        return (address, None) if near is None else (address - near.base, near.index)

    def memory_fault(self, kind: str, lanes: Lanes, site: Site, bad: Any, address: Any) -> Fault:
        return Fault(kind, "", np.broadcast_to(bad, lanes.extent), None)

    def cluster_fault(self, reason: str, lanes: Lanes, site: Any, bad: Any, offset: Any, rows: Any) -> Fault:
        return Fault(reason, "", np.broadcast_to(bad, lanes.extent), None)


class Batch:
    """The memory of a batch, its copies, and what they tell."""

    def __init__(self, seed: int, watched: bool = True) -> None:
        self.random = np.random.default_rng(seed)
        self.memory, self.array = Allocations(), self.random.integers(0, 256, LENGTH).astype(np.uint8)
        self.base = self.memory.add(self.array, name="x", index=0, itemsize=1)
        host: Any = Host(self.memory)
        self.shared = SharedMemory(ROWS, NBYTES, host)
        self.cluster = ClusterMemory(host, self.shared, SIZE)
        self.mbarriers = Mbarriers(host, self.cluster, ROWS)
        global_ = GlobalMemory(self.memory, host, None, self.shared.known)
        self.told: list[tuple[str, Copy]] = []
        self.begun: list[tuple[Copy, Lanes]] = []
        listeners = {
            "on_begin": lambda copy, lanes: self.begun.append((copy, lanes)),
            "on_end": lambda copy: self.told.append(("end", copy)),
            "on_written": lambda copy: self.told.append(("written", copy)),
        } if watched else {}  # fmt: skip
        self.copies = Copies(host, global_, self.shared, self.mbarriers, ROWS * THREADS, **listeners)  # type: ignore[arg-type]
        self.bulk = BulkCopies(host, global_, self.shared, self.cluster, self.mbarriers, self.copies, ROWS * THREADS)
        self.shared.data[:] = self.random.integers(0, 256, (ROWS, NBYTES))
        self.plain = self.shared.data.copy()

    def init(self, nbytes: int = 0) -> None:
        """An mbarrier in each block that waits for one thread, and for bytes."""
        ones = some([(row, 0) for row in range(ROWS)])
        for bar in BARS:
            self.mbarriers.init(ones, bar_site(), np.uint64(bar), np.uint32(1))
            if nbytes:
                self.mbarriers.expect(ones, bar_site(), np.uint64(bar), np.uint32(nbytes))

    def key(self, row: int, bar: int) -> tuple[int, int]:
        return row, self.mbarriers.column(bar)

    def check(self) -> None:
        np.testing.assert_array_equal(self.shared.data[:, :MOST], self.plain[:, :MOST])


def some(threads: Any) -> Lanes:
    mask = np.zeros((ROWS, THREADS), bool)
    for row, column in threads:
        mask[row, column] = True
    return lanes_of(mask)


def any_lanes(random: np.random.Generator, share: float = 0.3) -> Lanes:
    mask = (random.random((ROWS, 1)) < 0.7) & (random.random(THREADS) < share)
    if random.random() < 0.4:
        mask &= random.random(mask.shape) < 0.7
    mask[random.integers(ROWS), random.integers(THREADS)] = True
    return lanes_of(mask)


def threads_of(lanes: Lanes, *values: Any) -> Iterator[tuple[int, ...]]:
    """(row, column, its values...) of each lane."""
    flat = [np.broadcast_to(np.asarray(value), lanes.extent).reshape(-1).tolist() for value in values]
    for number, (row, column) in enumerate(np.argwhere(lanes.mask).tolist()):
        yield row, column, *(one[number] for one in flat)


def bar_site() -> Site:
    return Site(0, COPY, "cluster", np.dtype("u8"), store=True, operation="mbarrier")


def ends(space: str, out: str, **more: Any) -> BulkSites:
    """The sites of a bulk copy, each of one byte; constant offsets of 16 and 32 bytes."""
    into = Site(1, COPY, space, np.dtype("u1"), store=True, offset=16)
    return BulkSites(into, Site(1, COPY, out, np.dtype("u1"), offset=32), bar_site(), **more)


@dataclass
class Begun:
    """What a lane has begun: its group, where the bytes go, the bytes."""

    lane: tuple[int, int]
    group: int
    offset: int
    data: bytes


@pytest.mark.parametrize("seed", range(8))
def test_fetches_end_with_the_groups_of_their_threads(seed: int) -> None:
    """``cp.async``: the bytes are read at once and written where the thread waits; zeros behind a shorter source."""
    batch = Batch(seed)
    random, group, left = batch.random, np.zeros((ROWS, THREADS), int), list[Begun]()
    for turn in range(60):
        lanes, what = any_lanes(random), turn % 4
        if what < 2:
            width = int(random.choice([4, 8, 16]))
            into, out = (random.integers(0, count // width, lanes.extent) * width for count in (MOST, LENGTH))
            sized = str(random.choice(["", "size", "ignore"]))
            size = {"": None, "size": random.integers(0, width + 1, lanes.extent).astype("u4"),
                    "ignore": random.random(lanes.extent) < 0.5}[sized]  # fmt: skip
            read = {"": width, "size": size, "ignore": np.where(size if size is not None else 0, 0, width)}[sized]
            item = np.dtype(f"u{width}" if width < 16 else "c16")
            sites = CopySites(Site(1, COPY, "shared", item, store=True), Site(1, COPY, "global", item), sized)
            batch.copies.fetch(lanes, sites, into.astype("u8"), (out + batch.base).astype("u8"), size)
            for row, column, offset, source, nbytes in threads_of(lanes, into, out, read):
                data = bytes(batch.array[source : source + nbytes]).ljust(width, b"\0")
                left.append(Begun((row, column), group[row, column], offset, data))
        elif what == 2:
            batch.copies.commit(lanes, InstructionSite(0, COPY))
            group[lanes.mask] += 1
        else:
            newest = None if random.random() < 0.3 else int(random.integers(3))
            batch.copies.wait(lanes, InstructionSite(0, COPY), None if newest is None else np.uint32(newest))
            rest = []
            for one in left:
                row, column = one.lane
                if lanes.mask[row, column] and (newest is None or one.group <= group[row, column] - 1 - newest):
                    batch.plain[row, one.offset : one.offset + len(one.data)] = list(one.data)
                else:
                    rest.append(one)
            left = rest
            group[lanes.mask] += newest is None
        batch.check()
    assert sum(len(copy.lane) for _, copy in batch.told) + len(left) == sum(len(c.lane) for c, _ in batch.begun)


def test_a_source_of_more_bytes_than_the_copy_has() -> None:
    batch = Batch(0)
    sites = CopySites(
        Site(1, COPY, "shared", np.dtype("u4"), store=True), Site(1, COPY, "global", np.dtype("u4")), "size"
    )
    lanes = some([(0, 1), (0, 2)])
    with pytest.raises(Fault) as fault:
        batch.copies.fetch(lanes, sites, np.uint64(0), np.uint64(batch.base), np.array([[4, 5]], np.uint32))
    kind, sentence, bad, _ = fault.value.args
    assert (kind, bad.tolist()) == ("shared-out-of-bounds", [[False, True]])
    assert sentence.startswith("the thread copies more than the 4 bytes of its cp.async")


@pytest.mark.parametrize(("watched", "seed"), turns(2, [False, True], range(10)))
def test_bulk_copies_into_shared_memory(seed: int, watched: bool) -> None:
    """Nothing is there before somebody asks the mbarrier; then all of its copies are, in their order."""
    batch = Batch(seed, watched)
    random, expected = batch.random, {(row, bar): 10**6 for row in range(ROWS) for bar in BARS}
    batch.init(10**6)
    waiting: dict[tuple[int, int], list[tuple[int, int, bytes]]] = {key: [] for key in expected}
    for _ in range(12):
        lanes = any_lanes(random, 0.1)
        sizes = random.choice([16, 32, 48, 272] if random.random() < 0.5 else [16], lanes.extent)
        into = random.integers(0, (MOST - 272) // 16, lanes.extent) * 16
        if random.random() < 0.5 and lanes.count < 50:
            into = np.arange(lanes.count).reshape(lanes.extent) * 16
            sizes = np.full(lanes.extent, 16)
        out, bar = random.integers(2, (LENGTH - 272) // 16, lanes.extent) * 16, random.choice(BARS, lanes.extent)
        rank = random.integers(0, SIZE, lanes.extent) if random.random() < 0.3 else None
        target, at = into.astype("u8"), bar.astype("u8")
        if rank is not None:
            target, at = (mapped_shared(one, rank.astype("u4")) for one in (target, at))
        batch.bulk.load(lanes, ends("cluster", "global"), target, (out + batch.base - 32).astype("u8"),
                        sizes.astype("u4"), at)  # fmt: skip
        for row, _, offset, source, nbytes, to, there in threads_of(
            lanes, into, out, sizes, bar, 0 if rank is None else rank
        ):
            block = row if rank is None else row // SIZE * SIZE + there
            waiting[block, to].append((offset + 16, nbytes, bytes(batch.array[source : source + nbytes])))
        batch.check()
        asked = random.choice(len(waiting), 3, replace=False)
        for key in [list(waiting)[number] for number in asked]:
            batch.copies.finish(batch.key(*key))
            for offset, nbytes, data in waiting[key]:
                batch.plain[key[0], offset : offset + nbytes] = list(data)
                expected[key] -= nbytes
            waiting[key] = []
        batch.check()
        for key, nbytes in expected.items():
            assert batch.mbarriers.missing_bytes(batch.key(*key)) == nbytes
    left = sum(nbytes for copies in waiting.values() for _, nbytes, _ in copies)
    assert sum(copy.nbytes * len(copy.lane) for copy in batch.bulk.unfinished()) == left
    if watched:
        ended = sum(copy.nbytes * len(copy.lane) for _, copy in batch.told)
        assert ended == len(expected) * 10**6 - sum(expected.values())
        assert sum(copy.nbytes * len(copy.lane) for copy, _ in batch.begun) == ended + left
        for copy, lanes in batch.begun:
            assert lanes.mask.reshape(-1)[copy.lane].all()
            assert lanes.count == len(copy.lane), "the lanes of the copy alone"


def test_a_phase_ends_with_the_bytes_that_it_expects() -> None:
    """Copies that begin together end one after the other, until the phase is over; the others wait for the next."""
    batch = Batch(3)
    batch.init()
    lanes, bar = some([(0, column) for column in range(5)]), BARS[0]
    ones = some([(0, 0)])
    batch.mbarriers.expect(ones, bar_site(), np.uint64(bar), np.uint32(48))
    batch.mbarriers.arrive(ones, bar_site(), np.uint64(bar), np.uint32(1), np.uint32(0))
    into = np.arange(5, dtype="u8")[None] * np.uint64(16)
    batch.bulk.load(lanes, ends("cluster", "global"), into, into + np.uint64(batch.base), np.uint32(16), np.uint64(bar))
    batch.copies.finish(batch.key(0, bar))
    batch.plain[0, 16 : 16 + 48] = batch.array[32 : 32 + 48]
    batch.check()
    assert batch.mbarriers.phase(batch.key(0, bar)) == 1
    assert [copy.lane.tolist() for _, copy in batch.told] == [[0, 1, 2]]
    assert [copy.lane.tolist() for copy in batch.bulk.unfinished()] == [[3, 4]]
    batch.mbarriers.expect(ones, bar_site(), np.uint64(bar), np.uint32(32))
    batch.mbarriers.arrive(ones, bar_site(), np.uint64(bar), np.uint32(1), np.uint32(0))
    batch.copies.finish(batch.key(0, bar))
    batch.plain[0, 64 : 64 + 32] = batch.array[80 : 80 + 32]
    batch.check()
    assert batch.mbarriers.phase(batch.key(0, bar)) == 2


@pytest.mark.parametrize("ranks", [0b001, 0b010, 0b100, 0b101, 0b111])
def test_a_multicast_goes_to_each_block_that_it_names(ranks: int) -> None:
    batch = Batch(4)
    batch.init(1000)
    source = np.uint64(batch.base + 64)
    batch.bulk.load(some([(SIZE + 1, 7)]), ends("cluster", "global", multicast=True), np.uint64(48), source,
                    np.uint32(32), np.uint64(BARS[1]), np.uint32(ranks))  # fmt: skip
    for row in range(SIZE, 2 * SIZE):
        batch.copies.finish(batch.key(row, BARS[1]))
        if ranks >> (row - SIZE) & 1:
            batch.plain[row, 64:96] = batch.array[96:128]
        assert batch.mbarriers.missing_bytes(batch.key(row, BARS[1])) == (968 if ranks >> (row - SIZE) & 1 else 1000)
    batch.check()
    read = [copy.pieces for copy, _ in batch.begun]
    assert [piece is not None for piece in read] == [True] + [False] * (len(read) - 1), "global memory is read once"


def test_from_shared_memory_to_that_of_another_block() -> None:
    """Each end is told, the one that is read first."""
    batch = Batch(5)
    batch.init(1000)
    target, bar = (mapped_shared(np.uint64(one), np.uint32(1)) for one in (128, BARS[0]))
    batch.bulk.load(some([(0, 9)]), ends("cluster", "shared"), target, np.uint64(256), np.uint32(64), bar)
    batch.check()
    batch.copies.finish(batch.key(1, BARS[0]))
    batch.plain[1, 144:208] = batch.plain[0, 288:352]
    batch.check()
    described = [(copy.writes, int(copy.owner[0]), int(copy.offset[0]), copy.nbytes, copy.bound) for _, copy in
                 batch.told]  # fmt: skip
    assert described == [(False, 0, 288, 64, (1, BARS[0])), (True, 1, 144, 64, (1, BARS[0]))]
    assert [copy.writes for copy, _ in batch.begun] == [False, True]


@pytest.mark.parametrize("seed", range(6))
def test_bulk_copies_out_of_shared_memory(seed: int) -> None:
    """The bytes are read where the thread waits for its groups; with ``.read`` they may not have arrived then."""
    batch = Batch(seed)
    random, group, plain = batch.random, np.zeros((ROWS, THREADS), int), batch.array.copy()
    left, writing, written = list[tuple[tuple[int, int], int, int, int, int]](), [], []
    for turn in range(40):
        lanes, what = any_lanes(random, 0.05), turn % 3
        if what == 0:
            nbytes = random.choice([16, 32, 64], lanes.extent)
            source, out = random.integers(2, (MOST - 64) // 16, lanes.extent) * 16, random.integers(
                1, (LENGTH - 64) // 16, lanes.extent) * 16  # fmt: skip
            batch.bulk.store(lanes, ends("global", "shared"), (out + batch.base - 16).astype("u8"),
                             (source - 32).astype("u4"), nbytes.astype("u4"))  # fmt: skip
            left += [((row, column), group[row, column], to, at, count)
                     for row, column, to, at, count in threads_of(lanes, out, source, nbytes)]  # fmt: skip
            batch.shared.data[:, :MOST] = batch.plain[:, :MOST] = random.integers(0, 256, (ROWS, MOST))
        elif what == 1:
            batch.bulk.commit(lanes, InstructionSite(0, COPY))
            group[lanes.mask] += 1
        else:
            newest, read = int(random.integers(2)), bool(random.random() < 0.5)
            wait = InstructionSite(0, Instruction("cp", ("async", *(("read",) if read else ())), ()))
            batch.bulk.wait(lanes, wait, np.uint32(newest))

            def waited(one: tuple, limit: int = newest, here: np.ndarray = lanes.mask) -> bool:
                return bool(here[one[0]]) and one[1] <= group[one[0]] - 1 - limit

            for one in filter(waited, left):
                (row, _), _, to, at, count = one
                plain[to : to + count] = batch.plain[row, at : at + count]
                writing.append(one)
            left = [one for one in left if not waited(one)]
            if not read:
                written += [one for one in writing if waited(one)]
                writing = [one for one in writing if not waited(one)]
        np.testing.assert_array_equal(batch.array, plain)
        for kind, of in (("written", written), ("end", [*writing, *written])):
            lanes_told = sorted(int(copy.lane[0]) for word, copy in batch.told if word == kind)
            assert lanes_told == sorted(row * THREADS + column for (row, column), *_ in of)
    assert [int(copy.lane[0]) for copy in batch.bulk.unfinished()] == [r * THREADS + c for (r, c), *_ in left]
    batch.bulk.done()
    for (row, _), _, to, at, count in left:
        plain[to : to + count] = batch.plain[row, at : at + count]
    np.testing.assert_array_equal(batch.array, plain)
    assert batch.bulk.unfinished() == []


@pytest.mark.parametrize("operation", ["", "add"])
@pytest.mark.parametrize("seed", range(4))
def test_stores_into_another_block(seed: int, operation: str) -> None:
    """``st.async`` and ``red.async``: they are there where the mbarrier of that block is asked."""
    batch = Batch(seed)
    batch.init(10**6)
    random, kind = batch.random, "u4"
    into = Site(
        1, COPY, "cluster", np.dtype(kind), store=not operation, operation=f"{operation}.u32" if operation else ""
    )
    lanes = any_lanes(random)
    at, rank = random.permutation(lanes.count).reshape(lanes.extent) * 4 % MOST, random.integers(0, SIZE, lanes.extent)
    values, bar = random.integers(0, 1 << 31, lanes.extent).astype("u4"), random.choice(BARS, lanes.extent)
    target, to = (mapped_shared(one.astype("u8"), rank.astype("u4")) for one in (at, bar))
    sites = BulkSites(into, into, bar_site())
    batch.bulk.send(lanes, sites, target, to, values)
    batch.check()
    missing = {(row, one): 10**6 for row in range(ROWS) for one in BARS}
    for row, _, offset, where, there, value in threads_of(lanes, at, rank, bar, values):
        block = row // SIZE * SIZE + where
        view = batch.plain[block].view("u4")
        view[offset // 4] = view[offset // 4] + np.uint32(value) if operation else value
        missing[block, there] -= 4
    for key, nbytes in missing.items():
        batch.copies.finish(batch.key(*key))
        assert batch.mbarriers.missing_bytes(batch.key(*key)) == nbytes
    batch.check()


def test_a_copy_to_one_block_and_an_mbarrier_of_another() -> None:
    batch = Batch(6)
    batch.init(1000)
    other = mapped_shared(np.uint64(BARS[0]), np.uint32(1))
    with pytest.raises(Fault, match="goes to one block and names an mbarrier of another") as fault:
        batch.bulk.load(
            some([(0, 9)]), ends("cluster", "global"), np.uint64(0), np.uint64(batch.base), np.uint32(16), other
        )
    assert fault.value.args[0] == "mbarrier-misuse"
    assert fault.value.args[3] == BARS[0]
    into = Site(1, COPY, "cluster", np.dtype("u4"), store=True)
    lanes = some([(0, 9), (0, 10)])
    target = mapped_shared(np.array([[0, 4]], "u8"), np.array([[1, 0]], "u4"))
    with pytest.raises(Fault, match="goes to one block and names an mbarrier of another") as fault:
        batch.bulk.send(lanes, BulkSites(into, into, bar_site()), target, np.uint64(BARS[0]), np.uint32(1))
    assert fault.value.args[2].tolist() == [[True, False]]


@pytest.mark.parametrize(
    ("target", "source", "nbytes", "words"),
    [(24, 0, 16, "goes to byte 24"), (32, 8, 16, "comes from byte 8"), (32, 16, 24, "has a size of 24 bytes")],
)
def test_what_is_no_multiple_of_sixteen(target: int, source: int, nbytes: int, words: str) -> None:
    batch = Batch(7)
    batch.init(1000)
    with pytest.raises(Fault, match=words) as fault:
        batch.bulk.store(some([(0, 9)]), ends("global", "shared"), np.uint64(batch.base + target - 16),
                         np.uint32(source - 32 & (1 << 32) - 1), np.uint32(nbytes))  # fmt: skip
    assert fault.value.args[0] == "misaligned"


@pytest.mark.parametrize("count", [1, 3])
def test_addresses_of_32_bits_wrap_around(count: int) -> None:
    """As they do in loads and stores: a register may hold what lies before the start of shared memory."""
    batch, lanes = Batch(9), some([(row, 9) for row in range(count)])
    batch.mbarriers.init(lanes, bar_site(), np.uint64(0), np.uint32(1))
    both = ends("cluster", "global")
    bar_before = BulkSites(both.into, both.out_of, bar_site().moved(24))
    below = np.uint32((1 << 32) - 16), np.uint64(batch.base - 32), np.uint32(16), np.uint32((1 << 32) - 24)
    batch.bulk.load(lanes, bar_before, *below)
    for row in range(count):
        batch.copies.finish(batch.key(row, 0))
        batch.plain[row, :16] = batch.array[:16]
    batch.check()
    batch.bulk.store(
        lanes, ends("global", "shared"), np.uint64(batch.base + 48), np.uint32((1 << 32) - 32), np.uint32(16)
    )
    batch.bulk.done()
    assert batch.array[64:80].tobytes() == batch.array[:16].tobytes()


@pytest.mark.parametrize("count", [1, 3])
def test_copies_at_the_ends_of_arrays_and_of_shared_memory(count: int) -> None:
    """The last bytes may be copied, and none behind them; the same for lanes that begin together."""
    lanes = some([(row, 9) for row in range(count)])
    for into, out, kind in (
        (NBYTES - 32, LENGTH - 32, ""),
        (NBYTES - 16, 0, "shared-out-of-bounds"),
        (0, LENGTH - 16, "global-out-of-bounds"),
        (0, -16, "global-out-of-bounds"),
        (0, 0, ""),
    ):
        batch = Batch(8)
        batch.mbarriers.init(lanes, bar_site(), np.uint64(0), np.uint32(1))
        values = np.uint64(into - 16 & (1 << 64) - 1), np.uint64(batch.base + out - 32), np.uint32(32), np.uint64(0)
        if not kind:
            batch.bulk.load(lanes, ends("cluster", "global"), *values)
            continue
        with pytest.raises(Fault) as fault:
            batch.bulk.load(lanes, ends("cluster", "global"), *values)
        assert fault.value.args[0] == kind
        shown = into if kind.startswith("shared") else out
        assert fault.value.args[3] == shown
