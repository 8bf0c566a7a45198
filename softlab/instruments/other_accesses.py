"""The other access of a race in shared memory that a cluster or an asynchronous copy takes part in."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.machine.faults import other_place
from softlab.emulator.memory.copies import Copy
from softlab.emulator.ptx.places import place_of
from softlab.emulator.ptx.syntax import Instruction
from softlab.errors import KernelFault
from softlab.instruments.cluster_shadow import ClusterShadow
from softlab.instruments.remote_accesses import COPY, RemoteAccesses
from softlab.instruments.shadow import CODE_BITS
from softlab.instruments.source_names import shared_symbol

#: Whose access it is: that of a thread of the accessed block, or that of another block's thread or of a copy.
OWN, REMOTE = "own", "remote"


@dataclass(frozen=True)
class _Other:
    """An access: its time, instruction, and thread; ``row`` of the batch. None for what is not known.

    ``of_copy``: it is that of a copy, which is not ordered with what its own thread does.
    """

    time: int
    instruction: Instruction | None
    row: int | None
    thread: int | None
    of_copy: bool = False


class OtherAccesses:
    """Finds the last access to some words of one batch by another thread or copy.

    ``copies``: the copies of the batch, the latest last.
    """

    def __init__(self, batch: Any, shadow: ClusterShadow, copies: Iterable[Copy]) -> None:
        self._batch = batch
        self._shadow = shadow
        self._copies = copies

    def name(
        self,
        fault: KernelFault,
        row: int,
        words: np.ndarray,
        kinds: Iterable[bool],
        me: tuple[int, int],
        itemsize: int,
        sides: Collection[str] = (OWN, REMOTE),
    ) -> KernelFault:
        """The fault with the place of the other access: the last one to these words of the block in ``row``.

        ``kinds``: whether writes and reads are asked for (True, False). ``me``: (row, thread) of the fault. ``sides``:
        whose accesses are asked for: those of the block's own threads, and remote ones.
        """
        if fault.kind != "race":
            return fault
        found = [other for wrote in kinds for side, other in self._found(wrote, row, words) if side in sides]
        found = [other for other in found if other.of_copy or (other.row, other.thread) != me]
        image, geometry = self._batch.program.image, self._batch.geometry
        if fault.address is not None:
            fault.symbol = shared_symbol(image, fault.address, itemsize)
        if not found:
            return fault
        last = max(found, key=lambda other: other.time)
        if last.instruction is not None:
            fault.__dict__.update(other_place(place_of(last.instruction.frames, self._batch.file)))
        if last.row is not None:
            fault.other_block = geometry.block_index(last.row)
        if last.thread is not None:
            fault.other_thread = geometry.thread(last.thread)
        return fault

    def _found(self, wrote: bool, row: int, words: np.ndarray) -> Iterable[tuple[str, _Other]]:
        shadow, instructions = self._shadow, self._batch.program.image.instructions
        stamps = shadow.stamps(wrote)
        own = 0 if shadow.alike else row
        if (stamp := int(stamps[own, words].max())) > 0:
            thread, index = shadow.earlier(wrote, own, words, -1)
            yield OWN, _Other(stamp >> CODE_BITS, None if index is None else instructions[index], row, thread)
        if shadow.remote is None:
            return
        remote = (shadow.remote.written if wrote else shadow.remote.read)[row, words]
        stamp = int(remote.max())
        if stamp <= 0:
            return
        source, time = RemoteAccesses.source_of(stamp), RemoteAccesses.time_of(stamp)
        if source == COPY:
            copy = self._copy(wrote, row, int(words[int(remote.argmax())]))
            if copy is not None:
                other_row, thread = divmod(int(copy[1]), self._batch.threads)
                yield REMOTE, _Other(time, copy[0].site.instruction, other_row, thread, of_copy=True)
            return
        index = shadow.instruction_at(time)
        instruction = None if index is None else instructions[index]
        if isinstance(source, int):  # several threads
            yield REMOTE, _Other(time, instruction, None, None)
            return
        size = self._batch.geometry.blocks_per_cluster
        yield REMOTE, _Other(time, instruction, row - row % size + source[0], source[1])

    def _copy(self, writes: bool, row: int, word: int) -> tuple[Copy, int] | None:
        """The last copy that uses a word, and the lane that issued it."""
        first = word * self._shadow.granule
        for copy in reversed(list(self._copies)):
            if copy.writes == writes:
                inside = (copy.owner == row) & (copy.offset < first + self._shadow.granule)
                inside &= first < copy.offset + copy.nbytes
                if inside.any():
                    return copy, int(copy.lane[int(inside.argmax())])
        return None
