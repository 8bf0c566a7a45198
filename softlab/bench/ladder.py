"""The rungs of the policy "fast": what was predicted before it was measured, what came, and what a recording shows.

Predictions, and what was measured when a rung was climbed, are those of kernels/FAST.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from softlab.bench.recordings import Recording, select
from softlab.dtypes import element_type
from softlab.operators import trace_plan
from softlab.plans import Plan, plan

#: Bytes of a problem's matrix.
INPUT_BYTES = 1 << 28
#: Peers of a recording that are no softmax, or softlab's own.
_NOT_PEERS = ("copy", "fast", "oneflow")


@dataclass(frozen=True)
class Rung:
    """One idea at the problem where it should count most.

    before, predicted, measured: GB/s with each element counted once in and once out, or, in the unit "us", the time of
    few rows. ``before`` is the rung below, or the reference design as it was first measured. rows: 0 for as many as
    make 256 MiB. ``predicted`` is None where nothing was written down beforehand.
    """

    idea: str
    dtype: str
    cols: int
    before: float
    predicted: float | None
    measured: float
    rows: int = 0
    unit: str = "GB/s"


RUNGS = (
    Rung("packs of 16 bytes", "float16", 256, 2582, 3600, 3964),
    Rung("four rows at once in each lane", "float16", 32, 3951, 3950, 4073),
    Rung("two packs at once in each lane", "float16", 32, 3951, 3950, 4116),
    Rung("the row in registers of a block", "float16", 8192, 2049, 3950, 3879),
    Rung("the row in registers of a block", "float32", 8192, 2966, 3950, 3972),
    Rung("a cluster that meets at its barrier", "float32", 65_536, 1968, 3800, 3841),
    Rung("a cluster that meets by st.async", "float32", 65_536, 3841, 3980, 4146),
    Rung("few rows on a cluster of 16", "float32", 262_144, 62, 5, 6.1, rows=1, unit="us"),
    Rung("a multistage pipeline", "float32", 1_048_576, 2546, 3500, 2900),
    Rung("blocks all over the GPU share a row", "float32", 262_144, 3750, None, 3970),
    Rung("blocks all over the GPU share a row", "float32", 1_048_576, 2960, 4200, 4005),
    Rung("blocks all over the GPU share a row", "float32", 262_144, 10.0, 8.5, 8.6, rows=8, unit="us"),
    Rung("head, body and tail", "float32", 50_257, 1649, 3850, 2693),
    Rung("loads and stores under predicates", "float32", 50_257, 2693, None, 4110),
)


def measured(recording: Recording, dtype: str, cols: int, rows: int = 0, op: str = "softmax") -> dict[str, float]:
    """Peer -> GB/s, or microseconds where ``rows`` > 0, by a recording of ``record.fast``; {} if it has none."""
    name, column = ("few", "microseconds") if rows else ("forward", "gigabytes_per_second")
    more = {"rows": rows} if rows else {}
    some = select(recording.tables[name], op=op, dtype=dtype, cols=cols, **more)
    return dict(zip(some["peer"].tolist(), some[column].tolist(), strict=True))


def ceiling(recording: Recording, table: str, dtype: str) -> float:
    """GB/s of the copy (for gradients: the sum of two arrays into a third), the median over the row lengths; 0 if none
    was measured.

    Only over those that are a power of two, where there are such: a copy of an odd number of elements is slow, and no
    ceiling.
    """
    copies = select(recording.tables[table], peer="copy", dtype=dtype)
    whole = copies["cols"] & (copies["cols"] - 1) == 0
    speeds = copies["gigabytes_per_second"][whole if whole.any() else slice(None)]
    return float(np.median(speeds)) if speeds.size else 0.0


def below(recording: Recording, table: str, share: float) -> list[tuple[str, str, int, str, float, float]]:
    """Where policy "fast" has less than ``share`` of the ceiling: (op, dtype, cols, kernel, share of the ceiling, how
    many times as fast as the best peer; NaN without a peer), the slowest first."""
    found = []
    rows = recording.tables[table]
    fast = select(rows, peer="fast")
    columns = (fast[name].tolist() for name in ("op", "dtype", "cols", "kernel", "gigabytes_per_second"))
    for op, dtype, cols, kernel, speed in zip(*columns, strict=True):
        if (part := speed / ceiling(recording, table, dtype)) < share:
            here = select(rows, op=op, dtype=dtype, cols=cols)
            speeds = zip(here["peer"].tolist(), here["gigabytes_per_second"].tolist(), strict=True)
            others = [other for peer, other in speeds if peer not in _NOT_PEERS]
            found.append((op, dtype, cols, kernel, part, speed / max(others) if others else np.nan))
    return sorted(found, key=lambda row: row[4])


def first_rows(whole: Plan, rows: int) -> Plan:
    """The launch of a plan on the first rows alone, with as many blocks as those take: for the emulator.

    A cooperative launch keeps its grid: which blocks meet for a row is written into its kernel.

    Raises:
        ValueError: its kernel takes several rows at a time, and ``rows`` is no multiple of that.
    """
    if at_once := rows % (whole.rows_per_access or 1):
        raise ValueError(
            f"{rows} rows: the kernel takes {whole.rows_per_access} at a time; take {at_once} more or fewer"
        )
    shorter = plan(
        rows, whole.cols, whole.dtype, op=whole.op, policy=whole.policy, device=whole.device, options=whole.options
    )
    if shorter.name == whole.name:
        return shorter
    if whole.cooperative:
        return replace(whole, rows=rows)
    # Another kernel, since rows are few: then a part of the grid, in whole clusters.
    cluster = whole.cluster or 1
    clusters = max(1, -(-whole.grid * rows // (whole.rows * cluster)))
    return replace(whole, rows=rows, grid=clusters * cluster)


def counted(cols: int, dtype: str = "float32", *, policy: str, rows: int = 0, first: int = 4) -> dict[str, float]:
    """Counters of one row, from a run in the emulator: of the first rows of a matrix of ``rows`` (0: of 256 MiB)."""
    element = element_type(dtype)
    whole = plan(rows or INPUT_BYTES // element.itemsize // cols, cols, dtype, policy=policy, device="H200")
    x = np.random.default_rng(0).standard_normal((first, cols)).astype(element.numpy)
    run = trace_plan(first_rows(whole, first), x)
    return {name: count / first for name, count in run.counters.items()}
