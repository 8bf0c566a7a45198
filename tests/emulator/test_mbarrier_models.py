"""mbarrier objects beside plain counts, shared memory of a cluster beside plain bytes: random lanes and addresses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import Lanes, lanes_of
from softlab.emulator.memory import clusters
from softlab.emulator.memory.block_memory import SharedMemory
from softlab.emulator.memory.clusters import ClusterMemory
from softlab.emulator.memory.mbarriers import MOST, Mbarriers, pending_count
from softlab.emulator.ptx.linker import SHARED_WINDOW
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import InstructionSite, Site

ROWS, THREADS, SIZE, NBYTES = 6, 96, 3, 136
OFFSETS = (0, 8, 64)


@pytest.fixture(autouse=True)
def wraps() -> Iterator[None]:
    """Addresses wrap around, as in a machine that runs."""
    with np.errstate(all="ignore"):
        yield


class Misuse(Exception):
    """The words of a fault, and the lanes at fault."""


class Host:
    """A batch in which some blocks may have ended."""

    def __init__(self) -> None:
        self.gone: np.ndarray | None = None
        self.faults = self

    def ended_rows(self) -> np.ndarray | None:
        return self.gone

    def fault(self, kind: str, sentence: str, instruction: Any, lanes: Any, bad: Any, address: Any = None) -> Misuse:
        return Misuse(kind, sentence, np.asarray(bad), address)

    def cluster_fault(self, reason: str, lanes: Any, site: Any, bad: Any, offset: Any, rows: Any) -> Misuse:
        return Misuse(reason, "", np.broadcast_to(bad, lanes.extent), None)

    def memory_fault(self, kind: str, lanes: Any, site: Any, bad: Any, address: Any) -> Misuse:
        return Misuse(kind, "", np.broadcast_to(bad, lanes.extent), None)


def site(*modifiers: str, space: str = "cluster", opcode: str = "mbarrier", **more: Any) -> Site:
    return Site(0, Instruction(opcode, modifiers, ()), space, np.dtype("u8"), store=True, operation="mbarrier", **more)


class Objects:
    """The mbarriers of a batch, and the same as plain numbers, by (block, offset)."""

    def __init__(self) -> None:
        self.host, self.heard = Host(), []
        shared = SharedMemory(ROWS, NBYTES, self.host)  # type: ignore[arg-type]
        self.cluster = ClusterMemory(self.host, shared, SIZE)  # type: ignore[arg-type]
        self.made = Mbarriers(self.host, self.cluster, ROWS, lambda *said: self.heard.append(said))  # type: ignore[arg-type]
        self.plain: dict[tuple[int, int], list[int]] = {}  # expected, pending, phase, bytes

    def settle(self, key: tuple[int, int]) -> None:
        expected, pending, _, nbytes = self.plain[key]
        if not pending and not nbytes:
            self.plain[key][1:3] = [expected, self.plain[key][2] + 1]

    def check(self) -> None:
        for (row, offset), (_, pending, phase, nbytes) in self.plain.items():
            key = row, self.made.column(offset)
            assert self.made.is_alive(key)
            assert (self.made.phase(key), self.made.missing_bytes(key)) == (phase, nbytes)
            assert int(self.made._counts["pending"][key]) == pending


def drawn(random: np.random.RandomState, turn: int) -> tuple[Lanes, Any, list[tuple[int, int]]]:
    """Lanes, the addresses that they give, and the object of each lane: its own block's, or that of any rank."""
    mask = random.rand(ROWS, THREADS) < (1.0, 0.1, 0.02)[turn % 3]
    mask[random.randint(ROWS), random.randint(THREADS)] = True
    if turn % 5 == 0:
        mask = np.broadcast_to(mask.any(axis=0), mask.shape).copy()
    lanes, offsets = lanes_of(mask), np.array(OFFSETS)
    kind = turn % 4
    which = offsets[random.randint(0, 3, [(1, 1), (1, THREADS), (ROWS, THREADS), (1, 1)][kind])]
    ranks = random.randint(0, SIZE, which.shape) if kind == 2 else None
    address = which.astype(np.uint64)
    if ranks is not None:
        address = clusters.mapped_shared(address, ranks.astype(np.uint32))
    objects = []
    for row, column in np.argwhere(mask).tolist():
        offset = int(np.broadcast_to(which, mask.shape)[row, column])
        block = row if ranks is None else row // SIZE * SIZE + int(ranks[row, column])
        objects.append((block, offset))
    return lanes, lanes.take(address) if address.size > 1 else address[0, 0], objects


