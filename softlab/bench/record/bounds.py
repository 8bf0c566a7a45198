"""Record what bounds the kernels of policy "fast" where they are slowest: Nsight Compute's counters on a GPU.

    python -m softlab.bench.record.bounds OUT.json [--recording fast_h200.json]

The workloads are those of a recording of ``softlab.bench.record.fast``: for each kernel, 16- and 32-bit or double,
forward or gradient, the one that is furthest below the device copy. Each is launched once, on random numbers.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from softlab.bench import recordings
from softlab.bench.record import ncu
from softlab.bench.record.describing import described, short
from softlab.bench.record.fast_workloads import INPUT_BYTES, Workload
from softlab.cuda.compile import nvrtc_version
from softlab.dtypes import element_type

#: Column -> Nsight Compute's metric.
METRICS = {
    "nanoseconds": "gpu__time_duration.sum",
    "dram_percent": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "issue_percent": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm_active_percent": "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "warps_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "double_percent": "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
    "stalled_on_global": "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "stalled_on_barrier": "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
}
#: How the names of our own kernels begin.
OWN_KERNELS = "fast_"
TABLE_KEYS = {"bounds": ("kernel", "op", "dtype")}
METHOD = (
    "Nsight Compute, one metric per run, caches flushed before each launch, clocks as they are. 256 MiB of each input. "
    "'issue_percent', 'warps_percent' and 'double_percent' of what an active SM could, 'sm_active_percent' of the "
    "time of the launch; 'stalled_on_...': warps that wait so for each instruction issued."
)


def slowest(recording: recordings.Recording) -> list[tuple[str, Workload]]:
    """(kernel, work) of the slowest work of each kernel, by forward or gradient and by single or double."""
    worst: dict[tuple[str, bool, bool], tuple[float, Workload]] = {}
    for name in ("forward", "gradients"):
        fast = recordings.select(recording.tables[name], peer="fast")
        columns = ("kernel", "op", "dtype", "rows", "cols", "gigabytes_per_second")
        for kernel, op, dtype, rows, cols, speed in zip(*(fast[c].tolist() for c in columns), strict=True):
            if not kernel.startswith(OWN_KERNELS):  # the reference's, which short rows take
                continue
            key = (kernel, name == "gradients", dtype == "float64")
            if key not in worst or speed < worst[key][0]:
                worst[key] = (speed, Workload(name, op, dtype, rows, cols))
    return [(kernel, work) for (kernel, *_), (_, work) in sorted(worst.items(), key=lambda item: item[0])]


def launch(recording: recordings.Recording) -> None:
    """Each work once, in order."""
    import cupy

    import softlab

    for _, work in slowest(recording):
        size = element_type(work.dtype).itemsize
        shape = (INPUT_BYTES // (work.cols * size), work.cols)
        random = cupy.random.default_rng(1)
        wide = cupy.float64 if work.dtype == "float64" else cupy.float32
        inputs = [random.standard_normal(shape, dtype=wide) for _ in range(work.inputs)]
        inputs = [x.astype(element_type(work.dtype).numpy) for x in inputs]
        getattr(softlab, work.op)(*inputs, out=cupy.empty_like(inputs[0]), policy="fast")
        cupy.cuda.Device().synchronize()


def record(recording: recordings.Recording, path: Path, out: Path) -> None:
    """Count, and write what came."""
    found = slowest(recording)
    columns: dict[str, list[float]] = {}
    for name, metric in METRICS.items():
        values = ncu.profiled(metric, ["softlab.bench.record.bounds", "launch", str(path)], OWN_KERNELS)
        print(f"{metric}: {len(values)} launches", flush=True)
        if len(values) == len(found):
            columns[name] = values
    rows: list[dict[str, Any]] = [
        {
            "kernel": kernel, "op": work.op, "dtype": work.dtype, "cols": work.cols, "rows": work.rows,
            **{name: short(values[k]) for name, values in columns.items()},
        }
        for k, (kernel, work) in enumerate(found)
    ]  # fmt: skip
    describe = partial(
        described,
        out,
        "bounds",
        about='What bounds the kernels of policy "fast" where they are slowest.',
        method=METHOD,
        nvrtc=nvrtc_version(),
        versions={},
    )
    recordings.write(out, describe(tables={"bounds": recordings.table_of(rows)}), TABLE_KEYS)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["launch"]:
        launch(recordings.read(Path(given[1])))
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="the recording to write")
    shipped = recordings.folder() / "fast_h200.json"
    parser.add_argument("--recording", type=Path, default=shipped, help="of record.fast (default: the shipped one)")
    options = parser.parse_args(given)
    record(recordings.read(options.recording), options.recording, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
