"""The gradient kernels against the oracle: in the emulator, and the same cases on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from softlab.cuda import gpu
from softlab.dtypes import element_type
from softlab.plans import Plan
from tests.kernels.cases import (
    DTYPES,
    Variant,
    dealt,
    half_in_turns,
    halved,
    in_turns,
    kernel_of,
    matrix,
    program_of,
    rows_for,
)
from tests.reference import assert_gradient, gradient_reference, reference
from tests.sampled import each, in_sample, sampled, turns

OPS = ("softmax_backward", "log_softmax_backward")
#: Both sides of each boundary: between groups of lanes, numbers of columns per lane, kernels; odd and even.
COLS = (*range(1, 10), *range(15, 19), *range(31, 36), *range(63, 71), 127, 129, 258, 500, 501, *range(1023, 1027))
COLS += (2048, 4097, *range(6139, 6142), 12_275, 20_000)
#: Both widths of a lane's columns and each number of lanes, with and without padding.
GRID_SHAPES = ((11, 5), (12, 7), (33, 64), (10, 68), (5, 1000))
SPECIAL_COLS = (1, 2, 3, 31, 32, 33, 64, 65, 127, 1000)


def variants() -> list[Variant]:
    """Every kernel, dtype and operator; the layouts that only a lesson takes in float alone."""
    warp = [Variant("warp", dtype, op) for dtype in DTYPES for op in OPS]
    smem = [Variant("block_smem", dtype, op, "column") for dtype in DTYPES for op in OPS]
    layouts = [Variant("block_smem", "float32", "softmax_backward", layout) for layout in ("row", "row_scalar")]
    uncached = [Variant("block_uncached", dtype, op) for dtype in (*DTYPES, "float64") for op in OPS]
    accurate = [Variant("warp", "float32", "log_softmax_backward", options=("-DSOFTLAB_ACCURATE",))]
    return [*warp, *smem, *layouts, *uncached, *accurate]


EVERY_VARIANT = sampled(variants(), lambda variant: in_turns(variant) or variant.layout in ("row", "row_scalar"))
SHAPE_CASES = sampled(
    product(variants(), (0, 1)),
    lambda variant, half: half_in_turns(variant, half) or (half and variant.layout in ("row", "row_scalar")),
)
every_variant = pytest.mark.parametrize("variant", EVERY_VARIANT, ids=str)


def test_the_sample_covers_every_kernel_type_layout_and_operator() -> None:
    kept = [variant for (variant,) in in_sample(EVERY_VARIANT)]
    for names in (("kernel", "dtype", "layout"), ("kernel", "op")):
        every = {tuple(getattr(variant, name) for name in names) for variant in variants()}
        assert {tuple(getattr(variant, name) for name in names) for variant in kept} == every


def inputs(rows: int, cols: int, variant: Variant) -> tuple[np.ndarray, np.ndarray]:
    """dy, with a mean of its own in each row, and y: what the forward operator gives for a random matrix."""
    forward = variant.op.removesuffix("_backward")
    y = reference(matrix(rows, cols, variant.dtype), forward).value
    return matrix(rows, cols, variant.dtype, seed=2), y.astype(element_type(variant.dtype).numpy)


def special_inputs(cols: int, variant: Variant) -> tuple[np.ndarray, np.ndarray]:
    """Rows with NaN, infinities, zeros and the largest numbers, in dy, in y and in both; ordinary rows between them."""
    dy, y = inputs(16, cols, variant)
    dy, y = dy.astype(np.float64), y.astype(np.float64)
    least = 0.0 if variant.op == "softmax_backward" else -np.inf  # the result for x = -inf
    dy[0] = 0
    y[1] = np.nan
    y[2] = least
    y[2, 0] = 1 + least if least == 0 else 0  # one element has it all
    dy[3, 0] = np.nan
    dy[4, -1] = np.inf
    dy[5, 0], dy[5, -1] = -np.inf, np.inf
    y[6] = least
    y[7, ::2] = least
    dy[7, ::2] = np.nan  # 0 * NaN is NaN, wherever it comes from
    y[8, ::2], dy[8, ::2] = least, 0
    y[9, cols // 2] = np.nan
    if variant.op == "softmax_backward":
        dy[10] = {"float16": 65504.0, "bfloat16": 3.0e38, "float32": 3.0e38, "float64": 1.0e308}[variant.dtype]
        y[10] = 0.5 / cols  # half the sum of a softmax: the difference is as large as dy
    dy[11], y[11] = np.inf, least
    dy[12] = 1  # a gradient of all ones gives dx = 0, but for rounding
    dy[13] = -0.0
    element = element_type(variant.dtype).numpy
    return dy.astype(element), y.astype(element)


def arguments(plan: Plan, dy: Any, y: Any, dx: Any) -> tuple[Any, ...]:
    return dy, y, dx, np.int64(plan.rows), np.int64(plan.cols)


def emulated(plan: Plan, dy: np.ndarray, y: np.ndarray, *, check: bool = False) -> np.ndarray:
    """What the plan's kernel makes of dy and y; the result starts as a number that none has, to be overwritten."""
    dx = np.full_like(dy, 12345)
    kernel_of(plan).run(plan.grid, plan.block, arguments(plan, dy, y, dx), plan.smem_bytes, check, record=False)
    return dx


