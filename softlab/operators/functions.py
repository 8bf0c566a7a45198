"""softmax, log_softmax, their gradients, and their traces (:func:`trace`).

The kernel runs on the GPU for an array in a GPU's memory, and the array stays there. For every other array it runs in
the emulator, through NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from softlab.cuda.exchange import type_name
from softlab.dtypes import element_type
from softlab.operators import prepared
from softlab.operators.executors import arguments, emulate
from softlab.operators.rows import Launcher, OperatorCall, Result, apply
from softlab.plans import Plan
from softlab.plans.planner import OPERATORS
from softlab.traces import Trace

_GRADIENT_INPUTS = ("dy", "y")


def softmax(
    x: Any,
    axis: int = -1,
    *,
    dtype: Any = None,
    out: Any = None,
    policy: str | None = None,
    device: Any = None,
) -> Any:
    """exp(x - max) / sum(exp(x - max)) along one axis.

    >>> softlab.softmax(np.float32([[1, 2, 3]]))
    array([[0.09003057, 0.24472847, 0.66524094]], dtype=float32)

    Arguments:
        x: float16, bfloat16, float32 or float64, of any shape and strides. The emulator runs NumPy arrays, whatever
            ``numpy.asarray`` takes, and PyTorch's and JAX's arrays on the host. A GPU runs the CuPy arrays in its
            memory, and CUDA arrays with DLPack or ``__cuda_array_interface__`` (PyTorch, JAX), on its current stream.
        axis: the axis; negative ones count from the end.
        dtype: x is cast to it first, and the result has it; x may then have an integer type. None: x's own.
        out: an array of x's library, on x's device, of the result's shape and dtype, that takes the result. It may have
            any strides and may overlap x, or be x.
        policy: "fast", the fastest kernels; "oneflow", the reference design; "invariant", kernels that give a row the
            same bits wherever it stands: in any batch, at any address, on any GPU and in the emulator. None: "fast" on
            a GPU, else "oneflow".
        device: plan (and, for NumPy, emulate) for this GPU: a name, an architecture or a ``Device``. None: the GPU
            present, else "H200".

    Returns:
        An array of x's library, C-contiguous, or ``out``. A row with NaN or +inf, or with -inf alone, becomes NaN.

    Raises:
        TypeError: a dtype that is not one of the four; ``out`` of another library or dtype, in another kind of memory,
            or a JAX array, which nothing can write; a masked array; a PyTorch tensor that requires a gradient
            (``softlab.torch`` takes those).
        ValueError: ``axis`` out of range; ``out`` of another shape, read-only, on another GPU, or with several elements
            at one address; an unknown policy or device.
    """
    ready = prepared.try_launch("softmax", (x,), axis, dtype, out, policy, device)
    if ready is not None:
        return ready
    return apply(OperatorCall("softmax", axis, dtype, out, policy, device), (x,)).output


def log_softmax(
    x: Any,
    axis: int = -1,
    *,
    dtype: Any = None,
    out: Any = None,
    policy: str | None = None,
    device: Any = None,
) -> Any:
    """(x - max) - log(sum(exp(x - max))) along one axis: not the logarithm of a softmax, which may have become 0.

    Arguments, result and errors are those of :func:`softmax`.
    """
    ready = prepared.try_launch("log_softmax", (x,), axis, dtype, out, policy, device)
    if ready is not None:
        return ready
    return apply(OperatorCall("log_softmax", axis, dtype, out, policy, device), (x,)).output


def softmax_backward(
    dy: Any,
    y: Any,
    axis: int = -1,
    *,
    dtype: Any = None,
    out: Any = None,
    policy: str | None = None,
    device: Any = None,
) -> Any:
    """dx = (dy - sum(y * dy)) * y along one axis: the gradient of :func:`softmax`.

    >>> softlab.softmax_backward(np.float32([[1, 0]]), np.float32([[0.5, 0.5]]))
    array([[ 0.25, -0.25]], dtype=float32)

    Arguments:
        dy: the gradient of the loss with respect to the result.
        y: the result of :func:`softmax` along that axis, of dy's shape and library, on its device, and of its dtype
            unless ``dtype`` casts both.
        out: takes the result. It may be dy or y, or overlap them.
        axis, dtype, policy, device: as for :func:`softmax`.

    Returns:
        The gradient with respect to x, an array of dy's library, C-contiguous; or ``out``.

    Raises:
        TypeError, ValueError: as :func:`softmax`; TypeError for a dy and y of two dtypes or libraries, ValueError for
            two shapes or GPUs.
    """
    ready = prepared.try_launch("softmax_backward", (dy, y), axis, dtype, out, policy, device)
    if ready is not None:
        return ready
    return apply(OperatorCall("softmax_backward", axis, dtype, out, policy, device, _GRADIENT_INPUTS), (dy, y)).output


def log_softmax_backward(
    dy: Any,
    y: Any,
    axis: int = -1,
    *,
    dtype: Any = None,
    out: Any = None,
    policy: str | None = None,
    device: Any = None,
) -> Any:
    """dx = dy - exp(y) * sum(dy) along one axis: the gradient of :func:`log_softmax`, with its result y.

    Arguments, result and errors are those of :func:`softmax_backward`.
    """
    ready = prepared.try_launch("log_softmax_backward", (dy, y), axis, dtype, out, policy, device)
    if ready is not None:
        return ready
    return apply(
        OperatorCall("log_softmax_backward", axis, dtype, out, policy, device, _GRADIENT_INPUTS), (dy, y)
    ).output


def trace(x: Any, axis: int = -1, *, op: str = "softmax", policy: str = "oneflow", device: Any = None) -> Trace:
    """Run an operator in the emulator and record what it does.

    Arguments:
        x: as for :func:`softmax`, but not on a GPU; for a gradient the tuple (dy, y).
        axis, device: as for :func:`softmax`.
        policy: "oneflow", which gives the kernels and every bit of the operator on host arrays; "fast"; or
            "invariant".
        op: "softmax", "log_softmax", "softmax_backward" or "log_softmax_backward".

    Returns:
        ``.output`` (the operator's result), ``.plan``, ``.counters``, ``.by_line()`` and the recorded accesses.

    Raises:
        TypeError, ValueError: as the operator; ValueError for an unknown operator or an x without elements.
    """
    if op not in OPERATORS:
        raise ValueError(f"op {op!r} is not one of {', '.join(OPERATORS)}")
    backward = OPERATORS[op].backward
    if backward and not (isinstance(x, tuple) and len(x) == 2):
        raise TypeError(f"{op} is traced with x = (dy, y), a tuple of two arrays, not {type_name(x)}")
    inputs, names = (x, _GRADIENT_INPUTS) if backward else ((x,), ("x",))
    call = OperatorCall(op, axis, None, None, policy, device, names)
    return traced(apply(call, inputs, launcher=Launcher(record=True)))


def traced(result: Result) -> Trace:
    """The trace of a result that was recorded.

    Raises:
        ValueError: no kernel was launched.
    """
    if result.run is None:
        raise ValueError(f"nothing to trace: x has the shape {tuple(result.output.shape)}, so no kernel is launched")
    return Trace(output=result.output, plan=result.plan, run=result.run)


def trace_plan(plan: Plan, *inputs: Any) -> Trace:
    """Run a plan in the emulator, such as one with choices of your own (:func:`softlab.forced`).

    Arguments:
        plan: one that launches something.
        inputs: x, or dy and y for a gradient: (rows, cols) of the plan, in host memory; cast to the plan's dtype.

    Raises:
        ValueError: another number of inputs or another shape than the plan's, or the plan launches nothing.
    """
    wanted = 2 if OPERATORS[plan.op].backward else 1
    if len(inputs) != wanted:
        raise ValueError(f"{plan.op} takes {wanted} input(s), got {len(inputs)}")
    sources = [np.ascontiguousarray(x, dtype=element_type(plan.dtype).numpy) for x in inputs]
    for source in sources:
        if source.shape != (plan.rows, plan.cols) or not plan.grid:
            raise ValueError(
                f"x has the shape {source.shape}, the plan is for {(plan.rows, plan.cols)} and {plan.grid} blocks"
            )
    target = np.empty_like(sources[0])
    return Trace(output=target, plan=plan, run=emulate(plan, arguments(plan, sources, target), record=True))
