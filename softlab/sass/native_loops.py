"""The runs of a loop in one compiled function: what the machine does between two runs, for all lanes that are in it.

As the machine does, it takes the lowest instruction at which a path stands, and executes one straight run for all warps
that have a path there, one path per warp. It stops where a path outside of the loop is next, and before a run that it
leaves to the machine. The functions are written for :mod:`softlab.emulator.machine.native_python`;
:mod:`.loop_code` writes :func:`execute` of each loop, and :mod:`.loop_runner` compiles the rest once for all loops.
"""

from __future__ import annotations

from softlab.emulator.machine.native_python import Int64s, UInt32s

#: Why :func:`run` stops: a path outside of the loop is next; as many runs as it may do, or no room for what they leave;
#: the machine has to do the next run; an address is bad, or a return goes to no instruction.
DONE, FULL, LEFT, BAD = range(4)
#: How a run ends: it goes on behind, or parts at a branch, or waits at BSYNC, or goes where each lane's register says.
FALLS, BRANCHES, MEETS, RETURNS = range(4)
#: The numbers of a block: its first instruction and how many it has, how it ends, where a branch goes, the convergence
#: barrier that BSSY begins (-1: none) and the one of BSYNC; the guards and the requests that it logs; the number of its
#: first part and how many it has: one, or where it stores one for each access, since all warps do one before the next;
#: and whether one warp of a thread block executes it at a time.
START, LENGTH, END, TARGET, BEGINS, BARRIER, GUARDS, REQUESTS, FIRST, PARTS, ALONE, BLOCK = range(12)
#: The numbers that :func:`run` is given and leaves: runs that it may do; the lowest instruction outside the loop with a
#: path; the first free place for a path; then how many there are of runs, entries, guards, requests and paths that have
#: left, how many of each there may be, what was issued, and whether an address was bad. Then of the memories: the array
#: that was used last and how many there are; the address, the bytes per block and their limit of shared memory, and the
#: number of warps per block; the number of instructions in the code; the number of stores by lanes; where the loop's
#: own :func:`execute` is; the address, the bytes per thread and their limit of local memory; where the live lanes of
#: each warp are; and behind how many issued instructions it stops.
(
    MOST, LOWEST, FREE, RUNS, ENTRIES, NOTED, ASKED, GONE, ENTRY_ROOM, GUARD_ROOM, REQUEST_ROOM, ISSUED, WRONG,
    LAST, ARRAYS, SHARED, SHARED_BYTES, SHARED_LIMIT, BLOCK_WARPS, CODE, STORED, EXECUTE, LOCAL, LOCAL_BYTES,
    LOCAL_LIMIT, LIVE, LAST_ISSUED, STATE,
) = range(28)  # fmt: skip
#: The numbers of an array of global memory: its first address and the one behind it, the address from which offsets
#: count; where its bytes are, and where those are that the kernel wrote (0: it writes none) and which pages those are.
BASE, LIMIT, ORIGIN, BYTES, OWN, PAGES, ARRAY = range(7)
#: The bits of an address of shared memory, and of local memory, that say where in it.
SHARED_OFFSET, LOCAL_OFFSET = (1 << 24) - 1, (1 << 32) - 1
_LANES = 32


def lowest_lane(mask: int) -> int:
    """The number of the lowest lane of a mask."""
    lane = 0
    while (mask >> lane & 1) == 0:
        lane += 1
    return lane


def find(address: int, width: int, arrays: Int64s, state: Int64s) -> int:
    """Where the numbers of the array begin that has these bytes, aligned; -1 where none has."""
    if address & width - 1:
        return -1
    at = ARRAY * state[LAST]
    if address >= arrays[at + BASE] and address <= arrays[at + LIMIT] - width:
        return at
    for k in range(state[ARRAYS]):
        at = ARRAY * k
        if address >= arrays[at + BASE] and address <= arrays[at + LIMIT] - width:
            state[LAST] = k
            return at
    return -1


