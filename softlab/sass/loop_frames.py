"""Compiled loops in a launch: how paths come from the machine and go back, and what is written to its log."""

from __future__ import annotations

from collections.abc import Container
from itertools import pairwise
from time import thread_time
from typing import Any, Protocol

import numpy as np

from softlab.sass import loop_code, native_loops, native_requests
from softlab.sass.barriers import Convergence
from softlab.sass.decode import Code
from softlab.sass.form import PAIRS, PREDICATE, Named, is_per_warp
from softlab.sass.homes import is_held_alone
from softlab.sass.lanes import WARP, Lanes, Value, all_true, unpack
from softlab.sass.log import Log
from softlab.sass.loops import Loop
from softlab.sass.memory import BlockMemory, interleaved
from softlab.sass.native_loops import MEETS
from softlab.sass.setup import Setup
from softlab.sass.specials import OF_LANES, OF_WARPS
from softlab.sass.streams import Space

#: Runs per call at most.
_MOST_RUNS = 256
#: Entries of the log, guards and requests of one call at most, if one run does not need more.
_ENTRIES, _REQUESTS = 1 << 17, 1 << 15
#: Numbers per lane of the scratch array: targets or what lanes give; what they get; and two rows that nobody reads.
_SCRATCH = 4
#: The bits of an address of local memory.
_ADDRESS = (1 << 32) - 1
_WORD, _TRUTH = np.dtype(np.uint32), np.dtype(np.bool_)


class BadAddress(Exception):
    """A compiled loop has come to a bad address: the machine says where, if it does all runs itself."""


class Host(Protocol):
    """The machine, for its compiled loops.

    ``registers``: of all warps, and what stands behind them; :meth:`sync` brings them up to date. The others are those
    of :class:`softlab.sass.machine.Machine`.
    """

    code: Code
    setup: Setup
    live: np.ndarray
    log: Log
    convergence: Convergence
    shared: BlockMemory
    local: BlockMemory
    changes: int
    issued: int
    unlogged: int
    pc: int

    @property
    def registers(self) -> list[Value]:
        """The registers of all warps."""

    def sync(self) -> None:
        """Write what the executing lanes changed to the registers of all."""

    def push(self, pc: int, lanes: Lanes) -> None:
        """These lanes go on at this instruction."""

    def waiting_in(self, starts: Container[int]) -> list[tuple[int, list[Lanes]]]:
        """The paths that stand at these instructions, by instruction; they do not any more."""

    def lowest(self) -> int:
        """The lowest instruction at which a path stands."""

    def run_at(self, pc: int) -> Any:
        """The run that begins at ``pc``, for this launch."""

    def constant(self, constant: Named) -> Value:
        """A constant that a run of this launch names."""

    def special(self, name: str) -> Value | None:
        """What a special register holds in all warps."""


class Room:
    """Room for the paths and the log of ``warps`` warps, for one launch after the other."""

    def __init__(self, warps: int) -> None:
        self.warps = warps
        places = WARP * warps + 1
        self.state = np.zeros(native_loops.STATE, np.int64)
        self.paths, self.gone = np.empty((places, 3), np.int64), np.empty((places, 3), np.int64)
        self.following = np.arange(1, places + 1)
        self.stamps, self.chosen = np.empty(warps, np.int64), np.empty(2 * warps, np.int64)
        self.mask_of, self.targets = np.zeros(warps, np.int64), np.empty(_SCRATCH * WARP, np.int64)
        self.entries = max(_ENTRIES, warps)
        self.entry_warp, self.entry_mask = np.empty(self.entries, np.int64), np.empty(self.entries, np.uint32)
        self.run_block, self.run_count = np.empty((2, _MOST_RUNS), np.int64)
        self.guards, self.requests = np.empty((0, 3), np.int64), np.empty((0, 3), np.int64)
        self.addresses = np.empty((1, WARP), np.int64)

    def begin(self, most: int, code: int, issued: int) -> None:
        """Get ready for at most ``most`` runs of a code of ``code`` instructions, none once more than ``issued``
        instructions are issued."""
        state = self.state
        state[native_loops.RUNS : native_loops.GONE + 1] = 0
        state[native_loops.MOST], state[native_loops.CODE] = most, code
        state[native_loops.LAST_ISSUED] = issued
        state[native_loops.ENTRY_ROOM], state[native_loops.GUARD_ROOM] = self.entries, len(self.guards)
        state[native_loops.REQUEST_ROOM] = len(self.requests)
        state[native_loops.ISSUED] = state[native_loops.WRONG] = state[native_loops.STORED] = 0
        self.stamps.fill(-1)

    def fit(self, guards: int, requests: int) -> None:
        """Make room for at least ``guards`` guards and ``requests`` requests."""
        if len(self.guards) < guards:
            self.guards = np.empty((guards, 3), np.int64)
        if len(self.requests) < requests:
            self.requests, self.addresses = np.empty((requests, 3), np.int64), np.empty((requests + 1, WARP), np.int64)


