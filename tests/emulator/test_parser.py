"""The PTX parser: what NVRTC emits, what nvcc 13 emits, and text that is no PTX."""

from __future__ import annotations

import random

import pytest

from softlab.cuda.compile import compile_program
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse
from softlab.emulator.ptx.syntax import (
    REGISTER_PARTS,
    Address,
    Frame,
    Immediate,
    Pair,
    Register,
    Relocation,
    Symbol,
    Vector,
)
from softlab.emulator.ptx.tokens import Tokens
from softlab.errors import Error

HEADER = ".version 8.8\n.target sm_90\n.address_size 64\n"


def kernel(body: str, before: str = "", params: str = ".param .u64 x") -> str:
    return f"{HEADER}{before}\n.visible .entry k({params})\n{{\n{body}\n}}\n"


def instructions(body: str, before: str = ""):
    return parse(kernel(body, before)).functions["k"].instructions


def test_version_and_target():
    module = parse(kernel("ret;"))
    assert (module.version, module.target) == ("8.8", "sm_90")


def test_operands():
    (load, shuffle, branch) = instructions(
        """.reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p<3>;
        ld.global.v2.b32 {%r1, _}, [%rd1+-4096];
        shfl.sync.bfly.b32 %r2|%p1, %r3, 0x10, 31, -1;
        @!%p1 bra.uni L;
        L:"""
    )
    assert load.opcode == "ld"
    assert load.modifiers == ("global", "v2", "b32")
    assert load.operands == (Vector((Register("%r1", "b32"), None)), Address(Register("%rd1", "b64"), -4096))
    assert shuffle.operands[0] == Pair(Register("%r2", "b32"), Register("%p1", "pred"))
    assert shuffle.operands[2:] == (Immediate(16), Immediate(31), Immediate(-1))
    assert branch.guard == Register("%p1", "pred")
    assert branch.negated
    assert branch.text == "@!%p1 bra.uni L;"


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("0f3F800000", 1.0),
        ("0fFF800000", float("-inf")),
        ("0d3FE0000000000000", 0.5),
        ("0x1F", 31),
        ("0b101", 5),
        ("017", 15),
        ("4294967295U", 4294967295),
        ("-7", -7),
    ],
)
def test_literals(literal, value):
    (move,) = instructions(f".reg .b64 %r<2>; mov.b64 %r1, {literal};")
    assert move.operands[1] == Immediate(value)


def test_inner_scope_may_declare_a_name_again():
    first, second, third = instructions(
        """.reg .b32 r0;
        mov.b32 r0, 1;
        { .reg .pred p; .reg .b32 r0; mov.b32 r0, 2; }
        mov.b32 r0, 3;"""
    )
    assert first.operands[0] == third.operands[0]
    assert first.operands[0] != second.operands[0]


def test_label_of_an_inner_scope_is_its_own():
    function = parse(kernel("bra D;\n{ bra D;\nD: ret;\n}\nD: ret;")).functions["k"]
    outer, inner = function.instructions[0].operands[0], function.instructions[1].operands[0]
    assert (function.labels[outer.name], function.labels[inner.name]) == (3, 2)


def test_branch_table():
    function = parse(
        kernel(".reg .b32 %r<2>;\n$T: .branchtargets\n A,\n B;\nbrx.idx %r1, $T;\nA: ret;\nB: ret;")
    ).functions["k"]
    assert function.tables == {"$T": ("A", "B")}


def test_variables_with_initialisers():
    module = parse(
        kernel(
            "ret;",
            """.global .align 4 .b8 t[16] = {1, 0, 0, 0, 255};
            .const .f32 c[2] = {0f3F800000, 2};
            .global .u64 names[2] = {generic(t)+4, 0};
            .extern .shared .align 16 .b8 dynamic[];
            .global .align 8 .u64 five = 5;""",
        )
    )
    variables = module.variables
    assert variables["t"].size == 16
    assert variables["t"].data == bytes([1, 0, 0, 0, 255])
    assert variables["c"].data == b"\x00\x00\x80\x3f\x02\x00\x00\x00"
    assert variables["names"].relocations == (Relocation(0, "t", 4, True, 8),)
    assert variables["dynamic"].size is None
    assert variables["five"].data == b"\x05" + bytes(7)


