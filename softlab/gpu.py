"""The GPU executor: the only caller of CuPy's launch, streams and events.

Arrays of other libraries (PyTorch, JAX, Numba, ...) are borrowed as CuPy arrays of the same memory, for the time of a
call, on the stream that their owner is working on.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from softlab.compile import Program
from softlab.errors import Error
from softlab.structs import Struct
from softlab.workspaces import with_workspace, workspaces_of

#: DLPack's numbers for memory that a CUDA kernel can use: kDLCUDA and kDLCUDAManaged (dlpack.h).
_DLPACK_CUDA = (2, 13)
#: What a block may take of shared memory without asking (CUDA C++ Programming Guide, "Compute Capabilities").
_SMEM_WITHOUT_ASKING = 48 * 1024
#: Libraries whose array type users derive from.
_SUBCLASSED = ("numpy", "cupy", "torch")
#: CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES and CUDA_ERROR_INVALID_CONTEXT (cuda.h).
_MAX_DYNAMIC_SMEM = 8
#: CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED (cuda.h), and the size that needs no leave (CUDA C++ Programming
#: Guide, "Thread Block Clusters").
_NON_PORTABLE_CLUSTER = 14
_PORTABLE_CLUSTER = 8
_INVALID_CONTEXT = 201
#: cudaDevAttrMaxSharedMemoryPerBlockOptin and cudaDevAttrMultiProcessorCount (driver_types.h).
_MAX_SMEM_OPTIN = 97
_MULTIPROCESSORS = 16


def launch(
    program: Program,
    grid: tuple[int, ...],
    block: tuple[int, ...],
    args: Sequence[Any],
    smem: int = 0,
    *,
    cooperative: bool = False,
    workspace_bytes: int = 0,
) -> None:
    """Launch a compiled kernel on the current device and CuPy's current stream, without waiting for it.

    Arguments:
        program: compiled for this GPU, or for an older one (its PTX is then compiled by the driver, once).
        grid, block: up to three sizes each.
        args: CuPy arrays, NumPy scalars of the parameters' types, and Structs of both.
        smem: dynamic shared memory of a block in bytes. Over 48 KiB it is asked for, as CUDA wants it.
        cooperative: launch only if the GPU can hold all blocks at once, so that they may wait for each other.
        workspace_bytes: where it is not 0, the kernel gets a pointer to so many bytes behind the last array of
            ``args``. They are zero at first and then as the launch before left them: see
            :class:`softlab.workspaces.Workspaces`.

    Raises:
        softlab.Error: the program is for a newer GPU, or the GPU refuses the launch; the message has the sizes.
    """
    from cupy.cuda import driver, get_current_stream, runtime

    device = runtime.getDevice()
    function = _function(program, device)
    try:
        _allow_smem(function, program, smem, device)
        if workspace_bytes:
            workspace = workspaces_of(device).of(get_current_stream().ptr, workspace_bytes, program.name)
            args = with_workspace(args, np.uint64(workspace))
        if cooperative and prod(grid) > (most := _resident(function, prod(block), smem, device)):
            raise _refused(program, grid, block, smem, f"it holds {most} such blocks at once", cooperative)
        given = tuple(map(_argument, args))
        function(_three(grid), _three(block), given, smem, enable_cooperative_groups=cooperative)
    except (driver.CUDADriverError, runtime.CUDARuntimeError) as error:
        raise _refused(program, grid, block, smem, error, cooperative) from error


def _resident(function: Any, threads: int, smem: int, device: int) -> int:
    """Blocks that the device holds at once. CuPy would launch as many instead of all, with no more than a warning."""
    from cupy.cuda import driver, runtime

    sms = runtime.deviceGetAttribute(_MULTIPROCESSORS, device)
    return driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, threads, smem) * sms


def _allow_smem(function: Any, program: Program, smem: int, device: int) -> None:
    """Let a block have that much dynamic shared memory; all that the device has, so that no launch lowers another's."""
    from cupy.cuda import driver, runtime

    if smem + program.static_smem_bytes > _SMEM_WITHOUT_ASKING:
        most = runtime.deviceGetAttribute(_MAX_SMEM_OPTIN, device) - program.static_smem_bytes
        driver.funcSetAttribute(function.ptr, _MAX_DYNAMIC_SMEM, max(most, smem))  # too much is the driver's to refuse