def test_arrivals_and_bytes_in_phases() -> None:
    random, objects = np.random.RandomState(1), Objects()
    for offset in OFFSETS:
        count = int(random.randint(20, 400))
        objects.made.init(
            lanes_of(np.arange(THREADS) < np.ones((ROWS, 1))), site(), np.uint64(offset), np.uint32(count)
        )
        objects.plain |= {(row, offset): [count, count, 0, 0] for row in range(ROWS)}
    objects.check()
    for turn in range(400):
        lanes, address, keys = drawn(random, turn)
        before, told = objects.made.changes, len(objects.heard)
        what = turn % 7
        if what < 4:
            count = int(random.choice([1, 1, 2, 5]))
            if any(objects.plain[key][0] < count for key in keys):
                continue
            enough, states = True, []
            after = {key: values.copy() for key, values in objects.plain.items()}
            kept, objects.plain = objects.plain, after
            phases = []
            for key in keys:  # one lane after the other
                values = after[key]
                if values[1] < count:
                    enough = False
                    break
                states.append(values[2] << 20 | values[1])
                phases.append(values[2])
                values[1] -= count
                objects.settle(key)
            if not enough:
                objects.plain = kept
                continue
            found = objects.made.arrive(lanes, site("arrive"), address, np.uint32(count), np.uint32(0))
            got = np.broadcast_to(lanes.full_extent(found), len(keys)).astype(np.int64)
            assert (got >> 20).tolist() == [state >> 20 for state in states]
            together = {key: sum(one == key for one in keys) * count <= kept[key][1] for key in keys}
            for state, right, key in zip(got.tolist(), states, keys, strict=True):
                start = kept[key][2] << 20 | kept[key][1]
                assert state == right or (all(together.values()) and state == start)
            assert objects.heard[-1][4] == "arrive"
            heard_phases = np.broadcast_to(lanes.full_extent(objects.heard[-1][5]), len(keys))
            assert heard_phases.tolist() == phases
        elif what == 4:
            nbytes = int(random.choice([8, 16, 100]))
            objects.made.expect(lanes, site("expect_tx"), address, np.uint32(nbytes))
            for key in keys:
                objects.plain[key][3] += nbytes
        elif what == 5:
            objects.made.complete(lanes, site("complete_tx"), address, np.uint32(8))
            for key in keys:
                objects.plain[key][3] -= 8
            for key in keys:
                objects.settle(key)
        else:  # all bytes come
            for key, values in objects.plain.items():
                if values[3]:
                    objects.made.arrived_bytes((key[0], objects.made.column(key[1])), values[3])
                    values[3] = 0
                    objects.settle(key)
            before = objects.made.changes - 1
        if what < 6:
            assert objects.heard[told][2].tolist() == [row for row, _ in keys]
            assert objects.heard[told][3].tolist() == [offset for _, offset in keys]
        assert objects.made.changes == before + 1
        objects.check()
    assert max(values[2] for values in objects.plain.values()) > 5


