"""``Kernel.from_file``: kernels of .cu files as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab import cli
from softlab.cuda.compile import has_header
from softlab.cuda.shims import shim_headers
from softlab.cuda.source_files import located
from softlab.kernel.files import read_file

FILE = """\
#include <cstdio>
#include <cfloat>
#include <vector>
#include <algorithm>
#include "missing_library.h"
#define CHECK(x) if ((x) != cudaSuccess) { printf("error\\n"); exit(1); }
template <typename T> __global__ void clamp(T* x, uint n, T low = -FLT_MAX) {
  uint i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = std::max(low, std::min(x[i], T(INT16_MAX)));
}
template <int factor = 3> __global__ void scale(float* x) { x[threadIdx.x] *= factor; }
namespace deep { __global__ void plain(float* x) { x[threadIdx.x] += M_PI; } }
int main() {
  std::vector<float> host(1000);
  float* x;
  CHECK(cudaMalloc(&x, 4000));
  clamp<float><<<(1000 + 127) / 128, 128>>>(x, 1000, 0.0f);
  return 0;
}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file.cu"
    path.write_bytes(b"\xef\xbb\xbf" + FILE.replace("\n", "\r\n").encode())
    return path


def test_the_instantiation_of_the_host(path: Path) -> None:
    kernel = softlab.Kernel.from_file(path, "clamp")
    assert kernel.program.name == "clamp<float>"
    x = np.linspace(-5e4, 5e4, 1000, dtype=np.float32)
    expected = np.clip(x, 0, 32767)
    run = kernel.run(8, 128, (x, 1000, 0.0))
    np.testing.assert_array_equal(x, expected)
    assert set(run.by_line()) <= {7, 8, 9, 10}, "lines are those of the file"


@pytest.mark.parametrize(
    ("name", "compiled", "after"),
    [("scale", "scale<>", 3.0), ("scale<5>", "scale<5>", 5.0), ("plain", "deep::plain", 1 + np.pi)],
)
def test_names(path: Path, name: str, compiled: str, after: float) -> None:
    kernel = softlab.Kernel.from_file(path, name)
    assert kernel.program.name == compiled
    x = np.ones(2, np.float32)
    kernel.run(1, 2, (x,))
    assert x == pytest.approx(np.full(2, after))


def test_without_a_name_the_kernels_are_listed(path: Path) -> None:
    with pytest.raises(ValueError, match="3 kernels: say which") as caught:
        softlab.Kernel.from_file(path)
    for part in ("template <typename T> clamp", "deep::plain(float* x)", "grid=(8,), block=(128,)"):
        assert part in str(caught.value)


@pytest.mark.parametrize(("name", "message"), [("other", "no kernel 'other'"), ("clamp<", "clamp<")])
def test_wrong_names(path: Path, name: str, message: str) -> None:
    with pytest.raises((ValueError, softlab.CompileError), match=message):
        softlab.Kernel.from_file(path, name)


def test_a_template_without_arguments(tmp_path: Path) -> None:
    path = tmp_path / "t.cu"
    path.write_text("template <int n> __global__ void k(int* x) { *x = n; }\n")
    with pytest.raises(ValueError, match=r"k is a template <int n>: give its arguments"):
        softlab.Kernel.from_file(path)


def test_an_error_names_the_line_and_what_was_left_out(path: Path) -> None:
    text = FILE.replace("+= M_PI", "+= from_the_library(1)")
    path.write_text(text)
    with pytest.raises(softlab.CompileError) as caught:
        softlab.Kernel.from_file(path, "plain")
    assert "file.cu(12)" in str(caught.value)
    assert "missing_library.h" in str(caught.value)
    assert "CUTLASS" not in str(caught.value)
    path.write_text(FILE.replace("+= M_PI", "+= LIBRARY_PI"))
    said = r"No include that was found defines LIBRARY_PI\..* missing(.|\n)*options=\['-DLIBRARY_PI=value'\]"
    with pytest.raises(softlab.CompileError, match=said):
        softlab.Kernel.from_file(path, "plain")
    path.write_text("#include <cute/tensor.hpp>\n" + text)
    with pytest.raises(softlab.CompileError, match=r"are left out: cute/tensor\.hpp(.|\n)*softlab\[cutlass\]"):
        softlab.Kernel.from_file(path, "plain")


def test_a_function_that_only_a_template_argument_names(tmp_path: Path) -> None:
    path = tmp_path / "f.cu"
    path.write_text(
        "__device__ float twice(float x) { return 2 * x; }\n"
        "template <auto f> __global__ void map(float* x) { x[threadIdx.x] = f(x[threadIdx.x]); }\n"
    )
    x = np.ones(4, np.float32)
    softlab.Kernel.from_file(path, "map<twice>").run(1, 4, (x,))
    assert (x == 2).all()


#: Types that a host's variables alone have, as with CuTe.
TILES = """
template <int n> struct Tile { static constexpr int size = n; };
template <int n> __host__ __device__ auto doubled(Tile<n>, float) { return Tile<2 * n>{}; }
template <class T, class Extent, class Step> __global__ void k(T* x, Extent extent, Step const step) {
  x[threadIdx.x] = 100 * Extent::size + step;
}
void deduced(float* x, const float scale, int step) {
  const int N = 3;
  auto small = Tile<N>{};  // auto other = 0;
  Tile<N + 1> other;
  auto twice = doubled(other, float(step));
  k<<<1, 4>>>(x, twice, step);
}
"""
WRITTEN = """
template <class Step> void written(double* x, Step steps) {
  auto tile = Tile<7>{};
  auto step = steps;
  k<double, decltype(tile), int><<<1, 4>>>(x, tile, 5);
  k<double, decltype(tile), decltype(step)><<<1, 4>>>(x, tile, step);
}
"""


