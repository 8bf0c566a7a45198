"""Any array as rows: the axis goes last, a kernel runs on (rows, cols), and the result goes back as it came.

:func:`apply` is the one way from a caller's arrays to a kernel. An operator gives it a :class:`Request`, the arrays,
and, where its kernel takes more than those, a :class:`Method`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from softlab import arrays, gpu, plans
from softlab.devices import Device, resolve
from softlab.dispatches import Lookup
from softlab.dtypes import ElementType
from softlab.executors import execute
from softlab.plans import Plan, Step
from softlab.traces import Run


@dataclass(frozen=True)
class Request:
    """What the caller asked for, but the arrays. ``names`` are those of the inputs in the operator's signature."""

    op: str
    axis: Any = -1
    dtype: Any = None
    out: Any = None
    policy: str | None = None
    device: Any = None
    names: tuple[str, ...] = ("x",)


def policy_of(asked: str | None, *, on_gpu: bool) -> str:
    """What ``policy=None`` means: the best there is where the arrays are.

    On a GPU that is the fastest; the emulator is there to see into a kernel, and runs the design that softlab explains
    and that :func:`softlab.trace` shows.
    """
    if asked is not None:
        return asked
    return "fast" if on_gpu else "oneflow"


@dataclass(frozen=True)
class Problem:
    """What a plan is made for."""

    rows: int
    cols: int
    dtype: str
    op: str
    policy: str
    device: Device


@lru_cache(maxsize=1024)
def planned(problem: Problem, single: bool = False, lookup: Lookup | None = None) -> Plan:
    """The policy's plan for a problem.

    Arguments:
        single: with packs of one element, for arrays that do not start at a multiple of a pack. The reference has no
            case for them, and faults.
        lookup: where registers and static shared memory come from, as for :func:`softlab.plan`; it is hashable.
    """
    shape = (problem.rows, problem.cols, problem.dtype)
    choices: dict[str, Any] = {"op": problem.op, "policy": problem.policy, "device": problem.device, "lookup": lookup}
    if not single:
        return plans.plan(*shape, **choices)
    plan = plans.forced(*shape, pack_size=1, **choices)
    step = Step("Do the arrays start at a multiple of a pack?", {}, False, "else packs of 1 element")
    return replace(plan, steps=(step, *plan.steps))


@dataclass(frozen=True)
class Method:
    """How an operator is planned and run.

    Arguments:
        plan: (problem, whether to take packs of one element) -> plan. One whose ``grid`` is 0 launches nothing.
        execute: (plan, inputs, output, *further) -> run or None. The inputs are C-contiguous (rows, cols) arrays, with
            the operands behind them as they are; output and ``further`` are C-contiguous (rows, cols) arrays to fill.
            All are NumPy's, or CuPy's on the device and stream that are current then.
        further: how many further results there are, each of the output's shape and dtype.
        policy: what a request with policy None takes; None for :func:`policy_of`.
    """

    plan: Callable[[Problem, bool], Plan] = planned
    execute: Callable[..., Run | None] = execute
    further: int = 0
    policy: str | None = None


@dataclass(frozen=True)
class Done:
    """What came of a request: ``output`` and ``further`` are arrays of the caller's library and shape.

    ``run`` is what the method's ``execute`` returned; None where no kernel was launched.
    """

    output: Any
    further: tuple[Any, ...]
    plan: Plan
    run: Run | None


def apply(
    request: Request, inputs: Sequence[Any], operands: Sequence[Any] = (), *, method: Method | None = None
) -> Done:
    """Run an operator on arrays of any library, axis and strides.

    Arguments:
        inputs: the arrays that the operator goes over, of one shape, dtype and library, named by ``request.names``.
            They reach the executor as C-contiguous (rows, cols) arrays of the result's dtype, the axis as cols.
        operands: other arrays of the kernel, such as a mask, of the inputs' library and in the same place. They reach
            the executor as CuPy or NumPy arrays of the shape, strides and dtype that they have, and are not turned: an
            operator that has any takes the last axis alone.
        method: None for the plain kernel, which takes ``(*inputs, output, rows, cols)``.

    Returns:
        The results in the inputs' library, shape and place, C-contiguous; ``out`` itself where there is one.

    Raises:
        TypeError, ValueError: as :func:`softlab.softmax` has them; inputs that do not fit each other.
    """
    inputs = [arrays.plain(x, request.op, name) for x, name in zip(inputs, request.names, strict=True)]
    arrays.check_together(inputs, request.names, operands)
    first = inputs[0]
    if request.out is not None:
        arrays.check_out_library(request.out, first, request.op)
    method = method or Method()
    if not gpu.is_cuda_array(first):
        there, back = arrays.host_array, arrays.host_back
        return _handed_over(np, request, inputs, operands, method, there, back)
    import cupy

    with gpu.working_place(first):
        return _handed_over(cupy, request, inputs, operands, method, gpu.as_cupy, gpu.give_back)


