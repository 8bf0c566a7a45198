"""Record what the hardware counts. Compile where the emulator runs, launch where the GPU is: both see one machine code.

    python -m tests.hardware.record prepare FOLDER     # NVRTC, no GPU: one file a program
    ncu --clock-control none --csv --page raw --print-units base --metrics $(python -m tests.hardware.record metrics) \\
        python -m tests.hardware.record launch FOLDER > FOLDER/ncu.csv
    python -m tests.hardware.record collect FOLDER     # -> tests/data/ncu_h200.json
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
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
EXTRA_METRICS = (
    "smsp__inst_executed.sum",
    "smsp__inst_executed_op_shared_atom.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "smsp__sass_inst_executed_op_shared_ld.sum",
    "smsp__sass_inst_executed_op_shared_st.sum",
    "smsp__sass_inst_executed_op_global_ld.sum",
    "smsp__sass_inst_executed_op_global_st.sum",
)


def prepare(folder: Path) -> None:
    """Compile every case and write its program."""
    from tests.hardware.cases import all_cases

    folder.mkdir(parents=True, exist_ok=True)
    for number, case in enumerate(all_cases()):
        record = asdict(case.compile())
        record["cubin"] = record["cubin"].hex()
        text = json.dumps({"case": case.name, "program": record})
        (folder / f"{number:04d}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    print(number + 1, "programs in", folder)


def launch(folder: Path) -> None:
    """Launch every case once, in order; nothing else may launch a kernel."""
    import cupy

    from softlab.gpu import launch as launch_program
    from tests.hardware.cases import all_cases

    for number, case in enumerate(all_cases()):
        record = _read(folder / f"{number:04d}.json.gz")
        assert record["case"] == case.name
        fields = record["program"]
        program = Program(**{**fields, "cubin": bytes.fromhex(fields["cubin"]), "options": tuple(fields["options"])})
        arguments = [_to_device(cupy, value) for value in case.arguments()]
        launch_program(program, case.grid, case.block, arguments, case.smem)
    cupy.cuda.Device().synchronize()


def _read(path: Path) -> dict:
    return json.loads(gzip.decompress(path.read_bytes()))


def _to_device(cupy, value):
    """The array on the device, as raw bytes: CuPy has no bfloat16 and a kernel sees only the address."""
    if getattr(value, "ndim", 0) == 0:
        return value
    return cupy.asarray(value.reshape(-1).view("u1"))


def collect(folder: Path) -> None:
    """Read Nsight Compute's table and write the recording."""
    from tests.hardware.cases import all_cases

    text = (folder / "ncu.csv").read_text()
    table = text[text.index('"ID"') :]
    rows = [row for row in csv.DictReader(io.StringIO(table)) if row["ID"].strip()]
    cases = all_cases()
    if len(rows) != len(cases):
        raise SystemExit(f"{len(rows)} launches in the table, {len(cases)} cases")

    def number(row: dict, metric: str) -> float | None:
        value = row.get(metric, "").replace(",", "")
        return float(value) if value else None

    programs = sorted(folder.glob("[0-9]*.json.gz"))
    recording = {
        "about": "Nsight Compute's counters on one NVIDIA H200, a launch a case (commands: tests/hardware/record.py).",
        "date": datetime.date.today().isoformat(),
        "nvrtc": _read(programs[0])["program"]["nvrtc"],
        "metrics": METRICS,
        "cases": {
            case.name: {
                **{name: number(row, metric) for name, metric in METRICS.items()},
                "extra": {metric: number(row, metric) for metric in EXTRA_METRICS},
            }
            for case, row in zip(cases, rows, strict=True)
        },
    }
    lines = json.dumps(recording, separators=(",", ":")).replace('},"', '},\n"').replace('"cases":{', '"cases":{\n')
    (Path(__file__).parent.parent / "data" / "ncu_h200.json").write_text(lines + "\n")


def main() -> None:
    """One of the four commands."""
    command, *rest = sys.argv[1:]
    if command == "metrics":
        print(",".join([*METRICS.values(), *EXTRA_METRICS]))
    else:
        {"prepare": prepare, "launch": launch, "collect": collect}[command](Path(rest[0]))


if __name__ == "__main__":
    main()
