"""What an array is: its library, its kind of memory, its GPU; and how often it is asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.cuda import exchange
from softlab.kernel import kernel
from softlab.operators import rows
from tests.samples import UserArray, normal


def test_what_a_cuda_array_is() -> None:
    def on(device_type: int) -> Any:
        return SimpleNamespace(__dlpack_device__=lambda: (device_type, 0))

    assert exchange.is_cuda_array(on(2))
    assert exchange.is_cuda_array(on(13))
    assert not exchange.is_cuda_array(on(1))
    assert not exchange.is_cuda_array(on(10))  # ROCm
    assert exchange.is_cuda_array(SimpleNamespace(__cuda_array_interface__={}))
    for host in (np.zeros(3), np.float32(1), [1.0], 1.0, None):
        assert not exchange.is_cuda_array(host)


class TestLibrary:
    """The library that the result belongs to."""

    @pytest.mark.parametrize(
        "x", [normal(3), np.float32(1), [1.0], 1.0, normal(3).view(UserArray), np.ma.masked_array([1.0])]
    )
    def test_host_arrays_and_numbers_are_numpys(self, x: Any) -> None:
        assert exchange.array_info(x).library == "numpy"

    def test_an_array_that_its_library_cannot_take_back(self) -> None:
        on_gpu = SimpleNamespace(__cuda_array_interface__={})
        on_host = SimpleNamespace(__dlpack__=None, __dlpack_device__=lambda: (1, 0))
        assert exchange.array_info(on_gpu).library == "cupy"
        assert exchange.array_info(on_host).library == "numpy"


class TestDevice:
    """The GPU that an array tells."""

    def test_an_array_with_dlpack(self) -> None:
        info = exchange.array_info(SimpleNamespace(__dlpack_device__=lambda: (2, 3)))
        assert (info.on_gpu, info.device) == (True, 3)

    def test_an_array_that_does_not_tell(self) -> None:
        info = exchange.array_info(SimpleNamespace(__cuda_array_interface__={}))
        assert (info.on_gpu, info.device) == (True, None)

    def test_host_arrays_have_none(self) -> None:
        info = exchange.array_info(normal(3))
        assert info == exchange.ArrayInfo("numpy.ndarray", "numpy", "numpy", False, None)


@pytest.mark.parametrize(
    ("call", "arrays"),
    [
        (lambda x: softlab.softmax(x), 1),
        (lambda x: softlab.softmax(x, out=x), 2),
        (lambda x: softlab.softmax_backward(x, x), 2),
        (lambda x: softlab.trace(x), 1),
        (lambda x: softlab.fused.softmax(x, bias=x, mask=x > 0), 3),
    ],
    ids=["softmax", "out", "backward", "trace", "fused"],
)
def test_each_array_is_asked_once(call: Any, arrays: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    found = exchange._gpu_of
    monkeypatch.setattr(exchange, "_gpu_of", lambda x: (asked.append(x), found(x))[1])
    infos: list[Any] = []
    info_of = rows.array_info
    monkeypatch.setattr(rows, "array_info", lambda x: (infos.append(x), info_of(x))[1])
    monkeypatch.setattr(kernel, "is_on_gpu", lambda argument: False)  # Kernel.run is a public call of its own
    call(normal(4, 6))
    assert len(infos) == len(asked) == arrays
