"""Which blocks are one region, beside a slow search; which instructions a region may have; when it is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine import regions
from softlab.emulator.machine.regions import Region, regions_of
from softlab.emulator.ptx.blocks import Block
from softlab.emulator.ptx.parser import parse
from softlab.emulator.ptx.syntax import Instruction

PURE = Instruction("add", ("s32",), ())


def block(index: int, end: str, targets: tuple[int, ...], start: int = 0, stop: int = 1) -> Block:
    return Block(index, start, stop, end, PURE if end != "fall" else None, targets, False, False, "", (), ())


def program(blocks: Sequence[Block]) -> Any:
    return SimpleNamespace(blocks=tuple(blocks))


def found(blocks: Sequence[Block], instructions: Sequence[Instruction] = (PURE,)) -> dict[int, tuple[int, int]]:
    regions = regions_of(program(blocks), instructions)
    for index, region in regions.items():
        assert region.blocks == tuple(blocks[region.first : region.last + 1])
        assert region is regions[region.first] is regions[region.last]
        assert region.first <= index <= region.last
    return {index: (region.first, region.last) for index, region in regions.items()}


def slowly(ends: Sequence[tuple[str, tuple[int, ...]]]) -> dict[int, tuple[int, int]]:
    """Loops, longest first: the blocks from a target to the last branch that goes back to it."""
    back = [
        (target, k) for k, (end, targets) in enumerate(ends) for target in targets if end == "branch" and target <= k
    ]
    loops = {first: max(k for target, k in back if target == first) for first, _ in back}
    taken: dict[int, tuple[int, int]] = {}
    for length in range(len(ends), -1, -1):
        for first, last in loops.items():
            inside = range(first, last + 1)
            if last - first != length or last == len(ends) - 1 or taken.keys() & set(inside):
                continue
            if all(ends[k][0] in ("branch", "fall") for k in inside) and all(
                target >= first for k in inside for target in ends[k][1]
            ):
                taken |= dict.fromkeys(inside, (first, last))
    return taken


def test_regions_are_the_outermost_loops() -> None:
    random, seen = np.random.default_rng(4), {True: 0, False: 0}
    for _ in range(600):
        count = int(random.integers(2, 9))
        ends = []
        for k in range(count):
            end = str(random.choice(["branch", "branch", "fall", "fall", "exit"]))
            ends.append((end, (int(random.integers(max(0, k - 4), count)),) if end == "branch" else ()))
        blocks = [block(k, end, targets) for k, (end, targets) in enumerate(ends)]
        expected = slowly(ends)
        assert found(blocks) == expected, ends
        seen[bool(expected)] += 1
    assert min(seen.values()) > 100


def test_how_many_blocks_a_region_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 64, and no block beyond the numbers of a region's code."""
    for more in (63, 64):
        blocks = [block(k, "fall", ()) for k in range(more)] + [
            block(more, "branch", (0,)),
            block(more + 1, "exit", ()),
        ]
        assert found(blocks) == (dict.fromkeys(range(64), (0, 63)) if more == 63 else {})
    monkeypatch.setattr(regions, "_MOST_INDEX", 2)
    for at in (1, 2):
        blocks = [block(k, "fall", ()) for k in range(at)] + [block(at, "branch", (at,)), block(at + 1, "exit", ())]
        assert found([*blocks, block(at + 2, "exit", ())]) == ({1: (1, 1)} if at == 1 else {})


@pytest.mark.parametrize(
    "change",
    [{"waits": "blocks"}, {"waits": "polls"}, {"warp_synchronous": True}, {"end": "barrier"}, {"end": "table"}],
)
def test_what_a_region_has_none_of(change: dict[str, Any]) -> None:
    blocks = [block(0, "fall", ()), block(1, "branch", (0,)), block(2, "exit", ())]
    assert found(blocks) == {0: (0, 1), 1: (0, 1)}
    assert found([replace(blocks[0], **change), *blocks[1:]]) == {}


def instructions(text: str) -> tuple[Instruction, ...]:
    body = f".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .reg .f32 %f<9>; {text} bra L; L: ret;"
    head = ".version 8.8\n.target sm_90\n.address_size 64\n"
    return parse(f"{head}.visible .entry k(.param .u64 x)\n{{\n{body}\n}}\n").functions["k"].instructions


@pytest.mark.parametrize(
    ("text", "able"),
    [
        ("add.s32 %r1, %r2, 3;", True),
        ("@%p1 add.s32 %r1, %r2, 3;", True),
        ("ld.global.u32 %r1, [%rd1];", True),
        ("ldu.global.u32 %r1, [%rd1];", True),
        ("ld.const.u32 %r1, [%rd1];", True),
        ("ld.u32 %r1, [%rd1];", True),
        ("ld.shared.u32 %r1, [%r2];", False),
        ("ld.local.u32 %r1, [%rd1];", False),
        ("@%p1 ld.global.u32 %r1, [%rd1];", False),
        ("ld.volatile.global.u32 %r1, [%rd1];", False),
        ("ld.relaxed.gpu.global.u32 %r1, [%rd1];", False),
        ("ld.acquire.gpu.global.u32 %r1, [%rd1];", False),
        ("ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];", False),
        ("st.global.u32 [%rd1], %r1;", False),
        ("atom.global.add.u32 %r1, [%rd1], 1;", False),
        ("shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;", False),
        ("bar.sync 0;", False),
    ],
)
def test_the_instructions_of_a_region(text: str, able: bool) -> None:
    """Nothing in it changes memory or waits. The branch at its end is none of its opcodes."""
    given = instructions(text)
    blocks = [block(0, "branch", (0,), 0, 2), block(1, "exit", ())]
    assert found(blocks, given) == ({0: (0, 0)} if able else {})
    assert regions._is_able(given[0]) == able


def test_a_hot_loop_has_cost_what_compiling_it_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step takes 30 us, a load 30 us more; compiling takes 50 ms and 3 ms per opcode, and LLVM 100 ms once."""
    given = instructions("add.s32 %r1, %r2, 3; ld.global.u32 %r1, [%rd1]; ldu.global.u32 %r1, [%rd1];")
    blocks = (block(4, "fall", (), 0, 1), block(5, "branch", (4,), 1, 4), block(6, "exit", ()))
    shifted = (None,) * 4 + blocks
    for started, cost in ((True, 0.05 + 4 * 0.003), (False, 0.05 + 4 * 0.003 + 0.1)):
        monkeypatch.setattr(regions, "started", lambda started=started: started)
        for index, step in ((4, 3e-5), (5, 9e-5)):
            region = Region(SimpleNamespace(blocks=shifted), given, 4, 5)
            steps = 1
            while not region.warm(index):
                steps += 1
            assert abs(steps * step - cost) < 1.5 * step


def test_the_names_of_a_region_are_those_it_reads_or_writes() -> None:
    first = replace(block(0, "fall", ()), reads=("%a",), writes=("%b",))
    second = replace(block(1, "branch", (0,)), reads=("%c", "%a"), writes=("%d",))
    region = Region(program([first, second, block(2, "exit", ())]), (PURE,), 0, 1)
    assert region.names == {"%a", "%b", "%c", "%d"}
    assert region.blocks == (first, second)
