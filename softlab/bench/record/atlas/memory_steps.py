"""The classes of instructions that access memory, as steps of a chain or of streams.

Memory that is read holds in each word the word's own address, so that each load gives the address of the next one:
the streams depend on their loads, and the pattern of the lanes stays as it began.
"""

from __future__ import annotations

from softlab.bench.record.atlas.core import Class
from softlab.bench.record.atlas.templates import PtxStep

#: Words of dynamic shared memory that hold their own address.
SHARED_WORDS = 12288
_SHARED = f"""extern __shared__ __align__(128) u32 smem[];
const u32 base = smem_address(smem), lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
for (u32 i = threadIdx.x; i < {SHARED_WORDS}; i += blockDim.x) smem[i] = base + 4 * i;
__syncthreads();
"""
#: Bytes from lane to lane are p0.
_LANES = "base + lane * p0"
#: p0 lanes share a word, and so do p1 warps.
_WORDS = "base + ((warp / p1) * 32 + lane / p0) * 4"

#: The memory of a warp begins p1 bytes behind that of the warp before it; lanes are p0 bytes apart.
_GLOBAL = """const u32 lane = threadIdx.x & 31;
const u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
char* place = memory + (u64)warp * p1 + lane * p0;
((u32*)place)[0] = (u32)(u64)place;
if (p0 > 4) ((u32*)place)[1] = (u32)((u64)place >> 32);
__syncthreads();
"""
#: p0 lanes share a word, and so do p1 warps of the grid. The words hold 0.
_GLOBAL_WORDS = """const u32 lane = threadIdx.x & 31;
const u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
char* place = memory + ((u64)(warp / p1) * 32 + lane / p0) * 4;
"""
_LOW = ".reg .u32 l, h, t; mov.b64 {l, h}, {x};"


def _shared(wanted: str, ptx: str, *more: str) -> Class:
    step = PtxStep(ptx, prelude=_SHARED, start=_LANES, memory=True)
    return Class("shared memory", (wanted, *more), step, step)


def _stored(wanted: str, ptx: str) -> Class:
    return Class("shared memory", (wanted,), None, PtxStep(ptx, prelude=_SHARED, start=_LANES, memory=True))


def _shared_atomic(wanted: tuple[str, ...], ptx: str) -> Class:
    step = PtxStep(ptx, prelude=_SHARED, address=f"r({_WORDS})", memory=True)
    return Class("shared memory", wanted, step, step)


def _global(wanted: str, ptx: str, *more: str, chain: bool = True, moves: tuple[str, ...] = ()) -> Class:
    step = PtxStep(ptx, "l", "r", _GLOBAL, "(u64)place", memory=True)
    return Class(
        "global memory", (wanted, *more, *moves), step if chain else None, step, 4, stream_wanted=(wanted, *more)
    )


def _global_atomic(wanted: tuple[str, ...], ptx: str, chain: bool = True) -> Class:
    step = PtxStep(ptx, prelude=_GLOBAL_WORDS, address="l(place)", memory=True)
    return Class("global memory", wanted, step if chain else None, step, 4)


def _copied(nbytes: int) -> Class:
    prelude = "extern __shared__ __align__(128) u32 smem[];\n" + _GLOBAL
    ptx = f"cp.async.ca.shared.global [{{m}}], [{{x}}], {nbytes}; cp.async.wait_all;"
    step = PtxStep(
        ptx, "l", "r", prelude, "(u64)place", memory=True, address="r(smem_address(smem) + threadIdx.x * 16)"
    )
    return Class("asynchronous copies", (r"LDGSTS.*", "LDGDEPBAR", r"DEPBAR\.LE"), step, step, 4)


