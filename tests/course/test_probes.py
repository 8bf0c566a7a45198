"""Which elements of an input are changed to see what a kernel does, and the words for places in an array."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from softlab.course.launch_cases import LaunchCase
from softlab.course.probes import Seen, elements, listed, places_to_change, raised_to_most, with_change


@pytest.mark.parametrize(
    ("shape", "first", "places"),
    [
        ((5,), 2, [0, 1, 2, 3, 4]),
        ((200,), 77, [0, 1, 31, 32, 33, 50, 64, 76, 77, 78, 79, 100, 198, 199]),
        ((4, 100), 0, [0, 1, 2, 7, 31, 32, 33, 64, 99, 100, 200, 300, 398, 399]),
        ((16, 30), 45, [0, 1, 29, 30, 31, 32, 44, 45, 46, 47, 64, 240, 478, 479]),
    ],
)
def test_where_an_input_is_changed(shape, first, places):
    wrong = np.zeros(shape, bool)
    wrong.reshape(-1)[first] = wrong.reshape(-1)[-1] = True
    assert sorted({*places_to_change(np.zeros(shape), wrong)}) == places


def test_a_result_of_another_size_names_no_place():
    assert places_to_change(np.zeros(200), np.array([False, True, True])) == [
        0, 1, 2, 7, 8, 31, 32, 33, 50, 64, 100, 150, 198, 199,
    ]  # fmt: skip


def test_one_element_is_changed():
    array = np.array([[1.0, np.inf], [np.nan, 4.0]], np.float32)
    assert with_change(array, 3, 10).tolist()[1][1] == 14
    assert with_change(array, 1, -3).tolist()[0] == [1, -3]
    assert with_change(array, 2, 5).tolist()[1] == [5, 4]
    assert array[1, 1] == 4, "the array itself stays"
    rows = np.array([[1.0, 5.0, 2.0], [9.0, -1.0, 3.0]])
    assert raised_to_most(rows, 2).tolist() == [[1, 5, 5], [9, -1, 3]]
    assert raised_to_most(rows, 4).tolist() == [[1, 5, 2], [9, 9, 3]]


@pytest.mark.parametrize(
    ("indices", "words"),
    [
        ([3], "y[3] is"),
        ([9], "y[9] is"),
        ([3, 4, 5], "y[3] to y[5] are"),
        ([7, 8, 9], "y[7] to y[9], the last one, are"),
        ([1, 3, 5], "y[1] to y[5] in steps of 2 are"),
        ([1, 3, 4, 8], "y[1], y[3] and 2 more are"),
    ],
)
def test_words_for_elements(indices, words):
    assert elements("y", np.array(indices), 10) == words


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ([4], "x[1, 1]"),
        ([0, 5], "x[0, 0] and x[1, 2]"),
        ([0, 1, 5], "x[0, 0], x[0, 1] and x[1, 2]"),
        ([0, 1, 3, 5], "x[0, 0], x[0, 1] and others up to x[1, 2]"),
    ],
)
def test_words_for_the_places_that_were_tried(places, words):
    assert listed("x", np.zeros((2, 3)), places) == words


def test_which_arrays_are_inputs():
    """Numbers that a kernel reads: neither single flags, nor what is too large, nor what begins as nothing."""
    args = {
        "few": np.zeros(2, np.float32), "many": np.zeros(16_384, np.int32), "most": np.zeros(16_385, np.int32),
        "flag": np.ones(1, np.int32), "size": 64, "truths": np.ones(4, bool), "new": np.full(4, np.nan, np.float32),
        "partly": np.array([np.nan, 1], np.float32), "zeros": np.zeros(4, np.float32), "sums": np.ones(4, np.float32),
    }  # fmt: skip
    launch = LaunchCase((2, 3), (8, 4), args, {"zeros": np.ones(4, np.float32), "sums": np.ones(4, np.float32)})
    seen = Seen(SimpleNamespace(), launch, "sums", np.ones(4, np.float32))
    assert list(seen.inputs) == ["few", "many", "partly", "sums"]
    assert (seen.block, seen.threads) == (32, 192)
