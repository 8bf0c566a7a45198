"""Arrays that are not plain NumPy arrays: subclasses, scalars, other libraries on the host; overlap."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import softlab
from softlab.cuda.exchange import ArrayInfo
from softlab.dtypes import element_type
from softlab.operators import arrays
from tests.fake_cuda import FakeCuda
from tests.reference import assert_gradient, assert_softmax
from tests.samples import UserArray, normal


class TestSubclasses:
    """A plain array comes back; a subclass may take the result."""

    @pytest.mark.parametrize("kind", [UserArray, np.matrix], ids=["mine", "matrix"])
    @pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
    def test_in_and_out(self, kind: type) -> None:
        x = normal(4, 6)
        got = softlab.softmax(x.view(kind), 0)
        assert type(got) is np.ndarray
        assert_softmax(got.T, x.T)
        out = np.zeros((4, 6), np.float32).view(kind)
        assert softlab.softmax(x.view(kind), 0, out=out) is out
        assert np.array_equal(out, got)

    def test_a_mapped_file(self, tmp_path: Any) -> None:
        x = np.memmap(tmp_path / "x", np.float32, "w+", shape=(4, 6))
        x[:] = before = normal(4, 6)
        assert softlab.softmax(x, out=x) is x
        assert_softmax(np.asarray(x), before)
        read_only = np.memmap(tmp_path / "x", np.float32, "r", shape=(4, 6))
        assert_softmax(softlab.softmax(read_only), np.asarray(read_only))
        with pytest.raises(ValueError, match="read-only"):
            softlab.softmax(x, out=read_only)


@pytest.mark.parametrize(
    ("x", "name"),
    [
        (np.zeros(3, [("a", "f4"), ("b", "f4")]), "void64"),
        (np.zeros(3, "timedelta64[s]"), r"timedelta64\[s\]"),
        (["a", "bc"], "str64"),
        ([b"a"], "bytes8"),
        ([None, 1.0], "object"),
        ([1, 2], "int64"),
        (True, "bool"),
        (3, "int64"),
    ],
    ids=str,
)
def test_what_has_no_softmax_is_named(x: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"dtype {name} is not supported"):
        softlab.softmax(x)


def test_lists_that_are_no_array() -> None:
    with pytest.raises(ValueError, match="inhomogeneous"):
        softlab.softmax([[1.0, 2.0], [3.0]])


@pytest.mark.parametrize("library", ["numpy", "mine"])
def test_out_that_shares_elements(library: str) -> None:
    memory = np.zeros(8, np.float32)
    out = np.lib.stride_tricks.as_strided(memory, (3, 4), (4, 4))  # windows that slide by an element
    with pytest.raises(
        ValueError, match=r"out of shape \(3, 4\) and strides \(4, 4\) has several elements at one address"
    ):
        softlab.softmax(normal(3, 4), out=out if library == "numpy" else out.view(UserArray))


def test_a_dtype_with_metadata_is_that_dtype() -> None:
    kind = np.dtype(np.float32, metadata={"unit": "m"})
    x, out = normal(3, 4), np.zeros((3, 4), kind)
    assert softlab.softmax(x.astype(kind), out=out) is out
    assert_softmax(out, x)


def test_a_broadcast_array_shares_elements_however_large_it_is() -> None:
    """Its addresses are not counted: no memory has room for them."""
    assert arrays.shares_elements(np.broadcast_to(np.float32(0), (1 << 24, 1 << 24)))
    assert not arrays.shares_elements(np.broadcast_to(np.float32(0), (1, 1)))


def test_strides_that_interleave_share_nothing() -> None:
    """Strides of 2 and 3 elements over 2 x 2: offsets 0, 3, 2, 5."""
    memory = np.full(6, 7, np.float32)
    out = np.lib.stride_tricks.as_strided(memory, (2, 2), (8, 12))
    x = normal(2, 2)
    softlab.softmax(x, out=out)
    assert_softmax(out, x)
    assert memory[[1, 4]].tolist() == [7, 7]


class TestJaxOnTheHost:
    """JAX's arrays are values: in, yes; out, no."""

    @pytest.fixture
    def jax(self) -> Any:
        return pytest.importorskip("jax", reason="JAX is not installed: its arrays are tested where it is")

    @pytest.fixture
    def device(self, jax: Any) -> Any:
        return jax.devices("cpu")[0]

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
    def test_an_array_comes_back(self, jax: Any, device: Any, dtype: str) -> None:
        x = jax.device_put(jax.numpy.asarray(normal(3, 40), dtype), device)
        got = softlab.softmax(x)
        assert isinstance(got, jax.Array)
        assert got.dtype == x.dtype
        assert_softmax(np.asarray(got), np.asarray(x))
        gradient = softlab.softmax_backward(x, got)
        assert isinstance(gradient, jax.Array)
        assert_gradient(np.asarray(gradient), np.asarray(x), np.asarray(got))

    def test_it_cannot_take_the_result(self, jax: Any, device: Any) -> None:
        x = jax.device_put(normal(3, 4), device)
        for given in (x, normal(3, 4)):
            with pytest.raises(TypeError, match="read-only: leave out= away"):
                softlab.softmax(given, out=x)
        with pytest.raises(TypeError, match="out is an array of numpy, the result one of jaxlib"):
            softlab.softmax(x, out=normal(3, 4))

    def test_under_jit(self, jax: Any, device: Any) -> None:
        with pytest.raises(TypeError, match="cannot be borrowed"):
            jax.jit(softlab.softmax)(jax.device_put(normal(3, 4), device))