class Frame:
    """Compiled loops in one launch: they move paths from the machine and back, and write its log."""

    def __init__(self, machine: Host, rooms: dict[int, Room]) -> None:
        """``rooms``: of machines of each size, also for other launches."""
        self._machine, self._rooms = machine, rooms
        self._of_loop: dict[int, _OfLoop] = {}

    def run(self, loop: Loop, most: int) -> int:
        """Execute runs of a loop, at most ``most``; how many. Its paths, and all others, are those of the machine.

        Raises:
            BadAddress: the machine has to begin again.
        """
        machine, of_loop = self._machine, self._known(loop)
        began, room, state = thread_time(), of_loop.room, of_loop.room.state
        machine.sync()
        of_loop.bring(machine)
        ends = self._take_paths(loop, room)
        room.begin(min(most, _MOST_RUNS), len(machine.code.instructions), machine.unlogged - machine.issued)
        state[native_loops.EXECUTE] = loop.address
        arrays = self._arrays(loop, state)
        found = loop.call(
            *(id(loop.about), len(loop.blocks), id(of_loop.block_of), room.warps, id(state), id(ends)),
            *map(id, (room.paths, room.gone, room.stamps, room.chosen, room.mask_of, machine.live)),
            *map(id, machine.convergence.stacked),
            *map(id, (room.entry_warp, room.entry_mask, room.run_block, room.run_count)),
            *map(id, (of_loop.pointers, of_loop.constants, arrays, room.guards, room.requests)),
            *map(id, (room.addresses, room.targets)),
        )
        if found == native_loops.BAD:
            raise BadAddress
        runs = int(state[native_loops.RUNS])
        machine.changes += int(state[native_loops.STORED])
        self._give_paths(room)
        taken = thread_time() - began
        if runs:
            self._log(loop, room, runs)
            machine.issued += int(state[native_loops.ISSUED])
            machine.pc = loop.starts[room.run_block[runs - 1]]
        loop.note(taken, room.run_block[:runs], room.run_count[:runs])
        return runs

    def _known(self, loop: Loop) -> _OfLoop:
        """What a loop needs of this launch."""
        if id(loop) not in self._of_loop:
            warps = self._machine.setup.warps
            if warps not in self._rooms:
                self._rooms.clear()
                self._rooms[warps] = Room(warps)
            self._of_loop[id(loop)] = _OfLoop(self._machine, loop, self._rooms[warps])
        return self._of_loop[id(loop)]

    # Paths

    def _take_paths(self, loop: Loop, room: Room) -> np.ndarray:
        """Move the paths that stand in the loop from the machine to the list of paths."""
        machine, paths = self._machine, room.paths
        paths[:, 0] = room.following
        ends = np.full((len(loop.blocks), 2), -1, np.int64)
        first = 0
        for start, sets in machine.waiting_in(loop.number_of):
            count = sum(one.count for one in sets)
            here = paths[first : first + count]
            here[:, 1] = np.concatenate([one.warps for one in sets])
            here[:, 2] = np.concatenate([one.masks for one in sets])
            here[-1, 0] = -1
            ends[loop.number_of[start]] = first, first + count - 1
            first += count
        room.state[native_loops.FREE], room.state[native_loops.LOWEST] = first, machine.lowest()
        return ends

    def _give_paths(self, room: Room) -> None:
        """Give all paths back to the machine: those in the loop and those that left it."""
        gone = room.gone[: room.state[native_loops.GONE]]
        if not len(gone):
            return
        keys = gone[:, 0] * room.warps + gone[:, 1]
        order = keys.argsort(kind="stable")
        keys, pcs, warps, masks = keys[order], gone[order, 0], gone[order, 1], gone[order, 2].astype(np.uint32)
        once = all_true(keys[1:] != keys[:-1])
        limits = [0, *((pcs[1:] != pcs[:-1]).nonzero()[0] + 1).tolist(), len(pcs)]
        for first, end in pairwise(limits):
            self._push(int(pcs[first]), warps[first:end], masks[first:end], once)

    def _push(self, pc: int, warps: np.ndarray, masks: np.ndarray, once: bool) -> None:
        """Let paths go on at an instruction, those of one warp in their order. once: whether each warp has only one."""
        while not once:
            first = np.concatenate(([True], warps[1:] != warps[:-1]))
            if all_true(first):
                break
            self._machine.push(pc, Lanes(warps[first], masks[first], self._machine.live))
            warps, masks = warps[~first], masks[~first]
        self._machine.push(pc, Lanes(warps, masks, self._machine.live))

    # The log

    def _log(self, loop: Loop, room: Room, runs: int) -> None:
        log = self._machine.log
        entries, noted, asked = room.state[native_loops.ENTRIES : native_loops.ASKED + 1].tolist()
        block, counts = room.run_block[:runs], room.run_count[:runs]
        start, length = loop.about[block, native_loops.START], loop.about[block, native_loops.LENGTH]
        if log.further is not None:
            log.count(room.entry_warp[:entries], np.repeat(length, counts))
            return
        base = log.runs(
            room.entry_warp[:entries].copy(), room.entry_mask[:entries].copy(),
            np.repeat(start, counts), np.repeat(length, counts),
        )  # fmt: skip
        if noted:
            entry, offset, mask = room.guards[:noted].T
            log.guards_of(base + entry, offset.copy(), mask.astype(np.uint32))
        if asked:
            self._requests(loop, base, room.requests[:asked], room.addresses)

    def _requests(self, loop: Loop, base: int, asked: np.ndarray, addresses: np.ndarray) -> None:
        """Write requests to the log: of each the entry, from ``base`` on, the number of its access and its lanes."""
        log, entries, numbers = self._machine.log, base + asked[:, 0], asked[:, 1]
        found = native_requests.counted_loop(addresses, asked, loop.counting)
        if found is not None:
            rows, wavefronts, several, sectors = found
            offsets, spaces, kinds = loop.asking[numbers[rows]].T
            kind = np.uint8
            log.counted(
                entries[rows], offsets.copy(), spaces.astype(kind), kinds.astype(kind), (wavefronts, several, sectors)
            )
            return
        masks = asked[:, 2].astype(np.uint32)
        for number in np.unique(numbers).tolist():
            access, here = loop.accesses[number], np.flatnonzero(numbers == number)
            about = access.offset, access.space, access.kind
            address, active = addresses[here], unpack(masks[here])
            if access.space == Space.LOCAL:
                address = interleaved(address & _ADDRESS)
            for piece in range(access.pieces):
                log.requests_of(
                    entries[here], *about, access.width // access.pieces, address + 4 * WARP * piece, active
                )

    def _arrays(self, loop: Loop, state: np.ndarray) -> np.ndarray:
        """Where the memories lie."""
        machine = self._machine
        shared = machine.shared
        arrays = machine.setup.memory.places(stores=loop.stores)
        state[native_loops.ARRAYS] = len(arrays)
        if state[native_loops.LAST] >= len(arrays):
            state[native_loops.LAST] = 0
        state[native_loops.SHARED] = shared.data.ctypes.data
        state[native_loops.SHARED_BYTES], state[native_loops.SHARED_LIMIT] = shared.nbytes, shared.limit
        state[native_loops.BLOCK_WARPS] = machine.setup.warps_per_block
        local = machine.local
        state[native_loops.LOCAL] = local.data.ctypes.data
        state[native_loops.LOCAL_BYTES], state[native_loops.LOCAL_LIMIT] = local.nbytes, local.limit
        state[native_loops.LIVE] = machine.live.ctypes.data
        return arrays


