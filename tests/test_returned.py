"""Digests of what functions return: what counts, and what does not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from tests.returned import RECORDS, VARIES, Recorded, digests, recorded_of, returned, text

HERE = "tests/test_returned.py"


@dataclass
class _Pair:
    one: int
    other: object


@lru_cache
def _double(x: int) -> int:
    return 2 * x


def _count(x: int) -> object:
    yield from range(x)


def _work(x: int) -> None:
    _double(x)
    list(_count(2))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, True, False), (1, 1.0, True), (0.1 + 0.2, 0.3, True), (0.3, 0.30001, False), ("1", 1, False),
        ({1, 2}, {2, 1}, True), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True), ([1, 2], [2, 1], False),
        (_Pair(1, [2]), _Pair(1, [2]), True), (_Pair(1, [2]), _Pair(1, [3]), False), (object(), object(), True),
        (np.arange(3), np.arange(3), True), (np.arange(3), np.arange(3)[::-1], False),
        (np.arange(3), np.arange(3, dtype=np.int32), False), (np.array([1.0]), np.array([1.0 + 1e-9]), True),
        (np.array([1.0]), np.array([1.1]), False), (np.float32([1, 2]), np.float32([1, 3]), True),
        (np.float32([1, 2]), np.float32([1, -2]), False), (np.float32([1, np.nan]), np.float32([1, 0]), False),
    ],
)  # fmt: skip
def test_what_makes_results_differ(one: object, other: object, same: bool) -> None:
    assert (text(one) == text(other)) == same


def test_each_result_is_seen_even_if_it_was_kept_before() -> None:
    for _ in range(2):
        with returned(HERE) as found:
            _work(3)
        assert found == {f"{HERE} _double": {"6"}, f"{HERE} _count": {"0", "1"}}
    with returned("softlab") as found:
        _work(3)
    assert found == {}


def test_a_function_that_returns_something_else_is_named(tmp_path: Path) -> None:
    record = Recorded((HERE,), {"now": lambda: _work(3)}, tmp_path / "record.json")
    with returned(HERE) as found:
        _work(3)
    record.write({"now": digests(found)})
    assert record.changed("now") == ""
    record.write({"now": {**digests(found), f"{HERE} _double": "0"}})
    assert record.changed("now").startswith(f"1 functions return something else, or do not run: ['{HERE} _double'")
    record.write({"now": {f"{HERE} _double": VARIES}})
    assert record.changed("now") == "", "what varies is not asked, and what is new is not recorded yet"


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_digests_of_all_that_runs(name: str) -> None:
    record = recorded_of(name)
    assert sorted(record.read()) == sorted(record.work)
