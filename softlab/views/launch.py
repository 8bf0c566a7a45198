"""The threads of a launch: a warp per row, with the number that each thread works on."""

from __future__ import annotations

from typing import Any

import numpy as np

from softlab.views.diagrams import Cell, Panel, diagram
from softlab.views.style import Role

WARP_SIZE = 32


def launch_diagram(
    blocks: np.ndarray, threads: np.ndarray, *, grid: int, block: int, least_warps: int = 0
) -> dict[str, Any]:
    """Diagram data of a grid in one dimension; the blocks alternate in colour. Cell i belongs to lane i of the diagram.

    Arguments:
        blocks, threads: int32, shape (n,): blockIdx.x and threadIdx.x of the thread that worked on number i.
        grid, block: blocks of the grid and threads per block, a multiple of 32.
        least_warps: warps that the page keeps space for, so that its height does not change with the grid.
    """
    cells = []
    for i in range(grid * block):
        works = i < len(blocks)
        home, thread = (int(blocks[i]), int(threads[i])) if works else divmod(i, block)
        who = f"thread {thread} of block {home}"
        role: Role = "idle" if not works else ("served-odd" if home % 2 else "served")
        tip = f"{who} works on number {i}" if works else f"{who} has no number: i = {i} is not less than n"
        row = (home * block + thread) // WARP_SIZE
        cells.append(Cell(row, thread % WARP_SIZE, 1, str(i) if works else "", role, (i,), tip))
    warps = block // WARP_SIZE
    rows = [(f"block {row // warps}, warp {row % warps}", "") for row in range(grid * warps)]
    panel = Panel("A warp per row. In each cell: the number that the thread works on", WARP_SIZE, "lane", rows, cells)
    legend: list[tuple[Role, str]] = [("served", "a block with an even number")]
    if grid > 1:
        legend.append(("served-odd", "a block with an odd number"))
    if len(blocks) < grid * block:
        legend.append(("idle", "a thread without a number"))
    return diagram(
        f"A grid of {grid} block{'s' * (grid > 1)} of {block} threads", [panel], legend, least_rows=least_warps
    )
