"""``Kernel.from_file``: what the libraries, the builds and the older compilers of other people's files bring."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import softlab
from softlab.kernel.files import read_file

TORCH = """\
#include <torch/extension.h>
using namespace at;
template <typename scalar_t> __global__ void sums(
    const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x,
    torch::PackedTensorAccessor64<scalar_t, 1> y) {
  CUDA_KERNEL_LOOP(row, x.size(0)) {
    at::acc_type<scalar_t, true> sum = 0;
    for (int i = 0; i < x.size(1); ++i) sum += x[row][i];
    gpuAtomicAdd(&y[row], static_cast<scalar_t>(sum));
  }
}
template <typename T> __global__ void numbers(const T* x, T* y, float* z) {
  T a = x[0], b = x[1];
  y[0] = a + b;
  y[1] = a * 2;
  y[2] = 1 / b;
  y[3] = -a;
  y[4] = a > b ? a : b;
  y[4] -= b;
  z[0] = a * 3.0f;
  z[1] = a == b;
  z[2] = a < 2.0;
}
template <typename T> __global__ void places(at::cuda::detail::TensorInfo<T, int> info, int* offsets) {
  offsets[threadIdx.x] = at::cuda::detail::IndexToOffset<T, int, -1>::get(threadIdx.x, info);
}
void host(at::Tensor x) {
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sums", [&] { sums<scalar_t><<<1, 32>>>(x); });
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "k.cu"
    path.write_text(TORCH)
    return path


def test_accessors_of_tensors_take_arrays(file: Path) -> None:
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    y = np.ones(4, np.float32)
    kernel = softlab.Kernel.from_file(file, "sums<float>")
    kernel.run(1, 32, (x, y))
    np.testing.assert_array_equal(y, 1 + x.sum(axis=1))
    with pytest.raises(ValueError, match=r"argument 1 has the shape \(4, 6\), but .* an accessor of 1 dimensions"):
        kernel.run(1, 32, (x, x))
    with pytest.raises(TypeError, match="argument 0 is an array of float64"):
        kernel.run(1, 32, (x.astype(np.float64), y))


@pytest.mark.parametrize(("kind", "dtype"), [("at::Half", np.float16), ("c10::BFloat16", ml_dtypes.bfloat16)])
def test_numbers_of_16_bits_of_pytorch(file: Path, kind: str, dtype: type) -> None:
    x: np.ndarray = np.array([1.5, 2.25], dtype)
    y: np.ndarray = np.zeros(5, dtype)
    z = np.zeros(3, np.float32)
    softlab.Kernel.from_file(file, f"numbers<{kind}>").run(1, 1, (x, y, z))
    a, b = (float(value) for value in x)
    np.testing.assert_array_equal(y, np.array([a + b, a * 2, 1 / b, -a, 0], dtype))
    np.testing.assert_array_equal(z, [a * 3, 0, 1])


def test_offsets_in_a_tensor_of_pytorch(file: Path) -> None:
    kernel = softlab.Kernel.from_file(file, "places<float>")
    offsets = np.zeros(6, np.int32)
    sizes, strides = [2, 3] + 23 * [0], [10, 2] + 23 * [0]
    kernel.run(1, 6, ({"data": np.zeros(1, np.float32), "sizes": sizes, "strides": strides, "dims": 2}, offsets))
    assert offsets.tolist() == [0, 2, 4, 10, 12, 14]


def test_an_argument_that_a_macro_of_the_host_names_is_no_example(file: Path) -> None:
    with pytest.raises(ValueError, match="as in 'sums<float>'"):
        softlab.Kernel.from_file(file, "sums")


def test_warp_functions_of_older_gpus(tmp_path: Path) -> None:
    path = tmp_path / "old.cu"
    path.write_text(
        "__global__ void k(int* x, unsigned* votes) {\n"
        "  int value = x[threadIdx.x];\n"
        "  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_down(value, lanes);\n"
        "  x[threadIdx.x] = __shfl(value, 0) + __any(threadIdx.x == 5) + 2 * __all(threadIdx.x == 5);\n"
        "  votes[threadIdx.x] = __ballot(threadIdx.x < 3);\n}\n"
    )
    x, votes = np.arange(32, dtype=np.int32), np.zeros(32, np.uint32)
    kernel = softlab.Kernel.from_file(path)
    kernel.run(1, 32, (x, votes))
    assert set(x.tolist()) == {31 * 16 + 1}
    assert set(votes.tolist()) == {7}
    assert any("__activemask()" in remark for remark in kernel.program.remarks)


def test_template_arguments_as_the_kernels_namespace_names_them(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "namespace inner { struct Ways { enum Way { up = 3 }; };\n"
        "template <int way> __global__ void k(int* x) { *x = way; }\n"
        "void host(int* x) { k<Ways::up><<<1, 1>>>(x); } }\n"
    )
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 3


def test_a_namespace_that_a_macro_opens(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#define OPEN namespace far {\n#define CLOSE }\nOPEN\n"
        "template <typename T> __global__ void k(T* x) { *x = 4; }\nCLOSE\n"
    )
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path, "k<int>").run(1, 1, (x,))
    assert x[0] == 4