def launched(plan: Plan, dy: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same on the GPU."""
    import cupy

    dx = cupy.full_like(cupy.asarray(dy), 12345)
    args = arguments(plan, cupy.asarray(dy), cupy.asarray(y), dx)
    gpu.launch(program_of(plan), (plan.grid,), plan.block, args, plan.smem_bytes)
    return dx.get()


def check_all(variant: Variant, run: Any, every: Sequence[int]) -> None:
    """Rows of all lengths that the variant can take."""
    shapes = 0
    for cols in every:
        plan = variant.plan(rows_for(cols), cols)
        if plan is None:
            continue
        dy, y = inputs(plan.rows, cols, variant)
        what = f"{variant}, {plan.rows} x {cols}"
        assert_gradient(run(plan, dy, y), dy, y, variant.op, accurate=bool(variant.options), what=what)
        shapes += 1
    longest = {"warp": 1024, "block_smem": 6140, "block_uncached": 20_000}[variant.kernel]
    assert shapes == sum(cols <= longest for cols in every)


def check_special(variant: Variant, run: Any) -> None:
    for cols in SPECIAL_COLS:
        dy, y = special_inputs(cols, variant)
        dx = run(variant.plan(*dy.shape), dy, y)
        what = f"{variant}, special rows of {cols}"
        assert_gradient(dx, dy, y, variant.op, accurate=bool(variant.options), what=what)


@pytest.mark.parametrize(("variant", "half"), SHAPE_CASES, ids=str)
def test_every_shape(variant: Variant, half: int) -> None:
    check_all(variant, emulated, halved(dealt(COLS, variant.dtype, variant.op, variant.layout == "row_scalar"), half))


@every_variant
def test_special_values(variant: Variant) -> None:
    check_special(variant, emulated)


@every_variant
def test_any_grid_and_no_fault(variant: Variant) -> None:
    """Groups and blocks stride over the rows: one block does them all, and nothing races or reads what nobody wrote."""
    for rows, cols in GRID_SHAPES:
        plan = variant.plan(rows, cols)
        dy, y = inputs(rows, cols, variant)
        expected = emulated(plan, dy, y)
        for grid in (1, 2, 3 * rows):
            assert np.array_equal(emulated(replace(plan, grid=grid), dy, y, check=True), expected), (rows, cols, grid)


@pytest.mark.parametrize("kernel", ["warp", "block_smem", "block_uncached"])
@pytest.mark.parametrize("reused", [0, 1])
def test_in_place(kernel: str, reused: int) -> None:
    """dx may be dy, or y."""
    variant = Variant(kernel, "float32", "softmax_backward")
    given = inputs(7, 1000, variant)
    plan = variant.plan(7, 1000)
    expected = emulated(plan, *given)
    dy, y = (array.copy() for array in given)
    dx = (dy, y)[reused]
    kernel_of(plan).run(plan.grid, plan.block, arguments(plan, dy, y, dx), plan.smem_bytes)
    assert np.array_equal(dx, expected)


@pytest.mark.parametrize(("pack_size", "kernel"), turns(2, [4, 8], ["warp", "block_smem", "block_uncached"]))
def test_wider_packs(kernel: str, pack_size: int) -> None:
    variant = Variant(kernel, "float16", "log_softmax_backward", "column" if kernel == "block_smem" else None)
    for cols in (8, 72, 1000):
        dy, y = inputs(3, cols, variant)
        plan = variant.plan(3, cols, pack_size=pack_size)
        assert_gradient(emulated(plan, dy, y), dy, y, variant.op, what=f"{variant} of {cols}")


@pytest.mark.parametrize("kernel", each(2, ["warp", "block_smem"]))
def test_double_in_the_kernels_that_dispatch_never_gives_it(kernel: str) -> None:
    variant = Variant(kernel, "float64", "softmax_backward", "column" if kernel == "block_smem" else None)
    for cols in (5, 64, 1000):
        dy, y = inputs(3, cols, variant)
        assert_gradient(emulated(variant.plan(3, cols), dy, y), dy, y, variant.op, what=f"{variant} of {cols}")


@pytest.mark.parametrize("op", OPS)
def test_the_oracle_is_the_derivative(op: str) -> None:
    """The reference against differences of the forward operator, so that both cannot be wrong alike."""
    forward, step = op.removesuffix("_backward"), np.longdouble(1e-6)
    x = matrix(3, 7, "float64").astype(np.float64)
    dy = np.random.default_rng(3).standard_normal((3, 7))
    value = lambda z: reference(z.astype(np.float64), forward).value  # noqa: E731
    expected = np.zeros((3, 7))
    for col in range(7):
        moved = np.zeros(7)
        moved[col] = step
        difference = (value(x + moved) - value(x - moved)) / ((x + moved)[:, col] - (x - moved)[:, col])[:, None]
        expected[:, col] = (difference * dy).sum(axis=1)
    y = value(x).astype(np.float64)
    np.testing.assert_allclose(gradient_reference(dy, y, op).value.astype(float), expected, rtol=1e-8, atol=1e-9)


def test_a_wrong_gradient_is_noticed() -> None:
    """The bound is tight enough: a sum without one element, or y taken twice, is beyond it."""
    variant = Variant("warp", "float32", "softmax_backward")
    dy, y = inputs(4, 33, variant)
    right = emulated(variant.plan(4, 33), dy, y)
    assert_gradient(right, dy, y)
    for wrong in (right + y * (y * dy)[:, :1], right * y, right * np.float32(1 + 1e-4)):
        with pytest.raises(AssertionError, match="elements are off"):
            assert_gradient(wrong, dy, y)


@pytest.mark.gpu
@every_variant
def test_every_shape_on_the_gpu(variant: Variant) -> None:
    check_all(variant, launched, COLS)


@pytest.mark.gpu
@every_variant
def test_special_values_on_the_gpu(variant: Variant) -> None:
    check_special(variant, launched)
