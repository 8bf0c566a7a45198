"""Remote accesses to shared memory beside a model that keeps every access: who comes after whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import softlab
from softlab.emulator.lanes import WARP
from softlab.instruments.remote_accesses import COPY, IN_FLIGHT, MANY, SOURCE_BITS, Accessors, Order, RemoteAccesses
from softlab.instruments.warp_syncs import WarpSyncs
from tests.sampled import each

BLOCKS, WORDS, NOW = 3, 27, 9
#: Times that order nothing, and all of it.
BEFORE, AFTER = 0, NOW + 1


@dataclass(frozen=True)
class Thread:
    """A thread of a cluster."""

    rank: int
    number: int

    def accessor(self, row: int) -> Accessors:
        """As the instrument takes it."""
        return Accessors(np.array([row]), np.array([self.number]), np.array([self.rank]))


@dataclass(frozen=True)
class Known:
    """What a thread has learnt: of all blocks, at its block's barrier, with its warp."""

    acquired: bool = False
    barrier: bool = False
    synced: bool = False

    def order(self, groups: WarpSyncs | None = None) -> Order:
        """As the instrument takes it: times beyond all accesses, or before them."""
        times = (np.array([AFTER if flag else BEFORE]) for flag in (self.acquired, self.barrier, self.synced))
        return Order(*times, groups or WarpSyncs())

    def after(self, thread: Thread, other: Thread) -> bool:
        """Whether the thread comes after what the other one did."""
        block = thread.rank == other.rank
        warp = block and thread.number // 32 == other.number // 32
        return thread == other or self.acquired or (self.barrier and block) or (self.synced and warp)


def any_thread(random: np.random.Generator) -> Thread:
    """Often one of few, so that threads, warps and blocks meet."""
    return Thread(int(random.integers(3)), int(random.choice([0, 1, 31, 32, 40, 77, 1023])))


def any_known(random: np.random.Generator) -> Known:
    return Known(*(bool(flag) for flag in random.random(3) < 0.3))


def at(row: int, *words: int) -> tuple[np.ndarray, np.ndarray]:
    return np.array([row]), np.array([words])


@pytest.mark.parametrize("seed", range(20))
def test_a_write_clashes_with_each_reader_that_nothing_orders(seed: int) -> None:
    random, accesses = np.random.default_rng(seed), RemoteAccesses(BLOCKS, WORDS)
    readers: dict[tuple[int, int], set[Thread]] = {}
    for time in range(1, NOW):
        row, word, thread = int(random.integers(BLOCKS)), int(random.integers(WORDS)), any_thread(random)
        accesses.record_read(*at(row, word), time, thread.accessor(row), Known().order())
        readers.setdefault((row, word), set()).add(thread)
    for row in range(BLOCKS):
        for word in range(WORDS):
            thread, known = any_thread(random), any_known(random)
            clash = any(not known.after(thread, reader) for reader in readers.get((row, word), ()))
            found = accesses.unordered_with_block(
                accesses.read, *at(row, word), thread.accessor(row), known.order(), False
            )
            assert found.tolist() == [clash], (row, word, thread, known)


@pytest.mark.parametrize("seed", range(10))
def test_readers_of_one_instruction_all_count(seed: int) -> None:
    """Several lanes read a word at once, then one of them or another writes it."""
    random = np.random.default_rng(100 + seed)
    for _ in range(20):
        accesses, threads = RemoteAccesses(1, 1), [any_thread(random) for _ in range(random.integers(1, 5))]
        row, word = np.zeros(len(threads), np.int64), np.zeros((len(threads), 1), np.int64)
        who = Accessors(row, np.array([t.number for t in threads]), np.array([t.rank for t in threads]))
        nothing = np.zeros(len(threads), np.int64)
        accesses.record_read(row, word, 5, who, Order(nothing, nothing, nothing, WarpSyncs()))
        thread, known = any_thread(random), any_known(random)
        found = accesses.unordered_with_block(accesses.read, *at(0, 0), thread.accessor(0), known.order(), False)
        assert found.tolist() == [any(not known.after(thread, t) for t in threads)]
        ranks, numbers = {t.rank for t in threads}, {t.number for t in threads}
        named = accesses.source_of(int(accesses.read[0, 0]))
        if len(ranks) > 1:
            assert named == MANY
        else:
            assert named == (ranks.pop(), numbers.pop() if len(numbers) == 1 else None)


