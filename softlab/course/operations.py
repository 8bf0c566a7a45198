"""Which operation of a warp's record makes NaN, with its operands."""

from __future__ import annotations

import numpy as np

from softlab.emulator.machine.flow import uses_and_definitions
from softlab.instruments.step_record import StepRecord

#: The types of which operands are read.
FLOATS: dict[str, np.dtype] = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
_SIGNS = {"sub": "-", "add": "+", "mul": "*", "div": "/"}


def nan_operation(record: StepRecord, line: int, lane: int) -> str:
    """ "0 / 0": the first operation of a line that gives a lane NaN; "" where it is no operation of two numbers."""
    index = {name: number for number, name in enumerate(record.registers)}
    for step, number in enumerate(record.steps["instruction"]):
        instruction = record.image.instructions[int(number)]
        if record.line(step) != line or instruction.opcode not in _SIGNS or instruction.types[-1] not in FLOATS:
            continue
        kind = FLOATS[instruction.types[-1]]
        used, defined = uses_and_definitions(instruction)
        if len(used) != 2 or len(defined) != 1:
            continue
        before, after = record.at(step).values, record.at(step + 1).values
        one, other = (number_of(before[index[name], lane], kind) for name in used)
        if np.isnan(number_of(after[index[defined[0]], lane], kind)) and not np.isnan([one, other]).any():
            return f"{one:g} {_SIGNS[instruction.opcode]} {other:g}"
    return ""


def number_of(bits: np.ndarray, kind: np.dtype) -> float:
    """The number that a register's low bits are."""
    return float(np.asarray(bits).astype(f"u{kind.itemsize}").view(kind))