@pytest.mark.parametrize("parity", [True, False])
def test_whether_a_phase_is_over(parity: bool) -> None:
    """By its parity, another one than that of now; by a state, any other phase than that of the state."""
    random, objects = np.random.RandomState(2), Objects()
    everyone = lanes_of(np.ones((ROWS, THREADS), bool))
    for offset in OFFSETS:
        objects.made.init(everyone, site(), np.uint64(offset), np.uint32(1))
        objects.plain |= {(row, offset): [1, 1, 0, 0] for row in range(ROWS)}
    asks = site("test_wait", *(["parity"] if parity else []), opcode="mbarrier")
    for turn in range(80):
        key = int(random.randint(ROWS)), int(random.choice(OFFSETS))
        assert objects.made.arrived((key[0], objects.made.column(key[1])), 1)
        objects.plain[key][2] += 1
        lanes, address, keys = drawn(random, turn)
        phases = np.array([objects.plain[key][2] for key in keys])
        asked = phases + random.randint(-1, 2, phases.shape) if turn % 2 else np.full(phases.shape, phases[0])
        given = np.zeros((ROWS, THREADS), np.uint64)
        given[lanes.mask] = np.maximum(asked, 0) if parity else np.maximum(asked, 0) << 20 | 1
        value = lanes.take(given) if turn % 2 else given[lanes.mask][0]
        asked = np.maximum(asked, 0)
        right = (phases % 2 != asked % 2) if parity else phases != asked
        told = len(objects.heard)
        found = objects.made.test(lanes, asks, address, value)
        assert np.broadcast_to(lanes.full_extent(found), len(keys)).tolist() == right.tolist()
        assert len(objects.heard) == told + right.any()
        if right.any():
            _, some, rows, offsets, action, over = objects.heard[-1]
            passed = [key for key, one in zip(keys, right, strict=True) if one]
            assert action == "wait"
            assert list(zip(rows.tolist(), offsets.tolist(), strict=True)) == passed
            ended = (phases - 1 if parity else asked)[right]
            assert np.broadcast_to(some.full_extent(over), len(passed)).tolist() == ended.tolist()
        finished: list[tuple[int, int]] = []
        before = objects.made.has_completed(lanes, asks, address, value, finish=finished.append)
        assert np.broadcast_to(lanes.full_extent(before), len(keys)).tolist() == right.tolist()
        late = {(row, objects.made.column(offset)) for (row, offset), one in zip(keys, right, strict=True) if not one}
        assert set(finished) == late
        assert len(finished) == len(late)


def refused(call: Any, words: str, at: int | None = None) -> Misuse:
    with pytest.raises(Misuse) as found:
        call()
    kind, sentence, _, address = found.value.args
    assert kind == "mbarrier-misuse"
    assert sentence.startswith(f"the thread {words}")
    assert at is None or address == at
    return found.value


def test_objects_take_the_room_that_they_need() -> None:
    """One column each, whatever is initialised again."""
    objects, one = Objects(), lanes_of(np.arange(ROWS * THREADS).reshape(ROWS, THREADS) == 0)
    for number in range(12):
        objects.made.init(one, site(), np.uint64(8 * number), np.uint32(1))
        objects.made.invalidate(one, site(), np.uint64(8 * number))
        objects.made.init(one, site(), np.uint64(0 if number % 2 else 8 * number), np.uint32(1))
        objects.made.invalidate(one, site(), np.uint64(0 if number % 2 else 8 * number))
        widths = {objects.made._alive.shape[1], *(values.shape[1] for values in objects.made._counts.values())}
        assert widths == {number + 1}


def test_what_is_refused() -> None:
    objects, one = Objects(), lanes_of(np.arange(ROWS * THREADS).reshape(ROWS, THREADS) == THREADS + 6)
    made = objects.made
    for count in (0, MOST + 1):
        words = f"initialises an mbarrier for a count that is not 1 to {MOST}"
        refused(lambda count=count: made.init(one, site(), np.uint64(8), np.uint32(count)), words, 8)
    refused(lambda: made.arrive(one, site("arrive"), np.uint64(8), np.uint32(1), np.uint32(0)),
            "uses an mbarrier that is not initialised", 8)  # fmt: skip
    made.init(one, site(), np.uint64(8), np.uint32(MOST))
    refused(lambda: made.init(one, site(), np.uint64(8), np.uint32(1)), "initialises an mbarrier that is in use", 8)
    made.invalidate(one, site(), np.uint64(8))
    assert not made.is_alive((1, made.column(8)))
    refused(lambda: made.expect(one, site(), np.uint64(8), np.uint32(1)), "uses an mbarrier that is not initialised", 8)
    made.init(one, site(), np.uint64(8), np.uint32(2))
    made.expect(one, site(), np.uint64(8), np.uint32(MOST))
    words = f"lets an mbarrier expect more than {MOST} bytes"
    refused(lambda: made.expect(one, site(), np.uint64(8), np.uint32(1)), words)
    made.complete(one, site(), np.uint64(8), np.uint32(1))
    refused(lambda: made.arrive(one, site("arrive"), np.uint64(8), np.uint32(3), np.uint32(0)),
            "arrives at an mbarrier more often than the phase expects")  # fmt: skip
    assert made.columns(np.array([1]), np.array([8])).tolist() == [made.column(8)]
    assert made.columns(np.array([0]), np.array([8])) is None, "another block"
    assert made.columns(np.array([1]), np.array([16])) is None
    made.clear()
    assert made.column(8) == -1


