"""The arena of nodes: what stands where.

All that warps know of each other (:mod:`softlab.instruments.known_nodes`) is kept in one array of int64. Its first
items are counts and the places of its segments, under the names below.
"""

from __future__ import annotations

from softlab.emulator.lanes import WARP

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
#: When all lanes of a warp made a fence together last: as if ``LANE_TELLS`` had it for each of them.
WHOLE_TELLS = 53
#: Where the word begins of which a block asked last what it tells the block; blocks mostly ask in their order.
LAST_OF_BLOCK = 54
#: Whether no word of global memory is ever stored to: it tells all that it was ever told.
WORDS_GROW = 55
HEAD = 56
#: How many of them, a power of two; one of time t has place t % ``LATEST_TOLD``.
LATEST_TOLD = 8

# A node: ``PARENT`` and the snapshot ``TIMES`` of a warp of the block ``OF_ROW``, or the row ``DENSE`` of times. Of the
# nodes of a chain the later ones have all of the earlier ones. ``DEPTH``: nodes up to one with a row, at most.
# ``NEWEST``: its latest time.
# ``OTHER``: a second parent; ``VISIT``: of the last walk that came here; ``ASKED``: how often. ``IS_WHOLE``: its
# ``TIMES`` are all that it has of their block. ``ROWS_IN``: of each block that it has times of the bit of ``row_bit``.
PARENT, OTHER, CHAIN, PLACE, OF_ROW, TIMES, DENSE, IS_LAST, DEPTH, IS_LEARNT, NEWEST, VISIT, ASKED = range(13)
IS_WHOLE, ROWS_IN = 13, 14
NODE = 15
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
