"""What is wrong with a softmax, from its numbers: what each lane subtracts, and what it divides by."""

from __future__ import annotations

import numpy as np

from softlab.course.clinic.seen import Seen
from softlab.emulator.lanes import WARP

#: Differences by which two numbers are alike.
_CLOSE = 2e-3
#: Sizes of groups of lanes that may have a maximum of their own.
_GROUPS = (32, 16, 8, 4, 2)


def of_softmax(seen: Seen) -> str:
    """A sentence on the worst row of a wrong softmax; "" where the result is none."""
    array = next(iter(seen.inputs.values()), None)
    if array is None or array.shape != seen.got.shape or seen.got.dtype.kind != "f" or seen.got.shape[-1] < WARP:
        return ""
    rows, got, wanted = (a.reshape(-1, a.shape[-1]).astype(np.float64) for a in (array, seen.got, seen.wanted))
    wrong = seen.wrong.reshape(got.shape)
    for row in range(len(rows)):
        total = wanted[row].sum()
        if not wrong[row].any() or not (np.isfinite(total) and np.isfinite(got[row]).all()) or (wanted[row] < 0).any():
            continue
        if total == 0:
            return f"Row {row} is masked as a whole, so it has to be 0, and its numbers add up to {got[row].sum():.4g}."
        if abs(total - 1) > _CLOSE:
            return ""
        masked = np.isneginf(rows[row])
        if masked.any() and not got[row].any():
            return f"Row {row} is masked in part only, and the kernel gives it nothing but 0."
        if masked.any() and (got[row][masked] != 0).any():
            return f"In row {row} masked numbers get a share, {got[row][masked].max():.4g}, where they have to get 0."
        if not got[row].any():
            return f"Row {row} is nothing but 0, and no number of it is masked: its powers or their sum are lost."
        if said := _of_row(row, rows[row][~masked], got[row][~masked]):
            return said
    return ""


def _of_row(row: int, x: np.ndarray, got: np.ndarray) -> str:
    """x: the numbers of the row; got: what they became."""
    if np.ptp(got) <= _CLOSE * got.max() and np.ptp(x) > _CLOSE:
        return f"All numbers of row {row} come out as {got[0]:.4g}, though those of x differ: all powers are one."
    if (got <= 0).any():
        return ""
    # Each lane has exp(x - subtracted) / sum, so this is what it subtracts, and the logarithm of its sum.
    taken = x - np.log(got)
    if np.ptp(taken) <= _CLOSE:
        return _of_divisor(row, x, float(taken[0]))
    slope = float(np.polyfit(x, taken, 1)[0])
    if np.ptp(taken - slope * x) <= _CLOSE and abs(slope) > _CLOSE:
        return f"In row {row} the exponent is {1 - slope:.4g} times what it should be: another base, or a factor."
    last = np.maximum.accumulate(x[::-1])[::-1]
    if np.ptp(taken - last) <= _CLOSE:
        return (
            f"In row {row} each lane subtracts the largest number from its own place on: only lane 0 has the maximum "
            "of the whole row."
        )
    return _of_groups(row, x, taken)


def _of_groups(row: int, x: np.ndarray, taken: np.ndarray) -> str:
    for size in _GROUPS:
        if len(x) % size or len(x) == size:
            continue
        parts, numbers = taken.reshape(-1, size), x.reshape(-1, size)
        if np.ptp(parts, axis=1).max() > _CLOSE:
            continue
        what = "warp" if size == WARP else f"group of {size} lanes"
        if np.ptp(parts[:, 0] - numbers.max(axis=1)) <= _CLOSE:
            return f"In row {row} each {what} subtracts the maximum of its own numbers, and not that of the whole row."
        if np.ptp(parts[:, 0] - np.log(np.exp(numbers - x.max()).sum(axis=1))) <= _CLOSE:
            return f"In row {row} each {what} divides by the sum of its own powers, and not by that of the whole row."
        known = ", ".join(f"{part:.4g}" for part in np.exp(parts[:3, 0] - x.max()))
        return (
            f"In row {row} each {what} subtracts or divides by a number of its own. With the row's maximum subtracted, "
            f"the divisors are {known}, and the sum is {np.exp(x - x.max()).sum():.4g}."
        )
    return ""


def _of_divisor(row: int, x: np.ndarray, taken: float) -> str:
    """All lanes divide by one number, which is not the sum of the powers."""
    most = x.max()
    powers = np.exp(x - most)
    total, divisor = powers.sum(), float(np.exp(taken - most))
    warps = [x[start : start + WARP] for start in range(0, len(x), WARP)]
    maxima, sums = [part.max() for part in warps], [np.exp(part - most).sum() for part in warps]
    said = f"The powers of row {row} are right. They are divided by {divisor:.4g}"
    known = {
        "the sum of the warps' maxima": sum(maxima),
        "the maximum": most,
        **{f"the sum and the maximum of warp {k}": total + own for k, own in enumerate(maxima)},
        **({f"the sum of warp {k} alone": own for k, own in enumerate(sums)} if len(sums) > 1 else {}),
        **{f"{times} times the sum": times * total for times in (2, 4, 8, 16, 32, 64)},
        "the sum without the largest power, which is 1": total - 1,
        "the sum and 1 more": total + 1,
    }
    for words, value in known.items():
        if abs(divisor - value) <= _CLOSE * abs(value):
            return f"{said}, which is {words}, and not by their sum, {total:.4g}."
    return f"{said}, and not by their sum, {total:.4g}."
