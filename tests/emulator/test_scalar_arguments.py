"""A number for a parameter, at the limits of each type, and what is said of one that does not fit."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine.arguments import _scalar
from softlab.emulator.ptx.syntax import Variable

SIZES = {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8}
FLOATS = {"f32": ("f", "float32", 3.4028235e38), "f64": ("d", "float64", 1.7976931348623157e308)}
UNTYPED = {"b8": 1, "b16": 2, "b32": 4, "b64": 8}


def taken(value: Any, kind: str, size: int) -> bytes:
    return _scalar(2, value, Variable("p", "param", kind, size, size))


@pytest.mark.parametrize("kind", SIZES)
def test_integers_of_either_sign_fit_that_have_as_many_bits(kind: str) -> None:
    size, bits = SIZES[kind], 8 * SIZES[kind]
    for value in (0, 1, -1, True, 2**bits - 1, -(2 ** (bits - 1)), 2 ** (bits - 1)):
        assert taken(value, kind, size) == (int(value) % 2**bits).to_bytes(size, "little")
    for value in (2**bits, -(2 ** (bits - 1)) - 1):
        with pytest.raises(
            ValueError, match=rf"^argument 2: the parameter is .*, and {value} does not fit in {bits} bits$"
        ):
            taken(value, kind, size)
    with pytest.raises(ValueError, match=f"an integer of 200 bits does not fit in {bits} bits"):
        taken(2**199, kind, size)
    with pytest.raises(TypeError, match=r"got the float 1\.5: pass an integer, or declare the parameter as a float"):
        taken(1.5, kind, size)


@pytest.mark.parametrize("kind", FLOATS)
def test_floats_are_rounded_and_never_made_infinite(kind: str) -> None:
    letter, name, largest = FLOATS[kind]
    size = struct.calcsize(letter)
    for value in (0, 3, True, 0.1, -2.5, largest, -largest, np.inf, -np.inf, 2**70):
        assert taken(value, kind, size) == struct.pack(letter, float(value))
    assert np.isnan(np.frombuffer(taken(float("nan"), kind, size), name)[0])
    for value, shown in ((10**400, "an integer of 1329 bits"), (-(10**400), "an integer of 1329 bits")):
        with pytest.raises(ValueError, match=f"and {shown} is beyond the largest {name}$"):
            taken(value, kind, size)
    if kind == "f32":
        for value in (1e39, -1e39):
            with pytest.raises(ValueError, match=r"e\+39 is beyond the largest float32$"):
                taken(value, kind, size)


@pytest.mark.parametrize("kind", UNTYPED)
def test_numbers_of_python_for_a_parameter_of_which_the_size_alone_is_known(kind: str) -> None:
    size, bits = UNTYPED[kind], 8 * UNTYPED[kind]
    if kind in ("b8", "b16"):
        assert taken(-1, kind, size) == b"\xff" * size
        return
    for value in (7, 1.5):
        with pytest.raises(
            TypeError, match=rf"its C type is not known. Pass numpy\.int{bits} or numpy\.float{bits}, which"
        ):
            taken(value, kind, size)


@pytest.mark.parametrize("value", [*(np.dtype(name).type(1) for name in ("u1", "i2", "u4", "i8", "f2", "f4", "f8"))])
def test_a_number_of_numpy_has_the_size_and_kind_of_the_parameter(value: np.generic) -> None:
    for kind, size in {**SIZES, **UNTYPED, "f32": 4, "f64": 8, "f16": 2}.items():
        floating = kind in ("f16", "f32", "f64")
        if size == value.nbytes and (kind in UNTYPED or floating == (value.dtype.kind == "f")):
            assert taken(value, kind, size) == value.tobytes()
            continue
        with pytest.raises(TypeError, match=rf"got numpy\.{value.dtype.name} \({value.nbytes} bytes\)"):
            taken(value, kind, size)


@pytest.mark.parametrize("size", [1, 3, 4, 16])
def test_bytes_have_the_size_of_the_parameter(size: int) -> None:
    for made in (bytes, bytearray, memoryview, lambda raw: np.frombuffer(raw, f"V{len(raw)}")[0]):
        raw = bytes(range(size))
        assert taken(made(raw), "b8", size) == raw
        for other in (raw[1:] or raw * 2, raw + b"x"):
            with pytest.raises(ValueError, match=f"got {len(other)} bytes$"):
                taken(made(other), "b8", size)
    if size > 1:
        for number in (3, 1.5):
            with pytest.raises(TypeError, match=f"got {number}. Pass a NumPy scalar of that type"):
                taken(number, "b8", size)


def test_what_is_no_number() -> None:
    with pytest.raises(TypeError, match=r"got builtins\.list\. Pass a NumPy array for a pointer"):
        taken([1], "s32", 4)
