"""From which step an infinity or NaN comes that a warp stores: the way back through the registers of its record."""

from __future__ import annotations

import numpy as np

from softlab.emulator.lanes import WARP
from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.ptx.syntax import Instruction
from softlab.instruments.step_record import StepRecord

#: Bytes of a number -> its type.
_FLOATS: dict[int, np.dtype] = {2: np.dtype(np.float16), 4: np.dtype(np.float32), 8: np.dtype(np.float64)}
#: Steps that are looked at on the way back.
_MOST = 300


def origins(record: StepRecord) -> set[int] | None:
    """The lines that make the first infinity or NaN that the warp stores to global memory; None: it stores none.

    An infinity that ends as a number, as in e to the power of minus infinity, is on no such way.
    """
    index = {name: number for number, name in enumerate(record.registers)}
    start = _first_stored(record, index)
    if start is None:
        return None
    lines: set[int] = set()
    seen: set[tuple[int, int]] = set()
    open_ = [start]
    while open_ and len(seen) < _MOST:
        register, lane, position, size = open_.pop()
        step = record.last_write(register, lane, position)
        if step is None or (step, register) in seen:
            continue
        seen.add((step, register))
        instruction = _at(record, step)
        size = _size(instruction) or size
        before = record.at(step).values[:, lane]
        used = [index[name] for name in uses_and_definitions(instruction)[0] if name in index]
        bad = [number for number in used if not _finite(before[number], size)]
        open_ += [(number, lane, step, size) for number in bad]
        if not bad:
            lines.add(record.line(step))
    return lines


def _first_stored(record: StepRecord, index: dict[str, int]) -> tuple[int, int, int, int] | None:
    """(register, lane, step, bytes of the number) of the first infinity or NaN that is stored."""
    for step in range(len(record)):
        instruction = _at(record, step)
        size = _size(instruction)
        if instruction.opcode != "st" or ".global" not in instruction.text or not size:
            continue
        values, lanes = record.at(step).values, int(record.steps["executed"][step])
        for name in uses_and_definitions(instruction)[0]:
            if name not in index or name.startswith("%rd"):  # an address, or a number of 8 bytes in one
                continue
            for lane in range(WARP):
                if lanes >> lane & 1 and not _finite(values[index[name], lane], size):
                    return index[name], lane, step, size
    return None


def _at(record: StepRecord, step: int) -> Instruction:
    return record.image.instructions[int(record.steps["instruction"][step])]


def _size(instruction: Instruction) -> int:
    """Bytes of the numbers of an instruction; 0 for one of other types."""
    kind = instruction.types[-1] if instruction.types else ""
    bits = kind[1:] if kind[:1] in ("f", "b", "u", "s") else ""
    return int(bits) // 8 if bits.isdigit() and int(bits) // 8 in _FLOATS else 0


def _finite(bits: np.uint64, size: int) -> bool:
    number: np.ndarray = np.array([bits], np.uint64).astype(np.dtype(f"u{size}"))
    return bool(np.isfinite(number.view(_FLOATS[size])).all())
