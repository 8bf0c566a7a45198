"""The launch that ``softlab estimate`` and ``softlab run`` read: values of ``--args``, sizes, launches of a file."""

from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import softlab
from softlab import cli
from softlab.kernel.c_types import CType
from softlab.workbench.launches import Parameter, arguments, sizes


def parameters(*texts: str) -> list[Parameter]:
    """Parameters of declarations such as "const float* x"."""
    found = []
    for text in texts:
        kind, name = text.rsplit(" ", 1)
        found.append(Parameter(name, text, CType.parse(kind)))
    return found


def value(text: str, declaration: str):
    (found,) = arguments(text, parameters(declaration), "k")
    return found


@pytest.mark.parametrize(
    ("declaration", "dtype"),
    [
        ("const float* x", np.float32), ("double* x", np.float64), ("__half* x", np.float16),
        ("__nv_bfloat16* x", ml_dtypes.bfloat16), ("unsigned int* x", np.uint32), ("long long* x", np.int64),
        ("unsigned char* x", np.uint8), ("uint2* x", np.uint32), ("float4* x", np.float32), ("bool* x", np.bool_),
    ],
)  # fmt: skip
def test_the_dtype_is_that_of_the_parameter(declaration, dtype):
    for maker in ("random", "zeros", "ones"):
        found = value(f"x={maker}(64)", declaration)
        assert (found.dtype, found.shape) == (np.dtype(dtype), (64,))


def test_makers():
    assert value("x=arange(5)", "int* x").tolist() == [0, 1, 2, 3, 4]
    assert value("x=full((2, 3), -7)", "int* x").tolist() == [[-7] * 3] * 2
    assert value("x=ones(2, float16)", "void* x").dtype == np.float16
    assert value("x=zeros(2, 'uint8')", "void* x").dtype == np.uint8
    drawn = value("random(1000)", "float* x")
    assert abs(drawn.mean()) < 0.2
    assert abs(drawn.std() - 1) < 0.2
    assert (drawn == value("random(1000)", "float* x")).all()
    integers = value("random(1000)", "int* x")
    assert (integers.min(), integers.max()) == (0, 99)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("n=4096", 4096), ("n=-3", -3), ("n=1 << 20", 1 << 20), ("n=(64*1024 + 7)//2 - 1", 32770), ("n=2.5", 2.5)],
)
def test_numbers(text, expected):
    assert value(text, "int n") == expected


def test_values_come_in_the_order_of_the_parameters():
    found = arguments("3, b=2.0, p=None", parameters("int n", "float* p", "float b"), "k")
    assert found == (3, None, 2.0)


def test_a_struct_is_a_tuple_of_its_fields():
    assert value("s=(64, 64 * 2, 0.5)", "Shape s") == (64, 128, 0.5)
    _, s = arguments("zeros(4), (zeros(8, float32), 3)", [*parameters("float* x"), Parameter("s", "View s", None)], "k")
    assert (s[0].shape, s[1]) == ((8,), 3)
    with pytest.raises(ValueError, match=r"s=\(1, 2.0\)"):
        arguments("", parameters("Shape s"), "k")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "--args has no value for x, n"),
        ("x=zeros(4)", "--args has no value for n"),
        ("x=zeros(4), n=1, m=2", "the kernel has no parameter 'm'"),
        ("zeros(4), 3, x=zeros(4)", "two values for x"),
        ("zeros(4), 3, 4", "more values than parameters"),
        ("x=zeros(4), n=", "invalid syntax"),
        ("x=zeros(4)) + (n", "no list of values"),
        ("x=open('f'), n=1", "arrays are made by random"),
        ("x=zeros(4).sum(), n=1", "arrays are made by random"),
        ("x=[].append, n=1", "give a number"),
        ("x=zeros(4), n=__import__", "give a number"),
        ("x=zeros(4), n=9**9**9", "give a number"),
        ("x=zeros(4), n=1 << 99999", "give a number"),
        ("x=zeros(4), n=1 // 0", "give a number"),
        ("x=zeros(0), n=1", "above 0"),
        ("x=zeros(1 << 40), n=1", "at most 8 GiB"),
        ("x=zeros(4, float31), n=1", "the dtype is one of float16"),
        ("x=zeros(shape=4), n=1", "arrays are made by"),
        ("x=full(4), n=1", "arrays are made by"),
        ("x=arange((2, 3)), n=1", "arange takes one length"),
        ("x=full(4, 300, uint8), n=1", "300 is no uint8"),
        ("x=full(4, 0.5, int32), n=1", "0.5 is no int32"),
        ("(" * 500, "--args"),
    ],
)
def test_wrong_arguments(text, words):
    with pytest.raises(ValueError, match="--args") as raised:
        arguments(text, parameters("float* x", "int n"), "k")
    assert words in str(raised.value)


def test_the_example_of_an_error_is_right():
    declared = parameters("const float* x", "void* y", "float a", "int n")
    with pytest.raises(ValueError, match="For example") as raised:
        arguments("", declared, "k")
    example = str(raised.value).partition('For example: --args "')[2].rstrip('"')
    x, y, a, n = arguments(example, declared, "k")
    assert (x.dtype, y.dtype, type(a), type(n)) == (np.float32, np.float32, float, int)


