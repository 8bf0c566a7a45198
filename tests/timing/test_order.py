"""Which of the memory that a block loads other blocks have loaded before."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from softlab.emulator.machine.native import available, compiling
from softlab.sass.streams import Accesses, Kind, Space, WarpStream
from softlab.timing.columns import Columns
from softlab.timing.order import NEVER, Loaded, Order, _first, _judged, _judged_by_numpy, _met, loaded, order
from softlab.timing.program import Action, Pipe
from softlab.timing.sharing import Region, Sharing
from tests.timing.hand_made import load, row, run

PAIRS = 400


def block(pairs: np.ndarray) -> Loaded:
    """A block whose access 3 k is to the pair ``pairs[k]``: in ascending order of the pairs."""
    found, first = np.unique(pairs, return_index=True)
    return found, 3 * first


def found(blocks: list[Loaded], grid: int = 132, share: float = 100.0) -> Order:
    return order(blocks, 0, 2 * PAIRS - 1, grid, 132, share)


def test_blocks_that_load_a_table_in_the_same_order_all_wait():
    same = found([block(np.arange(PAIRS))] * 3)
    assert set(same.seen) == {0.0}
    assert same.new == pytest.approx(1.0)


def test_of_a_table_that_is_loaded_at_random_most_is_soon_there():
    rng = np.random.default_rng(3)
    mixed = found([block(rng.permutation(PAIRS)) for _ in range(4)])
    assert mixed.at(0, 0) == 0
    assert mixed.at(3 * PAIRS // 2, 0) > 0.99
    assert mixed.new < 0.1
    two = found([block(rng.permutation(PAIRS)) for _ in range(4)], share=2.0)
    assert two.at(3 * PAIRS // 2, 0) < 0.9  # only one other block wants the sector


def test_few_common_sectors_are_judged_together():
    rng = np.random.default_rng(5)
    rare = [block(2 * rng.permutation(PAIRS)[: PAIRS // 8]) for _ in range(6)]
    late = order(rare, 0, 4 * PAIRS - 1, 132, 132, 16.0)
    assert late.at(0, 0) < 0.9 < late.at(3 * PAIRS // 8 - 3, 0)
    assert late.new < 0.6


def test_accesses_next_to_each_other_wait_together():
    order_, other = np.arange(PAIRS), np.arange(PAIRS).reshape(-1, 2)[:, ::-1].reshape(-1)
    first, second = ((np.unique(p), np.argsort(p)) for p in (order_, other))  # each pair of accesses is exchanged
    assert set(found([first, second]).seen) == {0.0}


def test_what_the_first_access_of_all_blocks_covers_is_there_for_the_later_ones():
    own = [np.arange(4 * b, 4 * b + 4) for b in (0, 37, 99)]
    common = np.arange(100, 140)

    def one(mine: np.ndarray) -> Loaded:
        pairs = np.concatenate([mine, common])
        place = np.argsort(pairs)
        numbers = np.concatenate([np.zeros(4, int), 2 + np.arange(40)])
        return pairs[place], numbers[place]

    covered = found([one(mine) for mine in own], grid=100, share=2.0)
    assert covered.covered == ((0, 0, 799),)
    assert covered.at(5, 240) == 1.0
    assert covered.at(0, 240) == 0.0
    assert order([one(mine) for mine in own], 0, 799, 100, 50, 2.0).covered == ()  # they do not run at once


@pytest.mark.parametrize(("grid", "covered"), [(2, False), (40, True)])
def test_blocks_that_load_at_random_cover_less_than_their_sum(grid, covered):
    """Each block loads half of the table with its first access: two of them three quarters, forty all."""
    random = np.random.default_rng(3)
    some = [np.sort(np.append(random.choice(np.arange(1, PAIRS - 1), 198, False), [0, PAIRS - 1])) for _ in range(3)]
    blocks = [(np.arange(PAIRS), np.where(np.isin(np.arange(PAIRS), pairs), 0, 9)) for pairs in some]
    assert bool(found(blocks, grid=grid).covered) == covered


@pytest.mark.parametrize("places", [75, 13500, 1 << 60], ids=["few", "many", "blocks one by one"])
def test_the_first_access_to_each_pair(places: int):
    """Of three blocks, of which one loads nothing. Pairs that lie far apart leave no bits for the block."""
    many = min(places, 13500) * 2 // 3
    random = np.random.default_rng(many)
    turn, numbers = random.choice([0, 2], many), random.integers(0, 3 if places == 1 << 60 else 700, many)
    pairs = random.integers(1 << 42, (1 << 42) + places, many // 2)
    pairs = np.append(pairs, random.choice(pairs, many - many // 2))
    for choice in ("none", "all") if available() else ("none",):
        with compiling(choice):
            blocks = _first(turn, pairs, numbers, 3)
        for block, (found, first) in enumerate(blocks):
            own, of_pairs = numbers[turn == block], pairs[turn == block]
            np.testing.assert_array_equal(found, np.unique(of_pairs))
            assert first.tolist() == [int(own[of_pairs == pair].min()) for pair in found]


def test_warps_of_a_block_need_not_be_neighbours():
    accesses = [
        Accesses(
            np.arange(3, dtype=np.int32), np.full(3, Space.GLOBAL, np.uint8), np.full(3, Kind.LOAD, np.uint8),
            np.ones(3, np.int32), np.array([0, 1, 3, 4]), np.array([0, 2, 4, 9]) + 10 * warp,
        )
        for warp in range(4)
    ]  # fmt: skip
    code, active = np.arange(3, dtype=np.int32), np.ones(3, np.uint32)
    streams = [WarpStream(k % 2, k // 2, code, active, one) for k, one in enumerate(accesses)]
    mixed = loaded(Columns.of(streams))
    sorted_ = loaded(Columns.of(sorted(streams, key=lambda stream: stream.block)))
    for block, (pairs, numbers) in sorted_.items():
        np.testing.assert_array_equal(mixed[block][0], pairs)
        np.testing.assert_array_equal(mixed[block][1], numbers)
    assert mixed[0][0].tolist() == [0, 1, 2, 4, 10, 11, 12, 14]
    assert mixed[0][1].tolist() == [0, 1, 1, 2, 0, 1, 1, 2]


@pytest.mark.skipif(not available(), reason="needs llvmlite")
@pytest.mark.parametrize("places", [90, 1 << 20, 1 << 60], ids=["few", "many", "blocks one by one"])
@pytest.mark.parametrize("blocks", [1, 3, 9])
def test_what_blocks_load_is_the_same_in_both_forms(places: int, blocks: int) -> None:
    """Of requests of all kinds to all memories, of warps that are in no order."""
    random, streams = np.random.default_rng(places + blocks), []
    for warp in range(4 * blocks):
        requests = int(random.integers(0, 40))
        counts = random.integers(0, 33, requests)
        offsets = np.concatenate(([0], counts.cumsum()))
        sectors = random.integers(1 << 30, (1 << 30) + places, int(offsets[-1]))
        numbers = np.arange(requests, dtype=np.int32)
        space, kind = (random.choice(of, requests).astype(np.uint8) for of in ([*Space, 0, 0, 0, 0], [*Kind, 0, 0]))
        accesses = Accesses(numbers, space, kind, np.ones(requests, np.int32), offsets, sectors)
        streams.append(WarpStream(warp % blocks, warp // blocks, numbers, np.ones(requests, np.uint32), accesses))
    columns, found = Columns.of(streams), []
    for choice in ("none", "all"):
        with compiling(choice):
            found.append(loaded(columns))
    assert list(found[0]) == list(found[1])
    for one, other in zip(found[0].values(), found[1].values(), strict=True):
        for mine, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, same)


def test_one_block_or_memory_of_its_own_says_nothing():
    assert found([block(np.arange(PAIRS))]) is NEVER
    assert found([block(np.arange(PAIRS))] * 2, share=1.0) is NEVER
    assert loaded(Columns.of([])) == {}


def test_a_sector_that_others_brought_takes_the_latency_of_l2():
    rows = [row(Pipe.LG, action=Action.MEMORY, write=0), row(Pipe.FMA, wait=(0,))]

    def cycles(given: Order) -> float:
        region = Region(0, 10**6, 100.0, 0.0, 10**6, order=given)
        requests = [load(2 * k, [64 * k]) for k in range(20)]
        return run(rows, repeat=20, requests=lambda b, w: requests, sharing=Sharing((region,), 0.0, 0.0))[0].cycles

    alone, early = cycles(NEVER), cycles(Order((0, 10), (0.0, 1.0), (), 0.5))
    assert alone - early == pytest.approx(10 * (660 - 280), rel=0.1)


def test_pairs_in_common_are_counted_one_by_one():
    random = np.random.default_rng(7)
    blocks = [
        (np.sort(random.choice(60, 30, False)), random.integers(0, 12, 30)),
        (np.sort(random.choice(60, 45, False)), random.integers(0, 12, 45)),
        (np.array([3]), np.array([0])),
    ]
    part = np.concatenate([numbers // 3 for _, numbers in blocks])
    met, before = np.zeros(4), np.zeros(4)
    for one, two in permutations(blocks, 2):
        for pair, number in zip(*one, strict=True):
            (place,) = np.nonzero(two[0] == pair) if pair in two[0] else ([],)
            for other in two[1][place]:
                met[number // 3] += 1
                before[number // 3] += other + 2 <= number
    assert [one.tolist() for one in _met(blocks, part, 4)] == [met.tolist(), before.tolist()]


@pytest.mark.skipif(not available(), reason="needs the compiler")
@pytest.mark.parametrize("pairs", [3, 40, 900])
def test_the_compiled_loop_judges_accesses_as_numpy_does(pairs):
    random = np.random.default_rng(pairs)
    blocks = [
        (np.sort(random.choice(1000, size, False)), 3 * random.integers(0, 30, size))
        for size in random.integers(1, pairs + 1, 5).tolist()
    ]
    with compiling("all"):
        found = _judged(blocks)
    assert [one.tolist() for one in found] == [one.tolist() for one in _judged_by_numpy(blocks)]