@pytest.mark.further
def test_types_of_the_hosts_variables(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(TILES)
    x = np.zeros(4, np.float32)
    kernel = softlab.Kernel.from_file(path, "k")
    kernel.run(1, 4, (x, bytes(1), 6))
    assert x.tolist() == [806] * 4
    path.write_text(TILES + WRITTEN)
    launches = [launch.kernel for launch in read_file(path).launches]
    assert launches == ["k", "k<double, decltype((Tile<7>{})), int>", "k"]
    y = np.zeros(4)
    softlab.Kernel.from_file(path, launches[1]).run(1, 4, (y, bytes(1), 5))
    assert y.tolist() == [705] * 4


def test_a_function_whose_declaration_alone_has_attributes(tmp_path: Path) -> None:
    (tmp_path / "parts.h").write_text(
        "static __device__ __host__ inline float2 made(double, const float *p = nullptr);\n"
        "__device__ int only(int);\n__device__ int other(int);\n"
    )
    path = tmp_path / "f.cu"
    path.write_text(
        '#include <string>\n#include "parts.h"\n'
        "float2 made(double a, const float* p) { float2 r; r.x = a; r.y = p ? *p : -1; return r; }\n"
        "int only(int x) { return x + 1; }\n"
        "int other(std::string text) { return text.size(); }\n"
        "int other(int x) { return 5 * x; }\n"
        "__global__ void k(float* y, int n) { y[0] = made(n).x; y[1] = made(n).y; y[2] = only(n); y[3] = other(n); }\n"
    )
    y = np.zeros(4, np.float32)
    softlab.Kernel.from_file(path, "k").run(1, 1, (y, 7))
    assert y.tolist() == [7, -1, 8, 35]


def test_numbers_of_windows(tmp_path: Path) -> None:
    path = tmp_path / "w.cu"
    path.write_text(
        "#include <Windows.h>\nstruct Sizes { LONG first; ULONGLONG second; BOOL third; HANDLE fourth; };\n"
        "__global__ void k(UINT16* x, DWORD* y, int n) { x[0] = sizeof(Sizes); y[0] = sizeof(LONG) + BYTE(256 + n); }\n"
    )
    x, y = np.zeros(1, np.uint16), np.zeros(1, np.uint32)
    softlab.Kernel.from_file(path, "k").run(1, 1, (x, y, 3))
    assert (x[0], y[0]) == (32, 7)


@pytest.mark.further
def test_a_clock_of_the_host_as_a_variable(tmp_path: Path) -> None:
    path = tmp_path / "c.cu"
    path.write_text(
        "#include <chrono>\n__device__ std::chrono::time_point<std::chrono::steady_clock> start;\n"
        "__global__ void k(int* y) { y[0] = sizeof(start); y[1] = start.time_since_epoch().count(); }\n"
    )
    y = np.full(2, -1, np.int32)
    softlab.Kernel.from_file(path, "k").run(1, 1, (y,))
    assert y.tolist() == [8, 0]


def test_a_kernel_with_the_name_of_a_librarys_function(tmp_path: Path) -> None:
    path = tmp_path / "p.cu"
    path.write_text(
        "namespace library { __device__ int product(int x) { return 3 * x; } }\n"
        "using namespace library;\n"
        "__global__ void product(int* x) { *x = library::product(7); }\n"
    )
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path, "product").run(1, 1, (x,))
    assert x.tolist() == [21]


def test_standard_headers_in_any_source() -> None:
    names = [name for name in shim_headers() if not name.startswith("cub/")]
    assert len(names) > 100
    source = "".join(f"#include <{name}>\n" for name in names)
    source += """
    static_assert(std::is_same_v<std::remove_cv_t<const int>, int> && std::is_integral<uint8_t>::value, "traits");
    extern "C" __global__ void k(double* x) {
      assert(x[0] >= 0);
      x[0] = std::numeric_limits<float>::max() - FLT_MAX;
      x[1] = std::numeric_limits<int64_t>::min() == INT64_MIN;
      x[2] = std::sqrt(x[3]) + std::abs(-2) + std::pow(2.0, 3);
      std::swap(x[3], x[4]);
      x[5] = std::isinf(std::numeric_limits<double>::infinity()) && std::isnan(NAN) && INFINITY > DBL_MAX;
    }
    """
    x = np.array([1, 0, 0, 9, 7, 0], np.float64)
    softlab.Kernel(source, "k").run(1, 1, (x,))
    assert x.tolist() == [0, 1, 13, 7, 9, 1]


@pytest.mark.further
def test_the_whole_of_cub() -> None:
    source = """
    #include <cub/cub.cuh>
    extern "C" __global__ void k(int* x) {
      __shared__ cub::BlockReduce<int, 64>::TempStorage storage;
      int sum = cub::BlockReduce<int, 64>(storage).Sum(x[threadIdx.x]);
      if (threadIdx.x == 0) x[0] = sum;
    }
    """
    x = np.arange(64, dtype=np.int32)
    softlab.Kernel(source, "k").run(1, 64, (x,))
    assert x[0] == 2016


