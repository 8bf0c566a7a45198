"""Figures of the set of launches that lesson 16 shows, by NumPy from the shipped record.

Answers to the exercises of lesson 16 are made of them, so that they are right and wrong whichever set is the newest.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from softlab.bench import predictions


def errors(device: str = "H200", cache: str = "cold") -> np.ndarray:
    """The relative errors of all launches."""
    return np.array([one.predicted / one.measured - 1 for one in predictions.launches(device, cache)])


def atomics(device: str = "H200", cache: str = "cold", quantile: float = 0.5) -> float:
    """A quantile of the size of the error of the launches in category "atomics", in percent."""
    categories = np.array([one.category for one in predictions.launches(device, cache)])
    return 100 * float(np.quantile(np.abs(errors(device, cache)[categories == "atomics"]), quantile))


def apart(right: float, within: float, *wrong: tuple[Any, ...]) -> tuple[Any, ...]:
    """Those of some wrong answers, numbers with words, that are not by chance the right one in this set."""
    return tuple(one for one in wrong if abs(one[0] - right) > within)


LAUNCHES = predictions.launches("H200", "cold")
ERRORS = errors()
CATEGORY = np.array([one.category for one in LAUNCHES])
#: How many launches each category has.
COUNTS = Counter(CATEGORY.tolist())
#: What exercise 1 takes for the right number.
NEAR = 0.06
#: The median error of "atomics" in percent, also with one digit, and what a roofline says of them.
ATOMICS = atomics()
ATOMICS_SHOWN = round(ATOMICS, 1)
ATOMICS_ROOFLINE = 100 * float(
    np.median([abs(one.roofline / one.measured - 1) for one in LAUNCHES if one.category == "atomics"])
)
#: The errors above 20 %, and how many of them are too long.
LARGE = ERRORS[np.abs(ERRORS) > 0.2]
TOO_LONG = int((LARGE > 0).sum())
#: The categories by their median errors, the smallest first; the last of them; the one with the largest 90th
#: percentile of the others.
RANKED = sorted(COUNTS, key=lambda name: float(np.median(np.abs(ERRORS[name == CATEGORY]))))
WORST = RANKED[-1]
LARGE_TENTH = max(RANKED[:-1], key=lambda name: float(np.quantile(np.abs(ERRORS[name == CATEGORY]), 0.9)))
