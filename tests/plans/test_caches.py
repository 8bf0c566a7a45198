"""Which functions keep their results, and how many: None where there are few different ones."""

from __future__ import annotations

from tests.caches import bounds


def test_how_many_results_are_kept() -> None:
    assert bounds("softlab/plans", "softlab/hardware/occupancies.py") == {
        "plans.flight._blocks_per_sm": 1024,
        "plans.resources._compiled": 4096,
        "plans.resources._names": 1,
        "plans.resources.made_here": 1,
        "plans.resources.shipped": 1,
        "plans.strip_shapes.weights_of": 64,
    }
