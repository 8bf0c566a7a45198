"""What warps know of each other, as nodes that many warps share: compiled loops.

What a warp knows is a vector of times, as :mod:`softlab.instruments.happens_before` has it. A table of such vectors
grows with the square of the warps. Here a vector is a node, and a warp has the number of its node. Nobody changes a
node. A node is either a row of times, or its parent with a few times more: those that one warp adds by a fence, or that
a word is told. So blocks that pass a barrier of the grid know one node, and a word that a thousand warps tell has a
chain of a thousand nodes, of which few ever become rows.

All is kept in one array ``s``, the arena. Its first items are counts and the places of its segments, under the names
below. :mod:`softlab.instruments.native_order` makes it. ``near`` is what warps know of those of their own block,
(warps of the batch, warps of a block). Node 0 knows nothing. The functions are those of
:mod:`softlab.emulator.machine.native_python`.
"""

from __future__ import annotations

from softlab.emulator.lanes import WARP
from softlab.emulator.machine.native_python import Int64s, out_of_line

# Items of the arena: sizes and counts
WARPS, WIDTH, PER_BLOCK, THREADS, SNAPSHOT = range(5)
PARTS, CALLS, CHAINS, LAST_TIME, LAST_TIME_NODE = range(5, 10)
#: Whether lanes of a warp that had made a fence accessed one word by an atomic; whether two nodes are joined without
#: their rows; the number of the last walk from parent to parent.
LANES_SHARE, IS_LAZY, VISITS = 21, 22, 23
NODE_COUNT, SNAPSHOT_COUNT, ROW_COUNT, WORD_COUNT = range(10, 14)
NODE_ROOM, SNAPSHOT_ROOM, ROW_ROOM, WORD_ROOM = range(14, 18)
HAS_NODES, HAS_FAR, COLUMNS = 18, 19, 20
# Items of the arena: where segments begin
KNOWN, FENCED, FENCED_IN_BLOCK, DIFFERS, PART_LANES, PART_NODE, PART_NEAR, MASK, FENCES, TOLD = range(24, 34)
MEMO, NODES, SNAPSHOTS, ROWS, WORDS, TABLE, BLOCK_TIMES = range(34, 41)
#: Until when what all lanes of a warp did comes before what the warp tells, what they read, and what one lane did.
WARP_TELLS, WARP_HAS_READ, LANE_TELLS = range(41, 44)
#: Of the latest fences and arrivals of each warp their times, and what ``WARP_TELLS`` was then.
TOLD_AT, TOLD_UNTIL = range(44, 46)
#: The last answer to whether a warp comes after what another one did at a time; -1 for none.
ASKED_TIME, ASKED_OTHER, ASKED_MINE = range(46, 49)
#: Lines, and words of global memory that are in no line.
LINES, SINGLES = range(49, 51)
#: Of each block until when words, and so other nodes, may know it: its latest fence or arrival that a word was told.
BLOCK_TOLD = 51
#: When lanes told something last by a fence or an arrival.
LAST_TOLD = 52
HEAD = 53
#: How many of them, a power of two; one of time t has place t % ``LATEST_TOLD``.
LATEST_TOLD = 8

# A node: ``PARENT`` and the snapshot ``TIMES`` of a warp of the block ``OF_ROW``, or the row ``DENSE`` of times. Of the
# nodes of a chain the later ones have all of the earlier ones. ``DEPTH``: nodes up to one with a row, at most.
# ``NEWEST``: its latest time.
# ``OTHER``: a second parent; ``VISIT``: of the last walk that came here; ``ASKED``: how often.
PARENT, OTHER, CHAIN, PLACE, OF_ROW, TIMES, DENSE, IS_LAST, DEPTH, IS_LEARNT, NEWEST, VISIT, ASKED = range(13)
NODE = 13
# A word: what it tells, or the latest time of an earlier batch; the last call that accessed it, and the warp of that;
# the first block that told it (its row plus 1, 0 for none), and what it tells that block; whether others have told it;
# the number plus 1 of the line that it was part of, 0 for none.
KEY, TELLS, EARLIER, CALL, BY, BLOCK, TELLS_BLOCK, HAS_BLOCKS, LINE_OF = range(9)
WORD = 9
#: The bit of a key that names what a word tells one block.
OF_BLOCK = 1 << 62
#: The bit of a key that names when a warp read a word last.
OF_READER = 1 << 61
#: The bit of a key that names a line: ``LINE`` words of global memory in a row that each warp so far accessed together,
#: so that they tell the same. The rest is the key of the first one without its last bits.
OF_LINE = 1 << 60
LINE, LINE_SHIFT = WARP, 5

