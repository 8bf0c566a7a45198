"""What the source of every random kernel begins with: names for its expressions and statements."""

from __future__ import annotations

#: CUDA C++.
PRELUDE = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_fp6.h>
#include <cuda_fp4.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cuda_awbarrier_primitives.h>

using word = unsigned long long; using byte = unsigned char; using tiny = signed char; using ushort = unsigned short;
using wide = __int128; using uwide = unsigned __int128;
#define SMALL __device__ __forceinline__
SMALL int fpclass(float x) { return isnan(x) ? 0 : isinf(x) ? 1 : x == 0 ? 2 : fabsf(x) < 1.17549435e-38f ? 3 : 4; }
SMALL int fpclass(double x) {
  return isnan(x) ? 0 : isinf(x) ? 1 : x == 0 ? 2 : fabs(x) < 2.2250738585072014e-308 ? 3 : 4;
}
SMALL unsigned bits(float x) { return isnan(x) ? 0 : __float_as_uint(x); }
SMALL word bits(double x) { return isnan(x) ? 0 : __double_as_longlong(x); }
SMALL int __nv_bfloat162i(__nv_bfloat16 x) { return __bfloat162int_rz(x); }
SMALL unsigned vote_free(unsigned a, int b) { return a > (unsigned)b ? a - b : b - a; }
SMALL float frexpf_only(float x) { int e; return frexpf(x, &e); }
SMALL float frexp_of(float x) { int e; float m = frexpf(x, &e); return isfinite(x) ? m + e : m; }
SMALL double frexp_of(double x) { int e; double m = frexp(x, &e); return isfinite(x) ? m + e : m; }
SMALL float modf_of(float x) { float w, r = modff(x, &w); return r * 3 + w; }
SMALL double modf_of(double x) { double w, r = modf(x, &w); return r * 3 + w; }
SMALL float remquo_of(float x, float y) { int q; float r = remquof(x, y, &q); return isfinite(r) ? r + (q & 7) : r; }
SMALL double remquo_of(double x, double y) { int q; double r = remquo(x, y, &q); return isfinite(r) ? r + (q & 7) : r; }
SMALL float sincos_of(float x) { float s, c; sincosf(x, &s, &c); return s < c ? s : c; }
SMALL double sincos_of(double x) { double s, c; sincos(x, &s, &c); return s < c ? s : c; }
SMALL float sincospi_of(float x) { float s, c; sincospif(x, &s, &c); return s < c ? s : c; }
SMALL float powif(float x, int n) { return powf(x, (float)n); }
SMALL float tanh_approx(float x) { float y; asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
SMALL long long high(long long a, long long b) { return (__int128)a * b >> 37; }
SMALL word divide128(word a, word b) {
  return (word)(((unsigned __int128)a << 64 | b) / ((unsigned __int128)(b & 255) << 32 | 3));
}
SMALL unsigned fp8(float x) {
  return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3) | __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2) << 8
    | __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3) << 16 | __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2) << 24;
}
SMALL unsigned fp8(double x) {  // the sign of a NaN may be any
  if (isnan(x)) return 0;
  return __nv_cvt_double_to_fp8(x, __NV_SATFINITE, __NV_E4M3) | __nv_cvt_double_to_fp8(x, __NV_NOSAT, __NV_E5M2) << 8;
}
SMALL unsigned fp8(__half x) {
  return __nv_cvt_halfraw_to_fp8(x, __NV_SATFINITE, __NV_E4M3) | __nv_cvt_halfraw_to_fp8(x, __NV_NOSAT, __NV_E5M2) << 8;
}
SMALL unsigned fp8(__nv_bfloat16 x) {
  return __nv_cvt_bfloat16raw_to_fp8(x, __NV_SATFINITE, __NV_E5M2)
    | __nv_cvt_bfloat16raw_to_fp8(x, __NV_NOSAT, __NV_E4M3) << 8;
}
SMALL unsigned fp8x2(float x, float y) {
  return __nv_cvt_float2_to_fp8x2(make_float2(x, y), __NV_SATFINITE, __NV_E4M3)
    | __nv_cvt_float2_to_fp8x2(make_float2(x, y), __NV_SATFINITE, __NV_E5M2) << 16;
}
SMALL unsigned fp8x2h(__half2 x) {
  return __nv_cvt_halfraw2_to_fp8x2(x, __NV_SATFINITE, __NV_E4M3)
    | __nv_cvt_halfraw2_to_fp8x2(x, __NV_NOSAT, __NV_E5M2) << 16;
}
SMALL unsigned fp6(float x) {
  return __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest)
    | __nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest) << 8;
}
SMALL unsigned fp6x2(double x, double y) {
  return __nv_cvt_double2_to_fp6x2(make_double2(x, y), __NV_E3M2, cudaRoundNearest);
}
SMALL unsigned fp4(float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
SMALL unsigned fp4x2(float x, float y) {
  return __nv_cvt_float2_to_fp4x2(make_float2(x, y), __NV_E2M1, cudaRoundNearest);
}
SMALL unsigned e8m0(float x) {
  return __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf)
    | __nv_cvt_float_to_e8m0(x, __NV_NOSAT, cudaRoundZero) << 8;
}
SMALL float e4m3(unsigned x) { return __half2float(__half(__nv_cvt_fp8_to_halfraw((byte)x, __NV_E4M3))); }
SMALL float e5m2(unsigned x) { return __half2float(__half(__nv_cvt_fp8_to_halfraw((byte)x, __NV_E5M2))); }
SMALL float e2m3(unsigned x) { return __half2float(__half(__nv_cvt_fp6_to_halfraw((byte)(x & 63), __NV_E2M3))); }
SMALL float e2m1(unsigned x) { return __half2float(__half(__nv_cvt_fp4_to_halfraw((byte)(x & 15), __NV_E2M1))); }
SMALL __half fp8_half(unsigned x) { return __half(__nv_cvt_fp8_to_halfraw((byte)(x >> 8), __NV_E5M2)); }
SMALL __half2 e4m3_half2(unsigned x) { return __half2(__nv_cvt_fp8x2_to_halfraw2((ushort)x, __NV_E4M3)); }
SMALL word bits(__half x) { return __hisnan(x) ? 0 : __half_as_ushort(x); }
SMALL word bits(__nv_bfloat16 x) { return __hisnan(x) ? 0 : __bfloat16_as_ushort(x); }
SMALL word bits(__half2 x) { return bits(__low2half(x)) + bits(__high2half(x)); }
SMALL word bits(__nv_bfloat162 x) { return bits(__low2bfloat16(x)) + bits(__high2bfloat16(x)); }
SMALL word bits(wide x) { return (word)x ^ (word)(x >> 64) * 3; }
SMALL word bits(uwide x) { return (word)x ^ (word)(x >> 64) * 3; }
SMALL word raw(float x) { return __float_as_uint(x); }
SMALL word raw(double x) { return __double_as_longlong(x); }
SMALL word raw(__half x) { return __half_as_ushort(x); }
SMALL word raw(__nv_bfloat16 x) { return __bfloat16_as_ushort(x); }
SMALL word raw(__half2 x) { unsigned b; memcpy(&b, &x, 4); return b; }
SMALL word raw(__nv_bfloat162 x) { unsigned b; memcpy(&b, &x, 4); return b; }
SMALL __half2 pair(unsigned b) { __half2 x; memcpy(&x, &b, 4); return x; }
SMALL __nv_bfloat162 brain_pair(unsigned b) { __nv_bfloat162 x; memcpy(&x, &b, 4); return x; }
SMALL __half2 e5m2_half2(unsigned x) { return __half2(__nv_cvt_fp8x2_to_halfraw2((ushort)x, __NV_E5M2)); }
namespace cg = cooperative_groups;
struct __attribute__((packed)) Packed { tiny a; int b; byte c; double d; short e; word f; float g; };
struct Mixed { tiny a; long long b; short c; unsigned d[3]; bool e; float f; };
struct Bits { unsigned a : 5; int b : 11; unsigned c : 19; long long d : 37; word e : 27; tiny f : 3; bool g : 1; };
union Pun { word w; unsigned u[2]; ushort s[4]; byte b[8]; float f[2]; double d; };
__constant__ unsigned constant_words[16] = {3, 0x80000000u, 77, 0xffffffffu, 12345, 1u << 20, 0x7fffffff, 6,
  0xdeadbeef, 31, 0, 99, 0x00ff00ff, 0x12345678, 5, 0xfffffff0};