DEDUCED = """\
typedef unsigned int uint;
template <typename T> __global__ void one(const T* __restrict__ x, T* y, int n) { if (n) *y = *x * 3; }
template <class T, class U = int> __global__ void two(T* y, U factor) { y[threadIdx.x] *= factor; }
template <class T> __global__ void both(T* x) { *x = sizeof(T); }
template <class T> __global__ void inner(T* x) { *x = 1; }
template <class T, int n> __global__ void number(T* x) { *x = n; }
template <class S> void host(S* d) { inner<<<1, 1>>>(d); }
void launch(const float* source, double *first) {
  float *d_x, *d_y = nullptr;
  uint factor = 2;
  int* i;
  one<<<1, 4>>>(source, d_y, 4);
  two<<<1, 4>>>(first, factor);
  both<<<1, 1>>>(d_x);
  both<<<1, 1>>>(i);
  number<<<1, 1>>>(i);
}
"""


@pytest.mark.parametrize(
    ("name", "compiled"),
    [("one", "one<float>"), ("two", "two<double, uint>"), ("both", None), ("inner", None), ("number", None)],
)
def test_template_arguments_by_the_types_of_a_launch(tmp_path: Path, name: str, compiled: str | None) -> None:
    path = tmp_path / "deduced.cu"
    path.write_text(DEDUCED)
    if compiled is None:
        with pytest.raises(ValueError, match="is a template"):
            softlab.Kernel.from_file(path, name)
    else:
        assert softlab.Kernel.from_file(path, name).program.name == compiled


def test_the_drivers_name_of_a_texture(tmp_path: Path) -> None:
    path = tmp_path / "driver.cu"
    path.write_text("__global__ void k(float* y, CUtexObject t) { *y = tex1D<float>(t, 1.0f); }\n")
    y = np.zeros(1, np.float32)
    softlab.Kernel.from_file(path, "k").run(1, 1, (y, softlab.Texture(np.array([2, 4], np.float32))))
    assert y[0] == 3


def test_another_kernel_of_the_file_that_does_not_compile(tmp_path: Path) -> None:
    path = tmp_path / "two.cu"
    path.write_text(
        "typedef float real;\nconst real width = 1.5;\nconst real area = width * width;\n"
        "__global__ void old(int* x) { *x = wrong(*x); }\n"
        "__global__ void good(float* x) { *x = area; }\n"
        "__global__ void parent(float* x) { good<<<1, 1>>>(x); cudaDeviceSynchronize(); }\n"
    )
    x = np.zeros(1, np.float32)
    kernel = softlab.Kernel.from_file(path, "good")
    run = kernel.run(1, 1, (x,))
    assert x[0] == 2.25
    assert "relocatable" not in " ".join(kernel.program.options), "the launch of another kernel changes nothing"
    assert set(run.by_line()) == {5}
    with pytest.raises(softlab.CompileError, match='"wrong" is undefined') as caught:
        softlab.Kernel.from_file(path, "old")
    assert "1 error detected" in str(caught.value)


def test_a_package_with_a_missing_header_is_named(tmp_path: Path) -> None:
    if has_header("curand_kernel.h"):
        pytest.skip("curand_kernel.h is installed")
    path = tmp_path / "k.cu"
    path.write_text("#include <curand_kernel.h>\n__global__ void k(float* x) { curandState s; }\n")
    with pytest.raises(softlab.CompileError, match=r"softlab\[curand\]"):
        softlab.Kernel.from_file(path, "k")


REFERENCES = """\
texture<float, 2, cudaReadModeElementType> image;
static texture<unsigned char, cudaTextureType2D, cudaReadModeNormalizedFloat> mask;
texture<float4> table, unused;
surface<void, cudaSurfaceType2D> drawn;
__global__ void k(float* out) {
  int i = threadIdx.x, x = i % 4, y = i / 4;
  out[i] = tex2D(image, x + 0.5f, y + 0.5f) * tex2D(mask, x, y) + tex1Dfetch(table, i).y;
  surf2Dwrite(out[i], drawn, 4 * x, y);
}
int main() { image.normalized = true; cudaBindTexture(0, table, 0, 128); k<<<1, 8>>>(0); }
"""


def test_a_texture_reference_that_a_header_has_too(tmp_path: Path) -> None:
    reference = "texture<float, 1, cudaReadModeElementType> table;\n"
    (tmp_path / "table.h").write_text(f"#pragma once\n{reference}")
    path = tmp_path / "k.cu"
    path.write_text(
        f'#include "table.h"\n{reference}__global__ void k(float* out) {{ *out = tex1Dfetch(table, 2); }}\n'
    )
    kernel, out = softlab.Kernel.from_file(path), np.zeros(1, np.float32)
    kernel.constants["table"] = softlab.Texture(np.arange(4, dtype=np.float32), filter="point")
    kernel.run(1, 1, (out,), record=False)
    assert out[0] == 2
    path.write_text(
        '#include "table.h"\nint n;\nint n;\n__device__ int m; __device__ int m;\n__global__ void k() { m = 1; }\n'
    )
    with pytest.raises(softlab.CompileError, match='"m" has already been defined'):
        softlab.Kernel.from_file(path)


