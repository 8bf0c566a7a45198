"""Policy "invariant" on a GPU: a row has the emulator's bits wherever it is placed.

    python -m tests.hardware.placements expect FILE.npz            # the emulator's bits; needs no GPU
    python -m tests.hardware.placements check FILE.npz [COUNT [PROBLEMS]]     # on a GPU

COUNT is the number of placements (default 100 000), PROBLEMS the number of pairs of a row and a number of rows, drawn
at random (default: all). Each problem compiles two kernels.

A placement is a number of rows, the row's number among them, the array's distance from a multiple of 16 bytes, and a
stream. Each other row is noise.
"""

from __future__ import annotations

import multiprocessing
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import softlab
from softlab import plans
from softlab.dtypes import element_type
from softlab.operators.executors import program_of

OPS = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
DTYPES = ("float32", "float16", "bfloat16", "float64")
#: One length for each kernel and several packings: tiles, lanes, a block, clusters, and a row that is read three times.
COLS = (1, 7, 33, 64, 150, 300, 1000, 4099, 12_000, 50_257)
ROWS = (1, 2, 3, 40, 1025)
#: Elements of an array: more rows than this are not taken.
MOST_ELEMENTS = 1 << 22
OFFSETS = 16
STREAMS = 3


def cases() -> list[tuple[str, str, int]]:
    """Each length with each type, and the operators in turn."""
    pairs = [(dtype, cols) for cols in COLS for dtype in DTYPES]
    return [(OPS[(k + k // len(DTYPES)) % len(OPS)], dtype, cols) for k, (dtype, cols) in enumerate(pairs)]


def given(op: str, dtype: str, cols: int) -> list[np.ndarray]:
    """The row of each input, (1, cols) float32 that the dtype holds exactly."""
    drawn = np.random.default_rng([cols, len(op), len(dtype)])
    inputs = [4 * drawn.standard_normal((1, cols))]
    if op.endswith("_backward"):
        inputs.append(drawn.random((1, cols)) / cols if op.startswith("softmax") else -drawn.random((1, cols)) * 9)
    return [x.astype(element_type(dtype).numpy).astype(np.float32).astype(element_type(dtype).numpy) for x in inputs]


def expect(path: Path) -> None:
    """Write the emulator's results."""
    found = {}
    for op, dtype, cols in cases():
        result = getattr(softlab, op)(*given(op, dtype, cols), policy="invariant", device="H200")
        found[f"{op} {dtype} {cols}"] = np.frombuffer(result.tobytes(), np.uint8)
    np.savez_compressed(path, **found)
    print(f"{len(found)} rows, {path.stat().st_size >> 10} KiB")


def _compile(problem: tuple[str, str, int, int]) -> None:
    op, dtype, cols, rows = problem
    for pack_size in (None, 1):
        program_of(plans.forced(rows, cols, dtype, op=op, policy="invariant", pack_size=pack_size))


def check(path: Path, count: int, most: int | None = None) -> int:
    """Count placements whose bits are not the emulator's; 0 if all are."""
    expected = np.load(path)
    problems = [(*case, rows) for case in cases() for rows in ROWS if rows * case[2] <= MOST_ELEMENTS]
    random.shuffle(problems)
    problems = problems[:most]
    began = time.perf_counter()
    # A forked process could not use a GPU that this one has used already.
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_compile, problems, chunksize=4))
    print(f"compiled after {time.perf_counter() - began:.0f} s", flush=True)
    import torch

    streams = [torch.cuda.Stream() for _ in range(STREAMS)]
    arrays: dict[tuple[str, str, int], Any] = {}
    for op, dtype, cols in cases():
        kind = getattr(torch, dtype)
        rows = [torch.from_numpy(x.astype(np.float64)).to("cuda").to(kind) for x in given(op, dtype, cols)]
        raw = torch.from_numpy(expected[f"{op} {dtype} {cols}"].copy()).to("cuda")
        noise = [torch.randn(MOST_ELEMENTS + OFFSETS, device="cuda").to(kind) for _ in range(len(rows) + 1)]
        arrays[op, dtype, cols] = (rows, raw, noise)
    wrong = torch.zeros(len(problems), dtype=torch.int64, device="cuda")
    drawn = random.Random(int(time.time()))
    for _ in range(count):
        number = drawn.randrange(len(problems))
        op, dtype, cols, count_of_rows = problems[number]
        rows, raw, noise = arrays[op, dtype, cols]
        at, offset, stream = drawn.randrange(count_of_rows), drawn.randrange(OFFSETS), drawn.choice(streams)
        with torch.cuda.stream(stream):
            views = [x[offset : offset + count_of_rows * cols].view(count_of_rows, cols) for x in noise]
            for view, row in zip(views, rows, strict=False):
                view[at] = row[0]
            getattr(softlab, op)(*views[:-1], out=views[-1], policy="invariant")
            got = views[-1][at].clone().view(torch.uint8)
            wrong[number] += (got != raw).any()
        stream.synchronize()
    bad = {problems[k]: int(n) for k, n in enumerate(wrong.tolist()) if n}
    print(f"{torch.cuda.get_device_name()}: {count} placements of {len(problems)} problems, {sum(bad.values())} with "
          f"other bits than the emulator's, {time.perf_counter() - began:.0f} s")  # fmt: skip
    for problem, n in bad.items():
        print(*problem, n)
    return sum(bad.values())


def main() -> int:
    """The command; see the module's words."""
    command, path, *more = sys.argv[1:] or ["help", ""]
    if command == "expect":
        expect(Path(path))
        return 0
    if command == "check":
        return 1 if check(Path(path), *map(int, more or ["100000"])) else 0
    raise SystemExit("python -m tests.hardware.placements expect FILE.npz | check FILE.npz [COUNT [PROBLEMS]]")


if __name__ == "__main__":  # the worker processes import this module, too
    sys.exit(main())