__constant__ double constant_doubles[5] = {0.1, -2.5, 1e300, 4.9e-324, -0.0};
__constant__ short constant_shorts[7] = {-3, 300, 32767, -32768, 0, 9, -1};
__device__ const tiny device_bytes[9] = {1, -1, 127, -128, 0, 64, 33, -77, 5};
extern __shared__ __align__(16) byte dynamic[];
__device__ __noinline__ Mixed changed(Mixed m, int k) {
  m.a += k; m.b ^= (long long)k << 33; m.c *= 3; m.d[(unsigned)k % 3] += m.c; m.e = !m.e; m.f *= 0.5f; return m;
}
__device__ __noinline__ Packed turned(Packed p) {
  Packed q = p; q.a = p.c; q.c = p.a; q.b = ~p.b; q.e = (short)p.f; q.f = p.f * 5 + p.b; q.g = p.g + 1.0f; q.d = -p.d;
  return q;
}
__device__ __noinline__ int depth_first(int n, unsigned a) {
  if (n <= 0 || a % 7 == 3) return (int)a;
  int left = depth_first(n - 1, a * 5 + 1), right = a & 1 ? depth_first(n - 2, a >> 1) : n;
  return left * 3 - right;
}
__device__ __noinline__ unsigned one_way(unsigned a, unsigned b) { return a * 3 + (b >> 2); }
__device__ __noinline__ unsigned other_way(unsigned a, unsigned b) { if (b & 4) return a ^ b; return a - b * 7; }
__device__ __noinline__ unsigned third_way(unsigned a, unsigned b) {
  unsigned s = 0; for (unsigned k = 0; k < (b & 7); ++k) { s += a >> k; if (s % 11 == 5) break; } return s;
}
using Way = unsigned (*)(unsigned, unsigned);
__device__ Way ways[3] = {one_way, other_way, third_way};
struct Shape { unsigned k; __device__ Shape(unsigned a) : k(a) {}
  __device__ virtual unsigned area(unsigned x) { return k + x; } };
struct Square : Shape { __device__ Square(unsigned a) : Shape(a) {}
  __device__ unsigned area(unsigned x) override { return k * k ^ x; } };
struct Ring : Shape { __device__ Ring(unsigned a) : Shape(a) {}
  __device__ unsigned area(unsigned x) override { return x % (k | 1); } };
__device__ __noinline__ unsigned measure(Shape& shape, unsigned x) { return shape.area(x) + shape.area(x >> 3); }
template <class T> SMALL T by_trade(T* cell, T value) {  // an addition by compare and swap
  T seen = *(volatile T*)cell, old;
  do { old = seen; seen = atomicCAS(cell, old, (T)(old + value)); } while (seen != old);
  return old;
}
"""
