// The four operators as the fast kernels see them: the statistic of a row, and what each element then becomes.
//
//                 statistic of a row                       result of an element
//   softmax       (max x, sum exp(x - max))                exp(x - max) / sum
//   log_softmax   (max x, sum exp(x - max))                (x - max) - log(sum)
//   and backward  sum y dy, or sum dy                      (dy - sum) y, or dy - exp(y) sum
//
// Idea     One combined statistic needs one exchange. Each warp takes the maximum and the sum of its own elements. Two
//          partial statistics merge by sum = sum_a exp(max_a - max) + sum_b exp(max_b - max). So a block has one
//          barrier per row, not four. The cost of a row beyond its traffic is one exchange for any number of threads,
//          blocks or passes that share it.
// Idea     float and double replace x by exp(x - max of the warp), so the last step is one product. 16-bit
//          elements stay 16 bits wide, and their exponential is computed twice. This needs half the registers, and the
//          special function unit has the time.
// Edges    A partial row that is -inf throughout has the sum 0, not NaN: its maximum is replaced by 0. If all partial
//          rows are so, the result is 0 * (1 / 0) = NaN. NaN does not change a maximum, and it stays in the sum. +inf
//          gives inf - inf = NaN.
// Source   Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
#pragma once

#include "algorithm.cuh"
#include "fast_exchange.cuh"