def test_arrivals_that_do_more() -> None:
    objects, one = Objects(), lanes_of(np.arange(ROWS * THREADS).reshape(ROWS, THREADS) == 0)
    made = objects.made
    made.init(one, site(), np.uint64(0), np.uint32(3))
    key = 0, made.column(0)

    def counts() -> tuple[int, ...]:
        return tuple(int(made._counts[name][key]) for name in ("expected", "pending", "phase", "bytes"))

    made.arrive(one, site("arrive_drop"), np.uint64(0), np.uint32(1), np.uint32(0))
    assert counts() == (2, 2, 0, 0)
    made.arrive(one, site("arrive", "expect_tx"), np.uint64(0), np.uint32(1), np.uint32(48))
    assert counts() == (2, 1, 0, 48)
    assert made.copies_until_over(key, 16, 5) == 5, "an arrival is pending"
    made.arrive(one, site("arrive"), np.uint64(0), np.uint32(1), np.uint32(0))
    assert counts() == (2, 0, 0, 48)
    assert [made.copies_until_over(key, 16, copies) for copies in (2, 3, 4)] == [2, 3, 3]
    assert made.copies_until_over(key, 32, 4) == 4
    assert made.missing() == ""
    made.test(one, site("test_wait", "parity"), np.uint64(0), np.uint32(0))
    assert made.missing() == (
        "It waits at the mbarrier at byte 0 of shared memory, where 48 bytes of copies are missing. "
    )
    made.arrived_bytes(key, 56)
    assert "where an expect_tx of 8 bytes that came are missing" in made.missing()
    events = made.events
    made.arrived_bytes(key, -8)
    assert counts() == (2, 2, 1, 0)
    assert made.events == events + 1
    assert made.missing().endswith("where 2 of 2 arrivals are missing. ")
    made.more_pending(np.array([0]), np.array([key[1]]))
    assert counts() == (2, 3, 1, 0)
    assert not made.arrived(key, 4)
    assert made.arrived(key, 3)
    assert counts() == (2, 2, 2, 0)
    with pytest.raises(Misuse, match=r"completes a phase with mbarrier.arrive.noComplete"):
        made.arrive(one, site("arrive", "noComplete"), np.uint64(0), np.uint32(2), np.uint32(0))
    assert made.phases(np.array([0]), np.array([key[1]])).tolist() == [3]
    assert int(pending_count(np.uint64(5 << 20 | 77))) == 77


# Shared memory of a cluster


