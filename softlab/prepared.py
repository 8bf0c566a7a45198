"""Launches that are ready: for arrays like those of an earlier call, all that is left is to hand over the pointers.

For a small array the way through :mod:`softlab.rows` takes longer than the kernel. What it finds out hangs on the
arrays' shapes, strides, dtypes, devices and alignment alone, so it is kept, in a cache of bounded size, for arrays that
need no copy: C-contiguous, of the result's dtype, with the last axis. All other calls, wrong ones among them, are left
to :mod:`softlab.rows`, which knows the errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from softlab import arrays, gpu, rows
from softlab.devices import resolve
from softlab.dtypes import element_type
from softlab.errors import Error
from softlab.executors import program_of

#: The widest access of a thread in bytes: beyond it alignment makes no difference.
_WIDEST = 16


@dataclass(frozen=True, eq=False)
class _Library:
    """What a launch has to know of a library's arrays, as cheaply as the library tells it.

    describe: array -> (pointer, (shape, strides, dtype, device, pointer modulo 16)); TypeError for an array that is
    more than its memory.
    unit: bytes of an element -> the stride from one to the next.
    numpy_dtype: a dtype of the library -> NumPy's.
    empty: array -> a new one of its shape and dtype, C-contiguous.
    device, stream: the current device, and the handle of the current stream there.
    """

    describe: Callable[[Any], tuple[int, tuple[Any, ...]]]
    unit: Callable[[int], int]
    numpy_dtype: Callable[[Any], np.dtype]
    empty: Callable[[Any], Any]
    device: Callable[[], int]
    stream: Callable[[int], int]


def _cupy() -> _Library:
    import cupy

    def describe(x: Any) -> tuple[int, tuple[Any, ...]]:
        memory = x.data
        pointer = memory.ptr
        return pointer, (x.shape, x.strides, x.dtype, memory.device_id, pointer % _WIDEST)

    current_stream = cupy.cuda.get_current_stream
    return _Library(
        describe=describe,
        unit=lambda itemsize: itemsize,
        numpy_dtype=lambda dtype: dtype,
        empty=lambda x: cupy.ndarray(x.shape, x.dtype),
        device=cupy.cuda.runtime.getDevice,
        stream=lambda device: current_stream().ptr,
    )


def _torch() -> _Library:
    import cupy
    import torch

    def describe(x: Any) -> tuple[int, tuple[Any, ...]]:
        if x.requires_grad or x.is_neg():
            raise TypeError
        pointer = x.data_ptr()
        return pointer, (x.shape, x.stride(), x.dtype, x.get_device(), pointer % _WIDEST)

    current_stream = torch.cuda.current_stream
    return _Library(
        describe=describe,
        unit=lambda itemsize: 1,
        numpy_dtype=lambda dtype: element_type(str(dtype).removeprefix("torch.")).numpy,
        empty=lambda x: torch.empty(x.shape, dtype=x.dtype, device=x.device),
        device=cupy.cuda.runtime.getDevice,
        stream=lambda device: current_stream(device).cuda_stream,
    )


#: The array type in full -> what to know of its library.
_LIBRARIES = MappingProxyType({"cupy.ndarray": _cupy, "torch.Tensor": _torch})


@lru_cache(maxsize=64)
def _library(array: Any) -> _Library | None:
    make = _LIBRARIES.get(f"{array.__module__}.{array.__qualname__}")
    return make() if make else None


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A launch for arrays of ``nbytes`` each."""

    launcher: gpu.Launcher
    nbytes: int


def run(op: str, inputs: Sequence[Any], axis: Any, dtype: Any, out: Any, policy: Any, device: Any) -> Any:
    """The operator's result, or None where :func:`softlab.rows.apply` is to be asked."""
    array: Any = type(inputs[0])
    library = _library(array)
    if library is None:
        return None
    describe = library.describe
    pointers, keys = [], []
    try:
        for x in inputs if out is None else (*inputs, out):
            if type(x) is not array:
                return None
            pointer, key = describe(x)
            pointers.append(pointer)
            keys.append(key)
        current = library.device()
        prepared = _prepare(library, op, len(inputs), tuple(keys), axis, dtype, policy, device, current)
    except (Error, TypeError, ValueError, RuntimeError):  # rows.apply knows what to say
        return None
    if prepared is None:
        return None
    if out is None:
        out = library.empty(inputs[0])
        pointers.append(describe(out)[0])
    else:
        target = pointers[-1]
        for pointer in pointers:
            if pointer != target and abs(pointer - target) < prepared.nbytes:
                return None
    prepared.launcher(library.stream(current), pointers)
    return out


@lru_cache(maxsize=1024, typed=True)  # typed: an axis of 1.0 is not one of 1
def _prepare(
    library: _Library,
    op: str,
    inputs: int,
    keys: tuple[tuple[Any, ...], ...],
    axis: Any,
    dtype: Any,
    policy: Any,
    device: Any,
    current: int,
) -> _Prepared | None:
    """A launch for so many inputs (and ``out``, if there is one key more); None where rows.apply is needed."""
    shape, _, given, _, _ = keys[0]
    element = arrays.result_type(library.numpy_dtype(given), dtype)
    last = len(shape) - 1
    if not prod(shape) or element.numpy != library.numpy_dtype(given) or arrays.axis_of(axis, len(shape)) < last:
        return None
    plain = _contiguous_strides(shape, library.unit(element.itemsize))
    for other_shape, strides, other_dtype, place, _ in keys:
        if (other_shape, other_dtype, place) != (shape, given, current):
            return None
        if any(a != b and size != 1 for a, b, size in zip(strides, plain, shape, strict=True)):
            return None
    cols = shape[-1] if shape else 1
    problem = rows.Problem(prod(shape) // cols, cols, element.name, op, policy, resolve(device))
    plan = rows.planned(problem, False)
    if any(modulo % (plan.pack_size * element.itemsize) for *_, modulo in keys):
        plan = rows.planned(problem, True)
    grid, block, integers = (plan.grid, 1, 1), (*plan.block, 1), (plan.rows, plan.cols)
    launcher = gpu.Launcher(program_of(plan), grid, block, plan.smem_bytes, inputs + 1, integers, current)
    return _Prepared(launcher, prod(shape) * element.itemsize)


def _contiguous_strides(shape: Sequence[int], unit: int) -> tuple[int, ...]:
    strides = []
    for size in reversed(shape):
        strides.append(unit)
        unit *= size
    return tuple(reversed(strides))
