"""Policy "invariant": the bits of a row depend on the row alone. In the emulator; special values as in every kernel."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import softlab
from softlab import plans
from softlab.dtypes import element_type
from softlab.errors import PlanError
from softlab.kernel import Kernel
from softlab.plans.resources import Resources
from tests.kernels.cases import kernel_of, program, special_rows
from tests.kernels.test_fast import BACKWARD, FORWARD, assert_forward
from tests.kernels.test_gradients import Variant, special_inputs
from tests.reference import assert_gradient
from tests.sampled import each, turns

OPS = (*FORWARD, *BACKWARD)
#: (rows, the row's number, elements before the array): alone, and among others in arrays that begin anywhere.
PLACEMENTS = ((1, 0, 0), (3, 2, 1), (7, 3, 3))


def bits(row: np.ndarray) -> bytes:
    return row.tobytes()


def inputs_of(op: str, cols: int, dtype: str) -> tuple[np.ndarray, ...]:
    """One row of each input."""
    random = np.random.default_rng([cols, len(op)])
    x = (4 * random.standard_normal((1, cols))).astype(element_type(dtype).numpy)
    return (x,) if op in FORWARD else (x, softlab.softmax(x, policy="fast"))


def placed(row: np.ndarray, rows: int, at: int, before: int) -> np.ndarray:
    """The row among others, in an array that begins ``before`` elements behind a multiple of 16 bytes."""
    memory = np.random.default_rng(rows).standard_normal(rows * row.size + before + 16).astype(row.dtype)
    start = -memory.ctypes.data % 16 // row.itemsize + before
    array = memory[start : start + rows * row.size].reshape(rows, row.size)
    array[at] = row
    return array


@pytest.mark.parametrize(
    ("op", "cols", "dtype"), turns(4, OPS, [(13, "float16"), (150, "float32"), (301, "bfloat16"), (333, "float64")])
)
def test_the_bits_of_a_row_depend_on_the_row_alone(op: str, cols: int, dtype: str) -> None:
    given = inputs_of(op, cols, dtype)
    found = set()
    for rows, at, before in PLACEMENTS:
        arrays = [placed(row[0], rows, at, before) for row in given]
        found.add(bits(getattr(softlab, op)(*arrays, policy="invariant")[at]))
    assert len(found) == 1


@pytest.mark.parametrize(("op", "dtype"), each(2, [("softmax", "float32"), ("log_softmax_backward", "float16")]))
def test_every_kernel_gives_the_same_bits(op: str, dtype: str) -> None:
    """Lanes of one warp, a block, a cluster, and a kernel that reads the row in chunks three times."""
    backward = "_backward" if op in BACKWARD else ""
    size = element_type(dtype).itemsize
    given = inputs_of(op, 601, dtype)
    found = set()
    for kernel, numbers, block, cluster in (
        ("warp", (8, 32, 1), 128, 1), ("block", (3, 64), 64, 1), ("block", (1, 256), 256, 1),
        ("cluster", (2, 64, 2), 64, 2), ("stream", (1, 32, 1), 32, 1), ("stream", (1, 32, 2), 32, 2),
    ):  # fmt: skip
        words = (element_type(dtype).cuda, f"Algorithm::{op.removesuffix('_backward')}", 16 // size, *numbers, "true")
        out = np.full_like(given[0], 12345)
        chosen = made(f"invariant_{kernel}{backward}<{', '.join(map(str, words))}>")
        chosen.run(cluster, block, (*given, out, np.int64(1), np.int64(601)), check=True, record=False)
        found.add(bits(out))
    assert len(found) == 1


def any_values(shape: tuple[int, int], dtype: str, seed: int) -> np.ndarray:
    """Numbers around 0, and some of each special kind."""
    random = np.random.default_rng(seed)
    special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-41, 60_000.0])
    values = np.where(random.random(shape) < 0.1, random.choice(special, shape), 3 * random.standard_normal(shape))
    return values.astype(element_type(dtype).numpy)


@pytest.mark.parametrize(
    ("op", "cols", "dtype"),
    turns(4, OPS, [(1, "float16"), (1, "float32"), (1, "float64"), (2, "bfloat16"), (3, "float32")]),
)
def test_short_rows_have_the_same_bits_in_tiles_and_in_lanes(op: str, cols: int, dtype: str) -> None:
    """A tile's lane has the whole row and adds its few terms in another way."""
    given = [any_values((70, cols), dtype, seed) for seed in range(1 + (op in BACKWARD))]
    tile = plans.plan(1 << 22, cols, dtype, op=op, policy="invariant", device="H200")
    assert tile.kernel == "invariant_tile"
    out = np.full_like(given[0], 12345)
    kernel_of(tile).run(1, tile.block, (*given, out, np.int64(70), np.int64(cols)), check=True, record=False)
    run = softlab.trace(given[0] if len(given) == 1 else tuple(given), op=op, policy="invariant", device="H200")
    assert run.plan.kernel == "invariant_warp"
    assert bits(out) == bits(run.output)


