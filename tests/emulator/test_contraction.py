"""A product and the subtraction that takes it are rounded once, where ptxas makes one instruction of them."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from softlab.cuda.disassembly import DisassemblyError, disassemble
from softlab.emulator.opcodes.special_functions import reciprocal
from softlab.kernel import Kernel
from tests.sampled import each, one_of, turns

#: Body of the kernel, (a, b, c, d) -> exact value of y[0], whether the product is rounded before.
CASES = {
    "a * b - c": ("y[0] = a * b - c;", lambda r, a, b, c, d: a * b - c),
    "c - a * b": ("y[0] = c - a * b;", lambda r, a, b, c, d: c - a * b),
    "two uses, both fused": ("T t = a * b; y[0] = t - c; y[1] = t - d;", lambda r, a, b, c, d: a * b - c),
    "two products": ("y[0] = a * b - c * d;", lambda r, a, b, c, d: a * b - r(c * d)),
    "the product is stored, too": ("T t = a * b; y[0] = t - c; y[1] = t;", lambda r, a, b, c, d: r(a * b) - c),
    "in a loop": ("T t = a * b, s = c; for (int i = 0; i < x[0]; ++i) s = t - s; y[0] = s;",
                  lambda r, a, b, c, d: a * b - c),
    "a factor that a loop changes": ("T s = a; for (int i = 0; i < x[0]; ++i) s = s * b - c; y[0] = s;",
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


@pytest.mark.parametrize(("case", "name", "dtype"), turns(2, CASES, [("float", np.float32), ("double", np.float64)]))
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
    ("y[0] = __fmul_rn(a, b) - c;", ()), ("y[0] = a * b - c;", ("-fmad=false",)),
    ("y[0] = a * b - c;", ("-G",)), ("y[0] = a * b - c;", ("--device-debug",)), ("y[0] = __fsub_rn(a * b, c);", ()),
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
@pytest.mark.parametrize("kind", each(2, ["__half", "__half2", "__nv_bfloat16", "__nv_bfloat162"]))
@pytest.mark.parametrize(
    "options",
    one_of(3, [(), ("-fmad=false",), ("--fmad", "false"), ("-G",)], len),
    ids=["", "fmad=false", "fmad false", "G"],
)
def test_halves(kind: str, expression: str, oracle, options: tuple[str, ...]) -> None:
    """The operators of halves are a multiplication and an addition to NVRTC, one HFMA2 in the machine code.

    The PTX is the same with -fmad=false. Then the assembler leaves them two, as an H100 showed (2026-11-28).
    """
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
    Kernel(source, "k", options=options).run(1, 32, (np.concatenate([a, b, c]), y))
    p, (a, b, c) = a * b, (v.astype(np.float64) for v in (a, b, c))  # exact: a product of halves has 22 bits
    if options:  # the product is rounded, too
        a, b = p.astype(np.float64), np.float64(1)
    assert y.tolist() == oracle(a, b, c).astype(dtype).tolist()


@pytest.mark.parametrize("compiled", ["none", "all"])
@pytest.mark.parametrize("options", [("-use_fast_math",), ("-prec-div=false",), ("-prec-div=false", "-fmad=false")])
@pytest.mark.parametrize(
    ("expression", "signs"), [("a / b + c", (1, 1)), ("a / b - c", (1, -1)), ("c - a / b", (-1, 1))]
)
def test_quotients(expression: str, signs: tuple[int, int], options: tuple[str, ...], compiled: str) -> None:
    """A division that is no exact one is a product with the reciprocal, so that a sum behind it is rounded with it.

    An H100 has the same bits (2026-11-28, kernels k2422 and k3285 of ``tests.fuzz.differential``).
    """
    source = f"""extern "C" __global__ void k(const float* x, float* y, float* r) {{
      const int t = threadIdx.x; const float a = x[t], b = x[64 + t], c = x[128 + t]; y[t] = {expression};
      asm("rcp.approx.f32 %0, %1;" : "=f"(r[t]) : "f"(b)); }}"""
    x = np.random.default_rng(3).standard_normal(192).astype(np.float32)
    y, inverse = np.zeros((2, 64), np.float32)
    Kernel(source, "k", options=options).run(1, 64, (x, y, inverse), compiled=compiled)  # type: ignore[arg-type]
    for a, b, c, got in zip(x[:64], inverse, x[128:], y, strict=True):
        product = Fraction(float(a)) * Fraction(float(b))
        if "-fmad=false" in options:
            product = Fraction(float(a * b))
        exact = signs[0] * product + signs[1] * Fraction(float(c))
        assert got == np.float32(float(exact)) or float(exact) == 0


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


#: PTX around a product, and whether ptxas fuses it: instructions between the product of %f1 and %f2 (or the number 3)
#: and the subtraction of %f3 from it. %f4 is the product, %f6 what is subtracted from.
BETWEEN = {
    "nothing": ("", True),
    "a division": ("div.rn.f32 %f7, %f3, %f2; st.global.f32 [%rd1+4], %f7;", False),
    "a division by approximation": ("div.approx.f32 %f7, %f3, %f2; st.global.f32 [%rd1+4], %f7;", True),
    "a root": ("sqrt.rn.f32 %f7, %f2; st.global.f32 [%rd1+4], %f7;", False),
    "a double's reciprocal": ("rcp.rn.f64 %d1, %d1; st.global.f64 [%rd1+8], %d1;", False),
    "an unsigned division": ("div.u32 %r1, %r1, %r2; st.global.u32 [%rd1+4], %r1;", True),
    "a signed division": ("div.s32 %r1, %r1, %r2; st.global.u32 [%rd1+4], %r1;", False),
    "a remainder of 64 bits": ("rem.u64 %rd2, %rd2, %rd3; st.global.u64 [%rd1+8], %rd2;", False),
    "a fence": ("membar.gl;", False),
    "a barrier": ("bar.sync 0;", True),
    "a branch": ("@%p1 bra $L1; st.global.u32 [%rd1+4], %r1; $L1:", False),
    "a label that nobody goes to": ("$L1:", True),
    "a guarded store": ("@%p1 st.global.u32 [%rd1+4], %r1;", False),
    "a guarded sum": ("@%p1 add.u32 %r1, %r1, %r2; st.global.u32 [%rd1+4], %r1;", True),
}
FACTORS = {"two registers": "%f1, %f2", "a number": "%f1, 0f3F800001"}
FUSED_PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 y)
{{
  .reg .f32 %f<9>; .reg .f64 %d<3>; .reg .b64 %rd<5>; .reg .b32 %r<5>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [y];
  ld.global.f32 %f1, [%rd1+32]; ld.global.f32 %f2, [%rd1+36]; ld.global.f32 %f3, [%rd1+40];
  ld.global.u32 %r1, [%rd1+44]; ld.global.u32 %r2, [%rd1+48]; ld.global.u64 %rd2, [%rd1+56];
  ld.global.u64 %rd3, [%rd1+64]; ld.global.f64 %d1, [%rd1+72]; setp.gt.u32 %p1, %r1, 7;
  {text}
  st.global.f32 [%rd1], %f6;
  ret;
}}
"""
#: A product of two floats that is rounded: 1 - 2^-46.
LESS, MORE = np.float32(1 - 2**-23), np.float32(1 + 2**-23)


