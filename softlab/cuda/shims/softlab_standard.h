// What nvcc's host headers bring into device code: integer types, limits, constants, and the part of namespace std that
// kernels use. NVRTC has no host headers, so softlab gives this one in their place.
#ifndef SOFTLAB_STANDARD_H
#define SOFTLAB_STANDARD_H

#include <cuda/std/cstdint>

typedef long ssize_t;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
// The driver's names for handles, which device code uses as cudaTextureObject_t and the like.
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;

// Other spellings of asm, and attributes as compilers for Windows write them.
#ifdef __CUDACC_RTC__
#define __asm__ asm
#define __asm asm
#ifndef _WIN32
#define __declspec(attribute) SOFTLAB_DECLSPEC_##attribute
#define SOFTLAB_DECLSPEC_align(bytes) alignas(bytes)
#define SOFTLAB_DECLSPEC_dllexport
#define SOFTLAB_DECLSPEC_dllimport
#define SOFTLAB_DECLSPEC_noinline __noinline__
#define SOFTLAB_DECLSPEC_selectany
#endif
#endif

// What cuda.h and cuda_runtime_api.h say of the version.
#ifndef CUDART_VERSION
#define CUDART_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#endif
#ifndef CUDA_VERSION
#define CUDA_VERSION CUDART_VERSION
#endif

#ifndef CHAR_BIT
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ULL
#define LONG_MAX ((long)(~0UL >> 1))
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX (~0UL)
#endif
#ifndef INT8_MAX
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MAX ((int64_t)LLONG_MAX)
#define INT64_MIN ((int64_t)LLONG_MIN)
#define UINT64_MAX ((uint64_t)ULLONG_MAX)
#define SIZE_MAX ((size_t)ULLONG_MAX)
#endif
#ifndef FLT_MAX
#define FLT_RADIX 2
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX_EXP 128
#define FLT_MIN_EXP (-125)
#define FLT_MAX 3.40282346638528859811704183484516925e+38f
#define FLT_MIN 1.17549435082228750796873653722224568e-38f
#define FLT_TRUE_MIN 1.40129846432481707092372958328991613e-45f
#define FLT_EPSILON 1.19209289550781250000000000000000000e-7f
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MAX_EXP 1024
#define DBL_MIN_EXP (-1021)
#define DBL_MAX 1.79769313486231570814527423731704357e+308
#define DBL_MIN 2.22507385850720138309023271733240406e-308
#define DBL_EPSILON 2.22044604925031308084726333618164062e-16
#endif
#ifndef LDBL_MAX
// long double is double on the device.
#define LDBL_DIG DBL_DIG
#define LDBL_MANT_DIG DBL_MANT_DIG
#define LDBL_MAX_EXP DBL_MAX_EXP
#define LDBL_MIN_EXP DBL_MIN_EXP
#define LDBL_MAX DBL_MAX
#define LDBL_MIN DBL_MIN
#define LDBL_EPSILON DBL_EPSILON
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#ifndef EXIT_SUCCESS
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#endif

#ifdef SOFTLAB_WHOLE_STANDARD
#include <softlab_whole_standard.h>
#else
namespace std {

using ::size_t;
using ::ptrdiff_t;
using ::int8_t;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::uint8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::intptr_t;
using ::uintptr_t;
typedef decltype(nullptr) nullptr_t;

template <typename T, T held> struct integral_constant {
  static constexpr T value = held;
  using value_type = T;
  using type = integral_constant;
  __host__ __device__ constexpr operator T() const { return held; }
  __host__ __device__ constexpr T operator()() const { return held; }
};
template <bool held> using bool_constant = integral_constant<bool, held>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <typename T, typename U> struct is_same : false_type {};
template <typename T> struct is_same<T, T> : true_type {};
template <bool, typename T = void> struct enable_if {};
template <typename T> struct enable_if<true, T> { using type = T; };
template <bool, typename T, typename U> struct conditional { using type = T; };
template <typename T, typename U> struct conditional<false, T, U> { using type = U; };
template <typename T> struct remove_reference { using type = T; };
template <typename T> struct remove_reference<T&> { using type = T; };
template <typename T> struct remove_reference<T&&> { using type = T; };
template <typename T> struct remove_const { using type = T; };
template <typename T> struct remove_const<const T> { using type = T; };
template <typename T> struct remove_volatile { using type = T; };
template <typename T> struct remove_volatile<volatile T> { using type = T; };
template <typename T> struct remove_cv { using type = typename remove_volatile<typename remove_const<T>::type>::type; };
template <typename T> struct remove_pointer { using type = T; };
template <typename T> struct remove_pointer<T*> { using type = T; };
template <typename T> struct is_pointer : false_type {};
template <typename T> struct is_pointer<T*> : true_type {};
template <typename T> struct is_const : false_type {};
template <typename T> struct is_const<const T> : true_type {};
template <typename...> using void_t = void;

template <typename T> struct softlab_integral : false_type {};
#define SOFTLAB_INTEGRAL(T) template <> struct softlab_integral<T> : true_type {};
SOFTLAB_INTEGRAL(bool)
SOFTLAB_INTEGRAL(char)
SOFTLAB_INTEGRAL(signed char)
SOFTLAB_INTEGRAL(unsigned char)
SOFTLAB_INTEGRAL(short)
SOFTLAB_INTEGRAL(unsigned short)
SOFTLAB_INTEGRAL(int)
SOFTLAB_INTEGRAL(unsigned int)
SOFTLAB_INTEGRAL(long)
SOFTLAB_INTEGRAL(unsigned long)
SOFTLAB_INTEGRAL(long long)
SOFTLAB_INTEGRAL(unsigned long long)
#undef SOFTLAB_INTEGRAL
template <typename T> struct is_integral : softlab_integral<typename remove_cv<T>::type> {};
template <typename T> struct softlab_floating : false_type {};
template <> struct softlab_floating<float> : true_type {};
template <> struct softlab_floating<double> : true_type {};
template <typename T> struct is_floating_point : softlab_floating<typename remove_cv<T>::type> {};
template <typename T> struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <typename T> struct is_signed : bool_constant<is_arithmetic<T>::value && (T(-1) < T(0))> {};
template <typename T> struct is_unsigned : bool_constant<is_integral<T>::value && !is_signed<T>::value> {};
template <typename T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};