def _special(machine: Host, named: Named, warps: int) -> np.ndarray:
    """A special register of a loop, with a place for each lane or each warp."""
    bank, number, _ = named
    names, width = (OF_WARPS, 1) if bank == loop_code.OF_WARPS else (OF_LANES, WARP)
    found = np.empty((warps, width), np.uint32)
    value: Any = machine.special(names[number])
    found[...] = value
    return found


class _OfLoop:
    """What one loop needs of one launch."""

    def __init__(self, machine: Host, loop: Loop, room: Room) -> None:
        for start in loop.starts:
            machine.run_at(start)  # its constants are read then
        for block in loop.blocks:
            for barrier in {block.begins, block.barrier if block.end == MEETS else -1} - {-1}:
                machine.convergence.use(barrier)
        self._loop, self.room = loop, room
        self.block_of = np.full(len(machine.code.instructions) + 1, -1, np.int64)
        self.block_of[list(loop.starts)] = np.arange(len(loop.starts))
        values = [machine.constant(one) for one in loop.constants]
        self.constants = np.array([int(value) for value in values] or [0], np.uint64).view(np.int64)
        guards, requests = (max(loop.about[:, k]) for k in (native_loops.GUARDS, native_loops.REQUESTS))
        warps = room.warps
        room.fit(max(_ENTRIES, warps * guards), max(_REQUESTS, warps * requests) if requests else 0)
        specials = [_special(machine, one, warps) for one in loop.specials]
        self._kept = specials  # so that they stay where they are
        self.pointers = np.array([0] * len(loop.registers) + list(map(id, specials)), np.int64)
        #: Of each register its place among the pointers, number and shape, and whether the loop writes it.
        self._kinds = [
            (at, number, (warps, 1 if is_per_warp(number) else WARP), number in loop.written)
            for at, number in enumerate(loop.registers)
        ]
        #: Of registers that are only read what the machine has, and that with a place for each lane.
        self._copies: dict[int, tuple[Any, np.ndarray]] = {}

    def bring(self, machine: Host) -> None:
        """Give each register of the loop a place for each lane, or each warp if a warp has it once."""
        home, pointers = machine.registers, self.pointers
        home[PAIRS].clear()
        for at, number, shape, written in self._kinds:
            value = home[number]
            fits = type(value) is np.ndarray and value.shape == shape and value.flags.c_contiguous
            if not fits or (written and not (is_held_alone(value) and value.base is None)):
                value = self._placed(home, number, shape, written)
            pointers[at] = id(value)

    def _placed(self, home: list[Any], number: int, shape: tuple[int, int], written: bool) -> np.ndarray:
        """The items of a register in an array of this shape."""
        value = home[number]
        known = None if written else self._copies.get(number)
        if known is not None and known[0] is value:
            return known[1]
        found = np.empty(shape, _TRUTH if number >= PREDICATE else _WORD)
        found[...] = value
        if written:
            home[number] = found
        else:
            self._copies[number] = value, found
        return found
