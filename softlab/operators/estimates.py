"""``softlab.estimate``: the time of something that softlab has planned or run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softlab.cuda.workspaces import with_workspace
from softlab.dtypes import ELEMENT_TYPES
from softlab.errors import EstimateError, PlanError
from softlab.kernel import Kernel
from softlab.operators.executors import arguments, program_of
from softlab.plans import Plan
from softlab.traces import Run, Trace

if TYPE_CHECKING:
    from softlab.hardware.devices import Device
    from softlab.kernel.estimation import SampledLaunch
    from softlab.timing.estimates import Estimate
    from softlab.timing.what_if import WhatIf

_AS_LEFT = (
    "the arrays are as the run left them, and the launch loads what it stores: the run itself may have done something "
    "else. kernel.estimate(...) takes arrays as they were"
)


def estimate(
    subject: Any, *, device: Device | str | None = None, cache: str = "cold", what_if: str = "", timeline: bool = False
) -> Estimate:
    """How long a launch takes on a GPU, what bounds it and what each line waits for. It needs no GPU.

    Arguments:
        subject: a :class:`softlab.Plan`, whose input is taken to be zeros; a :class:`softlab.Trace`, by its plan; or a
            :class:`softlab.Run`, whose arguments must still be alive: a run keeps its numbers, and only weak references
            to its arrays. They and the kernel's variables are taken as they are now. Where the launch loads what it
            stores, a note says so: the run may have done something else.
        device: "H200" or "H100"; None is the device of the plan if it has compute capability 9.0, else an H200.
        cache: "cold" (L2 holds nothing of the arrays) or "warm" (it holds what fits).
        what_if, timeline: as for :meth:`softlab.Kernel.estimate`.

    Raises:
        TypeError: none of these. EstimateError: a run that was loaded from a file, or whose arrays are gone. Others as
            for :meth:`softlab.Kernel.estimate`.
    """
    sampled, gpu, changed = _sampled(subject, device, (what_if,) if what_if else ())
    found = sampled.estimate(gpu, cache, what_if=what_if, timeline=timeline)
    return _noted(found) if changed else found


def what_if(subject: Any, *, device: Device | str | None = None, cache: str = "cold") -> WhatIf:
    """The estimate of a plan, trace or run beside those with each change of :data:`softlab.timing.what_if.CHANGES`.

    Arguments and errors as for :func:`estimate`.
    """
    from softlab.timing.what_if import CHANGES

    sampled, gpu, changed = _sampled(subject, device, tuple(CHANGES))
    found = sampled.what_if(gpu, cache)
    return replace(found, base=_noted(found.base)) if changed else found


def _noted(found: Estimate) -> Estimate:
    return replace(found, notes=(*found.notes, _AS_LEFT))


def _sampled(subject: Any, device: Any, names: Sequence[str]) -> tuple[SampledLaunch, Any, bool]:
    """The sampled launch, its device, and whether its arrays are those that a run has changed."""
    from softlab.kernel.estimation import sample_launch

    kernel, given = _launch(subject, device)
    sampled = sample_launch(kernel, **given, sample=None, names=names)
    of_plan = isinstance(subject, Plan) or (isinstance(subject, Trace) and isinstance(subject.plan, Plan))
    return sampled, given["device"], not of_plan and sampled.changes_what_it_loads()


def _launch(subject: Any, device: Any) -> tuple[Kernel, dict[str, Any]]:
    """The kernel of a plan, trace or run, and the launch as its methods take it."""
    if isinstance(subject, Trace):
        subject = subject.plan if isinstance(subject.plan, Plan) else subject.run
    if isinstance(subject, Plan):
        return _of_plan(subject, device)
    if isinstance(subject, Run):
        return _of_run(subject, device)
    raise TypeError(
        f"estimate takes a plan, a trace or a run, got {type(subject).__name__}; "
        "for a kernel call kernel.estimate(grid, block, args)"
    )


def _of_plan(plan: Plan, device: Any) -> tuple[Kernel, dict[str, Any]]:
    if not plan.grid:
        raise PlanError(f"no estimate: an input of {plan.rows} x {plan.cols} launches nothing")
    if device is None and plan.device.compute_capability == (9, 0):
        device = plan.device
    launch = {"grid": plan.grid, "block": plan.block, "args": plan_arguments(plan), "smem": plan.smem_bytes}
    return Kernel.from_program(program_of(plan)), {**launch, "device": device}


def plan_arguments(plan: Plan) -> tuple[Any, ...]:
    """The arguments of a plan's kernel for an input of zeros; the system gives such arrays no memory until written."""
    dtype = ELEMENT_TYPES[plan.dtype].numpy
    inputs = 2 if plan.op.endswith("_backward") else 1
    arrays = [np.zeros((plan.rows, plan.cols), dtype) for _ in range(inputs + 1)]
    args = arguments(plan, arrays[:-1], arrays[-1])
    return with_workspace(args, np.zeros(plan.workspace_bytes // 8, np.uint64)) if plan.workspace_bytes else args


def _of_run(run: Run, device: Any) -> tuple[Kernel, dict[str, Any]]:
    if run.launched is None:
        raise EstimateError("a run from a file does not know its arguments: call kernel.estimate(...) instead")
    program, args = run.launched.program, run.launched.arguments()
    launch = {"grid": run.grid, "block": run.block, "args": args, "smem": run.smem_bytes, "device": device}
    return Kernel.from_program(program, run.launched.variables), launch
