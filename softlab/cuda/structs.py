"""Structs as kernel arguments: the fields of a C++ struct passed by value, with pointers to arrays among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from typing_extensions import override

from softlab.cuda.tensor_maps import TensorMap
from softlab.cuda.textures import Image

_POINTER = np.dtype(np.uint64)


class Struct:
    """A struct passed to a kernel by value, field by field.

    An array stands for a pointer to its first element, a NumPy scalar for itself, a Struct for a nested struct. The
    layout is that of a C++ struct without bases or virtual functions: each field starts at a multiple of its alignment,
    and the size is a multiple of the largest alignment (Itanium C++ ABI, which NVIDIA's compilers follow on Linux).

    >>> Struct(x, np.int64(cols))  # of: struct DirectLoad { const float* source; long long row_size; }

    Arguments:
        fields: C-contiguous NumPy arrays or CUDA arrays, NumPy scalars, Structs.

    Raises:
        TypeError: a Python number, which has no C++ type, or a complex number, whose alignment NumPy does not know.
    """

    __slots__ = ("fields",)

    def __init__(self, *fields: Any) -> None:
        for number, field in enumerate(fields):
            if not isinstance(field, np.generic) and isinstance(field, int | float | complex | str | bytes):
                raise TypeError(
                    f"field {number} of a struct is {field!r}: say which type it is, for instance "
                    f"numpy.int64({field!r}) for a long long or numpy.float32 for a float"
                )
            if isinstance(field, np.complexfloating):
                raise TypeError(
                    f"field {number} of a struct is a {type(field).__name__}, which CUDA and NumPy align differently: "
                    "give a numpy.void with the struct's bytes as the argument"
                )
        self.fields = fields

    def __repr__(self) -> str:
        return f"Struct({', '.join(map(_shown, self.fields))})"

    def with_arrays(self, convert: Callable[[Any], Any]) -> Struct:
        """The same struct with ``convert(array)`` for each array."""
        return Struct(
            *(
                f.with_arrays(convert) if isinstance(f, Struct) else f if isinstance(f, np.generic) else convert(f)
                for f in self.fields
            )
        )

    @property
    def dtype(self) -> np.dtype:
        """The layout as a structured dtype."""
        return np.dtype([(f"field_{n}", _dtype_of(field)) for n, field in enumerate(self.fields)], align=True)

    def pack(self, address: Callable[[Any], int]) -> bytes:
        """The struct's bytes; ``address(array)`` is the pointer to an array."""
        packed = np.zeros((), self.dtype)  # the padding, too, is zero
        packed[()] = self._values(address)
        return packed.tobytes()

    def _values(self, address: Callable[[Any], int]) -> tuple[Any, ...]:
        return tuple(
            f._values(address) if isinstance(f, Struct) else f if isinstance(f, np.generic) else address(f)
            for f in self.fields
        )


class PackedStruct(Struct):
    """A struct whose bytes are known but for the addresses of arrays.

    Arguments:
        raw: the bytes, with anything where an address belongs.
        pointers: the byte offset of each address, and its array.
    """

    __slots__ = ("offsets", "raw")

    def __init__(self, raw: bytes, pointers: Sequence[tuple[int, Any]]) -> None:
        super().__init__(*(array for _, array in pointers))
        self.raw = raw
        self.offsets = tuple(offset for offset, _ in pointers)

    @override
    def with_arrays(self, convert: Callable[[Any], Any]) -> Self:
        return type(self)(self.raw, [(at, convert(array)) for at, array in zip(self.offsets, self.fields, strict=True)])

    @property
    @override
    def dtype(self) -> np.dtype:
        return np.dtype((np.void, len(self.raw)))

    @override
    def pack(self, address: Callable[[Any], int]) -> bytes:
        raw = bytearray(self.raw)
        for offset, array in zip(self.offsets, self.fields, strict=True):
            raw[offset : offset + 8] = address(array).to_bytes(8, "little")
        return bytes(raw)


class PointerTable(PackedStruct):
    """An array of pointers, for a parameter such as ``float** rows``: the kernel gets the address of the table."""

    @classmethod
    def of(cls, arrays: Sequence[Any]) -> Self:
        """The table of the addresses of these arrays; None is a null pointer."""
        return cls(bytes(8 * len(arrays)), [(8 * n, array) for n, array in enumerate(arrays) if array is not None])


def arrays_of(argument: Any) -> Iterator[Any]:
    """The arrays in an argument of a kernel: itself, those of a Struct from first to last, or none."""
    if isinstance(argument, Struct):
        for field in argument.fields:
            yield from arrays_of(field)
    elif isinstance(argument, Image):
        yield argument.array
    elif isinstance(argument, TensorMap):
        yield argument.memory
    elif not isinstance(argument, np.generic | int | float | bytes | bytearray | memoryview):
        yield argument


def _dtype_of(field: Any) -> np.dtype:
    return field.dtype if isinstance(field, Struct | np.generic) else _POINTER


def _shown(field: Any) -> str:
    if isinstance(field, Struct):
        return repr(field)
    if isinstance(field, np.generic):
        return f"{field.dtype.name}({field})"
    return f"{field.dtype} array of shape {tuple(field.shape)}"
