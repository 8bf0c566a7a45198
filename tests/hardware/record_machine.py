"""Record atomics and executed instructions on a GPU, each instruction of the machine code by itself.

python -m tests.hardware.record_machine predict FILE       # what the emulator counts: commit it before the GPU is asked
python -m tests.hardware.record_machine prepare FOLDER     # NVRTC, no GPU: one file per launch
python -m tests.hardware.record_machine profile FOLDER OUT # GPU and ncu: OUT/raw.csv, OUT/source.csv, OUT/launched.txt
python -m tests.hardware.record_machine collect OUT        # -> tests/data/ncu_machine_h200.json
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from softlab.cuda.compile import Program

#: softlab's counter -> the metric of Nsight Compute that holds it.
METRICS = {
    "instructions": "smsp__inst_executed.sum",
    "shared_atomic_instructions": "smsp__inst_executed_op_shared_atom.sum",
    "global_atomic_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "global_atomic_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "global_reduction_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "global_reduction_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "shared_load_instructions": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store_instructions": "smsp__inst_executed_op_shared_st.sum",
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
}
#: Wavefronts of atomics on shared memory. It counts one for each atomic on a generic address, too.
PIPE_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"
#: Recorded beside them, for reading, where the GPU has them.
EXTRA_METRICS = (
    "smsp__thread_inst_executed.sum",
    "smsp__inst_executed_op_shared_atom_dot_alu.sum",
    "smsp__inst_executed_op_shared_atom_dot_cas.sum",
    "smsp__inst_executed_op_global_atom.sum",
    "smsp__inst_executed_op_global_red.sum",
    "smsp__inst_executed_op_generic_atom_dot_alu.sum",
    "smsp__inst_executed_op_generic_atom_dot_cas.sum",
    PIPE_WAVEFRONTS,
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom_dot_alu.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom_dot_cas.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom_dot_alu.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom_dot_cas.sum",
    "lts__t_sectors_op_atom.sum",
    "lts__t_sectors_op_red.sum",
)
#: By instruction: Nsight Compute's own counts for each line of SASS.
BY_INSTRUCTION = ("inst_executed", "thread_inst_executed", "memory_l1_wavefronts_shared")
RECORDING = Path(__file__).parent.parent / "data" / "ncu_machine_h200.json"
_SECONDS = 280


def recording() -> dict:
    """What was recorded: about, date, nvrtc, metrics, and cases: name -> counter -> value."""
    return json.loads(RECORDING.read_text())


def predict(path: Path) -> None:
    """What the emulator counts, for every case."""
    from tests.hardware.compare import emulate
    from tests.hardware.machine_cases import machine_cases

    counted = {}
    for case in machine_cases():
        run = emulate(case)
        wanted = (*METRICS, "shared_atomic_wavefronts")
        counted[case.name] = {name: run.counters[name] for name in wanted} | {"estimated": run.estimated_instructions}
    path.write_text(_lines(counted))


def _lines(cases: dict) -> str:
    return json.dumps(cases, separators=(",", ":")).replace('},"', '},\n"') + "\n"


def prepare(folder: Path) -> None:
    """Compile every case and write its program and its arguments."""
    from tests.hardware.machine_cases import machine_cases

    folder.mkdir(parents=True, exist_ok=True)
    for number, case in enumerate(machine_cases()):
        how = case.launch()
        program = asdict(how.compile())
        program["cubin"] = program["cubin"].hex()
        program["source"] = ""
        record = {"case": case.name, "grid": how.grid, "block": how.block, "smem": how.smem, "program": program}
        (folder / f"{number:04d}.json.gz").write_bytes(gzip.compress(json.dumps(record).encode(), mtime=0))
        arguments = [a.reshape(-1).view("u1") if a.ndim else a for a in case.arguments()]
        np.savez_compressed(folder / f"{number:04d}.npz", *arguments)


def launch(folder: Path) -> None:
    """Launch every case once, in order; nothing else may launch a kernel."""
    import cupy

    from softlab.cuda.gpu import launch as launch_program
    from softlab.errors import Error

    launched = []
    for path in sorted(folder.glob("*.json.gz")):
        record = _read(path)
        with np.load(str(path).replace(".json.gz", ".npz")) as file:
            arguments = [cupy.asarray(a) if a.ndim else a[()] for a in (file[name] for name in file.files)]
        try:
            launch_program(_program(record), tuple(record["grid"]), tuple(record["block"]), arguments, record["smem"])
        except Error as error:
            print(record["case"], error, file=sys.stderr, flush=True)
            continue
        cupy.cuda.Device().synchronize()
        launched.append(record["case"])
    (folder / "launched.txt").write_text("\n".join(launched))


def _read(path: Path) -> dict:
    return json.loads(gzip.decompress(path.read_bytes()))


def _program(record: dict) -> Program:
    fields = record["program"]
    return Program(**{**fields, "cubin": bytes.fromhex(fields["cubin"]), "options": tuple(fields["options"])})


def profile(folder: Path, out: Path) -> None:
    """Run ``launch`` under Nsight Compute: once for the totals, once for the counts by instruction."""
    names = subprocess.run(["ncu", "--query-metrics", "--chip", "gh100"], stdout=subprocess.PIPE, text=True).stdout
    known = set(re.findall(r"^(\w+__\w+)", names, re.MULTILINE))
    (out / "names.txt").write_text("\n".join(sorted(n for n in known if "atom" in n or "_red" in n)))
    wanted = [*METRICS.values(), *(m for m in EXTRA_METRICS if m.removesuffix(".sum") in known)]
    if not known:
        wanted = list(METRICS.values())
    for page, metrics in (("raw", wanted), ("source", BY_INSTRUCTION)):
        text = _ncu(folder, page, metrics)
        (out / f"{page}.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
        print(page, len(text), "characters", flush=True)
    (out / "launched.txt").write_text((folder / "launched.txt").read_text())


def _ncu(folder: Path, page: str, metrics: Sequence[str]) -> str:
    command = ["ncu", "--clock-control", "none", "--csv", "--page", page, "--print-units", "base"]
    command += ["--metrics", ",".join(metrics), sys.executable, "-m", "tests.hardware.record_machine"]
    done = subprocess.run([*command, "launch", str(folder)], stdout=subprocess.PIPE, text=True, timeout=_SECONDS)
    if done.returncode:
        print(done.stdout[-3000:], flush=True)
    return done.stdout


def collect(out: Path) -> None:
    """Enter the totals that ``profile`` found in the recording. Cases that it did not run keep theirs."""
    text = gzip.decompress((out / "raw.csv.gz").read_bytes()).decode()
    rows = [row for row in csv.DictReader(io.StringIO(text[text.index('"ID"') :])) if row["ID"].strip()]
    names = (out / "launched.txt").read_text().split("\n")
    if len(rows) != len(names):
        raise SystemExit(f"{len(rows)} launches in the table, {len(names)} cases")
    metrics = METRICS | {"shared_atomic_wavefronts": PIPE_WAVEFRONTS}
    written = {
        "about": "Nsight Compute's counters on one NVIDIA H200 (driver 580, CUDA 13.0), a launch per case.",
        "command": "python -m tests.hardware.record_machine prepare | profile | collect",
        "date": datetime.date.today().isoformat(),
        "metrics": metrics,
        "cases": recording()["cases"]
        | {
            name: {counter: int(float(row[metric].replace(",", ""))) for counter, metric in metrics.items()}
            for name, row in zip(names, rows, strict=True)
        },
    }
    lines = json.dumps(written, separators=(",", ":")).replace('},"', '},\n"').replace('"cases":{', '"cases":{\n')
    RECORDING.write_text(lines + "\n")


def main() -> None:
    """One of the five commands, and its paths."""
    command, *paths = sys.argv[1:]
    commands = {"predict": predict, "prepare": prepare, "launch": launch, "profile": profile, "collect": collect}
    commands[command](*map(Path, paths))


if __name__ == "__main__":
    main()
