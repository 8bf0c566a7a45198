"""What the operators take as an array: its dtype, its axis, and whether ``out`` can take the result.

:mod:`softlab.cuda.exchange` finds the library and the device of an array.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from softlab.cuda import exchange
from softlab.cuda.exchange import ArrayInfo
from softlab.cuda.host_memory import offset_in_owner
from softlab.dtypes import ELEMENT_TYPES, ElementType, element_type

#: Libraries whose arrays are values: nothing may write into one, though DLPack and NumPy may let it be.
_IMMUTABLE = ("jax", "jaxlib")


def plain(x: Any, info: ArrayInfo, op: str, name: str) -> Any:
    """x as an array whose memory has its values: a PyTorch tensor without its negative bit and without its graph.

    Raises:
        TypeError: autograd watches the tensor, and would not watch the result; the message says what to call instead.
    """
    if info.package != "torch":
        return x
    if x.requires_grad and sys.modules["torch"].is_grad_enabled():
        forward = op.removesuffix("_backward")
        raise TypeError(
            f"{name} is a {info.type_name} that requires a gradient, and softlab.{op} records none: call "
            f"softlab.torch.{forward}, which does, or give {name}.detach()"
        )
    return x.detach().resolve_neg()


def host_array(x: Any, info: ArrayInfo) -> np.ndarray:
    """x as a NumPy array, over the same memory if x has memory.

    Raises:
        TypeError: a masked array, or an array whose library does not hand its memory out.
    """
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("masked arrays are not supported: fill the masked elements first, with x.filled(-numpy.inf)")
    try:
        if info.package == "torch" and x.dtype == sys.modules["torch"].bfloat16:  # NumPy itself has no bfloat16
            return np.asarray(x.view(sys.modules["torch"].int16)).view(ELEMENT_TYPES["bfloat16"].numpy)
        return np.asarray(x)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        if not hasattr(x, "__dlpack__"):
            raise
        raise exchange.not_borrowed(x, error) from error


def from_host(result: np.ndarray, like: Any, info: ArrayInfo) -> Any:
    """The NumPy array ``result`` as an array of ``info.library``; ``info`` is that of ``like``."""
    if info.library == "numpy":
        return result
    if info.library == "torch" and result.dtype.name == "bfloat16":
        torch = sys.modules["torch"]
        return torch.from_numpy(result.view(np.int16)).view(torch.bfloat16)
    namespace = exchange.namespace(like)
    return getattr(namespace, "asarray", namespace.from_dlpack)(result)


def result_type(given: np.dtype, dtype: Any, name: str = "x") -> ElementType:
    """The element type of the result: that of ``dtype``, or of the input if ``dtype`` is None.

    Raises:
        TypeError: it is not one of the four, or the input is not of real numbers.
    """
    if dtype is None:
        return element_type(given)
    if given.kind not in "biuf" and given.name not in ELEMENT_TYPES:
        raise TypeError(f"{name} of dtype {given.name} cannot be cast to {dtype}: give real numbers")
    return element_type(dtype)


def axis_number(axis: Any) -> int:
    """The axis as it was counted, also from the end.

    Raises:
        TypeError: no integer.
    """
    try:
        return index(axis)
    except TypeError:
        raise TypeError(f"axis must be an integer, not {axis!r}") from None


def axis_of(axis: Any, ndim: int, name: str = "x") -> int:
    """The axis counted from 0; a 0-dimensional array has the axis 0, as in the reference.

    Raises:
        TypeError: no integer. numpy.exceptions.AxisError (a ValueError): out of range.
    """
    number = axis_number(axis)
    dimensions = max(ndim, 1)
    if not -dimensions <= number < dimensions:
        raise np.exceptions.AxisError(
            f"axis {number} is out of range: {name} has {ndim} dimensions, so take {-dimensions} to {dimensions - 1}"
        )
    return number % dimensions


def check_out(out: Any, x: Any, element: ElementType) -> None:
    """``out`` (a NumPy or CuPy array) can take the result for x.

    Raises:
        TypeError: of another dtype. ValueError: of another shape, read-only, or with elements that share memory.
    """
    if out.dtype != element.numpy:
        raise TypeError(f"out has dtype {out.dtype}, the result {element.name}: give an array of that dtype")
    if out.shape != x.shape:
        raise ValueError(f"out has shape {out.shape}, the result {x.shape}: give an array of that shape")
    if not getattr(out.flags, "writeable", True):
        raise ValueError("out is read-only: give an array that can be written")
    if shares_elements(out):
        raise ValueError(
            f"out of shape {out.shape} and strides {out.strides} has several elements at one address, so it "
            "cannot hold the result: give an array of its own (x.copy())"
        )


def check_out_library(out: Any, out_info: ArrayInfo, x: Any, info: ArrayInfo, op: str) -> None:
    """``out`` is an array of the library that x's result belongs to, on x's device.

    Raises:
        TypeError: another library, host for GPU, or a library whose arrays cannot be written.
        ValueError: on another GPU.
    """
    name, on_gpu = out_info.type_name, info.on_gpu
    if out_info.package in _IMMUTABLE:
        raise TypeError(f"out is a {name}, which is read-only: leave out= away, and take what softlab.{op} returns")
    if not isinstance(out, np.ndarray) and not hasattr(out, "__dlpack_device__") and not out_info.on_gpu:
        wanted = "an array of x's library on that GPU" if on_gpu else "a NumPy array"
        raise TypeError(f"out is a {name}, no array: give {wanted}")
    if out_info.on_gpu != on_gpu:
        wanted = "on a GPU: give an array of x's library on that GPU" if on_gpu else "in host memory: give one there"
        raise TypeError(f"out is a {name} {'in host memory' if on_gpu else 'on a GPU'}, but x is {wanted}")
    if out_info.library != info.library:
        raise TypeError(
            f"out is an array of {out_info.library}, the result one of {info.library}: give one of that library"
        )
    if on_gpu:
        check_device(out, out_info, x, info, "out")
    if out_info.package == "torch" and plain(out, out_info, op, "out").data_ptr() != out.data_ptr():
        raise TypeError("out has PyTorch's negative bit set, so its memory does not hold its values: give out.clone()")


def check_together(given: Sequence[Any], infos: Sequence[ArrayInfo], names: Sequence[str]) -> None:
    """All arrays belong to one library and are on one device.

    Raises:
        TypeError: other libraries, or host and GPU. ValueError: other GPUs.
    """
    first, info, name = given[0], infos[0], names[0]
    for other, other_info, other_name in zip(given[1:], infos[1:], names[1:], strict=True):
        if info.where != other_info.where:
            raise TypeError(
                f"{name} is an array of {info.where}, {other_name} one of {other_info.where}: give both from one "
                "library, on one device"
            )
        if info.on_gpu:
            check_device(other, other_info, first, info, other_name, name)


def check_device(other: Any, other_info: ArrayInfo, x: Any, info: ArrayInfo, name: str, first: str = "x") -> None:
    """Two arrays on GPUs are on the same one.

    Raises:
        ValueError: they are not.
    """
    device, other_device = exchange.device_index(x, info), exchange.device_index(other, other_info)
    if device != other_device:
        raise ValueError(f"{name} is on GPU {other_device}, {first} on GPU {device}: move one of them")


def shares_elements(array: Any) -> bool:
    """Whether two elements of a NumPy or CuPy array use the same memory, as in a broadcast array."""
    if array.size <= 1 or array.flags.c_contiguous:
        return False
    dimensions = sorted(
        (abs(stride), size) for stride, size in zip(array.strides, array.shape, strict=True) if size > 1
    )
    reach = array.dtype.itemsize
    for stride, size in dimensions:
        if stride < reach:
            break
        reach += stride * (size - 1)
    else:
        return False
    if not dimensions[0][0]:
        return True
    # Strides that interleave, such as (3, 2) over 2 x 2, need not give an address twice: only counting tells.
    offsets = np.zeros(1, np.int64)
    for stride, size in dimensions:
        offsets = (offsets[:, None] + np.arange(size) * stride).reshape(-1)
    offsets.sort()
    return bool((np.diff(offsets) < array.dtype.itemsize).any())


def separate_or_same(out: Any, source: Any) -> bool:
    """Whether a kernel may write ``out`` while it reads ``source``, both C-contiguous, of one shape and dtype.

    The thread that reads an element last also writes it. So both may be the same memory, but not shifted.
    """
    return pointer(out) == pointer(source) or not may_overlap(out, source)


def may_overlap(array: Any, other: Any) -> bool:
    """Whether two arrays on one device have bytes in common between their first and last byte.

    This compares addresses. CuPy's ``may_share_memory`` does not help: it says False for any two arrays that were
    borrowed from another library.
    """
    (start, end), (other_start, other_end) = _reach(array), _reach(other)
    return start < other_end and other_start < end


def _reach(array: Any) -> tuple[int, int]:
    """The address of an array's first byte, and the address behind its last byte."""
    if not array.size:
        return 0, 0
    spans = [stride * (size - 1) for stride, size in zip(array.strides, array.shape, strict=True)]
    first = pointer(array) + sum(span for span in spans if span < 0)
    return first, first + sum(map(abs, spans)) + array.dtype.itemsize


def aligned(array: Any, pack_bytes: int) -> bool:
    """Whether the address of the first element is a multiple of a pack's bytes.

    Of a NumPy array it is the address that the emulator gives it: that of a part of an array in a GPU's memory.
    """
    where = offset_in_owner(array) if isinstance(array, np.ndarray) else pointer(array)
    return where % pack_bytes == 0


def pointer(array: Any) -> int:
    """The address of the first element of a NumPy or CuPy array."""
    return array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr
