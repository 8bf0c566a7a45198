"""How the memory instructions reach the memories: addresses of the executing lanes, faults, and the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softlab.emulator.ptx.linker import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from softlab.sass import native_cells
from softlab.sass.faults import MachineFault, machine_fault
from softlab.sass.form import Form, Reader
from softlab.sass.lanes import WARP, Value, all_true, any_true, equal, unpack
from softlab.sass.memory import ITEMS, BlockMemory, Outside, interleaved
from softlab.sass.streams import Kind, Space
from softlab.sass.widths import width_of

if TYPE_CHECKING:
    from softlab.sass.machine import Machine

#: An address of shared memory: the rank of the block in its cluster above these bits.
RANK_SHIFT = 24
_OFFSET = (1 << RANK_SHIFT) - 1
_ADDRESS = (1 << 64) - 1
_SPACE_OF = {
    "LDG": Space.GLOBAL, "STG": Space.GLOBAL, "ATOMG": Space.GLOBAL, "RED": Space.GLOBAL, "REDG": Space.GLOBAL,
    "LDS": Space.SHARED, "STS": Space.SHARED, "ATOMS": Space.SHARED, "LDSM": Space.SHARED, "STSM": Space.SHARED,
    "LDL": Space.LOCAL, "STL": Space.LOCAL,
}  # fmt: skip
#: What a thread does, in the words of a fault.
_VERBS = {Kind.LOAD: "reads", Kind.STORE: "writes"}


class Part(NamedTuple):
    """The lanes of an access that touch one space.

    ``active`` (k, 32) bool; ``address`` int64 (n,): of the active lanes, warp after warp; in shared memory the offset,
    with ``row`` int64 (n,): the block (for local memory the thread), else None.
    """

    space: Space
    active: np.ndarray
    address: np.ndarray
    row: np.ndarray | None


class Access:
    """One memory instruction: its address, its space and its kind."""

    def __init__(self, form: Form, machine: Machine, number: int, kind: Kind, width: int | None = None) -> None:
        self.machine = machine
        self.form = form
        self.kind = kind
        self.width = width_of(form) if width is None else width
        self._read, self._offset = form.address(number)
        self._guard: Reader | None = form.guard
        #: Addresses are cut to a multiple of this; ``cut`` (k, 32) is what was cut off.
        self.align = 1
        self.cut = np.zeros((0, WARP), np.int64)
        self.space = _SPACE_OF.get(form.instruction.opcode)
        #: Whether its cells can be found by :mod:`.native_cells`.
        stacks = self.space == Space.LOCAL and machine.setup.recursive
        self._at_once = self.space in (Space.LOCAL, Space.SHARED) and not stacks
        #: Whether the address says which block of the cluster is meant, although the space is known.
        self.names_block = False
        #: Whether it loads the rows of matrices, of which 8 lanes give those of one.
        self.of_matrices = False

    def active(self, r: list) -> np.ndarray | None:
        """(k, 32) bool: the lanes that execute it; None if none does."""
        now, masks = self.machine.now, self.machine.held
        if self._guard is None:
            return now.active
        if masks is None:  # a look ahead
            masks = now.truth(self._guard(r))
        if equal(masks, now.masks):
            return now.active
        return unpack(masks) if any_true(masks) else None

    def addresses(self, r: list) -> np.ndarray:
        """(k, 32) int64: the address of each lane, whether it executes the access or not."""
        return self.machine.now.spread(self._read(r)).astype(np.int64) + self._offset

    def parts(self, r: list, active: np.ndarray) -> Iterator[Part]:
        """The lanes by the space that they touch; each is checked by the memory and logged here."""
        address = self.addresses(r)
        if self.align > 1:
            self.cut = address % self.align
            address = address - self.cut
        if self.space is not None:
            yield self._part(self.space, address, active, generic=self.names_block)
            return
        for space, base in ((Space.SHARED, SHARED_WINDOW), (Space.LOCAL, LOCAL_WINDOW)):
            here = active & (address >= base) & (address < base + WINDOW_BYTES)
            if any_true(here):
                yield self._part(space, address - base, here, generic=True)
                active = active & ~here
        if any_true(active):
            yield self._part(Space.GLOBAL, address, active)

    def _part(self, space: Space, address: np.ndarray, active: np.ndarray, *, generic: bool = False) -> Part:
        now = self.machine.now
        whole = now.all_active if active is now.active else all_true(active)
        row: np.ndarray | None = None
        logged = address
        if space == Space.LOCAL:
            address = address & 0xFFFFFFFF
            row = now.thread.reshape(-1) if whole else now.thread[active]
            logged = interleaved(address)
        elif space != Space.GLOBAL:
            rank, address = address >> RANK_SHIFT, address & _OFFSET
            row, others = self._blocks(rank, active, whole=whole, generic=generic)
            if others is not None:
                self._log(Space.DISTRIBUTED_SHARED, rank << RANK_SHIFT | address, others)
                part = Part(Space.DISTRIBUTED_SHARED, active, address.reshape(-1) if whole else address[active], row)
                active = active & ~others
                if any_true(active):
                    self._log(Space.SHARED, address, active)
                return part
            logged = address
        part = Part(space, active, address.reshape(-1) if whole else address[active], row)
        self._log(space, logged, active)
        return part

    def _blocks(
        self, rank: np.ndarray, active: np.ndarray, *, whole: bool, generic: bool
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The block of each active lane, and the lanes (k, 32) whose block is another one than their own; None: there
        are none. rank: (k, 32), the upper bits of its address. whole: all lanes are active."""
        setup, warps = self.machine.setup, self.machine.now.warps
        row = setup.row_of_block[warps].repeat(WARP)
        row = row if whole else row[active.reshape(-1)]
        if not generic or setup.blocks_per_cluster == 1:
            return row, None
        at = np.clip(rank, 0, setup.blocks_per_cluster - 1)
        blocks = setup.row_of_rank[setup.cluster_of[warps][:, None], at][active]
        if not (blocks != row).any():
            return blocks, None
        others = np.zeros(active.shape, bool)
        others[active] = blocks != row
        return blocks, others

    def cells_at_once(self, r: list, active: np.ndarray) -> tuple[BlockMemory, np.ndarray] | None:
        """The memory of a block or thread, and the cells of the active lanes, logged; None where :meth:`parts` has to
        look at them."""
        machine, now = self.machine, self.machine.now
        if not self._at_once or self.align > 1 or self.names_block:
            return None
        local = self.space == Space.LOCAL
        memory = machine.local if local else machine.shared
        rows = now.warps * WARP if local else machine.setup.row_of_block[now.warps]
        found = native_cells.cells(now, self._read(r), active, rows, memory, self._offset, self.width, local=local)
        if found is None:
            return None
        logged, index = found
        self._log(self.space or Space.LOCAL, logged, active)
        return memory, index

    def _log(self, space: Space, logged: np.ndarray, active: np.ndarray) -> None:
        """Note the request. logged: (k, 32), where its addresses lie."""
        log, offset = self.machine.log, self.machine.offset
        if space == Space.LOCAL and self.width > 4:  # the words of a lane are not neighbours
            for word in range(self.width // 4):
                log.request(offset, space, self.kind, 4, logged + 4 * WARP * word, active)
        else:
            log.request(offset, space, self.kind, self.width, logged, active, self.of_matrices)

    def block_memory(self, space: Space) -> BlockMemory:
        """The memory of shared or local addresses."""
        return self.machine.local if space == Space.LOCAL else self.machine.shared

    def load(self, part: Part) -> np.ndarray:
        """The items of a part's lanes."""
        try:
            if part.row is None:
                return self.machine.setup.memory.load(part.address, self.width)
            memory = self.block_memory(part.space)
            index = memory.item_index(part.row, part.address, self.width)
            return memory.view(self.width)[index]
        except Outside as error:
            raise fault(self, part, error) from error

    def load_all(self, r: list, active: np.ndarray) -> np.ndarray:
        """The items of all active lanes, in whatever spaces they lie."""
        at_once = self.cells_at_once(r, active)
        if at_once is not None:
            memory, index = at_once
            return memory.view(self.width)[index]
        parts = list(self.parts(r, active))
        if len(parts) == 1:
            return self.load(parts[0])
        items = np.empty(np.count_nonzero(active), ITEMS[self.width])
        for part in parts:
            items[part.active[active]] = self.load(part)
        return items

    def store(self, part: Part, items: np.ndarray) -> None:
        """Write the items of a part's lanes."""
        self.machine.changes += 1
        try:
            if part.row is None:
                self.machine.setup.memory.store(part.address, self.width, items)
                return
            memory = self.block_memory(part.space)
            index = memory.item_index(part.row, part.address, self.width)
            memory.view(self.width)[index] = items
        except Outside as error:
            raise fault(self, part, error) from error

    def cells(self, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | slice]]:
        """(memory as items, index of each lane's item, which of the part's lanes)."""
        try:
            if part.row is None:
                yield from self.machine.setup.memory.cells(part.address, self.width)
                return
            memory = self.block_memory(part.space)
            index = memory.item_index(part.row, part.address, self.width)
        except Outside as error:
            raise fault(self, part, error) from error
        yield memory.view(self.width), index, slice(None)


def fault(access: Access, part: Part, error: Outside) -> MachineFault:
    """The fault of the first lane that is outside."""
    machine = access.machine
    bad = int(np.flatnonzero(error.bad.reshape(-1))[0])
    rows, lanes = np.nonzero(part.active)
    where = machine.setup.place_of(int(machine.now.warps[rows[bad]]), int(lanes[bad]))
    address = int(part.address.reshape(-1)[bad]) & _ADDRESS
    sentence = f"the thread {_VERBS.get(access.kind, 'accesses')} {access.width} bytes at address {address:#x}"
    return machine_fault(error.kind, sentence, access.form.instruction, where, space=part.space, address=address)


def keep(machine: Machine, old: Value, active: np.ndarray, dtype: np.dtype | type = np.uint32) -> np.ndarray:
    """(k, 32): a copy of a register's value, to be filled where ``active``."""
    now = machine.now
    if (active is now.active and now.all_active) or all_true(active):
        return np.empty(active.shape, dtype)
    return np.array(now.spread(old))
