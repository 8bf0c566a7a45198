"""A launch as machine code: a function of Python's C API that calls the driver.

For CuPy's binding Python code fills a list of addresses first, and then hands over eleven numbers. Here the numbers lie
in memory and the list on the stack. So the function only reads the pointers and calls ``cuLaunchKernel``.
:mod:`softlab.cuda.native_functions` compiles it; where that is not possible launches go through CuPy.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from string import Template

from softlab.cuda import native_functions

#: More arguments than these of a kernel are left to CuPy. The planned kernels take at most seven.
_MOST_ARGUMENTS = 16
#: The settings of a launch: kernel, number of pointers, number of integers; grid, block, shared memory, and four bytes
#: that put the integers at a multiple of eight.
_SETTINGS = "=QQQ7I4x"

# The function's `self` is (settings, otherwise), and it takes (stream, *pointers). `otherwise` takes the same where
# there are more or fewer pointers, or where the driver refuses the launch. Other threads run during the driver's call.
_TEXT = Template("""
%Settings = type { ptr, i64, i64, [8 x i32], [0 x i64] }

define ptr @launch_on(ptr %self, ptr %given, i64 %count) {
entry:
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
  %integer.at = getelementptr %Settings, ptr %settings, i64 0, i32 4, i64 %n
  %behind = add i64 %pointers, %n
  %integer.slot = getelementptr ptr, ptr %addresses, i64 %behind
  store ptr %integer.at, ptr %integer.slot
  br label %integer

start:
  %kernel = load ptr, ptr %settings
$sizes
  %thread = call ptr $PyEval_SaveThread()
  %status = call i32 $driver(ptr %kernel, $size_arguments, ptr %stream, ptr %addresses, ptr null)
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
_SIZE = Template("""\
  %size$k.at = getelementptr %Settings, ptr %settings, i64 0, i32 3, i64 $k
  %size$k = load i32, ptr %size$k.at
""")


def launcher(
    kernel: int,
    sizes: Sequence[int],
    pointers: int,
    integers: Sequence[int],
    otherwise: Callable[..., None],
) -> Callable[..., None]:
    """A function that launches one kernel: (handle of a stream, *pointers) -> None.

    Arguments:
        kernel: the driver's handle. sizes: of the grid and the block, three each, and the bytes of shared memory.
        pointers, integers: the kernel takes this number of pointers, and then these integers, all of 8 bytes.
        otherwise: a function that does the same. It is called where the driver refuses the launch, and raises what the
            driver says. It comes back itself where this machine cannot compile the function, or where the kernel takes
            too many arguments.
    """
    method = _method(driver_launch()) if 0 < pointers <= _MOST_ARGUMENTS - len(integers) else None
    if method is None:
        return otherwise
    settings = struct.pack(f"{_SETTINGS}{len(integers)}q", kernel, pointers, len(integers), *sizes, *integers)
    return method.bound((settings, otherwise))


@cache
def driver_launch() -> int:
    """The address of ``cuLaunchKernel`` of the driver that is installed; 0 without one."""
    try:
        return native_functions.address(
            ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1").cuLaunchKernel
        )
    except (OSError, AttributeError):
        return 0


def available() -> bool:
    """Whether launches are machine code here: CPython of 64 bits, llvmlite and a driver are installed."""
    return _method(driver_launch()) is not None


@cache
def _method(driver: int) -> native_functions.Method | None:
    """The function, compiled for the driver's launch at this address; None where that is not possible."""
    if not driver:
        return None
    methods = native_functions.compiled(
        _TEXT,
        ["launch_on"],
        driver=native_functions.pointer(driver),
        most=_MOST_ARGUMENTS,
        sizes="".join(_SIZE.substitute(k=k) for k in range(7)),
        size_arguments=", ".join(f"i32 %size{k}" for k in range(7)),
    )
    return None if methods is None else methods["launch_on"]
