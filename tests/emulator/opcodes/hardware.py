"""The same instructions on a GPU: what hardware gives is recorded, and the emulator held to it.

    python -m tests.emulator.opcodes.hardware tests/data/opcodes_h200.npz    # where the GPU and CuPy are

prints where the two differ on many lanes, and writes a few lanes of each instruction's sources and results.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softlab.emulator.opcodes.registry import Semantics
from softlab.emulator.ptx.syntax import DTYPES, Immediate, Operand, Pair, Register, Vector
from tests.emulator.opcodes.cases import bits, instruction, lower, same, samples

#: Of the samples that are recorded.
SEED = 1
_HEADER = ".version 8.3\n.target sm_90\n.address_size 64\n"


def _each(pattern: str, **choices: str) -> list[str]:
    """The pattern with every combination of the choices: ``{op}`` takes each word of ``op="add sub"``."""
    texts = [pattern]
    for name, words in choices.items():
        texts = [text.replace("{" + name + "}", word) for text in texts for word in words.split()]
    return texts


_INTEGER = [
    *_each("{op}.{t} d, a, b", op="add sub mul.lo mul.hi min max", t="s16 u16 s32 u32 s64 u64"),
    *_each("{op}.{t} d, a, b", op="div rem", t="s16 u16 s32 u32 s64 u64"),
    *_each("mul.wide.{t} d, a, b", t="s16 u16 s32 u32"),
    *_each("mad.{p}.{t} d, a, b, c", p="lo hi", t="s16 u16 s32 u32 s64 u64"),
    *_each("mad.wide.{t} d, a, b, c", t="s16 u16 s32 u32"),
    *_each("sad.{t} d, a, b, c", t="s16 u16 s32 u32 s64 u64"),
    *_each("mul24.{p}.{t} d, a, b", p="lo hi", t="s32 u32"),
    *_each("mad24.{p}.{t} d, a, b, c", p="lo hi", t="s32 u32"),
    *_each("{op}.{t} d, a", op="abs neg", t="s16 s32 s64"),
    *_each("{op}.sat.s32 d, a, b", op="add sub"),
    *("mad.hi.sat.s32 d, a, b, c", "mad24.hi.sat.s32 d, a, b, c"),
    *_each("{op}.relu.s32 d, a, b", op="min max"),
    *_each("{op}.{t} d, a, b", op="add min max", t="s16x2 u16x2"),
    *_each("{op}.relu.s16x2 d, a, b", op="min max"),
    *_each("{op}.cc.{t} d, a, b", op="add addc sub subc", t="u32 u64"),
    *_each("{op}.{t} d, a, b", op="addc subc", t="u32 u64"),
    *_each("{op}.{p}.cc.{t} d, a, b, c", op="mad madc", p="lo hi", t="u32 s32 u64"),
    *_each("dp4a.{t}.{u} d, a, b, c", t="s32 u32", u="s32 u32"),
    *_each("dp2a.{p}.{t}.{u} d, a, b, c", p="lo hi", t="s32 u32", u="s32 u32"),
    *_each("vabsdiff4.{t}.{u}.{u} d, a, b, c", t="u32 s32", u="s32 u32"),
    *_each("{op}.u32.u32.u32{m} d, a, b, c", op="vadd4 vsub4 vavrg4 vmin4 vmax2 vabsdiff2 vadd2", m=".sat .add"),
    *_each("{op}.s32.s32.s32{m} d, a, b, c", op="vadd4 vsub4 vavrg4 vavrg2 vmin4 vmax2 vabsdiff2", m=".sat .add"),
]
_BITS = [
    *_each("{op}.b{w} d, a, b", op="and or xor", w="16 32 64"),
    *_each("{op}.b{w} d, a", op="not cnot", w="16 32 64"),
    *_each("{op} d, a, b", op="shl.b16 shl.b32 shl.b64 shr.u16 shr.u32 shr.u64 shr.s16 shr.s32 shr.s64"),
    *_each("shf.{p}.{m}.b32 d, a, b, c", p="l r", m="wrap clamp"),
    *_each("{op}.b{w} d, a", op="popc clz brev", w="32 64"),
    *_each("bfind.shiftamt.{t} d, a", t="s32 u32 s64 u64"),
    *_each("bfind.{t} d, a", t="s32 u32 s64 u64"),
    *_each("bfe.{t} d, a, b, c", t="s32 u32 s64 u64"),
    *_each("bfi.b{w} d, a, b, c, e", w="32 64"),
    *_each("bmsk.{m}.b32 d, a, b", m="wrap clamp"),
    *_each("szext.{m}.{t} d, a, b", m="wrap clamp", t="s32 u32"),
    *("fns.b32 d, a, b, c", "prmt.b32 d, a, b, c", "prmt.b32 d, a, b, 0x5410", "prmt.b32 d, a, b, 0xb8f2"),
    *_each("prmt.b32.{m} d, a, b, c", m="f4e b4e rc8 ecl ecr rc16"),
    *_each("lop3.b32 d, a, b, c, {t}", t="0x00 0x1b 0x80 0x96 0xca 0xe8 0xfe 0xff"),
]
_FLOAT = [
    *_each("{op}.{m}.{t} d, a, b", op="add sub mul div", m="rn rz rm rp", t="f32 f64"),
    *_each("fma.{m}.{t} d, a, b, c", m="rn rz rm rp", t="f32 f64"),
    *_each("{op}.{m}.{t} d, a", op="rcp sqrt", m="rn rz rm rp", t="f32 f64"),
    *_each("{op}.ftz.f32 d, a, b", op="add mul div.rn max min"),
    *_each("{op}.sat.f32 d, a, b", op="add mul add.ftz mul.rz"),
    *("fma.rn.ftz.f32 d, a, b, c", "fma.rn.sat.f32 d, a, b, c", "fma.rn.ftz.sat.f32 d, a, b, c"),
    *_each("{op}.{t} d, a, b", op="min max", t="f32 f64"),
    *_each("{op}{m}.f32 d, a, b", op="min max", m=".NaN .xorsign.abs .NaN.xorsign.abs"),
    *_each("{op}.{t} d, a", op="abs neg", t="f32 f64"),
    *_each("{op}.ftz.f32 d, a", op="abs neg sqrt.rn rcp.rn"),
    *_each("copysign.{t} d, a, b", t="f32 f64"),
    *_each("testp.{m}.{t} p, a", m="finite infinite number notanumber normal subnormal", t="f32 f64"),
]
_APPROXIMATE = [
    *_each("{op}.approx{z}.f32 d, a", op="rcp sqrt rsqrt ex2 lg2 sin cos", z=".ftz"),
    *_each("{op}.approx.f32 d, a", op="rcp sqrt rsqrt ex2 lg2 sin cos tanh"),
    *_each("div.{m}.f32 d, a, b", m="approx full approx.ftz full.ftz"),
    *_each("{op}.f64 d, a", op="rcp.approx.ftz rsqrt.approx.ftz rsqrt.approx"),
    *_each("{op} d, a", op="ex2.approx.f16 tanh.approx.f16 ex2.approx.ftz.bf16 tanh.approx.bf16"),
    *_each("{op} d, a", op="ex2.approx.f16x2 tanh.approx.f16x2 ex2.approx.ftz.bf16x2 tanh.approx.bf16x2"),
]
_HALF = [
    *_each("{op}.{t} d, a, b", op="add sub mul min max min.NaN max.NaN", t="f16 bf16 f16x2 bf16x2"),
    *_each("fma.rn{m}.{t} d, a, b, c", m=".relu", t="f16 bf16 f16x2 bf16x2"),
    *_each("fma.rn.{t} d, a, b, c", t="f16 bf16 f16x2 bf16x2"),
    *_each("{op}.{t} d, a", op="neg abs", t="f16 bf16 f16x2 bf16x2"),
    *_each("{op}.f16 d, a, b", op="add.sat mul.sat add.ftz mul.ftz min.ftz max.ftz min.xorsign.abs"),
    *_each("fma.rn.{m}.f16 d, a, b, c", m="ftz sat ftz.relu"),
]
_CONVERT = [
    *_each("cvt.{t}.{u} d, a", t="s8 u8 s16 u16 s32 u32 s64 u64", u="s8 u8 s16 u16 s32 u32 s64 u64"),
    *_each("cvt.sat.{t} d, a", t="s8.s16 u8.s16 s8.u16 u8.u16 u16.s16 s16.u16 s8.s32 u16.s32 u16.u32 s16.u32"),
    *_each("cvt.sat.{t} d, a", t="u32.s32 s32.u32 u8.s64 s16.u64 s32.s64 u32.s64 s32.u64 u32.u64 u64.s64 s64.u64"),
    *_each("cvt.{m}.{t}.{u} d, a", m="rni rzi rmi rpi", t="s8 u8 s16 u16 s32 u32 s64 u64", u="f16 f32 f64"),
    *_each("cvt.{m}.{t}.bf16 d, a", m="rni rzi", t="s16 u16 s32 u32 s64 u64"),
    *_each("cvt.rzi.ftz.{t}.f32 d, a", t="s32 u64"),
    *_each("cvt.{m}.{t}.{u} d, a", m="rn rz rm rp", t="f16 f32 f64", u="s8 u8 s16 u16 s32 u32 s64 u64"),
    *_each("cvt.{m}.bf16.{u} d, a", m="rn rz rm rp", u="s16 u16 s32 u32 s64 u64"),
    *_each("cvt.{m}.{t} d, a", m="rn rz rm rp", t="f32.f64 f16.f32 f16.f64"),
    *_each("cvt.{t} d, a", t="f64.f32 f32.f16 f64.f16 f32.bf16 rn.bf16.f32 rz.bf16.f32 rn.relu.bf16.f32"),
    *_each("cvt.{t} d, a", t="f64.bf16 rn.bf16.f64 rn.bf16.f16 rn.f16.bf16"),
    *_each("cvt.{m}.{t}.{t} d, a", m="rni rzi rmi rpi", t="f16 f32 f64"),
    *_each("cvt{m}.f32.f32 d, a", m=".sat .ftz .ftz.sat"),
    *_each("cvt.{m}.{t}.f32 d, a, b", m="rn rz rn.relu", t="f16x2 bf16x2"),
    *_each("cvt.{t}.f32 d, a", t="rna.tf32 rn.tf32 rz.tf32 rn.relu.tf32"),
    *_each("cvt.rn.ftz.{t} d, a", t="f32.f64 f16.f32"),
    *_each("cvt.pack.sat.{t}.s32.b32 d, a, b, c", t="s8 u8"),
    *_each("cvt.pack.sat.{t}.s32 d, a, b", t="s16 u16"),
]
_COMPARE = [
    *_each("setp.{c}.{t} p, a, b", c="eq ne lt le gt ge", t="s16 u16 s32 u32 s64 u64"),
    *_each("setp.{c}.{t} p, a, b", c="eq lt geu neu ne num nan ltu equ", t="f16 bf16 f32 f64"),
    *_each("setp.{c}.{j}.f32 p|q, a, b, c", c="lt geu", j="and or xor"),
    *_each("setp.{c}.{t} p|q, a, b", c="lt neu nan", t="f16x2 bf16x2"),
    *_each("setp.lt.ftz.f32 p, a, b"),
    *_each("set.{c}.{t}.{u} d, a, b", c="lt neu", t="u32 s32 f32", u="f32 f64"),
    *_each("set.{c}.{t}.{u} d, a, b", c="lt neu", t="u16 u32 f16", u="f16"),
    *_each("set.{c}.{t} d, a, b", c="lt neu", t="f16x2.f16x2 u32.f16x2 bf16x2.bf16x2 u32.bf16x2 bf16.bf16 f16.f32"),
    *_each("set.lt.xor.u32.s32 d, a, b, c"),
    *_each("selp.{t} d, a, b, p", t="b16 b32 b64 f32 f64"),
    *_each("slct.{t}.{u} d, a, b, c", t="b16 b32 b64 f32", u="s32 f32"),
    *_each("slct.ftz.b32.f32 d, a, b, c"),
    *("mov.b32 d, {a, b}", "mov.b32 {a, b}, d", "mov.b64 d, {a, b, c, e}", "mov.b64 {a, b}, d"),
]
FORMS = [
    text
    for group in (_INTEGER, _BITS, _FLOAT, _APPROXIMATE, _HALF, _CONVERT, _COMPARE)
    for text in dict.fromkeys(group)
]


def _registers(operand: Operand) -> list[Register | Immediate]:
    if isinstance(operand, Vector):
        return [register for element in operand.elements for register in _registers(element)]
    if isinstance(operand, Pair):
        return [register for register in (operand.first, operand.second) if register is not None]
    assert isinstance(operand, Register | Immediate)
    return [operand]


@dataclass(frozen=True)
class Probe:
    """A kernel that runs one instruction, a lane a thread.

    ``loaded`` are the numbers of the semantics' sources that are arrays (the others are immediates); ``entry`` is the
    kernel's PTX, ``NAME`` its name.
    """

    text: str
    semantics: Semantics
    entry: str
    loaded: tuple[int, ...]


def _width(name: str) -> str:
    return "pred" if name == "pred" else f"b{8 * DTYPES[name].itemsize}"


def _declared(registers: Sequence[Register], types: Sequence[str]) -> list[str]:
    return [f".reg .{_width(name)} {register.name};" for register, name in zip(registers, types, strict=True)]


def _locate(parameter: str, name: str) -> list[str]:
    """%at: where this lane's element of an array of this type is."""
    return [f"ld.param.u64 %base, [{parameter}];", f"mad.wide.u32 %at, %index, {DTYPES[name].itemsize}, %base;"]


