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


def sector_card(accesses: Accesses, index: int, buffers: tuple[Buffer, ...] = ()) -> dict[str, Any]:
    """Diagram data of global access ``index``: 4 bytes a column, one cache line a row; sectors alternate in colour.

    buffers: the run's, so that addresses count from the start of the array they lie in.
    """
    one = accesses.select(np.array([index]))
    width, store = int(one.width[0]), bool(one.store[0])
    address, active = one.address[0].astype(np.int64), one.active[0]
    lanes = np.flatnonzero(active).tolist()
    lowest = int(address[active].min()) if lanes else 0
    home = next((b for b in buffers if b.base <= lowest < b.base + b.nbytes), None)
    start = home.base if home else 0
    users: dict[int, list[int]] = defaultdict(list)
    for lane in lanes:
        for place in range(int(address[lane]) // CELL_BYTES, (int(address[lane]) + width - 1) // CELL_BYTES + 1):
            users[place].append(lane)
    per_line = LINE_BYTES // CELL_BYTES
    lines = sorted({place // per_line for place in users})[:MOST_LINES]
    rows = {line: row for row, line in enumerate(lines)}
    cells: list[Cell] = []
    for place, who in sorted(users.items()):
        if place // per_line not in rows:
            continue
        row, column = rows[place // per_line], place % per_line
        last = cells[-1] if cells else None
        if last and last.row == row and last.lanes == tuple(who) and last.column + last.span == column:
            cells[-1] = Cell(row, last.column, last.span + 1, last.text, last.role, last.lanes, last.tip)
            continue
        sector = place * CELL_BYTES // SECTOR_BYTES
        role: Role = "served-odd" if sector % 2 else "served"
        verb = "write" if store else "read"
        tip = (
            f"lane{'s' if len(who) > 1 else ''} {ranges(who)} {verb}{'' if len(who) > 1 else 's'} byte"
            f" {int(address[who[0]]) - start} of the array on, {width} bytes a lane"
        )
        cells.append(Cell(row, column, 1, short(who), role, tuple(who), tip))
    sectors = int(global_sectors(one.address, one.active, width)[0])
    least = int(ideal_sectors(one.active, width)[0])
    verb = "store" if store else "load"
    panel = Panel(
        f"Global memory, {LINE_BYTES} bytes a row, {SECTOR_BYTES} bytes a sector",
        per_line,
        "4 bytes each",
        [(f"bytes {line * LINE_BYTES - start} on", "") for line in lines],
        cells,
    )
    title = f"Warp {int(one.warp[0])}: a {verb} of {width} bytes a lane touches {sectors} sectors (least {least})"
    return diagram(title, [panel], [("served", "a sector"), ("served-odd", "the next one")])
