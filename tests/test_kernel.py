"""The public Kernel: arguments, limits, what a run holds."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.kernel import Kernel
from tests.sampled import sampled

COPY = (
    'extern "C" __global__ void k(float* x, int n, float f, double d) { x[threadIdx.x] = x[threadIdx.x] * f + n + d; }'
)


@pytest.fixture(scope="module")
def copy() -> Kernel:
    return Kernel(COPY, "k")


def test_arrays_change_in_place(copy):
    x = np.arange(8, dtype=np.float32)
    run = copy.run(1, 8, (x, np.int32(3), np.float32(2), np.float64(0.5)))
    assert x.tolist() == [2 * i + 3.5 for i in range(8)]
    assert (run.executor, run.grid, run.block, run.arch) == ("emulator", (1, 1, 1), (8, 1, 1), "sm_90")
    assert [(b.index, b.nbytes, b.dtype) for b in run.buffers] == [(0, 32, "float32")]
    assert run.buffers[0].base % 512 == 0


def test_python_numbers_become_the_parameters_type(copy):
    x = np.ones(4, np.float32)
    copy.run(1, 4, (x, -2, 3, 1))
    assert x.tolist() == [2.0] * 4


def test_public_names_and_the_docstrings_example():
    k = softlab.Kernel('extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }', "twice")
    x = np.arange(4, dtype=np.float32)
    run = k.run(grid=1, block=4, args=(x,))
    assert x.tolist() == [0, 2, 4, 6]
    assert run.counters["global_load_requests"] == 1
    assert repr(k) == "Kernel('twice', arch='sm_90')"


def test_template_instantiation_and_options():
    source = "template <typename T, int n> __global__ void fill(T* x) { x[threadIdx.x] = n * SCALE; }"
    x = np.zeros(3, np.float64)
    Kernel(source, "fill<double, 4>", options=["-DSCALE=0.5"]).run((1,), (3,), [x])
    assert x.tolist() == [2.0] * 3


@pytest.mark.parametrize("arch", sampled(["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"], lambda arch: arch == "sm_75"))
def test_architectures_give_the_same(arch):
    """`.ci/run` takes one of them, `make test` all."""
    source = """#include <cub/block/block_reduce.cuh>
    extern "C" __global__ void k(const float* x, float* sums) {
      typedef cub::BlockReduce<float, 128> Reduce; __shared__ typename Reduce::TempStorage storage;
      float sum = Reduce(storage).Sum(x[blockIdx.x * 128 + threadIdx.x]);
      if (threadIdx.x == 0) sums[blockIdx.x] = sum; }"""
    x = np.arange(512, dtype=np.float32)
    sums = np.zeros(4, np.float32)
    Kernel(source, "k", arch=arch).run(4, 128, (x, sums))
    assert sums.tolist() == x.reshape(4, 128).sum(axis=1).tolist()


def test_scalars_of_two_bytes_and_structures():
    import ml_dtypes

    source = """#include <cuda_fp16.h>
    #include <cuda_bf16.h>
    struct S { char c; double d; };
    extern "C" __global__ void k(__half h, __nv_bfloat16 b, S s, bool flag, double* out) {
      out[0] = __half2float(h); out[1] = __bfloat162float(b); out[2] = s.c + s.d; out[3] = flag; }"""
    structure = np.zeros((), np.dtype([("c", "i1"), ("d", "f8")], align=True))
    structure["c"], structure["d"] = 3, 0.25
    kernel = Kernel(source, "k")
    for s in (structure[()], structure.tobytes()):
        out = np.zeros(4)
        kernel.run(1, 1, (np.float16(1.5), ml_dtypes.bfloat16(2.5), s, True, out))
        assert out.tolist() == [1.5, 2.5, 3.25, 1.0]


def test_one_array_twice_is_one_memory():
    source = 'extern "C" __global__ void k(int* x, int* y) { x[threadIdx.x] = 5; y[threadIdx.x] += x[threadIdx.x]; }'
    x = np.ones(4, np.int32)
    run = Kernel(source, "k").run(1, 4, (x, x))
    assert x.tolist() == [10] * 4
    assert run.buffers[0].base == run.buffers[1].base


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        (lambda x: (x, 1, 1), TypeError, r"takes 4 arguments \(float\*, int.*got 3"),
        (lambda x: (x, 1, 1, 1, 1), TypeError, "takes 4 arguments"),
        (lambda x: (x, 1.5, 1, 1), TypeError, "argument 1: the parameter is int, got the float 1.5"),
        (lambda x: (x, 2**32, 1, 1), ValueError, "4294967296 does not fit in 32 bits"),
        (lambda x: (x, np.int64(1), 1, 1), TypeError, "is int, which takes int32 or uint32, got numpy.int64"),
        (lambda x: (x, np.float32(1), 1, 1), TypeError, "got numpy.float32"),
        (lambda x: (x, 1, np.float64(1), 1), TypeError, "argument 2"),
        (lambda x: (x, x, 1, 1), TypeError, "argument 1 is an array of float32 .*, but the parameter is int"),
        (lambda x: (x, "three", 1, 1), TypeError, "got the str 'three'"),
        (lambda x: ([1.0, 2.0], 1, 1, 1), TypeError, "got builtins.list.*Pass a NumPy array for a pointer"),
        (lambda x: (x[::2], 1, 1, 1), ValueError, "not C-contiguous.*ascontiguousarray"),
        (lambda x: (np.array([None]), 1, 1, 1), TypeError, "Python objects"),
    ],
)
def test_wrong_arguments_are_told(copy, args, error, message):
    with pytest.raises(error, match=message):
        copy.run(1, 4, args(np.zeros(8, np.float32)))


@pytest.mark.parametrize(
    ("launch", "error", "message"),
    [
        ({"grid": 0}, ValueError, "grid.x is 0"),
        ({"grid": (1, 70000)}, ValueError, "grid.y is 70000: it must be from 1 to 65535"),
        ({"grid": (1, 1, 1, 1)}, ValueError, "4 sizes"),
        ({"grid": 2.5}, TypeError, "grid must be an integer"),
        ({"grid": True}, TypeError, "grid must be an integer, not True"),
        ({"block": (1, 1, 65)}, ValueError, "block.z is 65"),
        ({"block": (64, 17)}, ValueError, "has 1088 threads.*at most 1024"),
        ({"smem": -1}, ValueError, "smem = -1"),
        ({"smem": 232449}, ValueError, "232449 bytes of shared memory.*at most 232448"),
    ],
)
def test_launches_over_the_limits_are_told(copy, launch, error, message):
    with pytest.raises(error, match=message):
        copy.run(**{"grid": 1, "block": 4, "args": (np.zeros(8, np.float32), 1, 1, 1), **launch})


BOUNDED = """
extern "C" __global__ void __launch_bounds__(128) bounded(float* x) { x[threadIdx.x] = 1; }
"""
#: Each thread holds 120 values at once, so it takes more registers than 1024 threads can have.
MANY_REGISTERS = """
extern "C" __global__ void many(float* x) {
  float v[120];
  #pragma unroll
  for (int k = 0; k < 120; ++k) v[k] = x[k * 1024 + threadIdx.x];
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < 120; ++k) x[(119 - k) * 1024 + threadIdx.x] = v[k] * v[(k + 60) % 120];
}
"""


def test_a_block_over_the_launch_bounds_is_refused():
    kernel = Kernel(BOUNDED, "bounded")
    x = np.zeros(256, np.float32)
    kernel.run(1, (32, 2, 2), (x,))
    assert x[:32].tolist() == [1] * 32
    with pytest.raises(
        ValueError, match=r"block \(8, 4, 5\) has 160 threads; bounded is compiled for at most 128 .__laun"
    ):
        kernel.run(1, (8, 4, 5), (x,))


def test_a_block_over_the_register_file_is_refused():
    kernel = Kernel(MANY_REGISTERS, "many")
    registers = kernel.program.registers
    assert registers > 64
    x = np.zeros(120 * 1024, np.float32)
    fitting = 65536 // (-(-registers * 32 // 256) * 256) // 4 * 4 * 32
    kernel.run(1, fitting, (x,), record=False)
    with pytest.raises(
        ValueError, match=rf"no block of 1024 threads with {registers} registers per thread fits on an SM"
    ):
        kernel.run(1, 1024, (x,))


@pytest.mark.parametrize(
    "option", ["-arch=sm_80", "-arch sm_80", "-arch", "--gpu-architecture=compute_80", "--gpu-architecture"]
)
def test_an_architecture_among_the_options_is_refused(option):
    with pytest.raises(ValueError, match=f"options has '{option}': give the architecture as arch="):
        Kernel(BOUNDED, "bounded", options=["-DN=1", option])
    assert Kernel(BOUNDED, "bounded", options=["-DN=1"], arch="sm_80").program.arch == "sm_80"


def test_options_in_one_string_and_a_nul_in_the_source_are_refused():
    with pytest.raises(TypeError, match="options is the string '-DN=1': give a sequence"):
        Kernel(BOUNDED, "bounded", options="-DN=1")
    with pytest.raises(ValueError, match="the source has a NUL character in line 3"):
        Kernel(BOUNDED + "\0 more", "bounded")


def test_most_shared_memory_of_a_block():
    source = """extern "C" __global__ void k(float* x, int n) { extern __shared__ float s[];
      for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i;
      __syncthreads(); x[threadIdx.x] = s[n - 1 - threadIdx.x]; }"""
    x = np.zeros(256, np.float32)
    n = 227 * 1024 // 4
    Kernel(source, "k").run(2, 256, (x, n), smem=n * 4)
    assert x.tolist() == list(range(n - 1, n - 257, -1))


def test_read_only_arrays_can_be_read_and_not_written():
    source = 'extern "C" __global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }'
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    x.flags.writeable = False
    kernel = Kernel(source, "k")
    kernel.run(1, 4, (x, y))
    assert y.tolist() == [1] * 4
    with pytest.raises(ValueError, match="argument 1, which is read-only"):
        kernel.run(1, 4, (y, x))


def test_arrays_without_elements_have_an_address_and_no_memory():
    source = 'extern "C" __global__ void k(const float* x, long long* y) { y[0] = (long long)x; if (y[1]) y[0] = *x; }'
    y = np.zeros(2, np.int64)
    kernel = Kernel(source, "k")
    kernel.run(1, 1, (np.zeros(0, np.float32), y))
    assert y[0] != 0
    y[1] = 1
    with pytest.raises(softlab.KernelFault, match="which has 0 bytes"):
        kernel.run(1, 1, (np.zeros(0, np.float32), y))


def test_records_of_chosen_blocks():
    source = """extern "C" __global__ void k(float* x) { __shared__ float s[64]; int t = threadIdx.x;
      s[t] = x[blockIdx.x * 64 + t]; __syncthreads();
      x[blockIdx.x * 64 + t] = __shfl_xor_sync(0xffffffff, s[63 - t], 1); }"""
    run = Kernel(source, "k").run(5, 64, (np.arange(320, dtype=np.float32),), blocks=(3, 1))
    assert sorted(set(run.shared.block.tolist())) == [1, 3]
    assert len(run.shared) == len(run.global_) == 2 * 2 * 2  # load and store, two warps, two blocks
    base = run.buffers[0].base
    loads = run.global_.select(~run.global_.store & (run.global_.block == 3))
    assert (loads.address - base == (3 * 64 + np.arange(64).reshape(2, 32)) * 4).all()
    assert loads.line.tolist() == [2, 2]
    assert loads.active.all()
    reads = run.shared.select(~run.shared.store & (run.shared.warp == 1) & (run.shared.block == 1))
    assert reads.address.tolist() == [[4 * (31 - lane) for lane in range(32)]]
    shuffles = run.shuffles.select(run.shuffles.block == 1)
    assert shuffles.mode.tolist() == ["bfly", "bfly"]
    assert shuffles.source.tolist() == [[lane ^ 1 for lane in range(32)]] * 2
    assert (shuffles.given[:, [1, 0]] == shuffles.received[:, [0, 1]]).all()
    first_warp = shuffles.given[0].view(np.float32)
    assert first_warp.tolist() == [64.0 + 63 - lane for lane in range(32)]


def test_without_records_there_are_no_counters(copy):
    run = copy.run(1, 4, (np.zeros(8, np.float32), 1, 1, 1), record=False)
    assert run.counters == {}
    assert len(run.global_) == 0
    assert run.lane_instructions > 0


def test_long_runs_show_their_progress(monkeypatch, capsys, copy):
    monkeypatch.setattr("softlab.kernel.progress.PROGRESS_AFTER", 0.0)
    copy.run(3000, 32, (np.zeros(32, np.float32), 1, 1, 1), record=False, check=False)
    assert "emulating" in capsys.readouterr().err


def test_what_does_not_compile():
    with pytest.raises(softlab.CompileError, match="undefined_thing"):
        Kernel('extern "C" __global__ void k(float* x) {\n  x[0] = undefined_thing;\n}', "k")


@pytest.mark.gpu
def test_the_gpu_gives_the_same(copy):
    import cupy

    host, device = np.arange(8, dtype=np.float32), cupy.arange(8, dtype=cupy.float32)
    copy.run(1, 8, (host, 3, 0.5, 2.25))
    run = copy.run(1, 8, (device, 3, 0.5, 2.25))
    assert run.executor == "gpu"
    assert run.counters == {}
    assert device.get().tolist() == host.tolist()


SCALARS = """extern "C" __global__ void k(float* x, int n, long long m, float s) {
  if (threadIdx.x < n) x[threadIdx.x] += s + m;
}"""


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"n": 10**30}, ValueError, "argument 1: .* 10{30} does not fit in 32 bits"),
        ({"n": -(10**5000)}, ValueError, "argument 1: .* an integer of 16610 bits does not fit in 32 bits"),
        ({"n": 2**31}, ValueError, "argument 1 is 2147483648, but the parameter is int, .* would become -2147483648"),
        ({"m": 2**63}, ValueError, "argument 2 is 9223372036854775808, but the parameter is long long"),
        ({"m": 2**64}, ValueError, "argument 2: .* does not fit in 64 bits"),
        ({"s": 10**400}, ValueError, "argument 3: .* an integer of 1329 bits is beyond the largest float32"),
        ({"s": -(10**39)}, ValueError, "argument 3: .* beyond the largest float32"),
        ({"s": 1e300}, ValueError, r"argument 3: .* 1e\+300 is beyond the largest float32"),
        ({"budget": -5}, ValueError, "budget = -5: it must be 1 or more"),
        ({"budget": 0}, ValueError, "budget = 0: it must be 1 or more"),
        ({"budget": 1.5}, TypeError, "budget must be an integer"),
        ({"budget": None}, TypeError, "budget must be an integer"),
        ({"blocks": (-1,)}, ValueError, r"blocks has -1; the grid \(2, 1, 1\) has the blocks 0 to 1"),
        ({"blocks": (0, 2)}, ValueError, "blocks has 2;"),
        ({"blocks": (10**5000,)}, ValueError, "blocks has an integer of 16610 bits;"),
        ({"blocks": (0.5,)}, TypeError, "give a sequence of linear block indices"),
        ({"blocks": 1}, TypeError, "give a sequence of linear block indices"),
        ({"grid": 0}, ValueError, "grid.x is 0: it must be from 1 to 2147483647"),
        ({"grid": (1, -1)}, ValueError, "grid.y is -1: it must be from 1 to 65535"),
        ({"grid": 10**5000}, ValueError, "grid.x is an integer of 16610 bits: it must be from 1 to"),
        ({"grid": 1.5}, TypeError, "grid must be an integer"),
        ({"smem": -(10**5000)}, ValueError, "smem = an integer of 16610 bits: it must be 0 or more"),
        ({"x": np.ma.masked_array(np.zeros(32, np.float32), np.arange(32) > 5)}, TypeError, "argument 0 is a masked"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_odd_arguments_are_refused(changed, error, words) -> None:
    given = {"x": np.zeros(32, np.float32), "n": 4, "m": 1, "s": 0.5, "grid": 2, **changed}
    args = tuple(given.pop(name) for name in ("x", "n", "m", "s"))
    with pytest.raises(error, match=words):
        Kernel(SCALARS, "k").run(given.pop("grid"), 32, args, **given)


def test_large_arguments_that_fit_are_taken() -> None:
    x = np.zeros(32, np.float32)
    # Both blocks write the same elements, which the checks would report.
    run = Kernel(SCALARS, "k").run(2, 32, (x, 2**31 - 1, -(2**63), float("inf")), blocks=np.array([1, 0]), check=False)
    assert np.isposinf(x).all()
    assert set(run.global_.block) == {0, 1}
    Kernel(SCALARS, "k").run(1, 32, (x, np.int32(1), 0, float(np.finfo(np.float32).max)))


def test_a_matrix_is_an_array() -> None:
    with pytest.warns(PendingDeprecationWarning):
        x = np.matrix(np.zeros((4, 8), np.float32))
    Kernel(SCALARS, "k").run(1, 32, (x, 32, 1, 0.5))
    assert np.asarray(x).tolist() == np.full((4, 8), 1.5).tolist()
