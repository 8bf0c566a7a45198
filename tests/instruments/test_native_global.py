"""The parts of the compiled search for races in global memory, run as the Python that they are, beside plain rules."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import WARP
from softlab.instruments import native_global as compiled
from softlab.instruments import node_layout as layout
from softlab.instruments.global_shadow import IN_BLOCK, LANE_MASK, ONE_CELL, STRONG, TIME_SHIFT, VOLATILE

BLOCKS, WARPS = 3, 3
THREADS, ALL = WARPS * WARP, BLOCKS * WARPS
LANES = BLOCKS * THREADS
#: Flags of accesses: ordinary ones; strong ones of some widths, volatile or of their block.
FLAGS = [0, *(STRONG | width * ONE_CELL | more for width in (1, 2, 4) for more in (0, VOLATILE, IN_BLOCK))]


def rising(random: np.random.Generator, low: int, high: int, size: Any = None) -> Any:
    return random.integers(low, high, size).tolist() if size is not None else int(random.integers(low, high))


class Head:
    """The items of an order that is kept per warp or per block, without nodes, as a list of integers."""

    def __init__(self, random: np.random.Generator, *, per_block: bool, parts: bool) -> None:
        self.s, sizes = [0] * layout.HEAD, {
            layout.WARP_TELLS: ALL, layout.WARP_HAS_READ: ALL, layout.WHOLE_TELLS: ALL, layout.LANE_TELLS: LANES,
            layout.TOLD_AT: ALL * layout.LATEST_TOLD, layout.TOLD_UNTIL: ALL * layout.LATEST_TOLD,
            layout.PART_LANES: ALL, layout.PART_NEAR: ALL * WARPS, layout.PART_NODE: ALL, layout.KNOWN: ALL,
        }  # fmt: skip
        self.s[layout.THREADS], self.s[layout.PER_BLOCK], self.s[layout.PARTS] = THREADS, per_block, parts
        self.s[layout.COLUMNS] = BLOCKS if per_block else ALL
        self.tables: dict[int, list[int]] = {}
        for name, size in sizes.items():
            self.s[name] = len(self.s)
            self.tables[name] = rising(random, 0, 30, size)
            if name == layout.PART_LANES:
                self.tables[name] = [
                    one if k % 2 else layout.ALL_LANES for k, one in enumerate(rising(random, 0, 2**32, size))
                ]
            self.s += self.tables[name]
        # A fence at time t has the place t % LATEST_TOLD.
        for warp, k in product(range(ALL), range(layout.LATEST_TOLD)):
            time = k + layout.LATEST_TOLD * rising(random, 0, 4)
            self.set(layout.TOLD_AT, warp * layout.LATEST_TOLD + k, time)

    def set(self, name: int, at: int, value: int) -> None:
        self.tables[name][at] = self.s[self.s[name] + at] = value

    def tells(self, time: int, other: int, until: int, reads: bool) -> int:
        """What a warp told, at the latest until ``until``, as :func:`native_global.tells` says it."""
        warp = other // WARP
        fences = range(warp * layout.LATEST_TOLD, (warp + 1) * layout.LATEST_TOLD)
        known = [at for at in fences if self.tables[layout.TOLD_AT][at] == until]
        of_all = self.tables[layout.TOLD_UNTIL][known[0]] if known else self.tables[layout.WARP_TELLS][warp]
        if time < of_all:
            return 2
        by_lane = time < self.tables[layout.LANE_TELLS][other] or time < self.tables[layout.WHOLE_TELLS][warp]
        return int(by_lane or (reads and time < self.tables[layout.WARP_HAS_READ][warp]))


@pytest.fixture(params=range(6))
def drawn(request: pytest.FixtureRequest) -> SimpleNamespace:
    random = np.random.default_rng(request.param)
    per_block, parts = bool(request.param & 1), bool(request.param & 2)
    return SimpleNamespace(random=random, per_block=per_block, parts=parts,
                           head=Head(random, per_block=per_block, parts=parts))  # fmt: skip


def test_what_a_lane_tells(drawn: Any) -> None:
    seen = set()
    for _ in range(3000):
        time, until, other = rising(drawn.random, 0, 31), rising(drawn.random, 0, 32), rising(drawn.random, 0, LANES)
        reads = drawn.random.random() < 0.5
        found = compiled.tells(drawn.head.s, time, other, until, reads)
        assert found == drawn.head.tells(time, other, until, reads)
        seen.add((int(found), bool(reads)))
    assert len(seen) == 6


def test_who_knows_a_lane_of_the_own_block(drawn: Any) -> None:
    head, seen = drawn.head, set()
    for _ in range(3000):
        known = rising(drawn.random, 0, 30, ALL * WARPS)
        mine, time, reads = rising(drawn.random, 0, LANES), rising(drawn.random, 0, 31), drawn.random.random() < 0.5
        block = mine // THREADS * THREADS
        other = block + rising(drawn.random, 0, THREADS)
        warp, its_warp = mine // WARP, other // WARP
        until = known[warp * WARPS + its_warp % WARPS]
        expected = 0
        if time < until:
            expected = 2 if warp == its_warp else head.tells(time, other, until, reads)
            takes_part = head.tables[layout.PART_LANES][warp] >> mine % WARP & 1
            if drawn.parts and expected and not takes_part:
                expected = int(time < head.tables[layout.PART_NEAR][warp * WARPS + its_warp % WARPS])
        assert compiled.told_near(known, head.s, time, other, mine, reads, block) == expected
        seen.add(int(expected))
    assert seen == {0, 1, 2}


@pytest.mark.parametrize("nodes", [False, True])
def test_who_knows_a_lane_of_another_block(drawn: Any, nodes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or of an earlier batch, -1: then until when the warp knows it is all that counts."""
    head, width = drawn.head, drawn.head.s[layout.COLUMNS] + 1
    tables = np.array(rising(drawn.random, 0, 30, 2 * ALL * width)).reshape(2, ALL, width)
    for warp in range(ALL):  # node 2 w is what all lanes of a warp know, node 2 w + 1 what those know that part
        head.set(layout.KNOWN, warp, 2 * warp)
        head.set(layout.PART_NODE, warp, 2 * warp + 1)
    monkeypatch.setattr(compiled, "time_of", lambda s, node, column: int(tables[node % 2, node // 2, column]))
    head.s[layout.HAS_NODES] = nodes
    far, seen = tables[0].reshape(-1).tolist(), set()
    for _ in range(3000):
        mine, time, reads = rising(drawn.random, 0, LANES), rising(drawn.random, 0, 31), drawn.random.random() < 0.5
        other, warp = rising(drawn.random, -1, LANES) if drawn.random.random() < 0.9 else -1, mine // WARP
        column = width - 1 if other < 0 else other // (THREADS if drawn.per_block else WARP)
        until, expected = int(tables[0, warp, column]), 0
        if time < until:
            expected = 1 if other < 0 else head.tells(time, other, until, reads)
            takes_part = head.tables[layout.PART_LANES][warp] >> mine % WARP & 1
            if nodes and drawn.parts and expected and not takes_part:
                expected = int(time < tables[1, warp, column])
        found = compiled.told_far(far, head.s, time, other, mine, reads)
        assert (found == expected) if nodes else (bool(found) == bool(expected))
        seen.add(int(expected))
    assert seen == {0, 1, 2}


@pytest.mark.parametrize("has_far", [False, True])
def test_near_and_far_lanes(has_far: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "told_near", lambda *given: ("near", given))
    monkeypatch.setattr(compiled, "told_far", lambda *given: ("far", given))
    s = [0] * layout.HEAD
    s[layout.THREADS], s[layout.HAS_FAR] = THREADS, has_far
    for mine, other in product((0, 95, 96, 191, 200), (-1, 0, 95, 96, 191, 192, 287)):
        block = mine // THREADS * THREADS
        found: Any = compiled.told_of("k", "f", s, 7, other, mine, 1, block)  # type: ignore[arg-type]
        if other >= 0 and other // THREADS == mine // THREADS:
            assert found == ("near", ("k", s, 7, other, mine, 1, block))
        else:
            assert found == (("far", ("f", s, 7, other, mine, 1)) if has_far else 0)


@pytest.mark.parametrize("parts", [0, 2])
@pytest.mark.parametrize("told", [0, 1, 2])
def test_an_answer_for_whole_warps_is_kept(told: int, parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(compiled, "told_of", lambda *given: asked.append(given[3:6]) or told)
    s = [0] * layout.HEAD
    s[layout.ASKED_TIME], s[layout.PARTS] = -1, parts

    def ask(time: int, other: int, mine: int) -> bool:
        return bool(compiled.is_ordered([], [], s, time, other, mine, 0, 0))  # type: ignore[arg-type]

    keeps = told == 2 and not parts
    for first in [(9, 40, 70), (9, -1, 70), (9, 0, 0)]:
        s[layout.ASKED_TIME] = -1
        asked.clear()
        assert ask(*first) == (told > 0)
        for number, again in enumerate([(9, first[1] ^ 1, 70), (9, first[1], first[2] ^ 31)]):
            if first[1] >= 0 and first[1] // WARP == again[1] // WARP and again[2] // WARP == first[2] // WARP:
                before = len(asked)
                assert ask(*again) == (told > 0), number
                assert len(asked) == before + (not keeps)
    # Another time, another warp of either side, and an earlier batch are asked for.
    s[layout.ASKED_TIME] = -1
    ask(9, 40, 70)
    for other in [(8, 40, 70), (9, 72, 70), (9, 40, 33), (9, -1, 70)]:
        s[layout.ASKED_TIME], s[layout.ASKED_OTHER], s[layout.ASKED_MINE] = 9, 1, 2
        asked.clear()
        ask(*other)
        assert asked == [other]


def test_which_earlier_accesses_clash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of another thread, not ordered, and not both strong accesses to the same bytes of a scope that has both."""
    asked: list[tuple[int, ...]] = []
    ordered = False
    monkeypatch.setattr(compiled, "is_ordered", lambda k, f, s, *given: asked.append(given) or ordered)
    s, begin = [0] * layout.HEAD, 6
    s[layout.THREADS] = THREADS
    for one, two, time, other, mine in product(FLAGS, FLAGS, (5, 6, 9), (0, 5, 95, 96, 191), (0, 5, 96)):
        stamp = time << TIME_SHIFT | two | other
        here, block = time >= begin, mine // THREADS * THREADS
        asked.clear()
        ordered = (time + other + mine) % 2 == 0
        found = compiled.clashes([], [], s, begin, stamp, mine, one, 1, block)  # type: ignore[arg-type]
        own = here and other == mine
        both = bool(one & two & STRONG) and one // ONE_CELL == two // ONE_CELL
        in_scope = not (one | two) & IN_BLOCK or (here and other // THREADS == mine // THREADS)
        if own or (both and in_scope):
            assert not found
            assert not asked
        else:
            assert bool(found) == (not ordered)
            assert asked == [(time, other if here else -1, mine, 1, block)]
    assert not compiled.clashes([], [], s, begin, 0, 3, 0, 0, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("nodes", [False, True])
def test_volatile_stores_that_meet(nodes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    read, clash, asked = 0, False, []
    monkeypatch.setattr(compiled, "last_read", lambda s, key, warp: asked.append((key, warp)) or read)
    monkeypatch.setattr(compiled, "clashes", lambda k, f, s, begin, stamp, mine, flags, reads, block: (
        clash and (flags, reads) == (0, 0)))  # fmt: skip
    s = [0] * layout.HEAD
    s[layout.HAS_NODES] = nodes
    for one, two, read, clash, address in product((0, VOLATILE), (0, VOLATILE), (8, 9, 10, 300), (False, True),
                                                  (400, 407, 1 << 20)):  # fmt: skip
        asked.clear()
        stamp = 9 << TIME_SHIFT | two | STRONG | 5
        found = compiled.unseen([], [], s, 1, stamp, 70, one | STRONG, address, 0)  # type: ignore[arg-type]
        meets = bool(one and two and clash)
        assert bool(found) == (meets and (not nodes or read <= 9))
        assert asked == ([(address // 4, 2)] if meets and nodes else [])


def test_reads_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell has its last read, and of the earlier ones that this one does not follow one of another block first."""
    begin, now, cells = 10, 20, 6
    looked: list[int] = []
    full: list[int] = []
    monkeypatch.setattr(compiled, "lacks_room", lambda s: looked.append(0) or len(looked) in full)
    follows: dict[tuple[int, int], bool] = {}

    def clash(stamp: int, mine: int) -> bool:
        own = stamp & LANE_MASK == mine and stamp >> TIME_SHIFT >= begin
        return stamp != 0 and not own and not follows[stamp >> TIME_SHIFT, lane_of(stamp, begin)]

    monkeypatch.setattr(compiled, "clashes", lambda k, f, s, begin, stamp, mine, *more: clash(stamp, mine))
    monkeypatch.setattr(compiled, "is_ordered", lambda k, f, s, time, other, *more: follows[time, other])

    def stamps_of(random: np.random.Generator) -> list[int]:
        times = random.integers(0, 20, cells) * (random.random(cells) < 0.8)
        near, far = 96 + random.integers(0, 9, cells), random.integers(0, LANES, cells)
        lanes = np.where(random.random(cells) < 0.5, far, near)
        return [int(t) << TIME_SHIFT | int(lane) if t else 0 for t, lane in zip(times, lanes, strict=True)]

    for seed in range(150):
        random = np.random.default_rng(seed)
        follows |= {(time, lane): bool(random.random() < 0.5) for time in range(1, 20) for lane in range(-1, LANES)}
        read, other_read = stamps_of(random), stamps_of(random)
        lanes = sorted(rising(random, 96, 192, 5))
        chosen, s = rising(random, 0, cells, 5), [0] * layout.HEAD
        s[layout.THREADS] = THREADS
        stamps = [now << TIME_SHIFT | lane for lane in lanes]
        wanted, wanted_other, answer = read.copy(), other_read.copy(), 0
        kept = {}
        for lane, cell in zip(lanes, chosen, strict=True):
            before, other = read[cell], other_read[cell]
            if not before or (before & LANE_MASK == lane and before >> TIME_SHIFT >= begin):
                continue
            if follows[before >> TIME_SHIFT, lane_of(before, begin)]:
                continue
            answer = compiled.OTHER_READS
            is_near = before >> TIME_SHIFT >= begin and (before & LANE_MASK) // THREADS == lane // THREADS
            if not is_near or not other or follows[other >> TIME_SHIFT, lane_of(other, begin)]:
                kept[cell] = before
        for cell, before in kept.items():
            wanted_other[cell] = before
        for cell, stamp in zip(chosen, stamps, strict=True):
            wanted[cell] = stamp
        for cell, stamp in reversed(list(zip(chosen, stamps, strict=True))):
            if wanted[cell] != stamp:
                wanted_other[cell], answer = stamp, compiled.OTHER_READS
        # Where an order has no more room, nothing is recorded; it is looked for once per warp.
        warps = len({lane // WARP for lane in lanes})
        full.append(warps)
        before_it = read.copy(), other_read.copy()
        looked.clear()
        found = compiled.record_reads(read, other_read, [], [], s, begin, chosen, stamps, [0] * 5, 5)  # type: ignore[arg-type]
        assert (read, other_read, found, len(looked)) == (*before_it, compiled.NO_ROOM, warps)
        full.clear()
        looked.clear()
        found = compiled.record_reads(read, other_read, [], [], s, begin, chosen, stamps, [0] * 5, 5)  # type: ignore[arg-type]
        assert (read, other_read, found) == (wanted, wanted_other, answer)
        assert len(looked) == warps


def lane_of(stamp: int, begin: int) -> int:
    return stamp & LANE_MASK if stamp >> TIME_SHIFT >= begin else -1


def test_writes_that_are_kept() -> None:
    written = [7, 8, 9, 10]
    assert compiled.record_writes(written, [2, 0], [50, 51], 2) == 0  # type: ignore[arg-type]
    assert written == [51, 8, 50, 10]
    assert compiled.record_writes(written, [1, 1, 3], [60, 61, 62], 3) == compiled.SHARED_CELLS  # type: ignore[arg-type]
    assert written == [51, 61, 50, 62]


@pytest.mark.parametrize("step", [1, 4, 8])
def test_addresses_in_a_row(step: int) -> None:
    for start, length in product((0, 3), (WARP - 1, WARP, WARP + 4)):
        addresses = [1000 - 7 * k for k in range(start)] + [64 + step * k for k in range(length)]
        count = len(addresses)
        assert bool(compiled.is_run(addresses, start, count, step)) == (length >= WARP)  # type: ignore[arg-type]
        assert not compiled.is_run(addresses, start, count, 2 * step)  # type: ignore[arg-type]
        for at in (1, 15, WARP - 1) if length >= WARP else ():
            for by in (-step, 1):
                other = addresses.copy()
                other[start + at] += by
                assert not compiled.is_run(other, start, count, step)  # type: ignore[arg-type]


def test_accesses_that_are_no_race_whoever_made_them() -> None:
    """Strong ones of the whole GPU to as many bytes; not two volatile stores."""
    for one, two, time, other, mine in product(FLAGS, FLAGS, (0, 5, 6), (0, 7, 40), (0, 7)):
        stamp, own = time << TIME_SHIFT | two | other if time else 0, 6 << TIME_SHIFT
        kind = compiled.kind_of(one)
        strong = bool(one & STRONG) and not one & IN_BLOCK
        assert (kind >= 0) == strong
        alike = strong and one & ~VOLATILE == stamp & ~VOLATILE & ~LANE_MASK & (1 << TIME_SHIFT) - 1
        alike = bool(alike) and not (one & stamp & VOLATILE)
        assert bool(compiled.is_alike(stamp, kind)) == alike
        is_own = stamp == 0 or (time >= 6 and other == mine)
        assert bool(compiled.is_free(stamp, own, mine, kind)) == (is_own or alike)
        table = [3] * 4 + [0] * WARP
        for k in (0, 13, WARP - 1):
            table[4:] = [0] * WARP
            table[4 + k] = stamp + k if stamp else 0
            free = compiled.is_free_run(table, 4, mine, own, kind)  # type: ignore[arg-type]
            assert bool(free) == (is_own or alike)


@pytest.mark.parametrize("reads", [0, 1])
def test_a_warp_behind_a_whole_warp(reads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []
    told, lacks = 2, False
    monkeypatch.setattr(compiled, "told_of", lambda k, f, s, *given: asked.append(given) or told)
    monkeypatch.setattr(compiled, "lacks_room", lambda s: lacks)
    own = 6 << TIME_SHIFT
    for time, other, break_at, parts, told, lacks in product(
        (5, 6, 7), (0, 64, 65, 96), (None, 1, 31), (0, 1), (0, 1, 2), (False, True)
    ):
        s = [0] * layout.HEAD
        s[layout.THREADS], s[layout.PARTS] = THREADS, parts
        stamp = time << TIME_SHIFT | STRONG | other
        table = [9, 9, *(stamp + k + (k == break_at) for k in range(WARP))]
        asked.clear()
        found = compiled.is_ordered_run(table, 2, 128, own, [], [], s, reads)  # type: ignore[arg-type]
        whole = time >= 6 and other % WARP == 0 and break_at is None and not parts and not lacks
        assert bool(found) == (whole and told == 2)
        assert asked == ([(time, other, 128, reads, 96)] if whole else [])


def test_when_nothing_is_to_be_asked_of_a_warp(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was done to its cells is its own or no race, or it comes after it: writes, and for a store reads, too."""
    free: dict[str, bool] = {}
    behind: dict[tuple[str, str, int], bool] = {}
    kinds: list[tuple[str, int]] = []
    monkeypatch.setattr(compiled, "is_free_run", lambda table, first, mine, own, kind: (
        kinds.append((table, kind)) or free[table]))  # fmt: skip
    monkeypatch.setattr(compiled, "is_ordered_run", lambda table, first, mine, own, k, f, s, reads: (
        behind[table, s, reads]))  # fmt: skip
    monkeypatch.setattr(compiled, "kind_of", lambda flags: 5 * flags)
    truth = (False, True)
    for store, has_read, w_free, w_behind, r_free, r_behind, o_free, reads_behind in product(*[truth] * 8):
        free |= {"w": w_free, "r": r_free, "o": o_free}
        behind |= {("w", "s", 0): w_behind, ("r", "s", 0): r_behind, ("r", "t", 1): reads_behind}
        kinds.clear()
        found = compiled.is_quiet_warp("w", "r", "o", 0, 0, 0, 3, store, has_read, [], [], "s", [], [], "t")  # type: ignore[arg-type]
        expected = w_free or w_behind
        if has_read and store:
            expected = expected and o_free and (r_free or reads_behind)
        elif has_read:
            expected = expected and (r_free or r_behind)
        assert bool(found) == expected
        assert all(kind == (15 if table != "r" or store else -1) for table, kind in kinds)


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("shift", [0, 2])
def test_lanes_that_are_looked_at_one_by_one(width: int, shift: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until one clashes: with a write, as a volatile store, or of a store with a read."""
    bad: dict[str, set[tuple[int, int]]] = {}
    full: list[Any] = []
    looked: list[Any] = []
    monkeypatch.setattr(compiled, "lacks_room", lambda s: looked.append(s[0]) or s in full)
    monkeypatch.setattr(compiled, "clashes", lambda k, f, s, begin, stamp, mine, flags, reads, block: (
        (mine, stamp) in bad["clash"] and (block, flags, s[0])
        == (mine // THREADS * THREADS, STRONG, "s")))  # fmt: skip
    monkeypatch.setattr(compiled, "unseen", lambda k, f, s, begin, stamp, mine, flags, address, block: (
        (mine, address) in bad["unseen"] and flags == STRONG))  # fmt: skip
    monkeypatch.setattr(compiled, "meets_other", lambda r, o, k, f, s, begin, mine, flags, cell, block: (
        (mine, cell) in bad["read"] and s[0] == "t" and flags == STRONG))  # fmt: skip
    random, origin, begin = np.random.default_rng(width), 1 << 12, 4
    s: list[Any] = ["s", *[0] * layout.HEAD]
    t: list[Any] = ["t", *[0] * layout.HEAD]
    s[layout.THREADS] = THREADS
    for case in range(120):
        lanes = sorted(random.choice(LANES, 7, replace=False).tolist())
        first = rising(random, 0, 40, 7)
        addresses = [origin + (one << shift) for one in first]
        times, others = rising(random, 0, 9, 50), rising(random, 0, LANES, 50)
        written = [time << TIME_SHIFT | lane for time, lane in zip(times, others, strict=True)]
        written[7] = 0
        at = rising(random, 0, 7)
        cell = first[at] + rising(random, 0, width)
        what, asks = str(random.choice(["clash", "unseen", "read", "nothing", "full s", "full t"])), bool(case % 2)
        bad = {"clash": set(), "unseen": set(), "read": set()}
        full = [s] if what == "full s" else [t] if what == "full t" else []
        if what in bad:
            bad[what] = {(lanes[at], {"clash": written[cell], "unseen": addresses[at], "read": cell}[what])}
        cells, stamps = [0] * 7 * width, [0] * 7 * width
        stamp = 9 << TIME_SHIFT | STRONG
        looked.clear()
        found = compiled.look(written, [], [], [], [], s, [], [], t, begin, cells, stamps, lanes, addresses, 7, width,  # type: ignore[arg-type]
                              origin, shift, stamp, asks)  # fmt: skip
        mine = lanes[at]

        def own(before: int, mine: int = mine) -> bool:
            return before == 0 or (before >= begin << TIME_SHIFT and before & LANE_MASK == mine)

        its_cells = range(first[at], first[at] + width)
        hit = {
            "clash": any(written[c] == written[cell] and not own(written[c]) for c in its_cells),
            "unseen": any(not own(written[c]) for c in its_cells), "read": asks,
        }  # fmt: skip
        if what.startswith("full"):
            assert found == compiled.NO_ROOM
        elif what in hit:
            assert found == (compiled.UNKNOWN if hit[what] else 0)
        if found == 0:
            assert looked == ["s", "t"] * len({lane // WARP for lane in lanes})
            assert cells == [one + k for one in first for k in range(width)]
            assert stamps == [stamp | lane for lane in lanes for _ in range(width)]


def test_a_store_meets_one_of_two_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "clashes", lambda k, f, s, begin, stamp, mine, flags, reads, block: (
        stamp in bad and (k, f, s, begin, mine, flags, reads, block) == ("k", "f", "s", 4, 5, 6, 1, 0)))  # fmt: skip
    for bad in (set(), {10}, {20}, {10, 20}, {11, 21}):
        found = compiled.meets_other([0, 10, 11], [0, 20, 21], "k", "f", "s", 4, 5, 6, 1, 0)  # type: ignore[arg-type]
        assert bool(found) == bool(bad & {10, 20})


def test_the_first_lane_of_a_block() -> None:
    s = [0] * layout.HEAD
    for threads in (32, 96, 1024):
        s[layout.THREADS] = threads
        for before, mine in product((0, threads, 5 * threads), (0, 31, threads - 1, threads, 5 * threads + 3)):
            assert compiled.block_start(s, before, mine) == mine // threads * threads  # type: ignore[arg-type]
