"""Launches of compiled kernels on a GPU, through CuPy's binding of the CUDA driver."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy as np

from softlab.cuda import native_launches
from softlab.cuda.compile import Program
from softlab.cuda.exchange import as_cupy
from softlab.cuda.gpu_tensor_maps import encoded
from softlab.cuda.gpu_textures import texture_object
from softlab.cuda.structs import PointerTable, Struct
from softlab.cuda.tensor_maps import TensorMap
from softlab.cuda.textures import Image
from softlab.cuda.workspaces import with_workspace, workspaces_of
from softlab.errors import Error

#: Shared memory of a block for which the launch needs no attribute (CUDA C++ Programming Guide, "Compute
#: Capabilities").
_SMEM_WITHOUT_ASKING = 48 * 1024
#: CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES and CUDA_ERROR_INVALID_CONTEXT (cuda.h).
_MAX_DYNAMIC_SMEM = 8
_INVALID_CONTEXT = 201
#: CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED (cuda.h), and the largest cluster that does not need it (CUDA C++
#: Programming Guide, "Thread Block Clusters").
_NON_PORTABLE_CLUSTER = 14
_PORTABLE_CLUSTER = 8
#: cudaDevAttrMaxSharedMemoryPerBlockOptin and cudaDevAttrMultiProcessorCount (driver_types.h).
_MAX_SMEM_OPTIN = 97
_MULTIPROCESSORS = 16
#: What kernels for sm_90 execute before their first access to global memory (kernels/fast_launch.cuh).
_WAITS = "griddepcontrol.wait"
#: cudaMemcpyHostToDevice and cudaMemcpyDeviceToHost (driver_types.h).
_HOST_TO_DEVICE, _DEVICE_TO_HOST = 1, 2


def launch(
    program: Program,
    grid: tuple[int, ...],
    block: tuple[int, ...],
    args: Sequence[Any],
    smem: int = 0,
    *,
    cooperative: bool = False,
    workspace_bytes: int = 0,
    module: OwnModule | None = None,
) -> None:
    """Launch a compiled kernel on the current device and CuPy's current stream, without waiting for it.

    Arguments:
        program: compiled for this GPU, or for an older one (its PTX is then compiled by the driver, once).
        grid, block: up to three sizes each.
        args: CuPy arrays, NumPy scalars of the parameters' types, and Structs of both.
        smem: dynamic shared memory of a block in bytes. For more than 48 KiB this sets the kernel's attribute.
        cooperative: launch only if the GPU can hold all blocks at once, so that they may wait for each other.
        workspace_bytes: size of a :class:`softlab.cuda.workspaces.Workspaces`, passed behind the last array if not 0.
        module: the program, loaded with variables of its own; by default all launches of a program share them.

    Raises:
        softlab.Error: the program is for a newer GPU, or the GPU refuses the launch; the message has the sizes.
    """
    from cupy.cuda import driver, runtime

    device = runtime.getDevice()
    function = _function(program, device) if module is None else module.function
    refused = partial(_refused, program, grid, block, smem, cooperative)
    try:
        _allow_smem(function, program, smem, device)
        if workspace_bytes:
            args = _with_workspace(args, program, device, workspace_bytes)
        if cooperative and prod(grid) > (most := _resident(function, prod(block), smem, device)):
            raise refused(f"it holds {most} such blocks at once")
        given = tuple(map(_argument, args))
        function(_three(grid), _three(block), given, smem, enable_cooperative_groups=cooperative)
    except (driver.CUDADriverError, runtime.CUDARuntimeError) as error:
        raise refused(error) from error


def _with_workspace(args: Sequence[Any], program: Program, device: int, nbytes: int) -> Sequence[Any]:
    from cupy.cuda import get_current_stream

    workspace = workspaces_of(device).of(get_current_stream().ptr, nbytes, program.name)
    return with_workspace(args, np.uint64(workspace))


def _resident(function: Any, threads: int, smem: int, device: int) -> int:
    """Blocks that the device holds at once. CuPy would launch only these, and give no more than a warning."""
    from cupy.cuda import driver, runtime

    sms = runtime.deviceGetAttribute(_MULTIPROCESSORS, device)
    return driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, threads, smem) * sms


def _allow_smem(function: Any, program: Program, smem: int, device: int) -> None:
    """Let a block have that much dynamic shared memory: all the device has, so no launch lowers another's limit."""
    from cupy.cuda import driver, runtime

    if smem + program.static_smem_bytes > _SMEM_WITHOUT_ASKING:
        most = runtime.deviceGetAttribute(_MAX_SMEM_OPTIN, device) - program.static_smem_bytes
        driver.funcSetAttribute(function.ptr, _MAX_DYNAMIC_SMEM, max(most, smem))  # the driver refuses too much


def _refused(
    program: Program, grid: Sequence[int], block: Sequence[int], smem: int, cooperative: bool, reason: object
) -> Error:
    together = " The launch is cooperative: the GPU must hold all blocks at once." if cooperative else ""
    return Error(
        f"the GPU refuses to launch {program.name}: {reason}. Asked for: grid {grid}, block {block}; a block takes "
        f"{smem} bytes of dynamic and {program.static_smem_bytes} of static shared memory, a thread "
        f"{program.registers} registers.{together} Compare with the limits in softlab.Device.present()."
    )


