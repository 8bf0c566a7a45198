"""The recorder of a warp's steps, told of random sets of threads, beside a model that goes through them one by one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Lanes, Scattered, lanes_of
from softlab.emulator.machine.faults import Geometry
from softlab.emulator.memory.copies import Copy
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import InstructionSite, Site
from softlab.instruments import step_recorder
from softlab.instruments.step_recorder import SPACES, Growing, RecordFull, StepRecorder, Table

BLOCKS, THREADS, FIRST, WARP_NUMBER, SHARED = 3, 96, 4, 1, 256
#: The recorded block is row 1 of a batch that begins with block 4 of the grid.
BLOCK, ROW = 5, 1
#: The registers that each instruction writes.
DESTINATIONS = ((0,), (1, 2), (), (2,))
STORE = Instruction("st", ("shared", "b32"), ())
Lane = tuple[int, int]


def recorder(limit: int = 1000, block: int = BLOCK) -> tuple[StepRecorder, Any]:
    """The recorder, and the batch that it watches."""
    batch = SimpleNamespace(
        blocks=BLOCKS, threads=THREADS, geometry=Geometry((10, 1, 1), (THREADS, 1, 1), FIRST),
        shared=SimpleNamespace(data=np.arange(BLOCKS * SHARED).astype(np.uint8).reshape(BLOCKS, SHARED)),
    )  # fmt: skip
    made = StepRecorder(DESTINATIONS, 3, block, WARP_NUMBER, limit)
    made.batch(batch)
    return made, batch


def threads_of(lanes: Lanes, value: Any) -> dict[Lane, Any]:
    """(row, column) -> what the value is there; the lanes go row by row."""
    flat = np.broadcast_to(np.asarray(value), lanes.extent).reshape(-1)
    return {(int(row), int(column)): each for (row, column), each in zip(np.argwhere(lanes.mask), flat, strict=True)}


def of_warp(threads: dict[Lane, Any]) -> dict[int, Any]:
    """Lane of the recorded warp -> the value."""
    return {column % 32: v for (row, column), v in threads.items() if row == ROW and column // 32 == WARP_NUMBER}


def bits(lanes: Any) -> int:
    return sum(1 << lane for lane in lanes)


def shown(table: Table, *names: str) -> list[tuple[Any, ...]]:
    arrays = table.arrays()
    return list(zip(*(arrays[name].tolist() for name in names), strict=True))


def any_lanes(random: np.random.Generator) -> Lanes:
    """Rows x columns, or any lanes; sometimes without the recorded block or warp, sometimes all of the warp."""
    rows, columns = random.random(BLOCKS) < 0.7, random.random(THREADS) < random.choice([0.1, 0.6])
    if random.random() < 0.4:
        columns[32:64] = random.random() < 0.7
    mask = rows[:, None] & columns
    if random.random() < 0.4:
        mask &= random.random(mask.shape) < 0.7
    if not mask.any():
        mask[ROW, 40] = True
    return lanes_of(mask)


def any_value(random: np.random.Generator, lanes: Lanes, kind: Any) -> Any:
    """A scalar, or an array that may be 1 where rows or columns agree."""
    shapes: list[tuple[int, ...]] = [(), lanes.extent]
    if len(lanes.extent) == 2:
        shapes += [(1, lanes.extent[1]), (lanes.extent[0], 1), (1, 1)]
    raw = random.integers(0, 256, (*shapes[random.integers(len(shapes))], np.dtype(kind).itemsize), np.uint8)
    value = (raw % 2 if kind == "?" else raw).view(kind)[..., 0]
    return value[()]


def as_bits(value: Any) -> int:
    return int.from_bytes(np.asarray(value).tobytes(), "little")


@pytest.mark.parametrize("seed", range(12))
def test_registers_and_masks(seed: int) -> None:
    random = np.random.default_rng(seed)
    record, _ = recorder()
    now, known = np.zeros((3, 32), np.uint64), [0, 0, 0]
    steps, writes, tick = [], [], 0
    for _ in range(60):
        lanes = any_lanes(random)
        index = int(random.integers(len(DESTINATIONS)))
        guard = any_value(random, lanes, "?") if random.random() < 0.5 else None
        values = [any_value(random, lanes, random.choice(["u4", "f4", "i8", "f8", "u2", "?"])) for _ in
                  DESTINATIONS[index]]  # fmt: skip
        record.step(index, lanes, guard, *values)
        tick += bool(lanes.mask[ROW].any())
        holds = of_warp(threads_of(lanes, True if guard is None else guard))
        if not holds:
            continue
        executed = bits(lane for lane, truth in holds.items() if truth)
        for register, value in zip(DESTINATIONS[index], values, strict=True):
            for lane, each in of_warp(threads_of(lanes, value)).items():
                now[register, lane] = as_bits(each)
            known[register] |= executed
            writes.append((len(steps), register, executed, known[register], now[register].tolist()))
        steps.append((index, bits(holds), executed, tick))
    assert len(steps) > 20
    assert shown(record.steps, "instruction", "active", "executed", "tick") == steps
    assert shown(record.writes, "step", "register", "lanes", "known", "values") == writes


def site(space: str, kind: str = "u4", elements: int = 1, **more: Any) -> Site:
    return Site(int(more.pop("index", 5)), STORE, space, np.dtype(kind), elements, **more)


def tell(record: StepRecorder, where: Site, lanes: Lanes, address: Any) -> None:
    """Of an access, by the event of its space."""
    by_space = {"shared": record.shared_access, "local": record.local_access}
    by_space.get(where.space, record.global_access)(where, lanes, address, ())


@pytest.mark.parametrize("seed", range(12))
def test_accesses_and_what_they_write(seed: int) -> None:
    """A store counts from the step on that comes after it; its bytes are those that stand there then."""
    random = np.random.default_rng(100 + seed)
    record, batch = recorder()
    accesses, stores, stored = [], [], []
    for turn in range(40):
        lanes = any_lanes(random)
        kind, elements = (("u4", 1), ("u4", 2), ("u8", 1), ("u1", 1))[random.integers(4)]
        where = site(str(random.choice(["shared", "global", "const", "local"])), str(kind), int(elements), index=turn,
                     store=bool(random.random() < 0.5), operation=str(random.choice(["", "", "add"])))  # fmt: skip
        address = any_value(random, lanes, "u4") % np.uint32(SHARED - 8)
        number, threads = len(record.steps), threads_of(lanes, address)
        tell(record, where, lanes, address)
        if mine := of_warp(threads):
            row = [int(mine.get(lane, 0)) for lane in range(32)]
            space = SPACES.index(where.space)
            accesses.append((number, space, where.width, where.dtype.itemsize, where.store, bits(mine), row))
        batch.shared.data[:] = random.integers(0, 256, batch.shared.data.shape)
        record.step(2, lanes, None)
        written = {column: int(at) for (row, column), at in threads.items() if row == ROW}
        if where.store or where.operation:
            for column, at in written.items():
                in_shared = where.space == "shared"
                stores.append((len(record.steps), int(record._ticks), SPACES.index(where.space), turn, at, where.width,
                               column, BLOCK, bool(where.operation), len(stored)))  # fmt: skip
                stored += batch.shared.data[ROW, at : at + where.width].tolist() if in_shared else []
    assert shown(record.accesses, "step", "space", "width", "itemsize", "store", "lanes", "address") == accesses
    names = ("at", "tick", "space", "instruction", "address", "width", "thread", "block", "atomic", "start")
    assert shown(record.stores, *names) == stores
    assert record.bytes.array().tolist() == stored
    assert len(accesses) > 10
    assert len(stores) > 100


def one(row: int, *columns: int) -> Lanes:
    mask = np.zeros((BLOCKS, THREADS), bool)
    mask[row, list(columns)] = True
    return lanes_of(mask)


@pytest.mark.parametrize("store", [False, True])
def test_another_block_of_the_cluster_writes_here(store: bool) -> None:
    """Loads of others do not matter; what they write to the recorded block does, with their own block and thread."""
    record, batch = recorder()
    lanes = lanes_of(np.arange(THREADS) < np.array([[2], [2], [0]]))
    owner, address = np.array([[1, 2], [1, 1]]), np.array([[8], [40]], np.uint64)
    record.cluster_access(site("cluster"), lanes, owner, address, ())
    record.cluster_access(site("cluster", store=store, operation="" if store else "add"), lanes, owner, address, ())
    record.cluster_access(site("cluster", store=True), one(0, 3), np.array([2]), np.uint64(8), ())
    record.step(2, one(ROW, 0), None)
    assert shown(record.stores, "at", "space", "block", "thread", "address", "width", "atomic", "start") == [
        (0, 0, FIRST, 0, 8, 4, not store, 0), (0, 0, BLOCK, 0, 40, 4, not store, 4), (0, 0, BLOCK, 1, 40, 4, not store,
        8)]  # fmt: skip
    assert record.bytes.array().tolist() == [*batch.shared.data[ROW, 8:12], *[*batch.shared.data[ROW, 40:44]] * 2]


def test_asynchronous_copies_write_where_they_end() -> None:
    record, batch = recorder()
    lane, owner, offset = np.array([THREADS + 70, 5, 6]), np.array([1, 2, 1]), np.array([16, 16, 48])
    record.copy_ends(Copy(site("shared", store=True), lane, owner, offset, 12, False))
    record.copy_ends(Copy(site("shared", store=True), lane, 2 * owner - 2, offset, 12, True))
    record.step(2, one(ROW, 40), None)
    assert len(record.stores) == 0, "one that reads, and one to other blocks"
    record.copy_ends(Copy(site("shared", store=True, index=7), lane, owner, offset, 12, True))
    record.step(2, one(ROW, 40), None)
    assert shown(record.stores, "at", "instruction", "block", "thread", "address", "width", "atomic") == [
        (2, 7, BLOCK, 70, 16, 12, False), (2, 7, FIRST, 6, 48, 12, False)]  # fmt: skip
    assert record.bytes.array().tolist() == [*batch.shared.data[ROW, 16:28], *batch.shared.data[ROW, 48:60]]


def test_a_shuffle_and_the_lanes_that_it_reads() -> None:
    record, _ = recorder()
    source = np.arange(BLOCKS * 3 * 32).reshape(BLOCKS, 3, 32) % 32
    source[ROW, WARP_NUMBER] = (np.arange(32) + 5) % 32
    nothing = InstructionSite(0, STORE)
    record.shuffle(nothing, one(ROW, 40), source, source, source)
    record.step(2, one(ROW, 40), None)
    record.shuffle(nothing, one(ROW, 40), source[ROW : ROW + 1, ::-1][:, [0, 1, 2]], source, source)
    record.shuffle(nothing, one(ROW, 3), source, source, source)
    record.shuffle(nothing, one(0, 40), source, source, source)
    assert shown(record.shuffles, "step", "source") == [(0, source[ROW, 1].tolist()), (1, source[ROW, 1].tolist())]


def test_mbarriers_of_the_block_are_noted_once() -> None:
    record, _ = recorder()
    record.mbarrier(site("shared"), one(ROW, 40), np.array([2]), np.array([8]), "arrive", np.array([0]))
    assert not record.notes
    for _ in range(2):
        record.mbarrier(site("shared"), one(0, 40), np.array([2, ROW]), np.array([8, 8]), "arrive", np.array([0]))
    (note,) = record.notes
    assert note.startswith("The state of mbarriers is not recorded")


def test_a_block_that_is_not_in_the_batch() -> None:
    record, _ = recorder(block=FIRST + BLOCKS)
    lanes, copied = one(0, 40), Copy(site("shared", store=True), np.array([1]), np.array([0]), np.array([0]), 4, True)
    for space in ("shared", "global", "local"):
        tell(record, site(space, store=True), lanes, np.uint64(8))
    record.cluster_access(site("cluster", store=True), lanes, np.array([0]), np.uint64(8), ())
    record.copy_ends(copied)
    record.mbarrier(site("shared"), lanes, np.array([0]), np.array([8]), "arrive", np.array([0]))
    record.shuffle(InstructionSite(0, STORE), lanes, *[np.zeros((1, 3, 32), np.int64)] * 3)
    record.step(0, lanes, None, np.uint32(1))
    record.done()
    tables = (record.steps, record.writes, record.accesses, record.stores, record.shuffles)
    assert [len(table) for table in tables] == [0] * 5
    assert not record.notes


def test_the_record_is_full_after_the_limit() -> None:
    record, _ = recorder(limit=2)
    for _ in range(2):
        record.step(2, one(ROW, 40), None)
    record.step(2, one(ROW, 3), None)
    assert len(record.steps) == 2, "another warp's steps do not count"
    with pytest.raises(RecordFull, match="the record has 2 steps, as many as were asked for") as full:
        record.step(2, one(ROW, 40), None)
    assert full.value.reason == str(full.value)
    assert len(record.steps) == 2


@pytest.mark.parametrize(("shared", "most"), [(True, 4 * 64), (False, 4 * 32)])
def test_the_record_is_full_of_bytes(shared: bool, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes written to shared memory count, 64 each time here; and 32 bytes for each store, to any memory."""
    record, _ = recorder()

    def write() -> None:
        if shared:
            copied = Copy(site("shared", store=True), np.array([0]), np.array([ROW]), np.array([8]), 64, True)
            record.copy_ends(copied)
        else:
            tell(record, site("global", "u8", 4, store=True), one(ROW, 40), np.uint64(8))
        record.step(2, one(ROW, 40), None)

    assert step_recorder.MOST_BYTES == 64 * 1024**2
    monkeypatch.setattr(step_recorder, "MOST_BYTES", most)
    for _ in range(4):
        write()
    with pytest.raises(RecordFull, match="the block has written more than the 0 MiB that a record keeps"):
        write()


