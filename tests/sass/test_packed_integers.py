"""Instructions that few kernels have: packed integers, sums of differences, rounding of 16 bits; as the PTX gives."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.cuda.disassembly import disassemble
from softlab.emulator.machine.native import compiling
from softlab.sass import interpret
from tests.sampled import each

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
    "__vimax3_s32_relu(x[i], y[i], x[63 - i])": ("VIMNMX3.RELU", "int"),
    "__vimin3_s32_relu(x[i], y[i], x[63 - i])": ("VIMNMX3.RELU", "int"),
    **{
        f"__v{name}_{kind}x2{relu}(x[i], y[i], x[63 - i])": (
            f"{opcode}.{kind.upper()}x2{relu.replace('_', '.').upper()}", "unsigned"
        )
        for name, opcode in (("imax3", "VIMNMX3"), ("imin3", "VIMNMX3"), ("iaddmax", "VIADDMNMX"),
                             ("iaddmin", "VIADDMNMX"))
        for kind, relu in (("s16", ""), ("s16", "_relu"), ("u16", ""))
    },
    **{
        f"with_which(__v{name}_{kind}x2, x[i], y[i])": (f"VIMNMX.{kind.upper()}x2", "unsigned")
        for name in ("ibmax", "ibmin") for kind in ("s16", "u16")
    },
}  # fmt: skip
#: The result of a function, and which of its halves are those of x.
WITH_WHICH = """template <class F> __device__ unsigned with_which(F f, unsigned x, unsigned y) {
  bool upper, lower;
  unsigned found = f(x, y, &upper, &lower);
  return 4 * found + 2 * upper + lower;
}
"""


def _same(source: str, args: tuple[np.ndarray, ...], opcode: str) -> None:
    kernel = softlab.Kernel(source, "k")
    expected = [one.copy() for one in args]
    kernel.run(1, 64, expected, check=False)
    texts = [one.text for one in disassemble(kernel.program, alone=True).kernel.instructions]
    assert any(opcode in text for text in texts), texts
    for choice in ("none", "all"):
        with compiling(choice):
            found = interpret(kernel, 1, 64, args)
        np.testing.assert_array_equal(found.output(2), expected[2])


@pytest.mark.parametrize("expression", each(3, INTEGERS))
def test_integers(expression):
    opcode, kind = INTEGERS[expression]
    rng = np.random.default_rng(5)
    x, y = (rng.integers(0, 1 << 32, 64, dtype=np.uint32).view(kind[0] + "4") for _ in range(2))
    x[:4], y[:4] = y[:4], 0
    source = f'{WITH_WHICH}extern "C" __global__ void k(const {kind}* x, const {kind}* y, {kind}* out) ' \
             f"{{ int i = threadIdx.x; out[i] = {expression}; }}"  # fmt: skip
    _same(source, (x, y, np.zeros_like(x)), opcode)


@pytest.mark.parametrize("function", each(2, ["hceil", "hfloor", "htrunc", "hrint"]))
def test_halves_to_whole_numbers(function):
    x = np.linspace(-70, 70, 64).astype(np.float16) * np.float16(0.25)
    source = (
        '#include <cuda_fp16.h>\nextern "C" __global__ void k(const __half* x, const __half* y, __half* out) '
        f"{{ int i = threadIdx.x; out[i] = {function}(x[i]); }}"
    )
    _same(source, (x, x, np.zeros_like(x)), "FRND.F16")