def _load(register: str, parameter: str, name: str) -> list[str]:
    if name == "pred":
        return [*_locate(parameter, name), "ld.global.u8 %small, [%at];", f"setp.ne.u16 {register}, %small, 0;"]
    return [*_locate(parameter, name), f"ld.global.{_width(name)} {register}, [%at];"]


def _store(register: str, parameter: str, name: str) -> list[str]:
    if name == "pred":
        return [*_locate(parameter, name), f"selp.u16 %small, 1, 0, {register};", "st.global.u8 [%at], %small;"]
    return [*_locate(parameter, name), f"st.global.{_width(name)} [%at], {register};"]


def probe(text: str) -> Probe:
    """The kernel that runs this instruction, stated as :func:`cases.instruction` reads it."""
    semantics = lower(text)
    results, *groups = (_registers(operand) for operand in instruction(text).operands)
    sources = [register for group in groups for register in group]
    loaded = [number for number, register in enumerate(sources) if isinstance(register, Register)]
    registers = [sources[number] for number in loaded]
    types = [semantics.sources[number] for number in loaded]
    body = _declared(registers, types) + _declared(results, semantics.results[: len(results)])
    for register, number, name in zip(registers, loaded, types, strict=True):
        body += _load(register.name, f"source{number}", name)
    borrows = instruction(text).opcode in ("sub", "subc")
    if semantics.carry_in:
        number = len(sources)
        loaded.append(number)
        body += _load("%flag", f"source{number}", "pred")
        body.append("selp.u32 %carry, 1, 0, %flag;")
        body.append("sub.cc.u32 %junk, 0, %carry;" if borrows else "add.cc.u32 %junk, %carry, 0xffffffff;")
    body.append(f"{text};")
    stored = [register.name for register in results]
    if semantics.carry_out:
        body += ["subc.u32 %carry, 0, 0;" if borrows else "addc.u32 %carry, 0, 0;", "setp.ne.u32 %flag, %carry, 0;"]
        stored.append("%flag")
    for number, (register, name) in enumerate(zip(stored, semantics.results, strict=True)):
        body += _store(register, f"result{number}", name)
    parameters = [f"source{number}" for number in loaded] + [f"result{number}" for number in range(len(stored))]
    lines = [
        f".visible .entry NAME({', '.join(f'.param .u64 {parameter}' for parameter in parameters)})",
        "{",
        ".reg .b64 %base, %at; .reg .b32 %index, %block, %size, %carry, %junk; .reg .b16 %small; .reg .pred %flag;",
        "mov.u32 %index, %tid.x; mov.u32 %block, %ctaid.x; mov.u32 %size, %ntid.x;",
        "mad.lo.u32 %index, %block, %size, %index;",
        *body,
        "ret;",
        "}",
    ]
    return Probe(text, semantics, "\n".join(lines), tuple(loaded))


