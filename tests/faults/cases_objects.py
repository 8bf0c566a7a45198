"""Good kernels with several arrays in shared or local memory, with pointers that may be null, and with local variables
that have no value on some paths.
"""

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


def _good(kernel: str, block: int, arguments: Callable[[], list], smem: int = 0, file: str = _FILE) -> Good:
    return Good(file, kernel, (1,), (block,), arguments, smem)


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


def _undefined(kernel: str, arguments: Callable[[], list]) -> Good:
    return _good(kernel, 32, arguments, file="undefined.cu")


def _some(n: int, dtype: str = "f4") -> Callable[[], list]:
    """An array of 32 rows of n, 32 results, and n."""
    return lambda: [
        _floats(32 * n) if dtype == "f4" else _numbers(32 * n),
        _zeros(64, "i4" if dtype == "i4" else "f4"),
        np.int32(n),
    ]


def _places(n: int) -> Callable[[], list]:
    return lambda: [np.abs(_floats(32 * n)) + 0.5, _zeros(64, "i4"), np.int32(n)]


_PAIR = np.dtype([("kind", "i1"), ("value", "f8")], align=True)
_MIXED = np.dtype([("first", "i2"), ("second", "f4"), ("third", "i1")], align=True)


def _structures() -> list:
    """The arrays of structures as bytes: a copy of a structured array leaves its padding out."""
    bytes_of = [128 * kind.itemsize for kind in (_PAIR, _MIXED)]
    return [*(np.ones(n, np.uint8) for n in bytes_of), *(np.zeros(n, np.uint8) for n in bytes_of), np.int32(1)]


UNDEFINED: dict[str, Good] = {
    "guarded value": _undefined("guarded_value", lambda: [_floats(20), _zeros(32), np.int32(20)]),
    "last positive": _undefined("last_positive", _places(6)),
    "place of largest": _undefined("place_of_largest", lambda: [_floats(192) / 10, _zeros(32, "i4"), np.int32(6)]),
    "differences": _undefined("differences", _some(9)),
    "sum of some lanes": _undefined("sum_of_some_lanes", lambda: [_floats(20), _zeros(32), np.int32(20)]),
    "prefix of some lanes": _undefined("prefix_of_some_lanes", lambda: [_numbers(20), _zeros(32, "i4"), np.int32(20)]),
    "part of a pack": _undefined("part_of_a_pack", lambda: [_floats(62), _zeros(128), np.int32(62)]),
    "padded structures": _undefined("padded_structures", _structures),
    "queue of a thread": _undefined("queue_of_a_thread", _some(20, "i4")),
    "unused element": _undefined("unused_element", _some(6, "i4")),
    "bytes in a word": _undefined(
        "bytes_in_a_word",
        lambda: [_numbers(96).astype(np.uint8), _zeros(32, "u4"), np.int32(3), np.uint32(0xFF)],
    ),
    "predicated load": _undefined("predicated_load", lambda: [_floats(20), _zeros(32), np.int32(20)]),
    "two paths": _undefined("two_paths", lambda: [_floats(32), _zeros(32), np.int32(5)]),
    "flag of the first turn": _undefined("flag_of_the_first_turn", _some(9, "i4")),
}
