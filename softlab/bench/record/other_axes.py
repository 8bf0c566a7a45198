"""Rows along other axes than the last: policy "fast" and PyTorch at shapes drawn at random, beside a copy.

    python -m softlab.bench.record.other_axes OUT.json [--cells 100] [--seed 18]

A cell is an array of (outer, columns, stride) elements, and the rows lie along its second axis. Columns are
log-uniform, and the stride fills the rest of 256 MiB. In half of the cells it is a multiple of 16 bytes.
"""

from __future__ import annotations

import argparse
import datetime
import multiprocessing
import random
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import softlab
from softlab.bench import recordings
from softlab.bench.record.describing import driver
from softlab.bench.record.timing import REPEATS, microseconds
from softlab.cuda.compile import nvrtc_version, sources_digest
from softlab.dtypes import element_type
from softlab.operators import executors

INPUT_BYTES = 1 << 28
MOST_COLS = 30_000
DTYPES = ("float32", "float16", "bfloat16")
OPS = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
#: Buffers of each input and of the result, so that no launch finds its data in the L2 cache.
BUFFERS = 3
METHOD = (
    f"Median of {REPEATS} groups of launches between CUDA events; launches take turns on {BUFFERS} buffers. Columns "
    f"are drawn log-uniformly from 2 to {MOST_COLS}, outer from 1 to 512 (1 in four of ten cells), operator and type "
    "at random; the stride fills 256 MiB, and is rounded down to a multiple of 16 bytes in half of the cells. share: "
    "bytes that must move per second, as a part of the best copy of the run. Results agree with PyTorch's in float32."
)
TABLE_KEYS = {"cells": ("op", "dtype", "peer"), "copies": ()}
#: The largest difference from PyTorch's result, as a part of the largest result.
TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


@dataclass(frozen=True)
class StridedCell:
    """An array of (outer, cols, stride) elements, whose rows lie along the second axis."""

    op: str
    dtype: str
    outer: int
    cols: int
    stride: int

    @property
    def inputs(self) -> int:
        """How many arrays are read."""
        return 2 if self.op.endswith("_backward") else 1

    @property
    def nbytes(self) -> int:
        """Each input once in, the result once out."""
        return (self.inputs + 1) * self.outer * self.cols * self.stride * element_type(self.dtype).itemsize


def drawn(count: int, seed: int) -> list[StridedCell]:
    """The cells, those of one type and number of inputs together."""
    numbers = random.Random(seed)
    found: dict[StridedCell, None] = {}
    while len(found) < count:
        dtype = numbers.choice(DTYPES)
        size = element_type(dtype).itemsize
        cols = round(2 * (MOST_COLS / 2) ** numbers.random())
        outer = 1 if numbers.random() < 0.4 else round(2 ** numbers.uniform(0, 9))
        stride = INPUT_BYTES // size // (cols * outer)
        if numbers.random() < 0.5:
            stride -= stride % (16 // size)
        if stride > 1:
            found.setdefault(StridedCell(numbers.choice(OPS), dtype, outer, cols, stride))
    return sorted(found, key=lambda cell: (DTYPES.index(cell.dtype), cell.inputs, cell.cols))


def best_copy(torch: Any) -> float:
    """Bytes per second of the fastest copy of 256 MiB."""
    pairs = [[torch.empty(INPUT_BYTES, dtype=torch.uint8, device="cuda") for _ in range(2)] for _ in range(BUFFERS)]
    spent = microseconds(lambda turn: pairs[turn % BUFFERS][1].copy_(pairs[turn % BUFFERS][0]))
    return 2 * INPUT_BYTES / spent * 1e6


def timed(cells: Sequence[StridedCell], copy: float) -> list[dict[str, Any]]:
    """A row for each cell and peer.

    Raises:
        AssertionError: a result differs from PyTorch's by more than ``TOLERANCE``.
    """
    import torch

    found = []
    for cell in cells:
        arrays = _inputs(torch, cell)
        peers = {"fast": _softlab(cell), "torch": _torch(torch, cell)}
        _check(torch, cell, peers["fast"](arrays[0]), arrays[0])
        for name, peer in peers.items():
            spent = microseconds(partial(_turn, peer, arrays))
            found.append({
                "op": cell.op, "dtype": cell.dtype, "peer": name, "outer": cell.outer, "cols": cell.cols,
                "stride": cell.stride, "microseconds": round(spent, 2),
                "share": round(cell.nbytes / spent * 1e6 / copy, 3),
            })  # fmt: skip
    return found


def _turn(peer: Any, arrays: Sequence[Any], turn: int) -> None:
    peer(arrays[turn % BUFFERS])


def compiled(cells: Sequence[StridedCell]) -> None:
    """Compile what softlab launches, on all cores, into the disk cache."""
    # A forked process could not use a GPU that this one has used already.
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_compile, cells))