def _refused(
    program: Program, grid: Sequence[int], block: Sequence[int], smem: int, reason: object, cooperative: bool
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
) -> Callable[[int, Sequence[int]], None]:
    """A launch that only wants a stream and pointers: what :func:`launch` finds out at each call is found out once.

    The kernel takes so many ``pointers`` and then ``integers``, all of 8 bytes. The function that comes back is called
    with the handle of a stream of ``device``, the current one, and with the pointers. Threads may call it at once: the
    driver copies the arguments while it is called, and each call takes a block of arguments that no other has, out of
    those that earlier calls have put back (``list.pop`` and ``list.append`` are atomic). ``cooperative`` and
    ``workspace_bytes`` as in :func:`launch`; the pointer to the workspace stands behind the others.

    Raises:
        softlab.Error: the program is for a newer GPU; from the function, the GPU refuses the launch.
    """
    from cupy.cuda import driver, runtime

    function = _function(program, device)
    _allow_smem(function, program, smem, device)
    how = (function.ptr, *grid, *block, smem)
    call: Callable[[int, int, int], None] = partial(driver.launchKernel, *how)
    if cooperative:

        def call(stream: int, places: int, extra: int) -> None:
            driver.launchCooperativeKernel(*how, stream, places)

    pointers += bool(workspace_bytes)
    refusal = driver.CUDADriverError
    free: list[tuple[Any, int, Any]] = []

    def launch_on(stream: int, given: Sequence[int]) -> None:
        try:
            arguments = free.pop()
        except IndexError:
            arguments = _arguments(pointers, integers)
        values, places, _ = arguments
        values[:pointers] = given
        try:
            call(stream, places, 0)
        except refusal as error:
            again(stream, places, error)
        free.append(arguments)

    def again(stream: int, places: int, error: Any) -> None:
        """After an error: a thread that has not used the GPU yet gets its context, and may launch then."""
        if error.status == _INVALID_CONTEXT:
            runtime.setDevice(device)
            try:
                return call(stream, places, 0)
            except refusal as second:
                error = second
        raise _refused(program, grid, block, smem, error, cooperative) from error

    if not workspace_bytes:
        return launch_on
    ours = workspaces_of(device)
    ours.reserve(workspace_bytes)

    def launch_with_workspace(stream: int, given: Sequence[int]) -> None:
        try:
            workspace = ours.of(stream, workspace_bytes, program.name)
        except runtime.CUDARuntimeError as error:
            raise _refused(program, grid, block, smem, error, cooperative) from error
        launch_on(stream, (*given, workspace))

    return launch_with_workspace


def _arguments(pointers: int, integers: Sequence[int]) -> tuple[Any, int, Any]:
    """A kernel's arguments, of 8 bytes each; the address of a list of their addresses (the driver's way); that list."""
    count = pointers + len(integers)
    values = (ctypes.c_int64 * count)(*(0,) * pointers, *integers)
    first = ctypes.addressof(values)
    places = (ctypes.c_void_p * count)(*(first + 8 * k for k in range(count)))
    return values, ctypes.addressof(places), places


def _argument(argument: Any) -> Any:
    """An argument as CuPy takes it: a struct is an array of one element, whose bytes the driver copies."""
    if isinstance(argument, Struct):
        raw = argument.pack(lambda array: array.data.ptr)
        return np.frombuffer(raw, np.dtype((np.void, len(raw))))
    return argument


def _three(size: tuple[int, ...]) -> tuple[int, ...]:
    return size if len(size) == 3 else (*size, 1, 1)[:3]


@lru_cache(maxsize=512)
def _function(program: Program, device: int) -> Any:
    """The kernel, loaded on the device of that index: the current one."""
    from cupy.cuda import driver, runtime
    from cupy.cuda.function import Module

    properties = runtime.getDeviceProperties(device)
    module = Module()
    try:
        module.load(image(program, (properties["major"], properties["minor"])))
    except driver.CUDADriverError as error:
        raise Error(
            f"the driver cannot load {program.name}, compiled for {program.arch} by NVRTC {program.nvrtc}: {error}. "
            "Where it calls the PTX version unsupported, the driver is older than NVRTC: update the driver, or compile "
            f"for this GPU with arch='sm_{properties['major']}{properties['minor']}'."
        ) from error
    function = module.get_function(program.entry)
    if _blocks_a_cluster(program) > _PORTABLE_CLUSTER:
        driver.funcSetAttribute(function.ptr, _NON_PORTABLE_CLUSTER, 1)
    return function


def _blocks_a_cluster(program: Program) -> int:
    """The size that ``__cluster_dims__`` left in the PTX; 1 without."""
    sizes = re.search(r"\.reqnctapercluster\s+(\d+)(?:,\s*(\d+))?(?:,\s*(\d+))?", program.ptx)
    return prod(int(size or 1) for size in sizes.groups()) if sizes else 1


