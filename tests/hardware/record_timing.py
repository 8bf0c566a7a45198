"""Hold the timing model to GPUs: predict first, then measure, then compare.

python -m tests.hardware.record_timing predict SET FILE        # no GPU: commit FILE before the GPU is asked
python -m tests.hardware.record_timing prepare SET FOLDER      # NVRTC, no GPU: one file with every cubin
python -m tests.hardware.record_timing measure SET FOLDER OUT  # GPU; NumPy and CuPy alone: OUT/SET_DEVICE.json
python -m tests.hardware.record_timing record SET FOLDER OUT   # GPU: prepare if need be, then measure to the end
python -m tests.hardware.record_stalls SET FOLDER OUT          # GPU and ncu: why warps stall
python -m tests.hardware.record_timing report SET FILE OUT..   # predictions beside what was measured, by category
python -m tests.hardware.record_timing collect SET [FOLDER]    # from tests/data -> softlab/timing/data/launches.json

SET: "timing" (``timing_cases``), "validation" (``validation_cases``), "third" (``third_cases``), "fourth"
(``fourth_cases``), "fifth" (``fifth_cases``), "sixth" (``sixth_cases``), "seventh" (``seventh_cases``), "eighth"
(``eighth_cases``), "ninth" (``ninth_cases``), "tenth" (``tenth_cases``), "eleventh" (``eleventh_cases``), "twelfth"
(``twelfth_cases``), "thirteenth" (``thirteenth_cases``), "fourteenth" (``fourteenth_cases``), "fifteenth"
(``fifteenth_cases``), "sixteenth" (``sixteenth_cases``), "seventeenth" (``seventeenth_cases``), "eighteenth"
(``eighteenth_cases``), "nineteenth" (``nineteenth_cases``), "twentieth" (``twentieth_cases``), "twenty_first"
(``twenty_first_cases``), "twenty_second" (``twenty_second_cases``), "twenty_third" (``twenty_third_cases``),
"twenty_fourth" (``twenty_fourth_cases``), "twenty_fifth" (``twenty_fifth_cases``) and "twenty_sixth"
(``twenty_sixth_cases``). All but the last three are development sets: the model was changed after it was looked at with
each.

Method of ``measure``: one launch between two CUDA events, minus the same for a kernel that does nothing, which is
measured before each launch. In front of the first event stands a kernel long enough for the host to queue the rest.
"cold": it reads more than L2 holds. "dirty": it writes as much. "warm": the launch itself runs just before. All cases
are measured in turn, then in the reverse order, with REPEATS each time. Of a case all launches of a pass get the same
arrays, so a kernel has to do the same work on what it has left there (``SmallLaunches.again``).

Nothing that disturbs a measurement counts. A repeat does not count if the GPU has passed the first event before the
host has queued the second: the GPU may then have waited for the host. The two passes have to agree, or a third one
agrees with one of them. Else the launch stands in "failed", with the times.
"""

from __future__ import annotations

import argparse
import inspect
import json
import lzma
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from tests.hardware import (
    eighteenth_cases,
    eighth_cases,
    eleventh_cases,
    fifteenth_cases,
    fifth_cases,
    fourteenth_cases,
    fourth_cases,
    nineteenth_cases,
    ninth_cases,
    seventeenth_cases,
    seventh_cases,
    sixteenth_cases,
    sixth_cases,
    tenth_cases,
    third_cases,
    thirteenth_cases,
    timing_cases,
    twelfth_cases,
    twentieth_cases,
    twenty_fifth_cases,
    twenty_first_cases,
    twenty_fourth_cases,
    twenty_second_cases,
    twenty_sixth_cases,
    twenty_third_cases,
    validation_cases,
)
from tests.hardware.timing_cases import DRAM, TimingCase

