// The arithmetic of softmax: which type computes, and how it computes exponentials, quotients and logarithms.
//
// Idea     float has a special function unit that answers in a few cycles with an error of a few units in the last
//          place: __expf, __fdividef and __logf use it, and they are the default. -DSOFTLAB_ACCURATE selects expf, /
//          and logf. double always computes accurately: there is no special function unit for it.
// Limits   __fdividef(a, b) returns 0 where b > 2^126. The divisor here is a sum of exp(x - max), each at most 1 and
//          the largest exactly 1, so it lies between 1 and the number of columns, or is NaN.
// Source   CUDA C++ Programming Guide, "Mathematical Functions": error bounds of the functions and intrinsics.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// 16-bit elements compute in float: exp(x - max) and the sum of a long row need its range and its precision.
template<typename T>
struct ComputeTypeOf {
  using type = float;
};
template<>
struct ComputeTypeOf<double> {
  using type = double;
};
template<typename T>
using ComputeType = typename ComputeTypeOf<T>::type;

template<typename Compute>
__device__ Compute minus_infinity();
template<>
__device__ inline float minus_infinity<float>() {
  return __int_as_float(0xff800000);
}
template<>
__device__ inline double minus_infinity<double>() {
  return __longlong_as_double(0xfff0000000000000ll);
}

#ifdef SOFTLAB_ACCURATE
__device__ inline float exponential(float x) { return expf(x); }
__device__ inline float divide(float a, float b) { return a / b; }
__device__ inline float logarithm(float x) { return logf(x); }
#else
__device__ inline float exponential(float x) { return __expf(x); }
__device__ inline float divide(float a, float b) { return __fdividef(a, b); }
__device__ inline float logarithm(float x) { return __logf(x); }
#endif

__device__ inline double exponential(double x) { return exp(x); }
__device__ inline double divide(double a, double b) { return a / b; }
__device__ inline double logarithm(double x) { return log(x); }

// The two reductions of a row. fmax returns the other operand where one is NaN, so a NaN in a row does not reach the
// row's maximum. It does reach its sum, through exp(NaN - max), and from there every element of the result.
template<typename Compute>
struct Max {
  __device__ Compute operator()(Compute a, Compute b) const { return fmax(a, b); }
};
template<typename Compute>
struct Sum {
  __device__ Compute operator()(Compute a, Compute b) const { return a + b; }
};
