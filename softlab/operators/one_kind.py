"""Calls with tensors of one kind, which are like a tensor that was launched before: in Python, and as machine code.

A small tensor's call is short, so the steps between PyTorch's functions and the launch count. The functions of this
module are those steps, once in Python and once as machine code (:mod:`softlab.cuda.native_functions`), which does the
same.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Any

from softlab.cuda import native_functions
from softlab.errors import Error

#: The widest access of a thread in bytes: a larger alignment makes no difference.
WIDEST = 16
#: Errors that :func:`softlab.operators.rows.apply` finds, too, and explains.
EXPLAINED = (Error, TypeError, ValueError, RuntimeError)

#: (like, run): whether a tensor is of the kind, and what takes such a tensor.
Kind = tuple[Callable[[Any], bool], Callable[[Any], Any]]
#: (axis, policy, kinds): tensors of two kinds that are known for them. None: no such kind is known yet.
Call = tuple[int, Any, list[Kind | None]]


@dataclass(frozen=True)
class KnownLaunch:
    """A launch for tensors of one kind.

    Arguments:
        launch_on: (stream, pointer, pointer of the result) -> None.
        bits: the low bits of the pointer, below :data:`WIDEST`.
        allocate, like: ``allocate(*like)`` makes the result; shape, strides in elements, dtype.
        gpu_index, current_stream: ``current_stream(gpu_index)`` is the handle of the stream.
        current_gpu: the index of the current GPU; None where there is only one.
        assigns: ``ctx.save_for_backward(y)`` does no more than ``ctx.to_save = (y,)``, which takes less time.
    """

    launch_on: Callable[[int, int, int], Any]
    bits: int
    allocate: Callable[..., Any]
    like: tuple[tuple[int, ...], tuple[int, ...], Any]
    gpu_index: int
    current_stream: Callable[[int], int]
    current_gpu: Callable[[], int] | None
    assigns: bool = False


def launcher(launch: KnownLaunch, otherwise: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function of autograd's context and a tensor of the kind. It returns the result.

    The context keeps the result for a gradient, unless it is None. ``otherwise`` takes both where the tensor has other
    low bits or is on another GPU than the current one, and after an error.
    """
    return _native_launcher(launch, otherwise) or _python_launcher(launch, otherwise)


