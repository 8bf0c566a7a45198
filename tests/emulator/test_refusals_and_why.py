"""Why a form of an instruction is refused, word by word, and the forms beside it that are known."""

from __future__ import annotations

import pytest

from softlab.emulator.machine.lowering import lowered
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse
from softlab.errors import UnsupportedInstruction

HEAD = """.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 a)
{
.reg .pred %p<9>; .reg .b8 %b<4>; .reg .b16 %rs<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<20>;
.reg .f64 %fd<9>;
"""
#: An instruction, and the reason why the emulator does not run it.
REFUSED = [
    ("set.lt.f32 %f1, %f2, %f3", "set needs a result and a source type"),
    ("set.lt.f16.f16x2 %rs1, %r2, %r3", "set of pairs gives a pair or 32 bits"),
    ("set.lt.u16.f16x2 %rs1, %r2, %r3", "set of pairs gives a pair or 32 bits"),
    ("slct.f32 %f1, %f2, %f3, %r4", "slct needs two types"),
    ("slct.f32.u32 %f1, %f2, %f3, %r4", "slct of the type 'u32'"),
    ("cvta.global.u32 %r1, %r2", "cvta.u32"),
    ("add.ftz.bf16 %rs1, %rs2, %rs3", ".ftz is for f16"),
    ("fma.rn.sat.bf16 %rs1, %rs2, %rs3, %rs4", ".sat is for f16"),
    ("add.sat.u32 %r1, %r2, %r3", ".sat is for s32"),
    ("mul.wide.s64 %rd1, %rd2, %rd3", ".wide has no s64"),
    ("mad.hi.sat.u32 %r1, %r2, %r3, %r4", ".sat is for s32"),
    ("mad.lo.sat.s32 %r1, %r2, %r3, %r4", "mad with .sat"),
    ("mad24.hi.sat.u32 %r1, %r2, %r3, %r4", ".sat is for s32"),
    ("min.relu.u32 %r1, %r2, %r3", ".relu is for s32"),
    ("max.relu.u16x2 %r1, %r2, %r3", ".relu is for s16x2"),
    ("dp4a.u32 %r1, %r2, %r3, %r4", "dp4a needs two types"),
    ("dp2a.lo.u32 %r1, %r2, %r3, %r4", "dp2a needs two types"),
    ("lop3.b32 %r1, %r2, %r3, %r4, %r5", "lop3 needs an immediate table"),
    ("st.param.u32 [a], %r1", "a store to a kernel's parameter"),
    ("atom.const.add.u32 %r1, [%rd1], %r2", "an atomic with .const"),
    ("atom.param.add.u32 %r1, [%rd1], %r2", "an atomic with .param"),
    ("atom.global.add.sub.u32 %r1, [%rd1], %r2", "an atomic with .sub"),
    ("atom.global.add.wide.u32 %r1, [%rd1], %r2", "an atomic with .wide"),
    ("vote.ballot.b32 %r1, %p1", "vote without .sync"),
    ("shfl.bfly.b32 %r1, %r2, 1, 31", "shfl without .sync"),
    ("redux.sync.add.f32 %f1, %f2, -1", "the type 'f32'"),
    ("redux.sync.min.f32 %f1, %f2, -1", "the type 'f32'"),
    ("sqrt.approx.f64 %fd1, %fd2", "sqrt.approx is for f32"),
    ("vadd.s32.s32 %r1, %r2, %r3", "vadd needs three types"),
    ("vadd4.u32.u32 %r1, %r2, %r3, %r4", "vadd4 needs three types"),
    ("vadd.s32.s32.s32 %r1, %r2", "vadd with 1 sources"),
    ("vmad.s32.s32 %r1, %r2, %r3, %r4", "vmad needs three types and three sources"),
    ("vmad.s32.s32.s32 %r1, %r2, %r3", "vmad needs three types and three sources"),
    ("vmad.s32.s32.s32.s32 %r1, %r2, %r3, %r4", "vmad needs three types and three sources"),
    ("vmad.s32.s32.s32 %r1, %r2, %r3, %r4, %r5", "vmad needs three types and three sources"),
    ("st.param.u32 [nowhere], %r1", "a store to a kernel's parameter"),
    ("add.ftz.f64 %fd1, %fd2, %fd3", ".ftz and .sat are for f32, not f64"),
    ("add.sat.f64 %fd1, %fd2, %fd3", ".ftz and .sat are for f32, not f64"),
    ("min.xorsign.f32 %f1, %f2, %f3", ".xorsign needs .abs"),
    ("cvt.f32 %f1, %f2", "cvt needs two types, not ('f32',)"),
    ("cvt.rn.e4m3x2.f32 %rs1, %f2, %f3", "cvt: one of satfinite is needed"),
    ("cvt.rn.satfinite.e4m3x2.s32 %rs1, %r2, %r3", "the type e4m3x2"),
    ("cvt.rn.f32.e4m3x2 %f1, %rs2", "cvt from e4m3x2 to f32"),
    ("cvt.rn.bf16x2.e4m3x2 %r1, %rs2", "cvt from e4m3x2 to bf16x2"),
    ("cvt.rn.sat.bf16.f32 %rs1, %f2", ".sat to bf16"),
    ("cvt.rni.f32.f64 %f1, %fd2", "rounding to an integer keeps the format"),
    ("cvt.rn.tf32.s32 %r1, %r2", "the type tf32"),
    ("cvt.u32.b32 %r1, %r2", "cvt from untyped bits"),
    ("cvt.b32.u32 %r1, %r2", "cvt to b32 from an integer"),
    ("cvt.pack.sat.s16.u32 %r1, %r2, %r3", "cvt.pack is from s32"),
    ("cvt.rn.e4m3x2.u32 %rs1, %r2", "the type e4m3x2"),
    ("add.u128 %r1, %r2, %r3", "add of the type ''"),
    ("add.u8 %r1, %r2, %r3", "add of the type 'u8'"),
    ("abs.u32 %r1, %r2", "abs of the type 'u32'"),
    ("add.u32.s32 %r1, %r2, %r3", "add: one type is needed, not ('u32', 's32')"),
    ("add.rn.wild.f32 %f1, %f2, %f3", "add with .wild"),
    ("add.rn.wild.odd.f32 %f1, %f2, %f3", "add with .wild, .odd"),
    ("setp.u32 %p1, %r1, %r2", "setp: one of eq, ne, lt, le, gt, ge, lo, ls, hi, hs is needed"),
    ("ex2.f32 %f1, %f2", "ex2: one of approx is needed"),
    ("prmt.b32.f5e %r1, %r2, %r3, %r4", "prmt with .f5e"),
    ("shf.l.b32 %r1, %r2, %r3, %r4", "shf: one of wrap, clamp is needed"),
    ("bfe.f32 %f1, %f2, %r3, %r4", "bfe of the type 'f32'"),
    ("popc.u32 %r1, %r2", "popc of the type 'u32'"),
    ("testp.wrong.f32 %p1, %f1", "testp: one of finite, infinite, notanumber, number, normal, subnormal is needed"),
    ("match.some.sync.b32 %r1, %r2, -1", "one of any, all is needed"),
    ("mov.b64 {%r1, %r2}, {%r3, %r4}", "mov of a vector to a vector"),
    ("mov.b64 {%r1, %r2, %r3}, %rd1", "the type b21"),
    ("ld.global.v3.u32 {%r1, %r2, %r3}, [%rd1]", "v3"),
    ("ld.global.v16.u32 %r1, [%rd1]", "v16"),
    ("ld.global.v8.u64 {%rd1, %rd2, %rd3, %rd4, %rd5, %rd6, %rd7, %rd8}, [%rd5]", "an access of 64 bytes per lane"),
    ("szext.u32 %r1, %r2, %r3", "szext: one of wrap, clamp is needed"),
    ("bmsk.b32 %r1, %r2, %r3", "bmsk: one of wrap, clamp is needed"),
    ("copysign.f16 %rs1, %rs2, %rs3", "copysign of the type 'f16'"),
    ("rcp.approx.f64 %fd1, %fd2", "rcp: one of ftz is needed"),
    ("tanh.approx.f64 %fd1, %fd2", "tanh of the type 'f64'"),
    ("lg2.approx.f64 %fd1, %fd2", "lg2 of the type 'f64'"),
    ("sin.approx.f64 %fd1, %fd2", "sin of the type 'f64'"),
    ("addc.u16 %rs1, %rs2, %rs3", "addc of the type 'u16'"),
    ("div.f64 %fd1, %fd2, %fd3", "div: one of rn, rz, rm, rp is needed"),
    ("rem.f32 %f1, %f2, %f3", "rem of the type 'f32'"),
    ("div.full.f64 %fd1, %fd2, %fd3", "div: one of rn, rz, rm, rp is needed"),
]
KNOWN = [
    "set.lt.u32.s32 %r1, %r2, %r3",
    "set.lt.u32.f16x2 %r1, %r2, %r3",
    "set.lt.f16x2.f16x2 %r1, %r2, %r3",
    "slct.f32.s32 %f1, %f2, %f3, %r4",
    "cvta.global.u64 %rd1, %rd2",
    "add.ftz.f16 %rs1, %rs2, %rs3",
    "fma.rn.sat.f16 %rs1, %rs2, %rs3, %rs4",
    "add.sat.s32 %r1, %r2, %r3",
    "mul.wide.u32 %rd1, %r2, %r3",
    "mad.hi.sat.s32 %r1, %r2, %r3, %r4",
    "mad24.hi.sat.s32 %r1, %r2, %r3, %r4",
    "min.relu.s32 %r1, %r2, %r3",
    "max.relu.s16x2 %r1, %r2, %r3",
    "dp4a.u32.s32 %r1, %r2, %r3, %r4",
    "lop3.b32 %r1, %r2, %r3, %r4, 0x96",
    "atom.global.add.u32 %r1, [%rd1], %r2",
    "redux.sync.add.s32 %r1, %r2, -1",
    "sqrt.approx.f32 %f1, %f2",
    "vadd.s32.s32.s32 %r1, %r2, %r3",
    "vadd4.u32.u32.u32 %r1, %r2, %r3, %r4",
    "vmad.s32.s32.s32 %r1, %r2, %r3, %r4",
    "add.ftz.sat.f32 %f1, %f2, %f3",
    "min.xorsign.abs.f32 %f1, %f2, %f3",
    "cvt.rn.f32.f64 %f1, %fd2",
    "cvt.rn.satfinite.e4m3x2.f32 %rs1, %f2, %f3",
    "cvt.rn.satfinite.e4m3x2.f64 %rs1, %fd2, %fd3",
    "cvt.rn.f16x2.e4m3x2 %r1, %rs2",
    "cvt.rn.bf16.f32 %rs1, %f2",
    "cvt.rn.bf16.f64 %rs1, %fd2",
    "cvt.rni.f32.f32 %f1, %f2",
    "cvt.rn.tf32.f64 %r1, %fd2",
    "cvt.rna.tf32.f32 %r1, %f2",
    "cvt.pack.sat.s16.s32 %r1, %r2, %r3",
    "neg.s32 %r1, %r2",
    "setp.lt.u32 %p1, %r1, %r2",
    "ex2.approx.f32 %f1, %f2",
    "prmt.b32.f4e %r1, %r2, %r3, %r4",
    "shf.l.wrap.b32 %r1, %r2, %r3, %r4",
    "bfe.u32 %r1, %r2, %r3, %r4",
    "popc.b32 %r1, %r2",
    "testp.finite.f32 %p1, %f1",
    "match.any.sync.b32 %r1, %r2, -1",
    "mov.b64 {%r1, %r2}, %rd1",
    "ld.global.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [%rd5]",
    "szext.clamp.u32 %r1, %r2, %r3",
    "bmsk.clamp.b32 %r1, %r2, %r3",
    "copysign.f32 %f1, %f2, %f3",
    "rcp.rn.f64 %fd1, %fd2",
    "tanh.approx.f32 %f1, %f2",
    "addc.u32 %r1, %r2, %r3",
    "isspacep.global %p1, %rd1",
    "nanosleep.u32 %r1",
    "fma.rn.f32 %f1, %f2, %f3, %f4",
    "div.rn.f64 %fd1, %fd2, %fd3",
]


def lower(text: str) -> None:
    image = link(parse(f"{HEAD}{text};\n}}\n"), "k")
    lowered(image.instructions[0], 0, image)


@pytest.mark.parametrize(("text", "why"), REFUSED, ids=[text for text, _ in REFUSED])
def test_a_refused_form_says_why(text: str, why: str) -> None:
    with pytest.raises((NotImplementedError, UnsupportedInstruction)) as found:
        lower(text)
    if isinstance(found.value, UnsupportedInstruction):
        assert f"`{text};`: {why}. " in str(found.value)
        assert found.value.instruction == f"{text};"
    assert str(found.value.__cause__ or found.value) == why


@pytest.mark.parametrize("text", KNOWN)
def test_a_form_beside_it_is_known(text: str) -> None:
    lower(text)
