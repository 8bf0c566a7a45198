"""A CUDA that is not there: CuPy arrays over host memory, and a driver that hands each launch to the emulator.

It shows what a launch on a GPU would get: the handles, the sizes and, read from the block of arguments as the driver
reads it, the pointers and integers.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab import gpu, prepared
from softlab.compile import Program
from softlab.kernel import Kernel


@dataclass(frozen=True)
class Launch:
    """What the driver was asked for."""

    program: Program
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    smem: int
    stream: int
    arguments: tuple[int, ...]


class RefusedError(Exception):
    """In the place of CuPy's CUDADriverError, which asks the driver for its own text. status: of cuda.h."""

    def __init__(self, status: int) -> None:
        super().__init__(f"error {status}")
        self.status = status


@dataclass
class FakeCuda:
    """The driver. ``device`` and ``stream`` are the current ones; ``pause`` seconds pass within each launch;
    ``refuses`` is an error's number, or 0."""

    device: int = 0
    stream: int = 0x5EA
    pause: float = 0.0
    refuses: int = 0
    launches: list[Launch] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)
    kernels: dict[Program, Kernel] = field(default_factory=dict)

    def array(self, host: np.ndarray, device: int = 0) -> Any:
        """A CuPy array over the memory of a NumPy array (which it keeps alive), on a device."""
        import cupy

        start, end = np.lib.array_utils.byte_bounds(host)
        memory = cupy.cuda.UnownedMemory(start, end - start, host, device)
        first = cupy.cuda.MemoryPointer(memory, host.ctypes.data - start)
        return cupy.ndarray(host.shape, host.dtype, first, host.strides)

    def allocate(self, nbytes: int) -> Any:
        """Memory for a new CuPy array, full of NaN."""
        import cupy

        host = np.full(nbytes, 255, np.uint8)
        return cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(host.ctypes.data, nbytes, host, self.device), 0)

    def set_device(self, device: int) -> None:
        """Gives the thread a context."""
        assert device == self.device
        self.refuses = 0

    def function(self, program: Program, device: int) -> Any:
        self.programs.append(program)
        return SimpleNamespace(ptr=len(self.programs))

    def launch(
        self, function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, smem: int, stream: int,
        places: int, extra: int,
    ) -> None:  # fmt: skip
        if self.refuses:
            raise RefusedError(self.refuses)
        assert not extra
        program = self.programs[function - 1]
        count = 5 if "backward" in program.name else 4
        where = (ctypes.c_void_p * count).from_address(places)
        time.sleep(self.pause)  # the driver lets go of Python's lock here
        arguments = tuple(ctypes.c_int64.from_address(place).value for place in where)
        self.launches.append(Launch(program, (gx, gy, gz), (bx, by, bz), smem, stream, arguments))
        dtype = {"__half": np.float16, "float": np.float32, "double": np.float64}[
            program.name.partition("<")[2].partition(",")[0]
        ]
        *pointers, rows, cols = arguments
        arrays = [_at(pointer, rows, cols, dtype) for pointer in pointers]
        kernel = self.kernels.setdefault(program, Kernel.from_program(program))
        kernel.run((gx, gy, gz), (bx, by, bz), (*arrays, rows, cols), smem=smem, check=False, record=False)


def _at(pointer: int, rows: int, cols: int, dtype: Any) -> np.ndarray:
    memory = (ctypes.c_char * (rows * cols * np.dtype(dtype).itemsize)).from_address(pointer)
    return np.frombuffer(memory, dtype).reshape(rows, cols)


@contextmanager
def instead_of_cuda() -> Iterator[FakeCuda]:
    """The fake in the place of CuPy's driver, for the launches that are kept ready."""
    cupy = pytest.importorskip("cupy")
    driver = cupy.cuda.driver
    fake = FakeCuda()

    with pytest.MonkeyPatch.context() as patch, cupy.cuda.using_allocator(fake.allocate):
        patch.setattr(gpu, "_function", fake.function)
        patch.setattr(driver, "launchKernel", fake.launch)
        patch.setattr(driver, "CUDADriverError", RefusedError)
        patch.setattr(cupy.cuda.runtime, "setDevice", fake.set_device)
        patch.setattr(cupy.cuda, "get_current_stream", lambda device: SimpleNamespace(ptr=fake.stream))
        patch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 2)
        patch.setattr(cupy.cuda.runtime, "getDevice", lambda: fake.device)
        patch.setattr(prepared.Device, "present", staticmethod(lambda: prepared.Device.named("H200")))
        _forget()
        try:
            yield fake
        finally:
            _forget()


def _forget() -> None:
    prepared._way.cache_clear()
    prepared._prepare.cache_clear()
