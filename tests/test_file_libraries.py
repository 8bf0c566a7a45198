"""``Kernel.from_file``: libraries, standards and mathematical functions that a file takes for granted."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.kernel.build_settings import Settings
from softlab.kernel.files import read_file
from tests.sampled import each

MATH = """\
#include <cmath>
__global__ void k(double* y, int* sizes, int i, unsigned u, long n, float f, double d) {
  y[0] = sqrt(i) + std::log(u) + floor(n) + exp2(i);
  y[1] = pow(f, d) + pow(d, f) + std::pow(i, i) + pow(f, u);
  y[2] = fmax(f, d) + std::fmin(i, d) + fmod(f, d) + atan2(f, d) + hypot(f, d);
  sizes[0] = sizeof(sqrt(i));
  sizes[1] = sizeof(pow(f, d));
  sizes[2] = sizeof(fmax(f, f));
  sizes[3] = sizeof(std::pow(f, f));
}
"""


def test_mathematical_functions_of_integers_and_of_mixed_types(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(MATH)
    i, u, n, f, d = 3, 7, 5, 2.5, 1.25
    y, sizes = np.zeros(3), np.zeros(4, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (y, sizes, i, u, n, np.float32(f), d), record=False)
    np.testing.assert_allclose(
        y,
        [
            np.sqrt(i) + np.log(u) + n + 2**i,
            f**d + d**f + i**i + f**u,
            f + d + np.fmod(f, d) + np.arctan2(f, d) + np.hypot(f, d),
        ],
        rtol=1e-14,
    )
    assert sizes.tolist() == [8, 8, 4, 4]


POWERS = """\
#include <cmath>
__device__ float3 pow(float3 v, int n) { return make_float3(pow(v.x, n), std::pow(v.y, n), v.z); }
template <typename T> __device__ auto squared(T x) { return pow(x, 2); }
__global__ void k(double* y, int* sizes, float f, int n, double d) {
  const float3 v = pow(make_float3(f, f, f), n);
  y[0] = pow(f, n), y[1] = std::pow(f, n), y[2] = squared(f), y[3] = powf(f, n), y[4] = v.x, y[5] = pow(f, f);
  sizes[0] = sizeof(pow(f, n)), sizes[1] = sizeof(std::pow(f, short(n))), sizes[2] = sizeof(pow(f, f));
}
"""


def test_pow_of_a_float_and_an_integer_is_a_double(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(POWERS)
    f, n, d = np.float32(1.1), 5, 1.5
    y, sizes = np.zeros(6), np.zeros(3, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (y, sizes, f, n, d), record=False)
    exact = float(f) ** n
    np.testing.assert_allclose(y[:3], [exact, exact, float(f) ** 2], rtol=1e-14)
    assert abs(y[3] - exact) > 1e-9, "powf of floats is a float"
    assert y[4] == np.float32(exact)
    np.testing.assert_allclose(y[5], float(f) ** float(f), rtol=1e-6)
    assert sizes.tolist() == [8, 8, 4]


@pytest.mark.further
def test_pow_beside_that_of_complex_numbers(tmp_path: Path) -> None:
    path, y = tmp_path / "k.cu", np.zeros(3)
    path.write_text(
        "#include <complex>\n"
        "__global__ void k(double* y, float f, int n) {\n"
        "  const std::complex<float> z = std::pow(std::complex<float>(f, 1), n);\n"
        "  y[0] = z.real(), y[1] = z.imag(), y[2] = pow(f, n);\n"
        "}\n"
    )
    f, n = np.float32(1.1), 3
    softlab.Kernel.from_file(path).run(1, 1, (y, f, n), record=False)
    z = complex(float(f), 1) ** n
    np.testing.assert_allclose(y[:2], [z.real, z.imag], rtol=1e-5)
    np.testing.assert_allclose(y[2], float(f) ** n, rtol=1e-14)


NEWER = """\
#include <concepts>
enum class Level { low, high };
template <typename T>
  requires std::is_integral_v<T>
