"""Softmax fused with what stands around it in attention: scale, bias, mask, causal mask, dropout; and the gradients.

Each is one launch of the kernel that the plain operator would take, with other loads and stores: nothing is written in
between. A temporary of x's size costs a write and a read of it; a scale fused costs nothing, a mask a byte an element.

    v = scale * x + bias                          what is None is left out
    v = fill      where mask is False, or beyond the causal diagonal
    y = softmax(v)                                or log_softmax
    z = y / (1 - dropout) or 0                    returned beside y where dropout > 0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from softlab import arrays, gpu, instantiations, resources
from softlab.dtypes import element_type
from softlab.executors import emulate, launch
from softlab.functors import Functor, Fusion
from softlab.fused_arguments import Fusing, Turn, as_array, checked_operand, fusion_of
from softlab.instantiations import Instantiation
from softlab.plans import Plan
from softlab.resources import Resources
from softlab.rows import Done, Method, Problem, Request, apply, planned
from softlab.traces import Run, Trace

__all__ = ["log_softmax", "log_softmax_backward", "plan", "softmax", "softmax_backward", "trace"]

#: The only one whose kernels take other loads and stores.
_POLICY = "oneflow"


def softmax(
    x: Any,
    axis: int = -1,
    *,
    scale: float | None = None,
    bias: Any = None,
    mask: Any = None,
    fill: float = -np.inf,
    causal: bool = False,
    diagonal: int = 0,
    dropout: float = 0.0,
    seed: int | None = None,
    dtype: Any = None,
    out: Any = None,
    policy: str | None = None,
    device: Any = None,
) -> Any:
    """softmax(scale * x + bias), masked, with dropout behind it: one kernel.

    >>> scores = np.float32([[1, 2, 3], [1, 2, 3], [1, 2, 3]])
    >>> softlab.fused.softmax(scores, scale=0.5, causal=True)
    array([[1.        , 0.        , 0.        ],
           [0.37754068, 0.62245935, 0.        ],
           [0.18632373, 0.3071959 , 0.5064804 ]], dtype=float32)

    Arguments:
        x, axis, dtype, out, device: as for :func:`softlab.softmax`.
        policy: None or "oneflow": the kernels of the policy "fast" take no other loads and stores.
        scale: a number that x is multiplied by.
        bias: an array that is added to scale * x: of x's library, in its place, of a shape that broadcasts to x's. It
            is cast to the result's dtype.
        mask: an array of bool or uint8, likewise: False (0) where an element is replaced by ``fill``.
        fill: what stands at masked places. With -inf the result is 0 there, and a row that is masked throughout is NaN.
        causal: of each matrix of the last two dimensions, row r keeps the columns up to r + ``diagonal``
            (``numpy.tril``'s k). The others are ``fill``, and most of them are not even read. ``axis`` is the last.
        dropout: the probability, from 0 to less than 1, with which an element of the result is dropped; what is kept is
            divided by 1 - dropout.
        seed: of dropout, an integer from 0 to 2**64 - 1. Element n of the result, counted with ``axis`` last, is
            dropped for the same seeds on every GPU and in the emulator (Philox4x32-10, counter n // 4, word n % 4).

    Returns:
        The softmax; where dropout > 0 the pair (softmax with dropout, softmax). ``out`` takes the first.

    Raises:
        TypeError, ValueError: as :func:`softlab.softmax`; a bias or mask of another dtype, library or place, or of a
            shape that does not broadcast to x's; a scale, fill, dropout or seed that is not what it must be.
    """
    request = Request("softmax", axis, dtype, out, policy, device)
    fusing = Fusing(scale, bias, mask, fill, causal, diagonal, dropout, seed)
    done = _forward(request, x, fusing)
    return (done.output, *done.further) if done.further else done.output


def log_softmax(
    x: Any,
    axis: int = -1,
    *,
    scale: float | None = None,
    bias: Any = None,
    mask: Any = None,
    fill: float = -np.inf,
    causal: bool = False,
    diagonal: int = 0,
    dtype: Any = None,
    out: Any = None,
    policy: str | None = None,
    device: Any = None,
) -> Any:
    """log_softmax(scale * x + bias), masked: one kernel. With fill -inf the result is -inf at masked places.

    Arguments, result and errors are those of :func:`softmax`; there is no dropout of logarithms.
    """
    request = Request("log_softmax", axis, dtype, out, policy, device)
    return _forward(request, x, Fusing(scale, bias, mask, fill, causal, diagonal)).output


def softmax_backward(
    dy: Any,
    y: Any,
    axis: int = -1,
    *,
    scale: float | None = None,
    mask: Any = None,
    causal: bool = False,
    diagonal: int = 0,
    dropout: float = 0.0,
    seed: int | None = None,
    dtype: Any = None,
    out: Any = None,
    policy: str | None = None,
    device: Any = None,
) -> Any:
    """The gradient of :func:`softmax` with respect to x: one kernel. What dropout dropped it finds again by the seed.

    >>> y = softlab.fused.softmax(x, scale=0.5, mask=mask)
    >>> dx = softlab.fused.softmax_backward(dy, y, scale=0.5, mask=mask)

    Arguments:
        dy: the gradient of a loss with respect to what :func:`softmax` returned; with dropout, to the first of the
            pair.
        y: the softmax without dropout.
        scale, mask, causal, diagonal, dropout, seed: as they were given to :func:`softmax`. The bias and the fill value
            are not needed: without ``scale`` the result is the gradient with respect to an elementwise bias.
        axis, dtype, out, policy, device: as for :func:`softmax`.

    Returns:
        dx, of y's shape; 0 at masked places.

    Raises:
        TypeError, ValueError: as :func:`softmax` and :func:`softlab.softmax_backward`.
    """
    request = Request("softmax_backward", axis, dtype, out, policy, device, ("dy", "y"))
    fusing = Fusing(scale, None, mask, 0.0, causal, diagonal, dropout, seed)
    return _backward(request, dy, y, fusing).output


def log_softmax_backward(
    dy: Any,
    y: Any,
    axis: int = -1,
    *,
    scale: float | None = None,
    mask: Any = None,
    causal: bool = False,
    diagonal: int = 0,
    dtype: Any = None,
    out: Any = None,
    policy: str | None = None,
    device: Any = None,
) -> Any:
    """The gradient of :func:`log_softmax` with respect to x: one kernel.

    Arguments, result and errors are those of :func:`softmax_backward`.
    """
    request = Request("log_softmax_backward", axis, dtype, out, policy, device, ("dy", "y"))
    return _backward(request, dy, y, Fusing(scale, None, mask, 0.0, causal, diagonal)).output


def trace(
    x: Any,
    axis: int = -1,
    *,
    op: str = "softmax",
    dtype: Any = None,
    policy: str = "oneflow",
    device: Any = None,
    **fusing: Any,
) -> Trace:
    """Run a fused operator in the emulator and keep what it did.

    >>> softlab.fused.trace(scores, mask=mask, scale=0.125).counters["global_load_sectors"]

    Arguments:
        x: in host memory; for a gradient the pair (dy, y).
        op: "softmax", "log_softmax", "softmax_backward" or "log_softmax_backward".
        axis, dtype, policy, device, fusing: what the operator takes.

    Returns:
        As :func:`softlab.trace`; ``output`` is the operator's first result.

    Raises:
        TypeError, ValueError: as the operator; ValueError for an unknown operator or an x without elements.
    """
    if op not in _OPERATORS:
        raise ValueError(f"op {op!r} is not one of {', '.join(_OPERATORS)}")
    inputs = tuple(x) if op.endswith("backward") else (x,)
    if any(gpu.is_cuda_array(array) for array in inputs):
        raise TypeError("a trace runs in the emulator and takes arrays in host memory: copy them to the host first")
    run, names = _OPERATORS[op]
    done = run(Request(op, axis, dtype, None, policy, device, names), *inputs, Fusing(**fusing), record=True)
    if done.run is None:
        raise ValueError(f"nothing to trace: x has the shape {done.output.shape}, so no kernel is launched")
    return Trace(output=done.output, plan=done.plan, run=done.run)


@dataclass(frozen=True)
class _Fused:
    """The kernels with these loads and stores, by their C++ types; as a lookup, what they take of an SM."""

    load: str
    store: str

    def instantiation(self, plain: Instantiation) -> Instantiation:
        return instantiations.fused(plain, self.load, self.store)

    def __call__(self, plain: Instantiation, arch: str, options: tuple[str, ...]) -> Resources:
        kernel = self.instantiation(plain)
        return resources.resources(kernel.file, kernel.name, arch, options)


def plan(problem: Problem, single: bool = False, *, fusion: Fusion) -> Plan:
    """The dispatcher's plan for the same shape, with the fused kernel and its registers.

    Arguments:
        problem: rows, cols, dtype, op, policy and device.
        single: with packs of one element.
        fusion: what is fused.

    Raises:
        ValueError: the policy is not "oneflow", whose kernels alone take other loads and stores.
    """
    if problem.policy != _POLICY:
        raise ValueError(f"policy {problem.policy!r}: fused operators have policy={_POLICY!r} alone")
    element, cols = element_type(problem.dtype), problem.cols
    load, store = fusion.load(element, cols, None), fusion.store(element, cols, None)
    if problem.op.endswith("backward"):
        load, store = fusion.gradient_load(element, cols, None), fusion.gradient_store(element, cols, None)
    return _planned(problem, single, _Fused(load.cuda, store.cuda))


@lru_cache(maxsize=1024)
def _planned(problem: Problem, single: bool, kernels: _Fused) -> Plan:
    made = planned(problem, single, kernels)
    if not made.grid:
        return made
    return replace(made, name=kernels.instantiation(Instantiation(made.file, made.name)).name)


def _forward(request: Request, x: Any, fusing: Fusing, record: bool = False) -> Done:
    x = as_array(x)
    turn = Turn(tuple(x.shape), arrays.axis_of(request.axis, x.ndim))
    named = {"bias": fusing.bias, "mask": fusing.mask}
    given = {name: checked_operand(name, array, x, "x") for name, array in named.items() if array is not None}
    fusion = fusion_of(fusing, turn, given)

    def execute(made: Plan, inputs: Sequence[Any], output: Any, *further: Any) -> Run | None:
        element = element_type(made.dtype)
        written = (output, *further)
        operands = _ready(made, turn, dict(zip(given, inputs[1:], strict=True)), written)
        load = fusion.load(element, made.cols, inputs[0], **operands)
        # With dropout the first result is what it leaves, and the further one the softmax itself.
        store = fusion.store(element, made.cols, *reversed(written))
        return _run(made, (load, store), record)

    method = Method(partial(plan, fusion=fusion), execute, int(fusion.dropout is not None), _POLICY)
    return apply(request, (x,), tuple(given.values()), method=method)


def _backward(request: Request, dy: Any, y: Any, fusing: Fusing, record: bool = False) -> Done:
    dy, y = as_array(dy), as_array(y)
    if fusing.bias is not None:
        raise TypeError("a gradient takes no bias: its result does not depend on one")
    turn = Turn(tuple(dy.shape), arrays.axis_of(request.axis, dy.ndim, "dy"))
    given = {} if fusing.mask is None else {"mask": checked_operand("mask", fusing.mask, dy, "dy")}
    fusion = fusion_of(fusing, turn, given)

    def execute(made: Plan, inputs: Sequence[Any], output: Any) -> Run | None:
        element = element_type(made.dtype)
        operands = _ready(made, turn, dict(zip(given, inputs[2:], strict=True)), (output,))
        load = fusion.gradient_load(element, made.cols, inputs[0])
        store = fusion.gradient_store(element, made.cols, output, **operands)
        return _run(made, (load, inputs[1], store), record)

    method = Method(partial(plan, fusion=fusion), execute, policy=_POLICY)
    return apply(request, (dy, y), tuple(given.values()), method=method)


_OPERATORS: Mapping[str, tuple[Callable[..., Done], tuple[str, ...]]] = {
    "softmax": (_forward, ("x",)),
    "log_softmax": (_forward, ("x",)),
    "softmax_backward": (_backward, ("dy", "y")),
    "log_softmax_backward": (_backward, ("dy", "y")),
}


def _run(made: Plan, parameters: Sequence[Any], record: bool) -> Run | None:
    given = (p.struct if isinstance(p, Functor) else p for p in parameters)
    args = (*given, np.int64(made.rows), np.int64(made.cols))
    if record:
        return emulate(made, args, record=True)
    launch(made, args)
    return None


def _ready(made: Plan, turn: Turn, operands: dict[str, Any], written: Sequence[Any]) -> dict[str, Any]:
    """The operands as the kernel takes them: turned, of their dtype, aligned to a pack, apart from what it writes."""
    ready = {}
    for name, array in operands.items():
        dtype = np.dtype(np.uint8) if name == "mask" else element_type(made.dtype).numpy
        array = turn.operand(array)
        array = array.view(dtype) if name == "mask" else array.astype(dtype, copy=False)
        apart = not any(arrays.may_overlap(array, result) for result in written)
        aligned = arrays.aligned(array, made.pack_size * dtype.itemsize)
        ready[name] = array if apart and aligned else array.copy()
    return ready
