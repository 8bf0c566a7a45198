"""Functions and variables in PTX text: each form of an operand, scopes, labels, declarations, what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from softlab.emulator.ptx.body import RESERVED_SHARED
from softlab.emulator.ptx.parser import parse
from softlab.emulator.ptx.syntax import (
    Address,
    Function,
    Immediate,
    Instruction,
    Module,
    Operand,
    Pair,
    Register,
    Relocation,
    Special,
    Symbol,
    Vector,
)
from softlab.errors import Error

HEADER = ".version 8.8\n.target sm_90, debug\n.address_size 64\n"
DECLARED = ".reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<3>; .reg .f32 f;"


def module(body: str, before: str = "", head: str = ".visible .entry k(.param .u64 x)") -> Module:
    return parse(f"{HEADER}{before}\n{head}\n{{\n{body}\n}}\n")


def function(body: str, before: str = "") -> Function:
    return module(body, before).functions["k"]


def instructions(body: str) -> tuple[Instruction, ...]:
    return function(DECLARED + body).instructions


def r(number: int, kind: str = "b32") -> Register:
    return Register({"b32": "%r", "b64": "%rd", "pred": "%p"}[kind] + str(number), kind)


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("%r1", (r(1),)), ("f", (Register("f", "f32"),)), ("_", (None,)), ("%tid.x", (Special("tid.x"),)),
        ("%laneid", (Special("laneid"),)), ("%envreg31", (Special("envreg31"),)), ("%pm7_64", (Special("pm7_64"),)),
        ("WARP_SZ", (Immediate(32),)), ("t", (Symbol("t"),)), ("t+8", (Address(Symbol("t"), 8),)),
        ("t-8", (Address(Symbol("t"), -8),)), ("-5", (Immediate(-5),)), ("-%r1", (r(1),)),
        ("[%rd1]", (Address(r(1, "b64")),)), ("[%rd1+4]", (Address(r(1, "b64"), 4),)),
        ("[%rd1+-4]", (Address(r(1, "b64"), -4),)), ("[%rd1-4+16]", (Address(r(1, "b64"), 12),)),
        ("[t+4]", (Address(Symbol("t"), 4),)), ("[64]", (Address(None, 64),)),
        ("[%rd1, {%r1, %r2}]", (Vector((Address(r(1, "b64")), Vector((r(1), r(2))))),)),
        ("{%r1, _, 5}", (Vector((r(1), None, Immediate(5))),)), ("(%r1, %r2)",
        (Vector((r(1), r(2))),)), ("()", (Vector(()),)),
        ("%r1|%p1, %r2", (Pair(r(1), r(1, "pred")), r(2))), ("_|%p1", (Pair(None, r(1, "pred")),)),
        ("%r1|_", (Pair(r(1), None),)), ("%r1, %r2, 3", (r(1), r(2), Immediate(3))),
    ],
)  # fmt: skip
def test_each_form_of_an_operand(text: str, operands: tuple[Operand, ...]) -> None:
    (found,) = instructions(f"op.b32 {text};")
    assert found.operands == operands
    assert found.opcode == "op"
    assert found.modifiers == ("b32", *(["0.minus"] if text == "-%r1" else []))


def test_parts_of_registers_are_modifiers() -> None:
    (found,) = instructions("vadd.s32 %r1.h1, %r2.b3, -%r3, %r4;")
    assert found.operands == (r(1), r(2), r(3), r(4))
    assert found.modifiers == ("s32", "0.h1", "1.b3", "2.minus")
    (after,) = instructions("vadd.s32 %r1, %r2;")
    assert after.modifiers == ("s32",)


def test_a_negated_source_is_a_register_of_its_own() -> None:
    text = "op.pred %p1, !%p2, !%p0;"
    first, second, found = instructions(text)
    assert [one.opcode for one in (first, second, found)] == ["not", "not", "op"]
    assert first.modifiers == ("pred",)
    assert (first.operands[1], second.operands[1]) == (r(2, "pred"), r(0, "pred"))
    assert found.operands == (r(1, "pred"), first.operands[0], second.operands[0])
    names = [one.operands[0].name for one in (first, second)]
    assert names == ["%not", "%not@1"]
    assert [function(DECLARED + text).registers[name] for name in names] == ["pred", "pred"]


@pytest.mark.parametrize(
    ("guard", "expected"), [("", (None, False)), ("@%p1 ", (r(1, "pred"), False)), ("@!%p2 ", (r(2, "pred"), True))]
)
def test_guards(guard: str, expected: tuple[Any, bool]) -> None:
    (found,) = instructions(f"\n  {guard}add.s32   %r1,\n %r2, 3;")
    assert (found.guard, found.negated) == expected
    assert found.text == f"{guard}add.s32 %r1, %r2, 3;"
    assert found.line == 8


def test_registers_of_a_stem_are_those_below_its_count() -> None:
    found = function(".reg .b32 %r<3>; .reg .b64 a, b<2>; op %r0, %r2, a, b1;")
    assert found.registers == {"%r0": "b32", "%r2": "b32", "a": "b64", "b1": "b64"}
    for wrong in ("%r3", "%r", "%x1"):
        with pytest.raises(Error, match=f"register {wrong} is not declared"):
            function(f".reg .b32 %r<3>; op {wrong};")
    assert function(".reg .b32 b<2>; op b2;").instructions[0].operands == (Symbol("b2"),)


def test_scopes_within_scopes() -> None:
    """A name is that of the nearest braces around it; one that is taken gets a number."""
    found = function(
        """.reg .b32 r<4>; op r1;
        { .reg .b64 r1; op r1, r2; { .reg .f32 r1; op r1; } op r1; }
        { .reg .pred r<2>; op r1, r3; }
        op r1, r2;"""
    )
    names = [tuple(operand.name for operand in one.operands) for one in found.instructions]
    assert names == [("r1",), ("r1@1", "r2"), ("r1@2",), ("r1@1",), ("r1@3", "r3"), ("r1", "r2")]
    assert found.registers == {"r1": "b32", "r1@1": "b64", "r2": "b32", "r1@2": "f32", "r1@3": "pred", "r3": "b32"}


def test_labels_of_scopes_within_scopes() -> None:
    found = function(
        """bra A; { bra A; { A: bra A; } A: bra A; { bra B; } } A: bra A; bra B; B: ret;
        T: .branchtargets A, B;
        P: .callprototype _ (.param .b32 _);"""
    )
    names = [one.operands[0].name for one in found.instructions[:-1]]
    assert names == ["A", "A@1", "A@2", "A@1", "B", "A", "B"]
    assert found.labels == {"A@2": 2, "A@1": 3, "A": 5, "B": 7}
    assert found.tables == {"T": ("A", "B")}


def test_a_label_that_is_a_parameters_name() -> None:
    found = module("x: bra x;").functions["k"]
    assert found.labels == {"x@1": 0}
    assert found.instructions[0].operands == (Symbol("x@1"),)


def test_variables_of_a_body() -> None:
    found = function(
        """.shared .align 16 .b8 s[32]; .local .v2 .f32 l[3]; { .shared .b16 s; st.shared.b16 [s], 1; }
        st.shared.b8 [s], 1; .shared::cta .b8 c; mov.u32 f, %reserved_smem_offset_1; mov.u32 f,
        %reserved_smem_offset_1;"""
    )
    declared = [(one.name, one.space, one.type, one.align, one.size) for one in found.variables[:4]]
    assert declared == [
        ("s", "shared", "b8", 16, 32), ("l", "local", "f32", 8, 24), ("s@2", "shared", "b16", 2, 2),
        ("c", "shared", "b8", 1, 1),
    ]  # fmt: skip
    assert found.variables[4:] == (RESERVED_SHARED,)
    assert [one.operands[0] for one in found.instructions[:2]] == [Address(Symbol("s@2")), Address(Symbol("s"))]


@pytest.mark.parametrize(
    ("pragma", "mask"),
    [
        ('"used_bytes_mask 0xff"', 255), ('"used_bytes_mask 12"', 12), ('"used_bytes_mask 0x"', None),
        ('"used_bytes_mask x1"', None), ('"nounroll"', None),
    ],
)  # fmt: skip
def test_the_bytes_that_a_load_needs(pragma: str, mask: int | None) -> None:
    load = "ld.global.b32 %r1, [%rd1];"
    before, first, second = instructions(f"{load} .pragma {pragma}; {load} {load}")
    assert (before.used_bytes, first.used_bytes, second.used_bytes) == (None, mask, None)
    _, other, after = instructions(f"{load} .pragma {pragma}; mov.b32 %r1, 5; {load}")
    assert (other.used_bytes, after.used_bytes) == (None, None), "it is for the next instruction alone"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (".reg .b99 %r1;", "registers of type .b99 are not taken"),
        ("@5 ret;", "a guard must be a predicate register"),
        ("@t ret;", "a guard must be a predicate register"),
        (".nothing;", "an instruction is expected, not '.nothing'"),
        ("%r1;", "an instruction is expected, not '%r1'"),
        ("5;", "an instruction is expected, not '5'"),
        ("mov t|%r1, 3;", "a pair a|b must be of registers"),
        ("mov %r1|t, 3;", "a pair a|b must be of registers"),
        ("mov !t, 3;", "only a predicate register can be negated"),
        ("mov {%r1 %r2}, 3;", "expected ',' or '}'"),
        ("call (%r1 %r2), 3;", "expected ',' or ')'"),
        ("call (%r1 x), 3;", "expected ',' or ')'"),
        ("mov [%tid.x], 3;", "an address is a register or a symbol, with or without an offset"),
        ("mov [%rd1 %r1], 3;", "expected ',', found '%r1'"),
        ("mov %r1 3;", "expected ',', found '3'"),
        ("mov t+1.5, 3;", "an integer is needed here"),
    ],
)
def test_what_a_body_may_not_have(body: str, said: str) -> None:
    with pytest.raises(Error, match=f"^PTX line 7: {re.escape(said)}\n  "):
        function(DECLARED + body)


def test_a_file() -> None:
    found = module(
        "ret;", '.weak .func other(.param .b32 a);\n.alias a, b;\n.pragma "x";', ".visible .entry k(.param .u64 p)"
    )
    assert (found.version, found.target, found.file) == ("8.8", "sm_90", None)
    assert list(found.functions) == ["other", "k"]
    assert (found.functions["other"].entry, found.functions["k"].entry) == (False, True)
    assert found.functions["other"].instructions is None
    assert [one.name for one in found.functions["k"].params] == ["p"]
    with pytest.raises(Error, match="'nothing' is not expected at module level"):
        module("ret;", "nothing")
    with pytest.raises(Error, match="functions with register parameters are not taken"):
        module("ret;", "", ".func k(.reg .b32 a)")


def test_a_declaration_does_not_replace_a_function() -> None:
    other = ".func (.param .b32 r) other(.param .b32 a)"
    for text in (f"{other} {{ ret; }}\n{other};", f"{other};\n{other} {{ ret; }}"):
        found = module("ret;", text).functions["other"]
        assert [one.opcode for one in found.instructions or ()] == ["ret"]
        assert [one.name for one in (*found.results, *found.params)] == ["r", "a"]


@pytest.mark.parametrize(
    ("given", "cluster"), [("", None), ("4", (4, 1, 1)), ("4, 2", (4, 2, 1)), ("4, 2, 3", (4, 2, 3))]
)
def test_the_cluster_that_a_kernel_requires(given: str, cluster: tuple[int, int, int] | None) -> None:
    head = f".entry k() .maxntid 32, 1, 1 {'.reqnctapercluster ' + given if given else ''} .minnctapersm 2"
    assert module("ret;", "", head).functions["k"].cluster == cluster


@pytest.mark.parametrize(
    ("text", "size", "align", "data"),
    [
        (".b8 v[4] = {1, 2}", 4, 1, b"\1\2"),
        (".b8 v[] = {1, 2, 3}", 3, 1, b"\1\2\3"),
        (".align 8 .b16 v[2][3] = {{1, 2, 3}, {4, 5, -1}}", 12, 8, b"\1\0\2\0\3\0\4\0\5\0\xff\xff"),
        (".s32 v = -2", 4, 4, b"\xfe\xff\xff\xff"),
        (".f32 v = -0f3F800000", 4, 4, b"\0\0\x80\xbf"),
        (".attribute(.managed) .u64 v", 8, 8, b""),
        (".v4 .f32 v[2]", 32, 16, b""),
        (".b32 v[][2]", None, 4, b""),
    ],
)
def test_variables_of_a_file(text: str, size: int | None, align: int, data: bytes) -> None:
    (found,) = module("ret;", f".visible .global {text};").variables.values()
    assert (found.name, found.space, found.size, found.align, found.data) == ("v", "global", size, align, data)


def test_pointers_in_initialisers() -> None:
    found = module("ret;", ".global .b8 a[4], b; .global .u64 v[4] = {a, 7, generic(b)+12, a-4}; .const .b32 c = a;")
    assert list(found.variables) == ["a", "b", "v", "c"]
    assert found.variables["v"].relocations == (
        Relocation(0, "a", 0, False, 8), Relocation(16, "b", 12, True, 8), Relocation(24, "a", -4, False, 8)
    )  # fmt: skip
    assert found.variables["v"].data == bytes(8) + b"\7" + bytes(23)
    assert found.variables["c"].relocations == (Relocation(0, "a", 0, False, 4),)
    with pytest.raises(Error, match=r"'.nothing' is not expected in a declaration"):
        module("ret;", ".global .nothing v;")