def _handed_over(
    xp: Any,
    request: Request,
    inputs: Sequence[Any],
    operands: Sequence[Any],
    method: Method,
    there: Callable[[Any], Any],
    back: Callable[[Any, Any], Any],
) -> Done:
    """As :func:`apply`: the arrays go ``there``, to ``xp`` (NumPy or CuPy), and the results ``back``."""
    lent = None if request.out is None else there(request.out)
    done = _compute(xp, replace(request, out=lent), [there(x) for x in inputs], [there(a) for a in operands], method)
    output = back(done.output, inputs[0]) if lent is None else request.out
    return replace(done, output=output, further=tuple(back(array, inputs[0]) for array in done.further))


def _compute(xp: Any, request: Request, inputs: Sequence[Any], operands: Sequence[Any], method: Method) -> Done:
    """The operator on arrays of ``xp``: checked, turned, planned, run, turned back."""
    first, out = inputs[0], request.out
    element = _common_type(request, inputs)
    turn = _Turn(first.shape, arrays.axis_of(request.axis, first.ndim, request.names[0]))
    if out is not None:
        arrays.check_out(out, first, element)
    asked = method.policy if request.policy is None else request.policy
    policy = policy_of(asked, on_gpu=xp is not np)
    problem = Problem(turn.rows, turn.cols, element.name, request.op, policy, resolve(request.device))
    plan = method.plan(problem, False)
    if not plan.grid:
        empty = [xp.empty(first.shape, element.numpy) for _ in range(method.further + 1)]
        return Done(empty[0] if out is None else out, tuple(empty[1:]), plan, None)

    sources = [turn.there(xp, x, element) for x in inputs]
    in_place = out is not None and turn.is_none and _can_be_written(out, sources)
    target = out.reshape(turn.rows, turn.cols) if in_place else turn.empty(xp, element)
    further = [turn.empty(xp, element) for _ in range(method.further)]
    if not all(arrays.aligned(array, plan.pack_size * element.itemsize) for array in (*sources, target)):
        plan = method.plan(problem, True)
    run = method.execute(plan, (*sources, *operands), target, *further)

    output = out if in_place else turn.back(xp, target)
    if out is not None and not in_place:
        out[...] = output
        output = out
    return Done(output, tuple(turn.back(xp, array) for array in further), plan, run)


@dataclass(frozen=True)
class _Turn:
    """How an array of a shape becomes (rows, cols) with ``axis`` as cols, and back. A scalar is one row of one."""

    shape: tuple[int, ...]
    axis: int

    @property
    def is_none(self) -> bool:
        """Whether the axis is the last already."""
        return self.axis >= len(self.shape) - 1

    @property
    def turned(self) -> tuple[int, ...]:
        """The shape with the axis in the last place, whose size takes the axis's."""
        shape = list(self.shape or (1, 1))
        shape[self.axis], shape[-1] = shape[-1], shape[self.axis]
        return tuple(shape)

    @property
    def rows(self) -> int:
        return prod(self.turned[:-1])

    @property
    def cols(self) -> int:
        return self.turned[-1]

    def there(self, xp: Any, x: Any, element: ElementType) -> Any:
        turned = x.swapaxes(self.axis, -1) if self.shape else x
        return xp.ascontiguousarray(turned, dtype=element.numpy).reshape(self.rows, self.cols)

    def back(self, xp: Any, rows: Any) -> Any:
        if not self.shape:
            return rows.reshape(())
        return xp.ascontiguousarray(rows.reshape(self.turned).swapaxes(self.axis, -1))

    def empty(self, xp: Any, element: ElementType) -> Any:
        return xp.empty((self.rows, self.cols), element.numpy)


def _can_be_written(out: Any, sources: Sequence[Any]) -> bool:
    """Whether the kernel may write straight into ``out``, whose rows are the kernel's."""
    return out.flags.c_contiguous and all(arrays.separate_or_same(out, source) for source in sources)


def _common_type(request: Request, inputs: Sequence[Any]) -> ElementType:
    """The element type of the result; the inputs fit each other.

    Raises:
        TypeError: other dtypes, and none is asked for. ValueError: other shapes.
    """
    first, name = inputs[0], request.names[0]
    element = arrays.result_type(first.dtype, request.dtype, name)
    for other, other_name in zip(inputs[1:], request.names[1:], strict=True):
        arrays.result_type(other.dtype, request.dtype, other_name)
        if other.dtype != first.dtype and request.dtype is None:
            raise TypeError(
                f"{name} has dtype {first.dtype}, {other_name} {other.dtype}: give both in one dtype, or say with "
                "dtype= what both are cast to"
            )
        if other.shape != first.shape:
            raise ValueError(f"{name} has shape {first.shape}, {other_name} {other.shape}: give arrays of one shape")
    return element
