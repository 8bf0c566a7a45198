"""The kernel that moves many short rows as one piece, against the oracle: in the emulator, and on a GPU."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from softlab import plans
from softlab.dtypes import ELEMENT_TYPES, element_type
from softlab.plans import Plan
from tests.kernels.cases import dealt, halved, kernel_of, matrix, program_of, special_rows
from tests.kernels.test_fast import BACKWARD, FORWARD, assert_forward, launched
from tests.kernels.test_gradients import Variant, special_inputs
from tests.reference import assert_gradient, assert_within, reference
from tests.sampled import each, sampled, turns

#: One lane per row and several, whole packs, an odd number of elements, the longest row of 16-bit elements.
COLS = (1, 2, 3, 5, 8, 13, 20, 31, 45, 64)
LONG_COLS = {"float16": 251, "bfloat16": 254, "float32": 127, "float64": 63}


def tile(rows: int, cols: int, dtype: str, op: str = "softmax", **more: object) -> Plan:
    return plans.forced(rows, cols, dtype, kernel="fast_tile", policy="fast", op=op, device="H200", **more)


def ran(plan: Plan, *inputs: np.ndarray, grid: int = 0, out: np.ndarray | None = None) -> np.ndarray:
    """What the kernel makes of the inputs, with all checks; the result starts as a number that none has."""
    out = np.full_like(inputs[0], 12345) if out is None else out
    args = (*inputs, out, np.int64(plan.rows), np.int64(plan.cols))
    kernel_of(plan).run(grid or plan.grid, plan.block, args, check=True, record=False)
    return out


def in_turns(op: str, dtype: str, half: int) -> bool:
    """One operator for each second type, and half of its lengths; both operators and all lengths are in it."""
    number = list(ELEMENT_TYPES).index(dtype)
    return number % 2 == 0 and number // 2 == half == (op in (FORWARD[1], BACKWARD[1]))


@pytest.mark.parametrize(("op", "dtype", "half"), sampled(product(FORWARD, ELEMENT_TYPES, (0, 1)), in_turns))
def test_rows_with_special_values(op: str, dtype: str, half: int) -> None:
    """`.ci/run` runs an eighth of the cases (``in_turns``), `make test` all of them."""
    for cols in halved(dealt((*COLS, LONG_COLS[dtype]), dtype, op), half):
        x = special_rows(cols, dtype)
        got = ran(tile(*x.shape, dtype, op), x)
        assert_forward(got, x, op, f"{dtype} {op}, special rows of {cols}")
        assert np.all(got[np.isneginf(x) & ~np.isnan(got)] == (0 if op == "softmax" else -np.inf))


@pytest.mark.parametrize(
    ("op", "dtype", "half"), sampled(product(BACKWARD, ("float16", "float32", "float64"), (0, 1)), in_turns)
)
def test_gradients_with_special_values(op: str, dtype: str, half: int) -> None:
    """`.ci/run` runs an eighth of the cases (``in_turns``), `make test` all of them."""
    for cols in halved(dealt((*COLS, LONG_COLS[dtype]), dtype, op), half):
        dy, y = special_inputs(cols, Variant("warp", dtype, op))
        assert_gradient(ran(tile(*dy.shape, dtype, op), dy, y), dy, y, op, what=f"{dtype} {op}, special rows of {cols}")


@pytest.mark.parametrize(("rows", "dtype"), turns(2, [1, 2, 31, 32, 33, 4100], ["float16", "float64"]))
def test_full_tiles_and_the_last_one(rows: int, dtype: str) -> None:
    """4100 rows of one 16-bit element are 4 tiles of 1024 rows, and 4 rows that are less than a pack."""
    for cols in (1, 5) if rows > 100 else (1, 5, 45):
        x = matrix(rows, cols, dtype)
        plan = plans.forced(rows, cols, dtype, kernel="fast_tile", policy="fast", device="H200")
        assert_forward(ran(plan, x), x, "softmax", f"{rows} x {cols} {dtype}")


@pytest.mark.further
def test_tiles_of_many_rows() -> None:
    """The plan of a full GPU, run on few tiles: each lane has many rows, several at a time."""
    for cols, dtype in ((1, "float16"), (3, "bfloat16"), (5, "float32"), (2, "float64")):
        many = tile(1 << 24, cols, dtype)
        rows = 2100
        x = matrix(rows, cols, dtype)
        y = np.full_like(x, 12345)
        kernel_of(many).run(2, many.block, (x, y, np.int64(rows), np.int64(cols)), check=True, record=False)
        assert_forward(y, x, "softmax", many.name)


def test_any_grid_and_in_place() -> None:
    """Warps stride over the tiles: how many there are changes no bit."""
    x = matrix(700, 7, "float16")
    plan = tile(*x.shape, "float16")
    expected = ran(plan, x)
    for grid in (1, 2, 40):
        assert np.array_equal(ran(plan, x, grid=grid), expected), grid
    y = x.copy()
    assert np.array_equal(ran(plan, y, out=y), expected)


@pytest.mark.parametrize(("dtype", "cols"), turns(3, ELEMENT_TYPES, (1, 6, 31)))
def test_packs_of_one_element(dtype: str, cols: int) -> None:
    """For arrays that begin anywhere."""
    x = matrix(50, cols, dtype)
    plan = tile(50, cols, dtype, pack_size=1)
    assert plan.pack_size == 1
    assert_forward(ran(plan, x), x, "softmax", plan.name)


@pytest.mark.parametrize("cols", each(2, [6, 10, 31, 45, 61]))
def test_no_bank_conflicts(cols: int) -> None:
    """float32: each access of a warp to shared memory takes the fewest wavefronts. Memory moves whole sectors, once."""
    x = matrix(1024, cols, "float32")
    plan = tile(*x.shape, "float32")
    y = np.empty_like(x)
    counted = kernel_of(plan).run(plan.grid, plan.block, (x, y, np.int64(1024), np.int64(cols))).counters
    assert counted["bank_conflicts"] == 0
    assert counted["global_load_sectors"] == counted["global_store_sectors"] == x.nbytes // 32


@pytest.mark.parametrize(("op", "dtype"), turns(2, ["softmax", "softmax_backward"], ["float16", "float32", "float64"]))
def test_sixteen_bytes_an_access_and_almost_nothing_spilled(dtype: str, op: str) -> None:
    """More warps are worth a few spilled words: `blocks_per_sm` bounds the registers."""
    for cols in (1, 3, 10, 31, 45, LONG_COLS[dtype]):
        made = program_of(tile((1 << 27) // cols, cols, dtype, op))
        assert "cp.async.cg.shared.global" in made.ptx
        assert "st.global.v4.u32" in made.ptx
        assert made.local_bytes <= (8 if cols < 45 else 96), (made.name, made.local_bytes)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
@pytest.mark.parametrize("op", FORWARD)
def test_the_emulator_is_the_gpu(op: str, dtype: str) -> None:
    for cols in (*COLS, LONG_COLS[dtype]):
        for x in (special_rows(cols, dtype), matrix(1000, cols, dtype)):
            plan = tile(*x.shape, dtype, op)
            got = launched(plan, x)
            assert_forward(got, x, op, plan.name)
            close = reference(x, op).tolerance * 0.5
            emulated = ran(plan, x).astype(np.longdouble)
            assert_within(
                got,
                emulated,
                close + np.abs(np.nan_to_num(emulated.astype(float), posinf=0, neginf=0)) * 1e-6,
                plan.name,
            )


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("op", BACKWARD)
def test_gradients_on_the_gpu(op: str, dtype: str) -> None:
    for cols in (*COLS, LONG_COLS[dtype]):
        dy = matrix(1000, cols, dtype, seed=2)
        y = reference(matrix(1000, cols, dtype), op.removesuffix("_backward")).value.astype(element_type(dtype).numpy)
        plan = tile(*dy.shape, dtype, op)
        assert_gradient(launched(plan, dy, y), dy, y, op, what=plan.name)
