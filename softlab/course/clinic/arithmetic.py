"""Where a wrong fix makes NaN or infinity: the line, the thread and the operands."""

from __future__ import annotations

import numpy as np

from softlab.course.clinic.seen import Seen
from softlab.course.operations import FLOATS, nan_operation, number_of
from softlab.emulator.lanes import WARP
from softlab.emulator.machine.flow import uses_and_definitions
from softlab.errors import Error
from softlab.instruments.numbers import NOT_A_NUMBER, OVERFLOW, number_findings


def made_nan(seen: Seen) -> str:
    """The first operation that makes NaN of numbers, in the block of the first wrong element."""
    if seen.got.dtype.kind != "f":
        return ""
    bad = seen.wrong & np.isnan(seen.got) & ~np.isnan(seen.wanted)
    launch = seen.launch
    if not bad.any() or not isinstance(launch.grid, int):
        return ""
    block = int(np.argmax(bad.reshape(-1))) // max(1, seen.got.size // launch.grid)
    try:
        args = tuple(launch.fresh().values())
        record = seen.kernel.steps(launch.grid, launch.block, args, smem=launch.smem, of=block)
    except (Error, ValueError):
        return ""
    findings = [one for one in number_findings(record) if one.line]
    found = next((one for one in findings if one.kind == NOT_A_NUMBER), None)
    if found is None or found.line is None or found.thread is None:
        return ""
    said = nan_operation(record, found.line, found.thread[0] % WARP)
    if not said:
        return ""
    over = next(
        (f"On line {one.line} a power or sum is too large for its type. " for one in findings if one.kind == OVERFLOW),
        "",
    )
    return f"{over}On line {found.line} thread {found.thread[0]} of block {block} takes {said}, which is NaN."


def over_zero(seen: Seen) -> str:
    """A division by 0 of which infinity comes."""
    bad = seen.wrong & np.isinf(seen.got.astype(np.float64)) & ~np.isinf(seen.wanted.astype(np.float64))
    launch = seen.launch
    if not bad.any() or launch.grid != 1:
        return ""
    thread = int(np.argmax(bad.reshape(-1)))
    if thread >= (launch.block if isinstance(launch.block, int) else 0):
        return ""
    args, lane = tuple(launch.fresh().values()), thread % WARP
    record = seen.kernel.steps(1, launch.block, args, smem=launch.smem, warp=thread // WARP)
    index = {name: number for number, name in enumerate(record.registers)}
    for step, number in enumerate(record.steps["instruction"]):
        instruction = record.image.instructions[int(number)]
        if instruction.opcode != "div" or instruction.types[-1] not in FLOATS:
            continue
        used, _ = uses_and_definitions(instruction)
        values = record.at(step).values
        if len(used) == 2 and number_of(values[index[used[1]], lane], FLOATS[instruction.types[-1]]) == 0:
            few = "" if bad.all() else f" {int(bad.sum())} of {bad.size} threads do; the others have another divisor."
            return f"On line {record.line(step)} thread {thread} divides by 0.{few}"
    return ""