NONE, NO_LINE = -1, -2
ALL_LANES = (1 << WARP) - 1
#: Nodes up to one with a row; then a node gets a row of its own.
DEEPEST = 32
MEMOS = 1024
#: Questions from which on a node gets a row.
OFTEN = 4
#: How many parents are looked at to see whether one node has all of another one.
NEAREST = 4
#: Nodes, rows and snapshots that one lane needs at most; words, those of a line among them.
SPARE, SPARE_WORDS = 24, 2 * LINE

# What :func:`step` does
FENCE, READ, WRITE, EXCHANGE, PUBLISH, WAIT, MEET, JOIN_LANES, OWN_TIMES, PLACES, INDEX, LATEST, LAST_READS = range(13)
# Flags of it
TO_ALL, FENCE_FIRST, OVERWRITE, AS_FENCED, AS_RUNS, REMEMBER = 1, 2, 4, 8, 16, 32


def new_node(
    s: Int64s, parent: int, other: int, chain: int, place: int, of_row: int, times: int, dense: int, newest: int
) -> int:
    """Another node; ``chain`` is -1 for a new one. Chains below -1 are those of the fences of a warp."""
    n = s[NODE_COUNT]
    s[NODE_COUNT] = n + 1
    if chain == NONE:
        chain = s[CHAINS]
        s[CHAINS] = chain + 1
    at = s[NODES] + NODE * n
    s[at + PARENT] = parent
    s[at + OTHER] = other
    s[at + CHAIN] = chain
    s[at + PLACE] = place
    s[at + OF_ROW] = of_row
    s[at + TIMES] = times
    s[at + DENSE] = dense
    s[at + IS_LAST] = chain >= 0
    s[at + IS_LEARNT] = 0
    s[at + NEWEST] = newest
    s[at + VISIT] = 0
    s[at + ASKED] = 0
    depth = 0
    if dense < 0:
        depth = s[s[NODES] + NODE * parent + DEPTH] + 1
        if other >= 0:
            depth = max(depth, s[s[NODES] + NODE * other + DEPTH] + 1)
    s[at + DEPTH] = depth
    if depth >= DEEPEST:
        densify(s, n)
    return n


@out_of_line
def gather(s: Int64s, n: int, target: int, visit: int) -> int:
    """Raise the times at a place of the arena to those of a node."""
    at = s[NODES] + NODE * n
    while s[at + VISIT] != visit:
        s[at + VISIT] = visit
        if s[at + DENSE] >= 0:
            width = s[WIDTH]
            row = s[ROWS] + s[at + DENSE] * width
            for c in range(width):
                s[target + c] = max(s[target + c], s[row + c])
            return 0
        if s[at + OF_ROW] >= 0:
            few = s[SNAPSHOT]
            row, times = target + s[at + OF_ROW] * few, s[at + TIMES]
            for k in range(few):
                s[row + k] = max(s[row + k], s[times + k])
        if s[at + OTHER] >= 0:
            gather(s, s[at + OTHER], target, visit)
        at = s[NODES] + NODE * s[at + PARENT]
    return 0


@out_of_line
def densify(s: Int64s, n: int) -> int:
    """Give a node a row of its own."""
    at = s[NODES] + NODE * n
    if s[at + DENSE] >= 0:
        return 0
    width, row = s[WIDTH], s[ROW_COUNT]
    s[ROW_COUNT] = row + 1
    s[VISITS] += 1
    target = s[ROWS] + row * width
    for c in range(width):
        s[target + c] = 0
    gather(s, n, target, s[VISITS])
    s[at + DENSE] = row
    s[at + DEPTH] = 0
    return 1


def row_of(s: Int64s, n: int) -> int:
    """Where the row of a node begins."""
    if s[s[NODES] + NODE * n + DENSE] < 0:
        densify(s, n)
    return s[ROWS] + s[s[NODES] + NODE * n + DENSE] * s[WIDTH]


@out_of_line
def time_in(s: Int64s, n: int, column: int, visit: int) -> int:
    """The time of a node in a column."""
    few = s[SNAPSHOT]
    row = column // few
    at, time = s[NODES] + NODE * n, 0
    while s[at + VISIT] != visit:
        s[at + VISIT] = visit
        if s[at + DENSE] >= 0:
            return max(time, s[s[ROWS] + s[at + DENSE] * s[WIDTH] + column])
        if s[at + OF_ROW] == row:
            time = max(time, s[s[at + TIMES] + column - row * few])
        if s[at + OTHER] >= 0:
            other = time_in(s, s[at + OTHER], column, visit)
            time = max(time, other)
        at = s[NODES] + NODE * s[at + PARENT]
    return time


def time_of(s: Int64s, n: int, column: int) -> int:
    """The time of a node in a column. A node that is asked often gets a row."""
    at = s[NODES] + NODE * n
    if s[at + DENSE] < 0:
        s[at + ASKED] += 1
        if s[at + ASKED] < OFTEN:
            s[VISITS] += 1
            return time_in(s, n, column, s[VISITS])
    return s[row_of(s, n) + column]


