"""Workspaces: memory on a GPU through which the blocks of a launch communicate. Only one launch uses each at a time."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Lock, get_ident, local
from typing import Any

from softlab.cuda.structs import arrays_of
from softlab.errors import Error

#: Workspaces that are made at a time: making several takes hardly longer than making one, and each captured launch
#: needs its own. The bytes are limited, too.
_AT_ONCE = 8
_MOST_BYTES_AT_ONCE = 16 << 20
#: The smallest alignment of cudaMalloc (CUDA C++ Programming Guide, "Device Memory Accesses").
_ALIGN = 256
#: cudaStreamPerThread (driver_types.h): one handle, but each thread has its own stream for it.
_PER_THREAD = 2
#: CU_STREAM_CAPTURE_MODE_RELAXED (cuda.h).
_RELAXED = 2


class Workspaces:
    """The workspaces of one GPU. Each is zero before its first launch, and none is freed.

    A kernel leaves its workspace ready for its own next launch. Launches of one kernel on one stream run one after the
    other, so they share a workspace. A launch that is captured into a CUDA graph gets its own: the graph may be
    replayed on any stream, at any time. Two executable graphs of one capture share its workspace, as they share its
    arrays: replay them one after the other.

    Threads may call the methods at once, with that GPU as their current one.
    """

    def __init__(self, device: int) -> None:
        from cupy.cuda import runtime

        self._device = device
        self._is_capturing = runtime.streamIsCapturing
        self._by_stream: dict[tuple[int, int, str], int] = {}
        self._unused: dict[int, list[int]] = {}
        self._growing = Lock()
        self._thread = local()

    def reserve(self, nbytes: int) -> None:
        """Make some of that size, so that a captured launch finds one.

        Raises:
            softlab.Error: the GPU has no memory for them.
        """
        with self._growing:
            self._unused_of(nbytes)

    def of(self, stream: int, nbytes: int, kernel: str) -> int:
        """The address of the workspace for a launch of that kernel, now, on the stream with that handle.

        Raises:
            softlab.Error: the GPU has no memory for it. CuPy's CUDARuntimeError: the stream cannot be used now.
        """
        if self._is_capturing(stream):
            with self._growing:
                return self._unused_of(nbytes).pop()
        # A stream gets the handle of an old one only after all work there is done (CUDA Driver API, cuStreamDestroy).
        key = (stream if stream != _PER_THREAD else self._of_thread(), nbytes, kernel)
        address = self._by_stream.get(key)
        if address is None:
            with self._growing:
                address = self._by_stream.get(key) or self._by_stream.setdefault(key, self._unused_of(nbytes).pop())
        return address

    def _of_thread(self) -> int:
        """A number for the calling thread's own stream. It is negative, so it is no handle."""
        number = -get_ident()
        if not hasattr(self._thread, "began"):
            self._thread.began = True
            if any(stream == number for stream, *_ in tuple(self._by_stream)):
                from cupy.cuda import runtime

                runtime.deviceSynchronize()  # an ended thread had the number, and its launches may still run
        return number

    def _unused_of(self, nbytes: int) -> list[int]:
        """The unused workspaces of a size, at least one. The caller holds the lock."""
        unused = self._unused.setdefault(nbytes, [])
        if not unused:
            unused += self._made(nbytes)
        return unused

    def _made(self, nbytes: int) -> Sequence[int]:
        """New workspaces. They are zero before any later launch reads them."""
        from cupy.cuda import runtime

        size = -(-nbytes // _ALIGN) * _ALIGN
        count = max(1, min(_AT_ONCE, _MOST_BYTES_AT_ONCE // size))
        try:
            with _allowed_to_allocate():
                first = runtime.malloc(count * size)
                # A new stream: a captured stream, or one that waits for it, would capture this, too.
                stream = runtime.streamCreateWithFlags(runtime.streamNonBlocking)
                try:
                    runtime.memsetAsync(first, 0, count * size, stream)
                    runtime.streamSynchronize(stream)
                finally:
                    runtime.streamDestroy(stream)
        except runtime.CUDARuntimeError as error:
            raise Error(
                f"GPU {self._device} gives no memory for {count} workspaces of {nbytes} bytes, through which the "
                f"blocks of a launch communicate: {error}. Free memory on it, for instance CuPy's pool "
                "(cupy.get_default_memory_pool().free_all_blocks()). While a stream is captured into a CUDA graph, "
                "each launch needs one more workspace: launch once before the capture begins, or capture fewer."
            ) from error
        return range(first, first + count * size, size)


@cache
def workspaces_of(device: int) -> Workspaces:
    """The workspaces of the GPU with that index."""
    return Workspaces(device)


def with_workspace(args: Sequence[Any], workspace: Any) -> tuple[Any, ...]:
    """A kernel's arguments with the workspace behind the last array: ``(x, y, workspace, rows, cols)``."""
    last = max(number for number, argument in enumerate(args) if any(True for _ in arrays_of(argument)))
    return (*args[: last + 1], workspace, *args[last + 1 :])


@contextmanager
def _allowed_to_allocate() -> Iterator[None]:
    """This thread may allocate while a stream is captured.

    In the mode that PyTorch uses, CUDA would refuse the call and end the capture (CUDA Driver API,
    cuThreadExchangeStreamCaptureMode, which CuPy does not have).
    """
    driver = _driver()
    if driver is None:
        yield
        return
    mode = ctypes.c_int(_RELAXED)
    driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))  # swaps: `mode` is now the one before
    try:
        yield
    finally:
        driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))


@cache
def _driver() -> Any:
    """The driver's library, which CuPy has loaded already; None if it has another name."""
    try:
        return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return None
