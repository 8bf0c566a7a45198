"""What generated code is made of: the meaning of an instruction, its operands, and effects under a guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.machine.refused import check_known
from softlab.emulator.opcodes.effects import EFFECTS, Effect
from softlab.emulator.opcodes.registry import OPCODES, PURE, Semantics
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import Instruction, Operand, Pair, Vector
from softlab.emulator.ptx.unsupported import unsupported


def lowered(instruction: Instruction, index: int, image: Image) -> Effect | Semantics:
    """What an instruction of the image does.

    Raises:
        UnsupportedInstruction: no such opcode, or not with these modifiers.
        NotImplementedError: not with these operands.
    """
    opcode = OPCODES.find(instruction)
    check_known(instruction, image.module.file)
    if opcode is None:
        raise unsupported(instruction, file=image.module.file)
    if opcode.kind == "pure":
        return PURE.lower(instruction, image.module.file)
    return EFFECTS[opcode.name](instruction, index, image)


def guarded(lanes: Lanes, guard: Value, function: Callable[..., Any], site: Any, olds: tuple, values: tuple) -> Any:
    """``function`` for the lanes where the guard holds; the others keep the old results."""
    taken, rest = lanes.split(guard)
    if rest is None:
        return function(lanes, site, *values)
    kept = olds[0] if len(olds) == 1 else olds
    if taken is None:
        return kept
    whole = [lanes.put(value, value, True) for value in values]
    results = function(taken, site, *(taken.take(value) for value in whole))
    if not olds:
        return None
    merged = [
        lanes.take(taken.put(lanes.put(old, old, True), new, False))
        for old, new in zip(olds, results if len(olds) > 1 else (results,), strict=True)
    ]
    return merged[0] if len(merged) == 1 else tuple(merged)


def flatten(operands: tuple[Operand, ...]) -> list[Operand]:
    """The operands, with the elements of vectors and pairs in their stead."""
    flat: list[Operand] = []
    for operand in operands:
        if isinstance(operand, Vector):
            flat += operand.elements
        elif isinstance(operand, Pair):
            flat += (operand.first, operand.second)
        else:
            flat.append(operand)
    return flat


def immediate(value: int | float, dtype: np.dtype) -> Any:
    """A literal as the dtype: integers wrap, a float in an integer type gives its bits (``mov.b32 %r, 0f3F800000``)."""
    if dtype == np.bool_:
        return np.bool_(value)
    if isinstance(value, float):
        if dtype.itemsize == 1:
            raise NotImplementedError(f"the float {value} in 8 bits")
        if dtype.kind == "f":
            return np.array(value).astype(dtype)[()]
        return np.array(value).astype(f"f{dtype.itemsize}").view(f"u{dtype.itemsize}").view(dtype)[()]
    if dtype.kind == "f":
        return dtype.type(value)
    return np.array(value & (256**dtype.itemsize - 1), f"u{dtype.itemsize}").view(dtype)[()]
