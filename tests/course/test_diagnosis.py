"""What wrong elements have in common: each sentence for results that are wrong in its way, and for no others."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.course.diagnosis import pattern, unwritten

THREADS = 64
X = np.random.default_rng(3).permutation(256).astype(np.float32) + 1


def wrong_at(places, size=256):
    """Results of which those at these places are wrong, each by a number of its own."""
    got = X[:size].copy()
    got[places] = -(got[places] ** 2)
    return pattern(got, X[:size], THREADS)


def test_results_that_are_right_have_no_pattern():
    assert pattern(X, X, THREADS) == ""
    assert pattern(X * 1.001, X, THREADS, relative=0.01) == ""
    assert pattern(X * 1.001, X, THREADS, relative=1e-4) != ""


@pytest.mark.parametrize("first", [1, 2, 63, 64, 65, 254])
def test_the_first_ones_are_right(first):
    said = wrong_at(slice(first, None))
    if first == 1:
        assert said == "Only the first one is right."
    elif first == THREADS:
        assert said == "Right are only the first 64, as many as a block has threads: does each block take its own?"
    else:
        assert said == f"Right are only the first {first}."


def test_the_last_one_is_wrong():
    assert wrong_at(-1) == "All but the last one are right: where does the test or the loop end?"
    assert wrong_at(-1, 4) == wrong_at(-1)
    assert wrong_at(-1, 3) == "", "so few are no pattern"
    assert wrong_at(-2) == ""


@pytest.mark.parametrize(
    ("step", "whose"),
    [
        (4, "the first of 4 neighbours"), (8, "the first of 8 neighbours"), (16, "the first of 16 neighbours"),
        (32, "the first lane of each warp"),
    ],
)  # fmt: skip
def test_one_of_several_is_right(step, whose):
    wrong = np.arange(256) % step != 0
    expected = f"Only 1 of {step} is right: {whose} has the result. Do the others have it?"
    assert wrong_at(wrong) == expected
    assert wrong_at(wrong[: step + 1], step + 1) == expected
    wrong[:25] = False  # less than nine tenths of the others are wrong
    assert wrong_at(wrong[:128], 128) == ""


def test_each_second_one_is_no_lane_of_a_warp():
    assert wrong_at(np.arange(256) % 2 != 0) == ""


def test_the_first_row_is_right():
    wanted, got = X.reshape(8, 32), X.reshape(8, 32).copy()
    got[1:, ::3] = -1
    said = "Only the first row is right: does each row begin at its own place?"
    assert pattern(got, wanted, THREADS) == said
    assert pattern(got[:2], wanted[:2], THREADS) == said
    got[3] = wanted[3]
    assert pattern(got, wanted, THREADS) == ""
    got[3] = got[0] = -1
    assert pattern(got, wanted, THREADS) == ""


@pytest.mark.parametrize(
    ("factor", "said"),
    [(-1, "Each has the wrong sign."), (2, "Each is 2 times what it should be."),
     (-0.125, "Each is -0.125 times what it should be."), (1 / 3, "Each is 0.3333 times what it should be.")],
)  # fmt: skip
def test_all_are_off_by_one_factor(factor, said):
    assert pattern(X * np.float32(factor), X, THREADS) == said
    assert pattern(X[:4] * np.float32(factor), X[:4], THREADS) == said
    assert pattern(X[:3] * np.float32(factor), X[:3], THREADS) == "", "so few are no pattern"


@pytest.mark.parametrize(("off", "said"), [(5.5, "large by about 5.5"), (-0.25, "small by about 0.25")])
def test_all_are_off_by_one_difference(off, said):
    assert pattern(X + np.float32(off), X, THREADS) == f"Each is too {said}."
    some = X + np.float32(off)
    some[:20] = X[:20]
    assert pattern(some, X, THREADS) == "Right are only the first 20."
    some = X + np.float32(off)
    some[::9] = X[::9]
    assert pattern(some, X, THREADS) == "", "a rule holds from nine tenths on"
    some[9::18] += np.float32(off)
    assert pattern(some, X, THREADS) == f"Each is too {said}."


@pytest.mark.parametrize("scale", [2.0**-10, 1, 2.0**10])
def test_a_difference_counts_beside_the_numbers(scale):
    """The same of small and of large numbers."""
    small = np.float32(scale)
    for off in (5.5, -0.5, 0.03, 0.02):
        said = pattern((X + np.float32(off)) * small, X * small, THREADS)
        side = "large" if off > 0 else "small"
        assert said.startswith(f"Each is too {side} by about ") == (abs(off) > 1e-4 * 256)
        assert bool(said) == (abs(off) > 1e-4 * 256)
    noise = np.where(np.arange(256) % 2, np.float32(0), np.float32(0.02))
    assert pattern((X + 5 + noise) * small, X * small, THREADS).startswith("Each is too large by about")
    assert pattern((X + 5 + 2 * noise) * small, X * small, THREADS) == ""


def test_numbers_without_a_rule():
    assert pattern(X**2, X, THREADS) == ""
    assert pattern(X * 0, X, THREADS) == ""
    assert pattern(X[:1].repeat(256) * 2, X[:1].repeat(256), THREADS) == "", "one number says nothing"
    nearly = X * 2
    nearly[7] *= np.float32(1.001)
    assert pattern(nearly, X, THREADS) == ""
    assert pattern(X + np.float32(1e-5) * X.max(), X, THREADS) == "", "rounding is no difference"


def test_infinite_numbers_and_zeros_are_left_out():
    wanted, got = X.copy(), X * 2
    wanted[::8] = 0
    got[::8] = 7
    got[5] = np.inf
    got[6] = np.nan
    assert pattern(got, wanted, THREADS) == "Each is 2 times what it should be."


def test_what_has_the_bits_of_before_is_unwritten():
    start = np.array([[np.nan, 0.0], [1.0, 2.0]], np.float32)
    got = np.array([[np.nan, -0.0], [1.0, 3.0]], np.float32)
    assert unwritten(got, start).tolist() == [[True, False], [True, False]]
