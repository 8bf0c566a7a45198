"""What the warps of a block know of each other by releases and acquires of words of shared memory.

The shadow keeps for each thread one time up to which it comes after whatever others did. That time alone says too much:
who waits at a flag or an mbarrier comes after those who told of it, not after all threads. So a release publishes what
its warp knows of each warp, and an acquire learns it. An mbarrier publishes per phase: who waits for a phase learns of
the arrivals up to this phase.

A lane publishes what it did itself, and what its warp did before its lanes synchronised last. So for each lane a time
says until when what it did comes before anything that its warp publishes.

Times are those of :mod:`softlab.instruments.shadow`, and exclusive. Of other blocks only the time is kept: their
release counts as one of all warps, so that too much may be ordered, never too little. The same holds of a word that
several warps have accessed since the last barrier: its stamp has the latest time, and not whose that is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP, Box
from softlab.instruments.warp_syncs import distinct, warps_of

#: Phases of an mbarrier that are told apart. A thread that still waits for an earlier one learns a later one, too.
_PHASES = 4
#: Sets of lanes that are remembered.
_MOST_BOXES = 64


class WarpKnowledge:
    """``heard`` (rows, warps, warps): until when the first warp comes after the second.

    ``tells`` (rows, threads): until when what a thread did comes before what its warp publishes. Barriers of its warp
    are not in it.
    """

    def __init__(self, rows: int, warps: int, words: int) -> None:
        self.heard = np.zeros((rows, warps, warps), np.int64)
        self.tells = np.zeros((rows, warps * WARP), np.int64)
        #: The same at the last fence of each warp.
        self._fenced = np.zeros_like(self.heard)
        #: For each word the line of ``_told`` that holds what it publishes. Line 0 publishes nothing.
        self._line = np.zeros((rows, words), np.int32)
        self._told = np.zeros((1, warps), np.int64)
        #: The word of an mbarrier -> its number, and what the latest phases of each publish.
        self._objects: dict[int, int] = {}
        self._phases = np.zeros((rows, 0, _PHASES, warps), np.int64)
        self._newest = np.zeros((rows, 0), np.int64)
        self._boxes: dict[int, tuple[Box, np.ndarray, np.ndarray | None, Any]] = {}

    def repeat(self, rows: int) -> None:
        """Give each of ``rows`` blocks what the first one has."""
        lines = np.arange(rows)[:, None] * (len(self._told) - 1)
        self._line = np.where(self._line > 0, self._line + lines, 0).astype(np.int32)
        self._told = np.concatenate((self._told[:1], np.tile(self._told[1:], (rows, 1))))
        for name in ("heard", "tells", "_fenced", "_phases", "_newest"):
            setattr(self, name, np.repeat(getattr(self, name), rows, axis=0))

    # Flags and locks

    def fence(self, row: np.ndarray, thread: np.ndarray, time: int, met: np.ndarray | None) -> None:
        """The warps of these threads make a fence. ``met``: what they know by named barriers, as ``heard``."""
        self.tells[row, thread] = time
        rows, warps = self._warps(row, thread)
        self._fenced[rows, warps] = self._known(rows, warps, time, met)

    def release(self, owner: np.ndarray, word: np.ndarray, row: np.ndarray, thread: np.ndarray) -> None:
        """Threads write words of the blocks ``owner`` by atomics: these publish what came before their last fences."""
        count, warps = self._line.shape[1], self.heard.shape[1]
        teller = row * warps + thread // WARP
        cell = owner[:, None] * count + word
        pairs = np.unique(cell * self.heard[..., 0].size + teller[:, None])
        cell, teller = np.divmod(pairs, self.heard[..., 0].size)
        rows, own = np.divmod(teller, warps)
        vector = self._fenced[rows, own]
        tells = vector[np.arange(len(own)), own] > 0
        if not tells.any():
            return
        at, vector = cell[tells] // count, self._seen_from(cell[tells] // count, rows[tells], vector[tells])
        lines = self._lines(at, cell[tells] % count)
        np.maximum.at(self._told, lines, vector)

    def acquire(self, owner: np.ndarray, word: np.ndarray, row: np.ndarray, thread: np.ndarray) -> None:
        """Threads read words of the blocks ``owner`` by atomics."""
        line = self._line[owner[:, None], word]
        if line.any():
            self._learn(row, thread, self._seen_from(row, owner, self._told[line].max(axis=1)))

    def _lines(self, row: np.ndarray, word: np.ndarray) -> np.ndarray:
        """The lines of words, sorted by their places; new ones where a word has none."""
        new = self._line[row, word] == 0
        if new.any():
            places = np.unique(row[new] * self._line.shape[1] + word[new])
            first = len(self._told)
            self._line.reshape(-1)[places] = np.arange(first, first + len(places))
            self._told = np.concatenate((self._told, np.zeros((len(places), self._told.shape[1]), np.int64)))
        return self._line[row, word]

    # Mbarriers

    def begin(self, owner: np.ndarray, word: np.ndarray) -> None:
        """Mbarriers begin at these words, with phase 0. What earlier ones there published stays."""
        for one in np.unique(word).tolist():
            self._objects.setdefault(one, len(self._objects))
        if (more := len(self._objects) - self._newest.shape[1]) > 0:
            self._newest = np.pad(self._newest, ((0, 0), (0, more)))
            self._phases = np.pad(self._phases, ((0, 0), (0, more), (0, 0), (0, 0)))
        column = self._columns(word)
        self._newest[owner, column] = 0
        self._phases[owner, column] = self._phases[owner, column].max(axis=1, keepdims=True)

    def arrive(
        self,
        owner: np.ndarray,
        word: np.ndarray,
        row: np.ndarray,
        thread: np.ndarray,
        phase: np.ndarray,
        time: int,
        met: np.ndarray | None,
    ) -> None:
        """Threads arrive at mbarriers and publish what they know, (lanes,) each. ``word``: the first one of each."""
        self.tells[row, thread] = time
        rows, warps = row, thread // WARP
        parts = np.unique(np.stack((owner, self._columns(word), phase, rows, warps)), axis=1)
        owner, column, phase, rows, warps = parts
        self._publish(owner, column, phase, self._seen_from(owner, rows, self._known(rows, warps, time, met)))

    def wait(self, owner: np.ndarray, word: np.ndarray, row: np.ndarray, thread: np.ndarray, phase: np.ndarray) -> None:
        """Threads have waited for phases of mbarriers."""
        vector = self._of_phase(owner, self._columns(word), phase)
        self._learn(row, thread, self._seen_from(row, owner, vector))

    def arrive_own(self, lanes: Box, word: int, phase: np.ndarray, time: int, met: np.ndarray | None) -> None:
        """The lanes, of several blocks, arrive at one mbarrier of their own block, those of a block in one phase.

        ``phase``: (blocks, 1).
        """
        self.tells[lanes.index] = time
        blocks, warps, at = self._own(lanes)
        if warps is None:
            vector = np.full((len(blocks), self.heard.shape[1]), time)
        else:
            vector = self.heard[at].max(axis=1)
            if met is not None:
                np.maximum(vector, met[at].max(axis=1), out=vector)
            vector[:, warps] = time
        column, phase = self._objects[word], phase[:, 0]
        newest = self._newest[blocks, column]
        if (phase - newest >> 1).any():  # neither the phase of the last arrival nor the next one
            self._publish(blocks, np.full(len(blocks), column), phase, vector)
            return
        np.maximum(vector, self._phases[blocks, column, newest % _PHASES], out=vector)
        self._phases[blocks, column, phase % _PHASES] = vector
        self._newest[blocks, column] = phase

    def wait_own(self, lanes: Box, word: int, phase: np.ndarray) -> None:
        """The lanes, of several blocks, have waited for one mbarrier of their own block."""
        blocks, _, at = self._own(lanes)
        column, phase = self._objects[word], phase[:, 0]
        newest = self._newest[blocks, column]
        if phase.min() < 0 or (newest - phase & -_PHASES).any():  # none of the latest
            vector = self._of_phase(blocks, np.full(len(blocks), column), phase)
        else:
            vector = self._phases[blocks, column, phase % _PHASES]
        self.heard[at] = np.maximum(self.heard[at], vector[:, None])

    def _own(self, lanes: Box) -> tuple[np.ndarray, np.ndarray | None, Any]:
        """Blocks and warps (None for all) of lanes that have the same columns in each, and their place in ``heard``."""
        known = self._boxes.get(id(lanes))
        if known is None or known[0] is not lanes:
            if len(self._boxes) >= _MOST_BOXES:
                self._boxes.clear()
            here = warps_of(lanes)
            blocks, warps = np.flatnonzero(here.any(axis=1)), np.flatnonzero(here.any(axis=0))
            whole = here.all()
            at = slice(None) if whole else (blocks[:, None], warps[None])
            known = self._boxes[id(lanes)] = lanes, blocks, None if whole else warps, at
        return known[1:]

    def _publish(self, owner: np.ndarray, column: np.ndarray, phase: np.ndarray, vector: np.ndarray) -> None:
        """What arrivals publish counts for their phases and all later ones."""
        while (behind := np.asarray(self._newest[owner, column] < phase)).any():
            at, of = np.divmod(np.unique(owner[behind] * self._newest.shape[1] + column[behind]), self._newest.shape[1])
            last = self._newest[at, of]
            self._phases[at, of, (last + 1) % _PHASES] = self._phases[at, of, last % _PHASES]
            self._newest[at, of] += 1
        newest = self._newest[owner, column]
        for later in range(_PHASES):
            counts = np.asarray(newest - later >= phase)
            slot = (newest[counts] - later) % _PHASES
            np.maximum.at(self._phases, (owner[counts], column[counts], slot), vector[counts])

    def _of_phase(self, owner: np.ndarray, column: np.ndarray, phase: np.ndarray) -> np.ndarray:
        newest = self._newest[owner, column]
        kept = np.clip(phase, np.maximum(newest - _PHASES + 1, 0), newest)
        return np.where((phase >= 0)[:, None], self._phases[owner, column, kept % _PHASES], 0)

    def _columns(self, word: np.ndarray) -> np.ndarray:
        if (word == word[0]).all():
            return np.full(len(word), self._objects[int(word[0])])
        return np.array([self._objects[one] for one in word.tolist()])

    # Barriers

    def join(self, row: int, warps: np.ndarray, waiting: np.ndarray) -> None:
        """Warps of a block pass a named barrier: those that waited learn what all of them know."""
        for table in (self.heard, self._fenced):
            table[row, waiting] = table[row, warps].max(axis=0)

    def hear_all(self, mask: np.ndarray, time: np.ndarray) -> None:
        """The warps of these lanes, (blocks, threads), come after all that was done before these times, (blocks,)."""
        here = np.asarray(mask.reshape(*self.heard.shape[:2], WARP).any(axis=2))
        np.maximum(self.heard, np.where(here[:, :, None], time[:, None, None], 0), out=self.heard)

    # Inside

    def _known(self, rows: np.ndarray, warps: np.ndarray, time: int, met: np.ndarray | None) -> np.ndarray:
        """What these warps know, and what they did themselves until now: (n, warps)."""
        known = self.heard[rows, warps]
        if met is not None:
            np.maximum(known, met[rows, warps], out=known)
        known[np.arange(len(warps)), warps] = time
        return known

    @staticmethod
    def _seen_from(row: np.ndarray, other: np.ndarray, vector: np.ndarray) -> np.ndarray:
        """What blocks ``row`` make of vectors of the blocks ``other``: of another block only the latest time."""
        far = row != other
        if not far.any():
            return vector
        return np.where(far[:, None], vector.max(axis=1, keepdims=True), vector)

    def _learn(self, row: np.ndarray, thread: np.ndarray, vector: np.ndarray) -> None:
        """The warps of these threads learn what the vectors, (lanes, warps), say."""
        warp = row * self.heard.shape[1] + thread // WARP
        if (np.diff(warp) < 0).any():
            order = np.argsort(warp, kind="stable")
            warp, vector = warp[order], vector[order]
        first = np.flatnonzero(np.diff(warp, prepend=-1))
        heard = self.heard.reshape(-1, self.heard.shape[2])
        heard[warp[first]] = np.maximum(heard[warp[first]], np.maximum.reduceat(vector, first))

    def _warps(self, row: np.ndarray, thread: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows and warps of threads, each once."""
        rows, warps = np.divmod(distinct(row * self.heard.shape[1] + thread // WARP), self.heard.shape[1])
        return rows, warps