@out_of_line
def has_all(s: Int64s, b: int, a: int) -> int:
    """Whether node ``b`` is seen at once to have all of ``a``."""
    if a == 0:
        return 1
    nodes = s[NODES]
    chain, place = s[nodes + NODE * a + CHAIN], s[nodes + NODE * a + PLACE]
    for _ in range(NEAREST):
        at = nodes + NODE * b
        if s[at + CHAIN] == chain and place <= s[at + PLACE]:
            return 1
        if s[at + OTHER] >= 0:
            other = nodes + NODE * s[at + OTHER]
            if s[other + CHAIN] == chain and place <= s[other + PLACE]:
                return 1
        b = s[at + PARENT]
        if b < 0:
            return 0
    return 0


def newest_of(s: Int64s, n: int) -> int:
    """The latest time of a node."""
    return s[s[NODES] + NODE * n + NEWEST]


@out_of_line
def gather_block(s: Int64s, n: int, row: int, visit: int) -> int:
    """Raise the times at ``BLOCK_TIMES`` to those that a node has of a block."""
    few = s[SNAPSHOT]
    at = s[NODES] + NODE * n
    while s[at + VISIT] != visit:
        s[at + VISIT] = visit
        times = NONE
        if s[at + DENSE] >= 0:
            times = s[ROWS] + s[at + DENSE] * s[WIDTH] + row * few
        elif s[at + OF_ROW] == row:
            times = s[at + TIMES]
        if times >= 0:
            for k in range(few):
                s[s[BLOCK_TIMES] + k] = max(s[s[BLOCK_TIMES] + k], s[times + k])
        if s[at + DENSE] >= 0:
            return 0
        if s[at + OTHER] >= 0:
            gather_block(s, s[at + OTHER], row, visit)
        at = s[NODES] + NODE * s[at + PARENT]
    return 0


def block_times(s: Int64s, n: int, row: int) -> int:
    """Where the times are that a node has of a block."""
    for k in range(s[SNAPSHOT]):
        s[s[BLOCK_TIMES] + k] = 0
    s[VISITS] += 1
    gather_block(s, n, row, s[VISITS])
    return s[BLOCK_TIMES]


def covers(s: Int64s, a: int, f: int) -> int:
    """Whether node ``a`` has all of a node ``f`` that adds times of one block to its parent."""
    at = s[NODES] + NODE * f
    if s[at + OF_ROW] < 0 or s[at + NEWEST] > newest_of(s, a) or not has_all(s, a, s[at + PARENT]):
        return 0
    times, more = block_times(s, a, s[at + OF_ROW]), 0
    for k in range(s[SNAPSHOT]):
        more = more | (s[s[at + TIMES] + k] > s[times + k])
    return not more


def of_one_block(s: Int64s, a: int, b: int) -> int:
    """Two nodes joined, if both add times of one block to parents of which one has all of the other; else -1."""
    nodes = s[NODES]
    x, y = nodes + NODE * a, nodes + NODE * b
    if s[x + OF_ROW] < 0 or s[x + OF_ROW] != s[y + OF_ROW]:
        return NONE
    parent = NONE
    if has_all(s, s[x + PARENT], s[y + PARENT]):
        parent = s[x + PARENT]
    elif has_all(s, s[y + PARENT], s[x + PARENT]):
        parent = s[y + PARENT]
    if parent < 0:
        return NONE
    times = s[SNAPSHOTS] + s[SNAPSHOT_COUNT] * s[SNAPSHOT]
    s[SNAPSHOT_COUNT] += 1
    for k in range(s[SNAPSHOT]):
        s[times + k] = max(s[s[x + TIMES] + k], s[s[y + TIMES] + k])
    return new_node(s, parent, NONE, NONE, 0, s[x + OF_ROW], times, NONE, max(s[x + NEWEST], s[y + NEWEST]))


def of_rows(s: Int64s, a: int, b: int) -> int:
    """Two nodes joined by their rows: one of them, if it has all of the other."""
    x, y, width = row_of(s, a), row_of(s, b), s[WIDTH]
    more, less = 0, 0
    for c in range(width):
        more = more | (s[x + c] > s[y + c])
        less = less | (s[x + c] < s[y + c])
    if not less:
        return a
    if not more:
        return b
    row = s[ROW_COUNT]
    s[ROW_COUNT] = row + 1
    target = s[ROWS] + row * width
    for c in range(width):
        s[target + c] = max(s[x + c], s[y + c])
    return new_node(s, a, NONE, NONE, 0, NONE, 0, row, max(newest_of(s, a), newest_of(s, b)))


