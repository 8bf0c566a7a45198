"""A launch as machine code: a function of Python's C API that calls the driver.

For CuPy's binding Python code fills a list of addresses first, and then hands over eleven numbers. Here the numbers lie
in memory and the list on the stack. So the function only reads the pointers and calls ``cuLaunchKernelEx``.
:mod:`softlab.cuda.native_functions` compiles it; where that is not possible launches go through CuPy.

A kernel that waits for the kernel before it may start early ("programmatic dependent launch"). CuPy's binding cannot
ask for that. While a stream is captured into a CUDA graph the function does not ask for it either: there such a launch
takes up to 0.3 us longer beside other kernels (kernels/FAST.md, "Blocks that start early").
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from string import Template

from softlab.cuda import native_functions

#: More arguments than these of a kernel are left to CuPy. The planned kernels take at most seven.
_MOST_ARGUMENTS = 16
#: The settings of a launch: kernel; numbers of pointers, integers and attributes; whether the kernel may start early;
#: grid, block and shared memory; four bytes that put what follows at a multiple of eight. Two attributes and the
#: integers follow.
_SETTINGS = "=QQQQQ7I4x"
#: CUlaunchAttribute (cuda.h): number and value, 0 for "off".
_ATTRIBUTE = "=I4xI60x"
#: CU_LAUNCH_ATTRIBUTE_IGNORE, _COOPERATIVE and _PROGRAMMATIC_STREAM_SERIALIZATION (cuda.h).
_IGNORED, _COOPERATIVE, _EARLY = 0, 2, 6

# The function's `self` is (settings, otherwise), and it takes (stream, *pointers). `otherwise` takes the same where
# there are more or fewer pointers, or where the driver refuses the launch. Other threads run during the driver's call.
_TEXT = Template("""
%Settings = type { ptr, i64, i64, i64, i64, [7 x i32], i32, [2 x [9 x i64]], [0 x i64] }
; CUlaunchConfig: grid, block, shared memory; stream; attributes and their number.
%Config = type { [7 x i32], ptr, ptr, i32 }