def image(program: Program, capability: tuple[int, int]) -> bytes:
    """What to load of the program on a GPU of that compute capability: its cubin where that fits, else its PTX.

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
        return program.cubin
    if compiled < capability and not found[3]:
        return program.ptx.encode()
    here = f"sm_{capability[0]}{capability[1]}"
    raise Error(f"{program.name} is compiled for {program.arch} and the GPU is {here}: compile it with arch={here!r}.")


def is_cuda_array(x: Any) -> bool:
    """Whether x lies in memory of a CUDA GPU and says so by DLPack or ``__cuda_array_interface__``."""
    if hasattr(x, "__dlpack_device__"):
        try:
            return int(x.__dlpack_device__()[0]) in _DLPACK_CUDA
        except (BufferError, RuntimeError, ValueError):  # a place that DLPack has no number for
            return False
    return hasattr(x, "__cuda_array_interface__")


def as_cupy(x: Any) -> Any:
    """A CuPy array over the same memory. Call it within :func:`working_place` of x.

    Raises:
        TypeError: x's library does not hand the memory out (PyTorch: a tensor that requires a gradient).
    """
    import cupy

    if isinstance(x, cupy.ndarray):
        return x
    try:
        return cupy.from_dlpack(x) if hasattr(x, "__dlpack__") else cupy.asarray(x)
    except (BufferError, RuntimeError, TypeError) as error:
        raise not_borrowed(x, error) from error


def not_borrowed(x: Any, reason: Exception) -> TypeError:
    """The error for an array whose library does not hand its memory out."""
    return TypeError(
        f"the memory of this {type(x).__module__}.{type(x).__qualname__} cannot be borrowed: "
        f"{str(reason).rstrip('.')}. Give a plain array of its library (PyTorch: x.detach())."
    )


def give_back(result: Any, like: Any) -> Any:
    """The CuPy array ``result`` as an array of ``like``'s library, over the same memory.

    Asked is what ``like.__array_namespace__()`` names (the array API standard), else the package of ``like``'s type;
    one without ``from_dlpack`` gets the CuPy array.
    """
    import cupy

    if isinstance(like, cupy.ndarray):
        return result
    from_dlpack = getattr(namespace(like), "from_dlpack", None)
    return from_dlpack(result) if from_dlpack else result


def namespace(x: Any) -> Any:
    """The module of functions of x's library; None where none is found."""
    standard = getattr(x, "__array_namespace__", None)
    return standard() if standard else sys.modules.get(library_of(x))


@contextmanager
def working_place(x: Any) -> Iterator[None]:
    """Work on the device that x lies on, and on the stream that its library is using there.

    A library that does not tell its stream (JAX, Numba) might take the memory back while a kernel still reads it, since
    it cannot know of it. So the work is waited for before that library's arrays are let go.
    """
    import cupy

    with cupy.cuda.Device(device_index(x)):
        current = _CURRENT_STREAM.get(library_of(x))
        if current is not None:
            with cupy.cuda.Stream.from_external(current(x)):
                yield
            return
        yield
        if not isinstance(x, cupy.ndarray):
            cupy.cuda.get_current_stream().synchronize()


def library_of(x: Any) -> str:
    """The package that x's type comes from: "cupy", "torch", "jaxlib"; of a user's subclass, what it derives from."""
    packages = [base.__module__.partition(".")[0] for base in type(x).__mro__]
    return next((package for package in packages if package in _SUBCLASSED), packages[0])


def device_index(x: Any) -> int:
    """The CUDA device that x lies on."""
    import cupy

    if isinstance(x, cupy.ndarray):
        return x.device.id
    if hasattr(x, "__dlpack_device__"):
        return int(x.__dlpack_device__()[1])
    return cupy.asarray(x).device.id


@dataclass(frozen=True)
class _TorchStream:
    """A PyTorch stream by the CUDA stream protocol (cuda.core's ``__cuda_stream__``), which older ones do not speak."""

    stream: Any

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.stream.cuda_stream


def _torch_stream(x: Any) -> _TorchStream:
    return _TorchStream(sys.modules["torch"].cuda.current_stream(x.device))


#: Libraries with a current stream of their own that they tell: how to get it. For all others it is CuPy's, and the
#: DLPack exchange orders the two.
_CURRENT_STREAM: Mapping[str, Callable[[Any], _TorchStream]] = MappingProxyType({"torch": _torch_stream})