def result_of(text: str, first: np.float32, second: np.float32, third: np.float32) -> np.float32:
    y = np.zeros(20, np.float32)
    y[8:11] = first, second, third
    y[11:].view(np.uint32)[:] = 3
    Kernel.from_ptx(FUSED_PTX.format(text=text), "k").run(1, 1, (y,), record=False)
    return y[0]


@pytest.mark.parametrize(("between", "factors"), turns(2, BETWEEN, FACTORS))
def test_products_are_fused_within_a_basic_block(between: str, factors: str) -> None:
    """As in the machine code of ptxas 12.9 and 13.0: a product with a number in it is fused everywhere."""
    instructions, fused = BETWEEN[between]
    text = f"mul.f32 %f4, {FACTORS[factors]}; {instructions} sub.f32 %f6, %f4, %f3;"
    fused = fused or factors == "a number"
    assert result_of(text, LESS, MORE, np.float32(1)) == (-(2.0**-46) if fused else 0)


@pytest.mark.parametrize(("text", "expected"), [
    ("neg.f32 %f5, %f4; add.f32 %f6, %f5, %f3;", 2.0**-46),
    ("neg.f32 %f5, %f4; add.f32 %f6, %f3, %f5;", 2.0**-46),
    ("neg.f32 %f5, %f4; sub.f32 %f6, %f3, %f5;", 2.0),
    ("neg.f32 %f5, %f4; sub.f32 %f6, %f5, %f3;", -2.0),
    ("neg.f32 %f5, %f4; neg.f32 %f7, %f5; sub.f32 %f6, %f7, %f3;", -(2.0**-46)),
    ("neg.f32 %f5, %f4; add.f32 %f6, %f5, %f3; st.global.f32 [%rd1+4], %f5;", 0.0),
    ("neg.f32 %f5, %f4; div.rn.f32 %f8, %f3, %f2; st.global.f32 [%rd1+4], %f8; add.f32 %f6, %f5, %f3;", 0.0),
    ("neg.f32 %f5, %f4; sub.f32 %f7, %f4, %f3; st.global.f32 [%rd1+4], %f7; add.f32 %f6, %f5, %f3;", 2.0**-46),
    ("abs.f32 %f5, %f4; sub.f32 %f6, %f5, %f3;", 0.0),
])  # fmt: skip
def test_a_product_with_the_other_sign(text: str, expected: float) -> None:
    assert result_of(f"mul.f32 %f4, %f1, %f2; {text}", LESS, MORE, np.float32(1)) == expected