REPEATS = 7
#: Two passes agree if they differ by less than this share, or by less than these microseconds.
_AGREE, _AGREE_US = 0.05, 0.2
#: Bytes of the buffer that empties L2, which has 50 to 60 MiB.
_FLUSH = 192 << 20
_SECONDS = 80.0
#: What ``prepare`` writes. Ends of the names of records; the last one is for all other GPUs.
_PREPARED, _DEVICES = "programs.json.xz", ("h200", "h100", "gpu")
_HELPERS = """
extern "C" __global__ void read_all(const float4* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 123.0f) out[0] = sum;
}
extern "C" __global__ void write_all(float4* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = make_float4(0, 0, 0, 0);
}
extern "C" __global__ void spin(long long cycles) {
  long long start = clock64();
  while (clock64() - start < cycles) {}
}
extern "C" __global__ void nothing() {}
"""
#: Cycles of the kernel in front of a launch: 200 us. Attempts per repeat that counts.
_SPIN, _TRIES = 400_000, 5
SETS: dict[str, Any] = {"timing": timing_cases, "validation": validation_cases}
SETS |= {"third": third_cases, "fourth": fourth_cases, "fifth": fifth_cases, "sixth": sixth_cases}
SETS |= {"seventh": seventh_cases, "eighth": eighth_cases, "ninth": ninth_cases, "tenth": tenth_cases}
SETS |= {"eleventh": eleventh_cases, "twelfth": twelfth_cases, "thirteenth": thirteenth_cases}
SETS |= {"fourteenth": fourteenth_cases, "fifteenth": fifteenth_cases, "sixteenth": sixteenth_cases}
SETS |= {"seventeenth": seventeenth_cases, "eighteenth": eighteenth_cases, "nineteenth": nineteenth_cases}
SETS |= {"twentieth": twentieth_cases, "twenty_first": twenty_first_cases, "twenty_second": twenty_second_cases}
SETS |= {"twenty_third": twenty_third_cases, "twenty_fourth": twenty_fourth_cases, "twenty_fifth": twenty_fifth_cases}
SETS |= {"twenty_sixth": twenty_sixth_cases}
#: Set -> the least number of its launches, where that is below 120. Such a set is a further test of a version that a
#: larger set has tested. ``Estimate.validated`` and lesson 16 keep the larger one.
SMALL_SETS = {"twenty_fifth": 70}
#: Where predictions and records of all sets are.
DATA = Path(__file__).parents[1] / "data"


def _name(chosen: Any) -> str:
    return next(name for name, one in SETS.items() if one is chosen)


def _shown(chosen: Any) -> str:
    """The name of a set in sentences: "twenty-first"."""
    return _name(chosen).replace("_", "-")


def predict(chosen: Any, path: Path, part: str = "1/1") -> None:
    """Estimate every case, cold and warm. ``part``: "2/3" is the second of three parts."""
    from softlab.timing.validation import MODEL

    written = {}
    number, parts = map(int, str(part).split("/"))
    for case in chosen.cases()[number - 1 :: parts]:
        started = time.perf_counter()
        written[case.name] = {"category": case.category, **_predicted(chosen, case)}
        print(f"{case.name}: {written[case.name]} in {time.perf_counter() - started:.1f} s", flush=True)
    about = "microseconds without what an empty kernel takes; roofline: the arrays' bytes and the pipes' work at peak"
    record = {"about": about, "model": MODEL, "cases": written}
    path.write_text(json.dumps(record, separators=(",", ":")).replace('},"', '},\n"') + "\n")


def _predicted(chosen: Any, case: TimingCase) -> dict[str, Any]:
    import softlab
    from softlab.errors import Error
    from softlab.kernel.estimation import sample_launch

    kernel = softlab.Kernel(chosen.SOURCE.read_text(), case.kernel, file=chosen.FILE)
    arguments = case.make()
    found: dict[str, Any] = {}
    try:
        sampled = sample_launch(kernel, case.grid, case.block, arguments, case.smem, "H200")
        for device, cache in product(("H200", "H100"), ("cold", "warm")):
            e = sampled.estimate(device, cache)
            found[f"{device}.{cache}"] = round(e.microseconds - e.launch_microseconds, 3)
            if (device, cache) == ("H200", "cold"):
                found |= {"bound": e.bound, "stall": next(iter(e.stalls), "")}
                size = sum(a.nbytes for a in arguments if a.ndim)
                work = max(e.use["fma"], e.use["fp64"]) * e.cycles / 1980
                found["roofline"] = round(max(size / 4.8e6, work), 3)
    except Error as error:
        return {"error": str(error)}
    return found


