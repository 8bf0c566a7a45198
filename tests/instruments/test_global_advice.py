"""What a report of a race in global memory advises, by who meets."""

from __future__ import annotations

import pytest

from softlab.emulator.ptx.syntax import Instruction
from softlab.instruments.global_reports import _advice, _whose

LOAD, STORE = Instruction("ld", ("global", "u32"), ()), Instruction("st", ("global", "u32"), ())
ATOMIC, REDUCTION = Instruction("atom", ("global", "add", "u32"), ()), Instruction("red", ("global", "add", "u32"), ())


@pytest.mark.parametrize(
    ("one", "other", "same_block", "same_warp", "threads", "begin"),
    [
        (ATOMIC, STORE, False, False, 64, "One of the two is an atomic: make the other one an atomic, too"),
        (LOAD, REDUCTION, True, True, 32, "One of the two is an atomic: make the other one an atomic, too"),
        (ATOMIC, REDUCTION, False, False, 64, "Blocks run in any order."),
        (LOAD, STORE, False, False, 64, "Blocks run in any order."),
        (STORE, STORE, True, False, 64, "Put __syncthreads() between the two, or give each thread"),
        (STORE, LOAD, True, True, 33, "Put __syncthreads() between the two (__syncwarp() where no other warp comes"),
        (STORE, LOAD, True, True, 32, "Put __syncwarp() between the two, or give each thread"),
    ],
)
def test_advice_by_who_meets(
    one: Instruction, other: Instruction, same_block: bool, same_warp: bool, threads: int, begin: str
) -> None:
    assert _advice(one, other, _whose(same_block, same_warp), threads).startswith(begin)
