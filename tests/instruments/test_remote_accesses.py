"""Remote accesses to shared memory beside a model that keeps every access: who comes after whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import softlab
from softlab.instruments.remote_accesses import COPY, MANY, SOURCE_BITS, Accessors, Order, RemoteAccesses
from softlab.instruments.warp_syncs import WarpSyncs

BLOCKS, WORDS, NOW = 2, 24, 9
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
