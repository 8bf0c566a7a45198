"""What a learner hands in as a number or a word, in whatever type and unit."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from softlab.course.values import (
    OTHER_UNITS,
    as_float,
    in_other_units,
    is_number,
    is_power_of_ten,
    key,
    plain,
    shown,
    spaced,
)

#: How many bytes, or bytes per second, or parts of 1, one of a unit is.
SIZES = {
    "bits": Fraction(1, 8), "bytes": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "KiB": 1024, "MiB": 1024**2,
    "GiB": 1024**3, "gigabits per second": Fraction(1000**3, 8),
    "TB/s": 1000**4, "GB/s": 1000**3, "MB/s": 1000**2, "KB/s": 1000, "bytes per second": 1,
    "percent": Fraction(1, 100), "parts of 1": 1,
}  # fmt: skip


@pytest.mark.parametrize("unit", OTHER_UNITS)
def test_an_amount_is_the_same_in_each_unit(unit):
    for number, words in in_other_units(40.0, unit):
        other = words.partition(", in ")[2].partition(".")[0]
        assert other != unit
        assert math.isclose(number * SIZES[other], 40 * SIZES[unit])
        assert words == f"That is the right amount in another unit, in {other}. The answer is in {unit}."
    assert len(list(in_other_units(40.0, unit))) == len(OTHER_UNITS[unit])
    assert list(in_other_units(40.0, "lanes")) == []


@pytest.mark.parametrize(
    ("value", "same"),
    [
        (np.int64(5), 5), (np.uint8(200), 200), (np.float32(0.5), 0.5), (np.float16(2), 2.0), (np.array([[7]]), 7),
        (np.array(1.5), 1.5), (ml_dtypes.bfloat16(3), 3.0), (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("inf"), math.inf), (Fraction(1, 3), Fraction(1, 3)), (np.str_("a"), "a"), (np.bool_(True), True),
        (True, True), ("x", "x"), (None, None), (2**70, 2**70),
    ],
)  # fmt: skip
def test_a_value_in_plain_form(value, same):
    got = plain(value)
    assert got == same
    assert type(got) is type(same)
    assert is_number(got) == (type(same) in (int, float, Fraction))


def test_what_no_number_is_stays_as_it_is():
    class Changing(float):
        pass

    for value in (Changing(1), np.array([1, 2]), [1], {"a": 1}):
        assert plain(value) is value
        assert not is_number(value)
    assert plain([5]) == [5]


def test_a_number_that_is_too_large_for_a_float():
    assert as_float(10**400) == math.inf
    assert as_float(Fraction(1, 4)) == 0.25


@pytest.mark.parametrize(
    ("value", "same"),
    [
        (" Shared  Memory. ", "shared memory"), (["a-B"], "a b"), (("x",), "x"), (["x", "y"], None), ([], None),
        (np.array(["Yes!"]), "yes"), (np.float32(2), 2.0), ([3], 3), (True, None), (None, None),
    ],
)  # fmt: skip
def test_forms_of_the_same_choice_have_one_key(value, same):
    assert key(value) == same


@pytest.mark.parametrize(
    ("value", "words"),
    [(1 / 3, "0.3333333"), (np.float32(1e10), "1e+10"), (12_345_678, "12345678"), ("a", "'a'"), (True, "True")],
)
def test_a_value_for_a_sentence(value, words):
    assert shown(value) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (9999, "9999"), (10_000, "10 000"), (12_345_678, "12 345 678"), (-9999, "-9999"), (-10_000, "-10 000"),
        (0, "0"), (2.0, "2"),
        (2.54321, "2.543"), (12_345.5, "1.235e+04"), (1e14, "100 000 000 000 000"), (1e15, "1e+15"),
        (10**15 - 1, "999 999 999 999 999"), (1 - 10**15, "-999 999 999 999 999"),
    ],
)  # fmt: skip
def test_a_number_for_a_sentence(number, words):
    assert spaced(number) == words


@pytest.mark.parametrize(
    ("ratio", "is_one"),
    [
        (10, True), (-100, True), (0.1, True), (0.001, True), (10.02, True), (9.98, True), (10.03, False),
        (9.97, False), (1, False), (1.002, False), (2, False), (0, False), (math.inf, False), (math.nan, False),
    ],
)  # fmt: skip
def test_a_power_of_ten(ratio, is_one):
    assert is_power_of_ten(ratio) == is_one
