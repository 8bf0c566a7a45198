"""Operators with a second result: fused softmax with dropout gives the dropped result, and the softmax itself."""

from __future__ import annotations

import numpy as np
import pytest

from softlab import fused
from tests.reference import assert_softmax

DROPOUT = {"dropout": 0.5, "seed": 7}


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def assert_pair(dropped: np.ndarray, whole: np.ndarray, x: np.ndarray, axis: int) -> None:
    """``whole`` is the softmax of x, and ``dropped`` is 0 or twice as much."""
    assert dropped.shape == whole.shape == x.shape
    assert_softmax(np.moveaxis(whole, axis, -1), np.moveaxis(x, axis, -1), "softmax")
    kept = dropped != 0
    assert 0.3 < kept.mean() < 0.7
    np.testing.assert_allclose(dropped[kept], 2 * whole[kept], rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_without_out(axis: int) -> None:
    x = values(4, 6, 40)
    dropped, whole = fused.softmax(x, axis, **DROPOUT)
    assert whole.flags.c_contiguous
    assert not np.shares_memory(dropped, whole)
    assert_pair(dropped, whole, x, axis)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("strided", [False, True], ids=["contiguous", "strided"])
def test_out_takes_the_first_result_only(axis: int, strided: bool) -> None:
    """A contiguous ``out`` with the axis last is filled in place; others are filled by a copy."""
    x = values(8, 40)
    out = np.zeros((8, 80), np.float32)[:, ::2] if strided else np.zeros((8, 40), np.float32)
    results = fused.softmax(x, axis, out=out, **DROPOUT)
    assert len(results) == 2
    assert results[0] is out
    assert_pair(out, results[1], x, axis)


def test_out_that_is_the_input() -> None:
    x = values(5, 64)
    out = x.copy()
    dropped, whole = fused.softmax(out, out=out, **DROPOUT)
    assert dropped is out
    assert_pair(out, whole, x, 1)


def test_no_rows_give_two_empty_results() -> None:
    dropped, whole = fused.softmax(np.zeros((0, 40), np.float32), **DROPOUT)
    assert dropped.shape == whole.shape == (0, 40)