// exp(x) for x <= 0 with one multiplication and one instruction of the special function unit. A result below the
// smallest normal number becomes 0. (__expf keeps such results, with four more instructions.)
#ifdef SOFTLAB_ACCURATE
__device__ inline float exponential_or_zero(float x) { return expf(x); }
#else
__device__ inline float power_of_two_or_zero(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
__device__ inline float exponential_or_zero(float x) { return power_of_two_or_zero(x * 1.44269504f); }
#endif

// The same for doubles, and for any x. exp(x) = 2^k exp(r), with r = x - k ln(2) between -ln(2) / 2 and ln(2) / 2. A
// polynomial of degree 11 gives exp(r). Its first terms are 1, r and r^2 / 2; the others are fitted for the smallest
// maximum of the relative error, 6e-18. (Taylor's series needs degree 13 for that.) The library's exp has a branch for
// results near the ends of the range, and a thread with eight elements would take it eight times, one after the other.
// Without branches the eight overlap. The error is under 2 units in the last place.
struct PowerAndSeries {
  int power;      // k
  double series;  // exp(r)
};
__device__ inline PowerAndSeries power_and_series(double x) {
  // Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits.
  const double shifted = fma(x, 1.4426950408889634, 6755399441055744.0);
  const double rounded = shifted - 6755399441055744.0;
  double r = fma(rounded, -6.93147180369123816490e-01, x);
  r = fma(rounded, -1.90821492927058770002e-10, r);
  double series = 2.4978344689056003e-08;
  series = fma(series, r, 2.7625181621642764e-07);
  series = fma(series, r, 2.7557640853333206e-06);
  series = fma(series, r, 2.480150869269125e-05);
  series = fma(series, r, 0.0001984126946639635);
  series = fma(series, r, 0.001388888892679373);
  series = fma(series, r, 0.008333333333499943);
  series = fma(series, r, 0.04166666666660394);
  series = fma(series, r, 0.16666666666666433);
  series = fma(series, r, 0.5);
  series = fma(series, r, 1.0);
  series = fma(series, r, 1.0);
  return {__double2loint(shifted), series};
}
// 2^k for k from -1022 to 1023. One less gives 0, one more infinity.
__device__ inline double power_of_two(int k) { return __hiloint2double((k + 1023) << 20, 0); }

// Two clamps and two factors would cost a tenth of all instructions of a softmax. So x <= 0 has one of each.
__device__ inline double exponential_or_zero(double x) {
  // Below ln(2^-1022) x becomes about ln(2^-1023). The low bits may stay, which saves an instruction. The comparison keeps
  // NaN; fmax would not.
  constexpr int high_of_clamp = 0xc08628b7;
  x = x < -708.39641853226408 ? __hiloint2double(high_of_clamp, __double2loint(x)) : x;
  const PowerAndSeries of = power_and_series(x);
  return of.series * power_of_two(of.power);
}

// exp(x) for any x.
__device__ inline float exponential_of_any(float x) { return exponential_or_zero(x); }
__device__ inline double exponential_of_any(double x) {
  // Outside this range the result is 0 or infinity anyway. Comparisons keep NaN; fmin and fmax would not.
  x = x < -800.0 ? -800.0 : x;
  x = x > 800.0 ? 800.0 : x;
  const PowerAndSeries of = power_and_series(x);
  // Two factors, because 2^k itself may be too large or too small for a double.
  const int half = of.power >> 1;
  return of.series * power_of_two(half) * power_of_two(of.power - half);
}

// What is subtracted from each element: the maximum, or 0 where all elements are -inf.
template<typename Compute>
__device__ Compute reference_of(Compute largest) {
  return largest == minus_infinity<Compute>() ? Compute(0) : largest;
}

template<typename Compute>
struct MaximumAndSum {
  Compute largest;
  Compute sum;
};

// `read_once`: the elements stay in registers or shared memory between the statistic and the result.
template<typename T, Algorithm which, bool read_once = true>
struct Forward {
  using Element = T;
  using Compute = ComputeType<T>;
  static constexpr int inputs = 1;
  // Whether an element's exponential replaces the element until the row's sum is known.
  static constexpr bool keeps_exponential = read_once && which == Algorithm::softmax && sizeof(T) == sizeof(Compute);

  using Statistic = MaximumAndSum<Compute>;
  using Word = Compute;  // what moves between blocks
  // Whether sums have the same bits in any order (exact_operator.cuh).
  static constexpr bool exact = false;
  // Whether the last input has no part in the statistic.
  static constexpr bool late_input = false;
  // The same operator for elements that are read a second time.
  using Reread = Forward<T, which, false>;

  static __device__ T filler() { return static_cast<T>(minus_infinity<Compute>()); }

  // The maximum of a group of `width` lanes, and the sum of this lane.
  template<int width, class Fragment>
  static __device__ Statistic reduce_thread(Fragment& fragment) {
    const Compute largest = reduce_lanes<Larger, width>(fragment.largest());
    const Compute reference = reference_of(largest);
    Compute sum = 0;
    fragment.template visit<keeps_exponential>([&](Compute* x) {
      const Compute e = exponential_or_zero(x[0] - reference);
      sum += e;
      if constexpr (keeps_exponential) { x[0] = e; }
    });
    return {largest, sum};
  }
  // The statistic of the elements that a group of `width` lanes keeps.
  template<int width, class Fragment>
  static __device__ Statistic reduce_group(Fragment& fragment) {
    const Statistic thread = reduce_thread<width>(fragment);
    return {thread.largest, reduce_lanes<Sum, width>(thread.sum)};
  }

  // identity() is the statistic of no elements. add() takes in the elements of one thread, chunk by chunk: when the
  // maximum grows, the sum so far is scaled down.
  static __device__ Statistic identity() { return {minus_infinity<Compute>(), Compute(0)}; }
  // What a sum of exp(x - from) is multiplied with where the maximum is `to`.
  static __device__ Compute scale(Compute from, Compute to) { return exponential_or_zero(from - reference_of(to)); }
  template<class Fragment>
  static __device__ void add(Statistic& own, Fragment& fragment) {
    const Compute largest = larger_of<false>(own.largest, fragment.largest());
    const Compute reference = reference_of(largest);
    own.sum *= scale(own.largest, largest);
    fragment.template visit<false>([&](const Compute* x) { own.sum += exponential_or_zero(x[0] - reference); });
    own.largest = largest;
  }
  static __device__ Statistic reduce_warp(const Statistic& own) {
    const Compute largest = reduce_lanes<Larger, 32>(own.largest);
    return {largest, reduce_lanes<Sum, 32>(own.sum * scale(own.largest, largest))};
  }

  // The statistic of the whole row, from `each` partial statistics in each of 32 lanes.
  template<int each>
  static __device__ Statistic merge_lane_partials(const Statistic (&partial)[each]) {
    Compute largest = minus_infinity<Compute>();
#pragma unroll
    for (int i = 0; i < each; ++i) { largest = larger_of<false>(largest, partial[i].largest); }
    largest = reduce_lanes<Larger, 32>(largest);
    const Compute reference = reference_of(largest);
    Compute sum = 0;
#pragma unroll
    for (int i = 0; i < each; ++i) { sum += partial[i].sum * exponential_or_zero(partial[i].largest - reference); }
    return {largest, reduce_lanes<Sum, 32>(sum)};
  }

  // The statistic of the whole row, from `partials` partial statistics. `partials` is a power of two.
  template<int partials>
  static __device__ Statistic merge_partials(const Statistic* partial) {
    constexpr int width = partials < 32 ? partials : 32;
    const int lane = threadIdx.x % width;
    Compute largest = minus_infinity<Compute>();
#pragma unroll
    for (int i = 0; i < partials; i += width) { largest = larger_of<false>(largest, partial[i + lane].largest); }
    largest = reduce_lanes<Larger, width>(largest);
    const Compute reference = reference_of(largest);
    Compute sum = 0;
#pragma unroll
    for (int i = 0; i < partials; i += width) {
      sum += partial[i + lane].sum * exponential_or_zero(partial[i + lane].largest - reference);
    }
    return {largest, reduce_lanes<Sum, width>(sum)};
  }

  // The statistic of the whole row, from one per thread of a block (ThreadSums).
  template<class Shared>
  static __device__ void put(Shared& shared, const Statistic& own) {
    shared.put_sum(own.sum);
    shared.put_largest(own.largest);
  }
  template<class Shared>
  static __device__ Statistic merge_threads(const Shared& shared) {
    Compute largest = shared.largest_of_warp(0);
#pragma unroll
    for (int warp = 1; warp < Shared::warps; ++warp) { largest = larger_of<false>(largest, shared.largest_of_warp(warp)); }
    const Compute scale = exponential_or_zero(shared.largest_of_warp(Shared::warp_of_lane()) - reference_of(largest));
    return {largest, reduce_lanes<Sum, Shared::lanes>(shared.sum_of_lane() * scale)};
  }

  // Turns an element, or its exponential, into the result. `own` is the statistic of the group that keeps the element.
  class Result {
   public:
    Result() = default;
    __device__ Result(const Statistic& own, const Statistic& row) {
      if constexpr (which == Algorithm::log_softmax) {
        reference_ = row.largest;
        factor_ = logarithm(row.sum);
      } else {
        reference_ = reference_of(row.largest);
        factor_ = divide(Compute(1), row.sum);
        if constexpr (keeps_exponential) { factor_ *= exponential_or_zero(own.largest - reference_); }
      }
    }
    // One group keeps the whole row.
    __device__ explicit Result(const Statistic& row) {
      if constexpr (which == Algorithm::log_softmax) {
        reference_ = row.largest;
        factor_ = logarithm(row.sum);
      } else {
        reference_ = reference_of(row.largest);
        factor_ = divide(Compute(1), row.sum);
      }
    }
    __device__ Compute operator()(const Compute* x) const {
      if constexpr (which == Algorithm::log_softmax) { return (x[0] - reference_) - factor_; }
      if constexpr (keeps_exponential) { return x[0] * factor_; }
      return exponential_or_zero(x[0] - reference_) * factor_;
    }

   private:
    Compute reference_;
    Compute factor_;
  };
};

// Inputs: dy, then y.
template<typename T, Algorithm which>
struct Backward {
  using Element = T;
  using Compute = ComputeType<T>;
  static constexpr int inputs = 2;

  static constexpr bool keeps_exponential = false;
  using Reread = Backward;

  struct Statistic {
    Compute sum;
  };
  using Word = Compute;
  static constexpr bool exact = false;
  static constexpr bool late_input = which == Algorithm::log_softmax;

  static __device__ T filler() { return static_cast<T>(Compute(0)); }

  // The sum of this lane.
  template<int width, class Fragment>
  static __device__ Statistic reduce_thread(Fragment& fragment) {
    Compute sum = 0;
    fragment.template visit<false>([&](const Compute* v) { sum += which == Algorithm::softmax ? v[0] * v[1] : v[0]; });
    return {sum};
  }
  template<int width, class Fragment>
  static __device__ Statistic reduce_group(Fragment& fragment) {
    return {reduce_lanes<Sum, width>(reduce_thread<width>(fragment).sum)};
  }
  template<class Shared>
  static __device__ void put(Shared& shared, const Statistic& own) {
    shared.put_sum(own.sum);
  }
  template<class Shared>
  static __device__ Statistic merge_threads(const Shared& shared) {
    return {reduce_lanes<Sum, Shared::lanes>(shared.sum_of_lane())};
  }

  static __device__ Statistic identity() { return {Compute(0)}; }
  template<class Fragment>
  static __device__ void add(Statistic& own, Fragment& fragment) {
    fragment.template visit<false>(
        [&](const Compute* v) { own.sum += which == Algorithm::softmax ? v[0] * v[1] : v[0]; });
  }
  static __device__ Statistic reduce_warp(const Statistic& own) { return {reduce_lanes<Sum, 32>(own.sum)}; }
  template<int each>
  static __device__ Statistic merge_lane_partials(const Statistic (&partial)[each]) {
    Compute sum = 0;
#pragma unroll
    for (int i = 0; i < each; ++i) { sum += partial[i].sum; }
    return {reduce_lanes<Sum, 32>(sum)};
  }

  template<int partials>
  static __device__ Statistic merge_partials(const Statistic* partial) {
    constexpr int width = partials < 32 ? partials : 32;
    const int lane = threadIdx.x % width;
    Compute sum = 0;
#pragma unroll
    for (int i = 0; i < partials; i += width) { sum += partial[i + lane].sum; }
    return {reduce_lanes<Sum, width>(sum)};
  }

  class Result {
   public:
    Result() = default;
    __device__ Result(const Statistic&, const Statistic& row) : sum_(row.sum) {}
    __device__ explicit Result(const Statistic& row) : sum_(row.sum) {}
    __device__ Compute operator()(const Compute* v) const {
      return which == Algorithm::softmax ? (v[0] - sum_) * v[1] : v[0] - exponential_of_any(v[1]) * sum_;
    }

   private:
    Compute sum_;
  };
};
