"""Prepared launches: a call with arrays like those of an earlier call only hands over the pointers.

For a small array :mod:`softlab.operators.rows` takes longer than the kernel. Its plan depends only on the arrays'
shapes, strides, dtypes, devices and alignment. So a cache of bounded size keeps the launch for arrays that need no
copy: C-contiguous and of the result's dtype. Policies other than "fast" take the last axis alone.
:mod:`softlab.operators.rows` takes all other calls, and reports their errors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import prod
from types import CodeType, MappingProxyType
from typing import Any

from softlab.cuda import gpu
from softlab.dtypes import element_type
from softlab.hardware.devices import Device, resolve
from softlab.operators import arrays, rows
from softlab.operators.executors import integers, program_of
from softlab.operators.one_kind import EXPLAINED, WIDEST, KnownLaunch, launcher
from softlab.plans.planner import OPERATORS

#: (op, inputs, axis, out, policy, device) -> result, or None if rows.apply must take the call.
_FastPath = Callable[[str, tuple[Any, ...], int, Any, Any, Any], Any]

# The two fast paths are written for speed: one more call, tuple or attribute costs every call a tenth of a microsecond.


def _cupy(array: Any) -> _FastPath:
    import cupy
    from cupy.cuda import runtime

    return _cupy_fast_path(array, cupy.cuda.get_current_stream, runtime.getDevice, runtime.getDeviceCount() > 1)


def _cupy_fast_path(array: Any, current_stream: Any, current_gpu: Any, several: bool) -> _FastPath:
    def launch(op: str, inputs: tuple[Any, ...], axis: int, out: Any, policy: Any, device: Any) -> Any:
        first = inputs[0]
        shape, dtype = first.shape, first.dtype
        bits = first.data.ptr
        pointers = [bits]
        if not first._c_contiguous:  # `flags` would say the same, but makes an object first
            return None
        if len(inputs) > 1:
            for x in inputs[1:]:
                if type(x) is not array or x.shape != shape or x.dtype is not dtype or not x._c_contiguous:
                    return None
                pointers.append(x.data.ptr)
                bits |= pointers[-1]
        if out is not None:
            if type(out) is not array or out.shape != shape or out.dtype is not dtype or not out._c_contiguous:
                return None
            target = out.data.ptr
            bits |= target
        gpu_index = 0
        if several:
            gpu_index = current_gpu()
            if any(x.data.device_id != gpu_index for x in (*inputs, first if out is None else out)):
                return None
        ready = _prepare(op, shape, dtype, gpu_index, bits % WIDEST, axis, policy, device)
        if ready is None:
            return None
        if out is None:
            out = array(shape, dtype)
            target = out.data.ptr
        else:
            nbytes = ready.nbytes
            for pointer in pointers:  # out may be an input, if the kernel allows that, but not a shifted one
                if -nbytes < pointer - target < nbytes and not (pointer == target and ready.in_place):
                    return None
        pointers.append(target)
        ready.launch(current_stream(gpu_index).ptr, *pointers)
        return out

    return launch


def _torch(array: Any) -> _FastPath:
    import torch
    from cupy.cuda import runtime

    return _torch_fast_path(array, _torch_streams(), runtime.getDevice, torch.empty_like, _torch_allocate())


def _torch_streams() -> Callable[[int], int]:
    """Index of a GPU -> the handle of PyTorch's current stream on it."""
    import torch

    # Triton gets the handle likewise: `torch.cuda.current_stream` would make an object around it.
    handle = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return handle or (lambda gpu_index: torch.cuda.current_stream(gpu_index).cuda_stream)


def _torch_allocate() -> Callable[[tuple[int, ...], tuple[int, ...], Any], Any] | None:
    """(shape, strides, dtype) -> a new tensor on the current GPU; None where PyTorch has no such function.

    Code that PyTorch's compiler generates allocates so. ``torch.empty_like`` takes a microsecond longer, because it
    goes through the dispatcher twice.
    """
    import torch

    guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
    allocate: Any = getattr(guards, "_empty_strided_cuda", None)
    if allocate is None:
        return None
    try:  # it is no documented function, so it may mean something else one day
        made = allocate((2, 3), (3, 1), torch.float16)
        known = made.shape == (2, 3) and made.dtype is torch.float16 and made.is_cuda and made.is_contiguous()
    except Exception:
        return None
    return allocate if known and type(made) is torch.Tensor else None


