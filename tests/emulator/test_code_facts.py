"""What is known of a kernel before it runs: its blocks, registers, loops and pointers; and its special registers."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine.definedness import reads_and_writes, tracked_registers
from softlab.emulator.machine.faults import Geometry
from softlab.emulator.machine.flow import (
    blocks_of,
    ends_block,
    is_cluster_barrier,
    mask_of,
    synchronises,
    uses_and_definitions,
    waits,
)
from softlab.emulator.machine.loop_facts import LoopFacts
from softlab.emulator.machine.lowering import flatten, immediate
from softlab.emulator.machine.origins import LOADED, UNKNOWN, Origin, PointerOrigins
from softlab.emulator.machine.specials import special_registers
from softlab.emulator.ptx.linker import Image, link
from softlab.emulator.ptx.parser import parse
from softlab.emulator.ptx.syntax import Instruction, Pair, Register, Symbol, Vector
from softlab.errors import Error

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n.const .b32 c[4];\n"
DECLARED = ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<9>; .reg .f32 %f<9>;"


def image(body: str, params: str = ".param .u64 x, .param .u32 n, .param .u64 y") -> Image:
    return link(parse(f"{HEAD}.visible .entry k({params})\n{{\n{DECLARED}\n{body}\n}}\n"), "k")


def one(text: str) -> Instruction:
    return image(text).instructions[0]


# Instructions


@pytest.mark.parametrize(
    ("text", "uses", "definitions"),
    [
        ("add.s32 %r1, %r2, %r3;", ["%r2", "%r3"], ["%r1"]),
        ("@%p1 add.s32 %r1, %r2, 3;", ["%r2", "%p1", "%r1"], ["%r1"]),
        ("ld.global.v2.u32 {%r1, %r2}, [%rd1+4];", ["%rd1"], ["%r1", "%r2"]),
        ("st.global.u32 [%rd1], %r1;", ["%rd1", "%r1"], []),
        ("@!%p1 st.global.u32 [%rd1], %r1;", ["%rd1", "%r1", "%p1"], []),
        ("shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, %r3;", ["%r2", "%r3"], ["%r1", "%p1"]),
        ("atom.global.add.u32 %r1, [%rd1], %r2;", ["%rd1", "%r2"], ["%r1"]),
        ("red.global.add.u32 [%rd1], %r2;", ["%rd1", "%r2"], []),
        ("mov.b64 {%r1, %r2}, %rd1;", ["%rd1"], ["%r1", "%r2"]),
        ("bar.sync 0;", [], []),
    ],
)
def test_what_an_instruction_reads_and_writes(text: str, uses: list[str], definitions: list[str]) -> None:
    assert uses_and_definitions(one(text)) == (uses, definitions)
    reads, writes = reads_and_writes(one(text))
    assert (sorted(reads), writes) == (sorted(set(uses) - (set(definitions) if text[0] == "@" else set())), definitions)


@pytest.mark.parametrize(
    ("text", "ends", "tells"),
    [
        ("ret;", "exit", False), ("exit;", "exit", False), ("trap;", "trap", False), ("bar.sync 0;", "barrier", False),
        ("add.s32 %r1, %r2, 3;", "", False), ("membar.gl;", "", True), ("fence.acq_rel.gpu;", "", True),
        ("atom.global.add.u32 %r1, [%rd1], 1;", "", True), ("red.global.add.u32 [%rd1], 1;", "", True),
        ("ld.volatile.global.u32 %r1, [%rd1];", "", True), ("ld.relaxed.gpu.global.u32 %r1, [%rd1];", "", True),
        ("ld.acquire.gpu.global.u32 %r1, [%rd1];", "", True), ("st.release.gpu.global.u32 [%rd1], 1;", "", True),
        ("ld.global.u32 %r1, [%rd1];", "", False), ("st.global.u32 [%rd1], 1;", "", False),
    ],
)  # fmt: skip
def test_what_an_instruction_does_to_the_course(text: str, ends: str, tells: bool) -> None:
    assert ends_block(one(text)) == ends
    assert synchronises(one(text)) == tells
    assert waits(one(text)) == ""


def test_instructions_of_warps_and_clusters() -> None:
    shuffle = one("shfl.sync.idx.b32 %r1, %r2, 0, 31, %r3;")
    assert mask_of(shuffle) == Register("%r3", "b32")
    assert is_cluster_barrier(one("barrier.cluster.arrive;"))
    assert not is_cluster_barrier(one("barrier.sync 0;"))


# Blocks

LOOP = """mov.b32 %r1, 0;
L: add.s32 %r1, %r1, 1;
setp.lt.s32 %p1, %r1, %r2;
@%p1 bra L;
shfl.sync.idx.b32 %r4, %r1, 0, 31, -1;
st.global.u32 [%rd1], %r4;
bar.sync 0;
@%p2 bra E;
mov.b32 %r5, %r4;
E: ret;"""


def test_blocks_and_what_lives_on() -> None:
    found = blocks_of(image(LOOP))
    assert [(b.index, b.start, b.stop, b.end, b.targets) for b in found] == [
        (0, 0, 1, "fall", ()), (1, 1, 4, "branch", (1,)), (2, 4, 7, "barrier", ()), (3, 7, 8, "branch", (5,)),
        (4, 8, 9, "fall", ()), (5, 9, 10, "exit", ()),
    ]  # fmt: skip
    assert [b.warp_synchronous for b in found] == [False, False, True, False, False, False]
    assert found[2].one_mask
    assert [b.reads for b in found] == [(), ("%r1", "%r2"), ("%r1", "%rd1"), ("%p2",), ("%r4",), ()]
    assert [b.writes for b in found] == [("%r1",), ("%r1",), ("%r4",), (), (), ()]
    assert [b.terminator.opcode if b.terminator else None for b in found] == [None, "bra", "bar", "bra", None, "ret"]


def test_blocks_in_turns_begin_at_what_others_may_see() -> None:
    body = "add.s32 %r1, %r2, 3; atom.global.add.u32 %r1, [%rd1], 1; add.s32 %r1, %r1, 3; membar.gl; ret;"
    assert [block.start for block in blocks_of(image(body))] == [0]
    assert [block.start for block in blocks_of(image(body), in_turns=True)] == [0, 1, 3]


def test_a_mask_that_is_one_for_all_lanes() -> None:
    for text, alike in (
        ("shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;", True),
        ("shfl.sync.idx.b32 %r1, %r2, 0, 31, %r3;", False),
        ("@%p1 shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;", False),
    ):
        assert blocks_of(image(text + " ret;"))[0].one_mask == alike


def test_branches() -> None:
    table = "T: .branchtargets A, B; brx.idx %r1, T; A: ret; B: trap;"
    assert [(b.end, b.targets) for b in blocks_of(image(table))] == [("table", (1, 2)), ("exit", ()), ("trap", ())]
    assert blocks_of(image("bra E; E:"))[0].targets == (1,), "a label at the end is the kernel's end"
    with pytest.raises(Error, match="PTX branches to 'nowhere', which is no label of k"):
        blocks_of(image("bra nowhere;"))


# Registers without a value


def tracked(body: str) -> tuple[set[str], set[str], set[int]]:
    given = image(body)
    found = tracked_registers(given, blocks_of(given))
    return set(found.suspects), set(found.registers), set(found.probes)


@pytest.mark.parametrize(
    ("body", "suspects", "registers", "probes"),
    [
        ("mov.b32 %r1, 5; add.s32 %r2, %r1, 1; ret;", "", "", ()),
        ("add.s32 %r2, %r1, 1; mov.b32 %r3, %r2; mov.b32 %r4, 5; ret;", "r1", "r1 r2 r3", ()),
        # on one of two paths
        ("mov.pred %p1, 1; @%p1 bra A; mov.b32 %r1, 5; A: mov.b32 %r2, %r1; ret;", "r1", "r1 r2", ()),
        (
            "mov.pred %p1, 1; @%p1 bra A; mov.b32 %r1, 5; bra B; A: mov.b32 %r1, 6; B: mov.b32 %r2, %r1; ret;",
            "",
            "",
            (),
        ),
        # a guarded write may write nothing
        ("mov.pred %p1, 1; @%p1 mov.b32 %r1, 5; mov.b32 %r2, %r1; ret;", "r1", "r1 r2", (1,)),
        ("mov.b32 %r1, 1; mov.pred %p1, 1; @%p1 mov.b32 %r1, 5; mov.b32 %r2, %r1; ret;", "", "", ()),
        # in a loop: written at its end, read at its beginning
        ("mov.pred %p1, 1; L: add.s32 %r2, %r1, 1; mov.b32 %r1, 5; @%p1 bra L; ret;", "r1", "r1 r2", ()),
        ("mov.pred %p1, 1; L: mov.b32 %r1, 5; @%p1 bra L; add.s32 %r2, %r1, 1; ret;", "", "", ()),
        # behind an exit that may not be taken, and behind one that is
        ("mov.pred %p1, 1; @%p1 ret; mov.b32 %r2, %r1; ret;", "r1", "r1 r2", ()),
        # passed on by shuffles, not by loads; a choice is asked about
        ("shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; ret;", "r1", "r1 r2", ()),
        ("ld.global.u32 %r2, [%rd1]; ret;", "rd1", "rd1", ()),
        ("mov.pred %p1, 1; selp.b32 %r2, %r1, 3, %p1; ret;", "r1", "r1 r2", (1,)),
        ("mov.pred %p1, 1; mov.b32 %r3, 1; selp.b32 %r2, %r3, 3, %p1; mov.b32 %r4, %r1; ret;", "r1", "r1 r4", ()),
        ("@%p1 mov.b32 %r1, 5; ret;", "p1", "p1 r1", (0,)),
        ("@%p1 bra A; A: ret;", "p1", "p1", ()),
    ],
)
def test_registers_that_may_have_no_value(body: str, suspects: str, registers: str, probes: tuple[int, ...]) -> None:
    names = ({f"%{name}" for name in text.split()} for text in (suspects, registers))
    assert tracked(body) == (*names, set(probes))


def test_what_local_memory_may_leave_without_a_value() -> None:
    """On a stack all is tracked that is loaded from it."""
    stack = ".local .align 8 .b8 __local_depot0[16]; mov.b64 %rd1, __local_depot0; "
    for load, names in (
        ("ld.local.u32 %r1, [%rd1];", {"%r1", "%r2"}), ("ld.u32 %r1, [%rd1];", {"%r1", "%r2"}),
        ("ld.local.u8 %r1, [%rd1];", {"%r1", "%r2"}), ("ld.s8 %r1, [%rd1];", {"%r1", "%r2"}),
        ("ld.global.u32 %r1, [%rd1];", set()), ("ld.shared.u32 %r1, [%rd1];", set()),
    ):  # fmt: skip
        assert tracked(f"{stack}{load} add.s32 %r2, %r1, 1; ret;") == (set(), names, set()), load
    assert tracked("mov.b64 %rd1, 0; ld.local.u32 %r1, [%rd1]; ret;") == (set(), set(), set()), "without a stack"


# Loops


def facts(body: str) -> LoopFacts:
    given = image(body)
    return LoopFacts(given, blocks_of(given), {name: k for k, name in enumerate(sorted(given.registers))})


def named(found: LoopFacts, body: str, which: str) -> set[str]:
    names = sorted(image(body).registers)
    return {names[k] for k in getattr(found, which)}


@pytest.mark.parametrize(
    ("turn", "polls", "alone"),
    [
        ("ld.volatile.global.u32 %r1, [%rd1];", True, True), ("ld.relaxed.gpu.global.u32 %r1, [%rd1];", True, True),
        ("ld.acquire.gpu.global.u32 %r1, [%rd1];", True, True), ("ld.global.u32 %r1, [%rd1];", False, False),
        ("atom.global.add.u32 %r1, [%rd1], 1;", True, True),
        ("nanosleep.u32 20; ld.global.u32 %r1, [%rd1];", True, True),
        ("nanosleep.u32 20; add.s32 %r1, %r1, 1;", True, False),
        ("ld.volatile.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1;", True, False),
        ("ld.volatile.global.u32 %r9, [%rd1]; add.s32 %r1, %r1, 1;", True, False),
    ],
)  # fmt: skip
def test_loops_that_wait_for_others(turn: str, polls: bool, alone: bool) -> None:
    found = facts(f"mov.b32 %r1, 0; L: {turn} setp.eq.s32 %p1, %r1, 0; @%p1 bra L; ret;")
    assert dict(found.polls) == ({1: 1} if polls else {})
    assert found.wait_for_others == alone
    assert not found.waits_for_mbarrier(1)
    outer = facts(f"mov.b32 %r1, 0; M: mov.b32 %r2, 5; L: {turn} setp.eq.s32 %p1, %r1, 0; @%p1 bra L; @%p1 bra M; ret;")
    assert dict(outer.polls) == ({1: 3, 2: 2} if polls else {})


def test_what_decides_about_a_loop() -> None:
    body = """mov.b32 %r1, 0; ld.param.u64 %rd1, [x];
    L: add.s32 %r1, %r1, %r2; add.s32 %r3, %r3, %r1; ld.global.u32 %r4, [%rd1+4]; mov.u32 %r5, %clock;
    add.s32 %r6, %r5, 1; setp.lt.s32 %p1, %r1, %r4; @%p2 st.global.u32 [%rd2], %r3; @%p1 bra L; ret;"""
    found = facts(body)
    assert named(found, body, "control") == {"%p1", "%r1", "%r2", "%r4", "%rd1"}
    assert named(found, body, "control_and_addresses") == {"%p1", "%r1", "%r2", "%r4", "%rd1", "%rd2", "%p2"}
    assert not found.time_decides
    assert list(found.reads) == [False, True, False]
    timed = body.replace("%r1, %r4", "%r1, %r6")
    assert facts(timed).time_decides
    assert named(facts(timed), timed, "control") == {"%r1", "%r2"}, "but for what follows from the clock"
    assert list(facts(timed).reads) == [False, False, False]


def test_masks_and_waiting_decide() -> None:
    body = "mov.b32 %r1, 5; add.s32 %r2, %r1, %r3; shfl.sync.idx.b32 %r4, %r5, 0, 31, %r2; ret;"
    assert named(facts(body), body, "control") == {"%r1", "%r2", "%r3"}
    body = "ld.param.u32 %r1, [n]; L: ld.const.u32 %r2, [c]; setp.lt.s32 %p1, %r1, %r2; @%p1 bra L; ret;"
    assert list(facts(body).reads) == [False, False, False], "constant: no lane changes it"


# Pointers


def origins(body: str, register: str) -> set[Origin]:
    return set(PointerOrigins(image(body)).of(Register(f"%{register}", "b64")))


X, Y, S = Origin("parameter", "x", 0), Origin("parameter", "y", 16), Origin("shared", "s")
GIVEN = """.shared .b8 s[64]; .local .align 8 .b8 __local_depot0[64];
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.b64 %rd3, s; mov.b64 %rd4, __local_depot0; ld.param.u32 %r1, [n];"""


@pytest.mark.parametrize(
    ("text", "register", "expected"),
    [
        ("", "rd1", {X}), ("", "rd2", {Y}), ("", "rd3", {S}),
        ("", "rd4", {Origin("stack", "__local_depot0")}), ("", "r1", set()),
        ("cvta.to.global.u64 %rd5, %rd1;", "rd5", {X}), ("add.s64 %rd5, %rd1, 8;", "rd5", {X}),
        ("add.s64 %rd5, %rd1, %rd2;", "rd5", {X, Y}),
        ("add.s64 %rd5, %rd4, 16;", "rd5", {Origin("local", "__local_depot0", 16)}),
        ("add.s64 %rd6, %rd4, 16; add.s64 %rd5, %rd6, 8;", "rd5", {Origin("local", "__local_depot0", 16)}),
        ("sub.s64 %rd5, %rd1, %rd6;", "rd5", {X}), ("sub.s64 %rd5, %rd1, %rd2;", "rd5", {UNKNOWN}),
        ("sub.s64 %rd5, %rd6, %rd2;", "rd5", {UNKNOWN}), ("xor.b64 %rd5, %rd1, %rd6;", "rd5", {UNKNOWN}),
        ("xor.b64 %rd5, %rd7, %rd6;", "rd5", set()), ("and.b64 %rd5, %rd1, -8;", "rd5", {X}),
        ("min.u64 %rd5, %rd1, %rd2;", "rd5", {X, Y}), ("selp.b64 %rd5, %rd1, %rd3, %p1;", "rd5", {X, S}),
        ("mad.lo.s64 %rd5, %rd6, 4, %rd1;", "rd5", {X}), ("mad.lo.s64 %rd5, %rd1, 4, %rd2;", "rd5", {UNKNOWN}),
        ("mad.lo.s64 %rd5, %rd6, %rd1, %rd2;", "rd5", {UNKNOWN}), ("mul.lo.s64 %rd5, %rd1, 4;", "rd5", {UNKNOWN}),
        ("ld.global.u64 %rd5, [%rd1];", "rd5", {LOADED}), ("ld.global.f32 %f1, [%rd1];", "f1", set()),
        ("ld.global.u64 %rd6, [%rd1]; add.s64 %rd5, %rd6, %rd2;", "rd5", {Y}),
        ("ld.global.u64 %rd6, [%rd1]; add.s64 %rd5, %rd6, 8;", "rd5", {LOADED}),
        ("ld.global.u64 %rd6, [%rd1]; sub.s64 %rd5, %rd2, %rd6;", "rd5", {Y}),
        ("ld.global.u64 %rd6, [%rd1]; mul.lo.s64 %rd5, %rd6, 4;", "rd5", {LOADED}),
        ("ld.global.u64 %rd6, [%rd1]; mad.lo.s64 %rd5, %rd6, 4, %rd2;", "rd5", {Y}),
        ("atom.global.exch.b64 %rd5, [%rd1], 0;", "rd5", {LOADED}), ("mov.b64 %rd5, s+8;", "rd5", {S}),
        ("mov.b64 %rd5, c;", "rd5", {Origin("global", "c")}), ("mov.b64 %rd5, {%r2, %r3};", "rd5", set()),
        ("@%p1 mov.b64 %rd5, %rd1; @!%p1 mov.b64 %rd5, %rd3;", "rd5", {X, S}),
    ],
)  # fmt: skip
def test_where_pointers_come_from(text: str, register: str, expected: set[Origin]) -> None:
    assert origins(f"{GIVEN} {text} ret;", register) == expected


def test_pointers_round_a_loop_and_through_an_argument() -> None:
    body = f"{GIVEN} mov.b64 %rd5, %rd1; L: mov.b64 %rd6, %rd5; mov.b64 %rd5, %rd3; @%p1 bra L; ret;"
    assert origins(body, "rd6") == {X, S}
    given = ".local .b64 a; st.local.b64 [a], %rd2; ld.local.b64 %rd5, [a]; ld.local.b64 %rd6, [a+8];"
    assert origins(f"{GIVEN} {given} ret;", "rd5") == {Y}
    assert origins(f"{GIVEN} {given} ret;", "rd6") == set(), "another place of the argument"
    both = PointerOrigins(image(f"{GIVEN} ld.param.v2.u64 {{%rd5, %rd6}}, [p]; st.global.u32 [%rd1+8], 3; ret;",
                                ".param .u64 x, .param .u32 n, .param .u64 y, .param .align 16 .b8 p[16]"))  # fmt: skip
    assert set(both.of(Register("%rd6", "b64"))) == {Origin("parameter", "p", 32), Origin("parameter", "p", 40)}
    store = one("st.global.u32 [%rd1+8], 3;")
    assert both.of_address(store.operands[0]) == {X}
    assert both.of_address(Register("%rd1", "b64")) == frozenset()


# Operands


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (5, "i4", 5), (-1, "u4", 2**32 - 1), (2**32 + 7, "u4", 7), (2**31, "i4", -(2**31)), (255, "i1", -1),
        (-(2**63), "u8", 2**63), (3, "f4", 3.0), (1.0, "u4", 0x3F800000), (1.0, "i4", 0x3F800000),
        (1.0, "u8", 0x3FF << 52),
        (1.0, "u2", 0x3C00), (0.1, "f4", float(np.float32(0.1))), (0.1, "f8", 0.1), (2, "?", True), (0, "?", False),
        (-0.0, "u4", 0x80000000),
    ],
)  # fmt: skip
def test_a_literal_as_a_type(value: float, dtype: str, expected: float) -> None:
    found = immediate(value, np.dtype(dtype))
    assert found == expected
    assert found.dtype == np.dtype(dtype)
    with pytest.raises(NotImplementedError, match=r"the float 1.0 in 8 bits"):
        immediate(1.0, np.dtype("u1"))


def test_operands_without_their_groups() -> None:
    a, b, c = (Register(name, "b32") for name in "abc")
    assert flatten((a, Vector((b, None)), Pair(c, None), Symbol("s"))) == [a, b, None, c, None, Symbol("s")]
    assert flatten(()) == []


# Special registers

SHAPES: list[Any] = [
    ((5, 1, 1), (7, 1, 1), (1, 1, 1)),
    ((4, 6, 2), (3, 2, 11), (2, 3, 1)),
    ((2, 4, 6), (40, 1, 2), (1, 2, 3)),
]


@pytest.mark.parametrize(("grid", "block", "cluster"), SHAPES)
@pytest.mark.parametrize("whole", [True, False])
def test_special_registers(grid: Any, block: Any, cluster: Any, whole: bool) -> None:
    """Clusters follow each other, x first; in each its blocks, x first; threads likewise."""
    counts = [g // c for g, c in zip(grid, cluster, strict=True)]
    order = [
        (tuple(o * c + i for o, c, i in zip(outer[::-1], cluster, inner[::-1], strict=True)), inner[::-1], outer[::-1])
        for outer in itertools.product(*map(range, counts[::-1])) for inner in itertools.product(*map(range,
        cluster[::-1]))
    ]  # fmt: skip
    ranks, size = range(math.prod(cluster)), math.prod(cluster)
    first, blocks = (0, len(order)) if whole else (size, size + 1)
    blocks = min(blocks, len(order) - first)
    lanes = math.prod(block)
    padded = -(-lanes // 32) * 32
    program = SimpleNamespace(image=SimpleNamespace(reserved_shared=b"12345678", cluster=cluster if size > 1 else None))
    launch: Any = SimpleNamespace(lanes=padded, sm_count=3, shared_bytes=1000, dynamic_shared=64, program=program,
                                  blocks_per_cluster=size, grid_workspace=0x1234_5678_9ABC)  # fmt: skip
    geometry = Geometry(grid, block, first, cluster)
    found = {
        name: np.broadcast_to(value, (blocks, padded))
        for name, value in special_registers(launch, geometry, blocks).items()
    }
    threads = [point[::-1] for point in itertools.product(*map(range, block[::-1]))]
    for row, (lane, thread) in itertools.product(range(blocks), enumerate(threads)):
        index, inside, outer = order[first + row]
        expected = {"laneid": lane % 32, "warpid": lane // 32, "smid": (first + row) % 3,
                    "cluster_ctarank": ranks[(first + row) % size], "lanemask_eq": 1 << lane % 32,
                    "lanemask_lt": (1 << lane % 32) - 1, "lanemask_le": (2 << lane % 32) - 1,
                    "lanemask_gt": 2**32 - (2 << lane % 32), "lanemask_ge": 2**32 - (1 << lane % 32),
                    "cluster_nctarank": size, "nsmid": 3, "nwarpid": 64, "gridid": 0, "dynamic_smem_size": 64,
                    "total_smem_size": 992, "aggr_smem_size": 992, "is_explicit_cluster": size > 1,
                    "current_graph_exec": 0, "envreg1": 0x1234, "envreg2": 0x56789ABC}  # fmt: skip
        for k, axis in enumerate("xyz"):
            expected |= {f"tid.{axis}": thread[k], f"ntid.{axis}": block[k], f"ctaid.{axis}": index[k],
                         f"nctaid.{axis}": grid[k], f"clusterid.{axis}": outer[k], f"nclusterid.{axis}": counts[k],
                         f"cluster_ctaid.{axis}": inside[k], f"cluster_nctaid.{axis}": cluster[k]}  # fmt: skip
        if lane in (0, 1, 31, 32, lanes - 1):
            assert {name: int(value[row, lane]) for name, value in found.items()} == expected
            assert geometry.thread(lane) == thread
    rows = np.arange(blocks)
    assert [geometry.block_index(int(row)) for row in rows] == [order[first + row][0] for row in rows]
    linear = [(z * grid[1] + y) * grid[0] + x for (x, y, z), _, _ in order]
    assert geometry.linear(rows).tolist() == linear[first : first + blocks]
    assert (geometry.blocks_per_cluster, geometry.clusters) == (size, tuple(counts))


def test_what_all_lanes_share_is_a_scalar() -> None:
    program = SimpleNamespace(image=SimpleNamespace(reserved_shared=b"", cluster=None))
    launch: Any = SimpleNamespace(lanes=64, sm_count=1, shared_bytes=0, dynamic_shared=0, program=program,
                                  blocks_per_cluster=1, grid_workspace=0)  # fmt: skip
    found = special_registers(launch, Geometry((4, 1, 1), (64, 1, 1)), 4)
    arrays = {name: value.shape for name, value in found.items() if isinstance(value, np.ndarray)}
    masks = dict.fromkeys(
        ("laneid", "warpid", "tid.x", *(f"lanemask_{k}" for k in ("eq", "lt", "le", "gt", "ge"))), (1, 64)
    )
    assert arrays == {**masks, "ctaid.x": (4, 1), "clusterid.x": (4, 1)}
