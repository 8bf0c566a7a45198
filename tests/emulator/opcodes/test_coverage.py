"""What NVRTC makes of the functions that people write: every instruction has a meaning."""

from __future__ import annotations

import pytest

from softlab.cuda.compile import compile_program
from softlab.emulator.opcodes import PURE
from softlab.emulator.ptx import parser

#: Opcodes that the machine owns: memory, control flow, what whole warps and blocks do.
MACHINE = {
    *("ld", "st", "atom", "red", "bra", "brx", "call", "ret", "exit", "trap", "bar", "barrier", "membar", "fence"),
    *("shfl", "vote", "match", "activemask", "redux", "nanosleep"),
}

HEAD = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
"""
FLOAT = """
extern "C" __global__ void k(float* x, int* n) {
  float a = x[0], c = x[1]; int m = n[0]; float s = 0;
  s += expf(a) + exp2f(c) + __expf(a) + exp10f(a) + expm1f(c) + logf(a) + log2f(c) + __logf(a) + log1pf(c);
  s += sinf(a) + cosf(c) + tanf(a) + __sinf(a) + __cosf(c) + tanhf(a) + atan2f(a, c) + erff(a) + sinpif(c);
  s += powf(a, c) + __powf(a, c) + sqrtf(a) + rsqrtf(c) + cbrtf(a) + hypotf(a, c) + fmodf(a, c) + remainderf(a, c);
  s += a / c + __fdividef(a, c) + __frcp_rn(a) + __fsqrt_rz(c) + __fdiv_ru(a, c) + __frsqrt_rn(a);
  s += __fadd_ru(a, c) + __fsub_rz(a, c) + __fmul_rd(a, c) + __fmaf_rz(a, c, s) + fmaf(a, c, s) + __saturatef(a);
  s += fmaxf(a, c) + fminf(a, c) + fabsf(a) + copysignf(a, c) + fdimf(a, c) + nextafterf(a, c) + ldexpf(a, m);
  s += rintf(a) + floorf(c) + ceilf(a) + truncf(c) + roundf(a);
  s += (float)(int)a + (float)(unsigned)c + (float)(long long)a;
  s += isnan(a) ? 1.f : isinf(c) ? 2.f : signbit(a) ? 3.f : 4.f;
  x[m] = s; n[1] = __float2int_rn(a) + __float2int_ru(c) + __float2uint_rd(a) + __float_as_int(c) + ilogbf(a) + (a < c);
}"""
DOUBLE = """
extern "C" __global__ void k(double* x, long long* n, float* f) {
  double a = x[0], c = x[1], s = 0; long long m = n[0];
  s += exp(a) + log(c) + sin(a) + cos(c) + tanh(a) + pow(a, c) + erf(a) + sqrt(c) + rsqrt(a) + a / c + fma(a, c, s);
  s += rint(a) + floor(c) + ceil(a) + trunc(c) + fmin(a, c) + fmax(a, c) + fabs(a) + copysign(a, c) + fmod(a, c);
  s += __dadd_rz(a, c) + __dmul_ru(a, c) + __ddiv_rd(a, c) + __dsqrt_rz(a) + __fma_ru(a, c, s) + __drcp_rn(c);
  s += (double)m + (double)(unsigned long long)m + (double)(int)m + f[0] + (double)__double2float_rz(a);
  x[2] = s; f[1] = (float)a; n[1] = (long long)a + __double2ll_rn(c) + __double_as_longlong(a) + __double2hiint(c);
}"""
INTEGER = """
extern "C" __global__ void k(int* x, unsigned* u, long long* q, short* h, unsigned char* b) {
  int a = x[0], c = x[1], m = x[2]; unsigned w = u[0], v = u[1]; long long l = q[0], g = q[1];
  a += a / c + a % c + a / 7 + a % 10 + (a >> m) + (a << m) + abs(a) + max(a, c) + min(a, c) + a * c + (a & c | ~m ^ a);
  a += __popc(a) + __clz(c) + __ffs(a) + __brev(a) + __mulhi(a, c) + __mul24(a, c) + __sad(a, c, w) + __hadd(a, c);
  a += __byte_perm(a, c, m) + __byte_perm(a, c, 0x5410) + __dp4a(a, c, m) + __dp2a_lo(a, c, m) + __fns(w, v, m);
  w += w / v + w % v + (w >> m) + __umulhi(w, v) + __funnelshift_l(w, v, m) + __funnelshift_rc(w, v, m) + __brev(v);
  w += __vadd2(w, v) + __vmaxs2(w, v) + __vminu2(w, v) + __vsub2(w, v) + __vcmpeq2(w, v);
  w += __vabsdiffu4(w, v) + __vadd4(w, v) + __vsub4(w, v) + __vcmpgtu4(w, v) + __vmaxu4(w, v) + __vavgu4(w, v);
  w += __vabs2(w) + __vneg4(w) + __vseteq4(w, v) + __vabsdiffs2(w, v) + __vsadu4(w, v) + __vaddss2(w, v);
  w += __viaddmax_s32(a, c, m) + __viaddmin_s16x2_relu(w, v, m) + __vimax_s16x2_relu(w, v) + __vimax3_s32(a, c, m);
  l += l / g + l % g + l * g + (l << m) + (l >> m) + __popcll(l) + __clzll(g) + __ffsll(l) + __brevll(g) + llabs(l);
  l += __mul64hi(l, g) + __umul64hi(l, g) + max(l, g) + (l < g);
  h[0] = h[1] + (short)a + (signed char)c; b[0] = b[1] * (unsigned char)w; x[3] = a; u[3] = w; q[3] = l;
}"""
HALF = """
extern "C" __global__ void k(__half* x, __half2* y, float* f, int* n) {
  __half a = x[0], c = x[1], s = x[2]; __half2 p = y[0], q = y[1], r = y[2]; int m = n[0];
  s = s + a * c - a / c + __hfma(a, c, s) + hexp(a) + hexp2(c) + hlog(a) + hlog2(c) + hsin(a) + hcos(c) + hsqrt(a);
  s = s + hrsqrt(a) + hrcp(c) + hfloor(a) + hceil(c) + htrunc(a) + hrint(c) + __habs(a) - __hneg(c);
  s = s + __hmax(a, c) + __hmin(a, c) + __hmax_nan(a, c) + __hadd_sat(a, c) + __hfma_sat(a, c, s) + (a < c ? a : c);
  s = s + __int2half_rn(m) + __ushort2half_rn(m) + __float2half_rz(f[0]) + __ll2half_rn(m) + __short_as_half(m);
  r = r + p * q - __hfma2(p, q, r) + h2exp(p) + h2log2(q) + __hmax2(p, q) + __heq2(p, q) + __hgtu2(p, q) + __habs2(p);
  r = r + __lowhigh2highlow(p) + __float22half2_rn(make_float2(f[0], f[1])) + __halves2half2(a, c) + __hneg2(q);
  n[1] = __half2int_rz(a) + __half2uint_rn(c) + __hisnan(a) + __hbgt2(p, q) + __heq2_mask(p, q) + __half_as_short(s);
#if __CUDA_ARCH__ >= 800
  s = s + __hfma_relu(a, c, s); r = r + __hfma2_relu(p, q, r) + __hcmadd(p, q, r);
#endif
  x[3] = s; y[3] = r; float2 t = __half22float2(p); f[2] = t.x + t.y + __half2float(a);
}"""
BFLOAT = """
extern "C" __global__ void k(__nv_bfloat16* x, __nv_bfloat162* y, float* f, int* n) {
  f[2] = __bfloat162float(x[0]); x[4] = __float2bfloat16(f[0]); x[5] = __float2bfloat16_rz(f[1]);
  y[4] = __float22bfloat162_rn(make_float2(f[0], f[1]));
#if __CUDA_ARCH__ >= 800
  __nv_bfloat16 a = x[0], c = x[1], s = x[2]; __nv_bfloat162 p = y[0], q = y[1], r = y[2]; int m = n[0];
  s = s + a * c - a / c + __hfma(a, c, s) + hexp(a) + hexp2(c) + hlog(a) + hsqrt(c) + hrcp(a) + __habs(a) - __hneg(c);
  s = s + __hmax(a, c) + __hmin_nan(a, c) + __hfma_relu(a, c, s) + hfloor(a) + __int2bfloat16_rn(m) + (a < c ? a : c);
  r = r + p * q - __hfma2(p, q, r) + h2exp(p) + __hmax2(p, q) + __heq2(p, q) + __hltu2(p, q) + __habs2(p) - __hneg2(q);
  n[1] = __bfloat162int_rz(a) + __hisnan(a) + __hbgt2(p, q) + __heq2_mask(p, q) + __bfloat16_as_short(s);
  x[3] = s; y[3] = r;
#endif
}"""
SOURCES = {"float": FLOAT, "double": DOUBLE, "integer": INTEGER, "half": HALF, "bfloat": BFLOAT}


def unknown(ptx: str) -> list[str]:
    """The instructions of a PTX text that are unknown to the pure opcodes and to the machine."""
    found = set()
    for function in parser.parse(ptx).functions.values():
        for instruction in function.instructions or ():
            if instruction.opcode in MACHINE:
                continue
            try:
                PURE.lower(instruction)
            except Exception as error:
                found.add(f"{instruction.text}: {error.__cause__!r}")
    return sorted(found)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
@pytest.mark.parametrize("what", SOURCES)
def test_every_instruction_has_a_meaning(what: str, arch: str) -> None:
    program = compile_program(HEAD + SOURCES[what], "k", arch=arch)
    assert program.ptx.count(";") > 30
    assert unknown(program.ptx) == []


@pytest.mark.parametrize("what", ["float", "half"])
def test_with_fast_math(what: str) -> None:
    program = compile_program(HEAD + SOURCES[what], "k", arch="sm_90", options=("--use_fast_math",))
    assert ".ftz" in program.ptx
    assert unknown(program.ptx) == []
