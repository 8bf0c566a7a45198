"""Measure every row on the GPU: ``measure FOLDER OUT``. It needs only NumPy and CuPy.

A child process measures. A fault of the GPU ends the process that saw it, so then the next one goes on behind the row
that failed. All rows are measured twice; ``OUT/atlas.json`` is written after each fault and at the end, and
``OUT/rows.jsonl`` as the rows come.
"""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

#: Seconds that all may take, that one row may take, and that the start of a process may take.
SECONDS, SECONDS_PER_ROW, SECONDS_TO_START = 195, 15, 60
PASSES = 2
#: Processes that may end early.
MOST_ENDS = 40


def measure(folder: Path, out: Path, seconds: float = SECONDS) -> None:
    """Measure all rows of the folder's plan within the time. What there is no time for is entered as failed."""
    out.mkdir(parents=True, exist_ok=True)
    began, log = time.monotonic(), out / "rows.jsonl"
    log.write_text("")
    count = PASSES * len(json.loads((folder / "plan.json").read_text())["jobs"])
    done, ends = 0, 0
    while done < count and (left := began + seconds - time.monotonic()) > 0 and ends < MOST_ENDS:
        before = len(_lines(log))
        why = _run(folder, log, done, left)
        lines = _lines(log)
        if len(lines) == before:
            raise SystemExit(f"the GPU cannot be used: {why}")
        done = max((line["turn"] + 1 for line in lines if "turn" in line), default=done)
        if why:
            ends += 1
            if "error" not in lines[-1]:  # it ended within a row, and could not say so
                _append(log, {"turn": done, "error": why})
                done += 1
        _write(folder, out, time.monotonic() - began)
    lines = _lines(log)
    print(f"{sum('values' in line for line in lines)} of {count} measured, {sum('error' in line for line in lines)} "
          f"failed, {ends} processes ended early, {time.monotonic() - began:.0f} s")  # fmt: skip


def _run(folder: Path, log: Path, first: int, seconds: float) -> str:
    """Run a process from a turn on; "" or why it ended. It is killed when a row takes too long, or all time is over."""
    command = [sys.executable, "-m", "softlab.bench.record.atlas", "rows", str(folder), str(log), str(first)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    began = moved = time.monotonic()
    size, limit, killed = log.stat().st_size, SECONDS_TO_START, ""
    while process.poll() is None and not killed:
        time.sleep(0.05)
        now = time.monotonic()
        if (grown := log.stat().st_size) != size:
            size, moved, limit = grown, now, SECONDS_PER_ROW
        if now - began > seconds:
            killed = "the time was over"
        elif now - moved > limit:
            killed = f"no result after {limit} s"
    if killed:
        process.kill()
    errors = process.communicate()[1].strip().splitlines()
    if process.returncode == 0:
        return ""
    return killed or (errors[-1][:300] if errors else f"the process ended with {process.returncode}")


def rows(folder: Path, log: Path, first: int) -> None:
    """Measure from a turn on: the process that :func:`measure` starts."""
    from softlab.bench.record.atlas import contention_methods, launched_methods, memory_methods, methods

    bench = methods.Bench(folder)
    for _ in range(20):  # the clock rises
        bench.megahertz()
    _append(log, {"about": _about(bench)})
    jobs = bench.plan["jobs"]
    modules = (methods, memory_methods, contention_methods, launched_methods)
    for turn in range(first, PASSES * len(jobs)):
        job = jobs[turn % len(jobs)]
        method = next(getattr(m, job["method"]) for m in modules if hasattr(m, job["method"]))
        try:
            began = time.monotonic()
            values = method(bench, job["kernels"], job["parameters"])
            line = {"turn": turn, "values": dict(zip(job["keys"], values, strict=True))}
            _append(log, line | {"seconds": round(time.monotonic() - began, 3)})
        except Exception as error:
            _append(log, {"turn": turn, "error": f"{type(error).__name__}: {error}"[:300]})
            bench.wait()  # a fault of the GPU shows here again, and ends the process
    _append(log, {"about": _about(bench)})


def _about(bench: Any) -> dict[str, Any]:
    import cupy

    clocks: dict[str, float]
    query = ["nvidia-smi", "--query-gpu=driver_version,clocks.sm,clocks.mem", "--format=csv,noheader,nounits"]
    try:
        text = subprocess.run(query, capture_output=True, text=True, check=True, timeout=20).stdout.split("\n")[0]
        driver, sm, memory = (part.strip() for part in text.split(","))
        clocks = {"SM by nvidia-smi": float(sm), "memory by nvidia-smi": float(memory)}
    except (OSError, subprocess.SubprocessError, ValueError):
        driver, clocks = "unknown", {}
    versions = {"driver": driver, "NVRTC": bench.plan["nvrtc"], "CuPy": cupy.__version__}
    versions["Python"] = platform.python_version()
    return {"device": bench.name, "versions": versions, "clocks": {"SM": round(bench.megahertz(), 1), **clocks}}


def _append(log: Path, line: dict[str, Any]) -> None:
    with log.open("a") as file:
        file.write(json.dumps(line) + "\n")


def _lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def _write(folder: Path, out: Path, seconds: float) -> None:
    """``OUT/atlas.json``: the plan's jobs with what each pass gave, and the machine."""
    plan, lines = json.loads((folder / "plan.json").read_text()), _lines(out / "rows.jsonl")
    count = len(plan["jobs"])
    about: dict[str, Any] = next((line["about"] for line in reversed(lines) if "about" in line), {})
    passes: list[dict[str, Any]] = [{} for _ in range(PASSES)]
    failed: dict[str, str] = {}
    for line in lines:
        if "values" in line:
            passes[line["turn"] // count].update(line["values"])
        elif "error" in line:
            failed.update(dict.fromkeys(plan["jobs"][line["turn"] % count]["keys"], line["error"]))
    record = {"date": datetime.date.today().isoformat(), "seconds": round(seconds), **about, "nvrtc": plan["nvrtc"],
              "digest": plan["digest"], "kernels": plan["kernels"], "jobs": plan["jobs"], "passes": passes,
              "failed": failed}  # fmt: skip
    (out / "atlas.json").write_text(json.dumps(record, indent=0))