def test_parameters_of_every_form():
    module = parse(
        kernel("ret;", params=".param .u64 .ptr .align 1 p, .param .align 8 .b8 s[24], .param .f32 f, .param .u8 b")
    )
    assert [(v.name, v.type, v.size, v.align) for v in module.functions["k"].params] == [
        ("p", "u64", 8, 1),
        ("s", "b8", 24, 8),
        ("f", "f32", 4, 4),
        ("b", "u8", 1, 1),
    ]
    assert [offset for _, offset in link(module, "k").params] == [0, 8, 32, 36]


def test_negated_source_predicate_becomes_a_register():
    negate, compare = instructions(
        ".reg .pred %p<3>; .reg .b32 %r<3>; setp.lt.and.s32 %p1, %r1, %r2, !%p2;",
    )
    assert negate.opcode == "not"
    assert compare.operands[3] == negate.operands[0]


LOCATIONS = """
.loc 1 5 1
mov.b32 %r1, 0;
.loc 1 20 3, function_name $s1, inlined_at 1 5 1
mov.b32 %r1, 1;
.loc 2 7 9, function_name $s2+4, inlined_at 1 20 3
mov.b32 %r1, 2;
.loc 2 7 9, function_name $s2, inlined_at 2 7 9
mov.b32 %r1, 3;
.loc 1 0 3
mov.b32 %r1, 4;
.loc 1 5 1
mov.b32 %r1, 5;
.loc 1 20 3
mov.b32 %r1, 6;
"""


def test_source_locations_keep_the_chain_of_calls():
    text = kernel(".reg .b32 %r<2>;" + LOCATIONS)
    text += '.file 1 "/somewhere/else/own.cu"\n.file 2 "/lib/include/cub/block/block_reduce.cuh"\n'
    frames = [i.frames for i in parse(text, file="own.cu").functions["k"].instructions]
    own, outer, cub = Frame("own.cu", 5), Frame("own.cu", 20), Frame("cub/block/block_reduce.cuh", 7)
    assert frames == [
        (own,),
        (outer, own),
        (cub, outer, own),
        (cub, cub, outer, own),
        (cub, cub, outer, own),  # line 0 keeps the location before
        (own,),
        (outer, own),  # a location that comes again without its parent keeps its chain
    ]


def test_a_load_without_a_line_is_where_its_value_is_used():
    """NVRTC gives line 0 to what it merges of two places, and to what it moves out of a branch."""
    own = '.file 1 "/somewhere/own.cu"\n'
    text = kernel(
        ".reg .b32 %r<9>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n"
        ".loc 1 5 3\nmov.u64 %rd1, 0;\n"
        ".loc 1 0 0\nld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1];\nadd.s32 %r3, %r2, 1;\n"
        "ld.global.u32 %r4, [%rd1];\nsetp.eq.s32 %p1, %r4, 0;\nld.global.u32 %r5, [%rd1];\n"
        ".loc 1 6 3\nmov.u32 %r6, 7;\n@%p1 add.s32 %r7, %r6, %r6;\n"
        ".loc 1 8 3\nst.global.u32 [%rd1], %r3;\nst.global.u32 [%rd1], %r1;\n"
        ".loc 1 9 3\nst.global.u32 [%rd1], %r1;\n"
    )
    instructions = parse(text + own, file="own.cu").functions["k"].instructions
    lines = {i.operands[0].name: i.frames[0].line for i in instructions if i.opcode == "ld"}
    assert lines == {"%r1": 8, "%r2": 8, "%r4": 6, "%r5": 5}  # the last one is used nowhere
    assert [i.frames[0].line for i in instructions if i.opcode in ("add", "setp")] == [5, 5, 6]


def test_calls_are_inlined():
    text = (
        HEADER
        + """.func (.param .b32 r) twice(.param .b32 a)
{ .reg .b32 %r<3>; ld.param.b32 %r1, [a]; add.s32 %r2, %r1, %r1; st.param.b32 [r+0], %r2; ret; }
.visible .entry k() { .reg .b32 %r<3>;
{ .param .b32 param0; st.param.b32 [param0+0], %r1; .param .b32 retval0;
call.uni (retval0), twice, (param0); ld.param.b32 %r2, [retval0+0]; }
ret; }"""
    )
    image = link(parse(text), "k")
    assert [i.opcode for i in image.instructions] == ["st", "ld", "add", "st", "bra", "ld", "ret"]
    assert image.instructions[0].operands[0] == Address(image.instructions[1].operands[1].base, 0)
    assert image.instructions[2].operands[0].name not in ("%r1", "%r2")