def prepare(chosen: Any, folder: Path) -> None:
    """Compile every kernel of the cases, and the helpers. Kernels that are no templates share one cubin."""
    from softlab.cuda.compile import compile_program

    folder.mkdir(parents=True, exist_ok=True)
    programs: dict[str, Any] = {}
    cubins: dict[str, int] = {}
    sources = [(case.kernel, chosen.SOURCE.read_text()) for case in chosen.cases()]
    sources += [(name, _HELPERS) for name in ("read_all", "write_all", "spin", "nothing")]
    for name, source in sources:
        if name not in programs:
            program = compile_program(source, name, arch="sm_90", options=(), file=chosen.FILE)
            number = cubins.setdefault(program.cubin.hex(), len(cubins))
            programs[name] = (program.entry, number, program.static_smem_bytes)
    prepared = {"programs": programs, "cubins": list(cubins)}
    (folder / _PREPARED).write_bytes(lzma.compress(json.dumps(prepared).encode(), preset=1))


def measure_all(chosen: Any, folder: Path, out: Path) -> None:
    """Measure in one process after another, until one has nothing left to do.

    First compile, unless ``folder`` has the programs: after a change of a kernel it must be a new folder.
    """
    if not (folder / _PREPARED).exists():
        prepare(chosen, folder)
    command = [sys.executable, "-m", "tests.hardware.record_timing", "measure", _name(chosen), str(folder), str(out)]
    done = -1
    while subprocess.run(command, check=False).returncode:
        before, done = done, _done(chosen, out)
        if done == before:
            raise SystemExit("the last process measured nothing: see its error")


def _done(chosen: Any, out: Path) -> int:
    """How many passes and faults the records of a set have."""
    files = [out / f"{_name(chosen)}_{device}.json" for device in _DEVICES]
    records = [json.loads(path.read_text()) for path in files if path.exists()]
    return sum(len(one["faults"]) + sum(map(len, one["passes"].values())) for one in records)


def measure(chosen: Any, folder: Path, out: Path) -> None:
    """Time every case on the current GPU. A launch that fails ends the process; the next one goes on behind it."""
    import cupy

    functions, static_bytes = functions_in(folder)
    timer = _Timer(cupy, functions)
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    nothing = partial(functions["nothing"], (1, 1, 1), (32, 1, 1), ())
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{_name(chosen)}_{short_name(device)}.json"
    record: dict[str, Any] = {
        "about": f"One launch between CUDA events, medians of {REPEATS}, mean of two passes in opposite order, minus "
        "an empty kernel's, which is measured before each launch, and of which the median counts; microseconds. late: "
        "repeats that did not count, since the host had not queued everything",
        "device": device,
        "date": time.strftime("%Y-%m-%d"),
        "command": "python -m tests.hardware.record_timing prepare | measure",
        "driver": cupy.cuda.runtime.driverGetVersion(),
    }
    begun = json.loads(path.read_text()) if path.exists() else {}
    record |= {name: begun.get(name, new) for name, new in (("late", 0), ("passes", {}), ("faults", {}), ("empty", []))}
    empty: list[dict[str, float]] = record["empty"]
    kept: dict[str, list[Any]] = {}
    started, case = time.perf_counter(), None
    try:
        for turn, case in _turns(chosen.cases()):
            if case.kernel in getattr(chosen, "NOT_MEASURED", {}) or case.name in record["faults"]:
                continue
            times = record["passes"].setdefault(case.name, [])
            if len(times) > turn or (turn == 2 and _agreed(times)):
                continue
            if time.perf_counter() - started > _SECONDS:
                raise SystemExit(f"out of time at {case.name}")
            fresh = kept.setdefault(case.name, [on_gpu(cupy, a) for a in case.arguments])
            arguments = [a.copy() for a in fresh]
            launch = launch_of(cupy, case, functions[case.kernel], static_bytes[case.kernel], arguments)
            empty.append(timer.times(nothing))
            times.append(timer.times(launch))
    except Exception as error:  # this process cannot use the GPU any more
        record["faults"][case.name if case else ""] = f"{type(error).__name__}: {error}"[:200]
        raise
    finally:
        record["late"] += timer.late
        record |= settled(record["passes"], empty)
        path.write_text(json.dumps(record, separators=(",", ":")).replace('},"', '},\n"') + "\n")


def _turns(cases: Sequence[TimingCase]) -> Iterator[tuple[int, TimingCase]]:
    """Each case once, then again in the reverse order, then those that need a third time."""
    for turn in range(3):
        yield from ((turn, case) for case in (cases[::-1] if turn else cases))