def _torch_guard() -> Callable[[Any], Callable[[Any], bool]] | None:
    """A tensor -> whether another one is like it; None where PyTorch has no such function.

    Such tensors have the same type, dispatch keys, dtype, device, sizes and strides, and both or none requires a
    gradient. Within ``torch.autocast`` the dispatch keys of its devices are others. Code that PyTorch's compiler
    generates asks so. One call takes less than half the time of asking for each.
    """
    import torch

    guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
    kind: Any = getattr(guards, "TensorGuards", None)
    if kind is None:
        return None

    def guard(x: Any) -> Callable[[Any], bool]:
        return kind(x, dynamic_dims_sizes=None, dynamic_dims_strides=None).check

    try:  # as above
        known = _tells_tensors_apart(guard, torch)
    except Exception:
        return None
    return guard if known else None


def _tells_tensors_apart(guard: Callable[[Any], Callable[[Any], bool]], torch: Any) -> bool:
    """Whether a guard does what :func:`_torch_guard` says, as far as tensors on the host show it."""
    matrix = torch.ones(2, 3)
    others = (
        torch.ones(2, 4), torch.ones(2, 3, 1), torch.ones(3, 2).T, matrix.half(), torch.ones(2, 3, device="meta"),
        torch.ones(2, 3, requires_grad=True), torch._neg_view(matrix), torch.nn.Parameter(matrix, False), None,
    )  # fmt: skip
    check = guard(matrix)
    with torch.autocast("cpu"):
        autocast = check(torch.zeros(2, 3))
    return check(torch.zeros(2, 3)) is True and not autocast and not any(check(other) for other in others)


def _torch_assigns() -> bool:
    """Whether autograd's ``ctx.save_for_backward(y)`` does no more than ``ctx.to_save = (y,)``, by its code."""
    import torch

    def save_for_backward(self: Any, *tensors: Any) -> None:
        """The function as PyTorch 2 has it."""
        self.to_save = tensors

    found = getattr(torch.autograd.function.FunctionCtx.save_for_backward, "__code__", None)
    return found is not None and _what_runs(found) == _what_runs(save_for_backward.__code__)


def _what_runs(code: CodeType) -> tuple[Any, ...]:
    starred = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return code.co_code, code.co_names, code.co_varnames, code.co_argcount, code.co_kwonlyargcount, starred


def _torch_fast_path(
    array: Any, current_stream: Any, current_gpu: Any, empty_like: Any, allocate: Any = None
) -> _FastPath:
    def launch(op: str, inputs: tuple[Any, ...], axis: int, out: Any, policy: Any, device: Any) -> Any:
        first = inputs[0]
        shape, dtype, gpu_index = first.shape, first.dtype, first.get_device()
        pointers, pointer, bits = [], 0, 0
        for x in inputs if out is None else (*inputs, out):
            if type(x) is not array or x.shape != shape or x.dtype is not dtype or not x.is_contiguous():
                return None
            if x.get_device() != gpu_index or x.requires_grad or x.is_neg():
                return None
            pointer = x.data_ptr()
            pointers.append(pointer)
            bits |= pointer
        if gpu_index != current_gpu():
            return None
        ready = _prepare(op, shape, dtype, gpu_index, bits % WIDEST, axis, policy, device)
        if ready is None:
            return None
        if out is None:
            out = empty_like(first) if allocate is None else allocate(*ready.like)
            pointers.append(out.data_ptr())
        else:
            nbytes = ready.nbytes
            for other in pointers[:-1]:  # as above
                if -nbytes < other - pointer < nbytes and not (other == pointer and ready.in_place):
                    return None
        ready.launch(current_stream(gpu_index), *pointers)
        return out

    return launch


#: The array type in full -> what makes the fast path of its library.
_FAST_PATHS = MappingProxyType({"cupy.ndarray": _cupy, "torch.Tensor": _torch})


@lru_cache(maxsize=64)
def _fast_path(array: Any) -> _FastPath | None:
    """The fast path of an array type; None if the type is not known, or there is no GPU."""
    make = _FAST_PATHS.get(f"{array.__module__}.{array.__qualname__}")
    return make(array) if make and Device.present() else None


