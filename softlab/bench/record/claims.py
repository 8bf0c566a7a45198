"""Record on a GPU what the claims about the reference design are judged by.

    python -m softlab.bench.record.claims OUT.json                      # compile, time, and count if there is an ncu
    python -m softlab.bench.record.claims prepare FOLDER [--device H200]    # compile only; needs no GPU
    python -m softlab.bench.record.claims OUT.json --programs FOLDER    # time and count what was prepared elsewhere

Every result is compared with softmax in double precision before it is timed. All is timed twice, in two passes over all
cases, to see what a difference is worth; device copies of as many bytes run in between, as the ceiling.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from softlab.bench import cases, recordings
from softlab.bench.cases import ReadyCase, TimedCase
from softlab.bench.record import ncu, peers
from softlab.bench.record.case_buffers import (
    CASES_PER_COPY,
    METHOD,
    CaseBuffers,
    WrongResult,
    copies_table,
    kernel_launch,
    peer_launch,
    warm_up,
)
from softlab.bench.record.describing import described, short
from softlab.bench.record.timing import microseconds
from softlab.cuda import gpu
from softlab.errors import Error

#: Column -> Nsight Compute's metric.
METRICS = {
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "l1_hit_percent": "l1tex__t_sector_hit_rate.pct",
    "l2_hit_percent": "lts__t_sector_hit_rate.pct",
    "achieved_occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
_KERNEL = ("kernel", "block_size", "pack_size", "layout", "dtype")
TABLE_KEYS = {"timings": _KERNEL, "copies": ("what",), "counters": _KERNEL}


def timings(launches: Sequence[ReadyCase]) -> tuple[dict[str, recordings.Table], Mapping[str, str]]:
    """Time everything twice, our kernels, the peers on the same problems and copies: the tables, the peers' versions.

    A case that fails is named on standard output and left out.
    """
    bench = CaseBuffers()
    known, versions = peers.found()
    work: list[tuple[TimedCase, Callable[[], Callable[[int], Any]]]] = []
    for dtype, cols, rows in sorted({(p.case.dtype, p.case.cols, p.case.rows) for p in launches if not p.counted}):
        for p in launches:
            if not p.counted and (p.case.dtype, p.case.cols) == (dtype, cols):
                work.append((p.case, partial(kernel_launch, bench, p)))
        for name, peer in known.items():
            case = TimedCase(name, 0, 0, "", dtype, cols, rows)
            work.append((case, partial(peer_launch, bench, case, peer)))
    warm_up(bench)
    found: dict[TimedCase, list[float]] = {}
    failed: set[TimedCase] = set()
    for iteration in range(2):
        for number, (case, make) in enumerate(work):
            if number % CASES_PER_COPY == 0:
                bench.copy()
            if case in failed:
                continue
            try:
                launch = make()
                if iteration == 0:
                    bench.check(case, launch)
                found.setdefault(case, []).append(microseconds(launch))
            except (WrongResult, RuntimeError, Error) as error:
                print(f"FAILED {case}: {error}", flush=True)
                failed.add(case)
        print(f"pass {iteration + 1}: {len(work)} cases, {len(failed)} failed", flush=True)
    rows_ = [
        {**asdict(case), "microseconds": short(found[case][0]), "again": short(found[case][1])}
        for case, _ in work
        if case not in failed
    ]
    return {"timings": recordings.table_of(rows_), "copies": copies_table(bench)}, versions


def launch_counted(launches: Iterable[ReadyCase]) -> None:
    """Launch each counted case once, and nothing else: this runs under Nsight Compute."""
    import cupy

    block = np.random.default_rng(0).standard_normal(1 << 20, dtype=np.float32)
    host = {name: np.resize(block.astype(name), cases.INPUT_BYTES // size) for name, size in cases.ITEM_BYTES.items()}
    sources = {name: cupy.asarray(values) for name, values in host.items()}
    target = cupy.empty(cases.INPUT_BYTES, cupy.uint8)
    for p in launches:
        if p.counted:
            args = (sources[p.case.dtype], target, np.int64(p.case.rows), np.int64(p.case.cols))
            gpu.launch(p.program, (p.grid, 1, 1), (*p.block, 1), args, p.smem_bytes)
    cupy.cuda.Device().synchronize()


def counters(launches: Sequence[ReadyCase], folder: Path, metrics: Mapping[str, str] = METRICS) -> recordings.Table:
    """What Nsight Compute counts in each counted case; a metric that it does not give is left out.

    ``folder`` holds the launches, as ``cases.save`` writes them; ``metrics``: column -> Nsight Compute's name.
    """
    counted = [p.case for p in launches if p.counted]
    columns: dict[str, list[float]] = {}
    for name, metric in metrics.items():
        start = time.perf_counter()
        values = ncu.profiled(metric, ["softlab.bench.record.claims", "launch", str(folder)], "softmax_")
        print(f"{metric}: {len(values)} launches in {time.perf_counter() - start:.0f} s", flush=True)
        if len(values) == len(counted):
            columns[name] = values
    rows_ = [
        {**asdict(case), **{name: short(values[k]) for name, values in columns.items()}}
        for k, case in enumerate(counted)
    ]
    return recordings.table_of(rows_)


def record(launches: Sequence[ReadyCase], folder: Path, out: Path) -> None:
    """Time, count, and write the recording."""
    import cupy

    with cupy.cuda.Stream(non_blocking=True):
        tables, versions = timings(launches)
    recording = described(
        out,
        "claims",
        about="Time and traffic of the three kernels with every block size, pack and layout, and of their peers.",
        method=METHOD,
        nvrtc=launches[0].program.nvrtc,
        versions=versions,
        tables=tables,
    )
    recordings.write(out, recording, TABLE_KEYS)  # now, in case the counters never come
    if shutil.which("ncu"):
        counted = counters(launches, folder)
        recordings.write(out, replace(recording, tables={**tables, "counters": counted}), TABLE_KEYS)
    print(f"{out}: {out.stat().st_size} bytes", flush=True)


def command(
    given: Sequence[str],
    description: str | None,
    prepare: Callable[[str | None], list[ReadyCase]],
    record: Callable[[Sequence[ReadyCase], Path, Path], None],
) -> int:
    """The command line of a recorder whose launches may be prepared on a machine without a GPU."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    if given[:1] == ["prepare"]:
        parser.add_argument("command")
        parser.add_argument("folder", type=Path)
        parser.add_argument("--device", help="the GPU to compile for (default: the one present, else H200)")
        options = parser.parse_args(given)
        cases.save(prepare(options.device), options.folder)
        return 0
    parser.add_argument("out", type=Path, help="the recording to write")
    parser.add_argument("--programs", type=Path, help="launches prepared elsewhere")
    options = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.programs or Path(scratch)
        if options.programs is None:
            cases.save(prepare(None), folder)
        record(cases.read(folder), folder, options.out)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["launch"]:
        launch_counted(cases.read(Path(given[1])))
        return 0
    return command(given, __doc__, lambda device: cases.prepare(device, _progress), record)


def _progress(work: Iterable[Any]) -> Iterable[Any]:
    from tqdm import tqdm

    return tqdm(work, unit="kernel")


if __name__ == "__main__":
    sys.exit(main())
