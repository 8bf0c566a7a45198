"""Each function returns what was recorded while plans are made."""

from __future__ import annotations

import pytest

from tests.plans.returned_plans import RECORDED
from tests.sampled import sampled


@pytest.mark.parametrize("name", sampled(RECORDED.work, lambda name: name != "plans 17"))
def test_no_function_returns_something_else(name: str) -> None:
    assert not (said := RECORDED.changed(name)), said
