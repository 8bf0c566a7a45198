"""Random kernels of CUDA C++ on a GPU and in the emulator: where do their results differ?

python -m tests.fuzz.differential prepare FOLDER FIRST MODULES   # compile them; twelve kernels per module
python -m tests.fuzz.differential record FOLDER OUT              # where the GPU is (NumPy and CuPy are enough)
python -m tests.fuzz.differential compare FOLDER OUT [WAY]       # one line per result that differs

WAY is "none" or "all" (``compiled`` of Kernel.run); without it, what runs often is compiled.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.fuzz.inputs import words

if TYPE_CHECKING:
    from softlab.cuda.compile import Program
    from tests.fuzz.kernels import RandomKernel

#: Processes that record at the same time, modules of each, and the seconds after which one is ended.
WORKERS, PORTION, PATIENCE = 8, 8, 40
#: Bytes of stack per thread: recursive functions need more than the 1024 that a context begins with.
STACK = 16384
#: Files of results.
FILES = 3
#: PTX instructions whose last bits are the hardware's own.
APPROXIMATE = re.compile(r"\b(?:lg2|sin|cos|tanh|rsqrt|sqrt)\.approx|\brcp\.approx\.ftz\.f64")
#: Bytes of dynamic shared memory per thread, words of global memory for atomics, and the last argument.
DYNAMIC, CELLS, ARGUMENT = 8, 16, 3


def prepare(folder: str, first: str, modules: str) -> None:
    """Write the modules, and what is launched of them. A module that ends the compiler is left out."""
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    jobs = {}
    for number in range(int(first), int(first) + int(modules)):
        command = [sys.executable, "-m", "tests.fuzz.differential", "build", folder, str(number)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"module {number} is left out: {done.returncode} {done.stderr[-300:]}", flush=True)
        else:
            jobs[number] = json.loads(done.stdout)
    (into / "jobs.json").write_text(json.dumps(jobs))
    print(f"{len(jobs)} modules, {sum(map(len, jobs.values()))} kernels")


def build(folder: str, number: str) -> None:
    """Compile one module, and say what is launched of it. NVRTC 12.9 crashes on one of a few thousand kernels."""
    from tests.fuzz import kernels

    group = kernels.group(int(number))
    (Path(folder) / f"{number}.cubin").write_bytes(compiled(group).cubin)
    print(json.dumps([(k.name, k.blocks, k.shape, len(k.results)) for k in group]))


def compiled(group: Sequence[RandomKernel]) -> Program:
    """The kernels of a module, under the name of the first."""
    from softlab.cuda.compile import compile_program
    from tests.fuzz import kernels

    options = (*kernels.ALWAYS, *group[0].options)
    return compile_program(kernels.source(group), group[0].name, options=options, file="kernels.cu", cache=False)


def record(folder: str, out: str) -> None:
    """Run every kernel, a few modules per process; what a process could not do, one module per process."""
    numbers = sorted(map(int, json.loads((Path(folder) / "jobs.json").read_text())))
    portions = [numbers[start : start + PORTION] for start in range(0, len(numbers), PORTION)]
    results: dict[str, np.ndarray] = {}
    with TemporaryDirectory() as parts, ThreadPoolExecutor(WORKERS) as pool:
        said = list(pool.map(lambda portion: _in_a_process(folder, parts, portion), portions))
        missing = [[number] for number in numbers if not (Path(parts) / f"{number}.npz").exists()]
        said += pool.map(lambda portion: _in_a_process(folder, parts, portion), missing)
        for path in Path(parts).glob("*.npz"):
            with np.load(path) as part:
                results |= dict(part)
    into = Path(out)
    into.mkdir(parents=True, exist_ok=True)
    for file in range(FILES):
        names = sorted(results)[file::FILES]
        np.savez_compressed(into / f"part{file}.npz", **{name: results[name] for name in names})
    text = "\n".join([f"{len(results)} results", *filter(None, said)])
    (into / "record.txt").write_text(text)
    print(text)


def _in_a_process(folder: str, parts: str, numbers: Sequence[int]) -> str:
    """What went wrong, or ""."""
    command = [sys.executable, "-m", "tests.fuzz.differential", "portion", folder, parts, *map(str, numbers)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"{numbers}: no end after {PATIENCE} s"
    return f"{numbers}: {done.stdout[-300:]} {done.stderr[-500:]}" if done.returncode else ""


def portion(folder: str, parts: str, *numbers: str) -> None:
    """Run the kernels of these modules. Those before an error are kept."""
    import cupy

    cupy.cuda.runtime.deviceSetLimit(cupy.cuda.runtime.cudaLimitStackSize, STACK)
    jobs = json.loads((Path(folder) / "jobs.json").read_text())
    for number in numbers:
        module = cupy.RawModule(path=str(Path(folder) / f"{number}.cubin"))
        results: dict[str, np.ndarray] = {}
        try:
            for name, blocks, shape, rows in jobs[number]:
                threads = math.prod(shape)
                print(name, flush=True)
                out, cells = cupy.zeros((rows, blocks * threads), cupy.uint64), cupy.zeros(CELLS, cupy.uint64)
                arguments = (cupy.asarray(words(name, blocks * threads)), out, cells, np.uint32(ARGUMENT))
                module.get_function(name)((blocks,), tuple(shape), arguments, shared_mem=DYNAMIC * threads)
                results[name] = np.append(cupy.asnumpy(out).ravel(), cupy.asnumpy(cells))
        finally:
            np.savez(Path(parts) / f"{number}.npz", **results)


def emulated(kernel: RandomKernel, module: Program, way: str | None = None) -> np.ndarray:
    """(results times lanes + CELLS,) uint64 of the emulator: as ``record`` keeps them."""
    from softlab.kernel import Kernel

    out, cells = np.zeros((len(kernel.results), kernel.lanes), np.uint64), np.zeros(CELLS, np.uint64)
    arguments = (words(kernel.name, kernel.lanes), out, cells, np.uint32(ARGUMENT))
    Kernel.from_program(replace(module, name=kernel.name, entry=kernel.name)).run(
        kernel.blocks, kernel.shape, arguments, smem=DYNAMIC * kernel.threads, check=False, record=False,
        compiled=way,  # type: ignore[arg-type]
    )  # fmt: skip
    return np.append(out.ravel(), cells)


def same_both_ways(kernel: RandomKernel, module: Program) -> bool:
    """Whether compiled blocks of code give the same bits as those in NumPy."""
    with np.errstate(all="ignore"):
        return np.array_equal(*(emulated(kernel, module, way) for way in ("none", "all")))


def differences(
    kernel: RandomKernel, got: np.ndarray, expected: np.ndarray, approximate: bool
) -> Iterator[tuple[str, str]]:
    """(sort, sentence) of each result that differs. Sorts: "value", "NaN" (its bits alone), "ulps" (as allowed).

    ``approximate``: whether the PTX has an instruction whose last bits are the hardware's own.
    """
    for row, (kind, ulps) in enumerate(zip((*kernel.results, "cells"), (*kernel.ulps, 0), strict=True)):
        place = slice(row * kernel.lanes, (row + 1) * kernel.lanes if kind != "cells" else None)
        a, b = got[place], expected[place]
        if (where := a != b).any():
            sort, apart = "NaN", _apart(a, b, kind)
            if apart.any():
                where = apart != 0
                sort = "ulps" if approximate and (apart <= 2 * ulps).all() else "value"
            lane = int(np.flatnonzero(where)[0])
            values = f"{a[lane]:#x} in the emulator, {b[lane]:#x} on the GPU"
            yield sort, f"{kernel.name} row {row} ({kind}, {where.sum()} lanes), lane {lane}: {values}"


#: Type -> (numbers in a result, bits of one, bits of its mantissa).
_FORMATS = {
    "f32": (1, 32, 23), "f64": (1, 64, 52), "f16": (1, 16, 10), "bf16": (1, 16, 7), "f16x2": (2, 16, 10),
    "bf16x2": (2, 16, 7),
}  # fmt: skip


def _apart(a: np.ndarray, b: np.ndarray, kind: str) -> np.ndarray:
    """By how many floats results differ, (lanes,) float64: 0 for two NaNs, infinity for a NaN and a number.

    Zeros of both signs are one apart. Whole numbers are 0 or infinity apart.
    """
    if kind not in _FORMATS:
        return np.where(a == b, 0, np.inf)
    count, bits, mantissa = _FORMATS[kind]
    infinity = (2 ** (bits - 1 - mantissa) - 1) << mantissa
    found = np.zeros(len(a))
    for number in range(count):
        (one, one_size), (other, other_size) = (_ordered(side >> np.uint64(number * bits), bits) for side in (a, b))
        nan, other_nan = one_size > infinity, other_size > infinity
        # Doubles of both signs are further apart than an int64 can say.
        same_sign = (one < 0) == (other < 0)
        apart = np.where(same_sign, np.abs(one - other), np.abs(one.astype(np.float64) - other))
        found = np.maximum(found, np.where(nan & other_nan, 0, np.where(nan | other_nan, np.inf, apart)))
    return found


def _ordered(results: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """(integers in the order of the floats, their magnitudes), (lanes,) int64 both; the low ``bits`` count."""
    size = (results & np.uint64(2 ** (bits - 1) - 1)).astype(np.int64)
    negative = (results >> np.uint64(bits - 1) & np.uint64(1)).astype(bool)
    return np.where(negative, -1 - size, size), size


def compare(folder: str, out: str, way: str = "") -> None:
    """Say which results differ, and how many of each sort."""
    from tests.fuzz import kernels

    recorded = _recorded(out)
    counts: Counter[str] = Counter()
    for number in sorted(map(int, json.loads((Path(folder) / "jobs.json").read_text()))):
        group = kernels.group(number)
        module = compiled(group)
        for kernel in group:
            counts["kernels"] += 1
            for sort, sentence in _of_kernel(kernel, module, recorded, way or None):
                counts[sort] += 1
                print(f"{sort}: {kernel.family} {' '.join(kernel.options)} {sentence}", flush=True)
    print(", ".join(f"{count} {sort}" for sort, count in counts.items()))


def _of_kernel(
    kernel: RandomKernel, module: Program, recorded: Mapping[str, np.ndarray], way: str | None
) -> Iterator[tuple[str, str]]:
    if kernel.name not in recorded:
        yield "not recorded", kernel.name
        return
    try:
        with np.errstate(all="ignore"):
            got = emulated(kernel, module, way)
    except Exception as error:  # whatever it is, the next kernel comes
        yield "refused", f"{kernel.name}: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        return
    yield from differences(kernel, got, recorded[kernel.name], is_approximate(kernel, module))


def is_approximate(kernel: RandomKernel, module: Program) -> bool:
    """Whether the kernel, or a function that is no part of it, has an instruction whose last bits are not known."""
    before, *entries = module.ptx.split(".visible .entry ")
    own = [text for text in entries if text.startswith(f"{kernel.name}(")]
    # Functions follow the kernel before them, without a mark.
    functions = [text[text.index("\n.func") :] for text in (before, *entries) if "\n.func" in text]
    functions += [text[text.index("\n.visible .func") :] for text in (before, *entries) if "\n.visible .func" in text]
    return any(APPROXIMATE.search(text) for text in (*own, *functions))


def _recorded(out: str) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for path in Path(out).glob("part*.npz"):
        with np.load(path) as part:
            found |= dict(part)
    return found


COMMANDS: dict[str, Callable[..., Any]] = {
    "prepare": prepare, "build": build, "record": record, "portion": portion, "compare": compare,
}  # fmt: skip

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
