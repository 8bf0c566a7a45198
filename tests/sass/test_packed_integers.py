"""Instructions that few kernels have: packed integers, sums of differences, rounding of 16 bits; as the PTX gives."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.cuda.disassembly import disassemble
from softlab.sass import interpret

INTEGERS = {
    "__sad(x[i], y[i], 3)": ("VABSDIFF", "int"),
    "__usad(x[i], y[i], 3)": ("VABSDIFF.U32", "unsigned"),
    "__vabsdiffu4(x[i], y[i])": ("VABSDIFF4.U8", "unsigned"),
    "__vabsdiffs4(x[i], y[i])": ("VABSDIFF4", "unsigned"),
    "__vsadu4(x[i], y[i])": ("VABSDIFF4.U8.ACC", "unsigned"),
    "__dp2a_lo(x[i], y[i], 3)": ("IDP.2A.LO.S16.S8", "int"),
    "__dp2a_hi(x[i], y[i], 3)": ("IDP.2A.HI.S16.S8", "int"),
    "__dp2a_lo(x[i], y[i], 3u)": ("IDP.2A.LO.U16.U8", "unsigned"),
    "__vmaxs2(x[i], y[i])": ("VIMNMX.S16x2", "unsigned"),
    "__vminu2(x[i], y[i])": ("VIMNMX.U16x2", "unsigned"),
    "__vimax_s32_relu(x[i], y[i])": ("VIMNMX.RELU", "int"),
    "__vimin_s32_relu(x[i], y[i])": ("VIMNMX.RELU", "int"),
    "__vimax_s16x2_relu(x[i], y[i])": ("VIMNMX.S16x2.RELU", "unsigned"),
    "__vimin_s16x2_relu(x[i], y[i])": ("VIMNMX.S16x2.RELU", "unsigned"),
}


def _same(source: str, args: tuple[np.ndarray, ...], opcode: str) -> None:
    kernel = softlab.Kernel(source, "k")
    texts = [one.text for one in disassemble(kernel.program, alone=True).kernel.instructions]
    assert any(opcode in text for text in texts), texts
    found = interpret(kernel, 1, 64, args)
    kernel.run(1, 64, args, check=False)
    np.testing.assert_array_equal(found.output(2), args[2])


@pytest.mark.parametrize("expression", INTEGERS)
def test_integers(expression):
    opcode, kind = INTEGERS[expression]
    rng = np.random.default_rng(5)
    x, y = (rng.integers(0, 1 << 32, 64, dtype=np.uint32).view(kind[0] + "4") for _ in range(2))
    x[:4], y[:4] = y[:4], 0
    source = f'extern "C" __global__ void k(const {kind}* x, const {kind}* y, {kind}* out) ' \
             f"{{ int i = threadIdx.x; out[i] = {expression}; }}"  # fmt: skip
    _same(source, (x, y, np.zeros_like(x)), opcode)


@pytest.mark.parametrize("function", ["hceil", "hfloor", "htrunc", "hrint"])
def test_halves_to_whole_numbers(function):
    x = np.linspace(-70, 70, 64).astype(np.float16) * np.float16(0.25)
    source = (
        '#include <cuda_fp16.h>\nextern "C" __global__ void k(const __half* x, const __half* y, __half* out) '
        f"{{ int i = threadIdx.x; out[i] = {function}(x[i]); }}"
    )
    _same(source, (x, x, np.zeros_like(x)), "FRND.F16")
