"""Arguments of a launch held against the parameters that the kernel declares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from softlab.cuda.compile import Program
from softlab.cuda.structs import PackedStruct, PointerTable, Struct, arrays_of
from softlab.cuda.tensor_maps import TensorMap
from softlab.cuda.textures import Image
from softlab.kernel.array_types import DTYPES, INTEGERS, VECTORS, check_array, default_dtype, named
from softlab.kernel.c_types import CType, declared_types
from softlab.kernel.encoding import encode
from softlab.kernel.layouts import Layouts
from softlab.kernel.record_arguments import check_records

#: PyTorch's accessor of a tensor, as the mangled name has it: element, dimensions, type of the indices.
_ACCESSOR = re.compile(r"at::GenericPackedTensorAccessor<(.+), (\d+), [^,]*, (int|long)>")
#: OpenCV's matrix, without and with its size.
_MATRIX = re.compile(r"cv::cuda::PtrStep(Sz)?<(.+)>")
#: What is an argument without being an array.
_KINDS = (np.generic, bool, int, Struct, TensorMap, Image)
_NULL = np.uint64(0)


def checked_arguments(program: Program, arguments: Sequence[Any], layouts: Layouts | None = None) -> tuple[Any, ...]:
    """The arguments, with None as a null pointer, and dicts and sequences as the structs or pointers that they mean.

    Pointers to ``void``, to structs and to types that are not known take any array.

    Raises:
        TypeError: another number of arguments, an array or a number whose dtype is not that of the declared type, an
            array for a parameter that is no pointer, None for one that is no pointer, or an array in the other byte
            order.
        ValueError: a Python int that does not fit, or a struct with other fields.
    """
    if not isinstance(arguments, Sequence) or isinstance(arguments, str | bytes):
        kind = f"{type(arguments).__module__}.{type(arguments).__qualname__}"
        raise TypeError(f"args is one {kind}: give a sequence with one argument for each parameter, such as [x]")
    declared = declared_types(program) or ()
    if len(declared) != len(arguments):
        if declared and all(declared):
            listed = ", ".join(one.text for one in declared if one)
            count = f"{len(declared)} argument{'s' * (len(declared) != 1)}"
            raise TypeError(f"the kernel takes {count} ({listed}), got {len(arguments)}")
        declared = (None,) * len(arguments)  # the emulator and the driver tell of a wrong number
    for as_struct in (_accessor, _matrix):
        arguments = [as_struct(number, *pair) for number, pair in enumerate(zip(arguments, declared, strict=True))]
    for number, (argument, one) in enumerate(zip(arguments, declared, strict=True)):
        _check_kind(number, argument, one)
        _check_struct(number, argument, one, layouts)
    pairs = enumerate(zip(arguments, declared, strict=True))
    return tuple(
        _composed(number, *pair, layouts) if isinstance(pair[0], dict | tuple | list) else _checked(number, *pair)
        for number, pair in pairs
    )


def _accessor(number: int, argument: Any, declared: CType | None) -> Any:
    """An array as the accessor of PyTorch that a parameter is: the address, sizes and strides in elements; any other
    argument itself."""
    found = _ACCESSOR.fullmatch(declared.element) if declared is not None and hasattr(argument, "strides") else None
    element = CType.parse(found[1]) if found else None
    if found is None or element is None or not argument.shape:
        return argument
    check_array(f"argument {number}", argument, replace(element, pointers=1))
    if len(argument.shape) != int(found[2]):
        raise ValueError(
            f"argument {number} has the shape {tuple(argument.shape)}, but the parameter is an accessor of {found[2]} "
            "dimensions"
        )
    index = np.int32 if found[3] == "int" else np.int64
    strides = [stride // argument.dtype.itemsize for stride in argument.strides]
    return Struct(argument, *(index(size) for size in (*argument.shape, *strides)))


def _matrix(number: int, argument: Any, declared: CType | None) -> Any:
    """An array as the matrix of OpenCV that a parameter is: the address, the bytes from row to row, and the columns and
    rows where the type has them; any other argument itself."""
    found = _MATRIX.fullmatch(declared.element) if declared is not None and hasattr(argument, "strides") else None
    if found is None or not argument.shape:
        return argument
    if element := CType.parse(found[2]):
        check_array(f"argument {number}", argument, replace(element, pointers=1))
    if len(argument.shape) < 2:
        raise ValueError(f"argument {number} has the shape {tuple(argument.shape)}, but the parameter is a matrix")
    rows, cols = argument.shape[:2]
    size = (np.int32(cols), np.int32(rows)) if found[1] else ()
    return Struct(argument, np.uint64(argument.strides[0]), *size)


def _composed(number: int, argument: Any, declared: CType | None, layouts: Layouts | None) -> Any:
    """A dict or a sequence as a struct, or as the array of pointers that it means."""
    what = f"argument {number}"
    if declared is not None and declared.pointers > 1 and not isinstance(argument, dict):
        inner = replace(declared, pointers=declared.pointers - 1)
        checked = [None if one is None else _checked(number, one, inner) for one in argument]
        if any(one is not None and next(arrays_of(one), None) is not one for one in checked):
            raise TypeError(f"{what} is {declared.text}: it takes a sequence of arrays (or None), one for each pointer")
        return PointerTable.of(checked)
    if declared is not None and declared.pointers:
        raise TypeError(
            f"{what}: the parameter is {declared.text}, got builtins.{type(argument).__name__}. Pass a NumPy array for "
            "a pointer"
        )
    layout = layouts.of_type(declared.element) if layouts is not None and declared is not None else None
    if declared is None or layout is None or layout.kind in ("bytes", "scalar", "pointer"):
        shown = "is not known" if declared is None or layout is None else f"is {layout.text} of {layout.size} bytes"
        raise TypeError(
            f"{what} is a {type(argument).__name__}, and the parameter's type {shown}: what fields it has cannot be "
            "told. Pass softlab.cuda.structs.Struct with a NumPy scalar or array for each field, or bytes"
        )
    return PackedStruct(*encode(layout, argument, what))


def _checked(number: int, argument: Any, declared: CType | None) -> Any:
    if argument is None:
        if declared is not None and not declared.pointers and declared.element in DTYPES:
            raise TypeError(f"argument {number} is None, a null pointer, but the parameter is {declared.text}")
        return _NULL
    for array in arrays_of(argument):
        dtype = getattr(array, "dtype", None)
        if isinstance(dtype, np.dtype) and not dtype.isnative:
            raise TypeError(
                f"argument {number} has the dtype {dtype.str}, whose byte order is not the GPU's. Pass "
                'x.astype(x.dtype.newbyteorder("="))'
            )
    if declared is not None and not declared.pointers and declared.element in DTYPES:
        _check_value(number, argument, declared)
    if declared is not None and not isinstance(argument, np.generic) and hasattr(argument, "dtype"):
        check_array(f"argument {number}", argument, declared)
    if declared is not None and isinstance(argument, int | float) and not isinstance(argument, np.generic):
        return _typed(number, argument, declared)
    return argument


def _check_value(number: int, argument: Any, declared: CType) -> None:
    """A value for a number, or for a vector of two to four. Bytes, structs and arrays are not its business."""
    what = f"argument {number}: the parameter is {declared.text}"
    if type(argument) is int:
        _check_integer(number, argument, declared)
    single = isinstance(argument, np.generic | int | float | complex) and not isinstance(argument, np.void)
    if declared.element in VECTORS and single:
        fields = "xyzw"[: int(declared.element[-1])]
        raise TypeError(f"{what}, got one number. Pass a tuple ({', '.join(fields)})")
    taken = DTYPES[declared.element]
    if isinstance(argument, np.generic) and single and argument.dtype.name not in taken:
        raise TypeError(
            f"{what}, which takes {' or '.join(taken)}, got numpy.{argument.dtype.name}. Pass {named(taken[0])}(x), "
            "or a Python number"
        )
    if isinstance(argument, str | complex) and not isinstance(argument, np.generic):
        raise TypeError(f"{what}, got the {type(argument).__name__} {argument!r}. Pass a number")


def _check_kind(number: int, argument: Any, declared: CType | None) -> None:
    """What can be no argument at all for a parameter of that type."""
    if declared is None or argument is None or isinstance(argument, dict | tuple | list):
        return
    what, wanted = f"argument {number}: the parameter is {declared.text}", "a NumPy array for a pointer"
    if isinstance(argument, type):
        raise TypeError(f"{what}, got the class {argument.__module__}.{argument.__qualname__}. Pass an object")
    name = f"{type(argument).__module__}.{type(argument).__qualname__}"
    if declared.pointers:
        if isinstance(argument, bytes | bytearray | memoryview):
            dtype = default_dtype(declared) or np.dtype(np.uint8)
            raise TypeError(f"{what}, got {name}. Pass {wanted}: numpy.frombuffer(x, numpy.{dtype.name})")
        if isinstance(argument, np.generic) and argument.dtype.name not in ("int64", "uint64"):
            raise TypeError(f"{what}, got one numpy.{argument.dtype.name}. Pass {wanted}: numpy.array([x])")
    elif declared.element not in DTYPES:
        return
    kinds = _KINDS if declared.pointers else (*_KINDS, float, str, complex, bytes, bytearray, memoryview)
    if not isinstance(argument, kinds) and not _is_array(argument):
        raise TypeError(f"{what}, got {name}. Pass {wanted if declared.pointers else 'a number'}")


def _is_array(argument: Any) -> bool:
    """Whether it is an array of some library, on the host or on a GPU."""
    return hasattr(argument, "dtype") or hasattr(argument, "__cuda_array_interface__")


def _check_struct(number: int, argument: Any, declared: CType | None, layouts: Layouts | None) -> None:
    """An array is no struct, though one of eight bytes could hold its address. Records are those of the pointer."""
    if declared is None or not isinstance(argument, np.ndarray) or declared.pointers > 1 or declared.element == "void":
        return
    taken, named = DTYPES.get(declared.element), argument.dtype.names is not None
    if named != bool(declared.pointers) or (taken is not None and not named):
        return
    layout = layouts.of_type(declared.element) if layouts is not None and taken is None else None
    if named and argument.dtype.isnative:
        check_records(number, argument, declared, taken, layout)
    elif not named and layout is not None and layout.kind == "struct":
        raise TypeError(
            f"argument {number} is an array of {argument.dtype}, but the parameter is the struct {declared.text}: give "
            "a dict or a tuple of its fields"
        )


def _typed(number: int, value: float, declared: CType) -> Any:
    """A Python number as a scalar of the declared type: PTX may say no more of a parameter than its size.

    Raises:
        ValueError: it does not fit.
    """
    size = 8 if declared.pointers else INTEGERS.get(declared.element)
    if size is not None:
        if isinstance(value, float):
            raise TypeError(
                f"argument {number}: the parameter is {declared.text}, got the float {value!r}: pass an integer, or "
                "declare the parameter as a float"
            )
        bits = 8 * size
        if not -(1 << bits - 1) <= value < 1 << bits:
            shown = value if value.bit_length() <= 128 else f"an integer of {value.bit_length()} bits"
            raise ValueError(
                f"argument {number}: the parameter is {declared.text}, and {shown} does not fit in {bits} bits"
            )
        return np.dtype(f"u{size}").type(value & (1 << bits) - 1)
    if declared.element == "bool":
        return np.bool_(value)
    dtype = {"float": np.float32, "double": np.float64}.get(declared.element)
    return value if dtype is None else _as_float(number, value, np.dtype(dtype), declared)


def _as_float(number: int, value: float, dtype: np.dtype, declared: CType) -> Any:
    """The number rounded to that type, but never infinite unless it was."""
    try:
        with np.errstate(over="ignore"):
            found = dtype.type(float(value))
    except OverflowError:
        found = dtype.type(np.inf)
    if np.isinf(found) and value not in (np.inf, -np.inf):
        shown = f"an integer of {value.bit_length()} bits" if isinstance(value, int) else repr(value)
        raise ValueError(
            f"argument {number}: the parameter is {declared.text}, and {shown} is beyond the largest {dtype.name}"
        )
    return found


def _check_integer(number: int, value: int, declared: CType) -> None:
    """A signed parameter would become negative. A negative value for an unsigned one is C's way to set its bits."""
    size = INTEGERS.get(declared.element)
    if size is None or declared.element.startswith("unsigned"):
        return
    largest = (1 << 8 * size - 1) - 1
    if largest < value <= 2 * largest + 1:
        raise ValueError(
            f"argument {number} is {value}, but the parameter is {declared.text}, whose largest value is {largest}: it "
            f"would become {value - 2 * largest - 2}. Pass that, or declare an unsigned or a wider parameter"
        )
