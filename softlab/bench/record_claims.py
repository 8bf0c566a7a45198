"""Record on a GPU what the claims about the reference design are judged by.

    python -m softlab.bench.record_claims OUT.json                      # compile, time, and count if there is an ncu
    python -m softlab.bench.record_claims prepare FOLDER [--device H200]    # compile only; needs no GPU
    python -m softlab.bench.record_claims OUT.json --programs FOLDER    # time and count what was prepared elsewhere

Every result is compared with softmax in double precision before it is timed. All is timed twice, in two passes over all
cases, to see what a difference is worth; device copies of as many bytes run in between, as the ceiling.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import io
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from softlab import gpu
from softlab.bench import cases, peers, recordings
from softlab.bench.cases import Case, Prepared
from softlab.bench.timing import REPEATS, microseconds
from softlab.compile import sources_digest
from softlab.errors import Error

METHOD = (
    f"Median of {REPEATS} spans between CUDA events, each of 1 to 8 launches, after a warm-up; two passes over all "
    f"cases ('microseconds' and 'again'). Each launch reads other memory than the last: {cases.INPUT_BYTES >> 20} MiB "
    "of normally distributed numbers, in a ring of three. Every result agrees with double precision. 'copy' is a "
    "device copy of as many bytes. Counters: Nsight Compute, one metric a run, caches flushed before each launch."
)
#: Buffers that the launches take in turn.
RING = 3
#: Cases between two device copies.
CASES_A_COPY = 40
#: Relative error that fast intrinsics and one rounding to the dtype may make; and what is as good as 0 (the smallest
#: subnormal of half; float's subnormals are flushed).
TOLERANCE = {"float32": (1e-5, 2e-38), "float16": (1.1e-3, 6e-8)}
#: Column -> Nsight Compute's metric.
METRICS = {
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "l1_hit_percent": "l1tex__t_sector_hit_rate.pct",
    "l2_hit_percent": "lts__t_sector_hit_rate.pct",
    "achieved_occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
NCU_SECONDS = 45
_KERNEL = ("kernel", "block_size", "pack_size", "layout", "dtype")
TABLE_KEYS = {"timings": _KERNEL, "copies": ("what",), "counters": _KERNEL}


class WrongResult(Exception):
    """A softmax that is none; the message has the place and both values."""


class Bench:
    """The memory that all cases share, and what was measured on it."""

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        values = np.random.default_rng(0).standard_normal(cases.INPUT_BYTES // 4, dtype=np.float32)
        base = cupy.asarray(values)
        self.sources = {"float32": [cupy.roll(base, 1000 * k) for k in range(RING)]}
        self.sources["float16"] = [
            cupy.concatenate([x, cupy.roll(x, 77)]).astype(cupy.float16) for x in self.sources["float32"]
        ]
        self.targets = [cupy.empty(cases.INPUT_BYTES, cupy.uint8) for _ in range(RING)]
        self.copies: list[float] = []
        self._reference: tuple[tuple[int, str], Any] = ((0, ""), None)

    def matrices(self, case: Case) -> list[tuple[Any, Any]]:
        """The ring of (source, target) as matrices of the case."""
        n = case.rows * case.cols
        return [
            (x[:n].reshape(case.rows, case.cols), y.view(x.dtype)[:n].reshape(case.rows, case.cols))
            for x, y in zip(self.sources[case.dtype], self.targets, strict=True)
        ]

    def reference(self, case: Case) -> Any:
        """Softmax of the first source in double precision; of the last case asked for it is kept."""
        key = (case.cols, case.dtype)
        if self._reference[0] != key:
            self._reference = ((0, ""), None)  # free the last one first
            x = self.matrices(case)[0][0].astype(self.cupy.float64)
            x -= x.max(axis=1, keepdims=True)
            self.cupy.exp(x, out=x)
            x /= x.sum(axis=1, keepdims=True)
            self._reference = (key, x)
        return self._reference[1]

    def check(self, case: Case, launch: Callable[[int], Any]) -> None:
        """Launch once on memory filled with NaN and compare every element.

        Raises:
            WrongResult: nothing that is wrong is worth timing.
        """
        target = self.matrices(case)[0][1]
        target.fill(np.nan)
        launch(0)
        relative, absolute = TOLERANCE[case.dtype]
        reference = self.reference(case)
        error = self.cupy.abs(target - reference) - (relative * reference + absolute)
        if not bool((error <= 0).all()):
            where = int(self.cupy.argmax(self.cupy.where(self.cupy.isnan(error), np.inf, error)))
            row, col = divmod(where, case.cols)
            raise WrongResult(f"at {row, col} {target[row, col]}, not {reference[row, col]}")

    def copy(self) -> None:
        """Time a device copy of as many bytes as every case moves."""
        sources = [x.view(self.cupy.uint8) for x in self.sources["float32"]]
        self.copies.append(microseconds(lambda turn: self.cupy.copyto(self.targets[turn % RING], sources[turn % RING])))


def kernel_launch(bench: Bench, prepared: Prepared) -> Callable[[int], Any]:
    """Launches one of our kernels on the ring."""
    case = prepared.case
    ring = [(x, y, np.int64(case.rows), np.int64(case.cols)) for x, y in bench.matrices(case)]
    grid, block = (prepared.grid, 1, 1), (*prepared.block, 1)
    return lambda turn: gpu.launch(prepared.program, grid, block, ring[turn % RING], prepared.smem_bytes)


def peer_launch(bench: Bench, case: Case, peer: peers.Peer) -> Callable[[int], Any]:
    """Launches another library's softmax on the ring."""
    ring = [peer(x, y) for x, y in bench.matrices(case)]
    return lambda turn: ring[turn % RING]()


