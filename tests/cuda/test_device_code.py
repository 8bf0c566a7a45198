"""The device part of a mixed .cu file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from softlab.cuda import device_code, source_files
from softlab.cuda.constant_expressions import Constants
from softlab.cuda.outlines import outline
from softlab.cuda.source_files import decode

MIXED = """\
#include <iostream>
#include "library_that_is_not_here.h"
#define GLOBAL static __global__
#define HD __host__ __device__ inline
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))
#define CHECK(x) do { if ((x) != cudaSuccess) exit(1); } while (0)
using namespace std;
namespace cg = cooperative_groups;
enum Kind { kFirst, kSecond = 4 };
struct __align__(8) Pair { float x, y; HD float sum() const { return x + y; } void print() { cout << x; } };
template <typename T> struct Op { HD T operator()(T a, T b) const { return a + b; } };
template <> struct Op<int> { HD int operator()(int a, int b) const { return a * b; } };
struct Host { std::vector<int> values; };
typedef float (*function)(float);
float* on_the_host = nullptr;
const int TILE = 16, ROWS = 8;
__constant__ float filter[TILE];
inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
__device__ float never_used(float x) { return x; }
#if defined(SMALL) && ROWS > 4
GLOBAL void first(Pair* p) { p->x = kSecond; }
#else
GLOBAL void first(Pair* p, int n) { p->x = Op<float>()(filter[n], TILE) + p->sum(); }
#endif
namespace outer { namespace {
template <typename T, int count = 4, template <typename> class F = Op>
__global__ void __launch_bounds__(256) second(const T* a, T* b) { b[0] = F<T>()(a[0], T(count)); }
} }
extern "C" {
__global__ void third(int* x) { extern __shared__ int s[]; s[threadIdx.x] = x[0]; }
}
void run(cudaStream_t stream) {
  const int n = 1000; int threads = 256, grows = 2; grows *= 2;
  dim3 grid(ceil_div(n, TILE), DIV_UP(n, 64)), block(TILE, ROWS);
  third<<<grid, block, threads * sizeof(float), stream>>>(x);
  CHECK(cudaGetLastError());
  third<<<grows, n / 3>>>(x);
  outer::second<float, TILE><<<dim3(3, 2), {4, 4}>>>(a, b);
}
template <typename T> void generic(T* x) { outer::second<T><<<1, 2>>>(x, x); }
int main() { run(0); }
"""


@pytest.fixture(scope="module")
def code() -> device_code.DeviceCode:
    return device_code.read(MIXED, known={"iostream"}.__contains__)


def test_lines_keep_their_numbers(code: device_code.DeviceCode) -> None:
    before, after = MIXED.splitlines(), code.source.splitlines()
    assert len(before) == len(after)
    assert all(not b.strip() or "print()" in a or a == b for a, b in zip(before, after, strict=True))
    assert code.host_lines == sum(bool(a.strip()) and not b.strip() for a, b in zip(before, after, strict=True)) > 10


@pytest.mark.parametrize(
    "kept",
    ["GLOBAL void first(Pair* p, int n)", "struct __align__(8) Pair", "HD float sum()", "enum Kind", "filter[TILE]",
     "const int TILE", "#if defined(SMALL) && ROWS > 4", "#else", "#endif", "template <> struct Op<int>",
     "second(const T* a, T* b)", 'extern "C" {', "third(int* x)", "namespace outer { namespace {",
     "#include <iostream>"],
)  # fmt: skip
def test_what_kernels_need_stays(code: device_code.DeviceCode, kept: str) -> None:
    assert kept in code.source


@pytest.mark.parametrize(
    "gone",
    ["main", "<<<", "cout", "struct Host", "on_the_host = nullptr", "using namespace std", "not_here", "int ceil_div",
     "never_used", "typedef float"],
)  # fmt: skip
def test_what_only_the_host_needs_is_blank(code: device_code.DeviceCode, gone: str) -> None:
    assert gone in MIXED
    assert gone not in code.source


def test_kernels_are_listed(code: device_code.DeviceCode) -> None:
    assert [(kernel.name, kernel.line) for kernel in code.kernels] == [
        ("first", 21), ("first", 23), ("outer::second", 27), ("third", 30)
    ]  # fmt: skip
    second = code.kernels[2]
    assert second.template == ("typename T", "int count = 4", "template <typename> class F = Op")
    assert second.parameters == ("const T* a", "T* b")


def test_launches_are_suggestions(code: device_code.DeviceCode) -> None:
    first, second, third, generic = code.launches
    assert (first.kernel, first.grid, first.block, first.smem, first.line) == ("third", (63, 16), (16, 8), 1024, 35)
    assert (second.grid, second.block, second.smem) == ("grows", (333,), 0)
    assert (third.kernel, third.grid, third.block) == ("outer::second<float, 16>", (3, 2), (4, 4))
    assert third.arguments == ("a", "b")
    assert generic.kernel == "outer::second", "T is the host function's"


def test_includes_that_nobody_has_are_named(code: device_code.DeviceCode) -> None:
    assert code.missing == ("library_that_is_not_here.h",)


def test_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "shared.h").write_text(
        "#pragma once\nvoid host();\n__device__ inline float twice(float x) { return 2 * x; }\n"
    )
    text = '#include "shared.h"\n__global__ void k(float* x) { *x = twice(*x); }\n'
    code = device_code.read(text, tmp_path / "k.cu")
    assert code.missing == ()
    assert code.remarks == ('k.cu includes "shared.h", which is not beside it: include/shared.h is taken',)
    assert "twice" in code.headers["shared.h"]
    assert "host" not in code.headers["shared.h"]
    (tmp_path / "shared.h").write_text("__device__ inline float twice(float x) { return x + x; }\n")
    assert device_code.read(text, tmp_path / "k.cu").remarks == ()


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"\xef\xbb\xbfint a;\r\nint b;\r", "int a;\nint b;\n"), (b"// \xe9\n", "// \xe9\n"), (b"", "")],
)
def test_encodings(content: bytes, text: str) -> None:
    assert decode(content) == text


@pytest.mark.parametrize(
    "text", ["", "\n", "}", "__global__", "__global__ void k(", "#if\n#else\n", "<<<>>>", "\\\n" * 50]
)
def test_odd_texts_are_read(text: str) -> None:
    assert device_code.read(text).source.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "value"),
    [("(N + 255) / 256", 4), ("N * sizeof(float)", 4000), ("-7 / 2", -3), ("-7 % 2", -1), ("1 << 10", 1024),
     ("3 / 0", None),
     ("unknown + 1", None), ("1 << 99", None), ("0x10u", 16), ("up(N, 3)", 334), ("SELF", None), ("N > 3", 1),
     ("N < 8 ? 1 : N == 1000 ? 2 : 3", 2), ("2 * (N != 1000 ? 1 : up(N > 1 ? 9 : 8, 3))", 6), ("N & 1 == 0", None),
     ("N ? 1", None), ("unknown ? 1 : 2", None)],
)  # fmt: skip
def test_constants(text: str, value: int | None) -> None:
    constants = Constants.of(
        "#define SELF SELF + 1\nconst int N = 1000;\nint up(int a, int b) { return (a + b - 1) / b; }\n"
    )
    assert constants.number(text) == (text if value is None else value)


def test_macro_calls_at_namespace_level() -> None:
    code = device_code.read(
        "#define BIND(name, type) \\  \n  void name##_host(type* x) { name<<<1, 1>>>(x); }\n"
        "#define MAKE(name) __global__ void name(int* x) { *x = 1; }\n"
        "MAKE(made)\n"
        "__global__ void k(float* x) { *x = 1; }\n"
        "BIND(k, (float))\n"
        "TEST(a, b);\n"
        'MODULE(NAME, m) {\n  m.def("k");\n}\n'
    )
    assert "MAKE(made)\n__global__ void k" in code.source
    assert not {"BIND(k", "TEST", "MODULE", "m.def"} & {
        word for word in ("BIND(k", "TEST", "MODULE", "m.def") if word in code.source
    }


def test_a_name_with_two_values_has_none() -> None:
    assert Constants.of("#define N 3\n#define N 4\n").number("N") == "N"


def test_conditionals_stay_where_the_parser_loses_its_way() -> None:
    text = """\