def test_a_reader_that_comes_after_another_stands_alone() -> None:
    """The earlier one is forgotten, so a barrier of the later one's block is enough."""
    accesses, first, second = RemoteAccesses(1, 1), Thread(0, 3), Thread(1, 64)
    accesses.record_read(*at(0, 0), 2, first.accessor(0), Known().order())
    accesses.record_read(*at(0, 0), 4, second.accessor(0), Known(acquired=True).order())
    assert accesses.source_of(int(accesses.read[0, 0])) == (1, 64)
    third = Thread(1, 0)
    for known, clash in ((Known(), True), (Known(barrier=True), False), (Known(synced=True), True)):
        found = accesses.unordered_with_block(accesses.read, *at(0, 0), third.accessor(0), known.order(), False)
        assert found.tolist() == [clash]


@pytest.mark.parametrize("together", [(3, 9), (3, 5), (9, 5), (3, 9, 5)])
def test_a_part_of_a_warp_orders_its_own_lanes(together: tuple[int, ...]) -> None:
    """Lanes 3 and 9 read a word; lane 5 of the warp writes it after it met some of them."""
    accesses, groups = RemoteAccesses(1, 1), WarpSyncs()
    for lane in (3, 9):
        accesses.record_read(*at(0, 0), 2, Thread(1, 32 + lane).accessor(0), Known().order())
    masks = np.zeros((1, 4, 32), np.uint32)
    masks[0, 1, list(together)] = sum(1 << lane for lane in together)
    groups.record(masks, 5)
    writer = Thread(1, 32 + 5).accessor(0)
    found = accesses.unordered_with_block(accesses.read, *at(0, 0), writer, Known().order(groups), False)
    assert found.tolist() == [together != (3, 9, 5)]


def test_two_strong_accesses_do_not_clash() -> None:
    accesses, one, other = RemoteAccesses(1, 3), Thread(0, 1), Thread(1, 1)
    for word, stamp in enumerate(
        [
            accesses.stamp(4, one.accessor(0), True),
            accesses.stamp(4, one.accessor(0), False),
            np.array([[accesses.copy_stamp(4, reduces=True)]]),
        ]
    ):
        accesses.written[0, word] = stamp.item()
    for word, strong, clash in (
        (0, True, False),
        (0, False, True),
        (1, True, True),
        (2, True, False),
        (2, False, True),
    ):
        where, known = at(0, word), Known()
        found = accesses.unordered_with_block(accesses.written, *where, other.accessor(0), known.order(), strong)
        assert found.tolist() == [clash], (word, strong)
        assert accesses.unordered(accesses.written, *where, np.array([BEFORE]), strong).tolist() == [clash]
    assert accesses.unordered(accesses.written, *at(0, 0, 1), np.array([4]), False).tolist() == [True]
    assert accesses.unordered(accesses.written, *at(0, 0, 1), np.array([5]), False).tolist() == [False]


def test_a_stamp_says_who_and_when() -> None:
    accesses = RemoteAccesses(1, 1)
    stamp = int(accesses.stamp(7, Thread(5, 1023).accessor(0), True).item())
    assert (accesses.time_of(stamp), accesses.source_of(stamp), accesses.in_flight(stamp)) == (7, (5, 1023), False)
    for reduces in (False, True):
        copy = accesses.copy_stamp(7, reduces)
        assert (accesses.time_of(copy), accesses.source_of(copy)) == (7, COPY)
    assert accesses.in_flight(accesses.copy_stamp(1 << 40))


