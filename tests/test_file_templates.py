"""Template arguments of a file's kernels that macros, blocks and other places of the file say."""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.cuda.device_code import read
from softlab.cuda.macro_calls import macros_with_parameters, written_out
from softlab.kernel.files import read_file
from softlab.kernel.template_arguments import _ranks

MACROS = """\
template <typename T, int n> __global__ void k(T* x, int m) { *x = T(n + m); }
#define LAUNCH(K, grid, block, ...)   \\
  do {                                \\
    K<<<grid, block>>>(__VA_ARGS__);  \\
  } while (0)
#define CASE(N) case N: LAUNCH((k<float, N>), 2, N * 32, x, 1); break  /* a comment, with a comma */
#define BOOL_SWITCH(COND, NAME, ...)                                             \\
  [&] {                                                                          \\
    if (COND) { constexpr static bool NAME = true; return __VA_ARGS__(); }       \\
    else { constexpr static bool NAME = false; return __VA_ARGS__(); }           \\
  }()
#define DISPATCH(type, ...)                                                      \\
  switch (type) {                                                                \\
    case 0: { using scalar_t = short; __VA_ARGS__ } break;                       \\
    case 1: { typedef double scalar_t; __VA_ARGS__ } break;                      \\
  }
"""


@pytest.mark.parametrize(
    ("host", "launched"),
    [
        ("switch (m) { CASE(1); CASE(2); }", ["k<float, 1>", "k<float, 2>"]),
        ("LAUNCH((k<int, 8>), 3, 64,\n  x, 2);", ["k<int, 8>"]),
        ("BOOL_SWITCH(m > 3, big, [&] { k<int, big><<<1, 32>>>(x, 1); });", ["k<int, true>", "k<int, false>"]),
        ("DISPATCH(m, k<scalar_t, 3><<<1, 2>>>(x, 1););", ["k<short, 3>", "k<double, 3>"]),
        ('AT_DISPATCH_FLOATING_TYPES(m, "k", ([&] { k<scalar_t, 3><<<1, 2>>>(x, 1); }));',
         ["k<float, 3>", "k<double, 3>"]),
        ("if (m) { auto* f = &k<int, 6>; f<<<1, 1>>>(x, 1); } else { auto f = k<int, 7>; f<<<1, 1>>>(x, 1); }",
         ["k<int, 6>", "k<int, 7>"]),
        ("constexpr unsigned int a{32U}; constexpr int b{a / 4}; k<int, b / 2><<<1, 1>>>(x, 1);", ["k<int, 4>"]),
        ("constexpr int a{sizes::of(3)}; k<int, a><<<1, 1>>>(x, 1);", ["k"]),
        ("{ constexpr int n = 4; k<int, n><<<1, 1>>>(x, 1); } { constexpr int n = 5; k<int, n><<<1, 1>>>(x, 1); }",
         ["k<int, 4>", "k<int, 5>"]),
    ],
)  # fmt: skip
def test_launches_in_macros_and_blocks(host: str, launched: list[str]) -> None:
    code = read(f"{MACROS}void host(float* x, int m) {{\n{host}\n}}\n")
    assert [launch.kernel for launch in code.launches] == launched
    assert {launch.line for launch in code.launches} == {MACROS.count("\n") + 2}


def test_grids_of_launches_in_macros() -> None:
    code = read(f"{MACROS}void host(float* x) {{ switch (1) {{ CASE(2); }} }}\n")
    (launch,) = code.launches
    assert (launch.grid, launch.block, launch.arguments) == ((2,), (64,), ("x", "1"))


def test_a_macro_gives_the_only_instance(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"{MACROS}void host(float* x) {{ switch (1) {{ CASE(7); }} }}\n")
    x = np.zeros(1, np.float32)
    kernel = softlab.Kernel.from_file(path)
    kernel.run(1, 1, (x, 3))
    assert (kernel.program.name, x[0]) == ("k<float, 7>", 10)


@pytest.mark.parametrize(
    ("macro", "call", "text"),
    [
        ("#define L(k, ...) k<<<1, 2>>>(0, ##__VA_ARGS__)", "L(f)", "f<<<1, 2>>>(0)"),
        ("#define L(k, args...) k<<<1, 2>>>(args)", "L(f, 1, g(2, 3))", "f<<<1, 2>>>(1, g(2, 3))"),
        ('#define L(k) log(#k); k##_fast<<<1, 2>>>("a,b", k)', "L(f)", 'log("f"); f_fast<<<1, 2>>>("a,b", f)'),
        ("#define L(k) k<<<1, 2>>>()", "L(a, b)", "L(a, b)"),
        ("#define L(k) L(k<<<1, 2>>>())", "L(f", "L(f"),
        ("#define M(x) x", "M(f(1))", "M(f(1))"),
    ],
)
def test_macros_are_written_out(macro: str, call: str, text: str) -> None:
    assert written_out([call], macros_with_parameters([macro])) == [text]