def timings(launches: Sequence[Prepared]) -> tuple[dict[str, recordings.Table], Mapping[str, str]]:
    """Time everything twice, our kernels, the peers on the same problems and copies: the tables, the peers' versions.

    A case that fails is named on standard output and left out.
    """
    bench = Bench()
    known, versions = peers.found()
    work: list[tuple[Case, Callable[[], Callable[[int], Any]]]] = []
    for dtype, cols, rows in sorted({(p.case.dtype, p.case.cols, p.case.rows) for p in launches if not p.counted}):
        for p in launches:
            if not p.counted and (p.case.dtype, p.case.cols) == (dtype, cols):
                work.append((p.case, partial(kernel_launch, bench, p)))
        for name, peer in known.items():
            case = Case(name, 0, 0, "", dtype, cols, rows)
            work.append((case, partial(peer_launch, bench, case, peer)))
    warm_up(bench)
    found: dict[Case, list[float]] = {}
    failed: set[Case] = set()
    for turn in range(2):
        for number, (case, make) in enumerate(work):
            if number % CASES_A_COPY == 0:
                bench.copy()
            if case in failed:
                continue
            try:
                launch = make()
                if turn == 0:
                    bench.check(case, launch)
                found.setdefault(case, []).append(microseconds(launch))
            except (WrongResult, RuntimeError, Error) as error:
                print(f"FAILED {case}: {error}", flush=True)
                failed.add(case)
        print(f"pass {turn + 1}: {len(work)} cases, {len(failed)} failed", flush=True)
    rows_ = [
        {**asdict(case), "microseconds": short(found[case][0]), "again": short(found[case][1])}
        for case, _ in work
        if case not in failed
    ]
    return {"timings": recordings.table_of(rows_), "copies": copies_table(bench)}, versions


def copies_table(bench: Bench) -> recordings.Table:
    """The device copies that were timed so far."""
    return recordings.table_of(
        [
            {"what": "copy", "turn": k, "bytes": 2 * cases.INPUT_BYTES, "microseconds": short(t)}
            for k, t in enumerate(bench.copies)
        ]
    )


def warm_up(bench: Bench) -> None:
    """Half a second of work, so that the clocks are up."""
    start = time.perf_counter()
    while time.perf_counter() - start < 0.5:
        bench.copy()
    bench.copies.clear()


def short(value: float) -> float:
    """Four digits: the fifth is noise."""
    return float(f"{value:.4g}")


def launch_counted(launches: Iterable[Prepared]) -> None:
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


