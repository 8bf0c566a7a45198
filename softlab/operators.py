"""softmax, log_softmax and their traces: checks, the axis, and which executor runs the plan.

An array in memory of a CUDA GPU runs on that GPU and stays there; everything else runs in the emulator, through NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from operator import index
from typing import Any

import numpy as np

from softlab import gpu, plans
from softlab.compile import Program, compile_program, kernel_sources
from softlab.devices import Device, resolve
from softlab.dtypes import ELEMENT_TYPES, ElementType, element_type
from softlab.kernel import Kernel
from softlab.plans import Plan, Step
from softlab.traces import Run, Trace

_FORWARD = ("softmax", "log_softmax")


def softmax(
    x: Any,
    axis: int = -1,
    *,
    dtype: Any = None,
    out: Any = None,
    policy: str = "oneflow",
    device: Any = None,
) -> Any:
    """exp(x - max) / sum(exp(x - max)) along one axis.

    >>> softlab.softmax(np.float32([[1, 2, 3]]))
    array([[0.09003057, 0.24472847, 0.66524094]], dtype=float32)

    Arguments:
        x: float16, bfloat16, float32 or float64, of any shape and strides. NumPy arrays, and what ``numpy.asarray``
            makes an array of, run in the emulator. CuPy arrays, and CUDA arrays with DLPack or
            ``__cuda_array_interface__`` (PyTorch, JAX), run on their GPU, on the stream that is current there.
        axis: the axis; negative ones count from the end.
        dtype: x is cast to it first, and the result has it; x may then be of an integer type. None: x's own.
        out: an array of x's library, of the result's shape and dtype, that takes the result. It may be x.
        policy: "oneflow", the reference design.
        device: the GPU to plan (and, for NumPy, to emulate) for: a name, an architecture or a ``Device``. None: the GPU
            present, else "H200".

    Returns:
        An array of x's library, C-contiguous, or ``out``. A row with NaN or +inf, or with nothing but -inf, is NaN.

    Raises:
        TypeError: a dtype that is not one of the four; ``out`` of another library or dtype.
        ValueError: ``axis`` out of range, ``out`` of another shape or read-only, an unknown policy or device.
    """
    return _apply(_Request("softmax", axis, dtype, out, policy, device), x)


def log_softmax(
    x: Any,
    axis: int = -1,
    *,
    dtype: Any = None,
    out: Any = None,
    policy: str = "oneflow",
    device: Any = None,
) -> Any:
    """(x - max) - log(sum(exp(x - max))) along one axis: never the logarithm of a softmax that has become 0.

    Arguments, result and errors are those of :func:`softmax`.
    """
    return _apply(_Request("log_softmax", axis, dtype, out, policy, device), x)


def trace(x: Any, axis: int = -1, *, op: str = "softmax", policy: str = "oneflow", device: Any = None) -> Trace:
    """Run an operator in the emulator and keep what it did.

    Arguments:
        x, axis, policy, device: as for :func:`softmax`; x is not on a GPU.
        op: "softmax" or "log_softmax".

    Returns:
        ``.output`` (the operator's result), ``.plan``, ``.counters``, ``.by_line()`` and the recorded accesses.

    Raises:
        TypeError, ValueError: as :func:`softmax`; ValueError for an unknown operator or an x without elements.
    """
    if op not in _FORWARD:
        raise ValueError(f"op {op!r} is not one of {', '.join(_FORWARD)}")
    if gpu.is_cuda_array(x):
        raise TypeError(
            f"a trace runs in the emulator and takes NumPy arrays; this {_kind(x)} is on a GPU. Copy it to the host "
            "first (CuPy: x.get(), PyTorch: x.cpu().numpy())."
        )
    done = _compute(_Request(op, axis, None, None, policy, device), _host_array(x), np, _traced)
    if done.run is None:
        raise ValueError(f"nothing to trace: x has the shape {done.output.shape}, so no kernel is launched")
    return Trace(output=done.output, plan=done.plan, run=done.run)


def trace_plan(plan: Plan, x: Any) -> Trace:
    """Run a plan in the emulator, such as one with choices of your own (``softlab.plans.forced``).

    Arguments:
        plan: of a forward operator; it launches something.
        x: (rows, cols) of the plan, in host memory; it is cast to the plan's dtype.

    Raises:
        ValueError: x has another shape than the plan, or the plan launches nothing.
    """
    source = np.ascontiguousarray(x, dtype=element_type(plan.dtype).numpy)
    if source.shape != (plan.rows, plan.cols) or not plan.grid:
        raise ValueError(
            f"x has the shape {source.shape}, the plan is for {(plan.rows, plan.cols)} and {plan.grid} blocks"
        )
    target = np.empty_like(source)
    return Trace(output=target, plan=plan, run=_traced(plan, source, target))


@dataclass(frozen=True)
class _Request:
    """What the caller asked for, but the array."""

    op: str
    axis: Any
    dtype: Any
    out: Any
    policy: str
    device: Any


@dataclass(frozen=True)
class _Done:
    """An operator's result; ``run`` is None where no kernel ran or nothing was recorded."""

    output: Any
    plan: Plan
    run: Run | None


#: Runs a plan on two C-contiguous (rows, cols) arrays: input, output.
_Executor = Callable[[Plan, Any, Any], Run | None]


def _apply(request: _Request, x: Any) -> Any:
    if not gpu.is_cuda_array(x):
        if request.out is not None and not isinstance(request.out, np.ndarray):
            raise TypeError(f"out is a {_kind(request.out)}, but x is in host memory: give a NumPy array")
        return _compute(request, _host_array(x), np, _emulated).output
    import cupy

    if request.out is not None and not gpu.is_cuda_array(request.out):
        raise TypeError(f"out is a {_kind(request.out)}, but x is on a GPU: give an array of x's library on that GPU")
    with gpu.working_place(x):
        out = None if request.out is None else gpu.as_cupy(request.out)
        done = _compute(replace(request, out=out), gpu.as_cupy(x), cupy, _launched)
        return gpu.give_back(done.output, x) if request.out is None else request.out


def _compute(request: _Request, x: Any, xp: Any, execute: _Executor) -> _Done:
    """The operator on an array of ``xp``, NumPy or CuPy: the row's axis goes last, the kernel runs, it goes back."""
    element = _result_type(x.dtype, request.dtype)
    axis = _axis(request.axis, x.ndim)
    out = request.out
    _check_out(out, x, element)

    turned = x.reshape(1, 1) if x.ndim == 0 else x.swapaxes(axis, -1)
    cols = turned.shape[-1]
    rows = prod(turned.shape[:-1])
    problem = (rows, cols, element.name, request.op, request.policy, resolve(request.device))
    plan = _plan(*problem)
    if not plan.grid:
        return _Done(xp.empty(x.shape, element.numpy) if out is None else out, plan, None)

    source = xp.ascontiguousarray(turned, dtype=element.numpy).reshape(rows, cols)
    in_place = out is not None and axis == x.ndim - 1 and out.flags.c_contiguous and _separate_or_same(out, source, xp)
    target = out.reshape(rows, cols) if in_place else xp.empty((rows, cols), element.numpy)
    if not (_aligned(source, plan) and _aligned(target, plan)):
        plan = _plan_without_packs(*problem)
    run = execute(plan, source, target)

    result = target.reshape(turned.shape)
    result = result.reshape(()) if x.ndim == 0 else xp.ascontiguousarray(result.swapaxes(axis, -1))
    if out is None:
        return _Done(result, plan, run)
    if not in_place:
        out[...] = result
    return _Done(out, plan, run)


def _host_array(x: Any) -> np.ndarray:
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("masked arrays are not supported: fill the masked places first, with x.filled(-numpy.inf)")
    return np.asarray(x)


def _result_type(given: np.dtype, dtype: Any) -> ElementType:
    if dtype is None:
        return element_type(given)
    if given.kind not in "biuf" and given.name not in ELEMENT_TYPES:
        raise TypeError(f"x of dtype {given.name} cannot be cast to {dtype}: give real numbers")
    return element_type(dtype)


def _axis(axis: Any, ndim: int) -> int:
    """The axis counted from 0; a 0-dimensional array has the axis 0, as in the reference."""
    try:
        number = index(axis)
    except TypeError:
        raise TypeError(f"axis must be an integer, not {axis!r}") from None
    dimensions = max(ndim, 1)
    if not -dimensions <= number < dimensions:
        raise np.exceptions.AxisError(
            f"axis {number} is out of range: x has {ndim} dimensions, so take {-dimensions} to {dimensions - 1}"
        )
    return number % dimensions


def _check_out(out: Any, x: Any, element: ElementType) -> None:
    if out is None:
        return
    if out.dtype != element.numpy:
        raise TypeError(f"out has dtype {out.dtype}, the result {element.name}: give an array of that dtype")
    if out.shape != x.shape:
        raise ValueError(f"out has shape {out.shape}, the result {x.shape}: give an array of that shape")
    if not getattr(out.flags, "writeable", True):
        raise ValueError("out is read-only: give an array that can be written")


def _separate_or_same(out: Any, source: Any, xp: Any) -> bool:
    """Whether a kernel may write ``out`` while it reads ``source``.

    Each element is written by the thread that read it last, so both may be the same memory, but not shifted.
    """
    return _pointer(out) == _pointer(source) or not xp.may_share_memory(out, source)


def _aligned(array: Any, plan: Plan) -> bool:
    """Whether the first element lies at a multiple of a pack's bytes.

    For NumPy it does: the emulator's memory is a GPU's, where an array copied from the host starts a new allocation.
    """
    return isinstance(array, np.ndarray) or _pointer(array) % (plan.pack_size * array.dtype.itemsize) == 0


def _pointer(array: Any) -> int:
    return array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr


def _kind(x: Any) -> str:
    return f"{type(x).__module__}.{type(x).__qualname__}"


@lru_cache(maxsize=1024)
def _plan(rows: int, cols: int, dtype: str, op: str, policy: str, device: Device) -> Plan:
    return plans.plan(rows, cols, dtype, op=op, policy=policy, device=device)


@lru_cache(maxsize=64)
def _plan_without_packs(rows: int, cols: int, dtype: str, op: str, policy: str, device: Device) -> Plan:
    """The plan with packs of one element: what the reference has no case for, and faults on."""
    plan = plans.forced(rows, cols, dtype, pack_size=1, op=op, policy=policy, device=device)
    step = Step("Do the arrays start at a multiple of a pack?", {}, False, "else packs of 1 element")
    return replace(plan, steps=(step, *plan.steps))


@lru_cache(maxsize=256)
def _program(file: str, name: str, arch: str, options: tuple[str, ...]) -> Program:
    return compile_program(kernel_sources()[file], name, arch=arch, options=options, file=file)


@lru_cache(maxsize=64)
def _kernel(program: Program) -> Kernel:
    return Kernel.from_program(program)


def _launched(plan: Plan, source: Any, target: Any) -> None:
    program = _program(plan.file, plan.name, plan.arch, plan.options)
    args = (source, target, np.int64(plan.rows), np.int64(plan.cols))
    gpu.launch(program, (plan.grid, 1, 1), (*plan.block, 1), args, plan.smem_bytes)


def _emulated(plan: Plan, source: np.ndarray, target: np.ndarray) -> None:
    _run(plan, source, target, record=False)


def _traced(plan: Plan, source: np.ndarray, target: np.ndarray) -> Run:
    return _run(plan, source, target, record=True)


def _run(plan: Plan, source: np.ndarray, target: np.ndarray, *, record: bool) -> Run:
    kernel = _kernel(_program(plan.file, plan.name, plan.arch, plan.options))
    args = (source, target, np.int64(plan.rows), np.int64(plan.cols))
    return kernel.run(plan.grid, plan.block, args, smem=plan.smem_bytes, check=False, record=record)
