"""The launch that a ``%%cuda`` line asks for, and the report on it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from softlab.errors import CompileError, Error, KernelFault, UnsupportedInstruction
from softlab.findings import Finding
from softlab.hardware.devices import Device
from softlab.hardware.occupancies import Occupancy, occupancy
from softlab.kernel import Kernel
from softlab.magics.command import CELL, CudaCommand, on_gpu
from softlab.traces import Run
from softlab.views.reports import ArrayArgument, Report, array_argument
from softlab.views.runs import fused_sentences


def command_of(source: str, name: str, arch: str, launch: Any) -> CudaCommand:
    """The launch of an exercise (``softlab.course.kernels.Launch``) as a ``%%cuda`` line would have asked for it."""
    return CudaCommand(
        source=source,
        file=CELL,
        name=name,
        grid=_sizes(launch.grid),
        block=_sizes(launch.block),
        args=tuple(launch.fresh().items()),
        smem=launch.smem,
        device=Device.named(arch),
        arch=arch,
        options=(),
        check=True,
        out="run",
        code=False,
    )


def _sizes(given: int | tuple[int, ...]) -> tuple[int, ...]:
    return given if isinstance(given, tuple) else (given,)


class Executed(NamedTuple):
    """What came of a command: ``run`` and ``kernel`` are None after an error. ``before`` has a copy of each array
    argument as it was before the launch, None for other arguments; ``after`` as it is now."""

    report: Report
    run: Run | None
    kernel: Kernel | None
    before: tuple[np.ndarray | None, ...]
    after: tuple[np.ndarray | None, ...]


def execute(command: CudaCommand) -> Executed:
    """Compile and launch. An error of the kernel is not raised: the report has it.

    Raises:
        TypeError, ValueError: arguments that do not fit the parameters, or a launch over the device's limits.
    """
    before = tuple(_on_host(value) for _, value in command.args)
    kernel, run, failure = None, None, None
    try:
        kernel = _compiled(command)
        values = tuple(value for _, value in command.args)
        run = kernel.run(command.grid, command.block, values, command.smem, check=command.check, budget=command.budget)
    except Error as error:
        failure = error
    after = tuple(None if kernel is None else _on_host(value) for _, value in command.args)
    arrays = tuple(
        array_argument(text, old, new)
        for (text, _), old, new in zip(command.args, before, after, strict=True)
        if old is not None and new is not None
    )
    return Executed(_report(command, kernel, run, failure, arrays), run, kernel, before, after)


def _compiled(command: CudaCommand) -> Kernel:
    """The kernel of the cell, or of the file, which finds the headers beside it."""
    how: dict[str, Any] = {"arch": command.arch, "options": command.options}
    if command.path:
        return Kernel.from_file(command.path, command.name, **how)
    return Kernel(command.source, command.name, file=command.file, **how)


def _on_host(value: Any) -> np.ndarray | None:
    """A copy of an array in host memory; None for other values."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if on_gpu(value):
        import cupy

        return cupy.asarray(value).get()
    return None


def _occupancy(command: CudaCommand, kernel: Kernel) -> Occupancy:
    return occupancy(
        command.device,
        threads=int(np.prod(command.block)),
        registers=kernel.program.registers,
        smem=kernel.program.static_smem_bytes + command.smem,
    )


def _report(
    command: CudaCommand,
    kernel: Kernel | None,
    run: Run | None,
    failure: Error | None,
    arrays: tuple[ArrayArgument, ...],
) -> Report:
    launch = (command.name, command.grid, command.block, command.arch)
    program = kernel.program if kernel else None
    return Report(
        *launch,
        source=command.source,
        file=command.file,
        executor=run.executor if run else "",
        registers=program.registers if program else None,
        spill_bytes=program.spill_bytes if program else 0,
        static_smem_bytes=program.static_smem_bytes if program else 0,
        smem_bytes=command.smem,
        occupancy=_occupancy(command, kernel) if kernel and kernel.program.registers else None,
        arrays=arrays,
        counters=run.counters if run else {},
        by_line=run.by_line() if run else {},
        level=run.level if run and run.instructions else "",
        fused=fused_sentences(run) if run else (),
        state=_state(failure),
        notes=_notes(failure, command),
        message=str(failure or ""),
        findings=tuple(_named(finding, command) for finding in run.findings) if run else (),
        remarks=run.remarks if run else (),
    )


def _state(failure: Error | None) -> str:
    if failure is None:
        return "ran"
    if isinstance(failure, KernelFault):
        return failure.kind
    if isinstance(failure, CompileError):
        return "does not compile"
    return "unsupported instruction" if isinstance(failure, UnsupportedInstruction) else "failed"


def _notes(failure: Error | None, command: CudaCommand) -> tuple[tuple[int, str], ...]:
    """(line, sentence) of a failure, for those of its sentences that speak of a line of the source."""
    if isinstance(failure, CompileError):
        found = re.findall(rf"^{re.escape(command.file)}\((\d+)\): (.*)$", failure.log, re.MULTILINE)
        return tuple((int(line), text) for line, text in found)
    line = getattr(failure, "line", None)
    if line is None or getattr(failure, "file", None) != command.file:
        return ()
    text = str(failure).partition("\n  at ")[0]
    header = getattr(failure, "header", None)
    if isinstance(failure, KernelFault):
        text = _with_name(text, failure.argument, command)
        where = [
            f"thread {failure.thread}" if failure.thread else "",
            f"block {failure.block}" if failure.block else "",
        ]
        where.append(f"address {failure.address}" if failure.address is not None else "")
        where.append(f"in {header}" if header else "")
        text += f"\n({', '.join(filter(None, where))})"
    return ((line, text),)


def _named(finding: Finding, command: CudaCommand) -> Finding:
    return replace(finding, message=_with_name(finding.message, finding.argument, command))


def _with_name(text: str, argument: int | None, command: CudaCommand) -> str:
    """A fault speaks of "argument 0": the notebook knows it as ``x``."""
    if argument is None:
        return text
    said = f"argument {argument}"
    return re.sub(rf"{said}\b", f"{command.args[argument][0]} ({said})".replace("\\", r"\\"), text)
