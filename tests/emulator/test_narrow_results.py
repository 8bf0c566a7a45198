"""Results that are narrower than their registers are extended by their sign or by zeros, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.kernel import Kernel
from tests.sampled import turns

PTX = """
.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {{
  .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<19>; .reg .pred %p;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 8;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  setp.ne.u32 %p, %r1, 5;
  mov.u32 %r2, 77;
  mov.u64 %d4, 77;
{made}
{used}
  st.global.u64 [%d2], %d9;
  ret;
}}
"""
USED = {
    "%r2": "  mul.lo.u32 %r3, %r2, 3; xor.b32 %r3, %r3, 0x12345678; add.u32 %r3, %r3, %r2; mul.wide.u32 %d9, %r3, 7;",
    "%d4": "  mul.lo.u64 %d9, %d4, 3; xor.b64 %d9, %d9, 0x12345678; add.u64 %d9, %d9, %d4; mul.lo.u64 %d9, %d9, 7;",
}
KINDS = {"u8": 8, "s8": -8, "b8": 8, "u16": 16, "s16": -16, "b16": 16, "u32": 32, "s32": -32}


def expected(value: int, register: str) -> int:
    bits = 32 if register == "%r2" else 64
    value %= 2**bits
    three = (value * 3 % 2**bits ^ 0x12345678) + value
    return three % 2**bits * 7 % 2**64


@pytest.mark.parametrize(
    ("kind", "register", "guard", "how"),
    turns(
        2,
        [(kind, register) for kind in KINDS for register in USED if abs(KINDS[kind]) < 32 or register == "%d4"],
        ["", "@%p "],
        ["none", *(["all"] if available() else [])],
    ),
)
def test_a_narrow_value(kind: str, register: str, guard: str, how: str) -> None:
    """It is loaded, or converted from a wider register. A guarded one leaves what was there, in one lane."""
    bits = abs(KINDS[kind])
    made = {"load": f"  {guard}ld.global.{kind} {register}, [%d1];"}
    if kind[0] != "b":
        made["convert"] = f"  ld.global.u64 %d8, [%d1]; {guard}cvt.{kind}.u64 {register}, %d8;"
    x = np.random.default_rng(3).integers(0, 2**64, 32, dtype=np.uint64)
    for name, text in made.items():
        y = np.zeros(32, np.uint64)
        Kernel.from_ptx(PTX.format(made=text, used=USED[register]), "k").run(1, 32, (x, y), compiled=how, record=False)  # type: ignore[arg-type]
        for lane, whole in enumerate(x.tolist()):
            value = whole % 2**bits
            if KINDS[kind] < 0 and value >> bits - 1:
                value -= 2**bits
            value = 77 if guard and lane == 5 else value
            assert y[lane] == expected(value, register), (name, lane)


@pytest.mark.parametrize("how", ["none", *(["all"] if available() else [])])
@pytest.mark.parametrize("ftz", ["", ".ftz"])
@pytest.mark.parametrize("rounding", ["rni", "rzi", "rmi", "rpi"])
def test_integers_of_subnormal_numbers(rounding: str, ftz: str, how: str) -> None:
    """With .ftz they are zeros before they are rounded; the next integer above them is 1 without it."""
    text = f"""
.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {{
  .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .f32 %f<3>;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  ld.global.f32 %f1, [%d1];
  cvt.{rounding}{ftz}.s32.f32 %r2, %f1;
  mul.lo.s32 %r3, %r2, 5;
  add.s32 %r4, %r3, 100;
  xor.b32 %r5, %r4, 3;
  st.global.u32 [%d2], %r5;
  ret;
}}
"""
    x = np.array([1e-40, -1e-40, 0, -0.0, 1.2e-38, -1.2e-38, 2.5, -2.5], np.float32)
    y = np.zeros(8, np.uint32)
    Kernel.from_ptx(text, "k").run(1, 8, (x, y), compiled=how, record=False)  # type: ignore[arg-type]
    least = np.finfo(np.float32).smallest_normal
    whole = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[rounding]
    wanted = [int(whole(0.0 if ftz and abs(v) < least else float(v))) for v in x]
    assert y.tolist() == [(5 * one + 100) ^ 3 for one in wanted]
