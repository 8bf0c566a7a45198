"""What a learner hands in as a value: numbers and words in plain form, whatever their type, and other units."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

_NUMPY = frozenset(kind for kind in np.sctypeDict.values() if issubclass(kind, np.integer | np.floating))
#: The types of numbers. A type derived from one of them may compute its value anew each time, so it is none.
_NUMBERS = frozenset({int, float, Fraction, Decimal, ml_dtypes.bfloat16}) | _NUMPY
#: What a number with three digits may be off by, as a logarithm of base 10.
_DIGITS_LEFT = 1e-3
#: Whole numbers from here on are given with four digits.
_MOST_DIGITS = 1e15
_KB, _KIB = 1e3, 2.0**10
#: Unit -> other units that a learner may have taken -> how many of those one of it is.
OTHER_UNITS: Mapping[str, Mapping[str, float]] = {
    "bytes": {
        "bits": 8, "KiB": 1 / _KIB, "MiB": 1 / _KIB**2, "GiB": 1 / _KIB**3,
        "KB": 1 / _KB, "MB": 1 / _KB**2, "GB": 1 / _KB**3,
    },
    "GB/s": {"gigabits per second": 8, "TB/s": 1 / _KB, "MB/s": _KB, "KB/s": _KB**2, "bytes per second": _KB**3},
    "MiB": {"bytes": _KIB**2, "KiB": _KIB, "GiB": 1 / _KIB},
    "percent": {"parts of 1": 0.01},
    "parts of 1": {"percent": 100},
}  # fmt: skip


def plain(value: Any) -> Any:
    """A number as an int, a float or a Fraction, and a text as a str; anything else as it is.

    A number or a text of NumPy counts, and so does an array of one element.
    """
    if type(value) is np.ndarray and value.size == 1:
        value = value.reshape(-1)[0]
    kind = type(value)
    if kind is np.str_:
        return str(value)
    if kind is np.bool_:
        return bool(value)
    if kind not in _NUMBERS:
        return value
    if kind is Decimal:
        return Fraction(value) if value.is_finite() else float(value)
    if kind in (int, float, Fraction):
        return value
    return int(value) if issubclass(kind, np.integer) else float(value)


def is_number(value: Any) -> bool:
    """Whether a plain value is a number. A truth value is none."""
    return type(value) in (int, float, Fraction)


def as_float(number: Any) -> float:
    """The number as a float; infinity where it is too large for one."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def key(value: Any) -> Any:
    """What two forms of the same choice have in common: case, blanks and punctuation do not matter."""
    if type(value) in (list, tuple) and len(value) == 1:
        value = value[0]
    value = plain(value)
    if type(value) is str:
        return " ".join(re.findall(r"\w+", value.casefold()))
    return value if is_number(value) else None


def shown(value: Any) -> str:
    """A value for a sentence: a float with seven digits, anything else as Python writes it."""
    value = plain(value)
    return f"{value:.7g}" if type(value) is float else repr(value)


def is_power_of_ten(ratio: float) -> bool:
    """Whether a ratio is 10, 100, 0.1 or the like, up to a few digits that a learner has left out."""
    power = math.log10(abs(ratio)) if ratio and math.isfinite(ratio) else 0.5
    return abs(power - round(power)) < _DIGITS_LEFT and round(power) != 0


def spaced(number: float) -> str:
    """A number for a sentence: 10 000 and more with spaces, a fraction with four digits."""
    if float(number).is_integer() and abs(number) < _MOST_DIGITS:
        return f"{int(number):,}".replace(",", " ") if abs(number) >= 10_000 else f"{int(number)}"
    return f"{number:.4g}"


def in_other_units(right: float, unit: str) -> Iterator[tuple[float, str]]:
    """The right number in other units, each with what to say to it."""
    for other, factor in OTHER_UNITS.get(unit, {}).items():
        yield right * factor, f"That is the right amount in another unit, in {other}. The answer is in {unit}."
