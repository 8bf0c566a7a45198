"""Moves: registers, vectors packed into a register and unpacked from it, address spaces.

Source: PTX ISA, "Data Movement and Conversion Instructions" (mov, cvta). The identity gives its source itself, no copy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.emitter import Emitter, Native, NativeForm
from softlab.emulator.opcodes.forms import BITS, INTEGERS, Form, pure, unary, vector_elements, width
from softlab.emulator.opcodes.registry import Semantics
from softlab.emulator.ptx.linker import LOCAL_WINDOW, SHARED_WINDOW


def _identity(a):
    return a


def _same(e: Emitter, a: Native) -> Native:
    return a


def _native_pack(whole: str) -> NativeForm:
    def pack(e: Emitter, *elements: Native) -> Native:
        bits = width(whole)
        result = e.integer(bits)(0)
        for number, element in enumerate(elements):
            by = result.type(bits // len(elements) * number)
            result = e.or_(result, e.shl(e.resized(e.bits(element), bits, False), by))
        return result

    return pack


def _native_unpack(element: str, count: int) -> NativeForm:
    bits = width(element)

    def unpack(e: Emitter, a: Native) -> tuple[Native, ...]:
        whole = e.bits(a)
        return tuple(e.trunc(e.lshr(whole, whole.type(bits * n)), e.integer(bits)) for n in range(count))

    return unpack


def _pack(element: str, whole: str, count: int) -> Callable:
    """``count`` elements as one value, the first in the lowest bits."""
    dtype = np.dtype(f"u{width(whole) // 8}").type
    bits = width(element)

    def pack(*elements):
        result = elements[0].astype(dtype)
        for index in range(1, count):
            result = result | elements[index].astype(dtype) << dtype(bits * index)
        return result

    return pack


def _unpack(element: str, whole: str, count: int) -> Callable:
    dtype = np.dtype(f"u{width(whole) // 8}").type
    part = np.dtype(f"u{width(element) // 8}")
    bits = width(element)
    return lambda a: tuple((a >> dtype(bits * index)).astype(part) for index in range(count))


@pure("mov", types=(*BITS, *INTEGERS, "f16", "bf16", "f16x2", "bf16x2", "f32", "f64", "pred"))
def _mov(form: Form) -> Semantics:
    """mov of a register, an immediate, a special register or an address; of a vector where an operand is one."""
    name = form.one_type()
    into, out_of = vector_elements(form.operand(1)), vector_elements(form.operand(0))
    if into == out_of == 1:
        return unary(_identity, name, native=_same)
    element = f"b{width(name) // max(into, out_of)}"
    whole = f"b{width(name)}"
    if into > 1 and out_of == 1:
        return Semantics(_pack(element, whole, into), (element,) * into, (whole,), native=_native_pack(whole))
    if into == 1:
        native = _native_unpack(element, out_of)
        return Semantics(_unpack(element, whole, out_of), (whole,), (element,) * out_of, native=native)
    raise NotImplementedError("mov of a vector to a vector")


@pure("cvta", types=("u32", "u64"))
def _cvta(form: Form) -> Semantics:
    """Between the addresses of a space and generic ones. Those outside shared and local memory are the same.

    A null generic pointer stays null. Zero in a space is an address like any other.
    """
    to = form.flag("to")
    space = form.one_of("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry")
    if form.one_type() != "u64":
        raise NotImplementedError("cvta.u32")
    window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(space.partition("::")[0])
    if window is None:
        return unary(_identity, "b64", native=_same)
    base = np.uint64(window)
    if to:
        return unary(lambda a: np.subtract(a, base) * (a != 0), "b64", native=_native_within(window))
    return unary(lambda a: np.add(a, base), "b64", native=lambda e, a: e.add(a, a.type(window)))


def _native_within(window: int) -> NativeForm:
    def within(e: Emitter, a: Native) -> Native:
        null = e.icmp_unsigned("==", a, a.type(0))
        return e.select(null, a, e.sub(a, a.type(window)))

    return within
