"""Each function returns what was recorded while operators run."""

from __future__ import annotations

import pytest

from tests.operators.returned_operators import RECORDED


@pytest.mark.parametrize("name", RECORDED.work)
def test_no_function_returns_something_else(name: str) -> None:
    assert not (said := RECORDED.changed(name)), said
