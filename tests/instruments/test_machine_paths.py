"""Which machine instructions may come after each one, by hand for each kind of jump."""

from __future__ import annotations

import pytest

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.instruments.machine_paths import MachinePaths

#: Bytes of an instruction.
SIZE = 16


def paths(*lines: str) -> MachinePaths:
    """Of lines such as "@P0 BRA 3": a guard, an opcode, other operands, and the position of a target."""
    made = []
    for number, line in enumerate(lines):
        words = line.split()
        guard = words.pop(0)[1:] if words[0].startswith("@") else ""
        opcode, *operands = words
        targets = tuple(SIZE * int(word) for word in operands if word.isdigit())
        made.append(MachineInstruction(SIZE * number, line, opcode, (), guard, False, tuple(operands), targets, 0, ()))
    return MachinePaths(made)


@pytest.mark.parametrize(
    ("lines", "follow"),
    [
        (["IADD3", "EXIT"], [(1,), ()]),
        (["IADD3", "IADD3"], [(1,), ()]),
        (["@P0 EXIT", "EXIT", "IADD3", "@P0 EXIT"], [(1,), (), (3,), ()]),
        (["BRA 2", "BRA 0", "@P0 BRA 0", "EXIT"], [(2,), (0,), (0, 3), ()]),
        (["BRA UR4 2", "KILL", "@P1 JMP 1", "EXIT"], [(2, 1), (), (1, 3), ()]),
        (["@P0 BRA 1", "JMP 0"], [(1,), (0,)]),
        (["BSYNC", "WARPSYNC", "WARPSYNC 0", "EXIT"], [(1,), (2,), (0, 3), ()]),
    ],
)
def test_jumps_and_ends(lines: list[str], follow: list[tuple[int, ...]]) -> None:
    found = paths(*lines)
    assert found.follow == follow
    assert not found.not_followed


@pytest.mark.parametrize(
    ("lines", "follow"),
    [
        # The blocks: 3 and 5 are named, and nothing else leads to 1 and to 4.
        (["BRX", "@P0 BRA 3", "IADD3", "EXIT", "@P0 BRA 5", "EXIT"], [(1, 3, 4, 5), (3, 2), (3,), (), (5,), ()]),
        (["@P0 BRX", "IADD3", "EXIT", "IADD3"], [(3, 1), (2,), (), ()]),
        (["IADD3", "JMX", "IADD3", "EXIT"], [(1,), (2,), (3,), ()]),
        (["BRXU", "EXIT", "EXIT"], [(1, 2), (), ()]),
        (["BRX 2", "EXIT", "EXIT"], [(2,), (), ()]),
    ],
)
def test_a_jump_through_a_table_may_lead_to_every_block(lines: list[str], follow: list[tuple[int, ...]]) -> None:
    assert paths(*lines).follow == follow


@pytest.mark.parametrize(
    ("lines", "follow"),
    [
        (["CALL 3", "CALL 3", "EXIT", "IADD3", "RET"], [(3,), (3,), (), (4,), (1, 2)]),
        (["@P0 CALL 2", "EXIT", "RET"], [(2, 1), (), (1,)]),
        (["CALL 2", "EXIT", "@P0 RET", "IADD3", "RET"], [(2,), (), (1, 3), (4,), (1,)]),
        # A piece of code that calls another one: each return leads behind the calls of its own.
        (["CALL 2", "EXIT", "CALL 5", "RET", "EXIT", "RET"], [(2,), (), (5,), (1,), (), (3,)]),
        # A jump within the called code, and a return that nothing calls.
        (["CALL 2", "EXIT", "BRA 5", "IADD3", "RET", "RET"], [(2,), (), (5,), (4,), (), (1,)]),
        (["BRA 2", "RET", "CALL 1"], [(2,), (), (1,)]),
    ],
)
def test_a_return_leads_behind_each_call(lines: list[str], follow: list[tuple[int, ...]]) -> None:
    assert paths(*lines).follow == follow


def test_calls_of_code_that_is_not_here_are_said_once() -> None:
    found = paths("CALL far", "@P0 CALL far", "CALL 9", "CALL far", "EXIT")
    assert found.follow == [(), (2,), (), (), ()]
    assert found.not_followed == tuple(
        f"{text} calls code outside this section" for text in ("CALL far", "@P0 CALL far", "CALL 9")
    )