def test_a_macro_that_is_defined_anew() -> None:
    code = read(
        "template <class T, int n> __global__ void a(T* x) {}\ntemplate <class T> __global__ void b(T* x) {}\n"
        "void first(float* x) {\n#define CASE(T) a<T, 4><<<1, 32>>>(x)\n  CASE(float);\n  CASE(int);\n#undef CASE\n}\n"
        "void second(float* x) {\n#define CASE(T) \\\n  b<T><<<1, 32>>>(x)\n  CASE(double);\n#undef CASE\n}\n"
    )
    assert [(launch.kernel, launch.line) for launch in code.launches] == [
        ("a<float, 4>", 5),
        ("a<int, 4>", 6),
        ("b<double>", 12),
    ]


def test_a_macro_that_calls_itself_ends() -> None:
    macros = macros_with_parameters(["#define L(k) k<<<1, 2>>>(); L(k)"])
    assert written_out(["L(f)"], macros)[0].count("f<<<1, 2>>>()") < 20


@pytest.mark.parametrize("launch", ["k<<<1, 2>>>(x)", "k(x)"])
def test_macros_that_launch_nothing_cost_nothing(launch: str) -> None:
    # Written out one after the other, they make 2 ** 24 words.
    doubled = [f"#define D{depth}(x) D{depth - 1}(x) D{depth - 1}(x)" for depth in range(1, 25)]
    macros = macros_with_parameters(
        ["#define D0(x) x", *doubled, f"#define RUN_IT(k) {launch}", "#define CAT(a, b) a##b"]
    )
    text = "void f() { D24(int a;) CAT(RUN, _IT)(g); RUN_IT(h); }"
    before = time.process_time()
    (written,) = written_out([text], macros)
    assert time.process_time() - before < 1
    assert ("h<<<1, 2>>>(x)" in written) == ("<<<" in launch)
    assert "D24(int a;)" in written


