"""The timing model held to GPUs, launch by launch: what it predicted before anybody measured, and what was measured.

The launches are kernels as people write them, which the model had not seen (``tests/hardware/sixth_cases.py``, and
``eighth_cases.py`` on an H100).
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
    "seven_taps": "Each lane stores four neighbouring words one by one. The GPU merges such stores before L2, and the "
    "model counts the sectors of each store.",
    "drift": "Each lane stores three neighbouring words one by one. The GPU merges such stores before L2, and the "
    "model counts the sectors of each store.",
    "table_of_products": "Rows that do not begin with a sector: two warps store parts of the same one. The model "
    "counts both parts.",
    "locked_product": "Compare-and-swap in a loop: the sampled blocks do not meet those of the other SMs, so that they "
    "try less often than on a GPU.",
    "random_means": "Each lane loads nine numbers in turn, each at an index that it loads first: short chains from all "
    "over L2, in blocks that all start at once.",
    "find_in_tree": "Warps of late blocks find in L1 what earlier ones have loaded. On the GPU they gain less by it.",
    "waves_in_block": "A barrier per 15 instructions and warps of all blocks at it: the model's barriers take longer.",
    "legendre": "Two conversions of integers to doubles per turn. The atlas has no row for them: the model takes those "
    "of other conversions.",
    "queens": "Arrays in local memory, each lane at its own depth, so that a warp stores to a sector per lane. The "
    "atlas has rows for lanes at the same depth alone.",
    "many_terms": "Straight code that the SM's caches do not hold. How L2 serves it to all SMs is not known.",
    "montgomery_powers": "Products in the uniform datapath: whether they take turns with other products is not known.",
    "scatter": "Stores that fill sectors in part. When L2 has to read the rest from DRAM is not known.",
    "atomics": "Atomics queue at the units of L2. Which address goes to which unit is not known.",
    "barrier": "A barrier's release is one number for all blocks. On a GPU it depends on what else the SM does.",
    "cache": "L2 has two halves, and a hash that is not known decides which line lies where.",
    "tiny": "So short a launch is mostly its start: translating addresses, fetching code, the first constants.",
    "code": "How far ahead the SM fetches code after a branch is not known.",
    "gather": "Loads from all over memory: how DRAM and L2 serve single sectors is in part assumed.",
    "matrix": "Many shared loads and multiplications at once: how they share the issue slots decides.",
    "reduction": "Short phases between barriers: each phase adds its own small error.",
    "rows": "Several waits follow each other in each row, and their errors add up.",
    "stream": "A load takes longer when DRAM is busy. How much longer depends on the mixture of loads and stores.",
    "divergence": "Paths of a branch that is rarely taken are in few of the sampled blocks.",
    "tail": "The last blocks run alone on their SMs, and the model simulates one SM for all.",
    "occupancy": "With few warps, each cycle of latency that the model has wrong counts in full.",
    "shared": "The queue in front of the load and store unit has a length that is assumed.",
    "latency": "A chain of one instruction shows each cycle that its latency is wrong.",
    "alu": "Which instructions share a pipe with which is in part assumed.",
    "fma": "Register banks: how long two operands of one bank hold up the next instruction was not measured.",
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
