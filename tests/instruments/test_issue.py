"""Which branches decide about a machine instruction."""

from __future__ import annotations

from softlab.cuda.machine_instructions import MachineFunction, MachineInstruction
from softlab.instruments.issue import machine_sites

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
