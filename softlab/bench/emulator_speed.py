"""How fast the emulator runs the shared-memory softmax: ``python -m softlab.bench.emulator_speed`` prints JSON.

Speed is in lane-instructions per second: PTX instructions times the lanes that run them. Compiling is left out, as the
programs are cached. Where numba is installed (``pip install numba``), its CUDA simulator runs a row maximum for
comparison, with the same steps.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from softlab import plans
from softlab.cuda.compile import compile_program, kernel_sources
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
    runs: dict[str, dict[str, Any]] = {
        "plain": {"check": False, "record": False},
        "counters": {"check": False, "record": True},
        "checks": {"check": True, "record": True},
    }
    for name, how in runs.items():
        seconds, run = _best(partial(kernel.run, plan.grid, plan.block, arguments, smem=plan.smem_bytes, **how))
        report[name] = {
            "milliseconds": round(seconds * 1e3, 2),
            "lane_instructions_per_second": round(run.lane_instructions / seconds),
        }
        if name == "plain":
            report["lane_instructions"] = run.lane_instructions
    report["peak_mib"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    report["row_maximum"] = _row_maximum(x)
    return report


# The same steps as numba_simulator.row_maximum.
_ROW_MAXIMUM = """
extern "C" __global__ void row_maximum(const float* x, float* y, int cols) {
  __shared__ float best[256];
  const float* row = x + blockIdx.x * cols;
  float largest = row[threadIdx.x];
  for (int column = threadIdx.x; column < cols; column += 256) largest = fmaxf(largest, row[column]);
  best[threadIdx.x] = largest;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = best[0];
}
"""


def _row_maximum(x: np.ndarray) -> dict[str, float]:
    """Seconds of a row maximum here, with and without counters, and in numba's simulator where numba is installed."""
    kernel = Kernel(_ROW_MAXIMUM, "row_maximum")
    y = np.empty(ROWS, np.float32)
    report = {}
    for name, record in (("plain", False), ("counters", True)):
        seconds, _ = _best(partial(kernel.run, ROWS, BLOCK, (x, y, COLS), check=False, record=record))
        report[name] = round(seconds, 5)
    if not np.array_equal(y, x.max(axis=1)):
        raise SystemExit("the emulator's row maximum is wrong")
    if importlib.util.find_spec("numba"):
        command = [sys.executable, "-m", "softlab.bench.numba_simulator", str(ROWS), str(COLS), str(BLOCK)]
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        report["numba_simulator"] = round(float(done.stdout), 2)
        report["times_numba"] = round(report["numba_simulator"] / report["counters"])
    return report


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
