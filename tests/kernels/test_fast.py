"""The kernels of the policy "fast" against the oracle: in the emulator, and the same cases on a GPU."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import softlab
from softlab import plans
from softlab.dtypes import ELEMENT_TYPES, element_type
from softlab.kernel import Kernel
from softlab.operators import executors
from tests.kernels.cases import dealt, kernel_of, matrix, program, program_of, special_rows
from tests.kernels.test_gradients import Variant as GradientVariant
from tests.kernels.test_gradients import special_inputs
from tests.reference import assert_gradient, assert_within, reference
from tests.sampled import each, in_sample, one_of, sampled, turns

FORWARD = ("softmax", "log_softmax")
BACKWARD = ("softmax_backward", "log_softmax_backward")
#: Rounding beyond the reference kernels': a second exponential (4 u) and its product (u) in each element and in each
#: part of the sum, and a reciprocal and a product for the quotient (u).
MORE_ROUNDING = 12


@dataclass(frozen=True)
class Small:
    """A kernel with few threads, for rows of any kind: ``numbers`` are its template's, between type and unaligned."""

    kernel: str
    numbers: tuple[int | str, ...]
    block: int
    packs: int  # the longest row in whole packs
    stage_packs: int = 0  # packs of a block in shared memory
    cluster: int = 1  # blocks that share a row
    more: tuple[int, ...] = ()  # numbers behind unaligned

    @property
    def cooperative(self) -> bool:
        """Blocks all over the grid share a row. 64 threads of each exchange partials in a workspace."""
        return self.kernel in ("fast_grid", "fast_ring")

    @property
    def rows_per_block(self) -> int:
        """Rows of a block, or of a cluster, of a kernel that has no loop over rows; 0 if it has one."""
        if self.kernel == "fast_warp":
            _, width, rows_at_once = self.numbers
            return self.block // int(width) * int(rows_at_once)
        return int(self.kernel in ("fast_block", "fast_cluster"))

    def run(self, chosen: Kernel, blocks: int, arrays: tuple[np.ndarray, ...], smem: int) -> None:
        """With all checks. A kernel without a loop gets as many blocks as the rows take, if ``blocks`` is 0."""
        rows, cols = arrays[0].shape
        if not blocks:
            blocks = -(-rows // self.rows_per_block) if self.rows_per_block else 3
        workspace = (np.zeros(1 << 12, np.uint64),) if self.cooperative else ()
        args = (*arrays, *workspace, np.int64(rows), np.int64(cols))
        block = self.block + 64 * self.cooperative
        chosen.run(
            blocks * self.cluster, block, args, smem=smem, check=True, record=False, cooperative=self.cooperative
        )


#: Each kernel with one row per group and several, with one block per row and a cluster.
SMALL = (
    Small("fast_warp", (2, 8, 1), 128, 16),
    Small("fast_warp", (3, 4, 2), 128, 12),
    Small("fast_warp", (2, 32, 1), 128, 64),
    Small("fast_block", (2, 64), 64, 128),
    Small("fast_cluster", (1, 64, 2), 64, 128, cluster=2),
    Small("fast_cluster", (1, 64, 4), 64, 256, cluster=4),
    Small("fast_pipeline", (1, 1, 64, 1), 64, 128, stage_packs=64),
    Small("fast_pipeline", (1, 1, 64, 2), 64, 256, stage_packs=64, cluster=2),
    Small("fast_grid", (1, 4, 2, 64, 3), 64, 192, stage_packs=256, cluster=3),
    Small("fast_grid", (2, 5, 1, 64, 2), 64, 256, stage_packs=320, cluster=2),
    Small("fast_grid", (1, 1, 0, 96, 1), 96, 96, stage_packs=96),
    Small("fast_ring", (3, 2, 8, 1, 1, 0, 0, 64, 2, "false"), 64, 376, stage_packs=512, cluster=2),
    Small("fast_ring", (7, 1, 5, 1, 1, 4, 0, 64, 2, "false"), 64, 888, stage_packs=320, cluster=2),
    Small("fast_ring", (3, 2, 8, 1, 1, 0, 4, 64, 2, "false"), 64, 888, stage_packs=512, cluster=2),
    Small("fast_ring", (7, 1, 5, 1, 1, 3, 2, 64, 2, "false"), 64, 1144, stage_packs=320, cluster=2),
    Small("fast_stream", (1, 64, 1), 64, 300),
    Small("fast_stream", (1, 64, 2), 64, 500, cluster=2),
    Small("fast_ring", (5, 2, 10, 1, 1, 0, 4, 64, 2, "true"), 64, 1272, stage_packs=640, cluster=2),
    Small("fast_ring", (4, 1, 4, 1, 2, 2, 3, 32, 3, "true"), 32, 664, stage_packs=128, cluster=3),
)
every_kernel = pytest.mark.parametrize("small", SMALL, ids=lambda small: f"{small.kernel}{small.numbers}")


@lru_cache(maxsize=256)
def kernel(small: Small, dtype: str, op: str, pack_size: int, unaligned: bool) -> Kernel:
    backward = op.endswith("_backward")
    words = (
        element_type(dtype).cuda, f"Algorithm::{op.removesuffix('_backward')}", pack_size, *small.numbers,
        str(unaligned).lower(), *small.more,
    )  # fmt: skip
    name = f"{small.kernel}{'_backward' if backward else ''}<{', '.join(map(str, words))}>"
    return Kernel.from_program(program(f"{small.kernel}.cuh", name, "sm_90", ()))


def ran(small: Small, op: str, inputs: tuple[np.ndarray, ...], *, blocks: int = 0, pack_size: int = 0) -> np.ndarray:
    """What the kernel makes of the inputs, with all checks; the result starts as a number that none has."""
    itemsize = inputs[0].itemsize
    pack_size = pack_size or 16 // itemsize
    out = np.full_like(inputs[0], 12345)
    smem = len(inputs) * small.stage_packs * pack_size * itemsize
    chosen = kernel(small, inputs[0].dtype.name, op, pack_size, inputs[0].shape[1] % pack_size != 0)
    small.run(chosen, blocks, (*inputs, out), smem)
    return out


def assert_forward(got: np.ndarray, x: np.ndarray, op: str, what: str) -> None:
    expected = reference(x, op)
    unit = float(np.finfo(np.float64 if x.dtype == np.float64 else np.float32).eps) / 2
    size = np.where(np.isfinite(expected.value), np.abs(expected.value), 0) if op == "softmax" else 1
    assert_within(got, expected.value, expected.tolerance + MORE_ROUNDING * unit * size, what)


def lengths(small: Small, pack_size: int) -> tuple[int, ...]:
    """Whole packs and not, one element and all that fits; odd lengths bring rows to every distance from a sector."""
    most = small.packs * pack_size
    return tuple(dict.fromkeys(c for c in (1, 7, 3 * pack_size, most // 2 + 3, most - 1, most) if c <= most))


def _sample() -> Iterator[tuple[Small, str, str]]:
    """What `.ci/run` runs: each kernel once forward and once backward, and a file with one kernel both operators.

    Types and operators take turns. Forward and backward, a kernel meets different halves of its lengths (``dealt``).
    """
    types, gradient_types = tuple(ELEMENT_TYPES), ("float16", "float32", "float64")
    for place, small in enumerate(SMALL):
        alone = sum(other.kernel == small.kernel for other in SMALL) == 1
        for turn in (0, 1) if alone else (place % 2,):
            number = place + place // 4 + 2 + turn * alone
            dtype, gradient = types[number % 4], gradient_types[(number + place) % 3]
            other_half = (types.index(dtype) + turn + types.index(gradient) + 1) % 2
            yield small, FORWARD[turn], dtype
            yield small, BACKWARD[other_half], gradient


SAMPLE = set(_sample())
FORWARD_CASES = sampled(product(SMALL, FORWARD, ELEMENT_TYPES), lambda *case: case in SAMPLE)
BACKWARD_CASES = sampled(product(SMALL, BACKWARD, ("float16", "float32", "float64")), lambda *case: case in SAMPLE)


def test_the_sample_covers_every_kernel_type_and_operator() -> None:
    """Each file with each operator and three types; each type with each operator; each kernel with each length."""
    every = [case.values for case in (*FORWARD_CASES, *BACKWARD_CASES)]
    kept = [*in_sample(FORWARD_CASES), *in_sample(BACKWARD_CASES)]
    assert set(kept) == SAMPLE
    for pair in (lambda s, op, t: (s.kernel, op), lambda s, op, t: (op, t), lambda s, op, t: (s, op in FORWARD)):
        assert {pair(*case) for case in kept} == {pair(*case) for case in every}
    types = Counter(kernel for kernel, _ in {(small.kernel, dtype) for small, _, dtype in kept})
    assert min(types.values()) >= 3

    def met(chosen: list[tuple[Any, ...]]) -> set[tuple[str, int]]:
        positions = range(6)  # of a length; the lengths themselves follow from the type
        return {(str(small), k) for small, op, dtype in chosen for k in dealt(positions, dtype, op)}

    assert met(kept) == met(every)


@pytest.mark.parametrize(("small", "op", "dtype"), FORWARD_CASES, ids=str)
def test_rows_with_special_values(small: Small, op: str, dtype: str) -> None:
    """`.ci/run` runs some of the cases (``_sample``), `make test` all of them."""
    for cols in dealt(lengths(small, 16 // element_type(dtype).itemsize), dtype, op):
        x = special_rows(cols, dtype)
        got = ran(small, op, (x,))
        assert_forward(got, x, op, f"{small}, {dtype} {op}, special rows of {cols}")
        assert np.all(got[np.isneginf(x) & ~np.isnan(got)] == (0 if op == "softmax" else -np.inf))


@pytest.mark.parametrize(("small", "op", "dtype"), BACKWARD_CASES, ids=str)
def test_gradients_with_special_values(small: Small, op: str, dtype: str) -> None:
    """`.ci/run` runs some of the cases (``_sample``), `make test` all of them."""
    for cols in dealt(lengths(small, 16 // element_type(dtype).itemsize), dtype, op):
        dy, y = special_inputs(cols, GradientVariant("warp", dtype, op))
        assert_gradient(ran(small, op, (dy, y)), dy, y, op, what=f"{small}, {dtype} {op}, special rows of {cols}")


@pytest.mark.parametrize(
    "small", one_of(6, [small for small in SMALL if not small.rows_per_block], lambda small: small.kernel), ids=str
)
def test_any_grid(small: Small) -> None:
    """Blocks and clusters stride over the rows: how many there are changes no bit.

    `.ci/run` runs one of each file's kernels, `make test` all.
    """
    x = matrix(11, small.packs * 2 + 1, "float32")
    expected = ran(small, "softmax", (x,))
    for blocks in (1, 2, 40):
        assert np.array_equal(ran(small, "softmax", (x,), blocks=blocks), expected), blocks


@pytest.mark.parametrize("small", each(2, [small for small in SMALL if not small.stage_packs]), ids=str)
def test_packs_of_one_element(small: Small) -> None:
    """For arrays that begin anywhere. (The pipeline kernel's cp.async copies 4 bytes or more.)"""
    x = matrix(5, small.packs, "float16")
    assert_forward(ran(small, "softmax", (x,), pack_size=1), x, "softmax", str(small))


@pytest.mark.parametrize(
    "small", one_of(2, SMALL, lambda small: small.kernel), ids=lambda small: f"{small.kernel}{small.numbers}"
)
def test_in_place(small: Small) -> None:
    x = matrix(7, small.packs * 4 - 1, "float32")
    chosen = kernel(small, "float32", "softmax", 4, True)
    y = x.copy()
    small.run(chosen, 0, (y, y), small.stage_packs * 16)
    assert np.array_equal(y, ran(small, "softmax", (x,)))


@pytest.mark.parametrize("small", each(3, [small for small in SMALL if small.cooperative]), ids=str)
def test_each_row_has_its_own_head_and_tail(small: Small) -> None:
    """Block 0 of a group loads them a row ahead. Here only they are finite, with other numbers in each row."""
    x = np.full((9, small.packs * 4 - 1), -np.inf, "float32")
    x[:, :3], x[:, -3:] = matrix(9, 3, "float32"), matrix(9, 6, "float32")[:, 3:]
    for blocks in (1, 2):
        assert_forward(ran(small, "softmax", (x,), blocks=blocks), x, "softmax", f"{small}, {blocks} groups")


#: Shapes that take every kernel, and some of each length of cut.
PLANNED = (
    (9, 5, "float32"), (9, 33, "float16"), (6, 130, "bfloat16"), (6, 1000, "float32"), (6, 1023, "float16"),
    (3, 6000, "float32"), (140, 6404, "float32"), (67, 20001, "bfloat16"), (2, 70_001, "float32"),
    (2, 163_900, "float32"), (1, 131_101, "float64"),
)  # fmt: skip


@pytest.mark.parametrize(("rows", "cols", "dtype"), each(2, PLANNED))
def test_the_operator(rows: int, cols: int, dtype: str) -> None:
    """As a caller has it: plan, kernel, result."""
    x = matrix(rows, cols, dtype)
    assert_forward(softlab.softmax(x, policy="fast", device="H200"), x, "softmax", f"{rows} x {cols} {dtype}")


@pytest.mark.parametrize(("op", "dtype", "special"), turns(2, FORWARD, ELEMENT_TYPES, [True, False]))
def test_short_rows(op: str, dtype: str, special: bool) -> None:
    """Some take the reference's warp kernel, doubles too."""
    for cols in (1, 2, 3, 5, 14):
        x = special_rows(cols, dtype) if special else matrix(7, cols, dtype)
        got = getattr(softlab, op)(x, policy="fast", device="H200")
        assert_forward(got, x, op, f"{x.shape} {dtype} {op}")


@pytest.mark.parametrize(("op", "dtype"), turns(2, BACKWARD, ["float16", "float64"]))
def test_gradients_of_short_rows(op: str, dtype: str) -> None:
    for cols in (1, 3, 5, 12):
        dy = matrix(6, cols, dtype, seed=2)
        y = reference(matrix(6, cols, dtype), op.removesuffix("_backward")).value.astype(dy.dtype)
        assert_gradient(
            getattr(softlab, op)(dy, y, policy="fast", device="sm_80"), dy, y, op, what=f"{cols} {dtype} {op}"
        )


def test_short_rows_that_begin_anywhere() -> None:
    """An array whose first element is not at a multiple of a pack."""
    for cols in (1, 2, 6, 30):
        x = matrix(1, 8 * cols + 1, "float16")[0, 1:].reshape(8, cols)
        assert_forward(softlab.softmax(x, policy="fast", device="H200"), x, "softmax", f"8 x {cols}, misaligned")


@pytest.mark.parametrize("device", each(2, ["sm_75", "sm_80"]))
def test_gpus_without_clusters(device: str) -> None:
    for cols in (1, 5, 40, 3000, 33_001):
        x = matrix(3, cols, "float16")
        assert_forward(softlab.log_softmax(x, policy="fast", device=device), x, "log_softmax", f"{device}, {cols}")


def test_large_offsets_keep_the_small_differences() -> None:
    """log_softmax of x + 1e7 is that of x, where x + 1e7 is exact."""
    x = np.float32(np.arange(4000).reshape(2, 2000) % 97)
    fast = softlab.log_softmax(x, policy="fast", device="H200")
    assert np.array_equal(fast, softlab.log_softmax(x + np.float32(1e7), policy="fast", device="H200"))


def test_a_wrong_sum_is_noticed() -> None:
    """The tolerance is one of rounding: a row whose last element was left out of the sum is beyond it."""
    x = matrix(1, 64, "float32")
    wrong = np.exp(x - x.max()) / np.exp(x - x.max())[:, :-1].sum()
    with pytest.raises(AssertionError, match="elements are off"):
        assert_forward(wrong, x, "softmax", "wrong")


# Machine code ---------------------------------------------------------------------------------------------------------

MANY = 1 << 28
#: One plan of each kernel and cut for rows that fill the GPU.
COLS = (32, 1000, 4096, 8192, 16384, 32768, 50257, 65536, 131072, 151936, 262144, 1 << 20)


@pytest.mark.parametrize(("op", "dtype"), turns(2, ["softmax", "softmax_backward"], ["float16", "float32"]))
def test_sixteen_bytes_an_access_and_nothing_spilled(dtype: str, op: str) -> None:
    for cols in COLS:
        plan = plans.plan(MANY // cols, cols, dtype, op=op, policy="fast", device="H200")
        made = program_of(plan)
        assert (made.local_bytes, made.spill_bytes) == (0, 0), made.name
        assert "ld.global.v4.u32" in made.ptx or re.search(r"cp\.async\.cg\.shared\.global \[.*\], 16;", made.ptx)
        assert "st.global.v4.u32" in made.ptx
        assert "barrier.cluster.arrive.release" not in made.ptx  # it would wait for every store to global memory


# The same on a GPU ----------------------------------------------------------------------------------------------------


def launched(plan: Any, *inputs: np.ndarray) -> np.ndarray:
    import cupy

    out = cupy.full_like(cupy.asarray(inputs[0]), 12345)
    executors.gpu_launch(plan, executors.arguments(plan, tuple(map(cupy.asarray, inputs)), out))()
    return out.get()


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("op", [*FORWARD, *BACKWARD])
def test_every_length_on_the_gpu(op: str, dtype: str) -> None:
    for cols in (1, 5, 31, 33, 100, 127, 1000, 1023, 1537, 6001, 12289, 40_000, 70_001, 300_007, 600_000):
        for rows in (3, 150) if cols < 50_000 else (3,):
            plan = plans.plan(rows, cols, dtype, op=op, policy="fast")
            what = f"{rows} x {cols} {dtype} {op}, {plan.name}"
            if op in FORWARD:
                x = matrix(rows, cols, dtype)
                assert_forward(launched(plan, x), x, op, what)
            else:
                dy = matrix(rows, cols, dtype, seed=2)
                y = reference(matrix(rows, cols, dtype), op.removesuffix("_backward")).value.astype(dy.dtype)
                assert_gradient(launched(plan, dy, y), dy, y, op, what=what)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("op", FORWARD)
def test_special_rows_on_the_gpu(op: str, dtype: str) -> None:
    for cols in (1, 33, 1000, 1023, 4099, 20_001, 140_003):
        x = special_rows(cols, dtype)
        plan = plans.plan(*x.shape, dtype, op=op, policy="fast")
        assert_forward(launched(plan, x), x, op, f"{plan.name}, special rows of {cols}")


@pytest.mark.gpu
def test_the_emulator_is_the_gpu() -> None:
    for rows, cols, dtype in PLANNED[:7]:
        plan = plans.plan(rows, cols, dtype, policy="fast", device="H200")
        x = matrix(rows, cols, dtype)
        y = np.full_like(x, 12345)
        args = (x, y, np.int64(rows), np.int64(cols))
        kernel_of(plan).run(plan.grid, plan.block, args, plan.smem_bytes, record=False)
        close = reference(x).tolerance * 0.5
        assert_within(launched(plan, x), y.astype(np.longdouble), close + np.abs(y.astype(float)) * 1e-6, plan.name)


@pytest.mark.parametrize("op", each(2, ["softmax", "log_softmax_backward"]))
def test_a_cluster_that_keeps_to_registers_has_the_same_bits(op: str) -> None:
    small = Small("fast_cluster", (2, 64, 2), 64, 256, cluster=2)
    rng = np.random.default_rng(26)
    for dtype in ("float16", "float64"):
        inputs = tuple(rng.normal(0, 2, (5, 301)).astype(dtype) for _ in range(1 + op.endswith("_backward")))
        np.testing.assert_array_equal(ran(small, op, inputs), ran(replace(small, more=(8,)), op, inputs))