template <bool held, typename T = void> using enable_if_t = typename enable_if<held, T>::type;
template <bool held, typename T, typename U> using conditional_t = typename conditional<held, T, U>::type;
template <typename T> using remove_reference_t = typename remove_reference<T>::type;
template <typename T> using remove_const_t = typename remove_const<T>::type;
template <typename T> using remove_cv_t = typename remove_cv<T>::type;
template <typename T> using remove_pointer_t = typename remove_pointer<T>::type;
template <typename T> using decay_t = remove_cv_t<remove_reference_t<T>>;
template <typename T, typename U> inline constexpr bool is_same_v = is_same<T, U>::value;
template <typename T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <typename T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <typename T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <typename T> inline constexpr bool is_signed_v = is_signed<T>::value;
template <typename T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <typename T> inline constexpr bool is_pointer_v = is_pointer<T>::value;

template <typename T> __host__ __device__ T&& declval() noexcept;
template <typename T> __host__ __device__ constexpr void swap(T& a, T& b) {
  T kept = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(kept);
}
template <typename T> __host__ __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <typename T> __host__ __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <typename T> __host__ __device__ constexpr const T& clamp(const T& value, const T& low, const T& high) {
  return value < low ? low : high < value ? high : value;
}

template <typename T> struct numeric_limits { static constexpr bool is_specialized = false; };
#define SOFTLAB_NUMBERS(T, low_, smallest_, high_, digits_, signed_, integer_, epsilon_, infinity_, nan_)             \
  template <> struct numeric_limits<T> {                                                                             \
    static constexpr bool is_specialized = true, is_signed = signed_, is_integer = integer_, is_exact = integer_;   \
    static constexpr bool has_infinity = !integer_, has_quiet_NaN = !integer_;                                       \
    static constexpr int digits = digits_, radix = 2;                                                                \
    __host__ __device__ static constexpr T lowest() { return low_; }                                                 \
    __host__ __device__ static constexpr T min() { return smallest_; }                                               \
    __host__ __device__ static constexpr T max() { return high_; }                                                   \
    __host__ __device__ static constexpr T epsilon() { return epsilon_; }                                            \
    __host__ __device__ static constexpr T infinity() { return infinity_; }                                          \
    __host__ __device__ static constexpr T quiet_NaN() { return nan_; }                                              \
  };
#define SOFTLAB_INTEGERS(T, low, high, digits, is_signed) \
  SOFTLAB_NUMBERS(T, low, low, high, digits, is_signed, true, (T)0, (T)0, (T)0)
SOFTLAB_INTEGERS(bool, false, true, 1, false)
SOFTLAB_INTEGERS(char, CHAR_MIN, CHAR_MAX, 7, true)
SOFTLAB_INTEGERS(signed char, SCHAR_MIN, SCHAR_MAX, 7, true)
SOFTLAB_INTEGERS(unsigned char, 0, UCHAR_MAX, 8, false)
SOFTLAB_INTEGERS(short, SHRT_MIN, SHRT_MAX, 15, true)
SOFTLAB_INTEGERS(unsigned short, 0, USHRT_MAX, 16, false)
SOFTLAB_INTEGERS(int, INT_MIN, INT_MAX, 31, true)
SOFTLAB_INTEGERS(unsigned int, 0, UINT_MAX, 32, false)
SOFTLAB_INTEGERS(long, LONG_MIN, LONG_MAX, int(8 * sizeof(long) - 1), true)
SOFTLAB_INTEGERS(unsigned long, 0, ULONG_MAX, int(8 * sizeof(long)), false)
SOFTLAB_INTEGERS(long long, LLONG_MIN, LLONG_MAX, 63, true)
SOFTLAB_INTEGERS(unsigned long long, 0, ULLONG_MAX, 64, false)
SOFTLAB_NUMBERS(float, -FLT_MAX, FLT_MIN, FLT_MAX, FLT_MANT_DIG, true, false, FLT_EPSILON, __builtin_bit_cast(float, 0x7f800000),
                __builtin_bit_cast(float, 0x7fffffff))
SOFTLAB_NUMBERS(double, -DBL_MAX, DBL_MIN, DBL_MAX, DBL_MANT_DIG, true, false, DBL_EPSILON, __builtin_bit_cast(double, 0x7ff0000000000000LL),
                __builtin_bit_cast(double, 0x7fffffffffffffffLL))
#undef SOFTLAB_INTEGERS
#undef SOFTLAB_NUMBERS

// CUDA overloads these for float and double in the global namespace.
using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::exp2;
using ::expm1;
using ::fabs;
using ::fdim;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::hypot;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::ldexp;
using ::lgamma;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::lrint;
using ::lround;
using ::memcpy;
using ::memset;
using ::nearbyint;
using ::pow;
using ::printf;
using ::remainder;
using ::rint;
using ::round;
using ::signbit;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
using ::tgamma;
using ::trunc;

}  // namespace std
#endif  // SOFTLAB_WHOLE_STANDARD
#endif
