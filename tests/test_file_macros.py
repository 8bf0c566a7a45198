"""``Kernel.from_file``: what macros make of a file, its structs, its headers and its functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.cuda.macro_calls import header_names
from softlab.kernel.files import read_file

COMMENTS = """\
namespace tools {
#define CHECKED(call)                 \\
  do {                                \\
    if ((call) != 0) {                \\
      /* nothing is done about it: } */ \\
    }                                 \\
  } while (0)
#define OFF /* a comment
   of two lines */ 2
}
#if 0 /* not today */
__global__ void broken(
#endif
namespace tools {
__device__ int twice(int x) { return OFF * x; }
}
__global__ void k(int* x) { *x = tools::twice(*x); }
"""


def test_comments_in_macros_of_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(COMMENTS)
    x = np.array([21], np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,), record=False)
    assert x.tolist() == [42]


FIELDS = """\
#define SETTINGS(X)          \\
  X(float, step, 0.5f)       \\
  X(int, count, 3)
#define FIELDS(one, other)   \\
  one(float, a)              \\
  other(short, b, 2)
#define MEMBER(T, name, ...) T name;
#define POINTER(T, name, ...) T* name;
#define TABLE(Name, LIST)                                                        \\
  /* The numbers of one row. */                                                  \\
  struct Name { LIST(MEMBER, MEMBER) };                                          \\
  /* Where the columns are. */                                                   \\
  struct Name##Columns {                                                         \\
    LIST(POINTER, POINTER)                                                       \\
    template <typename V> void of(V& rows) { rows.resize(1); }                   \\
  };                                                                             \\
  template <typename V> void cleared(V& rows) { rows.clear(); }
