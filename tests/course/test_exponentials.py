"""What is said of kernels that add powers of e: which number is subtracted, and which does not count once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from softlab.course.exponentials import _Tried, _whole, counts, subtracted
from softlab.course.launch_cases import LaunchCase
from softlab.course.probes import Seen

X = (3 * np.random.default_rng(2).standard_normal((6, 24))).astype(np.float32)
X[1, 0] -= 200
X[2, -1] -= 200


def log_sum(x, less=None, weights=1.0, more=0.0):
    """less: what is subtracted in place of the largest number; weights: how often each one counts."""
    x = x.astype(np.float32)
    less = x.max(axis=1, keepdims=True) if less is None else less
    with np.errstate(all="ignore"):
        return (less[:, 0] + np.log((np.exp(x - less) * weights).sum(axis=1) + more)).astype(np.float32)


def softmax(x, weights=1.0):
    powers = np.exp(x.astype(np.float32) - x.max(axis=1, keepdims=True))
    return (powers / (powers * weights).sum(axis=1, keepdims=True)).astype(np.float32)


def pair(x, weights=1.0):
    most = x.max(axis=1)
    return np.stack([most, (np.exp(x - most[:, None]) * weights).sum(axis=1)], axis=1).astype(np.float32)


def seen(work, right, source="expf(v)"):
    """A wrong result of a kernel that is a function of its rows."""

    def run(grid, block, args, smem, *, budget, record):
        args[1][...] = work(args[0])

    launch = LaunchCase(1, 32, {"x": X, "y": np.full_like(right, np.nan)}, {"y": right}, relative=1e-5)
    return Seen(SimpleNamespace(run=run, program=SimpleNamespace(source=source)), launch, "y", work(X))


def once_but(**times):
    weights = np.ones(24, np.float32)
    for place, number in times.items():
        weights[int(place.removeprefix("at"))] = number
    return weights


@pytest.mark.parametrize(
    ("less", "words"),
    [
        (lambda x: x[:, :1], "With x[i, 0] of each row i 177 below the others, y is inf, and with other numbers as low "
         "it is not: x[i, 0] is subtracted, and not the largest number."),
        (lambda x: x[:, -1:], "x[i, 23] is subtracted, and not the largest number."),
        (lambda x: x[:, [0, -1]].min(axis=1, keepdims=True), "x[i, 0] or x[i, 23] is subtracted"),
        (lambda x: x.min(axis=1, keepdims=True), "With any one number of a row of x 177 below the others, y is inf: a "
         "small number is subtracted, and not the largest one."),
        (lambda x: x[:, [0, -1]].max(axis=1, keepdims=True), ""),
        (lambda x: x[:, :1] * 0 - 200, ""),
    ],
)  # fmt: skip
def test_what_is_subtracted(less, words):
    def wrong(x):
        return log_sum(x, less(x))

    got = subtracted(seen(wrong, log_sum(X)))
    assert words in got
    assert bool(words) == bool(got)
    assert subtracted(seen(wrong, log_sum(X), source="v")) == "", "it takes no powers"


@pytest.mark.parametrize(("kind", "below"), [(np.float16, 177), (np.float32, 177), (np.float64, 1420)])
def test_how_low_a_number_has_to_be_depends_on_its_type(kind, below):
    """e to the power of twice the logarithm of the largest number; halves are worked out as float32."""

    def wrong(x):
        wide = x.astype(np.float64 if kind is np.float64 else np.float32)
        with np.errstate(all="ignore"):
            return wide[:, 0] + np.log(np.exp(wide - wide[:, :1]).sum(axis=1))

    x = (3 * np.random.default_rng(2).standard_normal((6, 24))).astype(kind)
    x[1, 0] -= kind(2 * below)
    wide = x.astype(np.float64)
    right = wide.max(axis=1) + np.log(np.exp(wide - wide.max(axis=1, keepdims=True)).sum(axis=1))

    def run(grid, block, args, smem, *, budget, record):
        args[1][...] = wrong(args[0])

    launch = LaunchCase(1, 32, {"x": x, "y": np.full_like(wrong(x), np.nan)}, {"y": right}, relative=1e-3)
    kernel = SimpleNamespace(run=run, program=SimpleNamespace(source="expf(v)"))
    assert subtracted(Seen(kernel, launch, "y", wrong(x))) == (
        f"With x[i, 0] of each row i {below} below the others, y is inf, and with other numbers as low it is not: "
        "x[i, 0] is subtracted, and not the largest number."
    )


def test_a_wrong_sign_is_no_number_that_is_subtracted():
    """Such powers are too large, too, but the result is wrong for numbers that are near each other as well."""

    def turned(x):
        with np.errstate(all="ignore"):
            powers = np.exp(x.max(axis=1, keepdims=True) - x)
            return powers / powers.sum(axis=1, keepdims=True)

    assert not np.isfinite(turned(X)).all()
    assert subtracted(seen(turned, softmax(X))) == (
        "Small numbers of x get large shares: the sign of the exponent is the wrong way round."
    )
    assert subtracted(seen(lambda x: turned(x) * 2, softmax(X))) == ""


@pytest.mark.parametrize("function", [log_sum, softmax, pair])
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (once_but(at0=2), "In the sum of each row i, x[i, 0] counts twice, where each number counts once."),
        (once_but(at23=0), "In the sum of each row i, x[i, 23] is left out, where each number counts once."),
        (once_but(at0=3, at23=2), "x[i, 0] counts 3 times and x[i, 23] counts twice"),
        (once_but() * 2, "Each number of a row of x counts twice in the sum."),
        (once_but(at0=1.5), ""),
    ],
)
def test_what_does_not_count_once(function, weights, words):
    got = counts(seen(lambda x: function(x, weights=weights), function(X)))
    assert words in got
    assert bool(words) == bool(got)


def test_a_sum_that_begins_with_1():
    got = counts(seen(lambda x: log_sum(x, more=1), log_sum(X)))
    assert got == "The sum of a row of x is 1 too large, whatever the numbers: it has to begin with 0."


@pytest.mark.parametrize("function", [log_sum, softmax, pair])
@pytest.mark.parametrize("place", ["at0", "at12", "at23"])
def test_one_number_alone_that_counts(function, place):
    """Only what is larger than those before is left out where the first one counts."""
    weights = once_but() - once_but(**{place: 0})
    with np.errstate(all="ignore"):
        got = counts(seen(lambda x: function(x, weights=weights), function(X)))
    assert bool(got) == (place == "at0")
    assert got in ("", "A number of a row of x that is larger than those before it is left out of the sum.")


@pytest.mark.parametrize(("more", "words"), [(1, "1 too large"), (2, "2 too large"), (-0.5, "")])
@pytest.mark.parametrize(("off", "near"), [(0, True), (4e-4, True), (-4e-4, True), (3e-3, False), (-3e-3, False)])
def test_a_sum_that_is_off_by_one_number_may_be_rounded(more, words, off, near):
    """Logarithms of sums that are off by a thousandth or less are as good as exact ones."""
    got = counts(seen(lambda x: log_sum(x, more=more) + np.float32(off), log_sum(X)))
    assert bool(got) == (bool(words) and near)
    assert got in ("", f"The sum of a row of x is {words}, whatever the numbers: it has to begin with 0.")


def test_a_sum_that_lacks_one():
    """Where one number alone is high, the sum is 0, and its logarithm minus infinity."""
    with np.errstate(all="ignore"):
        got = counts(seen(lambda x: pair(x) - np.float32([0, 1]), pair(X)))
    assert got == "The sum of a row of x is 1 too small, whatever the numbers: it has to begin with 0."


@pytest.mark.parametrize(
    ("weights", "cols", "tail"),
    [
        (once_but(at0=3, at23=2), 24, " Of each row, 5 numbers were tried."),
        (once_but(at0=3), 24, ""),
        (once_but(at0=3, at4=2), 5, ""),
        (once_but(at0=3, at5=2), 6, " Of each row, 5 numbers were tried."),
        (once_but(at0=3, at1=2, at23=2), 24, None),
    ],
)
def test_how_many_numbers_were_tried(weights, cols, tail):
    x = X[:, :cols]
    launch = LaunchCase(1, 32, {"x": x, "y": np.full(6, np.nan, np.float32)}, {"y": log_sum(x)}, relative=1e-5)

    def run(grid, block, args, smem, *, budget, record):
        args[1][...] = log_sum(args[0], weights=weights[:cols])

    kernel = SimpleNamespace(run=run, program=SimpleNamespace(source="expf(v)"))
    got = counts(Seen(kernel, launch, "y", log_sum(x, weights=weights[:cols])))
    if tail is None:
        assert got == "", "more than half of them"
    else:
        assert got.endswith(f", where each number counts once.{tail}")
        assert "x[i, 0] counts 3 times" in got


def twice_its_own(x):
    """Each number's result has its own power once more in the sum."""
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return (powers / (powers.sum(axis=1, keepdims=True) + powers)).astype(np.float32)


