"""The problems that a recording of policy "fast" measures: their tables, row lengths and sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from softlab.bench.selections import DTYPES, EVERYTHING, TABLES, Selection
from softlab.dtypes import element_type

INPUT_BYTES = 1 << 28
COLS = (
    32, 64, 128, 256, 512, 768, 1000, 1023, 1024, 1536, 2048, 3000, 4096, 5120, 8192, 12288, 16384, 32768, 50257, 65536,
    128256, 131072, 151936, 262144, 1048576,
)  # fmt: skip
FEW_ROWS, FEW_COLS = (1, 8, 32, 128), (32000, 128256, 262144)
#: Here a copy runs at its full speed, which is the ceiling.
CEILING_COLS = 4096


@dataclass(frozen=True)
class Workload:
    """One problem, in one of the tables."""

    table: str
    op: str
    dtype: str
    rows: int
    cols: int

    @property
    def inputs(self) -> int:
        """How many arrays are read."""
        return 2 if self.op.endswith("_backward") else 1

    @property
    def nbytes(self) -> int:
        """Each input once in, the result once out."""
        return (self.inputs + 1) * self.rows * self.cols * element_type(self.dtype).itemsize


def workloads(selection: Selection = EVERYTHING) -> Iterator[Workload]:
    """All problems that are wanted, those of one dtype and number of inputs together.

    Row lengths may be any; where none of them is a power of two, ``CEILING_COLS`` is among the problems as well, for
    the copy alone (:func:`wanted`).

    Raises:
        ValueError: a row longer than the input.
    """
    for dtype in DTYPES:
        size = element_type(dtype).itemsize
        cols = selection.cols or COLS
        measured_cols = cols if any(c & (c - 1) == 0 for c in cols) else (*cols, CEILING_COLS)
        for table in ("forward", "gradients"):
            for op in TABLES[table]:
                if selection.takes(table, op, dtype):
                    if (longest := max(cols)) * size > INPUT_BYTES:
                        raise ValueError(f"cols = {longest}: {INPUT_BYTES // size} of {dtype} are all that is read")
                    yield from (Workload(table, op, dtype, INPUT_BYTES // (c * size), c) for c in measured_cols)
        if dtype != "float64":
            for op in TABLES["few"]:
                if selection.takes("few", op, dtype):
                    few = ((rows, c) for c in selection.cols or FEW_COLS for rows in FEW_ROWS)
                    yield from (
                        Workload("few", op, dtype, rows, c) for rows, c in few if rows * c * size <= INPUT_BYTES
                    )
