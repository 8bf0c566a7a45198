"""Which arrays a pointer of some C++ type takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from softlab.dtypes import ELEMENT_TYPES
from softlab.kernel.c_types import CType

INTEGERS = {
    "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned int": 4,
    "long": 8, "unsigned long": 8, "long long": 8, "unsigned long long": 8,
}  # fmt: skip
#: C++ type -> names of the NumPy dtypes whose elements it reads. Integers of either sign hold the same bits.
DTYPES: dict[str, tuple[str, ...]] = {
    "bool": ("bool", "int8", "uint8"),
    "float": ("float32",),
    "double": ("float64",),
    "__half": ("float16", "uint16", "int16"),
    "__nv_bfloat16": ("bfloat16", "uint16", "int16"),
    **{name: tuple(f"{sign}int{8 * size}" for sign in ("", "u")) for name, size in INTEGERS.items()},
}
for _name in ("char", "signed char", "unsigned char"):
    DTYPES[_name] += ("bool",)
for _element, _name in (("float", "float"), ("double", "double"), ("int", "int"), ("unsigned int", "uint")):
    for _count in (2, 3, 4):
        DTYPES[f"{_name}{_count}"] = DTYPES[_element]
DTYPES["__half2"], DTYPES["__nv_bfloat162"] = DTYPES["__half"], DTYPES["__nv_bfloat16"]
DTYPES["c10::Half"], DTYPES["c10::BFloat16"] = DTYPES["__half"], DTYPES["__nv_bfloat16"]
DTYPES["float2"] += ("complex64",)
DTYPES["double2"] += ("complex128",)
#: Types with fields x, y, z, w.
VECTORS = frozenset(f"{name}{count}" for name in ("float", "double", "int", "uint") for count in (2, 3, 4))


def default_dtype(declared: CType) -> np.dtype | None:
    """The dtype of an array for a pointer to that type: float32 for ``float*`` and ``float4*``; None if not known."""
    taken = DTYPES.get(declared.element)
    if taken is None or declared.pointers > 1:
        return None
    name = taken[1 if declared.element.startswith("u") else 0]  # unsigned ..., uint2: the second one is unsigned
    return ELEMENT_TYPES[name].numpy if name in ELEMENT_TYPES else np.dtype(name)


def named(dtype: str) -> str:
    """A dtype as Python names it: NumPy itself has no bfloat16."""
    return f"ml_dtypes.{dtype}" if dtype == "bfloat16" else f"numpy.{dtype}"


def check_array(what: str, array: Any, declared: CType, place: str = "the parameter") -> None:
    """An array for a ``place`` of that type; ``what`` it is, for the message.

    Raises:
        TypeError: its dtype is another one, or the type is no pointer.
    """
    taken, numpy = DTYPES.get(declared.element), isinstance(array.dtype, np.dtype)
    if taken is None or declared.pointers > 1 or (numpy and (array.dtype.names is not None or array.dtype.hasobject)):
        return
    name = array.dtype.name if numpy else str(array.dtype).removeprefix("torch.")
    if not declared.pointers:
        value = array.item() if not array.shape else "..."
        instead = "a tuple of its fields" if declared.element in VECTORS else f"{named(taken[0])}({value})"
        raise TypeError(
            f"{what} is an array of {name} with the shape {tuple(array.shape)}, but {place} is "
            f"{declared.text}, no pointer: the kernel would get an address. Pass {instead}"
        )
    if name not in taken:
        dtype = named(taken[0]) if numpy else f"torch.{taken[0]}"
        convert, reinterpret = f"x.{'astype' if numpy else 'to'}({dtype})", f"x.view({dtype})"
        raise TypeError(
            f"{what} is an array of {name}, but {place} is {declared.text}, which takes "
            f"{' or '.join(taken)}. Pass {convert} to convert the values, or {reinterpret} to pass the bits as they are"
        )
