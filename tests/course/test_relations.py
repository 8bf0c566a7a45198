"""What is said of the numbers of a row, for small and for large numbers: the limits go with them."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.course.relations import of_elements, of_row, of_rows, taken_off

#: Numbers of which no two differ alike.
ROW = np.array([3.0, 7.5, 1.25, 9.0, 4.5, 2.0, 8.0, 6.25, 5.0, 1.75, 3.5, 7.0])
UP = np.where(np.arange(12) % 2, 1.0, 0.0)
SCALES = (2.0**-20, 1.0, 2.0**20)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("off", "side"), [(5.0, "large"), (-5.0, "small"), (0.02, "large")])
def test_numbers_that_are_all_off_by_one_difference(scale: float, off: float, side: str):
    """Up to a thousandth of the difference, and a few roundings of the largest number."""
    words = f"In row 3 all numbers are too {side} by {abs(off) * scale:.4g}."
    allowed = 1e-3 * abs(off) + 4e-6 * 9
    assert of_row(3, (ROW + off) * scale, ROW * scale, 32) == words
    assert of_row(3, (ROW + off + 0.9 * allowed * UP) * scale, ROW * scale, 32) == words
    assert of_row(3, (ROW + off + 1.1 * allowed * UP) * scale, ROW * scale, 32) != words


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("off", "told"), [(0.0091, True), (0.0089, False), (-0.0091, True), (-0.0089, False)])
def test_a_difference_of_less_than_a_thousandth_is_none(scale: float, off: float, told: bool):
    assert bool(of_row(3, (ROW + off) * scale, ROW * scale, 32)) == told


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    ("factor", "told"), [(2.5, True), (-1.0, True), (1.0011, True), (1.0009, False), (0.9989, True)]
)
def test_numbers_that_are_all_off_by_one_factor(scale: float, factor: float, told: bool):
    said = of_row(3, ROW * factor * scale, ROW * scale, 32)
    assert said == (f"In row 3 all numbers are {factor:.4g} times what they should be." if told else "")


def test_a_factor_may_be_rounded():
    """By a thousandth of the largest one."""
    for off, told in ((0.9e-3, True), (1.2e-3, False)):
        said = of_row(3, ROW * 2.5 * (1 - off * UP), ROW, 32)
        assert ("times what they should be" in said) == told


def test_rows_that_say_nothing_of_a_factor():
    assert of_row(3, ROW * 0, ROW, 32) == "Row 3 is nothing but 0."
    assert of_row(3, np.full(12, 2.0), np.full(12, 2.0), 32) == ""
    assert of_row(3, ROW * UP, np.full(12, 2.0), 32) == "", "all numbers should be alike"
    some = ROW * UP
    assert of_row(3, 2.5 * some, some, 32) == "", "a number should be 0"


POWERS = np.exp(-np.abs(ROW - 5) / 2)
SHARES = POWERS / POWERS.sum()


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (3 * SHARES, "The numbers of row 3 stand in the right proportion and add up to 3, not to 1: the powers are "
         "right, and what they are divided by is not their sum."),
        (SHARES * (1 + ROW), "The numbers of row 3 add up to {total:.4g}, not to 1, and each is off by another factor: "
         "they are not all divided by the one sum."),
        (SHARES**2 / (SHARES**2).sum(), "The numbers of row 3 add up to 1, but they do not stand in the right "
         "proportion: the largest score of the row is 4 above the smallest one where the powers are taken, and 2 "
         "belongs there."),
        (SHARES[::-1], "The numbers of row 3 add up to 1, but they do not stand in the right proportion."),
        (np.append(SHARES[:-1] * (1 / SHARES[:-1].sum()), 0), "The numbers of row 3 add up to 1, but they do not stand "
         "in the right proportion: they are powers of other numbers than they should be."),
        (SHARES - 2 * SHARES * (np.arange(12) == 4), ""),
    ],
)  # fmt: skip
def test_rows_that_have_to_add_up_to_1(got: np.ndarray, said: str):
    assert of_row(3, got, SHARES, 32) == said.format(total=got.sum())


@pytest.mark.parametrize(("total", "share"), [(1 + 0.9e-3, True), (1 + 1.1e-3, False), (1 - 1.1e-3, False)])
def test_a_row_of_shares_adds_up_to_1_but_for_rounding(total: float, share: bool):
    said = of_row(3, 3 * SHARES * total, SHARES * total, 32)
    assert said.startswith("The numbers of row 3 stand") == share
    squares = SHARES**2 / (SHARES**2).sum()
    assert of_row(3, squares * total, SHARES, 32).startswith("The numbers of row 3 add up to 1, but") == share


@pytest.mark.parametrize("scale", SCALES[1:])
def test_a_row_that_another_number_is_taken_off_is_known_at_any_size(scale: float):
    """Rounding counts beside 1, so a row of smaller numbers has no such number."""
    assert taken_off("y", "x", 3, (ROW - 7.5) * scale, (ROW - 9) * scale, ROW * scale) == (
        "In row 3, y is x less x[3, 1], where x less x[3, 3] belongs."
    )
    assert taken_off("y", "x", 3, (ROW + 9) * scale, (ROW - 9) * scale, ROW * scale) == (
        "In row 3, y is x plus x[3, 3], and not less."
    )
    assert taken_off("y", "x", 3, (ROW - 7.25) * scale, (ROW - 9) * scale, ROW * scale) == (
        f"In row 3, y is x less {7.25 * scale:.5g}, where x less x[3, 3] belongs."
    )


MATRIX = np.stack([np.roll(ROW, shift) * (1 + shift) for shift in range(8)]).astype(np.float32)


@pytest.mark.parametrize("scale", SCALES)
def test_numbers_of_rows_are_known_at_any_size(scale: float):
    rows = MATRIX * np.float32(scale)
    right = rows.sum(axis=1)
    assert of_rows("y", right - rows[:, 0], right, {"x": rows}) == (
        "y[i] is the right number less the first number of its row of x."
    )
    for off, told in ((0.5e-4, True), (3e-4, False)):
        noise = 1 + np.where(np.arange(8) % 2, off, -off)
        assert bool(of_rows("y", (right - rows[:, 0]) * noise, right, {"x": rows})) == told
    few = right.copy()
    few[:3] -= rows[:3, 0]
    assert of_rows("y", few, right, {"x": rows}) == ""


@pytest.mark.parametrize(("kind", "off", "told"), [(np.float16, 1e-3, True), (np.float16, 4e-3, False),
                                                   (np.float32, 0.5e-4, True), (np.float32, 2e-4, False)])  # fmt: skip
def test_numbers_are_alike_as_far_as_their_type_goes(kind: type, off: float, told: bool):
    x = ROW.astype(kind)
    got = (2 * x.astype(np.float64) * (1 + off * np.where(np.arange(12) % 2, 1, -1))).astype(kind)
    assert of_elements("y", got, np.ones(12, bool), {"x": x}) == ("y[i] is 2 * x[i]." if told else "")


def test_a_few_wrong_numbers_make_a_rule():
    wrong = np.arange(12) < 4
    got = np.where(wrong, -ROW, 0)
    assert of_elements("y", got, wrong, {"x": ROW}) == "Where it is wrong, y[i] is -x[i]."
    assert of_elements("y", got, np.arange(12) < 3, {"x": ROW}) == ""
    assert of_elements("y", np.full(12, 2.0), np.ones(12, bool), {"x": np.full(12, 2.0)}) == "", (
        "one number says nothing"
    )
    assert of_elements("x", -ROW, np.ones(12, bool), {"x": ROW}) == "", "an array is no input of itself"
