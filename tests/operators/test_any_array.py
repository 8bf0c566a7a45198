"""Any array: random shapes, strides (negative, zero, interleaved), offsets, axes, dtypes; ``out`` anywhere beside them.

The oracle gets a copy of x. Memory that is no part of ``out`` must stay as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softlab
from softlab.operators.arrays import shares_elements
from softlab.plans import POLICIES
from tests.reference import assert_gradient, assert_softmax

DTYPES = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
OPS = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
#: Elements of the memory that holds all arrays of an example.
SIZE = 600


@dataclass(frozen=True)
class View:
    """Some elements of a memory: strides and offset in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def of(self, memory: Any, as_strided: Callable[..., Any]) -> Any:
        """The view of a NumPy or CuPy array."""
        item = memory.dtype.itemsize
        return as_strided(memory[self.offset :], self.shape, tuple(item * stride for stride in self.strides))

    def offsets(self) -> np.ndarray:
        """The index of each element, found one by one."""
        offsets = np.full(self.shape, self.offset)
        for axis, stride in enumerate(self.strides):
            offsets += np.moveaxis(
                np.broadcast_to(np.arange(self.shape[axis]) * stride, self._with_last(axis)), -1, axis
            )
        return offsets

    def _with_last(self, axis: int) -> tuple[int, ...]:
        return (*self.shape[:axis], *self.shape[axis + 1 :], self.shape[axis])


@st.composite
def views(draw: st.DrawFn, shape: tuple[int, ...]) -> View:
    """A view of that shape within the memory."""
    strides, low, high = [], 0, 0
    for size in shape:
        most = (SIZE - 1 - (high - low)) // max(size - 1, 1)
        stride = draw(st.integers(-min(most, 40), min(most, 40)))
        strides.append(stride)
        reach = stride * (size - 1) if size else 0
        low, high = low + min(reach, 0), high + max(reach, 0)
    offset = draw(st.integers(-low, SIZE - 1 - high))
    return View(shape, tuple(strides), offset)


@dataclass(frozen=True)
class OperatorCase:
    """One call of an operator."""

    op: str
    dtype: Any
    axis: int
    inputs: tuple[View, ...]
    out: View | None
    policy: str
    seed: int


@st.composite
def calls(draw: st.DrawFn) -> OperatorCase:
    shape = tuple(draw(st.lists(st.integers(0, 7), max_size=3)))
    op = draw(st.sampled_from(OPS))
    axis = draw(st.integers(-max(len(shape), 1), max(len(shape), 1) - 1))
    inputs = tuple(draw(views(shape)) for _ in range(2 if "backward" in op else 1))
    out = draw(st.one_of(st.none(), views(shape), st.sampled_from(inputs)))
    return OperatorCase(
        op,
        draw(st.sampled_from(DTYPES)),
        axis,
        inputs,
        out,
        draw(st.sampled_from(POLICIES)),
        draw(st.integers(0, 2**16)),
    )


def check(
    call: OperatorCase, to_library: Callable[[np.ndarray], Any], as_strided: Callable[..., Any], host: Callable
) -> None:
    """One call on arrays of a library, against the oracle."""
    memory = np.random.default_rng(call.seed).standard_normal(SIZE).astype(call.dtype)
    moved = to_library(memory.copy())
    copies = [view.of(memory, np.lib.stride_tricks.as_strided).copy() for view in call.inputs]
    given = [view.of(moved, as_strided) for view in call.inputs]
    options = {"policy": call.policy, "out": None if call.out is None else call.out.of(moved, as_strided)}
    if call.out is not None and len(np.unique(call.out.offsets())) < call.out.offsets().size:
        with pytest.raises(ValueError, match="several elements at one address"):
            getattr(softlab, call.op)(*given, call.axis, **options)
        return
    got = getattr(softlab, call.op)(*given, call.axis, **options)
    assert got.shape == copies[0].shape
    assert got.dtype == call.dtype
    assert got.flags.c_contiguous if call.out is None else got is options["out"]

    if got.size:
        turned = [np.moveaxis(np.atleast_1d(array), call.axis, -1) for array in (host(got), *copies)]
        (assert_gradient if "backward" in call.op else assert_softmax)(*turned, call.op, what=str(call))
    after = host(moved)
    touched = np.zeros(SIZE, bool) if call.out is None else np.isin(np.arange(SIZE), call.out.offsets())
    assert np.array_equal(after[~touched], memory[~touched])


@given(calls())
@settings(max_examples=150)
def test_on_the_emulator(call: OperatorCase) -> None:
    check(call, np.array, np.lib.stride_tricks.as_strided, np.asarray)


@pytest.mark.gpu
@given(calls())
@settings(max_examples=1500)
def test_on_the_gpu(call: OperatorCase) -> None:
    import cupy
    from cupy.lib.stride_tricks import as_strided

    check(call, cupy.asarray, as_strided, cupy.asnumpy)


@given(st.lists(st.integers(0, 5), max_size=3).flatmap(lambda shape: views(tuple(shape))))
@settings(max_examples=500)
def test_elements_that_share_memory(view: View) -> None:
    array = view.of(np.zeros(SIZE, np.float32), np.lib.stride_tricks.as_strided)
    assert shares_elements(array) == (len(np.unique(view.offsets())) < array.size)


def test_the_offsets_of_a_view() -> None:
    """The oracle's own: by the memory's values."""
    view = View((2, 3), (-7, 4), 20)
    assert np.array_equal(view.offsets(), view.of(np.arange(SIZE), np.lib.stride_tricks.as_strided))
