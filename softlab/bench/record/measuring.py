"""Record on a GPU how much a measured time depends on how it is measured: one kernel, many stopwatches.

    python -m softlab.bench.record.measuring OUT.json       # 10 to 20 s of GPU time

Four tables, each a mistake that is easily made: buffers that fit into the cache ("sizes"), a stopwatch that sees the
host and not the GPU ("ways"), a start without a warm-up ("turns"), and data that no one would compute on ("contents").
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from softlab.bench import recordings
from softlab.bench.cases import case_of, prepared
from softlab.bench.record.case_buffers import TOLERANCE, WrongResult
from softlab.bench.record.describing import described, short
from softlab.bench.record.timing import REPEATS, microseconds
from softlab.cuda import gpu
from softlab.plans import plan

COLS = 1024
ITEM_BYTES = 4
#: Input bytes of the table "sizes": from far below the L2 cache of any GPU to far above it.
SIZES = tuple(1 << k for k in range(18, 31))
LARGEST = SIZES[-1]
#: Least bytes of input, and of output, in buffers that launches use in turn: ten times an H200's L2 in all.
ROTATED_BYTES = 1 << 28
#: The problems of "ways" and "turns": a small one, and one that is larger than any cache.
SMALL_ROWS, LARGE_ROWS = 32, 65_536
#: Launches per graph.
LAUNCHES_PER_GRAPH = 20
WARM_UP = 3
WAYS_REPEATS = 100
TURNS = 60
REST_SECONDS = 5.0
CONTENTS = ("zeros", "normal", "random bits")
METHOD = (
    "softmax of float32, rows of 1024, by the planned kernel; results compared with double precision first. 'sizes': "
    f"median of {REPEATS}; buffers 'same': each launch on the same memory; 'ring': on other memory than the last ones, "
    f"{ROTATED_BYTES >> 20} MiB of input in all (or one buffer, if larger); clock 'events': CUDA events around up to 8 "
    "launches; 'graph': around a CUDA graph of many launches. 'ways': median, 5th and 95th percentile of "
    f"{WAYS_REPEATS}. 'turns': single launches one after the other, from the first use of the kernel on, and after "
    f"{REST_SECONDS:.0f} s of rest. 'contents': the kernel in a loop until nvidia-smi has answered, twice for "
    "each kind of data."
)
TABLE_KEYS = {"sizes": ("buffers", "clock"), "ways": ("rows", "way"), "turns": ("start",), "contents": ("data",)}
#: A launch that is timed; its argument counts the launches, for other buffers each time.
NumberedCall = Callable[[int], Any]


class KernelBuffers:
    """Memory for the largest problem, and the kernel on parts of it."""

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        piece = np.random.default_rng(0).standard_normal(1 << 22, dtype=np.float32)
        self.source = cupy.asarray(np.resize(piece, LARGEST // ITEM_BYTES))
        self.target = cupy.empty_like(self.source)

    def launch(self, nbytes: int, buffers: int = 1) -> NumberedCall:
        """Launches the planned kernel on ``nbytes`` of input: on ``buffers`` parts of the memory in turn."""
        rows = nbytes // (COLS * ITEM_BYTES)
        made = plan(rows, COLS)
        ready = prepared(case_of(made), made)
        n = rows * COLS
        slices = [slice(k * n, (k + 1) * n) for k in range(buffers)]
        parts = [(self.source[at], self.target[at], np.int64(rows), np.int64(COLS)) for at in slices]
        grid, block = (ready.grid, 1, 1), (*ready.block, 1)
        return lambda iteration: gpu.launch(ready.program, grid, block, parts[iteration % buffers], ready.smem_bytes)

    def check(self) -> None:
        """Compare the result of the first rows with softmax in double precision.

        Raises:
            WrongResult: they differ by more than float32 explains.
        """
        n = SMALL_ROWS * COLS
        self.target[:n].fill(np.nan)
        self.launch(n * ITEM_BYTES)(0)
        e = self.cupy.exp(self.source[:n].reshape(-1, COLS).astype(np.float64))
        error = self.cupy.abs(self.target[:n].reshape(-1, COLS) / (e / e.sum(axis=1, keepdims=True)) - 1)
        if not bool((error < TOLERANCE["float32"][0]).all()):
            raise WrongResult(f"relative error {float(error.max())}")

    def fill(self, data: str) -> None:
        """Put one of ``CONTENTS`` into the memory that is read."""
        if data == "zeros":
            self.source.fill(0)
            return
        rng = np.random.default_rng(1)
        piece = rng.standard_normal(1 << 22, dtype=np.float32)
        if data == "random bits":
            # Every bit at random but those that would make a NaN, an infinity or an exponential out of range.
            piece = (rng.integers(0, 1 << 32, 1 << 22, np.uint32) & np.uint32(0xBFFFFFFF)).view(np.float32)
        self.source[...] = self.cupy.asarray(np.resize(piece, self.source.size))


def buffers_of(nbytes: int) -> int:
    """How many buffers of ``nbytes`` are more than any cache holds."""
    return max(1, ROTATED_BYTES // nbytes)


def graph_of(bench: KernelBuffers, launch: NumberedCall, count: int) -> NumberedCall:
    """``count`` launches as one CUDA graph, recorded from the current stream; launches the whole graph."""
    launch(0)  # loads the kernel, which cannot be done while a graph is recorded
    stream = bench.cupy.cuda.get_current_stream()
    stream.synchronize()
    stream.begin_capture()
    for iteration in range(count):
        launch(iteration)
    graph = stream.end_capture()

    def launch_graph(iteration: int) -> None:
        graph.launch()

    return launch_graph


def sizes(bench: KernelBuffers) -> recordings.Table:
    """The time of one launch over the size of the problem, with the same buffers each time or other ones ("ring")."""
    rows = []
    for nbytes in SIZES:
        count = min(max(buffers_of(nbytes), 4), 1024)
        for buffers, number in (("same", 1), ("ring", buffers_of(nbytes))):
            launch = bench.launch(nbytes, number)
            graph = graph_of(bench, launch, count)
            for clock, taken in (("events", microseconds(launch)), ("graph", microseconds(graph) / count)):
                rows.append({"buffers": buffers, "clock": clock, "bytes": nbytes, "microseconds": short(taken)})
    return recordings.table_of(rows)


def ways(bench: KernelBuffers) -> recordings.Table:
    """One launch by five stopwatches, on a small problem and on a large one."""
    rows = []
    for problem in (SMALL_ROWS, LARGE_ROWS):
        nbytes = problem * COLS * ITEM_BYTES
        launch = bench.launch(nbytes, LARGEST // nbytes if problem == LARGE_ROWS else 1)
        graph = graph_of(bench, launch, LAUNCHES_PER_GRAPH)
        stopwatches: dict[str, Callable[[int], float]] = {
            "host, no wait": partial(on_host, bench, launch, False),
            "host, with wait": partial(on_host, bench, launch, True),
            "events, 1 launch": partial(on_gpu, bench, launch, 1),
            "events, 20 launches": partial(on_gpu, bench, launch, LAUNCHES_PER_GRAPH),
            "graph of 20": partial(on_gpu, bench, graph, 1),
        }
        for way, stopwatch in stopwatches.items():
            launches = LAUNCHES_PER_GRAPH if way.startswith("graph") else 1
            taken = [stopwatch(iteration) / launches for iteration in range(WARM_UP + WAYS_REPEATS)][WARM_UP:]
            cuts = statistics.quantiles(taken, n=20)
            found = {"microseconds": statistics.median(taken), "low": cuts[0], "high": cuts[-1]}
            rows.append({"rows": problem, "way": way, **{name: short(value) for name, value in found.items()}})
    return recordings.table_of(rows)


def turns(bench: KernelBuffers) -> recordings.Table:
    """Single launches one after the other: from the first one of a process on, and after a rest."""
    rows = []
    for start in ("first use", "after a rest"):
        if start == "after a rest":
            time.sleep(REST_SECONDS)
        launch = None
        for iteration in range(TURNS):
            begun = time.perf_counter()
            if launch is None:
                launch = bench.launch(LARGE_ROWS * COLS * ITEM_BYTES, 4)  # plans and compiles, or finds it compiled
            measured = on_gpu(bench, launch, 1, iteration)
            host = (time.perf_counter() - begun) * 1e6
            rows.append({"start": start, "turn": iteration, "host": short(host), "events": short(measured)})
    return recordings.table_of(rows)


def contents(bench: KernelBuffers) -> recordings.Table:
    """The same kernel on data of several kinds, and what nvidia-smi reports of the GPU meanwhile."""
    rows = []
    graph = graph_of(bench, bench.launch(LARGE_ROWS * COLS * ITEM_BYTES, 4), LAUNCHES_PER_GRAPH)
    for iteration in range(2):
        for data in CONTENTS:
            bench.fill(data)
            process = subprocess.Popen(_QUERY, stdout=subprocess.PIPE, text=True)
            taken: list[float] = []
            while process.poll() is None or len(taken) < WAYS_REPEATS:
                taken.append(on_gpu(bench, graph, 1, 0) / LAUNCHES_PER_GRAPH)
            clock, memory_clock, watts = (float(value) for value in process.communicate()[0].split(","))
            rows.append(
                {
                    "data": data, "pass": iteration, "microseconds": short(statistics.median(taken)),
                    "sm_mhz": clock, "memory_mhz": memory_clock, "watts": watts,
                }
            )  # fmt: skip
    return recordings.table_of(rows)


_QUERY = ("nvidia-smi", "--query-gpu=clocks.sm,clocks.mem,power.draw", "--format=csv,noheader,nounits")


def on_host(bench: KernelBuffers, launch: NumberedCall, wait: bool, iteration: int) -> float:
    """Microseconds on the host's clock, with or without waiting for the GPU; it is idle before and after."""
    stream = bench.cupy.cuda.get_current_stream()
    start = time.perf_counter()
    launch(iteration)
    if wait:
        stream.synchronize()
    taken = time.perf_counter() - start
    stream.synchronize()
    return taken * 1e6


