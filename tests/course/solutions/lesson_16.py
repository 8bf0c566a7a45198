"""The right answers follow from the shipped measurements, by NumPy: they change when there are new ones."""

from __future__ import annotations

import numpy as np

from softlab.bench import predictions
from tests.course.answers import Answers

LAUNCHES = predictions.launches("H200", "cold")
ERRORS = np.array([one.predicted / one.measured - 1 for one in LAUNCHES])
CATEGORY = np.array([one.category for one in LAUNCHES])
ATOMICS = np.abs(ERRORS[CATEGORY == "atomics"])
LARGE = ERRORS[np.abs(ERRORS) > 0.2]
MEDIANS = {name: np.median(np.abs(ERRORS[name == CATEGORY])) for name in set(CATEGORY.tolist())}
RANKED = sorted(MEDIANS, key=lambda name: MEDIANS[name])


def within(predicted, measured, *, near=lambda p, m: np.abs(p - m) <= 0.2 * m):
    return float(np.mean(near(np.array(predicted), np.array(measured))))


ANSWERS = (
    Answers(
        "16-atomics",
        right=(100 * float(np.median(ATOMICS)), round(100 * float(np.median(ATOMICS)), 1)),
        wrong=((100 * float(np.quantile(ATOMICS, 0.9)), "90th percentile"), (float(np.median(ATOMICS)), "In percent"),
               (-5, "by_category")),
    ),
    Answers(
        "16-trust-it-least",
        right=(RANKED[-1],),
        wrong=((RANKED[0], "largest"), (RANKED[1], "largest"), ("warps", "none of the answers")),
    ),
    Answers(
        "16-too-long",
        right=(int((LARGE > 0).sum()),),
        wrong=((len(LARGE), "all of them"), (int((ERRORS > 0).sum()), "small errors"), (-1, "positive")),
    ),
    Answers(
        "16-within-a-fifth",
        right=(within,),
        wrong=(
            (lambda p, m: within(p, m, near=lambda a, b: np.abs(a - b) <= 0.2 * a), "the GPU is right"),
            (lambda p, m: within(p, m, near=lambda a, b: np.abs(a - b) < 0.2 * b), "Exactly 20 %"),
            (lambda p, m: within(p, m, near=lambda a, b: a - b <= 0.2 * b), "too short"),
            (lambda p, m: within(p, m) * len(p), "A share"),
        ),
    ),
)  # fmt: skip
