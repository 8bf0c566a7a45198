"""Draw the lengths, plan and compile: ``prepare FOLDER [SEED]``. It needs no GPU."""

from __future__ import annotations

import json
import lzma
import multiprocessing
import re
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from softlab.bench.record.sweep.cells import SEED, Job, SweepCell, job_of, workloads
from softlab.cuda.compile import nvrtc_version, sources_digest
from softlab.operators.executors import program_of
from softlab.plans import Plan, plan

#: The policies that are measured.
POLICIES = ("fast",)
#: Plans are made for this GPU. They fit each GPU of its architecture that has as many SMs.
DEVICE = "H200"


def prepare(folder: Path, seed: int = SEED) -> None:
    """Write ``plan.json`` (the jobs) and ``programs.json.xz`` (the machine code) into a folder."""
    cells = [SweepCell(work, policy, torch) for work, torch in workloads(seed) for policy in POLICIES]
    write(folder, cells, seed)


def write(folder: Path, cells: Iterable[SweepCell], seed: int) -> None:
    """Plan and compile the cells, in several processes, and write the folder."""
    cells = list(cells)
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        plans = pool.map(_plan, cells, chunksize=4)
        planned = [(made, cell.policy, cell.torch) for made, cell in zip(plans, cells, strict=True)]
        kernels = {(made.file, made.name): made for made, _, _ in planned}
        programs = list(pool.map(_machine_code, kernels.values(), chunksize=4))
    numbers = {key: number for number, key in enumerate(kernels)}
    jobs = [job_of(made, label, numbers[made.file, made.name], torch) for made, label, torch in planned]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "programs.json.xz").write_bytes(lzma.compress(json.dumps(programs).encode(), preset=6))
    about = {"nvrtc": nvrtc_version(), "sources": sources_digest(), "seed": seed, "jobs": [asdict(job) for job in jobs]}
    (folder / "plan.json").write_text(json.dumps(about))
    size = sum((folder / name).stat().st_size for name in ("programs.json.xz", "plan.json"))
    print(f"{len(jobs)} jobs, {len(programs)} kernels, {size >> 10} KiB")


def _plan(cell: SweepCell) -> Plan:
    """A cell's plan; planning compiles its kernel."""
    work = cell.work
    return plan(work.rows, work.cols, work.dtype, op=work.op, policy=cell.policy, device=DEVICE)


def _machine_code(made: Plan) -> dict[str, Any]:
    """A plan's program as a launch needs it. Of its PTX only the size of its clusters is kept."""
    program = program_of(made)
    cluster = re.search(r"\.reqnctapercluster[^\n]*", program.ptx)
    return {
        "name": program.name, "file": program.file, "arch": program.arch, "options": program.options,
        "nvrtc": program.nvrtc, "entry": program.entry, "ptx": cluster[0] if cluster else "",
        "cubin": program.cubin.hex(), "registers": program.registers, "local_bytes": program.local_bytes,
        "static_smem_bytes": program.static_smem_bytes, "spill_bytes": program.spill_bytes,
    }  # fmt: skip


def read(folder: Path) -> tuple[dict[str, Any], list[Job], list[dict[str, Any]]]:
    """What :func:`write` wrote: what it says of itself, the jobs, the programs' fields."""
    about = json.loads((folder / "plan.json").read_text())
    jobs = [Job(**{**job, "block": tuple(job["block"])}) for job in about.pop("jobs")]
    return about, jobs, json.loads(lzma.decompress((folder / "programs.json.xz").read_bytes()))