def test_unused_module_variables_get_no_memory():
    text = kernel(
        ".reg .b64 %rd<2>; mov.u64 %rd1, used; ret;",
        ".global .b8 unused[1000];\n.global .u64 used = also;\n.global .u32 also;",
    )
    assert [v.name for v in link(parse(text), "k").variables] == ["used", "also"]


@pytest.mark.further
def test_what_nvrtc_emits_for_cub():
    source = """#include <cub/block/block_reduce.cuh>
extern "C" __global__ void k(float* x) {
  typedef cub::BlockReduce<float, 128> Reduce;
  __shared__ typename Reduce::TempStorage storage;
  float sum = Reduce(storage).Sum(x[threadIdx.x]);
  if (threadIdx.x == 0) x[0] = sum;
}"""
    program = compile_program(source, "k")
    image = link(parse(program.ptx, file=program.file), program.entry)
    assert {f.file for i in image.instructions for f in i.frames} >= {"kernel.cu", "cub/block/block_reduce.cuh"}
    # Every instruction comes from line 5 or beside it in the kernel's own file.
    assert {f.line for i in image.instructions for f in i.frames if f.file == "kernel.cu"} <= set(range(2, 8))
    assert image.static_shared_bytes == program.static_smem_bytes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        HEADER + ".visible .entry k( { }",
        kernel("add.s32 %r1, %r2, %r3;"),
        kernel(".reg .b32 %r<2>; mov.b32 %r1, 5"),
        kernel(".reg .b32 %r<2>; mov.b32 %r9, 5;"),
        kernel(".reg .nothing %r<2>;"),
        kernel("ret; §"),
    ],
)
def test_what_is_no_ptx_is_an_error(text):
    with pytest.raises(Error):
        link(parse(text), "k")


def test_the_error_names_the_line():
    with pytest.raises(Error, match=r"PTX line 7: register %r7 is not declared\n  mov.b32 %r7, 5;"):
        parse(kernel("mov.b32 %r7, 5;"))


def test_missing_kernel_is_named():
    with pytest.raises(Error, match="'other' is not in the PTX; it has k"):
        link(parse(kernel("ret;")), "other")


def test_damaged_text_never_ends_in_another_exception():
    text = compile_program(
        'extern "C" __global__ void k(float* x, int n) {'
        "__shared__ float s[32]; s[threadIdx.x] = x[threadIdx.x] / n; __syncthreads(); x[0] = s[n & 31]; }",
        "k",
    ).ptx
    draw = random.Random(0)
    outcomes = {"parsed": 0, "refused": 0}
    for _ in range(150):
        damaged = list(text)
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(damaged))
            damaged[at : at + draw.randint(0, 3)] = draw.choice([*"{}[]();,.%@0x|+-", "", "ld", "\n", "bra"])
        try:
            link(parse("".join(damaged)), "k")
            outcomes["parsed"] += 1
        except Error:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 10


def test_symbol_with_offset_is_an_address():
    (move,) = instructions(".reg .b64 %rd<2>; mov.u64 %rd1, table+8;", ".global .b8 table[16];")
    assert move.operands[1] == Address(Symbol("table"), 8)


def test_debug_sections_are_no_tokens():
    """They are most of what NVRTC writes for a kernel with CUB. What comes after them keeps its line."""
    head = ".version 8.0\n.target sm_90\n.address_size 64\n"
    section = "\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 95,90,78\n.b8 0\n\t}\n"
    kernel = ".visible .entry k()\n{\n\tret;\n}\n"
    tokens = [t.text for t in Tokens(head + section + kernel).tokens]
    assert tokens == [t.text for t in Tokens(head + kernel).tokens]
    (instruction,) = parse(head + section + kernel).functions["k"].instructions
    assert instruction.line == 12
    with pytest.raises(Error, match="PTX line 13: unexpected character"):
        parse(head + section + kernel.replace("}", "\\"))


def test_parts_of_a_register():
    """Four bytes and two halves, each with its first bit and its bits."""
    assert REGISTER_PARTS == {"b0": (0, 8), "b1": (8, 8), "b2": (16, 8), "b3": (24, 8), "h0": (0, 16), "h1": (16, 16)}


def test_an_empty_statement_is_nothing():
    """Inline assembly may leave one behind."""
    found = instructions(".reg .b32 %r<3>; ; add.u32 %r0, %r1, %r2;; { ; } ; sub.u32 %r0, %r1, %r2; ;")
    assert [one.opcode for one in found] == ["add", "sub"]
