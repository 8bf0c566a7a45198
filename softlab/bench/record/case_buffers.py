"""The GPU memory that the recorders of the reference design share, and launches on it. Results are checked there."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from softlab.bench import cases, recordings
from softlab.bench.cases import ReadyCase, TimedCase
from softlab.bench.record import peers
from softlab.bench.record.describing import short
from softlab.bench.record.timing import REPEATS, microseconds
from softlab.cuda import gpu

METHOD = (
    f"Median of {REPEATS} spans between CUDA events, each of 1 to 8 launches, after a warm-up; two passes over all "
    f"cases ('microseconds' and 'again'). Each launch reads other memory than the last: {cases.INPUT_BYTES >> 20} MiB "
    "of normally distributed numbers, in three buffers by turns. Every result agrees with double precision. 'copy' is "
    "a device copy of as many bytes. Counters: Nsight Compute, one metric per run, caches flushed before each launch."
)
#: Buffers that the launches use one after the other.
BUFFERS = 3
#: Cases between two device copies.
CASES_PER_COPY = 40
#: Relative error that fast intrinsics and one rounding to the dtype may make; and what is as good as 0 (the smallest
#: subnormal of half; float's subnormals are flushed).
TOLERANCE = {"float32": (1e-5, 2e-38), "float16": (1.1e-3, 6e-8)}


class WrongResult(Exception):
    """A wrong softmax; the message has the index and both values."""


class CaseBuffers:
    """The memory that all cases share, and what was measured on it."""

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        values = np.random.default_rng(0).standard_normal(cases.INPUT_BYTES // 4, dtype=np.float32)
        base = cupy.asarray(values)
        self.sources = {"float32": [cupy.roll(base, 1000 * k) for k in range(BUFFERS)]}
        self.sources["float16"] = [
            cupy.concatenate([x, cupy.roll(x, 77)]).astype(cupy.float16) for x in self.sources["float32"]
        ]
        self.targets = [cupy.empty(cases.INPUT_BYTES, cupy.uint8) for _ in range(BUFFERS)]
        self.copies: list[float] = []
        self._reference: tuple[tuple[int, str], Any] = ((0, ""), None)

    def matrices(self, case: TimedCase) -> list[tuple[Any, Any]]:
        """The buffers (source, target) as matrices of the case."""
        n = case.rows * case.cols
        return [
            (x[:n].reshape(case.rows, case.cols), y.view(x.dtype)[:n].reshape(case.rows, case.cols))
            for x, y in zip(self.sources[case.dtype], self.targets, strict=True)
        ]

    def reference(self, case: TimedCase) -> Any:
        """Softmax of the first source in double precision; of the last case asked for it is kept."""
        key = (case.cols, case.dtype)
        if self._reference[0] != key:
            self._reference = ((0, ""), None)  # free the last one first
            x = self.matrices(case)[0][0].astype(self.cupy.float64)
            x -= x.max(axis=1, keepdims=True)
            self.cupy.exp(x, out=x)
            x /= x.sum(axis=1, keepdims=True)
            self._reference = (key, x)
        return self._reference[1]

    def check(self, case: TimedCase, launch: Callable[[int], Any]) -> None:
        """Launch once on memory filled with NaN and compare every element.

        Raises:
            WrongResult: nothing that is wrong is worth timing.
        """
        target = self.matrices(case)[0][1]
        target.fill(np.nan)
        launch(0)
        relative, absolute = TOLERANCE[case.dtype]
        reference = self.reference(case)
        error = self.cupy.abs(target - reference) - (relative * reference + absolute)
        if not bool((error <= 0).all()):
            where = int(self.cupy.argmax(self.cupy.where(self.cupy.isnan(error), np.inf, error)))
            row, col = divmod(where, case.cols)
            raise WrongResult(f"at {row, col} {target[row, col]}, not {reference[row, col]}")

    def copy(self) -> None:
        """Time a device copy of as many bytes as every case moves."""
        sources = [x.view(self.cupy.uint8) for x in self.sources["float32"]]
        self.copies.append(microseconds(lambda k: self.cupy.copyto(self.targets[k % BUFFERS], sources[k % BUFFERS])))


def kernel_launch(bench: CaseBuffers, prepared: ReadyCase) -> Callable[[int], Any]:
    """Launches one of our kernels on the buffers."""
    case = prepared.case
    buffers = [(x, y, np.int64(case.rows), np.int64(case.cols)) for x, y in bench.matrices(case)]
    grid, block = (prepared.grid, 1, 1), (*prepared.block, 1)
    return lambda k: gpu.launch(prepared.program, grid, block, buffers[k % BUFFERS], prepared.smem_bytes)


def peer_launch(bench: CaseBuffers, case: TimedCase, peer: peers.Peer) -> Callable[[int], Any]:
    """Launches another library's softmax on the buffers."""
    buffers = [peer(x, y) for x, y in bench.matrices(case)]
    return lambda k: buffers[k % BUFFERS]()


def copies_table(bench: CaseBuffers) -> recordings.Table:
    """The device copies that were timed so far."""
    return recordings.table_of(
        [
            {"what": "copy", "turn": k, "bytes": 2 * cases.INPUT_BYTES, "microseconds": short(t)}
            for k, t in enumerate(bench.copies)
        ]
    )


def warm_up(bench: CaseBuffers) -> None:
    """Half a second of work, so that the clocks are up."""
    start = time.perf_counter()
    while time.perf_counter() - start < 0.5:
        bench.copy()
    bench.copies.clear()
