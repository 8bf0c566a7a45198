"""The random programs of ``tests/fuzz`` on a GPU: what they compute is kept for comparison.

python -m tests.fuzz.on_gpu prepare FOLDER      # where NVRTC is
python -m tests.fuzz.on_gpu record FOLDER OUT   # where the GPU is (NumPy and the CUDA driver are enough)
python -m tests.fuzz.on_gpu keep OUT            # writes tests/data/random_programs_h200.npz
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.faults.sanitizer import Driver, write_job


def prepare(folder: Path) -> None:
    """Write one job per program."""
    from tests.fuzz import programs as fuzz

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("program-*.npz"):
        old.unlink()
    for number, straight in enumerate(fuzz.programs()):
        program = fuzz.compiled(straight.module)
        code = program.cubin or fuzz.alone(straight).encode()
        out = np.zeros((fuzz.RESULTS, straight.threads), np.uint64)
        path = folder / f"program-{number:03}.npz"
        write_job(path, code, straight.name, (1,), (straight.threads,), 0, [straight.inputs, out])


def record(folder: Path, out: Path) -> None:
    """Run every job; write ``programs.npz``."""
    out.mkdir(parents=True, exist_ok=True)
    driver, results, failed = Driver(), {}, {}
    for path in sorted(folder.glob("program-*.npz")):
        try:
            with np.load(path) as file:
                results[path.stem] = driver.launch(dict(file))[-1]
        except RuntimeError as error:
            failed[path.stem] = str(error)
    about = {
        "gpu": _said(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]),
        "date": _said(["date", "+%Y-%m-%d"]),
    }
    np.savez_compressed(out / "programs.npz", about=np.frombuffer(json.dumps(about).encode(), np.uint8), **results)
    print(f"{len(results)} programs; failed: {failed}", flush=True)


def keep(out: Path) -> None:
    """Keep the results of the lanes that a program compares."""
    from tests.fuzz import programs as fuzz

    kept = {}
    with np.load(out / "programs.npz") as file:
        about = {**json.loads(bytes(file["about"])), "digest": fuzz.digest()}
        for number, straight in enumerate(fuzz.programs()):
            if f"program-{number:03}" in file:
                whole = file[f"program-{number:03}"]
                for row, kind in enumerate(straight.results):
                    kept[f"{straight.name} {row}"] = fuzz.narrow(whole[row], kind)[straight.lanes]
    path = Path(__file__).parents[1] / "data" / "random_programs_h200.npz"
    np.savez_compressed(path, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **kept)


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


COMMANDS: dict[str, Callable[..., None]] = {"prepare": prepare, "record": record, "keep": keep}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*map(Path, sys.argv[2:]))
