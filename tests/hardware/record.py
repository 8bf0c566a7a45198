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
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from softlab.cuda.compile import Program

#: softlab's counter -> the metric of Nsight Compute that holds it.
METRICS = {
    "shared_load_instructions": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store_instructions": "smsp__inst_executed_op_shared_st.sum",
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
}
#: Wavefronts come by instruction: Nsight Compute's own count for each line of SASS, here summed over loads and stores.
#: The counters of the load-store pipe hold waits as well: where other warps delay it (with a timing of its own in
#: every run) they go up to 10 % higher, as ``l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld`` does by the same.
WAVEFRONTS = "memory_l1_wavefronts_shared"
WAVEFRONT_OPCODES = {"shared_load_wavefronts": ("LDS", "LDSM", "LD"), "shared_store_wavefronts": ("STS", "STSM", "ST")}
#: Recorded beside them, for reading.
EXTRA_METRICS = {
    "pipe_shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "pipe_shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
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

    from softlab.cuda.gpu import launch as launch_program
    from tests.hardware.cases import all_cases

    cases = {case.name: case for case in all_cases()}
    for path in sorted(folder.glob("*.json.gz")):
        record = _read(path)
        arguments = [_to_device(cupy, value) for value in cases[record["case"]].arguments()]
        launch_program(_program(record), tuple(record["grid"]), tuple(record["block"]), arguments, record["smem"])
    cupy.cuda.Device().synchronize()


def _read(path: Path) -> dict:
    return json.loads(gzip.decompress(path.read_bytes()))


def _program(record: dict) -> Program:
    fields = record["program"]
    return Program(**{**fields, "cubin": bytes.fromhex(fields["cubin"]), "options": tuple(fields["options"])})


def _to_device(cupy, value):
    """The array on the device, as raw bytes: CuPy has no bfloat16 and a kernel sees only the address."""
    if getattr(value, "ndim", 0) == 0:
        return value
    return cupy.asarray(value.reshape(-1).view("u1"))


def profile(folder: Path) -> None:
    """Run ``launch`` under Nsight Compute, once a metric: so each launch runs once, on the memory it was given."""
    table = {}
    for metric in (METRICS | EXTRA_METRICS).values():
        text = _ncu(folder, "raw", metric)
        rows = [row for row in csv.DictReader(io.StringIO(text[text.index('"ID"') :])) if row["ID"].strip()]
        table[metric] = [[row["Kernel Name"], row[metric]] for row in rows]
    table[WAVEFRONTS] = wavefronts_by_opcode(_ncu(folder, "source", WAVEFRONTS))
    (folder / "ncu.json").write_text(json.dumps(table))


def _ncu(folder: Path, page: str, metric: str) -> str:
    command = ["ncu", "--clock-control", "none", "--csv", "--page", page, "--print-units", "base", "--metrics", metric]
    command += [sys.executable, "-m", "tests.hardware.record", "launch", str(folder)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=120).stdout


def wavefronts_by_opcode(page: str) -> list[list]:
    """The source page -> [the kernel's opcodes, {opcode: wavefronts}] in the order printed, repeats and all."""
    launches: list[list] = []
    column = 0
    for row in csv.reader(io.StringIO(page)):
        if row[:1] == ["Address"]:
            launches.append(["", {}])
            column = row.index(WAVEFRONTS) if WAVEFRONTS in row else 0
        elif row and row[0].startswith("0x"):
            found = re.match(r"\s*(?:@\S+\s+)?([A-Z0-9]+)", row[1])
            opcode = found.group(1) if found else ""
            launches[-1][0] += f"{opcode} "
            if column and row[column]:
                by_opcode = launches[-1][1]
                by_opcode[opcode] = by_opcode.get(opcode, 0) + int(row[column].replace(",", ""))
    return launches


def _of_each(launches: list[list], programs: list[Program]) -> list[dict[str, int]]:
    """The wavefronts of each launch of these programs, in order.

    Nsight Compute prints kernels in an order of its own and some twice; a kernel is known by its opcodes.
    """
    from softlab.cuda.disassembly import disassemble

    printed: dict[str, list[dict[str, int]]] = {}
    for opcodes, by_opcode in launches:
        printed.setdefault(opcodes, []).append(by_opcode)
    wanted = ["".join(f"{i.opcode} " for i in disassemble(program).kernel.instructions) for program in programs]
    result = []
    for position, opcodes in enumerate(wanted):
        found, times = printed[opcodes], wanted.count(opcodes)
        repeats = len(found) // times
        each_repeated, all_repeated = found[::repeats], found[:times]
        number = wanted[:position].count(opcodes)
        if [launch for launch in each_repeated for _ in range(repeats)] == found:
            result.append(each_repeated[number])
        elif all_repeated * repeats == found:
            result.append(all_repeated[number])
        else:
            raise SystemExit(f"launches of {programs[position].name} cannot be told apart")
    return result


def collect(folder: Path) -> None:
    """Enter what ``profile`` found in the recording."""
    table = json.loads((folder / "ncu.json").read_text())
    records = [_read(path) for path in sorted(folder.glob("*.json.gz"))]
    by_opcode = _of_each(table.pop(WAVEFRONTS), [_program(record) for record in records])
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
        "metrics": METRICS | {counter: f"{WAVEFRONTS} of {', '.join(o)}" for counter, o in WAVEFRONT_OPCODES.items()},
        "cases": before["cases"]
        | {
            record["case"]: {counter: number(metric, case) for counter, metric in (METRICS | EXTRA_METRICS).items()}
            | {
                counter: sum(by_opcode[case].get(opcode, 0) for opcode in opcodes)
                for counter, opcodes in WAVEFRONT_OPCODES.items()
            }
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
