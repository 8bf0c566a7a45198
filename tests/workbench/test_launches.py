"""The launch that ``softlab estimate`` and ``softlab run`` read: values of ``--args``, sizes, launches of a file."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

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
