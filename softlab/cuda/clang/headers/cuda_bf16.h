// bfloat16: the part of cuda_bf16.h that kernels of the course use.
#pragma once
#include <softlab_half.h>

SOFTLAB_HALF(__nv_bfloat16, __bf16, bf16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

SOFTLAB_CODE __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
SOFTLAB_CODE __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
SOFTLAB_CODE __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
SOFTLAB_CODE float __bfloat162float(__nv_bfloat16 x) { return x; }
SOFTLAB_CODE unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
SOFTLAB_CODE __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __builtin_bit_cast(__nv_bfloat16, x); }
SOFTLAB_CODE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
SOFTLAB_CODE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
SOFTLAB_CODE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
SOFTLAB_CODE __nv_bfloat162 __float22bfloat162_rn(float2 x) { return {__nv_bfloat16(x.x), __nv_bfloat16(x.y)}; }
SOFTLAB_CODE float2 __bfloat1622float2(__nv_bfloat162 x) { return {float(x.x), float(x.y)}; }
SOFTLAB_CODE float __low2float(__nv_bfloat162 x) { return x.x; }
SOFTLAB_CODE float __high2float(__nv_bfloat162 x) { return x.y; }
