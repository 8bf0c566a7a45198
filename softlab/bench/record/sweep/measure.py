"""Time every job on the GPU: ``measure FOLDER OUT``. It needs NumPy, CuPy and PyTorch, and compiles nothing.

Each result is compared with the operator in higher precision before it is timed. A wrong result has no time.
"""

from __future__ import annotations

import datetime
import json
import math
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from softlab.bench.record import fast, fast_peers
from softlab.bench.record.case_buffers import WrongResult
from softlab.bench.record.describing import driver, short
from softlab.bench.record.fast_workloads import Workload
from softlab.bench.record.sweep.cells import INPUT_BYTES, Job
from softlab.bench.record.sweep.prepare import read
from softlab.cuda import gpu
from softlab.cuda.compile import Program

#: Buffers in turn, launches of a graph, and replays of which the median counts.
BUFFERS, LAUNCHES, REPLAYS = 3, 3, 7
#: PyTorch is slow on long rows, and its figure needs no percent: a graph takes at most this long in microseconds.
TORCH_REPLAYS, TORCH_MICROSECONDS = 3, 20_000
#: Seconds after which jobs that have not begun fail.
MOST_SECONDS = 90
#: Elements at each end of a result that are compared.
COMPARED_ELEMENTS = 1 << 19


class Memory:
    """The memory that all jobs share: ``BUFFERS`` times two inputs and an output."""

    def __init__(self) -> None:
        import torch

        self.raw = [[torch.empty(INPUT_BYTES, dtype=torch.uint8, device="cuda") for _ in range(BUFFERS)] for _ in "xyz"]
        self.dtype = ""

    def hold(self, dtype: str) -> None:
        """Fill the inputs with normally distributed numbers of a type."""
        import torch

        if dtype == self.dtype:
            return
        self.dtype = dtype
        self.sets = [[buffer.view(getattr(torch, dtype)) for buffer in buffers] for buffers in self.raw]
        for buffer in (*self.sets[0], *self.sets[1]):
            buffer.normal_()

    def fit_to(self, work: Workload) -> None:
        """A gradient's y is a result of its operator: small numbers, or logarithms."""
        if work.inputs == 2:
            for y in self.sets[1]:
                if work.op == "softmax_backward":
                    y.uniform_(0, 2 / work.cols)
                else:
                    y.normal_().sub_(math.log(work.cols))

    def views(self, work: Workload, turn: int) -> list[Any]:
        """Inputs and output, (rows, cols) each."""
        sets = [*self.sets[: work.inputs], self.sets[2]]
        return [buffers[turn % BUFFERS][: work.rows * work.cols].view(work.rows, work.cols) for buffers in sets]


def timed(job: Job, program: Program, memory: Memory) -> list[float]:
    """Microseconds of a job's launch in each replay.

    Raises:
        WrongResult: its result is wrong, or parts of it were not written.
    """
    import torch

    work = job.work
    start = gpu.launcher(
        program, (job.grid, 1, 1), (*job.block, 1), job.smem_bytes, work.inputs + 1, (job.rows, job.cols), 0,
        cooperative=job.cooperative, workspace_bytes=job.workspace_bytes,
    )  # fmt: skip

    def launch(turn: int) -> None:
        addresses = [view.data_ptr() for view in memory.views(work, turn)]
        start(torch.cuda.current_stream().cuda_stream, *addresses)

    launches = [partial(launch, turn) for turn in range(LAUNCHES)]
    *inputs, output = memory.views(work, 0)
    output.fill_(float("nan"))
    launches[0]()
    torch.cuda.synchronize()
    check(work, job.label, inputs, output)
    return fast.replayed(launches, REPLAYS)