def _compile(cell: StridedCell) -> str:
    rows = cell.outer * cell.stride
    plan = softlab.plan(rows, cell.cols, cell.dtype, op=cell.op, policy="fast", stride=cell.stride)
    return executors.program_of(plan).name


def _inputs(torch: Any, cell: StridedCell) -> list[list[Any]]:
    """The inputs and the result of each turn."""
    dtype, shape = getattr(torch, cell.dtype), (cell.outer, cell.cols, cell.stride)
    turns = []
    for _ in range(BUFFERS):
        x = torch.randn(shape, dtype=dtype, device="cuda")
        inputs = [x]
        if cell.inputs == 2:
            y = torch.randn(shape, dtype=dtype, device="cuda")
            inputs.append(torch.softmax(y, 1) if cell.op.startswith("softmax") else torch.log_softmax(y, 1))
        turns.append([*inputs, torch.empty_like(x)])
    return turns


def _softlab(cell: StridedCell) -> Any:
    operator = getattr(softlab, cell.op)

    def run(arrays: Sequence[Any]) -> Any:
        return operator(*arrays[:-1], axis=1, out=arrays[-1], policy="fast")

    return run


def _torch(torch: Any, cell: StridedCell) -> Any:
    if cell.inputs == 1:
        return lambda arrays: getattr(torch, cell.op)(arrays[0], 1)
    gradient = getattr(torch, f"_{cell.op}_data")
    return lambda arrays: gradient(arrays[0], arrays[1], 1, arrays[0].dtype)


def _check(torch: Any, cell: StridedCell, got: Any, arrays: Sequence[Any]) -> None:
    """Compare one matrix of the array, in float32."""
    matrix = [x[-1:].float() for x in arrays[:-1]]
    expected = _torch(torch, cell)([*matrix, None])
    differs = ((got[-1:].float() - expected).abs().max() / expected.abs().max()).item()
    if not differs <= TOLERANCE[cell.dtype]:
        raise AssertionError(f"{cell}: differs from PyTorch by {differs:.1e} of the largest result")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m softlab.bench.record.other_axes", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT.json")
    parser.add_argument("--cells", type=int, default=100)
    parser.add_argument("--seed", type=int, default=18)
    given = parser.parse_args(arguments)
    import torch

    if not torch.cuda.is_available():
        parser.error(f"measuring takes a GPU, and PyTorch {torch.__version__} sees none")
    cells = drawn(given.cells, given.seed)
    compiled(cells)
    copy = best_copy(torch)
    rows = timed(cells, copy)
    shares = sorted(row["share"] for row in rows if row["peer"] == "fast")
    print(
        f"{len(shares)} cells: least {shares[0]}, median {shares[len(shares) // 2]} of a copy ({copy / 1e9:.0f} GB/s)"
    )
    recording = recordings.Recording(
        name=given.out.stem,
        about='Rows along other axes than the last: policy "fast" and PyTorch at shapes drawn at random.',
        device=torch.cuda.get_device_name(),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        command=f"python -m softlab.bench.record.other_axes {given.out.name} --cells {given.cells} --seed {given.seed}",
        method=METHOD,
        versions={"driver": driver(), "NVRTC": nvrtc_version(), "PyTorch": torch.__version__},
        sources=sources_digest(),
        tables={
            "copies": recordings.table_of([{"gigabytes_per_second": round(copy / 1e9, 1)}]),
            "cells": recordings.table_of(rows),
        },
    )
    recordings.write(given.out, recording, TABLE_KEYS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