def settled(passes: dict[str, list[dict[str, float]]], empty: Sequence[dict[str, float]]) -> dict[str, Any]:
    """The times of the launches without those of an empty kernel, and the launches whose passes do not agree."""
    alone = {state: statistics.median(one[state] for one in empty) for state in empty[0]}
    cases, failed = {}, {}
    for name, times in passes.items():
        if (chosen := _agreed(times)) is None:
            failed[name] = f"the passes do not agree: {times}"
        else:
            cases[name] = {
                state: round(statistics.fmean(times[k][state] for k in chosen) - alone[state], 3) for state in alone
            }
    return {"nothing": {state: round(value, 3) for state, value in alone.items()}, "cases": cases, "failed": failed}


def _agreed(times: Sequence[dict[str, float]]) -> tuple[int, int] | None:
    """Two passes that agree in every state of L2, the first such pair."""

    def near(a: float, b: float) -> bool:
        return abs(a - b) < max(_AGREE * min(a, b), _AGREE_US)

    pairs = combinations(range(len(times)), 2)
    return next((pair for pair in pairs if all(near(times[pair[0]][s], times[pair[1]][s]) for s in times[0])), None)


def functions_in(folder: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """The prepared functions on the current GPU, and the bytes of their static shared memory, by name."""
    from cupy.cuda.function import Module

    prepared = json.loads(lzma.decompress((folder / _PREPARED).read_bytes()))
    modules = [Module() for _ in prepared["cubins"]]
    for module, cubin in zip(modules, prepared["cubins"], strict=True):
        module.load(bytes.fromhex(cubin))
    programs = prepared["programs"].items()
    functions = {name: modules[number].get_function(entry) for name, (entry, number, _) in programs}
    return functions, {name: size for name, (_, _, size) in programs}


def short_name(device: str) -> str:
    """The end of a record's name: "h200", "h100" or "gpu"."""
    return next((one for one in _DEVICES if one.upper() in device), _DEVICES[-1])


def launch_of(
    cupy: Any, case: TimingCase, function: Any, static_bytes: int, arguments: Sequence[Any]
) -> Callable[[], Any]:
    """What launches a case on the current GPU."""
    if case.smem + static_bytes > 48 << 10:
        cupy.cuda.driver.funcSetAttribute(function.ptr, 8, case.smem)
    grid, block = ((*shape, 1, 1)[:3] for shape in (case.grid, case.block))
    return partial(function, grid, block, arguments, case.smem)


def on_gpu(cupy: Any, argument: Any) -> Any:
    """An argument of a case as the GPU takes it."""
    if isinstance(argument, tuple):
        return np.dtype(argument[0]).type(argument[1])
    if argument.kind == "zeros":
        return cupy.zeros(argument.size, argument.dtype)
    return cupy.asarray(argument.make())


class _Timer:
    """The helpers' buffers, and the times of one launch in the three states of L2."""

    def __init__(self, cupy: Any, functions: dict[str, Any]) -> None:
        self.cupy, self.functions = cupy, functions
        self.buffer, self.sink = cupy.zeros(_FLUSH // 4, "f4"), cupy.zeros(1, "f4")
        self.late = 0

    def times(self, launch: Callable[[], Any]) -> dict[str, float]:
        """Microseconds between the events, by the state of L2."""
        launch()
        count, grid, block = np.int32(_FLUSH // 16), (264, 1, 1), (1024, 1, 1)
        read, write = self.functions["read_all"], self.functions["write_all"]
        before: dict[str, Callable[[], Any]] = {
            "cold": lambda: (read(grid, block, (self.buffer, self.sink, count)), self._spin()),
            "dirty": lambda: (write(grid, block, (self.buffer, count)), self._spin()),
            "warm": lambda: (self._spin(), launch()),
        }
        return {name: round(self._median(first, launch), 4) for name, first in before.items()}

    def _spin(self) -> None:
        self.functions["spin"]((1, 1, 1), (1, 1, 1), (np.int64(_SPIN),))

    def _median(self, first: Callable[[], Any], launch: Callable[[], Any]) -> float:
        times: list[float] = []
        for _ in range(_TRIES * REPEATS):
            if len(times) == REPEATS:
                break
            if (took := self._once(first, launch)) is None:
                self.late += 1
            else:
                times.append(took)
        if len(times) < REPEATS:
            raise RuntimeError("the host cannot queue a launch while the GPU spins: make _SPIN longer")
        return statistics.median(times)

    def _once(self, first: Callable[[], Any], launch: Callable[[], Any]) -> float | None:
        """Microseconds of one launch; None if the GPU came to it before the host had queued what follows."""
        start, stop = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        first()
        start.record()
        launch()
        stop.record()
        late = start.done
        stop.synchronize()
        return None if late else 1000 * float(self.cupy.cuda.get_elapsed_time(start, stop))


def report(chosen: Any, predictions: Path, *folders: Path) -> None:
    """Errors by category, the worst ten, rank correlation, the roofline's error, block sizes and reasons of stalls."""
    predicted = json.loads(predictions.read_text())["cases"]
    for path in sorted(p for folder in folders for p in folder.glob(f"{_name(chosen)}_h*.json")):
        measured = json.loads(path.read_text())
        device = path.stem.rpartition("_")[2].upper()
        for cache in ("cold", "warm"):
            _print_errors(f"{device}, {cache}", _pairs(predicted, measured["cases"], device, cache))
            _print_series(chosen, predicted, measured["cases"], device, cache)
        for name in sorted(set(predicted) - set(measured["cases"])):
            print("not measured:", name)
    for name, case in predicted.items():
        if "error" in case:
            print("not predicted:", name, case["error"])
    for path in sorted(p for folder in folders for p in folder.glob(f"{_name(chosen)}_stalls_h*.json")):
        _print_stalls(path.stem.rpartition("_")[2].upper(), predicted, json.loads(path.read_text())["cases"])


def collect(chosen: Any, folder: Path = DATA) -> None:
    """Write the launches of a set, predicted and measured, for ``Estimate.validated`` and lesson 16.

    Of a device that has not measured this set, the launches of its last one stay. The errors of all sets in the folder
    are written again. Then say which launches with the largest errors have no explanation yet.
    """
    from softlab.bench import predictions
    from softlab.timing import validation

    record = dict(validation.record()) or {"measured": {}}
    for device, path in _measured(chosen, folder):
        made = json.loads((folder / f"{_name(chosen)}_predicted.json").read_text())
        times = json.loads(path.read_text())
        for cache in ("cold", "warm"):
            pairs = _pairs(made["cases"], times["cases"], device, cache)
            record["measured"][f"{device}.{cache}"] = {
                "set": _shown(chosen),
                "model": made["model"],
                "date": times["date"],
                "refused": [name for name, case in made["cases"].items() if "error" in case],
                "unsettled": [name for name in made["cases"] if name not in times["cases"]],
                "launches": [
                    (name, category, made["cases"][name]["bound"], p, round(m, 4), roof)
                    for name, category, p, m, roof in pairs
                ],
            }
    record["sets"] = [one for each in SETS.values() for one in _errors_of_set(each, folder)]
    validation.RECORD.parent.mkdir(exist_ok=True)
    validation.RECORD.write_text(
        json.dumps(record, separators=(",", ":")).replace("],[", "],\n[").replace("},{", "},\n{")
    )
    validation.record.cache_clear()
    for key in record["measured"]:
        for launch in predictions.unexplained(*key.split(".")):
            print(f"{key}: write in {predictions.MISSES.name} why {launch.name} of the {launch.set} set is missed")


def _measured(chosen: Any, folder: Path) -> list[tuple[str, Path]]:
    """The devices that have measured a set, and their records."""
    return [(path.stem.rpartition("_")[2].upper(), path) for path in sorted(folder.glob(f"{_name(chosen)}_h?00.json"))]


def _errors_of_set(chosen: Any, folder: Path) -> Iterator[dict[str, Any]]:
    """A row per device and state of L2 of a set that no version had seen: its errors."""
    from softlab.bench import predictions

    for device, path in _measured(chosen, folder) if chosen is not timing_cases else ():
        made, times = (json.loads(one.read_text()) for one in (folder / f"{_name(chosen)}_predicted.json", path))
        for cache in ("cold", "warm"):
            pairs = _pairs(made["cases"], times["cases"], device, cache)
            launches = [predictions.PredictedLaunch(name, about, "", *three) for name, about, *three in pairs]
            found, rank = predictions.errors(launches), predictions.rank_correlation(launches)
            yield {
                "set": _shown(chosen), "model": made["model"], "device": device, "cache": cache,
                "launches": found.launches, "median": round(found.median, 6), "tenth": round(found.tenth, 6),
                "rank": round(rank, 6),
            }  # fmt: skip


def _pairs(predicted: dict, measured: dict, device: str, cache: str) -> list[tuple[str, str, float, float, float]]:
    """(name, category, predicted, measured, roofline) in microseconds."""
    found = []
    for name, case in predicted.items():
        if name in measured and "error" not in case:
            took = max(measured[name][cache], 0.05)
            found.append((name, case["category"], case[f"{device}.{cache}"], took, case["roofline"]))
    return found


def _print_errors(title: str, pairs: Sequence[tuple[str, str, float, float, float]]) -> None:
    def line(name: str, chosen: Sequence[tuple[str, str, float, float, float]]) -> None:
        errors = np.array([abs(p - m) / m for _, _, p, m, _ in chosen])
        roof = np.array([abs(r - m) / m for _, _, _, m, r in chosen])
        print(
            f"  {name:<16} {len(chosen):4}  median {np.median(errors):6.1%}  p90 {np.quantile(errors, 0.9):6.1%}  "
            f"roofline {np.median(roof):6.1%}"
        )

    print(title)
    for category in dict.fromkeys(category for _, category, *_ in pairs):
        line(category, [pair for pair in pairs if pair[1] == category])
    line("all", pairs)
    line("not DRAM-bound", [pair for pair in pairs if pair[1] not in DRAM])
    ranks = [np.argsort(np.argsort([pair[k] for pair in pairs])) for k in (2, 3)]
    print(f"  rank correlation {np.corrcoef(*ranks)[0, 1]:.4f}; the ten largest errors (predicted, measured in us):")
    for name, _, p, m, _ in _worst(pairs):
        print(f"    {p / m - 1:+7.0%}  {p:9.2f} {m:9.2f}  {name}")


def _print_series(chosen: Any, predicted: dict, measured: dict, device: str, cache: str) -> None:
    """In how many series the block size that is best by the model is within 3 % of the best one.

    Launches that did not count are left out of their series. A launch without a prediction is never the chosen one.
    """
    found = {}
    for name, launches in chosen.series().items() if hasattr(chosen, "series") else ():
        there = [one for one in launches if one in measured]
        choices = [one for one in there if "error" not in predicted[one]]
        if len(there) > 1:
            best = min(measured[one][cache] for one in there)
            taken = min(choices, key=lambda one: predicted[one][f"{device}.{cache}"], default=None)
            found[name] = measured[taken][cache] / best - 1 if taken else np.inf
    good = sum(lost <= 0.03 for lost in found.values())
    print(f"  best block size within 3 %: {good} of {len(found)} series; others lose:")
    for name, lost in sorted(found.items(), key=lambda one: -one[1])[: len(found) - good]:
        print(f"    {lost:+7.0%}  {name}")


def _print_stalls(device: str, predicted: dict, measured: dict) -> None:
    """In how many launches the first reason of stalls is Nsight Compute's; one without a prediction counts as wrong."""
    wrong = [
        (name, predicted[name].get("stall", "none"), reason)
        for name, reason in ((name, next(iter(shares))) for name, shares in measured.items())
        if predicted[name].get("stall") != reason
    ]
    good = len(measured) - len(wrong)
    print(f"{device}: first reason of stalls as by Nsight Compute: {good} of {len(measured)}; others:")
    for name, model, reason in wrong:
        print(f"    {model} instead of {reason}  {name}")


def _worst(pairs: Sequence[tuple[str, str, float, float, float]]) -> list[tuple[str, str, float, float, float]]:
    return sorted(pairs, key=lambda pair: -abs(pair[2] - pair[3]) / pair[3])[:10]


def main(arguments: Sequence[str] | None = None) -> None:
    """One of the six commands, and its paths."""
    commands: dict[str, Callable[..., None]] = {"predict": predict, "prepare": prepare, "measure": measure}
    commands |= {"record": measure_all, "report": report, "collect": collect}
    parser = argparse.ArgumentParser(prog="python -m tests.hardware.record_timing")
    parser.add_argument("command", choices=commands)
    parser.add_argument("set", choices=SETS)
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="what the command reads or writes")
    given = parser.parse_args(arguments)
    command = commands[given.command]
    try:
        inspect.signature(command).bind(given.set, *given.paths)
    except TypeError as error:
        parser.error(f"{given.command}: {error}")
    command(SETS[given.set], *given.paths)


if __name__ == "__main__":
    main()
