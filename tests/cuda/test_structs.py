"""Structs as kernel arguments: laid out as the CUDA compiler does, and with pointers that the kernel can follow."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import softlab
from softlab.cuda.structs import Struct, arrays_of

SOURCE = """
struct Inner { unsigned char small; double wide; };
struct Outer { short first; Inner inner; const float* source; long long sizes[2]; float last; };
struct Tail { Outer outer; unsigned char end; float* target; };

extern "C" __global__ void copy(Tail tail, int n) {
  const Outer& outer = tail.outer;
  if (threadIdx.x < n) {
    tail.target[threadIdx.x] = outer.source[threadIdx.x] * outer.last + outer.first + outer.inner.small
                               + outer.inner.wide + outer.sizes[0] + outer.sizes[1] + tail.end;
  }
}
"""


def arguments(x, y):
    inner = Struct(np.uint8(3), np.float64(0.25))
    outer = Struct(np.int16(-2), inner, x, Struct(np.int64(1000), np.int64(-4000)), np.float32(0.5))
    return Struct(outer, np.uint8(7), y), np.int32(x.size)


def expected(x: np.ndarray) -> np.ndarray:
    return x * np.float32(0.5) - 2 + 3 + 0.25 - 3000 + 7


def test_the_compiler_reads_what_was_packed() -> None:
    kernel = softlab.Kernel(SOURCE, "copy")
    x, y = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    run = kernel.run(1, 64, arguments(x, y))
    assert np.array_equal(y, expected(x))
    assert [buffer.nbytes for buffer in run.buffers] == [160, 160]
    assert run.counters["global_load_requests"] == 2


@pytest.mark.gpu
def test_the_same_on_the_gpu() -> None:
    import cupy

    x = np.arange(40, dtype=np.float32)
    y = cupy.zeros(40, np.float32)
    softlab.Kernel(SOURCE, "copy", arch=softlab.Device.present().arch).run(1, 64, arguments(cupy.asarray(x), y))
    assert np.array_equal(y.get(), expected(x))


def test_layout_is_ctypes() -> None:
    """ctypes lays structs out as the platform's C compiler does."""

    class Inner(ctypes.Structure):
        _fields_ = [("a", ctypes.c_uint8), ("b", ctypes.c_double)]

    class Outer(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int16), ("b", Inner), ("c", ctypes.c_void_p), ("d", ctypes.c_uint8)]

    x = np.zeros(3)
    packed = Struct(np.int16(-5), Struct(np.uint8(9), np.float64(1.5)), x, np.uint8(1)).pack(lambda array: 0x1234)
    assert len(packed) == ctypes.sizeof(Outer)
    assert bytes(Outer(-5, Inner(9, 1.5), 0x1234, 1)) == packed


def test_arrays_in_order() -> None:
    a, b, c = (np.zeros(k) for k in (1, 2, 3))
    struct = Struct(np.int8(1), a, Struct(b, np.float64(2)), c)
    assert [array.size for array in arrays_of(struct)] == [1, 2, 3]
    assert [array.size for array in arrays_of(struct.with_arrays(lambda array: array[:1]))] == [1, 1, 1]
    assert list(arrays_of(3)) == list(arrays_of(np.int64(3))) == []
    assert repr(struct).startswith("Struct(int8(1), float64 array of shape (1,), Struct(")


@pytest.mark.parametrize("field", [1, 2.5, True, b"abc"])
def test_a_python_number_has_no_type(field) -> None:
    with pytest.raises(TypeError, match="say which type it is"):
        Struct(field)


def test_padding_is_zero() -> None:
    packed = Struct(np.uint8(255), np.uint64(2**64 - 1), np.uint8(255)).pack(lambda array: 0)
    assert packed == b"\xff" + bytes(7) + b"\xff" * 8 + b"\xff" + bytes(7)


@pytest.mark.parametrize("field", [np.complex64(1), np.complex128(1)])
def test_a_complex_number_is_refused(field) -> None:
    """CUDA aligns float2 and double2 to their size, NumPy a complex number to its parts."""
    with pytest.raises(TypeError, match=f"field 1 of a struct is a {type(field).__name__}, which CUDA and NumPy align"):
        Struct(np.int8(0), field)


def test_wrong_structs_are_refused() -> None:
    kernel = softlab.Kernel(SOURCE, "copy")
    x, y = np.zeros(4, np.float32), np.zeros(4, np.float32)
    tail, n = arguments(x, y)
    with pytest.raises(ValueError, match="argument 0: the parameter is a struct of 72 bytes, got 16 bytes"):
        kernel.run(1, 4, (Struct(np.int16(1), x), n))
    with pytest.raises(ValueError, match="not C-contiguous"):
        kernel.run(1, 4, (Struct(tail.fields[0], np.uint8(7), np.zeros((4, 2), np.float32)[:, 0]), n))
