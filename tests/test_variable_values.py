"""What a variable, a field of a struct, a texture or a tensor map refuses: nothing is changed without a word."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.kernel import Kernel

SOURCE = """
struct Part { const float* p; int n; };
__constant__ float w[4];
__constant__ Part part;
__device__ int n;
__device__ signed char c;
__device__ unsigned char u;
__device__ float* q;
__device__ int m[2][3];
extern "C" __global__ void k(float* x, Part by_value) {
  x[0] = w[0] + n + c + u + q[0] + m[1][2] + part.p[0] + part.n + by_value.p[0];
}
"""
MASKED = np.ma.masked_array(np.zeros(4, np.float32), True)


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return Kernel(SOURCE, "k")


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("w", [0, 1e300, 0, 0], ValueError, "w is float[4], and 1e+300 is beyond the largest float32"),
        ("w", MASKED, TypeError, "w is float[4], and the array is masked: pass x.filled(value)"),
        ("w", np.zeros(4, ">f4"), TypeError, "the array has the dtype >f4. Its byte order is not the GPU's"),
        ("n", 2**31, ValueError, "n is int, and 2147483648 does not fit in it"),
        ("n", -(2**31) - 1, ValueError, "n is int, and -2147483649 does not fit in it"),
        ("c", 128, ValueError, "c is signed char, and 128 does not fit in it"),
        ("u", 256, ValueError, "u is unsigned char, and 256 does not fit in it"),
        ("m", [[1, 2], [3, 4, 5]], ValueError, "m is int[2][3], and the lists in it are of several lengths"),
        ("q", np.zeros(3), TypeError, "the value of q is an array of float64, but q is float*, which takes float32"),
        ("q", np.zeros(3, ">f4"), TypeError, "q is the pointer float*, and the array has the dtype >f4"),
        ("part", (np.zeros(3, "i4"), 3), TypeError, "the value of part.p is an array of int32, but part.p is "),
    ],
)
def test_a_value_that_would_change(kernel: Kernel, name: str, value: Any, error: type[Exception], message: str) -> None:
    variables = kernel.constants if name in ("w", "part") else kernel.globals
    with pytest.raises(error, match=re.escape(message)):
        variables[name] = value


@pytest.mark.parametrize(
    ("name", "value", "held"),
    [
        ("w", [0, np.inf, -np.inf, 3e38], [0, np.inf, -np.inf, np.float32(3e38)]),
        ("n", 2**31 - 1, 2**31 - 1),
        ("n", -(2**31), -(2**31)),
        ("c", -128, -128),
        ("u", -1, 255),
        ("u", 255, 255),
    ],
)
def test_a_value_that_fits(kernel: Kernel, name: str, value: Any, held: Any) -> None:
    variables = kernel.constants if name == "w" else kernel.globals
    variables[name] = value
    assert np.array_equal(variables[name], held)


def test_a_pointer_in_a_struct_by_value(kernel: Kernel) -> None:
    with pytest.raises(TypeError, match=r"the value of argument 1\.p is an array of float64, but argument 1\.p is "):
        kernel.run(1, 1, [np.zeros(1, "f4"), (np.zeros(3), 3)], record=False)


@pytest.mark.parametrize("make", [softlab.Texture, softlab.Surface, lambda array: softlab.TensorMap(array, 4)])
def test_a_masked_array_is_no_picture(make: Any) -> None:
    with pytest.raises(TypeError, match="the array is masked, and a kernel sees no mask"):
        make(MASKED)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"box": (4, 1.5)}, r"box = \(4, 1.5\): it takes an integer, or one for each axis"),
        ({"box": "ab"}, "box = 'ab': it takes an integer"),
        ({"box": (4, 4), "element_strides": (1, 1.5)}, r"element_strides = \(1, 1.5\): it takes an integer"),
    ],
)
def test_the_box_of_a_tensor_map_has_integers(fields: dict, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        softlab.TensorMap(np.zeros((64, 64), np.float32), **fields)
