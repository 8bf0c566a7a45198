"""What a kernel that adds powers of e does with the numbers of a row, from runs with rows made for the question.

A softmax, the logarithm of a sum of powers and the sum itself stay finite as long as the largest number is subtracted,
and each number counts once. So one low number in a level row shows what is subtracted, and one high number shows how
often it counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from softlab.course.probes import Seen

#: Columns from which a row says something.
_SHORTEST = 4
#: A number that is so much lower adds e^-50 to a sum, which no float shows beside 1.
_FAR = 50.0
#: By how much a count may be off a whole number: powers and logarithms of float32 round.
_ROUNDED = 1e-3

#: (result, rows, row, column) -> the sum of powers of that row, as the result in that column tells it.
Sum = Callable[[np.ndarray, np.ndarray, int, int], float]
Function = Callable[[np.ndarray], np.ndarray]


def subtracted(seen: Seen) -> str:
    """What is wrong with the exponents where infinity or NaN comes of it; "" where nothing is known.

    It is the number that is subtracted in place of the largest one, or the sign.
    """
    bad = seen.wrong & ~np.isfinite(seen.got.astype(np.float64)) & np.isfinite(seen.wanted.astype(np.float64))
    if not bad.any() or not _adds_powers(seen):
        return ""
    for name, array in _rows(seen):
        level = np.full_like(array, np.median(array[np.isfinite(array)]))
        near = level.copy()
        near[:, ::2] -= 1
        known, found = _function(array, seen.wanted), seen.run({name: near})
        if known is None or found is None:
            continue
        if known[0] is _softmax and _alike(found, _softmax(-near.astype(np.float64))):
            return f"Small numbers of {name} get large shares: the sign of the exponent is the wrong way round."
        if not _alike(found, known[0](near.astype(np.float64))):
            continue  # where no number is far from the others, any of them may be subtracted
        if said := _too_low(seen, name, level):
            return said
    return ""


def _too_low(seen: Seen, name: str, level: np.ndarray) -> str:
    """Which numbers of level rows give infinity or NaN where one of them alone is low."""
    below = 2 * float(np.log(np.finfo(level.dtype if level.dtype.itemsize > 4 else np.float32).max))
    places, infinite = _places(level.shape[1]), {}
    for place in places:
        one_low = level.copy()
        one_low[:, place] -= below
        found = seen.run({name: one_low})
        if found is not None and not np.isfinite(found).all():
            infinite[place] = float(found[~np.isfinite(found)][0])
    if not infinite:
        return ""
    value = next(iter(infinite.values()))
    if len(infinite) == len(places):
        return (
            f"With any one number of a row of {name} {below:.0f} below the others, {seen.name} is {value:g}: a "
            "small number is subtracted, and not the largest one."
        )
    which = " or ".join(f"{name}[i, {place}]" for place in infinite)
    return (
        f"With {which} of each row i {below:.0f} below the others, {seen.name} is {value:g}, and with other "
        f"numbers as low it is not: {which} is subtracted, and not the largest number."
    )


def counts(seen: Seen) -> str:
    """A number of each row that does not count once in the sum of powers; "" for none that is known."""
    if not _adds_powers(seen):
        return ""
    for name, array in _rows(seen):
        known = _function(array, seen.wanted)
        if known is None:
            continue
        function, total = known
        row = int(np.argmax(seen.wrong.reshape(len(array), -1).any(axis=1)))
        times: dict[int, int] = {}
        for place in _places(array.shape[1]):
            one_high = np.full_like(array, -_FAR)
            one_high[:, place] = 0
            number = _whole(_sum_of(seen, name, one_high, total, row, place))
            if number is None:
                return ""
            times[place] = number
        return _of_times(_Tried(seen, name, array, row, function, total), times)
    return ""


@dataclass(frozen=True)
class _Tried:
    """An input of rows, the function of them that is asked for, and how its results tell the sum of one row."""

    seen: Seen
    name: str
    array: np.ndarray
    row: int
    function: Function
    total: Sum

    def adds(self, numbers: np.ndarray, place: int) -> float:
        """The sum of powers that the kernel finds for rows of these numbers, by the result at that place."""
        made = np.tile(numbers.astype(self.array.dtype), (len(self.array), 1))
        return _sum_of(self.seen, self.name, made, self.total, self.row, place)

    def adds_always(self, more: int) -> bool:
        """Whether that much is added to the sum whatever the numbers are, also where they grow or fall."""
        cols = self.array.shape[1]
        slope = np.linspace(-1, 0, cols)
        for numbers in (np.zeros(cols), slope, slope[::-1]):
            found, right = self.adds(numbers, cols // 2), float(np.exp(numbers).sum()) + more
            if not abs(found - right) <= _ROUNDED * max(1.0, abs(right)):
                return False
        return True

    def own_row(self) -> bool:
        """Whether a row's result stays as it is where the other rows change."""
        made = np.full_like(self.array, -1)
        made[self.row] = 0
        alone = _sum_of(self.seen, self.name, made, self.total, self.row, 0)
        return math.isclose(alone, self.adds(np.zeros(self.array.shape[1]), 0), rel_tol=_ROUNDED)

    def right_if_near(self) -> bool:
        """Whether the result is right where one number in the middle is a little larger than the others."""
        made = np.full_like(self.array, -1)
        made[:, self.array.shape[1] // 2] = 0
        found = self.seen.run({self.name: made})
        return found is not None and _alike(found, self.function(made.astype(np.float64)))


def _sum_of(seen: Seen, name: str, made: np.ndarray, total: Sum, row: int, place: int) -> float:
    """The sum of powers in a run with such rows; NaN where it did not end well."""
    found = seen.run({name: made})
    if found is None:
        return np.nan
    with np.errstate(all="ignore"):
        return total(found.astype(np.float64), made.astype(np.float64), row, place)


def _whole(number: float) -> int | None:
    """The whole number that this is but for rounding; None where it is none."""
    if not np.isfinite(number) or abs(number - round(number)) > _ROUNDED * max(1, number):
        return None
    return round(number)


def _of_times(tried: _Tried, times: Mapping[int, int]) -> str:
    """A sentence on numbers that do not count once. times: place in the row -> how often it counts when it is high."""
    name, cols = tried.name, tried.array.shape[1]
    off = {place: number for place, number in times.items() if number != 1}
    if len(off) > 1 and all(number == place + 1 for place, number in times.items()):
        return (
            f"Where a number of a row of {name} is far above those before it, these count as much as it does: the "
            "sum so far is not scaled down when the maximum grows."
        )
    if len(off) == len(times) - 1 and 0 not in off and not any(off.values()):
        left_out = f"A number of a row of {name} that is larger than those before it is left out of the sum."
        return "" if tried.right_if_near() else left_out
    if len(off) == len(times) and len(set(off.values())) == 1:
        each = off[0]
        if tried.adds_always(each - 1):
            return (
                f"The sum of a row of {name} is {abs(each - 1)} too {'large' if each > 1 else 'small'}, whatever the "
                "numbers: it has to begin with 0."
            )
        counted = each > 1 and _whole(tried.adds(np.zeros(cols), 0)) == each * cols and tried.own_row()
        return f"Each number of a row of {name} {_times(each)} in the sum." if counted else ""
    if off and len(off) <= len(times) // 2:
        said = [f"{name}[i, {place}] {_times(number)}" for place, number in off.items()]
        # Several may be the ends of a gap between the numbers that were tried.
        tries = f" Of each row, {len(times)} numbers were tried." if 1 < len(off) < len(times) < cols else ""
        return f"In the sum of each row i, {' and '.join(said)}, where each number counts once.{tries}"
    return ""


def _adds_powers(seen: Seen) -> bool:
    return seen.got.dtype.kind == "f" and "exp" in seen.kernel.program.source


def _rows(seen: Seen) -> Iterator[tuple[str, np.ndarray]]:
    """The inputs that are rows of numbers, each row with results of its own."""
    for name, array in seen.inputs.items():
        rows = array.ndim == 2 and array.dtype.kind == "f" and array.shape[1] >= _SHORTEST
        if rows and seen.wanted.size % len(array) == 0 and np.isfinite(array).any():
            yield name, array


def _places(cols: int) -> list[int]:
    return sorted({0, 1, cols // 2, cols - 2, cols - 1})


def _times(times: int) -> str:
    return "is left out" if times == 0 else "counts twice" if times == 2 else f"counts {times} times"


def _log_sum(rows: np.ndarray) -> np.ndarray:
    most = rows.max(axis=1)
    return np.asarray(most + np.log(np.exp(rows - most[:, None]).sum(axis=1)))


def _softmax(rows: np.ndarray) -> np.ndarray:
    powers = np.exp(rows - rows.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _pair(rows: np.ndarray) -> np.ndarray:
    most = rows.max(axis=1)
    return np.stack([most, np.exp(rows - most[:, None]).sum(axis=1)], axis=1)


#: What a kernel may have to compute of rows in double precision, and how its result tells the sum of a row's powers.
_FUNCTIONS: tuple[tuple[Function, Sum], ...] = (
    (_log_sum, lambda found, rows, row, place: float(np.exp(found.reshape(-1)[row]))),
    (_softmax, lambda found, rows, row, place: float(np.exp(rows[row, place]) / found[row, place])),
    (_pair, lambda found, rows, row, place: float(np.exp(found.reshape(-1, 2)[row, 0]) * found.reshape(-1, 2)[row, 1])),
)


def _function(array: np.ndarray, wanted: np.ndarray) -> tuple[Function, Sum] | None:
    """What the kernel has to compute of these rows; None where it is nothing of this kind."""
    with np.errstate(all="ignore"):
        for function, total in _FUNCTIONS:
            if _alike(function(array.astype(np.float64)), wanted.astype(np.float64)):
                return function, total
    return None


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether as many numbers are alike where they are finite; those far below the usual one may round."""
    if one.size != other.size:
        return False
    one, other = one.reshape(-1).astype(np.float64), other.reshape(-1)
    finite = np.isfinite(one) & np.isfinite(other)
    if not finite.any():
        return False
    usual = float(np.median(abs(other[finite])))
    return bool(np.allclose(one[finite], other[finite], rtol=_ROUNDED, atol=_ROUNDED * usual))
