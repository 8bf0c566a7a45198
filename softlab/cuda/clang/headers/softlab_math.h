// Mathematics: functions that are one PTX instruction are built in clang. The others are PTX functions that softlab
// brings (softlab/cuda/data/math.zip), with the bits of NVRTC's.
#pragma once

// ---- One instruction each
#ifdef SOFTLAB_FLUSH
#define SOFTLAB_FLOAT(name) __nvvm_##name##_ftz_f
#else
#define SOFTLAB_FLOAT(name) __nvvm_##name##_f
#endif
#define SOFTLAB_ONE(name, T, builtin) SOFTLAB_CODE T name(T x) { return builtin(x); }
#define SOFTLAB_BOTH(name)                                                                             \
  SOFTLAB_ONE(name##f, float, __builtin_##name##f)                                                     \
  SOFTLAB_ONE(name, float, __builtin_##name##f)                                                        \
  SOFTLAB_ONE(name, double, __builtin_##name)
SOFTLAB_BOTH(fabs)
SOFTLAB_BOTH(floor)
SOFTLAB_BOTH(ceil)
SOFTLAB_BOTH(trunc)
SOFTLAB_BOTH(rint)
SOFTLAB_BOTH(nearbyint)
SOFTLAB_CODE float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
SOFTLAB_CODE float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
SOFTLAB_CODE float fmax(float a, float b) { return __nvvm_fmax_f(a, b); }
SOFTLAB_CODE float fmin(float a, float b) { return __nvvm_fmin_f(a, b); }
SOFTLAB_CODE double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
SOFTLAB_CODE double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
SOFTLAB_CODE double fmax(float a, double b) { return fmax(double(a), b); }
SOFTLAB_CODE double fmax(double a, float b) { return fmax(a, double(b)); }
SOFTLAB_CODE double fmin(float a, double b) { return fmin(double(a), b); }
SOFTLAB_CODE double fmin(double a, float b) { return fmin(a, double(b)); }
SOFTLAB_CODE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
SOFTLAB_CODE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
SOFTLAB_CODE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
SOFTLAB_CODE float copysignf(float x, float sign) { return __builtin_copysignf(x, sign); }
SOFTLAB_CODE float copysign(float x, float sign) { return __builtin_copysignf(x, sign); }
SOFTLAB_CODE double copysign(double x, double sign) { return __builtin_copysign(x, sign); }
SOFTLAB_CODE float sqrtf(float x) { return SOFTLAB_FLOAT(sqrt_rn)(x); }
SOFTLAB_CODE float sqrt(float x) { return SOFTLAB_FLOAT(sqrt_rn)(x); }
SOFTLAB_CODE double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
SOFTLAB_CODE double rsqrt(double x) { return __nvvm_rsqrt_approx_d(x); }
SOFTLAB_CODE float rsqrtf(float x) { return SOFTLAB_FLOAT(rsqrt_approx)(x); }
SOFTLAB_CODE float rsqrt(float x) { return rsqrtf(x); }
SOFTLAB_CODE float exp2f(float x) { return SOFTLAB_FLOAT(ex2_approx)(x); }
SOFTLAB_CODE float exp2(float x) { return exp2f(x); }
SOFTLAB_CODE float __expf(float x) { return exp2f(x * 1.4426950216293335f); }
SOFTLAB_CODE float __exp10f(float x) { return exp2f(x * 3.3219280242919922f); }
SOFTLAB_CODE float __log2f(float x) { return SOFTLAB_FLOAT(lg2_approx)(x); }
SOFTLAB_CODE float __logf(float x) { return __log2f(x) * 0.693147182464599609375f; }
SOFTLAB_CODE float __log10f(float x) { return __log2f(x) * 0.30103000998497009f; }
SOFTLAB_CODE float __sinf(float x) { return SOFTLAB_FLOAT(sin_approx)(x); }
SOFTLAB_CODE float __cosf(float x) { return SOFTLAB_FLOAT(cos_approx)(x); }
SOFTLAB_CODE float __fdividef(float a, float b) { return SOFTLAB_FLOAT(div_approx)(a, b); }
SOFTLAB_CODE float fdividef(float a, float b) { return a / b; }
SOFTLAB_CODE float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
SOFTLAB_CODE float __powf(float x, float y) { return exp2f(__log2f(x) * y); }
SOFTLAB_CODE void __sincosf(float x, float* sine, float* cosine) { *sine = __sinf(x), *cosine = __cosf(x); }
SOFTLAB_CODE float __saturatef(float x) { return SOFTLAB_FLOAT(saturate)(x); }
SOFTLAB_CODE float roundf(float x) { return truncf(__nvvm_add_rz_f(x, __builtin_copysignf(0.5f, x))); }
SOFTLAB_CODE float round(float x) { return roundf(x); }
SOFTLAB_CODE float fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
SOFTLAB_CODE float fdim(float a, float b) { return fdimf(a, b); }
SOFTLAB_CODE double fdim(double a, double b) { return a <= b ? 0.0 : a - b; }

// ---- Arithmetic that is neither contracted nor rounded another way
#define SOFTLAB_ROUNDED(name, rounding)                                                                      \
  SOFTLAB_CODE float __fadd_##name(float a, float b) { return SOFTLAB_FLOAT(add_##rounding)(a, b); } \
  SOFTLAB_CODE float __fsub_##name(float a, float b) { return SOFTLAB_FLOAT(add_##rounding)(a, -b); } \
  SOFTLAB_CODE float __fmul_##name(float a, float b) { return SOFTLAB_FLOAT(mul_##rounding)(a, b); } \
  SOFTLAB_CODE float __fdiv_##name(float a, float b) { return SOFTLAB_FLOAT(div_##rounding)(a, b); } \
  SOFTLAB_CODE float __frcp_##name(float a) { return SOFTLAB_FLOAT(rcp_##rounding)(a); }           \
  SOFTLAB_CODE float __fsqrt_##name(float a) { return SOFTLAB_FLOAT(sqrt_##rounding)(a); }         \
  SOFTLAB_CODE float __fmaf_##name(float a, float b, float c) { return SOFTLAB_FLOAT(fma_##rounding)(a, b, c); } \
  SOFTLAB_CODE double __dadd_##name(double a, double b) { return __nvvm_add_##rounding##_d(a, b); } \
  SOFTLAB_CODE double __dsub_##name(double a, double b) { return __nvvm_add_##rounding##_d(a, -b); } \
  SOFTLAB_CODE double __dmul_##name(double a, double b) { return __nvvm_mul_##rounding##_d(a, b); } \
  SOFTLAB_CODE double __ddiv_##name(double a, double b) { return __nvvm_div_##rounding##_d(a, b); } \
  SOFTLAB_CODE double __drcp_##name(double a) { return __nvvm_rcp_##rounding##_d(a); }             \
  SOFTLAB_CODE double __dsqrt_##name(double a) { return __nvvm_sqrt_##rounding##_d(a); }           \
  SOFTLAB_CODE double __fma_##name(double a, double b, double c) { return __nvvm_fma_##rounding##_d(a, b, c); } \
  SOFTLAB_CODE int __float2int_##name(float x) { return __nvvm_f2i_##rounding(x); }                \
  SOFTLAB_CODE unsigned int __float2uint_##name(float x) { return __nvvm_f2ui_##rounding(x); }     \
  SOFTLAB_CODE long long __float2ll_##name(float x) { return __nvvm_f2ll_##rounding(x); }          \
  SOFTLAB_CODE unsigned long long __float2ull_##name(float x) { return __nvvm_f2ull_##rounding(x); } \
  SOFTLAB_CODE int __double2int_##name(double x) { return __nvvm_d2i_##rounding(x); }              \
  SOFTLAB_CODE unsigned int __double2uint_##name(double x) { return __nvvm_d2ui_##rounding(x); }   \
  SOFTLAB_CODE long long __double2ll_##name(double x) { return __nvvm_d2ll_##rounding(x); }        \
  SOFTLAB_CODE unsigned long long __double2ull_##name(double x) { return __nvvm_d2ull_##rounding(x); } \
  SOFTLAB_CODE float __double2float_##name(double x) { return __nvvm_d2f_##rounding(x); }          \
  SOFTLAB_CODE float __int2float_##name(int x) { return __nvvm_i2f_##rounding(x); }                \
  SOFTLAB_CODE float __uint2float_##name(unsigned int x) { return __nvvm_ui2f_##rounding(x); }     \
  SOFTLAB_CODE float __ll2float_##name(long long x) { return __nvvm_ll2f_##rounding(x); }          \
  SOFTLAB_CODE float __ull2float_##name(unsigned long long x) { return __nvvm_ull2f_##rounding(x); } \
  SOFTLAB_CODE double __ll2double_##name(long long x) { return __nvvm_ll2d_##rounding(x); }        \
  SOFTLAB_CODE double __ull2double_##name(unsigned long long x) { return __nvvm_ull2d_##rounding(x); }
SOFTLAB_ROUNDED(rn, rn)
SOFTLAB_ROUNDED(rz, rz)
SOFTLAB_ROUNDED(rd, rm)
SOFTLAB_ROUNDED(ru, rp)
SOFTLAB_CODE double __int2double_rn(int x) { return x; }
SOFTLAB_CODE double __uint2double_rn(unsigned int x) { return x; }
SOFTLAB_CODE long lrintf(float x) { return __float2ll_rn(x); }
SOFTLAB_CODE long lrint(double x) { return __double2ll_rn(x); }
SOFTLAB_CODE long lroundf(float x) { return (long)roundf(x); }
SOFTLAB_CODE long lround(float x) { return lroundf(x); }
SOFTLAB_CODE long lrint(float x) { return lrintf(x); }

// ---- Comparisons
#define SOFTLAB_LEAST(T)                                                                               \
  SOFTLAB_CODE T max(T a, T b) { return a > b ? a : b; }                                               \
  SOFTLAB_CODE T min(T a, T b) { return a < b ? a : b; }
#define SOFTLAB_LEAST_OF(A, B, T)                                                                      \
  SOFTLAB_CODE T max(A a, B b) { return max((T)a, (T)b); }                                             \
  SOFTLAB_CODE T max(B a, A b) { return max((T)a, (T)b); }                                             \
  SOFTLAB_CODE T min(A a, B b) { return min((T)a, (T)b); }                                             \
  SOFTLAB_CODE T min(B a, A b) { return min((T)a, (T)b); }
SOFTLAB_LEAST(int)
SOFTLAB_LEAST(unsigned int)
SOFTLAB_LEAST(long)
SOFTLAB_LEAST(unsigned long)
SOFTLAB_LEAST(long long)
SOFTLAB_LEAST(unsigned long long)
SOFTLAB_LEAST_OF(int, unsigned int, unsigned int)
SOFTLAB_LEAST_OF(long, unsigned long, unsigned long)
SOFTLAB_LEAST_OF(long long, unsigned long long, unsigned long long)
SOFTLAB_CODE float max(float a, float b) { return fmaxf(a, b); }
SOFTLAB_CODE float min(float a, float b) { return fminf(a, b); }
SOFTLAB_CODE double max(double a, double b) { return fmax(a, b); }
SOFTLAB_CODE double min(double a, double b) { return fmin(a, b); }
SOFTLAB_CODE double max(float a, double b) { return fmax(a, b); }
SOFTLAB_CODE double max(double a, float b) { return fmax(a, b); }
SOFTLAB_CODE double min(float a, double b) { return fmin(a, b); }
SOFTLAB_CODE double min(double a, float b) { return fmin(a, b); }
SOFTLAB_CODE int abs(int x) { return x < 0 ? -x : x; }
SOFTLAB_CODE long abs(long x) { return x < 0 ? -x : x; }
SOFTLAB_CODE long long abs(long long x) { return x < 0 ? -x : x; }
SOFTLAB_CODE float abs(float x) { return fabsf(x); }
SOFTLAB_CODE double abs(double x) { return fabs(x); }
SOFTLAB_CODE long labs(long x) { return abs(x); }
SOFTLAB_CODE long long llabs(long long x) { return abs(x); }
#define SOFTLAB_KIND(T)                                                                                \
  SOFTLAB_CODE bool isnan(T x) { return x != x; }                                                      \
  SOFTLAB_CODE bool isinf(T x) { return fabs(x) == T(__builtin_inff()); }                              \
  SOFTLAB_CODE bool isfinite(T x) { return fabs(x) < T(__builtin_inff()); }                            \
  SOFTLAB_CODE bool signbit(T x) { return __builtin_signbit(x); }
SOFTLAB_KIND(float)
SOFTLAB_KIND(double)

// ---- Functions of softlab's PTX
#define SOFTLAB_FUNCTION __attribute__((const)) __device__
#define SOFTLAB_OF_ONE(name)                                                                           \
  extern "C" SOFTLAB_FUNCTION float softlab_##name##f(float);                                          \
  extern "C" SOFTLAB_FUNCTION double softlab_##name(double);                                           \
  SOFTLAB_CODE float name##f(float x) { return softlab_##name##f(x); }                                 \
  SOFTLAB_CODE float name(float x) { return softlab_##name##f(x); }                                    \
  SOFTLAB_CODE double name(double x) { return softlab_##name(x); }
#define SOFTLAB_OF_TWO(name)                                                                           \
  extern "C" SOFTLAB_FUNCTION float softlab_##name##f(float, float);                                   \
  extern "C" SOFTLAB_FUNCTION double softlab_##name(double, double);                                   \
  SOFTLAB_CODE float name##f(float x, float y) { return softlab_##name##f(x, y); }                     \
  SOFTLAB_CODE float name(float x, float y) { return softlab_##name##f(x, y); }                        \
  SOFTLAB_CODE double name(double x, double y) { return softlab_##name(x, y); }                        \
  SOFTLAB_CODE double name(float x, double y) { return softlab_##name(x, y); }                         \
  SOFTLAB_CODE double name(double x, float y) { return softlab_##name(x, y); }
// With --use_fast_math these are intrinsics, as with NVRTC.
#ifndef SOFTLAB_FAST
#define SOFTLAB_FAST_OF_ONE SOFTLAB_OF_ONE
#else
#define SOFTLAB_FAST_OF_ONE(name)                                                                      \
  extern "C" SOFTLAB_FUNCTION double softlab_##name(double);                                           \
  SOFTLAB_CODE float name##f(float x) { return __##name##f(x); }                                       \
  SOFTLAB_CODE float name(float x) { return __##name##f(x); }                                          \
  SOFTLAB_CODE double name(double x) { return softlab_##name(x); }
#endif
SOFTLAB_FAST_OF_ONE(sin)
SOFTLAB_FAST_OF_ONE(cos)
SOFTLAB_FAST_OF_ONE(tan)
SOFTLAB_FAST_OF_ONE(exp)
SOFTLAB_FAST_OF_ONE(exp10)
SOFTLAB_FAST_OF_ONE(log)
SOFTLAB_FAST_OF_ONE(log2)
SOFTLAB_FAST_OF_ONE(log10)
SOFTLAB_OF_ONE(asin)
SOFTLAB_OF_ONE(acos)
SOFTLAB_OF_ONE(atan)
SOFTLAB_OF_ONE(sinh)
SOFTLAB_OF_ONE(cosh)
SOFTLAB_OF_ONE(tanh)
SOFTLAB_OF_ONE(asinh)
SOFTLAB_OF_ONE(acosh)
SOFTLAB_OF_ONE(atanh)
SOFTLAB_OF_ONE(expm1)
SOFTLAB_OF_ONE(log1p)
SOFTLAB_OF_ONE(cbrt)
SOFTLAB_OF_ONE(rcbrt)
SOFTLAB_OF_ONE(erf)
SOFTLAB_OF_ONE(erfc)
SOFTLAB_OF_ONE(erfinv)
SOFTLAB_OF_ONE(normcdf)
SOFTLAB_OF_ONE(lgamma)
SOFTLAB_OF_ONE(tgamma)
SOFTLAB_OF_ONE(sinpi)
SOFTLAB_OF_ONE(cospi)
SOFTLAB_OF_ONE(logb)
SOFTLAB_OF_TWO(atan2)
SOFTLAB_OF_TWO(fmod)
SOFTLAB_OF_TWO(remainder)
SOFTLAB_OF_TWO(hypot)
SOFTLAB_OF_TWO(nextafter)
extern "C" {
SOFTLAB_FUNCTION double softlab_exp2(double);
SOFTLAB_FUNCTION double softlab_round(double);
SOFTLAB_FUNCTION float softlab_powf(float, float);
SOFTLAB_FUNCTION double softlab_pow(double, double);
SOFTLAB_FUNCTION float softlab_ldexpf(float, int);
SOFTLAB_FUNCTION double softlab_ldexp(double, int);
SOFTLAB_FUNCTION float softlab_frsqrt_rn(float);
}
SOFTLAB_CODE double exp2(double x) { return softlab_exp2(x); }
SOFTLAB_CODE double round(double x) { return softlab_round(x); }
SOFTLAB_CODE long lround(double x) { return (long)softlab_round(x); }
SOFTLAB_CODE float __frsqrt_rn(float x) { return softlab_frsqrt_rn(x); }
#ifdef SOFTLAB_FAST
SOFTLAB_CODE float powf(float x, float y) { return __powf(x, y); }
#else
SOFTLAB_CODE float powf(float x, float y) { return softlab_powf(x, y); }
#endif
SOFTLAB_CODE float pow(float x, float y) { return powf(x, y); }
SOFTLAB_CODE double pow(double x, double y) { return softlab_pow(x, y); }
SOFTLAB_CODE double pow(float x, double y) { return softlab_pow(x, y); }
SOFTLAB_CODE double pow(double x, float y) { return softlab_pow(x, y); }
SOFTLAB_CODE float pow(float x, int y) { return powf(x, y); }
SOFTLAB_CODE double pow(double x, int y) { return softlab_pow(x, y); }
SOFTLAB_CODE float ldexpf(float x, int by) { return softlab_ldexpf(x, by); }
SOFTLAB_CODE float ldexp(float x, int by) { return softlab_ldexpf(x, by); }
SOFTLAB_CODE double ldexp(double x, int by) { return softlab_ldexp(x, by); }
SOFTLAB_CODE float scalbnf(float x, int by) { return softlab_ldexpf(x, by); }
SOFTLAB_CODE double scalbn(double x, int by) { return softlab_ldexp(x, by); }
SOFTLAB_CODE void sincosf(float x, float* sine, float* cosine) { *sine = sinf(x), *cosine = cosf(x); }
SOFTLAB_CODE void sincos(double x, double* sine, double* cosine) { *sine = sin(x), *cosine = cos(x); }
