"""softlab.torch: gradients of any order against PyTorch's numerical ones and its own operators."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import softlab

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
