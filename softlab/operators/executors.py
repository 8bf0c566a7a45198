"""The two executors of a plan: the emulator for NumPy arrays, the GPU for CuPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from softlab.cuda import exchange, gpu
from softlab.cuda.compile import Program, compile_program, kernel_sources
from softlab.cuda.exchange import ArrayInfo
from softlab.cuda.workspaces import with_workspace
from softlab.kernel import Kernel
from softlab.operators import arrays
from softlab.plans import Plan
from softlab.traces import Run


def arguments(plan: Plan, inputs: Sequence[Any], output: Any) -> tuple[Any, ...]:
    """The arguments of a plain kernel: ``(*inputs, output, rows, cols)``, and the stride if it is not 1.

    Arguments:
        inputs, output: C-contiguous arrays of rows * cols elements of the plan's dtype.
    """
    return (*inputs, output, *map(np.int64, integers(plan)))


def integers(plan: Plan) -> tuple[int, ...]:
    """What a plain kernel takes after its arrays."""
    return (plan.rows, plan.cols) if plan.stride == 1 else (plan.rows, plan.cols, plan.stride)


def emulation(plan: Plan, args: Sequence[Any], record: bool = False) -> Callable[[], Run]:
    """A run of a plan's kernel in the emulator, ready to be called.

    Arguments:
        args: NumPy arrays, NumPy scalars of the parameters' types, and Structs; without the workspace of a plan that
            has one. The workspace is new and zero. Among the run's buffers it follows the output, as in the kernel.
        record: keep counters and accesses in the run.
    """
    if plan.workspace_bytes:
        args = with_workspace(args, np.zeros(plan.workspace_bytes // 8, np.uint64))
    return partial(
        _kernel(program_of(plan)).run,
        plan.grid,
        plan.block,
        args,
        smem=plan.smem_bytes,
        check=False,
        record=record,
        cooperative=plan.cooperative,
    )


def emulate(plan: Plan, args: Sequence[Any], record: bool = False) -> Run:
    """Run a plan's kernel in the emulator; arguments as for :func:`emulation`."""
    return emulation(plan, args, record)()


def gpu_launch(plan: Plan, args: Sequence[Any], record: bool = False) -> Callable[[], None]:
    """A launch of a plan's kernel on the current GPU and CuPy's current stream, ready to be called.

    Arguments:
        args: as for :func:`emulation`, with CuPy arrays.
        record: a GPU records nothing, so False alone.

    Raises:
        ValueError: ``record`` is True.
    """
    if record:
        raise ValueError("a launch on a GPU records nothing: run NumPy arrays in the emulator to get a trace")
    return partial(
        gpu.launch,
        program_of(plan),
        (plan.grid, 1, 1),
        (*plan.block, 1),
        args,
        plan.smem_bytes,
        cooperative=plan.cooperative,
        workspace_bytes=plan.workspace_bytes,
    )


@dataclass(frozen=True)
class Executor:
    """An executor, and how arrays get to its kernels and back.

    Arguments:
        xp: the library of its arrays: NumPy or CuPy.
        to_kernel: (array, its info) -> array of ``xp`` over the same memory.
        from_kernel: (array of ``xp``, a caller's array, its info) -> array of the caller's library.
        on_stream_of: (array, its info) -> a context in which the array's GPU and stream are current.
        ready: (plan, arguments, record) -> a function that runs the kernel. It returns the run; None on a GPU.
    """

    xp: Any
    to_kernel: Callable[[Any, ArrayInfo], Any]
    from_kernel: Callable[[Any, Any, ArrayInfo], Any]
    on_stream_of: Callable[[Any, ArrayInfo], AbstractContextManager[None]]
    ready: Callable[[Plan, Sequence[Any], bool], Callable[[], Run | None]]


@lru_cache(maxsize=2)
def executor_for(on_gpu: bool) -> Executor:
    """The executor for arrays in memory of a GPU, or of the host."""
    if not on_gpu:
        return Executor(np, arrays.host_array, arrays.from_host, lambda x, info: nullcontext(), emulation)
    import cupy

    return Executor(cupy, exchange.as_cupy, exchange.from_cupy, exchange.on_stream_of, gpu_launch)


def program_of(plan: Plan) -> Program:
    """The plan's kernel, compiled for the plan's architecture."""
    return _program(plan.file, plan.name, plan.arch, plan.options)


@lru_cache(maxsize=256)
def _program(file: str, name: str, arch: str, options: tuple[str, ...]) -> Program:
    return compile_program(kernel_sources()[file], name, arch=arch, options=options, file=file)


@lru_cache(maxsize=64)
def _kernel(program: Program) -> Kernel:
    return Kernel.from_program(program)
