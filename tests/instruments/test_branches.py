"""Branches, loops and ends of small kernels in PTX."""

from __future__ import annotations

from collections import Counter

import pytest

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.emulator.machine.flow import blocks_of
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse
from softlab.instruments.branches import PtxBranches
from softlab.instruments.trips import Loop


def of(body: str) -> tuple[PtxBranches, dict[str, int]]:
    """The branches of a kernel, and the line of each of its statements."""
    registers = ".reg .b32 %r<10>; .reg .b64 %rd<2>; .reg .pred %p<10>;"
    text = f".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{ {registers}\n{body}\n}}\n"
    image = link(parse(text), "k")
    lines = {statement.strip(): number + 1 for number, statement in enumerate(text.split("\n"))}
    return PtxBranches(image, blocks_of(image)), lines


#: Blocks: 0 before the loop, 1 the loop, 2 asks once more, 3 stores, 4 the end.
LOOP = """mov.u32 %r1, 0;
LOOP:
add.s32 %r2, %r1, 4;
mov.u32 %r1, %r2;
add.s32 %r6, %r6, -2;
@%p9 add.s32 %r3, %r3, 5;
add.s32 %r4, %r5, 7;
add.s32 %r8, %r8, %r7;
add.s32 %r9, %r9, 0;
setp.lt.s32 %p1, %r1, %r7;
@%p1 bra LOOP;
@%p2 bra DONE;
st.global.u32 [%rd1], %r1;
DONE:
ret;"""


def test_a_loop_and_a_branch_behind_it():
    branches, lines = of(LOOP)
    loop, once = lines["@%p1 bra LOOP;"], lines["@%p2 bra DONE;"]
    assert branches.branches() == [1, 2]
    assert [branches.has(line) for line in (loop, once, lines["ret;"], 0)] == [True, True, False, False]
    assert (branches.at(loop), branches.at(once), branches.line(1), branches.line(2)) == (1, 2, loop, once)
    assert (branches.taken(1), branches.taken(2)) == (1, 4)
    assert (branches.alike(1), branches.alike(2)) == ([1], [2])
    assert branches.loop(1) == Loop((0,), 1)
    assert branches.loop(2) is None
    assert (branches.body(1), branches.body(2)) == ({1}, set())
    assert branches.steps(1) == {lines["add.s32 %r2, %r1, 4;"]: 4, lines["add.s32 %r6, %r6, -2;"]: -2}
    assert branches.steps(2) == {}


def test_where_a_branch_of_a_loop_goes():
    branches, _ = of(LOOP)
    assert [branches.is_back(1, target) for target in (1, 2, 5)] == [True, False, False]
    assert [branches.is_end(block) for block in (0, 1, 3, 4, 5)] == [False, False, False, True, True]
    assert branches.only_through(2, 3) == {3}
    assert branches.only_through(2, 4) == set(), "one comes there from the store as well"
    assert branches.only_through(1, 2) == {2, 3, 4}
    assert branches.only_through(1, 1) == set(), "the first time one comes from before"
    assert branches.only_through(2, 5) == set()


def test_blocks_by_line_and_by_instruction():
    branches, lines = of(LOOP)
    store = lines["st.global.u32 [%rd1], %r1;"]
    assert [branches.block_at(line) for line in (6, lines["mov.u32 %r1, %r2;"], store, 99)] == [0, 1, 3, None]
    assert [branches.block_of(index) for index in (0, 1, 9, 10, 11, 12)] == [0, 1, 1, 2, 3, 4]
    made = [MachineInstruction(0, "", "IADD3", (), "", False, (), (), line, ()) for line in (6, 6, store, 99)]
    assert branches.blocks_of(made) == Counter({0: 2, 3: 1})


def test_a_loop_that_goes_on_where_its_branch_is_not_taken():
    """Blocks: 0 before, 1 asks whether it ends, 2 the work, at which one begins, 3 the end."""
    branches, lines = of("bra WORK;\nASK:\n@%p1 bra DONE;\nWORK:\nadd.s32 %r1, %r1, 1;\nbra ASK;\nDONE:\nret;")
    asks = branches.at(lines["@%p1 bra DONE;"])
    assert (asks, branches.taken(asks)) == (1, 3)
    assert (branches.is_back(1, 3), branches.is_back(1, 2)) == (False, True)
    assert branches.loop(1) == Loop((0,), 1)


def test_a_loop_of_two_blocks_has_both():
    branches, lines = of(
        "mov.u32 %r1, 0;\nmov.u32 %r1, 1;\nLOOP:\n@%p2 bra LESS;\nadd.s32 %r1, %r1, 3;\nLESS:\n"
        "add.s32 %r2, %r2, 1;\n@%p1 bra LOOP;\nadd.s32 %r3, %r3, 1;\nret;"
    )
    loop = branches.at(lines["@%p1 bra LOOP;"])
    assert branches.body(loop) == {1, 2, 3}
    assert branches.steps(loop) == {lines["add.s32 %r1, %r1, 3;"]: 3, lines["add.s32 %r2, %r2, 1;"]: 1}
    assert branches.is_end(4) is False, "one instruction stands before the end"


@pytest.mark.parametrize(("jump", "merged"), [("bra NEXT;", True), ("add.s32 %r1, %r1, 1;\nbra NEXT;", False)])
def test_a_branch_to_a_jump_has_the_lines_of_both(jump: str, merged: bool):
    branches, lines = of(
        f"@%p1 bra AWAY;\nadd.s32 %r2, %r2, 1;\nbra MORE;\nAWAY:\n{jump}\nMORE:\nadd.s32 %r3, %r3, 1;\nNEXT:\nret;"
    )
    assert branches.has(lines["bra NEXT;"]) == merged
    assert not branches.has(lines["bra MORE;"])
    if merged:
        assert branches.at(lines["bra NEXT;"]) == branches.at(lines["@%p1 bra AWAY;"]) == 0
        assert branches.line(0) == lines["@%p1 bra AWAY;"]
    assert branches.branches() == [0]


def test_a_jump_that_two_branches_reach_is_neithers():
    branches, lines = of("@%p1 bra AWAY;\n@%p2 bra AWAY;\nst.global.u32 [%rd1], %r1;\nAWAY:\nbra NEXT;\nNEXT:\nret;")
    assert not branches.has(lines["bra NEXT;"])
    assert branches.branches() == [0, 1]