#define CASE(suite, name) class suite##_##name { void run(); }; void suite##_##name::run()
struct Settings {
#define VALUE(T, name, value) T name = value;
  SETTINGS(VALUE)
#undef VALUE
  int last = 7;
  long seeded() const { return std::random_device{}(); }
};
namespace rows {
TABLE(Row, FIELDS)
}
CASE(Rows, k) { std::thread(nullptr); }
__global__ void k(Settings s, rows::RowColumns columns, int* y) {
  y[0] = s.last;
  y[1] = s.count;
  y[2] = sizeof(Settings);
  y[3] = columns.a[1] + columns.b[1];
  y[4] = sizeof(rows::Row);
}
"""


def test_macros_that_make_members_and_types(tmp_path: Path) -> None:
    """A member that is lost would move all members after it without a word."""
    path = tmp_path / "k.cu"
    path.write_text(FIELDS)
    kernel = softlab.Kernel.from_file(path)
    settings = np.zeros(12, np.uint8)
    settings[4:].view(np.int32)[:] = 5, 9
    a, b, y = np.array([0, 1.5], np.float32), np.array([0, 4], np.int16), np.zeros(5, np.int32)
    columns = softlab.cuda.structs.Struct(a, b)
    kernel.run(1, 1, (settings.tobytes(), columns, y), record=False)
    assert y.tolist() == [9, 5, 12, 5, 8]


ATTRIBUTES = """\
#define OF_TYPE(T) T twice(T x) { return x + x; }
#define FOR_HOST(T) inline T thrice(T x) { return std::async(x); }
#define BOUNDS(n) __launch_bounds__(n)
__device__ OF_TYPE(float)
__device__ __forceinline__ OF_TYPE(int)
FOR_HOST(int)
__global__ BOUNDS(64)
void k(float* x, int* y) {
  x[threadIdx.x] = twice(x[threadIdx.x]);
  y[threadIdx.x] = twice(y[threadIdx.x]);
}
"""


def test_attributes_before_a_macro_that_makes_a_function(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(ATTRIBUTES)
    kernel = softlab.Kernel.from_file(path)
    assert ".maxntid 64" in kernel.program.ptx
    x, y = np.arange(4, dtype=np.float32), np.arange(4, dtype=np.int32)
    kernel.run(1, 4, (x, y), record=False)
    assert x.tolist() == y.tolist() == [0, 2, 4, 6]


NAMED = """\
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define MODEL second
#define HEADER TEXT(models/MODEL/flow.cuh)
#include HEADER
#include NOWHERE
struct Pair {
#include "members.inl"
};
__global__ void k(int* y) {
#include "body.inl"
}
"""


def test_headers_that_macros_name_and_headers_inside_of_declarations(tmp_path: Path) -> None:
    (tmp_path / "models" / "second").mkdir(parents=True)
    (tmp_path / "models" / "second" / "flow.cuh").write_text(
        "#define SPEED 3\n__device__ int of(int x) { return x * SPEED; }\n__device__ int unused() { return missing; }\n"
    )
    (tmp_path / "members.inl").write_text("int a, b;\n__device__ int sum() const { return a + b; }\n")
    (tmp_path / "body.inl").write_text('#include "more.inl"\ny[0] = of(pair.sum()) + SPEED;\n')
    (tmp_path / "more.inl").write_text("Pair pair{2, 5};\n")
    path = tmp_path / "k.cu"
    path.write_text(NAMED)
    kernel, y = softlab.Kernel.from_file(path), np.zeros(1, np.int32)
    kernel.run(1, 1, (y,), record=False)
    assert y.tolist() == [24]
    said = 'k.cu includes HEADER, which macros make: "models/second/flow.cuh" is taken'
    assert said in kernel.program.remarks
    assert read_file(path).missing == ("NOWHERE",)


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("PLAIN", ["a.h"]),
        ("SYSTEM", ["a/b.h"]),
        ("OF(x, y)", ["x/y.h"]),
        ("EITHER", ["one.h", "two.h"]),
        ("UNKNOWN", []),
        ("ITSELF", []),
    ],
)
def test_names_of_headers_by_macros(written: str, names: list[str]) -> None:
    macros = {
        b"PLAIN": (b"", b' "a.h"'),
        b"SYSTEM": (b"", b" <a/b.h>"),
        b"OF": (b"(a, b)", b" QUOTED(a/b.h)"),
        b"QUOTED": (b"(x)", b" #x"),
        b"EITHER": (b"", b' "one.h" "two.h"'),
        b"ITSELF": (b"", b" ITSELF"),
    }
    assert header_names(written, macros) == names


def test_namespaces_that_nothing_names_and_those_around_an_include(tmp_path: Path) -> None:
    (tmp_path / "json.h").write_text(
        "#define OPEN_JSON namespace json { inline namespace v3 {\n#define CLOSE_JSON }}\n#define LIMIT 7\n"
        "OPEN_JSON\ntemplate <typename T> struct value { std::map<T, value> all; };\n"
        "template <> struct value<void> { value() { throw 1; } };\nusing index = std::map<int, int>;\nCLOSE_JSON\n"
    )
    (tmp_path / "inner.inl").write_text("__device__ inline int of(int x) { return 3 * x; }\n")
    (tmp_path / "around.h").write_text('namespace around {\n#include "inner.inl"\n}\n')
    (tmp_path / "macros.h").write_text(
        '#define BEGIN namespace by_macro {\n#define END }\nBEGIN\n#include "inner.inl"\nEND\n'
    )
    path = tmp_path / "k.cu"
    path.write_text(
        '#include "json.h"\n#include "around.h"\n#include "macros.h"\nusing namespace json;\n'
        "__global__ void k(int* y, int index, int value) {\n"
        "  y[0] = around::of(index) + by_macro::of(value) + LIMIT;\n}\n"
    )
    code = read_file(path)
    assert "struct value" in code.headers["json.h"], "a directive names the namespace"
    path.write_text(path.read_text().replace("using namespace json;", ""))
    code = read_file(path)
    assert "struct value" not in code.headers["json.h"]
    assert "LIMIT 7" in code.headers["json.h"]
    y = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (y, 2, 5), record=False)
    assert y.tolist() == [6 + 15 + 7]


BOTH_SIDES = """\
#ifndef __CUDACC__
#define ON_HOST(code) code
#define FUNCTION
#else
#define ON_HOST(code)
#define FUNCTION __device__
#endif
namespace count {
FUNCTION ON_HOST(constexpr) int next(int x);
FUNCTION ON_HOST(constexpr) int next(int x, int y);
inline FUNCTION ON_HOST(constexpr) int next(int x) { return x + 1; }
inline FUNCTION ON_HOST(constexpr) int next(int x, int y) { return next(x) + y; }
}
template <typename T> struct Pair {
  T a, b;
  template <typename U> friend Pair<U> operator/(Pair<U> const& p, U const& x);
  template <typename U> friend __device__ Pair<U> operator*(Pair<U> const& p, U const& x);
};
template <typename U> Pair<U> operator/(Pair<U> const& p, U const& x) { return {p.a / x, p.b / x}; }
template <typename U> __device__ Pair<U> operator*(Pair<U> const& p, U const& x) { return {p.a * x, p.b * x}; }
__global__ void k(int* x) {
  Pair<int> p = Pair<int>{x[0], x[1]} * 2;
  x[0] = count::next(p.a, p.b);
}
"""


def test_attributes_as_arguments_of_macros_and_friends_that_are_templates(tmp_path: Path) -> None:
    path, x = tmp_path / "k.cu", np.array([3, 5], np.int32)
    path.write_text(BOTH_SIDES)
    softlab.Kernel.from_file(path).run(1, 1, (x,), record=False)
    assert x.tolist() == [6 + 1 + 10, 5]
    assert "operator/" not in read_file(path).source


TESTS = """\
#include <catch2/catch_test_macros.hpp>
#define MAKE(name) __global__ void name
#define HOSTLY(name) void hostly_##name()
__device__ float twice(float x) { return 2 * x; }
TEST_CASE("twice (on the host)", "[numbers]") {
  REQUIRE(hostly(1) == 1);
  SECTION("inside") { CHECK(2 > 1); }
}
HOSTLY(one) { helper(); }
namespace inner {
BENCHMARK_DEFINE_F(Fixture, "name", 3)(benchmark::State& state) {
  for (auto _ : state) {}
}
TEST("a",
     4)
{
  launch<<<1, 1>>>();
}
struct Pair {
  float x, y;
  __device__ Pair(float x) : x(x), y(x) {}
};
__device__ float
SUM(Pair pair) { return pair.x + pair.y; }
}
MAKE(k)(float* x) { *x = twice(*x) + inner::SUM(inner::Pair(1)); }
"""


def test_macros_of_libraries_for_tests_have_a_body(tmp_path: Path) -> None:
    path, x = tmp_path / "k.cu", np.full(1, 4, np.float32)
    path.write_text(TESTS)
    softlab.Kernel.from_file(path, "k").run(1, 1, (x,), record=False)
    assert x[0] == 10


SEMICOLONS = """\
#include <functional>
__device__
float twice(float x) {
  return 2 * x;
};
struct Line {
  float slope;
  __device__ Line(float slope) : slope(slope) { if (slope < 0) slope = 0; };
  __device__ float at(float x) const { return slope * x; };
};
auto hostly = [](int x) { return x; };
void host() { hostly(1); };
__global__
void k(float* x)
{
  *x = twice(Line(*x).at(3));
};
"""


def test_semicolons_after_functions(tmp_path: Path) -> None:
    path, x = tmp_path / "k.cu", np.full(1, 5, np.float32)
    path.write_text(SEMICOLONS)
    assert [kernel.name for kernel in read_file(path).kernels] == ["k"]
    softlab.Kernel.from_file(path).run(1, 1, (x,), record=False)
    assert x[0] == 30


def test_a_part_that_is_off_by_default(tmp_path: Path) -> None:
    path = tmp_path / "off.cu"
    path.write_text(
        "#ifndef WITH_MORE\n#define WITH_MORE 0\n#endif\n__global__ void plain(float* x) { *x = 1 + WITH_MORE; }\n"
        "#if WITH_MORE\n__global__ void more(float* x) { *x = WITH_MORE + 2; }\n#endif\n"
        "#define FIXED 0\n#if FIXED\n__global__ void never(float* x) {}\n#endif\n"
    )
    x = np.zeros(1, np.float32)
    softlab.Kernel.from_file(path, "plain").run(1, 1, (x,), record=False)
    assert x[0] == 1
    run = softlab.Kernel.from_file(path, "more").run(1, 1, (x,), record=False)
    assert x[0] == 3
    assert any("for WITH_MORE=1: that is defined" in remark for remark in run.remarks)
    with pytest.raises(softlab.CompileError, match=r"inside #if FIXED"):
        softlab.Kernel.from_file(path, "never")


LISTS = """\
#define HD __host__ __device__
#define T float
#define NAME plus_float
#include "plus.inl"
#undef T
#undef NAME
#define T double
#define NAME plus_double
#define FURTHER
#include "plus.inl"
#undef T
#undef NAME
#define PASTED(name) name##_pasted
HD int PASTED(three)(int x) { return x + 3; }
enum Kind {
#define KIND(name, value) KIND_##name = value,
#include "kinds.def"
#undef KIND
  KINDS };
