// What the kernels compute from a row, apart from how they move it.
//
//   softmax       y = exp(x - max) / sum(exp(x - max))
//   log_softmax   y = (x - max) - log(sum(exp(x - max)))
//
// Idea     Both subtract the row's maximum first, so that no exponential overflows, and both need the same sum. Between
//          the sum and the result, softmax keeps the exponential of an element, and log_softmax keeps the difference.
//          log_softmax is never log(softmax(x)): far from the maximum that is log(0), and this is x - max.
// Edges    A row with NaN or +inf, or all of it -inf, has a NaN among its differences (inf - inf is NaN), so its
//          sum is NaN and so is the whole result. A single -inf has exp(-inf) = 0, exactly.
#pragma once

#include "arithmetic.cuh"

enum class Algorithm { softmax, log_softmax };

// Adds exp(x - max) to the sum and returns what to keep of x until the sum is known.
template<Algorithm algorithm, typename Compute>
__device__ Compute accumulate(Compute x, Compute row_max, Compute& sum) {
  const Compute difference = x - row_max;
  const Compute e = exponential(difference);
  sum += e;
  return algorithm == Algorithm::softmax ? e : difference;
}

// What is kept of each element, combined with the row's sum into the result.
template<Algorithm algorithm, typename Compute>
__device__ Compute normalize(Compute kept, Compute row_sum) {
  return algorithm == Algorithm::softmax ? divide(kept, row_sum) : kept - logarithm(row_sum);
}
