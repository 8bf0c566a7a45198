"""The planted faults and the good kernels under compute-sanitizer, for comparison; and the random programs of
``tests/fuzz`` on the same GPU.

    python -m tests.faults.sanitizer prepare FOLDER      # where NVRTC is: one job per file
    python tests/faults/sanitizer.py record FOLDER OUT   # where the GPU is (NumPy and the CUDA driver are enough)
    python -m tests.faults.sanitizer keep OUT            # writes tests/data from what came back

A job is one launch: cubin or PTX with line information, entry, grid, block and arguments. Each planted fault runs in a
process of its own for each tool, since a fault ends the context; the good kernels share one process per tool.
"""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

#: initcheck watches global memory, whose arrays are all written here.
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
#: Seconds for a process; an infinite loop is killed after the second figure.
LIMIT, LOOP_LIMIT = 25, 12
PARALLEL = 10


# The job's launch: the CUDA driver by ctypes, one allocation per array, of its exact size


class Driver:
    """The CUDA driver, by ctypes; it works on the first GPU."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, name: str, *arguments: Any) -> None:
        code = getattr(self._library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} gives CUDA error {code}")

    def launch(self, job: dict[str, np.ndarray]) -> list[np.ndarray]:
        """Run it; gives the arrays as the kernel left them."""
        about = json.loads(bytes(job["about"]))
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), bytes(job["code"]) + b"\0")
        self("cuModuleGetFunction", ctypes.byref(function), module, about["entry"].encode())
        pointers, values = [], []
        for number in range(about["arguments"]):
            value = job[f"argument {number}"]
            if value.ndim == 0:
                values.append(ctypes.create_string_buffer(value.tobytes(), value.nbytes))
                continue
            pointer = ctypes.c_uint64()
            self("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(value.nbytes))
            self("cuMemcpyHtoD_v2", pointer, ctypes.c_void_p(value.ctypes.data), ctypes.c_size_t(value.nbytes))
            pointers.append((pointer, value))
            values.append(pointer)
        parameters = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        self("cuLaunchKernel", function, *about["grid"], *about["block"], about["smem"], None, parameters, None)
        self("cuCtxSynchronize")
        results = []
        for pointer, value in pointers:
            result = np.empty_like(value)
            self("cuMemcpyDtoH_v2", ctypes.c_void_p(result.ctypes.data), pointer, ctypes.c_size_t(value.nbytes))
            self("cuMemFree_v2", pointer)
            results.append(result)
        self("cuModuleUnload", module)
        return results


def launch(paths: list[str]) -> None:
    """Run the jobs, one after the other."""
    driver = Driver()
    for path in paths:
        with np.load(path) as file:
            driver.launch(dict(file))
        print(f"ran {Path(path).stem}", flush=True)


# Where NVRTC is


def write_job(path: Path, code: bytes, entry: str, grid: tuple, block: tuple, smem: int, arguments: list) -> None:
    """Write one launch to a file."""
    three = {key: (*value, 1, 1)[:3] for key, value in (("grid", grid), ("block", block))}
    about = {**three, "entry": entry, "smem": smem, "arguments": len(arguments)}
    arrays = {f"argument {number}": value for number, value in enumerate(arguments)}
    about_bytes = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez_compressed(path, about=about_bytes, code=np.frombuffer(code, np.uint8), **arrays)


def prepare(folder: Path) -> None:
    """Write the jobs: good-*, planted-* and program-*."""
    from tests.faults.cases import GOOD
    from tests.faults.planted import PLANTED
    from tests.fuzz import programs as fuzz

    def write(name: str, *job: Any) -> None:
        write_job(folder / f"{name}.npz", *job)

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.npz"):
        old.unlink()
    for number, good in enumerate(GOOD.values()):
        program = good.compile()
        write(f"good-{number:02}", program.cubin, program.entry, good.grid, good.block, good.smem, good.arguments())
    for number, planted in enumerate(PLANTED):
        good, program = planted.good, planted.compile()
        end = "-loop" if planted.kind == "infinite-loop" else ""
        name = f"planted-{number:02}{end}"
        write(name, program.cubin, program.entry, good.grid, good.block, good.smem, good.arguments())
    for number, straight in enumerate(fuzz.programs()):
        program = fuzz.compiled(straight.module)
        code = program.cubin or fuzz.alone(straight).encode()
        out = np.zeros((fuzz.RESULTS, straight.threads), np.uint64)
        write(f"program-{number:03}", code, straight.name, (1,), (straight.threads,), 0, [straight.inputs, out])


# Where the GPU is


def record(folder: Path, out: Path) -> None:
    """Run every job; write ``sanitizer.json`` (tool and job -> exit code, start of the log) and ``programs.npz``."""
    out.mkdir(parents=True, exist_ok=True)
    driver, results, failed = Driver(), {}, {}
    for path in sorted(folder.glob("program-*.npz")):
        try:
            with np.load(path) as file:
                results[path.stem] = driver.launch(dict(file))[-1]
        except RuntimeError as error:
            failed[path.stem] = str(error)
    np.savez_compressed(out / "programs.npz", **results)
    print(f"{len(results)} programs; failed: {failed}", flush=True)
    jobs = {kind: sorted(folder.glob(f"{kind}-*.npz")) for kind in ("good", "planted")}
    first = _sanitized("memcheck", jobs["good"][:1], LIMIT)
    print(first, flush=True)
    if "not supported" in first["log"]:
        sys.exit("compute-sanitizer does not run here")
    loops = [job for job in jobs["planted"] if job.stem.endswith("-loop")]
    rest = [job for job in jobs["planted"] if job not in loops]
    work = [(tool, f"good under {tool}", jobs["good"], 4 * LIMIT) for tool in TOOLS]
    work += [(tool, job.stem, [job], LIMIT) for tool in TOOLS for job in rest]
    answers = _all(work)
    (out / "sanitizer.json").write_text(json.dumps(answers))
    answers |= _all([("memcheck", job.stem, [job], LOOP_LIMIT) for job in loops])
    about = {
        "sanitizer": _said(["compute-sanitizer", "--version"]),
        "gpu": _said(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]),
        "date": _said(["date", "+%Y-%m-%d"]),
    }
    (out / "sanitizer.json").write_text(json.dumps({"about": about, **answers}))


def _all(work: list[tuple[str, str, list[Path], int]]) -> dict[str, dict[str, Any]]:
    with ThreadPoolExecutor(PARALLEL) as pool:
        return dict(pool.map(lambda item: (f"{item[0]} {item[1]}", _sanitized(item[0], item[2], item[3])), work))


def _sanitized(tool: str, jobs: list[Path], limit: int) -> dict[str, Any]:
    command = ["timeout", "-s", "KILL", str(limit), "compute-sanitizer", "--tool", tool, "--print-limit", "3"]
    command += [sys.executable, __file__, "launch", *map(str, jobs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    kept = [line for line in done.stdout.splitlines() if line.startswith("=========") or len(jobs) > 1]
    return {"code": done.returncode, "log": "\n".join(kept[: 12 if len(jobs) == 1 else 400])}


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


# What is kept

#: Not of the tool itself: "Target application returned an error" (the launch failed, as the driver says).
_OTHER = "COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|Target application|\\s"
_REPORT = re.compile(rf"^========= (?!{_OTHER})(.+)$", re.MULTILINE)
_LOCATION = re.compile(r"in (?:\S*/)?([\w.]+\.cuh?):(\d+)")


def keep(out: Path) -> None:
    """Condense what came back into tests/data."""
    from tests.faults.cases import GOOD
    from tests.faults.planted import PLANTED
    from tests.fuzz import programs as fuzz

    raw = json.loads((out / "sanitizer.json").read_text())
    data = Path(__file__).parents[1] / "data"
    found = []
    for number, planted in enumerate(PLANTED):
        row: dict[str, Any] = {"kind": planted.kind, "name": planted.name}
        for tool in TOOLS:
            answer = next((raw[key] for key in raw if key.startswith(f"{tool} planted-{number:02}")), None)
            if answer is not None:
                row[tool] = _condensed(answer)
        found.append(row)
    clean = {}
    for tool in TOOLS:
        answer = raw[f"{tool} good under {tool}"]
        ran = answer["log"].count("\nran good-") + answer["log"].startswith("ran good-")
        clean[tool] = {"ran": ran, "of": len(GOOD), **_condensed(answer)}
    record = {"about": raw["about"], "good": clean, "planted": found}
    (data / "sanitizer_h200.json").write_text(json.dumps(record, indent=1) + "\n")
    with np.load(out / "programs.npz") as file:
        kept = {}
        for number, straight in enumerate(fuzz.programs()):
            if f"program-{number:03}" in file:
                whole = file[f"program-{number:03}"]
                for row, kind in enumerate(straight.results):
                    kept[f"{straight.name} {row}"] = fuzz.narrow(whole[row], kind)[straight.lanes]
    about = np.frombuffer(json.dumps({**raw["about"], "digest": fuzz.digest()}).encode(), np.uint8)
    np.savez_compressed(data / "random_programs_h200.npz", about=about, **kept)


def _condensed(answer: dict[str, Any]) -> dict[str, Any]:
    """The first report and the places that it names; "killed" where the time ran out."""
    report = _REPORT.search(answer["log"])
    places = [f"{file}:{line}" for file, line in _LOCATION.findall(answer["log"])]
    kept: dict[str, Any] = {"says": report.group(1) if report else None, "places": list(dict.fromkeys(places))[:4]}
    return {**kept, "killed": True} if answer["code"] in (137, -9) else kept


COMMANDS: dict[str, Callable[..., None]] = {
    "prepare": lambda folder: prepare(Path(folder)),
    "record": lambda folder, out: record(Path(folder), Path(out)),
    "launch": lambda *paths: launch(list(paths)),
    "keep": lambda out: keep(Path(out)),
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
