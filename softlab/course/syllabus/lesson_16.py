"""Notebook 16: how far the timing model is off, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from softlab.bench import predictions
from softlab.course.catalogue import Lesson
from softlab.course.exercises import MultipleChoice, Number
from softlab.course.functions import Call, WriteFunction
from softlab.course.predictions import Question
from softlab.views.predictions import NEAR

#: Half a unit of the digit after the point.
_DIGIT = 0.051


def categories() -> dict[str, predictions.ErrorsOf]:
    """Category -> its errors, on an H200 with a cold cache."""
    return {found.what: found for found in predictions.by_category(predictions.launches())}


def atomics_error(device: str = "H200", cache: str = "cold") -> float:
    """The median error of category "atomics", in percent."""
    found = {one.what: one for one in predictions.by_category(predictions.launches(device, cache))}
    return 100 * found["atomics"].median


def of_another(error: float) -> str:
    """Which category's error that is, in percent."""
    kinds = {"median": "median error", "tenth": "90th percentile"}
    for found in sorted(categories().values(), key=lambda one: one.what != "atomics"):
        for kind, words in kinds.items():
            if abs(100 * getattr(found, kind) - error) < _DIGIT:
                return f"That is the {words} of category {found.what!r}."
            if abs(getattr(found, kind) - error) < _DIGIT / 100:
                return f"That is the {words} of category {found.what!r}, and not in percent."
        if error == found.launches:
            return f"That is how many launches category {found.what!r} has. How far are they off?"
    return ""


def signs(count: float) -> str:
    """The errors nearest to 20 % that are too long, on both sides; "" if there are none on one of them."""
    if count > len(missed()):
        return "That is more than the launches with an error above 20 %, too short and too long."
    long = sorted(one.error for one in predictions.launches() if one.error > 0)
    small, large = [e for e in long if e <= NEAR], [e for e in long if e > NEAR]
    if not (small and large):
        return ""
    inside, outside = 100 * small[-1], 100 * large[0]
    return f"Of those predicted too long, one is off by {inside:.0f} % and the next one by {outside:.0f} %."


def least_trusted() -> str:
    """The category with the largest median error."""
    return max(categories().values(), key=lambda found: found.median).what


def more_trusted(category: str) -> str:
    """What to say to a category that does not have the largest median error."""
    found = categories()
    mine = found[category]
    larger = sum(other.median > mine.median for other in found.values())
    if larger == len(found) - 1:
        return "That one has the smallest median error. Asked is for the largest."
    tenth = "Its 90th percentile is large. " if mine.tenth > found[least_trusted()].tenth else ""
    return (
        f"{tenth}Its median error is {mine.median:.1%}, and {larger} of the {len(found)} have a larger one. Asked is "
        "for the largest."
    )


def missed() -> list[float]:
    """The errors above 20 %, with their signs."""
    return [one.error for one in predictions.launches() if abs(one.error) > NEAR]


def too_long() -> int:
    """Those of them that were predicted too long."""
    return sum(error > 0 for error in missed())


def comparisons() -> Iterator[Call]:
    """Predicted and measured times: made up, some at the very edge, and the real ones."""
    for one in (115.0, 130.0, 83.0, 70.0, 100.1):
        yield Call(([one], [100.0]), float(abs(one - 100) <= 20))
    yield Call(([10.0, 20.0], [10.0, 40.0]), 0.5)
    yield Call(([1.0, 1.0, 1.0, 1.0], [1.0, 1.1, 2.0, 0.5]), 0.5)
    yield Call(([120.0, 80.0, 121.0, 79.0], [100.0, 100.0, 100.0, 100.0]), 0.5)
    yield Call(([83.0, 90.0], [100.0, 70.0]), 0.5)
    yield Call(([3.0], [3.0]), 1.0)
    yield Call(([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]), 0.0)
    chosen = predictions.launches()
    near = sum(abs(one.predicted - one.measured) <= NEAR * one.measured for one in chosen) / len(chosen)
    yield Call(([one.predicted for one in chosen], [one.measured for one in chosen]), near)


def random_times(rng: np.random.Generator) -> Iterator[Call]:
    """Times of which many are near an error of 20 %, on both sides."""
    for _ in range(20):
        count = int(rng.integers(1, 12))
        measured = rng.uniform(0.5, 500, count).round(1).tolist()
        factors = rng.choice([0.5, 0.75, 0.79, 0.81, 0.84, 1.0, 1.1, 1.19, 1.21, 1.24, 1.6], count)
        predicted = [one * float(factor) for one, factor in zip(measured, factors, strict=True)]
        near = [abs(p - m) <= NEAR * m for p, m in zip(predicted, measured, strict=True)]
        yield Call((predicted, measured), sum(near) / count)


