"""Runs a plan on (rows, cols) arrays: NumPy arrays in the emulator, CuPy arrays on their GPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from softlab import gpu
from softlab.compile import Program, compile_program, kernel_sources
from softlab.kernel import Kernel
from softlab.plans import Plan
from softlab.structs import arrays_of
from softlab.traces import Run
from softlab.workspaces import with_workspace


def execute(plan: Plan, inputs: Sequence[Any], output: Any) -> None:
    """Run a plan whose kernel takes ``(*inputs, output, rows, cols)``, or a workspace behind the output.

    Arguments:
        inputs, output: C-contiguous arrays of shape (rows, cols) and the plan's dtype, all NumPy or all CuPy.
    """
    launch(plan, arguments(plan, inputs, output))


def execute_traced(plan: Plan, inputs: Sequence[np.ndarray], output: np.ndarray) -> Run:
    """As :func:`execute`, in the emulator, and returns what it did."""
    return emulate(plan, arguments(plan, inputs, output), record=True)


def arguments(plan: Plan, inputs: Sequence[Any], output: Any) -> tuple[Any, ...]:
    """The arguments of a kernel without functors of its own: ``(*inputs, output, rows, cols)``."""
    return (*inputs, output, np.int64(plan.rows), np.int64(plan.cols))


def launch(plan: Plan, args: Sequence[Any]) -> None:
    """Run a plan's kernel on any arguments: in the emulator where the arrays among them are NumPy's.

    Arguments:
        args: arrays, NumPy scalars of the parameters' types, and Structs; without the workspace of a plan that has one.
    """
    if any(isinstance(array, np.ndarray) for argument in args for array in arrays_of(argument)):
        emulate(plan, args)
    else:
        gpu.launch(
            program_of(plan),
            (plan.grid, 1, 1),
            (*plan.block, 1),
            args,
            plan.smem_bytes,
            cooperative=plan.cooperative,
            workspace_bytes=plan.workspace_bytes,
        )


def emulate(plan: Plan, args: Sequence[Any], *, record: bool = False) -> Run:
    """Run a plan's kernel in the emulator; with ``record`` the run has counters and accesses.

    A workspace is new and zero, and among the run's buffers stands where the kernel takes it: behind the output.
    """
    if plan.workspace_bytes:
        args = with_workspace(args, np.zeros(plan.workspace_bytes, np.uint8))
    return _kernel(program_of(plan)).run(
        plan.grid,
        plan.block,
        args,
        smem=plan.smem_bytes,
        check=False,
        record=record,
        cooperative=plan.cooperative,
    )


def program_of(plan: Plan) -> Program:
    """The plan's kernel, compiled for the plan's architecture."""
    return _program(plan.file, plan.name, plan.arch, plan.options)


@lru_cache(maxsize=256)
def _program(file: str, name: str, arch: str, options: tuple[str, ...]) -> Program:
    return compile_program(kernel_sources()[file], name, arch=arch, options=options, file=file)


@lru_cache(maxsize=64)
def _kernel(program: Program) -> Kernel:
    return Kernel.from_program(program)
