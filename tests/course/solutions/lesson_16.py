"""The right answers follow from the shipped measurements, by NumPy: they change when there are new ones."""

from __future__ import annotations

import numpy as np

from tests.course.answers import Answers
from tests.course.measured_set import ATOMICS, ERRORS, LARGE, RANKED, TOO_LONG, apart, atomics


def within(predicted, measured, *, near=lambda p, m: np.abs(p - m) <= 0.2 * m):
    return float(np.mean(near(np.array(predicted), np.array(measured))))


ANSWERS = (
    Answers(
        "16-atomics",
        right=(ATOMICS, round(ATOMICS, 1)),
        wrong=((atomics(quantile=0.9), "90th percentile"), (ATOMICS / 100, "In percent"), (-5, "by_category")),
    ),
    Answers(
        "16-trust-it-least",
        right=(RANKED[-1],),
        wrong=((RANKED[0], "largest"), (RANKED[1], "largest"), ("the GPU", "none of the answers")),
    ),
    Answers(
        "16-too-long",
        right=(TOO_LONG,),
        wrong=apart(
            TOO_LONG, 0, (len(LARGE), "all of them"), (int((ERRORS > 0).sum()), "small errors"), (-1, "positive")
        ),
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
