"""softmax, log_softmax and trace as users call them: axes, strides, dtypes, out, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import softlab
from softlab import functional
from softlab.cuda import exchange, gpu
from softlab.operators import executors, rows
from softlab.operators.rows import OperatorCall
from softlab.plans import POLICIES
from tests.fake_cuda import FakeCuda, instead_of_cuda
from tests.reference import assert_softmax, assert_within, reference
from tests.sampled import turns
from tests.samples import normal

OPS = ("softmax", "log_softmax")


def assert_along(got: np.ndarray, x: np.ndarray, axis: int, op: str = "softmax") -> None:
    assert_softmax(np.moveaxis(got, axis, -1), np.moveaxis(x, axis, -1), op, what=f"axis {axis} of {x.shape}")


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("axis", range(-4, 4))
def test_every_axis(axis: int, op: str) -> None:
    x = normal(2, 3, 4, 5)
    got = getattr(softlab, op)(x, axis)
    assert got.shape == x.shape
    assert got.dtype == x.dtype
    assert got.flags.c_contiguous
    assert_along(got, x, axis, op)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x[::2],
        lambda x: x[:, ::3],
        lambda x: x[::-1, ::-1],
        lambda x: x[1:, 1:],
        lambda x: np.asfortranarray(x),
        lambda x: np.broadcast_to(x[:1], (5, x.shape[1])),
        lambda x: x.reshape(-1)[1:].reshape(1, -1),
        lambda x: x.astype(">f4"),
    ],
    ids=["transposed", "rows", "columns", "reversed", "inner", "fortran", "broadcast", "from-element-1", "big-endian"],
)
def test_any_strides(view) -> None:
    x = view(normal(8, 12))
    before = x.copy()
    got = softlab.softmax(x)
    assert got.dtype == np.float32
    assert_softmax(got, np.ascontiguousarray(x, dtype=np.float32))
    assert np.array_equal(x, before)


def test_an_array_at_an_odd_address() -> None:
    memory = np.zeros(4 * 30 + 1, np.uint8)
    x = memory[1:].view(np.float32).reshape(3, 10)
    assert not x.flags.aligned
    x[...] = normal(3, 10)
    assert_softmax(softlab.softmax(x), x)


def test_a_read_only_input() -> None:
    x = normal(3, 10)
    x.flags.writeable = False
    assert_softmax(softlab.softmax(x), x)


@pytest.mark.parametrize(("op", "dtype"), turns(2, OPS, [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]))
def test_every_dtype(dtype: object, op: str) -> None:
    x = normal(4, 33, dtype=dtype)
    got = getattr(softlab, op)(x)
    assert got.dtype == x.dtype
    assert_softmax(got, x, op)


def test_float64_is_good_to_1e_14() -> None:
    x = normal(3, 1500, dtype=np.float64)
    expected = reference(x).value
    assert float(np.max(np.abs(softlab.softmax(x) - expected) / expected)) <= 1e-14


def test_half_does_not_overflow() -> None:
    x = np.full((2, 64), 65504, np.float16)
    x[1, ::2] = -65504
    assert_softmax(softlab.softmax(x), x)


def test_log_softmax_with_a_large_offset_is_exact() -> None:
    x = np.array([[0, 1, 2, 3]], np.float32) + np.float32(2**20)
    assert np.array_equal(softlab.log_softmax(x), softlab.log_softmax(x - np.float32(2**20)))


def test_log_softmax_far_from_the_maximum_is_no_log_of_zero() -> None:
    got = softlab.log_softmax(np.array([[0, -1000]], np.float32))
    assert got[0, 1] == -1000


def test_zero_dimensions() -> None:
    got = softlab.softmax(np.float32(3))
    assert got.shape == ()
    assert got == 1
    assert softlab.log_softmax(np.array(3.0, np.float32), axis=0) == 0


def test_lists_go_through_numpy() -> None:
    got = softlab.softmax([[1.0, 2.0], [3.0, 5.0]])
    assert got.dtype == np.float64
    assert_softmax(got, np.array([[1.0, 2.0], [3.0, 5.0]]))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0,), (2, 0, 3)])
def test_empty_arrays_launch_nothing(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_program", lambda *_: pytest.fail("a kernel was asked for"))
    for axis in range(len(shape)):
        got = softlab.softmax(np.zeros(shape, np.float16), axis)
        assert got.shape == shape
        assert got.dtype == np.float16


def test_empty_arrays_are_checked_all_the_same() -> None:
    empty = np.zeros((0, 5), np.float32)
    with pytest.raises(ValueError, match="axis 2"):
        softlab.softmax(empty, 2)
    with pytest.raises(ValueError, match="policy"):
        softlab.softmax(empty, policy="quick")
    with pytest.raises(ValueError, match="device"):
        softlab.softmax(empty, device="H2000")


def test_dtype_casts_first() -> None:
    x = normal(3, 20, dtype=np.float64)
    got = softlab.softmax(x, dtype=np.float32)
    assert got.dtype == np.float32
    assert_softmax(got, x.astype(np.float32))
    assert softlab.softmax(np.arange(5), dtype="float16").dtype == np.float16
    assert softlab.softmax(np.array([True, False]), dtype="bfloat16").dtype == ml_dtypes.bfloat16


class TestOut:
    """The array that takes the result."""

    def test_it_is_returned_and_filled(self) -> None:
        x, out = normal(3, 20), np.empty((3, 20), np.float32)
        assert softlab.softmax(x, out=out) is out
        assert_softmax(out, x)

    @pytest.mark.parametrize("axis", [0, 1])
    def test_it_may_be_x(self, axis: int) -> None:
        x = normal(6, 20)
        given = x.copy()
        assert softlab.softmax(x, axis, out=x) is x
        assert_along(x, given, axis)

    @pytest.mark.parametrize(("cols", "policy"), turns(2, [64, 1500, 9000, 50_000], POLICIES))
    def test_it_may_be_x_in_every_kernel(self, cols: int, policy: str) -> None:
        x = normal(2, cols)
        given = x.copy()
        assert softlab.softmax(x, policy=policy, out=x) is x
        assert_softmax(x, given)

    @pytest.mark.parametrize("cols", [20, 1500])
    def test_it_may_overlap_x(self, cols: int) -> None:
        memory = normal(4, cols)
        given = memory[:3].copy()
        softlab.softmax(memory[:3], out=memory[1:])
        assert_softmax(memory[1:], given)

    def test_it_may_have_any_strides(self) -> None:
        x, memory = normal(3, 20), np.zeros((20, 6), np.float32)
        out = memory.T[::2]
        softlab.softmax(x, out=out)
        assert_softmax(out, x)
        assert not memory[:, 1::2].any()

    def test_wrong_dtype(self) -> None:
        with pytest.raises(TypeError, match="out has dtype float64, the result float32"):
            softlab.softmax(normal(3, 4), out=np.empty((3, 4)))

    def test_wrong_shape(self) -> None:
        with pytest.raises(ValueError, match=r"out has shape \(4, 3\), the result \(3, 4\)"):
            softlab.softmax(normal(3, 4), out=np.empty((4, 3), np.float32))

    def test_no_array(self) -> None:
        with pytest.raises(TypeError, match=r"out is a builtins\.list"):
            softlab.softmax(normal(3, 4), out=[0.0] * 4)

    def test_read_only(self) -> None:
        out = np.empty((3, 4), np.float32)
        out.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            softlab.softmax(normal(3, 4), out=out)


@pytest.mark.parametrize(
    "dtype",
    ["int8", "int64", "uint32", "bool", "complex64", "complex128", "longdouble", "object", "datetime64[s]", "U3"],
)
@pytest.mark.parametrize("op", OPS)
def test_dtypes_that_are_not_taken(dtype: str, op: str) -> None:
    x = np.zeros((2, 3), dtype)
    advice = r"x\.real or abs\(x\)" if x.dtype.kind == "c" else "astype"
    with pytest.raises(TypeError, match=rf"float16, bfloat16, float32, float64.*{advice}") as caught:
        getattr(softlab, op)(x)
    assert x.dtype.name in str(caught.value)


@pytest.mark.parametrize("dtype", ["complex64", "object", "U3"])
def test_what_cannot_be_cast(dtype: str) -> None:
    with pytest.raises(TypeError, match="cannot be cast"):
        softlab.softmax(np.zeros((2, 3), dtype), dtype="float32")


@pytest.mark.parametrize("dtype", ["int32", "float8", "nonsense", complex])
def test_dtypes_to_cast_to_that_there_are_not(dtype: object) -> None:
    with pytest.raises(TypeError, match="is not supported"):
        softlab.softmax(normal(2, 3), dtype=dtype)


def test_masked_arrays() -> None:
    with pytest.raises(TypeError, match=r"filled\(-numpy\.inf\)"):
        softlab.softmax(np.ma.masked_array(normal(2, 3), mask=False))


@pytest.mark.parametrize(
    ("axis", "ndim", "least", "most"),
    [(2, 2, -2, 1), (-3, 2, -2, 1), (1, 1, -1, 0), (1, 0, -1, 0), (-2, 0, -1, 0), (5, 5, -5, 4), (-6, 5, -5, 4)],
)
def test_axis_out_of_range(axis: int, ndim: int, least: int, most: int) -> None:
    words = f"axis {axis} is out of range: x has {ndim} dimensions, so take {least} to {most}$"
    with pytest.raises(ValueError, match=words):
        softlab.softmax(np.zeros((3,) * ndim, np.float32), axis)


@pytest.mark.parametrize("axis", [None, 1.0, "1", (0, 1)])
def test_axis_that_is_no_integer(axis: object) -> None:
    with pytest.raises(TypeError, match="axis must be an integer"):
        softlab.softmax(normal(3, 4), axis)


def test_unknown_policy_device_and_op() -> None:
    x = normal(2, 3)
    with pytest.raises(ValueError, match=r"policy 'quick'.*oneflow"):
        softlab.softmax(x, policy="quick")
    with pytest.raises(ValueError, match=r"unknown device 'H2000'.*H200"):
        softlab.softmax(x, device="H2000")
    with pytest.raises(TypeError, match="device"):
        softlab.softmax(x, device=["H200"])
    with pytest.raises(ValueError, match="op 'softmin' is not one of softmax, log_softmax"):
        softlab.trace(x, op="softmin")


class TestTheDefaultPolicy:
    """None: "fast" for arrays on a GPU, "oneflow" in the emulator; what is asked for is obeyed on both."""

    ASKED = pytest.mark.parametrize("policy", [None, *POLICIES])

    @pytest.fixture
    def cuda(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCuda]:
        """CuPy's arrays without a GPU, for the general path, too."""
        import cupy

        with instead_of_cuda() as fake:
            monkeypatch.setattr(exchange, "_gpu_of", lambda x: (isinstance(x, cupy.ndarray), None))
            monkeypatch.setattr(exchange, "on_stream_of", lambda x, info: nullcontext())
            executors.executor_for.cache_clear()
            yield fake
        executors.executor_for.cache_clear()

    @ASKED
    @pytest.mark.parametrize("make", [np.array, np.ndarray.tolist], ids=["numpy", "list"])
    def test_on_the_host(self, make: Callable[[np.ndarray], Any], policy: str | None) -> None:
        result = rows.apply(OperatorCall("softmax", policy=policy), (make(normal(3, 70)),))
        assert result.plan.policy == (policy or "oneflow")

    @ASKED
    @pytest.mark.parametrize("op", [*OPS, "softmax_backward", "log_softmax_backward"])
    def test_a_launch_kept_ready(self, cuda: FakeCuda, op: str, policy: str | None) -> None:
        x = normal(3, 70)
        given = [cuda.array(x)] * (2 if "backward" in op else 1)
        for _ in range(2):
            getattr(softlab, op)(*given, **({"policy": policy} if policy else {}))
        wanted = softlab.plan(3, 70, op=op, policy=policy or "fast", device="H200")
        assert [launch.program.name for launch in cuda.launches] == [wanted.name] * 2

    @ASKED
    def test_the_general_path_on_a_gpu(
        self, cuda: FakeCuda, policy: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        launched: list[str] = []
        monkeypatch.setattr(gpu, "launch", lambda program, *_, **__: launched.append(program.name))
        result = rows.apply(OperatorCall("softmax", policy=policy), (cuda.array(normal(3, 70)),))
        assert result.plan.policy == (policy or "fast")
        assert launched == [result.plan.name]

    @pytest.mark.parametrize("op", [*OPS, "softmax_backward"])
    def test_a_trace_takes_no_array_on_a_gpu(self, cuda: FakeCuda, op: str) -> None:
        host, there = normal(3, 70), cuda.array(normal(3, 70))
        given = [(host, there), (there, there)] if "backward" in op else [there]
        for x in given:
            with pytest.raises(TypeError, match="a trace runs in the emulator and takes arrays in host memory; this"):
                softlab.trace(x, op=op)

    @pytest.mark.parametrize("op", OPS)
    def test_the_references_front_keeps_to_it(self, cuda: FakeCuda, op: str) -> None:
        getattr(functional, op)(cuda.array(normal(3, 70)))
        wanted = softlab.plan(3, 70, op=op, policy="oneflow", device="H200")
        assert [launch.program.name for launch in cuda.launches] == [wanted.name]

    @pytest.mark.parametrize("op", ["softmax", "softmax_backward"])
    def test_a_trace_shows_what_a_host_array_gets(self, op: str) -> None:
        """Rows for which the two policies do not agree in every bit."""
        x = normal(4, 3000)
        given = (x, normal(4, 3000, seed=1)) if "backward" in op else (x,)
        traced = softlab.trace(given if "backward" in op else x, op=op)
        assert np.array_equal(traced.output, getattr(softlab, op)(*given))
        assert not np.array_equal(traced.output, getattr(softlab, op)(*given, policy="fast"))


@pytest.mark.parametrize("device", ["T4", "sm_80", softlab.Device.named("H200")])
def test_the_device_changes_the_plan_and_not_the_result(device: object) -> None:
    x = normal(3, 70)
    traced = softlab.trace(x, device=device)
    assert traced.plan.device == (softlab.Device.named(device) if isinstance(device, str) else device)
    assert traced.run.arch == traced.plan.arch
    assert np.array_equal(traced.output, softlab.softmax(x))


class TestTrace:
    """What a trace holds."""

    def test_output_is_the_operators(self) -> None:
        x = normal(4, 6, 10)
        for op in OPS:
            traced = softlab.trace(x, 1, op=op)
            assert np.array_equal(traced.output, getattr(softlab, op)(x, 1))
            assert (traced.plan.rows, traced.plan.cols, traced.plan.op) == (40, 6, op)

    def test_counters_are_those_of_the_kernel(self) -> None:
        """Rows of 64 floats: a warp takes a row, a lane a pack of 2, so 8 sectors per request; 10 shuffles."""
        traced = softlab.trace(normal(7, 64))
        counters = traced.counters
        assert counters["global_load_requests"] == counters["global_store_requests"] == 7
        assert counters["global_load_sectors"] == counters["global_store_sectors"] == 7 * 8
        assert counters["shuffle_instructions"] == 7 * 10
        assert counters["barriers"] == 0
        assert sum(line["shuffle_instructions"] for line in traced.by_line().values()) == 70

    def test_lines_are_those_of_the_kernels_file(self) -> None:
        traced = softlab.trace(normal(2, 1500))
        assert traced.plan.file == "softmax_block_smem.cuh"
        source = traced.run.source.splitlines()
        stores = [source[n - 1] for n, line in traced.by_line().items() if line["shared_store_instructions"]]
        assert any("shared.words[word] = " in line for line in stores)
        assert all("shared." in line or "block_all_reduce" in line for line in stores)

    def test_nothing_to_trace(self) -> None:
        with pytest.raises(ValueError, match=r"nothing to trace: x has the shape \(0, 3\)"):
            softlab.trace(np.zeros((0, 3), np.float32))


def test_longer_rows_take_the_block_kernels() -> None:
    for cols, kernel in ((1023, "warp"), (1024, "block_smem"), (13000, "block_uncached")):
        x = normal(2, cols)
        traced = softlab.trace(x)
        assert traced.plan.kernel == kernel
        assert_softmax(traced.output, x)


def test_rows_sum_to_one_and_follow_a_shift() -> None:
    """Two properties that need no oracle: sums, and no change when a row is shifted by a power of two."""
    x = np.round(normal(5, 100) * 64) / 64  # multiples of 1/64, so the shift is exact
    got = softlab.softmax(x)
    assert_within(got.sum(axis=-1, dtype=np.float64), np.ones(5), np.full(5, 1e-6))
    assert np.array_equal(softlab.softmax(x + np.float32(1024)), got)


@pytest.mark.parametrize("op", ["softmax", "log_softmax", "softmax_backward", "log_softmax_backward"])
def test_arrays_and_the_axis_may_be_given_by_position_and_all_else_by_name(op: str) -> None:
    inputs = {"dy": ROWS, "y": ROWS} if "backward" in op else {"x": ROWS}
    function = getattr(softlab, op)
    expected = function(*inputs.values(), 0)
    np.testing.assert_array_equal(function(**inputs, axis=0), expected)
    np.testing.assert_array_equal(function(*inputs.values()), function(**inputs, axis=1))
    with pytest.raises(TypeError, match="positional argument"):
        function(*inputs.values(), 0, "float64")


@pytest.mark.further
def test_a_trace_takes_all_but_the_array_and_the_axis_by_name() -> None:
    assert softlab.trace(x=ROWS, axis=0).plan.rows == 4
    assert softlab.trace(ROWS, 0, op="log_softmax").plan.op == "log_softmax"
    with pytest.raises(TypeError, match="positional argument"):
        softlab.trace(ROWS, 0, "log_softmax")


ROWS = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def test_a_call_that_names_no_axis_means_the_last() -> None:
    assert OperatorCall("softmax").axis == -1
    assert OperatorCall("softmax").names == ("x",)


def test_a_trace_is_of_the_last_axis_where_none_is_named() -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, 8)).astype(np.float32)
    assert (softlab.trace(x).plan.rows, softlab.trace(x).plan.cols) == (6, 8)
    assert softlab.trace(x, 1).plan.cols == 3
