"""Which functions keep their results, and how many: None where there are few different ones."""

from __future__ import annotations

from tests.caches import bounds


def test_how_many_results_are_kept() -> None:
    assert bounds("softlab/operators") == {
        "operators.executors._kernel": 64,
        "operators.executors._program": 256,
        "operators.executors.executor_for": 2,
        "operators.one_kind._methods": None,
        "operators.prepared._fast_path": 64,
        "operators.prepared._prepare": 1024,
        "operators.rows.planned": 1024,
    }
