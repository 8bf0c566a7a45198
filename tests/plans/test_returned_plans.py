"""Each function returns what was recorded while plans are made."""

from __future__ import annotations

import pytest

from tests.plans.returned_plans import RECORD, WORK, results
from tests.returned import changed


@pytest.mark.parametrize("name", WORK)
def test_no_function_returns_something_else(name: str) -> None:
    assert not (said := changed(RECORD, name, results(name))), (
        f"{said} `python -m tests.plans.returned_plans` records them anew, after a change that is meant."
    )
