"""softlab.torch: gradients of any order against PyTorch's numerical ones and its own operators."""

from __future__ import annotations

import ctypes
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.operators import one_kind, prepared

OPS = ("softmax", "log_softmax")
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch is not installed: softlab.torch is tested where it is")


def test_without_pytorch_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    softlab.torch._torch.cache_clear()
    softlab.torch._caller.cache_clear()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"softlab\.torch needs PyTorch.*pip install torch"):
        softlab.torch.softmax(1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("op", OPS)
def test_first_and_second_derivatives(torch: Any, op: str, dim: int, device: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 5, dtype=torch.float64, device=device, requires_grad=True)

    def function(x: Any) -> Any:
        return getattr(softlab.torch, op)(x, dim)

    assert torch.autograd.gradcheck(function, x)
    assert torch.autograd.gradgradcheck(function, x)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("op", OPS)
def test_third_derivatives(torch: Any, op: str, device: str) -> None:
    def third(function: Any) -> Any:
        torch.manual_seed(0)
        x = torch.randn(2, 4, dtype=torch.float64, device=device, requires_grad=True)
        found = function(x, -1)
        for _ in range(3):
            (found,) = torch.autograd.grad((found**2).sum(), x, create_graph=True)
        return found.detach()

    torch.testing.assert_close(third(getattr(softlab.torch, op)), third(getattr(torch, op)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("op", OPS)
def test_a_training_step_is_pytorchs(torch: Any, op: str, dtype: str, device: str) -> None:
    """The gradient of a loss by x, with a dtype that x is cast to, beside PyTorch's own in double precision."""
    torch.manual_seed(0)
    x = torch.randn(4, 70, device=device, dtype=getattr(torch, dtype), requires_grad=True)
    weights = torch.randn(4, 70, device=device)
    (getattr(softlab.torch, op)(x, dtype=torch.float32) * weights).sum().backward()
    got, x.grad = x.grad, None
    assert got.dtype == x.dtype
    exact = x.detach().double().requires_grad_()
    (getattr(torch, op)(exact, -1) * weights).sum().backward()
    rounding = {"float16": 2**-11, "bfloat16": 2**-8, "float32": 1e-6}[dtype]
    torch.testing.assert_close(got.double(), exact.grad, rtol=rounding * 1.01, atol=2e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_recorded(torch: Any, device: str) -> None:
    x = torch.randn(3, 5, device=device)
    assert not softlab.torch.softmax(x).requires_grad
    assert softlab.torch.softmax(x.requires_grad_()).requires_grad
    with torch.no_grad():
        assert not softlab.torch.softmax(x).requires_grad
        torch.testing.assert_close(softlab.softmax(x), torch.softmax(x, -1))  # nothing to record: no error
    with pytest.raises(TypeError, match=r"x is a torch.Tensor that requires a gradient.*softlab\.torch\.softmax"):
        softlab.softmax(x)
    with pytest.raises(TypeError, match=r"y is a torch.Tensor that requires a gradient"):
        softlab.softmax_backward(x.detach(), x)


@pytest.mark.parametrize("device", DEVICES)
def test_empty_and_zero_dimensions(torch: Any, device: str) -> None:
    for shape in ((0, 3), (3, 0), ()):
        x = torch.zeros(shape, device=device, requires_grad=True)
        softlab.torch.softmax(x).sum().backward()
        assert x.grad.shape == shape
        assert not x.grad.any()


@pytest.mark.parametrize("device", DEVICES)
def test_errors(torch: Any, device: str) -> None:
    x = torch.zeros(3, 4, device=device)
    with pytest.raises(TypeError, match=r"numpy\.ndarray: softlab\.torch\.softmax takes tensors"):
        softlab.torch.softmax(x.cpu().numpy())
    with pytest.raises(ValueError, match="axis 2 is out of range"):
        softlab.torch.softmax(x, 2)
    with pytest.raises(TypeError, match="int32"):
        softlab.torch.softmax(x.int())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("op", OPS)
def test_transforms_are_refused_in_pytorchs_words(torch: Any, op: str, device: str) -> None:
    x = torch.randn(3, 4, device=device)
    with pytest.raises(RuntimeError, match="setup_context"):
        torch.func.grad(lambda x: getattr(softlab.torch, op)(x).sum())(x)


@pytest.mark.parametrize("device", DEVICES)
def test_an_error_while_it_runs_is_not_taken_for_a_transform(
    torch: Any, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*inputs: Any, **named: Any) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(softlab.torch.operators, "softmax", broken)
    monkeypatch.setattr(softlab.torch.prepared, "forward", lambda op, dim, policy, otherwise, note: otherwise)
    softlab.torch._caller.cache_clear()
    try:
        with pytest.raises(RuntimeError, match="out of order"):
            softlab.torch.softmax(torch.randn(3, 4, device=device, requires_grad=True))
    finally:
        softlab.torch._caller.cache_clear()


class HostGpu:
    """The host's memory as that of a GPU. ``launches``: the operator and the shape of each."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.launches: list[tuple[str, tuple[int, ...]]] = []
        # PyTorch numbers the host -1.
        self.library = prepared._TorchLibrary(
            torch.Tensor,
            abs,
            (-1).conjugate,
            torch.empty_like,
            self.allocate,
            prepared._torch_guard(),
            prepared._torch_assigns(),
        )

    def allocate(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> Any:
        return self.torch.empty_strided(shape, strides, dtype=dtype)

    def prepare(
        self, op: str, shape: Any, dtype: Any, gpu: int, bits: int, *, axis: int, policy: Any, device: Any
    ) -> Any:
        shape, element = tuple(shape), np.dtype(str(dtype).removeprefix("torch."))

        def array(pointer: int) -> np.ndarray:
            memory = (ctypes.c_char * (element.itemsize * prod(shape))).from_address(pointer)
            return np.frombuffer(memory, element).reshape(shape)

        def launch(stream: int, *pointers: int) -> None:
            assert stream == 1
            self.launches.append((op, shape))
            *inputs, out = map(array, pointers)
            out[...] = getattr(softlab, op)(*inputs, axis)

        strides = tuple(prod(shape[k + 1 :]) for k in range(len(shape)))
        return SimpleNamespace(launch=launch, like=(shape, strides, dtype))


@pytest.fixture(params=["Python", "machine code"])
def host_gpu(torch: Any, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostGpu]:
    gpu = HostGpu(torch)
    if request.param == "machine code":
        pytest.importorskip("llvmlite")
    else:
        monkeypatch.setattr(one_kind, "_methods", lambda: None)
    monkeypatch.setattr(prepared, "_prepare", gpu.prepare)
    monkeypatch.setattr(prepared, "_torch_library", lambda: gpu.library)
    monkeypatch.setattr(prepared, "_fast_path", lambda array: None)
    monkeypatch.setattr(prepared.Device, "present", staticmethod(lambda: prepared.Device.named("H200")))
    softlab.torch._caller.cache_clear()
    yield gpu
    softlab.torch._caller.cache_clear()


@pytest.mark.parametrize("op", OPS)
class TestKnownKinds:
    """Tensors that are like an earlier one take a shorter way. On the host, whose launches the emulator runs."""

    def tensors(self, torch: Any) -> list[Any]:
        torch.manual_seed(0)
        x = torch.randn(4, 6, dtype=torch.float64)
        kinds = [x, x.float(), x[:3], x[:, 1:], x.T, x[1:, :5].contiguous(), x.view(2, 2, 6), torch._neg_view(x)]
        return [x.detach().requires_grad_() for x in kinds] + [torch.nn.Parameter(x)]

    @pytest.mark.parametrize("dim", [0, -1])
    def test_any_order_of_kinds_gives_the_same(self, torch: Any, host_gpu: HostGpu, op: str, dim: int) -> None:
        ours, theirs = getattr(softlab.torch, op), getattr(torch, op)
        tensors = self.tensors(torch)
        order = [*tensors, *random.Random(1).choices(tensors, k=18)]
        for x in order:
            rounding = 1e-12 if x.dtype == torch.float64 else 1e-5
            weights = torch.randn(x.shape, dtype=x.dtype)
            found, wanted = [], []
            for function, results in ((ours, found), (theirs, wanted)):
                y = function(x, dim)
                (first,) = torch.autograd.grad(y, x, weights, create_graph=True)
                (second,) = torch.autograd.grad((first**2).sum(), x)
                results.extend((y, first, second, function(x.detach(), dim)))
            for got, exact in zip(found, wanted, strict=True):
                torch.testing.assert_close(got, exact, rtol=rounding, atol=rounding)
            assert not found[3].requires_grad
        assert len([name for name, _ in host_gpu.launches if name == op]) > 20

    def test_the_shorter_way_is_taken(self, torch: Any, host_gpu: HostGpu, op: str, monkeypatch: Any) -> None:
        function = getattr(softlab.torch, op)
        watched = torch.randn(4, 6, requires_grad=True)
        for x in (watched, watched.detach()):
            function(x)
        monkeypatch.setattr(torch.Tensor, "is_neg", lambda self: pytest.fail("it is asked for more than its kind"))
        before = len(host_gpu.launches)
        for x in (torch.randn(4, 6), torch.randn(4, 6, requires_grad=True), watched):
            assert function(x).requires_grad == x.requires_grad
        assert host_gpu.launches[before:] == [(op, (4, 6))] * 3
        assert (
            function(watched).grad_fn.name() == {"softmax": "SoftmaxBackward", "log_softmax": "LogSoftmaxBackward"}[op]
        )

    def test_what_it_does_not_do_for_a_known_kind(self, torch: Any, host_gpu: HostGpu, op: str) -> None:
        function, x = getattr(softlab.torch, op), torch.randn(4, 6, requires_grad=True)
        for _ in range(3):
            function(x), function(x.detach())
        with torch.no_grad():
            assert not function(x).requires_grad
        with torch.inference_mode():
            assert function(x).is_inference()
        y = function(x)
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
        with pytest.raises(RuntimeError, match="setup_context"):
            torch.func.grad(lambda x: function(x).sum())(x.detach())
        with pytest.raises(RuntimeError, match=r"setup_context|vmap"):
            torch.func.vmap(lambda k: function(x) * k)(torch.ones(2))
        with pytest.raises(TypeError, match="takes tensors alone"):
            function(x.detach().numpy())
        with pytest.raises(TypeError, match="axis must be an integer"):
            function(x, -1.0)
        with pytest.raises(ValueError, match="axis 2 is out of range"):
            function(x, 2)
        assert function(x, dtype=torch.float64).dtype == torch.float64
        assert function(x, True).requires_grad

    def test_another_kind_within_autocast(self, torch: Any, host_gpu: HostGpu, op: str, monkeypatch: Any) -> None:
        """A tensor of a known kind is asked again there, in Python and as machine code."""
        asked: list[str] = []
        monkeypatch.setattr(softlab.torch, "_autocast_enabled", lambda: lambda device: bool(asked.append(device)))
        softlab.torch._caller.cache_clear()
        function, x = getattr(softlab.torch, op), torch.randn(4, 6, requires_grad=True)
        for _ in range(3):
            function(x), function(x.detach())
        asked.clear()
        function(x), function(x.detach())
        assert not asked
        with torch.autocast("cpu"):
            function(x), function(x.detach())
        assert asked == ["cpu", "cpu"]

    def test_threads(self, torch: Any, host_gpu: HostGpu, op: str) -> None:
        ours, theirs = getattr(softlab.torch, op), getattr(torch, op)

        def work(rows: int) -> None:
            x = torch.full((rows, 3), float(rows), requires_grad=rows % 2 > 0)
            for _ in range(20):
                torch.testing.assert_close(ours(x), theirs(x, -1))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(1, 9)))


@pytest.mark.parametrize("device", DEVICES)
class TestPlainOperators:
    """softlab.softmax on tensors: the same kind comes back, on the host too."""

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    def test_a_tensor_comes_back(self, torch: Any, device: str, dtype: str) -> None:
        x = torch.randn(3, 6, 40, device=device).to(getattr(torch, dtype))
        got = softlab.softmax(x, 1)
        assert isinstance(got, torch.Tensor)
        assert got.dtype == x.dtype
        assert got.device == x.device
        rounding = {"float16": 2**-11, "bfloat16": 2**-8, "float32": 1e-6, "float64": 1e-14}[dtype]
        torch.testing.assert_close(got.double(), torch.softmax(x.double(), 1), rtol=rounding * 1.01, atol=3e-8)
        out = torch.empty_like(x)
        assert softlab.softmax(x, 1, out=out) is out
        assert torch.equal(out, got)

    def test_a_subclass_is_a_tensor(self, torch: Any, device: str) -> None:
        class UserTensor(torch.Tensor):
            pass

        x = torch.randn(3, 4, device=device).as_subclass(UserTensor)
        got = softlab.softmax(x)
        assert isinstance(got, torch.Tensor)
        torch.testing.assert_close(got, torch.softmax(x.as_subclass(torch.Tensor), -1))
        with pytest.raises(TypeError, match=r"softlab\.torch\.softmax"):
            softlab.softmax(x.requires_grad_())

    def test_dtype_may_be_pytorchs(self, torch: Any, device: str) -> None:
        assert softlab.softmax(torch.arange(6, device=device), dtype=torch.float16).dtype == torch.float16

    def test_a_negative_bit_is_resolved(self, torch: Any, device: str) -> None:
        x = torch.randn(3, 4, dtype=torch.complex64, device=device).conj().imag
        assert x.is_neg()
        torch.testing.assert_close(softlab.softmax(x), torch.softmax(x.resolve_neg(), -1))
        with pytest.raises(TypeError, match="negative bit"):
            softlab.softmax(torch.zeros(3, 4, device=device), out=x)

    def test_strides(self, torch: Any, device: str) -> None:
        x = torch.randn(6, 8, device=device)
        for view in (x.T, x[:, ::2], x[:1].expand(4, 8)):
            torch.testing.assert_close(softlab.softmax(view), torch.softmax(view, -1))
        with pytest.raises(ValueError, match="several elements at one address"):
            softlab.softmax(x, out=torch.zeros(6, 1, device=device).expand(6, 8))

    def test_out_of_another_library(self, torch: Any, device: str) -> None:
        with pytest.raises(TypeError, match="out is"):
            softlab.softmax(torch.zeros(3, 4, device=device), out=torch.zeros(3, 4).numpy())

    def test_tensors_without_memory(self, torch: Any, device: str) -> None:
        with pytest.raises(TypeError, match="cannot be borrowed"):
            softlab.softmax(torch.zeros(3, 4, device="meta"))
        with pytest.raises(TypeError, match="cannot be borrowed"):
            softlab.softmax(torch.eye(3, device=device).to_sparse())
