"""What a wrong kernel does, in words. The kernels are Python functions here, so that many of them cost little."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from softlab.course.behaviour import OVER_ZERO, behaviour
from softlab.course.launch_cases import LaunchCase
from softlab.errors import Error
from softlab.kernel import Kernel

X = np.random.default_rng(5).permutation(64).astype(np.float32) + 1
NEW = np.full(64, np.nan, np.float32)
MOVED = "y has the right numbers in other places: "


class Made:
    """A kernel that is a function of its arrays; a run must not change those of the launch."""

    def __init__(self, work, source=""):
        self.work, self.program = work, SimpleNamespace(source=source)

    def run(self, grid, block, args, smem, *, budget, record=True, **options):
        assert budget
        if record:
            raise Error("no record")
        self.work(*args)

    def steps(self, *args, **options):
        raise Error("no steps")


def said(work, wanted, x=X, start=None, *, block=64, grid=1, relative=0.0, source=""):
    """What behaviour() says of a kernel whose parameters are x and y."""
    start = np.full(wanted.shape, np.nan, np.float32) if start is None else start
    launch = LaunchCase(grid, block, {"x": x, "y": start}, {"y": wanted}, relative=relative)
    args = launch.fresh()
    work(*args.values())
    return behaviour(Made(work, source), launch, "y", args["y"])


def stores(values, places=slice(None)):
    """A kernel that stores these values whatever its input is."""

    def work(x, y):
        y[places] = values[places]

    return work


def gives(function):
    """A kernel whose result is a function of its input."""

    def work(x, y):
        y[...] = function(x)

    return work


@pytest.mark.parametrize(
    ("places", "words"),
    [
        (slice(0), "Nothing is stored to y."), (slice(0, 48), "y[48] to y[63], the last one, are never stored."),
        (slice(16, 64), "y[0] to y[15] are never stored."), (np.arange(64) != 5, "y[5] is never stored."),
        (np.arange(64) % 2 == 0, "y[1] to y[63] in steps of 2 are never stored."),
        (~np.isin(np.arange(64), (3, 9, 50)), "y[3], y[9] and 1 more are never stored."),
        (~np.isin(np.arange(64), (3, 9, 50, 60)), "y[3], y[9] and 2 more are never stored."),
    ],
)  # fmt: skip
def test_what_is_never_stored(places, words):
    assert said(stores(X, places), X, block=32) == words
    many = said(stores(X, places), X, block=(8, 4), grid=(2, 1)).removeprefix(words)
    assert many == ("" if words.startswith("Nothing") else
                    " 64 threads ran for 64 elements: several have one index, or a test keeps some out.")  # fmt: skip


def test_what_is_stored_and_wrong_is_not_left_out():
    def work(x, y):
        y[8:] = X[8:]
        y[20] = -1

    assert "never stored" not in said(work, X)


def test_what_had_to_stay_as_before():
    start = np.arange(64, dtype=np.float32) + 500
    wanted = np.where(np.arange(64) < 48, X, start)
    assert (
        said(stores(X), wanted, start=start)
        == "y[48] to y[63], the last one, are stored to, and had to stay as before."
    )
    assert "as before" not in said(stores(-X), wanted, start=start), "others are wrong as well"


@pytest.mark.parametrize(
    ("size", "factor", "told"),
    [(1, 2, True), (1, 64, True), (1, 65, False), (2, 65, True), (3, 3, True), (4, 3, False), (1, 1.5, False),
     (2, -2, False)],
)  # fmt: skip
def test_few_results_that_are_too_large_by_one_factor(size, factor, told):
    wanted = X[:size] * 7
    words = said(stores(wanted * factor), wanted, start=np.zeros(size, np.float32))
    assert (words == f"y is {factor} times what it should be: something is added {factor} times.") == told
    one_off = wanted * factor
    one_off[-1] += 1
    assert "something is added" not in said(stores(one_off), wanted)
    assert "something is added" not in said(stores(wanted), np.zeros(size, np.float32))


#: Words -> how the elements lie, for rows of 12: only what NumPy's own functions say.
ORDERS = {
    "the order of all is reversed": lambda a: a.reshape(-1)[::-1].reshape(a.shape),
    "each row is reversed": np.fliplr,
    "the order of the rows is reversed": np.flipud,
    **{
        f"the order is reversed within groups of {group}": (
            lambda a, group=group: a.reshape(-1, group)[:, ::-1].reshape(a.shape)
        )
        for group in (4, 32, 64, 128)
    },
    **{
        f"elements that are {mask} apart have changed places": (
            lambda a, mask=mask: a.reshape(-1, 2, mask)[:, ::-1].reshape(a.shape)
        )
        for mask in (1, 2, 4, 8, 16, 32)
    },
    **{
        f"each element has that of the one {step} further on": lambda a, step=step: np.roll(a, -step) for step in (1, 2)
    },
    **{f"each element has that of the one {step} before it": lambda a, step=step: np.roll(a, step) for step in (1, 2)},
    "each row has the numbers of the next one": lambda a: np.roll(a, -1, axis=0),
    "each row has the numbers of the one before it": lambda a: np.roll(a, 1, axis=0),
}


@pytest.mark.parametrize("words", ORDERS)
def test_numbers_in_other_places(words):
    wanted = np.random.default_rng(7).permutation(384).astype(np.float32).reshape(32, 12)
    assert said(stores(ORDERS[words](wanted)), wanted) == f"{MOVED}{words}."


def test_rows_and_columns_that_have_changed_places():
    wanted = X.reshape(8, 8)
    assert said(stores(wanted.T), wanted) == f"{MOVED}rows and columns have changed places."


def test_other_orders_are_told_by_three_places():
    order = np.random.default_rng(9).permutation(64)
    words = [f"y[{i}] has that of y[{order[i]}]" for i in np.flatnonzero(order != np.arange(64))[[0, 1, -1]]]
    assert said(stores(X[order]), X) == f"{MOVED}{', '.join(words)}."
    few = X[order].copy()
    few[10:30] = -X[10:30]
    assert MOVED not in said(stores(few), X), "less than 85 of 100 are numbers of other places"


def test_too_few_numbers_are_in_no_order():
    swapped = X.copy()
    swapped[[3, 4, 9]] = X[[4, 9, 3]]
    assert MOVED not in said(stores(swapped), X)
    swapped[[30, 31]] = X[[31, 30]]
    assert MOVED in said(stores(swapped), X)
    thirds = (np.arange(64) % 3).astype(np.float32)
    assert MOVED not in said(stores(thirds[::-1]), thirds), "of three numbers each is anywhere"


@pytest.mark.parametrize("size", [4, 6, 64])
@pytest.mark.parametrize("kept", [0, 1])
def test_pairs_of_which_one_number_is_stored_twice(size, kept):
    twice = np.repeat(X[kept:size:2], 2)
    words = (
        f"y[0] and y[1] both have the number of y[{kept}], and so on: the number of y[{1 - kept}] is stored nowhere."
    )
    assert said(stores(twice), X[:size]) == words
    assert said(stores(twice[:2]), X[:2]) != words, "so few are no rule"
    one_right = twice.copy()
    one_right[1 - kept] = X[1 - kept]
    assert said(stores(one_right), X[:size]) != words
    one_wrong = twice.copy()
    one_wrong[size - 2 + kept] = -5
    assert said(stores(one_wrong), X[:size]) != words
    longer = np.append(twice, np.float32(500))
    assert said(stores(longer), np.append(X[:size], np.float32(500))) != words, "one number has no pair"


def test_two_or_three_different_numbers_are_no_pairs():
    thirds = (np.arange(64) % 3).astype(np.float32)
    assert "stored nowhere" not in said(stores(np.repeat(thirds[::2], 2)), thirds)


def test_a_number_that_stays_in_its_place_may_be_wrong_in_another_way():
    turned = X[:63][::-1].copy()
    turned[31] = -7
    assert said(stores(turned), X[:63]) == f"{MOVED}the order of all is reversed."


ROWS = np.random.default_rng(11).integers(1, 9, (8, 16)).astype(np.float32)


def without(places):
    """The input as the kernel counts it: an element may count more than once, or not at all."""

    def weighed(x):
        weighed = x.copy()
        for place, times in places:
            weighed[place] *= times
        return weighed

    return weighed


@pytest.mark.parametrize(
    ("places", "axis", "words"),
    [
        ([(np.s_[:, :2], 0)], 1, "x[0, 0], x[0, 1] and others up to x[6, 0] count nothing"),
        ([(np.s_[:2], 2)], 0, "x[0, 0], x[0, 1] and others up to x[1, 15] count twice"),
        ([(np.s_[0, 0], 0), (np.s_[7, 15], 3)], None, "x[0, 0] count nothing, x[7, 15] count 3 times"),
        ([(np.s_[0, :2], 0)], None, "x[0, 0] and x[0, 1] count nothing"),
        ([(np.s_[0, :3], 0)], None, "x[0, 0], x[0, 1] and x[0, 2] count nothing"),
    ],
)
def test_what_counts_in_a_sum_and_how_often(places, axis, words):
    weighed = without(places)
    wanted = np.atleast_1d(ROWS.sum(axis))
    got = said(gives(lambda x: weighed(x).sum(axis)), wanted, ROWS)
    assert got == f"In the sum {words}, where each number counts once."


@pytest.mark.parametrize(
    ("place", "times", "axis", "words"),
    [
        (np.s_[:, 0], 0, 1, "less the first number of its row"),
        (np.s_[:, -1], 0, 1, "less the last number of its row"),
        (np.s_[0], 2, 0, "plus the first number of its column"),
        (np.s_[-1], 2, 0, "plus the last number of its column"),
        (np.s_[:, 0], -1, 1, "less twice the first number of its row"),
    ],
)  # fmt: skip
def test_a_sum_with_or_without_one_number_of_each_row(place, times, axis, words):
    weighed = without([(place, times)])
    got = said(gives(lambda x: weighed(x).sum(axis)), ROWS.sum(axis), ROWS)
    assert got == f"y[i] is the right number {words} of x."


def test_a_sum_that_no_probe_explains():
    weighed = without([(np.s_[2, 9], 0)])
    assert said(gives(lambda x: weighed(x).sum()), np.atleast_1d(ROWS.sum()), ROWS) == (
        "With x all 1, y is 127 and not 128: some numbers count twice, or not at all."
    )


def test_a_sum_that_begins_with_another_number():
    words = "something is added that no number of x is, or the sum does not begin with 0."
    assert said(gives(lambda x: x.sum(1) + 5), ROWS.sum(1), ROWS) == f"With x all 0, y is 5: {words}"
    late = np.array([0, 0, 2.5, 0, 0, 0, 1, 0], np.float32)
    assert (
        said(gives(lambda x: x.sum(0)[:8] + late), ROWS.sum(0)[:8], ROWS[:, :8]) == f"With x all 0, y is 2.5: {words}"
    )


def test_the_smallest_number_in_place_of_the_largest():
    words = "y is the smallest number of x, and not the largest one."
    assert said(gives(np.min), np.atleast_1d(X.max())) == words
    by_row = ROWS + np.arange(128, dtype=np.float32).reshape(8, 16) / 4
    wanted = by_row.max(1, keepdims=True)
    own = said(gives(lambda x: x.min(1, keepdims=True)), wanted, by_row)
    assert own == "y[i] is the smallest number of its row of x alone."
    wide = np.broadcast_to(wanted, (8, 16)).copy()
    assert said(gives(lambda x: x.min(1, keepdims=True) + 0 * x), wide, by_row) == (
        "y is the smallest number of its row of x, and not the largest one."
    )


def test_a_maximum_that_begins_too_high_in_one_row():
    wanted, begin = (ROWS - 20).max(1, keepdims=True), np.full((8, 1), -1e30, np.float32)
    begin[3] = 0
    got = said(gives(lambda x: np.maximum(x.max(1, keepdims=True), begin)), wanted, ROWS - 20)
    assert got == (
        "With each number of x 1000 less, y is 0 somewhere: the maximum begins too high, or a step leaves the own "
        "number out."
    )


def test_a_maximum_that_begins_above_all_numbers():
    positive, begin = np.abs(ROWS) + 3, np.full((8, 1), -1e30, np.float32)
    begin[3] = 500
    got = said(gives(lambda x: np.maximum(x.max(1, keepdims=True), begin)), positive.max(1, keepdims=True), positive)
    assert got.startswith("With each number of x 1000 less, y is 500 somewhere: the maximum begins too high")


SOFTMAX = np.exp(ROWS - ROWS.max(1, keepdims=True)) / np.exp(ROWS - ROWS.max(1, keepdims=True)).sum(1, keepdims=True)


@pytest.mark.parametrize(
    ("got", "wanted", "words"),
    [
        (ROWS * 0, ROWS, "Row 0 is nothing but 0."),
        (ROWS + 100, ROWS, "In row 0 all numbers are too large by 100."),
        (ROWS - 0.5, ROWS, "In row 0 all numbers are too small by 0.5."),
        (ROWS * 2.5, ROWS, "In row 0 all numbers are 2.5 times what they should be."),
        (SOFTMAX * 3, SOFTMAX, "The numbers of row 0 stand in the right proportion and add up to 3, not to 1"),
        (np.sqrt(SOFTMAX) / np.sqrt(SOFTMAX).sum(1, keepdims=True), SOFTMAX, "The numbers of row 0 add up to 1, but"),
        (SOFTMAX * np.linspace(1, 2, 16), SOFTMAX, "not to 1, and each is off by another factor"),
    ],
)
def test_what_the_numbers_of_a_row_have_in_common(got, wanted, words):
    """Of the rows that are wrong, the one that is off most is told."""
    got, wanted = got.astype(np.float32), wanted.astype(np.float32)
    only = np.where(np.arange(8)[:, None] == 0, got, wanted)
    assert words in said(stores(only), wanted, relative=1e-5)
    assert words.replace("ow 0", "ow 7") in said(stores(only[::-1]), wanted[::-1], relative=1e-5)


def test_the_row_that_is_off_most_is_told():
    got = ROWS.copy()
    got[2] += 1
    got[5] += 3
    got[6, 0] = np.nan
    assert said(stores(got), ROWS) == "In row 5 all numbers are too large by 3."


@pytest.mark.parametrize("cols", [7, 8])
def test_a_row_says_something_from_8_numbers_on(cols):
    rows = ROWS[:, :cols]
    assert ("In row" in said(stores(rows + 100), rows)) == (cols == 8)


def test_a_vector_is_one_row():
    assert said(stores(X + 1000), X) == "In row 0 all numbers are too large by 1000."
    assert "In row" not in said(stores(X[:63] + 1000), X[:63])


@pytest.mark.parametrize("repeats", [2, 3])
def test_each_thread_divides_by_a_number_of_its_own(repeats):
    row = np.tile(X, repeats)[None] + np.arange(64 * repeats, dtype=np.float32)
    factors = np.tile(np.linspace(2, 3, 64, dtype=np.float32), repeats)
    words = "Numbers that are 64 apart are off by the same factor, others by another one"
    assert words in said(stores(row * factors), row)
    assert words not in said(stores(row * factors), row, block=128)
    factors[-5] *= 1.5
    assert words not in said(stores(row * factors), row)


def test_each_warp_divides_by_a_number_of_its_own():
    row = np.tile(X, 3)[None]
    factors = np.repeat(np.array([2, 4, 0.5, 8, 3, 7], np.float32), 32)
    words = "Each warp's numbers are off by a factor of their own (2, 4, 0.5, 8): the warps do not divide by one sum."
    assert said(stores(row * factors), row, block=192) == words
    factors[40] = 9
    assert words not in said(stores(row * factors), row, block=192)


@pytest.mark.parametrize(
    ("dead", "words"),
    [((), ""), ((0,), "x[0] changes nothing in y"), ((0, 63), "x[0] and x[63] change nothing in y"),
     ((0, 1, 63), "x[0], x[1] and x[63] change nothing in y"), (range(64), "No number of x that was tried changes y.")],
)  # fmt: skip
def test_inputs_that_change_nothing(dead, words):
    kept = np.where(np.isin(np.arange(64), dead), 0, 1).astype(np.float32)
    got = said(gives(lambda x: (np.square(x) * kept).cumsum()[::-1].cumsum() + X**3), np.square(X))
    assert got.startswith(words)
    assert ("nothing" in got) == (0 < len(dead) < 64)


def test_an_element_that_is_made_from_others_than_its_own():
    source = np.array([*range(8), *range(9, 64), 8])
    got = said(gives(lambda x: np.square(x[source]) + (np.arange(64) > 7)), np.square(X))
    assert got == "y[8] is made from x[9], of those that were tried."
    own = said(gives(lambda x: np.where(np.arange(64) == 8, 7, 1) * np.square(x)), np.square(X))
    assert "is made from" not in own


def test_what_a_sum_of_powers_leaves_out():
    """The first number of a row counts for the maximum, but not in the sum."""

    def summed(x, first):
        return x.max(1) + np.log(np.exp(x - x.max(1, keepdims=True))[:, first:].sum(1))

    x, wanted = ROWS / 2, summed(ROWS / 2, 0)

    def left_out(x):
        return summed(x, 1)

    words = "may be as large as the largest number of the row, and nothing changes in y; with others something does."
    counted = "In the sum of each row i, x[i, 0] is left out, where each number counts once."
    assert said(gives(left_out), wanted, x, source="expf(x)") == counted
    assert words in said(gives(left_out), wanted / 2, x, source="expf(x)"), "where the result is another function"
    assert said(gives(left_out), wanted, x) not in (words, counted)


def test_a_kernel_that_does_not_come_to_its_end_with_other_inputs():
    def work(x, y):
        if (x != X).any():
            raise Error("no end")
        y[...] = np.square(x) + 1

    assert said(work, np.square(X)[::-1]) == ""


@pytest.mark.parametrize(("size", "told"), [(2, True), (4, True), (5, False)])
def test_few_results_for_zeros(size, told):
    got = said(gives(lambda x: np.full(size, x.sum()) + np.arange(size) + 0.5), np.sqrt(X)[:size])
    words = f"With x all 0, y is {', '.join(f'{k + 0.5:g}' for k in range(size))}."
    assert (got == words) == told


TOO_LARGE = "On line 3, finite numbers give infinity: the result is too large for its type."


@pytest.mark.parametrize(
    ("number", "block", "words"),
    [
        ("x[i] * 1e38f", 64, TOO_LARGE), ("x[i] * (i < 32 ? 1 : 1e38f)", 64, TOO_LARGE),
        ("x[i] / (x[i] - x[5])", 64, OVER_ZERO), ("x[i] / (x[i] - x[5])", 512, ""),
    ],
)  # fmt: skip
def test_the_first_infinity_is_told_by_its_line(number, block, words):
    """A division by 0 is none of a result too large: it is told where each warp has been looked at, 8 at most."""
    source = f"__global__ void k(const float* x, float* y) {{\n  int i = threadIdx.x % 64;\n  y[i] = {number};\n}}"
    kernel, launch = Kernel(source, "k"), LaunchCase(1, block, {"x": X, "y": NEW}, {"y": X})
    args = launch.fresh()
    kernel.run(1, block, tuple(args.values()), record=False)
    got = behaviour(kernel, launch, "y", args["y"])
    assert got == words if words else got != OVER_ZERO
    infinite = LaunchCase(1, block, launch.args, {"y": np.full(64, np.inf, np.float32)})
    told = behaviour(kernel, infinite, "y", args["y"])
    assert told != OVER_ZERO
    assert "On line" not in told


def test_a_result_that_is_added_to_what_was_there():
    """NaN and a number is NaN: such an element looks as if nobody had stored it."""

    def adds(x, y):
        y += x

    words = "y holds nan before the launch, and what the kernel stores is made from that."
    assert said(adds, X).startswith(words)
    assert said(adds, X, start=np.full(64, -1, np.float32)).startswith(words.replace("nan", "-1"))
    for other in (
        said(adds, X * 3, start=np.zeros(64, np.float32)),
        said(stores(X * X + 1), X),
        said(stores(X, []), X),
    ):
        assert "before the launch" not in other
