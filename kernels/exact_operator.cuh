// The four operators with sums that do not depend on any order: the same bits for a row wherever and however it is read.
//
//                 first statistic of a row     second statistic            result of an element
//   softmax       max x                        sum exp(x - max)            exp(x - max) / sum
//   log_softmax   max x                        sum exp(x - max)            (x - max) - log(sum)
//   and backward  max |y dy|, or max |dy|      sum y dy, or sum dy         (dy - sum) y, or dy - exp(y) sum
//
// Idea     Floating-point additions round, so their order decides the last bits of a sum. Additions of integers do not
//          round. Here each term becomes an integer multiple of one small unit, and the integers are added. So lanes,
//          warps and blocks may divide a row in any way: the sum has the same bits. A maximum never rounds.
// Idea     The unit must be the same for all terms of a row: terms are at most 1 in softmax, where x - max <= 0. In a
//          gradient a power of two brings the largest term to between 1 and 2. So the row's maximum is needed first:
//          threads that share a row exchange twice.
// Idea     No conversion instruction: adding 6 to a float below 2 in magnitude leaves 21 bits behind the point, and
//          the float's bits are an integer that counts 2^-21. What was rounded away is exact in a float again, and a
//          second addition turns it into multiples of 2^-36. Six instructions at full rate. (A conversion has the rate
//          of an exponential, which 16-bit rows need twice already.)
// Limits   Rows of 2^26 elements or less, so that 2^36 units per element fit 63 bits. A term is rounded to 2^-37 of
//          the row's largest (double: 2^-76). x - max and the exponential round as everywhere, one element at a time.
// Edges    NaN is the maximum of a row that has one. Then, or if it is +inf, all results are NaN; so they are if all
//          elements are -inf. A gradient whose terms are infinite has the sum +inf, -inf or NaN.
// Source   Demmel and Nguyen, "Fast Reproducible Floating-Point Summation" (2013), for sums on a grid that the largest
//          term decides.
#pragma once

#include "fast_operator.cuh"
#include "lane_elements.cuh"
#include "larger.cuh"

template<typename Compute>
__device__ Compute not_a_number();
template<>
__device__ inline float not_a_number<float>() {
  return __int_as_float(0x7fffffff);
}
template<>
__device__ inline double not_a_number<double>() {
  return __longlong_as_double(0x7fffffffffffffffll);
}

// The larger of two numbers, and NaN if one is NaN.
template<typename Compute>
struct MaxOrNaN {
  __device__ Compute operator()(Compute a, Compute b) const { return larger_of<true>(a, b); }
};

// A sum in units of 2^-36. |term| < 2.
template<typename Compute>
struct ExactSum;

template<>
struct ExactSum<float> {
  static constexpr int words = 1;
  long long total;

  // The terms of one thread and one fragment, at most 512: their parts fit 32 bits.
  struct Terms {
    int high = 0;  // units of 2^-21
    int low = 0;   // units of 2^-36
    __device__ void add(float term) {
      constexpr float first = 6.0f, second = 1.5f / 8192;
      const float rounded = __fadd_rn(term, first);
      high += __float_as_int(rounded) - 0x40c00000;
      const float rest = __fadd_rn(__fadd_rn(rounded, -first), -term);
      low -= __float_as_int(__fadd_rn(rest, second)) - 0x39400000;
    }
    __device__ ExactSum sum() const { return {(static_cast<long long>(high) << 15) + low}; }
    // As sum().value(), of terms whose parts are floats, too: then no conversion of 64 bits is needed.
    __device__ float value() const {
      return __fmaf_rn(__int2float_rn(high), 32768.0f, __int2float_rn(low)) * (1.0f / 68719476736.0f);
    }
  };
  __device__ void operator+=(const ExactSum& other) { total += other.total; }
  __device__ float value() const { return __ll2float_rn(total) * (1.0f / 68719476736.0f); }
};

template<>
struct ExactSum<double> {
  static constexpr int words = 2;
  long long total;  // units of 2^-36
  long long rest;   // units of 2^-75

