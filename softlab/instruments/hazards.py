"""Finds faults that the hardware does not report: races and uninitialised reads in shared memory, shuffles from
inactive lanes, barriers in divergent code.

The machine runs in lock step, so that a race gives the result its author hoped for; here it is found from who touched
each word since the last barrier. Where all blocks do the same, which is the rule, one block's state stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.effects import Place
from softlab.emulator.faults import first_lane
from softlab.emulator.flow import Block, is_warp_synchronous, uses_and_definitions
from softlab.emulator.lanes import WARP, Box, Lanes, Value
from softlab.emulator.memory import Site, join_elements
from softlab.emulator.observers import Observer
from softlab.emulator.ptx import Register, Vector
from softlab.instruments.detours import Detours
from softlab.instruments.shadow import ATOMIC, Shadow

_READ_TEXT = "reads a word of shared memory that {other} wrote since the last barrier"
_WRITE_TEXT = "writes a word of shared memory that {other} {what} since the last barrier"
_AROUND_BARRIER = (
    "the thread goes around a barrier at which others of its block wait. Move the barrier out of the branch or loop: "
    "all threads of the block must come to it"
)
_TWO_BARRIERS = (
    "the thread meets threads of its block that wait at another barrier. Move the barrier out of the branches: all "
    "threads of the block must come to the same one"
)
_AROUND_SHUFFLE = (
    "the thread goes around a warp-synchronous instruction whose mask names it, and at which other lanes wait. Move "
    "the instruction out of the branch, or name only the lanes that come (__ballot_sync)"
)
#: Accesses that synchronise (PTX ISA, "Memory Consistency Model": strong operations). Volatile ones count among them
#: where the kernel has fences; without, a volatile array is one that somebody hopes to need no barrier for.
_STRONG = ("relaxed", "acquire", "release", "acq_rel", "mmio")
_MEND = "Put __syncthreads() (within a warp __syncwarp()) between the two"


@dataclass(frozen=True)
class Touch:
    """An access to shared memory, flat: which words each lane touches, (lanes, words a lane), and who it is."""

    row: np.ndarray
    thread: np.ndarray
    word: np.ndarray


class Hazards(Observer):
    """Raises a ``KernelFault`` at the first fault. One observer watches one run."""

    def __init__(self) -> None:
        self.watched: Any = None
        self._shadow: Shadow | None = None
        self._detours: Detours
        self._fences = False
        self._used: frozenset[str] = frozenset()
        self._site_words: dict[int, np.ndarray] = {}

    def batch(self, batch: Any) -> None:
        """Nothing has been touched yet."""
        self.watched = batch
        self._shadow = Shadow(batch.shared.nbytes, batch.blocks, batch.threads, _granule(batch))
        self._detours = Detours(batch.launch.program)
        instructions = batch.launch.program.image.instructions
        self._fences = any(i.opcode in ("membar", "fence") and not i.has("proxy") for i in instructions)
        if not self._used:
            self._used = frozenset(name for i in instructions for name in uses_and_definitions(i)[0])

    # Shared memory

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """Look for a race or an uninitialised read, and remember who was here."""
        shadow = self._shadow
        assert shadow is not None
        touch = self.touch(site, lanes, address)
        ordered = site.instruction.has("volatile")
        strong, reads = self.is_strong(site), self.reads(site)
        if reads and (never := shadow.never_written(touch.row, touch.word)).any():
            raise self.fault(
                "uninitialized-shared",
                "the thread reads shared memory that no thread of the block has written. Write every element that is "
                "read, and put a barrier after the writes",
                site, lanes, address, never,
            )  # fmt: skip
        mine = np.full(len(touch.thread), ATOMIC) if strong else shadow.code(touch.thread)
        clash = shadow.written_by_another(touch.row, touch.word, touch.thread, mine, ordered)
        if clash.any() and site.store and not site.operation:
            clash &= self._changes(site, lanes, address, values)
        if clash.any():
            who = shadow.last_writer(touch.row, touch.word, clash)
            text = _WRITE_TEXT.format(other=self._name(who), what="wrote") if site.store else ""
            raise self._race(text or _READ_TEXT.format(other=self._name(who)), site, lanes, address, clash)
        if site.store:
            clash = shadow.read_by_another(touch.row, touch.word, touch.thread, ordered)
            if clash.any():
                who = shadow.last_reader(touch.row, touch.word, clash)
                raise self._race(_WRITE_TEXT.format(other=self._name(who), what="read"), site, lanes, address, clash)
            twice = shadow.write(touch.row, touch.word, mine)
            if not site.operation and twice.any():
                clash = twice & self.differs_from_winner(site, lanes, touch, values)
                if clash.any():
                    text = "writes another value than a second thread does in the same instruction"
                    raise self._race(f"{text} to the same word of shared memory", site, lanes, address, clash)
        elif not strong:
            shadow.read(touch.row, touch.word, touch.thread)
        if strong:
            if site.instruction.has("release", "acq_rel"):
                shadow.fence(touch.row, touch.thread)
            if reads:
                shadow.acquire(touch.row, touch.word, touch.thread)
            if site.store:
                shadow.release(touch.row, touch.word, touch.thread)

    @property
    def shadow(self) -> Shadow:
        """What is known of each word."""
        assert self._shadow is not None
        return self._shadow

    def is_strong(self, site: Site) -> bool:
        """Whether an access synchronises."""
        volatile = site.instruction.has("volatile") and self._fences
        return bool(site.operation) or site.instruction.has(*_STRONG) or volatile

    @staticmethod
    def reads(site: Site) -> bool:
        """Whether it reads, and not only writes."""
        return not site.store or bool(site.operation and not site.operation.startswith("exch"))

    def words_at(self, site: Site, address: np.ndarray) -> np.ndarray:
        """The words that each lane's access touches, (lanes, words a lane)."""
        first = address.astype(np.int64) // self.shadow.granule
        words = self._words(site)
        return first[:, None] + words if len(words) > 1 or words[0] else first[:, None]

    def passed(self, lanes: Lanes, *places: int) -> None:
        """These lanes, and all that they waited for, go on."""
        self._detours.passed(lanes, *places)

    def touch(self, site: Site, lanes: Lanes, address: Value) -> Touch:
        """The words that the access touches."""
        shadow = self._shadow
        assert shadow is not None
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
        return Touch(row, thread, self.words_at(site, flat))

    def _words(self, site: Site) -> np.ndarray:
        """Which words an access touches, counted from its address.

        The compiler may load a whole vector to use a part of it: elements that nobody reads are not touched.
        """
        found = self._site_words.get(site.index)
        if found is None:
            assert self._shadow is not None
            count = max(1, site.width // self._shadow.granule)
            found = np.arange(count)
            vector = site.instruction.operands[0]
            if isinstance(vector, Vector) and not site.store and count >= site.elements:
                used = [not isinstance(e, Register) or e.name in self._used for e in vector.elements]
                if any(used):
                    found = found[np.repeat(used, count // site.elements)]
            self._site_words[site.index] = found
        return found

    def _changes(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> np.ndarray:
        """Whether each lane stores something else than what is there: storing the same again is harmless."""
        memory = self.watched.shared
        view = memory.view(site.item).reshape(-1)
        place = (np.asarray(address) >> np.asarray(address).dtype.type(site.shift)).astype(np.int64)
        old = view[place + memory.owner(lanes) * (memory.stride // site.width)]
        return self._lanes_of_touch(lanes, old != join_elements(site, values))

    def differs_from_winner(self, site: Site, lanes: Lanes, touch: Touch, values: tuple[Value, ...]) -> np.ndarray:
        """Whether each lane's value is another than that of the last lane that writes to the same place."""
        value = np.broadcast_to(join_elements(site, values), lanes.extent)
        whole = value.reshape(-1, len(touch.row)) if value.size != len(touch.row) else value.reshape(1, -1)
        first = touch.row * (self._shadow.words if self._shadow else 0) + touch.word[:, 0]
        order = np.argsort(first, kind="stable")
        place = first[order]
        last = np.searchsorted(place, place, side="right") - 1
        winner = np.empty(len(first), np.int64)
        winner[order] = order[last]
        return np.asarray((whole != whole[:, winner]).any(axis=0))

    def _lanes_of_touch(self, lanes: Lanes, per_lane: np.ndarray) -> np.ndarray:
        """A bool of the set as one a lane of a touch: over all blocks where one block stands for all."""
        per_lane = np.broadcast_to(per_lane, lanes.extent)
        if self._shadow is not None and self._shadow.alike and per_lane.ndim == 2:
            return np.asarray(per_lane.any(axis=0))
        return per_lane.reshape(-1)

    def _race(self, what: str, site: Site, lanes: Lanes, address: Value, clash: np.ndarray) -> Exception:
        return self.fault("race", f"the thread {what}. {_MEND}", site, lanes, address, clash)

    def fault(self, kind: str, sentence: str, site: Site, lanes: Lanes, address: Value, bad: np.ndarray) -> Exception:
        """The fault of the first lane where ``bad``, one a lane of a touch, holds."""
        alike = self._shadow is not None and self._shadow.alike
        shown = bad.reshape(1, -1) if alike else bad.reshape(lanes.extent)
        lane = int(np.broadcast_to(shown, lanes.extent).reshape(-1).argmax())
        target = int(lanes.full_extent(address)[lane])
        around = self._detours.around(*first_lane(lanes, shown), lanes.threads)
        if around is not None:  # what it meets there follows from the barrier that it missed
            return self._missed(around[0], lanes, lanes.mask & around[1])
        return self.watched.fault(kind, sentence, site.instruction, lanes, shown, target)

    def _name(self, code: int) -> str:
        if code == ATOMIC:
            return "an atomic of another thread"
        if code < 0:
            return "other threads"
        return f"thread {self.watched.geometry.thread(code)}"

    def fence(self, place: Place, lanes: Lanes) -> None:
        """What the lanes did so far is told with what they write next by an atomic."""
        shadow = self._shadow
        assert shadow is not None
        shadow.tell_apart()
        shadow.fence(lanes.full_extent(lanes.row_index), lanes.full_extent(lanes.column_index))

    # Warps

    def warp_sync(self, place: Place, lanes: Lanes, members: Value) -> None:
        """Lanes of a warp that meet here see what each other wrote before. A lane must name itself."""
        assert self._shadow is not None
        self._detours.passed(lanes, place.index)
        lane = np.asarray(lanes.column_index % WARP, np.uint32)
        outside = (members >> lane & np.uint32(1)) == 0
        if outside.any():
            raise self.watched.fault(
                "inactive-lane",
                "the thread executes a warp-synchronous instruction whose mask does not name it. Give the mask of the "
                "lanes that come here",
                place.instruction, lanes, outside, None,
            )  # fmt: skip
        self._shadow.warp_sync(lanes)

    def shuffle(self, place: Place, lanes: Lanes, source: np.ndarray, given: np.ndarray, received: np.ndarray) -> None:
        """The lane that is read must be here."""
        here = np.broadcast_to(lanes.warp_mask, np.broadcast_shapes(lanes.warp_mask.shape, source.shape))
        there = np.take_along_axis(here, np.broadcast_to(source, here.shape).astype(np.int64), axis=2)
        missing = here & ~there
        if missing.any():
            raise self.watched.fault(
                "inactive-lane",
                "the thread reads the register of a lane that does not take part in the shuffle, which gives any "
                "value. Let all lanes of the mask come to it, and choose the width so that no other lane is read",
                place.instruction, lanes, lanes.collect(missing), None,
            )  # fmt: skip

    # Who waits for whom

    def stall(self, block: Block, lanes: Lanes) -> None:
        """Lanes wait for others of their warp."""
        self._detours.wait(block.start, block.index, lanes, WARP)

    def arrive(self, block: Block, lanes: Lanes) -> None:
        """Lanes wait for others of their block."""
        self._detours.wait(block.stop - 1, block.index + 1, lanes, lanes.threads)

    def barrier(self, lanes: Lanes, places: Sequence[int]) -> None:
        """All that was touched before is settled; all threads must have come to the same barrier."""
        assert self._shadow is not None
        if len(places) > 1:
            instruction = self.watched.launch.program.image.instructions[places[0]]
            raise self.watched.fault("barrier-divergence", _TWO_BARRIERS, instruction, lanes, np.bool_(True), None)
        self._shadow.barrier(lanes)
        self._detours.passed(lanes, *places)

    def block(self, block: Block, lanes: Lanes) -> None:
        """Threads that run code behind a place at which others wait for them have gone around it."""
        self._detours.run(block, lanes)

    def exit(self, lanes: Lanes) -> None:
        """A thread that went around such a place and ends will never come to it."""
        found = self._detours.gone(lanes)
        if found is None:
            return
        place, who = found
        raise self._missed(place, lanes, who)

    def _missed(self, place: int, lanes: Lanes, who: np.ndarray) -> Exception:
        """The fault of the lanes, of these, that went around the instruction at ``place``."""
        instruction = self.watched.launch.program.image.instructions[place]
        if is_warp_synchronous(instruction):
            kind, sentence = "inactive-lane", _AROUND_SHUFFLE
        else:
            kind, sentence = "barrier-divergence", _AROUND_BARRIER
        return self.watched.fault(kind, sentence, instruction, lanes, lanes.take(who), None)


def _granule(batch: Any) -> int:
    """Bytes told apart: words, or bytes where the kernel has narrower accesses that may be to shared memory."""
    narrow = {"b8", "u8", "s8", "b16", "u16", "s16", "f16", "bf16"}
    for instruction in batch.launch.program.image.instructions:
        if instruction.opcode in ("ld", "st", "atom", "red") and instruction.modifiers[-1] in narrow:
            named = any(m in ("global", "const", "local", "param") for m in instruction.modifiers)
            wide = any(m in ("v2", "v4", "v8") for m in instruction.modifiers)
            if not named and not wide:
                return 1
    return 4
