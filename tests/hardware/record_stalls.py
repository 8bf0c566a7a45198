"""Why the warps of a set's launches stall, by Nsight Compute: every third launch or those the set names, cold.

    python -m tests.hardware.record_stalls SET FOLDER OUT   # GPU and ncu: OUT/SET_stalls_DEVICE.json

SET and FOLDER are those of ``tests.hardware.record_timing prepare``. ``record_timing report`` compares the first reason
of each launch with the predicted one.

One process of Nsight Compute per PER_PROCESS launches, PROCESSES of them at a time. A process that ends early or takes
more than SECONDS loses its launches, which are printed and stand in "missing". Shares below 0.5 % are left out. Reasons
that Nsight Compute gave no column for are printed and stand in "absent": the shares are those of the others.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import io
import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tests.hardware.record_timing import SETS, functions_in, launch_of, on_gpu, short_name

REASONS = (
    "barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard",
    "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "selected",
    "short_scoreboard", "sleeping", "tex_throttle", "wait",
)  # fmt: skip
METRIC = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
PER_PROCESS, PROCESSES, SECONDS = 6, 8, 120


def profiled(chosen: Any) -> list[Any]:
    """The launches that are profiled: those that the set names, or every third one."""
    return chosen.profiled() if hasattr(chosen, "profiled") else chosen.cases()[::3]


def launch(chosen: Any, folder: Path, first: int) -> None:
    """Launch ``PER_PROCESS`` of the profiled cases once each, for the profiler around this process."""
    import cupy

    functions, static_bytes = functions_in(folder)
    for case in profiled(chosen)[first : first + PER_PROCESS]:
        arguments = [on_gpu(cupy, a) for a in case.arguments]
        launch_of(cupy, case, functions[case.kernel], static_bytes[case.kernel], arguments)()
        cupy.cuda.runtime.deviceSynchronize()


def _rows(text: str) -> list[dict[str, str]]:
    """The raw page of Nsight Compute as CSV -> a row per launch."""
    header, *lines = (line for line in text.splitlines() if line.startswith('"'))
    _units, *rows = csv.DictReader(io.StringIO("\n".join([header, *lines])))
    return rows


def absent(text: str) -> list[str]:
    """The reasons that the raw page has no column for."""
    return [reason for reason in REASONS if any(METRIC.format(reason) not in row for row in _rows(text))]


def shares(text: str) -> list[dict[str, float]]:
    """The raw page -> for each launch its reasons and their shares, the largest first."""
    found = []
    for row in _rows(text):
        ratios = {reason: float(row.get(METRIC.format(reason), "0").replace(",", "") or 0) for reason in REASONS}
        total = sum(ratios.values())
        ordered = sorted(((reason, ratio / total) for reason, ratio in ratios.items()), key=lambda one: -one[1])
        found.append({reason: round(share, 4) for reason, share in ordered if share >= 0.005})
    return found


def record(chosen: Any, name: str, folder: Path, out: Path) -> Path:
    """Profile all, and write the record; its path."""
    import cupy

    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    names = [case.name for case in profiled(chosen)]
    unknown: set[str] = set()

    def part(first: int) -> tuple[dict[str, Any], str]:
        command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "--metrics"]
        command += [",".join(map(METRIC.format, REASONS)), sys.executable, "-m", "tests.hardware.record_stalls"]
        command += [name, str(folder), str(out), "--launch", str(first)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return {}, f"more than {SECONDS} s"
        asked = names[first : first + PER_PROCESS]
        found = shares(done.stdout) if '"ID"' in done.stdout else []
        unknown.update(absent(done.stdout) if found else ())
        return dict(zip(asked, found, strict=False)), done.stderr[-300:] if len(found) < len(asked) else ""

    date = datetime.datetime.now(datetime.UTC).date()
    which = "the launches of profiled()" if hasattr(chosen, "profiled") else "every third launch"
    about = f"Nsight Compute on an {device}, {date}, cold: share of {METRIC.format('REASON')}, {which}"
    path = out / f"{name}_stalls_{short_name(device)}.json"
    cases: dict[str, Any] = {}
    # The record is written after each part: who ends this command early keeps what is there.
    with ThreadPoolExecutor(PROCESSES) as pool:
        for ended in as_completed([pool.submit(part, first) for first in range(0, len(names), PER_PROCESS)]):
            found, error = ended.result()
            cases |= found
            missing = [case for case in names if case not in cases]
            known = {case: cases[case] for case in names if case in cases}
            record = {"about": about, "missing": missing, "absent": sorted(unknown), "cases": known}
            text = json.dumps(record, separators=(",", ":"))
            path.write_text(text.replace('},"', '},\n"') + "\n")
            if error:
                print(error)
    for case in missing:
        print("not profiled:", case)
    for reason in sorted(unknown):
        print("no column of Nsight Compute:", reason)
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    """The command; see the module's words."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardware.record_stalls")
    parser.add_argument("set", choices=SETS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--launch", type=int, metavar="FIRST", help="only launch, from this one on: what ncu runs")
    given = parser.parse_args(arguments)
    if given.launch is None:
        print(record(SETS[given.set], given.set, given.folder, given.out))
    else:
        launch(SETS[given.set], given.folder, given.launch)


if __name__ == "__main__":
    main()
