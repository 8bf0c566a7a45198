"""What following the advice gains: the counter, the estimate and the time on a GPU, for each pair of ``advised_cases``.

python -m tests.workbench.followed estimate RECORD         # no GPU: counters of small launches, estimates of large ones
python -m tests.workbench.followed prepare FILE            # NVRTC, no GPU: cubins and launches
python -m tests.workbench.followed measure FILE OUT.json   # on the GPU; NumPy and CuPy alone
python -m tests.workbench.followed collect RECORD OUT.json # the times into the record
python -m tests.workbench.followed report RECORD           # the table, and the share of the pairs that gain

RECORD is tests/data/advice_h200.json. ``measure``: a group of launches between two CUDA events, first of the kernel
with the problem, then of its repaired form, in turn; the medians of REPEATS groups.
"""

from __future__ import annotations

import ast
import json
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

REPEATS = 11
#: Launches between two events take about this long, in microseconds, and there are at most this many.
_MICROSECONDS, _MOST = 400.0, 20
#: Values that arrays on the GPU repeat.
_DRAWN = 1 << 20


def all_pairs() -> list[tuple[Any, Any]]:
    """The pairs of all rules, in the order of the rules."""
    from softlab.workbench.advice import rules
    from tests.workbench.advised_cases import pairs

    return [pair for rule in rules() for pair in pairs(rule)]


def estimate(record: Path) -> None:
    """Counters of the small launches, and estimates of the large ones."""
    from softlab.timing.validation import MODEL
    from softlab.workbench.advice import advice
    from softlab.workbench.launches import recorded
    from tests.workbench.test_advised import cost

    found: dict[str, Any] = {"model": MODEL, "pairs": {}}
    for pair in all_pairs():
        before, after = (recorded(case.launch(), check="collect") for case in pair)
        said = [one for one in advice(before) if one.rule == pair[0].rule]
        counters = dict.fromkeys(one.counter for one in said)
        row: dict[str, Any] = {"rule": pair[0].rule, "repaired": pair[1].name}
        row["time_asked"] = not all(one.hidden for one in said)
        row["counters"] = {name: [cost(run, name) for run in (before, after)] for name in counters}
        row["estimate"] = [round(_estimated(case), 3) for case in pair]
        found["pairs"][pair[0].name] = row
        print(pair[0].name, row, flush=True)
    _write(record, found)


def _estimated(case: Any) -> float:
    launch = case.launch(large=True)
    return launch.kernel.estimate(launch.grid, launch.block, launch.args, smem=launch.smem).microseconds


def prepare(file: Path) -> None:
    """The cubins and the large launches: arrays by maker, shape and dtype, numbers by value and dtype."""
    made: dict[str, Any] = {}
    for pair in all_pairs():
        for case in pair:
            launch, request = case.launch(), case.request(large=True)
            program = launch.kernel.program
            made[case.name] = {
                "entry": program.entry, "cubin": program.cubin.hex(), "static": program.static_smem_bytes,
                "grid": [int(one) for one in request.grid.split(",")], "block": list(launch.block),
                "smem": launch.smem, "args": _specified(request.args, launch),
            }  # fmt: skip
    cubins = list(dict.fromkeys(one["cubin"] for one in made.values()))
    for one in made.values():
        one["cubin"] = cubins.index(one["cubin"])
    names = [[a.name, b.name, "layout" in b.keys] for a, b in all_pairs()]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"cubins": cubins, "kernels": made, "pairs": names}))


def _specified(args: str, launch: Any) -> list[Any]:
    names = re.sub(r"(\w+)=", r"_\1=", args)  # a parameter may be called as a word of Python, such as `in`
    call: Any = ast.parse(f"f({names})", mode="eval").body
    given = {one.arg.removeprefix("_"): one.value for one in call.keywords}
    found: list[Any] = []
    types = launch.kernel.program
    for name, small in zip(launch.names, launch.args, strict=True):
        node = given[name]
        if isinstance(node, ast.Call):
            shape = eval(ast.unparse(node.args[0]))
            found.append([ast.unparse(node.func), int(np.prod(shape)), small.dtype.name])
        else:
            found.append(["number", eval(ast.unparse(node)), _scalar(types, len(found))])
    return found


def _scalar(program: Any, number: int) -> str:
    from softlab.kernel.c_types import declared_types

    declared = (declared_types(program) or ())[number]
    return {"float": "float32", "double": "float64"}.get(declared.element, "int32")


def measure(file: Path, out: Path) -> None:
    """Time every pair on the current GPU, and compare the results."""
    import cupy

    made = json.loads(file.read_text())
    modules = [_module(cubin) for cubin in made["cubins"]]
    times: dict[str, Any] = {}
    for names in made["pairs"]:
        kernels = [made["kernels"][name] for name in names[:2]]
        args = [_arrays(cupy, one["args"]) for one in kernels]
        launches = [_launch(cupy, modules, one, given) for one, given in zip(kernels, args, strict=True)]
        for one in launches:
            one()
        row: dict[str, Any] = {} if names[2] else {"apart": _apart(cupy, *args)}
        row["microseconds"] = [round(one, 2) for one in _timed(cupy, launches)]
        times[names[0]] = row
        print(names[0], row, flush=True)
        del args, launches
        cupy.get_default_memory_pool().free_all_blocks()
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    versions = {"cupy": cupy.__version__, "driver": cupy.cuda.runtime.driverGetVersion()}
    out.write_text(json.dumps({"device": device, "date": time.strftime("%Y-%m-%d"), **versions, "times": times}))