def test_texture_references_are_constant_variables(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(REFERENCES)
    kernel = softlab.Kernel.from_file(path)
    out, drawn = np.zeros(8, np.float32), np.zeros((2, 4), np.float32)
    with pytest.raises(softlab.Error, match="needs a Texture"):
        kernel.run(1, 8, (out,))
    image = np.arange(8, dtype=np.float32).reshape(2, 4)
    table = np.arange(32, dtype=np.float32).reshape(8, 4)
    kernel.constants["image"] = softlab.Texture(image, filter="point")
    kernel.constants["mask"] = softlab.Texture(np.full((2, 4), 51, np.uint8), filter="point", read="normalized")
    kernel.constants["table"] = softlab.Texture(table, channels=4)
    kernel.constants["drawn"] = softlab.Surface(drawn)
    kernel.run(1, 8, (out,))
    np.testing.assert_allclose(out, image.ravel() / 5 + table[:, 1], rtol=1e-6)
    np.testing.assert_array_equal(drawn.ravel(), out)


def test_folders_of_headers_in_options_are_read_like_those_beside_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "far" / "away"
    folder.mkdir(parents=True)
    (folder / "own.h").write_text("inline void host() { std::cout << 1; }\n#define DEVICE __device__\n")
    (tmp_path / "k").mkdir()
    path = tmp_path / "k" / "k.cu"
    path.write_text(
        "#include <own.h>\nDEVICE int twice(int x) { return 2 * x; }\n__global__ void k(int* x) { *x = twice(*x); }\n"
    )
    with pytest.raises(softlab.CompileError, match=r"own\.h.*names a folder of headers"):
        softlab.Kernel.from_file(path)
    x = np.array([4], np.int32)
    softlab.Kernel.from_file(path, options=[f"-I{folder}"]).run(1, 1, (x,))
    assert x[0] == 8


def test_the_example_of_template_arguments(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "enum class Order { up, down };\nenum kind_t { FIRST = 3, LAST };\n"
        "template <Order o, kind_t kind, typename T, int n, bool b, int m = 1> __global__ void k(T* x) { *x = kind; }\n"
        "template <int n> __global__ void launched(int* x) { *x = n; }\n"
        "int main() { launched<7><<<1, 1>>>(0); launched<8><<<1, 1>>>(0); }\n"
    )
    with pytest.raises(ValueError, match="as in 'k<Order::up, FIRST, float, 32, true>'"):
        softlab.Kernel.from_file(path, "k")
    with pytest.raises(ValueError, match="as in 'launched<7>'"):
        softlab.Kernel.from_file(path, "launched")
    x = np.zeros(1, np.float32)
    softlab.Kernel.from_file(path, "k<Order::up, FIRST, float, 32, true>").run(1, 1, (x,))
    assert x[0] == 3


def test_a_specialisation_is_a_kernel_by_its_templates_name(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "template <typename T> __global__ void k(T* x);\n"
        "namespace a { template <typename T> __global__ void s(T* x); }\n"
        "template <> __global__ void k<float>(float* x) { *x = 1; }\n"
        "template <> __global__ void k<int>(int* x) { *x = 2; }\n"
    )
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path, "k<int>").run(1, 1, (x,))
    assert x[0] == 2


def test_a_part_of_a_program_inside_extern_c(tmp_path: Path) -> None:
    (tmp_path / "types.h").write_text("typedef struct { int key; } node;\n")
    (tmp_path / "main.cu").write_text(
        '#ifdef __cplusplus\nextern "C" {\n#endif\n#include "types.h"\n#include "part.cu"\nvoid host() { }\n'
        "#ifdef __cplusplus\n}\n#endif\n"
    )
    path = tmp_path / "part.cu"
    path.write_text('extern "C"__global__ void k(node* n, int* x) { *x = n->key; }\n')
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (np.array([5], np.int32), x))
    assert x[0] == 5


def test_a_long_list_of_names_in_the_host_code_is_read_at_once(tmp_path: Path) -> None:
    """Each further name once multiplied the time that the types of a launch took by the blanks before it."""
    names = f",\n{50 * ' '}".join(f"name{k}" for k in range(60))
    path = tmp_path / "k.cu"
    path.write_text(
        "template <typename T> __global__ void k(T* x) { *x = 1; }\n"
        f"int main() {{ float* x; call(\n#ifdef A\n{names},\n#endif\n1); k<<<1, 1>>>(x); }}\n"
    )
    assert softlab.Kernel.from_file(path).program.name == "k<float>"


