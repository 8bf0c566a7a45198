"""Structs as kernel arguments: what a C++ struct passed by value holds, pointers to arrays among it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_POINTER_BYTES = 8


class Struct:
    """A struct passed to a kernel by value, field by field.

    An array stands for a pointer to its first element, a NumPy scalar for itself, a Struct for a struct within. They
    lie as C++ lays out a struct without bases or virtual functions: each at a multiple of its alignment, the whole
    padded to its own (Itanium C++ ABI, which NVIDIA's compilers follow on Linux).

    >>> Struct(x, np.int64(cols))  # of: struct DirectLoad { const float* source; long long row_size; }

    Arguments:
        fields: C-contiguous NumPy arrays or CUDA arrays, NumPy scalars, Structs.

    Raises:
        TypeError: another field: a Python number does not say which C++ type it is.
    """

    __slots__ = ("fields",)

    def __init__(self, *fields: Any) -> None:
        for number, field in enumerate(fields):
            if not isinstance(field, np.generic) and isinstance(field, int | float | complex | str | bytes):
                raise TypeError(
                    f"field {number} of a struct is {field!r}: say which type it is, for instance "
                    f"numpy.int64({field!r}) for a long long or numpy.float32 for a float"
                )
        self.fields = fields

    def __repr__(self) -> str:
        return f"Struct({', '.join(map(_shown, self.fields))})"

    def with_arrays(self, convert: Callable[[Any], Any]) -> Struct:
        """The same struct with ``convert(array)`` in each array's place."""
        return Struct(
            *(
                f.with_arrays(convert) if isinstance(f, Struct) else f if isinstance(f, np.generic) else convert(f)
                for f in self.fields
            )
        )

    def pack(self, address: Callable[[Any], int]) -> bytes:
        """The struct's bytes; ``address(array)`` is what stands for an array."""
        return self._packed(address)[0]

    def _packed(self, address: Callable[[Any], int]) -> tuple[bytes, int]:
        """The bytes and the alignment."""
        data, alignment = bytearray(), 1
        for field in self.fields:
            raw, aligned = _field(field, address)
            data += bytes(-len(data) % aligned) + raw
            alignment = max(alignment, aligned)
        return bytes(data) + bytes(-len(data) % alignment), alignment


def arrays_of(argument: Any) -> Iterator[Any]:
    """The arrays in an argument of a kernel: itself, those of a Struct from first to last, or none."""
    if isinstance(argument, Struct):
        for field in argument.fields:
            yield from arrays_of(field)
    elif not isinstance(argument, np.generic | int | float | bytes | bytearray | memoryview):
        yield argument


def _field(field: Any, address: Callable[[Any], int]) -> tuple[bytes, int]:
    if isinstance(field, Struct):
        return field._packed(address)
    if isinstance(field, np.generic):
        return field.tobytes(), field.dtype.itemsize
    return address(field).to_bytes(_POINTER_BYTES, "little"), _POINTER_BYTES


def _shown(field: Any) -> str:
    if isinstance(field, Struct):
        return repr(field)
    if isinstance(field, np.generic):
        return f"{field.dtype.name}({field})"
    return f"{field.dtype} array of shape {tuple(field.shape)}"
