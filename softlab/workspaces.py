"""Workspaces: memory on a GPU through which the blocks of a launch meet, never in use by two launches at a time."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Lock, get_ident, local
from typing import Any

from softlab.errors import Error
from softlab.structs import arrays_of

#: Workspaces that are made at a time: making some takes hardly longer than making one, and captured launches each want
#: their own. But only so many bytes.
_AT_ONCE = 8
_MOST_BYTES_AT_ONCE = 16 << 20
#: What cudaMalloc aligns to at least (CUDA C++ Programming Guide, "Device Memory Accesses").
_ALIGN = 256
#: cudaStreamPerThread (driver_types.h): one handle, of which each thread has a stream of its own.
_PER_THREAD = 2
#: CU_STREAM_CAPTURE_MODE_RELAXED (cuda.h).
_RELAXED = 2


class Workspaces:
    """The workspaces of one GPU, all zero when they are first handed out, never freed.

    A kernel leaves its workspace ready for its own next launch. So launches of one kernel on one stream share one,
    since they run one after the other. A launch that is captured into a CUDA graph gets its own: the graph may be
    replayed on any stream, at any time. (Two executable graphs instantiated from one capture still share it, as they
    share its arrays: replay them one after the other.)

    Threads may call it at once; that GPU is their current one.
    """

    def __init__(self, device: int) -> None:
        from cupy.cuda import runtime

        self._device = device
        self._is_capturing = runtime.streamIsCapturing
        self._of_stream: dict[tuple[int, int, str], int] = {}
        self._unused: dict[int, list[int]] = {}
        self._growing = Lock()
        self._thread = local()

    def reserve(self, nbytes: int) -> None:
        """See to it that some of that size are there: a launch that is captured finds one then.

        Raises:
            softlab.Error: the GPU has no memory for them.
        """
        with self._growing:
            self._some(nbytes)

    def of(self, stream: int, nbytes: int, kernel: str) -> int:
        """The address of the workspace for a launch of that kernel, now, on the stream of that handle.

        Raises:
            softlab.Error: the GPU has no memory for it. CuPy's CUDARuntimeError: the stream cannot be used now.
        """
        if self._is_capturing(stream):
            return self._take(nbytes)
        # A stream gets the handle of an old one only when all work there is done (CUDA Driver API, cuStreamDestroy).
        key = (stream if stream != _PER_THREAD else self._of_thread(), nbytes, kernel)
        place = self._of_stream.get(key)
        if place is None:
            with self._growing:
                place = self._of_stream.get(key) or self._of_stream.setdefault(key, self._some(nbytes).pop())
        return place

    def _of_thread(self) -> int:
        """A number for the calling thread's own stream; negative, so no handle."""
        number = -get_ident()
        if not hasattr(self._thread, "began"):
            self._thread.began = True
            if any(stream == number for stream, *_ in tuple(self._of_stream)):
                from cupy.cuda import runtime

                runtime.deviceSynchronize()  # a thread that has ended had the number, and its launches may still run
        return number

    def _take(self, nbytes: int) -> int:
        with self._growing:
            return self._some(nbytes).pop()

    def _some(self, nbytes: int) -> list[int]:
        """The unused ones of a size; there is at least one."""
        unused = self._unused.setdefault(nbytes, [])
        if not unused:
            unused += self._made(nbytes)
        return unused

    def _made(self, nbytes: int) -> Sequence[int]:
        """New ones, zero before anything that is launched from now on looks at them."""
        from cupy.cuda import runtime

        size = -(-nbytes // _ALIGN) * _ALIGN
        count = max(1, min(_AT_ONCE, _MOST_BYTES_AT_ONCE // size))
        try:
            with _allowed_to_allocate():
                first = runtime.malloc(count * size)
                # A stream of its own: on a captured one, or one that waits for such a one, this would be captured, too.
                stream = runtime.streamCreateWithFlags(runtime.streamNonBlocking)
                try:
                    runtime.memsetAsync(first, 0, count * size, stream)
                    runtime.streamSynchronize(stream)
                finally:
                    runtime.streamDestroy(stream)
        except runtime.CUDARuntimeError as error:
            raise Error(
                f"GPU {self._device} gives no memory for {count} workspaces of {nbytes} bytes, through which the "
                f"blocks of a launch meet: {error}. Free memory there, CuPy's pool among it "
                "(cupy.get_default_memory_pool().free_all_blocks()). While a stream is being captured into a CUDA "
                "graph, each launch takes one more: launch once before the capture begins, or capture fewer launches."
            ) from error
        return range(first, first + count * size, size)


@cache
def workspaces_of(device: int) -> Workspaces:
    """Those of the GPU with that index."""
    return Workspaces(device)


def with_workspace(args: Sequence[Any], workspace: Any) -> tuple[Any, ...]:
    """A kernel's arguments with the workspace behind the last array: ``(x, y, workspace, rows, cols)``."""
    last = max(number for number, argument in enumerate(args) if any(True for _ in arrays_of(argument)))
    return (*args[: last + 1], workspace, *args[last + 1 :])


@contextmanager
def _allowed_to_allocate() -> Iterator[None]:
    """This thread may allocate though a stream is being captured: in the mode that PyTorch takes, the call would be
    refused and the capture lost (CUDA Driver API, cuThreadExchangeStreamCaptureMode, which CuPy does not have)."""
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
    """The driver's library, which CuPy has loaded already; None where it has another name."""
    try:
        return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return None
