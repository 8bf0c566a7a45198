"""The blocks of machine code beside single steps of it, and dominators beside walks that leave a block out."""

from __future__ import annotations

import random
from collections.abc import Collection

import pytest

from softlab.cuda.machine_instructions import MachineFunction, MachineInstruction
from softlab.instruments.machine_graph import MachineGraph, is_conditional

_STEP = 16


def code(*words: str) -> MachineFunction:
    """Such as "IADD", "@P0 BRA 3", "EXIT", "BSSY 4": opcode, with a guard before it and a target's number behind."""
    made = []
    for number, text in enumerate(words):
        guard, _, rest = text.partition(" ") if text[0] == "@" else ("", "", text)
        opcode, *targets = rest.split()
        places = tuple(_STEP * int(target) for target in targets if target.isdigit())
        operands = tuple(target for target in targets if not target.isdigit())
        name, *modifiers = opcode.split(".")
        made.append(
            MachineInstruction(number * _STEP, text, name, tuple(modifiers), guard[1:], False, operands, places, 0, ())
        )
    return MachineFunction("k", tuple(made))


def steps(words: list[str], number: int) -> set[int]:
    """The instructions that may run after one."""
    parts = words[number].split()
    guarded = parts[0][0] == "@"
    opcode, *target = parts[guarded:]
    behind = {number + 1} if number + 1 < len(words) else set()
    if opcode == "EXIT":
        return behind if guarded else set()
    if opcode == "BRA":
        return {int(target[0])} | (behind if guarded else set())
    return behind


def reached(
    follow: dict[int, set[int]], without: Collection[int] = (), edge: tuple[int, int] | None = None
) -> set[int]:
    """What can be reached from 0, without some places or one edge."""
    found: set[int] = set()
    pending = [0]
    while pending:
        here = pending.pop()
        if here not in found and here not in without:
            found.add(here)
            pending += [there for there in follow[here] if (here, there) != edge]
    return found


@pytest.mark.parametrize("seed", range(60))
def test_random_code(seed: int) -> None:
    draw = random.Random(seed)
    length = draw.randrange(4, 30)

    def word() -> str:
        target = draw.randrange(length)
        return draw.choice(["IADD"] * 4 + ["BSYNC", "@P1 EXIT", f"BRA {target}"] + [f"@P0 BRA {target}"] * 4)

    words = [*(word() for _ in range(length - 1)), "EXIT"]
    graph = MachineGraph(code(*words))
    first = [block.instructions[0].address // _STEP for block in graph.blocks]
    assert [i.address // _STEP for block in graph.blocks for i in block.instructions] == list(range(length))
    follow = {block.index: set(block.follow) for block in graph.blocks}
    for block in graph.blocks:
        last = block.last.address // _STEP
        assert {first[index] for index in block.follow} == steps(words, last)
        for number in range(first[block.index], last):
            assert steps(words, number) == {number + 1}, "only the last one jumps"
        assert block.leaves == ("EXIT" in words[last])
        assert block.branches == (words[last][0] == "@")
        assert block.synchronizes == (words[last] == "BSYNC")
        assert not block.by_table
        assert graph.before[block.index] == sorted(b for b, after in follow.items() if block.index in after)
    everywhere = reached(follow)
    for block in everywhere:
        for other in everywhere:
            assert graph.dominates(block, other) == (other not in reached(follow, {block}) or block == other)
    if len(everywhere) < len(graph.blocks):
        return
    for after, targets in follow.items():
        for block in targets - {0}:
            only = everywhere - reached(follow, edge=(after, block))
            assert graph.dominated(block, after) == sorted(only)


def test_where_a_block_ends() -> None:
    graph = MachineGraph(code("BSSY 4", "@P0 BRA 3", "CALL 6", "BSYNC", "BRX", "EXIT", "IADD", "RET", "NOP", "NOP"))
    ends = [(block.last.opcode, block.taken, block.fall, block.leaves, block.calls) for block in graph.blocks]
    assert ends == [
        ("BRA", 2, 1, False, None), ("CALL", None, 2, False, 5), ("BSYNC", None, 3, False, None),
        ("BRX", None, None, False, None), ("EXIT", None, None, True, None), ("RET", None, None, True, None),
    ]  # fmt: skip
    assert [block.joins for block in graph.blocks] == [(3,), (), (), (), (), ()]
    assert graph.joined == {3: 0}
    assert [block.by_table for block in graph.blocks] == [False, False, False, True, False, False]
    assert len(graph.blocks[-1].instructions) == 2, "NOPs behind the end are none of it"


@pytest.mark.parametrize(
    ("text", "conditional"),
    [
        ("BRA 3", False), ("@P0 BRA 3", True), ("BRA.DIV UR4 3", True), ("BRA.U UP0 3", True), ("BRA !P12 3", True),
        ("BRA R2 3", False), ("BRA PT 3", False), ("EXIT", False), ("@P3 EXIT", True),
    ],
)  # fmt: skip
def test_which_jumps_may_go_on(text: str, conditional: bool) -> None:
    assert is_conditional(code(text).instructions[0]) == conditional
