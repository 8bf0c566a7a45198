"""Good kernels with several arrays in shared or local memory, and with pointers that may be null."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.faults.cases import Good

_FILE = "objects.cu"


def _floats(n: int) -> np.ndarray:
    return np.random.default_rng(n).standard_normal(n).astype(np.float32)


def _numbers(n: int, high: int = 100) -> np.ndarray:
    return np.random.default_rng(n).integers(0, high, n, np.int32)


def _zeros(n: int, dtype: str = "f4") -> np.ndarray:
    return np.zeros(n, dtype)


def _good(kernel: str, block: int, arguments: Callable[[], list], smem: int = 0) -> Good:
    return Good(_FILE, kernel, (2 if kernel in _TWO_BLOCKS else 1,), (block,), arguments, smem)


_TWO_BLOCKS: tuple[str, ...] = ()
_PARTICLE = np.dtype([("x", "f4"), ("y", "f4"), ("mass", "f4")])


def _view(length: int) -> np.void:
    """A struct View whose pointer is null."""
    raw = np.zeros(1, np.dtype([("data", "u8"), ("length", "i4"), ("rest", "i4")]))
    raw["length"] = length
    return raw[0]


OBJECTS: dict[str, Good] = {
    "two tiles": _good("two_tiles", 64, lambda: [_floats(128), _zeros(128), np.int32(5)]),
    "static and dynamic": _good("static_and_dynamic", 128, lambda: [_floats(128), _zeros(128), np.int32(100)], 512),
    "ring": _good("ring", 32, lambda: [_numbers(32), _zeros(32, "i4")]),
    "particles": _good("particles", 32, lambda: [_floats(96).view(_PARTICLE), _zeros(32), np.int32(32)]),
    "change roles": _good("change_roles", 64, lambda: [_floats(64), _zeros(64), np.int32(5)]),
    "cut by hand": _good("cut_by_hand", 32, lambda: [_floats(32), _zeros(32), np.int32(32)], 256),
    "distance of arrays": _good("distance_of_arrays", 32, lambda: [_numbers(32), _zeros(32, "i4")]),
    "pointer in memory": _good("pointer_in_memory", 32, lambda: [_numbers(32), _zeros(32, "i4")]),
    "histogram of two": _good("histogram_of_two", 64, lambda: [_numbers(500, 32), _zeros(32, "i4"), np.int32(500)]),
    "arrays for a function": _good("arrays_for_a_function", 32, lambda: [_floats(32), _zeros(32), np.int32(32)]),
    "local histogram": _good("local_histogram", 32, lambda: [_numbers(320, 8), _zeros(32, "i4"), np.int32(10)]),
    "local stack": _good("local_stack", 32, lambda: [_numbers(320, 9), _zeros(32, "i4"), np.int32(10)]),
    "local window": _good("local_window", 32, lambda: [_floats(512), _zeros(32), _numbers(32, 8)]),
    "local matrix": _good("local_matrix", 32, lambda: [_floats(480), _zeros(32), np.array([2, 3, 1, 4], np.int32)]),
    "local for a function": _good("local_for_a_function", 32, lambda: [_numbers(128), _zeros(32, "i4"), np.int32(4)]),
    "optional bias": _good("optional_bias", 32, lambda: [_floats(32), None, _zeros(32), np.int32(30)]),
    "view of an array": _good("view_of_an_array", 32, lambda: [_view(5), _zeros(32)]),
    "list of arrays": _good("list_of_arrays", 32, lambda: [_zeros(3, "u8"), _zeros(96), np.int32(3)]),
}