def test_addresses_of_other_blocks() -> None:
    """An address keeps its offset, and names a block by its rank."""
    random, objects = np.random.RandomState(3), Objects()
    lanes = lanes_of(random.rand(ROWS, THREADS) < 0.5)
    offsets, ranks = random.randint(0, 16, (ROWS, THREADS)) * 8, random.randint(0, SIZE, (ROWS, THREADS))
    for space in ("cluster", "generic"):
        base = SHARED_WINDOW if space == "generic" else 0
        address = offsets.astype(np.uint64) + np.uint64(base)
        mapped = (clusters.mapped_generic if base else clusters.mapped_shared)(address, ranks.astype(np.uint32))
        at = InstructionSite(0, Instruction("getctarank", (), ()), space)
        assert np.array_equal(
            lanes.full_extent(objects.cluster.rank_of(lanes, at, lanes.take(mapped))), ranks[lanes.mask]
        )
        own = objects.cluster.rank_of(lanes, at, lanes.take(address))
        assert np.array_equal(lanes.full_extent(own), np.argwhere(lanes.mask)[:, 0] % SIZE)
        if base:
            inside = np.broadcast_to(objects.cluster.is_own(lanes, lanes.take(mapped)), lanes.extent).reshape(-1)
            assert np.array_equal(inside, ranks[lanes.mask] == np.argwhere(lanes.mask)[:, 0] % SIZE)
    narrow = clusters.mapped_shared(np.array([[8]], np.uint32), np.uint32(1))
    assert narrow.dtype == np.uint32
    rows, offset = objects.cluster.locate(lanes, Site(0, Instruction("ld", (),
    ()), "cluster", np.dtype("u8")), mapped := (
        lanes.take(clusters.mapped_shared(offsets.astype(np.uint64), ranks.astype(np.uint32)))))  # fmt: skip
    assert mapped is not None
    assert np.array_equal(lanes.full_extent(offset), offsets[lanes.mask])
    where = np.argwhere(lanes.mask)[:, 0]
    assert np.array_equal(lanes.full_extent(rows), where // SIZE * SIZE + ranks[lanes.mask])


@pytest.mark.parametrize(
    ("rank", "offset", "ended", "kind"),
    [
        (SIZE - 1, 0, False, ""), (SIZE, 0, False, "no-block"), (300, 0, False, "no-block"), (1, 0, True, "ended"),
        (1, NBYTES - 8, False, ""), (1, NBYTES - 4, False, "shared-out-of-bounds"),
        (1, NBYTES, False, "shared-out-of-bounds"),
        (1, 4, False, "misaligned"),
    ],
)  # fmt: skip
def test_what_a_cluster_does_not_have(rank: int, offset: int, ended: bool, kind: str) -> None:
    objects = Objects()
    mask = np.ones((ROWS, THREADS), bool)
    lanes, at = lanes_of(mask), Site(0, Instruction("ld", (), ()), "cluster", np.dtype("u8"))
    objects.host.gone = np.arange(ROWS) == 1 if ended else None
    address = clusters.mapped_shared(np.full((1, 1), offset, np.uint64), np.uint32(rank))
    if not kind:
        objects.cluster.locate(lanes, at, address)
        return
    with pytest.raises(Misuse) as found:
        objects.cluster.locate(lanes, at, address)
    name, _, bad, _ = found.value.args
    assert name == kind
    rows = np.arange(ROWS)[:, None]
    assert np.array_equal(
        np.broadcast_to(bad, mask.shape), (rows // SIZE == 0) & (rows != 1) & mask if kind == "ended" else mask
    )


def test_bytes_of_a_cluster() -> None:
    random, objects = np.random.RandomState(5), Objects()
    told: list[tuple] = []
    objects.cluster._listener = lambda *said: told.append(said)
    memory = objects.cluster._shared.data
    memory[...] = random.randint(0, 256, memory.shape)
    for turn in range(60):
        dtype, elements = [("u4", 1), ("u2", 4), ("f8", 1), ("u1", 1)][turn % 4]
        at = Site(turn, Instruction("ld", (), ()), "cluster", np.dtype(dtype), elements, 8 * (turn % 2), bool(turn % 3))
        lanes = lanes_of(random.rand(ROWS, THREADS) < 0.4)
        offsets = random.randint(0, (NBYTES - 8) // at.width, (ROWS, THREADS)) * at.width
        ranks = random.randint(0, SIZE, (ROWS, THREADS))
        address = lanes.take(clusters.mapped_shared(offsets.astype(np.uint64), ranks.astype(np.uint32)))
        points = [(row, column) for row, column in np.argwhere(lanes.mask).tolist()]
        places = {
            point: (point[0] // SIZE * SIZE + int(ranks[point]), int(offsets[point]) + at.offset) for point in points
        }
        if at.store:
            words = random.randint(0, 256, (elements, ROWS, THREADS)).astype(dtype)
            objects.cluster.store(lanes, at, address, *(lanes.take(word) for word in words))
            last = {place: b"".join(word[point].tobytes() for word in words) for point, place in places.items()}
            for (row, start), data in last.items():
                assert memory[row, start : start + at.width].tobytes() == data
        else:
            found = objects.cluster.load(lanes, at, address)
            parts = [lanes.full_extent(part) for part in (found if elements > 1 else (found,))]
            for k, point in enumerate(points):
                row, start = places[point]
                data = memory[row, start : start + at.width].tobytes()
                assert b"".join(part[k].tobytes() for part in parts) == data
        said, some, rows, starts, values = told[-1]
        assert (said, some, len(values)) == (at, lanes, elements if at.store else 0)
        assert list(zip(lanes.full_extent(rows).tolist(), lanes.full_extent(starts).tolist(), strict=True)) == [
            places[point] for point in points
        ]
        ((items, index, which),) = objects.cluster.cells(lanes, at, address)
        wanted = [memory[row, start : start + at.width].tobytes() for row, start in (places[point] for point in points)]
        assert [item.tobytes() for item in items[index][which]] == wanted
        assert objects.cluster.reach(lanes, at, address) is None