def test_a_conditional_in_the_middle_of_a_declaration(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "template <class T>\n#ifdef __CUDACC__\n__host__\n  __device__\n#endif\n"
        "T least(T a, T b) { return a < b ? a : b; }\n"
        'extern "C" inline int blocks(int n) { return n / 32; }\n'
        "__global__ void k(int* x) { *x = least(*x, 3); }\n"
    )
    x = np.full(1, 5, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 3


def test_a_macro_of_a_header_makes_what_a_kernel_needs(tmp_path: Path) -> None:
    (tmp_path / "pool.h").write_text(
        "template <typename T> struct Pool { __device__ T* get(); };\n"
        "#define POOL(T, name) template <> struct Pool<T> { \\\n"
        "  __device__ T* get() { extern __shared__ T name[]; return name; } };\n"
        "POOL(int, ints)\n"
        "#define TWICE(name, T) __global__ void name(T* x) { x[threadIdx.x] *= 2; }\n"
    )
    path = tmp_path / "k.cu"
    path.write_text(
        '#include "pool.h"\nTWICE(twice_int, int)\n'
        "__global__ void turn(int* x) {\n  int* kept = Pool<int>().get();\n  kept[threadIdx.x] = x[threadIdx.x];\n"
        "  __syncthreads();\n  x[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];\n}\n"
    )
    x = np.arange(64, dtype=np.int32)
    softlab.Kernel.from_file(path, "turn").run(1, 64, (x,), smem=256)
    softlab.Kernel.from_file(path, "twice_int").run(1, 64, (x,))
    np.testing.assert_array_equal(x, 2 * np.arange(64)[::-1])


def test_a_conditional_around_launch_bounds(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "template <int warps>\n#if !defined(OTHER_GPU)\n__launch_bounds__(warps * 32, 1)\n#endif // OTHER_GPU\n"
        "static __global__ void k(int* x) { x[threadIdx.x] = warps; }\n"
    )
    x = np.zeros(64, np.int32)
    softlab.Kernel.from_file(path, "k<2>").run(1, 64, (x,))
    assert (x == 2).all()


def test_a_file_named_as_a_header_of_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "vendors").mkdir()
    (tmp_path / "vendors" / "cuda_fp16.h").write_text("#pragma once\n#include <cuda_fp16.h>\n#define SCALE 3\n")
    path = tmp_path / "k.cu"
    path.write_text('#include "vendors/cuda_fp16.h"\n__global__ void k(__half* x) { *x = __float2half(SCALE); }\n')
    x = np.zeros(1, np.float16)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 3


def test_what_nvcc_defines(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#include <cstdint>\n#include <cuda/std/utility>\n"
        "#ifndef __NVCC__\n#define __device__\n#endif\n"
        "__device__ void next(uint64_t* state) { *state += 1; }\n"
        "__global__ void k(unsigned long* x) { next(x); cuda::std::uint64_t y = 2; x[0] += y; }\n"
    )
    x = np.array([5], np.uint64)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 8


