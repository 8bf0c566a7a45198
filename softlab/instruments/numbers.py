"""What goes wrong with floating-point numbers in a run: where the first infinity, NaN or lost addend is made.

It reads the record of one warp (:meth:`softlab.Kernel.steps`), so it sees each result of each lane.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlab.emulator.lanes import WARP
from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.ptx.syntax import Instruction
from softlab.findings import Finding
from softlab.instruments.step_record import StepRecord

#: Kinds of findings.
OVERFLOW, NOT_A_NUMBER, ABSORBED = "overflow", "not-a-number", "absorbed-addend"
_ARITHMETIC = frozenset(("add", "sub", "mul", "fma", "div", "ex2", "rcp", "sqrt", "rsqrt", "lg2"))
#: What gives infinity for 0 alone, and for no number that is too large.
_OF_ZERO = frozenset(("rcp", "rsqrt", "lg2"))
_TYPES: dict[str, np.dtype] = {"f16": np.dtype(np.float16), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
_WORDS = {
    OVERFLOW: "finite numbers give infinity: the result is too large for its type",
    NOT_A_NUMBER: "numbers give NaN, such as infinity less infinity, or infinity by infinity",
    ABSORBED: "a number that is not 0 is added and the sum stays as it was: the type has too few bits",
}
#: Where NaN comes of one number that is below 0.
_BELOW_ZERO = {
    "lg2": "the logarithm of a number below 0 is NaN",
    "sqrt": "the square root of a number below 0 is NaN",
    "rsqrt": "the square root of a number below 0 is NaN",
}


def number_findings(record: StepRecord) -> tuple[Finding, ...]:
    """Where the warp's arithmetic makes infinity of finite numbers, NaN of numbers, or loses an addend in half.

    Each kind is reported once per source line, in the order of the steps. ``line`` is where the result is made,
    ``other_line`` where its first operand comes from, ``thread`` is the first lane. Loads, comparisons and
    minima are not arithmetic, so infinities of the input are not accused. In float a lost addend is common and right,
    so it is looked for in half alone.
    """
    found: dict[tuple[str, int], Finding] = {}
    values: dict[str, np.ndarray] = {}
    made: dict[str, int] = {}
    steps, writes = record.steps["instruction"], record.writes
    first = np.searchsorted(writes["step"], np.arange(len(steps) + 1))
    for step, number in enumerate(steps):
        instruction, line = record.image.instructions[int(number)], record.line(step)
        rows = range(first[step], first[step + 1])
        if instruction.opcode in _ARITHMETIC and instruction.types and instruction.types[-1] in _TYPES and len(rows):
            lanes = (int(writes["lanes"][rows[0]]) >> np.arange(WARP) & 1).astype(bool)
            kind_of = _TYPES[instruction.types[-1]]
            uses = [name for name in uses_and_definitions(instruction)[0] if name in values]
            operands = [_numbers(values[name], kind_of) for name in uses]
            for kind, wrong in _troubles(instruction, operands, _numbers(writes["values"][rows[0]], kind_of)):
                if (wrong & lanes).any() and (kind, line) not in found:
                    other = made.get(uses[0]) if uses else None
                    lane = int(np.flatnonzero(wrong & lanes)[0])
                    found[kind, line] = _finding(record, kind, line, other, lane, instruction.opcode)
        for row in rows:
            name = record.registers[int(writes["register"][row])]
            values[name], made[name] = writes["values"][row], line
    return tuple(found.values())


def _numbers(bits: np.ndarray, kind: np.dtype) -> np.ndarray:
    """(32,) the registers' low bits as numbers."""
    return bits.astype(f"u{kind.itemsize}").view(kind)


def _troubles(
    instruction: Instruction, operands: list[np.ndarray], result: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """(kind, lanes for which it is so)."""
    if "0fff800000" in instruction.text.lower() or "0f7f800000" in instruction.text.lower():
        return
    finite, numbers = np.ones(WARP, bool), np.ones(WARP, bool)
    for operand in operands:
        finite &= np.isfinite(operand)
        numbers &= ~np.isnan(operand)
    if instruction.opcode == "div" and len(operands) == 2:  # a number over 0 is infinity, and no overflow
        finite &= operands[1] != 0
    if instruction.opcode not in _OF_ZERO:
        yield OVERFLOW, finite & np.isinf(result)
    yield NOT_A_NUMBER, numbers & np.isnan(result)
    if instruction.opcode == "add" and result.dtype == np.float16 and len(operands) == 2:
        one, other = operands
        yield ABSORBED, finite & (((result == one) & (other != 0)) | ((result == other) & (one != 0)))


def _finding(record: StepRecord, kind: str, line: int, other: int | None, lane: int, opcode: str) -> Finding:
    words = _BELOW_ZERO.get(opcode, _WORDS[kind]) if kind == NOT_A_NUMBER else _WORDS[kind]
    return Finding(
        kind=kind,
        severity="error",
        message=f"{kind}: {words}",
        line=line,
        other_line=other or None,
        thread=(record.warp * WARP + lane, 0, 0),
        file=record.program.file,
        other_file=record.program.file if other else None,
    )