BRANCHES = """\
struct Host { void* pointer; };
template <typename T>
#ifdef CACHED
using Buffer = Cached<T>;
#else
using Buffer = Host;
#endif
struct Numbers {
#ifdef DEBUG
  __host__ void check();
#else
  __host__ void check() {}
#endif
  int held;
};
template <typename T>
#ifdef CACHED
using Kept = T*;
#else
using Kept = const T*;
#endif
__global__ void k(Kept<int> x, int* y, Numbers more) { *y = *x + more.held; }
"""


def test_branches_of_conditionals_in_declarations_and_in_classes(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(BRANCHES)
    assert "Buffer" not in read_file(path).source
    x, y = np.array([3], np.int32), np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x, y, {"held": 4}))
    assert y[0] == 7


HOST = """\
template <int rows, int cols, typename T> __global__ void k(T const* x, T* y) { *y = *x * rows * cols; }
void %s {
  const int width = 8;
  %s
}
"""


@pytest.mark.parametrize(
    ("function", "body", "chosen"),
    [
        ("host(float const* x, float* y)", "auto run = k<width, 2 * width, int>; run<<<1, 1>>>(x, y);", "8, 16, int"),
        ("host(double const* x, double* y)", "k<1, 2><<<1, 1>>>(x, y);", "1, 2, double"),
    ],
)  # fmt: skip
def test_the_kernel_behind_a_launch(tmp_path: Path, function: str, body: str, chosen: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(HOST % (function, body))
    assert softlab.Kernel.from_file(path).program.name == f"k<{chosen}>"


def test_an_example_of_what_the_host_names_without_a_launch(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(HOST % ("host()", "using real = double; run(k<width, 4, real>, 1, 1);"))
    assert read_file(path).mentions[0] == "k<8, 4, double>"
    with pytest.raises(ValueError, match="as in 'k<8, 4, double>'"):
        softlab.Kernel.from_file(path)


def test_a_name_that_a_macro_of_the_host_makes_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "template <typename T> __global__ void k(T* x) { *x = 1; }\n"
        "void host(void* x) { EACH_TYPE(kind, value_of_kind, [&] { k<value_of_kind><<<1, 1>>>(x); }); }\n"
    )
    with pytest.raises(ValueError, match="as in 'k<float>'"):
        softlab.Kernel.from_file(path)


def test_a_typedef_of_an_enum_in_an_example(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "typedef enum { unit = 5, general } Diagonal;\n"
        "template <Diagonal diagonal> __global__ void k(int* x) { *x = diagonal; }\n"
    )
    with pytest.raises(ValueError, match="as in 'k<unit>'"):
        softlab.Kernel.from_file(path)


MACROS = """\
#define SPACES __device__ inline
#define CHECKED(value, low) \\
    REPORT( \\
        (value) >= (low), \\
        "%s is " "small", #value)
#define PAIR(T) \\
  SPACES T largest(T a, T b) { return a < b ? b : a; } \\
  SPACES T largest(T a, T b, T c) { return largest(largest(a, b), c); }
#define REPORT(condition, ...) do { if (!(condition)) printf(__VA_ARGS__); } while (false)
PAIR(int)
__global__ void k(int* x) { CHECKED(x[0], 0); *x = largest(x[0], x[1], x[2]); }
"""


def test_macros_in_the_bodies_of_macros_and_functions_that_a_macro_makes(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(MACROS)
    x = np.array([1, 2, 5], np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 5


WHOLE = """\
#include <limits>
#include <optional>
struct Small { signed char held; };
namespace std {
template <> class numeric_limits<Small> { public: static constexpr __device__ Small max() { return {100}; } };
}
__global__ void k(int* x) {
  std::optional<int> one = 3;
  *x = std::numeric_limits<Small>::max().held + *one + (LDBL_MAX > FLT_MAX) + (CUDA_VERSION >= 9000);
  int more;
  __asm__ volatile("mov.u32 %0, 7;" : "=r"(more));
  *x += more + (int)(((unsigned __int128)1 << 64) >> 62);
}
"""


@pytest.mark.further
def test_what_the_compiler_and_its_headers_bring(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(WHOLE)
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 116


def test_values_of_the_enums_of_tensor_maps(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#include <cuda.h>\n__global__ void k(int* x) {\n  constexpr CUtensorMapDataType kind = "
        "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;\n  x[0] = kind; x[1] = CU_TENSOR_MAP_SWIZZLE_128B;\n}\n"
    )
    x = np.zeros(2, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x.tolist() == [9, 3]


def test_a_header_that_ends_with_a_backslash_and_a_type_of_opencv(tmp_path: Path) -> None:
    (tmp_path / "clock.h").write_text('#define START \\\n  printf("start"); \\\n')
    path = tmp_path / "k.cu"
    headers = '#include <opencv2/core.hpp>\n#include "clock.h"\n'
    path.write_text(f"{headers}__global__ void k(uchar* x) {{ *x = 255 - *x; }}\n")
    x = np.array([5], np.uint8)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 250


@pytest.mark.parametrize("end", [" ", "\t  ", " \\\n", "\\\n  \\\n"])
def test_a_line_after_a_macro_without_a_body(tmp_path: Path, end: str) -> None:
    (tmp_path / "image.h").write_text("int read_image() { return 1; }\n#define CHANNELS 3\n")
    path = tmp_path / "k.cu"
    lines = [f"#define WITH_IMAGES{end}", '#include "image.h"', f"#define PAIR(a, b){end}", "int host() { return 2; }"]
    path.write_text("\n".join([*lines, "__global__ void k(int* x) { *x = CHANNELS; }", ""]))
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,), record=False)
    assert x[0] == 3


ATTRIBUTES = """\
#ifdef __CUDACC__
__host__ __device__
#endif
inline int twice(int x) {
#ifdef OTHER
  return 0;
#else
  return 2 * x;
#endif
}
struct Box {
  int x;
#if defined(__CUDACC__) // for both
  __device__ __forceinline__
#else
  inline
#endif // for both
  int get() const { return x; }
  int of_host() const { return missing_on_the_device(x); }
};
#ifndef OTHER
extern "C"
#if 1
__device__
#endif
#endif
int more(int x
#ifdef OTHER
         , int y
#endif
) { return x + 1; }
#ifdef __CUDACC__
int host_alone(int x) { return missing_on_the_device(x); }
#endif
__global__ void k(int* x) { *x = more(twice(Box{*x}.get())); }
"""


def test_conditionals_that_choose_the_attributes_of_a_function(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(ATTRIBUTES)
    x = np.array([4], np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,), record=False)
    assert x[0] == 9


@pytest.mark.parametrize(
    ("use", "said"), [("helper(x[0])", "helper: softlab"), ("x[0] + x[1]", r"operator\+: softlab")]
)
def test_a_function_of_the_host_that_a_kernel_calls_is_named(tmp_path: Path, use: str, said: str) -> None:
    path = tmp_path / "k.cu"
    host = "inline float2 operator+(float2 a, float2 b) { return a; }\nfloat2 helper(float2 x) { return x; }\n"
    path.write_text(f"{host}__global__ void k(float2* x) {{ x[0] = {use}; }}\n")
    with pytest.raises(softlab.CompileError, match=f"{said} takes this for the host's"):
        softlab.Kernel.from_file(path)


MATRICES = """\
#include <opencv2/core/cuda/common.hpp>
__global__ void k(const cv::cuda::PtrStepSz<float> x, cv::cuda::PtrStep<uchar3> y, cv::cuda::PtrStepSzb z) {
  int row = threadIdx.y, col = threadIdx.x;
  if (row >= x.rows || col >= x.cols) return;
  y(row, col).z = 2 * x(row, col) + z.ptr(row)[col];
}
"""


def test_matrices_of_opencv_take_arrays(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(MATRICES)
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    y, z = np.zeros((3, 5, 3), np.uint8), np.full((3, 7), 100, np.uint8)
    kernel = softlab.Kernel.from_file(path)
    kernel.run(1, (8, 8), (x, y, z), record=False)
    np.testing.assert_array_equal(y[..., 2], 2 * x + 100)
    assert not y[..., :2].any()
    with pytest.raises(ValueError, match=r"argument 1 has the shape \(15,\), but the parameter is a matrix"):
        kernel.run(1, (8, 8), (x, np.zeros(15, np.uint8), z))
    with pytest.raises(TypeError, match="argument 2"):
        kernel.run(1, (8, 8), (x, y, np.zeros((3, 7), np.float32)))


def test_names_of_the_system_and_register_variables(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__device__ const u_int32_t count = 4;\n__global__ void k(u_int64_t* x) {\n  register u_int8_t one = 257;\n"
        "  cudaGridDependencySynchronize();\n  *x = count + one;\n  cudaTriggerProgrammaticLaunchCompletion();\n}\n"
    )
    x = np.zeros(1, np.uint64)
    softlab.Kernel.from_file(path).run(1, 1, (x,), record=False)
    assert x[0] == 5


@pytest.mark.further
def test_types_of_matlab(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        '#include "tmwtypes.h"\n#include "mex.h"\nstruct Sizes { mwSize rows; boolean_T full; };\n'
        "__global__ void k(real_T* y, const uint8_T* x, Sizes n, creal32_T z) {\n"
        "  int64_T i = threadIdx.x;\n  if (n.full && i < n.rows) y[i] = (uint8_T)(x[i] + 1) + z.im;\n}\n"
        "void mexFunction(int nlhs, mxArray* plhs[]) { mexErrMsgTxt(0); }\n"
    )
    kernel = softlab.Kernel.from_file(path)
    y = np.zeros(4)
    size = np.void((3, 1), dtype=np.dtype([("rows", np.uint64), ("full", np.uint8)], align=True))
    kernel.run(1, 4, (y, np.array([0, 7, 255, 9], np.uint8), size, np.complex64(0.5j)), record=False)
    np.testing.assert_array_equal(y, [1.5, 8.5, 0.5, 0])


MADE = """\
#include <vector>
#define DEVICE_PART(name, value) __device__ float name##_one(float x) { return value; }
#define OPERATION(name, value)                              \\
  DEVICE_PART(name, value)                                  \\
  __global__ void name##Kernel(float* x, int n) {           \\
    if (threadIdx.x < n) x[threadIdx.x] = name##_one(x[threadIdx.x]); \\
  }                                                         \\
  extern "C" std::vector<float> name##Host(float* x, int n) { \\
    if (n > 3) { n = 3; }                                   \\
    name##Kernel<<<1, 32>>>(x, n);                          \\
    return {};                                              \\
  }
OPERATION(twice, 2 * x)
OPERATION(next, x + 1)
__global__ void plain(float* x) { *x = 3; }
"""


def test_a_macro_that_makes_a_kernel_and_a_function_of_the_host(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(MADE)
    assert [(one.name, one.line) for one in read_file(path).kernels] == [
        ("twiceKernel", 13), ("nextKernel", 14), ("plain", 15)
    ]  # fmt: skip
    for name, result in (("twiceKernel", [0, 2, 4, 3]), ("nextKernel", [1, 2, 3, 3]), ("plain", [3, 1, 2, 3])):
        x = np.arange(4, dtype=np.float32)
        softlab.Kernel.from_file(path, name).run(1, 32, (x, 3)[: 1 + (name != "plain")], record=False)
        assert x.tolist() == result
    with pytest.raises(ValueError, match=r"has no kernel 'thriceKernel'.*\n.*\n.*twiceKernel\(float\* x, int n\)"):
        softlab.Kernel.from_file(path, "thriceKernel")


BETWEEN = """\
#define smaller(a, b) ((a) < (b) ? (a) : (b))
#ifdef UNDERSCORE
double seconds_()
#else
double seconds()
#endif
{
  return missing_on_the_device();
}
const int n = 33 * 1024;
const int blocks = // at most 32
    smaller(32, n / 256);
#ifdef OTHER
__device__ int of(int x)
#else
__device__ int of(int x, int y)
#endif
{
  return x + y;
}
__global__ void k(int* x) { *x = of(blocks, n); }
"""


def test_values_by_macros_and_heads_of_functions_in_conditionals(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(BETWEEN)
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,), record=False)
    assert x[0] == 32 + 33 * 1024


WINDOWS = r"""
#include <initializer_list>
#include "..\shared\point.h"
#define SPACE inner
#define CHECK_SIZE(T, bytes) typedef char size_of_##T[sizeof(T) == (bytes) ? 1 : -1]
namespace SPACE {
CHECK_SIZE(Point, 16);
__declspec(noinline) __device__ long long twice(long long x) { return 2 * x; }
__global__ void k(int64_t* x, Point point) {
  size_of_Point one;
  atomicMax(x, (int64_t)point.x);
  atomicCAS(x + 1, (int64_t)5, (int64_t)twice(sizeof(one)));
}
}
"""


def test_files_as_windows_has_them(tmp_path: Path) -> None:
    for folder in ("shared", "own"):
        (tmp_path / folder).mkdir()
    (tmp_path / "shared" / "point.h").write_text("struct __declspec(align(16)) Point { int x; };\n")
    path = tmp_path / "own" / "k.cu"
    path.write_text(WINDOWS)
    assert read_file(path).missing == ()
    x = np.array([1, 5], np.int64)
    softlab.Kernel.from_file(path, "inner::k").run(1, 1, (x, {"x": 3}))
    assert x.tolist() == [3, 2]


@pytest.mark.parametrize(
    "parameter",
    [
        "Nowhere* x",
        "Nowhere<T, 5> x",
        "std::nowhere<T> x",
        "nowhere::Type x",
        "NOWHERE const int x",
        "NOWHERE const nowhere::Type x",
        "NOWHERE T* x",
    ],
)
def test_an_unknown_type_of_a_template_is_an_error(parameter: str) -> None:
    with pytest.raises(softlab.CompileError, match=r"(?i)nowhere"):
        softlab.Kernel(f"template <typename T> __global__ void k({parameter}, T* y) {{ *y = 1; }}", "k<float>")
