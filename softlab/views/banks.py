"""Bank card: where a warp's shared-memory access finds its words, and in which wavefront each lane is served."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from softlab.instruments.banks import (
    BANKS,
    WARP,
    assign_wavefronts,
    lane_groups,
    wavefronts_and_conflicts,
    words,
)
from softlab.traces import Accesses
from softlab.views.diagrams import Cell, Panel, diagram, ranges, short
from softlab.views.style import Role

#: Rows of shared memory (128 bytes each) that a card draws; more are counted, not drawn.
MOST_LINES = 32


def describe_access(accesses: Accesses, index: int) -> dict[str, int | str]:
    """The numbers of one access: what, bytes (per lane), lanes, wavefronts, least (possible), conflicts."""
    one = accesses.select(np.array([index]))
    width, store = int(one.width[0]), bool(one.store[0])
    found = wavefronts_and_conflicts(one.address, one.active, width, store)
    wavefronts, conflicts = (int(figures[0]) for figures in found)
    return {
        "what": "store" if store else "load",
        "bytes": width,
        "lanes": int(one.active.sum()),
        "wavefronts": wavefronts,
        "least": wavefronts - conflicts,
        "conflicts": conflicts,
    }


def total_cost(accesses: Accesses) -> dict[str, int]:
    """Of all accesses together: instructions, wavefronts, bank_conflicts."""
    total = {"instructions": len(accesses), "wavefronts": 0, "bank_conflicts": 0}
    for width in np.unique(accesses.width).tolist():
        some = accesses.select(accesses.width == width)
        found = wavefronts_and_conflicts(some.address, some.active, width, some.store)
        total["wavefronts"] += int(found[0].sum())
        total["bank_conflicts"] += int(found[1].sum())
    return total


@dataclass(frozen=True)
class _BankAccess:
    """One access of a warp to shared memory: by lane, the words it touches, its wavefront and its group of lanes."""

    access: Accesses
    words: np.ndarray  # (32, words per lane)
    waves: np.ndarray  # (32,)
    groups: np.ndarray  # (32,)

    @classmethod
    def of(cls, accesses: Accesses, index: int) -> _BankAccess:
        one = accesses.select(np.array([index]))
        width, store = int(one.width[0]), bool(one.store[0])
        return cls(
            one,
            words(one.address[0].astype(np.int64), width),
            assign_wavefronts(one.address, one.active, width, store)[0],
            lane_groups(one.address, one.active, width, store)[0],
        )

    @property
    def verb(self) -> str:
        return "writes" if self.access.store[0] else "reads"

    @cached_property
    def lanes(self) -> list[int]:
        """The active lanes."""
        return np.flatnonzero(self.access.active[0]).tolist()

    @cached_property
    def first_wave_of_group(self) -> dict[int, int]:
        active = self.access.active[0]
        return {
            group: int(self.waves[active & (self.groups == group)].min()) for group in set(self.groups[active].tolist())
        }

    @cached_property
    def roles(self) -> list[Role]:
        """How each lane is drawn: a lane that is not in the first wavefront of its group waits for a bank conflict."""
        return [
            "conflict"
            if self.waves[lane] > self.first_wave_of_group.get(int(self.groups[lane]), 0)
            else ("served", "served-odd")[self.groups[lane] % 2]
            for lane in range(WARP)
        ]

    @property
    def extra_waves(self) -> set[int]:
        """The wavefronts that bank conflicts add."""
        return {int(self.waves[lane]) for lane in self.lanes if self.roles[lane] == "conflict"}

    def tip(self, lane: int) -> str:
        touched, first = self.words[lane].tolist(), int(self.access.address[0, lane])
        last = first + int(self.access.width[0]) - 1
        sentence = (
            f"lane {lane} {self.verb} {_words(touched)} (bytes {first} to {last}), {_banks(touched)},"
            f" in wavefront {self.waves[lane]}"
        )
        if self.roles[lane] != "conflict":
            return sentence
        return f"{sentence}: bank conflict, it waits for wavefront {self.first_wave_of_group[int(self.groups[lane])]}"


def bank_card(accesses: Accesses, index: int) -> dict[str, Any]:
    """Diagram data (see ``views.diagrams``) of access ``index``: the memory as rows of 32 words, and the wavefronts."""
    found = _BankAccess.of(accesses, index)
    one, width = found.access, int(found.access.width[0])
    title = f"Warp {int(one.warp[0])} of block {int(one.block[0])}: {len(found.lanes)} lanes, {width} bytes per lane"
    return diagram(title, [_memory(found), _wavefronts(found)], _legend(found))


def _memory(found: _BankAccess) -> Panel:
    lines = sorted({int(word) // BANKS for word in found.words[found.access.active[0]].ravel()})
    labels = [(f"words {line * BANKS}-{line * BANKS + BANKS - 1}", "") for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        labels.append((f"and {len(lines) - MOST_LINES} more rows", ""))
    rows = {line: row for row, line in enumerate(lines[:MOST_LINES])}
    title = f"Shared memory, 32 words per row: which lane {found.verb} what"
    return Panel(title, BANKS, "bank", labels, _cells(found, rows, found.words // BANKS))


def _wavefronts(found: _BankAccess) -> Panel:
    waves = range(int(found.waves.max()) + 1)
    labels = [(f"wavefront {wave}", "extra" if wave in found.extra_waves else "") for wave in waves]
    row_of = np.broadcast_to(found.waves[:, None], found.words.shape)
    title = "The banks at work: one word per bank in each wavefront"
    return Panel(title, BANKS, "bank", labels, _cells(found, {wave: wave for wave in waves}, row_of))


def _legend(found: _BankAccess) -> list[tuple[Role, str]]:
    legend: list[tuple[Role, str]] = [("served", "served in a wavefront that is needed anyway")]
    if "served-odd" in found.roles:
        legend.append(("served-odd", "the next group of lanes"))
    if found.extra_waves:
        legend.append(("conflict", "waits: another lane wants another word of this bank"))
    return legend


def _cells(found: _BankAccess, rows: dict[int, int], row_of: np.ndarray) -> list[Cell]:
    """Neighbouring words that the same lanes touch become one cell.

    row_of: (32, words per lane), a key of ``rows`` for each word, which gives its row in the panel.
    """
    users: dict[tuple[int, int], list[int]] = defaultdict(list)
    for lane in found.lanes:
        for key, word in zip(row_of[lane].tolist(), found.words[lane].tolist(), strict=True):
            if key in rows and lane not in users[rows[key], word]:
                users[rows[key], word].append(lane)
    cells: list[Cell] = []
    for (row, word), who in sorted(users.items()):
        last = cells[-1] if cells else None
        if last and last.row == row and last.lanes == tuple(who) and last.column + last.span == word % BANKS:
            cells[-1] = replace(last, span=last.span + 1)
            continue
        tip = found.tip(who[0]) if len(who) == 1 else f"lanes {ranges(who)} share word {word}, bank {word % BANKS}"
        role: Role = "conflict" if "conflict" in {found.roles[lane] for lane in who} else found.roles[who[0]]
        cells.append(Cell(row, word % BANKS, 1, short(who), role, tuple(who), tip))
    return cells


def _words(numbers: list[int]) -> str:
    return f"word{'s' if len(numbers) > 1 else ''} {ranges(numbers)}"


def _banks(numbers: list[int]) -> str:
    return f"bank{'s' if len(numbers) > 1 else ''} {ranges(number % BANKS for number in numbers)}"
