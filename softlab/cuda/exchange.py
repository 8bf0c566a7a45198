"""Arrays of any library: what each one is, and how its memory is exchanged with CuPy.

Arrays of other libraries (PyTorch, JAX, Numba, ...) are borrowed as CuPy arrays of the same memory, for the time of a
call, on the stream that their own library uses.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

#: DLPack's numbers for memory that a CUDA kernel can use: kDLCUDA and kDLCUDAManaged (dlpack.h).
_DLPACK_CUDA = (2, 13)
#: Libraries whose array type users derive from.
_SUBCLASSED = ("numpy", "cupy", "torch")


@dataclass(frozen=True)
class ArrayInfo:
    """What an array is. A public call finds this once for each of its arrays.

    Arguments:
        type_name: the type in full, for messages, such as "torch.Tensor".
        package: the package of the type ("cupy", "torch", "jaxlib"); for a user's subclass the package of its base.
        library: the library of the result: ``package``, or "numpy" or "cupy" if that package cannot take memory back.
        on_gpu: whether the array is in memory of a CUDA GPU.
        device: the index of that GPU. None in host memory, and for an array that does not tell its GPU: it has
            ``__cuda_array_interface__`` alone. :func:`device_index` finds the GPU of such an array.
    """

    type_name: str
    package: str
    library: str
    on_gpu: bool
    device: int | None

    @property
    def where(self) -> str:
        """The library and the kind of memory, for messages."""
        return f"{self.library} {'on a GPU' if self.on_gpu else 'on the host'}"


def array_info(x: Any) -> ArrayInfo:
    """What x is; x may be any object."""
    package = package_of(x)
    on_gpu, device = _gpu_of(x)
    library = package
    if not isinstance(x, np.ndarray) and package != "cupy" and not _takes_memory_back(x):
        library = "cupy" if on_gpu else "numpy"
    return ArrayInfo(type_name(x), package, library, on_gpu, device)


def type_name(x: Any) -> str:
    """The type of x in full, for messages."""
    return f"{type(x).__module__}.{type(x).__qualname__}"


def package_of(x: Any) -> str:
    """The package of x's type: "cupy", "torch", "jaxlib"; for a user's subclass the package of its base."""
    packages = [base.__module__.partition(".")[0] for base in type(x).__mro__]
    return next((package for package in packages if package in _SUBCLASSED), packages[0])


def is_cuda_array(x: Any) -> bool:
    """Whether x is in memory of a CUDA GPU and says so, by DLPack or ``__cuda_array_interface__``."""
    return _gpu_of(x)[0]


def device_index(x: Any, info: ArrayInfo) -> int:
    """The index of the GPU of x, an array on a GPU."""
    import cupy

    return cupy.asarray(x).device.id if info.device is None else info.device


def _gpu_of(x: Any) -> tuple[bool, int | None]:
    """Whether x is on a GPU, and the index of the GPU if x tells it."""
    if not hasattr(x, "__dlpack_device__"):
        return hasattr(x, "__cuda_array_interface__"), None
    try:
        kind, index = x.__dlpack_device__()
    except (BufferError, RuntimeError, ValueError):  # DLPack has no number for this memory
        return False, None
    on_gpu = int(kind) in _DLPACK_CUDA
    return on_gpu, int(index) if on_gpu else None


def _takes_memory_back(x: Any) -> bool:
    return hasattr(x, "__dlpack__") and hasattr(namespace(x), "from_dlpack")


def namespace(x: Any) -> Any:
    """The module with the functions of x's library; None if there is none.

    ``x.__array_namespace__()`` names it (the array API standard), else it is the package of x's type.
    """
    standard = getattr(x, "__array_namespace__", None)
    return standard() if standard else sys.modules.get(package_of(x))


def as_cupy(x: Any, info: ArrayInfo | None = None) -> Any:
    """A CuPy array over the same memory. Call it within :func:`on_stream_of` x.

    Raises:
        TypeError: x's library does not hand the memory out (PyTorch: a tensor that requires a gradient).
    """
    import cupy

    if (info or array_info(x)).package == "cupy":
        return x
    try:
        return cupy.from_dlpack(x) if hasattr(x, "__dlpack__") else cupy.asarray(x)
    except (BufferError, RuntimeError, TypeError) as error:
        raise not_borrowed(x, error) from error


def from_cupy(result: Any, like: Any, info: ArrayInfo) -> Any:
    """The CuPy array ``result`` as an array of ``info.library``, over the same memory. ``info`` is that of ``like``."""
    return result if info.library == "cupy" else namespace(like).from_dlpack(result)


def not_borrowed(x: Any, reason: Exception) -> TypeError:
    """The error for an array whose library does not hand its memory out."""
    return TypeError(
        f"the memory of this {type_name(x)} cannot be borrowed: {str(reason).rstrip('.')}. Give a plain array of its "
        "library (PyTorch: x.detach())."
    )


@contextmanager
def on_stream_of(x: Any, info: ArrayInfo | None = None) -> Iterator[None]:
    """Work on the GPU of x, and on the stream that x's library uses there.

    Some libraries do not tell their stream (JAX, Numba). They do not know that a kernel still reads their memory, and
    might use it again too early. For those, this waits for the kernel at the end.
    """
    import cupy

    info = info or array_info(x)
    with cupy.cuda.Device(device_index(x, info)):
        current = _CURRENT_STREAM.get(info.package)
        if current is not None:
            with cupy.cuda.Stream.from_external(current(x)):
                yield
            return
        yield
        if info.package != "cupy":
            cupy.cuda.get_current_stream().synchronize()


@dataclass(frozen=True)
class _TorchStream:
    """A PyTorch stream with the CUDA stream protocol (cuda.core's ``__cuda_stream__``), which older ones lack."""

    stream: Any

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.stream.cuda_stream


def _torch_stream(x: Any) -> _TorchStream:
    return _TorchStream(sys.modules["torch"].cuda.current_stream(x.device))


#: Libraries that tell their current stream, and how to get it. For all others it is CuPy's, and the DLPack exchange
#: orders the two.
_CURRENT_STREAM: Mapping[str, Callable[[Any], _TorchStream]] = MappingProxyType({"torch": _torch_stream})