define ptr @launch_on(ptr %self, ptr %given, i64 %count) {
entry:
  %config = alloca %Config
  %capture = alloca i32
  %values = alloca [$most x ptr]
  %addresses = alloca [$most x ptr]
  %packed = call ptr $PyTuple_GetItem(ptr %self, i64 0)
  %settings = call ptr $PyBytes_AsString(ptr %packed)
  %pointers.at = getelementptr %Settings, ptr %settings, i64 0, i32 1
  %pointers = load i64, ptr %pointers.at
  %wanted = add i64 %pointers, 1
  %fits = icmp eq i64 %count, %wanted
  br i1 %fits, label %handle, label %leave

handle:
  %handle.object = load ptr, ptr %given
  %stream = call ptr $PyLong_AsVoidPtr(ptr %handle.object)
  br label %pointer

pointer:
  %k = phi i64 [ 0, %handle ], [ %k.next, %pointer ]
  %k.next = add i64 %k, 1
  %object.at = getelementptr ptr, ptr %given, i64 %k.next
  %object = load ptr, ptr %object.at
  %value = call ptr $PyLong_AsVoidPtr(ptr %object)
  %value.at = getelementptr ptr, ptr %values, i64 %k
  store ptr %value, ptr %value.at
  %pointer.slot = getelementptr ptr, ptr %addresses, i64 %k
  store ptr %value.at, ptr %pointer.slot
  %pointers.left = icmp ult i64 %k.next, %pointers
  br i1 %pointers.left, label %pointer, label %checked

checked:
  %error = call ptr $PyErr_Occurred()
  %good = icmp eq ptr %error, null
  br i1 %good, label %numbers, label %failed

failed:
  ret ptr null

numbers:
  %integers.at = getelementptr %Settings, ptr %settings, i64 0, i32 2
  %integers = load i64, ptr %integers.at
  br label %integer

integer:
  %n = phi i64 [ 0, %numbers ], [ %n.next, %slot ]
  %integers.left = icmp ult i64 %n, %integers
  br i1 %integers.left, label %slot, label %start

slot:
  %n.next = add i64 %n, 1
  %integer.at = getelementptr %Settings, ptr %settings, i64 0, i32 8, i64 %n
  %behind = add i64 %pointers, %n
  %integer.slot = getelementptr ptr, ptr %addresses, i64 %behind
  store ptr %integer.at, ptr %integer.slot
  br label %integer

start:
  %kernel = load ptr, ptr %settings
  %sizes.at = getelementptr %Settings, ptr %settings, i64 0, i32 5
  %sizes = load [7 x i32], ptr %sizes.at
  store [7 x i32] %sizes, ptr %config
  %config.stream = getelementptr %Config, ptr %config, i64 0, i32 1
  store ptr %stream, ptr %config.stream
  %attributes.at = getelementptr %Settings, ptr %settings, i64 0, i32 7
  %config.attributes = getelementptr %Config, ptr %config, i64 0, i32 2
  store ptr %attributes.at, ptr %config.attributes
  %attributes.count = getelementptr %Settings, ptr %settings, i64 0, i32 3
  %always = load i64, ptr %attributes.count
  %early.at = getelementptr %Settings, ptr %settings, i64 0, i32 4
  %early = load i64, ptr %early.at
  %asks = icmp ne i64 %early, 0
  br i1 %asks, label %captured, label %configured

captured:
  store i32 1, ptr %capture
  %asked = call i32 $capturing(ptr %stream, ptr %capture)
  %capture.status = load i32, ptr %capture
  %either = or i32 %asked, %capture.status
  %free = icmp eq i32 %either, 0
  %more = zext i1 %free to i64
  br label %configured

configured:
  %additional = phi i64 [ 0, %start ], [ %more, %captured ]
  %sum = add i64 %always, %additional
  %attributes = trunc i64 %sum to i32
  %config.count = getelementptr %Config, ptr %config, i64 0, i32 3
  store i32 %attributes, ptr %config.count
  %thread = call ptr $PyEval_SaveThread()
  %status = call i32 $driver(ptr %config, ptr %kernel, ptr %addresses, ptr null)
  call void $PyEval_RestoreThread(ptr %thread)
  %launched = icmp eq i32 %status, 0
  br i1 %launched, label %done, label %leave

done:
  call void $Py_IncRef(ptr $none)
  ret ptr $none

leave:
  %otherwise = call ptr $PyTuple_GetItem(ptr %self, i64 1)
  %result = call ptr $PyObject_Vectorcall(ptr %otherwise, ptr %given, i64 %count, ptr null)
  ret ptr %result
}
""")


@dataclass(frozen=True)
class Starts:
    """When the blocks of a launch start.

    Attributes:
        cooperative: all at once; the driver refuses the launch where the GPU cannot hold them.
        early: the kernel waits for the kernel before it, so they may start before that one has ended.
    """

    cooperative: bool = False
    early: bool = False


_AS_USUAL = Starts()


def launcher(
    kernel: int,
    sizes: Sequence[int],
    pointers: int,
    integers: Sequence[int],
    otherwise: Callable[..., None],
    starts: Starts = _AS_USUAL,
) -> Callable[..., None]:
    """A function that launches one kernel: (handle of a stream, *pointers) -> None.

    Arguments:
        kernel: the driver's handle. sizes: of the grid and the block, three each, and the bytes of shared memory.
        pointers, integers: the kernel takes this number of pointers, and then these integers, all of 8 bytes.
        otherwise: a function that does the same. It is called where the driver refuses the launch, and raises what the
            driver says. It comes back itself where this machine cannot compile the function, or where the kernel takes
            too many arguments.
        starts: when its blocks start.
    """
    method = _method(*driver_functions()) if 0 < pointers <= _MOST_ARGUMENTS - len(integers) else None
    if method is None:
        return otherwise
    settings = struct.pack(_SETTINGS, kernel, pointers, len(integers), starts.cooperative, starts.early, *sizes)
    for number in ([_COOPERATIVE] * starts.cooperative + [_EARLY] * starts.early + [_IGNORED] * 2)[:2]:
        settings += struct.pack(_ATTRIBUTE, number, number != _IGNORED)
    return method.bound((settings + struct.pack(f"={len(integers)}q", *integers), otherwise))


@cache
def driver_functions() -> tuple[int, int]:
    """The addresses of ``cuLaunchKernelEx`` and ``cuStreamIsCapturing`` of the driver; 0 and 0 without one."""
    try:
        library = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        return native_functions.address(library.cuLaunchKernelEx), native_functions.address(library.cuStreamIsCapturing)
    except (OSError, AttributeError):
        return 0, 0


def available() -> bool:
    """Whether launches are machine code here: CPython of 64 bits, llvmlite and a driver are installed."""
    return _method(*driver_functions()) is not None


@cache
def _method(driver: int, capturing: int) -> native_functions.Method | None:
    """The function, compiled for the driver's functions at these addresses; None where that is not possible."""
    if not driver:
        return None
    methods = native_functions.compiled(
        _TEXT,
        ["launch_on"],
        driver=native_functions.pointer(driver),
        capturing=native_functions.pointer(capturing),
        most=_MOST_ARGUMENTS,
    )
    return None if methods is None else methods["launch_on"]
