"""Rows along other axes than the last: the kernel with special values, its plan, and the operators that take it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import softlab
from softlab import plans
from softlab.dtypes import element_type
from softlab.errors import PlanError
from softlab.hardware.devices import Device
from softlab.kernel import Kernel
from softlab.plans.resources import Resources
from tests.kernels.cases import matrix, program, special_rows
from tests.kernels.test_fast import assert_forward
from tests.kernels.test_gradients import Variant, special_inputs
from tests.reference import assert_gradient

#: dtype, operator, (pack, packs, lanes, block, cluster), columns: alone in a warp or a block, several warps, a cluster;
#: rows that fit, and rows of several chunks; packs that reach beyond the last row.
SHAPES = (
    ("float32", "softmax", (4, 2, 4, 64, 1), 31),
    ("float32", "log_softmax", (4, 2, 4, 64, 2), 64),
    ("float16", "softmax", (8, 1, 2, 64, 2), 150),
    ("bfloat16", "log_softmax", (1, 3, 32, 64, 1), 5),
    ("float64", "log_softmax", (2, 3, 64, 64, 1), 3),
    ("float32", "softmax_backward", (4, 1, 8, 64, 4), 90),
    ("float16", "log_softmax_backward", (8, 2, 4, 64, 1), 32),
    ("float64", "softmax_backward", (1, 2, 1, 32, 1), 64),
)


def taken(*_: Any) -> Resources:
    return Resources(32, 64, 0, 0, "")


@pytest.mark.parametrize(("dtype", "op", "numbers", "cols"), SHAPES, ids=str)
def test_special_values(dtype: str, op: str, numbers: tuple[int, ...], cols: int) -> None:
    """13 or 16 rows, side by side in two matrices; the kernel runs with all checks."""
    pack_size, _, lanes, block, cluster = numbers
    if op.endswith("_backward"):
        inputs = special_inputs(cols, Variant("warp", dtype, op))
    else:
        inputs = (special_rows(cols, dtype),)
    rows = len(inputs[0]) // pack_size * pack_size
    stride = rows
    columns = [np.array([x[:rows].T, x[rows - 1 :: -1].T], order="C") for x in inputs]  # (2, cols, stride)
    out = np.full_like(columns[0], 12345)
    words = (element_type(dtype).cuda, f"Algorithm::{op.removesuffix('_backward')}", *numbers)
    name = f"fast_strided{'_backward' if op.endswith('_backward') else ''}<{', '.join(map(str, words))}>"
    kernel = Kernel.from_program(program("fast_strided.cuh", name, "sm_90", ()))
    blocks = 2 * -(-stride // (lanes * pack_size)) * cluster
    kernel.run(blocks, block, (*columns, out, np.int64(2 * rows), np.int64(cols), np.int64(stride)), check=True)
    for half, order in ((0, slice(None)), (1, slice(None, None, -1))):
        got, given = out[half].T[order], [x[:rows] for x in inputs]
        if op.endswith("_backward"):
            assert_gradient(got, *given, op, what=name)
        else:
            assert_forward(got, given[0], op, name)


def planned(rows: int, cols: int, dtype: str = "float32", *, stride: int, device: Any = "H200", **more: Any) -> Any:
    return plans.plan(rows, cols, dtype, policy="fast", device=device, stride=stride, lookup=taken, **more)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("op", ["softmax", "softmax_backward"])
def test_the_strips_hold_all_rows(op: str, dtype: str) -> None:
    for outer, cols, stride in ((1, 32, 32), (1, 1, 2), (7, 33, 7), (1, 3000, 5000), (1, 10, 1 << 20), (3, 50_000, 64)):
        for device in ("H200", "sm_80"):
            plan = planned(outer * stride, cols, dtype, stride=stride, device=device, op=op)
            words = plan.name.partition("<")[2].rstrip(">").split(", ")
            pack_size, packs, lanes, block, cluster = map(int, words[2:])
            assert stride % pack_size == 0
            assert plan.grid == outer * -(-stride // (lanes * pack_size)) * cluster
            once = block // lanes * packs * cluster >= cols
            assert (plan.kernel == "fast_strided") == once
            assert plan.global_bytes == (1 + plan_inputs(op) * (1 if once else 2)) * outer * cols * stride * (
                element_type(dtype).itemsize
            )
            assert cluster == 1 or device == "H200"


def plan_inputs(op: str) -> int:
    return 2 if op.endswith("_backward") else 1


def test_strips_leave_work_for_all_sms() -> None:
    """Wide strips where there are many rows; narrow ones, of a DRAM access, where there are few."""
    many, few = planned(1 << 22, 10, stride=1 << 22), planned(4096, 10, stride=4096)
    assert ", 128, 128, 1>" in many.name or ", 32, 128, 1>" in many.name
    assert ", 4, 128, 1>" in few.name
    assert planned(32, 32, stride=32).grid <= 4


def test_what_is_refused() -> None:
    with pytest.raises(PlanError, match="stride 8"):
        plans.plan(16, 8, policy="oneflow", stride=8)
    with pytest.raises(PlanError, match="divides the 16 rows"):
        planned(16, 8, stride=3)
    with pytest.raises(PlanError, match="pack that divides the stride"):
        plans.forced(15, 8, policy="fast", stride=5, pack_size=4, lookup=taken)


class TestOperators:
    @pytest.mark.parametrize(("shape", "axis"), [((40, 6), 0), ((3, 5, 7), 1), ((4, 3, 2, 2), -3)])
    def test_no_copy_is_made(self, shape: tuple[int, ...], axis: int) -> None:
        x = matrix(1, int(np.prod(shape)), "float32").reshape(shape)
        trace = softlab.trace(x, axis, policy="fast", device="H200")
        assert trace.plan.kernel == "fast_strided"
        assert trace.plan.stride == int(np.prod(shape[axis % len(shape) + 1 :]))
        expected = np.moveaxis(softlab.softmax(np.moveaxis(x, axis, -1), policy="oneflow"), -1, axis)
        np.testing.assert_allclose(trace.output, expected, rtol=3e-6)
        y = x.copy()
        assert softlab.softmax(y, axis, out=y, policy="fast", device="H200") is y
        assert np.array_equal(y, trace.output)

    def test_what_lies_last_in_memory_is_a_row(self) -> None:
        """x.T along its first axis is x along its last."""
        x = matrix(6, 40, "float32")
        assert softlab.trace(x.T, 0, policy="fast", device="H200").plan.stride == 1
        assert softlab.trace(x.T[:, ::2], 0, policy="fast", device="H200").plan.stride == 3
        assert softlab.trace(x, 0, policy="oneflow", device="H200").plan.stride == 1

    def test_arrays_that_begin_anywhere(self) -> None:
        x = matrix(1, 8 * 12 + 1, "float16")[0, 1:].reshape(8, 12)
        got = softlab.log_softmax(x, 0, policy="fast", device="H200")
        assert_forward(got.T, x.T, "log_softmax", "misaligned columns")

    def test_without_clusters(self) -> None:
        x = matrix(3000, 2, "float32")
        got = softlab.softmax(x, 0, policy="fast", device=Device.named("sm_80"))
        assert_forward(got.T, x.T, "softmax", "3000 x 2 on sm_80")
