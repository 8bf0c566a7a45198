"""An offset in an instruction: [register+offset] reaches what [register] reaches, whatever part of it the register has.

Each form of access runs with the address in the register, and with some bytes more or less there and in the
instruction. What is loaded, stored and recorded is the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.errors import KernelFault
from softlab.kernel import Kernel
from tests.sampled import turns

OFFSETS = (16, -1, 4097, -70000)
HOW = ["none", *(["all"] if available() else [])]
LANES = 40

FRAME = """
.version 8.8
.target sm_90a
.address_size 64
.const .align 16 .b8 table[2048] = {{{table}}};
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 places) {{
  .reg .pred %p; .reg .b16 %h<9>; .reg .b32 %r<19>; .reg .b64 %d<19>; .reg .f32 %f<9>; .reg .f64 %g<9>;
  .shared .align 16 .b8 s[2048];
  .local .align 16 .b8 own[32];
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  ld.param.u64 %d3, [places];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 4;
  cvt.u64.u32 %d4, %r2;
{place}
  add.u64 %d1, %d1, %d4;
  mov.u32 %r3, s;
  cvt.u32.u64 %r4, %d4;
  add.u32 %r3, %r3, %r4;
  cvt.u64.u32 %d5, %r3;
  cvta.shared.u64 %d5, %d5;
  mov.u64 %d6, table;
  add.u64 %d6, %d6, %d4;
  mov.u64 %d7, own;
  cvta.local.u64 %d8, %d7;
  ld.global.v4.u32 {{%r5, %r6, %r7, %r8}}, [%d1];
  st.shared.v4.u32 [%r3], {{%r5, %r6, %r7, %r8}};
  st.local.v4.u32 [%d7], {{%r5, %r6, %r7, %r8}};
  shl.b32 %r9, %r1, 6;
  cvt.u64.u32 %d9, %r9;
  add.u64 %d2, %d2, %d9;
  bar.sync 0;
{body}
  ret;
}}
"""
#: The address is known from the thread's index, or comes from memory.
PLACES = {"computed": "", "loaded": "  shl.b32 %r3, %r1, 3; cvt.u64.u32 %d5, %r3; add.u64 %d5, %d3, %d5; "
          "ld.global.u64 %d4, [%d5];"}  # fmt: skip
#: Registers with the addresses of the 16 bytes of each lane.
BASES = {"global": "%d1", "shared": "%r3", "shared of 64 bits": "%d5", "const": "%d6", "local": "%d7",
         "generic, global": "%d1", "generic, shared": "%d5", "generic, local": "%d8"}  # fmt: skip
LOADS = ["u8 %r10", "s8 %r10", "u16 %h1", "s16 %r10", "u32 %r10", "u64 %d10", "f32 %f1", "f64 %g1",
         "v2.u32 {%r10, %r11}", "v4.u32 {%r10, %r11, %r12, %r13}", "v2.u64 {%d10, %d11}",
         "v4.u8 {%h1, %h2, %h3, %h4}"]  # fmt: skip
STORES = {"u8": "u8 ADDRESS, %r1", "v4.u32": "v4.u32 ADDRESS, {%r9, %r1, %r8, %r7}"}
ATOMICS = ["atom.SPACE.add.u32 %r10, ADDRESS, %r1;", "atom.SPACE.cas.b32 %r10, ADDRESS, %r5, %r1;",
           "atom.SPACE.exch.b64 %d10, ADDRESS, %d9;", "red.SPACE.max.u32 ADDRESS, 77777;",
           "atom.SPACE.add.f32 %f1, ADDRESS, 0f3F800000;", "red.SPACE.add.u64 ADDRESS, %d9;"]  # fmt: skip


def bodies(offset: int, form: str) -> str:
    """One instruction per form of access behind the moves of its address."""
    lines, at = [], 0

    def moved(base: str) -> str:
        kind, scratch = ("u32", "%r14") if base.startswith("%r") else ("u64", "%d14")
        lines.append(f"sub.{kind} {scratch}, {base}, {offset};")
        return f"[{scratch}+{offset}]" if offset else f"[{scratch}]"

    def told(register: str) -> None:
        nonlocal at
        size = {"%r": 32, "%d": 64, "%h": 16, "%f": 32, "%g": 64}[register[:2]]
        lines.append(f"st.global.b{size} [%d2+{at}], {register};")
        at = (at + 8) % 64

    for name, base in BASES.items():
        word = {"generic": "", "shared": ".shared"}.get(name.split(",")[0].split()[0], f".{name}")
        if form in STORES:
            address = moved(base)
            if name != "const":
                lines.append(f"st{word}.{STORES[form].replace('ADDRESS', address)};")
            for k in range(0, 16, 8):
                lines.append(f"ld{word}.u64 %d10, [{base}+{k}];")
                told("%d10")
        elif form == "atomic" and name not in ("const", "local", "generic, local"):
            for one in ATOMICS:
                address = moved(base)
                lines.append(one.replace(".SPACE", word).replace("ADDRESS", address))
                lines.append(f"ld{word}.u64 %d11, [{base}];")
                told("%d11")
        elif form == "load":
            for load in LOADS:
                kind, _, registers = load.partition(" ")
                address = moved(base)
                lines.append(f"ld{word}.{kind} {registers}, {address};")
                for register in registers.strip("{}").split(", "):
                    told(register)
                    lines.append(f"ld.global.u64 %d11, [%d2+{(at - 8) % 64}]; add.u64 %d12, %d12, %d11; "
                                 "mul.lo.u64 %d12, %d12, 31;")  # fmt: skip
    if form == "load":
        told("%d12")
    return "  " + "\n  ".join(lines)


def outcome(form: str, place: str, offset: int, how: str) -> tuple[Any, ...]:
    """What a run leaves in the arrays, and where its accesses went."""
    table = ", ".join(str(number * 37 % 251) for number in range(2048))
    body = ("mov.u64 %d12, 0;\n" if form == "load" else "") + bodies(offset, form)
    kernel = Kernel.from_ptx(FRAME.format(table=table, place=PLACES[place], body=body), "k")
    random = np.random.default_rng(5)
    x = random.integers(0, 2**32, LANES * 4, dtype=np.uint32)
    x[::4] = random.random(LANES).astype(np.float32).view(np.uint32)
    places = 16 * np.arange(LANES, dtype=np.uint64)
    if place == "loaded":
        places = places[random.permutation(LANES)]
    y = np.zeros(LANES * 8, np.uint64)
    run = kernel.run(1, LANES, (x, y, places), compiled=how, check="collect")  # type: ignore[arg-type]
    addresses = [np.where(log.active, log.address, 0).tolist() for log in (run.global_, run.shared)]
    return x.tolist(), y.tolist(), addresses, [(f.kind, f.line, f.count) for f in run.findings]


@pytest.mark.parametrize(("form", "place", "how"), turns(2, ["load", "atomic", "u8", "v4.u32"], PLACES, HOW))
def test_an_access_reaches_the_same_bytes(form: str, place: str, how: str) -> None:
    x, y, *logs = outcome(form, place, 0, how)
    assert any(y)
    for offset in OFFSETS:
        found = outcome(form, place, offset, how)
        assert found[0] == x, offset
        assert found[1] == y, offset
        assert list(found[2:]) == logs, offset


SUMS = """
.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p;
  .shared .align 16 .b8 s[512];
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  mov.u32 %r1, %tid.x;
  shl.b32 %r1, %r1, 2;
  cvt.u64.u32 %d3, %r1;
  mov.u32 %r2, s;
  add.u32 %r2, %r2, %r1;
  cvt.u64.u32 %d4, %r2;
  cvta.shared.u64 %d4, %d4;
  mov.u32 %r3, 1;
  st.shared.u32 [%r2], %r3;
  add.u64 %d5, %d1, %d3;
  setp.lt.u32 %p, %r1, {lanes};
  selp.b64 %d6, %d4, %d5, %p;
  sub.u64 %d6, %d6, {offset};
  atom.add.f32 %f1, [%d6{sign}{offset}], 0f00000003;
  ld.u32 %r4, [%d6{sign}{offset}];
  add.u64 %d7, %d2, %d3;
  st.global.u32 [%d7], %r4;
  ret;
}}
"""


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("shared", [0, 7, 32])
@pytest.mark.parametrize("offset", [4096, 3, -(1 << 30)])
def test_where_a_sum_of_subnormal_numbers_is_made(offset: int, shared: int, how: str) -> None:
    """Shared memory keeps them, global memory takes them for 0. The register alone may point elsewhere."""
    text = SUMS.format(offset=offset, sign="+", lanes=4 * shared)
    x, y = np.ones(32, np.uint32), np.zeros(32, np.uint32)
    Kernel.from_ptx(text, "k").run(1, 32, (x, y), compiled=how, record=False)  # type: ignore[arg-type]
    assert y.tolist() == [4] * shared + [0] * (32 - shared)
    assert x.tolist() == [1] * shared + [0] * (32 - shared)


LOOP = """
.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n) {{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>; .reg .b32 %a;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  ld.param.u32 %r7, [n];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d2, %d2, %d3;
  add.u64 %d4, %d1, %d3;
  cvt.u32.u64 %a, %d4;
  sub.u64 %d4, %d4, {offset};
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
LOOP:
  ld.global.u32 %r4, [{register}+{offset}];
  and.b32 %r5, %r4, 1;
  setp.eq.u32 %p1, %r5, 0;
  @%p1 bra EVEN;
  mad.lo.u32 %r3, %r3, 3, %r4;
  bra NEXT;
EVEN:
  xor.b32 %r3, %r3, %r4;
NEXT:
  add.u64 %d4, %d4, 4;
  add.u32 %a, %a, 4;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, %r7;
  @%p2 bra LOOP;
  st.global.u32 [%d2], %r3;
  ret;
}}
"""


@pytest.mark.parametrize(("offset", "how"), turns(2, [0, *OFFSETS], HOW))
def test_a_loop_with_an_offset(offset: int, how: str) -> None:
    x, y = np.random.default_rng(2).integers(0, 2**32, 64, dtype=np.uint32), np.zeros(32, np.uint32)
    Kernel.from_ptx(LOOP.format(offset=offset, register="%d4"), "k").run(1, 32, (x, y, 20), compiled=how)  # type: ignore[arg-type]
    for lane in range(32):
        total = 0
        for value in x[lane : lane + 20].tolist():
            total = (total * 3 + value if value & 1 else total ^ value) % 2**32
        assert y[lane] == total


@pytest.mark.parametrize("offset", [0, 8, -8])
def test_a_loop_with_an_address_of_32_bits(offset: int) -> None:
    """No array lies there: the fault is the same in compiled loops."""
    said = []
    for how in HOW:
        with pytest.raises(KernelFault) as caught:
            Kernel.from_ptx(LOOP.format(offset=offset, register="%a"), "k").run(
                1, 32, (np.zeros(64, np.uint32), np.zeros(32, np.uint32), 20), compiled=how  # type: ignore[arg-type]
            )  # fmt: skip
        said.append(str(caught.value))
    assert len(set(said)) == 1


WAITS = """
.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 y) {{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<4>;
  .shared .align 8 .b8 s[512];
  ld.param.u64 %d1, [y];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, s;
  shr.u32 %r3, %r1, 5;
  setp.eq.u32 %p1, %r1, 0;
  @!%p1 bra BEHIND;
  mbarrier.init.shared.b64 [%r2+24], 32;
  mbarrier.init.shared.b64 [%r2+88], 1;
BEHIND:
  bar.sync 0;
  setp.eq.u32 %p2, %r3, 0;
  @!%p2 bra ARRIVE;
  sub.u32 %r4, %r2, {offset};
  {wide}
WAIT:
  mbarrier.try_wait.parity{space}.b64 %p3, [{register}+{there}], 0;
  @!%p3 bra WAIT;
  ld.shared.u32 %r5, [s+256];
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d2, %d1, %d2;
  st.global.u32 [%d2], %r5;
  ret;
ARRIVE:
  mov.u32 %r6, 41;
  setp.eq.u32 %p1, %r1, 32;
  @%p1 st.shared.u32 [s+256], %r6;
  mbarrier.arrive.shared.b64 _, [%r2+24];
  ret;
}}
"""


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("space", [".shared", ""])
@pytest.mark.parametrize("offset", [0, 8, -64, 3])
def test_who_waits_for_an_mbarrier_at_an_offset(offset: int, space: str, how: str) -> None:
    """The warp that waits runs first. It goes on when the mbarrier there has a phase behind it.

    The register may lie before shared memory: the sum of 32 bits wraps around.
    """
    wide = "" if space else f"cvt.u64.u32 %d3, %r2; cvta.shared.u64 %d3, %d3; sub.u64 %d3, %d3, {offset};"
    text = WAITS.format(offset=offset, there=24 + offset, wide=wide, register="%r4" if space else "%d3", space=space)
    y = np.zeros(32, np.uint32)
    run = Kernel.from_ptx(text, "k").run(1, 64, (y,), compiled=how, check="collect")  # type: ignore[arg-type]
    assert y.tolist() == [41] * 32
    assert not run.findings
