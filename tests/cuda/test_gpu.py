"""The GPU executor: what is loaded where, and, on a GPU, arrays of every library on their own streams."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.cuda import gpu
from softlab.cuda.compile import Program
from softlab.errors import Error
from softlab.operators import prepared, rows
from softlab.plans import POLICIES
from tests.reference import assert_gradient, assert_softmax

PROGRAM = Program(
    source="", name="k", file="k.cu", arch="sm_80", options=(), nvrtc="12.9", entry="k", ptx="ptx", cubin=b"cubin",
    registers=8, static_smem_bytes=0, local_bytes=0, spill_bytes=0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("arch", "capability", "loaded"),
    [
        ("sm_80", (8, 0), b"cubin"),
        ("sm_80", (8, 6), b"cubin"),
        ("sm_80", (9, 0), b"ptx"),
        ("sm_75", (8, 0), b"ptx"),
        ("sm_90", (12, 0), b"ptx"),
        ("sm_100", (10, 3), b"cubin"),
        ("sm_90a", (9, 0), b"cubin"),
    ],
)
def test_cubin_where_it_fits_else_ptx(arch: str, capability: tuple[int, int], loaded: bytes) -> None:
    assert gpu.image(replace(PROGRAM, arch=arch), capability) == loaded


@pytest.mark.parametrize(
    ("arch", "capability", "here"),
    [
        ("sm_90", (8, 0), "sm_80"),
        ("sm_86", (8, 0), "sm_80"),
        ("sm_90a", (10, 0), "sm_100"),
        ("sm_120", (9, 0), "sm_90"),
    ],
)
def test_code_for_another_gpu_is_refused(arch: str, capability: tuple[int, int], here: str) -> None:
    with pytest.raises(Error, match=f"compiled for {arch} and the GPU is {here}: compile it with arch='{here}'"):
        gpu.image(replace(PROGRAM, arch=arch), capability)


def test_a_trace_of_a_cuda_array_says_to_copy_it() -> None:
    with pytest.raises(TypeError, match="Copy it to the host first"):
        softlab.trace(SimpleNamespace(__cuda_array_interface__={}))


def test_out_on_another_side() -> None:
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(TypeError, match="on a GPU, but x is in host memory"):
        softlab.softmax(x, out=SimpleNamespace(__cuda_array_interface__={}))


class Elsewhere:
    """An array of PyTorch on a GPU that is not there."""

    def __init__(self, device: int) -> None:
        self.device = device

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.device

    def __dlpack__(self, **_: object) -> None:
        raise BufferError("there is no memory")


def test_arrays_on_two_gpus() -> None:
    with pytest.raises(ValueError, match="out is on GPU 1, x on GPU 0: move one of them"):
        softlab.softmax(Elsewhere(0), out=Elsewhere(1))
    with pytest.raises(ValueError, match="y is on GPU 0, dy on GPU 2: move one of them"):
        softlab.softmax_backward(Elsewhere(2), Elsewhere(0))


def test_a_launch_with_less_shared_memory_leaves_another_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit belongs to the function, which two launches may share."""
    cuda = pytest.importorskip("cupy").cuda
    limits = {}
    monkeypatch.setattr(cuda.runtime, "deviceGetAttribute", lambda number, device: 232448)
    monkeypatch.setattr(cuda.driver, "funcSetAttribute", lambda function, number, value: limits.update({number: value}))
    monkeypatch.setattr(gpu, "_function", lambda program, device: SimpleNamespace(ptr=1))
    for smem in (48 * 1024, 200_000, 50_000):
        gpu.launcher(replace(PROGRAM, static_smem_bytes=1000), (1, 1, 1), (32, 1, 1), smem, 1, (), 0)
        assert limits.get(8, 48 * 1024) >= smem
    assert limits == {8: 232448 - 1000}


