"""Arrays of records (NumPy's structured dtypes) held against what a kernel's pointer points to."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from softlab.kernel.c_types import CType
from softlab.kernel.layouts import Layout

#: How many fields a message lists.
_MOST_FIELDS = 8
#: Classes of scalars. Integers of either sign, bool and addresses hold the same bits; raw bytes may be anything.
_FREE, _INTEGER, _FLOAT, _BFLOAT, _OTHER = range(5)
#: Bits of a code below its class: the size of the scalar, and which of its bytes it is.
_SIZE_BITS = _BYTE_BITS = 8


def check_records(
    number: int, array: Any, declared: CType, taken: Collection[str] | None, layout: Layout | None
) -> None:
    """An array of records for a pointer to numbers of the dtypes ``taken``, or to a struct with that ``layout``.

    Records for numbers consist of such numbers alone. Records for a struct have its size, and at each field's offset
    numbers of the field's type. Where all names are those of the struct, each has its offset.

    Raises:
        TypeError: the records are others.
    """
    dtype = array.dtype
    what = f"argument {number} is an array of records ({_shown(dtype)})"
    if taken is not None:
        if not all(name in taken for name in _names(dtype)):
            raise TypeError(
                f"{what}, but the parameter is {declared.text}, which takes {' or '.join(taken)}. Pass one field, "
                f"numpy.ascontiguousarray(x[{dtype.names[0]!r}]), or let the kernel take a pointer to a struct"
            )
    elif layout is not None and layout.kind == "struct" and _is_known(layout) and not _agree(dtype, layout.dtype):
        raise TypeError(
            f"{what}, but the parameter is {declared.text}, a pointer to ({_shown(layout.dtype)}). "
            f"{_advice(dtype, layout.dtype)}"
        )
    elif layout is not None and dtype.itemsize % layout.size:
        raise TypeError(f"{what}, but the parameter is {declared.text}, a pointer to records of {layout.size} bytes")


def _agree(dtype: np.dtype, struct: np.dtype) -> bool:
    if dtype.itemsize != struct.itemsize:
        return False
    places, others = _places(dtype), _places(struct)
    return (places == others or set(places) != set(others)) and _same(_codes(dtype), _codes(struct))


def _places(dtype: np.dtype) -> dict[str, int]:
    """The offset of each field in bytes."""
    return {name: field[1] for name, field in (dtype.fields or {}).items()}


def _same(given: np.ndarray, struct: np.ndarray) -> bool:
    """Whether each byte of a field of the struct is such a byte in the records. Half floats may come as integers."""
    shift = _SIZE_BITS + _BYTE_BITS
    low = (1 << shift) - 1
    kind, place = given >> shift, given & low
    bits = (kind == _INTEGER) & (place == struct & low) & (place >> _BYTE_BITS == 2)
    return bool(((given == struct) | (struct == _FREE) | (given == 1) | bits).all())


def _advice(dtype: np.dtype, struct: np.dtype) -> str:
    fields = [(name, dtype[name]) for name in dtype.names or ()]
    if _agree(np.dtype(fields, align=True), struct):
        return "Make its dtype with numpy.dtype(..., align=True), which puts the fields where C puts them"
    return "Give the array a dtype with these fields, in this order and with align=True"


def _is_known(layout: Layout) -> bool:
    inner = [layout.element] if layout.element is not None else [field for _, _, field in layout.fields]
    return layout.kind != "bytes" and all(map(_is_known, inner))


def _names(dtype: np.dtype) -> Iterator[str]:
    """The names of the scalars that a dtype consists of; "padding" for bytes that no field has."""
    if dtype.subdtype is not None:
        yield from _names(dtype.subdtype[0])
    elif dtype.fields is None:
        yield dtype.name
    else:
        for field, *_ in dtype.fields.values():
            yield from _names(field)
        if (_codes(dtype) == _FREE).any():
            yield "padding"


@lru_cache(maxsize=256)
def _codes(dtype: np.dtype) -> np.ndarray:
    """(itemsize,) int64: of each byte the scalar that it is a part of, and which part; 0 for padding, 1 for any."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.tile(_codes(base), int(np.prod(shape)))
    if dtype.fields is not None:
        found = np.zeros(dtype.itemsize, np.int64)
        for field, start, *_ in dtype.fields.values():
            found[start : start + field.itemsize] = _codes(field)
        return found
    size, count = dtype.itemsize, 1
    kind = {"i": _INTEGER, "u": _INTEGER, "b": _INTEGER, "f": _FLOAT, "c": _FLOAT, "S": _INTEGER}.get(dtype.kind)
    if dtype.kind == "c":
        size, count = size // 2, 2
    elif dtype.kind == "S":
        size, count = 1, size
    elif dtype.name == "bfloat16":
        kind = _BFLOAT
    elif dtype.kind == "V":
        return np.ones(size, np.int64)
    one = (_OTHER if kind is None else kind) << _SIZE_BITS + _BYTE_BITS | size << _BYTE_BITS
    return np.tile(one + np.arange(size), count)


def _shown(dtype: np.dtype) -> str:
    """The fields, their types and places: "a: int32 at byte 0, b: float32 at byte 4; 8 bytes"."""
    listed = [f"{name}: {_type(dtype[name])} at byte {start}" for name, start in _places(dtype).items()]
    more = f" and {len(listed) - _MOST_FIELDS} more" if len(listed) > _MOST_FIELDS else ""
    return f"{', '.join(listed[:_MOST_FIELDS])}{more}; {dtype.itemsize} bytes"


def _type(dtype: np.dtype) -> str:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return f"{_type(base)}[{']['.join(map(str, shape))}]"
    return "a record" if dtype.fields is not None else dtype.name
