"""Random programs that are not recorded, on a GPU and in the emulator: where do their results differ?

python -m tests.fuzz.further prepare FOLDER FIRST CUDA PTX  # that many programs of each kind, from the number FIRST
python -m tests.fuzz.further record FOLDER OUT              # where the GPU is (NumPy and CuPy are enough)
python -m tests.fuzz.further compare FOLDER OUT             # one line per result that differs
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

#: Modules that the driver compiles at once.
WORKERS = 16


def _groups(first: int, cuda: int, ptx: int) -> Iterator[list[Any]]:
    from tests.fuzz import programs

    for make, count in ((programs.cuda_program, cuda), (programs.ptx_program, ptx)):
        for start in range(first, first + count, programs.TOGETHER):
            yield [make(number) for number in range(start, min(start + programs.TOGETHER, first + count))]


def prepare(folder: str, first: str, cuda: str, ptx: str) -> None:
    """Write the modules, the inputs, and which kernels there are."""
    from tests.fuzz import programs

    into, numbers = Path(folder), (int(first), int(cuda), int(ptx))
    into.mkdir(parents=True, exist_ok=True)
    modules = []
    for index, group in enumerate(_groups(*numbers)):
        program = programs.together(group)
        file = f"{index:04}.{'cubin' if program.cubin else 'ptx'}"
        (into / file).write_bytes(program.cubin or program.ptx.encode())
        np.savez_compressed(into / f"{index:04}.npz", **{straight.name: straight.inputs for straight in group})
        modules.append(file)
    (into / "modules.json").write_text(json.dumps({"numbers": numbers, "modules": modules}))
    print(f"{len(modules)} modules")


def record(folder: str, out: str) -> None:
    """Run every program; write ``further.npz``."""
    import cupy

    source, results = Path(folder), {}
    files = json.loads((source / "modules.json").read_text())["modules"]
    with ThreadPoolExecutor(WORKERS) as pool:
        modules = list(pool.map(lambda file: cupy.RawModule(path=str(source / file)), files))
    for file, module in zip(files, modules, strict=True):
        with np.load(source / f"{Path(file).stem}.npz") as inputs:
            for name, words in inputs.items():
                threads = words.shape[1]
                result = cupy.zeros((3, threads), cupy.uint64)
                module.get_function(name)((1,), (threads,), (cupy.asarray(words), result))
                results[name] = cupy.asnumpy(result)
    Path(out).mkdir(parents=True, exist_ok=True)
    np.savez_compressed(Path(out) / "further.npz", **results)
    print(f"{len(results)} programs")


def compare(folder: str, out: str) -> None:
    """Say which results differ. A NaN may have any bits."""
    from tests.fuzz import programs

    numbers = json.loads((Path(folder) / "modules.json").read_text())["numbers"]
    compared = different = 0
    with np.load(Path(out) / "further.npz") as recorded:
        for group in _groups(*numbers):
            module = programs.together(group)
            for straight in group:
                got, expected = programs.emulated(straight, module), recorded[straight.name]
                compared += 1
                for row, kind in enumerate(straight.results):
                    where = _differs(programs.narrow(got[row], kind), programs.narrow(expected[row], kind), kind)
                    if row == 1 and straight.ulps:
                        where &= _further_apart(got[row], expected[row], straight.ulps)
                    if where.any():
                        different += 1
                        lane = int(np.flatnonzero(where)[0])
                        values = f"{got[row][lane]:#x} in the emulator, {expected[row][lane]:#x} on the GPU"
                        print(f"{straight.name}, result {row} ({kind}): {where.sum()} lanes, lane {lane}: {values}")
    print(f"{compared} programs, {different} results differ")


def _differs(got: np.ndarray, expected: np.ndarray, kind: str) -> np.ndarray:
    different = got != expected
    if kind == "bf16":
        different &= ~((got & 0x7FFF > 0x7F80) & (expected & 0x7FFF > 0x7F80))
    elif kind in ("f16", "f32", "f64"):
        floats = np.dtype(f"f{got.itemsize}")
        different &= ~(np.isnan(got.view(floats)) & np.isnan(expected.view(floats)))
    return different


def _further_apart(got: np.ndarray, expected: np.ndarray, ulps: int) -> np.ndarray:
    return np.abs(got.astype(np.uint32).view(np.int32).astype(np.int64)
                  - expected.astype(np.uint32).view(np.int32)) > ulps  # fmt: skip


COMMANDS: dict[str, Callable[..., None]] = {"prepare": prepare, "record": record, "compare": compare}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