@pytest.mark.parametrize(("text", "scaled"), [
    ("mul.f32 %f6, %f4, 0f3F000000;", 0.5), ("mul.f32 %f6, 0f3E000000, %f4;", 0.125),
    ("mul.rn.f32 %f6, %f4, 0f3E800000;", 0.25),
    ("div.rn.f32 %f8, %f3, %f2; st.global.f32 [%rd1+4], %f8; mul.f32 %f6, %f4, 0f3F000000;", 0.5),
    ("mul.f32 %f6, %f4, 0f3D800000;", None), ("mul.f32 %f6, %f4, 0fBF000000;", None), ("mul.f32 %f6, %f4, %f3;", None),
    ("mul.f32 %f6, %f4, 0f3F000000; st.global.f32 [%rd1+4], %f4;", None),
])  # fmt: skip
def test_a_product_is_scaled_before_it_is_rounded(text: str, scaled: float | None) -> None:
    """As FMUL.D2 does: 6 * 2^126 is too large for a float, and a half of it is not."""
    got = result_of(f"mul.f32 %f4, %f1, %f2; {text}", np.float32(2.0**126), np.float32(6), np.float32(0.5))
    assert abs(got) == (np.inf if scaled is None else 6 * 2.0**126 * scaled)


def test_a_scaled_product_that_is_subtracted_from_is_fused_instead() -> None:
    text = "mul.f32 %f4, %f1, %f2; mul.f32 %f5, %f4, 0f3F000000; sub.f32 %f6, %f5, %f3;"
    assert result_of(text, LESS, MORE, np.float32(0.5)) == 0


@pytest.mark.parametrize(
    ("form", "compiled"),
    turns(2, ["div.approx.f32", "div.full.f32", "div.approx.ftz.f32", "div.full.ftz.f32"], ["none", "all"]),
)
def test_a_quotient_by_a_number(form: str, compiled: str) -> None:
    """The assembler multiplies by the rounded reciprocal, an H100 too (k13962 of ``tests.fuzz.differential``).

    That of a register is the special function unit's, and for these divisors it is another one.
    """
    numbers = (1 + np.random.default_rng(5).random(400)).astype(np.float32)
    numbers = np.append(numbers[reciprocal(numbers) != 1 / numbers][:6], np.float32(2.0**126))
    assert len(numbers) == 7
    for number, scale in [(number, np.float32(scale)) for number in numbers for scale in (1, 1.5)]:
        text = f"{form} %f6, %f1, 0f{number.view(np.uint32):08X}; {form} %f7, %f1, %f2; st.global.f32 [%rd1+4], %f7;"
        y = np.zeros(20, np.float32)
        y[8:10] = scale, number
        Kernel.from_ptx(FUSED_PTX.format(text=text), "k").run(1, 1, (y,), compiled=compiled)  # type: ignore[arg-type]
        assert y[0] == scale * (np.float32(1) / number)
        assert scale != 1 or (y[1] == y[0]) == (number == 2.0**126)
        held = f"mov.f32 %f8, 0f{number.view(np.uint32):08X}; {form} %f6, %f1, %f8;"
        assert result_of(held, scale, LESS, LESS) == y[0]
    sums = f"div.full.f32 %f4, %f1, 0f{numbers[0].view(np.uint32):08X}; sub.f32 %f6, %f4, %f3;"
    third = np.float32(1.25) / numbers[0]
    exact = Fraction(1.25) * Fraction(float(np.float32(1) / numbers[0])) - Fraction(float(third))
    assert result_of(sums, np.float32(1.25), LESS, third) == np.float32(float(exact))


@pytest.mark.parametrize(
    ("later", "found"),
    [("mul.f32 %f3, %f1, %f1", 9), ("mul.f32 %f3, %f1, 0f40000000", 6), ("mul.f32 %f3, %f1, 0f40400000", 9),
     ("sub.f32 %f3, %f1, 0f3F800000", 2), ("add.f32 %f3, %f3, %f1", 21), ("neg.f32 %f3, %f3", -18)],
)  # fmt: skip
def test_a_register_of_a_scaled_product_may_be_written_again(later: str, found: float) -> None:
    """What writes it later is an instruction of its own."""
    ptx = f"""
.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y) {{
  .reg .b64 %d<3>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  ld.global.f32 %f1, [%d1];
  mul.f32 %f2, %f1, %f1;
  mul.f32 %f3, %f2, 0f40000000;
  st.global.f32 [%d2], %f3;
  {later};
  st.global.f32 [%d2+4], %f3;
  ret;
}}
"""
    x, y = np.full(1, 3, np.float32), np.zeros(2, np.float32)
    Kernel.from_ptx(ptx, "k").run(1, 1, (x, y), record=False)
    assert y.tolist() == [18, found]
