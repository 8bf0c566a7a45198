"""Address card: which bytes of global memory a warp's request touches, in sectors of 32 bytes."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from softlab.instruments.coalescing import SECTOR_BYTES, global_sectors, ideal_sectors
from softlab.traces import Accesses, Buffer
from softlab.views.diagrams import Cell, Panel, diagram, ranges, short
from softlab.views.style import Role

#: Bytes of one drawn row: four sectors, a cache line.
LINE_BYTES = 128
CELL_BYTES = 4
MOST_LINES = 32
_PER_LINE = LINE_BYTES // CELL_BYTES
_PER_SECTOR = SECTOR_BYTES // CELL_BYTES


def sector_card(accesses: Accesses, index: int, buffers: tuple[Buffer, ...] = ()) -> dict[str, Any]:
    """Diagram data of global access ``index``: 4 bytes per column, one cache line per row; sectors alternate in colour.

    What a touched sector brings along and no lane wants is drawn as idle.

    buffers: the run's, so that addresses count from the start of their array.
    """
    one = accesses.select(np.array([index]))
    width, store = int(one.width[0]), bool(one.store[0])
    address, active = one.address[0].astype(np.int64), one.active[0]
    lanes = np.flatnonzero(active).tolist()
    lowest = int(address[active].min()) if lanes else 0
    home = next((b for b in buffers if b.base <= lowest < b.base + b.nbytes), None)
    start = home.base if home else 0
    users = _users(lanes, address, width)
    lines = sorted({word // _PER_LINE for word in users})
    rows = {line: row for row, line in enumerate(lines[:MOST_LINES])}
    tips = {lane: _tip([lane], int(address[lane]) - start, width, store) for lane in lanes}
    cells = _used(users, rows, {**tips, **_shared_tips(users, address - start, width, store)}) + _idle(users, rows)
    sectors = int(global_sectors(one.address, one.active, width)[0])
    least = int(ideal_sectors(one.active, width)[0])
    verb = "store" if store else "load"
    labels = [(f"bytes {line * LINE_BYTES - start} on", "") for line in rows]
    panel = Panel(
        f"Global memory, a cache line of {LINE_BYTES} bytes per row: which lane {verb}s what",
        _PER_LINE,
        "byte",
        labels + ([(f"and {len(lines) - MOST_LINES} more lines", "")] if len(lines) > MOST_LINES else []),
        sorted(cells, key=lambda cell: (cell.row, cell.column)),
        column_labels=[str(CELL_BYTES * column) for column in range(_PER_LINE)],
        bands=[(_PER_SECTOR, f"sector {number}") for number in range(_PER_LINE // _PER_SECTOR)],
    )
    legend: list[tuple[Role, str]] = [
        ("served", "lanes in sectors 0, 2, 4, ..."),
        ("served-odd", "lanes in sectors 1, 3, 5, ..."),
    ]
    if any(cell.role == "idle" for cell in cells):
        legend.append(("idle", "moved with its sector, and no lane wants it"))
    title = f"Warp {int(one.warp[0])}: a {verb} of {width} bytes per lane touches {sectors} sectors (least {least})"
    return diagram(title, [panel], legend)


def _users(lanes: list[int], address: np.ndarray, width: int) -> dict[int, list[int]]:
    """Word of memory -> the lanes that access it."""
    users: dict[int, list[int]] = defaultdict(list)
    for lane in lanes:
        for word in range(int(address[lane]) // CELL_BYTES, (int(address[lane]) + width - 1) // CELL_BYTES + 1):
            users[word].append(lane)
    return users


def _tip(lanes: list[int], byte: int, width: int, store: bool) -> str:
    """What the lanes do, as a sentence."""
    who = f"lane {lanes[0]} {'writes' if store else 'reads'}"
    if len(lanes) > 1:
        who = f"lanes {ranges(lanes)} {'write' if store else 'read'}"
    return f"{who} byte {byte} of the array on, {width} bytes per lane"


def _shared_tips(users: dict[int, list[int]], byte: np.ndarray, width: int, store: bool) -> dict[tuple[int, ...], str]:
    """Lanes that meet in one cell -> their sentence."""
    together = {tuple(who) for who in users.values() if len(who) > 1}
    return {who: _tip(list(who), int(byte[who[0]]), width, store) for who in together}


def _used(users: dict[int, list[int]], rows: dict[int, int], tips: dict[Any, str]) -> list[Cell]:
    """Neighbouring words of 4 bytes that the same lanes touch become one cell."""
    cells: list[Cell] = []
    for word, who in sorted(users.items()):
        if word // _PER_LINE not in rows:
            continue
        row, column = rows[word // _PER_LINE], word % _PER_LINE
        last = cells[-1] if cells else None
        if last and last.row == row and last.lanes == tuple(who) and last.column + last.span == column:
            cells[-1] = Cell(row, last.column, last.span + 1, last.text, last.role, last.lanes, last.tip)
            continue
        role: Role = "served-odd" if word // _PER_SECTOR % 2 else "served"
        tip = tips[who[0]] if len(who) == 1 else tips[tuple(who)]
        cells.append(Cell(row, column, 1, short(who), role, tuple(who), tip))
    return cells


def _idle(users: dict[int, list[int]], rows: dict[int, int]) -> list[Cell]:
    """The words of touched sectors that no lane wants, neighbours of one sector as one cell."""
    cells: list[Cell] = []
    for sector in sorted({word // _PER_SECTOR for word in users}):
        row = rows.get(sector * _PER_SECTOR // _PER_LINE)
        free = [word % _PER_LINE for word in range(sector * _PER_SECTOR, (sector + 1) * _PER_SECTOR)
                if word not in users]  # fmt: skip
        if row is None:
            continue
        for column in free:
            last = cells[-1] if cells else None
            neighbour = last and last.row == row and last.column + last.span == column and column % _PER_SECTOR
            if last and neighbour:
                span = last.span + 1
                cells[-1] = Cell(row, last.column, span, "", "idle", (), _idle_tip(span))
            else:
                cells.append(Cell(row, column, 1, "", "idle", (), _idle_tip(1)))
    return cells


def _idle_tip(columns: int) -> str:
    return f"{columns * CELL_BYTES} bytes that move with their sector, and that no lane wants"
