"""Each kernel against the oracle: in the emulator, and the same cases on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from softlab.cuda import gpu
from softlab.plans import Plan
from tests.kernels.cases import (
    COLS,
    ROWS,
    Variant,
    dealt,
    half_in_turns,
    halved,
    in_turns,
    kernel_of,
    matrix,
    program_of,
    rows_for,
    special_rows,
    variants,
)
from tests.reference import assert_softmax, assert_within, ulps_apart
from tests.sampled import each, in_sample, sampled, turns

#: Columns at which all numbers of rows are run; elsewhere one of them.
ALL_ROWS_COLS = (1, 2, 31, 33, 64, 70, 129, 1000, 2048)
SPECIAL_COLS = (1, 2, 3, 31, 32, 33, 64, 65, 127, 1000)
#: Rows in which GPU and emulator may differ most: how far, in units of the last place of float.
GPU_ULPS = 2

EVERY_VARIANT = sampled(variants(), in_turns)
SHAPE_CASES = sampled(product(variants(), (0, 1)), half_in_turns)
every_variant = pytest.mark.parametrize("variant", EVERY_VARIANT, ids=str)


def test_the_sample_covers_every_kernel_type_layout_and_operator() -> None:
    kept = [variant for (variant,) in in_sample(EVERY_VARIANT)]
    for names in (("kernel", "dtype", "layout"), ("kernel", "op")):
        every = {tuple(getattr(variant, name) for name in names) for variant in variants()}
        assert {tuple(getattr(variant, name) for name in names) for variant in kept} == every


def lengths(variant: Variant, half: int) -> tuple[int, ...]:
    """The numbers of columns that are run for a variant."""
    return halved(dealt(COLS, variant.dtype, variant.op), half)


def test_the_sample_has_every_length_for_each_kernel_and_layout() -> None:
    met: dict[tuple[str, str | None], set[int]] = {}
    for variant, half in in_sample(SHAPE_CASES):
        met.setdefault((variant.kernel, variant.layout), set()).update(lengths(variant, half))
    assert {(variant.kernel, variant.layout) for variant in variants()} == set(met)
    assert all(lengths == set(COLS) for lengths in met.values())


def arguments(plan: Plan, x: Any, y: Any) -> tuple[Any, ...]:
    return x, y, np.int64(plan.rows), np.int64(plan.cols)


def emulated(plan: Plan, x: np.ndarray, *, check: bool = False) -> np.ndarray:
    """What the plan's kernel makes of x in the emulator; the result starts as NaN, so that no element is left out."""
    y = np.full_like(x, np.nan)
    kernel_of(plan).run(plan.grid, plan.block, arguments(plan, x, y), plan.smem_bytes, check, record=False)
    return y


def launched(plan: Plan, x: np.ndarray) -> np.ndarray:
    """The same on the GPU."""
    import cupy

    source = cupy.asarray(x)
    target = cupy.full_like(source, np.nan)
    gpu.launch(program_of(plan), (plan.grid,), plan.block, arguments(plan, source, target), plan.smem_bytes)
    return target.get()


def shapes(every: Sequence[int] = COLS) -> list[tuple[int, int]]:
    """(rows, cols) of every case."""
    return [(rows, cols) for cols in every for rows in (ROWS if cols in ALL_ROWS_COLS else (rows_for(cols),))]


def accurate(variant: Variant) -> bool:
    return bool(variant.options)


@pytest.mark.parametrize(("variant", "half"), SHAPE_CASES, ids=str)
def test_every_shape(variant: Variant, half: int) -> None:
    done, every = 0, shapes(lengths(variant, half))
    for rows, cols in every:
        plan = variant.plan(rows, cols)
        if plan is None:
            continue
        x = matrix(rows, cols, variant.dtype)
        what = f"{variant}, {rows} x {cols}"
        assert_softmax(emulated(plan, x), x, variant.op, accurate=accurate(variant), what=what)
        done += 1
    longest = {"warp": 1024, "block_smem": 12272, "block_uncached": 20000}[variant.kernel]
    assert done == sum(cols <= longest for _, cols in every)


@every_variant
def test_special_values(variant: Variant) -> None:
    for cols in SPECIAL_COLS:
        x = special_rows(cols, variant.dtype)
        y = emulated(variant.plan(*x.shape), x)
        assert_softmax(y, x, variant.op, accurate=accurate(variant), what=f"{variant}, special rows of {cols}")
        zeros = y[np.isneginf(x) & ~np.isnan(y)]
        assert np.all(zeros == (0 if variant.op == "softmax" else -np.inf))


