"""Each function returns what was recorded while answers are judged and submissions graded."""

from __future__ import annotations

import pytest

from tests.course.returned_course import RECORDED


@pytest.mark.parametrize("name", RECORDED.work)
def test_no_function_returns_something_else(name: str) -> None:
    assert not (said := RECORDED.changed(name)), said
