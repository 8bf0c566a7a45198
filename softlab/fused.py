"""Softmax fused with its neighbours in attention: scale, bias, mask, causal mask, dropout; and the gradients.

Each is one launch of the plain operator's kernel with other loads and stores, so no temporary is written between the
steps. A temporary of x's size costs a write and a read of that size. A fused scale costs nothing, a fused mask one byte
per element.

    v = scale * x + bias                          without what is None
    v = fill      if mask is False, or beyond the causal diagonal
    y = softmax(v)                                or log_softmax
    z = y / (1 - dropout) or 0                    returned with y if dropout > 0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from softlab.dtypes import ElementType, element_type
from softlab.operators import arrays
from softlab.operators.functions import traced
from softlab.operators.functors import Functor, Fusion
from softlab.operators.fused_arguments import FusedArguments, as_array, checked_operand, fusion_of
from softlab.operators.row_view import RowView
from softlab.operators.rows import Launcher, OperatorCall, PlanKey, Result, apply, planned
from softlab.plans import Plan, instantiations, resources
from softlab.plans.instantiations import WIDEST_PACK_BYTES, Instantiation
from softlab.plans.planner import FusedSteps
from softlab.plans.resources import Resources
from softlab.traces import Trace

__all__ = ["log_softmax", "log_softmax_backward", "plan", "softmax", "softmax_backward", "trace"]

#: The policies whose kernels take other loads and stores.
_POLICIES = ("oneflow", "fast")


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
    """softmax(scale * x + bias), masked and with dropout: one kernel.

    >>> scores = np.float32([[1, 2, 3], [1, 2, 3], [1, 2, 3]])
    >>> softlab.fused.softmax(scores, scale=0.5, causal=True)
    array([[1.        , 0.        , 0.        ],
           [0.37754068, 0.62245935, 0.        ],
           [0.18632373, 0.3071959 , 0.5064804 ]], dtype=float32)

    Arguments:
        x, axis, dtype, out, device: as for :func:`softlab.softmax`.
        policy: "fast" or "oneflow"; None as for :func:`softlab.softmax`. Policy "invariant" has no fused kernels.
        scale: a number; x is multiplied by it.
        bias: an array that is added to scale * x: of x's library, on its device, of a shape that broadcasts to x's. It
            is cast to the result's dtype.
        mask: an array of bool or uint8, with the same library, device and shape rules. ``fill`` replaces an element
            whose mask is False (0).
        fill: the value of masked elements. With -inf their result is 0, and a row with no other elements is NaN.
        causal: of each matrix of the last two dimensions, row r keeps the columns up to r + ``diagonal``
            (``numpy.tril``'s k). The others are ``fill``, and most of them are not even read. ``axis`` is the last.
        dropout: the probability, from 0 to less than 1, that an element of the result is dropped; the others are
            divided by 1 - dropout.
        seed: of dropout, an integer from 0 to 2**64 - 1. Element n of the result, counted with ``axis`` last, is
            dropped for the same seeds on every GPU and in the emulator (Philox4x32-10, counter n // 4, word n % 4).

    Returns:
        The softmax; if dropout > 0 the pair (softmax with dropout, softmax). ``out`` takes the first.

    Raises:
        TypeError, ValueError: as for :func:`softlab.softmax`; a bias or mask of another dtype or library, on another
            device, or of a shape that does not broadcast to x's; a wrong scale, fill, dropout or seed.
    """
    call = OperatorCall("softmax", axis, dtype, out, policy, device)
    result = _forward(call, x, FusedArguments(scale, bias, mask, fill, causal, diagonal, dropout, seed))
    return (result.output, *result.further) if result.further else result.output


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
    """log_softmax(scale * x + bias), masked: one kernel. With fill -inf the result of masked elements is -inf.

    Arguments, result and errors are those of :func:`softmax`; logarithms have no dropout.
    """
    call = OperatorCall("log_softmax", axis, dtype, out, policy, device)
    return _forward(call, x, FusedArguments(scale, bias, mask, fill, causal, diagonal)).output


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
    """The gradient of :func:`softmax` with respect to x: one kernel. The seed tells what dropout dropped.

    >>> y = softlab.fused.softmax(x, scale=0.5, mask=mask)
    >>> dx = softlab.fused.softmax_backward(dy, y, scale=0.5, mask=mask)

    Arguments:
        dy: the gradient of a loss with respect to the result of :func:`softmax`; with dropout, to the first of the
            pair.
        y: the softmax without dropout.
        scale, mask, causal, diagonal, dropout, seed: as in the call of :func:`softmax`. The bias and the fill value
            are not needed: without ``scale`` the result is the gradient with respect to an elementwise bias.
        axis, dtype, out, policy, device: as for :func:`softmax`.

    Returns:
        dx, of y's shape; 0 for masked elements.

    Raises:
        TypeError, ValueError: as :func:`softmax` and :func:`softlab.softmax_backward`.
    """
    call = OperatorCall("softmax_backward", axis, dtype, out, policy, device, ("dy", "y"))
    return _backward(call, dy, y, FusedArguments(scale, None, mask, 0.0, causal, diagonal, dropout, seed)).output


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
    call = OperatorCall("log_softmax_backward", axis, dtype, out, policy, device, ("dy", "y"))
    return _backward(call, dy, y, FusedArguments(scale, None, mask, 0.0, causal, diagonal)).output


def trace(
    x: Any,
    axis: int = -1,
    *,
    op: str = "softmax",
    dtype: Any = None,
    policy: str = "oneflow",
    device: Any = None,
    **fused: Any,
) -> Trace:
    """Run a fused operator in the emulator and record what it does.

    >>> softlab.fused.trace(scores, mask=mask, scale=0.125).counters["global_load_sectors"]

    Arguments:
        x: in host memory; for a gradient the pair (dy, y).
        op: "softmax", "log_softmax", "softmax_backward" or "log_softmax_backward".
        axis, dtype, policy, device, fused: what the operator takes.

    Returns:
        As :func:`softlab.trace`; ``output`` is the operator's first result.

    Raises:
        TypeError, ValueError: as the operator; ValueError for an unknown operator or an x without elements.
    """
    if op not in _OPERATORS:
        raise ValueError(f"op {op!r} is not one of {', '.join(_OPERATORS)}")
    run, names = _OPERATORS[op]
    inputs = tuple(x) if op.endswith("backward") else (x,)
    call = OperatorCall(op, axis, dtype, None, policy, device, names)
    return traced(run(call, *inputs, FusedArguments(**fused), record=True))


@dataclass(frozen=True)
class _Fused:
    """The kernels with these loads and stores, by their C++ types. As a lookup it gives the kernels' resources."""

    load: str
    store: str

    def instantiation(self, plain: Instantiation) -> Instantiation:
        return instantiations.fused(plain, self.load, self.store)

    def __call__(self, plain: Instantiation, arch: str, options: tuple[str, ...]) -> Resources:
        kernel = self.instantiation(plain)
        return resources.resources(kernel.file, kernel.name, arch, options)


def plan(problem: PlanKey, single: bool = False, *, fusion: Fusion) -> Plan:
    """The plan for the same shape, with the fused kernel and its registers.

    Arguments:
        problem: rows, cols, dtype, op, policy and device.
        single: with packs of one element.
        fusion: what is fused.

    Raises:
        ValueError: a policy whose kernels take no other loads and stores.
    """
    if problem.policy not in _POLICIES:
        raise ValueError(f"policy {problem.policy!r}: fused operators have policy={' or '.join(map(repr, _POLICIES))}")
    element, cols = element_type(problem.dtype), problem.cols
    load, store = fusion.load(element, cols, None), fusion.store(element, cols, None)
    if problem.op.endswith("backward"):
        load, store = fusion.gradient_load(element, cols, None), fusion.gradient_store(element, cols, None)
    return _planned(replace(problem, fused=_steps(fusion, element, cols)), single, _Fused(load.cuda, store.cuda))


def _steps(fusion: Fusion, element: ElementType, cols: int) -> FusedSteps:
    """What the plan has to know of the operands."""
    operands = ((fusion.bias, element.itemsize), (fusion.mask, 1))
    along = [(layout, nbytes) for layout, nbytes in operands if layout and layout.along_row]
    shared = not all(layout.whole(cols) for layout, _ in along)
    alike = min((layout.alike(cols, WIDEST_PACK_BYTES) for layout, _ in along), default=WIDEST_PACK_BYTES)
    # Operands of one dimension move with a tile of rows: then no row shares them.
    flat = [(layout.whole(cols), nbytes) for layout, nbytes in along if len(layout.sizes) == 1]
    own = sum(nbytes for _, nbytes in flat) if all(whole for whole, _ in flat) else 0
    each, causal = tuple(nbytes for _, nbytes in along), fusion.causal is not None
    return FusedSteps(each, shared, causal, fusion.dropout is not None, alike, own)


@lru_cache(maxsize=1024)
def _planned(problem: PlanKey, single: bool, kernels: _Fused) -> Plan:
    made = planned(problem, single, kernels)
    if not made.grid:
        return made
    return replace(made, name=kernels.instantiation(Instantiation(made.file, made.name)).name)


def _forward(call: OperatorCall, x: Any, given: FusedArguments, record: bool = False) -> Result:
    x = as_array(x)
    view = RowView(tuple(x.shape), arrays.axis_of(call.axis, x.ndim))
    named = {"bias": given.bias, "mask": given.mask}
    operands = {name: checked_operand(name, array, x, "x") for name, array in named.items() if array is not None}
    fusion = fusion_of(given, view, operands)

    def arguments(made: Plan, inputs: Sequence[Any], output: Any, *further: Any) -> tuple[Any, ...]:
        element = element_type(made.dtype)
        written = (output, *further)
        ready = _ready(made, view, dict(zip(operands, inputs[1:], strict=True)), written)
        load = fusion.load(element, made.cols, inputs[0], **ready)
        # With dropout the first result is the one with dropped elements, and the further one the softmax itself.
        store = fusion.store(element, made.cols, *reversed(written))
        return _arguments(made, load, store)

    further = int(fusion.dropout is not None)
    launcher = Launcher(partial(plan, fusion=fusion), arguments, further, record, strided=False)
    return apply(replace(call, names=("x", *operands)), (x,), tuple(operands.values()), launcher=launcher)


def _backward(call: OperatorCall, dy: Any, y: Any, given: FusedArguments, record: bool = False) -> Result:
    dy, y = as_array(dy), as_array(y)
    if given.bias is not None:
        raise TypeError("a gradient takes no bias: its result does not depend on one")
    view = RowView(tuple(dy.shape), arrays.axis_of(call.axis, dy.ndim, "dy"))
    operands = {} if given.mask is None else {"mask": checked_operand("mask", given.mask, dy, "dy")}
    fusion = fusion_of(given, view, operands)

    def arguments(made: Plan, inputs: Sequence[Any], output: Any) -> tuple[Any, ...]:
        element = element_type(made.dtype)
        ready = _ready(made, view, dict(zip(operands, inputs[2:], strict=True)), (output,))
        load = fusion.gradient_load(element, made.cols, inputs[0])
        store = fusion.gradient_store(element, made.cols, output, **ready)
        return _arguments(made, load, inputs[1], store)

    launcher = Launcher(partial(plan, fusion=fusion), arguments, record=record, strided=False)
    return apply(replace(call, names=("dy", "y", *operands)), (dy, y), tuple(operands.values()), launcher=launcher)


_OPERATORS: Mapping[str, tuple[Callable[..., Result], tuple[str, ...]]] = {
    "softmax": (_forward, ("x",)),
    "log_softmax": (_forward, ("x",)),
    "softmax_backward": (_backward, ("dy", "y")),
    "log_softmax_backward": (_backward, ("dy", "y")),
}


def _arguments(made: Plan, *parameters: Any) -> tuple[Any, ...]:
    given = (p.struct if isinstance(p, Functor) else p for p in parameters)
    return (*given, np.int64(made.rows), np.int64(made.cols))


def _ready(made: Plan, view: RowView, operands: dict[str, Any], written: Sequence[Any]) -> dict[str, Any]:
    """The operands as the kernel takes them: axis last, cast, aligned to a pack, and apart from what it writes."""
    ready = {}
    for name, array in operands.items():
        dtype = np.dtype(np.uint8) if name == "mask" else element_type(made.dtype).numpy
        array = view.operand(array)
        array = array.view(dtype) if name == "mask" else array.astype(dtype, copy=False)
        apart = not any(arrays.may_overlap(array, result) for result in written)
        aligned = arrays.aligned(array, made.pack_size * dtype.itemsize)
        ready[name] = array if apart and aligned else array.copy()
    return ready
