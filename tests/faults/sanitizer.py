"""All cases of ``tests/faults/registry.py`` under compute-sanitizer's four tools, for comparison.

    python -m tests.faults.sanitizer prepare FOLDER      # where NVRTC is: one job per case
    python tests/faults/sanitizer.py run FOLDER OUT      # where the GPU is (NumPy and the CUDA driver are enough)
    python -m tests.faults.sanitizer collect OUT FOLDER  # writes tests/data/sanitizer_h200.json

``prepare FOLDER newer`` takes the cases that the record lacks, and ``collect OUT FOLDER newer`` adds them to it.

A job is one launch: a cubin with line information, entry, grid, block and arguments. Several jobs share a process. When
a fault ends the process or its CUDA context, the jobs after it run in a new process, so that no fault hides another.
Cases that do not end on a GPU are left out, and refused launches, of which the tools say nothing.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

#: initcheck watches global memory, whose arrays are all written here.
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
#: Processes at once, jobs per process at first, and seconds: for one job, for a process, for everything.
PARALLEL, BATCH = 12, 20
JOB_LIMIT, PROCESS_LIMIT, WHOLE_LIMIT = 10, 90, 160
#: Seconds after a launch, in which the tool writes its reports.
PAUSE = 0.1
#: Without the first a fault ends the CUDA context and with it the process. The second leaves out the host's frames.
GO_ON, FRAMES = ("--destroy-on-device-error", "kernel"), ("--show-backtrace", "device")
COMMAND = "compute-sanitizer"
RECORD = Path(__file__).parents[1] / "data" / "sanitizer_h200.json"


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
        arrays = [job[f"buffer {number}"] for number in range(about["buffers"])]
        pointers = []
        for array in arrays:
            pointer = ctypes.c_uint64()
            self("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(array.nbytes))
            self("cuMemcpyHtoD_v2", pointer, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))
            pointers.append(pointer)
        values = [_value(argument, pointers) for argument in about["arguments"]]
        parameters = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        shape = (*about["grid"], *about["block"], about["smem"], None, parameters)
        if about["cooperative"]:
            self("cuLaunchCooperativeKernel", function, *shape)
        else:
            self("cuLaunchKernel", function, *shape, None)
        self("cuCtxSynchronize")
        results = []
        for pointer, array in zip(pointers, arrays, strict=True):
            result = np.empty_like(array)
            self("cuMemcpyDtoH_v2", ctypes.c_void_p(result.ctypes.data), pointer, ctypes.c_size_t(array.nbytes))
            self("cuMemFree_v2", pointer)
            results.append(result)
        self("cuModuleUnload", module)
        return results


def _value(argument: dict[str, Any], pointers: Sequence[ctypes.c_uint64]) -> Any:
    """A parameter's bytes: of a number, or of an address in a buffer."""
    if "bytes" in argument:
        data = bytes.fromhex(argument["bytes"])
        return ctypes.create_string_buffer(data, len(data))
    return ctypes.c_uint64(pointers[argument["buffer"]].value + argument["offset"])


def launch(paths: Sequence[str]) -> None:
    """Run the jobs, one after the other. A job that hangs ends the process, and so does a context that is lost."""
    signal.alarm(3 * JOB_LIMIT)
    driver = Driver()
    for path in paths:
        name = Path(path).stem
        print(f"\nbegin {name}", flush=True)
        signal.alarm(JOB_LIMIT)
        try:
            with np.load(path) as file:
                driver.launch(dict(file))
            driver("cuCtxSynchronize")
        except RuntimeError as error:
            print(f"\nfailed {name}: {error}", flush=True)
        time.sleep(PAUSE)
        print(f"\nend {name}", flush=True)
        try:
            driver("cuCtxSynchronize")
        except RuntimeError:
            os._exit(3)
    signal.alarm(0)


# Where NVRTC is