def _installed(name: str) -> Any:
    """The module, or None."""
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def matrix(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


@pytest.mark.gpu
class TestOnTheGpu:
    """Through CuPy."""

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    @pytest.mark.parametrize("op", ["softmax", "log_softmax"])
    @pytest.mark.parametrize("cols", [5, 64, 1000, 3000, 13000, 100_000, 400_000])
    @pytest.mark.parametrize("policy", POLICIES)
    def test_cupy_in_cupy_out(self, policy: str, dtype: str, op: str, cols: int) -> None:
        import cupy

        from softlab.dtypes import element_type

        x = matrix(33 if cols < 20_000 else 3, cols, dtype=element_type(dtype).numpy)
        got = getattr(softlab, op)(cupy.asarray(x), policy=policy)
        assert isinstance(got, cupy.ndarray)
        assert_softmax(got.get(), x, op)

    def test_the_default_policy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """By the kernels that are asked for: ours on the GPU, ready or not; the reference's where it is meant."""
        import cupy

        names: list[str] = []
        load = gpu._function

        def noted(program: Program, device: int) -> Any:
            names.append(program.name)
            return load(program, device)

        monkeypatch.setattr(gpu, "_function", noted)
        x = cupy.asarray(matrix(40, 96))
        meant: dict[str, list[Callable[[], Any]]] = {
            "fast_": [
                lambda: softlab.softmax(x),
                lambda: softlab.softmax(x, 0),
                lambda: softlab.log_softmax_backward(x, x),
                lambda: softlab.softmax(SimpleNamespace(__cuda_array_interface__=x.__cuda_array_interface__)),
                lambda: softlab.fused.softmax(x, scale=2.0),
                lambda: softlab.fused.softmax_backward(x, x, causal=True),
            ],
            "softmax_": [
                lambda: softlab.functional.softmax(x),
                lambda: softlab.functional.log_softmax(x, 0),
                lambda: softlab.softmax(x, policy="oneflow"),
                lambda: softlab.fused.softmax(x, scale=2.0, policy="oneflow"),
            ],
        }
        if torch := _installed("torch"):
            watched = torch.from_dlpack(x).requires_grad_()
            meant["fast_"].append(lambda: softlab.torch.softmax(watched).sum().backward())
        for family, calls in meant.items():
            for call in calls:
                names.clear()
                prepared._prepare.cache_clear()
                call()
                assert names
                assert all(name.startswith(family) for name in names)

    @pytest.mark.parametrize("axis", [0, 1, 2, -3])
    def test_axes_and_strides(self, axis: int) -> None:
        import cupy

        x = matrix(6, 10, 14)[::2, :, ::-1]
        got = softlab.softmax(cupy.asarray(matrix(6, 10, 14))[::2, :, ::-1], axis)
        assert got.flags.c_contiguous
        assert_softmax(np.moveaxis(got.get(), axis, -1), np.moveaxis(x, axis, -1))

    @pytest.mark.parametrize(
        ("dtype", "cols"), [(np.float32, 64), (np.float16, 2048), (np.float64, 50), (np.float32, 13000)]
    )
    @pytest.mark.parametrize("axis", [1, 0])  # prepared; through a copy, which is aligned again
    @pytest.mark.parametrize("policy", POLICIES)
    def test_an_array_that_is_not_aligned_to_a_pack(
        self, policy: str, dtype: Any, cols: int, axis: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import cupy

        planned: list[Any] = []
        original = rows.planned
        monkeypatch.setattr(rows, "planned", lambda *a: (planned.append(original(*a)), planned[-1])[1])
        prepared._prepare.cache_clear()
        memory = matrix(3 * cols + 1, dtype=dtype)
        x = memory[1:].reshape(3, cols)
        got = softlab.softmax(cupy.asarray(memory)[1:].reshape(3, cols), axis, policy=policy)
        assert_softmax(np.moveaxis(got.get(), axis, -1), np.moveaxis(x, axis, -1))
        if axis == 1:
            assert planned[-1].pack_size == 1
            assert planned[-1].steps[0].answer is False

    def test_out(self) -> None:
        import cupy

        x = cupy.asarray(matrix(8, 100))
        out = cupy.empty_like(x)
        assert softlab.softmax(x, out=out) is out
        assert_softmax(out.get(), matrix(8, 100))
        assert softlab.softmax(x, out=x) is x
        assert cupy.array_equal(x, out)
        with pytest.raises(TypeError, match="in host memory, but x is on a GPU"):
            softlab.softmax(x, out=np.empty((8, 100), np.float32))

    @pytest.mark.parametrize("policy", POLICIES)
    @pytest.mark.parametrize("cols", [64, 1500, 9000, 50_000, 300_000])
    def test_out_may_be_x_in_every_kernel(self, cols: int, policy: str) -> None:
        import cupy

        for dtype in (np.float16, np.float32):
            x = matrix(40, cols, dtype=dtype)
            on_gpu = cupy.asarray(x)
            assert softlab.softmax(on_gpu, policy=policy, out=on_gpu) is on_gpu
            assert_softmax(on_gpu.get(), x)

    def test_the_current_stream_is_used(self) -> None:
        """A kernel on another stream would not see what this one wrote just before."""
        import cupy

        x = matrix(4096, 1000)
        with cupy.cuda.Stream(non_blocking=True) as stream:
            on_gpu = cupy.zeros(x.shape, np.float32)
            for _ in range(20):
                on_gpu += 1
            on_gpu -= 20
            on_gpu += cupy.asarray(x)
            got = softlab.softmax(on_gpu)
            assert cupy.cuda.get_current_stream() == stream
            stream.synchronize()
        assert_softmax(got.get(), x)

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    def test_torch(self, dtype: str) -> None:
        torch = pytest.importorskip("torch")
        x = torch.randn(33, 1000, device="cuda", dtype=getattr(torch, dtype))
        with torch.cuda.stream(torch.cuda.Stream()):
            y = x * 2
            got = softlab.softmax(y, 1)
            assert isinstance(got, torch.Tensor)
            assert got.dtype == x.dtype
            torch.cuda.current_stream().synchronize()
        expected = torch.softmax(y.double(), 1)
        assert torch.allclose(
            got.double(), expected, rtol={"float16": 1e-3, "bfloat16": 8e-3}.get(dtype, 1e-5), atol=1e-7
        )
        out = torch.empty_like(x)
        assert softlab.softmax(y, 1, out=out) is out
        assert torch.equal(out, got)

    def test_torch_with_a_gradient_says_detach(self) -> None:
        torch = pytest.importorskip("torch")
        with pytest.raises(TypeError, match=r"softlab\.torch\.softmax"):
            softlab.softmax(torch.zeros(3, 4, device="cuda", requires_grad=True))

    def test_jax(self) -> None:
        jax = pytest.importorskip("jax")
        x = matrix(33, 100)
        got = softlab.softmax(jax.device_put(x, jax.devices("gpu")[0]))
        assert isinstance(got, jax.Array)
        assert_softmax(np.asarray(got), x)
        with pytest.raises(TypeError, match="read-only"):
            softlab.softmax(got, out=got)
        gradient = softlab.softmax_backward(got, got)
        assert isinstance(gradient, jax.Array)
        assert_gradient(np.asarray(gradient), np.asarray(got), np.asarray(got))

    def test_jax_may_take_its_memory_back_at_once(self) -> None:
        """An array that is let go while a kernel still reads it: its memory must not be written before."""
        jax = pytest.importorskip("jax")
        host = matrix(4096, 4096)
        expected = softlab.softmax(jax.numpy.asarray(host))
        for _ in range(5):
            got = softlab.softmax(jax.numpy.asarray(host))
            for k in range(4):
                jax.numpy.full(host.shape, float(k))
            assert (got == expected).all()

    def test_cuda_array_interface_alone(self) -> None:
        import cupy

        x = cupy.asarray(matrix(3, 100))
        got = softlab.softmax(SimpleNamespace(__cuda_array_interface__=x.__cuda_array_interface__))
        assert isinstance(got, cupy.ndarray)
        assert_softmax(got.get(), matrix(3, 100))

    @pytest.mark.parametrize("shape", [(0, 5), (5, 0)])
    def test_empty(self, shape: tuple[int, int]) -> None:
        import cupy

        assert softlab.softmax(cupy.zeros(shape, np.float16)).shape == shape

    @pytest.mark.parametrize("policy", POLICIES)
    def test_a_plan_for_an_older_gpu_runs_from_its_ptx(self, policy: str) -> None:
        import cupy

        x = matrix(3, 100)
        assert_softmax(softlab.softmax(cupy.asarray(x), policy=policy, device="T4").get(), x)

    def test_a_launch_that_the_gpu_refuses(self) -> None:
        import cupy

        kernel = softlab.Kernel('extern "C" __global__ void k(float* x) { x[0] = 1; }', "k", arch="sm_75")
        with pytest.raises(Error, match=r"refuses to launch k.*block \(2048,\)"):
            gpu.launch(kernel.program, (1,), (2048,), (cupy.zeros(1, np.float32),))

    def test_more_than_48_kib_of_dynamic_shared_memory(self) -> None:
        import cupy

        source = """
        extern "C" __global__ void k(int* x) {
          extern __shared__ int words[];
          for (int i = threadIdx.x; i < 16000; i += blockDim.x) words[i] = i;
          __syncthreads();
          x[threadIdx.x] = words[15999 - threadIdx.x];
        }"""
        x = cupy.zeros(64, np.int32)
        arch = softlab.Device.present().arch
        gpu.launch(softlab.Kernel(source, "k", arch=arch).program, (1,), (64,), (x,), 64000)
        assert x.get().tolist() == list(range(15999, 15935, -1))
