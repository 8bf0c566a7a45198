"""Finds faults that the hardware does not report: races and uninitialised reads in shared memory, and what
:mod:`softlab.instruments.wait_hazards` finds.

The machine runs in lock step, so a race often gives the result that its author hoped for. The observer finds it from
the threads that accessed each word since the last barrier. Blocks usually all do the same: then one block's state
stands for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.lanes import Box, Lanes, Value
from softlab.emulator.machine.faults import first_lane, other_place
from softlab.emulator.machine.flow import Block, is_warp_synchronous, uses_and_definitions
from softlab.emulator.memory.elements import join_elements
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.places import place_of
from softlab.emulator.ptx.syntax import Register, Vector
from softlab.emulator.sites import InstructionSite, Site
from softlab.errors import KernelFault
from softlab.instruments.guesses import checked_guesses
from softlab.instruments.lone_accesses import LoneAccesses
from softlab.instruments.matrix_rows import MATRIX_OPCODES, accessors_of_rows
from softlab.instruments.native_shadow import READS, SHARED_WORDS, STORES, STRONG, UNKNOWN, NativeShadow
from softlab.instruments.shadow import ATOMIC, Shadow
from softlab.instruments.shadow_patterns import AccessPattern
from softlab.instruments.source_names import shared_symbol
from softlab.instruments.wait_hazards import WaitHazards
from softlab.instruments.warp_syncs import NO_BARRIER, is_exchange

_READ_TEXT = "reads a word of shared memory that {other} wrote since the last barrier"
_WRITE_TEXT = "writes a word of shared memory that {other} {what} since the last barrier"
#: Accesses that synchronise (PTX ISA, "Memory Consistency Model": strong operations). A volatile access counts as one
#: if the kernel has fences, or if it has atomics and no volatile stores, as a union-find without locks. Else, volatile
#: usually means that somebody hopes to need no barrier. It does not replace one: since compute capability 7.0 the lanes
#: of a warp run on their own between two warp barriers.
_STRONG = ("relaxed", "acquire", "release", "acq_rel", "mmio")
_STRONG_SHAPE = b"strong"
_OF_MATRICES = -1
#: Failures in a row after which an access is looked up among lone ones only once in this number of times.
_OFTEN_NOT_ALONE = 8
_FIX = "Put __syncthreads() (within a warp __syncwarp()) between the two"


@dataclass(frozen=True)
class SharedAccess:
    """One access to shared memory by a set of lanes.

    ``row`` and ``thread``, (lanes,) each, say which thread each lane is; ``word``, (lanes, words per lane), which words
    of shared memory it accesses.
    """

    site: Site
    lanes: Lanes
    address: Value
    row: np.ndarray
    thread: np.ndarray
    word: np.ndarray


class Hazards(WaitHazards):
    """Raises a ``KernelFault`` at the first fault. One observer watches one run."""

    _shadow_class: type[Shadow] = Shadow

    def __init__(self) -> None:
        super().__init__()
        self._shadow: Shadow | None = None
        self._volatile_counts = self._fences_count = False
        self._used: frozenset[str] = frozenset()
        self._guesses: frozenset[int] = frozenset()
        self._site_words: dict[int, np.ndarray] = {}
        self._lone: LoneAccesses
        #: How often in a row an instruction's accesses were no lone ones.
        self._not_alone: dict[int, int] = {}
        #: Index of each access -> its shape, whether it is strong, and its kind, for all runs of the kernel.
        self._shapes: dict[int, bytes]
        self._strong: dict[int, bool] = {}
        self._kinds: dict[int, int] = {}
        self._native: NativeShadow | None = None
        #: The barrier that lanes pass next, or passed last, at which others had arrived and gone on.
        self._completed: int | None = None

    def batch(self, batch: Any) -> None:
        """Start with no accesses."""
        super().batch(batch)
        self._shadow = self._shadow_class(
            batch.shared.nbytes, batch.blocks, batch.threads, batch.program.fact(_granule)
        )
        if reserved := batch.program.image.reserved_shared:
            granule = self._shadow.granule
            self._shadow.written_before(slice(reserved.start // granule, reserved.stop // granule))
        self._native = NativeShadow(self._shadow) if batch.compiled != "none" else None
        self._lone = LoneAccesses(batch, self._shadow, self._native)
        self._shapes = batch.program.fact(_shapes)
        self._strong = batch.program.fact(_strong_found)
        self._kinds = batch.program.fact(_kinds_found)
        if batch.program.fact(_has_meetings):
            self._shadow.expect_meetings()
        self._volatile_counts = batch.program.fact(_volatile_counts)
        self._fences_count = batch.program.fact(_fences_count) or bool(batch.program.fact(checked_guesses))
        self._used = batch.program.fact(_used_registers)
        self._guesses = batch.program.fact(checked_guesses)

    # Shared memory

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """Look for a race or an uninitialised read, and record who accessed the words."""
        assert self._shadow is not None
        self._shadow.begin_access(site.index)
        if not self._recorded_alone(site, lanes, address) and (
            self._native is None or not self._recorded(self._native, site, lanes, address, values)
        ):
            self.look(site, lanes, address, values)

    def _recorded(
        self, native: NativeShadow, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]
    ) -> bool:
        """Record an access in which compiled code finds nothing; False where it does, or may not be used yet."""
        kind = self._kinds.get(site.index)
        if kind is None:
            kind = self._kinds[site.index] = self._kind(site)
        if kind == _OF_MATRICES or not native.ready(self.watched.compiled):
            return False
        words = self._site_words.get(site.index)
        found = native.record(lanes, address, self._words(site) if words is None else words, kind)
        if found == UNKNOWN:
            return False
        if found == SHARED_WORDS:
            self._write(self.words_accessed(site, lanes, address), values)
        elif kind & STRONG and (self.shadow.has_order or site.instruction.has("release", "acq_rel")):
            self._synchronise(self.words_accessed(site, lanes, address))
        return True

    def _kind(self, site: Site) -> int:
        """What compiled code needs to know of an instruction; ``_OF_MATRICES`` for one that it leaves to NumPy."""
        if site.instruction.opcode in MATRIX_OPCODES:
            return _OF_MATRICES
        return READS * self.reads(site) | STORES * site.store | STRONG * self.is_strong(site)

    def look(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """The same by NumPy."""
        shadow = self.shadow
        strong, reads = self.is_strong(site), self.reads(site)
        access = self.words_accessed(site, lanes, address)
        if reads and (never := shadow.never_written(access.row, access.word)).any():
            self.report(self.fault(
                "uninitialized-shared",
                "the thread reads shared memory that no thread of the block has written. Write every element that is "
                "read, and put a barrier after the writes",
                access, never,
            ), never)  # fmt: skip
        if site.instruction.opcode in MATRIX_OPCODES:
            self._look_at_rows(access, values)
            return
        self._check_writers(access, strong, values)
        if site.store:
            self._check_readers(access)
            if strong:
                shadow.write_strong(access.row, access.word, access.thread)
            else:
                self._write(access, values)
        elif not strong:
            shadow.read(access.row, access.word, access.thread)
        if strong:
            self._synchronise(access)

    def _recorded_alone(self, site: Site, lanes: Lanes, address: Value) -> bool:
        """Record an access by its pattern: one that no other one since the last barrier concerns, or an atomic again.

        False for any other.
        """
        shape = self._shapes.get(site.index) or self._shape(site)
        if shape is _STRONG_SHAPE:
            return False
        failed = self._not_alone.get(site.index, 0)
        if failed >= _OFTEN_NOT_ALONE and failed % _OFTEN_NOT_ALONE:
            self._not_alone[site.index] = failed + 1
            return False
        again = self.is_strong(site)
        recorded = self._lone.record(site, lanes, address, shape, self.may_be_alone, self._pattern, again)
        if not recorded:
            self._not_alone[site.index] = failed + 1
        elif failed:
            del self._not_alone[site.index]
        return recorded

    def may_be_alone(self, first: int, end: int) -> bool:
        """Whether nothing but threads of the block has accessed these bytes."""
        return True

    def _shape(self, site: Site) -> bytes:
        """What tells which words an access touches from its addresses.

        ``_STRONG_SHAPE`` for one that synchronises, unless it is a write that publishes nothing by itself.
        """
        if self.is_strong(site) and (not site.store or site.instruction.has("release", "acq_rel")):
            found = _STRONG_SHAPE
        elif site.instruction.opcode in MATRIX_OPCODES:
            found = str(site.index).encode()
        else:
            found = self._words(site).tobytes()
        self._shapes[site.index] = found
        return found

    def _pattern(self, site: Site, lanes: Lanes, address: Value, first: int) -> AccessPattern:
        access = self.words_accessed(site, lanes, address)
        word, thread = access.word, access.thread
        if site.instruction.opcode in MATRIX_OPCODES:
            _, word, thread = accessors_of_rows(site, access.row, word, thread)
        return self.shadow.pattern(word, thread, first)

    def _look_at_rows(self, access: SharedAccess, values: tuple[Value, ...]) -> None:
        """Rows of matrices: no lane may have accessed a word unless it gives the row's address and gets the word."""
        shadow, site = self.shadow, access.site
        row, word, thread = accessors_of_rows(site, access.row, access.word, access.thread)
        asked = [(shadow.written_by_another(row, word, thread, False), True)]
        if site.store:
            asked.append((shadow.read_by_another(row, word, thread), False))
        for found, wrote in asked:
            clash = np.asarray(found.reshape(len(access.row), -1).any(axis=1))
            if wrote and site.store and clash.any():
                clash &= self._changes(access, values)
            if not clash.any():
                continue
            other = self._name((shadow.last_writer if wrote else shadow.last_reader)(access.row, access.word, clash))
            text = _WRITE_TEXT.format(other=other, what="wrote" if wrote else "read") if site.store else _READ_TEXT
            fault = self._with_other(self._race(text.format(other=other), access, clash), access, clash, wrote=wrote)
            fault.thread = self.watched.geometry.thread(int(thread[found.argmax()]))
            self.report(fault, clash)
        if site.store:
            self._write(access, values)
            shadow.write(row, word, thread)
        else:
            shadow.read(row, word, thread)

    def _check_writers(self, access: SharedAccess, strong: bool, values: tuple[Value, ...]) -> None:
        """No other thread may have written the words since the last barrier, unless it wrote the same value."""
        site, shadow = access.site, self.shadow
        clash = shadow.written_by_another(access.row, access.word, access.thread, strong)
        if clash.any() and site.store and not site.operation:
            changes = self._changes(access, values)
            self._same_value(access, clash & ~changes)
            clash &= changes
        if clash.any():
            other = self._name(shadow.last_writer(access.row, access.word, clash))
            text = _WRITE_TEXT.format(other=other, what="wrote") if site.store else _READ_TEXT.format(other=other)
            fault = self.fault("race", self.sentence(text, access, clash, wrote=True), access, clash)
            self.report(self._with_other(fault, access, clash, wrote=True), clash)

    def _check_readers(self, access: SharedAccess) -> None:
        """No other thread may have read the words since the last barrier."""
        clash = self.shadow.read_by_another(access.row, access.word, access.thread)
        if clash.any():
            other = self._name(self.shadow.last_reader(access.row, access.word, clash))
            text = _WRITE_TEXT.format(other=other, what="read")
            fault = self.fault("race", self.sentence(text, access, clash, wrote=False), access, clash)
            self.report(self._with_other(fault, access, clash, wrote=False), clash)

    def _write(self, access: SharedAccess, values: tuple[Value, ...]) -> None:
        """Record plain writes. Two lanes that write one word in one instruction must write the same value."""
        twice = self.shadow.write(access.row, access.word, access.thread)
        if twice.any():
            differs = self.differs_from_winner(access, values)
            self._same_value(access, twice & ~differs)
            clash = twice & differs
            if clash.any():
                text = "writes another value than a second thread does in the same instruction"
                fault = self._race(f"{text} to the same word of shared memory", access, clash)
                self.report(self._with_other(fault, access, clash, wrote=True), clash)

    def _same_value(self, access: SharedAccess, benign: np.ndarray) -> None:
        """Two threads write the same value to one word: a race that changes nothing."""
        if self.watched.collects and benign.any():
            text = "the thread writes the value that another thread writes to the same word of shared memory"
            fault = self.fault("race", f"{text}. {_FIX}", access, benign)
            self.report(self._with_other(fault, access, benign, wrote=True), benign, "warning")

    def _synchronise(self, access: SharedAccess) -> None:
        """Pass on what the threads of a strong access know."""
        shadow = self.shadow
        if access.site.instruction.has("release", "acq_rel"):
            shadow.fence(access.row, access.thread)
        if access.site.operation:
            shadow.exchange(access.row, access.word, access.row, access.thread)
        elif access.site.store:
            shadow.release(access.row, access.word, access.thread)
        else:
            shadow.acquire(access.row, access.word, access.thread)

    @property
    def shadow(self) -> Shadow:
        """What is known of each word."""
        assert self._shadow is not None
        return self._shadow

    def is_strong(self, site: Site) -> bool:
        """Whether an access synchronises."""
        found = self._strong.get(site.index)
        if found is None:
            volatile = site.instruction.has("volatile") and self._volatile_counts
            found = bool(site.operation) or site.instruction.has(*_STRONG) or volatile or site.index in self._guesses
            self._strong[site.index] = found
        return found

    def reads(self, site: Site) -> bool:
        """Whether an access reads. An exchange whose old value nothing uses is a store."""
        if not site.store:
            return True
        if not site.operation or not site.operation.startswith("exch"):
            return bool(site.operation)
        old = site.instruction.operands[0]
        return isinstance(old, Register) and old.name in self._used

    def words_at(self, site: Site, address: np.ndarray) -> np.ndarray:
        """The words that each lane accesses, (lanes, words per lane)."""
        first = address.astype(np.int64) // self.shadow.granule
        words = self._words(site)
        return first[:, None] + words if len(words) > 1 or words[0] else first[:, None]

    def words_accessed(self, site: Site, lanes: Lanes, address: Value) -> SharedAccess:
        """The words that an access reads or writes. While all blocks are alike, one row stands for all of them."""
        shadow = self.shadow
        alike = isinstance(lanes, Box) and lanes.rows is None
        if alike and shadow.alike and (not isinstance(address, np.ndarray) or address.shape[0] == 1):
            count = lanes.extent[1]
            flat = np.broadcast_to(address, (1, count))[0]
            thread = lanes.column_index[0]
            row = np.zeros(count, np.int64)
        else:
            shadow.tell_apart()
            flat = lanes.full_extent(address)
            thread = lanes.full_extent(lanes.column_index)
            row = lanes.full_extent(lanes.row_index)
        return SharedAccess(site, lanes, address, row, thread, self.words_at(site, flat))

    def _words(self, site: Site) -> np.ndarray:
        """Which words an access touches, counted from the word of its address.

        The compiler may load a whole vector and use only a part of it. Elements that nothing uses do not count.
        """
        found = self._site_words.get(site.index)
        if found is None:
            count = max(1, site.width // self.shadow.granule)
            found = np.arange(count)
            vector = site.instruction.operands[0]
            is_load = site.instruction.opcode != "ldmatrix" and not site.store
            # A matrix load has a vector, too, but the access is to one register of it.
            moved = isinstance(vector, Vector) and len(vector.elements) == site.elements
            if isinstance(vector, Vector) and moved and is_load and count >= site.elements:
                used = [not isinstance(e, Register) or e.name in self._used for e in vector.elements]
                if any(used):
                    found = found[np.repeat(used, count // site.elements)]
            self._site_words[site.index] = found
        return found

    def _changes(self, access: SharedAccess, values: tuple[Value, ...]) -> np.ndarray:
        """Whether each lane stores another value than the word already has. The same value again is harmless."""
        site, lanes, memory = access.site, access.lanes, self.watched.shared
        view = memory.view(site.item).reshape(-1)
        address = np.asarray(access.address)
        element = (address >> address.dtype.type(site.shift)).astype(np.int64)
        old = view[element + memory.owner(lanes) * (memory.stride // site.width)]
        return self._by_lane(lanes, old != join_elements(site, values))

    def differs_from_winner(self, access: SharedAccess, values: tuple[Value, ...]) -> np.ndarray:
        """Whether each lane's value differs from that of the last lane that writes the same word."""
        value = np.broadcast_to(join_elements(access.site, values), access.lanes.extent)
        count = len(access.row)
        whole = value.reshape(-1, count) if value.size != count else value.reshape(1, -1)
        first = access.row * self.shadow.words + access.word[:, 0]
        order = np.argsort(first, kind="stable")
        ordered = first[order]
        last = np.searchsorted(ordered, ordered, side="right") - 1
        winner = np.empty(len(first), np.int64)
        winner[order] = order[last]
        return np.asarray((whole != whole[:, winner]).any(axis=0))

    def _by_lane(self, lanes: Lanes, value: np.ndarray) -> np.ndarray:
        """A bool value of the set as one bool per lane of an access: any block's, while one row stands for all."""
        value = np.broadcast_to(value, lanes.extent)
        if self.shadow.alike and value.ndim == 2:
            return np.asarray(value.any(axis=0))
        return value.reshape(-1)

    def sentence(self, what: str, access: SharedAccess, clash: np.ndarray, *, wrote: bool) -> str:
        """What a race is, and how it is repaired. ``wrote``: the earlier access was a write."""
        exchanged = wrote and self.shadow.only_exchanged(access.row, access.word, access.thread)[clash.argmax()]
        return f"the thread {what}. {_FIX}{f'. {NO_BARRIER}' if exchanged else ''}"

    def _race(self, what: str, access: SharedAccess, clash: np.ndarray) -> KernelFault:
        return self.fault("race", f"the thread {what}. {_FIX}", access, clash)

    def fault(self, kind: str, sentence: str, access: SharedAccess, bad: np.ndarray) -> KernelFault:
        """The fault of the first lane for which ``bad``, one bool per lane of the access, holds."""
        lanes = access.lanes
        shown = bad.reshape(1, -1) if self.shadow.alike else bad.reshape(lanes.extent)
        lane = int(np.broadcast_to(shown, lanes.extent).reshape(-1).argmax())
        target = int(lanes.full_extent(access.address)[lane])
        bypass = self._bypasses.by_thread(*first_lane(lanes, shown), lanes.threads)
        if bypass is not None:  # the thread gets here only because it missed the barrier
            return self._bypassed(bypass[0], lanes, lanes.mask & bypass[1])
        return self.watched.faults.fault(kind, sentence, access.site.instruction, lanes, shown, target)

    def _with_other(self, fault: KernelFault, access: SharedAccess, clash: np.ndarray, *, wrote: bool) -> KernelFault:
        """A race with the other access and the name of the address."""
        if fault.kind != "race":
            return fault
        lane = int(clash.argmax())
        row, words, thread = int(access.row[lane]), access.word[lane], int(access.thread[lane])
        other, instruction = self.shadow.earlier(wrote, row, words, thread)
        image = self.watched.program.image
        if instruction is not None:
            place = place_of(image.instructions[instruction].frames, self.watched.file)
            fault.__dict__.update(other_place(place))
        if other is not None:
            fault.other_thread = self.watched.geometry.thread(other)
        fault.other_block = fault.block
        if fault.address is not None:
            fault.symbol = shared_symbol(image, fault.address, access.site.dtype.itemsize)
        return fault

    def _name(self, code: int) -> str:
        if code == ATOMIC:
            return "an atomic of another thread"
        if code < 0:
            return "other threads"
        return f"thread {self.watched.geometry.thread(code)}"

    def fence(self, site: InstructionSite, lanes: Lanes) -> None:
        """Whoever reads what the lanes write next by an atomic, also sees what they did before."""
        if not self._fences_count:
            return
        shadow = self.shadow
        shadow.tell_apart()
        shadow.fence(lanes.full_extent(lanes.row_index), lanes.full_extent(lanes.column_index))

    # Warps and barriers

    def warp_sync(self, site: InstructionSite, lanes: Lanes, members: Value) -> None:
        """Lanes of a warp that synchronise see what each other wrote before. Lanes that exchange values need not."""
        super().warp_sync(site, lanes, members)
        if is_exchange(site.instruction):
            self.shadow.lanes_exchange(lanes, members)
        else:
            self.shadow.warp_sync(lanes, members)

    def ahead(self, barrier: int, lanes: Lanes, block: Block | None) -> None:
        """Lanes arrive at a barrier and go on; later it is complete."""
        super().ahead(barrier, lanes, block)
        if block is None:
            self._completed = barrier
        else:
            self.shadow.arrive_ahead(barrier, lanes)

    def barrier(self, lanes: Lanes, instructions: Sequence[int], ahead: Lanes | None = None) -> None:
        """Accesses of the warps that pass, before they arrived, are ordered before later ones of those that waited."""
        if self.watched.shared.nbytes:
            self.shadow.barrier(lanes, self.watched.live_mask(), ahead, self._completed)
        super().barrier(lanes, instructions, ahead)


def _shapes(image: Image) -> dict[int, bytes]:
    return {}


def _strong_found(image: Image) -> dict[int, bool]:
    return {}


def _kinds_found(image: Image) -> dict[int, int]:
    return {}


def _has_meetings(image: Image) -> bool:
    """Whether a barrier may be for some of a block's threads: it names their number, or is arrived at alone."""
    barriers = (i for i in image.instructions if i.opcode in ("bar", "barrier") and not i.has("cluster", "warp", "red"))
    return any(i.has("arrive") or len(i.operands) > 1 for i in barriers)


def _volatile_counts(image: Image) -> bool:
    """Whether volatile accesses to shared memory are there to see what others do."""
    shared = [i for i in image.instructions if not i.has("global")]
    fences = any(i.opcode in ("membar", "fence") and not i.has("proxy") for i in image.instructions)
    atomics = any(i.opcode in ("atom", "red") for i in shared)
    stores = any(i.opcode == "st" and i.has("volatile") for i in shared)
    return fences or (atomics and not stores)


def _fences_count(image: Image) -> bool:
    """Whether fences may order accesses to shared memory: lanes exchange values, or something else than barriers and
    accesses to global memory may signal."""
    return any(
        (is_warp_synchronous(i) and is_exchange(i))
        or (i.opcode in ("mbarrier", "cp", "atom", "red") and not i.has("global"))
        or (i.opcode in ("ld", "st") and i.has(*_STRONG, "volatile") and not i.has("global"))
        or i.has("cluster", "bulk", "shared::cluster", "mbarrier", "async")
        for i in image.instructions
    )


def _used_registers(image: Image) -> frozenset[str]:
    """The registers that something reads. A guarded load that may leave an old value uses nothing of it."""
    used: set[str] = set()
    for instruction in image.instructions:
        uses, definitions = uses_and_definitions(instruction)
        kept = len(definitions) if instruction.opcode == "ld" and instruction.guard is not None else 0
        used.update(uses[: len(uses) - kept])
    return frozenset(used)


def _granule(image: Image) -> int:
    """Bytes per watched word: 1 if the kernel may access less than 4 bytes of shared memory at once, else 4."""
    narrow = {"b8", "u8", "s8", "b16", "u16", "s16", "f16", "bf16"}
    for instruction in image.instructions:
        moves = instruction.opcode in ("ld", "st", "atom", "red") or instruction.has("load", "store")  # the last: wmma
        if moves and instruction.modifiers[-1] in narrow:
            elsewhere = instruction.has("global", "const", "local", "param")
            if not elsewhere and not instruction.has("v2", "v4", "v8"):
                return 1
    return 4
