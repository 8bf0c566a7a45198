"""Record on a GPU the speed of the kernels for short rows, and which of them policy "fast" takes.

    python -m softlab.bench.record.short_rows OUT.json      # about two minutes, most of them compiling

Three tables: "short" has every length up to 64 columns and some longer ones drawn at random, with an even and an odd
number of rows; "few" has few rows; "misaligned" has arrays that begin one element behind a multiple of 16 bytes. Each
result is compared with the operator in float64, and every element of it must have been written.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from softlab.bench import recordings
from softlab.bench.record import fast, fast_peers
from softlab.bench.record.case_buffers import WrongResult
from softlab.bench.record.describing import described
from softlab.bench.record.fast_workloads import Workload
from softlab.cuda import gpu
from softlab.cuda.compile import nvrtc_version
from softlab.dtypes import element_type
from softlab.errors import PlanError
from softlab.operators.executors import program_of
from softlab.plans import Plan, forced
from softlab.plans.planner import OPERATORS

INPUT_BYTES = 1 << 27
SHORT_COLS = tuple(range(1, 65))
#: Drawn once, so that two recordings have the same.
LONGER_COLS = tuple(sorted(random.Random(14).sample(range(65, 257), 40)))
DTYPES = ("float32", "float16", "bfloat16", "float64")
KERNELS = ("fast_tile", "fast_warp", "warp")
FEW_ROWS, FEW_COLS = (1024, 8192, 33792, 131072), (1, 3, 10, 33, 61)
MISALIGNED_COLS = (1, 3, 10, 17, 45, 63)
#: Elements at each end of the result that are compared with float64.
COMPARED_ELEMENTS = 1 << 20
METHOD = (
    f"Median of {fast.REPEATS} replays of a CUDA graph of {fast.LAUNCHES} launches, {INPUT_BYTES >> 20} MiB of each "
    f"input, {fast.BUFFERS} buffers in turn. 'chosen': policy \"fast\" takes that kernel. 'ceiling': a copy, for "
    "two inputs the sum of two arrays into a third. GB/s count each input read once and the result written once. "
    f"'few': few rows, {fast.FEW_LAUNCHES} launches. 'misaligned': arrays that begin one element behind 16 bytes."
)
TABLES = ("short", "few", "misaligned")
TABLE_KEYS = dict.fromkeys(TABLES, ("op", "dtype", "kernel")) | {"ceiling": ("inputs", "dtype")}


def workloads() -> Iterator[Workload]:
    """All problems, those of one dtype and number of inputs together. softmax has odd numbers of rows as well.

    Few rows and misaligned arrays: softmax and its gradient, without bfloat16.
    """
    for dtype in DTYPES:
        for backward in (False, True):
            for op in (name for name, operator in OPERATORS.items() if operator.backward == backward):
                for cols in (*SHORT_COLS, *LONGER_COLS):
                    rows = INPUT_BYTES // (cols * element_type(dtype).itemsize) // 2 * 2
                    yield Workload("short", op, dtype, rows, cols)
                    if op == "softmax" and cols in SHORT_COLS:
                        yield Workload("short", op, dtype, rows - 1, cols)
                if not op.startswith("log") and dtype != "bfloat16":
                    yield from (Workload("few", op, dtype, rows, cols) for cols in FEW_COLS for rows in FEW_ROWS)
                    for cols in MISALIGNED_COLS:
                        rows = INPUT_BYTES // (cols * element_type(dtype).itemsize) - 1
                        yield Workload("misaligned", op, dtype, rows, cols)


def plans_of(work: Workload) -> dict[str, Plan]:
    """Kernel -> plan: the kernels for short rows where they hold the row, and first what policy "fast" takes."""
    common: dict[str, Any] = {"op": work.op, "pack_size": 1 if work.table == "misaligned" else None}
    shape = (work.rows, work.cols, work.dtype)
    taken = forced(*shape, policy="fast", **common)
    made = {taken.kernel: taken}
    if taken.kernel in KERNELS:
        for kernel in KERNELS:
            policy = "oneflow" if kernel == "warp" else "fast"
            with suppress(PlanError):
                made.setdefault(kernel, forced(*shape, kernel=kernel, policy=policy, **common))
    return made


def compiled(work: Workload) -> None:
    """Leave a problem's kernels in the disk cache."""
    for made in plans_of(work).values():
        program_of(made)


def launches(made: Plan, buffers: fast.Buffers, work: Workload) -> list[Any]:
    """A plan's launches on each buffer in turn."""
    import torch

    pointers = work.inputs + 1
    start = gpu.launcher(
        program_of(made), (made.grid, 1, 1), (*made.block, 1), made.smem_bytes, pointers, (made.rows, made.cols), 0
    )

    def launch(iteration: int) -> Any:
        addresses = [view.data_ptr() for view in views_of(work, buffers, iteration)]
        return lambda: start(torch.cuda.current_stream().cuda_stream, *addresses)

    return [launch(iteration) for iteration in range(fast.FEW_LAUNCHES if work.table == "few" else fast.LAUNCHES)]