def try_launch(op: str, inputs: tuple[Any, ...], axis: Any, dtype: Any, out: Any, policy: Any, device: Any) -> Any:
    """The operator's result, or None if :func:`softlab.operators.rows.apply` must take the call."""
    array: Any = type(inputs[0])
    fast_path = _fast_path(array)
    if fast_path is None or dtype is not None or type(axis) is not int:  # 1.0 and True hash as 1 does
        return None
    try:
        return fast_path(op, inputs, axis, out, policy, device)
    except EXPLAINED:
        return None


#: A tensor, whether another one is like it, and a function of autograd's context and a tensor like it.
_Note = Callable[[Any, Callable[[Any], bool], Callable[[Any, Any], Any]], None]


def forward(
    op: str, axis: int, policy: Any, otherwise: Callable[[Any, Any], Any], note: _Note | None = None
) -> Callable[[Any, Any], Any]:
    """A function of autograd's context and an operator's tensor, which autograd may watch. It returns the result.

    Autograd records nothing of it. The context keeps the result for a gradient, unless it is None. ``otherwise`` takes
    both where :func:`try_launch` returns None. Without a GPU it takes all.

    ``note`` gets the first, second, fourth, eighth, ... tensor that was launched, so that many kinds cost little. The
    function that it gets does the same in less time.
    """
    if not Device.present():
        return otherwise
    return _noting_operator(_preparation(op, axis, policy), otherwise, _torch_library(), note)


