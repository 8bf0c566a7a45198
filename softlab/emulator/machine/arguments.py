"""Kernel arguments: NumPy arrays to addresses, scalars to the bytes of the parameter's type."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from softlab.cuda.host_memory import offset_in_owner
from softlab.cuda.structs import PointerTable, Struct, arrays_of
from softlab.cuda.tensor_maps import TensorMap
from softlab.cuda.textures import Image as TextureImage
from softlab.emulator.memory.allocations import Allocations, ArgumentView
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import DTYPES, Variable

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


def pack(
    image: Image, arguments: Sequence[Any], memory: Allocations, further: Sequence[np.ndarray] = ()
) -> tuple[bytes, tuple[Mapped, ...], tuple[int, ...]]:
    """Map the arrays into ``memory``; returns the parameter bytes, the mapped arrays, and the addresses of ``further``.

    Raises:
        TypeError: too many or few arguments, or one of a wrong type. ValueError: an integer out of range, an array that
            is not C-contiguous. The messages say which parameter, what was got and what is taken.
    """
    if len(arguments) != len(image.params):
        raise TypeError(
            f"the kernel takes {len(image.params)} arguments ({parameter_types(image)}), got {len(arguments)}"
        )
    data = bytearray(image.param_bytes)
    mapper = _Mapper(memory, [array for argument in (*arguments, *further) for array in arrays_of(argument)])
    for index, (argument, (variable, offset)) in enumerate(zip(arguments, image.params, strict=True)):
        address = partial(mapper.address, index)
        if isinstance(argument, np.ndarray):
            _check_pointer(index, argument, variable)
            raw_bytes = address(argument).to_bytes(_POINTER_BYTES, "little")
        elif isinstance(argument, TextureImage):
            raw_bytes = _scalar(index, np.uint64(address(argument)), variable)
        elif isinstance(argument, TensorMap):
            raw_bytes = _scalar(index, argument.tensor(address(argument.memory)).encoded(), variable)
        elif isinstance(argument, PointerTable):
            raw_bytes = _scalar(index, np.uint64(mapper.table(index, argument.pack(address))), variable)
        elif isinstance(argument, Struct):
            raw_bytes = _scalar(index, argument.pack(address), variable)
        else:
            raw_bytes = _scalar(index, argument, variable)
        data[offset : offset + len(raw_bytes)] = raw_bytes
    addresses = tuple(mapper.address(None, array) for array in further)
    return bytes(data), tuple(mapper.mapped), addresses


class _Mapper:
    """Gives the arrays of a launch their addresses. An array that comes twice has one address."""

    def __init__(self, memory: Allocations, arrays: Sequence[Any]) -> None:
        self.mapped: list[Mapped] = []
        self._memory = memory
        self._spans = _overlapping(arrays)
        self._bases: dict[int, int] = {}

    def address(self, index: int | None, array: Any) -> int:
        """The address of an array of the argument ``index``, or of a variable (None); the handle of a texture."""
        if isinstance(array, TextureImage):
            _bytes(index, array.array)
            return self._memory.handle(array)
        raw = _bytes(index, array)
        first = array.ctypes.data
        span = next((s for s in self._spans if s.first <= first and first + array.nbytes <= s.end), None)
        start = span.first if span and array.nbytes else first
        key = start if array.nbytes else -1 - id(array)
        if key not in self._bases:
            self._bases[key] = self._memory.add(
                span.data() if span and array.nbytes else raw,
                name=_name(index),
                index=index,
                itemsize=array.dtype.itemsize,
                offset=max(0, offset_in_owner(array) + start - first) if array.nbytes else 0,
                writeable=span.writeable if span else array.flags.writeable,
            )
        offset = first - start if array.nbytes else 0
        base = self._bases[key] + offset
        if index is not None:
            view = ArgumentView(index, offset, array.nbytes, array.dtype.itemsize)
            self._memory.add_view(self._bases[key], view)
            self.mapped.append(Mapped(index, base, array.nbytes, array.dtype.name))
        return base

    def table(self, index: int, addresses: bytes) -> int:
        """The address of a table of addresses."""
        data = np.frombuffer(bytearray(addresses), np.uint8)
        return self._memory.add(data, name=f"the pointers of argument {index}", itemsize=_POINTER_BYTES)


def _name(index: int | None) -> str:
    return "an array that a variable points to" if index is None else f"argument {index}"


@dataclass(frozen=True)
class _Span:
    """Memory of the host that overlapping arrays share: the addresses, and whether any of the arrays may be written."""

    first: int
    end: int
    writeable: bool

    def data(self) -> np.ndarray:
        """The bytes. The arrays keep the memory alive."""
        return np.ctypeslib.as_array((ctypes.c_uint8 * (self.end - self.first)).from_address(self.first))


def _overlapping(arrays: Sequence[np.ndarray]) -> list[_Span]:
    """The memory of arrays that overlap without being the same: their addresses must overlap, too."""
    contiguous = [a for a in arrays if isinstance(a, np.ndarray) and a.nbytes and a.flags.c_contiguous]
    ends = {(a.ctypes.data, a.ctypes.data + a.nbytes): False for a in contiguous}
    for a in contiguous:
        ends[a.ctypes.data, a.ctypes.data + a.nbytes] |= a.flags.writeable
    spans: list[tuple[_Span, int]] = []
    for (first, end), writeable in sorted(ends.items()):
        if spans and first < spans[-1][0].end:
            before, count = spans[-1]
            spans[-1] = (_Span(before.first, max(before.end, end), before.writeable or writeable), count + 1)
        else:
            spans.append((_Span(first, end, writeable), 1))
    return [span for span, count in spans if count > 1]


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
    """A struct of eight bytes may be a pointer alone, as tensors of CuTe DSL are whose shape is fixed."""
    if variable.size != _POINTER_BYTES or variable.type not in ("u64", "b64", "s64", "b8"):
        raise TypeError(
            f"argument {index} is an array of {array.dtype}, but the parameter is {_shown(variable)}: pass a scalar"
        )


def _bytes(index: int | None, array: np.ndarray) -> np.ndarray:
    """The array's memory."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{_name(index)} is on a GPU, and the launch runs in the emulator: pass NumPy arrays alone")
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(
            f"{_name(index)} is a masked array, and a kernel sees no mask: pass x.filled(value), or x.data for all "
            "elements"
        )
    array = np.asarray(array)  # a numpy.matrix cannot have one dimension
    if array.dtype.hasobject:
        raise TypeError(f"{_name(index)} is an array of Python objects: pass an array of numbers")
    if not array.flags.c_contiguous:
        raise ValueError(
            f"{_name(index)} of shape {array.shape} and strides {array.strides} is not C-contiguous: a kernel gets a "
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
            "numpy.void of a structured dtype, bytes, or a softlab.cuda.structs.Struct"
        )
    if isinstance(value, bool | int):
        if dtype.kind == "f":
            return _float(takes, value, dtype)
        bits = dtype.itemsize * 8
        if not -(1 << bits - 1) <= value < 1 << bits:
            raise ValueError(f"{takes}, and {_shown_number(value)} does not fit in {bits} bits")
        _check_type_is_known(takes, variable)
        return (value & (1 << bits) - 1).to_bytes(dtype.itemsize, "little")
    if isinstance(value, float):
        if dtype.kind == "f":
            return _float(takes, value, dtype)
        _check_type_is_known(takes, variable)
        raise TypeError(f"{takes}, got the float {value!r}: pass an integer, or declare the parameter as a float")
    raise TypeError(
        f"{takes}, got {type(value).__module__}.{type(value).__qualname__}. Pass a NumPy array for a pointer, else a "
        "NumPy scalar, or a Python int or float"
    )