def write_job(
    path: Path,
    code: bytes,
    entry: str,
    grid: tuple,
    block: tuple,
    smem: int,
    arguments: list,
    *,
    cooperative: bool = False,
) -> None:
    """Write one launch to a file. ``arguments`` are arrays, NumPy scalars, and None for a null pointer.

    Arrays that share memory share it on the GPU, too.
    """
    buffers, places = _buffers([a for a in arguments if isinstance(a, np.ndarray) and a.ndim])
    described = []
    for value in arguments:
        if value is None:
            described.append({"bytes": bytes(8).hex()})
        elif isinstance(value, np.ndarray) and value.ndim:
            described.append(places.pop(0))
        else:
            described.append({"bytes": np.asarray(value).tobytes().hex()})
    three = {key: (*value, 1, 1)[:3] for key, value in (("grid", grid), ("block", block))}
    about = {**three, "entry": entry, "smem": smem, "cooperative": cooperative}
    about |= {"arguments": described, "buffers": len(buffers)}
    about_bytes = np.frombuffer(json.dumps(about).encode(), np.uint8)
    kept = {f"buffer {number}": buffer for number, buffer in enumerate(buffers)}
    np.savez_compressed(path, about=about_bytes, code=np.frombuffer(code, np.uint8), **kept)


def _buffers(arrays: list[np.ndarray]) -> tuple[list[np.ndarray], list[dict[str, int]]]:
    """The memory of the arrays in their order, and where each array is in it. Arrays that overlap are in one buffer."""
    spans: list[list[int]] = []
    for array in sorted(arrays, key=lambda a: a.ctypes.data):
        begin, end = array.ctypes.data, array.ctypes.data + array.nbytes
        if spans and begin < spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([begin, end])
    buffers: list[np.ndarray] = []
    number_of: dict[int, int] = {}
    places = []
    for array in arrays:
        begin, end = next(span for span in spans if span[0] <= array.ctypes.data < span[1])
        if begin not in number_of:
            number_of[begin] = len(buffers)
            buffers.append(array if end - begin == array.nbytes else np.zeros(end - begin, np.uint8))
        number, offset = number_of[begin], array.ctypes.data - begin
        if buffers[number] is not array:
            buffers[number].view(np.uint8).reshape(-1)[offset : offset + array.nbytes] = array.reshape(-1).view(
                np.uint8
            )
        places.append({"buffer": number, "offset": offset})
    return buffers, places


def job_name(number: int) -> str:
    """The name of a job. Its source has the same name, so that a report names its job."""
    return f"case_{number:04}"


def _left_out(case: Any) -> str | None:
    """Why a case is not run on the GPU."""
    if case.refusal is not None:
        return "refused"
    return "does not end" if case.hangs else None


def prepare(folder: Path, newer: bool = False) -> None:
    """Write the jobs, and ``cases.json``: the name of each job's case, and why a case has no job.

    ``newer``: only for cases that the record lacks.
    """
    from softlab import TensorMap
    from softlab.cuda.structs import Struct
    from softlab.emulator.machine.arguments import scalar_for_driver
    from softlab.kernel import Kernel
    from tests.faults.registry import good_cases, planted_cases

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.npz"):
        old.unlink()
    index: dict[str, dict[str, str]] = {}
    known = json.loads(RECORD.read_text())["cases"] if newer else {}
    for number, case in enumerate(planted_cases() + good_cases()):
        if case.name in known:
            continue
        if reason := _left_out(case):
            index[case.name] = {"left out": reason}
            continue
        name = job_name(number)
        program = case.compile(f"{name}.cu")
        assert program.cubin is not None
        arguments = case.arguments()
        other = next((value for value in arguments if isinstance(value, Struct | TensorMap)), None)
        if other is not None:
            index[case.name] = {"left out": "a tensor map" if isinstance(other, TensorMap) else "a structure by value"}
            continue
        if any(isinstance(value, int | float) for value in arguments):
            image = Kernel.from_program(program)._emulated.program.image
            arguments = [
                scalar_for_driver(image, place, value) if isinstance(value, int | float) else value
                for place, value in enumerate(arguments)
            ]
        write_job(
            folder / f"{name}.npz",
            program.cubin,
            program.entry,
            case.grid,
            case.block,
            case.smem,
            arguments,
            cooperative=case.cooperative,
        )
        index[case.name] = {"job": name, "file": case.file}
    (folder / "cases.json").write_text(json.dumps(index))
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{len(list(folder.glob('*.npz')))} jobs, {size / 2**20:.1f} MiB")


