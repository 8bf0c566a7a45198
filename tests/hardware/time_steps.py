"""Whether the recorded times of a set lie on steps, and how far apart these are.

python -m tests.hardware.time_steps SET..   # of each set that an H100 has measured, cold and warm; no GPU

The times between two CUDA events have a resolution of their own, which is not that of the GPU's clock. Where it is
coarse, the times of all launches are near whole numbers of steps. ``strength`` is 1 where all are, and near 0 where
times are spread out evenly: the length of the mean of exp(2 pi i t / step), which is Rayleigh's measure of directions
on a circle (K. V. Mardia and P. E. Jupp, Directional Statistics).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[1] / "data"
#: Microseconds: launches that are looked at, since those of long ones vary by more than a step, and steps that are
#: tried. They begin at five times the 32 nanoseconds in which events count.
LONGEST = 12.0
STEPS = np.arange(0.16, 0.5, 0.0002)


def strength(times: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """How near times are to whole numbers of a step, with any offset: float64 between 0 and 1, for each step.

    Arguments:
        times: float64 [launches], microseconds. steps: float64 [steps], microseconds.
    """
    return np.abs(np.exp(2j * np.pi * times[:, None] / steps).mean(axis=0))


def by_chance(count: int) -> float:
    """The strength that the best of ``STEPS`` has in 5 % of all cases where the times are spread out evenly: of
    ``count`` times, exp(-count strength^2) for each step that differs from the others by a turn at ``LONGEST``."""
    tried = LONGEST * (1 / STEPS[0] - 1 / STEPS[-1])
    return float(np.sqrt(np.log(tried / 0.05) / count))


def found(times: np.ndarray) -> tuple[float, float]:
    """The step that fits best, microseconds, and its strength."""
    values = strength(times, STEPS)
    best = int(values.argmax())
    return float(STEPS[best]), float(values[best])


def main(names: list[str]) -> None:
    for name in names:
        cases = json.loads((DATA / f"{name}_h100.json").read_text())["cases"]
        for cache in ("cold", "warm"):
            times = np.array([one[cache] for one in cases.values() if one[cache] < LONGEST])
            step, value = found(times)
            print(
                f"{name}, {cache}: {len(times)} launches below {LONGEST:g} us; step {step:.4f} us, "
                f"strength {value:.2f}, by chance below {by_chance(len(times)):.2f}"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
