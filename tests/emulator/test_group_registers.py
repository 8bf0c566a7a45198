"""Which instructions access registers of a product of a warpgroup that may be in flight: what is known from PTX."""

from __future__ import annotations

import pytest

from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.opcodes.group_unit import RegisterFacts
from softlab.emulator.ptx.parser import parse

HEADER = ".version 8.8\n.target sm_90a\n.address_size 64\n"
REGISTERS = ".reg .f32 %d<4>, %e<4>, %g<2>; .reg .b64 %a, %b; .reg .b32 %h<4>; .reg .pred %p, %q;"
FENCE = "wgmma.fence.sync.aligned;"
COMMIT = "wgmma.commit_group.sync.aligned;"
USE = "add.f32 %g0, %d0, %d1;"


def product(d: str = "d", a: str = "%a") -> str:
    names = ", ".join(f"%{d}{number}" for number in range(4))
    transposed = ", 0, 0" if a == "%a" else ", 0"
    return f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{names}}}, {a}, %b, %p, 1, 1{transposed};"


def wait(newest: int) -> str:
    return f"wgmma.wait_group.sync.aligned {newest};"


def analysed(*lines: str, end: str = "ret;") -> tuple[list[str], RegisterFacts]:
    """The text of each instruction, and what is known of them."""
    body = "\n".join((REGISTERS, *lines, end))
    program = EmulatedProgram(parse(f"{HEADER}.visible .entry k()\n{{\n{body}\n}}\n"), "k")
    return [instruction.text for instruction in program.image.instructions], program.of_groups


def touched(*lines: str) -> dict[str, set[str]]:
    """The text of an instruction -> the registers of products in flight that it accesses."""
    texts, facts = analysed(*lines)
    return {texts[number].rstrip(";"): set(names) for number, names in facts.touches.items()}


ADDED = USE.rstrip(";")


@pytest.mark.parametrize("newest", range(11))
@pytest.mark.parametrize("later", [0, 1, 2, 6, 7, 8, 9, 12])
def test_a_wait_ends_the_groups_but_the_newest(later: int, newest: int) -> None:
    """``later`` groups come after the product's own. Six and more are no longer told apart."""
    found = touched(product(), COMMIT, *(product("e"), COMMIT) * later, wait(newest), USE)
    assert found == ({ADDED: {"%d0", "%d1"}} if min(later, 6) < newest else {})


def test_a_product_without_a_group_is_not_waited_for() -> None:
    assert touched(product(), wait(0), USE) == {ADDED: {"%d0", "%d1"}}
    assert touched(product(), COMMIT, product(), wait(0), USE) == {ADDED: {"%d0", "%d1"}}
    assert touched(product(), COMMIT, wait(0), product("e"), COMMIT, USE) == {}


def test_registers_of_the_first_matrix_are_those_of_a_product_too() -> None:
    a = "{%h0, %h1, %h2, %h3}"
    written = "mov.b32 %h2, 0;\nadd.s32 %h3, %h3, 1;"
    assert touched(product(a=a), COMMIT, written) == {"add.s32 %h3, %h3, 1": {"%h3"}}
    assert touched(product(a=a), COMMIT, wait(0), written) == {}


def test_what_is_written_is_no_longer_the_products() -> None:
    assert touched(product(), COMMIT, "mul.f32 %d0, %g0, %g0;", USE) == {
        "mul.f32 %d0, %g0, %g0": {"%d0"}, ADDED: {"%d1"}
    }  # fmt: skip