# Where the GPU is


@dataclass
class Work:
    """Jobs that one process runs under one tool. ``answers``: what came of those that ran."""

    tool: str
    jobs: list[str]
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)


def run(folder: Path, out: Path, whole_limit: float = WHOLE_LIMIT) -> None:
    """Run every job under every tool; write ``sanitizer.json``: job -> tool -> the log and how the job ended.

    What the time does not suffice for is left out, and said. The file is written every few seconds.
    """
    out.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    jobs = sorted(path.stem for path in folder.glob("case_*.npz"))
    options = _options(folder, jobs[0])
    waiting = [Work(tool, jobs[at : at + BATCH]) for tool in TOOLS for at in range(0, len(jobs), BATCH)]
    answers: dict[str, dict[str, Any]] = {job: {} for job in jobs}
    written = begin
    with ThreadPoolExecutor(PARALLEL) as pool:
        running: set = set()
        while waiting or running:
            while waiting and len(running) < PARALLEL and time.monotonic() - begin < whole_limit:
                limit = min(PROCESS_LIMIT, begin + whole_limit + 5 - time.monotonic())
                running.add(pool.submit(_process, folder, waiting.pop(0), options, limit))
            if not running:
                break
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for work in (future.result() for future in done):
                for job, answer in work.answers.items():
                    answers[job][work.tool] = answer
                rest = [job for job in work.jobs if job not in work.answers]
                if rest:
                    waiting.insert(0, Work(work.tool, rest))
            if time.monotonic() - written > 5:
                written = time.monotonic()
                _write(out, answers, options, waiting)
    _write(out, answers, options, waiting)
    missing = sum(len(work.jobs) for work in waiting)
    print(f"{time.monotonic() - begin:.0f} s; {len(jobs)} jobs under {len(TOOLS)} tools; not run: {missing}")


def _options(folder: Path, job: str) -> tuple[str, ...]:
    """The options that this version of the tool knows."""
    for options in (GO_ON + FRAMES, GO_ON, FRAMES, ()):
        answer = _process(folder, Work("memcheck", [job]), options, PROCESS_LIMIT).answers.get(job, {"ended": False})
        print(options, answer, flush=True)
        if answer["ended"]:
            return options
    sys.exit(f"{COMMAND} does not run here")


def _process(folder: Path, work: Work, options: Sequence[str], limit: float) -> Work:
    """Run the jobs in one process. Where it ends early, only the jobs up to there have an answer.

    A job that the limit of the whole process cuts off has none.
    """
    command = [COMMAND, "--tool", work.tool, "--print-limit", "10000", *options]
    command += [sys.executable, __file__, "launch", *(str(folder / f"{job}.npz") for job in work.jobs)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=max(limit, 0.1))
        work.answers |= answers_of(output, work.jobs)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        answers = answers_of(output, work.jobs)
        work.answers |= {job: answer for job, answer in answers.items() if answer["ended"]}
    return work


_MARK = re.compile(r"^(begin|failed|end) (case_\d+)(?:: (.*))?$")
_JOB_FILE = re.compile(r"(case_\d+)\.cu:\d+")
#: The first line of a report, and not of the tool itself or of a failed call of the driver.
_OTHER = r"COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|Target application|Program hit|Error: process|\s|$"
_REPORT = re.compile(rf"^========= (?!{_OTHER})\S")
_KEPT_LINES = 12


