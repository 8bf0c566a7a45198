"""Other softmaxes to measure beside ours: functions (source, target) -> launch, on CuPy arrays of (rows, cols)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

Call = Callable[[], Any]
Peer = Callable[[Any, Any], Call]

# cudnn_ops.h
_TENSOR_NCHW = 0
_DATA_TYPES = {"float32": 0, "float16": 2}
_SOFTMAX_ACCURATE = 1
_MODE_INSTANCE = 0


def found() -> tuple[Mapping[str, Peer], Mapping[str, str]]:
    """The peers that work here, and the versions of their libraries. What is missing is left out."""
    try:
        import torch
    except ImportError:
        return {}, {}
    peers: dict[str, Peer] = {"torch": _torch_softmax}
    versions = {"PyTorch": torch.__version__}
    try:
        library = ctypes.CDLL("libcudnn.so.9")  # PyTorch has loaded it already, wherever it is
        library.cudnnGetVersion.restype = ctypes.c_size_t
        number = library.cudnnGetVersion()
    except (OSError, AttributeError):
        return peers, versions
    versions["cuDNN"] = f"{number // 10_000}.{number // 100 % 100}.{number % 100}"
    return peers | {"cudnn": _CuDNN(library)}, versions


def _torch_softmax(source: Any, target: Any) -> Call:
    import torch

    x, y = torch.from_dlpack(source), torch.from_dlpack(target)
    stream = torch.cuda.ExternalStream(_stream())

    def launch() -> None:
        with torch.cuda.stream(stream):
            torch.softmax(x, -1, out=y)

    return launch


class _CuDNN:
    """cudnnSoftmaxForward, the accurate algorithm (it subtracts the maximum, as ours does), one softmax per row."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._handle = ctypes.c_void_p()
        self._call("cudnnCreate", ctypes.byref(self._handle))

    def _call(self, name: str, *arguments: Any) -> None:
        if status := getattr(self._library, name)(*arguments):
            raise RuntimeError(f"{name} answers with status {status}")

    def __call__(self, source: Any, target: Any) -> Call:
        rows, cols = source.shape
        shape = ctypes.c_void_p()
        self._call("cudnnSetStream", self._handle, ctypes.c_void_p(_stream()))
        self._call("cudnnCreateTensorDescriptor", ctypes.byref(shape))
        kind = _DATA_TYPES[source.dtype.name]
        self._call("cudnnSetTensor4dDescriptor", shape, _TENSOR_NCHW, kind, rows, cols, 1, 1)
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        x, y = ctypes.c_void_p(source.data.ptr), ctypes.c_void_p(target.data.ptr)
        how = (self._handle, _SOFTMAX_ACCURATE, _MODE_INSTANCE)
        what = (ctypes.byref(one), shape, x, ctypes.byref(zero), shape, y)
        return lambda: self._call("cudnnSoftmaxForward", *how, *what)


def _stream() -> int:
    import cupy

    return cupy.cuda.get_current_stream().ptr
