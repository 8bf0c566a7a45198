"""Numbers in a lane's cell: short, and near enough."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlab.views.reduction import short_number


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_short_numbers_are_short_and_near(number):
    text = short_number(np.float32(number))
    assert len(text) <= 8
    assert float(text) == pytest.approx(number, rel=0.051, abs=1e-45)


@given(st.integers(-(2**31), 2**32 - 1))
def test_short_integers(number):
    value = np.uint32(number) if number >= 0 else np.int32(number)
    text = short_number(value)
    assert len(text) <= 7
    assert float(text) == pytest.approx(number, rel=0.051)


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (1.5, "1.5"), (-0.25, "-.25"), (float("-inf"), "-inf")])
def test_numbers_as_read(value, text):
    assert short_number(np.float32(value)) == text
