"""``__constant__`` and ``__device__`` variables by the names of the source."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.kernel.mangled_names import qualified_name, template_types

SOURCE = """
#define WIDE 4
typedef float row_t[WIDE];
struct Wave { float3 start; int counts[2]; const double* samples; };
enum class Rule { add = 1, multiply = 2 };
namespace outer { __constant__ row_t table[3]; namespace inner { __constant__ int depth = 7; } }
namespace other { __constant__ int depth = 8; }
static __constant__ Wave wave;
__constant__ Rule rule = Rule::add;
__device__ float4 centre;
__device__ float* rows[2];
namespace { __device__ unsigned char seen[5]; }
template <typename T> __device__ T scale = T(3);
__device__ int counter = 10;
__device__ int* next = &counter;
extern "C" __global__ void use(float* x) {
  static __device__ int calls;
  x[0] = outer::table[1][2] + outer::inner::depth + other::depth + wave.start.y + wave.counts[1];
  x[1] = wave.samples[2] + centre.w + rows[1][1] + scale<float> + (rule == Rule::multiply ? 1000 : 0);
  seen[3] = 9;
  atomicAdd(&calls, 1);
  atomicAdd(next, 2);
}
__global__ void read(int* x) { *x = counter; }
"""


@pytest.fixture
def kernel() -> softlab.Kernel:
    return softlab.Kernel(SOURCE, "use")


def ready(kernel: softlab.Kernel) -> float:
    """Give everything that the kernel needs; returns what x[1] then is."""
    kernel.constants["wave"] = {"start": (1, 2, 3), "counts": [4, 50], "samples": np.array([0.0, 1.0, 700.0])}
    kernel.globals["rows"] = [None, np.array([1, 0.5], np.float32)]
    kernel.globals["centre"] = (1, 2, 3, 4)
    return 700 + 4 + 0.5 + 3


def test_names_types_and_values(kernel: softlab.Kernel) -> None:
    assert set(kernel.constants) == {"outer::table", "outer::inner::depth", "other::depth", "wave", "rule"}
    assert set(kernel.globals) == {"centre", "rows", "seen", "scale<float>", "counter", "next", "use::calls"}
    assert "float[3][4]" in repr(kernel.constants)
    second = ready(kernel)
    table = np.arange(12, dtype=np.float32).reshape(3, 4)
    kernel.constants["table"] = table
    kernel.constants["outer::table", 1, 2] = 600.0
    kernel.constants["rule"] = 2
    x = np.zeros(2, np.float32)
    kernel.run(1, 1, (x,))
    assert list(x) == [600 + 7 + 8 + 2 + 50, second + 1000]
    table[1, 2] = 600
    np.testing.assert_array_equal(kernel.constants["table"], table)
    assert kernel.constants["wave"]["counts"].tolist() == [4, 50]
    assert kernel.globals["seen"].tolist() == [0, 0, 0, 9, 0]
    assert kernel.globals["scale<float>"] == 3
    with pytest.raises(ValueError, match="read-only"):
        kernel.constants["table"][0, 0] = 1


def test_values_stay_until_reset(kernel: softlab.Kernel) -> None:
    ready(kernel)
    x, read = np.zeros(2, np.float32), np.zeros(1, np.int32)
    for launches in (1, 2):
        kernel.run(1, 32, (x,))
        assert kernel.globals["counter"] == 10 + 64 * launches
    kernel.sibling("read").run(1, 1, (read,))
    assert read[0] == 138, "a sibling shares the variables"
    softlab.Kernel(SOURCE, "read").run(1, 1, (read,))
    assert read[0] == 10, "another kernel has its own"
    kernel.globals["counter"] = -5
    kernel.run(1, 32, (x,))
    assert kernel.globals["counter"] == 59, "next points to it"
    kernel.reset()
    assert kernel.globals["counter"] == 10
    assert not kernel.globals["centre"].any()


def test_an_estimate_reads_them_and_leaves_them(kernel: softlab.Kernel) -> None:
    ready(kernel)
    x = np.zeros(2, np.float32)
    run = kernel.run(1, 32, (x,))
    before = kernel.globals["counter"]
    assert kernel.estimate(1, 32, (x,)).microseconds == softlab.estimate(run).microseconds
    assert kernel.globals["counter"] == before


@pytest.mark.parametrize(
    ("space", "name", "value", "error", "message"),
    [
        ("constants", "tables", 0, KeyError, "no __constant__ variable 'tables'; it has .*outer::table"),
        ("constants", "depth", 0, KeyError, "several variables 'depth': say which, outer::inner::depth or other::dep"),
        ("constants", "counter", 0, KeyError, r"a __device__ variable: use kernel.globals\['counter'\]"),
        ("globals", "rule", 0, KeyError, r"a __constant__ variable: use kernel.constants\['rule'\]"),
        ("constants", "table", np.zeros((4, 3), np.float32), ValueError, r"takes the shape \(3, 4\), got \(4, 3\)"),
        ("constants", "table", np.zeros((3, 4)), TypeError, "dtype float64: it takes float32"),
        ("globals", "counter", 1.5, TypeError, "counter is int, got 1.5"),
        ("globals", "counter", np.float64(2), TypeError, r"is a NumPy float64: .* Pass numpy.int32\(x\), or a Python"),
        ("globals", "counter", 1 << 32, ValueError, "counter is int, and 4294967296 does not fit"),
        ("globals", "rows", [None], ValueError, "takes 2 elements, got 1"),
        ("globals", "next", 1.0, TypeError, r"next is the pointer .*, got 1.0: give an array or None"),
        ("constants", "wave", {"start": (0, 0, 0)}, ValueError, "it lacks counts, samples"),
        ("constants", "wave", (1, 2), ValueError, "3 fields start, counts, samples, got 2 values"),
        ("constants", "wave", 1.0, TypeError, "give a dict with the fields start, counts, samples"),
        ("constants", "wave", b"123", ValueError, "of 32 bytes, got 3 bytes"),
    ],
)
def test_errors(
    kernel: softlab.Kernel, space: str, name: str, value: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        getattr(kernel, space)[name] = value


def test_a_part_of_a_variable(kernel: softlab.Kernel) -> None:
    kernel.constants["table", :2] = np.ones((2, 4), np.float32)
    kernel.constants["table", 2, 1:3] = 5
    assert kernel.constants["table"].tolist() == [[1] * 4, [1] * 4, [0, 5, 5, 0]]
    assert kernel.constants["table", 2, 1] == 5
    with pytest.raises(ValueError, match=re.escape("takes the shape (4,), got (3,)")):
        kernel.constants["table", 0] = [1, 2, 3]
    with pytest.raises(TypeError, match="assign all of it at once"):
        kernel.constants["wave", "counts"] = [1, 2]


def test_variables_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "filter.cu"
    path.write_text(
        '#include <stdio.h>\n#include "radius.h"\n__constant__ float c_filter[2 * RADIUS + 1];\n'
        "__global__ void blur(const float* x, float* y) {\n  float sum = 0;\n"
        "  for (int k = 0; k <= 2 * RADIUS; ++k) sum += c_filter[k] * x[threadIdx.x + k];\n  y[threadIdx.x] = sum;\n}\n"
        "int main() { float h[5]; cudaMemcpyToSymbol(c_filter, h, sizeof(h)); blur<<<1, 4>>>(0, 0); }\n"
    )
    (tmp_path / "radius.h").write_text("#define RADIUS 2\n")
    kernel = softlab.Kernel.from_file(path, "blur")
    weights = np.array([1, 2, 3, 2, 1], np.float32)
    kernel.constants["c_filter"] = weights
    x, y = np.arange(8, dtype=np.float32) ** 2, np.zeros(4, np.float32)
    kernel.run(1, 4, (x, y))
    np.testing.assert_array_equal(y, np.convolve(x, weights, "valid"))


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("plain", "plain"),
        ("_ZL1c", "c"),
        ("_ZN2ns5tableE", "ns::table"),
        ("_ZN27_INTERNAL_00000000_4_k_cu_k29_GLOBAL__N__00000000_4_k_cu_k4anonE", "anon"),
        ("_Z2tvIfE", "tv<float>"),
        ("_ZZ4kernPfE3loc", "kern::loc"),
        ("_ZQ", "_ZQ"),
    ],
)
def test_qualified_names(symbol: str, name: str) -> None:
    assert qualified_name(symbol) == name


def test_template_types() -> None:
    assert template_types("_Z1tIA3_A4_fEvv") == ("float[3][4]",)
    assert template_types("_Z1tI1PLm32ELm8EEvv") == ("P", "32", "8")
    assert template_types("_Z1tIfPFffEEvv") == ("float", "")


@pytest.mark.gpu
def test_one_value_for_both_executors(kernel: softlab.Kernel) -> None:
    cupy = pytest.importorskip("cupy")
    kernel = softlab.Kernel(SOURCE, "use", arch=softlab.Device.present().arch)
    second = ready(kernel)
    for executor in ("gpu", "emulator", "gpu", "gpu"):
        module = cupy if executor == "gpu" else np
        kernel.constants["wave"] = {"start": (1, 2, 3), "counts": [4, 50], "samples": module.array([0.0, 1.0, 700.0])}
        kernel.globals["rows"] = [None, module.array([1, 0.5], np.float32)]
        x = module.zeros(2, np.float32)
        assert kernel.run(1, 32, (x,)).executor == executor
        assert x.tolist() == [7 + 8 + 2 + 50, second]
    assert kernel.globals["use::calls"] == 4 * 32
    kernel.reset()
    assert kernel.globals["counter"] == 10
    x = cupy.zeros(1, np.int32)
    kernel.sibling("read").run(1, 1, (x,))
    assert x.get()[0] == 10


def test_a_constant_variable_that_nothing_wrote_is_said() -> None:
    source = """
    __constant__ float table[4], given[2] = {1, 2};
    __device__ int count;
    namespace of { __constant__ int scale; }
    extern "C" __global__ void k(float* y) { y[0] = table[count] + given[1] + of::scale; }
    extern "C" __global__ void other(float* y) { y[0] = given[1]; }
    """
    kernel, y = softlab.Kernel(source, "k"), np.zeros(1, np.float32)
    said = [one for one in kernel.run(1, 1, (y,)).remarks if "holds zeros" in one]
    assert [one.split()[3] for one in said] == ["table", "of::scale"]
    kernel.constants["table"], kernel.constants["of::scale"] = np.ones(4, np.float32), 0
    assert not any("holds zeros" in one for one in kernel.run(1, 1, (y,)).remarks)
    assert y[0] == 3
    kernel.reset()
    assert sum("holds zeros" in one for one in kernel.run(1, 1, (y,)).remarks) == 2
    assert softlab.Kernel(source, "other").run(1, 1, (y,)).remarks == ()


def test_a_constant_variable_that_the_source_gives_zeros_is_not_said() -> None:
    source = """
    #define EMPTY {0, 0}
    __constant__ int zero = 0, unset;
    __constant__ const float table[2][2] = {{0, 0}, {0.f}}; // __constant__ int last = 0;
    static __constant__ struct { int first; float rest[2]; } both{}, pair = {0, EMPTY};
    namespace of { __constant__ int inner{0}; __constant__ int last; }
    extern "C" __global__ void k(float* y) {
      const int unset_too = 0;
      int last = unset_too + threadIdx.x;
      y[0] = zero + table[last][1] + unset + both.first + pair.rest[last] + of::inner + of::last;
    }
    """
    said = softlab.Kernel(source, "k").run(1, 1, (np.zeros(1, np.float32),)).remarks
    assert [one.split()[3] for one in said] == ["unset", "of::last"]
