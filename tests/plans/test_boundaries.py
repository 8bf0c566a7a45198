"""Plans change at the lengths and numbers of rows that are recorded, and nowhere else on the grid."""

from __future__ import annotations

import json

import pytest

from tests.plans.boundaries import GRID, RECORD, all_boundaries, boundaries
from tests.sampled import each

#: Parts of the searches, each quick enough to be one of the tests that run for a mutant (:mod:`tests.mutation`).
PARTS = 8


@pytest.mark.parametrize("part", each(4, range(PARTS)))
def test_no_boundary_between_plans_has_moved(part: int) -> None:
    recorded, now = json.loads(RECORD.read_text()), all_boundaries(part, PARTS)
    assert list(now) == list(recorded)[part::PARTS]
    moved = {key: sorted(set(found) ^ set(recorded[key])) for key, found in now.items() if found != recorded[key]}
    assert not moved, (
        f"{len(moved)} searches find other boundaries: {dict(list(moved.items())[:5])}. "
        "`python -m tests.plans.boundaries` records them anew, after a change that is meant."
    )


@pytest.mark.parametrize("at", [2, 3, 5, 1000, 1001, GRID[-1]])
def test_the_search_finds_each_boundary(at: int) -> None:
    assert boundaries(lambda number: str(number >= at)) == [at]
    assert boundaries(lambda number: "") == []
    assert boundaries(lambda number: str(number // 100_000 if number < 150_000 else 1)) == [100_000]