def within(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """A right answer."""
    share = 0.2
    near = []
    for predicted_time, measured_time in zip(predicted, measured):  # noqa: B905 - as a learner writes it
        difference = abs(predicted_time - measured_time)
        limit = share * measured_time
        near.append(difference <= limit)
    return sum(near) / len(near)


def percent(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Slip: percent."""
    return 100 * counted(predicted, measured) / len(measured)


def outside(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Slip: the launches that miss."""
    return 1 - counted(predicted, measured) / len(measured)


def of_the_predicted(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Slip: relative to the prediction."""
    near = [abs(p - m) <= NEAR * p for p, m in zip(predicted, measured, strict=True)]
    return sum(near) / len(near)


def strictly(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Slip: exactly 20 % does not count."""
    near = [abs(p - m) < NEAR * m for p, m in zip(predicted, measured, strict=True)]
    return sum(near) / len(near)


def by_ratio(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Slip: the larger time over the smaller one."""
    near = [max(p / m, m / p) <= 1 + NEAR for p, m in zip(predicted, measured, strict=True)]
    return sum(near) / len(near)


def whole_ratio(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Slip: a ratio without its fraction."""
    return sum(p // m == 1 for p, m in zip(predicted, measured, strict=True)) / len(measured)


def one_sided(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Slip: what is too short counts as near."""
    near = [p - m <= NEAR * m for p, m in zip(predicted, measured, strict=True)]
    return sum(near) / len(near)


def counted(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Slip: a number of launches, no share."""
    return float(sum(abs(p - m) <= NEAR * m for p, m in zip(predicted, measured, strict=True)))


LESSON = Lesson(
    number="16",
    notebook="16-predict-the-h200.ipynb",
    title="Predict the H200",
    minutes=30,
    objectives=(
        "say what the timing model takes in, and what it does not know",
        "read its error by category, and by the median and the 90th percentile",
        "name the launches that it missed most, and the mechanism behind each",
        "decide whether an estimate answers your question",
    ),
    predictions=(
        Question(
            id="16-half-of-the-launches",
            question="Half of the launches were predicted with an error below ...",
            answers={
                "2%": "So close are only models that were fitted to the very kernels that they predict.",
                "10%": "Simulators that take a trace from a GPU come to about 15 %.",
                "25%": "A model that counts operations and bytes is farther off. This one simulates the waits, too.",
                "50%": "So far off is a roofline by hand, and farther.",
            },
        ),
    ),
    exercises=(
        Number(
            id="16-atomics",
            answer=atomics_error,
            means=of_another,
            absolute=0.06,
            slips=(
                (lambda: 100 * categories()["atomics"].tenth, "That is the 90th percentile."),
                (lambda: round(100 * categories()["atomics"].tenth), "That is the 90th percentile, rounded."),
                (lambda: categories()["atomics"].median, "In percent: 100 times as much."),
                (lambda: 100 * categories()["atomics"].roofline, "That is the roofline's."),
                (lambda: atomics_error("H200", "warm"), "That is with a warm cache. Asked is for a cold one."),
                (lambda: atomics_error("H100", "cold"), "That is an H100's error. Asked is for an H200."),
                (lambda: atomics_error("H100", "warm"), "That is an H100's error, warm. Asked is for an H200, cold."),
                (lambda: round(atomics_error()), "Give one digit after the point."),
            ),
            hint="predictions.by_category(launches) has an item for each category: .what and .median.",
        ),
        MultipleChoice(
            id="16-trust-it-least",
            answers=tuple(sorted(categories())),
            right=least_trusted,
            others=more_trusted,
            hint="Answer with the name of a category: the one with the largest median error. The picture has them in "
            "the order of their medians, so it is in the last row.",
        ),
        Number(
            id="16-too-long",
            answer=too_long,
            means=signs,
            slips=(
                (lambda: len(missed()), "That is all of them, too short and too long."),
                (lambda: len(missed()) - too_long(), "That is the number of those predicted too short."),
                (
                    lambda: sum(one.error > 0 for one in predictions.launches()),
                    "That counts the small errors, too: only those above 20 % are asked for.",
                ),
                (
                    lambda: sum(one.error < 0 for one in predictions.launches()),
                    "That counts those predicted too short, and the small errors, too.",
                ),
                (lambda: len(predictions.launches()), "That is all launches. How many of the misses are too long?"),
            ),
            hint="A launch that was predicted too long has a positive p.error.",
        ),
        WriteFunction(
            id="16-within-a-fifth",
            parameters=("predicted", "measured"),
            models={"": within},
            calls=comparisons,
            drawn=random_times,
            relative=1e-9,
            slips=(
                (of_the_predicted, "The error is a share of the measured time: the GPU is right, not the model."),
                (strictly, "Exactly 20 % counts."),
                (by_ratio, "20 % too short is 0.8 times the measured time, not 1 / 1.2 of it."),
                (whole_ratio, "`//` drops what follows the point: 1.3 becomes 1, and 0.9 becomes 0."),
                (one_sided, "A prediction can be too short, too: take the size of the difference."),
                (counted, "A share: divide by the number of launches."),
                (percent, "A share lies between 0 and 1: that is in percent."),
                (outside, "Those are the launches that miss. Asked is for those within 20 %."),
            ),
            returns="no number",
            hint="Count, launch by launch, where |predicted - measured| <= 0.2 x measured, and divide by how many "
            "there are.",
        ),
    ),
)  # fmt: skip