class TestOverlap:
    """Whether a kernel may write one array while it reads another."""

    def test_as_numpy_has_it(self) -> None:
        random = np.random.default_rng(1)
        memory = np.zeros(400, np.float32)
        seen = {True: 0, False: 0}
        for _ in range(2000):
            views = []
            for _ in range(2):
                shape = tuple(int(size) for size in random.integers(0, 4, random.integers(0, 4)))
                strides = tuple(int(stride) * 4 for stride in random.integers(-9, 10, len(shape)))
                views.append(np.ndarray(shape, np.float32, memory, int(random.integers(90, 300)) * 4, strides))
            expected = np.may_share_memory(*views)
            assert arrays.may_overlap(*views) == expected
            seen[expected] += 1
        assert min(seen.values()) > 20

    def test_arrays_that_were_borrowed_one_by_one(self) -> None:
        """As PyTorch's are: CuPy itself takes them for arrays of two allocations."""
        cupy = pytest.importorskip("cupy")
        memory = np.zeros(200, np.float32)
        cuda = FakeCuda()
        x, out, apart = (cuda.array(memory[start : start + 60]) for start in (0, 1, 100))
        assert not cupy.may_share_memory(x, out)
        assert arrays.may_overlap(x, out)
        assert not arrays.separate_or_same(out, x)
        assert arrays.separate_or_same(cuda.array(memory[:60]), x)
        assert arrays.separate_or_same(apart, x)


class TestSubclassesOfNumPy:
    """Masked arrays are refused wherever they stand; a matrix is an array of two dimensions."""

    X = np.random.default_rng(0).standard_normal((3, 40)).astype(np.float32)

    @pytest.mark.parametrize("op", ["softmax", "log_softmax"])
    def test_masked_arrays(self, op: str) -> None:
        masked = np.ma.masked_array(self.X, self.X > 1)
        forward, backward = getattr(softlab, op), getattr(softlab, f"{op}_backward")
        for call in (
            lambda: forward(masked),
            lambda: forward(self.X, out=masked),
            lambda: backward(masked, self.X),
            lambda: backward(self.X, masked),
            lambda: softlab.trace(masked, op=op),
            lambda: getattr(softlab.functional, op)(masked, dim=1),
            lambda: getattr(softlab.fused, op)(masked),
            lambda: getattr(softlab.fused, op)(self.X, bias=masked),
            lambda: getattr(softlab.fused, op)(self.X, mask=masked > 0),
        ):
            with pytest.raises(TypeError, match="masked arrays are not supported: fill the masked elements"):
                call()

    def test_a_matrix(self) -> None:
        with pytest.warns(PendingDeprecationWarning):
            matrix = np.matrix(self.X)
        for axis in (0, 1, -1):
            found = softlab.softmax(matrix, axis)
            assert type(found) is np.ndarray
            assert np.array_equal(found, softlab.softmax(self.X, axis))
            assert np.array_equal(softlab.softmax_backward(matrix, matrix, axis),
                                  softlab.softmax_backward(self.X, self.X, axis))  # fmt: skip
        out = matrix.copy()
        assert softlab.softmax(self.X, out=out) is out
        assert np.array_equal(np.asarray(out), softlab.softmax(self.X))
        assert np.array_equal(softlab.fused.softmax(self.X, bias=matrix), softlab.fused.softmax(self.X, bias=self.X))

    def test_a_scale_beyond_every_float(self) -> None:
        with pytest.raises(ValueError, match="scale is an integer beyond the largest float64"):
            softlab.fused.softmax(self.X, scale=10**400)


