"""Tensor maps for a GPU, as the driver encodes them."""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from typing import Any

from softlab.cuda.tensor_maps import KINDS, MAP_ALIGN, MAP_BYTES, SWIZZLES, TensorMap
from softlab.errors import Error

_DRIVER = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


@lru_cache(maxsize=1)
def _encode_tiled() -> Any:
    """``cuTensorMapEncodeTiled`` of the driver that is installed."""
    try:
        return ctypes.CDLL(_DRIVER).cuTensorMapEncodeTiled
    except (OSError, AttributeError) as error:
        raise Error(f"the NVIDIA driver has no cuTensorMapEncodeTiled ({error}): update it to 525 or later") from error


def encoded(tensor_map: TensorMap) -> bytes:
    """The 128 bytes of a map of an array on a GPU.

    Raises:
        softlab.Error: the driver refuses the map.
    """
    tensor = tensor_map.tensor(int(tensor_map.array.data.ptr))
    axes = len(tensor.sizes)
    room = (ctypes.c_ubyte * (MAP_BYTES + MAP_ALIGN))()
    first = -ctypes.addressof(room) % MAP_ALIGN
    result = _encode_tiled()(
        ctypes.c_void_p(ctypes.addressof(room) + first),
        ctypes.c_int(KINDS.index(tensor.kind)),
        ctypes.c_uint32(axes),
        ctypes.c_void_p(tensor.address),
        (ctypes.c_uint64 * axes)(*tensor.sizes),
        (ctypes.c_uint64 * axes)(*tensor.pitches[1:], 0),
        (ctypes.c_uint32 * axes)(*tensor.box),
        (ctypes.c_uint32 * axes)(*tensor.steps),
        ctypes.c_int(0),  # no interleave
        ctypes.c_int(list(SWIZZLES.values()).index(tensor.swizzle)),
        ctypes.c_int(tensor_map.promotion()),
        ctypes.c_int(tensor.nan),
    )
    if result:
        raise Error(f"the driver refuses the tensor map ({tensor}) with error {result} of cuTensorMapEncodeTiled")
    return bytes(room[first : first + MAP_BYTES])