  struct Terms {
    long long high = 0;
    long long low = 0;
    __device__ void add(double term) {
      constexpr double first = 98304.0, second = 1.5 / 8388608;
      const double rounded = __dadd_rn(term, first);
      high += __double_as_longlong(rounded) - 0x40f8000000000000ll;
      const double rest = __dadd_rn(__dadd_rn(rounded, -first), -term);
      low -= __double_as_longlong(__dadd_rn(rest, second)) - 0x3e88000000000000ll;
    }
    __device__ ExactSum sum() const { return {high, low}; }
  };
  __device__ void operator+=(const ExactSum& other) { total += other.total, rest += other.rest; }
  __device__ double value() const {
    constexpr double unit = 1.0 / 68719476736.0, small = unit / 549755813888.0;
    return __fma_rn(__ll2double_rn(rest), small, __ll2double_rn(total) * unit);
  }
};

// 1 / x, rounded to nearest, for 1 <= x <= 2^26 or NaN: the division without its way for numbers near the range's ends.
__device__ inline float exact_reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return __fmaf_rn(result, __fmaf_rn(-x, result, 1.0f), result);
}
__device__ inline double exact_reciprocal(double x) { return 1.0 / x; }

// What threads exchange: the bits of a maximum, or a sum.
template<typename Compute>
struct ExactStatistic {
  static constexpr int words = ExactSum<Compute>::words;
  long long word[words];

  __device__ static ExactStatistic of(Compute bound) {
    ExactStatistic statistic{};
    memcpy(statistic.word, &bound, sizeof(Compute));
    return statistic;
  }
  __device__ static ExactStatistic of(const ExactSum<Compute>& sum) {
    ExactStatistic statistic;
    memcpy(&statistic, &sum, sizeof(sum));
    return statistic;
  }
  __device__ Compute bound() const {
    Compute value;
    memcpy(&value, word, sizeof(Compute));
    return value;
  }
  __device__ ExactSum<Compute> sum() const {
    ExactSum<Compute> value;
    memcpy(&value, this, sizeof(value));
    return value;
  }
};

// log(x) for x >= 1 from products and sums that round one way everywhere. (__logf is the hardware's approximation.)
__device__ inline float exact_logarithm(float x) { return logf(x); }
__device__ inline double exact_logarithm(double x) { return log(x); }

// Elements of a lane that keeps few.
template<class Fragment>
constexpr int elements_of = 1 << 20;
template<class Operator, int count>
constexpr int elements_of<LaneElements<Operator, count>> = count;

// What both directions share: the two statistics of a group of lanes, of a row, and their exchange. `Self` has
// largest_term(), visit_terms() and first_bound().
template<class Self, typename T>
struct ExactReductions {
  using Element = T;
  using Compute = ComputeType<T>;
  using Statistic = ExactStatistic<Compute>;
  // What st.async and the mailbox move.
  using Word = long long;
  using Total = ExactSum<Compute>;
  static constexpr bool exact = true;

  struct RowStatistic {
    Compute bound;
    Total total;
  };
  // Of a few floats that one lane keeps, or of a single one.
  template<bool single>
  struct ShortRow {
    Compute bound;
    Compute sum;
  };

  template<int width, class Fragment>
  static __device__ Compute reduce_bound(Fragment& fragment) {
    return reduce_lanes<MaxOrNaN, width>(Self::largest_term(fragment));
  }
  template<int width, class Fragment>
  static __device__ Total reduce_total(Fragment& fragment, Compute bound) {
    return reduce_lanes_of_total<width>(Self::total_of(fragment, bound));
  }
  template<int width>
  static __device__ Total reduce_lanes_of_total(Total total) {
#pragma unroll
    for (int mask = width / 2; mask > 0; mask /= 2) {
      Total other;
      other.total = __shfl_xor_sync(0xffffffff, total.total, mask);
      if constexpr (Total::words > 1) { other.rest = __shfl_xor_sync(0xffffffff, total.rest, mask); }
      total += other;
    }
    return total;
  }

  // A group of lanes keeps the whole row.
  template<int width, class Fragment>
  static __device__ auto reduce_group(Fragment& fragment) {
    const Compute bound = reduce_bound<width>(fragment);
    if constexpr (width == 1 && sizeof(Compute) == 4 && elements_of<Fragment> <= Self::few) {
      return ShortRow<elements_of<Fragment> == 1>{bound, Self::sum_of_few(fragment, bound)};
    } else {
      return RowStatistic{bound, reduce_total<width>(fragment, bound)};
    }
  }