@out_of_line
def joined(s: Int64s, a: int, b: int) -> int:
    """The node of all that two nodes have; ``a`` itself where that has all."""
    if has_all(s, a, b):
        return a
    if has_all(s, b, a):
        return b
    memo = s[MEMO] + 3 * ((a * 40503 + b) & (MEMOS - 1))
    if s[memo] == a and s[memo + 1] == b:
        return s[memo + 2]
    found = NONE
    if covers(s, a, b):
        found = a
    elif covers(s, b, a):
        found = b
    else:
        found = of_one_block(s, a, b)
    if found < 0 and s[IS_LAZY]:
        parent, other = a, s[s[NODES] + NODE * a + OTHER]
        if other >= 0 and s[s[NODES] + NODE * a + DENSE] < 0 and has_all(s, b, other):
            parent = s[s[NODES] + NODE * a + PARENT]  # who learns from one word again and again makes no long chain
        found = new_node(s, parent, b, NONE, 0, NONE, 0, NONE, max(newest_of(s, a), newest_of(s, b)))
    if found < 0:
        found = of_rows(s, a, b)
    s[memo] = a
    s[memo + 1] = b
    s[memo + 2] = found
    return found


def is_told(s: Int64s, row: int, f: int) -> int:
    """A word is told a node by a warp of a block. Gives whether the block had told as much before."""
    at, newest = s[BLOCK_TOLD] + row, newest_of(s, f)
    before = s[at]
    s[at] = max(before, newest)
    return newest <= before


@out_of_line
def told(s: Int64s, p: int, f: int, row: int) -> int:
    """What a word tells that told ``p`` and is told ``f`` by a warp of a block."""
    again = is_told(s, row, f)
    if f == 0 or has_all(s, p, f):
        return p
    nodes = s[NODES]
    at = nodes + NODE * f
    if s[at + OF_ROW] < 0:
        return joined(s, p, f)
    parent = s[at + PARENT]
    q = joined(s, p, parent)
    if q == parent and not (q == p and s[nodes + NODE * p + IS_LAST]):  # else the chain of p goes on
        return f
    if q == p and not s[nodes + NODE * p + IS_LAST] and has_all(s, f, p):
        return f
    of = nodes + NODE * q
    if again and covers(s, q, f):
        return q
    chain, place, newest = NONE, 0, max(s[of + NEWEST], s[at + NEWEST])
    if s[of + IS_LAST]:
        s[of + IS_LAST] = 0
        chain = s[of + CHAIN]
        place = s[of + PLACE] + 1
    return new_node(s, q, NONE, chain, place, s[at + OF_ROW], s[at + TIMES], NONE, newest)


