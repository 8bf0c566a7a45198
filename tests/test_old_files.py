"""Files for older GPUs and toolkits, and files whose parts macros of the build switch on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import softlab


def test_shuffles_and_votes_without_a_mask(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(int* x) {\n  int t = threadIdx.x;\n"
        "  x[t] = __shfl(t, 3) + __shfl_xor(t, 1, 4) + __shfl_down(t, 2) + __shfl_up(t, 1);\n"
        "  if (t % 2) x[t] += __popc(__ballot(1)) * 1000 + __all(t) + __any(0);\n}\n"
    )
    x = np.zeros(32, np.int32)
    run = softlab.Kernel.from_file(path).run(1, 32, (x,), check=True)
    t = np.arange(32)
    expected = 3 + (t ^ 1) + np.where(t < 30, t + 2, t) + np.where(t > 0, t - 1, 0) + np.where(t % 2, 16_001, 0)
    np.testing.assert_array_equal(x, expected)
    assert "gone since sm_70" in run.remarks[0]


def test_helper_math(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#include <helper_math.h>\n#include <cutil_inline.h>\n#include <cutil_math.h>\n"
        "__global__ void k(float* y) {\n"
        "  float3 a = make_float3(1, 2, 3), b = make_float3(0.5f, -1, 4), c = a * 2.0f + b / a - 1.0f;\n"
        "  float4 q = -make_float4(a, 2.0f);\n  int2 i = max(-make_int2(3, -4), make_int2(0));\n  c += b;\n  c *= 2;\n"
        "  float3 all[] = {c, cross(a, b), normalize(a), clamp(b, 0.0f, 1.0f), lerp(a, b, 0.25f), fracf(b * 0.3f),\n"
        "                  fmaxf(a, b), make_float3(make_float4(make_int4(1, 2, 3, 4))), reflect(a, b), 2.0f / a,\n"
        "                  make_float3(dot(a, b), length(a), q.w), make_float3(i.x, i.y, clamp(7, 1, 5))};\n"
        "  for (int k = 0; k < 12; k++) y[3 * k] = all[k].x, y[3 * k + 1] = all[k].y, y[3 * k + 2] = all[k].z;\n}\n"
    )
    y = np.zeros((12, 3), np.float32)
    softlab.Kernel.from_file(path).run(1, 1, (y,), record=False)
    a, b = np.array([1, 2, 3.0]), np.array([0.5, -1, 4])
    length = np.sqrt(a @ a)
    expected = [
        (a * 2 + b / a - 1 + b) * 2, np.cross(a, b), a / length, np.clip(b, 0, 1), a + 0.25 * (b - a), (b * 0.3) % 1,
        np.maximum(a, b), [1, 2, 3], a - 2 * b * (b @ a), 2 / a, [a @ b, length, -2], [0, 4, 5],
    ]  # fmt: skip
    np.testing.assert_allclose(y, expected, rtol=2e-6, atol=1e-6)


def test_the_version_of_cuda(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#include <cuda.h>\n__global__ void k(int* x) {\n#if CUDA_VERSION >= 9000 && CUDART_VERSION >= 9000\n"
        "  *x = __shfl_sync(~0u, 5, 0);\n#else\n  *x = gone(5);\n#endif\n}\n"
    )
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 32, (x,))
    assert x[0] == 5


SWITCHED = """\
#pragma once
#ifdef WITH_GPU
#ifdef FOR_ANOTHER
#define WIDTH 64
#else
#define WIDTH 32
#endif
#endif
"""


@pytest.mark.parametrize("condition", ["#ifdef WITH_K", "#if WITH_K", "#if defined(WITH_K) && WITH_K == 1 || OTHER"])
def test_a_kernel_in_a_part_that_a_macro_switches_on(tmp_path: Path, condition: str) -> None:
    (tmp_path / "width.h").write_text(SWITCHED)
    path = tmp_path / "k.cu"
    path.write_text(
        f'#include "width.h"\n{condition}\nnamespace n {{ __global__ void k(int* x) {{ *x = WIDTH; }} }}\n#endif\n'
    )
    x = np.zeros(1, np.int32)
    run = softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 32
    said = " ".join(run.remarks)
    assert "WITH_K=1" in said
    assert "WITH_GPU=1" in said


def test_conditions_that_ask_for_more_stay(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("#define MODE 1\n#if MODE == 2\n__global__ void k(int* x) { *x = 1; }\n#endif\n")
    with pytest.raises(softlab.CompileError, match=r"inside #if MODE == 2 \(line 2\)"):
        softlab.Kernel.from_file(path)


def test_a_declaration_that_is_not_needed_goes_with_all_its_branches(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "template <typename T>\n#ifdef CACHED\nusing buffer = cached_buffer<T>;\n#else\n"
        "using buffer = host_buffer<T>;\n#endif\n__global__ void k(int* x) { *x = 4; }\n"
    )
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 4


def test_macros_of_other_machines_stay_undefined(tmp_path: Path) -> None:
    (tmp_path / "kernels.h").write_text("#ifdef USE_HIP\n__global__ void k(int* x) { *x = 1; }\n#endif\n")
    path = tmp_path / "k.cu"
    path.write_text('#ifdef OTHER\n#include <vector>\n#endif\n#include "kernels.h"\n')
    with pytest.raises(softlab.CompileError, match=r"inside #ifdef USE_HIP \(line 1\)"):
        softlab.Kernel.from_file(path)


def test_namespaces_that_macros_open(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#define BEGIN_LIBRARY namespace outer {\n#define END_LIBRARY }\nBEGIN_LIBRARY\n"
        "namespace inner { __global__ void a(int* x) { *x = 1; } }\nEND_LIBRARY\n"
        "__global__ void b(int* x) { *x = 2; }\n"
    )
    x = np.zeros(1, np.int32)
    kernel = softlab.Kernel.from_file(path, "a")
    kernel.run(1, 1, (x,))
    assert (kernel.program.name, x[0]) == ("outer::inner::a", 1)
    assert softlab.Kernel.from_file(path, "b").program.name == "b"


def test_a_macro_that_makes_functions_with_a_macro_for_their_attributes(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#define HD __host__ __device__\n#define LARGER(T) HD T larger(T a, T b) { return a < b ? b : a; }\n"
        "LARGER(int)\n"
        "__global__ void k(int* x) { *x = larger(*x, 3); }\n"
    )
    x = np.ones(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 3


def test_a_macro_that_makes_a_type_and_a_function_of_the_host(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#define TO_STRING(name, ...) inline std::string text_of_##name(name v) \\\n"
        "  {  \\\n    if (v) { return missing(#__VA_ARGS__); }  \\\n    return std::string();  \\\n  }\n"
        "#define MAKE_ENUM(name, ...) \\\n  enum name { __VA_ARGS__ };  \\\n  TO_STRING(name, __VA_ARGS__);\n"
        "#define TWICE(x) if (x > 2) { x *= 2; } else if (x > 1) { x = 0; }\n"
        "MAKE_ENUM(Kind,\n  small,\n  large\n)\n"
        "__global__ void k(int* x) { TWICE(*x) *x += large; }\n"
    )
    x = np.full(1, 5, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 11


def test_macros_of_several_lines_stay(tmp_path: Path) -> None:
    """The call of a macro in the body of another one is not the host's."""
    path = tmp_path / "k.cu"
    path.write_text(
        "#define STORE(x, value)  \\\n  {  \\\n    *(x) = value;  \\\n  }\n"
        "#define STORE_TWICE(x, value)  \\\n  {  \\\n    STORE(x, value);  \\\n    STORE(x + 1, value)  \\\n  }\n"
        "__global__ void k(int* x) {\n  STORE_TWICE(x, 3)\n}\n"
    )
    x = np.zeros(2, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x.tolist() == [3, 3]


def test_host_members_that_are_hard_to_read(tmp_path: Path) -> None:
    """A class after a macro call, functions in conditionals and behind references, and macros that make functions."""
    path = tmp_path / "k.cu"
    path.write_text(
        "#define LIST(name, ...) enum name { __VA_ARGS__ };\n"
        "#define REGISTER(name) static name shared; static name* make() { return new name(); }\n"
        "LIST(Kind,\n  small, large\n)\n\n"
        "class A {\n public:\n  REGISTER(A)\n  A() : x(missing()) {}\n  A& operator=(const A& other);\n"
        "#if !SINGLE\n  static void log(double value) { fprintf(stderr, \"%f\", value); }\n#endif\n"
        "  __device__ int get() const { return x + small; }\n  int x;\n};\n"
        "inline class A* only_for_the_host();\nextern A* global;\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n__device__ int add(int a) { return a + 1; }\n"
        "#ifdef __cplusplus\n}\n#endif\n"
        "__global__ void k(A* a, int* x) { *x = add(a->get()); }\n"
    )  # fmt: skip
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (np.full(1, 4, np.int32), x))
    assert x[0] == 5


def test_folders_in_windows_style(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "size.h").write_text("#define SIZE 6\n")
    path = tmp_path / "k.cu"
    path.write_text('#include "inner\\size.h"\n__global__ void k(int* x) { *x = SIZE; }\n')
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 6
