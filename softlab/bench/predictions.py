"""The timing model held to GPUs, launch by launch: what it predicted before anybody measured, and what was measured.

The launches are kernels as people write them, which the model had not seen (``tests/hardware/nineteenth_cases.py``).
``python -m tests.hardware.record_timing collect`` writes them; its docstring says how the others were made. Times are
those of the kernel, without what an empty kernel takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from softlab.timing import validation

FILE = validation.RECORD.with_name("launches.json")
#: A launch with a smaller error needs no explanation.
LARGE = 0.2
#: Beginning of a kernel's name, or category -> why the model misses such launches. The first that fits counts.
_EXPLANATIONS = {
    "other_strands": "Each lane reads and writes the 32 bytes of its own sector, word by word. The model charges L2 "
    "too much for that; why is not known.",
    "products_6x6": "Each lane has its own 144 bytes, so an access touches 32 sectors. Why that takes longer than "
    "predicted is not known.",
    "cluster_table": "Each lane follows its own way through the shared memory of four blocks. What the model misses in "
    "such accesses is not known.",
    "local": "Arrays in local memory, each lane at its own place: how an SM serves many lines per access, and which "
    "of them its L1 cache keeps, is not known well enough.",
    "atomics": "Atomics queue at the units of L2. Which address goes to which unit is not known.",
    "barrier": "A barrier's release is one number for all blocks. On a GPU it depends on what else the SM does.",
    "cache": "L2 has two halves, and a hash that is not known decides which line lies where.",
    "tiny": "So short a launch is mostly its start: translating addresses, fetching code, the first constants.",
    "stream": "A load takes longer when DRAM is busy. How much longer depends on the mixture of loads and stores.",
    "divergence": "Paths of a branch that is rarely taken are in few of the sampled blocks.",
    "occupancy": "With few warps, each cycle of latency that the model has wrong counts in full.",
    "shared": "The queue in front of the load and store unit has a length that is assumed.",
    "latency": "A chain of one instruction shows each cycle that its latency is wrong.",
    "alu": "Which instructions share a pipe with which is in part assumed.",
    "sfu": "The pipe of special functions passes its results on a path that the model does not have.",
    "fp64": "The interval of the double-precision pipe depends on the mixture of instructions.",
}


@dataclass(frozen=True)
class PredictedLaunch:
    """One launch: ``predicted``, ``measured`` and ``roofline`` in microseconds; ``bound`` as the model says."""

    name: str
    category: str
    bound: str
    predicted: float
    measured: float
    roofline: float

    @property
    def error(self) -> float:
        """Relative: -0.1 is a tenth too short."""
        return self.predicted / self.measured - 1

    @property
    def roofline_error(self) -> float:
        """The same of the roofline: the larger of bytes over bandwidth and work over the peak of its pipe."""
        return self.roofline / self.measured - 1

    @property
    def why(self) -> str:
        """Why the model misses it, as far as that is known; "" for a small error."""
        if abs(self.error) < LARGE:
            return ""
        found = (text for key, text in _EXPLANATIONS.items() if self.name.startswith(key) or self.category == key)
        return next(found, "Not explained yet.")


@dataclass(frozen=True)
class ErrorsOf:
    """Of some launches: how many, the median and the 90th percentile of the size of the model's error, and the median
    of the roofline's."""

    what: str
    launches: int
    median: float
    tenth: float
    roofline: float


@lru_cache(maxsize=1)
def _record() -> dict[str, Any]:
    return json.loads(Path(FILE).read_text())


def launches(device: str = "H200", cache: str = "cold") -> tuple[PredictedLaunch, ...]:
    """The launches that were measured on a GPU with that state of L2.

    Raises:
        ValueError: none were; the message names what there is.
    """
    kept = _record()["launches"]
    if (key := f"{device}.{cache}") not in kept:
        raise ValueError(f"no launches of {key!r}: there are {', '.join(kept)}")
    return tuple(PredictedLaunch(*row) for row in kept[key])


def measured_on(device: str = "H200", cache: str = "cold") -> str:
    """The date of the measurement."""
    return str(_record()["dates"][f"{device}.{cache}"])


def errors(chosen: Sequence[PredictedLaunch], what: str = "all") -> ErrorsOf:
    """The errors of some launches, one or more."""
    model = np.abs([one.error for one in chosen])
    roof = np.abs([one.roofline_error for one in chosen])
    return ErrorsOf(
        what, len(chosen), float(np.median(model)), float(np.quantile(model, 0.9)), float(np.median(roof))
    )  # fmt: skip


def by_category(chosen: Iterable[PredictedLaunch]) -> list[ErrorsOf]:
    """The errors of each category, the smallest median first."""
    groups: dict[str, list[PredictedLaunch]] = {}
    for one in chosen:
        groups.setdefault(one.category, []).append(one)
    return sorted((errors(some, name) for name, some in groups.items()), key=lambda found: found.median)


def worst(chosen: Iterable[PredictedLaunch], count: int = 10) -> list[PredictedLaunch]:
    """Those with the largest errors, by their factor: half the time is as wrong as twice the time."""
    return sorted(chosen, key=lambda one: -abs(np.log(max(one.predicted, 1e-3) / one.measured)))[:count]


def rank_correlation(chosen: Sequence[PredictedLaunch]) -> float:
    """Spearman's: whether the model orders the launches as the GPU does; 1 is the same order."""
    predicted, measured = (np.array([getattr(one, name) for one in chosen]) for name in ("predicted", "measured"))
    return float(np.corrcoef(predicted.argsort().argsort(), measured.argsort().argsort())[0, 1])