def told_by(s: Int64s, warp: int, kind: int, p: int, f: int) -> int:
    """As :func:`told`, by a warp that mostly tells the same as before. ``kind``: 0 or 1, to all or to its block."""
    memo = s[TOLD] + 6 * warp + 3 * kind
    if s[memo] == f and f != 0:
        if s[memo + 1] == p:
            return s[memo + 2]
        if has_all(s, p, s[memo + 2]):
            return p
    found = told(s, p, f, warp // s[WARPS])
    s[memo] = f
    s[memo + 1] = p
    s[memo + 2] = found
    return found


def fence_node(near: Int64s, s: Int64s, warp: int, now: int) -> int:
    """All that a warp knows and did until now."""
    warps = s[WARPS]
    row, own = warp // warps, warp % warps
    times = s[SNAPSHOTS] + s[SNAPSHOT_COUNT] * s[SNAPSHOT]
    s[SNAPSHOT_COUNT] += 1
    if s[PER_BLOCK]:
        s[times] = now
    else:
        for k in range(warps):
            s[times + k] = near[warp * warps + k]
        s[times + own] = now
    place = s[s[FENCES] + warp]
    s[s[FENCES] + warp] = place + 1
    return new_node(s, s[s[KNOWN] + warp], NONE, NONE - 1 - warp, place, row, times, NONE, now)


def part_begins(near: Int64s, s: Int64s, warp: int) -> int:
    """Only some lanes of a warp learn something: the others know what they all know now."""
    s[PARTS] += 1
    s[s[PART_LANES] + warp] = 0
    s[s[PART_NODE] + warp] = s[s[KNOWN] + warp]
    warps = s[WARPS]
    for k in range(warps):
        s[s[PART_NEAR] + warp * warps + k] = near[warp * warps + k]
    return 0


def is_news(s: Int64s, a: int, b: int) -> int:
    """Whether a node has times that another one, ``a``, has not."""
    if newest_of(s, b) > newest_of(s, a):
        return 1
    x, y = row_of(s, a), row_of(s, b)
    less = 0
    for c in range(s[WIDTH]):
        less = less | (s[x + c] < s[y + c])
    return less


@out_of_line
def learn(near: Int64s, s: Int64s, warp: int, v: int, lanes: int) -> int:
    """Lanes of a warp learn a node."""
    before = s[s[KNOWN] + warp]
    after = joined(s, before, v)
    if after == before:
        return 0
    if lanes != ALL_LANES and s[s[PART_LANES] + warp] == ALL_LANES and is_news(s, before, v):
        part_begins(near, s, warp)
    s[s[KNOWN] + warp] = after
    s[s[DIFFERS] + warp // s[WARPS]] = 1
    nodes = s[NODES]
    if s[nodes + NODE * v + IS_LEARNT] and s[nodes + NODE * v + DEPTH] > 1:
        densify(s, v)
    s[nodes + NODE * v + IS_LEARNT] = 1
    warps, few = s[WARPS], s[SNAPSHOT]
    oldest = near[warp * warps]
    for k in range(1, warps):
        oldest = min(oldest, near[warp * warps + k])
    if oldest >= s[s[BLOCK_TOLD] + warp // warps]:  # nobody knows more of the own block
        return 1
    times = block_times(s, v, warp // warps)
    for k in range(warps):
        near[warp * warps + k] = max(near[warp * warps + k], s[times + min(k, few - 1)])
    return 1


# Words


def found_word(s: Int64s, key: int, make: int, guess: int) -> int:
    """Where a word's items begin; -1 for none, if none is to be made. ``guess``: where they may begin, or -1."""
    if guess >= 0 and guess < s[WORDS] + WORD * s[WORD_COUNT] and s[guess + KEY] == key:
        return guess
    room = 2 * s[WORD_ROOM]
    slot = (key ^ (key >> 15)) * 0x9E3779B1 & (room - 1)
    while s[s[TABLE] + slot] != NONE:
        at = s[WORDS] + WORD * s[s[TABLE] + slot]
        if s[at + KEY] == key:
            return at
        slot = (slot + 1) & (room - 1)
    if not make:
        return NONE
    n = s[WORD_COUNT]
    s[WORD_COUNT] = n + 1
    s[SINGLES] += key >= 0 and key < OF_LINE
    s[LINES] += key >= OF_LINE and key < OF_READER
    s[s[TABLE] + slot] = n
    at = s[WORDS] + WORD * n
    s[at + KEY] = key
    for k in range(1, WORD):
        s[at + k] = 0
    return at


def recall(s: Int64s, at: int) -> int:
    """What a word tells to all. If that is of an earlier batch, it is a node from now on."""
    time = s[at + EARLIER]
    if time == 0:
        return s[at + TELLS]
    if time != s[LAST_TIME]:
        row, width = s[ROW_COUNT], s[WIDTH]
        s[ROW_COUNT] = row + 1
        for c in range(width):
            s[s[ROWS] + row * width + c] = 0
        s[s[ROWS] + row * width + width - 1] = time
        s[LAST_TIME] = time
        s[LAST_TIME_NODE] = new_node(s, 0, NONE, NONE, 0, NONE, 0, row, time)
    s[at + EARLIER] = 0
    s[at + TELLS] = s[LAST_TIME_NODE]
    return s[at + TELLS]


@out_of_line
def line_of(s: Int64s, key: int, guess: int) -> int:
    """Where the line begins whose first word has a key; -1 for none, -2 if words of it are by themselves."""
    at = found_word(s, OF_LINE | key >> LINE_SHIFT, 0, guess)
    if at < 0 and s[SINGLES]:
        for k in range(LINE):
            if found_word(s, key + k, 0, NONE) >= 0:
                return NO_LINE
    return at


@out_of_line
def split(s: Int64s, key: int) -> int:
    """The words of a line are by themselves from now on, if one of them has this key, which is not negative."""
    line = found_word(s, OF_LINE | key >> LINE_SHIFT, 0, NONE)
    if line < 0:
        return 0
    number = (line - s[WORDS]) // WORD
    s[line + KEY] = OF_BLOCK | OF_LINE | number  # nobody asks for that
    s[LINES] -= 1
    first = key >> LINE_SHIFT << LINE_SHIFT
    for k in range(LINE):
        at = found_word(s, first + k, 1, NONE)
        for item in range(1, WORD):
            s[at + item] = s[line + item]
        s[at + LINE_OF] = number + 1
    return 1


def block_key(s: Int64s, number: int, warp: int) -> int:
    """The key of what a word of this number tells the block of a warp."""
    return OF_BLOCK | (number << 20 | warp // s[WARPS])


@out_of_line
def block_word(s: Int64s, at: int, warp: int, make: int) -> int:
    """Where the word begins that has what another one tells the block of a warp; -1 for none, if none is to be made.

    What its line told the block, when there was one, it tells, too.
    """
    key, line, tells = block_key(s, (at - s[WORDS]) // WORD, warp), NONE, 0
    of = found_word(s, key, 0, NONE)
    if of < 0 and s[at + LINE_OF]:
        line = found_word(s, block_key(s, s[at + LINE_OF] - 1, warp), 0, NONE)
    if of >= 0 or not make:
        return max(of, line)
    if line >= 0:
        tells = s[line + TELLS]
    of = found_word(s, key, 1, NONE)
    s[of + TELLS] = tells
    return of


def tell_block(s: Int64s, at: int, warp: int) -> int:
    """A warp tells its block what it knew at its last fence."""
    f, row = s[s[FENCED_IN_BLOCK] + warp], warp // s[WARPS]
    if s[at + BLOCK] == 0:
        s[at + BLOCK] = row + 1
    if s[at + BLOCK] == row + 1:
        s[at + TELLS_BLOCK] = told_by(s, warp, 1, s[at + TELLS_BLOCK], f)
        return 0
    s[at + HAS_BLOCKS] = 1
    of = block_word(s, at, warp, 1)
    s[of + TELLS] = told_by(s, warp, 1, s[of + TELLS], f)
    return 0


def learn_word(near: Int64s, s: Int64s, at: int, warp: int, lanes: int) -> int:
    """Lanes of a warp learn what a word tells to all and to their block."""
    v = recall(s, at)
    if v != 0:
        learn(near, s, warp, v, lanes)
    if s[at + BLOCK] == warp // s[WARPS] + 1:
        learn(near, s, warp, s[at + TELLS_BLOCK], lanes)
    elif s[at + HAS_BLOCKS]:
        of = block_word(s, at, warp, 0)
        if of >= 0:
            learn(near, s, warp, s[of + TELLS], lanes)
    return 0


def has_room(s: Int64s) -> int:
    """Whether there is room for what one lane needs."""
    return (
        s[NODE_COUNT] + SPARE < s[NODE_ROOM]
        and s[SNAPSHOT_COUNT] + SPARE < s[SNAPSHOT_ROOM]
        and s[ROW_COUNT] + SPARE < s[ROW_ROOM]
        and s[WORD_COUNT] + SPARE_WORDS < s[WORD_ROOM]
    )


# Steps of the emulator


def is_whole_warp(lanes: Int64s, start: int, count: int) -> int:
    """Whether all lanes of a warp, in their order, begin at ``start``."""
    if start + WARP > count or lanes[start] % WARP:
        return 0
    differs = 0
    for k in range(WARP):
        differs |= lanes[start + k] - lanes[start] - k
    return differs == 0


def fences(near: Int64s, s: Int64s, lanes: Int64s, start: int, count: int, now: int, flags: int) -> int:
    """The warps of lanes make a fence. Gives the lane before which there was no more room, else ``count``."""
    before, i, tells = NONE, start, s[LANE_TELLS]
    while i < count:
        warp, first = lanes[i] // WARP, i
        if is_whole_warp(lanes, i, count):
            for k in range(WARP):
                s[tells + warp * WARP + k] = now
            i += WARP
        else:
            s[tells + lanes[i]] = now
            i += 1
        if warp == before:
            continue
        before = warp
        if not has_room(s):
            return first
        told_at = warp * LATEST_TOLD + (now & (LATEST_TOLD - 1))
        s[s[TOLD_AT] + told_at] = now
        s[s[TOLD_UNTIL] + told_at] = s[s[WARP_TELLS] + warp]
        f = fence_node(near, s, warp, now)
        s[s[FENCED_IN_BLOCK] + warp] = f
        if flags & TO_ALL:
            s[s[FENCED] + warp] = f
        s[s[DIFFERS] + warp // s[WARPS]] = 1
    return count


def masks(s: Int64s, lanes: Int64s, count: int) -> int:
    """The lanes of each warp that take part."""
    before, mask, i = NONE, 0, 0
    while i < count:
        s[s[MASK] + lanes[i] // WARP] = 0
        i += WARP if is_whole_warp(lanes, i, count) else 1
    i = 0
    while i < count:
        if lanes[i] // WARP != before:
            if before >= 0:
                s[s[MASK] + before] |= mask
            before, mask = lanes[i] // WARP, 0
        if is_whole_warp(lanes, i, count):
            mask = ALL_LANES
            i += WARP
        else:
            mask |= 1 << lanes[i] % WARP
            i += 1
    if count:
        s[s[MASK] + before] |= mask
    return 0


def parts_grow(s: Int64s, lanes: Int64s, count: int) -> int:
    """These lanes have learnt all that their warps know."""
    for i in range(count):
        at = s[PART_LANES] + lanes[i] // WARP
        if s[at] != ALL_LANES:
            s[at] |= s[s[MASK] + lanes[i] // WARP]
            s[PARTS] -= s[at] == ALL_LANES
    return 0


def lanes_meet(s: Int64s, warp: int) -> int:
    """The lanes of a warp synchronise."""
    s[PARTS] -= s[s[PART_LANES] + warp] != ALL_LANES
    s[s[PART_LANES] + warp] = ALL_LANES
    return 0


def reader_of(s: Int64s, at: int, warp: int, make: int) -> int:
    """Where the word begins that has under ``EARLIER`` when a warp read another word last; -1 for none."""
    return found_word(s, OF_READER | ((at - s[WORDS]) // WORD << 20 | warp), make, NONE)


def last_read(s: Int64s, key: int, warp: int) -> int:
    """When a warp read a word last; 0 for never."""
    at = found_word(s, key, 0, NONE)
    if at < 0:
        return 0
    of = reader_of(s, at, warp, 0)
    if of < 0:
        return 0
    return s[of + EARLIER]


def access_word(near: Int64s, s: Int64s, op: int, key: int, warp: int, now: int, flags: int, guess: int) -> int:
    """A warp accesses a word by a strong access. Gives the word's place, -1 if it tells nothing."""
    tells = op != READ and s[s[FENCED_IN_BLOCK] + warp] != 0
    at = found_word(s, key, tells or flags & REMEMBER, guess)
    if at < 0:
        return NONE
    if flags & REMEMBER:
        of = reader_of(s, at, warp, 1)
        s[of + EARLIER] = now
    if op == READ:
        learn_word(near, s, at, warp, s[s[MASK] + warp])
        return at
    first = s[at + CALL] != s[CALLS]
    s[at + CALL] = s[CALLS]
    if op == EXCHANGE:
        if not first and s[at + BY] == warp:
            s[LANES_SHARE] |= tells
            return at
        learn_word(near, s, at, warp, s[s[MASK] + warp])
    elif first:
        s[at + TELLS] = 0
        s[at + EARLIER] = 0
    s[at + BY] = warp
    if tells:
        if flags & TO_ALL:
            s[at + TELLS] = told_by(s, warp, 0, recall(s, at), s[s[FENCED] + warp])
        tell_block(s, at, warp)
    return at


def is_line(words: Int64s, lanes: Int64s, start: int, count: int) -> int:
    """Whether lanes of one warp, from ``start`` on, access the words of a line."""
    if start + LINE > count or words[start] < 0 or words[start] % LINE:
        return 0
    if words[start + LINE - 1] != words[start] + LINE - 1:
        return 0
    warp, differs = lanes[start] // WARP, 0
    for k in range(LINE):
        differs |= (words[start + k] - words[start] - k) | (lanes[start + k] // WARP - warp)
    return differs == 0


def accesses(
    near: Int64s, s: Int64s, op: int, words: Int64s, lanes: Int64s, count: int, start: int, now: int, flags: int
) -> int:
    """Lanes access words by strong accesses, one after the other. What a whole warp does to a line is one access."""
    if start == 0:
        s[CALLS] += 1
        if op != WRITE:
            masks(s, lanes, count)
    key, before, at, i = 0, NONE, NONE, start
    while i < count:
        warp, guess, line = lanes[i] // WARP, at, NO_LINE
        if warp == before and words[i] == key:
            if op == EXCHANGE and not flags & AS_RUNS and s[s[FENCED_IN_BLOCK] + warp] != 0:
                s[LANES_SHARE] = 1
            i += 1
            continue
        if not has_room(s):
            return i
        if at >= 0 and words[i] != key:
            guess = at + WORD
        key, before = words[i], warp
        if not flags & REMEMBER and is_line(words, lanes, i, count):
            line = line_of(s, key, guess)
        if line != NO_LINE:
            at = access_word(near, s, op, OF_LINE | key >> LINE_SHIFT, warp, now, flags, line)
            key += LINE - 1
            i += LINE
        else:
            if s[LINES] and key >= 0:
                split(s, key)
            at = access_word(near, s, op, key, warp, now, flags, guess)
            i += 1
    if op != WRITE and s[PARTS]:
        parts_grow(s, lanes, count)
    return count


def publications(
    near: Int64s, s: Int64s, words: Int64s, earlier: Int64s, lanes: Int64s, count: int, start: int, now: int,
    flags: int,
) -> int:  # fmt: skip
    """Lanes publish all that their warps know; words publish what those ``earlier`` do, too."""
    if start == 0:
        s[CALLS] += 1
    node, before = 0, NONE
    for i in range(start, count):
        if not has_room(s):
            return i
        warp = lanes[i] // WARP
        at = found_word(s, words[i], 1, NONE)
        if s[at + CALL] == s[CALLS] and s[at + BY] == warp:
            continue
        if s[at + CALL] != s[CALLS]:
            s[at + CALL] = s[CALLS]
            if flags & OVERWRITE:
                s[at + TELLS] = 0
            else:
                other = found_word(s, earlier[i], 0, NONE)
                if other >= 0:
                    s[at + TELLS] = joined(s, s[at + TELLS], s[other + TELLS])
        s[at + BY] = warp
        if warp != before:
            before = warp
            node = s[s[FENCED] + warp]
            if not flags & AS_FENCED:
                node = fence_node(near, s, warp, now)
        s[at + TELLS] = told(s, s[at + TELLS], node, warp // s[WARPS])
    return count


def waits(near: Int64s, s: Int64s, words: Int64s, lanes: Int64s, count: int, start: int) -> int:
    """All lanes of warps, one lane for each, learn what words tell to all."""
    for i in range(start, count):
        if not has_room(s):
            return i
        warp = lanes[i] // WARP
        lanes_meet(s, warp)
        at = found_word(s, words[i], 0, NONE)
        if at >= 0:
            learn(near, s, warp, s[at + TELLS], ALL_LANES)
    return count


def meet(s: Int64s, here: Int64s, start: int, rows: int) -> int:
    """Warps pass barriers of their blocks: 1 for a warp that takes part, 3 for one that waits."""
    warps = s[WARPS]
    for row in range(start, rows):
        waiting, all_wait = 0, 1
        for warp in range(row * warps, row * warps + warps):
            if here[warp] == 3:
                waiting = 1
                if s[PARTS]:
                    lanes_meet(s, warp)
            else:
                all_wait = 0
        if not waiting or not s[s[DIFFERS] + row]:
            continue
        for table in range(KNOWN, FENCED_IN_BLOCK + 1):
            if not has_room(s) or s[ROW_COUNT] + 3 * warps >= s[ROW_ROOM] or s[NODE_COUNT] + warps >= s[NODE_ROOM]:
                return row
            both = 0
            for warp in range(row * warps, row * warps + warps):
                if here[warp] and s[s[table] + warp] != both:
                    both = joined(s, both, s[s[table] + warp])
            for warp in range(row * warps, row * warps + warps):
                if here[warp] == 3:
                    s[s[table] + warp] = both
        s[s[DIFFERS] + row] = not all_wait
    return rows


def places(s: Int64s, found: Int64s, warps: Int64s, count: int, table: int) -> int:
    """Where the rows begin of what warps know: of ``KNOWN`` or ``PART_NODE``. 0 where there is no more room."""
    for i in range(count):
        if not has_room(s):
            return 0
        found[i] = row_of(s, s[s[table] + warps[i]])
    return count


def index(s: Int64s) -> int:
    """Enter all words into an empty table."""
    room = 2 * s[WORD_ROOM]
    for n in range(s[WORD_COUNT]):
        key = s[s[WORDS] + WORD * n + KEY]
        slot = (key ^ (key >> 15)) * 0x9E3779B1 & (room - 1)
        while s[s[TABLE] + slot] != NONE:
            slot = (slot + 1) & (room - 1)
        s[s[TABLE] + slot] = n
    return 0


def latest(s: Int64s, found: Int64s) -> int:
    """The latest time that each word tells to all."""
    for n in range(s[WORD_COUNT]):
        at = s[WORDS] + WORD * n
        found[n] = max(s[at + EARLIER], newest_of(s, s[at + TELLS]))
    return 0


def questions(s: Int64s, op: int, words: Int64s, found: Int64s, lanes: Int64s, count: int, table: int) -> int:
    """What NumPy asks for, and other small things."""
    if op == JOIN_LANES:
        for i in range(count):
            lanes_meet(s, lanes[i])
    if op == OWN_TIMES:
        for i in range(count):
            s[VISITS] += 1
            column = lanes[i] // s[WARPS] if s[PER_BLOCK] else lanes[i]
            words[i] = time_in(s, s[s[FENCED_IN_BLOCK] + lanes[i]], column, s[VISITS])
    if op == LAST_READS:
        for i in range(count):
            found[i] = last_read(s, words[i], lanes[i] // WARP)
    if op == PLACES:
        return places(s, words, lanes, count, table)
    if op == INDEX:
        return index(s)
    if op == LATEST:
        return latest(s, words)
    return count


@out_of_line
def step(
    near: Int64s, s: Int64s, op: int, words: Int64s, earlier: Int64s, lanes: Int64s, count: int, start: int, now: int,
    flags: int,
) -> int:  # fmt: skip
    """Does one of the things above from item ``start`` on. Gives where it ran out of room, else the number of items.

    With ``FENCE_FIRST`` the items are those of the fences and then those of the accesses.
    """
    first = 0
    if flags & FENCE_FIRST:
        first = count
        if start < count:
            start = fences(near, s, lanes, start, count, now, flags)
            if start < count:
                return start
    if op == FENCE:
        return fences(near, s, lanes, start, count, now, flags)
    if op in (READ, WRITE, EXCHANGE):
        return first + accesses(near, s, op, words, lanes, count, start - first, now, flags)
    if op == PUBLISH:
        return publications(near, s, words, earlier, lanes, count, start, now, flags)
    if op == WAIT:
        return waits(near, s, words, lanes, count, start)
    if op == MEET:
        return meet(s, lanes, start, count)
    return questions(s, op, words, earlier, lanes, count, flags)
