"""A kernel on a GPU: its arguments, its variables and its launch through CuPy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from softlab.cuda.compile import Program
from softlab.cuda.program import RELOCATABLE
from softlab.cuda.structs import Struct, arrays_of
from softlab.cuda.tensor_maps import TensorMap
from softlab.cuda.textures import Image
from softlab.errors import Error
from softlab.kernel.limits import LaunchShape
from softlab.kernel.records import program_fields
from softlab.kernel.variables import VariableStore
from softlab.traces import Buffer, Run

if TYPE_CHECKING:
    from softlab.cuda.gpu import OwnModule
    from softlab.emulator.ptx import linker


class GpuKernel:
    """A compiled kernel as a GPU runs it. ``image``: its linked PTX, which has its parameters and variables."""

    def __init__(self, program: Program, image: linker.Image, variables: VariableStore) -> None:
        self._program = program
        self._image = image
        self._variables = variables
        self._modules: dict[int, OwnModule] = {}

    def launch(self, shape: LaunchShape, args: tuple[Any, ...], cooperative: bool) -> Run:
        """Launch on the GPU of the arrays, on its current stream, and wait.

        Raises:
            TypeError: some arrays are on a GPU and others are not.
            Error: the kernel launches kernels, for which nothing is linked here.
        """
        _check_linked(self._program)
        import cupy

        from softlab.cuda import exchange, gpu, gpu_textures

        given = [array for argument in args for array in arrays_of(argument)]
        if any(isinstance(array, np.ndarray) for array in given):
            raise TypeError(
                "args mix arrays on a GPU and NumPy arrays: move all of them to one side (cupy.asarray, x.get())"
            )
        with exchange.on_stream_of(next(array for array in given if is_on_gpu(array))):
            arrays = tuple(self._for_driver(i, a) for i, a in enumerate(args))
            with self._current_module() as module, gpu_textures.bound(arrays, self._fetches_by_index) as bound:
                gpu.launch(
                    *(self._program, shape.grid, shape.block, bound, shape.smem),
                    cooperative=cooperative,
                    module=module,
                )
            cupy.cuda.get_current_stream().synchronize()
        return Run(
            executor="gpu",
            grid=shape.grid,
            block=shape.block,
            smem_bytes=shape.smem,
            remarks=self._program.remarks,
            **program_fields(self._program),
            buffers=tuple(
                Buffer(i, a.data.ptr, a.nbytes, a.dtype.name)
                for i, a in enumerate(arrays)
                if hasattr(a, "data") and not isinstance(a, np.generic)
            ),
        )

    @contextmanager
    def _current_module(self) -> Iterator[OwnModule | None]:
        """The module on the current GPU whose variables hold what they hold now; None for a kernel without any."""
        variables = self._image.variables
        if not variables:
            yield None
            return
        from softlab.cuda.gpu import OwnModule

        module = OwnModule.current(self._modules, self._program)
        self._variables.send(module, [v.name for v in variables])
        yield module
        self._variables.launched(module, [v.name for v in variables if v.space != "const"])

    @cached_property
    def _fetches_by_index(self) -> bool:
        """Whether the kernel reads textures of one dimension by ``tex1Dfetch``."""
        code = self._image.instructions
        return any(i.opcode == "tex" and i.has("1d") and i.modifiers[-1] == "s32" for i in code)

    def _for_driver(self, number: int, value: Any) -> Any:
        """An argument as the driver takes it; a Python number as the parameter's type."""
        from softlab.cuda import exchange
        from softlab.emulator.machine.arguments import scalar_for_driver

        if isinstance(value, Image | TensorMap):
            return value.with_array(exchange.as_cupy)
        if isinstance(value, Struct):
            return value.with_arrays(
                lambda one: one.with_array(exchange.as_cupy) if isinstance(one, Image) else exchange.as_cupy(one)
            )
        if is_on_gpu(value):
            return exchange.as_cupy(value)
        return scalar_for_driver(self._image, number, value)


def is_on_gpu(argument: Any) -> bool:
    """Whether an argument is an array in a GPU's memory."""
    if isinstance(argument, np.ndarray | np.generic | int | float | bytes):
        return False
    from softlab.cuda import exchange

    return exchange.is_cuda_array(argument)


def _check_linked(program: Program) -> None:
    if RELOCATABLE in program.options:
        raise Error(
            f"{program.name} launches kernels (dynamic parallelism): it runs in the emulator alone. Pass NumPy arrays"
        )
