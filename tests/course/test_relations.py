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


A, B = ROW, np.array([2.0, -1.5, 4.0, 3.25, -6.0, 1.0, 0.5, 5.5, -2.25, 7.75, 2.5, -3.0])
#: What numbers are -> the numbers, by hand.
OF_ONE = {
    "x[i]": list(B), "-x[i]": [-a for a in B], "2 * x[i]": [a + a for a in B],
    "x[i] * x[i]": [a * a for a in B], "x[i] + 1": [a + 1 for a in B], "x[i] + 2": [a + 2 for a in B],
    "x[i] / 2": [0.5 * a for a in B], "the absolute value of x[i]": [max(a, -a) for a in B],
    "e to the power of x[i]": [np.e**a for a in B],
}  # fmt: skip
OF_TWO = {
    "x[i] + z[i]": [a + b for a, b in zip(A, B, strict=True)],
    "x[i] - z[i]": [a - b for a, b in zip(A, B, strict=True)],
    "z[i] - x[i]": [b - a for a, b in zip(A, B, strict=True)],
    "x[i] * z[i]": [a * b for a, b in zip(A, B, strict=True)],
    "the larger of x[i] and z[i]": [max(a, b) for a, b in zip(A, B[::-1], strict=True)],
    "the smaller of x[i] and z[i]": [min(a, b) for a, b in zip(A, B[::-1], strict=True)],
}


@pytest.mark.parametrize("words", OF_ONE)
def test_one_operation_of_a_number(words: str):
    got = np.array(OF_ONE[words])
    assert of_elements("y", got, np.ones(12, bool), {"n": np.arange(3.0), "x": B}) == f"y[i] is {words}."
    got[5] += 0.1
    assert of_elements("y", got, np.ones(12, bool), {"x": B}) == ""
    assert of_elements("y", got, np.arange(12) != 5, {"x": B}) == f"Where it is wrong, y[i] is {words}."


@pytest.mark.parametrize("words", OF_TWO)
def test_one_operation_of_two_numbers(words: str):
    got, z = np.array(OF_TWO[words]), B[::-1] if "er of" in words else B
    assert of_elements("y", got, np.ones(12, bool), {"x": A, "z": z}) == f"y[i] is {words}."
    got[5] += 0.1
    assert of_elements("y", got, np.ones(12, bool), {"x": A, "z": z}) == ""


#: Rows of which no two numbers that stand for them agree.
ROWS = np.random.default_rng(4).uniform(1, 3, (6, 5))
OF_ROW = {
    "the largest number of its row": [max(row) for row in ROWS],
    "the smallest number of its row": [min(row) for row in ROWS],
    "the first number of its row": [row[0] for row in ROWS],
    "the last number of its row": [row[4] for row in ROWS],
    "the sum of its row": [sum(row) for row in ROWS],
    "the mean of its row": [sum(row) / 5 for row in ROWS],
    "e to the power of the largest number of its row": [np.e ** max(row) for row in ROWS],
}
STEPS = {
    "{0} alone": lambda right, number: number,
    "the right number less {0}": lambda right, number: right - number,
    "the right number plus {0}": lambda right, number: right + number,
    "the right number less twice {0}": lambda right, number: right - 2 * number,
    "the right number times {0}": lambda right, number: right * number,
    "the right number divided by {0}": lambda right, number: right / number,
}


@pytest.mark.parametrize("of", OF_ROW)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("which", ["row", "column"])
def test_a_number_of_the_row_and_the_right_one(of: str, step: str, which: str):
    """Also where other inputs, which have no rows, come first, and where there are two results per row."""
    right = np.array([20.0, 31.0, 17.0, 44.0, 26.0, 39.0])
    got = STEPS[step](right, np.array(OF_ROW[of]))
    x = (ROWS if which == "row" else ROWS.T).astype(np.float64)
    words = step.format(f"{of} of x").replace("row", which)
    inputs = {"n": np.arange(30).reshape(6, 5), "w": ROWS[0], "small": ROWS[:3, :3], "x": x}
    assert of_rows("y", got, right, inputs) == f"y[i] is {words}."
    pair, wanted = np.stack((right, got), axis=1), np.stack((right, right), axis=1)
    assert of_rows("y", pair, wanted, inputs) == f"y[i, 1] is {words}."
    three = [np.concatenate((a, right[:, None]), axis=1) for a in (pair, wanted)]
    assert of_rows("y", *three, inputs) == "", "a matrix is no number per row"


@pytest.mark.parametrize("threads", [4, 32, 64])
@pytest.mark.parametrize("times", [1, 2, 3, 5])
@pytest.mark.parametrize("more", [0, 3])
def test_factors_of_each_thread(threads: int, times: int, more: int):
    """Compared are the first numbers with the second and the last whole ones."""
    random = np.random.default_rng(threads * times)
    wanted = random.uniform(1, 9, threads * times + more)
    factor = np.resize(random.uniform(0.2, 0.9, threads), len(wanted))
    words = f"Numbers that are {threads} apart are off by the same factor, others by another one: each thread takes"
    assert of_row(3, factor * wanted, wanted, threads).startswith(words) == (times > 1)
    for at in (threads, threads * times - 1) if times > 1 else ():
        other = factor.copy()
        other[at] *= 1.01
        assert not of_row(3, other * wanted, wanted, threads).startswith(words)


@pytest.mark.parametrize("warps", [1, 2, 3, 5])
@pytest.mark.parametrize("more", [0, 7])
def test_factors_of_each_warp(warps: int, more: int):
    random = np.random.default_rng(warps)
    wanted = random.uniform(1, 9, 32 * warps + more)
    shares = 0.25 + 0.125 * random.permutation(warps + 1)
    factor = np.repeat(shares, 32)[: len(wanted)]
    found = of_row(3, factor * wanted, wanted, 1024)
    first = ", ".join([f"{share:.4g}" for share in factor[::32]][:4])
    words = f"Each warp's numbers are off by a factor of their own ({first}): the warps do not divide by one sum."
    assert (found == words) == (len(wanted) > 32)
    for at in (1, 31, len(wanted) - 1):
        other = factor.copy()
        other[at] *= 1.01
        assert of_row(3, other * wanted, wanted, 1024) != words