def views_of(work: Workload, buffers: fast.Buffers, iteration: int) -> list[Any]:
    """Inputs and output of an iteration, (rows, cols) each."""
    views = buffers.views(work, iteration)
    if work.table != "misaligned":
        return views
    return [view.as_strided(view.shape, view.stride(), view.storage_offset() + 1) for view in views]


def torch_launches(buffers: fast.Buffers, work: Workload) -> list[Any]:
    """PyTorch's launches on each buffer in turn."""
    queued = []
    for iteration in range(fast.LAUNCHES):
        *inputs, output = buffers.views(work, iteration)
        queued.append(fast_peers.PEERS["torch"](work.op, inputs, output))
    return queued


def check(work: Workload, name: str, inputs: Sequence[Any], output: Any) -> None:
    """Compare both ends of a result with float64.

    Raises:
        WrongResult: an element is missing, or the result is further from float64 than rounding takes it.
    """
    part = max(1, COMPARED_ELEMENTS // work.cols)
    for ends in (slice(0, part), slice(-part, None)):
        truth = fast.expected(work, [x[ends].double() for x in inputs])
        if fast.wrong(work, output[ends], truth):
            raise WrongResult(f"{name} is wrong on {work}")
    if bool(output.isnan().any()):
        raise WrongResult(f"{name} leaves elements of {work} unwritten")


def timed(made: Plan, buffers: fast.Buffers, work: Workload) -> float:
    """Microseconds of one launch of a plan, whose result is right."""
    import torch

    *inputs, output = views_of(work, buffers, 0)
    output.fill_(float("nan"))
    queued = launches(made, buffers, work)
    queued[0]()
    torch.cuda.synchronize()
    check(work, made.kernel, inputs, output)
    return fast.microseconds(queued, True)


def record(everything: Sequence[Workload]) -> dict[str, list[dict[str, Any]]]:
    """Measure all workloads: table -> rows. A wrong result is reported, and has no row."""
    import torch

    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in (*TABLES, "ceiling")}
    buffers = None
    for work in everything:
        if buffers is None or (buffers.dtype, buffers.inputs) != (work.dtype, work.inputs):
            buffers = None
            torch.cuda.empty_cache()
            buffers = fast.Buffers(work.dtype, work.inputs, INPUT_BYTES)
            tables["ceiling"].append(ceiling(work, buffers))
            print(tables["ceiling"][-1], flush=True)
        buffers.fit_to(work)
        made = plans_of(work)
        taken = next(iter(made))
        for kernel, one in made.items():
            try:
                spent = timed(one, buffers, work)
            except WrongResult as error:
                print(error, file=sys.stderr, flush=True)
                continue
            tables[work.table].append(row_of(work, kernel, kernel == taken, spent))
        if work.table == "short" and work.rows % 2 == 0:
            spent = fast.microseconds(torch_launches(buffers, work), True)
            tables["short"].append(row_of(work, "torch", False, spent))
    return tables


def row_of(work: Workload, kernel: str, chosen: bool, spent: float) -> dict[str, Any]:
    """A row of a table. Few rows take microseconds, which say more than their GB/s."""
    row = {"op": work.op, "dtype": work.dtype, "kernel": kernel, "cols": work.cols, "rows": work.rows,
           "chosen": int(chosen), "gigabytes_per_second": round(work.nbytes / spent / 1e3)}  # fmt: skip
    return row | {"microseconds": round(spent, 2)} if work.table == "few" else row


def ceiling(work: Workload, buffers: fast.Buffers) -> dict[str, Any]:
    """What a device copy, or the sum of two arrays into a third, moves."""
    whole = Workload("short", work.op, work.dtype, buffers.sets[0][0].numel() // 4096, 4096)
    queued = []
    for iteration in range(fast.LAUNCHES):
        *inputs, output = buffers.views(whole, iteration)
        queued.append(fast_peers.copy(whole.op, inputs, output))
    speed = whole.nbytes / fast.microseconds(queued, True) / 1e3
    return {"inputs": work.inputs, "dtype": work.dtype, "gigabytes_per_second": round(speed)}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see the module's words."""
    parser = argparse.ArgumentParser(prog="python -m softlab.bench.record.short_rows")
    parser.add_argument("out", type=Path)
    out = parser.parse_args(arguments).out
    everything = list(workloads())
    # A forked process could not use a GPU that this one has used already.
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(compiled, everything, chunksize=16))
    tables = {name: recordings.table_of(rows) for name, rows in record(everything).items()}
    recording = described(
        out, "short_rows", about="Short rows: the kernels that hold them, and which of them policy \"fast\" takes.",
        method=METHOD, nvrtc=nvrtc_version(), versions=fast_peers.versions(), tables=tables,
    )  # fmt: skip
    recordings.write(out, recording, TABLE_KEYS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