def test_a_copied_register_stands_for_those_that_it_was_copied_from() -> None:
    copies = "mov.f32 %g0, %d0;", "mov.f32 %g1, %g0;", "add.f32 %e0, %g1, %g1;"
    assert touched(product(), COMMIT, *copies) == {"add.f32 %e0, %g1, %g1": {"%g1", "%g0", "%d0"}}
    assert touched(product(), COMMIT, "mov.f32 %d0, 0f00000000;", USE) == {ADDED: {"%d1"}}
    # The register that was copied goes on with a product of its own; the copy belongs to the one that has ended.
    renamed = product(), COMMIT, "mov.f32 %g0, %d0;", product(), COMMIT, wait(1), "add.f32 %e0, %g0, %g0;"
    assert touched(*renamed) == {}
    assert set(touched(*renamed[:5], *renamed[6:])) == {"add.f32 %e0, %g0, %g0"}


@pytest.mark.parametrize(
    ("access", "names"),
    [
        ("neg.f32 %d1, %d0", {"%d0", "%d1"}),
        ("abs.f32 %g0, %d0", {"%d0"}),
        ("ld.shared.f32 %d1, [%h0]", {"%d1"}),
        ("st.shared.f32 [%h0], %d0", {"%d0"}),
    ],
)
def test_what_reads_or_writes_a_register_touches_it(access: str, names: set[str]) -> None:
    assert touched(product(), COMMIT, f"{access};") == {access: names}


def test_only_a_copy_of_one_register_without_a_condition_is_no_access() -> None:
    """The compiler's own copies are always whole and run in each lane."""
    assert touched(product(), COMMIT, "mov.f32 %g0, %d0;") == {}
    (named,) = touched(product(), COMMIT, "@%q mov.f32 %g0, %d0;").values()
    assert named == {"%d0"}
    halves = "mov.b64 {%h0, %h1}, %a"
    assert touched(product(a="{%h0, %h1, %h2, %h3}"), COMMIT, f"{halves};") == {halves: {"%h0", "%h1"}}
    assert touched(product(), COMMIT, "mov.b64 {_, _}, %a;") == {}, "both halves are dropped"
    texts, facts = analysed("@%q mov.f32 %d1, 0f00000000;", product())
    assert {texts[one] for one in facts.unfenced} == {product()}, "a write of some lanes needs a fence"


@pytest.mark.parametrize("waits", ["neither", "one", "both"])
def test_a_path_without_a_wait_is_enough(waits: str) -> None:
    first, second = (wait(0) if waits == "both" else "", wait(0) if waits != "neither" else "")
    found = touched(product(), COMMIT, "@%q bra ELSE;", first, "bra JOIN;", "ELSE:", second, "JOIN:", USE)
    assert (ADDED in found) == (waits != "both")


def test_a_loop_brings_its_last_product_to_its_first_instruction() -> None:
    turn = "LOOP:", USE, product(), COMMIT
    assert touched(*turn, wait(0), "@%q bra LOOP;") == {}
    assert touched(*turn, "@%q bra LOOP;") == {ADDED: {"%d0", "%d1"}}
    assert touched(product(), COMMIT, *turn, wait(1), "@%q bra LOOP;") == {ADDED: {"%d0", "%d1"}}


def test_a_kernel_may_end_behind_a_branch() -> None:
    assert analysed("LOOP:", USE, product(), COMMIT, end="@%q bra LOOP;")[1].touches == {0: {"%d0", "%d1"}}


def test_a_register_that_is_given_needs_a_fence() -> None:
    written = "mul.f32 %d1, %g0, %g0;"
    assert analysed(written, FENCE, product())[1].unfenced == {}
    texts, facts = analysed(written, product(), FENCE, product())
    assert {texts[one]: texts[other] for one, other in facts.unfenced.items()} == {product(): written}
    assert len(facts.unfenced) == 1, "the second one comes after the fence"
    assert analysed("mul.f32 %g1, %g0, %g0;", product())[1].unfenced == {}, "no register of a product"
    assert analysed("mov.f32 %d1, 0f00000000;", product())[1].unfenced == {}, "a constant that the compiler puts there"
    assert len(analysed("@%q bra L;", FENCE, "bra M;", "L:", written, "M:", product())[1].unfenced) == 1
    assert analysed(USE)[1] == RegisterFacts({}, {})
