"""What words of memory tell: to the warps that access them, and to each block, as compiled loops.

A word is found by its key in a table of the arena (:mod:`softlab.instruments.node_layout`). What it tells is a node
(:mod:`softlab.instruments.known_nodes`).
"""

from __future__ import annotations

from softlab.emulator.machine.native_python import Int64s, out_of_line
from softlab.instruments.known_nodes import learn, new_node, row_bit, told_by
from softlab.instruments.node_layout import (
    BLOCK,
    EARLIER,
    FENCED_IN_BLOCK,
    HAS_BLOCKS,
    KEY,
    LAST_OF_BLOCK,
    LAST_TIME,
    LAST_TIME_NODE,
    LINE,
    LINE_OF,
    LINE_SHIFT,
    LINES,
    NO_LINE,
    NODE,
    NODE_COUNT,
    NODE_ROOM,
    NODES,
    NONE,
    OF_BLOCK,
    OF_LINE,
    OF_READER,
    ROW_COUNT,
    ROW_ROOM,
    ROWS,
    ROWS_IN,
    SINGLES,
    SNAPSHOT,
    SNAPSHOT_COUNT,
    SNAPSHOT_ROOM,
    SPARE,
    SPARE_WORDS,
    TABLE,
    TELLS,
    TELLS_BLOCK,
    WARPS,
    WIDTH,
    WORD,
    WORD_COUNT,
    WORD_ROOM,
    WORDS,
)


def found_word(s: Int64s, key: int, make: int, guess: int) -> int:
    """Where a word's items begin; -1 for none, if none is to be made. ``guess``: where they may begin, or -1."""
    if guess >= s[WORDS] and guess < s[WORDS] + WORD * s[WORD_COUNT] and s[guess + KEY] == key:
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
        n = new_node(s, 0, NONE, NONE, 0, NONE, 0, row, time)
        s[s[NODES] + NODE * n + ROWS_IN] = row_bit((width - 1) // s[SNAPSHOT])
        s[LAST_TIME_NODE] = n
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
    of = found_word(s, key, make and not s[at + LINE_OF], s[LAST_OF_BLOCK] + WORD)
    if of >= 0:
        s[LAST_OF_BLOCK] = of
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
