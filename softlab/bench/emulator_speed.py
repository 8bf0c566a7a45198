"""How fast the emulator runs the shared-memory softmax: ``python -m softlab.bench.emulator_speed`` prints JSON.

Speed is in lane-instructions a second: PTX instructions times the lanes that run them. Compiling is left out, as the
programs are cached. With numba installed its CUDA simulator runs a row maximum for comparison, on one block, scaled to
all.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from softlab import plans
from softlab.compile import compile_program, kernel_sources
from softlab.kernel import Kernel

ROWS, COLS, BLOCK = 132, 4096, 256
_REPEATS = 7


def _kernel() -> tuple[Kernel, Any]:
    plan = plans.forced(ROWS, COLS, "float32", kernel="block_smem", block_size=BLOCK, device="H200")
    program = compile_program(kernel_sources()[plan.file], plan.name, arch=plan.arch, file=plan.file)
    return Kernel.from_program(program), plan


def _best(action: Callable[[], Any]) -> tuple[float, Any]:
    """(seconds of the fastest repeat, what it gave)."""
    action()
    best, result = float("inf"), None
    for _ in range(_REPEATS):
        start = time.perf_counter()
        result = action()
        best = min(best, time.perf_counter() - start)
    return best, result


def measure() -> dict[str, Any]:
    """Speeds of the plain run, with counters, and with counters and checks; the peak memory of this process in MiB."""
    kernel, plan = _kernel()
    x = np.random.default_rng(0).standard_normal((ROWS, COLS)).astype(np.float32)
    y = np.empty_like(x)
    arguments = (x, y, np.int64(ROWS), np.int64(COLS))
    report: dict[str, Any] = {"kernel": plan.name, "rows": ROWS, "cols": COLS, "block": BLOCK, "numpy": np.__version__}
    ways: dict[str, dict[str, Any]] = {
        "plain": {"check": False, "record": False},
        "counters": {"check": False, "record": True},
        "checks": {"check": True, "record": True},
    }
    for name, how in ways.items():
        seconds, run = _best(partial(kernel.run, plan.grid, plan.block, arguments, smem=plan.smem_bytes, **how))
        report[name] = {
            "milliseconds": round(seconds * 1e3, 2),
            "lane_instructions_per_second": round(run.lane_instructions / seconds),
        }
        if name == "plain":
            report["lane_instructions"] = run.lane_instructions
    report["peak_mib"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    if (simulated := _numba_row_maximum()) is not None:
        report["numba_simulator_row_maximum_seconds"] = round(simulated, 2)
        report["times_numba"] = round(simulated / (report["plain"]["milliseconds"] / 1e3))
    return report


def _numba_row_maximum() -> float | None:
    """Seconds that numba's CUDA simulator would take for a row maximum of all rows; None without numba."""
    import os

    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    try:
        from numba import cuda, float32
    except ImportError:
        return None

    @cuda.jit
    def row_maximum(x, y):  # type: ignore[no-untyped-def]
        best = cuda.shared.array(BLOCK, float32)
        thread = cuda.threadIdx.x
        largest = x[cuda.blockIdx.x, thread]
        for column in range(thread, x.shape[1], BLOCK):
            largest = max(largest, x[cuda.blockIdx.x, column])
        best[thread] = largest
        cuda.syncthreads()
        half = BLOCK // 2
        while half > 0:
            if thread < half:
                best[thread] = max(best[thread], best[thread + half])
            cuda.syncthreads()
            half //= 2
        if thread == 0:
            y[cuda.blockIdx.x] = best[0]

    x = np.random.default_rng(0).standard_normal((1, COLS)).astype(np.float32)
    y = np.empty(1, np.float32)
    start = time.perf_counter()
    row_maximum[1, BLOCK](x, y)
    return (time.perf_counter() - start) * ROWS


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