def test_initializers_that_name_members(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "struct Base { char name; int votes; };\n"
        "__global__ void k(int* x) {\n"
        "  Base bases[2] = {{.name = 'A', .votes = x[0]}, {.name = 'C', .votes = x[1]}};\n"
        "  x[2] = bases[x[0] > x[1] ? 0 : 1].name;\n}\n"
    )
    x = np.array([3, 9, 0], np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[2] == ord("C")


def test_types_that_a_missing_header_would_bring(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("#include <torch/extension.h>\n__global__ void k(half* x) { *x = __float2half(2.5f); }\n")
    x = np.zeros(1, np.float16)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 2.5


def test_headers_of_a_folder_that_the_options_name(tmp_path: Path) -> None:
    (tmp_path / "library" / "deep").mkdir(parents=True)
    (tmp_path / "library" / "deep" / "scale.hpp").write_text("#pragma once\n#define SCALE 4\n")
    (tmp_path / "own").mkdir()
    path = tmp_path / "own" / "k.cu"
    path.write_text("#include <deep/scale.hpp>\n__global__ void k(int* x) { *x = SCALE; }\n")
    x = np.zeros(1, np.int32)
    with pytest.raises(softlab.CompileError, match=r"not found and are left out: deep/scale.hpp. options=\['-I"):
        softlab.Kernel.from_file(path)
    softlab.Kernel.from_file(path, options=[f"-I{tmp_path / 'library'}"]).run(1, 1, (x,))
    assert x[0] == 4


def test_a_part_of_a_program(tmp_path: Path) -> None:
    """The part uses types, constants and functions that stand before it in the file that includes it."""
    (tmp_path / "src").mkdir()
    part = tmp_path / "src" / "kernels.cu"
    part.write_text(
        "template <int n> __global__ void shift(Point* points) { points[threadIdx.x].x += n * STEP; }\n"
        "__global__ void move(Point* points) {\n  points[threadIdx.x].x += STEP * twice(offset);\n}\n"
    )
    (tmp_path / "src" / "all.h").write_text('#pragma once\n#include "kernels.cu"\n')
    (tmp_path / "main.cu").write_text(
        "#include <cstdio>\n#include <iostream>\n#define STEP 2\nstruct Point { float x, y; };\n"
        "__constant__ float offset;\n__device__ float twice(float x) { return 2 * x; }\n"
        "static std::string name;\n#ifdef SKIPPED\nnot code\n#else\n"
        '#include "src/all.h"\n#endif\nint main() { Point* p; shift<3><<<1, 4>>>(p); move<<<1, 4>>>(p); }\n'
    )
    points = np.zeros((4, 2), np.float32)
    kernel = softlab.Kernel.from_file(part, "move")
    kernel.constants["offset"] = np.float32(1.5)
    run = kernel.run(1, 4, (points,))
    np.testing.assert_array_equal(points, [[6, 0]] * 4)
    assert set(run.by_line()) == {2, 3, 4}, "lines are those of the part"
    assert softlab.Kernel.from_file(part, "shift").program.name == "shift<3>"
    part.write_text(part.read_text() + "__global__ void wrong(Line* x) { x->a = STEP; }\n")
    with pytest.raises(softlab.CompileError, match="Another file includes this one") as caught:
        softlab.Kernel.from_file(part, "wrong")
    assert 'identifier "Line" is undefined' in str(caught.value)


@pytest.mark.further
def test_more_of_namespace_std(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#include <tuple>\n#include <type_traits>\n#include <string>\n"
        "struct Settings { std::string name; float scale; };\n"
        "template <typename T> __global__ void k(T* x, Settings s) {\n"
        "  using U = std::make_unsigned_t<std::decay_t<const T&>>;\n"
        "  auto pair = std::make_tuple(U(x[0]) >> 31, std::numeric_limits<T>::max());\n"
        "  x[0] = std::get<0>(pair); x[1] = std::get<1>(pair); x[2] = sizeof(Settings) - s.scale;\n}\n"
    )
    x = np.array([-1, 0, 0], np.int32)
    settings = bytes(32) + np.float32(8).tobytes() + bytes(4)
    softlab.Kernel.from_file(path, "k<int>").run(1, 1, (x, settings))
    assert x.tolist() == [1, 2**31 - 1, 32]


def test_functions_without_a_space_and_macros_of_the_makefile(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("CFLAGS = -O3 -DREAL=float \\\n  -DWIDTH=4 -DOTHER=$(X)\n")
    path = tmp_path / "k.cu"
    path.write_text(
        "struct Box { int size(); static constexpr int half(int n) { return n / 2; } };\n"
        "__global__ void k(REAL* x) { x[threadIdx.x] = WIDTH + Box::half(6); }\n"
    )
    x = np.zeros(2, np.float32)
    kernel = softlab.Kernel.from_file(path)
    kernel.run(1, 2, (x,))
    assert x.tolist() == [7, 7]
    assert {"-DREAL=float", "-DWIDTH=4"} <= set(kernel.program.options)
    path.write_text(path.read_text().replace("WIDTH", "OTHER"))
    with pytest.raises(softlab.CompileError, match='"OTHER" is undefined'):
        softlab.Kernel.from_file(path)


def test_overloaded_kernels(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#define REAL float\n"
        "__global__ void k(const REAL* __restrict__ x, int* y, // the result\n  int n = 1) { *y = n; }\n"
        "__global__ void k(int* y) { *y = 5; }\n"
    )
    with pytest.raises(ValueError, match=r"give the parameters as well, as in 'k\(const REAL\*, int\*, int\)'"):
        softlab.Kernel.from_file(path, "k")
    with pytest.raises(ValueError, match=r"No kernel k has the parameters \(float\*\)"):
        softlab.Kernel.from_file(path, "k(float*)")
    x, y = np.zeros(1, np.float32), np.zeros(1, np.int32)
    softlab.Kernel.from_file(path, "k(int *)").run(1, 1, (y,))
    assert y[0] == 5
    softlab.Kernel.from_file(path, "k(const REAL *x, int *, int n)").run(1, 1, (x, y, 9))
    assert y[0] == 9


def test_overloaded_templates(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "template <typename T, typename U> __global__ void cast(T* y, const U* x) { *y = T(*x); }\n"
        "template <typename T, typename U> __global__ void cast(T* y, const U* x, int n) { *y = T(*x) + n; }\n"
    )
    with pytest.raises(ValueError, match=r"cast<float, int>\(T\*, const U\*\)"):
        softlab.Kernel.from_file(path, "cast<float, int>")
    y = np.zeros(1, np.float32)
    softlab.Kernel.from_file(path, "cast<float, int>(T*, const U*, int)").run(1, 1, (y, np.full(1, 5, np.int32), 2))
    assert y[0] == 7


@pytest.mark.further
def test_old_operators_of_cub(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#include <cub/cub.cuh>\n__global__ void k(int* x) {\n"
        "  __shared__ cub::WarpReduce<int>::TempStorage storage;\n"
        "  int most = cub::WarpReduce<int>(storage).Reduce(x[threadIdx.x], cub::Max());\n"
        "  if (threadIdx.x == 0) x[0] = most;\n}\n"
    )
    x = np.arange(32, dtype=np.int32)
    softlab.Kernel.from_file(path).run(1, 32, (x,))
    assert x[0] == 31


def test_what_a_launch_says_of_template_arguments(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "template <int n, bool up, typename T> __global__ void k(T* x) { *x = up ? n : -n; }\n"
        "template <typename scalar_t> __global__ void of_macro(scalar_t* x) { *x = 1; }\n"
        "void host(double* x) {\n  const bool direction = true;\n  const int size = 8;\n"
        "  k<2 * size, direction><<<1, 1>>>(x);\n"
        "  DISPATCH(x.type(), [&] { of_macro<scalar_t><<<1, 1>>>(x); });\n}\n"
    )
    assert softlab.Kernel.from_file(path, "k").program.name == "k<16, true, double>"
    with pytest.raises(ValueError, match="of_macro is a template <typename scalar_t>: give its arguments"):
        softlab.Kernel.from_file(path, "of_macro")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#if WITH_K < 0\n__global__ void k(int* x) { *x = 1; }\n#endif\n", r"#if WITH_K < 0 \(line 1\)"),
        ("__device__ int other(int);\n__global__ void k(int* x) { *x = other(1); }\n", "another file of the program"),
    ],
)
def test_what_a_file_lacks_is_said(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(text)
    with pytest.raises(softlab.CompileError, match=message):
        softlab.Kernel.from_file(path, "k")


def test_a_run_says_which_header_was_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "own.h").write_text("#define VALUE 3\n")
    path = tmp_path / "k.cu"
    path.write_text(
        '#include "own.h"\ntemplate <int n> __global__ void k(int* x) { *x = n * VALUE; }\n'
        "__global__ void other(int* x) { *x = VALUE; }\n"
    )
    remark = 'k.cu includes "own.h", which is not beside it: common/own.h is taken'
    kernel = softlab.Kernel.from_file(path, "other")
    for one in (kernel, kernel.sibling("k<2>"), softlab.Kernel.from_file(path, "other")):
        run = one.run(1, 1, (np.zeros(1, np.int32),), record=False)
        assert run.remarks == (remark,), "also of a program in the cache"
    launch = [str(path), "--kernel", "other", "--grid", "1", "--block", "1", "--args", "x=zeros(1)"]
    page = tmp_path / "page.html"
    assert cli.main(["run", *launch, "--report", str(page)]) == 0
    assert remark in " ".join(capsys.readouterr().out.split())
    assert "common/own.h is taken" in page.read_text(encoding="utf-8")
    assert cli.main(["check", *launch]) == 0
    assert f"{path}: note: {remark}\n" in capsys.readouterr().out
    for command in ("run", "check"):
        assert cli.main([command, *launch, "--json"]) == 0
        assert "common/own.h is taken" in capsys.readouterr().out
    path.write_text('#include "own.h"\n__global__ void other(int* x) { *x = VALUES; }\n')
    with pytest.raises(softlab.CompileError, match=r"common/own\.h is taken"):
        softlab.Kernel.from_file(path)


WRAPPER = """\
#include "warp.h"
template <int head, int rows, typename T, bool causal> __global__ void attend(T* x) {
  x[threadIdx.x] = causal ? rows * head : 0;
}
namespace host {
template <int kHead, typename T, int kStages = 2>
void launch(T* x) {
  constexpr int kRows = (kHead < 128) ? kHead / 2 : kHead / 4;
  constexpr int kWarps = kRows / 16;  // where kRows = 32, as "kHead=64; /*" has it
  const bool causal = kStages == 2;
  attend<kHead, kRows, T, causal><<<dim3(kStages, 3), kWarps * WARP, kHead * sizeof(T)>>>(x);
}
}
"""


def test_a_launch_that_depends_on_the_template_of_its_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrapper.cuh").write_text(WRAPPER)
    (tmp_path / "warp.h").write_text("#pragma once\n#define WARP 32\n")
    path = tmp_path / "k.cu"
    include = '#include "wrapper.cuh"\n'
    path.write_text(f"{include}int main() {{ float* x; host::launch<64, float>(x); }}\n")
    assert softlab.Kernel.from_file(path, "attend").program.name == "attend<64, 32, float, 1>"
    # By another template of the host, by an explicit instantiation, and by a call with an unknown argument.
    path.write_text(
        f"{include}template <int n> void all(float* x) {{ host::launch<n, float>(x);\n"
        "  host::launch<2 * n, float>(x); }\n"
        "template void host::launch<256, double, 3>(double*);\n"
        "int main() { float* x; all<64>(x); all<UNKNOWN + unknown>(x); }\n"
    )
    code = read_file(path)
    assert {(one.kernel, one.grid, one.block, one.smem) for one in code.launches} == {
        ("attend<64, 32, float, 1>", (2, 3), (64,), 256),
        ("attend<128, 32, float, 1>", (2, 3), (64,), 512),
        ("attend<256, 64, double, 0>", (3, 3), (128,), 2048),
        ("attend", (2, 3), "kWarps * WARP", "kHead * sizeof(T)"),
    }
    assert {one.types for one in code.launches} == {("float*",), ("double*",)}
    with pytest.raises(ValueError, match="as in 'attend<64, 32, float, 1>'"):
        softlab.Kernel.from_file(path, "attend")
    asked = [str(path), "--kernel", "attend<256, 64, double, 0>", "--args", "x=zeros(128)"]
    assert cli.main(["run", *asked]) == 0
    assert "--block 128 is that of the launch in line 11" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("host", "launched"),
    [
        ("template <int n> void f() { k<n><<<1, 1>>>(0); }", ["k"]),
        ("template <int n> void f() { k<n><<<1, 1>>>(0); f<n>(); }", ["k"]),
        ("template <int n> void f() { k<n><<<1, 1>>>(0); f<n + 1>(); }\nvoid g() { f<3>(); }",
         ["k<3>", "k<4>", "k<5>", "k<6>"]),
        ("template <int n> void f() { constexpr int m = read(n); k<m><<<1, 1>>>(0); }\nvoid g() { f<3>(); }", ["k"]),
        ("template <int... n> void f() { k<sizeof...(n)><<<1, 1>>>(0); }\nvoid g() { f<3, 4>(); }", ["k"]),
        ("template <int n> void f() { k<2 * n><<<1, 1>>>(0); }\nvoid g() { f<A + B>(); }", ["k<2 * (A + B)>"]),
        ("struct A { template <int n> static void f() { k<n + 1><<<1, 1>>>(0); } };\nvoid g() { A::f<3>(); }",
         ["k<4>"]),
        ("void f() { using A = pair<int, n::A>; typedef wrap<A> B; using A = B; k<sizeof(A)><<<1, 1>>>(0); }",
         ["k<sizeof(wrap<pair<int, n::A>>)>"]),
        ("template <class T> void f() { using A = wrap<T>; using B = wrap<A>; k<sizeof(B)><<<1, 1>>>(0); }", ["k"]),
        ("template <int n, int m = n * 2> void f() { k<m><<<1, 1>>>(0); }\nvoid g() { f<3>(); f<3, 4>(); }",
         ["k<6>", "k<4>"]),
    ],
)  # fmt: skip
def test_instances_of_functions_of_the_host(tmp_path: Path, host: str, launched: list[str]) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"template <int n> __global__ void k(int* x) {{ *x = n; }}\n{host}\n")
    assert sorted(one.kernel for one in read_file(path).launches) == sorted(launched)