def on_gpu(bench: KernelBuffers, launch: NumberedCall, count: int, iteration: int) -> float:
    """Microseconds per launch between two CUDA events around ``count``; the GPU is idle before and after."""
    start, stop = bench.cupy.cuda.Event(), bench.cupy.cuda.Event()
    start.record()
    for k in range(count):
        launch(iteration + k)
    stop.record()
    stop.synchronize()
    return 1000.0 * bench.cupy.cuda.get_elapsed_time(start, stop) / count


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    import cupy

    from softlab.cuda.compile import nvrtc_version

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="the recording to write")
    out = parser.parse_args(arguments).out
    with cupy.cuda.Stream(non_blocking=True):
        bench = KernelBuffers()
        cupy.cuda.get_current_stream().synchronize()
        tables = {"turns": turns(bench)}  # first: they want a kernel that was never launched
        bench.check()
        tables |= {"ways": ways(bench), "sizes": sizes(bench), "contents": contents(bench)}
    recording = described(
        out,
        "measuring",
        about="One softmax kernel, measured by many methods: what a time depends on besides the kernel.",
        method=METHOD,
        nvrtc=nvrtc_version(),
        versions={},
        tables=tables,
    )
    recordings.write(out, recording, TABLE_KEYS)
    print(f"{out}: {out.stat().st_size} bytes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