def test_the_end_of_the_block_ends_the_record() -> None:
    record, _ = recorder()
    record.step(2, one(ROW, 40), None)
    tell(record, site("global", store=True), one(ROW, 40), np.uint64(8))
    with pytest.raises(RecordFull) as full:
        record.done()
    assert full.value.reason == ""
    assert shown(record.stores, "at", "address") == [(1, 8)], "what was written last is kept"
    record.end()
    assert len(record.stores) == 1


def test_a_new_batch_finds_the_row_again() -> None:
    record, batch = recorder()
    lanes = one(2, 40)
    record.step(2, lanes, None)
    batch.geometry = Geometry((10, 1, 1), (THREADS, 1, 1), FIRST - 1)
    record.batch(batch)
    record.step(2, lanes, None)
    assert shown(record.steps, "instruction", "active", "tick") == [(2, 1 << 8, 1)]


def test_rows_grow() -> None:
    rows = Growing("i4", 2)
    rows.add([7, 8])
    rows.room(5000)[:] = np.arange(5000)[:, None]
    rows.add([9, 10])
    assert (rows.count, len(rows.array())) == (5002, 5002)
    assert rows.array()[[0, 1, 1500, 5000, 5001]].tolist() == [[7, 8], [0, 0], [1499, 1499], [4999, 4999], [9, 10]]
    table = Table(a="i4", b=("u1", 3))
    table.extend(1025, a=3, b=np.arange(3075).reshape(1025, 3) % 251)
    table.add(a=4, b=[1, 2, 3])
    assert len(table) == 1026
    assert table.arrays()["a"].tolist() == [3] * 1025 + [4]
    assert table.arrays()["b"][[0, 1024, 1025]].tolist() == [[0, 1, 2], [60, 61, 62], [1, 2, 3]]


def test_scattered_lanes_are_among_the_random_ones() -> None:
    kinds = {type(any_lanes(np.random.default_rng(seed))) is Scattered for seed in range(20)}
    assert kinds == {True, False}
