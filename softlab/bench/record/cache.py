"""Record on a GPU what the L2 cache makes of the kernel that reads each row three times.

    python -m softlab.bench.record.cache OUT.json                       # compile, time, and count by ncu
    python -m softlab.bench.record.cache prepare FOLDER [--device H200] # compile only; needs no GPU
    python -m softlab.bench.record.cache OUT.json --programs FOLDER     # time and count what was prepared elsewhere

The kernel runs in three block sizes over the row length, with the grid that the dispatcher gives it; and, in blocks of
1024, with smaller and smaller grids, so that fewer rows are worked on at a time and nothing else changes.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from softlab.bench import cases, recordings
from softlab.bench.cases import ReadyCase
from softlab.bench.record import case_buffers, claims
from softlab.bench.record.describing import described, short
from softlab.bench.record.timing import microseconds
from softlab.plans import Plan, forced

DTYPE = "float32"
BLOCK_SIZES = (256, 512, 1024)
COLS = (
    *(12_288, 16_384, 20_480, 24_576, 28_672, 32_768, 40_960, 49_152, 57_344),
    *(65_536, 98_304, 131_072, 262_144),
)
#: Row lengths and grids of blocks of 1024. An SM holds two of them: the last grid fills the 132 SMs of an H200.
FEW_COLS = (32_768, 65_536, 131_072, 262_144)
FEW_GRIDS = (33, 66, 99, 132, 198, 264)
METRICS = {
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "l1_hit_percent": "l1tex__t_sector_hit_rate.pct",
    "l2_read_sectors": "lts__t_sectors_op_read.sum",
}
METHOD = f"{case_buffers.METHOD} 'grid': the blocks launched; 'fewer': not the planned grid, but a smaller one."
TABLE_KEYS = {"cache": ("block_size", "fewer"), "copies": ("what",)}


def plans(device: str | None) -> Iterator[tuple[Plan, int | None]]:
    """Every plan, with the grid to launch it with instead of its own, if another."""
    make = partial(forced, dtype=DTYPE, kernel="block_uncached", device=device)
    for cols in COLS:
        for block_size in BLOCK_SIZES:
            yield make(cases.rows_of(cols, DTYPE), cols, block_size=block_size), None
    for cols in FEW_COLS:
        rows = cases.rows_of(cols, DTYPE)
        for grid in (few for few in FEW_GRIDS if few < rows):
            yield make(rows, cols, block_size=1024), grid


def prepare(device: str | None) -> list[ReadyCase]:
    """All launches, compiled; each is timed and counted."""
    found = []
    for made, grid in plans(device):
        launch = cases.prepared(cases.case_of(made), made, counted=True)
        found.append(launch if grid is None else replace(launch, grid=grid))
    return found


def is_fewer(launch: ReadyCase) -> bool:
    """Whether the launch has a smaller grid than the dispatcher would give it (on the GPU present)."""
    case = launch.case
    return launch.grid < forced(case.rows, case.cols, DTYPE, kernel=case.kernel, block_size=case.block_size).grid


def timings(launches: Sequence[ReadyCase]) -> tuple[recordings.Table, recordings.Table]:
    """One row per launch, with its time in two passes; and the copies in between.

    Raises:
        WrongResult: a kernel's result is not softmax.
    """
    bench = case_buffers.CaseBuffers()
    case_buffers.warm_up(bench)
    found: list[list[float]] = [[] for _ in launches]
    for iteration in range(2):
        for number, prepared in enumerate(launches):
            if number % case_buffers.CASES_PER_COPY == 0:
                bench.copy()
            launch = case_buffers.kernel_launch(bench, prepared)
            if iteration == 0:
                bench.check(prepared.case, launch)
            found[number].append(microseconds(launch))
    rows = [
        {
            "block_size": p.case.block_size, "fewer": is_fewer(p), "cols": p.case.cols,
            "rows": p.case.rows, "grid": p.grid,
            "microseconds": short(first), "again": short(again),
        }
        for p, (first, again) in zip(launches, found, strict=True)
    ]  # fmt: skip
    return recordings.table_of(rows), case_buffers.copies_table(bench)


def record(launches: Sequence[ReadyCase], folder: Path, out: Path) -> None:
    """Time, count, and write the recording."""
    import cupy

    with cupy.cuda.Stream(non_blocking=True):
        timed, copies = timings(launches)
    describe = partial(
        described,
        out,
        "cache",
        about="Time and DRAM traffic of the uncached kernel, by block size, row length and grid.",
        method=METHOD,
        nvrtc=launches[0].program.nvrtc,
        versions={},
    )
    tables = {"cache": timed, "copies": copies}
    recordings.write(out, describe(tables=tables), TABLE_KEYS)  # now, in case the counters never come
    if shutil.which("ncu"):
        counted = claims.counters(launches, folder, METRICS)
        tables["cache"] |= {name: counted[name] for name in METRICS if name in counted}
        recordings.write(out, describe(tables=tables), TABLE_KEYS)
    print(f"{out}: {out.stat().st_size} bytes", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return claims.command(list(sys.argv[1:] if arguments is None else arguments), __doc__, prepare, record)


if __name__ == "__main__":
    sys.exit(main())
