"""Where a NumPy array lies in the memory that its owner allocated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided


def offset_in_owner(array: np.ndarray) -> int:
    """Bytes from the start of the allocation to the array's first element: 4 for ``x[1:]`` of a float32 ``x``.

    The owner is the last array that NumPy knows of: of a buffer that another library allocated, it is the first array
    over it.
    """
    return array.ctypes.data - _owner(array).ctypes.data


def spanned(array: np.ndarray) -> np.ndarray:
    """The memory from an array's first element to its last one, strides above 0, as elements side by side."""
    if array.flags.c_contiguous:
        return array
    owner, itemsize = _owner(array), array.dtype.itemsize
    nbytes = itemsize + sum((size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True))
    if not owner.flags.c_contiguous:
        return as_strided(array, (nbytes // itemsize,), (itemsize,), writeable=array.flags.writeable)
    start = array.ctypes.data - owner.ctypes.data
    found = owner.reshape(-1).view(np.uint8)[start : start + nbytes].view(array.dtype)
    found.flags.writeable = array.flags.writeable
    return found


def _owner(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def check_no_mask(array: Any) -> None:
    """Refuse a masked array, of which a kernel would see the masked elements, too.

    Raises:
        TypeError: it is one.
    """
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("the array is masked, and a kernel sees no mask: pass x.filled(value), or x.data")