def chooser(calls: list[Call], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a tensor, an axis, a dtype and a policy.

    Where the dtype is None, and a call has the same two objects as axis and policy, it lets the last of the call's
    kinds run that the tensor is like. ``otherwise`` takes all four arguments in all other cases.

    Arguments:
        calls: more may be appended, and kinds replaced, at any time.
    """
    return _native_chooser(calls, otherwise) or _python_chooser(calls, otherwise)


def _python_launcher(launch: KnownLaunch, otherwise: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    launch_on, bits, allocate = launch.launch_on, launch.bits, launch.allocate
    sizes, strides, dtype = launch.like
    gpu_index, current_stream, current_gpu = launch.gpu_index, launch.current_stream, launch.current_gpu
    assigns = launch.assigns

    def launch_one(ctx: Any, x: Any) -> Any:
        try:
            if current_gpu is None or gpu_index == current_gpu():
                pointer = x.data_ptr()
                if pointer % WIDEST == bits:
                    out = allocate(sizes, strides, dtype)
                    launch_on(current_stream(gpu_index), pointer, out.data_ptr())
                    if ctx is not None:
                        if assigns:
                            ctx.to_save = (out,)
                        else:
                            ctx.save_for_backward(out)
                    return out
        except EXPLAINED:
            pass
        return otherwise(ctx, x)

    return launch_one


def _python_chooser(calls: list[Call], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    def choose(x: Any, axis: Any, dtype: Any, policy: Any) -> Any:
        if dtype is None:
            for known_axis, known_policy, kinds in calls:
                if axis is known_axis and policy is known_policy:
                    kind = kinds[1]
                    if kind is not None and kind[0](x) is True:
                        return kind[1](x)
                    kind = kinds[0]
                    if kind is not None and kind[0](x) is True:
                        return kind[1](x)
                    break
        return otherwise(x, axis, dtype, policy)

    return choose


# The machine code has addresses of objects, in one block of memory. Its `self` keeps both alive.


def _native_launcher(launch: KnownLaunch, otherwise: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any] | None:
    methods = _methods()
    if methods is None:
        return None
    objects = (launch.launch_on, launch.allocate, *launch.like, launch.current_stream, launch.gpu_index,
               launch.current_gpu, "data_ptr", "save_for_backward", "to_save" if launch.assigns else None,
               EXPLAINED, otherwise)  # fmt: skip
    settings = struct.pack(f"={len(objects)}Q2q", *map(id, objects), launch.bits, launch.gpu_index)
    return methods["launch_one"].bound((settings, objects))


def _native_chooser(calls: list[Call], otherwise: Callable[..., Any]) -> Callable[..., Any] | None:
    methods = _methods()
    return methods and methods["choose"].bound((calls, otherwise))


@cache
def _methods() -> Any:
    """The functions of this module as machine code; None where that is not possible."""
    fields = "".join(_FIELD.substitute(name=name, k=k) for k, name in enumerate(_FIELDS))
    return native_functions.compiled(_TEXT, ["launch_one", "choose"], fields=fields, widest=WIDEST)


_FIELDS = ("launch_on", "allocate", "shape", "strides", "dtype", "current_stream", "gpu", "current_gpu", "data_ptr",
           "save", "to_save", "explained", "otherwise", "bits", "index")  # fmt: skip
_FIELD = Template("""\
  %$name.at = getelementptr ptr, ptr %settings, i64 $k
  %$name = load ptr, ptr %$name.at
""")

# Line by line what the functions of Python above do. `made` holds what is to be released: stream, pointers, result.
_TEXT = Template("""
define ptr @launch_one(ptr %self, ptr %given, i64 %count) {
entry:
  %made = alloca [4 x ptr]
  %pair = alloca [2 x ptr]
  store [4 x ptr] zeroinitializer, ptr %made
  %source.slot = getelementptr ptr, ptr %made, i64 1
  %target.slot = getelementptr ptr, ptr %made, i64 2
  %result.slot = getelementptr ptr, ptr %made, i64 3
  %packed = call ptr $PyTuple_GetItem(ptr %self, i64 0)
  %settings = call ptr $PyBytes_AsString(ptr %packed)
$fields
  %fits = icmp eq i64 %count, 2
  br i1 %fits, label %gpus, label %leave

gpus:
  %single = icmp eq ptr %current_gpu, $none
  br i1 %single, label %source, label %current

current:
  %current.object = call ptr $PyObject_Vectorcall(ptr %current_gpu, ptr null, i64 0, ptr null)
  %current.failed = icmp eq ptr %current.object, null
  br i1 %current.failed, label %failed, label %compare

compare:
  %current.index = call ptr $PyLong_AsVoidPtr(ptr %current.object)
  call void $Py_DecRef(ptr %current.object)
  %is.current = icmp eq ptr %current.index, %index
  br i1 %is.current, label %source, label %leave

source:
  %x.at = getelementptr ptr, ptr %given, i64 1
  %source.object = call ptr $PyObject_VectorcallMethod(ptr %data_ptr, ptr %x.at, i64 1, ptr null)
  store ptr %source.object, ptr %source.slot
  %source.failed = icmp eq ptr %source.object, null
  br i1 %source.failed, label %failed, label %alignment

alignment:
  %address = call ptr $PyLong_AsVoidPtr(ptr %source.object)
  %address.number = ptrtoint ptr %address to i64
  %address.bits = urem i64 %address.number, $widest
  %bits.number = ptrtoint ptr %bits to i64
  %aligned = icmp eq i64 %address.bits, %bits.number
  br i1 %aligned, label %result, label %release

result:
  %result.object = call ptr $PyObject_Vectorcall(ptr %allocate, ptr %shape.at, i64 3, ptr null)
  store ptr %result.object, ptr %result.slot
  %result.failed = icmp eq ptr %result.object, null
  br i1 %result.failed, label %failed, label %stream

stream:
  %stream.object = call ptr $PyObject_Vectorcall(ptr %current_stream, ptr %gpu.at, i64 1, ptr null)
  store ptr %stream.object, ptr %made
  %stream.failed = icmp eq ptr %stream.object, null
  br i1 %stream.failed, label %failed, label %target

target:
  %target.object = call ptr $PyObject_VectorcallMethod(ptr %data_ptr, ptr %result.slot, i64 1, ptr null)
  store ptr %target.object, ptr %target.slot
  %target.failed = icmp eq ptr %target.object, null
  br i1 %target.failed, label %failed, label %launch

launch:
  %launched = call ptr $PyObject_Vectorcall(ptr %launch_on, ptr %made, i64 3, ptr null)
  %launch.failed = icmp eq ptr %launched, null
  br i1 %launch.failed, label %failed, label %context

context:
  call void $Py_DecRef(ptr %launched)
  %ctx = load ptr, ptr %given
  %unrecorded = icmp eq ptr %ctx, $none
  br i1 %unrecorded, label %done, label %keep

keep:
  %assigns = icmp ne ptr %to_save, $none
  br i1 %assigns, label %assign, label %call

assign:
  %tuple = call ptr $PyTuple_New(i64 1)
  %no.tuple = icmp eq ptr %tuple, null
  br i1 %no.tuple, label %failed, label %fill

fill:
  call void $Py_IncRef(ptr %result.object)
  %filled = call i32 $PyTuple_SetItem(ptr %tuple, i64 0, ptr %result.object)
  %assigned = call i32 $PyObject_SetAttr(ptr %ctx, ptr %to_save, ptr %tuple)
  call void $Py_DecRef(ptr %tuple)
  %assign.failed = icmp ne i32 %assigned, 0
  br i1 %assign.failed, label %failed, label %done

call:
  store ptr %ctx, ptr %pair
  %pair.result = getelementptr ptr, ptr %pair, i64 1
  store ptr %result.object, ptr %pair.result
  %kept = call ptr $PyObject_VectorcallMethod(ptr %save, ptr %pair, i64 2, ptr null)
  %keep.failed = icmp eq ptr %kept, null
  br i1 %keep.failed, label %failed, label %saved

saved:
  call void $Py_DecRef(ptr %kept)
  br label %done

done:
  call void $Py_DecRef(ptr %stream.object)
  call void $Py_DecRef(ptr %source.object)
  call void $Py_DecRef(ptr %target.object)
  ret ptr %result.object

failed:
  %matches = call i32 $PyErr_ExceptionMatches(ptr %explained)
  %other.error = icmp eq i32 %matches, 0
  br i1 %other.error, label %raise, label %forget

raise:
  call void @release_made(ptr %made)
  ret ptr null

forget:
  call void $PyErr_Clear()
  br label %release

release:
  call void @release_made(ptr %made)
  br label %leave

leave:
  %instead = call ptr $PyObject_Vectorcall(ptr %otherwise, ptr %given, i64 %count, ptr null)
  ret ptr %instead
}

define internal void @release_made(ptr %made) {
entry:
  br label %each

each:
  %k = phi i64 [ 0, %entry ], [ %k.next, %each ]
  %at = getelementptr ptr, ptr %made, i64 %k
  %object = load ptr, ptr %at
  call void $Py_DecRef(ptr %object)
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, 4
  br i1 %more, label %each, label %done

done:
  ret void
}

define ptr @choose(ptr %self, ptr %given, i64 %count) {
entry:
  %calls = call ptr $PyTuple_GetItem(ptr %self, i64 0)
  %axis.at = getelementptr ptr, ptr %given, i64 1
  %dtype.at = getelementptr ptr, ptr %given, i64 2
  %policy.at = getelementptr ptr, ptr %given, i64 3
  %fits = icmp eq i64 %count, 4
  br i1 %fits, label %dtype, label %leave

dtype:
  %dtype.object = load ptr, ptr %dtype.at
  %same.dtype = icmp eq ptr %dtype.object, $none
  br i1 %same.dtype, label %start, label %leave

start:
  %axis.object = load ptr, ptr %axis.at
  %policy.object = load ptr, ptr %policy.at
  %known = call i64 $PyList_Size(ptr %calls)
  br label %each.call

each.call:
  %n = phi i64 [ 0, %start ], [ %n.next, %other.call ]
  %left = icmp ult i64 %n, %known
  br i1 %left, label %call, label %leave

call:
  %one.call = call ptr $PyList_GetItem(ptr %calls, i64 %n)
  %call.axis = call ptr $PyTuple_GetItem(ptr %one.call, i64 0)
  %call.policy = call ptr $PyTuple_GetItem(ptr %one.call, i64 1)
  %same.axis = icmp eq ptr %call.axis, %axis.object
  %same.policy = icmp eq ptr %call.policy, %policy.object
  %same.call = and i1 %same.axis, %same.policy
  br i1 %same.call, label %found, label %other.call

other.call:
  %n.next = add i64 %n, 1
  br label %each.call

found:
  %kinds = call ptr $PyTuple_GetItem(ptr %one.call, i64 2)
  br label %each

each:
  %k = phi i64 [ 1, %found ], [ 0, %next ]
  %kind = call ptr $PyList_GetItem(ptr %kinds, i64 %k)
  %unknown = icmp eq ptr %kind, $none
  br i1 %unknown, label %next, label %ask

ask:
  call void $Py_IncRef(ptr %kind)
  %like = call ptr $PyTuple_GetItem(ptr %kind, i64 0)
  %answer = call ptr $PyObject_Vectorcall(ptr %like, ptr %given, i64 1, ptr null)
  %no.answer = icmp eq ptr %answer, null
  br i1 %no.answer, label %answered, label %read

read:
  call void $Py_DecRef(ptr %answer)
  %is.like = icmp eq ptr %answer, $true
  br i1 %is.like, label %run, label %unlike

run:
  %function = call ptr $PyTuple_GetItem(ptr %kind, i64 1)
  %result = call ptr $PyObject_Vectorcall(ptr %function, ptr %given, i64 1, ptr null)
  br label %answered

answered:
  %returned = phi ptr [ null, %ask ], [ %result, %run ]
  call void $Py_DecRef(ptr %kind)
  ret ptr %returned

unlike:
  call void $Py_DecRef(ptr %kind)
  br label %next

next:
  %first = icmp eq i64 %k, 0
  br i1 %first, label %leave, label %each

leave:
  %otherwise = call ptr $PyTuple_GetItem(ptr %self, i64 1)
  %instead = call ptr $PyObject_Vectorcall(ptr %otherwise, ptr %given, i64 %count, ptr null)
  ret ptr %instead
}
""")
