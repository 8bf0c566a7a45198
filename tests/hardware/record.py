"""Record what the hardware counts. Compile where the emulator runs, launch where the GPU is: both see one machine code.

python -m tests.hardware.record prepare FOLDER    # NVRTC, no GPU: one file a program
python -m tests.hardware.record profile FOLDER    # GPU and ncu: FOLDER/ncu.json
python -m tests.hardware.record collect FOLDER    # -> tests/data/ncu_h200.json
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from softlab.compile import Program

#: softlab's counter -> the metrics of Nsight Compute that hold it.
METRICS = {
    "shared_load_instructions": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store_instructions": "smsp__inst_executed_op_shared_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
}
#: Recorded beside them, for reading.
EXTRA_METRICS = {
    "instructions": "smsp__inst_executed.sum",
    "shared_atomic_instructions": "smsp__inst_executed_op_shared_atom.sum",
    "shared_atomic_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
}


def prepare(folder: Path) -> None:
    """Compile every case and write its program."""
    from tests.hardware.cases import all_cases

    folder.mkdir(parents=True, exist_ok=True)
    for number, case in enumerate(all_cases()):
        how = case.launch()
        program = asdict(how.compile())
        program["cubin"] = program["cubin"].hex()
        record = {"case": case.name, "grid": how.grid, "block": how.block, "smem": how.smem, "program": program}
        text = json.dumps(record)
        (folder / f"{number:04d}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    print(number + 1, "programs in", folder)


def launch(folder: Path) -> None:
    """Launch every case once, in order; nothing else may launch a kernel."""
    import cupy

    from softlab.gpu import launch as launch_program
    from tests.hardware.cases import all_cases

    for number, case in enumerate(all_cases()):
        record = _read(folder / f"{number:04d}.json.gz")
        if record["case"] != case.name:
            raise SystemExit(f"program {number} is of case {record['case']!r}, not {case.name!r}: prepare again")
        fields = record["program"]
        program = Program(**{**fields, "cubin": bytes.fromhex(fields["cubin"]), "options": tuple(fields["options"])})
        arguments = [_to_device(cupy, value) for value in case.arguments()]
        launch_program(program, tuple(record["grid"]), tuple(record["block"]), arguments, record["smem"])
    cupy.cuda.Device().synchronize()


def _read(path: Path) -> dict:
    return json.loads(gzip.decompress(path.read_bytes()))


def _to_device(cupy, value):
    """The array on the device, as raw bytes: CuPy has no bfloat16 and a kernel sees only the address."""
    if getattr(value, "ndim", 0) == 0:
        return value
    return cupy.asarray(value.reshape(-1).view("u1"))


def profile(folder: Path) -> None:
    """Run ``launch`` under Nsight Compute, once a metric: so each launch runs once, on the memory it was given."""
    table = {}
    for metric in (METRICS | EXTRA_METRICS).values():
        command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
        command += ["--metrics", metric, sys.executable, "-m", "tests.hardware.record", "launch", str(folder)]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=120).stdout
        rows = [row for row in csv.DictReader(io.StringIO(text[text.index('"ID"') :])) if row["ID"].strip()]
        table[metric] = [[row["Kernel Name"], row[metric]] for row in rows]
    (folder / "ncu.json").write_text(json.dumps(table))


def collect(folder: Path) -> None:
    """Write the recording from what ``profile`` found."""
    from tests.hardware.cases import all_cases

    table = json.loads((folder / "ncu.json").read_text())
    names = [case.name for case in all_cases()]
    for metric, rows in table.items():
        if len(rows) != len(names):
            raise SystemExit(f"{metric}: {len(rows)} launches in the table, {len(names)} cases")

    def number(metric: str, case: int) -> int:
        return int(float(table[metric][case][1].replace(",", "")))

    recording = {
        "about": "Nsight Compute's counters on one NVIDIA H200 (driver 580, CUDA 13.0), a launch a case.",
        "command": "python -m tests.hardware.record prepare | profile | collect",
        "date": datetime.date.today().isoformat(),
        "nvrtc": _read(folder / "0000.json.gz")["program"]["nvrtc"],
        "metrics": METRICS,
        "cases": {
            name: {counter: number(metric, case) for counter, metric in (METRICS | EXTRA_METRICS).items()}
            for case, name in enumerate(names)
        },
    }
    lines = json.dumps(recording, separators=(",", ":")).replace('},"', '},\n"').replace('"cases":{', '"cases":{\n')
    (Path(__file__).parent.parent / "data" / "ncu_h200.json").write_text(lines + "\n")


def main() -> None:
    """One of the four commands, and its folder."""
    command, folder = sys.argv[1:]
    {"prepare": prepare, "launch": launch, "profile": profile, "collect": collect}[command](Path(folder))


if __name__ == "__main__":
    main()
