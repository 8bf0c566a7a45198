"""The front of the reference: its rule for a missing dim, and the cast before."""

from __future__ import annotations

import numpy as np
import pytest

from softlab import functional
from tests.reference import assert_softmax


@pytest.mark.parametrize(
    ("shape", "axis"), [((), 0), ((5,), 0), ((3, 4), 1), ((2, 3, 4), 0), ((2, 3, 4, 2), 1), ((1, 3, 2, 2, 1), 1)]
)
@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
def test_missing_dim(shape: tuple[int, ...], axis: int, op: str) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    got = getattr(functional, op)(x)
    assert got.shape == shape
    lines, results = (np.moveaxis(np.atleast_1d(a), axis, -1) for a in (x, got))
    assert_softmax(results, lines, op)


@pytest.mark.parametrize("dim", [0, 1, -1, -2])
def test_given_dim(dim: int) -> None:
    x = np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)
    sums = functional.softmax(x, dim).sum(axis=dim)
    np.testing.assert_allclose(sums, 1, rtol=1e-6)


@pytest.mark.parametrize("dim", [2, -3])
def test_dim_out_of_range(dim: int) -> None:
    with pytest.raises(ValueError, match=rf"axis {dim} is out of range: x has 2 dimensions, so take -2 to 1"):
        functional.softmax(np.zeros((3, 4), np.float32), dim)


def test_dtype_casts_the_input_first() -> None:
    x = np.array([[3, 1, 2]])
    got = functional.softmax(x, dtype="float32")
    assert got.dtype == np.float32
    assert_softmax(got, x.astype(np.float32))
    with pytest.raises(TypeError, match=r"int64.*x\.astype"):
        functional.softmax(x)


def test_lists_have_dimensions_too() -> None:
    got = functional.softmax([[[1.0, 2.0]], [[3.0, 5.0]]])  # 3-D: axis 0
    np.testing.assert_allclose(got.sum(axis=0), np.ones((1, 2)), rtol=1e-15)
