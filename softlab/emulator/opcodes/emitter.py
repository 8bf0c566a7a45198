"""What the compiled forms of opcodes are written with: LLVM's instructions, and the steps that several opcodes share.

A compiled form is a function ``(emitter, *sources)`` that gives LLVM values, one per result. It states the same bits
as the NumPy form beside it. Predicates are of type i1; half precision is 16 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: A value in LLVM's terms.
Native = Any
#: The compiled form of an opcode.
NativeForm = Callable[..., Any]

_NAN_F32 = 0x7FFFFFFF
_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


class Emitter:
    """LLVM's instruction builder, and what PTX needs beyond it."""

    def __init__(self, builder: Any, ir: Any) -> None:
        self._builder = builder
        self._ir = ir

    def __getattr__(self, name: str) -> Any:
        return getattr(self._builder, name)

    def integer(self, bits: int) -> Any:
        """The type of an integer."""
        return self._ir.IntType(bits)

    def double(self) -> Any:
        """The type of a float64."""
        return self._ir.DoubleType()

    def float(self) -> Any:
        """The type of a float32."""
        return self._ir.FloatType()

    def intrinsic(self, name: str, *values: Native) -> Native:
        """``llvm.name`` of values that have the type of its result."""
        kind = values[0].type
        signature = self._ir.FunctionType(kind, [value.type for value in values])
        function = self._builder.module.declare_intrinsic(f"llvm.{name}", [kind], signature)
        return self._builder.call(function, values)

    def bits(self, value: Native) -> Native:
        """The bits of a float or an integer, as an integer."""
        if isinstance(value.type, self._ir.IntType):
            return value
        return self._builder.bitcast(value, self.integer(32 if isinstance(value.type, self._ir.FloatType) else 64))

    def as_float(self, bits: Native) -> Native:
        """32 or 64 bits as a float."""
        return self._builder.bitcast(bits, self.float() if bits.type.width == 32 else self.double())

    def resized(self, value: Native, bits: int, signed: bool) -> Native:
        """An integer cut or extended to that many bits."""
        have, kind = value.type.width, self.integer(bits)
        if have == bits:
            return value
        if have > bits:
            return self._builder.trunc(value, kind)
        return self._builder.sext(value, kind) if signed else self._builder.zext(value, kind)

    def clamped_integer(self, value: Native, bits: int, signed: bool) -> Native:
        """A float that is whole as an integer, clamped to its range; NaN gives 0."""
        kind = self.integer(bits)
        name = "llvm.fptosi.sat" if signed else "llvm.fptoui.sat"
        signature = self._ir.FunctionType(kind, [value.type])
        function = self._builder.module.declare_intrinsic(name, [kind, value.type], signature)
        return self._builder.call(function, [value])

    def compare(self, order: str, a: Native, b: Native, signed: bool) -> Native:
        """A comparison of integers: "lt", "le", "gt", "ge", "eq" or "ne"."""
        compare = self._builder.icmp_signed if signed else self._builder.icmp_unsigned
        return compare(_COMPARISONS[order], a, b)

    def look_up(self, name: str, table: np.ndarray, index: Native) -> Native:
        """The element of a table of integers at an index; one module has one table of that name."""
        module, size = self._builder.module, self.integer(64)
        found = module.globals.get(name)
        if found is None:
            kind = self._ir.ArrayType(self.integer(8 * table.itemsize), len(table))
            found = self._ir.GlobalVariable(module, kind, name)
            found.linkage, found.global_constant = "internal", True
            found.initializer = self._ir.Constant(kind, table.tolist())
        return self._builder.load(self._builder.gep(found, [size(0), self._builder.zext(index, size)]))

    def is_nan(self, value: Native) -> Native:
        """Whether a float is NaN."""
        return self._builder.fcmp_unordered("uno", value, value)

    def magnitude(self, value: Native) -> Native:
        """A float without its sign."""
        return self.intrinsic("fabs", value)

    def canonical(self, value: Native) -> Native:
        """A float32, its NaN with the bits that NVIDIA GPUs give it."""
        nan = self.as_float(self.integer(32)(_NAN_F32))
        return self._builder.select(self.is_nan(value), nan, value)

    def flush(self, value: Native) -> Native:
        """A float32, its subnormal values as zeros of their sign."""
        bits = self.bits(value)
        exponent = self._builder.and_(bits, bits.type(0x7F800000))
        zero = self._builder.and_(bits, bits.type(0x80000000))
        subnormal = self._builder.icmp_unsigned("==", exponent, bits.type(0))
        return self.as_float(self._builder.select(subnormal, zero, bits))

    def saturate(self, value: Native) -> Native:
        """A float32 clamped to [0, 1]; NaN and -0 give +0."""
        b, zero, one = self._builder, value.type(0.0), value.type(1.0)
        above = b.select(b.fcmp_ordered("<", value, one), value, one)
        return b.select(b.fcmp_ordered(">", value, zero), above, zero)


def unsigned_view(dtype: np.dtype) -> bool:
    """Whether values of a dtype are integers to LLVM."""
    return dtype.kind in "iub" or dtype == np.float16


def reinterpret(wanted: np.dtype) -> NativeForm:
    """The bits of a value as another dtype of the same size."""

    def form(e: Emitter, value: Native) -> Native:
        return e.bits(value) if unsigned_view(wanted) else _as_float(e, value)

    return form


def _as_float(e: Emitter, value: Native) -> Native:
    return value if str(value.type) in ("float", "double") else e.as_float(value)


def resize(bits: int, signed: bool) -> NativeForm:
    """An integer cut, or extended by its sign or by zeros."""
    return lambda e, value: e.resized(value, bits, signed)


def choose(e: Emitter, mask: Native, yes: Native, no: Native) -> Native:
    """``yes`` where ``mask``, else ``no``."""
    return e.select(mask, yes, no)


def invert(e: Emitter, value: Native) -> Native:
    """The other bits, or the other truth value."""
    return e.not_(value)
