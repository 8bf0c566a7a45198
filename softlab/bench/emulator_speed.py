"""How fast the emulator runs: ``python -m softlab.bench.emulator_speed`` prints a table of few warps, atomics, blocks
that wait for each other and matrix products, each run with blocks of code in NumPy and with compiled ones. ``--json``
adds the softmax in shared memory. ``--ratios`` prints instead how many times as long as a plain run counters and all
checks take.

Speed is in lane-instructions per second: PTX instructions times the lanes that run them. Compiling is left out, as the
programs are cached. A time is also given as a number of additions of two float32 arrays of 16384 elements by NumPy,
measured in the same run: machines and their load differ, and this ratio much less. Where numba is installed (``pip
install numba``), its CUDA simulator runs a row maximum for comparison, with the same steps.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from softlab import plans
from softlab.bench.emulator_cases import MODES, SpeedCase, cases
from softlab.cuda.compile import compile_program, kernel_sources
from softlab.emulator.machine.native import available
from softlab.kernel import Kernel

ROWS, COLS, BLOCK = 132, 4096, 256
_REPEATS, _FIRST_RUNS = 7, 2
_ADDED, _ADDITIONS, _AT_ONCE = 16384, 200, 10


def _kernel() -> tuple[Kernel, Any]:
    plan = plans.forced(ROWS, COLS, "float32", kernel="block_smem", block_size=BLOCK, device="H200")
    program = compile_program(kernel_sources()[plan.file], plan.name, arch=plan.arch, file=plan.file)
    return Kernel.from_program(program), plan


def _best(action: Callable[[], Any]) -> tuple[float, Any]:
    """(seconds of the processor in the fastest repeat, what it gave). Other programs do not disturb that time."""
    action()
    best, result = float("inf"), None
    for _ in range(_REPEATS):
        start = time.process_time()
        result = action()
        best = min(best, time.process_time() - start)
    return best, result


def seconds_of_an_addition() -> float:
    """NumPy's time for the sum of two float32 arrays of 16384 elements, without making the result's array."""
    a, b, out = (np.ones(_ADDED, np.float32) for _ in range(3))
    best = float("inf")
    for _ in range(_ADDITIONS):
        start = time.process_time()
        for _ in range(_AT_ONCE):
            np.add(a, b, out=out)
        best = min(best, time.process_time() - start)
    return best / _AT_ONCE


def measure_case(case: SpeedCase) -> list[dict[str, Any]]:
    """A case in each mode: speed, milliseconds and NumPy's additions, without and with compiled blocks."""
    rows = []
    for mode, how in MODES.items():
        row: dict[str, Any] = {"case": case.name, "mode": mode}
        addition = seconds_of_an_addition()
        for compiled in ("none", "all") if available() else ("none",):
            seconds, run = _best(partial(case.run, compiled=compiled, **how))
            row[compiled] = {
                "milliseconds": round(seconds * 1e3, 2),
                "lane_instructions_per_second": round(run.lane_instructions / seconds),
                "additions": round(seconds / addition),
            }
        row["addition_microseconds"] = round(addition * 1e6, 2)
        if "all" in row:
            row["times_faster"] = round(row["none"]["milliseconds"] / row["all"]["milliseconds"], 2)
        rows.append(row)
    return rows


def ratios_of(case: SpeedCase, compiled: str) -> dict[str, float]:
    """Mode -> how many times as long as a plain run it takes: medians of the processor's time, the modes in turns."""
    seconds: dict[str, list[float]] = {mode: [] for mode in MODES}
    for repeat in range(_REPEATS + _FIRST_RUNS):
        for mode, how in MODES.items():
            start = time.process_time()
            case.run(compiled=compiled, **how)
            if repeat >= _FIRST_RUNS:
                seconds[mode].append(time.process_time() - start)
    plain = statistics.median(seconds["plain"])
    return {mode: statistics.median(times) / plain for mode, times in seconds.items()}


def ratio_table(measured: Sequence[SpeedCase]) -> str:
    """What :func:`ratios_of` says of counters and all checks, as Markdown."""
    ways = {"NumPy": "none", "compiled": "all"} if available() else {"NumPy": "none"}
    lines = [f"| launch | {' | '.join(ways)} |", f"|---|{'---|' * len(ways)}"]
    for case in measured:
        found = [ratios_of(case, way) for way in ways.values()]
        cells = [f"{of['counters']:.1f}, {of['all checks']:.1f}" for of in found]
        lines.append(f"| {' | '.join([case.name, *cells])} |")
    return "\n".join(lines)


def table(rows: list[dict[str, Any]]) -> str:
    """The rows of :func:`measure_case` as Markdown."""
    lines = [
        "| launch | mode | NumPy: M/s | additions | compiled: M/s | additions | times faster | an addition, us |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row["case"], row["mode"]]
        for way in ("none", "all"):
            found = row.get(way)
            speed = f"{found['lane_instructions_per_second'] / 1e6:.1f}" if found else ""
            cells += [speed, f"{found['additions']}" if found else ""]
        cells += [f"{row.get('times_faster', '')}", f"{row['addition_microseconds']}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


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


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m softlab.bench.emulator_speed", description=__doc__)
    parser.add_argument("--json", action="store_true", help="as JSON, with the shared-memory softmax")
    parser.add_argument("--only", default="", help="the cases whose names have this text in them")
    parser.add_argument("--ratios", action="store_true", help="counters and all checks beside plain, in turns")
    options = parser.parse_args(arguments)
    if options.ratios:
        print(ratio_table([case for case in cases() if options.only in case.name]))
        return
    rows = [row for case in cases() if options.only in case.name for row in measure_case(case)]
    print(json.dumps({"cases": rows, "softmax": measure()}, indent=2) if options.json else table(rows))


if __name__ == "__main__":
    main()
