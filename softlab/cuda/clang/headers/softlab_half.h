// What cuda_fp16.h and cuda_bf16.h have in common: a type of 16 bits, a pair of it, and their arithmetic.
//
// Arithmetic is one PTX instruction per operation, so that nothing contracts a product and a sum.
#pragma once

// One value. `type`: PTX's name of it; Built: clang's type with the same bits.
#define SOFTLAB_HALF(Half, Built, type)                                                                \
  struct __align__(2) Half {                                                                           \
    unsigned short bits;                                                                               \
    Half() = default;                                                                                  \
    SOFTLAB_MEMBER Half(float x) : bits(__builtin_bit_cast(unsigned short, (Built)x)) {}               \
    SOFTLAB_MEMBER Half(double x) : bits(__builtin_bit_cast(unsigned short, (Built)x)) {}              \
    SOFTLAB_MEMBER Half(int x) : Half((float)x) {}                                                     \
    SOFTLAB_MEMBER Half(unsigned int x) : Half((float)x) {}                                            \
    SOFTLAB_MEMBER Half(long long x) : Half((float)x) {}                                               \
    SOFTLAB_MEMBER Half(unsigned long long x) : Half((float)x) {}                                      \
    SOFTLAB_MEMBER operator float() const { return (float)__builtin_bit_cast(Built, bits); }           \
    SOFTLAB_MEMBER Half& operator=(float x) { return *this = Half(x); }                                \
    SOFTLAB_MEMBER Half& operator=(double x) { return *this = Half(x); }                               \
  };                                                                                                   \
  struct __align__(4) Half##2 {                                                                        \
    Half x, y;                                                                                         \
    Half##2() = default;                                                                               \
    SOFTLAB_MEMBER Half##2(Half x, Half y) : x(x), y(y) {}                                             \
  };                                                                                                   \
  SOFTLAB_HALF_TWO(Half, __hadd, add, type)                                                            \
  SOFTLAB_HALF_TWO(Half, __hsub, sub, type)                                                            \
  SOFTLAB_HALF_TWO(Half, __hmul, mul, type)                                                            \
  SOFTLAB_HALF_TWO(Half, __hmax, max, type)                                                            \
  SOFTLAB_HALF_TWO(Half, __hmin, min, type)                                                            \
  SOFTLAB_HALF_TWO(Half, __hmax_nan, max.NaN, type)                                                    \
  SOFTLAB_HALF_TWO(Half, __hmin_nan, min.NaN, type)                                                    \
  SOFTLAB_PAIR_TWO(Half, __hadd2, add, type)                                                           \
  SOFTLAB_PAIR_TWO(Half, __hsub2, sub, type)                                                           \
  SOFTLAB_PAIR_TWO(Half, __hmul2, mul, type)                                                           \
  SOFTLAB_PAIR_TWO(Half, __hmax2, max, type)                                                           \
  SOFTLAB_PAIR_TWO(Half, __hmin2, min, type)                                                           \
  SOFTLAB_PAIR_TWO(Half, __hmax2_nan, max.NaN, type)                                                   \
  SOFTLAB_PAIR_TWO(Half, __hmin2_nan, min.NaN, type)                                                   \
  SOFTLAB_CODE Half __hfma(Half a, Half b, Half c) {                                                   \
    Half found;                                                                                        \
    asm("fma.rn." #type " %0, %1, %2, %3;" : "=h"(found.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits)); \
    return found;                                                                                      \
  }                                                                                                    \
  SOFTLAB_CODE Half##2 __hfma2(Half##2 a, Half##2 b, Half##2 c) {                                      \
    unsigned int found;                                                                                \
    asm("fma.rn." #type "x2 %0, %1, %2, %3;"                                                           \
        : "=r"(found) : "r"(softlab_word(a)), "r"(softlab_word(b)), "r"(softlab_word(c)));             \
    return __builtin_bit_cast(Half##2, found);                                                         \
  }                                                                                                    \
  SOFTLAB_CODE Half __hneg(Half x) { return __builtin_bit_cast(Half, (unsigned short)(x.bits ^ 0x8000)); } \
  SOFTLAB_CODE Half __habs(Half x) { return __builtin_bit_cast(Half, (unsigned short)(x.bits & 0x7fff)); } \
  SOFTLAB_CODE Half __hdiv(Half a, Half b) { return Half(float(a) / float(b)); }                       \
  SOFTLAB_CODE bool __hisnan(Half x) { return float(x) != float(x); }                                  \
  SOFTLAB_CODE bool __hgt(Half a, Half b) { return float(a) > float(b); }                              \
  SOFTLAB_CODE bool __hlt(Half a, Half b) { return float(a) < float(b); }                              \
  SOFTLAB_CODE bool __hge(Half a, Half b) { return float(a) >= float(b); }                             \
  SOFTLAB_CODE bool __hle(Half a, Half b) { return float(a) <= float(b); }                             \
  SOFTLAB_CODE bool __heq(Half a, Half b) { return float(a) == float(b); }                             \
  SOFTLAB_CODE bool __hne(Half a, Half b) { return float(a) != float(b); }                             \
  SOFTLAB_HALF_ONE(Half, exp, type)                                                                    \
  SOFTLAB_HALF_ONE(Half, exp2, type)                                                                   \
  SOFTLAB_HALF_ONE(Half, exp10, type)                                                                  \
  SOFTLAB_HALF_ONE(Half, log, type)                                                                    \
  SOFTLAB_HALF_ONE(Half, log2, type)                                                                   \
  SOFTLAB_HALF_ONE(Half, log10, type)                                                                  \
  SOFTLAB_HALF_ONE(Half, sin, type)                                                                    \
  SOFTLAB_HALF_ONE(Half, cos, type)                                                                    \
  SOFTLAB_HALF_ONE(Half, sqrt, type)                                                                   \
  SOFTLAB_HALF_ONE(Half, rsqrt, type)                                                                  \
  SOFTLAB_HALF_ONE(Half, rcp, type)                                                                    \
  SOFTLAB_HALF_ONE(Half, ceil, type)                                                                   \
  SOFTLAB_HALF_ONE(Half, floor, type)                                                                  \
  SOFTLAB_HALF_ONE(Half, rint, type)                                                                   \
  SOFTLAB_HALF_ONE(Half, trunc, type)                                                                  \
  SOFTLAB_CODE Half operator+(Half a, Half b) { return __hadd(a, b); }                                 \
  SOFTLAB_CODE Half operator-(Half a, Half b) { return __hsub(a, b); }                                 \
  SOFTLAB_CODE Half operator*(Half a, Half b) { return __hmul(a, b); }                                 \
  SOFTLAB_CODE Half operator/(Half a, Half b) { return __hdiv(a, b); }                                 \
  SOFTLAB_CODE Half operator-(Half a) { return __hneg(a); }                                            \
  SOFTLAB_CODE Half& operator+=(Half& a, Half b) { return a = a + b; }                                 \
  SOFTLAB_CODE Half& operator-=(Half& a, Half b) { return a = a - b; }                                 \
  SOFTLAB_CODE Half& operator*=(Half& a, Half b) { return a = a * b; }                                 \
  SOFTLAB_CODE Half& operator/=(Half& a, Half b) { return a = a / b; }                                 \
  SOFTLAB_CODE bool operator>(Half a, Half b) { return __hgt(a, b); }                                  \
  SOFTLAB_CODE bool operator<(Half a, Half b) { return __hlt(a, b); }                                  \
  SOFTLAB_CODE bool operator>=(Half a, Half b) { return __hge(a, b); }                                 \
  SOFTLAB_CODE bool operator<=(Half a, Half b) { return __hle(a, b); }                                 \
  SOFTLAB_CODE bool operator==(Half a, Half b) { return __heq(a, b); }                                 \
  SOFTLAB_CODE bool operator!=(Half a, Half b) { return __hne(a, b); }                                 \
  SOFTLAB_CODE Half##2 operator+(Half##2 a, Half##2 b) { return __hadd2(a, b); }                       \
  SOFTLAB_CODE Half##2 operator-(Half##2 a, Half##2 b) { return __hsub2(a, b); }                       \
  SOFTLAB_CODE Half##2 operator*(Half##2 a, Half##2 b) { return __hmul2(a, b); }                       \
  SOFTLAB_CODE Half##2 operator-(Half##2 a) { return {-a.x, -a.y}; }                                   \
  SOFTLAB_HALF_SHUFFLE(Half, __shfl_sync, int)                                                         \
  SOFTLAB_HALF_SHUFFLE(Half, __shfl_up_sync, unsigned int)                                             \
  SOFTLAB_HALF_SHUFFLE(Half, __shfl_down_sync, unsigned int)                                           \
  SOFTLAB_HALF_SHUFFLE(Half, __shfl_xor_sync, int)                                                     \
  SOFTLAB_CODE Half __ldg(const Half* at) {                                                            \
    return __builtin_bit_cast(Half, __ldg(reinterpret_cast<const unsigned short*>(at)));               \
  }                                                                                                    \
  SOFTLAB_CODE Half##2 __ldg(const Half##2* at) {                                                      \
    return __builtin_bit_cast(Half##2, __ldg(reinterpret_cast<const unsigned int*>(at)));              \
  }

#define SOFTLAB_MEMBER __host__ __device__ __inline__ __attribute__((always_inline, nodebug))
// Functions of softlab's PTX (softlab/cuda/data/math.zip): bits in, bits out. `hexp`, and `h2exp` of a pair.
#define SOFTLAB_HALF_ONE(Half, name, type)                                                             \
  extern "C" SOFTLAB_FUNCTION unsigned int softlab_##type##_h##name(unsigned int);                     \
  SOFTLAB_CODE Half h##name(Half x) {                                                                  \
    return __builtin_bit_cast(Half, (unsigned short)softlab_##type##_h##name(x.bits));                 \
  }                                                                                                    \
  SOFTLAB_CODE Half##2 h2##name(Half##2 x) { return {h##name(x.x), h##name(x.y)}; }
#define SOFTLAB_HALF_TWO(Half, name, op, type)                                                         \
  SOFTLAB_CODE Half name(Half a, Half b) {                                                             \
    Half found;                                                                                        \
    asm(#op "." #type " %0, %1, %2;" : "=h"(found.bits) : "h"(a.bits), "h"(b.bits));                   \
    return found;                                                                                      \
  }
#define SOFTLAB_PAIR_TWO(Half, name, op, type)                                                         \
  SOFTLAB_CODE Half##2 name(Half##2 a, Half##2 b) {                                                    \
    unsigned int found;                                                                                \
    asm(#op "." #type "x2 %0, %1, %2;" : "=r"(found) : "r"(softlab_word(a)), "r"(softlab_word(b)));    \
    return __builtin_bit_cast(Half##2, found);                                                         \
  }
#define SOFTLAB_HALF_SHUFFLE(Half, name, Lane)                                                         \
  SOFTLAB_CODE Half name(unsigned int mask, Half value, Lane lane, int width = 32) {                   \
    unsigned int moved = name(mask, (unsigned int)value.bits, lane, width);                            \
    return __builtin_bit_cast(Half, (unsigned short)moved);                                            \
  }                                                                                                    \
  SOFTLAB_CODE Half##2 name(unsigned int mask, Half##2 value, Lane lane, int width = 32) {             \
    return __builtin_bit_cast(Half##2, name(mask, softlab_word(value), lane, width));                  \
  }
// The four bytes of a pair.
template <typename Pair> SOFTLAB_CODE unsigned int softlab_word(Pair pair) {
  return __builtin_bit_cast(unsigned int, pair);
}
