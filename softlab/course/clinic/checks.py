"""All that softlab can find wrong with a launch: faults, numbers that go wrong, and traffic that need not be."""

from __future__ import annotations

from softlab.course.launch_cases import LaunchCase
from softlab.findings import Finding
from softlab.instruments.numbers import number_findings
from softlab.kernel import Kernel
from softlab.traces import Run
from softlab.workbench.advice import advice

#: Instructions that the blocks of one launch may issue.
_BUDGET = 200_000


def checked(kernel: Kernel, launch: LaunchCase) -> tuple[Finding, ...]:
    """What the checks say of a launch in the emulator.

    First come the faults (:mod:`softlab.findings`). Where there are none, the arithmetic of the first warp follows
    (:mod:`softlab.instruments.numbers`), then what to change (:mod:`softlab.workbench`, as warnings).
    """
    found = _run(kernel, launch, record=False).findings
    if found:
        return found
    steps = kernel.steps(launch.grid, launch.block, tuple(launch.fresh().values()), smem=launch.smem)
    run = _run(kernel, launch, record=True)
    slow = [Finding(kind=one.rule, severity="warning", message=one.sentence, line=one.line) for one in advice(run)]
    return (*number_findings(steps), *slow)


def _run(kernel: Kernel, launch: LaunchCase, *, record: bool) -> Run:
    """Faults are looked for without counters first: those need the machine code, which takes longer than the run."""
    args = tuple(launch.fresh().values())
    return kernel.run(launch.grid, launch.block, args, launch.smem, check="collect", budget=_BUDGET, record=record)