def find_in_row(address: int, width: int, row: int, limit: int, bits: int) -> int:
    """Where the bytes of shared memory, or of a thread's local memory, are; 0 where there are none, or they are not
    aligned.

    Arguments:
        row: where the memory begins, which has ``limit`` bytes. bits: those of the address that say where in it.
    """
    offset = address & bits
    if offset & width - 1 or offset > limit - width:
        return 0
    return row + offset


def execute(
    part: int, warp: int, mask: int, entry: int, registers: Int64s, constants: Int64s, state: Int64s, arrays: Int64s,
    guards: Int64s, requests: Int64s, addresses: Int64s, targets: Int64s,
) -> int:  # fmt: skip
    """Execute the part of this number for lanes of a warp; the lanes that take its branch.

    Where its block ends with a return, ``targets`` gets the instruction to which each lane goes. What it logs belongs
    to the ``entry``. :class:`softlab.sass.loop_code.LoopCode` writes it.
    """
    raise NotImplementedError


def push(block: int, warp: int, mask: int, ends: Int64s, paths: Int64s, state: Int64s) -> int:
    """A path of a warp begins at a block."""
    at = state[FREE]
    state[FREE] = paths[3 * at]
    paths[3 * at] = -1
    paths[3 * at + 1] = warp
    paths[3 * at + 2] = mask
    if ends[2 * block] < 0:
        ends[2 * block] = at
    else:
        paths[3 * ends[2 * block + 1]] = at
    ends[2 * block + 1] = at
    return 0


def go(
    pc: int, warp: int, mask: int, block_of: Int64s, ends: Int64s, paths: Int64s, gone: Int64s, state: Int64s
) -> int:
    """Lanes of a warp go on at an instruction, in the loop or outside of it."""
    block = block_of[pc]
    if block >= 0:
        push(block, warp, mask, ends, paths, state)
        return 0
    at = 3 * state[GONE]
    gone[at] = pc
    gone[at + 1] = warp
    gone[at + 2] = mask
    state[GONE] += 1
    if pc < state[LOWEST]:
        state[LOWEST] = pc
    return 0


def is_simple(mask: int, waiting: int, live: int, expected: UInt32s, at: int) -> int:
    """Whether at a BSYNC all lanes of a warp have come, or it has one team that waits, with those who wait already.
    at: of the warp's lanes in ``expected``."""
    named = expected[at + lowest_lane(mask)]
    if mask == named & live:
        return 1
    if (named & mask) == 0:
        return 0
    lane = lowest_lane(waiting)
    team = expected[at + lane]
    here = waiting & team
    if here == 0:
        return 0
    if here == team & live:
        return waiting == here
    return (waiting & ~team & ~(1 << lane)) == 0


def are_simple(
    path: int, barrier: int, warps: int, paths: Int64s, expected: UInt32s, blocked: UInt32s, live: UInt32s
) -> int:
    """Whether this holds for all paths of a list."""
    while path >= 0:
        warp, mask = paths[3 * path + 1], paths[3 * path + 2]
        place = barrier * warps + warp
        if is_simple(mask, blocked[place] | mask, live[warp], expected, _LANES * place) == 0:
            return 0
        path = paths[3 * path]
    return 1


def arrive(
    warp: int, mask: int, pc: int, barrier: int, warps: int, expected: UInt32s, blocked: UInt32s, live: UInt32s,
    waiting_at: Int64s, block_of: Int64s, ends: Int64s, paths: Int64s, gone: Int64s, state: Int64s,
) -> int:  # fmt: skip
    """Lanes arrive at the BSYNC ``pc``, as :func:`softlab.sass.meetings.meet` has it."""
    place = barrier * warps + warp
    at = _LANES * place
    if mask == expected[at + lowest_lane(mask)] & live[warp]:
        return go(pc + 1, warp, mask, block_of, ends, paths, gone, state)
    for lane in range(_LANES):
        if mask >> lane & 1:
            waiting_at[at + lane] = pc
    waiting = blocked[place] | mask
    first = lowest_lane(waiting)
    team = expected[at + first]
    blocked[place] = waiting
    if waiting & team == team & live[warp]:
        blocked[place] = 0
        go(waiting_at[at + first] + 1, warp, waiting, block_of, ends, paths, gone, state)
    return 0


