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

from softlab import arrays, gpu, rows
from softlab.devices import Device, resolve
from softlab.dispatches import OPERATORS
from softlab.dtypes import element_type
from softlab.errors import Error
from softlab.executors import program_of

#: The widest access of a thread in bytes: beyond it alignment makes no difference.
_WIDEST = 16

#: (op, inputs, axis, out, policy, device) -> result, or None where rows.apply is to be asked.
_Way = Callable[[str, tuple[Any, ...], int, Any, Any, Any], Any]

# The two ways are written for speed: a call, a tuple or an attribute more is a tenth of a microsecond of every call.


def _cupy(array: Any) -> _Way:
    import cupy
    from cupy.cuda import runtime

    current_stream = cupy.cuda.get_current_stream
    several = runtime.getDeviceCount() > 1

    def launch(op: str, inputs: tuple[Any, ...], axis: int, out: Any, policy: Any, device: Any) -> Any:
        first = inputs[0]
        shape, dtype = first.shape, first.dtype
        bits = first.data.ptr
        pointers = [bits]
        if not first._c_contiguous:  # `flags` would say the same, but makes an object first
            return None
        if len(inputs) > 1:
            for x in inputs[1:]:
                if type(x) is not array or x.shape != shape or x.dtype is not dtype or not x._c_contiguous:
                    return None
                pointers.append(x.data.ptr)
                bits |= pointers[-1]
        if out is not None:
            if type(out) is not array or out.shape != shape or out.dtype is not dtype or not out._c_contiguous:
                return None
            target = out.data.ptr
            bits |= target
        place = 0
        if several:
            place = runtime.getDevice()
            if any(x.data.device_id != place for x in (*inputs, first if out is None else out)):
                return None
        ready = _prepare(op, shape, dtype, place, bits % _WIDEST, axis, policy, device)
        if ready is None:
            return None
        if out is None:
            out = array(shape, dtype)
            target = out.data.ptr
        else:
            nbytes = ready.nbytes
            for pointer in pointers:  # out may be an input, but not a shifted one
                if pointer != target and -nbytes < pointer - target < nbytes:
                    return None
        pointers.append(target)
        ready.launch(current_stream(place).ptr, pointers)
        return out

    return launch


def _torch(array: Any) -> _Way:
    import torch
    from cupy.cuda import runtime

    # Without the object that `torch.cuda.current_stream` makes around the handle; Triton asks for it in this way, too.
    handle = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    handle = handle or (lambda place: torch.cuda.current_stream(place).cuda_stream)

    def launch(op: str, inputs: tuple[Any, ...], axis: int, out: Any, policy: Any, device: Any) -> Any:
        first = inputs[0]
        shape, dtype, place = first.shape, first.dtype, first.get_device()
        pointers, pointer, bits = [], 0, 0
        for x in inputs if out is None else (*inputs, out):
            if type(x) is not array or x.shape != shape or x.dtype is not dtype or not x.is_contiguous():
                return None
            if x.get_device() != place or x.requires_grad or x.is_neg():
                return None
            pointer = x.data_ptr()
            pointers.append(pointer)
            bits |= pointer
        if place != runtime.getDevice():
            return None
        ready = _prepare(op, shape, dtype, place, bits % _WIDEST, axis, policy, device)
        if ready is None:
            return None
        if out is None:
            out = torch.empty_like(first)
            pointers.append(out.data_ptr())
        else:
            nbytes = ready.nbytes
            for other in pointers:
                if other != pointer and -nbytes < other - pointer < nbytes:
                    return None
        ready.launch(handle(place), pointers)
        return out

    return launch


#: The array type in full -> the way of its library.
_WAYS = MappingProxyType({"cupy.ndarray": _cupy, "torch.Tensor": _torch})


@lru_cache(maxsize=64)
def _way(array: Any) -> _Way | None:
    """The way of an array type; None where it is not known, or there is no GPU."""
    make = _WAYS.get(f"{array.__module__}.{array.__qualname__}")
    return make(array) if make and Device.present() else None


def run(op: str, inputs: tuple[Any, ...], axis: Any, dtype: Any, out: Any, policy: Any, device: Any) -> Any:
    """The operator's result, or None where :func:`softlab.rows.apply` is to be asked."""
    array: Any = type(inputs[0])
    way = _way(array)
    if way is None or dtype is not None or type(axis) is not int:  # 1.0 and True hash as 1 does
        return None
    try:
        return way(op, inputs, axis, out, policy, device)
    except (Error, TypeError, ValueError, RuntimeError):  # rows.apply finds it too, and has the words for it
        return None


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A launch for arrays of ``nbytes`` each: (stream, pointers) -> None."""

    launch: Callable[[int, Sequence[int]], None]
    nbytes: int


@lru_cache(maxsize=1024)
def _prepare(
    op: str, shape: Sequence[int], dtype: Any, place: int, bits: int, axis: int, policy: Any, device: Any
) -> _Prepared | None:
    """A launch for an operator's inputs and an output, all C-contiguous; None where rows.apply is needed.

    ``dtype`` is the library's own; ``place`` the arrays' GPU, the current one; ``bits`` their pointers' lowest ones
    (their or, modulo 16); ``policy`` may be None, which so costs a call no more than a name does.
    """
    element = element_type(dtype)
    if not prod(shape) or arrays.axis_of(axis, len(shape)) < len(shape) - 1:
        return None
    cols = shape[-1] if shape else 1
    policy = rows.policy_of(policy, on_gpu=True)
    problem = rows.Problem(prod(shape) // cols, cols, element.name, op, policy, resolve(device))
    plan = rows.planned(problem, False)
    if bits % (plan.pack_size * element.itemsize):
        plan = rows.planned(problem, True)
    grid, block, integers = (plan.grid, 1, 1), (*plan.block, 1), (plan.rows, plan.cols)
    pointers = (2 if OPERATORS[op].backward else 1) + 1
    launch = gpu.launcher(
        program_of(plan),
        grid,
        block,
        plan.smem_bytes,
        pointers,
        integers,
        place,
        cooperative=plan.cooperative,
        workspace_bytes=plan.workspace_bytes,
    )
    return _Prepared(launch, prod(shape) * element.itemsize)
