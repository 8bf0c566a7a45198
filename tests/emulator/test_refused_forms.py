"""Forms of instructions that are known, and the same with one word that is not: refused, and not guessed at."""

from __future__ import annotations

from itertools import product

import pytest

from softlab.emulator.machine.lowering import lowered
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse
from softlab.errors import UnsupportedInstruction

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
DECLARED = ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<9>; .reg .f32 %f<20>; .reg .b16 %rs<9>;"
A, B, C, D = (f"{{{', '.join(f'%r{number}' for number in range(first, first + 2))}}}" for first in (0, 2, 4, 6))
TILE = f"{A}, {B}, %r4, {D}"

#: A form that is known: its words and its operands; then words that take the place of one of it, and make it unknown.
FORMS = [
    ("tex.1d.v4.f32.f32", "{%f0, %f1, %f2, %f3}, [%rd1, {%f4}]",
     ["tex.4d.v4.f32.f32", "tex.1d.v4.f16.f32", "tex.1d.v4.f32.u32", "tex.1d.v2.f32.f32", "tex.1d.bias.v4.f32.f32"]),
    ("tex.1d.v4.s32.s32", "{%r0, %r1, %r2, %r3}, [%rd1, {%r4}]", ["tex.2d.v4.s32.s32", "tex.a1d.v4.s32.s32"]),
    ("tex.base.2d.v4.u32.f32", "{%r0, %r1, %r2, %r3}, [%rd1, {%f4, %f5}]", ["tex.1d.base.2d.v4.u32.f32"]),
    ("tld4.r.2d.v4.f32.f32", "{%f0, %f1, %f2, %f3}, [%rd1, {%f4, %f5}]",
     ["tld4.x.2d.v4.f32.f32", "tld4.r.3d.v4.f32.f32", "tld4.r.2d.v2.f32.f32", "tld4.r.2d.v4.f16.f32",
      "tld4.r.2d.v4.f32.s32", "tld4.2d.v4.f32.f32", "tld4.r.f32.f32"]),
    ("suld.b.2d.b32.clamp", "%r1, [%rd1, {%r2, %r3}]",
     ["suld.p.2d.b32.clamp", "suld.b.4d.b32.clamp", "suld.b.2d.b128.clamp", "suld.b.2d.b32.wrap"]),
    ("sust.b.1d.v2.b32.trap", "[%rd1, {%r2}], {%r3, %r4}",
     ["sust.p.1d.v2.b32.trap", "sust.b.9d.v2.b32.trap", "sust.b.1d.v2.trap", "sust.b.1d.v2.b32"]),
    ("ldmatrix.sync.aligned.m8n8.x2.shared.b16", "{%r1, %r2}, [%r3]",
     ["ldmatrix.sync.aligned.m16n16.x2.shared.b8", "ldmatrix.sync.aligned.m8n8.x2.shared.b8",
      "ldmatrix.sync.aligned.x2.shared.b16", "ldmatrix.sync.aligned.m8n8.x2.shared.b16.b4"]),
    ("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", TILE,
     ["mma.sync.aligned.m16n8k8.col.col.f16.f16.f16.f16", "mma.sync.aligned.m16n8k8.row.row.f16.f16.f16.f16",
      "mma.sync.aligned.m16n8k8.dense.col.f16.f16.f16.f16", "mma.sync.aligned.m16n8k8.row.dense.f16.f16.f16.f16",
      "mma.sync.aligned.m16n8k9.row.col.f16.f16.f16.f16", "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16",
      "mma.sync.aligned.m16n8k8.row.col.f16.bf16.f16.f16", "mma.sync.aligned.m16n8k8.row.col.f16.s8.s8.f16"]),
    ("cp.async.ca.shared.global", "[%r1], [%rd1], 4", ["cp.async.ca.shared.shared"]),
    ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", "[%r1], [%rd1], 16, [%r2]",
     ["cp.async.bulk.shared::cluster.global", "cp.async.bulk.shared::cluster.mbarrier::complete_tx::bytes",
      "cp.async.bulk.shared::cluster.global.cp_mask.mbarrier::complete_tx::bytes"]),
    ("wmma.load.a.sync.aligned.row.m16n16k8.tf32", "{%r0, %r1, %r2, %r3}, [%rd1], 8",
     ["wmma.load.e.sync.aligned.row.m16n16k8.tf32", "wmma.load.a.sync.aligned.row.m16n16k8.f8",
      "wmma.load.a.sync.aligned.row.m16n16k8.f16", "wmma.load.a.sync.aligned.row.m16n16k9.tf32",
      "wmma.load.a.sync.aligned.row.m16n16k8.local.tf32"]),
    ("wmma.load.a.sync.aligned.row.m8n8k32.s4", "{%r0}, [%rd1], 32", ["wmma.load.a.sync.aligned.col.m8n8k32.s4"]),
    ("wmma.load.b.sync.aligned.col.m8n8k32.s4", "{%r0}, [%rd1], 32", ["wmma.load.b.sync.aligned.row.m8n8k32.s4"]),
    ("set.lt.u32.f16x2", "%r1, %r2, %r3", ["set.lt.f32.f16x2", "set.lt.s64.f16x2", "set.lt.f16x2"]),
    ("wgmma.fence.sync.aligned", "", ["wgmma.fence.sync", "wgmma.fence.aligned"]),
    ("wgmma.commit_group.sync.aligned", "", ["wgmma.commit_group.sync", "wgmma.commit_group.aligned"]),
]  # fmt: skip


