"""What the operators ask of an array, beside slow answers: axes, elements that share memory, overlap, alignment."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.cuda.exchange import ArrayInfo
from softlab.dtypes import ELEMENT_TYPES, element_type
from softlab.operators import arrays
from softlab.operators.row_view import RowView, StridedView

HOST = ArrayInfo("numpy.ndarray", "numpy", "numpy", False, None)
ON_GPU = ArrayInfo("cupy.ndarray", "cupy", "cupy", True, 0)
TORCH = ArrayInfo("torch.Tensor", "torch", "torch", False, None)


def test_each_axis_of_each_number_of_dimensions() -> None:
    for ndim, axis in product(range(5), range(-6, 6)):
        there = range(-max(ndim, 1), max(ndim, 1))
        if axis in there:
            assert arrays.axis_of(axis, ndim) == [*range(max(ndim, 1))][axis]
            continue
        words = f"axis {axis} is out of range: dy has {ndim} dimensions, so take {there[0]} to {there[-1]}"
        with pytest.raises(np.exceptions.AxisError, match=f"^{re.escape(words)}$"):
            arrays.axis_of(axis, ndim, "dy")


def first_bytes(shape: Sequence[int], strides: Sequence[int]) -> list[int]:
    """The offset of each element, one by one."""
    return [sum(map(int.__mul__, at, strides)) for at in product(*map(range, shape))]


def test_elements_that_share_memory_are_those_with_a_byte_in_common() -> None:
    random = np.random.default_rng(5)
    memory, seen = np.zeros(4000, np.uint8), [0, 0]
    for _ in range(1500):
        shape = tuple(map(int, random.integers(1, 5, random.integers(0, 4))))
        strides = tuple(map(int, random.choice((-24, -8, -4, -2, 0, 2, 4, 6, 8, 12, 16, 20, 24, 32, 48), len(shape))))
        array = np.ndarray(shape, np.float32, memory, 1000, strides)
        starts = sorted(first_bytes(shape, strides))
        expected = any(after - before < 4 for before, after in pairwise(starts))
        assert arrays.shares_elements(array) == expected, (shape, strides)
        seen[expected] += 1
    assert min(seen) > 200


def test_a_large_array_with_one_row_for_all_is_not_counted() -> None:
    """No memory has room for the addresses of 2^40 rows."""
    assert arrays.shares_elements(np.broadcast_to(np.zeros(8, np.float32), (1 << 40, 8)))
    assert arrays.shares_elements(np.broadcast_to(np.zeros((8, 1), np.float32), (8, 1 << 40)))


def test_a_large_array_whose_dimensions_are_exchanged_is_not_counted() -> None:
    """Each stride reaches beyond all smaller dimensions. The array is not there: nothing may touch it."""
    far = SimpleNamespace(
        shape=(1 << 20, 1, 1 << 20), strides=(8, 8, 8 << 20), size=1 << 40, dtype=np.dtype(np.float64),
        flags=SimpleNamespace(c_contiguous=False),
    )  # fmt: skip
    assert not arrays.shares_elements(far)


def test_a_part_of_memory_is_aligned_where_its_offset_is() -> None:
    memory = np.zeros(64, np.uint8)
    for start, pack in product(range(40), (1, 2, 4, 8, 16)):
        assert arrays.aligned(memory[start:], pack) == (start in range(0, 64, pack))
        on_gpu: Any = SimpleNamespace(data=SimpleNamespace(ptr=start))
        assert arrays.aligned(on_gpu, pack) == (start in range(0, 64, pack))


def test_where_a_kernel_may_write_beside_what_it_reads() -> None:
    """The same memory, or no byte in common: on either side of it."""
    memory = np.zeros(64, np.uint8)
    source = memory[20:30]
    for start, size in product(range(50), (0, 10)):
        apart = not set(range(start, start + size)) & set(range(20, 30))
        assert arrays.separate_or_same(memory[start : start + size], source) == (apart or start == 20), (start, size)


class Tensor:
    """What PyTorch's tensors have: a dtype, and NumPy's numbers."""

    def __init__(self, values: np.ndarray, dtype: str) -> None:
        self._values, self.dtype = values, dtype

    def view(self, dtype: str) -> np.ndarray:
        assert (self.dtype, dtype) == ("bfloat16", "int16")
        return self._values.view(np.int16)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        assert self.dtype != "bfloat16", "NumPy itself has no bfloat16"
        return self._values


@pytest.mark.parametrize("name", list(ELEMENT_TYPES))
def test_pytorchs_tensors_as_numpys_arrays(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(bfloat16="bfloat16", int16="int16"))
    values = np.arange(4).astype(ELEMENT_TYPES[name].numpy)
    found = arrays.host_array(Tensor(values, name), TORCH)
    assert found.dtype == values.dtype
    assert np.array_equal(found, values)
    assert np.shares_memory(found, values)
    assert arrays.host_array(values, HOST) is values


@pytest.mark.parametrize(("grad", "enabled"), [*product((False, True), repeat=2)])
def test_tensors_that_autograd_watches(monkeypatch: pytest.MonkeyPatch, grad: bool, enabled: bool) -> None:
    plain = object()
    tensor: Any = SimpleNamespace(requires_grad=grad, detach=lambda: SimpleNamespace(resolve_neg=lambda: plain))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(is_grad_enabled=lambda: enabled))
    assert arrays.plain(tensor, HOST, "softmax", "x") is tensor, "of another library, so autograd does not matter"
    if grad and enabled:
        words = "dy is a torch.Tensor that requires a gradient, and softlab.softmax_backward records none: call "
        words += "softlab.torch.softmax, which does, or give dy.detach()"
        with pytest.raises(TypeError, match=f"^{re.escape(words)}$"):
            arrays.plain(tensor, TORCH, "softmax_backward", "dy")
    else:
        assert arrays.plain(tensor, TORCH, "softmax", "x") is plain


class WithDLPack:
    """An array of some library."""

    __dlpack_device__ = None


@pytest.mark.parametrize(
    ("out", "info", "x", "words"),
    [
        (3, ArrayInfo("builtins.int", "builtins", "numpy", False, None), HOST,
         "out is a builtins.int, no array: give a NumPy array"),
        (3, ArrayInfo("builtins.int", "builtins", "numpy", False, None), ON_GPU,
         "out is a builtins.int, no array: give an array of x's library on that GPU"),
        (WithDLPack(), ArrayInfo("a.Array", "a", "numpy", False, None), HOST, ""),
        (object(), ON_GPU, ON_GPU, ""),  # with __cuda_array_interface__ alone
        (np.zeros(2), HOST, HOST, ""),
        (WithDLPack(), ArrayInfo("a.Array", "a", "a", False, None), HOST,
         "out is an array of a, the result one of numpy: give one of that library"),
        (np.zeros(2), HOST, TORCH, "out is an array of numpy, the result one of torch: give one of that library"),
        (WithDLPack(), ArrayInfo("jaxlib.Array", "jaxlib", "numpy", False, None), HOST,
         "out is a jaxlib.Array, which is read-only: leave out= away, and take what softlab.softmax returns"),
    ],
)  # fmt: skip
def test_what_out_may_be(out: Any, info: ArrayInfo, x: ArrayInfo, words: str) -> None:
    if not words:
        arrays.check_out_library(out, info, np.zeros(2), x, "softmax")
        return
    with pytest.raises(TypeError, match=f"^{re.escape(words)}$"):
        arrays.check_out_library(out, info, np.zeros(2), x, "softmax")


def test_an_out_that_can_take_the_result() -> None:
    x, element = np.zeros((2, 3), np.float32), element_type("float32")
    arrays.check_out(np.zeros((2, 3), np.float32), x, element)
    arrays.check_out(np.zeros((3, 2), np.float32).T, x, element)
    for dtype in ("float16", "float64"):
        with pytest.raises(TypeError, match=f"out has dtype {dtype}, the result float32: give an array of that dtype"):
            arrays.check_out(np.zeros((2, 3), dtype), x, element)
    for shape in ((3, 2), (2, 2), (2, 4), (6,)):
        with pytest.raises(ValueError, match="^" + re.escape(f"out has shape {shape}, the result (2, 3): give")):
            arrays.check_out(np.zeros(shape, np.float32), x, element)


@pytest.mark.parametrize("dtype", [None, "float32", "float16"])
def test_the_type_of_the_result(dtype: str | None) -> None:
    for kind in ["?", "i1", "u2", "i8", "f2", "f4", "f8", "bfloat16", "float8_e4m3fn", "c8", "U3", "m8[s]"]:
        given = np.dtype(kind)
        real = given.name in ("bool", "int8", "uint16", "int64", "float16", "float32", "float64", "bfloat16")
        if dtype and real:
            assert arrays.result_type(given, dtype) == element_type(dtype)
        elif not dtype and given.name in ELEMENT_TYPES:
            assert arrays.result_type(given, None) == element_type(given.name)
        else:
            words = f"y of dtype {given.name} cannot be cast to {dtype}: give real numbers" if dtype else given.name
            with pytest.raises(TypeError, match=re.escape(words)):
                arrays.result_type(given, dtype, "y")


@pytest.mark.parametrize("kind", [RowView, StridedView])
def test_rows_that_start_within_an_element_are_copied(kind: type[RowView]) -> None:
    """A kernel reads whole elements alone."""
    memory, element = np.zeros(64, np.uint8), element_type("float32")
    for start in range(9):
        x = memory[start : start + 24].view(np.float32).reshape(2, 3)
        found = kind((2, 3), 1).rows_of(np, x, element)
        assert np.shares_memory(found, memory) == (start % 4 == 0)
        assert found.shape == (2, 3)
