"""Arithmetic of two numbers of 16 bits: its compiled form gives the bits of NumPy's, and both those of the PTX."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import softlab
from softlab.cuda.disassembly import disassemble
from softlab.emulator.machine.native import available, compiling
from softlab.sass import interpret, registry
from softlab.sass.decode import Instruction, Operand
from softlab.sass.form import PAIRS, Form, Slots, fresh_registers
from softlab.sass.segments import PureStep, Segment

#: Of float16: zeros, subnormals, the least normal, one and its neighbours, ties, the largest, infinities, NaN.
_F16 = (0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x8400, 0x3BFF, 0x3C00, 0xBC01, 0x3555, 0x6800, 0x7BFF, 0xFBFF,
        0x7C00, 0xFC00, 0x7E00, 0xFD01)  # fmt: skip
_BF16 = (0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x0080, 0x8080, 0x3F7F, 0x3F80, 0xBF81, 0x3EAA, 0x4B80, 0x7F7F, 0xFF7F,
         0x7F80, 0xFF80, 0x7FC0, 0xFF81)  # fmt: skip
_MODIFIERS = {
    "HADD2": ((), ("FTZ",), ("SAT",), ("FTZ", "SAT"), ("F32",), ("BF16_V2",)),
    "HMUL2": ((), ("FTZ",), ("SAT",), ("RELU",), ("BF16_V2",), ("BF16_V2", "RELU")),
    "HFMA2": ((), ("FTZ",), ("SAT",), ("MMA", "RELU"), ("BF16_V2",), ("MMA", "BF16_V2", "RELU")),
    "HMNMX2": ((), ("FTZ",), ("NAN",), ("BF16_V2",), ("BF16_V2", "NAN")),
    "HSETP2": tuple((name, "AND", *more) for name in ("LT", "EQ", "NEU", "NUM", "NAN", "GEU")
                    for more in ((), ("H_AND",), ("BF16_V2",))),
    "HSET2": (("BF", "GT", "AND"), ("LE", "AND"), ("BF", "BF16_V2", "NE", "AND"), ("FTZ", "GTU", "AND")),
    "F2FP": (("F16", "F32", "PACK_AB"), ("BF16", "F32", "PACK_AB"), ("F16", "F32", "PACK_AB", "RELU")),
}  # fmt: skip
_TRUE = Operand("P", 7)
_SUFFIXES = ((), (), ()), (("H0_H0",), (), ("H1_H1",)), (("H1_H1",), ("H0_H0",), ())


def _values(special: tuple[int, ...], count: int) -> list[np.ndarray]:
    """Registers, (n, 32): all pairs or triples of special values, any bits, and numbers near each other."""
    random = np.random.default_rng(count)
    some = special if count < 3 else special[:12] + special[-4:]
    pairs = np.array(list(product(some, repeat=count)), np.uint32).T
    other = random.permuted(pairs, axis=1)
    near = random.integers(0x3B00, 0x4000, (2, count, 4096)).astype(np.uint32)
    small = random.integers(0, 0x0800, (2, count, 4096)).astype(np.uint32)
    any_bits = random.integers(0, 1 << 32, (count, 8192), dtype=np.uint64).astype(np.uint32)
    parts = (pairs | other << 16, near[0] | near[1] << 16, small[0] | small[1] << 16, any_bits)
    found = np.concatenate(parts, axis=1)
    return list(found[:, : found.shape[1] // 32 * 32].reshape(count, -1, 32))


def _instruction(opcode: str, modifiers: tuple[str, ...], way: int) -> Instruction:
    count = 3 if opcode == "HFMA2" else 2
    suffixes = _SUFFIXES[way] if opcode != "F2FP" else _SUFFIXES[0]
    sources = [
        Operand("R", 1 + k, suffixes=suffixes[k], negated=(way + k) % 2 == 1, absolute=(way + k) % 3 == 2)
        for k in range(count)
    ]
    if opcode == "HSETP2":
        operands = [Operand("P", 0), Operand("P", 1), *sources, _TRUE]
    elif opcode in ("HMNMX2", "HSET2"):
        operands = [Operand("R", 0), *sources, Operand("P", 7, inverted=opcode == "HMNMX2" and way == 1)]
    else:
        operands = [Operand("R", 0), *sources]
    return Instruction(0, opcode, modifiers, tuple(operands), None, (), None, None)  # type: ignore[arg-type]


def _results(instruction: Instruction, values: list[np.ndarray], choice: str) -> tuple[list[np.ndarray], bool]:
    """What an instruction leaves in the first register and the first two predicates, and whether it can be compiled
    together with others."""
    with compiling(choice), np.errstate(all="ignore"):
        form, registers = Form(instruction, Slots()), [*fresh_registers(), {}, None]
        registers[1 : 1 + len(values)] = values
        opcode = registry.find(instruction.opcode)
        assert opcode is not None
        step = opcode.function(form)
        for _ in range(2):  # the first one compiles it
            registers[PAIRS] = {}
            step(registers)
        pure = PureStep(0, step, None, frozenset(form.reads), frozenset(form.writes), ())
        refused: list[int] = []
        segment = Segment([pure], Slots(), refused.append)
        segment.take((3,) * len(segment.inputs), 0.0, registers, "all")
    return [np.broadcast_to(registers[k], values[0].shape) for k in (0, 320, 321)], segment.usable


@pytest.mark.skipif(not available(), reason="needs llvmlite")
@pytest.mark.parametrize("way", range(len(_SUFFIXES)))
@pytest.mark.parametrize(("opcode", "modifiers"), [(one, more) for one in _MODIFIERS for more in _MODIFIERS[one]])
def test_the_compiled_form_gives_the_bits_of_numpy(opcode, modifiers, way):
    instruction = _instruction(opcode, modifiers, way)
    values = _values(_BF16 if {"BF16_V2", "BF16"} & set(modifiers) else _F16, 3 if opcode == "HFMA2" else 2)
    wanted, _ = _results(instruction, values, "none")
    found, usable = _results(instruction, values, "all")
    assert usable
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


#: Expression -> one of these is in the text of an instruction. Sums and products may become fused operations.
_EXPRESSIONS = {
    "x + y": ("HADD2", "HFMA2"), "x - y": ("HADD2", "HFMA2"), "x * y": ("HMUL2", "HFMA2"),
    "__hfma2(x, y, z)": ("HFMA2",), "__hfma2_relu(x, y, z)": ("RELU",), "__hmul2_sat(x, y)": ("SAT", "HMNMX2"),
    "__hmax2(x, y)": ("HMNMX2",), "__hmin2_nan(x, y)": ("HMNMX2.NAN", "HMNMX2.BF16_V2.NAN"), "__hgt2(x, y)": ("HSET2",),
    "__hmul2(x, __float2half2_rn(1.5f))": ("HMUL2", "HFMA2"), "__habs2(x) + __hneg2(y)": ("HADD2", "HFMA2"),
    "__floats2half2_rn(__low2float(x) * 3, __high2float(y) + __low2float(z))": ("F2FP",),
    "(x.x > y.y ? x : y)": ("HSETP2",),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["half", "bfloat16"])
@pytest.mark.parametrize("expression", _EXPRESSIONS)
def test_results_are_those_of_the_ptx(expression, kind):
    """Of 1024 lanes, half of them with special values, compiled and not."""
    pair, header = ("__half2", "cuda_fp16.h") if kind == "half" else ("__nv_bfloat162", "cuda_bf16.h")
    texts = _EXPRESSIONS[expression]
    expression = expression if kind == "half" else expression.replace("half2", "bfloat162")
    source = f"""#include <{header}>
extern "C" __global__ void k(const {pair}* a, const {pair}* b, const {pair}* c, {pair}* out) {{
  int i = threadIdx.x;
  {pair} x = a[i], y = b[i], z = c[i];
  out[i] = {expression};
}}"""
    special = np.array(_F16 if kind == "half" else _BF16, np.uint16)
    rng = np.random.default_rng(3)
    args = [np.where(rng.random(2048) < 0.5, rng.choice(special, 2048), rng.integers(0, 1 << 16, 2048)) for _ in "abc"]
    args = [one.astype(np.uint16).view(np.float16) if kind == "half" else one.astype(np.uint16) for one in args]
    kernel = softlab.Kernel(source, "k")
    code = [one.text for one in disassemble(kernel.program, alone=True).kernel.instructions]
    assert any(text in one for text in texts for one in code)
    given = [*args, np.zeros_like(args[0])]
    expected = [one.copy() for one in given]
    kernel.run(1, 1024, expected, check=False)
    for choice in ("none", "all"):
        with compiling(choice):
            found = interpret(kernel, 1, 1024, given)
        np.testing.assert_array_equal(found.output(3).view(np.uint16), expected[3].view(np.uint16))
