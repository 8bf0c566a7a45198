// Arithmetic on CUDA's vector types for files that include helper_math.h of NVIDIA's samples and lack it.
#ifndef SOFTLAB_HELPER_MATH_H
#define SOFTLAB_HELPER_MATH_H
#include <softlab_standard.h>

#define SOFTLAB_HD inline __host__ __device__

SOFTLAB_HD float lerp(float a, float b, float t) { return a + t * (b - a); }
SOFTLAB_HD float clamp(float x, float low, float high) { return fmaxf(low, fminf(x, high)); }
SOFTLAB_HD int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
SOFTLAB_HD uint clamp(uint x, uint low, uint high) { return x < low ? low : x > high ? high : x; }
SOFTLAB_HD float smoothstep(float a, float b, float x) {
  float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
  return y * y * (3.0f - 2.0f * y);
}

// Each operator element by element, and with a scalar on either side.
#define SOFTLAB_OPERATOR(T, V, op, EACH)                                                            \
  SOFTLAB_HD V operator op(V a, V b) { V c; EACH(c, =, a, op, b) return c; }                        \
  SOFTLAB_HD V operator op(V a, T s) { V b = softlab_all_##V(s); V c; EACH(c, =, a, op, b) return c; } \
  SOFTLAB_HD V operator op(T s, V a) { V b = softlab_all_##V(s); V c; EACH(c, =, b, op, a) return c; } \
  SOFTLAB_HD void operator op##=(V& a, V b) { a = a op b; }                                         \
  SOFTLAB_HD void operator op##=(V& a, T s) { a = a op s; }
#define SOFTLAB_EACH2(c, e, a, op, b) c.x e a.x op b.x; c.y e a.y op b.y;
#define SOFTLAB_EACH3(c, e, a, op, b) SOFTLAB_EACH2(c, e, a, op, b) c.z e a.z op b.z;
#define SOFTLAB_EACH4(c, e, a, op, b) SOFTLAB_EACH3(c, e, a, op, b) c.w e a.w op b.w;
#define SOFTLAB_CALLS2(f, ...) f(x) __VA_ARGS__ f(y)
#define SOFTLAB_CALLS3(f, ...) SOFTLAB_CALLS2(f, __VA_ARGS__) __VA_ARGS__ f(z)
#define SOFTLAB_CALLS4(f, ...) SOFTLAB_CALLS3(f, __VA_ARGS__) __VA_ARGS__ f(w)
#define SOFTLAB_COMMA ,
#define SOFTLAB_PRODUCT(m) a.m * b.m
#define SOFTLAB_SMALLER(m) c.m = a.m < b.m ? a.m : b.m;
#define SOFTLAB_LARGER(m) c.m = a.m < b.m ? b.m : a.m;

#define SOFTLAB_VECTOR(T, V, n)                                                                     \
  SOFTLAB_OPERATOR(T, V, +, SOFTLAB_EACH##n)                                                        \
  SOFTLAB_OPERATOR(T, V, -, SOFTLAB_EACH##n)                                                        \
  SOFTLAB_OPERATOR(T, V, *, SOFTLAB_EACH##n)                                                        \
  SOFTLAB_HD T dot(V a, V b) { return SOFTLAB_CALLS##n(SOFTLAB_PRODUCT, +); }                       \
  SOFTLAB_HD V clamp(V a, V low, V high) {                                                          \
    V b = low, c;                                                                                   \
    SOFTLAB_CALLS##n(SOFTLAB_LARGER)                                                                \
    a = c, b = high;                                                                                \
    SOFTLAB_CALLS##n(SOFTLAB_SMALLER)                                                               \
    return c;                                                                                       \
  }                                                                                                 \
  SOFTLAB_HD V clamp(V a, T low, T high) { return clamp(a, softlab_all_##V(low), softlab_all_##V(high)); }
#define SOFTLAB_INTEGER_VECTOR(T, V, n)                                                             \
  SOFTLAB_VECTOR(T, V, n)                                                                           \
  SOFTLAB_HD V min(V a, V b) { V c; SOFTLAB_CALLS##n(SOFTLAB_SMALLER) return c; }                   \
  SOFTLAB_HD V max(V a, V b) { V c; SOFTLAB_CALLS##n(SOFTLAB_LARGER) return c; }
#define SOFTLAB_MAP(V, n, name, f)                                                                  \
  SOFTLAB_HD V name(V a) { return make_##V(SOFTLAB_CALLS##n(f, SOFTLAB_COMMA)); }
#define SOFTLAB_ABSOLUTE(m) fabsf(a.m)
#define SOFTLAB_FLOOR(m) floorf(a.m)
#define SOFTLAB_FRACTION(m) (a.m - floorf(a.m))
#define SOFTLAB_OPPOSITE(m) -a.m
#define SOFTLAB_REMAINDER(m) fmodf(a.m, b.m)
#define SOFTLAB_FLOAT_VECTOR(V, n)                                                                  \
  SOFTLAB_VECTOR(float, V, n)                                                                       \
  SOFTLAB_OPERATOR(float, V, /, SOFTLAB_EACH##n)                                                    \
  SOFTLAB_MAP(V, n, operator-, SOFTLAB_OPPOSITE)                                                    \
  SOFTLAB_MAP(V, n, fabs, SOFTLAB_ABSOLUTE)                                                         \
  SOFTLAB_MAP(V, n, floorf, SOFTLAB_FLOOR)                                                          \
  SOFTLAB_MAP(V, n, fracf, SOFTLAB_FRACTION)                                                        \
  SOFTLAB_HD V fmodf(V a, V b) { return make_##V(SOFTLAB_CALLS##n(SOFTLAB_REMAINDER, SOFTLAB_COMMA)); } \
  SOFTLAB_HD V fminf(V a, V b) { V c; SOFTLAB_CALLS##n(SOFTLAB_SMALLER) return c; }                 \
  SOFTLAB_HD V fmaxf(V a, V b) { V c; SOFTLAB_CALLS##n(SOFTLAB_LARGER) return c; }                  \
  SOFTLAB_HD V lerp(V a, V b, float t) { return a + t * (b - a); }                                  \
  SOFTLAB_HD float length(V a) { return sqrtf(dot(a, a)); }                                         \
  SOFTLAB_HD V normalize(V a) { return a * rsqrtf(dot(a, a)); }                                     \
  SOFTLAB_HD V reflect(V i, V n_) { return i - 2.0f * n_ * dot(n_, i); }                            \
  SOFTLAB_HD V smoothstep(V a, V b, V x) {                                                          \
    V y = clamp((x - a) / (b - a), 0.0f, 1.0f);                                                     \
    return y * y * (softlab_all_##V(3.0f) - softlab_all_##V(2.0f) * y);                             \
  }

#define SOFTLAB_MAKERS(T, V)                                                                        \
  SOFTLAB_HD V##2 softlab_all_##V##2(T s) { return make_##V##2(s, s); }                             \
  SOFTLAB_HD V##3 softlab_all_##V##3(T s) { return make_##V##3(s, s, s); }                          \
  SOFTLAB_HD V##4 softlab_all_##V##4(T s) { return make_##V##4(s, s, s, s); }                       \
  SOFTLAB_HD V##2 make_##V##2(T s) { return make_##V##2(s, s); }                                    \
  SOFTLAB_HD V##3 make_##V##3(T s) { return make_##V##3(s, s, s); }                                 \
  SOFTLAB_HD V##4 make_##V##4(T s) { return make_##V##4(s, s, s, s); }                              \
  SOFTLAB_HD V##2 make_##V##2(V##3 a) { return make_##V##2(a.x, a.y); }                             \
  SOFTLAB_HD V##3 make_##V##3(V##2 a) { return make_##V##3(a.x, a.y, 0); }                          \
  SOFTLAB_HD V##3 make_##V##3(V##2 a, T z) { return make_##V##3(a.x, a.y, z); }                     \
  SOFTLAB_HD V##3 make_##V##3(V##4 a) { return make_##V##3(a.x, a.y, a.z); }                        \
  SOFTLAB_HD V##4 make_##V##4(V##3 a) { return make_##V##4(a.x, a.y, a.z, 0); }                     \
  SOFTLAB_HD V##4 make_##V##4(V##3 a, T w) { return make_##V##4(a.x, a.y, a.z, w); }
#define SOFTLAB_CONVERT(T, V, from)                                                                 \
  SOFTLAB_HD V##2 make_##V##2(from##2 a) { return make_##V##2((T)a.x, (T)a.y); }                    \
  SOFTLAB_HD V##3 make_##V##3(from##3 a) { return make_##V##3((T)a.x, (T)a.y, (T)a.z); }            \
  SOFTLAB_HD V##4 make_##V##4(from##4 a) { return make_##V##4((T)a.x, (T)a.y, (T)a.z, (T)a.w); }
SOFTLAB_MAKERS(float, float)
SOFTLAB_MAKERS(int, int)
SOFTLAB_MAKERS(uint, uint)
SOFTLAB_CONVERT(float, float, int)
SOFTLAB_CONVERT(float, float, uint)
SOFTLAB_CONVERT(int, int, float)
SOFTLAB_CONVERT(int, int, uint)
SOFTLAB_CONVERT(uint, uint, int)
SOFTLAB_FLOAT_VECTOR(float2, 2)
SOFTLAB_FLOAT_VECTOR(float3, 3)
SOFTLAB_FLOAT_VECTOR(float4, 4)
SOFTLAB_INTEGER_VECTOR(int, int2, 2)
SOFTLAB_INTEGER_VECTOR(int, int3, 3)
SOFTLAB_INTEGER_VECTOR(int, int4, 4)
SOFTLAB_INTEGER_VECTOR(uint, uint2, 2)
SOFTLAB_INTEGER_VECTOR(uint, uint3, 3)
SOFTLAB_INTEGER_VECTOR(uint, uint4, 4)
SOFTLAB_MAP(int2, 2, operator-, SOFTLAB_OPPOSITE)
SOFTLAB_MAP(int3, 3, operator-, SOFTLAB_OPPOSITE)
SOFTLAB_MAP(int4, 4, operator-, SOFTLAB_OPPOSITE)
SOFTLAB_HD float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

#undef SOFTLAB_HD
#undef SOFTLAB_OPERATOR
#undef SOFTLAB_EACH2
#undef SOFTLAB_EACH3
#undef SOFTLAB_EACH4
#undef SOFTLAB_CALLS2
#undef SOFTLAB_CALLS3
#undef SOFTLAB_CALLS4
#undef SOFTLAB_COMMA
#undef SOFTLAB_PRODUCT
#undef SOFTLAB_SMALLER
#undef SOFTLAB_LARGER
#undef SOFTLAB_VECTOR
#undef SOFTLAB_INTEGER_VECTOR
#undef SOFTLAB_MAP
#undef SOFTLAB_ABSOLUTE
#undef SOFTLAB_FLOOR
#undef SOFTLAB_FRACTION
#undef SOFTLAB_OPPOSITE
#undef SOFTLAB_REMAINDER
#undef SOFTLAB_FLOAT_VECTOR
#undef SOFTLAB_MAKERS
#undef SOFTLAB_CONVERT
#endif
