"""How many iterations of a loop a block of the machine code holds."""

from __future__ import annotations

import pytest

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.instruments.copies import likely_copies, told_copies
from tests.instruments.test_branches import LOOP, of

BRANCHES, LINES = of(LOOP)
UP, DOWN = LINES["add.s32 %r2, %r1, 4;"], LINES["add.s32 %r6, %r6, -2;"]
INSIDE, OUTSIDE = LINES["add.s32 %r4, %r5, 7;"], LINES["st.global.u32 [%rd1], %r1;"]
BRANCH = 1


def made(line: int, opcode: str = "IADD3", *operands: str, times: int = 1, idle: bool = False):
    return [MachineInstruction(0, "", opcode, (), "", idle, operands, (), line, ())] * times


@pytest.mark.parametrize(
    ("instructions", "copies"),
    [
        (made(UP, "IADD3", "R1", "R1", "0x10"), 4), (made(UP, "IADD3", "R1", "R1", "0x4"), 1),
        (made(DOWN, "IADD3", "R1", "-0x8"), 4), (made(DOWN, "IADD3", "R1", "0xfffffffa"), 3),
        (made(DOWN, "IADD3", "R1", "0x8"), 0), (made(UP, "IADD3", "R1", "-0x10"), 0), (made(UP, "MOV", "0x6"), 0),
        (made(UP, "IADD3", "0x4") + made(UP, "IADD3", "0xc") + made(UP, "IADD3", "0x8"), 3),
        (made(UP, "IADD3", "0x8") + made(DOWN, "IADD3", "-0x6") + made(UP, "IADD3", "0xc"), 3),
        (made(UP, "IADD3", "0x0") + made(INSIDE, "LDG", times=3), 3), (made(INSIDE, "LDG", times=3), 3),
        (made(INSIDE, "LDG", times=2) + made(DOWN, "STS", times=2), 2), (made(INSIDE, "FADD", times=3), 0),
        (made(INSIDE, "LDG", times=3) + made(DOWN, "STS", times=2), 0), (made(OUTSIDE, "STG", times=3), 0),
        (made(INSIDE, "LDS", times=3, idle=True) + made(INSIDE, "LDS"), 1), ([], 0),
        (made(OUTSIDE, "IADD3", "0x10"), 0),
    ],
)  # fmt: skip
def test_what_counts_and_accesses_tell(instructions: list[MachineInstruction], copies: int) -> None:
    assert told_copies(instructions, BRANCH, BRANCHES) == copies


@pytest.mark.parametrize(
    ("instructions", "copies"),
    [
        (made(INSIDE, "FADD", times=4) + made(UP, "FMUL", times=4) + made(DOWN, "MOV"), 4),
        (made(INSIDE, "FADD", times=4) + made(UP, "FMUL", times=2), 4), (made(INSIDE, "FADD"), 1), ([], 1),
        (made(OUTSIDE, "FADD", times=7) + made(UP, "FMUL", times=2), 2),
        (made(UP, "FMUL", times=2) + made(UP, "FADD", times=2) + made(INSIDE, "FADD", times=5), 2),
    ],
)  # fmt: skip
def test_what_most_instructions_have(instructions: list[MachineInstruction], copies: int) -> None:
    """Of two counts as frequent the larger one."""
    assert likely_copies(instructions, BRANCH, BRANCHES) == copies