#ifndef GUARD
#define GUARD
/*
#if 0
*/
#if __has_include(<nothing.h>) // "
void a() {
#else
void a(int b) {
#endif
  call();
}
#if 1
Info b() { return info; }
#else
Info b() { exit(1); }  /*
#endif */
#endif
__global__ void k(float* x) { *x = 1; }
#endif // GUARD
"""
    code = device_code.read(text)
    plain = re.sub(r"/\*.*?\*/", "", code.source, flags=re.DOTALL)
    found = re.findall(r"^#(if|else|endif)", plain, re.MULTILINE)
    assert found == ["if", "if", "else", "endif", "if", "else", "endif", "endif"]
    assert "__global__ void k(float* x) { *x = 1; }" in code.source


@pytest.mark.parametrize(
    "host",
    [
        'void host() { asm("a"\n#if A\n"b"\n#else\n"c"\n#endif\n: : "r"(1)); }',
        "template <class T> void host(T x) { DISPATCH(x, [&] { k<<<1, 1>>>(x); })\n#ifdef B\n}\n#else\n; }\n#endif",
        'const char* text() { return R"x( } { " )x"; }',
        "struct Host {\n  HD_INLINE float get() const;\n  Host() : a{1}, b(2) { run(a); }\n  int a, b;\n};",
        "#if 0\nvoid host( { {\n#endif",
    ],
)
def test_host_code_that_is_hard_to_read_hides_no_kernel(host: str) -> None:
    code = device_code.read(f"{host}\n__global__ void k(int* x) {{ *x = 1; }}\nint main() {{ return 0; }}\n")
    assert [kernel.name for kernel in code.kernels] == ["k"]
    assert "__global__ void k(int* x) { *x = 1; }" in code.source
    assert "main" not in code.source
    assert "run(a)" not in code.source


def test_the_bodies_of_functions_are_no_part_of_an_outline() -> None:
    source = (
        b"enum { A, B };\nint f(int x)\n#ifdef C\nconst\n#endif\n{ if (x) { } }\nstruct S : T<int> { int g() { ; } };\n"
    )
    found = outline(source)
    assert len(found.text) == len(source)
    assert b"if (x)" not in found.text
    assert b"#ifdef" not in found.text
    for kept in (b"enum { A, B };", b"int f(int x)", b"struct S : T<int> { int g() {   } };"):
        assert kept in found.text
    assert found.in_body(source.index(b"if (x)"))
    assert not found.in_body(source.index(b"A, B"))


def test_macros_of_headers_make_device_functions(tmp_path: Path) -> None:
    (tmp_path / "macros.h").write_text("#define SPACES __host__ __device__\n#define INLINE SPACES inline\n")
    text = '#include "macros.h"\nINLINE\nfloat twice(float x) { return 2 * x; }\nINLINE int never() { return 1; }\n'
    text += "__align__(8) struct Unused { int x; };\n"
    code = device_code.read(f"{text}__global__ void k(float* x) {{ *x = twice(*x); }}\n", tmp_path / "k.cu")
    assert "align" not in code.source
    assert "INLINE\nfloat twice(float x)" in code.source
    assert "never" not in code.source
    assert code.source.count("INLINE") == 1


def test_one_file_under_two_names_and_two_files_under_one(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "x.h").write_text("#define FIRST 1\n")
    (tmp_path / "b" / "x.h").write_text('#include "../a/x.h"\n#define SECOND 2\n')
    (tmp_path / "a" / "y.h").write_text('#include "x.h"\n')
    text = '#include "a/y.h"\n#include "b/x.h"\n__global__ void k(int* x) { *x = FIRST + SECOND; }\n'
    code = device_code.read(text, tmp_path / "k.cu")
    assert len(code.headers) == 3
    for name in re.findall(r'#include "([^"]+)"', "\n".join([code.source, *code.headers.values()])):
        assert name in code.headers
    assert sorted("FIRST 1" in text for text in code.headers.values()) == [False, False, True]


def test_attributes_that_the_grammar_does_not_know() -> None:
    kernel = (
        "template <class S>\n__global__ void\n#if A\n__cluster_dims__(S::n, 1)\n#endif\n__maxnreg__(64) k(S* s) { }\n"
    )
    code = device_code.read(f"struct alignas(16) Pair {{ int x; }};\n{kernel}__global__ void other(Pair* p) {{ }}\n")
    assert [(one.name, one.line) for one in code.kernels] == [("k", 3), ("other", 8)]
    assert "struct alignas(16) Pair { int x; };" in code.source


def test_a_table_between_two_macros() -> None:
    table = (
        "#ifdef A\n#define BEGIN(T, name) const T name[] = {\n#else\n#define BEGIN(T, name) __device__ T name[] = {\n"
    )
    table += "#endif\n#define END() };\nBEGIN(int, table)\n  1, 2,\n  3\nEND()\n"
    code = device_code.read(f"{table}__global__ void k(int* x) {{ *x = table[1]; }}\n")
    assert "BEGIN(int, table)\n  1, 2,\n  3\nEND()\n__global__" in code.source


def test_macros_that_stand_for_more_attributes() -> None:
    host = (
        "#ifdef W\n#define API __declspec(dllexport) extern\n#else\n"
        '#define API __attribute__ ((visibility ("default"))) extern\n#endif\n'
        "#define OLD(function, hint) function __attribute__((deprecated(hint)))\n#define LAST _Noreturn\n"
        'extern "C" {\n    LAST API void stop(int x);\n    OLD(\n        API double size(int x),\n        "no");\n'
        "    enum kind { ONE, TWO };\n}\n"
    )
    code = device_code.read(f"{host}__global__ void k(int* x) {{ *x = TWO; }}\n")
    assert "enum kind { ONE, TWO };" in code.source
    assert "stop(int" not in code.source
    assert "size(int" not in code.source


def test_macros_of_the_including_file_count_in_a_header(tmp_path: Path) -> None:
    (tmp_path / "first.h").write_text(
        '#define API __attribute__((visibility("default")))\n#define __OPEN namespace own {\n#define __CLOSE }\n'
        "#define VALUES(name, ...) enum name { __VA_ARGS__ };\n"
    )
    (tmp_path / "second.h").write_text(
        "__OPEN\nclass API Pool {\npublic:\n  Pool() { std::cout << 1; }\n  void stop();\n  int size;\n};\n"
        "VALUES(Kind, small, large)\nVALUES(Other, none)\n__CLOSE\n"
    )
    text = '#include "first.h"\n#include "second.h"\nusing namespace own;\n'
    code = device_code.read(f"{text}__global__ void k(Pool* p) {{ p->size = large; }}\n", tmp_path / "k.cu")
    assert "int size" in code.headers["second.h"]
    assert "cout" not in code.headers["second.h"]
    assert "VALUES(Kind, small, large)" in code.headers["second.h"]
    assert "none" not in code.headers["second.h"]
    assert "using namespace own;" in code.source


def test_friends_of_the_host_are_blank() -> None:
    members = "int x; friend std::ostream& operator<<(std::ostream& s, const A& a) { return s << a.x; }"
    code = device_code.read(f"struct A {{ {members} }};\n__global__ void k(A* a) {{ a->x = 1; }}\n")
    assert "int x;" in code.source
    assert "ostream" not in code.source


def test_a_header_elsewhere_in_the_checkout(tmp_path: Path) -> None:
    for folder, value in (("one/inside", 1), ("two/inside", 2), ("far/away", 3)):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / ("alone.h" if value == 3 else "both.h")).write_text(f"#define VALUE{value} {value}\n")
    text = '#include "alone.h"\n#include "both.h"\n__global__ void k(int* x) { *x = VALUE2 + VALUE3; }\n'
    for folder, found in (("two/other", ["alone.h", "both.h"]), ("other/deep", ["alone.h"])):
        (tmp_path / folder).mkdir(parents=True)
        assert device_code.read(text, tmp_path / folder / "k.cu").missing == ("alone.h", "both.h")
        (tmp_path / ".git").mkdir()
        code = device_code.read(text, tmp_path / folder / "k.cu")
        (tmp_path / ".git").rmdir()
        assert sorted(code.headers) == found, "the nearest one; none where two are as near"
        assert "VALUE1" not in "".join(code.headers.values())
        assert len(code.remarks) == len(found)
        assert 'k.cu includes "alone.h", which is not beside it: ../../far/away/alone.h is taken' in code.remarks


def test_a_guess_stays_in_the_checkout(tmp_path: Path) -> None:
    inside, outside = tmp_path / "checkout", tmp_path / "include"
    (inside / "src").mkdir(parents=True)
    (inside / ".git").mkdir()
    (inside / "other").mkdir()
    outside.mkdir()
    (outside / "secret.h").write_text("#define VALUE 1\n")
    path = inside / "src" / "k.cu"
    text = '#include "secret.h"\n__global__ void k(int* x) { *x = 1; }\n'
    assert device_code.read(text, path).missing == ("secret.h",), "a folder for headers above the checkout"
    (inside / "other" / "secret.h").symlink_to(outside / "secret.h")
    assert device_code.read(text, path).missing == ("secret.h",), "a file that is a link"
    (inside / "other" / "secret.h").unlink()
    (inside / "include").symlink_to(outside, target_is_directory=True)
    assert device_code.read(text, path).missing == ("secret.h",), "a folder that is a link"
    code = device_code.read(text, path, folders=[inside / "include"])
    assert (code.missing, code.remarks) == ((), ()), "a folder that the user names"


def test_a_large_checkout_is_not_searched_and_the_code_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (".git", "src", "far/away"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "far" / "away" / "alone.h").write_text("#define VALUE 1\n")
    text = '#include "alone.h"\n__global__ void k(int* x) { *x = 1; }\n'
    # The root, src, far and far/away.
    for most, missing in ((3, ("alone.h",)), (4, ())):
        monkeypatch.setattr(source_files, "_MOST_FOLDERS", most)
        source_files._listed_in.cache_clear()
        code = device_code.read(text, tmp_path / "src" / "k.cu")
        assert code.missing == missing
        assert ("which has more than 3 folders" in code.remarks[0]) == bool(missing)
    source_files._listed_in.cache_clear()


def test_a_declaration_without_an_attribute_whose_definition_has_one() -> None:
    """nvcc takes both for the device, with a warning. The host's own function of that name goes."""
    code = device_code.read(
        "namespace n { typedef short data; float to(data v); float to(double v);\n"
        "template <class T> T half(T x);\n"
        "struct H { data d; __device__ float f() const { return half(to(d)); } };\n"
        "__host__ __device__ float to(data value) { return value * 2.0f; }\n"
        "template <class T> __device__ T half(T x) { return x / 2; }\nfloat to(double v) { return v; } }\n"
        "__global__ void k(float* x) { n::H h; h.d = 4; *x = h.f(); }\n"
    )
    lines = code.source.splitlines()
    assert "__host__ __device__ float to(data v);" in lines[0]
    assert "double" not in code.source
    assert "template <class T> __host__ __device__ T half(T x);" in lines[1]
