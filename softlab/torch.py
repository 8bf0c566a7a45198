"""softmax and log_softmax for PyTorch's autograd: softlab's kernels forward and backward.

PyTorch is no dependency of softlab: the first call of one of these functions imports it. ``torch.func`` and
``torch.compile`` do not see into them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from softlab import operators
from softlab.cuda.exchange import type_name


def softmax(x: Any, dim: int = -1, dtype: Any = None, *, policy: str | None = None) -> Any:
    """:func:`softlab.softmax` along ``dim``, recorded by autograd.

    >>> x = torch.randn(8, 1000, device="cuda", requires_grad=True)
    >>> softlab.torch.softmax(x).square().sum().backward()

    Arguments:
        x: a float16, bfloat16, float32 or float64 tensor. CUDA tensors run on their GPU, CPU tensors in the emulator.
        dim: the axis; negative ones count from the end.
        dtype: x is cast to this ``torch.dtype`` first (and the gradient back to x's). None: x's own.
        policy: as for :func:`softlab.softmax`, both forward and backward: on a GPU None is "fast".

    Returns:
        A tensor of x's shape. It can be differentiated any number of times. PyTorch computes the sums and products
        of higher derivatives that no kernel of softlab computes.

    Raises:
        ImportError: PyTorch is not installed. TypeError: x is no tensor. Other errors: as for :func:`softlab.softmax`.
    """
    return _apply("softmax", x, dim, dtype, policy)


def log_softmax(x: Any, dim: int = -1, dtype: Any = None, *, policy: str | None = None) -> Any:
    """:func:`softlab.log_softmax` along ``dim``, recorded by autograd. Arguments and errors as :func:`softmax`."""
    return _apply("log_softmax", x, dim, dtype, policy)


def _apply(op: str, x: Any, dim: int, dtype: Any, policy: str | None) -> Any:
    torch = _torch()
    if not isinstance(x, torch.Tensor):
        raise TypeError(
            f"x is a {type_name(x)}: softlab.torch.{op} takes tensors alone, and softlab.{op} takes all other arrays"
        )
    x = x if dtype is None else x.to(dtype)
    if not (x.requires_grad and torch.is_grad_enabled()):
        return getattr(operators, op)(x, dim, policy=policy)
    return _FUNCTIONS[op]().apply(x, dim, policy)


@lru_cache(maxsize=1)
def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "softlab.torch needs PyTorch, which is not installed: pip install torch (https://pytorch.org tells which "
            "build). softlab.softmax itself works without it."
        ) from error
    return torch


# The classes derive from PyTorch's, so they are made after its import. Their `forward` takes ctx. A separate
# `setup_context` would let torch.func transform them. But it binds the arguments by their signature at each call, and
# that takes four times as long as all the rest here.


@lru_cache(maxsize=1)
def _softmax_function() -> Any:
    """The ``torch.autograd.Function`` of softmax."""
    function: Any = _torch().autograd.Function

    class SoftmaxBackward(function):
        """dx = (dy - sum(y dy)) y."""

        @staticmethod
        def forward(ctx: Any, dy: Any, y: Any, dim: int, policy: str | None) -> Any:
            ctx.dim, ctx.policy = dim, policy
            ctx.save_for_backward(dy, y)
            return operators.softmax_backward(dy.detach(), y.detach(), dim, policy=policy)

        @staticmethod
        def backward(ctx: Any, g: Any) -> tuple[Any, ...]:
            dy, y = ctx.saved_tensors
            # With respect to dy the map is linear and symmetric, so its gradient is the map itself.
            by_dy = SoftmaxBackward.apply(g, y, ctx.dim, ctx.policy)
            return by_dy, _softmax_backward_by_y(g, dy, y, ctx.dim), None, None

    class Softmax(function):
        """y = softmax(x)."""

        @staticmethod
        def forward(ctx: Any, x: Any, dim: int, policy: str | None) -> Any:
            y = operators.softmax(x.detach(), dim, policy=policy)
            ctx.dim, ctx.policy = dim, policy
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, dy: Any) -> tuple[Any, ...]:
            return SoftmaxBackward.apply(dy, *ctx.saved_tensors, ctx.dim, ctx.policy), None, None

    return Softmax


def _softmax_backward_by_y(g: Any, dy: Any, y: Any, dim: int) -> Any:
    """d/dy_j of sum_i g_i (dy_i - s) y_i with s = sum_k y_k dy_k."""
    s = (y * dy).sum(dim, keepdim=True)
    return g * (dy - s) - dy * (g * y).sum(dim, keepdim=True)


@lru_cache(maxsize=1)
def _log_softmax_function() -> Any:
    """The ``torch.autograd.Function`` of log_softmax."""
    function: Any = _torch().autograd.Function

    class LogSoftmaxBackward(function):
        """dx = dy - exp(y) sum(dy)."""

        @staticmethod
        def forward(ctx: Any, dy: Any, y: Any, dim: int, policy: str | None) -> Any:
            ctx.dim = dim
            ctx.save_for_backward(dy, y)
            return operators.log_softmax_backward(dy.detach(), y.detach(), dim, policy=policy)

        @staticmethod
        def backward(ctx: Any, g: Any) -> tuple[Any, ...]:
            dy, y = ctx.saved_tensors
            probabilities = y.exp()
            by_dy = g - (g * probabilities).sum(ctx.dim, keepdim=True)
            by_y = -g * probabilities * dy.sum(ctx.dim, keepdim=True)
            return by_dy, by_y, None, None

    class LogSoftmax(function):
        """y = log(softmax(x))."""

        @staticmethod
        def forward(ctx: Any, x: Any, dim: int, policy: str | None) -> Any:
            y = operators.log_softmax(x.detach(), dim, policy=policy)
            ctx.dim, ctx.policy = dim, policy
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, dy: Any) -> tuple[Any, ...]:
            return LogSoftmaxBackward.apply(dy, *ctx.saved_tensors, ctx.dim, ctx.policy), None, None

    return LogSoftmax


_FUNCTIONS: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {"softmax": _softmax_function, "log_softmax": _log_softmax_function}
)