FUNCTIONS = """\
namespace op {
struct Add { __device__ float operator()(float a, float b) const { return a + b; } };
template <typename T> struct Times { __device__ T operator()(T a, T b) const { return a * b; } };
struct Host { float operator()(float a) { return a; } };
}
template <template <typename> class Op> __global__ void by_template(float* x) { *x = Op<float>()(*x, 3.0f); }
template <typename Op, int n> __global__ void by_object(float* x, Op op) {
  static_assert(n == 4 || n == 8, "n");
  *x = op(*x, n);
}
template <typename Traits> __global__ void by_traits(float* x) { *x = Traits::value; }
template <int n> __global__ void named(float* x) { *x = n; static_assert(n > 500, "n"); }
auto pointer = named<512>;
void launch(float* x) { by_object<<<1, 1>>>(x, [] __device__ (float a, float b) { return a; }); }
"""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("by_template", r"as in 'by_template<op::Times>'\.\n"),
        ("by_object", r"as in 'by_object<op::Add, 4>'\. The host launches it with a lambda, which has no name"),
        ("by_traits", r"only their form: of \d guesses none compiles\. The first one: k\.cu\(11\): error"),
        ("named", r"as in 'named<512>'\.\n"),
    ],
)
def test_the_arguments_of_an_error_compile(tmp_path: Path, name: str, message: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(FUNCTIONS)
    with pytest.raises(ValueError, match=message):
        softlab.Kernel.from_file(path, name)


def test_a_template_with_a_parameter_of_unknown_type_is_an_error(tmp_path: Path) -> None:
    """NVRTC alone would end the process."""
    path = tmp_path / "k.cu"
    path.write_text("template <int n> __global__ void k(Unknown* x) { x[threadIdx.x].x += n; }\n")
    with pytest.raises(softlab.CompileError, match='identifier "Unknown" is undefined'):
        softlab.Kernel.from_file(path, "k<3>")


def test_hundreds_of_launches_in_one_function(tmp_path: Path) -> None:
    """The function was searched again for each launch: a file with 160 of them took minutes."""
    ways = "".join(
        f"  if (n == {n}) {{ dim3 blocks(n, {n}); int size = {n}; k<{n}, true><<<blocks, 32>>>(x, size); }}\n"
        for n in range(200)
    )
    path = tmp_path / "many.cu"
    path.write_text(
        "template <int n, bool even> __global__ void k(float* x, int size) { *x = n + size; }\n"
        f"void run(float* x, int n) {{\n{ways}}}\n"
    )
    before = time.process_time()
    launches = read_file(path).launches
    assert time.process_time() - before < 8
    assert [launch.kernel for launch in launches] == [f"k<{n}, true>" for n in range(200)]


CLASSES = """\
template <typename T, int n> __global__ void k(T* x) { x[threadIdx.x] = n; }
"""


@pytest.mark.parametrize(
    ("host", "launched"),
    [
        ("template <typename T, int n> struct Runner { void run(T* x) { k<T, n><<<1, 2>>>(x); } };\n"
         "void host() { Runner<float, 4> one; auto other = new Runner<int, 2 * 4>(); }",
         ["k<float, 4>", "k<int, 8>"]),
        ("template <typename T> class Runner { T* x; template <int m> void run() { k<T, m><<<1, 2>>>(x); }\n"
         "  void both(); };\ntemplate <typename T> void Runner<T>::both() { run<8>(); k<T, 5><<<1, 2>>>(x); }\n"
         "template class Runner<double>;",
         ["k<double, 8>", "k<double, 5>"]),
        ("template <typename T, int n = 7> class Base { T* x; void run() { k<T, n><<<1, 2>>>(x); } };\n"
         "template <typename T> class Derived : public Base<T> {};\nusing Short = Derived<short>;",
         ["k<short, 7>"]),
        ("template <typename T> struct Runner { void run(T* x) { k<T, 3><<<1, 2>>>(x); } };", ["k"]),
    ],
)  # fmt: skip
def test_launches_in_class_templates(host: str, launched: list[str]) -> None:
    assert [launch.kernel for launch in read(CLASSES + host).launches] == launched


def test_class_templates_that_name_each_other_are_read_at_once() -> None:
    many = "".join(
        f"template <typename T> struct Of{n} {{ Of{(n + 1) % 60}<T>* next; Of{(n + 7) % 60}<T>* other;\n"
        f"  void run(T* x) {{ k<T, {n}><<<1, 2>>>(x); }} }};\n"
        for n in range(60)
    )
    before = time.process_time()
    launches = read(f"{CLASSES}{many}Of3<float> one;\n").launches
    assert time.process_time() - before < 8
    assert "k<float, 3>" in [launch.kernel for launch in launches]


def test_made_up_numbers_keep_what_a_kernel_asserts(tmp_path: Path) -> None:
    path = tmp_path / "tiles.cu"
    path.write_text(
        "constexpr int lanes = 32;\n"
        "template <int TILE, int WM, int WN, int TM, int TN> __global__ void k(float* x) {\n"
        '  static_assert(WM * WN == lanes * TM * TN, "a warp, and its tile");\n'
        "  static_assert(TILE % WM == 0 && TILE % WN == 0);\n  *x = WM * WN - lanes * TM * TN;\n}\n"
    )
    with pytest.raises(ValueError, match=r"as in 'k<[\d, ]+>'\.\n") as error:
        softlab.Kernel.from_file(path, "k")
    name = str(error.value).partition("as in '")[2].partition("'")[0]
    x = np.ones(1, np.float32)
    softlab.Kernel.from_file(path, name).run(1, 1, (x,), record=False)
    assert x[0] == 0


def test_many_numbers_are_made_up_one_by_one(tmp_path: Path) -> None:
    """Of 14 numbers there are 10**13 combinations."""
    path, names = tmp_path / "many.cu", [f"TILE_{number}" for number in range(13)]
    path.write_text(
        f"template <int WM, {', '.join(f'int {name}' for name in names)}> __global__ void k(float* x) {{\n"
        f"  static_assert(WM == TILE_12 && {' && '.join(f'{name} == 64' for name in names[:-1])});\n  *x = WM;\n}}\n"
    )
    with pytest.raises(ValueError, match=rf"as in 'k<32, {'64, ' * 12}32>'\.\n"):
        softlab.Kernel.from_file(path, "k")


@pytest.mark.parametrize("lengths", [(), (1,), (3, 1, 2), (2, 4, 3, 2)])
def test_the_first_choices_of_all_numbers_come_first(lengths: tuple[int, ...]) -> None:
    expected = sorted(product(*map(range, lengths)), key=sum)
    assert list(_ranks(lengths)) == expected


def test_made_up_types_of_generators_and_sizes_of_clusters(tmp_path: Path) -> None:
    path = tmp_path / "states.cu"
    path.write_text(
        "struct curandState { int seed; };\n__device__ int curand(curandState* state) { return state->seed += 1; }\n"
        "template <class Generator, int CLUSTER_M, int BM> __global__ __cluster_dims__(CLUSTER_M, 1, 1)\n"
        "void k(Generator* states, int* y) { *y = curand(states) + CLUSTER_M; }\n"
    )
    with pytest.raises(ValueError, match=r"as in 'k<curandState, 2, 64>'\.\n"):
        softlab.Kernel.from_file(path, "k")


def test_an_example_that_the_including_file_has(tmp_path: Path) -> None:
    (tmp_path / "part.cuh").write_text(
        "template <typename Shape> __global__ void k(float* x) { *x = Shape::rows * scale; }\n"
    )
    (tmp_path / "main.cu").write_text(
        "struct Wide { static constexpr int rows = 2; };\nstruct Tall { static constexpr int rows = 9; };\n"
        '#define scale 3\n#include "part.cuh"\n'
        "void run(float* x, bool wide) { if (wide) k<Wide><<<1, 1>>>(x); else k<Tall><<<1, 1>>>(x); }\n"
    )
    with pytest.raises(ValueError, match=r"as in 'k<Wide>'\.\n"):
        softlab.Kernel.from_file(tmp_path / "part.cuh", "k")
    x = np.zeros(1, np.float32)
    softlab.Kernel.from_file(tmp_path / "part.cuh", "k<Tall>").run(1, 1, (x,), record=False)
    assert x[0] == 27
