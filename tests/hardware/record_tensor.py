"""Record what a GPU counts of tensor instructions and of the gallery's kernels with tensor maps, and what they compute.

python -m tests.hardware.record_tensor prepare FOLDER      # NVRTC, no GPU: one program per launch
python -m tests.hardware.record_tensor profile FOLDER OUT  # GPU and ncu: OUT has metrics.txt, raw.csv.gz, results.npz
python -m tests.hardware.record_tensor collect OUT [OUT]   # -> tests/data/ncu_tensor_h200.json
"""

from __future__ import annotations

import csv
import datetime
import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import softlab
from softlab.cuda.compile import compile_program, kernel_folder
from tests.hardware import group_matrices, matrix_cases
from tests.hardware.record_machine import METRICS as MACHINE_METRICS
from tests.hardware.record_machine import _program, _read

#: The parts of the pipe of tensor cores.
PIPES = ("hmma", "imma", "dmma", "gmma")
#: softlab's counter -> the metric of Nsight Compute that holds it.
METRICS = MACHINE_METRICS | {
    "tensor_instructions": "sm__inst_executed_pipe_tensor.sum",
    **{f"tensor_{op}_instructions": f"sm__inst_executed_pipe_tensor_op_{op}.sum" for op in PIPES},
}
#: Instructions HFMA2.MMA on the pipe of tensor cores. They multiply no matrices, so softlab's counters leave them out.
HFMA2 = "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum"
#: Further metrics that are recorded where the GPU has them.
_FURTHER = re.compile(r"(sm|smsp)__(inst_executed|ops_path).*(tensor|gmma|mma|tma|ldsm|uniform)")
RECORDING = Path(__file__).parent.parent / "data" / "ncu_tensor_h200.json"
_ARCH = "sm_90a"
_SECONDS = 100
#: What makes an array one that the kernel gets.
Convert = Callable[[np.ndarray], Any]


def recording() -> dict:
    """What was recorded: about, date, metrics, and cases: name -> counter -> value, and the digest of the result."""
    return json.loads(RECORDING.read_text())


@dataclass(frozen=True)
class TensorCase:
    """A launch. ``arguments``: what makes the kernel's arrays -> (its arguments, the arrays that it writes)."""

    name: str
    source: str
    kernel: str
    grid: tuple[int, ...]
    block: int
    smem: int
    arguments: Callable[[Convert], tuple[list, list]]

    def compile(self) -> softlab.cuda.compile.Program:
        """The program for ``_ARCH``."""
        return compile_program(self.source, self.kernel, arch=_ARCH)

    def emulate(self) -> tuple[softlab.Run, np.ndarray]:
        """Run it on the emulator. Returns the run and its result."""
        arguments, written = self.arguments(lambda array: array)
        kernel = softlab.Kernel.from_program(self.compile())
        run = kernel.run(self.grid, self.block, tuple(arguments), smem=self.smem, check=False)
        return run, written[0]


def _gallery(name: str) -> str:
    return (kernel_folder() / "gallery" / f"{name}.cu").read_text()


