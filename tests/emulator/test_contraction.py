"""A product and the subtraction that takes it are rounded once, where ptxas makes one instruction of them."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from softlab.cuda.disassembly import DisassemblyError, disassemble
from softlab.kernel import Kernel

#: Body of the kernel, (a, b, c, d) -> exact value of y[0], whether the product is rounded before.
CASES = {
    "a * b - c": ("y[0] = a * b - c;", lambda r, a, b, c, d: a * b - c),
    "c - a * b": ("y[0] = c - a * b;", lambda r, a, b, c, d: c - a * b),
    "two uses, both fused": ("T t = a * b; y[0] = t - c; y[1] = t - d;", lambda r, a, b, c, d: a * b - c),
    "two products": ("y[0] = a * b - c * d;", lambda r, a, b, c, d: a * b - r(c * d)),
    "the product is stored, too": ("T t = a * b; y[0] = t - c; y[1] = t;", lambda r, a, b, c, d: r(a * b) - c),
    "in a loop": ("T t = a * b, s = c; for (int i = 0; i < x[0]; ++i) s = t - s; y[0] = s;",
                  lambda r, a, b, c, d: a * b - c),
}  # fmt: skip


def run(source: str, name: str, dtype: type, options: tuple[str, ...] = ()) -> tuple[list, Kernel]:
    text = f'using T = {name}; extern "C" __global__ void k(T* x, T* y, T a, T b, T c, T d) {{ {source} }}'
    kernel = Kernel(text, "k", options=options)
    random = np.random.default_rng(len(source))
    found = []
    for _ in range(20):
        a, b = (dtype(v) for v in random.standard_normal(2))
        c = dtype(a * b * dtype(1 + random.standard_normal() / 2**10))
        d = dtype(random.standard_normal())
        y = np.zeros(2, dtype)
        kernel.run(1, 1, (np.ones(1, dtype), y, a, b, c, d), record=False)
        found.append((y[0], *(Fraction(float(v)) for v in (a, b, c, d))))
    return found, kernel


@pytest.mark.parametrize(("name", "dtype"), [("float", np.float32), ("double", np.float64)])
@pytest.mark.parametrize("case", CASES)
def test_rounded_as_ptxas_rounds(case: str, name: str, dtype: type) -> None:
    source, oracle = CASES[case]

    def rounded(exact: Fraction) -> Fraction:
        # A product of two floats is exact in double, so that this rounds once for both.
        return Fraction(float(dtype(float(exact))))

    found, kernel = run(source, name, dtype)
    for got, *values in found:
        assert got == dtype(float(oracle(rounded, *values)))
    try:
        code = disassemble(kernel.program)
    except DisassemblyError:
        return
    prefix = "F" if name == "float" else "D"
    names = [i.text.split()[0] for f in code.functions for i in f.instructions if i.text.startswith(prefix)]
    fused = case != "the product is stored, too"
    assert (f"{prefix}FMA" in names) == fused


@pytest.mark.parametrize(("source", "options"), [
    ("y[0] = __fmul_rn(a, b) - c;", ()), ("y[0] = a * b - c;", ("-fmad=false",)), ("y[0] = __fsub_rn(a * b, c);", ()),
])  # fmt: skip
def test_not_where_the_source_forbids_it(source: str, options: tuple[str, ...]) -> None:
    for got, a, b, c, _ in run(source, "float", np.float32, options)[0]:
        product = Fraction(float(np.float32(float(a * b))))
        assert got == np.float32(float(product - c))


@pytest.mark.parametrize(("expression", "oracle"), [
    ("a * b + c", lambda a, b, c: a * b + c),
    ("a * b - c", lambda a, b, c: a * b - c),
    ("c - a * b", lambda a, b, c: c - a * b),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["__half", "__half2", "__nv_bfloat16", "__nv_bfloat162"])
def test_halves(kind: str, expression: str, oracle) -> None:
    """The operators of halves are a multiplication and an addition to NVRTC, one HFMA2 in the machine code."""
    source = f"""#include <cuda_fp16.h>
    #include <cuda_bf16.h>
    extern "C" __global__ void k(const {kind}* x, {kind}* y) {{
      const int t = threadIdx.x; const {kind} a = x[t], b = x[32 + t], c = x[64 + t]; y[t] = {expression}; }}"""
    count = 64 if kind.endswith("2") else 32
    dtype = ml_dtypes.bfloat16 if "bf" in kind else np.float16
    random = np.random.default_rng(count)
    a, b = (random.standard_normal(count).astype(dtype) for _ in range(2))
    c = (a * b * (1 + random.standard_normal(count) / 256)).astype(dtype)
    y = np.zeros(count, dtype)
    Kernel(source, "k").run(1, 32, (np.concatenate([a, b, c]), y))
    a, b, c = (v.astype(np.float64) for v in (a, b, c))  # exact: a product of halves has 22 bits
    assert y.tolist() == oracle(a, b, c).astype(dtype).tolist()


#: The product takes %f1 before it changes; what is subtracted from it is 1 less than it, but for the rounding.
CHANGED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 y, .param .f32 a, .param .f32 b, .param .f32 c)
{
  .reg .f32 %f<6>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [y];
  ld.param.f32 %f1, [a];
  ld.param.f32 %f2, [b];
  ld.param.f32 %f3, [c];
  mul.f32 %f4, %f1, %f2;
  mov.f32 %f1, 0f00000000;
  sub.f32 %f5, %f4, %f3;
  st.global.f32 [%rd1], %f5;
  ret;
}
"""


@pytest.mark.parametrize("between", ["mov.f32 %f1, 0f00000000;", ""])
def test_a_factor_that_changes_before_the_subtraction(between: str) -> None:
    """The one instruction would stand where the subtraction is, and multiply what the register has then."""
    a, b = np.float32(1 + 2**-23), np.float32(1 - 2**-23)
    y = np.zeros(1, np.float32)
    text = CHANGED.replace("mov.f32 %f1, 0f00000000;", between)
    Kernel.from_ptx(text, "k").run(1, 1, (y, a, b, np.float32(1)), record=False)
    assert y[0] == (0 if between else -(2.0**-46))
