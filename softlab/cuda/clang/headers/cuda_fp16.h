// Halves: the part of cuda_fp16.h that kernels of the course use.
#pragma once
#include <softlab_half.h>

SOFTLAB_HALF(__half, _Float16, f16)
typedef __half half;
typedef __half2 half2;

SOFTLAB_CODE __half __float2half(float x) { return __half(x); }
SOFTLAB_CODE __half __float2half_rn(float x) { return __half(x); }
SOFTLAB_CODE __half __double2half(double x) { return __half(x); }
SOFTLAB_CODE __half __int2half_rn(int x) { return __half(x); }
SOFTLAB_CODE float __half2float(__half x) { return x; }
SOFTLAB_CODE int __half2int_rn(__half x) { return __float2int_rn(x); }
SOFTLAB_CODE int __half2int_rz(__half x) { return (int)float(x); }
SOFTLAB_CODE unsigned short __half_as_ushort(__half x) { return x.bits; }
SOFTLAB_CODE short __half_as_short(__half x) { return x.bits; }
SOFTLAB_CODE __half __ushort_as_half(unsigned short x) { return __builtin_bit_cast(__half, x); }
SOFTLAB_CODE __half __short_as_half(short x) { return __builtin_bit_cast(__half, x); }
SOFTLAB_CODE __half2 make_half2(__half x, __half y) { return {x, y}; }
SOFTLAB_CODE __half2 __halves2half2(__half x, __half y) { return {x, y}; }
SOFTLAB_CODE __half2 __half2half2(__half x) { return {x, x}; }
SOFTLAB_CODE __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
SOFTLAB_CODE __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
SOFTLAB_CODE __half2 __float22half2_rn(float2 x) { return {__half(x.x), __half(x.y)}; }
SOFTLAB_CODE float2 __half22float2(__half2 x) { return {float(x.x), float(x.y)}; }
SOFTLAB_CODE float __low2float(__half2 x) { return x.x; }
SOFTLAB_CODE float __high2float(__half2 x) { return x.y; }
SOFTLAB_CODE __half __low2half(__half2 x) { return x.x; }
SOFTLAB_CODE __half __high2half(__half2 x) { return x.y; }
