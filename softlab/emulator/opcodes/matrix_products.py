"""What a form of ``mma.sync`` computes: its shape, its types, its fragments and its arithmetic.

Source: PTX ISA, "Matrix multiply-accumulate operation using mma instruction".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from softlab.emulator.opcodes.floats import canonical
from softlab.emulator.opcodes.formats import NARROW
from softlab.emulator.opcodes.fragments import Fragment, left, quad_left, quad_result, quad_right, result, right
from softlab.emulator.opcodes.tensor_numbers import (
    bit_sum,
    chain_f32,
    chain_f64,
    cut_to_f32,
    fused_sum,
    number,
    round_to_f16,
    whole_sum,
)

#: Bits of an element.
BITS = {
    "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8,
    "s32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1,
}  # fmt: skip
_BYTES, _NIBBLES, _FP8 = ("s8", "u8"), ("s4", "u4"), ("e4m3", "e5m2")
#: Types of A and B -> (shapes, types of the accumulator).
_FORMS: tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    (("f16",), ("m8n8k4", "m16n8k8", "m16n8k16"), ("f16", "f32")),
    (("bf16",), ("m16n8k8", "m16n8k16"), ("f32",)),
    (("tf32",), ("m16n8k4", "m16n8k8"), ("f32",)),
    (_FP8, ("m16n8k16", "m16n8k32"), ("f16", "f32")),
    (("f64",), ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"), ("f64",)),
    (_BYTES, ("m8n8k16", "m16n8k16", "m16n8k32"), ("s32",)),
    (_NIBBLES, ("m8n8k32", "m16n8k32", "m16n8k64"), ("s32",)),
    (("b1",), ("m8n8k128", "m16n8k128", "m16n8k256"), ("s32",)),
)


@dataclass(frozen=True)
class MatrixProduct:
    """D = A B + C of one warp.

    ``shape``: "m16n8k16"; ``kinds``: the types of D, A, B and C; ``layouts``: of A and B, "row" or "col", which only
    m8n8k4 of f16 chooses; ``operation``: "" or how bits are combined, "xor" or "and"; ``rounding``: of f64.
    """

    shape: str
    kinds: tuple[str, str, str, str]
    layouts: tuple[str, str] = ("row", "col")
    saturate: bool = False
    operation: str = ""
    rounding: str = "rn"

    @property
    def sizes(self) -> tuple[int, int, int]:
        """(m, n, k)."""
        m, n, k = re.findall(r"\d+", self.shape)
        return int(m), int(n), int(k)

    @property
    def in_quads(self) -> bool:
        """Whether it is four products of m8n8k4."""
        return self.shape == "m8n8k4" and self.kinds[1] == "f16"

    def check(self, mixed: bool = False) -> None:
        """Refuse a form that PTX does not have; ``mixed``: D and C of f16 products may differ."""
        d, a, b, c = self.kinds
        found = any(
            a in types and b in types and self.shape in shapes and d in results and c in results
            for types, shapes, results in _FORMS
        )
        differ = d != c and not (self.in_quads or mixed)
        ordered = self.layouts == ("row", "col") or self.in_quads
        if not found or differ or not ordered or (a == "b1") != bool(self.operation):
            raise NotImplementedError(f"mma {self.shape} of {', '.join(self.kinds)}")

    @cached_property
    def fragments(self) -> tuple[Fragment, Fragment, Fragment, Fragment]:
        """Of D, A, B and C."""
        m, n, k = self.sizes
        d, a, _, c = self.kinds
        if self.in_quads:
            results = tuple(quad_result(2 if kind == "f16" else 1) for kind in (d, c))
            rows = [layout == "row" for layout in self.layouts]
            return results[0], quad_left(rows[0]), quad_right(rows[1]), results[1]
        held = 1 if a == "f64" else 32 // BITS[a]
        words = k if a != "b1" else k // 32
        held = held if a != "b1" else 1
        d_held, c_held = (2 if kind == "f16" else 1 for kind in (d, c))
        return result(m, n, d_held), left(m, words, held), right(words, n, held), result(m, n, c_held)

    @property
    def element_types(self) -> tuple[np.dtype, np.dtype, np.dtype, np.dtype]:
        """The unsigned dtypes of the elements of D, A, B and C as matrices; nibbles have a byte each, bits a word."""
        widths = (32 if kind == "b1" else max(8, BITS[kind]) for kind in self.kinds)
        d, a, b, c = (np.dtype(f"u{width // 8}") for width in widths)
        return d, a, b, c

    def multiply(self, a: Any, b: Any, c: Any) -> Any:
        """a (..., m, k), b (..., n, k) and c (..., m, n), unsigned bits -> d (..., m, n), unsigned bits."""
        d_kind, a_kind, b_kind, c_kind = self.kinds
        if a_kind == "f64":
            a, b, c = (part.view(np.float64) for part in (a, b, c))
            return chain_f64(a, b, c, self.rounding).view(np.uint64)
        if d_kind == "s32":
            c = c.view(np.int32)
            if a_kind == "b1":
                return bit_sum(a, b, c, self.operation).view(np.uint32)
            return whole_sum(_whole(a_kind, a), _whole(b_kind, b), c, self.saturate).view(np.uint32)
        values = number(a_kind, a), number(b_kind, b), number(c_kind, c)
        if self.in_quads:
            total = chain_f32(*values, d_kind == "f16")
            return NARROW["f16"](total).view(np.uint16) if d_kind == "f16" else total.view(np.uint32)
        if a_kind in _FP8:
            return self._in_halves(*values)
        if d_kind != c_kind:  # only the accumulators of wmma: converted before the product, or after it
            total = cut_to_f32(fused_sum(*values, (a_kind, b_kind, "f32")))
            return NARROW["f16"](number("f32", total)).view(np.uint16) if d_kind == "f16" else total
        return self._round(fused_sum(*values, (a_kind, b_kind, c_kind)))

    def _round(self, total: Any) -> Any:
        return round_to_f16(total) if self.kinds[0] == "f16" else cut_to_f32(total)

    def _in_halves(self, a: Any, b: Any, c: Any) -> Any:
        """Floats of 8 bits, of which the assembler makes f16: the first two of each four along k, then the others.

        The accumulator is added at last, rounded to nearest.
        """
        kind = self.kinds[0]
        total = self._round(np.zeros_like(c, np.float64))
        for half in (0, 2):
            left, right = (
                np.ascontiguousarray(part.reshape(*part.shape[:-1], -1, 4)[..., half : half + 2]) for part in (a, b)
            )
            left, right = (part.reshape(*part.shape[:-2], -1) for part in (left, right))
            total = self._round(fused_sum(left, right, number(kind, total), ("f16", "f16", kind)))
        if kind == "f16":
            return NARROW["f16"](number(kind, total) + c).view(np.uint16)
        return canonical(number(kind, total) + c).view(np.uint32)

    def of_registers(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """(..., 32, registers) of A, B and C, uint32 (f64: uint64) -> those of D."""
        d_type, a_type, b_type, c_type = self.element_types
        to_d, from_a, from_b, from_c = self.fragments
        a, b = (_elements(values, kind, dtype) for values, kind, dtype in zip(
            (a, b), self.kinds[1:], (a_type, b_type), strict=False))  # fmt: skip
        a, b, c = from_a.matrix(a), from_b.matrix(b), from_c.matrix(c.view(c_type))
        b = np.swapaxes(b, -1, -2)
        if self.in_quads:
            a, b, c = (np.ascontiguousarray(a.reshape(*a.shape[:-2], 4, 8, 4)),
                       np.ascontiguousarray(np.swapaxes(b.reshape(*b.shape[:-1], 4, 4), -2, -3)),
                       c.reshape(*c.shape[:-2], 4, 8, 8))  # fmt: skip
        d = self.multiply(a, np.ascontiguousarray(b), c)
        if self.in_quads:
            d = d.reshape(*d.shape[:-3], 32, 8)
        words = np.uint64 if self.kinds[0] == "f64" else np.uint32
        return np.ascontiguousarray(to_d.spread(d.astype(d_type, copy=False))).view(words)


def _elements(registers: np.ndarray, kind: str, dtype: np.dtype) -> np.ndarray:
    """The registers of each lane as elements, the lowest first."""
    if kind not in _NIBBLES:
        return registers.view(dtype)
    whole = registers.view(np.uint8)
    return np.stack([whole & np.uint8(15), whole >> np.uint8(4)], axis=-1).reshape(*whole.shape[:-1], -1)


def _whole(kind: str, bits: Any) -> Any:
    """The integers of these bits."""
    if kind == "s8":
        return bits.view(np.int8)
    return (bits.astype(np.int8) ^ np.int8(8)) - np.int8(8) if kind == "s4" else bits
