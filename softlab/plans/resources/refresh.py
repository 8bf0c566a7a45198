"""Bring the shipped table of registers up to date: compile what is stale or missing, in several processes.

    python -m softlab.plans.resources              compile what is stale or missing and write the table
    python -m softlab.plans.resources --check      compile nothing; say what is stale, and exit with 1 if anything is
    python -m softlab.plans.resources --jobs 4     in 4 processes (default: one per CPU core)

A kernel file is stale if its code or the code of a header that it includes has changed. Comments and white space do not
count. The table is written after each kernel file, so that an interrupted run loses one file's work at most.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from softlab.cuda import compile as compiler
from softlab.cuda import digests
from softlab.plans.instantiations import Instantiation, tabulated
from softlab.plans.resources import ARCHITECTURES, FIELDS, REFRESH, cub_version, made_here, shipped, table_path

#: Name expression -> architecture -> figures by name.
Figures = dict[str, dict[str, dict[str, int]]]

# Kernels in one NVRTC program: enough to share the parsing of CUB, few enough to search the log quickly and to keep
# all processes busy to the end.
_BATCH = 64


class Job(NamedTuple):
    """One NVRTC program to compile: kernels of one file for one architecture."""

    file: str
    names: tuple[str, ...]
    arch: str


def current() -> Figures:
    """What of the shipped table belongs to this compiler and these sources."""
    table = shipped()
    if not made_here():
        return {}
    figures: Figures = {}
    for name in table.kernels:
        if table.belongs_to(_file(name)):
            found = {arch: table.find(name, arch) for arch in ARCHITECTURES}
            figures[name] = {
                arch: {field: getattr(taken, field) for field in FIELDS} for arch, taken in found.items() if taken
            }
    return figures


def missing(known: Mapping[str, Mapping[str, object]], wanted: Iterable[Instantiation]) -> list[Job]:
    """The programs to compile so that every wanted kernel has figures for every architecture, file by file."""
    names: dict[tuple[str, str], list[str]] = defaultdict(list)
    for kernel in wanted:
        for arch in ARCHITECTURES:
            if arch not in known.get(kernel.name, {}):
                names[kernel.file, arch].append(kernel.name)
    return [
        Job(file, tuple(listed[start : start + _BATCH]), arch)
        for (file, arch), listed in sorted(names.items())
        for start in range(0, len(listed), _BATCH)
    ]


def measure(jobs: Sequence[Job], processes: int) -> Iterator[tuple[Job, dict[str, dict[str, int]]]]:
    """Compile the jobs: each with name -> figures, as they are ready.

    Raises:
        CompileError: a kernel does not compile, or NVRTC does not know the architecture. The other jobs are cancelled.
    """
    if processes == 1:
        yield from ((job, _compile(job)) for job in jobs)
        return
    # NVRTC keeps one lock per process. A forked process would share the state of a library that is already loaded.
    pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
    try:
        waiting = {pool.submit(_compile, job): job for job in jobs}
        yield from ((waiting[done], done.result()) for done in as_completed(waiting))
    finally:
        pool.shutdown(cancel_futures=True)


def _compile(job: Job) -> dict[str, dict[str, int]]:
    source = compiler.kernel_sources()[job.file]
    return compiler.compile_reports(source, job.names, arch=job.arch, file=job.file)


def refresh(path: Path, jobs: Sequence[Job], known: Figures, processes: int) -> int:
    """Compile the jobs and write the table, after each kernel file and at the end. Returns how many kernels it has."""
    from tqdm import tqdm

    wanted = [kernel.name for kernel in tabulated()]
    figures = {name: dict(by_arch) for name, by_arch in known.items()}
    left = Counter(job.file for job in jobs)
    for job, reports in tqdm(measure(jobs, processes), total=len(jobs), unit="program", disable=not jobs):
        for name, report in reports.items():
            figures.setdefault(name, {})[job.arch] = report
        left[job.file] -= 1
        if not left[job.file]:
            write_table(path, _complete(wanted, figures))
    complete = _complete(wanted, figures)
    write_table(path, complete)
    return len(complete)


def _complete(wanted: Iterable[str], figures: Figures) -> Figures:
    """The wanted kernels that have figures for every architecture."""
    return {name: figures[name] for name in wanted if set(figures.get(name, ())) >= set(ARCHITECTURES)}


def write_table(path: Path, figures: Mapping[str, Mapping[str, Mapping[str, int]]]) -> None:
    """Write name -> architecture -> figures as the table of this machine's compiler and sources."""
    architectures = list(dict.fromkeys(arch for by_arch in figures.values() for arch in by_arch))
    ordered = [arch for arch in ARCHITECTURES if arch in architectures]
    kernels = {}
    for name, by_arch in figures.items():
        rows = [[by_arch[arch][field] for arch in ordered] for field in FIELDS]
        kernels[name] = [row[0] if len(set(row)) == 1 else row for row in rows]
    head = {
        "nvrtc": compiler.nvrtc_version(),
        "cub": cub_version(),
        "sources": {file: digests.file_digest(file) for file in sorted({_file(name) for name in figures})},
        "architectures": ordered,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**head, "kernels": kernels}, separators=(",", ":")) + "\n")


def _file(name: str) -> str:
    """The kernel file of a name expression: each kernel lives in the file of its name."""
    return name.partition("<")[0] + ".cuh"


def stale(jobs: Iterable[Job]) -> list[str]:
    """One line per kernel file that has something to compile."""
    names: dict[str, set[str]] = defaultdict(set)
    architectures: dict[str, set[str]] = defaultdict(set)
    for job in jobs:
        names[job.file].update(job.names)
        architectures[job.file].add(job.arch)
    return [f"{file}: {len(names[file])} kernels for {len(architectures[file])} architectures" for file in names]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns its exit status."""
    parser = argparse.ArgumentParser(prog=REFRESH, description="Bring the shipped table of registers up to date.")
    parser.add_argument("--check", action="store_true", help="say what is stale, compile nothing; exit with 1 if so")
    parser.add_argument("--all", action="store_true", help="compile everything, stale or not")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per CPU core)")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: give 1 or more")
    known = {} if options.all else current()
    jobs = missing(known, tabulated())
    if options.check:
        print("\n".join(stale(jobs)) or f"up to date: {table_path()}")
        return 1 if jobs else 0
    kept = refresh(table_path(), jobs, known, options.jobs)
    print(f"{kept} kernels x {len(ARCHITECTURES)} architectures, {len(jobs)} programs compiled: {table_path()}")
    return 0