def attention(heads: int, length: int, causal: bool) -> TensorCase:
    """The gallery's attention."""

    def arguments(convert: Convert) -> tuple[list, list]:
        rng = np.random.default_rng(length)
        inputs = [convert(rng.standard_normal((heads, length, 64)).astype(np.float16)) for _ in range(3)]
        output = convert(np.zeros((heads, length, 64), np.float16))
        maps = [softlab.TensorMap(x, (1, 64, 64), "128B") for x in (*inputs, output)]
        return [*maps, np.int32(length), np.float32(0.125), np.int32(causal)], [output]

    name = f"flash attention {heads} x {length}{' causal' if causal else ''}"
    grid = -(-length // 64), heads
    return TensorCase(name, _gallery("flash_attention"), "flash_attention", grid, 128, 5 * 8192, arguments)


def _product() -> TensorCase:
    def arguments(convert: Convert) -> tuple[list, list]:
        rng = np.random.default_rng(0)
        a, b = (convert(rng.standard_normal((128, 128)).astype(np.float16)) for _ in range(2))
        c = convert(np.zeros((128, 128), np.float32))
        return [a, b, c, np.int32(128), np.int32(128)], [c]

    return TensorCase("tensor product", _gallery("tensor_product"), "tensor_product", (2, 2), 128, 0, arguments)


def _transpose() -> TensorCase:
    def arguments(convert: Convert) -> tuple[list, list]:
        x = convert(np.arange(40 * 68, dtype=np.float32).reshape(40, 68))
        y = convert(np.zeros((68, 40), np.float32))
        return [softlab.TensorMap(array, (32, 32), "128B") for array in (x, y)], [y]

    name = "tensor_map_transpose"
    return TensorCase("tensor map transpose", _gallery(name), name, (3, 2), 64, 0, arguments)


def _warp_product(form: str) -> TensorCase:
    """``mma.sync``: 3 blocks of 2 warps multiply 20 fragments."""
    number = matrix_cases.forms().index(form)

    def arguments(convert: Convert) -> tuple[list, list]:
        parts = [np.ascontiguousarray(matrix_cases.by_register(p)) for p in matrix_cases.registers(form, number, 20)]
        kinds, counts = matrix_cases.kinds_of(form), matrix_cases.counts_of(form)
        held = counts[0] // matrix_cases.per_register(kinds[0])
        d = convert(np.zeros((20, held, 32), np.uint64 if "f64" in form else np.uint32))
        return [*map(convert, parts), d, np.int32(20)], [d]

    return TensorCase(f"mma {form}", matrix_cases.source(form, number), f"multiply{number}", (3,), 64, 0, arguments)


def _group_product(form: str) -> TensorCase:
    """``wgmma``: 3 blocks multiply 5 times."""
    number = group_matrices.forms().index(form)

    def arguments(convert: Convert) -> tuple[list, list]:
        given, _ = group_matrices.inputs(form, number, 5)
        arrays = [convert(array) for array in given]
        return [*arrays, np.int32(5)], [arrays[2]]

    return TensorCase(f"wgmma {form}", group_matrices.source(form), "multiply", (3,), 128, 0, arguments)


def _forms_of_mma() -> Iterator[str]:
    """A form per shape and type of ``mma.sync``."""
    seen = set()
    for form in matrix_cases.forms():
        shape, kinds = form.split(".")[0], matrix_cases.kinds_of(form)
        key = shape, *({"u8": "s8", "u4": "s4", "e5m2": "e4m3"}.get(kind, kind) for kind in kinds[:3]), "xor" in form
        if key not in seen:
            seen.add(key)
            yield form


def tensor_cases() -> list[TensorCase]:
    """Every case; names are unique."""
    gallery = [_product(), _transpose(), attention(1, 64, False), attention(2, 200, False), attention(2, 200, True)]
    groups = [f for f in group_matrices.forms() if "u8" not in f and f.count("e5m2") != 1 and ".satfinite" not in f]
    return [*gallery, *map(_warp_product, _forms_of_mma()), *map(_group_product, groups)]


def prepare(folder: Path) -> None:
    """Compile every case."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, case in enumerate(tensor_cases()):
        program = asdict(case.compile())
        record = {"case": case.name, "program": program | {"cubin": program["cubin"].hex(), "source": ""}}
        (folder / f"{number:04d}.json.gz").write_bytes(gzip.compress(json.dumps(record).encode(), mtime=0))


def launch(folder: Path) -> None:
    """Launch every case once, in order; nothing else may launch a kernel."""
    import cupy

    from softlab.cuda.gpu import launch as launch_program

    results = {}
    cases = {case.name: case for case in tensor_cases()}
    for path in sorted(folder.glob("*.json.gz")):
        record = _read(path)
        case = cases[record["case"]]
        arguments, written = case.arguments(cupy.asarray)
        launch_program(_program(record), case.grid, (case.block,), arguments, case.smem)
        cupy.cuda.Device().synchronize()
        results[case.name] = written[0].get()
        print("launched", case.name, file=sys.stderr, flush=True)
    np.savez_compressed(folder / "results.npz", **results)


def profile(folder: Path, out: Path) -> None:
    """Run ``launch`` under Nsight Compute, with all metrics of tensor instructions that it knows."""
    query = ["ncu", "--query-metrics", "--chip", "gh100"]
    names = subprocess.run(query, stdout=subprocess.PIPE, text=True, timeout=60).stdout
    (out / "metrics.txt").write_text(names)
    known = re.findall(r"^(\w+__\w+)", names, re.MULTILINE)
    further = [f"{name}.sum" for name in known if _FURTHER.match(name) and not name.endswith(("_pct", "_ratio"))]
    wanted = dict.fromkeys((*METRICS.values(), *further))
    print(len(wanted), "metrics", flush=True)
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    command += ["--metrics", ",".join(wanted), sys.executable, "-m", "tests.hardware.record_tensor"]
    done = subprocess.run([*command, "launch", str(folder)], stdout=subprocess.PIPE, text=True, timeout=_SECONDS)
    (out / "raw.csv.gz").write_bytes(gzip.compress(done.stdout.encode(), mtime=0))
    (out / "results.npz").write_bytes((folder / "results.npz").read_bytes())


def digest(array: np.ndarray) -> str:
    """Of an array's bytes."""
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


def collect(*outs: Path) -> None:
    """Enter what ``profile`` found in the recording, beside what is there already."""
    cases = recording()["cases"] if RECORDING.is_file() else {}
    for out in outs:
        text = gzip.decompress((out / "raw.csv.gz").read_bytes()).decode()
        rows = [row for row in csv.DictReader(io.StringIO(text[text.index('"ID"') :])) if row["ID"].strip()]
        with np.load(out / "results.npz") as file:
            digests = {name: digest(file[name]) for name in file.files}
        if len(rows) != len(digests):
            raise SystemExit(f"{len(rows)} launches in the table, {len(digests)} cases")
        for (name, found), row in zip(digests.items(), rows, strict=True):
            counters = {counter: int(float(row[metric].replace(",", ""))) for counter, metric in METRICS.items()}
            for counter in ("tensor_instructions", "tensor_hmma_instructions"):
                counters[counter] -= int(float(row[HFMA2].replace(",", "")))
            cases[name] = counters | {"digest": found}
    written = {
        "about": "Nsight Compute's counters on one NVIDIA H200 (driver 580, CUDA 13.0), one launch per case. "
        f"The digest is that of the result's bytes. From tensor_instructions and tensor_hmma_instructions {HFMA2} is "
        "subtracted.",
        "command": "python -m tests.hardware.record_tensor prepare | profile | collect",
        "date": datetime.date.today().isoformat(),
        "metrics": METRICS,
        "cases": cases,
    }
    lines = json.dumps(written, separators=(",", ":")).replace('},"', '},\n"').replace('"cases":{', '"cases":{\n')
    RECORDING.write_text(lines + "\n")


def main() -> None:
    """One of the four commands, and its paths."""
    command, *paths = sys.argv[1:]
    {"prepare": prepare, "launch": launch, "profile": profile, "collect": collect}[command](*map(Path, paths))


if __name__ == "__main__":
    main()
