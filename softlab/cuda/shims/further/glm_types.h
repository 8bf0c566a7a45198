// What device code uses of GLM, where its headers are not there: vectors, matrices, quaternions and the functions that
// GLSL has for them. Objects have GLM's layout: components one after the other, matrices by columns, quaternions with w
// last.
#ifndef SOFTLAB_GLM_TYPES_H
#define SOFTLAB_GLM_TYPES_H

#define SOFTLAB_GLM inline __host__ __device__
#define SOFTLAB_GLM_LOOP(i, n) _Pragma("unroll") for (int i = 0; i < (n); ++i)
#ifndef GLM_FUNC_QUALIFIER
#define GLM_FUNC_QUALIFIER __host__ __device__ inline
#define GLM_FUNC_DECL __host__ __device__
#define GLM_INLINE __forceinline__
#define GLM_VERSION 998
#endif

namespace glm {

typedef int length_t;
enum qualifier { packed_highp, packed_mediump, packed_lowp, highp = 0, mediump = 1, lowp = 2, packed = 0, defaultp = 0 };
template <length_t L, typename T, qualifier Q = defaultp> struct vec;
template <length_t C, length_t R, typename T, qualifier Q = defaultp> struct mat;
template <typename T, qualifier Q = defaultp> struct qua;

template <bool> struct softlab_if {};
template <> struct softlab_if<true> { typedef int type; };
template <typename T> struct softlab_is_number { static constexpr bool value = false; };
#define SOFTLAB_GLM_NUMBER(T) template <> struct softlab_is_number<T> { static constexpr bool value = true; };
SOFTLAB_GLM_NUMBER(bool)
SOFTLAB_GLM_NUMBER(char)
SOFTLAB_GLM_NUMBER(signed char)
SOFTLAB_GLM_NUMBER(unsigned char)
SOFTLAB_GLM_NUMBER(short)
SOFTLAB_GLM_NUMBER(unsigned short)
SOFTLAB_GLM_NUMBER(int)
SOFTLAB_GLM_NUMBER(unsigned int)
SOFTLAB_GLM_NUMBER(long)
SOFTLAB_GLM_NUMBER(unsigned long)
SOFTLAB_GLM_NUMBER(long long)
SOFTLAB_GLM_NUMBER(unsigned long long)
SOFTLAB_GLM_NUMBER(float)
SOFTLAB_GLM_NUMBER(double)
#undef SOFTLAB_GLM_NUMBER
#define SOFTLAB_GLM_NUMBERS(T) typename softlab_if<softlab_is_number<T>::value>::type = 0

// What vectors of every length have. ``softlab_parts`` are the components.
#define SOFTLAB_GLM_VECTOR(L)                                                                                 \
  typedef T value_type;                                                                                       \
  typedef vec type;                                                                                           \
  typedef vec<L, bool, Q> bool_type;                                                                          \
  static constexpr __host__ __device__ length_t length() { return L; }                                        \
  __host__ __device__ T& operator[](length_t i) { return softlab_parts[i]; }                                  \
  __host__ __device__ const T& operator[](length_t i) const { return softlab_parts[i]; }                      \
  vec() = default;                                                                                            \
  template <length_t M, typename U, qualifier P, typename softlab_if<(M >= L)>::type = 0>                     \
  __host__ __device__ vec(const vec<M, U, P>& v) {                                                            \
    SOFTLAB_GLM_LOOP(i, L) softlab_parts[i] = static_cast<T>(v[i]);                                           \
  }                                                                                                           \
  SOFTLAB_GLM_ASSIGNMENT(+=)                                                                                  \
  SOFTLAB_GLM_ASSIGNMENT(-=)                                                                                  \
  SOFTLAB_GLM_ASSIGNMENT(*=)                                                                                  \
  SOFTLAB_GLM_ASSIGNMENT(/=)                                                                                  \
  SOFTLAB_GLM_ASSIGNMENT(%=)                                                                                  \
  SOFTLAB_GLM_ASSIGNMENT(&=)                                                                                  \
  SOFTLAB_GLM_ASSIGNMENT(|=)                                                                                  \
  SOFTLAB_GLM_ASSIGNMENT(^=)                                                                                  \
  SOFTLAB_GLM_ASSIGNMENT(<<=)                                                                                 \
  SOFTLAB_GLM_ASSIGNMENT(>>=)                                                                                 \
  __host__ __device__ vec& operator++() { return *this += T(1); }                                             \
  __host__ __device__ vec& operator--() { return *this -= T(1); }
#define SOFTLAB_GLM_ASSIGNMENT(op)                                                                            \
  template <typename U, SOFTLAB_GLM_NUMBERS(U)> __host__ __device__ vec& operator op(U a) {                   \
    SOFTLAB_GLM_LOOP(i, length()) softlab_parts[i] op static_cast<T>(a);                                      \
    return *this;                                                                                             \
  }                                                                                                           \
  template <typename U, qualifier P> __host__ __device__ vec& operator op(const vec<length(), U, P>& v) {     \
    SOFTLAB_GLM_LOOP(i, length()) softlab_parts[i] op static_cast<T>(v[i]);                                   \
    return *this;                                                                                             \
  }

template <typename T, qualifier Q> struct vec<1, T, Q> {
  union {
    struct { T x; };
    struct { T r; };
    T softlab_parts[1];
  };
  SOFTLAB_GLM_VECTOR(1)
  template <typename A, SOFTLAB_GLM_NUMBERS(A)> __host__ __device__ explicit vec(A a) : x(static_cast<T>(a)) {}
};
template <typename T, qualifier Q> struct vec<2, T, Q> {
  union {
    struct { T x, y; };
    struct { T r, g; };
    struct { T s, t; };
    T softlab_parts[2];
  };
  SOFTLAB_GLM_VECTOR(2)
  template <typename A, SOFTLAB_GLM_NUMBERS(A)> __host__ __device__ explicit vec(A a) : vec(a, a) {}
  template <typename A, typename B, SOFTLAB_GLM_NUMBERS(A), SOFTLAB_GLM_NUMBERS(B)>
  __host__ __device__ vec(A a, B b) : x(static_cast<T>(a)), y(static_cast<T>(b)) {}
};
template <typename T, qualifier Q> struct vec<3, T, Q> {
  union {
    struct { T x, y, z; };
    struct { T r, g, b; };
    struct { T s, t, p; };
    T softlab_parts[3];
  };
  SOFTLAB_GLM_VECTOR(3)
  template <typename A, SOFTLAB_GLM_NUMBERS(A)> __host__ __device__ explicit vec(A a) : vec(a, a, a) {}
  template <typename A, typename B, typename C, SOFTLAB_GLM_NUMBERS(A), SOFTLAB_GLM_NUMBERS(B), SOFTLAB_GLM_NUMBERS(C)>
  __host__ __device__ vec(A a, B b, C c) : x(static_cast<T>(a)), y(static_cast<T>(b)), z(static_cast<T>(c)) {}
  template <typename U, qualifier P, typename C, SOFTLAB_GLM_NUMBERS(C)>
  __host__ __device__ vec(const vec<2, U, P>& ab, C c) : vec(ab.x, ab.y, c) {}
  template <typename A, typename U, qualifier P, SOFTLAB_GLM_NUMBERS(A)>
  __host__ __device__ vec(A a, const vec<2, U, P>& bc) : vec(a, bc.x, bc.y) {}
};
template <typename T, qualifier Q> struct vec<4, T, Q> {
  union {
    struct { T x, y, z, w; };
    struct { T r, g, b, a; };
    struct { T s, t, p, q; };
    T softlab_parts[4];
  };
  SOFTLAB_GLM_VECTOR(4)
  template <typename A, SOFTLAB_GLM_NUMBERS(A)> __host__ __device__ explicit vec(A a) : vec(a, a, a, a) {}
  template <typename A, typename B, typename C, typename D, SOFTLAB_GLM_NUMBERS(A), SOFTLAB_GLM_NUMBERS(B),
            SOFTLAB_GLM_NUMBERS(C), SOFTLAB_GLM_NUMBERS(D)>
  __host__ __device__ vec(A a, B b, C c, D d)
      : x(static_cast<T>(a)), y(static_cast<T>(b)), z(static_cast<T>(c)), w(static_cast<T>(d)) {}
  template <typename U, qualifier P, typename D, SOFTLAB_GLM_NUMBERS(D)>
  __host__ __device__ vec(const vec<3, U, P>& abc, D d) : vec(abc.x, abc.y, abc.z, d) {}
  template <typename A, typename U, qualifier P, SOFTLAB_GLM_NUMBERS(A)>
  __host__ __device__ vec(A a, const vec<3, U, P>& bcd) : vec(a, bcd.x, bcd.y, bcd.z) {}
  template <typename U, typename V, qualifier P, qualifier S>
  __host__ __device__ vec(const vec<2, U, P>& ab, const vec<2, V, S>& cd) : vec(ab.x, ab.y, cd.x, cd.y) {}
  template <typename U, qualifier P, typename C, typename D, SOFTLAB_GLM_NUMBERS(C), SOFTLAB_GLM_NUMBERS(D)>
  __host__ __device__ vec(const vec<2, U, P>& ab, C c, D d) : vec(ab.x, ab.y, c, d) {}
  template <typename A, typename B, typename U, qualifier P, SOFTLAB_GLM_NUMBERS(A), SOFTLAB_GLM_NUMBERS(B)>
  __host__ __device__ vec(A a, B b, const vec<2, U, P>& cd) : vec(a, b, cd.x, cd.y) {}
};
#undef SOFTLAB_GLM_VECTOR
#undef SOFTLAB_GLM_ASSIGNMENT

#define SOFTLAB_GLM_OPERATOR(op)                                                                              \
  template <length_t L, typename T, qualifier Q>                                                              \
  SOFTLAB_GLM vec<L, T, Q> operator op(const vec<L, T, Q>& a, const vec<L, T, Q>& b) {                        \
    vec<L, T, Q> c;                                                                                           \
    SOFTLAB_GLM_LOOP(i, L) c[i] = static_cast<T>(a[i] op b[i]);                                               \
    return c;                                                                                                 \
  }                                                                                                           \
  template <length_t L, typename T, qualifier Q, typename U, SOFTLAB_GLM_NUMBERS(U)>                          \
  SOFTLAB_GLM vec<L, T, Q> operator op(const vec<L, T, Q>& a, U b) {                                          \
    return a op vec<L, T, Q>(b);                                                                              \
  }                                                                                                           \
  template <length_t L, typename T, qualifier Q, typename U, SOFTLAB_GLM_NUMBERS(U)>                          \
  SOFTLAB_GLM vec<L, T, Q> operator op(U a, const vec<L, T, Q>& b) {                                          \
    return vec<L, T, Q>(a) op b;                                                                              \
  }
SOFTLAB_GLM_OPERATOR(+)
SOFTLAB_GLM_OPERATOR(-)
SOFTLAB_GLM_OPERATOR(*)
SOFTLAB_GLM_OPERATOR(/)
SOFTLAB_GLM_OPERATOR(%)
SOFTLAB_GLM_OPERATOR(&)
SOFTLAB_GLM_OPERATOR(|)
SOFTLAB_GLM_OPERATOR(^)
SOFTLAB_GLM_OPERATOR(<<)
SOFTLAB_GLM_OPERATOR(>>)
#undef SOFTLAB_GLM_OPERATOR
template <length_t L, typename T, qualifier Q> SOFTLAB_GLM vec<L, T, Q> operator-(const vec<L, T, Q>& a) {
  return vec<L, T, Q>(T(0)) - a;
}
template <length_t L, typename T, qualifier Q> SOFTLAB_GLM vec<L, T, Q> operator+(const vec<L, T, Q>& a) { return a; }
template <length_t L, typename T, qualifier Q>
SOFTLAB_GLM bool operator==(const vec<L, T, Q>& a, const vec<L, T, Q>& b) {
  bool same = true;
  SOFTLAB_GLM_LOOP(i, L) same = same && a[i] == b[i];
  return same;
}
template <length_t L, typename T, qualifier Q>
SOFTLAB_GLM bool operator!=(const vec<L, T, Q>& a, const vec<L, T, Q>& b) {
  return !(a == b);
}

#define SOFTLAB_GLM_COMPARISON(name, op)                                                                      \
  template <length_t L, typename T, qualifier Q>                                                              \
  SOFTLAB_GLM vec<L, bool, Q> name(const vec<L, T, Q>& a, const vec<L, T, Q>& b) {                            \
    vec<L, bool, Q> c;                                                                                        \
    SOFTLAB_GLM_LOOP(i, L) c[i] = a[i] op b[i];                                                               \
    return c;                                                                                                 \
  }
SOFTLAB_GLM_COMPARISON(lessThan, <)
SOFTLAB_GLM_COMPARISON(lessThanEqual, <=)
SOFTLAB_GLM_COMPARISON(greaterThan, >)
SOFTLAB_GLM_COMPARISON(greaterThanEqual, >=)
SOFTLAB_GLM_COMPARISON(equal, ==)
SOFTLAB_GLM_COMPARISON(notEqual, !=)
#undef SOFTLAB_GLM_COMPARISON
template <length_t L, qualifier Q> SOFTLAB_GLM bool any(const vec<L, bool, Q>& v) {
  bool found = false;
  SOFTLAB_GLM_LOOP(i, L) found = found || v[i];
  return found;
}
template <length_t L, qualifier Q> SOFTLAB_GLM bool all(const vec<L, bool, Q>& v) {
  bool found = true;
  SOFTLAB_GLM_LOOP(i, L) found = found && v[i];
  return found;
}
template <length_t L, qualifier Q> SOFTLAB_GLM vec<L, bool, Q> not_(const vec<L, bool, Q>& v) {
  return equal(v, vec<L, bool, Q>(false));
}

// Functions of numbers, then the same for each component of a vector.
#define SOFTLAB_GLM_NUMBER(name, value) \
  template <typename T, SOFTLAB_GLM_NUMBERS(T)> SOFTLAB_GLM auto name(T a) { return value; }
#define SOFTLAB_GLM_EACH(name)                                                                                \
  template <length_t L, typename T, qualifier Q> SOFTLAB_GLM auto name(const vec<L, T, Q>& a) {               \
    vec<L, decltype(name(a[0])), Q> c;                                                                        \
    SOFTLAB_GLM_LOOP(i, L) c[i] = name(a[i]);                                                                 \
    return c;                                                                                                 \
  }
#define SOFTLAB_GLM_FUNCTION(name, value) \
  SOFTLAB_GLM_NUMBER(name, value)         \
  SOFTLAB_GLM_EACH(name)
SOFTLAB_GLM_FUNCTION(abs, a < T(0) ? -a : a)
SOFTLAB_GLM_FUNCTION(sign, T((T(0) < a) - (a < T(0))))
SOFTLAB_GLM_FUNCTION(floor, ::floor(a))
SOFTLAB_GLM_FUNCTION(ceil, ::ceil(a))
SOFTLAB_GLM_FUNCTION(trunc, ::trunc(a))
SOFTLAB_GLM_FUNCTION(round, ::round(a))
SOFTLAB_GLM_FUNCTION(fract, a - ::floor(a))
SOFTLAB_GLM_FUNCTION(sqrt, ::sqrt(a))
SOFTLAB_GLM_FUNCTION(inversesqrt, T(1) / ::sqrt(a))
SOFTLAB_GLM_FUNCTION(exp, ::exp(a))
SOFTLAB_GLM_FUNCTION(exp2, ::exp2(a))
SOFTLAB_GLM_FUNCTION(log, ::log(a))
SOFTLAB_GLM_FUNCTION(log2, ::log2(a))
SOFTLAB_GLM_FUNCTION(sin, ::sin(a))
SOFTLAB_GLM_FUNCTION(cos, ::cos(a))
SOFTLAB_GLM_FUNCTION(tan, ::tan(a))
SOFTLAB_GLM_FUNCTION(asin, ::asin(a))
SOFTLAB_GLM_FUNCTION(acos, ::acos(a))
SOFTLAB_GLM_FUNCTION(atan, ::atan(a))
SOFTLAB_GLM_FUNCTION(sinh, ::sinh(a))
SOFTLAB_GLM_FUNCTION(cosh, ::cosh(a))
SOFTLAB_GLM_FUNCTION(tanh, ::tanh(a))
SOFTLAB_GLM_FUNCTION(radians, a * T(0.01745329251994329576923690768489))
SOFTLAB_GLM_FUNCTION(degrees, a * T(57.295779513082320876798154814105))
SOFTLAB_GLM_FUNCTION(isnan, ::isnan(a) != 0)
SOFTLAB_GLM_FUNCTION(isinf, ::isinf(a) != 0)
#undef SOFTLAB_GLM_FUNCTION
#undef SOFTLAB_GLM_EACH
#undef SOFTLAB_GLM_NUMBER

#define SOFTLAB_GLM_OF_TWO(name, value)                                                                       \
  template <typename T, SOFTLAB_GLM_NUMBERS(T)> SOFTLAB_GLM T name(T a, T b) { return value; }                \
  template <length_t L, typename T, qualifier Q>                                                              \
  SOFTLAB_GLM vec<L, T, Q> name(const vec<L, T, Q>& a, const vec<L, T, Q>& b) {                               \
    vec<L, T, Q> c;                                                                                           \
    SOFTLAB_GLM_LOOP(i, L) c[i] = name(a[i], b[i]);                                                           \
    return c;                                                                                                 \
  }                                                                                                           \
  template <length_t L, typename T, qualifier Q, typename U, SOFTLAB_GLM_NUMBERS(U)>                          \
  SOFTLAB_GLM vec<L, T, Q> name(const vec<L, T, Q>& a, U b) {                                                 \
    return name(a, vec<L, T, Q>(b));                                                                          \
  }
SOFTLAB_GLM_OF_TWO(min, b < a ? b : a)
SOFTLAB_GLM_OF_TWO(max, a < b ? b : a)
SOFTLAB_GLM_OF_TWO(mod, a - b * ::floor(a / b))
SOFTLAB_GLM_OF_TWO(pow, ::pow(a, b))
SOFTLAB_GLM_OF_TWO(atan, ::atan2(a, b))
#undef SOFTLAB_GLM_OF_TWO
template <typename T> SOFTLAB_GLM T min(const T& a, const T& b, const T& c) { return min(min(a, b), c); }
template <typename T> SOFTLAB_GLM T max(const T& a, const T& b, const T& c) { return max(max(a, b), c); }
template <typename V, typename A, typename B> SOFTLAB_GLM V clamp(const V& v, const A& low, const B& high) {
  return min(max(v, low), high);
}
template <typename T, SOFTLAB_GLM_NUMBERS(T)> SOFTLAB_GLM T clamp(T v, T low, T high) { return min(max(v, low), high); }
template <length_t L, typename T, qualifier Q> SOFTLAB_GLM vec<L, T, Q> saturate(const vec<L, T, Q>& v) {
  return clamp(v, T(0), T(1));
}
template <typename T, typename U, SOFTLAB_GLM_NUMBERS(T), SOFTLAB_GLM_NUMBERS(U)> SOFTLAB_GLM T mix(T a, T b, U part) {
  return static_cast<T>(static_cast<U>(a) * (U(1) - part) + static_cast<U>(b) * part);
}
template <typename T, SOFTLAB_GLM_NUMBERS(T)> SOFTLAB_GLM T mix(T a, T b, bool second) { return second ? b : a; }
template <length_t L, typename T, qualifier Q, typename U, SOFTLAB_GLM_NUMBERS(U)>
SOFTLAB_GLM vec<L, T, Q> mix(const vec<L, T, Q>& a, const vec<L, T, Q>& b, U part) {
  vec<L, T, Q> c;
  SOFTLAB_GLM_LOOP(i, L) c[i] = mix(a[i], b[i], part);
  return c;
}
template <length_t L, typename T, qualifier Q, typename U>
SOFTLAB_GLM vec<L, T, Q> mix(const vec<L, T, Q>& a, const vec<L, T, Q>& b, const vec<L, U, Q>& part) {
  vec<L, T, Q> c;
  SOFTLAB_GLM_LOOP(i, L) c[i] = mix(a[i], b[i], part[i]);
  return c;
}
template <typename V, typename P> SOFTLAB_GLM V lerp(const V& a, const V& b, const P& part) { return mix(a, b, part); }
template <typename T, SOFTLAB_GLM_NUMBERS(T)> SOFTLAB_GLM T step(T edge, T a) { return a < edge ? T(0) : T(1); }
template <typename T, SOFTLAB_GLM_NUMBERS(T)> SOFTLAB_GLM T smoothstep(T low, T high, T a) {
  T part = clamp((a - low) / (high - low), T(0), T(1));
  return part * part * (T(3) - T(2) * part);
}
template <length_t L, typename T, qualifier Q> SOFTLAB_GLM vec<L, T, Q> step(T edge, const vec<L, T, Q>& a) {
  vec<L, T, Q> c;
  SOFTLAB_GLM_LOOP(i, L) c[i] = step(edge, a[i]);
  return c;
}
template <length_t L, typename T, qualifier Q>
SOFTLAB_GLM vec<L, T, Q> smoothstep(T low, T high, const vec<L, T, Q>& a) {
  vec<L, T, Q> c;
  SOFTLAB_GLM_LOOP(i, L) c[i] = smoothstep(low, high, a[i]);
  return c;
}
template <typename T, SOFTLAB_GLM_NUMBERS(T)> SOFTLAB_GLM bool epsilonEqual(T a, T b, T most) { return abs(a - b) < most; }
template <length_t L, typename T, qualifier Q>
SOFTLAB_GLM vec<L, bool, Q> epsilonEqual(const vec<L, T, Q>& a, const vec<L, T, Q>& b, T most) {
  return lessThan(abs(a - b), vec<L, T, Q>(most));
}

template <typename T, SOFTLAB_GLM_NUMBERS(T)> SOFTLAB_GLM T dot(T a, T b) { return a * b; }
template <length_t L, typename T, qualifier Q> SOFTLAB_GLM T dot(const vec<L, T, Q>& a, const vec<L, T, Q>& b) {
  T sum = a[0] * b[0];
  _Pragma("unroll") for (int i = 1; i < L; ++i) sum += a[i] * b[i];
  return sum;
}
template <typename T, qualifier Q>
SOFTLAB_GLM vec<3, T, Q> cross(const vec<3, T, Q>& a, const vec<3, T, Q>& b) {
  return vec<3, T, Q>(a.y * b.z - b.y * a.z, a.z * b.x - b.z * a.x, a.x * b.y - b.x * a.y);
}
template <length_t L, typename T, qualifier Q> SOFTLAB_GLM T length(const vec<L, T, Q>& a) { return ::sqrt(dot(a, a)); }
template <typename T, SOFTLAB_GLM_NUMBERS(T)> SOFTLAB_GLM T length(T a) { return abs(a); }
template <typename V> SOFTLAB_GLM auto length2(const V& a) { return dot(a, a); }
template <typename V> SOFTLAB_GLM auto distance(const V& a, const V& b) { return length(b - a); }
template <typename V> SOFTLAB_GLM auto distance2(const V& a, const V& b) { return length2(b - a); }
template <length_t L, typename T, qualifier Q> SOFTLAB_GLM vec<L, T, Q> normalize(const vec<L, T, Q>& a) {
  return a * inversesqrt(dot(a, a));
}
template <length_t L, typename T, qualifier Q>
SOFTLAB_GLM vec<L, T, Q> reflect(const vec<L, T, Q>& ray, const vec<L, T, Q>& normal) {
  return ray - normal * dot(normal, ray) * T(2);
}
template <length_t L, typename T, qualifier Q>
SOFTLAB_GLM vec<L, T, Q> refract(const vec<L, T, Q>& ray, const vec<L, T, Q>& normal, T ratio) {
  T along = dot(normal, ray), left = T(1) - ratio * ratio * (T(1) - along * along);
  return left < T(0) ? vec<L, T, Q>(T(0)) : ratio * ray - (ratio * along + ::sqrt(left)) * normal;
}
template <length_t L, typename T, qualifier Q>
SOFTLAB_GLM vec<L, T, Q> faceforward(const vec<L, T, Q>& a, const vec<L, T, Q>& ray, const vec<L, T, Q>& normal) {
  return dot(normal, ray) < T(0) ? a : -a;
}

template <length_t C, length_t R, typename T, qualifier Q> struct mat {
  typedef T value_type;
  typedef vec<R, T, Q> col_type;
  typedef vec<C, T, Q> row_type;
  col_type softlab_columns[C];
  static constexpr __host__ __device__ length_t length() { return C; }
  __host__ __device__ col_type& operator[](length_t i) { return softlab_columns[i]; }
  __host__ __device__ const col_type& operator[](length_t i) const { return softlab_columns[i]; }
  mat() = default;
  template <typename U, SOFTLAB_GLM_NUMBERS(U)> __host__ __device__ explicit mat(U diagonal) {
    SOFTLAB_GLM_LOOP(i, C) {
      softlab_columns[i] = col_type(T(0));
      if (i < R) softlab_columns[i][i] = static_cast<T>(diagonal);
    }
  }
  template <length_t D, length_t S, typename U, qualifier P> __host__ __device__ mat(const mat<D, S, U, P>& m) {
    SOFTLAB_GLM_LOOP(i, C) SOFTLAB_GLM_LOOP(j, R) {
      softlab_columns[i][j] = i < D && j < S ? static_cast<T>(m[i < D ? i : 0][j < S ? j : 0]) : T(i == j);
    }
  }
  template <typename... More, typename softlab_if<sizeof...(More) == C - 1>::type = 0>
  __host__ __device__ mat(const col_type& first, const More&... more) : softlab_columns{first, col_type(more)...} {}
  template <typename A, typename... More, SOFTLAB_GLM_NUMBERS(A),
            typename softlab_if<sizeof...(More) == C * R - 1 && C * R != 1>::type = 0>
  __host__ __device__ mat(A first, More... more) {
    T all[C * R] = {static_cast<T>(first), static_cast<T>(more)...};
    SOFTLAB_GLM_LOOP(i, C) SOFTLAB_GLM_LOOP(j, R) softlab_columns[i][j] = all[i * R + j];
  }
  template <typename U> __host__ __device__ mat& operator+=(const U& other) { return *this = *this + other; }
  template <typename U> __host__ __device__ mat& operator-=(const U& other) { return *this = *this - other; }
  template <typename U> __host__ __device__ mat& operator*=(const U& other) { return *this = *this * other; }
  template <typename U> __host__ __device__ mat& operator/=(const U& other) { return *this = *this / other; }
};
#define SOFTLAB_GLM_OF_COLUMNS(op)                                                                            \
  template <length_t C, length_t R, typename T, qualifier Q, typename U, SOFTLAB_GLM_NUMBERS(U)>              \
  SOFTLAB_GLM mat<C, R, T, Q> operator op(mat<C, R, T, Q> a, U b) {                                           \
    SOFTLAB_GLM_LOOP(i, C) a[i] = a[i] op b;                                                                  \
    return a;                                                                                                 \
  }
#define SOFTLAB_GLM_OF_MATRICES(op)                                                                           \
  template <length_t C, length_t R, typename T, qualifier Q>                                                  \
  SOFTLAB_GLM mat<C, R, T, Q> operator op(mat<C, R, T, Q> a, const mat<C, R, T, Q>& b) {                      \
    SOFTLAB_GLM_LOOP(i, C) a[i] = a[i] op b[i];                                                               \
    return a;                                                                                                 \
  }
SOFTLAB_GLM_OF_COLUMNS(+)
SOFTLAB_GLM_OF_COLUMNS(-)
SOFTLAB_GLM_OF_COLUMNS(*)
SOFTLAB_GLM_OF_COLUMNS(/)
SOFTLAB_GLM_OF_MATRICES(+)
SOFTLAB_GLM_OF_MATRICES(-)
#undef SOFTLAB_GLM_OF_COLUMNS
#undef SOFTLAB_GLM_OF_MATRICES
template <length_t C, length_t R, typename T, qualifier Q, typename U, SOFTLAB_GLM_NUMBERS(U)>
SOFTLAB_GLM mat<C, R, T, Q> operator*(U a, const mat<C, R, T, Q>& b) {
  return b * a;
}
template <length_t C, length_t R, typename T, qualifier Q> SOFTLAB_GLM mat<C, R, T, Q> operator-(mat<C, R, T, Q> a) {
  return a * T(-1);
}
template <length_t C, length_t R, typename T, qualifier Q>
SOFTLAB_GLM vec<R, T, Q> operator*(const mat<C, R, T, Q>& m, const vec<C, T, Q>& v) {
  vec<R, T, Q> sum = m[0] * v[0];
  _Pragma("unroll") for (int i = 1; i < C; ++i) sum += m[i] * v[i];
  return sum;
}
template <length_t C, length_t R, typename T, qualifier Q>
SOFTLAB_GLM vec<C, T, Q> operator*(const vec<R, T, Q>& v, const mat<C, R, T, Q>& m) {
  vec<C, T, Q> c;
  SOFTLAB_GLM_LOOP(i, C) c[i] = dot(v, m[i]);
  return c;
}
template <length_t C, length_t R, length_t D, typename T, qualifier Q>
SOFTLAB_GLM mat<D, R, T, Q> operator*(const mat<C, R, T, Q>& a, const mat<D, C, T, Q>& b) {
  mat<D, R, T, Q> c;
  SOFTLAB_GLM_LOOP(i, D) c[i] = a * b[i];
  return c;
}
template <length_t C, length_t R, typename T, qualifier Q>
SOFTLAB_GLM bool operator==(const mat<C, R, T, Q>& a, const mat<C, R, T, Q>& b) {
  bool same = true;
  SOFTLAB_GLM_LOOP(i, C) same = same && a[i] == b[i];
  return same;
}
template <length_t C, length_t R, typename T, qualifier Q>
SOFTLAB_GLM mat<R, C, T, Q> transpose(const mat<C, R, T, Q>& m) {
  mat<R, C, T, Q> t;
  SOFTLAB_GLM_LOOP(i, C) SOFTLAB_GLM_LOOP(j, R) t[j][i] = m[i][j];
  return t;
}
template <length_t C, length_t R, typename T, qualifier Q>
SOFTLAB_GLM mat<C, R, T, Q> outerProduct(const vec<R, T, Q>& a, const vec<C, T, Q>& b) {
  mat<C, R, T, Q> m;
  SOFTLAB_GLM_LOOP(i, C) m[i] = a * b[i];
  return m;
}
template <length_t C, length_t R, typename T, qualifier Q>
SOFTLAB_GLM mat<C, R, T, Q> matrixCompMult(mat<C, R, T, Q> a, const mat<C, R, T, Q>& b) {
  SOFTLAB_GLM_LOOP(i, C) a[i] = a[i] * b[i];
  return a;
}
// The matrix without one row and one column.
template <length_t N, typename T, qualifier Q>
SOFTLAB_GLM mat<N - 1, N - 1, T, Q> softlab_without(const mat<N, N, T, Q>& m, int column, int row) {
  mat<N - 1, N - 1, T, Q> part;
  SOFTLAB_GLM_LOOP(i, N - 1) SOFTLAB_GLM_LOOP(j, N - 1) part[i][j] = m[i + (i >= column)][j + (j >= row)];
  return part;
}
template <typename T, qualifier Q> SOFTLAB_GLM T determinant(const mat<1, 1, T, Q>& m) { return m[0][0]; }
template <length_t N, typename T, qualifier Q> SOFTLAB_GLM T determinant(const mat<N, N, T, Q>& m) {
  T sum = T(0);
  SOFTLAB_GLM_LOOP(i, N) sum += (i % 2 ? -m[i][0] : m[i][0]) * determinant(softlab_without(m, i, 0));
  return sum;
}
template <length_t N, typename T, qualifier Q> SOFTLAB_GLM mat<N, N, T, Q> inverse(const mat<N, N, T, Q>& m) {
  mat<N, N, T, Q> inverted;
  SOFTLAB_GLM_LOOP(i, N) SOFTLAB_GLM_LOOP(j, N) {
    T minor = determinant(softlab_without(m, j, i));
    inverted[i][j] = (i + j) % 2 ? -minor : minor;
  }
  return inverted / determinant(m);
}
template <length_t N, typename T, qualifier Q> SOFTLAB_GLM mat<N, N, T, Q> inverseTranspose(const mat<N, N, T, Q>& m) {
  return transpose(inverse(m));
}

template <typename T, qualifier Q>
SOFTLAB_GLM mat<4, 4, T, Q> translate(const mat<4, 4, T, Q>& m, const vec<3, T, Q>& v) {
  mat<4, 4, T, Q> moved(m);
  moved[3] = m[0] * v[0] + m[1] * v[1] + m[2] * v[2] + m[3];
  return moved;
}
template <typename T, qualifier Q>
SOFTLAB_GLM mat<4, 4, T, Q> scale(const mat<4, 4, T, Q>& m, const vec<3, T, Q>& v) {
  return mat<4, 4, T, Q>(m[0] * v[0], m[1] * v[1], m[2] * v[2], m[3]);
}
template <typename T, qualifier Q>
SOFTLAB_GLM mat<4, 4, T, Q> rotate(const mat<4, 4, T, Q>& m, T angle, const vec<3, T, Q>& v) {
  T c = ::cos(angle), s = ::sin(angle);
  vec<3, T, Q> axis = normalize(v), part = (T(1) - c) * axis;
  mat<3, 3, T, Q> turn(part[0] * axis, part[1] * axis, part[2] * axis);
  turn[0] += vec<3, T, Q>(c, s * axis[2], -s * axis[1]);
  turn[1] += vec<3, T, Q>(-s * axis[2], c, s * axis[0]);
  turn[2] += vec<3, T, Q>(s * axis[1], -s * axis[0], c);
  mat<4, 4, T, Q> turned(m);
  SOFTLAB_GLM_LOOP(i, 3) turned[i] = m[0] * turn[i][0] + m[1] * turn[i][1] + m[2] * turn[i][2];
  return turned;
}

template <typename T> SOFTLAB_GLM constexpr T epsilon() { return sizeof(T) == 4 ? T(FLT_EPSILON) : T(DBL_EPSILON); }

// A quaternion. Its constructor takes w first.
template <typename T, qualifier Q> struct qua {
  typedef T value_type;
  T x, y, z, w;
  static constexpr __host__ __device__ length_t length() { return 4; }
  __host__ __device__ T& operator[](length_t i) { return (&x)[i]; }
  __host__ __device__ const T& operator[](length_t i) const { return (&x)[i]; }
  qua() = default;
  __host__ __device__ qua(T w_, T x_, T y_, T z_) : x(x_), y(y_), z(z_), w(w_) {}
  __host__ __device__ qua(T s, const vec<3, T, Q>& v) : x(v.x), y(v.y), z(v.z), w(s) {}
  __host__ __device__ qua& operator+=(const qua& a) { return *this = *this + a; }
  __host__ __device__ qua& operator-=(const qua& a) { return *this = *this - a; }
  __host__ __device__ qua& operator*=(const qua& a) { return *this = *this * a; }
  __host__ __device__ qua& operator*=(T a) { return *this = *this * a; }
  __host__ __device__ qua& operator/=(T a) { return *this = *this / a; }
};
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> operator+(const qua<T, Q>& a, const qua<T, Q>& b) {
  return qua<T, Q>(a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z);
}
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> operator-(const qua<T, Q>& a, const qua<T, Q>& b) {
  return qua<T, Q>(a.w - b.w, a.x - b.x, a.y - b.y, a.z - b.z);
}
template <typename T, qualifier Q> SOFTLAB_GLM bool operator==(const qua<T, Q>& a, const qua<T, Q>& b) {
  return a.w == b.w && a.x == b.x && a.y == b.y && a.z == b.z;
}
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> operator*(const qua<T, Q>& a, T b) {
  return qua<T, Q>(a.w * b, a.x * b, a.y * b, a.z * b);
}
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> operator*(T a, const qua<T, Q>& b) { return b * a; }
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> operator/(const qua<T, Q>& a, T b) { return a * (T(1) / b); }
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> operator-(const qua<T, Q>& a) { return a * T(-1); }
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> operator*(const qua<T, Q>& a, const qua<T, Q>& b) {
  return qua<T, Q>(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                   a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z, a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x);
}
template <typename T, qualifier Q> SOFTLAB_GLM vec<3, T, Q> operator*(const qua<T, Q>& q, const vec<3, T, Q>& v) {
  vec<3, T, Q> axis(q.x, q.y, q.z), across = cross(axis, v);
  return v + (across * q.w + cross(axis, across)) * T(2);
}
template <typename T, qualifier Q> SOFTLAB_GLM T dot(const qua<T, Q>& a, const qua<T, Q>& b) {
  return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}
template <typename T, qualifier Q> SOFTLAB_GLM T length(const qua<T, Q>& q) { return ::sqrt(dot(q, q)); }
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> conjugate(const qua<T, Q>& q) {
  return qua<T, Q>(q.w, -q.x, -q.y, -q.z);
}
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> inverse(const qua<T, Q>& q) { return conjugate(q) / dot(q, q); }
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> normalize(const qua<T, Q>& q) { return q / length(q); }
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> lerp(const qua<T, Q>& a, const qua<T, Q>& b, T t) {
  return a * (T(1) - t) + b * t;
}
// Along the shorter way; where the two are nearly the same, a straight line.
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> slerp(const qua<T, Q>& a, const qua<T, Q>& b, T t) {
  T c = dot(a, b);
  qua<T, Q> end = c < T(0) ? -b : b;
  c = c < T(0) ? -c : c;
  if (c > T(1) - epsilon<T>()) return lerp(a, end, t);
  T angle = ::acos(c);
  return (a * ::sin((T(1) - t) * angle) + end * ::sin(t * angle)) / ::sin(angle);
}
template <typename T, qualifier Q> SOFTLAB_GLM qua<T, Q> angleAxis(T angle, const vec<3, T, Q>& axis) {
  return qua<T, Q>(::cos(angle * T(0.5)), axis * ::sin(angle * T(0.5)));
}
template <typename T, qualifier Q> SOFTLAB_GLM mat<3, 3, T, Q> mat3_cast(const qua<T, Q>& q) {
  typedef vec<3, T, Q> V;
  return mat<3, 3, T, Q>(q * V(T(1), T(0), T(0)), q * V(T(0), T(1), T(0)), q * V(T(0), T(0), T(1)));
}
template <typename T, qualifier Q> SOFTLAB_GLM mat<4, 4, T, Q> mat4_cast(const qua<T, Q>& q) {
  return mat<4, 4, T, Q>(mat3_cast(q));
}

template <typename T> SOFTLAB_GLM constexpr T pi() { return T(M_PI); }
template <typename T> SOFTLAB_GLM constexpr T two_pi() { return T(2 * M_PI); }
template <typename T> SOFTLAB_GLM constexpr T half_pi() { return T(M_PI_2); }
template <typename T> SOFTLAB_GLM constexpr T one_over_pi() { return T(M_1_PI); }
template <typename V> SOFTLAB_GLM auto value_ptr(V& v) { return reinterpret_cast<typename V::value_type*>(&v); }
template <typename V> SOFTLAB_GLM auto value_ptr(const V& v) {
  return reinterpret_cast<const typename V::value_type*>(&v);
}
template <typename T> SOFTLAB_GLM vec<2, T> make_vec2(const T* a) { return vec<2, T>(a[0], a[1]); }
template <typename T> SOFTLAB_GLM vec<3, T> make_vec3(const T* a) { return vec<3, T>(a[0], a[1], a[2]); }
template <typename T> SOFTLAB_GLM vec<4, T> make_vec4(const T* a) { return vec<4, T>(a[0], a[1], a[2], a[3]); }

#define SOFTLAB_GLM_NAMES(prefix, T)                                                                          \
  typedef vec<1, T> prefix##vec1;                                                                             \
  typedef vec<2, T> prefix##vec2;                                                                             \
  typedef vec<3, T> prefix##vec3;                                                                             \
  typedef vec<4, T> prefix##vec4;
#define SOFTLAB_GLM_MATRICES(prefix, T)                                                                       \
  typedef mat<2, 2, T> prefix##mat2, prefix##mat2x2;                                                          \
  typedef mat<3, 3, T> prefix##mat3, prefix##mat3x3;                                                          \
  typedef mat<4, 4, T> prefix##mat4, prefix##mat4x4;                                                          \
  typedef mat<2, 3, T> prefix##mat2x3;                                                                        \
  typedef mat<2, 4, T> prefix##mat2x4;                                                                        \
  typedef mat<3, 2, T> prefix##mat3x2;                                                                        \
  typedef mat<3, 4, T> prefix##mat3x4;                                                                        \
  typedef mat<4, 2, T> prefix##mat4x2;                                                                        \
  typedef mat<4, 3, T> prefix##mat4x3;                                                                        \
  typedef qua<T> prefix##quat;
SOFTLAB_GLM_NAMES(, float)
SOFTLAB_GLM_NAMES(f, float)
SOFTLAB_GLM_NAMES(d, double)
SOFTLAB_GLM_NAMES(b, bool)
SOFTLAB_GLM_NAMES(i, int)
SOFTLAB_GLM_NAMES(u, unsigned int)
SOFTLAB_GLM_NAMES(i8, signed char)
SOFTLAB_GLM_NAMES(u8, unsigned char)
SOFTLAB_GLM_NAMES(i16, short)
SOFTLAB_GLM_NAMES(u16, unsigned short)
SOFTLAB_GLM_NAMES(i64, long)
SOFTLAB_GLM_NAMES(u64, unsigned long)
SOFTLAB_GLM_MATRICES(, float)
SOFTLAB_GLM_MATRICES(f, float)
SOFTLAB_GLM_MATRICES(d, double)
#undef SOFTLAB_GLM_NAMES
#undef SOFTLAB_GLM_MATRICES

}  // namespace glm
#undef SOFTLAB_GLM
#undef SOFTLAB_GLM_LOOP
#undef SOFTLAB_GLM_NUMBERS
#endif