def launcher(
    program: Program,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    smem: int,
    pointers: int,
    integers: Sequence[int],
    device: int,
    *,
    cooperative: bool = False,
    workspace_bytes: int = 0,
) -> Callable[..., None]:
    """A function that launches one kernel: (handle of a stream of ``device``, *pointers) -> None.

    It does once what :func:`launch` does at each call. ``device`` must be the current one, here and at each call.
    Threads may call the function at once. It is machine code where llvmlite is installed. Then a kernel that waits for
    the kernel before it may start early: :mod:`softlab.cuda.native_launches`. Cooperative ones gain nothing by it.

    Arguments:
        pointers, integers: the kernel takes this number of pointers, and then these integers, all of 8 bytes.
        cooperative, workspace_bytes: as in :func:`launch`; the pointer to the workspace follows the others.

    Raises:
        softlab.Error: the program is for a newer GPU; from the function, the GPU refuses the launch.
    """
    function = _function(program, device)
    _allow_smem(function, program, smem, device)
    refused = partial(_refused, program, grid, block, smem, cooperative)
    sizes = (*grid, *block, smem)
    call = _driver_call((function.ptr, *sizes), cooperative)
    pointers += workspace_bytes > 0
    launch_on = _launch_on(call, _retry(call, device, refused), pointers, integers)
    starts = native_launches.Starts(cooperative, early=not cooperative and _WAITS in program.ptx)
    launch_on = native_launches.launcher(function.ptr, sizes, pointers, integers, launch_on, starts)
    if not workspace_bytes:
        return launch_on
    return _launch_with_workspace(launch_on, device, workspace_bytes, program.name, refused)


#: (stream, address of the list of arguments, extra) -> None. ``extra`` is the driver's, and always 0.
_DriverCall = Callable[[int, int, int], None]


def _driver_call(how: tuple[int, ...], cooperative: bool) -> _DriverCall:
    """The driver's launch of a function with its grid, block and shared memory."""
    from cupy.cuda import driver

    if not cooperative:
        return partial(driver.launchKernel, *how)

    def call(stream: int, addresses: int, extra: int) -> None:
        driver.launchCooperativeKernel(*how, stream, addresses)

    return call


def _launch_on(
    call: _DriverCall, retry: Callable[[int, int, Any], None], pointers: int, integers: Sequence[int]
) -> Callable[..., None]:
    """The launch through CuPy with its own block of arguments.

    The driver copies the arguments during the call. Each call takes a block that no other call has, from the blocks
    that earlier calls gave back. ``list.pop`` and ``list.append`` are atomic, so threads do not share a block.
    """
    from cupy.cuda import driver

    refusal = driver.CUDADriverError
    free: list[tuple[Any, int, Any]] = []

    def launch_on(stream: int, *given: int) -> None:
        try:
            arguments = free.pop()
        except IndexError:
            arguments = _arguments(pointers, integers)
        values, addresses, _ = arguments
        values[:pointers] = given
        try:
            call(stream, addresses, 0)
        except refusal as error:
            retry(stream, addresses, error)
        free.append(arguments)

    return launch_on


def _retry(call: _DriverCall, device: int, refused: Callable[[object], Error]) -> Callable[[int, int, Any], None]:
    """After an error: a thread that has not used the GPU yet gets its context, and may launch then."""
    from cupy.cuda import driver, runtime

    refusal = driver.CUDADriverError

    def retry(stream: int, addresses: int, error: Any) -> None:
        if error.status == _INVALID_CONTEXT:
            runtime.setDevice(device)
            try:
                return call(stream, addresses, 0)
            except refusal as second:
                error = second
        raise refused(error) from error

    return retry


def _launch_with_workspace(
    launch_on: Callable[..., None],
    device: int,
    nbytes: int,
    kernel: str,
    refused: Callable[[object], Error],
) -> Callable[..., None]:
    from cupy.cuda import runtime

    workspaces = workspaces_of(device)
    workspaces.reserve(nbytes)

    def launch_with_workspace(stream: int, *given: int) -> None:
        try:
            workspace = workspaces.of(stream, nbytes, kernel)
        except runtime.CUDARuntimeError as error:
            raise refused(error) from error
        launch_on(stream, *given, workspace)

    return launch_with_workspace


def _arguments(pointers: int, integers: Sequence[int]) -> tuple[Any, int, Any]:
    """A kernel's arguments of 8 bytes each; the address of the list of their addresses, for the driver; that list."""
    count = pointers + len(integers)
    values = (ctypes.c_int64 * count)(*(0,) * pointers, *integers)
    first = ctypes.addressof(values)
    addresses = (ctypes.c_void_p * count)(*(first + 8 * k for k in range(count)))
    return values, ctypes.addressof(addresses), addresses