def _check_type_is_known(takes: str, variable: Variable) -> None:
    """A Python number needs a C type. Newer compilers declare parameters by their size alone."""
    if variable.type in ("b32", "b64"):
        bits = 4 if variable.type == "b32" else 8
        raise TypeError(
            f"{takes}, and its C type is not known. Pass numpy.int{8 * bits} or numpy.float{8 * bits}, whichever it is"
        )


def _float(takes: str, value: float, dtype: np.dtype) -> bytes:
    """A Python number as a float of that type: rounded, but never infinite unless it was."""
    try:
        with np.errstate(over="ignore"):
            converted = np.array(float(value)).astype(dtype)
    except OverflowError:
        converted = np.array(np.inf)
    if np.isinf(converted) and value not in (np.inf, -np.inf):
        raise ValueError(f"{takes}, and {_shown_number(value)} is beyond the largest {dtype.name}")
    return converted.tobytes()


def _shown_number(value: float) -> str:
    """The number for a message: Python refuses to write integers of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    return str(value)


def _numpy_scalar(takes: str, value: np.generic, variable: Variable) -> bytes:
    floating = value.dtype.kind == "f"
    wants_float = variable.type in ("f16", "f32", "f64")
    untyped = variable.type in ("b8", "b16", "b32", "b64")
    if value.nbytes != variable.size or (not untyped and floating != wants_float):
        raise TypeError(
            f"{takes}, got numpy.{value.dtype.name} ({value.nbytes} bytes). Pass a scalar of the parameter's type"
        )
    return value.tobytes()
