"""Python values as the bytes of a C++ type: numbers, arrays, structs by dict or tuple, pointers to arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from softlab.cuda.textures import Image
from softlab.kernel.array_types import check_array
from softlab.kernel.c_types import CType
from softlab.kernel.layouts import Layout

#: (offset in bytes, array): an address is to stand there, or the handle of a texture.
Pointer = tuple[int, Any]
#: Bytes of a ``cudaTextureObject_t``.
_HANDLE_BYTES = 8
_ORDER = "Its byte order is not the GPU's: pass x.astype(x.dtype.newbyteorder('='))"


def encode(layout: Layout, value: Any, what: str) -> tuple[bytes, list[Pointer]]:
    """The bytes of a value, with 0 for addresses, and the arrays whose addresses belong there.

    Arguments:
        layout: the C++ type.
        value: a number, an array or a sequence for arrays and vectors, a dict or a sequence for a struct, an array (or
            None) for a pointer. Bytes and ``numpy.void`` of the type's size are taken as they are.
        what: the name of the variable or parameter, for messages.

    Raises:
        TypeError, ValueError: the value does not fit the type.
    """
    raw = bytearray(layout.size)
    pointers: list[Pointer] = []
    _put(layout, value, what, raw, 0, pointers)
    return bytes(raw), pointers


def _put(layout: Layout, value: Any, what: str, raw: bytearray, at: int, pointers: list[Pointer]) -> None:
    if isinstance(value, bytes | bytearray | memoryview | np.void):
        content = value.tobytes() if isinstance(value, np.void) else bytes(value)
        if len(content) != layout.size:
            raise ValueError(f"{what} is {layout.text} of {layout.size} bytes, got {len(content)} bytes")
        raw[at : at + layout.size] = content
    elif isinstance(value, Image) and layout.size == _HANDLE_BYTES:
        pointers.append((at, value))
    elif layout.kind == "struct":
        _put_struct(layout, value, what, raw, at, pointers)
    elif layout.kind == "pointer":
        if hasattr(value, "dtype") and not isinstance(value, np.generic):
            _check_pointed(value, what, layout.text)
            pointers.append((at, value))
        elif value is not None and not isinstance(value, int | np.integer):
            raise TypeError(f"{what} is the pointer {layout.text}, got {_kind(value)}: give an array or None")
        elif value is not None:
            raw[at : at + 8] = int(value).to_bytes(8, "little")
    elif layout.kind == "array" and _of_structs(layout):
        assert layout.element is not None
        elements = _sequence(layout, value, what)
        for number, element in enumerate(elements):
            _put(layout.element, element, f"{what}[{number}]", raw, at + number * layout.element.size, pointers)
    else:
        content = converted(value, layout.dtype, what, layout.text).tobytes()
        raw[at : at + len(content)] = content


def _check_pointed(array: Any, what: str, text: str) -> None:
    """An array that a pointer inside of a variable or a struct points to."""
    if isinstance(array.dtype, np.dtype) and not array.dtype.isnative:
        raise TypeError(f"{what} is the pointer {text}, and the array has the dtype {array.dtype.str}. {_ORDER}")
    declared = CType.parse(text)
    if declared is not None:
        check_array(f"the value of {what}", array, declared, what)


def _of_structs(layout: Layout) -> bool:
    while layout.kind == "array" and layout.element is not None:
        layout = layout.element
    return layout.kind in ("struct", "pointer")


def _put_struct(layout: Layout, value: Any, what: str, raw: bytearray, at: int, pointers: list[Pointer]) -> None:
    names = [name for name, _, _ in layout.fields]
    if isinstance(value, Mapping):
        if set(value) != set(names):
            missing, other = sorted(set(names) - set(value)), sorted(map(str, set(value) - set(names)))
            wrong = [f"it lacks {', '.join(missing)}"] if missing else []
            wrong += [f"{layout.text} has no {', '.join(other)}"] if other else []
            raise ValueError(f"{what} is {layout.text} with the fields {', '.join(names)}; {' and '.join(wrong)}")
        values = [value[name] for name in names]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        values = list(value)
        if len(values) != len(names):
            raise ValueError(
                f"{what} is {layout.text} with the {len(names)} fields {', '.join(names)}, got {len(values)} values"
            )
    else:
        raise TypeError(
            f"{what} is the struct {layout.text}, got {_kind(value)}: give a dict with the fields {', '.join(names)}, "
            "or a tuple in this order"
        )
    for (name, offset, inner), part in zip(layout.fields, values, strict=True):
        _put(inner, part, f"{what}.{name}", raw, at + offset, pointers)


def _sequence(layout: Layout, value: Any, what: str) -> Any:
    if isinstance(value, np.ndarray) or (isinstance(value, Sequence) and not isinstance(value, str)):
        if len(value) != layout.count:
            raise ValueError(f"{what} is {layout.text}: it takes {layout.count} elements, got {len(value)}")
        return value
    raise TypeError(f"{what} is {layout.text}: it takes a sequence of {layout.count} elements, got {_kind(value)}")


def converted(value: Any, declared: np.dtype, what: str, text: str) -> np.ndarray:
    """The value as an array of a declared dtype, with its shape (``declared`` may be a sub-array).

    Python numbers are converted. An array must have the dtype; the sign of integers may differ.
    """
    dtype, shape = declared.subdtype or (declared, ())
    inner, rest = dtype.subdtype or (dtype, ())
    while dtype.subdtype is not None:
        dtype, shape = inner, (*shape, *rest)
        inner, rest = dtype.subdtype or (dtype, ())
    if hasattr(value, "__cuda_array_interface__"):
        value = value.get() if hasattr(value, "get") else value
    if not isinstance(value, np.ndarray | np.generic):
        value = _from_python(value, dtype, what, text)
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{what} is {text}, and the array is masked: pass x.filled(value), or x.data for all elements")
    if not value.dtype.isnative:
        raise TypeError(f"{what} is {text}, and the array has the dtype {value.dtype.str}. {_ORDER}")
    if value.dtype != dtype and not (value.dtype.kind in "iub" and _same_integer(value.dtype, dtype)):
        if isinstance(value, np.generic):
            raise TypeError(
                f"{what} is {text}, and the value is a NumPy {value.dtype.name}: it takes {dtype.name}. Pass "
                f"numpy.{dtype.name}(x), or a Python number"
            )
        raise TypeError(
            f"{what} is {text}, and the array has the dtype {value.dtype.name}: it takes {dtype.name}. Pass "
            f"x.astype(numpy.{dtype.name}) to convert the values, or x.view(numpy.{dtype.name}) to keep the bits"
        )
    if value.shape != shape and not (value.ndim == 1 and value.size == int(np.prod(shape)) and shape):
        raise ValueError(f"{what} is {text}: it takes the shape {shape}, got {value.shape}")
    return np.ascontiguousarray(value).reshape(shape)


def _same_integer(have: np.dtype, wanted: np.dtype) -> bool:
    return wanted.kind in "iub" and have.itemsize == wanted.itemsize


def _from_python(value: Any, dtype: np.dtype, what: str, text: str) -> np.ndarray:
    try:
        found = _as_array(value, what, text)
        if found.dtype.kind not in "biuf":
            raise TypeError
        if dtype.kind in "iu":
            if found.dtype.kind == "f" and found.size:
                raise TypeError
            wide = np.asarray(value, object)
            low, high = min(wide.flat, default=0), max(wide.flat, default=0)
            bits = 8 * dtype.itemsize
            most = 1 << (bits - 1 if dtype.kind == "i" else bits)  # a negative number for an unsigned one sets its bits
            if not -(1 << bits - 1) <= low <= high < most:
                raise ValueError(f"{what} is {text}, and {high if high >= most else low} does not fit in it")
            return (
                np.array([int(number) & (1 << bits) - 1 for number in wide.flat], f"u{dtype.itemsize}")
                .reshape(wide.shape)
                .view(dtype)
            )
        with np.errstate(over="ignore"):
            rounded = found.astype(dtype)
        if dtype.kind == "f" and (np.isinf(rounded) & ~np.isinf(found)).any():
            raise ValueError(f"{what} is {text}, and {np.abs(found).max()} is beyond the largest {dtype.name}")
        return rounded
    except TypeError:
        raise TypeError(f"{what} is {text}, got {_kind(value)}: it takes numbers of the dtype {dtype.name}") from None


def _as_array(value: Any, what: str, text: str) -> np.ndarray:
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{what} is {text}, and the lists in it are of several lengths") from None


def _kind(value: Any) -> str:
    if isinstance(value, int | float | str):
        return repr(value)
    return f"a {type(value).__name__}"
