"""What a kernel's wrong numbers are instead: one operation of its inputs, or the right number and one of its row.

A sentence stands only where all the numbers that are compared agree, so it says what the result is, not why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

import numpy as np

from softlab.emulator.lanes import WARP

#: Relative error by which two numbers are alike, and how many numbers make a rule.
_CLOSE, _FEW = 1e-4, 4
#: What a difference of numbers of float32 is off by, as a share of them.
_ROUNDED = 2e-7
#: The same of the numbers of one row, which a kernel may have made in another order.
_ROW_CLOSE, _ROW_ROUNDED = 1e-3, 4e-6
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
                if said := _of_row_numbers(found, right, rows.astype(np.float64), other):
                    first = f"{name}[i]" if wanted.size == len(rows) else f"{name}[i, {number}]"
                    return f"{first} is {said}.".replace("row", which)
    return ""


def _columns(array: np.ndarray, rows: int) -> Iterator[np.ndarray]:
    yield from array.astype(np.float64).reshape(rows, -1).T


def _of_row_numbers(got: np.ndarray, right: np.ndarray, rows: np.ndarray, other: str) -> str:
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
                    return words.format(f"{what} of {other}")
    return ""


def taken_off(name: str, other: str, row: int, got: np.ndarray, wanted: np.ndarray, given: np.ndarray) -> str:
    """A row that is another row less one number, where it is the wrong number; "" otherwise."""
    rounded = _ROUNDED * max(float(abs(given).max()), 1)
    less, right = given - got, given - wanted
    if np.ptp(less) > 4 * rounded or np.ptp(right) > 4 * rounded or abs(less[0] - right[0]) <= 4 * rounded:
        return ""
    taken, belongs = float(np.median(less)), float(np.median(right))
    which = f"{other}[{row}, {int(np.argmin(abs(given - belongs)))}]"
    if abs(taken + belongs) <= 4 * rounded:
        return f"In row {row}, {name} is {other} plus {which}, and not less."
    place = int(np.argmin(abs(given - taken)))
    if abs(given[place] - taken) > 4 * rounded:
        return f"In row {row}, {name} is {other} less {taken:.5g}, where {other} less {which} belongs."
    return f"In row {row}, {name} is {other} less {other}[{row}, {place}], where {other} less {which} belongs."


def of_row(row: int, got: np.ndarray, wanted: np.ndarray, threads: int) -> str:
    """What the numbers of one wrong row have in common. threads: those of a block."""
    if not got.any():
        return f"Row {row} is nothing but 0."
    off = got - wanted
    if (
        np.ptp(off) <= _ROW_CLOSE * abs(off[0]) + _ROW_ROUNDED * abs(wanted).max()
        and abs(off[0]) > _ROW_CLOSE * abs(wanted).max()
    ):
        return f"In row {row} all numbers are too {'large' if off[0] > 0 else 'small'} by {abs(off[0]):.4g}."
    if np.ptp(wanted) == 0:
        return ""
    if said := scaled_and_shifted(row, got, wanted):
        return said
    if not (wanted != 0).all():
        return ""
    adds_up = abs(wanted.sum() - 1) < _ROW_CLOSE and (wanted >= 0).all()
    ratio = got / wanted
    if abs(np.ptp(ratio)) <= _ROW_CLOSE * abs(ratio).max() and abs(ratio[0] - 1) > _ROW_CLOSE and ratio[0]:
        if not adds_up:
            return f"In row {row} all numbers are {ratio[0]:.4g} times what they should be."
        return (
            f"The numbers of row {row} stand in the right proportion and add up to {got.sum():.4g}, not to 1: the "
            "powers are right, and what they are divided by is not their sum."
        )
    if said := _of_factors(ratio, threads):
        return said
    if not adds_up or not (got >= 0).all():
        return ""
    return _of_powers(row, got, wanted) if abs(got.sum() - 1) < _ROW_CLOSE else _of_softmax(row, float(got.sum()))


def _of_factors(ratio: np.ndarray, threads: int) -> str:
    """Factors of a row that are the same for each thread, or for each warp."""
    if len(ratio) >= 2 * threads and np.ptp(ratio[:threads]) > _ROW_CLOSE:
        starts = (threads, len(ratio) // threads * threads - threads)
        if all(np.allclose(ratio[:threads], ratio[k : k + threads], rtol=_ROW_CLOSE) for k in starts):
            return (
                f"Numbers that are {threads} apart are off by the same factor, others by another one: each thread "
                "takes a number of its own where the row has one for all."
            )
    warps = [ratio[start : start + WARP] for start in range(0, len(ratio), WARP)]
    if len(warps) > 1 and all(np.ptp(warp) <= _ROW_CLOSE * abs(warp).max() for warp in warps):
        shares = ", ".join(f"{warp[0]:.4g}" for warp in warps[:4])
        return f"Each warp's numbers are off by a factor of their own ({shares}): the warps do not divide by one sum."
    return ""


def _of_powers(row: int, got: np.ndarray, wanted: np.ndarray) -> str:
    """A row that adds up to 1 as it should, of powers of other numbers than it should be."""
    said = f"The numbers of row {row} add up to 1, but they do not stand in the right proportion"
    if not (got > 0).all():
        return f"{said}: they are powers of other numbers than they should be."
    found, right = (f"{float(np.ptp(np.log(numbers))):.3g}" for numbers in (got, wanted))
    if found == right:
        return f"{said}."
    return (
        f"{said}: the largest score of the row is {found} above the smallest one where the powers are taken, and "
        f"{right} belongs there."
    )


def _of_softmax(row: int, total: float) -> str:
    """A row that should add up to 1, whose numbers are off by factors of their own."""
    return (
        f"The numbers of row {row} add up to {total:.4g}, not to 1, and each is off by another factor: they are not "
        "all divided by the one sum."
    )


def scaled_and_shifted(row: int, got: np.ndarray, wanted: np.ndarray) -> str:
    """A row whose numbers are the right ones times a number, and a number more or less; "" otherwise."""
    scale = float(abs(got).max())
    if np.ptp(got) <= _CLOSE * scale:
        return ""
    slope, shift = np.polyfit(wanted, got, 1)
    if abs(slope * wanted + shift - got).max() > _CLOSE * scale or abs(shift) <= 10 * _CLOSE * scale:
        return ""
    if abs(slope - 1) < 10 * _CLOSE:
        return ""
    return (
        f"In row {row} each number is {slope:.4g} times the right one {'plus' if shift > 0 else 'less'} "
        f"{abs(shift):.4g}: the row is shifted, and scaled besides."
    )


def _agree(one: np.ndarray, other: np.ndarray, kind: np.dtype) -> bool:
    """Whether all numbers are alike, as far as their type goes."""
    relative = 2e-3 if kind.itemsize == 2 else _CLOSE
    if kind.kind == "f":  # what is too large for the type is infinite there
        other = other.astype(kind).astype(np.float64)
    finite = one[np.isfinite(one)]
    if not finite.size or np.ptp(finite) == 0:
        return False
    return np.allclose(one, other, rtol=relative, atol=1e-30, equal_nan=True)
