"""Softmaxes of other libraries as launches over PyTorch tensors: what policy "fast" is measured against.

A peer is a function (op, inputs, output) -> launch. It raises :class:`Refused` for what it does not take, and is left
out where its library is missing. Launches queue their work on PyTorch's current stream; a peer that does not is marked.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

from softlab.bench.record import peers

Call = Callable[[], Any]
Peer = Callable[[str, Sequence[Any], Any], Call]

#: Peers that work on a stream of their own or allocate memory again: they are timed without a CUDA graph.
WITHOUT_GRAPH = ("cudnn", "jax", "cupy")
#: Library -> distribution, for the versions.
DISTRIBUTIONS = MappingProxyType(
    {
        "PyTorch": "torch", "Triton": "triton", "JAX": "jax", "CuPy": "cupy-cuda13x", "Liger": "liger-kernel",
        "QuACK": "quack-kernels", "FlashInfer": "flashinfer-python", "cuDNN": "nvidia-cudnn-cu13",
    }
)  # fmt: skip
#: The longest row that a Triton program of the tutorial's kind can hold, in elements.
_TRITON_COLS = 1 << 17


class Refused(Exception):
    """The peer has no such operator, dtype or length."""


def versions() -> dict[str, str]:
    """Library -> version, of those that are installed."""
    found = {}
    for library, distribution in DISTRIBUTIONS.items():
        try:
            found[library] = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def copy(op: str, inputs: Sequence[Any], output: Any) -> Call:
    """The ceiling: as many streams of as many bytes, with next to no arithmetic."""
    import torch

    if len(inputs) == 1:
        return lambda: output.copy_(inputs[0])
    return lambda: torch.add(*inputs, out=output)


def fast(op: str, inputs: Sequence[Any], output: Any) -> Call:
    """softlab's own, through the public operators."""
    return _softlab(op, inputs, output, "fast")


def oneflow(op: str, inputs: Sequence[Any], output: Any) -> Call:
    """The reference design."""
    return _softlab(op, inputs, output, "oneflow")


def _softlab(op: str, inputs: Sequence[Any], output: Any, policy: str) -> Call:
    import softlab

    operator = getattr(softlab, op)
    return lambda: operator(*inputs, out=output, policy=policy)


def torch_eager(op: str, inputs: Sequence[Any], output: Any) -> Call:
    """PyTorch as it comes."""
    import torch

    aten = torch.ops.aten
    if op == "softmax_backward":
        return lambda: aten._softmax_backward_data.out(*inputs, -1, output.dtype, grad_input=output)
    if op == "log_softmax_backward":
        return lambda: aten._log_softmax_backward_data.out(*inputs, -1, output.dtype, out=output)
    function = getattr(torch, op)
    return lambda: function(*inputs, -1, out=output)


def torch_compiled(op: str, inputs: Sequence[Any], output: Any) -> Call:
    """PyTorch's own compiler, Inductor, for this very shape."""
    if op != "softmax":
        raise Refused(op)
    compiled = _inductor(op, tuple(output.shape), output.dtype)
    return lambda: compiled(inputs[0])


@lru_cache(maxsize=1)
def _inductor(op: str, shape: tuple[int, ...], dtype: Any) -> Callable[[Any], Any]:
    """A compiled function for one shape. PyTorch compiles a function for few shapes, so those before are forgotten."""
    import torch

    torch._dynamo.reset()
    function = getattr(torch, op)
    return torch.compile(lambda x: function(x, -1), dynamic=False)


def triton_rows(op: str, inputs: Sequence[Any], output: Any) -> Call:
    """One program per row, the whole row at once: Triton's textbook kernel."""
    if op != "softmax" or output.shape[-1] > _TRITON_COLS:
        raise Refused(op)
    from softlab.bench.record import triton_softmax

    return triton_softmax.launch(inputs[0], output)


def liger(op: str, inputs: Sequence[Any], output: Any) -> Call:
    """Liger's kernel, in Triton."""
    from liger_kernel.ops import softmax as module

    if op != "softmax":
        raise Refused(op)
    return lambda: module._softmax_forward(inputs[0])


def quack(op: str, inputs: Sequence[Any], output: Any) -> Call:
    """QuACK's kernel, in CuTe DSL; rows are a multiple of 16 bytes."""
    module = importlib.import_module("quack.softmax")  # the package's own name `softmax` is a function
    name = {"softmax": "_softmax_fwd", "softmax_backward": "_softmax_backward"}.get(op)
    if name is None or output.shape[-1] * output.element_size() % 16:
        raise Refused(op)
    function = getattr(module, name)
    return lambda: function(*inputs, output)


def flashinfer(op: str, inputs: Sequence[Any], output: Any) -> Call:
    """FlashInfer's kernel of its sampling module, in CUDA: it computes in and returns float32."""
    import torch

    sampling = importlib.import_module("flashinfer.sampling")
    if op != "softmax" or output.dtype != torch.float32:
        raise Refused(op)
    return lambda: sampling.softmax(inputs[0])


def cudnn(op: str, inputs: Sequence[Any], output: Any) -> Call:
    """cudnnSoftmaxForward."""
    import cupy
    import torch

    peer = _cudnn()
    if op != "softmax" or output.dtype not in (torch.float32, torch.float16) or peer is None:
        raise Refused(op)
    with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        return peer(cupy.from_dlpack(inputs[0]), cupy.from_dlpack(output))


@lru_cache(maxsize=1)
def _cudnn() -> Any:
    return peers.found()[0].get("cudnn")


def jax_compiled(op: str, inputs: Sequence[Any], output: Any) -> Call:
    """JAX, compiled by XLA."""
    if op != "softmax":
        raise Refused(op)
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else it takes three quarters of the memory
    import jax

    function, x = _jitted(), jax.dlpack.from_dlpack(inputs[0])
    return lambda: function(x)


@lru_cache(maxsize=1)
def _jitted() -> Callable[[Any], Any]:
    import jax

    return jax.jit(partial(jax.nn.softmax, axis=-1))


def cupy_special(op: str, inputs: Sequence[Any], output: Any) -> Call:
    """CuPy's copy of SciPy's functions."""
    import cupy
    from cupyx.scipy import special

    if op.endswith("_backward") or output.element_size() == 2:
        raise Refused(op)
    x, function = cupy.from_dlpack(inputs[0]), getattr(special, op)
    return lambda: function(x, axis=-1)


#: Name -> peer; the ceiling first, then softlab's own.
PEERS: MappingProxyType[str, Peer] = MappingProxyType(
    {
        "copy": copy, "fast": fast, "oneflow": oneflow, "torch": torch_eager, "inductor": torch_compiled,
        "triton": triton_rows, "cudnn": cudnn, "liger": liger, "quack": quack,
        "flashinfer": flashinfer, "jax": jax_compiled, "cupy": cupy_special,
    }
)  # fmt: skip