def _argument(argument: Any) -> Any:
    """An argument as CuPy takes it: a struct or a tensor map is one element, whose bytes the driver copies."""
    if isinstance(argument, PointerTable):
        import cupy

        return cupy.array(np.frombuffer(argument.pack(lambda array: array.data.ptr), np.uint64))
    if isinstance(argument, Struct | TensorMap):
        raw = encoded(argument) if isinstance(argument, TensorMap) else argument.pack(lambda array: array.data.ptr)
        return np.frombuffer(raw, np.dtype((np.void, len(raw))))
    return argument


def _three(size: tuple[int, ...]) -> tuple[int, ...]:
    return size if len(size) == 3 else (*size, 1, 1)[:3]


class OwnModule:
    """A program on the current device, loaded once more: its variables are its own.

    ``function`` is the kernel. It is a residence of :class:`softlab.kernel.variables.VariableStore`.
    """

    def __init__(self, program: Program) -> None:
        from cupy.cuda import runtime

        self._module, self.function = _loaded(program, runtime.getDevice())
        self._textures: dict[int, tuple[Any, ...]] = {}

    @classmethod
    def current(cls, known: dict[int, OwnModule], program: Program) -> OwnModule:
        """The one of the current device among those that are known, or a new one."""
        from cupy.cuda import runtime

        device = runtime.getDevice()
        if device not in known:
            known[device] = cls(program)
        return known[device]

    def read(self, symbol: str, nbytes: int) -> bytes:
        """The bytes of a variable, once all launches have ended."""
        from cupy.cuda import runtime

        raw = np.empty(nbytes, np.uint8)
        runtime.deviceSynchronize()
        runtime.memcpy(raw.ctypes.data, self._module.get_global_var(symbol), nbytes, _DEVICE_TO_HOST)
        return raw.tobytes()

    def write(self, symbol: str, raw: bytes) -> None:
        """Give a variable these bytes, once all launches have ended."""
        from cupy.cuda import runtime

        data = np.frombuffer(raw, np.uint8)
        runtime.deviceSynchronize()
        runtime.memcpy(self._module.get_global_var(symbol), data.ctypes.data, len(raw), _HOST_TO_DEVICE)

    def address(self, array: Any) -> int:
        """The address of an array on a GPU, or the handle of a texture."""
        if isinstance(array, Image):
            self._textures[id(array)] = (array, *texture_object(array.with_array(as_cupy), False))
            return int(self._textures[id(array)][1].ptr)
        if not hasattr(array, "__cuda_array_interface__"):
            raise TypeError("a variable points to a NumPy array, and the launch runs on a GPU: assign a CUDA array")
        return array.__cuda_array_interface__["data"][0]


@lru_cache(maxsize=512)
def _function(program: Program, device: int) -> Any:
    """The kernel, loaded on the device of that index: the current one."""
    return _loaded(program, device)[1]


def _loaded(program: Program, device: int) -> tuple[Any, Any]:
    """(module, kernel) on the current device."""
    from cupy.cuda import driver, runtime
    from cupy.cuda.function import Module

    properties = runtime.getDeviceProperties(device)
    module = Module()
    try:
        module.load(image(program, (properties["major"], properties["minor"])))
    except driver.CUDADriverError as error:
        raise Error(
            f"the driver cannot load {program.name}, compiled for {program.arch} by {program.compiler}: {error}. "
            "If it calls the PTX version unsupported, the driver is older than NVRTC: update the driver, or compile "
            f"for this GPU with arch='sm_{properties['major']}{properties['minor']}'."
        ) from error
    function = module.get_function(program.entry)
    if _blocks_per_cluster(program) > _PORTABLE_CLUSTER:
        driver.funcSetAttribute(function.ptr, _NON_PORTABLE_CLUSTER, 1)
    return module, function


def _blocks_per_cluster(program: Program) -> int:
    """The size that the PTX has from ``__cluster_dims__``; 1 without."""
    sizes = re.search(r"\.reqnctapercluster\s+(\d+)(?:,\s*(\d+))?(?:,\s*(\d+))?", program.ptx)
    return prod(int(size or 1) for size in sizes.groups()) if sizes else 1


def image(program: Program, capability: tuple[int, int]) -> bytes:
    """The code to load on a GPU of that compute capability: the program's cubin if it fits, else its PTX.

    A cubin runs on its own compute capability and on later minor ones of the same major; PTX on every later one.
    Code for an architecture with a suffix ("sm_90a") runs on that one only (CUDA C++ Programming Guide, "Application
    Compatibility").

    Raises:
        softlab.Error: neither fits.
    """
    found = re.fullmatch(r"sm_(\d+)(\d)([af]?)", program.arch)
    if not found:
        raise Error(f"program of {program.name} has the architecture {program.arch!r}: expected one such as 'sm_90'")
    compiled = (int(found[1]), int(found[2]))
    if compiled == capability or (compiled[0] == capability[0] and compiled < capability and not found[3]):
        return program.cubin or program.ptx.encode()
    if compiled < capability and not found[3]:
        return program.ptx.encode()
    here = f"sm_{capability[0]}{capability[1]}"
    raise Error(f"{program.name} is compiled for {program.arch} and the GPU is {here}: compile it with arch={here!r}.")
