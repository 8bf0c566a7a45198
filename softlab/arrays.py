"""What the operators take as an array: whose it is, its dtype, its axis, and whether ``out`` can take the result.

An array belongs to a library ("numpy", "cupy", "torch", "jaxlib", ...) and lies in a place (the host, or a GPU).
Everything here is about NumPy, CuPy and host arrays alike; what only concerns memory of a GPU is in :mod:`softlab.gpu`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from softlab import gpu
from softlab.dtypes import ELEMENT_TYPES, ElementType, element_type

#: Libraries whose arrays are values: nothing may write into one, though DLPack and NumPy may let it be.
_IMMUTABLE = ("jax", "jaxlib")


def kind(x: Any) -> str:
    """The type of x in full, for messages."""
    return f"{type(x).__module__}.{type(x).__qualname__}"


def library_of(x: Any) -> str:
    """The library that the result for x belongs to: "numpy" or "cupy" where x's own cannot take arrays back."""
    if isinstance(x, np.ndarray):
        return "numpy"
    own = gpu.library_of(x)
    on_gpu = gpu.is_cuda_array(x)
    if own != "cupy" and not (hasattr(x, "__dlpack__") and hasattr(gpu.namespace(x), "from_dlpack")):
        return "cupy" if on_gpu else "numpy"
    return own


def plain(x: Any, op: str, name: str) -> Any:
    """x as an array that is all in its memory: of a PyTorch tensor the negative bit is resolved, the graph left.

    Raises:
        TypeError: a tensor that autograd is watching, since the result would not be watched; the message says what to
            call instead.
    """
    if gpu.library_of(x) != "torch":
        return x
    if x.requires_grad and sys.modules["torch"].is_grad_enabled():
        forward = op.removesuffix("_backward")
        raise TypeError(
            f"{name} is a {kind(x)} that requires a gradient, and softlab.{op} records none: call "
            f"softlab.torch.{forward}, which does, or give {name}.detach()"
        )
    return x.detach().resolve_neg()


def host_array(x: Any) -> np.ndarray:
    """x as a NumPy array, of the same memory where x has one.

    Raises:
        TypeError: a masked array, or one whose library does not hand its memory out.
    """
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("masked arrays are not supported: fill the masked places first, with x.filled(-numpy.inf)")
    if _is_torch_bfloat16(x):
        return host_array(x.view(sys.modules["torch"].int16)).view(ELEMENT_TYPES["bfloat16"].numpy)
    if not hasattr(x, "__dlpack__"):
        return np.asarray(x)
    try:
        return np.asarray(x)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise gpu.not_borrowed(x, error) from error


def host_back(result: np.ndarray, like: Any) -> Any:
    """The NumPy array ``result`` as an array of the library that :func:`library` names for ``like``."""
    if library_of(like) == "numpy":
        return result
    if library_of(like) == "torch" and result.dtype.name == "bfloat16":
        torch = sys.modules["torch"]
        return torch.from_numpy(result.view(np.int16)).view(torch.bfloat16)
    namespace = gpu.namespace(like)
    return getattr(namespace, "asarray", namespace.from_dlpack)(result)


def _is_torch_bfloat16(x: Any) -> bool:
    """NumPy itself knows no bfloat16, so PyTorch hands none to it."""
    return gpu.library_of(x) == "torch" and x.dtype == sys.modules["torch"].bfloat16


def result_type(given: np.dtype, dtype: Any, name: str = "x") -> ElementType:
    """The element type of the result: of ``dtype`` where one is asked for, else of the input.

    Raises:
        TypeError: it is not one of the four, or the input is not of real numbers.
    """
    if dtype is None:
        return element_type(given)
    if given.kind not in "biuf" and given.name not in ELEMENT_TYPES:
        raise TypeError(f"{name} of dtype {given.name} cannot be cast to {dtype}: give real numbers")
    return element_type(dtype)


def axis_of(axis: Any, ndim: int, name: str = "x") -> int:
    """The axis counted from 0; a 0-dimensional array has the axis 0, as in the reference.

    Raises:
        TypeError: no integer. numpy.exceptions.AxisError (a ValueError): out of range.
    """
    try:
        number = index(axis)
    except TypeError:
        raise TypeError(f"axis must be an integer, not {axis!r}") from None
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
            f"out of shape {out.shape} and strides {out.strides} has several elements in one place of memory, so it "
            "cannot hold the result: give an array of its own (x.copy())"
        )


