"""What a step of the emulator changes of what warps know: fences, accesses to words, barriers of a cluster or a grid.

:func:`step` does them all, and the others are its parts. :mod:`softlab.instruments.native_access` compiles it, and
:mod:`softlab.instruments.native_order` calls it.
"""

from __future__ import annotations

from softlab.emulator.lanes import WARP
from softlab.emulator.machine.native_python import Int64s, out_of_line
from softlab.instruments.known_nodes import (
    fence_node,
    first_node,
    joined,
    learn,
    newest_of,
    row_of,
    time_in,
    told,
    told_by,
)
from softlab.instruments.known_words import found_word, has_room, learn_word, line_of, recall, split, tell_block
from softlab.instruments.node_layout import (
    ALL_LANES,
    ASKED_MINE,
    ASKED_OTHER,
    ASKED_TIME,
    BY,
    CALL,
    CALLS,
    DIFFERS,
    EARLIER,
    FENCED,
    FENCED_IN_BLOCK,
    HAS_FAR,
    HEAD,
    KEY,
    KNOWN,
    LANE_TELLS,
    LANES_SHARE,
    LAST_OF_BLOCK,
    LAST_TIME,
    LAST_TOLD,
    LATEST_TOLD,
    LINE,
    LINE_SHIFT,
    LINES,
    MASK,
    MEMO,
    MEMOS,
    NO_LINE,
    NODE_COUNT,
    NODE_ROOM,
    NONE,
    OF_LINE,
    OF_READER,
    PART_LANES,
    PARTS,
    PER_BLOCK,
    ROW_COUNT,
    ROW_ROOM,
    SINGLES,
    TABLE,
    TELLS,
    TOLD,
    TOLD_AT,
    TOLD_UNTIL,
    VISITS,
    WARP_TELLS,
    WARPS,
    WHOLE_TELLS,
    WORD,
    WORD_COUNT,
    WORD_ROOM,
    WORDS,
    WORDS_GROW,
)

# What :func:`step` does
FENCE, READ, WRITE, EXCHANGE, PUBLISH, WAIT, MEET, JOIN_LANES, OWN_TIMES, PLACES, INDEX, LATEST, LAST_READS, BEGIN = (
    range(14)
)
# Flags of it
TO_ALL, FENCE_FIRST, OVERWRITE, AS_FENCED, AS_RUNS, REMEMBER, RISING = 1, 2, 4, 8, 16, 32, 64
#: Words are given as the addresses of their bytes; lanes are whole warps, each of which accesses words in a row.
OF_BYTES, ROWS = 128, 256


def is_whole_warp(lanes: Int64s, start: int, count: int, rising: int) -> int:
    """Whether all lanes of a warp, in their order, begin at ``start``. ``rising``: lanes rise from item to item."""
    if start + WARP > count or lanes[start] % WARP or lanes[start + WARP - 1] - lanes[start] != WARP - 1:
        return 0
    if rising:
        return 1
    differs = 0
    for k in range(WARP):
        differs |= lanes[start + k] - lanes[start] - k
    return differs == 0


def fences(near: Int64s, s: Int64s, lanes: Int64s, start: int, count: int, now: int, flags: int) -> int:
    """The warps of lanes make a fence. Gives the lane before which there was no more room, else ``count``."""
    before, i, tells = NONE, start, s[LANE_TELLS]
    s[HAS_FAR] = 1
    s[LAST_TOLD] = now
    while i < count:
        warp, first = lanes[i] // WARP, i
        if is_whole_warp(lanes, i, count, flags & RISING):
            s[s[WHOLE_TELLS] + warp] = now
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


