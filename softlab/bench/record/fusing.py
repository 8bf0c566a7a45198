"""Record on a GPU what fusing saves in time: one kernel against the kernels that it would take apart.

    python -m softlab.bench.record.fusing OUT.json

Compiling takes by far the longest, so that is done first, by all cores. Each case is checked before it is timed: the
two results agree.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from softlab.bench import fusing, recordings
from softlab.bench.fusing import BLOCK, SOURCE, FusionCase
from softlab.bench.record.case_buffers import WrongResult
from softlab.bench.record.describing import described, short
from softlab.bench.record.timing import REPEATS, microseconds
from softlab.cuda import gpu
from softlab.cuda.compile import Program, compile_program, nvrtc_version
from softlab.hardware.devices import resolve
from softlab.operators.executors import program_of

#: Elements of x: 128 MiB of float32, more than twice the L2 cache of an H200.
ELEMENTS = 1 << 25
COLS = (128, 512, 2048, 4096, 16_384)
DTYPES = ("float32", "float16")
#: From nothing to all that an attention layer has around its softmax.
FUSIONS = ((), ("scale",), ("scale", "mask"), ("scale", "causal"), ("scale", "mask", "dropout"), fusing.PARTS)
METHOD = (
    f"softmax of {ELEMENTS} elements in matrices of at most 4096 rows, square if so; bias and mask one matrix for all; "
    f"median of {REPEATS} by CUDA events around up to 8 launches, buffers in turn; 'separate': one kernel for each "
    "part and one for softmax, launched one after the other; 'bytes': the least that this form must move; 'copies': "
    "device copies of as many elements, before and after."
)
TABLE_KEYS = {"times": ("dtype", "parts", "way"), "copies": ("dtype",)}
#: A launch that is timed; its argument counts the launches, for other buffers each time.
NumberedCall = Callable[[int], Any]


def problems(elements: int = ELEMENTS, device: Any = None) -> list[FusionCase]:
    """Every case. ``device``: as for :func:`softlab.plan`."""
    made = []
    for dtype in DTYPES:
        for cols in COLS:
            rows = min(cols, 4096, elements // cols)
            made += [FusionCase(elements // (rows * cols), rows, cols, dtype, parts, device) for parts in FUSIONS]
    return made


def compiled(problem: FusionCase) -> None:
    """Leave a case's kernels in the disk cache."""
    program_of(problem.fused_plan())
    program_of(problem.plain_plan())
    for part in problem.parts:
        separate_program(problem, part)


def separate_program(problem: FusionCase, part: str) -> Program:
    """The separate kernel of a part."""
    return compile_program(SOURCE, f"{part}<{problem.element.cuda}>", arch=problem.plain_plan().arch)


class FusionBuffers:
    """Buffers for one case: x twice, so that no launch finds its input in the cache, and results."""

    def __init__(self, problem: FusionCase) -> None:
        import cupy

        self.problem = problem
        host = problem.x() if problem.size < 1 << 22 else None
        piece = np.random.default_rng(0).standard_normal(1 << 20, dtype=np.float32) * 4
        x = cupy.asarray(host if host is not None else np.resize(piece, problem.size).reshape(problem.shape))
        self.xs = [x.astype(problem.element.numpy), x.astype(problem.element.numpy)[::-1].copy()]
        self.results = [cupy.full_like(self.xs[0], np.nan) for _ in range(3)]
        self.operands = {name: cupy.asarray(array) for name, array in problem.operands.items()}

    def fused(self) -> NumberedCall:
        """Queues the one kernel."""
        plan = self.problem.fused_plan()
        program, grid, block = program_of(plan), (plan.grid, 1, 1), (*plan.block, 1)
        y, dropped, _ = self.results
        ready = [fusing.arguments(self.problem, x, y, dropped, self.operands) for x in self.xs]
        return lambda iteration: gpu.launch(program, grid, block, ready[iteration % 2], plan.smem_bytes)

    def separate(self) -> NumberedCall:
        """Queues the kernels one after the other; between them they use two buffers alternately."""
        problem, queues = self.problem, []
        for x in self.xs:
            queue, source = [], x
            for number, step in enumerate(problem.steps(self.operands)):
                target = self.results[1 + number % 2]
                if step.plan:
                    shape = (np.int64(problem.matrices * problem.rows), np.int64(problem.cols))
                    grid, block, smem = (step.plan.grid, 1, 1), (*step.plan.block, 1), step.plan.smem_bytes
                    queue.append((program_of(step.plan), grid, block, (source, target, *shape), smem))
                else:
                    args = (source, target, np.int64(problem.size), *step.further)
                    queue.append((separate_program(problem, step.part), (problem.grid(), 1, 1), (BLOCK, 1, 1), args, 0))
                source = target
            queues.append(queue)
        self.last = source

        def launch(iteration: int) -> None:
            for call in queues[iteration % 2]:
                gpu.launch(*call)

        return launch

    def check(self, fused: NumberedCall, separate: NumberedCall) -> None:
        """Both on the same input.

        Raises:
            WrongResult: they disagree by more than the rounding of what is stored in between.
        """
        import cupy

        fused(0)
        first = self.results["dropout" in self.problem.parts].copy()
        separate(0)
        tolerance = {"float32": 1e-4, "float16": 2e-2}[self.problem.dtype]
        if not cupy.allclose(first.astype(np.float32), self.last.astype(np.float32), rtol=tolerance, atol=1e-6):
            raise WrongResult(f"{self.problem}: the fused kernel and the separate ones disagree")


def measured(problem: FusionCase) -> list[dict[str, Any]]:
    """Two rows of the table: fused and separate."""
    bench = FusionBuffers(problem)
    forms = {"fused": bench.fused(), "separate": bench.separate()}
    bench.check(**forms)
    same = {"dtype": problem.dtype, "parts": "+".join(problem.parts) or "nothing", "cols": problem.cols}
    return [
        {**same, "way": form, "bytes": nbytes, "microseconds": short(microseconds(launch))}
        for (form, launch), nbytes in zip(forms.items(), problem.least_bytes(), strict=True)
    ]


def copies(elements: int) -> list[dict[str, Any]]:
    """A device copy of as many elements, each type."""
    import cupy

    rows = []
    for dtype in DTYPES:
        buffers = [cupy.zeros(elements, dtype) for _ in range(4)]

        def copy(iteration: int, buffers: Sequence[Any] = buffers) -> None:
            cupy.copyto(buffers[iteration % 2 + 2], buffers[iteration % 2])

        taken = microseconds(copy)
        rows.append({"dtype": dtype, "bytes": 2 * buffers[0].nbytes, "microseconds": short(taken)})
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="the recording to write")
    parser.add_argument("--elements", type=int, default=ELEMENTS, help="elements of x (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="to compile with; 0: compile as needed")
    given = parser.parse_args(arguments)
    cases = problems(given.elements, resolve(None))
    if given.processes:
        # Not forked: a process with a CUDA context cannot be.
        with ProcessPoolExecutor(given.processes, multiprocessing.get_context("spawn")) as pool:
            list(pool.map(compiled, cases))
    before = copies(given.elements)
    rows = [row for problem in cases for row in measured(problem)]
    recording = described(
        given.out,
        "fusing",
        about="What fusing saves: scale, bias, mask, causal mask and dropout, in one kernel and in several.",
        method=METHOD,
        nvrtc=nvrtc_version(),
        versions={},
        tables={"times": recordings.table_of(rows), "copies": recordings.table_of(before + copies(given.elements))},
    )
    recordings.write(given.out, recording, TABLE_KEYS)
    print(f"{given.out}: {given.out.stat().st_size} bytes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
