"""Accesses through a null pointer: which one it is, and which addresses count as one; and far from all arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel

Y = np.zeros(4, np.float32)
LET = ". Let the pointer point to an array, or test it before the access"
PASS = ". Pass an array for it, or test the pointer before the access"


def fault(parameters: str, body: str, *arguments: Any) -> KernelFault:
    source = f"struct P {{ long long a; float* p; float* q; }};\n__global__ void k({parameters}) {{ {body} }}"
    with pytest.raises(KernelFault) as caught:
        Kernel(source, "k").run(1, 1, arguments)
    return caught.value


def said(found: KernelFault) -> str:
    return str(found).partition("\n")[0].removeprefix("global-out-of-bounds: the thread ")


@pytest.mark.parametrize(
    ("index", "address"),
    [(0, 0), (5, 20), (-3, -12), (2**30 - 1, 2**32 - 4), (2**30, None), (1 - 2**30, 4 - 2**32), (-(2**30), None)],
)
def test_an_address_within_4_gib_of_0_is_an_offset_from_a_null_pointer(index: int, address: int | None):
    """Either of the two numbers of the address may be the pointer."""
    found = said(fault("const float* x, float* y, long long i", "y[0] = x[i];", None, Y, np.int64(index)))
    if address is None:
        assert found.startswith(f"reads 4 bytes at address {4 * index % 2**64:#x}, where no array is.")
    else:
        assert found == f"reads 4 bytes through a null pointer: the address is {address}{LET}"


@pytest.mark.parametrize(
    ("parameters", "body", "arguments", "at", "argument"),
    [
        ("float* y, float* x, int i", "y[0] = x[i];", (Y, Y.copy(), np.int32(1 << 28)),
         "byte 1073741824 of argument 1", 1),
        ("float* y, float* x, int i", "y[0] = x[i];", (Y, Y.copy(), np.int32(-1 << 28)),
         "byte -1073741824 of argument 1", 1),
        ("P s, float* y, int i", "y[0] = s.q[i];", ({"a": 1, "p": None, "q": Y}, Y.copy(), np.int32(1 << 28)),
         "byte 1073741824 of ", 0),
    ],
)  # fmt: skip
def test_an_address_far_from_all_arrays_is_one_of_the_array_that_it_was_computed_from(
    parameters, body, arguments, at, argument
):
    found = fault(parameters, body, *arguments)
    assert said(found).startswith(f"reads 4 bytes at {at}")
    assert ", which has 16 bytes" in said(found)
    assert found.argument == argument


def test_an_address_far_from_all_arrays_that_may_be_of_two_is_of_none():
    found = fault(
        "float* a, float* b, float* y, int i", "y[0] = (i > 2 ? a : b)[i];", Y, Y.copy(), Y.copy(), np.int32(1 << 28)
    )
    assert ", where no array is. " in said(found)
    assert found.argument is None


@pytest.mark.parametrize(
    ("parameters", "body", "arguments", "words", "symbol", "argument"),
    [
        ("float* y, float* a, int i", "a[i] = 1;", (Y, None, np.int32(-2)),
         f"writes a[-2], but a is a null pointer{PASS}", "a[-2]", 1),
        ("double* x, float* y, int i", "y[0] = x[i];", (None, Y, np.int32(3)),
         f"reads x[3], but x is a null pointer{PASS}", "x[3]", 0),
        ("float* y, P s, int i", "y[0] = s.p[i];", (Y, {"a": 1, "p": None, "q": None}, np.int32(3)),
         f"reads element 3 through a null pointer: the one at byte 8 of s{PASS}", None, 1),
        ("P s, float* y, int i", "y[0] = s.q[i];", ({"a": 1, "p": None, "q": None}, Y, np.int32(-1)),
         f"reads element -1 through a null pointer: the one at byte 16 of s{PASS}", None, 0),
        ("float** x, float* y", "y[0] = x[1][3];", (np.zeros(4, np.uint64), Y),
         f"reads 4 bytes through a null pointer that was loaded from memory: the address is 12{LET}", None, None),
        ("float* a, float* b, float* y, int i", "y[0] = (i > 2 ? a : b)[i];", (None, None, Y, np.int32(3)),
         f"reads 4 bytes through a null pointer: the address is 12{LET}", None, None),
        ("float* a, float* b, float* y, int i", "y[0] = (i > 2 ? a : b)[i];", (Y, None, Y, np.int32(1)),
         f"reads 4 bytes through a null pointer: the address is 4{LET}", None, None),
    ],
)  # fmt: skip
def test_which_pointer_is_null(parameters, body, arguments, words, symbol, argument):
    found = fault(parameters, body, *arguments)
    assert said(found) == words
    assert (found.symbol, found.argument) == (symbol, argument)