def of_all_rows(x):
    """Each row has the sum over all rows."""
    return np.repeat(np.log(np.exp(x.astype(np.float64)).sum()), len(x)).astype(np.float32)


def from_zero(x):
    """The maximum begins with 0, so that the powers of low numbers are 0."""
    return log_sum(x, less=np.maximum(x.max(axis=1, keepdims=True), 0))


def begins_with_nothing(x):
    """In a pass over the columns a new maximum adds nothing."""
    return online(np.concatenate([np.full_like(x[:, :1], -1000), x], 1), lambda s, m, c: s * np.exp(m - c), first=0)


@pytest.mark.parametrize(
    ("work", "right"),
    [(twice_its_own, softmax), (of_all_rows, log_sum), (from_zero, log_sum), (begins_with_nothing, log_sum)],
)
def test_what_another_row_or_another_number_tells_apart(work, right):
    """A count of high numbers alone would take these for a sum that begins with 1, or for numbers that are left out."""
    with np.errstate(all="ignore"):
        assert counts(seen(work, right(X))) == ""


def online(x, grow, first=1):
    """A pass over the columns; grow: what becomes of the sum where the maximum grows; first: what it begins with."""
    most, sums = x[:, 0].copy(), np.full(len(x), first, np.float32)
    for column in x.T[1:]:
        larger = column > most
        sums = np.where(larger, grow(sums, most, column), sums + np.exp(np.minimum(column - most, 0)))
        most = np.maximum(most, column)
    return (most + np.log(np.maximum(sums, 1e-30))).astype(np.float32)