def counters(launches: Sequence[Prepared], folder: Path, metrics: Mapping[str, str] = METRICS) -> recordings.Table:
    """What Nsight Compute counts in each counted case; a metric that it does not give is left out.

    ``folder`` holds the launches, as ``cases.save`` writes them; ``metrics``: column -> Nsight Compute's name.
    """
    counted = [p.case for p in launches if p.counted]
    columns: dict[str, list[float]] = {}
    for name, metric in metrics.items():
        start = time.perf_counter()
        values = profiled(metric, ["softlab.bench.record_claims", "launch", str(folder)], "softmax_")
        print(f"{metric}: {len(values)} launches in {time.perf_counter() - start:.0f} s", flush=True)
        if len(values) == len(counted):
            columns[name] = values
    rows_ = [
        {**asdict(case), **{name: short(values[k]) for name, values in columns.items()}}
        for k, case in enumerate(counted)
    ]
    return recordings.table_of(rows_)


def profiled(metric: str, module: Sequence[str], kernels: str) -> list[float]:
    """What Nsight Compute reads of one metric in each launch.

    Arguments:
        metric: Nsight Compute's name.
        module: the Python module to run under it, with its arguments.
        kernels: a part of the names of the kernels that are meant.
    """
    text = _report(metric, module)
    rows = list(csv.DictReader(io.StringIO(text[text.index('"ID"') :]))) if '"ID"' in text else []
    values = [row[metric] for row in rows if row["ID"].strip() and kernels in row["Kernel Name"]]
    if not values:
        print(text[-500:], flush=True)
    return [float(value.replace(",", "")) for value in values]


def _report(metric: str, module: Sequence[str]) -> str:
    """Nsight Compute's report on one metric; what it printed before it was stopped, if so."""
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    command += ["--metrics", metric, sys.executable, "-m", *module]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        return process.communicate(timeout=NCU_SECONDS)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # ncu and the program under it: a stray one would hold the GPU
        return process.communicate()[0]


def record(launches: Sequence[Prepared], folder: Path, out: Path) -> None:
    """Time, count, and write the recording."""
    import cupy

    with cupy.cuda.Stream(non_blocking=True):
        tables, versions = timings(launches)
    recording = described(
        out,
        "record_claims",
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


def described(
    out: Path, module: str, *, about: str, method: str, nvrtc: str, versions: Mapping[str, str],
    tables: Mapping[str, recordings.Table],
) -> recordings.Recording:  # fmt: skip
    """The tables with what there is to say of this machine, and of ``softlab.bench.<module>``, which recorded them.

    ``nvrtc`` compiled the kernels; ``versions``: of further libraries.
    """
    import cupy
    from cupy.cuda import runtime

    common = {"driver": _driver(), "NVRTC": nvrtc, "CuPy": cupy.__version__, "Python": platform.python_version()}
    return recordings.Recording(
        name=out.stem,
        about=about,
        device=runtime.getDeviceProperties(runtime.getDevice())["name"].decode(),
        date=datetime.date.today().isoformat(),
        command=f"python -m softlab.bench.{module} {out.name}",
        method=method,
        versions={**common, **versions},
        sources=sources_digest(),
        tables=tables,
    )


def _driver() -> str:
    """The driver's version as nvidia-smi has it, or "unknown"."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["launch"]:
        launch_counted(cases.read(Path(given[1])))
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    if given[:1] == ["prepare"]:
        parser.add_argument("command")
        parser.add_argument("folder", type=Path)
        parser.add_argument("--device", help="the GPU to compile for (default: the one present, else H200)")
        options = parser.parse_args(given)
        cases.save(cases.prepare(options.device, _progress), options.folder)
        return 0
    parser.add_argument("out", type=Path, help="the recording to write")
    parser.add_argument("--programs", type=Path, help="launches prepared elsewhere")
    options = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.programs or Path(scratch)
        if options.programs is None:
            cases.save(cases.prepare(None, _progress), folder)
        record(cases.read(folder), folder, options.out)
    return 0


def _progress(work: Iterable[Any]) -> Iterable[Any]:
    from tqdm import tqdm

    return tqdm(work, unit="kernel")


if __name__ == "__main__":
    sys.exit(main())