def masks(s: Int64s, lanes: Int64s, count: int, rising: int, rows: int) -> int:
    """The lanes of each warp that take part."""
    before, mask, i = NONE, 0, 0
    if rows:
        while i < count:
            s[s[MASK] + lanes[i] // WARP] = ALL_LANES
            i += WARP
        return 0
    while i < count:
        s[s[MASK] + lanes[i] // WARP] = 0
        i += WARP if is_whole_warp(lanes, i, count, rising) else 1
    i = 0
    while i < count:
        if lanes[i] // WARP != before:
            if before >= 0:
                s[s[MASK] + before] |= mask
            before, mask = lanes[i] // WARP, 0
        if is_whole_warp(lanes, i, count, rising):
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


def tells_all_the_same(s: Int64s, warp: int) -> int:
    """Whether what a warp tells all of a word has, for good, what it tells its own block."""
    return s[WORDS_GROW] and s[s[FENCED] + warp] == s[s[FENCED_IN_BLOCK] + warp]


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
        if not (flags & TO_ALL and tells_all_the_same(s, warp)):
            tell_block(s, at, warp)
    return at


def is_line(
    words: Int64s, lanes: Int64s, start: int, count: int, rising: int, shift: int, rows: int
) -> int:  # fmt: skip
    """Whether lanes of one warp, from ``start`` on, access the words of a line. ``rising``: as before.

    ``shift``: bits of what ``words`` has within a word. ``rows``: lanes are as :data:`ROWS` says.
    """
    first = words[start] >> shift
    if start + LINE > count or first < 0 or first % LINE:
        return 0
    if rows:
        return start % WARP == 0
    if words[start + LINE - 1] >> shift != first + LINE - 1:
        return 0
    warp, differs = lanes[start] // WARP, 0
    for k in range(LINE):
        differs |= (words[start + k] >> shift) - first - k
    if rising:
        differs |= lanes[start + LINE - 1] // WARP - warp
    else:
        for k in range(LINE):
            differs |= lanes[start + k] // WARP - warp
    return differs == 0


def accesses(
    near: Int64s, s: Int64s, op: int, words: Int64s, lanes: Int64s, count: int, start: int, now: int, flags: int
) -> int:
    """Lanes access words by strong accesses, one after the other. What a whole warp does to a line is one access."""
    if start == 0:
        s[CALLS] += 1
        if op != WRITE:
            masks(s, lanes, count, flags & RISING, flags & ROWS)
    key, before, at, i, shift = 0, NONE, NONE, start, 2 if flags & OF_BYTES else 0
    while i < count:
        warp, word, guess, line = lanes[i] // WARP, words[i] >> shift, at, NO_LINE
        if warp == before and word == key:
            if op == EXCHANGE and not flags & AS_RUNS and s[s[FENCED_IN_BLOCK] + warp] != 0:
                s[LANES_SHARE] = 1
            i += 1
            continue
        if not has_room(s):
            return i
        if at >= 0 and word != key:
            guess = at + WORD
        key, before = word, warp
        if not flags & REMEMBER and is_line(words, lanes, i, count, flags & RISING, shift, flags & ROWS):
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


def take_over(s: Int64s) -> int:
    """What words and lines of global memory tell counts from now on as that of an earlier batch; others are left out.

    Gives how many there are.
    """
    kept, lines = 0, 0
    for n in range(s[WORD_COUNT]):
        at, to = s[WORDS] + WORD * n, s[WORDS] + WORD * kept
        key, time = s[at + KEY], max(s[at + EARLIER], newest_of(s, s[at + TELLS]))
        if key < 0 or key >= OF_READER or time == 0:
            continue
        for item in range(WORD):
            s[to + item] = 0
        s[to + KEY] = key
        s[to + EARLIER] = time
        kept += 1
        lines += key >= OF_LINE
    s[LINES] = lines
    s[SINGLES] = kept - lines
    return kept


def begin_batch(s: Int64s, blocks: int) -> int:
    """A batch begins in which warps know nothing, and words tell what earlier batches did."""
    kept = take_over(s)
    if kept < s[WORD_COUNT]:
        s[WORD_COUNT] = kept
        table = s[TABLE]
        for slot in range(2 * s[WORD_ROOM]):
            s[table + slot] = NONE
        index(s)
    for at in range(HEAD, s[TOLD]):  # the segments of warps, lanes and blocks
        s[at] = 0
    parts, told, memo = s[PART_LANES], s[TOLD], s[MEMO]
    for warp in range(blocks * s[WARPS]):
        s[parts + warp] = ALL_LANES
    for item in range(6 * blocks * s[WARPS]):
        s[told + item] = NONE
    for item in range(3 * MEMOS):
        s[memo + item] = NONE
    s[PARTS], s[CALLS], s[LAST_TIME], s[LAST_TOLD] = 0, 0, 0, 0
    s[LAST_OF_BLOCK] = NONE
    s[LANES_SHARE], s[VISITS] = 0, 0
    s[ASKED_TIME], s[ASKED_OTHER], s[ASKED_MINE] = 0, 0, 0
    s[HAS_FAR] = kept > 0
    first_node(s)
    return blocks


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
    if op == BEGIN:
        return begin_batch(s, count)
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