def check(work: Workload, name: str, inputs: Sequence[Any], output: Any) -> None:
    """Compare both ends of a result, and look for elements that were not written.

    Raises:
        WrongResult: the result is further from the truth than rounding takes it.
    """
    part = max(1, COMPARED_ELEMENTS // work.cols)
    for ends in (slice(0, part), slice(-part, None)):
        if fast.wrong(work, output[ends], fast.expected(work, [x[ends].double() for x in inputs])):
            raise WrongResult(f"{name} is wrong on {work}")
    if bool(output.sum().isnan()):
        raise WrongResult(f"{name} leaves elements of {work} unwritten")


def torch_time(work: Workload, memory: Memory) -> list[float]:
    """Microseconds of PyTorch's launch in each replay."""
    import torch

    launches = []
    for turn in range(LAUNCHES):
        *inputs, output = memory.views(work, turn)
        launches.append(fast_peers.PEERS["torch"](work.op, inputs, output))
    launches[0]()
    torch.cuda.synchronize()
    began = time.perf_counter()
    launches[0]()
    torch.cuda.synchronize()
    once = 1e6 * (time.perf_counter() - began)
    return [once] if once > TORCH_MICROSECONDS else fast.replayed(launches, TORCH_REPLAYS)


def ceilings(memory: Memory) -> dict[str, float]:
    """GB/s of copies of whole buffers, and of the sum of two arrays into a third, in the type that memory holds."""
    import torch

    count = memory.sets[0][0].numel()
    work = Workload("sweep", "softmax", memory.dtype, count // 4096, 4096)
    sum_of_two = Workload("sweep", "softmax_backward", memory.dtype, count // 4096, 4096)
    spans: dict[str, list[Callable[[], Any]]] = {"copy": [], "sum": []}
    for turn in range(LAUNCHES):
        x, y = memory.views(work, turn)
        spans["copy"].append(partial(y.copy_, x))
        a, b, c = memory.views(sum_of_two, turn)
        spans["sum"].append(partial(torch.add, a, b, out=c))
    moved = {"copy": work.nbytes, "sum": sum_of_two.nbytes}
    return {
        name: moved[name] / statistics.median(fast.replayed(launches, REPLAYS)) / 1e3
        for name, launches in spans.items()
    }


def measure(folder: Path, out: Path) -> None:
    """Time all jobs of a folder; ``OUT/sweep.json``."""
    import cupy
    import torch

    began = time.perf_counter()
    about, jobs, fields = read(folder)
    programs = [
        Program(**{**field, "source": "", "options": tuple(field["options"]), "cubin": bytes.fromhex(field["cubin"])})
        for field in fields
    ]
    memory, times, failed, copies = Memory(), [], [], []
    for job in jobs:
        if time.perf_counter() - began > MOST_SECONDS:
            failed.append(f"{job.label} on {job.work}: there was no time left")
            continue
        if job.dtype != memory.dtype:
            memory.hold(job.dtype)
            copies.append({"dtype": job.dtype, **ceilings(memory)})
        memory.fit_to(job.work)
        row = {"op": job.op, "dtype": job.dtype, "rows": job.rows, "cols": job.cols, "kernel": job.kernel}
        try:
            times.append({**row, "label": job.label, "us": list(map(short, timed(job, programs[job.program], memory)))})
        except Exception as error:
            failed.append(f"{job.label} on {job.work}: {type(error).__name__}: {error}"[:300])
            print(failed[-1], file=sys.stderr, flush=True)
        if job.torch:
            times.append({**row, "label": "torch", "us": list(map(short, torch_time(job.work, memory)))})
    copies.append({"dtype": memory.dtype, **ceilings(memory)})
    versions = {"driver": driver(), "NVRTC": about["nvrtc"], "CuPy": cupy.__version__, "PyTorch": torch.__version__}
    record = {
        **about, "device": torch.cuda.get_device_name(), "date": datetime.date.today().isoformat(),
        "versions": {**versions, "Python": platform.python_version()}, "copies": copies, "times": times,
        "failed": failed, "seconds": round(time.perf_counter() - began, 1),
    }  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    (out / "sweep.json").write_text(json.dumps(record, indent=0))
    print(f"{record['device']}: {len(times)} timed, {len(failed)} failed, {record['seconds']} s; copies {copies}")