@pytest.mark.parametrize(
    ("grow", "words"),
    [
        (lambda sums, most, column: sums + 1, "the sum so far is not scaled down when the maximum grows."),
        (lambda sums, most, column: sums * np.exp(most - column), "larger than those before it is left out"),
        (lambda sums, most, column: np.ones_like(sums), ""),
    ],
)
def test_a_sum_while_the_maximum_grows(grow, words):
    with np.errstate(all="ignore"):
        got = counts(seen(lambda x: online(x, grow), log_sum(X)))
    assert words in got
    assert bool(words) == bool(got)


def test_a_result_that_is_no_sum_of_powers():
    assert counts(seen(lambda x: log_sum(x, weights=once_but(at0=2)), X.sum(axis=1))) == ""


@pytest.mark.parametrize(
    ("number", "whole"),
    [
        (1.0009, 1), (0.9991, 1), (1.0011, None), (0.9989, None), (0.0009, 0), (0.0011, None), (5.004, 5),
        (5.006, None), (-1.0005, -1), (-3.002, None), (np.nan, None), (np.inf, None),
    ],
)  # fmt: skip
def test_a_count_may_be_off_a_whole_number_by_rounding(number, whole):
    assert _whole(number) == whole


@pytest.mark.parametrize(("others", "own"), [(np.max, True), (np.min, False), (np.mean, False)])
def test_whether_the_other_rows_count(others, own) -> None:
    """They are made smaller: who takes the largest number of all rows is not changed by them."""

    def run(arrays):
        (made,) = arrays.values()
        return np.full(len(made), others(made), np.float32)

    array = np.zeros((6, 24), np.float32)
    tried = _Tried(SimpleNamespace(run=run), "x", array, 2, None, lambda found, made, row, place: 5 + found[row])
    assert tried.own_row() == own


@pytest.mark.parametrize("look", [subtracted, counts])
def test_an_array_before_the_rows_hides_nothing(look) -> None:
    """A number of rows that the result is no function of."""
    work = {subtracted: lambda x: log_sum(x, x[:, :1]), counts: lambda x: log_sum(x, weights=once_but(at0=2))}[look]
    right = log_sum(X)
    other = np.random.default_rng(3).standard_normal(X.shape).astype(np.float32)

    def run(grid, block, args, smem, *, budget, record):
        args[-1][...] = work(args[-2])

    kernel = SimpleNamespace(run=run, program=SimpleNamespace(source="expf(v)"))
    launch = LaunchCase(1, 32, {"w": other, "x": X, "y": np.full_like(right, np.nan)}, {"y": right}, relative=1e-5)
    alone = look(seen(work, right))
    assert alone
    assert look(Seen(kernel, launch, "y", work(X))) == alone


@pytest.mark.parametrize("level", [1, 2, 3])
def test_numbers_that_count_twice_do_so_where_all_are_alike(level):
    """Else it is not each number that counts twice."""

    def work(x):
        return log_sum(x, weights=np.where(np.ptp(x, axis=1) > 0, 2.0, level)[:, None])

    said = counts(seen(work, log_sum(X)))
    assert said == ("Each number of a row of x counts twice in the sum." if level == 2 else "")