def gradient(op: str, axis: int, policy: Any, otherwise: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function of a gradient's tensors, dy and y. It returns the result; for the rest as :func:`forward`."""
    if not Device.present():
        return otherwise
    return _unrecorded_gradient(_preparation(op, axis, policy), otherwise, _torch_library())


def _preparation(op: str, axis: int, policy: Any) -> Callable[..., _ReadyLaunch | None]:
    return partial(_prepare, op, axis=axis, policy=policy, device=None)


@dataclass(frozen=True)
class _TorchLibrary:
    """What a call needs of PyTorch and of the current GPU. ``current_gpu`` is None where there is only one."""

    tensor: Any
    current_stream: Callable[[int], int]
    current_gpu: Callable[[], int] | None
    empty_like: Callable[[Any], Any]
    allocate: Callable[[tuple[int, ...], tuple[int, ...], Any], Any] | None = None
    guard: Callable[[Any], Callable[[Any], bool]] | None = None
    assigns: bool = False


def _torch_library() -> _TorchLibrary:
    import torch
    from cupy.cuda import runtime

    current_gpu = runtime.getDevice if runtime.getDeviceCount() > 1 else None
    allocate, guard, assigns = _torch_allocate(), _torch_guard(), _torch_assigns()
    return _TorchLibrary(torch.Tensor, _torch_streams(), current_gpu, torch.empty_like, allocate, guard, assigns)


# The next functions know the operator, so that a call asks for its launch by four values alone.


def _noting_operator(
    prepare: Any, otherwise: Callable[[Any, Any], Any], library: _TorchLibrary, note: _Note | None
) -> Callable[[Any, Any], Any]:
    """As :func:`forward`, which says what ``note`` gets. It gets nothing where PyTorch lacks a function for that."""
    guard, allocate, misses = library.guard, library.allocate, 0
    if note is None or guard is None or allocate is None:
        return _unrecorded_operator(prepare, otherwise, library)

    def launched(x: Any, bits: int, gpu_index: int, ready: _ReadyLaunch) -> None:
        nonlocal misses
        misses += 1
        if not misses & (misses - 1):
            current = library.current_stream, library.current_gpu
            launch = KnownLaunch(ready.launch, bits, allocate, ready.like, gpu_index, *current, library.assigns)
            note(x, guard(x), launcher(launch, operator))

    operator = _unrecorded_operator(prepare, otherwise, library, launched)
    return operator


def _unrecorded_operator(
    prepare: Any,
    otherwise: Callable[[Any, Any], Any],
    library: _TorchLibrary,
    launched: Callable[..., None] | None = None,
) -> Callable[[Any, Any], Any]:
    """``launched`` gets the tensor of each launch, the low bits of its address, its GPU and what launched."""
    tensor, current_stream, current_gpu = library.tensor, library.current_stream, library.current_gpu
    empty_like, allocate, prepared_for = library.empty_like, library.allocate, lru_cache(maxsize=256)(prepare)

    def launch(ctx: Any, x: Any) -> Any:
        try:
            gpu_index, pointer = x.get_device(), x.data_ptr()
            if (
                type(x) is tensor and gpu_index == (0 if current_gpu is None else current_gpu())
                and x.is_contiguous() and not x.is_neg()
            ):  # fmt: skip
                ready = prepared_for(x.shape, x.dtype, gpu_index, pointer % WIDEST)
                if ready is not None:
                    out = empty_like(x) if allocate is None else allocate(*ready.like)
                    ready.launch(current_stream(gpu_index), pointer, out.data_ptr())
                    if ctx is not None:
                        ctx.save_for_backward(out)
                    if launched is not None:
                        launched(x, pointer % WIDEST, gpu_index, ready)
                    return out
        except EXPLAINED:
            pass
        return otherwise(ctx, x)

    return launch


def _unrecorded_gradient(
    prepare: Any, otherwise: Callable[[Any, Any], Any], library: _TorchLibrary
) -> Callable[[Any, Any], Any]:
    tensor, current_stream, current_gpu = library.tensor, library.current_stream, library.current_gpu
    empty_like, allocate, prepared_for = library.empty_like, library.allocate, lru_cache(maxsize=256)(prepare)

    def launch(dy: Any, y: Any) -> Any:
        try:
            shape, dtype, gpu_index = y.shape, y.dtype, y.get_device()
            first, second = dy.data_ptr(), y.data_ptr()
            if (
                type(dy) is tensor and type(y) is tensor and dy.shape == shape and dy.dtype is dtype
                and gpu_index == (0 if current_gpu is None else current_gpu()) and dy.get_device() == gpu_index
                and dy.is_contiguous() and y.is_contiguous() and not dy.is_neg() and not y.is_neg()
            ):  # fmt: skip
                ready = prepared_for(shape, dtype, gpu_index, (first | second) % WIDEST)
                if ready is not None:
                    out = empty_like(y) if allocate is None else allocate(*ready.like)
                    ready.launch(current_stream(gpu_index), first, second, out.data_ptr())
                    return out
        except EXPLAINED:
            pass
        return otherwise(dy, y)

    return launch


@dataclass(frozen=True, eq=False)
class _ReadyLaunch:
    """A launch for arrays of ``nbytes`` each: (stream, *pointers) -> None. ``in_place``: as :class:`Plan` has it.

    ``like``: shape, strides in elements, and the library's dtype of each.
    """

    launch: Callable[..., None]
    nbytes: int
    in_place: bool
    like: tuple[tuple[int, ...], tuple[int, ...], Any]


@lru_cache(maxsize=1024)
def _prepare(
    op: str, shape: Sequence[int], dtype: Any, gpu_index: int, bits: int, axis: int, policy: Any, device: Any
) -> _ReadyLaunch | None:
    """A launch for an operator's inputs and an output, all C-contiguous; None if rows.apply is needed.

    Arguments:
        dtype: the library's own.
        gpu_index: of the arrays' GPU, which is the current one.
        bits: the low bits of all pointers, combined by "or", modulo 16.
        policy: None, too: then the cache saves :func:`policy_of`, as it saves all else.
    """
    element = element_type(dtype)
    axis = arrays.axis_of(axis, len(shape))
    policy = rows.policy_of(policy, on_gpu=True)
    if not prod(shape) or (axis < len(shape) - 1 and policy != rows.STRIDED_POLICY):
        return None
    cols, stride = (shape[axis], prod(shape[axis + 1 :])) if shape else (1, 1)
    problem = rows.PlanKey(prod(shape) // cols, cols, element.name, op, policy, resolve(device), stride)
    plan = rows.planned(problem, False)
    if bits % (plan.pack_size * element.itemsize):
        plan = rows.planned(problem, True)
    grid, block = (plan.grid, 1, 1), (*plan.block, 1)
    pointers = (2 if OPERATORS[op].backward else 1) + 1
    launch = gpu.launcher(
        program_of(plan),
        grid,
        block,
        plan.smem_bytes,
        pointers,
        integers(plan),
        gpu_index,
        cooperative=plan.cooperative,
        workspace_bytes=plan.workspace_bytes,
    )
    sizes = tuple(shape)
    strides = tuple(prod(sizes[number + 1 :]) for number in range(len(sizes)))
    return _ReadyLaunch(launch, prod(shape) * element.itemsize, plan.in_place, (sizes, strides, dtype))