def _module(cubin: str) -> Any:
    from cupy.cuda.function import Module

    module = Module()
    module.load(bytes.fromhex(cubin))
    return module


def _arrays(cupy: Any, specified: list[Any]) -> list[Any]:
    found: list[Any] = []
    for maker, value, dtype in specified:
        kind = np.dtype(dtype)
        if maker == "number":
            found.append(kind.type(value))
        elif maker == "zeros":
            found.append(cupy.zeros(value, kind))
        elif maker == "arange":
            found.append(cupy.arange(value, dtype=kind))
        else:
            drawn = np.random.default_rng(0)
            some = drawn.standard_normal(_DRAWN) if kind.kind == "f" else drawn.integers(0, 100, _DRAWN)
            found.append(cupy.resize(cupy.asarray(some.astype(kind)), (value,)))
    return found


def _launch(cupy: Any, modules: list[Any], kernel: dict[str, Any], args: list[Any]) -> Callable[[], None]:
    function = modules[kernel["cubin"]].get_function(kernel["entry"])
    if kernel["smem"] + kernel["static"] > 48 << 10:
        cupy.cuda.driver.funcSetAttribute(function.ptr, 8, kernel["smem"])
    grid, block = ((*kernel[name], 1, 1)[:3] for name in ("grid", "block"))
    return lambda: function(tuple(grid), tuple(block), tuple(args), kernel["smem"])


def _timed(cupy: Any, launches: list[Callable[[], None]]) -> list[float]:
    """Microseconds per launch of each: the median over groups that come in turn."""
    counts = [max(1, min(_MOST, int(_MICROSECONDS / _group(cupy, one, 2)))) for one in launches]
    found: list[list[float]] = [[] for _ in launches]
    for _ in range(REPEATS):
        for number, (one, count) in enumerate(zip(launches, counts, strict=True)):
            found[number].append(_group(cupy, one, count))
    return [statistics.median(one) for one in found]


def _group(cupy: Any, launch: Callable[[], None], count: int) -> float:
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    launch()
    start.record()
    for _ in range(count):
        launch()
    stop.record()
    stop.synchronize()
    return 1000 * float(cupy.cuda.get_elapsed_time(start, stop)) / count


def _apart(cupy: Any, old: list[Any], new: list[Any]) -> float:
    """The largest difference of the results beside their largest value."""
    worst = 0.0
    for a, b in zip(old, new, strict=True):
        if isinstance(a, cupy.ndarray):
            x, y = a.astype(cupy.float64), b.astype(cupy.float64)
            worst = max(worst, float(abs(x - y).max() / max(float(abs(x).max()), 1e-30)))
    return worst


def collect(record: Path, measured: Path) -> None:
    """The times into the record."""
    found, new = json.loads(record.read_text()), json.loads(measured.read_text())
    for name, row in new.pop("times").items():
        found["pairs"][name]["gpu"] = row["microseconds"]
    found |= new
    _write(record, found)


def _write(record: Path, found: dict[str, Any]) -> None:
    about = "before and after the advice was followed; estimate and gpu: microseconds of the large launch"
    command = "python -m tests.workbench.followed estimate | prepare | measure | collect"
    found = {"about": about, "command": command, **found}
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in found["pairs"].items())
    head = json.dumps({name: value for name, value in found.items() if name != "pairs"})
    record.write_text(f'{head[:-1]}, "pairs": {{\n{rows}\n}}}}\n')


def report(record: Path) -> None:
    """What gains, by rule."""
    pairs = json.loads(record.read_text())["pairs"]
    for name, row in pairs.items():
        shown = {key: f"{row[key][1] / row[key][0]:.3f}" for key in ("estimate", "gpu") if key in row}
        print(f"{row['rule']:<18} {name:<28} {row['counters']} {shown}")
    for rule in (*dict.fromkeys(row["rule"] for row in pairs.values()), ""):
        mine = [row for row in pairs.values() if rule in ("", row["rule"])]
        words = [f"{rule or 'all':<18} {len(mine):3} pairs"]
        falls = sum(all(b < a for a, b in row["counters"].values()) for row in mine)
        words.append(f"counter falls {falls}")
        for key, least in (("estimate", 1.0), ("gpu", 1.0)):
            words.append(f"{key} falls {sum(row[key][1] < least * row[key][0] for row in mine if key in row)}")
        print(", ".join(words))


def main() -> None:
    """One of the commands, and its paths."""
    command, *paths = sys.argv[1:]
    commands: dict[str, Callable[..., None]] = {
        "estimate": estimate, "prepare": prepare, "measure": measure, "collect": collect, "report": report,
    }  # fmt: skip
    commands[command](*map(Path, paths))


if __name__ == "__main__":
    main()
