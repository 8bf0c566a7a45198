"""SIMD video instructions: four bytes or two halves of a register at once.

Source: PTX ISA, "Video Instructions". NVRTC emits ``vabsdiff4``; the forms with lane masks and selectors are not here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from softlab.emulator.opcodes.forms import Form, dtype_of, pure
from softlab.emulator.opcodes.parts import parts
from softlab.emulator.opcodes.registry import Semantics

_OPERATIONS: dict[str, Callable] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,
    "vabsdiff": lambda a, b: np.abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
}
_OPCODES = tuple(f"{name}{count}" for name in _OPERATIONS for count in (2, 4))


@pure(*_OPCODES, types=("s32", "u32"))
def _simd(form: Form) -> Semantics:
    """``vabsdiff4.u32.u32.u32 d, a, b, c``: with .add the sum of all parts and c, else the parts side by side."""
    if len(form.types) != 3:
        raise NotImplementedError(f"{form.opcode} needs three types")
    result, a_type, b_type = form.types
    operation, count = _OPERATIONS[form.opcode[:-1]], int(form.opcode[-1])
    bits = 32 // count
    split_a, split_b = parts(a_type, count), parts(b_type, count)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if result == "s32" else (0, (1 << bits) - 1)
    mask = np.int64((1 << bits) - 1)
    saturate, accumulate = form.flag("sat"), form.flag("add")
    dtype = dtype_of(result)

    def apply(a, b, c):
        lanes = [operation(x, y) for x, y in zip(split_a(a), split_b(b), strict=True)]
        if accumulate:
            return sum(lanes, c.astype(np.int64)).astype(dtype)
        if saturate:
            lanes = [np.minimum(np.maximum(lane, low), high) for lane in lanes]
        joined = np.int64(0)
        for index, lane in enumerate(lanes):
            joined = joined | (lane & mask) << np.int64(bits * index)
        return joined.astype(dtype)

    return Semantics(apply, (a_type, b_type, result), (result,))