@pytest.mark.parametrize("negative", [False, True])
def test_out_with_a_negative_bit(negative: bool) -> None:
    """As PyTorch has it: the memory of such a tensor holds the negated values."""

    class Tensor:
        requires_grad = False
        __dlpack_device__ = None

        def detach(self) -> Tensor:
            return self

        def resolve_neg(self) -> Tensor:
            return Tensor() if negative else self

        def data_ptr(self) -> int:
            return id(self)

    x, out = Tensor(), Tensor()
    info = ArrayInfo("torch.Tensor", "torch", "torch", False, None)
    if not negative:
        arrays.check_out_library(out, info, x, info, "softmax")
        return
    with pytest.raises(TypeError, match="negative bit"):
        arrays.check_out_library(out, info, x, info, "softmax")


def test_a_result_of_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's stays. The other library takes it by its own function; only PyTorch must be told what bfloat16 is."""
    result = np.zeros(4, ml_dtypes.bfloat16)
    assert arrays.from_host(result, None, ArrayInfo("numpy.ndarray", "numpy", "numpy", False, None)) is result
    other = ArrayInfo("jaxlib.Array", "jaxlib", "jaxlib", False, None)
    library = SimpleNamespace(asarray=lambda x: ("taken", x), from_dlpack=None)
    monkeypatch.setattr(arrays.exchange, "namespace", lambda like: library)
    assert arrays.from_host(result, None, other) == ("taken", result)


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32", "float64"])
def test_a_result_for_torch(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """PyTorch takes bfloat16 as raw bits, since it does not know NumPy's arrays of it, and all others as they are."""
    result = np.zeros(4, element_type(name).numpy)
    torch = SimpleNamespace(
        from_numpy=lambda x: SimpleNamespace(view=lambda kind: (kind, x.dtype)), int16="int16", bfloat16="bfloat16"
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(arrays.exchange, "namespace", lambda like: SimpleNamespace(asarray=id, from_dlpack=None))
    got = arrays.from_host(result, None, ArrayInfo("torch.Tensor", "torch", "torch", False, None))
    assert got == (("bfloat16", np.int16) if name == "bfloat16" else id(result))


def test_arrays_of_one_call_belong_together() -> None:
    """The message names both; texts that are equal are equal, whoever made them."""
    infos = [SimpleNamespace(where="".join(words), on_gpu=False) for words in (("Num", "Py"), ("NumP", "y"), ("JAX",))]
    arrays.check_together([0, 0], infos[:2], ["x", "bias"])
    with pytest.raises(TypeError, match="x is an array of NumPy, mask one of JAX: give both from one library"):
        arrays.check_together([0, 0, 0], infos, ["x", "bias", "mask"])


def on_gpu(index: int, library: str = "cupy") -> ArrayInfo:
    return ArrayInfo(f"{library}.ndarray", library, library, True, index)


@pytest.mark.parametrize(
    ("out", "x", "error", "words"),
    [
        (on_gpu(1), on_gpu(1), None, ""),
        (on_gpu(0), on_gpu(2), ValueError, "^out is on GPU 0, x on GPU 2: move one of them"),
        (on_gpu(0), ArrayInfo("numpy.ndarray", "numpy", "numpy", False, None), TypeError,
         "out is a cupy.ndarray on a GPU, but x is in host memory: give one there"),
        (ArrayInfo("numpy.ndarray", "numpy", "numpy", False, None), on_gpu(0), TypeError,
         "out is a numpy.ndarray in host memory, but x is on a GPU: give an array of x's library on that GPU"),
        (on_gpu(0, "numba"), on_gpu(0), TypeError, "out is an array of numba, the result one of cupy"),
        (on_gpu(0), on_gpu(0, "numba"), TypeError, "out is an array of cupy, the result one of numba"),
        (on_gpu(0, "jaxlib"), on_gpu(0, "jaxlib"), TypeError, "read-only: leave out= away, and take what softlab"),
    ],
)  # fmt: skip
def test_where_out_has_to_be(out: ArrayInfo, x: ArrayInfo, error: type[Exception] | None, words: str) -> None:
    array = np.zeros(2)
    if error is None:
        arrays.check_out_library(array, out, array, x, "softmax")
    else:
        with pytest.raises(error, match=words):
            arrays.check_out_library(array, out, array, x, "softmax")


def test_arrays_that_go_together_are_on_one_gpu() -> None:
    arrays.check_together([0, 0], [on_gpu(1), on_gpu(1)], ["x", "bias"])
    with pytest.raises(ValueError, match=r"^bias is on GPU 0, x on GPU 1: move one of them"):
        arrays.check_together([0, 0], [on_gpu(1), on_gpu(0)], ["x", "bias"])
    with pytest.raises(ValueError, match=r"^mask is on GPU 2, x on GPU 1"):
        arrays.check_together([0, 0, 0], [on_gpu(1), on_gpu(1), on_gpu(2)], ["x", "bias", "mask"])