@lru_cache(maxsize=32)
def made(name: str) -> Kernel:
    return Kernel.from_program(program("invariant.cuh", name, "sm_90", ()))


@pytest.mark.parametrize(("cols", "dtype"), [(5, "float16"), (150, "float32"), (600, "float64")])
@pytest.mark.parametrize("op", FORWARD)
def test_rows_with_special_values(op: str, cols: int, dtype: str) -> None:
    x = special_rows(cols, dtype)
    out = np.full_like(x, 12345)
    plan = plans.plan(*x.shape, dtype, op=op, policy="invariant", device="H200")
    args = (x, out, np.int64(len(x)), np.int64(cols))
    kernel_of(plan).run(plan.grid, plan.block, args, check=True, record=False)
    assert_forward(out, x, op, f"{dtype} {op}, special rows of {cols}")


@pytest.mark.parametrize(("cols", "dtype"), [(5, "float16"), (150, "float32"), (600, "float64")])
@pytest.mark.parametrize("op", BACKWARD)
def test_gradients_with_special_values(op: str, cols: int, dtype: str) -> None:
    dy, y = special_inputs(cols, Variant("warp", dtype, op))
    got = getattr(softlab, op)(dy, y, policy="invariant")
    assert_gradient(got, dy, y, op, what=f"{dtype} {op}, special rows of {cols}")


def test_plans_take_kernels_with_exact_sums_alone() -> None:
    lookup = lambda *_: Resources(64, 0, 0, 0, "")  # noqa: E731
    for cols in (1, 3, 40, 200, 1000, 9000, 60_000, 300_000, 5_000_000):
        for rows in (1, 4000):
            plan = plans.plan(rows, cols, "float64", policy="invariant", device="H200", lookup=lookup)
            assert plan.kernel.startswith("invariant_")
            assert (plan.file, plan.name.partition("<")[0]) == ("invariant.cuh", plan.kernel)
            assert not plan.cooperative
    assert plan.global_bytes == 4 * plan.rows * plan.cols * 8


def test_lanes_of_gradients_are_full_and_clusters_have_small_blocks() -> None:
    lookup = lambda *_: Resources(64, 0, 0, 0, "")  # noqa: E731
    of_lanes = plans.plan(
        10_000, 301, "float16", op="softmax_backward", policy="invariant", device="H100", lookup=lookup
    )
    assert "8, 5, 8, 1, true" in of_lanes.name  # five packs on each of eight lanes
    for cols in (50_257, 84_411):
        cluster = plans.plan(2000, cols, "float16", policy="invariant", device="H100", lookup=lookup)
        assert (cluster.kernel, cluster.block) == ("invariant_cluster", (128, 1))


def test_a_row_beyond_the_integers_is_refused() -> None:
    with pytest.raises(PlanError, match=r"at most 2\^26 elements exactly; a row has 67108865"):
        plans.plan(1, 2**26 + 1, policy="invariant", device="H200")


def test_traces_and_the_front_of_the_reference_take_the_policy() -> None:
    x = np.float32([[1, 2, 3], [3, 1, 2]])
    direct = softlab.softmax(x, policy="invariant")
    assert bits(softlab.trace(x, policy="invariant").output) == bits(direct)
    assert bits(softlab.functional.softmax(x, policy="invariant")) == bits(direct)
    assert bits(np.sort(direct[0])) == bits(np.sort(direct[1]))