SCOPES = """extern "C" __global__ void __cluster_dims__(2) scopes(int* y, int all) {
  __shared__ int sum;
  unsigned there;
  if (threadIdx.x == 0) sum = 0;
  asm volatile("barrier.cluster.arrive;\\nbarrier.cluster.wait;" ::: "memory");
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(&sum)));
  if (all || blockIdx.x == 1) asm volatile("red.relaxed.cta.shared::cluster.add.s32 [%0], 1;" ::"r"(there) : "memory");
  asm volatile("barrier.cluster.arrive;\\nbarrier.cluster.wait;" ::: "memory");
  if (threadIdx.x == 0 && blockIdx.x == 0) *y = sum;
}"""


@pytest.mark.parametrize("scope", ["cta", "cluster"])
@pytest.mark.parametrize("everybody", [0, 1])
def test_the_scope_of_a_block_does_not_reach_the_other_blocks(scope: str, everybody: int) -> None:
    """Atomics of that scope are ordinary accesses for other blocks; for threads of one block they stay atomics."""
    kernel = softlab.Kernel(SCOPES.replace(".cta.", f".{scope}."), "scopes")
    run = kernel.run(2, 32, (np.zeros(1, np.int32), everybody), check="collect", record=False)
    found = {(f.kind, f.line, f.other_line) for f in run.findings}
    assert found == ({("race", 7, 7)} if everybody and scope == "cta" else set())


def test_who_a_stamp_names() -> None:
    """Copies, also those that reduce, are told from threads and from several threads of other blocks."""
    assert COPY != MANY
    for reduces in (False, True):
        stamp = RemoteAccesses.copy_stamp(7, reduces)
        assert RemoteAccesses.source_of(stamp) == COPY
        assert RemoteAccesses.time_of(stamp) == 7
        assert not RemoteAccesses.in_flight(stamp)
    assert RemoteAccesses.source_of(9 << SOURCE_BITS | MANY) == MANY
    for rank, thread in ((0, 0), (0, 1023), (15, 5)):
        stamp = 3 << SOURCE_BITS | rank << 10 | thread
        assert RemoteAccesses.source_of(stamp) == (rank, thread)
        assert RemoteAccesses.time_of(stamp) == 3
    assert RemoteAccesses.in_flight(RemoteAccesses.copy_stamp(1 << 40))


@dataclass(frozen=True)
class Readers:
    """The threads that a stamp of reads stands for, and when the last of them read."""

    time: int
    threads: frozenset[Thread]


#: Lanes of two rows and two words each, so that several of an instruction meet on a word.
LANES, FEW_WORDS, ROUNDS = 6, 4, 40


def some_threads(random: np.random.Generator) -> list[Thread]:
    """One per lane, often of one warp or one block."""
    threads = [0, 1, 31, 32, 63, 1023]
    ranks = random.choice([[0, 0, 0], [1, 1, 15], [0, 1, 15]])
    return [Thread(int(random.choice(ranks)), int(random.choice(threads))) for _ in range(LANES)]


#: Two ways to part a warp into groups of lanes, (2, 32) masks.
PARTS = np.array([[0x0000FFFF, 0xFFFF0000], [0x80000002, 0x7FFFFFFD]], np.uint32)


def parts_meet(groups: WarpSyncs, part: int, now: int) -> None:
    """The groups of each warp synchronise."""
    lanes = np.arange(WARP, dtype=np.uint32)
    masks = np.where(PARTS[part, 0] >> lanes & np.uint32(1) == 1, *PARTS[part])
    groups.record(np.broadcast_to(masks, (BLOCKS, 32, WARP)), now)


