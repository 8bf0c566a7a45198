// Mathematical functions of integers, and of float together with double, as C++'s <cmath> has them: an integer counts as
// a double, and so does the result where one argument is. NVRTC has those of float and of double alone.
#ifndef SOFTLAB_MIXED_MATH_H
#define SOFTLAB_MIXED_MATH_H

template <typename T> struct softlab_widened {};
template <> struct softlab_widened<float> { using type = float; };
template <> struct softlab_widened<double> { using type = double; };
#define SOFTLAB_WIDENED(T) template <> struct softlab_widened<T> { using type = double; using integer = double; };
SOFTLAB_WIDENED(bool)
SOFTLAB_WIDENED(char)
SOFTLAB_WIDENED(signed char)
SOFTLAB_WIDENED(unsigned char)
SOFTLAB_WIDENED(short)
SOFTLAB_WIDENED(unsigned short)
SOFTLAB_WIDENED(int)
SOFTLAB_WIDENED(unsigned int)
SOFTLAB_WIDENED(long)
SOFTLAB_WIDENED(unsigned long)
SOFTLAB_WIDENED(long long)
SOFTLAB_WIDENED(unsigned long long)
#undef SOFTLAB_WIDENED
template <typename T, typename U>
using softlab_common = decltype(typename softlab_widened<T>::type() + typename softlab_widened<U>::type());

// libcu++ has its own ones in namespace std.
#ifdef SOFTLAB_WHOLE_STANDARD
#define SOFTLAB_IN_STD(f)
#else
#define SOFTLAB_IN_STD(f) \
  namespace std {         \
  using ::f;              \
  }
#endif
#define SOFTLAB_OF_INTEGER(f)                                                                     \
  template <typename T> __host__ __device__ typename softlab_widened<T>::integer f(T x) {         \
    return f(static_cast<double>(x));                                                             \
  }                                                                                               \
  SOFTLAB_IN_STD(f)
#define SOFTLAB_OF_TWO(f)                                                                         \
  template <typename T, typename U> __host__ __device__ softlab_common<T, U> f(T x, U y) {        \
    return f(static_cast<softlab_common<T, U>>(x), static_cast<softlab_common<T, U>>(y));         \
  }                                                                                               \
  SOFTLAB_IN_STD(f)
SOFTLAB_OF_INTEGER(acos)
SOFTLAB_OF_INTEGER(acosh)
SOFTLAB_OF_INTEGER(asin)
SOFTLAB_OF_INTEGER(asinh)
SOFTLAB_OF_INTEGER(atan)
SOFTLAB_OF_INTEGER(atanh)
SOFTLAB_OF_INTEGER(cbrt)
SOFTLAB_OF_INTEGER(ceil)
SOFTLAB_OF_INTEGER(cos)
SOFTLAB_OF_INTEGER(cosh)
SOFTLAB_OF_INTEGER(erf)
SOFTLAB_OF_INTEGER(erfc)
SOFTLAB_OF_INTEGER(exp)
SOFTLAB_OF_INTEGER(exp2)
SOFTLAB_OF_INTEGER(expm1)
SOFTLAB_OF_INTEGER(fabs)
SOFTLAB_OF_INTEGER(floor)
SOFTLAB_OF_INTEGER(lgamma)
SOFTLAB_OF_INTEGER(log)
SOFTLAB_OF_INTEGER(log10)
SOFTLAB_OF_INTEGER(log1p)
SOFTLAB_OF_INTEGER(log2)
SOFTLAB_OF_INTEGER(rint)
SOFTLAB_OF_INTEGER(round)
SOFTLAB_OF_INTEGER(rsqrt)
SOFTLAB_OF_INTEGER(sin)
SOFTLAB_OF_INTEGER(sinh)
SOFTLAB_OF_INTEGER(sqrt)
SOFTLAB_OF_INTEGER(tan)
SOFTLAB_OF_INTEGER(tanh)
SOFTLAB_OF_INTEGER(tgamma)
SOFTLAB_OF_INTEGER(trunc)
SOFTLAB_OF_TWO(atan2)
SOFTLAB_OF_TWO(fdim)
SOFTLAB_OF_TWO(fmax)
SOFTLAB_OF_TWO(fmin)
SOFTLAB_OF_TWO(fmod)
SOFTLAB_OF_TWO(hypot)
SOFTLAB_OF_TWO(pow)
SOFTLAB_OF_TWO(remainder)
// NVRTC's own pow of a float and an int is a float. In C++ it is a double, and so it is with nvcc. Overloads of a program
// have the other name, too.
template <typename T, typename U> __host__ __device__ softlab_common<T, U> softlab_pow(T x, U y) {
  return pow(static_cast<softlab_common<T, U>>(x), static_cast<softlab_common<T, U>>(y));
}
namespace std {
using ::softlab_pow;
#ifdef SOFTLAB_WHOLE_STANDARD
template <typename T, typename U> __host__ __device__ complex<T> softlab_pow(const complex<T>& x, const U& y) {
  return ::cuda::std::pow(x, y);
}
#endif
}  // namespace std
#define pow softlab_pow
#undef SOFTLAB_OF_INTEGER
#undef SOFTLAB_OF_TWO
#undef SOFTLAB_IN_STD
#endif