@pytest.mark.further
def test_an_overloaded_kernel_of_a_namespace_with_types_of_that(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "namespace a { namespace b {\ntemplate <int N> struct Few { int held[N]; };\n"
        "__global__ void k(int* x, Few<2> few) { *x = few.held[1]; }\n__global__ void k(float* x) { *x = 1; }\n} }\n"
    )
    x = np.zeros(1, np.int32)
    kernel = softlab.Kernel.from_file(path, "a::b::k(int*, Few<2>)")
    kernel.run(1, 1, (x, {"held": np.array([3, 4], np.int32)}), record=False)
    assert x[0] == 4


@pytest.mark.parametrize("top", ["README.md", ".gitignore", ""])
def test_a_copy_of_a_repository_without_git(tmp_path: Path, top: str) -> None:
    """An archive that was unpacked: the outermost folder with a README is its top."""
    path = tmp_path / "copy" / "src" / "a" / "b" / "c" / "d" / "e" / "part" / "k.cu"
    header = tmp_path / "copy" / "other" / "deep" / "sizes.h"
    for file, text in ((path, '#include "sizes.h"\n'), (header, "#define SIZE 4\n"), (path.parent / "README.md", "")):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    if top:
        (tmp_path / "copy" / top).write_text("")
    assert located(path, "sizes.h").path == (header if top else None)