@dataclass(frozen=True)
class Lane:
    """A thread in a row of the batch, and the times of what it has learnt."""

    row: int
    thread: Thread
    acquired: int
    barrier: int
    synced: int

    def comes_after(self, other: Thread, time: int, among: frozenset[Thread], groups: WarpSyncs) -> bool:
        """Whether it comes after what another thread did, one ``among`` those whose last access was at ``time``."""
        blocks, warps = {t.rank for t in among}, {(t.rank, t.number // WARP) for t in among}
        mine = (self.thread.rank, self.thread.number // WARP)
        if self.acquired > time or among == {self.thread}:
            return True
        if blocks == {self.thread.rank} and self.barrier > time:
            return True
        if warps != {mine}:
            return False
        if self.synced > time:
            return True
        lanes = (np.array([t.number % WARP]) for t in (other, self.thread))
        at = np.array([self.row]), np.array([mine[1]])
        return other == self.thread or bool(groups and groups.ordered(*at, *lanes, np.array([time]))[0])


def some_lanes(random: np.random.Generator, now: int) -> list[Lane]:
    """What each has learnt is of now, of no time, or of a time between."""
    times = np.array([now, 0, 0, 0, -1])[random.integers(0, 5, (LANES, 3))]
    times = np.where(times < 0, random.integers(0, now + 1, (LANES, 3)), times)
    return [Lane(int(random.integers(BLOCKS)), thread, *map(int, known))
            for thread, known in zip(some_threads(random), times, strict=True)]  # fmt: skip


def as_taken(lanes: list[Lane], groups: WarpSyncs) -> tuple[Accessors, Order]:
    """As the instrument takes them."""
    row, thread, rank, *times = np.array(
        [(one.row, one.thread.number, one.thread.rank, one.acquired, one.barrier, one.synced) for one in lanes]
    ).T
    return Accessors(row, thread, rank), Order(*times, groups)


@pytest.mark.parametrize("seed", each(4, range(24)))
def test_reads_of_many_lanes_beside_a_model(seed: int) -> None:
    """Reads of several lanes and words at once; each time it is asked first whether writes would clash."""
    random, accesses = np.random.default_rng(700 + seed), RemoteAccesses(BLOCKS, FEW_WORDS)
    groups, found = WarpSyncs(), set[bool]()
    known: dict[tuple[int, int], Readers] = {}
    for now in range(1, ROUNDS):
        if seed % 2 and random.random() < 0.5:
            parts_meet(groups, int(random.integers(2)), now)
        lanes = some_lanes(random, now)
        who, order = as_taken(lanes, groups)
        owner, words = random.integers(0, BLOCKS, LANES), random.integers(0, FEW_WORDS, (LANES, 2))
        clashes = []
        for lane, row, its_words in zip(lanes, owner.tolist(), words.tolist(), strict=True):
            earlier = [known[row, word] for word in its_words if (row, word) in known]
            clashes.append(any(
                not all(lane.comes_after(t, e.time, e.threads, groups) for t in e.threads) for e in earlier
            ))  # fmt: skip
        said = accesses.unordered_with_block(accesses.read, owner, words, who, order, False)
        assert said.tolist() == clashes
        found.update(clashes)
        if random.random() < 0.1:  # a copy reads a word: nobody knows more than that it comes after it
            at = int(owner[0]), int(words[0, 0])
            accesses.read[at] = accesses.copy_stamp(now, bool(random.random() < 0.5))
            known[at] = Readers(now, frozenset({Thread(63, 1)}))
            continue
        accesses.record_read(owner, words, now, who, order)
        together: dict[tuple[int, int], set[Thread]] = {}
        for lane, row, its_words in zip(lanes, owner.tolist(), words.tolist(), strict=True):
            for at in ((row, word) for word in its_words):
                earlier_at = known.get(at)
                after = earlier_at is None or all(
                    lane.comes_after(t, earlier_at.time, earlier_at.threads, groups) for t in earlier_at.threads
                )
                kept = set() if after or earlier_at is None else set(earlier_at.threads)
                together.setdefault(at, set()).update({lane.thread} | kept)
        known.update({at: Readers(now, frozenset(threads)) for at, threads in together.items()})
        for at, readers in known.items():
            ranks, threads = {t.rank for t in readers.threads}, {t.number for t in readers.threads}
            named = accesses.source_of(int(accesses.read[at]))
            if 63 in ranks:
                assert named in (COPY, MANY)
            elif len(ranks) > 1:
                assert named == MANY
            else:
                assert named == (ranks.pop(), threads.pop() if len(threads) == 1 else None)
            assert accesses.time_of(int(accesses.read[at])) == readers.time
    assert found == {True, False}


@pytest.mark.parametrize("strong", [False, True])
@pytest.mark.parametrize("in_block", [False, True])
def test_each_kind_of_write_beside_a_model(strong: bool, in_block: bool) -> None:
    """Each word was written by a thread, by an atomic, by a copy or by one that reduces; lanes access two words."""
    random, found = np.random.default_rng(5), set()
    for now in range(2, ROUNDS):
        accesses = RemoteAccesses(BLOCKS, FEW_WORDS)
        writers: dict[tuple[int, int], tuple[str, int, Thread]] = {}
        kinds = random.choice(["", "plain", "atomic", "copy", "reduces"], BLOCKS * FEW_WORDS)
        for at, kind in zip(np.ndindex(BLOCKS, FEW_WORDS), kinds, strict=True):
            one, time = some_threads(random)[0], int(random.integers(1, now))
            if kind:
                writers[at] = str(kind), time, one
                accesses.written[at] = (
                    accesses.copy_stamp(time, kind == "reduces") if kind in ("copy", "reduces")
                    else accesses.stamp(time, one.accessor(0), kind == "atomic").item()
                )  # fmt: skip
        lanes = some_lanes(random, now)
        who, order = as_taken(lanes, WarpSyncs())
        owner, words = random.integers(0, BLOCKS, LANES), random.integers(0, FEW_WORDS, (LANES, 2))

        def apart(lane: Lane, at: tuple[int, int], of: dict = writers) -> bool:
            if at not in of:
                return False
            kind, time, writer = of[at]
            if kind in ("copy", "reduces"):
                return lane.acquired <= time and not (strong and kind == "reduces" and not in_block)
            after = lane.comes_after(writer, time, frozenset({writer}), WarpSyncs())
            return not after and not (
                strong and kind == "atomic" and not (in_block and writer.rank != lane.thread.rank)
            )

        clashes = [any(apart(lane, (row, word)) for word in its_words)
                   for lane, row, its_words in zip(lanes, owner.tolist(), words.tolist(), strict=True)]  # fmt: skip
        said = accesses.unordered_with_block(accesses.written, owner, words, who, order, strong, in_block)
        assert said.tolist() == clashes
        found.update(clashes)
        if not in_block:
            late = [any(at in writers and writers[at][1] >= lane.acquired and not
                        (strong and writers[at][0] in ("atomic", "reduces")) for at in ((row, word) for word in two))
                    for lane, row, two in zip(lanes, owner.tolist(), words.tolist(), strict=True)]  # fmt: skip
            acquired = np.array([lane.acquired for lane in lanes])
            assert accesses.unordered(accesses.written, owner, words, acquired, strong).tolist() == late
    assert found == {True, False}


@pytest.mark.parametrize("reduces", [False, True])
@pytest.mark.parametrize("time", [0, 1, 39, 40, 41, 1000, 2**32, 2**40 - 1])
def test_no_time_of_a_run_is_that_of_a_copy_in_flight(time: int, reduces: bool) -> None:
    ended = RemoteAccesses.copy_stamp(time, reduces)
    assert not RemoteAccesses.in_flight(ended)
    assert RemoteAccesses.time_of(ended) == time
    flying = RemoteAccesses.copy_stamp(IN_FLIGHT, reduces)
    assert RemoteAccesses.in_flight(flying)
    assert RemoteAccesses.source_of(flying) == RemoteAccesses.source_of(ended) == COPY
    assert flying > ended
