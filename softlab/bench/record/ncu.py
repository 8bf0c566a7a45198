"""Nsight Compute around a recorder: one metric of every launch of a Python module."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

#: A run that takes longer than this is stopped.
SECONDS = 45


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
        return process.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # ncu and the program under it: a stray one would hold the GPU
        return process.communicate()[0]