@every_variant
def test_any_grid_and_no_fault(variant: Variant) -> None:
    """Groups and blocks stride over the rows: one block does them all, and nothing races or reads what nobody wrote."""
    for rows, cols in ((11, 5), (33, 64), (10, 68), (5, 1000)):
        plan = variant.plan(rows, cols)
        x = matrix(rows, cols, variant.dtype)
        expected = emulated(plan, x)
        for grid in (1, 2, 3 * rows):
            y = np.full_like(x, np.nan)
            kernel_of(plan).run(grid, plan.block, arguments(plan, x, y), plan.smem_bytes, check=True, record=False)
            assert np.array_equal(y, expected), (variant, rows, cols, grid)


@pytest.mark.parametrize("kernel", ["warp", "block_smem", "block_uncached"])
def test_in_place(kernel: str) -> None:
    variant = Variant(kernel, "float32", "softmax")
    x = matrix(7, 1000, "float32")
    plan = variant.plan(*x.shape)
    y = x.copy()
    kernel_of(plan).run(plan.grid, plan.block, arguments(plan, y, y), plan.smem_bytes)
    assert np.array_equal(y, emulated(plan, x))


@pytest.mark.parametrize(("pack_size", "kernel"), turns(2, [4, 8], ["warp", "block_smem", "block_uncached"]))
def test_wider_packs(kernel: str, pack_size: int) -> None:
    variant = Variant(kernel, "float16", "softmax", "row" if kernel == "block_smem" else None)
    for cols in (8, 72, 1000):
        x = matrix(3, cols, "float16")
        assert_softmax(emulated(variant.plan(*x.shape, pack_size=pack_size), x), x, what=f"{variant} of {cols}")


@pytest.mark.parametrize("kernel", each(2, ["warp", "block_smem"]))
def test_double_in_the_kernels_that_dispatch_never_gives_it(kernel: str) -> None:
    variant = Variant(kernel, "float64", "log_softmax", "column" if kernel == "block_smem" else None)
    for cols in (5, 64, 1000):
        x = matrix(3, cols, "float64")
        assert_softmax(emulated(variant.plan(*x.shape), x), x, "log_softmax", what=f"{variant} of {cols}")


@pytest.mark.gpu
@every_variant
def test_every_shape_on_the_gpu(variant: Variant) -> None:
    for rows, cols in shapes():
        plan = variant.plan(rows, cols)
        if plan is not None:
            x = matrix(rows, cols, variant.dtype)
            y = launched(plan, x)
            what = f"{variant}, {rows} x {cols}"
            assert_softmax(y, x, variant.op, accurate=accurate(variant), what=what)
            assert_close_to_emulator(y, emulated(plan, x), variant, what)


@pytest.mark.gpu
@every_variant
def test_special_values_on_the_gpu(variant: Variant) -> None:
    for cols in SPECIAL_COLS:
        x = special_rows(cols, variant.dtype)
        plan = variant.plan(*x.shape)
        y = launched(plan, x)
        what = f"{variant}, special rows of {cols}"
        assert_softmax(y, x, variant.op, accurate=accurate(variant), what=what)
        assert_close_to_emulator(y, emulated(plan, x), variant, what)


def assert_close_to_emulator(on_gpu: np.ndarray, in_emulator: np.ndarray, variant: Variant, what: str) -> None:
    """Equal to within 2 ulp of float in every element; a 16-bit result so differs by one ulp where rounding tips over.

    log_softmax of the largest element is the small difference of two numbers around 1 or a small logarithm: it is
    compared in ulps of 1 there, as its own error bound is absolute.
    """
    if variant.op == "softmax":
        apart = ulps_apart(on_gpu, in_emulator)
        assert apart.max() <= GPU_ULPS, f"{what}: {apart.max()} ulps at {np.unravel_index(apart.argmax(), apart.shape)}"
        return
    expected = in_emulator.astype(np.longdouble)
    unit = np.finfo(np.float64).eps if variant.dtype == "float64" else np.finfo(np.float32).eps
    tolerance = GPU_ULPS * unit * np.maximum(np.abs(np.where(np.isfinite(expected), expected, 0)), 1)
    if variant.dtype in ("float16", "bfloat16"):
        tolerance = (
            tolerance
            + np.abs(np.spacing(in_emulator.astype(np.float32))) * 2.0 ** {"float16": 13, "bfloat16": 16}[variant.dtype]
        )
    assert_within(on_gpu, expected, tolerance, what)
