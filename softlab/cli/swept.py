"""``softlab bench sweep_h200``: the speed at row lengths drawn at random, as a table of ranges and as a picture."""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

from softlab.cli.output import print_table, print_text
from softlab.errors import Error

#: Upper ends of the ranges of row lengths in the table.
ENDS = (255, 65_535, 1 << 18, 1 << 20, 1 << 24)
TITLE = 'Policy "fast" at random row lengths'
WORDS = "Part of the speed of a device copy, one mark per cell; gradients: of the sum of two arrays"


def show(recording: Any, options: argparse.Namespace) -> int:
    """Print the least and the median part of a copy per range of lengths, and write ``--picture``.

    Raises:
        ValueError: an option that a sweep does not take. Error: the picture cannot be written.
    """
    other = (options.op, options.dtype, options.cols, options.peers, options.few, options.json, options.compare)
    if any(other) or (options.picture and Path(options.picture).suffix != ".svg"):
        raise ValueError(f"{recording.name} is a sweep: it takes --picture OUT.svg alone")
    cells = swept(recording)
    rows = []
    for dtype in dict.fromkeys(cell.dtype for cell in cells):
        for first, last in zip((1, *(end + 1 for end in ENDS)), ENDS, strict=False):
            shares = [cell.share for cell in cells if cell.dtype == dtype and first <= cell.cols <= last]
            if shares:
                rows.append((dtype, first, last, len(shares), f"{min(shares):.2f}", f"{statistics.median(shares):.2f}"))
    print_table(f"{TITLE}: part of a copy's speed", ("dtype", "from", "to", "cells", "least", "median"), rows)
    print_text(f"{recording.stamp}; by {recording.command}")
    if recording.warning:
        print_text(recording.warning)
    if options.picture:
        from softlab.views.sweep import sweep_picture

        drawn = sweep_picture(cells, title=TITLE, words=WORDS, stamp=recording.stamp)
        try:
            Path(options.picture).write_text(drawn)
        except OSError as error:
            raise Error(f"{options.picture} cannot be written: {error.strerror}") from None
        print_text(f"{options.picture}: {len(drawn) / 1000:.0f} kB")
    return 0


def swept(recording: Any) -> list[Any]:
    """The cells of a recorded sweep as the picture takes them, by type, length and operator."""
    from softlab.views.sweep import SweptCell

    table = recording.tables["cells"]
    columns = (table[name].tolist() for name in ("dtype", "op", "cols", "share"))
    return sorted(map(SweptCell, *columns), key=lambda cell: (cell.dtype, cell.cols, cell.op))
