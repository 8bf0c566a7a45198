"""Cases of clusters, asynchronous copies and mbarriers: what runs on a GPU under Nsight Compute and on the emulator.

    python -m tests.hardware.cluster_cases prepare FOLDER   # where NVRTC is: one job a file
    python tests/hardware/cluster_cases.py profile FOLDER OUT   # where the GPU is: NumPy, the driver and ncu
    python -m tests.hardware.cluster_cases collect OUT      # -> tests/data/ncu_clusters_h200.npz

What is recorded: the arrays as the kernels left them, and Nsight Compute's counters.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
RECORDING = ROOT / "tests" / "data" / "ncu_clusters_h200.npz"
#: Metrics recorded always, and those looked for among what this ncu knows, by parts of their names.
METRICS = (
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
)
WANTED = ("ldgsts", "dshared", "dsmem")
COUNTED = ("inst_executed", "t_requests", "t_sectors", "wavefronts")
#: Seconds for all of ``profile``, and for one run under ncu.
TIME_FOR_ALL, TIME_FOR_ONE = 88, 25


@dataclass(frozen=True)
class ClusterCase:
    """One launch of a kernel in ``tests/hardware/kernels`` or ``tests/faults/kernels``; data as in its ``Good``."""

    name: str
    file: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: Callable[[], list]
    smem: int = 0

    def compile(self) -> Any:
        """The program for sm_90."""
        return _compiled(self.file)[self.kernel]


@lru_cache(maxsize=8)
def _compiled(file: str) -> dict[str, Any]:
    """The programs of the kernels that are launched of a file, compiled at once."""
    from softlab.cuda.compile import compile_programs

    folders = (ROOT / "tests" / folder / "kernels" for folder in ("hardware", "faults"))
    path = next(folder / file for folder in folders if (folder / file).exists())
    kernels = list(dict.fromkeys(case.kernel for case in cluster_cases() if case.file == file))
    return dict(zip(kernels, compile_programs(path.read_text(), kernels, arch="sm_90", file=file), strict=True))


def _floats(n: int, written: int | None = None) -> Callable[[], list]:
    return lambda: [
        np.random.default_rng(n).integers(-99, 99, n).astype(np.float32),
        np.zeros(n if written is None else written, np.float32),
    ]


def _copied(nbytes: int, offset: int) -> Callable[[], list]:
    size = 256 * nbytes
    return lambda: [
        np.random.default_rng(nbytes).integers(0, 256, size + nbytes * offset).astype(np.uint8),
        np.zeros(size, np.uint8),
        np.int32(offset),
    ]


def cluster_cases() -> list[ClusterCase]:
    """Every case; names are unique."""
    from tests.faults.cases_cluster import CLUSTER

    file = "cluster_counters.cu"
    cases = [
        ClusterCase(f"load {to} stride {s}", file, f"load_words<{s}, To::{to}>", (4,), (128,), _floats(512))
        for s, to in ((1, "other"), (2, "other"), (8, "other"), (32, "other"), (1, "own"), (8, "own"), (1, "unmapped"))
    ]
    cases += [
        ClusterCase("load quads", file, "load_quads", (4,), (128,), _floats(2048)),
        ClusterCase("load generic", file, "load_generic", (4,), (128,), _floats(512)),
        ClusterCase("add words", file, "add_words", (4,), (128,), _floats(512, 128)),
        ClusterCase("copy with zeros", file, "copy_with_zeros", (2,), (128,), lambda: _copied(16, 0)()[:2]),
    ]
    cases += [
        ClusterCase(
            f"store {'other' if other else 'own'} stride {s}",
            file,
            f"store_words<{s}, {str(other).lower()}>",
            (4,),
            (128,),
            _floats(512),
        )
        for s, other in ((1, True), (8, True), (1, False))
    ]
    cases += [
        ClusterCase(
            f"copy {n} {'ca' if l1 else 'cg'} stride {s} offset {offset}",
            file,
            f"copy_words<{n}, {s}, {str(l1).lower()}>",
            (2,),
            (128,),
            _copied(n, offset),
            128 * n * s,
        )
        for n, s, l1, offset in (
            (4, 1, True, 0), (4, 8, True, 0), (4, 1, True, 5), (8, 1, True, 0), (8, 3, True, 0), (16, 1, True, 0),
            (16, 1, False, 0), (16, 2, False, 0), (16, 1, False, 1),
        )
    ]  # fmt: skip
    cases += [ClusterCase(name, g.file, g.kernel, g.grid, g.block, g.arguments, g.smem) for name, g in CLUSTER.items()]
    return cases


def prepare(folder: Path) -> None:
    """Write the jobs, in the form of ``tests.faults.sanitizer``."""
    from tests.faults.sanitizer import write_job

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.npz"):
        old.unlink()
    for number, case in enumerate(cluster_cases()):
        program = case.compile()
        write_job(
            folder / f"{number:02}.npz",
            program.cubin,
            program.entry,
            case.grid,
            case.block,
            case.smem,
            case.arguments(),
        )
    print(len(cluster_cases()), "jobs in", folder)


def launch(folder: Path, out: Path | None) -> None:
    """Run the jobs, in order; keep what they leave."""
    from tests.faults.sanitizer import Driver

    driver, left = Driver(), {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            for number, array in enumerate(driver.launch(dict(file))):
                left[f"{path.stem} {number}"] = array
    if out is not None:
        np.savez_compressed(out, **left)


def profile(folder: Path, out: Path) -> None:
    """Run ``launch`` alone, then under Nsight Compute once a metric; what is done so far is always on disk."""
    start = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    launch(folder, out / "results.npz")
    print(f"launched after {time.monotonic() - start:.1f} s", flush=True)
    known = _said(["ncu", "--query-metrics", "--chips", "gh100"])
    names = [line.split()[0] for line in known.splitlines() if line.split() and "__" in line.split()[0]]
    found = [n for n in names if any(w in n for w in WANTED)]
    (out / "known.txt").write_text("\n".join(found))
    more = [f"{n}.sum" for n in found if any(c in n for c in COUNTED) and "lookup" not in n and "pct" not in n]
    print(f"asked after {time.monotonic() - start:.1f} s:", *found, flush=True)
    table: dict[str, list] = {}
    for metric in (*METRICS, *sorted(more, key=len)):
        if time.monotonic() - start > TIME_FOR_ALL - 8:
            break
        text = _ncu(folder, metric)
        if '"ID"' in text:
            rows = [row for row in csv.DictReader(io.StringIO(text[text.index('"ID"') :])) if row["ID"].strip()]
            table[metric] = [[row["Kernel Name"], row.get(metric, "")] for row in rows]
        (out / "ncu.json").write_text(json.dumps(table))
        print(f"{metric} after {time.monotonic() - start:.1f} s", flush=True)


def _ncu(folder: Path, metric: str) -> str:
    command = ["timeout", "-s", "KILL", str(TIME_FOR_ONE), "ncu", "--clock-control", "none", "--csv", "--page", "raw"]
    command += ["--print-units", "base", "--metrics", metric, sys.executable, __file__, "launch", str(folder)]
    return _said(command)


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def collect(out: Path) -> None:
    """Keep what came back: ``counters`` (JSON: case -> metric -> value) and the arrays by case and argument."""
    names = [case.name for case in cluster_cases()]
    table = json.loads((out / "ncu.json").read_text())
    counters: dict[str, dict[str, int]] = {name: {} for name in names}
    for metric, rows in table.items():
        if len(rows) != len(names):
            print(f"{metric}: {len(rows)} launches, {len(names)} cases; left out")
            continue
        for name, (_, value) in zip(names, rows, strict=True):
            counters[name][metric] = int(float(value.replace(",", "")))
    about = {
        "about": "Nsight Compute's counters and the results on one NVIDIA H200, a launch a case",
        "cases": counters,
    }
    with np.load(out / "results.npz") as file:
        arrays = {f"{names[int(key.split()[0])]} {key.split()[1]}": file[key] for key in file.files}
    np.savez_compressed(RECORDING, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)


COMMANDS: dict[str, Callable[..., None]] = {
    "prepare": lambda folder: prepare(Path(folder)),
    "launch": lambda folder: launch(Path(folder), None),
    "profile": lambda folder, out: profile(Path(folder), Path(out)),
    "collect": lambda out: collect(Path(out)),
}

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    COMMANDS[sys.argv[1]](*sys.argv[2:])
