"""Any array as rows: the axis is put last, a kernel runs on (rows, cols), and the result gets the array's shape.

:func:`apply` takes a caller's arrays to a kernel. It makes a frozen recipe first, which has the plan and the launch,
and runs it second. An operator gives it an :class:`OperatorCall`, the arrays and, if its kernel takes more
than those, a :class:`Launcher`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from softlab import plans
from softlab.cuda.exchange import ArrayInfo, array_info
from softlab.dtypes import ElementType
from softlab.hardware.devices import Device, resolve
from softlab.operators import arrays, executors
from softlab.operators.executors import Executor
from softlab.operators.row_view import RowView, StridedView
from softlab.plans import Plan, Step
from softlab.plans.planner import FusedSteps, Lookup
from softlab.traces import Run

#: The policy that has kernels for rows along other axes than the last.
STRIDED_POLICY = "fast"


@dataclass(frozen=True)
class OperatorCall:
    """What the caller asked for, without the arrays.

    ``names`` are those of the inputs and then of the operands, as the caller knows them; messages use them.
    """

    op: str
    axis: Any = -1
    dtype: Any = None
    out: Any = None
    policy: str | None = None
    device: Any = None
    names: tuple[str, ...] = ("x",)


def policy_of(asked: str | None, *, on_gpu: bool) -> str:
    """What ``policy=None`` means.

    On a GPU it is the fastest policy. The emulator is there to see into a kernel, so it runs the design that softlab
    explains and that :func:`softlab.trace` shows.
    """
    if asked is not None:
        return asked
    return "fast" if on_gpu else "oneflow"


@dataclass(frozen=True)
class PlanKey:
    """What a plan is made for."""

    rows: int
    cols: int
    dtype: str
    op: str
    policy: str
    device: Device
    stride: int = 1
    fused: FusedSteps | None = None


@lru_cache(maxsize=1024)
def planned(problem: PlanKey, single: bool = False, lookup: Lookup | None = None) -> Plan:
    """The policy's plan for a problem.

    Arguments:
        single: with packs of one element, for arrays that do not start at a multiple of a pack, and for results in the
            memory of an input where the plan's kernel does not allow that. The reference has no case for them, and
            faults.
        lookup: the source of registers and static shared memory, as for :func:`softlab.plan`; it is hashable.
    """
    shape = (problem.rows, problem.cols, problem.dtype)
    names = ("op", "policy", "device", "stride", "fused")
    choices: dict[str, Any] = {"lookup": lookup, **{name: getattr(problem, name) for name in names}}
    if not single:
        return plans.plan(*shape, **choices)
    plan = plans.forced(*shape, pack_size=1, **choices)
    question = "Do the arrays start at a multiple of a pack, and lie apart?"
    step = Step(question, {}, False, "else packs of 1 element")
    return replace(plan, steps=(step, *plan.steps))


@dataclass(frozen=True)
class Launcher:
    """How an operator is planned, and what its kernel takes.

    Arguments:
        plan: (problem, whether to take packs of one element) -> plan. A plan with ``grid`` 0 launches nothing.
        arguments: (plan, inputs, output, *further) -> the kernel's arguments. The inputs are C-contiguous (rows, cols)
            arrays, followed by the operands as they are. ``output`` and ``further`` are C-contiguous (rows, cols)
            arrays that the kernel fills. All are NumPy's, or CuPy's on the current device and stream.
        further: the number of further results, each of the output's shape and dtype.
        record: keep a trace, so run in the emulator alone.
        strided: where the policy has kernels for rows along other axes than the last, take them.
    """

    plan: Callable[[PlanKey, bool], Plan] = planned
    arguments: Callable[..., tuple[Any, ...]] = executors.arguments
    further: int = 0
    record: bool = False
    strided: bool = True


@dataclass(frozen=True)
class Result:
    """The results of a call: ``output`` and ``further`` are arrays of the caller's library and shape.

    ``run`` is what the emulator returned; None on a GPU, and if no kernel was launched.
    """

    output: Any
    further: tuple[Any, ...]
    plan: Plan
    run: Run | None


@dataclass(frozen=True)
class _Recipe:
    """All that one call needs: made first, run second. The arrays are the executor's.

    ``launch`` runs the kernel; None if there is nothing to launch. ``target`` and ``further`` are (rows, cols) arrays
    that the kernel fills. ``out_view`` is the caller's ``out``, or None. ``in_place``: ``target`` is the memory of
    ``out``.
    """

    view: RowView
    plan: Plan
    launch: Callable[[], Run | None] | None
    target: Any
    further: tuple[Any, ...]
    out_view: Any
    in_place: bool


def apply(
    call: OperatorCall, inputs: Sequence[Any], operands: Sequence[Any] = (), *, launcher: Launcher | None = None
) -> Result:
    """Run an operator on arrays of any library, axis and strides.

    Arguments:
        inputs: the arrays that the operator goes over, of one shape, dtype and library. They reach the kernel as
            C-contiguous (rows, cols) arrays of the result's dtype, with the axis as cols.
        operands: other arrays of the kernel, such as a mask, of the inputs' library and on their device. They reach
            ``launcher.arguments`` as CuPy or NumPy arrays with their own shape, strides and dtype.
        launcher: None for the plain kernel, which takes ``(*inputs, output, rows, cols)``.

    Returns:
        The results in the inputs' library and shape and on their device, C-contiguous; ``out`` itself if it is given.

    Raises:
        TypeError, ValueError: as for :func:`softlab.softmax`, or the inputs do not fit each other.
    """
    launcher = launcher or Launcher()
    given = [*inputs, *operands]
    infos = [array_info(x) for x in given]  # nothing else asks an array what it is
    out_info = None if call.out is None else array_info(call.out)
    given = _checked(call, given, infos, len(inputs), out_info, launcher.record)
    executor = executors.executor_for(infos[0].on_gpu)
    with executor.on_stream_of(given[0], infos[0]):
        borrowed = [executor.to_kernel(x, info) for x, info in zip(given, infos, strict=True)]
        out_view = executor.to_kernel(call.out, out_info) if out_info else None
        recipe = _recipe(executor, call, borrowed[: len(inputs)], borrowed[len(inputs) :], out_view, launcher)
        run = recipe.launch() if recipe.launch else None
        results = [executor.from_kernel(array, given[0], infos[0]) for array in _results(executor.xp, recipe)]
    if call.out is not None:
        results.insert(0, call.out)
    return Result(results[0], tuple(results[1:]), recipe.plan, run)


def _checked(
    call: OperatorCall,
    given: Sequence[Any],
    infos: Sequence[ArrayInfo],
    inputs: int,
    out_info: ArrayInfo | None,
    record: bool,
) -> list[Any]:
    """The inputs, with all their values in memory, and the operands.

    Raises:
        TypeError: arrays that do not go together, or to a trace. ValueError: arrays on several GPUs.
    """
    for info in infos:
        if record and info.on_gpu:
            raise TypeError(
                f"a trace runs in the emulator and takes arrays in host memory; this {info.type_name} is on a GPU. "
                "Copy it to the host first (CuPy: x.get(), PyTorch: x.cpu().numpy())."
            )
    plain = [
        arrays.plain(x, info, call.op, name)
        for x, info, name in zip(given[:inputs], infos[:inputs], call.names[:inputs], strict=True)
    ]
    arrays.check_together(given, infos, call.names)
    if out_info is not None:
        arrays.check_out_library(call.out, out_info, given[0], infos[0], call.op)
    return [*plain, *given[inputs:]]


def _recipe(
    executor: Executor,
    call: OperatorCall,
    inputs: Sequence[Any],
    operands: Sequence[Any],
    out_view: Any,
    launcher: Launcher,
) -> _Recipe:
    """The plan and the launch for arrays of the executor, checked. Nothing is launched yet."""
    xp, first = executor.xp, inputs[0]
    element = _common_type(call, inputs)
    axis = arrays.axis_of(call.axis, first.ndim, call.names[0])
    if out_view is not None:
        arrays.check_out(out_view, first, element)
    policy = policy_of(call.policy, on_gpu=xp is not np)
    view = _view(inputs, axis, launcher.strided and policy == STRIDED_POLICY)
    problem = PlanKey(view.rows, view.cols, element.name, call.op, policy, resolve(call.device), view.stride)
    plan = launcher.plan(problem, False)

    sources = [view.rows_of(xp, x, element) for x in inputs]
    in_place = out_view is not None and view.keeps_order and _can_be_written(out_view, sources)
    target = out_view.reshape(view.rows, view.cols) if in_place else view.empty(xp, element)
    further = tuple(view.empty(xp, element) for _ in range(launcher.further))
    if not plan.grid:
        return _Recipe(view, plan, None, target, further, out_view, in_place)
    aligned = all(arrays.aligned(array, plan.pack_size * element.itemsize) for array in (*sources, target))
    if not aligned or (in_place and not plan.in_place and any(arrays.may_overlap(target, x) for x in sources)):
        plan = launcher.plan(problem, True)
    arguments = launcher.arguments(plan, (*sources, *operands), target, *further)
    launch = executor.ready(plan, arguments, launcher.record)
    return _Recipe(view, plan, launch, target, further, out_view, in_place)


def _view(inputs: Sequence[Any], axis: int, strided: bool) -> RowView:
    """The inputs as rows: where they lie, or turned round if that is no copy, or if no kernel takes other rows."""
    shape = inputs[0].shape
    view = RowView(shape, axis)
    if not strided or view.axis_is_last or all(x.swapaxes(axis, -1).flags.c_contiguous for x in inputs):
        return view
    return StridedView(shape, axis)


def _results(xp: Any, recipe: _Recipe) -> list[Any]:
    """The results in the shape of the inputs, without the output if the caller's ``out`` took it."""
    filled = list(recipe.further) if recipe.in_place else [recipe.target, *recipe.further]
    results = [recipe.view.restored(xp, array) for array in filled]
    if recipe.out_view is not None and not recipe.in_place:
        recipe.out_view[...] = results.pop(0)
    return results


def _can_be_written(out: Any, sources: Sequence[Any]) -> bool:
    """Whether the kernel may write straight into ``out``, whose rows are the kernel's."""
    fits = out.flags.c_contiguous and arrays.aligned(out, out.dtype.itemsize)
    return fits and all(arrays.separate_or_same(out, source) for source in sources)


def _common_type(call: OperatorCall, inputs: Sequence[Any]) -> ElementType:
    """The element type of the result; the inputs fit each other.

    Raises:
        TypeError: other dtypes, and none is asked for. ValueError: other shapes.
    """
    first, name = inputs[0], call.names[0]
    element = arrays.result_type(first.dtype, call.dtype, name)
    for other, other_name in zip(inputs[1:], call.names[1:], strict=False):  # behind them are the operands' names
        arrays.result_type(other.dtype, call.dtype, other_name)
        if other.dtype != first.dtype and call.dtype is None:
            raise TypeError(
                f"{name} has dtype {first.dtype}, {other_name} {other.dtype}: give both in one dtype, or name with "
                "dtype= the type that both are cast to"
            )
        if other.shape != first.shape:
            raise ValueError(f"{name} has shape {first.shape}, {other_name} {other.shape}: give arrays of one shape")
    return element
