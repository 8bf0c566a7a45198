"""Arrays of records held against the structs and numbers that a kernel's pointers point to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from softlab.kernel import Kernel

SOURCE = """
struct Padded { char c; double d; };
struct Nested { Padded in[2]; float* p; unsigned short h[3]; bool b; float3 v; enum E { A, B } e; };
struct Overlaid { union { int i; float f; }; int k; };
struct Base { int z; };
struct Derived : Base { float w; };
namespace n { struct Pair { float x, y; }; }
extern "C" __global__ void k(Padded* a, Nested* b, Overlaid* c, Derived* d, n::Pair* e, const struct Padded* f) {}
extern "C" __global__ void numbers(float* x, float4* y, int* z, void* any, double** rows) {}
"""
PADDED = np.dtype([("c", "i1"), ("d", "f8")], align=True)


def nested(inner: np.dtype) -> np.dtype:
    fields = [("in", inner, 2), ("p", "u8"), ("h", "u2", 3), ("b", "?"), ("v", "f4", 3), ("e", "i4")]
    return np.dtype(fields, align=True)


def run(kernel: str, parameters: int, place: int, dtype: Any) -> None:
    """A launch with records at one place, and null pointers elsewhere."""
    arguments: list = [None] * parameters
    arguments[place] = np.zeros(3, dtype)
    Kernel(SOURCE, kernel).run(1, 1, arguments, record=False)


@pytest.mark.parametrize(
    ("place", "dtype"),
    [
        (0, PADDED),
        (0, np.dtype([("d", "u1"), ("other", "f8")], align=True)),
        (0, np.dtype([("c", "S1"), ("d", "f8")], align=True)),
        (0, {"names": ["d", "c"], "formats": ["f8", "i1"], "offsets": [8, 0], "itemsize": 16}),
        (0, [("c", "i1"), ("unused", "V7"), ("d", "V8")]),
        (1, nested(PADDED)),
        (2, [("i", "i4"), ("k", "i4")]),
        (3, [("z", "i4"), ("w", "f4")]),
        (4, [("x", "f4"), ("y", "f4")]),
        (4, [("both", "f4", 2)]),
        (4, [("z", "c8")]),
        (5, PADDED),
    ],
)
def test_records_of_a_struct(place: int, dtype: Any) -> None:
    run("k", 6, place, np.dtype(dtype))


@pytest.mark.parametrize(
    ("place", "dtype", "message"),
    [
        (0, [("c", "i1"), ("d", "f8")], r"d: float64 at byte 1; 9 bytes.*Padded\*.*at byte 8; 16 bytes.*align=True.*C"),
        (0, np.dtype([("c", "i1"), ("d", "i8")], align=True), "d: int64 at byte 8.*with these fields"),
        (0, np.dtype([("d", "f8"), ("c", "i1")], align=True), "with these fields, in this order"),
        (1, nested(np.dtype([("c", "i1"), ("d", "f4")], align=True)), r"in: a record\[2\] at byte 0.*h: uint16\[3\]"),
        (2, [("i", "i4"), ("k", "i1")], "a pointer to records of 8 bytes"),
        (3, [("z", "i4"), ("w", "f8")], "a pointer to records of 8 bytes"),
        (4, [("y", "f4"), ("x", "f4")], "y: float32 at byte 0.*x: float32 at byte 0"),
        (4, [("both", "f8")], "both: float64"),
        (5, [("c", "i1"), ("d", "f8")], r"const struct Padded\*"),
    ],
)
def test_records_of_another_struct(place: int, dtype: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"argument {place} is an array of records .*{message}"):
        run("k", 6, place, np.dtype(dtype))


@pytest.mark.parametrize(
    ("place", "dtype"),
    [
        (0, [("a", "f4"), ("b", "f4", 3)]),
        (1, [("x", "f4"), ("y", "f4"), ("z", "f4"), ("w", "f4")]),
        (2, [("a", "u4"), ("b", [("c", "i4")])]),
        (3, [("a", "f4"), ("b", "i1")]),
        (4, [("a", "u8")]),
    ],
)
def test_records_of_equal_numbers_are_an_array_of_them(place: int, dtype: Any) -> None:
    run("numbers", 5, place, dtype)


@pytest.mark.parametrize(
    ("place", "dtype", "message"),
    [
        (0, [("a", "f4"), ("b", "i4")], r"takes float32\. Pass one field, numpy.ascontiguousarray\(x\['a'\]\)"),
        (0, np.dtype([("a", "f4"), ("b", "f4", 0), ("c", "f8")]), "takes float32"),
        (1, {"names": ["a"], "formats": ["f4"], "itemsize": 16}, "takes float32"),
        (2, [("a", "i4"), ("b", [("c", "f4")])], "takes int32 or uint32"),
    ],
)
def test_records_of_other_numbers(place: int, dtype: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        run("numbers", 5, place, np.dtype(dtype))


SCALARS = {"float": "f4", "int": "u4", "double": "f8", "char": "i1", "short": "i2"}


def _structs() -> Iterator[tuple[tuple[str, ...], bool]]:
    for types in product(SCALARS, repeat=3):
        yield from ((types, align) for align in (False, True))


def test_random_structs_beside_the_offsets_of_c() -> None:
    """A dtype is taken if its offsets are those that C gives the fields: each a multiple of its size."""
    drawn = list(_structs())
    for number in np.random.default_rng(3).choice(len(drawn), 12, replace=False):
        types, align = drawn[number]
        dtype = np.dtype([(f"m{i}", SCALARS[name]) for i, name in enumerate(types)], align=align)
        offsets, end = [], 0
        for name in types:
            size = np.dtype(SCALARS[name]).itemsize
            offsets.append(-(-end // size) * size)
            end = offsets[-1] + size
        most = max(np.dtype(SCALARS[name]).itemsize for name in types)
        right = [dtype.fields[f"m{i}"][1] for i in range(3)] == offsets and dtype.itemsize == -(-end // most) * most
        members = " ".join(f"{name} m{i};" for i, name in enumerate(types))
        kernel = Kernel(f'struct S {{ {members} }}; extern "C" __global__ void k(S* s) {{}}', "k")
        if right:
            kernel.run(1, 1, [np.zeros(2, dtype)], record=False)
        else:
            with pytest.raises(TypeError, match="records"):
                kernel.run(1, 1, [np.zeros(2, dtype)], record=False)


def test_half_floats_of_a_struct_may_come_as_integers() -> None:
    source = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\nstruct S { __half h; __nv_bfloat16 b; };"
    kernel = Kernel(source + ' extern "C" __global__ void k(S* s) {}', "k")
    for first, second in (("f2", ml_dtypes.bfloat16), ("u2", "i2")):
        kernel.run(1, 1, [np.zeros(2, [("h", first), ("b", second)])], record=False)
    with pytest.raises(TypeError, match="h: bfloat16"):
        kernel.run(1, 1, [np.zeros(2, [("h", ml_dtypes.bfloat16), ("b", "f2")])], record=False)
