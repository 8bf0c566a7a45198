"""Bank card: where a warp's shared-memory access finds its words, and in which wavefront each lane is served."""

from __future__ import annotations

from collections import defaultdict
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
    """The numbers of one access: what, bytes (a lane), lanes, wavefronts, least (possible), conflicts."""
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


def bank_card(accesses: Accesses, index: int) -> dict[str, Any]:
    """Diagram data (see ``views.diagrams``) of access ``index``: the memory as rows of 32 words, and the wavefronts."""
    one = accesses.select(np.array([index]))
    width, store = int(one.width[0]), bool(one.store[0])
    address, active = one.address[0].astype(np.int64), one.active[0]
    waves = assign_wavefronts(one.address, one.active, width, store)[0]
    groups = lane_groups(one.address, one.active, width, store)[0]
    touched = words(address, width)
    first_of = {int(g): int(waves[active & (groups == g)].min()) for g in set(groups[active].tolist())}
    roles: list[Role] = [
        "conflict" if waves[lane] > first_of.get(int(groups[lane]), 0) else ("served", "served-odd")[groups[lane] % 2]
        for lane in range(WARP)
    ]
    verb = "writes" if store else "reads"
    lanes = np.flatnonzero(active).tolist()
    tips = {
        lane: f"lane {lane} {verb} {_words(touched[lane].tolist())} (bytes {address[lane]} to"
        f" {address[lane] + width - 1}), {_banks(touched[lane].tolist())}, in wavefront {waves[lane]}"
        + (
            f": bank conflict, it waits for wavefront {first_of[int(groups[lane])]}"
            if roles[lane] == "conflict"
            else ""
        )
        for lane in lanes
    }
    lines = sorted({int(word) // BANKS for word in touched[active].ravel()})
    memory = Panel(
        f"Shared memory, 32 words a row: which lane {verb} what",
        BANKS,
        "bank",
        [(f"words {line * BANKS}-{line * BANKS + BANKS - 1}", "") for line in lines[:MOST_LINES]]
        + ([(f"and {len(lines) - MOST_LINES} rows more", "")] if len(lines) > MOST_LINES else []),
        _cells(
            {line: row for row, line in enumerate(lines[:MOST_LINES])}, touched // BANKS, touched, lanes, roles, tips
        ),
    )
    extra = {int(waves[lane]) for lane in lanes if roles[lane] == "conflict"}
    count = int(waves.max()) + 1
    served = Panel(
        "The banks at work: one word a bank in each wavefront",
        BANKS,
        "bank",
        [(f"wavefront {wave}", "extra" if wave in extra else "") for wave in range(count)],
        _cells(
            {wave: wave for wave in range(count)},
            np.broadcast_to(waves[:, None], touched.shape),
            touched,
            lanes,
            roles,
            tips,
        ),
    )
    legend: list[tuple[Role, str]] = [("served", "served in a wavefront that is needed anyway")]
    if "served-odd" in {roles[lane] for lane in lanes}:
        legend.append(("served-odd", "the next group of lanes"))
    if extra:
        legend.append(("conflict", "waits: another lane wants another word of this bank"))
    title = f"Warp {int(one.warp[0])} of block {int(one.block[0])}: {len(lanes)} lanes, {width} bytes a lane"
    return diagram(title, [memory, served], legend)


def _cells(
    rows: dict[int, int],
    row_of: np.ndarray,
    touched: np.ndarray,
    lanes: list[int],
    roles: list[Role],
    tips: dict[int, str],
) -> list[Cell]:
    """Neighbouring words that the same lanes touch become one cell. row_of, touched: (32, words of a lane)."""
    users: dict[tuple[int, int], list[int]] = defaultdict(list)
    for lane in lanes:
        for key, word in zip(row_of[lane].tolist(), touched[lane].tolist(), strict=True):
            if key in rows and lane not in users[rows[key], word]:
                users[rows[key], word].append(lane)
    cells: list[Cell] = []
    for (row, word), who in sorted(users.items()):
        last = cells[-1] if cells else None
        if last and last.row == row and last.lanes == tuple(who) and last.column + last.span == word % BANKS:
            cells[-1] = Cell(row, last.column, last.span + 1, last.text, last.role, last.lanes, last.tip)
            continue
        tip = tips[who[0]] if len(who) == 1 else f"lanes {ranges(who)} share word {word}, bank {word % BANKS}"
        role: Role = "conflict" if "conflict" in {roles[lane] for lane in who} else roles[who[0]]
        cells.append(Cell(row, word % BANKS, 1, short(who), role, tuple(who), tip))
    return cells


def _words(numbers: list[int]) -> str:
    return f"word{'s' if len(numbers) > 1 else ''} {ranges(numbers)}"


def _banks(numbers: list[int]) -> str:
    return f"bank{'s' if len(numbers) > 1 else ''} {ranges(number % BANKS for number in numbers)}"