def part_by_target(
    warp: int, mask: int, here: int, targets: Int64s, block_of: Int64s, ends: Int64s, paths: Int64s, gone: Int64s,
    state: Int64s,
) -> int:  # fmt: skip
    """Lanes go where their register says: those with the target of the lowest one; the others come back ``here``."""
    first, going = targets[lowest_lane(mask)], 0
    if first < 0 or first >= state[CODE]:
        state[WRONG] = 1
        return 0
    for lane in range(_LANES):
        if mask >> lane & 1 and targets[lane] == first:
            going |= 1 << lane
    go(first, warp, going, block_of, ends, paths, gone, state)
    if going != mask:
        go(here, warp, mask & ~going, block_of, ends, paths, gone, state)
    return 0


def choose(block: int, ends: Int64s, paths: Int64s, stamps: Int64s, chosen: Int64s, state: Int64s) -> int:
    """Take one path of each warp that has one at a block, into ``chosen``; how many."""
    path, count = ends[2 * block], 0
    ends[2 * block] = -1
    while path >= 0:
        following, warp, mask = paths[3 * path], paths[3 * path + 1], paths[3 * path + 2]
        paths[3 * path] = state[FREE]
        state[FREE] = path
        if stamps[warp] == state[RUNS]:
            push(block, warp, mask, ends, paths, state)
        else:
            stamps[warp] = state[RUNS]
            chosen[2 * count] = warp
            chosen[2 * count + 1] = mask
            count += 1
        path = following
    return count


def sort(chosen: Int64s, count: int, mask_of: Int64s, warps: int) -> int:
    """Put the chosen warps in ascending order. mask_of: zeros, one per warp."""
    sorted_until = 1
    while sorted_until < count and chosen[2 * sorted_until] > chosen[2 * sorted_until - 2]:
        sorted_until += 1
    if sorted_until >= count:
        return 0
    for k in range(count):
        mask_of[chosen[2 * k]] = chosen[2 * k + 1]
    at = 0
    for warp in range(warps):
        if mask_of[warp] != 0:
            chosen[2 * at] = warp
            chosen[2 * at + 1] = mask_of[warp]
            mask_of[warp] = 0
            at += 1
    return 1


def one_of_each_block(
    block: int, count: int, warps: int, chosen: Int64s, mask_of: Int64s, ends: Int64s, paths: Int64s, state: Int64s
) -> int:
    """Keep the first of the ``chosen`` warps of each thread block; the others stay. How many are kept. mask_of: zeros,
    one per warp."""
    sort(chosen, count, mask_of, warps)
    kept, last = 0, -1
    for k in range(count):
        warp, mask = chosen[2 * k], chosen[2 * k + 1]
        owner = warp // state[BLOCK_WARPS]
        if owner == last:
            push(block, warp, mask, ends, paths, state)
        else:
            last = owner
            chosen[2 * kept], chosen[2 * kept + 1] = warp, mask
            kept += 1
    return kept


def chosen_of(
    about: Int64s, at: int, block: int, warps: int, ends: Int64s, paths: Int64s, stamps: Int64s, chosen: Int64s,
    mask_of: Int64s, state: Int64s,
) -> int:  # fmt: skip
    """Take the paths that execute a block, whose numbers begin ``at``, into ``chosen``; how many."""
    count = choose(block, ends, paths, stamps, chosen, state)
    if about[at + ALONE]:
        return one_of_each_block(block, count, warps, chosen, mask_of, ends, paths, state)
    return count


def give_back(blocks: int, about: Int64s, ends: Int64s, paths: Int64s, gone: Int64s, state: Int64s) -> int:
    """Put the paths that are still in the loop behind those that have left it."""
    for block in range(blocks):
        path = ends[2 * block]
        while path >= 0:
            at = 3 * state[GONE]
            gone[at] = about[BLOCK * block + START]
            gone[at + 1] = paths[3 * path + 1]
            gone[at + 2] = paths[3 * path + 2]
            state[GONE] += 1
            path = paths[3 * path]
    return 0


