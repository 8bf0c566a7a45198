"""The choices of policy "fast" are those of the table: see :mod:`tests.plans.plan_table`."""

from __future__ import annotations

import json

import pytest

from tests.plans.plan_table import TABLE, cases, changes, name


@pytest.mark.parametrize("case", list(cases()), ids=name)
def test_a_change_of_a_choice_is_seen(case: tuple[str, str, str, int]) -> None:
    found = changes(case, json.loads(TABLE.read_text())[name(case)])
    assert not found, "python -m tests.plans.plan_table write\n" + "\n".join(found)