def test_a_header_of_the_compiler_goes_before_one_from_elsewhere_in_the_checkout(tmp_path: Path) -> None:
    """Another program of the repository has a header of that name: the compiler would not look there."""
    path = tmp_path / "one" / "k.cu"
    for file, text in (
        (path, '#include "cuda.h"\n#include "own.h"\n__global__ void k(int* x) { *x = VALUE; }\n'),
        (tmp_path / "other" / "util" / "cuda.h", "#define VALUE 1\n"),
        (tmp_path / "other" / "own.h", "#ifndef VALUE\n#define VALUE 2\n#endif\n"),
        (tmp_path / "README.md", ""),
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    kernel, x = softlab.Kernel.from_file(path, "k"), np.zeros(1, np.int32)
    kernel.run(1, 1, (x,), record=False)
    assert x[0] == 2
    assert [one.partition(" is taken")[0] for one in kernel.program.remarks] == [
        'k.cu includes "own.h", which is not beside it: ../other/own.h'
    ]


def test_headers_of_cuda_whose_texts_are_for_nvcc(tmp_path: Path) -> None:
    """What the device needs of them is built in; some have functions for the host alone, others lie in a package that
    not everybody has."""
    names = (
        "channel_descriptor common_functions device_double_functions device_functions driver_functions host_config "
        "host_defines math_functions cudaGL cuda_device_runtime_api driver_types vector_functions math_constants"
    )
    path = tmp_path / "k.cu"
    includes = "".join(f'#include "{name}.h"\n' for name in names.split())
    path.write_text(f"{includes}__global__ void k(float* x) {{ __syncthreads(); *x = fmaxf(*x, CUDART_PI_F); }}\n")
    kernel, x = softlab.Kernel.from_file(path), np.zeros(1, np.float32)
    kernel.run(1, 1, (x,), record=False)
    assert x[0] == np.float32(np.pi)
    assert not kernel.program.remarks


@pytest.mark.parametrize("others", [15, 16])
def test_a_file_of_many_kernels_is_compiled_without_the_other_ones(tmp_path: Path, others: int) -> None:
    path = tmp_path / "many.cu"
    texts = [f"__global__ void k{number}(float* x) {{ x[threadIdx.x] = {number}; }}\n" for number in range(others)]
    path.write_text(f"{''.join(texts)}__constant__ float c = 3;\n__global__ void wanted(float* x) {{ *x = c; }}\n")
    kernel, x = softlab.Kernel.from_file(path, "wanted"), np.zeros(1, np.float32)
    assert kernel.program.ptx.count(".entry") == (16 if others == 15 else 1)
    kernel.run(1, 1, (x,))
    assert x[0] == 3


def test_a_kernel_of_many_that_does_not_compile_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "many.cu"
    texts = [f"__global__ void k{number}(float* x) {{ x[threadIdx.x] = {number}; }}\n" for number in range(20)]
    path.write_text(f"{''.join(texts)}__global__ void wanted(float* x) {{ *x = missing; }}\n")
    with pytest.raises(softlab.CompileError, match='identifier "missing" is undefined'):
        softlab.Kernel.from_file(path, "wanted")
