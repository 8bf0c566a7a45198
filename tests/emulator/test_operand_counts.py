"""How many operands an instruction has: with one more, or one fewer than it needs, it is refused and not guessed at."""

from __future__ import annotations

import pytest

from softlab.emulator.machine.lowering import lowered
from softlab.emulator.ptx.linker import Image, link
from softlab.emulator.ptx.parser import parse

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
DECLARED = ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<9>; .reg .f32 %f<9>;"


def image(text: str) -> Image:
    return link(parse(f"{HEAD}.visible .entry k(.param .u64 x)\n{{\n{DECLARED}\n{text};\n}}\n"), "k")


@pytest.mark.parametrize(
    ("opcode", "operands", "fewest"),
    [
        ("mbarrier.init.shared.b64", "[%r1], 1", 2), ("mbarrier.inval.shared.b64", "[%r1]", 1),
        ("mbarrier.arrive.shared.b64", "%rd1, [%r1], 2", 2), ("mbarrier.arrive.shared.b64", "_, [%r1], 2", 2),
        ("mbarrier.arrive.expect_tx.shared.b64", "%rd1, [%r1], 2", 2),
        ("mbarrier.arrive_drop.shared.b64", "%rd1, [%r1], 2", 2),
        ("mbarrier.test_wait.shared.b64", "%p1, [%r1], %rd1, 20", 3),
        ("mbarrier.try_wait.parity.shared.b64", "%p1, [%r1], %r2, 20", 3),
        ("mbarrier.expect_tx.relaxed.cta.shared.b64", "[%r1], 8", 2),
    ],
)  # fmt: skip
def test_operands_of_mbarriers(opcode: str, operands: str, fewest: int) -> None:
    parts = operands.split(", ")
    for count in range(1, len(parts) + 2):
        given = image(f"{opcode} {', '.join([*parts, '%r9'][:count])}")
        if fewest <= count <= len(parts):
            lowered(given.instructions[0], 0, given)
            continue
        with pytest.raises((NotImplementedError, ValueError)):
            lowered(given.instructions[0], 0, given)


def test_an_arrival_without_a_state() -> None:
    """In a block of a cluster it may go to another one, and gives none."""
    for operands, known in (("[%r1]", True), ("[%r1], 2", True), ("[%r1], 2, 3", False)):
        given = image(f"mbarrier.arrive.release.cluster.shared::cluster.b64 {operands}")
        if known:
            lowered(given.instructions[0], 0, given)
        else:
            with pytest.raises(NotImplementedError, match="4 operands where 2 are known"):
                lowered(given.instructions[0], 0, given)
