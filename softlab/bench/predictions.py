"""The timing model held to GPUs, launch by launch: what it predicted before anybody measured, and what was measured.

The launches are kernels as people write them, which the model had not seen: for each GPU those of the newest set that
it has measured (``tests/hardware``). ``python -m tests.hardware.record_timing collect SET`` writes them. Why the model
misses some is written beside them, in ``misses.json``. Times are those of the kernel, without what an empty kernel
takes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from softlab.hardware.devices import with_article
from softlab.timing import validation

#: "categories": category -> "about", what its kernels are about, and "why" the model misses some of them; "kernels":
#: set -> beginning of a launch's name -> why the model misses such launches. The first that fits counts.
MISSES = validation.RECORD.with_name("misses.json")
#: A launch with a smaller error needs no explanation.
LARGE = 0.2
NOT_EXPLAINED = "Not explained yet."


@dataclass(frozen=True)
class PredictedLaunch:
    """One launch: ``predicted``, ``measured`` and ``roofline`` in microseconds; ``bound`` as the model says; ``set``:
    the set that it belongs to."""

    name: str
    category: str
    bound: str
    predicted: float
    measured: float
    roofline: float
    set: str = ""

    @property
    def kernel(self) -> str:
        """The kernel's name, without what a template takes."""
        return self.name.partition(",")[0].partition("<")[0]

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
        return self.explanation or lacks(self.category) or NOT_EXPLAINED

    @property
    def explanation(self) -> str:
        """What is written about launches of this name in its set; "" for nothing."""
        written = _misses()["kernels"].get(self.set, {})
        return next((text for key, text in written.items() if self.name.startswith(key)), "")


@dataclass(frozen=True)
class ErrorsOf:
    """Of some launches: how many, the median and the 90th percentile of the size of the model's error, and the median
    of the roofline's."""

    what: str
    launches: int
    median: float
    tenth: float
    roofline: float


@dataclass(frozen=True)
class Source:
    """Where the launches of a GPU with one state of L2 come from.

    ``set``: the newest set that the GPU has measured; ``model``: the version that predicted it; ``date`` of the
    measurement; ``refused``: launches without a prediction; ``unsettled``: those whose times did not repeat.
    """

    device: str
    cache: str
    set: str
    model: int
    date: str
    launches: int
    refused: tuple[str, ...]
    unsettled: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.launches} launches of the {self.set} set, predicted by version {self.model} of the model, measured "
            f"on {with_article(self.device)} with a {self.cache} L2, {self.date}"
        )

    @property
    def missing(self) -> str:
        """How many launches of which kernels count nowhere, and why."""
        kinds = (("a prediction", self.refused), ("a time that repeats", self.unsettled))
        return "; ".join(f"without {what}: {_counted(names) or 'none'}" for what, names in kinds)


@dataclass(frozen=True)
class SetErrors:
    """What one set said of the version that predicted it: median and 90th percentile of the size of the error, and the
    rank correlation."""

    set: str
    model: int
    device: str
    cache: str
    launches: int
    median: float
    tenth: float
    rank: float


def _counted(launches: Iterable[str]) -> str:
    """How many launches of which kernels."""
    return ", ".join(f"{count} of {name}" for name, count in Counter(n.partition(",")[0] for n in launches).items())


@lru_cache(maxsize=1)
def _misses() -> Mapping[str, Any]:
    return json.loads(MISSES.read_text())


def about(category: str) -> str:
    """What the kernels of a category are about."""
    return str(_misses()["categories"][category]["about"])


def lacks(category: str) -> str:
    """Why the model misses launches of a category, where that is known of the category as a whole; else ""."""
    return str(_misses()["categories"].get(category, {}).get("why", ""))


def _found(device: str, cache: str) -> Mapping[str, Any]:
    kept = validation.record()["measured"]
    if (key := f"{device}.{cache}") not in kept:
        raise ValueError(f"no launches of {key!r}: there are {', '.join(kept)}")
    return kept[key]


def launches(device: str = "H200", cache: str = "cold") -> tuple[PredictedLaunch, ...]:
    """The launches that were measured on a GPU with that state of L2.

    Raises:
        ValueError: none were; the message names what there is.
    """
    found = _found(device, cache)
    return tuple(PredictedLaunch(*(*row, found["set"])) for row in found["launches"])


def source(device: str = "H200", cache: str = "cold") -> Source:
    """Where these launches come from.

    Raises:
        ValueError: there are none.
    """
    found = _found(device, cache)
    missing = (tuple(found[name]) for name in ("refused", "unsettled"))
    return Source(device, cache, found["set"], found["model"], found["date"], len(found["launches"]), *missing)


def sets(device: str = "H200", cache: str = "cold") -> list[SetErrors]:
    """All sets that the GPU has measured, the oldest first."""
    every = (SetErrors(**one) for one in validation.record()["sets"])
    return [one for one in every if (one.device, one.cache) == (device, cache)]


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


def unexplained(device: str = "H200", cache: str = "cold") -> list[PredictedLaunch]:
    """The launches among the worst ten of a cold L2 whose error is large and that nobody has explained."""
    chosen = worst(launches(device, cache)) if cache == "cold" else []
    return [one for one in chosen if one.why and not one.explanation]


def rank_correlation(chosen: Sequence[PredictedLaunch]) -> float:
    """Spearman's: whether the model orders the launches as the GPU does; 1 is the same order."""
    predicted, measured = (np.array([getattr(one, name) for one in chosen]) for name in ("predicted", "measured"))
    return float(np.corrcoef(predicted.argsort().argsort(), measured.argsort().argsort())[0, 1])
