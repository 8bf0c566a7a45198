"""Strips that blocks all over the grid share: the kernel with special values, its plan, the operators that take it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.dtypes import element_type
from softlab.hardware.devices import Device
from softlab.kernel import Kernel
from softlab.plans import strip_grid, strip_shapes
from softlab.plans.strip_grid import (
    BYTE,
    FEWER_STAGES,
    HALF,
    MERGED_ROW,
    PACK,
    PIECE,
    START,
    STRIP_GRID,
    StripGridShape,
    cost,
    shapes,
)
from tests.kernels.cases import matrix, program, special_rows
from tests.kernels.test_fast import assert_forward
from tests.kernels.test_fast_strided import made_request, planned
from tests.kernels.test_gradients import Variant, special_inputs
from tests.reference import assert_gradient
from tests.sampled import each, turns

#: dtype, operator, shape (pack, width, blocks per strip, groups, shifted, stages, threads of a role), columns, stride.
#: Strips that fill a line and not, more strips than stages and fewer, blocks without lines, groups without strips;
#: shifted lines of all remainders, whose last 16 bytes reach beyond the array.
SHAPES = (
    ("float32", "softmax", (4, 8, 2, 1, False, 2, 32), 31, 12),
    ("float32", "log_softmax", (4, 8, 3, 2, False, 4, 64), 90, 40),
    ("float32", "softmax", (1, 6, 3, 2, True, 4, 32), 50, 13),
    ("float32", "log_softmax", (2, 14, 2, 1, True, 2, 64), 33, 14),
    ("float16", "softmax", (4, 16, 3, 1, False, 6, 64), 50, 40),
    ("float16", "log_softmax", (1, 22, 2, 1, True, 2, 32), 20, 21),
    ("bfloat16", "softmax", (1, 14, 2, 1, True, 6, 64), 50, 37),
    ("bfloat16", "log_softmax", (4, 8, 5, 1, False, 2, 32), 6, 16),
    ("float32", "softmax_backward", (4, 8, 2, 2, False, 2, 64), 33, 20),
    ("float32", "log_softmax_backward", (1, 10, 2, 1, True, 2, 32), 40, 19),
    ("float16", "softmax_backward", (8, 16, 2, 1, False, 2, 32), 60, 24),
    ("float16", "log_softmax_backward", (2, 10, 2, 2, True, 2, 32), 20, 30),
    ("bfloat16", "softmax_backward", (1, 8, 3, 1, True, 4, 32), 30, 9),
    ("float32", "softmax", (4, 8, 2, 3, False, 2, 32), 31, 8),
)


@pytest.mark.parametrize(("dtype", "op", "numbers", "cols", "stride"), each(2, SHAPES), ids=str)
def test_special_values(dtype: str, op: str, numbers: tuple[Any, ...], cols: int, stride: int) -> None:
    """Rows side by side in two matrices, with all checks. The second launch finds the first one's workspace."""
    shape, backward = StripGridShape(*numbers), op.endswith("_backward")
    given = special_inputs(cols, Variant("warp", dtype, op)) if backward else (special_rows(cols, dtype),)
    inputs = tuple(np.resize(x, (stride, cols)) for x in given)
    columns = [np.array([x.T, x[::-1].T], order="C") for x in inputs]  # (2, cols, stride)
    compiled = Kernel.from_program(program("fast_strip_grid.cuh", name_of(shape, dtype, op), "sm_90", ()))
    smem = shape.smem_bytes(made_request(2 * stride, cols, dtype, op, stride))
    workspace = np.zeros(shape.workspace_bytes // 8, np.uint64)
    for _ in range(2):
        out = np.full_like(columns[0], 12345)
        args = (*columns, out, workspace, np.int64(2 * stride), np.int64(cols), np.int64(stride))
        compiled.run(
            shape.groups * shape.blocks_per_strip, 2 * shape.block_size + strip_grid.MAILBOX_THREADS, args, smem=smem,
            check=True, cooperative=True, record=False,
        )  # fmt: skip
        for half, order in ((0, slice(None)), (1, slice(None, None, -1))):
            if backward:
                assert_gradient(out[half].T[order], *inputs, op, what=str(shape))
            else:
                assert_forward(out[half].T[order], inputs[0], op, str(shape))


def name_of(shape: StripGridShape, dtype: str, op: str) -> str:
    words = (element_type(dtype).cuda, f"Algorithm::{op.removesuffix('_backward')}", *shape.numbers)
    return f"{STRIP_GRID}{'_backward' if op.endswith('_backward') else ''}<{', '.join(map(str, words))}>"


#: Long arrays: rows of which a cluster would hold only narrow strips, at strides that are whole packs or not.
LONG = ((1, 20_000, 4001), (30, 15_000, 151), (1, 30_000, 4480))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("op", ["softmax", "softmax_backward"])
def test_shapes_fit_the_gpu(op: str, dtype: str) -> None:
    found = 0
    for outer, cols, stride in (*LONG, (1, 1000, 70_000), (1, 100_000, 640)):
        request = made_request(outer * stride, cols, dtype, op, stride)
        for shape in shapes(request):
            found += 1
            assert shape.groups * shape.blocks_per_strip <= request.device.sm_count
            assert shape.smem_bytes(request) <= request.device.smem_per_block_optin
            assert stride % shape.pack_size == shape.width % shape.pack_size == shape.width % 2 == 0
            assert shape.shifted == (stride * request.element.itemsize % 16 != 0)
            assert shape.shifted or shape.width * request.element.itemsize % 16 == 0
    assert found > 20


def test_who_has_none() -> None:
    """Doubles, single elements, which may begin anywhere, and GPUs without clusters."""
    request = made_request(4001, 20_000, "float32", "softmax", 4001)
    assert list(shapes(request))
    assert not list(shapes(made_request(4001, 20_000, "float64", "softmax", 4001)))
    assert not list(shapes(replace(request, pack_size=1)))
    assert not list(shapes(replace(request, device=Device.named("A100"))))


def shape_of(plan: Any) -> StripGridShape:
    pack, width, stages, block, blocks = map(int, re.findall(r"(?<=, )\d+", plan.name))
    shifted = plan.name.endswith("true>")
    return StripGridShape(pack, width, blocks, plan.grid // blocks, shifted, stages, block)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("op", ["softmax", "log_softmax_backward"])
def test_the_plan_compares_costs(op: str, dtype: str) -> None:
    taken = []
    for outer, cols, stride in (*LONG, (1, 100, 65_536), (4, 2048, 8192)):
        request = made_request(outer * stride, cols, dtype, op, stride)
        plan = planned(outer * stride, cols, dtype, stride=stride, op=op)
        taken.append(plan.kernel == STRIP_GRID)
        least = min(map(partial(cost, request), shapes(request)), default=float("inf"))
        held = min(strip_shapes.shapes(request), key=partial(strip_shapes.cost, request), default=None)
        shape = held or strip_shapes.longest(request)
        other = strip_shapes.cost_of_long(request, shape, held is not None)
        assert taken[-1] == (least < other)
        if taken[-1]:
            best = shape_of(plan)
            assert cost(request, best) == least
            assert (plan.block_size, plan.smem_bytes) == (2 * 384 + 128, best.smem_bytes(request))
            assert (plan.cooperative, plan.workspace_bytes) == (True, best.workspace_bytes)
            assert plan.in_place == (not best.shifted)
            assert plan.pack_size * request.element.itemsize == 16, "arrays begin at a multiple of 16 bytes"
            assert plan.global_bytes == (2 + (op != "softmax")) * outer * cols * stride * request.element.itemsize
    assert any(taken)
    assert not all(taken)


@pytest.mark.parametrize(("op", "dtype"), [("softmax", "float16"), ("log_softmax", "float32"), ("softmax", "float32")])
def test_shared_memory_suffices(op: str, dtype: str) -> None:
    """The compiler's size of the structure in shared memory is not above the plan's: a block of no line tells."""
    request = made_request(40, 2, dtype, op, 40)
    shape = StripGridShape(4, 16, 2, 1, False)
    text = f"""#include "fast_strip_grid.cuh"
extern "C" __global__ void size_of(int* bytes) {{
  using Operator = StripForward<{element_type(dtype).cuda}, Algorithm::{op}>;
  *bytes = (sizeof(StripGrid<Operator, 4, 16, 6, 384, 2, false>::Shared) + 127) / 128 * 128;
}}"""
    out = np.zeros(1, np.int32)
    Kernel(text, "size_of", options=("-std=c++17",)).run(1, 1, (out,))
    lines = 6 * 1 * 1 * shape.pitch(request.element.itemsize)
    assert out[0] <= shape.smem_bytes(request) - lines <= out[0] + 128


def few_sms(count: int) -> Device:
    return replace(Device.named("H200"), sm_count=count)


class TestOperators:
    @pytest.mark.parametrize(("op", "stride"), turns(2, ["softmax", "log_softmax"], [24, 21]))
    def test_the_front_takes_it(self, op: str, stride: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """A GPU of 4 SMs, on which nothing else is considered; also in place, and at an address that is no multiple."""
        monkeypatch.setattr(strip_grid, "cost", lambda *_: 0.0)
        device = few_sms(4)
        x = matrix(300, stride, "float32")
        trace = softlab.trace(x, 0, policy="fast", device=device, op=op)
        assert trace.plan.kernel == STRIP_GRID
        assert_forward(trace.output.T, x.T, op, f"300 x {stride}")
        y = x.copy()
        assert getattr(softlab, op)(y, 0, out=y, policy="fast", device=device) is y
        assert_forward(y.T, x.T, op, "in place")
        odd = matrix(1, 300 * stride + 1, "float32")[0, 1:].reshape(300, stride)
        assert_forward(getattr(softlab, op)(odd, 0, policy="fast", device=device).T, odd.T, op, "misaligned")


def test_costs() -> None:
    """By hand: a strip of 132 blocks with 10 lines each, and the terms that another shape or array adds."""
    request = made_request(64, 1320, "float32", "softmax", 64)
    whole = StripGridShape(4, 32, 132, 1, False)  # two strips of a line of 128 bytes; 48 threads below each other
    moved, packs = 2 * 64 * 10 * 4, 2 * 4 * 384
    assert cost(request, whole) == pytest.approx(BYTE * moved + PACK * packs + 2 * MERGED_ROW + START)
    four = replace(whole, stages=4)
    assert cost(request, four) == pytest.approx(cost(request, whole) + 2 * FEWER_STAGES)
    pieces = replace(whole, width=16)  # four strips of 64 bytes, and 96 threads below each other
    expected = (BYTE + PIECE / 2) * moved + PACK * 2 * packs + 4 * MERGED_ROW + START
    assert cost(request, pieces) == pytest.approx(expected)
    halves = replace(request, element=element_type("float16"))  # now a line of memory is two strips
    expected = (BYTE + PIECE / 2) * moved / 2 + (PACK + 4 * HALF) * packs + 2 * MERGED_ROW + START
    assert cost(halves, whole) == pytest.approx(expected)
    few = replace(whole, blocks_per_strip=4, groups=33)  # both strips at once, 330 lines each, 4 rows per merging warp
    expected = BYTE * 2 * 32 * 330 * 4 + PACK * 8 * 384 * 1 + MERGED_ROW * 4 + START
    assert cost(request, few) == pytest.approx(expected)


def test_costs_of_long_rows_in_clusters() -> None:
    """No more than before for rows of 2000 elements that are read once, but for their packs."""
    request = made_request(64, 8000, "float32", "softmax", 64)
    shape = strip_shapes.StripShape("fast_strided", 4, 16, 4, 512)
    once = strip_shapes.cost(request, replace(shape, packs=63))
    packs = strip_shapes.PACK * 64 * 8000 / 132 / 4
    elements = 64 * 8000 / 4  # on each of 4 SMs
    far = strip_shapes.FAR * 2 * elements * 4 / 2 * 2  # strips of two sectors, two doublings of 2000
    held = strip_shapes.cost_of_long(request, replace(shape, packs=63), True)
    assert held == pytest.approx(once + packs + far)
    again = strip_shapes.AGAIN * elements * 4
    assert strip_shapes.cost_of_long(request, shape, False) == pytest.approx(held + again)
    short = made_request(64, 2000, "float32", "softmax", 64)
    held = strip_shapes.cost_of_long(short, shape, True)
    assert held == pytest.approx(strip_shapes.cost(short, shape) + packs / 4)
