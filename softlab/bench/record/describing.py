"""What a recorder writes beside its tables: when, where, by which command and with which versions it measured."""

from __future__ import annotations

import datetime
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

from softlab.bench import recordings
from softlab.cuda.compile import sources_digest


def short(value: float) -> float:
    """Four digits: the fifth is noise."""
    return float(f"{value:.4g}")


def described(
    out: Path, module: str, *, about: str, method: str, nvrtc: str, versions: Mapping[str, str],
    tables: Mapping[str, recordings.Table],
) -> recordings.Recording:  # fmt: skip
    """The tables with a description of this machine and of ``softlab.bench.record.<module>``, which recorded them.

    ``nvrtc`` compiled the kernels; ``versions``: of further libraries.
    """
    import cupy
    from cupy.cuda import runtime

    common = {"driver": driver(), "NVRTC": nvrtc, "CuPy": cupy.__version__, "Python": platform.python_version()}
    return recordings.Recording(
        name=out.stem,
        about=about,
        device=runtime.getDeviceProperties(runtime.getDevice())["name"].decode(),
        date=datetime.date.today().isoformat(),
        command=f"python -m softlab.bench.record.{module} {out.name}",
        method=method,
        versions={**common, **versions},
        sources=sources_digest(),
        tables=tables,
    )


def driver() -> str:
    """The driver's version as nvidia-smi reports it, or "unknown"."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"
