"""softmax_backward and log_softmax_backward as users call them; traces of them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import softlab
from softlab.operators import trace_plan
from softlab.plans import POLICIES
from tests.reference import assert_gradient
from tests.sampled import turns
from tests.samples import normal

OPS = ("softmax_backward", "log_softmax_backward")


def inputs(*shape: int, op: str, axis: int = -1, dtype: Any = np.float32) -> tuple[np.ndarray, np.ndarray]:
    """A dy, and a y that the forward operator gives."""
    return normal(*shape, dtype=dtype), getattr(softlab, op.removesuffix("_backward"))(
        normal(*shape, dtype=dtype, seed=1), axis
    )


def assert_along(got: np.ndarray, dy: np.ndarray, y: np.ndarray, op: str, axis: int = -1) -> None:
    got, dy, y = (np.moveaxis(np.atleast_1d(array), axis, -1) for array in (got, dy, y))
    assert_gradient(got, dy, y, op, what=f"axis {axis} of {dy.shape}")


@pytest.mark.parametrize(("dtype", "op"), turns(2, [np.float16, ml_dtypes.bfloat16, np.float32, np.float64], OPS))
def test_every_dtype(op: str, dtype: Any) -> None:
    dy, y = inputs(4, 33, op=op, dtype=dtype)
    got = getattr(softlab, op)(dy, y)
    assert got.dtype == dy.dtype
    assert_along(got, dy, y, op)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("axis", range(-3, 3))
def test_every_axis(op: str, axis: int) -> None:
    dy, y = inputs(2, 3, 4, op=op, axis=axis)
    got = getattr(softlab, op)(dy, y, axis)
    assert got.shape == dy.shape
    assert got.flags.c_contiguous
    assert_along(got, dy, y, op, axis)


@pytest.mark.parametrize("op", OPS)
def test_it_is_the_derivative(op: str) -> None:
    """In float64, by a difference quotient of the forward operator: no formula of the gradient's own."""
    forward = getattr(softlab, op.removesuffix("_backward"))
    x, dy, step = normal(1, 6, dtype=np.float64), normal(1, 6, dtype=np.float64, seed=1), 1e-6
    quotients = [
        (dy * (forward(x + step * one) - forward(x - step * one))).sum() / (2 * step) for one in np.eye(6)[:, None, :]
    ]
    np.testing.assert_allclose(getattr(softlab, op)(dy, forward(x)), [quotients], atol=1e-9)


@pytest.mark.parametrize("op", OPS)
def test_strides_that_differ(op: str) -> None:
    dy, y = inputs(6, 8, op=op)
    expected = getattr(softlab, op)(dy, y)
    one_row = np.broadcast_to(dy[:1], (6, 8))
    assert np.array_equal(getattr(softlab, op)(np.asfortranarray(dy), y), expected)
    assert np.array_equal(getattr(softlab, op)(dy[::-1], y[::-1])[::-1], expected)
    assert np.array_equal(getattr(softlab, op)(one_row, y), getattr(softlab, op)(one_row.copy(), y))


class TestOut:
    """The array that takes the gradient."""

    @pytest.mark.parametrize(
        ("op", "which", "cols", "policy"), turns(2, OPS, [0, 1], [20, 1500, 7000, 30_000], POLICIES)
    )
    def test_it_may_be_an_input(self, op: str, which: int, cols: int, policy: str) -> None:
        dy, y = given = inputs(3, cols, op=op)
        expected = getattr(softlab, op)(dy, y, policy=policy)
        assert getattr(softlab, op)(dy, y, policy=policy, out=given[which]) is given[which]
        assert np.array_equal(given[which], expected)

    @pytest.mark.parametrize("op", OPS)
    def test_it_may_overlap_one_and_be_the_other(self, op: str) -> None:
        dy, y = inputs(3, 20, op=op)
        expected = getattr(softlab, op)(dy, y)
        memory = np.zeros((4, 20), np.float32)
        memory[:3] = y
        assert np.array_equal(getattr(softlab, op)(dy, memory[:3], out=memory[1:]), expected)
        both = dy.copy()
        assert np.array_equal(getattr(softlab, op)(both, both, out=both), getattr(softlab, op)(dy, dy))

    def test_it_is_checked(self) -> None:
        dy = normal(3, 4)
        with pytest.raises(ValueError, match=r"out has shape \(4, 3\)"):
            softlab.softmax_backward(dy, dy, out=np.zeros((4, 3), np.float32))


def test_empty_and_zero_dimensions() -> None:
    assert softlab.softmax_backward(np.zeros((0, 3), np.float16), np.zeros((0, 3), np.float16)).shape == (0, 3)
    assert softlab.softmax_backward(np.float32(3), np.float32(1)) == 0
    assert softlab.log_softmax_backward(np.array(3, np.float32), np.array(0, np.float32)) == 0


def test_dtype_casts_both() -> None:
    dy, y = inputs(3, 20, op="softmax_backward")
    got = softlab.softmax_backward(dy.astype(np.float16), y, dtype="float64")
    assert got.dtype == np.float64
    assert_along(got, dy.astype(np.float16).astype(np.float64), y.astype(np.float64), "softmax_backward")