def lower(words: str, operands: str) -> None:
    given = link(parse(f"{HEAD}.visible .entry k()\n{{\n{DECLARED}\n{words} {operands};\n}}\n"), "k")
    lowered(given.instructions[0], 0, given)


def is_refused(words: str, operands: str) -> bool:
    try:
        lower(words, operands)
    except (NotImplementedError, UnsupportedInstruction, ValueError):
        return True
    return False


@pytest.mark.parametrize(("words", "operands", "unknown"), FORMS, ids=[words for words, _, _ in FORMS])
def test_one_word_that_is_not_known(words: str, operands: str, unknown: list[str]) -> None:
    lower(words, operands)
    for other in unknown:
        assert is_refused(other, operands), other


@pytest.mark.parametrize("width", [4, 8, 16])
def test_bytes_of_a_copy_by_a_thread(width: int) -> None:
    for other in (0, width - 1, width + 1, 32):
        with pytest.raises(NotImplementedError, match=r"cp\.async"):
            lower("cp.async.ca.shared.global", f"[%r1], [%rd1], {other}")
    lower("cp.async.ca.shared.global", f"[%r1], [%rd1], {width}")


def test_textures_with_an_address_of_their_own() -> None:
    result = "{%f0, %f1, %f2, %f3}"
    for operand in ("[%rd1 + 8, {%f4}]", "[%rd1, %rd2, {%f4}]"):
        with pytest.raises(NotImplementedError, match="a texture with a sampler of its own"):
            lower("tex.1d.v4.f32.f32", f"{result}, {operand}")


@pytest.mark.parametrize("operands", ["%r1.b0, %r2, %r3, %r4", "%r1.h1, %r2, %r3, %r4"])
def test_a_product_into_a_part_of_a_register(operands: str) -> None:
    """PTX ISA, "vmad": the parts are of the factors alone, and unsigned numbers are not scaled."""
    lower("vmad.s32.s32.s32", "%r1, %r2.b1, %r3.h1, %r4")
    assert is_refused("vmad.s32.s32.s32", operands)
    for types, minus, scale in product(
        ("u32.u32", "u32.s32", "s32.u32", "s32.s32"), ("", "-"), ("", ".shr7", ".shr15")
    ):
        unsigned = types == "u32.u32" and not minus and bool(scale)
        assert is_refused(f"vmad.s32.{types}{scale}", f"%r1, %r2, %r3, {minus}%r4") == unsigned