def check_out_library(out: Any, x: Any, op: str) -> None:
    """``out`` is an array of the library that x's result belongs to, in x's place.

    Raises:
        TypeError: another library, host for GPU, or a library whose arrays cannot be written.
        ValueError: on another GPU.
    """
    on_gpu = gpu.is_cuda_array(x)
    if gpu.library_of(out) in _IMMUTABLE:
        raise TypeError(
            f"out is a {kind(out)}, which is read-only: leave out= away, and take what softlab.{op} returns"
        )
    if not isinstance(out, np.ndarray) and not hasattr(out, "__dlpack_device__") and not gpu.is_cuda_array(out):
        wanted = "an array of x's library on that GPU" if on_gpu else "a NumPy array"
        raise TypeError(f"out is a {kind(out)}, no array: give {wanted}")
    if gpu.is_cuda_array(out) != on_gpu:
        wanted = "on a GPU: give an array of x's library on that GPU" if on_gpu else "in host memory: give one there"
        raise TypeError(f"out is a {kind(out)} {'in host memory' if on_gpu else 'on a GPU'}, but x is {wanted}")
    of_out, of_x = library_of(out), library_of(x)
    if of_out != of_x:
        raise TypeError(f"out is an array of {of_out}, the result one of {of_x}: give one of that library")
    if on_gpu:
        check_device(out, x, "out")
    if gpu.library_of(out) == "torch" and plain(out, op, "out").data_ptr() != out.data_ptr():
        raise TypeError("out has PyTorch's negative bit set, so its memory does not hold its values: give out.clone()")


def check_together(inputs: Sequence[Any], names: Sequence[str], operands: Sequence[Any] = ()) -> None:
    """All arrays belong to one library and lie in one place.

    Raises:
        TypeError: other libraries, or host and GPU. ValueError: other GPUs.
    """
    first, name = inputs[0], names[0]
    named = [*zip(names[1:], inputs[1:], strict=True), *((f"operand {k}", a) for k, a in enumerate(operands))]
    for other_name, other in named:
        here, there = (
            f"{library_of(a)} {'on a GPU' if gpu.is_cuda_array(a) else 'on the host'}" for a in (first, other)
        )
        if here != there:
            raise TypeError(
                f"{name} is an array of {here}, {other_name} one of {there}: give both from one library, in one place"
            )
        if gpu.is_cuda_array(first):
            check_device(other, first, other_name, name)


def check_device(other: Any, x: Any, name: str, first: str = "x") -> None:
    """Two arrays on GPUs lie on the same one.

    Raises:
        ValueError: they do not.
    """
    here, there = gpu.device_index(x), gpu.device_index(other)
    if here != there:
        raise ValueError(f"{name} is on GPU {there}, {first} on GPU {here}: move one of them")


def shares_elements(array: Any) -> bool:
    """Whether two elements of a NumPy or CuPy array lie in the same memory, as in a broadcast one."""
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
    # Strides that interleave may still meet nowhere, such as (3, 2) over 2 x 2: only counting tells.
    places = np.zeros(1, np.int64)
    for stride, size in dimensions:
        places = (places[:, None] + np.arange(size) * stride).reshape(-1)
    places.sort()
    return bool((np.diff(places) < array.dtype.itemsize).any())


def separate_or_same(out: Any, source: Any) -> bool:
    """Whether a kernel may write ``out`` while it reads ``source``, both C-contiguous, of one shape and dtype.

    Each element is written by the thread that read it last, so both may be the same memory, but not shifted.
    """
    return pointer(out) == pointer(source) or not may_overlap(out, source)


def may_overlap(array: Any, other: Any) -> bool:
    """Whether the memory from the first to the last byte of two arrays of one place has bytes in common.

    By their addresses: CuPy's ``may_share_memory`` takes two arrays that were borrowed from another library for apart,
    whatever memory they lie in.
    """
    (start, end), (other_start, other_end) = _reach(array), _reach(other)
    return start < other_end and other_start < end


def _reach(array: Any) -> tuple[int, int]:
    """The address of an array's first byte, and the one behind its last."""
    if not array.size:
        return 0, 0
    ways = [stride * (size - 1) for stride, size in zip(array.strides, array.shape, strict=True)]
    first = pointer(array) + sum(way for way in ways if way < 0)
    return first, first + sum(map(abs, ways)) + array.dtype.itemsize


def aligned(array: Any, pack_bytes: int) -> bool:
    """Whether the first element lies at a multiple of a pack's bytes.

    For NumPy it does: the emulator's memory is a GPU's, where an array copied from the host starts a new allocation.
    """
    return isinstance(array, np.ndarray) or pointer(array) % pack_bytes == 0


def pointer(array: Any) -> int:
    """The address of the first element of a NumPy or CuPy array."""
    return array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr
