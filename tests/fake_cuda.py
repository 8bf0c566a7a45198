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

from softlab.cuda import gpu, native_launches, workspaces
from softlab.cuda.compile import Program
from softlab.kernel import Kernel
from softlab.operators import prepared


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig (cuda.h)."""

    _fields_ = (
        ("sizes", ctypes.c_uint * 7),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint),
    )

    def given(self) -> list[tuple[int, int]]:
        """The attributes: numbers and values."""
        return [(a.number, a.value) for a in (_Attribute * self.count).from_address(self.attributes)]


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute (cuda.h). All values are numbers here."""

    _fields_ = (("number", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_int), ("rest", ctypes.c_int * 15))


@dataclass(frozen=True)
class DriverLaunch:
    """What the driver was asked for."""

    program: Program
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    smem: int
    stream: int
    arguments: tuple[int, ...]
    cooperative: bool = False
    early: bool = False


class RefusedError(Exception):
    """Instead of CuPy's CUDADriverError, which asks the driver for its own text. status: of cuda.h."""

    def __init__(self, status: int) -> None:
        super().__init__(f"error {status}")
        self.status = status


@dataclass
class FakeCuda:
    """The driver. ``device`` and ``stream`` are the current ones; ``pause`` seconds pass within each launch;
    ``refuses`` is an error's number, or 0; ``natively`` counts what machine code asks for. ``capturing`` are the
    streams that are being captured in the global mode; ``mode`` is what the thread may do meanwhile (2: all);
    ``memory`` is what it has allocated, by address."""

    device: int = 0
    stream: int = 0x5EA
    pause: float = 0.0
    refuses: int = 0
    natively: int = 0
    launches: list[DriverLaunch] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)
    kernels: dict[Program, Kernel] = field(default_factory=dict)
    capturing: set[int] = field(default_factory=set)
    mode: int = 0
    memory: dict[int, np.ndarray] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

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
        addresses: int, extra: int,
    ) -> None:  # fmt: skip
        self._refuse()
        assert not extra
        self._launch(function, (gx, gy, gz), (bx, by, bz), smem, stream, addresses, False)

    def launch_cooperative(
        self, function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, smem: int, stream: int, slots: int
    ) -> None:  # fmt: skip
        self._launch(function, (gx, gy, gz), (bx, by, bz), smem, stream, slots, True)

    def _launch(
        self, function: int, grid: tuple[int, int, int], block: tuple[int, int, int], smem: int, stream: int,
        addresses: int, cooperative: bool, early: bool = False,
    ) -> None:  # fmt: skip
        program = self.programs[function - 1]
        kernel = self.kernels.setdefault(program, Kernel.from_program(program))
        where = (ctypes.c_void_p * len(kernel._emulated.program.image.params)).from_address(addresses)
        time.sleep(self.pause)  # the driver lets go of Python's lock here
        arguments = tuple(ctypes.c_int64.from_address(address).value for address in where)
        self.launches.append(DriverLaunch(program, grid, block, smem, stream, arguments, cooperative, early))
        dtype = {"__half": np.float16, "float": np.float32, "double": np.float64}[
            program.name.partition("<")[2].partition(",")[0]
        ]
        integers = (
            3 if program.name.startswith(("fast_columns", "fast_strided", "fast_shifted", "fast_strip_grid")) else 2
        )
        pointers, (rows, cols, *more) = arguments[:-integers], arguments[-integers:]
        arrays = [self.allocated(p) if p in self else _at(p, rows, cols, dtype) for p in pointers]
        args = (*arrays, rows, cols, *more)
        kernel.run(grid, block, args, smem=smem, check=False, record=False, cooperative=cooperative)

    def launch_natively(self, config: int, function: int, addresses: int, extra: int | None) -> int:
        """As :meth:`launch`, with the driver's own types: it returns a status."""
        self.natively += 1
        how = LaunchConfig.from_address(config)
        attributes = how.given()
        assert not extra
        assert {value for _, value in attributes} <= {1}
        numbers = [number for number, _ in attributes]
        try:
            self._refuse()
            self._launch(
                function, (*how.sizes[:3],), (*how.sizes[3:6],), how.sizes[6], how.stream or 0, addresses, 2 in numbers,
                6 in numbers,
            )  # fmt: skip
        except RefusedError as error:
            return error.status
        return 0

    def captures_natively(self, stream: int | None, found: Any) -> int:
        """As :meth:`is_capturing`, with the driver's own types."""
        found[0] = int((stream or 0) in self.capturing)
        return 0

    # Memory that is allocated while streams may be captured

    def malloc(self, nbytes: int) -> int:
        """Memory full of ones. In the global mode of capturing a thread must not ask for any."""
        self.calls.append("malloc")
        self._refuse()
        if self.capturing and self.mode != 2:
            raise RefusedError(900)
        host = np.full(nbytes + 256, 255, np.uint8)
        start = -host.ctypes.data % 256
        self.memory[host.ctypes.data + start] = host[start : start + nbytes]
        return host.ctypes.data + start

    def memset(self, pointer: int, value: int, nbytes: int, stream: int) -> None:
        assert stream not in self.capturing
        self.calls.append("memset")
        self.allocated(pointer)[:nbytes] = value

    def exchange_mode(self, mode: Any) -> None:
        self.mode, mode._obj.value = mode._obj.value, self.mode

    def is_capturing(self, stream: int) -> bool:
        self.calls.append("is_capturing")
        self._refuse()
        return stream in self.capturing

    def allocated(self, pointer: int) -> np.ndarray:
        """What was allocated, from that address on."""
        base, array = next((b, a) for b, a in self.memory.items() if b <= pointer < b + a.nbytes)
        return array[pointer - base :]

    def __contains__(self, pointer: int) -> bool:
        return any(base <= pointer < base + array.nbytes for base, array in self.memory.items())

    def _refuse(self) -> None:
        if self.refuses:
            raise RefusedError(self.refuses)


