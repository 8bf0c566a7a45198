"""``Kernel.from_file``: what nvcc takes and NVRTC alone does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.cuda.compile import compile_program
from softlab.kernel.files import read_file
from softlab.kernel.gnu_forms import in_standard_forms

FORMS = """\
#include <cstdio>
#define LARGER(a, b) ({ __typeof__(a) first = (a); typeof(b) second = (b); first > second ? first : second; })
#define POINT(v) (float2){v, 2 * (v)}
struct Range { __device__ Range(unsigned from, unsigned to) : from(from), to(to) {} unsigned from, to; };
__device__ Range whole(const int* ends) { return {ends[0], ends[1]}; }
__global__ void forms(const int* x, int* y) {
  float3 a = (float3){1, 2, 3}; /* (float3){4, 5, 6} */
  const float2 b = POINT(x[0]);
  auto added = [=] __device__(int more) { return x[1] + more; };
  if (x[0] > 0) {
    y[0] = a.y + b.y;
  }
  y[1] = LARGER(x[0], x[1]) + LARGER(1, LARGER(x[0], 2));
  switch (x[2]) {
    case 1 ... 3: y[2] = 7; break;
    case 'a' ... 'c': y[2] = 8; break;
    default: y[2] = 9;
  }
  y[3] = added(whole(x).to);
  y[4] = __INT_MAX__ - x[0];
  printf("%" PRIu64 "\\n", static_cast<unsigned long>(x[0]));
}
int main() { forms<<<1, 1>>>(nullptr, nullptr); }
"""


def test_forms_of_gnu_and_of_nvcc(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "forms.cu"
    path.write_text(FORMS)
    kernel = softlab.Kernel.from_file(path)
    x, y = np.array([5, 6, 98], np.int32), np.zeros(5, np.int32)
    kernel.run(1, 1, (x, y), record=False)
    assert y.tolist() == [12, 6 + 5, 8, 12, 2**31 - 6]
    assert capsys.readouterr().out == "5\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("return (P){1};", "return P{1};"),
        ("f((a::P<int, 2>) {1}, (struct P){2});", "f(a::P<int, 2>{1}, P{2});"),
        ("if (ready) { x = 1; } else while (x) { --x; }", None),
        ("[&](int) { return 1; }; P& operator=(P) { return *this; }", None),
        ('s = "(P){1}"; // (P){1}', None),
        ("y = ({ int a = x; f(a); a + 1; });", "y = ([&]{ int a = x; f(a); return  a + 1; }());"),
        ("y = ({ if (x) return; x; }); f({1, 2}); g({{1}, {2}});", None),
        ("case 'x' ... 'z': case 1 ... N:", "case 120: case 121: case 122: case 1 ... N:"),
        ("f([=] __host__ __device__ (int i) {});", "f([=] (int i) {});"),
        ("int a[3]; __device__ int b[2];", None),
    ],
)  # fmt: skip
def test_what_is_written_otherwise(tmp_path: Path, text: str, written: str | None) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int* x) { x[0] = 1; }\n")
    code = replace(read_file(path, "k"), source=text)
    assert in_standard_forms(code).source == (text if written is None else written)


MACROS = """\
#pragma once
#ifdef __NVCC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif
#if defined(__linux__) && __GNUC__ >= 5
#define ALIGNED __attribute__((aligned(16)))
#else
#define ALIGNED
#endif
"""
ALIGNED = """\
#include "macros.h"
struct ALIGNED Pair { float a, b; };
BOTH int size() { return sizeof(Pair); }
__global__ void sizes(int* y) { y[0] = size(); }
"""


def test_conditionals_see_the_macros_that_nvcc_has(tmp_path: Path) -> None:
    (tmp_path / "macros.h").write_text(MACROS)
    path = tmp_path / "sizes.cu"
    path.write_text(ALIGNED)
    kernel = softlab.Kernel.from_file(path)
    y = np.zeros(1, np.int32)
    run = kernel.run(1, 1, (y,), record=False)
    assert y[0] == 16
    assert kernel.program.remarks == run.remarks == ()


UNKNOWN = """\
#ifdef __GNUC__
#include <none.h>
__device__ none::type n;
#else
__device__ int n = 2;
#endif
__global__ void k(int* y) { y[0] = n; }
"""


def test_a_program_that_does_not_compile_with_the_macros_of_gnu(tmp_path: Path) -> None:
    path = tmp_path / "sizes.cu"
    path.write_text(UNKNOWN)
    kernel = softlab.Kernel.from_file(path)
    y = np.zeros(1, np.int32)
    kernel.run(1, 1, (y,), record=False)
    assert y[0] == 2
    assert any("__GNUC__" in said for said in kernel.program.remarks)


ONLY_NVRTC = """\
#include "chosen.h"
#include <cuda_fp16.h>
#if __INT_MAX__ > 32767 && !defined(__EDG__)
#define MORE 10
#else
#define MORE 20
#endif
__global__ void k(int* y) { y[0] = CHOSEN + MORE + (int)__half2float(__float2half(100.0f)); }
"""
CHOSEN = """\
#pragma once
#ifdef __CUDACC_RTC__
#define CHOSEN 1
#else
#define CHOSEN 2
#endif
"""


def test_conditionals_find_no_macro_of_nvrtc(tmp_path: Path) -> None:
    (tmp_path / "chosen.h").write_text(CHOSEN)
    path = tmp_path / "chosen.cu"
    path.write_text(ONLY_NVRTC)
    kernel = softlab.Kernel.from_file(path)
    y = np.zeros(1, np.int32)
    kernel.run(1, 1, (y,), record=False)
    assert y[0] == 112
    assert kernel.program.remarks == ()


WITHOUT_NVRTC = """\
#ifdef __CUDACC_RTC__
__device__ int n = 3;
#else
#include <none.h>
__device__ none::type n;
#endif
#ifdef __linux__
#define MORE 10
#else
#define MORE 20
#endif
__global__ void k(int* y) { y[0] = n + MORE; }
"""


def test_a_program_that_does_not_compile_without_the_macros_of_nvrtc(tmp_path: Path) -> None:
    path = tmp_path / "chosen.cu"
    path.write_text(WITHOUT_NVRTC)
    kernel = softlab.Kernel.from_file(path)
    y = np.zeros(1, np.int32)
    kernel.run(1, 1, (y,), record=False)
    assert y[0] == 13
    assert ["__CUDACC_RTC__" in said for said in kernel.program.remarks] == [True]


@pytest.mark.parametrize("folder", [False, True])
def test_conditionals_of_a_text_find_no_macro_of_nvrtc(folder: bool, tmp_path: Path) -> None:
    (tmp_path / "chosen.h").write_text(CHOSEN)
    source = ONLY_NVRTC if folder else ONLY_NVRTC.replace('#include "chosen.h"\n', CHOSEN)
    kernel = softlab.Kernel(source, "k", options=[f"-I{tmp_path}"] if folder else [])
    y = np.zeros(1, np.int32)
    kernel.run(1, 1, (y,), record=False)
    assert y[0] == 112
    assert kernel.program.remarks == ()


def test_a_text_that_only_the_macros_of_nvrtc_compile() -> None:
    kernel = softlab.Kernel(WITHOUT_NVRTC, "k")
    y = np.zeros(1, np.int32)
    kernel.run(1, 1, (y,), record=False)
    assert y[0] == 13
    assert ["__CUDACC_RTC__" in said for said in kernel.program.remarks] == [True]


BARRIER = """\
#include <cstdint>
#include <cuda_awbarrier_primitives.h>
__global__ void turned(const int* x, int* y) {
  __shared__ uint64_t own;
  __shared__ __mbarrier_t named;
  __shared__ int kept[64];
  if (threadIdx.x == 0) {
    __mbarrier_init(&own, blockDim.x);
    __mbarrier_init(&named, blockDim.x);
  }
  __syncthreads();
  kept[threadIdx.x] = x[threadIdx.x];
  const __mbarrier_token_t arrived = __mbarrier_arrive(&own);
  while (!__mbarrier_test_wait(&own, arrived)) {}
  y[threadIdx.x] = kept[63 - threadIdx.x];
  const uint64_t last = __mbarrier_arrive(&named);
  while (!__mbarrier_test_wait(&named, last)) {}
}
"""


def test_barriers_by_their_primitives(tmp_path: Path) -> None:
    path = tmp_path / "turned.cu"
    path.write_text(BARRIER)
    x, y = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    run = softlab.Kernel.from_file(path).run(1, 64, (x, y))
    assert run.findings == ()
    np.testing.assert_array_equal(y, x[::-1])


CONCEPT = """\
template <typename T> concept Wide = sizeof(T) > 4;
template <Wide T> __global__ void filled(T* x, int value) { x[threadIdx.x] = value; }
"""


def test_a_kernel_template_of_a_concept(tmp_path: Path) -> None:
    path = tmp_path / "filled.cu"
    path.write_text(CONCEPT)
    x = np.zeros(3)
    softlab.Kernel.from_file(path, "filled<double>").run(1, 3, (x, 4), record=False)
    assert x.tolist() == [4, 4, 4]
    with pytest.raises(softlab.CompileError, match="filled<float>"):
        softlab.Kernel.from_file(path, "filled<float>")


def test_a_concept_in_an_older_standard_is_an_error() -> None:
    with pytest.raises(softlab.CompileError, match='identifier "concept" is undefined'):
        compile_program(CONCEPT, "filled<double>", options=["-std=c++17"], cache=False)


NEWER = """\
enum class Level { low, high };
__device__ float scaled(float x, const auto& by) { return x * by(2); }
template <typename Traits> struct Step { using Number = Traits::Number; Number of; };
struct Whole { using Number = int; };
__global__ void k(float* x) {
  using enum Level;
  auto times = []<typename T>(T a) { return a + 1; };
  x[0] = scaled(x[0], times) + Step<Whole>{4}.of + static_cast<int>(high);
}
"""


def test_what_only_the_newer_standard_has(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(NEWER)
    x = np.array([5], np.float32)
    softlab.Kernel.from_file(path).run(1, 1, (x,), record=False)
    assert x[0] == 20


def test_constants_that_a_missing_header_would_bring(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("#include <torch/extension.h>\n__global__ void k(float* x) { x[0] = -CUDART_INF_F; }\n")
    x = np.zeros(1, np.float32)
    softlab.Kernel.from_file(path).run(1, 1, (x,), record=False)
    assert x[0] == -np.inf


def test_a_header_with_other_capitals(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "shapeTypes.h").write_text("#define SIDES 6\n")
    (tmp_path / "String.h").write_text("#error not this\n")
    path = tmp_path / "k.cu"
    path.write_text(
        '#include <string.h>\n#include "Parts\\ShapeTypes.h"\n__global__ void k(int* x) { x[0] = SIDES; }\n'
    )
    kernel = softlab.Kernel.from_file(path)
    x = np.zeros(1, np.int32)
    assert kernel.run(1, 1, (x,), record=False).remarks == (
        'k.cu includes "Parts/ShapeTypes.h", which is not beside it: parts/shapeTypes.h is taken',
    )
    assert x[0] == 6
    (tmp_path / "parts" / "SHAPETYPES.h").write_text("#define SIDES 7\n")
    with pytest.raises(softlab.CompileError, match="are left out: Parts/ShapeTypes"):
        softlab.Kernel.from_file(path)


BOTH = """\
__device__ int* called;
__device__ int once(int x) { atomicAdd(called, 1); return x; }
__global__ void both(const int* x, int* y, int* calls) {
  called = calls;  // a ?: b
  y[0] = x[0] ?: x[1] ?: 7;
  y[1] = once(x[1])
      ?: once(0) ?:
      once(9);
  y[2] = x[0] == 0 ? x[2] ?: 4 : 5;
  y[3] = max(x[0] ?: 3, x[1] ?: 8);
  if (once(x[2]) ?: 0) y[4] = __LINE__;
}
"""


@pytest.mark.further
def test_a_choice_that_names_its_condition_once(tmp_path: Path) -> None:
    path = tmp_path / "both.cu"
    path.write_text(BOTH)
    x, y, calls = np.array([0, 0, 6], np.int32), np.zeros(5, np.int32), np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x, y, calls), record=False)
    assert y.tolist() == [7, 9, 6, 8, 11]
    assert calls[0] == 4


ROWS = """\
struct Row { int count; float values[]; };
struct Old { int count; float values[0]; /* as many as count says */ };
__global__ void sums(const Row* row, const Old* old, float* y) {
  extern __shared__ float shared[];
  for (int i = 0; i < row->count; ++i) y[0] += row->values[i] * old->values[i];
}
"""


def test_arrays_of_no_length_at_the_end_of_a_struct(tmp_path: Path) -> None:
    path = tmp_path / "rows.cu"
    path.write_text(ROWS)
    row = np.zeros(5, np.float32)
    row[:1].view(np.int32)[0], row[1:] = 4, [1, 2, 3, 4]
    y = np.zeros(1, np.float32)
    run = softlab.Kernel.from_file(path).run(1, 1, (row, row.copy(), y), record=False)
    assert y[0] == 30
    assert any("has one element here" in remark for remark in run.remarks)


PIXELS = """\
typedef unsigned int word;
struct Pixel {
  unsigned char r, g, b;
  word aligner[];
};
struct Pair { float a; double whole[0]; };
__global__ void red(Pixel* pixels, int* sizes) {
  pixels[threadIdx.x].r = threadIdx.x + 1;
  sizes[0] = sizeof(Pixel); sizes[1] = alignof(Pixel); sizes[2] = sizeof(Pair);
}
"""


def test_an_array_of_no_length_that_aligns_a_struct(tmp_path: Path) -> None:
    """Nothing names it: the struct has the size that g++ and nvcc give it."""
    path = tmp_path / "pixels.cu"
    path.write_text(PIXELS)
    pixels, sizes = np.zeros((3, 4), np.uint8), np.zeros(3, np.int32)
    run = softlab.Kernel.from_file(path).run(1, 3, (pixels, sizes), record=False)
    assert sizes.tolist() == [4, 4, 8]
    assert pixels.tolist() == [[1, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0]]
    assert not any("has one element here" in remark for remark in run.remarks)


SPECIFIED = """\
#define BOTH __host__ __device__
inline BOTH __forceinline__ int twice(int x) { return 2 * x; }
static __inline__ __device__
inline int third(int x) { return x / 3; }
__global__ void k(const int __restrict__ *x, int __restrict__*y, int* __restrict__ z) {
  y[0] = twice(x[0]) + third(x[1]) + z[0];
}
"""


def test_specifiers_that_compilers_of_windows_take(tmp_path: Path) -> None:
    path = tmp_path / "specified.cu"
    path.write_text(SPECIFIED)
    y = np.zeros(1, np.int32)
    run = softlab.Kernel.from_file(path).run(1, 1, (np.array([5, 9], np.int32), y, np.ones(1, np.int32)), record=False)
    assert y[0] == 14
    assert [remark for remark in run.remarks if "on Linux" in remark]
