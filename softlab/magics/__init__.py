"""``%load_ext softlab``: ``%%cuda`` runs the CUDA kernel in a cell, with or without a GPU; ``%%exercise`` grades it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from softlab.kernel import Kernel
from softlab.magics.command import CudaCommand, UsageError, argument_parser, only_kernel, read_command
from softlab.magics.comparing import comparison, earlier_run, keep_results
from softlab.magics.estimating import EstimateCard, estimate_card
from softlab.magics.execution import command_of, execute
from softlab.traces import Run
from softlab.views.estimates import ESTIMATE

if TYPE_CHECKING:
    from softlab.course.kernels import WriteKernel

__all__ = ["ESTIMATE", "UsageError", "load_ipython_extension", "only_kernel", "read_command"]


def load_ipython_extension(ipython: Any) -> None:
    """Add ``%%cuda`` (and ``%cuda --file ...``) and ``%%exercise`` to an IPython shell."""

    def cuda(line: str, cell: str | None = None) -> None:
        _cuda(ipython, line, cell or "")

    def exercise(line: str, cell: str | None = None) -> None:
        """%%exercise ID: grade the CUDA kernel in the cell as the answer to that exercise, and show what it did.

        The kernel is tried on the emulator at several sizes. The run that decided is the variable ``run``.
        ``%exercise ID`` puts a cell with the kernel to start from below.
        """
        asked = _asked(line)
        if cell is None:
            ipython.set_next_input(f"%%exercise {asked.id}\n{asked.start or _empty(asked)}")
        else:
            _exercise(ipython, asked, cell)

    cuda.__doc__ = argument_parser().format_help()
    ipython.register_magic_function(cuda, "line_cell", "cuda")
    ipython.register_magic_function(exercise, "line_cell", "exercise")


def _cuda(ipython: Any, line: str, cell: str) -> None:
    from IPython.core.error import UsageError as ShellUsageError
    from IPython.display import display

    if "--help" in line.split() or "-h" in line.split():
        print(argument_parser().format_help())
        return
    try:
        command = read_command(line, cell, ipython.user_ns)
        earlier = earlier_run(command.compare, ipython.user_ns) if command.compare else None
        report, run, kernel, before, after = execute(command)
    except (UsageError, ValueError, TypeError) as error:
        raise ShellUsageError(str(error)) from None
    ipython.user_ns[command.out] = run
    display(report)
    if run is not None:
        keep_results(run, after)
    if earlier is not None and run is not None:
        display(comparison(earlier, run))
    if command.code and kernel is not None and run is not None:
        display(_listing_html(kernel, run), raw=True)
    if command.step and kernel is not None:
        display(_stepper(command, kernel, before))
    if command.estimate and kernel is not None and run is not None:
        display(estimate_card(command, kernel, run, before), metadata={ESTIMATE: True})


def _stepper(command: CudaCommand, kernel: Kernel, before: Sequence[Any]) -> Any:
    """The stepper of a launch, also of one that ended with a fault; or a sentence that says why there is none."""
    from softlab.errors import Error
    from softlab.explorers import StepperExplorer

    args = [value if old is None else old for (_, value), old in zip(command.args, before, strict=True)]
    arrays = [value for (_, value), old in zip(command.args, before, strict=True) if isinstance(value, np.ndarray)]
    if any(np.may_share_memory(a, b) for a, b in combinations(arrays, 2)):
        return EstimateCard(("No stepper: two arguments share memory, and it works on copies.",))
    try:
        return StepperExplorer.of(kernel, command.grid, command.block, args, command.smem)
    except Error as error:
        return EstimateCard((f"No stepper: {str(error).partition(chr(10))[0].rstrip('.')}.",))


def _empty(asked: WriteKernel) -> str:
    return f"{asked.declaration} {{\n}}"


def _asked(line: str) -> WriteKernel:
    """The exercise that a line names."""
    from IPython.core.error import UsageError as ShellUsageError

    from softlab.course import exercise as named
    from softlab.course.kernels import WriteKernel

    try:
        asked = named(line.strip())
    except ValueError as error:
        raise ShellUsageError(f"%%exercise: {error}") from None
    if not isinstance(asked, WriteKernel):
        raise ShellUsageError(f"%%exercise: {asked.id} asks for no kernel. Call grade(...) of the exercise")
    return asked


def _exercise(ipython: Any, asked: WriteKernel, cell: str) -> None:
    from IPython.display import display

    verdict = asked.grade(cell)
    ipython.user_ns["run"] = verdict.run
    display(verdict)
    if verdict.launch is not None:
        display(execute(command_of(cell, asked.kernel, asked.arch, verdict.launch))[0])


def _listing_html(kernel: Kernel, run: Run) -> dict[str, str]:
    from softlab.instruments.listing import listing
    from softlab.views.source import source_view

    return {
        "text/html": source_view(listing(kernel, run)),
        "text/plain": f"CUDA, PTX and SASS of {kernel.program.name}",
    }