def _at(pointer: int, rows: int, cols: int, dtype: Any) -> np.ndarray:
    memory = (ctypes.c_char * (rows * cols * np.dtype(dtype).itemsize)).from_address(pointer)
    return np.frombuffer(memory, dtype).reshape(rows, cols)


_NATIVE_LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)
_NATIVE_CAPTURES = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))


def native_addresses(launch: Any, captures: Any) -> tuple[tuple[int, int], Any]:
    """The addresses of functions of Python as ``cuLaunchKernelEx`` and ``cuStreamIsCapturing``, and what keeps them."""
    functions = _NATIVE_LAUNCH(launch), _NATIVE_CAPTURES(captures)
    first, second = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions)
    return (first, second), functions


@contextmanager
def instead_of_cuda(*, native: bool = False) -> Iterator[FakeCuda]:
    """The fake instead of CuPy's driver, for prepared launches and for workspaces. ``native``: machine code, which
    llvmlite compiles, calls it."""
    cupy = pytest.importorskip("cupy")
    driver, runtime = cupy.cuda.driver, cupy.cuda.runtime
    fake = FakeCuda()
    if native:
        pytest.importorskip("llvmlite")
    addresses, _kept = native_addresses(fake.launch_natively, fake.captures_natively)

    with pytest.MonkeyPatch.context() as patch, cupy.cuda.using_allocator(fake.allocate):
        patch.setattr(gpu, "_function", fake.function)
        patch.setattr(native_launches, "driver_functions", lambda: addresses if native else (0, 0))
        patch.setattr(driver, "launchKernel", fake.launch)
        patch.setattr(driver, "launchCooperativeKernel", fake.launch_cooperative)
        patch.setattr(driver, "CUDADriverError", RefusedError)
        patch.setattr(runtime, "CUDARuntimeError", RefusedError)
        patch.setattr(runtime, "malloc", fake.malloc)
        patch.setattr(runtime, "memsetAsync", fake.memset)
        patch.setattr(runtime, "streamIsCapturing", fake.is_capturing)
        patch.setattr(runtime, "streamCreateWithFlags", lambda flags: 0x0DD)
        for name in ("streamSynchronize", "streamDestroy", "deviceSynchronize"):
            patch.setattr(runtime, name, lambda *stream, name=name: fake.calls.append(name))
        patch.setattr(
            workspaces, "_driver", lambda: SimpleNamespace(cuThreadExchangeStreamCaptureMode=fake.exchange_mode)
        )
        patch.setattr(runtime, "setDevice", fake.set_device)
        patch.setattr(cupy.cuda, "get_current_stream", lambda device: SimpleNamespace(ptr=fake.stream))
        patch.setattr(runtime, "getDeviceCount", lambda: 2)
        patch.setattr(runtime, "getDevice", lambda: fake.device)
        patch.setattr(prepared.Device, "present", staticmethod(lambda: prepared.Device.named("H200")))
        _forget()
        try:
            yield fake
        finally:
            _forget()


def _forget() -> None:
    prepared._fast_path.cache_clear()
    prepared._prepare.cache_clear()
    workspaces.workspaces_of.cache_clear()
