"""Numbers that are looked up many at once are those of a dict."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.timing.shares import Shares

KNOWN = {7: 0.5, ~3: 0.25, 1 << 40: 2.0}


def test_many_numbers_are_those_of_a_dict():
    asked = np.array([~4, ~3, 7, 8, 1 << 40, (1 << 40) + 1], np.int64)
    assert Shares.of(KNOWN).at(asked[:2], 1.5).tolist() == [1.5, 0.25]
    assert Shares.of(KNOWN).at(asked, 1.5).tolist() == [KNOWN.get(key, 1.5) for key in asked.tolist()]
    assert Shares.of({}).at(asked, 1.5).tolist() == [1.5] * len(asked)
    assert Shares.of(KNOWN).at(asked[:0], 1.5).tolist() == []


def test_it_is_a_mapping_as_well():
    shares = Shares.of(KNOWN)
    assert dict(shares) == KNOWN
    assert shares == KNOWN
    assert len(shares) == 3
    assert shares.get(8, 0.0) == 0.0
    assert Shares.of(shares) is shares
    with pytest.raises(KeyError):
        shares[8]


def test_of_a_key_in_several_parts_the_last_number_counts():
    parts = [(np.array([9, 4]), np.array([1.0, 2.0])), (np.array([4, 5]), np.array([3.0, 4.0]))]
    assert dict(Shares.joined(parts)) == {4: 3.0, 5: 4.0, 9: 1.0}
    assert dict(Shares.joined([])) == {}
