"""What warps know of each other, as nodes that many warps share: compiled loops.

What a warp knows is a vector of times, as :mod:`softlab.instruments.happens_before` has it. A table of such vectors
grows with the square of the warps. Here a vector is a node, and a warp has the number of its node. Nobody changes a
node. A node is either a row of times, or its parent with a few times more: those that one warp adds by a fence, or that
a word is told. So blocks that pass a barrier of the grid know one node, and a word that a thousand warps tell has a
chain of a thousand nodes, of which few ever become rows.

All is kept in one array ``s``, the arena, as :mod:`softlab.instruments.node_layout` names its items.
:mod:`softlab.instruments.native_order` makes it. ``near`` is what warps know of those of their own block,
(warps of the batch, warps of a block). Node 0 knows nothing. The functions are those of
:mod:`softlab.emulator.machine.native_python`.
"""

from __future__ import annotations

from softlab.emulator.machine.native_python import Int64s, out_of_line
from softlab.instruments.node_layout import (
    ALL_LANES,
    ASKED,
    BLOCK_TIMES,
    BLOCK_TOLD,
    CHAIN,
    CHAINS,
    DEEPEST,
    DENSE,
    DEPTH,
    DIFFERS,
    FENCES,
    IS_LAST,
    IS_LAZY,
    IS_LEARNT,
    IS_WHOLE,
    KNOWN,
    MEMO,
    MEMOS,
    NEAREST,
    NEWEST,
    NODE,
    NODE_COUNT,
    NODES,
    NONE,
    OF_ROW,
    OFTEN,
    OTHER,
    PARENT,
    PART_LANES,
    PART_NEAR,
    PART_NODE,
    PARTS,
    PER_BLOCK,
    PLACE,
    ROW_COUNT,
    ROWS,
    ROWS_IN,
    SNAPSHOT,
    SNAPSHOT_COUNT,
    SNAPSHOTS,
    TIMES,
    TOLD,
    VISIT,
    VISITS,
    WARPS,
    WIDTH,
)


def row_bit(row: int) -> int:
    """The bit of a block in ``ROWS_IN``; several blocks may have one. The row behind the last is earlier batches."""
    return 1 << (row & 31)


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
    s[at + IS_WHOLE] = chain < NONE
    s[at + ROWS_IN] = 0
    if of_row >= 0:
        s[at + ROWS_IN] = row_bit(of_row)
    if parent >= 0:
        s[at + ROWS_IN] |= s[s[NODES] + NODE * parent + ROWS_IN]
    if other >= 0:
        s[at + ROWS_IN] |= s[s[NODES] + NODE * other + ROWS_IN]
    depth = 0
    if dense < 0:
        depth = s[s[NODES] + NODE * parent + DEPTH] + 1
        if other >= 0:
            depth = max(depth, s[s[NODES] + NODE * other + DEPTH] + 1)
    s[at + DEPTH] = depth
    if depth >= DEEPEST:
        densify(s, n)
    return n


def first_node(s: Int64s) -> int:
    """Begin with node 0 alone, which knows nothing."""
    s[NODE_COUNT], s[SNAPSHOT_COUNT], s[ROW_COUNT], s[CHAINS] = 0, 0, 1, 1
    for column in range(s[WIDTH]):
        s[s[ROWS] + column] = 0
    new_node(s, NONE, NONE, 0, 0, NONE, 0, 0, 0)
    s[s[NODES] + IS_LAST] = 0
    return 0


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
    at, time, bit = s[NODES] + NODE * n, 0, row_bit(row)
    while s[at + VISIT] != visit and s[at + ROWS_IN] & bit:
        s[at + VISIT] = visit
        if s[at + DENSE] >= 0:
            return max(time, s[s[ROWS] + s[at + DENSE] * s[WIDTH] + column])
        if s[at + OF_ROW] == row:
            time = max(time, s[s[at + TIMES] + column - row * few])
            if s[at + IS_WHOLE]:
                return time
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
    at, bit = s[NODES] + NODE * n, row_bit(row)
    while s[at + VISIT] != visit and s[at + ROWS_IN] & bit:
        s[at + VISIT] = visit
        times = NONE
        if s[at + DENSE] >= 0:
            times = s[ROWS] + s[at + DENSE] * s[WIDTH] + row * few
        elif s[at + OF_ROW] == row:
            times = s[at + TIMES]
        if times >= 0:
            for k in range(few):
                s[s[BLOCK_TIMES] + k] = max(s[s[BLOCK_TIMES] + k], s[times + k])
        if s[at + DENSE] >= 0 or (s[at + OF_ROW] == row and s[at + IS_WHOLE]):
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
    n = new_node(s, parent, NONE, NONE, 0, s[x + OF_ROW], times, NONE, max(s[x + NEWEST], s[y + NEWEST]))
    s[nodes + NODE * n + IS_WHOLE] = s[x + IS_WHOLE] & s[y + IS_WHOLE]
    return n


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
    n = new_node(s, a, NONE, NONE, 0, NONE, 0, row, max(newest_of(s, a), newest_of(s, b)))
    s[s[NODES] + NODE * n + ROWS_IN] |= s[s[NODES] + NODE * b + ROWS_IN]
    return n


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


def both_times(s: Int64s, x: int, y: int) -> int:
    """Where the times of two nodes at these places, which are of one block, are joined."""
    few, less = s[SNAPSHOT], 0
    for k in range(few):
        less = less | (s[s[x + TIMES] + k] < s[s[y + TIMES] + k])
    if not less:
        return s[x + TIMES]
    times = s[SNAPSHOTS] + s[SNAPSHOT_COUNT] * few
    s[SNAPSHOT_COUNT] += 1
    for k in range(few):
        s[times + k] = max(s[s[x + TIMES] + k], s[s[y + TIMES] + k])
    return times


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
    times, is_whole, before = s[at + TIMES], s[at + IS_WHOLE], nodes + NODE * p
    if p != 0:
        is_whole = is_whole and s[before + IS_WHOLE] and s[before + OF_ROW] == s[at + OF_ROW]
        if is_whole:
            times = both_times(s, at, before)
    n = new_node(s, q, NONE, chain, place, s[at + OF_ROW], times, NONE, newest)
    s[nodes + NODE * n + IS_WHOLE] = is_whole
    return n


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
    if s[nodes + NODE * v + CHAIN] == NONE - 1 - warp and s[nodes + NODE * v + OF_ROW] >= 0:
        times = s[nodes + NODE * v + TIMES]  # a fence of its own has all that it knew of its block
    else:
        times = block_times(s, v, warp // warps)
    for k in range(warps):
        near[warp * warps + k] = max(near[warp * warps + k], s[times + min(k, few - 1)])
    return 1
