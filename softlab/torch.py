"""softmax and log_softmax for PyTorch's autograd: softlab's kernels forward and backward.

PyTorch is no dependency of softlab: the first call of one of these functions imports it. ``torch.func`` and
``torch.compile`` do not see into them. ``torch.autocast`` concerns these functions alone, not :func:`softlab.softmax`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from types import MappingProxyType
from typing import Any

from softlab import operators
from softlab.cuda.exchange import type_name
from softlab.hardware.devices import Device
from softlab.operators import arrays, one_kind, prepared


def softmax(x: Any, dim: int = -1, dtype: Any = None, *, policy: str | None = None) -> Any:
    """:func:`softlab.softmax` along ``dim``, recorded by autograd.

    >>> x = torch.randn(8, 1000, device="cuda", requires_grad=True)
    >>> softlab.torch.softmax(x).square().sum().backward()

    Arguments:
        x: a float16, bfloat16, float32 or float64 tensor. CUDA tensors run on their GPU, CPU tensors in the emulator.
        dim: the axis; negative ones count from the end.
        dtype: x is cast to this ``torch.dtype`` first (and the gradient back to x's). None: x's own, and within
            ``torch.autocast`` the one that PyTorch's own softmax takes: on a GPU float32 for float16 and bfloat16.
        policy: as for :func:`softlab.softmax`, both forward and backward: on a GPU None is "fast".

    Returns:
        A tensor of x's shape. It can be differentiated any number of times. PyTorch computes the sums and products
        of higher derivatives that no kernel of softlab computes.

    Raises:
        ImportError: PyTorch is not installed. TypeError: x is no tensor. Other errors: as for :func:`softlab.softmax`.
    """
    return _caller("softmax")(x, dim, dtype, policy)


def log_softmax(x: Any, dim: int = -1, dtype: Any = None, *, policy: str | None = None) -> Any:
    """:func:`softlab.log_softmax` along ``dim``, recorded by autograd. Arguments and errors as :func:`softmax`."""
    return _caller("log_softmax")(x, dim, dtype, policy)


#: Pairs of an axis and a policy whose tensors are asked for their kind. Most programs have one or two.
_MOST_CALLS = 8


@cache
def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "softlab.torch needs PyTorch, which is not installed: pip install torch (https://pytorch.org tells which "
            "build). softlab.softmax itself works without it."
        ) from error
    return torch


# The classes derive from PyTorch's, so they are made after its import. What costs time in a call of a small tensor:
# - `forward` takes ctx. A separate `setup_context` would let torch.func transform the classes. But it binds the
#   arguments by their signature at each call, and that takes four times as long as all the rest here.
# - There is a class per operator, axis and policy. So a call hands over tensors alone, and ctx gets no attributes.
# - `apply` of PyTorch's own base class is called: `Function.apply` goes there after it has asked for transforms. The
#   base refuses transforms, too, but says less. So only an error asks for them.
# - `forward` is the function that launches: it knows ctx and saves its result there.
# - Most calls have a tensor like an earlier one. Two kinds are known per operator, axis and policy: a tensor with a
#   gradient and one without. One question finds the kind, which has a class of its own, whose `forward` asks nothing.
# - Nobody asks whether gradients are enabled: `apply` records nothing where they are not.
# - Nor is a tensor of a known kind asked for autocast: a tensor's dispatch keys are others there, so it is of another
#   kind.


@cache
def _caller(op: str) -> Callable[..., Any]:
    """A function of x, axis, dtype and policy. It runs the operator, recorded by autograd."""
    calls: list[one_kind.Call] = []

    @lru_cache(maxsize=256)
    def recorder(dim: int, policy: str | None) -> Callable[[Any], Any]:
        kinds: list[one_kind.Kind | None] = [None, None]
        recorded = _recorder(op, dim, policy, kinds)
        if len(calls) < _MOST_CALLS:
            calls.append((dim, policy, kinds))
        return recorded

    enabled, chosen = _autocast_enabled(), _autocast(op)

    def any_call(x: Any, dim: Any, dtype: Any, policy: str | None) -> Any:
        recorded = recorder(dim if type(dim) is int else arrays.axis_number(dim), policy)
        if not isinstance(x, _torch().Tensor):
            raise TypeError(
                f"x is a {type_name(x)}: softlab.torch.{op} takes tensors alone, and softlab.{op} takes all other "
                "arrays"
            )
        if enabled(x.device.type):
            return recorded(x.to(dtype or chosen(x.device.type, x.dtype)))
        return recorded(x) if dtype is None else call(x.to(dtype), dim, None, policy)

    call = one_kind.chooser(calls, any_call) if Device.present() else any_call
    return call


def _autocast_enabled() -> Callable[[str], bool]:
    """Type of a device -> whether code runs within ``torch.autocast`` for it."""
    torch = _torch()
    try:
        torch.is_autocast_enabled("cpu")
    except TypeError:  # before PyTorch 2.4 it means CUDA; on a CPU autocast leaves softmax alone
        return lambda device: bool(device == "cuda" and torch.is_autocast_enabled())
    return lambda device: bool(device in _AUTOCAST_DEVICES and torch.is_autocast_enabled(device))


#: Where tensors have memory that the kernels take.
_AUTOCAST_DEVICES = ("cuda", "cpu")


def _autocast(op: str) -> Callable[[str, Any], Any]:
    """(type of a device, dtype) -> what PyTorch's own operator casts to within ``torch.autocast``: PyTorch says it."""
    torch = _torch()
    halves = (torch.float16, torch.bfloat16)

    @cache
    def chosen(device: str, dtype: Any) -> Any:
        return getattr(torch, op)(torch.empty(0, dtype=dtype, device=device), 0).dtype

    return lambda device, dtype: chosen(device, dtype) if dtype in halves else dtype


def _recorder(op: str, dim: int, policy: str | None, kinds: list[one_kind.Kind | None]) -> Callable[[Any], Any]:
    """A function of a tensor. Of the tensors that it launches it puts a kind without and one with a gradient into
    ``kinds``."""
    torch = _torch()

    def note_unwatched(x: Any, like: Callable[[Any], bool], launch: Callable[[Any, Any], Any]) -> None:
        kinds[0] = like, partial(launch, None)

    def note_watched(x: Any, like: Callable[[Any], bool], launch: Callable[[Any, Any], Any]) -> None:
        kinds[1] = like, _apply(type(function.__name__, (function,), {"forward": staticmethod(launch)}))

    unwatched = _forward(op, dim, policy, note_unwatched)
    function = _FUNCTIONS[op](_forward(op, dim, policy, note_watched), dim, policy)
    apply, transformed = _apply(function), getattr(torch._C, "_are_functorch_transforms_active", lambda: False)

    def recorded(x: Any) -> Any:
        if not x.requires_grad:
            return unwatched(None, x)
        try:
            return apply(x)
        except RuntimeError:
            if transformed():
                return function.apply(x)
            raise

    return recorded


def _apply(function: Any) -> Callable[[Any], Any]:
    """The function of x that records a call of a ``torch.autograd.Function``."""
    torch = _torch()
    if not hasattr(torch._C, "_are_functorch_transforms_active"):
        return function.apply
    return super(torch.autograd.Function, function).apply


def _forward(op: str, dim: int, policy: str | None, note: Callable[..., None]) -> Callable[[Any, Any], Any]:
    """A function of autograd's context and x, recorded by nobody. The context, unless it is None, keeps the result."""
    operator = getattr(operators, op)

    def run(ctx: Any, x: Any) -> Any:
        y = operator(x.detach(), dim, policy=policy)
        if ctx is not None:
            ctx.save_for_backward(y)
        return y

    return prepared.forward(op, dim, policy, run, note)


def _backward(op: str, dim: int, policy: str | None) -> Callable[[Any, Any], Any]:
    """A function of dy and y, recorded by nobody."""
    operator = getattr(operators, op)

    def run(dy: Any, y: Any) -> Any:
        return operator(dy.detach(), y.detach(), dim, policy=policy)

    return prepared.gradient(op, dim, policy, run)


def _softmax_function(run: Callable[[Any, Any], Any], dim: int, policy: str | None) -> Any:
    """The ``torch.autograd.Function`` of softmax."""
    torch = _torch()
    run_backward = _backward("softmax_backward", dim, policy)
    function: Any = torch.autograd.Function

    class SoftmaxBackward(function):
        """dx = (dy - sum(y dy)) y."""

        @staticmethod
        def forward(ctx: Any, dy: Any, y: Any) -> Any:
            ctx.save_for_backward(dy, y)
            return run_backward(dy, y)

        @staticmethod
        def backward(ctx: Any, g: Any) -> tuple[Any, ...]:
            dy, y = ctx.saved_tensors
            # With respect to dy the map is linear and symmetric, so its gradient is the map itself.
            return SoftmaxBackward.apply(g, y), _softmax_backward_by_y(g, dy, y, dim)

    class Softmax(function):
        """y = softmax(x)."""

        forward = staticmethod(run)

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            (y,) = ctx.saved_tensors
            if torch.is_grad_enabled():  # create_graph=True
                return SoftmaxBackward.apply(dy, y)
            return run_backward(dy, y)

    return Softmax


def _softmax_backward_by_y(g: Any, dy: Any, y: Any, dim: int) -> Any:
    """d/dy_j of sum_i g_i (dy_i - s) y_i with s = sum_k y_k dy_k."""
    s = (y * dy).sum(dim, keepdim=True)
    return g * (dy - s) - dy * (g * y).sum(dim, keepdim=True)


def _log_softmax_function(run: Callable[[Any, Any], Any], dim: int, policy: str | None) -> Any:
    """The ``torch.autograd.Function`` of log_softmax."""
    torch = _torch()
    run_backward = _backward("log_softmax_backward", dim, policy)
    function: Any = torch.autograd.Function

    class LogSoftmaxBackward(function):
        """dx = dy - exp(y) sum(dy)."""

        @staticmethod
        def forward(ctx: Any, dy: Any, y: Any) -> Any:
            ctx.save_for_backward(dy, y)
            return run_backward(dy, y)

        @staticmethod
        def backward(ctx: Any, g: Any) -> tuple[Any, ...]:
            dy, y = ctx.saved_tensors
            probabilities = y.exp()
            by_dy = g - (g * probabilities).sum(dim, keepdim=True)
            by_y = -g * probabilities * dy.sum(dim, keepdim=True)
            return by_dy, by_y

    class LogSoftmax(function):
        """y = log(softmax(x))."""

        forward = staticmethod(run)

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            (y,) = ctx.saved_tensors
            if torch.is_grad_enabled():  # create_graph=True
                return LogSoftmaxBackward.apply(dy, y)
            return run_backward(dy, y)

    return LogSoftmax


_FUNCTIONS: Mapping[str, Callable[[Callable[[Any, Any], Any], int, str | None], Any]] = MappingProxyType(
    {"softmax": _softmax_function, "log_softmax": _log_softmax_function}
)
