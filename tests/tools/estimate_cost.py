"""What an estimate costs beside a run in the emulator.

    python -m tests.tools.estimate_cost [SET] [--every 4]

For each launch of a set of ``tests.hardware.record_timing``: seconds of the processor for interpreting the machine code
of the sampled blocks, for simulating them, and for the emulator with counters on a grid of as many blocks. Each is the
least of three to fifteen times after a first one, as many as fit into ``ENOUGH`` seconds: single times of a few
milliseconds vary by half. What LLVM compiles once per process does not count, nor does a collection of Python's
garbage. Nor do copies of the arrays that the emulator changes. Each simulation is the first one of its interpretation:
further estimates of a launch take less. It ends with 1 if an estimate takes more than ``MOST`` seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

import softlab
from softlab.kernel.estimation import SampledLaunch, sample_launch
from tests.hardware.record_timing import SETS
from tests.hardware.timing_cases import TimingCase

#: Seconds that an estimate may take.
MOST = 2.0

#: Seconds of calls after which no further one is timed, beyond the third.
ENOUGH = 0.2


def _seconds(action: Callable[..., Any], prepared: Callable[[], tuple[Any, ...]] = tuple) -> tuple[float, Any]:
    """(least processor time of some calls after a first one, what it gave); ``prepared`` gives what it is called
    with, and does not count."""
    result = action(*prepared())
    taken: list[float] = []
    while len(taken) < 3 or (len(taken) < 15 and sum(taken) < ENOUGH):
        given = prepared()
        start = time.process_time()
        result = action(*given)
        taken.append(time.process_time() - start)
    return min(taken), result


def cost(chosen: Any, case: TimingCase) -> tuple[float, float, float]:
    """Seconds of interpretation, simulation and emulation of one launch."""
    kernel = softlab.Kernel(chosen.SOURCE.read_text(), case.kernel, file=chosen.FILE)
    arguments = case.make()

    def sample() -> SampledLaunch:
        return sample_launch(kernel, case.grid, case.block, arguments, case.smem, "H200")

    interpretation, sampled = _seconds(sample)
    simulation, _ = _seconds(lambda one: one.estimate("H200", "cold"), lambda: (sample(),))
    blocks = len({stream.block for stream in sampled.streams})
    grid = grid_of(blocks, case.grid, kernel.cluster or (1, 1, 1))

    def copied() -> tuple[list[Any]]:
        return ([a.copy() if isinstance(a, np.ndarray) else a for a in arguments],)

    def emulate(copies: list[Any]) -> None:
        kernel.run(grid, case.block, copies, smem=case.smem, check=False)

    return interpretation, simulation, _seconds(emulate, copied)[0] * blocks / prod(grid)


def grid_of(blocks: int, grid: int | Sequence[int], cluster: Sequence[int]) -> tuple[int, int, int]:
    """A grid of as many blocks, or as few more as there have to be, that fills the rows and planes of ``grid``.

    Blocks beyond the width of a picture, as in a grid of one row, would have nothing to do.
    """
    x, y, _ = (*((grid,) if isinstance(grid, int) else grid), 1, 1)[:3]
    if blocks <= x:
        return blocks, cluster[1], cluster[2]
    if blocks <= x * y:
        return x, -(-blocks // (x * cluster[1])) * cluster[1], cluster[2]
    return x, y, -(-blocks // (x * y * cluster[2])) * cluster[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per launch, and the median and the 90th percentile of the ratios."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.estimate_cost", description=__doc__)
    parser.add_argument("set", nargs="?", default="sixth", choices=sorted(SETS))
    parser.add_argument("--every", type=int, default=4, help="each n-th launch")
    options = parser.parse_args(arguments)
    ratios: list[float] = []
    chosen, slow = SETS[options.set], 0
    for case in chosen.cases()[:: options.every]:
        interpretation, simulation, emulation = cost(chosen, case)
        ratios.append((interpretation + simulation) / emulation)
        slow += interpretation + simulation > MOST
        print(f"{case.name:50} {interpretation:7.3f} {simulation:7.3f} {emulation:7.3f} s  {ratios[-1]:5.1f} times")
    middle, tenth = np.quantile(ratios, (0.5, 0.9))
    print(f"median {middle:.1f} times, 90th percentile {tenth:.1f}; {slow} above {MOST} s")
    return int(slow > 0)


if __name__ == "__main__":
    raise SystemExit(main())
