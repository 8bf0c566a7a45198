"""Kernel arguments: NumPy arrays to addresses, scalars to the bytes of the parameter's type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from softlab.emulator.linker import Image
from softlab.emulator.memory import GlobalMemory
from softlab.emulator.ptx import DTYPES, Variable
from softlab.structs import Struct

_POINTER_BYTES = 8


@dataclass(frozen=True)
class Mapped:
    """An array argument and where it is mapped."""

    index: int
    base: int
    nbytes: int
    dtype: str


def parameter_types(image: Image) -> str:
    """The kernel's parameters as a person reads them: "u64 (8 bytes), f32 (4 bytes)"."""
    if not image.params:
        return "no parameters"
    return ", ".join(_shown(variable) for variable, _ in image.params)


def _shown(variable: Variable) -> str:
    if variable.type == "b8":
        return f"a struct of {variable.size} bytes"
    return f"{variable.type} ({variable.size} bytes)"


def pack(image: Image, arguments: Sequence[Any], memory: GlobalMemory) -> tuple[bytes, tuple[Mapped, ...]]:
    """Map the arrays into ``memory``; returns the parameter bytes and the mapped arrays.

    Raises:
        TypeError: too many or few arguments, or one of a wrong type. ValueError: an integer out of range, an array that
            is not C-contiguous. The messages say which parameter, what was got and what is taken.
    """
    if len(arguments) != len(image.params):
        raise TypeError(
            f"the kernel takes {len(image.params)} arguments ({parameter_types(image)}), got {len(arguments)}"
        )
    data = bytearray(image.param_bytes)
    mapped: list[Mapped] = []
    seen: dict[tuple[int, int], int] = {}

    def address(index: int, array: np.ndarray) -> int:
        raw = _bytes(index, array)
        key = (array.ctypes.data, array.nbytes)
        if key not in seen:
            seen[key] = memory.place(raw, name=f"argument {index}", index=index, writeable=array.flags.writeable)
        mapped.append(Mapped(index, seen[key], array.nbytes, array.dtype.name))
        return seen[key]

    for index, (argument, (variable, offset)) in enumerate(zip(arguments, image.params, strict=True)):
        if isinstance(argument, np.ndarray):
            _check_pointer(index, argument, variable)
            raw_bytes = address(index, argument).to_bytes(_POINTER_BYTES, "little")
        elif isinstance(argument, Struct):
            raw_bytes = _scalar(index, argument.pack(partial(address, index)), variable)
        else:
            raw_bytes = _scalar(index, argument, variable)
        data[offset : offset + len(raw_bytes)] = raw_bytes
    return bytes(data), tuple(mapped)


def scalar_for_driver(image: Image, index: int, value: Any) -> np.generic:
    """A scalar argument as a NumPy scalar of the parameter's size and bits, which is what the driver copies.

    Raises:
        TypeError, ValueError: as :func:`pack`.
    """
    if index >= len(image.params):
        raise TypeError(f"the kernel takes {len(image.params)} arguments ({parameter_types(image)}), got more")
    raw = _scalar(index, value, image.params[index][0])
    return np.frombuffer(raw, f"u{len(raw)}" if len(raw) in (1, 2, 4, 8) else f"V{len(raw)}")[0]


def _check_pointer(index: int, array: np.ndarray, variable: Variable) -> None:
    if variable.size != _POINTER_BYTES or variable.type not in ("u64", "b64", "s64"):
        raise TypeError(
            f"argument {index} is an array of {array.dtype}, but the parameter is {_shown(variable)}: pass a scalar"
        )


def _bytes(index: int, array: np.ndarray) -> np.ndarray:
    """The array's memory."""
    if array.dtype.hasobject:
        raise TypeError(f"argument {index} is an array of Python objects: pass an array of numbers")
    if not array.flags.c_contiguous:
        raise ValueError(
            f"argument {index} of shape {array.shape} and strides {array.strides} is not C-contiguous: a kernel gets a "
            "pointer and no strides. Pass numpy.ascontiguousarray(x), and copy back what the kernel writes"
        )
    return array.reshape(-1).view(np.uint8) if array.size else np.zeros(0, np.uint8)


def _scalar(index: int, value: Any, variable: Variable) -> bytes:
    dtype = DTYPES[variable.type]
    takes = f"argument {index}: the parameter is {_shown(variable)}"
    if isinstance(value, bytes | bytearray | memoryview | np.void):
        raw = bytes(value) if not isinstance(value, np.void) else value.tobytes()
        if len(raw) != variable.size:
            raise ValueError(f"{takes}, got {len(raw)} bytes")
        return raw
    if isinstance(value, np.generic):
        return _numpy_scalar(takes, value, variable)
    if variable.type == "b8" and variable.size != 1:
        raise TypeError(
            f"{takes}, got {value!r}. Pass a NumPy scalar of that type (numpy.float16, ml_dtypes.bfloat16), a "
            "numpy.void of a structured dtype, bytes, or a softlab.structs.Struct"
        )
    if isinstance(value, bool | int):
        if dtype.kind == "f":
            return dtype.type(value).tobytes()
        bits = dtype.itemsize * 8
        if not -(1 << bits - 1) <= value < 1 << bits:
            raise ValueError(f"{takes}, and {value} does not fit in {bits} bits")
        return (value & (1 << bits) - 1).to_bytes(dtype.itemsize, "little")
    if isinstance(value, float):
        if dtype.kind == "f":
            return np.array(value).astype(dtype).tobytes()
        if variable.type in ("b32", "b64"):  # a float parameter, as newer compilers declare it
            return np.array(value).astype(f"f{dtype.itemsize}").tobytes()
        raise TypeError(f"{takes}, got the float {value!r}: pass an integer, or declare the parameter as a float")
    raise TypeError(
        f"{takes}, got {type(value).__module__}.{type(value).__qualname__}. Pass a NumPy array for a pointer, else a "
        "NumPy scalar, or a Python int or float"
    )


def _numpy_scalar(takes: str, value: np.generic, variable: Variable) -> bytes:
    floating = value.dtype.kind == "f"
    wants_float = variable.type in ("f16", "f32", "f64")
    untyped = variable.type in ("b8", "b16", "b32", "b64")
    if value.nbytes != variable.size or (not untyped and floating != wants_float):
        raise TypeError(
            f"{takes}, got numpy.{value.dtype.name} ({value.nbytes} bytes). Pass a scalar of the parameter's type"
        )
    return value.tobytes()
