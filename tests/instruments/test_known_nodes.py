"""Nodes of what warps know, each beside its vector of times. The functions run as the Python that they are."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.lanes import WARP
from softlab.instruments import happens_before, known_steps, known_words, native_order
from softlab.instruments import known_nodes as nodes
from softlab.instruments import node_layout as layout
from softlab.instruments.native_order import NativeOrder
from tests.sampled import each

BLOCKS, WARPS = 3, 3
SIZE = BLOCKS * WARPS
SOME = 0xFF


def begin(order: NativeOrder, what: int, words: np.ndarray, lanes: np.ndarray, *, count: int = 0) -> None:
    """The steps of an order that begins, in Python."""
    known_steps.questions(order._s, what, words, words, lanes, count, 0)


class Arena:
    """An arena as a list of integers, and for each node the times that it must have."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, per_block: bool, lazy: bool) -> None:
        monkeypatch.setattr(happens_before, "_MOST_COLUMNS", 0 if per_block else 100)
        monkeypatch.setattr(native_order, "_WIDEST_ROWS", 0 if lazy else 64)
        monkeypatch.setattr(NativeOrder, "_step", begin)
        order = NativeOrder(BLOCKS, WARPS * WARP, {})
        self.s, self.near = order._s.tolist(), [0] * (SIZE * WARPS)
        self.width, self.few, self.per_block = order.columns + 1, 1 if per_block else WARPS, per_block
        self.times = [np.zeros(self.width, np.int64)]
        self.known, self.now = [0] * SIZE, 10

    def item(self, node: int, name: int) -> int:
        return self.s[self.s[layout.NODES] + layout.NODE * node + name]

    def block(self, node: int, row: int) -> list[int]:
        return self.times[node][row * self.few : (row + 1) * self.few].tolist()

    def adopt(self, node: int, times: np.ndarray, *, since: bool = False) -> int:
        """A node that an operation gave: a known one has these times, and a new one will have them.

        ``since``: its parents may have got rows since it was made.
        """
        if node < len(self.times):
            np.testing.assert_array_equal(self.times[node], times)
            return node
        assert node == len(self.times)
        self.times.append(times)
        parents = [self.item(node, which) for which in (layout.PARENT, layout.OTHER)]
        if self.item(node, layout.DENSE) < 0:
            depth = 1 + max(self.item(of, layout.DEPTH) for of in parents if of >= 0)
            assert depth <= self.item(node, layout.DEPTH) < layout.DEEPEST
            assert since or depth == self.item(node, layout.DEPTH)
        assert self.item(node, layout.NEWEST) == times.max()
        return node

    def fence(self, warp: int) -> int:
        self.now += 1
        row, own = divmod(warp, WARPS)
        times = self.times[self.known[warp]].copy()
        mine = [self.now] if self.per_block else self.near[warp * WARPS : (warp + 1) * WARPS]
        if not self.per_block:
            mine[own] = self.now
        part = slice(row * self.few, (row + 1) * self.few)
        times[part] = np.maximum(times[part], mine)
        node = self.adopt(nodes.fence_node(self.near, self.s, warp, self.now), times)
        nodes.is_told(self.s, row, node)  # anybody may learn it from now on
        return node

    def join(self, a: int, b: int) -> int:
        return self.adopt(nodes.joined(self.s, a, b), np.maximum(self.times[a], self.times[b]))

    def tell(self, p: int, f: int) -> int:
        parent = self.item(f, layout.PARENT) if self.item(f, layout.OF_ROW) >= 0 else f
        no_more = self.item(f, layout.OF_ROW) >= 0 and not self.item(p, layout.IS_LAST) and f != 0
        no_more = no_more and bool(nodes.has_all(self.s, f, p) and nodes.has_all(self.s, p, parent))
        found = nodes.told(self.s, p, f, max(0, self.item(f, layout.OF_ROW)))
        if no_more:
            assert found in (p, f), "what is told has all that the word told, and no chain goes on"
        if found == len(self.times) + 1:
            self.adopt(found - 1, np.maximum(self.times[p], self.times[parent]))  # joined with the parent first
        return self.adopt(found, np.maximum(self.times[p], self.times[f]))

    def learn(self, warp: int, node: int, lanes: int) -> None:
        """All lanes of a warp learn a node, or some; the others then have what all had."""
        s, before, near = self.s, self.known[warp], self.near.copy()
        part, parts = s[s[layout.PART_LANES] + warp], s[layout.PARTS]
        learnt = bool(self.item(node, layout.IS_LEARNT))
        news = bool((self.times[node] > self.times[before]).any())
        found = nodes.learn(self.near, s, warp, node, lanes)
        after = s[s[layout.KNOWN] + warp]
        self.known[warp] = self.adopt(after, np.maximum(self.times[before], self.times[node]), since=True)
        assert found == (after != before)
        if found and learnt:
            assert self.item(node, layout.DEPTH) <= 1, "a node that several learn has a row near"
        row = warp // WARPS
        block = self.block(node, row) * (WARPS if self.per_block else 1)
        mine = slice(warp * WARPS, (warp + 1) * WARPS)
        assert self.near[mine] == np.maximum(near[mine], block).tolist()
        begins = lanes != layout.ALL_LANES and part == layout.ALL_LANES and news
        assert s[layout.PARTS] == parts + begins
        if begins:
            assert s[s[layout.PART_LANES] + warp] == 0
            assert s[s[layout.PART_NODE] + warp] == before
            assert s[s[layout.PART_NEAR] + warp * WARPS :][:WARPS] == near[mine]
            s[s[layout.PART_LANES] + warp], s[layout.PARTS] = layout.ALL_LANES, parts

    def check(self, random: np.random.Generator) -> None:
        """Each way to ask for times, on a copy: a question may give a node a row. Rows and snapshots have no gaps."""
        for n in random.integers(len(self.times), size=4).tolist():
            s, other = self.s.copy(), int(random.integers(max(0, n - 4), min(len(self.times), n + 4)))
            s[layout.VISITS] += 1
            assert [nodes.time_of(s, n, c) for c in range(self.width)] == self.times[n].tolist()
            assert nodes.newest_of(s, n) == self.times[n].max()
            for row in range(BLOCKS):
                at = nodes.block_times(s, n, row)
                assert s[at : at + self.few] == self.block(n, row)
            if nodes.has_all(s, n, other):
                assert (self.times[n] >= self.times[other]).all()
            adds = self.item(other, layout.OF_ROW) >= 0 and nodes.has_all(s, n, self.item(other, layout.PARENT))
            assert bool(nodes.covers(s, n, other)) == (adds and (self.times[n] >= self.times[other]).all())
            assert bool(nodes.is_news(s, n, other)) == (self.times[other] > self.times[n]).any()
            at = nodes.row_of(s, n)
            assert s[at : at + self.width] == self.times[n].tolist()
            assert (s[self.s[layout.NODES] + layout.NODE * n + layout.DENSE] >= 0, nodes.densify(s, n)) == (True, 0)
        everyone = range(len(self.times))
        rows = [self.item(n, layout.DENSE) for n in everyone if self.item(n, layout.DENSE) >= 0]
        assert sorted(rows) == list(range(self.s[layout.ROW_COUNT]))
        snapshots = {self.item(n, layout.TIMES) for n in everyone if self.item(n, layout.OF_ROW) >= 0}
        first = self.s[layout.SNAPSHOTS]
        assert snapshots == {first + self.few * k for k in range(self.s[layout.SNAPSHOT_COUNT])}
        assert self.s[layout.NODE_COUNT] == len(self.times)


