"""A request of a warp to global memory as a table: sector by sector, which lanes want which of its bytes."""

from __future__ import annotations

from softlab.instruments.coalescing import SECTOR_BYTES
from softlab.instruments.requests import Request
from softlab.views.diagrams import ranges
from softlab.views.tables import table


def request_table(request: Request, *, name: str = "", most: int = 8) -> str:
    """HTML: one table row per sector. ``name``: of the array (default: the number of the argument). The table lists
    at most ``most`` sectors and counts the rest.

    The drawing of the same request is ``views.sectors.sector_card(run.global_, request.index, run.buffers)``.
    """
    array = name or ("the address space" if request.argument is None else f"argument {request.argument}")
    rows: list[tuple[object, ...]] = []
    for sector, lanes in request.lanes_of_sectors().items():
        first = lanes[0]
        start = sector * SECTOR_BYTES - int(request.address[first] - request.offset[first])
        wanted = len({int(request.offset[lane]) for lane in lanes}) * request.width
        rows.append((f"{start} to {start + SECTOR_BYTES - 1}", ranges(lanes), wanted))
    if len(rows) > most:
        rows = [*rows[:most], (f"and {len(rows) - most} more sectors", "", "")]
    verb = "stores" if request.store else "loads"
    line = f", line {request.line}" if request.line else ""
    caption = (
        f"Warp {request.warp} of block {request.block} {verb} {request.width} bytes per lane{line}:"
        f" {request.sectors} sectors (least {request.least})"
    )
    return table([f"bytes of {array}", "lanes", f"bytes wanted of {SECTOR_BYTES}"], rows, caption=caption)
