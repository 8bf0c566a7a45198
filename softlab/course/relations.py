"""What a kernel's wrong numbers are instead: one operation of its inputs, or the right number and one of its row.

A sentence stands only where all the numbers that are compared agree, so it says what the result is, not why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

import numpy as np

#: Relative error by which two numbers are alike, and how many numbers make a rule.
_CLOSE, _FEW = 1e-4, 4
#: One operation on a number, and on two.
_ONE: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "{0}[i]": lambda a: a,
    "-{0}[i]": np.negative,
    "2 * {0}[i]": lambda a: 2 * a,
    "{0}[i] * {0}[i]": np.square,
    "{0}[i] + 1": lambda a: a + 1,
    "{0}[i] + 2": lambda a: a + 2,
    "{0}[i] / 2": lambda a: a / 2,
    "the absolute value of {0}[i]": np.abs,
    "e to the power of {0}[i]": np.exp,
}
_TWO: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "{0}[i] + {1}[i]": np.add,
    "{0}[i] - {1}[i]": np.subtract,
    "{1}[i] - {0}[i]": lambda a, b: b - a,
    "{0}[i] * {1}[i]": np.multiply,
    "the larger of {0}[i] and {1}[i]": np.maximum,
    "the smaller of {0}[i] and {1}[i]": np.minimum,
}
#: A number of a row, for the sentence.
_OF_ROW: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "the largest number of its row": lambda rows: rows.max(axis=1),
    "the smallest number of its row": lambda rows: rows.min(axis=1),
    "the first number of its row": lambda rows: rows[:, 0],
    "the last number of its row": lambda rows: rows[:, -1],
    "the sum of its row": lambda rows: rows.sum(axis=1),
    "the mean of its row": lambda rows: rows.mean(axis=1),
    "e to the power of the largest number of its row": lambda rows: np.exp(rows.max(axis=1)),
}


def of_elements(name: str, got: np.ndarray, wrong: np.ndarray, inputs: Mapping[str, np.ndarray]) -> str:
    """ "y[i] is x[i] * x[i].": where all wrong elements come from the inputs at their own index; "" otherwise."""
    use = wrong.reshape(-1)
    if use.sum() < _FEW:
        return ""
    where = "" if use.all() else "Where it is wrong, "
    numbers = got.astype(np.float64).reshape(-1)[use]
    alike = {other: array.astype(np.float64).reshape(-1)[use] for other, array in inputs.items()
             if array.size == got.size and other != name}  # fmt: skip
    with np.errstate(all="ignore"):
        for other, array in alike.items():
            for words, step in _ONE.items():
                if _agree(numbers, step(array), got.dtype):
                    return f"{where}{name}[i] is {words.format(other)}."
        for (one, a), (other, b) in combinations(alike.items(), 2):
            for words, both in _TWO.items():
                if _agree(numbers, both(a, b), got.dtype):
                    return f"{where}{name}[i] is {words.format(one, other)}."
    return ""


def of_rows(name: str, got: np.ndarray, wanted: np.ndarray, inputs: Mapping[str, np.ndarray]) -> str:
    """Results of one number or two per row that are the right ones and a number of the row; "" otherwise."""
    for other, array in inputs.items():
        if array.ndim != 2 or array.dtype.kind != "f":
            continue
        for rows, which in ((array, "row"), (array.T, "column")):
            if len(rows) < _FEW or wanted.shape[0] != len(rows) or wanted.size > 2 * len(rows):
                continue
            results = zip(_columns(got, len(rows)), _columns(wanted, len(rows)), strict=True)
            for number, (found, right) in enumerate(results):
                if said := _of_row_numbers(found, right, rows.astype(np.float64)):
                    first = f"{name}[i]" if wanted.size == len(rows) else f"{name}[i, {number}]"
                    return f"{first} is {said} of {other}.".replace("row", which)
    return ""


def _columns(array: np.ndarray, rows: int) -> Iterator[np.ndarray]:
    yield from array.astype(np.float64).reshape(rows, -1).T


def _of_row_numbers(got: np.ndarray, right: np.ndarray, rows: np.ndarray) -> str:
    use = np.isfinite(got) & np.isfinite(right) & np.isfinite(rows).all(axis=1)
    wrong = use & (abs(got - right) > _CLOSE * np.maximum(abs(right), 1e-30))
    if wrong.sum() < _FEW or np.ptp(got[wrong]) == 0:
        return ""
    got, right, rows = got[wrong], right[wrong], rows[wrong]
    with np.errstate(all="ignore"):
        for what, number_of in _OF_ROW.items():
            number = number_of(rows)
            if np.ptp(number) == 0 or not np.isfinite(number).all():
                continue
            for words, made in (
                ("{0} alone", number),
                ("the right number less {0}", right - number),
                ("the right number plus {0}", right + number),
                ("the right number less twice {0}", right - 2 * number),
                ("the right number times {0}", right * number),
                ("the right number divided by {0}", right / number),
            ):
                if np.allclose(got, made, rtol=_CLOSE, atol=_CLOSE * float(np.median(abs(got)))):
                    return words.format(what)
    return ""


def _agree(one: np.ndarray, other: np.ndarray, kind: np.dtype) -> bool:
    """Whether all numbers are alike, as far as their type goes."""
    relative = 2e-3 if kind.itemsize == 2 else _CLOSE
    return bool(np.ptp(one) > 0 and np.allclose(one, other, rtol=relative, atol=1e-30, equal_nan=True))