  // From `partials` partial statistics in shared memory; `partials` is a power of two.
  template<int partials>
  static __device__ Compute merge_bounds(const Statistic* partial) {
    constexpr int width = partials < 32 ? partials : 32;
    Compute bound = partial[threadIdx.x % width].bound();
#pragma unroll
    for (int i = width; i < partials; i += width) {
      bound = MaxOrNaN<Compute>()(bound, partial[i + threadIdx.x % width].bound());
    }
    return reduce_lanes<MaxOrNaN, width>(bound);
  }
  template<int partials>
  static __device__ Total merge_totals(const Statistic* partial) {
    constexpr int width = partials < 32 ? partials : 32;
    Total total = partial[threadIdx.x % width].sum();
#pragma unroll
    for (int i = width; i < partials; i += width) { total += partial[i + threadIdx.x % width].sum(); }
    return reduce_lanes_of_total<width>(total);
  }
};

// `read_once`: as in fast_operator.cuh.
template<typename T, Algorithm which, bool read_once = true>
struct ExactForward : ExactReductions<ExactForward<T, which, read_once>, T> {
  using Base = ExactReductions<ExactForward, T>;
  using typename Base::Compute;
  using typename Base::RowStatistic;
  using typename Base::Total;
  static constexpr int inputs = 1;
  static constexpr bool late_input = false;
  static constexpr bool keeps_exponential = read_once && which == Algorithm::softmax && sizeof(T) == sizeof(Compute);

  static __device__ T filler() { return static_cast<T>(minus_infinity<Compute>()); }
  static __device__ Compute no_bound() { return minus_infinity<Compute>(); }
  static constexpr int few = 8;  // terms of at most 1, so that units of 2^-21 stay below 2^24

  template<class Fragment>
  static __device__ Compute largest_term(Fragment& fragment) {
    return fragment.template largest<true>();
  }
  template<class Fragment>
  static __device__ Total total_of(Fragment& fragment, Compute bound) {
    return terms_of(fragment, bound).sum();
  }
  // The exponential of a row's only element is 1, or NaN where the element is NaN or infinite.
  template<class Fragment>
  static __device__ Compute sum_of_few(Fragment& fragment, Compute bound) {
    if constexpr (elements_of<Fragment> > 1) { return terms_of(fragment, bound).value(); }
    if constexpr (keeps_exponential) {
      fragment.template visit<true>([](Compute* x) { x[0] = x[0] - x[0] + Compute(1); });
    }
    return Compute(1);
  }
  template<class Fragment>
  static __device__ typename Total::Terms terms_of(Fragment& fragment, Compute bound) {
    const Compute reference = reference_of(bound);
    typename Total::Terms terms;
    fragment.template visit<keeps_exponential>([&](Compute* x) {
      const Compute e = exponential_or_zero(x[0] - reference);
      terms.add(e);
      if constexpr (keeps_exponential) { x[0] = e; }
    });
    return terms;
  }

  class Result {
   public:
    __device__ Result(Compute bound, Compute sum) {
      const bool finite = bound < -minus_infinity<Compute>();
      if constexpr (which == Algorithm::log_softmax) {
        reference_ = bound;
        factor_ = finite ? exact_logarithm(sum) : not_a_number<Compute>();
      } else {
        reference_ = reference_of(bound);
        factor_ = finite ? exact_reciprocal(sum) : not_a_number<Compute>();
      }
    }
    __device__ explicit Result(const RowStatistic& row) : Result(row.bound, row.total.value()) {}
    __device__ explicit Result(const typename Base::template ShortRow<false>& row) : Result(row.bound, row.sum) {}
    __device__ explicit Result(const typename Base::template ShortRow<true>& row)
        : reference_(row.bound), factor_(which == Algorithm::softmax ? Compute(1) : Compute(0)) {}
    __device__ Result(const RowStatistic& row, const RowStatistic&) : Result(row) {}
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

// A power of two in two factors: one alone may be beyond the range.
template<typename Compute>
struct PowerOfTwo {
  Compute first, second;
  __device__ Compute times(Compute value) const { return value * first * second; }
};
// The factors that bring `bound` to between 1 and 2 (or below, if it is subnormal), and back.
__device__ inline int exponent_of(float bound) { return max(__float_as_int(bound) >> 23, 1) - 127; }
__device__ inline int exponent_of(double bound) { return max(__double2hiint(bound) >> 20, 1) - 1023; }
__device__ inline PowerOfTwo<float> power_of_two(int exponent, float) {
  const int half = exponent >> 1;
  return {__int_as_float((half + 127) << 23), __int_as_float((exponent - half + 127) << 23)};
}
__device__ inline PowerOfTwo<double> power_of_two(int exponent, double) {
  const int half = exponent >> 1;
  return {__hiloint2double((half + 1023) << 20, 0), __hiloint2double((exponent - half + 1023) << 20, 0)};
}

// Inputs: dy, then y.
template<typename T, Algorithm which>
struct ExactBackward : ExactReductions<ExactBackward<T, which>, T> {
  using Base = ExactReductions<ExactBackward, T>;
  using typename Base::Compute;
  using typename Base::RowStatistic;
  using typename Base::Total;
  static constexpr int inputs = 2;
  static constexpr bool late_input = which == Algorithm::log_softmax;
  static constexpr bool keeps_exponential = false;

