"""Which branches decide about a machine instruction."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from softlab.cuda.machine_instructions import MachineFunction, MachineInstruction
from softlab.emulator.machine.flow import blocks_of
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse
from softlab.instruments.issue import Issue, IssueFinder, MachineSite, UnrolledLoop, machine_sites

STEP = 16


def function(code: str) -> MachineFunction:
    """A function of instructions such as ``@P0 BRA 4``; numbers and PTX lines count from 0 and from 1."""
    instructions = []
    for number, text in enumerate(code.split("\n")):
        words = text.split()
        guard = words.pop(0).removeprefix("@") if words[0].startswith("@") else ""
        targets = tuple(int(word) * STEP for word in words[1:])
        line = number + 1
        instructions.append(
            MachineInstruction(number * STEP, text, words[0], (), guard, False, (), targets, line, ())
        )  # fmt: skip
    return MachineFunction("kernel", tuple(instructions))


def test_branches_decide_about_both_arms_and_not_about_what_follows() -> None:
    code = function("ISETP\n@P0 BRA 5\nLDG\nSTG\nBRA 6\nLDS\nSTS\nEXIT")
    sites = list(machine_sites(code))
    assert [site.instruction for site in sites] == list(code.instructions)
    assert [sorted(site.branches) for site in sites] == [[], [], [2], [2], [2], [2], [], []]
    assert [site.group // STEP for site in sites] == [0, 0, 2, 2, 2, 5, 6, 6]
    assert [sorted(site.near) for site in sites] == [[1, 2]] * 2 + [[3, 4, 5]] * 3 + [[6]] + [[7, 8]] * 2


def test_behind_an_exit_under_a_predicate_a_loop_decides_about_itself() -> None:
    sites = machine_sites(function("@P0 EXIT\nMOV\nLDG\n@P1 BRA 2\nSTG\nEXIT\nBRA 6"))
    branches = [sorted(site.branches) for site in sites]
    assert branches == [[], [1], [1, 4], [1, 4], [1], [1], []]


def finder(body: str) -> tuple[IssueFinder, dict[str, int]]:
    """Who issues what in a kernel of PTX, and the line of each of its statements."""
    registers = ".reg .b32 %r<10>; .reg .b64 %rd<2>; .reg .pred %p<10>;"
    text = f".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{ {registers}\n{body}\n}}\n"
    image = link(parse(text), "k")
    return IssueFinder(image, blocks_of(image)), {line: number + 1 for number, line in enumerate(text.split("\n"))}


def copies(*groups: int, guard: str = "", branches: frozenset[int] = frozenset(), near: frozenset[int] = frozenset()):
    """Copies of one load, by the basic block in which each stands."""
    load = MachineInstruction(0, "", "LDG", (), guard, False, (), (), 9, ())
    return [MachineSite(load, branches, group, near) for group in groups]


#: Blocks: 0 before the loop, 1 the loop, 2 the end.
LOOP = "mov.u32 %r1, 0;\nLOOP:\nld.global.u32 %r2, [%rd1];\n@%p1 bra LOOP;\nret;"


@pytest.mark.parametrize(
    ("groups", "stages"),
    [
        ((1, 1, 1, 1, 2, 2, 3), (4, 2, 1)), ((3, 2, 2, 1, 1, 1, 1), (4, 2, 1)), ((1, 1, 2), (2, 1)), ((1,), None),
        ((1, 1), None), ((1, 1, 1, 2), None), ((1, 1, 1, 1, 2, 2), None), ((1, 2), None),
        ((1,) * 8 + (2,) * 4 + (3, 3, 4), (8, 4, 2, 1)),
    ],
)  # fmt: skip
def test_the_stages_of_an_unrolled_loop_halve(groups: tuple[int, ...], stages: tuple[int, ...] | None) -> None:
    found, lines = finder(LOOP)
    branches = frozenset({lines["@%p1 bra LOOP;"]})
    loop = None if stages is None else UnrolledLoop(0, 1, stages, False)
    assert found.issue(1, copies(*groups, branches=branches), False) == Issue(1, loop=loop)
    assert found.issue(0, copies(*groups), False) == Issue(0), "in no loop"


def test_a_predicated_copy_is_the_last_stage() -> None:
    found, lines = finder(LOOP)
    branches = frozenset({lines["@%p1 bra LOOP;"]})
    last = copies(3, guard="P0")
    assert found.issue(1, [*copies(1, 1, branches=branches), *last], False) == Issue(
        1, loop=UnrolledLoop(0, 1, (2, 1), True)
    )
    inside = copies(3, guard="P0", branches=branches)
    assert found.issue(1, [*copies(1, 1, branches=branches), *inside], False) == Issue(1), "it is in the loop"
    assert found.issue(1, [*copies(1, 1, 2, branches=branches), *last], False) == Issue(1), "two stages of one"


#: Blocks: 0, 1 under both conditions, 2 under the first one, 3 behind.
NESTED = (
    "ld.global.u32 %r1, [%rd1];\n@%p1 bra DONE;\n@%p2 bra INNER;\nst.global.u32 [%rd1], %r1;\nINNER:\n"
    "st.global.u32 [%rd1+4], %r1;\nDONE:\nst.global.u32 [%rd1+8], %r1;\nret;"
)


def test_a_predicated_access_is_issued_outside_of_the_branches_that_became_its_predicate() -> None:
    """Blocks: 0, 1 asks again, 2 the store under both, 3 the store under the first, 4 behind."""
    found, lines = finder(NESTED)
    outer = lines["@%p1 bra DONE;"]
    both = frozenset({outer, lines["@%p2 bra INNER;"]})
    assert found.issue(2, copies(1, guard="P0"), True) == Issue(0)
    assert found.issue(2, copies(1, guard="P0", branches=frozenset({outer})), True) == Issue(1)
    assert found.issue(2, copies(1, guard="P0", branches=both), True) == Issue(2)
    assert found.issue(2, copies(1, branches=both), True) == Issue(2)
    assert found.issue(4, copies(1, guard="P0"), True) == Issue(4)
    assert found.issue(2, [], True) == Issue(2)
    two = [*copies(1, guard="P0"), *copies(1, guard="P0", branches=both)]
    assert found.issue(2, two, True) == Issue(2), "the copies do not agree"


def test_a_load_may_sink_into_an_arm_behind_it() -> None:
    found, lines = finder(NESTED)
    outer, inner = lines["@%p1 bra DONE;"], lines["@%p2 bra INNER;"]
    store, behind = lines["st.global.u32 [%rd1], %r1;"], lines["st.global.u32 [%rd1+4], %r1;"]
    sunk = copies(1, branches=frozenset({outer, inner}), near=frozenset({store}))
    assert found.issue(0, sunk, False) == Issue(2, sunk=True)
    assert found.issue(0, sunk, True) == Issue(0), "a store stays where it is"
    first = copies(1, branches=frozenset({outer}), near=frozenset({behind}))
    assert found.issue(0, first, False) == Issue(1, sunk=True)
    assert found.issue(0, [*sunk, *first], False) == Issue(0), "the copies do not agree"


@pytest.mark.parametrize(
    ("parents", "dominated", "block", "outermost"),
    [
        ({}, {}, 4, 4),
        ({4: {2}}, {4: {2}}, 4, 2),
        ({4: {2}, 2: {1}}, {4: {1, 2}, 2: {1}}, 4, 1),
        ({4: {4}}, {4: {4}}, 4, 4),  # a loop that decides about itself
        ({4: {2, 4}}, {4: {2, 4}, 2: {2}}, 4, 2),
        ({4: {2, 3}}, {4: {2}, 3: {2}, 2: {2}}, 4, 2),
        ({4: {2, 3}}, {4: {2, 3}, 3: {3}, 2: {2}}, 4, 4),  # none of the two comes first
        ({4: {2}}, {}, 4, 4),  # there is another way around it
        ({4: {2}, 2: {7}}, {4: {2}, 2: {7}}, 4, 2),  # the branch of block 7 is one of the instruction's
        ({4: {7}}, {4: {7}}, 4, 4),
    ],
)  # fmt: skip
def test_the_outermost_block_whose_warps_issue_an_instruction(
    parents: dict[int, set[int]], dominated: dict[int, set[int]], block: int, outermost: int
) -> None:
    """``dominated``: by which blocks each is. The instruction depends on the branch in line 70."""
    finder = IssueFinder.__new__(IssueFinder)
    finder._graph = SimpleNamespace(  # type: ignore[assignment]
        parents=lambda at: parents.get(at, set()),
        dominates=lambda first, at: first == at or first in dominated.get(at, set()),
    )
    finder._branch = [10 * number for number in range(8)]
    copy = SimpleNamespace(branches=frozenset({70}))
    assert finder._outermost(block, copy) == outermost  # type: ignore[arg-type]
