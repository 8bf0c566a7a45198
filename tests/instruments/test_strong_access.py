"""Which warps access which words: in the order of the accesses, beside a count by hand."""

from __future__ import annotations

import numpy as np

from softlab.instruments.strong_access import StrongAccess


def test_words_are_told_apart_by_how_many_warps_access_them() -> None:
    lane = np.array([70, 3, 5, 40, 71, 2])
    access = StrongAccess(["a", "b", "b", "a", "c", "a"], lane)
    assert access.warps == [2, 0, 0, 1, 2, 0]
    assert {word: warps.tolist() for word, warps in access.together.items()} == {"a": [2, 1, 0]}, "in their order"
    assert access.alone == {0: ["b"], 2: ["c"]}
    assert access.lanes_share, "two lanes of warp 0 access b"
    assert not StrongAccess(["a", "b", "a"], np.array([0, 1, 32])).lanes_share
    different = StrongAccess(list("abcde"), np.array([40, 41, 3, 42, 4]))
    assert different.alone == {1: ["a", "b", "d"], 0: ["c", "e"]}
    assert not different.together
    assert not different.lanes_share
    assert StrongAccess([], lane[:0]).alone == {}
