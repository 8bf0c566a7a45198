"""Record what the hardware counts. Compile where the emulator runs, launch where the GPU is: both see one machine code.

python -m tests.hardware.record prepare FOLDER [new]    # NVRTC, no GPU: one file a program; new: without a recording
python -m tests.hardware.record profile FOLDER          # GPU and ncu: FOLDER/ncu.json
python -m tests.hardware.record collect FOLDER          # -> tests/data/ncu_h200.json, beside what is there already
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


RECORDING = Path(__file__).parent.parent / "data" / "ncu_h200.json"


def recording() -> dict:
    """What was recorded: about, date, nvrtc, metrics, and cases: name -> counter -> value."""
    return json.loads(RECORDING.read_text())


def prepare(folder: Path, only_new: bool = False) -> None:
    """Compile every case, or those that have no recording, and write their programs."""
    from tests.hardware.cases import all_cases

    known = recording()["cases"] if only_new else ()
    cases = [case for case in all_cases() if case.name not in known]
    folder.mkdir(parents=True, exist_ok=True)
    for number, case in enumerate(cases):
        how = case.launch()
        program = asdict(how.compile())
        program["cubin"] = program["cubin"].hex()
        record = {"case": case.name, "grid": how.grid, "block": how.block, "smem": how.smem, "program": program}
        text = json.dumps(record)
        (folder / f"{number:04d}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    print(len(cases), "programs in", folder)


def launch(folder: Path) -> None:
    """Launch every case once, in order; nothing else may launch a kernel."""
    import cupy

    from softlab.gpu import launch as launch_program
    from tests.hardware.cases import all_cases

    cases = {case.name: case for case in all_cases()}
    for path in sorted(folder.glob("*.json.gz")):
        record = _read(path)
        fields = record["program"]
        program = Program(**{**fields, "cubin": bytes.fromhex(fields["cubin"]), "options": tuple(fields["options"])})
        arguments = [_to_device(cupy, value) for value in cases[record["case"]].arguments()]
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
    """Enter what ``profile`` found in the recording."""
    table = json.loads((folder / "ncu.json").read_text())
    records = [_read(path) for path in sorted(folder.glob("*.json.gz"))]
    for metric, rows in table.items():
        if len(rows) != len(records):
            raise SystemExit(f"{metric}: {len(rows)} launches in the table, {len(records)} cases")

    def number(metric: str, case: int) -> int:
        return int(float(table[metric][case][1].replace(",", "")))

    before = recording() if RECORDING.is_file() else {"cases": {}}
    written = {
        "about": "Nsight Compute's counters on one NVIDIA H200 (driver 580, CUDA 13.0), a launch a case.",
        "command": "python -m tests.hardware.record prepare | profile | collect",
        "date": datetime.date.today().isoformat(),
        "nvrtc": records[0]["program"]["nvrtc"],
        "metrics": METRICS,
        "cases": before["cases"]
        | {
            record["case"]: {counter: number(metric, case) for counter, metric in (METRICS | EXTRA_METRICS).items()}
            for case, record in enumerate(records)
        },
    }
    lines = json.dumps(written, separators=(",", ":")).replace('},"', '},\n"').replace('"cases":{', '"cases":{\n')
    RECORDING.write_text(lines + "\n")


def main() -> None:
    """One of the four commands, and its folder."""
    command, folder, *rest = sys.argv[1:]
    if command == "prepare":
        prepare(Path(folder), only_new=rest == ["new"])
    else:
        {"launch": launch, "profile": profile, "collect": collect}[command](Path(folder))


if __name__ == "__main__":
    main()
