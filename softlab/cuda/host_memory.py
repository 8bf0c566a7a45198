"""Where a NumPy array lies in the memory that its owner allocated."""

from __future__ import annotations

import numpy as np


def offset_in_owner(array: np.ndarray) -> int:
    """Bytes from the start of the allocation to the array's first element: 4 for ``x[1:]`` of a float32 ``x``.

    The owner is the last array that NumPy knows of: of a buffer that another library allocated, it is the first array
    over it.
    """
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return array.ctypes.data - owner.ctypes.data
