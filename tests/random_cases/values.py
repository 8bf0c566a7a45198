"""Kinds of values: each fills rows along the last axis, in float64, and is then converted to the element type.

Registered by name, so that a case can name its kind and a summary can count it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from softlab.dtypes import element_type

Generator = np.random.Generator


@dataclass(frozen=True)
class Range:
    """What an element type holds: its largest number, smallest normal and subnormal ones, and bits of mantissa."""

    largest: float
    normal: float
    subnormal: float
    bits: int


Kind = Callable[[Generator, tuple[int, ...], Range], np.ndarray]
KINDS: dict[str, Kind] = {}


def _kind(fill: Kind) -> Kind:
    KINDS[fill.__name__] = fill
    return fill


def values(kind: str, random: Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """An array of the dtype, of a kind; integers and bool take what lies in their range."""
    if dtype in ("bool", "int8", "int32", "uint8"):
        return random.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)
    element = element_type(dtype).numpy
    limits = ml_dtypes.finfo(element)
    bounds = Range(
        float(limits.max), float(limits.smallest_normal), float(limits.smallest_subnormal), int(limits.nmant) + 1
    )
    with np.errstate(over="ignore"):
        return KINDS[kind](random, shape, bounds).astype(element)


def _rows(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape[:-1], 1)


@_kind
def normal(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """Each row with a scale and an offset of its own."""
    rows = _rows(shape)
    return random.standard_normal(shape) * random.choice([0.1, 1, 4], rows) + random.choice([-8, 0, 8], rows)


@_kind
def wide(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """Over all that an exponential of float tells from 0."""
    return random.uniform(-110, 0, shape)


@_kind
def few(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """Small integers: many ties, many maxima."""
    return random.integers(-2, 3, shape).astype(np.float64)


@_kind
def constant(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """Each row of one number."""
    return np.broadcast_to(random.standard_normal(_rows(shape)) * random.choice([1, 1000], _rows(shape)), shape)


@_kind
def peak(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """One element far above the rest of its row."""
    x = random.standard_normal(shape)
    if shape and shape[-1]:
        column = random.integers(0, shape[-1], _rows(shape))
        np.put_along_axis(x, column, random.choice([20.0, 60.0, 200.0], _rows(shape)), axis=-1)
    return x


@_kind
def offset(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """A large common offset that keeps the differences: 1e7 in float32 and float64, 1000 in 16 bits."""
    steps = np.round(random.standard_normal(shape) * 3)
    return (1e7 if bounds.bits >= 24 else 1000.0 if bounds.bits == 11 else 200.0) + steps


@_kind
def exponents(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """Any sign, any power of two of the type."""
    low, high = np.log2(bounds.subnormal), np.log2(bounds.largest)
    return random.choice([-1.0, 1.0], shape) * np.exp2(random.uniform(low, high, shape))


@_kind
def huge(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """Up to the largest number of the type, of either sign."""
    return bounds.largest * random.uniform(-1, 1, shape)


@_kind
def largest(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """Rows of the largest number (65504 in half), of its negative, or of both."""
    sign = np.where(random.random(_rows(shape)) < 0.5, 1.0, random.choice([-1.0, 1.0], shape))
    return bounds.largest * random.choice([-1.0, 1.0], _rows(shape)) * sign


@_kind
def tiny(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """Subnormal numbers and zeros."""
    return bounds.subnormal * random.integers(-100, 101, shape)


@_kind
def minus_infinities(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """A part of each row is -inf: none, few, most, or all of it."""
    share = random.choice([0.0, 0.1, 0.9, 1.0], _rows(shape))
    return np.where(random.random(shape) < share, -np.inf, random.standard_normal(shape))


@_kind
def infinities(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """Rows with +inf, with both infinities, and without any."""
    x = minus_infinities(random, shape, bounds)
    share = random.choice([0.0, 0.01, 0.5], _rows(shape))
    return np.where(random.random(shape) < share, np.inf, x)


@_kind
def not_a_number(random: Generator, shape: tuple[int, ...], bounds: Range) -> np.ndarray:
    """Rows with NaN, also beside infinities; ordinary rows between them."""
    x = np.where(random.random(_rows(shape)) < 0.2, infinities(random, shape, bounds), normal(random, shape, bounds))
    share = random.choice([0.0, 0.01, 0.5, 1.0], _rows(shape))
    return np.where(random.random(shape) < share, np.nan, x)