def test_a_list_of_arrays_is_an_array_of_pointers():
    declared = parameters("const float** rows", "int n")
    rows, n = arguments("[random(4), None, zeros(8, float16)], 4", declared, "k")
    assert [None if row is None else (row.dtype, len(row)) for row in rows] == [
        (np.float32, 4), None, (np.float16, 8),
    ]  # fmt: skip
    assert n == 4
    with pytest.raises(ValueError, match="For example") as raised:
        arguments("", declared, "k")
    example = str(raised.value).partition('For example: --args "')[2].rstrip('"')
    assert [row.dtype for row in arguments(example, declared, "k")[0]] == [np.float32, np.float32]
    with pytest.raises(ValueError, match=r"an array of pointers. Give a list of arrays, as in rows=\[zeros\(4096\), "):
        arguments("zeros(4), 4", declared, "k")


def test_a_type_that_is_not_known_needs_a_dtype():
    with pytest.raises(ValueError, match=r"which does not say its dtype. Add one of .*x=random\(4096, float32\)"):
        value("x=zeros(4)", "void* x")


@pytest.mark.parametrize(
    ("text", "expected"), [("64", (64,)), ("8,4", (8, 4)), ("8x4x2", (8, 4, 2)), ("(8, 4)", (8, 4))]
)
def test_sizes(text, expected):
    assert sizes("--grid", text) == expected


@pytest.mark.parametrize("text", ["", "0", "-1", "1,2,3,4", "a", "1.5", "8,"])
def test_wrong_sizes(text):
    with pytest.raises(ValueError, match="one to three whole numbers above 0"):
        sizes("--grid", text)


def test_a_parameter_may_be_called_as_a_word_of_python():
    x, count = arguments("in=zeros(8), lambda=3", parameters("const float* in", "int lambda"), "k")
    assert (x.shape, count) == ((8,), 3)
    with pytest.raises(ValueError, match="two values for in"):
        arguments("zeros(8), in=zeros(8)", parameters("const float* in", "int n"), "k")


def test_textures_and_surfaces():
    t = value("t=texture(random((4, 8, 2)), channels=2, filter='point', address=(wrap, clamp), normalized=True)", "T t")
    assert isinstance(t, softlab.Texture)
    assert (t.array.dtype, t.size, t.filter, t.addresses) == (np.float32, (4, 8), "point", ("wrap", "clamp"))
    assert value("t=texture(full(8, 3, uint8), read=normalized)", "T t").array[0] == 3
    assert isinstance(value("s=surface(zeros((4, 8)), layered=True)", "T s"), softlab.Surface)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t=texture(4)", "write texture(array), such as texture(random((64, 64))), with filter, address"),
        ("t=texture(zeros(4), mode=point)", "write texture(array)"),
        ("t=surface(zeros(4), filter=point)", "write surface(array), such as surface(random((64, 64))), with channels"),
        ("t=texture(zeros(4), filter=near)", "filter = 'near': it must be 'point' or 'linear'"),
        ("t=texture(zeros(4), filter=open('f'))", "open('f') is no word"),
        ("t=texture(zeros(4, int32))", 'take filter="point"'),
        ("t=texture(texture(zeros(4)))", "arrays are made by random"),
    ],
)
def test_wrong_textures(text, words):
    with pytest.raises(ValueError, match="--args t=") as raised:
        value(text, "T t")
    assert words in str(raised.value)


CONSTANTS = """\
__constant__ float c_filter[3];
__constant__ int shift;
texture<float, 1, cudaReadModeElementType> table;
__global__ void k(cudaTextureObject_t image, cudaSurfaceObject_t out) {
  float sum = shift + tex1Dfetch(table, threadIdx.x);
  for (int i = 0; i < 3; ++i) sum += c_filter[i] * tex2D<float>(image, threadIdx.x, blockIdx.x);
  surf2Dwrite(sum, out, threadIdx.x * 4, blockIdx.x);
}
"""


def test_constants(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.cu"
    path.write_text(CONSTANTS)
    other = tmp_path / "other.cu"
    other.write_text(CONSTANTS.replace("= shift", "= 1 + shift"))
    shape = ["--grid", "2", "--block", "4"]
    assert cli.main(["run", str(path), *shape]) == 2
    assert "image=texture(random((64, 64))), out=surface(zeros((64, 64)))" in capsys.readouterr().err
    launch = [*shape, "--args", "image=texture(full((2, 4), 2), filter=point), out=surface(zeros((2, 4)))"]
    constants = ["--constant", "c_filter=ones(3)", "--constant", "shift=5", "--constant", "table=texture(arange(4))"]
    assert cli.main(["run", str(path), *launch, *constants, "--json"]) == 0
    arrays = json.loads(capsys.readouterr().out)["arrays"]
    assert list(arrays) == ["out"], "a kernel cannot change a texture"
    assert arrays["out"]["first_values"] == [11, 12, 13, 14, 11, 12, 13, 14]
    assert arrays["out"]["changed"] == 8, "beside the surface before the run"
    assert cli.main(["compare", str(path), str(other), *launch, *constants, "--json"]) == 1
    capsys.readouterr()
    spec = tmp_path / "k.softlab.toml"
    keys = f'grid = 2\nblock = 4\nargs = "{launch[-1]}"\nconstants = {constants[1::2]}\n'
    spec.write_text(f'[[check]]\nfile = "k.cu"\n{keys}')
    assert cli.main(["check", str(path), "--spec", str(spec)]) == 0
    for text, words in {
        "c_filter=ones(4)": "it takes the shape (3,), got (4,)",
        "filter=ones(3)": "no __constant__ variable 'filter'; it has c_filter, shift, table",
        "shift": "write NAME=VALUE",
        "shift=1.5": "it takes numbers of the dtype int32",
        "shift=open": "--constant shift=open: give a number",
    }.items():
        assert cli.main(["run", str(path), *launch, "--constant", text]) == 2
        error = " ".join(capsys.readouterr().err.split())
        assert words in error
        assert error.count("--constant") == 1