def module_of(probes: Sequence[Probe]) -> str:
    """PTX of all of them: kernels ``probe0``, ``probe1``, ..."""
    entries = [what.entry.replace("NAME", f"probe{number}", 1) for number, what in enumerate(probes)]
    return _HEADER + "\n".join(entries) + "\n"


def on_gpu(kernel, what: Probe, sources: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The instruction's results on the GPU present; as many lanes as the sources have, a multiple of 128."""
    import cupy

    lanes = len(sources[0])
    given = [cupy.asarray(bits(sources[number])) for number in what.loaded]
    taken = [cupy.zeros(lanes, bits(np.zeros(1, DTYPES[name])).dtype) for name in what.semantics.results]
    kernel((lanes // 128,), (128,), tuple(array.data.ptr for array in (*given, *taken)))
    return tuple(
        cupy.asnumpy(array).view(DTYPES[name]) for array, name in zip(taken, what.semantics.results, strict=True)
    )


def emulated(semantics: Semantics, sources: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    with np.errstate(all="ignore"):
        result = semantics.function(*sources)
    return result if isinstance(result, tuple) else (result,)


def sources_for(semantics: Semantics, lanes: int, seed: int) -> list[np.ndarray]:
    return [samples(name, lanes, seed + 17 * index) for index, name in enumerate(semantics.sources)]


def ulps(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """How many floats there are between two arrays of floats; -0 and +0 are one."""

    def ordinal(a: np.ndarray) -> np.ndarray:
        signed = a.view(f"i{a.dtype.itemsize}").astype(np.int64)
        return np.where(signed < 0, np.iinfo(f"i{a.dtype.itemsize}").min - signed, signed)

    return np.abs(ordinal(got) - ordinal(wanted))


def _report(text: str, sources: Sequence[np.ndarray], got: np.ndarray, wanted: np.ndarray, name: str) -> None:
    equal = same(got, wanted, name)
    nan_bits = int((bits(got) != bits(wanted)).sum() - (~equal).sum())
    if equal.all() and not nan_bits:
        return
    line = f"{text}: {(~equal).sum()} of {len(equal)} differ, {nan_bits} more in the bits of a NaN"
    if nan_bits:
        lane = int(np.flatnonzero(equal & (bits(got) != bits(wanted)))[0])
        line += f" (hardware {bits(got)[lane]:#x}, emulator {bits(wanted)[lane]:#x})"
    if got.dtype.kind == "f" and not equal.all():
        apart = ulps(got, wanted)[~equal & np.isfinite(got) & np.isfinite(wanted)]
        line += f"; at most {apart.max() if len(apart) else 'none finite'} ulp"
    print(line)
    for lane in np.flatnonzero(~equal)[:3]:
        given = ", ".join(f"{source[lane]!r} {bits(source)[lane]:#x}" for source in sources)
        both = (f"{value[lane]!r} {bits(value)[lane]:#x}" for value in (got, wanted))
        print(f"    {given}: {' on hardware, '.join(both)} here")


def main(path: str, lanes: int = 1 << 16, kept: int = 128) -> None:
    """Run every form on the GPU present; print the differences from the emulator, write the first ``kept`` lanes."""
    import cupy

    probes = [probe(text) for text in FORMS]
    module = cupy.cuda.function.Module()
    module.load(module_of(probes).encode())
    record: dict[str, np.ndarray] = {}
    for number, what in enumerate(probes):
        sources = sources_for(what.semantics, lanes, SEED)
        results = on_gpu(module.get_function(f"probe{number}"), what, sources)
        for got, wanted, name in zip(results, emulated(what.semantics, sources), what.semantics.results, strict=True):
            _report(what.text, [sources[index] for index in what.loaded], got, wanted, name)
        # Forms with sources of the same types have the same sources.
        for index, (array, name) in enumerate(zip(sources, what.semantics.sources, strict=True)):
            record[f"source {index} {name}"] = bits(array[:kept])
        for index, array in enumerate(results):
            record[f"result {index} {number}"] = bits(array[:kept])
    device = cupy.cuda.runtime.getDeviceProperties(0)
    about = {"device": device["name"].decode(), "driver": cupy.cuda.runtime.driverGetVersion(), "forms": FORMS}
    np.savez_compressed(path, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **record)
    print(f"{len(FORMS)} instructions recorded")


if __name__ == "__main__":
    main(sys.argv[1])