def answers_of(output: str, jobs: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The answer for each job that began, from what the process wrote: its reports, and whether it ended.

    A report belongs to the job whose source it names, otherwise to the job that ran when it was written.
    """
    answers: dict[str, dict[str, Any]] = {}
    now: str | None = None
    blocks: list[tuple[str | None, list[str]]] = []
    for line in output.splitlines():
        if mark := _MARK.match(line):
            what, job, error = mark.groups()
            now = job
            answer = answers.setdefault(job, {"ended": False, "error": None, "log": ""})
            answer["ended"] |= what == "end"
            answer["error"] = answer["error"] or error
        elif _REPORT.match(line):
            blocks.append((now, [line]))
        elif line.startswith("=========") and blocks and blocks[-1][1]:
            blocks[-1][1].append(line)
    if not answers:
        text = "\n".join(output.splitlines()[-_KEPT_LINES:])
        return {jobs[0]: {"ended": False, "error": "the process ended before its first job", "log": text}}
    for at, lines in blocks:
        named = _JOB_FILE.search("\n".join(lines))
        job = named.group(1) if named and named.group(1) in answers else at
        if job in answers and answers[job]["log"].count("\n") < _KEPT_LINES:
            answers[job]["log"] += "\n".join(lines[:_KEPT_LINES]) + "\n"
    return answers


def _write(out: Path, answers: dict, options: Sequence[str], waiting: Sequence[Work]) -> None:
    about = {
        "sanitizer": _said([COMMAND, "--version"]).splitlines()[-1:],
        "gpu": _said(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]),
        "date": _said(["date", "+%Y-%m-%d"]),
        "command": " ".join([COMMAND, "--tool TOOL", *options]),
        "seconds per case": JOB_LIMIT,
        "not run": sum(len(work.jobs) for work in waiting),
    }
    text = json.dumps({"about": about, "answers": answers})
    partial = out / "sanitizer.json.part"
    partial.write_text(text)
    partial.replace(out / "sanitizer.json")


def _said(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""


# What is kept

_FIRST = re.compile(r"^========= (.+)$", re.MULTILINE)
_LOCATION = re.compile(r"in (?:\S*/)?([\w.]+\.cuh?):(\d+)")


def collect(out: Path, folder: Path, record: Path = RECORD, *, newer: bool = False) -> None:
    """Condense what came back into tests/data. ``folder``: the prepared jobs; ``newer``: the record keeps its cases."""
    raw = json.loads((out / "sanitizer.json").read_text())
    index = json.loads((folder / "cases.json").read_text())
    cases: dict[str, dict[str, Any]] = {}
    for name, entry in index.items():
        if "left out" in entry:
            cases[name] = {"left out": entry["left out"]}
            continue
        answers = raw["answers"].get(entry["job"], {})
        cases[name] = {tool: condensed(answers[tool], entry) for tool in TOOLS if tool in answers}
    about = {**raw["about"], "sanitizer": "".join(raw["about"]["sanitizer"])}
    if newer:
        before = json.loads(record.read_text())
        more = f"; {len(cases)} newer cases: {about['gpu']}, {about['date']}, {about['sanitizer']}"
        about = {**before["about"], "gpu": before["about"]["gpu"] + more, "not run": about["not run"]}
        cases = {**before["cases"], **cases}
    lines = [f" {json.dumps(name)}: {json.dumps(cases[name])}" for name in cases]
    record.write_text('{"about": ' + json.dumps(about) + ',\n"cases": {\n' + ",\n".join(lines) + "\n}}\n")


def condensed(answer: dict[str, Any], entry: dict[str, str]) -> dict[str, Any]:
    """The first report and the places that the reports name, as far as they were kept; "ended" if the job did not end.

    Places in the job's source get the name of the case's file.
    """
    report = _FIRST.search(answer["log"])
    own = f"{entry['job']}.cu"
    places = [f"{entry['file'] if file == own else file}:{line}" for file, line in _LOCATION.findall(answer["log"])]
    kept: dict[str, Any] = {"says": report.group(1).replace(own, entry["file"]) if report else None}
    if places:
        kept["places"] = list(dict.fromkeys(places))[:6]
    if not answer["ended"]:
        kept["ended"] = False
    return kept


COMMANDS: dict[str, Callable[..., None]] = {
    "prepare": lambda folder, *newer: prepare(Path(folder), newer == ("newer",)),
    "run": lambda folder, out: run(Path(folder), Path(out)),
    "launch": lambda *paths: launch(list(paths)),
    "collect": lambda out, folder, *newer: collect(Path(out), Path(folder), newer=newer == ("newer",)),
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
