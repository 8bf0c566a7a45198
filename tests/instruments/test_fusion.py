"""Which accesses share a wide one, and which pair was split again: rules on PTX and machine code written by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from softlab.cuda.machine_instructions import MachineInstruction
from softlab.emulator.machine.flow import blocks_of
from softlab.emulator.ptx.linker import Image, link
from softlab.emulator.ptx.parser import parse
from softlab.instruments.fusion import carriers, split_pairs

HEAD = """.version 8.8
.target sm_90
.address_size 64
.visible .entry k()
{
.shared .align 16 .b8 first[16];
.shared .align 16 .b8 second[16];
.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<3>;
"""


def image_of(body: str) -> tuple[Image, list[int]]:
    """The PTX of a kernel with this body, and the indices of its loads and stores."""
    image = link(parse(f"{HEAD}{body}\nret;\n}}\n"), "k")
    return image, [index for index, i in enumerate(image.instructions) if i.opcode in ("ld", "st")]


def carried(body: str, *machine: int, ptx: int = 4) -> dict[int, int]:
    """Which access the n-th one is fused into, both by their number; ``machine``: the width of each, 0 for none."""
    image, accesses = image_of(body)
    widths = {index: (ptx, width) for index, width in zip(accesses, machine, strict=True)}
    found = carriers(image, blocks_of(image), widths)
    return {accesses.index(one): accesses.index(other) for one, other in found.items()}


def loads(*addresses: str) -> str:
    return "\n".join(f"ld.shared.f32 %f{number + 1}, [{address}];" for number, address in enumerate(addresses))


@pytest.mark.parametrize(
    ("offsets", "machine", "found"),
    [
        ((0, 4, 8, 12), (16, 0, 0, 0), {1: 0, 2: 0, 3: 0}),
        ((4, 8, 12, 16), (16, 0, 0, 0), {1: 0, 2: 0, 3: 0}),  # the base itself is 12 beyond a multiple of 16
        ((0, 4, 8, 12), (8, 0, 8, 0), {1: 0, 3: 2}),
        ((4, 0, 12, 8), (0, 8, 0, 8), {0: 1, 2: 3}),
        ((0, 4, 16, 20), (8, 0, 16, 0), {1: 0, 3: 2}),
        ((0, 4, 8), (8, 0, 0), {1: 0}),  # no run of 8 bytes has three words
        ((-4, 0, 4), (8, 0, 0), {1: 0}),
        ((0, 4, 64), (16, 0, 0), {1: 0}),
        ((0, 4), (4, 0), {}),  # as wide as the PTX has it
        ((0, 4), (0, 0), {}),
        ((0, 4), (8, 4), {}),
    ],
)
def test_a_wide_access_carries_those_of_its_aligned_run(
    offsets: tuple[int, ...], machine: tuple[int, ...], found: dict[int, int]
) -> None:
    assert carried(loads(*(f"%r1+{offset}" for offset in offsets)), *machine) == found


@pytest.mark.parametrize(
    ("body", "together"),
    [
        ("ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r1+4];", True),
        ("ld.shared.f32 %f1, [%r1]; st.shared.f32 [%r1+4], %f2;", False),
        ("ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r2+4];", False),
        ("ld.shared.f32 %f1, [%r1]; @%p1 ld.shared.f32 %f2, [%r1+4];", False),
        ("@%p1 ld.shared.f32 %f1, [%r1]; @%p1 ld.shared.f32 %f2, [%r1+4];", True),
        ("@%p1 ld.shared.f32 %f1, [%r1]; @!%p1 ld.shared.f32 %f2, [%r1+4];", False),
        ("@%p1 ld.shared.f32 %f1, [%r1]; @%p2 ld.shared.f32 %f2, [%r1+4];", False),
        ("ld.shared.f32 %f1, [%r1]; bra L; L: ld.shared.f32 %f2, [%r1+4];", False),
        ("add.s32 %r3, %r1, 4; ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r3];", True),
        ("add.s32 %r3, %r1, 12; ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r3+-8];", True),
        ("mov.u32 %r3, %r1; add.s32 %r4, %r3, 4; ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r4];", True),
        ("add.s32 %r3, %r1, %r2; ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r3];", False),
        ("sub.s32 %r3, %r1, 4; ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r3];", False),
        ("@%p1 add.s32 %r3, %r1, 4; ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r3];", False),
        ("add.s32 %r3, %r1, 4; add.s32 %r3, %r1, 4; ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r3];", False),
        ("add.s32 %r1, %r1, 4; ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r1+4];", True),  # itself: a loop
        ("mov.u32 %r3, first; ld.shared.f32 %f1, [first]; ld.shared.f32 %f2, [%r3+4];", True),
        ("ld.shared.f32 %f1, [first+12]; ld.shared.f32 %f2, [second];", True),  # 12 and 16: side by side in memory
        ("ld.shared.f32 %f1, [first]; ld.shared.f32 %f2, [second];", False),
    ],
)
def test_only_accesses_with_one_base_guard_and_block_are_one(body: str, together: bool) -> None:
    assert carried(body, 8, 0) == ({1: 0} if together else {})


def machine_store(address: str) -> MachineInstruction:
    return MachineInstruction(0, f"STS {address}, R1", "STS", (), "", False, (address, "R1"), (), 1, ())


def split(body: str, machine: Mapping[int, tuple[str, ...]], widths: tuple[int, ...] = (4, 4)) -> dict[int, int]:
    """Which store was split from its neighbour, both by their number; ``machine``: the addresses made from each."""
    image, stores = image_of(body)
    made = {index: [machine_store(address) for address in machine[n]] for n, index in enumerate(stores)}
    found = split_pairs(image, blocks_of(image), made, dict(zip(stores, widths, strict=True)))
    return {stores.index(one): stores.index(other) for one, other in found.items()}


PAIR = "st.shared.f32 [%r1+4], %f1; st.shared.f32 [%r1+8], %f2;"
BOTH = ("[R0+0x4]", "[R0+0x8]")


@pytest.mark.parametrize(
    ("body", "machine", "found"),
    [
        (PAIR, {0: (), 1: BOTH}, {0: 1}),
        (PAIR, {0: BOTH, 1: ()}, {1: 0}),
        (PAIR, {0: BOTH[::-1], 1: ()}, {1: 0}),
        (PAIR, {0: (), 1: ("[R0]", "[R0+0x4]")}, {0: 1}),
        (PAIR, {0: (), 1: ("[R0+-0x4]", "[R0]")}, {0: 1}),
        (PAIR, {0: BOTH[:1], 1: BOTH}, {}),  # an instruction of its own
        (PAIR, {0: (), 1: BOTH[:1]}, {}),
        (PAIR, {0: (), 1: (*BOTH, "[R0+0xc]")}, {}),
        (PAIR, {0: (), 1: ("[R0+0x4]", "[R3+0x8]")}, {}),
        (PAIR, {0: (), 1: ("[R0+0x4]", "[R0+0xc]")}, {}),
        (PAIR, {0: (), 1: ("[R0+0x4]", "[R0+0x4]")}, {}),
        (PAIR.replace("+8", "+12"), {0: (), 1: BOTH}, {}),
        (PAIR.replace("%r1+8", "%r2+8"), {0: (), 1: BOTH}, {}),
        (PAIR.replace("; ", "; bra L; L: "), {0: (), 1: BOTH}, {}),
        ("add.s32 %r2, %r1, 16; " + PAIR.replace("%r1+4", "%r2+-12"), {0: (), 1: BOTH}, {0: 1}),
    ],
)
def test_a_pair_is_split_into_two_neighbours(
    body: str, machine: dict[int, tuple[str, ...]], found: dict[int, int]
) -> None:
    assert split(body, machine) == found


def test_the_neighbours_of_a_split_pair_have_one_width() -> None:
    assert split(PAIR, {0: (), 1: BOTH}, widths=(8, 4)) == split(PAIR, {0: (), 1: BOTH}, widths=(4, 8)) == {}