class TestErrors:
    """What does not fit says what it is."""

    def test_shapes(self) -> None:
        with pytest.raises(ValueError, match=r"dy has shape \(3, 4\), y \(4, 3\): give arrays of one shape"):
            softlab.softmax_backward(normal(3, 4), normal(4, 3))
        with pytest.raises(ValueError, match="one shape"):
            softlab.softmax_backward(normal(1, 4), normal(3, 4))  # no broadcast

    def test_dtypes(self) -> None:
        with pytest.raises(
            TypeError, match="dy has dtype float16, y float32: give both in one dtype, or name with dtype="
        ):
            softlab.softmax_backward(normal(3, 4, dtype=np.float16), normal(3, 4))
        with pytest.raises(TypeError, match="int64"):
            softlab.softmax_backward(np.zeros((3, 4), int), np.zeros((3, 4), int))
        with pytest.raises(TypeError, match="y of dtype complex64 cannot be cast"):
            softlab.softmax_backward(normal(3, 4), np.zeros((3, 4), "complex64"), dtype="float32")

    def test_axis(self) -> None:
        with pytest.raises(ValueError, match="axis 2 is out of range: dy has 2 dimensions"):
            softlab.log_softmax_backward(normal(3, 4), normal(3, 4), 2)


class TestTrace:
    """x is the pair (dy, y)."""

    @pytest.mark.parametrize(
        ("op", "cols", "kernel"), turns(2, OPS, [(1024, "warp"), (1025, "block_smem"), (7000, "block_uncached")])
    )
    def test_output_and_plan(self, op: str, cols: int, kernel: str) -> None:
        dy, y = inputs(2, cols, op=op)
        traced = softlab.trace((dy, y), op=op)
        assert traced.plan.kernel == kernel
        assert traced.plan.op == op
        assert np.array_equal(traced.output, getattr(softlab, op)(dy, y))

    def test_counters(self) -> None:
        """Rows of 64 floats, a warp each, a pack of 2 a lane: 2 loads and a store of 8 sectors, a sum by shuffles."""
        traced = softlab.trace(inputs(7, 64, op="softmax_backward"), op="softmax_backward")
        assert traced.counters["global_load_requests"] == 14
        assert traced.counters["global_load_sectors"] == 14 * 8
        assert traced.counters["global_store_sectors"] == 7 * 8
        assert traced.counters["shuffle_instructions"] == 7 * 5
        assert len(traced.buffers) == 3

    def test_another_x(self) -> None:
        with pytest.raises(TypeError, match=r"x = \(dy, y\), a tuple of two arrays, not numpy\.ndarray"):
            softlab.trace(normal(2, 3), op="softmax_backward")

    def test_a_plan_of_ones_own(self) -> None:
        dy, y = inputs(2, 64, op="softmax_backward")
        plan = softlab.plan(2, 64, op="softmax_backward")
        assert np.array_equal(trace_plan(plan, dy, y).output, softlab.softmax_backward(dy, y))
        with pytest.raises(ValueError, match=r"takes 2 input\(s\), got 1"):
            trace_plan(plan, dy)


@pytest.mark.gpu
class TestOnTheGpu:
    """Through CuPy."""

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    @pytest.mark.parametrize("cols", [5, 64, 1024, 3000, 7000, 50_000, 300_000])
    @pytest.mark.parametrize("op", OPS)
    @pytest.mark.parametrize("policy", POLICIES)
    def test_every_kernel(self, policy: str, op: str, cols: int, dtype: str) -> None:
        import cupy

        from softlab.dtypes import element_type

        dy, y = inputs(5 if cols < 20_000 else 2, cols, op=op, dtype=element_type(dtype).numpy)
        got = getattr(softlab, op)(cupy.asarray(dy), cupy.asarray(y), policy=policy)
        assert_along(got.get(), dy, y, op)

    @pytest.mark.parametrize("axis", [0, 1])
    @pytest.mark.parametrize("op", OPS)
    def test_out_may_be_an_input(self, op: str, axis: int) -> None:
        import cupy

        dy, y = inputs(70, 90, op=op, axis=axis)
        for which in (0, 1):
            given = (cupy.asarray(dy), cupy.asarray(y))
            assert getattr(softlab, op)(*given, axis, out=given[which]) is given[which]
            assert_along(given[which].get(), dy, y, op, axis)

    def test_other_libraries_and_devices(self) -> None:
        import cupy

        dy = cupy.asarray(normal(3, 4))
        with pytest.raises(TypeError, match="dy is an array of cupy on a GPU, y one of numpy on the host"):
            softlab.softmax_backward(dy, normal(3, 4))
        torch = pytest.importorskip("torch")
        with pytest.raises(TypeError, match="dy is an array of cupy on a GPU, y one of torch on a GPU"):
            softlab.softmax_backward(dy, torch.zeros(3, 4, device="cuda"))

    @pytest.mark.parametrize("policy", POLICIES)
    def test_one_input_from_element_1(self, policy: str) -> None:
        import cupy

        dy, y = inputs(6, 64, op="softmax_backward")
        memory = cupy.zeros(6 * 64 + 1, np.float32)
        shifted = memory[1:].reshape(6, 64)
        shifted[...] = cupy.asarray(y)
        got = softlab.softmax_backward(cupy.asarray(dy), shifted, policy=policy)
        assert_along(got.get(), dy, y, "softmax_backward")