__device__ T halved(T x) { return x / 2; }
struct Half {
  int x;
  constexpr Half(int v) : x(v) {}
  [[nodiscard]] constexpr int of() const { return x / 2; }
  constexpr ~Half() = default;
  void shown() const { std::cout << x; }
};
template <int N> consteval int squared() { return N * N; }
constexpr int next(int x) { return x + 1; }
__constant__ int table[] = {next(1), squared<3>()};
__global__ void k(int* x) { *x = halved(*x) + Half(next(*x)).of() + table[0] + table[1]; }
"""


def test_what_cpp20_has_and_functions_for_constants(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(NEWER)
    x = np.array([9], np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,), record=False)
    assert x.tolist() == [4 + 5 + 2 + 9]
    assert "void shown" not in read_file(path).source


ORDERED = """\
#include <compare>
enum class Level { low, high };
__host__ __device__ constexpr std::strong_ordering operator<=>(Level a, Level b) { return int(a) <=> int(b); }
struct Point {
  int x;
  float y;
  __device__ auto operator<=>(const Point&) const = default;
};
static_assert((1 <=> 2) < 0 && std::is_gt(2 <=> 1) && std::partial_ordering::unordered != 0);
__global__ void k(int* y, int a, int b, float f, float g) {
  const std::strong_ordering order = a <=> b;
  const std::weak_ordering weaker = order;
  y[0] = order < 0 ? -1 : order > 0 ? 1 : 0;
  y[1] = Level(a) < Level(b);
  y[2] = Point{a, f} < Point{b, g};
  y[3] = weaker == std::weak_ordering::less;
  y[4] = (f <=> g) <= 0;
  y[5] = 0 <= order;
}
"""


@pytest.mark.further
def test_orderings_of_three_way_comparisons(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(ORDERED)
    kernel = softlab.Kernel.from_file(path)
    for a, b, f, g in ((1, 2, 3, 4), (2, 1, 4, 3), (1, 1, 3, 4), (1, 1, 4, 3), (2, 2, 3, 3)):
        y = np.zeros(6, np.int32)
        kernel.run(1, 1, (y, a, b, np.float32(f), np.float32(g)), record=False)
        assert y.tolist() == [(a > b) - (a < b), a < b, (a, f) < (b, g), a < b, f <= g, a >= b]


COLOUR = """\
struct Colour { unsigned char r, g, b; };
__global__ void k(Colour* c) { *c = Colour(1, 2, int(c->b) + 1); }
"""


def test_aggregates_in_parentheses(tmp_path: Path) -> None:
    path, colour = tmp_path / "k.cu", np.array([[0, 0, 6]], np.uint8)
    path.write_text(COLOUR)
    softlab.Kernel.from_file(path).run(1, 1, (colour,), record=False)
    assert colour.tolist() == [[1, 2, 7]]


WRITER = """\
#include <filesystem>
namespace fs = std::filesystem;
struct Log {
  int lines;
  fs::path file;
  int level;
  __device__ int both() const { return lines + level; }
};
__global__ void k(Log log, int* y) { y[0] = log.both(), y[1] = sizeof(Log); }
"""


@pytest.mark.further
def test_a_path_of_the_host_in_a_struct(tmp_path: Path) -> None:
    path, y = tmp_path / "k.cu", np.zeros(2, np.int32)
    path.write_text(WRITER)
    log = np.zeros(14, np.int32)
    log[[0, 12]] = 3, 4  # 40 bytes in between, at a multiple of 8
    softlab.Kernel.from_file(path).run(1, 1, (log.tobytes(), y), record=False)
    assert y.tolist() == [7, 56]


def test_a_member_of_a_class_of_std_that_softlab_lacks(tmp_path: Path) -> None:
    path, y = tmp_path / "k.cu", np.zeros(1, np.int32)
    path.write_text("__global__ void k(int* y) { y[0] = std::numeric_limits<float>::is_iec559; }\n")
    softlab.Kernel.from_file(path).run(1, 1, (y,), record=False)
    assert y.tolist() == [1]


BUILT = """\
typedef __uint8_t byte;
__global__ void k(byte* x, SIZE n) {
  if (threadIdx.x < n) x[threadIdx.x] += STEP;
}
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Makefile", 'k: k.cu\n\tnvcc -O3 -DSIZE="std::uint16_t" -DSTEP=3 $<\n'),
        ("CMakeLists.txt", "add_compile_definitions(SIZE=int)\ntarget_compile_definitions(k PRIVATE STEP=3 OTHER)\n"),
    ],
)
def test_macros_of_the_build_that_are_types(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(BUILT)
    with pytest.raises(softlab.CompileError, match=r'"SIZE" is undefined'):
        softlab.Kernel.from_file(path)
    (tmp_path / name).write_text(text)
    log = "k.cu(9): error: expected a type specifier\n    int a, SIZE n) {\n           ^\n"
    assert Settings().after(log, path).defined == ("SIZE=" + ("std::uint16_t" if name == "Makefile" else "int"),)
    x = np.arange(4, dtype=np.uint8)
    softlab.Kernel.from_file(path).run(1, 4, (x, np.uint16(3) if name == "Makefile" else 3), record=False)
    assert x.tolist() == [3, 4, 5, 3]


CONTAINERS = """\
#include <thrust/device_vector.h>
template <typename T> using Column = thrust::device_vector<T>;
struct Table { Column<float>* column; thrust::device_ptr<int> count; };
__global__ void counts(Table t, int* y) { y[0] = t.count[1] + thrust::raw_pointer_cast(t.count)[0]; }
struct Mesh { Column<float> heights; int more; };
__global__ void whole(Mesh mesh, int* y) {
  y[0] = sizeof(Mesh), y[1] = mesh.more, y[2] = mesh.heights.size();
  for (float height : mesh.heights) y[3] += height * mesh.heights[1];
}
"""


def test_containers_of_thrust_lie_in_memory_as_thrusts_own(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(CONTAINERS)
    count, y = np.array([4, 9], np.int32), np.zeros(1, np.int32)
    table = softlab.cuda.structs.Struct(np.uint64(0), count)
    softlab.Kernel.from_file(path, "counts").run(1, 1, (table, y), record=False)
    assert y[0] == 13
    y = np.zeros(4, np.int32)
    heights = {"softlab_data": np.array([3, 5], np.float32), "softlab_capacity": 9, "softlab_size": 2}
    mesh = {"heights": {"softlab_allocator": 0, **heights}, "more": 7}
    softlab.Kernel.from_file(path, "whole").run(1, 1, (mesh, y), record=False)
    assert y.tolist() == [40, 7, 2, 40]


def test_complex_numbers_and_generators_of_thrust(tmp_path: Path) -> None:
    path = tmp_path / "complex.cu"
    path.write_text(
        "#include <thrust/complex.h>\n"
        "__global__ void k(thrust::complex<float>* z) { z[0] = z[1] * thrust::conj(z[2]) + z[3]; }\n"
    )
    z = np.array([0, 1 + 2j, 3 - 1j, 0.5j], np.complex64)
    softlab.Kernel.from_file(path).run(1, 1, (z,), record=False)
    assert z[0] == (1 + 2j) * (3 + 1j) + 0.5j
    path = tmp_path / "random.cu"
    path.write_text(
        "#include <thrust/random.h>\n"
        "__global__ void k(int* y) {\n"
        "  thrust::minstd_rand drawn(5);\n  drawn.discard(threadIdx.x);\n  y[threadIdx.x] = drawn();\n}\n"
    )
    y = np.zeros(3, np.int32)
    softlab.Kernel.from_file(path).run(1, 3, (y,), record=False)
    assert y.tolist() == [5 * 48271**k % (2**31 - 1) for k in (1, 2, 3)]


GLM = """\
#include <glm/glm.hpp>
#include <glm/gtc/quaternion.hpp>
using namespace glm;
struct Ray { glm::vec3 origin, direction; float length; };
__global__ void vectors(const vec3* a, vec3* y, Ray ray, ivec2 n) {
  y[0] = normalize(a[0]) * 2.0f + a[1] / 3 - vec3(1, 2.5, n.x);
  y[1] = glm::cross(a[0], a[1]) + glm::reflect(ray.direction, normalize(a[1]));
  y[2] = glm::mix(a[0], a[1], 0.25f) + glm::clamp(a[0], 0.0f, 1.0f) + glm::smoothstep(0.0f, 2.0f, a[1]);
  y[3] = glm::min(a[0], a[1]) + glm::max(a[0], vec3(0.5f)) + glm::abs(a[1]) + glm::mod(a[0], 0.75f);
  y[4] = vec3(dot(a[0], a[1]), length(a[0]), distance(a[0], a[1]) + ray.length);
  y[5] = vec3(all(lessThan(a[0], a[1])), sizeof(Ray), glm::refract(ray.direction, normalize(a[1]), 0.5f).y);
  y[5] += n.y;
}
__global__ void matrices(mat4 m, quat q, vec3 v, vec3* y, mat4* all) {
  y[0] = vec3(m * vec4(v, 1.0f)) + mat3(m) * v + v * mat3(m);
  y[1] = q * v + mat3_cast(q) * v;
  y[2] = vec3(rotate(mat4(1.0f), 0.5f, vec3(0, 1, 1)) * vec4(v, 0)) + vec3(determinant(m));
  all[0] = inverse(m);
  all[1] = transpose(m) * m;
  all[2] = glm::scale(glm::translate(m, v), v);
}
__global__ void quaternions(quat a, quat b, float t, quat* y) {
  y[0] = slerp(a, b, t);
  y[1] = slerp(a, -b, t);
  y[2] = slerp(a, a, t);
  y[3] = lerp(a, b, t) - a;
  y[4] = a;
  y[4] += b;
  y[4] *= 2.0f;
  y[5] = a == b ? b : a;
}
"""


def test_vectors_of_glm(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(GLM)
    a = np.array([[0.5, -1.25, 2], [1.5, 0.75, 0.25]], np.float32)
    direction, y = np.array([0.6, 0, -0.8], np.float32), np.zeros((6, 3), np.float32)
    ray = np.concatenate([np.zeros(3), direction, [4]]).astype(np.float32).tobytes()
    n = np.array([2, 3], np.int32).tobytes()
    softlab.Kernel.from_file(path, "vectors").run(1, 1, (a, y, ray, n), record=False)
    p, q, d = (one.astype(float) for one in (*a, direction))
    unit = q / np.linalg.norm(q)
    part = np.clip(q / 2, 0, 1)
    along = unit @ d
    bent = 0.5 * d - (0.5 * along + np.sqrt(1 - 0.25 * (1 - along**2))) * unit
    expected = [
        p / np.linalg.norm(p) * 2 + q / 3 - [1, 2.5, 2],
        np.cross(p, q) + d - 2 * along * unit,
        0.75 * p + 0.25 * q + np.clip(p, 0, 1) + part**2 * (3 - 2 * part),
        np.minimum(p, q) + np.maximum(p, 0.5) + np.abs(q) + p % 0.75,
        [p @ q, np.linalg.norm(p), np.linalg.norm(p - q) + 4],
        [0 + 3, 28 + 3, bent[1] + 3],
    ]
    np.testing.assert_allclose(y, expected, rtol=2e-6, atol=1e-6)


def test_quaternions_of_glm(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(GLM)
    a, b = (one / np.linalg.norm(one) for one in np.array([[0.5, -0.5, 0.1, 0.7], [0.1, 0.4, -0.2, 0.9]]))
    y, t, angle = np.zeros((6, 4), np.float32), 0.3, np.arccos(a @ b)
    given = (a.astype(np.float32).tobytes(), b.astype(np.float32).tobytes(), np.float32(t), y)
    softlab.Kernel.from_file(path, "quaternions").run(1, 1, given, record=False)
    between = (np.sin((1 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle)
    expected = [between, between, a, (b - a) * t, 2 * (a + b), a]
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


def test_matrices_and_quaternions_of_glm(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(GLM)
    columns = np.random.default_rng(3).standard_normal((4, 4)).astype(np.float32)
    turn = np.array([0.5, -0.5, 0.1, 0.7], np.float32)
    turn /= np.linalg.norm(turn)
    v, y, found = np.array([1, -2, 0.5], np.float32), np.zeros((3, 3), np.float32), np.zeros((3, 4, 4), np.float32)
    given = (columns.tobytes(), turn.tobytes(), v.tobytes(), y, found)
    softlab.Kernel.from_file(path, "matrices").run(1, 1, given, record=False)
    m, u, w = columns.T.astype(float), turn[:3].astype(float), float(turn[3])
    turned = v + 2 * np.cross(u, np.cross(u, v) + w * v)
    axis, angle = np.array([0, 1, 1]) / np.sqrt(2), 0.5
    rotated = v * np.cos(angle) + np.cross(axis, v) * np.sin(angle) + axis * (axis @ v) * (1 - np.cos(angle))
    expected = [
        (m @ [*v, 1])[:3] + m[:3, :3] @ v + v @ m[:3, :3],
        2 * turned,
        rotated + np.linalg.det(m),
    ]
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
    moved = m.copy()
    moved[:, 3] = m @ [*v, 1]
    moved[:, :3] *= v
    for one, wanted in zip(found, (np.linalg.inv(m), m.T @ m, moved), strict=True):
        np.testing.assert_allclose(one.T, wanted, rtol=1e-4, atol=1e-5)


DIRECTX = """\
#include <DirectXMath.h>
#define Vertex DirectX::XMFLOAT4
__global__ void k(Vertex* v, DirectX::XMFLOAT4X4 m, DirectX::XMUINT2 n) {
  const Vertex a = v[0];
  v[0] = Vertex(m(0, 1) * a.x, a.y, m(1, 0), a.w + n.y);
}
"""


def test_vertices_and_matrices_of_directx(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(DIRECTX)
    v, m = np.array([[1, 2, 3, 4]], np.float32), np.arange(16, dtype=np.float32).reshape(4, 4) + 5
    softlab.Kernel.from_file(path).run(1, 1, (v, m.tobytes(), np.array([8, 9], np.uint32).tobytes()), record=False)
    assert v.tolist() == [[6, 2, 9, 13]]


ALGORITHMS = """\
#include <algorithm>
#include <array>
#define LOG2(n) __builtin_ctz(n)
constexpr int steps = LOG2(64) + __builtin_popcount(7u) + __builtin_clz(1);
__constant__ float table[LOG2(8)];
__global__ void k(float* y, const float* x, int n, unsigned long long large) {
  std::array<float, 4> values{3, 1, 2, 0};
  std::reverse(values.begin(), values.end());
  y[0] = std::clamp(x[0], 0.0f, 1.0f) + std::min(x[1], 2.0f);
  y[1] = *std::max_element(x, x + n) + values[0];
  y[2] = std::count(x, x + n, 1.0f);
  std::fill(y + 3, y + 5, 7.0f);
  y[5] = steps + __builtin_clzll(large);
  y[6] = __builtin_sqrtf(x[2]) + __builtin_ffs(n) + __builtin_parity(n);
  y[7] = sizeof(table);
}
"""


@pytest.mark.further
def test_algorithms_of_std_and_functions_of_the_hosts_compiler(tmp_path: Path) -> None:
    path, y = tmp_path / "k.cu", np.zeros(8, np.float32)
    path.write_text(ALGORITHMS)
    x = np.array([5, -1, 4, 1, 9, 1, 0, 3], np.float32)
    softlab.Kernel.from_file(path).run(1, 1, (y, x, len(x), np.uint64(5)), record=False)
    assert y.tolist() == [0, 9, 2, 7, 7, 40 + 61, 2 + 4 + 1, 12]


def test_a_copy_of_the_samples_header_with_more_in_it(tmp_path: Path) -> None:
    """In angle brackets, too: the folder of the build has the program's own header."""
    header = tmp_path / "common" / "helper_math.h"
    header.parent.mkdir()
    header.write_text(
        "#pragma once\ninline __host__ __device__ double2 operator*(double2 v, double f) "
        "{ return make_double2(v.x * f, v.y * f); }\n"
    )
    path, y = tmp_path / "k.cu", np.zeros(2)
    path.write_text("#include <helper_math.h>\n__global__ void k(double2* y) { *y = make_double2(1, 2) * 3.0; }\n")
    kernel = softlab.Kernel.from_file(path)
    kernel.run(1, 1, (y,), record=False)
    assert y.tolist() == [3, 6]
    assert "common/helper_math.h is taken" in " ".join(kernel.program.remarks)


@pytest.mark.further
def test_complex_numbers_of_thrust_by_another_header(tmp_path: Path) -> None:
    (tmp_path / "types.h").write_text("#pragma once\n#include <thrust/complex.h>\n")
    path, y = tmp_path / "k.cu", np.zeros(2, np.float32)
    path.write_text(
        '#include "types.h"\n'
        "__global__ void k(float* y) { thrust::complex<float> z(1, 2); z *= z; y[0] = z.real(), y[1] = z.imag(); }\n"
    )
    softlab.Kernel.from_file(path).run(1, 1, (y,), record=False)
    assert y.tolist() == [-3, 4]


OF_THRUST = """\
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
struct Larger { __device__ bool operator()(int a, int b) const { return a > b; } };
struct Odd { __device__ bool operator()(int a) const { return a % 2; } };
__global__ void sorts(int* keys, int* values, int* others, int n) {
  thrust::sort(thrust::seq, others, others + n, Larger());
  thrust::stable_sort_by_key(thrust::device, keys, keys + n, values);
  thrust::swap(others[0], others[1]);
}
__global__ void loops(const int* x, int n, int* y) {
  y[0] = thrust::reduce(thrust::seq, x, x + n);
  y[1] = thrust::reduce(x, x + n, 1, [](int a, int b) { return a * b % 1009; });
  y[2] = thrust::count_if(thrust::seq, x, x + n, Odd());
  y[3] = thrust::max_element(thrust::seq, x, x + n) - x;
  y[4] = thrust::min_element(x, x + n) - x;
  thrust::inclusive_scan(thrust::seq, x, x + n, y + 10);
  thrust::exclusive_scan(x, x + n, y + 20);
  thrust::transform(thrust::seq, x, x + n, y + 10, y + 30, [](int a, int b) { return a - b; });
  thrust::sequence(thrust::seq, y + 40, y + 43, 5, 2);
  y[5] = thrust::lower_bound(thrust::seq, y + 40, y + 43, 8) - y;
  y[6] = thrust::remove_if(thrust::seq, y + 20, y + 20 + n, Odd()) - y;
  thrust::counting_iterator<int> from(3);
  thrust::copy(thrust::seq, from, from + 2, y + 43);
  thrust::fill(thrust::seq, y + 7, y + 9, -1);
  y[9] = thrust::find(thrust::seq, x, x + n, x[2]) - x;
}
"""


@pytest.mark.further
def test_algorithms_of_thrust_in_a_kernel(tmp_path: Path) -> None:
    path = tmp_path / "algorithms.cu"
    path.write_text(OF_THRUST)
    draw = np.random.default_rng(5)
    keys, others = draw.integers(0, 6, 40).astype(np.int32), draw.integers(0, 90, 40).astype(np.int32)
    values, order = np.arange(40, dtype=np.int32), np.argsort(keys, kind="stable")
    before, downward = keys.copy(), np.sort(others)[::-1].copy()
    softlab.Kernel.from_file(path, "sorts").run(1, 1, (keys, values, others, 40), record=False)
    downward[[0, 1]] = downward[[1, 0]]
    np.testing.assert_array_equal(keys, before[order])
    np.testing.assert_array_equal(values, order)
    np.testing.assert_array_equal(others, downward)
    x, y = np.array([4, 7, 1, 9, 6], np.int32), np.zeros(50, np.int32)
    softlab.Kernel.from_file(path, "loops").run(1, 1, (x, 5, y), record=False)
    assert y[:10].tolist() == [27, 4 * 7 * 9 * 6 % 1009, 3, 3, 2, 42, 23, -1, -1, 2]
    assert y[10:15].tolist() == [4, 11, 12, 21, 27]
    assert y[20:23].tolist() == [0, 4, 12]
    assert y[30:35].tolist() == [0, -4, -11, -12, -21]
    assert y[40:45].tolist() == [5, 7, 9, 3, 4]


@pytest.mark.further
def test_views_and_results_of_cpp23(tmp_path: Path) -> None:
    path = tmp_path / "views.cu"
    path.write_text(
        "#include <expected>\n#include <mdspan>\n#include <span>\n"
        "__device__ std::expected<int, float> part(int x) {\n"
        "  if (x % 2) return std::unexpected(0.5f);\n  return x / 2;\n}\n"
        "__global__ void k(int* x, float* y) {\n"
        "  std::mdspan<int, std::extents<int, 2, 4>> table(x);\n"
        "  auto found = part(table(1, threadIdx.x));\n"
        "  y[threadIdx.x] = found ? float(*found) : found.error();\n}\n"
    )
    x, y = np.arange(8, dtype=np.int32), np.zeros(4, np.float32)
    softlab.Kernel.from_file(path).run(1, 4, (x, y), record=False)
    assert y.tolist() == [2, 0.5, 3, 0.5]


@pytest.mark.parametrize("name", each(2, ["../third/cub/cub.cuh", "cub/block/block_reduce.cuh"]))
def test_a_copy_of_cub_in_the_program(tmp_path: Path, name: str) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "third" / "cub"
    (folder / "block").mkdir(parents=True)
    (folder / "cub.cuh").write_text('#pragma once\n#include "block/block_reduce.cuh"\n')
    (folder / "block" / "block_reduce.cuh").write_text(
        "#pragma once\nnamespace cub { template <typename T, int n> struct BlockReduce { __device__ int of_old() "
        "{ return __old_intrinsic(); } }; }\n"
    )
    path = tmp_path / "src" / "k.cu"
    path.parent.mkdir()
    path.write_text(
        f'#include "{name}"\n__global__ void k(float* x) {{\n  using Sum = cub::BlockReduce<float, 64>;\n'
        "  __shared__ typename Sum::TempStorage storage;\n  float sum = Sum(storage).Sum(x[threadIdx.x]);\n"
        "  if (threadIdx.x == 0) x[0] = sum;\n}\n"
    )
    x = np.ones(64, np.float32)
    run = softlab.Kernel.from_file(path).run(1, 64, (x,), record=False)
    assert x[0] == 64
    assert any("is a copy of CUB" in remark for remark in run.remarks)


OWN_OPERATORS = """\
namespace cub {
struct Inequality {
  template <typename T> __host__ __device__ bool operator()(const T& a, const T& b) const { return a != b; }
};
struct Max {
  template <typename T> __host__ __device__ T operator()(const T& a, const T& b) const { return b > a ? b : a; }
};
}
__global__ void k(int* y) { y[0] = cub::Max()(3, 4) + cub::Inequality()(1, 2); }
"""


def test_operators_of_cub_that_the_program_defines_itself(tmp_path: Path) -> None:
    path = tmp_path / "operators.cu"
    path.write_text(OWN_OPERATORS)
    y = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (y,), record=False)
    assert y[0] == 5


OF_CMATH = """\
#include <algorithm>
#include <cmath>
#include <numeric>
__global__ void k(float* y) {
  y[0] = std::erf(0.5f) + std::erfc(0.25);
  y[1] = std::fdim(3.0f, 1.0f) + std::gcd(12, 18);
  y[2] = std::nanf("");
  y[3] = std::isnan(std::nan("1"));
}
"""


@pytest.mark.further
def test_functions_of_cmath_beside_the_rest_of_std(tmp_path: Path) -> None:
    path = tmp_path / "math.cu"
    path.write_text(OF_CMATH)
    y = np.zeros(4, np.float32)
    softlab.Kernel.from_file(path).run(1, 1, (y,), record=False)
    assert y[0] == pytest.approx(math.erf(0.5) + math.erfc(0.25), rel=2**-21)
    assert y[[1, 3]].tolist() == [8, 1]
    assert np.isnan(y[2])