  static __device__ T filler() { return static_cast<T>(Compute(0)); }
  static __device__ Compute no_bound() { return Compute(0); }
  static constexpr int few = 1;
  static __device__ Compute term(const Compute* v) { return which == Algorithm::softmax ? v[0] * v[1] : v[0]; }

  template<class Fragment>
  static __device__ Compute largest_term(Fragment& fragment) {
    Compute largest = 0;
    fragment.template visit<false>(
        [&](const Compute* v) { largest = MaxOrNaN<Compute>()(largest, fabs(term(v))); });
    return largest;
  }
  // One term is a multiple of the unit, and its own sum; -0 as a sum is 0. It is rounded before anything is added to it.
  template<class Fragment>
  static __device__ float sum_of_few(Fragment& fragment, float) {
    float sum = 0;
    fragment.template visit<false>(
        [&](const float* v) { sum = which == Algorithm::softmax ? __fmul_rn(v[0], v[1]) : v[0]; });
    return sum + 0.0f;
  }
  template<class Fragment>
  static __device__ Total total_of(Fragment& fragment, Compute bound) {
    typename Total::Terms terms;
    if (bound < -minus_infinity<Compute>()) {
      const auto scale = power_of_two(-exponent_of(bound), Compute());
      fragment.template visit<false>([&](const Compute* v) { terms.add(scale.times(term(v))); });
      return terms.sum();
    }
    // Some terms are infinite: their number counts, positive ones from bit 32 on. If one is NaN, nothing does. The
    // exponent's bits of `bound` are all set here, but the compiler does not know that. Else it would compute the terms
    // before the branch, for both sides, and keep all of them: two packs took 73 registers instead of 48.
    if constexpr (sizeof(T) == 2) { fragment.launder_registers(~__float_as_uint(bound) & 0x7f800000u); }
    Total total{};
    fragment.template visit<false>([&](const Compute* v) {
      const Compute t = term(v);
      total.total += t == -minus_infinity<Compute>() ? 1ll << 32 : t == minus_infinity<Compute>() ? 1ll : 0ll;
    });
    return total;
  }

  class Result {
   public:
    __device__ explicit Result(const RowStatistic& row) {
      if (row.bound < -minus_infinity<Compute>()) {
        sum_ = power_of_two(exponent_of(row.bound), Compute()).times(row.total.value());
      } else {
        const bool positive = row.total.total >> 32 != 0, negative = static_cast<int>(row.total.total) != 0;
        const bool one = positive != negative && row.bound == row.bound;
        sum_ = !one ? not_a_number<Compute>() : positive ? -minus_infinity<Compute>() : minus_infinity<Compute>();
      }
    }
    __device__ explicit Result(const typename Base::template ShortRow<true>& row) : sum_(row.sum) {}
    __device__ Result(const RowStatistic& row, const RowStatistic&) : Result(row) {}
    __device__ Compute operator()(const Compute* v) const {
      return which == Algorithm::softmax ? (v[0] - sum_) * v[1] : fma(-exponential_of_any(v[1]), sum_, v[0]);
    }

   private:
    Compute sum_;
  };
};
