"""Scalar video instructions on parts of registers, compiled by NVRTC, against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel

MEANING = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
    "vshl": lambda a, b: a << b,
    "vshr": lambda a, b: a >> b,
}
PARTS = {"": (0, 32), **{f".b{k}": (8 * k, 8) for k in range(4)}, ".h0": (0, 16), ".h1": (16, 16)}


def taken(word: int, part: str, kind: str) -> int:
    low, bits = PARTS[part]
    value = word >> low & (1 << bits) - 1
    return value - (1 << bits) if kind == "s32" and value >> bits - 1 else value


def clamped(value: int, kind: str, bits: int) -> int:
    least = -(1 << bits - 1) if kind == "s32" else 0
    return min(max(value, least), least + (1 << bits) - 1)


def forms(count: int) -> list[tuple]:
    """(opcode, three types, .sat, second operation, part of d, a and b) at random."""
    rng = np.random.default_rng(2)
    found = []
    for number in range(count):
        name = list(MEANING)[number % len(MEANING)]
        types = [str(rng.choice(["s32", "u32"])) for _ in range(3)]
        shape = rng.integers(3)
        second = str(rng.choice(["add", "min", "max"])) if shape == 1 else ""
        into = str(rng.choice(list(PARTS)[1:])) if shape == 2 else ""
        parts = [str(rng.choice(list(PARTS))) for _ in range(2)]
        if name in ("vshl", "vshr"):
            types[2] = "u32"
        found.append((name, types, bool(rng.integers(2)), second, into, parts))
    return found


def text(form: tuple) -> str:
    name, types, sat, second, into, (a, b) = form
    mode = ".wrap" if name in ("vshl", "vshr") else ""
    more = (".sat" if sat else "") + mode + (f".{second}" if second else "")
    third = ", %3" if second or into else ""
    return f"{name}.{'.'.join(types)}{more} %0{into}, %1{a}, %2{b}{third};"


def expected(form: tuple, a: int, b: int, c: int) -> int:
    name, (kind, a_type, b_type), sat, second, into, (a_part, b_part) = form
    x, y = taken(a, a_part, a_type), taken(b, b_part, b_type)
    value = MEANING[name](x, y % 32 if name in ("vshl", "vshr") else y)
    low, bits = PARTS[into]
    if sat:
        value = clamped(value, kind, bits)
    if second:
        third = taken(c, "", kind)
        value = {"add": value + third, "min": min(value, third), "max": max(value, third)}[second]
    if into:
        mask = (1 << bits) - 1 << low
        value = c & ~mask | value << low & mask
    return value & 0xFFFFFFFF


@pytest.mark.parametrize("compiled", ["none", "all"])
def test_scalar_forms(compiled):
    chosen = forms(63)
    lines = "\n".join(
        f'asm("{text(form)}" : "=r"(d) : "r"(a), "r"(b), "r"(c)); y[{n} * 32 + threadIdx.x] = d;'
        for n, form in enumerate(chosen)
    )
    source = f"""extern "C" __global__ void k(const unsigned* x, unsigned* y) {{
      unsigned a = x[threadIdx.x], b = x[32 + threadIdx.x], c = x[64 + threadIdx.x], d; {lines} }}"""
    x = np.random.default_rng(3).integers(0, 1 << 32, (3, 32), dtype=np.uint32)
    x[:, :4] = [[0, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFF]] * 3
    y = np.zeros((len(chosen), 32), np.uint32)
    Kernel(source, "k").run(1, 32, (x, y), compiled=compiled, record=False)
    for form, row in zip(chosen, y, strict=True):
        assert row.tolist() == [expected(form, *map(int, words)) for words in x.T], text(form)


def test_vmad():
    source = """extern "C" __global__ void k(const unsigned* x, unsigned* y) {
      unsigned a = x[threadIdx.x], b = x[32 + threadIdx.x], c = x[64 + threadIdx.x], d, e, f;
      asm("vmad.s32.s32.s32 %0, %1.h0, -%2.b3, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
      asm("vmad.u32.u32.u32.po %0, %1.h1, %2.b0, %3;" : "=r"(e) : "r"(a), "r"(b), "r"(c));
      asm("vmad.s32.u32.s32.sat.shr7 %0, %1.h1, %2.h0, -%3;" : "=r"(f) : "r"(a), "r"(b), "r"(c));
      y[threadIdx.x] = d; y[32 + threadIdx.x] = e; y[64 + threadIdx.x] = f; }"""
    x, y = np.random.default_rng(4).integers(0, 1 << 32, (3, 32), dtype=np.uint32), np.zeros((3, 32), np.uint32)
    Kernel(source, "k").run(1, 32, (x, y), record=False)
    for (a, b, c), found in zip(x.T.tolist(), y.T.tolist(), strict=True):
        signed = taken(c, "", "s32")
        first = -taken(a, ".h0", "s32") * taken(b, ".b3", "s32") + signed
        second = taken(a, ".h1", "u32") * taken(b, ".b0", "u32") + c + 1
        third = clamped((taken(a, ".h1", "u32") * taken(b, ".h0", "s32") - signed) >> 7, "s32", 32)
        assert found == [value & 0xFFFFFFFF for value in (first, second, third)]
