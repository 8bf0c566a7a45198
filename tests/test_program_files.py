"""Kernels that use what another file of their program defines for the device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab import cli
from softlab.cuda.compile import compile_program
from softlab.cuda.definitions import definitions, unresolved
from softlab.kernel import file_build

#: A header without a guard.
HEADER = """\
#define DEV __device__
DEV float scaled(float x);
extern __constant__ float table[4];
struct Line {
  int slope;
  DEV Line(int slope);
  DEV int at(int x) const;
};
"""
KERNEL = """\
#include "common.h"
#include <cstdio>
__global__ void k(float* y) {
  int i = threadIdx.x;
  y[i] = scaled(y[i]) + table[i] + Line(10).at(i);
}
int main() { printf("host\\n"); }
"""
FUNCTIONS = """\
#include "../common.h"
#include <vector>
static DEV float helper(float x) { return x * 1000; }
DEV float scaled(float x) { return helper(x); }
__constant__ float table[4] = {1, 2, 3, 4};
__global__ void k(float* y) { *y = scaled(missing); }
std::vector<int> host() { return {}; }
"""
METHODS = """\
#include "../common.h"
extern __device__ int offset;
DEV Line::Line(int slope) : slope(slope) {}
DEV int Line::at(int x) const { return slope * x + offset; }
"""
OFFSET = "__device__ int offset = 100;\n"
RESULT = [101, 1112, 2123, 3134]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The file with the kernel, in a checkout with the files that define what it declares."""
    texts = {
        "common.h": HEADER, "main.cu": KERNEL, "src/functions.cu": FUNCTIONS, "src/methods.cu": METHODS,
        "src/deep/offset.cu": OFFSET,
    }  # fmt: skip
    (tmp_path / ".git").mkdir()
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "main.cu"


def result(kernel: softlab.Kernel) -> list[float]:
    y = np.arange(4, dtype=np.float32)
    kernel.run(1, 4, (y,), record=False)
    return y.tolist()


def test_the_file_of_the_checkout_that_defines_a_name(program: Path) -> None:
    kernel = softlab.Kernel.from_file(program)
    assert result(kernel) == RESULT
    said = "\n".join(kernel.program.remarks)
    for file in ("functions", "methods", "deep/offset"):
        assert f"src/{file}.cu defines: that is compiled with it" in said
    assert kernel.program.source.splitlines()[: KERNEL.count("\n")][4] == KERNEL.splitlines()[4], "lines keep numbers"


