"""What instructions that access memory say of themselves: the form of each, and the facts that follow from its name."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine.lowering import lowered
from softlab.emulator.opcodes.effects import Effect
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
SIZES = (8, 16, 32, 64)
REGISTERS = {8: "%s", 16: "%s", 32: "%r", 64: "%d"}
DECLARED = ".reg .b16 %s<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b128 %q<9>; .reg .pred %p<9>;"
SPACES = {"": "generic", ".global": "global", ".shared": "shared", ".shared::cta": "shared", ".local": "local",
          ".shared::cluster": "cluster"}  # fmt: skip
KINDS = {"u": "u", "b": "u", "s": "i", "f": "f"}


def effect(text: str) -> Any:
    """What an instruction does, as the machine gets it."""
    image = link(parse(f"{HEAD}.visible .entry k()\n{{\n{DECLARED}\nmov.u32 %r1, 0;\n{text}\n}}\n"), "k")
    found = lowered(image.instructions[1], 1, image)
    assert isinstance(found, Effect)
    assert (found.site.index, found.site.instruction) == (1, image.instructions[1])
    return found


def facts(found: Any) -> tuple:
    site = found.site
    return site.space, site.dtype, site.elements, site.width, site.store, site.operation


def numbers(bits: int, first: int, count: int) -> str:
    names = [f"{REGISTERS[bits]}{number}" for number in range(first, first + count)]
    return names[0] if count == 1 else f"{{{', '.join(names)}}}"


@pytest.mark.parametrize("opcode", ["ld", "st"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_loads_and_stores(opcode: str, count: int) -> None:
    for kind, bits, space in product("ubs", SIZES, SPACES):
        if bits * count > 128:
            continue
        vector = f".v{count}" if count > 1 else ""
        value, address = numbers(bits, 2, count), "[%d1+8]" if "shared" not in space else "[%r1+8]"
        operands = f"{value}, {address}" if opcode == "ld" else f"{address}, {value}"
        found = effect(f"{opcode}{space}{vector}.{kind}{bits} {operands};")
        dtype = np.dtype(f"{KINDS[kind]}{bits // 8}")
        assert facts(found) == (SPACES[space], dtype, count, count * bits // 8, opcode == "st", "")
        assert found.site.alignment == count * bits // 8
        types = [one for _, one in found.sources]
        assert types == ["address", *([f"{kind}{bits}"] * count if opcode == "st" else [])]
        assert found.results == ((f"{kind}{bits}",) * count if opcode == "ld" else ())
        assert len(found.destinations) == (opcode == "ld")


ATOMICS = {
    **dict.fromkeys(("and", "or", "xor", "exch"), ("b32", "b64")), "cas": ("b16", "b32", "b64"),
    "add": ("u32", "s32", "u64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"), "inc": ("u32",), "dec": ("u32",),
    "min": ("u32", "s32", "u64", "s64"), "max": ("u32", "s32", "u64", "s64"),
}  # fmt: skip


@pytest.mark.parametrize("opcode", ["atom", "red"])
@pytest.mark.parametrize("name", ATOMICS)
def test_atomics(opcode: str, name: str) -> None:
    """Each of them writes, also where nothing changes."""
    if opcode == "red" and name in ("exch", "cas"):
        return
    for kind, space, order in product(ATOMICS[name], ("", ".global", ".shared", ".shared::cluster"),
                                      ("", ".relaxed.gpu", ".acq_rel.cta")):  # fmt: skip
        bits = 32 if kind.endswith("x2") else int(kind.strip("usbf"))
        values = [f"{REGISTERS[bits]}{number}" for number in range(3, 5 if name == "cas" else 4)]
        result = [f"{REGISTERS[bits]}2"] * (opcode == "atom")
        address = "[%d1]" if "shared" not in space else "[%r1]"
        flush = ".noftz" if kind in ("f16", "bf16", "f16x2", "bf16x2") else ""
        found = effect(f"{opcode}{order}{space}.{name}{flush}.{kind} {', '.join([*result, address, *values])};")
        assert facts(found)[2:] == (1, bits // 8, True, f"{name}.{kind}")
        assert found.site.space == SPACES[space]
        assert [one for _, one in found.sources] == ["address", *[kind] * len(values)]
        assert found.results == (kind,) * len(result)


@pytest.mark.parametrize(("name", "values"), [("exch", 1), ("cas", 2)])
def test_atomics_of_128_bits(name: str, values: int) -> None:
    """Each value is two registers of 64 bits."""
    body = "".join(f"mov.b128 %q{k}, {{%d{k}, %d{k + 1}}}; " for k in range(values))
    operands = ", ".join(f"%q{k}" for k in range(values))
    for space in ("", ".global", ".shared"):
        address = "[%r1]" if space == ".shared" else "[%d7]"
        text = f"{body}atom{space}.{name}.b128 %q5, {address}, {operands}; mov.b128 {{%d5, %d6}}, %q5;"
        image = link(parse(f"{HEAD}.visible .entry k()\n{{\n{DECLARED}\n{text}\n}}\n"), "k")
        index = next(n for n, i in enumerate(image.instructions) if i.opcode == "atom")
        found: Any = lowered(image.instructions[index], index, image)
        assert facts(found) == (SPACES[space], np.dtype("c16"), 1, 16, True, f"{name}.b128")
        assert [one for _, one in found.sources] == ["address", *["b64"] * 2 * values]
        assert found.results == ("b64", "b64")