_MOVE = r"MOV|IMAD\.MOV\.U32"
MEMORY_CLASSES: dict[str, Class] = {
    "LDS": _shared(r"LDS", "ld.shared.u32 {x}, [{x}];"),
    "LDS.64": _shared(r"LDS\.64", ".reg .u32 t; ld.volatile.shared.v2.u32 {{x}, t}, [{x}];"),
    "LDS.128": _shared(r"LDS\.128", ".reg .u32 t, u, v; ld.volatile.shared.v4.u32 {{x}, t, u, v}, [{x}];"),
    "STS": _stored(r"STS", "st.volatile.shared.u32 [{x}], {a};"),
    "STS.64": _stored(r"STS\.64", "st.volatile.shared.v2.u32 [{x}], {{a}, {b}};"),
    "STS.128": _stored(r"STS\.128", "st.volatile.shared.v4.u32 [{x}], {{a}, {b}, {c}, {a}};"),
    "STS.LDS": _shared(r"STS", "st.volatile.shared.u32 [{x}], {x}; ld.volatile.shared.u32 {x}, [{x}];", r"LDS"),
    "ATOMS.ADD": _shared_atomic((r"ATOMS\.ADD",), "atom.shared.add.u32 {x}, [{m}], {x};"),
    "ATOMS.CAS": _shared_atomic((r"ATOMS\.CAS",), "atom.shared.cas.b32 {x}, [{m}], {x}, {b};"),
    "LDG": _global(r"LDG\.E", ".reg .u32 l, h, t; mov.b64 {l, h}, {x}; ld.global.u32 t, [{x}]; mov.b64 {x}, {t, h};"),
    "LDG.64": _global(r"LDG\.E\.64", "ld.global.u64 {x}, [{x}];"),
    "LDG.128": _global(
        r"LDG\.E\.128",
        ".reg .u32 l, h, t, u; ld.global.v4.u32 {l, h, t, u}, [{x}]; or.b32 l, l, t; mov.b64 {x}, {l, h};",
        r"LOP3\.LUT",
        moves=(_MOVE,),
    ),
    "STG": _global(r"STG\.E", "st.global.u32 [{x}], {a};", chain=False),
    "STG.64": _global(r"STG\.E\.64", "st.global.v2.u32 [{x}], {{a}, {b}};", chain=False),
    "STG.128": _global(r"STG\.E\.128", "st.global.v4.u32 [{x}], {{a}, {b}, {c}, {a}};", chain=False),
    "ATOMG.ADD": _global_atomic((r"ATOMG\.E\.ADD.*",), "atom.global.add.u32 {x}, [{m}], {x};"),
    "ATOMG.CAS": _global_atomic((r"ATOMG\.E\.CAS.*",), "atom.global.cas.b32 {x}, [{m}], {x}, {b};"),
    "ATOMG.EXCH": _global_atomic((r"ATOMG\.E\.EXCH.*",), "atom.global.exch.b32 {x}, [{m}], {x};"),
    "ATOMG.MAX": _global_atomic((r"ATOMG\.E\.MAX.*",), "atom.global.max.u32 {x}, [{m}], {x};"),
    "ATOMG.ADD.F32": _global_atomic(
        (r"ATOMG\.E\.ADD\.F32.*",), ".reg .f32 f; mov.b32 f, {x}; atom.global.add.f32 f, [{m}], f; mov.b32 {x}, f;"
    ),
    "RED.ADD": _global_atomic((r"REDG\.E\.ADD.*",), "red.global.add.u32 [{m}], {a};", chain=False),
    "RED.ADD.F32": _global_atomic(
        (r"REDG\.E\.ADD\.F32.*",), ".reg .f32 f; mov.b32 f, {a}; red.global.add.f32 [{m}], f;", chain=False
    ),
    "BAR.SYNC": Class("control", (r"BAR\.SYNC.*",), PtxStep("bar.sync 0;", memory=True)),
    "MEMBAR.GPU": _global(
        r"STG\.E", "st.global.u32 [{x}], {a}; membar.gl;", r"MEMBAR\.SC\.GPU", "ERRBAR", "CGAERRBAR", r"CCTL\.IVALL"
    ),
    "MEMBAR.CTA": _global(r"STG\.E", "st.global.u32 [{x}], {a}; membar.cta;", r"MEMBAR\.SC\.CTA"),
    "LDGSTS": _copied(16),
    "LDGSTS.4": _copied(4),
}