def standing(path: int, paths: Int64s) -> int:
    """How many paths a list has from this one on."""
    count = 0
    while path >= 0:
        path = paths[3 * path]
        count += 1
    return count


def is_full(about: Int64s, at: int, warps: int, state: Int64s) -> int:
    """Whether a block of this number of warps may log more than there is room for, or no more runs or instructions are
    allowed."""
    if state[RUNS] >= state[MOST] or state[ENTRIES] + warps > state[ENTRY_ROOM]:
        return 1
    if state[ISSUED] > state[LAST_ISSUED]:
        return 1
    if state[NOTED] + warps * about[at + GUARDS] > state[GUARD_ROOM]:
        return 1
    return state[ASKED] + warps * about[at + REQUESTS] > state[REQUEST_ROOM]


def begin(warp: int, mask: int, barrier: int, warps: int, expected: UInt32s) -> int:
    """BSSY: these lanes will meet. barrier: -1 for none."""
    if barrier >= 0:
        place = _LANES * (barrier * warps + warp)
        for lane in range(_LANES):
            if mask >> lane & 1:
                expected[place + lane] = mask
    return 0


def go_on(
    about: Int64s, at: int, warp: int, mask: int, taken: int, warps: int, expected: UInt32s, blocked: UInt32s,
    live: UInt32s, waiting_at: Int64s, targets: Int64s, block_of: Int64s, ends: Int64s, paths: Int64s, gone: Int64s,
    state: Int64s,
) -> int:  # fmt: skip
    """The lanes of a warp have done the block whose numbers begin ``at``, and take its branch or not."""
    last, end, barrier = about[at + START] + about[at + LENGTH] - 1, about[at + END], about[at + BARRIER]
    if end == MEETS:
        arrive(
            warp, mask, last, barrier, warps, expected, blocked, live, waiting_at, block_of, ends, paths, gone, state
        )
    elif end == RETURNS:
        part_by_target(warp, mask, last, targets, block_of, ends, paths, gone, state)
    else:
        if taken != 0:
            go(about[at + TARGET], warp, taken, block_of, ends, paths, gone, state)
        if taken != mask:
            go(last + 1, warp, mask & ~taken, block_of, ends, paths, gone, state)
    return 0


def execute_first_parts(
    about: Int64s, at: int, count: int, first: int, warps: int, chosen: Int64s, mask_of: Int64s, registers: Int64s,
    constants: Int64s, state: Int64s, arrays: Int64s, guards: Int64s, requests: Int64s, addresses: Int64s,
    targets: Int64s,
) -> int:  # fmt: skip
    """All warps do one part of a block after the other, up to the last one, whose number this gives.

    Arguments:
        at: where the numbers of the block begin. first: the first entry of the log.
    """
    parts, part = about[at + PARTS], about[at + FIRST]
    if parts > 1:
        sort(chosen, count, mask_of, warps)
        for one in range(part, part + parts - 1):
            for k in range(count):
                execute(
                    one, chosen[2 * k], chosen[2 * k + 1], first + k, registers, constants, state, arrays, guards,
                    requests, addresses, targets,
                )  # fmt: skip
    return part + parts - 1


def next_block(blocks: int, ends: Int64s) -> int:
    """The lowest block with a path; ``blocks`` where none has one."""
    block = 0
    while block < blocks and ends[2 * block] < 0:
        block += 1
    return block