def test_files_that_are_named(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (program.parent / ".git").rmdir()
    with pytest.raises(softlab.CompileError, match=r"scaled is declared, and no file .* defines it"):
        softlab.Kernel.from_file(program)
    files = [program.parent / "src" / name for name in ("functions.cu", "methods.cu", "deep/offset.cu")]
    assert result(softlab.Kernel.from_file(program, files=files)) == RESULT
    launch = [str(program), "--grid", "1", "--block", "4", "--args", "y=full(4, 1)", "--json"]
    assert cli.main(["run", *launch, "--files", *map(str, files)]) == 0
    assert "1134.0" in capsys.readouterr().out
    with pytest.raises(TypeError, match="list of paths"):
        softlab.Kernel.from_file(program, files="functions.cu")  # type: ignore[arg-type]


def test_several_files_that_define_a_name(program: Path) -> None:
    (program.parent / "other").mkdir()
    (program.parent / "other" / "functions.cu").write_text(FUNCTIONS.replace("1000", "5"))
    with pytest.raises(softlab.CompileError, match=r"scaled is defined in other/functions\.cu, src/functions\.cu"):
        softlab.Kernel.from_file(program)
    kernel = softlab.Kernel.from_file(program, files=[program.parent / "src" / "functions.cu"])
    assert result(kernel) == RESULT
    nearer = program.parent / "src" / "main.cu"
    nearer.write_text(KERNEL)
    assert result(softlab.Kernel.from_file(nearer)) == RESULT, "the nearest one"


def test_a_variable_that_no_file_defines_is_told(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("extern __device__ int shift;\n__global__ void k(int* x) { *x = shift; }\n")
    kernel = softlab.Kernel.from_file(path)
    kernel.globals["shift"] = 7
    x = np.zeros(1, np.int32)
    run = kernel.run(1, 1, (x,), record=False)
    assert x[0] == 7
    assert run.remarks == ("shift is declared, and no file beside it or in its checkout defines it",)


def test_a_further_file_that_includes_the_kernels_file(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("__device__ int f(int x);\n__global__ void k(int* x) { *x = f(*x); }\n")
    (tmp_path / "all.cu").write_text('__device__ int f(int x) { return x + 5; }\n#include "k.cu"\n')
    x = np.ones(1, np.int32)
    softlab.Kernel.from_file(tmp_path / "k.cu", files=[tmp_path / "all.cu"]).run(1, 1, (x,))
    assert x[0] == 6


def test_only_definitions_for_the_device_count(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("")
    (tmp_path / "a.cu").write_text(
        "int f(int x) { return x; }\n__device__ int f(float);\n__device__ int g() { f(1); }\n"
    )
    (tmp_path / "b.cpp").write_text("#define HD __host__ __device__\nnamespace n { HD int f(int x) { return x; } }\n")
    assert definitions(path, {"f"}).files == (tmp_path / "b.cpp",)
    assert definitions(path, set()).files == ()


@pytest.mark.parametrize(
    ("symbol", "name"),
    [("_Z1fi", "f"), ("_ZN2ns1fEi", "ns::f"), ("_ZNK1A3getEv", "A::get"), ("_ZN2ns4LineC1EPKc", "Line"),
     ("_ZN1a1b1C3getEv", "C::get"), ("plain", "plain"), ("_ZN1AIfE3setEf", "A")],
)  # fmt: skip
def test_names_in_the_compilers_log(symbol: str, name: str) -> None:
    assert unresolved(f"ptxas fatal   : Unresolved extern function '{symbol}'") == [name]


SHAPES = """\
#pragma once
struct Shape { __device__ virtual int area() const = 0; };
struct Square : Shape { int side; __device__ Square(int side) : side(side) {} __device__ int area() const override; };
struct Strip : Shape { int length; __device__ Strip(int length) : length(length) {} __device__ int area() const; };
"""
SHAPES_KERNEL = """\
#include "shapes.h"
__global__ void k(int* x) {
  Square square(*x);
  Strip strip(*x);
  const Shape* shapes[] = {&square, &strip};
  *x = 0;
  for (int i = 0; i < 2; ++i) *x = 100 * *x + shapes[i]->area();
}
"""


def test_virtual_functions_that_the_files_of_their_classes_define(tmp_path: Path) -> None:
    """The assembler names such a function otherwise than one that is called, and two classes have one of that name."""
    (tmp_path / "shapes.h").write_text(SHAPES)
    (tmp_path / "k.cu").write_text(SHAPES_KERNEL)
    for name, value in (("Square", "side * side"), ("Strip", "length")):
        text = f'#include "shapes.h"\n__device__ int {name}::area() const {{ return {value}; }}\n'
        (tmp_path / f"{name}.cu").write_text(text)
    x = np.array([7], np.int32)
    run = softlab.Kernel.from_file(tmp_path / "k.cu").run(1, 1, (x,), record=False)
    assert x[0] == 4907
    assert "k.cu declares Strip::area, which Strip.cu defines: that is compiled with it" in run.remarks


def test_an_instance_that_fails_is_not_tried_in_the_file_that_includes_it(tmp_path: Path) -> None:
    path = tmp_path / "k.cuh"
    path.write_text("template <class T> __global__ void k(T* x) { *x = x->value; }\n")
    (tmp_path / "main.cu").write_text('struct One { int value; };\n#include "k.cuh"\n')
    with pytest.raises(softlab.CompileError, match="pointer-to-class type") as error:
        softlab.Kernel.from_file(path, "k<float>")
    assert "Another file" not in str(error.value)
    with pytest.raises(softlab.CompileError, match="cannot determine which instance") as error:
        softlab.Kernel.from_file(path, "k<3>")
    assert "Another file" not in str(error.value)
    path.write_text("template <class T> __global__ void k(T* x) { *x = twice(*x); }\n")
    (tmp_path / "main.cu").write_text('__device__ float twice(float x) { return 2 * x; }\n#include "k.cuh"\n')
    x = np.ones(1, np.float32)
    softlab.Kernel.from_file(path, "k<float>").run(1, 1, (x,), record=False)
    assert x[0] == 2


def test_a_part_of_a_header_does_without_what_the_program_has_before_it(tmp_path: Path) -> None:
    """The program's own file brings a function that does not compile, and the part has its name for something else."""
    (tmp_path / "main.cu").write_text('__device__ int more(int x) { return nowhere(x); }\n#include "outer.cuh"\n')
    (tmp_path / "outer.cuh").write_text('__device__ int twice(int x) { return 2 * x; }\n#include "part.cuh"\n')
    path = tmp_path / "part.cuh"
    path.write_text("__global__ void k(int* x, int more) { *x = twice(more); }\n")
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x, 4), record=False)
    assert x[0] == 8


def test_operators_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("__device__ int f(int2 a);\n__global__ void k(int* x) { *x = f(int2{3, 4}); }\n")
    operator = "__device__ int2 operator+(int2 a, int2 b) { return {a.x + b.x, a.y + b.y}; }\n"
    (tmp_path / "f.cu").write_text(f"{operator}__device__ int f(int2 a) {{ int2 b = a + a; return 10 * b.x + b.y; }}\n")
    x = np.zeros(1, np.int32)
    softlab.Kernel.from_file(tmp_path / "k.cu").run(1, 1, (x,), record=False)
    assert x[0] == 68


def test_of_functions_with_one_name_the_one_that_is_missing_is_taken(tmp_path: Path) -> None:
    """Two files define a function with this name; one of them is a part of the program for another function."""
    texts = {
        "k.cu": "__device__ float area(float r);\n__device__ float both(float a);\n"
        "__global__ void k(float* y) { *y = both(*y) + area(*y); }\n",
        "both.cu": "__device__ float area(float a, float b) { return a * b; }\n"
        "__device__ float both(float a) { return area(a, 2.0f); }\n",
        "area.cu": "__device__ float area(float r) { return 3.0f * r * r; }\n",
    }
    (tmp_path / ".git").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    y = np.full(1, 2, np.float32)
    softlab.Kernel.from_file(tmp_path / "k.cu", "k", files=[tmp_path / "both.cu"]).run(1, 1, (y,))
    assert y[0] == 16
    run = softlab.Kernel.from_file(tmp_path / "k.cu", "k").run(1, 1, (y,))
    assert y[0] == 2 * 16 + 3 * 16 * 16
    assert any("declares area, which area.cu defines" in remark for remark in run.remarks)


def test_variables_that_each_file_has_for_itself(tmp_path: Path) -> None:
    texts = {
        "k.cu": "const auto step = 1e-1F;\nstatic __constant__ int table[2] = {1, 2};\n"
        "extern __device__ const int shared;\n"
        "struct Pair { int step; };\n"
        "__device__ float other(float x);\n"
        "__global__ void k(float* y) { Pair p{3}; *y = other(*y) + step + table[1] + p.step + shared; }\n",
        "other.cu": "struct Part { int n; };\nconstexpr auto step = 100;\nstatic __constant__ int table[1] = {1000};\n"
        "__device__ const int shared = 7000;\n"
        "__device__ float other(float x) { return x + step + table[0]; }\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    y = np.full(1, 2, np.float32)
    softlab.Kernel.from_file(tmp_path / "k.cu", "k").run(1, 1, (y,))
    assert y[0] == np.float32(2 + 100 + 1000 + 0.1 + 2 + 3 + 7000)


def test_each_file_has_its_own_macros(tmp_path: Path) -> None:
    """One file's macros are none in the other: not as a value, a name or the guard of another header."""
    texts = {
        "k.cu": '#include "sizes.h"\n#define TILE 32\n#define SCALE 2\n'
        "__device__ int other(int x);\ntemplate <int N> __global__ void k(int* y) { *y = other(*y) * N + SCALE; }\n",
        "sizes.h": "#ifndef SIZES_H\n#define SIZES_H\n#define WIDTH 5\n#endif\n",
        "other/sizes.h": "#ifndef SIZES_H\n#define SIZES_H\n#define WIDTH 7000\n#endif\n",
        "other/other.cu": '#include "sizes.h"\n#ifndef TILE\n#define TILE 16\n#endif\n#ifndef GIVEN\n#define GIVEN 1\n'
        "#endif\n__device__ int other(int x) { int SCALE = 100; return x + TILE + SCALE + WIDTH + 100000 * GIVEN; }\n",
    }
    (tmp_path / "other").mkdir()
    (tmp_path / ".git").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    for options, given in ((), 1), (("-DGIVEN=9",), 9):
        y = np.full(1, 3, np.int32)
        kernel = softlab.Kernel.from_file(tmp_path / "k.cu", "k<TILE>", options=options)
        kernel.run(1, 1, (y,))
        assert y[0] == (3 + 16 + 100 + 7000 + 100000 * given) * 32 + 2


def test_a_macro_of_the_options_is_one_of_each_file(tmp_path: Path) -> None:
    default = "#ifndef TILE\n#define TILE {}\n#endif\n"
    (tmp_path / "k.cu").write_text(
        default.format(1) + "__device__ int other();\n__global__ void k(int* y) { *y = 100 * TILE + other(); }\n"
    )
    (tmp_path / "other.cu").write_text(default.format(2) + "__device__ int other() { return TILE; }\n")
    for options, expected in ((), 102), (("-DTILE=8",), 808):
        y = np.zeros(1, np.int32)
        softlab.Kernel.from_file(tmp_path / "k.cu", "k", options=options).run(1, 1, (y,))
        assert y[0] == expected


def test_a_shared_header_that_names_a_macro_of_two_values_is_said(tmp_path: Path) -> None:
    texts = {
        "k.cu": '#define TILE 32\n#define SAME 1\n#include "tile.h"\n__device__ int other();\n'
        "__global__ void k(int* y) { *y = twice() + other(); }\n",
        "other.cu": '#define TILE 16\n#define SAME  1\n#include "tile.h"\n__device__ int other() { return TILE; }\n',
        "tile.h": "#pragma once\ninline __device__ int twice() { return 2 * TILE * SAME; }\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    y = np.zeros(1, np.int32)
    kernel = softlab.Kernel.from_file(tmp_path / "k.cu", "k")
    kernel.run(1, 1, (y,))
    assert y[0] == 64 + 16
    said = "tile.h names TILE, which k.cu and other.cu define differently: it is compiled once"
    remarks = [one for one in kernel.program.remarks if "SAME" in one or "TILE" in one]
    assert len(remarks) == 1
    assert said in remarks[0]


@pytest.mark.parametrize("first", [True, False])
def test_a_shared_header_that_names_a_macro_of_one_file_is_said(first: bool, tmp_path: Path) -> None:
    define, include = "#define DOUBLE\n", '#include "tile.h"\n'
    after = "#define LATER 1\n"  # the header does not see it
    texts = {
        "k.cu": (define if first else "") + include + after + "__device__ int other();\n"
        "__global__ void k(int* y) { *y = 10 * value() + other(); }\n",
        "other.cu": ("" if first else define) + include + "__device__ int other() { return value(); }\n",
        "tile.h": "#pragma once\n#ifdef DOUBLE\ninline __device__ int value() { int LATER = 2; return LATER; }\n"
        "#else\ninline __device__ int value() { return 1; }\n#endif\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    y = np.zeros(1, np.int32)
    kernel = softlab.Kernel.from_file(tmp_path / "k.cu", "k")
    kernel.run(1, 1, (y,))
    assert y[0] == (22 if first else 11)
    one, other = ("k.cu", "other.cu") if first else ("other.cu", "k.cu")
    (said,) = [remark for remark in kernel.program.remarks if "tile.h names" in remark]
    assert f"tile.h names DOUBLE, which {one} defines before it and {other} does not: it is compiled once" in said
    given = softlab.Kernel.from_file(tmp_path / "k.cu", "k", options=["-DDOUBLE"])
    assert not any("tile.h names" in remark for remark in given.program.remarks)


def test_what_a_shared_header_itself_defines(tmp_path: Path) -> None:
    texts = {
        "k.cu": '#define TILE 32\n#include "sizes.h"\n#include "tile.h"\n__device__ int other();\n'
        "__global__ void k(int* y) { *y = 1000 * size() + other(); }\n",
        "other.cu": '#include "tile.h"\n__device__ int other() { return size(); }\n',
        "sizes.h": "#pragma once\n#define WIDTH 10\n",
        "tile.h": '#pragma once\n#include "sizes.h"\n#undef WIDTH\n#define WIDTH 50\n'
        "#ifndef TILE\n#define TILE 8\n#endif\ninline __device__ int size() { return WIDTH + TILE; }\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    y = np.zeros(1, np.int32)
    kernel = softlab.Kernel.from_file(tmp_path / "k.cu", "k")
    kernel.run(1, 1, (y,))
    assert y[0] == 82082
    (said,) = [remark for remark in kernel.program.remarks if "tile.h names" in remark]
    assert "tile.h names TILE, which k.cu defines before it and other.cu does not" in said


def test_a_macro_of_two_branches_is_none_after_another_file_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "#ifdef LARGE\n#define TILE 32\n#else\n#define TILE 8\n#endif\n__device__ int other();\n"
        "template <int N> __global__ void k(int* y) { *y = 10000 * N + 100 * TILE + other(); }\n"
    )
    (tmp_path / "other.cu").write_text("#define TILE 16\n__device__ int other() { return TILE; }\n")
    y = np.zeros(1, np.int32)
    softlab.Kernel.from_file(tmp_path / "k.cu", "k<8>").run(1, 1, (y,))
    assert y[0] == 80816
    with pytest.raises(softlab.CompileError, match='"TILE" is undefined'):
        softlab.Kernel.from_file(tmp_path / "k.cu", "k<TILE>")


def test_functions_of_one_name_in_several_files(tmp_path: Path) -> None:
    """Each file has another overload: the one with the parameters that are missing is taken."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "shapes.h").write_text(
        "#pragma once\nstruct Ball { float radius; };\nstruct Box { float a, b; };\n"
        "__device__ float area(const Ball& ball);\n__device__ float area(Box box);\n"
    )
    (tmp_path / "ball.cu").write_text(
        '#include "shapes.h"\n__device__ float area(const Ball& ball) { return 3 * ball.radius * ball.radius; }\n'
    )
    (tmp_path / "box.cu").write_text('#include "shapes.h"\n__device__ float area(Box box) { return box.a * box.b; }\n')
    path = tmp_path / "main.cu"
    path.write_text(
        '#include "shapes.h"\n__global__ void k(float* x) { x[0] = area(Ball{x[0]}); x[1] = area(Box{x[1], 5}); }\n'
    )
    x = np.array([2, 4], np.float32)
    run = softlab.Kernel.from_file(path).run(1, 1, (x,), record=False)
    assert x.tolist() == [12, 20]
    assert sum("declares area, which" in remark for remark in run.remarks) == 2


def test_all_functions_that_are_missing_are_looked_for_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The assembler names the first one only."""
    (tmp_path / ".git").mkdir()
    names = [f"get{number}" for number in range(6)]
    methods = "".join(f"  __device__ int {name}() const;\n" for name in names)
    (tmp_path / "parts.h").write_text(f"#pragma once\nstruct Parts {{\n  int n;\n{methods}}};\n")
    for number, name in enumerate(names):
        text = f'#include "parts.h"\n__device__ int Parts::{name}() const {{ return n + {number}; }}\n'
        (tmp_path / f"{name}.cu").write_text(text)
    path, calls = tmp_path / "main.cu", " + ".join(f"p.{name}()" for name in names)
    path.write_text(f'#include "parts.h"\n__global__ void k(int* x) {{ Parts p{{*x}}; *x = {calls}; }}\n')
    tried = []
    monkeypatch.setattr(
        file_build, "compile_program", lambda *one, **more: tried.append(one) or compile_program(*one, **more)
    )
    x = np.array([10], np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,), record=False)
    assert x[0] == 75
    assert len(tried) == 2