@pytest.fixture(params=["rows", "lazy", "per block", "lazy per block"])
def arena(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Arena:
    return Arena(monkeypatch, "per block" in request.param, "lazy" in request.param)


@pytest.mark.parametrize("seed", each(3, range(5)))
def test_nodes_have_the_times_of_what_made_them(arena: Arena, seed: int) -> None:
    random, words = np.random.default_rng(seed), [0, 0, 0]
    for _ in range(150):
        warp, word = int(random.integers(SIZE)), int(random.integers(3))
        recent = int(random.integers(max(0, len(arena.times) - 8), len(arena.times)))
        kind = random.random()
        if kind < 0.3:
            words[word] = arena.tell(words[word], arena.fence(warp))
        elif kind < 0.5:
            arena.learn(warp, words[word], layout.ALL_LANES if random.random() < 0.7 else SOME)
        elif kind < 0.65:
            arena.join(recent, int(random.integers(len(arena.times))))
        elif kind < 0.8:
            words[word] = arena.join(words[word], arena.known[warp])
        else:
            arena.tell(recent, int(random.integers(len(arena.times))))
        arena.check(random)
    assert len(arena.times) > 60


def test_what_is_known_already_makes_no_node(arena: Arena) -> None:
    """A node joined with itself, with nothing, with what it was made of; the same question again."""
    first, second = arena.fence(0), arena.fence(SIZE - 1)
    both = arena.join(first, second)
    count = len(arena.times)
    for pair in ((first, first), (first, 0), (0, first)):
        assert nodes.joined(arena.s, *pair) == first
    assert both not in (first, second)
    assert nodes.joined(arena.s, first, second) == both
    assert nodes.told(arena.s, both, 0, 0) == both
    assert nodes.told(arena.s, 0, first, 0) == first
    assert arena.s[layout.NODE_COUNT] == count
    later = arena.fence(0)
    assert nodes.joined(arena.s, later, first) == nodes.joined(arena.s, first, later) == later, "of one warp"
    assert arena.s[layout.NODE_COUNT] == count + 1


def test_a_word_that_many_warps_tell_has_a_chain(arena: Arena) -> None:
    """The later ones have all of the earlier ones, seen at once, however far they are apart."""
    word, chain = 0, []
    for turn in range(3 * SIZE):
        word = arena.tell(word, arena.fence(turn % SIZE))
        chain.append(word)
    rows = arena.s[layout.ROW_COUNT]
    late = chain[2:]
    for number, node in enumerate(late):
        assert [bool(nodes.has_all(arena.s, node, one)) for one in late] == [k <= number for k in range(len(late))]
    assert arena.s[layout.ROW_COUNT] == rows, "nobody needed a row"


def test_a_node_has_all_of_its_nearest_parents(arena: Arena) -> None:
    """Of those further up that is not seen at once; nor by a node of what a child of it has."""
    made = [arena.fence(0)]
    for turn in range(1, 8):
        warp = turn % SIZE
        arena.learn(warp, made[-1], layout.ALL_LANES)
        made.append(arena.fence(warp))
    s = arena.s
    parents, above = [], s[s[layout.NODES] + layout.NODE * made[-1] + layout.PARENT]
    while above > 0:
        parents.append(above)
        above = arena.item(above, layout.PARENT)
    seen = [bool(nodes.has_all(s, made[-1], one)) for one in parents]
    assert seen[: layout.NEAREST - 1] == [True] * min(len(parents), layout.NEAREST - 1)
    assert all(not nodes.has_all(s, one, made[-1]) for one in parents)
    assert nodes.has_all(s, made[-1], 0)
    assert not nodes.has_all(s, 0, made[-1])


def test_a_node_that_is_asked_often_gets_a_row(arena: Arena) -> None:
    for warp in (0, 2):
        arena.learn(4, arena.fence(warp), layout.ALL_LANES)
    node = arena.fence(4)
    assert arena.item(node, layout.DENSE) < 0
    for turn in range(1, 6):
        assert nodes.time_of(arena.s, node, arena.width - 1) == 0
        assert (arena.item(node, layout.DENSE) >= 0) == (turn >= layout.OFTEN)


def test_long_lines_of_parents_end_at_a_row(arena: Arena) -> None:
    deepest = 0
    for turn in range(2 * layout.DEEPEST):
        warp = turn % SIZE
        node = arena.fence(warp)
        s = arena.s
        s[s[layout.KNOWN] + warp] = s[s[layout.KNOWN] + (warp + 1) % SIZE] = node
        arena.known[warp] = arena.known[(warp + 1) % SIZE] = node
        deepest = max(deepest, arena.item(node, layout.DEPTH))
        assert (arena.item(node, layout.DENSE) >= 0) == ((turn + 1) % layout.DEEPEST == 0)
    assert deepest == layout.DEEPEST - 1


def test_until_when_others_may_know_a_block(arena: Arena) -> None:
    """A block's fences count from when a word is told them, whoever made them; an older one comes too late."""
    s, first = arena.s, arena.s[arena.s[layout.BLOCK_TOLD] :][:BLOCKS]
    assert first == [0] * BLOCKS
    early, late = (nodes.fence_node(arena.near, s, warp, now) for warp, now in ((0, 20), (1, 30)))
    assert [nodes.is_told(s, 0, node) for node in (early, early, late, early)] == [0, 1, 0, 1]
    assert s[s[layout.BLOCK_TOLD] :][:BLOCKS] == [30, 0, 0]


def test_a_warp_that_tells_the_same_again_makes_no_node(arena: Arena) -> None:
    """It remembers the last answer, one for what it tells to all and one for what it tells its block."""
    s = arena.s
    mine, other, more = arena.fence(0), arena.fence(3), arena.fence(5)
    told = {}
    for kind, p in ((0, other), (1, more)):
        told[kind] = arena.adopt(nodes.told_by(s, 0, kind, p, mine), np.maximum(arena.times[p], arena.times[mine]))
    count = s[layout.NODE_COUNT]
    for kind, p in ((0, other), (1, more), (0, other)):
        assert nodes.told_by(s, 0, kind, p, mine) == told[kind]
    assert nodes.told_by(s, 0, 0, told[0], mine) == told[0], "it has been told that already"
    assert s[layout.NODE_COUNT] == count
    assert nodes.told_by(s, 1, 0, other, 0) == other
    found = nodes.told_by(s, 0, 0, more, mine)
    arena.adopt(found, np.maximum(arena.times[more], arena.times[mine]))


@pytest.mark.parametrize("seed", range(4))
def test_words_are_found_by_their_keys(arena: Arena, seed: int) -> None:
    """Few places for many keys, so that they meet; a right guess and wrong ones change nothing."""
    random, s = np.random.default_rng(seed), arena.s
    s[layout.WORD_ROOM] = 32
    keys = [int(key) for key in random.integers(-(1 << 40), 1 << 40, 30)] + [0, -1, layout.OF_BLOCK | 5]
    places: dict[int, int] = {}
    first = s[layout.WORDS]
    for _ in range(200):
        key = keys[random.integers(len(keys))]
        beyond = first + layout.WORD * len(places)
        guess = int(random.choice([layout.NONE, first, places.get(key, layout.NONE), beyond]))
        make = len(places) < 24 and random.random() < 0.3
        found = known_words.found_word(s, key, make, guess)
        if key not in places and not make:
            assert found == layout.NONE
            continue
        if key not in places:
            assert found == first + layout.WORD * len(places)
            assert s[found : found + layout.WORD] == [key, *[0] * (layout.WORD - 1)]
            s[found + 1 : found + layout.WORD] = [7] * (layout.WORD - 1)
            places[key] = found
        assert found == places[key]
        assert s[layout.WORD_COUNT] == len(places)
    table, room = s[layout.TABLE], 2 * s[layout.WORD_ROOM]
    before, s[table : table + room] = s[table : table + room], [layout.NONE] * room
    known_steps.index(s)
    assert s[table : table + room] == before
    assert {key: known_words.found_word(s, key, 0, layout.NONE) for key in places} == places


@pytest.mark.parametrize("number", [0, 1, 2, 19, 20, 21, 34, 35, 37, 39, 40])
def test_a_row_that_is_split_is_found_no_more(arena: Arena, number: int) -> None:
    """Its words have what it had, and the number of it. ``number``: words that are there before it."""
    s = arena.s
    for key in range(number):
        known_words.found_word(s, key, 1, layout.NONE)
    key = 5 << layout.LINE_SHIFT
    line = known_words.found_word(s, layout.OF_LINE | 5, 1, layout.NONE)
    known_words.found_word(s, layout.OF_LINE | 6, 1, layout.NONE)
    told = list(range(70, 70 + layout.LINE_OF - 1))
    s[line + 1 : line + layout.LINE_OF] = told
    assert (s[layout.LINES], s[layout.SINGLES], s[layout.WORD_COUNT]) == (2, number, number + 2)
    assert known_words.split(s, (7 << layout.LINE_SHIFT) + 3) == 0
    assert s[layout.LINES] == 2
    assert known_words.split(s, key + 9) == 1
    assert known_words.split(s, key + 9) == 0
    singles = number + layout.LINE
    assert (s[layout.LINES], s[layout.SINGLES], s[layout.WORD_COUNT]) == (1, singles, singles + 2)
    for k in range(layout.LINE):
        at = known_words.found_word(s, key + k, 0, layout.NONE)
        assert s[at : at + layout.WORD] == [key + k, *told, number + 1]
    for other in (key - 1, key + layout.LINE):
        assert known_words.found_word(s, other, 0, layout.NONE) == layout.NONE
    # No word finds what the row was by a question for a block's word, a row or a reader.
    for word, row in ((word, row) for word in range(100) for row in range(BLOCKS)):
        asked = known_words.block_key(s, word, row * WARPS)
        assert known_words.found_word(s, asked, 0, layout.NONE) == layout.NONE
        assert known_words.found_word(s, layout.OF_READER | (word << 20 | row), 0, layout.NONE) == layout.NONE
    assert known_words.line_of(s, key, layout.NONE) == layout.NO_LINE
    assert known_words.line_of(s, 6 << layout.LINE_SHIFT, layout.NONE) == line + layout.WORD
    assert known_words.line_of(s, 8 << layout.LINE_SHIFT, layout.NONE) == layout.NONE


@pytest.mark.parametrize("number", [0, 2, 5])
def test_what_a_row_told_a_block_its_words_tell_it(arena: Arena, number: int) -> None:
    """A block's word of the row counts until the word has one of its own, which begins with it."""
    s, row = arena.s, 1
    for key in range(number):
        known_words.found_word(s, key, 1, layout.NONE)
        of = known_words.block_word(s, s[layout.WORDS] + layout.WORD * key, WARPS * row, 1)
        s[of + layout.TELLS] = 50 + key
    warp, key = WARPS * row + 1, 9 << layout.LINE_SHIFT
    line = known_words.found_word(s, layout.OF_LINE | 9, 1, layout.NONE)
    of_line = known_words.block_word(s, line, warp, 1)
    s[of_line + layout.TELLS] = 31
    known_words.split(s, key)
    first, second = (known_words.found_word(s, key + k, 0, layout.NONE) for k in (0, 1))
    assert known_words.block_word(s, first, warp, 0) == of_line
    assert known_words.block_word(s, first, warp + WARPS, 0) == layout.NONE
    own = known_words.block_word(s, first, warp, 1)
    assert own not in (of_line, layout.NONE)
    assert s[own + layout.TELLS] == 31
    assert known_words.block_word(s, first, warp, 0) == own
    assert known_words.block_word(s, second, warp, 0) == of_line
    other = known_words.block_word(s, first, warp + WARPS, 1)
    assert s[other + layout.TELLS] == 0
    for key in range(number):
        of = known_words.block_word(s, s[layout.WORDS] + layout.WORD * key, WARPS * row + 2, 0)
        assert s[of + layout.TELLS] == 50 + key


def test_what_earlier_batches_told_counts_for_all(arena: Arena) -> None:
    """A word's time becomes a node: that of the last column alone. Words of one time share it."""
    s = arena.s
    ats = [known_words.found_word(s, key, 1, layout.NONE) for key in (3, 4, 5, 6)]
    for at, time in zip(ats, (5, 5, 6, 0), strict=True):
        s[at + layout.EARLIER] = time
    last = np.arange(arena.width) == arena.width - 1
    arena.adopt(known_words.recall(s, ats[0]), 5 * last)
    assert known_words.recall(s, ats[1]) == known_words.recall(s, ats[0]) == 1
    arena.adopt(known_words.recall(s, ats[2]), 6 * last)
    assert [s[at + layout.EARLIER] for at in ats] == [0] * 4
    assert known_words.recall(s, ats[3]) == 0
    found = [0] * 4
    known_steps.latest(s, found)
    assert found == [5, 5, 6, 0]
    s[ats[3] + layout.EARLIER] = 4
    known_steps.latest(s, found)
    assert found == [5, 5, 6, 4]
    arena.check(np.random.default_rng(0))


@pytest.mark.parametrize("what", [layout.NODE_ROOM, layout.SNAPSHOT_ROOM, layout.ROW_ROOM, layout.WORD_ROOM])
def test_room_for_one_more_lane(arena: Arena, what: int) -> None:
    count = {layout.NODE_ROOM: layout.NODE_COUNT, layout.SNAPSHOT_ROOM: layout.SNAPSHOT_COUNT,
             layout.ROW_ROOM: layout.ROW_COUNT, layout.WORD_ROOM: layout.WORD_COUNT}[what]  # fmt: skip
    assert known_words.has_room(arena.s)
    arena.s[what] = arena.s[count] + (layout.SPARE_WORDS if what == layout.WORD_ROOM else layout.SPARE) + 1
    assert known_words.has_room(arena.s)
    for _ in range(3):
        arena.s[what] -= 1
        assert not known_words.has_room(arena.s)


def warps_hold(arena: Arena, table: int) -> list[int]:
    first = arena.s[table]
    return arena.s[first : first + SIZE]


@pytest.mark.parametrize("seed", range(6))
def test_a_barrier_of_a_block_joins_what_its_warps_know(arena: Arena, seed: int) -> None:
    """Who waits gets it; who arrived and went on does not; a block whose warps know the same is left as it is."""
    random, s = np.random.default_rng(seed), arena.s
    tables = (layout.KNOWN, layout.FENCED, layout.FENCED_IN_BLOCK)
    for _ in range(8):
        s[s[layout.KNOWN] : s[layout.KNOWN] + SIZE] = [0] * SIZE
        for table in tables:
            for warp in range(SIZE):
                s[s[table] + warp] = int(random.choice([0, arena.fence(warp)]))
        differs = random.integers(0, 2, BLOCKS).tolist()
        s[s[layout.DIFFERS] : s[layout.DIFFERS] + BLOCKS] = differs
        partly = random.integers(0, 2, SIZE).tolist()
        s[layout.PARTS] = sum(partly)
        s[s[layout.PART_LANES] : s[layout.PART_LANES] + SIZE] = [SOME if one else layout.ALL_LANES for one in partly]
        here = random.choice([0, 1, 3, 3], SIZE).tolist()
        before = {table: [arena.times[node] for node in warps_hold(arena, table)] for table in tables}
        assert known_steps.meet(s, here, 0, BLOCKS) == BLOCKS
        for node in range(len(arena.times), s[layout.NODE_COUNT]):  # some warps of a block, or all of them
            rows = s.copy()
            at = nodes.row_of(rows, node)
            arena.times.append(np.array(rows[at : at + arena.width]))
        for row in range(BLOCKS):
            mine = range(row * WARPS, (row + 1) * WARPS)
            waits, come = [w for w in mine if here[w] == 3], [w for w in mine if here[w]]
            for table in tables:
                together = np.max([before[table][warp] for warp in come], axis=0) if come else None
                for warp in mine:
                    now = s[s[table] + warp]
                    gets = differs[row] and warp in waits
                    np.testing.assert_array_equal(arena.times[now], together if gets else before[table][warp])
            met = bool(waits and differs[row])
            assert s[s[layout.DIFFERS] + row] == (len(waits) < WARPS if met else differs[row])
        left = [bool(one and here[warp] != 3) for warp, one in enumerate(partly)]
        assert s[layout.PARTS] == sum(left)
        assert [one != layout.ALL_LANES for one in warps_hold(arena, layout.PART_LANES)] == left


def test_lanes_that_learn_what_their_warp_knows(arena: Arena) -> None:
    """A warp has parts until all of its lanes have learnt what one of them did."""
    s = arena.s
    lanes = [32, 33, 35, 70]
    known_steps.masks(s, lanes, 4, 0, 0)
    assert [s[s[layout.MASK] + warp] for warp in (1, 2)] == [0b1011, 1 << 6]
    s[s[layout.PART_LANES] + 1], s[layout.PARTS] = 0, 1
    known_steps.parts_grow(s, lanes, 4)
    assert (s[s[layout.PART_LANES] + 1], s[layout.PARTS]) == (0b1011, 1)
    rest = [32 + lane for lane in range(32) if lane not in (0, 1, 3)]
    known_steps.masks(s, rest, len(rest), 0, 0)
    known_steps.parts_grow(s, rest, len(rest))
    assert (s[s[layout.PART_LANES] + 1], s[layout.PARTS]) == (layout.ALL_LANES, 0)
    known_steps.parts_grow(s, rest, len(rest))
    assert s[layout.PARTS] == 0
    s[s[layout.PART_LANES] + 1], s[layout.PARTS] = 1, 1
    known_steps.lanes_meet(s, 1)
    known_steps.lanes_meet(s, 2)
    assert (s[s[layout.PART_LANES] + 1], s[layout.PARTS]) == (layout.ALL_LANES, 0)


def test_fences_of_the_warps_of_lanes(arena: Arena) -> None:
    """One per warp; without ``TO_ALL`` for its block alone. Where there is no more room it says before which lane."""
    s, lanes = arena.s, [0, 1, 40, 64 + 3, 64 + 32]
    assert known_steps.fences(arena.near, s, lanes, 0, 5, 50, known_steps.TO_ALL) == 5
    assert [bool(one) for one in warps_hold(arena, layout.FENCED)] == [warp < 4 for warp in range(SIZE)]
    assert warps_hold(arena, layout.FENCED) == warps_hold(arena, layout.FENCED_IN_BLOCK)
    assert s[layout.NODE_COUNT] == 5
    assert s[s[layout.DIFFERS] : s[layout.DIFFERS] + BLOCKS] == [1, 1, 0]
    before = warps_hold(arena, layout.FENCED)
    assert known_steps.fences(arena.near, s, lanes, 2, 4, 51, 0) == 4
    assert warps_hold(arena, layout.FENCED) == before
    after = warps_hold(arena, layout.FENCED_IN_BLOCK)
    assert [a != b for a, b in zip(after, before, strict=True)] == [warp in (1, 2) for warp in range(SIZE)]
    s[layout.NODE_ROOM] = s[layout.NODE_COUNT] + layout.SPARE + 2
    assert known_steps.fences(arena.near, s, lanes, 0, 5, 52, known_steps.TO_ALL) == 3, (
        "two nodes more, of warps 0 and 1"
    )


def test_when_a_warp_read_a_word_last(arena: Arena) -> None:
    s = arena.s
    s[layout.CALLS] = 1
    for key, warp, now in ((5, 0, 20), (5, 3, 21), (6, 0, 22), (5, 0, 23)):
        assert (
            known_steps.access_word(arena.near, s, known_steps.READ, key, warp, now, known_steps.REMEMBER, layout.NONE)
            >= 0
        )
    found = {(key, warp): known_steps.last_read(s, key, warp) for key in (5, 6, 7) for warp in (0, 3)}
    assert found == {(5, 0): 23, (5, 3): 21, (6, 0): 22, (6, 3): 0, (7, 0): 0, (7, 3): 0}
    answers = [0, 0, 0]
    known_steps.questions(s, known_steps.LAST_READS, [5, 5, 6], answers, [0, 3 * 32 + 4, 31], 3, 0)
    assert answers == [23, 21, 22]


@pytest.mark.parametrize("rows", [0, 1])
def test_who_reads_alone_makes_no_word(arena: Arena, rows: int) -> None:
    """Nor who tells nothing. A write by a warp that has made a fence replaces what was told, an exchange adds to it."""
    s, near = arena.s, arena.near
    s[layout.CALLS] = 1
    known_steps.masks(s, list(range(64 * BLOCKS)), 64 * BLOCKS, 1, rows)
    for op in (known_steps.READ, known_steps.WRITE, known_steps.EXCHANGE):
        assert known_steps.access_word(near, s, op, 5, 0, 20, known_steps.TO_ALL, layout.NONE) == layout.NONE
    assert s[layout.WORD_COUNT] == 0
    known_steps.fences(near, s, [0, WARPS * WARP], 0, 2, 30, known_steps.TO_ALL)
    first, second = s[s[layout.FENCED] + 0], s[s[layout.FENCED] + WARPS]
    at = known_steps.access_word(near, s, known_steps.EXCHANGE, 5, 0, 31, known_steps.TO_ALL, layout.NONE)
    assert s[at + layout.TELLS] == first
    s[layout.CALLS] += 1
    assert known_steps.access_word(near, s, known_steps.WRITE, 5, WARPS, 32, known_steps.TO_ALL, at) == at
    assert s[at + layout.TELLS] == second
    s[layout.CALLS] += 1
    assert known_steps.access_word(near, s, known_steps.EXCHANGE, 5, 0, 33, known_steps.TO_ALL, at) == at
    told = s[at + layout.TELLS]
    column = [0, 1] if arena.per_block else [0, WARPS]
    assert [nodes.time_of(s, told, one) for one in column] == [30, 30]
    assert s[layout.LANES_SHARE] == 0
    known_steps.access_word(near, s, known_steps.EXCHANGE, 5, 0, 33, known_steps.TO_ALL, at)
    assert s[layout.LANES_SHARE] == 1, "two lanes of a warp in one instruction"


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_guess_beyond_the_words_is_none(arena: Arena, count: int) -> None:
    """What lies there may be left of a word that is no more."""
    s = arena.s
    for key in range(count):
        known_words.found_word(s, key, 1, layout.NONE)
    behind = s[layout.WORDS] + count * layout.WORD
    for place in (behind, behind + layout.WORD, behind + 4 * layout.WORD):
        s[place + layout.KEY] = 7
        assert known_words.found_word(s, 7, 0, place) == layout.NONE
    assert known_words.found_word(s, 7, 1, behind) == behind


def test_what_a_warp_publishes_counts_whatever_the_number_of_the_call(arena: Arena) -> None:
    """Numbers of calls, from 1 on, may be those of anything else that the arena has."""
    s = arena.s
    for turn, number in enumerate(filter(None, (*s[: layout.SNAPSHOT + 1], 1, 7))):
        s[layout.CALLS] = number - 1
        assert known_steps.publications(arena.near, s, [5 + turn], [90], [0], 1, 0, 30 + turn, 0) == 1
        at = known_words.found_word(s, 5 + turn, 0, layout.NONE)
        assert nodes.newest_of(s, s[at + layout.TELLS]) == 30 + turn


@pytest.mark.parametrize("flags", [0, known_steps.AS_FENCED, known_steps.OVERWRITE,
                                   known_steps.OVERWRITE | known_steps.AS_FENCED])  # fmt: skip
def test_lanes_in_any_order_publish_what_their_own_warps_know(arena: Arena, flags: int) -> None:
    """Each word tells what the warps know that publish there; the words before theirs count, unless it is overwritten.

    ``AS_FENCED``: what a warp knew at its last fence.
    """
    s, column = arena.s, [warp if not arena.per_block else warp // WARPS for warp in range(SIZE)]
    for warp in range(SIZE):
        node = arena.fence(warp)
        s[s[layout.FENCED] + warp] = node
    before = known_words.found_word(s, 50, 1, layout.NONE)
    s[before + layout.TELLS] = s[s[layout.FENCED] + 7]
    order = [(3, 11), (3, 12), (1, 13), (1, 14), (4, 15), (3, 16), (2, 13), (0, 11), (0, 11), (8, 17)]
    lanes, words = [warp * WARP + 5 for warp, _ in order], [word for _, word in order]
    now = arena.now + 10
    found = known_steps.publications(arena.near, s, words, [50] * len(order), lanes, len(order), 0, now, flags)
    assert found == len(order)
    for word in sorted(set(words)):
        at = known_words.found_word(s, word, 0, layout.NONE)
        s[layout.VISITS] += 1
        tells = [nodes.time_of(s, s[at + layout.TELLS], c) for c in range(arena.width)]
        wanted = [0] * arena.width
        for warp in {warp for warp, of in order if of == word}:
            of = s[s[layout.FENCED] + warp]
            for c in range(arena.width):
                wanted[c] = max(wanted[c], int(arena.times[of][c]))
            if not flags & known_steps.AS_FENCED:
                wanted[column[warp]] = max(wanted[column[warp]], now)
        if not flags & known_steps.OVERWRITE:
            wanted = [max(*pair) for pair in zip(wanted, arena.times[s[before + layout.TELLS]].tolist(), strict=True)]
        assert tells == wanted, word


@pytest.mark.parametrize(
    ("room", "count", "needs"), [(layout.ROW_ROOM, layout.ROW_COUNT, 3), (layout.NODE_ROOM, layout.NODE_COUNT, 1)]
)
def test_a_barrier_of_many_warps_says_where_it_ran_out_of_room(
    room: int, count: int, needs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its three tables may take a row for each join of two warps, and a node for each warp."""
    warps = layout.SPARE + 5
    monkeypatch.setattr(NativeOrder, "_step", begin)
    order = NativeOrder(2, warps * WARP, {})
    for row in range(2):
        s = order._s.tolist()
        s[s[layout.DIFFERS] + row] = 1
        for more, passed in ((needs * warps, row), (needs * warps + 1, 2)):
            s[room] = s[count] + more
            assert known_steps.meet(s, [3] * (2 * warps), 0, 2) == passed
    s = order._s.tolist()
    s[room] = s[count] + 1
    assert known_steps.meet(s, [3] * (2 * warps), 0, 2) == 2, "blocks whose warps know the same need none"


def test_each_block_has_a_bit() -> None:
    bits = [nodes.row_bit(row) for row in range(70)]
    assert bits == [2 ** (row % 32) for row in range(70)]


@pytest.mark.parametrize("rising", [0, 1])
def test_lanes_of_a_whole_warp_at_words_in_a_row(rising: int) -> None:
    """``rising``: the lanes are known to rise, so that the first and the last one tell."""
    for start in (0, 3):
        lanes, words = [*range(7, 7 + start), *range(64, 99)], [*range(500, 500 + start), *range(96, 131)]
        count = len(lanes)
        assert known_steps.is_whole_warp(lanes, start, count, rising)
        assert known_steps.is_line(words, lanes, start, count, rising, 0, 0)
        for too_few in (start, start + 1, start + WARP - 1):
            assert not known_steps.is_whole_warp(lanes, start, too_few, rising)
            assert not known_steps.is_line(words, lanes, start, too_few, rising, 0, 0)
        assert known_steps.is_line(words, lanes, start, start + WARP, rising, 0, 0)
        of_bytes = [4 * word + 3 for word in words]
        assert known_steps.is_line(of_bytes, lanes, start, count, rising, 2, 0)
        assert not known_steps.is_line(of_bytes, lanes, start, count, rising, 0, 0)
        for by in (-1, 1, 32, -96, -100):
            moved = [word + by for word in words]
            assert bool(known_steps.is_line(moved, lanes, start, count, rising, 0, 0)) == (
                by % 32 == 0 and by > -96 - 1
            )
        for at in (0, 1, 15, WARP - 1):
            for by in (-1, 1, 64):
                other = words.copy()
                other[start + at] += by
                assert not known_steps.is_line(other, lanes, start, count, rising, 0, 0)
        for first in (65, 33):  # lanes of two warps
            apart = [*lanes[:start], *range(first, first + 35)]
            assert not known_steps.is_whole_warp(apart, start, count, rising)
            assert not known_steps.is_line(words, apart, start, count, rising, 0, 0)
        gap = [lane + (k > start + 8) for k, lane in enumerate(lanes)]
        assert not known_steps.is_whole_warp(gap, start, count, rising)
        assert not known_steps.is_line(words, gap, start, count, rising, 0, 0)
        if not rising:  # in any order
            swapped = lanes.copy()
            swapped[start + 3], swapped[start + 9] = swapped[start + 9], swapped[start + 3]
            assert not known_steps.is_whole_warp(swapped, start, count, 0)
            assert known_steps.is_line(words, swapped, start, count, 0, 0, 0)
            foreign = lanes.copy()
            foreign[start + 9] += 32
            assert not known_steps.is_whole_warp(foreign, start, count, 0)
            assert not known_steps.is_line(words, foreign, start, count, 0, 0, 0)


def test_rows_of_whole_warps_are_lines_where_they_begin() -> None:
    lanes = list(range(2 * WARP))
    for first, start in ((64, 0), (65, 0), (-64, 0), (64, WARP), (63, 1)):
        words = list(range(first, first + 2 * WARP))
        found = known_steps.is_line(words, lanes, start, 2 * WARP, 1, 0, 1)
        assert bool(found) == (first == 64)
        assert bool(found) == bool(known_steps.is_line(words, lanes, start, 2 * WARP, 1, 0, 0))


def words_of_a_batch(arena: Arena, random: np.random.Generator) -> dict[int, int]:
    """Fill the table of words: key -> the latest time that it tells, for those of global memory that tell something."""
    s, told = arena.s, {}
    for warp in range(SIZE):
        node = arena.fence(warp)
        s[s[layout.FENCED] + warp] = node
    keys = [*random.permutation(400)[:25].tolist(), -1, -9, layout.OF_LINE | 3, layout.OF_LINE | 20,
            layout.OF_READER | 5, layout.OF_BLOCK | 7, layout.OF_BLOCK | layout.OF_LINE | 1]  # fmt: skip
    for key in random.permutation(np.array(keys, dtype=object)).tolist():
        at = known_words.found_word(s, key, 1, layout.NONE)
        kind = random.integers(4)
        time = 0
        if kind in (1, 3):
            s[at + layout.EARLIER] = time = int(random.integers(1, 40))
        if kind in (2, 3):
            node = s[s[layout.FENCED] + int(random.integers(SIZE))]
            s[at + layout.TELLS] = node
            time = max(time, int(arena.times[node].max()))
        s[at + layout.CALL], s[at + layout.BY], s[at + layout.BLOCK], s[at + layout.HAS_BLOCKS] = 3, 4, 1, 1
        if time and 0 <= key < layout.OF_READER:
            told[key] = time
    return told


@pytest.mark.parametrize("seed", range(6))
def test_what_words_told_is_of_an_earlier_batch_in_the_next_one(arena: Arena, seed: int) -> None:
    """Words of global memory and rows of them that tell something stay, in their order, with the time alone."""
    random, s = np.random.default_rng(seed), arena.s
    told = words_of_a_batch(arena, random)
    if seed == 5:  # all of them stay, and so does the table
        told = {}
        for key in range(40, 50):
            s[known_words.found_word(s, key, 1, layout.NONE) + layout.EARLIER] = 9
        first = s[layout.WORDS] + layout.WORD * (s[layout.WORD_COUNT] - 10)
        moved = s[first : first + 10 * layout.WORD]
        s[s[layout.WORDS] : s[layout.WORDS] + len(moved)] = moved
        s[layout.WORD_COUNT] = 10
        s[s[layout.TABLE] : s[layout.TABLE] + 2 * s[layout.WORD_ROOM]] = [layout.NONE] * 2 * s[layout.WORD_ROOM]
        known_steps.index(s)
        told = dict.fromkeys([s[s[layout.WORDS] + layout.WORD * n] for n in range(10)], 9)
    order = [s[s[layout.WORDS] + layout.WORD * n] for n in range(s[layout.WORD_COUNT])]
    for name in (layout.PARTS, layout.CALLS, layout.LAST_TIME, layout.LAST_TOLD, layout.LAST_OF_BLOCK,
                 layout.LANES_SHARE, layout.VISITS, layout.ASKED_TIME, layout.ASKED_OTHER,
                 layout.ASKED_MINE):  # fmt: skip
        s[name] = 77
    for name, size in ((layout.TOLD, 6 * SIZE), (layout.MEMO, 3 * layout.MEMOS), (layout.PART_LANES, SIZE)):
        s[s[name] : s[name] + size] = [5] * size
    s[layout.HEAD : s[layout.PART_LANES]] = [6] * (s[layout.PART_LANES] - layout.HEAD)
    assert known_steps.begin_batch(s, BLOCKS) == BLOCKS
    kept = [s[s[layout.WORDS] + layout.WORD * n :][: layout.WORD] for n in range(s[layout.WORD_COUNT])]
    expected = [key for key in order if key in told]
    assert [word[layout.KEY] for word in kept] == expected
    for word in kept:
        wanted = [0] * layout.WORD
        wanted[layout.KEY], wanted[layout.EARLIER] = word[layout.KEY], told[word[layout.KEY]]
        assert word == wanted
    lines = sum(key >= layout.OF_LINE for key in expected)
    assert (s[layout.LINES], s[layout.SINGLES]) == (lines, len(expected) - lines)
    assert s[layout.HAS_FAR] == (len(expected) > 0)
    for key in order:
        found = known_words.found_word(s, key, 0, layout.NONE)
        place = s[layout.WORDS] + layout.WORD * expected.index(key) if key in told else layout.NONE
        assert found == place
    zero = (layout.PARTS, layout.CALLS, layout.LAST_TIME, layout.LAST_TOLD, layout.LANES_SHARE, layout.VISITS)
    assert [s[name] for name in zero] == [0] * len(zero)
    assert s[layout.LAST_OF_BLOCK] == layout.NONE
    assert s[s[layout.PART_LANES] : s[layout.PART_LANES] + SIZE] == [layout.ALL_LANES] * SIZE
    assert s[s[layout.TOLD] : s[layout.TOLD] + 6 * SIZE] == [layout.NONE] * 6 * SIZE
    assert s[s[layout.MEMO] : s[layout.MEMO] + 3 * layout.MEMOS] == [layout.NONE] * 3 * layout.MEMOS
    others = [k for k in range(layout.HEAD, s[layout.TOLD]) if not 0 <= k - s[layout.PART_LANES] < SIZE]
    assert not any(s[k] for k in others)
    # One node is left, which knows nothing, in a row of its own.
    assert [s[name] for name in (layout.NODE_COUNT, layout.SNAPSHOT_COUNT, layout.ROW_COUNT)] == [1, 0, 1]
    assert [nodes.time_of(s, 0, c) for c in range(arena.width)] == [0] * arena.width
    assert nodes.newest_of(s, 0) == 0