def execute_runs(
    about: Int64s, blocks: int, block_of: Int64s, warps: int, state: Int64s, ends: Int64s, paths: Int64s, gone: Int64s,
    stamps: Int64s, chosen: Int64s, mask_of: Int64s, live: UInt32s, expected: UInt32s, blocked: UInt32s,
    waiting_at: Int64s, entry_warp: Int64s, entry_mask: UInt32s, run_block: Int64s, run_count: Int64s,
    registers: Int64s, constants: Int64s, arrays: Int64s, guards: Int64s, requests: Int64s, addresses: Int64s,
    targets: Int64s,
) -> int:  # fmt: skip
    """As :func:`run`, without what it does at the end."""
    while 1:
        block = next_block(blocks, ends)
        at = BLOCK * block
        if block == blocks or about[at + START] > state[LOWEST]:
            return DONE
        if is_full(about, at, standing(ends[2 * block], paths), state):
            return FULL
        barrier = about[at + BARRIER]
        meets = about[at + END] == MEETS
        if meets and are_simple(ends[2 * block], barrier, warps, paths, expected, blocked, live) == 0:
            return LEFT
        first = state[ENTRIES]
        count = chosen_of(about, at, block, warps, ends, paths, stamps, chosen, mask_of, state)
        note_run(block, count, about[at + LENGTH], run_block, run_count, state)
        part = execute_first_parts(
            about, at, count, first, warps, chosen, mask_of, registers, constants, state, arrays, guards, requests,
            addresses, targets,
        )  # fmt: skip
        for k in range(count):
            warp, mask = chosen[2 * k], chosen[2 * k + 1]
            entry_warp[first + k], entry_mask[first + k] = warp, mask
            begin(warp, mask, about[at + BEGINS], warps, expected)
            taken = execute(
                part, warp, mask, first + k, registers, constants, state, arrays, guards, requests, addresses, targets
            )
            go_on(
                about, at, warp, mask, taken, warps, expected, blocked, live, waiting_at, targets, block_of, ends,
                paths, gone, state,
            )  # fmt: skip
        if state[WRONG] != 0:
            return BAD
    return DONE


def note_run(block: int, count: int, length: int, run_block: Int64s, run_count: Int64s, state: Int64s) -> int:
    """A run of ``count`` warps begins."""
    run_block[state[RUNS]], run_count[state[RUNS]] = block, count
    state[RUNS] += 1
    state[ENTRIES] += count
    state[ISSUED] += length * count
    return 0


def run(
    about: Int64s, blocks: int, block_of: Int64s, warps: int, state: Int64s, ends: Int64s, paths: Int64s, gone: Int64s,
    stamps: Int64s, chosen: Int64s, mask_of: Int64s, live: UInt32s, expected: UInt32s, blocked: UInt32s,
    waiting_at: Int64s, entry_warp: Int64s, entry_mask: UInt32s, run_block: Int64s, run_count: Int64s,
    registers: Int64s, constants: Int64s, arrays: Int64s, guards: Int64s, requests: Int64s, addresses: Int64s,
    targets: Int64s,
) -> int:  # fmt: skip
    """Execute runs of the loop; why it stops. Then all paths are in ``gone``, those of one instruction and one warp in
    their order.

    Arguments:
        about: ``BLOCK`` numbers of each block, ascending by first instruction. block_of: of each instruction the block
            that begins there, -1 for none. warps: of the machine.
        state: ``STATE`` numbers. ends: of each block the first and last path that stands there, -1 for none.
        paths: of each the next one, its warp and its lanes. gone: of each path that left, its instruction, warp and
            lanes. stamps: of each warp the run in which it was last; chosen: scratch; mask_of: zeros.
        live, expected, blocked, waiting_at: of the machine, and of its 16 convergence barriers, one after the other.
        entry_warp, entry_mask: of each entry of the log. run_block, run_count: of each run, its block and its entries.
        registers: each register's array. constants: their values. arrays: of global memory.
        guards: of each guard its entry, the instruction in its block and its lanes. requests: of each request its
            entry, the number of the load in the loop and its lanes; addresses: of its 32 lanes. targets: scratch.
    """
    found = execute_runs(
        about, blocks, block_of, warps, state, ends, paths, gone, stamps, chosen, mask_of, live, expected, blocked,
        waiting_at, entry_warp, entry_mask, run_block, run_count, registers, constants, arrays, guards, requests,
        addresses, targets,
    )  # fmt: skip
    give_back(blocks, about, ends, paths, gone, state)
    return found
