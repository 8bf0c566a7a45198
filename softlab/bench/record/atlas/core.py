"""The classes of instructions that work on registers: a step of each, and what the compiler must make of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from softlab.bench.record.atlas.templates import STREAMS, PtxStep


@dataclass(frozen=True)
class Class:
    """A class of instructions.

    ``wanted`` are patterns of SASS names: a step of the machine code has one instruction of each. ``chain`` and
    ``stream`` are its steps, None for a row that is not measured so. ``less`` are classes whose latency is taken from
    that of the chain, which has an instruction of each beside the measured one.
    ``stream_wanted``: the patterns of a stream, where they are others. ``other``: what the compiler writes for some of
    the steps instead, and :mod:`softlab.bench.record.atlas.patching` changes back. ``second`` is the step of every
    other stream. ``same_pipe``: the classes of ``less`` that take turns with the measured one on the integer pipe.
    """

    family: str
    wanted: tuple[str, ...]
    chain: PtxStep | None
    stream: PtxStep | None = None
    streams: int = STREAMS
    less: tuple[str, ...] = ()
    stream_wanted: tuple[str, ...] = ()
    other: str = ""
    second: PtxStep | None = None
    same_pipe: tuple[str, ...] = ()


def _one(
    family: str, wanted: str, ptx: str, kind: str = "r", operand: str = "", streams: int = STREAMS, other: str = ""
) -> Class:
    step = PtxStep(ptx, kind, operand)
    # A changed chain would keep the stall counts of the other instruction.
    return Class(family, (wanted,), None if other else step, step, streams, other=other)


def _mixed_chain(wanted: str, ptx: str) -> Class:
    """A chain as the compiler writes it: the wanted instruction and HFMA2.MMA in turn. A row is about both together."""
    return Class("fp16", (wanted, r"HFMA2\.MMA"), PtxStep(ptx))


def _pair(
    family: str, wanted: tuple[str, ...], ptx: str, kind: str = "r", operand: str = "", less: tuple[str, ...] = (),
    streams: int = STREAMS,
) -> Class:  # fmt: skip
    step = PtxStep(ptx, kind, operand)
    return Class(family, wanted, step, step, streams, less)


CLASSES: dict[str, Class] = {
    "IADD3": _one("integer", r"IADD3", "add.u32 {x}, {x}, {a}; add.u32 {x}, {x}, {b};"),
    "IMAD": _one("integer", r"IMAD", "mad.lo.u32 {x}, {x}, {a}, {b};"),
    "IMAD.WIDE": _one(
        "integer", r"IMAD\.WIDE\.U32", ".reg .u32 l, h; mov.b64 {l, h}, {x}; mul.wide.u32 {x}, h, {a};", "l", "r", 4
    ),
    "IMAD.HI": _one("integer", r"IMAD\.HI\.U32", "mul.hi.u32 {x}, {x}, {a};"),
    "LOP3": _one("integer", r"LOP3\.LUT", "lop3.b32 {x}, {x}, {a}, {b}, 0x6a;"),
    "SHF": _one("integer", r"SHF\.L\.W\.U32\.HI", "shf.l.wrap.b32 {x}, {x}, {a}, {b};"),
    "SHF.R": _one("integer", r"SHF\.R\.U32\.HI", "shr.u32 {x}, {x}, {a};"),
    "LEA.HI": _one("integer", r"LEA\.HI", ".reg .u32 t; shf.l.wrap.b32 t, {x}, {x}, 5; add.u32 {x}, t, {a};"),
    "SEL": _one("integer", r"SEL", ".reg .pred p; setp.ne.u32 p, {a}, 0; selp.u32 {x}, {x}, {b}, p;"),
    "PRMT": _one("integer", r"PRMT", "prmt.b32 {x}, {x}, {a}, {b};"),
    "POPC": _one("integer", r"POPC", "popc.b32 {x}, {x};"),
    "FLO": _one("integer", r"FLO\.U32", "bfind.u32 {x}, {x};"),
    "BREV": _one("integer", r"BREV", "brev.b32 {x}, {x};"),
    "VIMNMX": _one("integer", r"VIMNMX(\.U32)?", "min.s32 {x}, {x}, {a}; max.s32 {x}, {x}, {b};"),
    "IABS": replace(
        _pair("integer", (r"IABS", r"IADD3|IMAD\.IADD"), "abs.s32 {x}, {x}; sub.u32 {x}, {x}, {a};", less=("IADD3",)),
        stream=None,
    ),
    "ISETP": _pair(
        "integer",
        (r"ISETP\..*", "SEL"),
        ".reg .pred p; setp.lt.u32 p, {x}, {a}; selp.u32 {x}, {b}, {c}, p;",
        less=("SEL",),
    ),
    "IDP": _one("integer", r"IDP\.4A\.U8\.U8", "dp4a.u32.u32 {x}, {x}, {a}, {b};"),
    "FADD": _one("fp32", r"FADD", "add.f32 {x}, {x}, {a};", "f"),
    "FMUL": _one("fp32", r"FMUL", "mul.f32 {x}, {x}, {a};", "f"),
    "FFMA": _one("fp32", r"FFMA", "fma.rn.f32 {x}, {x}, {a}, {b};", "f"),
    "FMNMX": _one("fp32", r"FMNMX", "min.f32 {x}, {x}, {a}; max.f32 {x}, {x}, {b};", "f"),
    "FSEL": _one("fp32", r"FSEL", ".reg .pred p; setp.gt.f32 p, {a}, 0f00000000; selp.f32 {x}, {x}, {b}, p;", "f"),
    "FSETP": _pair(
        "fp32",
        (r"FSETP\..*", "FSEL"),
        ".reg .pred p; setp.lt.f32 p, {x}, {a}; selp.f32 {x}, {b}, {c}, p;",
        "f",
        less=("FSEL",),
    ),
    "HADD2": _one("fp16", r"HADD2", "add.rn.f16x2 {x}, {x}, {a};", other=r"HFMA2\.MMA"),
    "HMUL2": _one("fp16", r"HMUL2", "mul.rn.f16x2 {x}, {x}, {a};", other=r"HFMA2\.MMA"),
    "HFMA2": _one("fp16", r"HFMA2", "fma.rn.f16x2 {x}, {x}, {a}, {b};", other=r"HFMA2\.MMA"),
    "HFMA2.MMA": _one("fp16", r"HFMA2\.MMA", "fma.rn.f16x2 {x}, {x}, {a}, {b};", other="HFMA2"),
    "HFMA2.BF16": _one("fp16", r"HFMA2\.BF16_V2", "fma.rn.bf16x2 {x}, {x}, {a}, {b};", other=r"HFMA2\.MMA\.BF16_V2"),
    "HADD2+HFMA2.MMA": _mixed_chain("HADD2", "add.rn.f16x2 {x}, {x}, {a};"),
    "HMUL2+HFMA2.MMA": _mixed_chain("HMUL2", "mul.rn.f16x2 {x}, {x}, {a};"),
    "HFMA2+HFMA2.MMA": _mixed_chain("HFMA2", "fma.rn.f16x2 {x}, {x}, {a}, {b};"),
    "HMNMX2": _one("fp16", r"HMNMX2", "min.f16x2 {x}, {x}, {a}; max.f16x2 {x}, {x}, {b};"),
    "DADD": _one("fp64", r"DADD", "add.f64 {x}, {x}, {a};", "d", streams=4),
    "DMUL": _one("fp64", r"DMUL", "mul.f64 {x}, {x}, {a};", "d", streams=4),
    "DFMA": _one("fp64", r"DFMA", "fma.rn.f64 {x}, {x}, {a}, {b};", "d", streams=4),
    "DSETP": _pair(
        "fp64",
        (r"DSETP\..*", "FSEL|SEL"),
        ".reg .pred p; .reg .u32 l, h; setp.lt.f64 p, {x}, {a}; "
        "mov.b64 {l, h}, {x}; selp.u32 l, l, h, p; mov.b64 {x}, {l, h};",
        "d",
        less=("SEL",),
        streams=4,
    ),
    "MUFU.EX2": _one("mufu", r"MUFU\.EX2", "ex2.approx.ftz.f32 {x}, {x};", "f"),
    "MUFU.RCP": _pair(
        "mufu", (r"MUFU\.RCP", "FADD"), "rcp.approx.ftz.f32 {x}, {x}; add.f32 {x}, {x}, {a};", "f", less=("FADD",)
    ),
    "MUFU.RSQ": _one("mufu", r"MUFU\.RSQ", "rsqrt.approx.ftz.f32 {x}, {x};", "f"),
    "MUFU.LG2": _one("mufu", r"MUFU\.LG2", "lg2.approx.ftz.f32 {x}, {x};", "f"),
    "MUFU.SIN": _pair("mufu", (r"MUFU\.SIN", r"FMUL\.RZ"), "sin.approx.ftz.f32 {x}, {x};", "f", less=("FMUL",)),
    "MUFU.COS": _pair("mufu", (r"MUFU\.COS", r"FMUL\.RZ"), "cos.approx.ftz.f32 {x}, {x};", "f", less=("FMUL",)),
    "MUFU.SQRT": _one("mufu", r"MUFU\.SQRT", "sqrt.approx.ftz.f32 {x}, {x};", "f"),
    "MUFU.TANH": _one("mufu", r"MUFU\.TANH", "tanh.approx.f32 {x}, {x};", "f"),
    "F2FP.F16": _one(
        "conversion", r"F2FP\.F16\.F32\.PACK_AB", ".reg .f32 t; mov.b32 t, {x}; cvt.rn.f16x2.f32 {x}, t, t;"
    ),
    "F2FP.BF16": _one(
        "conversion", r"F2FP\.BF16\.F32\.PACK_AB", ".reg .f32 t; mov.b32 t, {x}; cvt.rn.bf16x2.f32 {x}, t, t;"
    ),
    "HADD2.F32": _one("conversion", r"HADD2\.F32", ".reg .b16 l, h; mov.b32 {l, h}, {x}; cvt.f32.f16 {x}, l;", "f"),
    "F2F.F64.F32": _one(
        "conversion", r"F2F\.F64\.F32", ".reg .f32 l, h; mov.b64 {l, h}, {x}; cvt.f64.f32 {x}, h;", "d", streams=4
    ),
    "F2F.F32.F64": _one(
        "conversion",
        r"F2F\.F32\.F64",
        ".reg .f32 l, h, t; cvt.rn.f32.f64 t, {x}; mov.b64 {l, h}, {x}; mov.b64 {x}, {l, t};",
        "d",
        streams=4,
    ),
    "F2I.F64": _one(
        "conversion",
        r"F2I\..*F64.*",
        ".reg .s32 l, h, t; cvt.rni.s32.f64 t, {x}; mov.b64 {l, h}, {x}; mov.b64 {x}, {l, t};",
        "d",
        streams=4,
    ),
    "I2F.F64": _one(
        "conversion", r"I2F\.F64.*", ".reg .s32 l, h; mov.b64 {l, h}, {x}; cvt.rn.f64.s32 {x}, h;", "d", streams=4
    ),
    "F2I": _one("conversion", r"F2I.*", ".reg .s32 t; cvt.rni.s32.f32 t, {x}; mov.b32 {x}, t;", "f"),
    "I2F": _one("conversion", r"I2F.*", ".reg .f32 t; cvt.rn.f32.s32 t, {x}; mov.b32 {x}, t;"),
    "FRND": _one("conversion", r"FRND.*", "cvt.rni.f32.f32 {x}, {x};", "f"),
    "SHFL.BFLY": _one("warp", r"SHFL\.BFLY", "shfl.sync.bfly.b32 {x}, {x}, 1, 0x1f, 0xffffffff;"),
    "SHFL.IDX": _one("warp", r"SHFL\.IDX", "shfl.sync.idx.b32 {x}, {x}, {a}, 0x1f, 0xffffffff;"),
    "SHFL.UP": _one("warp", r"SHFL\.UP", "shfl.sync.up.b32 {x}, {x}, 1, 0, 0xffffffff;"),
    "SHFL.DOWN": _one("warp", r"SHFL\.DOWN", "shfl.sync.down.b32 {x}, {x}, 1, 0x1f, 0xffffffff;"),
    "MATCH.ANY": _one("warp", r"MATCH\.ANY", "match.any.sync.b32 {x}, {x}, 0xffffffff;"),
    "MATCH.ALL": _one("warp", r"MATCH\.ALL", ".reg .pred p; match.all.sync.b32 {x}|p, {x}, 0xffffffff;"),
    "REDUX.SUM": _pair("warp", (r"REDUX\.SUM\.S32", r"MOV|IMAD\.U32"), "redux.sync.add.s32 {x}, {x}, 0xffffffff;"),
    "REDUX.MAX": _pair(
        "warp", (r"CREDUX.*|REDUX\.MAX\.S32", r"MOV|IMAD\.U32"), "redux.sync.max.s32 {x}, {x}, 0xffffffff;"
    ),
    "REDUX.OR": _pair("warp", (r"REDUX\.OR", r"MOV|IMAD\.U32"), "redux.sync.or.b32 {x}, {x}, 0xffffffff;"),
    "VOTE": _pair(
        "warp",
        (r"VOTE\.ANY", r"ISETP\..*"),
        ".reg .pred p; setp.lt.u32 p, {x}, {a}; vote.sync.ballot.b32 {x}, p, 0xffffffff;",
        less=("ISETP",),
    ),
    "VOTE.ANY": _pair(
        "warp",
        (r"VOTE\.ANY", r"ISETP\..*", "SEL"),
        ".reg .pred p; setp.lt.u32 p, {x}, {a}; vote.sync.any.pred p, p, 0xffffffff; selp.u32 {x}, {b}, {c}, p;",
        less=("ISETP", "SEL"),
    ),
    "S2R": replace(
        _pair("uniform", (r"S2R|S2UR", r"IMAD"), ".reg .u32 t; mov.u32 t, %smid; mul.lo.u32 {x}, {x}, t;"), chain=None
    ),
}


def _mix(first: str, second: str) -> Class:
    steps = [_AS_WORDS[name] for name in (first, second)]
    return Class("mixed", (steps[0][0], steps[1][0]), None, PtxStep(steps[0][1]), second=PtxStep(steps[1][1]))


def _float(ptx: str) -> str:
    return ".reg .f32 f, g; mov.b32 f, {x}; mov.b32 g, {a}; " + ptx + " mov.b32 {x}, f;"


#: Class -> its pattern and a step on a 32-bit word.
_AS_WORDS = {
    "FFMA": (r"FFMA", _float("fma.rn.f32 f, f, g, g;")),
    "FADD": (r"FADD", _float("add.f32 f, f, g;")),
    "FMUL": (r"FMUL", _float("mul.f32 f, f, g;")),
    "FMNMX": (r"FMNMX", _float("min.f32 f, f, g; neg.f32 g, g; max.f32 f, f, g;")),
    "MUFU.EX2": (r"MUFU\.EX2", _float("ex2.approx.ftz.f32 f, f;")),
    "IMAD": (r"IMAD", "mad.lo.u32 {x}, {x}, {a}, {b};"),
    "IMAD.HI": (r"IMAD\.HI\.U32", "mul.hi.u32 {x}, {x}, {a};"),
    "IADD3": (r"IADD3", "add.u32 {x}, {x}, {a}; add.u32 {x}, {x}, {b};"),
    "LOP3": (r"LOP3\.LUT", "lop3.b32 {x}, {x}, {a}, {b}, 0x6a;"),
    "SHF": (r"SHF\.L\.W\.U32\.HI", "shf.l.wrap.b32 {x}, {x}, {a}, {b};"),
    "PRMT": (r"PRMT", "prmt.b32 {x}, {x}, {a}, {b};"),
    "POPC": (r"POPC", "popc.b32 {x}, {x};"),
    "SHFL.BFLY": (r"SHFL\.BFLY", "shfl.sync.bfly.b32 {x}, {x}, 1, 0x1f, 0xffffffff;"),
}
_PAIRS = (
    "FFMA+IMAD FFMA+IADD3 FFMA+LOP3 FFMA+SHF FFMA+MUFU.EX2 FFMA+SHFL.BFLY FFMA+FADD FADD+FMUL FADD+LOP3 IMAD+IADD3 "
    "IADD3+LOP3 LOP3+SHF IADD3+SHF IMAD+SHF MUFU.EX2+POPC MUFU.EX2+SHFL.BFLY MUFU.EX2+LOP3 MUFU.EX2+IMAD PRMT+FADD "
    "IMAD.HI+LOP3 IMAD.HI+FFMA"
)
#: Pairs of classes, in turn on even and odd streams.
MIXED: dict[str, Class] = {pair: _mix(*pair.split("+")) for pair in _PAIRS.split()}


def _wide(second: str) -> Class:
    """IMAD.WIDE, and a class that works on the upper half of the 64 bits: in every other stream, or behind it where
    the compiler would sort them."""
    wide, (pattern, ptx) = CLASSES["IMAD.WIDE"], _AS_WORDS[second]
    assert wide.stream is not None
    ptx = f".reg .u32 l, h; mov.b64 {{l, h}}, {{x}}; {ptx.replace('{x}', 'h')} mov.b64 {{x}}, {{l, h}};"
    mixed = replace(wide, family="mixed", wanted=(*wide.wanted, pattern), chain=None)
    if second in ("IMAD", "FFMA"):
        return replace(mixed, stream=PtxStep(f"{wide.stream.ptx} {{ {ptx} }}", "l", "r"))
    return replace(mixed, second=PtxStep(ptx, "l", "r"))


def _behind(first: str, pattern: str, ptx: str) -> Class:
    """A class behind another one in the same stream: the compiler makes one addition of two in a row."""
    added = pattern == "VIADD" and first in ("IMAD", "FFMA", "FADD")
    other = "IADD3" if added else ""  # what the compiler writes there
    return Class("mixed", (pattern, _AS_WORDS[first][0]), None, PtxStep(f"{_AS_WORDS[first][1]} {ptx}"), other=other)


_ADDED = "add.s32 {x}, {x}, 5;"
MIXED |= {
    f"VIADD+{first}": _behind(first, "VIADD", _ADDED) for first in ("LOP3", "SHF", "PRMT", "IMAD", "FFMA", "FADD")
}
MIXED["IMAD.HI+IMAD"] = _behind("IMAD", r"IMAD\.HI\.U32", _AS_WORDS["IMAD.HI"][1])
MIXED |= {f"IMAD.WIDE+{second}": _wide(second) for second in ("IMAD", "LOP3", "IADD3", "FFMA")}


def _halves(ptx: str, wanted: str, other: str, second: str = "") -> Class:
    """Pairs of halves in turn with another class; without one, in turn with HFMA2.MMA, as the compiler writes it."""
    if not second:
        return Class("mixed", (wanted, r"HFMA2\.MMA"), None, PtxStep(ptx))
    pattern, behind = _AS_WORDS[second]
    return Class("mixed", (wanted, pattern), None, PtxStep(ptx), other=other, second=PtxStep(behind))


_HADD2, _HFMA2 = "add.rn.f16x2 {x}, {x}, {a};", "fma.rn.f16x2 {x}, {x}, {a}, {b};"
#: Pairs of halves: the compiler gives every other one to HFMA2.MMA.
HALVES: dict[str, Class] = {
    "HFMA2.MMA+HADD2": _halves(_HADD2, "HADD2", ""),
    "HFMA2.MMA+HFMA2": _halves(_HFMA2, "HFMA2", ""),
    **{f"HADD2+{second}": _halves(_HADD2, "HADD2", r"HFMA2\.MMA", second) for second in ("FFMA", "IMAD", "LOP3")},
    **{f"HFMA2.MMA+{second}": _halves(_HFMA2, r"HFMA2\.MMA", "HFMA2", second) for second in ("FFMA", "IMAD", "LOP3")},
}
MIXED |= HALVES

#: These and the instructions beside them take the integer pipe in turn: their streams show the sum.
for _name in ("ISETP", "FSETP", "VOTE", "VOTE.ANY"):
    CLASSES[_name] = replace(CLASSES[_name], same_pipe=CLASSES[_name].less)