#define COLOURS(one) one(RED) one(GREEN)
#define AS_ENUM(name) name,
enum { COLOURS(AS_ENUM) COLOUR_COUNT };
int unused[] = {
#include "numbers.inc"
};
inline namespace current { HD int version() { return 7; } }
__global__ void k(double* y) {
  y[0] = plus_float(2); y[1] = plus_double(2); y[2] = three_pasted(4); y[3] = KIND_narrow; y[4] = KINDS; y[5] = GREEN;
  y[6] = COLOUR_COUNT; y[7] = version(); y[8] = RED;
}
"""


def test_names_and_lists_that_macros_and_other_files_make(tmp_path: Path) -> None:
    """Functions by ``#define NAME`` around an include, enumerators from a list, an inline namespace."""
    files = {
        "k.cu": LISTS,
        "plus.inl": "HD T NAME(T x) {\n#ifdef FURTHER\n  return x * 10;\n#else\n  return x + 1;\n#endif\n}\n",
        "kinds.def": "KIND(wide, 4)\nKIND(narrow, 9)\n",
        "numbers.inc": "1, 2, 3\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    y = np.zeros(9)
    softlab.Kernel.from_file(tmp_path / "k.cu").run(1, 1, (y,), record=False)
    assert y.tolist() == [3, 20, 7, 9, 10, 1, 2, 7, 0]


ASSERTIONS = """\
#include <vector>
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define HOLDS(condition, text) typedef int PASTE(holds, __LINE__)[(condition) ? 1 : -1]
#define TYPE(T) using Element = T
#define NO_COPIES(name) name(const name&) = delete; void operator=(const name&) { std::vector<int> x; }
template <int n>
struct Tile {
  enum { WARP = 32 };
  HOLDS((n % WARP == 0), "n must be a multiple of WARP");
  // a type by a macro
  TYPE(float);
  NO_COPIES(Tile);
  __device__ Tile() {}
  __device__ Element at(int x) { return Element(x) / n; }
};
__global__ void k(float* y) { Tile<64> t; y[0] = t.at(16); }
"""


@pytest.mark.further
def test_calls_of_macros_in_a_class_that_semicolons_end(tmp_path: Path) -> None:
    path = tmp_path / "tile.cu"
    path.write_text(ASSERTIONS)
    y = np.zeros(1, np.float32)
    softlab.Kernel.from_file(path).run(1, 1, (y,), record=False)
    assert y[0] == 0.25
